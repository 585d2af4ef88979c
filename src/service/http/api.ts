import type { IncomingMessage, RequestListener } from "node:http";
import { errorStack } from "../error-message.ts";
import { type Engine, type JobRecord, type RateLimited, StoreUnavailable } from "../jobs/engine.ts";
import { authenticationError } from "./authentication.ts";

export interface ApiOptions {
  engine: Engine;
  apiKey: string;
  /** The projects that the key gives access to. */
  projects: readonly string[];
  /** Receives unexpected errors, with their stack. */
  log: (line: string) => void;
}

interface Reply {
  status: number;
  /** Not `unknown`, so that a missing `await` is a type error. */
  body: JobRecord | { error: string };
  headers?: Record<string, string>;
}

/** Thrown to answer a request with an HTTP error. The message becomes the body's `error`. */
class HttpException extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The specification gives no limit; this one only protects the memory. */
const maxBodyBytes = 32 * 1024 * 1024;

const route = /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+)(\/message)?)?$/;

/** Returns the HTTP API of the agent job service. Specification: "Endpoints". */
export function createApi({ engine, apiKey, projects, log }: ApiOptions): RequestListener {
  async function handle(request: IncomingMessage): Promise<Reply> {
    const error = authenticationError(request.headers.authorization, apiKey);
    if (error !== undefined) throw new HttpException(401, error);

    const [path = ""] = (request.url ?? "").split("?");
    const match = route.exec(path);
    if (!match) throw new HttpException(404, "Not found");
    const projectId = decode(match[1] ?? "");
    if (!projects.includes(projectId)) throw new HttpException(404, "Project not found");
    const jobId = match[2] === undefined ? undefined : decode(match[2]);

    if (jobId === undefined) {
      requireMethod(request, "POST");
      const prompt = await readPrompt(request);
      return { status: 201, body: requireAccepted(await engine.create(projectId, prompt)) };
    }
    const job = await engine.get(projectId, jobId);
    if (match[3] === undefined) {
      requireMethod(request, "GET");
      return { status: 200, body: requireJob(job) };
    }
    requireMethod(request, "POST");
    requireJob(job);
    const prompt = await readPrompt(request);
    return { status: 200, body: requireAccepted(requireJob(await engine.message(projectId, jobId, prompt))) };
  }

  return async (request, response) => {
    const reply = await handle(request).catch((error: unknown): Reply => {
      if (error instanceof HttpException)
        return { status: error.status, body: { error: error.message }, headers: error.headers };
      if (error instanceof StoreUnavailable)
        return {
          status: 503,
          body: { error: "The service cannot store anything now" },
          headers: { "retry-after": "30" },
        };
      log(`${request.method} ${request.url}: ${errorStack(error)}`);
      return { status: 500, body: { error: "Internal error" } };
    });
    const body = JSON.stringify(reply.body);
    response.writeHead(reply.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...reply.headers,
    });
    response.end(body);
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
  if (request.method !== method) throw new HttpException(405, "Method not allowed", { allow: method });
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
async function readPrompt(request: IncomingMessage): Promise<string> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new HttpException(400, "Content-Type must be application/json");
  }
  const prompt = promptIn(await readBody(request));
  if (typeof prompt !== "string" || prompt === "") throw new HttpException(400, "prompt must be a non-empty string");
  return prompt;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Read to the end in any case: a client that is still writing would not read the response.
      if (bytes <= maxBodyBytes) chunks.push(chunk);
    }
  } catch {
    // The client closed the connection, so nobody reads this response.
    throw new HttpException(400, "Request body is incomplete");
  }
  if (bytes > maxBodyBytes) throw new HttpException(413, "Request body too large");
  return Buffer.concat(chunks).toString("utf8");
}

function promptIn(body: string): unknown {
  try {
    const data = JSON.parse(body) as { prompt?: unknown } | null;
    return data?.prompt;
  } catch {
    throw new HttpException(400, "Request body is not valid JSON");
  }
}
