import { errorMessage } from "../error-message.ts";

/** Logs errors in reading the state of pull requests: once per pull request, because states are read again and again. */
export class StateErrorLog {
  readonly #log: (line: string) => void;
  /** Those of this round. */
  #reported = new Set<string>();
  /** Those of the round before. */
  #before = new Set<string>();

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  report(link: string, error: unknown): void {
    const isKnown = this.#reported.has(link) || this.#before.has(link);
    this.#reported.add(link);
    if (!isKnown) this.#log(stateError(link, error));
  }

  /** Forgets those that were not reported in the round that ends, so that it does not grow as long as the service runs. */
  startRound(): void {
    this.#before = this.#reported;
    this.#reported = new Set();
  }
}

/** Returns the line of the log about a pull request whose state cannot be read. */
export const stateError = (link: string, error: unknown): string =>
  `Cannot read the state of ${link}, treated as open: ${errorMessage(error)}`;
