import { outputNames } from "../support/metadata.ts";
import { checkEscaping } from "./escaping.ts";
import { checkHolds } from "./holds.ts";
import { checkLimits, createGraceMs, lastPollReserveMs, readLimitMs, rounding, staleStateMs } from "./limits.ts";
import type { ServiceRequest } from "./network.ts";
import { knownStatuses, placesOf, secondLookMs, wasTold } from "./places.ts";
import { isHushed, isNotFound, isSubmission, isTooNew, recordsOf } from "./received.ts";
import { checkRepeats } from "./repeats.ts";
import { checkMemory } from "./reruns.ts";
import type { Attempt, Scenario } from "./scenario.ts";
import { existingJobId } from "./service.ts";
import { checkChanges, checkFailures, checkSession } from "./sessions.ts";
import type { AttemptRun, History } from "./simulate.ts";
import { checkStatements } from "./statements.ts";
import { checkSubmissions, submissionsOf } from "./submissions.ts";

const names = outputNames().sort();
const terminal = ["completed", "failed", "archived"];
const terminalOutcomes = ["pr-created", "no-changes", "failed", "archived"];

/** Returns a description of every invariant that the history violates. */
export function findViolations(history: History): string[] {
  return history.attempts.flatMap((run, index) => {
    const attempt = history.scenario.attempts[index];
    if (!attempt || run.end === "not-started") return [];
    const violations = [
      ...checkSubmissions(run),
      ...checkRepeats(history, index),
      ...checkStatements(history, run, index),
      ...checkIds(history, run, attempt),
      ...checkEnd(history, run, attempt),
      ...checkLimits(history.scenario, run, attempt),
      ...checkHolds(history.scenario, run, attempt),
      ...checkEscaping(run),
      ...checkMemory(history, index),
      ...checkSession(history, index),
      ...checkFailures(history, index),
      ...checkChanges(history, index),
    ];
    return violations.map((violation) => `attempt ${index + 1}: ${violation}`);
  });
}

/** Returns whether outputs are missing because the runner could not write them. */
function cannotSetOutputs(run: AttemptRun, { internalFault }: Attempt): boolean {
  return run.hasInternalFault && internalFault?.method === "setOutput";
}

/** Never loses the id of a job that was started, and never takes another id for it. */
function checkIds(history: History, run: AttemptRun, attempt: Attempt): string[] {
  const { scenario } = history;
  const violations: string[] = [];
  const id = run.runner.outputs["job-id"] ?? "";
  const arrived = run.requests.findLast(({ arrivedId }) => arrivedId !== undefined)?.arrivedId;
  // Only the clock is read between the response and the outputs.
  const failing = run.hasInternalFault ? attempt.internalFault?.method : undefined;
  const canFail =
    failing === "now" || (failing === "setOutput" && (attempt.internalFault?.isPermanent || run.end === "killed"));
  if (arrived !== undefined && id !== arrived && !canFail)
    violations.push(`job ${arrived} is missing from the outputs`);
  if (run.lateIds.length > 0 && failing !== "now" && failing !== "setOutput") {
    violations.push(`job ${run.lateIds.join()} was not published as soon as its id had arrived`);
  }
  for (const { idArrivesAt, timeoutAt, arrivedId } of run.requests) {
    if (idArrivesAt === undefined || arrivedId !== undefined || run.end === "killed") continue;
    const isSignalled = run.signalAt !== undefined && run.signalAt < idArrivesAt;
    const limit = Math.min(timeoutAt, isSignalled ? (run.signalAt ?? 0) + createGraceMs : timeoutAt);
    if (idArrivesAt < limit - rounding)
      violations.push("a response with the id of a job arrived in time and was not read");
  }
  const isNew = scenario.mode.kind === "plain" && scenario.mode.task === "create";
  const known = attemptsWithSameJobs(history, run).flatMap(({ requests }) =>
    requests.flatMap(({ arrivedId, turn }) => [arrivedId, turn?.jobId]),
  );
  if (id !== "" && !known.includes(id) && (isNew || id !== existingJobId)) {
    violations.push(`${id} is in the outputs, which is not the id of a job that is known`);
  }
  return violations;
}

