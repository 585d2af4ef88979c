export const id = 235;
export const ids = [235];
export const modules = {

/***/ 9355:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   LV: () => (/* binding */ defaultIssuer),
/* harmony export */   Mp: () => (/* binding */ parseTrustRule),
/* harmony export */   zI: () => (/* binding */ parseIssuer)
/* harmony export */ });
/* unused harmony exports rulesFor, byIds, quote */
const defaultIssuer = "https://token.actions.githubusercontent.com";
/**
 * Parses a rule: `[PROJECT=]OWNER[@ID]/NAME[@ID][:REF|:environment:NAME]`, with ids as in the subject of GitHub's tokens.
 *
 * @throws if it is not valid; the message says what is expected
 */
function parseTrustRule(text) {
    const match = /^(?:([^=:]+)=)?([\w.-]+)(?:@(\d+))?\/([\w.-]+)(?:@(\d+))?(?::(.+))?$/.exec(text);
    const [, project, owner, ownerId, name, repositoryId, limit] = match ?? [];
    const environment = /^environment:(\S.{0,254})$/.exec(limit ?? "")?.[1];
    const ref = environment === undefined ? limit : undefined;
    if (match === null || (ref !== undefined && !/^refs\/[^\s*~^:?[\\]+\*?$/.test(ref)))
        throw new Error(`${text} is not a repository to trust, such as acme/docs, acme/docs:refs/heads/main, acme/docs:refs/tags/v*, acme/docs:environment:production, acme@12/docs@345 or PROJECT=acme/docs.`);
    return { text, project, repository: `${owner}/${name}`, repositoryId, ownerId, ref, environment };
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
        throw new Error(`--trust-issuer must be an https URL, such as ${defaultIssuer}.`);
    return url.href.replace(/\/+$/, "");
}
/**
 * Returns the rules that trust a run of a workflow, or the reason why none does.
 *
 * Code from a fork runs in two kinds of runs, which only explicit rules trust: runs on `refs/pull/…`, which use the workflow of
 * the pull request, and runs for `pull_request_target`, which may check out its code.
 */
function rulesFor(rules, claims) {
    const { repository, ref, event_name: event, environment } = claims;
    const ofRepository = rules.filter((rule) => matchesRepository(rule, claims));
    if (ofRepository.length === 0) {
        const isNamed = rules.some((rule) => isSame(rule.repository, repository));
        return { reason: `The repository ${quote(repository)} is not trusted${isNamed ? ` with ${idsOf(claims)}` : ""}` };
    }
    const matching = ofRepository.filter((rule) => matchesRef(rule, ref) && matchesEnvironment(rule, environment));
    if (matching.length === 0)
        return { reason: `${quote(repository)} is not trusted ${place(ref, environment)}` };
    const trusted = matching.filter((rule) => event !== "pull_request_target" || rule.environment !== undefined);
    if (trusted.length > 0)
        return trusted;
    return { reason: `Runs of ${quote(repository)} for pull_request_target are only trusted with an environment` };
}
/** An id decides alone: it stays when the repository is renamed, and another one with the old name has another id. */
function matchesRepository({ repository, repositoryId, ownerId }, claims) {
    if (ownerId !== undefined && ownerId !== claims.repository_owner_id)
        return false;
    return repositoryId === undefined ? isSame(repository, claims.repository) : repositoryId === claims.repository_id;
}
function idsOf({ repository_id: id = "?", repository_owner_id: owner = "?" }) {
    return `the id ${quote(id)} and the owner's id ${quote(owner)}`;
}
/** Returns the rule that trusts a repository by its ids; `undefined` if the claims lack them. */
function byIds({ repository, repository_id: id, repository_owner_id: ownerId, }) {
    const [, owner, name] = /^([\w.-]+)\/([\w.-]+)$/.exec(repository) ?? [];
    const areIds = [id, ownerId].every((one) => /^\d+$/.test(one ?? ""));
    return owner === undefined || !areIds ? undefined : `${owner}@${ownerId}/${name}@${id}`;
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
/** Returns untrusted text for a message, in one line. */
function quote(text) {
    return JSON.stringify(text.slice(0, 300));
}


/***/ }),

/***/ 719:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   JV: () => (/* binding */ projectCommand),
/* harmony export */   rh: () => (/* binding */ builtInEditor),
/* harmony export */   sc: () => (/* binding */ shellAgent)
/* harmony export */ });
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6760);
/* harmony import */ var _own_file_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(442);
/* harmony import */ var _result_file_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(1800);



/** For an agent that the service knows nothing about: the exit code says how its turn went, and a file may say more. */
const unknownProgram = {
    promptPrefix: "",
    readReport: (_stdout, result) => (0,_result_file_js__WEBPACK_IMPORTED_MODULE_2__/* .readResult */ .U)(result),
    environment: {},
    passes: [],
    programs: [],
    reads: [],
    hosts: [],
};
/** Returns an agent that is a shell command of the operator. The prompt never becomes part of the command. */
function shellAgent(command) {
    const program = programOf(command);
    return {
        ...unknownProgram,
        kind: "command",
        model: program ?? "agent",
        command: () => ({ file: "/bin/sh", args: ["-c", command] }),
        programs: program === undefined ? [] : [program],
        isTrusted: false,
    };
}
/** Returns the first program of a shell command, without quotes. Skips variable assignments in front of it, because they may hold secrets. */
function programOf(command) {
    const words = command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
    return words.find((word) => !/^\w+=/.test(word))?.replaceAll(/(['"])(.*?)\1/gs, "$2");
}
/**
 * Returns a command of a project, such as one that checks its docs, as what runs agents takes it. All its output is its report.
 *
 * @param reads - files that it may read in its sandbox, besides the installations of the programs that it names
 */
function projectCommand(command, reads) {
    // A path could be any folder, unless it is what the command begins with.
    const words = command.split(/[\s;&|()<>]+/).filter((word) => /^[\w.+-]+$/.test(word));
    const programs = new Set([programOf(command) ?? "", ...words]);
    return {
        ...unknownProgram,
        kind: "command",
        model: "",
        command: () => ({ file: "/bin/sh", args: ["-c", 'exec /bin/sh -c "$1" 2>&1', "sh", command] }),
        readReport: (stdout) => ({ message: stdout, error: undefined }),
        programs: [...programs].filter(Boolean),
        reads,
        isTrusted: false,
    };
}
const editor = (0,_own_file_js__WEBPACK_IMPORTED_MODULE_1__/* .ownFile */ .P)("editor/main.ts");
/** The default agent: a small editor for Markdown pages, which needs neither a model nor a network. */
const builtInEditor = {
    ...unknownProgram,
    kind: "built-in",
    model: "documentation-editor",
    command: () => ({ file: process.execPath, args: [editor] }),
    reads: [(0,node_path__WEBPACK_IMPORTED_MODULE_0__.dirname)(editor)],
    isTrusted: true,
};


/***/ }),

/***/ 9380:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ readMemoryNote),
/* harmony export */   U: () => (/* binding */ watchLimits)
/* harmony export */ });
/* harmony import */ var node_child_process__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1421);
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1455);
/* harmony import */ var node_timers_promises__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8500);
/* harmony import */ var node_util__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(7975);




/** What people are told of the memory limit if the kernel does not enforce it. */
const readMemoryNote = "The memory of agents is read about every second, which does not see files in memory (memfd), System V segments and the memory " +
    "of threads in the kernel.";
const intervalMs = 1000;
/** A check may take this part of the time. Reading the size of many files takes long. */
const checkingRatio = 1 / 20;
/**
 * Checks regularly whether the descendants of a process are within their limits. Only on Linux.
 *
 * @param onExceeded - called once, with what is exceeded
 * @param signal - ends the checks
 */
async function watchLimits(leader, directories, limits, onExceeded, signal) {
    const check = async () => (await exceededByProcesses(leader, limits)) ?? (await exceededByFiles(directories, limits, signal));
    while (!signal.aborted && Object.values(limits).some((limit) => limit !== undefined)) {
        const start = performance.now();
        // Processes and files come and go while they are read.
        const exceeded = await check().catch(() => undefined);
        if (signal.aborted)
            return;
        if (exceeded !== undefined) {
            onExceeded(exceeded);
            return;
        }
        const pause = Math.max(intervalMs, (performance.now() - start) / checkingRatio);
        await (0,node_timers_promises__WEBPACK_IMPORTED_MODULE_2__.setTimeout)(pause, undefined, { signal }).catch(() => { });
    }
}
async function exceededByProcesses(leader, { memoryMb, processes }) {
    if (memoryMb === undefined && processes === undefined)
        return undefined;
    const all = await readProcesses();
    const descendants = new Set([leader]);
    // Children usually have a greater id than their parent, but ids start over.
    for (let size = 0; size < descendants.size;) {
        size = descendants.size;
        for (const { id, parent } of all)
            if (descendants.has(parent))
                descendants.add(id);
    }
    descendants.delete(leader);
    if (descendants.size > (processes ?? Number.POSITIVE_INFINITY))
        return { kind: "process-limit", what: `more than ${processes} processes` };
    const usedKb = all.reduce((sum, { id, memoryKb }) => sum + (descendants.has(id) ? memoryKb : 0), 0);
    return usedKb / 1024 > (memoryMb ?? Number.POSITIVE_INFINITY)
        ? { kind: "memory-limit", what: `more than ${memoryMb} MB of memory` }
        : undefined;
}
async function readProcesses() {
    const ids = (await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.readdir)("/proc")).map(Number).filter(Number.isInteger);
    return Promise.all(ids.map(async (id) => {
        const status = await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.readFile)(`/proc/${id}/status`, "latin1").catch(() => "");
        const read = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
        return { id, parent: read("PPid"), memoryKb: read("RssAnon") + read("RssShmem") };
    }));
}
async function exceededByFiles(directories, { diskMb }, signal) {
    if (diskMb === undefined)
        return undefined;
    // It exits with 1 if a file was removed meanwhile, and still prints the sizes.
    const run = (0,node_util__WEBPACK_IMPORTED_MODULE_3__.promisify)(node_child_process__WEBPACK_IMPORTED_MODULE_0__.execFile)("du", ["-sk", "--", ...directories], { signal, timeout: 60_000 });
    const { stdout } = await run.catch((error) => ({ stdout: error.stdout ?? "" }));
    const usedKb = [...stdout.matchAll(/^\d+/gm)].reduce((sum, [size]) => sum + Number(size), 0);
    return usedKb > diskMb * 1024 ? { kind: "disk-limit", what: `more than ${diskMb} MB of disk` } : undefined;
}


/***/ }),

/***/ 535:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Wt: () => (/* binding */ lookUpPublic),
/* harmony export */   m5: () => (/* binding */ mayBePublic)
/* harmony export */ });
/* unused harmony export isPublicAddress */
/* harmony import */ var node_dns__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(610);
/* harmony import */ var node_net__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(7030);


/** Loopback, private and link-local addresses, with those where clouds serve the metadata of a machine, and what is no host at all. */
const denied = new node_net__WEBPACK_IMPORTED_MODULE_1__.BlockList();
for (const [address, prefix] of [
    ...[
        ["0.0.0.0", 8],
        ["10.0.0.0", 8],
        ["100.64.0.0", 10],
        ["127.0.0.0", 8],
        ["169.254.0.0", 16],
    ],
    ...[
        ["172.16.0.0", 12],
        ["192.0.0.0", 24],
        ["192.168.0.0", 16],
        ["198.18.0.0", 15],
        ["224.0.0.0", 3],
    ],
])
    denied.addSubnet(address, prefix, "ipv4");
for (const [address, prefix] of [
    ...[
        ["::", 128],
        ["::1", 128],
        ["fc00::", 7],
        ["fe80::", 9],
        ["ff00::", 8],
    ],
    // Addresses of IPv4 in another form: of 6to4, and of a translator in the local network.
    ...[
        ["::", 96],
        ["2002::", 16],
        ["64:ff9b:1::", 48],
    ],
])
    denied.addSubnet(address, prefix, "ipv6");
/** Returns whether an address is one of the public network. */
function isPublicAddress(address) {
    if (!(0,node_net__WEBPACK_IMPORTED_MODULE_1__.isIPv6)(address))
        return (0,node_net__WEBPACK_IMPORTED_MODULE_1__.isIP)(address) === 4 && !denied.check(address, "ipv4");
    // RFC 6052: the last 32 bits are an address of IPv4.
    const [, high, low] = /^64:ff9b::(?:([\da-f]{1,4}):)?([\da-f]{1,4})$/i.exec(address) ?? [];
    if (low !== undefined) {
        const bits = Number.parseInt(high ?? "0", 16) * 0x10000 + Number.parseInt(low, 16);
        return isPublicAddress([24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join("."));
    }
    return !/^64:ff9b::/i.test(address) && !address.includes("%") && !denied.check(address, "ipv6");
}
/** Names of the machine itself, of its network, and of the metadata of clouds. */
const localName = /^(?:localhost|[^.]+|.*\.(?:localhost|local|internal|localdomain|home\.arpa))\.?$/i;
/** Returns whether a name or an address may be one of the public network, before it is resolved. */
const mayBePublic = (host) => (0,node_net__WEBPACK_IMPORTED_MODULE_1__.isIP)(host) === 0 ? !localName.test(host) : isPublicAddress(host);
/** Resolves a name as `dns.lookup` does, and fails if it has an address that is not public: the next answer could be that one alone. */
const lookUpPublic = (hostname, options, callback) => {
    (0,node_dns__WEBPACK_IMPORTED_MODULE_0__.lookup)(hostname, { ...options, all: true }, (error, addresses) => {
        const [first] = addresses ?? [];
        if (error !== null || first === undefined)
            return callback(error ?? new Error(`${hostname} has no address`), "");
        if (!addresses.every(({ address }) => isPublicAddress(address)))
            return callback(new Error(`${hostname} is in a private network`), "");
        if (options.all)
            callback(null, addresses);
        else
            callback(null, first.address, first.family);
    });
};


/***/ }),

/***/ 6009:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   I: () => (/* binding */ isEndOfOutput)
/* harmony export */ });
/* unused harmony export maxEndLength */
/** In characters. Agents say in the last lines of their stdout how their turn went. */
const maxEndLength = 1024 * 1024;
/** Returns whether what is kept of an agent's stdout may be only its end. */
const isEndOfOutput = (stdout) => stdout.length >= maxEndLength;


/***/ }),

/***/ 1321:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  Je: () => (/* binding */ installCommand),
  DM: () => (/* binding */ presetAgent),
  gC: () => (/* binding */ presetNames),
  e5: () => (/* binding */ presetPackage)
});

// EXTERNAL MODULE: ./build/service/src/service-secrets.js
var service_secrets = __webpack_require__(3696);
;// CONCATENATED MODULE: ./build/service/src/agents/event-lines.js

// Renders the events that coding agents print as lines of JSON, as lines that a person can follow.
/** Which agent prints the events. */
const eventFormats = ["claude", "codex", "copilot", "gemini", "opencode"];
/** The longest text that a tool gets or returns, in characters. */
const maxToolLength = 300;
/** Renders the lines of one agent, in their order. */
class EventLines {
    #render;
    /** What an agent has said of a line that it says in pieces. */
    #piece = "";
    constructor(format) {
        this.#render = { claude, codex, copilot, gemini: (event) => this.#gemini(event), opencode }[format];
    }
    /**
     * Returns the lines for a line of stdout. What is no event stays as it is; events that tell a person nothing have no line.
     *
     * @param event - what the line was parsed to. Default: it is parsed here
     */
    add(line, event = parseEvent(line)) {
        if (event === undefined)
            return [...this.end(), line];
        return this.#render(event)
            .flatMap((text) => text.split("\n"))
            .filter((text) => text.trim() !== "");
    }
    /** Returns the rest at the end. */
    end() {
        const rest = this.#piece;
        this.#piece = "";
        return rest.trim() === "" ? [] : [rest];
    }
    /** Gemini CLI says its messages in pieces. */
    #gemini(event) {
        if (event.type === "message" && event.role === "assistant") {
            const lines = (this.#piece + textOf(event.content)).split("\n");
            this.#piece = lines.pop() ?? "";
            return lines;
        }
        return [...this.end(), ...gemini(event)];
    }
}
const isObject = (value) => typeof value === "object" && value !== null;
const objectOf = (value) => (isObject(value) ? value : {});
const listOf = (value) => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value) => (typeof value === "string" ? value : "");
/** The fields by which tools are told apart, most telling first. */
const telling = (/* unused pure expression or super */ null && ([
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
]));
/** Returns the use of a tool: its name, and what it is about. */
function use(name, input) {
    const fields = objectOf(input);
    const field = telling.find((one) => typeof fields[one] === "string");
    const about = field === undefined ? JSON.stringify(input ?? {}) : textOf(fields[field]);
    return `→ ${textOf(name)} ${event_lines_short(about)}`.trimEnd();
}
/** Returns the first line that a tool returned. */
function result(text, isError) {
    const first = text.split("\n").find((line) => line.trim() !== "") ?? "";
    return first === "" && !isError ? [] : [`← ${isError ? "error: " : ""}${event_lines_short(first)}`];
}
function event_lines_short(text) {
    const line = text.replace(/\s*\n\s*/g, " ⏎ ");
    return line.length > maxToolLength ? `${line.slice(0, maxToolLength)}…` : line;
}
function contentText(content) {
    return typeof content === "string"
        ? content
        : listOf(content)
            .map(({ text }) => textOf(text))
            .join("\n");
}
function claude(event) {
    const blocks = listOf(objectOf(event.message).content);
    if (event.type === "system" && event.subtype === "init")
        return [`Model: ${textOf(event.model)}`];
    if (event.type === "system" && /retry|error/.test(textOf(event.subtype)))
        return [
            `${textOf(event.subtype)}: ${event_lines_short(textOf(event.error) || textOf(event.message) || JSON.stringify(event.error ?? {}))}`,
        ];
    if (event.type === "assistant")
        return blocks.flatMap((block) => {
            if (block.type === "text")
                return [textOf(block.text)];
            return block.type === "tool_use" ? [use(block.name, block.input)] : [];
        });
    if (event.type === "user")
        return blocks.flatMap((block) => block.type === "tool_result" ? result(contentText(block.content), block.is_error === true) : []);
    return event.type === "result" && event.is_error === true
        ? [`Error: ${textOf(event.result) || textOf(event.subtype)}`]
        : [];
}
function codex(event) {
    const item = objectOf(event.item);
    if (event.type === "item.started" && item.type === "command_execution")
        return [`→ ${event_lines_short(textOf(item.command))}`];
    if (event.type === "item.completed")
        switch (item.type) {
            case "agent_message":
                return [textOf(item.text)];
            case "command_execution":
                return result(textOf(item.aggregated_output), item.exit_code !== 0);
            case "file_change":
                return listOf(item.changes).map(({ kind, path }) => `→ ${textOf(kind)} ${textOf(path)}`);
            case "mcp_tool_call":
                return [use(item.tool, item.arguments)];
            case "error":
                return [`Error: ${textOf(item.message)}`];
            default:
                return [];
        }
    if (event.type === "turn.failed")
        return [`Error: ${textOf(objectOf(event.error).message)}`];
    // Such as that it connects again.
    return event.type === "error" ? [textOf(event.message)] : [];
}
function copilot(event) {
    const data = objectOf(event.data);
    switch (event.type) {
        case "session.tools_updated":
            return data.model === undefined ? [] : [`Model: ${textOf(data.model)}`];
        case "assistant.message":
            return [textOf(data.content)];
        case "tool.execution_start":
            return [use(data.toolName, data.arguments)];
        case "tool.execution_complete":
            return result(textOf(objectOf(data.result).content) || textOf(objectOf(data.error).message), data.success !== true);
        case "session.info":
            // The files that it writes are those of its tools.
            return /^file_/.test(textOf(data.infoType)) ? [] : [event_lines_short(textOf(data.message))];
        case "session.warning":
            return [event_lines_short(textOf(data.message))];
        case "session.error":
            return [`Error: ${textOf(data.message)}`];
        default:
            return [];
    }
}
function gemini(event) {
    if (event.type === "init")
        return [`Model: ${textOf(event.model)}`];
    if (event.type === "tool_use")
        return [use(event.tool_name, event.parameters)];
    if (event.type === "tool_result")
        return result(textOf(event.output), event.status !== "success");
    const error = textOf(objectOf(event.error).message) || textOf(event.message);
    return event.type === "error" || (event.type === "result" && event.status !== "success") ? [`Error: ${error}`] : [];
}
function opencode(event) {
    const part = objectOf(event.part);
    if (event.type === "text")
        return [textOf(part.text)];
    if (event.type === "tool_use") {
        const state = objectOf(part.state);
        return [
            use(part.tool, state.input),
            ...result(textOf(state.output) || textOf(state.error), state.status === "error"),
        ];
    }
    if (event.type !== "error")
        return [];
    const error = objectOf(event.error);
    return [`Error: ${textOf(objectOf(error.data).message) || textOf(error.name)}`];
}

