export const id = 685;
export const ids = [685];
export const modules = {

/***/ 3124:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  e: () => (/* binding */ createAgentNetwork),
  qr: () => (/* binding */ fullNetwork),
  a: () => (/* binding */ networkKinds)
});

// EXTERNAL MODULE: ./build/service/src/own-file.js
var own_file = __webpack_require__(442);
// EXTERNAL MODULE: external "node:fs/promises"
var promises_ = __webpack_require__(1455);
// EXTERNAL MODULE: external "node:http"
var external_node_http_ = __webpack_require__(7067);
// EXTERNAL MODULE: external "node:https"
var external_node_https_ = __webpack_require__(4708);
// EXTERNAL MODULE: external "node:net"
var external_node_net_ = __webpack_require__(7030);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(8161);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: external "node:stream"
var external_node_stream_ = __webpack_require__(7075);
;// CONCATENATED MODULE: ./build/service/src/agents/network/model-proxy.js







/** In bytes, for the headers of a request or a response. */
const maxHeaderSize = 64 * 1024;
/** Headers that are about one connection, or in which an agent could send a key of its own. */
const dropped = new Set([
    ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host"],
    ...["proxy-authorization", "proxy-connection", "authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"],
]);
/** Starts a proxy. No path, header or body that passes it is logged. */
async function startModelProxy({ model, hosts, log }) {
    const allowed = new Set(hosts.map((host) => (host.includes(":") ? host : `${host}:443`).toLowerCase()));
    const denied = new Set();
    const tunnels = new Set();
    // Uses the proxy of the service's environment, if there is one.
    const httpsAgent = new external_node_https_.Agent({ keepAlive: true, proxyEnv: process.env });
    const server = (0,external_node_http_.createServer)({ maxHeaderSize }, (request, response) => {
        if (model === undefined || !request.url?.startsWith("/"))
            return reject(response, 403, "This proxy opens tunnels.");
        // With this status, Codex uses HTTP at once. With others, it tries to open a WebSocket five times.
        if (request.headers.upgrade !== undefined)
            return reject(response, 426, "This proxy opens no WebSockets.");
        try {
            forward(request, response, model, httpsAgent);
        }
        catch {
            // Such as a path that is no URL. An agent must not be able to end the service with it.
            reject(response, 400, "The request is invalid.");
        }
    });
    server.on("connect", ({ url = "" }, client, head) => {
        // An error that nobody listens to would end the service.
        client.on("error", () => { });
        const [, host, port] = /^([\w.-]+):(\d{1,5})$/.exec(url) ?? [];
        if (host === undefined || !allowed.has(url.toLowerCase())) {
            // Limited, because an agent chooses the names.
            if (host !== undefined && !denied.has(url) && denied.size < 20) {
                denied.add(url);
                log(`An agent was denied a connection to ${url}.`);
            }
            client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
            return;
        }
        openTunnel(client, (0,external_node_net_.connect)(Number(port), host), head, tunnels);
    });
    // In the temporary directory, because the path of a socket may only have about 100 bytes.
    const folder = await (0,promises_.mkdtemp)((0,external_node_path_.join)((0,external_node_os_.tmpdir)(), "agent-proxy-"));
    const socket = (0,external_node_path_.join)(folder, "socket");
    await new Promise((resolve, rejectStart) => server.once("error", rejectStart).listen(socket, resolve));
    return {
        socket,
        [Symbol.asyncDispose]: async () => {
            for (const tunnel of tunnels)
                tunnel.destroy();
            httpsAgent.destroy();
            server.closeAllConnections();
            await new Promise((resolve) => server.close(resolve));
            await (0,promises_.rm)(folder, { recursive: true, force: true });
        },
    };
}
function openTunnel(client, target, head, tunnels) {
    tunnels.add(client);
    client.once("close", () => {
        tunnels.delete(client);
        target.destroy();
    });
    const fail = () => void client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    target.once("error", fail).once("connect", () => {
        target.off("error", fail);
        client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        target.write(head);
        (0,external_node_stream_.pipeline)(client, target, client, () => { });
    });
}
function forward(request, response, { endpoint, key }, httpsAgent) {
    const base = new URL(endpoint.url);
    // Resolved by the parser that sends the request, so that no `..` leads out of the endpoint.
    const url = new URL(`${base.origin}${request.url}`);
    const folder = base.pathname.replace(/\/$/, "");
    // The answer to a TRACE shows the headers.
    if (request.method === "TRACE" || !`${url.pathname}/`.startsWith(`${folder}/`)) {
        reject(response, 403, "This is not a request for the model.");
        return;
    }
    const [name, value] = endpoint.header(key);
    const passed = Object.fromEntries(Object.entries(request.headers).filter(([header]) => !dropped.has(header)));
    const headers = { ...passed, [name.toLowerCase()]: value };
    const [send, agent] = url.protocol === "https:" ? [external_node_https_.request, httpsAgent] : [external_node_http_.request, undefined];
    const upstream = send(url, { method: request.method, headers, maxHeaderSize, agent }, (answer) => {
        const { connection, "keep-alive": _, "transfer-encoding": __, ...answered } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, answered);
        (0,external_node_stream_.pipeline)(answer, response, () => { });
    });
    upstream.on("error", () => reject(response, 502, "The model cannot be reached."));
    // The agent has gone, and pays for no more of the answer.
    response.on("close", () => upstream.destroy());
    (0,external_node_stream_.pipeline)(request, upstream, () => { });
}
/** Does nothing in the middle of an answer, which ends with the connection to the model. */
function reject(response, status, reason) {
    if (!response.headersSent)
        response.writeHead(status, { "content-type": "text/plain" }).end(`${reason}\n`);
}

;// CONCATENATED MODULE: ./build/service/src/agents/network/agent-network.js


const networkKinds = ["full", "model", "none"];
/** Agents have the network of the machine. */
const fullNetwork = {
    isShared: true,
    environment: {},
    reads: [],
    programs: [],
    wrap: (command) => command,
    [Symbol.asyncDispose]: async () => { },
};
/** On the loopback of the sandbox, which no other program of the machine uses. */
const port = 3128;
const forwarder = (0,own_file/* ownFile */.P)("agents/network/forwarder.ts");
/**
 * Creates the network of an agent.
 *
 * @param modelHosts - hosts that it may reach with `model`, besides its own
 * @param service - the environment of the service, with the key of the model
 * @throws if it is limited to its model, and that is unknown
 */
async function createAgentNetwork(kind, agent, modelHosts, service, log) {
    if (kind === "full")
        return fullNetwork;
    if (kind === "none")
        return { ...fullNetwork, isShared: false };
    const { modelEndpoint: endpoint } = agent;
    const key = endpoint && service[endpoint.keyVariable];
    const hosts = [...agent.hosts, ...modelHosts];
    if (!key && hosts.length === 0)
        throw new Error("the model of this agent is unknown: name its host with --model-host");
    const model = endpoint && key ? { endpoint, key } : undefined;
    const proxy = await startModelProxy({ model, hosts, log });
    const url = `http://127.0.0.1:${port}`;
    return {
        isShared: false,
        environment: {
            ...inBothCases({ HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: "127.0.0.1,localhost" }),
            // Without it, Node ignores these variables.
            NODE_USE_ENV_PROXY: "1",
            ...(model && {
                [model.endpoint.baseUrlVariable]: url + new URL(model.endpoint.url).pathname.replace(/\/$/, ""),
                [model.endpoint.keyVariable]: "added-by-the-service",
            }),
        },
        reads: [proxy.socket, forwarder],
        programs: [process.execPath],
        wrap: ({ file, args }) => ({
            file: process.execPath,
            args: [forwarder, String(port), proxy.socket, file, ...args],
        }),
        [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
    };
}
/** Programs differ in which of both they read. */
function inBothCases(variables) {
    return Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => [
        [name, value],
        [name.toLowerCase(), value],
    ]));
}


/***/ }),

/***/ 5583:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  Je: () => (/* binding */ installCommand),
  DM: () => (/* binding */ presetAgent),
  gC: () => (/* binding */ presetNames),
  e5: () => (/* binding */ presetPackage)
});

;// CONCATENATED MODULE: ./build/service/src/agents/presets/preset.js
/** Parses the lines of JSON in an agent's output. The first line may be cut off, and others may not be JSON. */
function parseEvents(stdout) {
    return stdout.split("\n").flatMap((line) => {
        if (!line.startsWith("{"))
            return [];
        try {
            return [JSON.parse(line)];
        }
        catch {
            return [];
        }
    });
}
/** Returns the string at a path in an event; `undefined` if there is none. */
function stringIn(event, ...path) {
    let value = event;
    for (const name of path) {
        if (typeof value !== "object" || value === null)
            return undefined;
        value = value[name];
    }
    return typeof value === "string" ? value : undefined;
}
/** For an agent that exits with 0 without saying how its turn ended. */
const noResult = { message: undefined, error: "it ended without a result" };
/** Anthropic's API with an API key. `baseUrlVariable` and the path in its URL differ between agents. */
function anthropic(url, baseUrlVariable) {
    return { url, baseUrlVariable, keyVariable: "ANTHROPIC_API_KEY", header: (key) => ["x-api-key", key] };
}
/** OpenAI's API with an API key. */
function openAi(baseUrlVariable, keyVariable) {
    const header = (key) => ["authorization", `Bearer ${key}`];
    return { url: "https://api.openai.com/v1", baseUrlVariable, keyVariable, header };
}

