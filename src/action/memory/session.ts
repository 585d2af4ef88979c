import type { TerminalStatus } from "../../client/contract.ts";
import { messageOf } from "../../client/errors.ts";
import { type Cache, CacheEntryError } from "../../runner-kit/cache.ts";
import { message, say, type Text } from "../../runner-kit/text.ts";
import { excerpt } from "../../runner-kit/untrusted.ts";
import { type Continuation, nothingRemembered, type RememberedChanges } from "../plan.ts";
import { locatePullRequest, type PullRequest, type PullRequestState } from "../pull-request.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { findJob } from "../run-job.ts";
import { runAttempt, serverUrl } from "../runner/environment.ts";
import { askService } from "./ask-service.ts";
import type { SessionEntry } from "./parse-entry.ts";
import { untilAborted } from "./wait.ts";

/** After this many turns in a row that failed, the session leaves the job and its pull request. */
const maxFailures = 2;
/** How long the state of a session's job is read, in milliseconds, while its service fails. */
const maxReadMs = 180_000;
/** How many pull requests a session remembers. */
const maxPullRequests = 20;

/** How far a session has come before this run sends something. */
type SessionProgress = Pick<SessionEntry, "commit" | "failures">;

/** What a run of a session has done. */
export interface SessionUpdate {
  jobId: string;
  sent: "create" | "message";
  /** Whether an earlier attempt sent it. */
  isResumed: boolean;
  pullRequest: PullRequest | undefined;
  /** How its turn ended; `undefined` if that is unknown. */
  end: "completed" | "failed" | undefined;
  /** Where the range of changes started that this run compared. */
  base: string | undefined;
}

/** An entry that was found, or why it cannot be read. */
type Found = { entry: SessionEntry | undefined } | { error: string };

/** Remembers the last job of a session across workflow runs, in the repository's Actions cache. */
export class SessionMemory {
  readonly #cache: Cache;
  readonly #prefix: string;
  readonly #step: string;
  readonly #environment: NodeJS.ProcessEnv;
  #found: Promise<Found> | undefined;
  #progress: SessionProgress | undefined;
  #saved: SessionEntry | undefined;
  #saves = 0;

  /**
   * @param step - identifies the step and its prompt
   * @param session - see `StepKey.sessionOf`
   */
  constructor(cache: Cache, step: string, session: string, environment: NodeJS.ProcessEnv) {
    this.#cache = cache;
    this.#step = step;
    this.#environment = environment;
    this.#prefix = `agent-session-${session}-`;
  }

