import type { AcceptedSubmission, AgentJobClient, Submission } from "../client/client.ts";
import type { CallLimits } from "../client/clock.ts";
import { isTerminal, type Job, type TerminalStatus } from "../client/contract.ts";
import { InvalidResponseError, isRequestError, SubmissionError } from "../client/errors.ts";
import { hasEnded, type SentTurn, type TurnStatus } from "../client/step-lookup.ts";
import type { RetryNotice } from "../client/submit.ts";
import { staleStateMs, type WaitOrigin, type WaitRequest, type WaitResult, waitForJob } from "../client/wait.ts";
import { message } from "../runner-kit/text.ts";
import { excerpt } from "../runner-kit/untrusted.ts";
import { commitOf } from "./commit-of.ts";
import {
  AgentError,
  agentFailed,
  cancelledBeforeSending,
  isJobNotFound,
  type Operation,
  type RunResult,
} from "./result.ts";
import { connectService, type Run } from "./run.ts";
import { RunState } from "./run-state.ts";
import { runAttempt, runUrl } from "./runner/environment.ts";
import type { SendingTask, Task } from "./settings.ts";

/** How long the state of a job is read while its service fails, in milliseconds: what is left of the time is for the job that runs. */
const maxReadMs = 180_000;
/** A job is read again after this time if it was not found, or showed no message yet, in milliseconds. */
const secondLookMs = 3000;
/** How long after a signal the service is asked to stop a turn, in milliseconds: soon after that, the runner kills the step. */
const stopGraceMs = 2000;
/** The same at the step's own time limit, after which nobody kills it. */
const stopAtLimitMs = 20_000;
/** Before the service is asked again whether the turn has ended, in milliseconds. */
const pauseMs = 250;

export interface JobOptions {
  /** Whether to wait for the end of the job. Default: the input. */
  wait?: boolean;
  /** Called as soon as the job's id is known, after the `job-id` output is set. */
  onJobId?: (jobId: string) => void;
  /** Called after every poll, when its result is in the state and in the log. */
  onPolled?: () => void;
}

/** Reads a job once, without publishing its id. Never rejects. */
export function readJob(jobId: string, run: Run): Promise<RunResult> {
  return runJob({ kind: "attach", jobId }, { ...run, publishJobId: () => {} }, { wait: false });
}

/**
 * Reads a job once, and returns its status, or a result if that cannot be read, so that nothing may be sent. It is gone only after two `404`:
 * one may come from a service that restarts. Never rejects.
 */
export async function findJob(jobId: string, run: Run): Promise<TerminalStatus | "active" | "not found" | RunResult> {
  const { state, ports } = run;
  const beforeMs = state.elapsedMs(ports.clock.now());
  let result: RunResult | "gone" = await readJob(jobId, run);
  if (isJobNotFound(result, state)) {
    state.forgetJob();
    result = await lookAgain(jobId, run);
  }
  if (result === "gone") return "not found";
  if (result.kind === "done") return result.status;
  if (result.kind === "started") return "active";
  // A re-run reads the job again: this step has no part in it yet.
  if (result.kind === "cancelled") return cancelledBeforeSending;
  if (result.kind !== "timed-out" || !result.lastError) return result;
  const { lastError: error, timeoutMs } = result;
  return { kind: "blocked", cause: "session-job", jobId, error, forMs: timeoutMs - beforeMs };
}

/** Returns whether a job is still not found some seconds after a request for it was answered with `404`. Never rejects. */
export async function isStillGone(jobId: string, run: Run): Promise<boolean> {
  const state = new RunState();
  state.startedAt = run.state.startedAt;
  return (await lookAgain(jobId, { ...run, state })) === "gone";
}

async function lookAgain(jobId: string, run: Run): Promise<RunResult | "gone"> {
  const { clock, signal } = run.ports;
  await clock.sleep(secondLookMs, signal);
  const result = await readJob(jobId, run);
  return isJobNotFound(result, run.state) ? "gone" : result;
}

/** Runs a task: sends the create or message, if there is one, and waits for the job. Never rejects. */
export async function runJob(task: Task, run: Run, options: JobOptions = {}): Promise<RunResult> {
  const { wait = run.settings.wait, onJobId, onPolled } = options;
  const { state } = run;
  let published = "";
  const publishJobId = (jobId: string): void => {
    // A response in doubt may have had it.
    if (jobId === published) return;
    published = jobId;
    run.publishJobId(jobId);
    onJobId?.(jobId);
  };
  const operation = task.kind === "attach" ? "poll" : task.kind;
  if (task.kind !== "create") state.jobId = task.jobId;
  if (run.ports.signal.aborted)
    return { kind: "cancelled", operation, acceptance: operation === "poll" ? "accepted" : "rejected" };
  const job = { ...run, settings: { ...run.settings, wait }, publishJobId };
  try {
    return await submitAndWait(task, operation, job, onPolled);
  } catch (error) {
    // What was published stays so, whatever failed after it.
    if (published !== "") state.jobId ||= published;
    return resultOfError(error, operation, job);
  }
}

