export const id = 50;
export const ids = [50,62];
export const modules = {

/***/ 5878:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   U: () => (/* binding */ isStillGone),
/* harmony export */   p: () => (/* binding */ findJob)
/* harmony export */ });
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(618);
/* harmony import */ var _run_job_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9010);
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

/***/ 9816:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   x: () => (/* binding */ askService)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _client_retry_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1992);
/* harmony import */ var _client_submit_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9099);
/* harmony import */ var _connect_service_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4501);




/** How long a service that does not announce itself is asked again, in milliseconds. */
const askLimitMs = 20_000;
/** Before it is asked again, in milliseconds. */
const pauseMs = 500;
/** How often a service without an entry has to say that it does not know the question. */
const minDenials = 2;
/**
 * Asks the service what was sent under the step, and what it offers, for a short time. Never rejects because of the service.
 *
 * @param hadAnnounced - returns whether the service had announced itself to an earlier attempt; `undefined` if no entry says it.
 *   Default: none does
 */
async function askService(run, hadAnnounced = async () => undefined) {
    const { state, settings, ports } = run;
    const { clock, random, signal } = ports;
    // A dry run sends nothing to it.
    if (settings.dryRun || !(0,_connect_service_js__WEBPACK_IMPORTED_MODULE_3__/* .canBeAsked */ .u)(run))
        return { kind: "mute" };
    // To find the branch that a job starts from, it was asked before.
    if (state.announcement)
        return { kind: "announced", announcement: state.announcement };
    state.startedAt ??= clock.now();
    const limits = { deadline: state.startedAt + settings.timeoutMs, signal };
    const latest = Math.min(limits.deadline, clock.now() + askLimitMs);
    const client = (0,_connect_service_js__WEBPACK_IMPORTED_MODULE_3__/* .connectService */ .U)(run);
    let denials = 0;
    for (let attempt = 0;; attempt++) {
        let failure;
        try {
            const announcement = await client.lookUpStep(run.key.of(""), limits);
            if (announcement) {
                state.features = announcement.features;
                state.announcement = announcement;
                return { kind: "announced", announcement };
            }
            denials++;
        }
        catch (error) {
            // A proxy setting that cannot be used is reported by the request that needs it.
            if (!(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .isRequestError */ .eK)(error))
                throw error;
            failure = error;
        }
        if (signal.aborted)
            return { kind: "unreadable", error: failure };
        const had = await hadAnnounced();
        const isDenied = failure ? !(0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .isTransientPollFailure */ .KR)(failure) : true;
        if (had === false ? isDenied : had === undefined && failure === undefined && denials >= minDenials) {
            state.isMute = true;
            return { kind: "mute" };
        }
        const delayMs = Math.max(pauseMs, (0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .backoffMs */ .jo)(attempt, random()), failure ? (0,_client_submit_js__WEBPACK_IMPORTED_MODULE_2__/* .retryAfterMs */ .Vs)(failure) : 0);
        if (clock.now() + delayMs >= latest)
            return had === false ? { kind: "mute" } : { kind: "unreadable", error: failure };
        await clock.sleep(delayMs, signal);
    }
}


/***/ }),

/***/ 8723:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   L: () => (/* binding */ decide),
/* harmony export */   R: () => (/* binding */ decideWith)
/* harmony export */ });
/**
 * Decides what an attempt does: wait for what an earlier one sent, send, or nothing. A word counts until a newer attempt leaves
 * one; the silence of a newer attempt outranks it.
 */
function decide(evidence) {
    const { service, record, hadAnnounced, keepsWords, laterRun } = evidence;
    const turn = typeof service === "object" && "turnId" in service ? service : undefined;
    if (typeof service === "object" && "several" in service)
        return refuse({ cause: "several-turns", jobIds: service.several });
    if (turn && turn.over === undefined) {
        const { jobId, turnId, hasOtherPrompt } = turn;
        return { do: "wait", jobId, sent: "message", turnId, hasOtherPrompt };
    }
    const { found, silent } = newestWord(evidence);
    const [newest] = silent;
    // Without an announcement before, an attempt's word is as good as the service's.
    const isOpen = newest !== undefined && record !== "not started";
    if (service === "unreadable" && (hadAnnounced || isOpen))
        return refuse({ cause: "service" });
    if (found?.word === "unreadable")
        return refuse({ cause: "unreadable" });
    if (found && found.word.kind !== "nothing sent") {
        const { word, attempt } = found;
        const jobId = word.kind === "job" ? word.jobId : undefined;
        if (word.hasOtherPrompt)
            return refuse({ cause: "other-prompt", jobId, attempt });
        if (jobId === undefined || word.kind !== "job")
            return refuse({ cause: "pending" });
        if (laterRun?.jobId === jobId)
            return refuse({ cause: "later-run", ...laterRun });
        const wait = { do: "wait", jobId, sent: word.sent, attempt };
        if (!isOpen)
            return wait;
        return record === "unknown" ? { ...wait, unproven: newest } : { ...wait, besides: record.ran };
    }
    const replaces = turn && { replaces: turn.turnId };
    if (!isOpen)
        return { do: "send", ...replaces };
    if (record !== "unknown")
        return refuse({ cause: "unrecorded", attempt: record.ran });
    return keepsWords ? { do: "send", ...replaces, unproven: newest } : refuse({ cause: "unknown", attempt: newest });
}
/** Decides, and asks GitHub for its record only if the answer depends on it. */
async function decideWith(evidence, readRecord) {
    const { silent } = newestWord(evidence);
    const [newest = 0] = silent;
    const records = ["not started", "unknown", { ran: newest }];
    const answers = new Set(records.map((record) => JSON.stringify(decide({ ...evidence, record }))));
    const record = answers.size === 1 ? evidence.record : await readRecord(silent);
    return { decision: decide({ ...evidence, record }), record };
}
/**
 * Returns the newest word that counts, and the attempts after it that left none and may have sent something. A job that is of no
 * use ends the search: what came before it was decided when it was started.
 */
function newestWord({ service, attempts, over }) {
    const hasAnswered = service === "nothing" || (typeof service === "object" && "turnId" in service);
    const silent = [];
    for (const { attempt, word } of attempts) {
        // The service names what an attempt has sent, or has its key when it arrives, and then starts nothing for this one's.
        if (hasAnswered && (word === undefined || word === "unreadable"))
            continue;
        if (word === undefined) {
            silent.push(attempt);
            continue;
        }
        if (word === "unreadable")
            return { found: { attempt, word }, silent };
        if (word.kind === "nothing sent")
            continue;
        if (word.kind === "about to send" && hasAnswered)
            continue;
        if (word.kind === "job" && over.has(word.jobId))
            break;
        return { found: { attempt, word }, silent };
    }
    return { found: undefined, silent };
}
function refuse(reason) {
    return { do: "refuse", ...reason };
}


/***/ }),

/***/ 7631:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   S: () => (/* binding */ maxPullRequests)
/* harmony export */ });
/** How many pull requests a session remembers. */
const maxPullRequests = 20;


/***/ }),

/***/ 1018:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Ef: () => (/* binding */ rerunEffect),
/* harmony export */   aK: () => (/* binding */ askFirst),
/* harmony export */   kg: () => (/* binding */ gather),
/* harmony export */   n2: () => (/* binding */ noEvidence),
/* harmony export */   wu: () => (/* binding */ withoutJob)
/* harmony export */ });
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2012);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(767);
/* harmony import */ var _ask_service_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9816);
/* harmony import */ var _decide_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(8723);
/* harmony import */ var _until_aborted_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8601);





/** Returns the evidence of an attempt that has none before it, or does not care. */
function noEvidence({ ports }) {
    const evidence = {
        service: "mute",
        hadAnnounced: false,
        attempts: [],
        record: "unknown",
        over: new Set(),
        keepsWords: !(0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .isForgetful */ .Te)(ports.environment),
    };
    return { evidence, base: undefined, cacheError: undefined, serviceError: undefined };
}
/**
 * Asks the service what the earlier attempts of the step sent, and reads their words in the cache. Returns a result if nothing
 * may be sent.
 */
