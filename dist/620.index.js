export const id = 620;
export const ids = [620];
export const modules = {

/***/ 6622:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   NN: () => (/* binding */ isTriggeredBy),
/* harmony export */   Zn: () => (/* binding */ isThreadEvent),
/* harmony export */   ag: () => (/* binding */ doorOf)
/* harmony export */ });
/* unused harmony export threadEvents */
/** What asks for a job by an event, unless a label does, and which inputs make it ask. */
const events = {
    issue_comment: { door: "comment", inputs: ["trigger-phrase"] },
    pull_request_review_comment: { door: "comment", inputs: ["trigger-phrase"] },
    pull_request_review: { door: "review", inputs: ["trigger-phrase"] },
    issues: { door: "issue", inputs: ["trigger-phrase", "trigger-label"] },
    pull_request: { door: "pull request", inputs: ["trigger-phrase", "trigger-label"] },
    pull_request_target: { door: "pull request", inputs: ["trigger-phrase", "trigger-label"] },
};
const threadEvents = Object.keys(events);
function isThreadEvent(name) {
    return Object.hasOwn(events, name);
}
/** Returns what asks for a job by an event, unless a label does. */
function doorOf(name) {
    return events[name].door;
}
/** Returns whether an input that is set turns comment mode on for an event. */
function isTriggeredBy(name, inputs) {
    return isThreadEvent(name) && inputs.some((input) => events[name].inputs.includes(input));
}


/***/ }),

/***/ 575:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $: () => (/* binding */ isSufficient),
/* harmony export */   P: () => (/* binding */ permissions)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8395);

/** Repository permissions, in ascending order. GitHub's documentation: "Repository roles". */
const permissions = ["read", "triage", "write", "maintain", "admin"];
const permissionResponse = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    role_name: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* ["catch"] */ .MfU(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP()), undefined),
    permission: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* ["catch"] */ .MfU(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP()), undefined),
});
/**
 * Returns whether a collaborator's permission is sufficient; `undefined` if GitHub's response names none. `role_name`
 * distinguishes all five; an organization's custom role falls back to `permission`.
 * GitHub's documentation: "Get repository permissions for a user".
 */
function isSufficient(response, required) {
    const { role_name: role, permission } = permissionResponse.safeParse(response).data ?? {};
    const name = isPermission(role) ? role : permission;
    if (name === "none")
        return false;
    return isPermission(name) ? permissions.indexOf(name) >= permissions.indexOf(required) : undefined;
}
function isPermission(name) {
    return permissions.includes(name);
}


/***/ }),

/***/ 6205:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Ft: () => (/* binding */ placeholders),
/* harmony export */   hX: () => (/* binding */ unknownPlaceholders),
/* harmony export */   oB: () => (/* binding */ defaultTemplate),
/* harmony export */   ou: () => (/* binding */ fillTemplate)
/* harmony export */ });
const eventPlaceholders = [
    "instruction",
    "author",
    "title",
    "body",
    "number",
    "url",
    "path",
    "line",
    "label",
    "review",
];
/** Returns the placeholders of a prompt template. `changes` is one of them only with the input of this name. */
function placeholders(hasChanges) {
    return hasChanges ? [...eventPlaceholders, "changes"] : eventPlaceholders;
}
const pattern = /\{\{([^{}]*)\}\}/g;
/** Returns the names in a template that are not among the `known` placeholders. */
function unknownPlaceholders(template, known) {
    return [...new Set(namesIn(template).filter((name) => !known.includes(name)))];
}
function namesIn(template) {
    return [...template.matchAll(pattern)].map(([, name = ""]) => name.trim());
}
/**
 * Fills in a template in a single pass, so that what is filled in is never interpreted.
 *
 * @param changes - the section with the changes, or empty; it goes to the end of a template that does not place it
 */
function fillTemplate(template, instruction, event, changes) {
    const { author, subject, position, label, reviewUrl } = event;
    const values = {
        instruction,
        author: author.login,
        title: subject.title,
        body: subject.body,
        number: String(subject.number),
        url: subject.url,
        path: position?.path ?? "",
        line: position?.line === undefined ? "" : String(position.line),
        label: label ?? "",
        review: reviewUrl ?? "",
        changes,
    };
    const text = template.replace(pattern, (text, name) => {
        const placeholder = name.trim();
        return isPlaceholder(placeholder) ? values[placeholder] : text;
    });
    return changes === "" || namesIn(template).includes("changes") ? text : `${text}\n\n${changes}`;
}
/** Returns the template that applies if the workflow has none: the instruction and where it was given. */
function defaultTemplate({ subject, position, reviewUrl }) {
    const place = position ? `\nFile: {{ path }}${position.line === undefined ? "" : ", line {{ line }}"}` : "";
    const review = reviewUrl === undefined ? "" : "\nReview: {{ review }}";
    return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}, "{{ title }}"\n{{ url }}${place}${review}`;
}
function isPlaceholder(name) {
    return placeholders(true).includes(name);
}


/***/ }),

/***/ 6929:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   T: () => (/* binding */ isMintlify)
/* harmony export */ });
/** Returns whether the service is Mintlify, which has a dashboard. Nothing is known about the service at another address. */
function isMintlify(baseUrl) {
    return baseUrl.hostname === "api.mintlify.com";
}


/***/ }),

/***/ 6566:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  N: () => (/* binding */ connect),
  r: () => (/* binding */ findSection)
});

// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/action/result.js
var result = __webpack_require__(618);
;// CONCATENATED MODULE: ./build/action/changes/changes.js
/** Returns whether nothing that counts has changed. If GitHub did not list all files, that cannot be known. */
function isNothingNew({ files, isTruncated }) {
    return files.length === 0 && !isTruncated;
}

;// CONCATENATED MODULE: ./build/action/changes/find-changes.js



/**
 * Returns the section of the prompt that says what changed; empty if the event has nothing to compare. If nothing new has
 * changed, or if GitHub cannot be asked, the result says so, and nothing may be sent. Never rejects.
 */
async function findChanges({ since, paths, withPatches }, query, { connectGitHub, onEvent, ...ports }, state) {
    try {
        // Loaded here, because most steps do not ask for changes.
        const { readChanges } = await Promise.all(/* import() */[__webpack_require__.e(125), __webpack_require__.e(989)]).then(__webpack_require__.bind(__webpack_require__, 989));
        const onReplacedStart = (base) => onEvent({ kind: "replaced-start", base });
        const github = await connectGitHub();
        const read = await readChanges({ ...query, since, paths, withPatches }, { ...ports, github, onReplacedStart });
        state.changes = read?.changes;
        if (!read) {
            onEvent({ kind: "nothing-to-compare", eventName: query.event.name });
            return { section: "" };
        }
        const { changes, section } = read;
        if (isNothingNew(changes)) {
            onEvent({ kind: "nothing-new", changes });
            return { kind: "skipped", reason: "nothing-new" };
        }
        onEvent({ kind: "found", changes });
        return { section };
    }
    catch (error) {
        if (ports.signal.aborted)
            return result/* cancelledBeforeSending */.xX;
        return { kind: "blocked", cause: "changes", detail: (0,errors/* messageOf */.bD)(error) };
    }
}

// EXTERNAL MODULE: ./build/action/runner/environment.js
var runner_environment = __webpack_require__(767);
// EXTERNAL MODULE: ./build/action/runner/event-file.js
var event_file = __webpack_require__(561);
;// CONCATENATED MODULE: ./build/action/mode-ports.js



/** Connects to the runner's GitHub. */
function connect(token, { connectGitHub, environment }, log) {
    return connectGitHub(token, (0,runner_environment/* apiUrl */.y0)(environment), (trace) => log.trace(trace));
}
/** Returns the section of the prompt that says what changed; empty without `changes`. Otherwise returns why nothing is sent. */
async function findSection(settings, remembered, ports, state, log) {
    const { environment, clock, signal } = ports;
    const { changes } = settings;
    if (!changes)
        return { section: "" };
    return findChanges(changes, {
        ...remembered,
        event: {
            name: environment.GITHUB_EVENT_NAME ?? "",
            readPayload: () => (0,event_file/* readEventFile */.z)(environment.GITHUB_EVENT_PATH ?? ""),
            sha: environment.GITHUB_SHA ?? "",
        },
        repository: environment.GITHUB_REPOSITORY ?? "",
        serverUrl: (0,runner_environment/* serverUrl */.Vd)(environment),
    }, {
        clock,
        signal,
        connectGitHub: () => connect(settings.githubToken, ports, log),
        onEvent: (event) => log.changes(event),
    }, state);
}


/***/ }),

/***/ 491:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   KI: () => (/* binding */ outcomes),
/* harmony export */   WE: () => (/* binding */ passes),
/* harmony export */   _M: () => (/* binding */ failableOutcomes)
/* harmony export */ });
/** Everything that depends only on the outcome. */
const outcomes = {
    "pr-created": {
        icon: "✅",
        title: "Pull request created",
        passes: "always",
        level: undefined,
        reaction: "hooray",
    },
    failed: {
        icon: "❌",
        title: "Job failed",
        passes: "configurable",
        level: "warning",
        reaction: "confused",
    },
    archived: {
        icon: "📦",
        title: "Job archived",
        passes: "configurable",
        level: "warning",
        reaction: undefined,
    },
    "timed-out": {
        icon: "⏳",
        title: "Timed out",
        passes: "configurable",
        level: "warning",
        reaction: "confused",
    },
    "no-changes": {
        icon: "⚪",
        title: "No pull request",
        passes: "configurable",
        level: "notice",
        reaction: undefined,
    },
    started: {
        icon: "🚀",
        title: "Job started",
        passes: "always",
        level: undefined,
        reaction: undefined,
    },
    cancelled: {
        icon: "⏹️",
        title: "Cancelled",
        passes: "never",
        level: undefined,
        reaction: undefined,
    },
    skipped: {
        icon: "⏭️",
        title: "Skipped",
        passes: "always",
        level: "notice",
        reaction: undefined,
    },
    error: {
        icon: "❌",
        title: "Error",
        passes: "never",
        level: undefined,
        reaction: "confused",
    },
};
const failableOutcomes = Object.keys(outcomes).filter(isFailable);
function isFailable(outcome) {
    return outcomes[outcome].passes === "configurable";
}
/** Returns whether a step with this outcome passes. */
function passes(outcome, failOn) {
    if (isFailable(outcome))
        return !failOn.has(outcome);
    return outcomes[outcome].passes === "always";
}


/***/ }),

/***/ 8808:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   x: () => (/* binding */ locatePullRequest),
/* harmony export */   y: () => (/* binding */ parsePullRequest)
/* harmony export */ });
/** GitHub, Gitea, Bitbucket, Azure DevOps and GitLab, in this order. */
const numberedPath = /^[^?#]*\/(?:pull|pulls|pull-requests|pullrequest|merge_requests)\/(\d+)\/?$/;
/** Far longer than on any platform. A longer URL would fill the log and the summary. */
const maxUrlLength = 4096;
/**
 * Parses a record's `prLink`. Returns `undefined` unless it is an absolute `http(s)` URL without credentials: nothing
 * else is ever published as a link.
 */
function parsePullRequest(prLink) {
    if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(prLink) || !URL.canParse(prLink))
        return undefined;
    const { href } = new URL(prLink);
    if (href.length > maxUrlLength || hasCredentials(prLink))
        return undefined;
    return { url: href, number: numberedPath.exec(href)?.[1] ?? "" };
}
/** Also finds empty credentials, which `URL` silently drops. */
function hasCredentials(url) {
    return /^[^/]*[/\\]+[^/?#\\]*@/.test(url);
}
/**
 * Returns where a pull request is on a GitHub server; `undefined` if it is elsewhere.
 *
 * @param serverUrl - `GITHUB_SERVER_URL`
 */
function locatePullRequest({ url, number }, serverUrl) {
    const { origin, pathname } = new URL(url);
    const [, owner, repo] = /^\/([^/]+)\/([^/]+)\/pull\/\d+\/?$/.exec(pathname) ?? [];
    if (origin !== URL.parse(serverUrl)?.origin || !owner || !repo)
        return undefined;
    return { owner, repo, number: Number(number) };
}


/***/ }),

/***/ 3000:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   DN: () => (/* binding */ howToContinue),
/* harmony export */   HX: () => (/* binding */ hasDashboard),
/* harmony export */   ZH: () => (/* binding */ howToStartAnother),
/* harmony export */   _x: () => (/* binding */ checkService),
/* harmony export */   fe: () => (/* binding */ serviceName),
/* harmony export */   lZ: () => (/* binding */ rerunWarning),
/* harmony export */   nF: () => (/* binding */ howToWait)
/* harmony export */ });
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9563);
/* harmony import */ var _mintlify_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6929);


/** How to wait for a job that may still be running, or to read the result of one that is done. */
function howToWait(context, purpose = "wait for it") {
    const { state, settings, rerun, comment } = context;
    if (rerun !== "resumes")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(purpose)}, run the action with job-id ${state.jobId} and no prompt.`;
    const action = settings?.wait === false ? "check on it" : purpose;
    // A plain step starts over then, which is what its re-run asks for. A comment is a request of its own.
    const exception = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(comment ? "" : ", unless the job fails");
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(action)}, re-run this workflow run: nothing is sent again${exception}.`;
}
/** What a re-run of the workflow run does after the service accepted something, unless it waits for the job. */
function rerunWarning({ task, rerun }) {
    if (rerun !== "repeats")
        return [];
    switch (task?.kind) {
        case "create":
            return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `A re-run of this workflow run starts another job.`;
        case "message":
            return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `A re-run of this workflow run sends the message again.`;
        default:
            return [];
    }
}
/** How to send a follow-up message. A reply in a thread has a line of its own for that. */
function howToContinue({ state, rerun }) {
    return rerun === "resumes"
        ? []
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To continue with this job, send a follow-up: set job-id to ${state.jobId} and give a prompt.`;
}
function hasDashboard({ settings }) {
    return settings !== undefined && (0,_mintlify_js__WEBPACK_IMPORTED_MODULE_1__/* .isMintlify */ .T)(settings.baseUrl);
}
/** How to send a request on purpose if an earlier one is in doubt. With a fixed job-id, no comment starts a new job. */
function howToStartAnother({ comment }) {
    if (!comment)
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To send the request regardless, set on-rerun to new.`;
    if (comment.phrase === "")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To send the request regardless, set the label ${comment.label} again.`;
    return comment.jobId === ""
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To start another job, comment ${`${comment.phrase} new …`}.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To send another message, comment ${`${comment.phrase} …`}.`;
}
/** Where people can look for a job: the dashboard, if there is one. */
function serviceName(context) {
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(hasDashboard(context) ? "the dashboard" : "the service");
}
/** How to find out about a job whose id is unknown. */
function checkService(context) {
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `Check ${serviceName(context)} for the job.`;
}


/***/ }),

/***/ 7583:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   L: () => (/* binding */ describeFiles),
/* harmony export */   m: () => (/* binding */ shortRef)
/* harmony export */ });
/* harmony import */ var _format_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(455);

/** Shortens a full commit id as Git does; leaves other refs as they are. */
function shortRef(ref) {
    return /^[0-9a-f]{40}$/.test(ref) ? ref.slice(0, 7) : ref;
}
/** Describes how many files count, such as `8 of 12 files match paths`. */
function describeFiles({ files, otherFiles, isTruncated, paths }) {
    const all = `${isTruncated ? "more than " : ""}${(0,_format_js__WEBPACK_IMPORTED_MODULE_0__/* .count */ .U9)(files.length + otherFiles, "file")}`;
    return paths.length === 0 ? all : `${files.length} of ${all} ${files.length === 1 ? "matches" : "match"} paths`;
}


/***/ }),

/***/ 455:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Ej: () => (/* binding */ size),
/* harmony export */   U9: () => (/* binding */ count),
/* harmony export */   cb: () => (/* binding */ delay),
/* harmony export */   p0: () => (/* binding */ duration),
/* harmony export */   vk: () => (/* binding */ elapsed)
/* harmony export */ });
/** Formats a duration in milliseconds: `4 min 12 s`. */
function duration(ms) {
    const seconds = Math.floor(ms / 1000);
    if (seconds < 60)
        return `${seconds} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60)
        return withRest(`${minutes} min`, seconds % 60, "s");
    return withRest(`${Math.floor(minutes / 60)} h`, minutes % 60, "min");
}
function withRest(text, rest, unit) {
    return rest === 0 ? text : `${text} ${rest} ${unit}`;
}
/** Formats a short delay in milliseconds, with tenths of a second below a minute: `7.4 s`. */
function delay(ms) {
    return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);
}
/** Formats the milliseconds since the start so that lines align: `04:12`, `1:04:12`. */
function elapsed(ms) {
    const seconds = Math.floor(ms / 1000);
    const pad = (value) => String(value).padStart(2, "0");
    const hours = Math.floor(seconds / 3600);
    const rest = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
    return hours > 0 ? `${hours}:${rest}` : rest;
}
/** Formats the length of a text: `1,234 characters`. */
function size(text) {
    const characters = [...text].length;
    // `toLocaleString` would load all of `Intl`, which takes longer than anything else in a short step.
    return `${String(characters).replace(/\B(?=(\d{3})+$)/g, ",")} ${characters === 1 ? "character" : "characters"}`;
}
/** Formats a number of things: `1 file`, `2 files`. */
function count(number, noun) {
    return `${number} ${noun}${number === 1 ? "" : "s"}`;
}


/***/ }),

/***/ 9962:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   D: () => (/* binding */ jobPageLink)
/* harmony export */ });
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4436);

/** Renders the link to a job's page as HTML, for summary and reply. The client has checked the address. */
function jobPageLink(url) {
    return `<a href="${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_0__/* .forHtml */ .B2)(url, url.length)}">Job page</a>`;
}


/***/ }),

/***/ 6296:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Z: () => (/* binding */ pullRequestLink)
/* harmony export */ });
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4436);

/** Renders the link to a pull request as HTML, for summary and reply. */
function pullRequestLink({ url, number }) {
    return `<a href="${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_0__/* .forHtml */ .B2)(url, url.length)}">${number ? `Pull request ${number}` : "Pull request"}</a>`;
}


/***/ }),

/***/ 522:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   C8: () => (/* binding */ renderResult),
/* harmony export */   EY: () => (/* binding */ renderProgress),
/* harmony export */   x1: () => (/* binding */ renderAnswer)
/* harmony export */ });
/* harmony import */ var _client_contract_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6078);
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(4436);
/* harmony import */ var _outcome_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(491);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(618);
/* harmony import */ var _format_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(455);
/* harmony import */ var _job_page_link_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(9962);
/* harmony import */ var _pull_request_link_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(6296);
/* harmony import */ var _request_failure_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4108);








/**
 * Renders the reply while the job is running: GitHub's Markdown, made of HTML blocks like the job summary. It says only what
 * a person cares about, since every change of it is an edit.
 *
 * @param since - when the agent began, if that is known
 */
function renderProgress(frame, { since, state }) {
    const links = [`<a href="${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .forHtml */ .B2)(frame.runUrl, 4096)}">Follow the run</a>`, ...reviewLink(frame)];
    const time = since && `${since.toISOString().slice(0, 16).replace("T", " ")} UTC`;
    const working = time ? `The agent has been working on it since ${time}.` : "The agent is working on it.";
    const progress = frame.remembersJob ? working : "Sending the request to the agent.";
    if (frame.remembersJob && state.pageUrl !== "")
        links.push((0,_job_page_link_js__WEBPACK_IMPORTED_MODULE_5__/* .jobPageLink */ .D)(state.pageUrl));
    if (frame.remembersJob && state.pullRequest)
        links.push((0,_pull_request_link_js__WEBPACK_IMPORTED_MODULE_6__/* .pullRequestLink */ .Z)(state.pullRequest));
    return blocks([`<p>⏳ <b>${progress}</b> ${links.join(" · ")}.</p>`, note(frame), frame.marker]);
}
/** Renders the reply after the run: the outcome, the pull request, what to do next and how to continue. */
function renderResult(run, frame) {
    const { outcome, message, state, elapsedMs } = run;
    const head = [`${_outcome_js__WEBPACK_IMPORTED_MODULE_1__/* .outcomes */ .KI[outcome].icon} <b>${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .forHtml */ .B2)(message.title)}</b>`];
    if (state.pullRequest)
        head.push((0,_pull_request_link_js__WEBPACK_IMPORTED_MODULE_6__/* .pullRequestLink */ .Z)(state.pullRequest));
    if (state.jobId)
        head.push(`${(0,_client_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isTerminal */ .Hd)(state.status) ? "took" : "after"} ${(0,_format_js__WEBPACK_IMPORTED_MODULE_7__/* .duration */ .p0)(elapsedMs)}`);
    if (state.pageUrl !== "")
        head.push((0,_job_page_link_js__WEBPACK_IMPORTED_MODULE_5__/* .jobPageLink */ .D)(state.pageUrl));
    head.push(`<a href="${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .forHtml */ .B2)(frame.runUrl, 4096)}">Run</a>`, ...reviewLink(frame));
    return blocks([
        `<p>${head.join(" · ")}</p>`,
        `<p>${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .textToHtml */ .s8)(message.what)}</p>`,
        message.next.length > 0 ? `<p>${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .textToHtml */ .s8)(message.next)}</p>` : "",
        note(frame),
        frame.marker && frame.remembersJob ? `<p><sub>${howToContinue(frame)}</sub></p>` : "",
        frame.marker,
    ]);
}
/** Renders the answer to a command. It has no marker, because it is about no request. */
function renderAnswer(answer, { phrase, label, hasFixedJob }) {
    switch (answer.kind) {
        case "help": {
            const items = [
                `${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(`${phrase} …`)} starts a job with this instruction, or sends it to the job of this thread.`,
                hasFixedJob ? "" : `${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(`${phrase} new …`)} starts a new job.`,
                `${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(`${phrase} status`)} shows the state of the job.`,
                `${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(`${phrase} help`)} shows this list.`,
                label === "" ? "" : `The label ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(label)} asks for what the issue or pull request says.`,
            ].filter(Boolean);
            return blocks([
                "<p>Comments that ask the agent:</p>",
                `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`,
            ]);
        }
        case "reading":
            return "<p>⏳ Reading the state of the job.</p>";
        case "no-job":
            return `<p>This thread has no job. To start one, comment ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(`${phrase} …`)}.</p>`;
        case "unreadable-thread":
            return "<p>The thread, which names the job, cannot be read.</p>";
        case "job":
            return `<p>${describeJob(answer.jobId, answer.reading)}</p>`;
    }
}
function describeJob(jobId, { result, state }) {
    const status = state.timeline.at(-1)?.status;
    if ((0,_result_js__WEBPACK_IMPORTED_MODULE_2__/* .isJobNotFound */ .tl)(result, state))
        return `Job ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(jobId)} was not found.`;
    if (status === undefined) {
        const error = result.kind === "poll-failed" ? result.error : result.kind === "timed-out" ? result.lastError : undefined;
        const reason = error ? `: ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .textToHtml */ .s8)((0,_request_failure_js__WEBPACK_IMPORTED_MODULE_3__/* .failureReason */ .H)(error))}` : "";
        return `The state of job ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(jobId)} cannot be read${reason}.`;
    }
    const parts = [`<b>Job ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(jobId)} is ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(status)}</b>`];
    if (state.pullRequest)
        parts.push((0,_pull_request_link_js__WEBPACK_IMPORTED_MODULE_6__/* .pullRequestLink */ .Z)(state.pullRequest));
    if (state.pageUrl !== "")
        parts.push((0,_job_page_link_js__WEBPACK_IMPORTED_MODULE_5__/* .jobPageLink */ .D)(state.pageUrl));
    if (state.createdAt)
        parts.push(`created ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(state.createdAt)}`);
    return parts.join(" · ");
}
function reviewLink({ reviewUrl }) {
    return reviewUrl === "" ? [] : [`<a href="${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .forHtml */ .B2)(reviewUrl, 4096)}">Review</a>`];
}
function howToContinue({ phrase, label, hasFixedJob }) {
    if (phrase === "")
        return `To continue with this job, set the label ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(label)} again.`;
    const another = hasFixedJob ? "" : ` To start another one, comment ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(`${phrase} new …`)}.`;
    return `To continue with this job, comment ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .code */ .aY)(`${phrase} …`)}.${another}`;
}
function note({ note: text }) {
    return text.length > 0 ? `<p>${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .textToHtml */ .s8)(text)}</p>` : "";
}
function blocks(parts) {
    return parts.filter(Boolean).join("\n\n");
}


