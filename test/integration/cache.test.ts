import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { type Cache, CacheEntryError } from "../../src/runner-kit/cache.ts";
import { type CacheOptions, connectCache } from "../../src/runner-kit/connect-cache.ts";
import {
  type CacheEntry,
  type CacheService,
  type CacheServiceOptions,
  startCacheService,
} from "../support/cache-service.ts";
import { root } from "../support/metadata.ts";

/** The bundle, which starts in half the time that its sources and packages take. */
const program = resolve(root, "dist/index.js");
/** The environment besides the runner's. */
const machine = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
const maxBytes = 64 * 1024;
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
  /** Connects another runner, with other folders. */
  connect(options?: CacheOptions): Cache;
}

describe.concurrent.each(["v1", "v2"] as const)("with protocol %s", (protocol) => {
  async function start(serviceOptions: CacheServiceOptions = {}, options: CacheOptions = {}): Promise<Fixture> {
    const service = await startCacheService(protocol, serviceOptions);
    cleanup.push(() => service[Symbol.asyncDispose]());
    const environmentOf = (temp: string) => ({ ...machine, RUNNER_TEMP: temp, ...service.environment });
    const temp = temporaryFolder();
    const connect = (more: CacheOptions = {}) =>
      connectCache(environmentOf(temporaryFolder()), { ...patient, ...options, ...more });
    const environment = environmentOf(temp);
    return { service, cache: connectCache(environment, { ...patient, ...options }), temp, environment, connect };
  }

  let saved: Promise<CacheEntry[]> | undefined;
  /** Starts with the entry `a-1`, whose text is "text". Its archive was saved once for all tests. */
  async function startWithEntry(serviceOptions?: CacheServiceOptions, options?: CacheOptions): Promise<Fixture> {
    saved ??= start().then(async ({ service, cache }) => {
      await cache.save("a-1", "text");
      return service.entries;
    });
    const fixture = await start(serviceOptions, options);
    fixture.service.entries.push(...(await saved).map((entry) => ({ ...entry })));
    return fixture;
  }

  test("restores what another runner saved", async () => {
    const { service, cache, temp, connect } = await start();
    const text = `{"id":"job-1","title":"Ünïcode \\n 😀"}\n`;
    await connect().save("a-1", text);
    expect(await cache.restore("a-")).toBe(text);
    expect(service.entries.map(({ key }) => key)).toEqual(["a-1"]);
    expect(readdirSync(temp)).toEqual([]);
  });

  test("restores the newest entry with the prefix", async () => {
    const { cache } = await start();
    await cache.save("a-2", "first");
    await cache.save("a-1", "second");
    await cache.save("b-3", "other");
    expect(await cache.restore("a-")).toBe("second");
    expect(await cache.restore("b-3")).toBe("other");
  });

  test("saves and restores at the same time", async () => {
    const { cache } = await start();
    await Promise.all([cache.save("a-1", "one"), cache.save("b-1", "two")]);
    expect(await Promise.all([cache.restore("a-"), cache.restore("b-")])).toEqual(["one", "two"]);
  });

  test("returns undefined if there is no entry with the prefix", async () => {
    const { service, cache } = await startWithEntry();
    expect(await cache.restore("b-")).toBeUndefined();
    service.evict();
    expect(await cache.restore("a-")).toBeUndefined();
  });

  test.each([
    ["an empty text", ""],
    ["a text that is not JSON", "\u0000::error::garbage"],
    ["the longest text", "x".repeat(maxBytes)],
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
    const fault = answer("look up", (response) => response.writeHead(status).end("{}"));
    const { cache } = await start({ fault }, { restoreTimeoutMs: 15_000 });
    await expect(cache.restore("a-")).rejects.toThrow(String(status));
  });

  test.each([429, 503])("retries a restore after %i", async (status) => {
    const fault = (request: string, n: number, response: Response) =>
      n === 1 && answer("look up", () => response.writeHead(status).end("{}"))(request, n, response);
    const { service, cache } = await startWithEntry({ fault }, { restoreTimeoutMs: 30_000 });
    expect(await cache.restore("a-")).toBe("text");
    expect(service.requests.filter((request) => request === "look up")).toHaveLength(2);
  });

  test.each([
    ["refuses connections", "connection"],
    ["answers with garbage", "garbage"],
    ["sends only a part of the archive", "part"],
  ])("throws if the service %s", async (_name, kind) => {
    const fault = {
      connection: answer("look up", (response) => response.destroy()),
      garbage: answer("look up", (response) => response.end("<html>")),
      part: answer("download", (response) =>
        response.writeHead(200, { "content-length": 9 }).end("half", () => response.destroy()),
      ),
    }[kind];
    const { cache } = await startWithEntry({ ...(fault && { fault }) }, { restoreTimeoutMs: 15_000 });
    await expect(cache.restore("a-")).rejects.toThrow();
  });

  test.each(["look up", "download"])("ends at the timeout if the service never answers a %s", async (request) => {
    const { cache } = await startWithEntry({ fault: answer(request, () => {}) }, { restoreTimeoutMs: 1500 });
    await expect(cache.restore("a-")).rejects.toThrow("The cache service did not respond, until the timeout");
  });

  test.each(["reserve", "upload", "commit"])(
    "a save ends at the timeout if there is no answer to the %s",
    async (request) => {
      const { cache, temp } = await start({ fault: answer(request, () => {}) }, { saveTimeoutMs: 1500 });
      await expect(cache.save("a-1", "text")).rejects.toThrow("The cache service did not respond, until the timeout");
      expect(readdirSync(temp)).toEqual([]);
    },
  );

  test.each(["reserve", "upload", "commit"])("a save throws if the %s fails", async (request) => {
    const fault = answer(request, (response) => response.writeHead(400).end('{"message":"Bad"}'));
    const { cache } = await start({ fault });
    await expect(cache.save("a-1", "text")).rejects.toThrow();
    expect(await cache.restore("a-")).toBeUndefined();
  });

  test("throws if the token is read-only, which still can restore", async () => {
    const { service, cache } = await start({ mode: "read" });
    await expect(cache.save("a-1", "text")).rejects.toThrow("Failed to save: Unable to reserve cache with key a-1");
    expect(await cache.restore("a-")).toBeUndefined();
    expect(service.entries).toEqual([]);
  });

  test("throws if the key is used", async () => {
    const { cache } = await startWithEntry();
    await expect(cache.save("a-1", "second")).rejects.toThrow("Unable to reserve cache with key a-1");
    expect(await cache.restore("a-")).toBe("text");
  });

  test.each([
    ["none", "restore"],
    ["write-only", "restore"],
    ["none", "save"],
    ["read", "save"],
  ] as const)("throws if the cache mode %s does not permit to %s", async (mode, operation) => {
    const { environment } = await start();
    const cache = connectCache({ ...environment, ACTIONS_CACHE_MODE: mode }, patient);
    const result = operation === "restore" ? cache.restore("a-") : cache.save("a-1", "text");
    await expect(result).rejects.toThrow(`the effective cache-mode '${mode}' does not permit`);
  });

  test.each([
    ["a key that is too long", "a".repeat(513)],
    ["a key with a comma", "a,b"],
  ])("throws for %s", async (_name, key) => {
    const { cache } = await start();
    await expect(cache.save(key, "text")).rejects.toThrow("Key Validation Error");
  });

  test("throws if there is no tar", async () => {
    const { service, environment } = await start();
    const cache = connectCache({ ...environment, PATH: temporaryFolder() }, patient);
    await expect(cache.save("a-1", "text")).rejects.toThrow("tar");
    expect(service.requests).toEqual([]);
  });

  test.each<[string, (folder: string) => void, string[]]>([
    [
      "too long",
      (folder) => writeFileSync(join(folder, "agent-job.json"), "x".repeat(maxBytes + 1)),
      ["agent-job.json"],
    ],
    ["a symbolic link", (folder) => symlinkSync("/etc/hostname", join(folder, "agent-job.json")), ["agent-job.json"]],
    ["a folder", (folder) => mkdirSync(join(folder, "agent-job.json")), ["agent-job.json"]],
    ["another file", (folder) => writeFileSync(join(folder, "other.json"), "{}"), ["other.json"]],
  ])("rejects an entry that is %s", async (_name, make, members) => {
    const { service, cache } = await startWithEntry();
    replaceArchive(service, make, members);
    await expect(cache.restore("a-")).rejects.toThrow(CacheEntryError);
  });

  test("rejects an entry that links to another file", async () => {
    const { service, cache, temp } = await startWithEntry();
    const secret = join(temp, "secret");
    writeFileSync(secret, "secret");
    replaceArchive(service, (folder) => linkSync(secret, join(folder, "agent-job.json")), [secret, "agent-job.json"]);
    await expect(cache.restore("a-")).rejects.toThrow(CacheEntryError);
  });

  test("rejects an archive that tar cannot read", async () => {
    const { service, cache } = await startWithEntry();
    for (const entry of service.entries) entry.archive = Buffer.from("garbage");
    await expect(cache.restore("a-")).rejects.toThrow(CacheEntryError);
    expect(service.requests.filter((request) => request === "look up")).toHaveLength(1);
  });

  test("extracts nothing outside of its folder", async () => {
    const { service, cache, temp } = await startWithEntry();
    const absolute = join(temp, "absolute");
    writeFileSync(absolute, "evil");
    replaceArchive(
      service,
      (folder) => {
        mkdirSync(join(folder, "sub"));
        writeFileSync(join(folder, "sub/agent-job.json"), "evil");
        writeFileSync(join(folder, "../evil"), "evil");
        writeFileSync(join(folder, "agent-job.json"), "good");
      },
      [absolute, "../evil", "sub", "agent-job.json"],
    );
    rmSync(absolute);
    expect(await cache.restore("a-")).toBe("good");
    expect(existsSync(absolute)).toBe(false);
    expect(readdirSync(temp)).toEqual([]);
  });

  test("prints nothing, and redacts the token in errors", async () => {
    const message = "::error::evil\n::add-mask::evil";
    const fault = answer("look up", (response) =>
      response
        .writeHead(403, { "content-type": "application/json" })
        .end(JSON.stringify({ message: `cache read denied: ${token} ${message}`, msg: `${token} ${message}` })),
    );
    const { service, environment } = await start({ fault, mode: "read" });
    const token = service.environment.ACTIONS_RUNTIME_TOKEN ?? "";
    const script = `
      const { connectCache } = await import(${JSON.stringify(resolve(root, "src/runner-kit/connect-cache.ts"))});
      const cache = connectCache(process.env, ${JSON.stringify(patient)});
      const results = await Promise.allSettled([cache.restore("a-"), cache.save("a-1", "text")]);
      console.log(JSON.stringify(results.map(({ reason }) => reason.message)));
    `;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
      env: { ...environment, RUNNER_DEBUG: "1" },
    });
    expect(stderr).toBe("");
    const [restoreError, saveError] = JSON.parse(stdout) as string[];
    expect(restoreError).toMatch(/^Failed to restore: /);
    expect(restoreError).toContain("***");
    expect(restoreError).not.toContain(token);
    expect(saveError).toMatch(/^Failed to save: /);
  });
});

