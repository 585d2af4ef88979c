import * as z from "zod/mini";
import { failureClasses, type Made, type StoredTurn, type TurnCopy } from "../model.ts";

const shape = z.object({
  commit: z.optional(z.string()),
  reason: z.optional(z.string()),
  failureClass: z.optional(z.enum(failureClasses)),
  isUnfinished: z.optional(z.boolean()),
  isUntouched: z.optional(z.boolean()),
});

/** Parses a turn's result; `undefined` if there is none or it is invalid: a copied job can contain any text. */
export function parseMade(text: string | null): Made | undefined {
  try {
    return shape.parse(JSON.parse(text ?? ""));
  } catch {
    return undefined;
  }
}

/** Returns whether it is recorded that a turn has no change. */
export function madeNothing({ made = null }: Pick<TurnCopy, "made">): boolean {
  const parsed = parseMade(made);
  return parsed !== undefined && parsed.commit === undefined;
}

/** Returns whether a turn has made something itself. Others count attempts, too: in case their agents had begun, or so that these never run again. */
export const hasMade = ({ attempts, stage, made }: Pick<TurnCopy, "attempts" | "stage" | "made">): boolean =>
  attempts > 0 && ((made ?? null) !== null || (stage ?? "begun") !== "begun");

/** Returns whether a turn leaves what is kept of earlier ones: it failed before its agent's end, or nothing was done with that. */
export function leavesKept({ state, attempts, kept, stage, made, stopRequestedAt }: StoredTurn): boolean {
  if (state !== "failed" || kept !== null) return false;
  // A copy of a turn whose runner was lost before its agent counts an attempt, and has no stage.
  if (attempts === 0 || ((stage ?? null) === null && (made ?? null) === null)) return true;
  return (stopRequestedAt === null && stage === "begun") || parseMade(made)?.isUntouched === true;
}

/** The condition for a turn that has failed and does not. */
export const decidesOnKept = `(kept IS NOT NULL OR attempts > 0 AND NOT (stage IS NULL AND made IS NULL)
  AND NOT ("stopRequestedAt" IS NULL AND coalesce(stage, '') = 'begun') AND coalesce(made, '') NOT LIKE '%"isUntouched":true%')`;

/** From here on, ids are times, in microseconds since 1970: see `distinctTurnIds`. Other stores count, and let no two turns of a job run. */
const firstTime = 1e15;

/** Returns whether a turn began before an earlier one of its job had ended. */
const ranBeside = ({ id, startedAt }: StoredTurn, { endedAt }: StoredTurn): boolean =>
  id >= firstTime && Math.max(id, (startedAt ?? 0) * 1000) < (endedAt ?? 0) * 1000;

/**
 * Returns those of a job's turns on which no later one decides: a later one that ran beside it knew nothing of what it left.
 *
 * @param decides - whether a turn decides on what is before it, and is none of these itself
 */
export const undecided = (turns: readonly StoredTurn[], decides: (turn: StoredTurn) => boolean): StoredTurn[] =>
  turns.filter(
    (one) => !decides(one) && !turns.some((later) => later.id > one.id && decides(later) && !ranBeside(later, one)),
  );

/** Returns what of these turns is obsolete once one of them has been taken up: not what was left beside it, of which it knew nothing. */
export const includedIn = (taken: StoredTurn, turns: readonly StoredTurn[]): StoredTurn[] =>
  turns.filter((one) => one.id >= taken.id || !ranBeside(taken, one));

/** The condition for `later`, if it ran beside `turn`. */
export const laterRanBeside = `(later.id >= ${firstTime} AND later.id < coalesce(turn."endedAt", 0) * 1000
  AND coalesce(later."startedAt", 0) < turn."endedAt")`;