;// CONCATENATED MODULE: ./build/service/src/agents/presets/aider.js

/** The lines that aider prints itself, before and after the model's words. */
const ownLine = /^(?:Repo-map: |Git repo: |Restored previous conversation|Summarizing |Added .* to the chat|Applied edit to |Commit [0-9a-f]{7} |Tokens: )/;
/** aider, by Paul Gauthier. */
const aider = {
    program: "aider",
    package: { registry: "pypi", name: "aider-chat", version: "0.86.2" },
    models: [anthropic("https://api.anthropic.com", "ANTHROPIC_API_BASE"), openAi("OPENAI_API_BASE", "OPENAI_API_KEY")],
    environment: {},
    // Its chat is kept in HOME, which lasts as long as the job: without sessions, that is its memory. `--yes-always` would
    // also fetch every URL in a prompt.
    script: () => [
        "exec aider --yes-always --no-pretty --no-stream --analytics-disable --no-check-update --no-show-release-notes",
        "--no-show-model-warnings --no-gitignore --no-detect-urls --no-suggest-shell-commands",
        '--restore-chat-history --chat-history-file "$HOME/.aider.chat.history.md"',
        '--input-history-file "$HOME/.aider.input.history" --message-file "$AGENT_PROMPT_FILE" "$@" < /dev/null',
    ].join(" "),
    readReport: (stdout) => {
        const lines = stdout.split("\n");
        const end = lines.findLastIndex((line) => /^Tokens: .* sent, /.test(line));
        // It exits with 0 in any case. After an error that it retried, it reports tokens in the end.
        const error = lines.findLastIndex((line) => /^litellm\.\w+: /.test(line));
        if (error > end)
            return { message: undefined, error: lines[error] };
        if (end === -1)
            return noResult;
        const start = lines.findLastIndex((line, index) => index < end && ownLine.test(line));
        return {
            message: lines
                .slice(start + 1, end)
                .join("\n")
                .trim() || undefined,
            error: undefined,
        };
    },
};

;// CONCATENATED MODULE: ./build/service/src/agents/presets/claude.js

/** Claude Code, by Anthropic. */
const claude = {
    program: "claude",
    package: { registry: "npm", name: "@anthropic-ai/claude-code", version: "2.1.330" },
    models: [
        anthropic("https://api.anthropic.com", "ANTHROPIC_BASE_URL"),
        {
            url: "https://api.anthropic.com",
            baseUrlVariable: "ANTHROPIC_BASE_URL",
            // From `claude setup-token`.
            keyVariable: "CLAUDE_CODE_OAUTH_TOKEN",
            header: (key) => ["authorization", `Bearer ${key}`],
        },
    ],
    environment: {
        // Otherwise it sends the content of every file that a prompt names as `@/path` to the model, also from outside the clone.
        CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
    },
    // `IS_SANDBOX` allows to skip permissions as root. `--verbose` is required by the output format, which logs each step when it
    // is done, also if the agent is killed later.
    script: ({ isFollowUp, isSandboxed }) => [
        `${isSandboxed ? "IS_SANDBOX=1 " : ""}exec claude --print --output-format stream-json --verbose`,
        isSandboxed ? "--dangerously-skip-permissions" : "--permission-mode acceptEdits",
        ...(isFollowUp ? ["--continue"] : []),
        '"$@"',
    ].join(" "),
    readReport: (stdout) => {
        const result = parseEvents(stdout).findLast(({ type }) => type === "result");
        if (result === undefined)
            return noResult;
        const message = stringIn(result, "result");
        return {
            message,
            error: result.is_error === true ? (message ?? stringIn(result, "subtype") ?? "no reason") : undefined,
        };
    },
};

;// CONCATENATED MODULE: ./build/service/src/agents/presets/codex.js

/** Codex CLI, by OpenAI. */
const codex = {
    program: "codex",
    package: { registry: "npm", name: "@openai/codex", version: "0.169.0" },
    models: [openAi("OPENAI_BASE_URL", "CODEX_API_KEY")],
    environment: {},
    // It reads the base URL only from its configuration.
    script: ({ isFollowUp, isSandboxed }) => [
        "exec codex exec --json",
        isSandboxed ? "--dangerously-bypass-approvals-and-sandbox" : "--sandbox workspace-write",
        `\${OPENAI_BASE_URL:+-c "openai_base_url=\\"$OPENAI_BASE_URL\\""} "$@"`,
        ...(isFollowUp ? ["resume --last"] : []),
        "-",
    ].join(" "),
    readReport: (stdout) => {
        const events = parseEvents(stdout);
        const end = events.findLast(({ type }) => type === "turn.completed" || type === "turn.failed");
        if (end === undefined)
            return noResult;
        const words = events.findLast((event) => stringIn(event, "item", "type") === "agent_message");
        const error = end.type === "turn.failed" ? (stringIn(end, "error", "message") ?? "no reason") : undefined;
        return { message: stringIn(words, "item", "text"), error };
    },
};

;// CONCATENATED MODULE: ./build/service/src/agents/presets/gemini.js

/** Without the type, it rejects a key together with a base URL. They take precedence over settings in the repository. */
const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
};
/** Gemini CLI, by Google. */
const gemini = {
    program: "gemini",
    package: { registry: "npm", name: "@google/gemini-cli", version: "0.61.0" },
    models: [
        {
            url: "https://generativelanguage.googleapis.com",
            baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
            keyVariable: "GEMINI_API_KEY",
            header: (key) => ["x-goog-api-key", key],
        },
    ],
    environment: {},
    script: ({ isFollowUp, isSandboxed }) => [
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH=$(mktemp) && export GEMINI_CLI_SYSTEM_SETTINGS_PATH &&",
        `echo '${JSON.stringify(settings)}' > "$GEMINI_CLI_SYSTEM_SETTINGS_PATH" &&`,
        "exec gemini --skip-trust --output-format stream-json",
        `--approval-mode ${isSandboxed ? "yolo" : "auto_edit"}`,
        ...(isFollowUp ? ["--resume latest"] : []),
        '"$@"',
    ].join(" "),
    readReport: (stdout) => {
        const events = parseEvents(stdout);
        const result = events.findLast(({ type }) => type === "result");
        if (result === undefined)
            return noResult;
        // The message arrives in pieces, after the last use of a tool.
        const words = events.slice(events.findLastIndex(({ type }) => type === "tool_result") + 1);
        const message = words.flatMap((event) => (event.role === "assistant" ? (stringIn(event, "content") ?? "") : []));
        const error = result.status === "success" ? undefined : (stringIn(result, "error", "message") ?? "no reason");
        return { message: message.join("") || undefined, error };
    },
};

;// CONCATENATED MODULE: ./build/service/src/agents/presets/opencode.js

/** OpenCode, by SST. */
const opencode = {
    program: "opencode",
    package: { registry: "npm", name: "opencode-ai", version: "1.18.33" },
    models: [
        anthropic("https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL"),
        openAi("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ],
    // It knows the models as of its own version.
    environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    script: ({ isFollowUp }) => `exec opencode run --format json ${isFollowUp ? "--continue " : ""}"$@"`,
    readReport: (stdout) => {
        const events = parseEvents(stdout);
        const end = events.findLast(({ type }) => type === "step_finish" || type === "error");
        if (end === undefined)
            return noResult;
        const lastStep = events.slice(events.findLastIndex(({ type }) => type === "step_start") + 1);
        const texts = lastStep.flatMap((event) => (event.type === "text" ? (stringIn(event, "part", "text") ?? "") : []));
        const error = stringIn(end, "error", "data", "message") ?? stringIn(end, "error", "name") ?? "no reason";
        return { message: texts.join("\n\n") || undefined, error: end.type === "error" ? error : undefined };
    },
};

;// CONCATENATED MODULE: ./build/service/src/agents/presets.js





/** The agents that `--agent` knows by name. */
const presets = new Map(Object.entries({ claude: claude, codex: codex, gemini: gemini, opencode: opencode, aider: aider }));
const presetNames = [...presets.keys()];
/** Returns the program of a preset and the package that has it; `undefined` if there is no such preset. */
function presetPackage(name) {
    const preset = presets.get(name);
    return preset && { program: preset.program, ...preset.package };
}
/** Returns the command that installs the tested version of an agent. */
function installCommand({ registry, name, version }) {
    return registry === "npm" ? `npm install --global ${name}@${version}` : `pip install ${name}==${version}`;
}
/** Some agents take a prompt that starts with `/` or `!` for a command of their own. */
const promptPrefix = "The task:\n\n";
/**
 * Returns the agent of a preset.
 *
 * @param environment - that of the service, which has the key
 * @param model - passed to the agent; default: the agent's own default
 * @throws if there is no key, or the base URL in the environment is not valid
 */
function presetAgent(name, environment, model) {
    const preset = presets.get(name);
    if (preset === undefined)
        return undefined;
    const { program, models, environment: own, script, readReport } = preset;
    const modelEndpoint = models.find(({ keyVariable }) => environment[keyVariable]);
    if (modelEndpoint === undefined) {
        const keys = models.map(({ keyVariable }) => keyVariable).join(" or ");
        throw new Error(`--agent ${name} requires ${keys} in the environment.`);
    }
    const { baseUrlVariable, keyVariable } = modelEndpoint;
    const url = environment[baseUrlVariable] || modelEndpoint.url;
    if (!URL.canParse(url))
        throw new Error(`${baseUrlVariable} must be a URL.`);
    return {
        model: model ?? name,
        command: (turn) => {
            const modelArguments = model === undefined ? [] : ["--model", model];
            return { file: "/bin/sh", args: ["-c", script(turn), program, ...modelArguments] };
        },
        promptPrefix,
        readReport,
        environment: own,
        passes: [keyVariable, baseUrlVariable],
        modelEndpoint: { ...modelEndpoint, url },
        programs: [program],
        install: installCommand(preset.package),
        reads: [],
        // None: its model is reached through the service, which adds the key. A direct way would let it use another key.
        hosts: [],
        isTrusted: false,
    };
}


/***/ }),

