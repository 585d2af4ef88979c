export const id = 925;
export const ids = [925];
export const modules = {

/***/ 1925:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

// ESM COMPAT FLAG
__webpack_require__.r(__webpack_exports__);

// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  connectCache: () => (/* binding */ connectCache)
});

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: external "node:timers/promises"
var promises_ = __webpack_require__(8500);
// EXTERNAL MODULE: ./build/runner-kit/cache.js
var cache = __webpack_require__(2012);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(8161);
;// CONCATENATED MODULE: ./build/runner-kit/cache-folder.js



/**
 * Creates an empty folder.
 *
 * @param parent - ignored if its path has spaces. Default: the system's folder for temporary files
 */
function createCacheFolder(parent) {
    // The library does not quote paths for tar.
    const usable = parent && !/\s/.test(parent) ? parent : (0,external_node_os_.tmpdir)();
    const path = (0,external_node_fs_.realpathSync)((0,external_node_fs_.mkdtempSync)((0,external_node_path_.join)(usable, "agent-job-cache-")));
    return {
        path,
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
/** Returns the status of a restored file; `undefined` unless it is a regular one. Anyone who can write the cache decides that. */
function restoredFile(file) {
    const status = (0,external_node_fs_.lstatSync)(file, { throwIfNoEntry: false });
    return status?.isFile() && status.nlink === 1 ? status : undefined;
}

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
 * - logs errors instead of throwing them, and logs text from the service. The log is read for errors and never printed.
 * - depends on the working directory, `GITHUB_WORKSPACE` and `RUNNER_TEMP`. An empty folder stands for all of them, so
 *   that an entry is one file without a path, wherever the runner's folders are.
 * - cannot be aborted, starts `tar`, and may throw outside of its promises. A process group can be killed.
 * - takes tens of megabytes of memory, which are free again when the process ends.
 *
 * @returns whether an entry was restored or saved
 * @throws if the library threw or logged an error, or at the timeout. The message contains no secret
 */
async function runCacheProcess(options) {
    const { operation, key, file, folder, program, environment, signal } = options;
    const child = (0,external_node_child_process_.fork)(program, ["cache", operation, key, file], {
        cwd: folder,
        env: processEnvironment(environment, folder),
        execArgv: [],
        stdio: ["ignore", "pipe", "ignore", "ipc"],
        detached: hasProcessGroups,
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
    const error = reply && "error" in reply ? reply.error : loggedError(log);
    if (error !== undefined)
        throw new Error(redact(error));
    if (!reply || "error" in reply)
        throw new Error(`The cache process ended with ${child.signalCode ?? child.exitCode}`);
    return reply.isDone;
}
const hasProcessGroups = process.platform !== "win32";
/** Kills a cache process, and `tar` if it is running. */
function kill(child) {
    child.stdout?.destroy();
    try {
        if (hasProcessGroups && child.pid)
            process.kill(-child.pid, "SIGKILL");
        else
            child.kill("SIGKILL");
    }
    catch {
        // It has ended.
    }
}
function processEnvironment(environment, folder) {
    // The inputs contain the API key, and tar does not need it.
    const inherited = Object.entries(environment).filter(([name]) => !/^INPUT_/i.test(name));
    return {
        ...Object.fromEntries(inherited),
        GITHUB_WORKSPACE: folder,
        RUNNER_TEMP: folder,
        // Debugging makes the library list archives and caches, which only costs time here.
        RUNNER_DEBUG: "",
        // The library lets tar write anywhere. This makes GNU tar skip everything that is not directly in the folder.
        TAR_OPTIONS: "--exclude=*/*",
    };
}
/** Returns the error that the library logged last; `undefined` if it logged none. */
function loggedError(log) {
    const lines = log.matchAll(/^(?:::(?:warning|error)[^:]*::|(?=Cache (?:restore|save) skipped: |Failed to save: ))(.*)/gm);
    const last = [...lines].at(-1)?.[1];
    return last === undefined ? undefined : unescapeCommand(last);
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






/**
 * The file that every entry consists of. A restore only finds entries whose path is spelled the same. It is relative, so
 * that runners with different folders share their entries.
 */
const entryFile = "agent-job.json";
/** Longer texts are neither saved nor read. */
const maxBytes = 64 * 1024;
/** Delays before the retries of a restore. The library retries some errors on its own, but not all. */
const retryDelaysMs = [500, 1000];
/** Returns the Actions cache that the runner's environment variables describe. */
function connectCache(environment, options = {}) {
    const { restoreTimeoutMs = 10_000, saveTimeoutMs = 5000, program = process.argv[1] ?? "" } = options;
    const run = (operation, key, { path }, signal) => runCacheProcess({ operation, key, file: entryFile, folder: path, program, environment, signal });
    return {
        restore: async (prefix) => {
            const env_1 = { stack: [], error: void 0, hasError: false };
            try {
                const folder = __addDisposableResource(env_1, createCacheFolder(environment.RUNNER_TEMP), false);
                const signal = AbortSignal.timeout(restoreTimeoutMs);
                let lastError;
                for (const delayMs of [0, ...retryDelaysMs]) {
                    await (0,promises_.setTimeout)(delayMs, undefined, { signal }).catch(() => { });
                    if (signal.aborted)
                        break;
                    try {
                        return (await run("restore", prefix, folder, signal)) ? readEntry(folder) : undefined;
                    }
                    catch (error) {
                        if (error instanceof cache/* CacheEntryError */.T)
                            throw error;
                        if (isTarError(error))
                            throw new cache/* CacheEntryError */.T(error.message);
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
                const folder = __addDisposableResource(env_2, createCacheFolder(environment.RUNNER_TEMP), false);
                (0,external_node_fs_.writeFileSync)((0,external_node_path_.join)(folder.path, entryFile), text);
                const isSaved = await run("save", key, folder, AbortSignal.timeout(saveTimeoutMs));
                if (!isSaved)
                    throw new Error("The cache entry was not saved");
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
function readEntry({ path }) {
    const file = (0,external_node_path_.join)(path, entryFile);
    const status = restoredFile(file);
    if (!status)
        throw new cache/* CacheEntryError */.T("The cache entry is not a regular file");
    if (status.size > maxBytes)
        throw new cache/* CacheEntryError */.T(`The cache entry is longer than ${maxBytes} bytes`);
    return (0,external_node_fs_.readFileSync)(file, "utf8");
}
/** Returns whether `tar` ran and failed, going by the library's message. */
function isTarError(error) {
    return error instanceof Error && / failed with error: The process /.test(error.message);
}


/***/ })

};
