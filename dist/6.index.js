export const id = 6;
export const ids = [6];
export const modules = {

/***/ 9006:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ untilSettled),
/* harmony export */   untilAborted: () => (/* binding */ untilAborted)
/* harmony export */ });
/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled, in milliseconds: soon after that, the runner kills it. */
const maxWaitAfterCancelMs = 2000;
/** Waits for a promise, or until the signal aborts: then returns `undefined` and ignores the promise. */
async function untilAborted(promise, signal) {
    promise.catch(() => { });
    if (signal.aborted)
        return undefined;
    const ended = new AbortController();
    const aborted = new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(undefined), { signal: ended.signal });
    });
    return Promise.race([promise, aborted]).finally(() => ended.abort());
}
/** Waits for saves, but only for a short time. Returns why it no longer waits; `undefined` if they are settled. */
async function untilSettled(saves, { clock, signal }) {
    const settled = new AbortController();
    void saves.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    // A job that is forgotten because the step is cancelled would be started twice.
    if (signal.aborted)
        await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (settled.signal.aborted)
        return undefined;
    const cancelled = "the step was cancelled before the cache service had confirmed it";
    return new Error(signal.aborted ? cancelled : "the cache service did not respond in time");
}


/***/ })

};
