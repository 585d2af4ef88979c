import type { RequestListener } from "node:http";
import type { Store } from "../store.ts";
import type { Repository } from "../work/repository.ts";
import { parseDiff } from "./diff.ts";
import { renderPullPage } from "./page.ts";
import type { Change, PullRequests } from "./pull-requests.ts";

/** Pull requests that are pages of the service itself, for repositories without a platform. */
export class OwnPullRequests implements PullRequests {
  readonly #store: Store;
  readonly #repository: Repository;
  readonly #repositoryName: string;
  readonly #baseUrl: () => string;

  /** @param baseUrl - asked for when a link is made, since the port is known only once the service listens */
  constructor(store: Store, repository: Repository, repositoryName: string, baseUrl: () => string) {
    this.#store = store;
    this.#repository = repository;
    this.#repositoryName = repositoryName;
    this.#baseUrl = baseUrl;
  }

  async open({ jobId, title, branch, target, base, head, continues }: Change): Promise<string> {
    const number = /\/pull\/(\d+)$/.exec(continues ?? "")?.[1];
    if (continues !== null && number !== undefined) {
      this.#store.setPullHead(Number(number), head);
      return continues;
    }
    return `${this.#baseUrl()}/pull/${this.#store.addPull({ job: jobId, title, branch, target, base, head })}`;
  }

  isClosed({ branch, head }: { branch: string; head: string }): Promise<boolean> {
    return this.#repository.isDone(branch, head);
  }

  /** Serves `/pull/<number>`, and hands on every other request. */
  serve(next: RequestListener): RequestListener {
    return async (request, response) => {
      const number = /^\/pull\/(\d{1,9})$/.exec(request.url ?? "")?.[1];
      if (number === undefined || request.method !== "GET") return next(request, response);
      const page = await this.#render(Number(number)).catch(() => undefined);
      response.writeHead(page === undefined ? 404 : 200, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
        "x-content-type-options": "nosniff",
      });
      response.end(page ?? "There is no such pull request.");
    };
  }

  async #render(number: number): Promise<string | undefined> {
    const pull = this.#store.pull(number);
    if (!pull) return undefined;
    const { title, branch, target, base, head } = pull;
    const [commits, diff, isClosed] = await Promise.all([
      this.#repository.messages(base, head),
      this.#repository.diff(base, head),
      this.#repository.isDone(branch, head),
    ]);
    const prompts = this.#store.prompts(pull.job);
    const files = parseDiff(diff);
    return renderPullPage({
      number,
      title,
      branch,
      target,
      repository: this.#repositoryName,
      isClosed,
      prompts,
      commits,
      files,
    });
  }
}
