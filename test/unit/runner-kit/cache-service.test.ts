import { expect, test } from "vitest";
import { hasCacheService } from "../../../src/runner-kit/cache.ts";

const token = { ACTIONS_RUNTIME_TOKEN: "token" };
const v1 = { ACTIONS_CACHE_URL: "http://127.0.0.1/" };
const v2 = { ACTIONS_CACHE_SERVICE_V2: "True", ACTIONS_RESULTS_URL: "http://127.0.0.1/" };

test.each<[string, Record<string, string>, boolean]>([
  ["nothing", {}, false],
  ["only a token", token, false],
  ["only addresses", { ...v1, ...v2 }, false],
  ["v1", { ...token, ...v1 }, true],
  ["v1 without a token, which is what act offers", v1, true],
  ["v2 without a token", v2, false],
  ["v2", { ...token, ...v2 }, true],
  ["v2 on GitHub", { ...token, ...v2, GITHUB_SERVER_URL: "https://github.com" }, true],
  ["v2 on a GitHub of one's own machine", { ...token, ...v2, GITHUB_SERVER_URL: "http://github.localhost:8080" }, true],
  ["v2 on a GitHub without a usable address", { ...token, ...v2, GITHUB_SERVER_URL: "github" }, false],
  ["v2 on GHE.com", { ...token, ...v2, GITHUB_SERVER_URL: "https://acme.ghe.com" }, true],
  ["v2 on GitHub Enterprise Server", { ...token, ...v2, GITHUB_SERVER_URL: "https://github.acme.com" }, false],
  ["both on GitHub Enterprise Server", { ...token, ...v1, ...v2, GITHUB_SERVER_URL: "https://github.acme.com" }, true],
  ["results without a cache", { ...token, ACTIONS_RESULTS_URL: "http://127.0.0.1/" }, false],
  ["a cache that can only be read", { ...token, ...v2, ACTIONS_CACHE_MODE: "read" }, true],
  ["a cache that can only be written", { ...token, ...v2, ACTIONS_CACHE_MODE: " Write-Only " }, false],
  ["a cache that is turned off", { ...token, ...v2, ACTIONS_CACHE_MODE: "none" }, false],
])("tells whether there is a service: %s", (_name, environment, expected) => {
  expect(hasCacheService(environment)).toBe(expected);
});
