export const id = 930;
export const ids = [930,560,136,279];
export const modules = {

/***/ 7216:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   B: () => (/* binding */ addSection)
/* harmony export */ });
/** Marks the place of the changes in a prompt. */
const placeholder = /\{\{\s*changes\s*\}\}/g;
/**
 * Puts a section at the prompt's `{{ changes }}`, or at its end. An empty section leaves nothing there; without a section,
 * the prompt stays as it is.
 */
function addSection(prompt, section) {
    if (section === undefined)
        return prompt;
    if (prompt.search(placeholder) !== -1)
        return prompt.replace(placeholder, () => section);
    return section === "" ? prompt : `${prompt}\n\n${section}`;
}


/***/ }),

/***/ 2191:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   V: () => (/* binding */ findAnnouncement),
/* harmony export */   Z: () => (/* binding */ findEarlierTurn)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _client_retry_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1992);
/* harmony import */ var _client_submit_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9099);
/* harmony import */ var _connect_service_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4501);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(618);





/** How long a service that does not respond is asked again, in milliseconds. */
const askLimitMs = 20_000;
/**
 * Asks the service what the earlier attempts of the step sent: the newest turn with the prompt of this attempt, otherwise the
 * only one. Never rejects.
 */
async function findEarlierTurn(run, prompt) {
    const announcement = await findAnnouncement(run);
    if (run.ports.signal.aborted)
        return { kind: "undecided", result: _result_js__WEBPACK_IMPORTED_MODULE_4__/* .cancelledBeforeSending */ .xX };
    if (!announcement)
        return { kind: "unannounced" };
    const { turns } = announcement;
    const [newest] = turns;
    if (!newest)
        return { kind: "none" };
    const isOnly = turns.length === 1;
    if (prompt.known === undefined && isOnly)
        return { kind: "turn", turn: newest, hasOtherPrompt: false };
    const written = prompt.known === undefined ? await prompt.write() : { prompt: prompt.known };
    if ("kind" in written)
        return { kind: "undecided", result: written };
    const same = run.key.find(written.prompt, turns);
    if (same)
        return { kind: "turn", turn: same, hasOtherPrompt: false };
    if (isOnly)
        return { kind: "turn", turn: newest, hasOtherPrompt: true };
    const jobIds = [...new Set(turns.map(({ jobId }) => jobId))];
    return { kind: "undecided", result: { kind: "blocked", cause: "several-turns", jobIds } };
}
/**
 * Asks the service what was sent under the step, and what it offers; `undefined` if it announces nothing. Asks until it answers,
 * but only for a short time. Never rejects because of the service.
 */
async function findAnnouncement(run) {
    const { state, settings, ports } = run;
    const { clock, random, signal } = ports;
    if (!(0,_connect_service_js__WEBPACK_IMPORTED_MODULE_3__/* .canBeAsked */ .u)(run))
        return undefined;
    state.startedAt ??= clock.now();
    const limits = { deadline: state.startedAt + settings.timeoutMs, signal };
    const latest = Math.min(limits.deadline, clock.now() + askLimitMs);
    try {
        const client = (0,_connect_service_js__WEBPACK_IMPORTED_MODULE_3__/* .connectService */ .U)(run);
        for (let attempt = 0;; attempt++) {
            try {
                const announcement = await client.lookUpStep(run.key.of(""), limits);
                if (announcement)
                    state.features = announcement.features;
                return announcement;
            }
            catch (error) {
                if (!(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .isRequestError */ .eK)(error) || !(0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .isTransientPollFailure */ .KR)(error) || signal.aborted)
                    throw error;
                const delayMs = Math.max(500, (0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .backoffMs */ .jo)(attempt, random()), (0,_client_submit_js__WEBPACK_IMPORTED_MODULE_2__/* .retryAfterMs */ .Vs)(error));
                if (clock.now() + delayMs >= latest)
                    throw error;
                await clock.sleep(delayMs, signal);
            }
        }
    }
    catch (error) {
        // A proxy setting that cannot be used is reported by the request that needs it.
        if (!(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .isRequestError */ .eK)(error))
            throw error;
        return undefined;
    }
}


/***/ }),

/***/ 5878:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   U: () => (/* binding */ isStillGone),
/* harmony export */   p: () => (/* binding */ findJob)
/* harmony export */ });
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(618);
/* harmony import */ var _run_job_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6863);
/* harmony import */ var _run_state_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7742);



