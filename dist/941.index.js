export const id = 941;
export const ids = [941];
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


/***/ })

};
