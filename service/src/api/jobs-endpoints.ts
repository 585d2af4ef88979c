import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Authenticator, bearerOf } from "../http/authentication.ts";
import { BodyReader } from "../http/body-reader.ts";
import { defaultMaxConnections, keepConnection } from "../http/connections.ts";
import { failedRequest } from "../http/failed-request.ts";
import { HttpException } from "../http/http-exception.ts";
import { sendJson } from "../http/send-json.ts";
import type { Engine } from "../jobs/engine.ts";
import type { Log } from "../log/log.ts";
import type { JobRecord, RateLimited } from "../model.ts";
import { preferredWait } from "./preferred-wait.ts";

export interface ApiOptions {
  engine: Engine;
  authenticator: Authenticator;
  /** Whether jobs have pages, at `/job/ID`. Default: no. */
  hasJobPages?: boolean | undefined;
  /** How many requests wait for the end of a job at a time. Default: half of the connections that are allowed. */
  maxWaiting?: number | undefined;
  /** Aborts when the service stops. Default: never. */
  signal?: AbortSignal | undefined;
  /** Receives unexpected errors, with their stack. */
  log: Log;
}

interface Reply {
  status: number;
  /** Not `unknown`, so that a missing `await` is a type error. */
  body: JobRecord | { error: string };
  headers?: Readonly<Record<string, string>>;
}

/** The specification gives no limit; this one only protects the memory. */
const maxBodyBytes = 32 * 1024 * 1024;

/** Four of the largest bodies. Each takes several times its size until it is stored. */
const bodyBudgetBytes = 4 * maxBodyBytes;

const route = /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+)(\/message)?)?$/;

/** Returns the HTTP API of the agent job service. Specification: "Endpoints". */
export function createApi(options: ApiOptions): RequestListener {
  const { engine, authenticator, hasJobPages = false, signal: stop, log } = options;
  const { maxWaiting = Math.floor(defaultMaxConnections() / 2) } = options;
  const bodies = new BodyReader(maxBodyBytes, bodyBudgetBytes);
  /** Of the requests that wait for the end of a job. */
  const waits = new Set<AbortController>();
  stop?.addEventListener("abort", () => {
    for (const wait of waits) wait.abort();
  });

  function jobReply(status: number, job: JobRecord, headers?: Readonly<Record<string, string>>): Reply {
    const page = `</job/${encodeURIComponent(job.id)}>; rel="alternate"; type="text/html"`;
    return { status, body: job, headers: { ...headers, ...(hasJobPages && { link: page }) } };
  }

  /** Answers when the job is not active any more, if the client prefers to wait for that. */
  async function show(
    projectId: string,
    jobId: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Reply> {
    const seconds = request.method === "GET" ? preferredWait(request.headers.prefer) : undefined;
    // Too many would leave no connections for creates, and one that stops ends them all. The client polls as if the service did
    // not know the header.
    if (seconds === undefined || waits.size >= maxWaiting || stop?.aborted)
      return jobReply(200, requireJob(await engine.get(projectId, jobId)));
    const end = new AbortController();
    waits.add(end);
    response.once("close", () => end.abort());
    try {
      const job = requireJob(await engine.get(projectId, jobId, { ms: seconds * 1000, signal: end.signal }));
      return jobReply(200, job, end.signal.aborted ? {} : { "preference-applied": `wait=${seconds}` });
    } finally {
      waits.delete(end);
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<Reply> {
    const { projects } = await authenticator.authenticate(bearerOf(request.headers.authorization));
    keepConnection(request);

    const [path = ""] = (request.url ?? "").split("?");
    const match = route.exec(path);
    if (!match) throw new HttpException(404, "Not found");
    const projectId = decode(match[1] ?? "");
    if (!projects.includes(projectId)) throw new HttpException(404, "Project not found");
    const jobId = match[2] === undefined ? undefined : decode(match[2]);

    if (jobId === undefined) {
      requireMethod(request, "POST");
      const prompt = await readPrompt(request, bodies);
      return jobReply(201, requireAccepted(await engine.create(projectId, prompt)));
    }
    if (match[3] === undefined) {
      requireMethod(request, "GET");
      return show(projectId, jobId, request, response);
    }
    const job = await engine.get(projectId, jobId);
    requireMethod(request, "POST");
    requireJob(job);
    const prompt = await readPrompt(request, bodies);
    return jobReply(200, requireAccepted(requireJob(await engine.message(projectId, jobId, prompt))));
  }

  return async (request, response) => {
    const { status, body, headers } = await handle(request, response).catch((error: unknown): Reply => {
      const failed = failedRequest(error, request, request.url ?? "", log);
      return { status: failed.status, body: { error: failed.message }, headers: failed.headers };
    });
    sendJson(response, status, body, headers);
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpException(400, "Malformed path");
  }
}

function requireMethod(request: IncomingMessage, method: string): void {
  // A `HEAD` is a `GET` without the body.
  const requested = request.method === "HEAD" ? "GET" : request.method;
  if (requested !== method) throw new HttpException(405, "Method not allowed", { allow: method });
}

function requireJob<T>(job: T | undefined): T {
  if (job === undefined) throw new HttpException(404, "Job not found");
  return job;
}

function requireAccepted(result: JobRecord | RateLimited): JobRecord {
  if (!("retryAfterMs" in result)) return result;
  throw new HttpException(429, "Rate limit exceeded", { "retry-after": String(Math.ceil(result.retryAfterMs / 1000)) });
}

/** Reads the body: `{ "prompt": <non-empty string> }`. Specification: "Request body". */
async function readPrompt(request: IncomingMessage, bodies: BodyReader): Promise<string> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new HttpException(400, "Content-Type must be application/json");
  }
  const prompt = promptIn(await bodies.read(request));
  if (typeof prompt !== "string" || prompt === "") throw new HttpException(400, "prompt must be a non-empty string");
  return prompt;
}

function promptIn(body: string): unknown {
  try {
    const data = JSON.parse(body) as { prompt?: unknown } | null;
    return data?.prompt;
  } catch {
    throw new HttpException(400, "Request body is not valid JSON");
  }
}
