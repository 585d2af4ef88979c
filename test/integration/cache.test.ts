import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { CacheEntryError, CacheReadOnlyError } from "../../src/runner-kit/cache.ts";
import { type CacheClientOptions, createCacheClient } from "../../src/runner-kit/cache-client.ts";
import { connectCache } from "../../src/runner-kit/connect-cache.ts";
import {
  type CacheEntry,
  type CacheFault,
  type CacheProtocol,
  type CacheRequest,
  type CacheServiceOptions,
  startCacheService,
} from "../support/cache-service.ts";
import { tcpServer } from "../support/tcp-server.ts";

const maxBytes = 64 * 1024;
/** Of all entries. Entries with another version are lost. */
const version = "d9de8d96bc786c5a857792c5018a96d15bc6d4d56efa4694937da9224f6c2205";
const token = "runtime-token-0123456789";
const protocols = ["v1", "v2"] as const;

/** Returns an entry as a save leaves it. */
function savedEntry(key: string, text: string): CacheEntry {
  return { key, version, content: Buffer.from(text), isCommitted: true };
}

type Response = Parameters<CacheFault>[2];

/** Returns a fault that responds to the first `times` requests of a kind. */
function answer(kind: CacheRequest, respond: (response: Response) => unknown, times = Infinity): CacheFault {
  return (request, n, response) => {
    if (request !== kind || n > times) return false;
    respond(response);
    return true;
  };
}

/** Starts a service with the entry `a-1`, whose text is "text", and a cache of a runner that pauses for no retry. */
async function start(
  protocol: CacheProtocol,
  serviceOptions: CacheServiceOptions = {},
  options: Partial<CacheClientOptions> = {},
  changes: Record<string, string | undefined> = {},
) {
  const service = await startCacheService(protocol, serviceOptions);
  onTestFinished(() => service[Symbol.asyncDispose]());
  service.entries.push(savedEntry("a-1", "text"));
  const pauses: number[] = [];
  const sleep = async (ms: number) => void pauses.push(ms);
  const cache = connectCache({ ...service.environment, ...changes }, { sleep, ...options });
  const count = (kind: CacheRequest) => service.requests.filter((request) => request === kind).length;
  return { service, cache, pauses, count };
}

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "no error",
    (error: Error) => error.message,
  );

