import type { CallLimits } from "../client/call-limits.ts";
import type { AcceptedSubmission, AgentJobClient } from "../client/client.ts";
import { isTerminal, type Job } from "../client/contract.ts";
import { isRequestError, SubmissionError } from "../client/errors.ts";
import { hasEnded, type SentTurn, type TurnStatus } from "../client/step-lookup.ts";
import type { RetryNotice } from "../client/submit.ts";
import { type WaitOrigin, type WaitResult, waitForJob } from "../client/wait.ts";
import { connectService } from "./connect-service.ts";
import type { Operation, RunResult } from "./result.ts";
import type { Run } from "./run.ts";
import type { JobOrigin } from "./run-state.ts";
import { runAttempt } from "./runner/environment.ts";
import type { Inputs, SendingTask, Task } from "./settings.ts";
import type { StepKey } from "./step-key.ts";

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
  const operation = operationOf(task);
  if (task.kind !== "create") state.jobId = task.jobId;
  if (run.ports.signal.aborted) {
    return { kind: "cancelled", operation, acceptance: task.kind === "attach" ? "accepted" : "rejected" };
  }
  const job = { ...run, publishJobId };
  try {
    return await submitAndWait({ ...run.settings, task, wait }, job, onPolled);
  } catch (error) {
    // What was published stays so, whatever failed after it.
    if (published !== "") state.jobId ||= published;
    return resultOfError(error, operation, job);
  }
}

async function submitAndWait(inputs: Inputs, run: Run, onPolled?: () => void): Promise<RunResult> {
  const { task } = inputs;
  const { ports, state, log } = run;
  const { clock, random, signal } = ports;
  log.starting(inputs);
  const client = connectService(run);
  // Comment mode has already sent requests to GitHub, and their time counts too.
  state.startedAt ??= clock.now();
  const { startedAt } = state;
  const limits: CallLimits = { deadline: startedAt + inputs.timeoutMs, signal };

  const isMessageResumed = task.kind === "attach" && task.resumes === "message";
  let origin: WaitOrigin = { kind: isMessageResumed ? "resumed" : "attached" };
  if (task.kind !== "attach") {
    const { job, isReplay } = await submit(task, client, run, limits, (notice) =>
      log.retrying(notice, state.elapsedMs(clock.now())),
    );
    // On a re-run, it is the turn of an earlier attempt, which the service did not name when it was asked.
    const isOwn = !isReplay || runAttempt(ports.environment) > 1;
    updateState(job, isReplay && isOwn ? { kind: "attach", jobId: job.id, resumes: task.kind } : task, run);
    if (!isOwn) return { kind: "blocked", cause: "replayed", jobId: job.id };
    log.accepted(task.kind, job, state);
    if (signal.aborted) return { kind: "cancelled", operation: task.kind, acceptance: "accepted" };
    const isCreate = task.kind === "create";
    if (isCreate && isTerminal(job.status)) return { kind: "done", status: job.status };
    if (!inputs.wait) return { kind: "started" };
    origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
  }

  log.waiting(inputs, state);
  const until = inputs.wait ? "terminal" : "response";
  const readTurn = turnReader(inputs, client, run, limits);
  const { intervals } = inputs;
  const request = { ...limits, jobId: state.jobId, origin, startedAt, intervals, until, readTurn } as const;
  const wait = await waitForJob(request, client, { clock, random }, (event) => {
    if (event.kind === "polled") updateState(event.job, task, run);
    log.poll(event, state, state.elapsedMs(clock.now()));
    onPolled?.();
  }).finally(() => log.waited());
  // A single poll cannot tell whether this is the state from before the message, unless the service says how the turn ended.
  const hasTurnEnded = wait.kind === "done" && wait.turn !== undefined && hasEnded(wait.turn);
  if (wait.kind === "done" && isMessageResumed && !inputs.wait && !hasTurnEnded) return { kind: "started" };
  if (wait.kind === "done") state.isUnproven = inputs.wait && !wait.wasSeenToStart;
  return resultOfWait(wait, task);
}

/**
 * Returns a function that reads the status of the turn that the step waits for, if the service may say it: somebody else may
 * have sent a message to the job since.
 */
function turnReader(
  { task, wait }: Inputs,
  client: AgentJobClient,
  { key, state }: Run,
  limits: CallLimits,
): (() => Promise<TurnStatus | undefined>) | undefined {
  if (task.kind === "attach" && task.resumes === undefined) return undefined;
  // A single poll is worth a question only if the turn is known.
  if (!wait && (task.kind !== "attach" || task.turnId === undefined)) return undefined;
  let isUnannounced = false;
  return async () => {
    if (isUnannounced) return undefined;
    const announcement = await client.lookUpStep(key.of(""), limits).catch((error: unknown) => {
      // A service that has announced nothing may not know the question: its record counts.
      if (state.features === undefined && isRequestError(error)) return undefined;
      throw error;
    });
    isUnannounced = announcement === undefined;
    if (announcement === undefined) return undefined;
    state.features = announcement.features;
    const { turns } = announcement;
    const own = turns.find((turn) => turn.jobId === state.jobId && isOwnTurn(turn, task, key));
    state.updateTurns(turns, own);
    return own?.status;
  };
}

/** Returns whether a turn is the one that a task has sent, or waits for. */
function isOwnTurn({ turnId, request }: SentTurn, task: Task, key: StepKey): boolean {
  return task.kind === "attach" ? turnId === task.turnId : request === key.of(task.prompt, task.replaces).request;
}

function resultOfWait(wait: WaitResult, task: Task): RunResult {
  switch (wait.kind) {
    case "done": {
      const { status } = wait.job;
      if (!isTerminal(status)) return { kind: "started" };
      if (wait.turn === undefined) return { kind: "done", status };
      return { kind: "done", status: wait.turn === "completed" ? "completed" : "failed" };
    }
    case "timed-out":
      return wait;
    case "cancelled":
      return { kind: "cancelled", operation: operationOf(task), acceptance: "accepted" };
  }
}

function operationOf(task: Task): Operation {
  return task.kind === "attach" ? "poll" : task.kind;
}

function submit(
  task: SendingTask,
  client: AgentJobClient,
  { key, publishJobId }: Run,
  limits: CallLimits,
  onRetry: (notice: RetryNotice) => void,
): Promise<AcceptedSubmission> {
  const submission = { prompt: task.prompt, key: key.of(task.prompt, task.replaces) };
  return task.kind === "create"
    ? client.createJob({ ...submission, base: task.base }, limits, onRetry, publishJobId)
    : client.sendMessage(task.jobId, submission, limits, onRetry);
}

/** Merges a record into the state, and publishes the job's id before anything else can fail. */
function updateState(job: Job, task: Task, { ports, state, log, publishJobId }: Run): void {
  const isFirst = !state.hasRecord;
  const hadInvalidLink = state.hasInvalidLink;
  state.update(job, ports.clock.now());
  state.origin ||= originOf(task);
  if (isFirst) publishJobId(job.id);
  if (state.hasInvalidLink && !hadInvalidLink) log.invalidPullRequestLink(job.prLink);
}

function originOf(task: Task): JobOrigin {
  switch (task.kind) {
    case "create":
      return "created";
    case "message":
      return "continued";
    case "attach":
      return task.resumes ? "resumed" : "attached";
  }
}

function resultOfError(error: unknown, operation: Operation, { ports, state, log, publishJobId }: Run): RunResult {
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
