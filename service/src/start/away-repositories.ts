import type { Problems } from "../api/problems.ts";
import { errorMessage } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import { type Machine, thisMachine } from "../machine.ts";
import { oneLine } from "../one-line.ts";
import { RateLimitError } from "../pulls/github/github-error.ts";
import { pauseAfter } from "../turns/postponements.ts";

/** A repository with what its projects need besides. */
export interface CheckedRepository {
  /** Its projects; `undefined` if that is all. */
  names: readonly string[] | undefined;
  /** @throws with what is wrong as the message */
  check(): Promise<void>;
}

export interface AwayOptions {
  /** By what the store calls them. */
  repositories: ReadonlyMap<string, CheckedRepository>;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: Log;
  /** Default: nobody is told. */
  problems?: Pick<Problems, "repositoriesAway"> | undefined;
  /** Default: the one that the process runs on. */
  machine?: Pick<Machine, "sleep"> | undefined;
}

/** The repositories that cannot be used now. Their turns wait, and hold no place, while each is tried until it can be used. */
export class AwayRepositories {
  readonly #options: AwayOptions;
  readonly #away = new Set<string>();
  /** Those of which people are told. */
  readonly #told = new Set<string>();
  /** Called when one can be used again. */
  onBack = (): void => {};

  constructor(options: AwayOptions) {
    this.#options = options;
  }

  get isAny(): boolean {
    return this.#away.size > 0;
  }

  has(identity: string | undefined): boolean {
    return identity !== undefined && this.#away.has(identity);
  }

  /** At the start, a repository could not be used. */
  startsAway(identity: string, reason: string): void {
    this.#tell(identity, reason);
    this.begin(identity, reason);
  }

  /**
   * A turn could not use a repository. People are told if it cannot be used a second later either.
   *
   * @param waitMs - how long its host has said to wait. Default: it has said nothing
   */
  begin(identity: string, reason: string, waitMs = 0): void {
    if (this.#away.has(identity) || !this.#options.repositories.has(identity)) return;
    this.#away.add(identity);
    if (waitMs > 0) this.#tell(identity, reason);
    void this.#tryUntilBack(identity, waitMs);
  }

  async #tryUntilBack(identity: string, firstWaitMs: number): Promise<void> {
    const { repositories, signal, machine = thisMachine } = this.#options;
    let waitMs = firstWaitMs;
    for (let count = 0; !signal.aborted; count++) {
      await machine.sleep(Math.max(waitMs, pauseAfter(count)), signal);
      if (signal.aborted) return;
      try {
        await repositories.get(identity)?.check();
        break;
      } catch (error) {
        if (signal.aborted) return;
        waitMs = error instanceof RateLimitError ? error.waitMs : 0;
        this.#tell(identity, errorMessage(error));
      }
    }
    this.#away.delete(identity);
    if (this.#told.delete(identity)) this.#options.log(`${this.#nameOf(identity)} can be used again.`);
    this.#showProblem();
    this.onBack();
  }

  #tell(identity: string, reason: string): void {
    if (this.#told.has(identity)) return;
    this.#told.add(identity);
    this.#options.log(
      `${this.#nameOf(identity)} cannot be used now: ${oneLine(reason)}. Its turns wait, and it is tried again every minute or more often.`,
      "warn",
    );
    this.#showProblem();
  }

  #nameOf(identity: string): string {
    const { names } = this.#options.repositories.get(identity) ?? {};
    return names === undefined ? `The repository ${identity}` : `Project ${names.join(", ")}, repository ${identity},`;
  }

  #showProblem(): void {
    const names = [...this.#told].flatMap((one) => this.#options.repositories.get(one)?.names ?? []);
    this.#options.problems?.repositoriesAway(this.#told.size === 0 ? undefined : names);
  }
}
