export const id = 883;
export const ids = [883];
export const modules = {

/***/ 2701:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   R: () => (/* binding */ guide)
/* harmony export */ });
/**
 * Returns where a person who reads the log finds service/docs/own-agent.md: its address on github.com, or else the path in the
 * action's repository. GitHub's documentation: "Variables", `GITHUB_ACTION_REPOSITORY` and `GITHUB_ACTION_REF`.
 *
 * @param section - the anchor of a section
 */
function guide(section, environment) {
    const page = `service/docs/own-agent.md#${section}`;
    const { GITHUB_ACTION_REPOSITORY: repository = "", GITHUB_ACTION_REF: ref = "" } = environment;
    // Enterprise Server runs actions of github.com, and does not say whether this is one.
    const isKnown = environment.GITHUB_SERVER_URL === "https://github.com" && repository !== "" && ref !== "";
    return isKnown ? `https://github.com/${repository}/blob/${ref}/${page}` : `${page} in the action's repository`;
}


/***/ }),

/***/ 2466:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   F: () => (/* binding */ tellMemory)
/* harmony export */ });
/* unused harmony export describeMemory */
/* harmony import */ var _src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3596);
/* harmony import */ var _src_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8145);
/* harmony import */ var _guide_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2701);



const closed = (guide) => {
    const risk = `That lets text from people who cause such runs into a cache that other workflows trust: see ${guide}.`;
    return {
        read: `the Actions cache of this run is read-only. \`cache-mode: write\` on the workflow's job changes that. ${risk}`,
        none: `this run may not read the Actions cache. \`cache-mode: read\` on the workflow's job lets it continue sessions that other runs saved, and \`write\` lets it save them. ${risk}`,
        absent: "this runner offers no Actions cache.",
    };
};
/**
 * Returns lines for the log of the step that say what is remembered, and which setting changes that.
 *
 * @param guide - where its risk is explained
 */
function describeMemory({ branches, cache }, guide) {
    const inCache = cache === "write" ? "in the Actions cache" : undefined;
    const onGitHub = branches === "no" ? undefined : "by their branches and pull requests";
    const places = [onGitHub, inCache].filter((place) => place !== undefined).join(", and ");
    const jobs = places === "" ? "not remembered" : `remembered ${places}`;
    const why = cache === "write" ? "" : `, because ${closed(guide)[cache]}`;
    return [
        `Jobs are ${jobs}`,
        ...(branches === "no"
            ? [
                "They are not known by their branches, because GitHub does not tell which account `github-token` acts for, and so not which pull requests are the service's own. The workflow's own token and those of GitHub Apps are known",
            ]
            : []),
        ...(branches === "unknown"
            ? ["GitHub could not be asked which account `github-token` acts for, and is asked again"]
            : []),
        cache === "write"
            ? "Sessions of the agent are kept in the Actions cache, unless it denies that to this run"
            : `Sessions of the agent are not kept${why} Instead, a follow-up begins with the earlier prompts and the agent's last messages`,
    ];
}
/** Says what later runs will know of this one. It is no annotation unless there is something to fix: every run would have it. */
function tellMemory(runner, memory, environment) {
    const lines = describeMemory(memory, (0,_guide_js__WEBPACK_IMPORTED_MODULE_0__/* .guide */ .R)("what-is-remembered-and-who-can-read-it", environment));
    if (memory.branches === "no" && ["absent", "none"].includes(memory.cache))
        runner.annotate("warning", "Jobs are not remembered", (0,_src_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_1__/* .forAnnotation */ .Jc)((0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `${(0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .trusted */ .IZ)(`${lines.join(". ")}.`)}`));
    else
        for (const line of lines)
            runner.info(line);
}


/***/ }),

/***/ 7555:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   l: () => (/* binding */ runner)
/* harmony export */ });
/* harmony import */ var _actions_core__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3061);
/* harmony import */ var _src_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8145);


const annotations = { notice: _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .notice */ .lm, warning: _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .warning */ .$e, error: _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .error */ .z3 };
/** The runner, through `@actions/core`. */
const runner = {
    /** Returns the value of an input, without spaces around it; empty if it is not set. */
    input: (name) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .getInput */ .V4(name),
    setOutput: (name, value) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .setOutput */ .uH(name, value),
    /** Saves a value for `post`. */
    saveState: (name, value) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .saveState */ .LZ(name, value),
    /** Returns a value that `main` saved; empty if it did not. */
    state: (name) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .getState */ .Gu(name),
    /** Makes the runner replace `secret` with `***` in the log. */
    mask: (secret) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .setSecret */ .Pq(secret),
    /** Whether the run has step debug logging. */
    isDebug: () => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .isDebug */ ._o(),
    /** Prints a line. It may be untrusted. */
    info: (line) => _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .info */ .pq((0,_src_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_1__/* .forLog */ .Ig)(line).line),
    /** @param text - escaped for an annotation */
    annotate: (level, title, text) => annotations[level](text, { title }),
    /** Prints lines in a group, which is folded. They may be untrusted. */
    group: (title, lines) => {
        _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .startGroup */ .Oh(title);
        for (const line of lines)
            _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .info */ .pq((0,_src_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_1__/* .forLog */ .Ig)(line).line);
        _actions_core__WEBPACK_IMPORTED_MODULE_0__/* .endGroup */ .N4();
    },
};


