import { knownCost, unknownCost } from "../cost.ts";
import type {
  EndedState,
  FailureClass,
  KeptWork,
  Made,
  RunningTurn,
  StoredTurn,
  Turn,
  TurnStage,
  TurnState,
} from "../model.ts";
import { LeaseLost, OutcomeUnknown, StoreUnavailable } from "../store-errors.ts";
import { addNextReady, endJob, lockJob, type TurnParts } from "./job-state.ts";
import type { TurnLimits } from "./ready-turns.ts";
import type { Transaction } from "./sql.ts";

/** What an agent reported, as it is stored. `usedModel`: shown as the model of the job. */
export type StoredReport = { usedModel?: string | undefined } & {
  [key in "answer" | "costUsd" | "sessionCost" | "checkResult" | "checkOutput"]?:
    | NonNullable<StoredTurn[key]>
    | undefined;
};

/**
 * The turns that workers run, from when they take them until they end or are requeued. Methods that take a `RunningTurn` throw
 * `LeaseLost` if another worker has taken the turn over.
 */
export class RunningTurns {
  readonly #parts: TurnParts;
  /**
   * What workers have said of their turns. It is stored again with the end of the turn: it may not have been stored, or the database
   * may have lost it since.
   */
  readonly #said = new WeakMap<RunningTurn, Said>();

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
      if (turn !== undefined) announcements.announceJob(transaction, turn.job);
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

  /** Extends a lease, also one that has expired. Returns `false` if another worker has taken the turn over. */
  renewLease(turn: RunningTurn): Promise<boolean> {
    return this.#parts.ready.renew(this.#parts.database, turn);
  }

  /** Checks that no other worker has taken the turn over. */
  async confirmLease(turn: RunningTurn): Promise<void> {
    if (!(await this.renewLease(turn))) throw new LeaseLost(turn.id);
  }

