import type { RememberedChanges } from "./changes/range.ts";
import { type Sections, sectionsBelow } from "./comments/prompt-template.ts";
import type { PullRequest } from "./pull-request.ts";
import { cancelledBeforeSending, isJobNotFound, isRejected, type RunResult } from "./result.ts";
import type { Run } from "./run.ts";
import { isStillGone } from "./run-job.ts";
import type { SendingTask } from "./settings.ts";

export type { RememberedChanges };

export const nothingRemembered: RememberedChanges = {
  isOfSession: false,
  lastCommit: undefined,
  covered: [],
  isOwn: false,
  ownJobs: [],
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

/** What a prompt is written from. */
export interface PromptSource {
  /** Returns the prompt with sections in their places. */
  fill: (sections: Sections) => string;
  /** Returns the text of the thread, maybe nothing. Default: it is not asked in one. */
  readThread?: (() => Promise<string>) | undefined;
}

/**
 * Writes the prompt, and sections on what changed and what the thread says, or returns why nothing may be sent. The section on changes is
 * `undefined` without `changes`, and empty if there is nothing to compare.
 *
 * @param isSentAnyway - asked if nothing is new; a result if nothing may be sent. Default: then nothing is sent
 */
export async function writePrompt(
  source: PromptSource,
  run: Run,
  remembered = nothingRemembered,
  isSentAnyway: () => Promise<boolean | RunResult> = async () => false,
): Promise<WrittenPrompt | RunResult> {
  const { settings, ports } = run;
  let changes: string | undefined;
  if (settings.changes) {
    // Loaded here, because most steps do not ask for changes.
    const { findSection } = await import("./changes/find-section.ts");
    const found = await findSection(settings.changes, remembered, run);
    if ("kind" in found) {
      const isNothing = found.kind === "skipped" || (found.kind === "blocked" && found.cause === "range-behind");
      const isSent = isNothing && (await isSentAnyway());
      if (typeof isSent === "object") return isSent;
      if (!isSent) return found;
    }
    changes = "kind" in found ? "" : found.section;
  }
  const thread = await source.readThread?.();
  if (source.readThread && ports.signal.aborted) return cancelledBeforeSending;
  const whole = source.fill({ changes, thread });
  if (whole.trim() === "") return { kind: "blocked", cause: "prompt" };
  return { prompt: promptApart(source, run), sections: [changes, thread].flatMap((one) => one || []), whole };
}

/** Returns the prompt that sections come beside. */
export function promptApart({ fill, readThread }: PromptSource, { settings }: Pick<Run, "settings">): string {
  const { changes, thread } = sectionsBelow;
  return fill({ changes: settings.changes && changes, thread: readThread && thread });
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
 * @param create - `replaces`: the request of an earlier attempt that it takes the place of; `base`: the branch that a new job starts from
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
