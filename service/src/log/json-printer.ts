import { pino, stdTimeFunctions } from "pino";
import { createLinePrinter } from "./line-printer.ts";
import type { Log, LogEvent } from "./log.ts";
import { logContext } from "./log-context.ts";

/** A log whose lines are JSON objects. */
export interface JsonPrinter {
  log: Log;
  logEvent: LogEvent;
}

/**
 * Returns a printer of lines such as `{"level":"info","time":"2026-11-22T09:00:00.000Z","job":"job_1","turn":3,"msg":"…"}`, which
 * name their job, turn and request. Like the printer of text, it never throws, and prints a line before it returns.
 *
 * @param write - writes bytes, and returns how many it has written. Default: to stdout
 */
export function createJsonPrinter(write?: (bytes: Buffer) => number): JsonPrinter {
  const describe = (missing: number): string =>
    JSON.stringify({
      level: "warn",
      time: new Date().toISOString(),
      msg: `Lines that could not be written here: ${missing}`,
    });
  const print = createLinePrinter(write, describe);
  const logger = pino(
    {
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      mixin: () => ({ ...logContext() }),
    },
    { write: (line) => print(line.trimEnd()) },
  );
  return {
    log: (line, level = "info") => logger[level](line),
    logEvent: (message, fields) => logger.info(fields, message),
  };
}
