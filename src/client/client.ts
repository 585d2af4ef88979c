import type { CallLimits } from "./call-limits.ts";
import type { Clock } from "./clock.ts";
import { type Job, parseBody, parseErrorMessage, parseJob } from "./contract.ts";
import type { Credentials } from "./credentials.ts";
import { HttpError, InvalidResponseError, isRequestError, type RequestError, SubmissionError } from "./errors.ts";
import { parseJobPage } from "./job-page.ts";
import { isWaitApplied, preferWait } from "./preference.ts";
import { backoffMs, classifySubmissionFailure } from "./retry.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { salvageId } from "./salvage-id.ts";
import { safeTraceListener, type Trace, traceTransport } from "./trace.ts";
import { type HttpRequest, type HttpResponse, isSuccess, type Transport } from "./transport.ts";

/** The timeout of one request, in milliseconds, unless less time is left. */
const requestTimeoutMs = 30_000;
/** A create or message is not sent with less time left, in milliseconds: no response could arrive. */
export const minTimeLeftMs = 1000;
/** How long failing connections are retried before a create or message is given up, in milliseconds. */
const unreachableLimitMs = 60_000;
/** After an abort, a create in flight gets this long for its response, which contains the id of a running job. */
const createGraceMs = 5000;
/** A message in flight gets less: the id of its job is already known. */
const messageGraceMs = 300;

/** The service, the project and what authenticates requests. */
export interface ClientOptions {
  /** Base address. A path prefix is kept. */
  baseUrl: URL;
  projectId: string;
  credentials: Credentials;
}

/** A job that was read. */
export interface JobReading {
  job: Job;
  /** How long the service took to respond, in milliseconds, if it says that it waited as it was asked to; otherwise 0. */
  heldMs: number;
  /** Monotonic time when it was sent: after the token was there. */
  sentAt: number;
}

/** Announces that a request will be sent again. */
export interface RetryNotice {
  error: RequestError;
  delayMs: number;
}

export interface ClientPorts {
  transport: Transport;
  /** Called after every request. What it is given never contains a token. */
  onTrace?: (trace: Trace) => void;
  clock: Clock;
  /** Returns a number in [0, 1). */
  random: () => number;
}

/** The agent job service, for one project. Specification: "Endpoints". */
export interface AgentJobClient {
  /**
   * Creates a job. Retried only if the service has provably not accepted it.
   *
   * @throws SubmissionError
   */
  createJob(prompt: string, limits: CallLimits, onRetry: (notice: RetryNotice) => void): Promise<Job>;
  /** Sends a follow-up message to a job, by the same rules as {@link AgentJobClient.createJob}. */
  sendMessage(jobId: string, prompt: string, limits: CallLimits, onRetry: (notice: RetryNotice) => void): Promise<Job>;
  /**
   * Gets a job, without retries.
   *
   * @param holdSeconds - how long the service is asked to wait for the end of the job before it responds. Default: 0
   * @throws RequestError, which includes a response with the record of another job
   */
  getJob(jobId: string, limits: CallLimits, holdSeconds?: number): Promise<JobReading>;
}

