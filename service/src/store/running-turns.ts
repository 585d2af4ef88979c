import { knownCost, unknownCost } from "../cost.ts";
import type { EndedState, RunningTurn, StoredTurn, Turn, TurnState } from "../model.ts";
import { LeaseLost, OutcomeUnknown, StoreUnavailable } from "../store-errors.ts";
import { addNextReady, endJob, lockJob, type TurnParts } from "./job-state.ts";
import type { TakenTurn, TurnLimits } from "./ready-turns.ts";
import type { Transaction } from "./sql.ts";

/** What an agent reported, as it is stored. */
export type StoredReport = {
  [key in "answer" | "costUsd" | "sessionCost"]?: NonNullable<StoredTurn[key]> | undefined;
};

/**
 * The turns that workers run, from when they take them until they end or are requeued. Methods that take a `RunningTurn` throw
 * `LeaseLost` if another worker has taken the turn over.
 */
export class RunningTurns {
  readonly #parts: TurnParts;
  /** Changes of running turns that could not be stored yet. */
  readonly #postponedChanges = new WeakMap<RunningTurn, ((transaction: Transaction) => Promise<void>)[]>();

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /**
   * Takes the next turn to run it; see `ReadyTurns` for the order.
   *
   * @param given - a function is asked only if there are turns. Default: no limits
   * @param at - milliseconds since 1970. Default: the time of the machine
   */
  async startNext(given?: TurnLimits | (() => Promise<TurnLimits>), at = Date.now()): Promise<RunningTurn | undefined> {
    const { database, ready, announcements } = this.#parts;
    // Asked first, because most calls find no turn, and a transaction would show that the store can be written.
    if (!(await ready.mayHaveTurns(database))) return undefined;
    const limits = typeof given === "function" ? await given() : given;
    if (typeof limits === "object" && !(await ready.mayHaveTurns(database, limits))) return undefined;
    const started = await database.transaction(async (transaction) => {
      const turn = await ready.take(transaction, limits, at);
      if (turn !== undefined) await announcements.announceJob(transaction, turn.job);
      return turn;
    });
    if (started !== undefined) announcements.jobChanged(started.job);
    return started;
  }

  /**
   * Requeues what an earlier service left: running turns and postponed ones.
   *
   * @returns the turns that were running
   */
  requeueInterrupted(): Promise<Pick<Turn, "id" | "job">[]> {
    const { database, ready } = this.#parts;
    return database.transaction((transaction) => ready.recover(transaction));
  }

  /** How often a lease has to be renewed, in milliseconds; `undefined` if it never expires. */
  get renewEveryMs(): number | undefined {
    return this.#parts.ready.renewEveryMs;
  }

  /** Extends a lease. Returns `false` if another worker has taken the turn over. */
  renewLease(turn: RunningTurn): Promise<boolean> {
    return this.#parts.ready.renew(taken(turn));
  }

  /** Checks that no other worker has taken the turn over. */
  async confirmLease(turn: RunningTurn): Promise<void> {
    if (!(await this.renewLease(turn))) throw new LeaseLost(turn.id);
  }

