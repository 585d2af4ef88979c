export const id = 3;
export const ids = [3];
export const modules = {

/***/ 8003:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  start: () => (/* binding */ start)
});

;// CONCATENATED MODULE: ./build/client/clock.js
/** The longest delay `setTimeout` takes; it fires at once on anything longer. */
const longestTimerMs = 2 ** 31 - 1;
/** The machine's clock. */
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
        const timer = setTimeout(wake, Math.min(Math.max(ms, 0), longestTimerMs));
        signal?.addEventListener("abort", wake, { once: true });
    }),
};

// EXTERNAL MODULE: external "node:http"
var external_node_http_ = __webpack_require__(7067);
// EXTERNAL MODULE: external "node:https"
var external_node_https_ = __webpack_require__(4708);
;// CONCATENATED MODULE: ./build/client/errors.js
/** The root of all that the client throws on purpose. */
class AgentJobError extends Error {
    name = "AgentJobError";
}
/** Thrown when a request got no whole answer: no connection, a reset, a time-out, an abort, a body too large. */
class ExchangeError extends AgentJobError {
    name = "ExchangeError";
    phase;
    reason;
    /** What had come of the body: it may hold the id of a job. Outside text. */
    body;
    constructor(message, options) {
        super(message, { cause: options.cause });
        this.phase = options.phase;
        this.reason = options.reason;
        this.body = options.body ?? "";
    }
    get delivery() {
        return this.phase === "connecting" ? "not-sent" : "unclear";
    }
}
/** Thrown when the service, or a gateway before it, answered with anything but a 2xx. */
class RefusalError extends AgentJobError {
    name = "RefusalError";
    status;
    /** The service's own words, or empty. Outside text. */
    serviceMessage;
    /** Where a redirect pointed to, or empty. Outside text. */
    location;
    /** The least wait the service asked for, in milliseconds, where it asked for one that can be read. */
    retryAfterMs;
    /** The body of the answer. Outside text. */
    body;
    constructor(answer) {
        super(`HTTP ${answer.status}`);
        this.status = answer.status;
        this.serviceMessage = answer.serviceMessage;
        this.location = answer.location;
        this.retryAfterMs = answer.retryAfterMs;
        this.body = answer.body;
    }
}
/** Thrown when a 2xx came without a job record, or with the record of another job. */
class MalformedAnswerError extends AgentJobError {
    name = "MalformedAnswerError";
    /** The body of the answer. Outside text. */
    body;
    constructor(message, body) {
        super(message);
        this.body = body;
    }
}
function isRequestError(error) {
    return error instanceof ExchangeError || error instanceof RefusalError || error instanceof MalformedAnswerError;
}
/**
 * Thrown when a create or a message has failed for good. `taken` is what is known of it: `no` where the service
 * provably did not act on it, `unclear` where it may have, so that sending it again could do the work twice.
 * `jobId` is the id in what came of the answer to a create, where there was at least that; outside text.
 */
class SubmissionError extends AgentJobError {
    name = "SubmissionError";
    taken;
    jobId;
    cause;
    constructor(taken, cause, jobId) {
        super(cause.message, { cause });
        this.taken = taken;
        this.jobId = jobId;
        this.cause = cause;
    }
}

;// CONCATENATED MODULE: ./build/client/transport.js



/** A larger body is a fault: a job record has a few hundred bytes. */
const maxBodyBytes = 1024 * 1024;
/** A refusal counts as it stands when its body is not there by then, in milliseconds. */
const refusalBodyTimeoutMs = 2000;
const cancelled = "the step was cancelled";
/**
 * A transport over `node:http(s)`, which unlike `fetch` shows how far a connection had come when it broke, and so
 * whether the service can have seen the request. Proxies are taken from `environment`, for `https` alone: plain
 * `http` is for loopback hosts, and must not carry the key to a proxy.
 *
 * @param protocol - `https:` or `http:`
 * @throws ExchangeError where the proxy address in the environment cannot be used
 */
function createTransport(protocol, environment) {
    const client = protocol === "https:" ? external_node_https_ : external_node_http_;
    const agent = createAgent(protocol, environment);
    return (request) => {
        // The other side may have closed a kept-alive connection already, and a create sent into it would be in doubt. So
        // a POST always travels on a new one.
        if (request.method === "POST")
            agent.destroy();
        return exchange(client, agent, request);
    };
}
function createAgent(protocol, environment) {
    if (protocol !== "https:")
        return new external_node_http_.Agent({ keepAlive: true });
    try {
        return new external_node_https_.Agent({ keepAlive: true, proxyEnv: { ...environment } });
    }
    catch {
        // Node's error quotes the address, which may hold a password: it is not passed on.
        throw new ExchangeError("the proxy address in https_proxy is not a valid URL", {
            phase: "connecting",
            reason: "network",
        });
    }
}
function exchange(client, agent, request) {
    return new Promise((resolve, reject) => {
        let phase = "connecting";
        let settled = false;
        let incoming;
        let bodyTimer;
        let graceTimer;
        const chunks = [];
        const received = () => new TextDecoder().decode(Buffer.concat(chunks));
        const settle = () => {
            settled = true;
            clearTimeout(deadlineTimer);
            clearTimeout(bodyTimer);
            clearTimeout(graceTimer);
            request.signal.removeEventListener("abort", onAbort);
        };
        const succeed = (answer) => {
            if (settled)
                return;
            settle();
            resolve({ status: answer.statusCode ?? 0, headers: singleValued(answer.headers), body: received() });
        };
        const fail = (reason, message, cause) => {
            // What has come and waits in the stream counts too: reading it hands it to the listener below.
            while (incoming && !settled && incoming.read() !== null)
                ;
            // What came after a whole answer does not touch it, and a refusal stands whatever becomes of its body.
            if (incoming && (incoming.complete || !isSuccess(incoming.statusCode ?? 0)))
                succeed(incoming);
            if (!settled) {
                settle();
                reject(new ExchangeError(message, { phase, reason, cause, body: received() }));
            }
            outgoing.destroy();
        };
        const onError = (error) => {
            if (phase === "connecting" && isCertificateError(error))
                fail("certificate", error.message, error);
            else
                fail("network", describe(error), error);
        };
        const onAbort = () => {
            const end = () => fail("aborted", cancelled);
            if (phase === "connecting" || !request.graceMs)
                end();
            else
                graceTimer = setTimeout(end, request.graceMs);
        };
        const onAnswer = (answer) => {
            incoming = answer;
            phase = "reading";
            if (!isSuccess(answer.statusCode ?? 0)) {
                bodyTimer = setTimeout(() => fail("timeout", "its body did not come"), refusalBodyTimeoutMs);
            }
            let bytes = 0;
            answer.on("data", (chunk) => {
                bytes += chunk.length;
                if (bytes > maxBodyBytes)
                    fail("network", "the answer is larger than 1 MiB");
                else
                    chunks.push(chunk);
            });
            answer.on("end", () => (answer.complete ? succeed(answer) : fail("network", "the answer was cut off")));
            answer.on("error", (error) => fail("network", describe(error), error));
        };
        if (request.signal.aborted) {
            reject(new ExchangeError(cancelled, { phase, reason: "aborted" }));
            return;
        }
        const outgoing = client.request(request.url, { method: request.method, agent, headers: headersOf(request) });
        const seconds = Math.ceil(request.timeoutMs / 1000);
        const deadlineTimer = setTimeout(() => fail("timeout", `no whole answer within ${seconds} s`), request.timeoutMs);
        outgoing.on("socket", (socket) => {
            onceConnected(socket, () => {
                phase = "sending";
            });
        });
        outgoing.on("finish", () => {
            if (phase === "sending")
                phase = "waiting";
        });
        outgoing.on("response", onAnswer);
        outgoing.on("error", onError);
        // The last resort: Node closes some exchanges without an error, such as one answered with `101`.
        outgoing.on("close", () => fail("network", "the connection was closed before a whole answer came"));
        request.signal.addEventListener("abort", onAbort, { once: true });
        outgoing.end(request.body);
    });
}
/**
 * The first byte of a request leaves when the connection stands, and with TLS not before the other side's certificate
 * has been trusted. A reused or tunnelled socket is there already.
 */
function onceConnected(socket, then) {
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
/** Any 2xx: the specification leaves the exact code open. */
function isSuccess(status) {
    return status >= 200 && status < 300;
}
/** OpenSSL's verification errors and Node's own on host names, by the codes that Node documents under "TLS". */
function isCertificateError(error) {
    return /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|UNSPECIFIED$|CRL_|ERROR_IN_C|PATH_LENGTH)/.test(error.code ?? "");
}
/** With several addresses to a name, Node wraps the errors into one without a message; OpenSSL's is half a stack. */
function describe(error) {
    if (error instanceof AggregateError)
        return error.errors.map((each) => each.message).join("; ");
    if (error.code === "EPROTO" || error.code?.startsWith("ERR_SSL"))
        return `TLS failed: ${error.reason ?? error.code}`;
    return error.message || error.code || "the connection failed";
}
function singleValued(headers) {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]));
}

// EXTERNAL MODULE: ./node_modules/zod/v4/mini/schemas.js + 5 modules
var schemas = __webpack_require__(8395);
;// CONCATENATED MODULE: ./build/action/comments/event.js

/** Events that comment mode answers to. GitHub's documentation: "Events that trigger workflows". */
const commentEvents = ["issue_comment", "pull_request_review_comment"];
function isCommentEvent(name) {
    return commentEvents.includes(name);
}
const nullableText = schemas/* nullish */.cl6(schemas/* string */.YjP());
const user = schemas/* object */.Ikc({ login: schemas/* string */.YjP(), type: nullableText });
const repository = schemas/* object */.Ikc({ name: schemas/* string */.YjP(), owner: schemas/* object */.Ikc({ login: schemas/* string */.YjP() }) });
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
    }),
    pull_request: subject,
    repository,
});
/** The event in a payload, or `undefined` where the payload is none of that name. */
function parseEvent(name, payload) {
    if (name === "issue_comment") {
        const { data } = issueComment.safeParse(payload);
        return data && { ...common(data), subject: event_describe(data.issue, data.issue.pull_request !== undefined) };
    }
    const { data } = reviewComment.safeParse(payload);
    if (!data)
        return undefined;
    const { id, path, line, original_line, in_reply_to_id } = data.comment;
    return {
        ...common(data),
        subject: event_describe(data.pull_request, true),
        review: { rootId: in_reply_to_id ?? id, path, line: line ?? original_line ?? undefined },
    };
}
function common({ action, comment, repository }) {
    const { login, type } = comment.user;
    return {
        action,
        owner: repository.owner.login,
        repo: repository.name,
        comment: { id: comment.id, text: comment.body },
        author: { login, isBot: type === "Bot" || login.endsWith("[bot]") },
    };
}
function event_describe(data, isPullRequest) {
    const { number, title, body, html_url: url } = data;
    return { kind: isPullRequest ? "pull request" : "issue", number, title, body: body ?? "", url };
}

// EXTERNAL MODULE: ./node_modules/zod/v4/core/api.js + 1 modules
var api = __webpack_require__(3305);
;// CONCATENATED MODULE: ./build/client/contract.js

/** The four states of a job. Specification: "States and transitions". */
const knownStatuses = ["active", "completed", "archived", "failed"];
/** A field that is optional on the wire; one of a wrong type counts as absent, never as a fault. */
const lenientText = schemas/* catch */.MfU(schemas/* optional */.lqM(schemas/* string */.YjP()), undefined);
/** `.` and `..` would change the path of every later request; a lone surrogate cannot be put into one. */
const identifier = schemas/* string */.YjP().check(api/* _minLength */.m9(1), schemas/* refine */.YPB((id) => id !== "." && id !== ".." && id.isWellFormed()));
/**
 * An agent job record. Specification: "Agent job"; only `id` and `status` can be relied on, and a status outside
 * the four known ones is kept as it came.
 */
const jobRecord = schemas/* object */.Ikc({
    id: identifier,
    status: schemas/* string */.YjP(),
    source: schemas/* catch */.MfU(schemas/* optional */.lqM(schemas/* object */.Ikc({ repository: lenientText, ref: lenientText })), undefined),
    model: lenientText,
    prLink: lenientText,
    createdAt: lenientText,
    archivedAt: lenientText,
});
function isKnownStatus(status) {
    return knownStatuses.includes(status);
}
/** A state in which polling ends. Specification: "States and transitions". */
function isTerminal(status) {
    return isKnownStatus(status) && status !== "active";
}
/**
 * A response body as data, or `undefined` where it is no JSON.
 *
 * @param clean - what every string in it passes through
 */