/***/ }),

/***/ 3836:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   s: () => (/* binding */ readSettings)
/* harmony export */ });
/* unused harmony export inputDefaults */
/* harmony import */ var _src_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3468);
/* harmony import */ var _src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(3596);
/* harmony import */ var _src_agents_presets_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1321);
/* harmony import */ var _src_error_message_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(5719);
/* harmony import */ var _src_options_options_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(5679);
/* harmony import */ var _src_options_table_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(1287);
/* harmony import */ var _setup_setup_error_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(265);







/** The defaults of the inputs, as in `service/action.yml`. */
const inputDefaults = {
    agent: "",
    repository: "",
    base: "",
    "github-token": "",
    sandbox: "bwrap",
    "agent-network": "model",
    "time-limit-minutes": "30",
    remember: "true",
    install: "true",
    options: "",
    "workflow-token": "",
};
/**
 * Reads the inputs. An empty one means its default.
 *
 * @param apiKey - of the service
 * @throws SetupError that names everything that is wrong with them
 */
function readSettings(input, environment, apiKey) {
    const read = (name) => input(name) || inputDefaults[name];
    const problems = [];
    const agent = read("agent");
    const repository = read("repository") || (environment.GITHUB_REPOSITORY ?? "");
    const serverUrl = environment.GITHUB_SERVER_URL || "https://github.com";
    const apiUrl = environment.GITHUB_API_URL || "https://api.github.com";
    const token = read("github-token");
    const wrong = (0,_src_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_0__/* .agentProblem */ .$R)(agent, environment, "options");
    if (wrong)
        problems.push(["`agent` ", ...wrong]);
    if (!/^[\w.-]+\/[\w.-]+$/.test(repository))
        problems.push((0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `\`repository\` must be OWNER/NAME, not ${repository}`);
    if (token === "")
        problems.push((0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `\`github-token\` is empty. Check the secret's name. ${(0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .trusted */ .IZ)(_src_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_0__/* .forkAdvice */ .Xv)}`);
    const flag = (name) => {
        const value = read(name).toLowerCase();
        if (!["true", "false"].includes(value))
            problems.push((0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `\`${name}\` must be true or false, not ${value}`);
        return value === "true";
    };
    const [remember, install] = [flag("remember"), flag("install")];
    const more = (0,_src_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_0__/* .readAgentOptions */ .y4)(read("options"), []);
    for (const problem of more.problems)
        problems.push((0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `\`options\` ${problem}`);
    const further = more.options.flatMap(({ name, value, line }) => {
        const isFlag = (0,_src_options_table_js__WEBPACK_IMPORTED_MODULE_3__/* .kindOf */ .I)(name).given === "never";
        if (isFlag === (value === ""))
            return [isFlag ? `--${name}` : `--${name}=${value}`];
        problems.push((0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `\`options\` must have ${isFlag ? `--${name} alone` : `a value of --${name}`}, not ${line}`);
        return [];
    });
    const isEditor = agent === _src_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_0__/* .editor */ .EN;
    const isCommand = !(agent in _src_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_0__/* .agentKeys */ ._N);
    const sandbox = read("sandbox");
    // The editor has no model.
    const ofEditor = sandbox === "none" ? "full" : "none";
    const network = isEditor && read("agent-network") === "model" ? ofEditor : read("agent-network");
    if (isCommand && !wrong && network === "model" && !further.some((argument) => argument.startsWith("--model-host=")))
        problems.push((0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `\`agent-network\` is model, and the model of a command is unknown: name its host with --model-host HOST in \`options\`, or set \`agent-network\` to full or none`);
    const args = [
        `--repository=${serverUrl}/${repository}.git`,
        ...(isEditor ? [] : [`--agent=${agent}`]),
        ...given("base", read("base")),
        `--sandbox=${sandbox}`,
        `--agent-network=${network}`,
        `--time-limit-minutes=${read("time-limit-minutes")}`,
        ...further,
    ];
    if (problems.length > 0)
        throw invalid(problems);
    const workflowToken = read("workflow-token");
    const variables = {
        GITHUB_TOKEN: token,
        ...(workflowToken !== "" && { GH_TOKEN: workflowToken }),
        ...(agent === "copilot" && { COPILOT_GITHUB_TOKEN: environment.COPILOT_GITHUB_TOKEN || workflowToken }),
        AGENT_SERVICE_KEY: apiKey,
        GITHUB_SERVER_URL: serverUrl,
        GITHUB_API_URL: apiUrl,
    };
    const options = readOptions(args, { ...environment, ...variables });
    const project = options.settings.get(repository);
    if (project === undefined)
        throw new Error("the service has no settings of its project");
    return {
        args,
        variables,
        options: { ...project, apiKey: options.apiKey },
        agentPackage: (0,_src_agents_presets_js__WEBPACK_IMPORTED_MODULE_1__/* .presetPackage */ .e5)(agent),
        projectId: (0,_src_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_0__/* .projectOf */ .v8)(repository, agent, environment, more.name),
        repository,
        token,
        endsAfterMs: Number(input("minutes-left") || Number.POSITIVE_INFINITY) * 60_000,
        isWorkflowToken: token === workflowToken,
        install,
        remember,
    };
}
function readOptions(args, environment) {
    try {
        return (0,_src_options_options_js__WEBPACK_IMPORTED_MODULE_2__/* .parseOptions */ .A)(args, environment);
    }
    catch (error) {
        // The options have the names of the inputs.
        const problem = (0,_src_error_message_js__WEBPACK_IMPORTED_MODULE_6__/* .errorMessage */ .g)(error).replace(/--(?=[a-z])/g, "");
        throw invalid([/ requires .* in the environment/.test(problem) ? missingKey(problem) : (0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `${problem}`]);
    }
}
const given = (name, value) => (value === "" ? [] : [`--${name}=${value}`]);
function missingKey(problem) {
    return (0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `${problem.replace(/\.$/, "")} of this step: set it with \`env:\`, from a secret. ${(0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_5__/* .trusted */ .IZ)(_src_runner_kit_agent_service_js__WEBPACK_IMPORTED_MODULE_0__/* .forkAdvice */ .Xv)}`;
}
function invalid(problems) {
    const list = problems.flatMap((problem) => (problems.length === 1 ? problem : ["\n- ", ...problem]));
    return new _setup_setup_error_js__WEBPACK_IMPORTED_MODULE_4__/* .SetupError */ .w("Invalid inputs of the agent service", [
        ...list,
        "\nNothing was started. If you change the workflow file, start a new run: a re-run keeps this run's.",
    ]);
}


/***/ }),

/***/ 8653:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  Kv: () => (/* binding */ agentFolder),
  Th: () => (/* binding */ checkGit),
  oF: () => (/* binding */ checkPlatform),
  vV: () => (/* binding */ createFolder),
  pO: () => (/* binding */ prepareAgent)
});

// EXTERNAL MODULE: external "node:child_process"
var external_node_child_process_ = __webpack_require__(1421);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(8161);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: external "node:util"
var external_node_util_ = __webpack_require__(7975);
// EXTERNAL MODULE: ./build/src/runner-kit/agent-service.js
var agent_service = __webpack_require__(3468);
// EXTERNAL MODULE: ./build/src/runner-kit/text.js
var runner_kit_text = __webpack_require__(3596);
// EXTERNAL MODULE: ./build/service/src/agents/sandbox/bubblewrap.js
var bubblewrap = __webpack_require__(1890);
// EXTERNAL MODULE: ./build/service/src/agents/sandbox/probe.js
var probe = __webpack_require__(460);
// EXTERNAL MODULE: ./build/service/src/error-message.js
var error_message = __webpack_require__(5719);
;// CONCATENATED MODULE: ./build/service/step/setup/programs.js

/** How much of a program's output is kept. */
const maxOutputLength = 10_000;
/**
 * Runs a program that prepares the runner.
 *
 * @throws if it cannot be started or fails, with the end of its output
 */
async function runProgram(file, args, options = {}) {
    const child = (0,external_node_child_process_.spawn)(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text) => {
            output = (output + text).slice(-maxOutputLength);
        });
    const exitCode = await new Promise((resolve, reject) => {
        child.on("error", (error) => reject(error.code === "ENOENT" ? new Error(`${file} is not installed on this runner`) : error));
        child.on("close", resolve);
    });
    if (exitCode !== 0)
        throw new Error(`${file} ${args.join(" ")} exited with ${exitCode}: ${output.trim()}`);
}

// EXTERNAL MODULE: ./build/service/step/setup/setup-error.js
var setup_error = __webpack_require__(265);
;// CONCATENATED MODULE: ./build/service/step/setup/bubblewrap.js







/**
 * Makes sure that bubblewrap can create a sandbox.
 *
 * @throws SetupError if it cannot, with the two ways out
 */
async function prepareBubblewrap({ folder, canInstall, info }) {
    const test = () => testBubblewrap(folder);
    let error = await test();
    for (const step of canInstall ? [installPackage, allowUserNamespaces] : []) {
        if (error === undefined)
            return;
        // What fails here is told by the next test.
        await step(info).catch((reason) => info((0,error_message/* errorMessage */.g)(reason)));
        error = await test();
    }
    if (error === undefined)
        return;
    const isMissing = /ENOENT/.test(error);
    const way = isMissing
        ? "install it in a step before this one: `sudo apt-get install bubblewrap`"
        : "allow it user namespaces: on Ubuntu 24.04 and newer with the AppArmor profile in service/docs/agents.md, in a container in the settings of its runtime";
    throw new setup_error/* SetupError */.w("No sandbox for the agent", (0,runner_kit_text/* say */.cv) `bubblewrap cannot run on this runner: ${isMissing ? (0,runner_kit_text/* trusted */.IZ)("it is not installed") : error}. There are two ways out. Either ${(0,runner_kit_text/* trusted */.IZ)(way)}. Or set \`sandbox: none\` and \`agent-network: full\`: then the agent can do what the runner's user can, such as read the token. Nothing was started.`);
}
/** Returns why bubblewrap cannot run; `undefined` if it can. */
function testBubblewrap(directory) {
    (0,external_node_fs_.mkdirSync)(directory, { recursive: true });
    const access = {
        currentDirectory: directory,
        writable: [directory],
        readable: [],
        hasNetwork: false,
        temporary: directory,
    };
    return (0,probe/* probe */.d)(bubblewrap/* bubblewrap */.Pk.wrap({ file: "/bin/sh", args: ["-c", "exit 0"] }, access));
}
async function installPackage(info) {
    if ((await (0,probe/* probe */.d)({ file: "bwrap", args: ["--version"] })) === undefined)
        return;
    info("Installing bubblewrap");
    const install = () => sudo(["apt-get", "install", "--yes", "--no-install-recommends", "bubblewrap"]);
    await install().catch(async () => {
        await sudo(["apt-get", "update"]);
        await install();
    });
}
/** Turns off what denies user namespaces to programs without an AppArmor profile since Ubuntu 24.04. */
async function allowUserNamespaces(info) {
    info("Allowing user namespaces to programs without an AppArmor profile, for bubblewrap");
    await sudo(["sysctl", "-w", "kernel.apparmor_restrict_unprivileged_userns=0"]);
}
/** Fails if that needs a password. */
function sudo(command) {
    return runProgram("sudo", ["--non-interactive", ...command]);
}

// EXTERNAL MODULE: ./build/service/src/agents/presets.js + 11 modules
var presets = __webpack_require__(1321);
;// CONCATENATED MODULE: ./build/service/step/setup/install-agent.js








/** Configuration of the package managers, such as another registry. */
const packageManagers = /^(npm_config_|PIP_)/i;
/**
 * Installs an agent, unless it is in `PATH`: in a folder of the step, so that nothing else on the runner changes.
 *
 * @returns the `PATH` in which the agent is
 * @throws SetupError if it is missing and cannot be installed
 */
async function installAgent(options) {
    const { agent, isAllowed, folder, environment, info, signal } = options;
    const { PATH = "" } = environment;
    if ((0,agent_service/* isInPath */.nJ)(agent.program, PATH))
        return PATH;
    const command = (0,presets/* installCommand */.Je)(agent);
    if (!isAllowed)
        throw new setup_error/* SetupError */.w("The agent is not installed", (0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* trusted */.IZ)(agent.program)} was not found in PATH, and \`install\` is false. Run \`${(0,runner_kit_text/* trusted */.IZ)(command)}\` in a step before this one, or remove \`install: false\`. Nothing was started.`);
    info(`Installing ${agent.name} ${agent.version}, the version that was tested`);
    (0,external_node_fs_.mkdirSync)(folder, { recursive: true });
    const env = installerEnvironment(environment);
    const { name, version } = agent;
    try {
        if (agent.registry === "npm") {
            const args = ["install", "--global", "--no-audit", "--no-fund", `--prefix=${folder}`, `${name}@${version}`];
            await runProgram("npm", args, { env, cwd: folder, signal });
        }
        else {
            await runProgram("python3", ["-m", "venv", folder], { env, signal });
            await runProgram((0,external_node_path_.join)(folder, "bin/pip"), ["install", "--quiet", `${name}==${version}`], { env, signal });
        }
    }
    catch (error) {
        throw new setup_error/* SetupError */.w("The agent cannot be installed", (0,runner_kit_text/* say */.cv) `${(0,error_message/* errorMessage */.g)(error)}\nInstall it in a step before this one with \`${(0,runner_kit_text/* trusted */.IZ)(command)}\`. Nothing was started.`);
    }
    return [(0,external_node_path_.join)(folder, "bin"), PATH].join(external_node_path_.delimiter);
}
/** Returns the environment for programs that install others, whose authors need no secrets. */
function installerEnvironment(environment) {
    return (0,agent_service/* withoutSecrets */.cT)(environment, (name) => packageManagers.test(name));
}

;// CONCATENATED MODULE: ./build/service/step/setup/prepare.js










/** How long an agent may run so that an hour's token, made shortly before, outlives its push, in milliseconds. */
const safeTokenMs = 55 * 60_000;
/**
 * Makes sure that the sandbox and the agent are there.
 *
 * @returns the `PATH` in which the agent is
 * @throws SetupError if one is missing and cannot be installed
 */
async function prepareAgent({ agentPackage, options, install, token, isWorkflowToken }, { folder, environment, info, signal }) {
    if (token.startsWith("ghs_") && !isWorkflowToken && options.timeLimitMs > safeTokenMs)
        info(`\`github-token\` is that of a GitHub App, which ends an hour after it was made. The agent may run for ${options.timeLimitMs / 60_000} minutes: if the token ends before, its work cannot be pushed. Give it less time, or make the token just before this step.`);
    if (options.sandbox === "bwrap")
        await prepareBubblewrap({
            folder: (0,external_node_path_.join)(folder, "sandbox-test"),
            canInstall: install && environment.RUNNER_ENVIRONMENT === "github-hosted",
            info,
        });
    if (agentPackage === undefined)
        return environment.PATH;
    return installAgent({
        agent: agentPackage,
        isAllowed: install,
        folder: agentFolder(folder),
        environment,
        info,
        signal,
    });
}
/** Returns the folder of an agent that was installed, beside that of the service. */
const agentFolder = (folder) => `${folder}-agent`;
/**
 * Creates the folder of the service, in the folder that the runner empties after the job. It has the same path in each run:
 * agents find their sessions by it.
 */
function createFolder({ RUNNER_TEMP, HOME }, projectId) {
    const parent = RUNNER_TEMP || (0,external_node_path_.join)(HOME || (0,external_node_os_.homedir)(), ".cache");
    (0,external_node_fs_.mkdirSync)(parent, { recursive: true });
    for (let number = 1;; number++) {
        const folder = (0,external_node_path_.join)(parent, `agent-job-service-${projectId}${number === 1 ? "" : `-${number}`}`);
        try {
            (0,external_node_fs_.mkdirSync)(folder, { mode: 0o700 });
            return folder;
        }
        catch (error) {
            if (error.code !== "EEXIST")
                throw error;
        }
    }
}
/** @throws SetupError unless this is Linux */
function checkPlatform(environment, platform = process.platform) {
    const problem = (0,agent_service/* platformProblem */.J4)(environment, platform);
    if (problem === undefined)
        return;
    throw new setup_error/* SetupError */.w("The runner is not Linux", (0,runner_kit_text/* say */.cv) `The agent service ${problem}. Nothing was started.`);
}
/** The first version with `git merge-tree --write-tree --stdin`. */
const minGit = [2, 39];
/** @throws SetupError unless Git is installed in a version that the service can use */
async function checkGit() {
    const { stdout } = await (0,external_node_util_.promisify)(external_node_child_process_.execFile)("git", ["--version"]).catch(() => ({ stdout: "" }));
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
    if (major > minGit[0] || (major === minGit[0] && minor >= minGit[1]))
        return;
    const found = stdout === "" ? (0,runner_kit_text/* say */.cv) `Git was not found in PATH` : (0,runner_kit_text/* say */.cv) `The runner has ${stdout.trim()}`;
    throw new setup_error/* SetupError */.w("Git is missing or too old", (0,runner_kit_text/* say */.cv) `${found}. The agent service needs Git ${(0,runner_kit_text/* trusted */.IZ)(minGit.join("."))} or newer: install it in a step before this one. Nothing was started.`);
}


/***/ }),

