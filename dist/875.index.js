export const id = 875;
export const ids = [875];
export const modules = {

/***/ 6622:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Lx: () => (/* binding */ isClosed),
/* harmony export */   NN: () => (/* binding */ isTriggeredBy),
/* harmony export */   P: () => (/* binding */ permissions),
/* harmony export */   Zn: () => (/* binding */ isThreadEvent),
/* harmony export */   iB: () => (/* binding */ triggerKinds),
/* harmony export */   ty: () => (/* binding */ isFromFork)
/* harmony export */ });
/* unused harmony export threadEvents */
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(767);

const triggerKinds = {
    issue_comment: "comment",
    pull_request_review_comment: "comment",
    pull_request_review: "review",
    issues: "issue",
    pull_request: "pull request",
    pull_request_target: "pull request",
};
const threadEvents = Object.keys(triggerKinds);
function isThreadEvent(name) {
    return Object.hasOwn(triggerKinds, name);
}
function isTriggeredBy(name, phrase, label) {
    if (!isThreadEvent(name))
        return false;
    const kind = triggerKinds[name];
    return phrase !== "" || (label !== "" && (kind === "issue" || kind === "pull request"));
}
const saidOrOpened = /(^|_)(comment|discussion|review|issue|pull_request)$/;
function isClosed(environment) {
    if (isThreadEvent(environment.GITHUB_EVENT_NAME ?? ""))
        return true;
    if (!environment.GITHUB_EVENT_PATH)
        return false;
    const payload = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_0__/* .readEvent */ .j_)(environment);
    return typeof payload === "object" && Object.keys(payload ?? {}).some((name) => saidOrOpened.test(name));
}
const permissions = ["read", "triage", "write", "maintain", "admin"];
const eventsWithoutSecrets = ["pull_request", "pull_request_review", "pull_request_review_comment"];
function isFromFork(environment) {
    if (!eventsWithoutSecrets.includes(environment.GITHUB_EVENT_NAME ?? ""))
        return false;
    try {
        const { head, base } = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_0__/* .readEvent */ .j_)(environment).pull_request ?? {};
        const id = base?.repo?.id;
        return head !== undefined && Number.isInteger(id) && head.repo?.id !== id;
    }
    catch {
        return false;
    }
}


/***/ }),

