/** Counts at most `limit` uses per key in any `windowMs` milliseconds, in memory. */
export class SlidingWindow {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #uses = new Map<string, number[]>();

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /**
   * Counts a use, at a time in milliseconds since 1970.
   *
   * @returns `undefined`, or the milliseconds until the next use is allowed if this one is not
   */
  use(key: string, at: number): number | undefined {
    const recent = (this.#uses.get(key) ?? []).filter((use) => use > at - this.#windowMs);
    this.#uses.set(key, recent);
    const oldest = recent[0];
    if (oldest !== undefined && recent.length >= this.#limit) return oldest + this.#windowMs - at;
    recent.push(at);
    return undefined;
  }
}
