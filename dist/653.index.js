export const id = 653;
export const ids = [653];
export const modules = {

/***/ 7653:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   connectIdTokens: () => (/* binding */ connectIdTokens)
/* harmony export */ });
/* harmony import */ var _client_contract_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(6078);
/* harmony import */ var _client_credentials_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8024);
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6695);
/* harmony import */ var _client_retry_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(1992);
/* harmony import */ var _client_trace_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4575);
/* harmony import */ var _runner_kit_redact_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(5593);
/* harmony import */ var _runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(6903);







const requestTimeoutMs = 10_000;
const maxTries = 3;
const renewalMs = 60_000;
const minValidMs = 10_000;
const defaultLifetimeMs = 300_000;
const redactedEndLength = 512;
const minRedacted = 3;
const maxTokenLength = 8000;
function connectIdTokens(audience, ports) {
    const { clock, mask } = ports;
    let issued = [];
    const validForMs = ({ expiresAt, expiresAtWallTime }) => Math.min(expiresAt - clock.now(), expiresAtWallTime - clock.wallTime());
    return {
        async token(limits) {
            const [current] = issued;
            if (current && validForMs(current) >= renewalMs)
                return current.value;
            try {
                const value = await requestToken(audience, limits, ports);
                mask(value);
                const lifetimeMs = lifetimeOf(value, clock.wallTime());
                const token = {
                    value,
                    expiresAt: clock.now() + lifetimeMs,
                    expiresAtWallTime: clock.wallTime() + lifetimeMs,
                    redact: createTokenRedactor(value),
                };
                issued = [token, ...issued].filter((each, index) => index < minRedacted || validForMs(each) > 0);
            }
            catch (error) {
                if (!(error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz) || !current || validForMs(current) < minValidMs)
                    throw error;
            }
            if (clock.now() > limits.deadline)
                throw new _client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz("it came too late", true);
            return issued[0]?.value ?? "";
        },
        redact: (text) => issued.reduce((redacted, { redact }) => redact(redacted), text),
    };
}
function createTokenRedactor(token) {
    const redactEnd = (0,_runner_kit_redact_js__WEBPACK_IMPORTED_MODULE_4__/* .createRedactor */ .l)((token.split(".").at(-1) ?? token).slice(-redactedEndLength));
    return (text) => redactEnd(text.replaceAll(token, "***"));
}
async function requestToken(audience, limits, ports) {
    const { clock, random, environment } = ports;
    const url = URL.parse(environment.ACTIONS_ID_TOKEN_REQUEST_URL ?? "");
    if (!url || !(0,_client_credentials_js__WEBPACK_IMPORTED_MODULE_0__/* .isProtectedUrl */ .mH)(url))
        throw new _client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz("the runner's address for it is not an https URL", false);
    url.searchParams.set("audience", audience);
    const headers = {
        accept: "application/json",
        "accept-encoding": "identity",
        authorization: `Bearer ${environment.ACTIONS_ID_TOKEN_REQUEST_TOKEN ?? ""}`,
        "user-agent": "agent-job-action",
    };
    for (let attempt = 0;; attempt++) {
        try {
            const timeoutMs = Math.min(requestTimeoutMs, limits.deadline - clock.now());
            if (timeoutMs <= 0)
                throw new _client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz("no time was left to request it", true);
            const request = { method: "GET", url, headers, timeoutMs, signal: limits.signal };
            return tokenOf(await send(request, ports));
        }
        catch (error) {
            const isOver = attempt + 1 >= maxTries || limits.signal.aborted || clock.now() >= limits.deadline;
            if (!(error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz) || !error.isTransient || isOver)
                throw error;
            const delayMs = Math.min((0,_client_retry_js__WEBPACK_IMPORTED_MODULE_2__/* .backoffMs */ .jo)(attempt, random()), limits.deadline - clock.now());
            await clock.sleep(delayMs, limits.signal);
        }
    }
}
async function send(request, { connect, clock, onTrace }) {
    try {
        const transport = (0,_client_trace_js__WEBPACK_IMPORTED_MODULE_3__/* .traceTransport */ .d)(connect(request.url.protocol), () => clock.now(), (0,_client_trace_js__WEBPACK_IMPORTED_MODULE_3__/* .createTracer */ .O)(onTrace, asWritten));
        return await transport(request);
    }
    catch (error) {
        throw new _client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz((0,_client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .messageOf */ .bD)(error), true);
    }
}
function tokenOf({ status, body }) {
    if (!(0,_runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_5__/* .isSuccess */ .oJ)(status))
        throw new _client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz(`HTTP ${status}`, status === 408 || status === 429 || status >= 500);
    const { value } = parseObject(body);
    if (typeof value !== "string" || value.length > maxTokenLength || !/^[\x21-\x7e]{8,}$/.test(value))
        throw new _client_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz("the response has no usable token", true);
    return value;
}
function lifetimeOf(token, wallTimeMs) {
    const { iat, exp } = parseObject(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    if (typeof exp !== "number")
        return defaultLifetimeMs;
    return (exp - (typeof iat === "number" ? iat : wallTimeMs / 1000)) * 1000;
}
function parseObject(text) {
    const value = (0,_client_contract_js__WEBPACK_IMPORTED_MODULE_6__/* .parseBody */ .OG)(text, asWritten);
    return (0,_client_contract_js__WEBPACK_IMPORTED_MODULE_6__/* .isObject */ .Gv)(value) ? value : {};
}
function asWritten(text) {
    return text;
}


/***/ })

};
