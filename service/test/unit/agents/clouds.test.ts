import { describe, expect, onTestFinished, test } from "vitest";
import { keysOf } from "../../../../src/runner-kit/agent-service.ts";
import { credentialHeaders, type ModelEndpoint } from "../../../src/agents/agent.ts";
import { agentEnvironment } from "../../../src/agents/environment.ts";
import { createAgentNetwork } from "../../../src/agents/network/agent-network.ts";
import { presetAgent } from "../../../src/agents/presets.ts";
import { createProjectSettings } from "../../../src/options/project-settings.ts";
import { findSignatureProblem } from "../../support/aws-signature.ts";

const bedrock = { CLAUDE_CODE_USE_BEDROCK: "1", AWS_REGION: "eu-central-1" };
const byToken = { ...bedrock, AWS_BEARER_TOKEN_BEDROCK: "secret-bearer-token" };
const byRole = {
  ...bedrock,
  AWS_ACCESS_KEY_ID: "secret-access-key-id",
  AWS_SECRET_ACCESS_KEY: "secret-access-key",
  AWS_SESSION_TOKEN: "secret-session-token",
};
const vertex = {
  CLAUDE_CODE_USE_VERTEX: "true",
  ANTHROPIC_VERTEX_PROJECT_ID: "docs-project",
  CLOUD_ML_REGION: "europe-west1",
  CLOUDSDK_AUTH_ACCESS_TOKEN: "secret-access-token",
};
const foundry = {
  CLAUDE_CODE_USE_FOUNDRY: "1",
  ANTHROPIC_FOUNDRY_RESOURCE: "docs",
  ANTHROPIC_FOUNDRY_API_KEY: "secret-foundry-key",
};
const foundryByToken = {
  CLAUDE_CODE_USE_FOUNDRY: "1",
  ANTHROPIC_FOUNDRY_RESOURCE: "docs",
  ANTHROPIC_FOUNDRY_AUTH_TOKEN: "secret-foundry-token",
};
const gateway = {
  ANTHROPIC_BASE_URL: "https://gateway.example.com/llm",
  ANTHROPIC_AUTH_TOKEN: "secret-gateway-token",
  ANTHROPIC_CUSTOM_HEADERS: "X-Tenant: docs\n\nX-Subscription : secret-subscription-1 \n",
};
const azure = {
  OPENAI_BASE_URL: "https://docs.openai.azure.com/openai/v1",
  OPENAI_API_KEY: "secret-azure-key",
  OPENAI_CUSTOM_HEADERS: "X-Subscription: secret-subscription-1",
};

type Variables = Record<string, string>;

function endpointOf(environment: Variables, agent = "claude"): ModelEndpoint {
  const endpoint = presetAgent(agent, environment)?.modelEndpoint;
  if (endpoint === undefined) throw new Error("no endpoint");
  return endpoint;
}

const model = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const messages = "/v1/messages?beta=true";
const vertexModels = "/v1/projects/docs-project/locations/europe-west1/publishers/anthropic/models";

const ways: [name: string, agent: string, environment: Variables, address: string][] = [
  ["Bedrock by a token", "claude", byToken, "https://bedrock-runtime.eu-central-1.amazonaws.com"],
  ["Bedrock by a role", "claude", byRole, "https://bedrock-runtime.eu-central-1.amazonaws.com"],
  ["Vertex AI", "claude", vertex, `https://europe-west1-aiplatform.googleapis.com${vertexModels}`],
  [
    "Vertex AI in all regions",
    "claude",
    { ...vertex, CLOUD_ML_REGION: "global" },
    `https://aiplatform.googleapis.com${vertexModels.replace("europe-west1", "global")}`,
  ],
  [
    "Vertex AI in Europe",
    "claude",
    { ...vertex, CLOUD_ML_REGION: "eu" },
    `https://aiplatform.eu.rep.googleapis.com${vertexModels.replace("europe-west1", "eu")}`,
  ],
  ["Foundry by a key", "claude", foundry, "https://docs.services.ai.azure.com/anthropic"],
  ["Foundry by a token", "claude", foundryByToken, "https://docs.services.ai.azure.com/anthropic"],
  ["a gateway", "claude", gateway, "https://gateway.example.com/llm"],
  ["Azure", "codex", azure, "https://docs.openai.azure.com/openai/v1"],
];

