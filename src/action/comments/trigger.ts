import type { CommentEvent } from "./event.ts";

/** Why a comment is not acted on. */
export type SkipReason = "no-trigger" | "no-instruction" | "not-permitted" | "bot" | "edited";

/** What a comment asks for, or why it asks for nothing. */
export type Trigger = { instruction: string; isNew: boolean } | { skip: SkipReason };

/**
 * Reads a new comment that begins with the phrase; the rest is the instruction. White space before the phrase and its
 * case mean nothing; white space or the end of the comment follows it. `new` as the first word asks for a new job.
 */
export function readTrigger({ action, comment }: Pick<CommentEvent, "action" | "comment">, phrase: string): Trigger {
  if (action !== "created") return { skip: action === "edited" ? "edited" : "no-trigger" };
  const trigger = new RegExp(`^\\s*${RegExp.escape(phrase)}(?!\\S)`, "iu").exec(comment.text);
  if (!trigger) return { skip: "no-trigger" };
  const rest = comment.text.slice(trigger[0].length).trim();
  const isNew = /^new(?!\S)/i.test(rest);
  const instruction = isNew ? rest.slice("new".length).trim() : rest;
  return instruction === "" ? { skip: "no-instruction" } : { instruction, isNew };
}