/***/ 6567:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  G: () => (/* binding */ reportRun),
  g: () => (/* binding */ stopServer)
});

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: external "node:timers/promises"
var promises_ = __webpack_require__(8500);
// EXTERNAL MODULE: ./build/src/runner-kit/cache.js
var cache = __webpack_require__(6301);
// EXTERNAL MODULE: ./build/src/runner-kit/text.js
var runner_kit_text = __webpack_require__(3596);
// EXTERNAL MODULE: ./build/src/runner-kit/untrusted.js
var untrusted = __webpack_require__(8145);
// EXTERNAL MODULE: ./build/service/src/remove-directory.js
var remove_directory = __webpack_require__(3889);
// EXTERNAL MODULE: ./build/service/src/service-folder.js
var service_folder = __webpack_require__(5053);
// EXTERNAL MODULE: ./build/service/step/guide.js
var guide = __webpack_require__(2701);
// EXTERNAL MODULE: ./build/service/step/report.js
var step_report = __webpack_require__(9871);
// EXTERNAL MODULE: ./build/service/src/turns/log-notes.js
var log_notes = __webpack_require__(3958);
;// CONCATENATED MODULE: ./build/service/step/report-agents.js



/** What the service writes in front of its notes in a job's log. */
const prefix = "[service] ";
/**
 * Says of the jobs of this run what explains their result, and would be lost with their logs: what an agent said that changed
 * nothing, and that an agent began a new session.
 *
 * @param logs - by the jobs' ids
 * @param keepsSessions - whether the run could keep sessions in the Actions cache. Otherwise each one is new, which the start of
 *   the step has said
 */
