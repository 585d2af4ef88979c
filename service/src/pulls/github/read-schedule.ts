import { dayMs, hourMs, minuteMs } from "../../time.ts";
import { GitHubError } from "./github-error.ts";

const growth = 4;

/** Decides when to read a pull request again whose state could not be read: after pauses that grow up to a day. */
export class ReadSchedule {
  readonly #failed = new Map<string, { failures: number; dueAt: number }>();

  /** Times are milliseconds of any clock that does not go back. */
  isDue(link: string, now: number): boolean {
    return now >= (this.#failed.get(link)?.dueAt ?? now);
  }

  /**
   * A pull request that GitHub does not know will hardly come back, so its first pause is an hour, else a minute.
   *
   * @returns how often it has failed
   */
  failed(link: string, error: unknown, now: number): number {
    const failures = (this.#failed.get(link)?.failures ?? 0) + 1;
    const isGone = error instanceof GitHubError && [404, 410].includes(error.status ?? 0);
    const pauseMs = Math.min(dayMs, (isGone ? hourMs : minuteMs) * growth ** (failures - 1));
    this.#failed.set(link, { failures, dueAt: now + pauseMs });
    return failures;
  }

  succeeded(link: string): void {
    this.#failed.delete(link);
  }

  /** Forgets pull requests that have been due for a day: nobody asks for them any longer. */
  forgetOld(now: number): void {
    for (const [link, { dueAt }] of this.#failed) if (now > dueAt + dayMs) this.#failed.delete(link);
  }
}
