import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { type Cache, CacheEntryError, CacheReadOnlyError } from "../../src/runner-kit/cache.ts";
import { type CacheOptions, connectCache } from "../../src/runner-kit/connect-cache.ts";
import { runCacheProcess } from "../../src/runner-kit/run-cache-process.ts";
import {
  type CacheEntry,
  type CacheProtocol,
  type CacheService,
  type CacheServiceOptions,
  startCacheService,
} from "../support/cache-service.ts";
import { root } from "../support/metadata.ts";
import { rows } from "../support/thorough.ts";

/** The bundle, which starts in half the time that its sources and packages take. */
const program = resolve(root, "dist/index.js");
/** The environment besides the runner's. */
const machine = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
const maxBytes = 64 * 1024;
/** Of all entries. If an upgrade of `@actions/cache` changes it, memory of earlier versions of the action is lost. */
const version = "d9de8d96bc786c5a857792c5018a96d15bc6d4d56efa4694937da9224f6c2205";
/** A process starts slowly on a busy machine. Tests of timeouts set their own. */
const patient: CacheOptions = { program, restoreTimeoutMs: 30_000, saveTimeoutMs: 30_000 };

// Tests run concurrently, because most of their time is a wait.
const cleanup: (() => unknown)[] = [];
afterAll(async () => {
  for (const clean of cleanup) await clean();
});

function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "cache-test-"));
  cleanup.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Fixture {
  service: CacheService;
  cache: Cache;
  /** The runner's folder for temporary files. */
  temp: string;
  environment: Record<string, string | undefined>;
}

/** Runs one process that restores: a failure is not tried again, which `cache-process.test.ts` tests. */
function restoreOnce(environment: NodeJS.ProcessEnv, signal = AbortSignal.timeout(30_000)): Promise<boolean> {
  const file = join(temporaryFolder(), "entry");
  return runCacheProcess({ operation: "restore", key: "a-", file, program, environment, signal });
}

/** Returns an entry as a save leaves it. */
function savedEntry(key: string, text: string): CacheEntry {
  return { key, version, content: Buffer.from(text), isCommitted: true };
}

/** Returns what starts a service with a protocol, and runners that use it. */
function fixturesOf(protocol: CacheProtocol) {
  async function start(serviceOptions: CacheServiceOptions = {}, options: CacheOptions = {}): Promise<Fixture> {
    const service = await startCacheService(protocol, serviceOptions);
    cleanup.push(() => service[Symbol.asyncDispose]());
    const temp = temporaryFolder();
    const environment = { ...machine, RUNNER_TEMP: temp, ...service.environment };
    return { service, cache: connectCache(environment, { ...patient, ...options }), temp, environment };
  }

  /** Starts with the entry `a-1`, whose text is "text". */
  async function startWithEntry(serviceOptions?: CacheServiceOptions, options?: CacheOptions): Promise<Fixture> {
    const fixture = await start(serviceOptions, options);
    fixture.service.entries.push(savedEntry("a-1", "text"));
    return fixture;
  }
  return { start, startWithEntry };
}

