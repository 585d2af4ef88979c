import type { Machine } from "../../machine.ts";
import type { PullRequestRef } from "../pull-requests.ts";
import { stateError } from "../state-error-log.ts";
import type { GitHubApi } from "./github-api.ts";
import { GitHubError, RateLimitError } from "./github-error.ts";
import { numberOf, type PullRequestData, parsePullRequest, parsePullRequests } from "./pull-request-data.ts";
import { ReadSchedule } from "./read-schedule.ts";
import type { RepositoryIdentity } from "./repository-identity.ts";

export interface ClosedPullRequestsOptions {
  api: GitHubApi;
  identity: RepositoryIdentity;
  log: (line: string) => void;
  machine: Pick<Machine, "now">;
}

/** How often all open pull requests are read, in milliseconds. No closing is noticed later. */
const comparisonPeriodMs = 4 * 3_600_000;
/** Pull requests that are read one by one in a round. The others have to wait for the next rounds. */
const maxReads = 100;
const pageSize = 100;
/** Limit for pull requests closed since the last round. If there are more, the next round compares all open ones. */
const maxPages = 5;
/** Pages of open pull requests that a round reads. A comparison with more of them continues in the next rounds. */
const maxOpenPages = 10;
/** GitHub's lists may show a closing later than others that came after it. */
const overlapMs = 300_000;

/** A comparison with all open pull requests. */
interface Comparison {
  /** The numbers of those that were read. */
  open: Set<number>;
  page: number;
}

/** What the calls of a round share. */
interface Round {
  /** The numbers of pull requests that were closed since the last round, and of some closed before. */
  closed: ReadonlySet<number>;
  /** How many may still be read one by one. */
  readsLeft: number;
}

/**
 * Finds closed pull requests, in rounds of one or several calls. A round asks GitHub what was closed since the last one, which is one
 * request, and none that counts if nothing was closed. The first round, and one every few hours, compares with all open pull requests,
 * which takes several rounds if there are many. Those that are asked for and not known to be open, such as new ones, are read one by one.
 */
export class ClosedPullRequests {
  readonly #options: ClosedPullRequestsOptions;
  readonly #schedule = new ReadSchedule();
  readonly #rounds = new WeakMap<object, Round>();
  /** The numbers of pull requests that were open when they were read. A closing since then is in the list of closed ones. */
  #open = new Set<number>();
  #comparisonDueAt = Number.NEGATIVE_INFINITY;
  /** The one that has begun. */
  #comparison: Comparison | undefined;
  /** The last update in the list of closed pull requests, in milliseconds since 1970. */
  #lastUpdate = Number.NEGATIVE_INFINITY;
  /** The `ETag` of the first page of that list. */
  #etag: string | undefined;

  constructor(options: ClosedPullRequestsOptions) {
    this.#options = options;
  }