/***/ 1890:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   O: () => (/* binding */ explainBubblewrapError),
/* harmony export */   P: () => (/* binding */ bubblewrap)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);

/** Programs and libraries of the system. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];
/** Of `/etc`, only what programs need to start, to find hosts and users, and to check certificates. It also has keys. */
const systemFiles = [
    "alternatives",
    "ca-certificates",
    "crypto-policies",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "protocols",
    "resolv.conf",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
].map((name) => `/etc/${name}`);
/** Through these, a service of root could configure the kernel, even without capabilities. */
const kernelFiles = ["/proc/sys", "/proc/sysrq-trigger", "/proc/fs"];
/**
 * Runs agents with bubblewrap: in namespaces of their own for processes, users, hostname and System V IPC, without
 * capabilities, and with only the system's programs and what `SandboxAccess` names in the file system.
 */
const bubblewrap = {
    isConfining: true,
    wrap: (command, access) => ({
        file: "bwrap",
        args: [...sandboxArguments(access), "--", command.file, ...command.args],
    }),
};
function sandboxArguments({ currentDirectory, writable, readable, hasNetwork, temporary }) {
    return [
        // Everything the agent started dies with it, and all of it with the service.
        ...["--unshare-all", ...(hasNetwork ? ["--share-net"] : []), "--die-with-parent", "--new-session"],
        ...["--cap-drop", "ALL", "--hostname", "agent"],
        ...systemFolders.flatMap(showSystemFolder),
        ...systemFiles.flatMap(readOnly),
        ...["--proc", "/proc", ...kernelFiles.flatMap(readOnly), "--dev", "/dev"],
        ...["--bind", temporary, "/tmp", "--bind", temporary, "/dev/shm"],
        ...readable.flatMap(readOnly),
        ...writable.flatMap((path) => ["--bind", path, path]),
        // Nothing that is only in memory can be written, so that all files count for the limit of the disk.
        ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", currentDirectory],
    ];
}
function showSystemFolder(path) {
    if (!(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(path))
        return [];
    // Such as /bin, a link to /usr/bin on most systems.
    return (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.lstatSync)(path).isSymbolicLink() ? ["--symlink", (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readlinkSync)(path), path] : readOnly(path);
}
const readOnly = (path) => ["--ro-bind-try", path, path];
/** Returns what the operator can do if bubblewrap cannot run, given what it printed. */
function explainBubblewrapError(error) {
    const without = "or start the service with --sandbox none if its agents may do whatever you can.";
    if (process.platform !== "linux")
        return `The sandbox requires Linux. Run the service there, ${without}`;
    if (/ENOENT/.test(error))
        return `The sandbox requires bubblewrap, which is not installed. Install your distribution's package, such as with apt-get install bubblewrap, ${without}`;
    return [
        `bubblewrap cannot create a sandbox here: ${error}`,
        "If this is Ubuntu 24.04 or later, its AppArmor allows user namespaces only to programs with a profile: service/README.md has one for bwrap.",
        "In a container, the runtime has to allow user namespaces.",
        `Fix that, ${without}`,
    ].join("\n");
}


/***/ }),

/***/ 9141:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  _: () => (/* binding */ createSandbox),
  X: () => (/* binding */ sandboxKinds)
});

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./build/service/src/agents/sandbox/bubblewrap.js
var bubblewrap = __webpack_require__(1890);
// EXTERNAL MODULE: ./build/service/src/agents/sandbox/probe.js
var probe = __webpack_require__(460);
// EXTERNAL MODULE: ./build/service/src/agents/sandbox/sandbox.js
var sandbox = __webpack_require__(9025);
;// CONCATENATED MODULE: ./build/service/src/agents/sandbox/none.js


const newProcessNamespace = ["--pid", "--mount-proc", "--fork", "--kill-child"];
/** In order of preference: root needs no user namespace. */
const variants = [newProcessNamespace, ["--user", "--map-current-user", ...newProcessNamespace]];
/** The shell is the first process of the namespace. When it ends, the kernel kills all others. */
function wrapWith(variant, { file, args }) {
    return { file: "unshare", args: [...variant, "--", "/bin/sh", "-c", '"$@"; exit $?', "sh", file, ...args] };
}
/** Returns a sandbox that ends all processes with their turn if this machine allows it, and prevents nothing else. */
async function createProcessNamespace(log) {
    log("Agents run without a sandbox: they can do whatever the user of the service can, such as read its files and keys, push with its credentials, and change its programs.");
    for (const variant of variants)
        if ((await (0,probe/* probe */.d)(wrapWith(variant, { file: "true", args: [] }))) === undefined)
            return { isConfining: false, wrap: (command) => wrapWith(variant, command) };
    log("This machine has no PID namespaces for the service, so a process that leaves its process group outlives its turn.");
    return sandbox/* unconfined */.y;
}

;// CONCATENATED MODULE: ./build/service/src/agents/sandbox/create-sandbox.js





const sandboxKinds = ["bwrap", "none"];
/**
 * Creates a sandbox, after a test run in it.
 *
 * @param folder - the service's
 * @param hasNetwork - whether agents will have the network of the machine
 * @throws if it cannot run on this machine, with what the operator can do as the message
 */
async function createSandbox(kind, folder, hasNetwork, log) {
    if (kind === "none")
        return createProcessNamespace(log);
    const directory = (0,external_node_path_.join)(folder, "sandbox-test");
    (0,external_node_fs_.mkdirSync)(directory, { recursive: true });
    try {
        const access = {
            currentDirectory: directory,
            writable: [directory],
            readable: [],
            hasNetwork,
            temporary: directory,
        };
        // An empty file, so that a full disk is not taken for a sandbox that cannot be created.
        const error = await (0,probe/* probe */.d)(bubblewrap/* bubblewrap */.P.wrap({ file: "/bin/sh", args: ["-c", ": > written"] }, access));
        if (error !== undefined)
            throw new Error((0,bubblewrap/* explainBubblewrapError */.O)(error));
        return bubblewrap/* bubblewrap */.P;
    }
    finally {
        (0,external_node_fs_.rmSync)(directory, { recursive: true, force: true });
    }
}


/***/ }),

/***/ 460:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   d: () => (/* binding */ probe)
/* harmony export */ });
/* harmony import */ var node_child_process__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1421);

const timeLimitMs = 20_000;
/** Runs a command. Returns `undefined` if it exits with 0, or else why it does not: its stderr, or why it cannot be started. */
function probe({ file, args }, environment = process.env) {
    return new Promise((resolve) => {
        (0,node_child_process__WEBPACK_IMPORTED_MODULE_0__.execFile)(file, args, { timeout: timeLimitMs, env: environment }, (error, _stdout, stderr) => resolve(error === null ? undefined : stderr.trim() || error.message));
    });
}


/***/ }),

/***/ 9025:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   y: () => (/* binding */ unconfined)
/* harmony export */ });
/** No sandbox: for programs that are trusted like the service itself. */
const unconfined = { isConfining: false, wrap: (command) => command };


/***/ }),

/***/ 5719:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   g: () => (/* binding */ errorMessage),
/* harmony export */   j: () => (/* binding */ errorStack)
/* harmony export */ });
/** Returns the message of anything thrown, for a line of text. */
function errorMessage(error) {
    return error instanceof Error ? error.message : String(error);
}
/** Returns the stack of anything thrown, to log an unexpected error. */
function errorStack(error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
}


/***/ }),

/***/ 542:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   W8: () => (/* binding */ jobLogFile),
/* harmony export */   c3: () => (/* binding */ jobBranch),
/* harmony export */   qd: () => (/* binding */ logsFolder)
/* harmony export */ });
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6760);

/** Returns the job's branch. The id is the service's own, so it is valid in a ref name. */
const jobBranch = (jobId) => `agent/${jobId}`;
/** Returns the folder of the job logs: the output of agents, and the service's own notes. */
const logsFolder = (folder) => (0,node_path__WEBPACK_IMPORTED_MODULE_0__.join)(folder, "logs");
/** Returns the log of a job. */
const jobLogFile = (folder, jobId) => (0,node_path__WEBPACK_IMPORTED_MODULE_0__.join)(logsFolder(folder), `${jobId}.log`);


/***/ }),

/***/ 5798:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  A: () => (/* binding */ parseOptions)
});