/***/ }),

/***/ 4108:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   H: () => (/* binding */ failureReason),
/* harmony export */   Z: () => (/* binding */ explainRequestFailure)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9563);
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(4436);
/* harmony import */ var _advice_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3000);
/* harmony import */ var _format_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(455);





/** The rate limits are counted over an hour. Specification: "Limits". */
const hourMs = 3_600_000;
/** Explains why a request failed and what to do about it. */
function explainRequestFailure(operation, error, context) {
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$)
        return explainHttpError(operation, error, context);
    const address = context.settings?.baseUrl.href;
    const what = [...(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .capitalized */ .l2)(failureReason(error, address)), "."];
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .InvalidResponseError */ .tF)
        return { what, next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check base-url.` };
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .TokenError */ .gz)
        return { what, next: afterTokenError(error) };
    if (error.reason === "certificate") {
        return {
            what,
            next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check base-url. If a private certificate authority signed the certificate, set the environment variable NODE_EXTRA_CA_CERTS of the step to that authority's file.`,
        };
    }
    return {
        what,
        next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check base-url, the runner's network and its proxy settings (https_proxy, no_proxy), then run this again.`,
    };
}
function explainHttpError(operation, error, context) {
    const { settings } = context;
    const answer = [...(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .capitalized */ .l2)(failureReason(error)), "."];
    const withResponse = (reason) => (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .joinSentences */ .DP)(reason, answer);
    const project = settings?.projectId ?? "";
    const isMintlify = (0,_advice_js__WEBPACK_IMPORTED_MODULE_2__/* .hasDashboard */ .HX)(context);
    const usesIdToken = settings?.auth === "github-oidc";
    switch (error.status) {
        case 400:
            if (operation === "poll")
                return { what: answer, next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check job-id and project-id.` };
            // A gateway's HTML page says nothing about the prompt.
            if (error.serviceMessage === "") {
                return { what: answer, next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check base-url, and any gateway or proxy in front of the service.` };
            }
            return {
                what: withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The service rejected the prompt.`),
                next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Change the prompt as the service's message says, then run this again.`,
            };
        case 401:
            if (usesIdToken)
                return { what: withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The service does not trust this workflow run.`), next: howToTrust };
            return {
                what: withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The service rejected the API key.`),
                next: isMintlify
                    ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The key is wrong, deleted or expired (keys expire after 90 days by default). Create an admin key on the API keys page of the dashboard and update the secret.`
                    : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The key is wrong, deleted or expired. Update the secret with a key that the service accepts.`,
            };
        case 403:
            if (usesIdToken)
                return { what: withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Access was denied.`), next: howToTrust };
            return {
                what: error.serviceMessage === ""
                    ? withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Access was denied.`)
                    : withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The API key is not allowed from this IP address.`),
                next: isMintlify
                    ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Allow the runner's address on the API keys page of the dashboard, or use a runner with a fixed address.`
                    : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Allow the runner's address in the service, or use a runner with a fixed address.`,
            };
        case 404:
            return explainNotFound(operation, withResponse, project, context);
        case 429:
            return {
                what: withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The rate limit is exceeded: 100 jobs and 100 messages per project and hour.`),
                next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Run this again after ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .trusted */ .IZ)((0,_format_js__WEBPACK_IMPORTED_MODULE_3__/* .duration */ .p0)(error.retryAfterMs ?? hourMs))}, and spread out the runs. With a longer timeout-minutes, the action waits until the limit allows it.`,
            };
        case 503:
            return {
                what: withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The service is unavailable.`),
                next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Run this again later. With a longer timeout-minutes, the action waits for the service.`,
            };
    }
    if (error.status < 400) {
        return {
            what: withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Redirects are not followed, because that would send the ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .trusted */ .IZ)(usesIdToken ? "token" : "API key")} to another address.`),
            next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Set base-url to the service's own URL.`,
        };
    }
    return { what: answer, next: error.serviceMessage ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `See the service's message.` : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check base-url.` };
}
/** What the owner of a service has to do that rejects the OIDC token of a workflow run. */
const howToTrust = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Its answer says what is wrong with the token. The service must trust this repository, and the ref or environment of this run (--trust, if it is the service of this project), and have the origin of base-url as its own URL (--public-url). Then run this again.`;
function afterTokenError({ isTransient }) {
    return isTransient
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check the runner's network and its proxy settings (https_proxy, no_proxy), then run this again.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check that the job has permissions: id-token: write, then run this again.`;
}
function explainNotFound(operation, withResponse, project, context) {
    const { settings, state } = context;
    const what = withResponse(operation === "create"
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Project ${project} was not found.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Job ${state.jobId} was not found in project ${project}.`);
    if (/\/v2\/*$/.test(settings?.baseUrl.pathname ?? "")) {
        return { what, next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `base-url ends in /v2, which the action adds itself: remove it from base-url.` };
    }
    if (operation !== "create") {
        return { what, next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check job-id and project-id: a job is only found in its own project.` };
    }
    return {
        what,
        next: (0,_advice_js__WEBPACK_IMPORTED_MODULE_2__/* .hasDashboard */ .HX)(context)
            ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Copy project-id from the API keys page of the dashboard, and check base-url.`
            : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check project-id and base-url.`,
    };
}
/** Describes a failed request in a few words, as part of a sentence. */
function failureReason(error, address) {
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$) {
        const status = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .join */ .fj)([
            (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `the service answered HTTP ${error.status}`,
            error.location ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `a redirect to ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .excerpt */ .Kb)(error.location, 300)}` : [],
            error.retryAfterMs === undefined ? [] : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `retry after ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .trusted */ .IZ)((0,_format_js__WEBPACK_IMPORTED_MODULE_3__/* .duration */ .p0)(error.retryAfterMs))}`,
        ], ", ");
        const message = error.serviceMessage.replace(/\.$/, "");
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .join */ .fj)([status, message ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_4__/* .excerpt */ .Kb)(message, 1000)}` : []], ": ");
    }
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .InvalidResponseError */ .tF)
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `the service's response is not usable (${error.message})`;
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .TokenError */ .gz)
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `GitHub issued no OIDC token (${error.message})`;
    const target = address ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `${address}` : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `the service`;
    if (error.reason === "certificate")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `the certificate of ${target} is not trusted (${error.message})`;
    if (error.phase === "connecting")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `cannot connect to ${target} (${error.message})`;
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `the connection to ${target} failed while ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .trusted */ .IZ)(activities[error.phase])} (${error.message})`;
}
const activities = {
    sending: "sending the request",
    waiting: "waiting for the response",
    reading: "reading the response",
};


/***/ }),

/***/ 618:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   BL: () => (/* binding */ acceptanceOf),
/* harmony export */   sG: () => (/* binding */ outcomeOf),
/* harmony export */   tl: () => (/* binding */ isJobNotFound),
/* harmony export */   xX: () => (/* binding */ cancelledBeforeSending)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);

/** The result of a step that was cancelled while it looked up what to do. */
const cancelledBeforeSending = { kind: "cancelled", operation: "create", acceptance: "rejected" };
/** Returns the outcome of a run. */
function outcomeOf(result, state) {
    switch (result.kind) {
        case "done":
            if (result.status === "completed")
                return state.pullRequest ? "pr-created" : "no-changes";
            return result.status;
        case "started":
        case "timed-out":
        case "cancelled":
        case "skipped":
            return result.kind;
        case "invalid-inputs":
        case "submission-failed":
        case "poll-failed":
        case "blocked":
        case "crashed":
            return "error";
    }
}
/** Returns whether the service accepted the create or message; `undefined` if the result does not say. */
function acceptanceOf(result) {
    if (result.kind === "submission-failed")
        return result.error.acceptance;
    return result.kind === "cancelled" ? result.acceptance : undefined;
}
/** Returns whether the service answered the first request with `404`, so that nothing was started. */
function isJobNotFound(result, state) {
    if (result.kind !== "submission-failed" && result.kind !== "poll-failed")
        return false;
    const error = result.kind === "submission-failed" ? result.error.cause : result.error;
    return error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$ && error.status === 404 && !state.hasRecord;
}


/***/ }),

/***/ 6863:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  b: () => (/* binding */ runJob),
  p: () => (/* binding */ withJobIdListener)
});

// EXTERNAL MODULE: ./build/client/client.js + 4 modules
var client_client = __webpack_require__(1323);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
;// CONCATENATED MODULE: ./build/client/held-polls.js

/** The longest time that the service is asked to hold a poll, in seconds: well below the timeout of a request. */
const maxHoldSeconds = 25;
/** How long before its limit the service has to answer a held poll, in milliseconds. */
const answerMs = 2000;
/** A poll that ends sooner, in milliseconds, was not held, whatever the response says. */
const minHeldMs = 1000;
/** After as many held polls in a row that failed, no more are sent: something on the way cannot hold them. */
const maxFailures = 2;
/**
 * Returns whether a poll was held. A service that answers at once, and says that it waited, would be polled in a loop.
 *
 * @param heldMs - how long the service says that it waited, in milliseconds
 */
function wasHeld(heldMs) {
    return heldMs >= minHeldMs;
}
/** Decides which polls of a wait the service is asked to hold until the job ends. */
class HeldPolls {
    #failures = 0;
    /**
     * Returns for how many seconds the next poll may be held; 0 if it must not be.
     *
     * @param leftMs - the time left for the poll, in milliseconds
     */
    secondsFor(leftMs) {
        if (this.#failures >= maxFailures)
            return 0;
        return Math.max(0, Math.min(maxHoldSeconds, Math.floor((leftMs - answerMs) / 1000)));
    }
    /** Call it when a poll has succeeded that could be held. */
    succeeded() {
        this.#failures = 0;
    }
    /** Call it when a poll has failed that could be held. A failure at once has another cause than that it was held. */
    failed(error, tookMs) {
        const wasSent = !(error instanceof errors/* TokenError */.gz || (error instanceof errors/* NetworkError */.Dr && error.phase === "connecting"));
        if (wasSent && tookMs >= minHeldMs)
            this.#failures++;
    }
}

;// CONCATENATED MODULE: ./build/client/schedule.js
/**
 * Returns the delay before the next poll, in milliseconds: 10 % of the time waited so far, within the two intervals.
 * The end of a short job is noticed early, and long jobs cost few requests. The jitter spreads out jobs that were
 * started together; it is widest on the first delay.
 *
 * @param random - a number in [0, 1)
 */
function nextPollDelayMs(waitedMs, isFirst, intervals, random) {
    const base = Math.min(Math.max(waitedMs * 0.1, intervals.minMs), intervals.maxMs);
    return base * (isFirst ? 0.5 + random : 0.8 + 0.4 * random);
}

;// CONCATENATED MODULE: ./build/client/poll-delays.js

/** The delays between the polls of one wait, in milliseconds; `undefined` if no time is left for another poll. */
class PollDelays {
    #wait;
    #clock;
    #random;
    #isFirst = true;
    /** @param wait - monotonic times of the first request and of the last poll, and the limits of the delays */
    constructor(wait, { clock, random }) {
        this.#wait = wait;
        this.#clock = clock;
        this.#random = random;
    }
    /** Returns the next delay of the schedule, or `minMs` if that is longer. */
    next(minMs = 0) {
        const { startedAt, intervals } = this.#wait;
        const delayMs = nextPollDelayMs(this.#clock.now() - startedAt, this.#isFirst, intervals, this.#random());
        this.#isFirst = false;
        return this.#untilLastPoll(Math.max(delayMs, minMs));
    }
    /** Returns the delay after a poll that was held: that time counts as a part of the shortest delay. */
    afterHeld(heldMs) {
        return this.#untilLastPoll(Math.max(0, this.#wait.intervals.minMs - heldMs));
    }
    #untilLastPoll(delayMs) {
        const maxMs = this.#wait.lastPollAt - this.#clock.now();
        return maxMs > 0 ? Math.min(delayMs, maxMs) : undefined;
    }
}

// EXTERNAL MODULE: ./build/client/retry.js
var retry = __webpack_require__(1992);
;// CONCATENATED MODULE: ./build/client/wait.js





/** A new job may not be visible immediately: `404` is transient for this long after a create, in milliseconds. */
const notFoundGraceMs = 10_000;
/** A record may show the state from before a message for this long, in milliseconds. */
const staleStateMs = 15_000;
/** The last poll is sent this long before the deadline, or a tenth of the whole timeout if that is less. */
const lastPollReserveMs = 1000;
/** A poll that the service may hold is over this long before the last one, in milliseconds. */
const heldPollReserveMs = 1000;
/**
 * Polls a job until it reaches a terminal state, the deadline passes or the signal aborts. A poll that fails with a
 * transient error is repeated at the next interval. A service that can hold a poll until the job ends is asked to; with
 * one that does, polls follow each other without a delay.
 *
 * @throws RequestError if a poll fails permanently
 */
async function waitForJob(request, client, ports, onEvent) {
    const { jobId, origin, startedAt, deadline, signal } = request;
    const { clock } = ports;
    let hasSeenActive = origin.kind === "messaged" && origin.job.status === "active";
    const reserveMs = Math.min(lastPollReserveMs, (deadline - startedAt) / 10);
    let lastError;
    let hasRecord = false;
    const isAttached = origin.kind === "attached" || origin.kind === "resumed";
    let hasReachedService = !isAttached;
    /** Monotonic time from which the record may show the state from before a message. */
    const messagedAt = origin.kind === "messaged" ? origin.at : origin.kind === "resumed" ? clock.now() : Number.NEGATIVE_INFINITY;
    const lastPollAt = deadline - reserveMs;
    const delays = new PollDelays({ startedAt, lastPollAt, intervals: request.intervals }, ports);
    const heldPolls = new HeldPolls();
    let delayMs = isAttached ? 0 : delays.next();
    for (;;) {
        await clock.sleep(delayMs ?? deadline - clock.now(), signal);
        if (signal.aborted)
            return { kind: "cancelled" };
        if (delayMs === undefined)
            return { kind: "timed-out", ...(lastError && { lastError }) };
        const pollAt = clock.now();
        const holdLimit = lastPollAt - heldPollReserveMs;
        // The first record of a job that was attached to is shown at once.
        const mayHold = request.until === "terminal" && (!isAttached || hasRecord);
        const holdSeconds = mayHold ? heldPolls.secondsFor(holdLimit - pollAt) : 0;
        try {
            const limits = { deadline: holdSeconds > 0 ? holdLimit : deadline, signal };
            const { job, heldMs, sentAt } = await client.getJob(jobId, limits, holdSeconds);
            if (holdSeconds > 0)
                heldPolls.succeeded();
            hasSeenActive ||= job.status === "active";
            const isStale = (0,contract/* isTerminal */.Hd)(job.status) && !hasSeenActive && sentAt - messagedAt < staleStateMs;
            const isDone = request.until === "response" || ((0,contract/* isTerminal */.Hd)(job.status) && !isStale);
            lastError = undefined;
            hasRecord = true;
            hasReachedService = true;
            if (isDone)
                delayMs = undefined;
            else
                delayMs = wasHeld(heldMs) ? delays.afterHeld(heldMs) : delays.next();
            onEvent({ kind: "polled", job, isStale, nextDelayMs: delayMs });
            if (isDone)
                return { kind: "done", job };
        }
        catch (error) {
            if (signal.aborted)
                return { kind: "cancelled" };
            if (!(0,errors/* isRequestError */.eK)(error) || !isTransient(error, { origin, hasReachedService }))
                throw error;
            // A poll that was cut off by the deadline says nothing about the service.
            if (clock.now() >= deadline && hasRecord)
                return { kind: "timed-out", ...(lastError && { lastError }) };
            hasReachedService ||= !(error instanceof errors/* NetworkError */.Dr || error instanceof errors/* TokenError */.gz);
            if (holdSeconds > 0)
                heldPolls.failed(error, clock.now() - pollAt);
            // Nor does a held poll that had to make room for the last one.
            const hasMadeRoom = holdSeconds > 0 && isTimeout(error) && clock.now() >= holdLimit;
            if (!hasMadeRoom)
                lastError = error;
            delayMs = delays.next(error instanceof errors/* HttpError */.j$ ? error.retryAfterMs : 0);
            if (!hasMadeRoom)
                onEvent({ kind: "poll-failed", error, nextDelayMs: delayMs });
        }
    }
}
function isTimeout(error) {
    return error instanceof errors/* NetworkError */.Dr && error.reason === "timeout";
}
function isTransient(error, poll) {
    const { origin } = poll;
    if (error instanceof errors/* HttpError */.j$ && error.status === 404) {
        return origin.kind === "created" && error.sentAt - origin.at < notFoundGraceMs;
    }
    if (!poll.hasReachedService && error instanceof errors/* TokenError */.gz && !error.isTransient)
        return false;
    // If the service has been reached before, a certificate error may come from something on the way to it.
    if (!poll.hasReachedService && error instanceof errors/* NetworkError */.Dr && error.reason === "certificate")
        return false;
    return (0,retry/* isTransientPollFailure */.KR)(error);
}

// EXTERNAL MODULE: ./build/runner-kit/text.js
var runner_kit_text = __webpack_require__(9563);
// EXTERNAL MODULE: ./build/runner-kit/untrusted.js
var untrusted = __webpack_require__(4436);
;// CONCATENATED MODULE: ./build/action/run-job.js






/** Returns the ports with one more function that is called as soon as a job's id is known. */
function withJobIdListener(ports, onJobId) {
    const publishJobId = (jobId) => {
        ports.publishJobId(jobId);
        onJobId?.(jobId);
    };
    return { ...ports, publishJobId };
}
/** Runs a task: sends the create or message, if there is one, and waits for the job. Never rejects. */
async function runJob(inputs, ports, state, log) {
    const { clock, random, signal } = ports;
    const { task } = inputs;
    const operation = task.kind === "attach" ? "poll" : task.kind;
    if (task.kind !== "create")
        state.jobId = task.jobId;
    if (signal.aborted) {
        return { kind: "cancelled", operation, acceptance: task.kind === "attach" ? "accepted" : "rejected" };
    }
    try {
        log.starting(inputs);
        const transport = ports.connect(inputs.baseUrl.protocol);
        const { baseUrl, projectId } = inputs;
        const client = (0,client_client/* createClient */.U)({ baseUrl, projectId, credentials: ports.credentials }, { transport, clock, random, onTrace: (trace) => log.trace(trace) });
        // Comment mode has already sent requests to GitHub, and their time counts too.
        state.startedAt ??= clock.now();
        const { startedAt } = state;
        const limits = { deadline: startedAt + inputs.timeoutMs, signal };
        const isMessageResumed = task.kind === "attach" && task.resumes === "message";
        let origin = { kind: isMessageResumed ? "resumed" : "attached" };
        if (task.kind !== "attach") {
            const job = await run_job_submit(task, client, limits, ({ error, delayMs }) => log.retrying(error, delayMs, state.elapsedMs(clock.now())));
            updateState(job, task, ports, state, log);
            log.accepted(task.kind, job, state);
            if (signal.aborted)
                return { kind: "cancelled", operation, acceptance: "accepted" };
            const isCreate = task.kind === "create";
            if (isCreate && (0,contract/* isTerminal */.Hd)(job.status))
                return { kind: "done", status: job.status };
            if (!inputs.wait)
                return { kind: "started" };
            origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
        }
        log.waiting(inputs, state);
        const until = inputs.wait ? "terminal" : "response";
        const request = { ...limits, jobId: state.jobId, origin, startedAt, intervals: inputs.intervals, until };
        const wait = await waitForJob(request, client, { clock, random }, (event) => {
            if (event.kind === "polled")
                updateState(event.job, task, ports, state, log);
            log.poll(event, state, state.elapsedMs(clock.now()));
            ports.onPolled?.();
        }).finally(() => log.waited());
        switch (wait.kind) {
            case "done": {
                const { status } = wait.job;
                // A single poll cannot tell whether this is the state from before the message.
                if (isMessageResumed && !inputs.wait)
                    return { kind: "started" };
                return (0,contract/* isTerminal */.Hd)(status) ? { kind: "done", status } : { kind: "started" };
            }
            case "timed-out":
                return wait;
            case "cancelled":
                return { kind: "cancelled", operation, acceptance: "accepted" };
        }
    }
    catch (error) {
        return resultOfError(error, operation, ports, state, log);
    }
}
function run_job_submit(task, client, limits, onRetry) {
    return task.kind === "create"
        ? client.createJob(task.prompt, limits, onRetry)
        : client.sendMessage(task.jobId, task.prompt, limits, onRetry);
}
/** Merges a record into the state, and publishes the job's id before anything else can fail. */
function updateState(job, task, { clock, publishJobId }, state, log) {
    const isFirst = !state.hasRecord;
    const hadInvalidLink = state.hasInvalidLink;
    state.update(job, clock.now());
    state.origin ||= originOf(task);
    if (isFirst)
        publishJobId(job.id);
    if (state.hasInvalidLink && !hadInvalidLink) {
        log.warn("Invalid pull request link", (0,runner_kit_text/* say */.cv) `The service returned ${(0,untrusted/* excerpt */.Kb)(job.prLink, 300)} as the pull request, which is not an http(s) URL without credentials. Ignored.`);
    }
}
function originOf(task) {
    switch (task.kind) {
        case "create":
            return "created";
        case "message":
            return "continued";
        case "attach":
            return task.resumes ? "resumed" : "attached";
    }
}
function resultOfError(error, operation, { signal, publishJobId }, state, log) {
    if (operation !== "poll" && error instanceof errors/* SubmissionError */.nx) {
        if (operation === "create" && error.jobId !== undefined) {
            state.jobId = error.jobId;
            state.origin = "created";
            publishJobId(error.jobId);
        }
        if (signal.aborted)
            return { kind: "cancelled", operation, acceptance: error.acceptance };
        return { kind: "submission-failed", operation, error };
    }
    if ((0,errors/* isRequestError */.eK)(error)) {
        // Without a record, there was no response to the create or message, so this came from `connect`.
        return operation !== "poll" && !state.hasRecord
            ? { kind: "submission-failed", operation, error: new errors/* SubmissionError */.nx("rejected", error) }
            : { kind: "poll-failed", error };
    }
    log.debugError(error);
    return { kind: "crashed", error };
}


/***/ }),

