import type { IncomingMessage, RequestListener } from "node:http";
import type { Engine } from "../jobs/engine.ts";
import { type ApiKey, checkAccess } from "./authentication.ts";
import type { UseLimit } from "./rate-limiter.ts";

export interface HttpFaceOptions {
  engine: Engine;
  keys: readonly ApiKey[];
  limits: { creates: UseLimit; messages: UseLimit };
  /** A path in front of `/v2`, such as `/docs-api`. Default: none. */
  prefix?: string;
  /** Milliseconds since 1970. */
  now?: () => number;
}

interface Reply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** An answer other than success, with the service's words for it. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, error: string, headers: Record<string, string> = {}) {
    super(error);
    this.status = status;
    this.headers = headers;
  }
}

/** Creates and messages: this many uses each, per project, in a window of an hour. */
export const hourlyLimit = 100;
export const hourMs = 3_600_000;
/** The specification gives no longest prompt; this only guards the memory. */
const maxBodyBytes = 32 * 1024 * 1024;

const route = /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+)(\/message)?)?$/;

/** The HTTP face of the agent job service. Specification: "Endpoints". */
export function createHttpFace({
  engine,
  keys,
  limits,
  prefix = "",
  now = Date.now,
}: HttpFaceOptions): RequestListener {
  const { creates, messages } = limits;

  async function handle(request: IncomingMessage): Promise<Reply> {
    const { authorization } = request.headers;
    const access = checkAccess(keys, { authorization, address: request.socket.remoteAddress, now: now() });
    if ("refused" in access) throw new Refusal(access.refused.status, access.refused.error);

    const [path = ""] = (request.url ?? "").split("?");
    const match = path.startsWith(prefix) ? route.exec(path.slice(prefix.length)) : null;
    if (!match) throw new Refusal(404, "Not found");
    const projectId = decode(match[1] ?? "");
    if (!access.granted.projects.includes(projectId)) throw new Refusal(404, "Project not found");
    const jobId = match[2] === undefined ? undefined : decode(match[2]);

    if (jobId === undefined) {
      allow(request, "POST");
      const prompt = await readPrompt(request);
      count(creates, projectId, now());
      return { status: 201, body: engine.create(projectId, prompt) };
    }
    const job = engine.get(projectId, jobId);
    if (match[3] === undefined) {
      allow(request, "GET");
      return { status: 200, body: found(job) };
    }
    allow(request, "POST");
    found(job);
    const prompt = await readPrompt(request);
    count(messages, projectId, now());
    return { status: 200, body: found(engine.message(projectId, jobId, prompt)) };
  }

  return async (request, response) => {
    const reply = await handle(request).catch((error: unknown): Reply => {
      if (error instanceof Refusal)
        return { status: error.status, body: { error: error.message }, headers: error.headers };
      return { status: 500, body: { error: "Internal error" } };
    });
    const body = JSON.stringify(reply.body);
    response.writeHead(reply.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...reply.headers,
    });
    response.end(body);
    request.resume();
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, "Malformed path");
  }
}

function allow(request: IncomingMessage, method: string): void {
  if (request.method !== method) throw new Refusal(405, "Method not allowed", { allow: method });
}

function found<T>(job: T | undefined): T {
  if (job === undefined) throw new Refusal(404, "Job not found");
  return job;
}

function count(limit: UseLimit, projectId: string, at: number): void {
  const waitMs = limit.take(projectId, at);
  if (waitMs > 0) {
    throw new Refusal(429, "Rate limit exceeded", { "retry-after": String(Math.ceil(waitMs / 1000)) });
  }
}

/** The body is `{ "prompt": <string> }`, with at least one character. Specification: "Request body". */
async function readPrompt(request: IncomingMessage): Promise<string> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new Refusal(400, "Content-Type must be application/json");
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Read to its end all the same: the answer could not be sent on a connection that is still being written to.
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  if (bytes > maxBodyBytes) throw new Refusal(413, "Request body too large");
  const prompt = promptIn(Buffer.concat(chunks).toString("utf8"));
  if (typeof prompt !== "string" || prompt === "") throw new Refusal(400, "prompt must be a non-empty string");
  return prompt;
}

function promptIn(body: string): unknown {
  try {
    const data: unknown = JSON.parse(body);
    return typeof data === "object" && data !== null && "prompt" in data ? data.prompt : undefined;
  } catch {
    throw new Refusal(400, "Request body is not valid JSON");
  }
}
