import type { CallLimits } from "../client/call-limits.ts";
import { type AgentJobClient, createClient, type RetryNotice } from "../client/client.ts";
import type { Clock } from "../client/clock.ts";
import { isTerminal, type Job } from "../client/contract.ts";
import type { Credentials } from "../client/credentials.ts";
import { isRequestError, SubmissionError } from "../client/errors.ts";
import type { Transport } from "../client/transport.ts";
import { type WaitOrigin, waitForJob } from "../client/wait.ts";
import { say } from "../runner-kit/text.ts";
import { excerpt } from "../runner-kit/untrusted.ts";
import type { Inputs, Task } from "./inputs/schema.ts";
import type { RunLog } from "./report/log.ts";
import type { Operation, RunResult } from "./result.ts";
import type { JobOrigin, RunState } from "./run-state.ts";

/** What running a job needs from outside. */
export interface JobPorts {
  clock: Clock;
  /** Returns a number in [0, 1). */
  random: () => number;
  /** What authenticates the requests to the service. */
  credentials: Credentials;
  /** Creates a transport; throws `NetworkError` if the proxy settings are invalid. */
  connect: (protocol: string) => Transport;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** Sets the `job-id` output; called as soon as the id is known. */
  publishJobId: (jobId: string) => void;
  /** Called after every poll, when its result is in the state and in the log. */
  onPolled?: () => void;
}

/** Returns the ports with one more function that is called as soon as a job's id is known. */
export function withJobIdListener(ports: JobPorts, onJobId?: (jobId: string) => void): JobPorts {
  const publishJobId = (jobId: string): void => {
    ports.publishJobId(jobId);
    onJobId?.(jobId);
  };
  return { ...ports, publishJobId };
}

/** Runs a task: sends the create or message, if there is one, and waits for the job. Never rejects. */
export async function runJob(inputs: Inputs, ports: JobPorts, state: RunState, log: RunLog): Promise<RunResult> {
  const { clock, random, signal } = ports;
  const { task } = inputs;
  const operation = task.kind === "attach" ? "poll" : task.kind;
  if (task.kind !== "create") state.jobId = task.jobId;
  if (signal.aborted) {
    return { kind: "cancelled", operation, acceptance: task.kind === "attach" ? "accepted" : "rejected" };
  }
  try {
    log.starting(inputs);
    const transport = ports.connect(inputs.baseUrl.protocol);
    const { baseUrl, projectId } = inputs;
    const client = createClient(
      { baseUrl, projectId, credentials: ports.credentials },
      { transport, clock, random, onTrace: (trace) => log.trace(trace) },
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
      updateState(job, task, ports, state, log);
      log.accepted(task.kind, job, state);
      if (signal.aborted) return { kind: "cancelled", operation, acceptance: "accepted" };
      const isCreate = task.kind === "create";
      if (isCreate && isTerminal(job.status)) return { kind: "done", status: job.status };
      if (!inputs.wait) return { kind: "started" };
      origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
    }

    log.waiting(inputs, state);
    const until = inputs.wait ? "terminal" : "response";
    const request = { ...limits, jobId: state.jobId, origin, startedAt, intervals: inputs.intervals, until } as const;
    const wait = await waitForJob(request, client, { clock, random }, (event) => {
      if (event.kind === "polled") updateState(event.job, task, ports, state, log);
      log.poll(event, state, state.elapsedMs(clock.now()));
      ports.onPolled?.();
    }).finally(() => log.waited());
    switch (wait.kind) {
      case "done": {
        const { status } = wait.job;
        // A single poll cannot tell whether this is the state from before the message.
        if (isMessageResumed && !inputs.wait) return { kind: "started" };
        return isTerminal(status) ? { kind: "done", status } : { kind: "started" };
      }
      case "timed-out":
        return wait;
      case "cancelled":
        return { kind: "cancelled", operation, acceptance: "accepted" };
    }
  } catch (error) {
    return resultOfError(error, operation, ports, state, log);
  }
}

function submit(
  task: Exclude<Task, { kind: "attach" }>,
  client: AgentJobClient,
  limits: CallLimits,
  onRetry: (notice: RetryNotice) => void,
): Promise<Job> {
  return task.kind === "create"
    ? client.createJob(task.prompt, limits, onRetry)
    : client.sendMessage(task.jobId, task.prompt, limits, onRetry);
}

/** Merges a record into the state, and publishes the job's id before anything else can fail. */
function updateState(job: Job, task: Task, { clock, publishJobId }: JobPorts, state: RunState, log: RunLog): void {
  const isFirst = !state.hasRecord;
  const hadInvalidLink = state.hasInvalidLink;
  state.update(job, clock.now());
  state.origin ||= originOf(task);
  if (isFirst) publishJobId(job.id);
  if (state.hasInvalidLink && !hadInvalidLink) {
    log.warn(
      "Invalid pull request link",
      say`The service returned ${excerpt(job.prLink, 300)} as the pull request, which is not an http(s) URL without credentials. Ignored.`,
    );
  }
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

function resultOfError(
  error: unknown,
  operation: Operation,
  { signal, publishJobId }: JobPorts,
  state: RunState,
  log: RunLog,
): RunResult {
  if (operation !== "poll" && error instanceof SubmissionError) {
    if (operation === "create" && error.jobId !== undefined) {
      state.jobId = error.jobId;
      state.origin = "created";
      publishJobId(error.jobId);
    }
    if (signal.aborted) return { kind: "cancelled", operation, acceptance: error.acceptance };
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