;// CONCATENATED MODULE: ./build/service/src/agents/model-api.js
/** Returns a rule for requests: POST to some paths, and GET to the list of models. */
function pathsOf(post, get) {
    return (method, path) => (method === "POST" && post.test(path)) || (method === "GET" && get.test(path));
}
const models = /^(?:\/v1)?\/models(?:\/[\w.:@-]+)*$/;
/** Anthropic's documentation: "Messages" and "Models". */
const anthropicApi = {
    modelsPath: (folder) => `${folder.endsWith("/v1") ? "" : "/v1"}/models?limit=1`,
    headers: { "anthropic-version": "2023-06-01" },
    allows: pathsOf(/^(?:\/v1)?\/messages(?:\/count_tokens)?$/, models),
    findServerTool: (body) => {
        if (!isAbsent(body.mcp_servers))
            return "mcp_servers";
        if (!isAbsent(body.container))
            return "container";
        const tool = model_api_listOf(body.tools).find(({ type }) => type !== undefined && !anthropicTool.test(String(type)));
        if (tool !== undefined)
            return `the tool ${tool.type}`;
        return fileByUrl([...model_api_listOf(body.messages), { content: body.system }], ({ source }) => model_api_isObject(source) && source.type === "url");
    },
};
/** Tools that the agent runs itself, and the search among its tools. */
const anthropicTool = /^(?:custom|(?:bash|text_editor|computer|memory)_\d+|tool_search_tool_\w+)$/;
/** OpenAI's documentation: "Responses", "Chat Completions" and "Models". */
const openAiApi = {
    modelsPath: () => "/models",
    allows: pathsOf(/^(?:\/v1)?\/(?:responses|responses\/compact|chat\/completions)$/, models),
    findServerTool: (body) => {
        for (const name of ["web_search_options", "plugins", "prompt"])
            if (!isAbsent(body[name]))
                return name;
        // These models search by themselves.
        if (/-search|:online/.test(String(body.model)))
            return `the model ${body.model}`;
        const tool = model_api_listOf(body.tools).find(({ type }) => !openAiTools.has(String(type)));
        if (tool !== undefined)
            return `the tool ${tool.type}`;
        return fileByUrl([...model_api_listOf(body.input), ...model_api_listOf(body.messages)], (part) => [part.file_url, part.image_url, part.video_url].some(isRemote));
    },
};
/** Tools that the agent runs itself. */
const openAiTools = new Set(["function", "custom", "local_shell", "apply_patch", "namespace", "tool_search"]);
/**
 * GitHub Copilot's, which has the paths of OpenAI and Anthropic. It has no `modelsPath`, because a token that is not allowed to use a
 * model may get the list, too.
 */
const copilotApi = {
    allows: (method, path) => openAiApi.allows(method, path) || anthropicApi.allows(method, path),
    findServerTool: (body, path) => (anthropicApi.allows("POST", path) ? anthropicApi : openAiApi).findServerTool(body, path),
};
/** Google's documentation: "Gemini API", "Generating content". Fields have names in both styles. */
const geminiApi = {
    modelsPath: () => "/v1beta/models?pageSize=1",
    allows: pathsOf(/^\/v1(?:alpha|beta)?\/models\/[\w.-]+:(?:generateContent|streamGenerateContent|countTokens)$/, /^\/v1(?:alpha|beta)?\/models(?:\/[\w.-]+)?$/),
    findServerTool: (body) => {
        const requests = [body, ...[body.generateContentRequest, body.generate_content_request].filter(model_api_isObject)];
        for (const request of requests) {
            for (const tool of model_api_listOf(request.tools)) {
                const name = Object.keys(tool).find((key) => !/^function_?declarations$/i.test(key));
                if (name !== undefined)
                    return `the tool ${name}`;
            }
            const contents = [request.contents, request.systemInstruction, request.system_instruction].flatMap(model_api_listOf);
            if (contents.flatMap(({ parts }) => model_api_listOf(parts)).some((part) => part.fileData ?? part.file_data))
                return "a file by its URL";
        }
        return undefined;
    },
};
const model_api_isObject = (value) => typeof value === "object" && value !== null;
const isAbsent = (value) => value === undefined || value === null || (Array.isArray(value) && value.length === 0);
/** Returns the objects of a list; one object is a list of itself. */
function model_api_listOf(value) {
    return (Array.isArray(value) ? value : [value]).filter(model_api_isObject);
}
/** Looks for a part of messages, and of the results of tools in them, that the provider would fetch. */
function fileByUrl(messages, isFetched) {
    const waiting = [...messages];
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
        if (isFetched(part))
            return "a file by its URL";
        waiting.push(...model_api_listOf(part.content), ...model_api_listOf(part.output));
    }
    return undefined;
}
/** Whether an address, or the one in an object, is not in the request itself. */
function isRemote(address) {
    const url = model_api_isObject(address) ? address.url : address;
    return typeof url === "string" && !/^data:/i.test(url);
}

;// CONCATENATED MODULE: ./build/service/src/agents/presets/preset.js

/** For an agent that does not say how its turn ended. */
const noResult = { message: undefined, error: undefined, hasEnded: false };
/** Anthropic's API with an API key. `baseUrlVariable` and the path in its URL differ between agents. */
function anthropic(url, baseUrlVariable) {
    return {
        url,
        baseUrlVariable,
        keyVariable: "ANTHROPIC_API_KEY",
        api: anthropicApi,
        header: (key) => ["x-api-key", key],
    };
}
/** OpenAI's API with an API key. */
function openAi(baseUrlVariable, keyVariable) {
    const header = (key) => ["authorization", `Bearer ${key}`];
    return { url: "https://api.openai.com/v1", baseUrlVariable, keyVariable, api: openAiApi, header };
}

;// CONCATENATED MODULE: ./build/service/src/agents/presets/aider.js

/** The lines that aider prints itself, before and after the model's words. */
const ownLine = /^(?:Repo-map: |Git repo: |Restored previous conversation|Summarizing |Added .* to the chat|Applied edit to |Commit [0-9a-f]{7} |Tokens: )/;
/** aider, by Paul Gauthier. */
const aider = {
    program: "aider",
    package: { registry: "pypi", name: "aider-chat", version: "0.86.2" },
    models: [anthropic("https://api.anthropic.com", "ANTHROPIC_API_BASE"), openAi("OPENAI_API_BASE", "OPENAI_API_KEY")],
    sessions: { files: ".aider.chat.history.md" },
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
        if (error > end) {
            // It breaks lines as for a terminal, at a space that stays.
            const rest = lines.slice(error);
            const length = rest.findIndex((line) => line.trim() === "");
            return {
                message: undefined,
                error: rest
                    .slice(0, length < 0 ? undefined : length)
                    .join(" ")
                    .replace(/ {2,}/g, " "),
            };
        }
        if (end === -1)
            return noResult;
        const start = lines.findLastIndex((line, index) => index < end && ownLine.test(line));
        const costUsd = /Cost: \$[\d.]+ message, \$([\d.]+) session\.$/.exec(lines[end]?.trimEnd() ?? "")?.[1];
        return {
            ...(costUsd !== undefined && { costUsd: Number(costUsd) }),
            message: lines
                .slice(start + 1, end)
                .join("\n")
                .trim() || undefined,
            error: undefined,
        };
    },
};

;// CONCATENATED MODULE: ./build/service/src/agents/events.js
/** Parses a line of an agent's stdout; `undefined` if it is no event. */
function events_parseEvent(line) {
    if (!line.startsWith("{"))
        return undefined;
    try {
        return JSON.parse(line);
    }
    catch {
        return undefined;
    }
}
/** Parses the lines of JSON in an agent's output. The first line may be cut off, and others may not be JSON. */
function parseEvents(stdout) {
    return stdout
        .split("\n")
        .map(events_parseEvent)
        .filter((event) => event !== undefined);
}
/** Returns the string at a path in an event; `undefined` if there is none. */
function stringIn(event, ...path) {
    const value = valueIn(event, path);
    return typeof value === "string" ? value : undefined;
}
/** Returns the number at a path in an event; `undefined` if there is none. */
function numberIn(event, ...path) {
    const value = valueIn(event, path);
    return typeof value === "number" ? value : undefined;
}
function valueIn(event, path) {
    let value = event;
    for (const name of path) {
        if (typeof value !== "object" || value === null)
            return undefined;
        value = value[name];
    }
    return value;
}

;// CONCATENATED MODULE: ./build/service/src/agents/presets/claude.js



/** Claude Code, by Anthropic. */
const claude_claude = {
    program: "claude",
    package: { registry: "npm", name: "@anthropic-ai/claude-code", version: "2.1.330" },
    models: [
        anthropic("https://api.anthropic.com", "ANTHROPIC_BASE_URL"),
        {
            url: "https://api.anthropic.com",
            baseUrlVariable: "ANTHROPIC_BASE_URL",
            // From `claude setup-token`.
            keyVariable: "CLAUDE_CODE_OAUTH_TOKEN",
            // Its models are listed only for keys.
            api: { ...anthropicApi, modelsPath: undefined },
            header: (key) => ["authorization", `Bearer ${key}`],
        },
    ],
    sessions: { files: ".claude/projects/*/*.jsonl" },
    environment: {
        // Otherwise it sends the content of every file that a prompt names as `@/path` to the model, even from outside the clone.
        CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
        // Otherwise it stays after its result as long as what it started in the background, such as a server for a preview.
        CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
    },
    // `IS_SANDBOX` allows to skip permissions as root. `--verbose` is required by the output format, which logs each step when
    // it is done, even if the agent is killed later.
    script: ({ isFollowUp, isSandboxed }) => [
        `${isSandboxed ? "IS_SANDBOX=1 " : ""}exec claude --print --output-format stream-json --verbose`,
        isSandboxed ? "--dangerously-skip-permissions" : "--permission-mode acceptEdits",
        ...(isFollowUp ? ["--continue"] : []),
        '"$@"',
    ].join(" "),
    readReport: (_stdout, result) => {
        if (result === undefined)
            return noResult;
        const message = stringIn(result, "result");
        const [session, totalUsd] = [stringIn(result, "session_id"), numberIn(result, "total_cost_usd")];
        const subtype = stringIn(result, "subtype") ?? "";
        const hasFailed = result.is_error === true || subtype.startsWith("error");
        return {
            // A session that is continued keeps counting.
            ...(session !== undefined && totalUsd !== undefined && { sessionCost: { session, totalUsd } }),
            message,
            error: hasFailed ? (message ?? errorsIn(result) ?? limits[subtype] ?? (subtype || "no reason")) : undefined,
            ...(subtype in limits && { failureClass: "limit" }),
        };
    },
};
/** What it says only as a code when it has reached a limit of its own. */
const limits = {
    error_max_turns: "it reached its limit of turns",
    error_max_budget_usd: "it reached its limit of cost",
};
/** Returns the event's own words about what went wrong; `undefined` if it has none. */
function errorsIn({ errors }) {
    const words = Array.isArray(errors) ? errors.filter((one) => typeof one === "string" && one.trim() !== "") : [];
    return words.length === 0 ? undefined : words.join(" ");
}

;// CONCATENATED MODULE: ./build/service/src/agents/presets/codex.js


/** Codex CLI, by OpenAI. */
const codex_codex = {
    program: "codex",
    package: { registry: "npm", name: "@openai/codex", version: "0.169.0" },
    models: [openAi("OPENAI_BASE_URL", "CODEX_API_KEY")],
    sessions: { files: ".codex/sessions/*/*/*/*.jsonl" },
    environment: {},
    // It reads the base URL only from its configuration. For a model that it does not know, it would offer a tool of the provider.
    script: ({ isFollowUp, isSandboxed }) => [
        "exec codex exec --json",
        isSandboxed ? "--dangerously-bypass-approvals-and-sandbox" : "--sandbox workspace-write",
        `-c 'web_search="disabled"' \${OPENAI_BASE_URL:+-c "openai_base_url=\\"$OPENAI_BASE_URL\\""} "$@"`,
        ...(isFollowUp ? ["resume --last"] : []),
        "-",
    ].join(" "),
    readReport: (stdout, end) => {
        if (end === undefined)
            return noResult;
        const words = parseEvents(stdout).findLast((event) => stringIn(event, "item", "type") === "agent_message");
        const error = end.type === "turn.failed" ? (stringIn(end, "error", "message") ?? "no reason") : undefined;
        return { message: stringIn(words, "item", "text"), error };
    },
};

;// CONCATENATED MODULE: ./build/service/src/agents/presets/copilot.js



/** GitHub Copilot CLI. In a workflow, `permissions: copilot-requests: write` makes the workflow's own token a key. */
const copilot_copilot = {
    program: "copilot",
    package: { registry: "npm", name: "@github/copilot", version: "1.0.102" },
    models: [
        {
            url: "https://api.githubcopilot.com",
            baseUrlVariable: "COPILOT_API_URL",
            keyVariable: "COPILOT_GITHUB_TOKEN",
            // With a token that looks otherwise, it asks api.github.com for its account first.
            dummyKey: `ghs_${"0".repeat(36)}`,
            api: copilotApi,
            header: (token) => ["authorization", `Bearer ${token}`],
        },
    ],
    sessions: { files: ".copilot/session-state/*/events.jsonl" },
    environment: { COPILOT_AUTO_UPDATE: "false", USE_TGREP: "false" },
    // 235 MB, by default into the home, which each job has.
    unpacksTo: "COPILOT_CACHE_HOME",
    script: ({ isFollowUp, isSandboxed }) => [
        "exec copilot --output-format json --no-color --no-ask-user --no-auto-update --disable-builtin-mcps",
        // Through these tools it would follow the skills and agents of the repository.
        "--excluded-tools=skill,task",
        `--disable-client-telemetry --secret-env-vars=COPILOT_GITHUB_TOKEN ${isSandboxed ? "--allow-all" : "--allow-tool write"}`,
        ...(isFollowUp ? ["--continue"] : []),
        '"$@"',
    ].join(" "),
    readReport: (stdout, end) => {
        if (end === undefined)
            return noResult;
        const events = parseEvents(stdout);
        const isSaid = (event) => (stringIn(event, "data", "content") ?? "") !== "";
        const words = events.findLast((event) => event.type === "assistant.message" && isSaid(event));
        const failure = events.findLast(({ type }) => type === "session.error");
        const error = end.exitCode === 0 ? undefined : (stringIn(failure, "data", "message") ?? "no reason");
        return { message: stringIn(words, "data", "content"), error };
    },
};

;// CONCATENATED MODULE: ./build/service/src/agents/presets/gemini.js



/** Without the type, it rejects a key together with a base URL. They take precedence over settings in the repository. */
const settings = {
    security: { auth: { selectedType: "gemini-api-key" } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false },
    // In seconds. A command that has started something in the background does not end for it; otherwise, it waits for five minutes.
    tools: { shell: { inactivityTimeout: 120 } },
};
/** Gemini CLI, by Google. */
const gemini_gemini = {
    program: "gemini",
    package: { registry: "npm", name: "@google/gemini-cli", version: "0.61.0" },
    models: [
        {
            url: "https://generativelanguage.googleapis.com",
            baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
            keyVariable: "GEMINI_API_KEY",
            api: geminiApi,
            header: (key) => ["x-goog-api-key", key],
        },
    ],
    sessions: { files: ".gemini/tmp/*/chats/*", idLength: 8 },
    environment: {},
    script: ({ isFollowUp, isSandboxed }) => [
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH=$(mktemp) && export GEMINI_CLI_SYSTEM_SETTINGS_PATH &&",
        `echo '${JSON.stringify(settings)}' > "$GEMINI_CLI_SYSTEM_SETTINGS_PATH" &&`,
        "exec gemini --skip-trust --output-format stream-json",
        `--approval-mode ${isSandboxed ? "yolo" : "auto_edit"}`,
        ...(isFollowUp ? ["--resume latest"] : []),
        '"$@"',
    ].join(" "),
    readReport: (stdout, result) => {
        if (result === undefined)
            return noResult;
        const events = parseEvents(stdout);
        // The message arrives in pieces, after the last use of a tool.
        const words = events.slice(events.findLastIndex(({ type }) => type === "tool_result") + 1);
        const message = words.flatMap((event) => (event.role === "assistant" ? (stringIn(event, "content") ?? "") : []));
        const error = result.status === "success" ? undefined : (stringIn(result, "error", "message") ?? "no reason");
        return { message: message.join("") || undefined, error };
    },
};

