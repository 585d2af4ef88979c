import type { TerminalStatus } from "../../client/contract.ts";
import { HttpError, InvalidResponseError, messageOf, TokenError } from "../../client/errors.ts";
import { isTransientPollFailure } from "../../client/retry.ts";
import { type Cache, CacheEntryError } from "../../runner-kit/cache.ts";
import { message, say, type Text } from "../../runner-kit/text.ts";
import { excerpt } from "../../runner-kit/untrusted.ts";
import { commitOf } from "../commit-of.ts";
import { type Continuation, nothingRemembered, type RememberedChanges } from "../plan.ts";
import { locatePullRequest, type PullRequest, type PullRequestState } from "../pull-request.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { findJob } from "../run-job.ts";
import { runAttempt, serverUrl } from "../runner/environment.ts";
import { askService } from "./ask-service.ts";
import type { SessionEntry } from "./parse-entry.ts";
import { untilAborted } from "./wait.ts";

/** After this many consecutive failures, the session abandons the job and its pull request. */
const maxFailures = 2;
/** The limit if the last turn left unfinished work, from which the next one starts. */
const maxUnfinished = 3;
/** How long a failing service is asked for the session's job, in milliseconds. */
const maxReadMs = 180_000;
/** Between two looks whether another run still works for the session, in milliseconds. */
const busyPauseMs = 15_000;
/** How many pull requests a session remembers. */
const maxPullRequests = 20;

/** The session's progress before this run. */
type SessionProgress = Pick<SessionEntry, "commit" | "failures">;

/** The update that a run saves. */
export interface SessionUpdate {
  jobId: string;
  sent: "create" | "message";
  /** Whether an earlier attempt sent it. */
  isResumed: boolean;
  pullRequest: PullRequest | undefined;
  /** `kept`: it failed, and its work waits for its publication. `undefined` if unknown. */
  end: "completed" | "failed" | "stopped" | "kept" | undefined;
  /** The start of this run's range of changes. */
  base: string | undefined;
  /** The commit up to which the session is told of all changes if the turn completes; `undefined` if it leaves some out, or is told of none. */
  covers: string | undefined;
}

type Found = { entry: SessionEntry | undefined; damaged?: string } | { error: string };

export type SessionMemory = ReturnType<typeof sessionMemory>;

/**
 * Returns the memory of a session in the repository's Actions cache.
 *
 * @param step - identifies the step and its prompt
 * @param session - see `StepKey.sessionOf`
 */
