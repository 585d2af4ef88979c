export const id = 124;
export const ids = [124];
export const modules = {

/***/ 6622:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   NN: () => (/* binding */ isTriggeredBy),
/* harmony export */   Ur: () => (/* binding */ triggerKindOf),
/* harmony export */   Zn: () => (/* binding */ isThreadEvent)
/* harmony export */ });
/* unused harmony export threadEvents */
/** The kind of thing that asks for a job by an event, unless a label does, and the inputs that make it ask. */
const events = {
    issue_comment: { triggerKind: "comment", inputs: ["trigger-phrase"] },
    pull_request_review_comment: { triggerKind: "comment", inputs: ["trigger-phrase"] },
    pull_request_review: { triggerKind: "review", inputs: ["trigger-phrase"] },
    issues: { triggerKind: "issue", inputs: ["trigger-phrase", "trigger-label"] },
    pull_request: { triggerKind: "pull request", inputs: ["trigger-phrase", "trigger-label"] },
    pull_request_target: { triggerKind: "pull request", inputs: ["trigger-phrase", "trigger-label"] },
};
const threadEvents = Object.keys(events);
function isThreadEvent(name) {
    return Object.hasOwn(events, name);
}
/** Returns the kind of thing that asks for a job by an event, unless a label does. */
function triggerKindOf(name) {
    return events[name].triggerKind;
}
/** Returns whether an input that is set turns comment mode on for an event. */
function isTriggeredBy(name, inputs) {
    return isThreadEvent(name) && inputs.some((input) => events[name].inputs.includes(input));
}


/***/ }),

/***/ 575:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   P: () => (/* binding */ permissions)
/* harmony export */ });
/** Repository permissions, in ascending order. GitHub's documentation: "Repository roles". */
const permissions = ["read", "triage", "write", "maintain", "admin"];


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
/** Returns the template that applies if the workflow has none: the instruction and its place. */
function defaultTemplate({ subject, position, reviewUrl }) {
    const place = position ? `\nFile: {{ path }}${position.line === undefined ? "" : ", line {{ line }}"}` : "";
    const review = reviewUrl === undefined ? "" : "\nReview: {{ review }}";
    return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}, "{{ title }}"\n{{ url }}${place}${review}`;
}
function isPlaceholder(name) {
    return placeholders(true).includes(name);
}


/***/ }),

/***/ 4501:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  u: () => (/* binding */ canBeAsked),
  U: () => (/* binding */ connectService)
});

// EXTERNAL MODULE: ./build/runner-kit/transport.js
var runner_kit_transport = __webpack_require__(6903);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
;// CONCATENATED MODULE: ./build/client/idempotency-key.js
/** Returns the value of `Idempotency-Key`, a string. IETF draft "The Idempotency-Key HTTP Header Field"; RFC 9651, section 3.3.3. */
function formatIdempotencyKey({ step, request }) {
    return `"${step}.${request}"`;
}
/** Returns whether `Idempotent-Replayed` says that the service had received the request before. */
function isReplayed(header = "") {
    return header.trim().toLowerCase() === "true";
}

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
/** The end of a link, after which the next one may follow. */
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

;// CONCATENATED MODULE: ./build/client/retry-after.js
/** A year: effectively never, but still safe to compute with and to display. */
const maxRetryAfterMs = 31_536_000_000;
/** The three date formats that a recipient must accept (RFC 9110, section 5.6.7). `Date.parse` by itself accepts far more. */
const httpDate = /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3): whole seconds above 0, or an HTTP date in the future.
 *
 * @param date - the response's own `Date`. A date in `Retry-After` is compared with it, because the clocks of the runner
 *   and the server may differ.
 * @param wallTimeMs - the runner's time in milliseconds since 1970, if `date` cannot be read
 * @returns the minimum wait in milliseconds, at most a year; `undefined` for anything else
 */
function parseRetryAfter(value, date, wallTimeMs) {
    const text = value?.trim() ?? "";
    const sentAt = parseHttpDate(date?.trim() ?? "");
    const waitMs = /^\d+$/.test(text)
        ? Number(text) * 1000
        : parseHttpDate(text) - (Number.isNaN(sentAt) ? wallTimeMs : sentAt);
    return waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : undefined;
}
/** Returns milliseconds since 1970, or `NaN`. */
function parseHttpDate(text) {
    if (httpDate.test(text))
        return Date.parse(text);
    return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}

// EXTERNAL MODULE: ./build/client/step-lookup.js
var step_lookup = __webpack_require__(1021);
// EXTERNAL MODULE: ./build/client/submit.js + 1 modules
var client_submit = __webpack_require__(9099);
// EXTERNAL MODULE: ./build/client/trace.js
var trace = __webpack_require__(4575);
;// CONCATENATED MODULE: ./build/client/client.js










/** The timeout of one request, in milliseconds, unless less time is left. */
const requestTimeoutMs = 30_000;
/** After an abort, a create or message in flight gets this long for its response, which says whether it was accepted. */
const submissionGraceMs = 4000;
/** The longest answer to the question what was sent under a step that is waited for, in milliseconds. */
const lookupTimeoutMs = 10_000;
/** Creates a client for one project. Nothing that it returns or throws contains a token. */
function createClient(options, ports) {
    const { clock, random, onTrace = () => { } } = ports;
    const { credentials } = options;
    const redact = (text) => credentials.redact(text);
    const transport = (0,trace/* traceTransport */.d)(ports.transport, () => clock.now(), (0,trace/* safeTraceListener */.l)(onTrace, redact));
    const jobsPath = `/v2/agent/${encodeURIComponent(options.projectId)}/job`;
    async function send(method, path, limits, { submission, key, holdSeconds = 0, timeoutMs = requestTimeoutMs }) {
        const url = new URL(options.baseUrl.href.replace(/\/+$/, "") + path);
        // A create or message must not be sent so late that no response could arrive.
        const tokenDeadline = limits.deadline - (submission ? client_submit/* minTimeLeftMs */.x3 : 0);
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
                ...(key && { "idempotency-key": formatIdempotencyKey(key) }),
                ...(holdSeconds > 0 && { prefer: preferWait(holdSeconds) }),
            },
            ...(submission && {
                body: JSON.stringify({ prompt: submission.prompt, base: submission.base }),
                graceMs: submissionGraceMs,
            }),
            timeoutMs: Math.max(0, Math.min(timeoutMs, limits.deadline - clock.now())),
            signal: limits.signal,
        });
        const respondedAt = clock.now();
        const data = (0,contract/* parseBody */.OG)(response.body, redact);
        if (!(0,runner_kit_transport/* isSuccess */.oJ)(response.status))
            throw httpError(response, data, sentAt);
        return { response, data, url, sentAt, respondedAt };
    }
    /** Sends a request that is answered with a job record. */
    async function request(method, path, limits, requestOptions) {
        const { holdSeconds = 0 } = requestOptions;
        const { response, data, url, sentAt, respondedAt } = await send(method, path, limits, requestOptions);
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
            isReplayed: isReplayed(response.headers["idempotent-replayed"]),
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
    async function lookUpStep(key, limits) {
        if (!options.canBeAsked)
            return undefined;
        const path = `${jobsPath}?step=${encodeURIComponent(key.step)}`;
        try {
            // The key goes with the question, so that the service can say that something on the way removes it.
            const { response, data } = await send("GET", path, limits, { key, timeoutMs: lookupTimeoutMs });
            const announcement = (0,step_lookup/* parseAnnouncement */.$g)(data, key.step);
            if (announcement === "unusable")
                throw new errors/* InvalidResponseError */.tF("it announces nothing", response.body);
            return announcement === "keyless" ? undefined : announcement;
        }
        catch (error) {
            if (error instanceof errors/* HttpError */.j$ && [404, 405, 501].includes(error.status))
                return undefined;
            throw error;
        }
    }
    async function submitTo(path, submission, limits, onRetry, { check = () => { }, onJobId = () => { }, } = {}) {
        const { key } = submission;
        const post = async () => {
            const reading = await request("POST", path, limits, { submission, key });
            check(reading);
            return reading;
        };
        const ask = () => lookUpStep(key, limits);
        const { accepted, wasInDoubt } = await (0,client_submit/* submit */.tA)(post, limits, { clock, random, redact, ask, onJobId }, onRetry);
        return { job: accepted.job, isReplay: accepted.isReplayed && !wasInDoubt };
    }
    return {
        lookUpStep,
        stopTurn: async (jobId, turnId, limits) => {
            const path = `${jobsPath}/${encodeURIComponent(jobId)}/turn/${encodeURIComponent(turnId)}/stop`;
            const { response, data } = await send("POST", path, limits, { timeoutMs: lookupTimeoutMs });
            if (response.status !== 200)
                return undefined;
            const status = (0,step_lookup/* parseTurnStatus */.D7)(data);
            if (status === undefined)
                throw new errors/* InvalidResponseError */.tF("it has no status of a turn", response.body);
            return status;
        },
        createJob: (submission, limits, onRetry, onJobId) => submitTo(jobsPath, submission, limits, onRetry, { onJobId }),
        sendMessage: (jobId, submission, limits, onRetry) => submitTo(`${jobsPath}/${encodeURIComponent(jobId)}/message`, submission, limits, onRetry, {
            check: (reading) => expectJob(jobId, reading),
        }),
        getJob: async (jobId, limits, holdSeconds = 0) => expectJob(jobId, await request("GET", `${jobsPath}/${encodeURIComponent(jobId)}`, limits, { holdSeconds })),
    };
}
function expectJob(jobId, reading) {
    if (reading.job.id !== jobId)
        throw new errors/* InvalidResponseError */.tF("it is the record of another job", "");
    return reading;
}

// EXTERNAL MODULE: ./build/action/mintlify.js
var mintlify = __webpack_require__(6929);
;// CONCATENATED MODULE: ./build/action/connect-service.js


/** Connects to the service of a run. Only a service that is not the default one is asked what it offers. */
function connectService(run) {
    const { settings, ports, credentials, log } = run;
    const { baseUrl, projectId } = settings;
    const { clock, random } = ports;
    return createClient({ baseUrl, projectId, credentials, canBeAsked: canBeAsked(run) }, { transport: ports.connect(baseUrl.protocol), clock, random, onTrace: (trace) => log.trace(trace) });
}
/** Returns whether the service is asked what was sent under a step. */
function canBeAsked({ settings }) {
    return !(0,mintlify/* isMintlify */.T)(settings.baseUrl);
}


/***/ }),

/***/ 8039:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   t: () => (/* binding */ hash)
/* harmony export */ });
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7598);

/** Hashes a text for a key: 32 hexadecimal characters. */
function hash(text) {
    return (0,node_crypto__WEBPACK_IMPORTED_MODULE_0__.createHash)("sha256").update(text).digest("hex").slice(0, 32);
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
 * Returns the place of a pull request on a GitHub server; `undefined` if it is on another server.
 *
 * @param serverUrl - `GITHUB_SERVER_URL`
 */
function locatePullRequest({ url }, serverUrl) {
    const { origin, pathname } = new URL(url);
    const [, owner, repo, number] = /^\/([^/]+)\/([^/]+)\/pull\/(\d+)\/?$/.exec(pathname) ?? [];
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
    if (rerun.usable !== "resumes")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(purpose)}, run the action with job-id ${state.jobId} and no prompt.`;
    const action = settings?.wait === false ? "check on it" : purpose;
    // A plain step starts over then, which is what its re-run asks for. A comment is a request of its own.
    const exception = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(comment || rerun.over !== "repeats" ? "" : ", unless the job fails");
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(action)}, re-run this workflow run: nothing is sent again${exception}.`;
}
/**
 * What a re-run of the workflow run may do after the service accepted something, unless it waits for the job. It need not: it asks
 * the service, and a save that was too late for this attempt may have succeeded.
 */
function rerunWarning({ task, rerun }) {
    if (rerun.usable !== "repeats")
        return [];
    switch (task?.kind) {
        case "create":
            return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `A re-run of this workflow run may start another job.`;
        case "message":
            return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `A re-run of this workflow run may send the message again.`;
        default:
            return [];
    }
}
/** How to send a follow-up message. A reply in a thread has a line of its own for that. */
function howToContinue({ state, rerun }) {
    return rerun.usable === "resumes"
        ? []
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To continue with this job, send a follow-up: set job-id to ${state.jobId} and give a prompt.`;
}
function hasDashboard({ settings }) {
    return settings !== undefined && (0,_mintlify_js__WEBPACK_IMPORTED_MODULE_1__/* .isMintlify */ .T)(settings.baseUrl);
}
/**
 * How to send a request on purpose if an earlier one is in doubt. A re-run uses the workflow file of its run, so that a changed
 * input has no effect on it. With a fixed job-id, no comment starts a new job.
 */
function howToStartAnother({ comment }) {
    if (!comment) {
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `If there is none, start a new run of the workflow (not a re-run) to send the request. To choose that for a re-run, have on-rerun: \${{ vars.AGENT_ON_RERUN || 'resume' }} in the workflow, and set the variable to new.`;
    }
    if (comment.phrase === "")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To send the request regardless, set the label ${comment.label} again.`;
    return comment.jobId === ""
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To start another job, comment ${`${comment.phrase} new …`}.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To send another message, comment ${`${comment.phrase} …`}.`;
}
/** Names the place to look for a job: the dashboard, if there is one. */
function serviceName(context) {
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(hasDashboard(context) ? "the dashboard" : "the service");
}
/** How to find out about a job whose id is unknown. */
function checkService(context) {
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `Check ${serviceName(context)} for the job.`;
}


/***/ }),

/***/ 5781:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Y: () => (/* binding */ quoteMessage)
/* harmony export */ });
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4436);
/* harmony import */ var _format_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(455);


