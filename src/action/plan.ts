import type { ChangesQuery } from "./changes/read-changes.ts";
import { isStillGone } from "./find-job.ts";
import type { PullRequest } from "./pull-request.ts";
import { cancelledBeforeSending, isJobNotFound, isRejected, type RunResult } from "./result.ts";
import type { Run } from "./run.ts";
import type { RunState } from "./run-state.ts";
import type { SendingTask, Task } from "./settings.ts";

/** What the prompt of earlier runs was about, which no longer counts as a change. */
export type RememberedChanges = Pick<ChangesQuery, "lastCommit" | "firstBase" | "ownPullRequests">;

/**
 * Writes the prompt with a section on what changed, or returns why nothing may be sent.
 *
 * @param addSection - puts the section into the prompt. It is `undefined` without `changes`, and empty if there is nothing
 *   to compare
 */
export async function writePrompt(
  addSection: (section: string | undefined) => string,
  run: Run,
  remembered: RememberedChanges = { lastCommit: undefined, firstBase: undefined, ownPullRequests: [] },
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

/** Finds the branch that a new job starts from, if the workflow names one; a result if nothing may be sent. */
export async function findStart(run: Run): Promise<{ base: string | undefined } | RunResult> {
  if (run.settings.base === "") return { base: undefined };
  // Loaded here, because few steps have a base.
  const { findBase } = await import("./base-branch.ts");
  return findBase(run);
}

/** How a message is planned that continues a job. */
export interface Continuation {
  jobId: string;
  /** Whether a create replaces the job if it is not found. Default: no. */
  isReplaceable?: boolean;
  /** Whether a create also replaces it if the service rejects the message. Default: no. */
  isDoubtful?: boolean;
  /** Its open pull request, which is left then. */
  pullRequest?: PullRequest | undefined;
}

/** A task, and what makes the next one of the plan take its place, besides a job that is not found. */
export interface PlannedTask<T extends Task = SendingTask> {
  task: T;
  /** Whether a message that the service rejects is replaced. */
  isDoubtful?: boolean;
  /** The open pull request that is left if the next task takes its place. */
  leaves?: PullRequest | undefined;
}

/** What a create has besides its prompt. */
export interface CreateOptions {
  /** The turn of an earlier run attempt that a create or message takes the place of. Default: none. */
  replaces?: string | undefined;
  /** The branch that a new job starts from. Default: the project's own. */
  base?: string | undefined;
}

/**
 * Plans what to send: a follow-up to a job, if there is one to continue, or a create. Each task applies only if the job of
 * the one before it is gone.
 */
export function planTasks(
  prompt: string,
  continued?: Continuation,
  { replaces, base }: CreateOptions = {},
): PlannedTask[] {
  const create: SendingTask = { kind: "create", prompt, base, replaces };
  if (continued === undefined) return [{ task: create }];
  const { jobId, isReplaceable = false, isDoubtful = false, pullRequest: leaves } = continued;
  const message: SendingTask = { kind: "message", jobId, prompt, replaces };
  return isReplaceable ? [{ task: message, isDoubtful, leaves }, { task: create }] : [{ task: message }];
}

/** Why a task of a plan gave its place to the next one. */
export type Replacement = "not found" | "rejected";

/**
 * Runs the tasks of a plan in order, until the job of one is found.
 *
 * @param runTask - never rejects
 * @param onReplaced - called before the next task takes the place of one
 * @returns the last task that was run, and its result
 */
export async function runFirstFound<T extends Task>(
  plan: readonly PlannedTask<T>[],
  run: Run,
  runTask: (task: T) => Promise<RunResult>,
  onReplaced: (task: T, next: T, reason: Replacement, leaves: PullRequest | undefined) => void = () => {},
): Promise<{ task: T; result: RunResult }> {
  for (const [index, planned] of plan.entries()) {
    const { task } = planned;
    let result = await runTask(task);
    const next = plan[index + 1]?.task;
    if (next === undefined || task.kind === "create") return { task, result };
    let reason = replacementOf(planned, result, run.state);
    if (reason === "not found" && !(await isStillGone(task.jobId, run))) {
      // It was not found by mistake, so that nothing was sent to it.
      result = run.ports.signal.aborted ? cancelledBeforeSending : await runTask(task);
      reason = undefined;
    }
    if (reason === undefined) return { task, result };
    onReplaced(task, next, reason, planned.leaves);
    run.state.forgetJob();
  }
  throw new Error("no task to run");
}

function replacementOf<T extends Task>(
  { task, isDoubtful = false }: PlannedTask<T>,
  result: RunResult,
  state: RunState,
): Replacement | undefined {
  if (isJobNotFound(result, state)) return "not found";
  return isDoubtful && task.kind === "message" && isRejected(result) ? "rejected" : undefined;
}
