import { expect, onTestFinished, test, vi } from "vitest";
import { serviceEnvironment } from "../../../../src/runner-kit/agent-service.ts";
import { programs } from "../../../../test/support/programs.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { cacheEnvironment } from "../../../step/serve.ts";
import type { Settings } from "../../../step/settings.ts";
import { installerEnvironment } from "../../../step/setup/install-agent.ts";
import { checkGit, prepareAgent } from "../../../step/setup/prepare.ts";
import { SetupError } from "../../../step/setup/setup-error.ts";

/** Sets `PATH` until the test is over. */
function withPath(path: string): void {
  vi.stubEnv("PATH", path);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test.each([
  ["git version 2.39.0", true],
  ["git version 2.100.1 (Apple Git-1)", true],
  ["git version 10.0.0", true],
  ["git version 2.38.9", false],
  ["git version 1.99.0", false],
  ["git", false],
])("Git is recent enough or too old: %s", async (version, isEnough) => {
  withPath(programs({ git: `[ "$*" = --version ] && echo "${version}"` }));
  const check = checkGit().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(await check).toEqual(isEnough ? undefined : expect.any(SetupError));
  if (!isEnough)
    expect(await check).toMatchObject({
      title: "Git is missing or too old",
      message: `The machine has ${version}. The agent service needs Git 2.39 or newer: install it in a step before this one. Nothing was started.`,
    });
});

test.each([
  ["ghs_of_an_app", false, 58, true],
  ["ghs_of_an_app", false, 30, false],
  ["ghs_of_the_workflow", true, 58, false],
  ["github_pat_1", false, 58, false],
])(
  "the token %s that may end before the agent is named before: %j, %d min: %j",
  async (token, isWorkflowToken, minutes, isTold) => {
    const lines: string[] = [];
    const options = { sandbox: "none", timeLimitMs: minutes * 60_000 };
    const settings = { agentPackage: undefined, options, install: true, token, isWorkflowToken } as unknown as Settings;
    const info = (line: string): void => void lines.push(line);
    const signal = new AbortController().signal;
    await prepareAgent(settings, { folder: temporaryFolder(), environment: {}, info, signal });
    const told =
      /^`github-token` is a GitHub App's, which expires an hour after it was made\. The agent may run for 58 minutes/;
    expect(lines).toEqual(isTold ? [expect.stringMatching(told)] : []);
  },
);

test("says if there is no Git", async () => {
  withPath(temporaryFolder());
  await expect(checkGit()).rejects.toThrow(/^Git was not found in PATH\. The agent service needs Git 2\.39 or newer/);
});

const environment = {
  PATH: "/bin",
  HOME: "/home/runner",
  https_proxy: "http://proxy",
  NODE_COMPILE_CACHE: "/compiled",
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
  PIP_INDEX_URL: "https://index",
  LC_ALL: "C",
  http_proxy: "http://proxy",
  LANG: undefined,
  // Only look like others.
  MY_PATH: "/bin",
  PATH_INFO: "/bin",
  MY_npm_config_token: "secret",
  MY_ACTIONS_CACHE_URL: "https://cache",
  ACTIONS_RESULTS_URL_TOKEN: "secret",
  ACTIONS_RUNTIME_TOKEN_TWO: "secret",
  GITHUB_SERVER_URL_TOKEN: "secret",
  RUNNER_TEMPLATE: "secret",
};

test("the service's process gets nothing of the runner but what it needs, and what the agent gets", () => {
  expect(Object.keys(serviceEnvironment(environment, ["ANTHROPIC_API_KEY"]))).toEqual([
    "PATH",
    "HOME",
    "https_proxy",
    "NODE_COMPILE_CACHE",
    "NODE_EXTRA_CA_CERTS",
    "RUNNER_TRACKING_ID",
    "ANTHROPIC_API_KEY",
    "LC_ALL",
    "http_proxy",
    "NODE_USE_ENV_PROXY",
  ]);
});

test("the service's requests need no proxy for what Git needs none for", () => {
  const given = {
    no_proxy: "localhost,.a.example,*.b.example example.com",
    NO_PROXY: "10.0.0.1",
    https_proxy: "http://p",
  };
  expect(serviceEnvironment(given, [])).toMatchObject({
    no_proxy: "localhost,.localhost,.a.example,*.b.example,example.com,.example.com",
    NO_PROXY: "10.0.0.1",
    https_proxy: "http://p",
  });
});

test("what installs an agent gets no secret", () => {
  expect(Object.keys(installerEnvironment(environment))).toEqual([
    "PATH",
    "HOME",
    "https_proxy",
    "NODE_EXTRA_CA_CERTS",
    "RUNNER_TRACKING_ID",
    "npm_config_registry",
    "PIP_INDEX_URL",
    "LC_ALL",
    "http_proxy",
  ]);
});

test("the client of the cache gets the runner's token for it, and no other", () => {
  expect(Object.keys(cacheEnvironment(environment))).toEqual([
    "GITHUB_SERVER_URL",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_RESULTS_URL",
    "ACTIONS_CACHE_SERVICE_V2",
  ]);
});
