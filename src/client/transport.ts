import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { ExchangeError, type Phase } from "./errors.ts";

/** One request. */
export interface HttpRequest {
  method: "GET" | "POST";
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** For all of it, from the look-up of the name to the last byte of the body. */
  timeoutMs: number;
  /** Ends the exchange: at once while the request has not been sent, else after `graceMs`. */
  signal: AbortSignal;
  /** How long an answer is still waited for once `signal` is aborted. Default: 0. */
  graceMs?: number;
}

/** An answer that was read to its end, or one that is no 2xx, whose body is then as much as could be read. */
export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

/** One HTTP exchange: no retry, no redirect. Rejects with nothing but {@link ExchangeError}. */
export type Transport = (request: HttpRequest) => Promise<HttpAnswer>;

/** A larger body is a fault: a job record has a few hundred bytes. */
const maxBodyBytes = 1024 * 1024;

/** Where the proxy settings are read from: `https_proxy`, `no_proxy` and so on, in both cases. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A transport over `node:http(s)`, which unlike `fetch` shows how far a connection had come when it broke, and so
 * whether the service can have seen the request. Proxies are taken from `environment`, for `https` alone: plain
 * `http` is for loopback hosts, and must not carry the key to a proxy.
 *
 * @param protocol - `https:` or `http:`
 * @throws ExchangeError where the proxy address in the environment cannot be used
 */
export function createTransport(protocol: string, environment: Environment): Transport {
  const client = protocol === "https:" ? https : http;
  const agent = createAgent(protocol, environment);
  return async (request) => {
    const startedAt = performance.now();
    // The other side may have closed a kept-alive connection already. A create sent into it would be in doubt, so a
    // POST always travels on a new one; a GET is simply sent once more.
    if (request.method === "POST") agent.destroy();
    try {
      return await exchange(client, agent, request);
    } catch (error) {
      if (!(error instanceof ExchangeError) || error.reason !== "stale" || request.method !== "GET") throw error;
      agent.destroy();
      return exchange(client, agent, { ...request, timeoutMs: request.timeoutMs - (performance.now() - startedAt) });
    }
  };
}

function createAgent(protocol: string, environment: Environment): http.Agent {
  if (protocol !== "https:") return new http.Agent({ keepAlive: true });
  try {
    return new https.Agent({ keepAlive: true, proxyEnv: { ...environment } });
  } catch {
    // Node's error quotes the address, which may hold a password: it is not passed on.
    throw new ExchangeError("the proxy address in https_proxy is not a valid URL", {
      phase: "connecting",
      reason: "network",
    });
  }
}

function exchange(client: typeof http | typeof https, agent: http.Agent, request: HttpRequest): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let phase: Phase = "connecting";
    let settled = false;
    let incoming: http.IncomingMessage | undefined;
    let graceTimer: NodeJS.Timeout | undefined;
    const chunks: Buffer[] = [];

    const settle = () => {
      settled = true;
      clearTimeout(deadlineTimer);
      clearTimeout(graceTimer);
      request.signal.removeEventListener("abort", onAbort);
    };
    const succeed = (answer: http.IncomingMessage) => {
      if (settled) return;
      settle();
      const body = Buffer.concat(chunks).toString("utf8");
      resolve({ status: answer.statusCode ?? 0, headers: singleValued(answer.headers), body });
    };
    const fail = (reason: ExchangeError["reason"], message: string, cause?: unknown) => {
      // A refusal stands whatever becomes of its body.
      if (incoming && !isSuccess(incoming.statusCode ?? 0)) succeed(incoming);
      if (!settled) {
        settle();
        reject(new ExchangeError(message, { phase, reason, cause }));
      }
      outgoing.destroy();
    };
    const onError = (error: NodeJS.ErrnoException) => {
      if (phase === "connecting" && isCertificateError(error)) fail("certificate", error.message, error);
      else fail(outgoing.reusedSocket && !incoming ? "stale" : "network", describe(error), error);
    };
    const onAbort = () => {
      const end = () => fail("aborted", "the step was cancelled");
      if (phase === "connecting" || !request.graceMs) end();
      else graceTimer = setTimeout(end, request.graceMs);
    };
    const onAnswer = (answer: http.IncomingMessage) => {
      incoming = answer;
      phase = "reading";
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBodyBytes) fail("network", "the answer is larger than 1 MiB");
        else chunks.push(chunk);
      });
      answer.on("end", () => (answer.complete ? succeed(answer) : fail("network", "the answer was cut off")));
      answer.on("error", (error) => fail("network", describe(error), error));
    };

    const outgoing = client.request(request.url, { method: request.method, agent, headers: headersOf(request) });
    const seconds = Math.ceil(request.timeoutMs / 1000);
    const deadlineTimer = setTimeout(() => fail("timeout", `no whole answer within ${seconds} s`), request.timeoutMs);
    outgoing.on("socket", (socket) => {
      onceConnected(socket, () => {
        phase = "sending";
      });
    });
    outgoing.on("finish", () => {
      if (phase === "sending") phase = "waiting";
    });
    outgoing.on("response", onAnswer);
    outgoing.on("error", onError);
    // The last resort: Node closes some exchanges without an error, such as one answered with `101`.
    outgoing.on("close", () => fail("network", "the connection was closed before a whole answer came"));
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.signal.aborted) onAbort();
    else outgoing.end(request.body);
  });
}

/**
 * The first byte of a request leaves when the connection stands, and with TLS not before the other side's certificate
 * has been trusted. A reused or tunnelled socket is there already.
 */
function onceConnected(socket: Socket & { encrypted?: boolean; secureConnecting?: boolean }, then: () => void): void {
  if (socket.connecting || socket.secureConnecting) socket.once(socket.encrypted ? "secureConnect" : "connect", then);
  else then();
}

function headersOf(request: HttpRequest): http.OutgoingHttpHeaders {
  if (request.body === undefined) return { ...request.headers };
  return { ...request.headers, "content-length": Buffer.byteLength(request.body) };
}

/** Any 2xx: the specification leaves the exact code open. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** OpenSSL's verification errors and Node's own on host names, by the codes that Node documents under "TLS". */
function isCertificateError(error: NodeJS.ErrnoException): boolean {
  return /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|CRL_|ERROR_IN_C|PATH_LENGTH)/.test(
    error.code ?? "",
  );
}

/** With several addresses to a name, Node wraps the errors into one without a message. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join("; ");
  return error.message || error.code || "the connection failed";
}

function singleValued(headers: http.IncomingHttpHeaders): HttpAnswer["headers"] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