/** Returns the attempts whose jobs an attempt may have: the attempts of its thread, or of its step and its session. */
function attemptsWithSameJobs(history: History, run: AttemptRun): AttemptRun[] {
  const { scenario, attempts } = history;
  if (scenario.mode.kind === "comment") return attempts;
  const places = placesOf(history);
  const own = places.find((place) => place.run === run);
  if (!own) return [run];
  // A service that says what was sent under a step does so for all prompts.
  const isSameStep = scenario.workflow?.twin === "prompt";
  const isSame = ({ unit, step, session }: (typeof places)[number]): boolean =>
    (isSameStep ? step === own.step : unit === own.unit) ||
    (scenario.workflow?.hasSession === true && session === own.session);
  return places.filter(isSame).map((place) => place.run);
}

/** Ends; never reports what the service did not confirm; outcome, outputs and exit code agree. */
function checkEnd(history: History, run: AttemptRun, attempt: Attempt): string[] {
  const { scenario, attempts } = history;
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
  // An earlier attempt may have sent it: its re-run waits for the same turn.
  const isMessage = attempts
    .slice(0, attempts.indexOf(run) + 1)
    .some(({ requests }) => requests.some(({ kind }) => kind === "message"));
  // The job may have ended, and the service did not say whether the turn has.
  const isOpen = isMessage || isUnasked(run);
  const isPushed = hasPushed(history, run);
  const expected: Record<string, { status: string[]; hasLink?: boolean }> = {
    "pr-created": { status: ["completed"], hasLink: true },
    // A follow-up that changes nothing leaves its session's open pull request as it was.
    "no-changes": { status: ["completed"], ...(isPushed !== false && { hasLink: false }) },
    // A follow-up of which a merged or closed pull request has nothing.
    failed: { status: ["failed", ...(isMessage && isPushed !== true ? ["completed"] : [])] },
    archived: { status: ["archived"] },
    "timed-out": { status: ["", "active", ...(isOpen ? terminal : [])] },
    started: { status: ["", "active", ...(isMessage || wasTold(run) ? terminal : [])] },
    cancelled: { status: ["", "active", ...terminal] },
    error: { status: ["", "active", ...terminal] },
    skipped: { status: [""], hasLink: false },
  };
  // The service says how the turn ended, whatever became of its job later.
  if (wasTold(run)) {
    for (const name of ["pr-created", "no-changes"]) expected[name]?.status.push("archived", "failed");
    expected.failed?.status.push("completed", "archived");
  }
  // What an earlier attempt saw complete stays so, whatever a later request does to the job.
  const before = attempts.slice(0, attempts.indexOf(run)).map(({ runner }) => runner.outputs);
  if (before.some((one) => one.outcome === outcome))
    for (const name of ["pr-created", "no-changes"]) expected[name]?.status.push("archived", "failed", "active");
  const rule = expected[outcome];
  if (!rule) return [`the outcome is ${outcome}`];
  if (!rule.status.includes(status)) violations.push(`the outcome is ${outcome}, but the status is ${status}`);
  if (terminal.includes(status) && run.runner.statements.some(({ text }) => text.includes("is still running")))
    violations.push(`the step says that a job is still running whose status is ${status}`);
  if (rule.hasLink !== undefined && rule.hasLink !== (prLink !== ""))
    violations.push(`the outcome is ${outcome}, but the link is ${prLink}`);

  const records = recordsOf(requestsOfResult(run, scenario.workflow !== undefined));
  const lastLink = records.at(-1)?.link ?? "";
  const lastStatus = records.findLast((record) => knownStatuses.includes(record.status))?.status ?? "";
  // A job that a re-run found to be over is none of its own. Its id is an output nevertheless if a message goes to it.
  const isFixed = scenario.mode.kind === "comment" && (scenario.mode.hasFixedJob || scenario.mode.remembersJob);
  const isLeft = isFixed && lastStatus === "archived" && submissionsOf(run).length === 0;
  const hasJob = (outputs["job-id"] !== "" && !isLeft) || scenario.workflow !== undefined;
  // A process that was paused may have no token, and not ask either.
  const readAt = run.requests.findLastIndex(({ received }) => received?.kind === "response" && received.record);
  const hasAsked = run.requests.slice(Math.max(readAt, 0)).some(({ kind }) => kind === "lookup");
  const isWithoutToken = scenario.usesTokens && attempt.pauses.length > 0 && !hasAsked;
  if (!run.hasInternalFault && hasJob && !isWithoutToken && !isUnasked(run)) {
    // Another record of the job may no longer name it.
    const wasSeen = lastLink === "" && before.some((one) => one.outcome === outcome && one["pr-link"] === prLink);
    if (prLink !== lastLink && !wasSeen) violations.push(`the link is ${prLink}, but the last record has ${lastLink}`);
    if (status !== lastStatus) violations.push(`the status is ${status}, but the last record has ${lastStatus}`);
  }
  const endsAt = scenario.workflow ? run.ownTurnEndsAt : run.jobEndsAt;
  if (terminalOutcomes.includes(outcome) && !((endsAt ?? Number.POSITIVE_INFINITY) <= run.endedAt)) {
    violations.push(`the outcome is ${outcome}, but the job is not done`);
  }
  const told = ["pr-created", "no-changes"].includes(outcome) ? lastToldOf(run) : [];
  if (told.length > 0 && !told.includes("completed"))
    violations.push(`the outcome is ${outcome}, but the service said that the turn is ${told.join()}`);
  if (outcome === "started" && scenario.wait) violations.push("the outcome is started, but the step was told to wait");
  if (outcome === "timed-out" && wasDoneInTime(scenario, run, attempt, isMessage))
    violations.push("the outcome is timed-out, but the job was done in time");

  const mustFail = ["error", "cancelled"].includes(outcome) || scenario.failOn.split(", ").includes(outcome);
  if ((run.end === "passed") === mustFail)
    violations.push(`outcome ${outcome} ${mustFail ? "passes" : "fails"} with fail-on: ${scenario.failOn}`);
  if (outcome === "cancelled" && run.signalAt === undefined)
    violations.push("the outcome is cancelled without a signal");
  if (outcome === "skipped" && !scenario.workflow?.changes) violations.push("the outcome is skipped without changes");
  if (outcome === "error" && !run.runner.annotations.some(({ level }) => level === "error"))
    violations.push("the outcome is error without an error annotation");
  return violations;
}