  /**
   * Returns the links of those that are closed or merged. One whose state cannot be read counts as open.
   *
   * @param token - the round, see `PullRequests`
   * @throws if no state can be read, also until the end of GitHub's rate limit
   */
  async find(pullRequests: readonly PullRequestRef[], token: object): Promise<ReadonlySet<string>> {
    const now = this.#options.machine.now();
    const asked = await this.#numbersOf(pullRequests);
    const closed = new Set<string>();
    if (asked.size === 0) return closed;
    const round = this.#rounds.get(token) ?? (await this.#startRound(token, now));
    const unknown: [string, number][] = [];
    for (const [link, number] of asked) {
      if (round.closed.has(number)) closed.add(link);
      else if (!this.#open.has(number) && !this.#comparison?.open.has(number)) unknown.push([link, number]);
    }
    await this.#readEach(unknown, closed, round, now);
    return closed;
  }

  async #startRound(token: object, now: number): Promise<Round> {
    this.#schedule.forgetOld(now);
    const begins = this.#comparison === undefined && now >= this.#comparisonDueAt;
    const closed = await this.#readNewlyClosed(begins);
    if (begins) this.#comparison = { open: new Set(), page: 1 };
    const comparison = this.#comparison;
    // Read one by one if they are asked for again: because their job is running now, the round fails, or the caller does not get
    // to use its result.
    for (const open of [this.#open, comparison?.open]) for (const number of closed) open?.delete(number);
    if (comparison !== undefined) await this.#compare(comparison, closed, now);
    const round = { closed, readsLeft: maxReads };
    this.#rounds.set(token, round);
    return round;
  }

  /** Returns the numbers of the pull requests that are of this repository, by their links. */
  async #numbersOf(pullRequests: readonly PullRequestRef[]): Promise<Map<string, number>> {
    const numbers = new Map<string, number>();
    for (const { link } of pullRequests) {
      const number = await this.#options.identity.pullRequestNumber(link);
      if (number !== undefined) numbers.set(link, number);
    }
    return numbers;
  }

  /**
   * Returns the numbers of the pull requests that were closed since the last round, and of some closed before.
   *
   * @param begins - a comparison begins: only takes note of the last update, because what was closed before is not in its list
   */
  async #readNewlyClosed(begins: boolean): Promise<Set<number>> {
    const closed: PullRequestData[] = [];
    const query = { state: "closed", sort: "updated", direction: "desc", per_page: pageSize };
    const since = this.#lastUpdate - overlapMs;
    if (begins) this.#etag = undefined;
    let firstEtag: string | undefined;
    for (let page = 1; ; page++) {
      const { data, etag } = await this.#list({ ...query, page }, page === 1 ? this.#etag : undefined);
      if (page === 1) firstEtag = etag;
      if (data === undefined) return new Set();
      closed.push(...data);
      const isComplete = data.length < pageSize || data.some((one) => updateOf(one) < since);
      if (begins || isComplete) break;
      if (page === maxPages) {
        this.#comparisonDueAt = Number.NEGATIVE_INFINITY;
        this.#comparison = undefined;
        break;
      }
    }
    this.#etag = firstEtag;
    this.#lastUpdate = Math.max(this.#lastUpdate, ...closed.map(updateOf).filter(Number.isFinite));
    return new Set(closed.filter(({ state }) => state === "closed").map(numberOf));
  }

  /** Goes on with a comparison, oldest first: one that is opened meanwhile moves no other to another page. */
  async #compare(comparison: Comparison, closed: ReadonlySet<number>, now: number): Promise<void> {
    const { open } = comparison;
    const query = { state: "open", sort: "created", direction: "asc", per_page: pageSize };
    for (let pages = 0; pages < maxOpenPages; pages++, comparison.page++) {
      const { data = [] } = await this.#list({ ...query, page: comparison.page }, undefined);
      for (const one of data) if (one.state === "open" && !closed.has(numberOf(one))) open.add(numberOf(one));
      if (data.length === pageSize) continue;
      this.#open = open;
      this.#comparison = undefined;
      this.#comparisonDueAt = now + comparisonPeriodMs;
      return;
    }
  }

  async #list(query: Record<string, unknown>, etag: string | undefined) {
    const response = await this.#request("GET /repos/{owner}/{repo}/pulls", query, "Reading pull requests", etag);
    return { ...response, data: response.data === undefined ? undefined : parsePullRequests(response.data) };
  }

  /** Reads pull requests one by one, and adds the links of the closed ones to `closed`. */
  async #readEach(unknown: readonly [string, number][], closed: Set<string>, round: Round, now: number): Promise<void> {
    const due = unknown.filter(([link]) => this.#schedule.isDue(link, now)).slice(0, round.readsLeft);
    round.readsLeft -= due.length;
    for (const [link, number] of due) {
      try {
        const path = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
        const { data } = await this.#request(path, { pull_number: number }, `Reading ${link}`);
        if (parsePullRequest(data).state === "closed") closed.add(link);
        else for (const open of [this.#open, this.#comparison?.open]) open?.add(number);
        this.#schedule.succeeded(link);
      } catch (error) {
        if (this.#options.api.signal.aborted) throw error;
        // It fails for the others, too.
        if (error instanceof GitHubError && (error.status === undefined || error instanceof RateLimitError)) {
          if (closed.size === 0) throw error;
          return;
        }
        if (this.#schedule.failed(link, error, now) === 1) this.#options.log(stateError(link, error));
      }
    }
  }

  /** Neither waits nor retries, because there is another round in a minute. */
  #request(route: string, parameters: Record<string, unknown>, what: string, etag?: string) {
    return this.#options.api.request(route, parameters, { what, maxWaitMs: 0, isRetried: false, etag });
  }
}

/** Returns when a pull request was updated, in milliseconds since 1970; if that is unknown, it is treated as new. */
function updateOf({ updated_at: text = "" }: PullRequestData): number {
  return Date.parse(text) || Number.POSITIVE_INFINITY;
}
