export const id = 450;
export const ids = [450,35];
export const modules = {

/***/ 8450:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  runComment: () => (/* binding */ runComment)
});

// EXTERNAL MODULE: ./build/action/run-job.js + 4 modules
var run_job = __webpack_require__(6863);
// EXTERNAL MODULE: ./build/action/run-state.js
var run_state = __webpack_require__(7742);
;// CONCATENATED MODULE: ./build/action/comments/command.js


/** How long the state of a job may take to read for a command, in milliseconds. */
const maxReadingMs = 60_000;
/**
 * Answers a command in a reply of its own, which has no marker: it starts nothing, and the thread's job stays the same.
 *
 * @param renderAnswer - returns the text of the reply
 */
async function answerCommand(command, thread, mode, run, renderAnswer) {
    await thread.react("eyes");
    if (command === "help") {
        await thread.post(renderAnswer({ kind: "help" }));
        return;
    }
    const authorId = await thread.post(renderAnswer({ kind: "reading" }));
    if (authorId === undefined || run.ports.signal.aborted)
        return;
    await thread.edit(renderAnswer(await readAnswer(authorId, thread, mode, run)), { isLast: true });
}
/** Reads the job that the workflow names, or the last one that the step's own account has started in the thread. */
async function readAnswer(authorId, thread, mode, run) {
    const { settings } = run;
    const replies = mode.jobId === "" ? await thread.listReplies(settings.projectId) : [];
    if (!replies)
        return { kind: "unreadable-thread" };
    const own = replies.findLast((reply) => reply.authorId === authorId && reply.jobId !== undefined);
    const jobId = mode.jobId || own?.jobId;
    if (jobId === undefined)
        return { kind: "no-job" };
    // In a state of its own, so that it does not reach the outputs of this run.
    const state = new run_state/* RunState */.l();
    const timeoutMs = Math.min(settings.timeoutMs, maxReadingMs);
    const result = await (0,run_job/* readJob */.c)(jobId, { ...run, settings: { ...settings, timeoutMs }, state });
    return { kind: "job", jobId, reading: { result, state } };
}

// EXTERNAL MODULE: ./build/client/submit.js + 1 modules
var client_submit = __webpack_require__(9099);
// EXTERNAL MODULE: ./build/runner-kit/cache.js
var cache = __webpack_require__(2012);
// EXTERNAL MODULE: ./build/action/find-job.js
var find_job = __webpack_require__(5878);
// EXTERNAL MODULE: ./build/action/plan.js
var action_plan = __webpack_require__(6848);
// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var environment = __webpack_require__(767);
// EXTERNAL MODULE: ./build/action/step-record.js
var step_record = __webpack_require__(9035);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
;// CONCATENATED MODULE: ./build/action/comments/marker.js

/** A longer line would leave no room for the reply. Ids of jobs are far shorter. */
const maxMarkerLength = 16_384;
/** Formats the hidden last line of a reply; empty if the ids are too long. */
function formatMarker({ projectId, jobId, isUnsent = false, request }) {
    const unknown = isUnsent ? "unsent" : "pending";
    const job = jobId === undefined ? unknown : `job=${encodeURIComponent(jobId)}`;
    const line = `<!-- agent-job-action project=${encodeURIComponent(projectId)} ${job} ${request} -->`;
    return line.length > maxMarkerLength ? "" : line;
}
const markerLine = /^<!-- agent-job-action project=(\S+) (?:job=(\S+)|pending|(unsent)) ((?:comment|review|run)=\d+) -->$/;
/** Parses the marker of a reply, which is only valid as the whole last line. */
function parseMarker(body) {
    const [, project, job, unsent, request] = markerLine.exec(body.split(/\r?\n/).at(-1) ?? "") ?? [];
    if (project === undefined || request === undefined)
        return undefined;
    try {
        const jobId = job === undefined ? undefined : decodeURIComponent(job);
        if (jobId !== undefined && !(0,contract/* isUsableJobId */.Xb)(jobId))
            return undefined;
        const marker = { projectId: decodeURIComponent(project), jobId, request: request };
        return unsent === undefined ? marker : { ...marker, isUnsent: true };
    }
    catch {
        return undefined;
    }
}

// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/action/earlier-turn.js
var earlier_turn = __webpack_require__(2191);
// EXTERNAL MODULE: ./build/action/run.js
var action_run = __webpack_require__(790);
// EXTERNAL MODULE: ./build/action/runner/event-file.js
var event_file = __webpack_require__(2942);
// EXTERNAL MODULE: ./build/action/step-key.js
var step_key = __webpack_require__(6323);
// EXTERNAL MODULE: ./node_modules/zod/v4/mini/schemas.js + 5 modules
var schemas = __webpack_require__(8395);
// EXTERNAL MODULE: ./build/action/comments/permission.js
var permission = __webpack_require__(575);
;// CONCATENATED MODULE: ./build/action/comments/check-permission.js




/** Returns why the author may not start anything; `undefined` if they may. */
async function checkPermission({ author, owner, repo, triggerKind }, rules, github, timeoutMs, signal) {
    if (author.isBot) {
        return rules.allowedBots.has(author.login.toLowerCase())
            ? undefined
            : { kind: "skipped", reason: "bot", triggerKind };
    }
    const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
    try {
        const response = await github.request(route, { owner, repo, username: author.login }, { timeoutMs, signal });
        const has = permissionIn(response);
        if (has === undefined) {
            return { kind: "blocked", cause: "permission", triggerKind, detail: "GitHub's response names no permission" };
        }
        const needs = rules.requiredPermission;
        if (has !== "none" && permission/* permissions */.P.indexOf(has) >= permission/* permissions */.P.indexOf(needs))
            return undefined;
        return { kind: "skipped", reason: "not-permitted", triggerKind, has, needs };
    }
    catch (error) {
        if (signal.aborted)
            return action_result/* cancelledBeforeSending */.xX;
        return { kind: "blocked", cause: "permission", triggerKind, detail: (0,errors/* messageOf */.bD)(error) };
    }
}
const permissionResponse = schemas/* object */.Ikc({
    role_name: schemas/* catch */.MfU(schemas/* optional */.lqM(schemas/* string */.YjP()), undefined),
    permission: schemas/* catch */.MfU(schemas/* optional */.lqM(schemas/* string */.YjP()), undefined),
});
/**
 * Returns a collaborator's permission; `undefined` if GitHub's response names none. `role_name` distinguishes all five; an
 * organization's custom role falls back to `permission`.
 * GitHub's documentation: "Get repository permissions for a user".
 */
function permissionIn(response) {
    const { role_name: role, permission } = permissionResponse.safeParse(response).data ?? {};
    const name = isPermission(role) ? role : permission;
    return name === "none" || isPermission(name) ? name : undefined;
}
function isPermission(name) {
    return permission/* permissions */.P.includes(name);
}

// EXTERNAL MODULE: ./build/action/comments/event.js
var comments_event = __webpack_require__(6622);
;// CONCATENATED MODULE: ./build/action/comments/parse-event.js


const nullableText = schemas/* nullish */.cl6(schemas/* string */.YjP());
const user = schemas/* object */.Ikc({ login: schemas/* string */.YjP(), type: nullableText });
const repository = schemas/* object */.Ikc({
    name: schemas/* string */.YjP(),
    owner: schemas/* object */.Ikc({ login: schemas/* string */.YjP() }),
    private: schemas/* catch */.MfU(schemas/* optional */.lqM(schemas/* boolean */.zMY()), undefined),
});
const subject = schemas/* object */.Ikc({
    number: schemas/* int */.Whr(),
    title: schemas/* string */.YjP(),
    body: nullableText,
    html_url: schemas/* string */.YjP(),
    pull_request: schemas/* optional */.lqM(schemas/* unknown */.L5J()),
});
const issueComment = schemas/* object */.Ikc({
    action: schemas/* string */.YjP(),
    comment: schemas/* object */.Ikc({ id: schemas/* int */.Whr(), body: schemas/* string */.YjP(), user }),
    issue: subject,
    repository,
});
const reviewComment = schemas/* object */.Ikc({
    action: schemas/* string */.YjP(),
    comment: schemas/* object */.Ikc({
        id: schemas/* int */.Whr(),
        body: schemas/* string */.YjP(),
        user,
        path: schemas/* string */.YjP(),
        line: schemas/* nullish */.cl6(schemas/* int */.Whr()),
        original_line: schemas/* nullish */.cl6(schemas/* int */.Whr()),
        in_reply_to_id: schemas/* nullish */.cl6(schemas/* int */.Whr()),
        pull_request_review_id: schemas/* nullish */.cl6(schemas/* int */.Whr()),
    }),
    pull_request: subject,
    repository,
});
const review = schemas/* object */.Ikc({
    action: schemas/* string */.YjP(),
    review: schemas/* object */.Ikc({ id: schemas/* int */.Whr(), body: nullableText, user: schemas/* nullish */.cl6(user), html_url: schemas/* string */.YjP() }),
    pull_request: subject,
    repository,
});
/** An account that was deleted is `null`, which the author of a new issue or pull request is not. */
const opening = schemas/* extend */.X$i(subject, { user: schemas/* nullish */.cl6(user) });
const label = schemas/* object */.Ikc({ name: schemas/* string */.YjP() });
const issues = schemas/* object */.Ikc({ action: schemas/* string */.YjP(), issue: opening, label: schemas/* nullish */.cl6(label), sender: user, repository });
const pullRequest = schemas/* object */.Ikc({
    action: schemas/* string */.YjP(),
    pull_request: opening,
    label: schemas/* nullish */.cl6(label),
    sender: user,
    repository,
});
/**
 * Parses the payload of an event.
 *
 * @param runId - `GITHUB_RUN_ID`, which identifies a request that is not a comment
 * @throws if it is not a payload of that event
 */
