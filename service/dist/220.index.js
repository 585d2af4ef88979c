export const id = 220;
export const ids = [220];
export const modules = {

/***/ 1220:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   serveAction: () => (/* binding */ serveAction)
/* harmony export */ });
/* unused harmony exports ActionChild, withTimeLeft, endInTime */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__ = __webpack_require__(3596);
/* harmony import */ var _src_error_message_js__WEBPACK_IMPORTED_MODULE_10__ = __webpack_require__(5719);
/* harmony import */ var _memory_describe_memory_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(2466);
/* harmony import */ var _runner_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7555);
/* harmony import */ var _serve_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(9630);
/* harmony import */ var _server_protocol_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(6387);
/* harmony import */ var _settings_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(3836);
/* harmony import */ var _setup_prepare_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(8653);
/* harmony import */ var _stop_server_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(6567);











// The process that the action starts for its own agent. It ends with the action, and does what `main` and `post` of the step do.
/** How long agents have to end if the action is gone, in milliseconds. */
const orphanGraceMs = 5000;
/** A service, and what it is made of. */
class ActionChild {
    #environment;
    #cancellation = new AbortController();
    #settings;
    #config;
    #openedAt = performance.now();
    #service;
    /** Whether the service runs agents. */
    #hasAgents = false;
    /** Requests are done one after another. */
    #last = Promise.resolve();
    constructor(settings, config, environment) {
        this.#settings = settings;
        this.#config = config;
        this.#environment = environment;
    }
    /** @throws SetupError if the inputs are not valid, or the runner cannot run the service */
    static async open({ environment, inputs, apiKey }) {
        (0,_setup_prepare_js__WEBPACK_IMPORTED_MODULE_6__/* .checkPlatform */ .oF)(environment);
        const settings = (0,_settings_js__WEBPACK_IMPORTED_MODULE_5__/* .readSettings */ .s)((name) => inputs[name] ?? "", environment, apiKey);
        await (0,_setup_prepare_js__WEBPACK_IMPORTED_MODULE_6__/* .checkGit */ .Th)();
        const folder = (0,_setup_prepare_js__WEBPACK_IMPORTED_MODULE_6__/* .createFolder */ .vV)(environment, settings.projectId);
        for (const name of settings.options.agent.passes)
            process.env[name] = environment[name];
        const { runner: _, ...config } = (0,_server_protocol_js__WEBPACK_IMPORTED_MODULE_4__/* .configOf */ .W1)(settings, environment);
        return new ActionChild(settings, { ...config, folder, port: 0, runner: undefined }, environment);
    }
    /** Does what the action asks for, and returns the reply. @throws SetupError if it cannot */
    handle(request) {
        const done = this.#last.then(async () => {
            if (request === "check")
                await this.#check();
            else
                await this.#serve(request === "run");
            return { url: this.#service?.url ?? "" };
        });
        this.#last = done.catch(() => { });
        return done;
    }
    async #check() {
        const { options, install } = this.#settings;
        await (0,_serve_js__WEBPACK_IMPORTED_MODULE_3__/* .checkAccessAndKey */ .Th)(this.#config, this.#log);
        // What can be installed is not missing.
        const canInstall = install && this.#environment.RUNNER_ENVIRONMENT === "github-hosted";
        const isTested = options.sandbox === "bwrap" && !canInstall;
        if (isTested)
            await this.#prepare({ ...this.#settings, agentPackage: undefined });
    }
    async #serve(hasAgents) {
        if (this.#service !== undefined && (this.#hasAgents || !hasAgents))
            return;
        if (hasAgents) {
            process.env.PATH = await this.#prepare(this.#settings);
            this.#cancellation.signal.throwIfAborted();
        }
        await this.#service?.[Symbol.asyncDispose]();
        this.#service = undefined;
        const { options, endsAfterMs } = this.#settings;
        const leftMs = endsAfterMs - (performance.now() - this.#openedAt);
        const args = withTimeLeft(this.#config.args, options.timeLimitMs, leftMs);
        this.#service = await (0,_serve_js__WEBPACK_IMPORTED_MODULE_3__/* .serve */ .wX)({ ...this.#config, args }, this.#log, hasAgents);
        this.#hasAgents = hasAgents;
        const { memory } = this.#service;
        if (memory !== undefined)
            (0,_memory_describe_memory_js__WEBPACK_IMPORTED_MODULE_8__/* .tellMemory */ .F)(_runner_js__WEBPACK_IMPORTED_MODULE_2__/* .runner */ .l, memory, this.#environment);
    }
    #prepare(settings) {
        const { folder } = this.#config;
        const { signal } = this.#cancellation;
        return (0,_setup_prepare_js__WEBPACK_IMPORTED_MODULE_6__/* .prepareAgent */ .pO)(settings, { folder, environment: this.#environment, info: _runner_js__WEBPACK_IMPORTED_MODULE_2__/* .runner */ .l.info, signal });
    }
    #log = (line) => {
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.appendFileSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.#config.folder, _server_protocol_js__WEBPACK_IMPORTED_MODULE_4__/* .logFile */ .N9), `${new Date().toISOString()} ${line}\n`, { mode: 0o600 });
    };
    /** Ends what runs, saves what later runs continue, and says what the workflow's author should know. */
    async end() {
        this.#cancellation.abort();
        await this.#last;
        await this.#service?.[Symbol.asyncDispose]();
        const { isWorkflowToken } = this.#settings;
        await (0,_stop_server_js__WEBPACK_IMPORTED_MODULE_7__/* .reportRun */ .G)({ ..._runner_js__WEBPACK_IMPORTED_MODULE_2__/* .runner */ .l, isDebug: () => this.#environment.RUNNER_DEBUG === "1" }, { folder: this.#config.folder, hasCrashed: false, isWorkflowToken, environment: this.#environment });
    }
}
/**
 * Returns the arguments of a service whose agents end before its step does, however long it took to install them. They get a tenth of
 * their limit in any case.
 */
function withTimeLeft(args, limitMs, leftMs) {
    if (leftMs >= limitMs)
        return [...args];
    const minutes = (Math.max(leftMs, limitMs / 10) / 60_000).toFixed(3);
    return [...args.filter((one) => !one.startsWith("--time-limit-minutes=")), `--time-limit-minutes=${minutes}`];
}
/** Names inputs as the action has them. */
function inWordsOfAction(text) {
    return (0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .mapOwn */ .$k)(text, (words) => words
        .replace(/`(sandbox|agent-network|time-limit-minutes|remember|install): ([\w-]+)`/g, "`--$1 $2` in `agent-options`")
        .replace(/`(install)` is (\w+)/g, "`--$1` is $2")
        .replaceAll("`options`", "`agent-options`"));
}
/**
 * Returns what ends something, and kills it if that takes too long. What has begun to end can be given another time.
 *
 * @param end - never rejects
 */
function endInTime(end, kill) {
    let timer;
    let hasBegun = false;
    return (graceMs) => {
        clearTimeout(timer);
        timer = setTimeout(kill, graceMs);
        if (!hasBegun)
            void end().finally(() => clearTimeout(timer));
        hasBegun = true;
    };
}
/** Runs the service for the action that has started this process, until that ends it, or is gone. */
function serveAction() {
    process.umask(0o077);
    // The action decides what a signal means.
    for (const signal of ["SIGINT", "SIGTERM"])
        process.on(signal, () => { });
    // Nobody reads what is printed when the action is gone.
    process.stdout.on("error", () => { });
    let child;
    let isEnding = false;
    const endIn = endInTime(async () => {
        isEnding = true;
        const started = await child?.catch(() => undefined);
        await started
            ?.end()
            .catch((error) => _runner_js__WEBPACK_IMPORTED_MODULE_2__/* .runner */ .l.info(`The agent service has not ended as it should: ${(0,_src_error_message_js__WEBPACK_IMPORTED_MODULE_10__/* .errorStack */ .j)(error)}`));
        process.stdout.write("", () => process.exit(0));
    }, 
    // Everything that it has started is in its process group, or ends with it.
    () => {
        _runner_js__WEBPACK_IMPORTED_MODULE_2__/* .runner */ .l.info("Not everything could be saved in time: the next turn of the job may begin a new session of the agent");
        process.kill(-process.pid, "SIGKILL");
    });
    process.once("disconnect", () => {
        if (!isEnding)
            endIn(orphanGraceMs);
    });
    process.on("message", async (message) => {
        if (typeof message === "number")
            return endIn(message);
        if (typeof message === "object") {
            child = ActionChild.open(message);
            child.catch(() => { });
            return;
        }
        const reply = await child
            ?.then((started) => started.handle(message))
            .catch((error) => {
            const { title, text } = (0,_serve_js__WEBPACK_IMPORTED_MODULE_3__/* .explainStart */ ._c)(error);
            return { title, text: inWordsOfAction(text) };
        });
        if (reply !== undefined && process.connected)
            process.send?.(reply);
    });
}


/***/ })

};