async function submitAndWait(task: Task, operation: Operation, run: Run, onPolled?: () => void): Promise<RunResult> {
  const { ports, state, log, settings } = run;
  const { clock, random, signal } = ports;
  log.starting(task, settings);
  const client = connectService(run);
  // Comment mode has already sent requests to GitHub, and their time counts too.
  state.startedAt ??= clock.now();
  const { startedAt } = state;
  const isRead = task.kind === "attach" && !settings.wait;
  const timeoutMs = isRead
    ? Math.min(settings.timeoutMs, state.elapsedMs(clock.now()) + maxReadMs)
    : settings.timeoutMs;
  const limits: CallLimits = { deadline: startedAt + timeoutMs, signal };

  const isMessageResumed = task.kind === "attach" && task.resumes === "message" && !task.wasSeen;
  let origin: WaitOrigin = { kind: isMessageResumed ? "resumed" : "attached" };
  if (task.kind !== "attach") {
    const { job, isReplay } = await submit(task, client, run, limits);
    // On a re-run, it is the turn of an earlier attempt, which the service did not name when it was asked.
    const isOwn = !isReplay || runAttempt(ports.environment) > 1;
    updateState(job, isReplay && isOwn ? { kind: "attach", jobId: job.id, resumes: task.kind } : task, run);
    if (!isOwn) return { kind: "blocked", cause: "replayed", jobId: job.id };
    log.accepted(task.kind, job, state);
    if (signal.aborted) return { kind: "cancelled", operation, acceptance: "accepted" };
    const isCreate = task.kind === "create";
    if (isCreate && isTerminal(job.status)) return { kind: "done", status: job.status };
    // A service that announces itself shows a message at once.
    if (!settings.wait && !isCreate && !state.features) await untilShown(task, run, client, limits, onPolled);
    if (signal.aborted) return { kind: "cancelled", operation, acceptance: "accepted" };
    if (!settings.wait) return { kind: "started" };
    origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
  }

  log.waiting({ ...settings, timeoutMs }, state);
  const readTurn = turnReader(task, client, run, limits);
  const { intervals } = settings;
  const request = { ...limits, jobId: state.jobId, origin, startedAt, intervals, readTurn };
  const waitUntil = (until: WaitRequest["until"]): Promise<WaitResult> =>
    waitForJob({ ...request, until }, client, { clock, random }, (event) => {
      if (event.kind === "polled") updateState(event.job, task, run);
      log.poll(event, state, state.elapsedMs(clock.now()), !isRead);
      onPolled?.();
    });
  const wait = await waitWith(task, run, waitUntil).finally(() => log.waited());
  if (wait.kind === "timed-out") return { ...wait, timeoutMs };
  if (wait.kind === "cancelled") return { kind: "cancelled", operation, acceptance: "accepted" };
  const { turn, job, wasSeenToStart } = wait;
  state.unproven = settings.wait && !wasSeenToStart ? "start" : undefined;
  // A single poll cannot tell whether this is the state from before the message, unless the service says how the turn ended.
  const isStale = isMessageResumed && !settings.wait && !(turn !== undefined && hasEnded(turn));
  if (!isTerminal(job.status) || isStale) return { kind: "started" };
  if (turn === undefined) return { kind: "done", status: job.status };
  return { kind: "done", status: turn === "completed" ? "completed" : "failed" };
}

/** Reads a job until it shows that it got a message, for who reads it next: before, it may show how its last turn ended. Never rejects. */
async function untilShown(
  task: Task,
  run: Run,
  client: AgentJobClient,
  limits: CallLimits,
  onShown?: () => void,
): Promise<void> {
  const { clock } = run.ports;
  const deadline = Math.min(clock.now() + staleStateMs, limits.deadline);
  while (clock.now() < deadline && !limits.signal.aborted) {
    const reading = await client.getJob(run.state.jobId, { ...limits, deadline }).catch(() => undefined);
    if (reading) updateState(reading.job, task, run);
    if (reading?.job.status === "active") return onShown?.();
    // What cannot be read is not asked for again, but may show the state from before.
    const leftMs = deadline - clock.now();
    await clock.sleep(reading ? Math.min(secondLookMs, leftMs) : leftMs, limits.signal);
  }
}

