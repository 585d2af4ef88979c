import type { KeptWork, RunningTurn, Turn } from "../model.ts";

/** Applies a packed commit in a clone of the repository, wherever that stands. The change may have any white space. */
export const applyCommand = "git apply -3 --whitespace=nowarn";

/** Where commits that are not pushed are stored for other machines: the last one of each job. */
export interface KeptCommits {
  /** Whether what is not stored here is lost, because this machine ends with the job. Default: its clone keeps it. */
  readonly isOnlyPlace?: boolean | undefined;
  /**
   * @param packed - as `Repository.packCommit` makes it
   * @throws LeaseLost if another worker has taken the turn over
   */
  save(turn: RunningTurn, packed: Uint8Array): Promise<void>;
  /** Returns what was saved last for a job, where more is stored for the turn; `undefined` if there is none. @throws if it cannot be read now */
  load(job: string, turn: Pick<Turn, "identity">): Promise<Uint8Array | undefined>;
  /**
   * Remembers that a turn completed without a change, where nothing else may do so. Default: that is stored.
   *
   * @param message - of a commit that it would have made
   * @throws if it cannot be written
   */
  end?(turn: RunningTurn, message: string): Promise<void>;
  /** Removes what is stored of a turn, because it is published. Default: nothing is removed. Never rejects. */
  forget?(turn: Pick<Turn, "job" | "identity">): Promise<void>;
  /** Returns the command that brings what a turn left, or an earlier one of its job, into a clone of the repository. Default: the job's page has it. */
  commandFor?(turn: Pick<Turn, "job" | "identity">, kept: KeptWork): string | undefined;
}
