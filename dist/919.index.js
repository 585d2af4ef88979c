export const id = 919;
export const ids = [919];
export const modules = {

/***/ 9919:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   readStepRecord: () => (/* binding */ readStepRecord)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8395);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(790);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(767);



/** The timeout of one list of jobs, in milliseconds. */
const requestTimeoutMs = 10_000;
/** For all requests together, in milliseconds. */
const totalTimeoutMs = 30_000;
const step = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    number: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr(),
    name: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    conclusion: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP()),
    started_at: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP()),
});
const job = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    name: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    conclusion: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP()),
    runner_name: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP()),
    steps: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .array */ .YOg(step)),
});
/**
 * Reads from GitHub whether earlier attempts of the workflow run began this step. It needs `actions: read`, or a public
 * repository. The step is the one that is running now in the job of this runner; it has the same job name, number and name in
 * all attempts. Never rejects. GitHub's documentation: "List jobs for a workflow run attempt".
 *
 * @param attempts - the attempts that left no trace of their own
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
    const { clock, signal, environment } = run.ports;
    const [owner = "", repo = ""] = (environment.GITHUB_REPOSITORY ?? "").split("/");
    const runId = environment.GITHUB_RUN_ID ?? "";
    if (run.settings.githubToken === "" || repo === "" || runId === "")
        throw new Error("GitHub cannot be asked");
    const github = await (0,_run_js__WEBPACK_IMPORTED_MODULE_2__/* .connectGitHub */ .U)(run);
    const deadline = clock.now() + totalTimeoutMs;
    return async (attempt) => {
        const jobs = [];
        for (let page = 1;; page++) {
            const answer = await github.request("GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs", { owner, repo, run_id: runId, attempt_number: attempt, per_page: 100, page }, { timeoutMs: Math.min(requestTimeoutMs, deadline - clock.now()), signal });
            const { total_count: count, jobs: listed } = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ total_count: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr(), jobs: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .array */ .YOg(job) }).parse(answer);
            jobs.push(...listed);
            if (listed.length === 0 || jobs.length >= count)
                return jobs;
        }
    };
}
/** Returns the job that this runner runs now, and its running step; `undefined` unless there is exactly one of each. */
function findOwnStep(jobs, runnerName) {
    const own = jobs.filter((each) => runnerName !== "" && each.runner_name === runnerName && each.status === "in_progress");
    const [found] = own;
    if (!found || own.length > 1)
        return undefined;
    const running = (found.steps ?? []).filter(({ status }) => status === "in_progress");
    const [only] = running;
    return only && running.length === 1 ? { job: found, step: only } : undefined;
}
/** Returns whether a job began a step; `undefined` if its record does not say. */
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
