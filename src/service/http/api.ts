import type { IncomingMessage, RequestListener } from "node:http";
import { errorStack } from "../error-message.ts";
import { type Engine, type JobRecord, OutcomeUnknown, type RateLimited, StoreUnavailable } from "../jobs/engine.ts";
import { type Authenticator, bearerOf } from "./authentication.ts";
import { BodyReader } from "./body-reader.ts";
import { keepConnection } from "./connections.ts";
import { HttpException } from "./http-exception.ts";
import { sendJson } from "./send-json.ts";

export interface ApiOptions {
  engine: Engine;
  authenticator: Authenticator;
  /** Receives unexpected errors, with their stack. */
  log: (line: string) => void;
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
export function createApi({ engine, authenticator, log }: ApiOptions): RequestListener {
  const bodies = new BodyReader(maxBodyBytes, bodyBudgetBytes);

  async function handle(request: IncomingMessage): Promise<Reply> {
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
      return { status: 201, body: requireAccepted(await engine.create(projectId, prompt)) };
    }
    const job = await engine.get(projectId, jobId);
    if (match[3] === undefined) {
      requireMethod(request, "GET");
      return { status: 200, body: requireJob(job) };
    }
    requireMethod(request, "POST");
    requireJob(job);
    const prompt = await readPrompt(request, bodies);
    return { status: 200, body: requireAccepted(requireJob(await engine.message(projectId, jobId, prompt))) };
  }

  return async (request, response) => {
    const { status, body, headers } = await handle(request).catch((error: unknown): Reply => {
      if (error instanceof HttpException)
        return { status: error.status, body: { error: error.message }, headers: error.headers };
      if (error instanceof StoreUnavailable)
        return {
          status: 503,
          body: { error: "The service cannot store anything now" },
          headers: { "retry-after": "30" },
        };
      log(`${request.method} ${request.url}: ${errorStack(error)}`);
      // Neither retried nor taken for a rejection by clients that keep to the specification.
      if (error instanceof OutcomeUnknown)
        return { status: 500, body: { error: "It is unknown whether the request was accepted" } };
      return { status: 500, body: { error: "Internal error" } };
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
