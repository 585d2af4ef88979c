import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Agent, shellAgent } from "../../../src/agents/agent.ts";
import { createAgentNetwork, createSetupNetwork } from "../../../src/agents/network/agent-network.ts";
import { type ModelProxyOptions, startModelProxy } from "../../../src/agents/network/model-proxy.ts";
import type { NetworkKind } from "../../../src/agents/network/network-kind.ts";
import { bubblewrap } from "../../../src/agents/sandbox/bubblewrap.ts";
import { docsRepository, runJob, scriptAgent, startAgentService } from "../../support/agent-service.ts";
import { anyModelApi } from "../../support/model-api.ts";
import { findObstacle } from "../../support/sandbox-obstacle.ts";

interface Server {
  url: string;
  host: string;
  requests: { url: string; headers: IncomingHttpHeaders }[];
}

/** Starts a server that answers every request with "hello", and records it. */
async function startServer(): Promise<Server> {
  const requests: Server["requests"] = [];
  const server = createServer((received, response) => {
    requests.push({ url: received.url ?? "", headers: received.headers });
    received.resume().on("end", () => response.end("hello"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, requests };
}

const endpointOf = ({ url }: Server) => ({
  url: `${url}/v1`,
  baseUrlVariable: "MODEL_URL",
  keyVariable: "MODEL_KEY",
  api: anyModelApi,
  header: (key: string): [string, string] => ["Authorization", `Bearer ${key}`],
});

const key = "key_of_the_model";

describe("the proxy of the model", () => {
  async function start(model: Server, options: Partial<ModelProxyOptions> = {}) {
    const log: string[] = [];
    const proxy = await startModelProxy({
      model: { endpoint: endpointOf(model), secret: () => key },
      hosts: [],
      log: (line) => void log.push(line),
      ...options,
    });
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    return { ...proxy, log };
  }

  /** Sends a request to the proxy, and returns the status of the response. */
  async function send(socketPath: string, path: string, headers = {}, method = "POST"): Promise<number | undefined> {
    const sent = request({ socketPath, path, method, headers }).end();
    const event = method === "CONNECT" ? "connect" : "response";
    const [response] = await once(sent, event);
    response.resume();
    return response.statusCode;
  }

  test("adds the key in place of what the agent sends", async () => {
    const model = await startServer();
    const { socket } = await start(model);
    const headers = { authorization: "Bearer dummy", "x-api-key": "dummy", cookie: "a=b", "x-version": "1" };
    expect(await send(socket, "/v1/messages?beta=true", headers)).toBe(200);
    const [received] = model.requests;
    expect(received?.url).toBe("/v1/messages?beta=true");
    expect(received?.headers).toMatchObject({ authorization: `Bearer ${key}`, host: model.host, "x-version": "1" });
    expect(received?.headers).not.toHaveProperty("x-api-key");
    expect(received?.headers).not.toHaveProperty("cookie");
  });

  test.each([
    "/v2/messages",
    "/v1/../admin",
    "/v1/%2e%2e/admin",
    "/v1x",
    "//other.example/v1",
    "http://other.example/v1/x",
  ])("does not send %s to the model", async (path) => {
    const model = await startServer();
    const { socket } = await start(model);
    expect(await send(socket, path)).toBe(403);
    expect(model.requests).toEqual([]);
  });

  test("sends no TRACE, whose answer would show the key", async () => {
    const model = await startServer();
    const { socket } = await start(model);
    expect(await send(socket, "/v1/messages", {}, "TRACE")).toBe(403);
    expect(model.requests).toEqual([]);
  });

  test("opens no WebSocket, with the status on which a client falls back to HTTP", async () => {
    const model = await startServer();
    const { socket } = await start(model);
    const headers = { connection: "Upgrade", upgrade: "websocket" };
    expect(await send(socket, "/v1/responses", headers, "GET")).toBe(426);
    expect(model.requests).toEqual([]);
  });

  test("rejects headers that are too large", async () => {
    const model = await startServer();
    const { socket } = await start(model);
    expect(await send(socket, "/v1/messages", { "x-large": "x".repeat(70_000) })).toBe(431);
    expect(model.requests).toEqual([]);
  });

  test("answers 502 if the model cannot be reached", async () => {
    const { socket } = await start({ url: "http://127.0.0.1:9", host: "", requests: [] });
    expect(await send(socket, "/v1/messages")).toBe(502);
  });

  test("opens tunnels only to the hosts it is given, and logs a denied one once", async () => {
    const model = await startServer();
    const { socket, log } = await start(model, { hosts: [model.host, "example.com", "127.0.0.1:9"] });
    expect(await send(socket, model.host, {}, "CONNECT")).toBe(200);
    expect(await send(socket, "127.0.0.1:9", {}, "CONNECT")).toBe(502);
    for (const host of ["example.com:80", "sub.example.com:443", "example.com:80"])
      expect(await send(socket, host, {}, "CONNECT")).toBe(403);
    expect(log).toEqual([
      "127.0.0.1:9 cannot be reached: connect ECONNREFUSED 127.0.0.1:9",
      "An agent was denied a connection to example.com:80.",
      "An agent was denied a connection to sub.example.com:443.",
    ]);
  });
});

test("setup is denied the machine, whatever leads there", async () => {
  const machine = await startServer();
  const port = machine.host.split(":")[1];
  const hosts = ["127.0.0.1", "localhost", "127.1", "2130706433"].map((host) => `${host}:${port}`);
  const log: string[] = [];
  await using network = await createSetupNetwork(hosts, {}, (line) => void log.push(line));
  const [, , socketPath = ""] = network.wrap({ file: "x", args: [] }).args;
  for (const [host, status] of [
    ...hosts.map((one, index) => [one, index === 0 ? 403 : 502] as const),
    ["other.example:443", 403] as const,
  ]) {
    const sent = request({ socketPath, path: host, method: "CONNECT" }).end();
    const [response] = await once(sent, "connect");
    expect([host, response.statusCode]).toEqual([host, status]);
  }
  const plain = request({ socketPath, path: `http://${machine.host}/` }).end();
  const [response] = await once(plain, "response");
  expect(response.statusCode).toBe(403);
  expect(machine.requests).toEqual([]);
});

const obstacle = await findObstacle("bwrap");

describe.skipIf(obstacle !== undefined)(`in a sandbox${obstacle ? `, skipped: ${obstacle}` : ""}`, () => {
  /** Runs an agent that tries to reach its model, a permitted host and another one. Returns its answers. */
  async function tryNetwork(kind: NetworkKind) {
    const [model, permitted, other] = [await startServer(), await startServer(), await startServer()];
    const script = scriptAgent(`
      const { MODEL_URL, MODEL_KEY, HTTP_PROXY } = process.env;
      const result = { key: MODEL_KEY ?? null };
      const attempt = async (name, action) => {
        result[name] = await action().catch(() => "unreachable");
      };
      const post = async (url) =>
        (await fetch(url, { method: "POST", body: JSON.stringify({ prompt }), headers: { authorization: "Bearer " + MODEL_KEY } })).text();
      await attempt("model", () => post((MODEL_URL ?? ${JSON.stringify(model.url)}) + "/messages"));
      const { connect } = await import("node:net");
      const direct = (url) => new Promise((resolve, reject) => {
        const { hostname, port } = new URL(url);
        connect(port, hostname, () => resolve("hello")).on("error", reject).unref();
      });
      await attempt("direct", () => direct(${JSON.stringify(other.url)}));
      const tunnel = (host) => new Promise((resolve, reject) => {
        const { hostname, port } = new URL(HTTP_PROXY);
        const socket = connect(port, hostname, () => socket.write("CONNECT " + host + " HTTP/1.1\\r\\nHost: " + host + "\\r\\n\\r\\n"));
        let text = "";
        socket.on("error", reject).on("data", (data) => {
          text += data;
          if (text.includes(" 403 ")) resolve("denied");
          else if (text.includes("hello")) resolve("hello");
          else if (text.endsWith("Established\\r\\n\\r\\n")) socket.write("GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n");
        });
      });
      if (HTTP_PROXY) {
        await attempt("permitted", () => tunnel(${JSON.stringify(permitted.host)}));
        await attempt("denied", () => tunnel(${JSON.stringify(other.host)}));
      }
      fs.writeFileSync("result.json", JSON.stringify(result));
      process.exit();`);
    const agent: Agent = {
      ...script,
      passes: ["MODEL_KEY"],
      modelEndpoint: endpointOf(model),
      hosts: [permitted.host],
    };
    process.env.MODEL_KEY = key;
    const docs = docsRepository();
    try {
      await using network = await createAgentNetwork(kind, agent, [], process.env, () => {});
      await using service = await startAgentService(docs, { agent, sandbox: bubblewrap, network });
      const { id } = await runJob(service, "Go on");
      return { result: JSON.parse(docs.read(`agent/${id}`, "result.json")), model };
    } finally {
      delete process.env.MODEL_KEY;
    }
  }

  test("an agent that may reach only its model does so without having the key", async () => {
    const { result, model } = await tryNetwork("model");
    expect(result).toEqual({
      key: "added-by-the-service",
      model: "hello",
      direct: "unreachable",
      permitted: "hello",
      denied: "denied",
    });
    expect(model.requests).toMatchObject([{ url: "/v1/messages", headers: { authorization: `Bearer ${key}` } }]);
  });

  test("an agent without a network reaches nothing", async () => {
    expect((await tryNetwork("none")).result).toEqual({ key, model: "unreachable", direct: "unreachable" });
  });

  test("an agent with the full network has its key", async () => {
    expect((await tryNetwork("full")).result).toMatchObject({ key, model: "hello", direct: "hello" });
  });
});

test("an agent whose model is unknown cannot be limited to it", async () => {
  const agent = shellAgent("agent");
  await expect(createAgentNetwork("model", agent, [], {}, () => {})).rejects.toThrow("--model-host");
  const network = await createAgentNetwork("model", agent, ["models.example"], {}, () => {});
  await network[Symbol.asyncDispose]();
});
