import { NetworkError } from "../runner-kit/transport.ts";
import { type RequestError, TokenError } from "./errors.ts";

/** The longest time that the service is asked to hold a poll, in seconds: well below the timeout of a request. */
const maxHoldSeconds = 25;
/** How long before its limit the service has to answer a held poll, in milliseconds. */
const answerMs = 2000;
/** A poll that ends sooner, in milliseconds, was not held, whatever the response says. */
const minHeldMs = 1000;
/** After as many held polls in a row that failed, no more are sent: something on the way cannot hold them. */
const maxFailures = 2;

/**
 * Returns whether a poll was held. A service that answers at once, and says that it waited, would be polled in a loop.
 *
 * @param heldMs - how long the service says that it waited, in milliseconds
 */
export function wasHeld(heldMs: number): boolean {
  return heldMs >= minHeldMs;
}

/** Decides which polls of a wait the service is asked to hold until the job ends. */
export class HeldPolls {
  #failures = 0;

  /**
   * Returns for how many seconds the next poll may be held; 0 if it must not be.
   *
   * @param leftMs - the time left for the poll, in milliseconds
   */
  secondsFor(leftMs: number): number {
    if (this.#failures >= maxFailures) return 0;
    return Math.max(0, Math.min(maxHoldSeconds, Math.floor((leftMs - answerMs) / 1000)));
  }

  /** Call it when a poll has succeeded that could be held. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Call it when a poll has failed that could be held. A failure at once has another cause than that it was held. */
  failed(error: RequestError, tookMs: number): void {
    const wasSent = !(error instanceof TokenError || (error instanceof NetworkError && error.phase === "connecting"));
    if (wasSent && tookMs >= minHeldMs) this.#failures++;
  }
}
