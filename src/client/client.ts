import type { Clock } from "./clock.ts";
import { type Job, parseBody, parseErrorMessage, parseJob, salvageId } from "./contract.ts";
import { isRequestError, MalformedAnswerError, RefusalError, type RequestError, SubmissionError } from "./errors.ts";
import { createRedactor } from "./redact.ts";
import { backoffMs, judgeSubmission, parseRetryAfter } from "./retry.ts";
import { discreetly, type Trace, traced } from "./trace.ts";
import { type HttpAnswer, type HttpRequest, isSuccess, type Transport } from "./transport.ts";

/** One request has this long, or the time left where that is less; in milliseconds. */
const requestTimeoutMs = 30_000;
/** A create or message is not sent again, nor in comment mode at all, with less time left: no answer could come. */
export const leastTimeLeftMs = 1000;
/** How long connections that fail are tried again before a create or message is given up. */
const unreachableLimitMs = 60_000;
/** After an abort, a create in flight still gets this long for its answer, which holds the id of a job that runs. */
const createGraceMs = 5000;
/** A message in flight gets less: the id of its job is known. */
const messageGraceMs = 300;

/** Who asks, and where. */
export interface ServiceAddress {
  /** Base address; a path prefix is kept. */
  baseUrl: URL;
  projectId: string;
  apiKey: string;
}

/** What bounds a call. */
export interface CallLimits {
  /** Monotonic time of the clock by which all is over, in milliseconds. */
  deadline: number;
  signal: AbortSignal;
}

/** A request that will be sent again: why, and after how long. */
export interface RetryNotice {
  error: RequestError;
  delayMs: number;
}

export interface ClientPorts {
  transport: Transport;
  /** Is told of every request; the key is taken out of what it is told. */
  onTrace?: (trace: Trace) => void;
  clock: Clock;
  /** A number in [0, 1). */
  random: () => number;
}

/** The agent job service of one project. Specification: "Endpoints". */
export interface AgentJobClient {
  /**
   * Starts a job. Sent again only while the service has provably not taken it; throws {@link SubmissionError}.
   */
  createJob(prompt: string, limits: CallLimits, onRetry: (notice: RetryNotice) => void): Promise<Job>;
  /** Sends a follow-up message to a job, under the same rules as {@link AgentJobClient.createJob}. */
  sendMessage(jobId: string, prompt: string, limits: CallLimits, onRetry: (notice: RetryNotice) => void): Promise<Job>;
  /** Reads a job, once. Throws {@link RequestError}; the record of another job is a malformed answer. */
  getJob(jobId: string, limits: CallLimits): Promise<Job>;
}

/** A client of one project. All that the service says has passed through it without the key. */
export function createClient(address: ServiceAddress, ports: ClientPorts): AgentJobClient {
  const { clock, random, onTrace = () => {} } = ports;
  const redact = createRedactor(address.apiKey);
  const transport = traced(ports.transport, () => clock.now(), discreetly(onTrace, redact));
  const jobsPath = `/v2/agent/${encodeURIComponent(address.projectId)}/job`;

  async function request(
    method: HttpRequest["method"],
    path: string,
    limits: CallLimits,
    submission?: { prompt: string; graceMs: number },
  ): Promise<Job> {
    const answer = await transport({
      method,
      url: new URL(address.baseUrl.href.replace(/\/+$/, "") + path),
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        authorization: `Bearer ${address.apiKey}`,
        "user-agent": "agent-job-action",
        ...(submission && { "content-type": "application/json" }),
      },
      ...(submission && { body: JSON.stringify({ prompt: submission.prompt }), graceMs: submission.graceMs }),
      timeoutMs: Math.max(0, Math.min(requestTimeoutMs, limits.deadline - clock.now())),
      signal: limits.signal,
    });
    const data = parseBody(answer.body, redact);
    if (!isSuccess(answer.status)) throw refusal(answer, data);
    const job = parseJob(data);
    if (!job) throw new MalformedAnswerError(`HTTP ${answer.status} without a job record`, answer.body);
    return job;
  }

  function refusal(answer: HttpAnswer, data: unknown): RefusalError {
    return new RefusalError({
      status: answer.status,
      serviceMessage: parseErrorMessage(data),
      location: redact(answer.headers.location ?? ""),
      retryAfterMs: parseRetryAfter(answer.headers["retry-after"], clock.wallTime()),
      body: answer.body,
    });
  }

  async function submit(
    send: () => Promise<Job>,
    limits: CallLimits,
    onRetry: (notice: RetryNotice) => void,
  ): Promise<Job> {
    let unreachableSince: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const sentAt = clock.now();
      try {
        return await send();
      } catch (error) {
        if (!isRequestError(error)) throw error;
        const verdict = judgeSubmission(error);
        if (verdict === "unclear") throw new SubmissionError("unclear", error, salvageId(error.body, redact));
        if (verdict === "refused") throw new SubmissionError("no", error);
        if (verdict === "unreachable") unreachableSince ??= sentAt;
        else unreachableSince = undefined;
        if (limits.signal.aborted) throw new SubmissionError("no", error);
        const now = clock.now();
        const latest = Math.min(
          limits.deadline - leastTimeLeftMs,
          unreachableSince === undefined ? Number.POSITIVE_INFINITY : unreachableSince + unreachableLimitMs,
        );
        const leastDelayMs = retryAfterMs(error);
        if (now >= latest || now + leastDelayMs > latest) throw new SubmissionError("no", error);
        const delayMs = Math.min(Math.max(leastDelayMs, backoffMs(attempt, random())), latest - now);
        onRetry({ error, delayMs });
        await clock.sleep(delayMs, limits.signal);
      }
    }
  }

  return {
    createJob: (prompt, limits, onRetry) =>
      submit(() => request("POST", jobsPath, limits, { prompt, graceMs: createGraceMs }), limits, onRetry),
    sendMessage: (jobId, prompt, limits, onRetry) =>
      submit(
        async () => {
          const path = `${jobsPath}/${encodeURIComponent(jobId)}/message`;
          return ofJob(jobId, await request("POST", path, limits, { prompt, graceMs: messageGraceMs }));
        },
        limits,
        onRetry,
      ),
    getJob: async (jobId, limits) =>
      ofJob(jobId, await request("GET", `${jobsPath}/${encodeURIComponent(jobId)}`, limits)),
  };
}

function ofJob(jobId: string, job: Job): Job {
  if (job.id !== jobId) throw new MalformedAnswerError("it is the record of another job", "");
  return job;
}

function retryAfterMs(error: RequestError): number {
  return error instanceof RefusalError ? (error.retryAfterMs ?? 0) : 0;
}
