import type { PromptContext, RateLimited, Replayed, RequestKey, StepTurn, StoredTurn, TurnStatus } from "../model.ts";
import { accept, limitLock } from "./hourly-limit.ts";
import { addNextReady, addTurn, endJob, limitClock, lockJob, type TurnParts } from "./job-state.ts";
import { findKeptJob, findReplay, isKnownKey, keyLock, turnStatus, turnsOfStep } from "./request-keys.ts";
import type { Transaction } from "./sql.ts";

/** The turns of jobs, except what workers do with them: messages add turns, and operators stop and retry them. */
export class StoredTurns {
  readonly #parts: TurnParts;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /**
   * Adds a turn to a job and takes the job out of the archive, if the hourly limit of its project allows another message.
   *
   * @param at - when it is counted, in milliseconds since 1970, unless the store has a clock
   * @param onTurn - receives the id of the turn, before it is known whether it is stored
   * @param key - if a message had it, nothing is added, whatever the limit says. Default: nobody sends it again
   * @returns `false` if there is no such job, for example because it was deleted a moment ago
   * @throws KeyReused if another request had the key
   */
  async add(
    jobId: string,
    prompt: string,
    at: number,
    onTurn?: (id: number) => void,
    key?: RequestKey,
    context?: PromptContext,
  ): Promise<RateLimited | Replayed | boolean> {
    const result = await this.#parts.announcements.changeJob(jobId, async (transaction) => {
      await lockJob(transaction, jobId);
      const job = await transaction.row<{ project: string }>("SELECT project FROM job WHERE id = ?", jobId);
      if (job === undefined) return false;
      const { project } = job;
      await transaction.lock(...(key === undefined ? [] : [keyLock(project, key)]), limitLock("message", project));
      const replay = key && (await findReplay(transaction, project, key, { job: jobId, prompt, base: null }));
      if (replay !== undefined) return replay;
      return this.#addMessage(transaction, { jobId, project, prompt, context, at, onTurn, key });
    });
    this.#parts.announcements.turnReady();
    return result;
  }

  /**
   * Adds a turn with the prompt of a job's last one, if that has failed. It counts as a message.
   *
   * @param at - when it is counted, in milliseconds since 1970, unless the store has a clock
   * @param onTurn - receives the id of the turn, before it is known whether it is stored
   * @returns `false` if it is not the last turn of the job, or has not failed
   */
  async retry(
    jobId: string,
    turnId: number,
    at: number,
    onTurn?: (id: number) => void,
  ): Promise<RateLimited | boolean> {
    type LastTurn = Pick<StoredTurn, "id" | "state" | "prompt"> & PromptContext & { project: string };
    const last = `SELECT turn.id, turn.state, turn.prompt, turn.sections, turn.asked, turn.covers, turn.asker, job.project FROM turn JOIN job ON job.id = turn.job
      WHERE turn.job = ? ORDER BY turn.id DESC LIMIT 1`;
    const result = await this.#parts.announcements.changeJob(jobId, async (transaction) => {
      await lockJob(transaction, jobId);
      const turn = await transaction.row<LastTurn>(last, jobId);
      if (turn?.id !== turnId || turn.state !== "failed") return false;
      const { project, prompt, ...context } = turn;
      await transaction.lock(limitLock("message", project));
      return this.#addMessage(transaction, { jobId, project, prompt, context, at, onTurn });
    });
    this.#parts.announcements.turnReady();
    return result;
  }

  /** Adds a turn, if the hourly limit of its project allows another message. The caller holds its lock. */
  async #addMessage(transaction: Transaction, message: Message): Promise<RateLimited | true> {
    const { jobId: job, project, prompt, context, at, onTurn, key } = message;
    const acceptance = await accept(transaction, "message", project, limitClock(this.#parts, at));
    if ("retryAfterMs" in acceptance) return acceptance;
    const turn = await addTurn(this.#parts, transaction, { job, project, prompt, context, key, acceptance });
    onTurn?.(turn);
    return true;
  }

  /**
   * Stops a turn. One that waits fails at once, unless an agent has run for it: only a worker can tell whether its commit counts.
   * It fails, as one that is running does, when its worker learns of the stop by `RunningTurns.stopRequest`.
   *
   * @param at - milliseconds since 1970
   * @param reason - why it failed
   * @returns `false` if the job has no such turn, or the turn has ended
   */
  async stop(jobId: string, turnId: number, at: number, reason: string): Promise<boolean> {
    const { database, announcements } = this.#parts;
    if (await this.#failWaiting(jobId, turnId, at, reason)) return true;
    // The first reason stays: it is what the worker knows.
    const request = `UPDATE turn SET reason = CASE WHEN "stopRequestedAt" IS NULL THEN ? ELSE reason END,
      "stopRequestedAt" = coalesce("stopRequestedAt", ?) WHERE id = ? AND job = ? AND (state = 'running' OR (state = 'waiting' AND attempts > 0))`;
    const isRequested = await announcements.changeJob(
      jobId,
      async (transaction) => (await transaction.run(request, reason, at, turnId, jobId)) > 0,
    );
    const open = "SELECT 1 FROM turn WHERE id = ? AND job = ? AND state IN ('waiting', 'running')";
    if (isRequested || (await database.row(open, turnId, jobId)) === undefined) return isRequested;
    // It was requeued between the two, and perhaps taken again since.
    return this.stop(jobId, turnId, at, reason);
  }

  /** Fails a turn that waits for its first agent. Returns `false` if it does not; nothing is changed then. */
  async #failWaiting(jobId: string, turnId: number, at: number, reason: string): Promise<boolean> {
    const { ready, announcements } = this.#parts;
    const fail = `UPDATE turn SET state = 'failed', "endedAt" = ?, "stopRequestedAt" = ?, reason = ?
      WHERE id = ? AND job = ? AND state = 'waiting' AND attempts = 0`;
    try {
      await announcements.changeJob(jobId, async (transaction) => {
        await lockJob(transaction, jobId);
        const open = "SELECT min(id) AS first FROM turn WHERE job = ? AND state IN ('waiting', 'running')";
        const isReady = (await transaction.row<{ first: number | null }>(open, jobId))?.first === turnId;
        if (isReady) await ready.withdraw(transaction, turnId);
        if ((await transaction.run(fail, at, at, reason, turnId, jobId)) === 0) throw new NotWaiting();
        if (!(await endJob(transaction, jobId, at)) && isReady) await addNextReady(ready, transaction, jobId);
      });
    } catch (error) {
      if (error instanceof NotWaiting) return false;
      throw error;
    }
    announcements.turnReady();
    return true;
  }

  /** Returns the turns that a caller has sent for a step to jobs of a project, newest first. */
  ofStep(project: string, sender: Pick<RequestKey, "caller" | "step">, limit: number): Promise<StepTurn[]> {
    return turnsOfStep(this.#parts.database, project, sender, limit);
  }

  /** Returns the job whose kept work a create asks for again; see `findKeptJob`. */
  keptJob(
    project: string,
    key: RequestKey,
    create: { prompt: string; base: string | null },
  ): Promise<string | undefined> {
    return findKeptJob(this.#parts.database, project, key, create);
  }

  /** Returns whether a request with this key has added a turn to a job of the project. */
  isKnown(project: string, key: RequestKey): Promise<boolean> {
    return isKnownKey(this.#parts.database, project, key);
  }

  /** Returns how a turn goes; `undefined` if the job has no such turn. */
  async statusOf(jobId: string, turnId: number): Promise<TurnStatus | undefined> {
    const sql = `SELECT ${turnStatus} AS status FROM turn WHERE id = ? AND job = ?`;
    return (await this.#parts.database.row<{ status: TurnStatus }>(sql, turnId, jobId))?.status;
  }

  ofJob(jobId: string): Promise<StoredTurn[]> {
    return this.#parts.database.rows<StoredTurn>("SELECT * FROM turn WHERE job = ? ORDER BY id", jobId);
  }
}

/** A prompt that becomes a turn of a job. */
interface Message {
  jobId: string;
  project: string;
  prompt: string;
  context: PromptContext | undefined;
  at: number;
  onTurn: ((id: number) => void) | undefined;
  key?: RequestKey | undefined;
}

/** Thrown to undo a transaction, because a turn is running or has ended. */
class NotWaiting extends Error {}
