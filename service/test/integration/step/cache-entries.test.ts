import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CacheReadOnlyError } from "../../../../src/runner-kit/cache.ts";
import { type CacheServiceOptions, startCacheService } from "../../../../test/support/cache-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { connectCacheEntries } from "../../../step/memory/cache-entries.ts";

// What both protocols do besides, such as with an error, is tested with the action's texts: test/integration/cache.test.ts.

async function start(protocol: "v1" | "v2", options?: CacheServiceOptions) {
  const service = await startCacheService(protocol, options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const folder = temporaryFolder();
  return {
    service,
    cache: connectCacheEntries(service.environment, 4_000_000),
    file: (name: string) => join(folder, name),
  };
}

test.each(["v1", "v2"] as const)(
  "with a cache service of %s, restores the newest entry with a prefix, a file of several blocks, byte by byte",
  async (protocol) => {
    const { service, cache, file } = await start(protocol);
    const content = randomBytes(9_000_001);
    writeFileSync(file("saved"), content);
    await cache.save("jobs/a/2", file("saved"));
    const [saved] = service.entries;
    if (saved === undefined) throw new Error("no entry was saved");
    const other = Buffer.from("other");
    service.entries.unshift({ ...saved, key: "jobs/a/1", content: other });
    service.entries.push({ ...saved, key: "jobs/b/3", content: other });
    expect(await cache.restore("jobs/a/", file("restored"))).toBe(true);
    expect(readFileSync(file("restored")).equals(content)).toBe(true);
  },
);

test("a part of a file is replaced by the next try", async () => {
  const { cache, file } = await start("v2", {
    fault: (kind, n, response) => {
      if (kind !== "download" || n > 1) return false;
      response.writeHead(200, { "content-length": 999 }).write("half of it", () => response.destroy());
      return true;
    },
  });
  writeFileSync(file("saved"), "whole");
  await cache.save("jobs/a/1", file("saved"));
  expect(await cache.restore("jobs/a/", file("restored"))).toBe(true);
  expect(readFileSync(file("restored"), "utf8")).toBe("whole");
});

test("says that there is no entry, and that the run may not save one", async () => {
  const { cache, file } = await start("v2", { access: "read" });
  expect(await cache.restore("jobs/a/", file("restored"))).toBe(false);
  expect(existsSync(file("restored"))).toBe(false);
  writeFileSync(file("saved"), "text");
  await expect(cache.save("jobs/a/1", file("saved"))).rejects.toThrow(CacheReadOnlyError);
});
