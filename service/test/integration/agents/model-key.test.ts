import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkModelKey, UnusableModel } from "../../../src/agents/check-model-key.ts";
import { presetAgent } from "../../../src/agents/presets.ts";

/** Starts a model's API. Returns its URL, and the requests that it got. */
async function startApi(listener: RequestListener) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(
      `${request.url} ${request.headers["x-api-key"] ?? request.headers.authorization ?? request.headers["x-goog-api-key"]}`,
    );
    listener(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const accepted: RequestListener = (_request, response) => void response.end("{}");

async function check(name: string, environment: Record<string, string>, model?: string) {
  const agent = presetAgent(name, environment, model);
  if (agent === undefined) throw new Error("no such agent");
  const log: string[] = [];
  await checkModelKey(agent, environment, (line) => void log.push(line));
  return log;
}

test("asks each API for what costs nothing, with the key", async () => {
  const { url, requests } = await startApi(accepted);
  await check("claude", { ANTHROPIC_API_KEY: "k1", ANTHROPIC_BASE_URL: url });
  await check("opencode", { ANTHROPIC_API_KEY: "k2", ANTHROPIC_BASE_URL: `${url}/v1` });
  await check("codex", { CODEX_API_KEY: "k3", OPENAI_BASE_URL: `${url}/v1/` });
  await check("gemini", { GEMINI_API_KEY: "k4", GOOGLE_GEMINI_BASE_URL: url });
  expect(requests).toEqual([
    "/v1/models?limit=1 k1",
    "/v1/models?limit=1 k2",
    "/v1/models Bearer k3",
    "/v1beta/models?pageSize=1 k4",
  ]);
});

test.each([
  [401, "{}"],
  [400, '{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}'],
])("a key that is rejected with %d is an error that names its variable", async (status, body) => {
  const { url } = await startApi((_request, response) => void response.writeHead(status).end(body));
  await expect(check("claude", { ANTHROPIC_API_KEY: "key_of_the_model", ANTHROPIC_BASE_URL: url })).rejects.toThrow(
    `${url} does not accept the key in ANTHROPIC_API_KEY: replace it, or change --agent`,
  );
});

test.each([400, 403, 404, 500])("an answer with %d says nothing about the key", async (status) => {
  const { url } = await startApi((_request, response) => void response.writeHead(status).end("{}"));
  expect(await check("claude", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url })).toEqual([]);
});

test("a token that has no list of models is not checked", async () => {
  const { url, requests } = await startApi(accepted);
  expect(await check("claude", { CLAUDE_CODE_OAUTH_TOKEN: "t", ANTHROPIC_BASE_URL: url })).toEqual([]);
  expect(requests).toEqual([]);
});

test("an API that hangs up is only logged: it may be back when a job comes", async () => {
  const { url } = await startApi((request) => void request.socket.destroy());
  const log = await check("claude", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url });
  expect(log).toEqual([expect.stringContaining("The key in ANTHROPIC_API_KEY could not be checked")]);
});

test.each([
  [
    "http://127.0.0.1:9",
    "http://127.0.0.1:9 cannot be reached: connect ECONNREFUSED 127.0.0.1:9. Check the address that ANTHROPIC_BASE_URL has.",
  ],
  // Not even a name, so that no network is asked.
  [`http://${"a".repeat(64)}.example`, "cannot be reached: getaddrinfo ENOTFOUND"],
])("an address that stays wrong is an error: %s", async (url, problem) => {
  const checked = check("claude", { ANTHROPIC_AUTH_TOKEN: "k", ANTHROPIC_BASE_URL: url });
  await expect(checked).rejects.toThrow(problem);
  await expect(checked).rejects.toThrow(UnusableModel);
  const { url: right } = await startApi(accepted);
  expect(await check("claude", { ANTHROPIC_AUTH_TOKEN: "k", ANTHROPIC_BASE_URL: right })).toEqual([]);
});