/***/ 6205:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Ft: () => (/* binding */ placeholders),
/* harmony export */   KV: () => (/* binding */ sectionsBelow),
/* harmony export */   hX: () => (/* binding */ unknownPlaceholders),
/* harmony export */   i2: () => (/* binding */ inLine),
/* harmony export */   oB: () => (/* binding */ defaultTemplate),
/* harmony export */   ou: () => (/* binding */ fillTemplate),
/* harmony export */   ps: () => (/* binding */ hasInstruction),
/* harmony export */   qq: () => (/* binding */ addSections)
/* harmony export */ });
const inLine = (name) => name.replace(/[\\"]/g, "\\$&").replace(/[\s\u0085]+/g, " ");
const eventValues = {
    instruction: (_, instruction) => instruction,
    author: ({ author }) => author.login,
    title: ({ subject }) => inLine(subject.title),
    body: ({ subject }) => subject.body,
    number: ({ subject }) => String(subject.number),
    url: ({ subject }) => subject.url,
    path: ({ position }) => inLine(position?.path ?? ""),
    line: ({ position }) => String(position?.line ?? ""),
    label: ({ label }) => label ?? "",
    review: ({ reviewUrl }) => reviewUrl ?? "",
};
function placeholders(hasChanges) {
    return [...Object.keys(eventValues), "thread", ...(hasChanges ? ["changes"] : [])];
}
const pattern = /\{\{([^{}]*)\}\}/g;
function unknownPlaceholders(template, known) {
    return [...new Set(namesIn(template).filter((name) => !known.includes(name)))];
}
function hasInstruction(template) {
    return namesIn(template).includes("instruction");
}
function namesIn(template) {
    return [...template.matchAll(pattern)].map(([, name = ""]) => name.trim());
}
const sectionsBelow = {
    changes: "(listed after this task, if there are any)",
    thread: "(quoted after this task, if it says anything)",
};
function fill(text, values, sections) {
    const given = Object.entries(sections).filter(([, section]) => section !== undefined);
    const byName = new Map(Object.entries({ ...values, ...Object.fromEntries(given) }));
    const filled = text.replace(pattern, (placeholder, name) => byName.get(name.trim()) ?? placeholder);
    const names = namesIn(text);
    const isOver = (name, section) => section !== "" && section !== sectionsBelow[name] && !names.includes(name);
    return [filled, ...given.flatMap(([name, section]) => (isOver(name, section) ? [section] : []))].join("\n\n");
}
function addSections(prompt, { changes }) {
    return changes === undefined ? prompt : fill(prompt, {}, { changes });
}
function fillTemplate(template, instruction, event, sections) {
    const values = Object.entries(eventValues).map(([name, read]) => [name, read(event, instruction)]);
    return fill(template, Object.fromEntries(values), { changes: "", thread: "", ...sections });
}
function defaultTemplate({ subject, position, reviewUrl }) {
    const place = position ? `\nFile: {{ path }}${position.line === undefined ? "" : ", line {{ line }}"}` : "";
    const review = reviewUrl === undefined ? "" : "\nReview: {{ review }}";
    return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}\n{{ url }}${place}${review}`;
}


/***/ }),

/***/ 3538:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   D: () => (/* binding */ commitOf),
/* harmony export */   q: () => (/* binding */ wholeHistory)
/* harmony export */ });
function commitOf(ref) {
    return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}
const wholeHistory = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";


/***/ }),

/***/ 8039:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   t: () => (/* binding */ hash)
/* harmony export */ });
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7598);

function hash(text) {
    return (0,node_crypto__WEBPACK_IMPORTED_MODULE_0__.createHash)("sha256").update(text).digest("hex").slice(0, 32);
}


/***/ }),

/***/ 6929:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   T: () => (/* binding */ isMintlify)
/* harmony export */ });
function isMintlify(baseUrl) {
    return baseUrl.hostname === "api.mintlify.com";
}


/***/ }),

/***/ 491:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   In: () => (/* binding */ levelOf),
/* harmony export */   K1: () => (/* binding */ failReasons),
/* harmony export */   KI: () => (/* binding */ outcomes)
/* harmony export */ });
/* unused harmony export failableOutcomes */
const outcomes = {
    "pr-created": { icon: "✅", passes: "always", level: undefined, reaction: "hooray" },
    failed: { icon: "❌", passes: "configurable", level: "warning", reaction: "confused" },
    archived: { icon: "📦", passes: "configurable", level: "warning", reaction: undefined },
    "timed-out": { icon: "⏳", passes: "configurable", level: "warning", reaction: "confused" },
    "no-changes": { icon: "⚪", passes: "configurable", level: "notice", reaction: undefined },
    started: { icon: "🚀", passes: "always", level: undefined, reaction: undefined },
    cancelled: { icon: "⏹️", passes: "never", level: undefined, reaction: undefined },
    skipped: { icon: "⏭️", passes: "always", level: "notice", reaction: undefined },
    error: { icon: "❌", passes: "never", level: undefined, reaction: "confused" },
};
const failableOutcomes = Object.keys(outcomes).filter(isFailable);
function isFailable(outcome) {
    return outcomes[outcome].passes === "configurable";
}
const failReasons = [...failableOutcomes, "check-failed"];
function levelOf(outcome, failOn, check) {
    if (outcome === "pr-created" && check !== "" && check !== "passed")
        return check === "failed" && failOn.has("check-failed") ? "error" : "warning";
    const { passes, level } = outcomes[outcome];
    const hasFailed = isFailable(outcome) ? failOn.has(outcome) : passes === "never";
    return hasFailed ? "error" : level;
}


/***/ }),

/***/ 8808:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   x: () => (/* binding */ locatePullRequest),
/* harmony export */   y: () => (/* binding */ parsePullRequest)
/* harmony export */ });
const numberedPath = /^[^?#]*\/(?:pull|pulls|pull-requests|pullrequest|merge_requests)\/(\d+)\/?$/;
const maxUrlLength = 4096;
function parsePullRequest(prLink) {
    if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(prLink) || !URL.canParse(prLink))
        return undefined;
    const { href } = new URL(prLink);
    const hasCredentials = /^[^/]*[/\\]+[^/?#\\]*@/.test(prLink);
    if (href.length > maxUrlLength || hasCredentials)
        return undefined;
    return { url: href, number: numberedPath.exec(href)?.[1] ?? "" };
}
function locatePullRequest({ url }, serverUrl) {
    const { origin, pathname } = new URL(url);
    const [, owner, repo, number] = /^\/([^/]+)\/([^/]+)\/pull\/(\d+)\/?$/.exec(pathname) ?? [];
    if (origin !== URL.parse(serverUrl)?.origin || !owner || !repo)
        return undefined;
    return { owner, repo, number: Number(number) };
}


/***/ }),

/***/ 7772:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  U9: () => (/* binding */ count),
  cb: () => (/* binding */ delay),
  wv: () => (/* binding */ describeCounts),
  Y7: () => (/* binding */ describeHidden),
  p0: () => (/* binding */ duration),
  vk: () => (/* binding */ elapsed),
  ZG: () => (/* binding */ iconOf),
  Bs: () => (/* binding */ jobLinks),
  nf: () => (/* binding */ format_link),
  YG: () => (/* binding */ quoteMessage),
  m3: () => (/* binding */ shortRef),
  Ej: () => (/* binding */ size),
  IR: () => (/* binding */ timeWord)
});

// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/runner-kit/inert-text.js
var inert_text = __webpack_require__(5136);
// EXTERNAL MODULE: ./build/runner-kit/untrusted.js
var runner_kit_untrusted = __webpack_require__(4436);
;// CONCATENATED MODULE: ./build/runner-kit/quotation.js


const maxLength = 10_000;
const maxQuoted = 20_000;
const maxIndent = 8;
const truncated = "[truncated]";
const inline = /(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|[\\`[\]<&~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\$/gu;
const dollar = "<span>$</span>";
const underline = /^(?=[-=:|][-=:|\s]*$)/;
const block = /^(?=[-+*](?:\s|$)|[>#])|(?<=^\d{1,9})(?=[.)](?:\s|$))/;
const fence = /^\s*(?:(`{3,})[^`]*|(~{3,}).*)$/;
function quote(untrusted, maxLines = maxLength) {
    const all = (0,runner_kit_untrusted/* printable */.g$)(untrusted.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")).trim();
    const head = all.split("\n", maxLines).join("\n");
    for (let length = maxLength;; length = Math.floor(length / 2)) {
        const text = head.slice(0, length).toWellFormed();
        const lines = quotedLines((0,inert_text/* inertText */.U)(text));
        if (text.length < all.length)
            lines.push("", escaped(truncated));
        const quoted = lines.join("\n").trim().replace(/^/gm, "> ").replace(/^> $/gm, ">");
        if (quoted.length <= maxQuoted)
            return quoted;
    }
}
const escaped = (text) => text.replace(inline, (found, ticks) => (ticks ? found : found === "$" ? dollar : `\\${found}`));
function quotedLines(text) {
    const lines = [];
    let [opened, isInList] = ["", false];
    for (const line of text.split("\n")) {
        const [, ticks, mark = ticks ?? ""] = fence.exec(line) ?? [];
        const isEnd = opened !== "" && mark.startsWith(opened) && line.trim() === mark;
        if (isEnd || (opened === "" && mark !== "")) {
            opened = isEnd ? "" : mark;
            continue;
        }
        const isCode = opened !== "" || /^\s*\|/.test(line);
        const [, space = "", item = "", rest = ""] = /^(\s*)((?:[-+*]|\d{1,9}[.)])\s+(?=\S))?(.*)$/.exec(line) ?? [];
        const indent = isInList ? space.replaceAll("\t", "    ").slice(0, maxIndent) : "";
        if (!isCode && rest !== "")
            isInList = item !== "" || indent !== "";
        const shown = isCode ? line : indent + item + (item === "" ? paragraph(rest) : begun(rest));
        lines.push({ isCode, text: shown.trimEnd() });
    }
    const runs = lines.flatMap(({ isCode, text: own }) => (isCode ? [...own.matchAll(/`+/g)] : []));
    const own = "`".repeat(runs.reduce((most, [{ length }]) => Math.max(most, length), 2) + 1);
    return lines.flatMap(({ text: shown, isCode }, index) => {
        const [before, next] = [lines[index - 1], lines[index + 1]];
        if (isCode)
            return [...(before?.isCode ? [] : [own]), shown, ...(next?.isCode ? [] : [own])];
        return next?.text && !next.isCode && shown !== "" ? `${shown}  ` : shown;
    });
}
function paragraph(line) {
    const [, title] = /^#{1,6}\s+([^#\s].*)$/.exec(line) ?? [];
    return title === undefined ? begun(line) : `**${escaped(title)}**`;
}
const begun = (text) => escaped(text).replace(underline, "\\").replace(block, "\\");
function unquote(lines, start) {
    let end = start;
    let opened;
    const text = [];
    for (; lines[end]?.startsWith(">"); end++) {
        const line = lines[end]?.replace(/^> ?/, "") ?? "";
        const isFence = opened === undefined ? /^`{3,}$/.test(line) : line === opened;
        if (isFence)
            opened = opened === undefined ? line : undefined;
        text.push(isFence || opened !== undefined ? line : unescaped(line.trimEnd()));
    }
    return end === start ? undefined : { text: withoutMarks(text.join("\n")), end: end - 1 };
}
const unescaped = (line) => line.replace(/\\([!-/:-@[-`{-~])|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)|<span>\$<\/span>/g, (found, character) => character ?? (found === dollar ? "$" : found));

// EXTERNAL MODULE: ./build/runner-kit/text.js
var runner_kit_text = __webpack_require__(9563);
// EXTERNAL MODULE: ./build/action/outcome.js
var action_outcome = __webpack_require__(491);
;// CONCATENATED MODULE: ./build/action/report/format.js





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
function delay(ms) {
    return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);
}
function elapsed(ms) {
    const seconds = Math.floor(ms / 1000);
    const pad = (value) => String(value).padStart(2, "0");
    const hours = Math.floor(seconds / 3600);
    const rest = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
    return hours > 0 ? `${hours}:${rest}` : rest;
}
function size(text) {
    const characters = [...text].length;
    return `${String(characters).replace(/\B(?=(\d{3})+$)/g, ",")} ${characters === 1 ? "character" : "characters"}`;
}
function count(number, noun) {
    return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
function timeWord({ status, origin }) {
    if (!(0,contract/* isTerminal */.Hd)(status))
        return "after";
    return origin === "resumed" ? "waited" : "took";
}
function shortRef(ref) {
    return /^[0-9a-f]{40}$/.test(ref) ? ref.slice(0, 7) : ref;
}
function describeFiles({ files, otherFiles, isTruncated, paths }) {
    const all = `${isTruncated ? "more than " : ""}${count(files.length + otherFiles, "file")}`;
    return paths.length === 0 ? all : `${files.length} of ${all} ${files.length === 1 ? "matches" : "match"} paths`;
}
function describeCounts(changes) {
    if (changes.isUnlisted)
        return "GitHub cannot compare all of this range, so not all commits and files are listed";
    return `${count(changes.commitCount, "commit")}, ${describeFiles(changes)}`;
}
function format_link(url, text) {
    return `<a href="${(0,runner_kit_untrusted/* forHtml */.B2)(url, url.length)}">${text}</a>`;
}
const iconOf = (outcome, { check }) => outcome === "pr-created" && check === "failed" ? "⚠️" : action_outcome/* outcomes */.KI[outcome].icon;
function jobLinks({ pullRequest, pageUrl }) {
    const name = pullRequest?.number ? `Pull request ${pullRequest.number}` : "Pull request";
    return {
        pullRequest: pullRequest ? [format_link(pullRequest.url, name)] : [],
        page: pageUrl === "" ? [] : [format_link(pageUrl, "Job page")],
    };
}
const maxLines = 60;
function quoteMessage(message) {
    return message === "" ? "" : `<p>The agent's last message:</p>\n\n${quote(message, maxLines)}`;
}
function describeHidden(number) {
    return (0,runner_kit_text/* say */.cv) `Left out of the request, because the page does not show it: ${(0,runner_kit_text/* trusted */.IZ)(count(number, "hidden part"))}, such as comments and invisible characters.`;
}


/***/ }),

/***/ 337:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   DN: () => (/* binding */ howToContinue),
/* harmony export */   E_: () => (/* binding */ startsOver),
/* harmony export */   HX: () => (/* binding */ hasDashboard),
/* harmony export */   ZH: () => (/* binding */ howToStartAnother),
/* harmony export */   _$: () => (/* binding */ howToTakeUp),
/* harmony export */   _x: () => (/* binding */ checkService),
/* harmony export */   ci: () => (/* binding */ addressOf),
/* harmony export */   fe: () => (/* binding */ serviceName),
/* harmony export */   fy: () => (/* binding */ reportBug),
/* harmony export */   lM: () => (/* binding */ howToSendAnew),
/* harmony export */   lZ: () => (/* binding */ rerunWarning),
/* harmony export */   nF: () => (/* binding */ howToWait)
/* harmony export */ });
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9563);
/* harmony import */ var _mintlify_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6929);


function howToWait(context, purpose = "wait for it") {
    const { state, settings, rerun, task } = context;
    if (settings?.agent && settings.onRerun === "new" && !context.comment)
        return state.jobId === "" ? [] : howToTakeUp("that job", (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `job-id ${state.jobId}`, context);
    if (settings?.agent && rerun.usable !== "resumes")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To take it up again, re-run this workflow run.`;
    if (rerun.usable !== "resumes") {
        const limit = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(task?.kind === "message" ? ", which does not see what the message changed" : "");
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(purpose)}, run the action with job-id ${state.jobId} and no prompt${limit}.`;
    }
    const action = settings?.wait === false ? "check on it" : purpose;
    const exception = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(rerun.over === "repeats" && startsOver(context) ? ", unless the job fails" : "");
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(action)}, re-run this workflow run: nothing is sent again${exception}.`;
}
function startsOver({ comment, state }) {
    return comment === undefined || state.features !== undefined;
}
function howToTakeUp(what, jobId, { settings }) {
    const [purpose, prompt] = settings?.agent ? ["continue", "a"] : ["wait for", "no"];
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(purpose)} ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(what)}, run the action with ${jobId} and ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(prompt)} prompt.`;
}
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
function howToContinue({ state, rerun }) {
    return rerun.usable === "resumes"
        ? []
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To continue with this job, send a follow-up: set job-id to ${state.jobId} and give a prompt.`;
}
function howToSendAnew({ state, settings, comment }, isKept) {
    const asks = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `ask again in the thread`;
    if (comment && isKept && !comment.reply)
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `set job-id: ${state.jobId} in the workflow and ${asks}`;
    if (comment)
        return asks;
    const isSought = isKept && !settings?.session;
    return isSought ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `start a new run with job-id: ${state.jobId} and the same prompt` : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `start a new run`;
}
function hasDashboard({ settings }) {
    return settings !== undefined && (0,_mintlify_js__WEBPACK_IMPORTED_MODULE_1__/* .isMintlify */ .T)(settings.baseUrl);
}
function addressOf(settings) {
    return settings?.agent ? undefined : settings?.baseUrl.href;
}
function howToStartAnother({ comment }, unless = "If there is none") {
    if (!comment)
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(unless)}, start a new run of the workflow (not a re-run) to send the request. To choose that for a re-run, have on-rerun: \${{ vars.AGENT_ON_RERUN || 'resume' }} in the workflow, and set the variable to new.`;
    if (comment.phrase === "")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To send the request regardless, set the label ${comment.label} again.`;
    return comment.jobId === ""
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To start another job, comment ${`${comment.phrase} new …`}.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `To send another message, comment ${`${comment.phrase} …`}.`;
}
function serviceName(context) {
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .trusted */ .IZ)(hasDashboard(context) ? "the dashboard" : "the service");
}
function checkService(context) {
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `Check ${serviceName(context)} for the job.`;
}
const reportBug = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_0__/* .say */ .cv) `Report this bug with the log of a run with step debug logging.`;


/***/ }),

/***/ 4108:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Hr: () => (/* binding */ failureReason),
/* harmony export */   Z: () => (/* binding */ explainRequestFailure),
/* harmony export */   c4: () => (/* binding */ isNotFound)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(9563);
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(4436);
/* harmony import */ var _format_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7772);
/* harmony import */ var _message_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(337);





const hourMs = 3_600_000;
function explainRequestFailure(operation, error, context) {
    const failure = [...(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .capitalized */ .l2)(failureReason(error, (0,_message_js__WEBPACK_IMPORTED_MODULE_3__/* .addressOf */ .ci)(context.settings))), "."];
    if (context.settings?.agent) {
        const log = isNotFound(operation, error)
            ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Job ${context.state.jobId} was not found. Check job-id: a run knows the jobs of the same agent, repository and --name, by their branch, their pull request or the Actions cache. To start a new job, remove job-id.`
            : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `See the log of the agent's service. If it does not say why, run this again.`;
        const input = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Change that, and start a new run: a re-run keeps this run's workflow file.`;
        return { what: failure, next: error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$ && error.status === 400 ? input : log };
    }
    const [reason, next] = error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$ ? adviceOnAnswer(operation, error, context) : [[], adviceOnFailure(operation, error)];
    return { what: (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .joinSentences */ .DP)(reason, failure), next };
}
function adviceOnFailure(operation, error) {
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .InvalidResponseError */ .tF)
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check base-url.`;
    const checkNetwork = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `the runner's network and its proxy settings (https_proxy, no_proxy)${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .trusted */ .IZ)(thenAgain(operation))}.`;
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .TokenError */ .gz)
        return error.isTransient
            ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check ${checkNetwork}`
            : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check that the job has permissions: id-token: write. If not, add it and start a new run: a re-run keeps this run's workflow file.`;
    return error.reason === "certificate"
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check base-url. If a private certificate authority signed the certificate, set the environment variable NODE_EXTRA_CA_CERTS of the step to that authority's file, or NODE_USE_SYSTEM_CA=1 if the runner's system trusts it.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check base-url, ${checkNetwork}`;
}
function adviceOnAnswer(operation, { status, serviceMessage, isOfService, retryAfterMs }, context) {
    const isMintlify = (0,_message_js__WEBPACK_IMPORTED_MODULE_3__/* .hasDashboard */ .HX)(context);
    const usesIdToken = context.settings?.auth === "github-oidc";
    switch (status) {
        case 400:
            if (operation === "poll")
                return [[], (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check job-id and project-id.`];
            if (serviceMessage === "")
                return [[], (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check base-url, and any gateway or proxy in front of the service.`];
            return [
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The service rejected the request.`,
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Change what the service's message names, then start a new run.`,
            ];
        case 401:
            if (usesIdToken)
                return [(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The service does not trust this workflow run.`, howToTrust(operation)];
            return [
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The service rejected the API key.`,
                isMintlify
                    ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The key is wrong, deleted or expired (keys expire after 90 days by default). Create an admin key on the API keys page of the dashboard and update the secret.`
                    : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The key is wrong, deleted or expired. Update the secret with a key that the service accepts.`,
            ];
        case 403:
            if (/^error code: 1\d{3}$/.test(serviceMessage))
                return [
                    (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Cloudflare, in front of the service, blocked the request: no key was looked at.`,
                    (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Let the service's owner allow the runner's address and the User-Agent agent-job-action.`,
                ];
            if (usesIdToken)
                return [(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Access was denied.`, howToTrust(operation)];
            if (isMintlify)
                return [
                    serviceMessage === "" ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Access was denied.` : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The API key is not allowed from this IP address.`,
                    (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Allow the runner's address on the API keys page of the dashboard, or use a runner with a fixed address.`,
                ];
            return [
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Access was denied.`,
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .joinSentences */ .DP)(operation === "poll" ? [] : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `A key that may only read starts nothing: use one that may start jobs.`, (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `If the service limits addresses, allow the runner's.`),
            ];
        case 404:
            return adviceOnNotFound(operation, isOfService === true, context);
        case 413:
            return [
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The prompt is too large for the service, or for a gateway in front of it.`,
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Make the prompt shorter: with changes, use list instead of diff, or fewer paths.`,
            ];
        case 429:
            return [
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The rate limit is exceeded: 100 jobs and 100 messages per project and hour.`,
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Run this again after ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .trusted */ .IZ)((0,_format_js__WEBPACK_IMPORTED_MODULE_2__/* .duration */ .p0)(retryAfterMs ?? hourMs))}, and spread out the runs. With a longer timeout-minutes, the action waits until the limit allows it.`,
            ];
        case 503:
            return [
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `The service is unavailable.`,
                (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Run this again later. With a longer timeout-minutes, the action waits for the service.`,
            ];
    }
    if (status < 400) {
        const secret = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .trusted */ .IZ)(usesIdToken ? "token" : "API key");
        return [
            (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Redirects are not followed, because that would send the ${secret} to another address.`,
            (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Set base-url to the service's own URL.`,
        ];
    }
    return [[], serviceMessage ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `See the service's message.` : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check base-url.`];
}
const isNotFound = (operation, error) => operation !== "create" && error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$ && error.status === 404 && error.isOfService === true;
function adviceOnNotFound(operation, isOfService, context) {
    const { settings, state } = context;
    const project = settings?.projectId ?? "";
    const isCreate = operation === "create";
    const reason = isCreate
        ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Project ${project} was not found.`
        : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Job ${state.jobId} was not found in project ${project}.`;
    if (/\/v2\/*$/.test(settings?.baseUrl.pathname ?? ""))
        return [reason, (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `base-url ends in /v2, which the action adds itself: remove it from base-url.`];
    if (!isCreate && !isOfService)
        return [[], (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check base-url, and any gateway or proxy in front of the service.`];
    if (!isCreate)
        return [reason, (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check job-id and project-id: a job is only found in its own project.`];
    const where = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Copy project-id from the API keys page of the dashboard, and check base-url.`;
    return [reason, (0,_message_js__WEBPACK_IMPORTED_MODULE_3__/* .hasDashboard */ .HX)(context) ? where : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Check project-id and base-url.`];
}
const howToTrust = (operation) => (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Its answer says what is wrong with the token. The service must trust this repository, and the ref or environment of this run (--trust, if it is the service of this project), and have the origin of base-url as its own URL (--public-url)${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .trusted */ .IZ)(thenAgain(operation))}.`;
const thenAgain = (operation) => operation === "poll" ? "" : ". Then run this again, as a new run if you have changed the workflow file";
function failureReason(error, address) {
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$) {
        const status = (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .join */ .fj)([
            (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `the service answered HTTP ${error.status}`,
            error.location ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `a redirect to ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_1__/* .excerpt */ .Kb)(error.location, 300)}` : [],
            error.retryAfterMs === undefined ? [] : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `retry after ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .trusted */ .IZ)((0,_format_js__WEBPACK_IMPORTED_MODULE_2__/* .duration */ .p0)(error.retryAfterMs))}`,
        ], ", ");
        const message = error.serviceMessage.replace(/\.$/, "");
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .join */ .fj)([status, message ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_1__/* .excerpt */ .Kb)(message, 1000)}` : []], ": ");
    }
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .InvalidResponseError */ .tF)
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `the service's response is not usable (${error.message})`;
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .TokenError */ .gz)
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `GitHub issued no OIDC token (${error.message})`;
    const target = address ? (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `${address}` : (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `the service`;
    if (error.reason === "certificate")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `the certificate of ${target} is not trusted (${error.message})`;
    if (error.phase === "connecting")
        return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `cannot connect to ${target} (${error.message})`;
    return (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `the connection to ${target} failed while ${(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_4__/* .trusted */ .IZ)(activities[error.phase])} (${error.message})`;
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
/* harmony export */   $q: () => (/* binding */ agentFailed),
/* harmony export */   BL: () => (/* binding */ acceptanceOf),
/* harmony export */   Mk: () => (/* binding */ cancelledWhileLooking),
/* harmony export */   TK: () => (/* binding */ isRejected),
/* harmony export */   Yv: () => (/* binding */ AgentError),
/* harmony export */   pJ: () => (/* binding */ endOf),
/* harmony export */   sG: () => (/* binding */ outcomeOf),
/* harmony export */   tl: () => (/* binding */ isJobNotFound),
/* harmony export */   xX: () => (/* binding */ cancelledBeforeSending)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9563);


class AgentError extends Error {
    name = "AgentError";
    title;
    text;
    constructor(title, text) {
        super((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_1__/* .plain */ .pj)(text));
        this.title = title;
        this.text = text;
    }
}
function agentFailed({ title, text }, acceptance = "rejected") {
    return { kind: "agent-failed", title, text, acceptance };
}
const cancelledBeforeSending = { kind: "cancelled", operation: "create", acceptance: "rejected" };
const cancelledWhileLooking = { kind: "cancelled", operation: "poll", acceptance: "rejected" };
function outcomeOf(result, state) {
    switch (result.kind) {
        case "done":
            if (result.status !== "completed")
                return result.status;
            if (state.unproven !== undefined)
                return "error";
            if (state.endedWithout !== undefined)
                return "failed";
            return state.pullRequest && !state.isUnchanged ? "pr-created" : "no-changes";
        case "started":
        case "timed-out":
        case "cancelled":
        case "skipped":
            return result.kind;
        case "invalid-inputs":
        case "submission-failed":
        case "poll-failed":
        case "agent-failed":
        case "crashed":
            return "error";
        case "blocked":
            return result.cause === "session-busy" ? "timed-out" : "error";
    }
}
function endOf(result, state) {
    if (result.kind !== "done" || state.unproven === "start")
        return undefined;
    return result.status === "completed" ? "completed" : "failed";
}
function acceptanceOf(result) {
    if (result.kind === "submission-failed")
        return result.error.acceptance;
    return result.kind === "cancelled" || result.kind === "agent-failed" ? result.acceptance : undefined;
}
function isJobNotFound(result, state) {
    const error = httpErrorOf(result);
    return error?.status === 404 && error.isOfService === true && !state.hasRecord;
}
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

/***/ 8429:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  pC: () => (/* binding */ findJob),
  U: () => (/* binding */ isStillGone),
  cd: () => (/* binding */ readJob),
  b5: () => (/* binding */ runJob),
  mu: () => (/* binding */ stopOwnTurn)
});

// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/client/step-lookup.js
var step_lookup = __webpack_require__(1021);
// EXTERNAL MODULE: ./build/runner-kit/transport.js
var transport = __webpack_require__(6903);
// EXTERNAL MODULE: ./build/client/retry.js
var retry = __webpack_require__(1992);
;// CONCATENATED MODULE: ./build/client/wait.js





const notFoundGraceMs = 10_000;
const staleStateMs = 15_000;
const lastPollReserveMs = 1000;
const heldPollReserveMs = 1000;
const maxHoldSeconds = 25;
const answerMs = 2000;
const minHeldMs = 1000;
const maxFailedHolds = 2;
async function waitForJob(request, client, ports, onEvent) {
    const { jobId, origin, startedAt, deadline, signal, intervals } = request;
    const { clock, random } = ports;
    let hasSeenActive = origin.kind === "messaged" && origin.job.status === "active";
    const reserveMs = Math.min(lastPollReserveMs, (deadline - startedAt) / 10);
    let lastError;
    let hasRecord = false;
    const isAttached = origin.kind === "attached" || origin.kind === "resumed";
    let hasReachedService = !isAttached;
    const messagedAt = origin.kind === "messaged" ? origin.at : origin.kind === "resumed" ? clock.now() : Number.NEGATIVE_INFINITY;
    const lastPollAt = deadline - reserveMs;
    let failedHolds = 0;
    let isFirst = true;
    const untilLastPoll = (ms) => clock.now() < lastPollAt ? Math.min(ms, lastPollAt - clock.now()) : undefined;
    const nextDelay = (minMs = 0) => {
        const base = Math.min(Math.max((clock.now() - startedAt) * 0.1, intervals.minMs), intervals.maxMs);
        const ms = base * (isFirst ? 0.5 + random() : 0.8 + 0.4 * random());
        isFirst = false;
        return untilLastPoll(Math.max(ms, minMs));
    };
    let delayMs = isAttached ? 0 : nextDelay();
    for (;;) {
        await clock.sleep(delayMs ?? deadline - clock.now(), signal);
        if (signal.aborted)
            return { kind: "cancelled" };
        if (delayMs === undefined)
            return { kind: "timed-out", ...(lastError && { lastError }) };
        const pollAt = clock.now();
        const holdLimit = lastPollAt - heldPollReserveMs;
        const mayHold = request.until === "terminal" && (!isAttached || hasRecord) && failedHolds < maxFailedHolds;
        const leftSeconds = Math.floor((holdLimit - pollAt - answerMs) / 1000);
        const holdSeconds = mayHold ? Math.max(0, Math.min(maxHoldSeconds, leftSeconds)) : 0;
        try {
            const limits = { deadline: holdSeconds > 0 ? holdLimit : deadline, signal };
            const { job, heldMs, sentAt } = await client.getJob(jobId, limits, holdSeconds);
            if (holdSeconds > 0)
                failedHolds = 0;
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
                delayMs = heldMs >= minHeldMs ? untilLastPoll(Math.max(0, intervals.minMs - heldMs)) : nextDelay();
            onEvent({ kind: "polled", job, isStale, nextDelayMs: delayMs });
            if (isDone)
                return { kind: "done", job, turn, wasSeenToStart: !isUnproven };
        }
        catch (error) {
            if (signal.aborted)
                return { kind: "cancelled" };
            if (!(0,errors/* isRequestError */.eK)(error) || !isTransient(error, origin, hasReachedService))
                throw error;
            if (clock.now() >= deadline && (hasRecord || lastError))
                return { kind: "timed-out", ...(lastError && { lastError }) };
            hasReachedService ||= !(error instanceof transport/* NetworkError */.Dr || error instanceof errors/* TokenError */.gz);
            const wasSent = !(error instanceof errors/* TokenError */.gz || (error instanceof transport/* NetworkError */.Dr && error.phase === "connecting"));
            if (holdSeconds > 0 && wasSent && clock.now() - pollAt >= minHeldMs)
                failedHolds++;
            const isTimeout = error instanceof transport/* NetworkError */.Dr && error.reason === "timeout";
            const hasMadeRoom = holdSeconds > 0 && isTimeout && clock.now() >= holdLimit;
            if (!hasMadeRoom)
                lastError = error;
            delayMs = nextDelay(error instanceof errors/* HttpError */.j$ ? error.retryAfterMs : 0);
            if (!hasMadeRoom)
                onEvent({ kind: "poll-failed", error, nextDelayMs: delayMs });
        }
    }
}
function isTransient(error, origin, hasReachedService) {
    if (error instanceof errors/* HttpError */.j$ && error.status === 404)
        return origin.kind === "created" && error.sentAt - origin.at < notFoundGraceMs;
    if (!hasReachedService && error instanceof errors/* TokenError */.gz && !error.isTransient)
        return false;
    if (!hasReachedService && error instanceof transport/* NetworkError */.Dr && error.reason === "certificate")
        return false;
    return (0,retry/* isTransientPollFailure */.KR)(error);
}

// EXTERNAL MODULE: ./build/runner-kit/text.js
var runner_kit_text = __webpack_require__(9563);
// EXTERNAL MODULE: ./build/runner-kit/untrusted.js
var untrusted = __webpack_require__(4436);
// EXTERNAL MODULE: ./build/action/commit-of.js
var commit_of = __webpack_require__(3538);
// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
// EXTERNAL MODULE: ./build/action/run.js + 3 modules
var action_run = __webpack_require__(9863);
// EXTERNAL MODULE: ./build/action/run-state.js
var run_state = __webpack_require__(7742);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var runner_environment = __webpack_require__(767);
;// CONCATENATED MODULE: ./build/action/run-job.js











const maxReadMs = 180_000;
const secondLookMs = 3000;
const stopGraceMs = 2000;
const stopAtLimitMs = 20_000;
const pauseMs = 250;
function readJob(jobId, run) {
    return runJob({ kind: "attach", jobId }, { ...run, publishJobId: () => { } }, { wait: false });
}
async function findJob(jobId, run) {
    const { state, ports } = run;
    const beforeMs = state.elapsedMs(ports.clock.now());
    let result = await readJob(jobId, run);
    if ((0,action_result/* isJobNotFound */.tl)(result, state)) {
        state.forgetJob();
        result = await lookAgain(jobId, run);
    }
    if (result === "gone")
        return "not found";
    if (result.kind === "done")
        return result.status;
    if (result.kind === "started")
        return "active";
    if (result.kind === "cancelled")
        return action_result/* cancelledBeforeSending */.xX;
    if (result.kind !== "timed-out" || !result.lastError)
        return result;
    const { lastError: error, timeoutMs } = result;
    return { kind: "blocked", cause: "session-job", jobId, error, forMs: timeoutMs - beforeMs };
}
async function isStillGone(jobId, run) {
    const state = new run_state/* RunState */.l();
    state.startedAt = run.state.startedAt;
    return (await lookAgain(jobId, { ...run, state })) === "gone";
}
async function lookAgain(jobId, run) {
    const { clock, signal } = run.ports;
    await clock.sleep(secondLookMs, signal);
    const result = await readJob(jobId, run);
    return (0,action_result/* isJobNotFound */.tl)(result, run.state) ? "gone" : result;
}
async function runJob(task, run, options = {}) {
    const { wait = run.settings.wait, onJobId, onPolled } = options;
    const { state } = run;
    let published = "";
    const publishJobId = (jobId) => {
        if (jobId === published)
            return;
        published = jobId;
        run.publishJobId(jobId);
        onJobId?.(jobId);
    };
    const operation = task.kind === "attach" ? "poll" : task.kind;
    if (task.kind !== "create")
        state.jobId = task.jobId;
    if (run.ports.signal.aborted)
        return { kind: "cancelled", operation, acceptance: operation === "poll" ? "accepted" : "rejected" };
    const job = { ...run, settings: { ...run.settings, wait }, publishJobId };
    try {
        return await submitAndWait(task, operation, job, onPolled);
    }
    catch (error) {
        if (published !== "")
            state.jobId ||= published;
        return resultOfError(error, operation, job);
    }
}
async function submitAndWait(task, operation, run, onPolled) {
    const { ports, state, log, settings } = run;
    const { clock, random, signal } = ports;
    log.starting(task, settings);
    const client = (0,action_run/* connectService */.Ux)(run);
    state.startedAt ??= clock.now();
    const { startedAt } = state;
    const isRead = task.kind === "attach" && !settings.wait;
    const timeoutMs = isRead
        ? Math.min(settings.timeoutMs, state.elapsedMs(clock.now()) + maxReadMs)
        : settings.timeoutMs;
    const limits = { deadline: startedAt + timeoutMs, signal };
    const isMessageResumed = task.kind === "attach" && task.resumes === "message" && !task.wasSeen;
    let origin = { kind: isMessageResumed ? "resumed" : "attached" };
    if (task.kind !== "attach") {
        const { job, isReplay } = await run_job_submit(task, client, run, limits);
        const isOwn = !isReplay || (0,runner_environment/* runAttempt */.Tm)(ports.environment) > 1;
        updateState(job, isReplay && isOwn ? { kind: "attach", jobId: job.id, resumes: task.kind } : task, run);
        if (!isOwn)
            return { kind: "blocked", cause: "replayed", jobId: job.id };
        log.accepted(task.kind, job, state);
        if (signal.aborted)
            return { kind: "cancelled", operation, acceptance: "accepted" };
        const isCreate = task.kind === "create";
        if (isCreate && (0,contract/* isTerminal */.Hd)(job.status))
            return { kind: "done", status: job.status };
        if (!settings.wait && !isCreate && !state.features)
            await untilShown(task, run, client, limits, onPolled);
        if (signal.aborted)
            return { kind: "cancelled", operation, acceptance: "accepted" };
        if (!settings.wait)
            return { kind: "started" };
        origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
    }
    log.waiting({ ...settings, timeoutMs }, state);
    const readTurn = turnReader(task, client, run, limits);
    const { intervals } = settings;
    const request = { ...limits, jobId: state.jobId, origin, startedAt, intervals, readTurn };
    const waitUntil = (until) => waitForJob({ ...request, until }, client, { clock, random }, (event) => {
        if (event.kind === "polled")
            updateState(event.job, task, run);
        log.poll(event, state, state.elapsedMs(clock.now()), !isRead);
        onPolled?.();
    });
    const wait = await waitWith(task, run, waitUntil).finally(() => log.waited());
    if (wait.kind === "timed-out")
        return { ...wait, timeoutMs };
    if (wait.kind === "cancelled")
        return { kind: "cancelled", operation, acceptance: "accepted" };
    const { turn, job, wasSeenToStart } = wait;
    state.unproven = settings.wait && !wasSeenToStart ? "start" : undefined;
    const isStale = isMessageResumed && !settings.wait && !(turn !== undefined && (0,step_lookup/* hasEnded */.hY)(turn));
    if (!(0,contract/* isTerminal */.Hd)(job.status) || isStale)
        return { kind: "started" };
    if (turn === undefined)
        return { kind: "done", status: job.status };
    return { kind: "done", status: turn === "completed" ? "completed" : "failed" };
}
async function untilShown(task, run, client, limits, onShown) {
    const { clock } = run.ports;
    const deadline = Math.min(clock.now() + staleStateMs, limits.deadline);
    while (clock.now() < deadline && !limits.signal.aborted) {
        const reading = await client.getJob(run.state.jobId, { ...limits, deadline }).catch(() => undefined);
        if (reading)
            updateState(reading.job, task, run);
        if (reading?.job.status === "active")
            return onShown?.();
        const leftMs = deadline - clock.now();
        await clock.sleep(reading ? Math.min(secondLookMs, leftMs) : leftMs, limits.signal);
    }
}
async function waitWith(task, { settings, ports: { agent, signal } }, waitUntil) {
    if (task.kind === "attach" && settings.wait && agent) {
        const found = await waitUntil("response");
        if (found.kind !== "done")
            return found;
        const { untilAborted } = await __webpack_require__.e(/* import() */ 6).then(__webpack_require__.bind(__webpack_require__, 9006));
        if (!(0,contract/* isTerminal */.Hd)(found.job.status))
            await untilAborted(agent.prepare(), signal);
    }
    return waitUntil(settings.wait ? "terminal" : "response");
}
function run_job_submit(task, client, { key, publishJobId, log, state, ports }, limits) {
    const refusal = state.refusal === "" ? [] : [state.refusal];
    const { sections } = task;
    const submission = {
        prompt: sections ? task.prompt : [task.prompt, ...refusal].join("\n\n"),
        key: key.of(task.prompt, task.replaces),
        ...(sections && {
            sections: [...sections, ...refusal],
            asked: askedOf(state, ports.environment),
            covers: coversOf(state),
        }),
    };
    const session = state.features?.has("session") ? state.session : undefined;
    const onRetry = (notice) => log.retrying(notice, state.elapsedMs(ports.clock.now()));
    return task.kind === "create"
        ? client.createJob({ ...submission, base: task.base, session }, limits, onRetry, publishJobId)
        : client.sendMessage(task.jobId, submission, limits, onRetry);
}
function coversOf({ changes }) {
    const head = (0,commit_of/* commitOf */.D)(changes?.head);
    return head && (changes?.continues ? head : `+${head}`);
}
function askedOf({ author, threadUrl }, environment) {
    const { GITHUB_EVENT_NAME: event, GITHUB_TRIGGERING_ACTOR: actor = "" } = environment;
    const by = author || (event === "workflow_dispatch" ? actor : "");
    return { by: by || undefined, in: threadUrl || undefined, run: (0,runner_environment/* runUrl */.Vp)(environment) || undefined };
}
function turnReader(task, client, { key, state, settings }, limits) {
    if (task.kind === "attach" && task.resumes === undefined)
        return undefined;
    if (!settings.wait && (task.kind !== "attach" || task.turnId === undefined))
        return undefined;
    const isOwn = ({ jobId, turnId, request }) => jobId === state.jobId &&
        (task.kind === "attach" ? turnId === task.turnId : request === key.of(task.prompt, task.replaces).request);
    let isUnannounced = false;
    return async () => {
        if (isUnannounced)
            return undefined;
        const announcement = await client.lookUpStep(key.of(""), limits).catch((error) => {
            if (state.features === undefined && !settings.agent && (0,errors/* isRequestError */.eK)(error))
                return undefined;
            throw error;
        });
        if (announcement === undefined && state.features !== undefined)
            throw new errors/* InvalidResponseError */.tF("it announces nothing", "");
        isUnannounced = announcement === undefined;
        if (announcement === undefined)
            return undefined;
        state.features = announcement.features;
        const own = announcement.turns.find(isOwn);
        state.updateTurns(announcement.turns, own);
        return own?.status;
    };
}
function updateState(job, task, { ports, state, log, publishJobId }) {
    const isFirst = !state.hasRecord;
    const hadInvalidLink = state.hasInvalidLink;
    state.update(job, ports.clock.now());
    const origins = { create: "created", message: "continued", attach: "attached" };
    state.origin ||= task.kind === "attach" && task.resumes ? "resumed" : origins[task.kind];
    if (isFirst)
        publishJobId(job.id);
    if (state.hasInvalidLink && !hadInvalidLink)
        log.warning((0,runner_kit_text/* message */.iU) `
      Invalid pull request link
      The service returned ${(0,untrusted/* excerpt */.Kb)(job.prLink, 300)} as the pull request, which is not an http(s) URL without credentials. Ignored.`);
}
function resultOfError(error, operation, { ports, state, log, publishJobId }) {
    if (error instanceof action_result/* AgentError */.Yv) {
        const acceptance = state.hasRecord ? "accepted" : "unknown";
        return ports.signal.aborted ? { kind: "cancelled", operation, acceptance } : (0,action_result/* agentFailed */.$q)(error, acceptance);
    }
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
        return operation !== "poll" && !state.hasRecord
            ? { kind: "submission-failed", operation, error: new errors/* SubmissionError */.nx("rejected", error) }
            : { kind: "poll-failed", error };
    }
    log.debugError(error);
    return { kind: "crashed", error };
}
async function stopOwnTurn(task, result, run) {
    const { settings, state, log } = run;
    const isSent = task.kind === "attach" ? settings.agent !== undefined && task.turnId !== undefined : true;
    const isOwn = isSent && settings.wait && settings.onCancel === "stop";
    if (!isOwn || !(result.kind === "cancelled" || (settings.agent && result.kind === "timed-out")))
        return result;
    if (result.kind === "cancelled" && result.acceptance === "rejected")
        return result;
    const accepted = result.kind === "cancelled" ? { ...result, acceptance: "accepted" } : result;
    const { clock, signal } = run.ports;
    const limits = { deadline: clock.now() + stopGraceMs, signal: new AbortController().signal };
    const last = clock.now() + (result.kind === "cancelled" ? stopGraceMs : stopAtLimitMs);
    try {
        const client = (0,action_run/* connectService */.Ux)(run);
        const key = task.kind === "attach" ? run.key.of("") : run.key.of(task.prompt, task.replaces);
        const announcement = await client.lookUpStep(key, limits);
        if (!announcement)
            return result;
        state.features = announcement.features;
        const turn = announcement.turns.find(({ request, jobId, turnId }) => (task.kind === "attach" ? turnId === task.turnId : request === key.request) &&
            (state.jobId === "" || jobId === state.jobId));
        if (!turn)
            return result;
        if (state.jobId === "") {
            state.jobId = turn.jobId;
            state.origin = task.kind === "create" ? "created" : "continued";
            run.publishJobId(turn.jobId);
        }
        if (!announcement.features.has("stop"))
            return accepted;
        state.stop = "asked";
        for (;;) {
            if (!signal.aborted)
                limits.deadline = Math.min(last, clock.now() + stopGraceMs);
            const status = (0,step_lookup/* hasEnded */.hY)(turn.status) ? turn.status : await client.stopTurn(turn.jobId, turn.turnId, limits);
            if (status === "stopped")
                state.stop = "stopped";
            else if (status === "completed" || status === "failed") {
                state.stop = "ended";
                state.update((await client.getJob(turn.jobId, limits)).job, clock.now());
                if (result.kind === "timed-out") {
                    const { turns = [] } = (await client.lookUpStep(key, limits)) ?? {};
                    const own = turns.find(({ turnId }) => turnId === turn.turnId);
                    state.updateTurns(turns, own);
                    return { kind: "done", status };
                }
            }
            if (state.stop !== "asked" || clock.now() + pauseMs >= (signal.aborted ? limits.deadline : last))
                break;
            await clock.sleep(pauseMs);
        }
        return accepted;
    }
    catch (error) {
        log.debugError(error);
        if (state.stop !== undefined)
            return accepted;
        state.stop = "unreached";
        return result;
    }
}


/***/ }),

/***/ 7742:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   l: () => (/* binding */ RunState)
/* harmony export */ });
/* harmony import */ var _client_contract_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6078);
/* harmony import */ var _pull_request_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8808);


const jobFacts = ["model", "repository", "ref", "createdAt", "archivedAt", "base", "pageUrl"];
class RunState {
    startedAt;
    jobId = "";
    origin = "";
    status = "";
    pullRequest;
    hasInvalidLink = false;
    model = "";
    repository = "";
    ref = "";
    createdAt = "";
    archivedAt = "";
    base = "";
    pageUrl = "";
    timeline = [];
    changes;
    features;
    announcement;
    session;
    claimsSession = false;
    askedSession;
    asked = {};
    isMute = false;
    stop;
    finalMessage = "";
    logFile = "";
    workFile = "";
    check = "";
    isUnchanged = false;
    endedWithout;
    costUsd;
    failure;
    isKept = false;
    isUnfinished = false;
    publishesKept = false;
    unproven;
    lastPullRequest;
    before;
    refusal = "";
    startNote = [];
    author = "";
    mayHaveEarlier = false;
    threadUrl = "";
    elapsedMs(now) {
        return this.startedAt === undefined ? 0 : now - this.startedAt;
    }
    forgetJob() {
        this.jobId = "";
        this.origin = "";
        this.status = "";
        this.pullRequest = undefined;
        this.hasInvalidLink = false;
        this.unproven = undefined;
        this.before = undefined;
        this.finalMessage = "";
        this.check = "";
        this.isUnchanged = false;
        this.endedWithout = undefined;
        this.failure = undefined;
        this.isKept = false;
        this.isUnfinished = false;
        for (const fact of jobFacts)
            this[fact] = "";
        this.timeline.length = 0;
    }
    get hasRecord() {
        return this.timeline.length > 0;
    }
    updateTurns(turns, own) {
        this.finalMessage = (own?.message ?? "").replace(/[^\P{Cc}\n\t]/gu, "").trim();
        this.check = own?.check ?? "";
        this.isUnchanged = own?.isUnchanged ?? false;
        const hasFailed = own?.status === "failed" || own?.status === "stopped";
        this.failure = hasFailed
            ? {
                isStopped: own.status === "stopped",
                isKept: own.isKept,
                isUnfinished: own.isUnfinished,
                failureClass: own.failureClass,
                reason: own.reason.replace(/[\p{Cc}\s]+/gu, " ").trim(),
            }
            : undefined;
        const costs = turns.map(({ costUsd }) => costUsd);
        const isKnown = costs.length > 0 && costs.every((cost) => cost !== undefined);
        this.costUsd = isKnown ? Number(costs.reduce((sum, cost) => sum + (cost ?? 0), 0).toFixed(6)) : undefined;
    }
    update(job, now) {
        this.jobId = job.id;
        if ((0,_client_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isKnownStatus */ .ih)(job.status))
            this.status = job.status;
        if (this.timeline.at(-1)?.status !== job.status)
            this.timeline.push({ status: job.status, atMs: this.elapsedMs(now) });
        this.pullRequest = (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_1__/* .parsePullRequest */ .y)(job.prLink);
        this.hasInvalidLink = job.prLink !== "" && !this.pullRequest;
        this.isKept = job.isKept;
        this.isUnfinished = job.isUnfinished;
        for (const fact of jobFacts)
            this[fact] = job[fact] || this[fact];
    }
}


/***/ }),

