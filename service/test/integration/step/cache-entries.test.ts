import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { CacheReadOnlyError } from "../../../../src/runner-kit/cache.ts";
import {
  type CacheFault,
  type CacheProtocol,
  type CacheService,
  startCacheService,
} from "../../../../test/support/cache-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { connectCacheEntries } from "../../../step/memory/cache-entries.ts";

const program = resolve(import.meta.dirname, "../../../../dist/index.js");

async function connect(protocol: CacheProtocol, fault?: CacheFault) {
  const service: CacheService = await startCacheService(protocol, fault && { fault });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { service, cache: connectCacheEntries({ environment: service.environment, program, sleep: async () => {} }) };
}

let folder = "";
beforeEach(() => {
  folder = temporaryFolder();
});

/** Returns the path of a file with a text. */
function file(text: string): string {
  const path = join(folder, "saved");
  writeFileSync(path, text);
  return path;
}

describe.each(["v1", "v2"] as const)("with a cache service of %s", (protocol) => {
  test("restores the newest entry with a prefix", async () => {
    const { cache } = await connect(protocol);
    for (const [key, text] of [
      ["jobs/a/1", "first"],
      ["jobs/a/2", "second"],
      ["jobs/b/3", "other"],
    ] as const)
      await cache.save(key, file(text));
    const restored = join(folder, "restored");
    expect(await cache.restore("jobs/a/", restored)).toBe(true);
    expect(readFileSync(restored, "utf8")).toBe("second");
  });

  test("restores a file of several blocks, byte by byte", async () => {
    const { service, cache } = await connect(protocol);
    const content = randomBytes(9_000_001);
    const path = join(folder, "saved");
    writeFileSync(path, content);
    await cache.save("jobs/a/1", path);
    expect(await cache.restore("jobs/a/", join(folder, "restored"))).toBe(true);
    expect(readFileSync(join(folder, "restored")).equals(content)).toBe(true);
    expect(service.entries).toHaveLength(1);
  });

  test("finds nothing if there is nothing", async () => {
    const { cache } = await connect(protocol);
    expect(await cache.restore("jobs/a/", join(folder, "restored"))).toBe(false);
    expect(existsSync(join(folder, "restored"))).toBe(false);
  });
});

test("retries a restore, and does not take an error for an empty cache", async () => {
  let failures = 0;
  const { cache } = await connect("v1", (request, _n, response) => {
    if (request !== "look up" || failures === 0) return false;
    failures--;
    response.writeHead(403).end("broken");
    return true;
  });
  await cache.save("jobs/a/1", file("first"));
  failures = 1;
  expect(await cache.restore("jobs/a/", join(folder, "restored"))).toBe(true);
  failures = Number.POSITIVE_INFINITY;
  await expect(cache.restore("jobs/a/", join(folder, "again"))).rejects.toThrow(/403/);
});

test.each(["read", "403"] as const)("says that the run may not write the cache: %s", async (access) => {
  const service = await startCacheService("v1", { access });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const cache = connectCacheEntries({ environment: service.environment, program });
  await expect(cache.save("jobs/a/1", file("first"))).rejects.toThrow(CacheReadOnlyError);
});