/**
 * Returns whether the last turn pushed something that an attempt sent, or one before it to the job that it waits for; `undefined` if none did.
 */
function hasPushed(history: History, run: AttemptRun): boolean | undefined {
  const turnsOf = ({ requests }: AttemptRun) => requests.flatMap((one) => (isSubmission(one) && one.turn) || []);
  const all = attemptsWithSameJobs(history, run);
  const earlier = all.slice(0, all.indexOf(run)).flatMap(turnsOf);
  const turn = turnsOf(run).at(-1) ?? earlier.findLast(({ jobId }) => jobId === run.runner.outputs["job-id"]);
  return turn && turn.result === "pull-request";
}

/** Returns the statuses of the turns of the job in the outputs, as the service said them last, after something was sent. */
function lastToldOf({ requests, runner }: AttemptRun): string[] {
  const jobId = runner.outputs["job-id"];
  const answers = requests
    .slice(requests.findLastIndex(isSubmission) + 1)
    .flatMap(({ received }) =>
      received?.kind === "response" && received.announces ? [received.turns.filter(({ job }) => job === jobId)] : [],
    );
  return answers.at(-1)?.map(({ status }) => status) ?? [];
}

const knownTurnStatuses = ["waiting", "running", "completed", "failed", "stopped"];

/** Returns whether the last record does not count, because the service did not say how its turn ended. */
function isUnasked({ requests, tokenRequests }: AttemptRun): boolean {
  const last = requests.findLast(({ received }) => received?.kind === "response" && received.record !== undefined);
  const lookup = requests.slice(last ? requests.indexOf(last) : 0).find(({ kind }) => kind === "lookup");
  // Without a token, the service is not asked either.
  const readAt = last?.received?.at ?? Infinity;
  if (tokenRequests.some(({ sentAt, isSmooth }) => sentAt >= readAt && !isSmooth)) return true;
  const isEnd = last?.received?.kind === "response" && last.received.record?.status !== "active";
  if (isEnd && isHushed(requests, readAt)) return true;
  const isAnswered = ({ received }: (typeof requests)[number]): boolean =>
    received?.kind === "response" &&
    received.announces &&
    received.turns.every(({ status }) => knownTurnStatuses.includes(status));
  // The same holds for one before the last.
  const isLeftOut = requests.some((request, index) => {
    const next = requests[index + 1];
    const isRecord = request.received?.kind === "response" && request.received.record !== undefined;
    return isRecord && next?.kind === "lookup" && !isAnswered(next) && requests.slice(0, index).some(isAnswered);
  });
  return isLeftOut || (lookup !== undefined && !isAnswered(lookup));
}

/**
 * Returns the requests that the result of a history's attempt is about: its own job's, not those with which it looked at
 * an earlier one to decide what to do.
 */