/** A job that the service does not find is looked for again after this time, in milliseconds. */
const secondLookMs = 3000;
/**
 * Reads a job once. It is gone only if the service itself says so twice: a single `404` may come from a service that is just
 * being restarted. Never rejects.
 */
async function findJob(jobId, run) {
    const result = await (0,_run_job_js__WEBPACK_IMPORTED_MODULE_1__/* .readJob */ .c)(jobId, run);
    if (!(0,_result_js__WEBPACK_IMPORTED_MODULE_0__/* .isJobNotFound */ .tl)(result, run.state))
        return result;
    run.state.forgetJob();
    return lookAgain(jobId, run);
}
/** Returns whether a job is still not found some seconds after a request for it was answered with `404`. Never rejects. */
async function isStillGone(jobId, run) {
    const state = new _run_state_js__WEBPACK_IMPORTED_MODULE_2__/* .RunState */ .l();
    state.startedAt = run.state.startedAt;
    return (await lookAgain(jobId, { ...run, state })) === "gone";
}
async function lookAgain(jobId, run) {
    const { clock, signal } = run.ports;
    await clock.sleep(secondLookMs, signal);
    const result = await (0,_run_job_js__WEBPACK_IMPORTED_MODULE_1__/* .readJob */ .c)(jobId, run);
    return (0,_result_js__WEBPACK_IMPORTED_MODULE_0__/* .isJobNotFound */ .tl)(result, run.state) ? "gone" : result;
}


/***/ }),

/***/ 6848:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   UW: () => (/* binding */ writePrompt),
/* harmony export */   iM: () => (/* binding */ runFirstFound),
/* harmony export */   kI: () => (/* binding */ findStart),
/* harmony export */   s$: () => (/* binding */ planTasks)
/* harmony export */ });
/* harmony import */ var _find_job_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5878);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(618);


/**
 * Writes the prompt with a section on what changed, or returns why nothing may be sent.
 *
 * @param addSection - puts the section into the prompt. It is `undefined` without `changes`, and empty if there is nothing
 *   to compare
 */
async function writePrompt(addSection, run, remembered = { lastCommit: undefined, firstBase: undefined, ownPullRequests: [] }) {
    const { changes } = run.settings;
    let section;
    if (changes) {
        // Loaded here, because most steps do not ask for changes.
        const { findSection } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(125), __webpack_require__.e(537)]).then(__webpack_require__.bind(__webpack_require__, 9537));
        const found = await findSection(changes, remembered, run);
        if ("kind" in found)
            return found;
        section = found.section;
    }
    const prompt = addSection(section);
    return prompt.trim() === "" ? { kind: "blocked", cause: "prompt" } : { prompt };
}
/** Finds the branch that a new job starts from, if the workflow names one; a result if nothing may be sent. */
async function findStart(run) {
    if (run.settings.base === "")
        return { base: undefined };
    // Loaded here, because few steps have a base.
    const { findBase } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(863)]).then(__webpack_require__.bind(__webpack_require__, 4863));
    return findBase(run);
}
/**
 * Plans what to send: a follow-up to a job, if there is one to continue, or a create. Each task applies only if the job of
 * the one before it is gone.
 */
function planTasks(prompt, continued, { replaces, base } = {}) {
    const create = { kind: "create", prompt, base, replaces };
    if (continued === undefined)
        return [{ task: create }];
    const { jobId, isReplaceable = false, isDoubtful = false, pullRequest: leaves } = continued;
    const message = { kind: "message", jobId, prompt, replaces };
    return isReplaceable ? [{ task: message, isDoubtful, leaves }, { task: create }] : [{ task: message }];
}
/**
 * Runs the tasks of a plan in order, until the job of one is found.
 *
 * @param runTask - never rejects
 * @param onReplaced - called before the next task takes the place of one
 * @returns the last task that was run, and its result
 */
async function runFirstFound(plan, run, runTask, onReplaced = () => { }) {
    for (const [index, planned] of plan.entries()) {
        const { task } = planned;
        let result = await runTask(task);
        const next = plan[index + 1]?.task;
        if (next === undefined || task.kind === "create")
            return { task, result };
        let reason = replacementOf(planned, result, run.state);
        if (reason === "not found" && !(await (0,_find_job_js__WEBPACK_IMPORTED_MODULE_0__/* .isStillGone */ .U)(task.jobId, run))) {
            // It was not found by mistake, so that nothing was sent to it.
            result = run.ports.signal.aborted ? _result_js__WEBPACK_IMPORTED_MODULE_1__/* .cancelledBeforeSending */ .xX : await runTask(task);
            reason = undefined;
        }
        if (reason === undefined)
            return { task, result };
        onReplaced(task, next, reason, planned.leaves);
        run.state.forgetJob();
    }
    throw new Error("no task to run");
}
function replacementOf({ task, isDoubtful = false }, result, state) {
    if ((0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isJobNotFound */ .tl)(result, state))
        return "not found";
    return isDoubtful && task.kind === "message" && (0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isRejected */ .TK)(result) ? "rejected" : undefined;
}


