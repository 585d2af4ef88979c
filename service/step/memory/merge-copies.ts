import type { JobCopy, TurnCopy } from "../../src/model.ts";
import { hasMade, madeNothing } from "../../src/store/made.ts";
import { asksForSame } from "../../src/turns/standing.ts";
import type { RebuiltJob } from "./rebuild-job.ts";
import { isOpen, lostReason, turnRow } from "./turn-row.ts";

/** A job, and whether its kept session has seen all of its turns. */
export interface MergedCopy {
  job: JobCopy;
  isSessionCurrent: boolean;
}

/**
 * Merges a cached job with the state of its branch and pull request, which may be newer: a run that cannot write the cache still pushes,
 * and a pull request's run writes to a cache that others cannot see.
 * GitHub decides on head, pull request, base and state. The cached copy has the full prompts, and turns that pushed nothing.
 */
export function mergeCopies(kept: JobCopy, { job: rebuilt, facts, target }: RebuiltJob): MergedCopy {
  const pushed = new Map(rebuilt.turns.map((turn) => [turn.id, turn]));
  const lastPushed = rebuilt.turns.at(-1)?.id ?? 0;
  const copies = new Map(kept.turns.map((turn) => [turn.id, turn]));
  const ids = [...new Set([...copies.keys(), ...pushed.keys()])].sort((a, b) => a - b);
  const rows = ids.map((id) =>
    turnRow({ ...facts.get(id), isPassed: id < lastPushed }, pushed.get(id), copies.get(id)),
  );
  const turns = rows.map((turn) => {
    const passesOn = passesOnNothing(turn, rows);
    const done = isOpen(turn) || turn.reason === lostReason || passesOn ? fulfilled(turn, rows, copies) : undefined;
    return done ?? (passesOn ? { ...turn, kept: null } : turn);
  });
  // Without an own pull request, somebody else may have opened one, unless there is work on the branch that is in none.
  const isUnknown = rebuilt.pullRequest === null && !turns.some(({ kept }) => kept === "pull-request");
  const { pullRequest, archivedAt } = isUnknown ? kept : rebuilt;
  const job = {
    ...rebuilt,
    createdAt: kept.createdAt,
    archivedAt: turns.some(isOpen) ? null : archivedAt,
    pullRequest,
    // Commits of earlier versions do not name it.
    base: rebuilt.base ?? (kept.base && (target ?? kept.base)),
    turns,
  };
  return {
    job,
    isSessionCurrent: ids.length === copies.size && kept.turns.every((turn) => !isOpen(turn) || !pushed.has(turn.id)),
  };
}

/**
 * Returns whether a turn, which has made nothing itself, only could not publish an earlier one's work either, and that is published since: a
 * runner was lost before it could say so. Otherwise that work would be taken for this turn's.
 */
function passesOnNothing(turn: TurnCopy, rows: readonly TurnCopy[]): boolean {
  if ((turn.kept !== "push" && turn.kept !== "pull-request") || hasMade(turn)) return false;
  return rows.findLast((one) => one.id < turn.id && hasMade(one))?.state === "completed";
}

/**
 * Returns a turn as completed if all that its request asked for was the kept work of an earlier one, and that is published since: its runner
 * was lost before it could say so. Otherwise its agent would be paid for it once more.
 */
function fulfilled(
  turn: TurnCopy,
  rows: readonly TurnCopy[],
  copies: ReadonlyMap<number, TurnCopy>,
): TurnCopy | undefined {
  const maker = rows.findLast((one) => {
    const isSame = one.step === turn.step && asksForSame(one, turn);
    const wasKept = ["push", "pull-request"].includes(copies.get(one.id)?.kept ?? "");
    return one.id < turn.id && one.state === "completed" && isSame && wasKept;
  });
  if (maker === undefined) return undefined;
  const { state, endedAt, answer, checkResult, checkOutput, made = null } = maker;
  const done = { ...turn, state, endedAt, answer, checkResult, checkOutput, kept: null, reason: null };
  return madeNothing(maker) ? { ...done, made } : done;
}
