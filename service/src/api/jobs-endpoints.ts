import type { IncomingMessage, ServerResponse } from "node:http";
import { type Access, type Authenticator, bearerOf, requireWrite } from "../http/authentication.ts";
import { BodyReader } from "../http/body-reader.ts";
import { defaultMaxConnections, keepConnection } from "../http/connections.ts";
import type { Endpoint, Endpoints } from "../http/dispatch.ts";
import { HttpException } from "../http/http-exception.ts";
import { queryOf } from "../http/request-url.ts";
import type { apiRoutes } from "../http/routes.ts";
import { sendJson } from "../http/send-json.ts";
import type { Jobs, ReplayedRecord } from "../jobs/jobs.ts";
import { type JobRecord, parseTurnId, type RateLimited } from "../model.ts";
import { KeyReused, UnknownBase } from "../store-errors.ts";
import { describeTurn } from "./describe-turn.ts";
import { requestKey, sessionIn, stepIn } from "./idempotency-key.ts";
import { type PromptBody, readBody } from "./prompt-body.ts";

export interface ApiOptions {
  engine: Pick<Jobs, "create" | "message" | "get">;
  authenticator: Authenticator;
  /** Finds turns by the step of their key. Default: the service has no such endpoint. */
  steps?: Pick<Jobs, "findStep" | "findSession"> | undefined;
  /** Stops turns. Default: the service has no such endpoint. */
  turns?: Pick<Jobs, "stopTurn"> | undefined;
  /** Whether creates may name a base. Default: no. */
  takesBase?: boolean | undefined;
  /** Whether jobs have pages, at `/job/ID`. Default: no. */
  hasJobPages?: boolean | undefined;
  /** The path before a page's own, see `basePathOf`. Default: none. */
  basePath?: string | undefined;
  /** How many requests may wait for the end of a job at a time. Default: half of the allowed connections. */
  maxWaiting?: number | undefined;
  /** Aborts when the service stops. Default: never. */
  signal?: AbortSignal | undefined;
}

export interface Api {
  endpoints: Endpoints<Exclude<keyof typeof apiRoutes, Extra>> & Partial<Endpoints<Extra>>;
  /** Answers a request to an unknown path: only clients with a key learn that it is unknown. */
  notFound: (request: IncomingMessage) => Promise<never>;
}

/** The endpoints beyond the specification. */
type Extra = "findStep" | "endTurn";

type Headers = Readonly<Record<string, string>>;

/** The specification has no limit; this one only protects the memory. */
const maxBodyBytes = 32 * 1024 * 1024;

/** Four of the largest bodies. Each needs several times its size until it is stored. */
const bodyBudgetBytes = 4 * maxBodyBytes;

