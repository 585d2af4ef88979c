import type { TokenKind } from "../model.ts";

/** Stores what tokens stand for, by the hashes of the tokens. The tokens themselves are not stored. */
export interface TokenStore {
  /** Returns `false`, and changes nothing, if there is such a token already. Of two calls at the same time, only one adds it. */
  add(kind: TokenKind, hash: string, meaning: string, lifetimeMs: number): Promise<boolean>;
  /** Returns `undefined` if there is no such token, or it has expired. */
  find(kind: TokenKind, hash: string): Promise<string | undefined>;
  /** Finds a token and removes it. Of two calls at the same time, only one finds it. */
  take(kind: TokenKind, hash: string): Promise<string | undefined>;
}
