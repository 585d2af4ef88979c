import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";

/** More than people ever hold at a time; a further one replaces the one that was not used for longest. */
const maxTokens = 1000;

/** Random tokens that stand for a value until they expire. They are not kept themselves, only their hashes. */
export class ExpiringTokens<T extends object> {
  readonly #values: LRUCache<string, T>;

  /** @param now - milliseconds since any moment */
  constructor(lifetimeMs: number, now: () => number) {
    this.#values = new LRUCache({ max: maxTokens, ttl: lifetimeMs, ttlResolution: 0, perf: { now } });
  }

  /** Returns a new token: 43 characters, which are valid in URLs and cookies. */
  create(value: T): string {
    const token = randomBytes(32).toString("base64url");
    this.#values.set(hash(token), value);
    return token;
  }

  has(token: string): boolean {
    return this.#values.get(hash(token)) !== undefined;
  }

  /** Returns the value of a token and makes the token invalid; `undefined` if it is not valid. */
  take(token: string): T | undefined {
    const value = this.#values.get(hash(token));
    this.#values.delete(hash(token));
    return value;
  }
}

/** A look-up by hash takes no time from which parts of a token could be guessed. */
const hash = (token: string): string => createHash("sha256").update(token).digest("base64");
