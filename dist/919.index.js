export const id = 919;
export const ids = [919];
export const modules = {

/***/ 9919:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   readStepRecord: () => (/* binding */ readStepRecord)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8395);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9863);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(767);



/** For all requests together, in milliseconds. */
const totalMs = 30_000;
const step = zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({
    number: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .int */ .Whr(),
    name: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP(),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP(),
    conclusion: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP()),
    started_at: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP()),
});
const job = zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({
    name: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP(),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP(),
    conclusion: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP()),
    runner_name: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP()),
    steps: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .array */ .YOg(step)),
});
const jobList = zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({ total_count: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .int */ .Whr(), jobs: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .array */ .YOg(job) });
/**
 * Asks GitHub whether attempts without a word began this step, matched by job name, number and step name. Needs `actions: read`, or a
 * public repository. Never rejects. GitHub: "List jobs for a workflow run attempt".
 */
async function readStepRecord(attempts, run) {
    const { environment } = run.ports;
    let isKnown = true;
    try {
        const list = await jobLister(run);
        const own = findOwnStep(await list((0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_1__/* .runAttempt */ .Tm)(environment)), environment.RUNNER_NAME ?? "");
        if (!own)
            return "unknown";
        for (const attempt of attempts) {
            const [earlier, ...others] = (await list(attempt)).filter(({ name }) => name === own.job.name);
            const hasRun = earlier && others.length === 0 ? hasBegun(earlier, own.step) : undefined;
            if (hasRun)
                return { ran: attempt };
            isKnown &&= hasRun !== undefined;
        }
        return isKnown ? "not started" : "unknown";
    }
    catch (error) {
        run.log.debugError(error);
        return "unknown";
    }
}
async function jobLister(run) {
    const { GITHUB_REPOSITORY: name = "", GITHUB_RUN_ID: runId = "" } = run.ports.environment;
    const { workflowToken } = run.settings;
    if (workflowToken === "" || name === "" || runId === "")
        throw new Error("GitHub cannot be asked");
    const repository = await (0,_run_js__WEBPACK_IMPORTED_MODULE_0__/* .connectRepository */ .JC)(run, { totalMs }, workflowToken);
    const path = "actions/runs/{run_id}/attempts/{attempt_number}/jobs";
    return async (attempt) => {
        const jobs = [];
        for (let page = 1;; page++) {
            const parameters = { run_id: runId, attempt_number: attempt, per_page: 100, page };
            const { total_count: count, jobs: listed } = await repository.get(path, jobList, parameters);
            jobs.push(...listed);
            if (listed.length === 0 || jobs.length >= count)
                return jobs;
        }
    };
}
/** Returns this runner's job and running step; `undefined` unless there is exactly one of each. */
function findOwnStep(jobs, runnerName) {
    const own = jobs.filter((each) => runnerName !== "" && each.runner_name === runnerName && each.status === "in_progress");
    const [found] = own;
    if (!found || own.length > 1)
        return undefined;
    const running = (found.steps ?? []).filter(({ status }) => status === "in_progress");
    const [only] = running;
    return only && running.length === 1 ? { job: found, step: only } : undefined;
}
/** Returns whether a job began a step; `undefined` if its record does not tell. */
function hasBegun({ status, conclusion, steps = [] }, { number, name }) {
    if (status !== "completed")
        return undefined;
    if (conclusion === "skipped")
        return false;
    // A job that ended before it had a runner has no steps.
    if (steps.length === 0)
        return conclusion === "cancelled" ? false : undefined;
    const same = steps.find((each) => each.number === number && each.name === name);
    if (!same)
        return undefined;
    return !(same.conclusion === "skipped" || !same.started_at);
}


/***/ })

};
