import { readLog } from "../../tools/commands.ts";
import { outputNames } from "../support/metadata.ts";
import { acceptanceOf, recordsOf } from "./received.ts";
import type { Attempt, Scenario } from "./scenario.ts";
import { existingJobId } from "./service.ts";
import { type AttemptRun, type History, key } from "./simulate.ts";
import { checkStatements } from "./statements.ts";
import { checkSubmissions } from "./submissions.ts";

const names = outputNames().sort();
const knownStatuses = ["active", "completed", "failed", "archived"];
const terminal = ["completed", "failed", "archived"];
const terminalOutcomes = ["pr-created", "no-changes", "failed", "archived"];
/** The key and the encodings in which it could leak. */
const keyEncodings = [key, encodeURIComponent(key), Buffer.from(key).toString("base64")];

/** Returns a description of every invariant that the history violates. */
export function findViolations(history: History): string[] {
  return history.attempts.flatMap((run, index) => {
    const attempt = history.scenario.attempts[index];
    if (!attempt) return [];
    const violations = [
      ...checkSubmissions(history, run, index),
      ...checkStatements(history, run, index),
      ...checkIds(history, run, attempt),
      ...checkEnd(history, run, attempt),
      ...checkLimits(history.scenario, run, attempt),
      ...checkEscaping(run),
    ];
    return violations.map((violation) => `attempt ${index + 1}: ${violation}`);
  });
}

/** Returns whether outputs are missing because the runner could not write them. */
function cannotSetOutputs(run: AttemptRun, { internalFault }: Attempt): boolean {
  return run.hasInternalFault && internalFault?.method === "setOutput";
}

/** Never loses the id of a job that was started, and never takes another id for it. */
function checkIds({ scenario, attempts }: History, run: AttemptRun, attempt: Attempt): string[] {
  const violations: string[] = [];
  const id = run.runner.outputs["job-id"] ?? "";
  const arrived = run.requests.findLast(({ arrivedId }) => arrivedId !== undefined)?.arrivedId;
  // Only the clock is read between the response and the outputs.
  const canFail =
    run.hasInternalFault && (attempt.internalFault?.isPermanent || attempt.internalFault?.method === "now");
  if (arrived !== undefined && id !== arrived && !canFail && (run.end !== "killed" || !run.hasInternalFault)) {
    violations.push(`job ${arrived} is missing from the outputs`);
  }
  if (run.lateIds.length > 0 && !run.hasInternalFault) {
    violations.push(`job ${run.lateIds.join()} was not published as soon as its id had arrived`);
  }
  const isNew = scenario.mode.kind === "plain" && scenario.mode.task === "create";
  const known = (scenario.mode.kind === "comment" ? attempts : [run]).flatMap(({ requests }) =>
    requests.flatMap(({ arrivedId }) => arrivedId ?? []),
  );
  if (id !== "" && !known.includes(id) && (isNew || id !== existingJobId)) {
    violations.push(`${id} is in the outputs, which is not the id of a job that is known`);
  }
  return violations;
}

