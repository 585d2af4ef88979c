export const id = 6;
export const ids = [6];
export const modules = {

/***/ 9006:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ untilSettled),
/* harmony export */   untilAborted: () => (/* binding */ untilAborted)
/* harmony export */ });
/** How long the end of the step waits for a slow cache, in milliseconds. */
const maxWaitMs = 5000;
/** The same after a cancellation, shortly after which the runner kills the step. */
const maxWaitAfterCancelMs = 2000;
/** Waits for a promise. If the signal aborts first, returns `undefined` and ignores the promise. */
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
/** Waits for saves, for a short time. Returns why it stopped waiting; `undefined` if they are settled. */
async function untilSettled(saves, { clock, signal }) {
    const settled = new AbortController();
    void saves.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    // If a cancelled step forgot its job, a re-run would start it twice.
    if (signal.aborted)
        await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (settled.signal.aborted)
        return undefined;
    const cancelled = "the step was cancelled before the cache service had confirmed it";
    return new Error(signal.aborted ? cancelled : "the cache service did not respond in time");
}


/***/ })

};
