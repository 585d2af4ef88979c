import { messageOf } from "../../client/errors.ts";
import { type Cache, CacheEntryError } from "../../runner-kit/cache.ts";
import { locatePullRequest, type PullRequest } from "../pull-request.ts";
import type { Run } from "../run.ts";
import { runAttempt, serverUrl } from "../runner/environment.ts";
import { maxPullRequests, type SessionEntry } from "./entry.ts";
import { hash } from "./hash.ts";

/** Remembers the last job of a session across workflow runs, in the repository's Actions cache. */
export class SessionMemory {
  readonly #cache: Cache;
  readonly #prefix: string;
  /** `GITHUB_RUN_ID` and `GITHUB_RUN_ATTEMPT`. */
  readonly #runId: string;
  readonly #attempt: number;
  /** `GITHUB_SHA`, or empty. */
  readonly #commit: string;
  /** `GITHUB_SERVER_URL` and `GITHUB_REPOSITORY`. */
  readonly #serverUrl: string;
  readonly #repository: string;
  #found: Promise<{ entry: SessionEntry | undefined } | { error: string }> | undefined;
  #saved: SessionEntry | undefined;
  #saves = 0;

  constructor(cache: Cache, { settings, ports: { environment } }: Run) {
    const { baseUrl, projectId, session } = settings;
    this.#cache = cache;
    this.#runId = environment.GITHUB_RUN_ID ?? "";
    this.#attempt = runAttempt(environment);
    this.#commit = environment.GITHUB_SHA ?? "";
    this.#serverUrl = serverUrl(environment);
    this.#repository = environment.GITHUB_REPOSITORY ?? "";
    this.#prefix = `agent-session-${hash(JSON.stringify([baseUrl.href, projectId, session]))}-`;
  }

  /** Returns the entry that earlier steps saved; `undefined` if there is none. Reads it once. Never rejects. */
  find(): Promise<{ entry: SessionEntry | undefined } | { error: string }> {
    this.#found ??= this.#read();
    return this.#found;
  }

  /**
   * Returns the commit of the session's last run, not counting this one: a re-run asks for the same changes again.
   * `undefined` if there is none.
   */
  lastCommit({ run, commit, since }: SessionEntry): string | undefined {
    return run === this.#runId ? since : commit;
  }

  /**
   * Saves the session's job, and its pull request once it is known, unless the session remembers both.
   *
   * @throws if it cannot be saved
   */
  async save(jobId: string, pullRequest: PullRequest | undefined): Promise<void> {
    const found = await this.find();
    if ("error" in found) throw new Error(found.error);
    const earlier = this.#saved ?? found.entry;
    const run = this.#runId;
    const number = this.#numberOf(pullRequest);
    const known = earlier?.pullRequests ?? [];
    const isKnown = number === undefined || known.includes(number);
    if (earlier?.jobId === jobId && earlier.run === run && isKnown) return;
    const entry: SessionEntry = {
      jobId,
      run,
      commit: this.#commit || undefined,
      since: earlier && this.lastCommit(earlier),
      pullRequests: isKnown ? known : [...known, number].slice(-maxPullRequests),
    };
    const key = `${this.#prefix}${run}-${this.#attempt}-${++this.#saves}`;
    await this.#cache.save(key, JSON.stringify({ version: 1, ...entry }));
    this.#saved = entry;
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

  #numberOf(pullRequest: PullRequest | undefined): number | undefined {
    const place = pullRequest && locatePullRequest(pullRequest, this.#serverUrl);
    return place && `${place.owner}/${place.repo}`.toLowerCase() === this.#repository.toLowerCase()
      ? place.number
      : undefined;
  }
}