/***/ 7742:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   l: () => (/* binding */ RunState)
/* harmony export */ });
/* harmony import */ var _client_contract_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6078);
/* harmony import */ var _pull_request_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8808);


/** What the run knows so far: outputs, log and summary are made from it. */
class RunState {
    /** Monotonic time of the first request; `undefined` until then. */
    startedAt;
    jobId = "";
    /** How the step came by the job; empty until the service has confirmed it. */
    origin = "";
    /** The last of the four known statuses seen. */
    status = "";
    pullRequest;
    /** Whether the last record had a pull request link that must not be published. */
    hasInvalidLink = false;
    model = "";
    repository = "";
    ref = "";
    createdAt = "";
    archivedAt = "";
    /** The address of the job's page for people, which may be linked. */
    pageUrl = "";
    timeline = [];
    /** What changed in the repository, with `changes`; `undefined` if that was not read, or if there is nothing to compare. */
    changes;
    /** Comment mode: the login of the account that asked, and the address of the issue or pull request. */
    author = "";
    threadUrl = "";
    /** Returns the milliseconds since the first request; 0 before it. */
    elapsedMs(now) {
        return this.startedAt === undefined ? 0 : now - this.startedAt;
    }
    /** Forgets the job, before another one is started. */
    forgetJob() {
        this.jobId = "";
        this.origin = "";
        this.status = "";
        this.pullRequest = undefined;
        this.hasInvalidLink = false;
        for (const field of ["model", "repository", "ref", "createdAt", "archivedAt", "pageUrl"])
            this[field] = "";
        this.timeline.length = 0;
    }
    /** Returns whether the service has sent a record of the job. */
    get hasRecord() {
        return this.timeline.length > 0;
    }
    /** Merges a record. Fields it lacks keep their value, except the pull request, which is always the last record's. */
    update(job, now) {
        this.jobId = job.id;
        if ((0,_client_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isKnownStatus */ .ih)(job.status))
            this.status = job.status;
        if (this.timeline.at(-1)?.status !== job.status) {
            this.timeline.push({ status: job.status, atMs: this.elapsedMs(now) });
        }
        this.pullRequest = (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_1__/* .parsePullRequest */ .y)(job.prLink);
        this.hasInvalidLink = job.prLink !== "" && !this.pullRequest;
        this.model = job.model || this.model;
        this.repository = job.repository || this.repository;
        this.ref = job.ref || this.ref;
        this.createdAt = job.createdAt || this.createdAt;
        this.archivedAt = job.archivedAt || this.archivedAt;
        this.pageUrl = job.pageUrl ?? this.pageUrl;
    }
}


/***/ }),

/***/ 767:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $3: () => (/* binding */ canRequestIdTokens),
/* harmony export */   Tm: () => (/* binding */ runAttempt),
/* harmony export */   Vd: () => (/* binding */ serverUrl),
/* harmony export */   Vp: () => (/* binding */ runUrl),
/* harmony export */   y0: () => (/* binding */ apiUrl)
/* harmony export */ });
/** Returns the number of the run attempt: 1 on the first run of a workflow run, more on a re-run. */
function runAttempt({ GITHUB_RUN_ATTEMPT }) {
    return Number(GITHUB_RUN_ATTEMPT ?? 1);
}
/** Returns the address of the runner's GitHub. */
function serverUrl({ GITHUB_SERVER_URL }) {
    return GITHUB_SERVER_URL || "https://github.com";
}
/** Returns the base address of its API. */
function apiUrl({ GITHUB_API_URL }) {
    return GITHUB_API_URL || "https://api.github.com";
}
/** Returns whether the job may request OIDC tokens: it has `permissions: id-token: write`. */
function canRequestIdTokens(environment) {
    return Boolean(environment.ACTIONS_ID_TOKEN_REQUEST_URL && environment.ACTIONS_ID_TOKEN_REQUEST_TOKEN);
}
/** Returns the address of the workflow run. */
function runUrl(environment) {
    const { GITHUB_REPOSITORY: repository = "", GITHUB_RUN_ID: run = "" } = environment;
    return `${serverUrl(environment)}/${repository}/actions/runs/${run}`;
}


/***/ }),

/***/ 561:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   z: () => (/* binding */ readEventFile)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);

/** Reads the payload of the event that triggered the workflow: the file that `GITHUB_EVENT_PATH` names. */
function readEventFile(path) {
    return JSON.parse((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(path, "utf8"));
}


/***/ }),

/***/ 5620:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  start: () => (/* binding */ start)
});

;// CONCATENATED MODULE: ./build/client/clock.js
/** The longest delay that `setTimeout` accepts; it fires immediately on anything longer. */
const maxTimerMs = 2 ** 31 - 1;
/** The system clock. */
const systemClock = {
    now: () => performance.now(),
    wallTime: () => Date.now(),
    sleep: (ms, signal) => new Promise((resolve) => {
        if (signal?.aborted)
            return resolve();
        const wake = () => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", wake);
            resolve();
        };
        const timer = setTimeout(wake, Math.min(Math.max(ms, 0), maxTimerMs));
        signal?.addEventListener("abort", wake);
    }),
};

// EXTERNAL MODULE: ./build/client/transport.js
var transport = __webpack_require__(6463);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: external "node:timers/promises"
var promises_ = __webpack_require__(8500);
// EXTERNAL MODULE: external "node:os"
var external_node_os_ = __webpack_require__(8161);
;// CONCATENATED MODULE: ./build/runner-kit/cache-folder.js



/**
 * Creates an empty folder.
 *
 * @param parent - ignored if its path has spaces. Default: the system's folder for temporary files
 */
function createCacheFolder(parent) {
    // The library does not quote paths for tar.
    const usable = parent && !/\s/.test(parent) ? parent : (0,external_node_os_.tmpdir)();
    const path = (0,external_node_fs_.realpathSync)((0,external_node_fs_.mkdtempSync)((0,external_node_path_.join)(usable, "agent-job-cache-")));
    return {
        path,
        [Symbol.dispose]: () => {
            try {
                (0,external_node_fs_.rmSync)(path, { recursive: true, force: true, maxRetries: 3 });
            }
            catch {
                // The runner empties its folder for temporary files after the job.
            }
        },
    };
}
/** Returns the status of a restored file; `undefined` unless it is a regular one. Whoever can write the cache decides. */
function restoredFile(file) {
    const status = (0,external_node_fs_.lstatSync)(file, { throwIfNoEntry: false });
    return status?.isFile() && status.nlink === 1 ? status : undefined;
}

// EXTERNAL MODULE: external "node:child_process"
var external_node_child_process_ = __webpack_require__(1421);
// EXTERNAL MODULE: ./build/runner-kit/redact.js
var redact = __webpack_require__(5593);
;// CONCATENATED MODULE: ./build/runner-kit/run-cache-process.js


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
    const redactors = [token, ...new Set(masked)].map(redact/* createRedactor */.l);
    return (text) => redactors.reduce((redacted, redact) => redact(redacted), text);
}
/** Decodes the data of a workflow command. */
function unescapeCommand(data) {
    return data.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%").trimEnd();
}

;// CONCATENATED MODULE: ./build/runner-kit/cache.js
var __addDisposableResource = (undefined && undefined.__addDisposableResource) || function (env, value, async) {
    if (value !== null && value !== void 0) {
        if (typeof value !== "object" && typeof value !== "function") throw new TypeError("Object expected.");
        var dispose, inner;
        if (async) {
            if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
            dispose = value[Symbol.asyncDispose];
        }
        if (dispose === void 0) {
            if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
            dispose = value[Symbol.dispose];
            if (async) inner = dispose;
        }
        if (typeof dispose !== "function") throw new TypeError("Object not disposable.");
        if (inner) dispose = function() { try { inner.call(this); } catch (e) { return Promise.reject(e); } };
        env.stack.push({ value: value, dispose: dispose, async: async });
    }
    else if (async) {
        env.stack.push({ async: true });
    }
    return value;
};
var __disposeResources = (undefined && undefined.__disposeResources) || (function (SuppressedError) {
    return function (env) {
        function fail(e) {
            env.error = env.hasError ? new SuppressedError(e, env.error, "An error was suppressed during disposal.") : e;
            env.hasError = true;
        }
        var r, s = 0;
        function next() {
            while (r = env.stack.pop()) {
                try {
                    if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
                    if (r.dispose) {
                        var result = r.dispose.call(r.value);
                        if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) { fail(e); return next(); });
                    }
                    else s |= 1;
                }
                catch (e) {
                    fail(e);
                }
            }
            if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
            if (env.hasError) throw env.error;
        }
        return next();
    };
})(typeof SuppressedError === "function" ? SuppressedError : function (error, suppressed, message) {
    var e = new Error(message);
    return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
});





/** Thrown when an entry was found that is unusable, and will be until a newer one is saved. */
class CacheEntryError extends Error {
    name = "CacheEntryError";
}
/**
 * The file that every entry consists of. A restore only finds entries whose path is spelled the same. It is relative, so
 * that runners with different folders share their entries.
 */
const entryFile = "agent-job.json";
/** Longer texts are neither saved nor read. */
const maxBytes = 64 * 1024;
/** Delays before the retries of a restore. The library retries some errors on its own, but not all. */
const retryDelaysMs = [500, 1000];
/** Returns whether the runner offers a cache service that can be read, by the rules of `@actions/cache`. */
function hasCacheService(environment) {
    const isWriteOnly = ["none", "write-only"].includes(environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "");
    const isV2 = Boolean(environment.ACTIONS_CACHE_SERVICE_V2) && !isEnterpriseServer(environment.GITHUB_SERVER_URL);
    // act offers v1 without a token.
    const isOffered = isV2
        ? environment.ACTIONS_RESULTS_URL && environment.ACTIONS_RUNTIME_TOKEN
        : environment.ACTIONS_CACHE_URL;
    return Boolean(isOffered) && !isWriteOnly;
}
function isEnterpriseServer(serverUrl) {
    const hostname = URL.parse(serverUrl || "https://github.com")?.hostname ?? "";
    return hostname !== "github.com" && !hostname.endsWith(".ghe.com") && !hostname.endsWith(".localhost");
}
/** Returns the Actions cache that the runner's environment variables describe. */
function connectCache(environment, options = {}) {
    const { restoreTimeoutMs = 10_000, saveTimeoutMs = 5000, program = process.argv[1] ?? "" } = options;
    const run = (operation, key, { path }, signal) => runCacheProcess({ operation, key, file: entryFile, folder: path, program, environment, signal });
    return {
        restore: async (prefix) => {
            const env_1 = { stack: [], error: void 0, hasError: false };
            try {
                const folder = __addDisposableResource(env_1, createCacheFolder(environment.RUNNER_TEMP), false);
                const signal = AbortSignal.timeout(restoreTimeoutMs);
                let lastError;
                for (const delayMs of [0, ...retryDelaysMs]) {
                    await (0,promises_.setTimeout)(delayMs, undefined, { signal }).catch(() => { });
                    if (signal.aborted)
                        break;
                    try {
                        return (await run("restore", prefix, folder, signal)) ? readEntry(folder) : undefined;
                    }
                    catch (error) {
                        if (error instanceof CacheEntryError)
                            throw error;
                        if (isTarError(error))
                            throw new CacheEntryError(error.message);
                        // What went wrong before says more than that time is up.
                        if (!signal.aborted || lastError === undefined)
                            lastError = error;
                    }
                }
                throw lastError;
            }
            catch (e_1) {
                env_1.error = e_1;
                env_1.hasError = true;
            }
            finally {
                __disposeResources(env_1);
            }
        },
        save: async (key, text) => {
            const env_2 = { stack: [], error: void 0, hasError: false };
            try {
                if (Buffer.byteLength(text) > maxBytes)
                    throw new Error(`The text is longer than ${maxBytes} bytes`);
                const folder = __addDisposableResource(env_2, createCacheFolder(environment.RUNNER_TEMP), false);
                (0,external_node_fs_.writeFileSync)((0,external_node_path_.join)(folder.path, entryFile), text);
                const isSaved = await run("save", key, folder, AbortSignal.timeout(saveTimeoutMs));
                if (!isSaved)
                    throw new Error("The cache entry was not saved");
            }
            catch (e_2) {
                env_2.error = e_2;
                env_2.hasError = true;
            }
            finally {
                __disposeResources(env_2);
            }
        },
    };
}
/** Reads what a restore wrote. Whoever can write the cache decides what that is. */
function readEntry({ path }) {
    const file = (0,external_node_path_.join)(path, entryFile);
    const status = restoredFile(file);
    if (!status)
        throw new CacheEntryError("The cache entry is not a regular file");
    if (status.size > maxBytes)
        throw new CacheEntryError(`The cache entry is longer than ${maxBytes} bytes`);
    return (0,external_node_fs_.readFileSync)(file, "utf8");
}
/** Returns whether `tar` ran and failed, going by the library's message. */
function isTarError(error) {
    return error instanceof Error && / failed with error: The process /.test(error.message);
}

// EXTERNAL MODULE: ./build/runner-kit/text.js
var runner_kit_text = __webpack_require__(9563);
// EXTERNAL MODULE: ./build/runner-kit/untrusted.js
var untrusted = __webpack_require__(4436);
;// CONCATENATED MODULE: ./build/client/credentials.js

/** Returns the credentials of an API key. */
function keyCredentials(apiKey) {
    return { token: async () => apiKey, redact: (0,redact/* createRedactor */.l)(apiKey) };
}

// EXTERNAL MODULE: ./node_modules/zod/v4/mini/schemas.js + 5 modules
var schemas = __webpack_require__(8395);
;// CONCATENATED MODULE: ./build/action/comments/fork.js

const repository = schemas/* object */.Ikc({ id: schemas/* int */.Whr() });
const fork_event = schemas/* object */.Ikc({
    pull_request: schemas/* object */.Ikc({ head: schemas/* object */.Ikc({ repo: schemas/* nullish */.cl6(repository) }), base: schemas/* object */.Ikc({ repo: repository }) }),
});
/** The events for which GitHub gives a run no secrets if the pull request is from a fork. */
const eventsWithoutSecrets = ["pull_request", "pull_request_review", "pull_request_review_comment"];
/**
 * Returns whether an event is about a pull request from a fork, so that its run gets no secrets. A fork that was deleted
 * is `null`. GitHub's documentation: "Workflows in forked repositories".
 */
function isFromFork(name, readPayload) {
    if (!eventsWithoutSecrets.includes(name))
        return false;
    try {
        const { head, base } = fork_event.parse(readPayload()).pull_request;
        return head.repo?.id !== base.repo.id;
    }
    catch {
        return false;
    }
}

;// CONCATENATED MODULE: ./build/action/changes/add-section.js
/** Where a prompt wants the changes. */
const placeholder = /\{\{\s*changes\s*\}\}/g;
/** Puts a section at the prompt's `{{ changes }}`, else at its end. An empty section leaves nothing there. */
function addSection(prompt, section) {
    if (prompt.search(placeholder) !== -1)
        return prompt.replace(placeholder, () => section);
    return section === "" ? prompt : `${prompt}\n\n${section}`;
}

// EXTERNAL MODULE: ./build/action/mode-ports.js + 2 modules
var mode_ports = __webpack_require__(6566);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __webpack_require__(7598);
;// CONCATENATED MODULE: ./build/action/refresh/hash.js

/** Hashes a text for a cache key: 32 hexadecimal characters. */
function hash(text) {
    return (0,external_node_crypto_.createHash)("sha256").update(text).digest("hex").slice(0, 32);
}

;// CONCATENATED MODULE: ./build/action/refresh/attempt-memory.js




