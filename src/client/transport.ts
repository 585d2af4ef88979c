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

/** A refusal counts as it stands when its body is not there by then, in milliseconds. */
const refusalBodyTimeoutMs = 2000;

const cancelled = "the step was cancelled";

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
  return (request) => {
    // The other side may have closed a kept-alive connection already, and a create sent into it would be in doubt. So
    // a POST always travels on a new one.
    if (request.method === "POST") agent.destroy();
    return exchange(client, agent, request);
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
    let bodyTimer: NodeJS.Timeout | undefined;
    let graceTimer: NodeJS.Timeout | undefined;
    const chunks: Buffer[] = [];

    const received = () => new TextDecoder().decode(Buffer.concat(chunks));
    const settle = () => {
      settled = true;
      clearTimeout(deadlineTimer);
      clearTimeout(bodyTimer);
      clearTimeout(graceTimer);
      request.signal.removeEventListener("abort", onAbort);
    };
    const succeed = (answer: http.IncomingMessage) => {
      if (settled) return;
      settle();
      resolve({ status: answer.statusCode ?? 0, headers: singleValued(answer.headers), body: received() });
    };
    const fail = (reason: ExchangeError["reason"], message: string, cause?: unknown) => {
      // What has come and waits in the stream counts too: reading it hands it to the listener below.
      while (incoming && !settled && incoming.read() !== null);
      // What came after a whole answer does not touch it, and a refusal stands whatever becomes of its body.
      if (incoming && (incoming.complete || !isSuccess(incoming.statusCode ?? 0))) succeed(incoming);
      if (!settled) {
        settle();
        reject(new ExchangeError(message, { phase, reason, cause, body: received() }));
      }
      outgoing.destroy();
    };
    const onError = (error: NodeJS.ErrnoException) => {
      if (phase === "connecting" && isCertificateError(error)) fail("certificate", error.message, error);
      else fail("network", describe(error), error);
    };
    const onAbort = () => {
      const end = () => fail("aborted", cancelled);
      if (phase === "connecting" || !request.graceMs) end();
      else graceTimer = setTimeout(end, request.graceMs);
    };
    const onAnswer = (answer: http.IncomingMessage) => {
      incoming = answer;
      phase = "reading";
      if (!isSuccess(answer.statusCode ?? 0)) {
        bodyTimer = setTimeout(() => fail("timeout", "its body did not come"), refusalBodyTimeoutMs);
      }
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBodyBytes) fail("network", "the answer is larger than 1 MiB");
        else chunks.push(chunk);
      });
      answer.on("end", () => (answer.complete ? succeed(answer) : fail("network", "the answer was cut off")));
      answer.on("error", (error) => fail("network", describe(error), error));
    };

    if (request.signal.aborted) {
      reject(new ExchangeError(cancelled, { phase, reason: "aborted" }));
      return;
    }
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
    outgoing.end(request.body);
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
  return /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|UNSPECIFIED$|CRL_|ERROR_IN_C|PATH_LENGTH)/.test(
    error.code ?? "",
  );
}

/** With several addresses to a name, Node wraps the errors into one without a message; OpenSSL's is half a stack. */
function describe(error: NodeJS.ErrnoException & { reason?: string }): string {
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join("; ");
  if (error.code === "EPROTO" || error.code?.startsWith("ERR_SSL")) return `TLS failed: ${error.reason ?? error.code}`;
  return error.message || error.code || "the connection failed";
}

function singleValued(headers: http.IncomingHttpHeaders): HttpAnswer["headers"] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
