import { LRUCache } from "lru-cache";
import type { Machine } from "../machine.ts";
import type { TokenKind } from "../model.ts";
import type { TokenStore } from "../store/tokens.ts";

/** How many tokens of each kind are kept, more than people ever hold at a time. A new one replaces the least recently used. */
const maxTokens = 1000;

/** Keeps the meanings of tokens until the process ends. */
export class MemoryTokens implements TokenStore {
  readonly #meanings: Readonly<Record<TokenKind, LRUCache<string, string>>>;

  constructor(machine: Pick<Machine, "now">) {
    // Not the time of day: setting the clock neither ends nor extends a session.
    const create = () => new LRUCache<string, string>({ max: maxTokens, ttlResolution: 0, perf: machine });
    this.#meanings = { session: create(), link: create(), form: create() };
  }

  async add(kind: TokenKind, hash: string, meaning: string, lifetimeMs: number): Promise<boolean> {
    if (this.#meanings[kind].has(hash)) return false;
    this.#meanings[kind].set(hash, meaning, { ttl: lifetimeMs });
    return true;
  }

  async find(kind: TokenKind, hash: string): Promise<string | undefined> {
    return this.#meanings[kind].get(hash);
  }

  async take(kind: TokenKind, hash: string): Promise<string | undefined> {
    const meaning = this.#meanings[kind].get(hash);
    this.#meanings[kind].delete(hash);
    return meaning;
  }
}
