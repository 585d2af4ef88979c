import { createLinePrinter } from "./line-printer.ts";
import type { Log, LogEvent } from "./log.ts";

/** The output of the process: lines for people, or for programs. */
export interface ServiceLog {
  log: Log;
  /** Prints a line about the start of the service, such as its URL. */
  announce: (line: string) => void;
  /** Prints why the service cannot start. */
  fail: (text: string) => void;
  /** Undefined if lines are for people. */
  logEvent: LogEvent | undefined;
}

/** Returns the log of the process. The code for JSON is loaded only if it is needed. */
export async function createServiceLog(format: "text" | "json"): Promise<ServiceLog> {
  if (format === "text") {
    const print = createLinePrinter();
    return {
      log: (line) => print(`${new Date().toISOString()} ${line}`),
      announce: print,
      fail: (text) => void process.stderr.write(text),
      logEvent: undefined,
    };
  }
  const { createJsonPrinter } = await import("./json-printer.ts");
  const { log, logEvent } = createJsonPrinter();
  return {
    log,
    // The lines of text form a table.
    announce: (line) => log(line.replace(/ +/g, " ")),
    fail: (text) => log(text.trim(), "error"),
    logEvent,
  };
}