// UNUSED EXPORTS: help

// EXTERNAL MODULE: external "node:net"
var external_node_net_ = __webpack_require__(7030);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(8161);
// EXTERNAL MODULE: external "node:util"
var external_node_util_ = __webpack_require__(7975);
;// CONCATENATED MODULE: ./build/service/src/access/trust-rule.js
const trust_rule_defaultIssuer = "https://token.actions.githubusercontent.com";
/**
 * Parses a rule: `[PROJECT=]OWNER/NAME[:REF|:environment:NAME]`.
 *
 * @throws if it is none; the message says what is expected
 */
function parseTrustRule(text) {
    const match = /^(?:([^=:]+)=)?([\w.-]+\/[\w.-]+)(?::(.+))?$/.exec(text);
    const [, project, repository = "", limit] = match ?? [];
    const environment = /^environment:(\S.{0,254})$/.exec(limit ?? "")?.[1];
    const ref = environment === undefined ? limit : undefined;
    if (match === null || (ref !== undefined && !/^refs\/[^\s*~^:?[\\]+\*?$/.test(ref)))
        throw new Error(`${text} is not a repository to trust, such as acme/docs, acme/docs:refs/heads/main, acme/docs:refs/tags/v*, acme/docs:environment:production or PROJECT=acme/docs.`);
    return { text, project, repository, ref, environment };
}
/**
 * Parses the URL of an issuer of tokens, as their claim `iss` has it.
 *
 * @throws if it is none
 */
function parseIssuer(text) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isLocal = url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
    if (url === undefined || !(url.protocol === "https:" || isLocal) || url.href !== url.origin + url.pathname)
        throw new Error(`--trust-issuer must be an https URL, such as ${trust_rule_defaultIssuer}.`);
    return url.href.replace(/\/+$/, "");
}
/**
 * Returns the rules by which a run of a workflow is trusted, or why it is not.
 *
 * Code from a fork runs in two kinds of runs, and those are only trusted by rules that say so: runs on `refs/pull/…`, whose
 * workflow is that of the pull request, and runs for `pull_request_target`, which may check it out.
 */
function rulesFor(rules, claims) {
    const { repository, ref, event_name: event, environment } = claims;
    const ofRepository = rules.filter((rule) => isSame(rule.repository, repository));
    if (ofRepository.length === 0)
        return { reason: `The repository ${quote(repository)} is not trusted` };
    const matching = ofRepository.filter((rule) => matchesRef(rule, ref) && matchesEnvironment(rule, environment));
    if (matching.length === 0)
        return { reason: `${quote(repository)} is not trusted ${place(ref, environment)}` };
    const trusted = matching.filter((rule) => event !== "pull_request_target" || rule.environment !== undefined);
    if (trusted.length > 0)
        return trusted;
    return { reason: `Runs of ${quote(repository)} for pull_request_target are only trusted with an environment` };
}
const isSame = (one, other) => one.toLowerCase() === other.toLowerCase();
const pullRefs = "refs/pull/";
function matchesRef({ ref: pattern }, ref) {
    if (ref.startsWith(pullRefs) && !pattern?.startsWith(pullRefs))
        return false;
    if (pattern === undefined)
        return true;
    return pattern.endsWith("*") ? ref.startsWith(pattern.slice(0, -1)) : ref === pattern;
}
function matchesEnvironment({ environment: required }, environment) {
    return required === undefined || (environment !== undefined && isSame(required, environment));
}
function place(ref, environment) {
    return `on ${quote(ref)} ${environment === undefined ? "without an environment" : `in the environment ${quote(environment)}`}`;
}
/** Returns a text of someone else for a message, in one line. */
function quote(text) {
    return JSON.stringify(text.slice(0, 300));
}

// EXTERNAL MODULE: ./build/service/src/agents/network/agent-network.js + 1 modules
var agent_network = __webpack_require__(3124);
// EXTERNAL MODULE: ./build/service/src/agents/presets.js + 6 modules
var presets = __webpack_require__(5583);
// EXTERNAL MODULE: ./build/service/src/agents/sandbox/create-sandbox.js + 1 modules
var create_sandbox = __webpack_require__(9141);
// EXTERNAL MODULE: ./build/service/src/error-message.js
var error_message = __webpack_require__(5719);
;// CONCATENATED MODULE: ./build/service/src/per-project.js

/** Stands for every project. */
const anyProject = Symbol("any project");
/**
 * A value for each project: one for each of a configuration, or the same for all projects, whatever they are called. Immutable.
 */