test("a certificate that is not trusted is an error that says how to trust it", async () => {
  const folder = join(import.meta.dirname, "../../../../test/support/certificates");
  const [cert, key] = [readFileSync(join(folder, "certificate.pem")), readFileSync(join(folder, "key.pem"))];
  const server = createHttpsServer({ cert, key }, accepted).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const checked = check("claude", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url });
  await expect(checked).rejects.toThrow(
    /cannot be reached: .*\. Name the file of its authority in NODE_EXTRA_CA_CERTS\.$/,
  );
  // Node reads the variable when it starts.
  const modules = ["check-model-key", "presets"].map((name) =>
    resolve(import.meta.dirname, `../../../src/agents/${name}.ts`),
  );
  const script = `
    const [{ checkModelKey }, { presetAgent }] = await Promise.all(${JSON.stringify(modules)}.map((file) => import(file)));
    await checkModelKey(presetAgent("claude", process.env), process.env, console.log);`;
  const environment = {
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: url,
    NODE_EXTRA_CA_CERTS: join(folder, "certificate.pem"),
  };
  const args = ["--input-type=module", "--eval", script];
  expect((await promisify(execFile)(process.execPath, args, { env: environment })).stdout).toBe("");
});

describe("a cloud", () => {
  const bedrock = { CLAUDE_CODE_USE_BEDROCK: "1", AWS_REGION: "eu-central-1" };
  const role = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "session" };
  const vertex = { CLAUDE_CODE_USE_VERTEX: "1", ANTHROPIC_VERTEX_PROJECT_ID: "p", CLOUD_ML_REGION: "europe-west1" };

  test("is asked for nothing that costs, by the way that the agent takes", async () => {
    const { url, requests } = await startApi((_request, response) => void response.writeHead(400).end("{}"));
    const bearer = { ...bedrock, AWS_BEARER_TOKEN_BEDROCK: "b", ANTHROPIC_BEDROCK_BASE_URL: url };
    expect(await check("claude", bearer, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0")).toEqual([]);
    expect(await check("claude", bearer, "sonnet")).toEqual([]);
    expect(await check("claude", { ...bedrock, ...role, ANTHROPIC_BEDROCK_BASE_URL: url })).toEqual([]);
    const token = { CLOUDSDK_AUTH_ACCESS_TOKEN: "t", ANTHROPIC_VERTEX_BASE_URL: `${url}/v1` };
    expect(await check("claude", { ...vertex, ...token }, "claude-sonnet-4-5")).toEqual([]);
    expect(requests).toEqual([
      "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream Bearer b",
      "/model/none/invoke-with-response-stream Bearer b",
      expect.stringContaining("/model/none/invoke-with-response-stream AWS4-HMAC-SHA256 Credential=AKID/"),
      "/v1/projects/p/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict Bearer t",
    ]);
  });

  test.each([
    [403, "The security token included in the request is expired"],
    [403, "Authentication failed: Please make sure your API Key is valid."],
    [401, "Request had invalid authentication credentials."],
  ])("rejects a credential with %d: %s", async (status, message) => {
    const { url } = await startApi(
      (_request, response) => void response.writeHead(status).end(JSON.stringify({ message })),
    );
    const checked = check("claude", { ...bedrock, ...role, ANTHROPIC_BEDROCK_BASE_URL: url });
    await expect(checked).rejects.toThrow("does not accept the key in AWS_ACCESS_KEY_ID");
  });

  test("says that it does not have a model, in its own words", async () => {
    const message = "The provided model identifier is invalid.";
    const { url } = await startApi(
      (_request, response) => void response.writeHead(400).end(JSON.stringify({ message })),
    );
    const environment = { ...bedrock, AWS_BEARER_TOKEN_BEDROCK: "b", ANTHROPIC_BEDROCK_BASE_URL: url };
    await expect(check("claude", environment, "anthropic.claude-9")).rejects.toThrow(
      `${url} does not let the key in AWS_BEARER_TOKEN_BEDROCK use the model anthropic.claude-9: ${message}`,
    );
    expect(await check("claude", environment, "sonnet")).toEqual([]);
  });
});