describe.each(protocols)("protocol %s", (protocol) => {
  test("restores the newest entry with the prefix, which may have another prefix or version", async () => {
    const { service, cache } = await start(protocol);
    service.entries.push(savedEntry("a-0", "second"), savedEntry("b-3", "other"));
    expect(await cache.restore("a-")).toBe("second");
    expect(await cache.restore("b-3")).toBe("other");
    expect(await cache.restore("c-")).toBeUndefined();
    for (const entry of service.entries) entry.version = "0".repeat(64);
    expect(await cache.restore("a-")).toBeUndefined();
  });

  test.each([
    ["a short text", "x"],
    ["a text in several scripts", `{"id":"job-1","title":"Ünïcode \\n 😀"}\n`],
    ["the longest text, which is not JSON", "\u0000::error::garbage".padEnd(maxBytes, "x")],
  ])("restores %s as it was saved", async (_name, text) => {
    const { service, cache } = await start(protocol);
    await cache.save("b-1", text);
    expect(service.entries.at(-1)).toEqual(savedEntry("b-1", text));
    expect(await cache.restore("b-")).toBe(text);
  });

  test("a receiver that cannot keep the content ends the restore", async () => {
    const { service } = await start(protocol);
    const client = createCacheClient(service.environment, {
      restoreTimeoutMs: 5000,
      saveTimeoutMs: 5000,
      sleep: async () => {},
    });
    const full = () => () => {
      throw new Error("disk full");
    };
    expect(await messageOf(client.restore("a-", full))).toMatch(/cannot be used: disk full$/);
  });

  test("saves a content in blocks", async () => {
    const { service } = await start(protocol);
    const limits = { restoreTimeoutMs: 5000, saveTimeoutMs: 5000, blockBytes: 4 };
    const content = Buffer.from("0123456789");
    const read = (start: number, end: number) => content.subarray(start, end);
    await createCacheClient(service.environment, limits).save("b-1", { size: content.length, read });
    expect(service.entries.at(-1)).toEqual(savedEntry("b-1", "0123456789"));
    expect(service.requests.filter((request) => request === "upload")).toHaveLength(protocol === "v1" ? 3 : 4);
  });

  test.each(["look up", "download"] as const)(
    "retries a %s that fails, and returns what the last one had",
    async (kind) => {
      const faults = [
        (response: Response) => response.writeHead(503).end("{}"),
        (response: Response) =>
          response.writeHead(200, { "content-length": 9 }).write("half", () => response.destroy()),
      ];
      const fault = answer(kind, (response) => faults.pop()?.(response), 2);
      const { cache, pauses } = await start(protocol, { fault });
      expect(await cache.restore("a-")).toBe("text");
      expect(pauses).toEqual([500, 1000]);
    },
  );

  test.each([
    ["look up", 500, 3],
    ["look up", 429, 3],
    ["look up", 403, 1],
    ["download", 404, 1],
    ["download", 503, 3],
  ] as const)("throws if a %s is answered with %i, after %i requests", async (kind, status, requests) => {
    const fault = answer(kind, (response) => response.writeHead(status).end("<html>"));
    const { cache, count } = await start(protocol, { fault });
    expect(await messageOf(cache.restore("a-"))).toMatch(new RegExp(`^The .+ answered the .+ with ${status}$`));
    expect(count(kind)).toBe(requests);
  });

  test.each(["reserve", "upload", "commit"] as const)(
    "a save throws if the %s fails, and is retried if it may pass",
    async (kind) => {
      const fails = await start(protocol, { fault: answer(kind, (response) => response.writeHead(400).end("{}")) });
      expect(await messageOf(fails.cache.save("a-2", "text"))).toMatch(/^The .+ answered the .+ with 400$/);
      expect(fails.service.entries.filter(({ isCommitted }) => isCommitted)).toHaveLength(1);
      expect(fails.count(kind)).toBe(1);
      const passes = await start(protocol, { fault: answer(kind, (response) => response.writeHead(502).end(), 1) });
      await passes.cache.save("a-2", "text");
      expect(passes.service.entries.at(-1)).toEqual(savedEntry("a-2", "text"));
    },
  );

  test("throws if the key is used", async () => {
    const { service, cache } = await start(protocol);
    expect(await messageOf(cache.save("a-1", "second"))).toMatch(
      /^The cache service answered the reservation with 409: /,
    );
    expect(service.entries).toEqual([savedEntry("a-1", "text")]);
  });

  test.each(["look up", "download", "reserve", "upload", "commit"] as const)(
    "a timeout ends a request for a %s that is not answered",
    async (kind) => {
      let closed: Promise<unknown> | undefined;
      const fault = answer(kind, (response) => {
        closed = new Promise((resolve) => response.on("close", resolve));
      });
      const { cache } = await start(protocol, { fault }, { restoreTimeoutMs: 150, saveTimeoutMs: 150 });
      const work = ["look up", "download"].includes(kind) ? cache.restore("a-") : cache.save("a-2", "text");
      expect(await messageOf(work)).toBe("The cache service did not respond, until the timeout");
      await closed;
    },
  );

  test("says at the timeout what went wrong before", async () => {
    const fault = answer("look up", (response) => response.writeHead(502).end(), 1);
    const { cache } = await start(
      protocol,
      { fault: (...request) => fault(...request) || request[0] === "look up" },
      { restoreTimeoutMs: 1000 },
    );
    expect(await messageOf(cache.restore("a-"))).toBe(
      "The cache service answered the look-up with 502, until the timeout",
    );
  });

  test("prints nothing, and redacts the token and addresses in errors", async () => {
    const said = `::error::evil ${token} ${Buffer.from(token).toString("base64")} http://storage.example/1?sig=x ${"x".repeat(2000)}`;
    const fault: CacheFault = (_kind, _n, response) =>
      Boolean(response.writeHead(403).end(JSON.stringify({ msg: said, message: said })));
    const { cache } = await start(protocol, { fault });
    const streams = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, "write"));
    const messages = [await messageOf(cache.restore("a-")), await messageOf(cache.save("a-2", "text"))];
    for (const stream of streams) {
      expect(stream.mock.calls.filter(([text]) => String(text).includes("evil"))).toEqual([]);
      stream.mockRestore();
    }
    for (const message of messages) {
      expect(message).toMatch(/^The cache service answered the (look-up|reservation) with 403: ::error::evil \*\*\* /);
      expect(message).not.toMatch(/runtime-token|storage\.example|cnVudGltZS10b2tlbi/);
      expect(message.length).toBeLessThanOrEqual(500);
    }
  });

  test("repeats nothing of what the storage says, nor its address", async () => {
    for (const kind of ["download", "upload"] as const) {
      const fault = answer(kind, (response) => response.writeHead(403).end(`{"message":"no: ${response.req.url}"}`));
      const { service, cache } = await start(protocol === "v1" && kind === "upload" ? "v2" : protocol, { fault });
      const message = await messageOf(kind === "download" ? cache.restore("a-") : cache.save("a-2", "text"));
      expect(message).toBe(`The storage of the cache answered the ${kind} with 403`);
      expect(service.entries.filter(({ key, isCommitted }) => key === "a-2" && isCommitted)).toEqual([]);
    }
  });

  // In v1, a service says both in the same way.
  test.each(protocol === "v1" ? (["403"] as const) : (["read", "403"] as const))(
    "tells that the run may only read, as the service says, which still can: %s",
    async (access) => {
      // As on a runner that does not know yet.
      const { cache } = await start(protocol, { access }, {}, { ACTIONS_CACHE_MODE: undefined });
      const error = await cache.save("a-2", "second").catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(CacheReadOnlyError);
      expect(error).toHaveProperty(
        "message",
        expect.stringMatching(/cache write denied: token has no writable scopes$/),
      );
      expect(await cache.restore("a-")).toBe("text");
    },
  );

  test("a look-up does not tell that the run may only read", async () => {
    const said = JSON.stringify({ msg: "cache write denied: x", message: "cache write denied: x" });
    const { cache } = await start(protocol, {
      fault: answer("look up", (response) => response.writeHead(403).end(said)),
    });
    const error = await cache.restore("a-").catch((reason: unknown) => reason);
    expect(error).toHaveProperty("message", expect.stringContaining("denied: x"));
    expect(error).not.toBeInstanceOf(CacheReadOnlyError);
  });

  test.each([
    ["none", "restore"],
    ["write-only", "restore"],
    ["none", "save"],
    ["write-only", "save"],
    ["read", "save"],
  ] as const)("asks nothing if the cache mode %s does not permit to %s", async (mode, operation) => {
    const { service, cache } = await start(protocol, {}, {}, { ACTIONS_CACHE_MODE: mode });
    const work = operation === "restore" ? cache.restore("a-") : cache.save("a-2", "text");
    const error = await work.catch((reason: unknown) => reason);
    expect(error).toHaveProperty("message", expect.stringContaining(`has the mode "${mode}"`));
    expect(error instanceof CacheReadOnlyError).toBe(operation === "save");
    expect(service.requests).toEqual([]);
  });

  test.each([
    ["a key that is too long", "a".repeat(513)],
    ["a key with a comma", "a,b"],
  ])("throws for %s", async (_name, key) => {
    const { service, cache } = await start(protocol);
    await expect(cache.save(key, "text")).rejects.toThrow("cannot be a key of a cache entry");
    await expect(cache.restore(key)).rejects.toThrow("cannot be a key of a cache entry");
    expect(service.requests).toEqual([]);
  });

  test("does not save a text that is too long", async () => {
    const { service, cache } = await start(protocol);
    await expect(cache.save("a-2", "ü".repeat(maxBytes / 2 + 1))).rejects.toThrow("longer than 65536 bytes");
    expect(service.requests).toEqual([]);
  });
});

