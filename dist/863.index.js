export const id = 863;
export const ids = [863];
export const modules = {

/***/ 4863:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   findBase: () => (/* binding */ findBase)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(8395);
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _comments_event_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6622);
/* harmony import */ var _memory_ask_service_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9816);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(618);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(790);
/* harmony import */ var _runner_event_file_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(561);







/** The timeout of the request to GitHub, in milliseconds. */
const requestTimeoutMs = 10_000;
const repository = zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .object */ .Ikc({ id: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .int */ .Whr() });
/** The head's repository is `null` if it was deleted. */
const pullRequest = zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .object */ .Ikc({
    head: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .object */ .Ikc({ ref: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .string */ .YjP(), repo: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .nullable */ .mee(repository) }),
    base: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .object */ .Ikc({ repo: repository }),
});
const payload = zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .object */ .Ikc({
    pull_request: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .optional */ .lqM(pullRequest),
    issue: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .object */ .Ikc({ number: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .int */ .Whr(), pull_request: zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_5__/* .unknown */ .L5J()) })),
});
/**
 * Finds the branch that a new job starts from, for the input `base`; `undefined` for the project's own. The service must announce
 * that it takes one. Returns a result if nothing may be sent. Never rejects. GitHub's documentation: "Get a pull request".
 */
async function findBase(run) {
    const { base } = run.settings;
    if (base === "")
        return { base: undefined };
    const found = base === "pull-request" ? await headOfEvent(run) : { base };
    if ("kind" in found || found.base === undefined)
        return found;
    // A dry run sends nothing to the service, so it trusts that it takes one.
    if (run.settings.dryRun)
        return found;
    await (0,_memory_ask_service_js__WEBPACK_IMPORTED_MODULE_2__/* .askService */ .x)(run);
    if (run.ports.signal.aborted)
        return _result_js__WEBPACK_IMPORTED_MODULE_3__/* .cancelledBeforeSending */ .xX;
    return run.state.features?.has("base") ? found : { kind: "blocked", cause: "no-base" };
}
async function headOfEvent(run) {
    const { environment, signal } = run.ports;
    const name = environment.GITHUB_EVENT_NAME ?? "";
    try {
        if (!(0,_comments_event_js__WEBPACK_IMPORTED_MODULE_1__/* .isThreadEvent */ .Zn)(name))
            return { base: undefined };
        const event = parse(payload, (0,_runner_event_file_js__WEBPACK_IMPORTED_MODULE_4__/* .readEventFile */ .z)(environment.GITHUB_EVENT_PATH ?? ""));
        const { issue } = event;
        const isPullRequest = event.pull_request !== undefined || issue?.pull_request !== undefined;
        if (!isPullRequest)
            return { base: undefined };
        const pull = event.pull_request ?? (await readPullRequest(issue?.number ?? 0, run));
        const isOwn = pull.head.repo?.id === pull.base.repo.id;
        return isOwn
            ? { base: pull.head.ref }
            : { kind: "skipped", reason: "fork", triggerKind: "pull request", isBase: true };
    }
    catch (error) {
        if (signal.aborted)
            return _result_js__WEBPACK_IMPORTED_MODULE_3__/* .cancelledBeforeSending */ .xX;
        return { kind: "blocked", cause: "base", detail: (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error) };
    }
}
async function readPullRequest(number, run) {
    const { environment, signal } = run.ports;
    const [owner = "", repo = ""] = (environment.GITHUB_REPOSITORY ?? "").split("/");
    const github = await (0,_run_js__WEBPACK_IMPORTED_MODULE_6__/* .connectGitHub */ .U)(run);
    const parameters = { owner, repo, pull_number: number };
    const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
    return parse(pullRequest, await github.request(route, parameters, { timeoutMs: requestTimeoutMs, signal }));
}
/** @throws with the name of the first field that is missing or has another type */
function parse(schema, data) {
    const result = schema.safeParse(data);
    if (result.success)
        return result.data;
    throw new Error(`it has no usable ${result.error.issues[0]?.path.join(".") || "content"}`);
}


/***/ })

};
