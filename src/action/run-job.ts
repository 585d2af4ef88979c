import { type AgentJobClient, type CallLimits, createClient, type RetryNotice } from "../client/client.ts";
import type { Clock } from "../client/clock.ts";
import { isTerminal, type Job } from "../client/contract.ts";
import { isRequestError, SubmissionError } from "../client/errors.ts";
import type { Transport } from "../client/transport.ts";
import { type WaitOrigin, waitForJob } from "../client/wait.ts";
import type { Inputs, Task } from "./inputs/schema.ts";
import type { Ending, Operation } from "./outcome.ts";
import type { RunLog } from "./report/log.ts";
import { say } from "./report/text.ts";
import { excerpt } from "./report/untrusted.ts";
import type { Facts } from "./run-state.ts";

/** What a run needs from outside. */
export interface RunPorts {
  clock: Clock;
  /** A number in [0, 1). */
  random: () => number;
  /** Makes the way to the service; throws `ExchangeError` where the proxy settings rule one out. */
  connect: (protocol: string) => Transport;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** Hands on the id of a job as soon as it is known. */
  announceJob: (jobId: string) => void;
}

/** The story of a run: (create | message |) wait. */
export async function run(inputs: Inputs, ports: RunPorts, facts: Facts, log: RunLog): Promise<Ending> {
  const { clock, random, signal } = ports;
  const { task } = inputs;
  const operation = task.kind === "attach" ? "poll" : task.kind;
  if (task.kind !== "create") facts.jobId = task.jobId;
  if (signal.aborted) return { kind: "cancelled", operation, taken: task.kind === "attach" ? "yes" : "no" };
  try {
    log.starting(inputs);
    const transport = ports.connect(inputs.baseUrl.protocol);
    const client = createClient(inputs, { transport, clock, random, onTrace: (trace) => log.trace(trace) });
    // Comment mode has asked GitHub before: that counts toward the time too.
    facts.startedAt ??= clock.now();
    const { startedAt } = facts;
    const limits: CallLimits = { deadline: startedAt + inputs.timeoutMs, signal };

    let origin: WaitOrigin = { kind: "attached" };
    if (task.kind !== "attach") {
      const job = await submit(task, client, limits, (notice) =>
        log.retrying(notice.error, notice.delayMs, facts.elapsedMs(clock.now())),
      );
      learn(job, ports, facts, log);
      log.submitted(task.kind, job, facts);
      if (signal.aborted) return { kind: "cancelled", operation, taken: "yes" };
      const isCreate = task.kind === "create";
      if (isCreate && (!inputs.wait || isTerminal(job.status))) return { kind: "settled", job };
      if (!inputs.wait) return { kind: "started" };
      origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
    }

    log.waiting(inputs, facts);
    const until = inputs.wait ? "terminal" : "answer";
    const request = { ...limits, jobId: facts.jobId, origin, startedAt, intervals: inputs.intervals, until } as const;
    const result = await waitForJob(request, client, { clock, random }, (event) => {
      if (event.kind === "polled") learn(event.job, ports, facts, log);
      log.poll(event, facts.elapsedMs(clock.now()));
    }).finally(() => log.waited());
    switch (result.end) {
      case "settled":
        return { kind: "settled", job: result.job };
      case "timed-out":
        return { kind: "timed-out", ...(result.lastError && { lastError: result.lastError }) };
      case "cancelled":
        return { kind: "cancelled", operation, taken: "yes" };
    }
  } catch (error) {
    return endingOf(error, operation, ports, facts, log);
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

/** Takes in a record; a job's id is handed on at once, whatever comes after. */
function learn(job: Job, { clock, announceJob }: RunPorts, facts: Facts, log: RunLog): void {
  const isNew = facts.timeline.length === 0;
  const hadBadLink = facts.hasBadLink;
  facts.learn(job, clock.now());
  if (isNew) announceJob(job.id);
  if (facts.hasBadLink && !hadBadLink) {
    log.warn(
      "Unusable pull request link",
      say`The service gave ${excerpt(job.prLink, 300)} as the pull request, which is no http(s) address without credentials. It counts as none.`,
    );
  }
}

function endingOf(error: unknown, operation: Operation, ports: RunPorts, facts: Facts, log: RunLog): Ending {
  if (operation !== "poll" && error instanceof SubmissionError) {
    if (operation === "create" && error.jobId !== undefined) {
      facts.jobId = error.jobId;
      ports.announceJob(error.jobId);
    }
    if (ports.signal.aborted) return { kind: "cancelled", operation, taken: error.taken };
    return { kind: "not-submitted", operation, error };
  }
  if (isRequestError(error)) {
    // Before the answer to a create or message there is no poll: then there was no way to the service at all.
    return operation !== "poll" && facts.timeline.length === 0
      ? { kind: "not-submitted", operation, error: new SubmissionError("no", error) }
      : { kind: "poll-refused", error };
  }
  log.debug(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return { kind: "broken", error };
}
