import type { JobCopy, TurnCopy } from "../../src/model.ts";
import type { RebuiltJob } from "./rebuild-job.ts";

/** A job, and whether its kept session has seen all of its turns. */
export interface MergedCopy {
  job: JobCopy;
  isSessionCurrent: boolean;
}

/**
 * Merges a cached job with the state of its branch and pull request, which may be newer: a run that cannot write the cache still pushes,
 * and a pull request's run writes to a cache that others cannot see.
 * GitHub decides on head, pull request and state. The cached copy has the full prompts, and turns that pushed nothing.
 */
export function mergeCopies(kept: JobCopy, { job: rebuilt }: RebuiltJob): MergedCopy {
  const pushed = new Map(rebuilt.turns.map((turn) => [turn.id, turn]));
  const lastPushed = rebuilt.turns.at(-1)?.id ?? 0;
  const known = kept.turns.map((turn) => updated(turn, pushed.get(turn.id), lastPushed));
  const knownIds = new Set(kept.turns.map(({ id }) => id));
  const unknown = rebuilt.turns.filter(({ id }) => !knownIds.has(id));
  const turns = [...known, ...unknown].sort((a, b) => a.id - b.id);
  // Without an own pull request, somebody else may have opened one, unless there is unpublished work.
  const isUnknown = rebuilt.pullRequest === null && !rebuilt.turns.some(({ kept }) => kept && kept !== "unfinished");
  const { pullRequest, archivedAt } = isUnknown ? kept : rebuilt;
  const job = {
    ...rebuilt,
    createdAt: kept.createdAt,
    archivedAt: turns.some(isOpen) ? null : archivedAt,
    pullRequest,
    turns,
  };
  return {
    job,
    isSessionCurrent: unknown.length === 0 && kept.turns.every((turn) => !isOpen(turn) || !pushed.has(turn.id)),
  };
}

/** Returns whether a turn is waiting or running. */
export const isOpen = ({ state }: TurnCopy): boolean => state === "waiting" || state === "running";

const endOf = ({ state, reason, kept, endedAt }: TurnCopy) => ({ state, reason, kept, endedAt });

function updated(turn: TurnCopy, pushed: TurnCopy | undefined, lastPushed: number): TurnCopy {
  if (turn.state === "completed") return turn;
  // This includes a failed turn whose work a later run published without being able to write the cache.
  if (pushed?.state === "completed") {
    // A later run may have pushed it elsewhere, as another commit than the one that was checked.
    const { checkResult, checkOutput } = turn.kept === "push" ? {} : turn;
    return {
      ...turn,
      state: "completed",
      reason: null,
      kept: null,
      endedAt: pushed.endedAt,
      answer: turn.answer ?? pushed.answer,
      // Otherwise, a re-run would pass although its check failed.
      checkResult: pushed.checkResult ?? checkResult,
      checkOutput: pushed.checkOutput ?? checkOutput,
    };
  }
  // Its agent had ended.
  if (isOpen(turn) && pushed?.kept === "unfinished") return { ...pushed, ...turn, ...endOf(pushed) };
  // Its work is pushed, and the turn is resumed to open the pull request.
  if (!isOpen(turn) || pushed !== undefined || turn.id > lastPushed) return turn;
  // A job's turns run one after another, so it has ended. Running it again would cost money that nobody asked for.
  return {
    ...turn,
    state: "failed",
    endedAt: turn.startedAt ?? null,
    reason: "It was interrupted, and a later turn of the job has run since.",
  };
}