describe.each(ways)("%s", (_name, agent, environment, address) => {
  test("has the address that its variables say", () => {
    const { url, folder = "" } = endpointOf(environment, agent);
    expect(url + folder).toBe(address);
  });

  test("gives the agent in its sandbox no secret, and all that it needs to ask the proxy", async () => {
    const preset = presetAgent(agent, environment);
    if (preset === undefined) throw new Error("no preset");
    const network = await createAgentNetwork("model", preset, [], environment, () => {});
    onTestFinished(() => network[Symbol.asyncDispose]());
    const inside = agentEnvironment(preset, environment, network.environment);
    expect(JSON.stringify(inside)).not.toContain("secret-");
    const { baseUrlVariable, url } = endpointOf(environment, agent);
    expect(inside[baseUrlVariable]).toBe(`http://127.0.0.1:3128${new URL(url).pathname.replace(/\/$/, "")}`);
    for (const [name, value] of Object.entries(environment))
      if (/_USE_|REGION|PROJECT/.test(name)) expect(inside[name]).toBe(value);
  });

  test("lets no change have a secret of it", () => {
    const { secrets } = createProjectSettings({ repository: "x", agent }, environment);
    const known = Array.from(secrets, ({ value }) => value);
    const all = Object.values(environment).flatMap((value) => value.match(/secret-[\w-]+/g) ?? []);
    expect(all.length).toBeGreaterThan(0);
    for (const secret of all) expect(known).toContain(secret);
    for (const name of ["AWS_REGION", "CLOUD_ML_REGION", "ANTHROPIC_FOUNDRY_RESOURCE"])
      if (environment[name]) expect(known).not.toContain(environment[name]);
  });

  test("has the credential in the variables that the step looks for", () => {
    const keys = keysOf(agent, environment);
    const without = Object.fromEntries(Object.entries(environment).filter(([name]) => !keys.includes(name)));
    expect(keys.some((name) => environment[name])).toBe(true);
    expect(() => presetAgent(agent, without)).toThrow(`requires ${keys.join(" or ")} in the environment.`);
  });
});

test.each([
  ["Bedrock", byToken, "POST", `/model/${model}/invoke-with-response-stream`, true],
  ["Bedrock", byToken, "POST", `/model/${encodeURIComponent(model)}/invoke`, true],
  ["Bedrock", byToken, "POST", `/model/${model}/converse`, false],
  ["Bedrock", byToken, "GET", "/inference-profiles", false],
  ["Bedrock", byToken, "POST", "/model/a/b/invoke", false],
  ["Vertex", vertex, "POST", "/claude-sonnet-4-5@20250929:streamRawPredict", true],
  ["Vertex", vertex, "POST", "/claude-sonnet-4-5%4020250929:rawPredict", true],
  ["Vertex", vertex, "POST", "/count-tokens:rawPredict", true],
  ["Vertex", vertex, "POST", "/claude:predict", false],
  ["Vertex", vertex, "GET", "/claude", false],
  ["Foundry", foundry, "POST", "/v1/messages", true],
  ["Foundry", foundry, "POST", "/v1/files", false],
])("%s with %o is asked only for its models: %s %s", (_name, environment, method, path, isAllowed) => {
  expect(endpointOf(environment).api.allows(method, path)).toBe(isAllowed);
});

test("a provider's tools are found on all clouds", () => {
  for (const environment of [byToken, byRole, vertex, foundry]) {
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    expect(endpointOf(environment).api.findServerTool({ tools }, messages)).toBe("the tool web_search_20250305");
  }
});