class PerProject {
    #values;
    constructor(values) {
        this.#values = values;
    }
    /** The same value for all projects, also for those that are only in the store. */
    static same(value) {
        return new PerProject(new Map([[anyProject, value]]));
    }
    /** Values by the names of their projects. All other projects are unknown. */
    static of(values) {
        return new PerProject(new Map(values));
    }
    /** The projects; `undefined` if there is a value for any. */
    get names() {
        const names = [...this.#values.keys()];
        return names.every((name) => name !== anyProject) ? names : undefined;
    }
    /** The value of each project, each value once. */
    get values() {
        return [...new Set(this.#values.values())];
    }
    /** Returns `undefined` if the project is unknown. */
    get(project) {
        return this.#values.get(project) ?? this.#values.get(anyProject);
    }
    /** Returns what `change` makes of each value. */
    map(change) {
        return new PerProject(new Map([...this.#values].map(([project, value]) => [project, change(value)])));
    }
    /** Returns what `change` makes of each value, one after another. An error names its project, unless the value is that of any. */
    async mapInOrder(change) {
        const changed = new Map();
        for (const [project, value] of this.#values)
            try {
                changed.set(project, await change(value));
            }
            catch (error) {
                if (project === anyProject)
                    throw error;
                throw new Error(`project ${project}: ${(0,error_message/* errorMessage */.g)(error)}`, { cause: error });
            }
        return new PerProject(changed);
    }
    /** Combines each value with that which another one of the same projects has. */
    with(other, combine) {
        const combined = new Map();
        for (const [project, value] of this.#values) {
            const otherValue = other.#values.get(project);
            if (otherValue === undefined)
                throw new Error(`nothing for ${String(project)} to combine with`);
            combined.set(project, combine(value, otherValue));
        }
        return new PerProject(combined);
    }
}

// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./build/service/src/own-file.js
var own_file = __webpack_require__(442);
;// CONCATENATED MODULE: ./build/service/src/agents/agent.js


/** For an agent that the service knows nothing about: the exit code alone says how its turn went. */
const unknownProgram = {
    promptPrefix: "",
    readReport: () => ({ message: undefined, error: undefined }),
    environment: {},
    passes: [],
    programs: [],
    reads: [],
    hosts: [],
};
/**
 * Returns an agent that is a shell command of the operator. The prompt never becomes part of the command.
 *
 * @param followUp - the command for later turns; default: the same
 */
function shellAgent(command, followUp = command) {
    const programs = [...new Set([command, followUp].flatMap((one) => programOf(one) ?? []))];
    return {
        ...unknownProgram,
        model: programOf(command) ?? "agent",
        command: ({ isFollowUp }) => ({ file: "/bin/sh", args: ["-c", isFollowUp ? followUp : command] }),
        programs,
        isTrusted: false,
    };
}
/** Returns the first program of a shell command. Skips variable assignments in front of it, because they may hold secrets. */
function programOf(command) {
    return command
        .trim()
        .split(/\s+/)
        .find((word) => !/^\w+=/.test(word));
}
const editor = (0,own_file/* ownFile */.P)("editor/main.ts");
/** The default agent: a small editor for Markdown pages, which needs neither a model nor a network. */
const builtInEditor = {
    ...unknownProgram,
    model: "documentation-editor",
    command: () => ({ file: process.execPath, args: [editor] }),
    reads: [(0,external_node_path_.dirname)(editor)],
    isTrusted: true,
};

;// CONCATENATED MODULE: ./build/service/src/options/project-settings.js



/**
 * Returns the settings of a project.
 *
 * @param environment - of the service, with the keys of agents and the token
 * @throws if the values do not go together, or something is missing in the environment. The message names options as on the
 *   command line, such as `--agent-network`
 */
function createProjectSettings(input, environment) {
    const agent = createAgent(input, environment);
    const { repository, base, agentEnv = [], agentReads = [], agentNetwork = "full" } = input;
    const sandbox = input.sandbox ?? (agent.isTrusted ? undefined : "bwrap");
    if (agentNetwork !== "full" && sandbox !== "bwrap")
        throw new Error(`--agent-network ${agentNetwork} requires --sandbox bwrap.`);
    const { memoryMb, processes, diskMb } = input;
    return {
        repository,
        targetBranch: base,
        github: findGitHubRepository(input, environment),
        agent: {
            ...agent,
            passes: [...agent.passes, ...agentEnv],
            reads: [...agent.reads, ...agentReads.map((path) => (0,external_node_path_.resolve)(path))],
        },
        sandbox,
        network: agentNetwork,
        modelHosts: input.modelHosts ?? [],
        agentsPerProject: input.agents,
        timeLimitMs: (input.timeLimitMinutes ?? 30) * 60_000,
        limits: { memoryMb, processes, diskMb },
        largestChangeBytes: (input.largestChangeMb ?? 20) * 1_000_000,
    };
}
function createAgent({ agent: command, agentFollowUp: followUp, model }, environment) {
    if (command?.trim() === "")
        throw new Error("--agent is empty.");
    if (followUp?.trim() === "")
        throw new Error("--agent-follow-up is empty.");
    const preset = command === undefined ? undefined : (0,presets/* presetAgent */.DM)(command, environment, model);
    if (followUp !== undefined && (command === undefined || preset !== undefined))
        throw new Error("--agent-follow-up requires a shell command as --agent.");
    if (preset !== undefined)
        return preset;
    const agent = command === undefined ? builtInEditor : shellAgent(command, followUp);
    return model === undefined ? agent : { ...agent, model };
}
const defaultTokenVariable = "GITHUB_TOKEN";
function findGitHubRepository(input, environment) {
    const { repository, github, githubApi = "https://api.github.com", githubTokenEnv } = input;
    const variable = githubTokenEnv ?? defaultTokenVariable;
    const token = environment[variable];
    const match = /^(?:https:\/\/(?:[^@/]*@)?|ssh:\/\/git@|git@)github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(repository);
    const name = github ?? match?.[1];
    const parts = name?.split("/") ?? [];
    if (github !== undefined && (parts.length !== 2 || parts.includes("")))
        throw new Error("--github must be OWNER/NAME.");
    if (github !== undefined && !token)
        throw new Error(`--github requires ${variable} in the environment.`);
    if (githubTokenEnv !== undefined && !token)
        throw new Error(`${variable} is not set in the environment.`);
    if (name === undefined || !token)
        return undefined;
    const apiUrl = githubApi.replace(/\/+$/, "");
    if (!URL.canParse(apiUrl))
        throw new Error("--github-api must be a URL.");
    const [owner = "", repositoryName = ""] = parts;
    return { apiUrl, owner, name: repositoryName, token, ...(githubTokenEnv && { tokenVariable: githubTokenEnv }) };
}

;// CONCATENATED MODULE: ./build/service/src/options/options.js










const help = (/* unused pure expression or super */ null && (`Usage: npm run service -- [api|worker] --repository PATH-OR-URL [options]
       npm run service -- [api|worker] --config FILE [options]
       npm run service -- --store FILE --backup FILE
       npm run service -- --store FILE --export postgres://...
       npm run service -- key add NAME --keys FILE [--project ID]... [--expires-days N]
       npm run service -- key list --keys FILE
       npm run service -- key revoke NAME --keys FILE

Runs an agent job service on this machine. For each job, an agent works on a branch of its own in a clone of the
repository. The service commits and pushes the agent's changes and opens a pull request.

With a Postgres store, it runs on any number of machines: api serves only the API and the pages, worker only runs agents.
Give all of them the same options. Without either word, the service does both.

  --repository PATH-OR-URL  the repository, as git clone accepts it; the service must be able to push to it
  --config FILE             several projects, each with its own repository and agents, in a JSON file; see "Several repositories"
                            in service/README.md. It replaces the options of a repository, of its agents and --project
  --base BRANCH             branch that jobs start from and pull requests are opened against
                            (default: the repository's default branch)
  --agent NAME              one of ${presetNames.slice(0, -1).join(", ")} and ${presetNames.at(-1)}: a coding agent that is installed, with its key in
                            the environment; see service/docs/agents.md
  --agent COMMAND           any shell command, such as /path/to/agent.sh. It gets the prompt on stdin and in the file
                            named by AGENT_PROMPT_FILE, and runs in a clone of the repository. Exit code 0 means that
                            the agent completed its work
                            (default: the built-in editor, which adds pages and sections, replaces phrases and fixes
                            links)
  --agent-follow-up COMMAND the command for follow-up messages (default: the same)
  --agent-env NAME          also give agents this environment variable; may be repeated
  --agent-reads PATH        also let agents read this file or folder in their sandbox; may be repeated
  --sandbox bwrap|none      run agents with bubblewrap, so that they reach only their job's files, or with all rights of the
                            service (default: bwrap, except for the built-in editor)
  --agent-network full|model|none
                            what agents reach from a sandbox: everything, only their model, or nothing (default: full)
  --model-host HOST[:PORT]  also let agents reach this host, if only their model; may be repeated
  --model NAME              the model that a named agent uses (default: the agent's own default); shown as the model of
                            jobs (default: the name, or the first word of the command)
  --agents N                how many agents this service or worker runs at a time (default: number of CPU cores)
  --agents-per-project N    how many agents run for one project at a time, over all workers (default: any number)
  --memory-mb N             kill an agent if its processes together use more memory (default: unlimited)
  --processes N             kill an agent if it has more processes at a time (default: unlimited)
  --disk-mb N               kill an agent if its job's files are larger (default: unlimited)
  --time-limit-minutes N    stop an agent after this time (default: 30)
  --largest-change-mb N     fail a turn whose changed files are larger than this together (default: 20)
  --keep-worktrees N        let this many jobs of a repository keep their worktree for their next turn, which then starts faster;
                            they take disk space (default: 5; always 0 with --sandbox none)
  --project ID              project of the service; may be repeated (default: demo)
  --keys FILE               accept the API keys of this file, which key add creates; it is read again when it changes
  --trust [PROJECT=]OWNER/NAME[:REF|:environment:NAME]
                            accept the OpenID Connect tokens of this GitHub repository's workflows in place of a key: for all
                            projects or one; on all branches and tags, one ref (a * at its end stands for anything), or in
                            an environment; may be repeated
  --trust-issuer URL        who issues these tokens (default: ${defaultIssuer}); with GitHub
                            Enterprise Server https://HOST/_services/token
  --port N                  port to listen on (default: any free port)
  --listen ADDRESS          address to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1); requires --public-url,
                            because others must use TLS
  --public-url URL          https URL at which a reverse proxy serves the service, such as https://agents.example.com;
                            used in links to pages (default: it can be reached only on this machine); also http for a proxy on
                            this machine
  --store FILE              keep jobs, messages and rate limits in this SQLite file, and the clone, the homes of agents
                            and the logs next to it
                            (default: nothing is kept when the service stops)
  --store postgres://...    keep them in this Postgres database, for services on several machines. PGHOST, PGUSER, PGPASSWORD
                            and the like complete the URL
  --folder DIRECTORY        with Postgres: keep the clone, the homes of agents and the logs here; one for each process
                            (default: a new one, which is removed when the service stops)
  --drain-minutes N         when the service is told to stop (SIGTERM), let the running agents finish for this long, and start no
                            more; a second signal stops them (default: stop them at once)
  --archive-after-days N    also archive jobs that have been idle for this long, not only those whose pull request is closed
                            or merged
  --delete-after-days N     delete jobs that have been idle for this long, archived or not, with their homes, logs and pages
                            (default: never)
  --repository-moved        the store's repository has moved to --repository, or those of projects to the ones in --config;
                            their jobs go on there
  --backup FILE             copy the --store to this new file and exit; a service may run on the store meanwhile
  --export postgres://...   copy the --store to this Postgres database, which has no jobs, and exit; no service may run on the
                            file
  --log-format text|json    print the log for people, or as JSON, one object per line, which requires AGENT_SERVICE_KEY or --keys
                            (default: text)
  --health-port N           let a worker answer /healthz and /metrics on this port, at the address of --listen; the API answers
                            them on its own port (default: it does not listen)
  --github OWNER/NAME       open pull requests in this GitHub repository (default: the one of a github.com URL if
                            GITHUB_TOKEN is set; otherwise pull requests are pages of the service)
  --github-api URL          base URL of the GitHub REST API (default: https://api.github.com)
  --help                    show this help

Environment variables: AGENT_SERVICE_KEY is an API key for all projects (default: without --keys, the service generates one and
prints it).
GITHUB_TOKEN is used to push over HTTPS and to open pull requests; a project of --config can have a token of its own. None of
them is passed to agents.
`));
/** The options of a project. With several projects, each has them in the configuration. */
const projectOptions = {
    repository: { type: "string" },
    base: { type: "string" },
    agent: { type: "string" },
    "agent-follow-up": { type: "string" },
    "agent-env": { type: "string", multiple: true },
    "agent-reads": { type: "string", multiple: true },
    sandbox: { type: "string" },
    "agent-network": { type: "string" },
    "model-host": { type: "string", multiple: true },
    model: { type: "string" },
    "agents-per-project": { type: "string" },
    "time-limit-minutes": { type: "string" },
    "memory-mb": { type: "string" },
    processes: { type: "string" },
    "disk-mb": { type: "string" },
    "largest-change-mb": { type: "string" },
    project: { type: "string", multiple: true },
    github: { type: "string" },
    "github-api": { type: "string" },
};
const serviceOptions = {
    config: { type: "string" },
    agents: { type: "string" },
    "keep-worktrees": { type: "string" },
    keys: { type: "string" },
    trust: { type: "string", multiple: true },
    "trust-issuer": { type: "string" },
    port: { type: "string" },
    "health-port": { type: "string" },
    "log-format": { type: "string" },
    listen: { type: "string" },
    "public-url": { type: "string" },
    store: { type: "string" },
    folder: { type: "string" },
    "drain-minutes": { type: "string" },
    "archive-after-days": { type: "string" },
    "delete-after-days": { type: "string" },
    "repository-moved": { type: "boolean", default: false },
};
const helpOption = { help: { type: "boolean", default: false } };
/**
 * Parses the command line. Returns `help` if it asks for help, or what is wrong with it.
 *
 * @param readConfiguration - default: there is no `--config`
 */
function parseOptions(args, environment, readConfiguration) {
    try {
        const role = parseRole(args[0]);
        const { values } = (0,external_node_util_.parseArgs)({
            args: role === undefined ? args : args.slice(1),
            options: { ...projectOptions, ...serviceOptions, ...helpOption },
        });
        if (values.help)
            return "help";
        const configuration = findConfiguration(values, environment, readConfiguration);
        if (/[^!-~]/.test(environment.AGENT_SERVICE_KEY ?? ""))
            throw new Error("AGENT_SERVICE_KEY must be printable ASCII without spaces, to be valid in an HTTP header.");
        const { store } = values;
        const publicUrl = parsePublicUrl(values["public-url"]);
        const postgres = /^postgres(ql)?:/.test(store ?? "") ? store : undefined;
        const settings = configuration.settings.values;
        if (postgres !== undefined && settings.some(({ timeLimitMs }) => timeLimitMs > longestPostgresTurnMs))
            throw new Error("--time-limit-minutes must be at most 1380 with a Postgres store.");
        const logFormat = parseChoice("--log-format", values["log-format"], ["text", "json"]) ?? "text";
        // Logs are shipped to where a key must not be.
        if (logFormat === "json" && role === undefined && !environment.AGENT_SERVICE_KEY && !values.keys)
            throw new Error("--log-format json requires AGENT_SERVICE_KEY or --keys, because a generated key is printed.");
        if (values["health-port"] !== undefined && role !== "worker")
            throw new Error("--health-port is for a worker. The API answers /healthz on its own port.");
        const isOnGitHub = settings.every(({ github }) => github !== undefined);
        const hasAccess = Boolean(environment.AGENT_SERVICE_KEY || values.keys || values.trust);
        checkRole(role, { postgres, isOnGitHub, publicUrl, hasAccess, folder: values.folder });
        return {
            role,
            ...configuration,
            apiKey: environment.AGENT_SERVICE_KEY || undefined,
            ...parseAccess(values, configuration.projects),
            port: parseInteger("--port", values.port ?? "0", 0, 65_535),
            healthPort: values["health-port"] === undefined
                ? undefined
                : parseInteger("--health-port", values["health-port"], 0, 65_535),
            logFormat,
            listen: parseAddress(values.listen, publicUrl),
            publicUrl,
            store: postgres === undefined ? store : undefined,
            postgres,
            folder: values.folder,
            drainMs: (parseAmount("--drain-minutes", values["drain-minutes"]) ?? 0) * 60_000,
            agents: parseInteger("--agents", values.agents ?? String((0,external_node_os_.availableParallelism)()), 1, 1000),
            keptWorktrees: parseInteger("--keep-worktrees", values["keep-worktrees"] ?? "5", 0, 1000),
            archiveAfterDays: parseAmount("--archive-after-days", values["archive-after-days"]),
            deleteAfterDays: parseAmount("--delete-after-days", values["delete-after-days"]),
            isRepositoryMoved: values["repository-moved"],
        };
    }
    catch (error) {
        return { error: (0,error_message/* errorMessage */.g)(error) };
    }
}
function findConfiguration(values, environment, readConfiguration) {
    const { config, repository, project = ["demo"] } = values;
    if (config !== undefined) {
        const other = Object.keys(projectOptions).find((name) => name in values);
        if (other !== undefined)
            throw new Error(`--config and --${other} exclude each other: the file has the options of each project.`);
        if (readConfiguration === undefined)
            throw new Error("--config is not available here.");
        return readConfiguration(config, environment);
    }
    if (!repository)
        throw new Error("--repository is required, or --config.");
    const settings = createProjectSettings(projectInput(repository, values), environment);
    return { projects: project, settings: PerProject.same(settings), secretVariables: [] };
}
function projectInput(repository, values) {
    const { base, agent, model, github, processes } = values;
    const agents = values["agents-per-project"];
    return {
        repository,
        base,
        agent,
        agentFollowUp: values["agent-follow-up"],
        agentEnv: values["agent-env"],
        agentReads: values["agent-reads"],
        sandbox: parseChoice("--sandbox", values.sandbox, create_sandbox/* sandboxKinds */.X),
        agentNetwork: parseChoice("--agent-network", values["agent-network"], agent_network/* networkKinds */.a),
        modelHosts: values["model-host"],
        model,
        agents: agents === undefined ? undefined : parseInteger("--agents-per-project", agents, 1, 1000),
        memoryMb: parseLimit("--memory-mb", values["memory-mb"]),
        processes: parseLimit("--processes", processes),
        diskMb: parseLimit("--disk-mb", values["disk-mb"]),
        timeLimitMinutes: parseAmount("--time-limit-minutes", values["time-limit-minutes"]),
        largestChangeMb: parseAmount("--largest-change-mb", values["largest-change-mb"]),
        github,
        githubApi: values["github-api"],
    };
}
/** The queue of a Postgres store ends what takes a day. */
const longestPostgresTurnMs = 1380 * 60_000;
function parseRole(word) {
    if (!word || word.startsWith("-"))
        return undefined;
    if (word === "api" || word === "worker")
        return word;
    throw new Error(`${word} is neither api nor worker.`);
}
function checkRole(role, { postgres, isOnGitHub, publicUrl, hasAccess, folder }) {
    if (folder !== undefined && postgres === undefined)
        throw new Error("--folder requires a --store in Postgres.");
    if (role === undefined)
        return;
    if (postgres === undefined)
        throw new Error(`${role} requires --store postgres://..., which other processes share.`);
    if (!isOnGitHub && publicUrl === undefined)
        throw new Error(`${role} requires --public-url, because pull requests are pages of the service.`);
    if (role === "api" && !hasAccess)
        throw new Error("api requires AGENT_SERVICE_KEY, --keys or --trust, the same for all of them.");
}
function parseAccess(values, projects) {
    const { keys, trust: rules = [], "trust-issuer": issuer } = values;
    if (keys === "")
        throw new Error("--keys is empty.");
    if (issuer !== undefined && rules.length === 0)
        throw new Error("--trust-issuer requires --trust.");
    const trust = rules.map(parseTrustRule);
    const unknown = trust.find(({ project }) => project !== undefined && !projects.includes(project));
    if (unknown !== undefined)
        throw new Error(`--trust ${unknown.text}: there is no --project ${unknown.project}.`);
    return { keys, trust, trustIssuer: parseIssuer(issuer ?? trust_rule_defaultIssuer) };
}
function parseChoice(option, text, choices) {
    const choice = choices.find((one) => one === text);
    if (text !== undefined && choice === undefined)
        throw new Error(`${option} must be ${choices.join(" or ")}.`);
    return choice;
}
/** Returns the origin: pages link each other with paths from the root. */
function parsePublicUrl(text) {
    if (text === undefined)
        return undefined;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    // Over http, the API key would be sent in plain text.
    const isLocal = url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
    if (!(url?.protocol === "https:" || isLocal) || url.href !== `${url.origin}/`)
        throw new Error("--public-url must be an https URL without a path, such as https://agents.example.com.");
    return url.origin;
}
function parseAddress(address, publicUrl) {
    if (address === undefined)
        return undefined;
    if ((0,external_node_net_.isIP)(address) === 0)
        throw new Error("--listen must be an IP address, such as 0.0.0.0.");
    if (publicUrl === undefined)
        throw new Error("--listen requires --public-url, because others must use TLS.");
    return address;
}
function parseInteger(option, text, min, max) {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
        throw new Error(`${option} must be an integer from ${min} to ${max}.`);
    return value;
}
function parseLimit(option, text) {
    if (text !== undefined && process.platform !== "linux")
        throw new Error(`${option} requires Linux.`);
    return text === undefined ? undefined : parseInteger(option, text, 1, 1_000_000_000);
}
/** In minutes, days or megabytes. A timer takes at most 35,791 minutes. */
const maxAmount = 10_000;
function parseAmount(option, text) {
    if (text === undefined)
        return undefined;
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > maxAmount)
        throw new Error(`${option} must be a number greater than 0 and at most ${maxAmount}.`);
    return value;
}


/***/ }),

/***/ 442:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   P: () => (/* binding */ ownFile)
/* harmony export */ });
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6760);

/**
 * Returns the path of a file of the service that is used by its path, such as a program that runs in a process of its own.
 * A bundle of the service has these files next to it, in the same folders, with programs as JavaScript.
 *
 * @param path - relative to `service/src`
 */
function ownFile(path) {
    const file = (0,node_path__WEBPACK_IMPORTED_MODULE_0__.resolve)(import.meta.dirname, path);
    return import.meta.filename.endsWith(".ts") ? file : file.replace(/\.ts$/, ".js");
}


/***/ }),