// EXTERNAL MODULE: ./build/service/src/agents/output-end.js
var output_end = __webpack_require__(6009);
;// CONCATENATED MODULE: ./build/service/src/agents/presets/opencode.js



/** OpenCode, by SST. */
const opencode_opencode = {
    program: "opencode",
    package: { registry: "npm", name: "opencode-ai", version: "1.18.33" },
    models: [
        anthropic("https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL"),
        openAi("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ],
    // All are in one file.
    sessions: { files: ".local/share/opencode/opencode.db", idLength: 0 },
    // It knows the models as of its own version.
    environment: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    script: ({ isFollowUp }) => `exec opencode run --format json ${isFollowUp ? "--continue " : ""}"$@"`,
    readReport: (stdout, end) => {
        if (end === undefined)
            return noResult;
        const events = parseEvents(stdout);
        const lastStep = events.slice(events.findLastIndex(({ type }) => type === "step_start") + 1);
        const texts = lastStep.flatMap((event) => (event.type === "text" ? (stringIn(event, "part", "text") ?? "") : []));
        return {
            message: texts.join("\n\n") || undefined,
            error: errorOf(end),
            costUsd: (0,output_end/* isEndOfOutput */.I)(stdout) ? undefined : costOf(events.filter(({ type }) => type === "step_finish")),
        };
    },
};
function errorOf(end) {
    if (end.type === "error")
        return stringIn(end, "error", "data", "message") ?? stringIn(end, "error", "name") ?? "no reason";
    const reason = stringIn(end, "part", "reason") ?? "";
    return reason === "stop" ? undefined : `the model's answer ended early: ${reason}`;
}
/** Returns the cost of all steps; `undefined` if one does not say, or the agent knows no price of a model. */
function costOf(steps) {
    if (steps.length === 0)
        return undefined;
    const costs = steps.map((step) => {
        const cost = numberIn(step, "part", "cost");
        return cost === 0 && numberIn(step, "part", "tokens", "total") !== 0 ? undefined : cost;
    });
    return costs.reduce((sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost), 0);
}

;// CONCATENATED MODULE: ./build/service/src/agents/readable-error.js
/**
 * Returns an error of an agent for people. Some agents print what their model's API answered, as JSON that is in a text or in
 * other JSON.
 */
function readableError(error) {
    const start = error.indexOf("{");
    const end = error.lastIndexOf("}");
    const parsed = start >= 0 && end > start ? parse(error.slice(start, end + 1)) : undefined;
    const message = messageIn(parsed);
    if (message === undefined)
        return error;
    // What is before it says where it came from: `API Error: 401 {…}`.
    const before = error
        .slice(0, start)
        .replace(/^[\s[("']+|[\s"'(:-]+$/g, "")
        .trim();
    const readable = readableError(message);
    return before === "" || readable.includes(before) ? readable : `${before}: ${readable}`;
}
function parse(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return undefined;
    }
}
/** Finds the message in an API's answer, such as `{ "error": { "message": "…" } }`. */
function messageIn(value) {
    if (typeof value !== "object" || value === null)
        return undefined;
    const { error, message } = value;
    if (typeof message === "string" && message !== "")
        return message;
    return typeof error === "string" && error !== "" ? error : messageIn(error);
}

;// CONCATENATED MODULE: ./build/service/src/agents/presets.js









/** The agents that `--agent` knows by name. */
const presets = new Map(Object.entries({ claude: claude_claude, codex: codex_codex, gemini: gemini_gemini, opencode: opencode_opencode, aider: aider, copilot: copilot_copilot }));
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
 * @param environment - the service's, which has the key
 * @param model - passed to the agent; default: the agent's own default
 * @throws if there is no key, or the base URL in the environment is not valid
 */
function presetAgent(name, environment, model) {
    const preset = presets.get(name);
    if (preset === undefined)
        return undefined;
    const { program, models, environment: own, unpacksTo, sessions, script, readReport } = preset;
    const modelEndpoint = models.find(({ keyVariable }) => (0,service_secrets/* findKey */.Tj)(keyVariable, environment) !== undefined);
    if (modelEndpoint === undefined) {
        const keys = models.map(({ keyVariable }) => keyVariable).join(" or ");
        throw new Error(`--agent ${name} requires ${keys} in the environment.`);
    }
    const { baseUrlVariable, keyVariable } = modelEndpoint;
    const url = environment[baseUrlVariable]?.trim() || modelEndpoint.url;
    if (!URL.canParse(url))
        throw new Error(`${baseUrlVariable} must be a URL.`);
    return {
        kind: name,
        model: model ?? name,
        command: (turn) => {
            const modelArguments = model === undefined ? [] : ["--model", model];
            return { file: "/bin/sh", args: ["-c", script(turn), program, ...modelArguments] };
        },
        promptPrefix,
        eventFormat: eventFormats.find((format) => format === name),
        readReport: (stdout, _result, final) => {
            const report = readReport(stdout, final);
            const { error } = report;
            return {
                ...report,
                ...(final !== undefined && { hasEnded: true }),
                ...(error !== undefined && { error: readableError(error) }),
            };
        },
        isToldHistory: true,
        environment: own,
        passes: [keyVariable, baseUrlVariable],
        modelEndpoint: { ...modelEndpoint, url },
        programs: [program],
        install: installCommand(preset.package),
        unpacksTo,
        sessions,
        reads: [],
        // None: its model is reached through the service, which adds the key. A direct way would let it use another key.
        hosts: [],
        isTrusted: false,
    };
}


/***/ }),

/***/ 1800:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   U: () => (/* binding */ readResult),
/* harmony export */   k: () => (/* binding */ readResultFile)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);

/** In bytes. A larger file says nothing. */
const maxBytes = 256 * 1024;
/**
 * Returns what a file that an agent may have written contains; `undefined` if it is missing, too large or not a regular file. What
 * the agent put in its place is not followed: a link could lead to a file that the agent itself cannot read.
 */
function readResultFile(path) {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = node_fs__WEBPACK_IMPORTED_MODULE_0__.constants;
    let file;
    try {
        file = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.openSync)(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    }
    catch {
        return undefined;
    }
    try {
        const stats = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.fstatSync)(file);
        return stats.isFile() && stats.size <= maxBytes ? (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(file, "utf8") : undefined;
    }
    finally {
        (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.closeSync)(file);
    }
}
/** Reads `{ "message": "…", "costUsd": 0.0123 }`. What is missing, or has another type, is unknown. */
function readResult(text) {
    const { message, costUsd } = objectIn(text);
    return {
        message: typeof message === "string" && message.trim() !== "" ? message : undefined,
        error: undefined,
        costUsd: typeof costUsd === "number" ? costUsd : undefined,
    };
}
function objectIn(text = "{}") {
    try {
        return JSON.parse(text) ?? {};
    }
    catch {
        return {};
    }
}


/***/ }),

/***/ 1890:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   O8: () => (/* binding */ explainBubblewrapError),
/* harmony export */   Pk: () => (/* binding */ bubblewrap),
/* harmony export */   xj: () => (/* binding */ createBubblewrap)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);

/** Programs and libraries of the system. */
const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];
/** The part of `/etc` that programs need to start, to find hosts and users, and to check certificates. The rest has keys. */
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
/** Keys in the kernel, of all users, by their names. */
const hiddenFiles = ["/proc/keys", "/proc/key-users"];
/**
 * Runs agents with bubblewrap: in namespaces of their own for processes, users, hostname and System V IPC, without
 * capabilities, and with only the system's programs and what `SandboxAccess` names in the file system.
 */
function createBubblewrap({ filter, hasNoUserNamespaces = false } = {}) {
    const hardening = [
        ...(filter === undefined ? [] : ["--seccomp", "3"]),
        ...(hasNoUserNamespaces ? ["--unshare-user", "--disable-userns"] : []),
    ];
    return {
        isConfining: true,
        hasProcessNamespace: true,
        wrap: (command, access) => ({
            file: "bwrap",
            args: argumentsFor(command, access, hardening),
            ...(filter !== undefined && { inherited: filter }),
        }),
    };
}
/** Without what not every machine can do. */
const bubblewrap = createBubblewrap();
function argumentsFor(command, { currentDirectory, writable, moved, readable, hasNetwork, temporary }, hardening) {
    return [
        // Everything the agent started dies with it, and all of it with the service.
        ...["--unshare-all", ...(hasNetwork ? ["--share-net"] : []), "--die-with-parent", "--new-session"],
        ...["--cap-drop", "ALL", "--hostname", "agent", ...hardening],
        ...systemFolders.flatMap(showSystemFolder),
        ...systemFiles.flatMap(readOnly),
        ...["--proc", "/proc", ...kernelFiles.flatMap(readOnly), "--dev", "/dev"],
        ...hiddenFiles.filter((path) => (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(path)).flatMap((path) => ["--ro-bind", "/dev/null", path]),
        ...["--bind", temporary, "/tmp", "--bind", temporary, "/dev/shm"],
        ...notShown(readable).flatMap(readOnly),
        ...writable.flatMap((path) => ["--bind", moved?.to === path ? moved.path : path, path]),
        // Nothing that is only in memory can be written, so that all files count for the limit of the disk.
        ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", currentDirectory],
        ...["--", command.file, ...command.args],
    ];
}
function showSystemFolder(path) {
    if (!(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(path))
        return [];
    // Such as /bin, a link to /usr/bin on most systems.
    return (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.lstatSync)(path).isSymbolicLink() ? ["--symlink", (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readlinkSync)(path), path] : readOnly(path);
}
/** Leaves out what a folder shows already, where bubblewrap cannot mount over a link. What such a link leads to is shown instead. */
function notShown(readable) {
    const folders = [...systemFolders, ...systemFiles, ...readable];
    const isShown = (path) => folders.some((folder) => path.startsWith(`${folder}/`));
    const real = (path) => ((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(path) ? [(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.realpathSync)(path)] : []);
    return readable.flatMap((path) => (isShown(path) ? real(path).filter((one) => !isShown(one)) : [path]));
}
const readOnly = (path) => ["--ro-bind-try", path, path];
/** Returns advice for the operator if bubblewrap cannot run, by the output of bubblewrap. */
function explainBubblewrapError(error) {
    const without = "or start the service with --sandbox none if its agents may do whatever you can.";
    if (process.platform !== "linux")
        return `The sandbox requires Linux. Run the service there, ${without}`;
    if (/ENOENT/.test(error))
        return `The sandbox requires bubblewrap, which is not installed. Install your distribution's package, such as with apt-get install bubblewrap, ${without}`;
    if (/hostname/.test(error))
        return `bubblewrap cannot create a sandbox here: ${error}\nThis is forbidden to the service itself, such as by ProtectHostname=yes in its systemd unit. Remove that, ${without}`;
    return [
        `bubblewrap cannot create a sandbox here: ${error}`,
        "If this is Ubuntu 24.04 or later, its AppArmor allows user namespaces only to programs with a profile: service/docs/agents.md has one for bwrap.",
        "In a container, the runtime has to allow user namespaces.",
        `Fix that, ${without}`,
    ].join("\n");
}


/***/ }),

/***/ 3198:
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
;// CONCATENATED MODULE: ./build/service/src/agents/sandbox/seccomp-filter.js
// A filter for system calls, as container engines have one, in the kernel's classic BPF. Linux's documentation: "Seccomp BPF".
/**
 * System calls that no agent needs: the keyrings of the kernel, which outlive a sandbox, and what has been a way out of
 * namespaces before.
 */
const forbidden = [
    ...["add_key", "keyctl", "request_key"],
    ...["bpf", "perf_event_open", "userfaultfd", "open_by_handle_at", "setns"],
    ...["io_uring_setup", "io_uring_enter", "io_uring_register"],
    ...["init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load"],
];
const architectures = {
    x64: {
        audit: 0xc000003e,
        firstForeignCall: 0x40000000,
        calls: {
            add_key: 248,
            keyctl: 250,
            request_key: 249,
            bpf: 321,
            perf_event_open: 298,
            userfaultfd: 323,
            open_by_handle_at: 304,
            setns: 308,
            io_uring_setup: 425,
            io_uring_enter: 426,
            io_uring_register: 427,
            init_module: 175,
            finit_module: 313,
            delete_module: 176,
            kexec_load: 246,
            kexec_file_load: 320,
            clone: 56,
            clone3: 435,
            socket: 41,
            unshare: 272,
        },
    },
    arm64: {
        audit: 0xc00000b7,
        calls: {
            add_key: 217,
            keyctl: 219,
            request_key: 218,
            bpf: 280,
            perf_event_open: 241,
            userfaultfd: 282,
            open_by_handle_at: 265,
            setns: 268,
            io_uring_setup: 425,
            io_uring_enter: 426,
            io_uring_register: 427,
            init_module: 105,
            finit_module: 273,
            delete_module: 106,
            kexec_load: 104,
            kexec_file_load: 294,
            clone: 220,
            clone3: 435,
            socket: 198,
            unshare: 97,
        },
    },
};
/** Unix, IPv4, IPv6 and netlink. Not vsock, which leads to the host of a virtual machine without a network. */
const addressFamilies = [1, 2, 10, 16];
const cloneNewUser = 0x10000000;
/** Errors of the system. */
const [eperm, enosys, eafnosupport] = [1, 38, 97];
/** Where the kernel puts what a filter reads: `struct seccomp_data`. Of an argument, the lower half in little endian. */
const [callOffset, architectureOffset, firstArgumentOffset] = [0, 4, 16];
/** Codes of instructions: load a word, compare, return. */
const [load, jumpIfEqual, jumpIfAtLeast, jumpIfAnyBit, end] = [0x20, 0x15, 0x35, 0x45, 0x06];
const [allow, fail] = [0x7fff0000, 0x00050000];
const read = (offset) => ({ code: load, value: offset });
const allowed = { code: end, value: allow };
const failed = (error) => ({ code: end, value: fail | error });
/** Runs `then` if a comparison is true. All of `then` ends with a return. */
function when(code, value, then) {
    return [{ code, value, skipIfFalse: then.length }, ...then];
}
/**
 * Returns the filter for a processor, for `bwrap --seccomp`; `undefined` if there is none for it.
 *
 * It denies the calls above, new user namespaces, in which an agent would have all privileges, and sockets of other families.
 *
 * @param architecture - as in `process.arch`
 */
function seccompFilter(architecture) {
    const found = architectures[architecture];
    if (found === undefined)
        return undefined;
    const { audit, firstForeignCall, calls } = found;
    const program = [
        read(architectureOffset),
        // Programs for another processor, such as 32-bit ones, have other numbers.
        { code: jumpIfEqual, value: audit, skipIfTrue: 1 },
        failed(enosys),
        read(callOffset),
        ...(firstForeignCall === undefined ? [] : when(jumpIfAtLeast, firstForeignCall, [failed(enosys)])),
        ...forbidden.flatMap((name) => when(jumpIfEqual, calls[name], [failed(eperm)])),
        // Its flags are in memory, where a filter cannot read them. Programs use clone then.
        ...when(jumpIfEqual, calls.clone3, [failed(enosys)]),
        ...[calls.clone, calls.unshare].flatMap((call) => when(jumpIfEqual, call, [
            read(firstArgumentOffset),
            ...when(jumpIfAnyBit, cloneNewUser, [failed(eperm)]),
            allowed,
        ])),
        ...when(jumpIfEqual, calls.socket, [
            read(firstArgumentOffset),
            ...addressFamilies.flatMap((family) => when(jumpIfEqual, family, [allowed])),
            failed(eafnosupport),
        ]),
        allowed,
    ];
    return Buffer.concat(program.map(encode));
}
/** As `struct sock_filter`. */
function encode({ code, value, skipIfTrue = 0, skipIfFalse = 0 }) {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16LE(code, 0);
    bytes.writeUInt8(skipIfTrue, 2);
    bytes.writeUInt8(skipIfFalse, 3);
    bytes.writeUInt32LE(value, 4);
    return bytes;
}

;// CONCATENATED MODULE: ./build/service/src/agents/sandbox/create-sandbox.js






const sandboxKinds = ["bwrap", "none"];
/** Writes the filter for system calls to the service's folder. Returns the file; `undefined` if this processor has none. */
function writeFilter(folder) {
    const filter = seccompFilter(process.arch);
    const file = (0,external_node_path_.join)(folder, "system-calls.bpf");
    if (filter === undefined)
        return undefined;
    // Removed first, because an agent without a sandbox may have put a link there.
    (0,external_node_fs_.rmSync)(file, { recursive: true, force: true });
    (0,external_node_fs_.writeFileSync)(file, filter, { mode: 0o600 });
    return file;
}
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
        const test = (sandbox) => (0,probe/* probe */.d)(sandbox.wrap({ file: "/bin/sh", args: ["-c", ": > written"] }, access));
        const isPossible = async (hardening) => (await test((0,bubblewrap/* createBubblewrap */.xj)(hardening))) === undefined;
        const filter = writeFilter(folder);
        const all = { filter, hasNoUserNamespaces: true };
        if (filter !== undefined && (await isPossible(all)))
            return (0,bubblewrap/* createBubblewrap */.xj)(all);
        const error = await test(bubblewrap/* bubblewrap */.Pk);
        if (error !== undefined)
            throw new Error((0,bubblewrap/* explainBubblewrapError */.O8)(error));
        const some = {
            filter: filter !== undefined && (await isPossible({ filter })) ? filter : undefined,
            hasNoUserNamespaces: await isPossible({ hasNoUserNamespaces: true }),
        };
        if (some.filter === undefined)
            log("No filter for system calls is possible here, so agents reach the kernel's keyrings and the host of a virtual machine (vsock). It requires x86-64 or arm64, and seccomp.");
        if (some.filter === undefined && !some.hasNoUserNamespaces)
            log("Agents can create user namespaces, because this bubblewrap cannot prevent it: it requires version 0.8.");
        return (0,bubblewrap/* createBubblewrap */.xj)(some);
    }
    finally {
        (0,external_node_fs_.rmSync)(directory, { recursive: true, force: true });
    }
}
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
            return { isConfining: false, hasProcessNamespace: true, wrap: (command) => wrapWith(variant, command) };
    log("This machine has no PID namespaces for the service, so a process outlives its turn if it leaves its process group and drops AGENT_RESULT_FILE from its environment.");
    return sandbox/* unconfined */.yt;
}