describe("the headers of a request", () => {
  const url = new URL(`https://bedrock-runtime.eu-central-1.amazonaws.com/model/${model}/invoke-with-response-stream`);
  const request = { method: "POST", url, body: '{"messages":[]}' };
  const headersOf = (environment: Variables, agent = "claude") =>
    credentialHeaders(endpointOf(environment, agent), request, (name) => environment[name] ?? "");

  test("have the signature of a role, of this body", async () => {
    const headers = { ...(await headersOf(byRole)), host: url.host };
    const received = { method: "POST", url: url.pathname, headers, body: request.body };
    const credentials = {
      accessKeyId: byRole.AWS_ACCESS_KEY_ID,
      secretAccessKey: byRole.AWS_SECRET_ACCESS_KEY,
      sessionToken: byRole.AWS_SESSION_TOKEN,
      region: "eu-central-1",
    };
    expect(findSignatureProblem(received, credentials)).toBeUndefined();
    expect(findSignatureProblem({ ...received, body: "{}" }, credentials)).toMatch(/signature/);
    expect(findSignatureProblem({ ...received, headers: { ...headers, host: "other" } }, credentials)).toMatch(
      /signature/,
    );
  });

  test("have what a gateway requires", async () => {
    expect(await headersOf(gateway)).toEqual({
      authorization: "Bearer secret-gateway-token",
      "x-tenant": "docs",
      "x-subscription": "secret-subscription-1",
    });
    expect(await headersOf(azure, "codex")).toEqual({
      authorization: "Bearer secret-azure-key",
      "x-subscription": "secret-subscription-1",
    });
  });
});

test.each([
  [{ ...byToken, AWS_REGION: "" }, "CLAUDE_CODE_USE_BEDROCK needs AWS_REGION, too, which is not set."],
  [{ ...byToken, AWS_REGION: "Frankfurt" }, "AWS_REGION is not valid: Frankfurt."],
  [{ ...byRole, AWS_SECRET_ACCESS_KEY: "" }, "CLAUDE_CODE_USE_BEDROCK needs AWS_SECRET_ACCESS_KEY, too"],
  [{ ...byRole, AWS_SESSION_TOKEN: "secret\nsession" }, "AWS_SESSION_TOKEN has a line break"],
  [{ ...vertex, ANTHROPIC_VERTEX_PROJECT_ID: "a/../b" }, "ANTHROPIC_VERTEX_PROJECT_ID is not valid: a/../b."],
  [{ ...vertex, CLOUD_ML_REGION: "" }, "CLAUDE_CODE_USE_VERTEX needs CLOUD_ML_REGION, too"],
  [{ ...foundry, ANTHROPIC_FOUNDRY_RESOURCE: "" }, "CLAUDE_CODE_USE_FOUNDRY needs ANTHROPIC_FOUNDRY_RESOURCE, too"],
  [{ ...gateway, ANTHROPIC_CUSTOM_HEADERS: "secret" }, "ANTHROPIC_CUSTOM_HEADERS must have NAME: VALUE in each line."],
  [{ ...gateway, ANTHROPIC_BASE_URL: "gateway.example.com:8080" }, "ANTHROPIC_BASE_URL must be a URL."],
  [{ ...gateway, ANTHROPIC_BASE_URL: "https://gateway.example\n.com" }, "ANTHROPIC_BASE_URL must be a URL."],
])("rejects before a job what cannot work: %o", (environment, problem) => {
  expect(() => presetAgent("claude", environment)).toThrow(problem);
});

test("a base URL names Foundry's resource, and a switch that is off leads nowhere", () => {
  const url = "https://gateway.example.com/anthropic";
  expect(endpointOf({ ...foundry, ANTHROPIC_FOUNDRY_RESOURCE: "", ANTHROPIC_FOUNDRY_BASE_URL: url }).url).toBe(url);
  expect(endpointOf({ ...byToken, CLAUDE_CODE_USE_BEDROCK: "0", ANTHROPIC_API_KEY: "a" }).url).toContain("anthropic");
});
