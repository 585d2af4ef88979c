export const id = 846;
export const ids = [846];
export const modules = {

/***/ 6846:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony import */ var _src_error_message_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(5719);
/* harmony import */ var _serve_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9630);
/* harmony import */ var _server_protocol_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6387);



// The process in which the service runs. It outlives the step that starts it, until `post` terminates it.
const runnerCheckMs = 5000;
const log = (line) => console.log(`${new Date().toISOString()} ${line}`);
process.umask(0o077);
process.once("message", (config) => {
    (0,_serve_js__WEBPACK_IMPORTED_MODULE_0__/* .serve */ .wX)(config, log).then((service) => {
        keepUntilTold(service, config);
        reply({ url: service.url, memory: service.memory });
    }, (error) => {
        // What is wrong outside the service has a message for people; the stack is for a bug.
        const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
        log(`Not started: ${isBug ? (0,_src_error_message_js__WEBPACK_IMPORTED_MODULE_2__/* .errorStack */ .j)(error) : (0,_src_error_message_js__WEBPACK_IMPORTED_MODULE_2__/* .errorMessage */ .g)(error)}`);
        const { title, text } = (0,_serve_js__WEBPACK_IMPORTED_MODULE_0__/* .explainStart */ ._c)(error);
        reply({ title, text }, () => process.exit(1));
    });
});
const stopEarly = () => process.exit(1);
process.once("disconnect", stopEarly);
function reply(message, then = () => { }) {
    process.once("message", (answer) => {
        if (answer !== _server_protocol_js__WEBPACK_IMPORTED_MODULE_1__/* .keepRunning */ .TK)
            return;
        process.off("disconnect", stopEarly);
        process.disconnect();
    });
    process.send?.(message, undefined, undefined, then);
}
/** Keeps the service until a signal, or until the process that runs the steps is gone. */
function keepUntilTold(service, { runner }) {
    let isStopping = false;
    const stop = async (reason) => {
        if (isStopping)
            return;
        isStopping = true;
        log(`Stopping the agents, ${reason}`);
        await service[Symbol.asyncDispose]();
        log("Stopped");
        process.exit(0);
    };
    for (const signal of ["SIGINT", "SIGTERM"])
        process.on(signal, () => void stop(`because of ${signal}`));
    watchRunner(runner, () => void stop("because the runner is gone"));
}
/** Calls `onGone` when the process that runs the steps has ended without running `post`. */
function watchRunner(runner, onGone) {
    if (runner === undefined)
        return;
    setInterval(() => {
        try {
            process.kill(runner, 0);
        }
        catch (error) {
            // Otherwise it belongs to another user.
            if (error.code === "ESRCH")
                onGone();
        }
    }, runnerCheckMs).unref();
}


/***/ })

};
