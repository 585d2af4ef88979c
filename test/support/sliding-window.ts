import { hourlyLimit, hourMs } from "../../src/service/http/api.ts";
import type { UseLimit } from "../../src/service/http/rate-limiter.ts";

/** Counts uses per key in a window that slides: at most `limit` uses in any `windowMs` milliseconds. */
export class SlidingWindow implements UseLimit {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #uses = new Map<string, number[]>();

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  take(key: string, now: number): number {
    const recent = (this.#uses.get(key) ?? []).filter((at) => at > now - this.#windowMs);
    this.#uses.set(key, recent);
    const oldest = recent[0];
    if (oldest !== undefined && recent.length >= this.#limit) return oldest + this.#windowMs - now;
    recent.push(now);
    return 0;
  }
}

/** The service's hourly limits, in memory. */
export function memoryLimits() {
  return { creates: new SlidingWindow(hourlyLimit, hourMs), messages: new SlidingWindow(hourlyLimit, hourMs) };
}
