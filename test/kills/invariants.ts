import type { Attempt, HistoryRun } from "./history.ts";
import type { Scenario } from "./scenario.ts";

/** Returns the faults of a history, as sentences. */
export function findViolations(scenario: Scenario, { before, attempts }: HistoryRun): string[] {
  const wrong: string[] = [];
  const say = ({ number, outputs, annotations }: Attempt, what: string): void => {
    wrong.push(`attempt ${number} ${what}; outcome ${outputs.outcome}, ${annotations.join(" | ")}`);
  };
  // A re-run replaces a turn that the service has stopped.
  const stopped = attempts.filter(hasStopped).length;
  const most = before.turns + 1 + stopped;
  const mostJobs = (scenario.hasEarlierRun ? before.jobs : 1) + stopped;
  for (const attempt of attempts) {
    const { started, exitCode, outputs, annotations } = attempt;
    const isSecond = started.turns > most || started.jobs > mostJobs;
    if (isSecond && !mayRepeat(scenario, attempts))
      say(attempt, `has left ${started.jobs} jobs and ${started.turns} turns`);
    if (exitCode === null || outputs.outcome === "cancelled") continue;
    const isGreen = exitCode === 0 && outputs.outcome === "pr-created" && outputs["pr-link"] !== "";
    // It waited for a turn that the service was asked to stop, which then ended.
    const isStopped = stopped > 0 && annotations.some((text) => text.includes("Job stopped"));
    if (!isGreen && !isStopped && mustPass(scenario, attempt)) say(attempt, "asks a person");
    else if (isGreen && started.turns < before.turns + 1) say(attempt, "passed although nothing was started");
  }
  const last = attempts.at(-1);
  if (last?.exitCode === null) say(last, "was ended by a signal that nobody sent");
  return wrong;
}

/**
 * Returns whether the docs allow a second request, "When nothing was left behind": nothing could be left, and GitHub cannot be
 * asked. A cache that was too slow to leave anything is warned of at once.
 */
function mayRepeat(
  { service, mode, cache, isRecordReadable, isThreadWritable }: Scenario,
  attempts: readonly Attempt[],
): boolean {
  if (service === "own" || isRecordReadable) return false;
  const isWarned = attempts.some(({ annotations }) =>
    annotations.some((text) => text.includes("Cannot remember the job")),
  );
  if (isWarned && mode !== "comment") return true;
  if (mode === "comment") return !isThreadWritable && !["none", "read"].includes(cache.access);
  return cache.access === "absent";
}

/**
 * Returns whether an attempt must end with the pull request: always if the service knows what it was sent; otherwise if no
 * earlier attempt has started the step, as GitHub can say.
 */
function mustPass(
  { service, mode, cache, isRecordReadable, attempts, delays }: Scenario,
  { number }: Attempt,
): boolean {
  // It may give up a cache that is too slow.
  if (number === 1 && delays.cacheMs > 0) return false;
  // One that was ended without a word may have had a key of its own.
  if (service === "own") return number < 3 || attempts[1] === undefined;
  const hasStarted = attempts.slice(0, number - 1).some((end) => end !== "never started");
  return !hasStarted && (number === 1 || isRecordReadable || (mode !== "comment" && cache.access === "write"));
}

/** Returns whether an attempt said that the service has stopped the turn that it had sent, or was asked to. */
function hasStopped({ annotations }: Attempt): boolean {
  return annotations.some((text) => /the service (?:stopped|was asked to stop) job/.test(text));
}
