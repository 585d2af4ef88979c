import type { Task } from "../inputs/schema.ts";
import { acceptanceOf, cancelledBeforeSending, isJobNotFound, type RerunEffect, type RunResult } from "../result.ts";
import type { RunState } from "../run-state.ts";
import { untilAborted } from "./abort.ts";
import type { EarlierAttempt, SendingTask } from "./attempt-memory.ts";
import { BackgroundSaves, type SavesPorts } from "./background-saves.ts";

/** What the log has to say about re-runs. */
export type RerunEvent =
  | { kind: "resuming"; jobId: string; attempt: number }
  /** The job of the earlier attempt is of no use, so the request is sent again. */
  | { kind: "starting-over"; jobId: string; reason: "failed" | "archived" | "not found" }
  /** The runner offers no cache service. */
  | { kind: "no-cache" }
  | { kind: "not-saved"; error: unknown };

export interface MemoryPorts extends Omit<SavesPorts, "onFailure"> {
  /** `GITHUB_RUN_ATTEMPT`: 1 on the first run of a workflow run. */
  attempt: number;
  /** Runs a task; calls `onJobId` as soon as the service has confirmed the job. Never rejects. */
  runJob: (task: Task, options: { wait: boolean; onJobId?: (jobId: string) => void }) => Promise<RunResult>;
  onEvent: (event: RerunEvent) => void;
}

/** The result of a run, and what a re-run of it does. */
export interface RememberedRun {
  result: RunResult;
  task?: Task;
  rerun: RerunEffect;
}

/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job that an earlier attempt
 * started. It sends the request again only if that job failed, was archived or is not found, which is what a re-run asks
 * for.
 *
 * @param planTasks - returns what to send, or why nothing may be sent. Each task applies only if the job of the one before
 *   it is not found.
 */
export async function runWithMemory(
  planTasks: () => Promise<SendingTask[] | RunResult>,
  wait: boolean,
  ports: MemoryPorts,
  state: RunState,
): Promise<RememberedRun> {
  const { attempt, attempts, onEvent } = ports;
  const saves = new BackgroundSaves({ ...ports, onFailure: (error) => onEvent({ kind: "not-saved", error }) });
  const none: EarlierAttempt = { kind: "none" };
  const earlier = attempt > 1 && attempts ? await untilAborted(attempts.find(), ports.signal) : none;
  if (!earlier) return { result: cancelledBeforeSending, rerun: "repeats" };
  if (earlier.kind === "job") {
    onEvent({ kind: "resuming", jobId: earlier.jobId, attempt: earlier.attempt });
    const resumed: Task = { kind: "attach", jobId: earlier.jobId, resumes: earlier.sent };
    const result = await resume(resumed, wait, ports, state);
    if (result) {
      // The earlier attempt may have been killed before it saved the job for the session.
      await saves.finish(earlier.jobId, state.pullRequest);
      return { result, task: resumed, rerun: "resumes" };
    }
    state.forgetJob();
  } else if (earlier.kind !== "none") {
    return { result: blockedBy(earlier), rerun: "stops" };
  }

  const plan = await planTasks();
  if (!Array.isArray(plan)) return { result: plan, rerun: "repeats" };
  const [task, result] = await runFirstFound(plan, wait, saves, ports, state);
  // The job of a message in doubt is not remembered: its state would say nothing about the message.
  const isInDoubt = acceptanceOf(result) === "unknown" && !saves.hasBegun;
  if (isInDoubt) saves.begin(task.kind, undefined);
  if (saves.hasBegun) await saves.finish(isInDoubt ? "" : state.jobId, state.pullRequest);
  if (!saves.isRemembered) return { result, task, rerun: "repeats" };
  return { result, task, rerun: isInDoubt ? "stops" : "resumes" };
}

async function runFirstFound(
  tasks: readonly SendingTask[],
  wait: boolean,
  saves: BackgroundSaves,
  { runJob, onEvent }: MemoryPorts,
  state: RunState,
): Promise<[SendingTask, RunResult]> {
  for (const [index, task] of tasks.entries()) {
    const result = await runJob(task, { wait, onJobId: (jobId) => saves.begin(task.kind, jobId) });
    if (!isJobNotFound(result, state) || index === tasks.length - 1) return [task, result];
    if (task.kind === "message") onEvent({ kind: "starting-over", jobId: task.jobId, reason: "not found" });
    state.forgetJob();
  }
  throw new Error("no task to run");
}

/**
 * Waits for the job of an earlier attempt; `undefined` if it had already failed, is archived or is not found. After a
 * message the first record may show the state from before it, so only a wait can tell.
 */
async function resume(
  task: Extract<Task, { kind: "attach" }>,
  wait: boolean,
  { runJob, onEvent }: MemoryPorts,
  state: RunState,
): Promise<RunResult | undefined> {
  const result = await runJob(task, { wait: wait && task.resumes === "message" });
  const startOver = (reason: "failed" | "archived" | "not found") => {
    onEvent({ kind: "starting-over", jobId: task.jobId, reason });
    return undefined;
  };
  if (isJobNotFound(result, state)) return startOver("not found");
  const hasChanged = state.timeline.length > 1;
  if (result.kind === "done" && result.status !== "completed" && !hasChanged) return startOver(result.status);
  return result.kind === "started" && wait ? runJob(task, { wait }) : result;
}

function blockedBy(earlier: Exclude<EarlierAttempt, { kind: "none" | "job" }>): RunResult {
  switch (earlier.kind) {
    case "pending":
      return { kind: "blocked", cause: "pending" };
    case "other-prompt":
      return { kind: "blocked", cause: "other-prompt", jobId: earlier.jobId, attempt: earlier.attempt };
    case "unreadable":
      return { kind: "blocked", cause: "memory", detail: earlier.detail };
  }
}
