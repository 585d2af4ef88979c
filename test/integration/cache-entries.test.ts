import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { connectCacheEntries } from "../../src/service-step/memory/cache-entries.ts";
import { type CacheFault, type CacheProtocol, type CacheService, startCacheService } from "../support/cache-service.ts";
import { printing, scriptedCacheProcess } from "../support/scripted-cache-process.ts";
import { temporaryFolder } from "../support/step.ts";

const program = resolve(import.meta.dirname, "../../src/service-step/index.ts");

async function connect(protocol: CacheProtocol, fault?: CacheFault) {
  const service: CacheService = await startCacheService(protocol, fault && { fault });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { service, cache: connectCacheEntries({ environment: service.environment, program, retryDelaysMs: [1, 1] }) };
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

test("says why an entry cannot be saved", async () => {
  const service = await startCacheService("v1", { isReadOnly: true });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const cache = connectCacheEntries({ environment: service.environment, program });
  await expect(cache.save("jobs/a/1", file("first"))).rejects.toThrow(/denied|not saved/);
});

describe("the cache process", () => {
  const token = "token_0123456789";

  /** Returns a cache whose process runs a script. Its folder for temporary files is `parent`. */
  function scripted(script: string, parent = join(folder, "temp")) {
    mkdirSync(parent, { recursive: true });
    const { program, runs } = scriptedCacheProcess(script);
    const environment = { ACTIONS_RUNTIME_TOKEN: token };
    const cache = connectCacheEntries({ environment, folder: parent, program, retryDelaysMs: [1, 1] });
    const restored = join(folder, "restored");
    return { cache, parent, restored, restore: () => cache.restore("jobs/a/", restored), runs };
  }

  test("has the file in an empty folder, which is removed, and the variables of the service", async () => {
    const { cache, parent, runs } = scripted(`
      const seen = { text: fs.readFileSync(entry, "utf8"), files: fs.readdirSync("."), path: process.env.PATH };
      reply({ error: JSON.stringify({ ...seen, cwd: process.cwd() }) });`);
    const error = await cache.save("jobs/a/1", file("text")).catch(({ message }: Error) => message);
    const { cwd, ...seen } = JSON.parse(String(error));
    expect(seen).toEqual({ text: "text", files: ["agent-job-service"], path: process.env.PATH });
    expect(dirname(cwd)).toBe(realpathSync(parent));
    expect(runs()).toEqual(["cache save jobs/a/1 agent-job-service"]);
    expect(readdirSync(parent)).toEqual([]);
  });

  test("runs in the system's folder for temporary files if the path of its own has spaces", async () => {
    const writesItsFolder = "fs.writeFileSync(entry, process.cwd()); reply({ isDone: true });";
    const { restore, restored } = scripted(writesItsFolder, join(folder, "with space"));
    expect(await restore()).toBe(true);
    expect(dirname(readFileSync(restored, "utf8"))).toBe(realpathSync(tmpdir()));
  });

  test("says whether there was an entry, and whether one was saved", async () => {
    const { cache, restore, restored, runs } = scripted("reply({ isDone: false });");
    expect(await restore()).toBe(false);
    expect(existsSync(restored)).toBe(false);
    expect(runs()).toEqual(["cache restore jobs/a/ agent-job-service"]);
    await expect(cache.save("jobs/a/1", file("text"))).rejects.toThrow("the cache entry was not saved");
  });

  test("restores in three attempts, each with an empty folder", async () => {
    const { restore, parent, runs } = scripted(`
      const files = fs.readdirSync(".").join();
      fs.writeFileSync(entry, "half");
      reply({ error: "boom " + run + files });`);
    await expect(restore()).rejects.toThrow(/^boom 3$/);
    expect(runs()).toHaveLength(3);
    expect(readdirSync(parent)).toEqual([]);
  });

  test("saves in one attempt", async () => {
    const { cache, runs } = scripted('reply({ error: "boom" });');
    await expect(cache.save("jobs/a/1", file("text"))).rejects.toThrow("boom");
    expect(runs()).toHaveLength(1);
  });

  test.each([
    ["missing", ""],
    ["a folder", "fs.mkdirSync(entry);"],
    ["a link", 'fs.writeFileSync("x", ""); fs.symlinkSync("x", entry);'],
    ["a second name", 'fs.writeFileSync("x", ""); fs.linkSync("x", entry);'],
  ])("finds nothing if the restored file is %s", async (_what, script) => {
    const { restore, restored } = scripted(`${script} reply({ isDone: true });`);
    expect(await restore()).toBe(false);
    expect(existsSync(restored)).toBe(false);
  });

  test("does not tell the runner's token, nor what the library asks to mask", async () => {
    const address = "https://storage.example/1?sig=signature%2Bof-the-url";
    const { cache } = scripted(
      printing("::add-mask::signature%252Bof-the-url", `::warning::Failed to save: 403 from ${address}, ${token}`),
    );
    await expect(cache.save("jobs/a/1", file("text"))).rejects.toThrow(
      /^Failed to save: 403 from https:\/\/storage\.example\/1\?sig=\*\*\*, \*\*\*$/,
    );
  });
});