const entry = schemas/* object */.Ikc({
    version: schemas/* literal */.euz(1),
    jobId: schemas/* optional */.lqM(schemas/* string */.YjP().check(schemas/* refine */.YPB(contract/* isUsableJobId */.Xb))),
    sent: schemas/* enum */.k5n(["create", "message"]),
    attempt: schemas/* int */.Whr(),
});
/** Remembers what the attempts of a step started, in the repository's Actions cache. */
class AttemptMemory {
    #connect;
    #attempt;
    /** Of all entries of the step, and of those with this prompt. */
    #stepPrefix;
    #promptPrefix;
    #saves = 0;
    /** @param attempt - `GITHUB_RUN_ATTEMPT` */
    constructor(connect, attempt, identity, settings, task) {
        this.#connect = connect;
        this.#attempt = attempt;
        const { runId, job, step, matrixLeg } = identity;
        const { baseUrl, projectId, session } = settings;
        const jobId = task.kind === "message" ? task.jobId : "";
        const parts = [runId, job, step, matrixLeg, baseUrl.href, projectId, task.kind, jobId, session];
        this.#stepPrefix = `agent-job-${hash(JSON.stringify(parts))}-`;
        this.#promptPrefix = `${this.#stepPrefix}${hash(task.prompt)}-`;
    }
    /** Finds what an earlier attempt started. Never rejects. */
    async find() {
        try {
            const cache = this.#connect();
            const own = await cache.restore(this.#promptPrefix);
            const text = own ?? (await cache.restore(this.#stepPrefix));
            if (text === undefined)
                return { kind: "none" };
            const { jobId, sent, attempt } = parseEntry(text);
            if (own === undefined)
                return { kind: "other-prompt", jobId, attempt };
            return jobId === undefined ? { kind: "pending", attempt } : { kind: "job", jobId, sent, attempt };
        }
        catch (error) {
            return { kind: "unreadable", detail: (0,errors/* messageOf */.bD)(error) };
        }
    }
    /**
     * Saves the job that this attempt started, for later attempts.
     *
     * @param jobId - `undefined` if whether the request was accepted is unknown
     * @throws if it cannot be saved
     */
    async save(sent, jobId) {
        // A key can only be saved once, and a later save of this attempt has to be newer.
        const key = `${this.#promptPrefix}${this.#attempt}-${++this.#saves}`;
        const cache = this.#connect();
        await cache.save(key, JSON.stringify({ version: 1, attempt: this.#attempt, sent, ...(jobId !== undefined && { jobId }) }));
    }
}
/** Parses an entry, which anyone who can write the cache may have written. Throws if it is not an entry of this version. */
function parseEntry(text) {
    try {
        return entry.parse(JSON.parse(text));
    }
    catch {
        throw new Error("the entry is not usable");
    }
}

// EXTERNAL MODULE: ./build/action/pull-request.js
var pull_request = __webpack_require__(8808);
;// CONCATENATED MODULE: ./build/action/refresh/pull-request-state.js


/** The timeout of the request, in milliseconds. */
const requestTimeoutMs = 10_000;
const pullRequestResponse = schemas/* object */.Ikc({ state: schemas/* enum */.k5n(["open", "closed"]), merged: schemas/* optional */.lqM(schemas/* boolean */.zMY()) });
/**
 * Reads the state of a pull request on the runner's own GitHub. Returns `unknown` if it is on another server or cannot be
 * read. GitHub's documentation: "Get a pull request".
 */
async function readPullRequestState(pullRequest, { serverUrl, connectGitHub, signal }) {
    const place = (0,pull_request/* locatePullRequest */.x)(pullRequest, serverUrl);
    if (!place)
        return "unknown";
    try {
        const github = await connectGitHub();
        const parameters = { owner: place.owner, repo: place.repo, pull_number: place.number };
        const limits = { timeoutMs: requestTimeoutMs, signal };
        const response = await github.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", parameters, limits);
        const { state, merged } = pullRequestResponse.parse(response);
        return state === "closed" && merged ? "merged" : state;
    }
    catch {
        return "unknown";
    }
}

// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
;// CONCATENATED MODULE: ./build/action/refresh/abort.js
/** Waits for a promise, or until the signal aborts; then returns `undefined`, and whatever the promise does is ignored. */
async function untilAborted(promise, signal) {
    if (signal.aborted)
        return undefined;
    let onAbort = () => { };
    const aborted = new Promise((resolve) => {
        onAbort = () => resolve(undefined);
        signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
        return await Promise.race([promise, aborted]);
    }
    finally {
        signal.removeEventListener("abort", onAbort);
    }
}

;// CONCATENATED MODULE: ./build/action/refresh/background-saves.js
/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled: the runner does not wait. */
const maxWaitAfterCancelMs = 1500;
/** Saves what a run has sent while it waits for the job, so that the step waits for the cache only at its end. */
class BackgroundSaves {
    #ports;
    #saving;
    #isDone = false;
    constructor(ports) {
        this.#ports = ports;
    }
    /** Whether saving has begun. */
    get hasBegun() {
        return this.#saving !== undefined;
    }
    /** Whether a later attempt will find what this one sent. */
    get isRemembered() {
        return this.#isDone && this.#ports.attempts !== undefined;
    }
    /** Begins to save a job, or that a request was sent whose acceptance, and so whose job, is unknown. */
    begin(sent, jobId) {
        const { attempts, session } = this.#ports;
        if (!attempts && !session)
            return;
        const saves = [attempts?.save(sent, jobId), jobId === undefined ? undefined : session?.save(jobId, undefined)];
        this.#saving = this.#watch(Promise.all(saves));
        void this.#saving.then((isDone) => {
            this.#isDone = isDone;
        });
    }
    /** Saves a job and its pull request for the session, and waits until everything is saved, but only for a short time. */
    async finish(jobId, pullRequest) {
        const { clock, signal, session, onFailure } = this.#ports;
        const before = this.#saving ?? Promise.resolve(true);
        const all = before.then((isDone) => isDone && session && jobId !== "" ? this.#watch(session.save(jobId, pullRequest)) : undefined);
        const settled = new AbortController();
        void all.then(() => settled.abort());
        await (signal.aborted
            ? clock.sleep(maxWaitAfterCancelMs, settled.signal)
            : clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal])));
        if (!settled.signal.aborted)
            onFailure(new Error("the cache service did not respond in time"));
    }
    #watch(saving) {
        return saving.then(() => true, (error) => {
            this.#ports.onFailure(error);
            return false;
        });
    }
}

;// CONCATENATED MODULE: ./build/action/refresh/run-with-memory.js



/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job that an earlier attempt
 * started. It sends the request again only if that job failed, was archived or is not found, which is what a re-run asks
 * for.
 *
 * @param planTasks - returns what to send, or why nothing may be sent. Each task applies only if the job of the one before
 *   it is not found.
 */
async function runWithMemory(planTasks, wait, ports, state) {
    const { attempt, attempts, onEvent } = ports;
    const saves = new BackgroundSaves({ ...ports, onFailure: (error) => onEvent({ kind: "not-saved", error }) });
    const none = { kind: "none" };
    const earlier = attempt > 1 && attempts ? await untilAborted(attempts.find(), ports.signal) : none;
    if (!earlier)
        return { result: action_result/* cancelledBeforeSending */.xX, rerun: "repeats" };
    if (earlier.kind === "job") {
        onEvent({ kind: "resuming", jobId: earlier.jobId, attempt: earlier.attempt });
        const resumed = { kind: "attach", jobId: earlier.jobId, resumes: earlier.sent };
        const result = await resume(resumed, wait, ports, state);
        if (result) {
            // The earlier attempt may have been killed before it saved the job for the session.
            await saves.finish(earlier.jobId, state.pullRequest);
            return { result, task: resumed, rerun: "resumes" };
        }
        state.forgetJob();
    }
    else if (earlier.kind !== "none") {
        return { result: blockedBy(earlier), rerun: "stops" };
    }
    const plan = await planTasks();
    if (!Array.isArray(plan))
        return { result: plan, rerun: "repeats" };
    const [task, result] = await runFirstFound(plan, wait, saves, ports, state);
    // The job of a message in doubt is not remembered: its state would say nothing about the message.
    const isInDoubt = (0,action_result/* acceptanceOf */.BL)(result) === "unknown" && !saves.hasBegun;
    if (isInDoubt)
        saves.begin(task.kind, undefined);
    if (saves.hasBegun)
        await saves.finish(isInDoubt ? "" : state.jobId, state.pullRequest);
    if (!saves.isRemembered)
        return { result, task, rerun: "repeats" };
    return { result, task, rerun: isInDoubt ? "stops" : "resumes" };
}
async function runFirstFound(tasks, wait, saves, { runJob, onEvent }, state) {
    for (const [index, task] of tasks.entries()) {
        const result = await runJob(task, { wait, onJobId: (jobId) => saves.begin(task.kind, jobId) });
        if (!(0,action_result/* isJobNotFound */.tl)(result, state) || index === tasks.length - 1)
            return [task, result];
        if (task.kind === "message")
            onEvent({ kind: "starting-over", jobId: task.jobId, reason: "not found" });
        state.forgetJob();
    }
    throw new Error("no task to run");
}
/**
 * Waits for the job of an earlier attempt; `undefined` if it had already failed, is archived or is not found. After a
 * message the first record may show the state from before it, so only a wait can tell.
 */
async function resume(task, wait, { runJob, onEvent }, state) {
    const result = await runJob(task, { wait: wait && task.resumes === "message" });
    const startOver = (reason) => {
        onEvent({ kind: "starting-over", jobId: task.jobId, reason });
        return undefined;
    };
    if ((0,action_result/* isJobNotFound */.tl)(result, state))
        return startOver("not found");
    const hasChanged = state.timeline.length > 1;
    if (result.kind === "done" && result.status !== "completed" && !hasChanged)
        return startOver(result.status);
    return result.kind === "started" && wait ? runJob(task, { wait }) : result;
}
function blockedBy(earlier) {
    switch (earlier.kind) {
        case "pending":
            return { kind: "blocked", cause: "pending" };
        case "other-prompt":
            return { kind: "blocked", cause: "other-prompt", jobId: earlier.jobId, attempt: earlier.attempt };
        case "unreadable":
            return { kind: "blocked", cause: "memory", detail: earlier.detail };
    }
}

;// CONCATENATED MODULE: ./build/action/refresh/session.js


/** Returns what the session remembers. If that cannot be read, the result says so, and nothing may be sent. */
async function recallSession(memory, signal) {
    const found = await untilAborted(memory.find(), signal);
    if (!found)
        return action_result/* cancelledBeforeSending */.xX;
    return "error" in found ? { kind: "blocked", cause: "session", detail: found.error } : found;
}
/**
 * Decides what a session sends: a follow-up while the job it remembers is active or its pull request is open, otherwise a
 * create. A follow-up comes with the create that replaces it if the job is gone by then.
 *
 * @param jobId - the job that the session remembers; `undefined` if there is none
 */
async function planSession(prompt, jobId, { readJob, readPullRequest, onEvent }, state) {
    const create = { kind: "create", prompt };
    if (jobId === undefined) {
        onEvent({ kind: "first-job" });
        return [create];
    }
    const result = await readJob(jobId);
    const { pullRequest } = state;
    const status = (0,action_result/* isJobNotFound */.tl)(result, state) ? "not found" : statusOf(result);
    if (status === undefined)
        return result;
    state.forgetJob();
    const followUp = [{ kind: "message", jobId, prompt }, create];
    if (status === "active") {
        onEvent({ kind: "job-active", jobId });
        return followUp;
    }
    const startOver = (reason) => {
        onEvent({ kind: "job-over", jobId, reason });
        return [create];
    };
    if (status !== "completed")
        return startOver(status);
    if (!pullRequest)
        return startOver("no pull request");
    const pullRequestState = await readPullRequest(pullRequest);
    onEvent({ kind: "pull-request", jobId, pullRequest, state: pullRequestState });
    return pullRequestState === "merged" || pullRequestState === "closed" ? [create] : followUp;
}
/** Returns the status that a single read of a job found; `undefined` if it could not be read. */
function statusOf(result) {
    if (result.kind === "done")
        return result.status;
    return result.kind === "started" ? "active" : undefined;
}

// EXTERNAL MODULE: ./node_modules/zod/v4/core/api.js + 1 modules
var api = __webpack_require__(3305);
;// CONCATENATED MODULE: ./build/action/refresh/session-memory.js






/** How many pull requests a session remembers. */
const maxPullRequests = 20;
const commit = schemas/* string */.YjP().check(api/* _regex */.Fk(/^[0-9a-f]{40,64}$/));
const session_memory_entry = schemas/* object */.Ikc({
    version: schemas/* literal */.euz(1),
    jobId: schemas/* string */.YjP().check(schemas/* refine */.YPB(contract/* isUsableJobId */.Xb)),
    run: schemas/* string */.YjP(),
    commit: schemas/* optional */.lqM(commit),
    since: schemas/* optional */.lqM(commit),
    pullRequests: schemas/* array */.YOg(schemas/* int */.Whr().check(api/* _positive */.NC())).check(api/* _maxLength */.Eb(maxPullRequests)),
});
/** Remembers the last job of a session across workflow runs, in the repository's Actions cache. */
class SessionMemory {
    #connect;
    #run;
    #prefix;
    #found;
    #saved;
    #saves = 0;
    constructor(connect, run, session, { baseUrl, projectId }) {
        this.#connect = connect;
        this.#run = run;
        this.#prefix = `agent-session-${hash(JSON.stringify([baseUrl.href, projectId, session]))}-`;
    }
    /** Returns what earlier steps saved; `undefined` if that is nothing. Reads it once. Never rejects. */
    find() {
        this.#found ??= this.#read();
        return this.#found;
    }
    /**
     * Returns the commit of the session's last run, not counting this one: a re-run asks for the same changes again.
     * `undefined` if there is none.
     */
    lastCommit({ run, commit, since }) {
        return run === this.#run.id ? since : commit;
    }
    /**
     * Saves the session's job, and its pull request once it is known, unless the session remembers both.
     *
     * @throws if it cannot be saved
     */
    async save(jobId, pullRequest) {
        const found = await this.find();
        if ("error" in found)
            throw new Error(found.error);
        const earlier = this.#saved ?? found.entry;
        const { id: run, attempt, commit } = this.#run;
        const number = this.#numberOf(pullRequest);
        const known = earlier?.pullRequests ?? [];
        const isKnown = number === undefined || known.includes(number);
        if (earlier?.jobId === jobId && earlier.run === run && isKnown)
            return;
        const entry = {
            jobId,
            run,
            commit: commit || undefined,
            since: earlier && this.lastCommit(earlier),
            pullRequests: isKnown ? known : [...known, number].slice(-maxPullRequests),
        };
        const key = `${this.#prefix}${run}-${attempt}-${++this.#saves}`;
        await this.#connect().save(key, JSON.stringify({ version: 1, ...entry }));
        this.#saved = entry;
    }
    async #read() {
        try {
            const text = await this.#connect().restore(this.#prefix);
            return { entry: text === undefined ? undefined : session_memory_parseEntry(text) };
        }
        catch (error) {
            // An entry that cannot be used will not become usable, so the session goes on without it.
            return error instanceof CacheEntryError ? { entry: undefined } : { error: (0,errors/* messageOf */.bD)(error) };
        }
    }
    #numberOf(pullRequest) {
        const { serverUrl, repository } = this.#run;
        const place = pullRequest && (0,pull_request/* locatePullRequest */.x)(pullRequest, serverUrl);
        return place && `${place.owner}/${place.repo}`.toLowerCase() === repository.toLowerCase()
            ? place.number
            : undefined;
    }
}
/** Parses an entry, which anyone who can write the cache may have written; `undefined` if it cannot be used. */
function session_memory_parseEntry(text) {
    try {
        return session_memory_entry.safeParse(JSON.parse(text)).data;
    }
    catch {
        return undefined;
    }
}

// EXTERNAL MODULE: ./build/action/run-job.js + 4 modules
var run_job = __webpack_require__(6863);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var runner_environment = __webpack_require__(767);
;// CONCATENATED MODULE: ./build/action/plain-mode.js










/** Runs the step with the prompt of the workflow, at most once over all attempts of the workflow run. */
async function runPlain(settings, task, ports, state, log) {
    const { environment, clock, signal } = ports;
    if (task.kind === "attach")
        return { result: await (0,run_job/* runJob */.b)({ ...settings, task }, ports, state, log), task };
    const attempt = (0,runner_environment/* runAttempt */.Tm)(environment);
    const identity = {
        runId: environment.GITHUB_RUN_ID ?? "",
        job: environment.GITHUB_JOB ?? "",
        step: environment.GITHUB_ACTION ?? "",
        matrixLeg: settings.matrixLeg,
    };
    const isOffered = hasCacheService(environment);
    const attempts = isOffered && settings.onRerun === "resume"
        ? new AttemptMemory(ports.connectCache, attempt, identity, settings, task)
        : undefined;
    const session = isOffered && settings.session !== ""
        ? new SessionMemory(ports.connectCache, sessionRun(environment, attempt), settings.session, settings)
        : undefined;
    if (attempt > 1 && settings.onRerun === "resume" && !isOffered)
        log.rerun({ kind: "no-cache" }, attempt);
    return runWithMemory(() => planTasks(settings, task, session, ports, state, log), settings.wait, {
        clock,
        signal,
        attempt,
        attempts,
        session,
        runJob: (each, { wait, onJobId }) => (0,run_job/* runJob */.b)({ ...settings, wait, task: each }, (0,run_job/* withJobIdListener */.p)(ports, onJobId), state, log),
        onEvent: (event) => log.rerun(event, attempt),
    }, state);
}
/** Decides what to send: the prompt with what changed, to the session's job or a new one. Otherwise returns why not. */
async function planTasks(settings, task, session, ports, state, log) {
    const { environment, signal } = ports;
    const recalled = session ? await recallSession(session, signal) : { entry: undefined };
    if ("kind" in recalled)
        return recalled;
    const { entry } = recalled;
    const remembered = {
        lastCommit: entry && session?.lastCommit(entry),
        ownPullRequests: entry?.pullRequests ?? [],
    };
    const found = await (0,mode_ports/* findSection */.r)(settings, remembered, ports, state, log);
    if ("kind" in found)
        return found;
    const prompt = settings.changes ? addSection(task.prompt, found.section) : task.prompt;
    if (prompt.trim() === "")
        return { kind: "blocked", cause: "prompt" };
    if (settings.session === "")
        return [{ ...task, prompt }];
    if (!session) {
        log.session({ kind: "no-cache" }, settings.session);
        return [{ kind: "create", prompt }];
    }
    return planSession(prompt, entry?.jobId, {
        readJob: (jobId) => (0,run_job/* runJob */.b)({ ...settings, wait: false, task: { kind: "attach", jobId } }, { ...ports, publishJobId: () => { } }, state, log),
        readPullRequest: async (pullRequest) => {
            if (settings.githubToken === "")
                return "unknown";
            return readPullRequestState(pullRequest, {
                serverUrl: (0,runner_environment/* serverUrl */.Vd)(environment),
                connectGitHub: () => (0,mode_ports/* connect */.N)(settings.githubToken, ports, log),
                signal,
            });
        },
        onEvent: (event) => log.session(event, settings.session),
    }, state);
}
function sessionRun(environment, attempt) {
    const { GITHUB_RUN_ID: id = "", GITHUB_SHA: commit = "", GITHUB_REPOSITORY: repository = "" } = environment;
    return { id, attempt, commit, repository, serverUrl: (0,runner_environment/* serverUrl */.Vd)(environment) };
}

;// CONCATENATED MODULE: ./build/action/execute.js

/** Runs the step in plain or comment mode. Never rejects. */
async function execute({ settings, mode }, ports, state, log) {
    try {
        if (mode.kind === "plain")
            return await runPlain(settings, mode.task, ports, state, log);
        // Loaded here, because it would make every other step start later.
        const { runComment } = await __webpack_require__.e(/* import() */ 403).then(__webpack_require__.bind(__webpack_require__, 8403));
        return await runComment(settings, mode, ports, state, log);
    }
    catch (error) {
        log.debugError(error);
        return { result: { kind: "crashed", error } };
    }
}

;// CONCATENATED MODULE: ./build/action/inputs/mask-secret.js
/**
 * Masks a secret; call it before anything is printed. The runner masks every line of a multi-line secret, so the lines are
 * masked one by one, and lines of less than 8 characters are left out: masking them would garble the log.
 */
function maskSecret(value, toolkit) {
    const secret = value.trim();
    for (const line of secret.split(/[\r\n]/)) {
        if (line !== "" && (line === secret || line.length >= 8))
            toolkit.mask(line);
    }
}

;// CONCATENATED MODULE: ./build/action/inputs/prompt-file.js



/**
 * Reads the prompt from a file in the workspace, as written except for a byte order mark. A path that leaves the
 * workspace, also through a symbolic link, is rejected: if an untrusted branch is checked out, such a link could send
 * any file on the runner to the agent.
 */
function readPromptFile(path, workspace) {
    try {
        const root = (0,external_node_fs_.realpathSync)(workspace);
        const file = (0,external_node_fs_.realpathSync)((0,external_node_path_.resolve)(root, path));
        const fromRoot = (0,external_node_path_.relative)(root, file);
        if (fromRoot === ".." || fromRoot.startsWith(`..${external_node_path_.sep}`) || (0,external_node_path_.isAbsolute)(fromRoot)) {
            return { problem: (0,runner_kit_text/* say */.cv) `must be in the workspace, but ${path} is outside it` };
        }
        // A link in an untrusted branch could point to Git's own files, which may contain the checkout's token.
        if (fromRoot.split(external_node_path_.sep).some((name) => name.toLowerCase() === ".git")) {
            return { problem: (0,runner_kit_text/* say */.cv) `must not be in .git, but ${path} is` };
        }
        if (!(0,external_node_fs_.statSync)(file).isFile())
            return { problem: (0,runner_kit_text/* say */.cv) `must be a file, but ${path} is not` };
        const text = new TextDecoder("utf-8", { fatal: true }).decode((0,external_node_fs_.readFileSync)(file));
        return text.trim() === "" ? { problem: (0,runner_kit_text/* say */.cv) `is empty: ${path} contains no text` } : { text };
    }
    catch (error) {
        return { problem: describe(error, path) };
    }
}
function describe(error, path) {
    if (error.code === "ENOENT")
        return (0,runner_kit_text/* say */.cv) `does not exist: there is no ${path} in the workspace. Check the path, and that the repository is checked out`;
    if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA")
        return (0,runner_kit_text/* say */.cv) `must be UTF-8 text, but ${path} is not`;
    return (0,runner_kit_text/* say */.cv) `cannot be read: ${path} (${error.code ?? error.message})`;
}

// EXTERNAL MODULE: ./build/action/comments/event.js
var comments_event = __webpack_require__(6622);
// EXTERNAL MODULE: ./build/action/comments/prompt-template.js
var prompt_template = __webpack_require__(6205);
// EXTERNAL MODULE: ./build/action/mintlify.js
var mintlify = __webpack_require__(6929);
// EXTERNAL MODULE: ./build/client/protected-url.js
var protected_url = __webpack_require__(6608);
;// CONCATENATED MODULE: ./build/action/changes/paths.js
/**
 * Parses the patterns of `paths`, one a line, with the meaning of `on.push.paths`: the last pattern that matches a path
 * decides, and one that begins with `!` excludes it. Globs of the usual libraries differ in `?`, `+` and `**.js`.
 * GitHub's documentation: "Filter pattern cheat sheet".
 *
 * @returns `undefined` without a pattern
 */
function parsePaths(text) {
    const rules = [];
    const patterns = [];
    for (const [index, line] of text.split(/\r?\n/).entries()) {
        const pattern = line.trim();
        if (pattern === "")
            continue;
        const isNegative = pattern.startsWith("!");
        const expression = toRegExp(isNegative ? pattern.slice(1) : pattern);
        if (typeof expression === "string")
            return { line: index + 1, problem: expression };
        rules.push({ isNegative, expression });
        patterns.push(pattern);
    }
    if (patterns.length === 0)
        return undefined;
    if (rules.every(({ isNegative }) => isNegative)) {
        return { line: 1, problem: "only excludes files; add a pattern without ! before it, such as **" };
    }
    const matches = (path) => {
        const last = rules.findLast(({ expression }) => expression.test(path));
        return last !== undefined && !last.isNegative;
    };
    return { patterns, matches };
}
/** The parts of a pattern, in the order in which they are tried. */
const token = /(?<anyDirectories>(?<=^|\/)(?:\*\*\/)+)|(?<anything>\*{2,})|(?<anyName>\*)|(?<quantifier>[?+])|\[(?<characters>[^\]]*)\]|\\(?<escaped>[\s\S])|(?<literal>[^[\\])|(?<unreadable>[[\\])/gu;
/** Returns what is wrong with the pattern if it cannot be read. */
function toRegExp(pattern) {
    if (pattern === "")
        return "is empty";
    let source = "";
    let isQuantifiable = false;
    for (const { groups = {} } of pattern.matchAll(token)) {
        const { anyDirectories, anything, anyName, quantifier, characters, escaped, literal } = groups;
        if (quantifier !== undefined) {
            if (!isQuantifiable)
                return `has nothing before ${quantifier} to repeat`;
            source += quantifier;
            isQuantifiable = false;
            continue;
        }
        isQuantifiable = characters !== undefined || escaped !== undefined || literal !== undefined;
        if (anyDirectories !== undefined)
            source += "(?:.*/)?";
        else if (anything !== undefined)
            source += ".*";
        else if (anyName !== undefined)
            source += "[^/]*";
        else if (characters !== undefined) {
            const set = characterSet(characters);
            if (set === undefined)
                return `has brackets with something other than letters, digits and ranges of them`;
            source += set;
        }
        else if (escaped !== undefined || literal !== undefined)
            source += RegExp.escape(escaped ?? literal ?? "");
        else
            return groups.unreadable === "[" ? "has a bracket that is not closed" : "ends with a backslash";
    }
    return new RegExp(`^${source}$`, "su");
}
/** GitHub knows ranges only of `a-z`, `A-Z` and `0-9`. Returns `undefined` if the brackets have something else. */
function characterSet(characters) {
    const parts = characters.match(/[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_.-]/g) ?? [];
    const isValid = parts.length > 0 && parts.join("") === characters && parts.every(isRange);
    return isValid ? `[${parts.map((part) => (part.length === 3 ? part : RegExp.escape(part))).join("")}]` : undefined;
}
function isRange(part) {
    if (part.length === 1)
        return true;
    const [first = "", , last = ""] = part;
    return first <= last && [/[a-z]/, /[A-Z]/, /[0-9]/].some((kind) => kind.test(first) && kind.test(last));
}

;// CONCATENATED MODULE: ./build/action/changes/since.js
const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
/** Ten years: longer ones may not be a date any more. */
const maxDurationMs = 3650 * unitMs.d;
/** Parses `changes-since`. Returns `undefined` if it is neither `auto`, nor a duration above 0, nor a possible ref. */
function parseSince(text) {
    if (text === "auto")
        return { kind: "auto" };
    const [, number, unit] = /^(\d+(?:\.\d+)?)([mhdw])$/.exec(text) ?? [];
    if (number !== undefined) {
        const ms = Number(number) * unitMs[unit];
        return ms > 0 && ms <= maxDurationMs ? { kind: "duration", ms } : undefined;
    }
    return isPossibleRef(text) ? { kind: "ref", ref: text } : undefined;
}
/** Git's documentation: `git check-ref-format`. The limit is that of a file name. */
function isPossibleRef(text) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a ref must not contain
    const isForbidden = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.lock(?:\/|$)|(?:^|\/)\.|^[-/]|[/.]$|^@$/;
    return text.length > 0 && text.length <= 255 && !isForbidden.test(text);
}

// EXTERNAL MODULE: ./build/action/comments/permission.js
var permission = __webpack_require__(575);
// EXTERNAL MODULE: ./build/action/outcome.js
var action_outcome = __webpack_require__(491);
;// CONCATENATED MODULE: ./build/action/inputs/rules.js






/** Makes a schema rule from a function that describes the problem with a value, if there is one. */
const rule = (problemWith) => schemas/* check */.z6Y((context) => {
    const message = problemWith(context.value);
    if (message)
        context.issues.push({ code: "custom", message, input: context.value, continue: false });
});
const trueWords = ["true", "True", "TRUE"];
const falseWords = ["false", "False", "FALSE"];
/** A boolean of the YAML 1.2 core schema, as the toolkit's `getBooleanInput` reads it. */
const rules_boolean = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => ([...trueWords, ...falseWords].includes(value) ? undefined : "must be true or false"))), schemas/* transform */.pdi((value) => trueWords.includes(value)));
const positiveDecimal = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => /^\d+(\.\d+)?$/.test(value) && Number(value) > 0 && Number.isFinite(Number(value))
    ? undefined
    : "must be a decimal number greater than 0, such as 5 or 0.5")), schemas/* transform */.pdi(Number));