/***/ }),

/***/ 460:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   d: () => (/* binding */ probe)
/* harmony export */ });
/* harmony import */ var node_child_process__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1421);
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(3024);


/** In characters. */
const maxErrorLength = 10_000;
/** Runs a command. Returns `undefined` if it exits with 0, or else why it does not: its stderr, or why it cannot be started. */
function probe({ file, args, inherited }, environment = process.env, timeLimitMs = 20_000) {
    const filter = inherited === undefined ? [] : [(0,node_fs__WEBPACK_IMPORTED_MODULE_1__.openSync)(inherited, "r")];
    return new Promise((resolve) => {
        const options = { timeout: timeLimitMs, env: environment };
        const child = (0,node_child_process__WEBPACK_IMPORTED_MODULE_0__.spawn)(file, args, { ...options, stdio: ["ignore", "ignore", "pipe", ...filter] });
        let stderr = "";
        child.stderr?.setEncoding("utf8").on("data", (text) => {
            stderr = (stderr + text).slice(0, maxErrorLength);
        });
        child.once("error", (error) => resolve(error.message));
        child.once("close", (exitCode, signal) => resolve(exitCode === 0 ? undefined : stderr.trim() || `Command failed with ${exitCode ?? signal}: ${file}`));
        for (const descriptor of filter)
            (0,node_fs__WEBPACK_IMPORTED_MODULE_1__.closeSync)(descriptor);
    });
}


/***/ }),

/***/ 9025:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   CT: () => (/* binding */ behindGate),
/* harmony export */   Z7: () => (/* binding */ gateDescriptor),
/* harmony export */   yt: () => (/* binding */ unconfined)
/* harmony export */ });
/** No sandbox: for programs that are trusted like the service itself. */
const unconfined = { isConfining: false, wrap: (command) => command };
/** Through which a command in a sandbox is told to begin. */
const gateDescriptor = 4;
/**
 * Returns a command that writes a line to its gate, and runs `command` when it reads one. If the gate is closed instead, it ends: a
 * supervisor that is killed starts no agent.
 */
function behindGate({ file, args }) {
    const script = `echo >&${gateDescriptor}; read -r _ <&${gateDescriptor} && exec "$@" 3<&- ${gateDescriptor}<&-`;
    return { file: "/bin/sh", args: ["-c", script, "sh", file, ...args] };
}


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

/***/ 8543:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   IG: () => (/* binding */ parsePublicUrl),
/* harmony export */   oK: () => (/* binding */ basePathOf),
/* harmony export */   w7: () => (/* binding */ belowBasePath),
/* harmony export */   zH: () => (/* binding */ withoutBasePath)
/* harmony export */ });
/* harmony import */ var _routes_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6732);

/**
 * Returns the URL at which a reverse proxy serves the service, without a slash at its end.
 *
 * @throws if it is neither https nor on this machine, or has a path that the service cannot be served below
 */
function parsePublicUrl(text) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    // Over http, the API key would be sent in plain text.
    const isLocal = url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
    if (!(url?.protocol === "https:" || isLocal) || url.href !== url.origin + url.pathname)
        throw new Error("--public-url must be an https URL, such as https://agents.example.com or https://example.com/agents.");
    const basePath = url.pathname.replace(/\/$/, "");
    // Needs no escaping in pages, headers and cookies.
    if (!/^(\/[\w.~-]+)*$/.test(basePath))
        throw new Error("--public-url: names in the path may have letters, digits and -._~ only.");
    const [, first = ""] = basePath.split("/");
    // Otherwise, it could not be told which of them a request is for.
    if (basePath !== "" && ownNames.has(first))
        throw new Error(`--public-url: the path must not begin with /${first}, at which the service has pages of its own.`);
    return url.origin + basePath;
}
/** The first names in the paths of the service. */
const ownNames = new Set(Object.values(_routes_js__WEBPACK_IMPORTED_MODULE_0__/* .routes */ .JZ).map(({ path }) => path.split("/")[1]));
/**
 * Returns the path below which browsers and clients reach the service, without a slash at its end: empty without a public URL,
 * or if that has no path. Links within the service begin with it.
 *
 * @param publicUrl - see `parsePublicUrl`
 */
function basePathOf(publicUrl) {
    return publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");
}
/**
 * Returns a listener that removes the base path from the URL of a request before `next` reads it. Some reverse proxies pass the
 * base path on, others do not, and programs on this machine need none.
 */
function withoutBasePath(basePath, next) {
    return (request, response) => {
        request.url = belowBasePath(request.url ?? "", basePath);
        next(request, response);
    };
}
/** Returns the part of a path, or of one with a query, that is below the base path, or all of it if it is not below. */
function belowBasePath(path, basePath) {
    if (!path.startsWith(basePath))
        return path;
    const rest = path.slice(basePath.length);
    if (rest.startsWith("/"))
        return rest;
    return rest === "" || rest.startsWith("?") ? `/${rest}` : path;
}


/***/ }),

/***/ 6732:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Di: () => (/* binding */ matchRoute),
/* harmony export */   JZ: () => (/* binding */ routes),
/* harmony export */   Wd: () => (/* binding */ takesMethod)
/* harmony export */ });
/* unused harmony exports operationRoutes, apiRoutes, pageRoutes */
/* harmony import */ var _model_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(894);

const read = ["GET", "HEAD"];
const write = ["POST"];
const operationRoutes = {
    // Whoever collects metrics knows each process by its address in a network, and no website has the key.
    metrics: { path: "/metrics", methods: read, access: "this machine or key", takesAnyHost: true },
    // A probe of an orchestrator names a process by the address of its pod or by the pod's name.
    health: { path: "/healthz", methods: read, access: "anyone", takesAnyHost: true },
    liveness: { path: "/healthz/live", methods: read, access: "anyone", takesAnyHost: true },
};
const ofProject = { access: "key for the project", takesAnyText: true };
/** Specification: "Endpoints". */
const apiRoutes = {
    createJob: { path: "/v2/agent/{project}/job", methods: write, ...ofProject },
    // Beyond the specification.
    findStep: { path: "/v2/agent/{project}/job", methods: ["GET"], alsoHead: true, ...ofProject },
    readJob: { path: "/v2/agent/{project}/job/{job}", methods: ["GET"], alsoHead: true, ...ofProject },
    sendMessage: { path: "/v2/agent/{project}/job/{job}/message", methods: write, ...ofProject },
    // Beyond the specification.
    endTurn: { path: "/v2/agent/{project}/job/{job}/turn/{turn}/stop", methods: write, ...ofProject },
};
const pageRoutes = {
    jobList: { path: "/", methods: read, access: "session" },
    pullRequest: { path: "/pull/{number}", methods: read, access: "session" },
    jobPage: { path: "/job/{job}", methods: read, access: "session" },
    jobLog: { path: "/job/{job}/log", methods: read, access: "session or key" },
    jobEvents: { path: "/job/{job}/events", methods: read, access: "session or key" },
    messageForm: { path: "/job/{job}/message", methods: write, access: "session of a form" },
    stopTurn: { path: "/job/{job}/turn/{turn}/stop", methods: write, access: "session or key" },
    retryTurn: { path: "/job/{job}/turn/{turn}/retry", methods: write, access: "session or key" },
    jobScript: { path: "/assets/job-page.js", methods: read, access: "anyone" },
    createSignInLink: { path: "/sign-in/link", methods: write, access: "key" },
    // A `HEAD` must not use up the link.
    followSignInLink: { path: "/sign-in/{link}", methods: ["GET"], access: "anyone" },
    signIn: { path: "/sign-in", methods: ["GET", "HEAD", "POST"], access: "anyone" },
    signOut: { path: "/sign-out", methods: write, access: "anyone" },
};
/**
 * Every path that the service answers. If two match, the first one counts. Routes of the same path have different methods and
 * the same access.
 */
const routes = { ...operationRoutes, ...apiRoutes, ...pageRoutes };
const parameterSyntax = {
    job: /^[\w-]{1,64}$/,
    turn: new RegExp(`^${_model_js__WEBPACK_IMPORTED_MODULE_0__/* .turnIdSyntax */ .gn.source}$`),
    number: /^\d{1,9}$/,
    link: /^[\w-]{43}$/,
};
/** Returns whether a route answers requests with a method. */
function takesMethod({ methods, alsoHead }, method) {
    return methods.some((one) => one === method) || (alsoHead === true && method === "HEAD");
}
/** Returns the routes that have the form of a path, which is without a query; `undefined` if there is none. */
function matchRoute(path) {
    const texts = path.split("/");
    for (const { template, routes: ofPath, segments, takesAnyText } of table) {
        const isMatch = segments.length === texts.length &&
            segments.every((segment, index) => (isParameter(segment) ? texts[index] !== "" : texts[index] === segment));
        if (isMatch)
            return { path: template, routes: ofPath, parameters: parametersIn(segments, texts, takesAnyText) };
    }
    return undefined;
}
const named = Object.keys(routes).map((name) => ({
    name,
    route: routes[name],
}));
const table = [...new Set(named.map(({ route }) => route.path))].map((template) => {
    const ofPath = named.filter(({ route }) => route.path === template);
    const takesAnyText = ofPath.some(({ route }) => route.takesAnyText);
    return { template, routes: ofPath, segments: template.split("/"), takesAnyText };
});
const isParameter = (segment) => segment.startsWith("{");
function parametersIn(segments, texts, takesAnyText) {
    const found = { project: "", job: "", turn: "", number: "", link: "" };
    for (const name of Object.keys(found)) {
        const index = segments.indexOf(`{${name}}`);
        if (index === -1)
            continue;
        found[name] = texts[index] ?? "";
        if (!takesAnyText && parameterSyntax[name]?.test(found[name]) === false)
            return undefined;
    }
    return found;
}


/***/ }),

/***/ 894:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   P1: () => (/* binding */ jobOfBranch),
/* harmony export */   ZB: () => (/* binding */ checkResults),
/* harmony export */   c3: () => (/* binding */ jobBranch),
/* harmony export */   ds: () => (/* binding */ turnStages),
/* harmony export */   fQ: () => (/* binding */ failureClasses),
/* harmony export */   gn: () => (/* binding */ turnIdSyntax),
/* harmony export */   ok: () => (/* binding */ parseTurnId)
/* harmony export */ });
/*
 * Terms of the project:
 *
 * job      what a client creates: work on one project, with a branch and at most one open pull request
 * turn     one prompt of a job: the create's or a message's; the turns of a job run one after another
 * attempt  one run of an agent for a turn; a turn has a second one only if the first was interrupted
 * worker   a process that takes turns and runs them
 * step     the action's run in a workflow; it creates a job or sends a message, and polls
 * run      GitHub's workflow run, which the step is part of
 *
 * Times are milliseconds since 1970, unless a comment says otherwise.
 */
const checkResults = ["passed", "failed", "failed-before"];
/** Returns the branch of a job. The service has made the id, so it is valid in a ref name. */
const jobBranch = (jobId) => `agent/${jobId}`;
/** Returns the id of the job that a branch can be the one of. */
const jobOfBranch = (branch) => /^agent\/(job_[0-9a-f-]{36})$/.exec(branch)?.[1];
/** The syntax of a turn's id in paths, commands and trailers. Ids of services that share branches are times, and have 16 digits. */
const turnIdSyntax = /[1-9]\d{0,15}/;
const turnIdText = new RegExp(`^${turnIdSyntax.source}$`);
/** Returns the id of a turn; `undefined` if no turn can have it. */
function parseTurnId(text) {
    const id = turnIdText.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(id) ? id : undefined;
}
/**
 * How far a turn has come. `begun`: its agent runs, or was interrupted. `made`: its agent has ended, and the clone has the commit of its
 * change, if it made one. `checked`: the check of that commit has ended. `pushed`: the commit is on the job's branch, and counts.
 * `published`: its pull request is open.
 */
const turnStages = ["begun", "made", "checked", "pushed", "published"];
/**
 * What kind of failure a turn has, which decides what helps: `transient` and `agent`, to send it again; `limit`, a higher limit;
 * `credit`, to pay; `model`, another key, name or address; `setting` and `refused`, a change of what the service is given or
 * GitHub allows.
 */
const failureClasses = ["transient", "agent", "limit", "credit", "model", "setting", "refused"];


/***/ }),

/***/ 8361:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Jt: () => (/* binding */ flag),
/* harmony export */   K: () => (/* binding */ linuxLimit),
/* harmony export */   Qq: () => (/* binding */ text),
/* harmony export */   Te: () => (/* binding */ texts),
/* harmony export */   Yq: () => (/* binding */ choice),
/* harmony export */   cG: () => (/* binding */ variableName),
/* harmony export */   nd: () => (/* binding */ integer),
/* harmony export */   qD: () => (/* binding */ amountOrNever),
/* harmony export */   vj: () => (/* binding */ amount),
/* harmony export */   zo: () => (/* binding */ variableNames)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4507);
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(3673);
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(2335);

/**
 * Returns a kind whose values are the same on the command line and in JSON.
 *
 * @param expected - says what the value is, for messages
 * @param read - returns the JSON of a text on the command line; `undefined` if it has none
 */
function once(json, expected, read) {
    const parse = (option, [given = ""]) => {
        const parsed = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .safeParse */ .xL(json, read(given));
        if (!parsed.success)
            throw new Error(`${option} must be ${expected}.`);
        return parsed.data;
    };
    return { given: "once", parse, json };
}
const flag = { given: "never", parse: () => true, json: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .boolean */ .zMY("true or false") };
/** @param expected - says what the text is, for messages */
function text(expected) {
    const json = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP(expected).check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._trim */ .WN(), zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._minLength */ .m9(1, expected));
    return { given: "once", parse: (_, [given = ""]) => given, json };
}
/** @param expected - says what each text is, for messages */
function texts(expected) {
    return textsOf(text(expected).json, `a list, each ${expected}`);
}
/** The name of an environment variable. */
function variableName() {
    const expected = "the name of an environment variable";
    return zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP(expected).check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._trim */ .WN(), zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._regex */ .Fk(/^[A-Za-z_]\w*$/, expected));
}
const variableNames = textsOf(variableName(), "a list of names of environment variables");
function textsOf(json, expected) {
    return { given: "repeatedly", parse: (_, given) => [...given], json: zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(json, expected) };
}
function choice(choices) {
    const json = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* ["enum"] */ .k5n(choices, choices.map((one) => JSON.stringify(one)).join(" or "));
    return once(json, choices.join(" or "), (given) => given);
}
function integer(min, max) {
    const expected = `an integer from ${min} to ${max}`;
    const json = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .int */ .Whr(expected).check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._gte */ .qm(min, expected), zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._lte */ .Zm(max, expected));
    return once(json, expected, (given) => (/^\d+$/.test(given) ? Number(given) : undefined));
}
/** A limit that the service can enforce only on Linux. */
const linuxLimit = {
    ...integer(1, 1_000_000_000),
    parse: (option, given) => {
        if (process.platform !== "linux")
            throw new Error(`${option} requires Linux.`);
        return integer(1, 1_000_000_000).parse(option, given);
    },
};
/** A timer takes at most 35,791 minutes. */
const maxAmount = 10_000;
const expectedAmount = `a number greater than 0 and at most ${maxAmount}`;
const amountJson = zod_mini__WEBPACK_IMPORTED_MODULE_1__/* .number */ .aig(expectedAmount).check(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._gt */ .Tx(0, expectedAmount), zod_mini__WEBPACK_IMPORTED_MODULE_2__/* ._lte */ .Zm(maxAmount, expectedAmount));
const readAmount = (given) => (/^\d+(\.\d+)?$/.test(given) ? Number(given) : undefined);
/** Minutes, days or megabytes. */
const amount = once(amountJson, expectedAmount, readAmount);
const numberOrNever = once(amountJson, `never, or ${expectedAmount}`, readAmount);
/** As `amount`, or the word `never`, which is `Infinity`. */
const amountOrNever = {
    ...numberOrNever,
    parse: (option, given) => (given[0] === "never" ? Number.POSITIVE_INFINITY : numberOrNever.parse(option, given)),
};


/***/ }),

/***/ 5679:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  A: () => (/* binding */ parseOptions)
});

// UNUSED EXPORTS: readOptions

// EXTERNAL MODULE: external "node:net"
var external_node_net_ = __webpack_require__(7030);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(8161);
// EXTERNAL MODULE: ./build/service/src/access/trust-rule.js
var trust_rule = __webpack_require__(9355);
// EXTERNAL MODULE: ./build/service/src/http/public-url.js
var public_url = __webpack_require__(8543);
// EXTERNAL MODULE: ./build/service/src/per-project.js
var per_project = __webpack_require__(2748);
// EXTERNAL MODULE: ./build/service/src/service-secrets.js
var service_secrets = __webpack_require__(3696);
// EXTERNAL MODULE: external "node:util"
var external_node_util_ = __webpack_require__(7975);
// EXTERNAL MODULE: ./build/service/src/options/table.js + 1 modules
var table = __webpack_require__(1287);
;// CONCATENATED MODULE: ./build/service/src/options/arguments.js


/**
 * Reads a command line.
 *
 * @param names - the options that it may have
 * @throws if it has others, or two values for one that has a single value
 */
