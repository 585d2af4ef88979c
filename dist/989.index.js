export const id = 989;
export const ids = [989];
export const modules = {

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


/***/ }),

/***/ 5989:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

// ESM COMPAT FLAG
__webpack_require__.r(__webpack_exports__);

// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  connectCache: () => (/* binding */ connectCache)
});

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(8161);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: external "node:timers/promises"
var promises_ = __webpack_require__(8500);
// EXTERNAL MODULE: ./build/runner-kit/cache.js
var cache = __webpack_require__(2012);
// EXTERNAL MODULE: external "node:child_process"
var external_node_child_process_ = __webpack_require__(1421);
// EXTERNAL MODULE: ./build/runner-kit/redact.js
var redact = __webpack_require__(5593);
;// CONCATENATED MODULE: ./build/runner-kit/run-cache-process.js



/** How much of the process's log is kept. The end tells why it failed. */
const maxLogLength = 64 * 1024;
/**
 * Runs an operation of `@actions/cache` in a process of its own, because the library
 *
 * - logs text from the service, and secrets for the runner to mask. The log is read for both and never printed.
 * - cannot be aborted, and may throw outside of its promises.
 * - takes tens of megabytes of memory, which are free again when the process ends.
 *
 * @returns `false` if there is no entry to restore
 * @throws {CacheReadOnlyError} if the run may not write the cache
 * @throws if the process failed, or at the timeout. The message contains no secret
 */
async function runCacheProcess(options) {
    const { operation, key, file, program, environment, signal } = options;
    checkAccess(operation, environment);
    const child = (0,external_node_child_process_.fork)(program, ["cache", operation, key, file], {
        env: processEnvironment(environment),
        execArgv: [],
        stdio: ["ignore", "pipe", "ignore", "ipc"],
        // A signal to the action's process group would end a save otherwise.
        detached: process.platform !== "win32",
        // A console of its own, for the same reason: a runner cancels a step with Ctrl+C for all processes of the console.
        windowsHide: true,
    });
    let log = "";
    let reply;
    child.stdout?.setEncoding("utf8").on("data", (text) => {
        log = (log + text).slice(-maxLogLength);
    });
    child.on("message", (message) => {
        reply = message;
    });
    await new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", resolve);
        signal.addEventListener("abort", () => {
            kill(child);
            resolve(undefined);
        });
    });
    const redact = redactorFor(log, environment.ACTIONS_RUNTIME_TOKEN);
    if (!reply && signal.aborted) {
        throw new Error(redact(`${failedAttempt(log) ?? "The cache service did not respond"}, until the timeout`));
    }
    if (!reply)
        throw new Error(`The cache process ended with ${child.signalCode ?? child.exitCode}`);
    if ("isDone" in reply)
        return reply.isDone;
    const error = redact(reply.error);
    throw reply.isReadOnly ? new cache/* CacheReadOnlyError */.pj(error) : new Error(error);
}
/** Throws if the runner already says that the cache service would deny the operation. */
function checkAccess(operation, environment) {
    const { ACTIONS_CACHE_MODE: mode } = environment;
    const access = (0,cache/* cacheAccess */.nU)(environment);
    if (!mode || access === "write" || (access === "read" && operation === "restore"))
        return;
    const message = `The Actions cache has the mode ${JSON.stringify(mode)} in this run, which does not permit to ${operation}`;
    throw operation === "save" ? new cache/* CacheReadOnlyError */.pj(message) : new Error(message);
}
function kill(child) {
    child.stdout?.destroy();
    child.kill("SIGKILL");
}
function processEnvironment(environment) {
    // The inputs contain the API key, which the process does not need.
    const inherited = Object.entries(environment).filter(([name]) => !/^INPUT_/i.test(name));
    // Debugging makes the library log whole responses and list other entries, which only costs time here.
    return { ...Object.fromEntries(inherited), RUNNER_DEBUG: "" };
}
/** Returns the error of the last attempt that the library retries; `undefined` if there was none. */
function failedAttempt(log) {
    const last = [...log.matchAll(/Attempt \d+ of \d+ failed with error: (.*)/g)].at(-1)?.[1];
    return last === undefined ? undefined : unescapeCommand(last);
}
/** Returns a function that redacts the runtime token and what the library asks the runner to mask. */
function redactorFor(log, token = "") {
    const masked = [...log.matchAll(/^::add-mask::(.*)/gm)].map(([, secret = ""]) => unescapeCommand(secret));
    const redactors = [token, ...new Set(masked)].map(redact/* createRedactor */.l);
    return (text) => redactors.reduce((redacted, redact) => redact(redacted), text);
}
/** Decodes the data of a workflow command. */
function unescapeCommand(data) {
    return data.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%").trimEnd();
}