function parseBody(body, clean) {
    try {
        return JSON.parse(body, (_key, value) => (typeof value === "string" ? clean(value) : value));
    }
    catch {
        return undefined;
    }
}
/** The job record that a response holds, or `undefined` where it holds none. */
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
const identified = schemas/* object */.Ikc({ id: identifier });
/** An object cut off anywhere behind its first member, where that is the id. */
const leadingId = /^\s*\{\s*"id"\s*:\s*("(?:[^"\\]|\\.)*")/;
/**
 * The id in a body that is no whole job record, or is not whole at all: better than none where a job was started.
 *
 * @param clean - what the id passes through
 */
function salvageId(body, clean) {
    const whole = identified.safeParse(parseBody(body, clean));
    if (whole.success)
        return whole.data.id;
    const text = leadingId.exec(body)?.[1];
    return text === undefined ? undefined : identifier.safeParse(parseBody(text, clean)).data;
}
const errorBody = schemas/* object */.Ikc({ error: schemas/* string */.YjP() });
/** The service's own words in an error body: `{ "error": "…" }`. Gateways answer with HTML or nothing: then none. */
function parseErrorMessage(data) {
    return errorBody.safeParse(data).data?.error.trim() ?? "";
}

// EXTERNAL MODULE: ./build/client/redact.js
var client_redact = __webpack_require__(9329);
;// CONCATENATED MODULE: ./build/client/retry.js

/** Whether a create or message that failed may be sent again. Never true where the service may have acted on it. */
function judgeSubmission(error) {
    if (error instanceof ExchangeError) {
        if (error.delivery === "unclear")
            return "unclear";
        return error.reason === "network" || error.reason === "timeout" ? "unreachable" : "refused";
    }
    if (error instanceof RefusalError) {
        if (error.status === 429)
            return "throttled";
        if (error.status === 503 && error.retryAfterMs !== undefined)
            return "throttled";
        // Below 300 there is no refusal: an answer that is no proper HTTP says nothing.
        return isPassingStatus(error.status) || error.status < 300 ? "unclear" : "refused";
    }
    return "unclear";
}
/** Whether a poll that failed is one to repeat at the next interval: all but a firm refusal and an abort. */
function isPassing(error) {
    if (error instanceof ExchangeError)
        return error.reason !== "aborted";
    if (error instanceof RefusalError)
        return error.status === 429 || isPassingStatus(error.status);
    return true;
}
/** Statuses by which a request is not firmly refused: it may have been acted on behind a gateway, or may be later. */
function isPassingStatus(status) {
    return status === 408 || status >= 500;
}
/**
 * `Retry-After` in milliseconds: whole seconds above 0, or an HTTP date in the future. Anything else is ignored.
 * RFC 9110, section 10.2.3.
 *
 * @param wallTimeMs - now, in milliseconds since 1970
 */
function parseRetryAfter(value, wallTimeMs) {
    const text = value?.trim() ?? "";
    if (/^\d+$/.test(text)) {
        const seconds = Math.min(Number(text), longestRetryAfterSeconds);
        return seconds > 0 ? seconds * 1000 : undefined;
    }
    const waitMs = parseHttpDate(text) - wallTimeMs;
    return waitMs > 0 ? waitMs : undefined;
}
/** A year: as good as never, and still a number that can be reckoned with and shown. */
const longestRetryAfterSeconds = 31_536_000;
/** The three forms a recipient must know (RFC 9110, section 5.6.7); `Date.parse` alone would take far more. */
const httpDate = /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/;
const asctimeDate = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
/** Milliseconds since 1970, or `NaN`. */
function parseHttpDate(text) {
    if (httpDate.test(text))
        return Date.parse(text);
    return asctimeDate.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
/** Full jitter on exponential delays from 1 s to 30 s: the wait before attempt `attempt` + 1, in milliseconds. */
function backoffMs(attempt, random) {
    return random * Math.min(30_000, 1000 * 2 ** Math.min(attempt, 10));
}

// EXTERNAL MODULE: ./build/client/trace.js
var trace = __webpack_require__(4575);
;// CONCATENATED MODULE: ./build/client/client.js






/** One request has this long, or the time left where that is less; in milliseconds. */
const requestTimeoutMs = 30_000;
/** A create or message is not sent again, nor in comment mode at all, with less time left: no answer could come. */
const leastTimeLeftMs = 1000;
/** How long connections that fail are tried again before a create or message is given up. */
const unreachableLimitMs = 60_000;
/** After an abort, a create in flight still gets this long for its answer, which holds the id of a job that runs. */
const createGraceMs = 5000;
/** A message in flight gets less: the id of its job is known. */
const messageGraceMs = 300;
/** A client of one project. All that the service says has passed through it without the key. */
function createClient(address, ports) {
    const { clock, random, onTrace = () => { } } = ports;
    const redact = (0,client_redact/* createRedactor */.l)(address.apiKey);
    const transport = (0,trace/* traced */.m)(ports.transport, () => clock.now(), (0,trace/* discreetly */.F)(onTrace, redact));
    const jobsPath = `/v2/agent/${encodeURIComponent(address.projectId)}/job`;
    async function request(method, path, limits, submission) {
        const answer = await transport({
            method,
            url: new URL(address.baseUrl.href.replace(/\/+$/, "") + path),
            headers: {
                accept: "application/json",
                "accept-encoding": "identity",
                authorization: `Bearer ${address.apiKey}`,
                "user-agent": "agent-job-action",
                ...(submission && { "content-type": "application/json" }),
            },
            ...(submission && { body: JSON.stringify({ prompt: submission.prompt }), graceMs: submission.graceMs }),
            timeoutMs: Math.max(0, Math.min(requestTimeoutMs, limits.deadline - clock.now())),
            signal: limits.signal,
        });
        const data = parseBody(answer.body, redact);
        if (!isSuccess(answer.status))
            throw refusal(answer, data);
        const job = parseJob(data);
        if (!job)
            throw new MalformedAnswerError(`HTTP ${answer.status} without a job record`, answer.body);
        return job;
    }
    function refusal(answer, data) {
        return new RefusalError({
            status: answer.status,
            serviceMessage: parseErrorMessage(data),
            location: redact(answer.headers.location ?? ""),
            retryAfterMs: parseRetryAfter(answer.headers["retry-after"], clock.wallTime()),
            body: answer.body,
        });
    }
    async function submit(send, limits, onRetry) {
        let unreachableSince;
        for (let attempt = 0;; attempt++) {
            const sentAt = clock.now();
            try {
                return await send();
            }
            catch (error) {
                if (!isRequestError(error))
                    throw error;
                const verdict = judgeSubmission(error);
                if (verdict === "unclear")
                    throw new SubmissionError("unclear", error, salvageId(error.body, redact));
                if (verdict === "refused")
                    throw new SubmissionError("no", error);
                if (verdict === "unreachable")
                    unreachableSince ??= sentAt;
                else
                    unreachableSince = undefined;
                if (limits.signal.aborted)
                    throw new SubmissionError("no", error);
                const now = clock.now();
                const latest = Math.min(limits.deadline - leastTimeLeftMs, unreachableSince === undefined ? Number.POSITIVE_INFINITY : unreachableSince + unreachableLimitMs);
                const leastDelayMs = retryAfterMs(error);
                if (now >= latest || now + leastDelayMs > latest)
                    throw new SubmissionError("no", error);
                const delayMs = Math.min(Math.max(leastDelayMs, backoffMs(attempt, random())), latest - now);
                onRetry({ error, delayMs });
                await clock.sleep(delayMs, limits.signal);
            }
        }
    }
    return {
        createJob: (prompt, limits, onRetry) => submit(() => request("POST", jobsPath, limits, { prompt, graceMs: createGraceMs }), limits, onRetry),
        sendMessage: (jobId, prompt, limits, onRetry) => submit(async () => {
            const path = `${jobsPath}/${encodeURIComponent(jobId)}/message`;
            return ofJob(jobId, await request("POST", path, limits, { prompt, graceMs: messageGraceMs }));
        }, limits, onRetry),
        getJob: async (jobId, limits) => ofJob(jobId, await request("GET", `${jobsPath}/${encodeURIComponent(jobId)}`, limits)),
    };
}
function ofJob(jobId, job) {
    if (job.id !== jobId)
        throw new MalformedAnswerError("it is the record of another job", "");
    return job;
}
function retryAfterMs(error) {
    return error instanceof RefusalError ? (error.retryAfterMs ?? 0) : 0;
}

;// CONCATENATED MODULE: ./build/action/comments/marker.js
/** Ids are short; a longer line would leave no room for the reply. */
const longestMarker = 4096;
/** The hidden last line of a reply; empty where the ids are too long for one. */
function writeMarker({ projectId, jobId, commentId }) {
    const fields = `project=${encodeURIComponent(projectId)} job=${encodeURIComponent(jobId)} comment=${commentId}`;
    const line = `<!-- agent-job-action ${fields} -->`;
    return line.length > longestMarker ? "" : line;
}
const markerLine = /^<!-- agent-job-action project=(\S+) job=(\S+) comment=(\d+) -->$/;
/** The marker of a reply, which is the whole of its last line and nowhere else. */
function readMarker(body) {
    const [, project, job, comment] = markerLine.exec(body.split(/\r?\n/).at(-1) ?? "") ?? [];
    if (project === undefined || job === undefined)
        return undefined;
    try {
        const jobId = decodeURIComponent(job);
        // As in a job record: these would change the path of a request.
        if (jobId === "." || jobId === "..")
            return undefined;
        return { projectId: decodeURIComponent(project), jobId, commentId: Number(comment) };
    }
    catch {
        return undefined;
    }
}

;// CONCATENATED MODULE: ./build/action/comments/permission.js

/** A person's permission in a repository, from the least to the most. GitHub's documentation: "Repository roles". */
const permissions = ["read", "triage", "write", "maintain", "admin"];
/** Whether a bot may trigger; `undefined` for a person, whose permission decides. */
function judgeBot({ login, isBot }, rules) {
    if (!isBot)
        return undefined;
    return rules.allowedBots.has(login.toLowerCase()) ? "allowed" : "bot";
}
const answer = schemas/* object */.Ikc({
    role_name: schemas/* catch */.MfU(schemas/* optional */.lqM(schemas/* string */.YjP()), undefined),
    permission: schemas/* catch */.MfU(schemas/* optional */.lqM(schemas/* string */.YjP()), undefined),
});
/**
 * Whether GitHub's answer on a collaborator's permission grants what is required; `undefined` where it names none.
 * `role_name` tells the five apart; a role of the organization's own making falls back on `permission`.
 * GitHub's documentation: "Get repository permissions for a user".
 */
function isPermitted(data, required) {
    const { role_name: role, permission } = answer.safeParse(data).data ?? {};
    const name = isPermission(role) ? role : permission;
    if (name === "none")
        return false;
    return isPermission(name) ? permissions.indexOf(name) >= permissions.indexOf(required) : undefined;
}
function isPermission(name) {
    return permissions.includes(name);
}

;// CONCATENATED MODULE: ./build/action/comments/prompt-template.js
/** What a prompt template may name. */
const placeholders = ["instruction", "author", "title", "body", "number", "url", "path", "line"];
const pattern = /\{\{([^{}]*)\}\}/g;
/** The names in a template that mean nothing. */
function unknownPlaceholders(template) {
    const names = [...template.matchAll(pattern)].map(([, name = ""]) => name.trim());
    return [...new Set(names.filter((name) => !isPlaceholder(name)))];
}
/** The prompt for an instruction: the template filled in one pass, so that what is filled in is never read again. */
function fillTemplate(template, instruction, event) {
    const { author, subject, review } = event;
    const values = {
        instruction,
        author: author.login,
        title: subject.title,
        body: subject.body,
        number: String(subject.number),
        url: subject.url,
        path: review?.path ?? "",
        line: review?.line === undefined ? "" : String(review.line),
    };
    return template.replace(pattern, (text, name) => {
        const placeholder = name.trim();
        return isPlaceholder(placeholder) ? values[placeholder] : text;
    });
}
/** The prompt where the author gave no template: the instruction, and where it was given. */
const defaultTemplate = ({ subject, review }) => {
    const place = review ? `\nFile: {{ path }}${review.line === undefined ? "" : ", line {{ line }}"}` : "";
    return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}, "{{ title }}"\n{{ url }}${place}`;
};
function isPlaceholder(name) {
    return placeholders.includes(name);
}

;// CONCATENATED MODULE: ./build/action/comments/thread.js


/** Each request to GitHub has this long, repeats and waits included. */
const thread_requestTimeoutMs = 10_000;
/** After a signal, the last edit has this long: the runner does not wait. */
const lastEditGraceMs = 1500;
/** After a signal, a reply that is being made has this long, so that it can still be edited. */
const postGraceMs = 200;
const perPage = 100;
const person = schemas/* object */.Ikc({ id: schemas/* int */.Whr() });
const reaction = schemas/* object */.Ikc({ user: person });
const comment = schemas/* object */.Ikc({
    id: schemas/* int */.Whr(),
    user: schemas/* nullish */.cl6(person),
    body: schemas/* nullish */.cl6(schemas/* string */.YjP()),
    in_reply_to_id: schemas/* nullish */.cl6(schemas/* int */.Whr()),
});
const comments = schemas/* array */.YOg(comment);
const anything = schemas/* unknown */.L5J();
/**
 * The thread of the comment that triggered the step. What GitHub does not let it do is not done: one warning in all,
 * and the job runs on.
 */
class Thread {
    #event;
    #ports;
    /** Monotonic time by which requests must be over, but for the last edit. */
    #deadline;
    #replyId;
    #hasTrouble = false;
    /** Edits go one after the other, so that the last one stays. */
    #edits = Promise.resolve();
    constructor(event, deadline, ports) {
        this.#event = event;
        this.#deadline = deadline;
        this.#ports = ports;
    }
    /** Reacts to the comment; the id of the account that this step acts as, where GitHub tells. */
    async react(content, isLast = false) {
        // After a signal there is time for the last edit alone.
        if (isLast && this.#ports.signal.aborted)
            return undefined;
        const route = `POST /repos/{owner}/{repo}/${this.#kind}/comments/{comment_id}/reactions`;
        const parameters = { comment_id: this.#event.comment.id, content };
        return (await this.#try("react to the comment", reaction, route, parameters, { isLast }))?.user.id;
    }
    /** Posts the reply; the id of its author, where it could be made. */
    async post(body) {
        const { review, subject } = this.#event;
        const route = review
            ? "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies"
            : "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
        const place = review
            ? { pull_number: subject.number, comment_id: review.rootId }
            : { issue_number: subject.number };
        const made = await this.#try("reply", comment, route, { ...place, body }, { graceMs: postGraceMs });
        this.#replyId = made?.id ?? this.#replyId;
        return made?.user?.id;
    }
    /** Takes an earlier reply for the one to edit. */
    adopt(replyId) {
        this.#replyId = replyId;
    }
    /** Puts `body` in the place of the reply, after all earlier edits; after a signal, at once or not at all. */
    edit(body, isLast = false) {
        const { signal } = this.#ports;
        const before = signal.aborted ? Promise.resolve() : this.#edits;
        this.#edits = before.then(async () => {
            if (this.#replyId === undefined || (signal.aborted && !isLast))
                return;
            const route = `PATCH /repos/{owner}/{repo}/${this.#kind}/comments/{comment_id}`;
            await this.#try("edit the reply", anything, route, { comment_id: this.#replyId, body }, { isLast });
        });
        return this.#edits;
    }
    /** All replies in the thread that remember a job of the project, oldest first; `undefined` where it cannot be read. */
    async recall(projectId) {
        const { review, subject } = this.#event;
        const route = review
            ? "GET /repos/{owner}/{repo}/pulls/{number}/comments"
            : "GET /repos/{owner}/{repo}/issues/{number}/comments";
        const found = [];
        for (let page = 1;; page++) {
            const parameters = { number: subject.number, per_page: perPage, page };
            const listed = await this.#try("read the thread", comments, route, parameters);
            if (!listed)
                return undefined;
            for (const { id, user, body, in_reply_to_id: root } of listed) {
                const marker = readMarker(body ?? "");
                const isHere = !review || root === review.rootId;
                if (marker?.projectId === projectId && user && isHere)
                    found.push({ ...marker, replyId: id, authorId: user.id });
            }
            if (listed.length < perPage)
                return found.sort((one, other) => one.replyId - other.replyId);
        }
    }
    get #kind() {
        return this.#event.review ? "pulls" : "issues";
    }
    async #try(what, schema, route, parameters, { isLast = false, graceMs = 0 } = {}) {
        const { github, clock, signal, onTrouble } = this.#ports;
        const { owner, repo } = this.#event;
        const leftMs = isLast ? thread_requestTimeoutMs : this.#deadline - clock.now();
        const limits = {
            timeoutMs: Math.min(thread_requestTimeoutMs, leftMs),
            signal,
            // The last word is not taken back by the signal that it tells of.
            graceMs: isLast ? lastEditGraceMs : graceMs,
        };
        try {
            if (leftMs <= 0)
                throw new Error("the time is up");
            const parsed = schema.safeParse(await github.request(route, { owner, repo, ...parameters }, limits));
            if (parsed.success)
                return parsed.data;
            throw new Error("GitHub's answer cannot be used");
        }
        catch (error) {
            const isCancelled = signal.aborted && !isLast;
            if (!this.#hasTrouble && !isCancelled)
                onTrouble(what, error);
            this.#hasTrouble ||= !isCancelled;
            return undefined;
        }
    }
}