/***/ 9863:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  uU: () => (/* binding */ canBeAsked),
  UY: () => (/* binding */ connectGitHub),
  JC: () => (/* binding */ connectRepository),
  nO: () => (/* binding */ connectRepositoryOfJob),
  Ux: () => (/* binding */ connectService)
});

// EXTERNAL MODULE: ./build/runner-kit/transport.js
var runner_kit_transport = __webpack_require__(6903);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
;// CONCATENATED MODULE: ./build/client/job-page.js
const maxUrlLength = 4096;
function parseJobPage(header = "", requestUrl) {
    let index = 0;
    const next = (pattern) => {
        pattern.lastIndex = index;
        const match = pattern.exec(header);
        if (match)
            index = pattern.lastIndex;
        return match;
    };
    for (let link = next(linkTarget); link; link = next(linkTarget)) {
        const parameters = new Map();
        for (let parameter = next(linkParameter); parameter; parameter = next(linkParameter)) {
            const [, name = "", quoted, token = ""] = parameter;
            const value = quoted === undefined ? token.trim() : quoted.replace(/\\(.)/g, "$1");
            if (!parameters.has(name.toLowerCase()))
                parameters.set(name.toLowerCase(), value);
        }
        if (!next(linkEnd))
            return undefined;
        const relations = (parameters.get("rel") ?? "").toLowerCase().split(/[ \t]+/);
        const isPage = relations.includes("alternate") && parameters.get("type")?.toLowerCase() === "text/html";
        const url = isPage && !parameters.has("anchor") ? checkPage(link[1] ?? "", requestUrl) : undefined;
        if (url !== undefined)
            return url;
    }
    return undefined;
}
const linkTarget = /[ \t,]*<([^>]*)>/y;
const linkParameter = /[ \t]*;[ \t]*([^ \t=;,"]*)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;,"]*)))?/y;
const linkEnd = /[ \t]*(?:,|$)/y;
function checkPage(target, requestUrl) {
    const url = /[\s\p{Cc}\\]/u.test(target) ? null : URL.parse(target, requestUrl.href);
    const isOwn = url?.origin === requestUrl.origin && /^https?:$/.test(url.protocol);
    return isOwn && url.username === "" && url.password === "" && url.href.length <= maxUrlLength ? url.href : undefined;
}

;// CONCATENATED MODULE: ./build/client/retry-after.js
const maxRetryAfterMs = 31_536_000_000;
const httpDate = /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
function parseRetryAfter(value, date, wallTimeMs) {
    const text = value?.trim() ?? "";
    const sentAt = parseHttpDate(date?.trim() ?? "");
    const waitMs = /^\d+$/.test(text)
        ? Number(text) * 1000
        : parseHttpDate(text) - (Number.isNaN(sentAt) ? wallTimeMs : sentAt);
    return waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : undefined;
}
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








const requestTimeoutMs = 30_000;
const submissionGraceMs = 4000;
const lookupTimeoutMs = 10_000;
function createClient(options, ports) {
    const { clock, random, onTrace = () => { } } = ports;
    const { credentials } = options;
    const redact = (text) => credentials.redact(text);
    const transport = (0,trace/* traceTransport */.d)(ports.transport, () => clock.now(), (0,trace/* createTracer */.O)(onTrace, redact));
    const jobsPath = `/v2/agent/${encodeURIComponent(options.projectId)}/job`;
    const pathOf = (jobId) => `${jobsPath}/${encodeURIComponent(jobId)}`;
    async function send(method, path, limits, { submission, key = submission?.key, holdSeconds = 0, timeoutMs = requestTimeoutMs }) {
        const url = new URL(options.baseUrl.href.replace(/\/+$/, "") + path);
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
                "user-agent": options.userAgent,
                ...(submission && { "content-type": "application/json" }),
                ...(key && { "idempotency-key": `"${key.step}.${key.request}"` }),
                ...(holdSeconds > 0 && { prefer: `wait=${holdSeconds}` }),
            },
            ...(submission && {
                body: JSON.stringify({ ...submission, key: undefined }),
                graceMs: submissionGraceMs,
            }),
            timeoutMs: Math.max(0, Math.min(timeoutMs, limits.deadline - clock.now())),
            signal: limits.signal,
        });
        const respondedAt = clock.now();
        const data = (0,contract/* parseBody */.OG)(response.body, redact);
        if (!(0,runner_kit_transport/* isSuccess */.oJ)(response.status))
            throw new errors/* HttpError */.j$({
                status: response.status,
                serviceMessage: (0,contract/* parseErrorMessage */.xI)(data, redact(response.body)),
                isOfService: (0,contract/* isObject */.Gv)(data) && (0,contract/* textOf */.b6)(data.error).trim() !== "",
                location: redact(response.headers.location ?? ""),
                retryAfterMs: parseRetryAfter(response.headers["retry-after"], response.headers.date, clock.wallTime()),
                sentAt,
            });
        return { response, data, url, sentAt, respondedAt };
    }
    async function request(method, path, limits, requestOptions) {
        const { response, data, url, sentAt, respondedAt } = await send(method, path, limits, requestOptions);
        const job = (0,contract/* parseJob */.JN)(data);
        if (!job)
            throw new errors/* InvalidResponseError */.tF(`HTTP ${response.status} without a job record`, response.body);
        if (job.id !== (requestOptions.jobId ?? job.id))
            throw new errors/* InvalidResponseError */.tF("it is the record of another job", "");
        const pageUrl = parseJobPage(response.headers.link, url);
        const isPageHidden = pageUrl === undefined || redact(pageUrl) !== pageUrl;
        return {
            job: isPageHidden ? job : { ...job, pageUrl },
            sentAt,
            heldMs: isWaitApplied(response.headers["preference-applied"]) ? respondedAt - sentAt : 0,
            isReplayed: response.headers["idempotent-replayed"]?.trim().toLowerCase() === "true",
        };
    }
    async function submitTo(jobId, submission, limits, onRetry, onJobId = () => { }) {
        const path = jobId === undefined ? jobsPath : `${pathOf(jobId)}/message`;
        const post = () => request("POST", path, limits, { submission, jobId });
        const ask = () => client.lookUpStep(submission.key, limits);
        const { accepted, wasInDoubt } = await (0,client_submit/* submit */.tA)(post, limits, { clock, random, redact, ask, onJobId }, onRetry);
        return { job: accepted.job, isReplay: accepted.isReplayed && !wasInDoubt };
    }
    const client = {
        createJob: (submission, limits, onRetry, onJobId) => submitTo(undefined, submission, limits, onRetry, onJobId),
        sendMessage: (jobId, submission, limits, onRetry) => submitTo(jobId, submission, limits, onRetry),
        getJob: async (jobId, limits, holdSeconds = 0) => {
            const reading = await request("GET", pathOf(jobId), limits, { holdSeconds, jobId });
            return holdSeconds > 0 ? reading : { ...reading, heldMs: 0 };
        },
        lookUpStep: async (key, limits, session, isClaimed = false) => {
            if (!options.canBeAsked)
                return undefined;
            const { asked } = options;
            const waitMs = (asked.until ?? 0) - clock.now();
            if (asked.rejected && waitMs > 0)
                throw new errors/* HttpError */.j$({ ...asked.rejected, retryAfterMs: waitMs });
            const query = new URLSearchParams({
                step: key.step,
                ...(session !== undefined && { session }),
                ...(isClaimed && { claim: "true" }),
            });
            const path = `${jobsPath}?${query}`;
            try {
                const { response, data } = await send("GET", path, limits, { key, timeoutMs: lookupTimeoutMs });
                const announcement = (0,step_lookup/* parseAnnouncement */.$g)(data, key.step);
                if (announcement === "unusable")
                    throw new errors/* InvalidResponseError */.tF("it announces nothing", response.body);
                return announcement === "keyless" ? undefined : announcement;
            }
            catch (error) {
                if (error instanceof errors/* HttpError */.j$ && [404, 405, 501].includes(error.status))
                    return undefined;
                if (error instanceof errors/* HttpError */.j$ && error.retryAfterMs !== undefined)
                    Object.assign(asked, { rejected: error, until: clock.now() + error.retryAfterMs });
                throw error;
            }
        },
        stopTurn: async (jobId, turnId, limits) => {
            const path = `${pathOf(jobId)}/turn/${encodeURIComponent(turnId)}/stop`;
            const { response, data } = await send("POST", path, limits, { timeoutMs: lookupTimeoutMs });
            if (response.status !== 200)
                return undefined;
            const status = (0,step_lookup/* parseTurnStatus */.D7)(data);
            if (status === undefined)
                throw new errors/* InvalidResponseError */.tF("it has no status of a turn", response.body);
            return status;
        },
    };
    return client;
}
function isWaitApplied(preferenceApplied = "") {
    return preferenceApplied.split(",").some((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference));
}

// EXTERNAL MODULE: ./build/action/mintlify.js
var mintlify = __webpack_require__(6929);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var environment = __webpack_require__(767);
// EXTERNAL MODULE: ./build/action/runner/read-repository.js
var read_repository = __webpack_require__(9093);
;// CONCATENATED MODULE: ./build/action/run.js




function connectService(run) {
    const { settings, ports, credentials, log } = run;
    const { baseUrl, projectId } = settings;
    const { clock, random } = ports;
    return createClient({
        baseUrl,
        projectId,
        credentials,
        userAgent: (0,environment/* userAgent */.N1)(ports.environment),
        canBeAsked: canBeAsked(run),
        asked: run.state.asked,
    }, { transport: ports.connect(baseUrl.protocol), clock, random, onTrace: (line) => log.debug(line) });
}
function canBeAsked({ settings }) {
    return !(0,mintlify/* isMintlify */.T)(settings.baseUrl);
}
function connectGitHub({ settings, ports, log }, token = settings.githubToken) {
    const apiUrl = ports.environment.GITHUB_API_URL || "https://api.github.com";
    return ports.connectGitHub(token, apiUrl, (line) => log.debug(line));
}
async function connectRepository(run, limits = {}, token) {
    return (0,read_repository/* readerOf */.T)(await connectGitHub(run, token), (0,environment/* ownRepository */.d5)(run.ports.environment), run.ports, limits);
}
async function connectRepositoryOfJob(run, place, limits = {}) {
    return (0,read_repository/* readerOf */.T)(await connectGitHub(run, run.settings.agent?.githubToken), place, run.ports, limits);
}


/***/ }),

/***/ 767:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $3: () => (/* binding */ canRequestIdTokens),
/* harmony export */   KI: () => (/* binding */ isOnTag),
/* harmony export */   N1: () => (/* binding */ userAgent),
/* harmony export */   Rt: () => (/* binding */ missingCertificates),
/* harmony export */   Tm: () => (/* binding */ runAttempt),
/* harmony export */   Vd: () => (/* binding */ serverUrl),
/* harmony export */   Vp: () => (/* binding */ runUrl),
/* harmony export */   d5: () => (/* binding */ ownRepository),
/* harmony export */   j_: () => (/* binding */ readEvent)
/* harmony export */ });
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);

function runAttempt({ GITHUB_RUN_ATTEMPT }) {
    return Number(GITHUB_RUN_ATTEMPT ?? 1);
}
function serverUrl({ GITHUB_SERVER_URL }) {
    return GITHUB_SERVER_URL || "https://github.com";
}
function ownRepository({ GITHUB_REPOSITORY = "" }) {
    const [owner = "", repo = ""] = GITHUB_REPOSITORY.split("/");
    return { owner, repo };
}
function canRequestIdTokens(environment) {
    return Boolean(environment.ACTIONS_ID_TOKEN_REQUEST_URL && environment.ACTIONS_ID_TOKEN_REQUEST_TOKEN);
}
function runUrl(environment) {
    const { GITHUB_REPOSITORY: repository = "", GITHUB_RUN_ID: run = "" } = environment;
    return `${serverUrl(environment)}/${repository}/actions/runs/${run}`;
}
function isOnTag({ GITHUB_REF = "" }) {
    return GITHUB_REF.startsWith("refs/tags/");
}
function readEvent({ GITHUB_EVENT_PATH = "" }) {
    return JSON.parse((0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readFileSync)(GITHUB_EVENT_PATH, "utf8"));
}
function missingCertificates({ NODE_EXTRA_CA_CERTS: file = "" }) {
    return file === "" || (0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(file) ? undefined : file;
}
function userAgent(environment) {
    const { GITHUB_ACTION_REPOSITORY: repository = "", GITHUB_ACTION_REF: ref = "" } = environment;
    if (!/^[\w.-]+\/[\w.-]+$/.test(repository) || ref === "")
        return "agent-job-action";
    return `agent-job-action/${ref.replace(/[^\w.-]/g, "-")} (+${serverUrl(environment)}/${repository})`;
}


/***/ }),

/***/ 9093:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   T: () => (/* binding */ readerOf),
/* harmony export */   q: () => (/* binding */ parse)
/* harmony export */ });
function readerOf(github, { owner, repo }, { clock, signal }, { timeoutMs = 10_000, totalMs = timeoutMs }) {
    const deadline = clock.now() + totalMs;
    const limits = () => {
        const totalTimeoutMs = deadline - clock.now();
        return { timeoutMs: Math.min(timeoutMs, totalTimeoutMs), totalTimeoutMs, signal };
    };
    const routeOf = (path) => `GET /repos/{owner}/{repo}/${path}`;
    return {
        get: async (path, schema, parameters) => parse(schema, await github.request(routeOf(path), { owner, repo, ...parameters }, limits())),
        list: async (path, item, parameters) => {
            const items = await github.paginate(routeOf(path), { owner, repo, ...parameters }, limits());
            return items.map((each) => parse(item, each));
        },
    };
}
function parse(schema, value, name = "GitHub's response") {
    const { data, error } = schema.safeParse(value);
    if (data !== undefined)
        return data;
    const paths = error?.issues.map(({ path }) => path.join(".")).filter(Boolean) ?? [];
    throw new Error(paths.length === 0 ? `${name} is not usable` : `${name} lacks, or has a wrong type for: ${paths.join(", ")}`);
}


/***/ }),

/***/ 4875:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  start: () => (/* binding */ start)
});

// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
;// CONCATENATED MODULE: ./build/client/clock.js
const maxTimerMs = 2 ** 31 - 1;
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
// EXTERNAL MODULE: ./build/client/credentials.js
var client_credentials = __webpack_require__(8024);
// EXTERNAL MODULE: ./build/runner-kit/text.js
var runner_kit_text = __webpack_require__(9563);
// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
;// CONCATENATED MODULE: ./build/action/inputs/prompt-file.js



function readPromptFile(path, workspace) {
    try {
        const root = external_node_fs_.realpathSync.native(workspace);
        const file = external_node_fs_.realpathSync.native((0,external_node_path_.resolve)(root, path));
        const fromRoot = (0,external_node_path_.relative)(root, file);
        if (fromRoot === ".." || fromRoot.startsWith(`..${external_node_path_.sep}`) || (0,external_node_path_.isAbsolute)(fromRoot))
            return { problem: (0,runner_kit_text/* say */.cv) `must be in the workspace, but ${path} is outside it` };
        if (fromRoot.split(external_node_path_.sep).some((name) => isGitFolder.test(name)))
            return { problem: (0,runner_kit_text/* say */.cv) `must not be in .git, but ${path} is` };
        if (!(0,external_node_fs_.statSync)(file).isFile())
            return { problem: (0,runner_kit_text/* say */.cv) `must be a file, but ${path} is not` };
        const text = new TextDecoder("utf-8", { fatal: true }).decode((0,external_node_fs_.readFileSync)(file));
        if (text.includes("\0"))
            return { problem: notUtf8(path) };
        return text.trim() === "" ? { problem: (0,runner_kit_text/* say */.cv) `is empty: ${path} contains no text` } : { text };
    }
    catch (error) {
        return { problem: describe(error, path) };
    }
}
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