/** Waits as the step is asked to. An agent that runs with the step is started first if the job that it attaches to needs it. */
async function waitWith(
  task: Task,
  { settings, ports: { agent, signal } }: Run,
  waitUntil: (until: WaitRequest["until"]) => Promise<WaitResult>,
): Promise<WaitResult> {
  if (task.kind === "attach" && settings.wait && agent) {
    // Nothing was sent, so no agent has been asked for yet: a turn that an earlier attempt left would wait for good.
    const found = await waitUntil("response");
    if (found.kind !== "done") return found;
    // Loaded here, because few steps have an agent.
    const { untilAborted } = await import("./memory/wait.ts");
    if (!isTerminal(found.job.status)) await untilAborted(agent.prepare(), signal);
  }
  return waitUntil(settings.wait ? "terminal" : "response");
}

function submit(
  task: SendingTask,
  client: AgentJobClient,
  { key, publishJobId, log, state, ports }: Run,
  limits: CallLimits,
): Promise<AcceptedSubmission> {
  const refusal = state.refusal === "" ? [] : [state.refusal];
  const { sections } = task;
  const submission = {
    prompt: sections ? task.prompt : [task.prompt, ...refusal].join("\n\n"),
    key: key.of(task.prompt, task.replaces),
    ...(sections && {
      sections: [...sections, ...refusal],
      asked: askedOf(state, ports.environment),
      covers: coversOf(state),
    }),
  };
  const session = state.features?.has("session") ? state.session : undefined;
  const onRetry = (notice: RetryNotice): void => log.retrying(notice, state.elapsedMs(ports.clock.now()));
  return task.kind === "create"
    ? client.createJob({ ...submission, base: task.base, session }, limits, onRetry, publishJobId)
    : client.sendMessage(task.jobId, submission, limits, onRetry);
}

/** Returns up to which commit the sections tell of changes, marked if the session was not told of all before them. */
function coversOf({ changes }: RunState): string | undefined {
  const head = commitOf(changes?.head);
  return head && (changes?.continues ? head : `+${head}`);
}

/** Returns the person who asked, where and in which run. Only people are named: other events name whoever caused them last. */
function askedOf({ author, threadUrl }: RunState, environment: NodeJS.ProcessEnv): Submission["asked"] {
  const { GITHUB_EVENT_NAME: event, GITHUB_TRIGGERING_ACTOR: actor = "" } = environment;
  const by = author || (event === "workflow_dispatch" ? actor : "");
  return { by: by || undefined, in: threadUrl || undefined, run: runUrl(environment) || undefined };
}

/** Returns a function that reads the status of our turn, if the service may say it: others may have sent a message since. */
function turnReader(
  task: Task,
  client: AgentJobClient,
  { key, state, settings }: Run,
  limits: CallLimits,
): (() => Promise<TurnStatus | undefined>) | undefined {
  if (task.kind === "attach" && task.resumes === undefined) return undefined;
  // A single poll is worth a question only if the turn is known.
  if (!settings.wait && (task.kind !== "attach" || task.turnId === undefined)) return undefined;
  const isOwn = ({ jobId, turnId, request }: SentTurn): boolean =>
    jobId === state.jobId &&
    (task.kind === "attach" ? turnId === task.turnId : request === key.of(task.prompt, task.replaces).request);
  let isUnannounced = false;
  return async () => {
    if (isUnannounced) return undefined;
    const announcement = await client.lookUpStep(key.of(""), limits).catch((error: unknown) => {
      // A service that has announced nothing may not know the question: its record counts.
      if (state.features === undefined && !settings.agent && isRequestError(error)) return undefined;
      throw error;
    });
    // What has announced itself knows how the turn ended: then another answer is none, and the record may be about a later turn.
    if (announcement === undefined && state.features !== undefined)
      throw new InvalidResponseError("it announces nothing", "");
    isUnannounced = announcement === undefined;
    if (announcement === undefined) return undefined;
    state.features = announcement.features;
    const own = announcement.turns.find(isOwn);
    state.updateTurns(announcement.turns, own);
    return own?.status;
  };
}

/** Merges a record into the state, and publishes the job's id before anything else can fail. */
function updateState(job: Job, task: Task, { ports, state, log, publishJobId }: Run): void {
  const isFirst = !state.hasRecord;
  const hadInvalidLink = state.hasInvalidLink;
  state.update(job, ports.clock.now());
  const origins = { create: "created", message: "continued", attach: "attached" } as const;
  state.origin ||= task.kind === "attach" && task.resumes ? "resumed" : origins[task.kind];
  if (isFirst) publishJobId(job.id);
  if (state.hasInvalidLink && !hadInvalidLink)
    log.warning(message`
      Invalid pull request link
      The service returned ${excerpt(job.prLink, 300)} as the pull request, which is not an http(s) URL without credentials. Ignored.`);
}

