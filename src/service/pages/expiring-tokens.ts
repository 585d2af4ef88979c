import { createHash, randomBytes } from "node:crypto";

/** What a token is for: a session of a browser, or a link that starts one once. */
export type TokenKind = "session" | "link";

/** Keeps what tokens stand for, by the hashes of the tokens. They are not kept themselves. */
export interface TokenStore {
  add(kind: TokenKind, hash: string, meaning: string, lifetimeMs: number): Promise<void>;
  /** Returns `undefined` if there is no such token, or it has expired. */
  find(kind: TokenKind, hash: string): Promise<string | undefined>;
  /** Finds a token and removes it. Of two calls at the same time, only one finds it. */
  take(kind: TokenKind, hash: string): Promise<string | undefined>;
}

/** Random tokens of a kind, which stand for a text until they expire. */
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
    const token = randomBytes(32).toString("base64url");
    await this.#store.add(this.#kind, hash(token), meaning, this.#lifetimeMs);
    return token;
  }

  /** Returns what a token stands for; `undefined` if it is not valid. */
  async find(token: string): Promise<string | undefined> {
    return isToken(token) ? this.#store.find(this.#kind, hash(token)) : undefined;
  }

  /** Returns what a token stands for and makes the token invalid; `undefined` if it is not valid. */
  async take(token: string): Promise<string | undefined> {
    return isToken(token) ? this.#store.take(this.#kind, hash(token)) : undefined;
  }
}

const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** A look-up by hash takes no time from which parts of a token could be guessed. */
const hash = (token: string): string => createHash("sha256").update(token).digest("base64");
