export const id = 863;
export const ids = [863];
export const modules = {

/***/ 4863:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   V: () => (/* binding */ findOwnJob),
/* harmony export */   findBase: () => (/* binding */ findBase),
/* harmony export */   u: () => (/* binding */ readState)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(8395);
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__ = __webpack_require__(9563);
/* harmony import */ var _comments_event_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6622);
/* harmony import */ var _memory_ask_service_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9816);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(618);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(9863);
/* harmony import */ var _run_job_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(8429);
/* harmony import */ var _run_state_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(7742);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(767);
/* harmony import */ var _runner_read_repository_js__WEBPACK_IMPORTED_MODULE_10__ = __webpack_require__(9093);











const repository = zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .object */ .Ikc({ id: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .int */ .Whr() });
const pullRequest = zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .object */ .Ikc({
    number: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .int */ .Whr(),
    state: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .string */ .YjP(),
    head: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .object */ .Ikc({ ref: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .string */ .YjP(), repo: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .nullable */ .mee(repository) }),
    base: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .object */ .Ikc({ ref: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .string */ .YjP(), repo: repository }),
});
const payload = zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .object */ .Ikc({
    pull_request: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .optional */ .lqM(pullRequest),
    issue: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .object */ .Ikc({ number: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .int */ .Whr(), pull_request: zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_7__/* .unknown */ .L5J()) })),
});
const jobBranch = /^(.*)(job_[0-9a-f-]{36})$/;
async function findBase(run) {
    const { base } = run.settings;
    if (base === "")
        return { base: undefined };
    const found = base === "pull-request" ? await branchOfEvent(run) : { base };
    if ("kind" in found || found.base === undefined)
        return found;
    if (run.settings.dryRun)
        return found;
    const answer = await (0,_memory_ask_service_js__WEBPACK_IMPORTED_MODULE_2__/* .askService */ .x)(run);
    if (run.ports.signal.aborted)
        return _result_js__WEBPACK_IMPORTED_MODULE_3__/* .cancelledBeforeSending */ .xX;
    if (run.state.features?.has("base"))
        return found;
    return { kind: "blocked", cause: "no-base", error: answer.kind === "unreadable" ? answer.error : undefined };
}
async function findOwnJob(run) {
    const pull = await pullRequestOfEvent(run);
    if (pull && "kind" in pull)
        return pull;
    const [ref = "", prefix, jobId] = (pull && pull.head.repo?.id === pull.base.repo.id && jobBranch.exec(pull.head.ref)) || [];
    if (jobId === undefined || prefix === "agent/")
        return { jobId };
    const state = await readState(jobId, run);
    return "kind" in state ? state : { jobId: state.ref === ref ? jobId : undefined };
}
async function readState(jobId, run) {
    const state = new _run_state_js__WEBPACK_IMPORTED_MODULE_8__/* .RunState */ .l();
    state.startedAt = run.state.startedAt;
    const found = await (0,_run_job_js__WEBPACK_IMPORTED_MODULE_5__/* .findJob */ .pC)(jobId, { ...run, state });
    return typeof found === "object" ? found : state;
}
async function branchOfEvent(run) {
    const pull = await pullRequestOfEvent(run);
    if (!pull || "kind" in pull)
        return pull ?? { base: undefined };
    const { number, state, head, base } = pull;
    if (state === "closed") {
        run.state.startNote = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .say */ .cv) `Pull request #${number} is merged or closed, so that the work is for the branch ${base.ref}, which it was for.`;
        run.log.line((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .plain */ .pj)(run.state.startNote));
        return { base: base.ref };
    }
    const isOwn = head.repo?.id === base.repo.id;
    return isOwn ? { base: head.ref } : { kind: "skipped", reason: "fork", triggerKind: "pull request", isBase: true };
}
async function pullRequestOfEvent(run) {
    const { environment, signal } = run.ports;
    try {
        const { GITHUB_EVENT_NAME: name = "" } = environment;
        if (!(0,_comments_event_js__WEBPACK_IMPORTED_MODULE_1__/* .isThreadEvent */ .Zn)(name))
            return undefined;
        const { issue, pull_request: named } = (0,_runner_read_repository_js__WEBPACK_IMPORTED_MODULE_10__/* .parse */ .q)(payload, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_6__/* .readEvent */ .j_)(environment), `the payload of ${name}`);
        if (named === undefined && issue?.pull_request === undefined)
            return undefined;
        const read = async (number = 0) => (await (0,_run_js__WEBPACK_IMPORTED_MODULE_4__/* .connectRepository */ .JC)(run)).get("pulls/{pull_number}", pullRequest, { pull_number: number });
        return named ?? (await read(issue?.number));
    }
    catch (error) {
        if (signal.aborted)
            return _result_js__WEBPACK_IMPORTED_MODULE_3__/* .cancelledBeforeSending */ .xX;
        return { kind: "blocked", cause: "base", detail: (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error) };
    }
}


/***/ })

};
