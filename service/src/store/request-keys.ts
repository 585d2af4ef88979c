import type { KeptWork, Replayed, RequestKey, StepTurn, StoredJob } from "../model.ts";
import { hashPrompt } from "../prompt-hash.ts";
import { KeyReused } from "../store-errors.ts";
import { decidesOnKept, laterRanBeside } from "./made.ts";
import type { Sql, Transaction } from "./sql.ts";

/** What a request asks for: a turn with this prompt, in a new job or in this one. */
export interface KeyedRequest {
  /** Undefined for a create. */
  job: string | undefined;
  prompt: string;
  /** The base of a create; `null` if it names none. */
  base: string | null;
}

/** The name of the lock that a transaction holds while it adds a turn with a key. */
export const keyLock = (project: string, { caller, step, request }: RequestKey): string =>
  `key ${JSON.stringify([project, caller, step, request])}`;

/**
 * Returns the turn that a request with this key has added. The caller holds `keyLock`.
 *
 * @throws KeyReused if that request asked for something else
 */
export async function findReplay(
  transaction: Transaction,
  project: string,
  { caller, step, request }: RequestKey,
  { job, prompt, base }: KeyedRequest,
): Promise<Replayed | undefined> {
  const find = `SELECT id, job, "promptHash",
    (SELECT base FROM job WHERE job.id = turn.job) AS base,
    CASE WHEN EXISTS (SELECT 1 FROM turn AS earlier WHERE earlier.job = turn.job AND earlier.id < turn.id) THEN 0 ELSE 1 END
      AS "isCreate"
    FROM turn WHERE project = ? AND caller = ? AND step = ? AND request = ?`;
  type Found = { id: number; job: string; promptHash: string; base: string | null; isCreate: number };
  const found = await transaction.row<Found>(find, project, caller, step, request);
  if (found === undefined) return undefined;
  // Who has lost the answer of a create, and knows its job from elsewhere, sends the same as a message.
  const isSame = job === undefined ? found.isCreate && found.base === base : found.job === job;
  // The database does not store every character of a prompt, and a copy may have only its beginning.
  if (!isSame || found.promptHash !== hashPrompt(prompt)) throw new KeyReused();
  const replayed = await transaction.row<StoredJob>("SELECT * FROM job WHERE id = ?", found.job);
  if (replayed === undefined) throw new Error(`no job ${found.job}`);
  return { replayed, turn: found.id };
}

/** Returns whether a turn of the project has this key. */
export async function isKnownKey(sql: Sql, project: string, { caller, step, request }: RequestKey): Promise<boolean> {
  const find = "SELECT 1 FROM turn WHERE project = ? AND caller = ? AND step = ? AND request = ?";
  return (await sql.row(find, project, caller, step, request)) !== undefined;
}

/** What is kept of a turn: nothing any more after one of its job that left nothing to take up, as `findKeptTurn` says. */
const keptWork = `CASE WHEN NOT EXISTS (SELECT 1 FROM turn AS later WHERE later.job = turn.job AND later.id > turn.id AND later.kept IS NULL
  AND NOT ${laterRanBeside} AND (later.state = 'completed' OR later.state = 'failed' AND ${decidesOnKept})) THEN kept END`;

/**
 * Returns the job whose kept work a create asks for again: the newest turn that its caller sent for the step before has the same prompt and
 * base, and something of it is kept. Turns that leave that are passed over. `undefined` if there is none, or if the
 * request has made a job of its own before the work was kept.
 */
export async function findKeptJob(
  sql: Sql,
  project: string,
  { caller, step, request }: RequestKey,
  { prompt, base }: Pick<KeyedRequest, "prompt" | "base">,
): Promise<string | undefined> {
  const own = (column: string): string =>
    `(SELECT ${column} FROM turn WHERE project = ? AND caller = ? AND step = ? AND request = ?)`;
  const find = `SELECT job, ${keptWork} AS kept, "promptHash", ${own("job")} AS "sentTo",
    (SELECT base FROM job WHERE job.id = turn.job) AS base
    FROM turn WHERE project = ? AND caller = ? AND step = ? AND id < coalesce(${own("id")}, id + 1)
      AND (state <> 'failed' OR ${decidesOnKept})
    ORDER BY id DESC LIMIT 1`;
  const sender = [project, caller, step];
  type Found = { job: string; kept: KeptWork | null; promptHash: string; base: string | null; sentTo: string | null };
  const found = await sql.row<Found>(find, ...sender, request, ...sender, ...sender, request);
  const isAsked = found?.kept && found.promptHash === hashPrompt(prompt) && found.base === base;
  return isAsked && (found.sentTo ?? found.job) === found.job ? found.job : undefined;
}

/** The status of a turn, of type `TurnStatus`. */
export const turnStatus = `CASE WHEN state = 'failed' AND "stopRequestedAt" IS NOT NULL THEN 'stopped' ELSE state END`;

/** In characters. Longer than any answer that is shown to the sender of its turn. */
const maxAnswerLength = 10_000;

/** What the check of the newest commit showed: a later turn may have broken what an earlier one's commit passed. */
const headCheck = `CASE WHEN "checkResult" IS NOT NULL THEN (SELECT later."checkResult" FROM turn AS later WHERE later.job = turn.job
  AND later.id >= turn.id AND (later.id = turn.id OR later.state = 'completed' OR later.kept = 'pull-request') AND later."checkResult" IS NOT NULL
  ORDER BY later.id DESC LIMIT 1) END`;

/** Returns the turns that a caller has sent for a step, newest first, with the beginning of their answers. */
export function turnsOfStep(
  sql: Sql,
  project: string,
  { caller, step }: Pick<RequestKey, "caller" | "step">,
  limit: number,
): Promise<StepTurn[]> {
  const find = `SELECT id, job, request, substr(answer, 1, ?) AS answer, "costUsd", reason, "failureClass", ${keptWork} AS kept, made, ${headCheck} AS "checkResult", ${turnStatus} AS status
    FROM turn WHERE project = ? AND caller = ? AND step = ? ORDER BY id DESC LIMIT ?`;
  return sql.rows<StepTurn>(find, maxAnswerLength, project, caller, step, limit);
}
