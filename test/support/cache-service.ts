import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { type LoopbackServer, listen } from "../../service/src/http/listen.ts";

/** v1: GitHub Enterprise Server and act. v2: GitHub.com, with files in Azure's blob storage. */
export type CacheProtocol = "v1" | "v2";

/** What a request is for, whatever the protocol. */
export type CacheRequest = "look up" | "download" | "reserve" | "upload" | "commit";

/** May respond in place of the service, now or never, and returns whether it does. `n` counts such requests from 1. */
export type CacheFault = (request: CacheRequest, n: number, response: ServerResponse) => boolean;

export interface CacheEntry {
  key: string;
  version: string;
  content: Buffer;
  isCommitted: boolean;
}

export interface CacheServiceOptions {
  fault?: CacheFault;
  /**
   * What the run may do. `read`: as GitHub for events that people without write access can cause; the runner says so, and the
   * service denies a save. `403`: the same before the runner said so, with the denial as an HTTP error. `none`: nothing. Default:
   * `write`.
   */
  access?: RunAccess;
  /** Whether the files of v2 are in a storage that has nothing of Azure but the requests. Default: no. */
  isPlainStorage?: boolean;
  /** How long each answer takes, in milliseconds. Default: 0. */
  delayMs?: number;
  /** What it has, which services with another access can share. Default: nothing. */
  entries?: CacheEntry[];
}

/** What a run may do with the cache. */
export type RunAccess = "write" | "read" | "403" | "none";

export interface CacheService extends LoopbackServer {
  /** What a runner sets for actions, to find the service. */
  environment: Record<string, string>;
  /** Oldest first. */
  entries: CacheEntry[];
  requests: CacheRequest[];
}

interface Call {
  url: URL;
  request: IncomingMessage;
  body: Buffer;
  response: ServerResponse;
}

const token = "runtime-token-0123456789";
const signature = "signature-of-the-url";
/** GitHub's words. */
const denial = "cache write denied: token has no writable scopes";

/**
 * Starts a cache service on loopback. It is also the proxy for the storage of v2, because the library only uses the
 * client of Azure if the file is at `*.blob.core.windows.net`.
 */