/** How many lines are shown; the output has them all. */
const maxLines = 60;
/** Renders the agent's last message, which is untrusted, as a quotation in HTML, line by line; empty if there is none. */
function quoteMessage(message) {
    if (message === "")
        return "";
    const lines = message.split("\n");
    const shown = lines.slice(0, maxLines).map((line) => (line.trim() === "" ? "" : (0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_0__/* .code */ .aY)(line, 1000)));
    if (lines.length > maxLines)
        shown.push(`and ${(0,_format_js__WEBPACK_IMPORTED_MODULE_1__/* .count */ .U9)(lines.length - maxLines, "more line")}`);
    return `<p>The agent's last message:</p>\n\n<blockquote>${shown.join("<br>")}</blockquote>`;
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
/* harmony export */   IR: () => (/* binding */ timeWord),
/* harmony export */   U9: () => (/* binding */ count),
/* harmony export */   cb: () => (/* binding */ delay),
/* harmony export */   p0: () => (/* binding */ duration),
/* harmony export */   vk: () => (/* binding */ elapsed)
/* harmony export */ });
/* harmony import */ var _client_contract_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6078);

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
/** Returns the word before the time that a run took. A re-run that waits for an earlier job does not know how long the work took. */
function timeWord(status, origin) {
    if (!(0,_client_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isTerminal */ .Hd)(status))
        return "after";
    return origin === "resumed" ? "waited" : "took";
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

/***/ 8924:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   C: () => (/* binding */ jobReplaced),
/* harmony export */   s: () => (/* binding */ RunLog)
/* harmony export */ });
/* harmony import */ var _client_contract_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(6078);
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(9563);
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(4436);
/* harmony import */ var _outcome_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(491);
/* harmony import */ var _changes_text_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(7583);
/* harmony import */ var _format_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(455);
/* harmony import */ var _request_failure_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(4108);








/** The runner shows ten warnings per step; recurring connection problems must leave room for others. */
const maxConnectionWarnings = 5;
/** A remark in the log and in the reply. */
const jobReplaced = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The job that this thread remembers was not found, so this request is for a new one.`;
const jobOver = {
    failed: "failed",
    archived: "was archived",
    "not found": "was not found",
    "no pull request": "finished without a pull request",
};
const startingOver = {
    failed: "is failed",
    stopped: "was stopped",
    archived: "is archived",
    "not found": "was not found",
    rejected: "rejected the message",
};
/** The log of a run: what people read at 3 a.m. Every line and annotation is escaped here. */
class RunLog {
    #toolkit;
    #isFailing = false;
    #connectionWarnings = 0;
    #address = "";
    #hasWarnedOfStatus = false;
    #hasWarnedOfMemory = false;
    #pageUrl = "";
    constructor(toolkit) {
        this.#toolkit = toolkit;
    }
    starting({ task, projectId, baseUrl }) {
        this.#address = baseUrl.href;
        const where = `in project ${projectId} at ${baseUrl.href}`;
        if (task.kind === "create")
            this.#line(`Creating an agent job ${where} (prompt of ${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .size */ .Ej)(task.prompt)})`);
        else if (task.kind === "attach")
            this.#line(`Following job ${task.jobId} ${where}`);
        else
            this.#line(`Sending a message to job ${task.jobId} ${where} (prompt of ${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .size */ .Ej)(task.prompt)})`);
    }
    /** The service accepted the create or message. */
    accepted(kind, job, state) {
        this.#recovered();
        this.#line(kind === "create" ? `Created job ${state.jobId}` : `Sent the message to job ${state.jobId}`);
        for (const name of ["status", "model", "repository", "ref"]) {
            if (state[name])
                this.#line(`  ${`${name}:`.padEnd(12)}${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .excerpt */ .Kb)(state[name], 300)}`);
        }
        this.#warnOfUnknownStatus(job.status);
        this.#showPage(state);
    }
    /** Says what a re-run does because of an earlier attempt, and warns if a re-run of this one could not know of it. */
    rerun(event) {
        switch (event.kind) {
            case "resuming": {
                const earlier = event.earlierAttempt === undefined ? "an earlier attempt" : `attempt ${event.earlierAttempt}`;
                this.#line(`Attempt ${event.attempt}: ${earlier} started job ${event.jobId}; waiting for it`);
                if (event.besides !== undefined)
                    this.#annotate("warning", "Earlier attempt may have started a job", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `By GitHub's record, attempt ${event.besides} of this workflow run ran this step, too, but nothing says what it started. This attempt waits for job ${event.jobId}; another one may be running.`);
                break;
            }
            case "resuming-turn":
                this.#line(`Attempt ${event.attempt}: the service says that an earlier attempt of this step sent its request as job ${event.jobId}; waiting for that`);
                if (event.hasOtherPrompt) {
                    this.#annotate("notice", "Earlier attempt had another prompt", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The prompt of this attempt differs from the one that an earlier attempt of this workflow run sent. Nothing is sent again: the result is that of the earlier prompt. To send the new one, run the workflow again from the start.`);
                }
                break;
            case "starting-over":
                this.#line(`Job ${event.jobId} ${startingOver[event.reason]}; sending the request again`);
                break;
            case "not-saved": {
                const text = event.isInTime
                    ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `That a request is about to be sent could not be saved in the Actions cache (${(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(event.error)}). It is sent anyway. If this runner is lost now, a re-run of this workflow run may start a second job.`
                    : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The job could not be saved in the Actions cache (${(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(event.error)}). The job is not affected, but a re-run of this workflow run, or the next run of its session, may not know of it.`;
                // Two annotations would say the same.
                if (this.#hasWarnedOfMemory)
                    this.#line((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .plain */ .pj)(text));
                else
                    this.#annotate("warning", "Cannot remember the job", text);
                this.#hasWarnedOfMemory = true;
                break;
            }
        }
    }
    /** Says what later runs will not know, because the Actions cache cannot be written. */
    forgets({ access, forgetsAttempt, session }) {
        const why = access === "read"
            ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `GitHub lets runs of this event only read the Actions cache.`
            : access === "none"
                ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `ACTIONS_CACHE_MODE keeps this run from the Actions cache.`
                : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The runner offers no cache service.`;
        if (forgetsAttempt) {
            this.#annotate("notice", access === "absent" ? "Re-run without a memory" : "A re-run may not find the job", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .joinSentences */ .DP)(why, access === "absent"
                ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `So this attempt cannot know what an earlier one started, and GitHub did not say that it ran this step. It sends the request.`
                : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `So a re-run of this workflow run sends nothing, unless GitHub says that this step did not run (permissions: actions: read). To wait for the job, run the action with its job-id.`));
        }
        if (session !== "") {
            this.#annotate("notice", "Session without a memory", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .joinSentences */ .DP)(why, (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `So the session cannot remember the job of this run. Run it on schedule, push or workflow_dispatch.`));
        }
    }
    /** GitHub's documentation: "Dependency caching reference", restrictions for accessing a cache. */
    sessionOnTag() {
        this.#annotate("notice", "Session of a tag", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `This run is on a tag, and GitHub gives each tag a cache of its own. So the next release does not find the job of this run, and starts a new one. To keep one pull request, run on schedule, or on push to a branch.`);
    }
    /** Says why a session sends a follow-up or starts a new job. */
    session(event, name) {
        const prefix = `Session ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .excerpt */ .Kb)(name, 100)}:`;
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
                    this.#annotate("notice", "Cannot read the state of the pull request", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The state of ${url} could not be read, so the session sends a follow-up to its job. To let the action see whether it is merged or closed, give the step a github-token with pull-requests: read for its repository.`);
                }
                break;
            }
            case "rejected":
                this.#annotate("notice", "Session starts a new job", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `Job ${event.jobId} failed before, and rejects the follow-up, so the session starts a new job. It leaves ${event.pullRequest.url}: merge or close it.`);
                break;
            case "failed-again":
                this.#annotate("notice", "Session starts a new job", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The last ${event.failures} turns of job ${event.jobId} failed, so the session starts a new job. It leaves ${event.pullRequest.url}: merge or close it.`);
                break;
        }
    }
    /** Says which changes the prompt is about, or why there is nothing to do. */
    changes(event) {
        switch (event.kind) {
            case "found": {
                const { base, commitCount } = event.changes;
                const size = `${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .count */ .U9)(commitCount, "commit")}, ${(0,_changes_text_js__WEBPACK_IMPORTED_MODULE_6__/* .describeFiles */ .L)(event.changes)}`;
                this.#line(`Changes since ${(0,_changes_text_js__WEBPACK_IMPORTED_MODULE_6__/* .shortRef */ .m)(base)}: ${size} (${event.changes.url})`);
                break;
            }
            case "nothing-new": {
                const { base, paths } = event.changes;
                const where = paths.length === 0 ? "" : ` in ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .excerpt */ .Kb)(paths.join(", "), 300)}`;
                this.#line(`No changes${where} since ${(0,_changes_text_js__WEBPACK_IMPORTED_MODULE_6__/* .shortRef */ .m)(base)}: nothing to do`);
                break;
            }
            case "nothing-to-compare":
                this.#line(`Changes: the ${event.eventName} event has nothing to compare, so the prompt is sent without any`);
                break;
            case "by-message":
                this.#annotate("notice", "Own changes by commit messages", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `GitHub does not show pull request #${event.pullRequest} to this step, so the messages of commits decide what it brought: that does not count as a change. To let the action read it, give the job pull-requests: read.`);
                break;
            case "replaced-start":
                this.#annotate("notice", "Changes of the last day", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `Commit ${(0,_changes_text_js__WEBPACK_IMPORTED_MODULE_6__/* .shortRef */ .m)(event.base)}, after which the changes should start, is no longer in the history of the branch (a force-push, or it was deleted). The changes of the last 24 hours are used.`);
                break;
        }
    }
    /** Prints the prompt that would be sent. */
    dryRun(prompt) {
        this.#toolkit.startGroup(`Prompt (${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .size */ .Ej)(prompt)})`);
        for (const line of prompt.split(/\r\n|[\r\n]/))
            this.#line(line);
        this.#toolkit.endGroup();
    }
    waiting({ wait, timeoutMs, intervals }, state) {
        const limit = (0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .duration */ .p0)(timeoutMs);
        const title = wait
            ? `Waiting up to ${limit} for job ${state.jobId} (poll interval ${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .delay */ .cb)(intervals.minMs)} to ${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .delay */ .cb)(intervals.maxMs)} before jitter)`
            : `Reading the state of job ${state.jobId} once; failed requests are retried for up to ${limit}`;
        this.#toolkit.startGroup((0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .forLog */ .Ig)(title).line);
    }
    waited() {
        this.#toolkit.endGroup();
    }
    /** Prints one line per poll, one warning when polls begin to fail and one line when they succeed again. */
    poll(event, state, elapsedMs) {
        const next = nextPoll(event.nextDelayMs);
        if (event.kind === "poll-failed") {
            const reason = (0,_request_failure_js__WEBPACK_IMPORTED_MODULE_2__/* .failureReason */ .H)(event.error, this.#address);
            this.#line(`${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .elapsed */ .vk)(elapsedMs)}  poll failed${next}: ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .plain */ .pj)(reason)}`);
            this.#warnOfConnection("Polling is failing", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .capitalized */ .l2)(reason)}. The job is not affected.`);
            return;
        }
        this.#recovered();
        const stale = event.isStale ? " (may be the status from before the message)" : "";
        this.#line(`${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .elapsed */ .vk)(elapsedMs)}  ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .excerpt */ .Kb)(event.job.status, 100)}${stale}${next}`);
        this.#warnOfUnknownStatus(event.job.status);
        this.#showPage(state);
    }
    /** A create or message will be sent again. */
    retrying({ error, delayMs, isDoubt = false }, elapsedMs) {
        const reason = (0,_request_failure_js__WEBPACK_IMPORTED_MODULE_2__/* .failureReason */ .H)(error, this.#address);
        if (isDoubt) {
            this.#line(`${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .elapsed */ .vk)(elapsedMs)}  no answer, sending the request again in ${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .delay */ .cb)(delayMs)}: ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .plain */ .pj)(reason)}`);
            this.#warnOfConnection("Request not answered, retrying", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .capitalized */ .l2)(reason)}. The service knows the request by its key, so it is safe to send it again.`);
            return;
        }
        this.#line(`${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .elapsed */ .vk)(elapsedMs)}  not accepted, retrying in ${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .delay */ .cb)(delayMs)}: ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .plain */ .pj)(reason)}`);
        this.#warnOfConnection("Request not accepted, retrying", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .capitalized */ .l2)(reason)}. The request started nothing, so it is safe to send it again.`);
    }
    #recovered() {
        if (this.#isFailing)
            this.#line("The service is responding again.");
        this.#isFailing = false;
    }
    tlsIsNotVerified() {
        this.#annotate("warning", "TLS certificates are not verified", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anyone between the runner and the service can read the API key or token. Remove it, and set NODE_EXTRA_CA_CERTS to the file of a private certificate authority instead.`);
    }
    /** Comment mode: the thread has a job, but one of another project, which is not continued. */
    otherProject(other, own) {
        this.#annotate("notice", "The thread's job is of another project", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The last job of this thread is one of the project ${other}, and this step works for ${own}, so it starts a new job. With the agent service as a step, each repository and each agent has a project of its own.`);
    }
    certificatesAreMissing(file) {
        this.#annotate("warning", "Certificates are not used", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `NODE_EXTRA_CA_CERTS is ${file}, which does not exist on this runner, so Node ignores it. A service with a certificate of a private authority cannot be reached without it.`);
    }
    /** Comment mode: anyone with a GitHub account has the required permission. */
    anyoneCanAsk() {
        this.#annotate("warning", "Anyone can start jobs", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `This repository is public and required-permission is read, so anyone with a GitHub account can start jobs. Set required-permission to triage or write.`);
    }
    /**
     * Comment mode: a request to GitHub failed.
     *
     * @param action - what could not be done; continues "Could not …"
     */
    threadFailed(action, error) {
        this.#annotate("warning", "Cannot update the thread", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `Could not ${action} (${(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error)}). The job is not affected, but replies and reactions may be missing, and a follow-up comment may start a new job, and a re-run of this workflow run may not find the job of this one. The step needs a github-token with issues: write and pull-requests: write.`);
    }
    /** Comment mode: a create replaces the job that the thread remembers. */
    replacingJob() {
        this.#line((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .plain */ .pj)(jobReplaced));
    }
    invalidPullRequestLink(link) {
        this.#annotate("warning", "Invalid pull request link", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The service returned ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .excerpt */ .Kb)(link, 300)} as the pull request, which is not an http(s) URL without credentials. Ignored.`);
    }
    outputsNotWritten(error) {
        this.#annotate("error", "Cannot write outputs", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The outputs could not be written, so the step fails: ${error}. The job's id is in the log.`);
    }
    summaryNotWritten(error) {
        this.#annotate("warning", "Cannot write the job summary", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The job summary is missing: ${String(error)}.`);
    }
    /** Prints one debug line per request; the runner shows it if step debug logging is on. */
    trace({ method, path, durationMs, result }) {
        const end = "error" in result
            ? result.error
            : `${result.status}${result.requestId ? `, request ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .excerpt */ .Kb)(result.requestId, 100)}` : ""}`;
        this.debug(`${method} ${path}: ${end} (${Math.round(durationMs)} ms)`);
    }
    debug(text) {
        this.#toolkit.debug((0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .forLog */ .Ig)(text).line);
    }
    /** Prints an unexpected error with its stack, as debug output. */
    debugError(error) {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        for (const line of text.split("\n"))
            this.debug(line);
    }
    /** Prints the last line and one annotation, which says what happened, whether a job is running and what to do. */
    ended(outcome, message, hasPassed, state, elapsedMs) {
        const time = state.startedAt === undefined ? "" : ` after ${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .duration */ .p0)(elapsedMs)}`;
        const link = state.pullRequest ? `: ${state.pullRequest.url}` : "";
        this.#line(`Outcome: ${outcome}${time}${link}`);
        if (state.finalMessage !== "") {
            this.#line("The agent's last message:");
            for (const line of state.finalMessage.split("\n"))
                this.#line(`  ${line}`);
        }
        const paragraphs = [message.what, ...(message.points ?? []).map((point) => ["- ", ...point]), message.next];
        const level = hasPassed ? _outcome_js__WEBPACK_IMPORTED_MODULE_1__/* .outcomes */ .KI[outcome].level : "error";
        if (level)
            this.#annotate(level, message.title, (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .join */ .fj)(paragraphs, "\n"));
        else
            for (const paragraph of paragraphs)
                if (paragraph.length > 0)
                    this.#line((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .plain */ .pj)(paragraph));
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
        if ((0,_client_contract_js__WEBPACK_IMPORTED_MODULE_7__/* .isKnownStatus */ .ih)(status) || this.#hasWarnedOfStatus)
            return;
        this.#hasWarnedOfStatus = true;
        this.#annotate("warning", "Unknown status", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_3__/* .say */ .cv) `The service returned the unknown status ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .excerpt */ .Kb)(status, 100)} for the job. Treated as active.`);
    }
    #annotate(level, title, text) {
        this.#toolkit.annotate(level, title, (0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .forAnnotation */ .Jc)(text));
    }
    #line(text) {
        const { line, hasCommand } = (0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_5__/* .forLog */ .Ig)(text);
        if (hasCommand)
            this.#toolkit.infoWithoutCommands(line);
        else
            this.#toolkit.info(line);
    }
}
function nextPoll(delayMs) {
    if (delayMs === undefined)
        return "";
    return delayMs === 0 ? ", next poll at once" : `, next poll in ${(0,_format_js__WEBPACK_IMPORTED_MODULE_4__/* .delay */ .cb)(delayMs)}`;
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
            next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Check base-url. If a private certificate authority signed the certificate, set the environment variable NODE_EXTRA_CA_CERTS of the step to that authority's file, or NODE_USE_SYSTEM_CA=1 if the runner's system trusts it.`,
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
                what: withResponse(isMintlify && error.serviceMessage !== ""
                    ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The API key is not allowed from this IP address.`
                    : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Access was denied.`),
                next: isMintlify
                    ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Allow the runner's address on the API keys page of the dashboard, or use a runner with a fixed address.`
                    : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .joinSentences */ .DP)(operation === "poll" ? [] : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `A key that may only read starts nothing: use one that may start jobs.`, (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `If the service limits addresses, allow the runner's.`),
            };
        case 404:
            return explainNotFound(operation, withResponse, project, context);
        case 413:
            return {
                what: withResponse((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `The prompt is too large for the service, or for a gateway in front of it.`),
                next: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .say */ .cv) `Make the prompt shorter: with changes, use list instead of diff, or fewer paths.`,
            };
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
/* harmony export */   TK: () => (/* binding */ isRejected),
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
/**
 * Returns whether the service answered the first request with a `404` of its own, so that nothing was started. Specification:
 * an error has a message; the `404` of a gateway has none that the service wrote.
 */
