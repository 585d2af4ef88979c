import type { TerminalStatus } from "../../client/contract.ts";
import { messageOf } from "../../client/errors.ts";
import { type Cache, CacheEntryError } from "../../runner-kit/cache.ts";
import { findJob } from "../find-job.ts";
import { hash } from "../hash.ts";
import type { Continuation, RememberedChanges } from "../plan.ts";
import { locatePullRequest, type PullRequest } from "../pull-request.ts";
import type { SessionEvent } from "../report/log-events.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { runAttempt, serverUrl } from "../runner/environment.ts";
import { maxPullRequests, type SessionEntry } from "./entry.ts";
import { untilAborted } from "./until-aborted.ts";

/** After this many turns in a row that failed, the session leaves the job and its pull request. */
const maxFailures = 2;

/** What is known of a session before this run sends something. */
export interface SessionProgress {
  /** The commit up to which a turn that completed has covered the changes. */
  commit: string | undefined;
  /** How many turns of the job have failed since one completed. */
  failures: number;
}

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
  /** `GITHUB_RUN_ID` and `GITHUB_RUN_ATTEMPT`. */
  readonly #runId: string;
  readonly #attempt: number;
  readonly #step: string;
  /** `GITHUB_SHA`, or empty. */
  readonly #commit: string;
  readonly #environment: NodeJS.ProcessEnv;
  #found: Promise<Found> | undefined;
  #progress: SessionProgress | undefined;
  #saved: SessionEntry | undefined;
  #saves = 0;

  /**
   * @param step - identifies the step and its prompt
   * @param base - the branch that the session's jobs start from. Default: the project's own
   */
  constructor(cache: Cache, step: string, { settings, ports: { environment } }: Run, base?: string) {
    const { baseUrl, projectId, session } = settings;
    this.#cache = cache;
    this.#runId = environment.GITHUB_RUN_ID ?? "";
    this.#attempt = runAttempt(environment);
    this.#step = step;
    this.#commit = environment.GITHUB_SHA ?? "";
    this.#environment = environment;
    this.#prefix = `agent-session-${hash(JSON.stringify([baseUrl.href, projectId, session, ...(base === undefined ? [] : [base])]))}-`;
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

  /** Returns the later run that saved an entry, and its job; `undefined` if there is none. */
  laterRun(found: Found | undefined): { run: string; jobId: string } | undefined {
    const entry = found && "entry" in found ? found.entry : undefined;
    return entry && isLaterRun(entry.run, this.#runId) ? { run: entry.run, jobId: entry.jobId } : undefined;
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

  /** Returns the number of a pull request in this repository; `undefined` if it is in another one. */
  numberOf(pullRequest: PullRequest | undefined): number | undefined {
    const place = pullRequest && locatePullRequest(pullRequest, serverUrl(this.#environment));
    const repository = (this.#environment.GITHUB_REPOSITORY ?? "").toLowerCase();
    return place && `${place.owner}/${place.repo}`.toLowerCase() === repository ? place.number : undefined;
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

  #replaceJob(newest: SessionEntry, { jobId, sent, isResumed, pullRequest }: SessionUpdate): SessionEntry | undefined {
    if (sent !== "create" || isResumed || this.#saved?.jobId === jobId) return undefined;
    const pullRequests = this.#withNumber(newest.pullRequests, pullRequest);
    return { ...newest, jobId, failures: 0, pullRequests };
  }

  #withNumber(known: number[], pullRequest: PullRequest | undefined): number[] {
    const number = this.numberOf(pullRequest);
    return number === undefined || known.includes(number) ? known : [...known, number].slice(-maxPullRequests);
  }

  async #read(): Promise<Found> {
    try {
      const text = await this.#cache.restore(this.#prefix);
      if (text === undefined) return { entry: undefined };
      const { parseSessionEntry } = await import("./parse-entry.ts");
      return { entry: parseSessionEntry(text) };
    } catch (error) {
      // An entry that cannot be used will not become usable, so the session continues without it.
      return error instanceof CacheEntryError ? { entry: undefined } : { error: messageOf(error) };
    }
  }
}

/** Returns whether a run began after another one: GitHub counts their ids up. */
function isLaterRun(run: string, other: string): boolean {
  return Number(run) > Number(other);
}

/** Returns the full id of a commit; `undefined` for anything else, such as a branch. */
function commitOf(ref: string | undefined): string | undefined {
  return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}

/** What is remembered of a session before the prompt is written. */
export interface RememberedSession extends RememberedChanges {
  /** Finds the job that the session continues; `undefined` if it starts a new one. */
  findContinued: () => Promise<Continuation | undefined>;
}

/**
 * Reads the session's job: its record names its pull request, which does not count as a change, and says how its last turn ended.
 * A dry run goes by the entry alone. Returns a result if nothing may be sent. Never rejects.
 */
export async function readSession(
  session: SessionMemory,
  firstBase: string | undefined,
  run: Run,
): Promise<RememberedSession | RunResult> {
  const found = await untilAborted(session.find(), run.ports.signal);
  if (!found) return cancelledBeforeSending;
  if ("error" in found) return { kind: "blocked", cause: "session", detail: found.error };
  const { entry } = found;
  const { dryRun, session: name } = run.settings;
  const ownPullRequests = entry?.pullRequests ?? [];
  if (!entry) {
    if (!dryRun) run.log.session({ kind: "first-job" }, name);
    return { lastCommit: undefined, firstBase, ownPullRequests, findContinued: async () => undefined };
  }
  const { jobId } = entry;
  if (dryRun) {
    const findContinued = async () => ({ jobId, isReplaceable: true });
    return { lastCommit: entry.commit, firstBase, ownPullRequests, findContinued };
  }
  const job = await readSessionJob(entry, run);
  if ("kind" in job) return job;
  const progress = session.progressOf(entry, job.status);
  const number = session.numberOf(job.pullRequest);
  return {
    lastCommit: progress.commit,
    firstBase,
    ownPullRequests: [...new Set([...ownPullRequests, ...(number === undefined ? [] : [number])])],
    findContinued: () => continuationOf(jobId, job, progress, run),
  };
}

/** What a session's job was read to be. */
interface SessionJob {
  status: TerminalStatus | "active" | "not found";
  pullRequest: PullRequest | undefined;
}

async function readSessionJob({ jobId }: SessionEntry, run: Run): Promise<SessionJob | RunResult> {
  const { state } = run;
  const result = await findJob(jobId, run);
  const { pullRequest } = state;
  if (result !== "gone" && result.kind !== "done" && result.kind !== "started") return result;
  state.forgetJob();
  if (result === "gone") return { status: "not found", pullRequest: undefined };
  return { status: result.kind === "done" ? result.status : "active", pullRequest };
}

/** Returns how to continue a job; `undefined` if the session leaves it. */
async function continuationOf(
  jobId: string,
  { status, pullRequest }: SessionJob,
  { failures }: SessionProgress,
  run: Run,
): Promise<Continuation | undefined> {
  const say = (event: SessionEvent): void => run.log.session(event, run.settings.session);
  if (status === "active") {
    say({ kind: "job-active", jobId });
    return { jobId, isReplaceable: true };
  }
  if (status === "archived" || status === "not found" || !pullRequest) {
    say({ kind: "job-over", jobId, reason: status === "completed" ? "no pull request" : status });
    return undefined;
  }
  // Loaded here, because few runs of a session find a job that has ended.
  const { readPullRequestState } = await import("./pull-request-state.ts");
  const state = await readPullRequestState(pullRequest, run);
  const isOver = state === "merged" || state === "closed";
  if (status === "failed" && failures >= maxFailures && !isOver) {
    say({ kind: "failed-again", jobId, pullRequest, failures });
    return undefined;
  }
  say({ kind: "pull-request", jobId, pullRequest, state });
  return isOver ? undefined : { jobId, isReplaceable: true, isDoubtful: status === "failed", pullRequest };
}
