export const id = 279;
export const ids = [279];
export const modules = {

/***/ 3831:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   S: () => (/* binding */ maxPullRequests),
/* harmony export */   U: () => (/* binding */ attemptStates)
/* harmony export */ });
/** What an attempt says about its request. A later one outranks those before it, in whatever order they arrive. */
const attemptStates = ["pending", "not-sent", "job"];
/** How many pull requests a session remembers. */
const maxPullRequests = 20;


/***/ }),

/***/ 5279:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   SessionMemory: () => (/* binding */ SessionMemory)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2012);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8039);
/* harmony import */ var _pull_request_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(8808);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);
/* harmony import */ var _entry_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(3831);






/** Remembers the last job of a session across workflow runs, in the repository's Actions cache. */
class SessionMemory {
    #cache;
    #prefix;
    /** `GITHUB_RUN_ID` and `GITHUB_RUN_ATTEMPT`. */
    #runId;
    #attempt;
    #step;
    /** `GITHUB_SHA`, or empty. */
    #commit;
    /** `GITHUB_SERVER_URL` and `GITHUB_REPOSITORY`. */
    #serverUrl;
    #repository;
    #found;
    #progress;
    #saved;
    #saves = 0;
    /** The branch that the session's jobs start from; `undefined` for the project's own. */
    base;
    constructor(cache, { settings, key, ports: { environment } }, base) {
        this.base = base;
        const { baseUrl, projectId, session } = settings;
        this.#cache = cache;
        this.#runId = environment.GITHUB_RUN_ID ?? "";
        this.#attempt = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment);
        this.#step = key.step;
        this.#commit = environment.GITHUB_SHA ?? "";
        this.#serverUrl = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .serverUrl */ .Vd)(environment);
        this.#repository = environment.GITHUB_REPOSITORY ?? "";
        this.#prefix = `agent-session-${(0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([baseUrl.href, projectId, session, ...(base === undefined ? [] : [base])]))}-`;
    }
    /** Returns the entry that earlier steps saved; `undefined` if there is none. Reads it once. Never rejects. */
    find() {
        this.#found ??= this.#read();
        return this.#found;
    }
    /** Returns whether an earlier attempt of this step saved an entry. */
    isOwn({ run, step }) {
        return this.#attempt > 1 && run === this.#runId && step === this.#step;
    }
    /**
     * Returns how far the session has come.
     *
     * @param status - of its job, which tells how the last turn ended if its run did not see that
     */
    progressOf({ commit, sent, failures }, status) {
        if (sent !== undefined && status === "completed")
            this.#progress = { commit: sent, failures: 0 };
        else
            this.#progress = { commit, failures: failures + (sent !== undefined && status === "failed" ? 1 : 0) };
        return this.#progress;
    }
    /** Returns the number of a pull request in this repository; `undefined` if it is in another one. */
    numberOf(pullRequest) {
        const place = pullRequest && (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_4__/* .locatePullRequest */ .x)(pullRequest, this.#serverUrl);
        return place && `${place.owner}/${place.repo}`.toLowerCase() === this.#repository.toLowerCase()
            ? place.number
            : undefined;
    }
    /**
     * Saves what this run has done, unless the session remembers it. An entry of a later run stays the newest: of an older run
     * that is re-run, only a job that it created takes the place of the session's last one.
     *
     * @throws if it cannot be saved
     */
    async save(update) {
        const found = await this.find();
        if ("error" in found)
            throw new Error(found.error);
        const earlier = this.#saved ?? found.entry;
        const newest = found.entry && isLaterRun(found.entry.run, this.#runId) ? found.entry : undefined;
        const entry = newest ? this.#replaceJob(newest, update) : this.#next(earlier, update);
        if (entry === undefined || JSON.stringify(entry) === JSON.stringify(earlier))
            return;
        const key = `${this.#prefix}${this.#runId}-${this.#attempt}-${++this.#saves}`;
        await this.#cache.save(key, JSON.stringify({ version: 1, ...entry }));
        this.#saved = entry;
    }
    #next(earlier, { jobId, sent: kind, pullRequest, end, base }) {
        const isSameJob = earlier?.jobId === jobId;
        const before = this.#saved ?? this.#progress ?? earlier;
        const failures = isSameJob ? (before?.failures ?? 0) : 0;
        const covered = before?.commit ?? commitOf(base);
        const own = commitOf(this.#commit);
        return {
            jobId,
            run: this.#runId,
            step: this.#step,
            attempt: this.#attempt,
            kind,
            commit: end === "completed" ? own : covered,
            sent: end === undefined ? own : undefined,
            failures: end === "completed" ? 0 : failures + (end === "failed" ? 1 : 0),
            pullRequests: this.#withNumber(earlier?.pullRequests ?? [], pullRequest),
        };
    }
    #replaceJob(newest, { jobId, sent, isResumed, pullRequest }) {
        if (sent !== "create" || isResumed || this.#saved?.jobId === jobId)
            return undefined;
        const pullRequests = this.#withNumber(newest.pullRequests, pullRequest);
        return { ...newest, jobId, failures: 0, pullRequests };
    }
    #withNumber(known, pullRequest) {
        const number = this.numberOf(pullRequest);
        return number === undefined || known.includes(number) ? known : [...known, number].slice(-_entry_js__WEBPACK_IMPORTED_MODULE_5__/* .maxPullRequests */ .S);
    }
    async #read() {
        try {
            const text = await this.#cache.restore(this.#prefix);
            if (text === undefined)
                return { entry: undefined };
            const { parseSessionEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(549)]).then(__webpack_require__.bind(__webpack_require__, 2549));
            return { entry: parseSessionEntry(text) };
        }
        catch (error) {
            // An entry that cannot be used will not become usable, so the session continues without it.
            return error instanceof _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__/* .CacheEntryError */ .Tw ? { entry: undefined } : { error: (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error) };
        }
    }
}
/** Returns whether a run began after another one: GitHub counts their ids up. */
function isLaterRun(run, other) {
    return Number(run) > Number(other);
}
/** Returns the full id of a commit; `undefined` for anything else, such as a branch. */
function commitOf(ref) {
    return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}


/***/ })

};
