export const id = 832;
export const ids = [832];
export const modules = {

/***/ 9832:
/***/ ((__webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.a(__webpack_module__, async (__webpack_handle_async_dependencies__, __webpack_async_result__) => { try {
__webpack_require__.r(__webpack_exports__);
/* harmony import */ var _cache_protocol_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(561);

// A process of its own, which `run-cache-process.ts` starts with these arguments. It never outlives the action.
process.on("disconnect", () => process.exit());
const [operation = "", key = "", file = ""] = process.argv.slice(3);
const operations = {
    restore: () => (0,_cache_protocol_js__WEBPACK_IMPORTED_MODULE_0__/* .restoreFile */ .V)(key, file),
    save: async () => {
        await (0,_cache_protocol_js__WEBPACK_IMPORTED_MODULE_0__/* .saveFile */ .O)(key, file);
        return true;
    },
};
function send(reply) {
    const exit = () => process.exit();
    process.send?.(reply, undefined, undefined, () => process.stdout.write("", exit));
}
try {
    send({ isDone: await operations[operation]() });
}
catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // What GitHub's cache service says to a token without write access, in both protocols.
    const isReadOnly = operation === "save" && message.includes("cache write denied:");
    send({ error: message, isReadOnly });
}

__webpack_async_result__();
} catch(e) { __webpack_async_result__(e); } }, 1);

/***/ }),

/***/ 561:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   O: () => (/* binding */ saveFile),
/* harmony export */   V: () => (/* binding */ restoreFile)
/* harmony export */ });
/* harmony import */ var node_diagnostics_channel__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3053);
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1455);
/* harmony import */ var _node_modules_actions_cache_lib_internal_cacheUtils_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9080);
/* harmony import */ var _node_modules_actions_cache_lib_internal_config_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(5253);
/* harmony import */ var _node_modules_actions_cache_lib_internal_shared_cacheTwirpClient_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(9513);


// The library's own client of both protocols. Its `exports` hide these files, because its API has only archives: it starts
// `tar` and `zstd`, and does not find on one runner what another saved without `zstd`. `imports` of package.json cannot name
// a file in node_modules, so the paths are relative. The version is pinned, and the tests of the cache run all of this.



/**
 * What the library hashes into the version of an entry, in place of the paths in an archive. It is the same for all files and
 * on all systems: the key tells what an entry is, and the version only that it is a file as it is.
 */
const paths = ["agent-job-file"];
const anySystem = { enableCrossOsArchive: true };
/** The version of all entries. An entry with another version is not found. */
const version = (0,_node_modules_actions_cache_lib_internal_cacheUtils_js__WEBPACK_IMPORTED_MODULE_2__/* .getCacheVersion */ .Fy)(paths, undefined, anySystem.enableCrossOsArchive);
/**
 * Loads the part that has v1 and the transfer of files, with Azure's client. That takes a third of the process's time, and in v2, a
 * look-up that finds nothing needs none of it.
 */
const loadTransfers = () => __webpack_require__.e(/* import() */ 843).then(__webpack_require__.bind(__webpack_require__, 2843));
/** The library's own options for v2. Files of up to 128 MiB are one request. */
const blockUpload = { useAzureSdk: true, uploadChunkSize: 64 * 1024 * 1024, uploadConcurrency: 8 };
/**
 * Writes the newest entry whose key has this prefix to a file.
 *
 * @returns whether there is one
 * @throws if that is unknown, or it was not downloaded completely
 */
async function restoreFile(prefix, file) {
    checkKey(prefix);
    const url = (0,_node_modules_actions_cache_lib_internal_config_js__WEBPACK_IMPORTED_MODULE_4__/* .getCacheServiceVersion */ .U0)() === "v2" ? await findV2(prefix) : await findV1(prefix);
    if (url === undefined)
        return false;
    await download(url, file);
    return true;
}
/**
 * Saves a file.
 *
 * @throws with GitHub's `cache write denied` in the message if the run may not write the cache
 */
async function saveFile(key, file) {
    checkKey(key);
    const { size } = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.stat)(file);
    if ((0,_node_modules_actions_cache_lib_internal_config_js__WEBPACK_IMPORTED_MODULE_4__/* .getCacheServiceVersion */ .U0)() === "v2")
        await saveV2(key, file, size);
    else
        await saveV1(key, file, size);
}
/** A list of keys is separated by commas in v1. */
function checkKey(key) {
    if (key.length > 512 || key.includes(","))
        throw new Error(`${JSON.stringify(key)} cannot be a key of a cache entry`);
}
// Both protocols look for the first key as it is, and then for the others as prefixes.
async function findV1(prefix) {
    const { getCacheEntry } = await loadTransfers();
    const entry = await getCacheEntry([prefix, prefix], paths, anySystem);
    return entry?.archiveLocation;
}
async function findV2(prefix) {
    const request = { key: prefix, restoreKeys: [prefix], version };
    const { ok, signedDownloadUrl } = await (0,_node_modules_actions_cache_lib_internal_shared_cacheTwirpClient_js__WEBPACK_IMPORTED_MODULE_3__/* .internalCacheTwirpClient */ .t)().GetCacheEntryDownloadURL(request);
    return ok ? signedDownloadUrl : undefined;
}
async function saveV1(key, file, cacheSize) {
    const { reserveCache, saveCache } = await loadTransfers();
    const { result, statusCode, error } = await reserveCache(key, paths, { ...anySystem, cacheSize });
    if (!result?.cacheId)
        throw new Error(reserveError(key, error?.message ?? `HTTP ${statusCode}`));
    await saveCache(result.cacheId, file);
}
async function saveV2(key, file, size) {
    const client = (0,_node_modules_actions_cache_lib_internal_shared_cacheTwirpClient_js__WEBPACK_IMPORTED_MODULE_3__/* .internalCacheTwirpClient */ .t)();
    const reserved = await client.CreateCacheEntry({ key, version });
    if (!reserved.ok)
        throw new Error(reserveError(key, reserved.message));
    const { saveCache } = await loadTransfers();
    await saveCache(-1, file, reserved.signedUploadUrl, { ...blockUpload, archiveSizeBytes: size });
    const saved = await client.FinalizeCacheEntryUpload({ key, version, sizeBytes: String(size) });
    if (!saved.ok)
        throw new Error(`The cache service did not finalize the entry ${key}: ${saved.message || "no reason"}`);
}
function reserveError(key, reason) {
    return `The cache service did not reserve the key ${key}: ${reason || "no reason"}`;
}
/**
 * Downloads a file.
 *
 * @throws unless the last response is a success. The library leaves that to `tar`: for some addresses it also writes the text
 *   of an HTTP error to the file, which would be taken for an entry that is unusable forever.
 */
async function download(url, file) {
    const { downloadCache } = await loadTransfers();
    let status;
    const onResponse = (message) => {
        status = message.response.statusCode;
    };
    (0,node_diagnostics_channel__WEBPACK_IMPORTED_MODULE_0__.subscribe)("http.client.response.finish", onResponse);
    try {
        await downloadCache(url, file, { useAzureSdk: true });
    }
    finally {
        (0,node_diagnostics_channel__WEBPACK_IMPORTED_MODULE_0__.unsubscribe)("http.client.response.finish", onResponse);
    }
    if (status !== 200 && status !== 206)
        throw new Error(`The cache service responded to the download with ${status}`);
}


/***/ })

};
