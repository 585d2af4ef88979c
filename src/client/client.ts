import { type HttpRequest, type HttpResponse, isSuccess, type Transport } from "../runner-kit/transport.ts";
import type { CallLimits, Clock } from "./clock.ts";
import { type IdempotencyKey, isObject, type Job, parseBody, parseErrorMessage, parseJob, textOf } from "./contract.ts";
import type { Credentials } from "./credentials.ts";
import { HttpError, InvalidResponseError } from "./errors.ts";
import { parseJobPage } from "./job-page.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { type Announcement, parseAnnouncement, parseTurnStatus, type TurnStatus } from "./step-lookup.ts";
import { minTimeLeftMs, type RetryNotice, submit } from "./submit.ts";
import { createTracer, type TraceListener, traceTransport } from "./trace.ts";

/** The timeout of one request, in milliseconds, unless less time is left. */
const requestTimeoutMs = 30_000;
/** After an abort, a create or message in flight gets this long for its response, which says whether it was accepted. */
const submissionGraceMs = 4000;
/** The longest answer to the question what was sent under a step that is waited for, in milliseconds. */
const lookupTimeoutMs = 10_000;

export interface ClientOptions {
  /** Base address. A path prefix is kept. */
  baseUrl: URL;
  projectId: string;
  credentials: Credentials;
  /** The `User-Agent` of requests. */
  userAgent: string;
  /** Whether the service is asked what was sent under a step. One that only has the specification's endpoints is not. */
  canBeAsked: boolean;
  /** The last answer to the question what was sent that named a time before which it is not asked again. Kept by the client. */
  asked: { rejected?: HttpError; until?: number };
}

export interface Submission {
  prompt: string;
  /** The branch that a new job starts from. Default: the project's own. */
  base?: string | undefined;
  /** What a service that announces sessions finds the new job by. Default: nothing. */
  session?: string | undefined;
  /** What the agent is told after the prompt. This and what follows are only for a service that announces `sections`. */
  sections?: readonly string[] | undefined;
  /** Who asked: a login, the address of the issue or pull request, and the workflow run's. */
  asked?: Partial<Record<"by" | "in" | "run", string | undefined>> | undefined;
  /** The commit up to which the sections tell of changes, after `+` if not of all that the session was not told of. */
  covers?: string | undefined;
  key: IdempotencyKey;
}

/** A create or message that the service accepted. */
export interface AcceptedSubmission {
  job: Job;
  /** Whether the service had received it before, from somebody else: this call did not send it twice. */
  isReplay: boolean;
}

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
  onTrace?: TraceListener;
  clock: Clock;
  random: () => number;
}

interface RequestOptions {
  submission?: Submission;
  /** Default: the submission's. */
  key?: IdempotencyKey | undefined;
  /** Default: 0. */
  holdSeconds?: number;
  /** The job whose record the response has to be. Default: any. */
  jobId?: string | undefined;
  /** In milliseconds, unless less time is left. Default: 30,000. */
  timeoutMs?: number;
}

export type AgentJobClient = ReturnType<typeof createClient>;

