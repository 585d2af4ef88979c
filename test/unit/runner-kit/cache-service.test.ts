import { expect, test } from "vitest";
import { type CacheAccess, cacheAccess, hasCacheService } from "../../../src/runner-kit/cache.ts";

const token = { ACTIONS_RUNTIME_TOKEN: "token" };
const v1 = { ACTIONS_CACHE_URL: "http://127.0.0.1/" };
const v2 = { ACTIONS_CACHE_SERVICE_V2: "True", ACTIONS_RESULTS_URL: "http://127.0.0.1/" };

test.each<[string, Record<string, string>, CacheAccess]>([
  ["nothing", {}, "absent"],
  ["only a token", token, "absent"],
  ["only addresses", { ...v1, ...v2 }, "absent"],
  ["v1", { ...token, ...v1 }, "write"],
  ["v1 without a token, which is what act offers", v1, "write"],
  ["v2 without a token", v2, "absent"],
  ["v2", { ...token, ...v2 }, "write"],
  ["v2 on GitHub", { ...token, ...v2, GITHUB_SERVER_URL: "https://github.com" }, "write"],
  [
    "v2 on a GitHub of one's own machine",
    { ...token, ...v2, GITHUB_SERVER_URL: "http://github.localhost:8080" },
    "write",
  ],
  ["v2 on a GitHub without a usable address", { ...token, ...v2, GITHUB_SERVER_URL: "github" }, "absent"],
  ["v2 on GHE.com", { ...token, ...v2, GITHUB_SERVER_URL: "https://acme.ghe.com" }, "write"],
  ["v2 on GitHub Enterprise Server", { ...token, ...v2, GITHUB_SERVER_URL: "https://github.acme.com" }, "absent"],
  [
    "both on GitHub Enterprise Server",
    { ...token, ...v1, ...v2, GITHUB_SERVER_URL: "https://github.acme.com" },
    "write",
  ],
  ["results without a cache", { ...token, ACTIONS_RESULTS_URL: "http://127.0.0.1/" }, "absent"],
  ["a cache that can only be read", { ...token, ...v2, ACTIONS_CACHE_MODE: "read" }, "read"],
  ["a cache with a mode that is not known yet", { ...token, ...v2, ACTIONS_CACHE_MODE: "append" }, "write"],
  ["a cache that can be written", { ...token, ...v2, ACTIONS_CACHE_MODE: "write" }, "write"],
  ["a cache that can only be written", { ...token, ...v2, ACTIONS_CACHE_MODE: " Write-Only " }, "none"],
  ["a cache that is turned off", { ...token, ...v2, ACTIONS_CACHE_MODE: "none" }, "none"],
])("tells what the run can do with the cache: %s", (_name, environment, expected) => {
  expect(cacheAccess(environment)).toBe(expected);
  expect(hasCacheService(environment)).toBe(["read", "write"].includes(expected));
});
