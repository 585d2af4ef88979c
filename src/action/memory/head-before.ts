import { commitOf } from "../commit-of.ts";
import { parsePullRequest } from "../pull-request.ts";
import type { RunResult } from "../result.ts";
import { connectService, type Run } from "../run.ts";

/** How long a failing service is asked for the job, in milliseconds: the message is sent in any case. */
const maxLookMs = 10_000;

/** Reads the head of the pull request that a job has before a message, if the service does not tell what a turn changed. Never rejects. */
export async function readBefore(jobId: string, run: Run): Promise<void> {
  const { settings, state } = run;
  const { clock, signal } = run.ports;
  if (state.features !== undefined || settings.agent || settings.githubToken === "") return;
  state.startedAt ??= clock.now();
  const deadline = Math.min(clock.now() + maxLookMs, state.startedAt + settings.timeoutMs);
  try {
    const { job } = await connectService(run).getJob(jobId, { deadline, signal });
    const pullRequest = parsePullRequest(job.prLink);
    if (!pullRequest) return;
    const { readPullRequestState } = await import("./pull-request-state.ts");
    const head = commitOf((await readPullRequestState(pullRequest, run)).head);
    state.before = head ? { url: pullRequest.url, head } : undefined;
  } catch {
    // Then nothing is compared.
  }
}

/**
 * Finds out whether a follow-up changed the job's pull request, if the service does not tell. Returns the result: the step may be cancelled
 * meanwhile. Never rejects.
 */
export async function compareHeads(result: RunResult, run: Run): Promise<RunResult> {
  const { pullRequest, before, unproven, features } = run.state;
  const isCompleted = result.kind === "done" && result.status === "completed" && unproven === undefined;
  if (!isCompleted || features !== undefined || !pullRequest || !before) return result;
  if (before.url !== undefined && before.url !== pullRequest.url) return result;
  const { readPullRequestState, isUpdateOf } = await import("./pull-request-state.ts");
  const { state, head } = await readPullRequestState(pullRequest, run);
  if (head === "") {
    // The job has ended, so only the reading was cancelled.
    if (run.ports.signal.aborted) return { kind: "cancelled", operation: "poll", acceptance: "accepted" };
    run.state.unproven = "change";
  } else if (head === before.head || (await isUpdateOf(before.head, head, pullRequest, run))) {
    if (state === "open") run.state.isUnchanged = true;
    else run.state.endedWithout = state;
  }
  return result;
}
