export const id = 591;
export const ids = [591,62,6];
export const modules = {

/***/ 4959:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   F: () => (/* binding */ isMerge),
/* harmony export */   a: () => (/* binding */ jobsOf)
/* harmony export */ });
const trailer = /^Agent-Job: (job_[\w-]+)$/m;
const addition = /^(?:-+|[\w-]+: .*)$/;
const merge = /^Merge (?:branch|remote-tracking branch|pull request #\d+ from) /;
const isMerge = (message) => merge.test(message);
function jobsOf(message) {
    const [, ...paragraphs] = message
        .replaceAll("\r\n", "\n")
        .trimEnd()
        .split(/\n\s*\n/);
    const isList = paragraphs[0]?.startsWith("* ");
    const items = [];
    for (const paragraph of paragraphs) {
        if (items.length === 0 || (isList && paragraph.startsWith("* ")))
            items.push([]);
        items.at(-1)?.push(paragraph);
    }
    const made = items
        .filter(([title = ""]) => !(isList && isMerge(title.slice(2))))
        .map((item) => {
        const last = item.findLast((one) => trailer.test(one) || !one.split("\n").every((line) => addition.test(line)));
        return trailer.exec(last ?? "")?.[1];
    });
    const jobs = made.filter((job) => job !== undefined);
    return jobs.length < made.length ? [] : jobs;
}


/***/ }),

/***/ 9816:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   e: () => (/* binding */ acceptsSections),
/* harmony export */   x: () => (/* binding */ askService)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _client_retry_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1992);
/* harmony import */ var _client_submit_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9099);
/* harmony import */ var _run_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(9863);




const askLimitMs = 20_000;
const pauseMs = 500;
const minDenials = 2;
async function askService(run, hadAnnounced = async () => undefined, maxOutageMs = askLimitMs) {
    const { announcement: known, session, askedSession } = run.state;
    if (known && session === askedSession && !run.settings.dryRun)
        return { kind: "announced", announcement: known };
    const answer = await ask(run, hadAnnounced, maxOutageMs);
    return known && answer.kind === "mute" ? { kind: "announced", announcement: known } : answer;
}
async function acceptsSections(hasSections, run) {
    const { settings, state } = run;
    if (settings.dryRun)
        return false;
    if (settings.agent)
        return true;
    const hasAny = hasSections || state.refusal !== "" || state.author !== "";
    if (hasAny && state.features === undefined && !state.isMute)
        await askService(run);
    return state.features?.has("sections") === true;
}
async function ask(run, hadAnnounced, maxOutageMs) {
    const { state, settings, ports } = run;
    const { clock, random, signal } = ports;
    if ((settings.dryRun && !settings.agent) || !(0,_run_js__WEBPACK_IMPORTED_MODULE_3__/* .canBeAsked */ .uU)(run))
        return { kind: "mute" };
    state.startedAt ??= clock.now();
    const limits = { deadline: state.startedAt + settings.timeoutMs, signal };
    const askedAt = clock.now();
    const client = (0,_run_js__WEBPACK_IMPORTED_MODULE_3__/* .connectService */ .Ux)(run);
    let denials = 0;
    for (let attempt = 0;; attempt++) {
        let failure;
        try {
            const announcement = await client.lookUpStep(run.key.of(""), limits, state.session, state.claimsSession);
            if (announcement) {
                state.features = announcement.features;
                state.announcement = announcement;
                state.askedSession = state.session;
                return { kind: "announced", announcement };
            }
            denials++;
        }
        catch (error) {
            if (!(0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .isRequestError */ .eK)(error))
                throw error;
            failure = error;
        }
        if (signal.aborted)
            return { kind: "unreadable", error: failure };
        const had = settings.agent ? true : await hadAnnounced();
        const isDenied = failure ? !(0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .isTransientPollFailure */ .KR)(failure) : true;
        if (had === false ? isDenied : had === undefined && failure === undefined && denials >= minDenials) {
            state.isMute = true;
            return { kind: "mute" };
        }
        const delayMs = Math.max(pauseMs, (0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .backoffMs */ .jo)(attempt, random()), failure ? (0,_client_submit_js__WEBPACK_IMPORTED_MODULE_2__/* .retryAfterMs */ .Vs)(failure) : 0);
        const isOutage = failure !== undefined && (0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .isTransientPollFailure */ .KR)(failure);
        if (clock.now() + delayMs >= Math.min(limits.deadline, askedAt + (isOutage ? maxOutageMs : askLimitMs)))
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
function decide(evidence) {
    const { service, record, hadAnnounced, keepsWords, laterRun } = evidence;
    const { found, silent, other, asked } = newestWord(evidence);
    const isOthers = asked.length === 0 || record === "not started";
    if (other && !isOthers)
        return refuse(other);
    const own = typeof service === "object" && "turnId" in service ? service : undefined;
    const turn = own?.hasOtherPrompt && isOthers ? undefined : own;
    if (turn && turn.over === undefined)
        return { do: "wait", jobId: turn.jobId, sent: "message", turnId: turn.turnId };
    const [newest] = silent;
    const isOpen = newest !== undefined && record !== "not started";
    if (service === "unreadable" && (hadAnnounced || isOpen))
        return refuse({ cause: "service" });
    if (found?.word === "unreadable")
        return refuse({ cause: "unreadable" });
    if (found && found.word.kind !== "nothing sent") {
        const { word, attempt } = found;
        if (word.kind !== "job")
            return refuse({ cause: "pending" });
        const { jobId } = word;
        if (laterRun?.jobId === jobId)
            return refuse({ cause: "later-run", run: laterRun.run, jobId });
        const { kind: _, hasOtherPrompt: __, ...known } = word;
        const wait = { do: "wait", ...known, attempt };
        if (!isOpen)
            return wait;
        return record === "unknown" ? { ...wait, unproven: newest } : { ...wait, besides: record.ran };
    }
    const hasWork = turn?.over === "failed" && (turn.isKept || turn.isUnfinished);
    const replaces = turn && {
        replaces: turn.request,
        ...(hasWork && { to: turn.jobId, ...(turn.isKept && { publishes: true }) }),
    };
    if (!isOpen)
        return { do: "send", ...replaces };
    if (record !== "unknown")
        return refuse({ cause: "unrecorded", attempt: record.ran });
    return keepsWords ? { do: "send", ...replaces, unproven: newest } : refuse({ cause: "unknown", attempt: newest });
}
async function decideWith(evidence, readRecord) {
    const { asked } = newestWord(evidence);
    const [newest = 0] = asked;
    const records = ["not started", "unknown", { ran: newest }];
    const answers = new Set(records.map((record) => JSON.stringify(decide({ ...evidence, record }))));
    const record = answers.size === 1 ? evidence.record : await readRecord(asked);
    return { decision: decide({ ...evidence, record }), record };
}
function newestWord({ service, attempts, over }) {
    const turns = typeof service === "object" ? service : undefined;
    const hasAnswered = service === "nothing" || turns !== undefined;
    let other = turns && otherOf(turns);
    const silent = [];
    const covered = [];
    const end = (found) => {
        const isForeign = turns && ("several" in turns || turns.hasOtherPrompt);
        return { found, silent, other, asked: isForeign ? [...silent, ...covered].sort((a, b) => b - a) : silent };
    };
    for (const { attempt, word } of attempts) {
        if (typeof word === "object" && word.kind === "nothing sent") {
            if (word.hasOtherPrompt)
                covered.push(attempt);
            continue;
        }
        if (hasAnswered && !(typeof word === "object" && word.kind === "job" && word.sent === "create")) {
            covered.push(attempt);
            continue;
        }
        if (word === undefined)
            silent.push(attempt);
        else if (word === "unreadable")
            return end({ attempt, word });
        else if (word.kind === "job" && over.has(word.jobId)) {
            if (!word.hasOtherPrompt)
                break;
            covered.push(attempt);
        }
        else if (!word.hasOtherPrompt)
            return end({ attempt, word });
        else {
            silent.push(attempt);
            other ??= { cause: "other-prompt", jobId: word.kind === "job" ? word.jobId : undefined, attempt };
        }
    }
    return end();
}
function otherOf(service) {
    if ("several" in service)
        return { cause: "several-turns", jobIds: service.several };
    if (!service.hasOtherPrompt || service.over !== undefined)
        return undefined;
    return { cause: "other-prompt", jobId: service.jobId, attempt: undefined };
}
function refuse(reason) {
    return { do: "refuse", ...reason };
}


/***/ }),

/***/ 1018:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Ef: () => (/* binding */ rerunEffect),
/* harmony export */   bz: () => (/* binding */ askBefore),
/* harmony export */   kg: () => (/* binding */ gather),
/* harmony export */   n2: () => (/* binding */ noEvidence),
/* harmony export */   wu: () => (/* binding */ withoutJob),
/* harmony export */   yJ: () => (/* binding */ blockedBy)
/* harmony export */ });
/* unused harmony export isJob */
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2012);
/* harmony import */ var _plan_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(6848);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(618);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);
/* harmony import */ var _ask_service_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(9816);
/* harmony import */ var _decide_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(8723);
/* harmony import */ var _wait_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(9006);
/* harmony import */ var _words_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(9062);








