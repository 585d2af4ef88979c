export const id = 136;
export const ids = [136];
export const modules = {

/***/ 2136:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   AttemptMemory: () => (/* binding */ AttemptMemory)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8039);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);
/* harmony import */ var _entry_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(3831);
/* harmony import */ var _invalid_inputs_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(1179);





/**
 * Remembers what the attempts of a step started, in the repository's Actions cache. Each state of an attempt has a key of its
 * own, because entries of a run do not arrive in the order in which they were saved.
 */
class AttemptMemory {
    #cache;
    #attempt;
    /** The prefix of the keys of all entries of the step. */
    #prefix;
    /** The part of the keys of entries with this prompt that follows the state. */
    #prompt;
    #saves = 0;
    #environment;
    #matrixLeg;
    constructor(cache, task, { settings, key, ports: { environment } }) {
        this.#cache = cache;
        this.#attempt = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment);
        this.#environment = environment;
        this.#matrixLeg = settings.matrixLeg;
        this.#prefix = `agent-job-${key.step}-`;
        this.#prompt = (0,_hash_js__WEBPACK_IMPORTED_MODULE_1__/* .hash */ .t)(JSON.stringify([task.kind, task.prompt]));
    }
    /** The beginning of the keys of this attempt's entries, for people who want to delete them. */
    get keyPrefix() {
        return this.#prefix;
    }
    /** Finds what the earlier attempts started. Never rejects. */
    async find() {
        try {
            const silent = [];
            let base;
            const isEmpty = (await this.#cache.restore(this.#prefix)) === undefined;
            for (let attempt = this.#attempt - 1; attempt >= 1; attempt--) {
                const found = isEmpty ? undefined : await this.#findOf(attempt);
                if (found && found.kind !== "not-sent")
                    return found;
                base ??= found?.base;
                if (!found && !(await this.#hadInvalidInputs(attempt)))
                    silent.push(attempt);
            }
            return { kind: "none", silent, base };
        }
        catch (error) {
            return { kind: "unreadable", detail: (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error) };
        }
    }
    /**
     * Saves the state of this attempt, for later attempts.
     *
     * @throws if it cannot be saved
     */
    async save(state, entry) {
        const text = JSON.stringify({ version: 1, attempt: this.#attempt, ...entry });
        // A key can be used only once, also by a save that failed.
        const key = `${this.#keyOf(this.#attempt, state)}${this.#prompt}-${++this.#saves}`;
        await this.#cache.save(key, text);
    }
    async #findOf(attempt) {
        const own = await Promise.all(_entry_js__WEBPACK_IMPORTED_MODULE_4__/* .attemptStates */ .U.map((state) => this.#cache.restore(this.#keyOf(attempt, state) + this.#prompt)));
        const index = own.findLastIndex((text) => text !== undefined);
        const text = own[index];
        if (text !== undefined) {
            const { jobId, sent, base } = await this.#parse(text);
            switch (_entry_js__WEBPACK_IMPORTED_MODULE_4__/* .attemptStates */ .U[index]) {
                case "job":
                    if (jobId === undefined)
                        throw new Error("the entry is not usable");
                    return { kind: "job", jobId, sent, attempt, base };
                case "not-sent":
                    return { kind: "not-sent", base };
                default:
                    return { kind: "pending", attempt, base };
            }
        }
        for (const state of ["job", "pending"]) {
            const other = await this.#cache.restore(this.#keyOf(attempt, state));
            if (other !== undefined)
                return { kind: "other-prompt", jobId: (await this.#parse(other)).jobId, attempt };
        }
        return undefined;
    }
    async #hadInvalidInputs(attempt) {
        const prefix = (0,_invalid_inputs_js__WEBPACK_IMPORTED_MODULE_2__/* .invalidInputsPrefix */ .Z)(this.#matrixLeg, this.#environment, attempt);
        return (await this.#cache.restore(prefix)) !== undefined;
    }
    async #parse(text) {
        // Loaded here, because only a re-run reads what the attempt before it saved.
        const { parseAttemptEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(549)]).then(__webpack_require__.bind(__webpack_require__, 2549));
        const entry = parseAttemptEntry(text);
        if (!entry)
            throw new Error("the entry is not usable");
        return entry;
    }
    #keyOf(attempt, state) {
        return `${this.#prefix}${attempt}-${state}-`;
    }
}


/***/ }),

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


/***/ })

};
