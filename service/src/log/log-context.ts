import { AsyncLocalStorage } from "node:async_hooks";

/** What the lines of a structured log are about. */
export interface LogContext {
  /** The id of an HTTP request. */
  request?: string;
  /** The id of a job. */
  job?: string;
  /** The id of a turn. */
  turn?: number;
}

const storage = new AsyncLocalStorage<LogContext>();

/**
 * Does something whose lines are about this and nothing else, also those that are logged after it has returned. What was begun in
 * a request but is not part of it, such as the turns of other jobs, needs a context of its own.
 */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work);
}

/** Returns what a line that is logged now is about. */
export function logContext(): LogContext {
  return storage.getStore() ?? {};
}