// EXTERNAL MODULE: ./build/runner-kit/agent-service.js
var agent_service = __webpack_require__(7261);
// EXTERNAL MODULE: ./build/runner-kit/untrusted.js
var untrusted = __webpack_require__(4436);
;// CONCATENATED MODULE: ./build/runner-kit/path-patterns.js
class PatternError extends Error {
    index;
    constructor(index, problem) {
        super(problem);
        this.index = index;
    }
}
const mistakes = [
    [/^- /, "begins with the dash of a list"],
    [/^["'`]|["'`]$/, "has quotation marks"],
    [/(?:^|\/)\.\.(?:\/|$)/, "has .. in it, as no path does"],
    [/,\s*[^,]*[*/]/, "has a comma: write one pattern in each line"],
    [/\\[a-z\d]/i, "has a backslash between folders: write /"],
];
function readPatterns(patterns) {
    const rules = patterns.map((pattern, index) => {
        const isNegative = pattern.startsWith("!");
        const path = isNegative ? pattern.slice(1) : pattern;
        try {
            return { pattern, isNegative, expression: toRegExp(path.endsWith("/") ? `${path}**` : path) };
        }
        catch (error) {
            throw new PatternError(index, error instanceof Error ? error.message : String(error));
        }
    });
    if (rules.every(({ isNegative }) => isNegative))
        throw new PatternError(0, "only excludes files; add a pattern without ! before it, such as **");
    const matches = (path) => rules.findLast(({ expression }) => expression.test(path))?.isNegative === false;
    const unused = (paths) => rules.filter(({ expression }) => !paths.some((path) => expression.test(path))).map(({ pattern }) => pattern);
    const into = (folder) => {
        const excluded = rules.findLastIndex(({ isNegative, expression }) => isNegative && [folder, `${folder}/`].some((path) => expression.test(path)));
        return rules.flatMap(({ pattern }, index) => (index > excluded && reaches(pattern, folder) ? pattern : []));
    };
    return { patterns, matches, unused, into };
}
const reaches = (pattern, folder) => /^[^!*/]/.test(pattern) &&
    [...pattern.matchAll(/(?<!\\)\/|\*\*/g)].some(({ index, 0: end }) => end === "/"
        ? toRegExp(pattern.slice(0, index)).test(folder)
        : toRegExp(pattern.slice(0, index + 2)).test(`${folder}/`));
const part = /(?<anyFolders>(?<=^|\/)(?:\*\*\/)+)|(?<anything>\*{2,})|(?<anyName>\*)|(?<quantifier>[?+])|\[(?<set>[^\]]*)\]|\\(?<escaped>[\s\S])|(?<literal>[^[\\])|(?<unreadable>[[\\])/gu;
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

;// CONCATENATED MODULE: ./build/action/changes/paths.js

const ownMistakes = [
    [/^\.?\//, "begins with / or ./, as no path does"],
    [/\/$/, "ends with /, as no file does: add **"],
    ...mistakes,
    [/^#\s|\s#/, "has a comment, which is part of the pattern here"],
];
function parsePaths(text) {
    const lines = text.split(/\r?\n/).flatMap((line, index) => {
        const pattern = line.trim();
        return pattern === "" ? [] : [{ pattern, number: index + 1 }];
    });
    if (lines.length === 0)
        return { value: undefined };
    for (const { pattern, number } of lines) {
        const mistake = ownMistakes.find(([one]) => one.test(pattern.replace(/^!/, "")))?.[1];
        if (mistake !== undefined)
            return { problem: `has a pattern that matches no file: line ${number} ${mistake}` };
    }
    try {
        return { value: readPatterns(lines.map(({ pattern }) => pattern)) };
    }
    catch (error) {
        if (!(error instanceof PatternError))
            throw error;
        return { problem: `has a pattern that cannot be read: line ${lines[error.index]?.number} ${error.message}` };
    }
}

// EXTERNAL MODULE: ./build/action/comments/event.js
var comments_event = __webpack_require__(6622);
// EXTERNAL MODULE: ./build/action/comments/prompt-template.js
var prompt_template = __webpack_require__(6205);
// EXTERNAL MODULE: ./build/action/mintlify.js
var mintlify = __webpack_require__(6929);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var runner_environment = __webpack_require__(767);
// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __webpack_require__(7598);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
;// CONCATENATED MODULE: ./build/action/changes/since.js
const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const maxDurationMs = 3650 * unitMs.d;
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
function isPossibleRef(text) {
    const isForbidden = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.lock(?:\/|$)|(?:^|\/)\.|^[-/]|[/.]$|^@$/;
    return text.length > 0 && text.length <= 255 && !isForbidden.test(text);
}

// EXTERNAL MODULE: ./build/action/outcome.js
var action_outcome = __webpack_require__(491);
;// CONCATENATED MODULE: ./build/action/inputs/rules.js




const rule = (problemWith, convert) => (text) => {
    const problem = problemWith(text);
    return problem === undefined ? { value: convert(text) } : { problem };
};
const asWritten = (text) => text;
const oneOf = (values, problem = `must be ${values.join(" or ")}`) => (text) => {
    const value = values.find((each) => each === text);
    return value === undefined ? { problem } : { value };
};
const anyText = (value) => ({ value });
const rules_boolean = rule((text) => (/^(true|True|TRUE|false|False|FALSE)$/.test(text) ? undefined : "must be true or false"), (text) => text.toLowerCase() === "true");
const positiveDecimal = rule((text) => /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 && Number.isFinite(Number(text))
    ? undefined
    : "must be a decimal number greater than 0, such as 5 or 0.5", Number);
const baseUrl = rule((value) => {
    if (!URL.canParse(value))
        return "must be an absolute URL, such as https://api.mintlify.com";
    const url = new URL(value);
    if (url.username || url.password || /^[^/]*\/\/[^/]*@/.test(value))
        return "must not contain credentials; the key belongs in api-key";
    if (/[?#]/.test(value))
        return "must not contain a query or a fragment";
    if ((0,client_credentials/* isProtectedUrl */.mH)(url))
        return undefined;
    return "must begin with https://, because the key would be sent in the clear otherwise (http:// is only for loopback hosts such as localhost)";
}, (text) => new URL(text));
const isKey = (value) => /^[\x21-\x7e]+$/.test(value);
const noKey = "contains a line break, a space or another character that no API key has. Paste the key into the secret again";
function apiKeyProblem(value) {
    if (value === "")
        return `is empty. Set it from a secret: api-key: \${{ secrets.NAME }}. Check the secret's name. ${agent_service/* forkAdvice */.Xv}. Runs started by Dependabot only see Dependabot's secrets`;
    if (!isKey(value))
        return noKey;
    const otherKind = { mint_dsc_: "an assistant key", mint_us_: "an index key" };
    for (const [prefix, kind] of Object.entries(otherKind)) {
        if (value.startsWith(prefix))
            return `is ${kind} (${prefix}…). Agent jobs need an admin key`;
    }
    return undefined;
}
const identifier = rule((text) => {
    if (text === "." || text === "..")
        return `must not be ${text}, which would change the URL of the request`;
    return /\p{Cc}/u.test(text) ? "must not contain control characters" : undefined;
}, asWritten);
const tokenPattern = /^[\x21-\x7e]+$/;
const oneLine = rule((text) => (/\p{Cc}/u.test(text) ? "must be one line: put the commands into a script, or && between them" : undefined), asWritten);
const authMethods = ["key", "github-oidc"];
const failOn = rule((text) => {
    const names = listOf(text);
    const known = action_outcome/* failReasons */.K1;
    const isValid = text === "none" || (names.length > 0 && names.every((name) => known.includes(name)));
    return isValid ? undefined : `must be a comma-separated list of ${action_outcome/* failReasons */.K1.join(", ")}, or only none`;
}, (text) => new Set(action_outcome/* failReasons */.K1.filter((reason) => listOf(text).includes(reason))));
function listOf(text) {
    return text.split(",").map((name) => name.trim());
}
const allowedBots = rule((text) => text.includes("*") ? "must be a list of logins, such as renovate[bot]; wildcards are not supported" : undefined, (text) => new Set(listOf(text.toLowerCase()).filter(Boolean)));
const baseBranch = rule((text) => (text === "" || isPossibleRef(text) ? undefined : "must be the name of a branch, or pull-request"), asWritten);
const maxSessionLength = 100;
const sessionName = rule((text) => {
    if (text.length > maxSessionLength)
        return `must not be longer than ${maxSessionLength} characters`;
    return /\p{Cc}/u.test(text) ? "must not contain control characters" : undefined;
}, asWritten);
const changesSince = (text) => {
    const value = parseSince(text);
    if (value)
        return { value };
    return { problem: "must be auto, a duration above 0 such as 24h or 7d, or the name of a commit, tag or branch" };
};

;// CONCATENATED MODULE: ./build/action/inputs/agent.js






const others = ["base-url", "project-id", "api-key", "auth", "wait", "on-cancel"];
const marginMinutes = 2;
function parseAgent(raw, isGiven, environment) {
    const { agent } = raw;
    const problems = [];
    const add = (input, problem) => void (problem && problems.push({ input, problem }));
    add("agent", (0,agent_service/* platformProblem */.J4)(environment));
    add("agent", (0,agent_service/* agentProblem */.$R)(agent, environment));
    for (const input of others)
        if (isGiven(input))
            add(input, (0,runner_kit_text/* say */.cv) `cannot be used together with agent, which runs with this step and ends with it. Remove one of them`);
    const keys = (0,agent_service/* keysOf */.YD)(agent, environment);
    const isKeyMissing = keys.length > 0 && !keys.some((name) => environment[name]?.trim());
    const isCloud = keys !== agent_service/* agentKeys */._N[agent];
    const given = (0,agent_service/* readAgentOptions */.y4)(raw["agent-options"]);
    const renamed = given.ofService.find(({ name, value }) => name === "agent-env" && /key|token/i.test(value))?.value;
    const from = (0,runner_kit_text/* trusted */.IZ)(isCloud ? "the step that signs in, or from a secret" : "a secret");
    if (isKeyMissing)
        add("agent", (0,runner_kit_text/* say */.cv) `is ${agent}, which needs ${keys.join(" or ")} in the step's env, from ${from}. ${renamed === undefined ? (0,runner_kit_text/* say */.cv) `Check the secret's name` : (0,runner_kit_text/* say */.cv) `If that is what ${renamed} has, rename it, and remove its --agent-env`}. ${(0,runner_kit_text/* trusted */.IZ)(agent_service/* forkAdvice */.Xv)}`);
    for (const name of keys)
        if (!isKey(environment[name]?.trim() || "unset"))
            add("agent", (0,runner_kit_text/* say */.cv) `is ${agent}, and ${name} in the step's env ${(0,runner_kit_text/* trusted */.IZ)(noKey)}`);
    const apiKey = `agent_${(0,external_node_crypto_.randomBytes)(24).toString("hex")}`;
    const minutes = Number(raw["timeout-minutes"]);
    for (const problem of given.problems)
        add("agent-options", problem);
    const commands = ["setup", "check"]
        .filter((name) => raw[name] !== "")
        .map((name) => ({ name, value: raw[name], line: `--${name} ${raw[name]}` }));
    const { GITHUB_REPOSITORY: own = "" } = environment;
    const { repository: named = own } = given.own;
    const other = named.toLowerCase() === own.toLowerCase() ? undefined : named;
    const projectId = (0,agent_service/* projectOf */.v8)(other, agent, environment, given.own.name);
    if (other !== undefined) {
        add("github-token", tokenProblem(raw, other));
        if (raw.base === "pull-request")
            add("base", (0,runner_kit_text/* say */.cv) `is pull-request, a branch of this repository, but the agent works on ${other}: name a branch of that`);
    }
    const isTrue = (value = "true") => value.toLowerCase() === "true";
    return {
        settings: {
            agent,
            repository: other ?? own,
            isOwnRepository: other === undefined,
            isPrivate: other === undefined && isPrivate(environment),
            projectId,
            githubToken: raw["github-token"],
            workflowToken: raw["workflow-token"],
            minutes: Math.max(minutes - marginMinutes, minutes / 2),
            remember: isTrue(given.own.remember),
            install: isTrue(given.own.install),
            isQuiet: isTrue(given.own.quiet ?? "false") || given.own.quiet === "",
            agentVersion: given.own["agent-version"],
            options: [...commands, ...given.ofService],
            apiKey,
        },
        problems,
        hasNoKey: isKeyMissing || keys.length === 0,
        inputs: {
            "base-url": "http://127.0.0.1",
            "project-id": projectId,
            "github-token": raw[other === undefined ? "github-token" : "workflow-token"],
            "api-key": apiKey,
        },
    };
}
function tokenProblem(raw, other) {
    const token = raw["github-token"];
    const needed = (0,runner_kit_text/* say */.cv) `Set it to one that can write to ${other}, such as a GitHub App's`;
    if (token === "")
        return (0,runner_kit_text/* say */.cv) `is empty. ${needed}. Check the secret's name. ${(0,runner_kit_text/* trusted */.IZ)(agent_service/* forkAdvice */.Xv)}`;
    if (token === raw["workflow-token"])
        return (0,runner_kit_text/* say */.cv) `is the workflow's own, which can write only to this repository. ${needed}`;
    return tokenPattern.test(token) ? undefined : (0,runner_kit_text/* say */.cv) `contains characters that no token has`;
}
function isPrivate(environment) {
    try {
        const event = (0,runner_environment/* readEvent */.j_)(environment);
        return (0,contract/* isObject */.Gv)(event) && (0,contract/* isObject */.Gv)(event.repository) && event.repository.private === true;
    }
    catch {
        return false;
    }
}

;// CONCATENATED MODULE: ./build/action/inputs/schema.js










const inputs = {
    prompt: ["", anyText],
    "prompt-file": ["", anyText],
    agent: ["", anyText],
    "agent-options": ["", anyText],
    setup: ["", oneLine],
    check: ["", oneLine],
    "job-id": ["", identifier],
    "project-id": ["", identifier],
    "api-key": ["", anyText],
    auth: ["key", oneOf(authMethods)],
    "base-url": ["https://api.mintlify.com", baseUrl],
    wait: ["true", rules_boolean],
    "timeout-minutes": ["60", positiveDecimal],
    "poll-interval-seconds": ["5", positiveDecimal],
    "max-poll-interval-seconds": ["15", positiveDecimal],
    "fail-on": ["failed, timed-out", failOn],
    summary: ["true", rules_boolean],
    "on-rerun": ["resume", oneOf(["resume", "new"])],
    "on-cancel": ["stop", oneOf(["stop", "keep"])],
    base: ["", baseBranch],
    "dry-run": ["false", rules_boolean],
    session: ["", sessionName],
    changes: ["none", oneOf(["none", "list", "diff"], "must be none, list or diff")],
    "changes-since": ["auto", changesSince],
    paths: ["", parsePaths],
    "trigger-phrase": ["", anyText],
    "trigger-label": ["", anyText],
    "required-permission": ["write", oneOf(comments_event/* permissions */.P, `must be one of ${comments_event/* permissions */.P.join(", ")}`)],
    "allowed-bots": ["", allowedBots],
    reply: ["true", rules_boolean],
    "github-token": ["", anyText],
    "workflow-token": ["", anyText],
    "matrix-leg": ["", anyText],
};
const inputNames = Object.keys(inputs);
const inputDefaults = mapInputs((name) => inputs[name][0]);
function mapInputs(map) {
    return Object.fromEntries(inputNames.map((name) => [name, map(name)]));
}
function parseInputs(read, environment, readFile) {
    const { GITHUB_EVENT_NAME: eventName = "" } = environment;
    const hasIdTokens = (0,runner_environment/* canRequestIdTokens */.$3)(environment);
    const given = mapInputs((name) => valueOrDefault(name, read(name)));
    const isGiven = (name) => given[name] !== inputDefaults[name];
    const agent = isGiven("agent") ? parseAgent(given, isGiven, environment) : undefined;
    const raw = { ...given, ...agent?.inputs };
    const problems = [...(agent?.problems ?? [])];
    const add = (input, problem) => {
        if (problem)
            problems.push({ input, problem });
    };
    const parsed = parseValues(raw, add);
    const file = raw["prompt-file"] ? readFile(raw["prompt-file"]) : undefined;
    const prompt = file && "text" in file ? file.text : raw.prompt;
    const isComment = (0,comments_event/* isTriggeredBy */.NN)(eventName, raw["trigger-phrase"], raw["trigger-label"]);
    const summary = parsed.summary ?? true;
    const hasTrigger = raw["trigger-phrase"] !== "" || raw["trigger-label"] !== "";
    if (hasTrigger && !isComment && ((0,prompt_template/* hasInstruction */.ps)(prompt) || (0,comments_event/* isClosed */.Lx)(environment)))
        return { ok: false, problems: [], skipped: { kind: "skipped", reason: "no-trigger", event: eventName }, summary };
    const isServiceKeyMissing = raw.auth === "github-oidc" ? !hasIdTokens : raw["api-key"] === "";
    const isMissing = agent ? agent.hasNoKey : isServiceKeyMissing;
    if (isComment && (0,comments_event/* isThreadEvent */.Zn)(eventName) && isMissing && (0,comments_event/* isFromFork */.ty)(environment)) {
        const skipped = { kind: "skipped", reason: "fork", triggerKind: comments_event/* triggerKinds */.iB[eventName] };
        return { ok: false, problems: [], skipped, summary };
    }
    const baseUrl = URL.parse(raw["base-url"]);
    const isHosted = baseUrl !== null && (0,mintlify/* isMintlify */.T)(baseUrl);
    if (!agent)
        checkAccess(raw, isHosted, hasIdTokens, add);
    checkPrompt(raw, file, isComment, environment, add);
    checkCombinations(raw, parsed, isHosted, isComment || prompt !== "", add);
    if (isComment)
        checkTemplate(raw, prompt, add);
    else if ((0,prompt_template/* hasInstruction */.ps)(prompt))
        add(raw["prompt-file"] ? "prompt-file" : "prompt", (0,runner_kit_text/* say */.cv) `uses {{ instruction }}, but without trigger-phrase and trigger-label nothing takes its place. Set one of them`);
    if (isComment || agent || raw.changes !== "none")
        checkToken(raw, isComment, add);
    if (problems.length > 0)
        return { ok: false, problems, summary };
    const values = parsed;
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
        onRerun: values["on-rerun"],
        onCancel: values["on-cancel"],
        base: values.base,
        dryRun: values["dry-run"],
        session: values["job-id"] === "" ? values.session : "",
        changes: values.changes === "none"
            ? undefined
            : { since: values["changes-since"], paths: values.paths, withPatches: values.changes === "diff" },
        githubToken: values["github-token"],
        workflowToken: values["workflow-token"] || values["github-token"],
        matrixLeg: values["matrix-leg"],
        agent: agent?.settings,
    };
    if (!isComment)
        return { ok: true, summary, settings, mode: { kind: "plain", task: taskOf(values["job-id"], prompt) } };
    const mode = {
        kind: "comment",
        phrase: values["trigger-phrase"],
        label: values["trigger-label"],
        template: prompt === "" ? undefined : prompt,
        jobId: values["job-id"],
        reply: values.reply,
        requiredPermission: values["required-permission"],
        allowedBots: values["allowed-bots"],
    };
    return { ok: true, summary, settings, mode };
}
function parseValues(raw, add) {
    const values = {};
    for (const input of inputNames) {
        const parsed = inputs[input][1](raw[input]);
        if ("problem" in parsed)
            add(input, quoting(parsed.problem, raw[input]));
        else
            values[input] = parsed.value;
    }
    return values;
}
function quoting(problem, value) {
    const isQuoted = /^must be(?:gin)? /.test(problem) && value !== "" && !value.includes("@");
    return isQuoted ? (0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* trusted */.IZ)(problem)}, not ${(0,untrusted/* excerpt */.Kb)(value, 100)}` : (0,runner_kit_text/* trusted */.IZ)(problem);
}
function checkAccess(raw, isHosted, hasIdTokens, add) {
    if (raw["project-id"] === "") {
        const where = isHosted
            ? "Copy it from the API keys page of the dashboard"
            : "Set it to the project's identifier in the service";
        add("project-id", (0,runner_kit_text/* say */.cv) `is empty. ${(0,runner_kit_text/* trusted */.IZ)(where)}. If it is \${{ vars.NAME }}, define that variable in the repository's settings`);
    }
    if (raw.auth !== "github-oidc") {
        const problem = apiKeyProblem(raw["api-key"]);
        return add("api-key", problem === undefined ? undefined : (0,runner_kit_text/* trusted */.IZ)(problem));
    }
    if (raw["api-key"] !== "")
        add("api-key", (0,runner_kit_text/* say */.cv) `cannot be used together with auth: github-oidc, which takes its place. Remove one of them`);
    if (isHosted)
        add("base-url", (0,runner_kit_text/* say */.cv) `must be the address of a service that trusts this repository: with auth: github-oidc, a token is never sent to the default base-url`);
    if (!hasIdTokens)
        add("auth", (0,runner_kit_text/* say */.cv) `is github-oidc, but this job may not request a token. Add to the job: permissions: { contents: read, id-token: write }. Permissions that are not named there are none, so name all others that the job needs, too. ${(0,runner_kit_text/* trusted */.IZ)(agent_service/* forkAdvice */.Xv)}`);
}
const maxPromptOnWindows = 32_767 - "INPUT_PROMPT=\0".length;
function checkPrompt(raw, file, isComment, { GITHUB_EVENT_NAME: eventName, RUNNER_OS }, add) {
    if (RUNNER_OS === "Windows" && raw.prompt.length > maxPromptOnWindows)
        return add("prompt", (0,runner_kit_text/* say */.cv) `has ${raw.prompt.length} characters. Windows passes at most ${maxPromptOnWindows} to an action: more may be cut off. Write the prompt to a file, and use prompt-file`);
    if (raw.prompt && raw["prompt-file"])
        return add("prompt-file", (0,runner_kit_text/* say */.cv) `cannot be used together with prompt`);
    if (file && "problem" in file)
        return add("prompt-file", file.problem);
    if (raw.prompt || file || raw["job-id"] || isComment)
        return;
    const trigger = raw["trigger-phrase"]
        ? "trigger-phrase only applies to comments, issues and pull requests"
        : raw["trigger-label"] && "trigger-label only applies to issues and pull requests";
    const problem = trigger
        ? (0,runner_kit_text/* say */.cv) `is empty, and ${(0,runner_kit_text/* trusted */.IZ)(trigger)}, not to ${eventName || "other"} events. Set prompt or prompt-file for these, or run the step only on events that it applies to`
        : (0,runner_kit_text/* say */.cv) `is empty. Set prompt or prompt-file, or only job-id to wait for that job`;
    add("prompt", problem);
}
function checkCombinations(raw, values, isHosted, hasPrompt, add) {
    const { "poll-interval-seconds": minSeconds = 0, "max-poll-interval-seconds": maxSeconds = Infinity } = values;
    if (maxSeconds < minSeconds)
        add("max-poll-interval-seconds", (0,runner_kit_text/* say */.cv) `is ${maxSeconds}, but must be at least poll-interval-seconds, which is ${minSeconds}`);
    for (const input of ["agent-options", "setup", "check"])
        if (raw[input] !== "" && raw.agent === "")
            add(input, (0,runner_kit_text/* say */.cv) `needs agent`);
    if (raw.agent !== "" && raw["job-id"] !== "" && !hasPrompt)
        add("job-id", (0,runner_kit_text/* say */.cv) `needs a prompt with agent: an agent ends with its step, so that there is no job to wait for`);
    if (raw.base !== "" && isHosted)
        add("base", (0,runner_kit_text/* say */.cv) `needs a service of your own (base-url): the hosted one takes no branch`);
    for (const input of ["changes-since", "paths"])
        if (raw.changes === "none" && raw[input] !== inputDefaults[input])
            add(input, (0,runner_kit_text/* say */.cv) `needs changes: list or changes: diff`);
}
function checkTemplate(raw, template, add) {
    const known = (0,prompt_template/* placeholders */.Ft)(raw.changes !== "none");
    const unknown = (0,prompt_template/* unknownPlaceholders */.hX)(template, known).map((name) => `{{ ${name} }}`);
    if (unknown.length === 0)
        return;
    const problem = (0,runner_kit_text/* say */.cv) `uses ${unknown.join(", ")}, but the only placeholders are ${(0,runner_kit_text/* trusted */.IZ)(known.join(", "))}`;
    add(raw["prompt-file"] ? "prompt-file" : "prompt", problem);
}
function checkToken(raw, isComment, add) {
    const trigger = raw["trigger-phrase"] ? "trigger-phrase" : "trigger-label";
    const user = isComment ? trigger : raw.agent ? "agent" : "changes";
    const problem = raw["github-token"] === ""
        ? (0,runner_kit_text/* say */.cv) `is empty, but ${(0,runner_kit_text/* trusted */.IZ)(user)} needs it. Leave it out to use the workflow's own token`
        : (0,runner_kit_text/* say */.cv) `contains characters that no token has`;
    if (!tokenPattern.test(raw["github-token"]))
        add("github-token", problem);
}
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
function outputsOf(outcome, state, now, skipReason = "") {
    const lastState = state.lastPullRequest?.state ?? "";
    return {
        "job-id": state.jobId,
        status: state.status,
        "pr-link": state.pullRequest?.url ?? "",
        "pr-number": state.pullRequest?.number ?? "",
        "last-pr-link": state.lastPullRequest?.url ?? "",
        "last-pr-state": lastState === "unknown" ? "" : lastState,
        outcome,
        "skip-reason": skipReason,
        "job-origin": state.origin,
        "changed-files": state.changes === undefined || state.changes.isUnlisted ? "" : String(state.changes.files.length),
        "final-message": state.finalMessage,
        "check-result": state.check,
        "cost-usd": state.costUsd === undefined ? "" : String(state.costUsd),
        "log-file": state.logFile,
        "work-file": state.workFile,
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

// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
// EXTERNAL MODULE: ./build/action/report/format.js + 1 modules
var format = __webpack_require__(7772);
// EXTERNAL MODULE: ./build/action/report/message.js
var message = __webpack_require__(337);
// EXTERNAL MODULE: ./build/action/report/request-failure.js
var request_failure = __webpack_require__(4108);
;// CONCATENATED MODULE: ./build/action/report/not-sent.js




const mayHaveRun = (0,runner_kit_text/* say */.cv) `This run sent nothing, because GitHub does not say that this step has not run before (permissions: actions: read).`;
const sentAlready = "If this prompt is needed, too";
function describeSkip(result, context) {
    if (result.reason === "dry-run") {
        const { plan } = result;
        const told = "kind" in plan ? (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `It would send nothing, and fail.`, describeBlocked(plan, context).what) : plan;
        return { title: "Dry run", what: (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Nothing was sent.`, told), next: [] };
    }
    if (result.reason === "nothing-new") {
        const { base = "", otherFiles = 0 } = context.state.changes ?? {};
        const others = (0,runner_kit_text/* say */.cv) `${(0,runner_kit_text/* trusted */.IZ)((0,format/* count */.U9)(otherFiles, "other file"))} changed, which paths leaves out.`;
        const what = (0,runner_kit_text/* say */.cv) `No file that counts has changed since ${(0,format/* shortRef */.m3)(base)}. Nothing was started.`;
        return { title: "Nothing new", what: (0,runner_kit_text/* joinSentences */.DP)(what, otherFiles > 0 ? others : []), next: [] };
    }
    if (result.reason === "own-change") {
        const what = (0,runner_kit_text/* say */.cv) `The event is about a commit of an agent, which starts no other agent. Nothing was started.`;
        return {
            title: "Skipped",
            what,
            next: (0,runner_kit_text/* say */.cv) `To ask for more, comment in its pull request, or run the workflow by hand, if it has workflow_dispatch.`,
        };
    }
    if ("event" in result)
        return (0,runner_kit_text/* message */.iU) `
      Skipped
      By the event ${result.event}, nobody can ask with this step's trigger-phrase or trigger-label. Nothing was started.
      To start a job on each such event, use a step for it without trigger-phrase, trigger-label and {{ instruction }}.`;
    const [why, next = []] = whySkipped(result, context.state.author);
    return { title: "Skipped", what: (0,runner_kit_text/* joinSentences */.DP)(why, [...(0,runner_kit_text/* capitalized */.l2)(nothingSent(context)), "."]), next };
}
function nothingSent({ state }) {
    return state.mayHaveEarlier
        ? (0,runner_kit_text/* say */.cv) `this run sent nothing, but an earlier attempt of it may have started a job`
        : (0,runner_kit_text/* say */.cv) `nothing was started`;
}
function whySkipped(result, login) {
    const { triggerKind } = result;
    const asker = askerOf(triggerKind);
    const isComment = triggerKind === "comment";
    switch (result.reason) {
        case "no-trigger": {
            if (result.handledBy === undefined)
                return [noTrigger[triggerKind]];
            const handler = (0,runner_kit_text/* trusted */.IZ)(result.handledBy);
            return [
                isComment
                    ? (0,runner_kit_text/* say */.cv) `The comment is a part of a review, which the event ${handler} handles as one request.`
                    : (0,runner_kit_text/* say */.cv) `The review is a single comment, which the event ${handler} handles.`,
                (0,runner_kit_text/* say */.cv) `If the workflow does not run on ${handler} yet, add it to the workflow's events.`,
            ];
        }
        case "no-instruction":
            return [(0,runner_kit_text/* say */.cv) `The trigger phrase is not followed by an instruction.`];
        case "not-permitted":
            return [
                (0,runner_kit_text/* say */.cv) `The ${asker}, ${login}, has the permission ${(0,runner_kit_text/* trusted */.IZ)(result.has)} in this repository, and required-permission is ${(0,runner_kit_text/* trusted */.IZ)(result.needs)}.`,
            ];
        case "bot":
            return [(0,runner_kit_text/* say */.cv) `The ${asker}, ${login}, is a bot that is not listed in allowed-bots.`];
        case "edited":
            return [(0,runner_kit_text/* say */.cv) `The ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)} was edited, and only new ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)}s are handled.`];
        case "withdrawn":
            return [
                triggerKind === "label"
                    ? (0,runner_kit_text/* say */.cv) `The label was taken off, or the issue was closed, before this step began.`
                    : (0,runner_kit_text/* say */.cv) `The ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)} was deleted or hidden, or no longer has the trigger phrase.`,
            ];
        case "command":
            return [(0,runner_kit_text/* say */.cv) `The ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)} is a command, which is answered in a reply.`];
        case "fork":
            if (result.isBase)
                return [
                    (0,runner_kit_text/* say */.cv) `The pull request is from a fork, or its branch was deleted, and the work would start from that branch.`,
                ];
            return [
                (0,runner_kit_text/* say */.cv) `The pull request is from a fork, and GitHub gives this event no secrets there.`,
                isComment || triggerKind === "review"
                    ? (0,runner_kit_text/* say */.cv) `To ask in pull requests from forks, comment in their conversation: issue_comment has secrets.`
                    : (0,runner_kit_text/* say */.cv) `Use pull_request_target instead of pull_request: it has secrets, and is safe as long as no step checks out the pull request.`,
            ];
    }
}
const noTrigger = {
    comment: (0,runner_kit_text/* say */.cv) `The comment is not new or does not begin with the trigger phrase.`,
    review: (0,runner_kit_text/* say */.cv) `The review is not new, or neither its text nor one of its comments begins with the trigger phrase.`,
    issue: (0,runner_kit_text/* say */.cv) `Only a new issue with the trigger phrase at the start of a line, or the trigger label, asks for a job.`,
    "pull request": (0,runner_kit_text/* say */.cv) `Only a new pull request with the trigger phrase at the start of a line, or the trigger label, asks for a job.`,
    label: (0,runner_kit_text/* say */.cv) `The label that was set is not the trigger label.`,
};
function askerOf(triggerKind) {
    if (triggerKind === "review")
        return (0,runner_kit_text/* say */.cv) `reviewer`;
    return triggerKind === "label" ? (0,runner_kit_text/* say */.cv) `account that set the label` : (0,runner_kit_text/* say */.cv) `author of the ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)}`;
}
function describeBlocked(result, context) {
    const describe = blocked[result.cause];
    return describe(result, context);
}
const gitHubAdvice = [
    [/rate limit/i, "Wait until the limit is over, at most an hour."],
    [/was archived so/i, "Remove this workflow, or unarchive the repository."],
    [/SAML enforcement/, "Authorize github-token for single sign-on (SSO) in the organization."],
    [/IP allow list/i, "Add the runner's address to the organization's IP allow list, or use a runner that is on it."],
    [/Bad credentials/i, "github-token has ended or was revoked: a GitHub App's lives for an hour. Make a new one."],
];
function adviceOnGitHub(permission, detail, { comment }) {
    const [, advice] = gitHubAdvice.find(([words]) => words.test(detail)) ?? [];
    const again = (0,runner_kit_text/* trusted */.IZ)(comment ? "Then ask again in the thread." : "Then re-run the workflow run.");
    if (advice !== undefined)
        return (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* trusted */.IZ)(advice), again);
    if (comment)
        return (0,runner_kit_text/* say */.cv) `If the token may not ${(0,runner_kit_text/* trusted */.IZ)(permission)}, change that. ${again}`;
    return (0,runner_kit_text/* say */.cv) `If the token may not ${(0,runner_kit_text/* trusted */.IZ)(permission)}, change that and start a new run: a re-run keeps this run's workflow file. Otherwise, re-run the workflow run.`;
}
const blocked = {
    event: ({ detail }) => (0,runner_kit_text/* message */.iU) `
    Cannot read the event
    The payload of the ${detail} event cannot be read, so nothing was started.
    ${message/* reportBug */.fy}`,
    permission: ({ triggerKind, detail }, context) => (0,runner_kit_text/* message */.iU) `
    Cannot check the permission
    The permission of the ${askerOf(triggerKind)} cannot be read (${detail}), so ${nothingSent(context)}.
    ${adviceOnGitHub("read the repository (contents: read)", detail, context)}`,
    review: ({ detail }, context) => (0,runner_kit_text/* message */.iU) `
    Cannot read the review
    The review cannot be read (${detail}), so ${nothingSent(context)}.
    ${adviceOnGitHub("read pull requests (pull-requests: read)", detail, context)}`,
    request: ({ triggerKind, detail }, context) => (0,runner_kit_text/* message */.iU) `
    Cannot read the request again
    Whether the ${(0,runner_kit_text/* trusted */.IZ)(triggerKind)} still asks cannot be read (${detail}), so nothing was started.
    ${adviceOnGitHub("read the thread (issues: read, pull-requests: read)", detail, context)}`,
    thread: ({ detail }, context) => detail === undefined
        ? (0,runner_kit_text/* message */.iU) `
    Cannot read the thread
    The thread, which says what an earlier attempt of this workflow run started, cannot be read. This run sent nothing; a job may be running.
    Re-run this workflow run, unless the token may not read the thread. See the log of the earlier attempt for the job's id. ${(0,message/* howToStartAnother */.ZH)(context)}`
        : (0,runner_kit_text/* message */.iU) `
    Cannot read the thread
    The thread, which may name a job to continue, cannot be read (${detail}), so ${nothingSent(context)}.
    ${adviceOnGitHub("read the thread (issues: read, pull-requests: read)", detail, context)}`,
    pending: (_, context) => (0,runner_kit_text/* message */.iU) `
    Job may have been started
    An earlier attempt of this workflow run ended without knowing whether the service accepted its request, so a job may have been started. This run sent nothing.
    ${(0,message/* checkService */._x)(context)} ${(0,message/* howToStartAnother */.ZH)(context)}`,
    memory: ({ detail }, context) => (0,runner_kit_text/* message */.iU) `
    Cannot read what an earlier attempt started
    This is a re-run, and the Actions cache, which says what an earlier attempt of this workflow run started, cannot be read (${detail}). This run sent nothing; an earlier attempt may have started a job.
    Re-run the workflow run. ${(0,message/* howToStartAnother */.ZH)(context)}`,
    unrecorded: ({ attempt }, context) => (0,runner_kit_text/* message */.iU) `
    Earlier attempt may have started a job
    This is a re-run. By GitHub's record, attempt ${attempt} of this workflow run ran this step, but nothing says what it started. This run sent nothing; a job may be running.
    See the log of that attempt for the job's id, and run the action with job-id to wait for it. ${(0,message/* checkService */._x)(context)} ${(0,message/* howToStartAnother */.ZH)(context)}`,
    unknown: ({ attempt }, context) => (0,runner_kit_text/* message */.iU) `
    Earlier attempt may have started a job
    This is a re-run, and attempt ${attempt} could not leave word of a job. Whether it ran this step could not be read from GitHub. This run sent nothing; a job may be running.
    To let the action ask GitHub in later runs, give the job permissions: actions: read. See the log of that attempt for the job's id. ${(0,message/* checkService */._x)(context)} ${(0,message/* howToStartAnother */.ZH)(context)}`,
    service: ({ error }, context) => (0,runner_kit_text/* message */.iU) `
    Cannot ask the service what was sent
    This is a re-run, and the service did not say what an earlier attempt of this workflow run sent (${error ? (0,request_failure/* failureReason */.Hr)(error, (0,message/* addressOf */.ci)(context.settings)) : (0,runner_kit_text/* say */.cv) `it did not announce itself`}). This run sent nothing; a job may be running.
    Re-run the workflow run when the service responds again. ${(0,message/* howToStartAnother */.ZH)(context)}`,
    "later-run": ({ run, jobId }) => (0,runner_kit_text/* message */.iU) `
    A later run has continued the job
    This is a re-run. ${run === undefined ? (0,runner_kit_text/* say */.cv) `A later run of this thread` : (0,runner_kit_text/* say */.cv) `Run ${run}, a later one of the session,`} has sent its own prompt to job ${jobId} since, so that what the job shows is that run's result. This run sent nothing.
    ${run === undefined ? (0,runner_kit_text/* say */.cv) `Nothing has to be done: see its reply. To send the prompt again, ask again in the thread` : (0,runner_kit_text/* say */.cv) `Nothing has to be done: see that run. To send the prompt again, start a new run of the workflow`}.`,
    unwitnessed: (_, context) => (0,runner_kit_text/* message */.iU) `
    Cannot leave word of a request
    GitHub took neither the reaction nor the reply, so that a re-run could not have known of a job. This run sent nothing.
    ${adviceOnGitHub("write to the thread (issues: write, pull-requests: write)", "", context)} Or set reply: false, which writes nothing.`,
    "several-turns": ({ jobIds }, context) => (0,runner_kit_text/* message */.iU) `
    Earlier attempts had other prompts
    Earlier attempts of this workflow run sent several prompts, and none of them is this one (jobs ${jobIds.join(", ")}). ${mayHaveRun}
    ${(0,message/* howToTakeUp */._$)("one of these jobs", (0,runner_kit_text/* say */.cv) `its job-id`, context)} ${(0,message/* howToStartAnother */.ZH)(context, sentAlready)}`,
    "other-prompt": ({ jobId, attempt }, context) => (0,runner_kit_text/* message */.iU) `
    Earlier attempt had another prompt
    ${attempt === undefined ? (0,runner_kit_text/* say */.cv) `An earlier attempt` : (0,runner_kit_text/* say */.cv) `Attempt ${attempt}`} of this workflow run sent another prompt, for ${jobId === undefined ? (0,runner_kit_text/* say */.cv) `a job` : (0,runner_kit_text/* say */.cv) `job ${jobId}`}. ${mayHaveRun}
    ${jobId === undefined ? (0,message/* checkService */._x)(context) : (0,message/* howToTakeUp */._$)("that job", (0,runner_kit_text/* say */.cv) `job-id ${jobId}`, context)} ${(0,message/* howToStartAnother */.ZH)(context, jobId && sentAlready)}`,
    replayed: ({ jobId }, context) => (0,runner_kit_text/* message */.iU) `
    Request was sent before
    The service had received the same request under the name of this step before, as job ${jobId}, so it started nothing. Another step of this workflow run sent it: GitHub gives both the same name, as it does if a reusable workflow is called twice.
    Give the steps different prompts or sessions, and start a new run of the workflow. ${(0,message/* howToTakeUp */._$)("that job", (0,runner_kit_text/* say */.cv) `job-id ${jobId}`, context)}`,
    "no-base": ({ error }, context) => error === undefined
        ? (0,runner_kit_text/* message */.iU) `
    The service takes no base
    The service does not announce that a job can start from another branch, so ${nothingSent(context)}.
    Update the service, or remove base.`
        : (0,runner_kit_text/* message */.iU) `
    Cannot ask the service for base
    Whether a job can start from another branch is unknown, so ${nothingSent(context)}. ${(0,request_failure/* explainRequestFailure */.Z)("create", error, context).what}
    ${(0,request_failure/* explainRequestFailure */.Z)("create", error, context).next}`,
    base: ({ detail }, context) => (0,runner_kit_text/* message */.iU) `
    Cannot read the pull request
    The branch of the pull request cannot be read (${detail}), so ${nothingSent(context)}.
    ${adviceOnGitHub("read pull requests (pull-requests: read)", detail, context)}`,
    head: ({ branch, detail }, context) => (0,runner_kit_text/* message */.iU) `
    Cannot read the newest commit
    The newest commit of ${branch} cannot be read (${detail}). If an agent made it, it must not start another one, so nothing was started.
    ${adviceOnGitHub("read the repository (contents: read)", detail, context)}`,
    "range-behind": ({ base, head, since }) => since !== undefined
        ? (0,runner_kit_text/* message */.iU) `
    Nothing to compare
    The range of changes begins with ${(0,format/* shortRef */.m3)(since)}, the value of changes-since, which is ahead of this run's commit, ${(0,format/* shortRef */.m3)(head)}. Nothing was started.
    Let changes-since name an earlier commit, and start a new run: a re-run keeps this run's workflow file.`
        : (0,runner_kit_text/* message */.iU) `
    Changes were covered by another run
    The range of changes ends with ${(0,format/* shortRef */.m3)(head)}, and another run has covered all up to ${(0,format/* shortRef */.m3)(base)}. Nothing was started.
    Nothing has to be done. To send changes again, start a new run of the workflow with changes-since.`,
    changes: ({ detail }, context) => (0,runner_kit_text/* message */.iU) `
    Cannot read what changed
    GitHub could not be asked what changed (${detail}), so nothing was started.
    Check changes-since. ${adviceOnGitHub("read the repository (contents: read)", detail, context)}`,
    session: ({ detail }) => (0,runner_kit_text/* message */.iU) `
    Cannot read the session
    The Actions cache, which says what the last job of the session is, cannot be read (${detail}). This run sent nothing.
    Re-run the workflow run. A run without session would start a new job, with a pull request of its own.`,
    "session-job": ({ jobId, error, forMs }, { settings, comment }) => {
        const where = (0,runner_kit_text/* trusted */.IZ)(comment ? "thread" : "session");
        return (0,runner_kit_text/* message */.iU) `
      Cannot read the ${where}'s job
      For ${(0,runner_kit_text/* trusted */.IZ)((0,format/* duration */.p0)(forMs))}, ${jobId === undefined ? (0,runner_kit_text/* say */.cv) `the last job of the ${where}` : (0,runner_kit_text/* say */.cv) `the state of job ${jobId}, the last of the ${where},`} could not be read: ${(0,request_failure/* failureReason */.Hr)(error, (0,message/* addressOf */.ci)(settings))}. This run sent nothing.
      Re-run the workflow run when the service responds again. ${comment ? [] : (0,runner_kit_text/* say */.cv) `A run without session would start a new job, with a pull request of its own.`}`;
    },
    "session-busy": ({ jobId, latest }) => (0,runner_kit_text/* message */.iU) `
    Another run works for the session
    Another workflow run ${jobId === undefined ? (0,runner_kit_text/* say */.cv) `is about to begin for the session` : (0,runner_kit_text/* say */.cv) `works on job ${jobId} of the session`}, until ${(0,runner_kit_text/* trusted */.IZ)(latest)} UTC at most, and the time of this step ended first. This run sent nothing, because both would be paid for the same changes.
    Re-run the workflow run when the other one has ended, or raise timeout-minutes and start a new run. To have one run wait for the other without using a runner, give the workflow a concurrency group.`,
    time: () => (0,runner_kit_text/* message */.iU) `
    No time left to start a job
    What came before took so long that no time was left to start a job, so nothing was started.
    Re-run the workflow run, or raise timeout-minutes and start a new run.`,
    prompt: (_, { comment }) => (0,runner_kit_text/* message */.iU) `
    Empty prompt
    The template produced an empty prompt, so nothing was started.
    ${comment ? (0,runner_kit_text/* say */.cv) `Use {{ instruction }} in the template.` : (0,runner_kit_text/* say */.cv) `Add words to the prompt besides {{ changes }}, which is empty if there is nothing to compare.`}`,
};

;// CONCATENATED MODULE: ./build/action/report/ending.js








function endingOf(result, context, failOn, elapsedMs) {
    const outcome = (0,action_result/* outcomeOf */.sG)(result, context.state);
    return {
        outcome,
        level: (0,action_outcome/* levelOf */.In)(outcome, failOn, context.state.check),
        message: describeResult(result, context),
        elapsedMs,
    };
}
function describeResult(result, context) {
    const describe = results[result.kind];
    return describe(result, context);
}
const results = {
    "invalid-inputs": ({ problems }, { state }) => ({
        title: "Invalid inputs",
        what: state.mayHaveEarlier
            ? (0,runner_kit_text/* say */.cv) `An earlier attempt of this workflow run may have started a job. This one sent nothing, because the inputs are invalid:`
            : (0,runner_kit_text/* say */.cv) `No job was started, because the inputs are invalid:`,
        points: problems.map(({ input, problem }) => [`${input} `, ...problem, "."]),
        next: (0,runner_kit_text/* say */.cv) `Correct these inputs in the step's "with" block, or where it takes them from, such as the form of a manual run. Then start a new run: a re-run keeps this run's workflow file and form.`,
    }),
    done: ({ status }, context) => {
        const { unproven, jobId } = context.state;
        if (unproven === "change") {
            const again = (0,runner_kit_text/* say */.cv) `To compare it again, re-run this workflow run: nothing is sent again.`;
            return (0,runner_kit_text/* message */.iU) `
        Result of the message is unknown
        Job ${jobId} is completed. Its pull request could not be read again, so it is unknown whether that has anything of the message.
        Look at its pull request. ${context.rerun.usable === "resumes" ? again : []}`;
        }
        const warning = (0,runner_kit_text/* say */.cv) `The job was not seen to start on the message, so this may be its state from before it.`;
        if (unproven && status === "completed")
            return (0,runner_kit_text/* message */.iU) `
        Result of the message is unknown
        Job ${jobId} is completed. ${warning}
        Look at its pull request. ${(0,message/* howToWait */.nF)(context)}`;
        const described = withCheck(jobs[status](context), context.state);
        return unproven ? { ...described, what: (0,runner_kit_text/* joinSentences */.DP)(described.what, warning) } : described;
    },
    started: (_, context) => {
        const { state, task } = context;
        if (task?.kind === "attach") {
            const isStale = state.status !== "" && state.status !== "active";
            return (0,runner_kit_text/* message */.iU) `
        ${(0,runner_kit_text/* trusted */.IZ)(isStale ? "Result of the message is unknown" : "Job is running")}
        Job ${state.jobId} is ${isStale ? (0,runner_kit_text/* say */.cv) `${state.status}, which may be its state from before the message` : (0,runner_kit_text/* say */.cv) `still running`}.
        ${(0,message/* howToWait */.nF)(context)}`;
        }
        return (0,runner_kit_text/* message */.iU) `
      ${(0,runner_kit_text/* trusted */.IZ)(task?.kind === "message" ? "Message sent" : "Job started")}
      Job ${state.jobId} is running, and this step does not wait for it.
      ${(0,message/* howToWait */.nF)(context)}`;
    },
    "timed-out": ({ lastError, timeoutMs }, context) => {
        const { settings, state, task, rerun } = context;
        const limit = (0,runner_kit_text/* trusted */.IZ)((0,format/* duration */.p0)(timeoutMs));
        if (settings?.agent) {
            const again = (0,runner_kit_text/* say */.cv) `If GitHub was slow and not its agent, re-run this workflow run: it continues with what was pushed or saved.`;
            return (0,runner_kit_text/* message */.iU) `
        Timed out
        Job ${state.jobId} was still running after ${limit}, so its agent was stopped. What was not pushed or saved is lost.
        Make the task smaller, or raise timeout-minutes and ${(0,message/* howToSendAnew */.lM)(context, true)}: a re-run keeps this run's workflow file. ${rerun.usable === "resumes" ? again : []}`;
        }
        const reason = lastError ? (0,request_failure/* failureReason */.Hr)(lastError, (0,message/* addressOf */.ci)(settings)) : [];
        const isStale = state.status !== "" && state.status !== "active";
        const stale = (0,runner_kit_text/* trusted */.IZ)(isStale ? " (its status was still the one from before the message)" : "");
        const addInput = rerun.usable === "resumes" || task?.kind === "attach"
            ? []
            : (0,runner_kit_text/* say */.cv) `If the workflow has no input for it, add job-id to the inputs of on.workflow_dispatch and job-id: \${{ inputs.job-id }} to the step, with a prompt that is empty when job-id is set.`;
        const what = lastError
            ? (0,runner_kit_text/* say */.cv) `After ${limit}, the state of job ${state.jobId} could not be read: ${reason}. The job may still be running: the timeout does not stop it.`
            : (0,runner_kit_text/* say */.cv) `Job ${state.jobId} was still running after ${limit}${stale}. It keeps running: the timeout does not stop it.`;
        return (0,runner_kit_text/* message */.iU) `
      Timed out
      ${what}
      ${(0,message/* howToWait */.nF)(context)} ${addInput} ${(0,message/* rerunWarning */.lZ)(context)} If jobs often take this long, raise timeout-minutes.`;
    },
    cancelled: (result, context) => {
        const [what, next] = whenCancelled(result, context);
        return { title: "Cancelled", what, next };
    },
    "submission-failed": ({ operation, error: { acceptance, cause } }, context) => {
        const { what, next } = (0,request_failure/* explainRequestFailure */.Z)(operation, cause, context);
        if (acceptance === "unknown") {
            const hint = cause instanceof errors/* InvalidResponseError */.tF ? next : [];
            return describeUnknownAcceptance(operation, what, context, hint);
        }
        if (operation === "create")
            return (0,runner_kit_text/* message */.iU) `
        No job was started
        ${what} No job was started.
        ${next} ${needsNewRun(context)}`;
        return (0,runner_kit_text/* message */.iU) `
      Message not accepted
      ${what} The service did not accept the message, so the agent started no work.
      ${next} ${needsNewRun(context)}`;
    },
    "poll-failed": ({ error }, context) => {
        const { task, state } = context;
        const { what, next } = (0,request_failure/* explainRequestFailure */.Z)("poll", error, context);
        if ((task === undefined || task.kind === "attach") && !state.hasRecord) {
            return (0,runner_kit_text/* message */.iU) `
        Polling failed
        ${what} This step started nothing. ${(0,request_failure/* isNotFound */.c4)("poll", error) || state.jobId === "" ? [] : (0,runner_kit_text/* say */.cv) `The state of job ${state.jobId} is unknown.`}
        ${next}`;
        }
        return (0,runner_kit_text/* message */.iU) `
      Polling failed
      ${what} The state of job ${state.jobId} is unknown; it may still be running.
      ${next} ${(0,message/* rerunWarning */.lZ)(context)} ${(0,message/* howToWait */.nF)(context)}`;
    },
    "agent-failed": ({ title, text, acceptance }, context) => ({
        title,
        what: (0,runner_kit_text/* joinSentences */.DP)(text, acceptance === "rejected" ? [] : (0,runner_kit_text/* say */.cv) `The agent is no longer running.`),
        next: acceptance === "rejected" ? needsNewRun(context) : (0,message/* howToWait */.nF)(context),
    }),
    skipped: describeSkip,
    blocked: describeBlocked,
    crashed: ({ error }, context) => {
        const { jobId, startedAt } = context.state;
        const isUnsent = jobId === "" && startedAt === undefined;
        const job = jobId ? (0,runner_kit_text/* say */.cv) `Job ${jobId} may be running.` : (0,runner_kit_text/* say */.cv) `A job may have been started.`;
        return (0,runner_kit_text/* message */.iU) `
      Internal error
      The action itself failed: ${(0,errors/* messageOf */.bD)(error)}. ${isUnsent ? (0,runner_kit_text/* say */.cv) `No job was started.` : job}
      ${message/* reportBug */.fy} ${jobId ? (0,message/* howToWait */.nF)(context) : []}`;
    },
};
function withCheck(described, { check, pullRequest }) {
    if (pullRequest === undefined || check === "" || check === "passed")
        return described;
    if (check === "failed-before") {
        const what = (0,runner_kit_text/* say */.cv) `Its check fails with and without the change, so it shows nothing: repair what the branch has.`;
        return { ...described, what: (0,runner_kit_text/* joinSentences */.DP)(described.what, what) };
    }
    return {
        title: `${described.title}, check failed`,
        what: (0,runner_kit_text/* joinSentences */.DP)(described.what, (0,runner_kit_text/* say */.cv) `The service's check fails with its change.`),
        next: (0,runner_kit_text/* say */.cv) `The pull request has the end of the check's output.`,
    };
}
const jobs = {
    completed: (context) => {
        const { jobId, pullRequest, hasInvalidLink, origin, publishesKept, isUnchanged, endedWithout } = context.state;
        const resumed = context.task?.kind === "attach" ? context.task : undefined;
        const isMessage = origin === "continued" || resumed?.resumes === "message";
        if (endedWithout !== undefined)
            return (0,runner_kit_text/* message */.iU) `
        Not in an open pull request
        The agent finished its turn of job ${jobId}. The job's pull request is ${(0,runner_kit_text/* trusted */.IZ)(endedWithout)}, and has nothing of this request.
        If the agent changed something, look for it ${(0,runner_kit_text/* trusted */.IZ)((0,message/* hasDashboard */.HX)(context) ? "in the dashboard" : "in the service")}. ${context.comment ? (0,message/* howToStartAnother */.ZH)(context) : anotherJob}`;
        if (pullRequest && isUnchanged)
            return (0,runner_kit_text/* message */.iU) `
        Nothing changed
        The agent finished its turn of job ${jobId}, and changed nothing. The job's pull request has nothing of this request.
        If you expected a change, make the prompt more specific. ${(0,message/* howToContinue */.DN)(context)}`;
        if (pullRequest && (publishesKept || resumed?.turnId !== undefined))
            return (0,runner_kit_text/* message */.iU) `
        Pull request created
        Job ${jobId} has finished, and its work has a pull request.`;
        if (pullRequest && isMessage)
            return (0,runner_kit_text/* message */.iU) `
        Pull request updated
        The agent finished the follow-up to job ${jobId}, which has a pull request.`;
        if (pullRequest)
            return (0,runner_kit_text/* message */.iU) `
        Pull request created
        The agent finished job ${jobId} and opened a pull request.`;
        if (hasInvalidLink)
            return (0,runner_kit_text/* message */.iU) `
        No pull request
        The agent finished job ${jobId}, but the service returned an invalid pull request link.
        Look for the pull request ${(0,runner_kit_text/* trusted */.IZ)((0,message/* hasDashboard */.HX)(context) ? "in the dashboard" : "on its platform")}. ${(0,message/* howToContinue */.DN)(context)}`;
        return (0,runner_kit_text/* message */.iU) `
      No pull request
      The agent finished job ${jobId} without opening a pull request: it changed nothing${isUnchanged ? [] : (0,runner_kit_text/* say */.cv) `, or the project publishes without one`}.
      If you expected a pull request, make the prompt more specific. ${(0,message/* howToContinue */.DN)(context)}`;
    },
    archived: (context) => {
        const another = howToReplace(context);
        return (0,runner_kit_text/* message */.iU) `
      Job archived
      Job ${context.state.jobId} was archived in the service and is no longer running.
      ${another.length > 0 ? (0,runner_kit_text/* say */.cv) `If you still need its work: ${another}` : []}`;
    },
    failed: (context) => {
        const { jobId, pageUrl, failure } = context.state;
        const { usable, over } = context.rerun;
        const again = failure && usable === "resumes" ? adviceOf(failure, context) : [];
        const isSentAgain = !failure && !context.comment && usable === "resumes" && over === "repeats";
        const choice = (0,runner_kit_text/* say */.cv) `A re-run of this workflow run sends the request again. To continue with this job instead, run the action with job-id ${jobId} and a prompt.`;
        const reason = failure?.reason ? (0,runner_kit_text/* say */.cv) `The service says why: ${failure.reason}` : [];
        const next = (0,runner_kit_text/* joinSentences */.DP)(again, isSentAgain ? choice : [], howToReplace(context), (0,message/* howToContinue */.DN)(context));
        if (failure?.isStopped)
            return (0,runner_kit_text/* message */.iU) `
        Job stopped
        Job ${jobId} was stopped before its agent had finished. It is no longer running. ${reason}
        ${next}`;
        if (failure?.isKept)
            return (0,runner_kit_text/* message */.iU) `
        Work is kept, and not published
        ${failure.reason}
        ${again} Job ${jobId} is no longer running.`;
        const page = pageUrl === "" ? [] : (0,runner_kit_text/* say */.cv) `The job page has the log.`;
        const what = failure?.reason
            ? (0,runner_kit_text/* say */.cv) `Job ${jobId} failed, and is no longer running.`
            : (0,runner_kit_text/* say */.cv) `The agent hit an unrecoverable error in job ${jobId}. The job is no longer running.`;
        return (0,runner_kit_text/* message */.iU) `
      Job failed
      ${what} ${reason}
      ${(0,message/* hasDashboard */.HX)(context) ? (0,runner_kit_text/* say */.cv) `See the dashboard for the cause.` : page} ${next}`;
    },
};
function adviceOf({ isStopped, isKept, isUnfinished, failureClass }, context) {
    const { settings, state } = context;
    const rerun = (0,runner_kit_text/* say */.cv) `To send the request again, re-run this workflow run.`;
    const anew = (0,message/* howToSendAnew */.lM)(context, isKept || isUnfinished);
    if (isKept && settings?.agent)
        return (0,runner_kit_text/* say */.cv) `${rerun} If the workflow file has to change, ${anew}. A token of another account may not find a job that has a branch.`;
    if (isStopped || isKept)
        return rerun;
    const repair = (0,runner_kit_text/* say */.cv) `Fix that, then re-run this workflow run; if the workflow file has to change, ${anew} instead, because a re-run keeps this run's.`;
    switch (failureClass) {
        case "limit": {
            const limit = settings?.agent
                ? (0,runner_kit_text/* say */.cv) `Raise the limit in the workflow (timeout-minutes for the time, or --time-limit-minutes if it is set; agent-options for others)`
                : (0,runner_kit_text/* say */.cv) `Raise the limit in the service`;
            const how = settings?.agent ? (0,runner_kit_text/* say */.cv) ` and ${anew}: a re-run has this run's limits.` : (0,runner_kit_text/* say */.cv) `, then re-run.`;
            const instead = isUnfinished
                ? (0,runner_kit_text/* say */.cv) `Or re-run this workflow run: its agent continues from what is kept, unless three turns in a row did not complete.`
                : (0,runner_kit_text/* say */.cv) `Or make the task smaller.${state.workFile === "" ? " Nothing that the agent did in this turn is kept." : ""}`;
            return (0,runner_kit_text/* joinSentences */.DP)([...limit, ...how], instead);
        }
        case "credit":
            return (0,runner_kit_text/* say */.cv) `Add credit for the agent's model, then re-run this workflow run.`;
        case "model":
            return (0,runner_kit_text/* joinSentences */.DP)((0,runner_kit_text/* say */.cv) `Check the name of the model, its key and its address.`, repair);
        case "setting":
        case "refused":
            return repair;
        default:
            return rerun;
    }
}
const anotherJob = (0,runner_kit_text/* say */.cv) `To start a new job, run the action with a prompt and no job-id.`;
function howToReplace({ rerun }) {
    return rerun.usable === "resumes" ? [] : anotherJob;
}
function whenCancelled({ operation, acceptance }, context) {
    const { jobId, status, stop } = context.state;
    const step = (0,runner_kit_text/* say */.cv) `The step was cancelled`;
    if (stop === "stopped")
        return [
            (0,runner_kit_text/* say */.cv) `${step}, and the service stopped job ${jobId}: its agent is no longer running.`,
            (0,runner_kit_text/* say */.cv) `To send the request again, re-run this workflow run.`,
        ];
    if (stop === "asked")
        return [
            (0,runner_kit_text/* say */.cv) `${step}, and the service was asked to stop job ${jobId}. It did not confirm that within 2 s, so the agent may still be running.`,
            context.rerun.usable === "repeats"
                ? (0,runner_kit_text/* say */.cv) `A re-run of this workflow run sends the request again, beside an agent that still runs.`
                : (0,runner_kit_text/* say */.cv) `A re-run of this workflow run asks the service what became of it, and starts nothing twice.`,
        ];
    if (acceptance === "unknown") {
        const { what, next } = describeUnknownAcceptance(operation, (0,runner_kit_text/* say */.cv) `${step} while the request was in flight.`, context);
        return [what, next];
    }
    if (acceptance === "rejected" && operation !== "poll") {
        const [unsent, again] = operation === "create"
            ? [(0,runner_kit_text/* say */.cv) `its request. No job was started.`, (0,runner_kit_text/* say */.cv) `Run this again to start the job.`]
            : [(0,runner_kit_text/* say */.cv) `the message. Job ${jobId} did not receive it.`, (0,runner_kit_text/* say */.cv) `Run this again to send the message.`];
        return [(0,runner_kit_text/* say */.cv) `${step} before the service accepted ${unsent}`, (0,runner_kit_text/* joinSentences */.DP)(again, needsNewRun(context))];
    }
    if (operation === "poll" && jobId === "")
        return [
            (0,runner_kit_text/* say */.cv) `${step} before it was known whether an earlier attempt has started a job, which may be running. This one sent nothing.`,
            (0,runner_kit_text/* say */.cv) `Re-run this workflow run: it finds that out first.`,
        ];
    if (operation === "poll" && status === "")
        return [(0,runner_kit_text/* say */.cv) `${step} before the state of job ${jobId} was read. The job may be running.`, (0,message/* howToWait */.nF)(context)];
    if (operation !== "message" && status !== "" && status !== "active") {
        const isOver = context.rerun.usable === "resumes" && (0,message/* startsOver */.E_)(context) && status !== "completed";
        return [
            (0,runner_kit_text/* say */.cv) `${step}. Job ${jobId} had already reached the status ${(0,runner_kit_text/* trusted */.IZ)(status)}.`,
            isOver ? (0,runner_kit_text/* say */.cv) `To start over, re-run this workflow run.` : (0,message/* howToWait */.nF)(context, "read its result"),
        ];
    }
    if (stop === "ended" && status === "failed")
        return [(0,runner_kit_text/* say */.cv) `${step}. Job ${jobId} had already failed.`, (0,runner_kit_text/* say */.cv) `To send the request again, re-run this workflow run.`];
    if (stop === "ended")
        return [(0,runner_kit_text/* say */.cv) `${step}. The work of job ${jobId} had already ended.`, (0,message/* howToWait */.nF)(context, "read its result")];
    return [
        (0,runner_kit_text/* say */.cv) `${step}, but job ${jobId} keeps running: ${(0,runner_kit_text/* trusted */.IZ)(whyNotStopped(context))}.`,
        (0,runner_kit_text/* joinSentences */.DP)((0,message/* howToWait */.nF)(context), (0,message/* rerunWarning */.lZ)(context)),
    ];
}
function needsNewRun({ rerun, comment }) {
    if (rerun.usable !== "stops")
        return [];
    if (comment)
        return (0,runner_kit_text/* say */.cv) `For that, ask again in the thread: a re-run sends nothing.`;
    return (0,runner_kit_text/* say */.cv) `For that, start a new run of the workflow: this run could not leave word that it started nothing, so a re-run sends nothing.`;
}
function whyNotStopped(context) {
    const { settings, task, state } = context;
    if ((0,message/* hasDashboard */.HX)(context))
        return "the service cannot stop a job";
    if (state.stop === "unreached")
        return "the service was not reached in time to stop it";
    if (task?.kind === "attach")
        return "a step only stops what it has sent itself";
    if (settings?.onCancel === "keep")
        return "on-cancel is keep";
    return state.features?.has("stop") ? "the service did not find its turn" : "the service cannot stop a job";
}
function describeUnknownAcceptance(operation, what, context, hint = []) {
    const { jobId } = context.state;
    const { usable } = context.rerun;
    if (operation !== "create") {
        const rerun = usable === "repeats"
            ? (0,runner_kit_text/* say */.cv) `A re-run of this workflow run may send it a second time.`
            : (0,runner_kit_text/* say */.cv) `A re-run sends nothing.`;
        return (0,runner_kit_text/* message */.iU) `
      Message may have been sent
      ${what} The message may have reached job ${jobId}, which may be running.
      ${hint} ${rerun} ${(0,message/* howToWait */.nF)(context)} ${usable === "repeats" ? [] : (0,message/* howToStartAnother */.ZH)(context, "If it did not arrive")}`;
    }
    if (jobId)
        return (0,runner_kit_text/* message */.iU) `
      Job may have been started
      ${what} The response contains the id of job ${jobId}, which may be running.
      ${hint} ${usable === "repeats" ? (0,runner_kit_text/* say */.cv) `A re-run of this workflow run may start a second job.` : []} ${(0,message/* howToWait */.nF)(context)}`;
    const next = usable === "stops"
        ? (0,runner_kit_text/* joinSentences */.DP)((0,message/* checkService */._x)(context), (0,runner_kit_text/* say */.cv) `A re-run sends nothing.`, (0,message/* howToStartAnother */.ZH)(context))
        : (0,runner_kit_text/* say */.cv) `Check ${(0,message/* serviceName */.fe)(context)} before you run this again: a re-run may start a second job.`;
    return (0,runner_kit_text/* message */.iU) `
    Job may have been started
    ${what} A job may have been started, but its id is unknown.
    ${hint} ${next}`;
}

;// CONCATENATED MODULE: ./build/action/settings.js
const promptOf = ({ prompt, sections = [] }) => [prompt, ...sections].join("\n\n");

;// CONCATENATED MODULE: ./build/action/report/log.js








const maxConnectionWarnings = 5;
const startingOver = {
    failed: "is failed",
    stopped: "was stopped",
    archived: "is archived",
    "not found": "was not found",
    rejected: "rejected the message",
};
class RunLog {
    #toolkit;
    #isFailing = false;
    #connectionWarnings = 0;
    #address;
    #hasWarnedOfStatus = false;
    #notSaved = "";
    #pageUrl = "";
    #isGrouped = false;
    constructor(toolkit) {
        this.#toolkit = toolkit;
    }
    starting(task, settings) {
        this.#address = (0,message/* addressOf */.ci)(settings);
        const { agent } = settings;
        const there = agent && !agent.isOwnRepository ? `, for ${agent.repository},` : "";
        const where = this.#address === undefined ? `on this runner${there}` : `in project ${settings.projectId} at ${this.#address}`;
        if (task.kind === "create")
            this.line(`Creating an agent job ${where} (prompt of ${(0,format/* size */.Ej)(promptOf(task))})`);
        else if (task.kind === "attach")
            this.line(`Following job ${task.jobId} ${where}`);
        else
            this.line(`Sending a message to job ${task.jobId} ${where} (prompt of ${(0,format/* size */.Ej)(promptOf(task))})`);
    }
    accepted(kind, job, state) {
        this.#recovered();
        this.line(kind === "create" ? `Created job ${state.jobId}` : `Sent the message to job ${state.jobId}`);
        for (const name of ["status", "model", "repository", "ref"]) {
            if (state[name])
                this.line(`  ${`${name}:`.padEnd(12)}${(0,untrusted/* excerpt */.Kb)(state[name], 300)}`);
        }
        this.#heardOf(job.status, state);
    }
    startingOver(jobId, reason) {
        this.line(`Job ${jobId} ${startingOver[reason]}; sending the request again`);
    }
    notSaved(error, isInTime) {
        const text = isInTime
            ? (0,runner_kit_text/* say */.cv) `That a request is about to be sent could not be saved in the Actions cache (${(0,errors/* messageOf */.bD)(error)}). If it is sent and this runner is lost then, a re-run of this workflow run may start a second job.`
            : (0,runner_kit_text/* say */.cv) `The job could not be saved in the Actions cache (${(0,errors/* messageOf */.bD)(error)}). The job is not affected, but a re-run of this workflow run, or the next run of its session, may not know of it.`;
        if (this.#notSaved === "")
            this.warning({ title: "Cannot remember the job", what: text });
        else if (this.#notSaved !== (0,runner_kit_text/* plain */.pj)(text))
            this.line((0,runner_kit_text/* plain */.pj)(text));
        this.#notSaved = (0,runner_kit_text/* plain */.pj)(text);
    }
    dryRun(prompt) {
        this.#toolkit.startGroup(`Prompt (${(0,format/* size */.Ej)(prompt)})`);
        for (const line of prompt.split(/\r\n|[\r\n]/))
            this.line(line);
        this.#toolkit.endGroup();
    }
    waiting({ wait, timeoutMs, intervals, agent }, state) {
        const limit = (0,format/* duration */.p0)(timeoutMs);
        this.#isGrouped = agent === undefined || agent.isQuiet;
        if (!this.#isGrouped) {
            this.line(`Waiting up to ${limit} for job ${state.jobId}. What its agent does:`);
            return;
        }
        const title = wait
            ? `Waiting up to ${limit} for job ${state.jobId} (poll interval ${(0,format/* delay */.cb)(intervals.minMs)} to ${(0,format/* delay */.cb)(intervals.maxMs)} before jitter)`
            : `Reading the state of job ${state.jobId} once; failed requests are retried for up to ${limit}`;
        this.#toolkit.startGroup((0,untrusted/* forLog */.Ig)(title).line);
    }
    waited() {
        if (this.#isGrouped)
            this.#toolkit.endGroup();
    }
    poll(event, state, elapsedMs, isWait) {
        const next = nextPoll(event.nextDelayMs);
        if (event.kind === "poll-failed") {
            const reason = (0,request_failure/* failureReason */.Hr)(event.error, this.#address);
            this.line(`${(0,format/* elapsed */.vk)(elapsedMs)}  poll failed${next}: ${(0,runner_kit_text/* plain */.pj)(reason)}`);
            if (!isWait)
                return;
            this.#warnOfConnection((0,runner_kit_text/* message */.iU) `
        Polling is failing
        ${(0,runner_kit_text/* capitalized */.l2)(reason)}. The job is not affected.`);
            return;
        }
        this.#recovered();
        const stale = event.isStale ? " (may be the status from before the message)" : "";
        if (this.#isGrouped || event.job.status !== "active")
            this.line(`${(0,format/* elapsed */.vk)(elapsedMs)}  ${(0,untrusted/* excerpt */.Kb)(event.job.status, 100)}${stale}${next}`);
        this.#heardOf(event.job.status, state);
    }
    retrying({ error, delayMs, isDoubt = false }, elapsedMs) {
        const reason = (0,request_failure/* failureReason */.Hr)(error, this.#address);
        const [what, title, why] = isDoubt
            ? ["no answer, sending the request again", "answered", "The service knows the request by its key"]
            : ["not accepted, retrying", "accepted", "The request started nothing"];
        this.line(`${(0,format/* elapsed */.vk)(elapsedMs)}  ${what} in ${(0,format/* delay */.cb)(delayMs)}: ${(0,runner_kit_text/* plain */.pj)(reason)}`);
        this.#warnOfConnection((0,runner_kit_text/* message */.iU) `
      Request not ${(0,runner_kit_text/* trusted */.IZ)(title)}, retrying
      ${(0,runner_kit_text/* capitalized */.l2)(reason)}. ${(0,runner_kit_text/* trusted */.IZ)(why)}, so it is safe to send it again.`);
    }
    #recovered() {
        if (this.#isFailing)
            this.line("The service is responding again.");
        this.#isFailing = false;
    }
    debug(text) {
        this.#toolkit.debug((0,untrusted/* forLog */.Ig)(text).line);
    }
    debugError(error) {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        for (const line of text.split("\n"))
            this.debug(line);
    }
    crashed(error) {
        this.debugError(error);
        this.error((0,runner_kit_text/* message */.iU) `
      Internal error
      The action crashed: ${(0,errors/* messageOf */.bD)(error)}. If the log names a job, it may be running. If the log only says that a job is being created, one may have been started: check the service before you run this again. ${message/* reportBug */.fy}`);
    }
    ended({ outcome, level, message: { title, what, points = [], next }, elapsedMs }, state) {
        const time = state.startedAt === undefined ? "" : ` after ${(0,format/* duration */.p0)(elapsedMs)}`;
        const link = state.pullRequest ? `: ${state.pullRequest.url}` : "";
        this.line(`Outcome: ${outcome}${time}${link}`);
        if (state.finalMessage !== "") {
            this.line("The agent's last message:");
            for (const line of state.finalMessage.split("\n"))
                this.line(`  ${line}`);
        }
        const paragraphs = [what, ...points.map((point) => ["- ", ...point]), next];
        if (level)
            this[level]({ title, what: (0,runner_kit_text/* join */.fj)(paragraphs, "\n") });
        else
            for (const paragraph of paragraphs)
                if (paragraph.length > 0)
                    this.line((0,runner_kit_text/* plain */.pj)(paragraph));
    }
    notice = this.#annotate("notice");
    warning = this.#annotate("warning");
    error = this.#annotate("error");
    #annotate(level) {
        return ({ title, what }) => this.#toolkit.annotate(level, title, (0,untrusted/* forAnnotation */.Jc)(what));
    }
    line(text) {
        const { line, hasCommand } = (0,untrusted/* forLog */.Ig)(text);
        if (hasCommand)
            this.#toolkit.infoWithoutCommands(line);
        else
            this.#toolkit.info(line);
    }
    #warnOfConnection(warning) {
        if (!this.#isFailing && this.#connectionWarnings++ < maxConnectionWarnings)
            this.warning(warning);
        this.#isFailing = true;
    }
    #heardOf(status, { pageUrl }) {
        if (!(0,contract/* isKnownStatus */.ih)(status) && !this.#hasWarnedOfStatus) {
            this.#hasWarnedOfStatus = true;
            this.warning((0,runner_kit_text/* message */.iU) `
        Unknown status
        The service returned the unknown status ${(0,untrusted/* excerpt */.Kb)(status, 100)} for the job. Treated as active.`);
        }
        if (pageUrl !== "" && pageUrl !== this.#pageUrl)
            this.line(`Job page: ${pageUrl}`);
        this.#pageUrl = pageUrl;
    }
}
function nextPoll(delayMs) {
    if (delayMs === undefined)
        return "";
    return delayMs === 0 ? ", next poll at once" : `, next poll in ${(0,format/* delay */.cb)(delayMs)}`;
}

;// CONCATENATED MODULE: ./build/action/report/summary.js



const promptLimit = 2000;
function renderSummary({ outcome, message, elapsedMs }, { state, settings, task }) {
    const blocks = [
        `<h2>${(0,format/* iconOf */.ZG)(outcome, state)} ${(0,untrusted/* forHtml */.B2)(message.title)}</h2>`,
        headline(state, elapsedMs),
        `<p>${(0,untrusted/* textToHtml */.s8)(message.what)}</p>`,
        list(message.points ?? []),
        message.next.length > 0 ? `<p><b>What to do next:</b> ${(0,untrusted/* textToHtml */.s8)(message.next)}</p>` : "",
        (0,format/* quoteMessage */.YG)(state.finalMessage),
        details(outcome, state, settings),
        task && task.kind !== "attach" ? summary_prompt(promptOf(task)) : "",
    ];
    return `${blocks.filter(Boolean).join("\n\n")}\n`;
}
function headline(state, elapsedMs) {
    const { pullRequest, page } = (0,format/* jobLinks */.Bs)(state);
    const parts = [...pullRequest.map((html) => `<b>${html}</b>`), ...page];
    if (state.jobId && state.startedAt !== undefined)
        parts.push(`${(0,format/* timeWord */.IR)(state)} ${(0,format/* duration */.p0)(elapsedMs)}`);
    if (state.costUsd !== undefined)
        parts.push(`$${state.costUsd} by the agent's own estimate`);
    const line = parts.join(" · ");
    return line === "" ? "" : `<p>${line.charAt(0).toUpperCase()}${line.slice(1)}</p>`;
}
function list(points) {
    return points.length > 0 ? `<ul>${points.map((point) => `<li>${(0,untrusted/* textToHtml */.s8)(point)}</li>`).join("")}</ul>` : "";
}
function details(outcome, state, settings) {
    const rows = [
        ["Outcome", outcome],
        ["Job", state.jobId],
        ["Origin", state.origin],
        ["Status", state.status],
        ["Check", state.check],
        ["Project", settings?.projectId ?? ""],
        ["Session", settings?.session ?? ""],
        ["Repository", state.repository],
        ["Ref", state.ref],
        ["Base", state.base],
        ["Model", state.model],
        ["Created", state.createdAt],
        ["Archived", state.archivedAt],
    ];
    const cells = rows.filter(([, value]) => value !== "").map(([name, value]) => [`<b>${name}</b>`, (0,untrusted/* code */.aY)(value)]);
    if (state.changes)
        cells.push(["<b>Changes</b>", changesCell(state.changes)]);
    const rowsOf = cells.map(([name, value]) => `<tr><td>${name}</td><td>${value}</td></tr>`);
    return ["<details><summary>Details</summary>", "<table>", ...rowsOf, "</table>", "</details>"].join("\n");
}
function changesCell(changes) {
    const { base, head, url } = changes;
    const comparison = (0,format/* link */.nf)(url, (0,untrusted/* code */.aY)(`${(0,format/* shortRef */.m3)(base)}...${(0,format/* shortRef */.m3)(head)}`));
    return `${comparison} · ${(0,format/* describeCounts */.wv)(changes)}`;
}
function summary_prompt(text) {
    const note = text.length > promptLimit ? ", truncated" : "";
    return `<details><summary>Prompt (${(0,format/* size */.Ej)(text)}${note})</summary>\n<pre>${(0,untrusted/* code */.aY)(text, promptLimit)}</pre>\n</details>`;
}

// EXTERNAL MODULE: ./build/action/run-job.js + 1 modules
var run_job = __webpack_require__(8429);
// EXTERNAL MODULE: ./build/action/run-state.js
var run_state = __webpack_require__(7742);
// EXTERNAL MODULE: ./build/action/step-key.js
var step_key = __webpack_require__(6323);
;// CONCATENATED MODULE: ./build/action/main.js












const repeats = { usable: "repeats", over: "repeats" };
async function main(ports) {
    const { toolkit, clock, environment } = ports;
    const log = new RunLog(toolkit);
    const state = new run_state/* RunState */.l();
    for (const name of ["api-key", "github-token"])
        maskSecret(toolkit.input(name), toolkit);
    trySetOutputs(outputsOf("error", state, clock.now()), toolkit);
    warnOfEnvironment(environment, log);
    const { inputs, execution, agent } = await runStep(ports, state, log);
    await agent?.end();
    state.logFile = agent?.logFile ?? "";
    state.workFile = agent?.workFile ?? "";
    if (agent && state.jobId !== "" && state.stop !== "ended")
        state.stop = "stopped";
    const settings = inputs?.ok ? inputs.settings : undefined;
    const comment = inputs?.ok && inputs.mode.kind === "comment" ? inputs.mode : undefined;
    const { result, task, rerun = repeats, finish } = execution;
    const now = clock.now();
    const failOn = settings?.failOn ?? new Set();
    const ending = endingOf(result, { settings, task, state, rerun, comment }, failOn, state.elapsedMs(now));
    const skipReason = result.kind === "skipped" ? result.reason : "";
    const outputsError = trySetOutputs(outputsOf(ending.outcome, state, now, skipReason), toolkit);
    log.ended(ending, state);
    if (outputsError) {
        log.error((0,runner_kit_text/* message */.iU) `
      Cannot write outputs
      The outputs could not be written, so the step fails: ${outputsError}. The job's id is in the log.`);
    }
    if (inputs?.summary ?? true) {
        try {
            await toolkit.writeSummary(renderSummary(ending, { state, settings, task }));
        }
        catch (error) {
            log.warning((0,runner_kit_text/* message */.iU) `
        Cannot write the job summary
        The job summary is missing: ${String(error)}.`);
        }
    }
    await finish?.(ending);
    if (result.kind === "invalid-inputs") {
        const { rememberInvalidInputs } = await __webpack_require__.e(/* import() */ 62).then(__webpack_require__.bind(__webpack_require__, 9062));
        await rememberInvalidInputs(toolkit.input("matrix-leg").trim(), ports);
    }
    return ending.level !== "error" && !outputsError;
}
function maskSecret(value, toolkit) {
    const secret = value.trim();
    for (const line of secret.split(/[\r\n]/)) {
        if (line !== "" && (line === secret || line.length >= 8))
            toolkit.mask(line);
    }
}
function warnOfEnvironment(environment, log) {
    if (environment.ACT === "true")
        log.line("Under act, run ids mean nothing: each re-run counts as a new run.");
    if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
        log.warning((0,runner_kit_text/* message */.iU) `
      TLS certificates are not verified
      NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anyone between the runner and the service can read the API key or token. Remove it, and set NODE_EXTRA_CA_CERTS to the file of a private certificate authority instead.`);
    }
    const certificates = (0,runner_environment/* missingCertificates */.Rt)(environment);
    if (certificates !== undefined) {
        log.warning((0,runner_kit_text/* message */.iU) `
      Certificates are not used
      NODE_EXTRA_CA_CERTS is ${certificates}, which does not exist on this runner, so Node ignores it. A service with a certificate of a private authority cannot be reached without it.`);
    }
}
async function runStep(ports, state, log) {
    let inputs;
    let agent;
    try {
        const { toolkit, environment } = ports;
        const workspace = environment.GITHUB_WORKSPACE || process.cwd();
        const read = (name) => toolkit.input(name);
        inputs = parseInputs(read, environment, (path) => readPromptFile(path, workspace));
        if (!inputs.ok) {
            state.mayHaveEarlier = (0,runner_environment/* runAttempt */.Tm)(environment) > 1;
            const { problems, skipped } = inputs;
            return { inputs, execution: { result: skipped ?? { kind: "invalid-inputs", problems } } };
        }
        const { settings, mode } = inputs;
        const publishJobId = (jobId) => void trySetOutputs({ "job-id": jobId }, ports.toolkit);
        const { apiKey, baseUrl } = settings;
        if (settings.agent) {
            maskSecret(apiKey, toolkit);
            agent = await ports.createAgent(settings.agent);
        }
        const own = agent;
        const runPorts = own ? { ...ports, agent: own, connect: () => own.connect(ports.connect("http:")) } : ports;
        const onTrace = (line) => log.debug(line);
        const mask = (token) => ports.toolkit.mask(token);
        const credentials = settings.auth === "key"
            ? (0,client_credentials/* keyCredentials */.YY)(apiKey)
            : await ports.connectIdTokens(baseUrl.origin, { ...ports, mask, onTrace });
        const jobId = mode.kind === "comment" ? mode.jobId : mode.task.kind === "message" ? mode.task.jobId : "";
        const key = new step_key/* StepKey */.K({ ...settings, jobId }, ports.environment);
        const run = { settings, ports: runPorts, credentials, key, state, log, publishJobId };
        return { inputs, execution: await runMode(mode, run), agent };
    }
    catch (error) {
        log.debugError(error);
        return { inputs, execution: { result: { kind: "crashed", error } }, agent };
    }
}
async function runMode(mode, run) {
    if (mode.kind === "comment") {
        const { runComment } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(825), __webpack_require__.e(591), __webpack_require__.e(407)]).then(__webpack_require__.bind(__webpack_require__, 7407));
        return runComment(mode, run);
    }
    const { task } = mode;
    if (task.kind !== "attach") {
        const { sendTask } = await __webpack_require__.e(/* import() */ 591).then(__webpack_require__.bind(__webpack_require__, 9591));
        return sendTask(task, run);
    }
    if (!run.settings.dryRun)
        return { result: await (0,run_job/* runJob */.b5)(task, run), task };
    const plan = (0,runner_kit_text/* say */.cv) `It would wait for job ${task.jobId}.`;
    return { result: { kind: "skipped", reason: "dry-run", plan }, task };
}
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

// EXTERNAL MODULE: ./node_modules/@actions/core/lib/core.js + 11 modules
var core = __webpack_require__(1659);
;// CONCATENATED MODULE: ./build/action/runner/toolkit.js



const annotations = { notice: core/* notice */.lm, warning: core/* warning */.$e, error: core/* error */.z3 };
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






async function start(signal) {
    process.on("uncaughtException", (error) => {
        new RunLog(runnerToolkit).crashed(error);
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
        connectGitHub: async (...address) => (await Promise.all(/* import() */[__webpack_require__.e(27), __webpack_require__.e(729)]).then(__webpack_require__.bind(__webpack_require__, 371))).connectGitHub(...address),
        connectIdTokens: async (...source) => (await __webpack_require__.e(/* import() */ 653).then(__webpack_require__.bind(__webpack_require__, 7653))).connectIdTokens(...source),
        createAgent: async (settings) => {
            const { createOwnAgent } = await __webpack_require__.e(/* import() */ 795).then(__webpack_require__.bind(__webpack_require__, 3795));
            return createOwnAgent(settings, { program: agentProgram(process.argv[1]), environment: process.env, signal });
        },
        environment: process.env,
        signal,
    });
    process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
}
function agentProgram(main = "") {
    return (0,external_node_path_.resolve)(main, main.endsWith(".ts") ? "../../../service/step/index.ts" : "../../service/dist/index.js");
}


/***/ }),

/***/ 6323:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   K: () => (/* binding */ StepKey),
/* harmony export */   l: () => (/* binding */ stepOfRun)
/* harmony export */ });
/* harmony import */ var node_crypto__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7598);
/* harmony import */ var _client_credentials_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8024);
/* harmony import */ var _client_step_lookup_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(1021);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8039);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);





function stepOfRun(matrixLeg, environment) {
    const { GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
    return (0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([GITHUB_RUN_ID, GITHUB_JOB, GITHUB_ACTION, matrixLeg]));
}
const maxReplaced = 100;
class StepKey {
    isLasting;
    step;
    #sessionParts;
    constructor(options, environment) {
        const { baseUrl, projectId, session, base, matrixLeg, jobId, request = "" } = options;
        const { GITHUB_REPOSITORY, GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
        const repository = environment.GITHUB_REPOSITORY_ID || GITHUB_REPOSITORY || "";
        const [file = ""] = (environment.GITHUB_WORKFLOW_REF ?? "").split("@");
        const workflowFile = [repository, ...file.split("/").slice(2)].join("/");
        const isRunUnknown = GITHUB_RUN_ID === "" || environment.ACT === "true";
        this.isLasting = !isRunUnknown;
        const place = [repository, serviceOf(baseUrl), projectId];
        this.#sessionParts = session === "" ? undefined : [...place, session];
        this.step = (0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([
            isRunUnknown ? (0,node_crypto__WEBPACK_IMPORTED_MODULE_0__.randomUUID)() : GITHUB_RUN_ID,
            (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .serverUrl */ .Vd)(environment),
            ...place,
            workflowFile,
            GITHUB_JOB,
            GITHUB_ACTION,
            matrixLeg,
            session,
            base,
            jobId,
            request,
        ]));
    }
    of(prompt, replaces) {
        return { step: this.step, request: requestOf(prompt, replaces) };
    }
    sessionOf(base) {
        return this.#sessionParts && (0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([...this.#sessionParts, base ?? null]));
    }
    find(prompt, turns) {
        const requests = new Set(turns.map(({ request }) => requestOf(prompt, request)));
        for (let next = requestOf(prompt, undefined), count = 0; count < maxReplaced; count++) {
            requests.add(next);
            next = requestOf(prompt, next);
        }
        return turns.find(({ request }) => requests.has(request));
    }
    lastOf(prompt, replaces, turns) {
        let last = replaces;
        const isOver = ({ request, status }) => request === requestOf(prompt, last) && (0,_client_step_lookup_js__WEBPACK_IMPORTED_MODULE_4__/* .hasEnded */ .hY)(status);
        while (last !== undefined && turns.some(isOver))
            last = requestOf(prompt, last);
        return last;
    }
}
function serviceOf(url) {
    return (0,_client_credentials_js__WEBPACK_IMPORTED_MODULE_1__/* .isLoopback */ .U9)(url) ? `http://localhost${url.pathname}` : url.href;
}
function requestOf(prompt, replaces) {
    return (0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([prompt, replaces ?? null]));
}


/***/ }),

/***/ 6078:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   CJ: () => (/* binding */ keptIn),
/* harmony export */   Gv: () => (/* binding */ isObject),
/* harmony export */   Hd: () => (/* binding */ isTerminal),
/* harmony export */   JN: () => (/* binding */ parseJob),
/* harmony export */   OG: () => (/* binding */ parseBody),
/* harmony export */   Xb: () => (/* binding */ isUsableJobId),
/* harmony export */   b6: () => (/* binding */ textOf),
/* harmony export */   ih: () => (/* binding */ isKnownStatus),
/* harmony export */   xI: () => (/* binding */ parseErrorMessage)
/* harmony export */ });
/* unused harmony export knownStatuses */
const knownStatuses = ["active", "completed", "archived", "failed"];
function isUsableJobId(id) {
    return id !== "" && id !== "." && id !== ".." && id.isWellFormed() && !/\p{Cc}/u.test(id);
}
const keptIn = ({ kept }) => ({
    isKept: kept === "push" || kept === "pull-request",
    isUnfinished: kept === "unfinished",
});
function isKnownStatus(status) {
    return knownStatuses.includes(status);
}
function isTerminal(status) {
    return isKnownStatus(status) && status !== "active";
}
function parseBody(body, redact) {
    try {
        return JSON.parse(body, (_key, value) => (typeof value === "string" ? redact(value) : value));
    }
    catch {
        return undefined;
    }
}
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
        ...keptIn(data),
    };
}
const maxPlainLength = 500;
function parseErrorMessage(data, body = "") {
    if (isObject(data))
        return (textOf(data.error) || textOf(data.message) || textOf(data.detail)).trim();
    const isPlain = data === undefined && body.length <= maxPlainLength && !body.includes("<");
    return isPlain ? (body.trim().split("\n", 1)[0] ?? "").trim() : "";
}
function isObject(data) {
    return typeof data === "object" && data !== null && !Array.isArray(data);
}
function textOf(value) {
    return typeof value === "string" ? value : "";
}


