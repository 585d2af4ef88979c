export const id = 712;
export const ids = [712];
export const modules = {

/***/ 3831:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   S: () => (/* binding */ maxPullRequests)
/* harmony export */ });
/** How many pull requests a session remembers. */
const maxPullRequests = 20;


/***/ }),

/***/ 712:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  runWithMemory: () => (/* binding */ runWithMemory)
});

// EXTERNAL MODULE: ./build/action/changes/add-section.js
var add_section = __webpack_require__(7216);
// EXTERNAL MODULE: ./build/action/plan.js
var action_plan = __webpack_require__(6848);
// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
// EXTERNAL MODULE: ./build/action/run-job.js + 4 modules
var run_job = __webpack_require__(6863);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var runner_environment = __webpack_require__(767);
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



/** Remembers what the attempts of a step started, in the repository's Actions cache. */
class AttemptMemory {
    #cache;
    #attempt;
    /** The prefix of the keys of all entries of the step, and of those with this prompt. */
    #stepPrefix;
    #promptPrefix;
    #saves = 0;
    constructor(cache, task, { settings, ports: { environment } }) {
        this.#cache = cache;
        this.#attempt = (0,runner_environment/* runAttempt */.Tm)(environment);
        // The same in all attempts. GitHub's documentation: "Variables reference".
        const { GITHUB_RUN_ID: runId = "", GITHUB_JOB: job = "", GITHUB_ACTION: step = "" } = environment;
        // The legs of a matrix share their job.
        const { baseUrl, projectId, session, matrixLeg } = settings;
        const jobId = task.kind === "message" ? task.jobId : "";
        const parts = [runId, job, step, matrixLeg, baseUrl.href, projectId, task.kind, jobId, session];
        this.#stepPrefix = `agent-job-${hash(JSON.stringify(parts))}-`;
        this.#promptPrefix = `${this.#stepPrefix}${hash(task.prompt)}-`;
    }
    /** Finds what an earlier attempt started. Never rejects. */
    async find() {
        try {
            const own = await this.#cache.restore(this.#promptPrefix);
            const text = own ?? (await this.#cache.restore(this.#stepPrefix));
            if (text === undefined)
                return { kind: "none" };
            // Loaded here, because only a re-run reads what the attempt before it saved.
            const { parseAttemptEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(549)]).then(__webpack_require__.bind(__webpack_require__, 2549));
            const entry = parseAttemptEntry(text);
            if (!entry)
                throw new Error("the entry is not usable");
            const { jobId, sent, attempt } = entry;
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
        await this.#cache.save(key, JSON.stringify({ version: 1, attempt: this.#attempt, sent, ...(jobId !== undefined && { jobId }) }));
    }
}

;// CONCATENATED MODULE: ./build/action/refresh/background-saves.js
/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled, in milliseconds: soon after that, the runner kills it. */
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
        const end = clock.now() + maxWaitMs;
        await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
        // A job that is forgotten because the step is cancelled would be started twice.
        if (signal.aborted)
            await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
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

;// CONCATENATED MODULE: ./build/action/refresh/until-aborted.js
/** Waits for a promise, or until the signal aborts: then returns `undefined` and ignores the promise. */
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

;// CONCATENATED MODULE: ./build/action/refresh/session.js




/** Returns the entry of the session. If it cannot be read, the result says so, and nothing may be sent. */
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
async function planSession(prompt, jobId, run) {
    const { state } = run;
    const say = (event) => run.log.session(event, run.settings.session);
    if (jobId === undefined) {
        say({ kind: "first-job" });
        return (0,action_plan/* planTasks */.s$)(prompt);
    }
    const result = await (0,run_job/* readJob */.c)(jobId, run);
    const { pullRequest } = state;
    const status = (0,action_result/* isJobNotFound */.tl)(result, state) ? "not found" : statusOf(result);
    if (status === undefined)
        return result;
    state.forgetJob();
    if (status === "active") {
        say({ kind: "job-active", jobId });
        return (0,action_plan/* planTasks */.s$)(prompt, jobId);
    }
    if (status !== "completed" || !pullRequest) {
        say({ kind: "job-over", jobId, reason: status === "completed" ? "no pull request" : status });
        return (0,action_plan/* planTasks */.s$)(prompt);
    }
    // Loaded here, because few runs of a session find a job that has completed.
    const { readPullRequestState } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(56)]).then(__webpack_require__.bind(__webpack_require__, 1056));
    const pullRequestState = await readPullRequestState(pullRequest, run);
    say({ kind: "pull-request", jobId, pullRequest, state: pullRequestState });
    const isOver = pullRequestState === "merged" || pullRequestState === "closed";
    return (0,action_plan/* planTasks */.s$)(prompt, isOver ? undefined : jobId);
}
/** Returns the status that a single read of a job found; `undefined` if it could not be read. */
function statusOf(result) {
    if (result.kind === "done")
        return result.status;
    return result.kind === "started" ? "active" : undefined;
}