/***/ }),

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


/***/ }),

/***/ 930:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  runWithMemory: () => (/* binding */ runWithMemory)
});

// EXTERNAL MODULE: ./build/runner-kit/cache.js
var runner_kit_cache = __webpack_require__(2012);
// EXTERNAL MODULE: ./build/action/changes/add-section.js
var add_section = __webpack_require__(7216);
// EXTERNAL MODULE: ./build/action/plan.js
var action_plan = __webpack_require__(6848);
// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
// EXTERNAL MODULE: ./build/action/run-job.js + 4 modules
var run_job = __webpack_require__(6863);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var runner_environment = __webpack_require__(767);
// EXTERNAL MODULE: ./build/action/stop-turn.js
var stop_turn = __webpack_require__(6499);
// EXTERNAL MODULE: ./build/action/refresh/attempt-memory.js
var attempt_memory = __webpack_require__(2136);
;// CONCATENATED MODULE: ./build/action/refresh/background-saves.js

/** How long a request waits for the entry that says that it is about to be sent, in milliseconds. */
const maxHoldMs = 3000;
/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled, in milliseconds: soon after that, the runner kills it. */
const maxWaitAfterCancelMs = 2000;
/** Saves what a run sends while it waits for the job, so that the step waits for the cache only at its start and end. */
class BackgroundSaves {
    #ports;
    #announced;
    #doubted;
    #isAnnounced = false;
    #isReadOnly = false;
    #job;
    #isJobSaved = false;
    constructor(ports) {
        this.#ports = ports;
    }
    #fail = (error) => this.#ports.onFailure(error, false);
    /** Whether a later attempt will find the job of this one. */
    get isRemembered() {
        return this.#isJobSaved && this.#ports.attempts !== undefined;
    }
    /** Whether a later attempt will find at least that this one was about to send something. */
    get isAnnounced() {
        return this.#isAnnounced;
    }
    /** Whether the cache service has refused to save anything in this run. */
    get isReadOnly() {
        return this.#isReadOnly;
    }
    /**
     * Says that a request is about to be sent, so that a runner that is lost at any moment leaves a trace. Waits until that is
     * saved, but only for a short time.
     */
    async announce(sent) {
        const { clock, signal, attempts, base, onFailure } = this.#ports;
        if (!attempts || this.#announced)
            return;
        const fail = once((error) => {
            this.#isReadOnly = error instanceof runner_kit_cache/* CacheReadOnlyError */.pj;
            onFailure(error, true);
        });
        this.#announced = watch(attempts.save("pending", { sent, base: base() }), fail);
        const settled = new AbortController();
        void this.#announced.then((isSaved) => {
            if (isSaved)
                this.#isAnnounced = true;
            settled.abort();
        });
        await clock.sleep(maxHoldMs, AbortSignal.any([settled.signal, signal]));
        if (!settled.signal.aborted && !signal.aborted)
            fail(new Error("the cache service did not respond in time"));
    }
    /** Begins to save a job. */
    begin(sent, jobId) {
        const { attempts, session, base } = this.#ports;
        const start = { jobId, sent, isResumed: false, pullRequest: undefined, end: undefined, base: base() };
        const saves = [attempts?.save("job", { sent, jobId, base: base() }), session?.save(start)];
        this.#job = watch(Promise.all(saves), this.#fail);
        void this.#job.then((isSaved) => {
            this.#isJobSaved = isSaved;
        });
    }
    /**
     * Begins to save that it is unknown whether the service accepted a request, unless an entry says so already, or one that
     * says so or names the job is being saved. Once that has failed, it can be tried again.
     */
    doubt(sent) {
        const { attempts, base } = this.#ports;
        if (!attempts || this.#isAnnounced || this.#doubted || this.#job)
            return;
        this.#doubted = watch(attempts.save("pending", { sent, base: base() }), this.#fail);
        void this.#doubted.then((isSaved) => {
            if (isSaved)
                this.#isAnnounced = true;
            else
                this.#doubted = undefined;
        });
    }
    /** Says that nothing was started, and waits until that is saved, but only for a short time. */
    async withdraw(sent) {
        const { attempts, base } = this.#ports;
        if (!attempts || this.#isReadOnly)
            return;
        await this.#untilSettled(watch(attempts.save("not-sent", { sent, base: base() }), () => { }), () => { });
    }
    /**
     * Waits until everything is saved, but only for a short time.
     *
     * @param end - what the session remembers of the end. Default: nothing
     */
    async finish(end) {
        await this.#untilSettled(this.#complete(end), this.#fail);
    }
    async #complete(end) {
        const { session } = this.#ports;
        const isJobSaved = await this.#job;
        if (session && end)
            await watch(session.save(end), this.#fail);
        // If no entry names the job, a later attempt has to find that something was sent.
        if (!isJobSaved)
            await Promise.all([this.#announced, this.#doubted]);
    }
    async #untilSettled(all, onLate) {
        const { clock, signal } = this.#ports;
        const settled = new AbortController();
        void all.then(() => settled.abort());
        const end = clock.now() + maxWaitMs;
        await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
        // A job that is forgotten because the step is cancelled would be started twice.
        if (signal.aborted)
            await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
        if (settled.signal.aborted)
            return;
        const reason = signal.aborted
            ? "the step was cancelled before the cache service had confirmed it"
            : "the cache service did not respond in time";
        onLate(new Error(reason));
    }
}
/** Returns whether a save succeeds, and reports why it does not. */
function watch(saving, onFailure) {
    return saving.then(() => true, (error) => {
        onFailure(error);
        return false;
    });
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

// EXTERNAL MODULE: ./build/action/earlier-turn.js
var earlier_turn = __webpack_require__(2191);
;// CONCATENATED MODULE: ./build/action/refresh/until-aborted.js
/** Waits for a promise, or until the signal aborts: then returns `undefined` and ignores the promise. */
async function untilAborted(promise, signal) {
    if (signal.aborted)
        return undefined;
    let onAbort = () => { };
    const aborted = new Promise((resolve) => {
        onAbort = () => resolve(undefined);
        signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
        return await Promise.race([promise, aborted]);
    }
    finally {
        signal.removeEventListener("abort", onAbort);
    }
}

;// CONCATENATED MODULE: ./build/action/refresh/find-earlier.js






/**
 * Finds what the earlier attempts of the step started: the service is asked first, then the cache, then GitHub's record of the
 * attempts. Never rejects.
 */
async function findEarlier(task, memory, run) {
    const { log, settings, ports } = run;
    const attempt = (0,runner_environment/* runAttempt */.Tm)(ports.environment);
    let found;
    // Read at most once: the prompt and the decision are then made from the same answer.
    const readTrace = () => {
        found ??= findTrace(memory, ports.environment);
        return untilAborted(found, ports.signal);
    };
    const asked = await (0,earlier_turn/* findEarlierTurn */.Z)(run, {
        known: settings.changes ? undefined : task.prompt,
        write: async () => {
            const trace = await readTrace();
            if (!trace)
                return action_result/* cancelledBeforeSending */.xX;
            const remembered = { lastCommit: undefined, firstBase: baseOf(trace), ownPullRequests: [] };
            return (0,action_plan/* writePrompt */.UW)((section) => (0,add_section/* addSection */.B)(task.prompt, section), run, remembered);
        },
    });
    if (asked.kind === "undecided")
        return asked;
    const trace = await readTrace();
    if (!trace)
        return { kind: "undecided", result: action_result/* cancelledBeforeSending */.xX };
    const base = baseOf(trace);
    if (asked.kind === "turn") {
        const { jobId, turnId, status } = asked.turn;
        if (status === "failed" || status === "stopped") {
            log.rerun({ kind: "starting-over", jobId, reason: status });
            return { kind: "none", replaces: turnId, base };
        }
        log.rerun({ kind: "resuming-turn", jobId, attempt, hasOtherPrompt: asked.hasOtherPrompt });
        return { kind: "found", task: { kind: "attach", jobId, resumes: "message", turnId }, base };
    }
    if (trace.kind === "job") {
        log.rerun({ kind: "resuming", jobId: trace.jobId, attempt, earlierAttempt: trace.attempt });
        return { kind: "found", task: { kind: "attach", jobId: trace.jobId, resumes: trace.sent }, base };
    }
    // The service says that nothing was sent, which resolves a doubt, also about another prompt.
    const isResolved = asked.kind === "none" && !("jobId" in trace && trace.jobId !== undefined);
    if (trace.kind === "other-prompt" && !isResolved)
        return undecided(trace);
    const ofSession = await findInSession(memory.session, trace, run);
    if (ofSession)
        return { kind: "found", task: ofSession, base };
    if (asked.kind === "none")
        return { kind: "none", base };
    if (trace.kind !== "none")
        return undecided(trace);
    // Loaded here, because few re-runs find no trace of the attempts before them.
    const { checkRecord } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(35)]).then(__webpack_require__.bind(__webpack_require__, 9035));
    const checked = await checkRecord(trace.silent, run);
    return checked.kind === "undecided" ? checked : { kind: "none", base, unproven: checked.unproven };
}
/** Reads the traces of the earlier attempts in the cache; without one, they left nothing. */
async function findTrace({ attempts }, environment) {
    if (attempts)
        return attempts.find();
    return { kind: "none", silent: (0,runner_environment/* earlierAttempts */.TH)(environment).reverse(), base: undefined };
}
function baseOf(trace) {
    return "base" in trace ? trace.base : undefined;
}
/** Returns the job that an earlier attempt of this step saved for the session, before it was killed. */
async function findInSession(session, trace, run) {
    const found = session && (await untilAborted(session.find(), run.ports.signal));
    const entry = found && "entry" in found ? found.entry : undefined;
    if (!entry || !session?.isOwn(entry))
        return undefined;
    const attempt = (0,runner_environment/* runAttempt */.Tm)(run.ports.environment);
    // An attempt after the one that saved the entry may have sent another request.
    if ((entry.attempt ?? 0) < latestUnknown(trace, attempt))
        return undefined;
    run.log.rerun({ kind: "resuming", jobId: entry.jobId, attempt, earlierAttempt: undefined });
    return { kind: "attach", jobId: entry.jobId, resumes: entry.kind };
}
/** Returns the newest of the earlier attempts that may have sent something which the trace does not name. */
function latestUnknown(trace, attempt) {
    switch (trace.kind) {
        case "none":
            return trace.silent[0] ?? 0;
        case "pending":
        case "other-prompt":
            return trace.attempt;
        case "unreadable":
            return attempt - 1;
    }
}
function undecided(trace) {
    switch (trace.kind) {
        case "pending":
            return { kind: "undecided", result: { kind: "blocked", cause: "pending" } };
        case "other-prompt": {
            const { jobId, attempt } = trace;
            return { kind: "undecided", result: { kind: "blocked", cause: "other-prompt", jobId, attempt } };
        }
        case "unreadable":
            return { kind: "undecided", result: { kind: "blocked", cause: "memory", detail: trace.detail } };
    }
}

// EXTERNAL MODULE: ./build/action/find-job.js
var find_job = __webpack_require__(5878);
;// CONCATENATED MODULE: ./build/action/refresh/resume.js



/**
 * Waits for the job of an earlier attempt. Returns `undefined` if that had already failed, is archived or is gone, so that
 * the request is sent again. After a message the first record may show the state from before it, so only a wait can tell.
 */
async function resume(task, run) {
    const { settings, state, log } = run;
    const look = () => (0,run_job/* runJob */.b)(task, run, { wait: settings.wait && task.resumes === "message" });
    let result = await look();
    const startOver = (reason) => {
        log.rerun({ kind: "starting-over", jobId: task.jobId, reason });
        return undefined;
    };
    if ((0,action_result/* isJobNotFound */.tl)(result, state)) {
        if (await (0,find_job/* isStillGone */.U)(task.jobId, run))
            return startOver("not found");
        // It was not found by mistake.
        result = await look();
    }
    // A turn that failed before this attempt is not waited for, so this one failed just now.
    const hasChanged = state.timeline.length > 1 || task.turnId !== undefined;
    if (result.kind === "done" && result.status === "failed" && !hasChanged)
        return startOver(result.status);
    if (result.kind === "done" && state.status === "archived" && state.timeline.length === 1)
        return startOver("archived");
    return result.kind === "started" && settings.wait ? (0,run_job/* runJob */.b)(task, run) : result;
}

;// CONCATENATED MODULE: ./build/action/refresh/session.js





/** After this many turns in a row that failed, the session leaves the job and its pull request. */
const maxFailures = 2;
/**
 * Plans what a step of a session sends: a follow-up to the session's job while that is active or its pull request is open,
 * otherwise a create. Returns a result if nothing may be sent. Never rejects.
 *
 * @param earlier - what earlier attempts of this workflow run compared and started
 */
async function planSession(session, task, { base, replaces }, run) {
    const found = await untilAborted(session.find(), run.ports.signal);
    if (!found)
        return action_result/* cancelledBeforeSending */.xX;
    if ("error" in found)
        return { kind: "blocked", cause: "session", detail: found.error };
    const { entry } = found;
    // The job's record names its pull request, which does not count as a change, and says how its last turn ended.
    const job = entry && (await readSessionJob(entry, run));
    if (job && "kind" in job)
        return job;
    const progress = job && session.progressOf(entry, job.status);
    const number = session.numberOf(job?.pullRequest);
    const written = await (0,action_plan/* writePrompt */.UW)((section) => (0,add_section/* addSection */.B)(task.prompt, section), run, {
        lastCommit: progress?.commit,
        firstBase: base,
        ownPullRequests: [...new Set([...(entry?.pullRequests ?? []), ...(number === undefined ? [] : [number])])],
    });
    if ("kind" in written)
        return written;
    const continuation = job && progress ? await continuationOf(entry.jobId, job, progress, run) : undefined;
    if (!job)
        say({ kind: "first-job" }, run);
    return (0,action_plan/* planTasks */.s$)(written.prompt, continuation, { replaces, base: session.base });
}
async function readSessionJob({ jobId }, run) {
    const { state } = run;
    const result = await (0,find_job/* findJob */.p)(jobId, run);
    const { pullRequest } = state;
    if (result !== "gone" && result.kind !== "done" && result.kind !== "started")
        return result;
    state.forgetJob();
    if (result === "gone")
        return { status: "not found", pullRequest: undefined };
    return { status: result.kind === "done" ? result.status : "active", pullRequest };
}
/** Returns how to continue a job; `undefined` if the session leaves it. */
async function continuationOf(jobId, { status, pullRequest }, { failures }, run) {
    if (status === "active") {
        say({ kind: "job-active", jobId }, run);
        return { jobId, isReplaceable: true };
    }
    if (status === "archived" || status === "not found" || !pullRequest) {
        const reason = status === "completed" ? "no pull request" : status;
        say({ kind: "job-over", jobId, reason }, run);
        return undefined;
    }
    // Loaded here, because few runs of a session find a job that has ended.
    const { readPullRequestState } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(56)]).then(__webpack_require__.bind(__webpack_require__, 1056));
    const state = await readPullRequestState(pullRequest, run);
    const isOver = state === "merged" || state === "closed";
    if (status === "failed" && failures >= maxFailures && !isOver) {
        say({ kind: "failed-again", jobId, pullRequest, failures }, run);
        return undefined;
    }
    say({ kind: "pull-request", jobId, pullRequest, state }, run);
    return isOver ? undefined : { jobId, isReplaceable: true, isDoubtful: status === "failed", pullRequest };
}
function say(event, { log, settings }) {
    log.session(event, settings.session);
}

