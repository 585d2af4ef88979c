import type { RememberedChanges } from "./changes/range.ts";
import { changesBelow } from "./comments/prompt-template.ts";
import type { PullRequest } from "./pull-request.ts";
import { cancelledBeforeSending, isJobNotFound, isRejected, type RunResult } from "./result.ts";
import type { Run } from "./run.ts";
import { isStillGone } from "./run-job.ts";
import type { SendingTask } from "./settings.ts";

export type { RememberedChanges };
export { changesBelow };

export const nothingRemembered: RememberedChanges = {
  lastCommit: undefined,
  firstBase: undefined,
  ownPullRequests: [],
};

/** A prompt with what comes beside it. */
export interface WrittenPrompt {
  prompt: string;
  sections: readonly string[];
  /** The prompt with the sections in it, for a service that does not take them apart. */
  whole: string;
}

/**
 * Writes the prompt, and a section on what changed, or returns why nothing may be sent.
 *
 * @param addSection - puts the section into the prompt. It is `undefined` without `changes`, and empty if there is nothing
 *   to compare
 */
export async function writePrompt(
  addSection: (section: string | undefined) => string,
  run: Run,
  remembered = nothingRemembered,
): Promise<WrittenPrompt | RunResult> {
  const { changes } = run.settings;
  let section: string | undefined;
  if (changes) {
    // Loaded here, because most steps do not ask for changes.
    const { findSection } = await import("./changes/find-section.ts");
    const found = await findSection(changes, remembered, run);
    if ("kind" in found) return found;
    section = found.section;
  }
  const whole = addSection(section);
  if (whole.trim() === "") return { kind: "blocked", cause: "prompt" };
  const prompt = changes ? addSection(changesBelow) : whole;
  return { prompt, sections: section ? [section] : [], whole };
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
  /** The open pull request of a job that has failed: it is left if the service rejects the message, and a create replaces that. */
  leaves?: PullRequest | undefined;
}

/** What is sent: a follow-up to a job, if there is one to continue, or a create. */
export interface Plan {
  task: SendingTask;
  /** The create that takes the place of a follow-up. Default: none does. */
  otherwise?: SendingTask;
  continued?: Continuation | undefined;
}

/**
 * Plans what to send.
 *
 * @param create - `replaces`: the turn of an earlier attempt that it takes the place of; `base`: the branch that a new job starts from
 */
export function planTasks(
  prompt: Pick<SendingTask, "prompt" | "sections">,
  continued: Continuation | undefined,
  { replaces, base }: { replaces?: string | undefined; base?: string | undefined },
): Plan {
  const create: SendingTask = { kind: "create", ...prompt, base, replaces };
  if (continued === undefined) return { task: create };
  const task: SendingTask = { kind: "message", jobId: continued.jobId, ...prompt, replaces };
  return continued.isReplaceable ? { task, continued, otherwise: create } : { task };
}

/**
 * Sends what is planned, and the create in place of a follow-up whose job is not found, or rejects it.
 *
 * @param runTask - never rejects
 * @param onReplaced - called before the create takes the place of a follow-up
 * @returns the last task that was run, and its result
 */
export async function runPlan(
  { task, otherwise, continued }: Plan,
  run: Run,
  runTask: (task: SendingTask) => Promise<RunResult>,
  onReplaced: (reason: "not found" | "rejected", continued: Continuation) => void,
): Promise<{ task: SendingTask; result: RunResult }> {
  const result = await runTask(task);
  const isMissing = isJobNotFound(result, run.state);
  const isRefused = continued?.leaves !== undefined && isRejected(result);
  if (!otherwise || !continued || !(isMissing || isRefused)) return { task, result };
  // If it was not found by mistake, nothing was sent to it.
  if (isMissing && !(await isStillGone(continued.jobId, run)))
    return { task, result: run.ports.signal.aborted ? cancelledBeforeSending : await runTask(task) };
  onReplaced(isMissing ? "not found" : "rejected", continued);
  run.state.forgetJob();
  return { task: otherwise, result: await runTask(otherwise) };
}
