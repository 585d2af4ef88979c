import type { RunningTurn, Turn } from "../model.ts";

/** Where the packed home directories of agents are stored for all machines. */
export interface HomeStore {
  /** Returns the identity of the last turn before this one in which an agent ran. */
  lastAttemptedBefore(turn: Turn): Promise<string | undefined>;
  /** Returns the archive of a job if the turn with this identity left it. */
  loadHome(jobId: string, turn: string): Promise<Uint8Array | undefined>;
  /** @throws LeaseLost if another worker has taken the turn over */
  saveHome(turn: RunningTurn, archive: Uint8Array): Promise<void>;
  /** Deletes the archives of those of these jobs that are archived: a later turn of them begins with the earlier prompts and messages. */
  deleteArchived(jobs: readonly string[]): Promise<void>;
}
