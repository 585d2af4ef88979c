import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import type { StoredJob } from "../model.ts";
import { findInstructions } from "../pulls/protected-files.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import { isRemoteOutage } from "./outages.ts";
import type { TurnContext } from "./turn-ports.ts";

/** What a turn has to know of its job's last pull request. */
export interface LastPullRequest {
  /** Whether it is merged, so that its branch is obsolete; `false` if its state cannot be read. */
  isMerged: boolean;
  /** The last commit that it was merged with; `undefined` if it was not, or that is unknown. */
  mergedHead?: string | undefined;
  /** When it was closed without a merge, in milliseconds since 1970; `undefined` if it was not, or that cannot be read. */
  closedAt?: number | undefined;
  /** The branches that the next pull request targets, the first one that exists. Empty: the project's own. */
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
    // Somebody can have changed it since.
    return { isMerged: false, closedAt, bases: [...(target === undefined ? [] : [target]), ...own] };
  } catch (error) {
    // It waits until it is known: what is published depends on it.
    if (isRemoteOutage(error)) throw error;
    log(`Cannot read the state of ${link}, treated as open: ${errorMessage(error)}`);
    return { isMerged: false, bases: own };
  }
}

/** Fetches, and finds where a turn starts, by the state of its job's last pull request. */
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