/***/ 3889:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   q: () => (/* binding */ removeDirectory)
/* harmony export */ });
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7598);
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1455);


/**
 * Removes a directory, even if an agent left read-only folders in it, or folders so deep that the system accepts no path to
 * them. Does nothing if it does not exist.
 */
async function removeDirectory(directory) {
    const remove = () => (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rm)(directory, { recursive: true, force: true, maxRetries: 3 });
    await remove().catch(async () => {
        await makeRemovable(directory);
        await remove();
    });
}
/**
 * Moves all folders to the top, where their paths are short, and makes them writable. Errors are ignored here: the second
 * removal reports whatever still cannot be removed. Names need not be UTF-8.
 */
async function makeRemovable(directory) {
    const top = Buffer.from(directory);
    await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.chmod)(top, 0o700).catch(() => { });
    const folders = [top];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
        const entries = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.readdir)(folder, { encoding: "buffer", withFileTypes: true }).catch(() => []);
        for (const { name } of entries.filter((entry) => entry.isDirectory())) {
            const path = Buffer.concat([folder, Buffer.from("/"), name]);
            // A folder that is moved must be writable, too.
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.chmod)(path, 0o700).catch(() => { });
            const moved = Buffer.from(`${directory}/${(0,node_crypto__WEBPACK_IMPORTED_MODULE_0__.randomUUID)()}`);
            const isMoved = (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.rename)(path, moved).then(() => true, () => false);
            folders.push((await isMoved) ? moved : path);
        }
    }
}