;// CONCATENATED MODULE: ./build/action/comments/trigger.js
/**
 * Reads a new comment that begins with the phrase; the rest is the instruction. White space before the phrase and its
 * case mean nothing; white space or the end of the comment follows it. `new` as the first word asks for a new job.
 */
function readTrigger({ action, comment }, phrase) {
    if (action !== "created")
        return { skip: action === "edited" ? "edited" : "no-trigger" };
    const trigger = new RegExp(`^\\s*${RegExp.escape(phrase)}(?!\\S)`, "iu").exec(comment.text);
    if (!trigger)
        return { skip: "no-trigger" };
    const rest = comment.text.slice(trigger[0].length).trim();
    const isNew = /^new(?!\S)/i.test(rest);
    const instruction = isNew ? rest.slice("new".length).trim() : rest;
    return instruction === "" ? { skip: "no-instruction" } : { instruction, isNew };
}

;// CONCATENATED MODULE: ./build/action/comments/run-from-comment.js








/** Comment mode: whether the comment may start something, what it starts, and what the thread sees of it. */
async function converse(settings, mode, ports, facts) {
    const end = (ending) => ({ ending, finish: async () => { } });
    const event = readEvent(ports);
    if (!event)
        return end({ kind: "not-admitted", why: "event", detail: ports.event.name });
    const trigger = readTrigger(event, mode.phrase);
    if ("skip" in trigger)
        return end({ kind: "skipped", reason: trigger.skip });
    const github = await ports.connectGitHub();
    facts.startedAt = ports.clock.now();
    const refusal = await admit(event, mode, github, Math.min(thread_requestTimeoutMs, settings.timeoutMs), ports.signal);
    if (refusal)
        return end(refusal);
    const prompt = fillTemplate(mode.template ?? defaultTemplate(event), trigger.instruction, event);
    if (prompt.trim() === "")
        return end({ kind: "not-admitted", why: "prompt", detail: "" });
    const parts = { marker: "", isNewForOld: false };
    const deadline = facts.startedAt + settings.timeoutMs;
    const thread = mode.reply ? new Thread(event, deadline, { ...ports, github }) : undefined;
    const remember = (jobId) => {
        parts.marker = writeMarker({ projectId: settings.projectId, jobId, commentId: event.comment.id });
    };
    const announce = (jobId) => {
        remember(jobId);
        if (!ports.signal.aborted)
            void thread?.edit(ports.renderWorking(parts));
    };
    const run = async (task) => {
        // What an earlier attempt has started stays remembered, whatever becomes of this one.
        if (task.kind === "attach")
            remember(task.jobId);
        const ending = await ports.runJob(task, announce);
        if (isForgotten(ending, facts))
            parts.marker = "";
        // A message that may have been sent is not one for a re-run to send again.
        else if (task.kind === "message" && isInDoubt(ending))
            remember(task.jobId);
        return ending;
    };
    const finish = async (outcome, render) => {
        await thread?.edit(render(parts), true);
        const reaction = reactions[outcome];
        if (reaction)
            await thread?.react(reaction, true);
    };
    const isRerun = ports.attempt > 1;
    const isOwn = ({ commentId }) => commentId === event.comment.id;
    const actor = await thread?.react("eyes");
    let resumed;
    if (thread && isRerun && actor !== undefined) {
        const replies = await thread.recall(settings.projectId);
        if (!replies)
            return { ending: unreadable(ports), finish };
        const own = replies.findLast((reply) => reply.authorId === actor && isOwn(reply));
        if (own) {
            thread.adopt(own.replyId);
            resumed = { kind: "attach", jobId: own.jobId };
            const ending = await run(resumed);
            if (!isForgotten(ending, facts))
                return { ending, task: resumed, finish };
        }
    }
    facts.jobId = "";
    const author = await thread?.post(ports.renderWorking(parts));
    const replies = thread && (author !== undefined || isRerun) ? await thread.recall(settings.projectId) : [];
    // A first run can only miss what it might have gone on with; a re-run must not send again what it cannot see.
    const isUnknown = author === undefined && actor === undefined;
    if (isRerun && (!replies || (isUnknown && replies.some(isOwn))))
        return { ending: unreadable(ports), finish };
    if (deadline - ports.clock.now() < leastTimeLeftMs) {
        return { ending: { kind: "not-admitted", why: "time", detail: "" }, finish };
    }
    const earlier = (replies ?? []).filter(({ authorId }) => authorId === author);
    const unseen = isRerun && !resumed ? earlier.findLast(isOwn)?.jobId : undefined;
    const jobId = mode.jobId || (trigger.isNew ? undefined : earlier.at(-1)?.jobId);
    const [first, ...others] = tasksOf(prompt, { unseen, jobId, isFixed: mode.jobId !== "" });
    let task = first;
    let ending = await run(task);
    for (const next of others) {
        if (!isForgotten(ending, facts))
            break;
        facts.jobId = "";
        parts.isNewForOld = next.kind === "create";
        if (parts.isNewForOld)
            ports.onForgotten();
        task = next;
        ending = await run(task);
    }
    return { ending, task, finish };
}
/**
 * What to do, each where the service does not know the job of the one before: wait for the job that an earlier attempt
 * started, go on with a job, start a new one. The last does not apply where the workflow names the job.
 */
function tasksOf(prompt, jobs) {
    const { unseen, jobId, isFixed } = jobs;
    const goOn = jobId
        ? [{ kind: "message", jobId, prompt }, ...(isFixed ? [] : [{ kind: "create", prompt }])]
        : [{ kind: "create", prompt }];
    return unseen ? [{ kind: "attach", jobId: unseen }, ...goOn] : goOn;
}
/** The thread cannot be read on a re-run, so that what the first run has started is not known. */
function unreadable({ signal }) {
    if (signal.aborted)
        return { kind: "cancelled", operation: "create", taken: "no" };
    return { kind: "not-admitted", why: "thread", detail: "" };
}
/** What is shown of an outcome beside `eyes`. */
const reactions = {
    "pr-created": "hooray",
    failed: "confused",
    "timed-out": "confused",
    error: "confused",
};
function readEvent({ event }) {
    try {
        return parseEvent(event.name, event.readPayload());
    }
    catch {
        return undefined;
    }
}
/** Why the comment's author may not start anything; nothing where they may. */
async function admit({ author, owner, repo }, mode, github, timeoutMs, signal) {
    const bot = judgeBot(author, mode);
    if (bot)
        return bot === "allowed" ? undefined : { kind: "skipped", reason: "bot" };
    const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
    try {
        const answer = await github.request(route, { owner, repo, username: author.login }, { timeoutMs, signal });
        const isGranted = isPermitted(answer, mode.requiredPermission);
        if (isGranted === undefined)
            return { kind: "not-admitted", why: "permission", detail: "GitHub's answer names none" };
        return isGranted ? undefined : { kind: "skipped", reason: "not-permitted" };
    }
    catch (error) {
        if (signal.aborted)
            return { kind: "cancelled", operation: "create", taken: "no" };
        const detail = error instanceof Error ? error.message : String(error);
        return { kind: "not-admitted", why: "permission", detail };
    }
}
function isInDoubt(ending) {
    if (ending.kind === "not-submitted")
        return ending.error.taken === "unclear";
    return ending.kind === "cancelled" && ending.taken === "unclear";
}
/** The service does not know the job, and nothing was started by asking. */
function isForgotten(ending, facts) {
    if (ending.kind !== "not-submitted" && ending.kind !== "poll-refused")
        return false;
    const error = ending.kind === "not-submitted" ? ending.error.cause : ending.error;
    return error instanceof RefusalError && error.status === 404 && facts.timeline.length === 0;
}