/***/ }),

/***/ 8024:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   U9: () => (/* binding */ isLoopback),
/* harmony export */   YY: () => (/* binding */ keyCredentials),
/* harmony export */   mH: () => (/* binding */ isProtectedUrl)
/* harmony export */ });
/* harmony import */ var _runner_kit_redact_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5593);

function keyCredentials(apiKey) {
    return { token: async () => apiKey, redact: (0,_runner_kit_redact_js__WEBPACK_IMPORTED_MODULE_0__/* .createRedactor */ .l)(apiKey) };
}
function isLoopback({ hostname }) {
    return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
function isProtectedUrl(url) {
    return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
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

class HttpError extends Error {
    name = "HttpError";
    constructor(response) {
        super(`HTTP ${response.status}`);
        Object.assign(this, response);
    }
}
class InvalidResponseError extends Error {
    name = "InvalidResponseError";
    body;
    constructor(message, body) {
        super(message);
        this.body = body;
    }
}
class TokenError extends Error {
    name = "TokenError";
    isTransient;
    constructor(message, isTransient) {
        super(message);
        this.isTransient = isTransient;
    }
}
function isRequestError(error) {
    return [_runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_0__/* .NetworkError */ .Dr, HttpError, InvalidResponseError, TokenError].some((type) => error instanceof type);
}
class SubmissionError extends Error {
    name = "SubmissionError";
    acceptance;
    jobId;
    cause;
    constructor(acceptance, cause, jobId) {
        super(cause.message);
        this.acceptance = acceptance;
        this.jobId = jobId;
        this.cause = cause;
    }
}
function messageOf(error) {
    return error instanceof Error ? error.message : String(error);
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


function classifySubmissionFailure(error) {
    if (error instanceof _runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_0__/* .NetworkError */ .Dr) {
        if (error.phase !== "connecting")
            return "unknown";
        return error.reason === "network" || error.reason === "timeout" ? "unreachable" : "rejected";
    }
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .TokenError */ .gz)
        return error.isTransient ? "unreachable" : "rejected";
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .HttpError */ .j$) {
        const { status, retryAfterMs } = error;
        if (status === 429 || (status === 503 && retryAfterMs !== undefined))
            return "throttled";
        if (status >= 300 && !isTransientStatus(status))
            return "rejected";
    }
    return "unknown";
}
function isTransientPollFailure(error) {
    if (error instanceof _runner_kit_transport_js__WEBPACK_IMPORTED_MODULE_0__/* .NetworkError */ .Dr)
        return error.reason !== "aborted";
    if (error instanceof _errors_js__WEBPACK_IMPORTED_MODULE_1__/* .HttpError */ .j$)
        return error.status === 429 || isTransientStatus(error.status);
    return true;
}
function isTransientStatus(status) {
    return status === 408 || status >= 500;
}
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

const checkResults = ["passed", "failed", "failed-before"];
const failureClasses = ["transient", "agent", "limit", "credit", "model", "setting", "refused"];
const endedStatuses = ["completed", "failed", "stopped"];
const maxTurnIdLength = 200;
const maxMessageLength = 4000;
const maxReasonLength = 1000;
const maxSessionJobs = 20;
const maxCovers = 10;
const maxCostUsd = 1000;
function parseAnnouncement(data, step) {
    if (!(0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(data) || data.step !== step || !Array.isArray(data.turns))
        return "unusable";
    if (data.key === null)
        return "keyless";
    const turns = data.turns.map(parseTurn);
    if (!turns.every((turn) => turn !== undefined))
        return "unusable";
    const features = Array.isArray(data.features) ? data.features.filter((feature) => typeof feature === "string") : [];
    const session = (0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(data.session) ? data.session : {};
    const { job, jobs, covers } = session;
    const sessionJobId = [job].find(isJobId);
    const busyUntil = Date.parse((0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .textOf */ .b6)(session.busyUntil));
    const sessionBusyUntil = sessionJobId !== undefined && busyUntil > 0 ? busyUntil : undefined;
    const sessionJobs = Array.isArray(jobs) ? jobs.filter(isJobId).slice(0, maxSessionJobs) : [];
    const isCommit = (one) => /^[0-9a-f]{40,64}$/.test((0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .textOf */ .b6)(one));
    const sessionCovers = Array.isArray(covers) ? covers.filter(isCommit).slice(0, maxCovers) : undefined;
    return { features: new Set(features), turns, sessionJobId, sessionBusyUntil, sessionJobs, sessionCovers };
}
const isJobId = (id) => typeof id === "string" && (0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isUsableJobId */ .Xb)(id);
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
        message: (0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .textOf */ .b6)(data.message).slice(0, maxMessageLength).toWellFormed(),
        reason: (0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .textOf */ .b6)(data.reason).slice(0, maxReasonLength).toWellFormed(),
        failureClass: failureClasses.find((one) => one === data.class) ?? "",
        costUsd: costIn(data.usage),
        ...(0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .keptIn */ .CJ)(data),
        isUnchanged: known === "completed" && data.change === "none",
        check: checkResults.find((result) => result === data.check) ?? "",
    };
}
function parseTurnStatus(data) {
    if (!(0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(data) || typeof data.status !== "string")
        return undefined;
    const { status } = data;
    return status === "waiting" ? status : (endedStatuses.find((ended) => ended === status) ?? "running");
}
function costIn(usage) {
    const cost = (0,_contract_js__WEBPACK_IMPORTED_MODULE_0__/* .isObject */ .Gv)(usage) ? usage.costUsd : undefined;
    return typeof cost === "number" && cost >= 0 && cost <= maxCostUsd ? cost : undefined;
}
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
var retry = __webpack_require__(1992);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
;// CONCATENATED MODULE: ./build/client/salvage-id.js

const token = /\s*(?:("(?:[^"\\]|\\.)*")|([{}[\]:,])|[^\s"{}[\]:,]+)/gy;
function salvageId(body, redact) {
    let depth = 0;
    let lastString;
    let key;
    let id;
    for (const [, string, punctuation] of body.matchAll(token)) {
        const isOpening = punctuation === "{" || punctuation === "[";
        if (depth === 1) {
            const isValue = punctuation === undefined || isOpening;
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
function parseString(literal = "") {
    try {
        return String(JSON.parse(literal));
    }
    catch {
        return undefined;
    }
}

;// CONCATENATED MODULE: ./build/client/submit.js



const minTimeLeftMs = 1000;
const unreachableLimitMs = 60_000;
const doubtLimitMs = 60_000;
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
            const failure = (0,retry/* classifySubmissionFailure */.V3)(error);
            if (failure === "unknown") {
                const jobId = "body" in error ? salvageId(error.body, ports.redact) : undefined;
                const found = new errors/* SubmissionError */.nx("unknown", error, jobId);
                if (jobId !== undefined)
                    ports.onJobId(jobId);
                doubt ??= { error: found, since: clock.now() };
                if (doubt.error.jobId === undefined && jobId !== undefined)
                    doubt.error = found;
                const latest = Math.min(limits.deadline - minTimeLeftMs, doubt.since + doubtLimitMs);
                const isAnnounced = await askUntil(latest, limits.signal, ports);
                const delayMs = (0,retry/* backoffMs */.jo)(attempt, random());
                if (!isAnnounced || clock.now() + delayMs > latest)
                    throw doubt.error;
                onRetry({ error, delayMs, isDoubt: true });
                await clock.sleep(delayMs, limits.signal);
                if (limits.signal.aborted)
                    throw doubt.error;
                continue;
            }
            const rejected = doubt?.error ?? new errors/* SubmissionError */.nx("rejected", error);
            if (failure === "rejected" || limits.signal.aborted)
                throw rejected;
            unreachableSince = failure === "unreachable" ? (unreachableSince ?? sentAt) : undefined;
            const now = clock.now();
            const latest = Math.min(limits.deadline - minTimeLeftMs, (unreachableSince ?? Infinity) + unreachableLimitMs);
            const minDelayMs = retryAfterMs(error);
            if (now >= latest || now + minDelayMs > latest)
                throw rejected;
            const delayMs = Math.min(Math.max(minDelayMs, (0,retry/* backoffMs */.jo)(attempt, random())), latest - now);
            onRetry({ error, delayMs });
            await clock.sleep(delayMs, limits.signal);
        }
    }
}
async function askUntil(latest, signal, { ask, clock, random }) {
    for (let attempt = 0; !signal.aborted && clock.now() < latest; attempt++) {
        try {
            return (await ask()) !== undefined;
        }
        catch (error) {
            if (error instanceof errors/* InvalidResponseError */.tF || !(0,errors/* isRequestError */.eK)(error) || !(0,retry/* isTransientPollFailure */.KR)(error))
                return false;
            const delayMs = Math.max((0,retry/* backoffMs */.jo)(attempt, random()), retryAfterMs(error));
            if (clock.now() + delayMs >= latest)
                return false;
            await clock.sleep(delayMs, signal);
        }
    }
    return false;
}
function retryAfterMs(error) {
    return error instanceof errors/* HttpError */.j$ ? (error.retryAfterMs ?? 0) : 0;
}


