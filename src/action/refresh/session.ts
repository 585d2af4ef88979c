import type { TerminalStatus } from "../../client/contract.ts";
import { addSection } from "../changes/add-section.ts";
import { findJob } from "../find-job.ts";
import { type Continuation, type PlannedTask, planTasks, writePrompt } from "../plan.ts";
import type { PullRequest } from "../pull-request.ts";
import type { SessionEvent } from "../report/log-events.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import type { SendingTask } from "../settings.ts";
import type { SessionEntry } from "./entry.ts";
import type { Earlier } from "./find-earlier.ts";
import type { SessionMemory, SessionProgress } from "./session-memory.ts";
import { untilAborted } from "./until-aborted.ts";

/** After this many turns in a row that failed, the session leaves the job and its pull request. */
const maxFailures = 2;

/**
 * Plans what a step of a session sends: a follow-up to the session's job while that is active or its pull request is open,
 * otherwise a create. Returns a result if nothing may be sent. Never rejects.
 *
 * @param earlier - what earlier attempts of this workflow run compared and started
 */
export async function planSession(
  session: SessionMemory,
  task: SendingTask,
  { base, replaces }: Extract<Earlier, { kind: "none" }>,
  run: Run,
): Promise<PlannedTask[] | RunResult> {
  const found = await untilAborted(session.find(), run.ports.signal);
  if (!found) return cancelledBeforeSending;
  if ("error" in found) return { kind: "blocked", cause: "session", detail: found.error };
  const { entry } = found;
  // The job's record names its pull request, which does not count as a change, and says how its last turn ended.
  const job = entry && (await readSessionJob(entry, run));
  if (job && "kind" in job) return job;
  const progress = job && session.progressOf(entry, job.status);
  const number = session.numberOf(job?.pullRequest);
  const written = await writePrompt((section) => addSection(task.prompt, section), run, {
    lastCommit: progress?.commit,
    firstBase: base,
    ownPullRequests: [...new Set([...(entry?.pullRequests ?? []), ...(number === undefined ? [] : [number])])],
  });
  if ("kind" in written) return written;
  const continuation = job && progress ? await continuationOf(entry.jobId, job, progress, run) : undefined;
  if (!job) say({ kind: "first-job" }, run);
  return planTasks(written.prompt, continuation, { replaces, base: session.base });
}

/** What a session's job was read to be. */
interface SessionJob {
  status: TerminalStatus | "active" | "not found";
  pullRequest: PullRequest | undefined;
}

async function readSessionJob({ jobId }: SessionEntry, run: Run): Promise<SessionJob | RunResult> {
  const { state } = run;
  const result = await findJob(jobId, run);
  const { pullRequest } = state;
  if (result !== "gone" && result.kind !== "done" && result.kind !== "started") return result;
  state.forgetJob();
  if (result === "gone") return { status: "not found", pullRequest: undefined };
  return { status: result.kind === "done" ? result.status : "active", pullRequest };
}

/** Returns how to continue a job; `undefined` if the session leaves it. */
async function continuationOf(
  jobId: string,
  { status, pullRequest }: SessionJob,
  { failures }: SessionProgress,
  run: Run,
): Promise<Continuation | undefined> {
  if (status === "active") {
    say({ kind: "job-active", jobId }, run);
    return { jobId, isReplaceable: true };
  }
  if (status === "archived" || status === "not found" || !pullRequest) {
    const reason = status === "completed" ? "no pull request" : status;
    say({ kind: "job-over", jobId, reason }, run);
    return undefined;
  }
  // Loaded here, because few runs of a session find a job that has ended.
  const { readPullRequestState } = await import("./pull-request-state.ts");
  const state = await readPullRequestState(pullRequest, run);
  const isOver = state === "merged" || state === "closed";
  if (status === "failed" && failures >= maxFailures && !isOver) {
    say({ kind: "failed-again", jobId, pullRequest, failures }, run);
    return undefined;
  }
  say({ kind: "pull-request", jobId, pullRequest, state }, run);
  return isOver ? undefined : { jobId, isReplaceable: true, isDoubtful: status === "failed", pullRequest };
}

function say(event: SessionEvent, { log, settings }: Run): void {
  log.session(event, settings.session);
}
