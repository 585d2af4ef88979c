import { setTimeout } from "node:timers/promises";
import type { GitRepository } from "./git-repository.ts";
import type { WorktreePlace } from "./worktree.ts";
import type { Worktrees } from "./worktrees.ts";

export interface UpkeepOptions {
  repository: Pick<GitRepository, "packIfNeeded">;
  worktrees: Pick<Worktrees, "isIdle" | "removeUnneeded" | "prepareSpares">;
  /** Whether the job of a worktree can still have a turn soon. */
  isNeeded: (place: WorktreePlace) => Promise<boolean>;
  /** Whether the repository cannot be used now. Default: it can. */
  isAway?: (() => boolean) | undefined;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

const intervalMs = 60_000;

/**
 * Does at idle times what makes later turns faster: removes worktrees that are not needed, prepares spare ones, and packs the
 * clone. Ends when the service stops. An error is only logged: no job depends on it.
 */
export async function keepUp({ signal, log, ...options }: UpkeepOptions): Promise<void> {
  while (!signal.aborted) {
    await keepUpOnce(options).catch((error: unknown) => {
      if (!signal.aborted)
        log(`Maintenance of the clone and worktrees failed, and is tried again. Jobs are not affected. ${error}`);
    });
    await setTimeout(intervalMs, undefined, { signal }).catch(() => {});
  }
}

/** Does it once, unless a turn is running. */
export async function keepUpOnce({ repository, worktrees, isNeeded, isAway }: Omit<UpkeepOptions, "signal" | "log">) {
  if (!worktrees.isIdle || isAway?.()) return;
  await worktrees.removeUnneeded(isNeeded);
  await worktrees.prepareSpares();
  if (worktrees.isIdle) await repository.packIfNeeded();
}
