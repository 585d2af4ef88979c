export const id = 649;
export const ids = [649];
export const modules = {

/***/ 7649:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  runStep: () => (/* binding */ runStep)
});

// EXTERNAL MODULE: ./build/src/runner-kit/text.js
var runner_kit_text = __webpack_require__(3596);
// EXTERNAL MODULE: ./build/src/runner-kit/untrusted.js
var untrusted = __webpack_require__(8145);
// EXTERNAL MODULE: ./build/service/src/error-message.js
var error_message = __webpack_require__(5719);
// EXTERNAL MODULE: ./build/service/step/runner.js
var runner = __webpack_require__(7555);
// EXTERNAL MODULE: ./build/service/step/setup/setup-error.js
var setup_error = __webpack_require__(265);
// EXTERNAL MODULE: external "node:child_process"
var external_node_child_process_ = __webpack_require__(1421);
// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __webpack_require__(7598);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./build/src/runner-kit/agent-service.js
var agent_service = __webpack_require__(3468);
// EXTERNAL MODULE: ./build/service/src/agents/limits.js
var limits = __webpack_require__(9380);
// EXTERNAL MODULE: ./build/service/step/memory/describe-memory.js
var describe_memory = __webpack_require__(2466);
;// CONCATENATED MODULE: ./build/service/step/port.js

/** Below the ports that Linux gives to outgoing connections, 32768 and more. */
const firstPort = 20_000;
const ports = 10_000;
/** Returns the usual port of a project: the same in each run, so that logs and settings of runs look alike. */
function portOf(projectId) {
    return firstPort + ((0,external_node_crypto_.createHash)("sha256").update(projectId).digest().readUInt32BE() % ports);
}

// EXTERNAL MODULE: ./build/service/step/server-protocol.js
var server_protocol = __webpack_require__(6387);
// EXTERNAL MODULE: ./build/service/step/settings.js
var step_settings = __webpack_require__(3836);
// EXTERNAL MODULE: ./build/service/step/setup/prepare.js + 3 modules
var prepare = __webpack_require__(8653);
;// CONCATENATED MODULE: ./build/service/step/start-server.js












/**
 * Runs `main` of the step: checks everything that can be checked before an agent runs, starts the service in a process that
 * outlives the step, and sets the outputs.
 *
 * @throws SetupError if the service cannot start
 */
async function startServer({ runner, environment, program, signal }) {
    const apiKey = `agent_${(0,external_node_crypto_.randomBytes)(24).toString("hex")}`;
    runner.mask(apiKey);
    (0,prepare/* checkPlatform */.oF)(environment);
    const settings = (0,step_settings/* readSettings */.s)(runner.input, environment, apiKey);
    runner.mask(settings.token);
    await (0,prepare/* checkGit */.Th)();
    const folder = (0,prepare/* createFolder */.vV)(environment, settings.projectId);
    runner.saveState("folder", folder);
    runner.saveState("isWorkflowToken", String(settings.isWorkflowToken));
    const { options } = settings;
    const path = await (0,prepare/* prepareAgent */.pO)(settings, { folder, environment, info: runner.info, signal });
    const port = portOf(settings.projectId);
    signal.throwIfAborted();
    const config = { ...(0,server_protocol/* configOf */.W1)(settings, environment), folder, port };
    const ofServer = (0,agent_service/* serviceEnvironment */.J6)({ ...environment, PATH: path }, options.agent.passes);
    const { url, memory } = await startProcess(config, { runner, environment: ofServer, program, signal });
    runner.setOutput("base-url", url);
    runner.setOutput("project-id", settings.projectId);
    runner.setOutput("api-key", apiKey);
    runner.info(`The service listens on ${url}, for the project ${settings.projectId}`);
    runner.info(`Agent: ${options.agent.model}. Repository: ${settings.repository}. Sandbox: ${options.sandbox}`);
    // The step is in a control group of the runner, which it must leave as it is.
    if (options.limits.memoryMb !== undefined)
        runner.info(limits/* readMemoryNote */.Q);
    if (memory !== undefined)
        (0,describe_memory/* tellMemory */.F)(runner, memory, environment);
    runner.info('If the agent fails, the end of its log is in that of this step\'s "Post", at the end of the job');
}
/** Starts the process of the service, and returns its reply when it listens. */
async function startProcess(config, { runner, environment, program, signal }) {
    const log = (0,external_node_fs_.openSync)((0,external_node_path_.join)(config.folder, server_protocol/* logFile */.N9), "a", 0o600);
    const child = (0,external_node_child_process_.fork)(program, ["server", config.folder], {
        cwd: config.folder,
        env: environment,
        execArgv: [],
        stdio: ["ignore", log, log, "ipc"],
        // Its own session, so that it outlives the step.
        detached: true,
    });
    (0,external_node_fs_.closeSync)(log);
    runner.saveState("process", String(child.pid));
    child.send(config);
    const reply = await new Promise((resolve, reject) => {
        child.once("message", (message) => resolve(message));
        child.once("error", reject);
        child.once("exit", (exitCode, killedBy) => reject(new Error(`The process of the service ended with ${killedBy ?? exitCode}`)));
        signal.addEventListener("abort", () => reject(signal.reason));
    });
    if ("title" in reply)
        throw new setup_error/* SetupError */.w(reply.title, reply.text);
    await new Promise((resolve) => child.send(server_protocol/* keepRunning */.TK, resolve));
    return reply;
}

// EXTERNAL MODULE: ./build/service/step/stop-server.js + 1 modules
var stop_server = __webpack_require__(6567);
;// CONCATENATED MODULE: ./build/service/step/step.js







/** Runs the step: starts the service, or stops it if this is the end of the workflow's job. */
async function runStep() {
    const isPost = runner/* runner */.l.state("started") !== "";
    // First of all, because the runner runs `post` whatever becomes of `main`.
    if (!isPost)
        runner/* runner */.l.saveState("started", "true");
    const cancellation = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"])
        process.on(signal, () => cancellation.abort());
    try {
        if (isPost)
            await (0,stop_server/* stopServer */.g)(runner/* runner */.l);
        else
            await startServer({
                runner: runner/* runner */.l,
                environment: process.env,
                program: process.argv[1] ?? "",
                signal: cancellation.signal,
            });
    }
    catch (error) {
        const { title, text } = explain(error, cancellation.signal.aborted);
        runner/* runner */.l.annotate("error", title, (0,untrusted/* forAnnotation */.Jc)(text));
        process.exitCode = 1;
    }
    // Sockets and timers of libraries must not delay the end of the step.
    process.stdout.write("", () => process.exit());
}
function explain(error, isCancelled) {
    if (isCancelled)
        return { title: "Cancelled", text: (0,runner_kit_text/* say */.cv) `The agent service was not started.` };
    if (error instanceof setup_error/* SetupError */.w)
        return error;
    return { title: "The agent service failed", text: (0,runner_kit_text/* say */.cv) `This is a bug, please report it: ${(0,error_message/* errorStack */.j)(error)}` };
}


/***/ })

};
