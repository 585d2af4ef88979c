export const id = 62;
export const ids = [62];
export const modules = {

/***/ 9062:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   O: () => (/* binding */ CachedWords),
/* harmony export */   rememberInvalidInputs: () => (/* binding */ rememberInvalidInputs),
/* harmony export */   u: () => (/* binding */ OwnWords)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2012);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8039);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);




/** How long a request waits for the entry that says that it is about to be sent, in milliseconds. */
const maxHoldMs = 3000;
/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled, in milliseconds: soon after that, the runner kills it. */
const maxWaitAfterCancelMs = 2000;
/** The words in the keys of entries. A later one outranks those before it, in whatever order they arrive. */
const states = ["pending", "not-sent", "job"];
const stateOf = { "about to send": "pending", "nothing sent": "not-sent", job: "job" };
/**
 * The words of the attempts of a step, in the repository's Actions cache. Each state of an attempt has a key of its own, because
 * entries of a run do not arrive in the order in which they were saved.
 */
class CachedWords {
    #cache;
    #attempt;
    /** The prefix of the keys of all entries of the step. */
    #prefix;
    /** The part of the keys of entries with this prompt that follows the state. */
    #prompt;
    #inputsPrefix;
    #saves = 0;
    constructor(cache, task, { settings, key, ports: { environment } }) {
        this.#cache = cache;
        this.#attempt = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment);
        this.#prefix = `agent-job-${key.step}-`;
        this.#prompt = (0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([task.kind, task.prompt]));
        this.#inputsPrefix = (attempt) => invalidInputsPrefix(settings.matrixLeg, environment, attempt);
    }
    /** Reads what the earlier attempts left. Never rejects. */
    async read() {
        const read = { attempts: [], base: undefined, hadAnnounced: undefined, error: undefined };
        let attempt = this.#attempt - 1;
        try {
            const isEmpty = (await this.#cache.restore(this.#prefix)) === undefined;
            for (; attempt >= 1; attempt--) {
                const { word, entry } = isEmpty ? {} : await this.#wordOf(attempt);
                if (read.hadAnnounced !== true)
                    read.hadAnnounced = entry?.announced ?? read.hadAnnounced;
                read.base ??= entry?.base;
                const hadInvalidInputs = !word && (await this.#cache.restore(this.#inputsPrefix(attempt))) !== undefined;
                read.attempts.push({ attempt, word: hadInvalidInputs ? { kind: "nothing sent" } : word });
                if (word?.kind === "job")
                    return read;
            }
        }
        catch (error) {
            read.error = (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error);
            for (; attempt >= 1; attempt--)
                read.attempts.push({ attempt, word: "unreadable" });
        }
        return read;
    }
    /**
     * Saves a word of this attempt.
     *
     * @throws if it cannot be saved
     */
    async save(word, entry) {
        const jobId = word.kind === "job" ? { jobId: word.jobId } : {};
        const { sent, ...others } = entry;
        const text = JSON.stringify({ version: 1, attempt: this.#attempt, sent, ...jobId, ...others });
        // A key can be used only once, also by a save that failed.
        const key = `${this.#keyOf(this.#attempt, stateOf[word.kind])}${this.#prompt}-${++this.#saves}`;
        await this.#cache.save(key, text);
    }
    async #wordOf(attempt) {
        for (const [hasOtherPrompt, prompt] of [
            [false, this.#prompt],
            [true, ""],
        ]) {
            const texts = await Promise.all(states.map((state) => this.#cache.restore(this.#keyOf(attempt, state) + prompt)));
            const index = texts.findLastIndex((text) => text !== undefined);
            const state = states[index];
            if (state === undefined)
                continue;
            // Loaded here, because only a re-run reads what the attempt before it saved.
            const { parseWordEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(770)]).then(__webpack_require__.bind(__webpack_require__, 3389));
            const entry = parseWordEntry(texts[index] ?? "");
            if (!entry || (state === "job" && entry.jobId === undefined))
                throw new Error("the entry is not usable");
            const { jobId = "", sent } = entry;
            if (state === "not-sent")
                return { word: { kind: "nothing sent" }, entry };
            if (state === "pending")
                return { word: { kind: "about to send", hasOtherPrompt }, entry };
            return { word: { kind: "job", jobId, sent, hasOtherPrompt }, entry };
        }
        return {};
    }
    #keyOf(attempt, state) {
        return `${this.#prefix}${attempt}-${state}-`;
    }
}
/** Saves the words of this attempt while it waits for the job, so that the step waits for the cache only at its start and end. */
class OwnWords {
    #ports;
    #announced;
    #doubted;
    #job;
    #isReadOnly = false;
    /** What was saved, and what may have been. */
    #fates = [];
    constructor(ports) {
        this.#ports = ports;
    }
    /** Whether the cache service has refused to save anything in this run. */
    get isReadOnly() {
        return this.#isReadOnly;
    }
    /** What a later attempt may find as the word of this one: every word that outranks what it will find for certain. */
    get fates() {
        const rank = (word) => (word ? states.indexOf(stateOf[word.kind]) : -1);
        const saved = this.#fates.filter(({ fate }) => fate === "saved").map(({ word }) => word);
        const certain = saved.toSorted((one, other) => rank(other) - rank(one))[0];
        const unknown = this.#fates.filter(({ word, fate }) => fate === "unknown" && rank(word) > rank(certain));
        return [certain, ...unknown.map(({ word }) => word)];
    }
    /**
     * Says that a request is about to be sent, so that a runner that is lost at any moment leaves a trace. Waits until that is
     * saved, but only for a short time. Returns whether it is.
     */
    async announce(sent) {
        const { clock, signal, cache, onFailure } = this.#ports;
        if (!cache)
            return false;
        if (this.#announced)
            return this.#isAnnounced;
        const fail = once((error) => onFailure(error, true));
        this.#announced = this.#save({ kind: "about to send" }, sent, fail);
        const settled = new AbortController();
        void this.#announced.then(() => settled.abort());
        await clock.sleep(maxHoldMs, AbortSignal.any([settled.signal, signal]));
        if (!settled.signal.aborted && !signal.aborted)
            fail(new Error("the cache service did not respond in time"));
        return this.#isAnnounced;
    }
    /**
     * Begins to save a job that this attempt started.
     *
     * @param saveSession - saves it for the session. Default: there is none
     */
    begin(sent, jobId, saveSession) {
        const fail = once((error) => this.#ports.onFailure(error, false));
        const session = saveSession?.().then(() => true, (error) => {
            fail(error);
            return false;
        });
        const saves = Promise.all([this.#saveIfPossible({ kind: "job", jobId, sent }, sent, fail), session]);
        this.#job = saves.then(([isSaved]) => isSaved);
    }
    /** Begins to save a job that this attempt waits for, as its own: later ones need not look at those before it. */
    adopt(sent, jobId) {
        this.#job ??= this.#saveIfPossible({ kind: "job", jobId, sent }, sent, () => { });
    }
    /**
     * Begins to save that it is unknown whether the service accepted a request, unless an entry says so already, or one that
     * says so or names the job is being saved. Once that has failed, it can be tried again.
     */
    doubt(sent) {
        const { cache, onFailure } = this.#ports;
        if (!cache || this.#isAnnounced || this.#doubted || this.#job)
            return;
        this.#doubted = this.#save({ kind: "about to send" }, sent, (error) => onFailure(error, false));
        void this.#doubted.then((isSaved) => {
            if (!isSaved)
                this.#doubted = undefined;
        });
    }
    /** Says that nothing was started, and waits until that is saved, but only for a short time. */
    async withdraw(sent) {
        if (!this.#ports.cache || this.#isReadOnly)
            return;
        const saving = this.#save({ kind: "nothing sent" }, sent, () => { });
        await untilSettled(saving, this.#ports);
    }
    /**
     * Waits until everything is saved, but only for a short time.
     *
     * @param saveEnd - saves the end for the session. Default: nothing
     */
    async finish(saveEnd) {
        const { onFailure } = this.#ports;
        const complete = async () => {
            const isJobSaved = await this.#job;
            await saveEnd?.().catch((error) => onFailure(error, false));
            // If no entry names the job, a later attempt has to find that something was sent.
            if (!isJobSaved)
                await Promise.all([this.#announced, this.#doubted]);
        };
        const late = await untilSettled(complete(), this.#ports);
        if (late)
            onFailure(late, false);
    }
    get #isAnnounced() {
        return this.#fates.some(({ word, fate }) => word.kind === "about to send" && fate === "saved");
    }
    async #saveIfPossible(...save) {
        return this.#ports.cache ? this.#save(...save) : false;
    }
    /** Returns whether the word is saved, and reports why it is not. */
    async #save(word, sent, onFailure) {
        const entry = { word, fate: "unknown" };
        this.#fates.push(entry);
        try {
            await this.#ports.cache?.save(word, { sent, ...this.#ports.facts() });
            entry.fate = "saved";
            return true;
        }
        catch (error) {
            if (error instanceof _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__/* .CacheReadOnlyError */ .pj) {
                this.#isReadOnly = true;
                entry.fate = "refused";
            }
            onFailure(error);
            return false;
        }
    }
}
/** Waits for saves, but only for a short time. Returns why it no longer waits; `undefined` if they are settled. */
async function untilSettled(saves, { clock, signal }) {
    const settled = new AbortController();
    void saves.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    // A job that is forgotten because the step is cancelled would be started twice.
    if (signal.aborted)
        await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (settled.signal.aborted)
        return undefined;
    const cancelled = "the step was cancelled before the cache service had confirmed it";
    return new Error(signal.aborted ? cancelled : "the cache service did not respond in time");
}
/** Returns a function that only acts on its first call. */
function once(act) {
    let isDone = false;
    return (error) => {
        if (!isDone)
            act(error);
        isDone = true;
    };
}
/** Returns the prefix of the key that says that an attempt had invalid inputs, which it could not be told apart by. */
function invalidInputsPrefix(matrixLeg, environment, attempt) {
    const { GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
    return `agent-job-inputs-${(0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([GITHUB_RUN_ID, GITHUB_JOB, GITHUB_ACTION, matrixLeg]))}-${attempt}-`;
}
/**
 * Remembers that this attempt sent nothing, because its inputs were invalid: a missing secret is added, and the run is
 * re-run. Never rejects; without the entry, the re-run asks GitHub.
 */
async function rememberInvalidInputs(matrixLeg, ports) {
    const { environment, connectCache, signal } = ports;
    if ((0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__/* .cacheAccess */ .nU)(environment) !== "write" || signal.aborted)
        return;
    const key = `${invalidInputsPrefix(matrixLeg, environment, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment))}1`;
    const save = async () => (await connectCache()).save(key, JSON.stringify({ version: 1 }));
    await untilSettled(save().catch(() => { }), ports);
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
/** Returns the protocol of the cache service, by the rules of `@actions/cache`. */
function cacheProtocol(environment) {
    const isV2 = environment.ACTIONS_CACHE_SERVICE_V2 && !isEnterpriseServer(environment.GITHUB_SERVER_URL);
    return isV2 ? "v2" : "v1";
}
function isOffered(environment) {
    const { ACTIONS_RESULTS_URL, ACTIONS_RUNTIME_TOKEN, ACTIONS_CACHE_URL } = environment;
    // act offers v1 without a token.
    return Boolean(cacheProtocol(environment) === "v2" ? ACTIONS_RESULTS_URL && ACTIONS_RUNTIME_TOKEN : ACTIONS_CACHE_URL);
}
function isEnterpriseServer(serverUrl) {
    const hostname = URL.parse(serverUrl || "https://github.com")?.hostname ?? "";
    return hostname !== "github.com" && !hostname.endsWith(".ghe.com") && !hostname.endsWith(".localhost");
}


/***/ })

};
