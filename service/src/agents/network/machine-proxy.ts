import { type EventEmitter, once } from "node:events";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { BlockList, connect, isIPv4, type LookupFunction, type Socket } from "node:net";
import { PrivateAddress } from "./public-address.ts";

// The proxy through which a company's machines reach the internet, by the variables that curl and Git read.

/** @throws if the variable has no address of a proxy that can be used, without quoting it: it may have a password */
export function machineProxy(url: URL, environment: NodeJS.ProcessEnv): URL | undefined {
  const read = (name: string): string => (environment[name] || environment[name.toUpperCase()] || "").trim();
  const name = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const address = read(name);
  if (address === "" || isDirect(url, read("no_proxy"))) return undefined;
  const proxy = URL.parse(/^[a-z][\w+.-]*:\/\//i.test(address) ? address : `http://${address}`);
  if (proxy === null || !/^https?:$/.test(proxy.protocol) || decoded(proxy.username + proxy.password) === undefined)
    throw new Error(`the variable ${name} has no address of an http or https proxy`);
  return proxy;
}

/** As curl reads it: a name stands for those below it, too. The machine itself needs no proxy. */
function isDirect({ hostname, protocol, port: given }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const port = given || (protocol === "https:" ? "443" : "80");
  if (host === "::1" || /(?:^|\.)localhost$/.test(host) || (isIPv4(host) && host.startsWith("127."))) return true;
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [, network = "", bits] = /^([\d.]+)\/(\d{1,2})$/.exec(entry) ?? [];
      if (isIPv4(network) && Number(bits) <= 32) {
        const list = new BlockList();
        list.addSubnet(network, Number(bits));
        return isIPv4(host) && list.check(host);
      }
      const [, name = "", only = port] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      return name === "*" || (name !== "" && only === port && `.${host}`.endsWith(`.${name}`));
    });
}

/** Returns the agent that sends requests to an address through the machine's proxy. */
export function agentFor(url: URL, environment: NodeJS.ProcessEnv): HttpAgent {
  const proxy = machineProxy(url, environment)?.href;
  const options = { keepAlive: true, proxyEnv: proxy === undefined ? {} : { http_proxy: proxy, https_proxy: proxy } };
  return url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
}

export interface DialOptions {
  environment: NodeJS.ProcessEnv;
  /** Resolves a name, and fails with `PrivateAddress` for one that nothing may lead to. Default: all are allowed. */
  lookup?: LookupFunction | undefined;
  signal: AbortSignal;
}

/** The longest time that a proxy may take to connect, in milliseconds. */
const timeoutMs = 60_000;

/**
 * Connects to a host, through the machine's proxy for it if there is one. The proxy resolves names that the machine does not know.
 *
 * @throws if there is no connection, with the cause
 */
export async function dial(host: string, port: number, { environment, lookup, signal }: DialOptions): Promise<Socket> {
  const proxy = machineProxy(new URL(`https://${host}:${port}`), environment);
  if (proxy === undefined) {
    const socket = connect({ host, port, lookup, signal });
    await once(ignoringErrors(socket), "connect");
    return socket;
  }
  if (lookup !== undefined) await refusePrivate(host, lookup);
  const target = `${host}:${port}`;
  const { protocol, hostname, username, password } = proxy;
  const credential = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64");
  const request = (protocol === "https:" ? httpsRequest : httpRequest)({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: proxy.port || (protocol === "https:" ? 443 : 80),
    method: "CONNECT",
    path: target,
    headers: { host: target, ...((username || password) && { "proxy-authorization": `Basic ${credential}` }) },
    agent: false,
    signal,
    timeout: timeoutMs,
  });
  request.on("timeout", () => request.destroy(new Error(`the proxy ${proxy.host} does not answer`))).end();
  const connected = await once(ignoringErrors(request), "connect");
  const [{ statusCode }, socket, head] = connected as [IncomingMessage, Socket, Buffer];
  if (statusCode !== 200) {
    socket.destroy();
    throw new Error(`the proxy ${proxy.host} answers ${statusCode}`);
  }
  socket.setTimeout(0);
  socket.unshift(head);
  return socket;
}

/** An error that nobody awaits would end the process. */
function ignoringErrors<T extends EventEmitter>(emitter: T): T {
  return emitter.on("error", () => {});
}

/** Returns undefined if the text is not percent-encoded correctly. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Fails for a name that is known to lead to where nothing may. */
function refusePrivate(host: string, lookup: LookupFunction): Promise<void> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error) => (error instanceof PrivateAddress ? reject(error) : resolve()));
  });
}
