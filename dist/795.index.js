export const id = 795;
export const ids = [795];
export const modules = {

/***/ 3795:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   createOwnAgent: () => (/* binding */ createOwnAgent)
/* harmony export */ });
/* harmony import */ var node_child_process__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1421);
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(7598);
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3024);
/* harmony import */ var node_os__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8161);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(6760);
/* harmony import */ var _runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(7261);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(9563);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(618);








const saveMs = 150_000;
const cancelledMs = 4000;
const killMs = 1000;
const requestGraceMs = 1000;
function createOwnAgent(settings, { program, environment, signal }) {
    const files = (0,node_path__WEBPACK_IMPORTED_MODULE_4__.join)(environment.RUNNER_TEMP || (0,node_os__WEBPACK_IMPORTED_MODULE_3__.tmpdir)(), `agent-job-${(0,node_crypto__WEBPACK_IMPORTED_MODULE_1__.randomUUID)()}`);
    const [logFile, workFile] = [`${files}.log`, `${files}.patch`];
    let child;
    let hasEnded = false;
    let exit = Promise.resolve();
    const start = () => {
        const started = (0,node_child_process__WEBPACK_IMPORTED_MODULE_0__.fork)(program, [], {
            env: (0,_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_5__/* .serviceEnvironment */ .J6)(environment, []),
            execArgv: [],
            stdio: ["ignore", "inherit", "inherit", "ipc"],
            detached: true,
        });
        exit = new Promise((resolve) => {
            const onEnd = () => {
                hasEnded = true;
                resolve();
            };
            started.once("exit", onEnd).once("error", onEnd);
        });
        const config = { environment, settings, logFile, workFile };
        started.send(config, () => { });
        return started;
    };
    const ask = async (request) => {
        child ??= start();
        const asked = child;
        const reply = await new Promise((resolve) => {
            asked.once("message", (message) => resolve(message));
            void exit.then(() => resolve(undefined));
            asked.send(request, () => { });
        });
        if (reply === undefined)
            throw ended();
        if ("title" in reply)
            throw new _result_js__WEBPACK_IMPORTED_MODULE_6__/* .AgentError */ .Yv(reply.title, reply.text);
        return reply.url;
    };
    let answering;
    let running;
    return {
        connect: (transport) => async (request) => {
            if (hasEnded)
                throw ended();
            if (running === undefined && !request.signal.aborted)
                answering ??= ask("answer");
            const address = await (running ?? answering ?? "http://127.0.0.1");
            const url = new URL(request.url.pathname + request.url.search, address);
            return transport({ ...request, url, ...(request.graceMs && { graceMs: requestGraceMs }) });
        },
        prepare: async () => {
            await answering;
            running ??= ask("run");
            await running;
        },
        check: async () => {
            await answering;
            await ask("check");
        },
        end: async () => {
            if (child === undefined)
                return;
            const ending = child;
            let timer;
            const end = (ms) => {
                if (ending.connected)
                    ending.send(ms, () => { });
                clearTimeout(timer);
                timer = setTimeout(() => killGroup(ending), ms + killMs);
            };
            const onAbort = () => end(cancelledMs);
            end(signal.aborted ? cancelledMs : saveMs);
            signal.addEventListener("abort", onAbort, { once: true });
            await exit;
            signal.removeEventListener("abort", onAbort);
            clearTimeout(timer);
        },
        get logFile() {
            return (0,node_fs__WEBPACK_IMPORTED_MODULE_2__.existsSync)(logFile) ? logFile : undefined;
        },
        get workFile() {
            return (0,node_fs__WEBPACK_IMPORTED_MODULE_2__.existsSync)(workFile) ? workFile : undefined;
        },
    };
}
function ended() {
    return new _result_js__WEBPACK_IMPORTED_MODULE_6__/* .AgentError */ .Yv("The agent's service ended early", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_7__/* .say */ .cv) `It ended while it was needed; if it could say why, the lines above do.`);
}
function killGroup({ pid }) {
    try {
        if (pid !== undefined)
            process.kill(-pid, "SIGKILL");
    }
    catch {
    }
}


/***/ })

};