// EXTERNAL MODULE: ./build/runner-kit/cache.js
var cache = __webpack_require__(2012);
// EXTERNAL MODULE: ./build/action/pull-request.js
var pull_request = __webpack_require__(8808);
// EXTERNAL MODULE: ./build/action/refresh/entry.js
var refresh_entry = __webpack_require__(3831);
;// CONCATENATED MODULE: ./build/action/refresh/session-memory.js






/** Remembers the last job of a session across workflow runs, in the repository's Actions cache. */
class SessionMemory {
    #cache;
    #prefix;
    /** `GITHUB_RUN_ID` and `GITHUB_RUN_ATTEMPT`. */
    #runId;
    #attempt;
    /** `GITHUB_SHA`, or empty. */
    #commit;
    /** `GITHUB_SERVER_URL` and `GITHUB_REPOSITORY`. */
    #serverUrl;
    #repository;
    #found;
    #saved;
    #saves = 0;
    constructor(cache, { settings, ports: { environment } }) {
        const { baseUrl, projectId, session } = settings;
        this.#cache = cache;
        this.#runId = environment.GITHUB_RUN_ID ?? "";
        this.#attempt = (0,runner_environment/* runAttempt */.Tm)(environment);
        this.#commit = environment.GITHUB_SHA ?? "";
        this.#serverUrl = (0,runner_environment/* serverUrl */.Vd)(environment);
        this.#repository = environment.GITHUB_REPOSITORY ?? "";
        this.#prefix = `agent-session-${hash(JSON.stringify([baseUrl.href, projectId, session]))}-`;
    }
    /** Returns the entry that earlier steps saved; `undefined` if there is none. Reads it once. Never rejects. */
    find() {
        this.#found ??= this.#read();
        return this.#found;
    }
    /**
     * Returns the commit of the session's last run, not counting this one: a re-run asks for the same changes again.
     * `undefined` if there is none.
     */
    lastCommit({ run, commit, since }) {
        return run === this.#runId ? since : commit;
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
        const run = this.#runId;
        const number = this.#numberOf(pullRequest);
        const known = earlier?.pullRequests ?? [];
        const isKnown = number === undefined || known.includes(number);
        if (earlier?.jobId === jobId && earlier.run === run && isKnown)
            return;
        const entry = {
            jobId,
            run,
            commit: this.#commit || undefined,
            since: earlier && this.lastCommit(earlier),
            pullRequests: isKnown ? known : [...known, number].slice(-refresh_entry/* maxPullRequests */.S),
        };
        const key = `${this.#prefix}${run}-${this.#attempt}-${++this.#saves}`;
        await this.#cache.save(key, JSON.stringify({ version: 1, ...entry }));
        this.#saved = entry;
    }
    async #read() {
        try {
            const text = await this.#cache.restore(this.#prefix);
            if (text === undefined)
                return { entry: undefined };
            const { parseSessionEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(549)]).then(__webpack_require__.bind(__webpack_require__, 2549));
            return { entry: parseSessionEntry(text) };
        }
        catch (error) {
            // An entry that cannot be used will not become usable, so the session continues without it.
            return error instanceof cache/* CacheEntryError */.T ? { entry: undefined } : { error: (0,errors/* messageOf */.bD)(error) };
        }
    }
    #numberOf(pullRequest) {
        const place = pullRequest && (0,pull_request/* locatePullRequest */.x)(pullRequest, this.#serverUrl);
        return place && `${place.owner}/${place.repo}`.toLowerCase() === this.#repository.toLowerCase()
            ? place.number
            : undefined;
    }
}

