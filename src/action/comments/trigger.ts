import type { SkipReason } from "../result.ts";
import type { ThreadEvent } from "./event.ts";

/** What an event asks for, or why it asks for nothing. */
export type Trigger = { instruction: string; isNew: boolean } | { skip: SkipReason };

/** What makes an event ask for something; each is empty if the workflow does not have it. */
export interface Triggers {
  /** The trigger phrase. */
  phrase: string;
  /** The name of the trigger label. */
  label: string;
}

/**
 * Parses an event. The trigger phrase, in any case, must be at the start of a comment, after white space, or of a line of
 * a new issue or pull request, and be followed by white space or the end; the rest is the instruction. `new` as its first
 * word asks for a new job. The trigger label asks for what the issue or pull request says.
 */
export function parseTrigger(
  event: Pick<ThreadEvent, "action" | "door" | "text" | "label" | "subject">,
  { phrase, label }: Triggers,
): Trigger {
  const { action, door } = event;
  if (door === "label") {
    const isTrigger = label !== "" && event.label?.toLowerCase() === label.toLowerCase();
    return isTrigger ? { instruction: instructionOf(event.subject), isNew: false } : { skip: "no-trigger" };
  }
  const isComment = door === "comment";
  if (action !== (isComment ? "created" : "opened")) return { skip: action === "edited" ? "edited" : "no-trigger" };
  const start = isComment ? /^\s*/iu : /^/imu;
  const match =
    phrase === "" ? null : new RegExp(`${start.source}${RegExp.escape(phrase)}(?!\\S)`, start.flags).exec(event.text);
  if (!match) return { skip: "no-trigger" };
  const rest = event.text.slice(match.index + match[0].length).trim();
  const isNew = /^new(?!\S)/i.test(rest);
  const instruction = isNew ? rest.slice("new".length).trim() : rest;
  return instruction === "" ? { skip: "no-instruction" } : { instruction, isNew };
}

/** Returns what a label asks for: what an issue says, or docs for a pull request. */
function instructionOf({ kind, title, body }: ThreadEvent["subject"]): string {
  const task = kind === "issue" ? "" : "Bring the docs in line with this pull request.";
  return [task, title.trim(), body.trim()].filter(Boolean).join("\n\n");
}