test("throws if nothing listens at the service's address", async () => {
  const { environment, ...service } = await startCacheService("v2");
  await service[Symbol.asyncDispose]();
  const cache = connectCache({ ...machine, RUNNER_TEMP: temporaryFolder(), ...environment }, patient);
  await expect(cache.restore("a-")).rejects.toThrow("ECONNREFUSED");
});

test("uses the system's temporary folder if the runner's has spaces", async () => {
  const service = await startCacheService("v1");
  cleanup.push(() => service[Symbol.asyncDispose]());
  const temp = join(temporaryFolder(), "with space");
  mkdirSync(temp);
  const cache = connectCache({ ...machine, RUNNER_TEMP: temp, ...service.environment }, patient);
  await cache.save("a-1", "text");
  expect(await cache.restore("a-")).toBe("text");
});

test("throws if the process cannot start", async () => {
  const environment = { RUNNER_TEMP: temporaryFolder() };
  const cache = connectCache(environment, { ...patient, program: "/nowhere/index.js" });
  await expect(cache.restore("a-")).rejects.toThrow("The cache process ended with 1");
});

type Response = Parameters<NonNullable<CacheServiceOptions["fault"]>>[2];

/** Returns a fault that responds to all requests of a kind. */
function answer(kind: string, respond: (response: Response) => unknown) {
  return (request: string, _n: number, response: Response): boolean => {
    if (request !== kind) return false;
    respond(response);
    return true;
  };
}

/** Replaces the archive of every entry by one with other members, which `make` creates, compressed in the same way. */
function replaceArchive(service: CacheService, make: (folder: string) => void, members: string[]): void {
  const parent = temporaryFolder();
  const folder = join(parent, "folder");
  mkdirSync(folder);
  make(folder);
  for (const entry of service.entries) {
    const program = entry.archive.readUInt32LE() === 0xfd2fb528 ? "zstd" : "gzip";
    const args = ["--use-compress-program", program, "-P", "-cf", join(parent, "archive"), "-C", folder, ...members];
    execFileSync("tar", args);
    entry.archive = readFileSync(join(parent, "archive"));
  }
}
