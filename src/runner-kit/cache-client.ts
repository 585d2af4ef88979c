import { setTimeout } from "node:timers/promises";
import { CacheEntryError, CacheReadOnlyError, cacheAccess, cacheProtocol } from "./cache.ts";
import { createRedactor } from "./redact.ts";
import {
  createRunnerTransport,
  type HttpRequest,
  type HttpResponse,
  isSuccess,
  NetworkError,
  type Transport,
} from "./transport.ts";

/** What is saved. It is read in blocks, so that a large file is never in memory as a whole. */
export interface Content {
  /** In bytes, more than 0. */
  size: number;
  /** Returns the bytes from `start` up to `end`, which is not one of them. */
  read: (start: number, end: number) => Uint8Array | Promise<Uint8Array>;
}

/** Bytes in the repository's Actions cache. A key can be saved once; a restore takes the newest with a prefix. */
export interface CacheClient {
  /**
   * Restores the newest entry whose key has this prefix. Untrusted: whoever can write the cache decides what is in it.
   *
   * @param receive - called when the content begins, again for each retry; returns what takes its parts
   * @returns whether there is an entry
   * @throws {CacheEntryError} if the receiver threw one
   * @throws if it is unknown whether there is an entry, or it was not received completely
   */
  restore(prefix: string, receive: () => (part: Buffer) => void): Promise<boolean>;
  /**
   * @throws {CacheReadOnlyError} if the run may not write the cache
   * @throws if it is unknown whether the content is saved: used key, full, slow
   */
  save(key: string, content: Content): Promise<void>;
}

export interface CacheClientOptions {
  /** For a restore with its retries, in milliseconds. */
  restoreTimeoutMs: number;
  /** For a save with its retries, in milliseconds. */
  saveTimeoutMs: number;
  /** The longest part of a content in one request, in bytes. Default: 32 MiB. */
  blockBytes?: number | undefined;
  /** Waits before a retry. Default: with a timer. */
  sleep?: ((ms: number) => Promise<unknown>) | undefined;
}

/** Before the retries of a request that failed for a reason that may pass. */
const retryDelaysMs = [500, 1000];
/**
 * The version of all entries: what `@actions/cache` makes of the path `agent-job-file`, for all systems. An entry with another
 * version is not found.
 */
const version = "d9de8d96bc786c5a857792c5018a96d15bc6d4d56efa4694937da9224f6c2205";
/** What GitHub's cache service says to a token without write access, in both protocols. */
const writeDenied = "cache write denied:";
/** How much of an error is kept, in characters: the service decides how much it says. */
const maxMessage = 500;

/** What a request is for, as errors name it. */
type Purpose = "look-up" | "download" | "reservation" | "upload" | "commit";
type Json = Readonly<Record<string, unknown>>;
type Request = Pick<HttpRequest, "method" | "url" | "headers" | "onPart"> & { body?: HttpRequest["body"] | undefined };

/** What the protocols have different. Both look for the first key as it is, and then for the others as prefixes. */
interface Protocol {
  /** Returns the signed address of the newest entry with a prefix; `undefined` if there is none. */
  find: (prefix: string, requests: Requests) => Promise<URL | undefined>;
  save: (key: string, content: Content, requests: Requests) => Promise<void>;
}

/**
 * Returns a client of the cache service that the runner's environment variables describe. The library `@actions/cache` is not
 * used: it only has archives, logs what the service says, cannot be aborted, and takes longer to load than a step takes.
 *
 * Its errors contain neither the token nor a signed address, and of the storage's answers only the status.
 */
export function createCacheClient(environment: NodeJS.ProcessEnv, options: CacheClientOptions): CacheClient {
  const { restoreTimeoutMs, saveTimeoutMs, blockBytes = 32 * 1024 * 1024, sleep = setTimeout } = options;
  const token = environment.ACTIONS_RUNTIME_TOKEN ?? "";
  const redact = createRedactor(token);
  const transport = createRunnerTransport(environment);
  const run = async <T>(
    operation: "restore" | "save",
    key: string,
    timeoutMs: number,
    work: (protocol: Protocol, requests: Requests) => Promise<T>,
  ): Promise<T> => {
    checkAccess(operation, environment);
    checkKey(key);
    const deadline = performance.now() + timeoutMs;
    try {
      const service = serviceUrl(environment);
      const protocol = cacheProtocol(environment) === "v2" ? v2(blockBytes) : v1(blockBytes);
      return await work(protocol, new Requests({ service, token, transport, sleep, deadline }));
    } catch (error) {
      if (error instanceof CacheEntryError) throw error;
      const message = redact(error instanceof Error ? error.message : String(error)).slice(0, maxMessage);
      const isDenied = operation === "save" && message.includes(writeDenied);
      throw isDenied ? new CacheReadOnlyError(message) : new Error(message);
    }
  };
  return {
    restore: (prefix, receive) =>
      run("restore", prefix, restoreTimeoutMs, async (protocol, requests) => {
        const url = await protocol.find(prefix, requests);
        if (url) await requests.toStorage("download", () => ({ method: "GET", url, headers: {}, onPart: receive() }));
        return url !== undefined;
      }),
    save: (key, content) =>
      run("save", key, saveTimeoutMs, (protocol, requests) => protocol.save(key, content, requests)),
  };
}

