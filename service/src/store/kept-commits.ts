import type { RunningTurn } from "../model.ts";

/** Where commits that are not pushed are stored for other machines: the last one of each job. */
export interface KeptCommits {
  /** Whether what is not stored here is lost, because this machine ends with the job. Default: its clone keeps it. */
  readonly isOnlyPlace?: boolean | undefined;
  /**
   * @param bundle - as `Repository.bundle` makes it
   * @throws LeaseLost if another worker has taken the turn over
   */
  save(turn: RunningTurn, bundle: Uint8Array): Promise<void>;
  /** Returns the bundle that was saved last for a job; `undefined` if there is none. @throws if it cannot be read now */
  load(job: string): Promise<Uint8Array | undefined>;
}