describe.each(protocols)("a hostile answer with protocol %s", (protocol) => {
  test("an entry that is too long, also one of 10 MB, is unusable, and is not asked for again", async () => {
    for (const size of [maxBytes + 1, 10_000_000]) {
      const { service, cache, count } = await start(protocol);
      service.entries.push(savedEntry("a-2", "x".repeat(size)));
      const error = await cache.restore("a-").catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(CacheEntryError);
      expect(error).toHaveProperty("message", "The cache entry is longer than 65536 bytes");
      expect(count("download")).toBe(1);
    }
  });

  test.each<[string, (response: Response) => unknown, RegExp]>([
    ["10 MB of text", (response) => response.end("x".repeat(10_000_000)), /the response is larger than 1 MiB$/],
    [
      "half a body",
      (response) => response.writeHead(200, { "content-length": 9 }).end("{", () => response.destroy()),
      /cannot be reached/,
    ],
    ["no body", (response) => response.end(), /is not one of its protocol$/],
    ["HTML", (response) => response.end("<html>evil"), /is not one of its protocol$/],
    ["a list", (response) => response.end("[]"), /is not one of its protocol$/],
    [
      "an object of another kind",
      (response) => response.end('{"error":"evil"}'),
      /is not one of its protocol$|no usable address$|did not reserve the key a-2$/,
    ],
    ["the end of the connection", (response) => response.destroy(), /cannot be reached: socket hang up$/],
  ])("%s is neither an entry nor none, and saves nothing", async (_name, respond, message) => {
    const { cache } = await start(protocol, {
      fault: (kind, _n, response) => {
        const isFirst = kind === "look up" || kind === "reserve";
        if (isFirst) respond(response);
        return isFirst;
      },
    });
    for (const work of [() => cache.restore("a-"), () => cache.save("a-2", "text")]) {
      const said = await messageOf(work());
      expect(said).toMatch(message);
      expect(said).not.toContain("evil");
    }
  });

  test.each(["look up", "download", "reserve", "upload"] as const)(
    "a redirect of a %s to another host is not followed",
    async (kind) => {
      await using other = await tcpServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n{}"));
      const location = `http://127.0.0.1:${other.port}/elsewhere`;
      const { cache } = await start(protocol, {
        fault: answer(kind, (response) => response.writeHead(307, { location }).end()),
      });
      const work = ["look up", "download"].includes(kind) ? cache.restore("a-") : cache.save("a-2", "text");
      expect(await messageOf(work)).toMatch(/answered the .+ with 307$/);
      expect(other.received).toEqual([]);
    },
  );

  test.each([
    ["a line end", "http://storage.example/a\r\n?sig=secret"],
    ["a space", "http://storage.example/ ?sig=secret"],
    ["a scheme of files", "file:///etc/passwd?sig=secret"],
    ["another scheme", "ftp://storage.example/?sig=secret"],
    ["no scheme", "storage.example/?sig=secret"],
    ["nothing", ""],
    ["a number", 5],
  ])("an address with %s is not used, nor repeated", async (_name, address) => {
    const body = JSON.stringify({
      ok: true,
      signed_download_url: address,
      signed_upload_url: address,
      archiveLocation: address,
    });
    const { cache, service } = await start(protocol, {
      fault: (_kind, _n, response) => Boolean(response.writeHead(200).end(body)),
    });
    expect(await messageOf(cache.restore("a-"))).toBe(
      "The cache service's answer to the look-up has no usable address",
    );
    const saving = await messageOf(cache.save("a-2", "text"));
    expect(saving).toMatch(
      /^The cache service's answer to the reservation (has no usable address|is not one of its protocol)$/,
    );
    expect(service.requests).toEqual(["look up", "reserve"]);
  });

  test("nothing at the service's address, or no address, is an error", async () => {
    const { service, cache } = await start(protocol);
    await service[Symbol.asyncDispose]();
    expect(await messageOf(cache.restore("a-"))).toMatch(/^The cache service cannot be reached: connect ECONNREFUSED/);
    for (const address of ["", "nothing", "file:///etc/"]) {
      const environment = { ...service.environment, ACTIONS_CACHE_URL: address, ACTIONS_RESULTS_URL: address };
      expect(await messageOf(connectCache(environment).save("a-2", "text"))).toContain("not usable");
    }
  });

  test("a token that no header can have is an error, which does not repeat it", async () => {
    const { cache } = await start(protocol, {}, {}, { ACTIONS_RUNTIME_TOKEN: "runtime\ntoken" });
    expect(await messageOf(cache.restore("a-"))).toBe('Invalid character in header content ["authorization"]');
  });
});

