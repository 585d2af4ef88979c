import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Machine } from "../machine.ts";
import type { TokenKind } from "../model.ts";
import type { TokenStore } from "../store/tokens.ts";

/** Random tokens of one kind, each with a text as its meaning until it expires. */
export class ExpiringTokens {
  readonly #store: TokenStore;
  readonly #kind: TokenKind;
  readonly #lifetimeMs: number;

  constructor(store: TokenStore, kind: TokenKind, lifetimeMs: number) {
    this.#store = store;
    this.#kind = kind;
    this.#lifetimeMs = lifetimeMs;
  }

  /** Returns a new token: 43 characters, which are valid in URLs and cookies. */
  async create(meaning: string): Promise<string> {
    const token = newToken();
    await this.#store.add(this.#kind, hash(token), meaning, this.#lifetimeMs);
    return token;
  }

  /** Uses a token from `newToken`. Returns whether it is valid and was not used before. */
  async use(token: string): Promise<boolean> {
    return isToken(token) && this.#store.add(this.#kind, hash(token), "", this.#lifetimeMs);
  }

  /** Returns the meaning of a token; `undefined` if it is not valid. */
  async find(token: string): Promise<string | undefined> {
    return isToken(token) ? this.#store.find(this.#kind, hash(token)) : undefined;
  }

  /** Returns the meaning of a token and makes the token invalid; `undefined` if it was not valid. */
  async take(token: string): Promise<string | undefined> {
    return isToken(token) ? this.#store.take(this.#kind, hash(token)) : undefined;
  }
}

/** Returns a random token that is not stored before it is used. For forms, because most forms are never sent. */
export const newToken = (): string => randomBytes(32).toString("base64url");

const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Look-ups are by hash, so that their duration reveals no part of a token. */
const hash = (token: string): string => createHash("sha256").update(token).digest("base64");

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