/***/ }),

/***/ 4575:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   O: () => (/* binding */ createTracer),
/* harmony export */   d: () => (/* binding */ traceTransport)
/* harmony export */ });
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4436);
/* harmony import */ var _errors_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6695);


function createTracer(onTrace, redact) {
    return (request, end, durationMs, requestId = "") => {
        const how = typeof end === "number" ? end : redact((0,_errors_js__WEBPACK_IMPORTED_MODULE_1__/* .messageOf */ .bD)(end));
        const id = requestId === "" ? "" : `, request ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_0__/* .excerpt */ .Kb)(redact(requestId), 100)}`;
        try {
            onTrace(`${redact(request)}: ${how}${id} (${Math.round(durationMs)} ms)`);
        }
        catch {
        }
    };
}
function traceTransport(transport, now, trace) {
    return async (request) => {
        const startedAt = now();
        const name = `${request.method} ${request.url.pathname}`;
        const response = await transport(request).catch((error) => {
            trace(name, error, now() - startedAt);
            throw error;
        });
        trace(name, response.status, now() - startedAt, response.headers["x-request-id"]);
        return response;
    };
}


/***/ }),

/***/ 7261:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $R: () => (/* binding */ agentProblem),
/* harmony export */   J4: () => (/* binding */ platformProblem),
/* harmony export */   J6: () => (/* binding */ serviceEnvironment),
/* harmony export */   Xv: () => (/* binding */ forkAdvice),
/* harmony export */   YD: () => (/* binding */ keysOf),
/* harmony export */   _N: () => (/* binding */ agentKeys),
/* harmony export */   v8: () => (/* binding */ projectOf),
/* harmony export */   y4: () => (/* binding */ readAgentOptions)
/* harmony export */ });
/* unused harmony exports editor, isInPath, serviceOptions, withoutSecrets */
/* harmony import */ var node_fs__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(3024);
/* harmony import */ var node_path__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6760);
/* harmony import */ var _no_proxy_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(5258);
/* harmony import */ var _text_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9563);




