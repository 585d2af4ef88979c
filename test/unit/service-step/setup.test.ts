import { expect, test } from "vitest";
import { listen } from "../../../src/service/http/listen.ts";
import { isFree, portOf } from "../../../src/service-step/port.ts";
import {
  cacheEnvironment,
  installerEnvironment,
  serverEnvironment,
} from "../../../src/service-step/setup/environment.ts";
import { checkPlatform } from "../../../src/service-step/setup/platform.ts";

test.each([
  ["darwin", "macOS"],
  ["win32", "Windows"],
] as const)("on %s, says what is missing", (platform, name) => {
  expect(() => checkPlatform(platform)).toThrow(
    `The agent service does not run on ${name}: it needs bubblewrap and the namespaces of Linux for the agent's sandbox. Set \`runs-on: ubuntu-latest\``,
  );
});

test("runs on Linux", () => {
  expect(() => checkPlatform("linux")).not.toThrow();
});

const environment = {
  PATH: "/bin",
  HOME: "/home/runner",
  https_proxy: "http://proxy",
  NODE_EXTRA_CA_CERTS: "/ca.pem",
  RUNNER_TRACKING_ID: "github_1",
  RUNNER_TEMP: "/temp",
  GITHUB_TOKEN: "token",
  GITHUB_ENV: "/temp/env",
  GITHUB_SERVER_URL: "https://github.com",
  INPUT_AGENT: "claude",
  ACTIONS_RUNTIME_TOKEN: "runtime",
  ACTIONS_RESULTS_URL: "https://results",
  ACTIONS_CACHE_SERVICE_V2: "True",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "oidc",
  ANTHROPIC_API_KEY: "key",
  MY_SECRET: "secret",
  npm_config_registry: "https://registry",
};

test("the service's process gets nothing of the runner but what it needs, and what the agent gets", () => {
  expect(Object.keys(serverEnvironment(environment, ["ANTHROPIC_API_KEY"]))).toEqual([
    "PATH",
    "HOME",
    "https_proxy",
    "NODE_EXTRA_CA_CERTS",
    "RUNNER_TRACKING_ID",
    "ANTHROPIC_API_KEY",
    "NODE_USE_ENV_PROXY",
  ]);
});

test("what installs an agent gets no secret", () => {
  expect(Object.keys(installerEnvironment(environment))).toEqual([
    "PATH",
    "HOME",
    "https_proxy",
    "NODE_EXTRA_CA_CERTS",
    "RUNNER_TRACKING_ID",
    "npm_config_registry",
  ]);
});

test("the cache's process gets the runner's token for it, and no other", () => {
  expect(Object.keys(cacheEnvironment(environment))).toEqual([
    "RUNNER_TEMP",
    "GITHUB_SERVER_URL",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_RESULTS_URL",
    "ACTIONS_CACHE_SERVICE_V2",
  ]);
});

test("the port depends on the project, and is none that Linux gives to outgoing connections", async () => {
  const ports = ["acme-docs-claude", "acme-docs-codex", "acme-site-claude"].map(portOf);
  expect(new Set(ports).size).toBe(3);
  expect(portOf("acme-docs-claude")).toBe(ports[0]);
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(30_000);
  }
  const server = await listen((_request, response) => response.end());
  expect(await isFree(Number(new URL(server.url).port))).toBe(false);
  await server[Symbol.asyncDispose]();
  expect(await isFree(Number(new URL(server.url).port))).toBe(true);
});
