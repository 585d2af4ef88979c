import { spawn } from "node:child_process";
import { handedOnEnvironment } from "../processes/environment.ts";
import { signalGroup } from "../processes/process-group.ts";

export interface GitOptions {
  /** Where it runs; for a bare repository, its folder. */
  cwd: string;
  environment?: Readonly<Record<string, string>>;
  /** Written to its stdin. */
  input?: string;
  /** Ends it before its time. */
  signal?: AbortSignal | undefined;
  /** It is ended once it has printed so much, and what it has printed is given. Default: no limit. */
  mostBytes?: number;
}

/** A Git command that failed, with what it printed. */
export class GitError extends Error {
  /** None where it was ended. */
  readonly exitCode: number | null;

  constructor(args: readonly string[], how: string, printed: string, exitCode: number | null) {
    super(`git ${args[0]} ${how}: ${printed.trim()}`);
    this.exitCode = exitCode;
  }
}

/** No hook or file monitor is run, paths are printed as they are, nothing is tidied up on the side, silence is not waited out. */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.quotePath=false",
  "gc.auto=0",
  "user.name=Agent",
  "user.email=agent@localhost",
  "http.lowSpeedLimit=1",
  "http.lowSpeedTime=60",
].flatMap((setting) => ["-c", setting]);

/** For one command, however slow the network is. */
const timeLimitMs = 10 * 60_000;

/**
 * Runs Git without a shell, and gives what it printed to stdout. Values from outside stand behind `--` or in stdin.
 *
 * @throws GitError where it does not end with 0
 */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const { cwd, environment = {}, input = "", signal, mostBytes = Number.POSITIVE_INFINITY } = options;
  signal?.throwIfAborted();
  const child = spawn("git", [...settings, ...args], {
    cwd,
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own, so that its helpers, which hold its pipes, can be ended with it.
    detached: true,
    env: {
      ...handedOnEnvironment(),
      GIT_TERMINAL_PROMPT: "0",
      LC_ALL: "C",
      ...environment,
    },
  });
  let ended = "";
  const end = (why: string): void => {
    ended ||= why;
    signalGroup(child.pid, "SIGKILL");
  };
  const onAbort = (): void => end("was stopped");
  const timer = setTimeout(() => end(`was ended after ${timeLimitMs / 60_000} min`), timeLimitMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  // Git may end without reading its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const stdout: Buffer[] = [];
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    stdout.push(chunk);
    if (bytes > mostBytes) end("");
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-10_000);
  });
  try {
    const exitCode = await new Promise<number | null>((done, fail) => {
      child.on("error", fail);
      child.on("close", done);
    });
    if (ended) throw new GitError(args, ended, stderr, null);
    if (exitCode !== 0 && bytes <= mostBytes) throw new GitError(args, `ended with ${exitCode}`, stderr, exitCode);
    return Buffer.concat(stdout).toString("utf8", 0, Math.min(bytes, mostBytes));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