export function sessionMemory(cache: Cache, step: string, session: string, environment: NodeJS.ProcessEnv) {
  const { GITHUB_RUN_ID: runId = "", GITHUB_SHA: sha } = environment;
  const attempt = runAttempt(environment);
  const prefix = `agent-session-${session}-`;
  const damaged = { entry: undefined, damaged: prefix };
  let found: Promise<Found> | undefined;
  let progress: SessionProgress | undefined;
  /** Of the session's last job, as that names it. */
  let lastPullRequest: PullRequest | undefined;
  let saved: SessionEntry | undefined;
  let saves = 0;

  const read = async (): Promise<Found> => {
    try {
      const text = await cache.restore(prefix);
      if (text === undefined) return { entry: undefined };
      const { parseSessionEntry } = await import("./parse-entry.ts");
      const entry = parseSessionEntry(text);
      return entry && entry.pullRequests.length <= maxPullRequests ? { entry } : damaged;
    } catch (error) {
      // A damaged entry stays damaged, so the session continues without it.
      return error instanceof CacheEntryError ? damaged : { error: messageOf(error) };
    }
  };

  const withNumbers = (known: number[], ...pullRequests: (PullRequest | undefined)[]): number[] => {
    const numbers = pullRequests.flatMap((one) => numberOf(one, environment) ?? []);
    return [...new Set([...known, ...numbers])].slice(-maxPullRequests);
  };

  const nextEntry = (earlier: SessionEntry | undefined, update: SessionUpdate): SessionEntry => {
    const { jobId, sent: kind, isResumed, pullRequest, end, base, covers } = update;
    // The saved progress already counts the end of this turn, which an earlier attempt sent.
    const before = saved ?? (isResumed ? undefined : progress) ?? earlier;
    const failures = earlier?.jobId === jobId ? (before?.failures ?? 0) : 0;
    return {
      jobId,
      run: runId,
      step,
      attempt,
      kind,
      commit: (end === "completed" ? covers : undefined) ?? before?.commit ?? commitOf(base),
      sent: end === undefined ? { covers } : undefined,
      failures: end === "completed" ? 0 : failures + (end === "failed" ? 1 : 0),
      pullRequests: withNumbers(earlier?.pullRequests ?? [], lastPullRequest, pullRequest),
    };
  };

  const replaceJob = (newest: SessionEntry, update: SessionUpdate): SessionEntry | undefined => {
    const { jobId, sent: kind, isResumed, pullRequest } = update;
    const pullRequests = withNumbers(newest.pullRequests, lastPullRequest, pullRequest);
    if (newest.jobId === jobId) return { ...newest, pullRequests };
    if (kind !== "create" || isResumed || saved?.jobId === jobId) return undefined;
    // What the later run has sent was not sent to this job.
    const commit = progress?.commit ?? newest.commit;
    // The job belongs to this step: the later run did not start it or send it anything.
    return { ...newest, jobId, step, kind, commit, sent: undefined, failures: 0, pullRequests };
  };

  /** Returns the newest entry; `undefined` if there is none. Reads it once. Never rejects. */
  const find = (): Promise<Found> => {
    found ??= read();
    return found;
  };

  return {
    find,
    /** Has the entry read anew. */
    forget: (): void => {
      found = undefined;
    },
    /** Returns whether this step has saved an entry: it names the job that the step has sent something to. */
    isOwn: ({ run, step: by }: SessionEntry): boolean => run === runId && by === step,
    /** Returns whether this step has told the session up to its run's commit, by its entry. */
    hasTold: ({ run, step: by, commit, sent }: SessionEntry): boolean =>
      run === runId && by === step && sha !== undefined && (commit === sha || sent?.covers === sha),
    /** Returns the later run that saved an entry, and its job; otherwise `undefined`. */
    laterRun: ({ run, step: other, jobId }: SessionEntry): { run: string; jobId: string } | undefined =>
      isLaterRun(run, runId) && other !== step ? { run, jobId } : undefined,
    /**
     * Returns the session's progress. If the last turn was not seen to end, its job's status tells that, and its service whether that turn was told.
     *
     * @param isTold - whether the service says which turns were told
     */
    progressOf: (
      { commit, sent, failures }: SessionEntry,
      { status, isKept = false, pullRequest }: Partial<SessionJob>,
      isTold = false,
    ): SessionProgress => {
      lastPullRequest = pullRequest;
      if (sent !== undefined && status === "completed")
        progress = { commit: isTold ? commit : (sent.covers ?? commit), failures: 0 };
      else progress = { commit, failures: failures + (sent !== undefined && status === "failed" && !isKept ? 1 : 0) };
      return progress;
    },
    /**
     * Saves an update, unless the session already has it. An entry of a later run stays the newest; a re-run of an older run only replaces
     * the session's job if it created another one. @throws if it cannot be saved
     */
    save: async (update: SessionUpdate): Promise<void> => {
      // Another run may have ended meanwhile.
      if (update.end !== undefined) found = undefined;
      const known = await find();
      if ("error" in known) throw new Error(known.error);
      const earlier = saved ?? known.entry;
      const newest = known.entry && isLaterRun(known.entry.run, runId) ? known.entry : undefined;
      const entry = newest ? replaceJob(newest, update) : nextEntry(earlier, update);
      const isKnown = (one: SessionEntry | undefined): boolean => JSON.stringify(entry) === JSON.stringify(one);
      if (entry === undefined || isKnown(saved) || isKnown(known.entry)) return;
      // Two steps of a run may share a session.
      await cache.save(`${prefix}${runId}-${attempt}-${step}-${++saves}`, JSON.stringify({ version: 1, ...entry }));
      saved = entry;
    },
  };
}

