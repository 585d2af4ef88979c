import type { TurnCopy } from "../../src/model.ts";
import { type Facts, standingOf } from "../../src/turns/standing.ts";

const pushedReason = "Its work is on the job's branch, but its pull request was not opened.";
const keptReason = "Its agent had ended, and its work was not pushed: it is kept.";
const unfinishedReason = "Its agent did not complete.";
/** Also used while another runner works on the turn, because this one cannot know its end. */
export const lostReason =
  "Its runner was lost, or works still. Its agent is not run again, unless its own workflow run is.";
const passedReason = "It was interrupted, and a later turn of the job has run since.";

/** Returns whether a turn is waiting or running. */
export const isOpen = ({ state }: TurnCopy): boolean => state === "waiting" || state === "running";

/**
 * Returns a turn as the store is to have it.
 *
 * @param facts - what GitHub and the refs say about it
 * @param found - the turn as these describe it, apart from its end; `undefined` if they do not know it
 * @param given - the turn as the cached job has it, with its full prompt; `undefined` if that does not know it
 */
export function turnRow(facts: Facts, found: TurnCopy | undefined, given: TurnCopy | undefined): TurnCopy {
  const isOutdated = given?.state === "failed" && !given.kept && (facts.kept === "made" || facts.kept === "unfinished");
  const copy = isOutdated && found ? { ...given, ...endOf(found) } : given;
  const known = copy ?? found;
  if (known === undefined) throw new Error("a turn without a source");
  const failed = (reason: string, more: Partial<TurnCopy> = {}): TurnCopy => {
    const endedAt = (copy && !isOpen(copy) ? copy.endedAt : found?.endedAt) ?? known.startedAt ?? null;
    const said = (copy && !isOpen(copy) ? copy.reason : undefined) ?? found?.reason ?? reason;
    return { ...found, ...known, state: "failed", kept: null, reason: said, endedAt, ...more };
  };
  // An interrupted turn goes on with its own commit.
  const kept = (reason: string, what: TurnCopy["kept"], more: Partial<TurnCopy> = {}): TurnCopy =>
    copy && isOpen(copy) ? { ...copy, ...more } : failed(reason, { kept: what, ...more });
  switch (standingOf({ ...facts, stored: copy && storedOf(copy) })) {
    case "completed":
      return copy?.state === "completed" ? copy : completed(facts, found ?? known, copy);
    case "published":
    case "no change":
      return completed(facts, found ?? known, copy);
    case "pushed":
      return kept(pushedReason, "pull-request");
    case "made":
      // Its branch is gone, and its commit is where it was kept.
      if (facts.kept === "made") return kept(keptReason, "push", { head: null });
      return kept(keptReason, copy?.kept === "pull-request" ? copy.kept : "push");
    case "unfinished":
      return failed(unfinishedReason, { kept: "unfinished" });
    case "failed":
      return copy && !isOpen(copy) ? copy : failed(unfinishedReason);
    case "lost":
      return failed(passedReason);
    case "begun":
      // The cache may have its commit. Otherwise, it has left nothing, so that what was kept before it is still the last.
      if (copy && (facts.kept !== "begun" || (copy.stage ?? "begun") !== "begun")) return copy;
      return failed(lostReason, { attempts: 0 });
    default:
      return known;
  }
}

/** The copy is of a machine that took its runner for lost, which still worked. */
const endOf = ({ attempts, stage, endedAt, reason }: TurnCopy) => ({ attempts, stage, endedAt, reason });

/** A later run may have published what the copy has as failed, without being able to write the cache. */
function completed({ kept }: Facts, found: TurnCopy, copy: TurnCopy | undefined): TurnCopy {
  const made = kept === "nothing" ? ({ made: "{}", stage: "published" } as const) : {};
  const end = { state: "completed", kept: null, reason: null } as const;
  if (copy === undefined) return { ...found, ...made, state: "completed" };
  // It may have been pushed elsewhere, as another commit than the one that was checked.
  const { checkResult, checkOutput } = copy.kept === "push" ? {} : copy;
  return {
    ...copy,
    ...made,
    ...end,
    endedAt: found.endedAt,
    answer: copy.answer ?? found.answer,
    // Otherwise, a re-run would pass although its check failed.
    checkResult: found.checkResult ?? checkResult,
    checkOutput: found.checkOutput ?? checkOutput,
  };
}

function storedOf(copy: TurnCopy): Facts["stored"] {
  const { state, kept } = copy;
  if (isOpen(copy)) return "open";
  if (state === "completed") return "completed";
  return kept === "unfinished" ? "unfinished" : kept ? "kept" : "failed";
}
