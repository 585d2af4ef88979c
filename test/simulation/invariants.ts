import { readLog } from "../../tools/commands.ts";
import { outputNames } from "../support/metadata.ts";
import type { Scenario } from "./scenario.ts";
import { key, type Run } from "./simulate.ts";
import { jobId } from "./world.ts";

const names = outputNames().sort();
const terminal = ["completed", "failed", "archived"];
/** The key as it is and as it could be handed on. */
const keyForms = [key, encodeURIComponent(key), Buffer.from(key).toString("base64")];

/** Every promise that the run has broken; empty where it kept them all. */
export function brokenPromises(scenario: Scenario, run: Run): string[] {
  return [...doubled(run), ...lost(run), ...incoherent(scenario, run), ...unbounded(scenario, run), ...leaked(run)];
}

/** Never start a job twice. */
function doubled({ world }: Run): string[] {
  const broken: string[] = [];
  if (world.jobsStarted > 1) broken.push(`${world.jobsStarted} jobs were started`);
  if (world.messagesTaken > 1) broken.push(`${world.messagesTaken} messages were taken`);
  if (world.hasSentAgain) broken.push("a create or message was sent again though the first may have been taken");
  return broken;
}

/** Never lose the id of a job that was started. */
function lost({ toolkit, world }: Run): string[] {
  const broken: string[] = [];
  if (world.hasAnsweredId && toolkit.outputs["job-id"] !== jobId)
    broken.push("the id of the job is not in the outputs");
  const set = Object.keys(toolkit.outputs).sort();
  if (set.join() !== names.join()) broken.push(`the outputs set are ${set.join()}`);
  return broken;
}

/** Never call something done that is not; outcome, outputs and exit code agree. */
function incoherent(scenario: Scenario, { hasPassed, toolkit, world, endedAt }: Run): string[] {
  const broken: string[] = [];
  const { outcome = "", status = "", "pr-link": prLink = "" } = toolkit.outputs;
  const expected: Record<string, { status: string[]; hasLink?: boolean }> = {
    "pr-created": { status: ["completed"], hasLink: true },
    "no-changes": { status: ["completed"], hasLink: false },
    failed: { status: ["failed"] },
    archived: { status: ["archived"] },
    "timed-out": { status: ["", "active", ...(scenario.way === "message" ? terminal : [])] },
    started: { status: ["", "active", ...(scenario.way === "message" ? terminal : [])] },
    cancelled: { status: ["", "active", ...terminal] },
    error: { status: ["", "active", ...terminal] },
  };
  const rule = expected[outcome];
  if (!rule) return [`the outcome is ${outcome}`];
  if (!rule.status.includes(status)) broken.push(`outcome ${outcome} with status ${status}`);
  if (rule.hasLink !== undefined && rule.hasLink !== (prLink !== ""))
    broken.push(`outcome ${outcome} with link ${prLink}`);
  if (prLink !== "" && !/^https?:\/\/[^\s@]+$/.test(prLink)) broken.push(`the link is ${prLink}`);
  if (status !== "" && !world.shownStatuses.has(status)) broken.push(`the status ${status} was never shown`);

  const isEnd = ["pr-created", "no-changes", "failed", "archived"].includes(outcome);
  if (isEnd && !world.isDone()) broken.push(`outcome ${outcome}, but the job is not done`);
  if (outcome === "started" && scenario.wait) broken.push("started, though it was to wait");

  const mustFail = ["error", "cancelled"].includes(outcome) || scenario.failOn.split(", ").includes(outcome);
  if (hasPassed === mustFail)
    broken.push(`outcome ${outcome} ${hasPassed ? "passes" : "fails"} with fail-on: ${scenario.failOn}`);
  const signal = Math.min(...scenario.signalsAt);
  if (outcome === "cancelled" && signal > endedAt) broken.push("cancelled without a signal");
  if (outcome === "error" && !toolkit.annotations.some(({ level }) => level === "error"))
    broken.push("an error without a word");
  return broken;
}

/** The run ends when it should, and asks no more than it should. */
function unbounded(scenario: Scenario, { world, endedAt }: Run): string[] {
  const broken: string[] = [];
  const deadline = scenario.timeoutSeconds * 1000 + 1000;
  if (endedAt > deadline) broken.push(`ended at ${endedAt}, the deadline is ${deadline}`);
  const signal = Math.min(...scenario.signalsAt);
  const graceMs = scenario.way === "create" ? 5000 : 2000;
  if (endedAt > signal + graceMs) broken.push(`ended at ${endedAt}, the signal came at ${signal}`);
  const mostRequests = 30 + endedAt / (scenario.minSeconds * 500);
  if (world.requests > mostRequests) broken.push(`${world.requests} requests in ${endedAt} ms`);
  return broken;
}

/** Neither the key nor outside text does harm. */
function leaked({ toolkit }: Run): string[] {
  const broken: string[] = [];
  const shown = [...toolkit.events, ...Object.values(toolkit.outputs), toolkit.summary];
  if (shown.some((text) => keyForms.some((form) => text.includes(form)))) broken.push("the key is shown");
  const inCommands = toolkit.events.flatMap((event) => /^(?:group|debug) (.*)$/s.exec(event)?.[1] ?? []);
  const texts = [
    ...toolkit.lines,
    ...inCommands,
    ...toolkit.annotations.flatMap(({ title, text }) => [title, ...text.split("\n")]),
  ];
  for (const text of texts) {
    const lines = readLog(text);
    if (lines.length > 1 || lines.some(({ kind }) => kind === "command")) broken.push(`this is no plain line: ${text}`);
  }
  if (/<(?!\/?(h2|h3|p|b|ul|li|table|tr|th|td|details|summary|pre|code|a)\b)/.test(toolkit.summary)) {
    broken.push("the summary holds markup from outside");
  }
  if (/(?![\n\t])\p{Cc}|\u2028/u.test(toolkit.summary)) broken.push("the summary holds control characters");
  return broken;
}