function parseEvent(name, payload, runId) {
    switch (name) {
        case "issue_comment": {
            const data = parse(issueComment, name, payload);
            return { ...commented(data), subject: describe(data.issue, data.issue.pull_request !== undefined) };
        }
        case "pull_request_review_comment": {
            const data = parse(reviewComment, name, payload);
            const { id, path, line, original_line, in_reply_to_id, pull_request_review_id: reviewId } = data.comment;
            return {
                ...commented(data),
                subject: describe(data.pull_request, true),
                position: { rootId: in_reply_to_id ?? id, path, line: line ?? original_line ?? undefined },
                ...(typeof reviewId === "number" && { reviewId }),
            };
        }
        case "pull_request_review": {
            const { action, review: submitted, pull_request: pull, repository } = parse(review, name, payload);
            const { id, body, user: reviewer, html_url: reviewUrl } = submitted;
            if (action === "submitted" && !reviewer)
                throw new Error(`the payload of ${name} lacks the reviewer`);
            return {
                action,
                triggerKind: "review",
                request: `review=${id}`,
                ...placeOf(repository),
                author: personOf(reviewer ?? { login: "", type: undefined }),
                text: body ?? "",
                subject: describe(pull, true),
                reviewId: id,
                reviewUrl,
            };
        }
        case "issues": {
            const { issue, ...data } = parse(issues, name, payload);
            return openedOrLabeled(name, issue, issue.pull_request !== undefined, data, runId);
        }
        case "pull_request":
        case "pull_request_target": {
            const { pull_request: pull, ...data } = parse(pullRequest, name, payload);
            return openedOrLabeled(name, pull, true, data, runId);
        }
    }
}
function parse(schema, name, payload) {
    const { data, error } = schema.safeParse(payload);
    if (data !== undefined)
        return data;
    const paths = error?.issues.map(({ path }) => path.join(".")) ?? [];
    throw new Error(`the payload of ${name} lacks, or has a wrong type for: ${paths.join(", ")}`);
}
function commented({ action, comment, repository }) {
    return {
        action,
        triggerKind: "comment",
        request: `comment=${comment.id}`,
        ...placeOf(repository),
        author: personOf(comment.user),
        text: comment.body,
        commentId: comment.id,
    };
}
function openedOrLabeled(name, opened, isPullRequest, { action, label, sender, repository }, runId) {
    const isLabel = action === "labeled";
    const person = isLabel ? sender : opened.user;
    if (action === "opened" && !person)
        throw new Error(`the payload of ${name} lacks the author`);
    return {
        action,
        triggerKind: isLabel ? "label" : (0,comments_event/* triggerKindOf */.Ur)(name),
        request: requestOfRun(runId),
        ...placeOf(repository),
        author: personOf(person ?? { login: "", type: undefined }),
        text: opened.body ?? "",
        subject: describe(opened, isPullRequest),
        ...(isLabel && label && { label: label.name }),
    };
}
function requestOfRun(runId) {
    if (!/^\d+$/.test(runId))
        throw new Error("GITHUB_RUN_ID is not a number");
    return `run=${runId}`;
}
function placeOf({ owner, name, private: isPrivate }) {
    return { owner: owner.login, repo: name, isPublic: isPrivate === false };
}
function personOf({ login, type }) {
    return { login, isBot: type === "Bot" || login.endsWith("[bot]") };
}
function describe(data, isPullRequest) {
    const { number, title, body, html_url: url } = data;
    return { kind: isPullRequest ? "pull request" : "issue", number, title, body: body ?? "", url };
}

// EXTERNAL MODULE: ./build/action/comments/prompt-template.js
var prompt_template = __webpack_require__(6205);
;// CONCATENATED MODULE: ./build/action/comments/trigger.js
/** Requests besides work. A command must stand alone: "status page is wrong" is an instruction. */
const commands = ["status", "help"];
/**
 * Parses an event, except a review. The trigger phrase, in any case, must be at the start of a comment, after white space,
 * or of a line of a new issue or pull request, and be followed by white space or the end; the rest is the instruction. `new` as its first
 * word asks for a new job. The trigger label makes the text of the issue or pull request the instruction.
 */
function parseTrigger(event, { phrase, label }) {
    const { action, triggerKind } = event;
    if (triggerKind === "label") {
        const isTrigger = label !== "" && event.label?.toLowerCase() === label.toLowerCase();
        return isTrigger ? { instruction: instructionOf(event.subject), isNew: false } : { skip: "no-trigger" };
    }
    const isComment = triggerKind === "comment";
    if (action !== (isComment ? "created" : "opened"))
        return { skip: action === "edited" ? "edited" : "no-trigger" };
    const asked = parseRequest(event.text, phrase, isComment ? "start" : "line");
    if (!asked)
        return { skip: "no-trigger" };
    if ("command" in asked)
        return asked;
    return asked.instruction === "" ? { skip: "no-instruction" } : asked;
}
/**
 * Parses the words that follow the phrase at the start of a text or of a line of it, which may be an empty instruction;
 * `undefined` without the phrase.
 */
function parseRequest(text, phrase, at = "start") {
    if (phrase === "")
        return undefined;
    const searched = at === "start" ? text : withoutCodeBlocks(text);
    const start = at === "start" ? /^\s*/iu : /^/imu;
    const match = new RegExp(`${start.source}${RegExp.escape(phrase)}(?!\\S)`, start.flags).exec(searched);
    if (!match)
        return undefined;
    const rest = text.slice(match.index + match[0].length).trim();
    const command = commands.find((name) => name === rest.toLowerCase());
    if (command)
        return { command };
    const isNew = /^new(?!\S)/i.test(rest);
    return { instruction: isNew ? rest.slice("new".length).trim() : rest, isNew };
}
/**
 * Blanks fenced code blocks, without changing the length of the text. A quotation asks for nothing: the body of an agent's
 * own pull request may quote its prompt. GitHub Flavored Markdown, section 4.5.
 */
function withoutCodeBlocks(text) {
    let fence = "";
    return text.replace(/^.*$/gm, (line) => {
        const [, opening = "", info = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
        if (fence === "") {
            // Backticks in the rest of the line make it inline code.
            if (opening !== "" && !(opening.startsWith("`") && info.includes("`")))
                fence = opening;
            return line;
        }
        if (opening.startsWith(fence) && info.trim() === "")
            fence = "";
        return " ".repeat(line.length);
    });
}
/** Returns the instruction that a label stands for: the text of an issue, or docs for a pull request. */
function instructionOf({ kind, title, body }) {
    const task = kind === "issue" ? "" : "Bring the docs in line with this pull request.";
    return [task, title.trim(), body.trim()].filter(Boolean).join("\n\n");
}

;// CONCATENATED MODULE: ./build/action/comments/review.js


/** How many comments of a review go into a prompt, and how many UTF-16 units of each and of all together. */
const maxComments = 50;
const maxCommentLength = 4000;
const maxLength = 60_000;
const maxPathLength = 300;
const reviewResponse = schemas/* object */.Ikc({ body: schemas/* nullish */.cl6(schemas/* string */.YjP()) });
const commentResponse = schemas/* object */.Ikc({
    body: schemas/* string */.YjP(),
    user: schemas/* nullish */.cl6(schemas/* object */.Ikc({ login: schemas/* string */.YjP() })),
    path: schemas/* string */.YjP(),
    line: schemas/* nullish */.cl6(schemas/* int */.Whr()),
    original_line: schemas/* nullish */.cl6(schemas/* int */.Whr()),
    diff_hunk: schemas/* catch */.MfU(schemas/* optional */.lqM(schemas/* string */.YjP()), undefined),
});
/**
 * GitHub fires two events for a comment on a diff: one for the comment, and one for the review that it belongs to. Each
 * request must be handled once, whichever of them the workflow runs on. So the review event handles a review that has a
 * text of its own or several comments, and the comment event a comment that is all there is.
 */
function isHandledAsReview(text, commentCount) {
    return text.trim() !== "" || commentCount > 1;
}
/**
 * Returns whether a review comment is a part of a review that the review's own event handles.
 *
 * @throws if the review cannot be read
 */
async function isPartOfReview(event, ports) {
    if (event.reviewId === undefined)
        return false;
    const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}";
    const review = reviewResponse.parse(await ports.github.request(route, review_placeOf(event, event.reviewId), ports.limits()));
    if (isHandledAsReview(review.body ?? "", 1))
        return true;
    return isHandledAsReview("", (await listComments(event, event.reviewId, ports)).length);
}
/**
 * Parses a review that was submitted: the request in its text, together with its comments; or the requests in the comments
 * that begin with the phrase.
 *
 * @throws if its comments cannot be read
 */
