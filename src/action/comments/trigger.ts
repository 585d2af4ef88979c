import type { SkipReason } from "../result.ts";
import type { CommentEvent } from "./event.ts";

/** What a comment asks for, or why it asks for nothing. */
export type Trigger = { instruction: string; isNew: boolean } | { skip: SkipReason };

/**
 * Parses a comment. The trigger phrase must be at its start, ignoring case and leading whitespace, and be followed by
 * whitespace or the end; the rest is the instruction. `new` as its first word asks for a new job.
 */
export function parseTrigger({ action, comment }: Pick<CommentEvent, "action" | "comment">, phrase: string): Trigger {
  if (action !== "created") return { skip: action === "edited" ? "edited" : "no-trigger" };
  const match = new RegExp(`^\\s*${RegExp.escape(phrase)}(?!\\S)`, "iu").exec(comment.text);
  if (!match) return { skip: "no-trigger" };
  const rest = comment.text.slice(match[0].length).trim();
  const isNew = /^new(?!\S)/i.test(rest);
  const instruction = isNew ? rest.slice("new".length).trim() : rest;
  return instruction === "" ? { skip: "no-instruction" } : { instruction, isNew };
}
