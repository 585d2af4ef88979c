/*
 * What became of a turn. Everything that depends on it asks `standingOf`: where a turn starts, what is published first, and what the job of
 * an earlier run is rebuilt to, from which re-runs and sessions are answered.
 */

/** What the sources say about a turn; a source that says nothing, or was not asked, is missing. */
export interface Facts {
  /** Where GitHub has its commit, or what became of that. `pushed`: without a pull request. `closed`: by a person, without a merge. */
  github?: "published" | "pushed" | "merged" | "closed" | "gone" | undefined;
  /** What a ref, the clone or the cache keeps of it. `pushed`: it completed, and its commit was on the branch. */
  kept?: "made" | "unfinished" | "pushed" | "nothing" | "failed" | "begun" | undefined;
  /** The store, or its copy in the cache. `kept`: it failed, and its commit was kept. */
  stored?: "open" | "completed" | "nothing" | "kept" | "unfinished" | "failed" | undefined;
  /** Whether a later turn of its job has pushed. Default: no. */
  isPassed?: boolean | undefined;
}

export type Standing =
  | "none"
  /** It waits, or its agent works, or its runner was lost before the agent's end. */
  | "begun"
  /** Its runner was lost, and a later turn of the job has run since. */
  | "lost"
  /** Its commit is kept, and was not pushed. */
  | "made"
  | "unfinished"
  | "pushed"
  | "published"
  | "merged"
  | "closed"
  | "taken away"
  | "completed"
  | "no change"
  | "failed";

/**
 * Concludes what became of a turn. GitHub is believed first, then what is kept, then the store: a later source fills gaps, and never
 * overrules, except that a turn that completed is the result of its request, whatever became of its pull request.
 */
export function standingOf({ github, kept, stored, isPassed = false }: Facts): Standing {
  if (stored === "completed") return "completed";
  if (github !== undefined) return github === "gone" ? "taken away" : github;
  if (kept === "made" || kept === "unfinished") return kept;
  if (kept === "pushed") return "completed";
  if (kept === "nothing") return "no change";
  // That it failed says nothing about what is kept elsewhere.
  if (stored === "kept") return "made";
  if (stored === "unfinished") return stored;
  if (stored === "nothing") return "no change";
  if (kept === "failed" || stored === "failed") return "failed";
  if (stored !== "open" && kept !== "begun") return "none";
  return isPassed ? "lost" : "begun";
}

interface Asking {
  promptHash?: string | undefined;
  covers?: string | null | undefined;
  /** Default: none. */
  step?: string | null | undefined;
}

/**
 * Returns whether a turn asks for no more than another one: it has the same prompt, and the same range or step. The range of a step's re-run
 * may begin elsewhere, if nothing remembers where it began first.
 */
export const asksForSame = (one: Asking, other: Asking): boolean =>
  one.promptHash === other.promptHash && (one.covers === other.covers || (!!one.step && one.step === other.step));
