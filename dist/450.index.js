export const id = 450;
export const ids = [450];
export const modules = {

/***/ 8450:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  runComment: () => (/* binding */ runComment)
});

// EXTERNAL MODULE: ./build/runner-kit/untrusted.js
var untrusted = __webpack_require__(4436);
// EXTERNAL MODULE: ./build/action/outcome.js
var action_outcome = __webpack_require__(491);
// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
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

// EXTERNAL MODULE: ./build/action/run-job.js + 2 modules
var run_job = __webpack_require__(9010);
// EXTERNAL MODULE: ./build/action/run-state.js
var run_state = __webpack_require__(7742);
;// CONCATENATED MODULE: ./build/action/comments/command.js



/** How long the state of a job may take to read for a command, in milliseconds. */
const maxReadingMs = 60_000;
/** Answers a command in a reply of its own, which has no marker: it starts nothing, and the thread's job stays the same. */
async function answerCommand(command, thread, mode, run) {
    const frame = { phrase: mode.phrase, label: mode.label, hasFixedJob: mode.jobId !== "" };
    await thread.react("eyes");
    const { userId } = await thread.post(renderAnswer({ kind: command === "help" ? "help" : "reading" }, frame));
    if (command === "help" || userId === undefined || run.ports.signal.aborted)
        return;
    await thread.edit(renderAnswer(await readAnswer(userId, thread, mode, run), frame), { isLast: true });
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

// EXTERNAL MODULE: ./build/action/find-job.js
var find_job = __webpack_require__(5878);
// EXTERNAL MODULE: ./build/action/report/log.js
var log = __webpack_require__(8924);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var environment = __webpack_require__(767);
// EXTERNAL MODULE: ./build/client/contract.js
var contract = __webpack_require__(6078);
;// CONCATENATED MODULE: ./build/action/comments/marker.js

const words = { "about to send": "pending", "nothing sent": "unsent" };
/** A longer line would leave no room for the reply. Ids of jobs are far shorter. */
const maxMarkerLength = 16_384;
/** Formats the hidden last line of a reply; empty if the ids are too long. */
function formatMarker({ projectId, request, attempt, kind, jobId = "" }) {
    const word = kind === "job" ? `job=${encodeURIComponent(jobId)}` : words[kind];
    const line = `<!-- agent-job-action project=${encodeURIComponent(projectId)} attempt=${attempt} ${word} ${request} -->`;
    return line.length > maxMarkerLength ? "" : line;
}
const markerLine = /^<!-- agent-job-action project=(\S+) attempt=(\d+) (?:job=(\S+)|pending|(unsent)) ((?:comment|review|run)=\d+) -->$/;
/** Parses the marker of a reply, which is only valid as the whole last line. */
function parseMarker(body) {
    const [, project, attempt, job, unsent, request] = markerLine.exec(body.split(/\r?\n/).at(-1) ?? "") ?? [];
    if (project === undefined || request === undefined)
        return undefined;
    try {
        const jobId = job === undefined ? undefined : decodeURIComponent(job);
        if (jobId !== undefined && !(0,contract/* isUsableJobId */.Xb)(jobId))
            return undefined;
        const kind = jobId !== undefined ? "job" : unsent ? "nothing sent" : "about to send";
        return {
            projectId: decodeURIComponent(project),
            request: request,
            attempt: Number(attempt),
            kind,
            jobId,
        };
    }
    catch {
        return undefined;
    }
}

// EXTERNAL MODULE: ./node_modules/zod/v4/mini/schemas.js + 5 modules
var schemas = __webpack_require__(8395);
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
/** How long a write that remembers something is repeated if it fails for a passing reason, in milliseconds. */
const repeatLimitMs = 10_000;
/** Before it is repeated, in milliseconds. */
const repeatPauseMs = 1000;
class UnusableError extends Error {
}
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
     * Adds a reaction to the comment, or to the issue or pull request; a review can have none. Only to a comment, no earlier
     * request can have added it.
     */
    async react(content, { isLast = false } = {}) {
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
        let status = 0;
        const onStatus = (answered) => {
            status = answered;
        };
        const call = (limits) => this.#ports.github.request(route, this.#parameters({ ...place, content }), { ...limits, onStatus });
        if (isLast)
            return void (await this.#send("add a reaction", reaction, { isLast }, call));
        const [write, data] = await this.#keep("add a reaction", reaction, {}, call);
        const isKnown = commentId !== undefined && (status === 200 || status === 201);
        return { ...write, userId: data?.user.id, ...(isKnown && { isNew: status === 201 }) };
    }
    /** Posts the reply. */
    async post(body) {
        const { position, subject } = this.#event;
        const route = position
            ? "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies"
            : "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
        const place = position
            ? { pull_number: subject.number, comment_id: position.rootId }
            : { issue_number: subject.number };
        const [write, reply] = await this.#keep("post a reply", comment, { graceMs: postGraceMs }, (limits) => this.#ports.github.request(route, this.#parameters({ ...place, body }), limits));
        this.#replyId = reply?.id ?? this.#replyId;
        this.#wrote(body);
        return { ...write, userId: reply?.user?.id };
    }
    /** Replaces the text of the reply before anything else is done. */
    async rewrite(body) {
        const [write] = await this.#keep("update the reply", anObject, {}, (limits) => this.#edit(body, limits));
        this.#wrote(body);
        this.#isOutdated = write.kind !== "kept";
        return write;
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
            const edited = await this.#send("update the reply", anObject, { isLast, isUrgent }, (limits) => this.#edit(body, limits));
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
    #edit(body, limits) {
        const route = `PATCH /repos/{owner}/{repo}/${this.#kind}/comments/{comment_id}`;
        return this.#ports.github.request(route, this.#parameters({ comment_id: this.#replyId, body }), limits);
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
    /** Sends a request that remembers something, again and again if it fails for a passing reason. */
    async #keep(action, schema, options, call) {
        const { clock, signal } = this.#ports;
        const latest = Math.min(this.#deadline, clock.now() + repeatLimitMs);
        for (;;) {
            const sent = await this.#try(schema, { ...options, latest }, call);
            if ("data" in sent)
                return [{ kind: "kept" }, sent.data];
            const status = sent.error instanceof github_error/* GitHubError */.y ? sent.error.status : undefined;
            const isRefused = status === 403 || status === 404 || status === 410;
            // What GitHub may have done is not repeated.
            const isFinal = isRefused || sent.error instanceof UnusableError;
            if (isFinal || signal.aborted || clock.now() + repeatPauseMs >= latest) {
                this.#report(action, sent.error, options);
                return [{ kind: isRefused ? "refused" : "lost", isDeleted: status === 404 || status === 410 }, undefined];
            }
            await clock.sleep(repeatPauseMs, signal);
        }
    }
    /** Sends a request, and reports the first one that fails. Returns `undefined` if it fails. */
    async #send(action, schema, options, call) {
        const sent = await this.#try(schema, options, call);
        if ("data" in sent)
            return sent.data;
        this.#report(action, sent.error, options);
        return undefined;
    }
    #report(action, error, { isLast = false }) {
        const { signal, onFailure } = this.#ports;
        const isCancelled = signal.aborted && !isLast;
        if (!this.#hasFailed && !isCancelled)
            onFailure(action, error);
        this.#hasFailed ||= !isCancelled;
    }
    async #try(schema, { isLast = false, graceMs = 0, isUrgent = false, latest = Number.POSITIVE_INFINITY }, call) {
        const { clock, signal } = this.#ports;
        const leftMs = isLast ? requestTimeoutMs : this.#deadline - clock.now();
        try {
            if (leftMs <= 0)
                throw new Error("timeout-minutes has passed");
            const response = await call({
                timeoutMs: Math.min(requestTimeoutMs, leftMs, latest - clock.now()),
                signal,
                // The last edit reports the cancellation, so the signal must not cancel it.
                graceMs: isLast ? lastEditGraceMs : graceMs,
                isUrgent,
            });
            const parsed = schema.safeParse(response);
            return parsed.success ? { data: parsed.data } : { error: new UnusableError("GitHub's response is not usable") };
        }
        catch (error) {
            return { error };
        }
    }
}