  /**
   * Counts an attempt, before its agent runs. What the turn's agent said before is forgotten, and what the turn costs is unknown
   * until `setReport`.
   *
   * @returns what the agents of earlier attempts cost, in US dollars; `undefined` if that is unknown
   */
  async countAttempt(turn: RunningTurn): Promise<number | undefined> {
    const { id, job, lease } = turn;
    return this.#parts.database.transaction(async (transaction) => {
      await lockJob(transaction, job);
      const find = 'SELECT attempts, "costUsd" FROM turn WHERE id = ? AND lease = ?';
      const before = await transaction.row<Pick<StoredTurn, "attempts" | "costUsd">>(find, id, lease);
      const count = 'UPDATE turn SET attempts = attempts + 1, answer = NULL, "costUsd" = ? WHERE id = ? AND lease = ?';
      const isCounted = (await transaction.run(count, unknownCost, id, lease)) > 0;
      if (before === undefined || !isCounted) throw new LeaseLost(id);
      return knownCost(before.costUsd ?? (before.attempts > 0 ? undefined : 0));
    });
  }

  /**
   * Records what the agent reported; what it did not stays as it is. If that cannot be stored now, it is when the turn ends or is
   * requeued.
   */
  async setReport(turn: RunningTurn, report: StoredReport): Promise<void> {
    if (Object.values(report).every((value) => value === undefined)) return;
    const { answer = null, costUsd = null, sessionCost = null } = report;
    const change = `UPDATE turn SET answer = coalesce(?, answer), "costUsd" = coalesce(?, "costUsd"),
      "sessionCost" = coalesce(?, "sessionCost") WHERE id = ?`;
    await this.#storeNowOrAtEnd(turn, async (transaction) => {
      await transaction.run(change, answer, costUsd, sessionCost, turn.id);
    });
  }

  /**
   * Records the last commit that was pushed for the turn's job, before its pull request is opened or brought up to date. The commit
   * counts from then on, so this must be known, and is not stored later.
   *
   * @param link - the pull request that has the commit; `null` if it needs a new one
   * @param own - the turn's own commit. Default: it has none, and `head` is of an earlier turn
   */
  async recordPush(turn: RunningTurn, link: string | null, head: string, own?: string): Promise<void> {
    await this.#change(turn, async (transaction) => {
      await setPullRequest(turn.job, link, head)(transaction);
      if (own !== undefined) await transaction.run("UPDATE turn SET head = ? WHERE id = ?", own, turn.id);
    });
  }

  /**
   * Records the pull request of the turn's job and the last commit pushed to it. If that cannot be stored now, it is when the
   * turn ends or is requeued.
   */
  async setPullRequest(turn: RunningTurn, link: string, head: string): Promise<void> {
    await this.#storeNowOrAtEnd(turn, setPullRequest(turn.job, link, head));
  }

  /** Returns why a turn is to be stopped; `undefined` if it is not. */
  async stopRequest({ id }: Turn): Promise<string | undefined> {
    const find = 'SELECT reason FROM turn WHERE id = ? AND "stopRequestedAt" IS NOT NULL';
    return (await this.#parts.database.row<{ reason: string }>(find, id))?.reason;
  }

  /**
   * Records how a turn ended, and lets the next one of its job start.
   *
   * @param at - milliseconds since 1970
   * @param reason - why it failed. Default: unknown
   */
  async finish(turn: RunningTurn, state: EndedState, at: number, reason?: string): Promise<void> {
    const { ready, announcements } = this.#parts;
    const { id, job } = turn;
    await announcements.changeJob(job, async (transaction) => {
      await lockJob(transaction, job);
      // Until now, the turn has the reason of the request to stop it: one that fails for another reason was not stopped.
      const end = `UPDATE turn SET state = ?, "endedAt" = ?, "stopRequestedAt" = CASE WHEN reason = ? THEN "stopRequestedAt" END,
        reason = ?, lease = NULL WHERE id = ? AND lease = ?`;
      if ((await transaction.run(end, state, at, reason ?? null, reason ?? null, id, turn.lease)) === 0) {
        const { state: stored } = (await transaction.row<{ state: TurnState }>(stateOf, id)) ?? {};
        // Recorded already, or the job was deleted.
        if (stored !== "waiting" && stored !== "running") return;
        throw new LeaseLost(id);
      }
      await this.#storePostponed(transaction, turn);
      await ready.remove(transaction, { ...taken(turn), job });
      if (!(await endJob(transaction, job, at))) await addNextReady(ready, transaction, job);
    });
    this.#postponedChanges.delete(turn);
    announcements.turnReady();
  }

  /**
   * Makes a turn wait again.
   *
   * @param pauseMs - it is not started before this time has passed and `resume` was called, or by the next service. Default: 0
   * @param isCounted - whether its attempt counts, because the agent has run to its end. Default: it has the number of attempts that
   *   it had when it was started
   */
  async requeue(turn: RunningTurn, pauseMs = 0, isCounted = false): Promise<void> {
    const { ready, announcements } = this.#parts;
    await announcements.changeJob(turn.job, async (transaction) => {
      await lockJob(transaction, turn.job);
      const requeue = "UPDATE turn SET state = 'waiting', lease = NULL WHERE id = ? AND lease = ?";
      if ((await transaction.run(requeue, turn.id, turn.lease)) === 0) throw new LeaseLost(turn.id);
      await this.#storePostponed(transaction, turn);
      if (!isCounted) await transaction.run("UPDATE turn SET attempts = ? WHERE id = ?", turn.attempts, turn.id);
      await ready.putBack(transaction, taken(turn), pauseMs);
    });
    this.#postponedChanges.delete(turn);
    announcements.turnReady();
  }

  /** Lets a turn start that was requeued with a pause. */
  async resume({ id, job }: Turn): Promise<void> {
    const { database, ready, announcements } = this.#parts;
    await database.transaction(async (transaction) => {
      const waiting = `SELECT job.project FROM turn JOIN job ON job.id = turn.job
        WHERE turn.id = ? AND turn.state = 'waiting'`;
      const found = await transaction.row<{ project: string }>(waiting, id);
      if (found !== undefined) await ready.endPause(transaction, { turn: id, job, project: found.project });
    });
    announcements.turnReady();
  }

  async #change(turn: RunningTurn, change: (transaction: Transaction) => Promise<void>): Promise<void> {
    await this.#parts.database.transaction(async (transaction) => {
      await lockJob(transaction, turn.job);
      // This changes the row instead of reading it, because nobody else can take a turn that a transaction has changed.
      const hold = "UPDATE turn SET lease = lease WHERE id = ? AND lease = ?";
      if ((await transaction.run(hold, turn.id, turn.lease)) === 0) throw new LeaseLost(turn.id);
      await change(transaction);
    });
  }

  /** The agent has run and cannot run again for this, so the change waits for the end of the turn, which is retried. */
  async #storeNowOrAtEnd(turn: RunningTurn, change: (transaction: Transaction) => Promise<void>): Promise<void> {
    try {
      await this.#change(turn, change);
    } catch (error) {
      // Storing it twice makes no difference.
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) throw error;
      this.#postponedChanges.set(turn, [...(this.#postponedChanges.get(turn) ?? []), change]);
    }
  }

  async #storePostponed(transaction: Transaction, turn: RunningTurn): Promise<void> {
    for (const change of this.#postponedChanges.get(turn) ?? []) await change(transaction);
  }
}

const setPullRequest = (job: string, link: string | null, head: string) => async (transaction: Transaction) => {
  await transaction.run('UPDATE job SET "pullRequest" = ?, head = ? WHERE id = ?', link, head, job);
};

const stateOf = "SELECT state FROM turn WHERE id = ?";

const taken = ({ id, lease }: RunningTurn): TakenTurn => ({ turn: id, lease });
