import { statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { errorMessage } from "../error-message.ts";
import { OutageLog } from "../log/outage-log.ts";
import type { RunningTurn } from "../model.ts";
import { type Secret, SecretPatterns } from "../secret-patterns.ts";
import { LeaseLost, StoreUnavailable } from "../store-errors.ts";
import { readPart } from "./log-files.ts";
import type { PostgresLogs } from "./postgres/logs.ts";

export interface LogShipperOptions {
  turn: RunningTurn;
  /** The log file of the turn's job on this machine. */
  file: string;
  logs: Pick<PostgresLogs, "end" | "size" | "append">;
  /** Hidden in the stored log. Default: none are known. */
  secrets?: Iterable<Secret> | undefined;
  /** Receives a line when the log cannot be stored, and when it can again. */
  log: (line: string) => void;
  /** Between two writes, in milliseconds. Default: 1000. */
  intervalMs?: number;
  /** How long `flush` takes at most, in milliseconds. Default: 5000. */
  flushMs?: number;
  /** Limit for a turn, over all its attempts, on any machine. Default: 32 MiB. */
  maxTurnBytes?: number;
}

const batchBytes = 1024 * 1024;
/** Two attempts can print 20 MiB, and the service adds its notes. */
const defaultMaxTurnBytes = 32 * 1024 * 1024;
const tooLong = "[service] The log of this turn is too long. The rest is only on the machine that ran it.\n";

/**
 * Copies to the store what a turn appends to the log file of its job, until it is disposed of. The file remains complete if the
 * store cannot be used for a while.
 */
export class LogShipper implements Disposable {
  readonly #options: LogShipperOptions;
  readonly #outage: OutageLog;
  readonly #end = new AbortController();
  /** Where the turn's part begins in the file. */
  readonly #fileStart: number;
  /** Where this part begins in the stored log, and how much of the turn is stored before it. */
  #place: { start: number; earlier: number } | undefined;
  /** How much of this part is stored; `undefined` if the store has to be asked. */
  #shipped: number | undefined;
  /** Whether nothing more may be stored. */
  #isOver = false;
  /** Whether the last write failed although the store can be used. */
  #isBroken = false;
  /** The last write. Never rejects. */
  #last: Promise<boolean> = Promise.resolve(true);

  /** Starts with what is appended from now on. */
  constructor(options: LogShipperOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log);
    this.#fileStart = statSync(options.file, { throwIfNoEntry: false })?.size ?? 0;
    void this.#run();
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }

  /**
   * Stores the rest, unless that takes too long or fails. Never rejects.
   *
   * @returns `false` if more time would help: nothing can be stored after the turn has ended
   */
  async flush(): Promise<boolean> {
    const { turn, file, flushMs = 5000 } = this.#options;
    const end = new AbortController();
    const limit = setTimeout(flushMs, false, { signal: end.signal }).catch(() => false);
    const isStored = await Promise.race([this.#ship(), limit]);
    end.abort();
    if (!isStored) this.#outage.begin(`${turn.job}: the end of its log is not stored, only in ${file}`);
    return isStored || this.#isBroken;
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      await setTimeout(this.#options.intervalMs ?? 1000, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await this.#ship();
    }
  }

  /** Stores what is in the file. Returns whether it could, or need not. Never rejects. */
  #ship(): Promise<boolean> {
    this.#last = this.#last.then(async () => {
      const { turn } = this.#options;
      try {
        while (await this.#shipBatch());
        this.#isBroken = false;
        this.#outage.end(`${turn.job}: its log can be stored again`);
        return true;
      } catch (error) {
        // A write that failed may have been stored.
        this.#shipped = undefined;
        this.#isOver = error instanceof LeaseLost;
        this.#isBroken = !(error instanceof StoreUnavailable);
        // The store itself has logged that it cannot be used.
        if (!this.#isOver && this.#isBroken)
          this.#outage.begin(`${turn.job}: its log cannot be stored, trying again: ${errorMessage(error)}`);
        return this.#isOver;
      }
    });
    return this.#last;
  }

  /** Returns whether there may be more. */
  async #shipBatch(): Promise<boolean> {
    const { turn, file, logs, secrets = [], maxTurnBytes = defaultMaxTurnBytes } = this.#options;
    if (this.#isOver) return false;
    const lines = wholeLines(await readPart(file, this.#fileStart + (this.#shipped ?? 0), batchBytes));
    if (lines.length === 0) return false;
    const content = (await new SecretPatterns(secrets).mask(lines)) ?? lines;
    if (this.#place === undefined || this.#shipped === undefined) {
      const { size, ofTurn } = await logs.size(turn);
      this.#place ??= { start: size, earlier: ofTurn };
      this.#shipped = size - this.#place.start;
      return true;
    }
    const { start, earlier } = this.#place;
    const isTooLong = earlier + this.#shipped + content.length > maxTurnBytes;
    const shipped = isTooLong ? Buffer.from(tooLong) : content;
    await logs.append(turn, start + this.#shipped, shipped);
    this.#shipped += shipped.length;
    this.#isOver = isTooLong;
    return !isTooLong;
  }
}

/** The end of a line may never follow, if the worker is killed. All lines are shorter than a batch. */
function wholeLines(content: Buffer): Buffer {
  return content.subarray(0, content.lastIndexOf("\n") + 1);
}
