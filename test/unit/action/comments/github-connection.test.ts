import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { main } from "../../../../src/action/main.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { FakeToolkit } from "../../../support/fake-toolkit.ts";
import { key } from "../../../support/run-main.ts";

const payload = {
  action: "created",
  comment: { id: 77, body: "/agent fix it", user: { login: "writer", type: "User", id: 5 } },
  issue: { number: 12, title: "T", body: "B", html_url: "https://github.com/acme/docs/issues/12" },
  repository: { name: "docs", owner: { login: "acme" } },
};

/** Runs the step on a comment, and connects to GitHub in the given way. */
async function runConnecting(
  connectGitHub: (token: string, apiUrl: string, onTrace: (line: string) => void) => Promise<FakeGitHub>,
  environment: Record<string, string> = {},
): Promise<FakeToolkit> {
  const folder = mkdtempSync(join(tmpdir(), "event-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "event.json");
  writeFileSync(file, JSON.stringify(payload));
  const toolkit = new FakeToolkit({
    "project-id": "docs",
    "api-key": key,
    "trigger-phrase": "/agent",
    "github-token": "ghs_token_0123456789",
  });
  await main({
    toolkit,
    clock: new FakeClock(),
    random: () => 0.5,
    connect: () => () => Promise.reject(new TypeError("the service is not reached")),
    connectCache: async () => {
      throw new Error("the runner offers no cache service");
    },
    connectGitHub,
    createAgent: () => Promise.reject(new Error("a service runs the agent")),
    connectIdTokens: () => Promise.reject(new Error("the step has a key")),
    environment: { GITHUB_EVENT_NAME: "issue_comment", GITHUB_EVENT_PATH: file, ...environment },
    signal: new AbortController().signal,
  });
  return toolkit;
}

test.each([
  ["GitHub's own API", {}, "https://api.github.com"],
  ["GitHub's own API if the variable is empty", { GITHUB_API_URL: "" }, "https://api.github.com"],
  ["the API of a GitHub server", { GITHUB_API_URL: "https://github.example/api/v3" }, "https://github.example/api/v3"],
])("connects to %s", async (_name, environment, expected) => {
  const addresses: string[][] = [];
  await runConnecting(async (token, apiUrl) => {
    addresses.push([token, apiUrl]);
    return new FakeGitHub();
  }, environment);
  expect(addresses).toEqual([["ghs_token_0123456789", expected]]);
});

test("prints a debug line per request to GitHub", async () => {
  const toolkit = await runConnecting(async (_token, _apiUrl, onTrace) => {
    onTrace("GET /repos/acme/docs: 200 (12 ms)");
    return new FakeGitHub();
  });
  expect(toolkit.events).toContain("debug GET /repos/acme/docs: 200 (12 ms)");
});

test("a bug before anything was started: the step fails, and says so", async () => {
  const toolkit = await runConnecting(() => Promise.reject(new TypeError("x is not a function")));
  expect(toolkit.outputs).toMatchObject({ outcome: "error", "job-id": "" });
  expect(toolkit.annotations).toEqual([
    {
      level: "error",
      title: "Internal error",
      text: expect.stringMatching(/x is not a function\. No job was started\..*Report this bug/s),
    },
  ]);
  expect(toolkit.events).toContainEqual(expect.stringMatching(/^debug TypeError: x is not a function/));
});