function noEvidence({ ports }) {
    const keepsWords = !(0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .isForgetful */ .Te)(ports.environment);
    return { service: "mute", hadAnnounced: false, attempts: [], record: "unknown", over: new Set(), keepsWords };
}
function blockedBy({ do: _, ...reason }, { words, answer } = {}) {
    if (reason.cause === "service")
        return { kind: "blocked", cause: "service", error: answer?.kind === "unreadable" ? answer.error : undefined };
    if (reason.cause !== "unreadable")
        return { kind: "blocked", ...reason };
    if (words?.error === undefined)
        return { kind: "blocked", cause: "thread" };
    return { kind: "blocked", cause: "memory", detail: words.error };
}
async function askBefore(source, run) {
    const { signal } = run.ports;
    const asked = ask(source, source.memory.cache, run).catch((error) => {
        if (error instanceof _result_js__WEBPACK_IMPORTED_MODULE_2__/* .AgentError */ .Yv)
            return (0,_result_js__WEBPACK_IMPORTED_MODULE_2__/* .agentFailed */ .$q)(error);
        throw error;
    });
    const replies = await (0,_wait_js__WEBPACK_IMPORTED_MODULE_6__.untilAborted)(asked, signal);
    return replies && !signal.aborted ? replies : _result_js__WEBPACK_IMPORTED_MODULE_2__/* .cancelledWhileLooking */ .Mk;
}
async function ask(source, cache, run) {
    let read;
    const readWords = () => {
        read ??= cache?.read() ?? Promise.resolve(noWords(run));
        return read;
    };
    const answer = await (0,_ask_service_js__WEBPACK_IMPORTED_MODULE_4__/* .askService */ .x)(run, async () => (await readWords()).hadAnnounced);
    const words = await readWords();
    if (answer.kind !== "announced")
        return { words, answer, service: answer.kind };
    const { turns } = answer.announcement;
    const [newest, ...older] = turns;
    if (!newest)
        return { words, answer, service: "nothing" };
    const isOnly = older.length === 0;
    const isWhole = (run.settings.changes || source.readThread) && !run.state.features?.has("sections");
    const isNamed = words.attempts.some(({ word }) => isJob(word) && !word.hasOtherPrompt && word.jobId === newest.jobId);
    if (isWhole && isOnly && (source.readThread || isNamed))
        return { words, answer, service: turnOf(newest, false) };
    const firstBase = words.base;
    const written = isWhole
        ? await (0,_plan_js__WEBPACK_IMPORTED_MODULE_1__/* .writePrompt */ .UW)(source, run, { ..._plan_js__WEBPACK_IMPORTED_MODULE_1__/* .nothingRemembered */ .aw, firstBase })
        : { whole: (0,_plan_js__WEBPACK_IMPORTED_MODULE_1__/* .promptApart */ .dB)(source, run) };
    if ("kind" in written && !isOnly)
        return written;
    const same = "kind" in written ? undefined : run.key.find(written.whole, turns);
    if (same)
        return { words, answer, service: turnOf(same, false) };
    if (isOnly)
        return { words, answer, service: turnOf(newest, true) };
    return { words, answer, service: { several: [...new Set(turns.map(({ jobId }) => jobId))] } };
}
function noWords({ ports }) {
    const newest = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(ports.environment) - 1;
    const attempts = Array.from({ length: newest }, (_, index) => ({ attempt: newest - index, word: undefined }));
    return { attempts, base: undefined, covers: undefined, hadAnnounced: undefined, error: undefined };
}
function turnOf({ jobId, turnId, request, status, isKept, isUnfinished }, hasOtherPrompt) {
    return {
        jobId,
        turnId,
        request,
        hasOtherPrompt,
        isKept,
        isUnfinished,
        over: status === "failed" || status === "stopped" ? status : undefined,
    };
}
function withoutJob(evidence, jobId) {
    const { service, over } = evidence;
    const isTurn = typeof service === "object" && "turnId" in service;
    return {
        ...evidence,
        service: isTurn ? { ...service, over: service.over ?? "archived" } : service,
        over: new Set([...over, jobId]),
    };
}
async function gather({ words, answer, service }, session, readThread, run) {
    const thread = await readThread?.();
    const found = session && (await (0,_wait_js__WEBPACK_IMPORTED_MODULE_6__.untilAborted)(session.find(), run.ports.signal));
    const entry = found && "entry" in found ? found.entry : undefined;
    let { attempts } = words;
    if (entry && session?.isOwn(entry))
        attempts = withWord(attempts, entry.attempt, { kind: "job", jobId: entry.jobId, sent: entry.kind });
    if (thread)
        attempts = withThread(attempts, thread);
    const none = noEvidence(run);
    const turns = answer.kind === "announced" ? answer.announcement.turns : [];
    return {
        ...none,
        service,
        hadAnnounced: words.hadAnnounced === true || run.settings.agent !== undefined,
        attempts: run.settings.agent ? noWords(run).attempts : attempts,
        over: new Set(turns.map((turn) => turn.jobId)),
        keepsWords: none.keepsWords && !(thread?.kind === "none" && thread.silence === "doubt"),
        laterRun: thread?.kind === "reply" ? thread.laterRun : entry && session?.laterRun(entry),
    };
}
function withWord(attempts, attempt, word) {
    return attempts.map((one) => one.attempt === attempt && (0,_words_js__WEBPACK_IMPORTED_MODULE_5__/* .strengthOf */ .N)(word) > (0,_words_js__WEBPACK_IMPORTED_MODULE_5__/* .strengthOf */ .N)(one.word) ? { attempt, word } : one);
}
function withThread(attempts, thread) {
    const fill = (word) => attempts.map((one) => (one.word === undefined ? { ...one, word } : one));
    switch (thread.kind) {
        case "unreadable":
            return fill("unreadable");
        case "none":
            return thread.silence === "proof"
                ? attempts.map((one) => (typeof one.word === "object" ? one : { ...one, word: { kind: "nothing sent" } }))
                : [...attempts];
        case "reply": {
            const newer = fill({ kind: "nothing sent" }).filter(({ attempt }) => attempt > thread.attempt);
            const cached = attempts.find(({ attempt }) => attempt === thread.attempt)?.word;
            const isDoubt = thread.word.kind === "about to send" && !isJob(cached);
            const word = isDoubt || (0,_words_js__WEBPACK_IMPORTED_MODULE_5__/* .strengthOf */ .N)(thread.word) > (0,_words_js__WEBPACK_IMPORTED_MODULE_5__/* .strengthOf */ .N)(cached) ? thread.word : cached;
            return [...newer, { attempt: thread.attempt, word }];
        }
    }
}
function isJob(word) {
    return typeof word === "object" && word.kind === "job";
}
const actions = ["repeats", "stops", "resumes"];
const actionOf = { wait: "resumes", send: "repeats", refuse: "stops" };
function rerunEffect(evidence, { words, keepsWords, acceptance }, { settings, key, state, ports }) {
    const attempt = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(ports.environment);
    if (settings.onRerun === "new" || !key.isLasting)
        return { usable: "repeats", over: "repeats" };
    const turn = {
        jobId: state.jobId,
        turnId: "",
        over: undefined,
        request: "",
        hasOtherPrompt: false,
        isKept: false,
        isUnfinished: false,
    };
    const before = evidence.service === "mute" && (state.features ?? settings.agent) ? "nothing" : evidence.service;
    const isKnown = state.features !== undefined && state.jobId !== "" && acceptance !== "rejected";
    const services = isKnown ? (acceptance === "unknown" ? [turn, before] : [turn]) : [before];
    const left = settings.agent ? [undefined] : words;
    const isProven = evidence.record === "not started" && left.every(Boolean);
    const records = isProven ? ["not started"] : ["unknown", { ran: attempt }];
    const effect = (isOver) => {
        const decisions = left.flatMap((word) => services.flatMap((service) => records.map((record) => {
            const attempts = [{ attempt, word }, ...evidence.attempts];
            const next = { ...evidence, attempts, keepsWords, service, record };
            return (0,_decide_js__WEBPACK_IMPORTED_MODULE_7__/* .decide */ .L)(isOver ? withoutJob(next, state.jobId) : next);
        })));
        const found = decisions.map((decision) => actionOf[decision.do]);
        return actions.find((action) => found.includes(action)) ?? "repeats";
    };
    return { usable: effect(false), over: effect(true) };
}


/***/ }),

/***/ 7260:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   uZ: () => (/* binding */ openMemory),
/* harmony export */   x: () => (/* binding */ isResuming)
/* harmony export */ });
/* unused harmony export Memory */
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2012);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__ = __webpack_require__(9563);
/* harmony import */ var _commit_of_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(3538);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8039);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(618);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);
/* harmony import */ var _ask_service_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(9816);
/* harmony import */ var _session_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(3351);
/* harmony import */ var _wait_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(9006);
/* harmony import */ var _words_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(9062);