/** Returns a pull request's number; `undefined` if it is in another repository. */
function numberOf(pullRequest: PullRequest | undefined, environment: NodeJS.ProcessEnv): number | undefined {
  const place = pullRequest && locatePullRequest(pullRequest, serverUrl(environment));
  const repository = (environment.GITHUB_REPOSITORY ?? "").toLowerCase();
  return place && `${place.owner}/${place.repo}`.toLowerCase() === repository ? place.number : undefined;
}

/** GitHub's run ids increase. */
function isLaterRun(run: string, other: string): boolean {
  return Number(run) > Number(other);
}

/** What is known about a session before the prompt is written. */
export interface RememberedSession extends RememberedChanges {
  /** The session's present job, if there is one. */
  jobId: string | undefined;
  /**
   * Finds the job to continue; `undefined` to start a new one, a result if nothing may be sent. `changed`: another run has worked for the
   * session meanwhile, so it must be read again.
   */
  findContinued: () => Promise<Continuation | RunResult | "changed" | undefined>;
}

/**
 * Reads the session's job, if any: its record names the pull request, which does not count as a change, and tells how its last turn ended.
 * A dry run uses only the entry. Returns a result if nothing may be sent; `changed` after another run worked for the session. Never rejects.
 *
 * @param session - `undefined` without a readable cache: then only a service that supports sessions remembers the job; `null` for a thread,
 *   which remembers it itself
 */
export async function readSession(
  session: SessionMemory | undefined | null,
  firstBase: string | undefined,
  run: Run,
): Promise<RememberedSession | RunResult | "changed"> {
  const nothing = { ...nothingRemembered, jobId: undefined, firstBase, findContinued: async () => undefined };
  if (session === null || run.state.session === undefined) return nothing;
  const { dryRun: isDryRun } = run.settings;
  const found = session ? await untilAborted(session.find(), run.ports.signal) : { entry: undefined };
  if (!found) return cancelledBeforeSending;
  // Nobody else can send the job anything, so an entry with the end of its turn has it all, and a quiet night starts nothing to read it. A
  // service that runs already knows of later runs that were lost before they could save an entry.
  const isSaved = "entry" in found && found.entry !== undefined && found.entry.sent === undefined;
  const isSure = isSaved && run.settings.agent !== undefined && run.state.announcement === undefined;
  const isFree = isDryRun || isSure || (await untilFree(run));
  if (isFree === "changed") session?.forget();
  if (isFree !== true) return isFree;
  if ("damaged" in found) tell(`the newest cache entry, ${found.damaged}…, is passed over: it is not usable`, run);
  const entry = "entry" in found ? found.entry : undefined;
  const ofService = entry && (isDryRun || isSure) ? { jobId: undefined } : await newestJob(entry?.jobId, run);
  if ("kind" in ofService) return ofService;
  const jobId = ofService.jobId ?? entry?.jobId;
  const isKnown = jobId !== undefined || run.state.features?.has("session");
  if ("error" in found && !isKnown) return { kind: "blocked", cause: "session", detail: found.error };
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
    if (!isDryRun) tell("no job is remembered, starting one", run);
    return { ...known, findContinued: async () => undefined };
  }
  if (isDryRun) return { ...known, findContinued: async () => ({ jobId, isReplaceable: true }) };
  const findWith = async (
    job: SessionJob,
    progress: SessionProgress,
  ): Promise<Continuation | RunResult | undefined> => {
    const continued = await continuationOf(jobId, job, progress, run);
    if (continued !== undefined) return continued;
    // A service that was not asked before may know a newer one; otherwise, this is the newer one.
    const other = entry && jobId !== entry.jobId ? { jobId: entry.jobId } : await jobOfService(run);
    if ("kind" in other) return other;
    if (other.jobId === undefined || other.jobId === jobId) return undefined;
    const found = await readSessionJob(other.jobId, run);
    if ("kind" in found) return found;
    const { refusal } = run.state;
    run.state.refusal = "";
    const isOfEntry = entry !== undefined && other.jobId === entry.jobId;
    const before = isOfEntry && session ? session.progressOf(entry, found, covered !== undefined) : { failures: 0 };
    const instead = await continuationOf(other.jobId, found, before, run);
    // What was refused concerns a new job, too.
    if (instead === undefined) run.state.refusal ||= refusal;
    return instead;
  };
  if (isSure && entry && session) {
    const progress = session.progressOf(entry, {});
    const findLater = async () => {
      const isStillFree = await untilFree(run);
      if (isStillFree === "changed") session.forget();
      if (isStillFree !== true) return isStillFree;
      const { sessionCovers = [], sessionJobs: jobs = [] } = run.state.announcement ?? {};
      const [newest = commit] = sessionCovers;
      // If a force-push took the newest one away, the range starts at one before it, which only the service knows.
      const isTaken = run.state.changes !== undefined && run.state.changes.base !== commit;
      const isOther = (one: string): boolean => one !== commit;
      if (newest !== commit || (isTaken && sessionCovers.some(isOther)) || jobs.some((one) => one !== jobId))
        return "changed";
      const job = await readSessionJob(jobId, run);
      return "kind" in job ? job : findWith(job, progress);
    };
    return { ...known, findContinued: findLater };
  }
  const job = await readSessionJob(jobId, run);
  if ("kind" in job) return job;
  const isOfEntry = jobId === entry?.jobId;
  const saved: SessionProgress =
    entry && session ? session.progressOf(entry, isOfEntry ? job : {}, covered !== undefined) : { failures: 0 };
  const progress = isOfEntry ? saved : { ...saved, failures: 0 };
  const number = numberOf(job.pullRequest, run.ports.environment);
  return {
    ...known,
    lastCommit: progress.commit,
    ownPullRequests: [...new Set([...pullRequests, ...(number === undefined ? [] : [number])])],
    findContinued: () => findWith(job, progress),
  };
}