// EXTERNAL MODULE: ./build/action/refresh/session-memory.js
var session_memory = __webpack_require__(5279);
;// CONCATENATED MODULE: ./build/action/refresh/run-with-memory.js













/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job that an earlier attempt
 * started. It sends the request again only if that job failed, was archived or is gone, which is what a re-run asks for.
 */
async function runWithMemory(task, run) {
    const { state, log, settings, ports } = run;
    const start = await (0,action_plan/* findStart */.kI)(run);
    if ("kind" in start)
        return { result: start };
    const memory = await openMemory(task, run, start.base);
    const isWritable = (0,runner_kit_cache/* cacheAccess */.nU)(ports.environment) === "write";
    let firstBase;
    const base = () => firstBase ?? state.changes?.base;
    const onFailure = (error, isInTime) => log.rerun({ kind: "not-saved", error, isInTime });
    const writable = isWritable ? memory : { attempts: undefined, session: undefined };
    const saves = new BackgroundSaves({ ...ports, ...writable, base, onFailure });
    const isRerun = (0,runner_environment/* runAttempt */.Tm)(ports.environment) > 1 && settings.onRerun === "resume";
    let earlier = isRerun ? await findEarlier(task, memory, run) : { kind: "none" };
    if (earlier.kind === "undecided") {
        await saves.withdraw(task.kind);
        return { result: earlier.result, rerun: "stops" };
    }
    if (earlier.kind === "found") {
        const resumed = earlier.task;
        const result = await resume(resumed, run);
        firstBase = earlier.base;
        if (result) {
            // The earlier attempt may have been killed before it saved the job for the session.
            const update = updateOf(result, resumed.resumes ?? "create", run, base());
            await saves.finish(update && { ...update, isResumed: true });
            return { result, task: resumed, rerun: "resumes" };
        }
        state.forgetJob();
        const { turnId } = resumed;
        earlier = { kind: "none", base: earlier.base, ...(turnId !== undefined && { replaces: turnId }) };
    }
    firstBase = earlier.base;
    if (!isWritable)
        sayWhatIsForgotten(run);
    else if (settings.session !== "" && (0,runner_environment/* isOnTag */.KI)(ports.environment))
        log.sessionOnTag();
    const plan = memory.session
        ? await planSession(memory.session, task, earlier, run)
        : await planAlone(task, earlier, start.base, run);
    if (!Array.isArray(plan)) {
        await saves.withdraw(task.kind);
        return { result: plan };
    }
    return runAndRemember(plan, saves, run, { base, unproven: earlier.unproven });
}
async function openMemory(task, run, base) {
    const { onRerun, session } = run.settings;
    if (!(0,runner_kit_cache/* hasCacheService */.G9)(run.ports.environment))
        return { attempts: undefined, session: undefined };
    const cache = await run.ports.connectCache();
    return {
        attempts: onRerun === "resume" ? new attempt_memory.AttemptMemory(cache, task, run) : undefined,
        session: session === "" ? undefined : new session_memory.SessionMemory(cache, run, base),
    };
}
/** Plans what a step without a session sends. */
async function planAlone(task, { base: firstBase, replaces }, base, run) {
    const remembered = { lastCommit: undefined, firstBase, ownPullRequests: [] };
    const written = await (0,action_plan/* writePrompt */.UW)((section) => (0,add_section/* addSection */.B)(task.prompt, section), run, remembered);
    if ("kind" in written)
        return written;
    return (0,action_plan/* planTasks */.s$)(written.prompt, task.kind === "message" ? { jobId: task.jobId } : undefined, { replaces, base });
}
/** Runs a plan, and saves what it is about to send, and what it has sent while the job runs. */
async function runAndRemember(plan, saves, run, { base, unproven }) {
    const { state, log, ports } = run;
    let hasJob = false;
    const { task, result: ended } = await (0,action_plan/* runFirstFound */.iM)(plan, run, async (each) => {
        // A service that can be asked knows what it was sent.
        if (state.features === undefined)
            await saves.announce(each.kind);
        // The earlier attempt could not leave a trace either.
        if (saves.isReadOnly && unproven !== undefined)
            return { kind: "blocked", cause: "unknown", attempt: unproven };
        const onAbort = () => saves.doubt(each.kind);
        ports.signal.addEventListener("abort", onAbort, { once: true });
        const onJobId = (jobId) => {
            hasJob = true;
            saves.begin(each.kind, jobId);
        };
        return (0,run_job/* runJob */.b)(each, run, { onJobId }).finally(() => ports.signal.removeEventListener("abort", onAbort));
    }, (each, _next, reason, leaves) => {
        if (each.kind !== "message")
            return;
        const { jobId } = each;
        log.rerun({ kind: "starting-over", jobId, reason });
        if (reason === "rejected" && leaves) {
            log.session({ kind: "rejected", jobId, pullRequest: leaves }, run.settings.session);
        }
    });
    if ((0,action_result/* acceptanceOf */.BL)(ended) === "rejected" || (ended.kind === "blocked" && ended.cause === "unknown")) {
        await saves.withdraw(task.kind);
        return { result: ended, task, rerun: effectOfNothing(saves, run) };
    }
    // The job of a message in doubt is not remembered: its state would say nothing about the message.
    saves.doubt(task.kind);
    // After a signal, both have the same two seconds.
    const [result] = await Promise.all([
        (0,stop_turn/* stopOwnTurn */.m)(task, ended, run),
        saves.finish(hasJob ? updateOf(ended, task.kind, run, base()) : undefined),
    ]);
    return { result, task, rerun: rerunEffect(saves, run) };
}
/** Returns the effect on a re-run if nothing was started: one that cannot be told of that sends nothing. */
function effectOfNothing(saves, { settings, state, ports }) {
    const mayResume = settings.onRerun === "resume" && state.features === undefined;
    return mayResume && keepsNothing(saves, ports) ? "stops" : "repeats";
}
/** Returns whether the cache keeps nothing of this attempt, as the runner or a refused save has said. */
function keepsNothing(saves, { environment }) {
    return saves.isReadOnly || (0,runner_kit_cache/* isForgetful */.Te)(environment);
}
/** Returns the effect that the saved entries have on a re-run. */
function rerunEffect(saves, { settings, state, key, ports }) {
    if (settings.onRerun === "new" || !key.isLasting)
        return "repeats";
    if (state.features !== undefined || saves.isRemembered)
        return "resumes";
    if (saves.isAnnounced)
        return "stops";
    // Then GitHub's record of this attempt decides, and without that nothing is sent.
    return keepsNothing(saves, ports) ? "stops" : "repeats";
}
/** Returns the update for the session at the end; `undefined` if there is no job. */
function updateOf(result, sent, { state }, base) {
    if (state.jobId === "")
        return undefined;
    const isProven = result.kind === "done" && !state.isUnproven;
    const end = isProven ? (result.status === "completed" ? "completed" : "failed") : undefined;
    return { jobId: state.jobId, sent, isResumed: false, pullRequest: state.pullRequest, end, base };
}
/** Says what a later attempt, or the next run of the session, will not know. */
function sayWhatIsForgotten({ log, settings, state, ports }) {
    const access = (0,runner_kit_cache/* cacheAccess */.nU)(ports.environment);
    const isKnown = settings.onRerun === "new" || state.features !== undefined;
    // Without any cache, only a re-run has something to say: what it can know of the attempts before it.
    const forgetsAttempt = !isKnown && (access !== "absent" || (0,runner_environment/* runAttempt */.Tm)(ports.environment) > 1);
    log.forgets({ access, forgetsAttempt, session: settings.session });
}


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


