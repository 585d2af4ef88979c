import { appendFile, mkdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Machine } from "../machine.ts";
import type { RunningTurn } from "../model.ts";
import { jobLogFile, logTimesFile } from "../service-folder.ts";

/** A part of a job's log: up to the next one, a turn wrote it until a time. */
export interface LogMark {
  turn: number;
  /** Where it begins in the log, in bytes. */
  start: number;
  /** In milliseconds since 1970. */
  at: number;
}

const defaultIntervalMs = 1000;

/** Records when a turn appends to the log file of its job, until it is disposed of. A log without times is complete, so no error is told. */
export class LogTimes implements AsyncDisposable {
  readonly #turn: Pick<RunningTurn, "id" | "job">;
  readonly #folder: string;
  readonly #machine: Pick<Machine, "wallTime">;
  readonly #timer: NodeJS.Timeout;
  #position: Promise<number>;

  /** @param intervalMs - how often the log is looked at. Default: every second */
  constructor(
    turn: Pick<RunningTurn, "id" | "job">,
    folder: string,
    machine: Pick<Machine, "wallTime">,
    intervalMs = defaultIntervalMs,
  ) {
    this.#turn = turn;
    this.#folder = folder;
    this.#machine = machine;
    this.#position = this.#size();
    this.#timer = setInterval(() => this.#look(), intervalMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#look();
    await this.#position;
  }

  #look(): void {
    this.#position = this.#position.then(async (start) => {
      const size = await this.#size();
      if (size <= start) return start;
      const file = logTimesFile(this.#folder, this.#turn.job);
      const line = `${this.#turn.id} ${start} ${this.#machine.wallTime()}\n`;
      const write = async (): Promise<void> => {
        await mkdir(dirname(file), { recursive: true });
        await appendFile(file, line, { mode: 0o600 });
      };
      return write().then(
        () => size,
        () => start,
      );
    });
  }

  #size(): Promise<number> {
    return stat(jobLogFile(this.#folder, this.#turn.job)).then(
      ({ size }) => size,
      () => 0,
    );
  }
}

/** Returns the recorded marks of a job's log, in order. */
export async function readLogTimes(folder: string, jobId: string): Promise<LogMark[]> {
  const text = await readFile(logTimesFile(folder, jobId), "utf8").catch(() => "");
  return [...text.matchAll(/^(\d{1,16}) (\d{1,15}) (\d{1,15})\n/gm)].map(([, turn, start, at]) => ({
    turn: Number(turn),
    start: Number(start),
    at: Number(at),
  }));
}
