export const id = 6;
export const ids = [6];
export const modules = {

/***/ 9006:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ untilSettled),
/* harmony export */   untilAborted: () => (/* binding */ untilAborted)
/* harmony export */ });
const maxWaitMs = 5000;
const maxWaitAfterCancelMs = 2000;
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
async function untilSettled(saves, { clock, signal }) {
    const settled = new AbortController();
    void saves.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    if (signal.aborted)
        await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (settled.signal.aborted)
        return undefined;
    const cancelled = "the step was cancelled before the cache service had confirmed it";
    return new Error(signal.aborted ? cancelled : "the cache service did not respond in time");
}


/***/ })

};
