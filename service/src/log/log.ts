/** The severity of a line. `warn`: something does not work as it should; `error`: the service did not expect it. */
export type LogLevel = "info" | "warn" | "error";

/** Receives the lines of the log. Default level: `info`. Only a structured log shows levels. */
export type Log = (line: string, level?: LogLevel) => void;

/** Receives a message with fields that only a structured log has, because they are too much for people to read. */
export type LogEvent = (message: string, fields: Readonly<Record<string, string | number>>) => void;