test("v2 works with a storage that has no headers of Azure, and fields in camel case", async () => {
  const { service, cache } = await start("v2", { isPlainStorage: true });
  await cache.save("b-1", "other");
  expect(await cache.restore("b-")).toBe("other");
  const url = "http://agentjobs.blob.core.windows.net/cache/0?sig=signature-of-the-url";
  const camel = await start("v2", {
    fault: answer("look up", (response) => response.end(JSON.stringify({ ok: true, signedDownloadUrl: url }))),
  });
  expect(await camel.cache.restore("a-")).toBe("text");
  expect(service.requests).toEqual(["reserve", "upload", "commit", "look up", "download"]);
});

test("v2 has no entry if the service says so, with other fields or none", async () => {
  for (const body of ["{}", '{"ok":false,"signed_download_url":"","matched_key":"","new":1}']) {
    const { cache } = await start("v2", { fault: answer("look up", (response) => response.end(body)) });
    expect(await cache.restore("a-")).toBeUndefined();
  }
  const entry = JSON.stringify({ signed_download_url: "http://agentjobs.blob.core.windows.net/cache/0" });
  const { cache, count } = await start("v2", { fault: answer("look up", (response) => response.end(entry)) });
  expect(await messageOf(cache.restore("a-"))).toMatch(/is not one of its protocol$/);
  expect(count("download")).toBe(0);
});