async function parseReview(event, phrase, ports) {
    const { action, text, reviewId, author } = event;
    if (action !== "submitted" || reviewId === undefined)
        return { skip: action === "edited" ? "edited" : "no-trigger" };
    const comments = await listComments(event, reviewId, ports);
    // The permission that is checked is the reviewer's.
    const own = comments.filter(({ user }) => user?.login.toLowerCase() === author.login.toLowerCase());
    const asking = own.map((comment) => ({ ...comment, asks: parseRequest(comment.body, phrase) }));
    const asked = parseRequest(text, phrase);
    if (asked && "command" in asked)
        return asked;
    if (asked) {
        const all = asking.map(({ asks, ...comment }) => ({
            ...comment,
            body: asks && "instruction" in asks ? asks.instruction : comment.body,
        }));
        const instruction = [asked.instruction, formatComments(all)].filter(Boolean).join("\n\n");
        return instruction === "" ? { skip: "no-instruction" } : { instruction, isNew: asked.isNew };
    }
    const requests = asking.filter(({ asks }) => asks !== undefined);
    if (requests.length === 0)
        return { skip: "no-trigger" };
    if (!isHandledAsReview(text, comments.length))
        return { skip: "no-trigger", handledBy: "pull_request_review_comment" };
    const instructions = requests.flatMap(({ asks, ...comment }) => asks && "instruction" in asks ? [{ ...comment, body: asks.instruction, isNew: asks.isNew }] : []);
    const command = requests.map(({ asks }) => asks).find((asks) => asks && "command" in asks);
    if (instructions.length === 0 && command)
        return command;
    const instruction = formatComments(instructions);
    return instruction === ""
        ? { skip: "no-instruction" }
        : { instruction, isNew: instructions.some(({ isNew }) => isNew) };
}
/** GitHub's documentation: "List comments for a pull request review". */
async function listComments(event, reviewId, { github, limits }) {
    const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments";
    return schemas/* array */.YOg(commentResponse).parse(await github.paginate(route, review_placeOf(event, reviewId), limits()));
}
function review_placeOf({ owner, repo, subject }, reviewId) {
    return { owner, repo, pull_number: subject.number, review_id: reviewId };
}
/** Formats the comments that say something, each under its file and line. */
function formatComments(comments) {
    const said = comments.filter(({ body }) => body.trim() !== "");
    let length = 0;
    const shown = said.slice(0, maxComments).flatMap((comment) => {
        const line = comment.line ?? comment.original_line ?? lineOf(comment.diff_hunk ?? "");
        const file = `File: ${shorten(comment.path, maxPathLength)}${line === undefined ? "" : `, line ${line}`}`;
        const text = `${file}\n${shorten(comment.body.trim(), maxCommentLength)}`;
        length += text.length;
        return length > maxLength ? [] : [text];
    });
    const left = said.length - shown.length;
    return [...shown, ...(left > 0 ? [`(and ${left} more ${left === 1 ? "comment" : "comments"})`] : [])].join("\n\n");
}
/**
 * Returns the line that a comment is on, which GitHub leaves out of a review's list: the last line of its hunk, numbered as
 * in the new file, or as in the old file if it was removed.
 */
function lineOf(hunk) {
    const [header = "", ...lines] = hunk.split("\n");
    const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(header) ?? [];
    const last = lines.at(-1);
    if (last === undefined)
        return undefined;
    const [start, other] = last.startsWith("-") ? [oldStart, "+"] : [newStart, "-"];
    return (Number(start) + lines.filter((line) => !line.startsWith(other) && !line.startsWith("\\")).length - 1 || undefined);
}
function shorten(text, limit) {
    return text.length > limit ? `${text.slice(0, limit - 1).toWellFormed()}…` : text;
}

// EXTERNAL MODULE: ./build/action/runner/github-error.js
var github_error = __webpack_require__(6376);
;// CONCATENATED MODULE: ./build/action/comments/thread.js



/** The timeout of a request to GitHub in milliseconds, including its retries and their delays. */
const requestTimeoutMs = 10_000;
/** After a signal, the last edit gets this long, in milliseconds: the runner does not wait. */
const lastEditGraceMs = 1000;
/** While the job runs, the reply is not edited again before this time, in milliseconds. */
const progressPauseMs = 60_000;
/** After a signal, a reply that is being posted gets this long, in milliseconds, so that it can still be edited. */
const postGraceMs = 200;
const person = schemas/* object */.Ikc({ id: schemas/* int */.Whr() });
const reaction = schemas/* object */.Ikc({ user: person });
const comment = schemas/* object */.Ikc({
    id: schemas/* int */.Whr(),
    user: schemas/* nullish */.cl6(person),
    body: schemas/* nullish */.cl6(schemas/* string */.YjP()),
    in_reply_to_id: schemas/* nullish */.cl6(schemas/* int */.Whr()),
});
const comments = schemas/* array */.YOg(comment);
const anObject = schemas/* record */.g1P(schemas/* string */.YjP(), schemas/* unknown */.L5J());
/**
 * The thread of the event that triggered the step. A request that GitHub rejects is reported once, and otherwise
 * ignored: the job does not depend on it.
 */
class Thread {
    #event;
    #ports;
    /** Monotonic time by which every request has to be over, except the last edit and reaction. */
    #deadline;
    #replyId;
    #hasFailed = false;
    /** Whether the last edit of the reply failed. */
    #isOutdated = false;
    /** What the reply was last told to say, and the monotonic time of that. */
    #body = "";
    #writtenAt = Number.NEGATIVE_INFINITY;
    /** The listed replies of other projects. */
    #others = [];
    /** Edits are sent one after another, so that the last one wins. */
    #edits = Promise.resolve();
    constructor(event, deadline, ports) {
        this.#event = event;
        this.#deadline = deadline;
        this.#ports = ports;
    }
    /** Whether the reply says what it was last told to say, so that a re-run will find it. */
    get isReliable() {
        return this.#replyId !== undefined && !this.#isOutdated;
    }
    /**
     * Adds a reaction to the comment, or to the issue or pull request; a review can have none. Returns the id of the account
     * that the step acts as, if GitHub says it.
     */
    async react(content, isLast = false) {
        // After a signal there is only time for the last edit.
        if (isLast && this.#ports.signal.aborted)
            return undefined;
        const { commentId, subject, triggerKind } = this.#event;
        if (triggerKind === "review")
            return undefined;
        const [path, place] = commentId === undefined
            ? ["issues/{issue_number}", { issue_number: subject.number }]
            : [`${this.#kind}/comments/{comment_id}`, { comment_id: commentId }];
        const route = `POST /repos/{owner}/{repo}/${path}/reactions`;
        return (await this.#request("add a reaction", reaction, route, { ...place, content }, { isLast }))?.user.id;
    }
    /** Posts the reply. Returns the id of its author, or `undefined` if that failed. */
    async post(body) {
        const { position, subject } = this.#event;
        const route = position
            ? "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies"
            : "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
        const place = position
            ? { pull_number: subject.number, comment_id: position.rootId }
            : { issue_number: subject.number };
        const reply = await this.#request("post a reply", comment, route, { ...place, body }, { graceMs: postGraceMs });
        this.#replyId = reply?.id ?? this.#replyId;
        this.#wrote(body);
        return reply?.user?.id;
    }
    /** Makes an earlier reply the one to edit. */
    useReply(replyId) {
        this.#replyId = replyId;
    }
    /**
     * Replaces the text of the reply, after all earlier edits; after a signal, immediately or not at all.
     *
     * @param options - `isLast`: the edit reports the result; `isUrgent`: it is sent without a pause after the last write;
     *   `isProgress`: the reply is not out of date without it
     */
    edit(body, { isLast = false, isUrgent = false, isProgress = false } = {}) {
        const { signal } = this.#ports;
        this.#wrote(body);
        const before = signal.aborted ? Promise.resolve() : this.#edits;
        this.#edits = before.then(async () => {
            if (this.#replyId === undefined || (signal.aborted && !isLast))
                return;
            const route = `PATCH /repos/{owner}/{repo}/${this.#kind}/comments/{comment_id}`;
            const parameters = { comment_id: this.#replyId, body };
            const edited = await this.#request("update the reply", anObject, route, parameters, { isLast, isUrgent });
            this.#isOutdated = edited === undefined && (this.#isOutdated || !isProgress);
        });
        return this.#edits;
    }
    /** Shows the progress of the job, if it says something new, and the last edit is a minute ago. Does not wait for it. */
    showProgress(body) {
        if (body === this.#body || this.#ports.clock.now() - this.#writtenAt < progressPauseMs)
            return;
        void this.edit(body, { isProgress: true });
    }
    #wrote(body) {
        this.#body = body;
        this.#writtenAt = this.#ports.clock.now();
    }
    /** Removes the label that asked, after all earlier edits, so that setting it again asks again. */
    removeLabel() {
        const { label: name, subject } = this.#event;
        const { signal } = this.#ports;
        if (name === undefined)
            return Promise.resolve();
        this.#edits = this.#edits.then(async () => {
            if (signal.aborted)
                return;
            const route = "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}";
            const parameters = this.#parameters({ issue_number: subject.number, name });
            await this.#send("remove the label", schemas/* unknown */.L5J(), {}, (limits) => this.#ports.github.request(route, parameters, limits).catch((error) => {
                // Someone else, or an earlier attempt, has removed it.
                if (!(error instanceof github_error/* GitHubError */.y && error.status === 404))
                    throw error;
            }));
        });
        return this.#edits;
    }
    /** Lists the other replies with a marker of the project, oldest first; `undefined` if the thread cannot be read. */
    async listReplies(projectId) {
        const { position, subject } = this.#event;
        const route = position
            ? "GET /repos/{owner}/{repo}/pulls/{number}/comments"
            : "GET /repos/{owner}/{repo}/issues/{number}/comments";
        const { github, clock } = this.#ports;
        const listed = await this.#send("read the thread", comments, {}, (limits) => {
            const totalTimeoutMs = this.#deadline - clock.now();
            return github.paginate(route, this.#parameters({ number: subject.number }), { ...limits, totalTimeoutMs });
        });
        const replies = listed?.flatMap(({ id, user, body, in_reply_to_id: root }) => {
            const marker = parseMarker(body ?? "");
            const isInThread = !position || root === position.rootId;
            if (!marker || !user || !isInThread || id === this.#replyId)
                return [];
            return [{ ...marker, replyId: id, authorId: user.id }];
        });
        replies?.sort((a, b) => a.replyId - b.replyId);
        this.#others = replies?.filter((reply) => reply.projectId !== projectId) ?? [];
        return replies?.filter((reply) => reply.projectId === projectId);
    }
    /** Returns the project of the last job of another one that an account's reply names, of the replies that were listed. */
    otherProject(authorId) {
        return this.#others.findLast((reply) => reply.authorId === authorId && reply.jobId !== undefined)?.projectId;
    }
    get #kind() {
        return this.#event.position ? "pulls" : "issues";
    }
    #parameters(parameters) {
        return { owner: this.#event.owner, repo: this.#event.repo, ...parameters };
    }
    #request(action, schema, route, parameters, options = {}) {
        return this.#send(action, schema, options, (limits) => this.#ports.github.request(route, this.#parameters(parameters), limits));
    }
    /** Sends a request, and reports the first one that fails. Returns `undefined` if it fails. */
    async #send(action, schema, { isLast = false, graceMs = 0, isUrgent = false }, call) {
        const { clock, signal, onFailure } = this.#ports;
        const leftMs = isLast ? requestTimeoutMs : this.#deadline - clock.now();
        try {
            if (leftMs <= 0)
                throw new Error("timeout-minutes has passed");
            const response = await call({
                timeoutMs: Math.min(requestTimeoutMs, leftMs),
                signal,
                // The last edit reports the cancellation, so the signal must not cancel it.
                graceMs: isLast ? lastEditGraceMs : graceMs,
                isUrgent,
            });
            const parsed = schema.safeParse(response);
            if (parsed.success)
                return parsed.data;
            throw new Error("GitHub's response is not usable");
        }
        catch (error) {
            const isCancelled = signal.aborted && !isLast;
            if (!this.#hasFailed && !isCancelled)
                onFailure(action, error);
            this.#hasFailed ||= !isCancelled;
            return undefined;
        }
    }
}

