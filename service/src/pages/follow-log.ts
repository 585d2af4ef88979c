import type { JobLogs } from "../store/logs.ts";
import { StoreUnavailable } from "../store-errors.ts";

export interface FollowOptions<State> {
  logs: JobLogs;
  jobId: string;
  /** Where to begin, in bytes. */
  from: number;
  /** Reads the state of the job. Returns `undefined` if it was deleted. */
  readState: () => Promise<State | undefined>;
  /** The longest time between two reads of the state, in milliseconds. Default: it is read only when the log may have changed. */
  everyMs?: number;
  /** Aborts when the reader has left. */
  signal: AbortSignal;
}

/**
 * A step of following a log: its next part, or the state of the job once the log is complete up to that state. `undefined` if
 * the state is unknown or the job was deleted.
 */
export type LogStep<State> = { part: Buffer } | { state: State | undefined };

/** Follows the log of a job until its last turn has ended. Outages of the store do not end it. */
export async function* followLog<State extends { state: string }>({
  logs,
  jobId,
  from,
  readState,
  everyMs,
  signal,
}: FollowOptions<State>): AsyncGenerator<LogStep<State>> {
  let changed = Promise.withResolvers<void>();
  const wake = (): void => changed.resolve();
  const end = logs.follow(jobId, wake);
  const timer = everyMs === undefined ? undefined : setInterval(wake, everyMs).unref();
  signal.addEventListener("abort", wake);
  let shown: State | undefined;
  try {
    for (let position = from; !signal.aborted; await changed.promise) {
      changed = Promise.withResolvers();
      try {
        // Read before the log, which is complete before its job's last turn ends.
        const state = await readState();
        for await (const part of readLog(logs, jobId, position)) {
          if (signal.aborted) return;
          position += part.length;
          yield { part };
        }
        shown = state;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        yield { state: shown };
        continue;
      }
      yield { state: shown };
      if (shown?.state !== "active") return;
    }
  } finally {
    end();
    clearInterval(timer);
  }
}

/** Reads a log from a position, in bytes, to its current end. */
export async function* readLog(logs: JobLogs, jobId: string, from: number): AsyncGenerator<Buffer> {
  for (let position = from; ; ) {
    const part = await logs.read(jobId, position);
    if (part.length === 0) return;
    position += part.length;
    yield part;
  }
}