describe.concurrent.each(["v1", "v2"] as const)("with protocol %s", (protocol) => {
  const { start, startWithEntry } = fixturesOf(protocol);

  test("restores what another runner saved, starts no other program, and works in folders with spaces", async () => {
    const { service, environment } = await start();
    const runner = () => {
      const temp = join(temporaryFolder(), "a b é");
      mkdirSync(temp);
      return { temp, cache: connectCache({ ...environment, RUNNER_TEMP: temp, PATH: temporaryFolder() }, patient) };
    };
    const text = `{"id":"job-1","title":"Ünïcode \\n 😀"}\n`;
    await runner().cache.save("a-1", text);
    const { cache, temp } = runner();
    expect(await cache.restore("a-")).toBe(text);
    expect(service.entries).toEqual([savedEntry("a-1", text)]);
    expect(readdirSync(temp)).toEqual([]);
  });

  test("restores the newest entry with the prefix", async () => {
    const { service, cache } = await start();
    service.entries.push(savedEntry("a-2", "first"), savedEntry("a-1", "second"), savedEntry("b-3", "other"));
    expect(await cache.restore("a-")).toBe("second");
    expect(await cache.restore("b-3")).toBe("other");
  });

  test("returns undefined if there is no entry with the prefix", async () => {
    const { cache } = await startWithEntry();
    expect(await cache.restore("b-")).toBeUndefined();
  });

  test.each([429, 503])("retries a restore after %i", async (status) => {
    const fault = (request: string, n: number, response: Response) =>
      n === 1 && answer("look up", () => response.writeHead(status).end("{}"))(request, n, response);
    const { service, cache } = await startWithEntry({ fault }, { restoreTimeoutMs: 30_000 });
    expect(await cache.restore("a-")).toBe("text");
    expect(service.requests.filter((request) => request === "look up")).toHaveLength(2);
  });

  test.each(["look up", "download"])("ends at the timeout if the service never answers a %s", async (request) => {
    const { cache } = await startWithEntry({ fault: answer(request, () => {}) }, { restoreTimeoutMs: 1500 });
    await expect(cache.restore("a-")).rejects.toThrow("The cache service did not respond, until the timeout");
  });

  test.each(["reserve", "upload", "commit"])("a save throws if the %s fails", async (request) => {
    const fault = answer(request, (response) => response.writeHead(400).end('{"message":"Bad"}'));
    const { service, cache } = await start({ fault });
    await expect(cache.save("a-1", "text")).rejects.toThrow();
    expect(service.entries.filter(({ isCommitted }) => isCommitted)).toEqual([]);
  });

  test.each([403, 404])("throws if the download fails with %i", async (status) => {
    const fault = answer("download", (response) => response.writeHead(status).end("<Error>BlobNotFound</Error>"));
    const { environment } = await startWithEntry({ fault });
    await expect(restoreOnce(environment)).rejects.toThrow();
  });

  test.each(["read", "403"] as const)("says that the run may only read, which still can: %s", async (access) => {
    const { service, environment } = await start({ access });
    service.entries.push(savedEntry("a-1", "text"));
    // As on a runner that does not know yet.
    const cache = connectCache({ ...environment, ACTIONS_CACHE_MODE: undefined }, patient);
    const error = await cache.save("a-2", "second").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CacheReadOnlyError);
    expect(error).toHaveProperty("message", expect.stringMatching(/cache write denied: token has no writable scopes$/));
    expect(await cache.restore("a-")).toBe("text");
  });

  test("throws if the key is used", async () => {
    const { service, cache } = await startWithEntry();
    const error = await cache.save("a-1", "second").catch((reason: unknown) => reason);
    expect(error).toHaveProperty("message", expect.stringMatching(/did not reserve the key a-1|already|409/));
    expect(error).not.toBeInstanceOf(CacheReadOnlyError);
    expect(service.entries).toEqual([savedEntry("a-1", "text")]);
  });

  test("prints nothing, and redacts the token in errors", async () => {
    const message = "::error::evil\n::add-mask::evil";
    const fault = answer("look up", (response) =>
      response
        .writeHead(403, { "content-type": "application/json" })
        .end(JSON.stringify({ message: `cache read denied: ${token} ${message}`, msg: `${token} ${message}` })),
    );
    const { service, environment } = await start({ fault, access: "403" });
    const token = service.environment.ACTIONS_RUNTIME_TOKEN ?? "";
    const file = join(temporaryFolder(), "entry");
    writeFileSync(file, "text");
    const script = `
      const { runCacheProcess } = await import(${JSON.stringify(resolve(root, "src/runner-kit/run-cache-process.ts"))});
      const run = (operation, key) =>
        runCacheProcess({ operation, key, file: ${JSON.stringify(file)}, program: ${JSON.stringify(program)},
          environment: process.env, signal: AbortSignal.timeout(30_000) });
      const results = await Promise.allSettled([run("restore", "a-"), run("save", "a-1")]);
      console.log(JSON.stringify(results.map(({ reason }) => reason.message)));
    `;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
      env: { ...environment, RUNNER_DEBUG: "1" },
    });
    expect(stderr).toBe("");
    const [restoreError, saveError] = JSON.parse(stdout) as string[];
    expect(restoreError).toContain("***");
    expect(restoreError).not.toContain(token);
    expect(saveError).toContain("cache write denied");
  });

  test.each(["upload", "download"])("does not tell the address of the %s, which needs no token", async (request) => {
    const fault = answer(request, (response) => response.writeHead(403).end(`no: ${response.req.url}`));
    const { cache, environment } = await startWithEntry({ fault });
    const result = request === "upload" ? cache.save("a-2", "text") : restoreOnce(environment);
    const error = await result.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toMatch(/signature-of-the-url|archives\/\d/);
  });
});

