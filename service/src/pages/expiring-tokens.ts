import { createHash, randomBytes } from "node:crypto";
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