function parseArguments(args, names, allowPositionals = false) {
    const config = Object.fromEntries(names.map((name) => {
        const { given } = (0,table/* kindOf */.I)(name);
        return [name, { type: given === "never" ? "boolean" : "string", multiple: given === "repeatedly" }];
    }));
    const { values, positionals, tokens } = (0,external_node_util_.parseArgs)({
        args: [...args],
        options: config,
        allowPositionals,
        tokens: true,
    });
    const isSingle = (name) => config[name]?.type === "string" && !config[name].multiple;
    const single = tokens.flatMap((token) => (token.kind === "option" && isSingle(token.name) ? [token.name] : []));
    const twice = single.find((name, index) => single.indexOf(name) !== index);
    // The last value would win without a word.
    if (twice !== undefined)
        throw new Error(`--${twice} is given twice.`);
    return {
        positionals,
        has: (name) => values[name] !== undefined,
        value: (name) => {
            const given = values[name];
            return given === undefined
                ? undefined
                : (0,table/* kindOf */.I)(name).parse(`--${name}`, [given].flat().map((one) => String(one).trim()));
        },
    };
}

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: ../node_modules/zod/v4/mini/schemas.js + 3 modules
var schemas = __webpack_require__(3673);
// EXTERNAL MODULE: ../node_modules/zod/v4/core/api.js + 1 modules
var api = __webpack_require__(2335);
// EXTERNAL MODULE: ../node_modules/zod/v4/core/parse.js + 1 modules
var parse = __webpack_require__(4507);
// EXTERNAL MODULE: ./build/service/src/error-message.js
var error_message = __webpack_require__(5719);
// EXTERNAL MODULE: ./build/service/src/options/kinds.js
var kinds = __webpack_require__(8361);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./build/service/src/agents/agent.js
var agents_agent = __webpack_require__(719);
// EXTERNAL MODULE: ./build/service/src/agents/network/public-address.js
var public_address = __webpack_require__(535);
// EXTERNAL MODULE: ./build/service/src/agents/presets.js + 11 modules
var presets = __webpack_require__(1321);
// EXTERNAL MODULE: ./build/service/src/pulls/github/github-repository.js
var github_repository = __webpack_require__(6832);
;// CONCATENATED MODULE: ./build/service/src/pulls/path-patterns.js
/**
 * Reads patterns with the meaning of GitHub's `on.push.paths`, as the action's input `paths` has them: the last one that matches a
 * path decides, and one that begins with `!` excludes it. GitHub's documentation: "Filter pattern cheat sheet". One that ends with `/`, which
 * matches no file there, is for all in that folder.
 *
 * @throws with what is wrong with a pattern as the message
 */
