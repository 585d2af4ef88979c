import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { checkModelKey } from "../../../src/agents/check-model-key.ts";
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

async function check(name: string, environment: Record<string, string>) {
  const agent = presetAgent(name, environment);
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

test("an API that cannot be reached is only logged, and a token that has no list of models is not checked", async () => {
  const log = await check("claude", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" });
  expect(log).toEqual([expect.stringContaining("The key in ANTHROPIC_API_KEY could not be checked")]);
  const { url, requests } = await startApi(accepted);
  expect(await check("claude", { CLAUDE_CODE_OAUTH_TOKEN: "t", ANTHROPIC_BASE_URL: url })).toEqual([]);
  expect(requests).toEqual([]);
});
