import { existsSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Agent, shellAgent } from "../../../../src/agents/agent.ts";
import { agentEnvironment } from "../../../../src/agents/environment.ts";
import { createAgentNetwork } from "../../../../src/agents/network/agent-network.ts";
import type { NetworkKind } from "../../../../src/agents/network/network-kind.ts";
import { presetAgent, presetNames } from "../../../../src/agents/presets.ts";
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

const proxy = "http://127.0.0.1:3128";

/** What a machine can have set, whatever its agent. */
const machine = {
  ...Object.fromEntries(
    ["HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].map((name) => [name, "http://me:s3cret@p"]),
  ),
  NO_PROXY: ".corp",
  no_proxy: ".corp",
  NODE_EXTRA_CA_CERTS: "/ca.pem",
  GITHUB_TOKEN: "s3cret",
  ANTHROPIC_CUSTOM_HEADERS: "X-Team: s3cret",
};
const own = { key: "k3y", baseUrl: "https://gateway.corp/models/v1/" };
const keys = ["ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY", "COPILOT_GITHUB_TOKEN"];

describe.each(presetNames)("%s", (name) => {
  const withKeys = { ...machine, ...Object.fromEntries(keys.map((key) => [key, own.key])) };
  const { baseUrlVariable = "", keyVariable = "" } = presetAgent(name, withKeys)?.modelEndpoint ?? {};
  const service = { ...withKeys, [baseUrlVariable]: own.baseUrl };

  test.each<[NetworkKind, { machineProxy: string; noProxy: string; baseUrl: string; isSecret: boolean }]>([
    ["full", { machineProxy: "http://me:s3cret@p", noProxy: ".corp", baseUrl: own.baseUrl, isSecret: false }],
    ["none", { machineProxy: "", noProxy: ".corp", baseUrl: own.baseUrl, isSecret: false }],
    ["model", { machineProxy: proxy, noProxy: "127.0.0.1,localhost", baseUrl: `${proxy}/models/v1`, isSecret: true }],
  ])("with the network %s, it has these variables of the machine: %j", async (kind, expected) => {
    const { machineProxy, noProxy, baseUrl, isSecret } = expected;
    const of = presetAgent(name, service);
    if (of === undefined) throw new Error(`no preset ${name}`);
    const network = await create(kind, of, [], service);
    const environment = agentEnvironment(of, service, network.environment);
    for (const variable of ["HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
      expect(environment[variable]).toBe(machineProxy);
    expect([environment.NO_PROXY, environment.no_proxy]).toEqual([noProxy, noProxy]);
    expect(environment).toMatchObject({ NODE_EXTRA_CA_CERTS: "/ca.pem", [baseUrlVariable]: baseUrl });
    expect(environment[keyVariable] === own.key).toBe(!isSecret);
    const all = JSON.stringify(environment);
    expect(all.includes(own.key)).toBe(!isSecret);
    if (isSecret) expect(all).not.toContain("s3cret");
    expect(environment).not.toHaveProperty("GITHUB_TOKEN");
  });
});

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
