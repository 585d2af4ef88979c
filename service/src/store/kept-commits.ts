import type { RunningTurn } from "../model.ts";

/** Where commits whose push was refused are stored for other machines: the last one of each job. */
export interface KeptCommits {
  /**
   * @param bundle - as `Repository.bundle` makes it
   * @throws LeaseLost if another worker has taken the turn over
   */
  save(turn: RunningTurn, bundle: Uint8Array): Promise<void>;
  /** Returns the bundle that was saved last for a job; `undefined` if there is none. */
  load(job: string): Promise<Uint8Array | undefined>;
}