/** Ends; never reports what the service did not confirm; outcome, outputs and exit code agree. */
function checkEnd({ scenario }: History, run: AttemptRun, attempt: Attempt): string[] {
  const { outputs } = run.runner;
  if (run.end === "stuck") return ["the run does not end"];
  const set = Object.keys(outputs).sort();
  if (set.join() !== names.join() && !cannotSetOutputs(run, attempt)) return [`the outputs are ${set.join()}`];
  if (run.end === "killed") {
    const isError = outputs.outcome === "error" || cannotSetOutputs(run, attempt);
    return isError || hasReported(run) ? [] : [`killed with outcome ${outputs.outcome}`];
  }
  if (run.end === "crashed" && !run.hasInternalFault) return ["main rejected"];
  // The runner fails the step, and says so in an annotation of its own.
  if (run.end === "crashed" || (cannotSetOutputs(run, attempt) && run.end === "failed")) return [];
  const violations: string[] = [];
  const { outcome = "", status = "", "pr-link": prLink = "" } = outputs;
  const isMessage = run.requests.some(({ kind }) => kind === "message");
  const expected: Record<string, { status: string[]; hasLink?: boolean }> = {
    "pr-created": { status: ["completed"], hasLink: true },
    "no-changes": { status: ["completed"], hasLink: false },
    failed: { status: ["failed"] },
    archived: { status: ["archived"] },
    "timed-out": { status: ["", "active", ...(isMessage ? terminal : [])] },
    started: { status: ["", "active", ...(isMessage ? terminal : [])] },
    cancelled: { status: ["", "active", ...terminal] },
    error: { status: ["", "active", ...terminal] },
  };
  const rule = expected[outcome];
  if (!rule) return [`the outcome is ${outcome}`];
  if (!rule.status.includes(status)) violations.push(`the outcome is ${outcome}, but the status is ${status}`);
  if (rule.hasLink !== undefined && rule.hasLink !== (prLink !== ""))
    violations.push(`the outcome is ${outcome}, but the link is ${prLink}`);

  const records = recordsOf(run.requests);
  const lastLink = records.at(-1)?.link ?? "";
  const lastStatus = records.findLast((record) => knownStatuses.includes(record.status))?.status ?? "";
  if (!run.hasInternalFault) {
    if (prLink !== lastLink) violations.push(`the link is ${prLink}, but the last record has ${lastLink}`);
    if (status !== lastStatus) violations.push(`the status is ${status}, but the last record has ${lastStatus}`);
  }
  if (terminalOutcomes.includes(outcome) && !((run.knownEndsAt ?? Number.POSITIVE_INFINITY) <= run.endedAt)) {
    violations.push(`the outcome is ${outcome}, but the job is not done`);
  }
  if (outcome === "started" && scenario.wait) violations.push("the outcome is started, but the step was told to wait");
  if (outcome === "timed-out" && wasDoneInTime(scenario, run, attempt))
    violations.push("the outcome is timed-out, but the job was done in time");

  const mustFail = ["error", "cancelled"].includes(outcome) || scenario.failOn.split(", ").includes(outcome);
  if ((run.end === "passed") === mustFail)
    violations.push(`outcome ${outcome} ${mustFail ? "passes" : "fails"} with fail-on: ${scenario.failOn}`);
  if (outcome === "cancelled" && run.signalAt === undefined)
    violations.push("the outcome is cancelled without a signal");
  if (outcome === "error" && !run.runner.annotations.some(({ level }) => level === "error"))
    violations.push("the outcome is error without an error annotation");
  return violations;
}

/** A record may show the state from before a message for this long, in milliseconds. */
const staleStateMs = 15_000;
/** The last poll is sent at least this long before the deadline, if the whole timeout is 10 s or more. */
const lastPollReserveMs = 1000;

/** Returns whether the last polls had to find the job done: nothing was wrong with them, and there was time for one. */
function wasDoneInTime(scenario: Scenario, run: AttemptRun, attempt: Attempt): boolean {
  if (scenario.timeoutSeconds < 10 || run.firstRequestAt === undefined || attempt.pauses.length > 0) return false;
  const message = run.requests.findLast(({ kind }) => kind === "message")?.received?.at;
  const shownAt = Math.max(
    run.jobEndsAt ?? Number.POSITIVE_INFINITY,
    run.startedAt,
    message === undefined ? 0 : message + staleStateMs,
  );
  const deadline = run.firstRequestAt + scenario.timeoutSeconds * 1000;
  const isDisturbed = run.requests.some(({ isSmooth, received }) => !isSmooth && (received?.at ?? deadline) >= shownAt);
  return shownAt < deadline - lastPollReserveMs - 1000 && !isDisturbed;
}

/** Returns whether the result was reported, so that only the reply was left to do. */
function hasReported({ runner }: AttemptRun): boolean {
  return runner.lines.some((line) => line.startsWith("Outcome: "));
}

/** How long connections to the service are retried before a create or message is given up, in milliseconds. */
const unreachableLimitMs = 60_000;
/** How long a new job may be invisible, in milliseconds. */
const notFoundGraceMs = 10_000;

