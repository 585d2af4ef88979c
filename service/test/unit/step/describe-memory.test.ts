import { expect, test } from "vitest";
import { describeMemory, type Memory } from "../../../step/memory/describe-memory.ts";

const told = (memory: Omit<Memory, "isOwnRepository">, isOwnRepository = true) =>
  describeMemory({ ...memory, isOwnRepository }, "https://guide.example").join("\n");

test("says where jobs and sessions are remembered", () => {
  expect(told({ branches: "yes", cache: "write" })).toBe(
    "Jobs are remembered by their branches and pull requests, and in the Actions cache\nSessions of the agent are kept in the Actions cache, unless it denies that to this run",
  );
});

test("says which setting would let sessions be kept, and what it risks", () => {
  const readOnly = told({ branches: "yes", cache: "read" });
  expect(readOnly).toMatch(
    /^Jobs are remembered by their branches and pull requests\nSessions of the agent are not kept, /,
  );
  expect(readOnly).toMatch(/`cache-mode: write` .* a cache that other workflows trust: see https:\/\/guide\.example\./);
  expect(told({ branches: "yes", cache: "none" })).toMatch(
    /may not read the Actions cache. `cache-mode: read` .* and `write` /,
  );
  const without = told({ branches: "yes", cache: "absent" });
  expect(without).toContain("this runner offers no Actions cache");
  expect(without).not.toContain("cache-mode");
});

test("says if jobs are not known by their branches, or not yet", () => {
  expect(told({ branches: "no", cache: "write" })).toMatch(
    /^Jobs are remembered in the Actions cache\nThey are not known by/,
  );
  expect(told({ branches: "no", cache: "read" })).toMatch(/^Jobs are not remembered\n/);
  expect(told({ branches: "unknown", cache: "read" })).toContain("is asked again");
});

test("says that sessions of another repository are not kept, whatever the cache allows", () => {
  for (const cache of ["write", "read"] as const)
    expect(told({ branches: "yes", cache }, false)).toContain(
      "Sessions of the agent are not kept, because the cache belongs to the workflow's repository, and they have files of another one.",
    );
});