;// CONCATENATED MODULE: ./build/action/report/format.js
/** A duration in milliseconds as people say it: `4 min 12 s`. */
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
/** A short delay in milliseconds, to the tenth of a second below a minute: `7.4 s`. */
function delay(ms) {
    return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);
}
/** Time since the start, in a fixed form that lines up: `04:12`, `1:04:12`. */
function elapsed(ms) {
    const seconds = Math.floor(ms / 1000);
    const two = (value) => String(value).padStart(2, "0");
    const hours = Math.floor(seconds / 3600);
    const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
    return hours > 0 ? `${hours}:${rest}` : rest;
}
/** The size of a text: `1,234 characters`. */
function size(text) {
    const characters = [...text].length;
    // `toLocaleString` would load all of `Intl`, which takes longer than anything else that a short step does.
    return `${String(characters).replace(/\B(?=(\d{3})+$)/g, ",")} ${characters === 1 ? "character" : "characters"}`;
}

;// CONCATENATED MODULE: ./build/action/report/icons.js
/** An outcome at a glance. */
const icons = {
    "pr-created": "✅",
    "no-changes": "⚪",
    failed: "❌",
    archived: "📦",
    "timed-out": "⏳",
    started: "🚀",
    cancelled: "⏹️",
    skipped: "⏭️",
    error: "❌",
};

;// CONCATENATED MODULE: ./build/action/report/text.js
/** Template tag for {@link Text}: a string filled in counts as outside text, another `Text` keeps its parts. */
function say(words, ...values) {
    return words.flatMap((own, index) => {
        const value = values[index];
        if (value === undefined)
            return [own];
        if (typeof value === "number")
            return [own, String(value)];
        return typeof value === "string" ? [own, { outside: value }] : [own, ...value];
    });
}
/** Words of our own that a function made, such as a duration. */
function own(words) {
    return [words];
}
/** Several texts as one, with `separator` between those that are not empty. */
function join(texts, separator) {
    return texts.filter((text) => text.length > 0).flatMap((text, index) => (index === 0 ? text : [separator, ...text]));
}
/** The text as a plain string, outside parts and all: for the gates in `untrusted.ts`. */
function plain(text) {
    return text.map((part) => (typeof part === "string" ? part : part.outside)).join("");
}
/** The text with its first letter in upper case. */
function capitalised(text) {
    const [first, ...rest] = text;
    return typeof first === "string" ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : text;
}

;// CONCATENATED MODULE: ./build/action/report/untrusted.js
/**
 * The one place where text from outside (the service, a prompt, an input, a file) is made harmless for where it goes.
 * Everything that is printed or written passes through here at the gate, whoever wrote it.
 */
/** Of outside text in the midst of ours, this much is shown: what to do must still fit behind it. */
const partLimit = 1000;
/** The runner shows this much of an annotation. */
const annotationLimit = 4096;
/** Control characters, ends of lines, and what is invisible or reorders text; but for the joiner that emoji need. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}]|(?!\u200d)\p{Cf}/gu;
/** A text in which all can be seen that is there; of the characters above, those in `keep` pass. */
function visible(text, keep) {
    return text
        .toWellFormed()
        .replace(unprintable, (character) => keep.includes(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
/** The runner takes `##[name]` for a command anywhere in a line, and `::name::` where a line begins with it. */
const commandMark = /##\[|^\s*::/;
function withoutCommandMarks(line) {
    return line.replaceAll("##[", "##\\[").replace(/^(\s*)::/, "$1\\::");
}
/** No line of the log needs more; outside text could fill it otherwise. */
const lineLimit = 10_000;
/** A line for the log. `isSuspect`: there was something in it that reads like a command to the runner. */
function forLog(text) {
    const line = visible(excerpt(text, lineLimit), "\t");
    return { line: withoutCommandMarks(line), isSuspect: commandMark.test(line) };
}
/** A sentence for an annotation: its own line ends stay, outside parts are each on one line and no longer than need be. */
function forAnnotation(text) {
    const parts = text.map((part) => (typeof part === "string" ? part : visible(excerpt(part.outside, partLimit), "\t")));
    return excerpt(parts.join("").split("\n").map(withoutCommandMarks).join("\n"), annotationLimit);
}
/**
 * A text as HTML that stands for nothing but itself, on one line: no markup, no Markdown (inside a block of HTML
 * there is none), no end of that block. For mentions and addresses that GitHub would turn into links, see {@link code}.
 *
 * @param limit - characters of the text at most
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
/** Outside text as code in HTML, where GitHub makes no mention, reference or link of it. */
function code(text, limit) {
    return `<code>${forHtml(text, limit)}</code>`;
}
/** A sentence as HTML: our own words as they are, what came from outside as {@link code}. */
function sentence(text) {
    return text
        .map((part) => (typeof part === "string" ? forHtml(part, part.length) : code(part.outside, partLimit)))
        .join("");
}
/** The first `limit` UTF-16 units of a text at most, never half a character. */
function excerpt(text, limit) {
    if (text.length <= limit)
        return text;
    return `${text
        .slice(0, limit - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`;
}

;// CONCATENATED MODULE: ./build/action/report/reply.js




/** The reply while the job is at work: GitHub's Markdown, made of blocks of HTML as the job summary is. */
function renderWorking(frame) {
    const link = `<a href="${forHtml(frame.runUrl, 4096)}">Follow the run</a>`;
    return blocks([`<p>⏳ <b>The agent is at work.</b> ${link}.</p>`, note(frame), frame.marker]);
}
/** The reply when the run has ended: the outcome, the pull request, what to do next and how to go on. */
function renderResult(run, frame) {
    const { outcome, message, facts, elapsedMs } = run;
    const head = [`${icons[outcome]} <b>${forHtml(message.title)}</b>`];
    if (facts.pullRequest) {
        const { url, number } = facts.pullRequest;
        head.push(`<a href="${forHtml(url, url.length)}">${number ? `Pull request ${number}` : "Pull request"}</a>`);
    }
    if (facts.jobId)
        head.push(`took ${duration(elapsedMs)}`);
    head.push(`<a href="${forHtml(frame.runUrl, 4096)}">Run</a>`);
    const advice = (frame.marker && adviceInThread[outcome]) || message.next;
    const goOn = `<sub>To go on with this job, comment ${code(`${frame.phrase} …`)}. ${code(`${frame.phrase} new …`)} starts another.</sub>`;
    return blocks([
        `<p>${head.join(" · ")}</p>`,
        `<p>${sentence(message.what)}</p>`,
        advice.length > 0 ? `<p>${sentence(advice)}</p>` : "",
        note(frame),
        frame.marker ? `<p>${goOn}</p>` : "",
        frame.marker,
    ]);
}
const waitOn = say `To wait for it, re-run the workflow's run: that sends nothing again.`;
/** What to do next where the thread remembers the job, so that nobody has to care for its id. */
const adviceInThread = {
    "no-changes": say `If a change was expected, say more precisely what is wanted.`,
    failed: say `See the dashboard for the cause.`,
    archived: [],
    "timed-out": waitOn,
    cancelled: waitOn,
    started: waitOn,
};
function note({ note: text }) {
    return text.length > 0 ? `<p>${sentence(text)}</p>` : "";
}
function blocks(parts) {
    return parts.filter(Boolean).join("\n\n");
}

;// CONCATENATED MODULE: ./build/client/schedule.js
/**
 * The delay before the next poll, in milliseconds: 10 % of the time waited so far, within the two intervals.
 * Short jobs are noticed early and long ones cost few requests. The jitter, wide on the first delay, spreads out jobs
 * that were started together.
 *
 * @param random - a number in [0, 1)
 */
function nextPollDelayMs(waitedMs, isFirst, intervals, random) {
    const base = Math.min(Math.max(waitedMs * 0.1, intervals.minMs), intervals.maxMs);
    return base * (isFirst ? 0.5 + random : 0.8 + 0.4 * random);
}

;// CONCATENATED MODULE: ./build/client/wait.js




/** A job just created may not be found at once: `404` is passing for this long. */
const notFoundGraceMs = 10_000;
/** A record may show the state from before a message for this long. */
const staleStateMs = 15_000;
/** The last poll has this long for its answer, or a tenth of the whole time where that is less. */
const lastPollReserveMs = 1000;
/**
 * Polls a job until it has ended, the deadline has come or the signal aborts. A poll that fails for a passing reason
 * is repeated at the next interval.
 *
 * @throws RequestError where the service firmly refuses a poll
 */
async function waitForJob(request, client, ports, onEvent) {
    const { jobId, origin, startedAt, deadline, signal } = request;
    const { clock, random } = ports;
    let hasSeenActive = origin.kind === "messaged" && origin.job.status === "active";
    const reserveMs = Math.min(lastPollReserveMs, (deadline - startedAt) / 10);
    let lastError;
    let hasAnswer = false;
    let hasContact = origin.kind !== "attached";
    let delays = 0;
    /** The delay before the next poll; none where the time is up without another. */
    const nextDelay = (leastMs = 0) => {
        const waitedMs = clock.now() - startedAt;
        const delayMs = Math.max(nextPollDelayMs(waitedMs, delays++ === 0, request.intervals, random()), leastMs);
        const latestMs = deadline - reserveMs - clock.now();
        return latestMs > 0 ? Math.min(delayMs, latestMs) : undefined;
    };
    let delayMs = origin.kind === "attached" ? 0 : nextDelay();
    for (;;) {
        await clock.sleep(delayMs ?? deadline - clock.now(), signal);
        if (signal.aborted)
            return { end: "cancelled" };
        if (delayMs === undefined)
            return { end: "timed-out", ...(lastError && { lastError }) };
        const sentAt = clock.now();
        try {
            const job = await client.getJob(jobId, { deadline, signal });
            hasSeenActive ||= job.status === "active";
            const isStale = origin.kind === "messaged" && isTerminal(job.status) && !hasSeenActive && sentAt - origin.at < staleStateMs;
            const isSettled = request.until === "answer" || (isTerminal(job.status) && !isStale);
            lastError = undefined;
            hasAnswer = true;
            hasContact = true;
            delayMs = isSettled ? undefined : nextDelay();
            onEvent({ kind: "polled", job, isStale, ...(delayMs !== undefined && { nextDelayMs: delayMs }) });
            if (isSettled)
                return { end: "settled", job };
        }
        catch (error) {
            if (signal.aborted)
                return { end: "cancelled" };
            if (!isRequestError(error) || !isRepeatable(error, { origin, hasContact, sentAt }))
                throw error;
            // A poll that the deadline cut off tells nothing of the service.
            if (clock.now() >= deadline && hasAnswer)
                return { end: "timed-out", ...(lastError && { lastError }) };
            hasContact ||= !(error instanceof ExchangeError);
            lastError = error;
            delayMs = nextDelay(error instanceof RefusalError ? error.retryAfterMs : 0);
            onEvent({ kind: "poll-failed", error, ...(delayMs !== undefined && { nextDelayMs: delayMs }) });
        }
    }
}
function isRepeatable(error, poll) {
    const { origin } = poll;
    if (error instanceof RefusalError && error.status === 404) {
        return origin.kind === "created" && poll.sentAt - origin.at < notFoundGraceMs;
    }
    // Where the address has been reached before, a certificate may be a passing fault of the way to it.
    if (!poll.hasContact && error instanceof ExchangeError && error.reason === "certificate")
        return false;
    return isPassing(error);
}

;// CONCATENATED MODULE: ./build/action/run-job.js






/** The story of a run: (create | message |) wait. */
async function run(inputs, ports, facts, log) {
    const { clock, random, signal } = ports;
    const { task } = inputs;
    const operation = task.kind === "attach" ? "poll" : task.kind;
    if (task.kind !== "create")
        facts.jobId = task.jobId;
    if (signal.aborted)
        return { kind: "cancelled", operation, taken: task.kind === "attach" ? "yes" : "no" };
    try {
        log.starting(inputs);
        const transport = ports.connect(inputs.baseUrl.protocol);
        const client = createClient(inputs, { transport, clock, random, onTrace: (trace) => log.trace(trace) });
        // Comment mode has asked GitHub before: that counts toward the time too.
        facts.startedAt ??= clock.now();
        const { startedAt } = facts;
        const limits = { deadline: startedAt + inputs.timeoutMs, signal };
        let origin = { kind: "attached" };
        if (task.kind !== "attach") {
            const job = await run_job_submit(task, client, limits, (notice) => log.retrying(notice.error, notice.delayMs, facts.elapsedMs(clock.now())));
            learn(job, ports, facts, log);
            log.submitted(task.kind, job, facts);
            if (signal.aborted)
                return { kind: "cancelled", operation, taken: "yes" };
            const isCreate = task.kind === "create";
            if (isCreate && (!inputs.wait || isTerminal(job.status)))
                return { kind: "settled", job };
            if (!inputs.wait)
                return { kind: "started" };
            origin = { kind: isCreate ? "created" : "messaged", job, at: clock.now() };
        }
        log.waiting(inputs, facts);
        const until = inputs.wait ? "terminal" : "answer";
        const request = { ...limits, jobId: facts.jobId, origin, startedAt, intervals: inputs.intervals, until };
        const result = await waitForJob(request, client, { clock, random }, (event) => {
            if (event.kind === "polled")
                learn(event.job, ports, facts, log);
            log.poll(event, facts.elapsedMs(clock.now()));
        }).finally(() => log.waited());
        switch (result.end) {
            case "settled":
                return { kind: "settled", job: result.job };
            case "timed-out":
                return { kind: "timed-out", ...(result.lastError && { lastError: result.lastError }) };
            case "cancelled":
                return { kind: "cancelled", operation, taken: "yes" };
        }
    }
    catch (error) {
        return endingOf(error, operation, ports, facts, log);
    }
}
function run_job_submit(task, client, limits, onRetry) {
    return task.kind === "create"
        ? client.createJob(task.prompt, limits, onRetry)
        : client.sendMessage(task.jobId, task.prompt, limits, onRetry);
}
/** Takes in a record; a job's id is handed on at once, whatever comes after. */
function learn(job, { clock, announceJob }, facts, log) {
    const isNew = facts.timeline.length === 0;
    const hadBadLink = facts.hasBadLink;
    facts.learn(job, clock.now());
    if (isNew)
        announceJob(job.id);
    if (facts.hasBadLink && !hadBadLink) {
        log.warn("Unusable pull request link", say `The service gave ${excerpt(job.prLink, 300)} as the pull request, which is no http(s) address without credentials. It counts as none.`);
    }
}
function endingOf(error, operation, ports, facts, log) {
    if (operation !== "poll" && error instanceof SubmissionError) {
        if (operation === "create" && error.jobId !== undefined) {
            facts.jobId = error.jobId;
            ports.announceJob(error.jobId);
        }
        if (ports.signal.aborted)
            return { kind: "cancelled", operation, taken: error.taken };
        return { kind: "not-submitted", operation, error };
    }
    if (isRequestError(error)) {
        // Before the answer to a create or message there is no poll: then there was no way to the service at all.
        return operation !== "poll" && facts.timeline.length === 0
            ? { kind: "not-submitted", operation, error: new SubmissionError("no", error) }
            : { kind: "poll-refused", error };
    }
    log.debug(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { kind: "broken", error };
}

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
;// CONCATENATED MODULE: ./build/action/runner/event-file.js

/** The payload of the event that started the workflow, which the runner keeps in a file: `GITHUB_EVENT_PATH`. */
function readEventFile(path) {
    return JSON.parse((0,external_node_fs_.readFileSync)(path, "utf8"));
}

;// CONCATENATED MODULE: ./build/action/execute.js






/** Does what the inputs ask for: in comment mode what the comment asks for, if it may. Never rejects. */
async function tell(inputs, ports, facts, log) {
    const { settings, mode } = inputs;
    if (mode.kind === "task") {
        return { ending: await run({ ...settings, task: mode.task }, ports, facts, log), task: mode.task };
    }
    try {
        return await tellInThread(settings, mode, ports, facts, log);
    }
    catch (error) {
        log.debug(error instanceof Error ? (error.stack ?? error.message) : String(error));
        return { ending: { kind: "broken", error } };
    }
}
async function tellInThread(settings, mode, ports, facts, log) {
    const { environment, clock, signal } = ports;
    const name = environment.GITHUB_EVENT_NAME;
    if (!isCommentEvent(name))
        throw new Error("comment mode needs the event of a comment");
    const frame = ({ marker, isNewForOld }) => ({
        runUrl: runUrl(environment),
        phrase: mode.phrase,
        note: isNewForOld ? forgotten : [],
        marker,
    });
    const conversation = await converse(settings, mode, {
        clock,
        signal,
        connectGitHub: () => ports.connectGitHub(mode.token, environment.GITHUB_API_URL || "https://api.github.com", (trace) => log.trace(trace)),
        event: { name, readPayload: () => readEventFile(environment.GITHUB_EVENT_PATH ?? "") },
        attempt: Number(environment.GITHUB_RUN_ATTEMPT ?? 1),
        runJob: (task, announce) => {
            const announceJob = (jobId) => {
                ports.announceJob(jobId);
                announce(jobId);
            };
            return run({ ...settings, task }, { ...ports, announceJob }, facts, log);
        },
        onForgotten: () => log.note(forgotten),
        onTrouble: (what, error) => log.warn("GitHub does not let the step take part in the thread", say `It could not ${what} (${error instanceof Error ? error.message : String(error)}). The job is not affected, but replies, reactions and what the thread remembers may be missing. The step needs github-token with issues: write and pull-requests: write.`),
        renderWorking: (parts) => renderWorking(frame(parts)),
    }, facts);
    const { finish } = conversation;
    return { ...conversation, finish: (outcome, render) => finish(outcome, (parts) => render(frame(parts))) };
}
const forgotten = say `The service does not know the job of this thread any more, so a new one was started.`;
function runUrl(environment) {
    const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = environment;
    return `${server || "https://github.com"}/${repository ?? ""}/actions/runs/${run ?? ""}`;
}

// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
;// CONCATENATED MODULE: ./build/action/inputs/prompt-file.js



/**
 * The prompt in a file of the workspace, as it was written but for a byte order mark. A path that leaves the
 * workspace, also through a link, is refused: where a stranger's branch is checked out, such a link could hand any
 * file of the runner to the agent.
 */
function readPromptFile(path, workspace) {
    try {
        const root = (0,external_node_fs_.realpathSync)(workspace);
        const file = (0,external_node_fs_.realpathSync)((0,external_node_path_.resolve)(root, path));
        const fromRoot = (0,external_node_path_.relative)(root, file);
        if (fromRoot === ".." || fromRoot.startsWith(`..${external_node_path_.sep}`) || (0,external_node_path_.isAbsolute)(fromRoot)) {
            return { problem: say `must lie in the workspace, but ${path} leads out of it` };
        }
        // A link of a stranger's branch could name git's own files, which may hold the token of the checkout.
        if (fromRoot.split(external_node_path_.sep).some((name) => name.toLowerCase() === ".git")) {
            return { problem: say `must not lie in .git, but ${path} does` };
        }
        if (!(0,external_node_fs_.statSync)(file).isFile())
            return { problem: say `must be a file, but ${path} is none` };
        const text = new TextDecoder("utf-8", { fatal: true }).decode((0,external_node_fs_.readFileSync)(file));
        return text.trim() === "" ? { problem: say `is empty: ${path} holds no text` } : { text };
    }
    catch (error) {
        return { problem: prompt_file_describe(error, path) };
    }
}
function prompt_file_describe(error, path) {
    if (error.code === "ENOENT")
        return say `does not exist: there is no ${path} in the workspace; check the path, and that the repository is checked out`;
    if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA")
        return say `must be UTF-8 text, but ${path} is not`;
    return say `cannot be read: ${path} (${error.code ?? error.message})`;
}

;// CONCATENATED MODULE: ./build/action/inputs/rules.js


/** Outcomes that `fail-on` may name. */
const failableOutcomes = ["failed", "archived", "timed-out", "no-changes"];
/** A schema rule from a function that names the problem with a value, if there is one. */
const rule = (problemWith) => schemas/* check */.z6Y((context) => {
    const message = problemWith(context.value);
    if (message)
        context.issues.push({ code: "custom", message, input: context.value, continue: false });
});
const trueWords = ["true", "True", "TRUE"];
const falseWords = ["false", "False", "FALSE"];
/** YAML 1.2 core schema, as the toolkit's `getBooleanInput` reads it. */
const rules_boolean = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => ([...trueWords, ...falseWords].includes(value) ? undefined : "must be true or false"))), schemas/* transform */.pdi((value) => trueWords.includes(value)));
const positiveDecimal = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => /^\d+(\.\d+)?$/.test(value) && Number(value) > 0 && Number.isFinite(Number(value))
    ? undefined
    : "must be a plain decimal number above 0, such as 5 or 0.5")), schemas/* transform */.pdi(Number));