async function askFirst({ prompt, write, cache }, run) {
    const { environment } = run.ports;
    const silent = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_2__/* .earlierAttempts */ .TH)(environment).toReversed();
    let read;
    // Read at most once: the prompt and the decision are then made from the same words.
    const readWords = () => {
        read ??=
            cache?.read() ??
                Promise.resolve({
                    attempts: silent.map((attempt) => ({ attempt, word: undefined })),
                    base: undefined,
                    hadAnnounced: undefined,
                    error: undefined,
                });
        return read;
    };
    const answer = await (0,_ask_service_js__WEBPACK_IMPORTED_MODULE_1__/* .askService */ .x)(run, async () => (await readWords()).hadAnnounced);
    if (answer.kind !== "announced")
        return { words: await readWords(), answer, service: answer.kind };
    const { turns } = answer.announcement;
    const [newest] = turns;
    if (!newest)
        return { words: await readWords(), answer, service: "nothing" };
    const words = await readWords();
    const isOnly = turns.length === 1;
    if (prompt === undefined && isOnly)
        return { words, answer, service: turnOf(newest, false) };
    const written = prompt === undefined ? await write(words.base) : { prompt };
    if ("kind" in written)
        return written;
    const same = run.key.find(written.prompt, turns);
    if (same)
        return { words, answer, service: turnOf(same, false) };
    if (isOnly)
        return { words, answer, service: turnOf(newest, true) };
    return { words, answer, service: { several: [...new Set(turns.map(({ jobId }) => jobId))] } };
}
function turnOf({ jobId, turnId, status }, hasOtherPrompt) {
    return { jobId, turnId, hasOtherPrompt, over: status === "failed" || status === "stopped" ? status : undefined };
}
/** Returns the evidence once a job that was waited for turned out to be of no use. */
function withoutJob(evidence, jobId) {
    const { service, over } = evidence;
    const isTurn = typeof service === "object" && "turnId" in service;
    return {
        ...evidence,
        service: isTurn ? { ...service, over: service.over ?? "archived" } : service,
        over: new Set([...over, jobId]),
    };
}
/** Puts together what all places say of the earlier attempts. Never rejects. */
async function gather({ words, answer, service }, places, run) {
    const { session, readThread } = places;
    const thread = await readThread?.();
    const entry = session && (await (0,_until_aborted_js__WEBPACK_IMPORTED_MODULE_3__/* .untilAborted */ .E)(session.find(), run.ports.signal));
    const ownEntry = entry && "entry" in entry && entry.entry && session?.isOwn(entry.entry) ? entry.entry : undefined;
    let { attempts } = words;
    if (ownEntry) {
        const { attempt, jobId, kind: sent } = ownEntry;
        attempts = withWord(attempts, attempt, { kind: "job", jobId, sent });
    }
    if (thread)
        attempts = withThread(attempts, thread);
    const none = noEvidence(run);
    const turns = answer.kind === "announced" ? answer.announcement.turns : [];
    return {
        evidence: {
            ...none.evidence,
            service,
            hadAnnounced: words.hadAnnounced === true,
            attempts,
            over: new Set(turns.map((turn) => turn.jobId)),
            keepsWords: none.evidence.keepsWords && !(thread?.kind === "none" && thread.silence === "doubt"),
            laterRun: session?.laterRun(entry),
        },
        base: words.base,
        cacheError: words.error,
        serviceError: answer.kind === "unreadable" ? answer.error : undefined,
    };
}
const strength = { "about to send": 1, "nothing sent": 2, job: 3 };
function strengthOf(word) {
    return word === undefined || word === "unreadable" ? 0 : strength[word.kind];
}
/** Adds what another place says of an attempt: the stronger word counts. */
function withWord(attempts, attempt, word) {
    return attempts.map((one) => one.attempt === attempt && strengthOf(word) > strengthOf(one.word) ? { attempt, word } : one);
}
/** An attempt that sends something writes the reply first, so that the reply outlives all words before it. */
function withThread(attempts, thread) {
    const fill = (word) => attempts.map((one) => (one.word === undefined ? { ...one, word } : one));
    switch (thread.kind) {
        case "unreadable":
            return fill("unreadable");
        case "none":
            return thread.silence === "proof"
                ? attempts.map(({ attempt }) => ({ attempt, word: { kind: "nothing sent" } }))
                : [...attempts];
        case "reply": {
            const newer = fill({ kind: "nothing sent" }).filter(({ attempt }) => attempt > thread.attempt);
            const cached = attempts.find(({ attempt }) => attempt === thread.attempt)?.word;
            // The reply says that nothing was sent only if that holds for the attempts before, too.
            const isDoubt = thread.word.kind === "about to send" && strengthOf(cached) < strength.job;
            const [own] = isDoubt
                ? [thread]
                : withWord([{ attempt: thread.attempt, word: cached }], thread.attempt, thread.word);
            // A word that the cache has of a newer attempt that named a job ends the search.
            return newer.some(({ word }) => typeof word === "object" && word.kind === "job")
                ? newer
                : [...newer, ...(own ? [{ attempt: own.attempt, word: own.word }] : [])];
        }
    }
}
/** From the most harmful to the least. */
const actions = ["repeats", "stops", "resumes"];
const actionOf = { wait: "resumes", send: "repeats", refuse: "stops" };
/** Returns what a re-run does: what is decided on the evidence that this attempt leaves, at the worst. */
function rerunEffect(evidence, left, { settings, key, state, ports }) {
    const attempt = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_2__/* .runAttempt */ .Tm)(ports.environment);
    if (settings.onRerun === "new" || !key.isLasting)
        return { usable: "repeats", over: "repeats" };
    const isProven = evidence.record === "not started" && left.words.every(Boolean);
    const records = isProven ? ["not started"] : ["unknown", { ran: attempt }];
    const effect = (isOver) => {
        const decisions = left.words.flatMap((word) => {
            const attempts = [{ attempt, word }, ...evidence.attempts];
            const known = { ...evidence, attempts, keepsWords: left.keepsWords };
            return left.services.flatMap((service) => records.map((record) => {
                const next = { ...known, service, record };
                return (0,_decide_js__WEBPACK_IMPORTED_MODULE_4__/* .decide */ .L)(isOver ? withoutJob(next, state.jobId) : next);
            }));
        });
        const found = decisions.map((decision) => actionOf[decision.do]);
        return actions.find((action) => found.includes(action)) ?? "repeats";
    };
    return { usable: effect(false), over: effect(true) };
}


/***/ }),

/***/ 7260:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   bz: () => (/* binding */ askBefore),
/* harmony export */   uZ: () => (/* binding */ openMemory),
/* harmony export */   x: () => (/* binding */ isResuming)
/* harmony export */ });
/* unused harmony export Memory */
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2012);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8039);
/* harmony import */ var _plan_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(6848);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(618);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(767);
/* harmony import */ var _evidence_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(1018);
/* harmony import */ var _session_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(3351);
/* harmony import */ var _until_aborted_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(8601);
/* harmony import */ var _words_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(9062);









