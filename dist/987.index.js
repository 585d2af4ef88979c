export const id = 987;
export const ids = [987];
export const modules = {

/***/ 2012:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $p: () => (/* binding */ cacheProtocol),
/* harmony export */   G9: () => (/* binding */ hasCacheService),
/* harmony export */   Te: () => (/* binding */ isForgetful),
/* harmony export */   Tw: () => (/* binding */ CacheEntryError),
/* harmony export */   nU: () => (/* binding */ cacheAccess),
/* harmony export */   pj: () => (/* binding */ CacheReadOnlyError)
/* harmony export */ });
class CacheEntryError extends Error {
    name = "CacheEntryError";
}
class CacheReadOnlyError extends Error {
    name = "CacheReadOnlyError";
}
function cacheAccess(environment) {
    const { ACTIONS_RESULTS_URL, ACTIONS_RUNTIME_TOKEN, ACTIONS_CACHE_URL } = environment;
    const isV2 = cacheProtocol(environment) === "v2";
    if (!(isV2 ? ACTIONS_RESULTS_URL && ACTIONS_RUNTIME_TOKEN : ACTIONS_CACHE_URL))
        return "absent";
    const mode = environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "";
    return accessOfMode[mode] ?? "write";
}
const accessOfMode = { none: "none", "write-only": "none", read: "read" };
function hasCacheService(environment) {
    return ["read", "write"].includes(cacheAccess(environment));
}
function isForgetful(environment) {
    return ["none", "read"].includes(cacheAccess(environment));
}
function cacheProtocol(environment) {
    const hostname = URL.parse(environment.GITHUB_SERVER_URL || "https://github.com")?.hostname ?? "";
    const isEnterpriseServer = !/^github\.com$|\.ghe\.com$|\.localhost$/.test(hostname);
    return environment.ACTIONS_CACHE_SERVICE_V2 && !isEnterpriseServer ? "v2" : "v1";
}


/***/ }),

/***/ 7987:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

// ESM COMPAT FLAG
__webpack_require__.r(__webpack_exports__);

// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  connectCache: () => (/* binding */ connectCache)
});

// EXTERNAL MODULE: ./build/runner-kit/cache.js
var runner_kit_cache = __webpack_require__(2012);
// EXTERNAL MODULE: external "node:timers/promises"
var promises_ = __webpack_require__(8500);
// EXTERNAL MODULE: ./build/runner-kit/redact.js
var runner_kit_redact = __webpack_require__(5593);
// EXTERNAL MODULE: ./build/runner-kit/transport.js
var runner_kit_transport = __webpack_require__(6903);
;// CONCATENATED MODULE: ./build/runner-kit/cache-client.js