  /**
   * Counts an attempt, before its agent runs: the stage `begun`. What the turn's agent said and made before is forgotten, and what the turn
   * costs is unknown until that is reported.
   *
   * @returns what the agents of earlier attempts cost, in US dollars; `undefined` if that is unknown
   */
  async countAttempt(turn: RunningTurn): Promise<number | undefined> {
    const { ends } = this.#said.get(turn) ?? {};
    if (ends) this.#said.set(turn, { ends });
    else this.#said.delete(turn);
    return this.#parts.database.transaction(async (transaction) => {
      await lockJob(transaction, turn.job);
      const { attempts, costUsd } = await this.#parts.ready.hold(transaction, turn);
      const count = `UPDATE turn SET attempts = attempts + 1, answer = NULL, "costUsd" = ?, "checkResult" = NULL,
        "checkOutput" = NULL, stage = 'begun', made = NULL WHERE id = ?`;
      await transaction.run(count, unknownCost, turn.id);
      return knownCost(costUsd ?? (attempts > 0 ? undefined : 0));
    });
  }

  /**
   * Records what the agent reported; what it did not stays as it is. If that cannot be stored now, it is when the turn ends or is requeued.
   */
  async setReport(turn: RunningTurn, report: StoredReport): Promise<void> {
    if (Object.values(report).every((value) => value === undefined)) return;
    this.#say(turn, { report });
    await this.#storeNowOrAtEnd(turn, { report });
  }

  /**
   * Records what the turn's agent has made in an attempt: the stage `made`. It replaces what was made and checked before. Whoever has lost
   * the turn since knows it all the same, so this needs no lease.
   *
   * @param attempt - which one, counted from 1
   * @throws LeaseLost if another attempt was counted since, or the turn has ended
   */
  async setMade(turn: RunningTurn, attempt: number, made: Made, report: StoredReport = {}): Promise<void> {
    const { report: before, ...said } = this.#said.get(turn) ?? {};
    this.#said.set(turn, { ...said, report: { ...before, checkResult: undefined, checkOutput: undefined } });
    this.#say(turn, { report, made, stage: "made" });
    await this.#parts.database.transaction(async (transaction) => {
      await lockJob(transaction, turn.job);
      // The database may have lost the count of the attempt, and still has the lease.
      const set = `UPDATE turn SET stage = 'made', made = ?, attempts = ?, "checkResult" = NULL, "checkOutput" = NULL
        WHERE id = ? AND (lease = ? OR attempts = ?) AND state IN ('waiting', 'running')`;
      const values = [JSON.stringify(made), attempt, turn.id, turn.lease, attempt];
      if ((await transaction.run(set, ...values)) === 0) throw new LeaseLost(turn.id);
      await store(transaction, turn, { report });
    });
  }

  /** Records a check result: the stage `checked`. */
  async setChecked(turn: RunningTurn, report: Pick<StoredReport, "checkResult" | "checkOutput">): Promise<void> {
    this.#say(turn, { report, stage: "checked" });
    await this.#storeNowOrAtEnd(turn, { report, stage: "checked" });
  }

  /**
   * Says that the turn has published what was kept of an earlier turn of its job. That one has completed then, as have those after it that asked for
   * the same, whatever kept them from publishing it. It is stored when the turn ends: until then, the work is looked for again.
   */
  endEarlier(
    turn: RunningTurn,
    maker: Pick<StoredTurn, "id" | "promptHash" | "covers" | "step">,
    how: EarlierEnd = {},
  ): void {
    const { id, promptHash, covers, step } = maker;
    this.#said.set(turn, { ...this.#said.get(turn), ends: { id, promptHash, covers, step, ...how } });
  }

  /** Says that the turn has no change, because all that it asked for was the work of such an earlier turn. It is stored when the turn ends. */
  endUnchanged(turn: RunningTurn): void {
    this.#say(turn, { made: {} });
  }

  /**
   * Records the last commit that was pushed for the turn's job, before its pull request is opened or brought up to date. The commit
   * counts from then on, so this must be known, and is not stored later.
   *
   * @param link - the pull request that has the commit; `null` if it needs a new one
   * @param madeBy - the id of the turn that made the commit. Default: `head` was recorded before
   * @param checked - what the check of it showed: that of a commit which was moved since does not count. Default: nothing new
   */
  async recordPush(
    turn: RunningTurn,
    link: string | null,
    head: string,
    madeBy?: number,
    checked?: PushedCheck,
  ): Promise<void> {
    const own = madeBy === undefined ? undefined : { turn: madeBy, commit: head, checked };
    const said: Said = { push: { link, head, own }, ...(madeBy === turn.id && { stage: "pushed" }) };
    await this.#change(turn, said);
    this.#say(turn, said);
  }

  /**
   * Records the pull request of the turn's job and the last commit pushed to it: the stage `published`, if that is the turn's own. If that cannot be stored now, it is when the
   * turn ends or is requeued.
   *
   * @param isPage - whether the store has the pull request, as a page. Default: no
   */
  async setPullRequest(turn: RunningTurn, link: string, head: string, isPage = false): Promise<void> {
    this.#say(turn, { push: { link, head, isPage }, stage: "published" });
    await this.#storeNowOrAtEnd(turn, { push: { link, head }, stage: "published" });
  }

  /** Returns why a turn is to be stopped; `undefined` if it is not. */
  async stopRequest({ id }: Turn): Promise<string | undefined> {
    const find = 'SELECT reason FROM turn WHERE id = ? AND "stopRequestedAt" IS NOT NULL';
    return (await this.#parts.database.row<{ reason: string }>(find, id))?.reason;
  }

  /**
   * Records how a turn ended, and lets the next one of its job start. If the database has lost the page of its pull request since, the
   * turn is requeued instead: it runs no agent again, and opens another one.
   *
   * @param at - milliseconds since 1970
   * @param failure - why it failed, and what is kept of its work. Default: unknown, and nothing
   * @returns whether it has ended
   */
  async finish(turn: RunningTurn, state: EndedState, at: number, failure?: StoredFailure): Promise<boolean> {
    try {
      await this.#finish(turn, state, at, failure);
      return true;
    } catch (error) {
      if (!(error instanceof PageLost)) throw error;
      this.#say(turn, { stage: "pushed" });
      await this.requeue(turn, 0, true);
      return false;
    }
  }

  async #finish(turn: RunningTurn, state: EndedState, at: number, failure: StoredFailure = {}): Promise<void> {
    const { reason = null, failureClass = null, kept = null } = failure;
    const { ready, announcements } = this.#parts;
    const { id, job } = turn;
    await announcements.changeJob(job, async (transaction) => {
      await lockJob(transaction, job);
      const held = await ready.hold(transaction, turn).catch(async (error: unknown) => {
        if (!(error instanceof LeaseLost)) throw error;
        const { state: stored } = (await transaction.row<{ state: TurnState }>(stateOf, id)) ?? {};
        if (stored === "waiting" || stored === "running") throw error;
      });
      // Recorded already, or the job was deleted.
      if (held === undefined) return;
      // Until now, the turn has the reason of the request to stop it: one that fails for another reason was not stopped.
      const end = `UPDATE turn SET state = ?, "endedAt" = ?, "stopRequestedAt" = CASE WHEN reason = ? THEN "stopRequestedAt" END,
        reason = ?, "failureClass" = ?, kept = ?, lease = NULL, "leaseUntil" = NULL WHERE id = ?`;
      await transaction.run(end, state, at, reason, reason, failureClass, kept, id);
      const said = this.#said.get(turn);
      await store(transaction, turn, said);
      if (said?.ends !== undefined) {
        const { promptHash, checked, isUnchanged = false, ...maker } = said.ends;
        const complete = `UPDATE turn SET state = 'completed', reason = NULL, "failureClass" = NULL, kept = NULL, "stopRequestedAt" = NULL
          ${isUnchanged ? ", made = '{}'" : ""} ${checked ? ', "checkResult" = ?, "checkOutput" = ?' : ""}
          WHERE job = ? AND id < ? AND state = 'failed' AND "promptHash" = ? AND (kept IS NULL OR kept <> 'unfinished')
            AND (id = ? OR (id > ? AND (coalesce(covers, '') = ? OR (step <> '' AND step = ?))))`;
        const { checkResult = null, checkOutput = null } = checked ?? {};
        const result = checked ? [checkResult, checkOutput] : [];
        const asked = [promptHash, maker.id, maker.id, maker.covers ?? "", maker.step ?? ""];
        await transaction.run(complete, ...result, job, id, ...asked);
        // Others could not publish it either. They asked for something else, which they have not got.
        const forget = `UPDATE turn SET kept = NULL
          WHERE job = ? AND id > ? AND id < ? AND state = 'failed' AND kept IN ('push', 'pull-request')`;
        await transaction.run(forget, job, maker.id, id);
      }
      const { isPage, head } = said?.push ?? {};
      if (isPage && head && (await transaction.row(pageOf, job, head)) === undefined) throw new PageLost();
      if (!(await endJob(transaction, job, at))) await addNextReady(ready, transaction, job);
    });
    this.#said.delete(turn);
    announcements.turnReady();
  }

  /**
   * Makes a turn wait again.
   *
   * @param pauseMs - it is not started before this time has passed and `resume` was called, or by the next service. Default: 0
   * @param isCounted - whether its attempt counts, because the agent has run to its end. Default: it has the number of attempts that
   *   it had when it was started
   * @param reason - what it waits for, which pages show until it is taken again. Default: a free agent
   */
  async requeue(turn: RunningTurn, pauseMs = 0, isCounted = false, reason?: string): Promise<void> {
    const { ready, announcements } = this.#parts;
    await announcements.changeJob(turn.job, async (transaction) => {
      await lockJob(transaction, turn.job);
      const { attempts } = await ready.hold(transaction, turn);
      await store(transaction, turn, this.#said.get(turn));
      await ready.putBack(transaction, turn.id, pauseMs, isCounted ? attempts : turn.attempts, reason);
    });
    this.#said.delete(turn);
    announcements.turnReady();
  }

  /** Lets a turn start that was requeued with a pause. */
  async resume({ id }: Turn): Promise<void> {
    const { database, ready, announcements } = this.#parts;
    await database.transaction((transaction) => ready.endPause(transaction, id));
    announcements.turnReady();
  }

  #say(turn: RunningTurn, said: Said): void {
    const before = this.#said.get(turn);
    const report = said.report && { ...before?.report, ...definedOf(said.report) };
    const push = said.push && { ...before?.push, ...said.push };
    this.#said.set(turn, { ...before, ...said, ...(report && { report }), ...(push && { push }) });
  }

  async #change(turn: RunningTurn, said: Said): Promise<void> {
    await this.#parts.database.transaction(async (transaction) => {
      await lockJob(transaction, turn.job);
      await this.#parts.ready.hold(transaction, turn);
      await store(transaction, turn, said);
    });
  }

  /** The agent has run and cannot run again for this, so what cannot be stored now waits for the end of the turn, which is retried. */
  async #storeNowOrAtEnd(turn: RunningTurn, said: Said): Promise<void> {
    try {
      await this.#change(turn, said);
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown)) throw error;
    }
  }
}