const forkAdvice = "Runs for pull requests from forks get none: to skip these, give the job if: github.event.pull_request == null || github.event.pull_request.head.repo.full_name == github.repository";
const editor = "editor";
const agentKeys = {
    claude: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    codex: ["CODEX_API_KEY", "OPENAI_API_KEY"],
    gemini: ["GEMINI_API_KEY"],
    opencode: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
    aider: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
    copilot: [],
    [editor]: [],
};
const agentNames = Object.keys(agentKeys);
const cloudKeys = {
    CLAUDE_CODE_USE_BEDROCK: ["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"],
    CLAUDE_CODE_USE_VERTEX: ["CLOUDSDK_AUTH_ACCESS_TOKEN"],
    CLAUDE_CODE_USE_FOUNDRY: ["ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_AUTH_TOKEN"],
};
function keysOf(agent, environment) {
    const isOn = (name) => /^\s*(?:1|true|yes|on)\s*$/i.test(environment[name] ?? "");
    const cloud = agent === "claude" ? Object.keys(cloudKeys).find(isOn) : undefined;
    return cloudKeys[cloud ?? ""] ?? agentKeys[agent] ?? [];
}
function agentProblem(agent, { PATH = "" }) {
    const [name = ""] = agent.replace(/^(\w+=\S*\s+)*/, "").match(/^[\w-]+(?=@|\s|$)/) ?? [];
    const model = /\s(?:--model|-m)[\s=]+(\S+)/.exec(agent)?.[1] ?? "NAME";
    if (name !== agent && Object.hasOwn(agentKeys, name))
        return (0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `is ${agent}, which would run as a command of your own. Set agent to ${name} alone, and its model by the line --model ${model} of agent-options. A command line of your own has to be in a script`;
    if (agent in agentKeys || !/^[\w.-]+$/.test(agent) || isInPath(agent, PATH))
        return undefined;
    return (0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `is ${agent}, which is neither one of ${agentNames.join(", ")} nor a program in the PATH of this runner`;
}
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
function projectOf(other, agent, { GITHUB_REPOSITORY: own = "", GITHUB_REPOSITORY_ID: id }, name = agent in agentKeys ? agent : "command") {
    return [other?.toLowerCase().replace("/", ".") ?? (id || own.replace("/", "-")), name].join("-");
}
const serviceOptions = [
    "agent-args",
    "agent-env",
    "agent-env-public",
    "agent-model-tools",
    "agent-network",
    "agent-reads",
    "branch-prefix",
    "commit-as",
    "disk-mb",
    "draft",
    "largest-change-mb",
    "max-cost-usd",
    "memory-mb",
    "model",
    "model-host",
    "only",
    "protect",
    "protected-files",
    "sandbox",
    "setup-host",
    "sign-off",
    "time-limit-minutes",
    "title-prefix",
    "trailer",
];
const ownOptions = {
    name: [/^[\w.-]{1,50}$/, "letters, digits, dots, hyphens and underscores"],
    remember: [/^(true|false)$/i, "true or false"],
    install: [/^(true|false)$/i, "true or false"],
    quiet: [/^(true|false)?$/i, "true or false"],
    "agent-version": [/^\d+\.\d[\w.+-]*$/, "a version, such as 2.1.330"],
    repository: [/^[\w-]+\/(?!\.{1,2}$)(?!.*\.git$)[\w.-]+$/, "OWNER/NAME"],
};
function readAgentOptions(text) {
    const read = { own: {}, ofService: [], problems: [] };
    const lines = text.split("\n").map((line) => line.trim());
    for (const line of lines.filter((each) => each !== "" && !each.startsWith("#"))) {
        const [, given = "", written = ""] = /^--([a-z-]+)(?:[\s=]+(.+))?$/.exec(line) ?? [];
        const value = /^(["'])((?:(?!\1).)+)\1$/.exec(written)?.[2] ?? written;
        const isOne = given === "agent-args" || !/\s--[a-z]/.test(written);
        const name = isOne ? serviceOptions.find((option) => option === given) : undefined;
        const own = isOne ? Object.keys(ownOptions).find((option) => option === given) : undefined;
        if (name !== undefined)
            read.ofService.push({ name, value, line });
        else if (own === undefined) {
            const known = [...Object.keys(ownOptions), ...serviceOptions].map((one) => `--${one}`).join(", ");
            read.problems.push((0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `must have one of ${known} in each line, with its value, not ${line}`);
        }
        else if (read.own[own] !== undefined)
            read.problems.push((0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `must have --${own} only once`);
        else {
            const [pattern, form] = ownOptions[own];
            if (pattern.test(value))
                read.own[own] = value;
            else
                read.problems.push((0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `must have --${own} with ${(0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .trusted */ .IZ)(form)}, not ${line}`);
        }
    }
    return read;
}
function platformProblem({ RUNNER_OS }, platform = process.platform) {
    const system = RUNNER_OS || { linux: "Linux", darwin: "macOS", win32: "Windows" }[platform] || platform;
    if (system === "Linux")
        return undefined;
    return (0,_text_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `does not run on ${system}: an agent's sandbox needs bubblewrap and the namespaces of Linux. Set \`runs-on: ubuntu-latest\` for this job`;
}
const needed = /^(PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+|TZ|USER|LOGNAME|SHELL|TMPDIR|(HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|GIT_SSL_CAINFO|RUNNER_TRACKING_ID)$/i;
function withoutSecrets(environment, more = () => false) {
    return Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => value !== undefined && (needed.test(name) || more(name)) ? [[name, value]] : []));
}
function serviceEnvironment(environment, names) {
    const more = (name) => name === "NODE_COMPILE_CACHE" || names.includes(name);
    return { ...withoutSecrets((0,_no_proxy_js__WEBPACK_IMPORTED_MODULE_3__/* .withNoProxyBelow */ .t)(environment), more), NODE_USE_ENV_PROXY: "1" };
}


/***/ }),

/***/ 5136:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   U: () => (/* binding */ inertText)
/* harmony export */ });
/* unused harmony export withoutMarks */
const bracketCommand = /\[((?:skip|no)[\s_-]+[\w-]+|[\w-]+?[\s_-]+skip)\]/gi;
const starredCommand = /\*{3}(NO_CI)\*{3}/gi;
const trailerCommand = /\b((?:skip|request)-checks)\s*:\s*(true)/gi;
const trailer = /^([ \t]*(?:[\w-]+-by|Agent-\w+|Change-Id|Release-As|BREAKING[ -]CHANGE))(?=[ \t]*:)/gim;
const references = /(?<!\w(?=@\d))@(?=\w)|#(?=\d)|\bGH(?=-\d)|:(?=\/\/)|www(?=\.)|<(?=!--)/gi;
const patchLine = /^(?:diff|@@)(?= -)/gm;
const mark = "\u200b";
const withoutMarks = (text) => text.replaceAll(mark, "");
function inertText(untrusted) {
    return untrusted
        .replace(bracketCommand, "($1)")
        .replace(starredCommand, "$1")
        .replace(trailerCommand, "$1 = $2")
        .replace(trailer, `$1${mark}`)
        .replace(references, `$&${mark}`)
        .replace(patchLine, `$&${mark}`);
}


/***/ }),

/***/ 5258:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   t: () => (/* binding */ withNoProxyBelow)
/* harmony export */ });
function withNoProxyBelow(environment) {
    const below = (list) => list
        .split(/[\s,]+/)
        .flatMap((name) => (/^[^.*].*[a-z]/i.test(name) ? [name, `.${name}`] : [name]))
        .join(",");
    return Object.fromEntries(Object.entries(environment).map(([name, value]) => [
        name,
        value && /^no_proxy$/i.test(name) ? below(value) : value,
    ]));
}