const maxHoldMs = 3000;
class Memory {
    cache;
    kind;
    session;
    firstBase;
    firstCovers;
    isReadOnly = false;
    #run;
    #openSession;
    #saves = [];
    #announced;
    #doubted;
    #job;
    #sight;
    #seen = 0;
    constructor(task, run, connected, hasThread) {
        this.#run = run;
        this.kind = task.kind;
        const hasWords = !run.settings.agent || run.settings.changes !== undefined;
        this.cache = connected && hasWords ? (0,_words_js__WEBPACK_IMPORTED_MODULE_6__/* .cachedWords */ .K)(connected, task, run) : undefined;
        const step = (0,_hash_js__WEBPACK_IMPORTED_MODULE_1__/* .hash */ .t)(JSON.stringify([run.key.step, task.kind, task.prompt]));
        const ofSessions = hasThread ? undefined : connected;
        this.#openSession = (session) => ofSessions && (0,_session_js__WEBPACK_IMPORTED_MODULE_5__/* .sessionMemory */ .Ul)(ofSessions, step, session, run.ports.environment);
    }
    openSession(base) {
        const { state, key } = this.#run;
        state.session = key.sessionOf(base);
        this.session = state.session === undefined ? undefined : this.#openSession(state.session);
    }
    get isWritable() {
        return (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .cacheAccess */ .nU)(this.#run.ports.environment) === "write";
    }
    get words() {
        const saved = this.#saves.filter(({ fate }) => fate === "saved").map(({ word }) => word);
        const certain = saved.toSorted((one, other) => (0,_words_js__WEBPACK_IMPORTED_MODULE_6__/* .strengthOf */ .N)(other) - (0,_words_js__WEBPACK_IMPORTED_MODULE_6__/* .strengthOf */ .N)(one))[0];
        const unknown = this.#saves.filter(({ word, fate }) => fate === "unknown" && (0,_words_js__WEBPACK_IMPORTED_MODULE_6__/* .strengthOf */ .N)(word) > (0,_words_js__WEBPACK_IMPORTED_MODULE_6__/* .strengthOf */ .N)(certain));
        return [certain, ...unknown.map(({ word }) => word)];
    }
    async announce() {
        if (!this.#writable)
            return false;
        const { clock, signal } = this.#run.ports;
        const fail = (error) => this.#run.log.notSaved(error, true);
        this.#announced = this.#save({ kind: "about to send" }, fail);
        const settled = new AbortController();
        void this.#announced.then(() => settled.abort());
        await clock.sleep(maxHoldMs, AbortSignal.any([settled.signal, signal]));
        if (!settled.signal.aborted && !signal.aborted)
            fail(new Error("the cache service did not respond in time"));
        return this.#isAnnounced;
    }
    begin(sent, jobId) {
        const start = { jobId, sent, pullRequest: undefined, end: undefined };
        const isKnown = sent === "message" && this.#run.settings.agent;
        const isDoubtful = !this.#run.state.hasRecord || undefined;
        const saves = Promise.all([
            this.#save(this.#wordOf(sent, jobId, { isDoubtful })),
            isKnown || this.#saveSession(start),
        ]);
        this.#job = saves.then(([isSaved]) => isSaved);
    }
    adopt({ sent, jobId, ...known }) {
        if (this.#seen === 0)
            this.#seen = known.isDone ? 2 : known.wasSeen ? 1 : 0;
        this.#job ??= this.#save(this.#wordOf(sent, jobId, known), () => { });
    }
    see(sent, jobId, isDone) {
        const seen = isDone ? 2 : sent === "message" ? 1 : 0;
        if (seen <= this.#seen || this.#run.state.features)
            return;
        this.#seen = seen;
        const { pullRequest, isUnchanged, unproven, endedWithout } = this.#run.state;
        const isUnproven = (unproven ?? endedWithout) !== undefined || undefined;
        const done = isDone && { isDone, isUnproven, isUnchanged: isUnchanged || undefined, pullRequest: pullRequest?.url };
        const word = this.#wordOf(sent, jobId, { ...(sent === "message" && { wasSeen: true }), ...done });
        const save = () => this.#save(word, () => { });
        if (this.#job)
            this.#sight = Promise.all([this.#job, this.#sight]).then(([isSaved]) => isSaved === true && save());
        else
            this.#job = save();
    }
    doubt() {
        if (this.#isAnnounced || this.#doubted || this.#job)
            return;
        this.#doubted = this.#save({ kind: "about to send" });
        void this.#doubted.then((isSaved) => {
            if (!isSaved)
                this.#doubted = undefined;
        });
    }
    async withdraw() {
        if (!this.#writable || this.isReadOnly)
            return;
        await (0,_wait_js__WEBPACK_IMPORTED_MODULE_7__/* .untilSettled */ .Q)(this.#save({ kind: "nothing sent" }, () => { }), this.#run.ports);
    }
    async finish(result, sent, { hasJob = true, stopping } = {}) {
        const { state, settings } = this.#run;
        const { jobId } = state;
        let isKept = false;
        const complete = async () => {
            const isCancelled = result.kind === "cancelled";
            const last = settings.agent && isCancelled ? result : ((await stopping?.catch(() => result)) ?? result);
            const isStopped = isCancelled && (settings.agent || state.stop === "stopped");
            const { pullRequest } = state;
            const ended = (0,_result_js__WEBPACK_IMPORTED_MODULE_2__/* .endOf */ .pJ)(last, state) ?? (isStopped ? "stopped" : settings.agent && "failed");
            const end = ended === "failed" && state.failure?.isKept ? "kept" : ended;
            if (this.#job && end)
                this.see(sent, jobId, end === "completed" || undefined);
            const isJobSaved = await this.#job;
            if (hasJob && jobId !== "")
                await this.#saveSession({ jobId, sent, end, pullRequest });
            if (!isJobSaved)
                await Promise.all([this.#announced, this.#doubted]);
            isKept = true;
            await this.#sight;
        };
        if (result.kind === "timed-out")
            await stopping?.catch(() => result);
        const late = await (0,_wait_js__WEBPACK_IMPORTED_MODULE_7__/* .untilSettled */ .Q)(complete(), this.#run.ports);
        if (late && !isKept)
            this.#tell(late);
    }
    #wordOf(sent, jobId, known) {
        return { kind: "job", jobId, sent, ...known, ...(sent === "message" && { before: this.#run.state.before }) };
    }
    get #writable() {
        return this.isWritable ? this.cache : undefined;
    }
    get #isAnnounced() {
        return this.#saves.some(({ word, fate }) => word.kind === "about to send" && fate === "saved");
    }
    get #base() {
        const { changes } = this.#run.state;
        return this.firstBase ?? (changes?.root ? _commit_of_js__WEBPACK_IMPORTED_MODULE_8__/* .wholeHistory */ .q : changes?.base);
    }
    get #covers() {
        const { origin, changes } = this.#run.state;
        if (origin === "resumed")
            return this.firstCovers;
        return changes?.continues ? (0,_commit_of_js__WEBPACK_IMPORTED_MODULE_8__/* .commitOf */ .D)(changes.head) : undefined;
    }
    #tell = (error) => this.#run.log.notSaved(error, false);
    async #saveSession(update) {
        const isResumed = this.#run.state.origin === "resumed";
        const about = { isResumed, base: this.#base, covers: this.#covers };
        if (this.isWritable)
            await this.session?.save({ ...update, ...about }).catch(this.#tell);
    }
    async #save(word, onFailure = this.#tell) {
        if (!this.#writable)
            return false;
        const { features, isMute } = this.#run.state;
        const save = { word, fate: "unknown" };
        this.#saves.push(save);
        try {
            const facts = { base: (0,_commit_of_js__WEBPACK_IMPORTED_MODULE_8__/* .commitOf */ .D)(this.#base), covers: this.#covers };
            await this.#writable.save(word, { ...facts, announced: isMute ? false : features && true });
            save.fate = "saved";
            return true;
        }
        catch (error) {
            if (error instanceof _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .CacheReadOnlyError */ .pj) {
                this.isReadOnly = true;
                save.fate = "refused";
            }
            onFailure(error);
            return false;
        }
    }
    async sayWhatIsForgotten() {
        const { log, settings, state, ports } = this.#run;
        const access = (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .cacheAccess */ .nU)(ports.environment);
        if (settings.onRerun !== "new" && access !== "absent")
            await (0,_ask_service_js__WEBPACK_IMPORTED_MODULE_4__/* .askService */ .x)(this.#run);
        const isKnown = settings.onRerun === "new" || state.features !== undefined;
        const [why, remedy] = unwritable[access];
        if (!isKnown && access !== "absent") {
            log.notice((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .message */ .iU) `
        A re-run may not find the job
        ${why} So a re-run of this workflow run sends nothing, unless GitHub says that this step did not run (permissions: actions: read). To wait for the job, run the action with its job-id.`);
        }
        else if (!isKnown && (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(ports.environment) > 1) {
            log.notice((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .message */ .iU) `
        Re-run without a memory
        ${why} So this attempt cannot know what an earlier one started, and GitHub did not say that it ran this step. It sends the request.`);
        }
        if (settings.session !== "" && !state.features?.has("session"))
            log.notice((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .message */ .iU) `
        Session without a memory
        ${why} So the session cannot remember the job of this run. ${remedy}`);
    }
}
const unwritable = {
    read: [
        (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .say */ .cv) `GitHub lets runs of this event only read the Actions cache.`,
        (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .say */ .cv) `Run it on schedule, push or workflow_dispatch.`,
    ],
    none: [(0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .say */ .cv) `ACTIONS_CACHE_MODE keeps this run from the Actions cache.`, (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .say */ .cv) `Let the job read and write the cache.`],
    absent: [
        (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .say */ .cv) `The runner offers no cache service.`,
        (0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_9__/* .say */ .cv) `Run it on a runner with a cache service, or with a service that knows sessions.`,
    ],
    write: [[], []],
};
async function openMemory(task, run, hasThread = false) {
    const { environment, connectCache } = run.ports;
    const isUseful = hasThread ? (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .cacheAccess */ .nU)(environment) === "write" : (0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_0__/* .hasCacheService */ .G9)(environment);
    return new Memory(task, run, isUseful ? await connectCache() : undefined, hasThread);
}
function isResuming({ settings, ports }) {
    return settings.onRerun === "resume" && (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(ports.environment) > 1;
}


/***/ }),

/***/ 3351:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Ul: () => (/* binding */ sessionMemory),
/* harmony export */   XH: () => (/* binding */ untilFree),
/* harmony export */   eN: () => (/* binding */ tellOfLeft),
/* harmony export */   g9: () => (/* binding */ jobOfService),
/* harmony export */   lx: () => (/* binding */ readSession)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _client_retry_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(1992);
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(2012);
/* harmony import */ var _runner_kit_text_js__WEBPACK_IMPORTED_MODULE_12__ = __webpack_require__(9563);
/* harmony import */ var _runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4436);
/* harmony import */ var _commit_of_js__WEBPACK_IMPORTED_MODULE_9__ = __webpack_require__(3538);
/* harmony import */ var _plan_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(6848);
/* harmony import */ var _pull_request_js__WEBPACK_IMPORTED_MODULE_10__ = __webpack_require__(8808);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(618);
/* harmony import */ var _run_job_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(8429);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(767);
/* harmony import */ var _ask_service_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(9816);
/* harmony import */ var _wait_js__WEBPACK_IMPORTED_MODULE_11__ = __webpack_require__(9006);













const maxFailures = 2;
const maxUnfinished = 3;
const maxReadMs = 180_000;
const busyPauseMs = 15_000;
const maxPullRequests = 20;
function sessionMemory(cache, step, session, environment) {
    const { GITHUB_RUN_ID: runId = "", GITHUB_SHA: sha } = environment;
    const attempt = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_7__/* .runAttempt */ .Tm)(environment);
    const prefix = `agent-session-${session}-`;
    const damaged = { entry: undefined, damaged: prefix };
    let found;
    let progress;
    let lastPullRequest;
    let saved;
    let saves = 0;
    const read = async () => {
        try {
            const text = await cache.restore(prefix);
            if (text === undefined)
                return { entry: undefined };
            const { parseSessionEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(389)]).then(__webpack_require__.bind(__webpack_require__, 3389));
            const entry = parseSessionEntry(text);
            return entry && entry.pullRequests.length <= maxPullRequests ? { entry } : damaged;
        }
        catch (error) {
            return error instanceof _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_2__/* .CacheEntryError */ .Tw ? damaged : { error: (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error) };
        }
    };
    const withNumbers = (known, ...pullRequests) => {
        const numbers = pullRequests.flatMap((one) => numberOf(one, environment) ?? []);
        return [...new Set([...known, ...numbers])].slice(-maxPullRequests);
    };
    const nextEntry = (earlier, update) => {
        const { jobId, sent: kind, isResumed, pullRequest, end, base, covers } = update;
        const before = saved ?? (isResumed ? undefined : progress) ?? earlier;
        const failures = earlier?.jobId === jobId ? (before?.failures ?? 0) : 0;
        return {
            jobId,
            run: runId,
            step,
            attempt,
            kind,
            commit: (end === "completed" ? covers : undefined) ?? before?.commit ?? (0,_commit_of_js__WEBPACK_IMPORTED_MODULE_9__/* .commitOf */ .D)(base),
            sent: end === undefined ? { covers } : undefined,
            failures: end === "completed" ? 0 : failures + (end === "failed" ? 1 : 0),
            pullRequests: withNumbers(earlier?.pullRequests ?? [], lastPullRequest, pullRequest),
        };
    };
    const replaceJob = (newest, update) => {
        const { jobId, sent: kind, isResumed, pullRequest } = update;
        const pullRequests = withNumbers(newest.pullRequests, lastPullRequest, pullRequest);
        if (newest.jobId === jobId)
            return { ...newest, pullRequests };
        if (kind !== "create" || isResumed || saved?.jobId === jobId)
            return undefined;
        const commit = progress?.commit ?? newest.commit;
        return { ...newest, jobId, step, kind, commit, sent: undefined, failures: 0, pullRequests };
    };
    const find = () => {
        found ??= read();
        return found;
    };
    return {
        find,
        forget: () => {
            found = undefined;
        },
        isOwn: ({ run, step: by }) => run === runId && by === step,
        hasTold: ({ run, step: by, commit, sent }) => run === runId && by === step && sha !== undefined && (commit === sha || sent?.covers === sha),
        laterRun: ({ run, step: other, jobId }) => isLaterRun(run, runId) && other !== step ? { run, jobId } : undefined,
        progressOf: ({ commit, sent, failures }, { status, isKept = false, pullRequest }, isTold = false) => {
            lastPullRequest = pullRequest;
            if (sent !== undefined && status === "completed")
                progress = { commit: isTold ? commit : (sent.covers ?? commit), failures: 0 };
            else
                progress = { commit, failures: failures + (sent !== undefined && status === "failed" && !isKept ? 1 : 0) };
            return progress;
        },
        save: async (update) => {
            if (update.end !== undefined)
                found = undefined;
            const known = await find();
            if ("error" in known)
                throw new Error(known.error);
            const earlier = saved ?? known.entry;
            const newest = known.entry && isLaterRun(known.entry.run, runId) ? known.entry : undefined;
            const entry = newest ? replaceJob(newest, update) : nextEntry(earlier, update);
            const isKnown = (one) => JSON.stringify(entry) === JSON.stringify(one);
            if (entry === undefined || isKnown(saved) || isKnown(known.entry))
                return;
            await cache.save(`${prefix}${runId}-${attempt}-${step}-${++saves}`, JSON.stringify({ version: 1, ...entry }));
            saved = entry;
        },
    };
}
function numberOf(pullRequest, environment) {
    const place = pullRequest && (0,_pull_request_js__WEBPACK_IMPORTED_MODULE_10__/* .locatePullRequest */ .x)(pullRequest, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_7__/* .serverUrl */ .Vd)(environment));
    const repository = (environment.GITHUB_REPOSITORY ?? "").toLowerCase();
    return place && `${place.owner}/${place.repo}`.toLowerCase() === repository ? place.number : undefined;
}
function isLaterRun(run, other) {
    return Number(run) > Number(other);
}
async function readSession(session, firstBase, run) {
    const nothing = { ..._plan_js__WEBPACK_IMPORTED_MODULE_4__/* .nothingRemembered */ .aw, jobId: undefined, firstBase, findContinued: async () => undefined };
    if (session === null || run.state.session === undefined)
        return nothing;
    const { dryRun: isDryRun } = run.settings;
    const found = session ? await (0,_wait_js__WEBPACK_IMPORTED_MODULE_11__.untilAborted)(session.find(), run.ports.signal) : { entry: undefined };
    if (!found)
        return _result_js__WEBPACK_IMPORTED_MODULE_5__/* .cancelledBeforeSending */ .xX;
    const isSaved = "entry" in found && found.entry !== undefined && found.entry.sent === undefined;
    const isSure = isSaved && run.settings.agent !== undefined && run.state.announcement === undefined;
    const isFree = isDryRun || isSure || (await untilFree(run));
    if (isFree === "changed")
        session?.forget();
    if (isFree !== true)
        return isFree;
    if ("damaged" in found)
        tell(`the newest cache entry, ${found.damaged}…, is passed over: it is not usable`, run);
    const entry = "entry" in found ? found.entry : undefined;
    const ofService = entry && (isDryRun || isSure) ? { jobId: undefined } : await newestJob(entry?.jobId, run);
    if ("kind" in ofService)
        return ofService;
    const jobId = ofService.jobId ?? entry?.jobId;
    const isKnown = jobId !== undefined || run.state.features?.has("session");
    if ("error" in found && !isKnown)
        return { kind: "blocked", cause: "session", detail: found.error };
    const { commit, pullRequests = [] } = entry ?? {};
    const { sessionJobs = [], sessionCovers: covered, turns = [] } = run.state.announcement ?? {};
    const known = {
        isOfSession: true,
        jobId,
        firstBase,
        lastCommit: commit,
        covered: covered ?? [],
        isOwn: (entry && session?.hasTold(entry)) || turns.some(({ status }) => status === "completed"),
        ownJobs: [...new Set([...sessionJobs, ...(jobId === undefined ? [] : [jobId])])],
        ownPullRequests: pullRequests,
    };
    if (jobId === undefined) {
        if (!isDryRun)
            tell("no job is remembered, starting one", run);
        return { ...known, findContinued: async () => undefined };
    }
    if (isDryRun)
        return { ...known, findContinued: async () => ({ jobId, isReplaceable: true }) };
    const findWith = async (job, progress) => {
        const continued = await continuationOf(jobId, job, progress, run);
        if (continued !== undefined)
            return continued;
        const other = entry && jobId !== entry.jobId ? { jobId: entry.jobId } : await jobOfService(run);
        if ("kind" in other)
            return other;
        if (other.jobId === undefined || other.jobId === jobId)
            return undefined;
        const found = await readSessionJob(other.jobId, run);
        if ("kind" in found)
            return found;
        const { refusal } = run.state;
        run.state.refusal = "";
        const isOfEntry = entry !== undefined && other.jobId === entry.jobId;
        const before = isOfEntry && session ? session.progressOf(entry, found, covered !== undefined) : { failures: 0 };
        const instead = await continuationOf(other.jobId, found, before, run);
        if (instead === undefined)
            run.state.refusal ||= refusal;
        return instead;
    };
    if (isSure && entry && session) {
        const progress = session.progressOf(entry, {});
        const findLater = async () => {
            const isStillFree = await untilFree(run);
            if (isStillFree === "changed")
                session.forget();
            if (isStillFree !== true)
                return isStillFree;
            const { sessionCovers = [], sessionJobs: jobs = [] } = run.state.announcement ?? {};
            const [newest = commit] = sessionCovers;
            const isTaken = run.state.changes !== undefined && run.state.changes.base !== commit;
            const isOther = (one) => one !== commit;
            if (newest !== commit || (isTaken && sessionCovers.some(isOther)) || jobs.some((one) => one !== jobId))
                return "changed";
            const job = await readSessionJob(jobId, run);
            return "kind" in job ? job : findWith(job, progress);
        };
        return { ...known, findContinued: findLater };
    }
    const job = await readSessionJob(jobId, run);
    if ("kind" in job)
        return job;
    const isOfEntry = jobId === entry?.jobId;
    const saved = entry && session ? session.progressOf(entry, isOfEntry ? job : {}, covered !== undefined) : { failures: 0 };
    const progress = isOfEntry ? saved : { ...saved, failures: 0 };
    const number = numberOf(job.pullRequest, run.ports.environment);
    return {
        ...known,
        lastCommit: progress.commit,
        ownPullRequests: [...new Set([...pullRequests, ...(number === undefined ? [] : [number])])],
        findContinued: () => findWith(job, progress),
    };
}
async function jobOfService(run) {
    const { clock, signal } = run.ports;
    const startedAt = clock.now();
    const answer = await (0,_ask_service_js__WEBPACK_IMPORTED_MODULE_8__/* .askService */ .x)(run, undefined, maxReadMs);
    if (signal.aborted)
        return _result_js__WEBPACK_IMPORTED_MODULE_5__/* .cancelledBeforeSending */ .xX;
    if (answer.kind === "announced") {
        const { sessionJobId: jobId } = answer.announcement;
        return { jobId: jobId?.replace(/[-0]/g, "") === "job_" ? undefined : jobId };
    }
    const error = answer.kind === "unreadable" ? answer.error : undefined;
    if (error === undefined || error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .InvalidResponseError */ .tF)
        return { jobId: undefined };
    if (error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .TokenError */ .gz && !error.isTransient)
        return { kind: "poll-failed", error };
    if ((0,_client_retry_js__WEBPACK_IMPORTED_MODULE_1__/* .isTransientPollFailure */ .KR)(error))
        return { kind: "blocked", cause: "session-job", jobId: undefined, error, forMs: clock.now() - startedAt };
    const isOwn = error instanceof _client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .HttpError */ .j$ && (error.status === 401 || error.status === 424);
    return isOwn ? { kind: "poll-failed", error } : { jobId: undefined };
}
async function newestJob(known, run) {
    const found = await jobOfService(run);
    const isOther = !("kind" in found) && found.jobId !== undefined && found.jobId !== known;
    if (known === undefined || !isOther || run.state.announcement?.sessionJobs.includes(known))
        return found;
    const read = await readSessionJob(known, run);
    if ("kind" in read)
        return read;
    run.state.forgetJob();
    run.state.askedSession = undefined;
    return jobOfService(run);
}
async function untilFree(run) {
    const { settings, state, log } = run;
    const { clock, signal } = run.ports;
    if (!settings.agent)
        return true;
    for (let isFirst = true;; isFirst = false) {
        const known = await jobOfService(run);
        if ("kind" in known)
            return known;
        const { sessionBusyUntil: until } = state.announcement ?? {};
        if (until === undefined)
            return isFirst ? true : "changed";
        const { jobId } = known;
        const latest = new Date(until).toISOString().slice(0, 16).replace("T", " ");
        if (isFirst)
            log.line(`Session ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_3__/* .excerpt */ .Kb)(settings.session, 100)}: another run ${jobId === undefined ? "is about to begin" : `works on job ${jobId}`}, until ${latest} UTC at most. Waiting for its end, because both would be paid for the same changes`);
        state.startedAt ??= clock.now();
        if (clock.now() + busyPauseMs >= state.startedAt + settings.timeoutMs)
            return { kind: "blocked", cause: "session-busy", jobId, latest };
        await clock.sleep(busyPauseMs, signal);
        if (signal.aborted)
            return _result_js__WEBPACK_IMPORTED_MODULE_5__/* .cancelledBeforeSending */ .xX;
        state.askedSession = undefined;
    }
}
function tell(why, { settings, log }) {
    log.line(`Session ${(0,_runner_kit_untrusted_js__WEBPACK_IMPORTED_MODULE_3__/* .excerpt */ .Kb)(settings.session, 100)}: ${why}`);
}
function tellOfLeft(why, { url }, { log }) {
    log.notice((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_12__/* .message */ .iU) `
    Session starts a new job
    ${why}, so the session starts a new job. It leaves ${url}: merge or close it.`);
}
async function readSessionJob(jobId, run) {
    const status = await (0,_run_job_js__WEBPACK_IMPORTED_MODULE_6__/* .findJob */ .pC)(jobId, run);
    const { pullRequest, isKept, isUnfinished } = run.state;
    if (typeof status !== "object" || status.kind === "cancelled")
        run.state.forgetJob();
    return typeof status === "object" ? status : { status, isKept, isUnfinished, pullRequest };
}
async function readLastPullRequest(pullRequest, run) {
    const { readPullRequestState, tellOfRefusal } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(825), __webpack_require__.e(840)]).then(__webpack_require__.bind(__webpack_require__, 6840));
    const read = await readPullRequestState(pullRequest, run);
    const { state } = read;
    run.state.lastPullRequest = { url: pullRequest.url, ...read };
    const head = (0,_commit_of_js__WEBPACK_IMPORTED_MODULE_9__/* .commitOf */ .D)(read.head);
    run.state.before = state === "open" && head ? { url: pullRequest.url, head } : undefined;
    if (state === "closed")
        run.state.refusal = await tellOfRefusal(pullRequest, run);
    return state;
}
const jobOver = {
    completed: "finished without a pull request",
    failed: "failed",
    archived: "was archived",
    "not found": "was not found",
};
async function continuationOf(jobId, { status, isKept, isUnfinished, pullRequest }, { failures }, run) {
    if (status === "active") {
        tell(`job ${jobId} is active, sending a follow-up`, run);
        return { jobId, isReplaceable: true };
    }
    const state = pullRequest && (await readLastPullRequest(pullRequest, run));
    if (isKept && (!pullRequest || state === "merged")) {
        tell(`work of job ${jobId} is kept, sending a follow-up, which publishes it first`, run);
        run.state.publishesKept = true;
        return { jobId, isReplaceable: true };
    }
    if (isUnfinished && status === "failed" && state !== "closed" && failures < maxUnfinished) {
        tell(`the last turn of job ${jobId} did not complete, sending a follow-up, which continues from there`, run);
        return { jobId, isReplaceable: true };
    }
    if (isKept && (state === "closed" || status === "archived"))
        run.log.notice((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_12__/* .message */ .iU) `
      Session leaves work that is kept
      The pull request of job ${jobId} was closed before its last work was in it. That is kept. To have it in another pull request, run the action with this job-id and a prompt.`);
    if (status === "archived" || status === "not found" || !pullRequest) {
        tell(`job ${jobId} ${jobOver[status]}, starting a new one`, run);
        return undefined;
    }
    const { url, number } = pullRequest;
    const name = number ? `pull request #${number}` : `pull request ${url}`;
    if (state === "merged" || state === "closed") {
        tell(`${name} is ${state}, starting a new job`, run);
        return undefined;
    }
    if (status === "failed" && failures >= maxFailures && !isKept) {
        tellOfLeft((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_12__/* .say */ .cv) `The last ${failures} turns of job ${jobId} failed`, pullRequest, run);
        return undefined;
    }
    tell(`${name} is ${state === "open" ? "open" : "treated as open"}, sending a follow-up to job ${jobId}`, run);
    if (state === "unknown")
        run.log.notice((0,_runner_kit_text_js__WEBPACK_IMPORTED_MODULE_12__/* .message */ .iU) `
      Cannot read the state of the pull request
      The state of ${url} could not be read, so the session sends a follow-up to its job. To let the action see whether it is merged or closed, give the step a github-token with pull-requests: read for its repository.`);
    return { jobId, isReplaceable: true, leaves: status === "failed" ? pullRequest : undefined };
}


/***/ }),

/***/ 9006:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Q: () => (/* binding */ untilSettled),
/* harmony export */   untilAborted: () => (/* binding */ untilAborted)
/* harmony export */ });
const maxWaitMs = 5000;
const maxWaitAfterCancelMs = 2000;
async function untilAborted(promise, signal) {
    promise.catch(() => { });
    if (signal.aborted)
        return undefined;
    const ended = new AbortController();
    const aborted = new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(undefined), { signal: ended.signal });
    });
    return Promise.race([promise, aborted]).finally(() => ended.abort());
}
async function untilSettled(saves, { clock, signal }) {
    const settled = new AbortController();
    void saves.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    if (signal.aborted)
        await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (settled.signal.aborted)
        return undefined;
    const cancelled = "the step was cancelled before the cache service had confirmed it";
    return new Error(signal.aborted ? cancelled : "the cache service did not respond in time");
}


