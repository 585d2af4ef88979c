/** How serious a line is. `warn`: something does not work as it should; `error`: the service did not expect it. */
export type LogLevel = "info" | "warn" | "error";

/** Receives the lines of the log. Default level: `info`. Only a structured log shows levels. */
export type Log = (line: string, level?: LogLevel) => void;

/** Receives what only a structured log has, because it is too much for people to read: a message, and its fields. */
export type LogEvent = (message: string, fields: Readonly<Record<string, string | number>>) => void;
