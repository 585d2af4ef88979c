import { errorMessage } from "../error-message.ts";

/** Logs errors in reading the state of pull requests: once per pull request, because every state is read every minute. */
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
}
