export const id = 560;
export const ids = [560];
export const modules = {

/***/ 1179:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Z: () => (/* binding */ invalidInputsPrefix),
/* harmony export */   rememberInvalidInputs: () => (/* binding */ rememberInvalidInputs)
/* harmony export */ });
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2012);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8039);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(767);



/** How long the end of the step may take for the save, in milliseconds. */
const maxWaitMs = 5000;
/** Returns the prefix of the key that says that an attempt had invalid inputs, which it could not be told apart by. */
function invalidInputsPrefix(matrixLeg, environment, attempt) {
    const { GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
    return `agent-job-inputs-${(0,_hash_js__WEBPACK_IMPORTED_MODULE_1__/* .hash */ .t)(JSON.stringify([GITHUB_RUN_ID, GITHUB_JOB, GITHUB_ACTION, matrixLeg]))}-${attempt}-`;
}
/**
 * Remembers that this attempt sent nothing, because its inputs were invalid: a missing secret is added, and the run is
 * re-run. Never rejects; without the entry, the re-run asks GitHub.
 */
async function rememberInvalidInputs(matrixLeg, { environment, connectCache, clock, signal }) {
    if ((0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .cacheAccess */ .nU)(environment) !== "write" || signal.aborted)
        return;
    const key = `${invalidInputsPrefix(matrixLeg, environment, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_2__/* .runAttempt */ .Tm)(environment))}1`;
    const settled = new AbortController();
    const save = async () => (await connectCache()).save(key, JSON.stringify({ version: 1 }));
    void save()
        .catch(() => { })
        .then(() => settled.abort());
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
}


/***/ }),

/***/ 2012:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   G9: () => (/* binding */ hasCacheService),
/* harmony export */   Te: () => (/* binding */ isForgetful),
/* harmony export */   Tw: () => (/* binding */ CacheEntryError),
/* harmony export */   nU: () => (/* binding */ cacheAccess),
/* harmony export */   pj: () => (/* binding */ CacheReadOnlyError)
/* harmony export */ });
/** Thrown when an entry was found that is unusable, and will be until a newer one is saved. */
class CacheEntryError extends Error {
    name = "CacheEntryError";
}
/**
 * Thrown when the runner or the cache service says that this run may not write the cache. GitHub decides that by the event
 * that started the run, so it does not change within a run. See GitHub's documentation: "Dependency caching reference".
 */
class CacheReadOnlyError extends Error {
    name = "CacheReadOnlyError";
}
/**
 * Returns the access to the cache that the runner announces, by the rules of `@actions/cache`. `write` if it does not say, which older
 * runners do not: then only a save can tell.
 */
function cacheAccess(environment) {
    if (!isOffered(environment))
        return "absent";
    const mode = environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "";
    return accessOfMode[mode] ?? "write";
}
const accessOfMode = { none: "none", "write-only": "none", read: "read" };
/** Returns whether the runner offers a cache service that can be read. */
function hasCacheService(environment) {
    return ["read", "write"].includes(cacheAccess(environment));
}
/**
 * Returns whether the runner offers a cache that keeps nothing for a re-run: this run may not read it, or may not write it.
 * A missing entry then says nothing about an earlier attempt.
 */
function isForgetful(environment) {
    return ["none", "read"].includes(cacheAccess(environment));
}
function isOffered(environment) {
    const isV2 = Boolean(environment.ACTIONS_CACHE_SERVICE_V2) && !isEnterpriseServer(environment.GITHUB_SERVER_URL);
    // act offers v1 without a token.
    return Boolean(isV2 ? environment.ACTIONS_RESULTS_URL && environment.ACTIONS_RUNTIME_TOKEN : environment.ACTIONS_CACHE_URL);
}
function isEnterpriseServer(serverUrl) {
    const hostname = URL.parse(serverUrl || "https://github.com")?.hostname ?? "";
    return hostname !== "github.com" && !hostname.endsWith(".ghe.com") && !hostname.endsWith(".localhost");
}


/***/ })

};
