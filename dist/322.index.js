export const id = 322;
export const ids = [322,941];
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

/***/ 2322:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   dryRunComment: () => (/* binding */ dryRunComment),
/* harmony export */   dryRunPlain: () => (/* binding */ dryRunPlain)
/* harmony export */ });
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2012);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9563);
/* harmony import */ var _changes_add_section_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(7216);
/* harmony import */ var _plan_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6848);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(767);





/** Does everything that a step does before its request, except what asks the service or writes to GitHub. */
async function dryRunPlain(task, run) {
    if (task.kind === "attach")
        return end((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `It would wait for job ${task.jobId}.`, task, run);
    const { session: name } = run.settings;
    const { attempts, session } = await openMemory(task, run);
    const earlier = await attempts?.find();
    if (earlier?.kind === "job") {
        const plan = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `It would wait for job ${earlier.jobId}, which attempt ${earlier.attempt} of this workflow run started.`;
        return end(plan, task, run);
    }
    const found = await session?.find();
    if (found && "error" in found)
        return { result: { kind: "blocked", cause: "session", detail: found.error } };
    const entry = found?.entry;
    const written = await (0,_plan_js__WEBPACK_IMPORTED_MODULE_1__/* .writePrompt */ .UW)((section) => (0,_changes_add_section_js__WEBPACK_IMPORTED_MODULE_3__/* .addSection */ .B)(task.prompt, section), run, {
        lastCommit: entry?.commit,
        firstBase: undefined,
        ownPullRequests: entry?.pullRequests ?? [],
    });
    if ("kind" in written)
        return { result: written };
    const { prompt } = written;
    if (entry) {
        const plan = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `It would send this prompt to job ${entry.jobId}, the last of the session ${name}, while the job is active or its pull request is open. Otherwise it would create a job.`;
        return end(plan, { kind: "message", jobId: entry.jobId, prompt }, run);
    }
    return end(planOf(task), { ...task, prompt }, run);
}
/** The same for an event in a thread, whose author may ask. */
async function dryRunComment(request, jobId) {
    const { run, isNew, fillPrompt } = request;
    const written = await (0,_plan_js__WEBPACK_IMPORTED_MODULE_1__/* .writePrompt */ .UW)(fillPrompt, run);
    if ("kind" in written)
        return { result: written };
    const { prompt } = written;
    if (jobId !== "")
        return end(planOf({ kind: "message", jobId, prompt }), { kind: "message", jobId, prompt }, run);
    const plan = isNew
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `It would create a job with this prompt.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `It would send this prompt to the job that the thread remembers. If there is none, it would create a job.`;
    return end(plan, { kind: "create", prompt }, run);
}
function planOf(task) {
    return task.kind === "create"
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `It would create a job with this prompt.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `It would send this prompt to job ${task.jobId} as a follow-up.`;
}
async function openMemory(task, run) {
    const { environment, connectCache } = run.ports;
    const { onRerun, session } = run.settings;
    const isRerun = onRerun === "resume" && (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_4__/* .runAttempt */ .Tm)(environment) > 1;
    if (!(0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .hasCacheService */ .G9)(environment) || (!isRerun && session === ""))
        return {};
    const [cache, { AttemptMemory }, { SessionMemory }] = await Promise.all([
        connectCache(),
        __webpack_require__.e(/* import() */ 136).then(__webpack_require__.bind(__webpack_require__, 2136)),
        __webpack_require__.e(/* import() */ 279).then(__webpack_require__.bind(__webpack_require__, 5279)),
    ]);
    return {
        attempts: isRerun ? new AttemptMemory(cache, task, run) : undefined,
        session: session === "" ? undefined : new SessionMemory(cache, run),
    };
}
function end(plan, task, { log }) {
    const result = { kind: "skipped", reason: "dry-run", plan };
    if (task.kind !== "attach")
        log.dryRun(task.prompt);
    return { result, task };
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
