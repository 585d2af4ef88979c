export const id = 840;
export const ids = [840];
export const modules = {

/***/ 6840:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   readPullRequestState: () => (/* binding */ readPullRequestState)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8395);
/* harmony import */ var _pull_request_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8808);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9863);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(767);




const pullRequestResponse = zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({ state: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ["enum"] */ .k5n(["open", "closed"]), merged: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .boolean */ .zMY()) });
/** Returns `unknown` if it is on another server or cannot be read. Never rejects. GitHub: "Get a pull request". */
async function readPullRequestState(pullRequest, run) {
    const place = (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_3__/* .locatePullRequest */ .x)(pullRequest, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_1__/* .serverUrl */ .Vd)(run.ports.environment));
    if (!place || run.settings.githubToken === "")
        return "unknown";
    try {
        const repository = await (0,_run_js__WEBPACK_IMPORTED_MODULE_0__/* .connectRepository */ .JC)(run, {}, place);
        const parameters = { pull_number: place.number };
        const { state, merged } = await repository.get("pulls/{pull_number}", pullRequestResponse, parameters);
        return state === "closed" && merged ? "merged" : state;
    }
    catch {
        return "unknown";
    }
}


/***/ })

};
