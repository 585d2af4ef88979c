import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { NetworkError, type Phase } from "./errors.ts";

/** One request. */
export interface HttpRequest {
  method: "GET" | "POST";
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
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
 * Creates a transport on `node:http(s)`. Unlike `fetch`, it knows how far a request got before it failed, and so whether
 * the service can have seen it. `https` honors the proxy variables; plain `http`, which is only for loopback hosts,
 * does not, so that the key never reaches a proxy in the clear.
 *
 * @param protocol - `https:` or `http:`
 * @param environment - for the proxy settings: `https_proxy`, `no_proxy` and so on, in lower or upper case
 * @throws NetworkError if the proxy address in the environment is invalid
 */
export function createTransport(protocol: string, environment: NodeJS.ProcessEnv): Transport {
  const client = protocol === "https:" ? https : http;
  const agent = createAgent(protocol, environment);
  return (request) => {
    // The server may already have closed a kept-alive connection, and a create sent into it would have an unknown
    // outcome. So a POST always uses a new connection.
    if (request.method === "POST") agent.destroy();
    return send(client, agent, request);
  };
}

function createAgent(protocol: string, environment: NodeJS.ProcessEnv): http.Agent {
  if (protocol !== "https:") return new http.Agent({ keepAlive: true });
  const proxyEnv = { ...environment, https_proxy: proxyAddress(environment), HTTPS_PROXY: undefined };
  try {
    return new https.Agent({ keepAlive: true, proxyEnv });
  } catch {
    // Node's error quotes the address, which may contain a password, so it is not passed on as the cause.
    throw invalidProxy("the proxy address in https_proxy is not a valid URL");
  }
}

/**
 * Returns the address of the proxy for `https`, in the form that Node reads; `undefined` without a proxy. Like curl, it
 * accepts an address without a scheme and a scheme in any case. Node would silently ignore these.
 *
 * @throws NetworkError if it is a proxy of another kind
 */
function proxyAddress(environment: NodeJS.ProcessEnv): string | undefined {
  const address = (environment.https_proxy || environment.HTTPS_PROXY || "").trim();
  if (address === "") return undefined;
  const [prefix = "", scheme = "http"] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
  if (!/^https?$/i.test(scheme)) {
    throw invalidProxy(
      `https_proxy names a ${scheme.toLowerCase()} proxy, but only http and https proxies are supported`,
    );
  }
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

    /**
     * Ends the request. What has arrived may be a usable response; only otherwise is this an error. Calling it again
     * changes nothing, because the promise is settled.
     */
    const conclude = (reason: NetworkError["reason"], message: string, cause?: unknown) => {
      clearTimeout(timer);
      clearTimeout(errorBodyTimer);
      clearTimeout(graceTimer);
      request.signal.removeEventListener("abort", onAbort);
      if (incoming) drain(incoming);
      const body = new TextDecoder().decode(Buffer.concat(chunks));
      const status = incoming?.statusCode ?? 0;
      if (incoming && (incoming.complete || !isSuccess(status))) {
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
    /**
     * Lets what has already arrived be read before a timer ends the request. If the process was paused, its timers run
     * before its sockets are read; `setImmediate` runs after both.
     */
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
    const onResponse = (response: http.IncomingMessage) => {
      incoming = response;
      phase = "reading";
      if (!isSuccess(response.statusCode ?? 0)) errorBodyTimer = setTimeout(onTimeout, errorBodyTimeoutMs);
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBodyBytes) conclude("network", "the response is larger than 1 MiB");
        else chunks.push(chunk);
      });
      // If the service responds before it has read the whole request, "close" comes only much later.
      response.on("end", onClose);
    };

    if (request.signal.aborted) {
      reject(new NetworkError(cancelled, { phase, reason: "aborted" }));
      return;
    }
    const outgoing = client.request(request.url, { method: request.method, agent, headers: headersOf(request) });
    const timer = setTimeout(onTimeout, request.timeoutMs);
    outgoing.on("socket", (socket) => {
      onceConnected(socket, () => {
        phase = "sending";
      });
    });
    outgoing.on("finish", () => {
      if (phase === "sending") phase = "waiting";
    });
    outgoing.on("response", onResponse);
    outgoing.on("error", onError);
    outgoing.on("close", onClose);
    request.signal.addEventListener("abort", onAbort);
    outgoing.end(request.body);
  });
}

/** Reads what has arrived but is still buffered in the stream. Each chunk goes to the "data" listener. */
function drain(response: http.IncomingMessage): void {
  let chunk: unknown;
  do chunk = response.read();
  while (chunk !== null);
}

/**
 * Calls `then` once the connection is established: the first byte of a request is not sent before that, and with TLS
 * not before the server's certificate is trusted. A reused or tunneled socket is already connected; one whose
 * connect() failed immediately is already destroyed, and never connects.
 */
function onceConnected(socket: Socket & { encrypted?: boolean; secureConnecting?: boolean }, then: () => void): void {
  if (socket.destroyed) return;
  if (socket.connecting || socket.secureConnecting) socket.once(socket.encrypted ? "secureConnect" : "connect", then);
  else then();
}

function headersOf(request: HttpRequest): http.OutgoingHttpHeaders {
  if (request.body === undefined) return { ...request.headers };
  return { ...request.headers, "content-length": Buffer.byteLength(request.body) };
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

/**
 * Describes a connection error in one line. If a host name has several addresses, Node wraps their errors into one
 * without a message; OpenSSL's messages contain half a stack trace.
 */
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