function reportAgents(runner, logs, keepsSessions) {
    const notes = [...logs].map(([id, log]) => ({
        id,
        lines: log.split("\n").filter((line) => line.startsWith(prefix)),
    }));
    const texts = notes.map(({ id, lines }) => ({ id, texts: lines.map((line) => line.slice(prefix.length)) }));
    annotate(runner, "The agent changed nothing", texts.flatMap(({ texts: all }) => {
        const words = wordsIn(all);
        return words === undefined ? [] : [(0,runner_kit_text/* say */.cv) `Its last words: ${words}`];
    }));
    if (!keepsSessions)
        return;
    const begun = texts.filter(({ texts: all }) => all.some((text) => text.startsWith(log_notes/* newSessionNote */.xZ)));
    annotate(runner, "The agent began a new session", begun.map(({ id }) => (0,runner_kit_text/* say */.cv) `The session of the earlier turns of ${id} is gone, so the agent knows only what its prompt tells of them.`));
}
function annotate(runner, title, texts) {
    if (texts.length > 0)
        runner.annotate("notice", title, (0,untrusted/* forAnnotation */.Jc)((0,runner_kit_text/* join */.fj)(texts, "\n")));
}
/** Returns the message of the agent of a job's last turn, if it changed nothing. */
function wordsIn(texts) {
    const start = texts.findLastIndex((text) => text.startsWith(log_notes/* noChangeNote */.wK));
    const laterTurn = texts.findIndex((text, index) => index > start && (0,log_notes/* isStartNote */.hH)(text));
    if (start < 0 || laterTurn >= 0)
        return undefined;
    return (texts
        .slice(start + 1)
        .join("\n")
        .trim() || undefined);
}

