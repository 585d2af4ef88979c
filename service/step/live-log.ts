import { globSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { excerpt } from "../../src/runner-kit/untrusted.ts";
import { type Secret, SecretPatterns } from "../src/secret-patterns.ts";
import { logsFolder } from "../src/service-folder.ts";
import { readPart } from "../src/store/log-files.ts";

export interface LiveLogOptions {
  /** In which no line that is printed may have one. */
  secrets: Iterable<Secret>;
  /** Prints a line of untrusted text. */
  print: (line: string) => void;
}

const intervalMs = 1000;
/** How many lines are printed in an interval, and in all. */
const [maxLines, maxAllLines] = [20, 2000];
/**
 * The same of notes of the service, beside these: they say what became of paid work, which no other log may have. An agent can print what
 * looks like one.
 */
const [maxNotes, maxAllNotes] = [200, 2000];
/** In characters. */
const maxLineLength = 1000;
const silenceMs = 5 * 60_000;
const partBytes = 1024 * 1024;
/** So many letters and digits of a secret are hidden if the rest of it was cut off. */
const minPartLength = 8;

/** What a tool returned is in the log alone. */
const isShown = (line: string): boolean => line !== "" && !line.startsWith("| ←");

/** Prints what an agent does while it does it: as much as people can read, and nothing of a secret. */
export class LiveLog {
  readonly #patterns: SecretPatterns;
  readonly #print: (line: string) => void;
  /** Lines that may be the beginning of a secret, as bytes. */
  #held: Buffer = Buffer.alloc(0);
  #lines = 0;
  #notes = 0;
  #left = 0;
  #hasBegun = false;
  #printedAt = 0;

  constructor({ secrets, print }: LiveLogOptions) {
    this.#patterns = new SecretPatterns(secrets);
    this.#print = print;
  }

  /**
   * Takes what came in an interval.
   *
   * @param added - whole lines
   * @param now - in milliseconds
   * @param isLast - nothing comes after it
   */
  async add(added: Buffer, now: number, isLast = false): Promise<void> {
    const all = Buffer.concat([this.#held, added]);
    // Masked before it is cut: what is held can be the second half of a secret.
    const masked = (await this.#patterns.mask(all)) ?? all;
    const text = masked.toString("latin1");
    const begins = isLast ? text.length : this.#patterns.beginningAtEnd(text);
    const end = begins === text.length ? begins : text.lastIndexOf("\n", begins) + 1;
    this.#held = masked.subarray(end);
    const lines = masked.subarray(0, end).toString().split("\n").filter(isShown);
    const most = Math.min(maxLines, maxAllLines - this.#lines);
    const mostNotes = Math.min(maxNotes, maxAllNotes - this.#notes);
    let [notes, others] = [0, 0];
    const shown = lines.filter((line) => (line.startsWith("[service] ") ? ++notes <= mostNotes : ++others <= most));
    for (const line of shown) this.#print(excerpt(this.#withoutPart(line), maxLineLength));
    this.#lines += Math.min(others, most);
    this.#notes += Math.min(notes, mostNotes);
    this.#left += lines.length - shown.length;
    this.#hasBegun ||= lines.length > 0;
    if (shown.length > 0) this.#printedAt = now;
    const isSilent = this.#hasBegun && now - this.#printedAt >= silenceMs;
    const isTold = this.#left > 0 && (this.#lines < maxAllLines || isSilent || isLast);
    if (isTold) this.#print(`… ${this.#left} more ${this.#left === 1 ? "line" : "lines"}`);
    else if (isSilent && !isLast) this.#print("Nothing more was printed for five minutes.");
    if (isTold) this.#left = 0;
    if (isTold || isSilent) this.#printedAt = now;
  }

  /** Hides the beginning of a secret at the end of a line: what a tool gets is cut before it is in the log. */
  #withoutPart(line: string): string {
    const text = Buffer.from(line).toString("latin1");
    const begins = this.#patterns.beginningAtEnd(text, minPartLength);
    return begins === text.length ? line : `${Buffer.from(text.slice(0, begins), "latin1")}***`;
  }
}

/** Follows the logs of jobs of a service, from their beginning, until it is disposed of. */
export class LiveLogs implements AsyncDisposable {
  readonly #live: LiveLog;
  readonly #folder: string;
  readonly #end = new AbortController();
  readonly #places = new Map<string, number>();
  readonly #done: Promise<void>;

  /** @param folder - of the service */
  constructor(folder: string, options: LiveLogOptions) {
    this.#live = new LiveLog(options);
    this.#folder = logsFolder(folder);
    this.#done = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    for (let isLast = false; !isLast; ) {
      await setTimeout(intervalMs, undefined, { signal }).catch(() => {});
      isLast = signal.aborted;
      // A log that cannot be read is missing here alone.
      await this.#live.add(await this.#read().catch(() => Buffer.alloc(0)), performance.now(), isLast).catch(() => {});
    }
  }

  /** Returns the whole lines that were added to the logs. */
  async #read(): Promise<Buffer> {
    const added: Buffer[] = [];
    for (const name of globSync("*.log", { cwd: this.#folder })) {
      const from = this.#places.get(name) ?? 0;
      const part = await readPart(join(this.#folder, name), from, partBytes);
      const length = part.lastIndexOf("\n") + 1 || (part.length === partBytes ? partBytes : 0);
      this.#places.set(name, from + length);
      added.push(part.subarray(0, length));
    }
    return Buffer.concat(added);
  }
}
