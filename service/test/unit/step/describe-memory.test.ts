import { expect, test } from "vitest";
import { cacheAccess } from "../../../step/memory/cache-access.ts";
import { describeMemory } from "../../../step/memory/describe-memory.ts";

const offered = { ACTIONS_CACHE_URL: "http://127.0.0.1/", ACTIONS_RUNTIME_TOKEN: "runtime" };

test.each([
  ["write", "write"],
  [" Read ", "read"],
  ["none", "none"],
  ["write-only", "none"],
  // An older runner, which does not tell: the first write shows it.
  [undefined, "write"],
  ["later", "write"],
] as const)("a cache in the mode %j is used to %s", (mode, access) => {
  expect(cacheAccess({ ...offered, ACTIONS_CACHE_MODE: mode })).toBe(access);
});

test("a runner without a cache service has none", () => {
  expect(cacheAccess({})).toBe("none");
});

const told = (...memory: Parameters<typeof describeMemory>) => describeMemory(...memory).join("\n");

test("says where jobs and sessions are remembered", () => {
  expect(told({ branches: "yes", cache: "write" })).toBe(
    "Jobs are remembered by their branches and pull requests, and in the Actions cache\nSessions of the agent are kept in the Actions cache",
  );
});

test("says which setting would let sessions be kept, and what it risks", () => {
  const readOnly = told({ branches: "yes", cache: "read" });
  expect(readOnly).toMatch(
    /^Jobs are remembered by their branches and pull requests\nSessions of the agent are not kept, /,
  );
  expect(readOnly).toMatch(/`cache-mode: write` .* a cache that other workflows trust/);
  expect(told({ branches: "yes", cache: "none" })).toMatch(/If `cache-mode` .* is the reason, set it to `write`/);
});

test("says if jobs are not known by their branches, or not yet", () => {
  expect(told({ branches: "no", cache: "write" })).toMatch(
    /^Jobs are remembered in the Actions cache\nThey are not known by/,
  );
  expect(told({ branches: "no", cache: "read" })).toMatch(/^Jobs are not remembered\n/);
  expect(told({ branches: "unknown", cache: "read" })).toContain("is asked again");
});