/***/ }),

/***/ 5593:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   l: () => (/* binding */ createRedactor)
/* harmony export */ });
const minSecretLength = 8;
const endLength = 4;
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
function anyEncodingOf(text) {
    const encodings = [
        [...text].map(escapedCharacter).join(""),
        [...Buffer.from(text)].map((byte) => hex(byte)).join(""),
        ...[0, 1, 2].map((bytesBefore) => base64Pattern(text, bytesBefore)),
    ];
    return encodings.join("|");
}
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
/* harmony export */   iU: () => (/* binding */ message),
/* harmony export */   l2: () => (/* binding */ capitalized),
/* harmony export */   pj: () => (/* binding */ plain)
/* harmony export */ });
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
function trusted(words) {
    return [words];
}
function join(texts, separator) {
    return texts.filter((text) => text.length > 0).flatMap((text, index) => (index === 0 ? text : [separator, ...text]));
}
function joinSentences(...texts) {
    return join(texts, " ");
}
function plain(text) {
    return text.map((part) => (typeof part === "string" ? part : part.untrusted)).join("");
}
function capitalized(text) {
    const [first, ...rest] = text;
    return typeof first === "string" ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : text;
}
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
function trimmed(line) {
    const parts = line.filter((part) => part !== "");
    const last = parts.at(-1);
    return typeof last === "string" ? [...parts.slice(0, -1), last.trimEnd()] : parts;
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
/* harmony import */ var _no_proxy_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(5258);



class NetworkError extends Error {
    name = "NetworkError";
    constructor(message, options) {
        super(message, { cause: options.cause });
        const { phase, reason, body = "" } = options;
        Object.assign(this, { phase, reason, body });
    }
}
const maxBodyBytes = 1024 * 1024;
const errorBodyTimeoutMs = 2000;
const cancelled = "the step was cancelled";
function createTransport(protocol, environment) {
    const client = protocol === "https:" ? node_https__WEBPACK_IMPORTED_MODULE_1__ : node_http__WEBPACK_IMPORTED_MODULE_0__;
    const proxies = protocol === "https:" ? environment : {};
    const agent = createAgent(protocol, proxies);
    return async (request) => {
        const idle = request.method === "POST" ? Object.values(agent.freeSockets).flat() : [];
        for (const socket of idle)
            socket?.destroy();
        return send(client, agent, request);
    };
}
function createRunnerTransport(environment) {
    const agents = new Map();
    return async (request) => {
        const { protocol } = request.url;
        const agent = agents.get(protocol) ?? createAgent(protocol, environment);
        agents.set(protocol, agent);
        return send(protocol === "https:" ? node_https__WEBPACK_IMPORTED_MODULE_1__ : node_http__WEBPACK_IMPORTED_MODULE_0__, agent, request);
    };
}
function createAgent(protocol, environment) {
    const name = protocol === "https:" ? "https_proxy" : "http_proxy";
    const address = proxyAddress(name, environment);
    const proxyEnv = { ...(0,_no_proxy_js__WEBPACK_IMPORTED_MODULE_2__/* .withNoProxyBelow */ .t)(environment), [name]: address, [name.toUpperCase()]: undefined };
    try {
        return new (protocol === "https:" ? node_https__WEBPACK_IMPORTED_MODULE_1__ : node_http__WEBPACK_IMPORTED_MODULE_0__).Agent({ keepAlive: true, proxyEnv });
    }
    catch {
        throw invalidProxy(`the proxy address in ${name} is not a valid URL`);
    }
}
function proxyAddress(name, environment) {
    const address = (environment[name] || environment[name.toUpperCase()] || "").trim();
    if (address === "")
        return undefined;
    const [prefix = "", scheme = "http"] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
    if (!/^https?$/i.test(scheme))
        throw invalidProxy(`${name} names a ${scheme.toLowerCase()} proxy, but only http and https proxies are supported`);
    return `${scheme.toLowerCase()}://${address.slice(prefix.length)}`;
}
function invalidProxy(message) {
    return new NetworkError(message, { phase: "connecting", reason: "network" });
}
function send(client, agent, request) {
    return new Promise((resolve, reject) => {
        let phase = "connecting";
        let incoming;
        let errorBodyTimer;
        let graceTimer;
        const chunks = [];
        let isRefused = false;
        let bytes = 0;
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
            response.on("end", onClose);
        };
        if (request.signal.aborted) {
            reject(new NetworkError(cancelled, { phase, reason: "aborted" }));
            return;
        }
        const { method, body } = request;
        const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
        const outgoing = client.request(request.url, { method, agent, headers: { ...request.headers, ...length } });
        const timer = setTimeout(onTimeout, request.timeoutMs);
        outgoing.on("socket", (socket) => {
            const onConnected = () => {
                phase = "sending";
            };
            if (socket.connecting || socket.secureConnecting)
                socket.once(socket.encrypted ? "secureConnect" : "connect", onConnected);
            else if (!socket.destroyed)
                onConnected();
        });
        outgoing.on("finish", () => {
            if (phase === "sending")
                phase = "waiting";
        });
        outgoing.on("response", onResponse);
        outgoing.on("error", onError);
        outgoing.on("close", onClose);
        request.signal.addEventListener("abort", onAbort);
        outgoing.end(body);
    });
}
function drain(response) {
    let chunk;
    do
        chunk = response.read();
    while (chunk !== null);
}
function isSuccess(status) {
    return status >= 200 && status < 300;
}
function isCertificateError(error) {
    return /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|UNSPECIFIED|CRL_|ERROR_IN_C|PATH_LENGTH)/.test(error.code ?? "");
}
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
/* harmony export */   g$: () => (/* binding */ printable),
/* harmony export */   q4: () => (/* binding */ invisible),
/* harmony export */   s8: () => (/* binding */ textToHtml)
/* harmony export */ });
/* harmony import */ var _inert_text_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5136);

const partLimit = 1000;
const annotationLimit = 4096;
const invisible = /(?![\t\n\r\u200e\u200f\u061c]|(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d](?![\u200c\u200d])|(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=[\p{Sm}\p{scx=Han}\p{scx=Mong}\p{scx=Mymr}])\p{VS}|(?<=\u{1f3f4}[\u{e0030}-\u{e007a}]{0,6})[\u{e0030}-\u{e007a}]{0,6}\u{e007f})[\p{Cc}\p{Zl}\p{Zp}\p{DI}\ufff9-\ufffb]/gu;
const unprintable = new RegExp(`[\\t\\n\\r\\u200e\\u200f\\u061c]|${invisible.source}`, "gu");
function visible(text, keep) {
    return text
        .toWellFormed()
        .replace(unprintable, (character) => keep.includes(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
const commandMark = /##\[|^\s*::/;
function escapeCommands(line) {
    return line.replaceAll("##[", "##\\[").replace(/^(\s*)::/, "$1\\::");
}
const lineLimit = 10_000;
function forLog(text) {
    const line = visible(excerpt(text, lineLimit), "\t");
    return { line: escapeCommands(line), hasCommand: commandMark.test(line) };
}
function forAnnotation(text) {
    const parts = text.map((part) => typeof part === "string" ? part : visible(excerpt(part.untrusted, partLimit), "\t"));
    return excerpt(parts.join("").split("\n").map(escapeCommands).join("\n"), annotationLimit);
}
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
function code(text, limit) {
    return `<code>${forHtml(text, limit)}</code>`;
}
function textToHtml(text) {
    return text
        .map((part) => {
        if (typeof part === "string")
            return forHtml(part, part.length);
        return /^(?=.{60}).*\S\s+\S/s.test(part.untrusted) ? sentence(part.untrusted) : code(part.untrusted, partLimit);
    })
        .join("");
}
function sentence(text) {
    const pieces = forHtml(text, partLimit).split(/(&#?\w+;)/);
    return `<i>${pieces.map((piece, index) => (index % 2 ? piece : (0,_inert_text_js__WEBPACK_IMPORTED_MODULE_0__/* .inertText */ .U)(piece))).join("")}</i>`;
}
function excerpt(text, limit) {
    if (text.length <= limit)
        return text;
    return `${text
        .slice(0, limit - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`;
}
function printable(text) {
    return text.toWellFormed().replaceAll("\r", "").replace(invisible, "");
}


/***/ })

};