function readPathPatterns(patterns) {
    const rules = patterns.map((pattern) => {
        const isNegative = pattern.startsWith("!");
        try {
            const path = isNegative ? pattern.slice(1) : pattern;
            return { isNegative, expression: toRegExp(path.endsWith("/") ? `${path}**` : path) };
        }
        catch (error) {
            throw new Error(`${JSON.stringify(pattern)} ${error instanceof Error ? error.message : error}`);
        }
    });
    if (rules.every(({ isNegative }) => isNegative))
        throw new Error(`${JSON.stringify(patterns[0])} only excludes files; add a pattern without ! before it, such as **`);
    const matches = (path) => rules.findLast(({ expression }) => expression.test(path))?.isNegative === false;
    return { patterns, matches };
}
/** The parts of a pattern, in the order in which they are tried. */
const part = /(?<anyFolders>(?<=^|\/)(?:\*\*\/)+)|(?<anything>\*{2,})|(?<anyName>\*)|(?<quantifier>[?+])|\[(?<set>[^\]]*)\]|\\(?<escaped>[\s\S])|(?<literal>[^[\\])|(?<unreadable>[[\\])/gu;
/** @throws with the problem of a pattern that cannot be read, as what follows it in a sentence */
function toRegExp(pattern) {
    if (pattern === "")
        throw new Error("is empty");
    let source = "";
    let isRepeatable = false;
    for (const { groups = {} } of pattern.matchAll(part)) {
        const { anyFolders, anything, anyName, quantifier, set, escaped, literal } = groups;
        const character = escaped ?? literal;
        if (quantifier !== undefined && !isRepeatable)
            throw new Error(`has nothing before ${quantifier} to repeat`);
        isRepeatable = set !== undefined || character !== undefined;
        if (anyFolders !== undefined)
            source += "(?:.*/)?";
        else if (anything !== undefined)
            source += ".*";
        else if (anyName !== undefined)
            source += "[^/]*";
        else if (set !== undefined)
            source += characterSet(set);
        else if (quantifier !== undefined)
            source += quantifier;
        else if (character !== undefined)
            source += RegExp.escape(character);
        else
            throw new Error(groups.unreadable === "[" ? "has a bracket that is not closed" : "ends with a backslash");
    }
    return new RegExp(`^${source}$`, "su");
}
/** GitHub knows only the ranges `a-z`, `A-Z` and `0-9`, and parts of them. */
function characterSet(characters) {
    const parts = characters.match(/[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_.-]/g) ?? [];
    if (parts.length === 0 || parts.join("") !== characters || !parts.every(isRange))
        throw new Error("has brackets with something other than letters, digits and ranges of them");
    return `[${parts.map((one) => (one.length === 3 ? one : RegExp.escape(one))).join("")}]`;
}
function isRange(text) {
    if (text.length === 1)
        return true;
    const [first = "", , last = ""] = text;
    return first <= last && [/[a-z]/, /[A-Z]/, /[0-9]/].some((kind) => kind.test(first) && kind.test(last));
}

;// CONCATENATED MODULE: ./build/service/src/options/commit-options.js
/** No line break, nothing invisible. */
const plain = String.raw `[^<>\p{C}\p{Zl}\p{Zp}]`;
const identity = new RegExp(String.raw `^(?!\s)(${plain}+?)\s*<([^\s<>@\p{C}]+@[^\s<>@\p{C}]+)>$`, "u");
/** Git's documentation, "git-interpret-trailers". */
const trailer = /^([A-Za-z0-9][A-Za-z0-9-]*): [^\s\p{C}][^\p{C}\p{Zl}\p{Zp}]*$/u;
/**
 * Reads what the operator wants of commits.
 *
 * @param hasToken - whether the repository is on GitHub, and its token is known
 * @throws with what is wrong as the message
 */
function readCommitOptions({ commitAs, signOff = false, trailers = [] }, hasToken) {
    if (signOff && commitAs === undefined && !hasToken)
        throw new Error("--sign-off requires --commit-as, or the token of a bot on GitHub.");
    for (const text of trailers) {
        const key = trailer.exec(text)?.[1];
        if (key === undefined)
            throw new Error(`--trailer must be "KEY: VALUE" in one line, not ${JSON.stringify(text)}.`);
        if (/^agent-/i.test(key))
            throw new Error(`--trailer ${key} is taken: trailers of the service begin with Agent-.`);
    }
    return { commitAs: commitAs === undefined ? undefined : readIdentity(commitAs), signsOff: signOff, trailers };
}
function readIdentity(text) {
    const [, name, email] = identity.exec(text) ?? [];
    if (name === undefined || email === undefined)
        throw new Error(`--commit-as must be "NAME <EMAIL>", not ${JSON.stringify(text)}.`);
    return { name, email };
}

;// CONCATENATED MODULE: ./build/service/src/options/project-settings.js










/**
 * Returns the settings of a project.
 *
 * @param environment - of the service, with the keys of agents and the token
 * @param tokenVariables - variables with the tokens of other projects. Default: none
 * @throws if the values do not go together, or something is missing in the environment. The message names options as on the
 *   command line, such as `--agent-network`
 */
function createProjectSettings(input, environment, tokenVariables = []) {
    const agent = createAgent(input, environment);
    const { repository, base } = input;
    const reads = readReads(input);
    const sandbox = input.sandbox ?? (agent.isTrusted ? undefined : "bwrap");
    // Files of a repository can name another host for the model, to which a named agent would send its key.
    const agentNetwork = input.agentNetwork ?? (agent.modelEndpoint && sandbox === "bwrap" ? "model" : "full");
    checkSharedToken(input, agent, { sandbox, agentNetwork }, environment);
    checkAgentEnv(input, agent, environment, tokenVariables);
    if (agentNetwork !== "full" && sandbox !== "bwrap")
        throw new Error(`--agent-network ${agentNetwork} requires --sandbox bwrap.`);
    const { memoryMb, diskMb, protect = [] } = input;
    const github = findGitHubRepository(input, environment);
    const exception = protect.find((pattern) => pattern.startsWith("!"));
    if (exception !== undefined)
        throw new Error(`--protect cannot except files, as ${exception} would.`);
    return {
        repository,
        targetBranch: base,
        github,
        agent: {
            ...agent,
            passes: [...agent.passes, ...namedVariables(input)],
            reads: [...agent.reads, ...reads],
        },
        sandbox,
        network: agentNetwork,
        modelHosts: input.modelHosts ?? [],
        allowsServerTools: input.agentModelTools ?? false,
        agentsPerProject: input.agents,
        timeLimitMs: (input.timeLimitMinutes ?? 30) * 60_000,
        // Without a limit of memory, nothing reads the processes, which takes time.
        limits: { memoryMb, diskMb, processes: memoryMb === undefined ? undefined : maxProcesses },
        largestChangeBytes: (input.largestChangeMb ?? 20) * 1_000_000,
        protectedFiles: input.protectedFiles ?? "flag",
        moreProtected: protect,
        only: readOnly(input.only),
        commands: readCommands(input, sandbox, reads),
        ...readCommitOptions(input, github !== undefined),
        ...findSecrets(input, agent, environment),
    };
}
/** @throws if an agent would hold a token with which the service writes to GitHub, because that is its model's key, too */
function checkSharedToken(input, { kind, modelEndpoint }, { sandbox, agentNetwork }, environment) {
    if (modelEndpoint === undefined || (sandbox === "bwrap" && agentNetwork !== "full"))
        return;
    const { keyVariable } = modelEndpoint;
    const key = (0,service_secrets/* findSecret */.mt)(keyVariable, environment)?.value;
    if (!ownTokenVariables(input).some((name) => key && (0,service_secrets/* findSecret */.mt)(name, environment)?.value === key))
        return;
    const setting = sandbox === "bwrap" ? "--agent-network full" : `--sandbox ${sandbox}`;
    throw new Error(`${setting} would give the agent a token that can write to the repository, because ${kind} uses the same one for its model. Remove that, or set ${keyVariable} to a token of its own, which can do nothing else.`);
}
/** What a runner has for its own use: its tokens, and the inputs of the step. */
const ofRunner = /^(?:ACTIONS|INPUT)_/i;
/** With shorter secrets, other values begin or end by accident. */
const minSecretLength = 8;
/** @throws if agents would get a secret of the service, by its name or in another variable */
function checkAgentEnv(input, { passes }, environment, tokenVariables) {
    const own = [...ownVariables(input), ...tokenVariables];
    const secrets = [
        ...[...own, "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"].flatMap((name) => (0,service_secrets/* findSecret */.mt)(name, environment)?.value ?? []),
        ...fixedSecrets(input, environment).map(({ value }) => value),
    ];
    const has = (value, secret) => secret.length < minSecretLength ? value === secret : value.includes(secret);
    // The key of its model may be the workflow's own token: the agent itself never gets that.
    for (const name of namedVariables(input).filter((one) => !passes.includes(one))) {
        if (own.includes(name) || name === databasePassword || ofRunner.test(name))
            throw new Error(`--agent-env must not name ${name}, which no agent may have.`);
        const value = (0,service_secrets/* isSecretName */.eh)(name) ? (0,service_secrets/* findSecret */.mt)(name, environment)?.value : environment[name];
        if (value !== undefined && secrets.some((secret) => has(value, secret)))
            throw new Error(`--agent-env must not name ${name}: it has a token, a key or a password of the service, which no agent may have.`);
    }
}
/** Variables that agents get besides those that they need. */
const namedVariables = ({ agentEnv = [], agentEnvPublic = [] }) => [
    ...agentEnv,
    ...agentEnvPublic,
];
/** Variables with the service's own secrets, which can also be in files. */
const ownVariables = (input) => [apiKeyVariable, ...ownTokenVariables(input)];
/** Variables with the service's own tokens of GitHub. */
const ownTokenVariables = ({ githubTokenEnv = defaultTokenVariable }) => [
    defaultTokenVariable,
    "GH_TOKEN",
    githubTokenEnv,
];
/**
 * Here the kernel shows the processes and devices of the machine, with their secrets, and its programs have their sockets. A sandbox has its
 * own. Files in /dev/shm are like others.
 */
const ofMachine = /^\/(?:(?:dev(?!\/shm\/)|proc|run|sys|var\/run)(?:\/|$)|(?:tmp|var)?$)/;
function readReads({ agentReads = [] }) {
    const paths = agentReads.map((path) => (0,external_node_path_.resolve)(path));
    const exposed = paths.find(isExposed);
    if (exposed !== undefined)
        throw new Error(`--agent-reads ${exposed} would let agents reach processes, devices or sockets of this machine.`);
    for (const path of paths) {
        const file = findGitToken(path);
        if (file !== undefined)
            throw new Error(`--agent-reads ${path} would let agents read the token of Git in ${file}. Name a folder without it, or set \`persist-credentials: false\` for actions/checkout.`);
    }
    return paths;
}
/** Such as what `actions/checkout` leaves in a clone, or in a file of its own that the clone includes, and what `store` helpers keep. */
const gitSettings = /^(?:config(?:\.worktree)?|git-credentials-.*\.config|\.gitconfig|\.git-credentials)$/;
const gitToken = /\bextraheader\s*=\s*"?authorization\s*:|:\/\/[^\s"/@]*:[^\s"/@]+@/i;
/** Folders with many others in them, none of which a clone is in. */
const withoutClones = ["node_modules", "objects"];
/** From the home directory of a runner, clones are at most at a depth of six. */
const maxDepth = 8;
/** Returns a file at or below a path that has a token for Git; `undefined` if none is found. */
function findGitToken(path, depth = 0) {
    try {
        if ((0,external_node_fs_.statSync)(path).isFile())
            return gitSettings.test((0,external_node_path_.basename)(path)) && gitToken.test((0,external_node_fs_.readFileSync)(path, "utf8")) ? path : undefined;
        for (const entry of depth < maxDepth ? (0,external_node_fs_.readdirSync)(path, { withFileTypes: true }) : []) {
            const isSearched = entry.isDirectory() ? !withoutClones.includes(entry.name) : gitSettings.test(entry.name);
            const found = isSearched ? findGitToken((0,external_node_path_.join)(path, entry.name), depth + 1) : undefined;
            if (found !== undefined)
                return found;
        }
    }
    catch {
        // What the service cannot read, its agents cannot read either.
    }
    return undefined;
}
/** Whoever can see a socket can connect to it, also where nothing can be written: to Docker's, it would have the machine. */
function isExposed(path) {
    if (ofMachine.test(path))
        return true;
    // One that does not exist has no other path.
    if (!(0,external_node_fs_.existsSync)(path))
        return false;
    const found = (0,external_node_fs_.realpathSync)(path);
    return (0,external_node_fs_.statSync)(found).isSocket() || hasSocket(found) || ofMachine.test(found);
}
function hasSocket(folder) {
    try {
        return (0,external_node_fs_.readdirSync)(folder, { withFileTypes: true }).some((one) => one.isSocket());
    }
    catch {
        // A file, or a folder of which only known names can be opened.
        return false;
    }
}
function readCommands({ setup, setupHosts, check }, sandbox, reads) {
    for (const [name, command] of Object.entries({ setup, check })) {
        if (command?.trim() === "")
            throw new Error(`--${name} is empty.`);
        if (command?.split("\n").every((line) => /^\s*(?:#|$)/.test(line)))
            throw new Error(`--${name} has only comments: it would pass without doing anything.`);
        if (command !== undefined && sandbox !== "bwrap")
            throw new Error(`--${name} requires --sandbox bwrap.`);
    }
    if (setupHosts !== undefined && setup === undefined)
        throw new Error("--setup-host requires --setup.");
    const invalid = setupHosts?.find((host) => !/^[\w.-]+(?::\d{1,5})?$/.test(host) || !(0,public_address/* mayBePublic */.m5)(host.replace(/:\d+$/, "")));
    if (invalid !== undefined)
        throw new Error(`--setup-host ${invalid} is not a HOST or HOST:PORT of the public network.`);
    if (setup === undefined && check === undefined)
        return undefined;
    return { setup, check, setupHosts: setupHosts ?? [], reads };
}
function readOnly(patterns = []) {
    try {
        return patterns.length === 0 ? undefined : readPathPatterns(patterns);
    }
    catch (error) {
        throw new Error(`--only: ${(0,error_message/* errorMessage */.g)(error)}.`);
    }
}
/** Enough for a build with a process for each core. It keeps the others going when an agent starts processes without end. */
const maxProcesses = 2000;
const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
/** Returns the secrets in the service's environment, in its files, and in the URLs of the repository and of proxies, which no change may have. */
function findSecrets(input, agent, environment) {
    const { agentEnv = [], agentEnvPublic = [] } = input;
    const named = [...agent.passes, ...agentEnv].filter((name) => !agentEnvPublic.includes(name));
    const sources = new Set([...ownVariables(input), ...named.filter(service_secrets/* isSecretName */.eh)]);
    const secretSources = [...sources].flatMap((name) => (0,service_secrets/* findSecret */.mt)(name, environment) ?? []);
    const others = named.map((name) => ({ name, value: environment[name]?.trim() ?? "" }));
    const proxies = proxyVariables.map((variable) => {
        const name = `the password of ${variable}`;
        return { name, value: (0,service_secrets/* passwordOf */.No)(environment[variable] ?? "") };
    });
    const fixed = [
        ...fixedSecrets(input, environment),
        ...others.filter(({ name, value }) => !sources.has(name) && !(0,service_secrets/* isPublicValue */.bJ)(name, value)),
        ...proxies,
    ].filter(({ value }) => value !== "");
    const secrets = {
        *[Symbol.iterator]() {
            for (const { name, values } of secretSources)
                for (const value of values())
                    yield { name, value };
            yield* fixed;
        },
    };
    return { secrets, secretSources };
}
const databasePassword = "PGPASSWORD";
/** Returns the secrets of the service that are in no file. */
function fixedSecrets({ repository }, environment) {
    const password = URL.canParse(repository) ? decodeURIComponent(new URL(repository).password) : "";
    return [
        { name: databasePassword, value: environment[databasePassword] ?? "" },
        { name: "the password of the repository", value: password },
    ].filter(({ value }) => value !== "");
}
function createAgent({ agent: given, model }, environment) {
    const command = given?.trim();
    if (command === "")
        throw new Error("--agent is empty.");
    const preset = command === undefined ? undefined : (0,presets/* presetAgent */.DM)(command, environment, model);
    if (preset !== undefined)
        return preset;
    const agent = command === undefined ? agents_agent/* builtInEditor */.rh : (0,agents_agent/* shellAgent */.sc)(command);
    const [named = ""] = agent.programs[0]?.split("@") ?? [];
    if (presets/* presetNames */.gC.includes(named))
        throw new Error(`--agent must be ${named} alone, with --model NAME as an option of its own. A command line of your own has to be in a script.`);
    return model === undefined ? agent : { ...agent, model };
}
const defaultTokenVariable = "GITHUB_TOKEN";
/** The API key for all projects. */
const apiKeyVariable = "AGENT_SERVICE_KEY";
function findGitHubRepository(input, environment) {
    const { github, githubTokenEnv } = input;
    const variable = githubTokenEnv ?? defaultTokenVariable;
    const token = (0,service_secrets/* findKey */.Tj)(variable, environment);
    const found = (0,github_repository/* findOnGitHub */.k9)(input.repository, environment);
    const [owner = "", name = "", ...more] = (github ?? found?.name ?? "").split("/");
    if (github !== undefined && (owner === "" || name === "" || more.length > 0))
        throw new Error("github must be OWNER/NAME.");
    if (github !== undefined && !token)
        throw new Error(`github requires ${variable} in the environment.`);
    if (githubTokenEnv !== undefined && !token)
        throw new Error(`${variable} is not set in the environment.`);
    if (name === "" || !token)
        return undefined;
    const apiUrl = (input.githubApi ?? found?.apiUrl ?? (0,github_repository/* gitHubOf */.Tc)(environment).apiUrl).replace(/\/+$/, "");
    if (!URL.canParse(apiUrl))
        throw new Error(`${input.githubApi === undefined ? "GITHUB_API_URL" : "githubApi"} must be a URL.`);
    return {
        apiUrl,
        owner,
        name,
        get token() {
            return token.value;
        },
        ...(githubTokenEnv && { tokenVariable: githubTokenEnv }),
    };
}

;// CONCATENATED MODULE: ./build/service/src/options/config-file.js







/** In URLs of the API, and in the keys of JSON. */
const projectId = /^[A-Za-z0-9][\w.-]{0,99}$/;
/** The keys of a project, with the meaning of their options on the command line. */
const projectKeys = {
    // The cast is from a type to the same one, which TypeScript cannot see in a mapped type.
    ...(0,table/* byKey */.dX)((name) => schemas/* optional */.lqM((0,table/* kindOf */.I)(name).json)),
    repository: (0,table/* kindOf */.I)("repository").json,
    github: schemas/* optional */.lqM((0,kinds/* text */.Qq)("OWNER/NAME").json),
    githubApi: schemas/* optional */.lqM((0,kinds/* text */.Qq)("a URL").json),
    githubTokenEnv: schemas/* optional */.lqM((0,kinds/* variableName */.cG)()),
};
const schema = schemas/* strictObject */.rej({
    projects: schemas/* record */.g1P(schemas/* string */.YjP().check(api/* _regex */.Fk(projectId, "a project is named by letters, digits, and . _ - after the first one")), schemas/* strictObject */.rej(projectKeys, withKnownKeys(Object.keys(projectKeys))), "an object with a key for each project")
        .check(schemas/* refine */.YPB((projects) => Object.keys(projects).length > 0, "at least one project")),
}, withKnownKeys(["projects"]));
/** Names the unknown keys of an object, or says that an object was expected. */
function withKnownKeys(keys) {
    const error = (issue) => {
        if (issue.code !== "unrecognized_keys")
            return "an object";
        return `only the keys ${keys.join(", ")}, not ${issue.keys.join(", ")}`;
    };
    return { error };
}
/**
 * Reads a configuration from a JSON file: several projects, each with its own repository and agents.
 *
 * @throws if the file cannot be read or is not valid; the message names each path in the file and what is expected there
 */
function readConfiguration(file, environment) {
    let data;
    let text;
    try {
        text = (0,external_node_fs_.readFileSync)(file, "utf8");
        data = JSON.parse(text);
    }
    catch (error) {
        const problem = error instanceof SyntaxError ? `${file} is not JSON` : "The --config file cannot be read";
        throw new Error(`${problem}: ${(0,error_message/* errorMessage */.g)(error)}`);
    }
    const twice = duplicateKey(text);
    if (twice !== undefined)
        throw invalid(file, [`${twice}: duplicate key`]);
    return parseConfiguration(file, data, environment);
}
function parseConfiguration(file, data, environment) {
    const parsed = parse/* safeParse */.xL(schema, data);
    if (!parsed.success)
        throw invalid(file, parsed.error.issues.map(describe));
    const projects = Object.entries(parsed.data.projects);
    const secretVariables = [...new Set(projects.flatMap(([, { githubTokenEnv }]) => githubTokenEnv ?? []))];
    const problems = [];
    const settings = projects.flatMap(([project, input]) => {
        try {
            checkProject(input);
            return [[project, createProjectSettings(input, environment, secretVariables)]];
        }
        catch (error) {
            problems.push(`projects.${project}: ${(0,table/* withKeys */.jR)((0,error_message/* errorMessage */.g)(error))}`);
            return [];
        }
    });
    if (problems.length > 0)
        throw invalid(file, problems);
    return {
        projects: settings.map(([project]) => project),
        settings: per_project/* PerProject */.X.of(new Map(settings)),
        secretVariables,
    };
}
/** Checks what a schema cannot. */
function checkProject({ memoryMb, diskMb }) {
    if (process.platform !== "linux" && [memoryMb, diskMb].some((one) => one !== undefined))
        throw new Error("--memory-mb and --disk-mb require Linux.");
}
function describe({ path, message, ...issue }) {
    const at = path.map(String).join(".") || "the file";
    // What is wrong with a key is reported within.
    const [inner] = issue.code === "invalid_key" ? issue.issues : [];
    return inner === undefined ? `${at}: expected ${message}` : `${at}: ${inner.message}`;
}
function invalid(file, problems) {
    return new Error(`${file} is not valid.\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
}
/**
 * Returns the path of the first duplicate key in valid JSON, such as `projects.docs`; `undefined` if there is none. `JSON.parse` would
 * silently take the last one.
 */
function duplicateKey(json) {
    /** The objects and lists around the current position. A list has no keys. */
    const around = [];
    for (const [token, text] of json.matchAll(/("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
        const inner = around.at(-1);
        if (token === "{" || token === "[") {
            const path = [inner?.path, inner?.key].filter(Boolean).join(".");
            around.push({ keys: token === "{" ? new Set() : undefined, path, key: "" });
        }
        else if (token === "}" || token === "]")
            around.pop();
        else if (text !== undefined && inner?.keys !== undefined) {
            inner.key = JSON.parse(text);
            if (inner.keys.has(inner.key))
                return [inner.path, inner.key].filter(Boolean).join(".");
            inner.keys.add(inner.key);
        }
    }
    return undefined;
}

;// CONCATENATED MODULE: ./build/service/src/options/store-place.js
/**
 * Returns where the store is that `--store` and `--schema` name; `undefined` if they name none.
 *
 * @throws if they do not go together, or are not valid
 */
function parseStore({ value }) {
    const [store, directUrl, ...more] = value("store") ?? [];
    const schema = value("schema");
    if (store === "")
        throw new Error("--store is empty.");
    if (store === undefined || !isPostgres(store)) {
        if (directUrl !== undefined)
            throw new Error("--store can be given twice only for Postgres.");
        if (schema !== undefined)
            throw new Error("--schema requires a --store in Postgres.");
        return store === undefined ? undefined : { file: store };
    }
    if (more.length > 0)
        throw new Error("--store can be given at most twice.");
    if (directUrl !== undefined && !isPostgres(directUrl))
        throw new Error("The second --store must be a postgres:// URL.");
    return { url: store, directUrl, schema: parseSchema(schema) };
}
/**
 * Checks the name of a schema. It is written in SQL without quotes, and the queue has a schema of its own beside it.
 *
 * @throws if the name is not valid
 */
function parseSchema(schema) {
    if (schema === undefined)
        return undefined;
    if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith("pg_"))
        throw new Error("--schema must have at most 40 of a-z, 0-9 and _, begin with a letter or _, and not with pg_.");
    if (["public", "information_schema"].includes(schema) || schema.endsWith("_queue"))
        throw new Error("--schema must not be public or information_schema, and not end with _queue.");
    return schema;
}
/** Whether a store is the URL of a Postgres database, and not a file. */
function isPostgres(store) {
    return /^postgres(ql)?:/.test(store);
}

;// CONCATENATED MODULE: ./build/service/src/options/options.js











/**
 * Parses the command line of a service that has both roles.
 *
 * @throws with what is wrong with it as the message
 */
function parseOptions(args, environment) {
    return readOptions(parseArguments(args, table/* serviceOptions */.eh), environment, undefined);
}
/**
 * Returns what the options of the service mean.
 *
 * @throws with what is wrong with them as the message
 */
function readOptions(given, environment, role) {
    const { value } = given;
    const configuration = findConfiguration(given, environment);
    const apiKey = (0,service_secrets/* findKey */.Tj)(apiKeyVariable, environment)?.value;
    const place = parseStore(given);
    const postgres = place !== undefined && "url" in place ? place : undefined;
    const settings = configuration.settings.values;
    if (postgres !== undefined && settings.some(({ timeLimitMs }) => timeLimitMs > longestPostgresTurnMs))
        throw new Error("--time-limit-minutes must be at most 1380 with a Postgres store.");
    const publicUrl = given.has("public-url") ? (0,public_url/* parsePublicUrl */.IG)(value("public-url") ?? "") : undefined;
    const access = parseAccess(given, configuration.projects);
    const logFormat = value("log-format") ?? "text";
    // Logs are shipped to where a key must not be.
    if (logFormat === "json" && role === undefined && apiKey === undefined && access.keys === undefined)
        throw new Error("--log-format json requires AGENT_SERVICE_KEY or --keys, because a generated key is printed.");
    if (role !== undefined) {
        if (postgres === undefined)
            throw new Error(`${role} requires --store postgres://..., the store that all processes share.`);
        if (publicUrl === undefined && settings.some(({ github }) => github === undefined))
            throw new Error(`${role} requires --public-url, because pull requests are pages of the service.`);
        if (role === "api" && apiKey === undefined && access.keys === undefined && access.trust.length === 0)
            throw new Error("api requires AGENT_SERVICE_KEY, --keys or --trust, the same for all API processes.");
    }
    return {
        role,
        ...configuration,
        apiKey,
        ...access,
        port: value("port") ?? 0,
        metricsListen: parseMetricsListen(value("metrics-listen")),
        logFormat,
        listen: parseAddress(value("listen"), publicUrl),
        publicUrl,
        store: place !== undefined && "file" in place ? place.file : undefined,
        postgres,
        folder: postgres && stateDirectory(environment),
        drainMs: (value("drain-minutes") ?? 0) * 60_000,
        agents: value("agents") ?? (0,external_node_os_.availableParallelism)(),
        deleteAfterDays: retentionDays(value("delete-after-days")),
        isRepositoryMoved: value("repository-moved") ?? false,
    };
}
/** Returns the first folder: systemd separates several with colons (its documentation, "StateDirectory="). */
function stateDirectory({ STATE_DIRECTORY = "" }) {
    return STATE_DIRECTORY.split(":")[0] || undefined;
}
/** Longer than a year, so that last year's jobs can be looked up. */
const defaultRetentionDays = 400;
function retentionDays(given = defaultRetentionDays) {
    return given === Number.POSITIVE_INFINITY ? undefined : given;
}
function findConfiguration(given, environment) {
    const [file, repository] = [given.value("config"), given.value("repository")];
    if (file !== undefined) {
        const other = table/* serviceOptions */.eh.find((name) => table/* options */.fF[name].of === "project" && given.has(name));
        if (other !== undefined)
            throw new Error(`--${other} cannot be used with --config, because the file has the options of each project.`);
        return readConfiguration(file, environment);
    }
    if (!repository)
        throw new Error("--repository is required, or --config.");
    const input = { ...(0,table/* byKey */.dX)(given.value), repository };
    const settings = createProjectSettings(input, environment);
    const names = given.value("project") ?? [];
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined)
        throw new Error(`--project ${twice} is given twice.`);
    return { projects: names.length > 0 ? names : ["demo"], settings: per_project/* PerProject */.X.same(settings), secretVariables: [] };
}
/** The queue of a Postgres store ends a turn after a day. */
const longestPostgresTurnMs = 1380 * 60_000;
function parseAccess({ value }, projects) {
    const [keys, rules = [], issuer] = [value("keys"), value("trust"), value("trust-issuer")];
    if (keys === "")
        throw new Error("--keys is empty.");
    if (issuer !== undefined && rules.length === 0)
        throw new Error("--trust-issuer requires --trust.");
    const trust = rules.map(trust_rule/* parseTrustRule */.Mp);
    const unknown = trust.find(({ project }) => project !== undefined && !projects.includes(project));
    if (unknown !== undefined)
        throw new Error(`--trust ${unknown.text}: there is no --project ${unknown.project}.`);
    return { keys, trust, trustIssuer: (0,trust_rule/* parseIssuer */.zI)(issuer ?? trust_rule/* defaultIssuer */.LV) };
}
function parseMetricsListen(text) {
    if (text === undefined)
        return undefined;
    const [, address = "127.0.0.1", port] = /^(?:\[?([\da-fA-F.:]+?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
    if (port === undefined || Number(port) > 65_535 || (0,external_node_net_.isIP)(address) === 0)
        throw new Error("--metrics-listen must be PORT or ADDRESS:PORT, such as 127.0.0.1:9100 or [::1]:9100.");
    return { address, port: Number(port) };
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


/***/ }),

/***/ 1287:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  dX: () => (/* binding */ byKey),
  I: () => (/* binding */ kindOf),
  fF: () => (/* binding */ options),
  eh: () => (/* binding */ serviceOptions),
  jR: () => (/* binding */ withKeys)
});

// UNUSED EXPORTS: optionNames

// EXTERNAL MODULE: ./build/service/src/access/trust-rule.js
var trust_rule = __webpack_require__(9355);
;// CONCATENATED MODULE: ./build/service/src/agents/network/network-kind.js
/** What the operator can let agents reach. */
const networkKinds = ["full", "model", "none"];

// EXTERNAL MODULE: ./build/service/src/agents/presets.js + 11 modules
var presets = __webpack_require__(1321);
// EXTERNAL MODULE: ./build/service/src/agents/sandbox/create-sandbox.js + 1 modules
var create_sandbox = __webpack_require__(3198);
// EXTERNAL MODULE: ./build/service/src/pulls/protected-files.js
var protected_files = __webpack_require__(7808);
// EXTERNAL MODULE: ./build/service/src/options/kinds.js
var kinds = __webpack_require__(8361);
;// CONCATENATED MODULE: ./build/service/src/options/table.js






const ofProject = (key, kind, help) => ({ of: "project", key, kind, help });
const ofService = (kind, help) => ({ of: "service", kind, help });
const ofCommand = (kind, help) => ({ of: "command", kind, help });
const table_presets = `${presets/* presetNames */.gC.slice(0, -1).join(", ")} and ${presets/* presetNames */.gC.at(-1)}`;
/** All options, in the order of the help. */
const options = {
    repository: ofProject("repository", (0,kinds/* text */.Qq)("a URL or path, as git clone accepts it"), {
        "PATH-OR-URL": "the repository, as git clone accepts it; the service must be able to push to it. If it is on github.com, or on the server that GITHUB_SERVER_URL names, and GITHUB_TOKEN is set, pull requests are opened on GitHub; otherwise they are pages of the service",
    }),
    config: ofService((0,kinds/* text */.Qq)("a file"), {
        FILE: 'several projects, each with its own repository and agents, in a JSON file; see "Several repositories" in service/docs/operating.md. It replaces the options of a repository, of its agents and --project',
    }),
    base: ofProject("base", (0,kinds/* text */.Qq)("the name of a branch"), {
        BRANCH: "branch that jobs start from and pull requests are opened against (default: the repository's default branch)",
    }),
    agent: ofProject("agent", (0,kinds/* text */.Qq)("the name of an agent, or a shell command"), {
        NAME: `one of ${table_presets}: a coding agent that is installed, with its key in the environment; see service/docs/agents.md`,
        COMMAND: "any shell command, such as /path/to/agent.sh. It gets the prompt on stdin and in the file named by AGENT_PROMPT_FILE, and runs in a clone of the repository. Exit code 0 means that the agent completed its work. For a follow-up message, the file named by AGENT_HISTORY_FILE has the earlier turns; for the first turn, it is empty (default: the built-in editor, which adds pages and sections, replaces phrases and fixes links)",
    }),
    "agent-env": ofProject("agentEnv", kinds/* variableNames */.zo, {
        NAME: "also give agents this environment variable; may be repeated",
    }),
    "agent-env-public": ofProject("agentEnvPublic", kinds/* variableNames */.zo, {
        NAME: "the same for a variable whose value is no secret, so that a change may have it; may be repeated",
    }),
    "agent-reads": ofProject("agentReads", (0,kinds/* texts */.Te)("a path"), {
        PATH: "also let agents read this file or folder in their sandbox; may be repeated",
    }),
    sandbox: ofProject("sandbox", (0,kinds/* choice */.Yq)(create_sandbox/* sandboxKinds */.X), {
        "bwrap|none": "run agents with bubblewrap, so that they reach only their job's files, or with all rights of the service (default: bwrap, except for the built-in editor)",
    }),
    "agent-network": ofProject("agentNetwork", (0,kinds/* choice */.Yq)(networkKinds), {
        "full|model|none": "what sandboxed agents can reach: everything, only their model, or nothing (default: model for a named agent, otherwise full)",
    }),
    "model-host": ofProject("modelHosts", (0,kinds/* texts */.Te)("HOST or HOST:PORT"), {
        "HOST[:PORT]": "with --agent-network model, also let agents reach this host; may be repeated",
    }),
    "agent-model-tools": ofProject("agentModelTools", kinds/* flag */.Jt, {
        "": "with --agent-network model, let agents use tools of the model's provider, such as web search, which lead out of the sandbox",
    }),
    model: ofProject("model", (0,kinds/* text */.Qq)("the name of a model"), {
        NAME: "the model that a named agent uses (default: the agent's own default); shown as the model of jobs (default: the name, or the first word of the command)",
    }),
    agents: ofService((0,kinds/* integer */.nd)(1, 1000), {
        N: "how many agents this service or worker runs at a time (default: number of CPU cores)",
    }),
    "agents-per-project": ofProject("agents", (0,kinds/* integer */.nd)(1, 1000), {
        N: "how many agents run for one project at a time, over all workers (default: any number)",
    }),
    "memory-mb": ofProject("memoryMb", kinds/* linuxLimit */.K, {
        N: "kill an agent if its processes together use more memory (default: unlimited). With this limit, it can have at most 2000 processes",
    }),
    "disk-mb": ofProject("diskMb", kinds/* linuxLimit */.K, {
        N: "kill an agent if the files of its job are larger (default: unlimited)",
    }),
    "time-limit-minutes": ofProject("timeLimitMinutes", kinds/* amount */.vj, {
        N: "stop an agent after this time (default: 30)",
    }),
    "largest-change-mb": ofProject("largestChangeMb", kinds/* amount */.vj, {
        N: "fail a turn whose changed files are together larger than this (default: 20). A turn may also change at most 50 files per MB, and always 1000",
    }),
    "protected-files": ofProject("protectedFiles", (0,kinds/* choice */.Yq)(protected_files/* protectedFilesKinds */.$Q), {
        "flag|refuse|allow": "name changed files that run code or instruct agents, such as workflows and AGENTS.md, first in the pull request and in the log, or fail the turn, or do neither (default: flag)",
    }),
    protect: ofProject("protect", (0,kinds/* texts */.Te)("a path or a name, with * for any part of a name"), {
        PATTERN: "also protect these files, such as deploy/ or *.sh; may be repeated",
    }),
    only: ofProject("only", (0,kinds/* texts */.Te)("a pattern for paths"), {
        PATTERN: "let agents change only these files, such as docs/**, and take back what else they change; may be repeated. A later !PATTERN excludes files again, as in a workflow's paths",
    }),
    setup: ofProject("setup", (0,kinds/* text */.Qq)("a shell command"), {
        COMMAND: "run this before each agent, such as npm ci, on the files of the project's own branch, in the sandbox; what it leaves in ignored files is there for the agent and for --check",
    }),
    "setup-host": ofProject("setupHosts", (0,kinds/* texts */.Te)("HOST or HOST:PORT"), {
        "HOST[:PORT]": "let --setup also reach this host, besides the registries of npm, PyPI and RubyGems; none of a private network; may be repeated",
    }),
    check: ofProject("check", (0,kinds/* text */.Qq)("a shell command"), {
        COMMAND: "run this on the commit of each turn, such as npm run build, in the sandbox, without a network, before it is pushed; if the commit breaks it, the agent gets one more go",
    }),
    "commit-as": ofProject("commitAs", (0,kinds/* text */.Qq)("NAME <EMAIL>"), {
        IDENTITY: "author and committer of commits, as NAME <EMAIL> (default: the bot of GITHUB_TOKEN; with a person's token or without one, Agent)",
    }),
    "sign-off": ofProject("signOff", kinds/* flag */.Jt, {
        "": "sign commits off, in the name of who commits; requires --commit-as or the token of a bot",
    }),
    trailer: ofProject("trailers", (0,kinds/* texts */.Te)("KEY: VALUE"), {
        LINE: "add this trailer to commits, such as Assisted-by: NAME; may be repeated",
    }),
    project: {
        of: "project",
        kind: (0,kinds/* texts */.Te)("the id of a project"),
        help: { ID: "project of the service; may be repeated (default: demo)" },
    },
    keys: ofService((0,kinds/* text */.Qq)("a file"), {
        FILE: "accept the API keys of this file, which key add creates; it is read again when it changes",
    }),
    trust: ofService((0,kinds/* texts */.Te)("a repository"), {
        "[PROJECT=]OWNER[@ID]/NAME[@ID][:REF|:environment:NAME]": "accept the OpenID Connect tokens of this GitHub repository's workflows in place of a key: for all projects or one; on all branches and tags, one ref (a * at its end stands for anything), or in an environment; with the ids of owner and repository, which nobody can take over; may be repeated",
    }),
    "trust-issuer": ofService((0,kinds/* text */.Qq)("a URL"), {
        URL: `who issues these tokens (default: ${trust_rule/* defaultIssuer */.LV}); with GitHub Enterprise Server https://HOST/_services/token`,
    }),
    port: ofService((0,kinds/* integer */.nd)(0, 65_535), { N: "port to listen on (default: any free port)" }),
    listen: ofService((0,kinds/* text */.Qq)("an IP address"), {
        ADDRESS: "address to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1); requires --public-url, because others must use TLS",
    }),
    "public-url": ofService((0,kinds/* text */.Qq)("a URL"), {
        URL: "https URL at which a reverse proxy serves the service, such as https://agents.example.com or https://example.com/agents; used in links to pages (default: it can be reached only on this machine); also http for a proxy on this machine",
    }),
    store: ofService((0,kinds/* texts */.Te)("a file or a URL"), {
        FILE: "keep jobs, messages and rate limits in this SQLite file, and the clone, the homes of agents and the logs next to it (default: nothing is kept when the service stops)",
        "postgres://...": "keep them in this Postgres database, for services on several machines. PGHOST, PGUSER, PGPASSWORD and the like complete the URL. If it names a pooler in transaction mode, give a second --store with the URL of the database itself, for notifications and migrations. Each process keeps its clone, homes and logs in the folder that STATE_DIRECTORY names (default: a new one, which is removed when the service stops)",
    }),
    schema: ofService((0,kinds/* text */.Qq)("the name of a schema"), {
        NAME: "with Postgres: the schema of the tables, beside which the queue has NAME_queue; several deployments can have the same database (default: agent_jobs, and agent_jobs_queue)",
    }),
    "drain-minutes": ofService(kinds/* amount */.vj, {
        N: "when the service is told to stop (SIGTERM), start no more agents, and let the running ones finish for this long; a second signal stops them (default: stop them at once)",
    }),
    "delete-after-days": ofService(kinds/* amountOrNever */.qD, {
        N: "delete jobs that have been idle for this long, with their homes, logs and pages, and archive them after half this time; never, if N is the word never (default: 400)",
    }),
    "repository-moved": ofService(kinds/* flag */.Jt, {
        "": "the repository of the store has moved to --repository, or those of its projects to the ones in --config; jobs continue there",
    }),
    "log-format": ofService((0,kinds/* choice */.Yq)(["text", "json"]), {
        "text|json": "print the log for people, or as JSON, one object per line, which requires AGENT_SERVICE_KEY or --keys (default: text)",
    }),
    "metrics-listen": ofService((0,kinds/* text */.Qq)("PORT or ADDRESS:PORT"), {
        "PORT|ADDRESS:PORT": "answer /metrics and /healthz here too, without a key, for a network that no reverse proxy publishes; a worker answers them nowhere else (default address: 127.0.0.1)",
    }),
    help: ofService(kinds/* flag */.Jt, { "": "show this help" }),
    format: ofCommand((0,kinds/* choice */.Yq)(["text", "json"]), {
        "text|json": "print lines for people, or one line of JSON for programs (default: text)",
    }),
    scope: ofCommand((0,kinds/* choice */.Yq)(["read"]), { read: "let the key only read (default: it may do everything)" }),
    "expires-days": ofCommand((0,kinds/* integer */.nd)(1, 3650), { N: "let the key expire after this time (default: never)" }),
};
const typed = options;
function kindOf(name) {
    return typed[name].kind;
}
const optionNames = Object.keys(options);
/** The options of the service itself. */
const serviceOptions = optionNames.filter((name) => options[name].of !== "command");
const isKeyed = (name) => "key" in options[name];
/** Returns an object with the keys of a project in a configuration. */
function byKey(make) {
    const entries = optionNames.filter(isKeyed).map((name) => [options[name].key, make(name)]);
    // `Object.fromEntries` does not know which key has which type.
    return Object.fromEntries(entries);
}
/** Returns a message with the keys of a configuration in place of options: `agentNetwork` for `--agent-network`. */
function withKeys(message) {
    return optionNames
        .filter(isKeyed)
        .reduce((text, name) => text.replaceAll(new RegExp(`--${name}(?![\\w-])`, "g"), options[name].key), message);
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

/***/ 2748:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   X: () => (/* binding */ PerProject)
/* harmony export */ });
/* harmony import */ var _error_message_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5719);

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
    /** Maps each value. */
    map(change) {
        return new PerProject(new Map([...this.#values].map(([project, value]) => [project, change(value)])));
    }
    /** Maps the values one after another. An error names its project, unless all projects share the value. */
    async mapInOrder(change) {
        const changed = new Map();
        for (const [project, value] of this.#values)
            try {
                changed.set(project, await change(value));
            }
            catch (error) {
                if (project === anyProject)
                    throw error;
                throw new Error(`project ${project}: ${(0,_error_message_js__WEBPACK_IMPORTED_MODULE_0__/* .errorMessage */ .g)(error)}`, { cause: error });
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


/***/ }),

/***/ 6832:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Tc: () => (/* binding */ gitHubOf),
/* harmony export */   k9: () => (/* binding */ findOnGitHub),
/* harmony export */   w4: () => (/* binding */ hostOf)
/* harmony export */ });
/** Returns the GitHub that the environment names as a workflow's does, by default github.com, and the base URL of its REST API. */
function gitHubOf({ GITHUB_SERVER_URL, GITHUB_API_URL }) {
    const server = (GITHUB_SERVER_URL || "https://github.com").replace(/\/+$/, "");
    const { protocol = "", host = "" } = URL.parse(server) ?? {};
    // GitHub's documentation: "Getting started with the REST API", of github.com, of GHE.com and of Enterprise Server.
    const isHosted = host === "github.com" || host.endsWith(".ghe.com");
    return { server, apiUrl: GITHUB_API_URL || (isHosted ? `${protocol}//api.${host}` : `${server}/api/v3`) };
}
/** Returns the host of the GitHub with a REST API: of its pages, and of its addresses for mail. */
function hostOf(apiUrl) {
    const { hostname, pathname } = new URL(apiUrl);
    // An Enterprise Server has the API below its pages.
    return pathname.startsWith("/api/") ? hostname : hostname.replace(/^api\./, "");
}
/**
 * Returns the name, as `OWNER/NAME`, of the repository that a URL for Git names, and the base URL of its REST API; `undefined` if it
 * is not on github.com nor on the GitHub that the environment names.
 */
function findOnGitHub(url, environment) {
    for (const { server, apiUrl } of [gitHubOf(environment), gitHubOf({})]) {
        const { protocol = "", host = "", hostname = "" } = URL.parse(server) ?? {};
        const start = [`${protocol}//(?:[^@/]*@)?${RegExp.escape(host)}/`, `(?:ssh://)?git@${RegExp.escape(hostname)}[/:]`];
        const [, name] = new RegExp(`^(?:${start.join("|")})([^/]+/[^/]+?)(?:\\.git)?/?$`, "i").exec(url) ?? [];
        if (host !== "" && name !== undefined)
            return { name, apiUrl };
    }
    return undefined;
}


/***/ }),

/***/ 7808:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $Q: () => (/* binding */ protectedFilesKinds),
/* harmony export */   KM: () => (/* binding */ mayNamePrograms),
/* harmony export */   Qm: () => (/* binding */ protectedPatterns),
/* harmony export */   T_: () => (/* binding */ changesPrograms),
/* harmony export */   pT: () => (/* binding */ findInstructions),
/* harmony export */   us: () => (/* binding */ findProtected)
/* harmony export */ });
/** What happens with a change of protected files. */
const protectedFilesKinds = ["flag", "refuse", "allow"];
/** Files that instruct agents. */
const instructionPatterns = [
    ...["AGENTS.md", "AGENTS.override.md", ".agents/", ".mcp.json"],
    ...["CLAUDE.md", "CLAUDE.local.md", ".claude/", ".codex/"],
    ...["GEMINI.md", ".gemini/", ".opencode/", "opencode.json", "opencode.jsonc", ".aider*"],
    ...[".cursor/", ".cursorrules", ".github/copilot-instructions.md", ".github/instructions/"],
    ...[".github/hooks/", ".github/copilot/", ".github/skills/", ".github/agents/", ".github/prompts/"],
    ...[".github/mcp.json", ".github/lsp.json"],
    // Some agents read variables from them, such as the address of their model.
    ...[".env", ".env.*"],
];
/** Returns those of some paths whose files instruct agents. */
const findInstructions = (paths) => findProtected(paths, instructionPatterns);
/** Files that run code without anybody starting it, or that instruct the agents of people, unless somebody reviews them. */
const protectedPatterns = [
    // CI, and who has to review.
    ...[".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".circleci/", "Jenkinsfile", "azure-pipelines.yml"],
    "CODEOWNERS",
    ...instructionPatterns,
    // Git, editors and package managers.
    ...[".gitmodules", ".husky/", ".pre-commit-config.yaml", "lefthook.yml", ".vscode/", ".devcontainer/", ".envrc"],
    ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnp.cjs", ".githooks/"],
    // What builds the docs: a preview runs it before any review.
    ...["docusaurus.config.*", "astro.config.*", "mkdocs.yml", "mkdocs.yaml", "conf.py", "Makefile"],
];
/**
 * Returns the paths that match a pattern. A pattern with a `/` before its end is about a path from the top, others are about a
 * name in any folder. `*` stands for any part of a name. All that is in a folder that matches does, too, and so does what takes
 * the place of a folder on the way. Case does not matter, because it does not on many machines that the files get to.
 */
function findProtected(paths, patterns) {
    const parsed = patterns.map((pattern) => ({
        isAnchored: /\/./.test(pattern),
        names: pattern.toLowerCase().split("/").filter(Boolean),
    }));
    return paths.filter((path) => {
        const names = path.toLowerCase().split("/");
        return parsed.some((pattern) => pattern.isAnchored
            ? // A shorter path is a file or a link in place of a folder.
                pattern.names.every((name, index) => index >= names.length || isMatch(names[index] ?? "", name))
            : names.some((name) => isMatch(name, pattern.names[0] ?? "")));
    });
}
/** In time linear in the name for each `*`. */
function isMatch(name, pattern) {
    const [first = "", ...others] = pattern.split("*");
    const last = others.pop();
    if (last === undefined)
        return name === pattern;
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
        return false;
    let position = first.length;
    for (const part of others) {
        const found = name.indexOf(part, position);
        if (found < 0)
            return false;
        position = found + part.length;
    }
    return position + last.length <= name.length;
}
/** The keys of a `package.json` or `composer.json` that say what runs, now or once it is installed. */
const programKeys = /^(?:scripts|.*dependencies|overrides|resolutions|pnpm|workspaces|require|require-dev|repositories)$/i;
/** Returns whether a path is a `package.json` or a `composer.json`, whose scripts and dependencies run on other machines. */
const mayNamePrograms = (path) => /(?:^|\/)(?:package|composer)\.json$/i.test(path);
/**
 * Returns whether two versions of such a file have other scripts or dependencies. Their order does not matter.
 *
 * @param after - default: the file is deleted
 */
function changesPrograms(before, after) {
    if (after === undefined)
        return false;
    const programs = programsOf(after);
    return programs === undefined || programs !== programsOf(before ?? "{}");
}
/** Returns the scripts and dependencies as text; `undefined` if the file cannot be read. */
function programsOf(text) {
    try {
        const content = JSON.parse(text);
        if (!isRecord(content))
            return undefined;
        const programs = Object.entries(content).filter(([key]) => programKeys.test(key));
        if (programs.some(([key, value]) => key === "scripts" && !isRecord(value)))
            return undefined;
        return JSON.stringify(Object.fromEntries(programs.filter(([, value]) => !isEmpty(value))), (_key, value) => isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value);
    }
    catch {
        return undefined;
    }
}
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isEmpty = (value) => isRecord(value) && Object.keys(value).length === 0;


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

/***/ 5053:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   W8: () => (/* binding */ jobLogFile),
/* harmony export */   dm: () => (/* binding */ unknownFolder),
/* harmony export */   lV: () => (/* binding */ JobDirectory),
/* harmony export */   qd: () => (/* binding */ logsFolder),
/* harmony export */   v$: () => (/* binding */ jobsFolder)
/* harmony export */ });
/* unused harmony export folderOfStore */
/* harmony import */ var node_fs_promises__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(1455);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _remove_directory_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3889);