/***/ }),

/***/ 9062:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   K: () => (/* binding */ cachedWords),
/* harmony export */   N: () => (/* binding */ strengthOf),
/* harmony export */   rememberInvalidInputs: () => (/* binding */ rememberInvalidInputs)
/* harmony export */ });
/* harmony import */ var _client_errors_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6695);
/* harmony import */ var _runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2012);
/* harmony import */ var _hash_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8039);
/* harmony import */ var _runner_environment_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(767);
/* harmony import */ var _step_key_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(6323);
/* harmony import */ var _wait_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(9006);






const states = ["pending", "not-sent", "job"];
const stateOf = { "about to send": "pending", "nothing sent": "not-sent", job: "job" };
function strengthOf(word) {
    return word === undefined || word === "unreadable" ? 0 : 1 + states.indexOf(stateOf[word.kind]);
}
function cachedWords(cache, task, run) {
    const { environment } = run.ports;
    const own = (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment);
    const keyOf = (attempt, state) => `agent-job-${run.key.step}-${attempt}-${state}-`;
    const ownPrompt = (0,_hash_js__WEBPACK_IMPORTED_MODULE_2__/* .hash */ .t)(JSON.stringify([task.kind, task.prompt]));
    let saves = 0;
    const wordOf = async (attempt) => {
        for (const prompt of [ownPrompt, ""]) {
            const hasOtherPrompt = prompt === "";
            const texts = await Promise.all(states.map((state) => cache.restore(keyOf(attempt, state) + prompt)));
            const index = texts.findLastIndex((text) => text !== undefined);
            const state = states[index];
            if (state === undefined)
                continue;
            const { parseWordEntry } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(389)]).then(__webpack_require__.bind(__webpack_require__, 3389));
            const entry = parseWordEntry(texts[index] ?? "");
            const { jobId, sent, base: _, covers: __, announced: ___, ...known } = entry ?? {};
            if (entry && state === "not-sent")
                return { word: { kind: "nothing sent", hasOtherPrompt }, entry };
            if (entry && state === "pending")
                return { word: { kind: "about to send", hasOtherPrompt }, entry };
            if (entry && jobId !== undefined && sent)
                return { word: { kind: "job", jobId, sent, ...known, hasOtherPrompt }, entry };
            throw new Error("the entry is not usable");
        }
        return {};
    };
    return {
        read: async () => {
            const read = {
                attempts: [],
                base: undefined,
                covers: undefined,
                hadAnnounced: undefined,
                error: undefined,
            };
            let attempt = own - 1;
            try {
                const isEmpty = (await cache.restore(`agent-job-${run.key.step}-`)) === undefined;
                for (; attempt >= 1; attempt--) {
                    const { word, entry } = isEmpty ? {} : await wordOf(attempt);
                    if (read.hadAnnounced !== true)
                        read.hadAnnounced = entry?.announced ?? read.hadAnnounced;
                    const isOthers = typeof word === "object" && "hasOtherPrompt" in word && word.hasOtherPrompt;
                    if (!isOthers)
                        read.base ??= entry?.base;
                    if (!isOthers)
                        read.covers ??= entry?.covers;
                    const inputsPrefix = invalidInputsPrefix(run.settings.matrixLeg, environment, attempt);
                    const hadInvalidInputs = !word && (await cache.restore(inputsPrefix)) !== undefined;
                    read.attempts.push({ attempt, word: hadInvalidInputs ? { kind: "nothing sent" } : word });
                    if (word?.kind === "job" && !isOthers)
                        return read;
                }
            }
            catch (error) {
                read.error = (0,_client_errors_js__WEBPACK_IMPORTED_MODULE_0__/* .messageOf */ .bD)(error);
                for (; attempt >= 1; attempt--)
                    read.attempts.push({ attempt, word: "unreadable" });
            }
            return read;
        },
        save: async (word, facts) => {
            const { kind, ...job } = word;
            const key = `${keyOf(own, stateOf[word.kind])}${ownPrompt}-${++saves}`;
            await cache.save(key, JSON.stringify({ version: 1, ...job, ...facts }));
        },
    };
}
function invalidInputsPrefix(matrixLeg, environment, attempt) {
    return `agent-job-inputs-${(0,_step_key_js__WEBPACK_IMPORTED_MODULE_4__/* .stepOfRun */ .l)(matrixLeg, environment)}-${attempt}-`;
}
async function rememberInvalidInputs(matrixLeg, ports) {
    const { environment, connectCache, signal } = ports;
    if ((0,_runner_kit_cache_js__WEBPACK_IMPORTED_MODULE_1__/* .cacheAccess */ .nU)(environment) !== "write" || signal.aborted)
        return;
    const key = `${invalidInputsPrefix(matrixLeg, environment, (0,_runner_environment_js__WEBPACK_IMPORTED_MODULE_3__/* .runAttempt */ .Tm)(environment))}1`;
    const save = async () => (await connectCache()).save(key, JSON.stringify({ version: 1 }));
    await (0,_wait_js__WEBPACK_IMPORTED_MODULE_5__/* .untilSettled */ .Q)(save().catch(() => { }), ports);
}