  get #runId(): string {
    return this.#environment.GITHUB_RUN_ID ?? "";
  }

  get #attempt(): number {
    return runAttempt(this.#environment);
  }

  /** Returns the entry that earlier steps saved; `undefined` if there is none. Reads it once. Never rejects. */
  find(): Promise<Found> {
    this.#found ??= this.#read();
    return this.#found;
  }

  /** Returns whether an earlier attempt of this step saved an entry. */
  isOwn({ run, step }: SessionEntry): boolean {
    return this.#attempt > 1 && run === this.#runId && step === this.#step;
  }

  /** Returns the later run that saved an entry, and its job; `undefined` if no later one did. */
  laterRun({ run, step, jobId }: SessionEntry): { run: string; jobId: string } | undefined {
    return isLaterRun(run, this.#runId) && step !== this.#step ? { run, jobId } : undefined;
  }

  /**
   * Returns how far the session has come.
   *
   * @param status - of its job, which tells how the last turn ended if its run did not see that
   */
  progressOf({ commit, sent, failures }: SessionEntry, status: string): SessionProgress {
    if (sent !== undefined && status === "completed") this.#progress = { commit: sent, failures: 0 };
    else this.#progress = { commit, failures: failures + (sent !== undefined && status === "failed" ? 1 : 0) };
    return this.#progress;
  }

  /**
   * Saves what this run has done, unless the session remembers it. An entry of a later run stays the newest: of an older run
   * that is re-run, only a job that it created takes the place of the session's last one.
   *
   * @throws if it cannot be saved
   */
  async save(update: SessionUpdate): Promise<void> {
    const found = await this.find();
    if ("error" in found) throw new Error(found.error);
    const earlier = this.#saved ?? found.entry;
    const newest = found.entry && isLaterRun(found.entry.run, this.#runId) ? found.entry : undefined;
    const entry = newest ? this.#replaceJob(newest, update) : this.#next(earlier, update);
    if (entry === undefined || JSON.stringify(entry) === JSON.stringify(earlier)) return;
    // Two steps of a run may have one session.
    const key = `${this.#prefix}${this.#runId}-${this.#attempt}-${this.#step}-${++this.#saves}`;
    await this.#cache.save(key, JSON.stringify({ version: 1, ...entry }));
    this.#saved = entry;
  }

  #next(earlier: SessionEntry | undefined, { jobId, sent: kind, pullRequest, end, base }: SessionUpdate): SessionEntry {
    const isSameJob = earlier?.jobId === jobId;
    const before = this.#saved ?? this.#progress ?? earlier;
    const failures = isSameJob ? (before?.failures ?? 0) : 0;
    const covered = before?.commit ?? commitOf(base);
    const own = commitOf(this.#environment.GITHUB_SHA);
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

  #replaceJob(newest: SessionEntry, { jobId, sent, isResumed, pullRequest }: SessionUpdate): SessionEntry | undefined {
    if (sent !== "create" || isResumed || this.#saved?.jobId === jobId) return undefined;
    const pullRequests = this.#withNumber(newest.pullRequests, pullRequest);
    // The job is this step's: the later run has neither started it nor sent anything to it.
    return { ...newest, jobId, step: this.#step, kind: sent, failures: 0, pullRequests };
  }

  #withNumber(known: number[], pullRequest: PullRequest | undefined): number[] {
    const number = numberOf(pullRequest, this.#environment);
    return number === undefined || known.includes(number) ? known : [...known, number].slice(-maxPullRequests);
  }

  async #read(): Promise<Found> {
    try {
      const text = await this.#cache.restore(this.#prefix);
      if (text === undefined) return { entry: undefined };
      const { parseSessionEntry } = await import("./parse-entry.ts");
      const entry = parseSessionEntry(text);
      return { entry: entry && entry.pullRequests.length <= maxPullRequests ? entry : undefined };
    } catch (error) {
      // An entry that cannot be used will not become usable, so the session continues without it.
      return error instanceof CacheEntryError ? { entry: undefined } : { error: messageOf(error) };
    }
  }
}

/** Returns the number of a pull request in this repository; `undefined` if it is in another one. */
function numberOf(pullRequest: PullRequest | undefined, environment: NodeJS.ProcessEnv): number | undefined {
  const place = pullRequest && locatePullRequest(pullRequest, serverUrl(environment));
  const repository = (environment.GITHUB_REPOSITORY ?? "").toLowerCase();
  return place && `${place.owner}/${place.repo}`.toLowerCase() === repository ? place.number : undefined;
}

/** Returns whether a run began after another one: GitHub counts their ids up. */
function isLaterRun(run: string, other: string): boolean {
  return Number(run) > Number(other);
}

/** Returns the full id of a commit; `undefined` for anything else, such as a branch. */
export function commitOf(ref: string | undefined): string | undefined {
  return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}

/** What is remembered of a session before the prompt is written. */
export interface RememberedSession extends RememberedChanges {
  /** Finds the job that the session continues; `undefined` if it starts a new one, a result if nothing may be sent. */
  findContinued: () => Promise<Continuation | RunResult | undefined>;
}

/**
 * Reads the job of a session, if there is one: its record names its pull request, which does not count as a change, and says how its
 * last turn ended. A dry run goes by the entry alone. Returns a result if nothing may be sent. Never rejects.
 *
 * @param session - `undefined` without a cache that can be read: then only a service that knows sessions remembers the job
 */
export async function readSession(
  session: SessionMemory | undefined,
  firstBase: string | undefined,
  run: Run,
): Promise<RememberedSession | RunResult> {
  const nothing = { ...nothingRemembered, firstBase, findContinued: async () => undefined };
  if (run.state.session === undefined) return nothing;
  const { dryRun: isDryRun } = run.settings;
  const found = session ? await untilAborted(session.find(), run.ports.signal) : { entry: undefined };
  if (!found) return cancelledBeforeSending;
  const entry = "entry" in found ? found.entry : undefined;
  const jobId = entry?.jobId ?? (await jobOfService(run));
  const isKnown = jobId !== undefined || run.state.features?.has("session");
  if ("error" in found && !isKnown) return { kind: "blocked", cause: "session", detail: found.error };
  if (jobId === undefined) {
    if (!isDryRun) tell("no job is remembered, starting one", run);
    return nothing;
  }
  const { commit, pullRequests = [] } = entry ?? {};
  const findContinued = async () => ({ jobId, isReplaceable: true });
  if (isDryRun) return { lastCommit: commit, firstBase, ownPullRequests: pullRequests, findContinued };
  const findWith = async (job: SessionJob, progress: SessionProgress): Promise<Continuation | undefined> => {
    const continued = await continuationOf(jobId, job, progress, run);
    // The create names the session to a service that knows sessions.
    if (continued === undefined) await askService(run);
    return continued;
  };
  if (run.settings.agent && entry && session && entry.sent === undefined) {
    // Nobody else can send the job anything, so the entry has it all, and a quiet night starts nothing to read it.
    const progress = session.progressOf(entry, "");
    const findLater = async () => {
      const job = await readSessionJob(jobId, run);
      return "kind" in job ? job : findWith(job, progress);
    };
    return { lastCommit: progress.commit, firstBase, ownPullRequests: pullRequests, findContinued: findLater };
  }
  const job = await readSessionJob(jobId, run);
  if ("kind" in job) return job;
  const progress = entry && session ? session.progressOf(entry, job.status) : { commit: undefined, failures: 0 };
  const number = numberOf(job.pullRequest, run.ports.environment);
  return {
    lastCommit: progress.commit,
    firstBase,
    ownPullRequests: [...new Set([...pullRequests, ...(number === undefined ? [] : [number])])],
    findContinued: () => findWith(job, progress),
  };
}

/** Returns the job that the service remembers for the session of a run; `undefined` if there is none, or it does not know sessions. */
async function jobOfService(run: Run): Promise<string | undefined> {
  const answer = await askService(run);
  return answer.kind === "announced" ? answer.announcement.sessionJobId : undefined;
}

/** Says why a session sends a follow-up or starts a new job. */
function tell(why: string, { settings, log }: Run): void {
  log.line(`Session ${excerpt(settings.session, 100)}: ${why}`);
}

/** Says that a session starts a new job, and leaves the pull request of the last one. */
export function tellOfLeft(why: Text, { url }: PullRequest, { log }: Run): void {
  log.notice(message`
    Session starts a new job
    ${why}, so the session starts a new job. It leaves ${url}: merge or close it.`);
}

/** What a session's job was read to be. */
interface SessionJob {
  status: TerminalStatus | "active" | "not found";
  /** Whether work of its last turn is kept, which what is sent to it publishes first. */
  isKept: boolean;
  pullRequest: PullRequest | undefined;
}

async function readSessionJob(jobId: string, run: Run): Promise<SessionJob | RunResult> {
  const { state, settings, ports } = run;
  // The rest of the time is for the job that this run sends its prompt to.
  const elapsedMs = state.elapsedMs(ports.clock.now());
  const timeoutMs = Math.min(settings.timeoutMs, elapsedMs + maxReadMs);
  const result = await findJob(jobId, { ...run, settings: { ...settings, timeoutMs } });
  if (result !== "gone" && result.kind === "timed-out" && result.lastError)
    return { kind: "blocked", cause: "session-job", jobId, error: result.lastError, forMs: timeoutMs - elapsedMs };
  const { pullRequest, isKept } = state;
  if (result !== "gone" && result.kind === "cancelled") {
    // A re-run looks at the job again: this step has nothing to do with it yet.
    state.forgetJob();
    return cancelledBeforeSending;
  }
  if (result !== "gone" && result.kind !== "done" && result.kind !== "started") return result;
  state.forgetJob();
  if (result === "gone") return { status: "not found", isKept: false, pullRequest: undefined };
  return { status: result.kind === "done" ? result.status : "active", isKept, pullRequest };
}

/** Returns the state of the last pull request of a session, for the outputs, too. If it was closed, the prompt says so. */
async function readLastPullRequest(pullRequest: PullRequest, run: Run): Promise<PullRequestState> {
  // Loaded here, because few runs of a session find a job that has ended.
  const { readPullRequestState, tellOfRefusal } = await import("./pull-request-state.ts");
  const state = await readPullRequestState(pullRequest, run);
  run.state.lastPullRequest = { url: pullRequest.url, state };
  if (state === "closed") run.state.refusal = await tellOfRefusal(pullRequest, run);
  return state;
}

const jobOver = {
  completed: "finished without a pull request",
  failed: "failed",
  archived: "was archived",
  "not found": "was not found",
};

/** Returns how to continue a job; `undefined` if the session leaves it. */
async function continuationOf(
  jobId: string,
  { status, isKept, pullRequest }: SessionJob,
  { failures }: SessionProgress,
  run: Run,
): Promise<Continuation | undefined> {
  if (status === "active") {
    tell(`job ${jobId} is active, sending a follow-up`, run);
    return { jobId, isReplaceable: true };
  }
  if (isKept && !pullRequest) {
    tell(`work of job ${jobId} is kept, sending a follow-up, which publishes it first`, run);
    return { jobId, isReplaceable: true };
  }
  const state = pullRequest && (await readLastPullRequest(pullRequest, run));
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
  if (state === "unknown") {
    run.log.notice(message`
      Cannot read the state of the pull request
      The state of ${url} could not be read, so the session sends a follow-up to its job. To let the action see whether it is merged or closed, give the step a github-token with pull-requests: read for its repository.`);
  }
  return { jobId, isReplaceable: true, leaves: status === "failed" ? pullRequest : undefined };
}