;// CONCATENATED MODULE: ./build/action/comments/request.js















/**
 * Checks whether the event may start something, and what; otherwise returns why not. Writes nothing. A re-run first asks the
 * service for the turn of an earlier attempt: to wait for that needs no permission.
 */
async function readRequest(mode, plainRun) {
    const { settings, state, log } = plainRun;
    const { clock, signal, environment } = plainRun.ports;
    const event = readEvent(plainRun);
    if ("kind" in event)
        return { result: event };
    const { triggerKind } = event;
    const trigger = triggerKind === "review" ? undefined : parseTrigger(event, mode);
    if (trigger && "skip" in trigger)
        return { result: { kind: "skipped", reason: trigger.skip, triggerKind } };
    // In a thread, a re-run always waits for what an earlier attempt started.
    const identity = { ...settings, onRerun: "resume", jobId: mode.jobId, request: event.request };
    const run = { ...plainRun, key: new step_key/* StepKey */.K(identity, environment) };
    const github = await (0,action_run/* connectGitHub */.U)(run);
    const startedAt = clock.now();
    state.startedAt = startedAt;
    const timeoutMs = Math.min(requestTimeoutMs, settings.timeoutMs);
    const limits = () => {
        const totalTimeoutMs = startedAt + settings.timeoutMs - clock.now();
        return { timeoutMs: Math.min(requestTimeoutMs, totalTimeoutMs), signal, totalTimeoutMs };
    };
    const asked = trigger ?? (await readReview(() => parseReview(event, mode.phrase, { github, limits }), signal));
    if ("kind" in asked)
        return { result: asked };
    if ("skip" in asked) {
        const { skip: reason, handledBy } = asked;
        return { result: { kind: "skipped", reason, triggerKind, ...(handledBy && { handledBy }) } };
    }
    state.author = event.author.login;
    state.threadUrl = event.subject.url;
    const base = { event, isNew: false, github, startedAt, run, earlier: undefined };
    const template = mode.template ?? (0,prompt_template/* defaultTemplate */.oB)(event);
    const instruction = "command" in asked ? "" : asked.instruction;
    const fillPrompt = (section = "") => (0,prompt_template/* fillTemplate */.ou)(template, instruction, event, section);
    const isCommand = "command" in asked;
    const asksService = isRerun(run) && !isCommand && !settings.dryRun;
    const earlier = !asksService ? undefined : await (0,earlier_turn/* findEarlierTurn */.Z)(run, promptOf(fillPrompt, run));
    if (earlier?.kind === "undecided")
        return { result: earlier.result };
    const isResumed = earlier?.kind === "turn" && !isOver(earlier.turn);
    // A command starts nothing.
    const requiredPermission = isCommand ? "read" : mode.requiredPermission;
    const denial = isResumed
        ? undefined
        : await checkPermission(event, { ...mode, requiredPermission }, github, timeoutMs, signal);
    if (denial)
        return { result: denial };
    const handled = isResumed ? undefined : await checkReview(event, { github, limits }, signal);
    if (handled)
        return { result: handled };
    if (isCommand)
        return { ...base, command: asked.command, fillPrompt };
    if (event.isPublic && mode.requiredPermission === "read")
        log.anyoneCanAsk();
    return { ...base, isNew: asked.isNew, fillPrompt, earlier };
}
/** Returns whether this is not the first attempt of the workflow run. */
function isRerun({ ports }) {
    return (0,environment/* runAttempt */.Tm)(ports.environment) > 1;
}
/** Returns whether a turn is of no use, so that a re-run sends its request again. */
function isOver({ status }) {
    return status === "failed" || status === "stopped";
}
function promptOf(fillPrompt, run) {
    return {
        known: run.settings.changes ? undefined : fillPrompt(undefined),
        write: () => (0,action_plan/* writePrompt */.UW)(fillPrompt, run),
    };
}
function readEvent({ ports: { environment }, log }) {
    const name = environment.GITHUB_EVENT_NAME ?? "";
    if (!(0,comments_event/* isThreadEvent */.Zn)(name))
        throw new Error("comment mode needs an event of an issue or pull request");
    try {
        const payload = (0,event_file/* readEventFile */.z)(environment.GITHUB_EVENT_PATH ?? "");
        return parseEvent(name, payload, environment.GITHUB_RUN_ID ?? "");
    }
    catch (error) {
        log.debugError(error);
        return { kind: "blocked", cause: "event", detail: name };
    }
}
/** Returns why a review comment is not handled; `undefined` if it is. */
async function checkReview(event, ports, signal) {
    if (!event.position)
        return undefined;
    const read = await readReview(async () => ({ isPart: await isPartOfReview(event, ports) }), signal);
    if ("kind" in read)
        return read;
    const { triggerKind } = event;
    return read.isPart
        ? { kind: "skipped", reason: "no-trigger", triggerKind, handledBy: "pull_request_review" }
        : undefined;
}
/** Reads a review, or returns why nothing may be sent. */
async function readReview(read, signal) {
    try {
        return await read();
    }
    catch (error) {
        if (signal.aborted)
            return action_result/* cancelledBeforeSending */.xX;
        return { kind: "blocked", cause: "review", detail: (0,errors/* messageOf */.bD)(error) };
    }
}

;// CONCATENATED MODULE: ./build/action/comments/conversation.js











/** Finds the reply of an earlier run attempt to the same request; `undefined` on a first run. */
async function findOwnReply({ request, run, mode, thread }, actorId) {
    if (!thread || !isRerun(run) || actorId === undefined)
        return undefined;
    const replies = await thread.listReplies(run.settings.projectId);
    if (!replies)
        return "unreadable";
    const own = replies.findLast((reply) => reply.authorId === actorId && answers(reply, request.event));
    return own && { ...own, sent: sentBy(own, replies, mode) };
}
/** Returns the kind of task that a reply stands for: a message, if the workflow or an earlier reply names its job. */
function sentBy(reply, replies, mode) {
    const isContinued = replies.some((other) => other.jobId === reply.jobId && other.request !== reply.request && other.replyId < reply.replyId);
    return mode.jobId !== "" || isContinued ? "message" : "create";
}
/**
 * Posts the reply, and plans from the thread what to do. Each task applies only if the job of the one before it is gone: wait
 * for the job of an earlier attempt, continue a job, create one. A `job-id` in the workflow is never replaced.
 */
