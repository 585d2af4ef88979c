import { type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pageBlocks } from "../support/page-blocks.ts";

/** Where operating.md puts the service, and systemd its state. */
export const folder = "/opt/agent-job-service";
export const state = "/var/lib/agent-job-service";
export const unit = "agent-job-service";
export const url = "http://127.0.0.1:4100";

/** The programs that need the internet come first. */
const programs = "/run/operator/bin";
const environment = { PATH: `${programs}:/usr/local/sbin:/usr/local/bin:${process.env.PATH}`, HOME: "/root" };

const docs = resolve(import.meta.dirname, "../../docs");
const notRun = new Set<string>();

/** Commands that a page shows. */
export class Page {
  readonly #name: string;
  readonly #blocks: Map<string, string[]>;

  /** @param sections - those of which every block must have been run at the end */
  constructor(name: string, sections: readonly string[], language = "sh") {
    this.#name = name;
    this.#blocks = pageBlocks(readFileSync(resolve(docs, name), "utf8"), language);
    for (const section of sections)
      for (const index of (this.#blocks.get(section) ?? [""]).keys()) notRun.add(`${name}: ${section} ${index}`);
  }

  /** Returns a block. @param replaced - what the page leaves to its reader, in this order */
  block(section: string, index = 0, replaced: Readonly<Record<string, string>> = {}): string {
    let block = this.#blocks.get(section)?.[index];
    if (block === undefined) throw new Error(`${this.#name} has no block ${index} in "${section}"`);
    notRun.delete(`${this.#name}: ${section} ${index}`);
    for (const [from, to] of Object.entries(replaced)) {
      if (!block.includes(from)) throw new Error(`${this.#name}, "${section}" ${index} has no "${from}"`);
      block = block.replaceAll(from, to);
    }
    return block;
  }
}

/** Returns the blocks that were not run. */
export const untested = (): string[] => [...notRun];

export interface ShellOptions {
  /** Read by the commands. */
  input?: string | undefined;
  /** Default: that of the service. */
  cwd?: string;
  /** Ends the commands, as Ctrl+C does, when they have printed this. */
  until?: RegExp;
}

let inputs = 0;

const longestMs = 180_000;
/** For what is printed soon. */
const longestWaitMs = 30_000;

/** Runs commands as root, in bash. Returns what they print. @throws if one fails, with all that was printed */
export async function sh(commands: string, { input = "", cwd = folder, until }: ShellOptions = {}): Promise<string> {
  // As a terminal, and unlike a pipe of Node, it can be opened as /dev/stdin.
  const inputFile = `/run/operator/input-${++inputs}`;
  writeFileSync(inputFile, input);
  const stdin = openSync(inputFile, "r");
  const stdio: StdioOptions = [stdin, "pipe", "pipe"];
  const child = spawn("bash", ["-c", `set -euo pipefail\n${commands}`], {
    cwd,
    env: environment,
    detached: true,
    stdio,
  });
  closeSync(stdin);
  const { stdout, stderr } = child as { stdout: Readable; stderr: Readable };
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), until ? longestWaitMs : longestMs);
  let printed = "";
  stdout.on("data", (chunk: Buffer) => {
    const isOver = until?.test(printed);
    printed += chunk;
    if (!isOver && until?.test(printed)) process.kill(-(child.pid ?? 0), "SIGTERM");
  });
  const errors = text(stderr);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  clearTimeout(timer);
  if (code !== 0 && !until?.test(printed))
    throw new Error(`${commands.trim()}\nended with ${code ?? signal}: ${printed}${await errors}`);
  return printed;
}
