import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Cache, CacheReadOnlyError } from "../../src/runner-kit/cache.ts";
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
import { type CacheOperations, startCacheOperations } from "../support/run-cache-operations.ts";
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
  /** Starts a process for each operation. */
  cache: Cache;
  /** Restores the newest text whose key has a prefix; `undefined` if there is none. Starts no process. */
  restore: (prefix: string) => Promise<string | undefined>;
  /** Saves a text. Starts no process. */
  save: (key: string, text: string) => Promise<void>;
  /** The runner's folder for temporary files. */
  temp: string;
  environment: Record<string, string | undefined>;
}

let operations: CacheOperations;
beforeAll(() => {
  operations = startCacheOperations();
  cleanup.push(() => operations[Symbol.dispose]());
});

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
    const file = join(temporaryFolder(), "entry");
    return {
      service,
      cache: connectCache(environment, { ...patient, ...options }),
      restore: async (prefix) => {
        const isFound = await operations.run({ operation: "restore", key: prefix, file, environment });
        return isFound ? readFileSync(file, "utf8") : undefined;
      },
      save: async (key, text) => {
        writeFileSync(file, text);
        await operations.run({ operation: "save", key, file, environment });
      },
      temp,
      environment,
    };
  }

  /** Starts with the entry `a-1`, whose text is "text". */
  async function startWithEntry(serviceOptions?: CacheServiceOptions, options?: CacheOptions): Promise<Fixture> {
    const fixture = await start(serviceOptions, options);
    fixture.service.entries.push(savedEntry("a-1", "text"));
    return fixture;
  }
  return { start, startWithEntry };
}

describe.concurrent.each(["v1", "v2"] as const)("a process with protocol %s", (protocol) => {
  const { start, startWithEntry } = fixturesOf(protocol);

  test("restores what another runner saved with another entry, starts no other program, and works in folders with spaces", async () => {
    const { service, environment } = await start();
    const runner = () => {
      const temp = join(temporaryFolder(), "a b é");
      mkdirSync(temp);
      return { temp, cache: connectCache({ ...environment, RUNNER_TEMP: temp, PATH: temporaryFolder() }, patient) };
    };
    const text = `{"id":"job-1","title":"Ünïcode \\n 😀"}\n`;
    const { cache: first } = runner();
    await Promise.all([first.save("a-1", text), first.save("b-1", "other")]);
    const { cache, temp } = runner();
    expect(await cache.restore("a-")).toBe(text);
    const saved = service.entries.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    expect(saved).toEqual([savedEntry("a-1", text), savedEntry("b-1", "other")]);
    expect(readdirSync(temp)).toEqual([]);
  });

  test("retries a restore after 503", async () => {
    const fault = (request: string, n: number, response: Response) =>
      n === 1 && answer("look up", () => response.writeHead(503).end("{}"))(request, n, response);
    const { service, cache } = await startWithEntry({ fault }, { restoreTimeoutMs: 30_000 });
    expect(await cache.restore("a-")).toBe("text");
    expect(service.requests.filter((request) => request === "look up")).toHaveLength(2);
  });

  test.each(rows(["download", "look up"], 1))(
    "ends at the timeout if the service never answers a %s",
    async (request) => {
      const { cache } = await startWithEntry({ fault: answer(request, () => {}) }, { restoreTimeoutMs: 1500 });
      await expect(cache.restore("a-")).rejects.toThrow("The cache service did not respond, until the timeout");
    },
  );

  test.each(["upload", "download"])(
    "throws if the %s fails, and does not tell its address, which needs no token",
    async (request) => {
      const fault = answer(request, (response) => response.writeHead(403).end(`no: ${response.req.url}`));
      const { service, cache, environment } = await startWithEntry({ fault });
      const result = request === "upload" ? cache.save("a-2", "text") : restoreOnce(environment);
      const error = await result.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(String(error)).not.toMatch(/signature-of-the-url|archives\/\d/);
      expect(service.entries.filter(({ key, isCommitted }) => key === "a-2" && isCommitted)).toEqual([]);
    },
  );

  // In v1, a service says both in the same way.
  test.each(protocol === "v1" ? (["403"] as const) : (["read", "403"] as const))(
    "says that the run may only read, which still can: %s",
    async (access) => {
      const { service, environment, restore } = await start({ access });
      service.entries.push(savedEntry("a-1", "text"));
      // As on a runner that does not know yet.
      const cache = connectCache({ ...environment, ACTIONS_CACHE_MODE: undefined }, patient);
      const error = await cache.save("a-2", "second").catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(CacheReadOnlyError);
      expect(error).toHaveProperty(
        "message",
        expect.stringMatching(/cache write denied: token has no writable scopes$/),
      );
      expect(await restore("a-")).toBe("text");
    },
  );
});

describe.concurrent.each(rows(["v2", "v1"] as const, 1))("a process with protocol %s, in detail", (protocol) => {
  const { start, startWithEntry } = fixturesOf(protocol);

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

  test.each([
    ["answers with 500", "error", "500"],
    ["answers with garbage", "garbage", ""],
  ])("throws if the service %s, at the timeout", async (_name, kind, message) => {
    const retried = new AbortController();
    const respond = (response: Response) =>
      kind === "garbage" ? response.end("<html>") : response.writeHead(500).end("{}");
    const { environment } = await startWithEntry({ fault: answer("look up", respond, retried) });
    await expect(restoreOnce(environment, retried.signal)).rejects.toThrow(message);
  });

  test.each(rows(["commit", "upload", "reserve"], 1))(
    "a save ends at the timeout if there is no answer to the %s",
    async (request) => {
      const { cache, temp } = await start({ fault: answer(request, () => {}) }, { saveTimeoutMs: 1500 });
      await expect(cache.save("a-1", "text")).rejects.toThrow("The cache service did not respond, until the timeout");
      expect(readdirSync(temp)).toEqual([]);
    },
  );
});