async function planReply(prompt, conversation, { actorId, hasReply, hasResumed, replaces, base }) {
    const { request, run, mode, thread, reply, unsent, deadline, renderProgress } = conversation;
    const { event, isNew, earlier: asked } = request;
    const isOwn = (remembered) => answers(remembered, event);
    const posted = hasReply ? undefined : await thread?.post(renderProgress(reply));
    const authorId = posted ?? (hasReply ? actorId : undefined);
    const replies = thread && (authorId !== undefined || isRerun(run)) ? await thread.listReplies(run.settings.projectId) : [];
    // The service says what earlier attempts sent. Without that, a re-run must not start a second job.
    const isUncertain = isRerun(run) && asked?.kind === "unannounced" && !hasReply && !hasResumed;
    const isAccountUnknown = authorId === undefined && actorId === undefined;
    // The marker stays pending: that this attempt sends nothing must not hide what an earlier one may have sent.
    if (isUncertain && (!replies || (isAccountUnknown && replies.some(isOwn))))
        return threadUnreadable(run);
    const earlier = (replies ?? []).filter((remembered) => remembered.authorId === authorId);
    const interrupted = isUncertain ? earlier.findLast(isOwn) : undefined;
    if (interrupted && interrupted.jobId === undefined && !interrupted.isUnsent) {
        return { kind: "blocked", cause: "pending" };
    }
    const unrecorded = isUncertain && !interrupted ? await (0,step_record.checkRecord)((0,environment/* earlierAttempts */.TH)(run.ports.environment), run) : undefined;
    if (unrecorded?.kind === "undecided")
        return unrecorded.result;
    if (deadline - run.ports.clock.now() < client_submit/* minTimeLeftMs */.x3) {
        reply.marker = unsent;
        return { kind: "blocked", cause: "time" };
    }
    const continued = mode.jobId || (isNew ? undefined : earlier.findLast(({ jobId }) => jobId !== undefined)?.jobId);
    const other = isNew || continued !== undefined || !authorId ? undefined : thread?.otherProject(authorId);
    if (other !== undefined)
        run.log.otherProject(other, run.settings.projectId);
    const isReplaceable = mode.jobId === "";
    // A job that started from another branch would bring that along.
    const isOther = isReplaceable && continued !== undefined && base !== undefined && (await baseOf(continued, run)) !== base;
    const plan = (0,action_plan/* planTasks */.s$)(prompt, continued === undefined || isOther ? undefined : { jobId: continued, isReplaceable }, { replaces, base });
    if (!interrupted?.jobId)
        return plan;
    const { jobId } = interrupted;
    return [{ task: { kind: "attach", jobId, resumes: sentBy(interrupted, earlier, mode) } }, ...plan];
}
/** Returns the branch that a job started from; `undefined` if that is the project's own, or it cannot be read. */
async function baseOf(jobId, run) {
    const state = new run_state/* RunState */.l();
    state.startedAt = run.state.startedAt;
    await (0,find_job/* findJob */.p)(jobId, { ...run, state });
    return state.base || undefined;
}
/** Runs the tasks of a plan in order, until the job of one is found. */
function runPlan(plan, conversation) {
    const { run, reply } = conversation;
    return (0,action_plan/* runFirstFound */.iM)(plan, run, (task) => runTask(task, conversation), (_task, next) => {
        reply.isReplacement = next.kind === "create";
        if (reply.isReplacement)
            run.log.replacingJob();
    });
}
/** Runs one task, and keeps the marker of the reply up to date. */
async function runTask(task, conversation) {
    const { run, thread, pending, unsent, reply, renderProgress } = conversation;
    const remember = (jobId) => {
        reply.marker = { ...pending, jobId };
    };
    reply.marker = pending;
    // What an earlier attempt started stays remembered, whatever happens to this one.
    if (task.kind === "attach")
        remember(task.jobId);
    const onJobId = (jobId) => {
        remember(jobId);
        // The id must reach the thread before the process can be killed, so this edit does not wait for its turn.
        if (run.ports.signal.aborted)
            return;
        void thread?.edit(renderProgress(reply), { isUrgent: true });
        void thread?.removeLabel();
    };
    const onPolled = () => {
        // Before the job is known, there is nothing to show.
        if (reply.marker?.jobId !== undefined)
            thread?.showProgress(renderProgress(reply));
    };
    const result = await (0,run_job/* runJob */.b)(task, run, { onJobId, onPolled });
    // In doubt, the marker stays pending: a re-run must neither send it again, nor take the job's state for its result.
    if ((0,action_result/* isJobNotFound */.tl)(result, run.state) || (0,action_result/* acceptanceOf */.BL)(result) === "rejected")
        reply.marker = unsent;
    return result;
}
function answers({ request }, event) {
    return request === event.request;
}
/** Returns the result if the thread cannot be read on a re-run: it says what was started before, so nothing may be sent. */
function threadUnreadable({ ports }) {
    return ports.signal.aborted ? action_result/* cancelledBeforeSending */.xX : { kind: "blocked", cause: "thread" };
}
/** Returns the effect that the marker in the thread has on a re-run. */
function rerunEffect({ reply: { marker }, thread, run }) {
    if (marker.isUnsent)
        return "repeats";
    if (run.state.features !== undefined)
        return "resumes";
    if (thread?.isReliable && formatMarker(marker) !== "")
        return marker.jobId === undefined ? "stops" : "resumes";
    // Then GitHub's record of this attempt decides, and without that nothing is sent.
    return (0,cache/* isForgetful */.Te)(run.ports.environment) ? "stops" : "repeats";
}

// EXTERNAL MODULE: ./build/action/outcome.js
var action_outcome = __webpack_require__(491);
// EXTERNAL MODULE: ./build/action/report/log.js
var log = __webpack_require__(8924);
// EXTERNAL MODULE: ./build/runner-kit/untrusted.js
var untrusted = __webpack_require__(4436);
// EXTERNAL MODULE: ./build/action/report/agent-message.js
var agent_message = __webpack_require__(5781);
// EXTERNAL MODULE: ./build/action/report/format.js
var format = __webpack_require__(455);
// EXTERNAL MODULE: ./build/action/report/job-page-link.js
var job_page_link = __webpack_require__(9962);
// EXTERNAL MODULE: ./build/action/report/pull-request-link.js
var pull_request_link = __webpack_require__(6296);
// EXTERNAL MODULE: ./build/action/report/request-failure.js
var request_failure = __webpack_require__(4108);
;// CONCATENATED MODULE: ./build/action/report/reply.js








/**
 * Renders the reply while the job is running: GitHub's Markdown, made of HTML blocks like the job summary. It says only what
 * a person cares about, since every change of it is an edit.
 *
 * @param since - when the agent began, if that is known
 */
function renderProgress(frame, { since, state }) {
    const links = [`<a href="${(0,untrusted/* forHtml */.B2)(frame.runUrl, 4096)}">Follow the run</a>`, ...reviewLink(frame)];
    const time = since && `${since.toISOString().slice(0, 16).replace("T", " ")} UTC`;
    const working = time ? `The agent has been working on it since ${time}.` : "The agent is working on it.";
    const progress = frame.remembersJob ? working : "Sending the request to the agent.";
    if (frame.remembersJob && state.pageUrl !== "")
        links.push((0,job_page_link/* jobPageLink */.D)(state.pageUrl));
    if (frame.remembersJob && state.pullRequest)
        links.push((0,pull_request_link/* pullRequestLink */.Z)(state.pullRequest));
    return blocks([`<p>⏳ <b>${progress}</b> ${links.join(" · ")}.</p>`, note(frame), frame.marker]);
}
/** Renders the reply after the run: the outcome, the pull request, what to do next and how to continue. */
function renderResult(run, frame) {
    const { outcome, message, state, elapsedMs } = run;
    const head = [`${action_outcome/* outcomes */.KI[outcome].icon} <b>${(0,untrusted/* forHtml */.B2)(message.title)}</b>`];
    if (state.pullRequest)
        head.push((0,pull_request_link/* pullRequestLink */.Z)(state.pullRequest));
    if (state.jobId)
        head.push(`${(0,format/* timeWord */.IR)(state.status, state.origin)} ${(0,format/* duration */.p0)(elapsedMs)}`);
    if (state.pageUrl !== "")
        head.push((0,job_page_link/* jobPageLink */.D)(state.pageUrl));
    head.push(`<a href="${(0,untrusted/* forHtml */.B2)(frame.runUrl, 4096)}">Run</a>`, ...reviewLink(frame));
    return blocks([
        `<p>${head.join(" · ")}</p>`,
        `<p>${(0,untrusted/* textToHtml */.s8)(message.what)}</p>`,
        message.next.length > 0 ? `<p>${(0,untrusted/* textToHtml */.s8)(message.next)}</p>` : "",
        (0,agent_message/* quoteMessage */.Y)(state.finalMessage),
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
                `${(0,untrusted/* code */.aY)(`${phrase} …`)} starts a job with this instruction, or sends it to the job of this thread.`,
                hasFixedJob ? "" : `${(0,untrusted/* code */.aY)(`${phrase} new …`)} starts a new job.`,
                `${(0,untrusted/* code */.aY)(`${phrase} status`)} shows the state of the job.`,
                `${(0,untrusted/* code */.aY)(`${phrase} help`)} shows this list.`,
                label === "" ? "" : `The label ${(0,untrusted/* code */.aY)(label)} asks for what the issue or pull request says.`,
            ].filter(Boolean);
            return blocks([
                "<p>Comments that ask the agent:</p>",
                `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`,
            ]);
        }
        case "reading":
            return "<p>⏳ Reading the state of the job.</p>";
        case "no-job":
            return `<p>This thread has no job. To start one, comment ${(0,untrusted/* code */.aY)(`${phrase} …`)}.</p>`;
        case "unreadable-thread":
            return "<p>The thread, which names the job, cannot be read.</p>";
        case "job":
            return `<p>${describeJob(answer.jobId, answer.reading)}</p>`;
    }
}
function describeJob(jobId, { result, state }) {
    const status = state.timeline.at(-1)?.status;
    if ((0,action_result/* isJobNotFound */.tl)(result, state))
        return `Job ${(0,untrusted/* code */.aY)(jobId)} was not found.`;
    if (status === undefined) {
        const error = result.kind === "poll-failed" ? result.error : result.kind === "timed-out" ? result.lastError : undefined;
        const reason = error ? `: ${(0,untrusted/* textToHtml */.s8)((0,request_failure/* failureReason */.H)(error))}` : "";
        return `The state of job ${(0,untrusted/* code */.aY)(jobId)} cannot be read${reason}.`;
    }
    const parts = [`<b>Job ${(0,untrusted/* code */.aY)(jobId)} is ${(0,untrusted/* code */.aY)(status)}</b>`];
    if (state.pullRequest)
        parts.push((0,pull_request_link/* pullRequestLink */.Z)(state.pullRequest));
    if (state.pageUrl !== "")
        parts.push((0,job_page_link/* jobPageLink */.D)(state.pageUrl));
    if (state.createdAt)
        parts.push(`created ${(0,untrusted/* code */.aY)(state.createdAt)}`);
    return parts.join(" · ");
}
function reviewLink({ reviewUrl }) {
    return reviewUrl === "" ? [] : [`<a href="${(0,untrusted/* forHtml */.B2)(reviewUrl, 4096)}">Review</a>`];
}
function howToContinue({ phrase, label, hasFixedJob }) {
    if (phrase === "")
        return `To continue with this job, set the label ${(0,untrusted/* code */.aY)(label)} again.`;
    const another = hasFixedJob ? "" : ` To start another one, comment ${(0,untrusted/* code */.aY)(`${phrase} new …`)}.`;
    return `To continue with this job, comment ${(0,untrusted/* code */.aY)(`${phrase} …`)}.${another}`;
}
function note({ note: text }) {
    return text.length > 0 ? `<p>${(0,untrusted/* textToHtml */.s8)(text)}</p>` : "";
}
function blocks(parts) {
    return parts.filter(Boolean).join("\n\n");
}