function isJobNotFound(result, state) {
    const error = httpErrorOf(result);
    return error?.status === 404 && error.serviceMessage !== "" && !state.hasRecord;
}
/** Returns whether the service rejected a create or message for good, and not because of the key or a rate limit. */
function isRejected(result) {
    const status = result.kind === "submission-failed" ? (httpErrorOf(result)?.status ?? 0) : 0;
    return acceptanceOf(result) === "rejected" && status >= 400 && status < 500 && ![401, 403, 404, 429].includes(status);
}
function httpErrorOf(result) {
    if (result.kind !== "submission-failed" && result.kind !== "poll-failed")
        return undefined;
    const error = result.kind === "submission-failed" ? result.error.cause : result.error;
    return error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$ ? error : undefined;
}


/***/ }),

/***/ 9010:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  c: () => (/* binding */ readJob),
  b: () => (/* binding */ runJob)
});

// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/client/step-lookup.js
var step_lookup = __webpack_require__(1021);
// EXTERNAL MODULE: ./build/runner-kit/transport.js
var transport = __webpack_require__(6903);
;// CONCATENATED MODULE: ./build/client/poll-schedule.js


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
        const wasSent = !(error instanceof errors/* TokenError */.gz || (error instanceof transport/* NetworkError */.Dr && error.phase === "connecting"));
        if (wasSent && tookMs >= minHeldMs)
            this.#failures++;
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
/** A held poll ends this long before the last poll, in milliseconds. */
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
            const turn = (0,contract/* isTerminal */.Hd)(job.status) ? await request.readTurn?.() : undefined;
            const isUnproven = turn === undefined && !hasSeenActive && messagedAt !== Number.NEGATIVE_INFINITY;
            const isStale = (0,contract/* isTerminal */.Hd)(job.status) &&
                (turn === undefined ? !hasSeenActive && sentAt - messagedAt < staleStateMs : !(0,step_lookup/* hasEnded */.hY)(turn));
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
                return { kind: "done", job, turn, wasSeenToStart: !isUnproven };
        }
        catch (error) {
            if (signal.aborted)
                return { kind: "cancelled" };
            if (!(0,errors/* isRequestError */.eK)(error) || !isTransient(error, { origin, hasReachedService }))
                throw error;
            // A poll that was cut off by the deadline says nothing about the service.
            if (clock.now() >= deadline && hasRecord)
                return { kind: "timed-out", ...(lastError && { lastError }) };
            hasReachedService ||= !(error instanceof transport/* NetworkError */.Dr || error instanceof errors/* TokenError */.gz);
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
    return error instanceof transport/* NetworkError */.Dr && error.reason === "timeout";
}
function isTransient(error, poll) {
    const { origin } = poll;
    if (error instanceof errors/* HttpError */.j$ && error.status === 404) {
        return origin.kind === "created" && error.sentAt - origin.at < notFoundGraceMs;
    }
    if (!poll.hasReachedService && error instanceof errors/* TokenError */.gz && !error.isTransient)
        return false;
    // If the service has been reached before, something on the way to it may have caused a certificate error.
    if (!poll.hasReachedService && error instanceof transport/* NetworkError */.Dr && error.reason === "certificate")
        return false;
    return (0,retry/* isTransientPollFailure */.KR)(error);
}

// EXTERNAL MODULE: ./build/action/connect-service.js + 5 modules
var connect_service = __webpack_require__(4501);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var environment = __webpack_require__(767);
;// CONCATENATED MODULE: ./build/action/run-job.js






/** Reads a job once, without publishing its id. Never rejects. */
function readJob(jobId, run) {
    return runJob({ kind: "attach", jobId }, { ...run, publishJobId: () => { } }, { wait: false });
}
/** Runs a task: sends the create or message, if there is one, and waits for the job. Never rejects. */
async function runJob(task, run, options = {}) {
    const { wait = run.settings.wait, onJobId, onPolled } = options;
    const { state } = run;
    let published = "";
    const publishJobId = (jobId) => {
        // A response in doubt may have had it.
        if (jobId === published)
            return;
        published = jobId;
        run.publishJobId(jobId);
        onJobId?.(jobId);
    };
    const operation = operationOf(task);
    if (task.kind !== "create")
        state.jobId = task.jobId;
    if (run.ports.signal.aborted) {
        return { kind: "cancelled", operation, acceptance: task.kind === "attach" ? "accepted" : "rejected" };
    }
    const job = { ...run, publishJobId };
    try {
        return await submitAndWait({ ...run.settings, task, wait }, job, onPolled);
    }
    catch (error) {
        // What was published stays so, whatever failed after it.
        if (published !== "")
            state.jobId ||= published;
        return resultOfError(error, operation, job);
    }
}
async function submitAndWait(inputs, run, onPolled) {
    const { task } = inputs;
    const { ports, state, log } = run;
    const { clock, random, signal } = ports;
    log.starting(inputs);
    const client = (0,connect_service/* connectService */.U)(run);
    // Comment mode has already sent requests to GitHub, and their time counts too.
    state.startedAt ??= clock.now();
    const { startedAt } = state;
    const limits = { deadline: startedAt + inputs.timeoutMs, signal };
    const isMessageResumed = task.kind === "attach" && task.resumes === "message";
    let origin = { kind: isMessageResumed ? "resumed" : "attached" };
    if (task.kind !== "attach") {
        const { job, isReplay } = await run_job_submit(task, client, run, limits, (notice) => log.retrying(notice, state.elapsedMs(clock.now())));
        // On a re-run, it is the turn of an earlier attempt, which the service did not name when it was asked.
        const isOwn = !isReplay || (0,environment/* runAttempt */.Tm)(ports.environment) > 1;
        updateState(job, isReplay && isOwn ? { kind: "attach", jobId: job.id, resumes: task.kind } : task, run);
        if (!isOwn)
            return { kind: "blocked", cause: "replayed", jobId: job.id };
        log.accepted(task.kind, job, state);
        if (signal.aborted)
            return { kind: "cancelled", operation: task.kind, acceptance: "accepted" };
        const isCreate = task.kind === "create";
        if (isCreate && (0,contract/* isTerminal */.Hd)(job.status))
            return { kind: "done", status: job.status };
        if (!inputs.wait)
            return { kind: "started" };
        origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
    }
    log.waiting(inputs, state);
    const until = inputs.wait ? "terminal" : "response";
    const readTurn = turnReader(inputs, client, run, limits);
    const { intervals } = inputs;
    const request = { ...limits, jobId: state.jobId, origin, startedAt, intervals, until, readTurn };
    const wait = await waitForJob(request, client, { clock, random }, (event) => {
        if (event.kind === "polled")
            updateState(event.job, task, run);
        log.poll(event, state, state.elapsedMs(clock.now()));
        onPolled?.();
    }).finally(() => log.waited());
    // A single poll cannot tell whether this is the state from before the message, unless the service says how the turn ended.
    const hasTurnEnded = wait.kind === "done" && wait.turn !== undefined && (0,step_lookup/* hasEnded */.hY)(wait.turn);
    if (wait.kind === "done" && isMessageResumed && !inputs.wait && !hasTurnEnded)
        return { kind: "started" };
    if (wait.kind === "done")
        state.isUnproven = inputs.wait && !wait.wasSeenToStart;
    return resultOfWait(wait, task);
}
/**
 * Returns a function that reads the status of the turn that the step waits for, if the service may say it: somebody else may
 * have sent a message to the job since.
 */
