import { errorMessage } from "../error-message.ts";
import type { PullRequestRef } from "./pull-requests.ts";

/** Logs errors in reading the state of pull requests: once per pull request, because states are read again and again. */
export class StateErrorLog {
  readonly #log: (line: string) => void;
  readonly #logged = new Set<string>();

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  report(link: string, error: unknown): void {
    if (this.#logged.has(link)) return;
    this.#logged.add(link);
    this.#log(`Cannot read the state of ${link}, treated as open: ${errorMessage(error)}`);
  }

  /** Forgets all but these pull requests, so that it does not grow as long as the service runs. */
  keep(pullRequests: readonly Pick<PullRequestRef, "link">[]): void {
    const links = new Set(pullRequests.map(({ link }) => link));
    for (const link of this.#logged) if (!links.has(link)) this.#logged.delete(link);
  }
}
