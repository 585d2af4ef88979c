import type { ChangesQuery } from "./changes/read-changes.ts";
import { isJobNotFound, type RunResult } from "./result.ts";
import type { Run } from "./run.ts";
import type { RunState } from "./run-state.ts";
import type { Task } from "./settings.ts";

/** A task that sends something, so that a re-run must not repeat it. */
export type SendingTask = Exclude<Task, { kind: "attach" }>;

/** What the prompt of earlier runs was about, which no longer counts as a change. */
export type RememberedChanges = Pick<ChangesQuery, "lastCommit" | "ownPullRequests">;

/**
 * Writes the prompt with a section on what changed, or returns why nothing may be sent.
 *
 * @param addSection - puts the section into the prompt. It is `undefined` without `changes`, and empty if there is nothing
 *   to compare
 */
export async function writePrompt(
  addSection: (section: string | undefined) => string,
  run: Run,
  remembered: RememberedChanges = { lastCommit: undefined, ownPullRequests: [] },
): Promise<{ prompt: string } | RunResult> {
  const { changes } = run.settings;
  let section: string | undefined;
  if (changes) {
    // Loaded here, because most steps do not ask for changes.
    const { findSection } = await import("./changes/find-section.ts");
    const found = await findSection(changes, remembered, run);
    if ("kind" in found) return found;
    section = found.section;
  }
  const prompt = addSection(section);
  return prompt.trim() === "" ? { kind: "blocked", cause: "prompt" } : { prompt };
}

/**
 * Plans what to send: a follow-up to a job, if there is one to continue, or a create. Each task applies only if the job of
 * the one before it is not found.
 *
 * @param isReplaceable - whether a create replaces the job that is to be continued if it is not found
 */
export function planTasks(prompt: string, continuedJob?: string, isReplaceable = true): SendingTask[] {
  const create: SendingTask = { kind: "create", prompt };
  if (continuedJob === undefined) return [create];
  const message: SendingTask = { kind: "message", jobId: continuedJob, prompt };
  return isReplaceable ? [message, create] : [message];
}

/**
 * Runs the tasks of a plan in order, until the job of one is found.
 *
 * @param runTask - never rejects
 * @param onNotFound - called before the next task takes the place of one whose job was not found
 * @returns the last task that was run, and its result
 */
export async function runFirstFound<T extends Task>(
  tasks: readonly T[],
  state: RunState,
  runTask: (task: T) => Promise<RunResult>,
  onNotFound: (task: T, next: T) => void = () => {},
): Promise<{ task: T; result: RunResult }> {
  for (const [index, task] of tasks.entries()) {
    const result = await runTask(task);
    const next = tasks[index + 1];
    if (next === undefined || !isJobNotFound(result, state)) return { task, result };
    onNotFound(task, next);
    state.forgetJob();
  }
  throw new Error("no task to run");
}
