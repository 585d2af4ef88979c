import { mkdtemp, rm } from "node:fs/promises";
import { type Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { createServer as createSocketServer, isIP, type LookupFunction, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Duplex, pipeline } from "node:stream";
import { errorMessage } from "../../error-message.ts";
import { credentialHeaders, type ModelEndpoint } from "../agent.ts";
import { agentFor, type DialOptions, dial } from "./machine-proxy.ts";
import { ModelBodies, RejectedBody } from "./model-body.ts";
import {
  defaultMaxProxyConnections,
  defaultProxyTimes,
  limitProxyConnections,
  type ProxyTimes,
} from "./proxy-connections.ts";

export interface ModelProxyOptions {
  /** Requests to the proxy itself are sent there, with the key as it is then: `secret` returns the value of a variable. Undefined: they are rejected. */
  model?: { endpoint: ModelEndpoint; secret: (name: string) => string } | undefined;
  /** `host` or `host:port` (default: 443) to which the proxy opens tunnels. */
  hosts: readonly string[];
  /** Resolves the names of these hosts, and fails with `PrivateAddress` for one that tunnels may not lead to. Default: all are allowed. */
  resolve?: LookupFunction | undefined;
  /** The service's, with the variables of the machine's proxy. Default: the process's. */
  environment?: NodeJS.ProcessEnv | undefined;
  /** Whether the provider's machines may fetch and run things for agents. Default: no. */
  allowsServerTools?: boolean | undefined;
  /** How many connections agents may have open. Default: as many as if this is the only proxy. */
  maxConnections?: number | undefined;
  times?: ProxyTimes;
  /** Receives the status of each answer of the model. */
  onAnswer?: ((status: number) => void) | undefined;
  log: (line: string) => void;
}

/** What a run of an agent has asked of its model, and what came of it. */
export interface ModelUse {
  /** How many requests the model is answering now. */
  open: number;
  /** When the model ended its last answer, or was asked last, by `performance.now()`. */
  lastAt: number;
  /** The status of the model's last answer. Default: it has given none. */
  lastStatus?: number | undefined;
  /** Before when the model wants no other request, by `performance.now()`. Default: its last answer does not say. */
  retryAt?: number | undefined;
  /** The last host that was denied, as `host:port`. Default: none. */
  lastDenied?: string | undefined;
}

/** The part of a proxy that one run of an agent uses. Disposing of it closes its socket. */
export interface ProxyRun extends AsyncDisposable {
  /** The path of the Unix socket on which it listens. */
  socket: string;
  use: Readonly<ModelUse>;
}

/** A proxy by which agents without a network reach their model. Disposing of it closes all connections. */
export interface ModelProxy extends AsyncDisposable {
  /** The path of the Unix socket on which it listens. */
  socket: string;
  /** Listens for a run of an agent, on a socket of its own, by which its requests are told from other ones. */
  open(): Promise<ProxyRun>;
}

/** In bytes, for the headers of a request or a response. */
const maxHeaderSize = 64 * 1024;

/** Headers that are about one connection, or in which an agent could send a key of its own. */
const dropped = new Set([
  ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host"],
  ...["proxy-authorization", "proxy-connection", "authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"],
  ...["x-amz-date", "x-amz-security-token", "x-amz-content-sha256", "x-goog-user-project"],
]);

/** Starts a proxy. No path, header or body that passes it is logged. */
export async function startModelProxy(options: ModelProxyOptions): Promise<ModelProxy> {
  const {
    model,
    hosts,
    log,
    allowsServerTools = false,
    times = defaultProxyTimes,
    onAnswer,
    environment = process.env,
  } = options;
  // A signature is of the body.
  const readsBodies = model && (!allowsServerTools || model.endpoint.sign !== undefined);
  const bodies = readsBodies ? new ModelBodies(model.endpoint.api, allowsServerTools) : undefined;
  const allowed = new Set(hosts.map((host) => (host.includes(":") ? host : `${host}:443`).toLowerCase()));
  const denied = new Set<string>();
  const failed = new Set<string>();
  const tunnels = new Set<Duplex>();
  const uses = new WeakMap<object, ModelUse>();
  const agent = agentFor(new URL(model?.endpoint.url ?? "https://model.invalid"), environment);
  const limits = {
    maxHeaderSize,
    headersTimeout: times.headersMs,
    requestTimeout: times.requestMs,
    connectionsCheckingInterval: times.headersMs / 3,
  };
  const server = createServer(limits, (request, response) => {
    if (model === undefined || !request.url?.startsWith("/")) return reject(response, 403, "This proxy opens tunnels.");
    // With this status, Codex uses HTTP at once. With others, it tries to open a WebSocket five times.
    if (request.headers.upgrade !== undefined) return reject(response, 426, "This proxy opens no WebSockets.");
    const use = uses.get(request.socket);
    forward(request, response, model, bodies, agent, use, onAnswer).catch((error: unknown) => {
      if (error instanceof RejectedBody) reject(response, error.status, error.message);
      // Such as a path that is no URL. An agent must not be able to end the service with it.
      else reject(response, 400, "The request is invalid.");
    });
  });
  server.setTimeout(times.idleMs);
  limitProxyConnections(server, options.maxConnections ?? defaultMaxProxyConnections(1), log);
  server.on("connect", ({ url = "" }: IncomingMessage, client: Socket, head: Buffer) => {
    // An error that nobody listens to would end the service.
    client.on("error", () => {});
    client.setTimeout(times.idleMs, () => client.destroy());
    const [, host, port] = /^([\w.-]+):(\d{1,5})$/.exec(url) ?? [];
    // Node does not resolve an address.
    const isUnresolved = options.resolve !== undefined && isIP(host ?? "") !== 0;
    if (host === undefined || isUnresolved || !allowed.has(url.toLowerCase())) {
      // Limited, because an agent chooses the names.
      const use = uses.get(client);
      if (host !== undefined && use !== undefined) use.lastDenied = url;
      if (host !== undefined && !denied.has(url) && denied.size < 20) {
        denied.add(url);
        log(`An agent was denied a connection to ${url}.`);
      }
      client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    const dialOptions = { environment, lookup: options.resolve };
    openTunnel(client, host, Number(port), dialOptions, head, tunnels).catch((error: unknown) => {
      if (client.destroyed) return;
      client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      if (failed.has(url)) return;
      failed.add(url);
      log(`${url} cannot be reached: ${errorMessage(error)}`);
    });
  });
  // In the temporary directory, because the path of a socket may only have about 100 bytes.
  const folder = await mkdtemp(join(tmpdir(), "agent-proxy-"));
  const socket = join(folder, "socket");
  await new Promise<void>((resolve, rejectStart) => server.once("error", rejectStart).listen(socket, resolve));
  let count = 0;
  const runs = new Set<ProxyRun>();
  return {
    socket,
    open: async () => {
      const use: ModelUse = { open: 0, lastAt: performance.now() };
      const connections = new Set<Socket>();
      const listener = createSocketServer((connection) => {
        uses.set(connection, use);
        connections.add(connection);
        connection.once("close", () => connections.delete(connection));
        server.emit("connection", connection);
      });
      const own = join(folder, String(count++));
      await new Promise<void>((resolve, rejectStart) => listener.once("error", rejectStart).listen(own, resolve));
      const run: ProxyRun = {
        socket: own,
        use,
        [Symbol.asyncDispose]: async () => {
          if (!runs.delete(run)) return;
          for (const connection of connections) connection.destroy();
          await new Promise((resolve) => listener.close(resolve));
        },
      };
      runs.add(run);
      return run;
    },
    [Symbol.asyncDispose]: async () => {
      for (const tunnel of tunnels) tunnel.destroy();
      agent.destroy();
      for (const run of runs) await run[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns until when an answer asks to wait, by `performance.now()`; `undefined` if it does not. RFC 9110, section 10.2.3. */
function retryTime(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  const waitMs = /^\d+$/.test(retryAfter.trim()) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(waitMs) ? undefined : performance.now() + waitMs;
}

async function openTunnel(
  client: Duplex,
  host: string,
  port: number,
  options: Omit<DialOptions, "signal">,
  head: Buffer,
  tunnels: Set<Duplex>,
): Promise<void> {
  tunnels.add(client);
  const closed = new AbortController();
  client.once("close", () => {
    tunnels.delete(client);
    closed.abort();
  });
  const target = await dial(host, port, { ...options, signal: closed.signal });
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  target.write(head);
  pipeline(client, target, client, () => {});
}

/** Names of parameters in which an agent could send a key of its own, or another one than the service's. */
const credential =
  /^(?:.*[_-])?(?:api_?key|key|(?:access_?|auth_?)?token|auth|authorization|secret|password|credentials?|sig|signature)$/i;

/** @param bodies - reads and checks the body. Default: it is passed on as it is */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { endpoint, secret }: NonNullable<ModelProxyOptions["model"]>,
  bodies: ModelBodies | undefined,
  agent: Agent,
  use: ModelUse = { open: 0, lastAt: 0 },
  onAnswer: (status: number) => void = () => {},
): Promise<void> {
  const base = new URL(endpoint.url);
  // Resolved by the parser that sends the request, so that no `..` leads out of the endpoint.
  const url = new URL(`${base.origin}${request.url}`);
  const folder = base.pathname.replace(/\/$/, "") + (endpoint.folder ?? "");
  const path = url.pathname.slice(folder.length);
  const { method = "" } = request;
  // The answer to a TRACE shows the headers.
  const isAllowed =
    method !== "TRACE" && `${url.pathname}/`.startsWith(`${folder}/`) && endpoint.api.allows(method, path);
  if (!isAllowed) {
    reject(response, 403, "This is not a request for the model.");
    return;
  }
  for (const parameter of [...url.searchParams.keys()])
    if (credential.test(parameter)) url.searchParams.delete(parameter);
  const passed = Object.fromEntries(Object.entries(request.headers).filter(([header]) => !dropped.has(header)));
  const body = await bodies?.read(request, path);
  if (body !== undefined) passed["content-length"] = String(Buffer.byteLength(body));
  const headers = { ...passed, ...(await credentialHeaders(endpoint, { method, url, body: body ?? "" }, secret)) };
  // The agent may have gone while its request was read.
  if (response.destroyed) return;
  // With this status, clients wait and try again.
  if (use.open >= (endpoint.maxOpenRequests ?? Infinity))
    return reject(response, 429, "Too many requests to the model are open.");
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const upstream = send(url, { method, headers, maxHeaderSize, agent }, (answer) => {
    onAnswer(answer.statusCode ?? 502);
    use.lastStatus = answer.statusCode ?? 502;
    use.retryAt = use.lastStatus < 400 ? undefined : retryTime(answer.headers["retry-after"]);
    const { connection, "keep-alive": _, "transfer-encoding": __, ...answered } = answer.headers;
    response.writeHead(answer.statusCode ?? 502, answered);
    pipeline(answer, response, () => {});
  });
  use.open++;
  upstream.on("error", (error) => {
    if (!response.headersSent) use.lastStatus = 502;
    reject(response, 502, `The model cannot be reached: ${errorMessage(error)}`);
  });
  // The agent has gone, and pays for no more of the answer.
  response.on("close", () => {
    use.open--;
    use.lastAt = performance.now();
    upstream.destroy();
  });
  if (body === undefined) pipeline(request, upstream, () => {});
  else upstream.end(body);
}

/** Does nothing in the middle of an answer, which ends with the connection to the model. */
function reject(response: ServerResponse, status: number, reason: string): void {
  if (!response.headersSent) response.writeHead(status, { "content-type": "text/plain" }).end(`${reason}\n`);
}