interface RequestsOptions {
  service: URL;
  /** Or empty. */
  token: string;
  transport: Transport;
  sleep: (ms: number) => Promise<unknown>;
  /** Monotonic time in milliseconds. */
  deadline: number;
}

/** The requests of one operation. Each throws unless the answer is a success. */
class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  get service(): URL {
    return this.#options.service;
  }

  /**
   * Sends a request to the service.
   *
   * @param path - relative to the service's address, with the query
   * @param content - an object is sent as JSON
   */
  toService(
    purpose: Purpose,
    method: HttpRequest["method"],
    path: string,
    content?: Json | Uint8Array,
    headers: Readonly<Record<string, string>> = { "content-type": "application/json" },
  ): Promise<HttpResponse> {
    const { service, token } = this.#options;
    const body = content instanceof Uint8Array ? content : content && JSON.stringify(content);
    return this.#send("The cache service", purpose, () => ({
      method,
      url: new URL(path, service),
      headers: {
        accept: "application/json;api-version=6.0-preview.1",
        ...(token && { authorization: `Bearer ${token}` }),
        ...(content && headers),
      },
      body,
    }));
  }

  /** Sends a request to an address that the service signed. It gets no token. */
  toStorage(purpose: Purpose, request: () => Request): Promise<HttpResponse> {
    return this.#send("The storage of the cache", purpose, request);
  }

  /** Sends a request, again after an error that may pass, while there is time. */
  async #send(
    server: "The cache service" | "The storage of the cache",
    purpose: Purpose,
    request: () => Request,
  ): Promise<HttpResponse> {
    const { transport, deadline, sleep } = this.#options;
    // The storage may say what it was asked, which is its signed address. A certificate is its text, too.
    const isQuoted = server === "The cache service";
    let failure = "The cache service did not respond";
    for (const delayMs of [...retryDelaysMs, Number.POSITIVE_INFINITY]) {
      const { headers, body, ...rest } = request();
      try {
        const response = await transport({
          ...rest,
          headers: { "accept-encoding": "identity", "user-agent": "agent-job-action", ...headers },
          ...(body !== undefined && { body }),
          timeoutMs: Math.max(0, deadline - performance.now()),
          signal: never,
        });
        const { status } = response;
        if (isSuccess(status)) return response;
        const { msg, message } = (isQuoted && parse(response.body)) || {};
        failure = `${server} answered the ${purpose} with ${status}${quote(msg ?? message)}`;
        if (status < 500 && status !== 408 && status !== 429) break;
      } catch (error) {
        if (!(error instanceof NetworkError)) throw error;
        if (error.cause instanceof CacheEntryError) throw error.cause;
        if (error.reason === "timeout") throw new Error(`${failure}, until the timeout`);
        const isHidden = !isQuoted && error.reason === "certificate";
        failure = `${server} cannot be reached: ${isHidden ? "its certificate is not trusted" : error.message}`;
        if (error.reason !== "network") break;
      }
      if (deadline - performance.now() <= delayMs) break;
      await sleep(delayMs);
    }
    throw new Error(failure);
  }
}

/** Only the timeout ends a request: what the step saves is not cut short when it is cancelled. */
const never = new AbortController().signal;

/** The REST API of GitHub Enterprise Server and act, which also takes the content. */
function v1(blockBytes: number): Protocol {
  return {
    find: async (prefix, requests) => {
      const path = `cache?keys=${encodeURIComponent(`${prefix},${prefix}`)}&version=${version}`;
      const { status, body } = await requests.toService("look-up", "GET", path);
      return status === 204 ? undefined : storageUrl(answer(body, "look-up").archiveLocation, "look-up", requests);
    },
    save: async (key, { size, read }, requests) => {
      const reservation = { key, version, cacheSize: size };
      const { body } = await requests.toService("reservation", "POST", "caches", reservation);
      const { cacheId } = answer(body, "reservation");
      if (!Number.isSafeInteger(cacheId)) throw notUnderstood("reservation");
      const path = `caches/${cacheId}`;
      for (const [start, end] of blocksOf(size, blockBytes)) {
        const headers = { ...binary, "content-range": `bytes ${start}-${end - 1}/*` };
        await requests.toService("upload", "PATCH", path, await read(start, end), headers);
      }
      await requests.toService("commit", "POST", path, { size });
    },
  };
}