export async function startCacheService(
  protocol: CacheProtocol,
  options: CacheServiceOptions = {},
): Promise<CacheService> {
  const { fault = () => false, access = "write", isPlainStorage = false, delayMs = 0, entries = [] } = options;
  const requests: CacheRequest[] = [];

  /** Finds the first key as it is, and the others as prefixes. */
  const find = ([key, ...prefixes]: string[], version: string): CacheEntry | undefined => {
    const found = entries.filter((entry) => entry.isCommitted && entry.version === version);
    return [
      found.find((entry) => entry.key === key),
      ...prefixes.map((prefix) => found.findLast((entry) => entry.key.startsWith(prefix))),
    ].find((entry) => entry !== undefined);
  };
  const reserve = (key: string, version: string): CacheEntry | undefined => {
    if (entries.some((entry) => entry.key === key && entry.version === version)) return undefined;
    const entry = { key, version, content: Buffer.alloc(0), isCommitted: false };
    entries.push(entry);
    return entry;
  };
  const storage = "http://agentjobs.blob.core.windows.net/cache/";
  const blobHeaders = isPlainStorage ? {} : azureHeaders;
  /** What was uploaded of an entry, by the ids of the blocks, until their list says how they belong together. */
  const blocks = new Map<string, Buffer>();
  const signedUrl = (entry: CacheEntry) => `${storage}${entries.indexOf(entry)}?sig=${signature}`;

  const handlers: Record<CacheProtocol, [RegExp, CacheRequest, (call: Call) => void][]> = {
    v1: [
      [
        /^GET \/_apis\/artifactcache\/cache$/,
        "look up",
        ({ url, request, response }) => {
          const keys = url.searchParams.get("keys")?.split(",") ?? [];
          const entry = find(keys, url.searchParams.get("version") ?? "");
          const archiveLocation = `http://${request.headers.host}/archives/${entry ? entries.indexOf(entry) : ""}`;
          if (entry) json(response, 200, { archiveLocation, cacheKey: entry.key, scope: "refs/heads/main" });
          else response.writeHead(204).end();
        },
      ],
      [
        /^GET \/archives\/\d+$/,
        "download",
        ({ url, response }) => response.end(entries[Number(url.pathname.split("/")[2])]?.content),
      ],
      [
        /^POST \/_apis\/artifactcache\/caches$/,
        "reserve",
        ({ body, response }) => {
          if (access !== "write") return json(response, 403, { message: denial });
          const { key, version } = JSON.parse(body.toString()) as CacheEntry;
          const entry = reserve(key, version);
          if (entry) json(response, 201, { cacheId: entries.indexOf(entry) + 1 });
          else json(response, 409, { message: "Cache already exists" });
        },
      ],
      [
        /^PATCH \/_apis\/artifactcache\/caches\/\d+$/,
        "upload",
        ({ url, request, body, response }) => {
          const entry = entries[Number(url.pathname.split("/").at(-1)) - 1];
          const range = /^bytes (\d+)-(\d+)\/\*$/.exec(request.headers["content-range"] ?? "");
          if (!entry || Number(range?.[2]) - Number(range?.[1]) + 1 !== body.length)
            return json(response, 400, { message: "wrong range" });
          const size = Math.max(entry.content.length, Number(range?.[1]) + body.length);
          entry.content = Buffer.concat([entry.content], size);
          body.copy(entry.content, Number(range?.[1]));
          response.writeHead(204).end();
        },
      ],
      [
        /^POST \/_apis\/artifactcache\/caches\/\d+$/,
        "commit",
        ({ url, body, response }) => {
          const entry = entries[Number(url.pathname.split("/").at(-1)) - 1];
          if (!entry || JSON.parse(body.toString()).size !== entry.content.length)
            return json(response, 400, { message: "wrong size" });
          entry.isCommitted = true;
          response.writeHead(204).end();
        },
      ],
    ],
    v2: [
      [
        /^POST \/twirp\/github\.actions\.results\.api\.v1\.CacheService\/GetCacheEntryDownloadURL$/,
        "look up",
        ({ body, response }) => {
          const { key, restore_keys, version } = JSON.parse(body.toString());
          const entry = find([key, ...(restore_keys ?? [])], version);
          if (entry) json(response, 200, { ok: true, signed_download_url: signedUrl(entry), matched_key: entry.key });
          else json(response, 200, {});
        },
      ],
      [
        /^POST \/twirp\/github\.actions\.results\.api\.v1\.CacheService\/CreateCacheEntry$/,
        "reserve",
        ({ body, response }) => {
          if (access === "403") return json(response, 403, { code: "permission_denied", msg: denial });
          if (access !== "write") return json(response, 200, { ok: false, message: denial });
          const { key, version } = JSON.parse(body.toString()) as CacheEntry;
          const entry = reserve(key, version);
          if (entry) json(response, 200, { ok: true, signed_upload_url: signedUrl(entry) });
          else json(response, 409, { code: "already_exists", msg: "cache entry with the same key exists" });
        },
      ],
      [
        /^POST \/twirp\/github\.actions\.results\.api\.v1\.CacheService\/FinalizeCacheEntryUpload$/,
        "commit",
        ({ body, response }) => {
          const { key, version, size_bytes: size } = JSON.parse(body.toString()) as CacheEntry & { size_bytes: string };
          const entry = entries.find((one) => one.key === key && one.version === version);
          if (entry === undefined || entry.content.length !== Number(size))
            return json(response, 400, { msg: "wrong size" });
          entry.isCommitted = true;
          json(response, 200, { ok: true, entry_id: String(entries.indexOf(entry) + 1) });
        },
      ],
      [
        /^PUT \/cache\/\d+$/,
        "upload",
        ({ url, request, body, response }) => {
          const entry = entries[Number(url.pathname.split("/")[2])];
          const blockId = (id: string) => `${url.pathname} ${id}`;
          const kind = url.searchParams.get("comp");
          if (!entry || url.searchParams.get("sig") !== signature) {
            response.writeHead(403, blobHeaders);
          } else if (kind === "block") {
            blocks.set(blockId(url.searchParams.get("blockid") ?? ""), body);
          } else if (kind === "blocklist") {
            const ids = [...body.toString().matchAll(/<Latest>([^<]+)<\/Latest>/g)].map(([, id = ""]) => blockId(id));
            entry.content = Buffer.concat(ids.map((id) => blocks.get(id) ?? Buffer.alloc(0)));
          } else if (request.headers["x-ms-blob-type"] === "BlockBlob") {
            entry.content = body;
          } else {
            response.writeHead(400, blobHeaders);
          }
          if (!response.headersSent) response.writeHead(201, blobHeaders);
          response.end();
        },
      ],
      [
        /^(HEAD|GET) \/cache\/\d+$/,
        "download",
        ({ url, request, response }) => {
          const content = entries[Number(url.pathname.split("/")[2])]?.content ?? Buffer.alloc(0);
          const range = /^bytes=(\d+)-(\d*)$/.exec(String(request.headers["x-ms-range"] ?? ""));
          const [start, end] = [Number(range?.[1] ?? 0), Math.min(Number(range?.[2] || Infinity), content.length - 1)];
          const part = content.subarray(start, end + 1);
          const headers = { ...blobHeaders, "content-length": part.length };
          if (!range) response.writeHead(200, headers);
          else response.writeHead(206, { ...headers, "content-range": `bytes ${start}-${end}/${content.length}` });
          response.end(request.method === "HEAD" ? undefined : part);
        },
      ],
    ],
  };

  const server = await listen(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const route = `${request.method} ${url.pathname}`;
    const [, kind, handle] = handlers[protocol].find(([pattern]) => pattern.test(route)) ?? [];
    if (!kind || !handle) return json(response, 404, { message: `no route for ${route}` });
    requests.push(kind);
    if (delayMs > 0) await setTimeout(delayMs);
    if (fault(kind, requests.filter((one) => one === kind).length, response)) return;
    // Signed addresses need no token, and Azure rejects a request that has both.
    const isSigned = kind === "download" || (kind === "upload" && protocol === "v2");
    const expected = isSigned ? undefined : `Bearer ${token}`;
    if (request.headers.authorization !== expected) return json(response, 401, { message: "wrong token" });
    if (access === "none") return json(response, 403, { message: "token has no readable scopes" });
    handle({ url, request, body: Buffer.concat(chunks), response });
  });

  const variables = {
    v1: { ACTIONS_CACHE_URL: `${server.url}/` },
    v2: { ACTIONS_CACHE_SERVICE_V2: "True", ACTIONS_RESULTS_URL: `${server.url}/`, http_proxy: server.url },
  };
  return {
    ...server,
    environment: {
      ACTIONS_RUNTIME_TOKEN: token,
      no_proxy: "127.0.0.1",
      ...variables[protocol],
      ...(["read", "none"].includes(access) && { ACTIONS_CACHE_MODE: access }),
    },
    entries,
    requests,
  };
}

const azureHeaders = {
  "x-ms-blob-type": "BlockBlob",
  etag: '"0x1"',
  "last-modified": "Mon, 05 Jan 2026 12:00:00 GMT",
  "x-ms-request-id": "00000000-0000-0000-0000-000000000000",
  "x-ms-version": "2025-11-05",
};

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
