import { dayMs } from "../time.ts";

/** Whether the branches of a project's jobs may be created, as was tried within a day. */
export class BranchRights {
  #provenAt = Number.NEGATIVE_INFINITY;

  /** @param now - in milliseconds, by the machine's clock */
  areProven = (now: number): boolean => now - this.#provenAt < dayMs;

  prove(now: number): void {
    this.#provenAt = now;
  }

  /** Has the next job try again. */
  doubt(): void {
    this.#provenAt = Number.NEGATIVE_INFINITY;
  }
}