function turnReader({ task, wait }, client, { key, state }, limits) {
    if (task.kind === "attach" && task.resumes === undefined)
        return undefined;
    // A single poll is worth a question only if the turn is known.
    if (!wait && (task.kind !== "attach" || task.turnId === undefined))
        return undefined;
    let isUnannounced = false;
    return async () => {
        if (isUnannounced)
            return undefined;
        const announcement = await client.lookUpStep(key.of(""), limits).catch((error) => {
            // A service that has announced nothing may not know the question: its record counts.
            if (state.features === undefined && (0,errors/* isRequestError */.eK)(error))
                return undefined;
            throw error;
        });
        isUnannounced = announcement === undefined;
        if (announcement === undefined)
            return undefined;
        state.features = announcement.features;
        const { turns } = announcement;
        const own = turns.find((turn) => turn.jobId === state.jobId && isOwnTurn(turn, task, key));
        state.updateTurns(turns, own);
        return own?.status;
    };
}
/** Returns whether a turn is the one that a task has sent, or waits for. */
function isOwnTurn({ turnId, request }, task, key) {
    return task.kind === "attach" ? turnId === task.turnId : request === key.of(task.prompt, task.replaces).request;
}
function resultOfWait(wait, task) {
    switch (wait.kind) {
        case "done": {
            const { status } = wait.job;
            if (!(0,contract/* isTerminal */.Hd)(status))
                return { kind: "started" };
            if (wait.turn === undefined)
                return { kind: "done", status };
            return { kind: "done", status: wait.turn === "completed" ? "completed" : "failed" };
        }
        case "timed-out":
            return wait;
        case "cancelled":
            return { kind: "cancelled", operation: operationOf(task), acceptance: "accepted" };
    }
}
function operationOf(task) {
    return task.kind === "attach" ? "poll" : task.kind;
}
function run_job_submit(task, client, { key, publishJobId }, limits, onRetry) {
    const submission = { prompt: task.prompt, key: key.of(task.prompt, task.replaces) };
    return task.kind === "create"
        ? client.createJob({ ...submission, base: task.base }, limits, onRetry, publishJobId)
        : client.sendMessage(task.jobId, submission, limits, onRetry);
}
/** Merges a record into the state, and publishes the job's id before anything else can fail. */
function updateState(job, task, { ports, state, log, publishJobId }) {
    const isFirst = !state.hasRecord;
    const hadInvalidLink = state.hasInvalidLink;
    state.update(job, ports.clock.now());
    state.origin ||= originOf(task);
    if (isFirst)
        publishJobId(job.id);
    if (state.hasInvalidLink && !hadInvalidLink)
        log.invalidPullRequestLink(job.prLink);
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
function resultOfError(error, operation, { ports, state, log, publishJobId }) {
    if (operation !== "poll" && error instanceof errors/* SubmissionError */.nx) {
        if (operation === "create" && error.jobId !== undefined) {
            state.jobId = error.jobId;
            state.origin = "created";
            publishJobId(error.jobId);
        }
        if (ports.signal.aborted)
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
    /** The branch that the job started from, if the service says it. */
    base = "";
    /** The address of the job's page for people, which may be linked. */
    pageUrl = "";
    timeline = [];
    /** What changed in the repository, with `changes`; `undefined` if that was not read, or if there is nothing to compare. */
    changes;
    /** What the service announced that it offers beyond the specification; `undefined` if it announced nothing, or was not asked. */
    features;
    /** What it announced before anything was sent. */
    announcement;
    /** Whether it has denied that it can be asked. */
    isMute = false;
    /** What became of the turn when the step was cancelled; `undefined` if the service was not asked to stop it. */
    stop;
    /** The agent's last message, without control characters; empty if the service says nothing. Untrusted text. */
    finalMessage = "";
    /** What the turns of this step cost together, in US dollars, as the agents say; `undefined` if one of these costs is unknown. */
    costUsd;
    /**
     * Why the turn of this step has failed, or was stopped, in one line of untrusted text; empty if the service says nothing.
     * `undefined` while it has not, or if the service does not tell of turns.
     */
    failure;
    /** Whether the job was not seen to start after a message, so that its state may be the one from before it. */
    isUnproven = false;
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
        this.isUnproven = false;
        this.finalMessage = "";
        this.failure = undefined;
        for (const field of ["model", "repository", "ref", "createdAt", "archivedAt", "base", "pageUrl"])
            this[field] = "";
        this.timeline.length = 0;
    }
    /** Returns whether the service has sent a record of the job. */
    get hasRecord() {
        return this.timeline.length > 0;
    }
    /** Takes over what the service says of the step's turns, and of the one that the step waits for. */
    updateTurns(turns, own) {
        // Line ends are kept; other control characters could do harm in a terminal.
        this.finalMessage = (own?.message ?? "").replace(/[^\P{Cc}\n\t]/gu, "").trim();
        const hasFailed = own?.status === "failed" || own?.status === "stopped";
        this.failure = hasFailed
            ? { isStopped: own.status === "stopped", reason: own.reason.replace(/[\p{Cc}\s]+/gu, " ").trim() }
            : undefined;
        const costs = turns.map(({ costUsd }) => costUsd);
        const isKnown = costs.length > 0 && costs.every((cost) => cost !== undefined);
        // Sums of decimal fractions are not exact.
        this.costUsd = isKnown ? Number(costs.reduce((sum, cost) => sum + (cost ?? 0), 0).toFixed(6)) : undefined;
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
        this.base = job.base || this.base;
        this.pageUrl = job.pageUrl ?? this.pageUrl;
    }
}


/***/ }),

