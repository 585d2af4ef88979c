import type { CallLimits } from "../client/call-limits.ts";
import { type AgentJobClient, createClient, type RetryNotice } from "../client/client.ts";
import { isTerminal, type Job } from "../client/contract.ts";
import { isRequestError, SubmissionError } from "../client/errors.ts";
import { type WaitOrigin, type WaitResult, waitForJob } from "../client/wait.ts";
import type { SendingTask } from "./plan.ts";
import type { Operation, RunResult } from "./result.ts";
import type { Run } from "./run.ts";
import type { JobOrigin } from "./run-state.ts";
import type { Inputs, Task } from "./settings.ts";

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
  const publishJobId = (jobId: string): void => {
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
    return resultOfError(error, operation, job);
  }
}

async function submitAndWait(inputs: Inputs, run: Run, onPolled?: () => void): Promise<RunResult> {
  const { task, baseUrl, projectId } = inputs;
  const { ports, credentials, state, log } = run;
  const { clock, random, signal } = ports;
  log.starting(inputs);
  const client = createClient(
    { baseUrl, projectId, credentials },
    { transport: ports.connect(baseUrl.protocol), clock, random, onTrace: (trace) => log.trace(trace) },
  );
  // Comment mode has already sent requests to GitHub, and their time counts too.
  state.startedAt ??= clock.now();
  const { startedAt } = state;
  const limits: CallLimits = { deadline: startedAt + inputs.timeoutMs, signal };

  const isMessageResumed = task.kind === "attach" && task.resumes === "message";
  let origin: WaitOrigin = { kind: isMessageResumed ? "resumed" : "attached" };
  if (task.kind !== "attach") {
    const job = await submit(task, client, limits, ({ error, delayMs }) =>
      log.retrying(error, delayMs, state.elapsedMs(clock.now())),
    );
    updateState(job, task, run);
    log.accepted(task.kind, job, state);
    if (signal.aborted) return { kind: "cancelled", operation: task.kind, acceptance: "accepted" };
    const isCreate = task.kind === "create";
    if (isCreate && isTerminal(job.status)) return { kind: "done", status: job.status };
    if (!inputs.wait) return { kind: "started" };
    origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
  }

  log.waiting(inputs, state);
  const until = inputs.wait ? "terminal" : "response";
  const request = { ...limits, jobId: state.jobId, origin, startedAt, intervals: inputs.intervals, until } as const;
  const wait = await waitForJob(request, client, { clock, random }, (event) => {
    if (event.kind === "polled") updateState(event.job, task, run);
    log.poll(event, state, state.elapsedMs(clock.now()));
    onPolled?.();
  }).finally(() => log.waited());
  // A single poll cannot tell whether this is the state from before the message.
  if (wait.kind === "done" && isMessageResumed && !inputs.wait) return { kind: "started" };
  return resultOfWait(wait, task);
}

function resultOfWait(wait: WaitResult, task: Task): RunResult {
  switch (wait.kind) {
    case "done": {
      const { status } = wait.job;
      return isTerminal(status) ? { kind: "done", status } : { kind: "started" };
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
  limits: CallLimits,
  onRetry: (notice: RetryNotice) => void,
): Promise<Job> {
  return task.kind === "create"
    ? client.createJob(task.prompt, limits, onRetry)
    : client.sendMessage(task.jobId, task.prompt, limits, onRetry);
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