/***/ }),

/***/ 6750:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   H: () => (/* binding */ portOf),
/* harmony export */   x: () => (/* binding */ isFree)
/* harmony export */ });
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7598);
/* harmony import */ var node_net__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(7030);


/** Below the ports that Linux gives to outgoing connections, 32768 and more. */
const firstPort = 20_000;
const ports = 10_000;
/**
 * Returns the port of a project. It is the same in each run, because the action finds a session or an earlier attempt only at
 * the same `base-url`.
 */
function portOf(projectId) {
    return firstPort + ((0,node_crypto__WEBPACK_IMPORTED_MODULE_0__.createHash)("sha256").update(projectId).digest().readUInt32BE() % ports);
}
/** Returns whether nothing listens on a port of the loopback interface. */
function isFree(port) {
    return new Promise((resolve) => {
        const server = (0,node_net__WEBPACK_IMPORTED_MODULE_1__.createServer)();
        server.once("error", () => resolve(false));
        server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
}


/***/ }),

/***/ 9871:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   J: () => (/* binding */ ReportFile),
/* harmony export */   t: () => (/* binding */ readReport)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _server_protocol_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6387);



/** Keeps the report up to date in a file, so that it is there however the service ends. */
class ReportFile {
    #folder;
    #report = { pullRequests: [], failedJobs: [], unsavedJobs: {} };
    /** Of jobs from earlier runs. */
    #known = new Set();
    #knownTurns = new Set();
    constructor(folder) {
        this.#folder = folder;
    }
    /** Says that the service has started. */
    begin() {
        this.#write();
    }
    /** Leaves out what a job of an earlier run already had. */
    exclude({ pullRequest, turns }) {
        this.#known.add(pullRequest);
        for (const { id, state } of turns)
            if (state === "failed")
                this.#knownTurns.add(id);
    }
    update({ id, pullRequest, turns }) {
        const { pullRequests, failedJobs } = this.#report;
        if (pullRequest !== null && !this.#known.has(pullRequest) && !pullRequests.includes(pullRequest))
            pullRequests.push(pullRequest);
        const hasFailed = turns.some((turn) => turn.state === "failed" && !this.#knownTurns.has(turn.id));
        if (hasFailed && !failedJobs.includes(id))
            failedJobs.push(id);
        this.#write();
    }
    /** @param reason - `undefined` if it is saved now */
    setUnsaved(jobId, reason) {
        if (reason === undefined)
            delete this.#report.unsavedJobs[jobId];
        else
            this.#report.unsavedJobs[jobId] = reason;
        this.#write();
    }
    #write() {
        const file = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.#folder, _server_protocol_js__WEBPACK_IMPORTED_MODULE_2__/* .reportFile */ .rn);
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.writeFileSync)(`${file}.new`, JSON.stringify(this.#report));
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.renameSync)(`${file}.new`, file);
    }
}
/** Reads the report of a service; `undefined` if it never started. */
function readReport(folder) {
    try {
        return JSON.parse((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder, _server_protocol_js__WEBPACK_IMPORTED_MODULE_2__/* .reportFile */ .rn), "utf8"));
    }
    catch {
        return undefined;
    }
}


/***/ }),

/***/ 6387:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   N9: () => (/* binding */ logFile),
/* harmony export */   TK: () => (/* binding */ keepRunning),
/* harmony export */   rn: () => (/* binding */ reportFile)
/* harmony export */ });
/** Sent when the step has the reply. A process whose step ends before that ends, too. */
const keepRunning = "keep running";
/** The file of the service's log, and of its report, in its folder. */
const logFile = "service.log";
const reportFile = "report.json";


/***/ }),

/***/ 3901:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   LW: () => (/* binding */ actionsNotPermitted),
/* harmony export */   to: () => (/* binding */ allowActionsAdvice),
/* harmony export */   x8: () => (/* binding */ checkAccess)
/* harmony export */ });
/* harmony import */ var _src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3596);
/* harmony import */ var _src_error_message_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(5719);
/* harmony import */ var _setup_error_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(265);



const timeoutMs = 30_000;
/** GitHub's words if Actions may not open pull requests in a repository. */
const actionsNotPermitted = /not permitted to create or approve pull requests/i;
/** What to change then. */
const allowActionsAdvice = 'Turn on "Allow GitHub Actions to create and approve pull requests" in the repository\'s settings, under "Actions" › "General" (an organization can turn it off for all), or pass the token of a GitHub App as `github-token`.';
/**
 * Checks whether a token may push and open pull requests, before an agent works in vain. What cannot be found out here is
 * told by GitHub later.
 *
 * @throws SetupError if it may not, with the setting to change
 */
async function checkAccess(access, log) {
    const checks = [checkPush, checkPullRequests].map((check) => check(access).catch((error) => {
        if (error instanceof _setup_error_js__WEBPACK_IMPORTED_MODULE_0__/* .SetupError */ .w)
            throw error;
        log(`Cannot check the token: ${(0,_src_error_message_js__WEBPACK_IMPORTED_MODULE_1__/* .errorMessage */ .g)(error)}`);
    }));
    await Promise.all(checks);
}
/** Sends the first request of a push, to which GitHub responds by the token's permissions. */
async function checkPush({ serverUrl, repository, token }) {
    const { status } = await fetch(`${serverUrl}/${repository}.git/info/refs?service=git-receive-pack`, {
        headers: { authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}` },
        signal: AbortSignal.timeout(timeoutMs),
        redirect: "manual",
    });
    if (status === 401)
        throw new _setup_error_js__WEBPACK_IMPORTED_MODULE_0__/* .SetupError */ .w("The token is not valid", (0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `GitHub rejected \`github-token\` for ${repository}. Is it a token, and not expired? Nothing was started.`);
    if (status === 403 || status === 404)
        throw new _setup_error_js__WEBPACK_IMPORTED_MODULE_0__/* .SetupError */ .w("The token may not push", (0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `The agent's branch cannot be pushed to ${repository}: ${(0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .trusted */ .IZ)(status === 404 ? "it does not exist, or `github-token` has no access to it" : "`github-token` may not write to it")}. For the workflow's own repository, give the job \`permissions: contents: write\`; for another one, pass a token for that as \`github-token\`. Nothing was started.`);
}
/** Asks for a pull request without a title, which GitHub rejects with 422 if the token may open one, or else with 403. */
async function checkPullRequests({ apiUrl, repository, token }) {
    const response = await fetch(`${apiUrl}/repos/${repository}/pulls`, {
        method: "POST",
        headers: {
            accept: "application/vnd.github+json",
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            "user-agent": "agent-job-service",
            "x-github-api-version": "2022-11-28",
        },
        body: JSON.stringify({ head: "permission-check", base: "permission-check" }),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: "manual",
    });
    const text = await response.text();
    if (response.status !== 403 || /rate limit/i.test(text))
        return;
    const isSetting = actionsNotPermitted.test(text);
    const advice = isSetting
        ? allowActionsAdvice
        : "For the workflow's own repository, give the job `permissions: pull-requests: write`; for another one, pass a token for that as `github-token`.";
    throw new _setup_error_js__WEBPACK_IMPORTED_MODULE_0__/* .SetupError */ .w("The token may not open pull requests", (0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `The agent's changes could be pushed to ${repository}, but no pull request opened. ${(0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_2__/* .trusted */ .IZ)(advice)} Nothing was started.`);
}


/***/ }),

/***/ 265:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   w: () => (/* binding */ SetupError)
/* harmony export */ });
/* harmony import */ var _src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3596);

/** Thrown when the service cannot start because of the workflow or the runner. The text says what to change. */
class SetupError extends Error {
    name = "SetupError";
    title;
    text;
    constructor(title, text) {
        super((0,_src_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .plain */ .pj)(text));
        this.title = title;
        this.text = text;
    }
}


/***/ }),

/***/ 1494:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   B: () => (/* binding */ restoredFile),
/* harmony export */   z: () => (/* binding */ createCacheFolder)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_os__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8161);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6760);



/**
 * Creates an empty folder.
 *
 * @param parent - ignored if its path has spaces. Default: the system's folder for temporary files
 */