/**
 * Returns the session's job according to a service that supports sessions; a result if the service is unavailable, because a new job could
 * open a second pull request.
 */
export async function jobOfService(run: Run): Promise<{ jobId: string | undefined } | RunResult> {
  const { clock, signal } = run.ports;
  const startedAt = clock.now();
  const answer = await askService(run, undefined, maxReadMs);
  if (signal.aborted) return cancelledBeforeSending;
  if (answer.kind === "announced") {
    const { sessionJobId: jobId } = answer.announcement;
    // A run that is about to begin has none yet.
    return { jobId: jobId?.replace(/[-0]/g, "") === "job_" ? undefined : jobId };
  }
  const error = answer.kind === "unreadable" ? answer.error : undefined;
  // Other services do not know the question.
  if (error === undefined || error instanceof InvalidResponseError) return { jobId: undefined };
  if (error instanceof TokenError && !error.isTransient) return { kind: "poll-failed", error };
  if (isTransientPollFailure(error))
    return { kind: "blocked", cause: "session-job", jobId: undefined, error, forMs: clock.now() - startedAt };
  const isOwn = error instanceof HttpError && (error.status === 401 || error.status === 424);
  return isOwn ? { kind: "poll-failed", error } : { jobId: undefined };
}

/**
 * Returns the session's newest job according to a service that supports sessions: a run that could not write the cache may have started another
 * one than the entry's. `undefined` if there is none, or the service does not know; a result as `jobOfService`.
 *
 * @param known - the entry's job; `undefined` without one
 */
async function newestJob(known: string | undefined, run: Run): Promise<{ jobId: string | undefined } | RunResult> {
  const found = await jobOfService(run);
  const isOther = !("kind" in found) && found.jobId !== undefined && found.jobId !== known;
  if (known === undefined || !isOther || run.state.announcement?.sessionJobs.includes(known)) return found;
  // A service that finds a job once it is asked for it can tell only then which is newer.
  const read = await readSessionJob(known, run);
  if ("kind" in read) return read;
  run.state.forgetJob();
  run.state.askedSession = undefined;
  return jobOfService(run);
}

/**
 * Waits beside an own agent until no other run works for the session: both would pay for the same changes.
 *
 * @returns `changed`: another run did; a result if nothing may be sent
 */
