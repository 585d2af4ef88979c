import { mkdtempSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { step } from "../../../test/support/step.ts";
import { docsRepository, runJob } from "../support/agent-service.ts";
import { findSignatureProblem } from "../support/aws-signature.ts";
import { spawnService } from "../support/service-process.ts";
import { jobEnvironment, setUpGitHub } from "../support/workflow-job.ts";
import { type AgentUnderTest, agents, cacheFolder, programFolder } from "./agents.ts";
import { script } from "./model-script.ts";
import { type ReceivedRequest, startScriptedModel } from "./scripted-model.ts";

/** A cloud or gateway, and what it checks. */
interface Way {
  agent: "claude" | "codex";
  model: string;
  /** Returns the variables, by the address of the stand-in. */
  environment(url: string): Record<string, string>;
  path: RegExp;
  findProblem(request: ReceivedRequest): string | undefined;
}

const secret = "value-of-the-credential";
const region = "eu-central-1";
const credentials = {
  accessKeyId: `AKID${secret.replaceAll("-", "")}`,
  secretAccessKey: `secret-${secret}`,
  sessionToken: `session-${secret}`,
  region,
};

const inHeader =
  (name: string, value: string): Way["findProblem"] =>
  ({ headers }) =>
    headers[name] === value ? undefined : `${name} is ${headers[name]}.`;

const bedrock = {
  agent: "claude" as const,
  model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
  path: /^\/model\/eu\.anthropic\.[\w.%:-]+\/invoke(-with-response-stream)?$/,
};
const switchedOn = (url: string) => ({
  CLAUDE_CODE_USE_BEDROCK: "1",
  AWS_REGION: region,
  ANTHROPIC_BEDROCK_BASE_URL: url,
});
const foundry = { agent: "claude" as const, model: "claude-sonnet-4-5", path: /^\/anthropic\/v1\/(messages|models)\b/ };

const ways: Record<string, Way> = {
  "a gateway with headers of its own": {
    agent: "claude",
    model: "company-model",
    environment: (url) => ({
      ANTHROPIC_BASE_URL: `${url}/llm`,
      ANTHROPIC_AUTH_TOKEN: secret,
      ANTHROPIC_CUSTOM_HEADERS: `X-Tenant: docs\nX-Subscription: ${secret}`,
    }),
    path: /^\/llm\/v1\/(messages|models)\b/,
    findProblem: (request) =>
      inHeader("authorization", `Bearer ${secret}`)(request) ??
      inHeader("x-tenant", "docs")(request) ??
      inHeader("x-subscription", secret)(request),
  },
  "Bedrock by a bearer token": {
    ...bedrock,
    environment: (url) => ({ ...switchedOn(url), AWS_BEARER_TOKEN_BEDROCK: secret }),
    findProblem: inHeader("authorization", `Bearer ${secret}`),
  },
  "Bedrock by a role": {
    ...bedrock,
    environment: (url) => ({
      ...switchedOn(url),
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
    }),
    findProblem: (request) => findSignatureProblem(request, credentials),
  },
  "Vertex AI": {
    agent: "claude",
    model: "claude-sonnet-4-5@20250929",
    environment: (url) => ({
      CLAUDE_CODE_USE_VERTEX: "1",
      ANTHROPIC_VERTEX_PROJECT_ID: "docs-project",
      CLOUD_ML_REGION: "europe-west1",
      ANTHROPIC_VERTEX_BASE_URL: `${url}/v1`,
      CLOUDSDK_AUTH_ACCESS_TOKEN: secret,
    }),
    path: /^\/v1\/projects\/docs-project\/locations\/europe-west1\/publishers\/anthropic\/models\/[\w.@%-]+:\w+$/,
    findProblem: inHeader("authorization", `Bearer ${secret}`),
  },
  "Foundry by a key": {
    ...foundry,
    environment: (url) => ({
      CLAUDE_CODE_USE_FOUNDRY: "1",
      ANTHROPIC_FOUNDRY_BASE_URL: `${url}/anthropic`,
      ANTHROPIC_FOUNDRY_API_KEY: secret,
    }),
    findProblem: inHeader("x-api-key", secret),
  },
  "Foundry by a token": {
    ...foundry,
    environment: (url) => ({
      CLAUDE_CODE_USE_FOUNDRY: "1",
      ANTHROPIC_FOUNDRY_BASE_URL: `${url}/anthropic`,
      ANTHROPIC_FOUNDRY_AUTH_TOKEN: secret,
    }),
    findProblem: inHeader("authorization", `Bearer ${secret}`),
  },
  "Azure, with a deployment that Codex does not know": {
    agent: "codex",
    model: "docs-deployment",
    environment: (url) => ({
      OPENAI_BASE_URL: `${url}/openai/v1`,
      OPENAI_API_KEY: secret,
      OPENAI_CUSTOM_HEADERS: `X-Tenant: ${secret}`,
    }),
    path: /^\/openai\/v1\/(responses|models)\b/,
    findProblem: (request) =>
      inHeader("authorization", `Bearer ${secret}`)(request) ?? inHeader("x-tenant", secret)(request),
  },
};

/** Looks for a credential in all that a process in the sandbox can see, with a pattern that does not match itself. */
const look =
  'env > seen.txt; grep -arsliE \'value-?of-?the-?[c]redential\' "$HOME" "$TMPDIR" /etc /proc/[0-9]*/environ /proc/[0-9]*/cmdline > found.txt; wc -l seen.txt found.txt';

test.each(Object.entries(ways))("%s: the agent works, and sees no credential", async (_name, way) => {
  const agent = agents.find(({ name }) => name === way.agent) as AgentUnderTest;
  const model = await startScriptedModel(
    (request) => {
      if (request.tools.length === 0) return { text: "{}" };
      if (request.isToolResult || agent.run === undefined) return { text: "Done: seen." };
      return agent.run(request, look);
    },
    (request) =>
      way.path.test(request.url) ? way.findProblem(request) : `The path is ${request.method} ${request.url}.`,
  );
  const folder = mkdtempSync(join(cacheFolder(), "run-"));
  onTestFinished(async () => {
    await model[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const docs = docsRepository();
  const args = ["--repository", docs.path, "--project", "docs", "--store", join(folder, "jobs.sqlite")];
  const PATH = [programFolder(cacheFolder(), agent), process.env.PATH].join(delimiter);
  const named = ["--agent", way.agent, "--model", way.model];
  const service = await spawnService([...args, ...named], { ...way.environment(model.url), PATH });
  const job = await runJob(service, "Please look around.");
  const problems = model.requests.flatMap((request) =>
    way.path.test(request.url) ? (way.findProblem(request) ?? []) : request.url,
  );
  expect(problems).toEqual([]);
  expect(job, model.requests.map(({ url }) => url).join("\n")).toMatchObject({ status: "completed" });
  const seen = docs.read(`agent/${job.id}`, "seen.txt");
  expect(seen).toContain("AGENT_PROMPT_FILE=");
  expect(seen.replaceAll("-", "")).not.toMatch(/valueofthecredential/i);
  expect(docs.read(`agent/${job.id}`, "found.txt")).toBe("");
  expect(model.requests.filter(({ method }) => method === "POST").length).toBeGreaterThan(1);
});

test("a step of a workflow works with a role, and with no other secret", async () => {
  const { docs, github } = await setUpGitHub();
  const way = ways["Bedrock by a role"] as Way;
  const agent = agents.find(({ name }) => name === way.agent) as AgentUnderTest;
  const model = await startScriptedModel(script(agent, { isHeld: false }), way.findProblem);
  const folder = mkdtempSync(join(cacheFolder(), "run-"));
  onTestFinished(async () => {
    await model[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const PATH = [programFolder(cacheFolder(), agent), process.env.PATH].join(delimiter);
  const runner = { GITHUB_RUN_ID: "1", GITHUB_JOB: "docs", GITHUB_ACTION: "agent", PATH };
  const environment = { ...jobEnvironment(github, join(folder, "_temp")), ...runner, ...way.environment(model.url) };
  const prompt = "Please. [write docs/one.md ONE]";
  const inputs = { agent: way.agent, prompt, "github-token": github.token, "workflow-token": github.token };
  const run = (values: Record<string, string>) =>
    step({ ...inputs, "agent-options": `--model ${way.model}` }, { environment: { ...environment, ...values } });
  const wrong = await run({ AWS_SESSION_TOKEN: "another", GITHUB_RUN_ID: "2" });
  expect(wrong.outputs.outcome, wrong.log).toBe("error");
  expect(wrong.annotations.join("\n")).toContain("The session token is wrong.");
  const { outputs, log } = await run({});
  expect(outputs, log).toMatchObject({ outcome: "pr-created" });
  expect(docs.read(outputs.ref ?? "", "docs/one.md")).toBe("ONE");
  expect(log).not.toContain(secret);
});