// EXTERNAL MODULE: ./build/service/step/server-protocol.js
var server_protocol = __webpack_require__(6387);
// EXTERNAL MODULE: ./build/service/step/setup/prepare.js + 3 modules
var prepare = __webpack_require__(8653);
;// CONCATENATED MODULE: ./build/service/step/stop-server.js













const maxLogLines = 100;
/**
 * Runs `post` of the step: stops the service, says what a workflow's author should know, and removes its files.
 *
 * @param graceMs - how long the service has to stop its agents and to save their jobs. Default: 150 s
 */
async function stopServer(runner, graceMs = 150_000) {
    const folder = runner.state("folder");
    if (folder === "")
        return;
    const hasCrashed = await stopProcess(Number(runner.state("process")), folder, graceMs);
    const isWorkflowToken = runner.state("isWorkflowToken") === "true";
    await reportRun(runner, { folder, hasCrashed, isWorkflowToken, environment: process.env });
}
/** Says what a workflow's author should know of a service that has ended, and removes its files. */
async function reportRun(runner, { folder, hasCrashed, isWorkflowToken, environment }) {
    const report = (0,step_report/* readReport */.tL)(folder);
    const logs = jobLogs(folder);
    if (report !== undefined) {
        if (hasCrashed)
            stop_server_annotate(runner, "error", "The agent service ended early", (0,runner_kit_text/* say */.cv) `It was no longer running at the end of the job. Its log is below. Report this bug if the log does not say why.`);
        if (isWorkflowToken)
            reportPullRequests(runner, report, environment);
        reportUnsaved(runner, report);
        reportAgents(runner, logs, (0,cache/* cacheAccess */.nU)(environment) === "write");
    }
    // The service's own log is always there: a step can fail without a job.
    showLogs(runner, folder, logs, runner.isDebug() ? [...logs.keys()] : (report?.failedJobs ?? []));
    await (0,remove_directory/* removeDirectory */.q)(folder);
    await (0,remove_directory/* removeDirectory */.q)((0,prepare/* agentFolder */.Kv)(folder));
}
/**
 * Terminates the process of the service with everything it started.
 *
 * @returns whether it had ended before
 */
