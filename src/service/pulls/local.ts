import type { RequestListener } from "node:http";
import type { Repository } from "../git/repository.ts";
import type { Store } from "../jobs/store.ts";
import { parseDiff } from "./diff.ts";
import { renderPullPage } from "./local-page.ts";
import type { Change, MadePull, PullRequests, PullState } from "./pull-requests.ts";

/** Of a larger diff only the beginning is shown: whoever opens the page must not keep the service from its work. */
const mostDiffBytes = 500_000;

/** Pull requests that are pages of the service itself, for repositories without a platform. */
export class OwnPullRequests implements PullRequests {
  readonly #store: Store;
  readonly #repository: Repository;
  readonly #repositoryName: string;
  readonly #baseUrl: () => string;
  readonly #log: (line: string) => void;

  /** @param baseUrl - asked for when a link is made, since the port is known only once the service listens */
  constructor(
    store: Store,
    repository: Repository,
    repositoryName: string,
    baseUrl: () => string,
    log: (line: string) => void,
  ) {
    this.#store = store;
    this.#repository = repository;
    this.#repositoryName = repositoryName;
    this.#baseUrl = baseUrl;
    this.#log = log;
  }

  async open({ jobId, title, branch, target, base, head, continues }: Change): Promise<string> {
    const number = /\/pull\/(\d+)$/.exec(continues ?? "")?.[1] ?? 0;
    // A link of another platform is none of these.
    if (continues !== null && this.#store.setPullCommits(Number(number), jobId, base, head)) return continues;
    return `${this.#baseUrl()}/pull/${this.#store.addPull({ job: jobId, title, branch, target, base, head })}`;
  }

  async stateOf(pull: MadePull): Promise<PullState> {
    await this.#repository.fetch();
    return this.#stateNow(pull, await this.#repository.targetBranch());
  }

  async done(pulls: readonly MadePull[]): Promise<Set<string>> {
    const done = new Set<string>();
    if (pulls.length === 0) return done;
    await this.#repository.fetch();
    const target = await this.#repository.targetBranch();
    for (const pull of pulls) if ((await this.#stateNow(pull, target)) !== "open") done.add(pull.link);
    return done;
  }

  /** By what was fetched last. */
  async #stateNow({ branch, head }: Pick<MadePull, "branch" | "head">, target: string): Promise<PullState> {
    if (await this.#repository.isMerged(head, target)) return "merged";
    return (await this.#repository.branchHead(branch)) === undefined ? "closed" : "open";
  }

  /** Serves `/pull/<number>`, and hands on every other request. */
  serve(next: RequestListener): RequestListener {
    return async (request, response) => {
      const number = /^\/pull\/(\d{1,9})$/.exec(request.url ?? "")?.[1];
      if (number === undefined || !["GET", "HEAD"].includes(request.method ?? "")) return next(request, response);
      const [status, page] = await this.#render(Number(number)).then(
        (found): [number, string] => (found === undefined ? [404, "There is no such pull request."] : [200, found]),
        (error: unknown): [number, string] => {
          this.#log(`The page of pull request ${number} cannot be shown: ${String(error)}`);
          return [500, "The pull request cannot be shown now; the log of the service says why."];
        },
      );
      response.writeHead(status, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
        "x-content-type-options": "nosniff",
      });
      response.end(page);
    };
  }

  async #render(number: number): Promise<string | undefined> {
    const pull = this.#store.pull(number);
    if (!pull) return undefined;
    const { title, branch, target, base, head } = pull;
    const [commits, diff, state] = await Promise.all([
      this.#repository.commits(base, head),
      this.#repository.diff(base, head, mostDiffBytes),
      this.#stateNow({ branch, head }, target).catch(() => undefined),
    ]);
    const prompts = this.#store.prompts(pull.job);
    const files = parseDiff(diff);
    return renderPullPage({
      number,
      title,
      branch,
      target,
      repository: this.#repositoryName,
      state,
      prompts,
      commits,
      files,
      isCut: Buffer.byteLength(diff) >= mostDiffBytes,
    });
  }
}