const notDots = rule((value) => value === "." || value === ".." ? `must not be ${value}, which would change the address of the request` : undefined);
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
function baseUrlProblem(value) {
    if (!URL.canParse(value))
        return "must be an absolute URL, such as https://api.mintlify.com";
    const url = new URL(value);
    if (url.username || url.password || /^[^/]*\/\/[^/]*@/.test(value))
        return "must not hold credentials; the key belongs in api-key";
    if (/[?#]/.test(value))
        return "must not hold a query or a fragment";
    if (url.protocol === "https:" || (url.protocol === "http:" && loopbackHost.test(url.hostname)))
        return undefined;
    return "must begin with https:// (http:// is for a loopback host such as localhost alone): the key would be sent in the clear";
}
function apiKeyProblem(value) {
    if (value === "") {
        return ("is empty. Set it from a secret: api-key: $" +
            "{{ secrets.NAME }}. Check the secret's name; in runs for pull requests from forks secrets are always empty, " +
            "and runs started by Dependabot see Dependabot's secrets alone");
    }
    if (!/^[\x21-\x7e]+$/.test(value)) {
        return "holds a line break, a space or another character that no API key has. Paste the key into the secret again";
    }
    const otherKind = { mint_dsc_: "an assistant key", mint_us_: "an index key" };
    for (const [prefix, kind] of Object.entries(otherKind)) {
        if (value.startsWith(prefix))
            return `is ${kind} (${prefix}…). Agent jobs need an admin key`;
    }
    return undefined;
}
/** An id that becomes a segment of a path. */
const rules_identifier = schemas/* string */.YjP().check(notDots);
const projectId = schemas/* string */.YjP().check(rule((value) => (value ? undefined : "is empty. Copy it from the API keys page of the dashboard")), notDots);
/** `https`, or `http` to this machine; a path is kept. */
const baseUrl = schemas/* pipe */.FsL(schemas/* string */.YjP().check(rule(baseUrlProblem)), schemas/* transform */.pdi((value) => new URL(value)));
const apiKey = schemas/* string */.YjP().check(rule(apiKeyProblem));
/** Empty, or what a header may hold. */
const githubToken = schemas/* string */.YjP()
    .check(rule((value) => (/^[\x21-\x7e]*$/.test(value) ? undefined : "holds characters that no token has")));
/** Outcomes to fail on, or none. */
const failOn = schemas/* pipe */.FsL(schemas/* string */.YjP().check(rule((value) => {
    const names = listOf(value);
    const known = failableOutcomes;
    const isValid = value === "none" || (names.length > 0 && names.every((name) => known.includes(name)));
    return isValid
        ? undefined
        : `must list any of ${failableOutcomes.join(", ")}, separated by commas, or be none alone`;
})), schemas/* transform */.pdi((value) => new Set(failableOutcomes.filter((outcome) => listOf(value).includes(outcome)))));
function listOf(value) {
    return value.split(",").map((name) => name.trim());
}
/** The least repository permission. */
const requiredPermission = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => permissions.includes(value) ? undefined : `must be one of ${permissions.join(", ")}`)), schemas/* transform */.pdi((value) => value));
/** Logins of bots, in lower case, as GitHub does not tell cases of logins apart. */
const allowedBots = schemas/* pipe */.FsL(schemas/* string */.YjP()
    .check(rule((value) => value.includes("*") ? "must list logins, such as renovate[bot]; there is no wildcard" : undefined)), schemas/* transform */.pdi((value) => new Set(listOf(value.toLowerCase()).filter(Boolean))));

;// CONCATENATED MODULE: ./build/action/inputs/schema.js