/***/ }),

/***/ 6848:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Fo: () => (/* binding */ runPlan),
/* harmony export */   UW: () => (/* binding */ writePrompt),
/* harmony export */   aw: () => (/* binding */ nothingRemembered),
/* harmony export */   dB: () => (/* binding */ promptApart),
/* harmony export */   kI: () => (/* binding */ findStart),
/* harmony export */   s$: () => (/* binding */ planTasks)
/* harmony export */ });
/* harmony import */ var _comments_prompt_template_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(6205);
/* harmony import */ var _result_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(618);
/* harmony import */ var _run_job_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(8429);



const nothingRemembered = {
    isOfSession: false,
    lastCommit: undefined,
    covered: [],
    isOwn: false,
    ownJobs: [],
    firstBase: undefined,
    ownPullRequests: [],
};
async function writePrompt(source, run, remembered = nothingRemembered, isSentAnyway = async () => false) {
    const { settings, ports } = run;
    let changes;
    if (settings.changes) {
        const { findSection } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(125), __webpack_require__.e(589)]).then(__webpack_require__.bind(__webpack_require__, 8589));
        const found = await findSection(settings.changes, remembered, run);
        if ("kind" in found) {
            const isNothing = found.kind === "skipped" || (found.kind === "blocked" && found.cause === "range-behind");
            const isSent = isNothing && (await isSentAnyway());
            if (typeof isSent === "object")
                return isSent;
            if (!isSent)
                return found;
        }
        changes = "kind" in found ? "" : found.section;
    }
    const thread = await source.readThread?.();
    if (source.readThread && ports.signal.aborted)
        return _result_js__WEBPACK_IMPORTED_MODULE_1__/* .cancelledBeforeSending */ .xX;
    const whole = source.fill({ changes, thread });
    if (whole.trim() === "")
        return { kind: "blocked", cause: "prompt" };
    return { prompt: promptApart(source, run), sections: [changes, thread].flatMap((one) => one || []), whole };
}
function promptApart({ fill, readThread }, { settings }) {
    const { changes, thread } = _comments_prompt_template_js__WEBPACK_IMPORTED_MODULE_0__/* .sectionsBelow */ .KV;
    return fill({ changes: settings.changes && changes, thread: readThread && thread });
}
async function findStart(run) {
    if (run.settings.base === "")
        return { base: undefined };
    const { findBase } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(863)]).then(__webpack_require__.bind(__webpack_require__, 4863));
    return findBase(run);
}
function planTasks(prompt, continued, { replaces, base }) {
    const create = { kind: "create", ...prompt, base, replaces };
    if (continued === undefined)
        return { task: create };
    const task = { kind: "message", jobId: continued.jobId, ...prompt, replaces };
    return continued.isReplaceable ? { task, continued, otherwise: create } : { task };
}
async function runPlan({ task, otherwise, continued }, run, runTask, onReplaced) {
    const result = await runTask(task);
    const isMissing = (0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isJobNotFound */ .tl)(result, run.state);
    const isRefused = continued?.leaves !== undefined && (0,_result_js__WEBPACK_IMPORTED_MODULE_1__/* .isRejected */ .TK)(result);
    if (!otherwise || !continued || !(isMissing || isRefused))
        return { task, result };
    if (isMissing && !(await (0,_run_job_js__WEBPACK_IMPORTED_MODULE_2__/* .isStillGone */ .U)(continued.jobId, run)))
        return { task, result: run.ports.signal.aborted ? _result_js__WEBPACK_IMPORTED_MODULE_1__/* .cancelledBeforeSending */ .xX : await runTask(task) };
    onReplaced(isMissing ? "not found" : "rejected", continued);
    run.state.forgetJob();
    return { task: otherwise, result: await runTask(otherwise) };
}


