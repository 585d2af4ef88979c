import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { withNoProxyBelow } from "./no-proxy.ts";

/** How far a request got before it failed. While `connecting`, nothing has been sent. */
export type Phase = "connecting" | "sending" | "waiting" | "reading";

/** Thrown when there is no complete response: no connection, a reset, a timeout, an abort, a body that is too large. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  declare readonly phase: Phase;
  declare readonly reason: "network" | "certificate" | "timeout" | "aborted";
  /** The part of the body that arrived, which may contain a job id. Untrusted text. */
  declare readonly body: string;

  constructor(
    message: string,
    options: { phase: Phase; reason: NetworkError["reason"]; cause?: unknown; body?: string },
  ) {
    super(message, { cause: options.cause });
    const { phase, reason, body = "" } = options;
    Object.assign(this, { phase, reason, body });
  }
}

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH";
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Receives a 2xx body in parts; what it throws is the `cause` of the error. Default: it is collected, up to 1 MiB. */
  onPart?: ((part: Buffer) => void) | undefined;
  /** For the whole request, from the DNS lookup to the last byte of the response, in milliseconds. */
  timeoutMs: number;
  /** Cancels the request: immediately if nothing has been sent, otherwise after `graceMs`. */
  signal: AbortSignal;
  /** How long to keep waiting for the response once `signal` aborts, in milliseconds. Default: 0. */
  graceMs?: number;
}