describe.each(["v1", "v2"] as const)("protocol %s", (protocol) => {
  const { start, startWithEntry } = fixturesOf(protocol);

  test("restores the newest entry with the prefix", async () => {
    const { service, restore } = await start();
    service.entries.push(savedEntry("a-2", "first"), savedEntry("a-1", "second"), savedEntry("b-3", "other"));
    expect(await restore("a-")).toBe("second");
    expect(await restore("b-3")).toBe("other");
  });

  test("has no entry with another prefix, or of another version", async () => {
    const { service, restore } = await startWithEntry();
    expect(await restore("b-")).toBeUndefined();
    for (const entry of service.entries) entry.version = "0".repeat(64);
    expect(await restore("a-")).toBeUndefined();
  });

  test.each([
    ["a short text", "x"],
    ["the longest text, which is not JSON", "\u0000::error::garbage".padEnd(maxBytes, "x")],
  ])("restores %s as it is", async (_name, text) => {
    const { save, restore } = await start();
    await save("a-1", text);
    expect(await restore("a-")).toBe(text);
  });

  test("does not say that there is no entry if the service is busy", async () => {
    const fault = (request: string, n: number, response: Response) =>
      n === 1 && answer("look up", () => response.writeHead(429).end("{}"))(request, n, response);
    const { restore } = await startWithEntry({ fault });
    await expect(restore("a-")).rejects.toThrow("429");
    expect(await restore("a-")).toBe("text");
  });

  test("throws if the service rejects a look-up, or has no file for an entry", async () => {
    const rejects = answer("look up", (response) => response.writeHead(403).end("{}"));
    const hasNone = answer("download", (response) => response.writeHead(404).end("<Error>BlobNotFound</Error>"));
    const [rejecting, empty] = [await startWithEntry({ fault: rejects }), await startWithEntry({ fault: hasNone })];
    await expect(rejecting.restore("a-")).rejects.toThrow("403");
    await expect(empty.restore("a-")).rejects.toThrow(/404|RestError/);
  });

  test.each(["reserve", "upload", "commit"])("a save throws if the %s fails", async (request) => {
    const fault = answer(request, (response) => response.writeHead(400).end('{"message":"Bad"}'));
    const { service, save } = await start({ fault });
    await expect(save("a-1", "text")).rejects.toThrow();
    expect(service.entries.filter(({ isCommitted }) => isCommitted)).toEqual([]);
  });

  test("throws if the key is used", async () => {
    const { service, save } = await startWithEntry();
    const error = await save("a-1", "second").catch((reason: unknown) => reason);
    expect(error).toHaveProperty("message", expect.stringMatching(/did not reserve the key a-1|already|409/));
    expect(error).toHaveProperty("message", expect.not.stringContaining("cache write denied:"));
    expect(service.entries).toEqual([savedEntry("a-1", "text")]);
  });

  test("asks nothing to save if the runner says that the run may only read, which it can", async () => {
    const { service, cache, restore } = await start({ access: "read" });
    await expect(cache.save("a-1", "text")).rejects.toThrow(CacheReadOnlyError);
    expect(service.requests).toEqual([]);
    expect(await restore("a-")).toBeUndefined();
  });

  test.each([
    ["a key that is too long", "a".repeat(513)],
    ["a key with a comma", "a,b"],
  ])("throws for %s", async (_name, key) => {
    const { service, save, restore } = await start();
    await expect(save(key, "text")).rejects.toThrow("cannot be a key of a cache entry");
    await expect(restore(key)).rejects.toThrow("cannot be a key of a cache entry");
    expect(service.requests).toEqual([]);
  });

  test("does not save a text that is too long", async () => {
    const { service, cache } = await start();
    await expect(cache.save("a-1", "ü".repeat(maxBytes / 2 + 1))).rejects.toThrow("longer than 65536 bytes");
    expect(service.requests).toEqual([]);
  });
});

describe("protocol v2", () => {
  const { start, startWithEntry } = fixturesOf("v2");

  test("throws if a save is not finalized, with the service's reason", async () => {
    const notFinalized = (body: object) =>
      answer("commit", (response) =>
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
      );
    const { save } = await start({ fault: notFinalized({ ok: false, message: "over quota" }) });
    await expect(save("a-1", "text")).rejects.toThrow("did not finalize the entry a-1: over quota");
  });

  test("throws if the service refuses connections, or sends only a part of the entry", async () => {
    const faults = [
      answer("look up", (response) => response.destroy()),
      answer("download", (response) =>
        response.writeHead(200, { "content-length": 9 }).end("half", () => response.destroy()),
      ),
    ];
    for (const fault of faults) {
      const { restore } = await startWithEntry({ fault });
      await expect(restore("a-")).rejects.toThrow();
    }
  });

  test("throws if nothing listens at the service's address", async () => {
    const { service, restore } = await start();
    await service[Symbol.asyncDispose]();
    await expect(restore("a-")).rejects.toThrow("ECONNREFUSED");
  });
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