/** Returns the HTTP API of the agent job service. Specification: "Endpoints". */
export function createApi(options: ApiOptions): Api {
  const {
    engine,
    authenticator,
    steps,
    turns: control,
    takesBase = false,
    hasJobPages = false,
    basePath = "",
    signal: stop,
  } = options;
  const { maxWaiting = Math.floor(defaultMaxConnections() / 2) } = options;
  const bodies = new BodyReader(maxBodyBytes, bodyBudgetBytes);
  /** Requests that wait for the end of a job. */
  const waits = new Set<AbortController>();
  stop?.addEventListener("abort", () => {
    for (const wait of waits) wait.abort();
  });

  /** The callers of the requests that were admitted. */
  const callers = new WeakMap<IncomingMessage, Access>();

  function accessOf(request: IncomingMessage): Access {
    const access = callers.get(request);
    if (access === undefined) throw new Error("the request was not admitted");
    return access;
  }

  function callerOf(request: IncomingMessage): string {
    const { name, caller = name } = accessOf(request);
    return caller;
  }

  async function authenticate(request: IncomingMessage): Promise<Access> {
    const access = await authenticator.authenticate(bearerOf(request.headers.authorization));
    keepConnection(request);
    return access;
  }

  const forProject = {
    access: "key for the project",
    admit: async (request: IncomingMessage, path: { project: string; job?: string }): Promise<void> => {
      const access = await authenticate(request);
      callers.set(request, access);
      if (!access.projects.includes(decode(path.project))) throw new HttpException(404, "Project not found");
      if (request.method !== "GET" && request.method !== "HEAD") requireWrite(access);
      // A malformed path is rejected before its method is.
      if (path.job !== undefined) decode(path.job);
    },
  } as const;

  /** Reads the body of a create or message. Its key may be revoked while it comes in: what that starts would be paid for. */
  async function readPrompt(request: IncomingMessage, path: { project: string }): Promise<PromptBody> {
    const body = await readBody(request, bodies);
    await forProject.admit(request, path);
    const asker = accessOf(request).name.replace(/^repo /, "");
    return { ...body, context: { asker, ...body.context } };
  }

  function sendJob(response: ServerResponse, status: number, job: JobRecord, headers?: Headers): void {
    const page = `<${basePath}/job/${encodeURIComponent(job.id)}>; rel="alternate"; type="text/html"`;
    sendJson(response, status, job, { ...headers, ...(hasJobPages && { link: page }) });
  }

  /** Answers a create or message. */
  async function accept(
    response: ServerResponse,
    status: number,
    send: () => Promise<JobRecord | ReplayedRecord | RateLimited | undefined>,
  ): Promise<void> {
    const result = requireAccepted(requireJob(await send().catch(rejectInvalid)));
    if ("replayed" in result) sendJob(response, status, result.replayed, { "idempotent-replayed": "true" });
    else sendJob(response, status, result);
  }

  /** Answers when the job is no longer active, if the client prefers to wait for that. */
  async function show(
    request: IncomingMessage,
    response: ServerResponse,
    projectId: string,
    jobId: string,
  ): Promise<void> {
    const seconds = request.method === "GET" ? preferredWait(request.headers.prefer) : undefined;
    // Too many would leave no connections for creates, and one that stops ends them all. The client polls as if the service did
    // not know the header.
    if (seconds === undefined || waits.size >= maxWaiting || stop?.aborted)
      return sendJob(response, 200, requireJob(await engine.get(projectId, jobId)));
    const end = new AbortController();
    waits.add(end);
    response.once("close", () => end.abort());
    try {
      const job = requireJob(await engine.get(projectId, jobId, { ms: seconds * 1000, signal: end.signal }));
      sendJob(response, 200, job, end.signal.aborted ? {} : { "preference-applied": `wait=${seconds}` });
    } finally {
      waits.delete(end);
    }
  }

  return {
    endpoints: {
      createJob: {
        ...forProject,
        answer: async (request, response, { project }) => {
          const key = requestKey(request, callerOf(request));
          const { prompt, ...options } = await readPrompt(request, { project });
          if (options.base !== undefined && !takesBase) throw new HttpException(400, "base is not supported");
          await accept(response, 201, () => engine.create(decode(project), prompt, key, options));
        },
      },
      ...(steps && {
        findStep: {
          ...forProject,
          answer: async (request, response, { project }) => {
            const query = queryOf(request);
            const step = stepIn(query);
            const session = sessionIn(query);
            const claimedBy = query.get("claim") === "true" ? step : undefined;
            const caller = callerOf(request);
            const find = () => steps.findStep(decode(project), caller, step);
            const found = await find();
            const known = session && (await steps.findSession(decode(project), caller, session, claimedBy));
            // A newer copy of the job may have taken the place of the one that had them.
            const turns = known && found.length > 0 ? await find() : found;
            const isBusy = known && "until" in known;
            const ofSession = isBusy ? { job: known.job, busyUntil: new Date(known.until).toISOString() } : known;
            sendJson(response, 200, {
              step,
              // Tells a client whether its key arrives: something on the way may remove the header.
              key: requestKey(request, caller)?.request ?? null,
              features: [
                ...(takesBase ? ["base"] : []),
                "session",
                "sections",
                ...(control === undefined ? [] : ["stop"]),
              ],
              turns: turns.map(describeTurn),
              ...(session && { session: ofSession ?? null }),
            });
          },
        } satisfies Endpoint<"findStep">,
      }),
      ...(control && {
        endTurn: {
          ...forProject,
          answer: async (request, response, { project, job, turn }) => {
            const [jobId, id] = [decode(job), parseTurnId(turn)];
            const reason = `Stopped through the API (${accessOf(request).name}).`;
            const stopped = id && (await control.stopTurn(decode(project), jobId, id, reason));
            if (!stopped) throw new HttpException(404, "Turn not found");
            const { status } = stopped;
            const isEnding = status === "waiting" || status === "running";
            sendJson(response, isEnding ? 202 : 200, { turn, status });
          },
        } satisfies Endpoint<"endTurn">,
      }),
      readJob: {
        ...forProject,
        answer: (request, response, { project, job }) => show(request, response, decode(project), decode(job)),
      },
      sendMessage: {
        ...forProject,
        answer: async (request, response, path) => {
          const [project, job] = [decode(path.project), decode(path.job)];
          const key = requestKey(request, callerOf(request));
          requireJob(await engine.get(project, job));
          const { prompt, context } = await readPrompt(request, path);
          await accept(response, 200, () => engine.message(project, job, prompt, key, context));
        },
      },
    },
    notFound: async (request) => {
      await authenticate(request);
      throw new HttpException(404, "Not found");
    },
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpException(400, "Malformed path");
  }
}

function requireJob<T>(job: T | undefined): T {
  if (job === undefined) throw new HttpException(404, "Job not found");
  return job;
}

/** IETF HTTPAPI: "The Idempotency-Key HTTP Header Field", "Error Handling". */
function rejectInvalid(error: unknown): never {
  if (error instanceof UnknownBase) throw new HttpException(400, error.message);
  if (error instanceof KeyReused) throw new HttpException(422, "Idempotency-Key was used for another request");
  throw error;
}

function requireAccepted<T extends object>(result: T | RateLimited): T {
  if (!("retryAfterMs" in result)) return result;
  throw new HttpException(429, "Rate limit exceeded", { "retry-after": String(Math.ceil(result.retryAfterMs / 1000)) });
}

/** In seconds. Proxies commonly give up after 30 or 60 seconds without an answer. */
const maxWaitSeconds = 25;

/**
 * Returns how many seconds a client prefers to wait for an answer, from its `Prefer` headers: at most 25; `undefined` if the
 * client does not say. RFC 7240, sections 2 and 4.3.
 *
 * @param header - all `Prefer` headers, joined by commas
 */
function preferredWait(header: string | string[] | undefined): number | undefined {
  for (const preference of String(header ?? "").split(",")) {
    const seconds = /^\s*wait\s*=\s*("?)(\d{1,9})\1\s*(?:;|$)/i.exec(preference)?.[2];
    // If a preference is repeated, the first one counts.
    if (seconds !== undefined) return Math.min(Number(seconds), maxWaitSeconds);
  }
  return undefined;
}