export async function untilFree(run: Run): Promise<true | "changed" | RunResult> {
  const { settings, state, log } = run;
  const { clock, signal } = run.ports;
  if (!settings.agent) return true;
  for (let isFirst = true; ; isFirst = false) {
    const known = await jobOfService(run);
    if ("kind" in known) return known;
    const { sessionBusyUntil: until } = state.announcement ?? {};
    if (until === undefined) return isFirst ? true : "changed";
    const { jobId } = known;
    const latest = new Date(until).toISOString().slice(0, 16).replace("T", " ");
    if (isFirst)
      log.line(
        `Session ${excerpt(settings.session, 100)}: another run ${jobId === undefined ? "is about to begin" : `works on job ${jobId}`}, until ${latest} UTC at most. Waiting for its end, because both would be paid for the same changes`,
      );
    state.startedAt ??= clock.now();
    if (clock.now() + busyPauseMs >= state.startedAt + settings.timeoutMs)
      return { kind: "blocked", cause: "session-busy", jobId, latest };
    await clock.sleep(busyPauseMs, signal);
    if (signal.aborted) return cancelledBeforeSending;
    state.askedSession = undefined;
  }
}

/** Logs why a session sends a follow-up or starts a new job. */
function tell(why: string, { settings, log }: Run): void {
  log.line(`Session ${excerpt(settings.session, 100)}: ${why}`);
}

/** Warns that a session starts a new job and abandons the last one's pull request. */
export function tellOfLeft(why: Text, { url }: PullRequest, { log }: Run): void {
  log.notice(message`
    Session starts a new job
    ${why}, so the session starts a new job. It leaves ${url}: merge or close it.`);
}

/** The state of a session's job. */
interface SessionJob {
  status: TerminalStatus | "active" | "not found";
  /** Whether its last turn has kept work, which the next request publishes first. */
  isKept: boolean;
  /** Whether that is unfinished: the agent of the next request starts from it. */
  isUnfinished: boolean;
  pullRequest: PullRequest | undefined;
}

async function readSessionJob(jobId: string, run: Run): Promise<SessionJob | RunResult> {
  const status = await findJob(jobId, run);
  const { pullRequest, isKept, isUnfinished } = run.state;
  if (typeof status !== "object" || status.kind === "cancelled") run.state.forgetJob();
  return typeof status === "object" ? status : { status, isKept, isUnfinished, pullRequest };
}

/** Reads the state of the session's last pull request, also as an output. If it was closed, the prompt says so. */
async function readLastPullRequest(pullRequest: PullRequest, run: Run): Promise<PullRequestState> {
  // Loaded here, because few runs of a session find a job that has ended.
  const { readPullRequestState, tellOfRefusal } = await import("./pull-request-state.ts");
  const read = await readPullRequestState(pullRequest, run);
  const { state } = read;
  run.state.lastPullRequest = { url: pullRequest.url, ...read };
  const head = commitOf(read.head);
  run.state.before = state === "open" && head ? { url: pullRequest.url, head } : undefined;
  if (state === "closed") run.state.refusal = await tellOfRefusal(pullRequest, run);
  return state;
}

const jobOver = {
  completed: "finished without a pull request",
  failed: "failed",
  archived: "was archived",
  "not found": "was not found",
};

/** Returns how to continue a job; `undefined` if the session abandons it. */
async function continuationOf(
  jobId: string,
  { status, isKept, isUnfinished, pullRequest }: SessionJob,
  { failures }: SessionProgress,
  run: Run,
): Promise<Continuation | undefined> {
  if (status === "active") {
    tell(`job ${jobId} is active, sending a follow-up`, run);
    return { jobId, isReplaceable: true };
  }
  const state = pullRequest && (await readLastPullRequest(pullRequest, run));
  // The pull request was merged without the kept work.
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
    run.log.notice(message`
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
    tellOfLeft(say`The last ${failures} turns of job ${jobId} failed`, pullRequest, run);
    return undefined;
  }
  tell(`${name} is ${state === "open" ? "open" : "treated as open"}, sending a follow-up to job ${jobId}`, run);
  if (state === "unknown")
    run.log.notice(message`
      Cannot read the state of the pull request
      The state of ${url} could not be read, so the session sends a follow-up to its job. To let the action see whether it is merged or closed, give the step a github-token with pull-requests: read for its repository.`);
  return { jobId, isReplaceable: true, leaves: status === "failed" ? pullRequest : undefined };
}