;// CONCATENATED MODULE: ./build/runner-kit/connect-cache.js
var __addDisposableResource = (undefined && undefined.__addDisposableResource) || function (env, value, async) {
    if (value !== null && value !== void 0) {
        if (typeof value !== "object" && typeof value !== "function") throw new TypeError("Object expected.");
        var dispose, inner;
        if (async) {
            if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
            dispose = value[Symbol.asyncDispose];
        }
        if (dispose === void 0) {
            if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
            dispose = value[Symbol.dispose];
            if (async) inner = dispose;
        }
        if (typeof dispose !== "function") throw new TypeError("Object not disposable.");
        if (inner) dispose = function() { try { inner.call(this); } catch (e) { return Promise.reject(e); } };
        env.stack.push({ value: value, dispose: dispose, async: async });
    }
    else if (async) {
        env.stack.push({ async: true });
    }
    return value;
};
var __disposeResources = (undefined && undefined.__disposeResources) || (function (SuppressedError) {
    return function (env) {
        function fail(e) {
            env.error = env.hasError ? new SuppressedError(e, env.error, "An error was suppressed during disposal.") : e;
            env.hasError = true;
        }
        var r, s = 0;
        function next() {
            while (r = env.stack.pop()) {
                try {
                    if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
                    if (r.dispose) {
                        var result = r.dispose.call(r.value);
                        if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) { fail(e); return next(); });
                    }
                    else s |= 1;
                }
                catch (e) {
                    fail(e);
                }
            }
            if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
            if (env.hasError) throw env.error;
        }
        return next();
    };
})(typeof SuppressedError === "function" ? SuppressedError : function (error, suppressed, message) {
    var e = new Error(message);
    return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
});






/** Longer texts are neither saved nor read. */
const maxBytes = 64 * 1024;
/** Delays before the retries of a restore. The library retries some errors on its own, but not all. */
const retryDelaysMs = [500, 1000];
/** Returns the Actions cache that the runner's environment variables describe. */
function connectCache(environment, options = {}) {
    const { restoreTimeoutMs = 10_000, saveTimeoutMs = 5000, program = process.argv[1] ?? "" } = options;
    const run = (operation, key, file, signal) => runCacheProcess({ operation, key, file, program, environment, signal });
    return {
        restore: async (prefix) => {
            const env_1 = { stack: [], error: void 0, hasError: false };
            try {
                const folder = __addDisposableResource(env_1, createFolder(environment.RUNNER_TEMP), false);
                const signal = AbortSignal.timeout(restoreTimeoutMs);
                let lastError;
                for (const delayMs of [0, ...retryDelaysMs]) {
                    await (0,promises_.setTimeout)(delayMs, undefined, { signal }).catch(() => { });
                    if (signal.aborted)
                        break;
                    try {
                        return (await run("restore", prefix, folder.file, signal)) ? readEntry(folder.file) : undefined;
                    }
                    catch (error) {
                        if (error instanceof cache/* CacheEntryError */.Tw)
                            throw error;
                        // What went wrong before says more than that time is up.
                        if (!signal.aborted || lastError === undefined)
                            lastError = error;
                    }
                }
                throw lastError;
            }
            catch (e_1) {
                env_1.error = e_1;
                env_1.hasError = true;
            }
            finally {
                __disposeResources(env_1);
            }
        },
        save: async (key, text) => {
            const env_2 = { stack: [], error: void 0, hasError: false };
            try {
                if (Buffer.byteLength(text) > maxBytes)
                    throw new Error(`The text is longer than ${maxBytes} bytes`);
                const folder = __addDisposableResource(env_2, createFolder(environment.RUNNER_TEMP), false);
                (0,external_node_fs_.writeFileSync)(folder.file, text);
                await run("save", key, folder.file, AbortSignal.timeout(saveTimeoutMs));
            }
            catch (e_2) {
                env_2.error = e_2;
                env_2.hasError = true;
            }
            finally {
                __disposeResources(env_2);
            }
        },
    };
}
/** Reads the file that a restore wrote. Anyone who can write the cache decides its contents. */
function readEntry(file) {
    if ((0,external_node_fs_.statSync)(file).size > maxBytes)
        throw new cache/* CacheEntryError */.Tw(`The cache entry is longer than ${maxBytes} bytes`);
    return (0,external_node_fs_.readFileSync)(file, "utf8");
}
/** Creates a folder for a file, which does not exist yet. Both are deleted when it is disposed of. */
function createFolder(parent) {
    const path = (0,external_node_fs_.mkdtempSync)((0,external_node_path_.join)(parent || (0,external_node_os_.tmpdir)(), "agent-job-cache-"));
    return {
        file: (0,external_node_path_.join)(path, "entry"),
        [Symbol.dispose]: () => {
            try {
                (0,external_node_fs_.rmSync)(path, { recursive: true, force: true, maxRetries: 3 });
            }
            catch {
                // The runner empties its folder for temporary files after the job.
            }
        },
    };
}


/***/ })

};