/***/ 767:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $3: () => (/* binding */ canRequestIdTokens),
/* harmony export */   KI: () => (/* binding */ isOnTag),
/* harmony export */   TH: () => (/* binding */ earlierAttempts),
/* harmony export */   Tm: () => (/* binding */ runAttempt),
/* harmony export */   Vd: () => (/* binding */ serverUrl),
/* harmony export */   Vp: () => (/* binding */ runUrl),
/* harmony export */   uF: () => (/* binding */ isWindows),
/* harmony export */   y0: () => (/* binding */ apiUrl)
/* harmony export */ });
/** Returns the number of the run attempt: 1 on the first run of a workflow run, more on a re-run. */
function runAttempt({ GITHUB_RUN_ATTEMPT }) {
    return Number(GITHUB_RUN_ATTEMPT ?? 1);
}
/** Returns the numbers of the run attempts before this one, the oldest first. */
function earlierAttempts(environment) {
    return Array.from({ length: runAttempt(environment) - 1 }, (_, index) => index + 1);
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
/** Returns whether the runner is one of Windows. */
function isWindows(environment) {
    return environment.RUNNER_OS === "Windows";
}
/** Returns the address of the workflow run. */
function runUrl(environment) {
    const { GITHUB_REPOSITORY: repository = "", GITHUB_RUN_ID: run = "" } = environment;
    return `${serverUrl(environment)}/${repository}/actions/runs/${run}`;
}
/** Returns whether the run is on a tag, as for the event `release`. GitHub's documentation: "Variables", `GITHUB_REF`. */
function isOnTag({ GITHUB_REF = "" }) {
    return GITHUB_REF.startsWith("refs/tags/");
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

/***/ 1124:
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

// EXTERNAL MODULE: ./build/runner-kit/transport.js
var runner_kit_transport = __webpack_require__(6903);
// EXTERNAL MODULE: ./build/runner-kit/redact.js
var redact = __webpack_require__(5593);
;// CONCATENATED MODULE: ./build/client/credentials.js

/** Returns the credentials of an API key. */
function keyCredentials(apiKey) {
    return { token: async () => apiKey, redact: (0,redact/* createRedactor */.l)(apiKey) };
}

;// CONCATENATED MODULE: ./build/action/comments/fork.js
/** The events for which GitHub gives a run no secrets if the pull request is from a fork. */
const eventsWithoutSecrets = ["pull_request", "pull_request_review", "pull_request_review_comment"];
/**
 * Returns whether an event is about a pull request from a fork, so that its run gets no secrets. GitHub's documentation:
 * "Workflows in forked repositories".
 */
function isFromFork(name, readPayload) {
    if (!eventsWithoutSecrets.includes(name))
        return false;
    try {
        const { head, base } = readPayload().pull_request ?? {};
        const id = base?.repo?.id;
        return head !== undefined && Number.isInteger(id) && head.repo?.id !== id;
    }
    catch {
        return false;
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

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: ./build/runner-kit/text.js
var runner_kit_text = __webpack_require__(9563);
;// CONCATENATED MODULE: ./build/action/inputs/prompt-file.js



/**
 * Reads the prompt from a file in the workspace, as written except for a byte order mark. A path that leaves the
 * workspace, directly or through a symbolic link, is rejected: if an untrusted branch is checked out, such a link could send
 * any file on the runner to the agent.
 */
function readPromptFile(path, workspace) {
    try {
        // The system's own function also expands short names of Windows: JavaScript's leaves `GIT~1` as it is.
        const root = external_node_fs_.realpathSync.native(workspace);
        const file = external_node_fs_.realpathSync.native((0,external_node_path_.resolve)(root, path));
        const fromRoot = (0,external_node_path_.relative)(root, file);
        if (fromRoot === ".." || fromRoot.startsWith(`..${external_node_path_.sep}`) || (0,external_node_path_.isAbsolute)(fromRoot)) {
            return { problem: (0,runner_kit_text/* say */.cv) `must be in the workspace, but ${path} is outside it` };
        }
        // A link in an untrusted branch could point to Git's own files, which may contain the checkout's token.
        if (fromRoot.split(external_node_path_.sep).some((name) => isGitFolder.test(name))) {
            return { problem: (0,runner_kit_text/* say */.cv) `must not be in .git, but ${path} is` };
        }
        if (!(0,external_node_fs_.statSync)(file).isFile())
            return { problem: (0,runner_kit_text/* say */.cv) `must be a file, but ${path} is not` };
        const text = new TextDecoder("utf-8", { fatal: true }).decode((0,external_node_fs_.readFileSync)(file));
        // UTF-16 without a byte order mark is also UTF-8, with a NUL beside each letter.
        if (text.includes("\0"))
            return { problem: notUtf8(path) };
        return text.trim() === "" ? { problem: (0,runner_kit_text/* say */.cv) `is empty: ${path} contains no text` } : { text };
    }
    catch (error) {
        return { problem: describe(error, path) };
    }
}
/** Names of `.git` on disks that ignore case, and on those of Windows: what Git itself does not check out there. */
const isGitFolder = /^(\.git|git~\d+)[ .]*(:.*)?$/i;
function notUtf8(path) {
    return (0,runner_kit_text/* say */.cv) `must be UTF-8 text, but ${path} is not. In PowerShell, write it with Out-File -Encoding utf8`;
}
function describe(error, path) {
    if (error.code === "ENOENT")
        return (0,runner_kit_text/* say */.cv) `does not exist: there is no ${path} in the workspace. Check the path, and that the repository is checked out`;
    if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA")
        return notUtf8(path);
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
/** Converts a pattern, or returns the problem with one that cannot be read. */
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
/** Ten years. A longer duration may lead to an invalid date. */
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
/** Returns whether a text can be the name of a ref. Git's documentation: `git check-ref-format`. A ref cannot be longer than a file name. */
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





/** Makes a rule from a function that describes the problem with a value, if there is one, and one that converts the others. */
const rule = (problemWith, convert) => (text) => {
    const problem = problemWith(text);
    return problem === undefined ? { value: convert(text) } : { problem };
};
const asWritten = (text) => text;
/** Makes a rule for a value that must be one of these. */
const oneOf = (values, problem) => {
    return (text) => {
        const value = values.find((each) => each === text);
        return value === undefined ? { problem } : { value };
    };
};
/** Any text, or text that is checked together with another input. */
const anyText = (value) => ({ value });
const trueWords = ["true", "True", "TRUE"];
const falseWords = ["false", "False", "FALSE"];
/** A boolean of the YAML 1.2 core schema, as the toolkit's `getBooleanInput` reads it. */
const rules_boolean = rule((text) => ([...trueWords, ...falseWords].includes(text) ? undefined : "must be true or false"), (text) => trueWords.includes(text));
const positiveDecimal = rule((text) => /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 && Number.isFinite(Number(text))
    ? undefined
    : "must be a decimal number greater than 0, such as 5 or 0.5", Number);
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
/** Returns the problem with an API key, if there is one. Never contains the key. */
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
/** A job or project id, which becomes a path segment of the request's URL. */
const identifier = rule((text) => {
    if (text === "." || text === "..")
        return `must not be ${text}, which would change the URL of the request`;
    return /\p{Cc}/u.test(text) ? "must not contain control characters" : undefined;
}, asWritten);
/** `https`, or `http` for a loopback host. A path is kept. */
const baseUrl = rule(baseUrlProblem, (text) => new URL(text));
const authMethods = ["key", "github-oidc"];
/** What authenticates requests to the service: a key, or OIDC tokens of the workflow run. */
const auth = oneOf(authMethods, `must be ${authMethods.join(" or ")}`);
/** Outcomes to fail on; `none` for an empty set. */
const failOn = rule((text) => {
    const names = listOf(text);
    const known = action_outcome/* failableOutcomes */._M;
    const isValid = text === "none" || (names.length > 0 && names.every((name) => known.includes(name)));
    return isValid ? undefined : `must be a comma-separated list of ${action_outcome/* failableOutcomes */._M.join(", ")}, or only none`;
}, (text) => new Set(action_outcome/* failableOutcomes */._M.filter((outcome) => listOf(text).includes(outcome))));
function listOf(text) {
    return text.split(",").map((name) => name.trim());
}
/** The minimum repository permission. */
const requiredPermission = oneOf(permission/* permissions */.P, `must be one of ${permission/* permissions */.P.join(", ")}`);
/** Bot logins, in lower case, because GitHub logins are case-insensitive. */
const allowedBots = rule((text) => text.includes("*") ? "must be a list of logins, such as renovate[bot]; wildcards are not supported" : undefined, (text) => new Set(listOf(text.toLowerCase()).filter(Boolean)));
/** What a re-run does with the job of an earlier attempt. */
const onRerun = oneOf(["resume", "new"], "must be resume or new");
/** The branch that a job starts from, `pull-request`, or empty. */
const baseBranch = rule((text) => (text === "" || isPossibleRef(text) ? undefined : "must be the name of a branch, or pull-request"), asWritten);
/** Parses `on-cancel`. */
const onCancel = oneOf(["stop", "keep"], "must be stop or keep");
/** In UTF-16 units. */
const maxSessionLength = 100;
/** The name of a session, or empty. */
const sessionName = rule((text) => {
    if (text.length > maxSessionLength)
        return `must not be longer than ${maxSessionLength} characters`;
    return /\p{Cc}/u.test(text) ? "must not contain control characters" : undefined;
}, asWritten);
/** What the prompt says about changes. */
const changesDetail = oneOf(["none", "list", "diff"], "must be none, list or diff");
/** The start of the range of changes. */
const changesSince = (text) => {
    const value = parseSince(text);
    if (value)
        return { value };
    return { problem: "must be auto, a duration above 0 such as 24h or 7d, or the name of a commit, tag or branch" };
};
/** The files that count; `undefined` if all do. */
const pathPatterns = (text) => {
    const value = parsePaths(text);
    if (!value || "matches" in value)
        return { value };
    return { problem: `has a pattern that cannot be read: line ${value.line} ${value.problem}` };
};

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
    "on-cancel": "stop",
    base: "",
    "dry-run": "false",
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
const inputNames = Object.keys(inputDefaults);
/** The rule of every input. */
const rules = {
    prompt: anyText,
    "prompt-file": anyText,
    "job-id": identifier,
    "project-id": identifier,
    // Checked together with `auth`.
    "api-key": anyText,
    auth: auth,
    "base-url": baseUrl,
    wait: rules_boolean,
    "timeout-minutes": positiveDecimal,
    "poll-interval-seconds": positiveDecimal,
    "max-poll-interval-seconds": positiveDecimal,
    "fail-on": failOn,
    summary: rules_boolean,
    "on-rerun": onRerun,
    "on-cancel": onCancel,
    base: baseBranch,
    "dry-run": rules_boolean,
    session: sessionName,
    changes: changesDetail,
    "changes-since": changesSince,
    paths: pathPatterns,
    "trigger-phrase": anyText,
    "trigger-label": anyText,
    "required-permission": requiredPermission,
    "allowed-bots": allowedBots,
    reply: rules_boolean,
    // Only checked if it is needed.
    "github-token": anyText,
    "matrix-leg": anyText,
};
/** Parses all inputs, and returns either typed values or all problems at once. */
function parseInputs(source) {
    const { read, readPromptFile, eventName, isFromFork, canRequestIdTokens, isWindows } = source;
    const raw = Object.fromEntries(inputNames.map((name) => [name, valueOrDefault(name, read(name))]));
    const parsed = parseValues(rules, raw);
    const file = raw["prompt-file"] ? readPromptFile(raw["prompt-file"]) : undefined;
    const prompt = file && "text" in file ? file.text : raw.prompt;
    const triggers = ["trigger-phrase", "trigger-label"].filter((name) => raw[name] !== "");
    const isComment = (0,comments_event/* isTriggeredBy */.NN)(eventName, triggers);
    const summary = parsed.values.summary ?? true;
    const isMissing = raw.auth === "github-oidc" ? !canRequestIdTokens : raw["api-key"] === "";
    // The key is not missing by mistake, and the step must not fail for every pull request from a fork.
    if (isComment && (0,comments_event/* isThreadEvent */.Zn)(eventName) && isMissing && isFromFork()) {
        const skipped = { kind: "skipped", reason: "fork", triggerKind: (0,comments_event/* triggerKindOf */.Ur)(eventName) };
        return { ok: false, problems: [], skipped, summary };
    }
    const problems = [
        ...projectProblems(raw),
        ...(raw.auth === "github-oidc" ? idTokenProblems(raw, canRequestIdTokens) : keyProblems(raw)),
        ...parsed.problems,
        ...promptProblems(raw, file, { eventName, isComment, isWindows }),
        ...intervalProblems(parsed.values),
        ...sessionProblems(raw),
        ...baseProblems(raw),
        ...changesProblems(raw),
        ...(isComment ? commentProblems(raw, prompt) : []),
        ...(isComment || raw.changes !== "none" ? tokenProblems(raw, isComment) : []),
    ];
    const { values } = parsed;
    if (problems.length > 0 || !isComplete(values))
        return { ok: false, problems, summary };
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
        onCancel: values["on-cancel"],
        base: values.base,
        dryRun: values["dry-run"],
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
            requiredPermission: values["required-permission"],
            allowedBots: values["allowed-bots"],
        },
    };
}
/** Parses each value by its rule. `values` lacks those with a problem. */
function parseValues(rules, raw) {
    const values = {};
    const problems = [];
    for (const input of inputNames) {
        const parsed = rules[input](raw[input]);
        if ("problem" in parsed)
            problems.push({ input, problem: (0,runner_kit_text/* trusted */.IZ)(parsed.problem) });
        else
            values[input] = parsed.value;
    }
    return { values, problems };
}
function isComplete(values) {
    return inputNames.every((name) => name in values);
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
/**
 * In UTF-16 units. An environment variable of Windows has at most 32,767, with its name and what separates it. Longer ones may
 * be cut off without an error.
 */
const maxPromptOnWindows = 32_767 - "INPUT_PROMPT=\0".length;
function promptProblems(raw, file, { eventName, isComment, isWindows }) {
    if (isWindows && raw.prompt.length > maxPromptOnWindows) {
        const problem = (0,runner_kit_text/* say */.cv) `has ${raw.prompt.length} characters. Windows passes at most ${maxPromptOnWindows} to an action: more may be cut off. Write the prompt to a file, and use prompt-file`;
        return [{ input: "prompt", problem }];
    }
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
function intervalProblems(values) {
    const { "poll-interval-seconds": minSeconds, "max-poll-interval-seconds": maxSeconds } = values;
    if (typeof minSeconds !== "number" || typeof maxSeconds !== "number" || maxSeconds >= minSeconds)
        return [];
    const problem = (0,runner_kit_text/* say */.cv) `is ${maxSeconds}, but must be at least poll-interval-seconds, which is ${minSeconds}`;
    return [{ input: "max-poll-interval-seconds", problem }];
}
function sessionProblems(raw) {
    if (raw.session === "" || raw["job-id"] === "")
        return [];
    return [{ input: "session", problem: (0,runner_kit_text/* say */.cv) `cannot be used together with job-id` }];
}
function baseProblems(raw) {
    const baseUrl = URL.parse(raw["base-url"]);
    if (raw.base === "" || !baseUrl || !(0,mintlify/* isMintlify */.T)(baseUrl))
        return [];
    return [{ input: "base", problem: (0,runner_kit_text/* say */.cv) `needs a service of your own (base-url): the hosted one takes no branch` }];
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
        "final-message": state.finalMessage,
        "cost-usd": state.costUsd === undefined ? "" : String(state.costUsd),
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

// EXTERNAL MODULE: ./build/action/run-job.js + 2 modules
var run_job = __webpack_require__(9010);
;// CONCATENATED MODULE: ./build/action/plain-mode.js


/** Runs the step with the prompt of the workflow, at most once over all attempts of the workflow run. */
async function runPlain(task, run) {
    if (task.kind === "attach") {
        if (!run.settings.dryRun)
            return { result: await (0,run_job/* runJob */.b)(task, run), task };
        const plan = (0,runner_kit_text/* say */.cv) `It would wait for job ${task.jobId}.`;
        return { result: { kind: "skipped", reason: "dry-run", plan }, task };
    }
    // Loaded before anything is sent: what follows a create must not depend on it.
    const { sendTask } = await __webpack_require__.e(/* import() */ 50).then(__webpack_require__.bind(__webpack_require__, 5050));
    return sendTask(task, run);
}

// EXTERNAL MODULE: ./build/action/report/log.js
var report_log = __webpack_require__(8924);
// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/action/report/advice.js
var advice = __webpack_require__(3000);
// EXTERNAL MODULE: ./build/action/report/format.js
var format = __webpack_require__(455);
// EXTERNAL MODULE: ./build/action/report/changes-text.js
var changes_text = __webpack_require__(7583);
// EXTERNAL MODULE: ./build/action/report/request-failure.js
var request_failure = __webpack_require__(4108);
;// CONCATENATED MODULE: ./build/action/report/not-sent-text.js






/** Describes why the step starts nothing. That is not an error. */
function describeSkip(result, context) {
    const { state } = context;
    if (result.reason === "dry-run") {
        const { plan } = result;
        const told = "kind" in plan ? (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `It would send nothing, and fail.`, describeBlocked(plan, context).what) : plan;
        return { title: "Dry run", what: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Nothing was sent.`, told), next: [] };
    }
    if (result.reason !== "nothing-new")
        return describeCommentSkip(result, state.author);
    const { base = "", otherFiles = 0 } = state.changes ?? {};
    const others = otherFiles > 0 ? (0,runner_kit_text/* say */.cv) ` ${(0,runner_kit_text/* trusted */.IZ)((0,format/* count */.U9)(otherFiles, "other file"))} changed, which paths leaves out.` : [];
    return {
        title: "Nothing new",
        what: [...(0,runner_kit_text/* say */.cv) `No file that counts has changed since ${(0,changes_text/* shortRef */.m)(base)}. Nothing was started.`, ...others],
        next: [],
    };
}
function describeCommentSkip(result, login) {
    const { triggerKind } = result;
    const because = (what, next = []) => ({
        title: action_outcome/* outcomes */.KI.skipped.title,
        what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `Nothing was started.`),
        next,
    });
    const { author } = people[triggerKind];
    switch (result.reason) {
        case "no-trigger": {
            const { handledBy } = result;
            if (handledBy === undefined)
                return because(noTrigger[triggerKind]);
            return because(triggerKind === "comment"
                ? (0,runner_kit_text/* say */.cv) `The comment is a part of a review, which the event ${(0,runner_kit_text/* trusted */.IZ)(handledBy)} handles as one request.`
                : (0,runner_kit_text/* say */.cv) `The review is a single comment, which the event ${(0,runner_kit_text/* trusted */.IZ)(handledBy)} handles.`, (0,runner_kit_text/* say */.cv) `If the workflow does not run on ${(0,runner_kit_text/* trusted */.IZ)(handledBy)} yet, add it to the workflow's events.`);
        }
        case "no-instruction":
            return because((0,runner_kit_text/* say */.cv) `The trigger phrase is not followed by an instruction.`);
        case "not-permitted":
            return because((0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* trusted */.IZ)(author)}, ${login}, has the permission ${(0,runner_kit_text/* trusted */.IZ)(result.has)} in this repository, and required-permission is ${(0,runner_kit_text/* trusted */.IZ)(result.needs)}.`);
        case "bot":
            return because((0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* trusted */.IZ)(author)}, ${login}, is a bot that is not listed in allowed-bots.`);
        case "edited":
            return because((0,runner_kit_text/* say */.cv) `The ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)} was edited, and only new ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)}s are handled.`);
        case "command":
            return because((0,runner_kit_text/* say */.cv) `The ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)} is a command, which is answered in a reply.`);
        case "fork":
            if (result.isBase) {
                return because((0,runner_kit_text/* say */.cv) `The pull request is from a fork, or its branch was deleted, and the work would start from that branch.`);
            }
            return because((0,runner_kit_text/* say */.cv) `The pull request is from a fork, and GitHub gives this event no secrets there.`, triggerKind === "comment" || triggerKind === "review"
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
/** Describes why nothing was sent. */
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
                what: (0,runner_kit_text/* say */.cv) `The permission ${(0,runner_kit_text/* trusted */.IZ)(people[result.triggerKind].ofAuthor)} cannot be read (${result.detail}), so nothing was started.`,
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
        case "unrecorded":
            return {
                title: "Earlier attempt may have started a job",
                what: (0,runner_kit_text/* say */.cv) `This is a re-run. By GitHub's record, attempt ${result.attempt} of this workflow run ran this step, but nothing says what it started. This run sent nothing; a job may be running.`,
                next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `See the log of that attempt for the job's id, and run the action with job-id to wait for it.`, (0,advice/* checkService */._x)(context), (0,advice/* howToStartAnother */.ZH)(context)),
            };
        case "service":
            return {
                title: "Cannot ask the service what was sent",
                what: (0,runner_kit_text/* say */.cv) `This is a re-run, and the service did not say what an earlier attempt of this workflow run sent (${result.error ? (0,request_failure/* failureReason */.H)(result.error, context.settings?.baseUrl.href) : (0,runner_kit_text/* say */.cv) `it did not announce itself`}). This run sent nothing; a job may be running.`,
                next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Re-run the workflow run when the service responds again.`, (0,advice/* howToStartAnother */.ZH)(context)),
            };
        case "later-run":
            return {
                title: "A later run has continued the job",
                what: (0,runner_kit_text/* say */.cv) `This is a re-run. Run ${result.run}, a later one of the session, has sent its own prompt to job ${result.jobId} since, so that what the job shows is that run's result. This run sent nothing.`,
                next: (0,runner_kit_text/* say */.cv) `Nothing has to be done: see that run. To send the prompt again, start a new run of the workflow.`,
            };
        case "unwitnessed":
            return {
                title: "Cannot leave word of a request",
                what: (0,runner_kit_text/* say */.cv) `GitHub answered neither the reaction nor the reply, so that a re-run could not have known of a job. This run sent nothing.`,
                next: (0,runner_kit_text/* say */.cv) `Re-run the workflow run: it continues like a first run.`,
            };
        case "unknown":
            return {
                title: "Earlier attempt may have started a job",
                what: (0,runner_kit_text/* say */.cv) `This is a re-run, and attempt ${result.attempt} could not leave word of a job. Whether it ran this step could not be read from GitHub. This run sent nothing; a job may be running.`,
                next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `To let the action ask GitHub, give the job permissions: actions: read. Otherwise see the log of that attempt for the job's id.`, (0,advice/* checkService */._x)(context), (0,advice/* howToStartAnother */.ZH)(context)),
            };
        case "several-turns":
            return {
                title: "Earlier attempts had other prompts",
                what: (0,runner_kit_text/* say */.cv) `Earlier attempts of this workflow run sent several prompts, and none of them is that of this one (jobs ${result.jobIds.join(", ")}). This run sent nothing.`,
                next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `To wait for one of these jobs, run the action with its job-id and no prompt.`, (0,advice/* howToStartAnother */.ZH)(context)),
            };
        case "replayed":
            return {
                title: "Request was sent before",
                what: (0,runner_kit_text/* say */.cv) `The service had received the same request under the name of this step before, as job ${result.jobId}, so it started nothing. Another step of this workflow run sent it: GitHub gives both the same name, as it does if a reusable workflow is called twice.`,
                next: (0,runner_kit_text/* say */.cv) `Give the steps different prompts, or different names of jobs, and start a new run of the workflow. To wait for that job, run the action with job-id ${result.jobId} and no prompt.`,
            };
        case "no-base":
            return {
                title: "The service takes no base",
                what: (0,runner_kit_text/* say */.cv) `The service does not announce that a job can start from another branch. Nothing was started.`,
                next: (0,runner_kit_text/* say */.cv) `Update the service, or remove base.`,
            };
        case "base":
            return {
                title: "Cannot read the pull request",
                what: (0,runner_kit_text/* say */.cv) `The branch of the pull request cannot be read (${result.detail}), so nothing was started.`,
                next: (0,runner_kit_text/* say */.cv) `Check that github-token can read pull requests, then re-run the workflow run.`,
            };
        case "range-behind":
            return {
                title: "Changes were covered by a later run",
                what: (0,runner_kit_text/* say */.cv) `The range of changes ends with ${(0,changes_text/* shortRef */.m)(result.head)}, which is behind its start ${(0,changes_text/* shortRef */.m)(result.base)}: a later run has covered these changes. Nothing was started.`,
                next: (0,runner_kit_text/* say */.cv) `Nothing has to be done. To send changes again, start a new run of the workflow with changes-since.`,
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
                next: (0,runner_kit_text/* say */.cv) `Correct these inputs in the step's "with" block, or where it takes them from, such as the form of a manual run.`,
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
    const message = describeStatus(status, context);
    if (!context.state.isUnproven)
        return message;
    const warning = (0,runner_kit_text/* say */.cv) `The job was not seen to start on the message, so this may be its state from before it.`;
    return { ...message, what: (0,runner_kit_text/* joinSentences */.DP)(message.what, warning) };
}
function describeStatus(status, context) {
    const { jobId, pullRequest, hasInvalidLink } = context.state;
    const newJob = context.rerun.usable === "resumes" ? [] : (0,runner_kit_text/* say */.cv) `To start a new job, run the action with a prompt and no job-id.`;
    const dashboard = (0,advice/* hasDashboard */.HX)(context);
    switch (status) {
        case "completed":
            if (pullRequest) {
                const isUpdate = context.state.origin === "continued";
                return {
                    title: isUpdate ? "Pull request updated" : action_outcome/* outcomes */.KI["pr-created"].title,
                    what: isUpdate
                        ? (0,runner_kit_text/* say */.cv) `The agent finished the follow-up to job ${jobId}, which has a pull request.`
                        : (0,runner_kit_text/* say */.cv) `The agent finished job ${jobId} and opened a pull request.`,
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
            return describeFailure(context, newJob);
        case "archived":
            return {
                title: action_outcome/* outcomes */.KI.archived.title,
                what: (0,runner_kit_text/* say */.cv) `Job ${jobId} was archived in the service and is no longer running.`,
                next: newJob.length > 0 ? (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `If you still need its work:`, newJob) : [],
            };
    }
}
function describeFailure(context, newJob) {
    const { jobId, failure, pageUrl } = context.state;
    // Only a service that tells of turns is asked for one that failed, and may be sent its request again.
    const again = failure && context.rerun.usable === "resumes" ? (0,runner_kit_text/* say */.cv) `To send the request again, re-run this workflow run.` : [];
    const reason = failure?.reason ? (0,runner_kit_text/* say */.cv) `The service says why: ${failure.reason}` : [];
    if (failure?.isStopped) {
        return {
            title: "Job stopped",
            what: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Job ${jobId} was stopped before its agent had finished. It is no longer running.`, reason),
            next: (0,runner_kit_text/* joinSentences */.DP)(again, newJob, (0,advice/* howToContinue */.DN)(context)),
        };
    }
    const log = pageUrl === "" ? [] : (0,runner_kit_text/* say */.cv) `The job page has the log.`;
    return {
        title: action_outcome/* outcomes */.KI.failed.title,
        what: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `The agent hit an unrecoverable error in job ${jobId}. The job is no longer running.`, reason),
        next: (0,runner_kit_text/* joinSentences */.DP)((0,advice/* hasDashboard */.HX)(context) ? (0,runner_kit_text/* say */.cv) `See the dashboard for the cause.` : log, again, newJob, (0,advice/* howToContinue */.DN)(context)),
    };
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
    const addInput = rerun.usable === "resumes" || task?.kind === "attach"
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
    const { jobId, status, stop } = context.state;
    if (stop === "stopped") {
        return {
            title,
            what: (0,runner_kit_text/* say */.cv) `The step was cancelled, and the service stopped job ${jobId}: its agent is no longer running.`,
            next: (0,runner_kit_text/* say */.cv) `To send the request again, re-run this workflow run.`,
        };
    }
    if (stop === "asked") {
        return {
            title,
            what: (0,runner_kit_text/* say */.cv) `The step was cancelled, and the service was asked to stop job ${jobId}. It did not confirm that within 2 s, so the agent may still be running.`,
            next: (0,runner_kit_text/* say */.cv) `A re-run of this workflow run asks the service what became of it, and starts nothing twice.`,
        };
    }
    if (acceptance === "unknown") {
        const what = (0,runner_kit_text/* say */.cv) `The step was cancelled while the request was in flight.`;
        return { ...describeUnknownAcceptance(operation, what, context), title };
    }
    if (operation === "create" && acceptance === "rejected") {
        return {
            title,
            what: (0,runner_kit_text/* say */.cv) `The step was cancelled before the service accepted its request. No job was started.`,
            next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Run this again to start the job.`, needsNewRun(context)),
        };
    }
    if (operation === "message" && acceptance === "rejected") {
        return {
            title,
            what: (0,runner_kit_text/* say */.cv) `The step was cancelled before the service accepted the message. Job ${jobId} did not receive it.`,
            next: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Run this again to send the message.`, needsNewRun(context)),
        };
    }
    if (operation === "poll" && status === "") {
        const what = (0,runner_kit_text/* say */.cv) `The step was cancelled before the state of job ${jobId} was read. The job may be running.`;
        return { title, what, next: (0,advice/* howToWait */.nF)(context) };
    }
    if (operation !== "message" && status !== "" && status !== "active") {
        const what = (0,runner_kit_text/* say */.cv) `The step was cancelled. Job ${jobId} had already reached the status ${(0,runner_kit_text/* trusted */.IZ)(status)}.`;
        const isOver = context.rerun.usable === "resumes" && !context.comment && status !== "completed";
        return {
            title,
            what,
            next: isOver ? (0,runner_kit_text/* say */.cv) `To start over, re-run this workflow run.` : (0,advice/* howToWait */.nF)(context, "read its result"),
        };
    }
    return {
        title,
        what: (0,runner_kit_text/* say */.cv) `The step was cancelled, but job ${jobId} keeps running: ${(0,runner_kit_text/* trusted */.IZ)(whyNotStopped(context))}.`,
        next: (0,runner_kit_text/* joinSentences */.DP)((0,advice/* howToWait */.nF)(context), (0,advice/* rerunWarning */.lZ)(context)),
    };
}
/** Says which way of running it again works if nothing was started, and a re-run cannot know that. */
function needsNewRun({ rerun, comment }) {
    if (rerun.usable !== "stops" || comment)
        return [];
    return (0,runner_kit_text/* say */.cv) `For that, start a new run of the workflow: this run could not leave word that it started nothing, so a re-run sends nothing.`;
}
function whyNotStopped(context) {
    const { settings, task, state } = context;
    if ((0,advice/* hasDashboard */.HX)(context))
        return "the service cannot stop a job";
    if (state.stop === "unreached")
        return "the service was not reached in time to stop it";
    if (task?.kind === "attach")
        return "a step only stops what it has sent itself";
    if (settings?.onCancel === "keep")
        return "on-cancel is keep";
    return state.features?.has("stop") ? "the service did not find its turn" : "the service cannot stop a job";
}
function describeSubmissionFailure(operation, { acceptance, cause }, context) {
    const { what, next } = (0,request_failure/* explainRequestFailure */.Z)(operation, cause, context);
    if (acceptance === "unknown") {
        // Any other advice ends with running it again, which nobody should do before they have looked for the job.
        const hint = cause instanceof errors/* InvalidResponseError */.tF ? next : [];
        return describeUnknownAcceptance(operation, what, context, hint);
    }
    return operation === "create"
        ? {
            title: "No job was started",
            what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `No job was started.`),
            next: (0,runner_kit_text/* joinSentences */.DP)(next, needsNewRun(context)),
        }
        : {
            title: "Message not accepted",
            what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `The service did not accept the message, so the agent started no work.`),
            next: (0,runner_kit_text/* joinSentences */.DP)(next, needsNewRun(context)),
        };
}
/** Describes a create or message that the service may have accepted: the one case in which a re-run can do harm. */
function describeUnknownAcceptance(operation, what, context, hint = []) {
    const { jobId } = context.state;
    if (operation !== "create") {
        return {
            title: "Message may have been sent",
            what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `The message may have reached job ${jobId}, which may be running.`),
            next: (0,runner_kit_text/* joinSentences */.DP)(hint, context.rerun.usable === "repeats"
                ? (0,runner_kit_text/* say */.cv) `A re-run of this workflow run may send it a second time.`
                : (0,runner_kit_text/* say */.cv) `A re-run sends nothing.`, (0,advice/* howToWait */.nF)(context), context.rerun.usable === "repeats" ? [] : (0,advice/* howToStartAnother */.ZH)(context)),
        };
    }
    const title = "Job may have been started";
    if (jobId) {
        return {
            title,
            what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `The response contains the id of job ${jobId}, which may be running.`),
            next: (0,runner_kit_text/* joinSentences */.DP)(hint, context.rerun.usable === "repeats" ? (0,runner_kit_text/* say */.cv) `A re-run of this workflow run may start a second job.` : [], (0,advice/* howToWait */.nF)(context)),
        };
    }
    return {
        title,
        what: (0,runner_kit_text/* joinSentences */.DP)(what, (0,runner_kit_text/* say */.cv) `A job may have been started, but its id is unknown.`),
        next: context.rerun.usable === "stops"
            ? (0,runner_kit_text/* joinSentences */.DP)(hint, (0,advice/* checkService */._x)(context), (0,runner_kit_text/* say */.cv) `A re-run sends nothing.`, (0,advice/* howToStartAnother */.ZH)(context))
            : (0,runner_kit_text/* joinSentences */.DP)(hint, (0,runner_kit_text/* say */.cv) `Check ${(0,advice/* serviceName */.fe)(context)} before you run this again: a re-run may start a second job.`),
    };
}
function runningJob({ state }) {
    if (state.jobId)
        return (0,runner_kit_text/* say */.cv) `Job ${state.jobId} may be running.`;
    return state.startedAt === undefined ? (0,runner_kit_text/* say */.cv) `No job was started.` : (0,runner_kit_text/* say */.cv) `A job may have been started.`;
}

// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/runner-kit/untrusted.js
var untrusted = __webpack_require__(4436);
// EXTERNAL MODULE: ./build/action/report/agent-message.js
var agent_message = __webpack_require__(5781);
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
        (0,agent_message/* quoteMessage */.Y)(state.finalMessage),
        details(outcome, state, projectId, session),
        timeline(state.timeline, elapsedMs),
        task && task.kind !== "attach" ? summary_prompt(task.prompt) : "",
    ];
    return `${blocks.filter(Boolean).join("\n\n")}\n`;
}
function headline({ pullRequest, jobId, startedAt, status, origin, pageUrl }, elapsedMs) {
    const parts = [];
    if (pullRequest)
        parts.push(`<b>${(0,pull_request_link/* pullRequestLink */.Z)(pullRequest)}</b>`);
    if (pageUrl !== "")
        parts.push((0,job_page_link/* jobPageLink */.D)(pageUrl));
    if (jobId && startedAt !== undefined)
        parts.push(`${(0,format/* timeWord */.IR)(status, origin)} ${(0,format/* duration */.p0)(elapsedMs)}`);
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
        ["Base", state.base],
        ["Model", state.model],
        ["Created", state.createdAt],
        ["Archived", state.archivedAt],
    ];
    const cells = rows.filter(([, value]) => value !== "").map(([name, value]) => [`<b>${name}</b>`, (0,untrusted/* code */.aY)(value)]);
    if (state.costUsd !== undefined)
        cells.push(["<b>Cost</b>", `${(0,untrusted/* code */.aY)(`$${state.costUsd}`)} · the agent's own estimate`]);
    if (state.changes)
        cells.push(["<b>Changes</b>", changesCell(state.changes)]);
    return table(cells);
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

// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
// EXTERNAL MODULE: ./build/action/run-state.js
var run_state = __webpack_require__(7742);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var runner_environment = __webpack_require__(767);
// EXTERNAL MODULE: ./build/action/runner/event-file.js
var event_file = __webpack_require__(561);
;// CONCATENATED MODULE: ./build/action/runner/extra-certificates.js

/**
 * Returns the file of certificates that Node was told to trust but cannot find, and so ignores; `undefined` if there is none.
 * Node's documentation: "NODE_EXTRA_CA_CERTS".
 */
function missingCertificates({ NODE_EXTRA_CA_CERTS: file = "" }) {
    return file === "" || (0,external_node_fs_.existsSync)(file) ? undefined : file;
}

// EXTERNAL MODULE: ./build/action/step-key.js
var step_key = __webpack_require__(6323);
;// CONCATENATED MODULE: ./build/action/main.js

















/** What a re-run does if nothing is remembered. */
const repeats = { usable: "repeats", over: "repeats" };
/** Runs the step and returns whether it passes. Whatever happens, all outputs are set and the log has the outcome. */
async function main(ports) {
    const { toolkit, clock, environment } = ports;
    const log = new report_log/* RunLog */.s(toolkit);
    const state = new run_state/* RunState */.l();
    for (const name of ["api-key", "github-token"])
        maskSecret(toolkit.input(name), toolkit);
    // If the process is killed before it can report a result, the outcome is an error.
    trySetOutputs(outputsOf("error", state, clock.now()), toolkit);
    if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0")
        log.tlsIsNotVerified();
    const certificates = missingCertificates(environment);
    if (certificates !== undefined)
        log.certificatesAreMissing(certificates);
    const { inputs, execution } = await runStep(ports, state, log);
    const settings = inputs?.ok ? inputs.settings : undefined;
    const wantsSummary = inputs === undefined || (inputs.ok ? inputs.settings.summary : inputs.summary);
    const comment = inputs?.ok && inputs.mode.kind === "comment" ? inputs.mode : undefined;
    const { result, task, rerun = repeats, finish } = execution;
    const now = clock.now();
    const elapsedMs = state.elapsedMs(now);
    const outcome = (0,action_result/* outcomeOf */.sG)(result, state);
    const hasPassed = (0,action_outcome/* passes */.WE)(outcome, settings?.failOn ?? new Set());
    const message = describeResult(result, { settings, task, state, rerun, comment });
    const skipReason = result.kind === "skipped" ? result.reason : "";
    const outputsError = trySetOutputs(outputsOf(outcome, state, now, skipReason), toolkit);
    log.ended(outcome, message, hasPassed, state, elapsedMs);
    if (outputsError)
        log.outputsNotWritten(outputsError);
    if (wantsSummary) {
        const { projectId = "", session = "" } = settings ?? {};
        await writeSummary(renderSummary({ outcome, message, state, projectId, session, task, elapsedMs }), toolkit, log);
    }
    await finish?.({ outcome, message, elapsedMs });
    if (result.kind === "invalid-inputs") {
        const { rememberInvalidInputs } = await __webpack_require__.e(/* import() */ 62).then(__webpack_require__.bind(__webpack_require__, 9062));
        await rememberInvalidInputs(toolkit.input("matrix-leg").trim(), ports);
    }
    return hasPassed && !outputsError;
}
/** Reads the inputs and runs what they ask for. Never rejects; `inputs` is `undefined` after a crash while they are read. */
async function runStep(ports, state, log) {
    let inputs;
    try {
        inputs = readInputs(ports);
        if (!inputs.ok) {
            const { problems, skipped } = inputs;
            return { inputs, execution: { result: skipped ?? { kind: "invalid-inputs", problems } } };
        }
        const { settings, mode } = inputs;
        const publishJobId = (jobId) => void trySetOutputs({ "job-id": jobId }, ports.toolkit);
        const credentials = await connectCredentials(settings, ports, log);
        const jobId = mode.kind === "comment" ? mode.jobId : mode.task.kind === "message" ? mode.task.jobId : "";
        const key = new step_key/* StepKey */.K({ ...settings, jobId }, ports.environment);
        const run = { settings, ports, credentials, key, state, log, publishJobId };
        return { inputs, execution: await runMode(mode, run) };
    }
    catch (error) {
        log.debugError(error);
        return { inputs, execution: { result: { kind: "crashed", error } } };
    }
}
function readInputs({ toolkit, environment }) {
    const workspace = environment.GITHUB_WORKSPACE || process.cwd();
    const eventName = environment.GITHUB_EVENT_NAME ?? "";
    return parseInputs({
        canRequestIdTokens: (0,runner_environment/* canRequestIdTokens */.$3)(environment),
        isWindows: (0,runner_environment/* isWindows */.uF)(environment),
        read: (name) => toolkit.input(name),
        readPromptFile: (path) => readPromptFile(path, workspace),
        eventName,
        isFromFork: () => isFromFork(eventName, () => (0,event_file/* readEventFile */.z)(environment.GITHUB_EVENT_PATH ?? "")),
    });
}
async function runMode(mode, run) {
    if (mode.kind === "plain")
        return runPlain(mode.task, run);
    // Loaded here, because it would make every other step start later.
    const { runComment } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(50), __webpack_require__.e(450)]).then(__webpack_require__.bind(__webpack_require__, 8450));
    return runComment(mode, run);
}
/** Returns the credentials of all requests to the service. */
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
        log.summaryNotWritten(error);
    }
}

;// CONCATENATED MODULE: ./build/action/report/crash.js


/** Reports an error that was thrown outside of everything that would have handled it. */
function reportCrash(error, toolkit) {
    const cause = error instanceof Error ? error : new Error(String(error));
    toolkit.debug((0,untrusted/* forLog */.Ig)(cause.stack ?? "").line);
    const text = (0,runner_kit_text/* say */.cv) `The action crashed: ${cause.message}. If the log names a job, it may be running. If the log only says that a job is being created, one may have been started: check the service before you run this again. Report this bug with the log of a run with step debug logging.`;
    toolkit.annotate("error", "Internal error", (0,untrusted/* forAnnotation */.Jc)(text));
}

// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __webpack_require__(7598);
// EXTERNAL MODULE: ./node_modules/@actions/core/lib/core.js + 11 modules
var core = __webpack_require__(1659);
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
    process.on("uncaughtException", (error) => {
        reportCrash(error, runnerToolkit);
        process.exit(1);
    });
    const transports = new Map();
    const hasPassed = await main({
        toolkit: runnerToolkit,
        clock: systemClock,
        random: Math.random,
        connect: (protocol) => {
            const transport = transports.get(protocol) ?? (0,runner_kit_transport/* createTransport */.oO)(protocol, process.env);
            transports.set(protocol, transport);
            return transport;
        },
        connectCache: async () => (await __webpack_require__.e(/* import() */ 987).then(__webpack_require__.bind(__webpack_require__, 7987))).connectCache(process.env),
        connectGitHub: async (...address) => (await Promise.all(/* import() */[__webpack_require__.e(392), __webpack_require__.e(371)]).then(__webpack_require__.bind(__webpack_require__, 371))).connectGitHub(...address),
        connectIdTokens: async (...source) => (await __webpack_require__.e(/* import() */ 653).then(__webpack_require__.bind(__webpack_require__, 7653))).connectIdTokens(...source),
        environment: process.env,
        signal,
    });
    // Exit explicitly, because closing sockets would delay the end of the step, but not before stdout is flushed.
    process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
}


/***/ }),

/***/ 6323:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   K: () => (/* binding */ StepKey)
/* harmony export */ });
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7598);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8039);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(767);



