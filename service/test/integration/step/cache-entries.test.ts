import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCacheService } from "../../../../test/support/cache-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { connectCacheEntries } from "../../../step/memory/cache-entries.ts";

// What both protocols do besides, such as with an error, is tested with the action's texts: test/integration/cache.test.ts.

const program = resolve(import.meta.dirname, "../../../../dist/index.js");

test.each(["v1", "v2"] as const)(
  "with a cache service of %s, restores the newest entry with a prefix, a file of several blocks, byte by byte",
  async (protocol) => {
    const service = await startCacheService(protocol);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const cache = connectCacheEntries({ environment: service.environment, program });
    const folder = temporaryFolder();
    const content = randomBytes(9_000_001);
    writeFileSync(join(folder, "saved"), content);
    await cache.save("jobs/a/2", join(folder, "saved"));
    const [saved] = service.entries;
    if (saved === undefined) throw new Error("no entry was saved");
    const other = Buffer.from("other");
    service.entries.unshift({ ...saved, key: "jobs/a/1", content: other });
    service.entries.push({ ...saved, key: "jobs/b/3", content: other });
    expect(await cache.restore("jobs/a/", join(folder, "restored"))).toBe(true);
    expect(readFileSync(join(folder, "restored")).equals(content)).toBe(true);
  },
);