const retryDelaysMs = [500, 1000];
const version = "d9de8d96bc786c5a857792c5018a96d15bc6d4d56efa4694937da9224f6c2205";
const writeDenied = "cache write denied:";
const maxMessage = 500;
function createCacheClient(environment, options) {
    const { restoreTimeoutMs, saveTimeoutMs, blockBytes = 32 * 1024 * 1024, sleep = promises_.setTimeout } = options;
    const token = environment.ACTIONS_RUNTIME_TOKEN ?? "";
    const redact = (0,runner_kit_redact/* createRedactor */.l)(token);
    const transport = (0,runner_kit_transport/* createRunnerTransport */.Ij)(environment);
    const { signal } = new AbortController();
    const sender = (service, deadline) => async (purpose, method, to, sent = {}) => {
        const isStorage = to instanceof URL;
        const server = isStorage ? "The storage of the cache" : "The cache service";
        const { content, headers } = sent;
        const isJson = typeof content === "object" && !(content instanceof Uint8Array);
        const request = {
            method,
            url: isStorage ? to : new URL(to, service),
            headers: {
                "accept-encoding": "identity",
                "user-agent": "agent-job-action",
                ...(!isStorage && { accept: "application/json;api-version=6.0-preview.1" }),
                ...(!isStorage && token && { authorization: `Bearer ${token}` }),
                ...(isJson && { "content-type": "application/json" }),
                ...headers,
            },
            ...(content !== undefined && { body: isJson ? JSON.stringify(content) : content }),
            signal,
        };
        let failure = "The cache service did not respond";
        for (const delayMs of [...retryDelaysMs, Number.POSITIVE_INFINITY]) {
            try {
                const timeoutMs = Math.max(0, deadline - performance.now());
                const response = await transport({ ...request, timeoutMs, onPart: sent.receive?.() });
                const { status, body } = response;
                if ((0,runner_kit_transport/* isSuccess */.oJ)(status))
                    return response;
                const { msg, message } = (!isStorage && parse(body)) || {};
                failure = `${server} answered the ${purpose} with ${status}${quote(msg ?? message)}`;
                if (status < 500 && status !== 408 && status !== 429)
                    break;
            }
            catch (error) {
                if (!(error instanceof runner_kit_transport/* NetworkError */.Dr))
                    throw error;
                if (error.cause instanceof runner_kit_cache/* CacheEntryError */.Tw)
                    throw error.cause;
                if (error.reason === "timeout")
                    throw new Error(`${failure}, until the timeout`);
                const isHidden = isStorage && error.reason === "certificate";
                failure = `${server} cannot be reached: ${isHidden ? "its certificate is not trusted" : error.message}`;
                if (error.reason !== "network")
                    break;
            }
            if (deadline - performance.now() <= delayMs)
                break;
            await sleep(delayMs);
        }
        throw new Error(failure);
    };
    const run = async (operation, key, timeoutMs, work) => {
        checkAccess(operation, environment);
        if (key.length > 512 || key.includes(","))
            throw new Error(`${JSON.stringify(key)} cannot be a key of a cache entry`);
        const deadline = performance.now() + timeoutMs;
        try {
            const service = serviceUrl(environment);
            const send = sender(service, deadline);
            const protocol = (0,runner_kit_cache/* cacheProtocol */.$p)(environment) === "v2" ? v2 : v1;
            return await work(protocol(service, blockBytes, send), send);
        }
        catch (error) {
            if (error instanceof runner_kit_cache/* CacheEntryError */.Tw)
                throw error;
            const message = redact(error instanceof Error ? error.message : String(error)).slice(0, maxMessage);
            const isDenied = operation === "save" && message.includes(writeDenied);
            throw isDenied ? new runner_kit_cache/* CacheReadOnlyError */.pj(message) : new Error(message);
        }
    };
    return {
        restore: (prefix, receive) => run("restore", prefix, restoreTimeoutMs, async (protocol, send) => {
            const url = await protocol.find(prefix);
            if (url)
                await send("download", "GET", url, { receive });
            return url !== undefined;
        }),
        save: (key, content) => run("save", key, saveTimeoutMs, (protocol) => protocol.save(key, content)),
    };
}
function v1(service, blockBytes, send) {
    return {
        find: async (prefix) => {
            const keys = encodeURIComponent(`${prefix},${prefix}`);
            const { status, body } = await send("look-up", "GET", `cache?keys=${keys}&version=${version}`);
            return status === 204 ? undefined : storageUrl(answer(body, "look-up").archiveLocation, "look-up", service);
        },
        save: async (key, { size, read }) => {
            const reservation = { content: { key, version, cacheSize: size } };
            const { cacheId } = answer((await send("reservation", "POST", "caches", reservation)).body, "reservation");
            if (!Number.isSafeInteger(cacheId))
                throw notUnderstood("reservation");
            const path = `caches/${cacheId}`;
            for (const [start, end] of blocksOf(size, blockBytes)) {
                const headers = { ...binary, "content-range": `bytes ${start}-${end - 1}/*` };
                await send("upload", "PATCH", path, { content: await read(start, end), headers });
            }
            await send("commit", "POST", path, { content: { size } });
        },
    };
}
function v2(service, blockBytes, send) {
    const call = async (purpose, method, request) => {
        const path = `/twirp/github.actions.results.api.v1.CacheService/${method}`;
        return answer((await send(purpose, "POST", path, { content: { ...request, version } })).body, purpose);
    };
    return {
        find: async (key) => {
            const found = await call("look-up", "GetCacheEntryDownloadURL", { key, restore_keys: [key] });
            if (found.ok === false || Object.keys(found).length === 0)
                return undefined;
            if (found.ok !== true)
                throw notUnderstood("look-up");
            return storageUrl(found.signed_download_url ?? found.signedDownloadUrl, "look-up", service);
        },
        save: async (key, content) => {
            const reserved = await call("reservation", "CreateCacheEntry", { key });
            if (reserved.ok !== true)
                throw new Error(`The cache service did not reserve the key ${key}${quote(reserved.message)}`);
            const address = reserved.signed_upload_url ?? reserved.signedUploadUrl;
            await putBlob(storageUrl(address, "reservation", service), content, blockBytes, send);
            const size = { size_bytes: String(content.size) };
            const saved = await call("commit", "FinalizeCacheEntryUpload", { key, ...size });
            if (saved.ok !== true)
                throw new Error(`The cache service did not finalize the entry ${key}${quote(saved.message)}`);
        },
    };
}
const binary = { "content-type": "application/octet-stream" };
async function putBlob(url, { size, read }, blockBytes, send) {
    const put = async (query, content, headers) => {
        const part = new URL(url);
        part.search = [url.search, query].filter(Boolean).join("&");
        await send("upload", "PUT", part, { content, headers: { "x-ms-version": "2025-11-05", ...headers } });
    };
    if (size <= blockBytes)
        return put("", await read(0, size), { ...binary, "x-ms-blob-type": "BlockBlob" });
    let list = "";
    for (const [start, end] of blocksOf(size, blockBytes)) {
        const id = Buffer.from(String(start).padStart(16, "0")).toString("base64");
        await put(`comp=block&blockid=${encodeURIComponent(id)}`, await read(start, end), binary);
        list += `<Latest>${id}</Latest>`;
    }
    const xml = `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`;
    await put("comp=blocklist", xml, { "content-type": "application/xml" });
}
function blocksOf(size, blockBytes) {
    return Array.from({ length: Math.ceil(size / blockBytes) }, (_, index) => [
        index * blockBytes,
        Math.min((index + 1) * blockBytes, size),
    ]);
}
function quote(said) {
    return typeof said === "string" && said !== "" ? `: ${said.replaceAll(/\w+:\/\/\S+/g, "***")}` : "";
}
function parse(body) {
    try {
        const value = JSON.parse(body);
        return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
    }
    catch {
        return undefined;
    }
}
function answer(body, purpose) {
    const value = parse(body);
    if (!value)
        throw notUnderstood(purpose);
    return value;
}
function notUnderstood(purpose) {
    return new Error(`The cache service's answer to the ${purpose} is not one of its protocol`);
}
function serviceUrl(environment) {
    const { ACTIONS_RESULTS_URL: results = "", ACTIONS_CACHE_URL: cache = "" } = environment;
    const address = (0,runner_kit_cache/* cacheProtocol */.$p)(environment) === "v2" ? results : `${cache.replace(/\/?$/, "/")}_apis/artifactcache/`;
    const url = URL.parse(address);
    if (!url || !/^https?:$/.test(url.protocol))
        throw new Error("The runner's address of the cache service is not usable");
    return url;
}
function storageUrl(address, purpose, service) {
    const url = typeof address === "string" && /^[\x21-\x7e]+$/.test(address) ? URL.parse(address) : null;
    if (!url || !["https:", service.protocol].includes(url.protocol))
        throw new Error(`The cache service's answer to the ${purpose} has no usable address`);
    return url;
}
function checkAccess(operation, environment) {
    const { ACTIONS_CACHE_MODE: mode } = environment;
    const access = (0,runner_kit_cache/* cacheAccess */.nU)(environment);
    if (!mode || access === "write" || (access === "read" && operation === "restore"))
        return;
    const message = `The Actions cache has the mode ${JSON.stringify(mode)} in this run, which does not permit to ${operation}`;
    throw operation === "save" ? new runner_kit_cache/* CacheReadOnlyError */.pj(message) : new Error(message);
}

;// CONCATENATED MODULE: ./build/runner-kit/connect-cache.js


const maxBytes = 64 * 1024;
function connectCache(environment, options = {}) {
    const client = createCacheClient(environment, { restoreTimeoutMs: 10_000, saveTimeoutMs: 5000, ...options });
    return {
        restore: async (prefix) => {
            let parts = [];
            const receive = () => {
                parts = [];
                let size = 0;
                return (part) => {
                    size += part.length;
                    if (size > maxBytes)
                        throw new runner_kit_cache/* CacheEntryError */.Tw(`The cache entry is longer than ${maxBytes} bytes`);
                    parts.push(part);
                };
            };
            return (await client.restore(prefix, receive)) ? Buffer.concat(parts).toString() : undefined;
        },
        save: async (key, text) => {
            const bytes = Buffer.from(text);
            if (bytes.length > maxBytes)
                throw new Error(`The text is longer than ${maxBytes} bytes`);
            await client.save(key, { size: bytes.length, read: (start, end) => bytes.subarray(start, end) });
        },
    };
}


/***/ })

};