/** What is remembered for a step in the Actions cache. */
class Memory {
    /** The words of earlier attempts; `undefined` without a cache that can be read. */
    cache;
    words;
    kind;
    session;
    /** Where the range of changes started that an earlier attempt compared. */
    firstBase;
    #run;
    #openSession;
    constructor(task, run, connected) {
        const { ports, log, settings } = run;
        this.#run = run;
        this.kind = task.kind;
        this.cache = connected && new _words_js__WEBPACK_IMPORTED_MODULE_6__/* .CachedWords */ .O(connected, task, run);
        this.words = new _words_js__WEBPACK_IMPORTED_MODULE_6__/* .OwnWords */ .u({
            ...ports,
            cache: this.isWritable ? this.cache : undefined,
            facts: () => ({
                base: commitOf(this.firstBase ?? run.state.changes?.base),
                announced: run.state.isMute ? false : run.state.features && true,
            }),
            onFailure: (error, isInTime) => log.rerun({ kind: "not-saved", error, isInTime }),
        });
        // A reusable workflow that is called twice has the same steps, told apart by their prompts.
        const step = (0,_hash_js__WEBPACK_IMPORTED_MODULE_1__/* .hash */ .t)(JSON.stringify([run.key.step, task.kind, task.prompt]));
        const hasSession = connected !== undefined && settings.session !== "";
        this.#openSession = (base) => (hasSession ? new _session_js__WEBPACK_IMPORTED_MODULE_5__/* .SessionMemory */ .a(connected, step, run, base) : undefined);
    }
    /** Opens what is remembered of the session; `base`: the branch that its jobs start from. Default: the project's own. */
    openSession(base) {
        this.session = this.#openSession(base);
    }
    get isWritable() {
        return (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .cacheAccess */ .nU)(this.#run.ports.environment) === "write";
    }
    /** Begins to save the job that the step started. */
    begin(sent, jobId) {
        const start = { jobId, sent, isResumed: false, pullRequest: undefined, end: undefined, base: this.#base };
        const session = this.isWritable ? this.session : undefined;
        this.words.begin(sent, jobId, session && (() => session.save(start)));
    }
    /** Waits until everything is saved, with how the job ended for the session, but only for a short time. */
    finish(result, sent, { isResumed = false, hasJob = true } = {}) {
        const session = this.isWritable ? this.session : undefined;
        const { state } = this.#run;
        if (!session || !hasJob || state.jobId === "")
            return this.words.finish();
        const isProven = result.kind === "done" && !state.isUnproven;
        const end = isProven ? (result.status === "completed" ? "completed" : "failed") : undefined;
        const update = {
            ...{ jobId: state.jobId, sent, isResumed, end },
            ...{ pullRequest: state.pullRequest, base: this.#base },
        };
        return this.words.finish(() => session.save(update));
    }
    places(readThread) {
        return { cache: this.cache, session: this.session, readThread };
    }
    get #base() {
        return this.firstBase ?? this.#run.state.changes?.base;
    }
    /** Says what a later attempt, or the next run of the session, will not know. */
    sayWhatIsForgotten() {
        const { log, settings, state, ports } = this.#run;
        const access = (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .cacheAccess */ .nU)(ports.environment);
        const isKnown = settings.onRerun === "new" || state.features !== undefined;
        // Without any cache, only a re-run has something to say: what it can know of the attempts before it.
        const forgetsAttempt = !isKnown && (access !== "absent" || (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_7__/* .runAttempt */ .Tm)(ports.environment) > 1);
        log.forgets({ access, forgetsAttempt, session: settings.session });
    }
}
/**
 * Connects to what is remembered for a step, if the runner offers a cache that can be read.
 *
 * @param hasThread - in comment mode, a cache that no attempt could write says nothing that the thread does not. Default: no
 */
async function openMemory(task, run, hasThread = false) {
    const { environment, connectCache } = run.ports;
    const isUseful = hasThread ? (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .cacheAccess */ .nU)(environment) === "write" : (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .hasCacheService */ .G9)(environment);
    return new Memory(task, run, isUseful ? await connectCache() : undefined);
}
/** Returns whether the step goes by what earlier attempts of the workflow run did. */
function isResuming({ settings, ports }) {
    return settings.onRerun === "resume" && (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_7__/* .runAttempt */ .Tm)(ports.environment) > 1;
}
/**
 * Asks the service what the earlier attempts of the step sent, and reads their words in the cache, before anything else.
 *
 * @param fill - returns the prompt with a section on changes
 */
async function askBefore({ fill, memory }, run) {
    const { settings, ports } = run;
    const write = (firstBase) => (0,_plan_js__WEBPACK_IMPORTED_MODULE_2__/* .writePrompt */ .UW)(fill, run, { lastCommit: undefined, firstBase, ownPullRequests: [] });
    const prompt = settings.changes ? undefined : fill(undefined);
    const replies = await (0,_until_aborted_js__WEBPACK_IMPORTED_MODULE_8__/* .untilAborted */ .E)((0,_evidence_js__WEBPACK_IMPORTED_MODULE_4__/* .askFirst */ .aK)({ prompt, write, cache: memory.cache }, run), ports.signal);
    return replies && !ports.signal.aborted ? replies : _result_js__WEBPACK_IMPORTED_MODULE_3__/* .cancelledBeforeSending */ .xX;
}
/** Returns the full id of a commit; `undefined` for anything else, such as a branch. */
function commitOf(ref) {
    return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}


/***/ }),

/***/ 3351:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   a: () => (/* binding */ SessionMemory),
/* harmony export */   l: () => (/* binding */ readSession)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2012);
/* harmony import */ var _find_job_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(5878);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(8039);
/* harmony import */ var _pull_request_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(8808);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(618);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(767);
/* harmony import */ var _entry_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(7631);
/* harmony import */ var _until_aborted_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(8601);









