import type { Turn } from "../model.ts";
import { turnName } from "./turn-name.ts";

// Notes in a job's log that the step tells the author of a workflow, too.

/** Before what the agent said last, if it changed nothing. */
export const noChangeNote = "No file was changed.";

/** Before why the branch that a turn continues lacks what its target branch has. */
export const behindNote = "The agent starts without what is new on the target branch:";

/** If an agent has no session of the earlier turns of its job. */
export const newSessionNote = "The session of the earlier turns is gone, so the agent begins a new one.";

/** How the log of a turn begins. */
export function startNote({ id, step, request }: Pick<Turn, "id" | "step" | "request">): string {
  const name = turnName(id);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} started.${step === "" ? "" : ` Its request is ${request}.`}`;
}

/** Returns whether a turn's log begins with a note. */
export const isStartNote = (text: string): boolean => /^(?:Turn \d+|The turn) started\./.test(text);