;// CONCATENATED MODULE: ./build/action/refresh/run-with-memory.js










/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job that an earlier attempt
 * started. It sends the request again only if that job failed, was archived or is not found, which is what a re-run asks
 * for.
 */
async function runWithMemory(task, run) {
    const { state, log } = run;
    const { signal } = run.ports;
    const attempt = (0,runner_environment/* runAttempt */.Tm)(run.ports.environment);
    const memory = await openMemory(task, run);
    const onFailure = (error) => log.rerun({ kind: "not-saved", error });
    const saves = new BackgroundSaves({ ...run.ports, ...memory, onFailure });
    const none = { kind: "none" };
    const earlier = attempt > 1 && memory.attempts ? await untilAborted(memory.attempts.find(), signal) : none;
    if (!earlier)
        return { result: action_result/* cancelledBeforeSending */.xX };
    if (earlier.kind === "job") {
        log.rerun({ kind: "resuming", jobId: earlier.jobId, attempt, earlierAttempt: earlier.attempt });
        const resumed = { kind: "attach", jobId: earlier.jobId, resumes: earlier.sent };
        const result = await resume(resumed, run);
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
    const plan = await planWith(memory.session, task, run);
    return Array.isArray(plan) ? runAndRemember(plan, saves, run) : { result: plan };
}
async function openMemory(task, run) {
    const cache = await run.ports.connectCache();
    const { onRerun, session } = run.settings;
    return {
        attempts: onRerun === "resume" ? new AttemptMemory(cache, task, run) : undefined,
        session: session === "" ? undefined : new SessionMemory(cache, run),
    };
}
/** Decides what to send: the prompt with what changed, to the session's job or a new one. Otherwise returns why not. */
async function planWith(session, task, run) {
    const recalled = session ? await recallSession(session, run.ports.signal) : { entry: undefined };
    if ("kind" in recalled)
        return recalled;
    const { entry } = recalled;
    const written = await (0,action_plan/* writePrompt */.UW)((section) => (0,add_section/* addSection */.B)(task.prompt, section), run, {
        lastCommit: entry && session?.lastCommit(entry),
        ownPullRequests: entry?.pullRequests ?? [],
    });
    if ("kind" in written)
        return written;
    if (session)
        return planSession(written.prompt, entry?.jobId, run);
    return (0,action_plan/* planTasks */.s$)(written.prompt, task.kind === "message" ? task.jobId : undefined, false);
}
/** Runs a plan, and saves what it sent while the job runs. */
async function runAndRemember(plan, saves, run) {
    const { state, log } = run;
    const { task, result } = await (0,action_plan/* runFirstFound */.iM)(plan, state, (each) => (0,run_job/* runJob */.b)(each, run, { onJobId: (jobId) => saves.begin(each.kind, jobId) }), (each) => {
        if (each.kind === "message")
            log.rerun({ kind: "starting-over", jobId: each.jobId, reason: "not found" });
    });
    // The job of a message in doubt is not remembered: its state would say nothing about the message.
    const isInDoubt = (0,action_result/* acceptanceOf */.BL)(result) === "unknown" && !saves.hasBegun;
    if (isInDoubt)
        saves.begin(task.kind, undefined);
    if (saves.hasBegun)
        await saves.finish(isInDoubt ? "" : state.jobId, state.pullRequest);
    if (!saves.isRemembered)
        return { result, task };
    return { result, task, rerun: isInDoubt ? "stops" : "resumes" };
}
/**
 * Waits for the job of an earlier attempt; `undefined` if it had already failed, is archived or is not found. After a
 * message the first record may show the state from before it, so only a wait can tell.
 */
async function resume(task, run) {
    const { settings, state, log } = run;
    const result = await (0,run_job/* runJob */.b)(task, run, { wait: settings.wait && task.resumes === "message" });
    const startOver = (reason) => {
        log.rerun({ kind: "starting-over", jobId: task.jobId, reason });
        return undefined;
    };
    if ((0,action_result/* isJobNotFound */.tl)(result, state))
        return startOver("not found");
    const hasChanged = state.timeline.length > 1;
    if (result.kind === "done" && result.status !== "completed" && !hasChanged)
        return startOver(result.status);
    return result.kind === "started" && settings.wait ? (0,run_job/* runJob */.b)(task, run) : result;
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


/***/ })

};
