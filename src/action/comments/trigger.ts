import { readShown } from "../../runner-kit/shown-text.ts";
import type { EventSkipReason } from "../result.ts";
import type { CommentMode } from "../settings.ts";
import type { ThreadEvent, ThreadEventName } from "./event.ts";

export type Trigger =
  | Instruction
  | { command: Command }
  /** `handledBy`: it asks for something, but GitHub fires another event for the same request, which handles it. */
  | { skip: EventSkipReason; handledBy?: ThreadEventName };

/** Requests besides work. A command must stand alone: "status page is wrong" is an instruction. */
const commands = ["status", "help"] as const;
export type Command = (typeof commands)[number];

export interface Instruction {
  instruction: string;
  isNew: boolean;
  /** What else the review says that asks. Default: nothing. */
  rest?: string;
}

/**
 * Parses an event, except a review. The trigger phrase, in any case, must be at the start of a comment, after white space,
 * or of a line of a new issue or pull request, and be followed by white space or the end, a name (`@docs-bot`) also by a comma or colon; the rest is the instruction. `new` as its first
 * word asks for a new job. The trigger label makes the text of the issue or pull request the instruction.
 */
export function parseTrigger(
  event: Pick<ThreadEvent, "action" | "triggerKind" | "text" | "label" | "subject">,
  { phrase, label }: Pick<CommentMode, "phrase" | "label">,
): Trigger {
  const { action, triggerKind } = event;
  if (triggerKind === "label") {
    const isTrigger = label !== "" && event.label?.toLowerCase() === label.toLowerCase();
    return isTrigger ? { instruction: instructionOf(event.subject), isNew: false } : { skip: "no-trigger" };
  }
  const isComment = triggerKind === "comment";
  if (action !== (isComment ? "created" : "opened")) return { skip: action === "edited" ? "edited" : "no-trigger" };
  const asked = parseRequest(event.text, phrase, isComment ? "start" : "line");
  if (!asked) return { skip: "no-trigger" };
  if ("command" in asked) return asked;
  return asked.instruction === "" ? { skip: "no-instruction" } : asked;
}

/** Parses what follows the phrase at the start of a text or line; `undefined` without the phrase. */
export function parseRequest(
  text: string,
  phrase: string,
  at: "start" | "line" = "start",
): Instruction | { command: Command } | undefined {
  if (phrase === "") return undefined;
  const { searched, from } = readShown(text, { withoutCode: at === "line" });
  const start = at === "start" ? /^\s*/iu : /^/imu;
  const match = new RegExp(
    `${start.source}${RegExp.escape(phrase)}${phrase.startsWith("@") ? "[,:]?" : ""}(?!\\S)`,
    start.flags,
  ).exec(searched);
  if (!match) return undefined;
  const rest = from(match.index + match[0].length).trim();
  const command = commands.find((name) => name === rest.toLowerCase());
  if (command) return { command };
  const isNew = /^new(?!\S)/i.test(rest);
  return { instruction: isNew ? rest.slice("new".length).trim() : rest, isNew };
}

/** Returns the instruction that a label stands for: the text of an issue, or docs for a pull request. */
function instructionOf({ kind, title, body }: ThreadEvent["subject"]): string {
  const task = kind === "issue" ? "" : "Bring the docs in line with this pull request.";
  return [task, title.trim(), body.trim()].filter(Boolean).join("\n\n");
}
