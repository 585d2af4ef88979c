import {
  type JobCopy,
  type JobProgress,
  jobBranch,
  type NewJob,
  type PromptContext,
  type RateLimited,
  type Replayed,
  type RequestKey,
  type StoredJob,
  type TurnCopy,
} from "../model.ts";
import { hashPrompt } from "../prompt-hash.ts";
import { accept, limitLock } from "./hourly-limit.ts";
import { addNextReady, addTurn, endJob, limitClock, type TurnParts } from "./job-state.ts";
import { findReplay, isKnownKey, keyLock } from "./request-keys.ts";
import type { Transaction } from "./sql.ts";

/** As many as a turn may have: no agent runs for it any more. */
const allAttempts = 2;
const secondReason = "Another job has its request, too, so no agent is run for it.";

/** The columns of a turn in a copy of its job. */
const copiedColumns = [
  ...(["id", "identity", "prompt", "promptHash", "sections", "asked", "covers", "asker", "state"] as const),
  ...(["attempts", "startedAt", "endedAt", "answer", "reason", "head", "kept", "stopRequestedAt"] as const),
  ...(["costUsd", "sessionCost", "failureClass", "checkResult", "checkOutput", "stage", "made"] as const),
  ...(["caller", "step", "request"] as const),
];
const copiedNames = copiedColumns.map((name) => `"${name}"`).join(", ");

/** What is known of a session. */
export interface SessionJobs {
  /** Its newest job that is not archived; `null` if there is none. */
  job: string | null;
  /** Its last jobs, archived or not. */
  jobs: string[];
  /** The last commits up to which completed turns were told of its changes, the newest first. */
  covers: string[];
}