async function stopProcess(id, folder, graceMs) {
    if (!isServer(id, folder))
        return id > 0;
    process.kill(id, "SIGTERM");
    const deadline = performance.now() + graceMs;
    while (isServer(id, folder) && performance.now() < deadline)
        await (0,promises_.setTimeout)(50);
    // Its agents end with it.
    if (isServer(id, folder))
        process.kill(-id, "SIGKILL");
    return false;
}
/** Returns whether a process is the service's, and not another one that got its id. */
function isServer(id, folder) {
    try {
        return (0,external_node_fs_.readFileSync)(`/proc/${id}/cmdline`, "utf8").split("\0").includes(folder);
    }
    catch {
        return false;
    }
}
/** Returns the logs of jobs by their ids. */
function jobLogs(folder) {
    const logs = (0,service_folder/* logsFolder */.qd)((0,external_node_path_.join)(folder, "service"));
    const names = (0,external_node_fs_.globSync)("*.log", { cwd: logs });
    return new Map(names.map((name) => [(0,external_node_path_.basename)(name, ".log"), (0,external_node_fs_.readFileSync)((0,external_node_path_.join)(logs, name), "utf8")]));
}
function reportPullRequests(runner, { pullRequests }, environment) {
    const [first] = pullRequests;
    if (first !== undefined)
        stop_server_annotate(runner, "notice", "Workflows wait for approval", (0,runner_kit_text/* say */.cv) `${first} was opened with the workflow's own token, so its workflows, such as CI, wait for approval: press "Approve workflows to run" in it. To have them run at once, pass the token of a GitHub App as \`github-token\`: see ${(0,runner_kit_text/* trusted */.IZ)((0,guide/* guide */.R)("pull-requests-that-start-ci", environment))}.`);
}
function reportUnsaved(runner, { unsavedJobs }) {
    const jobs = Object.entries(unsavedJobs);
    if (jobs.length === 0)
        return;
    stop_server_annotate(runner, "warning", "Jobs cannot be continued by a later run", (0,runner_kit_text/* say */.cv) `They could not be saved in the Actions cache. ${(0,runner_kit_text/* join */.fj)(jobs.map(([id, reason]) => (0,runner_kit_text/* say */.cv) `${id}: ${reason}.`), " ")}`);
}
function showLogs(runner, folder, logs, jobs) {
    for (const id of jobs)
        showLog(runner, id, logs.get(id) ?? "");
    try {
        showLog(runner, "the agent service", (0,external_node_fs_.readFileSync)((0,external_node_path_.join)(folder, server_protocol/* logFile */.N9), "utf8"));
    }
    catch {
        // The service was never started.
    }
}
function showLog(runner, what, text) {
    if (text !== "")
        runner.group(`Log of ${what}`, lastLines(text));
}
const lastLines = (text) => text.trimEnd().split("\n").slice(-maxLogLines);
function stop_server_annotate(runner, level, title, text) {
    runner.annotate(level, title, (0,untrusted/* forAnnotation */.Jc)(text));
}


/***/ }),

/***/ 3468:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $R: () => (/* binding */ agentProblem),
/* harmony export */   EN: () => (/* binding */ editor),
/* harmony export */   J4: () => (/* binding */ platformProblem),
/* harmony export */   J6: () => (/* binding */ serviceEnvironment),
/* harmony export */   Xv: () => (/* binding */ forkAdvice),
/* harmony export */   _N: () => (/* binding */ agentKeys),
/* harmony export */   cT: () => (/* binding */ withoutSecrets),
/* harmony export */   nJ: () => (/* binding */ isInPath),
/* harmony export */   v8: () => (/* binding */ projectOf),
/* harmony export */   y4: () => (/* binding */ readAgentOptions)
/* harmony export */ });
/* unused harmony exports agentInputs, stepOptions */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _text_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3596);