;// CONCATENATED MODULE: ./build/action/comments/conversation.js








/** The handling of a request in a thread: the reply, and what it remembers. */
class Conversation {
    #run;
    #mode;
    #request;
    /** `undefined` with `reply: false`. */
    #thread;
    /** The reply of an earlier attempt, which this one edits. */
    #own;
    /** The accounts of the reaction and of the reply. */
    #actorId;
    #authorId;
    #reaction;
    #replies;
    #post;
    #marker;
    /** What the reply says, as far as GitHub has answered. */
    #shown;
    #isReplacement = false;
    #workingSince;
    constructor(request, mode, run) {
        const { event, github, startedAt } = request;
        const { settings, ports, log } = run;
        this.#run = run;
        this.#mode = mode;
        this.#request = request;
        const onFailure = (action, error) => log.threadFailed(action, error);
        const deadline = startedAt + settings.timeoutMs;
        this.#thread = mode.reply ? new Thread(event, deadline, { ...ports, github, onFailure }) : undefined;
        const attempt = (0,environment/* runAttempt */.Tm)(ports.environment);
        this.#marker = { projectId: settings.projectId, request: event.request, attempt, kind: "about to send" };
        this.#workingSince = workingSince(run);
    }
    /** The thread, for the answer to a command. */
    get thread() {
        return this.#thread;
    }
    /** Whether there is a thread to reply in. */
    get hasThread() {
        return this.#thread !== undefined;
    }
    /** The word in the reply, as a later attempt will find it; `undefined` if it may not. */
    get word() {
        if (!this.#thread?.isReliable || formatMarker(this.#marker) === "")
            return undefined;
        return wordOf(this.#marker, "create");
    }
    /** Reads what earlier attempts left in the thread. Without a reaction, the author of an own reply tells the account. */
    async read() {
        const thread = this.#thread;
        if (!thread)
            return { kind: "none", silence: "open" };
        if (!this.#run.settings.dryRun) {
            await this.#react();
            if (this.#actorId === undefined)
                await this.#postReply();
        }
        this.#replies = await thread.listReplies(this.#run.settings.projectId);
        if (!this.#replies)
            return { kind: "unreadable" };
        const answers = this.#replies.filter(({ request }) => request === this.#request.event.request);
        const account = this.#actorId ?? this.#authorId;
        const own = answers.findLast(({ authorId }) => authorId === account || this.#run.settings.dryRun);
        // It may be one of this account.
        if (!own && account === undefined && answers.length > 0)
            return { kind: "unreadable" };
        if (!own)
            return { kind: "none", silence: this.#silence };
        // What an earlier attempt started stays remembered, whatever happens to this one.
        this.#marker = { ...this.#marker, attempt: own.attempt, kind: own.kind, jobId: own.jobId };
        if (this.#post?.kind !== "kept") {
            this.#own = own;
            this.#shown = own.kind;
            thread.useReply(own.replyId);
            this.#authorId = own.authorId;
        }
        return { kind: "reply", attempt: own.attempt, word: wordOf(own, this.#sentBy(own)) };
    }
    /** What it means that no earlier attempt has left a reply. */
    get #silence() {
        const { kind, isNew, isDeleted } = this.#reaction ?? { kind: "kept" };
        if (isNew !== undefined)
            return isNew ? "proof" : "doubt";
        // A server without reactions, or an event whose reaction cannot tell: it is the reply alone.
        const canTell = kind !== "kept" && !isDeleted;
        return canTell || this.#post?.kind === "refused" ? "doubt" : "open";
    }
    /** Returns the kind of task that a reply stands for: a message, if the workflow or an earlier reply names its job. */
    #sentBy({ jobId, request, replyId }) {
        const isContinued = this.#replies?.some((other) => other.jobId === jobId && other.request !== request && other.replyId < replyId);
        return this.#mode.jobId !== "" || isContinued ? "message" : "create";
    }
    /** Shows that the step waits for the job of an earlier attempt. */
    async resume(jobId) {
        this.remember(jobId);
        if (!this.#own && !this.#post)
            await this.#postReply();
    }
    /** Says in the thread that a request is about to be sent, and returns whether that is kept; `undefined` without a reply. */
    async announce() {
        const thread = this.#thread;
        if (!thread)
            return undefined;
        this.#mark("about to send");
        if (this.#shown === "about to send")
            return "kept";
        if (this.#shown) {
            const edited = await thread.rewrite(this.#progress);
            this.#shown = "about to send";
            if (edited.kind === "kept")
                return "kept";
            // What it said before is no longer true, and must not be what a later attempt goes by.
            if (!edited.isDeleted)
                return "lost";
            this.#own = undefined;
            this.#post = undefined;
        }
        const reaction = await this.#react();
        if (!this.#post)
            await this.#postReply();
        const writes = [reaction, this.#post].filter((write) => write !== undefined);
        if (writes.some(({ kind }) => kind === "kept"))
            return "kept";
        return writes.some(({ kind }) => kind === "lost") ? "lost" : "refused";
    }
    /** Finds the job of the thread that the request continues; `undefined` for a new one. */
    async findContinued(base) {
        const { settings, log } = this.#run;
        if (this.#mode.jobId !== "")
            return { jobId: this.#mode.jobId };
        const thread = this.#thread;
        const isTold = settings.dryRun;
        if (!thread || this.#request.isNew || (this.#authorId === undefined && !isTold))
            return undefined;
        this.#replies ??= await thread.listReplies(settings.projectId);
        const isOwn = ({ authorId, replyId }) => (isTold || authorId === this.#authorId) && replyId !== this.#own?.replyId;
        const found = this.#replies?.findLast((reply) => isOwn(reply) && reply.jobId !== undefined);
        const jobId = found?.jobId;
        if (jobId === undefined) {
            const other = this.#authorId === undefined ? undefined : thread.otherProject(this.#authorId);
            if (other !== undefined)
                log.otherProject(other, settings.projectId);
            return undefined;
        }
        // A job that started from another branch would bring that along.
        const isOther = base !== undefined && !isTold && (await baseOf(jobId, this.#run)) !== base;
        return isOther ? undefined : { jobId, isReplaceable: true };
    }
    /** Remembers the job that the request started, or is waited for. */
    remember(jobId) {
        this.#mark("job", jobId);
    }
    /** Remembers that nothing was sent. */
    withdraw() {
        this.#mark("nothing sent");
    }
    /** Remembers that something is about to be sent. */
    pend() {
        this.#mark("about to send");
    }
    /** The id must reach the thread before the process can be killed, so this edit does not wait for its turn. */
    showJob() {
        if (this.#run.ports.signal.aborted)
            return;
        this.#shown &&= this.#marker.kind;
        void this.#thread?.edit(this.#progress, { isUrgent: true });
        void this.#thread?.removeLabel();
    }
    showProgress() {
        // Before the job is known, there is nothing to show.
        if (this.#marker.kind === "job")
            this.#thread?.showProgress(this.#progress);
    }
    /** A create takes the place of a message to the thread's job, which is gone. */
    replaceJob() {
        this.#isReplacement = true;
        this.#run.log.replacingJob();
    }
    /** Shows the result. */
    async finish(ending) {
        await this.#thread?.edit(renderResult({ ...ending, state: this.#run.state }, this.#frame), { isLast: true });
        const { reaction } = action_outcome/* outcomes */.KI[ending.outcome];
        if (reaction)
            await this.#thread?.react(reaction, { isLast: true });
    }
    async #react() {
        this.#reaction ??= await this.#thread?.react("eyes");
        this.#actorId = this.#reaction?.userId;
        return this.#reaction;
    }
    async #postReply() {
        this.#post = await this.#thread?.post(this.#progress);
        this.#authorId = this.#post?.userId;
        if (this.#post?.kind === "kept")
            this.#shown = this.#marker.kind;
    }
    #mark(kind, jobId) {
        const attempt = (0,environment/* runAttempt */.Tm)(this.#run.ports.environment);
        this.#marker = { ...this.#marker, attempt, kind, jobId };
    }
    get #progress() {
        return renderProgress(this.#frame, { since: this.#workingSince(), state: this.#run.state });
    }
    /** The parts of the reply that do not depend on the state of the job. */
    get #frame() {
        return {
            runUrl: (0,environment/* runUrl */.Vp)(this.#run.ports.environment),
            phrase: this.#mode.phrase,
            label: this.#mode.label,
            reviewUrl: this.#request.event.reviewUrl ?? "",
            hasFixedJob: this.#mode.jobId !== "",
            note: this.#isReplacement ? log/* jobReplaced */.C : [],
            marker: formatMarker(this.#marker),
            remembersJob: this.#marker.kind === "job",
        };
    }
}
function wordOf({ kind, jobId = "" }, sent) {
    return kind === "job" ? { kind, jobId, sent } : { kind };
}
/** Returns the branch that a job started from; `undefined` if that is the project's own, or it cannot be read. */
async function baseOf(jobId, run) {
    const state = new run_state/* RunState */.l();
    state.startedAt = run.state.startedAt;
    await (0,find_job/* findJob */.p)(jobId, { ...run, state });
    return state.base || undefined;
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

// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/action/memory/memory.js
var memory_memory = __webpack_require__(7260);
// EXTERNAL MODULE: ./build/action/run.js
var action_run = __webpack_require__(790);
// EXTERNAL MODULE: ./build/action/runner/event-file.js
var event_file = __webpack_require__(561);
// EXTERNAL MODULE: ./build/action/step-key.js
var step_key = __webpack_require__(6323);
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

;// CONCATENATED MODULE: ./build/action/comments/request.js













/**
 * Checks whether the event may start something, and what; otherwise returns why not. Writes nothing to the thread. A re-run first
 * asks the service for the turn of an earlier attempt: to wait for that needs no permission.
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
    const own = { ...settings, onRerun: "resume", session: "" };
    const identity = { ...settings, onRerun: "resume", jobId: mode.jobId, request: event.request };
    const run = { ...plainRun, settings: own, key: new step_key/* StepKey */.K(identity, environment) };
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
    const isCommand = "command" in asked;
    const template = mode.template ?? (0,prompt_template/* defaultTemplate */.oB)(event);
    const fill = (section = "") => (0,prompt_template/* fillTemplate */.ou)(template, isCommand ? "" : asked.instruction, event, section);
    const kind = mode.jobId === "" ? "create" : "message";
    const memory = await (0,memory_memory/* openMemory */.uZ)({ kind, prompt: fill() }, run, true);
    const request = { event, isNew: false, fill, github, startedAt, run, memory, replies: undefined };
    const blocked = async (result) => {
        if (!isCommand)
            await memory.words.withdraw(kind);
        return { result };
    };
    const isAsking = (0,memory_memory/* isResuming */.x)(run) && !isCommand && !settings.dryRun;
    const replies = isAsking ? await (0,memory_memory/* askBefore */.bz)(request, run) : undefined;
    if (replies && "kind" in replies)
        return blocked(replies);
    const { service } = replies ?? {};
    const isResumed = typeof service === "object" && "turnId" in service && service.over === undefined;
    if (!isResumed) {
        // A command starts nothing.
        const requiredPermission = isCommand ? "read" : mode.requiredPermission;
        const denial = (await checkPermission(event, { ...mode, requiredPermission }, github, timeoutMs, signal)) ??
            (await checkReview(event, { github, limits }, signal));
        if (denial)
            return blocked(denial);
    }
    if (isCommand)
        return { ...request, command: asked.command };
    if (event.isPublic && mode.requiredPermission === "read")
        log.anyoneCanAsk();
    return { ...request, isNew: asked.isNew, replies };
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

// EXTERNAL MODULE: ./build/action/send-once.js + 2 modules
var send_once = __webpack_require__(5050);
;// CONCATENATED MODULE: ./build/action/comment-mode.js





/** Runs what an event of an issue or pull request asks for, if its author may, and shows it in the thread. */
async function runComment(mode, plainRun) {
    const request = await readRequest(mode, plainRun);
    if ("result" in request)
        return request;
    const { run, event, command, memory, fill, replies } = request;
    const conversation = new Conversation(request, mode, run);
    if (!command)
        return (0,send_once/* sendOnce */.E)({ jobId: mode.jobId, fill, memory, conversation, replies }, run);
    const { thread } = conversation;
    const answered = { result: { kind: "skipped", reason: "command", triggerKind: event.triggerKind } };
    // A dry run says in the log and in the summary what it was asked.
    if (run.settings.dryRun || !thread)
        return answered;
    await answerCommand(command, thread, mode, run);
    return run.ports.signal.aborted ? { result: action_result/* cancelledBeforeSending */.xX } : answered;
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


/***/ })

};
