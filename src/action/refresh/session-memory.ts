import * as z from "zod/mini";
import { isUsableJobId } from "../../client/contract.ts";
import { messageOf } from "../../client/errors.ts";
import { type Cache, CacheEntryError } from "../../runner-kit/cache.ts";
import type { Settings } from "../inputs/schema.ts";
import { locatePullRequest, type PullRequest } from "../pull-request.ts";
import { hash } from "./hash.ts";

/** How many pull requests a session remembers. */
const maxPullRequests = 20;

const commit = z.string().check(z.regex(/^[0-9a-f]{40,64}$/));
const entry = z.object({
  version: z.literal(1),
  jobId: z.string().check(z.refine(isUsableJobId)),
  run: z.string(),
  commit: z.optional(commit),
  since: z.optional(commit),
  pullRequests: z.array(z.int().check(z.positive())).check(z.maxLength(maxPullRequests)),
});

/** What a session remembers. */
export interface SessionEntry {
  jobId: string;
  /** The workflow run that last sent something. */
  run: string;
  /** The commit of that run. */
  commit?: string | undefined;
  /** The commit of the run before that one. */
  since?: string | undefined;
  /** The numbers of the session's last pull requests in this repository, oldest first. */
  pullRequests: number[];
}

/** The workflow run that a session is used in. */
export interface SessionRun {
  /** `GITHUB_RUN_ID` and `GITHUB_RUN_ATTEMPT`. */
  id: string;
  attempt: number;
  /** `GITHUB_SHA`, or empty. */
  commit: string;
  /** `GITHUB_SERVER_URL` and `GITHUB_REPOSITORY`. */
  serverUrl: string;
  repository: string;
}

/** Remembers the last job of a session across workflow runs, in the repository's Actions cache. */
export class SessionMemory {
  readonly #connect: () => Cache;
  readonly #run: SessionRun;
  readonly #prefix: string;
  #found: Promise<{ entry: SessionEntry | undefined } | { error: string }> | undefined;
  #saved: SessionEntry | undefined;
  #saves = 0;

  constructor(
    connect: () => Cache,
    run: SessionRun,
    session: string,
    { baseUrl, projectId }: Pick<Settings, "baseUrl" | "projectId">,
  ) {
    this.#connect = connect;
    this.#run = run;
    this.#prefix = `agent-session-${hash(JSON.stringify([baseUrl.href, projectId, session]))}-`;
  }

  /** Returns what earlier steps saved; `undefined` if that is nothing. Reads it once. Never rejects. */
  find(): Promise<{ entry: SessionEntry | undefined } | { error: string }> {
    this.#found ??= this.#read();
    return this.#found;
  }

  /**
   * Returns the commit of the session's last run, not counting this one: a re-run asks for the same changes again.
   * `undefined` if there is none.
   */
  lastCommit({ run, commit, since }: SessionEntry): string | undefined {
    return run === this.#run.id ? since : commit;
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
    const { id: run, attempt, commit } = this.#run;
    const number = this.#numberOf(pullRequest);
    const known = earlier?.pullRequests ?? [];
    const isKnown = number === undefined || known.includes(number);
    if (earlier?.jobId === jobId && earlier.run === run && isKnown) return;
    const entry: SessionEntry = {
      jobId,
      run,
      commit: commit || undefined,
      since: earlier && this.lastCommit(earlier),
      pullRequests: isKnown ? known : [...known, number].slice(-maxPullRequests),
    };
    const key = `${this.#prefix}${run}-${attempt}-${++this.#saves}`;
    await this.#connect().save(key, JSON.stringify({ version: 1, ...entry }));
    this.#saved = entry;
  }

  async #read(): Promise<{ entry: SessionEntry | undefined } | { error: string }> {
    try {
      const text = await this.#connect().restore(this.#prefix);
      return { entry: text === undefined ? undefined : parseEntry(text) };
    } catch (error) {
      // An entry that cannot be used will not become usable, so the session goes on without it.
      return error instanceof CacheEntryError ? { entry: undefined } : { error: messageOf(error) };
    }
  }

  #numberOf(pullRequest: PullRequest | undefined): number | undefined {
    const { serverUrl, repository } = this.#run;
    const place = pullRequest && locatePullRequest(pullRequest, serverUrl);
    return place && `${place.owner}/${place.repo}`.toLowerCase() === repository.toLowerCase()
      ? place.number
      : undefined;
  }
}

/** Parses an entry, which anyone who can write the cache may have written; `undefined` if it cannot be used. */
function parseEntry(text: string): SessionEntry | undefined {
  try {
    return entry.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