/** A response. It is complete if its status is 2xx; otherwise `body` may be only the part that could be read. */
export interface HttpResponse {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

/** Sends one HTTP request, without retries or redirects. Rejects only with {@link NetworkError}. */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** A job record has a few hundred bytes. */
const maxBodyBytes = 1024 * 1024;

/** How long to wait for the body of a response that is not 2xx, in milliseconds: its status says enough. */
const errorBodyTimeoutMs = 2000;

const cancelled = "the step was cancelled";

/**
 * Creates a transport that knows, unlike `fetch`, how far a request got before it failed, and so whether the service can have
 * seen it. `https` honors the proxy variables; plain `http`, for loopback hosts, does not, so that no proxy sees the key.
 *
 * @throws NetworkError if the proxy address in the environment is invalid
 */
export function createTransport(protocol: string, environment: NodeJS.ProcessEnv): Transport {
  const client = protocol === "https:" ? https : http;
  const proxies = protocol === "https:" ? environment : {};
  const agent = createAgent(protocol, proxies);
  return async (request) => {
    // The server may already have closed a kept-alive connection, and a create sent into it would have an unknown outcome.
    const idle = request.method === "POST" ? Object.values(agent.freeSockets).flat() : [];
    for (const socket of idle) socket?.destroy();
    return send(client, agent, request);
  };
}

/** Like {@link createTransport} for the runner's services: it keeps connections, and uses a proxy for plain `http`. */
export function createRunnerTransport(environment: NodeJS.ProcessEnv): Transport {
  const agents = new Map<string, http.Agent>();
  return async (request) => {
    const { protocol } = request.url;
    const agent = agents.get(protocol) ?? createAgent(protocol, environment);
    agents.set(protocol, agent);
    return send(protocol === "https:" ? https : http, agent, request);
  };
}

function createAgent(protocol: string, environment: NodeJS.ProcessEnv): http.Agent {
  const name = protocol === "https:" ? "https_proxy" : "http_proxy";
  const address = proxyAddress(name, environment);
  const proxyEnv = { ...withNoProxyBelow(environment), [name]: address, [name.toUpperCase()]: undefined };
  try {
    return new (protocol === "https:" ? https : http).Agent({ keepAlive: true, proxyEnv });
  } catch {
    // Node's error quotes the address, which may contain a password, so it is not passed on as the cause.
    throw invalidProxy(`the proxy address in ${name} is not a valid URL`);
  }
}

/** Like curl, it accepts an address without a scheme, or in any case. @throws NetworkError for other kinds of proxies */
function proxyAddress(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const address = (environment[name] || environment[name.toUpperCase()] || "").trim();
  if (address === "") return undefined;
  const [prefix = "", scheme = "http"] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
  if (!/^https?$/i.test(scheme))
    throw invalidProxy(`${name} names a ${scheme.toLowerCase()} proxy, but only http and https proxies are supported`);
  return `${scheme.toLowerCase()}://${address.slice(prefix.length)}`;
}

function invalidProxy(message: string): NetworkError {
  return new NetworkError(message, { phase: "connecting", reason: "network" });
}

function send(client: typeof http | typeof https, agent: http.Agent, request: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let phase: Phase = "connecting";
    let incoming: http.IncomingMessage | undefined;
    let errorBodyTimer: NodeJS.Timeout | undefined;
    let graceTimer: NodeJS.Timeout | undefined;
    const chunks: Buffer[] = [];
    /** Whether the body is too large, or not what the caller can use. */
    let isRefused = false;
    let bytes = 0;

    /** Ends the request with what has arrived, or an error. Calling it again changes nothing. */
    const conclude = (reason: NetworkError["reason"], message: string, cause?: unknown) => {
      clearTimeout(timer);
      clearTimeout(errorBodyTimer);
      clearTimeout(graceTimer);
      request.signal.removeEventListener("abort", onAbort);
      if (incoming) drain(incoming);
      const body = new TextDecoder().decode(Buffer.concat(chunks));
      const status = incoming?.statusCode ?? 0;
      if (incoming && ((incoming.complete && !isRefused) || !isSuccess(status))) {
        resolve({ status, headers: singleValues(incoming.headers), body });
      } else {
        reject(new NetworkError(message, { phase, reason, cause, body }));
      }
      outgoing.destroy();
    };
    const onError = (error: NodeJS.ErrnoException) => {
      if (isCertificateError(error)) conclude("certificate", error.message, error);
      else conclude("network", describe(error), error);
    };
    /** Reads what has arrived before a timer ends the request: after a pause of the process, timers run first. */
    const afterPendingReads = (end: () => void) => () => void setImmediate(end);
    const onTimeout = afterPendingReads(() => {
      conclude("timeout", `no complete response within ${Math.ceil(request.timeoutMs / 1000)} s`);
    });
    const onAbort = () => {
      const end = () => conclude("aborted", cancelled);
      if (phase === "connecting" || !request.graceMs) end();
      else graceTimer = setTimeout(afterPendingReads(end), request.graceMs);
    };
    /** Node closes some connections without an error, for example after a `101` response. */
    const onClose = () => conclude("network", "the connection was closed before a complete response arrived");
    const refuse = (message: string, cause?: unknown) => {
      isRefused = true;
      conclude("network", message, cause);
    };
    const onData = (chunk: Buffer, isCollected: boolean) => {
      if (isRefused) return;
      bytes += chunk.length;
      if (isCollected && bytes > maxBodyBytes) return refuse("the response is larger than 1 MiB");
      if (isCollected) return void chunks.push(chunk);
      try {
        request.onPart?.(chunk);
      } catch (error) {
        refuse(`the response cannot be used: ${error instanceof Error ? error.message : String(error)}`, error);
      }
    };
    const onResponse = (response: http.IncomingMessage) => {
      incoming = response;
      phase = "reading";
      if (!isSuccess(response.statusCode ?? 0)) errorBodyTimer = setTimeout(onTimeout, errorBodyTimeoutMs);
      const isCollected = !request.onPart || !isSuccess(response.statusCode ?? 0);
      response.on("data", (chunk: Buffer) => onData(chunk, isCollected));
      // If the service responds before it has read the whole request, "close" comes only much later.
      response.on("end", onClose);
    };

    if (request.signal.aborted) {
      reject(new NetworkError(cancelled, { phase, reason: "aborted" }));
      return;
    }
    const { method, body } = request;
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const outgoing = client.request(request.url, { method, agent, headers: { ...request.headers, ...length } });
    const timer = setTimeout(onTimeout, request.timeoutMs);
    outgoing.on("socket", (socket: Socket & { encrypted?: boolean; secureConnecting?: boolean }) => {
      const onConnected = () => {
        phase = "sending";
      };
      // With TLS, nothing is sent before the connection is secure. A socket that failed never connects.
      if (socket.connecting || socket.secureConnecting)
        socket.once(socket.encrypted ? "secureConnect" : "connect", onConnected);
      else if (!socket.destroyed) onConnected();
    });
    outgoing.on("finish", () => {
      if (phase === "sending") phase = "waiting";
    });
    outgoing.on("response", onResponse);
    outgoing.on("error", onError);
    outgoing.on("close", onClose);
    request.signal.addEventListener("abort", onAbort);
    outgoing.end(body);
  });
}

/** Reads what has arrived but is still buffered in the stream. Each chunk goes to the "data" listener. */
function drain(response: http.IncomingMessage): void {
  let chunk: unknown;
  do chunk = response.read();
  while (chunk !== null);
}

/** Returns true for any 2xx: the specification leaves the exact code open. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** OpenSSL's verification errors and Node's host name check, by the codes that Node documents under "TLS". */
function isCertificateError(error: NodeJS.ErrnoException): boolean {
  return /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|UNSPECIFIED|CRL_|ERROR_IN_C|PATH_LENGTH)/.test(
    error.code ?? "",
  );
}

/** Describes an error in one line: Node's for several addresses has no message, and OpenSSL's half a stack. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof AggregateError) return error.errors.map((each: Error) => each.message).join("; ");
  const [, reason] = /:SSL routines:[^:]*:([^:]+):/.exec(error.message) ?? [];
  if (reason !== undefined) return `TLS failed: ${reason}`;
  return error.message || error.code || "the connection failed";
}

function singleValues(headers: http.IncomingHttpHeaders): HttpResponse["headers"] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
