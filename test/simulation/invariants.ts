import { readLog } from "../../tools/commands.ts";
import { outputNames } from "../support/metadata.ts";
import type { Scenario } from "./scenario.ts";
import { key, type Run } from "./simulate.ts";
import { jobId } from "./world.ts";

const names = outputNames().sort();
const terminal = ["completed", "failed", "archived"];
/** The key and the encodings in which it could leak. */
const keyEncodings = [key, encodeURIComponent(key), Buffer.from(key).toString("base64")];

/** Returns a description of every invariant that the run violates. */
export function findViolations(scenario: Scenario, run: Run): string[] {
  return [
    ...checkSubmittedOnce(run),
    ...checkIdPublished(run),
    ...checkOutcome(scenario, run),
    ...checkLimits(scenario, run),
    ...checkEscaping(run),
  ];
}

/** Never starts a job or sends a message twice. */
function checkSubmittedOnce({ world }: Run): string[] {
  const violations: string[] = [];
  if (world.jobsStarted > 1) violations.push(`${world.jobsStarted} jobs were started`);
  if (world.messagesAccepted > 1) violations.push(`${world.messagesAccepted} messages were accepted`);
  if (world.hasUnsafeRetry)
    violations.push("a create or message was retried although the first may have been accepted");
  return violations;
}

/** Never loses the id of a job that was started, and sets every output. */
function checkIdPublished({ toolkit, world }: Run): string[] {
  const violations: string[] = [];
  if (world.hasReturnedId && toolkit.outputs["job-id"] !== jobId)
    violations.push("the id of the job is missing from the outputs");
  const set = Object.keys(toolkit.outputs).sort();
  if (set.join() !== names.join()) violations.push(`the outputs are ${set.join()}`);
  return violations;
}

/** Never reports success that the service did not confirm; outcome, outputs and exit code agree. */
function checkOutcome(scenario: Scenario, { hasPassed, toolkit, world, durationMs }: Run): string[] {
  const violations: string[] = [];
  const { outcome = "", status = "", "pr-link": prLink = "" } = toolkit.outputs;
  const expected: Record<string, { status: string[]; hasLink?: boolean }> = {
    "pr-created": { status: ["completed"], hasLink: true },
    "no-changes": { status: ["completed"], hasLink: false },
    failed: { status: ["failed"] },
    archived: { status: ["archived"] },
    "timed-out": { status: ["", "active", ...(scenario.task === "message" ? terminal : [])] },
    started: { status: ["", "active", ...(scenario.task === "message" ? terminal : [])] },
    cancelled: { status: ["", "active", ...terminal] },
    error: { status: ["", "active", ...terminal] },
  };
  const rule = expected[outcome];
  if (!rule) return [`the outcome is ${outcome}`];
  if (!rule.status.includes(status)) violations.push(`the outcome is ${outcome}, but the status is ${status}`);
  if (rule.hasLink !== undefined && rule.hasLink !== (prLink !== ""))
    violations.push(`the outcome is ${outcome}, but the link is ${prLink}`);
  if (prLink !== "" && !/^https?:\/\/[^\s@]+$/.test(prLink)) violations.push(`the link is ${prLink}`);
  if (status !== "" && !world.returnedStatuses.has(status))
    violations.push(`the service never returned the status ${status}`);

  const isTerminal = ["pr-created", "no-changes", "failed", "archived"].includes(outcome);
  if (isTerminal && !world.isDone()) violations.push(`the outcome is ${outcome}, but the job is not done`);
  if (outcome === "started" && scenario.wait) violations.push("the outcome is started, but the step was told to wait");

  const mustFail = ["error", "cancelled"].includes(outcome) || scenario.failOn.split(", ").includes(outcome);
  if (hasPassed === mustFail)
    violations.push(`outcome ${outcome} ${hasPassed ? "passes" : "fails"} with fail-on: ${scenario.failOn}`);
  const signal = Math.min(...scenario.signalsAt);
  if (outcome === "cancelled" && signal > durationMs) violations.push("the outcome is cancelled without a signal");
  if (outcome === "error" && !toolkit.annotations.some(({ level }) => level === "error"))
    violations.push("the outcome is error without an error annotation");
  return violations;
}

/** Ends in time, and sends a bounded number of requests. */
function checkLimits(scenario: Scenario, { world, durationMs }: Run): string[] {
  const violations: string[] = [];
  const limitMs = scenario.timeoutSeconds * 1000 + 1000;
  if (durationMs > limitMs) violations.push(`the run took ${durationMs} ms, the limit is ${limitMs} ms`);
  const signal = Math.min(...scenario.signalsAt);
  const graceMs = scenario.task === "create" ? 5000 : 2000;
  if (durationMs > signal + graceMs) violations.push(`the run took ${durationMs} ms, the signal came at ${signal} ms`);
  const maxRequests = 30 + durationMs / (scenario.minSeconds * 500);
  if (world.requests > maxRequests) violations.push(`${world.requests} requests in ${durationMs} ms`);
  return violations;
}

/** Leaks no key, and lets no untrusted text become a command or markup. */
function checkEscaping({ toolkit }: Run): string[] {
  const violations: string[] = [];
  const shown = [...toolkit.events, ...Object.values(toolkit.outputs), toolkit.summary];
  if (shown.some((text) => keyEncodings.some((encoding) => text.includes(encoding))))
    violations.push("the key was leaked");
  const inCommands = toolkit.events.flatMap((event) => /^(?:group|debug) (.*)$/s.exec(event)?.[1] ?? []);
  const texts = [
    ...toolkit.lines,
    ...inCommands,
    ...toolkit.annotations.flatMap(({ title, text }) => [title, ...text.split("\n")]),
  ];
  for (const text of texts) {
    const lines = readLog(text);
    if (lines.length > 1 || lines.some(({ kind }) => kind === "command"))
      violations.push(`not a single line of plain text: ${text}`);
  }
  if (/<(?!\/?(h2|h3|p|b|ul|li|table|tr|th|td|details|summary|pre|code|a)\b)/.test(toolkit.summary)) {
    violations.push("the summary contains untrusted markup");
  }
  if (/(?![\n\t])\p{Cc}|\u2028/u.test(toolkit.summary)) violations.push("the summary contains control characters");
  return violations;
}
