import { addSection } from "../changes/add-section.ts";
import { planTasks, runFirstFound, type SendingTask, writePrompt } from "../plan.ts";
import { acceptanceOf, cancelledBeforeSending, isJobNotFound, type RunResult } from "../result.ts";
import type { Execution, Run } from "../run.ts";
import { runJob } from "../run-job.ts";
import { runAttempt } from "../runner/environment.ts";
import type { Task } from "../settings.ts";
import { AttemptMemory, type EarlierAttempt } from "./attempt-memory.ts";
import { BackgroundSaves } from "./background-saves.ts";
import { planSession, recallSession } from "./session.ts";
import { SessionMemory } from "./session-memory.ts";
import { untilAborted } from "./until-aborted.ts";

/** What the Actions cache remembers for a step. */
interface Memory {
  /** What earlier attempts of the workflow run started; `undefined` with `on-rerun: new`. */
  attempts: AttemptMemory | undefined;
  /** The last job of the session; `undefined` without one. */
  session: SessionMemory | undefined;
}

/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job that an earlier attempt
 * started. It sends the request again only if that job failed, was archived or is not found, which is what a re-run asks
 * for.
 */
export async function runWithMemory(task: SendingTask, run: Run): Promise<Execution> {
  const { state, log } = run;
  const { signal } = run.ports;
  const attempt = runAttempt(run.ports.environment);
  const memory = await openMemory(task, run);
  const onFailure = (error: unknown): void => log.rerun({ kind: "not-saved", error });
  const saves = new BackgroundSaves({ ...run.ports, ...memory, onFailure });

  const none: EarlierAttempt = { kind: "none" };
  const earlier = attempt > 1 && memory.attempts ? await untilAborted(memory.attempts.find(), signal) : none;
  if (!earlier) return { result: cancelledBeforeSending };
  if (earlier.kind === "job") {
    log.rerun({ kind: "resuming", jobId: earlier.jobId, attempt, earlierAttempt: earlier.attempt });
    const resumed = { kind: "attach", jobId: earlier.jobId, resumes: earlier.sent } as const;
    const result = await resume(resumed, run);
    if (result) {
      // The earlier attempt may have been killed before it saved the job for the session.
      await saves.finish(earlier.jobId, state.pullRequest);
      return { result, task: resumed, rerun: "resumes" };
    }
    state.forgetJob();
  } else if (earlier.kind !== "none") {
    return { result: blockedBy(earlier), rerun: "stops" };
  }

  const plan = await planWith(memory.session, task, run);
  return Array.isArray(plan) ? runAndRemember(plan, saves, run) : { result: plan };
}

async function openMemory(task: SendingTask, run: Run): Promise<Memory> {
  const cache = await run.ports.connectCache();
  const { onRerun, session } = run.settings;
  return {
    attempts: onRerun === "resume" ? new AttemptMemory(cache, task, run) : undefined,
    session: session === "" ? undefined : new SessionMemory(cache, run),
  };
}

/** Decides what to send: the prompt with what changed, to the session's job or a new one. Otherwise returns why not. */
async function planWith(
  session: SessionMemory | undefined,
  task: SendingTask,
  run: Run,
): Promise<SendingTask[] | RunResult> {
  const recalled = session ? await recallSession(session, run.ports.signal) : { entry: undefined };
  if ("kind" in recalled) return recalled;
  const { entry } = recalled;
  const written = await writePrompt((section) => addSection(task.prompt, section), run, {
    lastCommit: entry && session?.lastCommit(entry),
    ownPullRequests: entry?.pullRequests ?? [],
  });
  if ("kind" in written) return written;
  if (session) return planSession(written.prompt, entry?.jobId, run);
  return planTasks(written.prompt, task.kind === "message" ? task.jobId : undefined, false);
}

/** Runs a plan, and saves what it sent while the job runs. */
async function runAndRemember(plan: SendingTask[], saves: BackgroundSaves, run: Run): Promise<Execution> {
  const { state, log } = run;
  const { task, result } = await runFirstFound(
    plan,
    state,
    (each) => runJob(each, run, { onJobId: (jobId) => saves.begin(each.kind, jobId) }),
    (each) => {
      if (each.kind === "message") log.rerun({ kind: "starting-over", jobId: each.jobId, reason: "not found" });
    },
  );
  // The job of a message in doubt is not remembered: its state would say nothing about the message.
  const isInDoubt = acceptanceOf(result) === "unknown" && !saves.hasBegun;
  if (isInDoubt) saves.begin(task.kind, undefined);
  if (saves.hasBegun) await saves.finish(isInDoubt ? "" : state.jobId, state.pullRequest);
  if (!saves.isRemembered) return { result, task };
  return { result, task, rerun: isInDoubt ? "stops" : "resumes" };
}

/**
 * Waits for the job of an earlier attempt; `undefined` if it had already failed, is archived or is not found. After a
 * message the first record may show the state from before it, so only a wait can tell.
 */
async function resume(task: Extract<Task, { kind: "attach" }>, run: Run): Promise<RunResult | undefined> {
  const { settings, state, log } = run;
  const result = await runJob(task, run, { wait: settings.wait && task.resumes === "message" });
  const startOver = (reason: "failed" | "archived" | "not found") => {
    log.rerun({ kind: "starting-over", jobId: task.jobId, reason });
    return undefined;
  };
  if (isJobNotFound(result, state)) return startOver("not found");
  const hasChanged = state.timeline.length > 1;
  if (result.kind === "done" && result.status !== "completed" && !hasChanged) return startOver(result.status);
  return result.kind === "started" && settings.wait ? runJob(task, run) : result;
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