// What the action and the program that runs its own agent agree on: the inputs `agent` and `agent-options`, and their messages.
/** What to do about a run without secrets or tokens because of its event: a condition that lets all other events pass. */
const forkAdvice = "Runs for pull requests from forks get none: to skip these, give the job if: github.event.pull_request == null || github.event.pull_request.head.repo.full_name == github.repository";
/** The built-in editor, which needs neither a model nor a key. */
const editor = "editor";
/** The agents that are known by name, and the variables of which one must have the key of their model. */
const agentKeys = {
    claude: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"],
    codex: ["CODEX_API_KEY"],
    gemini: ["GEMINI_API_KEY"],
    opencode: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
    aider: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
    // It works with the workflow's own token.
    copilot: [],
    [editor]: [],
};
const agentNames = Object.keys(agentKeys);
/**
 * Returns what is wrong with an agent: it is none, a word that is not a program, or a known one with more words. `undefined` if it may be one.
 *
 * @param options - the input that has its options
 */
function agentProblem(agent, { PATH = "" }, options = "agent-options") {
    if (agent === "")
        return (0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `is required: one of ${agentNames.join(", ")}, or a shell command`;
    const [name = ""] = agent.replace(/^(\w+=\S*\s+)*/, "").match(/^[\w-]+(?=@|\s|$)/) ?? [];
    const model = /\s(?:--model|-m)[\s=]+(\S+)/.exec(agent)?.[1] ?? "NAME";
    if (name !== agent && Object.hasOwn(agentKeys, name))
        return (0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `is ${agent}, which would run as a command of your own. Set agent to ${name} alone, and its model by the line --model ${model} of ${(0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .trusted */ .IZ)(options)}. A command line of your own has to be in a script`;
    if (agent in agentKeys || !/^[\w.-]+$/.test(agent) || isInPath(agent, PATH))
        return undefined;
    return (0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `is ${agent}, which is neither one of ${agentNames.join(", ")} nor a program in the PATH of this runner`;
}
/** Returns whether a program is in one of the folders of a `PATH`. */
function isInPath(program, path) {
    return path.split(node_path__WEBPACK_IMPORTED_MODULE_1__.delimiter).some((folder) => {
        const file = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder, program);
        try {
            (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.accessSync)(file, node_fs__WEBPACK_IMPORTED_MODULE_0__.constants.X_OK);
            return (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.statSync)(file).isFile();
        }
        catch {
            return false;
        }
    });
}
/**
 * Returns the project of an agent's service. It is the same in each run, so that sessions find their jobs: whatever the port is, and
 * however a command is worded. The workflow's own repository is known by its id, which a rename or transfer keeps.
 *
 * @param repository - `OWNER/NAME`
 * @param name - tells agents of one repository apart. Default: the agent
 */
function projectOf(repository, agent, { GITHUB_REPOSITORY: own, GITHUB_REPOSITORY_ID: id }, name = agent in agentKeys ? agent : "command") {
    const isOwn = repository.toLowerCase() === own?.toLowerCase();
    return [...(isOwn && id ? [id] : repository.split("/")), name].join("-");
}
/** Inputs of `service/action.yml` that `agent-options` may have, too: the action sets the others. */
const agentInputs = (/* unused pure expression or super */ null && (["sandbox", "agent-network", "time-limit-minutes", "remember", "install"]));
/** The options of the service that a step may set. */
const stepOptions = [
    "agent-env",
    "agent-env-public",
    "agent-model-tools",
    "agent-reads",
    "agents",
    "check",
    "commit-as",
    "disk-mb",
    "largest-change-mb",
    "memory-mb",
    "model",
    "model-host",
    "only",
    "protect",
    "protected-files",
    "setup",
    "setup-host",
    "sign-off",
    "trailer",
];
/** Reads options, one in each line, such as `--model sonnet`. @param inputs - the inputs that a line may stand for */
function readAgentOptions(text, inputs) {
    const read = { name: undefined, inputs: {}, options: [], problems: [] };
    const lines = text.split("\n").map((line) => line.trim());
    for (const line of lines.filter((each) => each !== "")) {
        const [, given = "", written = ""] = /^--([a-z-]+)(?:[\s=]+(.+))?$/.exec(line) ?? [];
        // Quotation marks around a value are what a shell would need.
        const value = /^(["'])((?:(?!\1).)+)\1$/.exec(written)?.[2] ?? written;
        // Only a command has options of its own.
        const isOne = given === "setup" || given === "check" || !/\s--[a-z]/.test(written);
        const name = isOne ? stepOptions.find((option) => option === given) : undefined;
        const isAgain = given === "name" ? read.name !== undefined : Object.hasOwn(read.inputs, given);
        // Other options are parsed later, as those of a command line.
        if (isAgain)
            read.problems.push((0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `must have --${given} only once`);
        else if (isOne && given === "name" && /^[\w.-]{1,50}$/.test(value))
            read.name = value;
        else if (isOne && inputs.includes(given) && value !== "")
            read.inputs[given] = value;
        else if (name !== undefined)
            read.options.push({ name, value, line });
        else {
            const known = ["name", ...inputs, ...stepOptions].map((one) => `--${one}`).join(", ");
            read.problems.push((0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `must have one of ${known} in each line, with its value, not ${line}`);
        }
    }
    return read;
}
/** Returns why an agent cannot run on this system; `undefined` if it can. It continues a sentence. */
function platformProblem({ RUNNER_OS }, platform = process.platform) {
    const system = RUNNER_OS || { linux: "Linux", darwin: "macOS", win32: "Windows" }[platform] || platform;
    if (system === "Linux")
        return undefined;
    return (0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `does not run on ${system}: an agent's sandbox needs bubblewrap and the namespaces of Linux. Set \`runs-on: ubuntu-latest\` for this job`;
}
/**
 * What the service and what it starts need of the runner's environment. `RUNNER_TRACKING_ID` lets the runner end the service
 * after the workflow's job.
 */
const needed = /^(PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+|TZ|USER|LOGNAME|SHELL|TMPDIR|(HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|GIT_SSL_CAINFO|RUNNER_TRACKING_ID)$/i;
/** Returns the variables with which programs run that need no secrets. @param more - others that they get */
function withoutSecrets(environment, more = () => false) {
    return Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => value !== undefined && (needed.test(name) || more(name)) ? [[name, value]] : []));
}
/**
 * Returns the environment of a process of the service: nothing else of the runner's, neither its tokens nor inputs.
 *
 * @param names - variables that the agent gets, such as its key
 */
function serviceEnvironment(environment, names) {
    // With what Node has compiled before, the service starts in two thirds of the time. Agents do not get it.
    const more = (name) => name === "NODE_COMPILE_CACHE" || names.includes(name);
    // Node ignores the variables of proxies otherwise.
    return { ...withoutSecrets(environment, more), NODE_USE_ENV_PROXY: "1" };
}


/***/ }),

/***/ 8145:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Ig: () => (/* binding */ forLog),
/* harmony export */   Jc: () => (/* binding */ forAnnotation)
/* harmony export */ });
/* unused harmony exports forHtml, code, textToHtml, excerpt, printable */
/**
 * The only place that escapes untrusted text (from the service, a prompt, an input, a file) for the place that shows it.
 * Everything that is printed or written passes through here, including our own words.
 */
/** How much of an untrusted part of a sentence is shown, so that the advice after it still fits. */
const partLimit = 1000;
/** The runner shows this many characters of an annotation. */
const annotationLimit = 4096;
/** Control characters, line ends, and what is invisible or reorders text; except the joiner that emoji need. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}]|(?!\u200d)\p{Cf}/gu;
/** Replaces the characters above, except those in `keep`, by visible escapes such as `\u{202e}`. */
function visible(text, keep) {
    return text
        .toWellFormed()
        .replace(unprintable, (character) => keep.includes(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
/** The runner reads `##[name]` as a command anywhere in a line, and `::name::` at the start of one. */
const commandMark = /##\[|^\s*::/;
function escapeCommands(line) {
    return line.replaceAll("##[", "##\\[").replace(/^(\s*)::/, "$1\\::");
}
/** No log line needs more; untrusted text could fill the log otherwise. */
const lineLimit = 10_000;
/** Escapes a line for the log. `hasCommand`: before escaping, the runner would have found a command in it. */
function forLog(text) {
    const line = visible(excerpt(text, lineLimit), "\t");
    return { line: escapeCommands(line), hasCommand: commandMark.test(line) };
}
/** Escapes a sentence for an annotation: our own line ends stay; untrusted parts are shortened and on one line each. */
function forAnnotation(text) {
    const parts = text.map((part) => typeof part === "string" ? part : visible(excerpt(part.untrusted, partLimit), "\t"));
    return excerpt(parts.join("").split("\n").map(escapeCommands).join("\n"), annotationLimit);
}
/** Escapes a text as one line of HTML, of `limit` UTF-16 units at most. GitHub still links in it: see {@link code}. */
function forHtml(text, limit = 300) {
    const entities = {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "'": "&#39;",
        "\n": "&#10;",
    };
    return visible(excerpt(text.replaceAll("\r\n", "\n"), limit), "\t\n").replace(/[&<>"'\n]/g, (character) => entities[character] ?? "");
}
/** Formats untrusted text as code in HTML, in which GitHub makes no mentions, references or links. */
function code(text, limit) {
    return `<code>${forHtml(text, limit)}</code>`;
}
/** Formats a sentence as HTML, with untrusted parts as {@link code}. */
function textToHtml(text) {
    return text
        .map((part) => (typeof part === "string" ? forHtml(part, part.length) : code(part.untrusted, partLimit)))
        .join("");
}
/** Cuts a text to at most `limit` UTF-16 units, never in the middle of a character. */
function excerpt(text, limit) {
    if (text.length <= limit)
        return text;
    return `${text
        .slice(0, limit - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`;
}
/** Removes control characters, and what is invisible or reorders text; except tabs and line feeds. */
function printable(text) {
    return text.toWellFormed().replace(/(?![\t\n])\p{Cc}|[\p{Zl}\p{Zp}]|(?!\u200d)\p{Cf}/gu, "");
}


/***/ })

};