/***/ }),

/***/ 9591:
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
// EXTERNAL MODULE: ./build/action/comments/prompt-template.js
var prompt_template = __webpack_require__(6205);
;// CONCATENATED MODULE: ./build/action/dry-run.js

const checked = (0,runner_kit_text/* say */.cv) ` No problem was found with the token and, as far as they can be checked, with the key and the sandbox. The agent was not installed or run.`;
function plannedWait(decision, sendsOtherwise) {
    const attempt = "attempt" in decision ? (0,runner_kit_text/* say */.cv) `attempt ${decision.attempt}` : (0,runner_kit_text/* say */.cv) `an earlier attempt`;
    return [
        ...(0,runner_kit_text/* say */.cv) `It would wait for job ${decision.jobId}, which ${attempt} of this workflow run started.`,
        ...(sendsOtherwise ? (0,runner_kit_text/* say */.cv) ` If that job is of no use, it would send the prompt again.` : []),
    ];
}
function plannedTask({ task, otherwise }, session, hasAgent) {
    const sent = task.kind === "create"
        ? (0,runner_kit_text/* say */.cv) `It would create a job with this prompt.`
        : !otherwise
            ? (0,runner_kit_text/* say */.cv) `It would send this prompt to job ${task.jobId} as a follow-up.`
            : session === undefined
                ? (0,runner_kit_text/* say */.cv) `It would send this prompt to job ${task.jobId}, which the thread names. (A dry run does not know which replies are its own.) If the job is gone, it would create one.`
                : (0,runner_kit_text/* say */.cv) `It would send this prompt to job ${task.jobId}, the last of the session ${session}, while the job is active or its pull request is open. Otherwise it would create a job.`;
    return hasAgent ? [...sent, ...checked] : sent;
}

// EXTERNAL MODULE: ./build/action/memory/ask-service.js
var ask_service = __webpack_require__(9816);
// EXTERNAL MODULE: ./build/action/memory/decide.js
var decide = __webpack_require__(8723);
// EXTERNAL MODULE: ./build/action/memory/evidence.js
var evidence = __webpack_require__(1018);
// EXTERNAL MODULE: ./build/action/commit-of.js
var commit_of = __webpack_require__(3538);
// EXTERNAL MODULE: ./build/action/pull-request.js
var pull_request = __webpack_require__(8808);
// EXTERNAL MODULE: ./build/action/run.js + 3 modules
var action_run = __webpack_require__(9863);
;// CONCATENATED MODULE: ./build/action/memory/head-before.js



const maxLookMs = 10_000;
async function readBefore(jobId, run) {
    const { settings, state } = run;
    const { clock, signal } = run.ports;
    if (state.features !== undefined || settings.agent || settings.githubToken === "")
        return;
    state.startedAt ??= clock.now();
    const deadline = Math.min(clock.now() + maxLookMs, state.startedAt + settings.timeoutMs);
    try {
        const { job } = await (0,action_run/* connectService */.Ux)(run).getJob(jobId, { deadline, signal });
        const pullRequest = (0,pull_request/* parsePullRequest */.y)(job.prLink);
        if (!pullRequest)
            return;
        const { readPullRequestState } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(825), __webpack_require__.e(840)]).then(__webpack_require__.bind(__webpack_require__, 6840));
        const head = (0,commit_of/* commitOf */.D)((await readPullRequestState(pullRequest, run)).head);
        state.before = head ? { url: pullRequest.url, head } : undefined;
    }
    catch {
    }
}
async function compareHeads(result, run) {
    const { pullRequest, before, unproven, features } = run.state;
    const isCompleted = result.kind === "done" && result.status === "completed" && unproven === undefined;
    if (!isCompleted || features !== undefined || !pullRequest || !before)
        return result;
    if (before.url !== undefined && before.url !== pullRequest.url)
        return result;
    const { readPullRequestState, isUpdateOf } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(825), __webpack_require__.e(840)]).then(__webpack_require__.bind(__webpack_require__, 6840));
    const { state, head } = await readPullRequestState(pullRequest, run);
    if (head === "") {
        if (run.ports.signal.aborted)
            return { kind: "cancelled", operation: "poll", acceptance: "accepted" };
        run.state.unproven = "change";
    }
    else if (head === before.head || (await isUpdateOf(before.head, head, pullRequest, run))) {
        if (state === "open")
            run.state.isUnchanged = true;
        else
            run.state.endedWithout = state;
    }
    return result;
}

// EXTERNAL MODULE: ./build/action/memory/memory.js
var memory_memory = __webpack_require__(7260);
// EXTERNAL MODULE: ./build/client/step-lookup.js
var step_lookup = __webpack_require__(1021);
// EXTERNAL MODULE: ./build/action/memory/wait.js
var wait = __webpack_require__(9006);
;// CONCATENATED MODULE: ./build/action/memory/pass-over.js




const maxStopMs = 10_000;
async function passOver(memory, run) {
    const { settings, ports, log } = run;
    const words = settings.changes && memory.cache?.read();
    memory.firstBase = words && (await (0,wait.untilAborted)(words, ports.signal))?.base;
    const answer = await (0,ask_service/* askService */.x)(run);
    const [newest] = answer.kind === "announced" ? answer.announcement.turns : [];
    if (newest && settings.agent && !settings.dryRun && !(0,step_lookup/* hasEnded */.hY)(newest.status))
        await (0,action_run/* connectService */.Ux)(run)
            .stopTurn(newest.jobId, newest.turnId, { deadline: ports.clock.now() + maxStopMs, signal: ports.signal })
            .catch((error) => log.debugError(error));
    return newest ? { service: { ...newest, over: "ignored", hasOtherPrompt: false } } : {};
}

// EXTERNAL MODULE: ./build/action/memory/session.js
var session = __webpack_require__(3351);
// EXTERNAL MODULE: ./build/action/runner/environment.js
var runner_environment = __webpack_require__(767);
;// CONCATENATED MODULE: ./build/action/memory/tell-of-wait.js


function tellOfWait(decision, { log, ports }) {
    const { jobId } = decision;
    const prefix = `Attempt ${(0,runner_environment/* runAttempt */.Tm)(ports.environment)}:`;
    if (!("turnId" in decision))
        log.line(`${prefix} attempt ${decision.attempt} started job ${jobId}; waiting for it`);
    else {
        log.line(`${prefix} the service says that an earlier attempt of this step sent its request as job ${jobId}; waiting for that`);
    }
    if ("besides" in decision) {
        log.warning((0,runner_kit_text/* message */.iU) `
      Earlier attempt may have started a job
      By GitHub's record, attempt ${decision.besides} of this workflow run ran this step, too, but nothing says what it started. This attempt waits for job ${jobId}; another one may be running.`);
    }
}
function tellOfTag({ settings, state, ports, log }) {
    if (settings.session === "" || !(0,runner_environment/* isOnTag */.KI)(ports.environment))
        return;
    if (settings.agent || state.features?.has("session"))
        return;
    log.notice((0,runner_kit_text/* message */.iU) `
    Session of a tag
    This run is on a tag, and GitHub gives each tag a cache of its own. So the next release does not find the job of this run, and starts a new one. To keep one pull request, run on schedule, or on push to a branch.`);
}

// EXTERNAL MODULE: ./build/client/errors.js
var errors = __webpack_require__(6695);
// EXTERNAL MODULE: ./build/action/commit-jobs.js
var commit_jobs = __webpack_require__(4959);
// EXTERNAL MODULE: ./build/action/result.js
var action_result = __webpack_require__(618);
;// CONCATENATED MODULE: ./build/action/own-change.js





