import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import type { StoredJob } from "../model.ts";
import { findInstructions } from "../pulls/protected-files.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import { isRemoteOutage } from "./outages.ts";
import type { TurnContext } from "./turn-ports.ts";

/** The state of a job's last pull request, as far as its turns need it. */
export interface LastPullRequest {
  /** `false` if its state cannot be read. */
  isMerged: boolean;
  /** The last commit that was merged; `undefined` if unmerged or unknown. */
  mergedHead?: string | undefined;
  /** When it was closed without a merge, in milliseconds since 1970; `undefined` if open or unreadable. */
  closedAt?: number | undefined;
  /** Target branches for the next pull request; the first that exists is used. Empty: the project's own. */
  bases: readonly string[];
}

/** Reads the state and the target of a job's last pull request. */
export async function readLastPullRequest(
  job: StoredJob,
  { pullRequests, log }: { pullRequests: Pick<PullRequests, "read">; log: (text: string) => void },
): Promise<LastPullRequest> {
  const { branch, pullRequest: link, head, base } = job;
  const own = base === null ? [] : [base];
  if (link === null || head === null) return { isMerged: false, bases: own };
  try {
    const { state, target, mergedHead, closedAt } = await pullRequests.read({ link, branch, head });
    if (state === "merged") return { isMerged: true, mergedHead, bases: own };
    // Its target may have been changed since.
    return { isMerged: false, closedAt, bases: [...(target === undefined ? [] : [target]), ...own] };
  } catch (error) {
    // The turn waits until the state is known: what is published depends on it.
    if (isRemoteOutage(error)) throw error;
    log(`Cannot read the state of ${link}, treated as open: ${errorMessage(error)}`);
    return { isMerged: false, bases: own };
  }
}

/** Fetches, and finds where a turn starts, based on the job's last pull request. */
export function findStartOf(
  {
    repository,
    job,
    turns,
    targetBranch,
  }: Pick<TurnContext, "repository" | "turns" | "targetBranch"> & { job: StoredJob },
  { isMerged, mergedHead, bases }: LastPullRequest,
): Promise<Start> {
  return repository.findStart(job.branch, {
    isMerged,
    mergedHead,
    lastPushed: job.head,
    own: new Set(turns.flatMap(({ head }) => head ?? [])),
    targetBranch,
    bases,
    instructions: findInstructions,
  });
}