/** After this many turns in a row that failed, the session leaves the job and its pull request. */
const maxFailures = 2;
/** Remembers the last job of a session across workflow runs, in the repository's Actions cache. */
class SessionMemory {
    #cache;
    #prefix;
    /** `GITHUB_RUN_ID` and `GITHUB_RUN_ATTEMPT`. */
    #runId;
    #attempt;
    #step;
    /** `GITHUB_SHA`, or empty. */
    #commit;
    #environment;
    #found;
    #progress;
    #saved;
    #saves = 0;
    /**
     * @param step - identifies the step and its prompt
     * @param base - the branch that the session's jobs start from. Default: the project's own
     */
    constructor(cache, step, { settings, ports: { environment } }, base) {
        const { baseUrl, projectId, session } = settings;
        this.#cache = cache;
        this.#runId = environment.GITHUB_RUN_ID ?? "";
        this.#attempt = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_5__/* .runAttempt */ .Tm)(environment);
        this.#step = step;
        this.#commit = environment.GITHUB_SHA ?? "";
        this.#environment = environment;
        this.#prefix = `agent-session-${(0,_hash_js__WEBPACK_IMPORTED_MODULE_3__/* .hash */ .t)(JSON.stringify([baseUrl.href, projectId, session, ...(base === undefined ? [] : [base])]))}-`;
    }
    /** Returns the entry that earlier steps saved; `undefined` if there is none. Reads it once. Never rejects. */
    find() {
        this.#found ??= this.#read();
        return this.#found;
    }
    /** Returns whether an earlier attempt of this step saved an entry. */
    isOwn({ run, step }) {
        return this.#attempt > 1 && run === this.#runId && step === this.#step;
    }
    /** Returns the later run that saved an entry, and its job; `undefined` if there is none. */
    laterRun(found) {
        const entry = found && "entry" in found ? found.entry : undefined;
        return entry && isLaterRun(entry.run, this.#runId) ? { run: entry.run, jobId: entry.jobId } : undefined;
    }
    /**
     * Returns how far the session has come.
     *
     * @param status - of its job, which tells how the last turn ended if its run did not see that
     */
    progressOf({ commit, sent, failures }, status) {
        if (sent !== undefined && status === "completed")
            this.#progress = { commit: sent, failures: 0 };
        else
            this.#progress = { commit, failures: failures + (sent !== undefined && status === "failed" ? 1 : 0) };
        return this.#progress;
    }
    /** Returns the number of a pull request in this repository; `undefined` if it is in another one. */
    numberOf(pullRequest) {
        const place = pullRequest && (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_6__/* .locatePullRequest */ .x)(pullRequest, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_5__/* .serverUrl */ .Vd)(this.#environment));
        const repository = (this.#environment.GITHUB_REPOSITORY ?? "").toLowerCase();
        return place && `${place.owner}/${place.repo}`.toLowerCase() === repository ? place.number : undefined;
    }
    /**
     * Saves what this run has done, unless the session remembers it. An entry of a later run stays the newest: of an older run
     * that is re-run, only a job that it created takes the place of the session's last one.
     *
     * @throws if it cannot be saved
     */
    async save(update) {
        const found = await this.find();
        if ("error" in found)
            throw new Error(found.error);
        const earlier = this.#saved ?? found.entry;
        const newest = found.entry && isLaterRun(found.entry.run, this.#runId) ? found.entry : undefined;
        const entry = newest ? this.#replaceJob(newest, update) : this.#next(earlier, update);
        if (entry === undefined || JSON.stringify(entry) === JSON.stringify(earlier))
            return;
        // Two steps of a run may have one session.
        const key = `${this.#prefix}${this.#runId}-${this.#attempt}-${this.#step}-${++this.#saves}`;
        await this.#cache.save(key, JSON.stringify({ version: 1, ...entry }));
        this.#saved = entry;
    }
    #next(earlier, { jobId, sent: kind, pullRequest, end, base }) {
        const isSameJob = earlier?.jobId === jobId;
        const before = this.#saved ?? this.#progress ?? earlier;
        const failures = isSameJob ? (before?.failures ?? 0) : 0;
        const covered = before?.commit ?? commitOf(base);
        const own = commitOf(this.#commit);
        return {
            jobId,
            run: this.#runId,
            step: this.#step,
            attempt: this.#attempt,
            kind,
            commit: end === "completed" ? own : covered,
            sent: end === undefined ? own : undefined,
            failures: end === "completed" ? 0 : failures + (end === "failed" ? 1 : 0),
            pullRequests: this.#withNumber(earlier?.pullRequests ?? [], pullRequest),
        };
    }
    #replaceJob(newest, { jobId, sent, isResumed, pullRequest }) {
        if (sent !== "create" || isResumed || this.#saved?.jobId === jobId)
            return undefined;
        const pullRequests = this.#withNumber(newest.pullRequests, pullRequest);
        return { ...newest, jobId, failures: 0, pullRequests };
    }
    #withNumber(known, pullRequest) {
        const number = this.numberOf(pullRequest);
        return number === undefined || known.includes(number) ? known : [...known, number].slice(-_entry_js__WEBPACK_IMPORTED_MODULE_7__/* .maxPullRequests */ .S);
    }
    async #read() {
        try {
            const text = await this.#cache.restore(this.#prefix);
            if (text === undefined)
                return { entry: undefined };
            const { parseSessionEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(389)]).then(__webpack_require__.bind(__webpack_require__, 3389));
            return { entry: parseSessionEntry(text) };
        }
        catch (error) {
            // An entry that cannot be used will not become usable, so the session continues without it.
            return error instanceof _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__/* .CacheEntryError */ .Tw ? { entry: undefined } : { error: (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error) };
        }
    }
}
/** Returns whether a run began after another one: GitHub counts their ids up. */
function isLaterRun(run, other) {
    return Number(run) > Number(other);
}
/** Returns the full id of a commit; `undefined` for anything else, such as a branch. */
function commitOf(ref) {
    return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}
/**
 * Reads the session's job: its record names its pull request, which does not count as a change, and says how its last turn ended.
 * A dry run goes by the entry alone. Returns a result if nothing may be sent. Never rejects.
 */
async function readSession(session, firstBase, run) {
    const found = await (0,_until_aborted_js__WEBPACK_IMPORTED_MODULE_8__/* .untilAborted */ .E)(session.find(), run.ports.signal);
    if (!found)
        return _result_js__WEBPACK_IMPORTED_MODULE_4__/* .cancelledBeforeSending */ .xX;
    if ("error" in found)
        return { kind: "blocked", cause: "session", detail: found.error };
    const { entry } = found;
    const { dryRun, session: name } = run.settings;
    const ownPullRequests = entry?.pullRequests ?? [];
    if (!entry) {
        if (!dryRun)
            run.log.session({ kind: "first-job" }, name);
        return { lastCommit: undefined, firstBase, ownPullRequests, findContinued: async () => undefined };
    }
    const { jobId } = entry;
    if (dryRun) {
        const findContinued = async () => ({ jobId, isReplaceable: true });
        return { lastCommit: entry.commit, firstBase, ownPullRequests, findContinued };
    }
    const job = await readSessionJob(entry, run);
    if ("kind" in job)
        return job;
    const progress = session.progressOf(entry, job.status);
    const number = session.numberOf(job.pullRequest);
    return {
        lastCommit: progress.commit,
        firstBase,
        ownPullRequests: [...new Set([...ownPullRequests, ...(number === undefined ? [] : [number])])],
        findContinued: () => continuationOf(jobId, job, progress, run),
    };
}
async function readSessionJob({ jobId }, run) {
    const { state } = run;
    const result = await (0,_find_job_js__WEBPACK_IMPORTED_MODULE_2__/* .findJob */ .p)(jobId, run);
    const { pullRequest } = state;
    if (result !== "gone" && result.kind !== "done" && result.kind !== "started")
        return result;
    state.forgetJob();
    if (result === "gone")
        return { status: "not found", pullRequest: undefined };
    return { status: result.kind === "done" ? result.status : "active", pullRequest };
}
/** Returns how to continue a job; `undefined` if the session leaves it. */
async function continuationOf(jobId, { status, pullRequest }, { failures }, run) {
    const say = (event) => run.log.session(event, run.settings.session);
    if (status === "active") {
        say({ kind: "job-active", jobId });
        return { jobId, isReplaceable: true };
    }
    if (status === "archived" || status === "not found" || !pullRequest) {
        say({ kind: "job-over", jobId, reason: status === "completed" ? "no pull request" : status });
        return undefined;
    }
    // Loaded here, because few runs of a session find a job that has ended.
    const { readPullRequestState } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(840)]).then(__webpack_require__.bind(__webpack_require__, 6840));
    const state = await readPullRequestState(pullRequest, run);
    const isOver = state === "merged" || state === "closed";
    if (status === "failed" && failures >= maxFailures && !isOver) {
        say({ kind: "failed-again", jobId, pullRequest, failures });
        return undefined;
    }
    say({ kind: "pull-request", jobId, pullRequest, state });
    return isOver ? undefined : { jobId, isReplaceable: true, isDoubtful: status === "failed", pullRequest };
}


/***/ }),

/***/ 8601:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   E: () => (/* binding */ untilAborted)
/* harmony export */ });
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


/***/ }),

/***/ 9062:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   O: () => (/* binding */ CachedWords),
/* harmony export */   rememberInvalidInputs: () => (/* binding */ rememberInvalidInputs),
/* harmony export */   u: () => (/* binding */ OwnWords)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2012);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8039);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);




/** How long a request waits for the entry that says that it is about to be sent, in milliseconds. */
const maxHoldMs = 3000;
/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled, in milliseconds: soon after that, the runner kills it. */
const maxWaitAfterCancelMs = 2000;
/** The words in the keys of entries. A later one outranks those before it, in whatever order they arrive. */
const states = ["pending", "not-sent", "job"];
const stateOf = { "about to send": "pending", "nothing sent": "not-sent", job: "job" };
/**
 * The words of the attempts of a step, in the repository's Actions cache. Each state of an attempt has a key of its own, because
 * entries of a run do not arrive in the order in which they were saved.
 */