/** What a step's requests are known by. It is the same in all attempts of a workflow run. */
class StepKey {
    /** Whether a re-run has the same key: the runner says which workflow run it is. */
    isLasting;
    /** Hash of the step. */
    step;
    /** @param environment - GitHub's documentation: "Variables reference" */
    constructor(options, environment) {
        const { baseUrl, projectId, session, base, matrixLeg, jobId, request = "" } = options;
        const { GITHUB_REPOSITORY_ID = "", GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
        // Without the ref, which differs between a pull request's branch and its merge.
        const [workflowFile] = (environment.GITHUB_WORKFLOW_REF ?? "").split("@");
        // Such runners count every run as 1, so that one would be taken for another.
        const isRunUnknown = GITHUB_RUN_ID === "" || environment.ACT === "true";
        this.isLasting = !isRunUnknown;
        this.step = (0,_hash_js__WEBPACK_IMPORTED_MODULE_1__/* .hash */ .t)(JSON.stringify([
            isRunUnknown ? (0,node_crypto__WEBPACK_IMPORTED_MODULE_0__.randomUUID)() : GITHUB_RUN_ID,
            (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_2__/* .serverUrl */ .Vd)(environment),
            GITHUB_REPOSITORY_ID,
            workflowFile,
            GITHUB_JOB,
            GITHUB_ACTION,
            matrixLeg,
            baseUrl.href,
            projectId,
            session,
            base,
            jobId,
            request,
        ]));
    }
    /**
     * Returns the key of a create or message.
     *
     * @param prompt - as it is sent
     * @param replaces - the turn that it takes the place of, because that one failed, or `on-rerun` is `new`. Default: none
     */
    of(prompt, replaces) {
        return { step: this.step, request: requestOf(prompt, replaces) };
    }
    /** Returns the newest of the turns that was sent with a prompt; `undefined` if there is none. */
    find(prompt, turns) {
        const replaced = [undefined, ...turns.map(({ turnId }) => turnId)];
        const requests = new Set(replaced.map((turnId) => requestOf(prompt, turnId)));
        return turns.find(({ request }) => requests.has(request));
    }
}
function requestOf(prompt, replaces) {
    return (0,_hash_js__WEBPACK_IMPORTED_MODULE_1__/* .hash */ .t)(JSON.stringify([prompt, replaces ?? null]));
}


/***/ }),

