export const id = 371;
export const ids = [371];
export const modules = {

/***/ 371:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   connectGitHub: () => (/* binding */ connectGitHub)
/* harmony export */ });
/* harmony import */ var _actions_github__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1758);
/* harmony import */ var _octokit_plugin_retry__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(9735);
/* harmony import */ var _octokit_plugin_throttling__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(6856);
/* harmony import */ var _client_redact_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9329);
/* harmony import */ var _client_trace_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(4575);





/** A wait longer than this would outlast the time of any request. */
const longestWaitSeconds = 10;
const mostRepeats = 3;
/** Answers that another try would not change, as the plugin has them, and `429`, which the throttling one decides. */
const firmStatuses = [400, 401, 403, 404, 410, 422, 429, 451];
/** What the libraries have to say may hold text from outside, and is not for the log. */
const log = { debug: () => { }, info: () => { }, warn: () => { }, error: () => { } };
/**
 * @param apiUrl - its base address, `GITHUB_API_URL`
 * @param onTrace - is told of every request, repeats included
 */
function connectGitHub(token, apiUrl, onTrace) {
    const redact = (0,_client_redact_js__WEBPACK_IMPORTED_MODULE_1__/* .createRedactor */ .l)(token);
    const tracing = traceRequests((0,_client_trace_js__WEBPACK_IMPORTED_MODULE_2__/* .discreetly */ .F)(onTrace, redact));
    // A wait of 0 s comes of a limit that is over by GitHub's clock or said without an end: it would be no wait at all.
    const waitFor = (seconds, _options, _octokit, repeats) => seconds >= 1 && seconds <= longestWaitSeconds && repeats < mostRepeats;
    const options = { baseUrl: apiUrl, log, request: { log } };
    const patient = (0,_actions_github__WEBPACK_IMPORTED_MODULE_0__/* .getOctokit */ .Q)(token, {
        ...options,
        retry: { doNotRetry: firmStatuses },
        throttle: { onRateLimit: waitFor, onSecondaryRateLimit: waitFor },
    }, 
    // The first plugin is the nearest to the network: it sees each repeat.
    tracing, _octokit_plugin_retry__WEBPACK_IMPORTED_MODULE_3__/* .retry */ .L, _octokit_plugin_throttling__WEBPACK_IMPORTED_MODULE_4__/* .throttling */ .A);
    // After a signal there is no time for the pauses between writes that GitHub asks for.
    const urgent = (0,_actions_github__WEBPACK_IMPORTED_MODULE_0__/* .getOctokit */ .Q)(token, options, tracing);
    return {
        request: async (route, parameters, { timeoutMs, signal, graceMs = 0 }) => {
            const octokit = signal.aborted ? urgent : patient;
            const limit = limitOf(timeoutMs, signal, graceMs);
            let fault = "";
            const noted = (error) => {
                fault = error.message;
                throw error;
            };
            octokit.hook.error("request", noted);
            try {
                // The plugins' waits do not heed a signal, but what they send after it has aborted fails at once.
                const answer = octokit.request(route, { ...parameters, request: { signal: limit.signal, log } });
                return (await Promise.race([answer, limit.isOver])).data;
            }
            catch (error) {
                const last = error instanceof Error ? error.message : String(error);
                throw new Error(redact(limit.signal.aborted && fault ? `${fault}, until the time was up` : last));
            }
            finally {
                octokit.hook.remove("request", noted);
                limit.clear();
            }
        },
    };
}
/** A plugin of Octokit. Its documentation: "Hooks". */
function traceRequests(onTrace) {
    return (octokit) => {
        octokit.hook.wrap("request", async (request, options) => {
            const startedAt = performance.now();
            const tell = (url, result) => {
                const path = URL.canParse(url) ? new URL(url).pathname : url;
                onTrace({ method: options.method, path, durationMs: performance.now() - startedAt, result });
            };
            try {
                const answer = await request(options);
                tell(answer.url, { status: answer.status, requestId: answer.headers["x-github-request-id"] ?? "" });
                return answer;
            }
            catch (error) {
                const answer = answerIn(error);
                if (answer)
                    tell(answer.url, { status: answer.status, requestId: answer.headers["x-github-request-id"] ?? "" });
                else
                    tell(options.url, { fault: error instanceof Error ? error.message : String(error) });
                throw error;
            }
        });
    };
}
/** The answer behind an error of Octokit's, which it has where GitHub has answered. */
function answerIn(error) {
    return error instanceof Error && "response" in error ? error.response : undefined;
}
/** A signal that aborts when the time is up, or `graceMs` after `signal`, and a promise that rejects with it. */
function limitOf(timeoutMs, signal, graceMs) {
    const controller = new AbortController();
    const timers = [];
    const endIn = (ms, why) => timers.push(setTimeout(() => controller.abort(new Error(why)), Math.max(0, ms)));
    const onAbort = () => endIn(graceMs, "the step was cancelled");
    endIn(timeoutMs, "GitHub did not answer in time");
    if (signal.aborted)
        onAbort();
    else
        signal.addEventListener("abort", onAbort, { once: true });
    const isOver = new Promise((_resolve, reject) => {
        controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
    });
    const clear = () => {
        for (const timer of timers)
            clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
    };
    return { signal: controller.signal, isOver, clear };
}


/***/ })

};