/** Checks a value that becomes a path segment of the request's URL. */
const pathSegment = rule((value) => {
    if (value === "." || value === "..")
        return `must not be ${value}, which would change the URL of the request`;
    return /\p{Cc}/u.test(value) ? "must not contain control characters" : undefined;
});
function baseUrlProblem(value) {
    if (!URL.canParse(value))
        return "must be an absolute URL, such as https://api.mintlify.com";
    const url = new URL(value);
    if (url.username || url.password || /^[^/]*\/\/[^/]*@/.test(value))
        return "must not contain credentials; the key belongs in api-key";
    if (/[?#]/.test(value))
        return "must not contain a query or a fragment";
    if ((0,protected_url/* isProtectedUrl */.m)(url))
        return undefined;
    return "must begin with https://, because the key would be sent in the clear otherwise (http:// is only for loopback hosts such as localhost)";
}
/** Returns what is wrong with an API key, if anything. Never contains the key. */
function apiKeyProblem(value) {
    if (value === "") {
        return ("is empty. Set it from a secret: api-key: $" +
            "{{ secrets.NAME }}. Check the secret's name. Secrets are always empty in runs for pull requests from forks, " +
            "and runs started by Dependabot only see Dependabot's secrets");
    }
    if (!/^[\x21-\x7e]+$/.test(value)) {
        return "contains a line break, a space or another character that no API key has. Paste the key into the secret again";
    }
    const otherKind = { mint_dsc_: "an assistant key", mint_us_: "an index key" };
    for (const [prefix, kind] of Object.entries(otherKind)) {
        if (value.startsWith(prefix))
            return `is ${kind} (${prefix}…). Agent jobs need an admin key`;
    }
    return undefined;
}
/** A job or project id. */
const identifier = schemas/* string */.YjP().check(pathSegment);
/** `https`, or `http` for a loopback host. A path is kept. */
const baseUrl = schemas/* pipe */.FsL(schemas/* string */.YjP().check(rule(baseUrlProblem)), schemas/* transform */.pdi((value) => new URL(value)));
const authMethods = ["key", "github-oidc"];
/** What authenticates requests to the service: a key, or OIDC tokens of the workflow run. */
const auth = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => authMethods.includes(value) ? undefined : `must be ${authMethods.join(" or ")}`)), schemas/* transform */.pdi((value) => value));
/** Outcomes to fail on; `none` for an empty set. */
const failOn = schemas/* pipe */.FsL(schemas/* string */.YjP().check(rule((value) => {
    const names = listOf(value);
    const known = action_outcome/* failableOutcomes */._M;
    const isValid = value === "none" || (names.length > 0 && names.every((name) => known.includes(name)));
    return isValid ? undefined : `must be a comma-separated list of ${action_outcome/* failableOutcomes */._M.join(", ")}, or only none`;
})), schemas/* transform */.pdi((value) => new Set(action_outcome/* failableOutcomes */._M.filter((outcome) => listOf(value).includes(outcome)))));
function listOf(value) {
    return value.split(",").map((name) => name.trim());
}
/** The minimum repository permission. */
const requiredPermission = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => permission/* permissions */.P.includes(value) ? undefined : `must be one of ${permission/* permissions */.P.join(", ")}`)), schemas/* transform */.pdi((value) => value));
/** Bot logins, in lower case, because GitHub logins are case-insensitive. */
const allowedBots = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => value.includes("*")
    ? "must be a list of logins, such as renovate[bot]; wildcards are not supported"
    : undefined)), schemas/* transform */.pdi((value) => new Set(listOf(value.toLowerCase()).filter(Boolean))));
/** What a re-run does with the job of an earlier attempt. */
const onRerun = schemas/* pipe */.FsL(schemas/* string */.YjP().check(rule((value) => (value === "resume" || value === "new" ? undefined : "must be resume or new"))), schemas/* transform */.pdi((value) => (value === "new" ? "new" : "resume")));
/** In UTF-16 units. */
const maxSessionLength = 100;
/** The name of a session, or empty. */
const sessionName = schemas/* string */.YjP().check(rule((value) => {
    if (value.length > maxSessionLength)
        return `must not be longer than ${maxSessionLength} characters`;
    return /\p{Cc}/u.test(value) ? "must not contain control characters" : undefined;
}));
/** What the prompt says about changes. */
const changesDetail = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => (["none", "list", "diff"].includes(value) ? undefined : "must be none, list or diff"))), schemas/* transform */.pdi((value) => value));
/** Where the range of changes starts. */
const changesSince = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => parseSince(value)
    ? undefined
    : "must be auto, a duration above 0 such as 24h or 7d, or the name of a commit, tag or branch")), schemas/* transform */.pdi((value) => parseSince(value) ?? { kind: "auto" }));
/** Which files count; `undefined` if all do. */
const pathPatterns = schemas/* pipe */.FsL(schemas/* string */.YjP().check(rule((value) => {
    const parsed = parsePaths(value);
    if (!parsed || !("problem" in parsed))
        return undefined;
    return `has a pattern that cannot be read: line ${parsed.line} ${parsed.problem}`;
})), schemas/* transform */.pdi((value) => {
    const parsed = parsePaths(value);
    return parsed && "matches" in parsed ? parsed : undefined;
}));

;// CONCATENATED MODULE: ./build/action/inputs/schema.js






/** Every input of `action.yml` with its default, which also applies to an empty input. */
const inputDefaults = {
    prompt: "",
    "prompt-file": "",
    "job-id": "",
    "project-id": "",
    "api-key": "",
    auth: "key",
    "base-url": "https://api.mintlify.com",
    wait: "true",
    "timeout-minutes": "60",
    "poll-interval-seconds": "5",
    "max-poll-interval-seconds": "15",
    "fail-on": "failed, timed-out",
    summary: "true",
    "on-rerun": "resume",
    session: "",
    changes: "none",
    "changes-since": "auto",
    paths: "",
    "trigger-phrase": "",
    "trigger-label": "",
    "required-permission": "write",
    "allowed-bots": "",
    reply: "true",
    // In action.yml, the runner fills in the defaults of these two: the workflow's own token, and the matrix.
    "github-token": "",
    "matrix-leg": "",
};
const schema = schemas/* object */.Ikc({
    prompt: schemas/* string */.YjP(),
    "prompt-file": schemas/* string */.YjP(),
    "job-id": identifier,
    "project-id": identifier,
    // Checked together with `auth`.
    "api-key": schemas/* string */.YjP(),
    auth: auth,
    "base-url": baseUrl,
    wait: rules_boolean,
    "timeout-minutes": positiveDecimal,
    "poll-interval-seconds": positiveDecimal,
    "max-poll-interval-seconds": positiveDecimal,
    "fail-on": failOn,
    summary: rules_boolean,
    "on-rerun": onRerun,
    session: sessionName,
    changes: changesDetail,
    "changes-since": changesSince,
    paths: pathPatterns,
    "trigger-phrase": schemas/* string */.YjP(),
    "trigger-label": schemas/* string */.YjP(),
    "required-permission": requiredPermission,
    "allowed-bots": allowedBots,
    reply: rules_boolean,
    // Checked where it is needed.
    "github-token": schemas/* string */.YjP(),
    "matrix-leg": schemas/* string */.YjP(),
});
/** Parses all inputs, and returns either typed values or all problems at once. */
function parseInputs(source) {
    const { read, readPromptFile, eventName, isFromFork, canRequestIdTokens } = source;
    const names = Object.keys(inputDefaults);
    const raw = Object.fromEntries(names.map((name) => [name, valueOrDefault(name, read(name))]));
    const parsed = schema.safeParse(raw);
    const file = raw["prompt-file"] ? readPromptFile(raw["prompt-file"]) : undefined;
    const prompt = file && "text" in file ? file.text : raw.prompt;
    const triggers = ["trigger-phrase", "trigger-label"].filter((name) => raw[name] !== "");
    const isComment = (0,comments_event/* isTriggeredBy */.NN)(eventName, triggers);
    const summary = rules_boolean.safeParse(raw.summary).data ?? true;
    const isMissing = raw.auth === "github-oidc" ? !canRequestIdTokens : raw["api-key"] === "";
    // The key is not missing by mistake, and the step must not fail for every pull request from a fork.
    if (isComment && (0,comments_event/* isThreadEvent */.Zn)(eventName) && isMissing && isFromFork()) {
        const skipped = { kind: "skipped", reason: "fork", door: (0,comments_event/* doorOf */.ag)(eventName) };
        return { ok: false, problems: [], skipped, summary };
    }
    const problems = [
        ...projectProblems(raw),
        ...(raw.auth === "github-oidc" ? idTokenProblems(raw, canRequestIdTokens) : keyProblems(raw)),
        ...(parsed.error?.issues ?? []).map((issue) => ({
            input: issue.path[0],
            problem: (0,runner_kit_text/* trusted */.IZ)(issue.message),
        })),
        ...promptProblems(raw, file, { eventName, isComment }),
        ...intervalProblems(raw),
        ...sessionProblems(raw),
        ...changesProblems(raw),
        ...(isComment ? commentProblems(raw, prompt) : []),
        ...(isComment || raw.changes !== "none" ? tokenProblems(raw, isComment) : []),
    ];
    if (!parsed.success || problems.length > 0) {
        return { ok: false, problems, summary };
    }
    const values = parsed.data;
    const settings = {
        projectId: values["project-id"],
        apiKey: values["api-key"],
        auth: values.auth,
        baseUrl: values["base-url"],
        wait: values.wait,
        timeoutMs: values["timeout-minutes"] * 60_000,
        intervals: {
            minMs: values["poll-interval-seconds"] * 1000,
            maxMs: values["max-poll-interval-seconds"] * 1000,
        },
        failOn: values["fail-on"],
        summary: values.summary,
        onRerun: values["on-rerun"],
        session: values.session,
        changes: values.changes === "none"
            ? undefined
            : { since: values["changes-since"], paths: values.paths, withPatches: values.changes === "diff" },
        githubToken: values["github-token"],
        matrixLeg: values["matrix-leg"],
    };
    if (!isComment)
        return { ok: true, settings, mode: { kind: "plain", task: taskOf(values["job-id"], prompt) } };
    return {
        ok: true,
        settings,
        mode: {
            kind: "comment",
            phrase: values["trigger-phrase"],
            label: values["trigger-label"],
            template: prompt === "" ? undefined : prompt,
            jobId: values["job-id"],
            reply: values.reply,
            token: values["github-token"],
            requiredPermission: values["required-permission"],
            allowedBots: values["allowed-bots"],
        },
    };
}
function projectProblems(raw) {
    if (raw["project-id"] !== "")
        return [];
    const baseUrl = URL.parse(raw["base-url"]);
    const problem = baseUrl && (0,mintlify/* isMintlify */.T)(baseUrl)
        ? (0,runner_kit_text/* say */.cv) `is empty. Copy it from the API keys page of the dashboard`
        : (0,runner_kit_text/* say */.cv) `is empty. Set it to the project's identifier in the service`;
    return [{ input: "project-id", problem }];
}
function keyProblems(raw) {
    const problem = apiKeyProblem(raw["api-key"]);
    return problem === undefined ? [] : [{ input: "api-key", problem: (0,runner_kit_text/* trusted */.IZ)(problem) }];
}
function idTokenProblems(raw, canRequestIdTokens) {
    const problems = [];
    if (raw["api-key"] !== "") {
        const problem = (0,runner_kit_text/* say */.cv) `cannot be used together with auth: github-oidc, which takes its place. Remove one of them`;
        problems.push({ input: "api-key", problem });
    }
    const baseUrl = URL.parse(raw["base-url"]);
    if (baseUrl && (0,mintlify/* isMintlify */.T)(baseUrl)) {
        const problem = (0,runner_kit_text/* say */.cv) `must be the address of a service that trusts this repository: with auth: github-oidc, a token is never sent to the default base-url`;
        problems.push({ input: "base-url", problem });
    }
    if (!canRequestIdTokens) {
        const problem = (0,runner_kit_text/* say */.cv) `is github-oidc, but this job may not request a token. Add to the job: permissions: { contents: read, id-token: write }. Permissions that are not named there are none, so name all others that the job needs, too. Runs for pull requests from forks never get a token`;
        problems.push({ input: "auth", problem });
    }
    return problems;
}
function promptProblems(raw, file, { eventName, isComment }) {
    if (raw.prompt && raw["prompt-file"]) {
        return [{ input: "prompt-file", problem: (0,runner_kit_text/* say */.cv) `cannot be used together with prompt` }];
    }
    if (file && "problem" in file)
        return [{ input: "prompt-file", problem: file.problem }];
    if (raw.prompt || file || raw["job-id"] || isComment)
        return [];
    const trigger = raw["trigger-phrase"]
        ? "trigger-phrase only applies to comments, issues and pull requests"
        : raw["trigger-label"] && "trigger-label only applies to issues and pull requests";
    const problem = trigger
        ? (0,runner_kit_text/* say */.cv) `is empty, and ${(0,runner_kit_text/* trusted */.IZ)(trigger)}, not to ${eventName || "other"} events. Set prompt or prompt-file for these, or run the step only on events that it applies to`
        : (0,runner_kit_text/* say */.cv) `is empty. Set prompt or prompt-file, or only job-id to wait for that job`;
    return [{ input: "prompt", problem }];
}
function intervalProblems(raw) {
    const minSeconds = positiveDecimal.safeParse(raw["poll-interval-seconds"]).data ?? 0;
    const maxSeconds = positiveDecimal.safeParse(raw["max-poll-interval-seconds"]).data ?? Number.POSITIVE_INFINITY;
    if (maxSeconds >= minSeconds)
        return [];
    const problem = (0,runner_kit_text/* say */.cv) `is ${maxSeconds}, but must be at least poll-interval-seconds, which is ${minSeconds}`;
    return [{ input: "max-poll-interval-seconds", problem }];
}
function sessionProblems(raw) {
    if (raw.session === "" || raw["job-id"] === "")
        return [];
    return [{ input: "session", problem: (0,runner_kit_text/* say */.cv) `cannot be used together with job-id` }];
}
function changesProblems(raw) {
    if (raw.changes !== "none")
        return [];
    const names = ["changes-since", "paths"].filter((name) => raw[name] !== inputDefaults[name]);
    return names.map((input) => ({ input, problem: (0,runner_kit_text/* say */.cv) `needs changes: list or changes: diff` }));
}
function commentProblems(raw, template) {
    const problems = [];
    const known = (0,prompt_template/* placeholders */.Ft)(raw.changes !== "none");
    const unknown = (0,prompt_template/* unknownPlaceholders */.hX)(template, known);
    if (unknown.length > 0) {
        problems.push({
            input: raw["prompt-file"] ? "prompt-file" : "prompt",
            problem: (0,runner_kit_text/* say */.cv) `uses ${unknown.map((name) => `{{ ${name} }}`).join(", ")}, but the only placeholders are ${(0,runner_kit_text/* trusted */.IZ)(known.join(", "))}`,
        });
    }
    return problems;
}
function tokenProblems(raw, isComment) {
    const user = !isComment ? "changes" : raw["trigger-phrase"] ? "trigger-phrase" : "trigger-label";
    const problem = raw["github-token"] === ""
        ? (0,runner_kit_text/* say */.cv) `is empty, but ${(0,runner_kit_text/* trusted */.IZ)(user)} needs it. Leave it out to use the workflow's own token`
        : (0,runner_kit_text/* say */.cv) `contains characters that no token has`;
    return /^[\x21-\x7e]+$/.test(raw["github-token"]) ? [] : [{ input: "github-token", problem }];
}
/** Trims every value except a prompt, which is sent as written. An empty value means the default. */
function valueOrDefault(name, value) {
    const trimmed = value.trim();
    if (trimmed === "")
        return inputDefaults[name];
    return name === "prompt" ? value : trimmed;
}
function taskOf(jobId, prompt) {
    if (!jobId)
        return { kind: "create", prompt };
    return prompt ? { kind: "message", jobId, prompt } : { kind: "attach", jobId };
}

;// CONCATENATED MODULE: ./build/action/outputs.js
/**
 * Returns every output of `action.yml`; empty if unknown.
 *
 * @param now - monotonic time in milliseconds
 */
function outputsOf(outcome, state, now, skipReason = "") {
    return {
        "job-id": state.jobId,
        status: state.status,
        "pr-link": state.pullRequest?.url ?? "",
        "pr-number": state.pullRequest?.number ?? "",
        outcome,
        "skip-reason": skipReason,
        "job-origin": state.origin,
        "changed-files": state.changes === undefined ? "" : String(state.changes.files.length),
        author: state.author,
        "thread-url": state.threadUrl,
        model: state.model,
        repository: state.repository,
        ref: state.ref,
        "created-at": state.createdAt,
        "archived-at": state.archivedAt,
        "duration-seconds": state.startedAt === undefined ? "" : String(Math.floor(state.elapsedMs(now) / 1000)),
    };
}

// EXTERNAL MODULE: ./build/action/report/changes-text.js
var changes_text = __webpack_require__(7583);
// EXTERNAL MODULE: ./build/action/report/format.js
var format = __webpack_require__(455);
// EXTERNAL MODULE: ./build/action/report/request-failure.js
var request_failure = __webpack_require__(4108);
;// CONCATENATED MODULE: ./build/action/report/log.js








/** The runner shows ten warnings per step; recurring connection problems must leave room for others. */
const maxConnectionWarnings = 5;
const jobOver = {
    failed: "failed",
    archived: "was archived",
    "not found": "was not found",
    "no pull request": "finished without a pull request",
};
/** The log of a run: what people read at 3 a.m. Every line and annotation is escaped here. */
class RunLog {
    #toolkit;
    #isFailing = false;
    #connectionWarnings = 0;
    #address = "";
    #hasWarnedOfStatus = false;
    #pageUrl = "";
    constructor(toolkit) {
        this.#toolkit = toolkit;
    }
    starting({ task, projectId, baseUrl }) {
        this.#address = baseUrl.href;
        const where = `in project ${projectId} at ${baseUrl.href}`;
        if (task.kind === "create")
            this.#line(`Creating an agent job ${where} (prompt of ${(0,format/* size */.Ej)(task.prompt)})`);
        else if (task.kind === "attach")
            this.#line(`Following job ${task.jobId} ${where}`);
        else
            this.#line(`Sending a message to job ${task.jobId} ${where} (prompt of ${(0,format/* size */.Ej)(task.prompt)})`);
    }
    /** The service accepted the create or message. */
    accepted(kind, job, state) {
        this.#recovered();
        this.#line(kind === "create" ? `Created job ${state.jobId}` : `Sent the message to job ${state.jobId}`);
        for (const name of ["status", "model", "repository", "ref"]) {
            if (state[name])
                this.#line(`  ${`${name}:`.padEnd(12)}${(0,untrusted/* excerpt */.Kb)(state[name], 300)}`);
        }
        this.#warnOfUnknownStatus(job.status);
        this.#showPage(state);
    }
    /** Says what a re-run does because of an earlier attempt, and warns if a re-run of this one could not know of it. */
    rerun(event, attempt) {
        switch (event.kind) {
            case "resuming":
                this.#line(`Attempt ${attempt}: attempt ${event.attempt} started job ${event.jobId}; waiting for it`);
                break;
            case "starting-over":
                this.#line(`Job ${event.jobId} ${event.reason === "not found" ? "was not found" : `is ${event.reason}`}; sending the request again`);
                break;
            case "no-cache":
                this.#annotate("notice", "Re-run without a memory", (0,runner_kit_text/* say */.cv) `The runner offers no cache service, so this attempt cannot know what an earlier one started. It sends the request again.`);
                break;
            case "not-saved":
                this.#annotate("warning", "Cannot remember the job", (0,runner_kit_text/* say */.cv) `The job could not be saved in the Actions cache (${(0,errors/* messageOf */.bD)(event.error)}). The job is not affected, but a re-run of this workflow run, or the next run of its session, will not know of it.`);
                break;
        }
    }
    /** Says why a session sends a follow-up or starts a new job. */
    session(event, name) {
        const prefix = `Session ${(0,untrusted/* excerpt */.Kb)(name, 100)}:`;
        switch (event.kind) {
            case "first-job":
                this.#line(`${prefix} no job is remembered, starting one`);
                break;
            case "job-active":
                this.#line(`${prefix} job ${event.jobId} is active, sending a follow-up`);
                break;
            case "job-over":
                this.#line(`${prefix} job ${event.jobId} ${jobOver[event.reason]}, starting a new one`);
                break;
            case "pull-request": {
                const { url, number } = event.pullRequest;
                const pullRequest = number ? `pull request #${number}` : `pull request ${url}`;
                if (event.state === "merged" || event.state === "closed") {
                    this.#line(`${prefix} ${pullRequest} is ${event.state}, starting a new job`);
                    break;
                }
                this.#line(`${prefix} ${pullRequest} is ${event.state === "open" ? "open" : "treated as open"}, sending a follow-up to job ${event.jobId}`);
                if (event.state === "unknown") {
                    this.#annotate("notice", "Cannot read the state of the pull request", (0,runner_kit_text/* say */.cv) `The state of ${url} could not be read, so the session sends a follow-up to its job. To let the action see whether it is merged or closed, give the step a github-token with pull-requests: read for its repository.`);
                }
                break;
            }
            case "no-cache":
                this.#annotate("notice", "Session without a memory", (0,runner_kit_text/* say */.cv) `The runner offers no cache service, so the session cannot remember its job and starts a new one.`);
                break;
        }
    }
    /** Says which changes the prompt is about, or why there is nothing to do. */
    changes(event) {
        switch (event.kind) {
            case "found": {
                const { base, commitCount } = event.changes;
                const size = `${(0,format/* count */.U9)(commitCount, "commit")}, ${(0,changes_text/* describeFiles */.L)(event.changes)}`;
                this.#line(`Changes since ${(0,changes_text/* shortRef */.m)(base)}: ${size} (${event.changes.url})`);
                break;
            }
            case "nothing-new": {
                const { base, paths } = event.changes;
                const where = paths.length === 0 ? "" : ` in ${(0,untrusted/* excerpt */.Kb)(paths.join(", "), 300)}`;
                this.#line(`No changes${where} since ${(0,changes_text/* shortRef */.m)(base)}: nothing to do`);
                break;
            }
            case "nothing-to-compare":
                this.#line(`Changes: the ${event.eventName} event has nothing to compare, so the prompt is sent without any`);
                break;
            case "replaced-start":
                this.#annotate("notice", "Changes of the last day", (0,runner_kit_text/* say */.cv) `Commit ${(0,changes_text/* shortRef */.m)(event.base)}, after which the changes should start, is no longer in the history of the branch (a force-push, or it was deleted). The changes of the last 24 hours are used.`);
                break;
        }
    }
    waiting({ wait, timeoutMs, intervals }, state) {
        const limit = (0,format/* duration */.p0)(timeoutMs);
        const title = wait
            ? `Waiting up to ${limit} for job ${state.jobId} (poll interval ${(0,format/* delay */.cb)(intervals.minMs)} to ${(0,format/* delay */.cb)(intervals.maxMs)} before jitter)`
            : `Reading the state of job ${state.jobId} once; failed requests are retried for up to ${limit}`;
        this.#toolkit.startGroup((0,untrusted/* forLog */.Ig)(title).line);
    }
    waited() {
        this.#toolkit.endGroup();
    }
    /** Prints one line per poll, one warning when polls begin to fail and one line when they succeed again. */
    poll(event, state, elapsedMs) {
        const next = nextPoll(event.nextDelayMs);
        if (event.kind === "poll-failed") {
            const reason = (0,request_failure/* failureReason */.H)(event.error, this.#address);
            this.#line(`${(0,format/* elapsed */.vk)(elapsedMs)}  poll failed${next}: ${(0,runner_kit_text/* plain */.pj)(reason)}`);
            this.#warnOfConnection("Polling is failing", (0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* capitalized */.l2)(reason)}. The job is not affected.`);
            return;
        }
        this.#recovered();
        const stale = event.isStale ? " (may be the status from before the message)" : "";
        this.#line(`${(0,format/* elapsed */.vk)(elapsedMs)}  ${(0,untrusted/* excerpt */.Kb)(event.job.status, 100)}${stale}${next}`);
        this.#warnOfUnknownStatus(event.job.status);
        this.#showPage(state);
    }
    /** A create or message was provably not accepted and will be sent again. */
    retrying(error, delayMs, elapsedMs) {
        const reason = (0,request_failure/* failureReason */.H)(error, this.#address);
        this.#line(`${(0,format/* elapsed */.vk)(elapsedMs)}  not accepted, retrying in ${(0,format/* delay */.cb)(delayMs)}: ${(0,runner_kit_text/* plain */.pj)(reason)}`);
        this.#warnOfConnection("Request not accepted, retrying", (0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* capitalized */.l2)(reason)}. The request started nothing, so it is safe to send it again.`);
    }
    #recovered() {
        if (this.#isFailing)
            this.#line("The service is responding again.");
        this.#isFailing = false;
    }
    warn(title, text) {
        this.#annotate("warning", title, text);
    }
    note(text) {
        this.#line((0,runner_kit_text/* plain */.pj)(text));
    }
    error(title, text) {
        this.#annotate("error", title, text);
    }
    /** Prints one debug line per request; the runner shows it if step debug logging is on. */
    trace({ method, path, durationMs, result }) {
        const end = "error" in result
            ? result.error
            : `${result.status}${result.requestId ? `, request ${(0,untrusted/* excerpt */.Kb)(result.requestId, 100)}` : ""}`;
        this.debug(`${method} ${path}: ${end} (${Math.round(durationMs)} ms)`);
    }
    debug(text) {
        this.#toolkit.debug((0,untrusted/* forLog */.Ig)(text).line);
    }
    /** Prints an unexpected error with its stack, as debug output. */
    debugError(error) {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        for (const line of text.split("\n"))
            this.debug(line);
    }
    /** Prints the last line and one annotation, which says what happened, whether a job is running and what to do. */
    ended(outcome, message, hasPassed, state, elapsedMs) {
        const time = state.startedAt === undefined ? "" : ` after ${(0,format/* duration */.p0)(elapsedMs)}`;
        const link = state.pullRequest ? `: ${state.pullRequest.url}` : "";
        this.#line(`Outcome: ${outcome}${time}${link}`);
        const paragraphs = [message.what, ...(message.points ?? []).map((point) => ["- ", ...point]), message.next];
        const level = hasPassed ? action_outcome/* outcomes */.KI[outcome].level : "error";
        if (level)
            this.#annotate(level, message.title, (0,runner_kit_text/* join */.fj)(paragraphs, "\n"));
        else
            for (const paragraph of paragraphs)
                if (paragraph.length > 0)
                    this.#line((0,runner_kit_text/* plain */.pj)(paragraph));
    }
    /** Prints the address of the job's page, once. */
    #showPage({ pageUrl }) {
        if (pageUrl !== "" && pageUrl !== this.#pageUrl)
            this.#line(`Job page: ${pageUrl}`);
        this.#pageUrl = pageUrl;
    }
    #warnOfConnection(title, text) {
        if (!this.#isFailing && this.#connectionWarnings++ < maxConnectionWarnings)
            this.#annotate("warning", title, text);
        this.#isFailing = true;
    }
    #warnOfUnknownStatus(status) {
        if ((0,contract/* isKnownStatus */.ih)(status) || this.#hasWarnedOfStatus)
            return;
        this.#hasWarnedOfStatus = true;
        this.#annotate("warning", "Unknown status", (0,runner_kit_text/* say */.cv) `The service returned the unknown status ${(0,untrusted/* excerpt */.Kb)(status, 100)} for the job. Treated as active.`);
    }
    #annotate(level, title, text) {
        this.#toolkit.annotate(level, title, (0,untrusted/* forAnnotation */.Jc)(text));
    }
    #line(text) {
        const { line, hasCommand } = (0,untrusted/* forLog */.Ig)(text);
        if (hasCommand)
            this.#toolkit.infoWithoutCommands(line);
        else
            this.#toolkit.info(line);
    }
}
function nextPoll(delayMs) {
    if (delayMs === undefined)
        return "";
    return delayMs === 0 ? ", next poll at once" : `, next poll in ${(0,format/* delay */.cb)(delayMs)}`;
}