// EXTERNAL MODULE: ./build/action/stop-turn.js
var stop_turn = __webpack_require__(6499);
;// CONCATENATED MODULE: ./build/action/comment-mode.js













/** Runs what an event of an issue or pull request asks for, if its author may, and shows it in the thread. */
async function runComment(mode, plainRun) {
    const request = await readRequest(mode, plainRun);
    if ("result" in request)
        return request;
    const { run, earlier } = request;
    if (run.settings.dryRun && !request.command) {
        const { dryRunComment } = await __webpack_require__.e(/* import() */ 941).then(__webpack_require__.bind(__webpack_require__, 2322));
        return dryRunComment(request, mode.jobId);
    }
    const conversation = begin(request, mode);
    if (request.command)
        return runCommand(conversation);
    const { state } = run;
    const { thread, reply, pending, unsent } = conversation;
    // A re-run that finds the job of an earlier attempt needs no prompt.
    const early = isRerun(run) ? undefined : await (0,action_plan/* writePrompt */.UW)(request.fillPrompt, run);
    if (early && "kind" in early)
        return { result: early };
    const end = (result, task) => ({
        result,
        ...(task && { task }),
        rerun: rerunEffect(conversation),
        finish: async (ending) => {
            await thread?.edit(renderResult({ ...ending, state }, frameOf(reply, mode, run)), { isLast: true });
            const { reaction } = action_outcome/* outcomes */.KI[ending.outcome];
            if (reaction)
                await thread?.react(reaction, true);
        },
    });
    const start = await (0,action_plan/* findStart */.kI)(run);
    if ("kind" in start)
        return { result: start };
    const actorId = await thread?.react("eyes");
    const own = await findOwnReply(conversation, actorId);
    const isAnnounced = earlier !== undefined && earlier.kind !== "unannounced";
    if (own === "unreadable" && !isAnnounced)
        return end(threadUnreadable(run));
    const ownReply = own === "unreadable" ? undefined : own;
    if (ownReply)
        thread?.useReply(ownReply.replyId);
    const known = {
        actorId,
        hasReply: ownReply !== undefined,
        hasResumed: false,
        replaces: earlier?.kind === "turn" ? earlier.turn.turnId : undefined,
        base: start.base,
    };
    const resumed = findResumed(earlier, ownReply);
    if (resumed) {
        if (earlier?.kind === "turn") {
            const attempt = (0,environment/* runAttempt */.Tm)(run.ports.environment);
            run.log.rerun({ kind: "resuming-turn", jobId: resumed.jobId, attempt, hasOtherPrompt: earlier.hasOtherPrompt });
        }
        if (!ownReply)
            await thread?.post(conversation.renderProgress(reply));
        known.hasReply = true;
        let result = await runTask(resumed, conversation);
        const wasNotFound = (0,action_result/* isJobNotFound */.tl)(result, state);
        const isGone = wasNotFound && (await (0,find_job/* isStillGone */.U)(resumed.jobId, run));
        // It was not found by mistake.
        if (wasNotFound && !isGone)
            result = await runTask(resumed, conversation);
        const isArchived = resumed.turnId !== undefined && state.status === "archived";
        if (!isGone && !isArchived)
            return end(result, resumed);
        known.hasResumed = true;
    }
    else if (ownReply && !ownReply.isUnsent && !isAnnounced) {
        reply.marker = pending;
        return end({ kind: "blocked", cause: "pending" });
    }
    state.forgetJob();
    reply.marker = pending;
    const written = early ?? (await (0,action_plan/* writePrompt */.UW)(request.fillPrompt, run));
    if ("kind" in written) {
        reply.marker = unsent;
        return end(written);
    }
    const plan = await planReply(written.prompt, conversation, known);
    if (!Array.isArray(plan))
        return end(plan);
    const { task, result } = await runPlan(plan, conversation);
    return end(await (0,stop_turn/* stopOwnTurn */.m)(task, result, run), task);
}
/** Returns the job of an earlier attempt that a re-run waits for; `undefined` if there is none, or its turn failed. */
function findResumed(earlier, ownReply) {
    if (earlier?.kind === "turn") {
        const { jobId, turnId } = earlier.turn;
        return isOver(earlier.turn) ? undefined : { kind: "attach", jobId, resumes: "message", turnId };
    }
    return ownReply?.jobId === undefined ? undefined : { kind: "attach", jobId: ownReply.jobId, resumes: ownReply.sent };
}
function begin(request, mode) {
    const { event, github, startedAt, run } = request;
    const { settings, ports, state, log } = run;
    const deadline = startedAt + settings.timeoutMs;
    const onFailure = (action, error) => log.threadFailed(action, error);
    const pending = { projectId: settings.projectId, request: event.request };
    const since = workingSince(run);
    return {
        run,
        mode,
        request,
        thread: mode.reply ? new Thread(event, deadline, { ...ports, github, onFailure }) : undefined,
        pending,
        unsent: { ...pending, isUnsent: true },
        reply: { marker: pending, isReplacement: false, reviewUrl: event.reviewUrl ?? "" },
        deadline,
        renderProgress: (reply) => renderProgress(frameOf(reply, mode, run), { since: since(), state }),
    };
}
async function runCommand({ request, mode, run, thread }) {
    const { command, event } = request;
    const frame = { phrase: mode.phrase, label: mode.label, hasFixedJob: mode.jobId !== "" };
    if (thread && command)
        await answerCommand(command, thread, mode, run, (answer) => renderAnswer(answer, frame));
    return run.ports.signal.aborted
        ? { result: action_result/* cancelledBeforeSending */.xX }
        : { result: { kind: "skipped", reason: "command", triggerKind: event.triggerKind } };
}
/** Returns the parts of the reply that do not depend on the state of the job. */
function frameOf({ marker, isReplacement, reviewUrl }, mode, { ports }) {
    return {
        runUrl: (0,environment/* runUrl */.Vp)(ports.environment),
        phrase: mode.phrase,
        label: mode.label,
        reviewUrl,
        hasFixedJob: mode.jobId !== "",
        note: isReplacement ? log/* jobReplaced */.C : [],
        marker: formatMarker(marker),
        remembersJob: marker.jobId !== undefined,
    };
}
/**
 * Returns a function that tells when the agent began to work, if that is known: when the service accepted the create or
 * message. It returns the same time for every edit, even if the wall clock is changed.
 */
function workingSince({ ports: { clock }, state }) {
    let since;
    return () => {
        const [first] = state.timeline;
        // When the job of an earlier attempt began is unknown.
        if (!first || (state.origin !== "created" && state.origin !== "continued"))
            return undefined;
        if (since?.jobId !== state.jobId) {
            const agoMs = state.elapsedMs(clock.now()) - first.atMs;
            since = { jobId: state.jobId, time: new Date(clock.wallTime() - agoMs) };
        }
        return since.time;
    };
}


/***/ }),

/***/ 2191:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   V: () => (/* binding */ findAnnouncement),
/* harmony export */   Z: () => (/* binding */ findEarlierTurn)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _client_retry_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1992);
/* harmony import */ var _client_submit_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9099);
/* harmony import */ var _connect_service_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4501);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(618);





