import { messageOf } from "../../client/errors.ts";
import { type Cache, CacheEntryError } from "../../runner-kit/cache.ts";
import { hash } from "../hash.ts";
import { locatePullRequest, type PullRequest } from "../pull-request.ts";
import type { Run } from "../run.ts";
import { runAttempt, serverUrl } from "../runner/environment.ts";
import { maxPullRequests, type SessionEntry } from "./entry.ts";

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
  /** `GITHUB_SERVER_URL` and `GITHUB_REPOSITORY`. */
  readonly #serverUrl: string;
  readonly #repository: string;
  #found: Promise<{ entry: SessionEntry | undefined } | { error: string }> | undefined;
  #progress: SessionProgress | undefined;
  #saved: SessionEntry | undefined;
  #saves = 0;
  /** The branch that the session's jobs start from; `undefined` for the project's own. */
  readonly base: string | undefined;

  constructor(cache: Cache, { settings, key, ports: { environment } }: Run, base?: string) {
    this.base = base;
    const { baseUrl, projectId, session } = settings;
    this.#cache = cache;
    this.#runId = environment.GITHUB_RUN_ID ?? "";
    this.#attempt = runAttempt(environment);
    this.#step = key.step;
    this.#commit = environment.GITHUB_SHA ?? "";
    this.#serverUrl = serverUrl(environment);
    this.#repository = environment.GITHUB_REPOSITORY ?? "";
    this.#prefix = `agent-session-${hash(JSON.stringify([baseUrl.href, projectId, session, ...(base === undefined ? [] : [base])]))}-`;
  }

  /** Returns the entry that earlier steps saved; `undefined` if there is none. Reads it once. Never rejects. */
  find(): Promise<{ entry: SessionEntry | undefined } | { error: string }> {
    this.#found ??= this.#read();
    return this.#found;
  }

  /** Returns whether an earlier attempt of this step saved an entry. */
  isOwn({ run, step }: SessionEntry): boolean {
    return this.#attempt > 1 && run === this.#runId && step === this.#step;
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
    const place = pullRequest && locatePullRequest(pullRequest, this.#serverUrl);
    return place && `${place.owner}/${place.repo}`.toLowerCase() === this.#repository.toLowerCase()
      ? place.number
      : undefined;
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
    const key = `${this.#prefix}${this.#runId}-${this.#attempt}-${++this.#saves}`;
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

  async #read(): Promise<{ entry: SessionEntry | undefined } | { error: string }> {
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
