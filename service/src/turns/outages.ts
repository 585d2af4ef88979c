import { GitError } from "../git/git.ts";
import type { Machine } from "../machine.ts";
import { isResourceExhausted } from "../processes/resource-exhausted.ts";
import { GitHubError } from "../pulls/github/github-error.ts";
import { LeaseLost, OutcomeUnknown, StoreUnavailable } from "../store-errors.ts";

/**
 * Returns whether an error postpones a turn because the store is unavailable. The next run uses what is on the branch, even if the store
 * did save the change.
 */
export function isStoreOutage(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
}

/** Returns whether an error says nothing about a turn's work: it passes, or another worker has the turn. */
export function isPassing(error: unknown): boolean {
  return error instanceof LeaseLost || isStoreOutage(error) || isRemoteOutage(error) || isResourceExhausted(error);
}

/**
 * Returns whether an error postpones a turn because the Git host or GitHub is unavailable. The next run finds the commit in the clone or on
 * the branch, and runs no agent.
 */
export function isRemoteOutage(error: unknown): boolean {
  return (error instanceof GitError && error.isRemoteOutage) || (error instanceof GitHubError && !error.isPermanent);
}

/** Before what failed in an outage of the Git host or GitHub is tried again, in milliseconds. */
const outagePausesMs = [1000, 3000, 6000];

/** A connection that hangs takes longer, and is not tried again, in milliseconds. */
const longestTryMs = 15_000;

/**
 * Does something, and tries it again for about ten seconds while the Git host or GitHub is unavailable.
 *
 * @param hurry - ends that. Default: never
 * @throws what it throws at last
 */
export async function outlast<T>(
  act: () => Promise<T>,
  machine: Pick<Machine, "sleep" | "wallTime">,
  hurry?: AbortSignal,
): Promise<T> {
  for (const pauseMs of outagePausesMs) {
    const began = machine.wallTime();
    try {
      return await act();
    } catch (error) {
      const hangs = machine.wallTime() - began > longestTryMs;
      if (hangs || hurry?.aborted || !isRemoteOutage(error)) throw error;
      await machine.sleep(pauseMs, hurry);
    }
  }
  return act();
}