/** How long a service that does not respond is asked again, in milliseconds. */
const askLimitMs = 20_000;
/**
 * Asks the service what the earlier attempts of the step sent: the newest turn with the prompt of this attempt, otherwise the
 * only one. Never rejects.
 */
async function findEarlierTurn(run, prompt) {
    const announcement = await findAnnouncement(run);
    if (run.ports.signal.aborted)
        return { kind: "undecided", result: _result_js__WEBPACK_IMPORTED_MODULE_4__/* .cancelledBeforeSending */ .xX };
    if (!announcement)
        return { kind: "unannounced" };
    const { turns } = announcement;
    const [newest] = turns;
    if (!newest)
        return { kind: "none" };
    const isOnly = turns.length === 1;
    if (prompt.known === undefined && isOnly)
        return { kind: "turn", turn: newest, hasOtherPrompt: false };
    const written = prompt.known === undefined ? await prompt.write() : { prompt: prompt.known };
    if ("kind" in written)
        return { kind: "undecided", result: written };
    const same = run.key.find(written.prompt, turns);
    if (same)
        return { kind: "turn", turn: same, hasOtherPrompt: false };
    if (isOnly)
        return { kind: "turn", turn: newest, hasOtherPrompt: true };
    const jobIds = [...new Set(turns.map(({ jobId }) => jobId))];
    return { kind: "undecided", result: { kind: "blocked", cause: "several-turns", jobIds } };
}
/**
 * Asks the service what was sent under the step, and what it offers; `undefined` if it announces nothing. Asks until it answers,
 * but only for a short time. Never rejects because of the service.
 */
async function findAnnouncement(run) {
    const { state, settings, ports } = run;
    const { clock, random, signal } = ports;
    if (!(0,_connect_service_js__WEBPACK_IMPORTED_MODULE_3__/* .canBeAsked */ .u)(run))
        return undefined;
    state.startedAt ??= clock.now();
    const limits = { deadline: state.startedAt + settings.timeoutMs, signal };
    const latest = Math.min(limits.deadline, clock.now() + askLimitMs);
    try {
        const client = (0,_connect_service_js__WEBPACK_IMPORTED_MODULE_3__/* .connectService */ .U)(run);
        for (let attempt = 0;; attempt++) {
            try {
                const announcement = await client.lookUpStep(run.key.of(""), limits);
                if (announcement)
                    state.features = announcement.features;
                return announcement;
            }
            catch (error) {
                if (!(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .isRequestError */ .eK)(error) || !(0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .isTransientPollFailure */ .KR)(error) || signal.aborted)
                    throw error;
                const delayMs = Math.max(500, (0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .backoffMs */ .jo)(attempt, random()), (0,_client_submit_js__WEBPACK_IMPORTED_MODULE_2__/* .retryAfterMs */ .Vs)(error));
                if (clock.now() + delayMs >= latest)
                    throw error;
                await clock.sleep(delayMs, signal);
            }
        }
    }
    catch (error) {
        // A proxy setting that cannot be used is reported by the request that needs it.
        if (!(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .isRequestError */ .eK)(error))
            throw error;
        return undefined;
    }
}


/***/ }),

/***/ 5878:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   U: () => (/* binding */ isStillGone),
/* harmony export */   p: () => (/* binding */ findJob)
/* harmony export */ });
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(618);
/* harmony import */ var _run_job_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6863);
/* harmony import */ var _run_state_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7742);



/** A job that the service does not find is looked for again after this time, in milliseconds. */
const secondLookMs = 3000;
/**
 * Reads a job once. It is gone only if the service itself says so twice: a single `404` may come from a service that is just
 * being restarted. Never rejects.
 */
async function findJob(jobId, run) {
    const result = await (0,_run_job_js__WEBPACK_IMPORTED_MODULE_1__/* .readJob */ .c)(jobId, run);
    if (!(0,_result_js__WEBPACK_IMPORTED_MODULE_0__/* .isJobNotFound */ .tl)(result, run.state))
        return result;
    run.state.forgetJob();
    return lookAgain(jobId, run);
}
/** Returns whether a job is still not found some seconds after a request for it was answered with `404`. Never rejects. */
async function isStillGone(jobId, run) {
    const state = new _run_state_js__WEBPACK_IMPORTED_MODULE_2__/* .RunState */ .l();
    state.startedAt = run.state.startedAt;
    return (await lookAgain(jobId, { ...run, state })) === "gone";
}
async function lookAgain(jobId, run) {
    const { clock, signal } = run.ports;
    await clock.sleep(secondLookMs, signal);
    const result = await (0,_run_job_js__WEBPACK_IMPORTED_MODULE_1__/* .readJob */ .c)(jobId, run);
    return (0,_result_js__WEBPACK_IMPORTED_MODULE_0__/* .isJobNotFound */ .tl)(result, run.state) ? "gone" : result;
}


/***/ }),

/***/ 6848:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   UW: () => (/* binding */ writePrompt),
/* harmony export */   iM: () => (/* binding */ runFirstFound),
/* harmony export */   kI: () => (/* binding */ findStart),
/* harmony export */   s$: () => (/* binding */ planTasks)
/* harmony export */ });
/* harmony import */ var _find_job_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(5878);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(618);


/**
 * Writes the prompt with a section on what changed, or returns why nothing may be sent.
 *
 * @param addSection - puts the section into the prompt. It is `undefined` without `changes`, and empty if there is nothing
 *   to compare
 */
async function writePrompt(addSection, run, remembered = { lastCommit: undefined, firstBase: undefined, ownPullRequests: [] }) {
    const { changes } = run.settings;
    let section;
    if (changes) {
        // Loaded here, because most steps do not ask for changes.
        const { findSection } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(125), __webpack_require__.e(537)]).then(__webpack_require__.bind(__webpack_require__, 9537));
        const found = await findSection(changes, remembered, run);
        if ("kind" in found)
            return found;
        section = found.section;
    }
    const prompt = addSection(section);
    return prompt.trim() === "" ? { kind: "blocked", cause: "prompt" } : { prompt };
}
/** Finds the branch that a new job starts from, if the workflow names one; a result if nothing may be sent. */
async function findStart(run) {
    if (run.settings.base === "")
        return { base: undefined };
    // Loaded here, because few steps have a base.
    const { findBase } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(863)]).then(__webpack_require__.bind(__webpack_require__, 4863));
    return findBase(run);
}
/**
 * Plans what to send: a follow-up to a job, if there is one to continue, or a create. Each task applies only if the job of
 * the one before it is gone.
 */
function planTasks(prompt, continued, { replaces, base } = {}) {
    const create = { kind: "create", prompt, base, replaces };
    if (continued === undefined)
        return [{ task: create }];
    const { jobId, isReplaceable = false, isDoubtful = false, pullRequest: leaves } = continued;
    const message = { kind: "message", jobId, prompt, replaces };
    return isReplaceable ? [{ task: message, isDoubtful, leaves }, { task: create }] : [{ task: message }];
}
/**
 * Runs the tasks of a plan in order, until the job of one is found.
 *
 * @param runTask - never rejects
 * @param onReplaced - called before the next task takes the place of one
 * @returns the last task that was run, and its result
 */
async function runFirstFound(plan, run, runTask, onReplaced = () => { }) {
    for (const [index, planned] of plan.entries()) {
        const { task } = planned;
        let result = await runTask(task);
        const next = plan[index + 1]?.task;
        if (next === undefined || task.kind === "create")
            return { task, result };
        let reason = replacementOf(planned, result, run.state);
        if (reason === "not found" && !(await (0,_find_job_js__WEBPACK_IMPORTED_MODULE_0__/* .isStillGone */ .U)(task.jobId, run))) {
            // It was not found by mistake, so that nothing was sent to it.
            result = run.ports.signal.aborted ? _result_js__WEBPACK_IMPORTED_MODULE_1__/* .cancelledBeforeSending */ .xX : await runTask(task);
            reason = undefined;
        }
        if (reason === undefined)
            return { task, result };
        onReplaced(task, next, reason, planned.leaves);
        run.state.forgetJob();
    }
    throw new Error("no task to run");
}
function replacementOf({ task, isDoubtful = false }, result, state) {
    if ((0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isJobNotFound */ .tl)(result, state))
        return "not found";
    return isDoubtful && task.kind === "message" && (0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isRejected */ .TK)(result) ? "rejected" : undefined;
}


/***/ }),

/***/ 790:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   U: () => (/* binding */ connectGitHub)
/* harmony export */ });
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(767);

/** Connects to the runner's GitHub. */
function connectGitHub({ settings, ports, log }) {
    return ports.connectGitHub(settings.githubToken, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_0__/* .apiUrl */ .y0)(ports.environment), (trace) => log.trace(trace));
}


/***/ }),

/***/ 6376:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   y: () => (/* binding */ GitHubError)
/* harmony export */ });
/** Thrown when a request to GitHub fails. The message never contains the token. */
class GitHubError extends Error {
    /** The status of the last response; `undefined` if GitHub did not respond. */
    status;
    constructor(message, status) {
        super(message);
        this.status = status;
    }
}


/***/ }),

/***/ 9035:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   checkRecord: () => (/* binding */ checkRecord)
/* harmony export */ });
/* harmony import */ var zod_mini__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8395);
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2012);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(618);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(790);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);





/** The timeout of one list of jobs, in milliseconds. */
const requestTimeoutMs = 10_000;
/** For all requests together, in milliseconds. */
const totalTimeoutMs = 30_000;
/**
 * Decides by GitHub's record whether an attempt may send something although earlier ones left no trace. Never rejects.
 *
 * @param attempts - those without a trace
 */
