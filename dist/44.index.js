export const id = 44;
export const ids = [44];
export const modules = {

/***/ 8044:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   connectGitHub: () => (/* binding */ connectGitHub)
/* harmony export */ });
/* harmony import */ var _actions_github__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1758);
/* harmony import */ var _octokit_plugin_retry__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9735);
/* harmony import */ var _octokit_plugin_throttling__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6856);



/** A wait longer than this would outlast the time of any request. */
const longestWaitSeconds = 10;
/** @param apiUrl - its base address, `GITHUB_API_URL` */
function connectGitHub(token, apiUrl) {
    const waitFor = (seconds) => seconds <= longestWaitSeconds;
    const log = { debug: () => { }, info: () => { }, warn: () => { }, error: () => { } };
    const options = { baseUrl: apiUrl, log, throttle: { onRateLimit: waitFor, onSecondaryRateLimit: waitFor } };
    const octokit = (0,_actions_github__WEBPACK_IMPORTED_MODULE_0__/* .getOctokit */ .Q)(token, options, _octokit_plugin_retry__WEBPACK_IMPORTED_MODULE_1__/* .retry */ .L, _octokit_plugin_throttling__WEBPACK_IMPORTED_MODULE_2__/* .throttling */ .A);
    return {
        request: async (route, parameters, timeoutMs, signal) => {
            const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
            // The plugins' waits do not heed the signal, but what they send after it has aborted fails at once.
            const isOver = new Promise((_resolve, reject) => {
                if (limit.aborted)
                    reject(limit.reason);
                limit.addEventListener("abort", () => reject(limit.reason), { once: true });
            });
            const answer = await Promise.race([
                octokit.request(route, { ...parameters, request: { signal: limit } }),
                isOver,
            ]);
            return answer.data;
        },
    };
}


/***/ })

};