/***/ }),

/***/ 6499:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   m: () => (/* binding */ stopOwnTurn)
/* harmony export */ });
/* harmony import */ var _connect_service_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4501);

/** How long after a signal the service is asked to stop a turn, in milliseconds: soon after that, the runner kills the step. */
const stopGraceMs = 2000;
/** Before the service is asked again whether the turn has ended, in milliseconds. */
const pauseMs = 250;
/**
 * Stops the turn that a cancelled step has sent, if the service announces that it can: never one that the step attached to,
 * and never without waiting for it. The state says what became of it. Never rejects.
 *
 * @returns the result of the run. A request that was in doubt may turn out to be accepted
 */
async function stopOwnTurn(task, result, run) {
    const { settings, state, log } = run;
    const isOwn = task.kind !== "attach" && settings.wait && settings.onCancel === "stop";
    if (!isOwn || result.kind !== "cancelled" || result.acceptance === "rejected")
        return result;
    const { clock } = run.ports;
    // The step's own signal has aborted.
    const limits = { deadline: clock.now() + stopGraceMs, signal: new AbortController().signal };
    try {
        const client = (0,_connect_service_js__WEBPACK_IMPORTED_MODULE_0__/* .connectService */ .U)(run);
        const key = run.key.of(task.prompt, task.replaces);
        const announcement = await client.lookUpStep(key, limits);
        if (!announcement)
            return result;
        state.features = announcement.features;
        const turn = announcement.turns.find((each) => each.request === key.request && isOfJob(each, state.jobId));
        if (!turn)
            return result;
        if (state.jobId === "") {
            state.jobId = turn.jobId;
            state.origin = task.kind === "create" ? "created" : "continued";
            run.publishJobId(turn.jobId);
        }
        if (!announcement.features.has("stop"))
            return { ...result, acceptance: "accepted" };
        state.stop = "asked";
        for (;;) {
            const status = await client.stopTurn(turn.jobId, turn.turnId, limits);
            if (status === "stopped")
                state.stop = "stopped";
            else if (status === "completed" || status === "failed") {
                state.stop = "ended";
                state.update((await client.getJob(turn.jobId, limits)).job, clock.now());
            }
            if (state.stop !== "asked" || clock.now() + pauseMs >= limits.deadline)
                break;
            await clock.sleep(pauseMs);
        }
        return { ...result, acceptance: "accepted" };
    }
    catch (error) {
        log.debugError(error);
        return state.stop === undefined ? result : { ...result, acceptance: "accepted" };
    }
}
function isOfJob({ jobId }, known) {
    return known === "" || jobId === known;
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