async function checkRecord(attempts, run) {
    const [attempt] = attempts;
    if (attempt === undefined)
        return { kind: "first" };
    const record = await readStepRecord(attempts, run);
    if (run.ports.signal.aborted)
        return { kind: "undecided", result: _result_js__WEBPACK_IMPORTED_MODULE_1__/* .cancelledBeforeSending */ .xX };
    if (record === "not-started")
        return { kind: "first" };
    if (record === "ran")
        return { kind: "undecided", result: { kind: "blocked", cause: "unrecorded", attempt } };
    return (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .isForgetful */ .Te)(run.ports.environment)
        ? { kind: "undecided", result: { kind: "blocked", cause: "unknown", attempt } }
        : { kind: "first", unproven: attempt };
}
const step = zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({
    number: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .int */ .Whr(),
    name: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP(),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP(),
    conclusion: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP()),
    started_at: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP()),
});
const job = zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({
    name: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP(),
    status: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP(),
    conclusion: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP()),
    runner_name: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .nullish */ .cl6(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP()),
    steps: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .optional */ .lqM(zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .array */ .YOg(step)),
});
/**
 * Reads from GitHub whether earlier attempts of the workflow run began this step. It needs `actions: read`, or a public
 * repository. The step is the one that is running now in the job of this runner; it has the same job name, number and name in
 * all attempts. Never rejects. GitHub's documentation: "List jobs for a workflow run attempt".
 *
 * @param attempts - the attempts that left no trace of their own
 */
async function readStepRecord(attempts, run) {
    const { environment } = run.ports;
    try {
        const list = await jobLister(run);
        const own = findOwnStep(await list((0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment)), environment.RUNNER_NAME ?? "");
        if (!own)
            return "unknown";
        for (const attempt of attempts) {
            const [earlier, ...others] = (await list(attempt)).filter(({ name }) => name === own.job.name);
            if (!earlier || others.length > 0)
                return "unknown";
            const ran = hasBegun(earlier, own.step);
            if (ran !== false)
                return ran === true ? "ran" : "unknown";
        }
        return "not-started";
    }
    catch (error) {
        run.log.debugError(error);
        return "unknown";
    }
}
async function jobLister(run) {
    const { clock, signal, environment } = run.ports;
    const [owner = "", repo = ""] = (environment.GITHUB_REPOSITORY ?? "").split("/");
    const runId = environment.GITHUB_RUN_ID ?? "";
    if (run.settings.githubToken === "" || repo === "" || runId === "")
        throw new Error("GitHub cannot be asked");
    const github = await (0,_run_js__WEBPACK_IMPORTED_MODULE_4__/* .connectGitHub */ .U)(run);
    const deadline = clock.now() + totalTimeoutMs;
    return async (attempt) => {
        const jobs = [];
        for (let page = 1;; page++) {
            const answer = await github.request("GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs", { owner, repo, run_id: runId, attempt_number: attempt, per_page: 100, page }, { timeoutMs: Math.min(requestTimeoutMs, deadline - clock.now()), signal });
            const { total_count: count, jobs: listed } = zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({ total_count: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .int */ .Whr(), jobs: zod_mini__WEBPACK_IMPORTED_MODULE_2__/* .array */ .YOg(job) }).parse(answer);
            jobs.push(...listed);
            if (listed.length === 0 || jobs.length >= count)
                return jobs;
        }
    };
}
/** Returns the job that this runner runs now, and its running step; `undefined` unless there is exactly one of each. */
function findOwnStep(jobs, runnerName) {
    const own = jobs.filter((each) => runnerName !== "" && each.runner_name === runnerName && each.status === "in_progress");
    const [found] = own;
    if (!found || own.length > 1)
        return undefined;
    const running = (found.steps ?? []).filter(({ status }) => status === "in_progress");
    const [only] = running;
    return only && running.length === 1 ? { job: found, step: only } : undefined;
}
/** Returns whether a job began a step; `undefined` if its record does not say. */
function hasBegun({ status, conclusion, steps = [] }, { number, name }) {
    if (status !== "completed")
        return undefined;
    if (conclusion === "skipped")
        return false;
    // A job that ended before it had a runner has no steps.
    if (steps.length === 0)
        return conclusion === "cancelled" ? false : undefined;
    const same = steps.find((each) => each.number === number && each.name === name);
    if (!same)
        return undefined;
    return !(same.conclusion === "skipped" || !same.started_at);
}


/***/ }),

/***/ 6499:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   m: () => (/* binding */ stopOwnTurn)
/* harmony export */ });
/* harmony import */ var _connect_service_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4501);

/** How long after a signal the service is asked to stop a turn, in milliseconds: soon after that, the runner kills the step. */
const stopGraceMs = 2000;
/** Before the service is asked again whether the turn has ended, in milliseconds. */
const pauseMs = 250;
/**
 * Stops the turn that a cancelled step has sent, if the service announces that it can: never one that the step attached to,
 * and never without waiting for it. The state says what became of it. Never rejects.
 *
 * @returns the result of the run. A request that was in doubt may turn out to be accepted
 */
async function stopOwnTurn(task, result, run) {
    const { settings, state, log } = run;
    const isOwn = task.kind !== "attach" && settings.wait && settings.onCancel === "stop";
    if (!isOwn || result.kind !== "cancelled" || result.acceptance === "rejected")
        return result;
    const { clock } = run.ports;
    // The step's own signal has aborted.
    const limits = { deadline: clock.now() + stopGraceMs, signal: new AbortController().signal };
    try {
        const client = (0,_connect_service_js__WEBPACK_IMPORTED_MODULE_0__/* .connectService */ .U)(run);
        const key = run.key.of(task.prompt, task.replaces);
        const announcement = await client.lookUpStep(key, limits);
        if (!announcement)
            return result;
        state.features = announcement.features;
        const turn = announcement.turns.find((each) => each.request === key.request && isOfJob(each, state.jobId));
        if (!turn)
            return result;
        if (state.jobId === "") {
            state.jobId = turn.jobId;
            state.origin = task.kind === "create" ? "created" : "continued";
            run.publishJobId(turn.jobId);
        }
        if (!announcement.features.has("stop"))
            return { ...result, acceptance: "accepted" };
        state.stop = "asked";
        for (;;) {
            const status = await client.stopTurn(turn.jobId, turn.turnId, limits);
            if (status === "stopped")
                state.stop = "stopped";
            else if (status === "completed" || status === "failed") {
                state.stop = "ended";
                state.update((await client.getJob(turn.jobId, limits)).job, clock.now());
            }
            if (state.stop !== "asked" || clock.now() + pauseMs >= limits.deadline)
                break;
            await clock.sleep(pauseMs);
        }
        return { ...result, acceptance: "accepted" };
    }
    catch (error) {
        log.debugError(error);
        return state.stop === undefined ? result : { ...result, acceptance: "accepted" };
    }
}
function isOfJob({ jobId }, known) {
    return known === "" || jobId === known;
}


/***/ }),

/***/ 2012:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   G9: () => (/* binding */ hasCacheService),
/* harmony export */   Te: () => (/* binding */ isForgetful),
/* harmony export */   Tw: () => (/* binding */ CacheEntryError),
/* harmony export */   nU: () => (/* binding */ cacheAccess),
/* harmony export */   pj: () => (/* binding */ CacheReadOnlyError)
/* harmony export */ });
/** Thrown when an entry was found that is unusable, and will be until a newer one is saved. */
class CacheEntryError extends Error {
    name = "CacheEntryError";
}
/**
 * Thrown when the runner or the cache service says that this run may not write the cache. GitHub decides that by the event
 * that started the run, so it does not change within a run. See GitHub's documentation: "Dependency caching reference".
 */
class CacheReadOnlyError extends Error {
    name = "CacheReadOnlyError";
}
/**
 * Returns the access to the cache that the runner announces, by the rules of `@actions/cache`. `write` if it does not say, which older
 * runners do not: then only a save can tell.
 */
function cacheAccess(environment) {
    if (!isOffered(environment))
        return "absent";
    const mode = environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "";
    return accessOfMode[mode] ?? "write";
}
const accessOfMode = { none: "none", "write-only": "none", read: "read" };
/** Returns whether the runner offers a cache service that can be read. */
function hasCacheService(environment) {
    return ["read", "write"].includes(cacheAccess(environment));
}
/**
 * Returns whether the runner offers a cache that keeps nothing for a re-run: this run may not read it, or may not write it.
 * A missing entry then says nothing about an earlier attempt.
 */
function isForgetful(environment) {
    return ["none", "read"].includes(cacheAccess(environment));
}
function isOffered(environment) {
    const isV2 = Boolean(environment.ACTIONS_CACHE_SERVICE_V2) && !isEnterpriseServer(environment.GITHUB_SERVER_URL);
    // act offers v1 without a token.
    return Boolean(isV2 ? environment.ACTIONS_RESULTS_URL && environment.ACTIONS_RUNTIME_TOKEN : environment.ACTIONS_CACHE_URL);
}
function isEnterpriseServer(serverUrl) {
    const hostname = URL.parse(serverUrl || "https://github.com")?.hostname ?? "";
    return hostname !== "github.com" && !hostname.endsWith(".ghe.com") && !hostname.endsWith(".localhost");
}


/***/ })

};
