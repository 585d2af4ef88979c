export const id = 729;
export const ids = [729];
export const modules = {

/***/ 3227:
/***/ ((__unused_webpack_module, exports, __webpack_require__) => {

// The part of undici that `@actions/github` uses. The rest, such as WebSockets and mocks, is an eighth of the bundle.

(__webpack_require__(7065).prototype).connect = __webpack_require__(2990);

exports.ProxyAgent = __webpack_require__(1150);
exports.fetch = __webpack_require__(4700).fetch;


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


/***/ }),

/***/ 371:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   connectGitHub: () => (/* binding */ connectGitHub)
/* harmony export */ });
/* harmony import */ var _actions_github__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1351);
/* harmony import */ var _actions_github_lib_utils__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(5555);
/* harmony import */ var _octokit_plugin_retry__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(9735);
/* harmony import */ var _octokit_plugin_throttling__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(6856);
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6695);
/* harmony import */ var _client_trace_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4575);
/* harmony import */ var _runner_kit_redact_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(5593);
/* harmony import */ var _github_error_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(6376);








const maxWaitSeconds = 10;
const maxRetries = 3;
const permanentStatuses = [400, 401, 403, 404, 410, 422, 429, 451];
const silentLog = { debug: () => { }, info: () => { }, warn: () => { }, error: () => { } };
function connectGitHub(token, apiUrl, onTrace) {
    const redact = (0,_runner_kit_redact_js__WEBPACK_IMPORTED_MODULE_4__/* .createRedactor */ .l)(token);
    const tracing = traceRequests((0,_client_trace_js__WEBPACK_IMPORTED_MODULE_3__/* .createTracer */ .O)(onTrace, redact));
    const shouldRetry = (seconds, _options, _octokit, retries) => seconds >= 1 && seconds <= maxWaitSeconds && retries < maxRetries;
    const options = { baseUrl: apiUrl, log: silentLog, request: { ..._actions_github_lib_utils__WEBPACK_IMPORTED_MODULE_1__/* .defaults */ .NT.request, log: silentLog } };
    const octokit = (0,_actions_github__WEBPACK_IMPORTED_MODULE_0__/* .getOctokit */ .Q)(token, {
        ...options,
        retry: { doNotRetry: permanentStatuses },
        throttle: { onRateLimit: shouldRetry, onSecondaryRateLimit: shouldRetry },
    }, tracing, retryNewToken, _octokit_plugin_retry__WEBPACK_IMPORTED_MODULE_6__/* .retry */ .L, _octokit_plugin_throttling__WEBPACK_IMPORTED_MODULE_7__/* .throttling */ .A);
    const ofUrgent = { ...options, retry: { doNotRetry: permanentStatuses } };
    const unthrottled = (0,_actions_github__WEBPACK_IMPORTED_MODULE_0__/* .getOctokit */ .Q)(token, ofUrgent, tracing, retryNewToken, _octokit_plugin_retry__WEBPACK_IMPORTED_MODULE_6__/* .retry */ .L);
    async function within({ timeoutMs, signal, graceMs = 0, isUrgent = false }, use) {
        const client = signal.aborted || isUrgent ? unthrottled : octokit;
        const limit = new AbortController();
        const abortIn = (ms, reason = "GitHub did not respond in time") => setTimeout(() => limit.abort(new Error(reason)), Math.max(0, ms));
        const timers = [abortIn(timeoutMs)];
        const onAbort = () => timers.push(abortIn(graceMs, "the step was cancelled"));
        if (signal.aborted)
            onAbort();
        else
            signal.addEventListener("abort", onAbort, { once: true });
        let pageTimer;
        const renew = (pageTimeoutMs) => {
            clearTimeout(pageTimer);
            pageTimer = abortIn(pageTimeoutMs);
        };
        const expired = new Promise((_resolve, reject) => {
            limit.signal.addEventListener("abort", () => reject(limit.signal.reason), { once: true });
        });
        let lastError = "";
        const onError = (error) => {
            if (!limit.signal.aborted)
                lastError = (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .messageOf */ .bD)(error);
        };
        try {
            return await Promise.race([use(client, { signal: limit.signal, log: silentLog, onError }, renew), expired]);
        }
        catch (error) {
            const isExpired = limit.signal.aborted && lastError !== "";
            const message = redact(isExpired ? `${lastError}, until the timeout` : (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .messageOf */ .bD)(error));
            throw new _github_error_js__WEBPACK_IMPORTED_MODULE_5__/* .GitHubError */ .y(message, statusOf(error));
        }
        finally {
            for (const timer of [...timers, pageTimer])
                clearTimeout(timer);
            signal.removeEventListener("abort", onAbort);
        }
    }
    return {
        request: (route, parameters, limits) => within(limits, async (client, request) => {
            const options = { ...request, ...(limits.isOnce && { retries: 0 }) };
            const { data, status } = await client.request(route, { ...parameters, request: options });
            limits.onStatus?.(status);
            return data;
        }),
        paginate: (route, parameters, limits) => within({ ...limits, timeoutMs: limits.totalTimeoutMs }, async (client, request, renew) => {
            const items = [];
            renew(limits.timeoutMs);
            for await (const { data } of client.paginate.iterator(route, { ...parameters, per_page: 100, request })) {
                if (!Array.isArray(data))
                    throw new Error("GitHub's response is not a list");
                items.push(...data);
                renew(limits.timeoutMs);
            }
            return items;
        }),
    };
}
function retryNewToken(octokit) {
    let isKnown = false;
    octokit.hook.after("request", () => {
        isKnown = true;
    });
    octokit.hook.error("request", (error, { request }) => {
        if (statusOf(error) === 401 && !isKnown && "request" in error)
            error.request.request = { ...error.request.request, retries: 3, retryAfter: 2 ** (request.retryCount ?? 0) };
        throw error;
    });
}
function traceRequests(trace) {
    return (octokit) => {
        octokit.hook.wrap("request", async (request, options) => {
            const startedAt = performance.now();
            const report = (response, error) => {
                const { url = options.url, status, headers } = response ?? {};
                const request = `${options.method} ${URL.parse(url)?.pathname ?? url}`;
                trace(request, status ?? error, performance.now() - startedAt, headers?.["x-github-request-id"]);
            };
            try {
                const response = await request(options);
                report(response);
                return response;
            }
            catch (error) {
                report(responseOf(error), error);
                options.request?.onError?.(error);
                throw error;
            }
        });
    };
}
function responseOf(error) {
    return error instanceof Error && "response" in error ? error.response : undefined;
}
function statusOf(error) {
    const { status, headers } = responseOf(error) ?? {};
    const isLimited = headers?.["retry-after"] !== undefined || headers?.["x-ratelimit-remaining"] === "0";
    return status === 403 && (isLimited || /rate limit/i.test((0,_client_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .messageOf */ .bD)(error))) ? 429 : status;
}


/***/ })

};