function resultOfError(error: unknown, operation: Operation, { ports, state, log, publishJobId }: Run): RunResult {
  if (error instanceof AgentError) {
    const acceptance = state.hasRecord ? "accepted" : "unknown";
    // A service that ends with its step can say so before the signal is seen here.
    return ports.signal.aborted ? { kind: "cancelled", operation, acceptance } : agentFailed(error, acceptance);
  }
  if (operation !== "poll" && error instanceof SubmissionError) {
    if (operation === "create" && error.jobId !== undefined) {
      state.jobId = error.jobId;
      state.origin = "created";
      publishJobId(error.jobId);
    }
    if (ports.signal.aborted) return { kind: "cancelled", operation, acceptance: error.acceptance };
    return { kind: "submission-failed", operation, error };
  }
  if (isRequestError(error)) {
    // Without a record, there was no response to the create or message, so this came from `connect`.
    return operation !== "poll" && !state.hasRecord
      ? { kind: "submission-failed", operation, error: new SubmissionError("rejected", error) }
      : { kind: "poll-failed", error };
  }
  log.debugError(error);
  return { kind: "crashed", error };
}

/**
 * Stops the turn that a cancelled step has sent itself, if the service can, or one whose agent's time is up, also if an earlier attempt sent
 * it: the agent ends with the step. The state says what became of it, and the result whether a request that was in doubt was accepted, or
 * how a turn ended that did so in time. Never rejects.
 */
export async function stopOwnTurn(task: Task, result: RunResult, run: Run): Promise<RunResult> {
  const { settings, state, log } = run;
  const isSent = task.kind === "attach" ? settings.agent !== undefined && task.turnId !== undefined : true;
  const isOwn = isSent && settings.wait && settings.onCancel === "stop";
  // An agent that runs with the step ends with it.
  if (!isOwn || !(result.kind === "cancelled" || (settings.agent && result.kind === "timed-out"))) return result;
  if (result.kind === "cancelled" && result.acceptance === "rejected") return result;
  const accepted: RunResult = result.kind === "cancelled" ? { ...result, acceptance: "accepted" } : result;
  const { clock, signal } = run.ports;
  // A cancelled step's own signal has aborted.
  const limits = { deadline: clock.now() + stopGraceMs, signal: new AbortController().signal };
  const last = clock.now() + (result.kind === "cancelled" ? stopGraceMs : stopAtLimitMs);
  try {
    const client = connectService(run);
    const key = task.kind === "attach" ? run.key.of("") : run.key.of(task.prompt, task.replaces);
    const announcement = await client.lookUpStep(key, limits);
    if (!announcement) return result;
    state.features = announcement.features;
    const turn = announcement.turns.find(
      ({ request, jobId, turnId }) =>
        (task.kind === "attach" ? turnId === task.turnId : request === key.request) &&
        (state.jobId === "" || jobId === state.jobId),
    );
    if (!turn) return result;
    if (state.jobId === "") {
      state.jobId = turn.jobId;
      state.origin = task.kind === "create" ? "created" : "continued";
      run.publishJobId(turn.jobId);
    }
    if (!announcement.features.has("stop")) return accepted;
    state.stop = "asked";
    for (;;) {
      // It may be cancelled meanwhile.
      if (!signal.aborted) limits.deadline = Math.min(last, clock.now() + stopGraceMs);
      // An earlier attempt may have sent the same request, and its turn may be over.
      const status = hasEnded(turn.status) ? turn.status : await client.stopTurn(turn.jobId, turn.turnId, limits);
      if (status === "stopped") state.stop = "stopped";
      else if (status === "completed" || status === "failed") {
        state.stop = "ended";
        state.update((await client.getJob(turn.jobId, limits)).job, clock.now());
        if (result.kind === "timed-out") {
          const { turns = [] } = (await client.lookUpStep(key, limits)) ?? {};
          const own = turns.find(({ turnId }) => turnId === turn.turnId);
          state.updateTurns(turns, own);
          return { kind: "done", status };
        }
      }
      if (state.stop !== "asked" || clock.now() + pauseMs >= (signal.aborted ? limits.deadline : last)) break;
      await clock.sleep(pauseMs);
    }
    return accepted;
  } catch (error) {
    log.debugError(error);
    if (state.stop !== undefined) return accepted;
    state.stop = "unreached";
    return result;
  }
}
