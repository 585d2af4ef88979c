import { randomBytes, randomUUID } from "node:crypto";
import { noContext, type PromptContext, type RequestKey } from "../model.ts";
import { hashPrompt } from "../prompt-hash.ts";
import type { Announcements } from "./announcements.ts";
import type { Acceptance, ClockSql } from "./hourly-limit.ts";
import { decidesOnKept } from "./made.ts";
import type { ReadyTurn, ReadyTurns } from "./ready-turns.ts";
import type { Database, Transaction } from "./sql.ts";
import type { NextTurnId } from "./turn-ids.ts";

/*
 * Keeps the state of a job and its ready turn in line with its turns. Everything here is part of the caller's transaction.
 */

/** What the parts of a store that add, run and end turns share. */
export interface TurnParts {
  database: Database;
  ready: ReadyTurns;
  announcements: Announcements;
  nextTurnId: NextTurnId;
  /** Makes all ids that `nextTurnId` returns from now on greater than this one. Default: they are greater than those stored. */
  skipTurnIds?: ((transaction: Transaction, last: number) => Promise<void>) | undefined;
  /**
   * Returns an SQL expression for the time by which hourly limits count, in milliseconds since 1970: the clocks of several machines
   * differ. Default: what the caller says.
   */
  clock?: (() => string) | undefined;
}

/** Keeps others from changing a job, its turns and its pull requests, or from deleting it, until the transaction has ended. */
export async function lockJob(transaction: Transaction, job: string): Promise<void> {
  await transaction.lock(job);
}

/** Returns whether a turn of a job waits or is running. */
export async function hasOpenTurn(transaction: Transaction, job: string): Promise<boolean> {
  return (await transaction.row(openTurn, job)) !== undefined;
}

const openTurn = "SELECT 1 FROM turn WHERE job = ? AND state IN ('waiting', 'running') LIMIT 1";

/** Returns the identity of a new turn. */
export const newTurnIdentity = (): string => randomBytes(16).toString("hex");

/** A turn to be added. */
export interface AddedTurn {
  job: string;
  project: string;
  prompt: string;
  /** Default: nothing comes with the prompt. */
  context?: PromptContext | undefined;
  /** Default: one that no other turn has, and no caller. */
  key?: RequestKey | undefined;
  acceptance: Acceptance;
}

/** Returns the time by which hourly limits count. */
export function limitClock({ clock }: Pick<TurnParts, "clock">, at: number): ClockSql {
  return clock === undefined ? { sql: "CAST(? AS bigint)", values: [at] } : { sql: clock(), values: [] };
}

/** Adds a turn to a job, which becomes active. A create has added the job in the same transaction. Returns the id of the turn. */
export async function addTurn(
  { ready, nextTurnId }: Pick<TurnParts, "ready" | "nextTurnId">,
  transaction: Transaction,
  { job, project, prompt, context = noContext, key, acceptance: { kind, at } }: AddedTurn,
): Promise<number> {
  const isFirst = kind === "create";
  const isReady = isFirst || !(await hasOpenTurn(transaction, job));
  const turn = await nextTurnId(transaction);
  const rank = isReady ? await ready.nextRank(transaction, project) : null;
  const readyAt = isReady ? ready.clock() : { sql: "NULL", values: [] };
  const { caller, step, request } = key ?? { caller: "", step: "", request: randomUUID() };
  const insert = `INSERT INTO turn (id, identity, job, prompt, "promptHash", sections, asked, covers, asker, project, caller, step, request, "acceptedAs", "acceptedAt", rank, "readyAt")
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${readyAt.sql})`;
  const values = [
    turn,
    newTurnIdentity(),
    job,
    prompt,
    hashPrompt(prompt),
    context.sections,
    context.asked,
    context.covers,
    context.asker ?? "",
    project,
    caller,
    step,
    request,
    kind,
    at,
    rank,
    ...readyAt.values,
  ];
  await transaction.run(insert, ...values);
  const activate =
    'UPDATE job SET state = \'active\', kept = NULL, "idleSince" = NULL, "archivedAt" = NULL WHERE id = ?';
  if (!isFirst) await transaction.run(activate, job);
  if (rank !== null) await ready.send(transaction, { turn, project, rank });
  return turn;
}

/** Makes the oldest waiting turn of a job ready. Returns `false` if none waits. */
export async function addNextReady(ready: ReadyTurns, transaction: Transaction, job: string): Promise<boolean> {
  const first = "SELECT id AS turn, project FROM turn WHERE job = ? AND state = 'waiting' ORDER BY id LIMIT 1";
  const next = await transaction.row<ReadyTurn>(first, job);
  if (next !== undefined) await ready.add(transaction, next);
  return next !== undefined;
}

/**
 * Gives a job the state of its last turn, and what is kept of that, which may have been stopped before an earlier one ended, unless it has open turns.
 *
 * @returns whether it has none
 */
export async function endJob(transaction: Transaction, job: string, at: number): Promise<boolean> {
  const last = (column: string, condition = ""): string =>
    `(SELECT ${column} FROM turn WHERE job = ? ${condition} ORDER BY id DESC LIMIT 1)`;
  const kept = last("kept", `AND (state = 'completed' OR ${decidesOnKept})`);
  const end = `UPDATE job SET state = coalesce(${last("state")}, 'failed'), kept = ${kept}, "idleSince" = ?
    WHERE id = ? AND NOT EXISTS (${openTurn})`;
  return (await transaction.run(end, job, job, at, job, job)) > 0;
}