const ownEvents = /^(push|create|workflow_run|check_run|check_suite|status|pull_request(_target)? (opened|synchronize))\b/;
const jobBranch = /job_[0-9a-f-]{36}$/;
async function findOwnChange(run) {
    const { environment, signal } = run.ports;
    const { GITHUB_EVENT_NAME: name = "", GITHUB_EVENT_PATH: path, GITHUB_SHA } = environment;
    if (!path)
        return undefined;
    const read = async (route, parameters) => {
        const place = { ...(0,runner_environment/* ownRepository */.d5)(environment), ...parameters };
        const limits = { timeoutMs: 10_000, signal };
        return (await (0,action_run/* connectGitHub */.UY)(run)).request(`GET /repos/{owner}/{repo}/${route}`, place, limits);
    };
    let branch = "";
    try {
        const payload = (0,runner_environment/* readEvent */.j_)(environment);
        const { login, type } = Object(at(payload, "sender"));
        const isBot = type === "Bot" || String(login).endsWith("[bot]");
        if (!isBot && !ownEvents.test(`${name} ${at(payload, "action")}`))
            return undefined;
        const pull_number = at(payload, "issue.pull_request") && at(payload, "issue.number");
        const pull = pull_number ? await read("pulls/{pull_number}", { pull_number }) : at(payload, "pull_request");
        const head = at(payload, "workflow_run", "check_run", "check_suite", "merge_group");
        branch = String(at(pull, "head.ref") ??
            at(head, "head_branch", "check_suite.head_branch") ??
            at(payload, "deployment.ref", "ref"));
        const ref = at(pull, "head.sha") ?? at(head, "head_sha") ?? at(payload, "deployment.sha", "sha") ?? GITHUB_SHA;
        if (at(pull, "head.repo.id") !== at(pull, "base.repo.id"))
            return undefined;
        if (at(head, "head_repository.id") !== at(head, "repository.id"))
            return undefined;
        const isOfJob = jobBranch.test(branch);
        const isCopy = name === "create" || at(payload, "created") === true || (/^(work|check)/.test(name) && ref === GITHUB_SHA);
        if (isOfJob && isCopy)
            return { kind: "skipped", reason: "own-change" };
        const commits = at(payload, "commits");
        const pushed = Array.isArray(commits) && !isOfJob ? commits.map((commit) => String(at(commit, "message"))) : [];
        if (!isBot && pushed.length === 0 && (at(payload, "created") === true || /^refs\/tags\//.test(branch)))
            return undefined;
        const told = at(payload, "head_commit.message", "commit.commit.message") ?? at(head, "head_commit.message");
        const message = told ?? (isOfJob ? at(await read("commits/{ref}", { ref }), "commit.message") : "");
        if (typeof message !== "string")
            throw new Error("GitHub's response has no message");
        const brought = pushed.filter((one) => !(0,commit_jobs/* isMerge */.F)(one));
        const isOwn = (brought.length > 0 ? brought : [message]).every((one) => (0,commit_jobs/* jobsOf */.a)(one).length > 0);
        if (!isOwn || (!isOfJob && (await isOfFork(String(ref), run))))
            return undefined;
        return { kind: "skipped", reason: "own-change" };
    }
    catch (error) {
        if (signal.aborted)
            return action_result/* cancelledBeforeSending */.xX;
        return { kind: "blocked", cause: "head", branch, detail: (0,errors/* messageOf */.bD)(error) };
    }
}
async function isOfFork(ref, run) {
    const { isFromFork } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(125), __webpack_require__.e(589)]).then(__webpack_require__.bind(__webpack_require__, 8589));
    return isFromFork(ref, run);
}
function at(object, ...paths) {
    const follow = (path) => path.split(".").reduce((value, key) => Object(value)[key], object);
    return paths.map(follow).find((value) => value !== undefined && value !== null);
}

// EXTERNAL MODULE: ./build/action/plan.js
var action_plan = __webpack_require__(6848);
// EXTERNAL MODULE: ./build/action/run-job.js + 1 modules
var run_job = __webpack_require__(8429);
;// CONCATENATED MODULE: ./build/action/send-once.js



