/** Creates a client for one project. Nothing it returns or throws contains a token. Specification: "Endpoints". */
export function createClient(options: ClientOptions, ports: ClientPorts) {
  const { clock, random, onTrace = () => {} } = ports;
  const { credentials } = options;
  const redact = (text: string) => credentials.redact(text);
  const transport = traceTransport(ports.transport, () => clock.now(), createTracer(onTrace, redact));
  const jobsPath = `/v2/agent/${encodeURIComponent(options.projectId)}/job`;
  const pathOf = (jobId: string): string => `${jobsPath}/${encodeURIComponent(jobId)}`;

  async function send(
    method: HttpRequest["method"],
    path: string,
    limits: CallLimits,
    { submission, key = submission?.key, holdSeconds = 0, timeoutMs = requestTimeoutMs }: RequestOptions,
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
        "user-agent": options.userAgent,
        ...(submission && { "content-type": "application/json" }),
        // A string: IETF draft "The Idempotency-Key HTTP Header Field"; RFC 9651, section 3.3.3.
        ...(key && { "idempotency-key": `"${key.step}.${key.request}"` }),
        // Asks the service to hold its response until the job ends, but not longer: RFC 7240, section 4.3.
        ...(holdSeconds > 0 && { prefer: `wait=${holdSeconds}` }),
      },
      ...(submission && {
        body: JSON.stringify({ ...submission, key: undefined }),
        graceMs: submissionGraceMs,
      }),
      timeoutMs: Math.max(0, Math.min(timeoutMs, limits.deadline - clock.now())),
      signal: limits.signal,
    });
    const respondedAt = clock.now();
    const data = parseBody(response.body, redact);
    if (!isSuccess(response.status))
      throw new HttpError({
        status: response.status,
        serviceMessage: parseErrorMessage(data, redact(response.body)),
        // Gateways have their own: Kong and AWS write `message`. Specification: "error body".
        isOfService: isObject(data) && textOf(data.error).trim() !== "",
        location: redact(response.headers.location ?? ""),
        retryAfterMs: parseRetryAfter(response.headers["retry-after"], response.headers.date, clock.wallTime()),
        sentAt,
      });
    return { response, data, url, sentAt, respondedAt };
  }

  async function request(
    method: HttpRequest["method"],
    path: string,
    limits: CallLimits,
    requestOptions: RequestOptions,
  ): Promise<JobReading & { isReplayed: boolean }> {
    const { response, data, url, sentAt, respondedAt } = await send(method, path, limits, requestOptions);
    const job = parseJob(data);
    if (!job) throw new InvalidResponseError(`HTTP ${response.status} without a job record`, response.body);
    if (job.id !== (requestOptions.jobId ?? job.id))
      throw new InvalidResponseError("it is the record of another job", "");
    const pageUrl = parseJobPage(response.headers.link, url);
    // A link that contains a token cannot be shown, and would lead nowhere without it.
    const isPageHidden = pageUrl === undefined || redact(pageUrl) !== pageUrl;
    return {
      job: isPageHidden ? job : { ...job, pageUrl },
      sentAt,
      heldMs: isWaitApplied(response.headers["preference-applied"]) ? respondedAt - sentAt : 0,
      isReplayed: response.headers["idempotent-replayed"]?.trim().toLowerCase() === "true",
    };
  }

  /** Sends a message to a job, or a create without one. */
  async function submitTo(
    jobId: string | undefined,
    submission: Submission,
    limits: CallLimits,
    onRetry: (notice: RetryNotice) => void,
    onJobId: (jobId: string) => void = () => {},
  ): Promise<AcceptedSubmission> {
    const path = jobId === undefined ? jobsPath : `${pathOf(jobId)}/message`;
    const post = () => request("POST", path, limits, { submission, jobId });
    const ask = () => client.lookUpStep(submission.key, limits);
    const { accepted, wasInDoubt } = await submit(post, limits, { clock, random, redact, ask, onJobId }, onRetry);
    return { job: accepted.job, isReplay: accepted.isReplayed && !wasInDoubt };
  }

  const client = {
    /** Creates a job. `onJobId` gets the untrusted id in a response that is in doubt. @throws SubmissionError */
    createJob: (
      submission: Submission,
      limits: CallLimits,
      onRetry: (notice: RetryNotice) => void,
      onJobId?: (jobId: string) => void,
    ) => submitTo(undefined, submission, limits, onRetry, onJobId),

    /** Sends a follow-up message to a job, by the same rules. */
    sendMessage: (jobId: string, submission: Submission, limits: CallLimits, onRetry: (notice: RetryNotice) => void) =>
      submitTo(jobId, submission, limits, onRetry),

    /** Gets a job, without retries; the service may hold it for `holdSeconds`. @throws RequestError, also for another job */
    getJob: async (jobId: string, limits: CallLimits, holdSeconds = 0): Promise<JobReading> => {
      const reading = await request("GET", pathOf(jobId), limits, { holdSeconds, jobId });
      return holdSeconds > 0 ? reading : { ...reading, heldMs: 0 };
    },

    /**
     * Asks what was sent under the step of a key, and which job a session continues; `undefined` if the service does not know the
     * question (`404`, `405`, `501`), or did not receive the key. @throws RequestError if that is unknown
     *
     * @param isClaimed - whether the session is to be busy for other machines from now on, unless it is. Default: no
     */
    lookUpStep: async (
      key: IdempotencyKey,
      limits: CallLimits,
      session?: string,
      isClaimed = false,
    ): Promise<Announcement | undefined> => {
      if (!options.canBeAsked) return undefined;
      const { asked } = options;
      const waitMs = (asked.until ?? 0) - clock.now();
      if (asked.rejected && waitMs > 0) throw new HttpError({ ...asked.rejected, retryAfterMs: waitMs });
      const query = new URLSearchParams({
        step: key.step,
        ...(session !== undefined && { session }),
        ...(isClaimed && { claim: "true" }),
      });
      const path = `${jobsPath}?${query}`;
      try {
        // The key goes with the question, so that the service can say that something on the way removes it.
        const { response, data } = await send("GET", path, limits, { key, timeoutMs: lookupTimeoutMs });
        const announcement = parseAnnouncement(data, key.step);
        if (announcement === "unusable") throw new InvalidResponseError("it announces nothing", response.body);
        return announcement === "keyless" ? undefined : announcement;
      } catch (error) {
        if (error instanceof HttpError && [404, 405, 501].includes(error.status)) return undefined;
        if (error instanceof HttpError && error.retryAfterMs !== undefined)
          Object.assign(asked, { rejected: error, until: clock.now() + error.retryAfterMs });
        throw error;
      }
    },

    /** Asks to stop a turn, once. Returns its status, `undefined` while it is ending. @throws RequestError */
    stopTurn: async (jobId: string, turnId: string, limits: CallLimits): Promise<TurnStatus | undefined> => {
      const path = `${pathOf(jobId)}/turn/${encodeURIComponent(turnId)}/stop`;
      const { response, data } = await send("POST", path, limits, { timeoutMs: lookupTimeoutMs });
      if (response.status !== 200) return undefined;
      const status = parseTurnStatus(data);
      if (status === undefined) throw new InvalidResponseError("it has no status of a turn", response.body);
      return status;
    },
  };
  return client;
}

/** Returns whether `Preference-Applied` names `wait`, with or without a value (RFC 7240, section 3). */
function isWaitApplied(preferenceApplied = ""): boolean {
  return preferenceApplied.split(",").some((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference));
}