// EXTERNAL MODULE: ./build/action/report/reply.js
var reply = __webpack_require__(522);
// EXTERNAL MODULE: ./build/action/report/advice.js
var advice = __webpack_require__(3000);
;// CONCATENATED MODULE: ./build/action/report/comment-text.js





/** Describes why the step starts nothing. That is not an error. */
function describeSkip(result, { state }) {
    if (result.reason !== "nothing-new")
        return describeCommentSkip(result);
    const { base = "", otherFiles = 0 } = state.changes ?? {};
    const others = otherFiles > 0 ? (0,runner_kit_text/* say */.cv) ` ${(0,runner_kit_text/* trusted */.IZ)((0,format/* count */.U9)(otherFiles, "other file"))} changed, which paths leaves out.` : [];
    return {
        title: "Nothing new",
        what: [...(0,runner_kit_text/* say */.cv) `No file that counts has changed since ${(0,changes_text/* shortRef */.m)(base)}. Nothing was started.`, ...others],
        next: [],
    };
}
function describeCommentSkip({ reason, door, handledBy }) {
    const because = (what, next = []) => ({
        title: action_outcome/* outcomes */.KI.skipped.title,
        what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `Nothing was started.`),
        next,
    });
    const { author } = people[door];
    switch (reason) {
        case "no-trigger":
            if (handledBy === undefined)
                return because(noTrigger[door]);
            return because(door === "comment"
                ? (0,runner_kit_text/* say */.cv) `The comment is a part of a review, which the event ${(0,runner_kit_text/* trusted */.IZ)(handledBy)} handles as one request.`
                : (0,runner_kit_text/* say */.cv) `The review is a single comment, which the event ${(0,runner_kit_text/* trusted */.IZ)(handledBy)} handles.`, (0,runner_kit_text/* say */.cv) `If the workflow does not run on ${(0,runner_kit_text/* trusted */.IZ)(handledBy)} yet, add it to the workflow's events.`);
        case "no-instruction":
            return because((0,runner_kit_text/* say */.cv) `The trigger phrase is not followed by an instruction.`);
        case "not-permitted":
            return because((0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* trusted */.IZ)(author)} does not have the required permission.`);
        case "bot":
            return because((0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* trusted */.IZ)(author)} is a bot that is not listed in allowed-bots.`);
        case "edited":
            return because((0,runner_kit_text/* say */.cv) `The ${(0,runner_kit_text/* trusted */.IZ)(door)} was edited, and only new ${(0,runner_kit_text/* trusted */.IZ)(door)}s are handled.`);
        case "command":
            return because((0,runner_kit_text/* say */.cv) `The ${(0,runner_kit_text/* trusted */.IZ)(door)} is a command, which is answered in a reply.`);
        case "fork":
            return because((0,runner_kit_text/* say */.cv) `The pull request is from a fork, and GitHub gives this event no secrets there.`, door === "comment" || door === "review"
                ? (0,runner_kit_text/* say */.cv) `To ask in pull requests from forks, comment in their conversation: issue_comment has secrets.`
                : (0,runner_kit_text/* say */.cv) `Use pull_request_target instead of pull_request: it has secrets, and is safe as long as no step checks out the pull request.`);
    }
}
const noTrigger = {
    comment: (0,runner_kit_text/* say */.cv) `The comment is not new or does not begin with the trigger phrase.`,
    review: (0,runner_kit_text/* say */.cv) `The review is not new, or neither its text nor one of its comments begins with the trigger phrase.`,
    issue: (0,runner_kit_text/* say */.cv) `Only a new issue with the trigger phrase at the start of a line, or the trigger label, asks for a job.`,
    "pull request": (0,runner_kit_text/* say */.cv) `Only a new pull request with the trigger phrase at the start of a line, or the trigger label, asks for a job.`,
    label: (0,runner_kit_text/* say */.cv) `The label that was set is not the trigger label.`,
};
/** Who asks, at the start of a sentence and in the middle of one. */
const people = {
    comment: { author: "The author of the comment", ofAuthor: "of the comment's author" },
    review: { author: "The reviewer", ofAuthor: "of the reviewer" },
    issue: { author: "The author of the issue", ofAuthor: "of the issue's author" },
    "pull request": { author: "The author of the pull request", ofAuthor: "of the pull request's author" },
    label: { author: "The account that set the label", ofAuthor: "of the account that set the label" },
};
/** Describes what the step could not find out before starting something. */
function describeBlocked(result, context) {
    switch (result.cause) {
        case "event":
            return {
                title: "Cannot read the event",
                what: (0,runner_kit_text/* say */.cv) `The payload of the ${result.detail} event cannot be read, so nothing was started.`,
                next: (0,runner_kit_text/* say */.cv) `Report this bug with the log of a run with step debug logging.`,
            };
        case "permission":
            return {
                title: "Cannot check the permission",
                what: (0,runner_kit_text/* say */.cv) `The permission ${(0,runner_kit_text/* trusted */.IZ)(people[result.door].ofAuthor)} cannot be read (${result.detail}), so nothing was started.`,
                next: (0,runner_kit_text/* say */.cv) `Check that github-token can read the repository, then re-run the workflow run.`,
            };
        case "review":
            return {
                title: "Cannot read the review",
                what: (0,runner_kit_text/* say */.cv) `The review cannot be read (${result.detail}), so nothing was started.`,
                next: (0,runner_kit_text/* say */.cv) `Check that github-token can read pull requests, then re-run the workflow run.`,
            };
        case "thread":
            return {
                title: "Cannot read the thread",
                what: (0,runner_kit_text/* say */.cv) `The thread, which says what an earlier attempt of this workflow run started, cannot be read. This run sent nothing; a job may be running.`,
                next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Re-run this workflow run, or see the log of the earlier attempt for the job's id.`, (0,advice/* howToStartAnother */.ZH)(context)),
            };
        case "pending":
            return {
                title: "Job may have been started",
                what: (0,runner_kit_text/* say */.cv) `An earlier attempt of this workflow run ended without knowing whether the service accepted its request, so a job may have been started. This run sent nothing.`,
                next: (0,runner_kit_text/* joinSentences */.DP)((0,advice/* checkService */._x)(context), (0,advice/* howToStartAnother */.ZH)(context)),
            };
        case "memory":
            return {
                title: "Cannot read what an earlier attempt started",
                what: (0,runner_kit_text/* say */.cv) `This is a re-run, and the Actions cache, which says what an earlier attempt of this workflow run started, cannot be read (${result.detail}). This run sent nothing; an earlier attempt may have started a job.`,
                next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Re-run the workflow run.`, (0,advice/* howToStartAnother */.ZH)(context)),
            };
        case "changes":
            return {
                title: "Cannot read what changed",
                what: (0,runner_kit_text/* say */.cv) `GitHub could not be asked what changed (${result.detail}), so nothing was started.`,
                next: (0,runner_kit_text/* say */.cv) `Check changes-since, and that github-token can read the repository (contents: read), then re-run the workflow run.`,
            };
        case "session":
            return {
                title: "Cannot read the session",
                what: (0,runner_kit_text/* say */.cv) `The Actions cache, which says what the last job of the session is, cannot be read (${result.detail}). This run sent nothing.`,
                next: (0,runner_kit_text/* say */.cv) `Re-run the workflow run. To start a new job regardless, run it without session.`,
            };
        case "other-prompt": {
            const job = result.jobId === undefined ? (0,runner_kit_text/* say */.cv) `a job` : (0,runner_kit_text/* say */.cv) `job ${result.jobId}`;
            return {
                title: "Earlier attempt had another prompt",
                what: (0,runner_kit_text/* say */.cv) `Attempt ${result.attempt} of this workflow run sent another prompt, for ${job}. This run sent nothing.`,
                next: (0,runner_kit_text/* joinSentences */.DP)(result.jobId === undefined
                    ? (0,advice/* checkService */._x)(context)
                    : (0,runner_kit_text/* say */.cv) `To wait for that job, run the action with job-id ${result.jobId} and no prompt.`, (0,advice/* howToStartAnother */.ZH)(context)),
            };
        }
        case "time":
            return {
                title: "No time left to start a job",
                what: (0,runner_kit_text/* say */.cv) `GitHub took so long that no time was left to start a job, so nothing was started.`,
                next: (0,runner_kit_text/* say */.cv) `Re-run the workflow run, or raise timeout-minutes.`,
            };
        case "prompt":
            return {
                title: "Empty prompt",
                what: (0,runner_kit_text/* say */.cv) `The template produced an empty prompt, so nothing was started.`,
                next: context.comment
                    ? (0,runner_kit_text/* say */.cv) `Use {{ instruction }} in the template.`
                    : (0,runner_kit_text/* say */.cv) `Add words to the prompt besides {{ changes }}, which is empty if there is nothing to compare.`,
            };
    }
}

;// CONCATENATED MODULE: ./build/action/report/result-text.js







/** Describes a result: what happened, whether a job is running now, and what to do next. */
function describeResult(result, context) {
    switch (result.kind) {
        case "invalid-inputs":
            return {
                title: "Invalid inputs",
                what: (0,runner_kit_text/* say */.cv) `No job was started, because the inputs are invalid:`,
                points: result.problems.map(({ input, problem }) => [`${input} `, ...problem, "."]),
                next: (0,runner_kit_text/* say */.cv) `Correct these inputs in the step's "with" block.`,
            };
        case "done":
            return describeDone(result.status, context);
        case "started":
            return describeStarted(context);
        case "timed-out":
            return describeTimeout(result.lastError, context);
        case "cancelled":
            return describeCancellation(result, context);
        case "submission-failed":
            return describeSubmissionFailure(result.operation, result.error, context);
        case "poll-failed":
            return describePollFailure(result.error, context);
        case "skipped":
            return describeSkip(result, context);
        case "blocked":
            return describeBlocked(result, context);
        case "crashed":
            return {
                title: "Internal error",
                what: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `The action itself failed: ${(0,errors/* messageOf */.bD)(result.error)}.`, runningJob(context)),
                next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Report this bug with the log of a run with step debug logging.`, context.state.jobId ? (0,advice/* howToWait */.nF)(context) : []),
            };
    }
}
function describeDone(status, context) {
    const { jobId, pullRequest, hasInvalidLink } = context.state;
    const newJob = context.rerun === "resumes" ? [] : (0,runner_kit_text/* say */.cv) `To start a new job, run the action with a prompt and no job-id.`;
    const dashboard = (0,advice/* hasDashboard */.HX)(context);
    switch (status) {
        case "completed":
            if (pullRequest) {
                return {
                    title: action_outcome/* outcomes */.KI["pr-created"].title,
                    what: (0,runner_kit_text/* say */.cv) `The agent finished job ${jobId} and opened a pull request.`,
                    next: [],
                };
            }
            if (hasInvalidLink) {
                return {
                    title: action_outcome/* outcomes */.KI["no-changes"].title,
                    what: (0,runner_kit_text/* say */.cv) `The agent finished job ${jobId}, but the service returned an invalid pull request link.`,
                    next: (0,runner_kit_text/* joinSentences */.DP)(dashboard
                        ? (0,runner_kit_text/* say */.cv) `Look for the pull request in the dashboard.`
                        : (0,runner_kit_text/* say */.cv) `Look for the pull request on its platform.`, (0,advice/* howToContinue */.DN)(context)),
                };
            }
            return {
                title: action_outcome/* outcomes */.KI["no-changes"].title,
                what: (0,runner_kit_text/* say */.cv) `The agent finished job ${jobId} without opening a pull request: it changed nothing, or the project publishes without one.`,
                next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `If you expected a pull request, make the prompt more specific.`, (0,advice/* howToContinue */.DN)(context)),
            };
        case "failed":
            return {
                title: action_outcome/* outcomes */.KI.failed.title,
                what: (0,runner_kit_text/* say */.cv) `The agent hit an unrecoverable error in job ${jobId}. The job is no longer running.`,
                next: (0,runner_kit_text/* joinSentences */.DP)(dashboard ? (0,runner_kit_text/* say */.cv) `See the dashboard for the cause.` : [], newJob, (0,advice/* howToContinue */.DN)(context)),
            };
        case "archived":
            return {
                title: action_outcome/* outcomes */.KI.archived.title,
                what: (0,runner_kit_text/* say */.cv) `Job ${jobId} was archived in the service and is no longer running.`,
                next: newJob.length > 0 ? (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `If you still need its work:`, newJob) : [],
            };
    }
}
function describeStarted(context) {
    const { jobId } = context.state;
    if (context.task?.kind === "attach") {
        return { title: "Job is running", what: (0,runner_kit_text/* say */.cv) `Job ${jobId} is still running.`, next: (0,advice/* howToWait */.nF)(context) };
    }
    return {
        title: context.task?.kind === "message" ? "Message sent" : action_outcome/* outcomes */.KI.started.title,
        what: (0,runner_kit_text/* say */.cv) `Job ${jobId} is running, and this step does not wait for it.`,
        next: (0,advice/* howToWait */.nF)(context),
    };
}
function describeTimeout(lastError, context) {
    const { settings, state, task, rerun } = context;
    const limit = (0,runner_kit_text/* trusted */.IZ)((0,format/* duration */.p0)(settings?.timeoutMs ?? 0));
    if (task === undefined && lastError) {
        return {
            title: action_outcome/* outcomes */.KI["timed-out"].title,
            what: (0,runner_kit_text/* say */.cv) `After ${limit}, the state of job ${state.jobId}, the last of the session, could not be read: ${(0,request_failure/* failureReason */.H)(lastError, settings?.baseUrl.href)}. This run sent nothing.`,
            next: (0,runner_kit_text/* say */.cv) `Re-run the workflow run. To start a new job regardless, run it without session.`,
        };
    }
    const isStale = state.status !== "" && state.status !== "active";
    const stale = (0,runner_kit_text/* trusted */.IZ)(isStale ? " (its status was still the one from before the message)" : "");
    const addInput = rerun === "resumes" || task?.kind === "attach"
        ? []
        : (0,runner_kit_text/* say */.cv) `If the workflow has no input for it, add job-id to the inputs of on.workflow_dispatch and job-id: \${{ inputs.job-id }} to the step, with a prompt that is empty when job-id is set.`;
    return {
        title: action_outcome/* outcomes */.KI["timed-out"].title,
        what: lastError
            ? (0,runner_kit_text/* say */.cv) `After ${limit}, the state of job ${state.jobId} could not be read: ${(0,request_failure/* failureReason */.H)(lastError, settings?.baseUrl.href)}. The job may still be running: the timeout does not stop it.`
            : (0,runner_kit_text/* say */.cv) `Job ${state.jobId} was still running after ${limit}${stale}. It keeps running: the timeout does not stop it.`,
        next: (0,runner_kit_text/* joinSentences */.DP)((0,advice/* howToWait */.nF)(context), addInput, (0,advice/* rerunWarning */.lZ)(context), (0,runner_kit_text/* say */.cv) `If jobs often take this long, raise timeout-minutes.`),
    };
}
function describePollFailure(error, context) {
    const { task, state } = context;
    const { what, next } = (0,request_failure/* explainRequestFailure */.Z)("poll", error, context);
    const title = "Polling failed";
    // Without a task, the step was still reading the last job of its session.
    if ((task === undefined || task.kind === "attach") && !state.hasRecord) {
        const isNotFound = error instanceof errors/* HttpError */.j$ && error.status === 404;
        const effect = isNotFound
            ? (0,runner_kit_text/* say */.cv) `This step started nothing.`
            : (0,runner_kit_text/* say */.cv) `This step started nothing. The state of job ${state.jobId} is unknown.`;
        return { title, what: (0,runner_kit_text/* joinSentences */.DP)(what, effect), next };
    }
    return {
        title,
        what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `The state of job ${state.jobId} is unknown; it may still be running.`),
        next: (0,runner_kit_text/* joinSentences */.DP)(next, (0,advice/* rerunWarning */.lZ)(context), (0,advice/* howToWait */.nF)(context)),
    };
}
function describeCancellation({ operation, acceptance }, context) {
    const { title } = action_outcome/* outcomes */.KI.cancelled;
    const { jobId, status } = context.state;
    if (acceptance === "unknown") {
        const what = (0,runner_kit_text/* say */.cv) `The step was cancelled while the request was in flight.`;
        return { ...describeUnknownAcceptance(operation, what, context), title };
    }
    if (operation === "create" && acceptance === "rejected") {
        return {
            title,
            what: (0,runner_kit_text/* say */.cv) `The step was cancelled before the service accepted its request. No job was started.`,
            next: (0,runner_kit_text/* say */.cv) `Run this again to start the job.`,
        };
    }
    if (operation === "message" && acceptance === "rejected") {
        return {
            title,
            what: (0,runner_kit_text/* say */.cv) `The step was cancelled before the service accepted the message. Job ${jobId} did not receive it.`,
            next: (0,runner_kit_text/* say */.cv) `Run this again to send the message.`,
        };
    }
    if (operation === "poll" && status === "") {
        const what = (0,runner_kit_text/* say */.cv) `The step was cancelled before the state of job ${jobId} was read. The job may be running.`;
        return { title, what, next: (0,advice/* howToWait */.nF)(context) };
    }
    if (operation !== "message" && status !== "" && status !== "active") {
        const what = (0,runner_kit_text/* say */.cv) `The step was cancelled. Job ${jobId} had already reached the status ${(0,runner_kit_text/* trusted */.IZ)(status)}.`;
        const isOver = context.rerun === "resumes" && !context.comment && status !== "completed";
        return {
            title,
            what,
            next: isOver ? (0,runner_kit_text/* say */.cv) `To start over, re-run this workflow run.` : (0,advice/* howToWait */.nF)(context, "read its result"),
        };
    }
    return {
        title,
        what: (0,runner_kit_text/* say */.cv) `The step was cancelled, but job ${jobId} keeps running: the service cannot stop a job.`,
        next: (0,runner_kit_text/* joinSentences */.DP)((0,advice/* howToWait */.nF)(context), (0,advice/* rerunWarning */.lZ)(context)),
    };
}
function describeSubmissionFailure(operation, { acceptance, cause }, context) {
    const { what, next } = (0,request_failure/* explainRequestFailure */.Z)(operation, cause, context);
    if (acceptance === "unknown") {
        // Any other advice ends with running it again, which is what must not be done without a look first.
        const hint = cause instanceof errors/* InvalidResponseError */.tF ? next : [];
        return describeUnknownAcceptance(operation, what, context, hint);
    }
    return operation === "create"
        ? { title: "No job was started", what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `No job was started.`), next }
        : {
            title: "Message not accepted",
            what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `The service did not accept the message, so the agent started no work.`),
            next,
        };
}
/** Describes a create or message that the service may have accepted: the one case in which a re-run can do harm. */
function describeUnknownAcceptance(operation, what, context, hint = []) {
    const { jobId } = context.state;
    if (operation !== "create") {
        return {
            title: "Message may have been sent",
            what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `The message may have reached job ${jobId}, which may be running.`),
            next: (0,runner_kit_text/* joinSentences */.DP)(hint, context.rerun === "repeats"
                ? (0,runner_kit_text/* say */.cv) `A re-run of this workflow run may send it a second time.`
                : (0,runner_kit_text/* say */.cv) `A re-run sends nothing.`, (0,advice/* howToWait */.nF)(context), context.rerun === "repeats" ? [] : (0,advice/* howToStartAnother */.ZH)(context)),
        };
    }
    const title = "Job may have been started";
    if (jobId) {
        return {
            title,
            what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `The response contains the id of job ${jobId}, which may be running.`),
            next: (0,runner_kit_text/* joinSentences */.DP)(hint, context.rerun === "repeats" ? (0,runner_kit_text/* say */.cv) `A re-run of this workflow run may start a second job.` : [], (0,advice/* howToWait */.nF)(context)),
        };
    }
    return {
        title,
        what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `A job may have been started, but its id is unknown.`),
        next: context.rerun === "stops"
            ? (0,runner_kit_text/* joinSentences */.DP)(hint, (0,advice/* checkService */._x)(context), (0,runner_kit_text/* say */.cv) `A re-run sends nothing.`, (0,advice/* howToStartAnother */.ZH)(context))
            : (0,runner_kit_text/* joinSentences */.DP)(hint, (0,runner_kit_text/* say */.cv) `Check ${(0,advice/* serviceName */.fe)(context)} before you run this again: a re-run may start a second job.`),
    };
}
function runningJob({ state }) {
    if (state.jobId)
        return (0,runner_kit_text/* say */.cv) `Job ${state.jobId} may be running.`;
    return state.startedAt === undefined ? (0,runner_kit_text/* say */.cv) `No job was started.` : (0,runner_kit_text/* say */.cv) `A job may have been started.`;
}

// EXTERNAL MODULE: ./build/action/report/job-page-link.js
var job_page_link = __webpack_require__(9962);
// EXTERNAL MODULE: ./build/action/report/pull-request-link.js
var pull_request_link = __webpack_require__(6296);
;// CONCATENATED MODULE: ./build/action/report/summary.js







/** How many characters of the prompt are shown: enough to recognize it. */
const promptLimit = 2000;
/** How many rows of the timeline are shown; a job has a handful. */
const timelineLimit = 20;
/**
 * Renders the job summary: GitHub's Markdown, made of HTML blocks in which untrusted text is escaped.
 *
 * @param run - `projectId` is empty and `task` is `undefined` if unknown
 */
function renderSummary(run) {
    const { outcome, message, state, projectId, session, task, elapsedMs } = run;
    const blocks = [
        `<h2>${action_outcome/* outcomes */.KI[outcome].icon} ${(0,untrusted/* forHtml */.B2)(message.title)}</h2>`,
        headline(state, elapsedMs),
        `<p>${(0,untrusted/* textToHtml */.s8)(message.what)}</p>`,
        list(message.points ?? []),
        message.next.length > 0 ? `<p><b>What to do next:</b> ${(0,untrusted/* textToHtml */.s8)(message.next)}</p>` : "",
        details(outcome, state, projectId, session),
        timeline(state.timeline, elapsedMs),
        task && task.kind !== "attach" ? summary_prompt(task.prompt) : "",
    ];
    return `${blocks.filter(Boolean).join("\n\n")}\n`;
}
function headline({ pullRequest, jobId, startedAt, status, pageUrl }, elapsedMs) {
    const parts = [];
    if (pullRequest)
        parts.push(`<b>${(0,pull_request_link/* pullRequestLink */.Z)(pullRequest)}</b>`);
    if (pageUrl !== "")
        parts.push((0,job_page_link/* jobPageLink */.D)(pageUrl));
    if (jobId && startedAt !== undefined)
        parts.push(`${(0,contract/* isTerminal */.Hd)(status) ? "took" : "after"} ${(0,format/* duration */.p0)(elapsedMs)}`);
    return parts.length > 0 ? `<p>${parts.join(" · ")}</p>` : "";
}
function list(points) {
    return points.length > 0 ? `<ul>${points.map((point) => `<li>${(0,untrusted/* textToHtml */.s8)(point)}</li>`).join("")}</ul>` : "";
}
function details(outcome, state, projectId, session) {
    const rows = [
        ["Outcome", outcome],
        ["Job", state.jobId],
        ["Origin", state.origin],
        ["Status", state.status],
        ["Project", projectId],
        ["Session", session],
        ["Repository", state.repository],
        ["Ref", state.ref],
        ["Model", state.model],
        ["Created", state.createdAt],
        ["Archived", state.archivedAt],
    ];
    const cells = rows.filter(([, value]) => value !== "").map(([name, value]) => [`<b>${name}</b>`, (0,untrusted/* code */.aY)(value)]);
    return table(state.changes ? [...cells, ["<b>Changes</b>", changesCell(state.changes)]] : cells);
}
/** Links GitHub's page of the comparison. The URL is made of encoded parts. */
function changesCell(changes) {
    const { base, head, url, commitCount } = changes;
    const link = `<a href="${(0,untrusted/* forHtml */.B2)(url, url.length)}">${(0,untrusted/* code */.aY)(`${(0,changes_text/* shortRef */.m)(base)}...${(0,changes_text/* shortRef */.m)(head)}`)}</a>`;
    return `${link} · ${(0,format/* count */.U9)(commitCount, "commit")}, ${(0,changes_text/* describeFiles */.L)(changes)}`;
}
/** Renders the statuses seen, and for how long each was. */
function timeline(statuses, elapsedMs) {
    if (statuses.length === 0)
        return "";
    const rows = statuses.slice(0, timelineLimit).map(({ status, atMs }, index) => {
        const next = statuses[index + 1];
        const isLast = next === undefined;
        const lasted = isLast && (0,contract/* isTerminal */.Hd)(status) ? "–" : (0,format/* duration */.p0)((next?.atMs ?? elapsedMs) - atMs);
        return [(0,untrusted/* code */.aY)(status), (0,format/* duration */.p0)(atMs), lasted];
    });
    if (statuses.length > timelineLimit)
        rows.push([`and ${statuses.length - timelineLimit} more`, "", ""]);
    return `<h3>Timeline</h3>\n${table(rows, ["Status", "Seen after", "Lasted"])}`;
}
function table(rows, heads = []) {
    const head = heads.length > 0 ? [`<tr>${heads.map((cell) => `<th align="left">${cell}</th>`).join("")}</tr>`] : [];
    const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
    return ["<table>", ...head, ...body, "</table>"].join("\n");
}
function summary_prompt(text) {
    const note = text.length > promptLimit ? ", truncated" : "";
    return `<details><summary>Prompt (${(0,format/* size */.Ej)(text)}${note})</summary>\n<pre>${(0,untrusted/* code */.aY)(text, promptLimit)}</pre>\n</details>`;
}

// EXTERNAL MODULE: ./build/action/run-state.js
var run_state = __webpack_require__(7742);
// EXTERNAL MODULE: ./build/action/runner/event-file.js
var event_file = __webpack_require__(561);
;// CONCATENATED MODULE: ./build/action/main.js

















/** Runs the step and returns whether it passes. Whatever happens, all outputs are set and the log has the outcome. */
async function main(ports) {
    const { toolkit, clock, environment } = ports;
    const log = new RunLog(toolkit);
    const state = new run_state/* RunState */.l();
    for (const name of ["api-key", "github-token"])
        maskSecret(toolkit.input(name), toolkit);
    // If the process is killed before it can report a result, the outcome is an error.
    trySetOutputs(outputsOf("error", state, clock.now()), toolkit);
    if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
        log.warn("TLS certificates are not verified", (0,runner_kit_text/* say */.cv) `NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anyone between the runner and the service can read the API key or token. Remove it, and set NODE_EXTRA_CA_CERTS to the file of a private certificate authority instead.`);
    }
    const { inputs, execution } = await run(ports, state, log);
    const settings = inputs?.ok ? inputs.settings : undefined;
    const wantsSummary = inputs === undefined || (inputs.ok ? inputs.settings.summary : inputs.summary);
    const comment = inputs?.ok && inputs.mode.kind === "comment" ? inputs.mode : undefined;
    const { result, task, rerun = "repeats", finish } = execution;
    const now = clock.now();
    const elapsedMs = state.elapsedMs(now);
    const outcome = (0,action_result/* outcomeOf */.sG)(result, state);
    const hasPassed = (0,action_outcome/* passes */.WE)(outcome, settings?.failOn ?? new Set());
    const message = describeResult(result, { settings, task, state, rerun, comment });
    const skipReason = result.kind === "skipped" ? result.reason : "";
    const outputsError = trySetOutputs(outputsOf(outcome, state, now, skipReason), toolkit);
    log.ended(outcome, message, hasPassed, state, elapsedMs);
    if (outputsError) {
        log.error("Cannot write outputs", (0,runner_kit_text/* say */.cv) `The outputs could not be written, so the step fails: ${outputsError}. The job's id is in the log.`);
    }
    if (wantsSummary) {
        const { projectId = "", session = "" } = settings ?? {};
        await writeSummary(renderSummary({ outcome, message, state, projectId, session, task, elapsedMs }), toolkit, log);
    }
    await finish?.(outcome, (frame) => (0,reply/* renderResult */.C8)({ outcome, message, state, elapsedMs }, frame));
    return hasPassed && !outputsError;
}
/** Parses the inputs and executes the step. Never rejects; `inputs` is `undefined` after a crash. */
async function run(ports, state, log) {
    const { toolkit, environment } = ports;
    try {
        const workspace = environment.GITHUB_WORKSPACE || process.cwd();
        const eventName = environment.GITHUB_EVENT_NAME ?? "";
        const inputs = parseInputs({
            canRequestIdTokens: (0,runner_environment/* canRequestIdTokens */.$3)(environment),
            read: (name) => toolkit.input(name),
            readPromptFile: (path) => readPromptFile(path, workspace),
            eventName,
            isFromFork: () => isFromFork(eventName, () => (0,event_file/* readEventFile */.z)(environment.GITHUB_EVENT_PATH ?? "")),
        });
        if (!inputs.ok) {
            const { problems, skipped } = inputs;
            return { inputs, execution: { result: skipped ?? { kind: "invalid-inputs", problems } } };
        }
        const publishJobId = (jobId) => void trySetOutputs({ "job-id": jobId }, toolkit);
        const credentials = await connectCredentials(inputs.settings, ports, log);
        return { inputs, execution: await execute(inputs, { ...ports, credentials, publishJobId }, state, log) };
    }
    catch (error) {
        log.debugError(error);
        return { inputs: undefined, execution: { result: { kind: "crashed", error } } };
    }
}
/** Returns what authenticates all requests of the step to the service. */
async function connectCredentials({ auth, apiKey, baseUrl }, ports, log) {
    if (auth === "key")
        return keyCredentials(apiKey);
    const { toolkit, connectIdTokens } = ports;
    return connectIdTokens(baseUrl.origin, {
        ...ports,
        mask: (token) => toolkit.mask(token),
        onTrace: (trace) => log.trace(trace),
    });
}
/** Returns an error message if the outputs cannot be written. The log has the job's id in any case. */
function trySetOutputs(outputs, toolkit) {
    try {
        for (const [name, value] of Object.entries(outputs))
            toolkit.setOutput(name, value);
        return undefined;
    }
    catch (error) {
        return String(error);
    }
}
async function writeSummary(markdown, toolkit, log) {
    try {
        await toolkit.writeSummary(markdown);
    }
    catch (error) {
        log.warn("Cannot write the job summary", (0,runner_kit_text/* say */.cv) `The job summary is missing: ${String(error)}.`);
    }
}

