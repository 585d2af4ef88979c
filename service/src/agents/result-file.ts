import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import type { AgentReport } from "./agent-report.ts";

/** In bytes. A larger file says nothing. */
const maxBytes = 256 * 1024;

/**
 * Returns the text of a file that an agent may have written; `undefined` if it is missing, too large or not a regular file. What
 * the agent put in its place is not followed: a link could lead to a file that the agent itself cannot read.
 */
export function readResultFile(path: string): string | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}

/** Reads `{ "message": "…", "costUsd": 0.0123 }`, or the message alone. What is missing, or has another type, is unknown. */
export function readResult(text: string | undefined): AgentReport {
  const { message, costUsd } = objectIn(text);
  return {
    message: typeof message === "string" && message.trim() !== "" ? message : undefined,
    error: undefined,
    costUsd: typeof costUsd === "number" ? costUsd : undefined,
  };
}

function objectIn(text = "{}"): { message?: unknown; costUsd?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    // A program may write its words alone. What it meant as JSON is none.
    return /^\s*[{[]/.test(text) ? {} : { message: text };
  }
}
