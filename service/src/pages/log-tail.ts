import type { JobLogs } from "../store/logs.ts";
import { readLog } from "./follow-log.ts";
import { fromNextCharacter, LogText } from "./log-text.ts";

/** The last lines of a log. */
export interface LogTail {
  text: string;
  /** Where the log continues, in bytes. */
  position: number;
  /** Whether the log has earlier lines. */
  isCut: boolean;
}

/**
 * Reads the last lines of a job's log.
 *
 * @param maxBytes - how much to read; text that is appended meanwhile is extra
 */
export async function readLogTail(logs: JobLogs, jobId: string, maxBytes: number): Promise<LogTail> {
  const from = Math.max(0, (await logs.end(jobId)) - maxBytes);
  const reader = new LogText();
  let text = "";
  let position = from;
  for await (const part of readLog(logs, jobId, from)) {
    text += reader.add(position === from ? fromNextCharacter(part) : part);
    position += part.length;
    // An agent that prints faster than the log is read must not hold up the page.
    if (position - from > 2 * maxBytes) break;
  }
  const isCut = from > 0;
  return { text: isCut ? text.slice(text.indexOf("\n") + 1) : text, position: position - reader.restBytes, isCut };
}