describe.concurrent.each(rows(["v2", "v1"] as const, 1))("with protocol %s, in detail", (protocol) => {
  const { start, startWithEntry } = fixturesOf(protocol);

  test("does not find entries of another version", async () => {
    const { service, cache } = await startWithEntry();
    for (const entry of service.entries) entry.version = "0".repeat(64);
    expect(await cache.restore("a-")).toBeUndefined();
  });

  test("saves and restores at the same time", async () => {
    const { cache } = await start();
    await Promise.all([cache.save("a-1", "one"), cache.save("b-1", "two")]);
    expect(await Promise.all([cache.restore("a-"), cache.restore("b-")])).toEqual(["one", "two"]);
  });

  test.each([
    ["a short text", "x"],
    ["the longest text, which is not JSON", "\u0000::error::garbage".padEnd(maxBytes, "x")],
  ])("restores %s as it is", async (_name, text) => {
    const { cache } = await start();
    await cache.save("a-1", text);
    expect(await cache.restore("a-")).toBe(text);
  });

  test("does not save a text that is too long", async () => {
    const { service, cache } = await start();
    await expect(cache.save("a-1", "ü".repeat(maxBytes / 2 + 1))).rejects.toThrow("longer than 65536 bytes");
    expect(service.requests).toEqual([]);
  });

  test.each([500, 403])("throws if the service cannot be read, with %i", async (status) => {
    const retried = new AbortController();
    const fault = answer("look up", (response) => response.writeHead(status).end("{}"), retried);
    const { environment } = await start({ fault });
    await expect(restoreOnce(environment, retried.signal)).rejects.toThrow(String(status));
  });

  test.each([
    ["refuses connections", "connection"],
    ["answers with garbage", "garbage"],
    ["sends only a part of the entry", "part"],
  ])("throws if the service %s", async (_name, kind) => {
    const retried = new AbortController();
    const fault = {
      connection: answer("look up", (response) => response.destroy(), retried),
      garbage: answer("look up", (response) => response.end("<html>"), retried),
      part: answer(
        "download",
        (response) => response.writeHead(200, { "content-length": 9 }).end("half", () => response.destroy()),
        retried,
      ),
    }[kind];
    const { environment } = await startWithEntry({ ...(fault && { fault }) });
    await expect(restoreOnce(environment, retried.signal)).rejects.toThrow();
  });

  test.each(["reserve", "upload", "commit"])(
    "a save ends at the timeout if there is no answer to the %s",
    async (request) => {
      const { cache, temp } = await start({ fault: answer(request, () => {}) }, { saveTimeoutMs: 1500 });
      await expect(cache.save("a-1", "text")).rejects.toThrow("The cache service did not respond, until the timeout");
      expect(readdirSync(temp)).toEqual([]);
    },
  );

  test("asks nothing if the runner says that the run may only read", async () => {
    const { service, cache } = await start({ access: "read" });
    await expect(cache.save("a-1", "text")).rejects.toThrow(CacheReadOnlyError);
    expect(service.requests).toEqual([]);
    expect(await cache.restore("a-")).toBeUndefined();
  });

  test.each([
    ["a key that is too long", "a".repeat(513)],
    ["a key with a comma", "a,b"],
  ])("throws for %s", async (_name, key) => {
    const { cache } = await start();
    await expect(cache.save(key, "text")).rejects.toThrow("cannot be a key of a cache entry");
  });

  test("rejects an entry that is too long", async () => {
    const { service, cache } = await startWithEntry();
    for (const entry of service.entries) entry.content = Buffer.alloc(maxBytes + 1, "x");
    await expect(cache.restore("a-")).rejects.toThrow(CacheEntryError);
    expect(service.requests.filter((request) => request === "look up")).toHaveLength(1);
  });
});

test("throws if nothing listens at the service's address", async () => {
  const { environment, ...service } = await startCacheService("v2");
  await service[Symbol.asyncDispose]();
  await expect(restoreOnce({ ...machine, ...environment })).rejects.toThrow("ECONNREFUSED");
});

type Response = Parameters<NonNullable<CacheServiceOptions["fault"]>>[2];

/**
 * Returns a fault that responds to all requests of a kind.
 *
 * @param retried - aborted at the second one: the library pauses for seconds before each, and tries five times
 */
function answer(kind: string, respond: (response: Response) => unknown, retried?: AbortController) {
  return (request: string, n: number, response: Response): boolean => {
    if (request !== kind) return false;
    if (n === 2) retried?.abort();
    respond(response);
    return true;
  };
}
