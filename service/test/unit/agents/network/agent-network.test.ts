import { existsSync } from "node:fs";
import { basename } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Agent, shellAgent } from "../../../../src/agents/agent.ts";
import { agentEnvironment } from "../../../../src/agents/environment.ts";
import { createAgentNetwork } from "../../../../src/agents/network/agent-network.ts";
import type { NetworkKind } from "../../../../src/agents/network/network-kind.ts";
import { anyModelApi } from "../../../support/model-api.ts";

const agent: Agent = {
  ...shellAgent("agent"),
  modelEndpoint: {
    url: "https://models.example/v1/",
    baseUrlVariable: "MODEL_URL",
    keyVariable: "MODEL_KEY",
    api: anyModelApi,
    header: (key) => ["Authorization", key],
  },
};

async function create(kind: NetworkKind, of: Agent, hosts: string[], service: Record<string, string>) {
  const network = await createAgentNetwork(kind, of, hosts, service, () => {});
  onTestFinished(() => network[Symbol.asyncDispose]());
  return network;
}

const command = { file: "agent", args: ["-p"] };

test("full changes nothing", async () => {
  const network = await create("full", agent, [], { MODEL_KEY: "key" });
  expect(network).toMatchObject({ isShared: true, environment: {}, reads: [], programs: [] });
  expect(network.wrap(command)).toBe(command);
  await expect(network[Symbol.asyncDispose]()).resolves.toBeUndefined();
});

test.each(["none", "model"] as const)(
  "with %s, an agent does not learn the password of the machine's proxy",
  async (kind) => {
    const names = ["HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    const service = { MODEL_KEY: "key", ...Object.fromEntries(names.map((name) => [name, "http://me:s3cret@proxy"])) };
    const network = await create(kind, agent, [], service);
    expect(network.isShared).toBe(false);
    const environment = agentEnvironment({ ...agent, passes: names }, service, network.environment);
    expect(JSON.stringify(environment)).not.toContain("s3cret");
  },
);

const proxy = "http://127.0.0.1:3128";
const proxyVariables = {
  HTTP_PROXY: proxy,
  http_proxy: proxy,
  HTTPS_PROXY: proxy,
  https_proxy: proxy,
  ALL_PROXY: proxy,
  all_proxy: proxy,
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
  NODE_USE_ENV_PROXY: "1",
};

test("model runs the agent behind a proxy, without its key", async () => {
  const network = await create("model", agent, [], { MODEL_KEY: "key" });
  expect(network.isShared).toBe(false);
  expect(network.environment).toEqual({
    ...proxyVariables,
    MODEL_URL: `${proxy}/v1`,
    MODEL_KEY: "added-by-the-service",
  });
  const [socket = "", forwarder = ""] = network.reads;
  expect(network.reads).toHaveLength(2);
  expect(basename(forwarder)).toBe("forwarder.ts");
  expect(existsSync(forwarder)).toBe(true);
  expect(network.programs).toEqual([process.execPath]);
  expect(network.wrap(command)).toEqual({ file: process.execPath, args: [forwarder, "3128", socket, "agent", "-p"] });
  expect(existsSync(socket)).toBe(true);
  await network[Symbol.asyncDispose]();
  expect(existsSync(socket)).toBe(false);
});

test("model with a host but no key only opens tunnels", async () => {
  const network = await create("model", agent, ["models.example"], {});
  expect(network.environment).toEqual(proxyVariables);
  const ownHost = await create("model", { ...shellAgent("agent"), hosts: ["models.example"] }, [], {});
  expect(ownHost.environment).toEqual(proxyVariables);
});

test.each([
  ["key", agent],
  ["endpoint", shellAgent("agent")],
])("model is not possible without a %s or host", async (_name, of) => {
  await expect(create("model", of, [], {})).rejects.toThrow(
    "the model of this agent is unknown: name its host with --model-host",
  );
});