/** Every input of `action.yml` with its default, which an empty input means too. */
const inputDefaults = {
    prompt: "",
    "prompt-file": "",
    "job-id": "",
    "project-id": "",
    "api-key": "",
    "base-url": "https://api.mintlify.com",
    wait: "true",
    "timeout-minutes": "60",
    "poll-interval-seconds": "5",
    "max-poll-interval-seconds": "15",
    "fail-on": "failed, timed-out",
    summary: "true",
    "trigger-phrase": "",
    "required-permission": "write",
    "allowed-bots": "",
    reply: "true",
    // In action.yml the workflow's own token, which the runner fills in.
    "github-token": "",
};
const schema = schemas/* object */.Ikc({
    prompt: schemas/* string */.YjP(),
    "prompt-file": schemas/* string */.YjP(),
    "job-id": rules_identifier,
    "project-id": projectId,
    "api-key": apiKey,
    "base-url": baseUrl,
    wait: rules_boolean,
    "timeout-minutes": positiveDecimal,
    "poll-interval-seconds": positiveDecimal,
    "max-poll-interval-seconds": positiveDecimal,
    "fail-on": failOn,
    summary: rules_boolean,
    "trigger-phrase": schemas/* string */.YjP(),
    "required-permission": requiredPermission,
    "allowed-bots": allowedBots,
    reply: rules_boolean,
    "github-token": githubToken,
});
/** All inputs as typed values, or all that is wrong with them. */
function parseInputs({ read, readPromptFile, isCommentEvent }) {
    const names = Object.keys(inputDefaults);
    const raw = Object.fromEntries(names.map((name) => [name, valueOrDefault(name, read(name))]));
    const parsed = schema.safeParse(raw);
    const file = raw["prompt-file"] ? readPromptFile(raw["prompt-file"]) : undefined;
    const prompt = file && "text" in file ? file.text : raw.prompt;
    const isComment = isCommentEvent && raw["trigger-phrase"] !== "";
    const problems = [
        ...(parsed.error?.issues ?? []).map((issue) => ({
            input: issue.path[0],
            problem: own(issue.message),
        })),
        ...promptProblems(raw, file, isComment),
        ...intervalProblems(raw),
        ...(isComment ? commentProblems(raw, prompt) : []),
    ];
    if (!parsed.success || problems.length > 0) {
        return { ok: false, problems, summary: rules_boolean.safeParse(raw.summary).data ?? true };
    }
    const values = parsed.data;
    const settings = {
        projectId: values["project-id"],
        apiKey: values["api-key"],
        baseUrl: values["base-url"],
        wait: values.wait,
        timeoutMs: values["timeout-minutes"] * 60_000,
        intervals: {
            minMs: values["poll-interval-seconds"] * 1000,
            maxMs: values["max-poll-interval-seconds"] * 1000,
        },
        failOn: values["fail-on"],
        summary: values.summary,
    };
    if (!isComment)
        return { ok: true, settings, mode: { kind: "task", task: taskOf(values["job-id"], prompt) } };
    return {
        ok: true,
        settings,
        mode: {
            kind: "comment",
            phrase: values["trigger-phrase"],
            template: prompt === "" ? undefined : prompt,
            jobId: values["job-id"],
            reply: values.reply,
            token: values["github-token"],
            requiredPermission: values["required-permission"],
            allowedBots: values["allowed-bots"],
        },
    };
}
function promptProblems(raw, file, isComment) {
    if (raw.prompt && raw["prompt-file"]) {
        return [{ input: "prompt-file", problem: say `cannot be given together with prompt` }];
    }
    if (file && "problem" in file)
        return [{ input: "prompt-file", problem: file.problem }];
    if (raw.prompt || file || raw["job-id"] || isComment)
        return [];
    const problem = say `is empty. Give prompt or prompt-file, or a job-id alone to wait for that job`;
    return [{ input: "prompt", problem }];
}
function intervalProblems(raw) {
    const minSeconds = positiveDecimal.safeParse(raw["poll-interval-seconds"]).data ?? 0;
    const maxSeconds = positiveDecimal.safeParse(raw["max-poll-interval-seconds"]).data ?? Number.POSITIVE_INFINITY;
    if (maxSeconds >= minSeconds)
        return [];
    const problem = say `is ${maxSeconds}, but must be at least poll-interval-seconds, which is ${minSeconds}`;
    return [{ input: "max-poll-interval-seconds", problem }];
}
function commentProblems(raw, template) {
    const problems = [];
    const unknown = unknownPlaceholders(template);
    if (unknown.length > 0) {
        problems.push({
            input: raw["prompt-file"] ? "prompt-file" : "prompt",
            problem: say `names ${unknown.map((name) => `{{ ${name} }}`).join(", ")}, but a template knows only ${own(placeholders.join(", "))}`,
        });
    }
    if (raw["github-token"] === "") {
        const problem = say `is empty, but a trigger-phrase needs it. Leave it out for the workflow's own token`;
        problems.push({ input: "github-token", problem });
    }
    return problems;
}
/** White space around a value means nothing, but a prompt is sent as it was written. */
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

;// CONCATENATED MODULE: ./build/action/outcome.js
function outcomeOf(ending, facts) {
    switch (ending.kind) {
        case "settled":
            if (ending.job.status === "completed")
                return facts.pullRequest ? "pr-created" : "no-changes";
            if (ending.job.status === "failed" || ending.job.status === "archived")
                return ending.job.status;
            return "started";
        case "started":
        case "timed-out":
        case "cancelled":
        case "skipped":
            return ending.kind;
        default:
            return "error";
    }
}
/** Whether the step passes. `error` and `cancelled` always fail it, `pr-created`, `started` and `skipped` never do. */
function passes(outcome, failOn) {
    if (outcome === "error" || outcome === "cancelled")
        return false;
    return !failOn.has(outcome);
}
/** Every output of `action.yml`; empty where unknown. */
function outputsOf(outcome, facts, now, skipReason = "") {
    return {
        "job-id": facts.jobId,
        status: facts.status,
        "pr-link": facts.pullRequest?.url ?? "",
        "pr-number": facts.pullRequest?.number ?? "",
        outcome,
        "skip-reason": skipReason,
        model: facts.model,
        repository: facts.repository,
        ref: facts.ref,
        "created-at": facts.createdAt,
        "archived-at": facts.archivedAt,
        "duration-seconds": facts.startedAt === undefined ? "" : String(Math.floor(facts.elapsedMs(now) / 1000)),
    };
}

;// CONCATENATED MODULE: ./build/action/report/request-failure.js




/** Why a request failed and what to do about it. */
function describeRequestError(operation, error, context) {
    if (error instanceof RefusalError)
        return describeRefusal(operation, error, context);
    const address = context.settings?.baseUrl.href;
    const what = [...capitalised(describeFault(error, address)), "."];
    if (error instanceof MalformedAnswerError)
        return { what, next: say `Check base-url.` };
    if (error.reason === "certificate") {
        return {
            what,
            next: say `Check base-url. If a private authority signed the certificate, name that authority's file in the environment variable NODE_EXTRA_CA_CERTS of the step.`,
        };
    }
    return {
        what,
        next: say `Check base-url, the runner's network and its proxy settings (https_proxy, no_proxy), then run again.`,
    };
}
function describeRefusal(operation, error, { settings, facts }) {
    const fault = [...capitalised(describeFault(error)), "."];
    const because = (reason) => join([reason, fault], " ");
    const project = settings?.projectId ?? "";
    switch (error.status) {
        case 400:
            if (operation === "poll")
                return { what: fault, next: say `Check job-id and project-id.` };
            return {
                what: because(say `The service refused the prompt.`),
                next: say `Change the prompt as the service's message says, then run again.`,
            };
        case 401:
            return {
                what: because(say `The service does not accept the API key.`),
                next: say `The key is wrong, deleted or expired (a key lives 90 days by default). Create an admin key on the API keys page of the dashboard and update the secret.`,
            };
        case 403:
            return {
                what: because(say `The API key may not be used from here.`),
                next: say `A key can be bound to IP addresses: allow the runner's address on the API keys page of the dashboard, or use a runner with a fixed address.`,
            };
        case 404:
            if (operation === "create") {
                return {
                    what: because(say `The service knows no project ${project}.`),
                    next: say `Copy project-id from the API keys page of the dashboard, and check base-url.`,
                };
            }
            return {
                what: because(say `The service knows no job ${facts.jobId} in project ${project}.`),
                next: say `Check job-id and project-id: a job is found in its own project alone.`,
            };
        case 429:
            return {
                what: because(say `The rate limit is reached: 100 jobs and 100 messages per project and hour.`),
                next: say `Run again when the hour has passed, and spread out the runs. With a longer timeout-minutes the action waits for its turn.`,
            };
        case 503:
            return {
                what: because(say `The service is not available for now.`),
                next: say `Run again later. With a longer timeout-minutes the action waits for it.`,
            };
    }
    if (error.status < 400) {
        return {
            what: because(say `Redirects are not followed, since they would hand on the API key.`),
            next: say `Correct base-url.`,
        };
    }
    return { what: fault, next: say `Check the inputs against the service's answer.` };
}
/** A fault in a few words, as part of a sentence. */
function describeFault(error, address) {
    if (error instanceof RefusalError) {
        const words = error.serviceMessage.replace(/\.$/, "");
        return join([
            join([
                say `the service answered HTTP ${error.status}`,
                error.location ? say `a redirect to ${excerpt(error.location, 300)}` : [],
                error.retryAfterMs === undefined ? [] : say `to be tried again after ${own(duration(error.retryAfterMs))}`,
            ], ", "),
            words ? say `${excerpt(words, 1000)}` : [],
        ], ": ");
    }
    if (error instanceof MalformedAnswerError)
        return say `the service's answer cannot be used (${error.message})`;
    const target = address ? say `${address}` : say `the service`;
    if (error.reason === "certificate")
        return say `the certificate of ${target} is not trusted (${error.message})`;
    if (error.phase === "connecting")
        return say `no connection to ${target} could be made (${error.message})`;
    return say `the connection to ${target} broke while ${own(doings[error.phase])} (${error.message})`;
}
const doings = {
    sending: "the request was being sent",
    waiting: "its answer was awaited",
    reading: "its answer was being read",
};

;// CONCATENATED MODULE: ./build/action/report/log.js





