import { outputNames } from "../support/metadata.ts";
import type { Attempt, HistoryRun } from "./history.ts";
import type { Started } from "./services.ts";

/** A step ends this long after a signal at the latest, in milliseconds: 500 ms later, the runner sends the next one. */
const graceMs = 7000;

/** What a cancelled step can promise of a re-run, and what that must have as `job-origin` if the step was right. */
const promises: [text: RegExp, origins: string[]][] = [
  [/re-run this workflow run: nothing is sent again/, ["resumed"]],
  // It may find the job and wait for it.
  [/A re-run sends nothing/, ["", "resumed"]],
];
const saidStopped = /the service stopped job/;
/** A re-run may be careful all the same: by GitHub's record, it may have been started. */
const nothingStarted = /No job was started|did not receive it/;

/** Returns the faults of a cancelled attempt and what it said of its re-run, as sentences. */
export function findFalseStatements({ before, attempts }: HistoryRun): string[] {
  const [first, second] = attempts;
  if (first?.cancelledForMs === undefined) return [];
  const wrong: string[] = [];
  const { cancelledForMs, exitCode, outputs } = first;
  if (cancelledForMs > graceMs) wrong.push(`the step ended ${Math.round(cancelledForMs)} ms after the signal`);
  // The signal met Node before the action could listen to it.
  if (exitCode === null && outputs.outcome === undefined) return wrong;
  if (exitCode === null) wrong.push(`a signal ended the step: ${first.log}`);
  const missing = outputNames().filter((name) => outputs[name] === undefined);
  if (missing.length > 0) wrong.push(`no outputs ${missing.join(", ")}`);
  const said = first.annotations.findLast((text) => text.startsWith("error ")) ?? "";
  if (nothingStarted.test(said) && first.started.turns > before.turns)
    wrong.push(`attempt 1 said ${said} But it has left ${first.started.turns} turns`);
  wrong.push(...findFalseStops(said, before, first));
  if (second) wrong.push(...compare(said, second));
  return wrong;
}

/** Returns what is wrong with what a cancelled attempt said of the service's turn: whether it was stopped, and still has processes. */
function findFalseStops(said: string, before: Started, { started: { stopped, agentProcesses } }: Attempt): string[] {
  const wrong: string[] = [];
  if (stopped > before.stopped + 1) wrong.push(`attempt 1 has stopped ${stopped - before.stopped} turns`);
  if (saidStopped.test(said) && stopped === before.stopped)
    wrong.push(`attempt 1 said ${said} But no turn was stopped`);
  const saysNoneRuns = [saidStopped, nothingStarted, /already reached the status/].some((text) => text.test(said));
  if (saysNoneRuns && agentProcesses.length > 0)
    wrong.push(`attempt 1 said ${said} But it has left the processes ${agentProcesses.join(", ")} of an agent`);
  return wrong;
}

/** Returns whether a step said that it had started nothing, and its re-run sent nothing all the same, to be sure. */
export function isOverlyCareful({ attempts: [first, second] }: HistoryRun): boolean {
  return nothingStarted.test(first?.annotations.at(-1) ?? "") && second?.outputs.outcome === "error";
}

function compare(said: string, second: Attempt): string[] {
  const origin = second.outputs["job-origin"] ?? "";
  return promises
    .filter(([text, origins]) => text.test(said) && !origins.includes(origin))
    .map(() => `attempt 1 said ${said} But attempt 2 has the origin "${origin}": ${second.annotations.join(" | ")}`);
}