async function sendOnce(request, run) {
    return new Sending(request, run).run();
}
async function sendTask(task, run) {
    const fill = (sections) => (0,prompt_template/* addSections */.qq)(task.prompt, sections);
    const jobId = task.kind === "message" ? task.jobId : "";
    return sendOnce({ jobId, fill, memory: await (0,memory_memory/* openMemory */.uZ)(task, run) }, run);
}
class Sending {
    #request;
    #run;
    #memory;
    #replies;
    #evidence;
    #isSettled = false;
    constructor(request, run) {
        this.#request = request;
        this.#run = run;
        this.#memory = request.memory;
        this.#evidence = (0,evidence/* noEvidence */.n2)(run);
    }
    async run() {
        try {
            return await this.#decideAndSend();
        }
        catch (error) {
            if (error instanceof action_result/* AgentError */.Yv)
                return this.#withdraw(this.#isAborted ? action_result/* cancelledBeforeSending */.xX : (0,action_result/* agentFailed */.$q)(error));
            throw error;
        }
    }
    async #decideAndSend() {
        const { conversation } = this.#request;
        const isResumed = (0,memory_memory/* isResuming */.x)(this.#run);
        const isRerun = (0,runner_environment/* runAttempt */.Tm)(this.#run.ports.environment) > 1;
        const early = conversation && !isResumed ? await this.#write() : undefined;
        if (early && "kind" in early)
            return this.#withdraw(early, { isShown: false });
        const start = await (0,action_plan/* findStart */.kI)(this.#run);
        if ("kind" in start) {
            this.#run.state.mayHaveEarlier ||= isRerun;
            return this.#withdraw(start, { isShown: false });
        }
        this.#memory.openSession(start.base);
        if (isResumed) {
            const failed = await this.#gather(this.#request.replies);
            if (failed)
                return this.#withdraw(failed);
        }
        else if (isRerun)
            this.#know(await passOver(this.#memory, this.#run));
        return this.#proceed(start.base, early);
    }
    async #proceed(base, early) {
        const { conversation } = this.#request;
        for (;;) {
            const decision = await this.#decide();
            if (this.#isAborted && (0,runner_environment/* runAttempt */.Tm)(this.#run.ports.environment) > 1)
                return this.#withdraw(decision.do === "send" ? action_result/* cancelledBeforeSending */.xX : action_result/* cancelledWhileLooking */.Mk);
            if (decision.do === "refuse")
                return this.#refuse(decision);
            if (decision.do === "send") {
                const why = decision.publishes
                    ? undefined
                    : ((await findOwnChange(this.#run)) ?? (await conversation?.findWithdrawal()));
                if (why)
                    return this.#withdraw(why, { isShown: false });
                this.#isSettled = true;
                return this.#send(decision, base, early);
            }
            const ended = await this.#wait(decision);
            if (ended)
                return ended;
        }
    }
    async #decideAnew(decision, base, early) {
        if (!(0,memory_memory/* isResuming */.x)(this.#run))
            return this.#send(decision, base, early);
        const failed = await this.#gather();
        return failed ? this.#withdraw(failed) : this.#proceed(base, early);
    }
    get #isAborted() {
        return this.#run.ports.signal.aborted;
    }
    async #gather(known) {
        const { conversation } = this.#request;
        const replies = known ?? (await (0,evidence/* askBefore */.bz)(this.#request, this.#run));
        if ("kind" in replies)
            return replies;
        this.#replies = replies;
        const readThread = conversation && (() => conversation.read());
        this.#evidence = await (0,evidence/* gather */.kg)(replies, this.#memory.session, readThread, this.#run);
        this.#memory.firstBase = replies.words.base;
        this.#memory.firstCovers = replies.words.covers;
        return this.#isAborted ? action_result/* cancelledWhileLooking */.Mk : undefined;
    }
    async #decide() {
        const readRecord = async (attempts) => {
            const { readStepRecord } = await Promise.all(/* import() */[__webpack_require__.e(395), __webpack_require__.e(919)]).then(__webpack_require__.bind(__webpack_require__, 9919));
            return readStepRecord(attempts, this.#run);
        };
        const { decision, record } = await (0,decide/* decideWith */.R)(this.#evidence, readRecord);
        this.#know({ record });
        return decision;
    }
    #know(known) {
        this.#evidence = { ...this.#evidence, ...known };
    }
    async #refuse(decision) {
        const why = (0,evidence/* blockedBy */.yJ)(decision, this.#replies);
        if (this.#run.settings.dryRun)
            return this.#withdraw({ kind: "skipped", reason: "dry-run", plan: why });
        const isAnswered = decision.cause === "later-run" && this.#request.conversation !== undefined;
        if (isAnswered)
            this.#run.state.jobId = decision.jobId;
        return this.#withdraw(why, { isShown: !isAnswered });
    }
    async #wait(decision) {
        const { state, settings } = this.#run;
        if (settings.dryRun)
            return this.#tellWait(decision);
        tellOfWait(decision, this.#run);
        const { jobId, sent } = decision;
        const isTurn = "turnId" in decision;
        const known = isTurn ? {} : decision;
        const { wasSeen, isDone, isUnproven, isUnchanged, isDoubtful, pullRequest } = known;
        const task = { kind: "attach", jobId, resumes: sent, wasSeen, ...(isTurn && { turnId: decision.turnId }) };
        if (!isTurn)
            state.before = decision.before;
        await this.#request.conversation?.resume(jobId);
        const isAdopted = isTurn || (decision.besides ?? decision.unproven) === undefined;
        const adopt = () => {
            const seen = { wasSeen, isDone, isUnproven, isUnchanged, pullRequest };
            if (isAdopted)
                this.#memory.adopt({ sent, jobId, ...seen, isDoubtful: (isDoubtful && !state.hasRecord) || undefined });
        };
        const resumed = await this.#resume(task, isDone === true, adopt, () => isAdopted && this.#see(sent));
        if (resumed === undefined && isDoubtful && !state.hasRecord) {
            state.forgetJob();
            return this.#refuse({ do: "refuse", cause: "pending" });
        }
        if (resumed) {
            if (isDone)
                this.#endAsSeen(resumed, known);
            const ended = isDone && !isUnproven ? resumed : await compareHeads(resumed, this.#run);
            adopt();
            if (!isAdopted)
                await this.#memory.withdraw();
            const stopping = (0,run_job/* stopOwnTurn */.mu)(task, ended, this.#run);
            const [result] = await Promise.all([stopping, this.#memory.finish(ended, sent, { hasJob: true, stopping })]);
            return this.#end(result, task);
        }
        state.forgetJob();
        this.#evidence = (0,evidence/* withoutJob */.wu)(this.#evidence, jobId);
        return undefined;
    }
    #endAsSeen(resumed, { isUnchanged = false, pullRequest = "" }) {
        const { state } = this.#run;
        if (resumed.kind !== "done")
            return;
        state.isUnchanged = isUnchanged;
        state.pullRequest ??= (0,pull_request/* parsePullRequest */.y)(pullRequest);
    }
    async #resume(task, wasDone, onUsable, onPolled) {
        const { settings, state, log } = this.#run;
        const isComment = this.#request.conversation !== undefined;
        const isTurn = task.turnId !== undefined;
        const isLook = settings.wait && !isComment && (task.resumes !== "message" || task.wasSeen === true);
        const look = () => this.#runTask(task, { onPolled, ...(isLook && { wait: false }) });
        let result = await look();
        const isGone = (0,action_result/* isJobNotFound */.tl)(result, state) && (await (0,run_job/* isStillGone */.U)(task.jobId, this.#run));
        if (!isGone && (0,action_result/* isJobNotFound */.tl)(result, state))
            result = await look();
        if (wasDone && state.hasRecord && (result.kind === "done" || result.kind === "started")) {
            if (state.status !== "completed")
                log.line(`Job ${task.jobId} was completed for this request, and is ${state.status} since a later one`);
            onUsable();
            return { kind: "done", status: "completed" };
        }
        const ended = result.kind === "done" ? state.status : undefined;
        const isCompleted = result.kind === "done" && result.status === "completed";
        const isFirst = state.timeline.length === 1;
        const isArchived = ended === "archived" && !isCompleted && (isComment ? isTurn : isFirst);
        const hasFailed = result.kind === "done" && result.status === "failed" && isFirst && !isTurn && !isComment;
        if (isGone || isArchived || hasFailed) {
            log.startingOver(task.jobId, isGone ? "not found" : isArchived ? "archived" : "failed");
            return undefined;
        }
        onUsable();
        return result.kind === "started" && isLook ? this.#runTask(task) : result;
    }
    #runTask(task, options = {}) {
        const { conversation } = this.#request;
        return (0,run_job/* runJob */.b5)(task, this.#run, {
            ...options,
            onJobId: (jobId) => {
                options.onJobId?.(jobId);
                conversation?.mark("job", jobId, { isDoubtful: !this.#run.state.hasRecord });
                conversation?.showJob();
            },
            onPolled: () => {
                options.onPolled?.();
                conversation?.showProgress();
            },
        });
    }
    #see(sent, hasEnded = false) {
        const { status, jobId, features } = this.#run.state;
        if (!(hasEnded || status === "active") || sent !== "message" || features)
            return;
        this.#memory.see(sent, jobId);
        this.#request.conversation?.mark("job", jobId, { isSeen: true });
    }
    async #send(decision, base, early) {
        const { to, publishes = false, replaces, unproven } = decision;
        const { settings, state, ports, log } = this.#run;
        const { conversation, jobId } = this.#request;
        const memory = this.#memory;
        state.forgetJob();
        const { service } = this.#evidence;
        if (typeof service === "object" && "turnId" in service && (service.over === "failed" || service.over === "stopped"))
            log.startingOver(service.jobId, service.over);
        const remembered = await (0,session/* readSession */.lx)(conversation ? null : memory.session, memory.firstBase, this.#run);
        if (remembered === "changed")
            return this.#decideAnew(decision, base, early);
        if ("kind" in remembered)
            return this.#withdraw(remembered);
        const written = early ?? (await this.#write(remembered, publishes));
        if ("kind" in written)
            return this.#withdraw(written);
        if (!conversation && !memory.isWritable)
            await memory.sayWhatIsForgotten();
        const announced = settings.dryRun ? undefined : await conversation?.announce();
        state.publishesKept = publishes;
        const kept = to === undefined ? undefined : { jobId: to, isReplaceable: true };
        const isOfSession = kept === undefined || (!publishes && remembered.jobId !== undefined && remembered.jobId !== to);
        const found = jobId === "" && isOfSession ? await (conversation ?? remembered).findContinued(base) : undefined;
        if (found === "changed")
            return this.#decideAnew(decision, base, early);
        if (found && "kind" in found)
            return this.#withdraw(found);
        if (!conversation && memory.isWritable)
            tellOfTag(this.#run);
        const continued = jobId === "" ? (found ?? kept) : { jobId };
        if (found && kept && found.jobId !== to)
            log.line(`The session has gone on with job ${found.jobId}, so what job ${to} left unfinished stays there`);
        const isApart = await (0,ask_service/* acceptsSections */.e)(written.sections.length > 0, this.#run);
        const sent = isApart ? written : { prompt: written.whole };
        const last = this.#run.key.lastOf(sent.prompt, replaces, state.announcement?.turns ?? []);
        const plan = (0,action_plan/* planTasks */.s$)(sent, continued, { replaces: last, base });
        if (settings.dryRun)
            return this.#tellPlan(plan);
        if (plan.task.kind === "message" && (conversation || jobId !== ""))
            await readBefore(plan.task.jobId, this.#run);
        if (ports.agent)
            await (0,wait.untilAborted)(ports.agent.prepare(), ports.signal);
        if (ports.agent && this.#isAborted)
            return this.#withdraw(action_result/* cancelledBeforeSending */.xX);
        if (ports.agent && !conversation && state.session !== undefined) {
            [state.claimsSession, state.askedSession] = [true, undefined];
            const isFree = await (0,session/* untilFree */.XH)(this.#run);
            if (isFree === "changed") {
                memory.session?.forget();
                return this.#decideAnew(decision, base, early);
            }
            if (isFree !== true)
                return this.#withdraw(isFree);
        }
        const leftMs = (state.startedAt ?? ports.clock.now()) + settings.timeoutMs - ports.clock.now();
        if ((conversation || ports.agent) && leftMs < client_submit/* minTimeLeftMs */.x3)
            return this.#withdraw({ kind: "blocked", cause: "time" });
        const isAnnounced = state.features === undefined;
        const isSaved = isAnnounced && (await memory.announce());
        if (announced === false && !isSaved && state.features === undefined) {
            if (!(0,memory_memory/* isResuming */.x)(this.#run))
                await (0,ask_service/* askService */.x)(this.#run);
            if (state.features === undefined)
                return this.#withdraw({ kind: "blocked", cause: "unwitnessed" });
        }
        const isMuted = memory.isReadOnly || (isAnnounced && memory.isWritable && !isSaved);
        if (isMuted && unproven !== undefined && state.features === undefined)
            await (0,ask_service/* askService */.x)(this.#run);
        if (isMuted && unproven !== undefined && state.features === undefined)
            return this.#withdraw({ kind: "blocked", cause: "unknown", attempt: unproven }, { isSettled: false });
        return this.#runPlan(plan);
    }
    #write(remembered, publishes = false) {
        return (0,action_plan/* writePrompt */.UW)(this.#request, this.#run, remembered, async () => {
            const own = publishes ? undefined : await this.#request.conversation?.findAskedJob();
            return own && "kind" in own ? own : publishes || own?.jobId !== undefined;
        });
    }
    async #runPlan(plan) {
        const { ports, log } = this.#run;
        const { conversation } = this.#request;
        const memory = this.#memory;
        let hasJob = false;
        const { task, result: ended } = await (0,action_plan/* runPlan */.Fo)(plan, this.#run, async (each) => {
            const onAbort = () => memory.doubt();
            ports.signal.addEventListener("abort", onAbort, { once: true });
            const onJobId = (jobId) => {
                hasJob = true;
                memory.begin(each.kind, jobId);
            };
            conversation?.mark("about to send");
            const result = await this.#runTask(each, { onJobId, onPolled: () => this.#see(each.kind) });
            ports.signal.removeEventListener("abort", onAbort);
            if ((0,action_result/* endOf */.pJ)(result, this.#run.state))
                this.#see(each.kind, true);
            return compareHeads(result, this.#run);
        }, (reason, { jobId, leaves }) => {
            if (conversation)
                return conversation.replaceJob();
            log.startingOver(jobId, reason);
            if (reason === "rejected" && leaves)
                (0,session/* tellOfLeft */.eN)((0,runner_kit_text/* say */.cv) `Job ${jobId} failed before, and rejects the follow-up`, leaves, this.#run);
        });
        if ((0,action_result/* acceptanceOf */.BL)(ended) === "rejected")
            return this.#withdraw(ended, { task });
        memory.doubt();
        const stopping = (0,run_job/* stopOwnTurn */.mu)(task, ended, this.#run);
        const [result] = await Promise.all([stopping, memory.finish(ended, task.kind, { hasJob, stopping })]);
        return this.#end(result, task);
    }
    async #withdraw(result, { task, isShown = true, isSettled = this.#isSettled, } = {}) {
        if (isSettled)
            this.#request.conversation?.mark("nothing sent");
        if (!isShown)
            await this.#request.conversation?.discardUnmarked();
        await this.#memory.withdraw();
        const { finish, ...execution } = this.#end(result, task, "rejected");
        return { ...execution, ...(isShown && finish && { finish }) };
    }
    #end(result, task, acceptance = result.kind === "crashed" ? "unknown" : ((0,action_result/* acceptanceOf */.BL)(result) ?? "accepted")) {
        const { conversation } = this.#request;
        const { state } = this.#run;
        const isTold = state.features === undefined && state.origin !== "created" && (0,action_result/* endOf */.pJ)(result, state);
        if (isTold)
            conversation?.mark("job", state.jobId, { isSeen: true });
        const word = conversation?.word;
        const keepsWords = this.#evidence.keepsWords && !this.#memory.isReadOnly && !conversation?.thread;
        const left = { words: word ? [word] : this.#memory.words, keepsWords, acceptance };
        return {
            result,
            ...(task && { task }),
            rerun: (0,evidence/* rerunEffect */.Ef)(this.#evidence, left, this.#run),
            ...(conversation && !this.#run.settings.dryRun && { finish: (ending) => conversation.finish(ending) }),
        };
    }
    async #tellWait(decision) {
        const next = (0,decide/* decide */.L)((0,evidence/* withoutJob */.wu)(this.#evidence, decision.jobId));
        const isDoubtful = "isDoubtful" in decision && decision.isDoubtful === true;
        const plan = plannedWait(decision, next.do === "send" && !isDoubtful && !this.#request.conversation);
        return this.#withdraw({ kind: "skipped", reason: "dry-run", plan }, { task: { kind: "attach", jobId: decision.jobId } });
    }
    async #tellPlan(plan) {
        const { log, ports, settings } = this.#run;
        const { task } = plan;
        log.dryRun(task.prompt);
        await ports.agent?.check();
        const session = this.#request.conversation ? undefined : settings.session;
        const told = plannedTask(plan, session, ports.agent !== undefined);
        return this.#withdraw({ kind: "skipped", reason: "dry-run", plan: told }, { task });
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
class CacheEntryError extends Error {
    name = "CacheEntryError";
}
class CacheReadOnlyError extends Error {
    name = "CacheReadOnlyError";
}
function cacheAccess(environment) {
    const { ACTIONS_RESULTS_URL, ACTIONS_RUNTIME_TOKEN, ACTIONS_CACHE_URL } = environment;
    const isV2 = cacheProtocol(environment) === "v2";
    if (!(isV2 ? ACTIONS_RESULTS_URL && ACTIONS_RUNTIME_TOKEN : ACTIONS_CACHE_URL))
        return "absent";
    const mode = environment.ACTIONS_CACHE_MODE?.trim().toLowerCase() ?? "";
    return accessOfMode[mode] ?? "write";
}
const accessOfMode = { none: "none", "write-only": "none", read: "read" };
function hasCacheService(environment) {
    return ["read", "write"].includes(cacheAccess(environment));
}
function isForgetful(environment) {
    return ["none", "read"].includes(cacheAccess(environment));
}
function cacheProtocol(environment) {
    const hostname = URL.parse(environment.GITHUB_SERVER_URL || "https://github.com")?.hostname ?? "";
    const isEnterpriseServer = !/^github\.com$|\.ghe\.com$|\.localhost$/.test(hostname);
    return environment.ACTIONS_CACHE_SERVICE_V2 && !isEnterpriseServer ? "v2" : "v1";
}


/***/ })

};
