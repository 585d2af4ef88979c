import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import type { GitRepository } from "../git/git-repository.ts";
import { HttpException } from "../http/http-exception.ts";
import type { Log } from "../log/log.ts";
import type { LocalPullRequest } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import type { PullRequestState } from "../pulls/pull-requests.ts";
import { StateErrorLog } from "../pulls/state-error-log.ts";
import { parseDiff } from "./diff.ts";
import type { Html } from "./html.ts";
import type { PageBody } from "./page-reply.ts";
import type { PageStore } from "./page-store.ts";
import { renderChanges, renderHead } from "./pull-request-page.ts";
import { renderTurns, type TurnLists } from "./turn-list.ts";
import type { View } from "./view.ts";

/** The repository of a project and the states of its pull requests. */
export interface PullRequestSource {
  repository: Pick<GitRepository, "latestCommits" | "diff" | "changedFiles" | "lastCommitOf" | "packCommit">;
  repositoryName: string;
  /** Returns the files that differ between two commits and run code or instruct agents. Default: none do. */
  protectedFiles?: (base: string, head: string) => Promise<readonly string[]>;
  /** Reads the state of a pull request. */
  stateOf: (pullRequest: LocalPullRequest) => Promise<PullRequestState>;
}

export interface PullRequestPagesOptions {
  store: {
    jobs: Pick<PageStore["jobs"], "projectOf">;
    pullRequests: Pick<PageStore["pullRequests"], "find">;
    lists: TurnLists;
  };
  /** Pull requests of other projects have no page. */
  projects: PerProject<PullRequestSource>;
  log: Log;
}

/** Larger diffs are cut off: browsers are slow with more bytes or lines. */
const maxDiffBytes = 500_000;
const maxDiffLines = 20_000;
const maxCommits = 100;
const maxSubjectLength = 200;
/** How many pages are rendered at a time, and how many may wait. */
const maxRenders = 2;
const maxWaiting = 20;
/** The size of the cache of rendered changes. */
const cacheBytes = 32 * 1024 * 1024;

/** Renders the pages of pull requests. However large they are, other requests are not delayed for long. */
export class PullRequestPages {
  readonly #options: PullRequestPagesOptions;
  readonly #errors: StateErrorLog;
  readonly #limit = pLimit(maxRenders);
  /** Pages that are being rendered, by number and view. Requests for the same page share the result. */
  readonly #renders = new Map<string, Promise<PageBody>>();
  /** The changes between two commits never change. */
  readonly #changes = new LRUCache<string, Buffer>({
    maxSize: cacheBytes,
    sizeCalculation: ({ length }) => length,
  });

  constructor(options: PullRequestPagesOptions) {
    this.#options = options;
    this.#errors = new StateErrorLog(options.log);
  }

  /**
   * Returns the page as parts of HTML, or `undefined` if there is no such pull request.
   *
   * @throws HttpException 503 if too many pages are waiting
   */
  async render(number: number, view: View): Promise<PageBody | undefined> {
    const key = JSON.stringify([number, view]);
    const current = this.#renders.get(key);
    if (current) return current;
    const pullRequest = await this.#options.store.pullRequests.find(number);
    const source = pullRequest && (await this.#sourceOf(pullRequest));
    if (!source) return undefined;
    const begun = this.#renders.get(key);
    if (begun) return begun;
    if (this.#limit.pendingCount >= maxWaiting)
      throw new HttpException(503, "Too many pages are being rendered. Try again in a few seconds.", {
        "retry-after": "5",
      });
    const render = this.#limit(() => this.#render(number, pullRequest, source, view)).finally(() =>
      this.#renders.delete(key),
    );
    this.#renders.set(key, render);
    return render;
  }

  async #sourceOf({ job }: LocalPullRequest): Promise<PullRequestSource | undefined> {
    const project = await this.#options.store.jobs.projectOf(job);
    return project === undefined ? undefined : this.#options.projects.get(project);
  }

  async #render(
    number: number,
    pullRequest: LocalPullRequest,
    source: PullRequestSource,
    view: View,
  ): Promise<PageBody> {
    const { store } = this.#options;
    const { repositoryName } = source;
    const { job, title, branch, target, base, head } = pullRequest;
    const state = await this.#stateOf(number, pullRequest, source);
    const texts = { title, branch, targetBranch: target, repositoryName };
    const start = renderHead({ view, number, jobId: job, ...texts, state });
    return [start, await renderTurns(store.lists, job, view), await this.#renderChanges(base, head, source)];
  }

  async #stateOf(
    number: number,
    pullRequest: LocalPullRequest,
    { stateOf }: PullRequestSource,
  ): Promise<PullRequestState | undefined> {
    try {
      return await stateOf(pullRequest);
    } catch (error) {
      this.#errors.report(`/pull/${number}`, error);
      return undefined;
    }
  }

  async #renderChanges(base: string, head: string, { repository, protectedFiles }: PullRequestSource): Promise<Buffer> {
    const key = `${base}..${head}`;
    const cached = this.#changes.get(key);
    if (cached) return cached;
    const commits = await repository.latestCommits(base, head, maxCommits + 1);
    const diff = await repository.diff(base, head, maxDiffBytes);
    const shown = firstLines(diff, maxDiffLines);
    const isTooLarge = Buffer.byteLength(diff) >= maxDiffBytes;
    const limit = isTooLarge ? `it has more than ${maxDiffBytes / 1000} kB` : `it has more than ${maxDiffLines} lines`;
    const truncated = shown === diff && !isTooLarge ? undefined : limit;
    const files = parseDiff(shown);
    const named = new Set(files.flatMap(({ title }) => [title, ...title.split(" → ")]));
    const all = truncated === undefined ? [] : await repository.changedFiles(base, head);
    const changes = await renderInSlices(
      renderChanges({
        commits: commits
          .slice(-maxCommits)
          .map(({ commit, subject }) => ({ commit, subject: subject.slice(0, maxSubjectLength) })),
        hasMoreCommits: commits.length > maxCommits,
        files,
        protectedFiles: (await protectedFiles?.(base, head)) ?? [],
        truncated,
        leftOut: all.map(({ path }) => path).filter((path) => !named.has(path)),
      }),
    );
    this.#changes.set(key, changes);
    return changes;
  }
}

function firstLines(text: string, count: number): string {
  let end = -1;
  for (let line = 0; line < count; line++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1) return text;
  }
  return text.slice(0, end + 1);
}

/** How long rendering holds up other requests at a time. */
const sliceMs = 5;

/** Joins the parts of a page that a generator renders. Lets other requests run between them. */
export async function renderInSlices(parts: Iterable<string | Html>): Promise<Buffer> {
  const rendered: Buffer[] = [];
  let text = "";
  let start = performance.now();
  for (const part of parts) {
    text += String(part);
    if (performance.now() - start < sliceMs) continue;
    rendered.push(Buffer.from(text));
    text = "";
    await setImmediate();
    start = performance.now();
  }
  return Buffer.concat([...rendered, Buffer.from(text)]);
}