test("v2 uses the proxy for plain http, whose address may lack a scheme, and whose password is not told", async () => {
  const { service } = await start("v2");
  const restoreWith = (http_proxy: string) => connectCache({ ...service.environment, http_proxy }).restore("a-");
  expect(await restoreWith(service.url.replace("http://", "user:secret@"))).toBe("text");
  expect(await messageOf(restoreWith("socks5://user:secret@127.0.0.1:1"))).toMatch(
    /^The cache service cannot be reached: http_proxy names a socks5 proxy, but only http and https proxies are supported$/,
  );
});

test.each([
  ["reserve", "did not reserve the key a-2"],
  ["commit", "did not finalize the entry a-2"],
] as const)("v2 says why it does not %s", async (kind, message) => {
  const respond = (response: Response) => response.end(JSON.stringify({ ok: false, message: "over quota" }));
  const { cache } = await start("v2", { fault: answer(kind, respond) });
  expect(await messageOf(cache.save("a-2", "text"))).toBe(`The cache service ${message}: over quota`);
});

describe("a cache service with TLS", () => {
  const folder = join(import.meta.dirname, "../support/certificates");
  const certificate = readFileSync(join(folder, "certificate.pem"), "utf8");

  /** Starts a service that answers as `respond` says. */
  async function startTls(respond: (path: string) => unknown) {
    const key = readFileSync(join(folder, "key.pem"));
    const server = createServer({ key, cert: certificate }, (request, response) => {
      response.end(JSON.stringify(respond(request.url ?? "")));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const environment = { ACTIONS_CACHE_SERVICE_V2: "1", ACTIONS_RESULTS_URL: url, ACTIONS_RUNTIME_TOKEN: token };
    return { url, environment };
  }

  /** Trusts the certificate until the test is over, or the returned function is called. */
  function trustCertificate(): () => void {
    const before = getCACertificates("default");
    const distrust = () => setDefaultCACertificates(before);
    setDefaultCACertificates([...before, certificate]);
    onTestFinished(distrust);
    return distrust;
  }

  test("needs a certificate that the process trusts, such as of a private authority", async () => {
    const { url, environment } = await startTls((path) =>
      path.startsWith("/twirp/") ? { ok: true, signed_download_url: `${url}file` } : "text",
    );
    const untrusted = connectCache(environment);
    expect(await messageOf(untrusted.restore("a-"))).toMatch(
      /^The cache service cannot be reached: self-signed certificate/,
    );
    trustCertificate();
    expect(await connectCache(environment).restore("a-")).toBe('"text"');
  });

  test("may have a storage with a certificate that is not trusted, of which nothing is told", async () => {
    const distrust = trustCertificate();
    const storages = [await startTls(() => "text"), await startTls(() => "text")];
    const { environment } = await startTls(() => ({ ok: true, signed_download_url: storages.shift()?.url }));
    const cache = connectCache(environment);
    expect(await cache.restore("a-")).toBe('"text"');
    // The connection to the service is kept.
    distrust();
    const message = "The storage of the cache cannot be reached: its certificate is not trusted";
    expect(await messageOf(cache.restore("a-"))).toBe(message);
  });

  test("may not name an address without TLS", async () => {
    trustCertificate();
    const address = "http://storage.example/?sig=secret";
    const { environment } = await startTls(() => ({
      ok: true,
      signed_download_url: address,
      signed_upload_url: address,
    }));
    const cache = connectCache(environment);
    for (const work of [() => cache.restore("a-"), () => cache.save("a-1", "text")])
      expect(await messageOf(work())).toMatch(/has no usable address$/);
  });

  test("is reached through the proxy for https, whose password is not told", async () => {
    await using proxy = await tcpServer((socket) => socket.end("HTTP/1.1 503 No\r\n\r\n"));
    const { environment } = await startTls(() => ({}));
    const https_proxy = `user:secret@127.0.0.1:${proxy.port}`;
    const options = { sleep: async () => {} };
    const message = await messageOf(connectCache({ ...environment, https_proxy }, options).restore("a-"));
    expect(proxy.received.join("")).toMatch(/^CONNECT localhost:\d+ HTTP\/1\.1\r\n/);
    expect(message).toMatch(/^The cache service cannot be reached: /);
    expect(message).not.toContain("secret");
    for (const address of ["socks5://user:secret@127.0.0.1:1", "http://user:secret@["]) {
      const said = await messageOf(connectCache({ ...environment, https_proxy: address }, options).restore("a-"));
      expect(said).toMatch(
        /^The cache service cannot be reached: (https_proxy names a socks5 proxy|the proxy address)/,
      );
      expect(said).not.toContain("secret");
    }
  });
});