// EXTERNAL MODULE: ./node_modules/@actions/core/lib/core.js + 7 modules
var core = __webpack_require__(3838);
;// CONCATENATED MODULE: ./build/action/runner/toolkit.js



const annotations = { notice: core/* notice */.lm, warning: core/* warning */.$e, error: core/* error */.z3 };
/** The real runner, through `@actions/core`. */
const runnerToolkit = {
    input: (name) => core/* getInput */.V4(name, { trimWhitespace: false }),
    setOutput: (name, value) => appendOrRestore(process.env.GITHUB_OUTPUT, () => core/* setOutput */.uH(name, value)),
    mask: (secret) => core/* setSecret */.Pq(secret),
    info: (line) => core/* info */.pq(line),
    infoWithoutCommands: (line) => {
        const token = (0,external_node_crypto_.randomUUID)();
        try {
            core/* info */.pq(`::stop-commands::${token}\n${line}`);
        }
        finally {
            core/* info */.pq(`::${token}::`);
        }
    },
    debug: (line) => core/* debug */.Yz(line),
    annotate: (level, title, text) => annotations[level](text, { title }),
    startGroup: (title) => core/* startGroup */.Oh(title),
    endGroup: () => core/* endGroup */.N4(),
    writeSummary: async (markdown) => {
        await core/* summary */.z.addRaw(markdown, true).write();
    },
};
/** Appends to a file, or restores it: the runner would reject all outputs if one were cut off by a full disk. */
function appendOrRestore(file, append) {
    const size = file ? (0,external_node_fs_.statSync)(file, { throwIfNoEntry: false })?.size : undefined;
    try {
        append();
    }
    catch (error) {
        if (file && size !== undefined)
            (0,external_node_fs_.truncateSync)(file, size);
        throw error;
    }
}

;// CONCATENATED MODULE: ./build/action/start.js







/** Runs the action with the real runner, network and clock, and exits with its exit code. */
async function start(signal) {
    process.on("uncaughtException", reportCrash);
    const hasPassed = await main({
        toolkit: runnerToolkit,
        clock: systemClock,
        random: Math.random,
        connect: (protocol) => (0,transport/* createTransport */.o)(protocol, process.env),
        connectCache: () => connectCache(process.env),
        connectGitHub: async (...address) => (await Promise.all(/* import() */[__webpack_require__.e(119), __webpack_require__.e(239), __webpack_require__.e(371)]).then(__webpack_require__.bind(__webpack_require__, 371))).connectGitHub(...address),
        connectIdTokens: async (...source) => (await __webpack_require__.e(/* import() */ 653).then(__webpack_require__.bind(__webpack_require__, 7653))).connectIdTokens(...source),
        environment: process.env,
        signal,
    });
    // Exit explicitly, because closing sockets would delay the end of the step, but not before stdout is flushed.
    process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
}
function reportCrash(error) {
    const cause = error instanceof Error ? error : new Error(String(error));
    runnerToolkit.debug((0,untrusted/* forLog */.Ig)(cause.stack ?? "").line);
    const text = (0,runner_kit_text/* say */.cv) `The action crashed: ${cause.message}. If the log names a job, it may be running. If the log only says that a job is being created, one may have been started: check the service before you run this again. Report this bug with the log of a run with step debug logging.`;
    runnerToolkit.annotate("error", "Internal error", (0,untrusted/* forAnnotation */.Jc)(text));
    process.exit(1);
}


/***/ }),

/***/ 1323:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  U: () => (/* binding */ createClient),
  x: () => (/* binding */ minTimeLeftMs)
});

// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
;// CONCATENATED MODULE: ./build/client/job-page.js
/** Far longer than any page's address. */
const maxUrlLength = 4096;
/**
 * Returns the address of a job's page for people: the first link of a `Link` header with `rel="alternate"` and
 * `type="text/html"`. It must be on the service's own origin, which is `https` or a loopback host; `undefined` otherwise.
 * RFC 8288, section 3 and appendix B.
 *
 * @param requestUrl - the address that the response came from, which a relative link is relative to
 */
function parseJobPage(header, requestUrl) {
    for (const { target, parameters } of parseLinks(header ?? "")) {
        const relations = (parameters.get("rel") ?? "").toLowerCase().split(/[ \t]+/);
        // With an anchor, the link is about something else.
        if (!relations.includes("alternate") || parameters.has("anchor"))
            continue;
        const url = parameters.get("type")?.toLowerCase() === "text/html" ? checkPage(target, requestUrl) : undefined;
        if (url !== undefined)
            return url;
    }
    return undefined;
}
function checkPage(target, requestUrl) {
    if (/[\s\p{Cc}\\]/u.test(target) || !URL.canParse(target, requestUrl.href))
        return undefined;
    const url = new URL(target, requestUrl);
    const isOwn = url.origin === requestUrl.origin && /^https?:$/.test(url.protocol);
    return isOwn && url.username === "" && url.password === "" && url.href.length <= maxUrlLength ? url.href : undefined;
}
const linkTarget = /[ \t,]*<([^>]*)>/y;
/** `; name`, `; name=value` or `; name="quoted value"`. */
const linkParameter = /[ \t]*;[ \t]*([^ \t=;,"]*)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;,"]*)))?/y;
/** Where a link ends, so that what follows is the next one. */
const linkEnd = /[ \t]*(?:,|$)/y;
/** Parses the links of a header, up to the first one that is malformed. */
function parseLinks(header) {
    const links = [];
    let index = 0;
    const next = (pattern) => {
        pattern.lastIndex = index;
        const match = pattern.exec(header);
        if (match)
            index = pattern.lastIndex;
        return match;
    };
    for (let match = next(linkTarget); match; match = next(linkTarget)) {
        const target = match[1] ?? "";
        const parameters = new Map();
        for (let parameter = next(linkParameter); parameter; parameter = next(linkParameter)) {
            const [, name = "", quoted, token = ""] = parameter;
            const value = quoted === undefined ? token.trim() : quoted.replace(/\\(.)/g, "$1");
            if (!parameters.has(name.toLowerCase()))
                parameters.set(name.toLowerCase(), value);
        }
        if (!next(linkEnd))
            break;
        links.push({ target, parameters });
    }
    return links;
}

;// CONCATENATED MODULE: ./build/client/preference.js
/**
 * Returns the value of `Prefer` that asks the service to hold its response until the job ends, but not longer (RFC 7240,
 * section 4.3).
 *
 * @param seconds - a whole number above 0
 */
function preferWait(seconds) {
    return `wait=${seconds}`;
}
/** Returns whether `Preference-Applied` names `wait`, with or without a value (RFC 7240, section 3). */
function isWaitApplied(preferenceApplied = "") {
    return preferenceApplied.split(",").some((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference));
}

// EXTERNAL MODULE: ./build/client/retry.js
var client_retry = __webpack_require__(1992);
;// CONCATENATED MODULE: ./build/client/retry-after.js
/** A year: effectively never, but still safe to compute with and to display. */
const maxRetryAfterSeconds = 31_536_000;
/** The three date formats that a recipient must accept (RFC 9110, section 5.6.7). `Date.parse` by itself accepts far more. */
const httpDate = /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3): whole seconds above 0, or an HTTP date in the future.
 *
 * @param date - the response's own `Date`. A date in `Retry-After` is compared with it, because the clocks of the runner
 *   and the server may differ.
 * @param wallTimeMs - the runner's time in milliseconds since 1970, if `date` cannot be read
 * @returns the minimum wait in milliseconds; `undefined` for anything else
 */
function parseRetryAfter(value, date, wallTimeMs) {
    const text = value?.trim() ?? "";
    if (/^\d+$/.test(text)) {
        const seconds = Math.min(Number(text), maxRetryAfterSeconds);
        return seconds > 0 ? seconds * 1000 : undefined;
    }
    const sentAt = parseHttpDate(date?.trim() ?? "");
    const waitMs = parseHttpDate(text) - (Number.isNaN(sentAt) ? wallTimeMs : sentAt);
    return waitMs > 0 ? waitMs : undefined;
}
/** Returns milliseconds since 1970, or `NaN`. */
function parseHttpDate(text) {
    if (httpDate.test(text))
        return Date.parse(text);
    return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}

;// CONCATENATED MODULE: ./build/client/salvage-id.js

/** One JSON token: a complete string, punctuation, or anything else up to the next of these. */
const token = /\s*(?:("(?:[^"\\]|\\.)*")|([{}[\]:,])|[^\s"{}[\]:,]+)/gy;
/**
 * Returns the job id from the body of a 2xx response that is not a complete job record, because it was cut off or lacks
 * fields: better than no id if a job was started. Only a top-level `id` counts, wherever it stands in the object.
 *
 * @param redact - applied to the id
 */
function salvageId(body, redact) {
    let depth = 0;
    let lastString;
    let key;
    let id;
    for (const [, string, punctuation] of body.matchAll(token)) {
        const isOpening = punctuation === "{" || punctuation === "[";
        if (depth === 1) {
            const isValue = punctuation === undefined || isOpening;
            // The last value of a repeated `id` counts, as in `JSON.parse`.
            if (isValue && key === "id")
                id = parseString(string);
            if (punctuation === ":")
                key = parseString(lastString);
            if (punctuation === ",")
                key = undefined;
            lastString = string;
        }
        if (isOpening)
            depth++;
        else if (punctuation === "}" || punctuation === "]")
            depth--;
    }
    const redacted = id === undefined ? undefined : redact(id);
    return redacted !== undefined && (0,contract/* isUsableJobId */.Xb)(redacted) ? redacted : undefined;
}
/** Returns the value of a string token; `undefined` without one, or if its escapes are invalid. */
function parseString(literal = "") {
    try {
        return String(JSON.parse(literal));
    }
    catch {
        return undefined;
    }
}

// EXTERNAL MODULE: ./build/client/trace.js
var trace = __webpack_require__(4575);
// EXTERNAL MODULE: ./build/client/transport.js
var client_transport = __webpack_require__(6463);
;// CONCATENATED MODULE: ./build/client/client.js