/** The jobs: adding and finding them, and copies for another store. */
export class StoredJobs {
  readonly #parts: TurnParts;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /**
   * Adds a job with its first turn, if the hourly limit of its project allows another create. Both are one transaction: a
   * create that could not be stored is not counted.
   *
   * @param at - when it is counted, in milliseconds since 1970, unless the store has a clock
   * @param onTurn - receives the id of the turn, before it is known whether it is stored
   * @param key - if a create had it, nothing is added, whatever the limit says. Default: nobody sends it again
   * @throws KeyReused if another request had the key
   */
  async add(
    { id, project, createdAt, branch = jobBranch(id), model = null, base = null, session = null }: NewJob,
    prompt: string,
    at = createdAt,
    onTurn?: (id: number) => void,
    key?: RequestKey,
    context?: PromptContext,
  ): Promise<RateLimited | Replayed | undefined> {
    const { database, announcements } = this.#parts;
    const rejected = await database.transaction(async (transaction) => {
      await transaction.lock(...(key === undefined ? [] : [keyLock(project, key)]), limitLock("create", project));
      const replay = key && (await findReplay(transaction, project, key, { job: undefined, prompt, base }));
      if (replay !== undefined) return replay;
      const acceptance = await accept(transaction, "create", project, limitClock(this.#parts, at));
      if ("retryAfterMs" in acceptance) return acceptance;
      const insert =
        'INSERT INTO job (id, project, "createdAt", branch, model, base, session) VALUES (?, ?, ?, ?, ?, ?, ?)';
      await transaction.run(insert, id, project, createdAt, branch, model, base, session);
      const turn = await addTurn(this.#parts, transaction, { job: id, project, prompt, context, key, acceptance });
      onTurn?.(turn);
      return undefined;
    });
    announcements.turnReady();
    return rejected;
  }

  /** Returns `undefined` if there is no such job. */
  find(id: string): Promise<StoredJob | undefined> {
    return this.#parts.database.row<StoredJob>("SELECT * FROM job WHERE id = ?", id);
  }

  /** Returns what is known of a session of a caller; `undefined` if it has no job. */
  async ofSession(project: string, caller: string, session: string): Promise<SessionJobs | undefined> {
    const { database } = this.#parts;
    const own = `job.project = ? AND job.session = ? AND EXISTS (SELECT 1 FROM turn WHERE turn.job = job.id AND turn.caller = ?)`;
    const find = `SELECT id, "archivedAt" FROM job WHERE ${own}
      ORDER BY "archivedAt" IS NOT NULL, "createdAt" DESC, id DESC LIMIT 20`;
    const jobs = await database.rows<Pick<StoredJob, "id" | "archivedAt">>(find, project, session, caller);
    const [newest] = jobs;
    if (newest === undefined) return undefined;
    const told = `SELECT covers FROM job JOIN turn AS told ON told.job = job.id
      WHERE ${own} AND told.state = 'completed' AND covers NOT LIKE '+%' ORDER BY "createdAt" DESC, job.id DESC, told.id DESC LIMIT 10`;
    const covers = await database.rows<{ covers: string }>(told, project, session, caller);
    return {
      job: newest.archivedAt === null ? newest.id : null,
      jobs: jobs.map(({ id }) => id),
      covers: covers.map((one) => one.covers),
    };
  }

  /** Returns the project of a job; `undefined` if there is no such job. */
  async projectOf(id: string): Promise<string | undefined> {
    return (await this.#parts.database.row<{ project: string }>("SELECT project FROM job WHERE id = ?", id))?.project;
  }

  async projects(): Promise<string[]> {
    const sql = "SELECT DISTINCT project FROM job ORDER BY project";
    return (await this.#parts.database.rows<{ project: string }>(sql)).map(({ project }) => project);
  }

  /** Returns the progress of a job; `undefined` if there is no such job. */
  progress(id: string): Promise<JobProgress | undefined> {
    // The index of open turns finds the few that are running: SQLite uses it if its condition is there. Read by their job, all would be, with their prompts.
    const sql = `SELECT state,
      (SELECT count(*) FROM turn WHERE turn.job = job.id) AS turns,
      (SELECT max(turn.id) FROM turn WHERE turn.state IN ('waiting', 'running') AND turn.state = 'running' AND turn.job || '' = job.id) AS running
      FROM job WHERE id = ?`;
    return this.#parts.database.row<JobProgress>(sql, id);
  }

  /** Returns a job with its turns, for another store. */
  async copy(id: string): Promise<JobCopy | undefined> {
    const { database } = this.#parts;
    const columns = 'id, project, "createdAt", "archivedAt", "pullRequest", head, base, session, branch';
    const job = await database.row<Omit<JobCopy, "turns">>(`SELECT ${columns} FROM job WHERE id = ?`, id);
    const turns = `SELECT ${copiedNames} FROM turn WHERE job = ? ORDER BY id`;
    return job && { ...job, turns: await database.rows<TurnCopy>(turns, id) };
  }

  /**
   * Adds a job of another store. Its running turns become waiting ones.
   *
   * @param isReplacing - whether it takes the place of an earlier copy, of which no turn is open. Default: the job is not here
   */
  async addCopy(copy: JobCopy, isReplacing = false): Promise<void> {
    const { database, ready, announcements, skipTurnIds } = this.#parts;
    const { id, project, createdAt, archivedAt, pullRequest, head, base, session = null, turns } = copy;
    const { branch = jobBranch(id) } = copy;
    await database.transaction(async (transaction) => {
      const insertJob = `INSERT INTO job
        (id, project, "createdAt", "archivedAt", "pullRequest", head, base, session, branch)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
      const place = [archivedAt, pullRequest, head, base, session, branch];
      for (const known of isReplacing ? ["turn WHERE job", '"pullRequest" WHERE job', "job WHERE id"] : [])
        await transaction.run(`DELETE FROM ${known} = ?`, id);
      await transaction.run(insertJob, id, project, createdAt, ...place);
      const insertTurn = `INSERT INTO turn (job, project, ${copiedNames}) VALUES (?, ?${", ?".repeat(copiedColumns.length)})`;
      for (const turn of turns) {
        const { id: turnId, prompt, promptHash = hashPrompt(prompt), sections = "", asker = "" } = turn;
        const state = turn.state === "running" ? "waiting" : turn.state;
        // An attempt that did not know of the turn has sent its request again.
        const isRepeated = turns.some(
          (one) => one.id > turnId && one.step === turn.step && one.request === turn.request,
        );
        const keyed = isRepeated ? { ...turn, request: undefined } : turn;
        const key = await keyOfCopy(transaction, project, keyed);
        // The other one has the request: no agent is paid for this one, too.
        const isSecond = turn.endedAt === null && turn.request !== undefined && key.request !== turn.request;
        const second = isSecond ? { attempts: allAttempts, reason: secondReason } : {};
        const row = { ...turn, promptHash, sections, asker, state, ...second, ...key };
        await transaction.run(insertTurn, id, project, ...copiedColumns.map((name) => row[name] ?? null));
      }
      await endJob(transaction, id, turns.at(-1)?.endedAt ?? createdAt);
      await skipTurnIds?.(transaction, turns.at(-1)?.id ?? 0);
      await addNextReady(ready, transaction, id);
    });
    announcements.turnReady();
  }
}

/** Returns whether a turn of the job is waiting or running. */
export function isActive({ turns }: JobCopy): boolean {
  return turns.some(({ state }) => state === "waiting" || state === "running");
}

/**
 * Returns the key of a copied turn. If it is unknown, or another turn has it, the turn is stored without a key. Its caller stays, by whom its
 * session is found: two attempts of a step can have sent one request, if the second one did not know of the first one's job.
 */
async function keyOfCopy(transaction: Transaction, project: string, turn: TurnCopy): Promise<RequestKey> {
  const { id, caller = "", step = "", request } = turn;
  const key = request !== undefined && { caller, step, request };
  if (key && !(await isKnownKey(transaction, project, key))) return key;
  return { caller, step: "", request: String(id) };
}