/** The runner shows ten warnings a step; trouble that comes and goes must leave room for others. */
const troubleLimit = 5;
/** The log of a run: what people read at 3 a.m. Every line and annotation is made harmless on its way out. */
class RunLog {
    #toolkit;
    #isInTrouble = false;
    #troubles = 0;
    #address = "";
    #hasWarnedOfStatus = false;
    constructor(toolkit) {
        this.#toolkit = toolkit;
    }
    starting({ task, projectId, baseUrl }) {
        this.#address = baseUrl.href;
        const where = `in project ${projectId} at ${baseUrl.href}`;
        if (task.kind === "create")
            this.#line(`Creating an agent job ${where} (prompt of ${size(task.prompt)})`);
        else if (task.kind === "attach")
            this.#line(`Following job ${task.jobId} ${where}`);
        else
            this.#line(`Sending a message to job ${task.jobId} ${where} (prompt of ${size(task.prompt)})`);
    }
    /** The service took the create or message. */
    submitted(kind, job, facts) {
        this.#recovered();
        this.#line(kind === "create" ? `Job ${facts.jobId} has been created` : `Job ${facts.jobId} has taken the message`);
        for (const name of ["status", "model", "repository", "ref"]) {
            if (facts[name])
                this.#line(`  ${`${name}:`.padEnd(12)}${excerpt(facts[name], 300)}`);
        }
        this.#warnOfUnknownStatus(job.status);
    }
    waiting({ timeoutMs, intervals }, facts) {
        const pace = `polls ${delay(intervals.minMs)} to ${delay(intervals.maxMs)} apart, more or less`;
        this.#toolkit.startGroup(forLog(`Waiting up to ${duration(timeoutMs)} for job ${facts.jobId}, ${pace}`).line);
    }
    waited() {
        this.#toolkit.endGroup();
    }
    /** One line a poll; one warning when trouble begins and one line when it ends. */
    poll(event, elapsedMs) {
        const next = event.nextDelayMs === undefined ? "" : `, next poll in ${delay(event.nextDelayMs)}`;
        if (event.kind === "poll-failed") {
            const fault = describeFault(event.error, this.#address);
            this.#line(`${elapsed(elapsedMs)}  poll failed${next}: ${plain(fault)}`);
            this.#trouble("Polls fail", say `${capitalised(fault)}. The job is not affected.`);
            return;
        }
        this.#recovered();
        const stale = event.isStale ? " (may be the state from before the message)" : "";
        this.#line(`${elapsed(elapsedMs)}  ${excerpt(event.job.status, 100)}${stale}${next}`);
        this.#warnOfUnknownStatus(event.job.status);
    }
    /** A create or message that was provably not taken and will be sent again. */
    retrying(error, delayMs, elapsedMs) {
        const fault = describeFault(error, this.#address);
        this.#line(`${elapsed(elapsedMs)}  not taken, sent again in ${delay(delayMs)}: ${plain(fault)}`);
        this.#trouble("The service does not take the request", say `${capitalised(fault)}. Nothing was started by it, so it is sent again.`);
    }
    #recovered() {
        if (this.#isInTrouble)
            this.#line("The service answers again.");
        this.#isInTrouble = false;
    }
    warn(title, text) {
        this.#annotate("warning", title, text);
    }
    note(text) {
        this.#line(plain(text));
    }
    fail(title, text) {
        this.#annotate("error", title, text);
    }
    /** One line of debug a request, which the runner shows where step debug logging is on. */
    trace({ method, path, durationMs, result }) {
        const end = "fault" in result
            ? result.fault
            : `${result.status}${result.requestId ? `, request ${excerpt(result.requestId, 100)}` : ""}`;
        this.debug(`${method} ${path}: ${end} (${Math.round(durationMs)} ms)`);
    }
    debug(text) {
        this.#toolkit.debug(forLog(text).line);
    }
    /** The closing line, and one annotation that says what happened, whether a job runs and what to do. */
    ended(outcome, message, hasPassed, facts, elapsedMs) {
        const time = facts.startedAt === undefined ? "" : ` after ${duration(elapsedMs)}`;
        const link = facts.pullRequest ? `: ${facts.pullRequest.url}` : "";
        this.#line(`Outcome: ${outcome}${time}${link}`);
        const paragraphs = [message.what, ...(message.points ?? []).map((point) => ["- ", ...point]), message.next];
        const level = levelOf(outcome, hasPassed);
        if (level)
            this.#annotate(level, message.title, join(paragraphs, "\n"));
        else
            for (const paragraph of paragraphs)
                if (paragraph.length > 0)
                    this.#line(plain(paragraph));
    }
    #trouble(title, text) {
        if (!this.#isInTrouble && this.#troubles++ < troubleLimit)
            this.#annotate("warning", title, text);
        this.#isInTrouble = true;
    }
    #warnOfUnknownStatus(status) {
        if (isKnownStatus(status) || this.#hasWarnedOfStatus)
            return;
        this.#hasWarnedOfStatus = true;
        this.#annotate("warning", "Unknown status", say `The service gives the job the status ${excerpt(status, 100)}, which this action does not know. It counts as active.`);
    }
    #annotate(level, title, text) {
        this.#toolkit.annotate(level, title, forAnnotation(text));
    }
    #line(text) {
        const { line, isSuspect } = forLog(text);
        if (isSuspect)
            this.#toolkit.infoWithoutCommands(line);
        else
            this.#toolkit.info(line);
    }
}
/** The annotation that an outcome deserves, if any. */
function levelOf(outcome, hasPassed) {
    if (!hasPassed)
        return "error";
    if (outcome === "no-changes" || outcome === "skipped")
        return "notice";
    return outcome === "archived" || outcome === "failed" || outcome === "timed-out" ? "warning" : undefined;
}

;// CONCATENATED MODULE: ./build/action/report/comment-text.js

/** A comment that is not acted on: no fault, so there is nothing to be done. */
function describeSkip(reason) {
    return { title: "Skipped", what: skips[reason], next: [] };
}
/** Why a comment is not acted on: no fault, so nothing is to be done. */
const skips = {
    "no-trigger": say `The comment does not begin with the trigger phrase, or is no new one. Nothing was started.`,
    "no-instruction": say `There is no instruction behind the trigger phrase. Nothing was started.`,
    "not-permitted": say `The comment's author has less than the required permission. Nothing was started.`,
    bot: say `The comment's author is a bot that allowed-bots does not list. Nothing was started.`,
    edited: say `The comment was edited; only new comments are acted on. Nothing was started.`,
};
/** Why it could not be told whether the comment may start something, or what. */
function describeNoAdmission(why, detail) {
    const title = "Nothing was started";
    switch (why) {
        case "event":
            return {
                title,
                what: say `The payload of the event ${detail} cannot be read, so nothing was started.`,
                next: say `Use trigger-phrase on issue_comment and pull_request_review_comment, and report this if it was one.`,
            };
        case "permission":
            return {
                title,
                what: say `The permission of the comment's author cannot be read (${detail}), so nothing was started.`,
                next: say `Check that github-token is valid for the repository, then comment again.`,
            };
        case "thread":
            return {
                title,
                what: say `On this re-run GitHub does not tell what the first run has started. This run has sent nothing; a job may be running.`,
                next: say `See the log of the first run for the job's id, or comment again to start anew.`,
            };
        case "time":
            return {
                title,
                what: say `GitHub took so long that no time was left to start a job in, so nothing was started.`,
                next: say `Comment again, or raise timeout-minutes.`,
            };
        case "prompt":
            return {
                title,
                what: say `The prompt is empty once its template is filled in, so nothing was started.`,
                next: say `Let the template name {{ instruction }}.`,
            };
    }
}

;// CONCATENATED MODULE: ./build/action/report/result-text.js





/** What happened, whether a job runs now, and what to do: for each way in which a run can end. */
function describeEnding(ending, outcome, context) {
    const { facts } = context;
    switch (ending.kind) {
        case "refused-inputs":
            return {
                title: "Inputs refused",
                what: say `No job was started, because the inputs cannot be used:`,
                points: ending.problems.map(({ input, problem }) => [`${input} `, ...problem, "."]),
                next: say `Correct what is listed in the step's "with" block.`,
            };
        case "settled":
        case "started":
            return describeState(outcome, context);
        case "timed-out":
            return describeTimeOut(ending.lastError, context);
        case "cancelled":
            return describeCancellation(ending.operation, ending.taken, facts);
        case "not-submitted":
            return describeSubmission(ending.operation, ending.error.taken, ending.error.cause, context);
        case "poll-refused":
            return describePollRefusal(ending.error, context);
        case "skipped":
            return describeSkip(ending.reason);
        case "not-admitted":
            return describeNoAdmission(ending.why, ending.detail);
        case "broken": {
            const cause = ending.error instanceof Error ? ending.error.message : String(ending.error);
            return {
                title: "Fault in the action",
                what: join([say `The action itself failed: ${cause}.`, runningJob(facts)], " "),
                next: join([say `Report it, with the log of a run with step debug logging.`, facts.jobId ? howToWait(facts) : []], " "),
            };
        }
    }
}
function describeState(outcome, { task, facts }) {
    const { jobId } = facts;
    const newJob = say `To start a new job, run with a prompt and no job-id.`;
    const followUp = say `To go on with this one, send a follow-up: set job-id to ${jobId} and give a prompt.`;
    switch (outcome) {
        case "pr-created":
            return {
                title: "Pull request created",
                what: say `The agent has finished job ${jobId} and created a pull request.`,
                next: [],
            };
        case "no-changes":
            return {
                title: "No changes",
                what: facts.hasBadLink
                    ? say `The agent has finished job ${jobId}, but the service gave no usable link to a pull request.`
                    : say `The agent has finished job ${jobId} without a pull request: it changed no files.`,
                next: join([
                    facts.hasBadLink
                        ? say `Look for the pull request in the dashboard.`
                        : say `If a change was expected, make the prompt more specific.`,
                    followUp,
                ], " "),
            };
        case "failed":
            return {
                title: "Job failed",
                what: say `The agent hit an unrecoverable error in job ${jobId}. The job has ended and does not run any more.`,
                next: join([say `See the dashboard for the cause.`, newJob, followUp], " "),
            };
        case "archived":
            return {
                title: "Job archived",
                what: say `Job ${jobId} has been archived: it was put away in the service and does not run any more.`,
                next: join([say `If its work is still wanted:`, newJob], " "),
            };
        default:
            return task?.kind === "attach"
                ? { title: "Job is active", what: say `Job ${jobId} has not ended; it goes on.`, next: howToWait(facts) }
                : {
                    title: task?.kind === "message" ? "Message sent" : "Job started",
                    what: say `The service has accepted the work. Job ${jobId} goes on without this step.`,
                    next: howToWait(facts),
                };
    }
}
function describeTimeOut(lastError, { settings, facts }) {
    const limit = own(duration(settings?.timeoutMs ?? 0));
    const isStale = facts.status !== "" && facts.status !== "active";
    const old = own(isStale ? " (it still showed the state from before the message)" : "");
    return {
        title: "Timed out",
        what: lastError
            ? say `The state of job ${facts.jobId} could not be read when the time was up, after ${limit}: ${describeFault(lastError, settings?.baseUrl.href)}. The job may be running: the time limit does not stop it.`
            : say `Job ${facts.jobId} had not ended when the time was up, after ${limit}${old}. It goes on: the time limit does not stop it.`,
        next: join([howToWait(facts), say `For the next run, raise timeout-minutes.`], " "),
    };
}
function describePollRefusal(error, context) {
    const { task, facts } = context;
    const { what, next } = describeRequestError("poll", error, context);
    const title = "Job cannot be followed";
    if (task?.kind === "attach" && facts.timeline.length === 0) {
        const isUnknown = error instanceof RefusalError && error.status === 404;
        const state = isUnknown
            ? say `This step has started nothing.`
            : say `This step has started nothing; whether job ${facts.jobId} runs is not known.`;
        return { title, what: join([what, state], " "), next };
    }
    return {
        title,
        what: join([what, say `What became of job ${facts.jobId} is not known; it may be running.`], " "),
        next: join([next, own(again[task?.kind ?? "attach"]), howToWait(facts)], " "),
    };
}
/** What a plain re-run would do, where the service has taken something already. */
const again = {
    create: "A re-run would start a second job.",
    message: "A re-run would send the message a second time.",
    attach: "",
};
function describeCancellation(operation, taken, facts) {
    const title = "Cancelled";
    const { jobId, status } = facts;
    if (taken === "unclear") {
        const what = say `The step was cancelled while the request was on its way.`;
        return { ...describeDoubt(operation, what, facts), title };
    }
    if (operation === "create" && taken === "no") {
        return {
            title,
            what: say `The step was cancelled before it started a job: it has sent nothing that the service took.`,
            next: [],
        };
    }
    if (operation === "message" && taken === "no") {
        return {
            title,
            what: say `The step was cancelled before the message was sent. Job ${jobId} is as it was.`,
            next: say `Run again to send the message.`,
        };
    }
    if (operation === "poll" && status === "") {
        const what = say `The step was cancelled before the state of job ${jobId} was read. The job may be running.`;
        return { title, what, next: howToWait(facts) };
    }
    if (operation !== "message" && status !== "" && status !== "active") {
        const what = say `The step was cancelled. Job ${jobId} had already ended as ${own(status)}.`;
        return { title, what, next: howToWait(facts) };
    }
    return {
        title,
        what: say `The step was cancelled, but job ${jobId} goes on: the service has no way to stop a job.`,
        next: howToWait(facts),
    };
}
function describeSubmission(operation, taken, cause, context) {
    const { what, next } = describeRequestError(operation, cause, context);
    if (taken === "unclear")
        return describeDoubt(operation, what, context.facts);
    return operation === "create"
        ? { title: "No job was started", what: join([what, say `No job was started.`], " "), next }
        : { title: "Message not sent", what: join([what, say `The message was not taken and started no work.`], " "), next };
}
/** A create or message that may have been taken: the one case in which running again can do harm. */
function describeDoubt(operation, what, facts) {
    if (operation !== "create") {
        return {
            title: "Message may have been sent",
            what: join([what, say `The message may have reached job ${facts.jobId}, which may be running.`], " "),
            next: join([say `A re-run may send it a second time.`, howToWait(facts)], " "),
        };
    }
    const title = "Job may have been started";
    if (facts.jobId) {
        return {
            title,
            what: join([what, say `The answer names job ${facts.jobId}, which may be running.`], " "),
            next: join([say `A re-run may start a second job.`, howToWait(facts)], " "),
        };
    }
    return {
        title,
        what: join([what, say `A job may have been started and be running, but its id is not known.`], " "),
        next: say `Look in the dashboard before you run again: a re-run may start a second job.`,
    };
}
function runningJob(facts) {
    if (facts.jobId)
        return say `Job ${facts.jobId} may be running.`;
    return facts.startedAt === undefined ? say `No job was started.` : say `A job may have been started.`;
}
function howToWait(facts) {
    return say `To wait for it, run the action with job-id ${facts.jobId} and no prompt.`;
}

