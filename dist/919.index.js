export const id = 919;
export const ids = [919];
export const modules = {

/***/ 9919:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   readStepRecord: () => (/* binding */ readStepRecord)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8395);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9863);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(767);
/* harmony import */ var _runner_github_error_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6376);




const totalMs = 30_000;
const step = zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .object */ .Ikc({
    number: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .int */ .Whr(),
    name: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .string */ .YjP(),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .string */ .YjP(),
    conclusion: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .string */ .YjP()),
    started_at: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .string */ .YjP()),
});
const job = zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .object */ .Ikc({
    name: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .string */ .YjP(),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .string */ .YjP(),
    conclusion: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .string */ .YjP()),
    runner_name: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .string */ .YjP()),
    steps: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .array */ .YOg(step)),
});
const jobList = zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .object */ .Ikc({ total_count: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .int */ .Whr(), jobs: zod_mini__WEBPACK_IMPORTED_MODULE_3__/* .array */ .YOg(job) });
async function readStepRecord(attempts, run) {
    const { githubToken, workflowToken } = run.settings;
    const [record, isRefused] = await readWith(workflowToken, attempts, run);
    const isOther = isRefused && githubToken !== workflowToken;
    return isOther ? (await readWith(githubToken, attempts, run))[0] : record;
}
async function readWith(token, attempts, run) {
    const { environment } = run.ports;
    let isKnown = true;
    try {
        const list = await jobLister(token, run);
        const own = findOwnStep(await list((0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_1__/* .runAttempt */ .Tm)(environment)), environment.RUNNER_NAME ?? "");
        if (!own)
            return ["unknown", false];
        for (const attempt of attempts) {
            const [earlier, ...others] = (await list(attempt)).filter(({ name }) => name === own.job.name);
            const hasRun = earlier && others.length === 0 ? hasBegun(earlier, own.step) : undefined;
            if (hasRun)
                return [{ ran: attempt }, false];
            isKnown &&= hasRun !== undefined;
        }
        return [isKnown ? "not started" : "unknown", false];
    }
    catch (error) {
        run.log.debugError(error);
        return ["unknown", error instanceof _runner_github_error_js__WEBPACK_IMPORTED_MODULE_2__/* .GitHubError */ .y && (error.status === 403 || error.status === 404)];
    }
}
async function jobLister(token, run) {
    const { GITHUB_REPOSITORY: name = "", GITHUB_RUN_ID: runId = "" } = run.ports.environment;
    if (token === "" || name === "" || runId === "")
        throw new Error("GitHub cannot be asked");
    const repository = await (0,_run_js__WEBPACK_IMPORTED_MODULE_0__/* .connectRepository */ .JC)(run, { totalMs }, token);
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
function findOwnStep(jobs, runnerName) {
    const own = jobs.filter((each) => runnerName !== "" && each.runner_name === runnerName && each.status === "in_progress");
    const [found] = own;
    if (!found || own.length > 1)
        return undefined;
    const running = (found.steps ?? []).filter(({ status }) => status === "in_progress");
    const [only] = running;
    return only && running.length === 1 ? { job: found, step: only } : undefined;
}
function hasBegun({ status, conclusion, steps = [] }, { number, name }) {
    if (status !== "completed")
        return undefined;
    if (conclusion === "skipped")
        return false;
    if (steps.length === 0)
        return conclusion === "cancelled" ? false : undefined;
    const same = steps.find((each) => each.number === number && each.name === name);
    if (!same)
        return undefined;
    return !(same.conclusion === "skipped" || !same.started_at);
}


/***/ }),

/***/ 6376:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   y: () => (/* binding */ GitHubError)
/* harmony export */ });
class GitHubError extends Error {
    status;
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}


/***/ })

};