/** Ends in time, sends a bounded number of requests, and none when a retry is useless or too early. */
function checkLimits(scenario: Scenario, run: AttemptRun, attempt: Attempt): string[] {
  const violations: string[] = [];
  const { requests, signalAt } = run;
  const durationMs = run.endedAt - run.startedAt;
  const pausedMs = attempt.pauses.reduce((sum, { ms }) => sum + ms, 0);
  const isComment = scenario.mode.kind === "comment";
  // The last edit and reaction get ten seconds each.
  const limitMs = scenario.timeoutSeconds * 1000 + pausedMs + (isComment ? 21_000 : 1000);
  if (durationMs > limitMs) violations.push(`the run took ${durationMs} ms, the limit is ${limitMs} ms`);
  if (signalAt !== undefined) {
    const inFlight = requests.find(
      ({ sentAt, received }) => sentAt <= signalAt && (received?.at ?? Infinity) >= signalAt,
    );
    const graceMs = (inFlight?.kind === "create" ? 5000 : 500) + (isComment ? 1500 : 0) + pausedMs;
    const afterMs = run.endedAt - signalAt;
    if (afterMs > graceMs)
      violations.push(`the run went on for ${afterMs} ms after a signal, the limit is ${graceMs} ms`);
  }
  const maxRequests = 30 + durationMs / (scenario.minSeconds * 500);
  if (requests.length > maxRequests) violations.push(`${requests.length} requests in ${durationMs} ms`);

  const deadline = (run.firstRequestAt ?? 0) + scenario.timeoutSeconds * 1000;
  let unreachableSince: number | undefined;
  for (const [index, request] of requests.entries()) {
    const next = requests[index + 1];
    const { received, kind, sentAt } = request;
    if (!next || !received) continue;
    const isRepeated = next.kind === kind && next.jobId === request.jobId;
    if (received.kind === "response") {
      const retryAt = Math.min(received.at + (received.waitMs ?? 0), deadline - lastPollReserveMs);
      const isTransient = [408, 429].includes(received.status) || received.status >= 500;
      if (isRepeated && isTransient && scenario.timeoutSeconds >= 10 && next.sentAt < retryAt - 1 - pausedMs) {
        violations.push(`a ${kind} was repeated ${retryAt - next.sentAt} ms before Retry-After`);
      }
      const created = requests.find((one) => one.kind === "create" && acceptanceOf(one) === "accepted")?.received?.at;
      const isTooNew = received.status === 404 && created !== undefined && sentAt - created < notFoundGraceMs;
      if (isRepeated && received.status >= 300 && !isTransient && !isTooNew) {
        violations.push(`a ${kind} was repeated after ${received.status}`);
      }
    }
    const isUnreachable = kind !== "poll" && received.kind === "failure" && received.phase === "connecting";
    unreachableSince = isUnreachable ? (unreachableSince ?? sentAt) : undefined;
    if (isUnreachable && received.reason === "certificate") violations.push("an untrusted certificate was retried");
    if (unreachableSince !== undefined && next.sentAt > unreachableSince + unreachableLimitMs + pausedMs + 1) {
      violations.push(`connections were retried for ${next.sentAt - unreachableSince} ms`);
    }
  }
  return violations;
}

/** Leaks no key, and lets no untrusted text become a command or markup. */
function checkEscaping({ runner }: AttemptRun): string[] {
  const violations: string[] = [];
  const shown = [
    ...runner.events,
    ...Object.values(runner.outputs),
    runner.summary,
    ...runner.statements.map(({ text }) => text),
  ];
  if (shown.some((text) => keyEncodings.some((encoding) => text.includes(encoding))))
    violations.push("the key was leaked");
  const inCommands = runner.events.flatMap((event) => /^(?:group|debug) (.*)$/s.exec(event)?.[1] ?? []);
  const texts = [
    ...runner.lines,
    ...inCommands,
    ...runner.annotations.flatMap(({ title, text }) => [title, ...text.split("\n")]),
  ];
  for (const text of texts) {
    const lines = readLog(text);
    if (lines.length > 1 || lines.some(({ kind }) => kind === "command"))
      violations.push(`not a single line of plain text: ${text}`);
  }
  if (/<(?!\/?(h2|h3|p|b|ul|li|table|tr|th|td|details|summary|pre|code|a)\b)/.test(runner.summary)) {
    violations.push("the summary contains untrusted markup");
  }
  if (/(?![\n\t])\p{Cc}|\u2028/u.test(runner.summary)) violations.push("the summary contains control characters");
  return violations;
}