function createCacheFolder(parent) {
    // The library does not quote paths for tar.
    const usable = parent && !/\s/.test(parent) ? parent : (0,node_os__WEBPACK_IMPORTED_MODULE_1__.tmpdir)();
    const path = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.realpathSync)((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.mkdtempSync)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(usable, "agent-job-cache-")));
    return {
        path,
        [Symbol.dispose]: () => {
            try {
                (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.rmSync)(path, { recursive: true, force: true, maxRetries: 3 });
            }
            catch {
                // The runner empties its folder for temporary files after the job.
            }
        },
    };
}
/** Returns the status of a restored file; `undefined` unless it is a regular one. Whoever can write the cache decides. */
function restoredFile(file) {
    const status = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.lstatSync)(file, { throwIfNoEntry: false });
    return status?.isFile() && status.nlink === 1 ? status : undefined;
}


/***/ }),

/***/ 1825:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  n: () => (/* binding */ runCacheProcess)
});

// EXTERNAL MODULE: external "node:child_process"
var external_node_child_process_ = __webpack_require__(1421);
;// CONCATENATED MODULE: ./build/src/runner-kit/redact.js
/** Shorter secrets are not redacted: they would match ids and words by accident. Real keys are far longer. */
const minSecretLength = 8;
/**
 * Returns a function that replaces a secret with `***`, also in the encodings in which a service or gateway could echo
 * it: percent-encoding, HTML and JSON escapes (also of single characters), hexadecimal, and base64 of any text that
 * contains it, such as `Bearer KEY` or `user:KEY`. It makes one pass, in time linear in the text.
 */
function createRedactor(secret) {
    if (secret.length < minSecretLength)
        return (text) => text;
    const encodings = [
        [...secret].map(escapedCharacter).join(""),
        [...Buffer.from(secret)].map((byte) => hex(byte)).join(""),
        ...[0, 1, 2].map((bytesBefore) => base64Pattern(secret, bytesBefore)),
    ];
    const pattern = new RegExp(encodings.join("|"), "giu");
    return (text) => text.replace(pattern, "***");
}
/** Returns a pattern for a character: as it is, percent-encoded, or as an escape of HTML or JSON. */
function escapedCharacter(character) {
    const codePoint = character.codePointAt(0) ?? 0;
    const percentEncoded = [...Buffer.from(character)].map((byte) => `%${hex(byte)}`).join("");
    const jsonEscaped = character
        .split("")
        .map((unit) => `\\\\u${hex(unit.charCodeAt(0), 4)}`)
        .join("");
    const html = [`&#0*${codePoint};`, `&#x0*${codePoint.toString(16)};`, htmlNames[character] ?? ""];
    const alternatives = [percentEncoded, jsonEscaped, `\\\\?${RegExp.escape(character)}`, ...html];
    return `(?:${alternatives.filter(Boolean).join("|")})`;
}
const htmlNames = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
};
/**
 * Returns a pattern for the base64 or base64url of any text that has the secret `bytesBefore` bytes after a multiple of
 * three. Characters that also encode neighboring bytes are left out.
 */
function base64Pattern(secret, bytesBefore) {
    const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)]);
    const first = Math.ceil((bytesBefore * 8) / 6);
    const last = Math.floor((bytes.length * 8) / 6);
    return bytes
        .toString("base64")
        .slice(first, last)
        .replace(/[+/]/g, (character) => (character === "+" ? "[+-]" : "[/_]"));
}
function hex(value, length = 2) {
    return value.toString(16).padStart(length, "0");
}

;// CONCATENATED MODULE: ./build/src/runner-kit/run-cache-process.js


/** How much of the process's log is kept. The end tells why it failed. */
const maxLogLength = 64 * 1024;
/**
 * Runs an operation of `@actions/cache` in a process of its own, because the library
 *
 * - logs errors instead of throwing them, and logs text from the service. The log is read for errors and never printed.
 * - depends on the working directory, `GITHUB_WORKSPACE` and `RUNNER_TEMP`. An empty folder stands for all of them, so
 *   that an entry is one file without a path, wherever the runner's folders are.
 * - cannot be aborted, starts `tar`, and may throw outside of its promises. A process group can be killed.
 * - takes tens of megabytes of memory, which are free again when the process ends.
 *
 * @returns whether an entry was restored or saved
 * @throws if the library threw or logged an error, or at the timeout. The message contains no secret
 */
async function runCacheProcess(options) {
    const { operation, key, file, folder, program, environment, signal } = options;
    const child = (0,external_node_child_process_.fork)(program, ["cache", operation, key, file], {
        cwd: folder,
        env: processEnvironment(environment, folder),
        execArgv: [],
        stdio: ["ignore", "pipe", "ignore", "ipc"],
        detached: hasProcessGroups,
    });
    let log = "";
    let reply;
    child.stdout?.setEncoding("utf8").on("data", (text) => {
        log = (log + text).slice(-maxLogLength);
    });
    child.on("message", (message) => {
        reply = message;
    });
    await new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", resolve);
        signal.addEventListener("abort", () => {
            kill(child);
            resolve(undefined);
        });
    });
    const redact = redactorFor(log, environment.ACTIONS_RUNTIME_TOKEN);
    if (!reply && signal.aborted) {
        throw new Error(redact(`${failedAttempt(log) ?? "The cache service did not respond"}, until the timeout`));
    }
    const error = reply && "error" in reply ? reply.error : loggedError(log);
    if (error !== undefined)
        throw new Error(redact(error));
    if (!reply || "error" in reply)
        throw new Error(`The cache process ended with ${child.signalCode ?? child.exitCode}`);
    return reply.isDone;
}
const hasProcessGroups = process.platform !== "win32";
/** Kills a cache process, and `tar` if it is running. */
function kill(child) {
    child.stdout?.destroy();
    try {
        if (hasProcessGroups && child.pid)
            process.kill(-child.pid, "SIGKILL");
        else
            child.kill("SIGKILL");
    }
    catch {
        // It has ended.
    }
}
function processEnvironment(environment, folder) {
    // The inputs contain the API key, and tar does not need it.
    const inherited = Object.entries(environment).filter(([name]) => !/^INPUT_/i.test(name));
    return {
        ...Object.fromEntries(inherited),
        GITHUB_WORKSPACE: folder,
        RUNNER_TEMP: folder,
        // Debugging makes the library list archives and caches, which only costs time here.
        RUNNER_DEBUG: "",
        // The library lets tar write anywhere. This makes GNU tar skip everything that is not directly in the folder.
        TAR_OPTIONS: "--exclude=*/*",
    };
}
/** Returns the error that the library logged last; `undefined` if it logged none. */
function loggedError(log) {
    const lines = log.matchAll(/^(?:::(?:warning|error)[^:]*::|(?=Cache (?:restore|save) skipped: |Failed to save: ))(.*)/gm);
    const last = [...lines].at(-1)?.[1];
    return last === undefined ? undefined : unescapeCommand(last);
}
/** Returns the error of the last attempt that the library retries; `undefined` if there was none. */
function failedAttempt(log) {
    const last = [...log.matchAll(/Attempt \d+ of \d+ failed with error: (.*)/g)].at(-1)?.[1];
    return last === undefined ? undefined : unescapeCommand(last);
}
/** Returns a function that redacts the runtime token and what the library asks the runner to mask. */
function redactorFor(log, token = "") {
    const masked = [...log.matchAll(/^::add-mask::(.*)/gm)].map(([, secret = ""]) => unescapeCommand(secret));
    const redactors = [token, ...new Set(masked)].map(createRedactor);
    return (text) => redactors.reduce((redacted, redact) => redact(redacted), text);
}
/** Decodes the data of a workflow command. */
function unescapeCommand(data) {
    return data.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%").trimEnd();
}


/***/ }),

/***/ 3596:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   IZ: () => (/* binding */ trusted),
/* harmony export */   cv: () => (/* binding */ say),
/* harmony export */   fj: () => (/* binding */ join),
/* harmony export */   pj: () => (/* binding */ plain)
/* harmony export */ });
/* unused harmony exports joinSentences, capitalized */
/** Template tag for {@link Text}: an interpolated string is untrusted, an interpolated `Text` keeps its parts. */
function say(words, ...values) {
    return words.flatMap((trusted, index) => {
        const value = values[index];
        if (value === undefined)
            return [trusted];
        if (typeof value === "number")
            return [trusted, String(value)];
        return typeof value === "string" ? [trusted, { untrusted: value }] : [trusted, ...value];
    });
}
/** Marks words of our own that were computed, such as a duration, as trusted. */
function trusted(words) {
    return [words];
}
/** Joins the texts that are not empty. */
function join(texts, separator) {
    return texts.filter((text) => text.length > 0).flatMap((text, index) => (index === 0 ? text : [separator, ...text]));
}
/** Joins sentences with spaces, leaving out empty ones. */
function joinSentences(...texts) {
    return join(texts, " ");
}
/** Returns the text as a string, with the untrusted parts unescaped: only for the functions in `untrusted.ts`. */
function plain(text) {
    return text.map((part) => (typeof part === "string" ? part : part.untrusted)).join("");
}
/** Capitalizes the first letter. */
function capitalized(text) {
    const [first, ...rest] = text;
    return typeof first === "string" ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : text;
}


/***/ })

};
