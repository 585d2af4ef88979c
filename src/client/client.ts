import { type HttpRequest, type HttpResponse, isSuccess, type Transport } from "../runner-kit/transport.ts";
import type { CallLimits } from "./call-limits.ts";
import type { Clock } from "./clock.ts";
import { type Job, parseBody, parseErrorMessage, parseJob } from "./contract.ts";
import type { Credentials } from "./credentials.ts";
import { HttpError, InvalidResponseError } from "./errors.ts";
import { formatIdempotencyKey, type IdempotencyKey, isReplayed } from "./idempotency-key.ts";
import { parseJobPage } from "./job-page.ts";
import { isWaitApplied, preferWait } from "./preference.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { type Announcement, parseAnnouncement, parseTurnStatus, type TurnStatus } from "./step-lookup.ts";
import { minTimeLeftMs, type RetryNotice, submit } from "./submit.ts";
import { safeTraceListener, type Trace, traceTransport } from "./trace.ts";

/** The timeout of one request, in milliseconds, unless less time is left. */
const requestTimeoutMs = 30_000;
/** After an abort, a create or message in flight gets this long for its response, which says whether it was accepted. */
const submissionGraceMs = 4000;
/** The longest answer to the question what was sent under a step that is waited for, in milliseconds. */
const lookupTimeoutMs = 10_000;

/** The service, the project and what authenticates requests. */
export interface ClientOptions {
  /** Base address. A path prefix is kept. */
  baseUrl: URL;
  projectId: string;
  credentials: Credentials;
  /** Whether the service is asked what was sent under a step. One that only has the specification's endpoints is not. */
  canBeAsked: boolean;
}

/** A create or message. */
export interface Submission {
  prompt: string;
  /** The branch that a new job starts from. Default: the project's own. */
  base?: string | undefined;
  key: IdempotencyKey;
}

/** A create or message that the service accepted. */
export interface AcceptedSubmission {
  job: Job;
  /** Whether the service had received it before, from somebody else: this call did not send it twice. */
  isReplay: boolean;
}

/** A job that was read. */
export interface JobReading {
  job: Job;
  /** How long the service took to respond, in milliseconds, if it says that it waited as it was asked to; otherwise 0. */
  heldMs: number;
  /** Monotonic time when it was sent: after the token was there. */
  sentAt: number;
}

export interface ClientPorts {
  transport: Transport;
  /** Called after every request. What it is given never contains a token. */
  onTrace?: (trace: Trace) => void;
  clock: Clock;
  /** Returns a number in [0, 1). */
  random: () => number;
}

interface RequestOptions {
  submission?: Submission;
  key?: IdempotencyKey;
  /** Default: 0. */
  holdSeconds?: number;
  /** In milliseconds, unless less time is left. Default: 30,000. */
  timeoutMs?: number;
}

/** The agent job service, for one project. Specification: "Endpoints". */
export interface AgentJobClient {
  /**
   * Creates a job. Sent again only if the service has provably not accepted it, or knows it by its key.
   *
   * @param onJobId - called with the id in a response that is in doubt, before anything else is sent. Untrusted text
   * @throws SubmissionError
   */
  createJob(
    submission: Submission,
    limits: CallLimits,
    onRetry: (notice: RetryNotice) => void,
    onJobId?: (jobId: string) => void,
  ): Promise<AcceptedSubmission>;
  /** Sends a follow-up message to a job, by the same rules as {@link AgentJobClient.createJob}. */
  sendMessage(
    jobId: string,
    submission: Submission,
    limits: CallLimits,
    onRetry: (notice: RetryNotice) => void,
  ): Promise<AcceptedSubmission>;
  /**
   * Gets a job, without retries.
   *
   * @param holdSeconds - how long the service is asked to wait for the end of the job before it responds. Default: 0
   * @throws RequestError, which includes a response with the record of another job
   */
  getJob(jobId: string, limits: CallLimits, holdSeconds?: number): Promise<JobReading>;
  /**
   * Asks what was sent under the step of a key, without retries; `undefined` if the service does not know the question (`404`,
   * `405`, `501`), or did not receive the key.
   *
   * @throws RequestError if that is unknown
   */
  lookUpStep(key: IdempotencyKey, limits: CallLimits): Promise<Announcement | undefined>;
  /**
   * Asks a service that announced `stop` to stop a turn, without retries. Returns the turn's status once no agent is running,
   * and `undefined` while it is ending.
   *
   * @throws RequestError
   */
  stopTurn(jobId: string, turnId: string, limits: CallLimits): Promise<TurnStatus | undefined>;
}