function requestsOfResult({ requests, runner }: AttemptRun, isHistory: boolean): AttemptRun["requests"] {
  const first = requests.findIndex(isSubmission);
  // Nor is a second look at a job that was not found. A new job is only looked for again.
  const isSecondLook = (request: ServiceRequest): boolean => {
    const isOfJob = ({ kind, jobId }: ServiceRequest): boolean => kind === "poll" && jobId === request.jobId;
    const before = requests.slice(0, requests.indexOf(request));
    const start = before.findLastIndex(
      (one) => one.jobId === request.jobId && isNotFound(one) && !isTooNew(one, requests),
    );
    const since = before.slice(start + 1);
    const looks = since.filter(isOfJob);
    // What is polled at once goes on after a second look that did not find it either.
    const isLater = (looks[0] ?? request).sentAt - (before[start]?.received?.at ?? Infinity) >= secondLookMs;
    const isOver = request.sentAt >= (looks[0]?.sentAt ?? Infinity) + readLimitMs - rounding;
    const hasEnded = isOver || looks.some((one, at) => endsLook(one, looks.slice(0, at)));
    return isLater && isOfJob(request) && !since.some(isSubmission) && !hasEnded;
  };
  const own = requests.slice(Math.max(first, 0)).filter((one) => !isSecondLook(one));
  if (first !== -1) return own;
  return !isHistory || runner.outputs["job-origin"] === "resumed" ? own : [];
}

/** Returns whether a poll was the last of a look: it found the job, or failed for good. */
function endsLook({ received }: ServiceRequest, before: readonly ServiceRequest[]): boolean {
  if (received?.kind !== "response")
    return received?.reason === "certificate" && !before.some((one) => one.received?.kind === "response");
  const { status, record } = received;
  return record !== undefined || (status >= 300 && status < 500 && status !== 408 && status !== 429);
}

/** Returns whether the last polls had to find the job done: nothing was wrong with them, and there was time for one. */
function wasDoneInTime(scenario: Scenario, run: AttemptRun, attempt: Attempt, isMessage: boolean): boolean {
  // The time was up while a session still looked at the job it remembers.
  if (scenario.workflow && run.runner.outputs["job-origin"] === "") return false;
  // A turn that was stopped while it waited ends before the one that runs.
  if (run.requests.some(({ turn }) => turn?.isStopped)) return false;
  if (scenario.timeoutSeconds < 10 || run.firstRequestAt === undefined || attempt.pauses.length > 0) return false;
  // A re-run does not know when the message was sent, so it counts from the first record that it read.
  const read = run.requests.map(({ kind, received }) =>
    kind === "poll" && received?.kind === "response" && received.record ? received.at : undefined,
  );
  const message = isMessage
    ? (run.requests.findLast(({ kind }) => kind === "message")?.received?.at ?? read.find((at) => at !== undefined))
    : undefined;
  const shownAt = Math.max(
    run.jobEndsAt ?? Number.POSITIVE_INFINITY,
    run.startedAt,
    message === undefined ? 0 : message + staleStateMs,
  );
  const timeoutMs = scenario.timeoutSeconds * 1000;
  const deadline = run.firstRequestAt + (scenario.wait ? timeoutMs : Math.min(timeoutMs, readLimitMs));
  // The last poll may be followed by the question how the turn ended.
  const lastPollAt = deadline - lastPollReserveMs - 2000;
  const isDisturbed = run.requests.some(({ kind, isSmooth, received }) => {
    // A service that asks for a pause is not asked again before how a turn ended, unlike for the state of a job at the end.
    const pauseMs = kind === "lookup" && received?.kind === "response" ? (received.waitMs ?? 0) : 0;
    const receivedAt = received?.at ?? deadline;
    // There may be less than a second for the last question.
    const isCutOff = kind === "lookup" && receivedAt >= deadline - rounding;
    return (!isSmooth || isCutOff) && receivedAt + pauseMs >= lastPollAt;
  });
  const isWithoutToken = run.tokenRequests.some(
    ({ isSmooth, settledAt }) => !isSmooth && (settledAt ?? deadline) >= shownAt,
  );
  // The reaction comes before the first poll.
  const firstPollAt = run.requests.find(({ kind }) => kind === "poll")?.sentAt ?? deadline;
  const isHeldUp = run.gitHubRequests.some(
    ({ settledAt = deadline }) => settledAt >= lastPollAt && settledAt <= Math.min(firstPollAt, deadline) + rounding,
  );
  return shownAt < lastPollAt && !isDisturbed && !isWithoutToken && !isHeldUp;
}

/** Returns whether the result was reported, so that only the reply was left to do. */
function hasReported({ runner }: AttemptRun): boolean {
  return runner.lines.some((line) => line.startsWith("Outcome: "));
}