class CachedWords {
    #cache;
    #attempt;
    /** The prefix of the keys of all entries of the step. */
    #prefix;
    /** The part of the keys of entries with this prompt that follows the state. */
    #prompt;
    #inputsPrefix;
    #saves = 0;
    constructor(cache, task, { settings, key, ports: { environment } }) {
        this.#cache = cache;
        this.#attempt = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment);
        this.#prefix = `agent-job-${key.step}-`;
        this.#prompt = (0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([task.kind, task.prompt]));
        this.#inputsPrefix = (attempt) => invalidInputsPrefix(settings.matrixLeg, environment, attempt);
    }
    /** Reads what the earlier attempts left. Never rejects. */
    async read() {
        const read = { attempts: [], base: undefined, hadAnnounced: undefined, error: undefined };
        let attempt = this.#attempt - 1;
        try {
            const isEmpty = (await this.#cache.restore(this.#prefix)) === undefined;
            for (; attempt >= 1; attempt--) {
                const { word, entry } = isEmpty ? {} : await this.#wordOf(attempt);
                if (read.hadAnnounced !== true)
                    read.hadAnnounced = entry?.announced ?? read.hadAnnounced;
                read.base ??= entry?.base;
                const hadInvalidInputs = !word && (await this.#cache.restore(this.#inputsPrefix(attempt))) !== undefined;
                read.attempts.push({ attempt, word: hadInvalidInputs ? { kind: "nothing sent" } : word });
                if (word?.kind === "job")
                    return read;
            }
        }
        catch (error) {
            read.error = (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error);
            for (; attempt >= 1; attempt--)
                read.attempts.push({ attempt, word: "unreadable" });
        }
        return read;
    }
    /**
     * Saves a word of this attempt.
     *
     * @throws if it cannot be saved
     */
    async save(word, entry) {
        const jobId = word.kind === "job" ? { jobId: word.jobId } : {};
        const { sent, ...others } = entry;
        const text = JSON.stringify({ version: 1, attempt: this.#attempt, sent, ...jobId, ...others });
        // A key can be used only once, also by a save that failed.
        const key = `${this.#keyOf(this.#attempt, stateOf[word.kind])}${this.#prompt}-${++this.#saves}`;
        await this.#cache.save(key, text);
    }
    async #wordOf(attempt) {
        for (const [hasOtherPrompt, prompt] of [
            [false, this.#prompt],
            [true, ""],
        ]) {
            const texts = await Promise.all(states.map((state) => this.#cache.restore(this.#keyOf(attempt, state) + prompt)));
            const index = texts.findLastIndex((text) => text !== undefined);
            const state = states[index];
            if (state === undefined)
                continue;
            // Loaded here, because only a re-run reads what the attempt before it saved.
            const { parseWordEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(770)]).then(__webpack_require__.bind(__webpack_require__, 3389));
            const entry = parseWordEntry(texts[index] ?? "");
            if (!entry || (state === "job" && entry.jobId === undefined))
                throw new Error("the entry is not usable");
            const { jobId = "", sent } = entry;
            if (state === "not-sent")
                return { word: { kind: "nothing sent" }, entry };
            if (state === "pending")
                return { word: { kind: "about to send", hasOtherPrompt }, entry };
            return { word: { kind: "job", jobId, sent, hasOtherPrompt }, entry };
        }
        return {};
    }
    #keyOf(attempt, state) {
        return `${this.#prefix}${attempt}-${state}-`;
    }
}
/** Saves the words of this attempt while it waits for the job, so that the step waits for the cache only at its start and end. */
class OwnWords {
    #ports;
    #announced;
    #doubted;
    #job;
    #isReadOnly = false;
    /** What was saved, and what may have been. */
    #fates = [];
    constructor(ports) {
        this.#ports = ports;
    }
    /** Whether the cache service has refused to save anything in this run. */
    get isReadOnly() {
        return this.#isReadOnly;
    }
    /** What a later attempt may find as the word of this one: every word that outranks what it will find for certain. */
    get fates() {
        const rank = (word) => (word ? states.indexOf(stateOf[word.kind]) : -1);
        const saved = this.#fates.filter(({ fate }) => fate === "saved").map(({ word }) => word);
        const certain = saved.toSorted((one, other) => rank(other) - rank(one))[0];
        const unknown = this.#fates.filter(({ word, fate }) => fate === "unknown" && rank(word) > rank(certain));
        return [certain, ...unknown.map(({ word }) => word)];
    }
    /**
     * Says that a request is about to be sent, so that a runner that is lost at any moment leaves a trace. Waits until that is
     * saved, but only for a short time. Returns whether it is.
     */
    async announce(sent) {
        const { clock, signal, cache, onFailure } = this.#ports;
        if (!cache)
            return false;
        if (this.#announced)
            return this.#isAnnounced;
        const fail = once((error) => onFailure(error, true));
        this.#announced = this.#save({ kind: "about to send" }, sent, fail);
        const settled = new AbortController();
        void this.#announced.then(() => settled.abort());
        await clock.sleep(maxHoldMs, AbortSignal.any([settled.signal, signal]));
        if (!settled.signal.aborted && !signal.aborted)
            fail(new Error("the cache service did not respond in time"));
        return this.#isAnnounced;
    }
    /**
     * Begins to save a job that this attempt started.
     *
     * @param saveSession - saves it for the session. Default: there is none
     */
    begin(sent, jobId, saveSession) {
        const fail = once((error) => this.#ports.onFailure(error, false));
        const session = saveSession?.().then(() => true, (error) => {
            fail(error);
            return false;
        });
        const saves = Promise.all([this.#saveIfPossible({ kind: "job", jobId, sent }, sent, fail), session]);
        this.#job = saves.then(([isSaved]) => isSaved);
    }
    /** Begins to save a job that this attempt waits for, as its own: later ones need not look at those before it. */
    adopt(sent, jobId) {
        this.#job ??= this.#saveIfPossible({ kind: "job", jobId, sent }, sent, () => { });
    }
    /**
     * Begins to save that it is unknown whether the service accepted a request, unless an entry says so already, or one that
     * says so or names the job is being saved. Once that has failed, it can be tried again.
     */
    doubt(sent) {
        const { cache, onFailure } = this.#ports;
        if (!cache || this.#isAnnounced || this.#doubted || this.#job)
            return;
        this.#doubted = this.#save({ kind: "about to send" }, sent, (error) => onFailure(error, false));
        void this.#doubted.then((isSaved) => {
            if (!isSaved)
                this.#doubted = undefined;
        });
    }
    /** Says that nothing was started, and waits until that is saved, but only for a short time. */
    async withdraw(sent) {
        if (!this.#ports.cache || this.#isReadOnly)
            return;
        const saving = this.#save({ kind: "nothing sent" }, sent, () => { });
        await untilSettled(saving, this.#ports);
    }
    /**
     * Waits until everything is saved, but only for a short time.
     *
     * @param saveEnd - saves the end for the session. Default: nothing
     */
    async finish(saveEnd) {
        const { onFailure } = this.#ports;
        const complete = async () => {
            const isJobSaved = await this.#job;
            await saveEnd?.().catch((error) => onFailure(error, false));
            // If no entry names the job, a later attempt has to find that something was sent.
            if (!isJobSaved)
                await Promise.all([this.#announced, this.#doubted]);
        };
        const late = await untilSettled(complete(), this.#ports);
        if (late)
            onFailure(late, false);
    }
    get #isAnnounced() {
        return this.#fates.some(({ word, fate }) => word.kind === "about to send" && fate === "saved");
    }
    async #saveIfPossible(...save) {
        return this.#ports.cache ? this.#save(...save) : false;
    }
    /** Returns whether the word is saved, and reports why it is not. */
    async #save(word, sent, onFailure) {
        const entry = { word, fate: "unknown" };
        this.#fates.push(entry);
        try {
            await this.#ports.cache?.save(word, { sent, ...this.#ports.facts() });
            entry.fate = "saved";
            return true;
        }
        catch (error) {
            if (error instanceof _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__/* .CacheReadOnlyError */ .pj) {
                this.#isReadOnly = true;
                entry.fate = "refused";
            }
            onFailure(error);
            return false;
        }
    }
}
/** Waits for saves, but only for a short time. Returns why it no longer waits; `undefined` if they are settled. */
async function untilSettled(saves, { clock, signal }) {
    const settled = new AbortController();
    void saves.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    // A job that is forgotten because the step is cancelled would be started twice.
    if (signal.aborted)
        await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (settled.signal.aborted)
        return undefined;
    const cancelled = "the step was cancelled before the cache service had confirmed it";
    return new Error(signal.aborted ? cancelled : "the cache service did not respond in time");
}
/** Returns a function that only acts on its first call. */
function once(act) {
    let isDone = false;
    return (error) => {
        if (!isDone)
            act(error);
        isDone = true;
    };
}
/** Returns the prefix of the key that says that an attempt had invalid inputs, which it could not be told apart by. */
function invalidInputsPrefix(matrixLeg, environment, attempt) {
    const { GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
    return `agent-job-inputs-${(0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([GITHUB_RUN_ID, GITHUB_JOB, GITHUB_ACTION, matrixLeg]))}-${attempt}-`;
}
/**
 * Remembers that this attempt sent nothing, because its inputs were invalid: a missing secret is added, and the run is
 * re-run. Never rejects; without the entry, the re-run asks GitHub.
 */
async function rememberInvalidInputs(matrixLeg, ports) {
    const { environment, connectCache, signal } = ports;
    if ((0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__/* .cacheAccess */ .nU)(environment) !== "write" || signal.aborted)
        return;
    const key = `${invalidInputsPrefix(matrixLeg, environment, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment))}1`;
    const save = async () => (await connectCache()).save(key, JSON.stringify({ version: 1 }));
    await untilSettled(save().catch(() => { }), ports);
}


/***/ }),

/***/ 6848:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Fo: () => (/* binding */ runPlan),
/* harmony export */   UW: () => (/* binding */ writePrompt),
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
        const { findSection } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(125), __webpack_require__.e(336)]).then(__webpack_require__.bind(__webpack_require__, 4336));
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
 * Plans what to send.
 *
 * @param create - `replaces`: the turn of an earlier attempt that it takes the place of; `base`: the branch that a new job starts from
 */
function planTasks(prompt, continued, { replaces, base }) {
    const create = { kind: "create", prompt, base, replaces };
    if (continued === undefined)
        return { task: create };
    const task = { kind: "message", jobId: continued.jobId, prompt, replaces };
    return continued.isReplaceable ? { task, continued, otherwise: create } : { task };
}
/**
 * Sends what is planned, and the create in place of a follow-up whose job is not found, or rejects it.
 *
 * @param runTask - never rejects
 * @param onReplaced - called before the create takes the place of a follow-up
 * @returns the last task that was run, and its result
 */
async function runPlan({ task, otherwise, continued }, run, runTask, onReplaced) {
    const result = await runTask(task);
    if (!otherwise || !continued)
        return { task, result };
    const isRefused = continued.isDoubtful === true && (0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isRejected */ .TK)(result);
    if ((0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isJobNotFound */ .tl)(result, run.state)) {
        if (!(await (0,_find_job_js__WEBPACK_IMPORTED_MODULE_0__/* .isStillGone */ .U)(continued.jobId, run))) {
            // It was not found by mistake, so that nothing was sent to it.
            return { task, result: run.ports.signal.aborted ? _result_js__WEBPACK_IMPORTED_MODULE_1__/* .cancelledBeforeSending */ .xX : await runTask(task) };
        }
    }
    else if (!isRefused)
        return { task, result };
    onReplaced((0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isJobNotFound */ .tl)(result, run.state) ? "not found" : "rejected", continued);
    run.state.forgetJob();
    return { task: otherwise, result: await runTask(otherwise) };
}


/***/ }),

/***/ 790:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   J: () => (/* binding */ openConnection),
/* harmony export */   U: () => (/* binding */ connectGitHub)
/* harmony export */ });
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(767);

/** Connects to the runner's GitHub. */
function connectGitHub({ settings, ports, log }) {
    return ports.connectGitHub(settings.githubToken, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_0__/* .apiUrl */ .y0)(ports.environment), (trace) => log.trace(trace));
}
/** Opens the connection for the create or message that follows soon. Never throws: errors show when that is sent. */
function openConnection({ settings: { baseUrl }, ports }) {
    try {
        ports.connect(baseUrl.protocol).open?.(baseUrl);
    }
    catch {
        // Nor do the proxy settings have to be valid yet.
    }
}


/***/ }),