;// CONCATENATED MODULE: ./build/action/report/summary.js




/** Characters of the prompt that are shown: enough to know it again. */
const promptLimit = 2000;
/** States of the timeline that are shown; a job has a handful. */
const timelineLimit = 20;
/**
 * The job summary: GitHub's Markdown, made of blocks of HTML in which text from outside stands for nothing but itself.
 *
 * @param run - `projectId` is empty and `task` is `undefined` where they are not known
 */
function renderSummary(run) {
    const { outcome, message, facts, projectId, task, elapsedMs } = run;
    const blocks = [
        `<h2>${icons[outcome]} ${forHtml(message.title)}</h2>`,
        headline(facts, elapsedMs),
        `<p>${sentence(message.what)}</p>`,
        list(message.points ?? []),
        message.next.length > 0 ? `<p><b>What to do next:</b> ${sentence(message.next)}</p>` : "",
        factTable(outcome, facts, projectId),
        timeline(facts.timeline, elapsedMs),
        task && task.kind !== "attach" ? summary_prompt(task.prompt) : "",
    ];
    return `${blocks.filter(Boolean).join("\n\n")}\n`;
}
function headline(facts, elapsedMs) {
    const parts = [];
    if (facts.pullRequest) {
        const { url, number } = facts.pullRequest;
        const label = number ? `Pull request ${number}` : "Pull request";
        parts.push(`<a href="${forHtml(url, url.length)}"><b>${label}</b></a>`);
    }
    if (facts.jobId && facts.startedAt !== undefined)
        parts.push(`took ${duration(elapsedMs)}`);
    return parts.length > 0 ? `<p>${parts.join(" · ")}</p>` : "";
}
function list(points) {
    return points.length > 0 ? `<ul>${points.map((point) => `<li>${sentence(point)}</li>`).join("")}</ul>` : "";
}
function factTable(outcome, facts, projectId) {
    const rows = [
        ["Outcome", outcome],
        ["Job", facts.jobId],
        ["Status", facts.status],
        ["Project", projectId],
        ["Repository", facts.repository],
        ["Ref", facts.ref],
        ["Model", facts.model],
        ["Created", facts.createdAt],
        ["Archived", facts.archivedAt],
    ];
    return table(rows.filter(([, value]) => value !== "").map(([name, value]) => [`<b>${name}</b>`, code(value)]));
}
/** The states seen, with how long each lasted as far as it was seen. */
function timeline(states, elapsedMs) {
    if (states.length === 0)
        return "";
    const rows = states.slice(0, timelineLimit).map(({ status, atMs }, index) => {
        const next = states[index + 1];
        const isLast = next === undefined;
        const lasted = isLast && isTerminal(status) ? "–" : duration((next?.atMs ?? elapsedMs) - atMs);
        return [code(status), duration(atMs), lasted];
    });
    if (states.length > timelineLimit)
        rows.push([`and ${states.length - timelineLimit} more`, "", ""]);
    return `<h3>Timeline</h3>\n${table(rows, ["State", "Seen after", "Lasted"])}`;
}
function table(rows, heads = []) {
    const head = heads.length > 0 ? [`<tr>${heads.map((cell) => `<th align="left">${cell}</th>`).join("")}</tr>`] : [];
    const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
    return ["<table>", ...head, ...body, "</table>"].join("\n");
}
function summary_prompt(text) {
    const note = text.length > promptLimit ? ", its beginning shown" : "";
    return `<details><summary>Prompt (${size(text)}${note})</summary>\n<pre>${code(text, promptLimit)}</pre>\n</details>`;
}

;// CONCATENATED MODULE: ./build/action/pull-request.js
/** GitHub, Gitea, Bitbucket, Azure DevOps and GitLab, in this order. */
const numbered = /^[^?#]*\/(?:pull|pulls|pull-requests|pullrequest|merge_requests)\/(\d+)\/?$/;
/** Far more than any platform's; a longer one would fill the log and the summary. */
const longestUrl = 4096;
/**
 * The pull request behind a record's `prLink`, or `undefined` where that is no absolute `http(s)` URL or holds
 * credentials: nothing else is ever given out as a link.
 */
function parsePullRequest(prLink) {
    if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(prLink) || !URL.canParse(prLink))
        return undefined;
    const { href } = new URL(prLink);
    if (href.length > longestUrl || hasCredentials(prLink))
        return undefined;
    return { url: href, number: numbered.exec(href)?.[1] ?? "" };
}
/** True for empty ones too, which `URL` leaves out without a word. */
function hasCredentials(url) {
    return /^[^/]*[/\\]+[^/?#\\]*@/.test(url);
}

;// CONCATENATED MODULE: ./build/action/run-state.js


/** What the run knows so far: all that outputs, log and summary are made of. */
class Facts {
    /** Monotonic time of the first request; `undefined` while nothing was sent. */
    startedAt;
    jobId = "";
    /** The last of the four known statuses seen. */
    status = "";
    pullRequest;
    /** The last record gave a pull request that cannot be given out. */
    hasBadLink = false;
    model = "";
    repository = "";
    ref = "";
    createdAt = "";
    archivedAt = "";
    timeline = [];
    elapsedMs(now) {
        return this.startedAt === undefined ? 0 : now - this.startedAt;
    }
    /**
     * Takes in a record. What a record leaves out stays as it was known, but for the pull request, which is always that
     * of the last record.
     */
    learn(job, now) {
        this.jobId = job.id;
        if (isKnownStatus(job.status))
            this.status = job.status;
        if (this.timeline.at(-1)?.status !== job.status) {
            this.timeline.push({ status: job.status, atMs: this.elapsedMs(now) });
        }
        this.pullRequest = parsePullRequest(job.prLink);
        this.hasBadLink = job.prLink !== "" && !this.pullRequest;
        this.model = job.model || this.model;
        this.repository = job.repository || this.repository;
        this.ref = job.ref || this.ref;
        this.createdAt = job.createdAt || this.createdAt;
        this.archivedAt = job.archivedAt || this.archivedAt;
    }
}

;// CONCATENATED MODULE: ./build/action/main.js











/** Runs the step: true where it passes. Whatever happens, every output is set and the log says how it ended. */
async function main(ports) {
    const { toolkit, clock, environment } = ports;
    const log = new RunLog(toolkit);
    const facts = new Facts();
    mask(toolkit, "api-key");
    mask(toolkit, "github-token");
    // If the process is killed before it can say how it ended, then the job's fate is unknown.
    trySetOutputs(outputsOf("error", facts, clock.now()), toolkit);
    if (environment.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
        log.warn("Certificates are not checked", say `NODE_TLS_REJECT_UNAUTHORIZED=0 is set: anyone on the way to the service can read the API key. Remove it, and name a private authority in NODE_EXTRA_CA_CERTS instead.`);
    }
    const workspace = environment.GITHUB_WORKSPACE || process.cwd();
    const eventName = environment.GITHUB_EVENT_NAME;
    const inputs = parseInputs({
        read: (name) => toolkit.input(name),
        readPromptFile: (path) => readPromptFile(path, workspace),
        isCommentEvent: isCommentEvent(eventName),
    });
    const settings = inputs.ok ? inputs.settings : undefined;
    const announceJob = (jobId) => void trySetOutputs({ "job-id": jobId }, toolkit);
    const { ending, task, finish } = inputs.ok
        ? await tell(inputs, { ...ports, announceJob }, facts, log)
        : { ending: { kind: "refused-inputs", problems: inputs.problems } };
    const now = clock.now();
    const elapsedMs = facts.elapsedMs(now);
    const outcome = outcomeOf(ending, facts);
    const hasPassed = passes(outcome, settings?.failOn ?? new Set());
    const message = describeEnding(ending, outcome, { settings, task, facts });
    const skipReason = ending.kind === "skipped" ? ending.reason : "";
    const outputsFault = trySetOutputs(outputsOf(outcome, facts, now, skipReason), toolkit);
    log.ended(outcome, message, hasPassed, facts, elapsedMs);
    if (outputsFault)
        log.fail("Outputs cannot be written", say `The step fails because its outputs are lost: ${outputsFault}.`);
    if (inputs.ok ? inputs.settings.summary : inputs.summary) {
        const projectId = settings?.projectId ?? "";
        await writeSummary(renderSummary({ outcome, message, facts, projectId, task, elapsedMs }), toolkit, log);
    }
    await finish?.(outcome, (frame) => renderResult({ outcome, message, facts, elapsedMs }, frame));
    return hasPassed && !outputsFault;
}
/** Before anything is printed. The mask of a text of several lines would hide each of them, however short. */
function mask(toolkit, input) {
    const secret = toolkit.input(input).trim();
    for (const line of secret.split(/[\r\n]+/)) {
        if (line !== "" && (line === secret || line.length >= 8))
            toolkit.mask(line);
    }
}
/** What is wrong where the runner's file cannot be written, else nothing. The log has the job's id all the same. */
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
        log.warn("Summary cannot be written", say `The job summary is missing: ${String(error)}.`);
    }
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
    setOutput: (name, value) => core/* setOutput */.uH(name, value),
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

;// CONCATENATED MODULE: ./build/action/start.js






/** Runs the action in the real world, and ends the process with its exit code. */
async function start(signal) {
    process.on("uncaughtException", reportFault);
    const hasPassed = await main({
        toolkit: runnerToolkit,
        clock: systemClock,
        random: Math.random,
        connect: (protocol) => createTransport(protocol, process.env),
        connectGitHub: async (...address) => (await Promise.all(/* import() */[__webpack_require__.e(239), __webpack_require__.e(371)]).then(__webpack_require__.bind(__webpack_require__, 371))).connectGitHub(...address),
        environment: process.env,
        signal,
    });
    // Sockets that are still closing must not hold up the end of the step; what was printed must be out by then.
    process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
}
function reportFault(error) {
    const cause = error instanceof Error ? error : new Error(String(error));
    runnerToolkit.debug(forLog(cause.stack ?? "").line);
    const text = say `The action itself failed: ${cause.message}. If the log names a job, it may be running; if it says that one was to be created, one may have been started. Look in the dashboard before you run again, and report this fault with the log of a run with step debug logging.`;
    runnerToolkit.annotate("error", "Fault in the action", forAnnotation(text));
    process.exit(1);
}


/***/ }),

/***/ 9329:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   l: () => (/* binding */ createRedactor)
/* harmony export */ });
/** Shorter keys are left alone: they would be found by accident in ids and words. Real keys are far longer. */
const leastLength = 8;
/**
 * A function that takes a secret out of a text, also in the encodings in which a service could hand it back: nothing
 * that the service says may carry the key into a log, a summary or an output.
 */
function createRedactor(secret) {
    if (secret.length < leastLength)
        return (text) => text;
    const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
    const forms = [...new Set([secret, encodeURIComponent(secret), base64])];
    return (text) => forms.reduce((clean, form) => clean.replaceAll(form, "***"), text);
}


/***/ }),

/***/ 4575:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   F: () => (/* binding */ discreetly),
/* harmony export */   m: () => (/* binding */ traced)
/* harmony export */ });
/** The same transport, which tells of every exchange once it is over. */
function traced(transport, now, onTrace) {
    return async (request) => {
        const startedAt = now();
        const tell = (result) => onTrace({ method: request.method, path: request.url.pathname, durationMs: now() - startedAt, result });
        try {
            const answer = await transport(request);
            tell({ status: answer.status, requestId: answer.headers["x-request-id"] ?? "" });
            return answer;
        }
        catch (error) {
            tell({ fault: error instanceof Error ? error.message : String(error) });
            throw error;
        }
    };
}
/**
 * Tells of traces what may be told: without the key, should the service or an address give it back. It never throws, since
 * it stands between an answer, which may hold the id of a job that was started, and whoever waits for that.
 */
function discreetly(onTrace, redact) {
    return ({ path, result, ...rest }) => {
        const shown = "fault" in result ? { fault: redact(result.fault) } : { ...result, requestId: redact(result.requestId) };
        try {
            onTrace({ ...rest, path: redact(path), result: shown });
        }
        catch {
            // A trace is worth less than an answer.
        }
    };
}


/***/ })

};
