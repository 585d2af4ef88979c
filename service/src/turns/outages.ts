import { GitError } from "../git/git.ts";
import { GitHubError } from "../pulls/github/github-error.ts";
import { OutcomeUnknown, StoreUnavailable } from "../store-errors.ts";

/**
 * Returns whether an error postpones a turn because the store cannot be used. The next run of the turn finds what is on the branch,
 * even if the store has the change after all.
 */
export function isStoreOutage(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
}

/**
 * Returns whether an error postpones a turn because Git's host or GitHub cannot be reached. The next run of the turn finds its
 * commit in the clone, or on the branch, and runs no agent.
 */
export function isRemoteOutage(error: unknown): boolean {
  return (error instanceof GitError && error.isRemoteOutage) || (error instanceof GitHubError && !error.isPermanent);
}