/***/ 6078:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Gv: () => (/* binding */ isObject),
/* harmony export */   Hd: () => (/* binding */ isTerminal),
/* harmony export */   JN: () => (/* binding */ parseJob),
/* harmony export */   OG: () => (/* binding */ parseBody),
/* harmony export */   Xb: () => (/* binding */ isUsableJobId),
/* harmony export */   ih: () => (/* binding */ isKnownStatus),
/* harmony export */   xI: () => (/* binding */ parseErrorMessage)
/* harmony export */ });
/* unused harmony export knownStatuses */
/** The four states of a job. Specification: "States and transitions". */
const knownStatuses = ["active", "completed", "archived", "failed"];
/**
 * Returns whether a job id can be used: `.`, `..` and lone surrogates would change or break the path of later requests,
 * and a control character could end a line in a script or log that prints the id.
 */
function isUsableJobId(id) {
    return id !== "" && id !== "." && id !== ".." && id.isWellFormed() && !/\p{Cc}/u.test(id);
}
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
/**
 * Returns the job record in a response, or `undefined` if it is not one. Specification: "Agent job". Only `id` and `status`
 * can be relied on: another field of the wrong type counts as absent. A status outside the four known ones is kept as
 * received.
 */
function parseJob(data) {
    if (!isObject(data))
        return undefined;
    const { id, status, source } = data;
    if (typeof id !== "string" || !isUsableJobId(id) || typeof status !== "string")
        return undefined;
    const { repository, ref } = isObject(source) ? source : {};
    return {
        id,
        status,
        model: textOf(data.model),
        repository: textOf(repository),
        ref: textOf(ref),
        prLink: textOf(data.prLink),
        createdAt: textOf(data.createdAt),
        archivedAt: textOf(data.archivedAt),
        base: textOf(data.base),
    };
}
/** Returns the message of an error body, `{ "error": "…" }`; empty for the HTML or nothing that gateways send. */
function parseErrorMessage(data) {
    return isObject(data) ? textOf(data.error).trim() : "";
}
/** Returns whether a value is a JSON object. */
function isObject(data) {
    return typeof data === "object" && data !== null && !Array.isArray(data);
}
function textOf(value) {
    return typeof value === "string" ? value : "";
}


/***/ }),

/***/ 6695:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   bD: () => (/* binding */ messageOf),
/* harmony export */   eK: () => (/* binding */ isRequestError),
/* harmony export */   gz: () => (/* binding */ TokenError),
/* harmony export */   j$: () => (/* binding */ HttpError),
/* harmony export */   nx: () => (/* binding */ SubmissionError),
/* harmony export */   tF: () => (/* binding */ InvalidResponseError)
/* harmony export */ });
/* harmony import */ var _runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6903);

/** Thrown when the service, or a gateway in front of it, answered with a status other than 2xx. */
class HttpError extends Error {
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
class InvalidResponseError extends Error {
    name = "InvalidResponseError";
    /** The response body. Untrusted text. */
    body;
    constructor(message, body) {
        super(message);
        this.body = body;
    }
}
/** Thrown when there is no token to send with a request, so that the request was not sent. */
class TokenError extends Error {
    name = "TokenError";
    /** Whether there may be a token later. */
    isTransient;
    constructor(message, isTransient) {
        super(message);
        this.isTransient = isTransient;
    }
}
function isRequestError(error) {
    return (error instanceof _runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_0__/* .NetworkError */ .Dr ||
        error instanceof HttpError ||
        error instanceof InvalidResponseError ||
        error instanceof TokenError);
}
/** Thrown when a create or message has failed for good; `cause` is the last failure. */
class SubmissionError extends Error {
    name = "SubmissionError";
    acceptance;
    /** The id in the part of a create's response that arrived, if there is one. Untrusted text. */
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
/* harmony import */ var _runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6903);
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6695);


/**
 * Decides whether a failed create or message may be sent again. A request that the service may have acted on
 * (`acceptance: "unknown"`) is never retried.
 */
function classifySubmissionFailure(error) {
    if (error instanceof _runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_0__/* .NetworkError */ .Dr) {
        if (error.phase !== "connecting")
            return { acceptance: "unknown", retry: "never" };
        const isTransient = error.reason === "network" || error.reason === "timeout";
        return { acceptance: "rejected", retry: isTransient ? "unreachable" : "never" };
    }
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz) {
        return { acceptance: "rejected", retry: error.isTransient ? "unreachable" : "never" };
    }
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .HttpError */ .j$) {
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
    if (error instanceof _runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_0__/* .NetworkError */ .Dr)
        return error.reason !== "aborted";
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .HttpError */ .j$)
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

/***/ 1021:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $g: () => (/* binding */ parseAnnouncement),
/* harmony export */   D7: () => (/* binding */ parseTurnStatus),
/* harmony export */   hY: () => (/* binding */ hasEnded)
/* harmony export */ });
/* harmony import */ var _contract_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6078);

const endedStatuses = ["completed", "failed", "stopped"];
/** Far longer than any id of a turn. */
const maxTurnIdLength = 200;
/** In characters. A service that keeps to its limits sends no more. */
const maxMessageLength = 4000;
const maxReasonLength = 1000;
/** In US dollars. More is no estimate of a single turn. */
const maxCostUsd = 1000;
/**
 * Parses the answer to the question what was sent under a step. It must repeat the step, and have no turn that cannot be read,
 * because that hides what was sent: otherwise it is `unusable`. Returns `keyless` if the service did not receive the key, so that
 * it would not recognize a request that is repeated.
 */
function parseAnnouncement(data, step) {
    if (!(0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(data) || data.step !== step || !Array.isArray(data.turns))
        return "unusable";
    if (data.key === null)
        return "keyless";
    const turns = data.turns.map(parseTurn);
    if (!turns.every((turn) => turn !== undefined))
        return "unusable";
    const features = Array.isArray(data.features) ? data.features.filter((feature) => typeof feature === "string") : [];
    return { features: new Set(features), turns };
}
function parseTurn(data) {
    if (!(0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(data))
        return undefined;
    const { job, turn, request } = data;
    if (typeof job !== "string" || typeof turn !== "string" || typeof request !== "string")
        return undefined;
    const isUsable = (0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isUsableJobId */ .Xb)(job) && (0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isUsableJobId */ .Xb)(turn) && turn.length <= maxTurnIdLength;
    const known = parseTurnStatus(data);
    if (!isUsable || known === undefined)
        return undefined;
    return {
        jobId: job,
        turnId: turn,
        request,
        status: known,
        message: textIn(data.message, maxMessageLength),
        reason: textIn(data.reason, maxReasonLength),
        costUsd: costIn(data.usage),
    };
}
/** Returns the status of a turn; `undefined` if there is none. */
function parseTurnStatus(data) {
    if (!(0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(data) || typeof data.status !== "string")
        return undefined;
    const { status } = data;
    return status === "waiting" ? status : (endedStatuses.find((ended) => ended === status) ?? "running");
}
function textIn(data, maxLength) {
    return typeof data === "string" ? data.slice(0, maxLength).toWellFormed() : "";
}
function costIn(usage) {
    const cost = (0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(usage) ? usage.costUsd : undefined;
    return typeof cost === "number" && cost >= 0 && cost <= maxCostUsd ? cost : undefined;
}
/** Returns whether a turn has ended. */
function hasEnded(status) {
    return status !== "waiting" && status !== "running";
}


/***/ }),

/***/ 9099:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  x3: () => (/* binding */ minTimeLeftMs),
  Vs: () => (/* binding */ retryAfterMs),
  tA: () => (/* binding */ submit_submit)
});

// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/client/retry.js
var client_retry = __webpack_require__(1992);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
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

;// CONCATENATED MODULE: ./build/client/submit.js



/** A create or message is not sent with less time left, in milliseconds: no response could arrive. */
const minTimeLeftMs = 1000;
/** How long failing connections are retried before a create or message is given up, in milliseconds. */
const unreachableLimitMs = 60_000;
/** How long the service is asked about a doubt, in milliseconds. */
const doubtLimitMs = 60_000;
/**
 * Sends a create or message until it is accepted. It is sent again only if the service has provably not acted on it, or if,
 * after a doubt, the service announces that it knows the request by its key.
 *
 * @returns what `send` returned, and whether it was in doubt before
 * @throws SubmissionError
 */
async function submit_submit(send, limits, ports, onRetry) {
    const { clock, random } = ports;
    let doubt;
    let unreachableSince;
    for (let attempt = 0;; attempt++) {
        const sentAt = clock.now();
        try {
            return { accepted: await send(), wasInDoubt: doubt !== undefined };
        }
        catch (error) {
            if (!(0,errors/* isRequestError */.eK)(error))
                throw error;
            const { acceptance, retry } = (0,client_retry/* classifySubmissionFailure */.V3)(error);
            if (acceptance === "unknown") {
                const found = doubtOf(error, ports);
                if (found.jobId !== undefined)
                    ports.onJobId(found.jobId);
                doubt ??= { error: found, since: clock.now() };
                // A later response may be the one with the job's id.
                if (doubt.error.jobId === undefined && found.jobId !== undefined)
                    doubt = { ...doubt, error: found };
                const latest = Math.min(limits.deadline - minTimeLeftMs, doubt.since + doubtLimitMs);
                const isAnnounced = await askUntil(latest, limits.signal, ports);
                const delayMs = (0,client_retry/* backoffMs */.jo)(attempt, random());
                if (!isAnnounced || clock.now() + delayMs > latest)
                    throw doubt.error;
                onRetry({ error, delayMs, isDoubt: true });
                await clock.sleep(delayMs, limits.signal);
                if (limits.signal.aborted)
                    throw doubt.error;
                continue;
            }
            // What was in doubt before may still be on its way.
            const rejected = doubt?.error ?? new errors/* SubmissionError */.nx("rejected", error);
            if (retry === "never" || limits.signal.aborted)
                throw rejected;
            unreachableSince = retry === "unreachable" ? (unreachableSince ?? sentAt) : undefined;
            const now = clock.now();
            const latest = Math.min(limits.deadline - minTimeLeftMs, unreachableSince === undefined ? Number.POSITIVE_INFINITY : unreachableSince + unreachableLimitMs);
            const minDelayMs = retryAfterMs(error);
            if (now >= latest || now + minDelayMs > latest)
                throw rejected;
            const delayMs = Math.min(Math.max(minDelayMs, (0,client_retry/* backoffMs */.jo)(attempt, random())), latest - now);
            onRetry({ error, delayMs });
            await clock.sleep(delayMs, limits.signal);
        }
    }
}
function doubtOf(error, { redact }) {
    // Only a 2xx contains a job's id; the `id` of an error belongs to the error, or to a gateway's trace.
    return new errors/* SubmissionError */.nx("unknown", error, "body" in error ? salvageId(error.body, redact) : undefined);
}
/** Asks the service until it answers; returns whether it knows requests by their keys. */
async function askUntil(latest, signal, { ask, clock, random }) {
    for (let attempt = 0; !signal.aborted && clock.now() < latest; attempt++) {
        try {
            return (await ask()) !== undefined;
        }
        catch (error) {
            // A page in place of an answer announces nothing.
            if (error instanceof errors/* InvalidResponseError */.tF || !(0,errors/* isRequestError */.eK)(error) || !(0,client_retry/* isTransientPollFailure */.KR)(error))
                return false;
            const delayMs = Math.max((0,client_retry/* backoffMs */.jo)(attempt, random()), retryAfterMs(error));
            if (clock.now() + delayMs > latest)
                return false;
            await clock.sleep(delayMs, signal);
        }
    }
    return false;
}
/** Returns how long the service asks to wait before the next request, in milliseconds; 0 if it does not. */
function retryAfterMs(error) {
    return error instanceof errors/* HttpError */.j$ ? (error.retryAfterMs ?? 0) : 0;
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

/***/ 5593:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   l: () => (/* binding */ createRedactor)
/* harmony export */ });
/** Shorter secrets are not redacted: they would match ids and words by accident. Real keys are far longer. */
const minSecretLength = 8;
/** How many characters at the end of a secret are searched for before the whole secret is. More take longer to compile. */
const endLength = 4;
/**
 * Returns a function that replaces a secret with `***`, as it is and in the encodings in which a service or gateway
 * could echo it: percent-encoding, HTML and JSON escapes (also of single characters), hexadecimal, and base64 of any text that
 * contains it, such as `Bearer KEY` or `user:KEY`. It makes one pass, in time linear in the text.
 *
 * Compiling the pattern of a whole secret takes a tenth of a short step's time, and almost no text contains one. So the
 * end of the secret is searched for first: every encoding of the secret ends with an encoding of its end.
 */
function createRedactor(secret) {
    if (secret.length < minSecretLength)
        return (text) => text;
    const end = new RegExp(anyEncodingOf([...secret].slice(-endLength).join("")), "iu");
    let whole;
    return (text) => {
        if (!end.test(text))
            return text;
        whole ??= new RegExp(anyEncodingOf(secret), "giu");
        return text.replace(whole, "***");
    };
}
/** Returns a pattern for a text in each of the encodings. */
function anyEncodingOf(text) {
    const encodings = [
        [...text].map(escapedCharacter).join(""),
        [...Buffer.from(text)].map((byte) => hex(byte)).join(""),
        ...[0, 1, 2].map((bytesBefore) => base64Pattern(text, bytesBefore)),
    ];
    return encodings.join("|");
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

/***/ 6903:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Dr: () => (/* binding */ NetworkError),
/* harmony export */   Ij: () => (/* binding */ createRunnerTransport),
/* harmony export */   oJ: () => (/* binding */ isSuccess),
/* harmony export */   oO: () => (/* binding */ createTransport)
/* harmony export */ });
/* harmony import */ var node_http__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7067);
/* harmony import */ var node_https__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(4708);


/** Thrown when there is no complete response: no connection, a reset, a timeout, an abort, a body that is too large. */
class NetworkError extends Error {
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
/** A job record has a few hundred bytes. */
const maxBodyBytes = 1024 * 1024;
/** How long to wait for the body of a response that is not 2xx, in milliseconds: its status says enough. */
const errorBodyTimeoutMs = 2000;
/** A connection that was opened early and has been idle for longer is not used, in milliseconds: servers close them. */
const maxIdleMs = 2000;
const cancelled = "the step was cancelled";
/**
 * Creates a transport on `node:http(s)`. Unlike `fetch`, it knows how far a request got before it failed, and so whether
 * the service can have seen it. `https` honors the proxy variables; plain `http`, which is only for loopback hosts,
 * does not, so that the key never reaches a proxy in the clear.
 *
 * @param protocol - `https:` or `http:`
 * @param environment - for the proxy settings: `https_proxy`, `no_proxy` and so on, in lower or upper case
 * @throws NetworkError if the proxy address in the environment is invalid
 */
function createTransport(protocol, environment) {
    const client = protocol === "https:" ? node_https__WEBPACK_IMPORTED_MODULE_1__ : node_http__WEBPACK_IMPORTED_MODULE_0__;
    const proxies = protocol === "https:" ? environment : {};
    const agent = createAgent(protocol, proxies);
    let early;
    // The server may already have closed a kept-alive connection, and a create sent into it would have an unknown
    // outcome. So a POST never uses one.
    const dropIdle = () => {
        for (const socket of Object.values(agent.freeSockets).flat())
            socket?.destroy();
    };
    const transport = async (request) => {
        if (request.method !== "POST")
            return send(client, agent, request);
        const take = early;
        early = undefined;
        const outgoing = await take?.(request.url);
        dropIdle();
        return send(client, agent, request, outgoing);
    };
    transport.open = (origin) => {
        dropIdle();
        early ??= openEarly(client.request(origin, { method: "POST", agent }), origin);
    };
    return transport;
}
/**
 * Creates a transport to the runner's own services and their storage. It keeps connections, also for a POST, and honors the proxy
 * variables for plain `http`, too. Proxy settings that are not valid are a {@link NetworkError} of the request.
 */
function createRunnerTransport(environment) {
    const agents = new Map();
    return async (request) => {
        const { protocol } = request.url;
        const agent = agents.get(protocol) ?? createAgent(protocol, environment);
        agents.set(protocol, agent);
        return send(protocol === "https:" ? node_https__WEBPACK_IMPORTED_MODULE_1__ : node_http__WEBPACK_IMPORTED_MODULE_0__, agent, request);
    };
}
/**
 * Opens the connection of a request that is written later: Node connects as soon as there is one.
 *
 * @returns what returns the request for an address; `undefined` if its connection is closed, stale, or to another origin
 */
function openEarly(outgoing, { origin }) {
    let idleSince = Number.POSITIVE_INFINITY;
    let isClosed = false;
    const close = () => {
        isClosed = true;
    };
    outgoing.on("socket", (socket) => {
        onceConnected(socket, () => {
            idleSince = performance.now();
        });
    });
    // A server that has something to say before it is asked, such as `408`, closes the connection.
    outgoing.on("response", close).on("error", close).on("close", close);
    return async (url) => {
        // If the process was paused, it has not read yet that the server has closed the connection.
        await new Promise(setImmediate);
        outgoing.path = url.pathname + url.search;
        if (!isClosed && performance.now() - idleSince < maxIdleMs && url.origin === origin)
            return outgoing;
        outgoing.destroy();
        return undefined;
    };
}
function createAgent(protocol, environment) {
    const name = protocol === "https:" ? "https_proxy" : "http_proxy";
    const address = proxyAddress(name, environment);
    const proxyEnv = { ...environment, [name]: address, [name.toUpperCase()]: undefined };
    try {
        return new (protocol === "https:" ? node_https__WEBPACK_IMPORTED_MODULE_1__ : node_http__WEBPACK_IMPORTED_MODULE_0__).Agent({ keepAlive: true, proxyEnv });
    }
    catch {
        // Node's error quotes the address, which may contain a password, so it is not passed on as the cause.
        throw invalidProxy(`the proxy address in ${name} is not a valid URL`);
    }
}
/**
 * Returns the address of the proxy in a variable, in the form that Node reads; `undefined` without a proxy. Like curl, it
 * accepts an address without a scheme and a scheme in any case. Node would silently ignore these.
 *
 * @throws NetworkError if it is a proxy of another kind
 */
function proxyAddress(name, environment) {
    const address = (environment[name] || environment[name.toUpperCase()] || "").trim();
    if (address === "")
        return undefined;
    const [prefix = "", scheme = "http"] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
    if (!/^https?$/i.test(scheme)) {
        throw invalidProxy(`${name} names a ${scheme.toLowerCase()} proxy, but only http and https proxies are supported`);
    }
    return `${scheme.toLowerCase()}://${address.slice(prefix.length)}`;
}
function invalidProxy(message) {
    return new NetworkError(message, { phase: "connecting", reason: "network" });
}
/** @param early - a request whose connection is open or being opened. Default: a new one */
function send(client, agent, request, early) {
    return new Promise((resolve, reject) => {
        let phase = "connecting";
        let incoming;
        let errorBodyTimer;
        let graceTimer;
        const chunks = [];
        /** Whether the body is too large, or not what the caller can use. */
        let isRefused = false;
        let bytes = 0;
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
            if (incoming && ((incoming.complete && !isRefused) || !isSuccess(status))) {
                resolve({ status, headers: singleValues(incoming.headers), body });
            }
            else {
                reject(new NetworkError(message, { phase, reason, cause, body }));
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
        const refuse = (message, cause) => {
            isRefused = true;
            conclude("network", message, cause);
        };
        const onData = (chunk, isCollected) => {
            if (isRefused)
                return;
            bytes += chunk.length;
            if (isCollected && bytes > maxBodyBytes)
                return refuse("the response is larger than 1 MiB");
            if (isCollected)
                return void chunks.push(chunk);
            try {
                request.onPart?.(chunk);
            }
            catch (error) {
                refuse(`the response cannot be used: ${error instanceof Error ? error.message : String(error)}`, error);
            }
        };
        const onResponse = (response) => {
            incoming = response;
            phase = "reading";
            if (!isSuccess(response.statusCode ?? 0))
                errorBodyTimer = setTimeout(onTimeout, errorBodyTimeoutMs);
            const isCollected = !request.onPart || !isSuccess(response.statusCode ?? 0);
            response.on("data", (chunk) => onData(chunk, isCollected));
            // If the service responds before it has read the whole request, "close" comes only much later.
            response.on("end", onClose);
        };
        if (request.signal.aborted) {
            early?.destroy();
            reject(new NetworkError(cancelled, { phase, reason: "aborted" }));
            return;
        }
        const { method } = request;
        const headers = headersOf(request);
        const outgoing = early ?? client.request(request.url, { method, agent, headers });
        if (early)
            for (const [name, value] of Object.entries(headers))
                early.setHeader(name, value);
        const timer = setTimeout(onTimeout, request.timeoutMs);
        const onSocket = (socket) => {
            onceConnected(socket, () => {
                phase = "sending";
            });
        };
        if (outgoing.socket)
            onSocket(outgoing.socket);
        else
            outgoing.on("socket", onSocket);
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