/** The Twirp API of GitHub.com, which names addresses in Azure's blob storage, or in one that acts like it. */
function v2(blockBytes: number): Protocol {
  const call = async (requests: Requests, purpose: Purpose, method: string, request: Json): Promise<Json> => {
    const path = `/twirp/github.actions.results.api.v1.CacheService/${method}`;
    const { body } = await requests.toService(purpose, "POST", path, { ...request, version });
    return answer(body, purpose);
  };
  return {
    find: async (key, requests) => {
      const found = await call(requests, "look-up", "GetCacheEntryDownloadURL", { key, restore_keys: [key] });
      // A field that has its default may be left out.
      if (found.ok === false || Object.keys(found).length === 0) return undefined;
      if (found.ok !== true) throw notUnderstood("look-up");
      return storageUrl(found.signed_download_url ?? found.signedDownloadUrl, "look-up", requests);
    },
    save: async (key, content, requests) => {
      const reserved = await call(requests, "reservation", "CreateCacheEntry", { key });
      if (reserved.ok !== true) {
        throw new Error(`The cache service did not reserve the key ${key}${quote(reserved.message)}`);
      }
      const address = reserved.signed_upload_url ?? reserved.signedUploadUrl;
      await putBlob(storageUrl(address, "reservation", requests), content, blockBytes, requests);
      const request = { key, size_bytes: String(content.size) };
      const saved = await call(requests, "commit", "FinalizeCacheEntryUpload", request);
      if (saved.ok !== true) {
        throw new Error(`The cache service did not finalize the entry ${key}${quote(saved.message)}`);
      }
    },
  };
}

const binary = { "content-type": "application/octet-stream" };

/** Writes a blob: in one request, or in blocks and their list. Azure's documentation: "Put Blob", "Put Block", "Put Block List". */
async function putBlob(url: URL, { size, read }: Content, blockBytes: number, requests: Requests): Promise<void> {
  const put = async (query: string, body: string | Uint8Array, headers: Record<string, string>): Promise<void> => {
    const part = new URL(url);
    part.search = [url.search, query].filter(Boolean).join("&");
    const versioned = { "x-ms-version": "2025-11-05", ...headers };
    await requests.toStorage("upload", () => ({ method: "PUT", url: part, body, headers: versioned }));
  };
  if (size <= blockBytes) return put("", await read(0, size), { ...binary, "x-ms-blob-type": "BlockBlob" });
  const ids: string[] = [];
  for (const [start, end] of blocksOf(size, blockBytes)) {
    // All ids of a blob have the same length.
    const id = Buffer.from(String(ids.length).padStart(6, "0")).toString("base64");
    await put(`comp=block&blockid=${encodeURIComponent(id)}`, await read(start, end), binary);
    ids.push(id);
  }
  const list = ids.map((id) => `<Latest>${id}</Latest>`).join("");
  const xml = `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`;
  await put("comp=blocklist", xml, { "content-type": "application/xml" });
}

/** Returns where each block of a content starts and ends. */
function blocksOf(size: number, blockBytes: number): [number, number][] {
  return Array.from({ length: Math.ceil(size / blockBytes) }, (_, index) => [
    index * blockBytes,
    Math.min((index + 1) * blockBytes, size),
  ]);
}

/** Returns what the service says about an error, without addresses, as the end of a sentence; empty if it says nothing. */
function quote(said: unknown): string {
  return typeof said === "string" && said !== "" ? `: ${said.replaceAll(/\w+:\/\/\S+/g, "***")}` : "";
}

/** Returns the object in a JSON text; `undefined` if there is none. */
function parse(body: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** @throws unless a success has a JSON object */
function answer(body: string, purpose: Purpose): Json {
  const value = parse(body);
  if (!value) throw notUnderstood(purpose);
  return value;
}

function notUnderstood(purpose: Purpose): Error {
  return new Error(`The cache service's answer to the ${purpose} is not one of its protocol`);
}

/** Returns the address of the cache service. */
function serviceUrl(environment: NodeJS.ProcessEnv): URL {
  const { ACTIONS_RESULTS_URL: results = "", ACTIONS_CACHE_URL: cache = "" } = environment;
  const address = cacheProtocol(environment) === "v2" ? results : `${cache.replace(/\/?$/, "/")}_apis/artifactcache/`;
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Error("The runner's address of the cache service is not usable");
  return url;
}

/**
 * Returns an address in the storage that the service signed. Only a service that itself has no encryption may name one without.
 *
 * @throws if no request may go there
 */
function storageUrl(address: unknown, purpose: Purpose, { service }: Requests): URL {
  // A parser of addresses would remove line ends.
  const url = typeof address === "string" && /^[\x21-\x7e]+$/.test(address) ? URL.parse(address) : null;
  if (!url || !["https:", service.protocol].includes(url.protocol)) {
    throw new Error(`The cache service's answer to the ${purpose} has no usable address`);
  }
  return url;
}

/** @throws if the runner already says that the cache service would deny the operation */
function checkAccess(operation: "restore" | "save", environment: NodeJS.ProcessEnv): void {
  const { ACTIONS_CACHE_MODE: mode } = environment;
  const access = cacheAccess(environment);
  if (!mode || access === "write" || (access === "read" && operation === "restore")) return;
  const message = `The Actions cache has the mode ${JSON.stringify(mode)} in this run, which does not permit to ${operation}`;
  throw operation === "save" ? new CacheReadOnlyError(message) : new Error(message);
}

/** A list of keys is separated by commas in v1. */
function checkKey(key: string): void {
  if (key.length > 512 || key.includes(",")) throw new Error(`${JSON.stringify(key)} cannot be a key of a cache entry`);
}
