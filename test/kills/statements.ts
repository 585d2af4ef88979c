import { outputNames } from "../support/metadata.ts";
import type { Attempt, HistoryRun } from "./history.ts";

/** A step ends this long after a signal at the latest, in milliseconds: 500 ms later, the runner sends the next one. */
const graceMs = 7000;

/** What a cancelled step can say of a re-run, and what that must have as `job-origin` if the step was right. */
const statements: [text: RegExp, origins: string[]][] = [
  [/No job was started|did not receive it/, ["created", "continued"]],
  [/re-run this workflow run: nothing is sent again/, ["resumed"]],
  [/A re-run sends nothing/, [""]],
  [/A re-run of this workflow run (starts another job|sends the message again)/, ["created", "continued"]],
];

/** Returns what is wrong with a cancelled attempt and what it said of its re-run, as sentences. */
export function findFalseStatements({ attempts }: HistoryRun): string[] {
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
  if (second) wrong.push(...compare(first, second));
  return wrong;
}

function compare(first: Attempt, second: Attempt): string[] {
  const said = first.annotations.findLast((text) => text.startsWith("error ")) ?? "";
  const origin = second.outputs["job-origin"] ?? "";
  return statements
    .filter(([text, origins]) => text.test(said) && !origins.includes(origin))
    .map(() => `attempt 1 said ${said} But attempt 2 has the origin "${origin}": ${second.annotations.join(" | ")}`);
}
