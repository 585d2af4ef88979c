import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { type Cache, CacheEntryError } from "../../src/runner-kit/cache.ts";
import { type CacheOptions, connectCache } from "../../src/runner-kit/connect-cache.ts";
import { printing, scriptedCacheProcess } from "../support/scripted-cache-process.ts";
import { temporaryFolder } from "../support/step.ts";

const maxBytes = 64 * 1024;

/** Returns a cache whose process runs a script. */
function cacheOf(script: string, environment: Record<string, string> = {}, options: CacheOptions = {}) {
  const { program, runs } = scriptedCacheProcess(script);
  const temp = temporaryFolder();
  const cache: Cache = connectCache({ RUNNER_TEMP: temp, ...environment }, { program, ...options });
  return { cache, temp, runs };
}

const restoresOnce: CacheOptions = { restoreTimeoutMs: 400 };
/** Ends by itself, in case nothing kills it. */
const hangs = "setTimeout(() => {}, 60_000);";

describe("the process", () => {
  test("gets its task as arguments, and runs in an empty folder that is removed", async () => {
    const { cache, temp, runs } = cacheOf(`
      const { GITHUB_WORKSPACE, RUNNER_TEMP } = process.env;
      fs.writeFileSync(entry, JSON.stringify({ cwd: process.cwd(), GITHUB_WORKSPACE, RUNNER_TEMP }));
      reply({ isDone: true });`);
    const { cwd, ...folders } = JSON.parse((await cache.restore("a-")) ?? "");
    expect(dirname(cwd)).toBe(realpathSync(temp));
    expect(folders).toEqual({ GITHUB_WORKSPACE: cwd, RUNNER_TEMP: cwd });
    expect(runs()).toEqual(["cache restore a- agent-job.json"]);
    expect(readdirSync(temp)).toEqual([]);
  });

  test.each([
    ["has spaces", (folder: string) => join(folder, "with space")],
    ["is not known", () => ""],
  ])("runs in the system's temporary folder if the runner's %s", async (_name, temp) => {
    const folder = temporaryFolder();
    if (temp(folder)) mkdirSync(temp(folder));
    const { cache } = cacheOf("fs.writeFileSync(entry, process.cwd()); reply({ isDone: true });", {
      RUNNER_TEMP: temp(folder),
    });
    expect(dirname((await cache.restore("a-")) ?? "")).toBe(realpathSync(tmpdir()));
  });

  test("gets the environment without the inputs and without debugging, and tar without folders", async () => {
    const { cache } = cacheOf("fs.writeFileSync(entry, JSON.stringify(process.env)); reply({ isDone: true });", {
      ACTIONS_CACHE_URL: "http://127.0.0.1/",
      "INPUT_API-KEY": "secret",
      input_prompt: "secret",
      NO_INPUT_: "kept",
      RUNNER_DEBUG: "1",
    });
    const text = (await cache.restore("a-")) ?? "";
    expect(JSON.parse(text)).toMatchObject({
      ACTIONS_CACHE_URL: "http://127.0.0.1/",
      NO_INPUT_: "kept",
      RUNNER_DEBUG: "",
      TAR_OPTIONS: "--exclude=*/*",
    });
    expect(text).not.toContain("secret");
  });

  test("finds the text that is saved in its folder", async () => {
    const copy = join(temporaryFolder(), "copy");
    const { cache, temp, runs } = cacheOf(`fs.copyFileSync(entry, ${JSON.stringify(copy)}); reply({ isDone: true });`);
    await cache.save("a-1", "tëxt");
    expect(readFileSync(copy, "utf8")).toBe("tëxt");
    expect(runs()).toEqual(["cache save a-1 agent-job.json"]);
    expect(readdirSync(temp)).toEqual([]);
  });

  test("says whether there was an entry, and whether one was saved", async () => {
    const { cache } = cacheOf("reply({ isDone: false });");
    expect(await cache.restore("a-")).toBeUndefined();
    await expect(cache.save("a-1", "text")).rejects.toThrow("The cache entry was not saved");
  });

  test("is not started for a text that is too long", async () => {
    const { cache, runs } = cacheOf("reply({ isDone: true });");
    await cache.save("a-1", "x".repeat(maxBytes));
    await expect(cache.save("a-2", "x".repeat(maxBytes + 1))).rejects.toThrow("longer than 65536 bytes");
    expect(runs()).toHaveLength(1);
  });

  test.each([
    ["exits", "process.exit(3);", "The cache process ended with 3"],
    ["is killed", 'process.kill(process.pid, "SIGKILL");', "The cache process ended with SIGKILL"],
  ])("that %s without a reply is an error", async (_name, script, message) => {
    await expect(cacheOf(script).cache.save("a-1", "text")).rejects.toThrow(message);
  });

  // Windows has no process groups.
  test.skipIf(process.platform === "win32")(
    "is killed at the timeout, with the processes that it started",
    async () => {
      const pids = join(temporaryFolder(), "pids");
      const { cache } = cacheOf(
        `const { pid } = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(hangs)}]);
      fs.writeFileSync(${JSON.stringify(pids)}, process.pid + " " + pid);
      ${hangs}`,
        {},
        { saveTimeoutMs: 2000 },
      );
      await expect(cache.save("a-1", "text")).rejects.toThrow("The cache service did not respond, until the timeout");
      for (const pid of readFileSync(pids, "utf8").split(" ")) {
        await vi.waitFor(() => expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH"), 5000);
      }
    },
  );
});

describe("an error", () => {
  test.each([
    ["of the library", 'reply({ error: "boom" });', "boom"],
    ["that is logged as a warning", printing("::warning::Failed to save: 409"), "Failed to save: 409"],
    ["that is logged as an error", printing("::error file=a,line=1::Failed: 50%25%0A::x"), "Failed: 50%\n::x"],
    ["that is logged as a line", printing("Failed to save: read-only"), "Failed to save: read-only"],
    ["about the mode", printing("Cache save skipped: mode"), "Cache save skipped: mode"],
    ["that is logged last", printing("::warning::first", "::warning::second ", "done"), /^second$/],
    ["after a long log", printing("x".repeat(200_000), "::error::late"), "late"],
    ["with a response", printing("Attempt 1 of 2 failed with error: 503", "::error::gave up"), "gave up"],
  ])("%s is thrown", async (_name, script, message) => {
    await expect(cacheOf(script).cache.save("a-1", "text")).rejects.toThrow(message);
  });

  test.each([
    ["other lines", printing("Cache not found", "see ::error::x", " Failed to save: x")],
    ["failed attempts that were retried", printing("Attempt 1 of 2 failed with error: 503")],
  ])("is not taken from %s", async (_name, script) => {
    await expect(cacheOf(script).cache.save("a-1", "text")).resolves.toBeUndefined();
  });

  test("contains neither the token nor what the library masks", async () => {
    const { cache } = cacheOf(
      printing(
        "::add-mask::signature%0Aof-a-url",
        "see ::add-mask::unmasked",
        "::error::signature%0Aof-a-url unmasked token_0123456789",
      ),
      {
        ACTIONS_RUNTIME_TOKEN: "token_0123456789",
      },
    );
    await expect(cache.save("a-1", "text")).rejects.toThrow(/^\*\*\* unmasked \*\*\*$/);
  });

  test("at the timeout says why the last attempt of the library failed", async () => {
    const { cache } = cacheOf(
      `process.stdout.write("Attempt 1 of 5 failed with error: 500\\nAttempt 2 of 5 failed with error: 502\\nAttempt 10 of 12 failed with error: 503 token_0123456789\\n");
      ${hangs}`,
      { ACTIONS_RUNTIME_TOKEN: "token_0123456789" },
      { saveTimeoutMs: 2000 },
    );
    await expect(cache.save("a-1", "text")).rejects.toThrow(/^503 \*\*\*, until the timeout$/);
  });
});

describe("a restore", () => {
  test("is tried three times", async () => {
    const { cache, runs } = cacheOf('reply({ error: "boom " + run });');
    await expect(cache.restore("a-")).rejects.toThrow("boom 3");
    expect(runs()).toHaveLength(3);
  });

  test("ends with the first try that succeeds", async () => {
    const { cache, runs } = cacheOf('reply(run === 1 ? { error: "boom" } : { isDone: false });');
    expect(await cache.restore("a-")).toBeUndefined();
    expect(runs()).toHaveLength(2);
  });

  test("is not tried again if no time is left", async () => {
    const { cache, runs } = cacheOf('reply({ error: "boom" });', {}, restoresOnce);
    // On a busy machine, the process may not have replied yet.
    await expect(cache.restore("a-")).rejects.toThrow();
    expect(runs()).toHaveLength(1);
  });

  test("that takes too long says what went wrong before", async () => {
    const { cache, runs } = cacheOf(
      `if (run === 1) reply({ error: "boom" }); else { ${hangs} }`,
      {},
      {
        restoreTimeoutMs: 2500,
      },
    );
    await expect(cache.restore("a-")).rejects.toThrow("boom");
    expect(runs()).toHaveLength(2);
  });

  test("that takes too long says so if nothing went wrong before", async () => {
    const { cache } = cacheOf(hangs, {}, restoresOnce);
    // `toThrow` would also accept that nothing is thrown but undefined.
    await expect(cache.restore("a-")).rejects.toMatchObject({
      message: "The cache service did not respond, until the timeout",
    });
  });

  test("of an archive that tar cannot read is not tried again", async () => {
    const message = "Tar failed with error: The process '/usr/bin/tar' failed with exit code 2";
    const { cache, runs } = cacheOf(printing(`::warning::Failed to restore: ${message}`));
    const error = await cache.restore("a-").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CacheEntryError);
    expect(error).toHaveProperty("message", `Failed to restore: ${message}`);
    expect(runs()).toHaveLength(1);
  });

  test("returns a text of 64 KiB", async () => {
    const { cache } = cacheOf(`fs.writeFileSync(entry, "x".repeat(${maxBytes})); reply({ isDone: true });`);
    expect(await cache.restore("a-")).toHaveLength(maxBytes);
  });

  test.each([
    ["is missing", "", "The cache entry is not a regular file"],
    ["is a folder", "fs.mkdirSync(entry);", "The cache entry is not a regular file"],
    ["is a link", 'fs.writeFileSync("x", ""); fs.symlinkSync("x", entry);', "The cache entry is not a regular file"],
    ["has two names", 'fs.writeFileSync("x", ""); fs.linkSync("x", entry);', "The cache entry is not a regular file"],
    [
      "is too long",
      `fs.writeFileSync(entry, "x".repeat(${maxBytes + 1}));`,
      "The cache entry is longer than 65536 bytes",
    ],
  ])("does not read an entry that %s, and does not try again", async (_name, script, message) => {
    const { cache, temp, runs } = cacheOf(`${script} reply({ isDone: true });`);
    const error = await cache.restore("a-").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CacheEntryError);
    expect(error).toHaveProperty("message", message);
    expect(runs()).toHaveLength(1);
    expect(readdirSync(temp)).toEqual([]);
  });
});

test("a program that cannot start is an error", async () => {
  const temp = temporaryFolder();
  const cache = connectCache({ RUNNER_TEMP: temp }, { program: join(temp, "missing.cjs") });
  await expect(cache.save("a-1", "text")).rejects.toThrow("The cache process ended with 1");
  expect(existsSync(temp)).toBe(true);
});
