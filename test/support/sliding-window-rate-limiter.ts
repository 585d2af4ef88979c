import { hourlyLimit, hourMs, type RateLimiter } from "../../src/service/http/rate-limiter.ts";

/** An in-memory rate limiter: at most `limit` uses per project in any `windowMs` milliseconds. */
export class SlidingWindowRateLimiter implements RateLimiter {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  readonly #uses = new Map<string, number[]>();

  /** @param now - milliseconds since 1970 */
  constructor(limit: number, windowMs: number, now: () => number = Date.now) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#now = now;
  }

  acquire(projectId: string): number {
    const now = this.#now();
    const recent = (this.#uses.get(projectId) ?? []).filter((at) => at > now - this.#windowMs);
    this.#uses.set(projectId, recent);
    const oldest = recent[0];
    if (oldest !== undefined && recent.length >= this.#limit) return oldest + this.#windowMs - now;
    recent.push(now);
    return 0;
  }
}

/** Returns the API's hourly limits, in memory. */
export function inMemoryRateLimiters(now?: () => number) {
  return {
    creates: new SlidingWindowRateLimiter(hourlyLimit, hourMs, now),
    messages: new SlidingWindowRateLimiter(hourlyLimit, hourMs, now),
  };
}
