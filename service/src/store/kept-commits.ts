import type { KeptWork, RunningTurn, StoredTurn, Turn } from "../model.ts";

/** Applies a packed commit in a clone of the repository, wherever that stands. The change may have any white space. */
export const applyCommand = "git apply -3 --whitespace=nowarn";

/** Thrown for work that whoever can read a repository must not see without a review. */
export class MayNotBeKept extends Error {}

type SavedTurn = Pick<Turn, "identity"> & Partial<Pick<StoredTurn, "made">>;

/** Where commits that are not pushed are stored for other machines: the last one of each job. */
export interface KeptCommits {
  /** Whether what is not stored here is lost, because this machine ends with the job. Default: its clone keeps it. */
  readonly isOnlyPlace?: boolean | undefined;
  /**
   * @param packed - as `Repository.packCommit` makes it
   * @throws LeaseLost if another worker has taken the turn over
   */
  save(turn: RunningTurn, packed: Uint8Array): Promise<void>;
  /**
   * Returns the last saved commit of a job, or the turn's own if there are several; `undefined` if there is none. @throws if it cannot be
   * read now
   *
   * @param turn - with what it has made, if that is known: it names the last of its own
   */
  load(job: string, turn: SavedTurn): Promise<Uint8Array | undefined>;
  /**
   * Says to other machines that the agent of a turn works, before it begins. Default: the store does.
   *
   * @param message - of a commit that names the turn, and until when it works
   * @returns what could prevent that its work is kept, for the job's log; `undefined` if nothing is known
   * @throws with what that means for the turn as the message
   */
  begin?(turn: RunningTurn, message: string): Promise<string | undefined>;
  /**
   * Returns the turns of a turn's job that other machines work on, each with the turns whose unfinished work its agent began in. Default: the
   * store lets no two run.
   *
   * @throws if that cannot be read now
   */
  besides?(turn: RunningTurn): Promise<readonly { begunIn: readonly number[] }[]>;
  /**
   * Remembers that a turn ended without anything to keep. Default: the store does.
   *
   * @param message - of a commit that names the turn, and how it ended; `undefined` if only what says that it has begun is to go
   * @throws if it cannot be written
   */
  end?(turn: RunningTurn, message: string | undefined): Promise<void>;
  /**
   * Removes what is stored of a turn, because it is published, or has a secret. Default: nothing is removed. @throws in an outage of the store
   *
   * @param message - of a commit that names the turn, to be stored instead. Default: nothing is
   */
  forget?(turn: Pick<Turn, "job" | "step" | "identity">, message?: string): Promise<void>;
  /** Returns the command that brings what a turn left, or an earlier one of its job, into a clone of the repository. Default: the job's page has it. */
  commandFor?(turn: Pick<Turn, "job" | "identity">, kept: KeptWork): string | undefined;
}