/***/ 5050:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  E: () => (/* binding */ sendOnce),
  sendTask: () => (/* binding */ sendTask)
});

// EXTERNAL MODULE: ./build/client/submit.js + 1 modules
var client_submit = __webpack_require__(9099);
// EXTERNAL MODULE: ./build/runner-kit/text.js
var runner_kit_text = __webpack_require__(9563);
;// CONCATENATED MODULE: ./build/action/changes/add-section.js
/** Marks the place of the changes in a prompt. */
const placeholder = /\{\{\s*changes\s*\}\}/g;
/**
 * Puts a section at the prompt's `{{ changes }}`, or at its end. An empty section leaves nothing there; without a section,
 * the prompt stays as it is.
 */
function addSection(prompt, section) {
    if (section === undefined)
        return prompt;
    if (prompt.search(placeholder) !== -1)
        return prompt.replace(placeholder, () => section);
    return section === "" ? prompt : `${prompt}\n\n${section}`;
}

// EXTERNAL MODULE: ./build/action/find-job.js
var find_job = __webpack_require__(5878);
// EXTERNAL MODULE: ./build/action/memory/ask-service.js
var ask_service = __webpack_require__(9816);
// EXTERNAL MODULE: ./build/action/memory/decide.js
var decide = __webpack_require__(8723);
// EXTERNAL MODULE: ./build/action/memory/evidence.js
var memory_evidence = __webpack_require__(1018);
// EXTERNAL MODULE: ./build/action/memory/memory.js
var memory = __webpack_require__(7260);
// EXTERNAL MODULE: ./build/action/memory/session.js
var memory_session = __webpack_require__(3351);
// EXTERNAL MODULE: ./build/action/plan.js
var action_plan = __webpack_require__(6848);
// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
// EXTERNAL MODULE: ./build/action/run.js
var run = __webpack_require__(790);
// EXTERNAL MODULE: ./build/action/run-job.js + 2 modules
var run_job = __webpack_require__(9010);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var environment = __webpack_require__(767);
// EXTERNAL MODULE: ./build/action/connect-service.js + 5 modules
var connect_service = __webpack_require__(4501);
;// CONCATENATED MODULE: ./build/action/stop-turn.js

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
        const client = (0,connect_service/* connectService */.U)(run);
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
        if (state.stop !== undefined)
            return { ...result, acceptance: "accepted" };
        state.stop = "unreached";
        return result;
    }
}
function isOfJob({ jobId }, known) {
    return known === "" || jobId === known;
}

;// CONCATENATED MODULE: ./build/action/send-once.js















/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job that an earlier attempt
 * started. It sends the request again only if that job failed, was archived or is gone, which is what a re-run asks for.
 */