/** Git's configuration in a job's home directory, so that an agent can commit. Only the files that it leaves behind count. */
const gitIdentity = "[user]\n\tname = Agent\n\temail = agent@localhost\n";
/** Returns the folder of a service whose store is in a file. */
const folderOfStore = (store) => `${resolve(store)}.files`;
/** Returns the folder of the job directories, whose names are the ids of the jobs. */
const jobsFolder = (folder) => (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder, "jobs");
/** Returns the folder of the job logs: the output of agents, and the service's own notes. */
const logsFolder = (folder) => (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder, "logs");
/** Returns the folder that says, in a file for each, since when jobs are not in the store of which this machine has something. */
const unknownFolder = (folder) => (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder, "unknown-jobs");
/** Returns the log of a job. */
const jobLogFile = (folder, jobId) => (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(logsFolder(folder), `${jobId}.log`);
/**
 * The directory of a job. Its paths stay the same for all turns, because agents store their sessions by path. The home
 * directory, which has the sessions, outlives a turn. The worktree can; see `Worktrees`.
 */
class JobDirectory {
    path;
    /** The agent's `HOME`. */
    home;
    /** The worktree. */
    tree;
    /** The agent's `TMPDIR`. */
    temporary;
    /** The prompt and the history, for the agent. */
    input;
    /** The index of the worktree. Not for the agent. */
    index;
    /** What the agents of the job printed, as they did, if the log shows it for people. Not for the agent. */
    events;
    /** For `--setup`: `HOME`, whose caches outlive a turn, `TMPDIR`, and what it left in ignored files. Not for the agent. */
    setup;
    /** The worktree of `--check`, with its index, `HOME` and `TMPDIR`. Not for the agent. */
    check;
    /** The processes of the agent that runs. Not for the agent. */
    processes;
    /** The identity of the turn that left the home directory, if several machines run the turns of the job. Not for the agent. */
    homeTurn;
    /** @param folder - the service's folder */
    constructor(folder, jobId) {
        this.path = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(jobsFolder(folder), jobId);
        this.home = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "home");
        this.tree = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "tree");
        this.temporary = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "tmp");
        this.input = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "input");
        this.index = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "index");
        this.events = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "events.jsonl");
        const [setup, check] = [(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "setup"), (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "check")];
        this.setup = { home: (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(setup, "home"), temporary: (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(setup, "tmp"), files: (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(setup, "files") };
        this.check = {
            path: check,
            tree: (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(check, "tree"),
            index: (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(check, "index"),
            home: (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(check, "home"),
            temporary: (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(check, "tmp"),
        };
        this.processes = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "processes.json");
        this.homeTurn = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "home-turn");
    }
    /**
     * Creates the directory for a turn, without the worktree.
     *
     * @returns whether the home directory is new
     */
    async prepare() {
        await this.clean();
        // Of a turn that was interrupted.
        await this.#bringHomeBack();
        const isNew = await this.#prepareHome();
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.mkdir)(this.temporary);
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.mkdir)(this.input);
        return isNew;
    }
    /**
     * Puts a new home directory in the place of the job's, with no session in it. Disposing of the result brings the old one back, unless it
     * was dropped.
     */
    async replaceHome() {
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rename)(this.home, this.#oldHome);
        await this.#prepareHome();
        return {
            drop: async () => {
                // At once: half of it must not come back if this is interrupted.
                const dropped = (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.input, "old-home");
                await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rename)(this.#oldHome, dropped);
                await (0,_remove_directory_js__WEBPACK_IMPORTED_MODULE_2__/* .removeDirectory */ .q)(dropped);
            },
            [Symbol.asyncDispose]: () => this.#bringHomeBack(),
        };
    }
    get #oldHome() {
        return (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.path, "old-home");
    }
    async #bringHomeBack() {
        if ((await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.lstat)(this.#oldHome).catch(() => undefined)) === undefined)
            return;
        await (0,_remove_directory_js__WEBPACK_IMPORTED_MODULE_2__/* .removeDirectory */ .q)(this.home);
        await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rename)(this.#oldHome, this.home);
    }
    /** Returns whether the home directory is new. */
    async #prepareHome() {
        const isNew = (await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.mkdir)(this.home, { recursive: true })) !== undefined;
        if (isNew)
            await (0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.writeFile)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(this.home, ".gitconfig"), gitIdentity);
        return isNew;
    }
    /** Removes what is only for one turn. */
    async clean() {
        const { temporary, files } = this.setup;
        for (const path of [this.temporary, this.input, temporary, files, this.check.path])
            await (0,_remove_directory_js__WEBPACK_IMPORTED_MODULE_2__/* .removeDirectory */ .q)(path);
    }
}