/** The timeout of one request, in milliseconds, unless less time is left. */
const requestTimeoutMs = 30_000;
/** A create or message is not sent with less time left, in milliseconds: no response could arrive. */
const minTimeLeftMs = 1000;
/** How long failing connections are retried before a create or message is given up, in milliseconds. */
const unreachableLimitMs = 60_000;
/** After an abort, a create in flight gets this long for its response, which contains the id of a running job. */
const createGraceMs = 5000;
/** A message in flight gets less: the id of its job is already known. */
const messageGraceMs = 300;
/** Creates a client for one project. Nothing that it returns or throws contains a token. */
function createClient(options, ports) {
    const { clock, random, onTrace = () => { } } = ports;
    const { credentials } = options;
    const redact = (text) => credentials.redact(text);
    const transport = (0,trace/* traceTransport */.d)(ports.transport, () => clock.now(), (0,trace/* safeTraceListener */.l)(onTrace, redact));
    const jobsPath = `/v2/agent/${encodeURIComponent(options.projectId)}/job`;
    async function request(method, path, limits, { submission, holdSeconds = 0 }) {
        const url = new URL(options.baseUrl.href.replace(/\/+$/, "") + path);
        // A create or message must not be sent so late that no response could arrive.
        const tokenDeadline = limits.deadline - (submission ? minTimeLeftMs : 0);
        const token = await credentials.token({ ...limits, deadline: tokenDeadline });
        const sentAt = clock.now();
        const response = await transport({
            method,
            url,
            headers: {
                accept: "application/json",
                "accept-encoding": "identity",
                authorization: `Bearer ${token}`,
                "user-agent": "agent-job-action",
                ...(submission && { "content-type": "application/json" }),
                ...(holdSeconds > 0 && { prefer: preferWait(holdSeconds) }),
            },
            ...(submission && { body: JSON.stringify({ prompt: submission.prompt }), graceMs: submission.graceMs }),
            timeoutMs: Math.max(0, Math.min(requestTimeoutMs, limits.deadline - clock.now())),
            signal: limits.signal,
        });
        const respondedAt = clock.now();
        const data = (0,contract/* parseBody */.OG)(response.body, redact);
        if (!(0,client_transport/* isSuccess */.X)(response.status))
            throw httpError(response, data, sentAt);
        const job = (0,contract/* parseJob */.JN)(data);
        if (!job)
            throw new errors/* InvalidResponseError */.tF(`HTTP ${response.status} without a job record`, response.body);
        const pageUrl = parseJobPage(response.headers.link, url);
        // A link that contains a token cannot be shown, and would lead nowhere without it.
        const isPageHidden = pageUrl === undefined || redact(pageUrl) !== pageUrl;
        return {
            job: isPageHidden ? job : { ...job, pageUrl },
            sentAt,
            heldMs: holdSeconds > 0 && isWaitApplied(response.headers["preference-applied"]) ? respondedAt - sentAt : 0,
        };
    }
    function httpError(response, data, sentAt) {
        return new errors/* HttpError */.j$({
            status: response.status,
            serviceMessage: (0,contract/* parseErrorMessage */.xI)(data),
            location: redact(response.headers.location ?? ""),
            retryAfterMs: parseRetryAfter(response.headers["retry-after"], response.headers.date, clock.wallTime()),
            sentAt,
        });
    }
    async function submit(send, limits, onRetry) {
        let unreachableSince;
        for (let attempt = 0;; attempt++) {
            const sentAt = clock.now();
            try {
                return (await send()).job;
            }
            catch (error) {
                if (!(0,errors/* isRequestError */.eK)(error))
                    throw error;
                const { acceptance, retry } = (0,client_retry/* classifySubmissionFailure */.V3)(error);
                if (acceptance === "unknown") {
                    // Only a 2xx contains a job's id; the `id` of an error belongs to the error, or to a gateway's trace.
                    const jobId = "body" in error ? salvageId(error.body, redact) : undefined;
                    throw new errors/* SubmissionError */.nx("unknown", error, jobId);
                }
                if (retry === "never" || limits.signal.aborted)
                    throw new errors/* SubmissionError */.nx("rejected", error);
                unreachableSince = retry === "unreachable" ? (unreachableSince ?? sentAt) : undefined;
                const now = clock.now();
                const latest = Math.min(limits.deadline - minTimeLeftMs, unreachableSince === undefined ? Number.POSITIVE_INFINITY : unreachableSince + unreachableLimitMs);
                const minDelayMs = error instanceof errors/* HttpError */.j$ ? (error.retryAfterMs ?? 0) : 0;
                if (now >= latest || now + minDelayMs > latest)
                    throw new errors/* SubmissionError */.nx("rejected", error);
                const delayMs = Math.min(Math.max(minDelayMs, (0,client_retry/* backoffMs */.jo)(attempt, random())), latest - now);
                onRetry({ error, delayMs });
                await clock.sleep(delayMs, limits.signal);
            }
        }
    }
    return {
        createJob: (prompt, limits, onRetry) => submit(() => request("POST", jobsPath, limits, { submission: { prompt, graceMs: createGraceMs } }), limits, onRetry),
        sendMessage: (jobId, prompt, limits, onRetry) => submit(async () => {
            const path = `${jobsPath}/${encodeURIComponent(jobId)}/message`;
            return expectJob(jobId, await request("POST", path, limits, { submission: { prompt, graceMs: messageGraceMs } }));
        }, limits, onRetry),
        getJob: async (jobId, limits, holdSeconds = 0) => expectJob(jobId, await request("GET", `${jobsPath}/${encodeURIComponent(jobId)}`, limits, { holdSeconds })),
    };
}
function expectJob(jobId, reading) {
    if (reading.job.id !== jobId)
        throw new errors/* InvalidResponseError */.tF("it is the record of another job", "");
    return reading;
}


/***/ }),

/***/ 6078:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Hd: () => (/* binding */ isTerminal),
/* harmony export */   JN: () => (/* binding */ parseJob),
/* harmony export */   OG: () => (/* binding */ parseBody),
/* harmony export */   Xb: () => (/* binding */ isUsableJobId),
/* harmony export */   ih: () => (/* binding */ isKnownStatus),
/* harmony export */   xI: () => (/* binding */ parseErrorMessage)
/* harmony export */ });
/* unused harmony export knownStatuses */
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8395);

/** The four states of a job. Specification: "States and transitions". */
const knownStatuses = ["active", "completed", "archived", "failed"];
/** An optional field. A value of the wrong type counts as absent, not as an error. */
const lenientText = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* ["catch"] */ .MfU(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP()), undefined);
/**
 * Returns whether a job id can be used: `.`, `..` and lone surrogates would change or break the path of later requests,
 * and a control character could end a line in a script or log that prints the id.
 */
function isUsableJobId(id) {
    return id !== "" && id !== "." && id !== ".." && id.isWellFormed() && !/\p{Cc}/u.test(id);
}
const jobId = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().check(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .refine */ .YPB(isUsableJobId));
/**
 * An agent job record. Specification: "Agent job". Only `id` and `status` can be relied on, and a status outside the
 * four known ones is kept as received.
 */
const jobRecord = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    id: jobId,
    status: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP(),
    source: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* ["catch"] */ .MfU(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ repository: lenientText, ref: lenientText })), undefined),
    model: lenientText,
    prLink: lenientText,
    createdAt: lenientText,
    archivedAt: lenientText,
});
function isKnownStatus(status) {
    return knownStatuses.includes(status);
}
/** Returns whether polling ends in this state. Specification: "States and transitions". */
function isTerminal(status) {
    return isKnownStatus(status) && status !== "active";
}
/**
 * Parses a response body; returns `undefined` if it is not JSON.
 *
 * @param redact - applied to every string in it
 */
function parseBody(body, redact) {
    try {
        return JSON.parse(body, (_key, value) => (typeof value === "string" ? redact(value) : value));
    }
    catch {
        return undefined;
    }
}
/** Returns the job record in a response, or `undefined` if it is not one. */
function parseJob(data) {
    const record = jobRecord.safeParse(data);
    if (!record.success)
        return undefined;
    const { id, status, source, model, prLink, createdAt, archivedAt } = record.data;
    return {
        id,
        status,
        model: model ?? "",
        repository: source?.repository ?? "",
        ref: source?.ref ?? "",
        prLink: prLink ?? "",
        createdAt: createdAt ?? "",
        archivedAt: archivedAt ?? "",
    };
}
const errorBody = zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ error: zod_mini__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP() });
/** Returns the message of an error body, `{ "error": "…" }`; empty for the HTML or nothing that gateways send. */
function parseErrorMessage(data) {
    return errorBody.safeParse(data).data?.error.trim() ?? "";
}


/***/ }),

/***/ 6695:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Dr: () => (/* binding */ NetworkError),
/* harmony export */   bD: () => (/* binding */ messageOf),
/* harmony export */   eK: () => (/* binding */ isRequestError),
/* harmony export */   gz: () => (/* binding */ TokenError),
/* harmony export */   j$: () => (/* binding */ HttpError),
/* harmony export */   nx: () => (/* binding */ SubmissionError),
/* harmony export */   tF: () => (/* binding */ InvalidResponseError)
/* harmony export */ });
/* unused harmony export AgentJobError */
/** The base class of every error that the client throws on purpose. */
class AgentJobError extends Error {
    name = "AgentJobError";
}
/** Thrown when there is no complete response: no connection, a reset, a timeout, an abort, a body that is too large. */
class NetworkError extends AgentJobError {
    name = "NetworkError";
    phase;
    reason;
    /** The part of the body that arrived, which may contain a job id. Untrusted text. */
    body;
    constructor(message, options) {
        super(message, { cause: options.cause });
        this.phase = options.phase;
        this.reason = options.reason;
        this.body = options.body ?? "";
    }
}
/** Thrown when the service, or a gateway in front of it, answered with a status other than 2xx. */
class HttpError extends AgentJobError {
    name = "HttpError";
    status;
    /** The service's own message, or empty. Untrusted text. */
    serviceMessage;
    /** The target of a redirect, or empty. Untrusted text. */
    location;
    /** The minimum wait from `Retry-After`, in milliseconds; `undefined` if there was none that could be read. */
    retryAfterMs;
    /** Monotonic time when the request was sent. */
    sentAt;
    constructor(response) {
        super(`HTTP ${response.status}`);
        this.status = response.status;
        this.serviceMessage = response.serviceMessage;
        this.location = response.location;
        this.retryAfterMs = response.retryAfterMs;
        this.sentAt = response.sentAt;
    }
}
/** Thrown when a 2xx response contains no job record, or the record of another job. */
class InvalidResponseError extends AgentJobError {
    name = "InvalidResponseError";
    /** The response body. Untrusted text. */
    body;
    constructor(message, body) {
        super(message);
        this.body = body;
    }
}
/** Thrown when there is no token to send with a request, so that the request was not sent. */
class TokenError extends AgentJobError {
    name = "TokenError";
    /** Whether there may be a token later. */
    isTransient;
    constructor(message, isTransient) {
        super(message);
        this.isTransient = isTransient;
    }
}
function isRequestError(error) {
    return (error instanceof NetworkError ||
        error instanceof HttpError ||
        error instanceof InvalidResponseError ||
        error instanceof TokenError);
}
/** Thrown when a create or message has failed for good; `cause` is the last failure. */
class SubmissionError extends AgentJobError {
    name = "SubmissionError";
    acceptance;
    /** The id found in what arrived of the response to a create, if any. Untrusted text. */
    jobId;
    cause;
    constructor(acceptance, cause, jobId) {
        super(cause.message);
        this.acceptance = acceptance;
        this.jobId = jobId;
        this.cause = cause;
    }
}
/** Returns the message of anything that was thrown. Untrusted text. */
function messageOf(error) {
    return error instanceof Error ? error.message : String(error);
}


/***/ }),

/***/ 6608:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   m: () => (/* binding */ isProtectedUrl)
/* harmony export */ });
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Returns whether a secret may be sent to an address: with `https`, or with `http` to a loopback host. */
function isProtectedUrl({ protocol, hostname }) {
    return protocol === "https:" || (protocol === "http:" && loopbackHost.test(hostname));
}


/***/ }),

/***/ 1992:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   KR: () => (/* binding */ isTransientPollFailure),
/* harmony export */   V3: () => (/* binding */ classifySubmissionFailure),
/* harmony export */   jo: () => (/* binding */ backoffMs)
/* harmony export */ });
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);

/**
 * Decides whether a failed create or message may be sent again. A request that the service may have acted on
 * (`acceptance: "unknown"`) is never retried.
 */
function classifySubmissionFailure(error) {
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .NetworkError */ .Dr) {
        if (error.phase !== "connecting")
            return { acceptance: "unknown", retry: "never" };
        const isTransient = error.reason === "network" || error.reason === "timeout";
        return { acceptance: "rejected", retry: isTransient ? "unreachable" : "never" };
    }
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .TokenError */ .gz) {
        return { acceptance: "rejected", retry: error.isTransient ? "unreachable" : "never" };
    }
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$) {
        const { status, retryAfterMs } = error;
        if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
            return { acceptance: "rejected", retry: "throttled" };
        }
        // A status below 300 here is not valid HTTP (1xx, 0), so it says nothing about the request.
        if (status >= 300 && !isTransientStatus(status))
            return { acceptance: "rejected", retry: "never" };
    }
    return { acceptance: "unknown", retry: "never" };
}
/** Returns whether a failed poll may succeed later: anything except a permanent HTTP error or an abort. */
function isTransientPollFailure(error) {
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .NetworkError */ .Dr)
        return error.reason !== "aborted";
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$)
        return error.status === 429 || isTransientStatus(error.status);
    return true;
}
/** With these statuses a gateway may have given up while the service still acts on the request. */
function isTransientStatus(status) {
    return status === 408 || status >= 500;
}
/**
 * Returns the delay before a retry, in milliseconds: full jitter on exponential backoff from 1 s to 30 s.
 *
 * @param attempt - retries so far
 * @param random - a number in [0, 1)
 */
function backoffMs(attempt, random) {
    return random * Math.min(30_000, 1000 * 2 ** Math.min(attempt, 10));
}


/***/ }),

/***/ 4575:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   d: () => (/* binding */ traceTransport),
/* harmony export */   l: () => (/* binding */ safeTraceListener)
/* harmony export */ });
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);

/** Wraps a transport so that it reports every request once it is over. */
function traceTransport(transport, now, onTrace) {
    return async (request) => {
        const startedAt = now();
        const report = (result) => onTrace({ method: request.method, path: request.url.pathname, durationMs: now() - startedAt, result });
        try {
            const response = await transport(request);
            report({ status: response.status, requestId: response.headers["x-request-id"] ?? "" });
            return response;
        }
        catch (error) {
            report({ error: (0,_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error) });
            throw error;
        }
    };
}
/**
 * Wraps a trace listener so that it never sees the key and never throws. It runs between a response, which may contain
 * the id of a job that was started, and the code that waits for that response.
 */
function safeTraceListener(onTrace, redact) {
    return ({ path, result, ...rest }) => {
        const redacted = "error" in result ? { error: redact(result.error) } : { ...result, requestId: redact(result.requestId) };
        try {
            onTrace({ ...rest, path: redact(path), result: redacted });
        }
        catch {
            // A lost trace is better than a lost response.
        }
    };
}


/***/ }),

/***/ 6463:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   X: () => (/* binding */ isSuccess),
/* harmony export */   o: () => (/* binding */ createTransport)
/* harmony export */ });
/* harmony import */ var node_http__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7067);
/* harmony import */ var node_https__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(4708);
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6695);



/** A job record has a few hundred bytes. */
const maxBodyBytes = 1024 * 1024;
/** How long to wait for the body of a response that is not 2xx, in milliseconds: its status says enough. */
const errorBodyTimeoutMs = 2000;
const cancelled = "the step was cancelled";
/**
 * Creates a transport on `node:http(s)`. Unlike `fetch`, it knows how far a request got before it failed, and so whether
 * the service can have seen it. `https` honors the proxy variables; plain `http`, which is only for loopback hosts,
 * does not, so that the key never reaches a proxy in the clear.
 *
 * @param protocol - `https:` or `http:`
 * @throws NetworkError if the proxy address in the environment is invalid
 */
function createTransport(protocol, environment) {
    const client = protocol === "https:" ? node_https__WEBPACK_IMPORTED_MODULE_1__ : node_http__WEBPACK_IMPORTED_MODULE_0__;
    const agent = createAgent(protocol, environment);
    return (request) => {
        // The server may already have closed a kept-alive connection, and a create sent into it would have an unknown
        // outcome. So a POST always uses a new connection.
        if (request.method === "POST")
            agent.destroy();
        return send(client, agent, request);
    };
}
function createAgent(protocol, environment) {
    if (protocol !== "https:")
        return new node_http__WEBPACK_IMPORTED_MODULE_0__.Agent({ keepAlive: true });
    const proxyEnv = { ...environment, https_proxy: proxyAddress(environment), HTTPS_PROXY: undefined };
    try {
        return new node_https__WEBPACK_IMPORTED_MODULE_1__.Agent({ keepAlive: true, proxyEnv });
    }
    catch {
        // Node's error quotes the address, which may contain a password, so it is not passed on as the cause.
        throw invalidProxy("the proxy address in https_proxy is not a valid URL");
    }
}
/**
 * Returns the address of the proxy for `https`, in the form that Node reads; `undefined` without a proxy. Like curl, it
 * accepts an address without a scheme and a scheme in any case. Node would silently ignore these.
 *
 * @throws NetworkError if it is a proxy of another kind
 */
function proxyAddress(environment) {
    const address = (environment.https_proxy || environment.HTTPS_PROXY || "").trim();
    if (address === "")
        return undefined;
    const [prefix = "", scheme = "http"] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
    if (!/^https?$/i.test(scheme)) {
        throw invalidProxy(`https_proxy names a ${scheme.toLowerCase()} proxy, but only http and https proxies are supported`);
    }
    return `${scheme.toLowerCase()}://${address.slice(prefix.length)}`;
}
function invalidProxy(message) {
    return new _errors_js__WEBPACK_IMPORTED_MODULE_2__/* .NetworkError */ .Dr(message, { phase: "connecting", reason: "network" });
}
function send(client, agent, request) {
    return new Promise((resolve, reject) => {
        let phase = "connecting";
        let incoming;
        let errorBodyTimer;
        let graceTimer;
        const chunks = [];
        /**
         * Ends the request. What has arrived may be a usable response; only otherwise is this an error. Calling it again
         * changes nothing, because the promise is settled.
         */
        const conclude = (reason, message, cause) => {
            clearTimeout(timer);
            clearTimeout(errorBodyTimer);
            clearTimeout(graceTimer);
            request.signal.removeEventListener("abort", onAbort);
            if (incoming)
                drain(incoming);
            const body = new TextDecoder().decode(Buffer.concat(chunks));
            const status = incoming?.statusCode ?? 0;
            if (incoming && (incoming.complete || !isSuccess(status))) {
                resolve({ status, headers: singleValues(incoming.headers), body });
            }
            else {
                reject(new _errors_js__WEBPACK_IMPORTED_MODULE_2__/* .NetworkError */ .Dr(message, { phase, reason, cause, body }));
            }
            outgoing.destroy();
        };
        const onError = (error) => {
            if (isCertificateError(error))
                conclude("certificate", error.message, error);
            else
                conclude("network", describe(error), error);
        };
        /**
         * Lets what has already arrived be read before a timer ends the request. If the process was paused, its timers run
         * before its sockets are read; `setImmediate` runs after both.
         */
        const afterPendingReads = (end) => () => void setImmediate(end);
        const onTimeout = afterPendingReads(() => {
            conclude("timeout", `no complete response within ${Math.ceil(request.timeoutMs / 1000)} s`);
        });
        const onAbort = () => {
            const end = () => conclude("aborted", cancelled);
            if (phase === "connecting" || !request.graceMs)
                end();
            else
                graceTimer = setTimeout(afterPendingReads(end), request.graceMs);
        };
        /** Node closes some connections without an error, for example after a `101` response. */
        const onClose = () => conclude("network", "the connection was closed before a complete response arrived");
        const onResponse = (response) => {
            incoming = response;
            phase = "reading";
            if (!isSuccess(response.statusCode ?? 0))
                errorBodyTimer = setTimeout(onTimeout, errorBodyTimeoutMs);
            let bytes = 0;
            response.on("data", (chunk) => {
                bytes += chunk.length;
                if (bytes > maxBodyBytes)
                    conclude("network", "the response is larger than 1 MiB");
                else
                    chunks.push(chunk);
            });
            // If the service responds before it has read the whole request, "close" comes only much later.
            response.on("end", onClose);
        };
        if (request.signal.aborted) {
            reject(new _errors_js__WEBPACK_IMPORTED_MODULE_2__/* .NetworkError */ .Dr(cancelled, { phase, reason: "aborted" }));
            return;
        }
        const outgoing = client.request(request.url, { method: request.method, agent, headers: headersOf(request) });
        const timer = setTimeout(onTimeout, request.timeoutMs);
        outgoing.on("socket", (socket) => {
            onceConnected(socket, () => {
                phase = "sending";
            });
        });
        outgoing.on("finish", () => {
            if (phase === "sending")
                phase = "waiting";
        });
        outgoing.on("response", onResponse);
        outgoing.on("error", onError);
        outgoing.on("close", onClose);
        request.signal.addEventListener("abort", onAbort);
        outgoing.end(request.body);
    });
}
/** Reads what has arrived but is still buffered in the stream. Each chunk goes to the "data" listener. */
function drain(response) {
    let chunk;
    do
        chunk = response.read();
    while (chunk !== null);
}
/**
 * Calls `then` once the connection is established: the first byte of a request is not sent before that, and with TLS
 * not before the server's certificate is trusted. A reused or tunneled socket is already connected; one whose
 * connect() failed immediately is already destroyed, and never connects.
 */
function onceConnected(socket, then) {
    if (socket.destroyed)
        return;
    if (socket.connecting || socket.secureConnecting)
        socket.once(socket.encrypted ? "secureConnect" : "connect", then);
    else
        then();
}
function headersOf(request) {
    if (request.body === undefined)
        return { ...request.headers };
    return { ...request.headers, "content-length": Buffer.byteLength(request.body) };
}
/** Returns true for any 2xx: the specification leaves the exact code open. */
function isSuccess(status) {
    return status >= 200 && status < 300;
}
/** OpenSSL's verification errors and Node's host name check, by the codes that Node documents under "TLS". */
function isCertificateError(error) {
    return /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|UNSPECIFIED|CRL_|ERROR_IN_C|PATH_LENGTH)/.test(error.code ?? "");
}
/**
 * Describes a connection error in one line. If a host name has several addresses, Node wraps their errors into one
 * without a message; OpenSSL's messages contain half a stack trace.
 */
function describe(error) {
    if (error instanceof AggregateError)
        return error.errors.map((each) => each.message).join("; ");
    const [, reason] = /:SSL routines:[^:]*:([^:]+):/.exec(error.message) ?? [];
    if (reason !== undefined)
        return `TLS failed: ${reason}`;
    return error.message || error.code || "the connection failed";
}
function singleValues(headers) {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]));
}


/***/ }),

/***/ 5593:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   l: () => (/* binding */ createRedactor)
/* harmony export */ });
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


/***/ }),

/***/ 9563:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   DP: () => (/* binding */ joinSentences),
/* harmony export */   IZ: () => (/* binding */ trusted),
/* harmony export */   cv: () => (/* binding */ say),
/* harmony export */   fj: () => (/* binding */ join),
/* harmony export */   l2: () => (/* binding */ capitalized),
/* harmony export */   pj: () => (/* binding */ plain)
/* harmony export */ });
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


/***/ }),

/***/ 4436:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   B2: () => (/* binding */ forHtml),
/* harmony export */   Ig: () => (/* binding */ forLog),
/* harmony export */   Jc: () => (/* binding */ forAnnotation),
/* harmony export */   Kb: () => (/* binding */ excerpt),
/* harmony export */   aY: () => (/* binding */ code),
/* harmony export */   s8: () => (/* binding */ textToHtml)
/* harmony export */ });
/**
 * The only place that escapes untrusted text (from the service, a prompt, an input, a file) for where it is shown.
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
/**
 * Escapes a text for a block of HTML in GitHub's Markdown. The result is one line without markup or Markdown (which is
 * off inside such a block), and cannot end the block. GitHub still links mentions and addresses in it: see {@link code}.
 *
 * @param limit - shown UTF-16 units at most
 */
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


/***/ })

};
