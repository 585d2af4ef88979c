import type { Turn } from "../model.ts";
import { turnName } from "./turn-name.ts";

// Notes in a job's log that the step also shows to workflow authors.

/** Precedes the last message of an agent that changed nothing. */
export const noChangeNote = "No file was changed.";

/** Precedes where a change is that others have published first. */
export const changedAlreadyNote = "Nothing of the change was left to publish:";

/** Precedes the reason why a branch is behind its target branch. */
export const behindNote = "The agent starts without what is new on the target branch:";

/** Logged if the session of earlier turns cannot be continued. */
export const newSessionNote = "The session of the earlier turns is gone, so the agent begins a new one.";

/** Returns the first line of a turn's log. */
export function startNote({ id, step, request }: Pick<Turn, "id" | "step" | "request">): string {
  const name = turnName(id);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} started.${step === "" ? "" : ` Its request is ${request}.`}`;
}

export const isStartNote = (text: string): boolean => /^(?:Turn \d+|The turn) started\./.test(text);