async function sendOnce(request, run) {
    return new Sending(request, run).run();
}
/** The same for the prompt of the workflow. */
async function sendTask(task, run) {
    const fill = (section) => addSection(task.prompt, section);
    const jobId = task.kind === "message" ? task.jobId : "";
    return sendOnce({ jobId, fill, memory: await (0,memory/* openMemory */.uZ)(task, run) }, run);
}
/** One request, from what is known of it to its end. */
class Sending {
    #request;
    #run;
    #memory;
    #found;
    /** Whether it is known that nothing of use was sent before. */
    #isSettled = false;
    constructor(request, run) {
        this.#request = request;
        this.#run = run;
        this.#memory = request.memory;
        this.#found = (0,memory_evidence/* noEvidence */.n2)(run);
    }
    async run() {
        const { conversation, fill } = this.#request;
        const isResumed = (0,memory/* isResuming */.x)(this.#run);
        const isRerun = (0,environment/* runAttempt */.Tm)(this.#run.ports.environment) > 1;
        // In a thread, what has nothing to say leaves no trace.
        const early = conversation && !isResumed ? await (0,action_plan/* writePrompt */.UW)(fill, this.#run) : undefined;
        if (early && "kind" in early)
            return this.#withdraw(early, { isShown: false });
        const start = await (0,action_plan/* findStart */.kI)(this.#run);
        if ("kind" in start)
            return this.#withdraw(start, { isShown: false });
        this.#memory.openSession(start.base);
        if (isResumed) {
            const failed = await this.#gather();
            if (failed)
                return this.#withdraw(failed);
        }
        else if (isRerun)
            await this.#passOver();
        for (;;) {
            const decision = await this.#decide();
            if (isRerun && this.#isAborted)
                return this.#withdraw(action_result/* cancelledBeforeSending */.xX);
            if (decision.do === "refuse")
                return this.#refuse(decision);
            if (decision.do === "send") {
                this.#isSettled = true;
                return this.#send(decision, start.base, early);
            }
            const ended = await this.#wait(decision);
            if (ended)
                return ended;
        }
    }
    get #isAborted() {
        return this.#run.ports.signal.aborted;
    }
    /**
     * With `on-rerun: new`, lets the request take the place of the newest turn that the service knows. So it has the key that any later
     * attempt would give it, until it has arrived.
     */
    async #passOver() {
        const answer = await (0,ask_service/* askService */.x)(this.#run);
        const [newest] = answer.kind === "announced" ? answer.announcement.turns : [];
        if (newest)
            this.#know({ service: { ...newest, over: "ignored", hasOtherPrompt: false } });
    }
    async #gather() {
        const { conversation } = this.#request;
        const replies = this.#request.replies ?? (await (0,memory/* askBefore */.bz)(this.#request, this.#run));
        if ("kind" in replies)
            return replies;
        const places = this.#memory.places(conversation && (() => conversation.read()));
        this.#found = await (0,memory_evidence/* gather */.kg)(replies, places, this.#run);
        this.#memory.firstBase = this.#found.base;
        return this.#isAborted ? action_result/* cancelledBeforeSending */.xX : undefined;
    }
    async #decide() {
        const readRecord = async (attempts) => {
            // Loaded here, because few re-runs find no word of the attempts before them.
            const { readStepRecord } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(919)]).then(__webpack_require__.bind(__webpack_require__, 9919));
            return readStepRecord(attempts, this.#run);
        };
        const { decision, record } = await (0,decide/* decideWith */.R)(this.#found.evidence, readRecord);
        this.#know({ record });
        return decision;
    }
    #know(known) {
        this.#found = { ...this.#found, evidence: { ...this.#found.evidence, ...known } };
    }
    async #refuse({ do: _, ...reason }) {
        const result = this.#blocked(reason);
        const { settings } = this.#run;
        return this.#withdraw(settings.dryRun ? { kind: "skipped", reason: "dry-run", plan: result } : result);
    }
    #blocked(reason) {
        const { cacheError, serviceError } = this.#found;
        if (reason.cause === "service")
            return { kind: "blocked", ...reason, error: serviceError };
        if (reason.cause !== "unreadable")
            return { kind: "blocked", ...reason };
        return cacheError === undefined
            ? { kind: "blocked", cause: "thread" }
            : { kind: "blocked", cause: "memory", detail: cacheError };
    }
    /** Waits for the job of an earlier attempt; `undefined` if that is of no use. */
    async #wait(decision) {
        const { log, state, settings, ports } = this.#run;
        const { conversation } = this.#request;
        const { jobId, sent } = decision;
        const attempt = (0,environment/* runAttempt */.Tm)(ports.environment);
        const isTurn = "turnId" in decision;
        const besides = isTurn ? undefined : decision.besides;
        if (settings.dryRun)
            return this.#tellWait(decision);
        if (isTurn) {
            log.rerun({ kind: "resuming-turn", jobId, attempt, hasOtherPrompt: decision.hasOtherPrompt });
        }
        else
            log.rerun({ kind: "resuming", jobId, attempt, earlierAttempt: decision.attempt, besides });
        const turn = isTurn ? { turnId: decision.turnId } : {};
        const task = { kind: "attach", jobId, resumes: sent, ...turn };
        await conversation?.resume(jobId);
        // A word of its own would hide what another attempt may have sent.
        const isAdopted = isTurn || (besides ?? decision.unproven) === undefined;
        const kind = isTurn ? this.#sentTo(jobId) : sent;
        const result = await this.#resume(task, () => isAdopted && this.#memory.words.adopt(kind, jobId));
        if (result) {
            if (!isAdopted)
                await this.#memory.words.withdraw(kind);
            else
                this.#memory.words.adopt(kind, jobId);
            await this.#memory.finish(result, kind, { isResumed: true });
            return this.#end(result, task);
        }
        state.forgetJob();
        this.#know((0,memory_evidence/* withoutJob */.wu)(this.#found.evidence, jobId));
        return undefined;
    }
    /** Returns what was sent to the job of a turn, as far as a word says it. */
    #sentTo(jobId) {
        const words = this.#found.evidence.attempts.map(({ word }) => word);
        const own = words.find((word) => typeof word === "object" && word.kind === "job" && word.jobId === jobId);
        return typeof own === "object" && own.kind === "job" ? own.sent : this.#memory.kind;
    }
    /**
     * Waits for the job of an earlier attempt. Returns `undefined` if that had already failed, is archived or is gone, so that
     * the request is sent again. After a message the first record may show the state from before it, so only a wait can tell. A
     * comment is a request of its own: what failed has failed.
     */
    async #resume(task, onUsable) {
        const { settings, state, log } = this.#run;
        const isComment = this.#request.conversation !== undefined;
        const isLook = settings.wait && !isComment && task.resumes !== "message";
        const look = () => this.#runTask(task, isLook ? { wait: false } : {});
        const startOver = (reason) => {
            log.rerun({ kind: "starting-over", jobId: task.jobId, reason });
        };
        let result = await look();
        if ((0,action_result/* isJobNotFound */.tl)(result, state)) {
            if (await (0,find_job/* isStillGone */.U)(task.jobId, this.#run))
                return startOver("not found");
            // It was not found by mistake.
            result = await look();
        }
        const isFirst = state.timeline.length === 1;
        if (result.kind === "done" && state.status === "archived" && (isComment ? task.turnId !== undefined : isFirst))
            return startOver("archived");
        // A turn that failed before this attempt is not waited for, so this one failed just now.
        const hasFailed = result.kind === "done" && result.status === "failed";
        if (hasFailed && isFirst && task.turnId === undefined && !isComment)
            return startOver("failed");
        onUsable();
        return result.kind === "started" && isLook ? this.#runTask(task) : result;
    }
    #runTask(task, options = {}) {
        const { conversation } = this.#request;
        return (0,run_job/* runJob */.b)(task, this.#run, {
            ...options,
            onJobId: (jobId) => {
                options.onJobId?.(jobId);
                conversation?.remember(jobId);
                conversation?.showJob();
            },
            onPolled: () => conversation?.showProgress(),
        });
    }
    async #send({ replaces, unproven }, base, early) {
        const { settings, state, ports, log } = this.#run;
        const { conversation, jobId } = this.#request;
        const { words, isWritable } = this.#memory;
        state.forgetJob();
        const { service } = this.#found.evidence;
        if (typeof service === "object" && "turnId" in service && (service.over === "failed" || service.over === "stopped"))
            log.rerun({ kind: "starting-over", jobId: service.jobId, reason: service.over });
        if (!conversation && !isWritable)
            this.#memory.sayWhatIsForgotten();
        else if (!conversation && settings.session !== "" && (0,environment/* isOnTag */.KI)(ports.environment))
            log.sessionOnTag();
        const remembered = await this.#readSession();
        if ("kind" in remembered)
            return this.#withdraw(remembered);
        const written = early ?? (await (0,action_plan/* writePrompt */.UW)(this.#request.fill, this.#run, remembered));
        if ("kind" in written)
            return this.#withdraw(written);
        const kept = settings.dryRun ? undefined : await conversation?.announce();
        const continued = jobId !== "" ? { jobId } : await (conversation ?? remembered).findContinued(base);
        const plan = (0,action_plan/* planTasks */.s$)(written.prompt, continued, { replaces, base });
        if (settings.dryRun)
            return this.#tellPlan(plan);
        const leftMs = (state.startedAt ?? ports.clock.now()) + settings.timeoutMs - ports.clock.now();
        if (conversation && leftMs < client_submit/* minTimeLeftMs */.x3)
            return this.#withdraw({ kind: "blocked", cause: "time" });
        // A service that can be asked knows what it was sent.
        const { kind } = plan.task;
        const isAnnounced = state.features === undefined;
        if (isAnnounced)
            (0,run/* openConnection */.J)(this.#run);
        const isSaved = isAnnounced && (await words.announce(kind));
        if (kept === "lost" && !isSaved && state.features === undefined) {
            // Only a service that knows what it is sent keeps the word then. A re-run has asked it.
            if (!(0,memory/* isResuming */.x)(this.#run))
                await (0,ask_service/* askService */.x)(this.#run);
            if (state.features === undefined)
                return this.#withdraw({ kind: "blocked", cause: "unwitnessed" });
        }
        // The earlier attempt could not leave a word either.
        if (words.isReadOnly && unproven !== undefined)
            return this.#withdraw({ kind: "blocked", cause: "unknown", attempt: unproven }, { isSettled: false });
        return this.#runPlan(plan);
    }
    /** Runs a plan, and keeps what it has sent. */
    async #runPlan(plan) {
        const { ports, log, settings } = this.#run;
        const { conversation } = this.#request;
        const { words } = this.#memory;
        let hasJob = false;
        const { task, result: ended } = await (0,action_plan/* runPlan */.Fo)(plan, this.#run, async (each) => {
            const onAbort = () => words.doubt(each.kind);
            ports.signal.addEventListener("abort", onAbort, { once: true });
            const onJobId = (jobId) => {
                hasJob = true;
                this.#memory.begin(each.kind, jobId);
            };
            conversation?.pend();
            const result = await this.#runTask(each, { onJobId });
            ports.signal.removeEventListener("abort", onAbort);
            return result;
        }, (reason, { jobId, pullRequest }) => {
            if (conversation)
                return conversation.replaceJob();
            log.rerun({ kind: "starting-over", jobId, reason });
            if (reason === "rejected" && pullRequest)
                log.session({ kind: "rejected", jobId, pullRequest }, settings.session);
        });
        if ((0,action_result/* acceptanceOf */.BL)(ended) === "rejected")
            return this.#withdraw(ended, { task });
        // The job of a message in doubt is not remembered: its state would say nothing about the message.
        words.doubt(task.kind);
        // After a signal, both have the same two seconds.
        const [result] = await Promise.all([
            stopOwnTurn(task, ended, this.#run),
            this.#memory.finish(ended, task.kind, { hasJob }),
        ]);
        return this.#end(result, task);
    }
    /** Reads what is remembered of the session, and the job that it may continue. */
    async #readSession() {
        const { session, firstBase } = this.#memory;
        if (session && !this.#request.conversation)
            return (0,memory_session/* readSession */.l)(session, firstBase, this.#run);
        return { lastCommit: undefined, firstBase, ownPullRequests: [], findContinued: async () => undefined };
    }
    /** Ends a run that sent nothing, and remembers that. In a thread, that must not hide what an earlier attempt may have sent. */
    async #withdraw(result, { task, isShown = true, isSettled = this.#isSettled, } = {}) {
        if (isSettled)
            this.#request.conversation?.withdraw();
        await this.#memory.words.withdraw(this.#memory.kind);
        const { finish, ...execution } = this.#end(result, task);
        return { ...execution, ...(isShown && finish && { finish }) };
    }
    #end(result, task) {
        const { conversation } = this.#request;
        return {
            result,
            ...(task && { task }),
            rerun: this.#effect(result),
            ...(conversation && !this.#run.settings.dryRun && { finish: (ending) => conversation.finish(ending) }),
        };
    }
    /** Returns what a re-run does, by what this attempt leaves. */
    #effect(result) {
        const { state } = this.#run;
        const { evidence } = this.#found;
        const { words } = this.#memory;
        const { conversation } = this.#request;
        const inThread = conversation?.word;
        const { jobId } = state;
        const turn = { jobId, turnId: "", over: undefined, hasOtherPrompt: false };
        const acceptance = result.kind === "crashed" ? "unknown" : (0,action_result/* acceptanceOf */.BL)(result);
        const before = evidence.service === "mute" ? "nothing" : evidence.service;
        const services = acceptance === "unknown" ? [turn, before] : [turn];
        const left = {
            words: inThread ? [inThread] : words.fates,
            // What the service says then, if it can be asked.
            services: state.features === undefined
                ? [evidence.service]
                : jobId === "" || acceptance === "rejected"
                    ? [before]
                    : services,
            // Without a word in the thread, what is left there is a doubt.
            keepsWords: evidence.keepsWords && !words.isReadOnly && !conversation?.hasThread,
        };
        return (0,memory_evidence/* rerunEffect */.Ef)(evidence, left, this.#run);
    }
    async #tellWait(decision) {
        const { jobId } = decision;
        const { evidence } = this.#found;
        const next = (0,decide/* decide */.L)((0,memory_evidence/* withoutJob */.wu)(evidence, jobId));
        const attempt = "attempt" in decision ? decision.attempt : undefined;
        const plan = [
            ...(attempt === undefined
                ? (0,runner_kit_text/* say */.cv) `It would wait for job ${jobId}, which an earlier attempt of this workflow run started.`
                : (0,runner_kit_text/* say */.cv) `It would wait for job ${jobId}, which attempt ${attempt} of this workflow run started.`),
            ...(next.do === "send" && !this.#request.conversation
                ? (0,runner_kit_text/* say */.cv) ` If that job is of no use, it would send the prompt again.`
                : []),
        ];
        return this.#tell(plan, { kind: "attach", jobId });
    }
    async #tellPlan({ task, otherwise }) {
        const { settings } = this.#run;
        if (task.kind === "create")
            return this.#tell((0,runner_kit_text/* say */.cv) `It would create a job with this prompt.`, task);
        const { jobId } = task;
        if (!otherwise)
            return this.#tell((0,runner_kit_text/* say */.cv) `It would send this prompt to job ${jobId} as a follow-up.`, task);
        return this.#tell(this.#request.conversation
            ? (0,runner_kit_text/* say */.cv) `It would send this prompt to job ${jobId}, which the thread remembers. If the job is gone, it would create one.`
            : (0,runner_kit_text/* say */.cv) `It would send this prompt to job ${jobId}, the last of the session ${settings.session}, while the job is active or its pull request is open. Otherwise it would create a job.`, task);
    }
    async #tell(plan, task) {
        if (task && task.kind !== "attach")
            this.#run.log.dryRun(task.prompt);
        return this.#withdraw({ kind: "skipped", reason: "dry-run", plan }, { task });
    }
}


/***/ }),

/***/ 2012:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $p: () => (/* binding */ cacheProtocol),
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
/** Returns the protocol of the cache service, by the rules of `@actions/cache`. */
function cacheProtocol(environment) {
    const isV2 = environment.ACTIONS_CACHE_SERVICE_V2 && !isEnterpriseServer(environment.GITHUB_SERVER_URL);
    return isV2 ? "v2" : "v1";
}
function isOffered(environment) {
    const { ACTIONS_RESULTS_URL, ACTIONS_RUNTIME_TOKEN, ACTIONS_CACHE_URL } = environment;
    // act offers v1 without a token.
    return Boolean(cacheProtocol(environment) === "v2" ? ACTIONS_RESULTS_URL && ACTIONS_RUNTIME_TOKEN : ACTIONS_CACHE_URL);
}
function isEnterpriseServer(serverUrl) {
    const hostname = URL.parse(serverUrl || "https://github.com")?.hostname ?? "";
    return hostname !== "github.com" && !hostname.endsWith(".ghe.com") && !hostname.endsWith(".localhost");
}


/***/ })

};