/** Creates a client for one project. Nothing that it returns or throws contains a token. */
export function createClient(options: ClientOptions, ports: ClientPorts): AgentJobClient {
  const { clock, random, onTrace = () => {} } = ports;
  const { credentials } = options;
  const redact = (text: string) => credentials.redact(text);
  const transport = traceTransport(ports.transport, () => clock.now(), safeTraceListener(onTrace, redact));
  const jobsPath = `/v2/agent/${encodeURIComponent(options.projectId)}/job`;

  async function send(
    method: HttpRequest["method"],
    path: string,
    limits: CallLimits,
    { submission, key, holdSeconds = 0, timeoutMs = requestTimeoutMs }: RequestOptions,
  ): Promise<{ response: HttpResponse; data: unknown; url: URL; sentAt: number; respondedAt: number }> {
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
        ...(key && { "idempotency-key": formatIdempotencyKey(key) }),
        ...(holdSeconds > 0 && { prefer: preferWait(holdSeconds) }),
      },
      ...(submission && {
        body: JSON.stringify({ prompt: submission.prompt, base: submission.base }),
        graceMs: submissionGraceMs,
      }),
      timeoutMs: Math.max(0, Math.min(timeoutMs, limits.deadline - clock.now())),
      signal: limits.signal,
    });
    const respondedAt = clock.now();
    const data = parseBody(response.body, redact);
    if (!isSuccess(response.status)) throw httpError(response, data, sentAt);
    return { response, data, url, sentAt, respondedAt };
  }

  /** Sends a request that is answered with a job record. */
  async function request(
    method: HttpRequest["method"],
    path: string,
    limits: CallLimits,
    requestOptions: RequestOptions,
  ): Promise<JobReading & { isReplayed: boolean }> {
    const { holdSeconds = 0 } = requestOptions;
    const { response, data, url, sentAt, respondedAt } = await send(method, path, limits, requestOptions);
    const job = parseJob(data);
    if (!job) throw new InvalidResponseError(`HTTP ${response.status} without a job record`, response.body);
    const pageUrl = parseJobPage(response.headers.link, url);
    // A link that contains a token cannot be shown, and would lead nowhere without it.
    const isPageHidden = pageUrl === undefined || redact(pageUrl) !== pageUrl;
    return {
      job: isPageHidden ? job : { ...job, pageUrl },
      sentAt,
      heldMs: holdSeconds > 0 && isWaitApplied(response.headers["preference-applied"]) ? respondedAt - sentAt : 0,
      isReplayed: isReplayed(response.headers["idempotent-replayed"]),
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

  async function lookUpStep(key: IdempotencyKey, limits: CallLimits): Promise<Announcement | undefined> {
    if (!options.canBeAsked) return undefined;
    const path = `${jobsPath}?step=${encodeURIComponent(key.step)}`;
    try {
      // The key goes with the question, so that the service can say that something on the way removes it.
      const { response, data } = await send("GET", path, limits, { key, timeoutMs: lookupTimeoutMs });
      const announcement = parseAnnouncement(data, key.step);
      if (announcement === "unusable") throw new InvalidResponseError("it announces nothing", response.body);
      return announcement === "keyless" ? undefined : announcement;
    } catch (error) {
      if (error instanceof HttpError && [404, 405, 501].includes(error.status)) return undefined;
      throw error;
    }
  }

  async function submitTo(
    path: string,
    submission: Submission,
    limits: CallLimits,
    onRetry: (notice: RetryNotice) => void,
    {
      check = () => {},
      onJobId = () => {},
    }: { check?: (reading: JobReading) => void; onJobId?: ((jobId: string) => void) | undefined } = {},
  ): Promise<AcceptedSubmission> {
    const { key } = submission;
    const post = async () => {
      const reading = await request("POST", path, limits, { submission, key });
      check(reading);
      return reading;
    };
    const ask = () => lookUpStep(key, limits);
    const { accepted, wasInDoubt } = await submit(post, limits, { clock, random, redact, ask, onJobId }, onRetry);
    return { job: accepted.job, isReplay: accepted.isReplayed && !wasInDoubt };
  }

  return {
    lookUpStep,
    stopTurn: async (jobId, turnId, limits) => {
      const path = `${jobsPath}/${encodeURIComponent(jobId)}/turn/${encodeURIComponent(turnId)}/stop`;
      const { response, data } = await send("POST", path, limits, { timeoutMs: lookupTimeoutMs });
      if (response.status !== 200) return undefined;
      const status = parseTurnStatus(data);
      if (status === undefined) throw new InvalidResponseError("it has no status of a turn", response.body);
      return status;
    },
    createJob: (submission, limits, onRetry, onJobId) => submitTo(jobsPath, submission, limits, onRetry, { onJobId }),
    sendMessage: (jobId, submission, limits, onRetry) =>
      submitTo(`${jobsPath}/${encodeURIComponent(jobId)}/message`, submission, limits, onRetry, {
        check: (reading) => expectJob(jobId, reading),
      }),
    getJob: async (jobId, limits, holdSeconds = 0) =>
      expectJob(jobId, await request("GET", `${jobsPath}/${encodeURIComponent(jobId)}`, limits, { holdSeconds })),
  };
}

function expectJob(jobId: string, reading: JobReading): JobReading {
  if (reading.job.id !== jobId) throw new InvalidResponseError("it is the record of another job", "");
  return reading;
}