/***/ }),

/***/ 3696:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   No: () => (/* binding */ passwordOf),
/* harmony export */   Tj: () => (/* binding */ findKey),
/* harmony export */   bJ: () => (/* binding */ isPublicValue),
/* harmony export */   cQ: () => (/* binding */ textsOfSecret),
/* harmony export */   eh: () => (/* binding */ isSecretName),
/* harmony export */   mt: () => (/* binding */ findSecret)
/* harmony export */ });
/* unused harmony exports minSecretLength, readSecretFile */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);


/** Names of variables that have secrets. */
const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
/** Returns whether a variable has a secret, by its name. */
const isSecretName = (name) => secretName.test(name);
/** Shorter ones would be found in ordinary text. Real keys are far longer. */
const minSecretLength = 8;
/** Of a value with several lines, these are secrets by themselves. */
const minLineLength = 16;
/** Names of variables that say which region, project, resource or model is used. */
const publicName = /(?:^|_)(?:REGION|LOCATION|PROJECT(?:_ID)?|RESOURCE|MODEL)$/i;
/** Words of letters, with dashes between them, such as `eu-central` and `service_account`. */
const words = /^(?:[A-Z]?[a-z]{1,20}|[A-Z]{1,20})(?:[-_](?:[A-Z]?[a-z]{1,20}|[A-Z]{1,20}))*$/;
/** An address without a user, whose path has only words and versions: others can be what gives access. */
const address = /^(?:[a-z]{2,9}:\/\/[a-z\d.-]+|localhost|(?:\d{1,3}\.){3}\d{1,3}|(?:[a-z\d-]{1,20}\.)+[a-z]{2,12})(?::\d{1,5})?(?:\/(?:[a-z]{1,20}(?:-[a-z]{1,20})*|[\w.-]{0,6}))*$/;
/** Returns whether a value that an agent gets is no secret, by the name and the value. */
function isPublicValue(name, value) {
    return address.test(value) || (!isSecretName(name) && (publicName.test(name) || words.test(value)));
}
/**
 * Returns the texts of which each gives a secret away: the value, a password in it, the strings of a value in JSON, and the long lines of one
 * with several.
 */
function textsOfSecret(value) {
    const text = value.trim();
    const json = /^[{[]/.test(text) ? parseJson(text) : undefined;
    const lines = text.split(/\r?\n|\\n/).map((line) => line.trim());
    const parts = json !== undefined
        ? stringsIn(json).flatMap(([key, one]) => (isPublicValue(key, one.trim()) ? [] : textsOfSecret(one)))
        : lines.length > 1
            ? lines.filter((line) => line.length >= minLineLength && !isPublicLine(line))
            : [passwordOf(text)];
    return [...new Set([text, ...parts])].filter(({ length }) => length >= minSecretLength);
}
/** Such as the first line of a key, and settings that are none. */
function isPublicLine(line) {
    const setting = /^(?:export\s+)?["']?([\w.-]+)["']?\s*[=:]\s*["']?(.*?)["']?,?$/;
    const [, name = "", value = line] = setting.exec(line) ?? [];
    return /^-----[A-Z ]+-----$/.test(value) || isPublicValue(name, value);
}
/** Returns the password of a URL; empty if it has none. */
function passwordOf(url) {
    const [, password = ""] = /^(?:[a-z][a-z\d+.-]*:\/\/)?[^\s:@/]*:([^\s@/]+)@/i.exec(url) ?? [];
    try {
        return decodeURIComponent(password);
    }
    catch {
        return password;
    }
}
/** Returns the strings in JSON, each with the key that it belongs to. */
function stringsIn(json, key = "") {
    if (typeof json === "string")
        return [[key, json]];
    if (typeof json !== "object" || json === null)
        return [];
    return Object.entries(json).flatMap(([name, one]) => stringsIn(one, Array.isArray(json) ? key : name));
}
function parseJson(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return undefined;
    }
}
/** The values that were in each file, the current one last. */
const valuesOf = new Map();
/**
 * Finds a secret: in the variable `NAME`, in the file that `NAME_FILE` names, or in the file `NAME` of systemd's
 * `$CREDENTIALS_DIRECTORY`.
 *
 * @returns `undefined` if there is none
 * @throws if there are two, or the file cannot be used. The message names the file, and has nothing of what is in it
 */
function findSecret(name, environment) {
    const value = environment[name]?.trim();
    const file = findFile(name, environment);
    if (file === undefined)
        return value ? { name, file, value, values: () => [value] } : undefined;
    if (value)
        throw new Error(`${name} is set, and ${file} has it, too: remove one of them.`);
    readSecretFile(name, file);
    const values = () => {
        try {
            readSecretFile(name, file);
        }
        catch {
            // The last value stays in use, and who watches the file says so.
        }
        return valuesOf.get(file) ?? new Set();
    };
    return {
        name,
        file,
        get value() {
            return [...values()].at(-1) ?? "";
        },
        values,
    };
}
/**
 * Finds a secret that is sent in a header of HTTP; see `findSecret`.
 *
 * @throws also if its value is not valid there. The message has nothing of it
 */
function findKey(name, environment) {
    const found = findSecret(name, environment);
    if (found !== undefined && !isOneLine.test(found.value))
        throw new Error(`${name} has a line break, a space or another character that no key has: paste it again.`);
    return found;
}
/** What else there is would not be valid in a header of HTTP. */
const isOneLine = /^[!-~]+$/;
/**
 * Reads a file with a secret, and remembers the value.
 *
 * @throws if the file cannot be used
 */
function readSecretFile(name, file) {
    let text;
    try {
        text = (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(file, "utf8").trim();
    }
    catch (error) {
        throw new Error(`${file}, which has ${name}, cannot be read: ${error.code}.`);
    }
    if (!isOneLine.test(text))
        throw new Error(`${file} must have ${name} in one line of ASCII, and nothing else.`);
    const values = valuesOf.get(file) ?? new Set();
    values.delete(text);
    valuesOf.set(file, values.add(text));
}
function findFile(name, environment) {
    const named = environment[`${name}_FILE`];
    if (named)
        return (0,node_path__WEBPACK_IMPORTED_MODULE_1__.resolve)(named);
    const folder = environment.CREDENTIALS_DIRECTORY;
    const credential = folder ? (0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder, name) : undefined;
    return credential !== undefined && (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(credential) ? credential : undefined;
}


/***/ }),

/***/ 3958:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   L8: () => (/* binding */ startNote),
/* harmony export */   hH: () => (/* binding */ isStartNote),
/* harmony export */   wK: () => (/* binding */ noChangeNote),
/* harmony export */   xZ: () => (/* binding */ newSessionNote)
/* harmony export */ });
/* harmony import */ var _turn_name_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2133);

// Notes in a job's log that the step tells the author of a workflow, too.
/** Before what the agent said last, if it changed nothing. */
const noChangeNote = "No file was changed.";
/** If an agent has no session of the earlier turns of its job. */
const newSessionNote = "The session of the earlier turns is gone, so the agent begins a new one.";
/** How the log of a turn begins. */
function startNote({ id, step, request }) {
    const name = (0,_turn_name_js__WEBPACK_IMPORTED_MODULE_0__/* .turnName */ .P)(id);
    return `${name.charAt(0).toUpperCase()}${name.slice(1)} started.${step === "" ? "" : ` Its request is ${request}.`}`;
}
/** Returns whether a turn's log begins with a note. */
const isStartNote = (text) => /^(?:Turn \d+|The turn) started\./.test(text);


/***/ }),

/***/ 2133:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   P: () => (/* binding */ turnName)
/* harmony export */ });
/** Ids of a service without a store of its own are times, to be distinct from those of others. */
const largestCount = 1_000_000_000;
/** Names a turn in a log. A number that counts turns is also what pages and commands take; one that is a time helps nobody. */
function turnName(id) {
    return id > largestCount ? "the turn" : `turn ${id}`;
}


/***/ }),

/***/ 9871:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   JY: () => (/* binding */ ReportFile),
/* harmony export */   V9: () => (/* binding */ reportedCopies),
/* harmony export */   tL: () => (/* binding */ readReport)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _src_error_message_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(5719);
/* harmony import */ var _server_protocol_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6387);




/** Keeps the report up to date in a file, so that it is there however the service ends. */
class ReportFile {
    #folder;
    #report = { pullRequests: [], failedJobs: [], unsavedJobs: {} };
    /** Pull requests of jobs from earlier runs. */
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
/**
 * Reports what happens to jobs, and hands them to where their copies are.
 *
 * @param copies - `undefined` if jobs are not remembered
 */
function reportedCopies(report, copies) {
    return {
        save: async (job, home) => {
            report.update(job);
            try {
                await copies?.save(job, home);
                report.setUnsaved(job.id, undefined);
            }
            catch (error) {
                report.setUnsaved(job.id, (0,_src_error_message_js__WEBPACK_IMPORTED_MODULE_3__/* .errorMessage */ .g)(error));
                throw error;
            }
        },
        restore: async (...place) => {
            const job = await copies?.restore(...place);
            if (job !== undefined)
                report.exclude(job);
            return job;
        },
        jobsOfStep: async (sent) => (await copies?.jobsOfStep?.(sent)) ?? [],
        jobOfSession: async (session) => copies?.jobOfSession?.(session),
        keptCommits: {
            isOnlyPlace: true,
            save: async (turn, bundle) => {
                const { keptCommits } = copies ?? {};
                if (keptCommits === undefined)
                    throw new Error("this run cannot save it in the Actions cache of its own repository");
                await keptCommits.save(turn, bundle);
            },
            load: async (job) => copies?.keptCommits?.load(job),
        },
    };
}


/***/ }),

/***/ 6387:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   N9: () => (/* binding */ logFile),
/* harmony export */   TK: () => (/* binding */ keepRunning),
/* harmony export */   W1: () => (/* binding */ configOf),
/* harmony export */   rn: () => (/* binding */ reportFile)
/* harmony export */ });
/* unused harmony export cacheEnvironment */
/* harmony import */ var _src_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6301);

/** Returns what the service's process is told, but where it is. */
function configOf(settings, environment) {
    const { args, variables, options, projectId, isWorkflowToken } = settings;
    const remember = {
        cacheAccess: (0,_src_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .cacheAccess */ .nU)(environment),
        cacheEnvironment: cacheEnvironment(environment),
        isWorkflowToken,
        isFirstAttempt: environment.GITHUB_RUN_ATTEMPT === "1",
        isOwnRepository: settings.repository.toLowerCase() === environment.GITHUB_REPOSITORY?.toLowerCase(),
    };
    const secrets = Array.from(options.secrets, ({ value }) => value);
    return {
        args,
        environment: variables,
        projectId,
        remember: settings.remember ? remember : undefined,
        secrets: [...new Set(secrets)],
        // In a container, the process that runs the steps is outside.
        runner: process.ppid > 1 ? process.ppid : undefined,
    };
}
/** Returns the variables by which actions find the cache service. */
function cacheEnvironment(environment) {
    const isPicked = (name) => /^(ACTIONS_(CACHE_|RESULTS_URL$|RUNTIME_TOKEN$)|GITHUB_SERVER_URL$)/.test(name);
    return Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => value !== undefined && isPicked(name) ? [[name, value]] : []));
}
/** Sent when the step has the reply. A process whose step ends before that ends, too. */
const keepRunning = "keep running";
/** The file of the service's log, and of its report, in its folder. */
const logFile = "service.log";
const reportFile = "report.json";


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

/***/ 6301:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $p: () => (/* binding */ cacheProtocol),
/* harmony export */   Tw: () => (/* binding */ CacheEntryError),
/* harmony export */   nU: () => (/* binding */ cacheAccess),
/* harmony export */   pj: () => (/* binding */ CacheReadOnlyError)
/* harmony export */ });
/* unused harmony exports hasCacheService, isForgetful */
/** Thrown when an entry was found that is unusable, and will be until a newer one is saved. */
class CacheEntryError extends Error {
    name = "CacheEntryError";
}
/** The run may not write the cache, because of its event. GitHub: "Dependency caching reference". */
class CacheReadOnlyError extends Error {
    name = "CacheReadOnlyError";
}
/** Returns the access that the runner announces, by the rules of `@actions/cache`. Older runners announce none. */
function cacheAccess(environment) {
    const { ACTIONS_RESULTS_URL, ACTIONS_RUNTIME_TOKEN, ACTIONS_CACHE_URL } = environment;
    const isV2 = cacheProtocol(environment) === "v2";
    // act offers v1 without a token.
    if (!(isV2 ? ACTIONS_RESULTS_URL && ACTIONS_RUNTIME_TOKEN : ACTIONS_CACHE_URL))
        return "absent";
    const mode = environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "";
    return accessOfMode[mode] ?? "write";
}
const accessOfMode = { none: "none", "write-only": "none", read: "read" };
/** Returns whether the runner offers a cache service that can be read. */
function hasCacheService(environment) {
    return ["read", "write"].includes(cacheAccess(environment));
}
/** Returns whether the cache keeps nothing for a re-run, so that a missing entry says nothing. */
function isForgetful(environment) {
    return ["none", "read"].includes(cacheAccess(environment));
}
/** Returns the protocol of the cache service, by the rules of `@actions/cache`. */
function cacheProtocol(environment) {
    const hostname = URL.parse(environment.GITHUB_SERVER_URL || "https://github.com")?.hostname ?? "";
    const isEnterpriseServer = !/^github\.com$|\.ghe\.com$|\.localhost$/.test(hostname);
    return environment.ACTIONS_CACHE_SERVICE_V2 && !isEnterpriseServer ? "v2" : "v1";
}


/***/ }),

/***/ 3596:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $k: () => (/* binding */ mapOwn),
/* harmony export */   IZ: () => (/* binding */ trusted),
/* harmony export */   cv: () => (/* binding */ say),
/* harmony export */   fj: () => (/* binding */ join),
/* harmony export */   pj: () => (/* binding */ plain)
/* harmony export */ });
/* unused harmony exports joinSentences, capitalized, message */
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
/** Changes our own words. */
function mapOwn(text, change) {
    return text.map((part) => (typeof part === "string" ? change(part) : part));
}
/** Capitalizes the first letter. */
function capitalized(text) {
    const [first, ...rest] = text;
    return typeof first === "string" ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : text;
}
/** Template tag: the lines are title, what happened, and what to do next. An empty sentence leaves no second space. */
function message(words, ...values) {
    const lines = [];
    words.forEach((piece, index) => {
        const before = values[index - 1];
        const [rest = "", ...starts] = piece.split(/\n\s*/);
        const isEmpty = typeof before === "object" && before.length === 0;
        lines.at(-1)?.push(isEmpty ? rest.trimStart() : rest);
        for (const start of starts)
            lines.push([start]);
        const value = values[index];
        if (value !== undefined)
            lines.at(-1)?.push(...(typeof value === "string" ? [{ untrusted: value }] : say `${value}`));
    });
    const [title = [], what = [], next = []] = lines.map(trimmed);
    return { title: title.filter((part) => typeof part === "string").join(""), what, next };
}
/** Returns a line without the space before an empty sentence at its end. */
function trimmed(line) {
    const parts = line.filter((part) => part !== "");
    const last = parts.at(-1);
    return typeof last === "string" ? [...parts.slice(0, -1), last.trimEnd()] : parts;
}


/***/ })

};
