import type { RunningTurn } from "../model.ts";
import type { Sql, Transaction } from "./sql.ts";

/** A turn that can be started: it waits, and no earlier turn of its job is open. */
export interface ReadyTurn {
  /** The id of the turn. */
  turn: number;
  job: string;
  project: string;
}

/** A turn that a worker took, with the proof of that. */
export interface TakenTurn {
  turn: number;
  /** Different each time that the turn is taken. */
  lease: string;
}

/** The turns of a project that can be started or are running. */
export interface ProjectTurns {
  project: string;
  ready: number;
  running: number;
  /** How long the oldest one has been ready, in seconds; 0 if none is ready. */
  oldestAgeSeconds: number;
}

/**
 * How many turns of a project can run at a time: the same number for every project, or a number for each project whose turns
 * can be taken, `Infinity` for any number. Default: any number of every project.
 */
export type TurnLimits = number | ReadonlyMap<string, number> | undefined;

/**
 * The queue of the turns that can be started, at most one of each job. A worker that takes a turn owns it until it ends, is put
 * back, or its lease expires. Projects take turns, so that one with many jobs does not hold up the others; within a project, the
 * turn that became ready first goes first.
 */
export interface ReadyTurns {
  /** How often a lease has to be renewed, in milliseconds; `undefined` if it never expires. */
  readonly renewEveryMs: number | undefined;
  /** Adds a turn, unless the queue already has it. */
  add(transaction: Transaction, turn: ReadyTurn): Promise<void>;
  /** Returns `false` if there is certainly no turn to take. */
  mayHaveTurns(sql: Sql, limits?: TurnLimits): Promise<boolean>;
  /**
   * Takes the next turn, which is running then, as `startTurn` makes it; `undefined` if there is none.
   *
   * @param at - milliseconds since 1970
   */
  take(transaction: Transaction, limits: TurnLimits, at: number): Promise<RunningTurn | undefined>;
  /**
   * Removes a taken turn, because it has ended.
   *
   * @throws LeaseLost if the lease has expired and somebody else took the turn
   */
  remove(transaction: Transaction, taken: TakenTurn & Pick<ReadyTurn, "job">): Promise<void>;
  /**
   * Puts a taken turn back.
   *
   * @param pauseMs - it cannot be taken before this time has passed
   * @throws LeaseLost as `remove` does
   */
  putBack(transaction: Transaction, taken: TakenTurn, pauseMs: number): Promise<void>;
  /** Removes a turn that waits. The caller's transaction fails if somebody has taken it meanwhile. */
  withdraw(transaction: Transaction, turn: Pick<ReadyTurn, "turn" | "job">): Promise<void>;
  /** Ends the pause of a turn that was put back, unless time alone ends it. */
  endPause(transaction: Transaction, turn: ReadyTurn): Promise<void>;
  /**
   * Puts back the turns that an earlier process left, if they can no longer be running. Called once, before turns are taken.
   *
   * @returns the turns that were running
   */
  recover(transaction: Transaction): Promise<{ id: number; job: string }[]>;
  /** Returns what each project has that has any turns. */
  ofProjects(sql: Sql): Promise<ProjectTurns[]>;
  /** Extends a lease. Returns `false` if it has expired and somebody else took the turn. */
  renew(taken: TakenTurn): Promise<boolean>;
  /** Calls `listener` whenever a turn may have become ready, in any process. Not before `add` was committed. */
  onReady(listener: () => void): void;
}
