import { AsyncLocalStorage } from "node:async_hooks";

/** The subject of lines in a structured log. */
export interface LogContext {
  /** The id of an HTTP request: the one that is answered, or the one that a turn was sent with. */
  request?: string;
  job?: string;
  turn?: number;
}

const storage = new AsyncLocalStorage<LogContext>();

/**
 * Calls `work` with a context for the lines that it logs, including those after it has returned. Work that begins in a request
 * but is not part of it, for example the turns of other jobs, needs a context of its own.
 */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work);
}

/** Returns the context of a line that is logged now. */
export function logContext(): LogContext {
  return storage.getStore() ?? {};
}