/** Creates a client for one project. Nothing that it returns or throws contains a token. */
export function createClient(options: ClientOptions, ports: ClientPorts): AgentJobClient {
  const { clock, random, onTrace = () => {} } = ports;
  const { credentials } = options;
  const redact = (text: string) => credentials.redact(text);
  const transport = traceTransport(ports.transport, () => clock.now(), safeTraceListener(onTrace, redact));
  const jobsPath = `/v2/agent/${encodeURIComponent(options.projectId)}/job`;

  async function request(
    method: HttpRequest["method"],
    path: string,
    limits: CallLimits,
    { submission, holdSeconds = 0 }: { submission?: { prompt: string; graceMs: number }; holdSeconds?: number },
  ): Promise<JobReading> {
    const url = new URL(options.baseUrl.href.replace(/\/+$/, "") + path);
    // A create or message must not be sent so late that no response could arrive.
    const tokenDeadline = limits.deadline - (submission ? minTimeLeftMs : 0);
    const token = await credentials.token({ ...limits, deadline: tokenDeadline });
    const sentAt = clock.now();
    const response = await transport({
      method,
      url,
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        authorization: `Bearer ${token}`,
        "user-agent": "agent-job-action",
        ...(submission && { "content-type": "application/json" }),
        ...(holdSeconds > 0 && { prefer: preferWait(holdSeconds) }),
      },
      ...(submission && { body: JSON.stringify({ prompt: submission.prompt }), graceMs: submission.graceMs }),
      timeoutMs: Math.max(0, Math.min(requestTimeoutMs, limits.deadline - clock.now())),
      signal: limits.signal,
    });
    const respondedAt = clock.now();
    const data = parseBody(response.body, redact);
    if (!isSuccess(response.status)) throw httpError(response, data, sentAt);
    const job = parseJob(data);
    if (!job) throw new InvalidResponseError(`HTTP ${response.status} without a job record`, response.body);
    const pageUrl = parseJobPage(response.headers.link, url);
    // A link that contains a token cannot be shown, and would lead nowhere without it.
    const isPageHidden = pageUrl === undefined || redact(pageUrl) !== pageUrl;
    return {
      job: isPageHidden ? job : { ...job, pageUrl },
      sentAt,
      heldMs: holdSeconds > 0 && isWaitApplied(response.headers["preference-applied"]) ? respondedAt - sentAt : 0,
    };
  }

  function httpError(response: HttpResponse, data: unknown, sentAt: number): HttpError {
    return new HttpError({
      status: response.status,
      serviceMessage: parseErrorMessage(data),
      location: redact(response.headers.location ?? ""),
      retryAfterMs: parseRetryAfter(response.headers["retry-after"], response.headers.date, clock.wallTime()),
      sentAt,
    });
  }

  async function submit(
    send: () => Promise<JobReading>,
    limits: CallLimits,
    onRetry: (notice: RetryNotice) => void,
  ): Promise<Job> {
    let unreachableSince: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const sentAt = clock.now();
      try {
        return (await send()).job;
      } catch (error) {
        if (!isRequestError(error)) throw error;
        const { acceptance, retry } = classifySubmissionFailure(error);
        if (acceptance === "unknown") {
          // Only a 2xx contains a job's id; the `id` of an error belongs to the error, or to a gateway's trace.
          const jobId = "body" in error ? salvageId(error.body, redact) : undefined;
          throw new SubmissionError("unknown", error, jobId);
        }
        if (retry === "never" || limits.signal.aborted) throw new SubmissionError("rejected", error);
        unreachableSince = retry === "unreachable" ? (unreachableSince ?? sentAt) : undefined;
        const now = clock.now();
        const latest = Math.min(
          limits.deadline - minTimeLeftMs,
          unreachableSince === undefined ? Number.POSITIVE_INFINITY : unreachableSince + unreachableLimitMs,
        );
        const minDelayMs = error instanceof HttpError ? (error.retryAfterMs ?? 0) : 0;
        if (now >= latest || now + minDelayMs > latest) throw new SubmissionError("rejected", error);
        const delayMs = Math.min(Math.max(minDelayMs, backoffMs(attempt, random())), latest - now);
        onRetry({ error, delayMs });
        await clock.sleep(delayMs, limits.signal);
      }
    }
  }

  return {
    createJob: (prompt, limits, onRetry) =>
      submit(
        () => request("POST", jobsPath, limits, { submission: { prompt, graceMs: createGraceMs } }),
        limits,
        onRetry,
      ),
    sendMessage: (jobId, prompt, limits, onRetry) =>
      submit(
        async () => {
          const path = `${jobsPath}/${encodeURIComponent(jobId)}/message`;
          return expectJob(
            jobId,
            await request("POST", path, limits, { submission: { prompt, graceMs: messageGraceMs } }),
          );
        },
        limits,
        onRetry,
      ),
    getJob: async (jobId, limits, holdSeconds = 0) =>
      expectJob(jobId, await request("GET", `${jobsPath}/${encodeURIComponent(jobId)}`, limits, { holdSeconds })),
  };
}

function expectJob(jobId: string, reading: JobReading): JobReading {
  if (reading.job.id !== jobId) throw new InvalidResponseError("it is the record of another job", "");
  return reading;
}