/** What the check of a pushed commit showed; `null` if it was not checked. */
type PushedCheck = Pick<StoredTurn, "checkResult" | "checkOutput">;

/** What a worker says of its turn. */
interface Said {
  report?: StoredReport;
  stage?: TurnStage;
  made?: Made;
  /** The pull request of the job, the last commit pushed to it, and the turn's own one. */
  push?: {
    link: string | null;
    head: string;
    own?: { turn: number; commit: string; checked?: PushedCheck | undefined } | undefined;
    isPage?: boolean;
  };
  /** The turns whose work it has published, by their prompt, and what the check of that showed. */
  ends?: (Pick<StoredTurn, "id" | "promptHash" | "covers" | "step"> & EarlierEnd) | undefined;
}

/** How an earlier turn ends whose kept work a turn has published. */
interface EarlierEnd {
  /** What the check of the published commit showed. Default: what it showed before. */
  checked?: StoredReport | undefined;
  /** Whether others have published the same change first, so that it has none. Default: no. */
  isUnchanged?: boolean | undefined;
}

export interface StoredFailure {
  reason?: string | undefined;
  failureClass?: FailureClass | undefined;
  kept?: KeptWork | undefined;
}

function definedOf(report: StoredReport): StoredReport {
  return Object.fromEntries(Object.entries(report).filter(([, value]) => value !== undefined));
}

