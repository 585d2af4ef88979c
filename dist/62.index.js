export const id = 62;
export const ids = [62,6];
export const modules = {

/***/ 9006:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ untilSettled),
/* harmony export */   untilAborted: () => (/* binding */ untilAborted)
/* harmony export */ });
const maxWaitMs = 5000;
const maxWaitAfterCancelMs = 2000;
async function untilAborted(promise, signal) {
    promise.catch(() => { });
    if (signal.aborted)
        return undefined;
    const ended = new AbortController();
    const aborted = new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(undefined), { signal: ended.signal });
    });
    return Promise.race([promise, aborted]).finally(() => ended.abort());
}
async function untilSettled(saves, { clock, signal }) {
    const settled = new AbortController();
    void saves.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    if (signal.aborted)
        await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (settled.signal.aborted)
        return undefined;
    const cancelled = "the step was cancelled before the cache service had confirmed it";
    return new Error(signal.aborted ? cancelled : "the cache service did not respond in time");
}


/***/ }),

/***/ 9062:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   K: () => (/* binding */ cachedWords),
/* harmony export */   N: () => (/* binding */ strengthOf),
/* harmony export */   rememberInvalidInputs: () => (/* binding */ rememberInvalidInputs)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2012);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8039);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);
/* harmony import */ var _step_key_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(6323);
/* harmony import */ var _wait_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(9006);






const states = ["pending", "not-sent", "job"];
const stateOf = { "about to send": "pending", "nothing sent": "not-sent", job: "job" };
function strengthOf(word) {
    return word === undefined || word === "unreadable" ? 0 : 1 + states.indexOf(stateOf[word.kind]);
}
function cachedWords(cache, task, run) {
    const { environment } = run.ports;
    const own = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment);
    const keyOf = (attempt, state) => `agent-job-${run.key.step}-${attempt}-${state}-`;
    const ownPrompt = (0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([task.kind, task.prompt]));
    let saves = 0;
    const wordOf = async (attempt) => {
        for (const prompt of [ownPrompt, ""]) {
            const hasOtherPrompt = prompt === "";
            const texts = await Promise.all(states.map((state) => cache.restore(keyOf(attempt, state) + prompt)));
            const index = texts.findLastIndex((text) => text !== undefined);
            const state = states[index];
            if (state === undefined)
                continue;
            const { parseWordEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(389)]).then(__webpack_require__.bind(__webpack_require__, 3389));
            const entry = parseWordEntry(texts[index] ?? "");
            const { jobId, sent, base: _, covers: __, announced: ___, ...known } = entry ?? {};
            if (entry && state === "not-sent")
                return { word: { kind: "nothing sent", hasOtherPrompt }, entry };
            if (entry && state === "pending")
                return { word: { kind: "about to send", hasOtherPrompt }, entry };
            if (entry && jobId !== undefined && sent)
                return { word: { kind: "job", jobId, sent, ...known, hasOtherPrompt }, entry };
            throw new Error("the entry is not usable");
        }
        return {};
    };
    return {
        read: async () => {
            const read = {
                attempts: [],
                base: undefined,
                covers: undefined,
                hadAnnounced: undefined,
                error: undefined,
            };
            let attempt = own - 1;
            try {
                const isEmpty = (await cache.restore(`agent-job-${run.key.step}-`)) === undefined;
                for (; attempt >= 1; attempt--) {
                    const { word, entry } = isEmpty ? {} : await wordOf(attempt);
                    if (read.hadAnnounced !== true)
                        read.hadAnnounced = entry?.announced ?? read.hadAnnounced;
                    const isOthers = typeof word === "object" && "hasOtherPrompt" in word && word.hasOtherPrompt;
                    if (!isOthers)
                        read.base ??= entry?.base;
                    if (!isOthers)
                        read.covers ??= entry?.covers;
                    const inputsPrefix = invalidInputsPrefix(run.settings.matrixLeg, environment, attempt);
                    const hadInvalidInputs = !word && (await cache.restore(inputsPrefix)) !== undefined;
                    read.attempts.push({ attempt, word: hadInvalidInputs ? { kind: "nothing sent" } : word });
                    if (word?.kind === "job" && !isOthers)
                        return read;
                }
            }
            catch (error) {
                read.error = (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error);
                for (; attempt >= 1; attempt--)
                    read.attempts.push({ attempt, word: "unreadable" });
            }
            return read;
        },
        save: async (word, facts) => {
            const { kind, ...job } = word;
            const key = `${keyOf(own, stateOf[word.kind])}${ownPrompt}-${++saves}`;
            await cache.save(key, JSON.stringify({ version: 1, ...job, ...facts }));
        },
    };
}
function invalidInputsPrefix(matrixLeg, environment, attempt) {
    return `agent-job-inputs-${(0,_step_key_js__WEBPACK_IMPORTED_MODULE_4__/* .stepOfRun */ .l)(matrixLeg, environment)}-${attempt}-`;
}
async function rememberInvalidInputs(matrixLeg, ports) {
    const { environment, connectCache, signal } = ports;
    if ((0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__/* .cacheAccess */ .nU)(environment) !== "write" || signal.aborted)
        return;
    const key = `${invalidInputsPrefix(matrixLeg, environment, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment))}1`;
    const save = async () => (await connectCache()).save(key, JSON.stringify({ version: 1 }));
    await (0,_wait_js__WEBPACK_IMPORTED_MODULE_5__/* .untilSettled */ .Q)(save().catch(() => { }), ports);
}


/***/ }),

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


/***/ })

};
