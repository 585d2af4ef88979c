import type { Sql, Transaction } from "./sql.ts";

/** A turn that can be started: it waits, and no earlier turn of its job is open. */
export interface ReadyTurn {
  /** The id of the turn. */
  turn: number;
  job: string;
  project: string;
}

/** A turn that was taken, with the proof of it. */
export interface TakenTurn {
  turn: number;
  /** Names this taking of the turn, and no other. */
  lease: string;
}

/**
 * How many turns of a project may run at a time: the same number for every project, or one for each project whose turns may be
 * taken at all, which is `Infinity` if any number may run. Default: any number of every project.
 */
export type TurnLimits = number | ReadonlyMap<string, number> | undefined;

/**
 * The queue of the turns that can be started, at most one of each job. Whoever takes a turn owns it until it ends, is put back,
 * or its lease expires. Projects take turns, so that one with many jobs does not hold up the others; within a project, the turn
 * goes first that became ready first.
 */
export interface ReadyTurns {
  /** How often a lease has to be renewed, in milliseconds; `undefined` if it never expires. */
  readonly renewEveryMs: number | undefined;
  /** Adds a turn, unless it is there. */
  add(transaction: Transaction, turn: ReadyTurn): Promise<void>;
  /** Returns `false` if there is certainly no turn to take. */
  mayHaveTurns(sql: Sql, limits?: TurnLimits): Promise<boolean>;
  /** Takes the next turn; `undefined` if there is none. */
  take(transaction: Transaction, limits: TurnLimits): Promise<TakenTurn | undefined>;
  /**
   * Removes a taken turn, because it has ended.
   *
   * @throws LeaseLost if the lease has expired and somebody else took the turn
   */
  remove(transaction: Transaction, taken: TakenTurn): Promise<void>;
  /**
   * Puts a taken turn back.
   *
   * @param pauseMs - it cannot be taken before this time has passed
   * @throws LeaseLost as `remove` does
   */
  putBack(transaction: Transaction, taken: TakenTurn, pauseMs: number): Promise<void>;
  /** Removes a turn that waits. The caller's transaction fails if somebody has taken it meanwhile. */
  withdraw(transaction: Transaction, turn: Pick<ReadyTurn, "turn" | "job">): Promise<void>;
  /** Lets a turn be taken again that was put back with a pause, if time alone does not. */
  endPause(transaction: Transaction, turn: ReadyTurn): Promise<void>;
  /**
   * Puts back what an earlier process has left, if it cannot be running any more. Called once, before turns are taken.
   *
   * @returns the turns that were running
   */
  recover(transaction: Transaction): Promise<{ id: number; job: string }[]>;
  /** Returns for how long the oldest turn could have been taken, in seconds; 0 if there is none. */
  oldestAgeSeconds(sql: Sql): Promise<number>;
  /** Extends a lease. Returns `false` if it has expired and somebody else took the turn. */
  renew(taken: TakenTurn): Promise<boolean>;
  /** Calls `listener` whenever a turn may have become ready, also by another process. Not before `add` was committed. */
  onReady(listener: () => void): void;
}