/** Storing it twice makes no difference. */
async function store(transaction: Transaction, { id, job }: RunningTurn, said: Said = {}): Promise<void> {
  const { report, push, made, stage } = said;
  if (report !== undefined) {
    const { answer = null, costUsd = null, sessionCost = null, checkResult = null, checkOutput = null } = report;
    const change = `UPDATE turn SET answer = coalesce(?, answer), "costUsd" = coalesce(?, "costUsd"),
      "sessionCost" = coalesce(?, "sessionCost"), "checkResult" = coalesce(?, "checkResult"),
      "checkOutput" = coalesce(?, "checkOutput") WHERE id = ?`;
    await transaction.run(change, answer, costUsd, sessionCost, checkResult, checkOutput, id);
    const { usedModel } = report;
    if (usedModel !== undefined) await transaction.run("UPDATE job SET model = ? WHERE id = ?", usedModel, job);
  }
  if (made !== undefined) await transaction.run("UPDATE turn SET made = ? WHERE id = ?", JSON.stringify(made), id);
  // What it has published of an earlier turn is no stage of its own.
  const only = stage === "published" ? "AND stage = 'pushed'" : "";
  if (stage !== undefined) await transaction.run(`UPDATE turn SET stage = ? WHERE id = ? ${only}`, stage, id);
  if (push === undefined) return;
  const change = 'UPDATE job SET "pullRequest" = ?, head = ? WHERE id = ?';
  await transaction.run(change, push.link, push.head, job);
  if (push.own === undefined) return;
  const { turn, commit, checked } = push.own;
  const record = `UPDATE turn SET head = ?${checked ? ', "checkResult" = ?, "checkOutput" = ?' : ""} WHERE id = ? AND job = ?`;
  const results = checked ? [checked.checkResult, checked.checkOutput] : [];
  await transaction.run(record, commit, ...results, turn, job);
}

/** Thrown to undo a transaction, because the page of the turn's pull request is not stored any longer. */
class PageLost extends Error {}

const pageOf = 'SELECT 1 FROM "pullRequest" WHERE job = ? AND head = ? LIMIT 1';

const stateOf = "SELECT state FROM turn WHERE id = ?";
