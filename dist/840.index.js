export const id = 840;
export const ids = [840];
export const modules = {

/***/ 6840:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   readPullRequestState: () => (/* binding */ readPullRequestState)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8395);
/* harmony import */ var _pull_request_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8808);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(790);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(767);




/** The timeout of the request, in milliseconds. */
const requestTimeoutMs = 10_000;
const pullRequestResponse = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ state: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* ["enum"] */ .k5n(["open", "closed"]), merged: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY()) });
/**
 * Reads the state of a pull request on the runner's own GitHub. Returns `unknown` if it is on another server or cannot be
 * read. Never rejects. GitHub's documentation: "Get a pull request".
 */
async function readPullRequestState(pullRequest, run) {
    const { signal, environment } = run.ports;
    const place = (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_1__/* .locatePullRequest */ .x)(pullRequest, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_2__/* .serverUrl */ .Vd)(environment));
    if (!place || run.settings.githubToken === "")
        return "unknown";
    try {
        const github = await (0,_run_js__WEBPACK_IMPORTED_MODULE_3__/* .connectGitHub */ .U)(run);
        const parameters = { owner: place.owner, repo: place.repo, pull_number: place.number };
        const limits = { timeoutMs: requestTimeoutMs, signal };
        const response = await github.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", parameters, limits);
        const { state, merged } = pullRequestResponse.parse(response);
        return state === "closed" && merged ? "merged" : state;
    }
    catch {
        return "unknown";
    }
}


/***/ })

};
