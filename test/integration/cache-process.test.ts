import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { type Cache, CacheEntryError, CacheReadOnlyError } from "../../src/runner-kit/cache.ts";
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

const offered = { ACTIONS_CACHE_URL: "http://127.0.0.1/" };
const restoresOnce: CacheOptions = { restoreTimeoutMs: 400 };
/** Ends by itself, in case nothing kills it. */
const hangs = "setTimeout(() => {}, 60_000);";

describe("the process", () => {
  test("gets its task as arguments, with a file in a folder that is removed", async () => {
    const { cache, temp, runs } = cacheOf('fs.writeFileSync(entry, "text"); reply({ isDone: true });');
    expect(await cache.restore("a-")).toBe("text");
    const [run = ""] = runs();
    expect(run.replace(temp, "TEMP")).toMatch(/^cache restore a- TEMP[/\\]agent-job-cache-\w+[/\\]entry$/);
    expect(readdirSync(temp)).toEqual([]);
  });

  test("uses the system's folder for temporary files if the runner's is not known", async () => {
    const { cache } = cacheOf("fs.writeFileSync(entry, entry); reply({ isDone: true });", { RUNNER_TEMP: "" });
    expect(dirname(dirname((await cache.restore("a-")) ?? ""))).toBe(tmpdir());
  });

  test("gets the environment without the inputs and without debugging", async () => {
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
    });
    expect(text).not.toContain("secret");
  });

  test("finds the text that is saved in its folder", async () => {
    const copy = join(temporaryFolder(), "copy");
    const { cache, temp, runs } = cacheOf(`fs.copyFileSync(entry, ${JSON.stringify(copy)}); reply({ isDone: true });`);
    await cache.save("a-1", "tëxt");
    expect(readFileSync(copy, "utf8")).toBe("tëxt");
    expect(runs()).toEqual([expect.stringMatching(/^cache save a-1 /)]);
    expect(readdirSync(temp)).toEqual([]);
  });

  test.runIf(process.platform === "linux")("is in a process group of its own", async () => {
    const { cache } = cacheOf('fs.writeFileSync(entry, fs.readFileSync("/proc/self/stat")); reply({ isDone: true });');
    const [pid, , , , group] = ((await cache.restore("a-")) ?? "").split(" ");
    expect(group).toBe(pid);
  });

  test("says whether there was an entry", async () => {
    const { cache } = cacheOf("reply({ isDone: false });");
    expect(await cache.restore("a-")).toBeUndefined();
  });

  test("is not started for a text that is too long", async () => {
    const { cache, runs } = cacheOf("reply({ isDone: true });");
    await cache.save("a-1", "x".repeat(maxBytes));
    await expect(cache.save("a-2", "x".repeat(maxBytes + 1))).rejects.toThrow("longer than 65536 bytes");
    expect(runs()).toHaveLength(1);
  });

  test.each([
    ["exits", "process.exit(3);", "The cache process ended with 3"],
    [
      "is killed",
      'process.kill(process.pid, "SIGKILL");',
      // On Windows, a killed process has an exit code.
      `The cache process ended with ${process.platform === "win32" ? 1 : "SIGKILL"}`,
    ],
  ])("that %s without a reply is an error", async (_name, script, message) => {
    await expect(cacheOf(script).cache.save("a-1", "text")).rejects.toThrow(message);
  });

  test("is killed at the timeout", async () => {
    const file = join(temporaryFolder(), "pid");
    const { cache } = cacheOf(
      `fs.writeFileSync(${JSON.stringify(file)}, String(process.pid)); ${hangs}`,
      {},
      { saveTimeoutMs: 2000 },
    );
    await expect(cache.save("a-1", "text")).rejects.toThrow("The cache service did not respond, until the timeout");
    const pid = Number(readFileSync(file, "utf8"));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 5000);
  });

  test.each([
    ["none", "restore"],
    ["write-only", "restore"],
    ["none", "save"],
    ["write-only", "save"],
    ["read", "save"],
  ] as const)("is not started if the cache mode %s does not permit to %s", async (mode, operation) => {
    const { cache, runs } = cacheOf("reply({ isDone: true });", { ...offered, ACTIONS_CACHE_MODE: mode }, restoresOnce);
    const result = operation === "restore" ? cache.restore("a-") : cache.save("a-1", "text");
    const error = await result.catch((reason: unknown) => reason);
    expect(error).toHaveProperty("message", expect.stringContaining(`has the mode "${mode}"`));
    expect(error instanceof CacheReadOnlyError).toBe(operation === "save");
    expect(runs()).toEqual([""]);
  });

  test("is started to restore what may only be read", async () => {
    const { cache } = cacheOf("reply({ isDone: false });", { ...offered, ACTIONS_CACHE_MODE: "read" });
    expect(await cache.restore("a-")).toBeUndefined();
  });
});

describe("an error", () => {
  test("of the library is thrown", async () => {
    await expect(cacheOf('reply({ error: "boom" });').cache.save("a-1", "text")).rejects.toThrow(/^boom$/);
  });

  test("that the run may not write has a class of its own", async () => {
    const { cache } = cacheOf('reply({ error: "denied token_0123456789", isReadOnly: true });', {
      ACTIONS_RUNTIME_TOKEN: "token_0123456789",
    });
    const error = await cache.save("a-1", "text").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CacheReadOnlyError);
    expect(error).toHaveProperty("message", "denied ***");
  });

  test("is not taken from what is logged", async () => {
    const { cache } = cacheOf(printing("::error::x", "Attempt 1 of 2 failed with error: 503"));
    await expect(cache.save("a-1", "text")).resolves.toBeUndefined();
  });

  test("contains neither the token nor what the library masks", async () => {
    const { cache } = cacheOf(
      `process.stdout.write("::add-mask::signature%0Aof-a-url\\nsee ::add-mask::unmasked\\n", () =>
        reply({ error: "signature\\nof-a-url unmasked token_0123456789" }));`,
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

  test("returns a text of 64 KiB", async () => {
    const { cache } = cacheOf(`fs.writeFileSync(entry, "x".repeat(${maxBytes})); reply({ isDone: true });`);
    expect(await cache.restore("a-")).toHaveLength(maxBytes);
  });

  test("does not read an entry that is too long, and does not try again", async () => {
    const { cache, temp, runs } = cacheOf(
      `fs.writeFileSync(entry, "x".repeat(${maxBytes + 1})); reply({ isDone: true });`,
    );
    const error = await cache.restore("a-").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CacheEntryError);
    expect(error).toHaveProperty("message", "The cache entry is longer than 65536 bytes");
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
