import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, type LookupFunction } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import type { ModelEndpoint } from "../../../src/agents/agent.ts";
import { checkModelKey, UnusableModel } from "../../../src/agents/check-model-key.ts";
import { startModelProxy } from "../../../src/agents/network/model-proxy.ts";
import { PrivateAddress } from "../../../src/agents/network/public-address.ts";
import { presetAgent } from "../../../src/agents/presets.ts";
import { startCompanyProxy } from "../../support/company-proxy.ts";
import { anyModelApi } from "../../support/model-api.ts";

const certificates = join(import.meta.dirname, "../../../../test/support/certificates");
const certificate = readFileSync(join(certificates, "certificate.pem"), "utf8");

/** Starts a host that only the proxy knows by name. It answers with the path and the key. Returns its port. */
async function startHost(hasTls = false): Promise<number> {
  const listener: RequestListener = ({ url, headers }, response) =>
    void response.end(`${url} ${headers["model-key"] ?? headers["x-api-key"]}`);
  const tls = { cert: certificate, key: readFileSync(join(certificates, "key.pem")) };
  const server = hasTls ? createHttpsServer(tls, listener) : createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function trustCertificate(): void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, certificate]);
  onTestFinished(() => setDefaultCACertificates(before));
}

/** As where only the proxy resolves names. */
const noNames: LookupFunction = (hostname, _options, callback) =>
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" }), "");
const privateNames: LookupFunction = (hostname, _options, callback) =>
  callback(new PrivateAddress(`${hostname} is in a private network`), "");

/** What an agent or a setup asks of the proxy of its sandbox, and what comes back. */
const networks = {
  "its model": async (environment: NodeJS.ProcessEnv) => askModel("https://github.example.com", environment),
  "its model without TLS": async (environment: NodeJS.ProcessEnv) => askModel("http://github.example.com", environment),
  "a host of --model-host": (environment: NodeJS.ProcessEnv) => openTunnel("github.example.com:443", environment),
  "a host of setup": (environment: NodeJS.ProcessEnv) => openTunnel("github.example.com:443", environment, noNames),
};

async function askModel(url: string, environment: NodeJS.ProcessEnv) {
  const endpoint: ModelEndpoint = {
    url,
    baseUrlVariable: "MODEL_URL",
    keyVariable: "MODEL_KEY",
    api: anyModelApi,
    header: (key) => ["Model-Key", key],
  };
  await using proxy = await startModelProxy({
    model: { endpoint, secret: () => "key" },
    hosts: [],
    environment,
    log: () => {},
  });
  const sent = request({ socketPath: proxy.socket, path: "/messages", method: "POST" }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { said: await text(response), log: [] };
}

async function openTunnel(target: string, environment: NodeJS.ProcessEnv, resolve?: LookupFunction) {
  const log: string[] = [];
  await using proxy = await startModelProxy({
    hosts: [target],
    resolve,
    environment,
    log: (line) => void log.push(line),
  });
  const client = connect(proxy.socket);
  client.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [first] = await once(client, "data");
  if (String(first) !== "HTTP/1.1 200 Connection Established\r\n\r\n") return { said: String(first), log };
  client.write("GET /messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  return { said: await text(client), log };
}

type Network = keyof typeof networks;
const isTunnel = (network: Network) => network.startsWith("a host");
const all = Object.keys(networks) as Network[];

test.each(
  all.flatMap((network) =>
    ["HTTPS_PROXY", "https_proxy", "with a password"].map((variable) => [network, variable] as const),
  ),
)("%s is reached through the machine's proxy, as in %s", async (network, variable) => {
  trustCertificate();
  const hosts = { "github.example.com": await startHost(network === "its model") };
  const hasPassword = variable === "with a password";
  const { address, asked } = await startCompanyProxy({ hosts, ...(hasPassword && { credential: "me:p@ss" }) });
  const name = network === "its model without TLS" ? variable.replace(/s_/i, "_") : variable;
  const withPassword = `http://me:p%40ss@${address}`;
  const environment = hasPassword ? { HTTP_PROXY: withPassword, HTTPS_PROXY: withPassword } : { [name]: address };
  const { said } = await networks[network](environment);
  expect(said).toContain(isTunnel(network) ? "/messages undefined" : "/messages key");
  expect(asked).toHaveLength(1);
});

test.each(all)("%s is not asked of the machine's proxy if NO_PROXY names it", async (network) => {
  const { address, asked } = await startCompanyProxy({ hosts: {} });
  const environment = { HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: "example.com" };
  const { said } = await networks[network](environment);
  expect(said).toMatch(/502 Bad Gateway|cannot be reached: getaddrinfo/);
  expect(asked).toEqual([]);
});

test.each([
  ["403", { hosts: {} }],
  ["407", { hosts: {}, credential: "me:p@ss" }],
])("the log says that the machine's proxy answers a tunnel with %s", async (status, options) => {
  const { address } = await startCompanyProxy(options);
  const { said, log } = await openTunnel("npm.example.com:443", { HTTPS_PROXY: `http://me:wrong@${address}` });
  expect(said).toBe("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  expect(log).toEqual([`npm.example.com:443 cannot be reached: the proxy ${address} answers ${status}`]);
});

test("setup does not reach a private network through the machine's proxy either", async () => {
  const { address, asked } = await startCompanyProxy({ hosts: { "npm.example.com": await startHost() } });
  const { said, log } = await openTunnel("npm.example.com:443", { HTTPS_PROXY: address }, privateNames);
  expect(said).toBe("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  expect(log).toEqual(["npm.example.com:443 cannot be reached: npm.example.com is in a private network"]);
  expect(asked).toEqual([]);
});

const check = async (environment: Record<string, string>) => {
  const agent = presetAgent("claude", environment);
  if (agent === undefined) throw new Error("no such agent");
  const log: string[] = [];
  await checkModelKey(agent, environment, (line) => void log.push(line));
  return log;
};

test.each([
  ["403", {}],
  ["407", { credential: "me:p@ss" }],
])("a model that the machine's proxy refuses with %s is found before a job", async (status, options) => {
  const { address } = await startCompanyProxy({ hosts: {}, ...options });
  const checked = check({ ANTHROPIC_API_KEY: "k", HTTPS_PROXY: `http://me:wrong@${address}` });
  await expect(checked).rejects.toThrow(UnusableModel);
  await expect(checked).rejects.toThrow(
    `https://api.anthropic.com cannot be reached, through the machine's proxy ${address}: Failed to establish tunnel to api.anthropic.com:443 via http://${address}/: HTTP/1.1 ${status} No.`,
  );
});

test("a model's key is checked through the machine's proxy, or its address is an error", async () => {
  trustCertificate();
  const { address, asked } = await startCompanyProxy({ hosts: { "github.example.com": await startHost(true) } });
  const model = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "https://github.example.com" };
  expect(await check({ ...model, HTTPS_PROXY: address })).toEqual([]);
  expect(asked).toEqual(["github.example.com:443"]);
  await expect(check({ ...model, HTTPS_PROXY: "socks5://proxy" })).rejects.toThrow(UnusableModel);
  expect(await check({ ANTHROPIC_API_KEY: "k", HTTPS_PROXY: "127.0.0.1:9" })).toEqual([
    expect.stringMatching(/could not be checked: .*, through the machine's proxy 127\.0\.0\.1:9: connect ECONNREFUSED/),
  ]);
});
