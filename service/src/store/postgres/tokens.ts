import type { TokenKind } from "../../model.ts";
import type { TokenStore } from "../tokens.ts";
import type { PostgresDatabase } from "./database.ts";

/** The tokens of browsers in the database, for all processes on it. They expire by the clock of the database. */
export class PostgresTokens implements TokenStore {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async add(kind: TokenKind, hash: string, path: string, lifetimeMs: number): Promise<boolean> {
    return this.#database.transaction(async (transaction) => {
      await transaction.run('DELETE FROM token WHERE "expiresAt" <= now()');
      const insert = `INSERT INTO token (kind, hash, path, "expiresAt")
        VALUES (?, ?, ?, now() + ? * interval '1 millisecond') ON CONFLICT DO NOTHING`;
      return (await transaction.run(insert, kind, hash, path, lifetimeMs)) > 0;
    });
  }

  async find(kind: TokenKind, hash: string): Promise<string | undefined> {
    const find = 'SELECT path FROM token WHERE kind = ? AND hash = ? AND "expiresAt" > now()';
    return (await this.#database.row<{ path: string }>(find, kind, hash))?.path;
  }

  async take(kind: TokenKind, hash: string): Promise<string | undefined> {
    const take = 'DELETE FROM token WHERE kind = ? AND hash = ? AND "expiresAt" > now() RETURNING path';
    return (await this.#database.row<{ path: string }>(take, kind, hash))?.path;
  }
}
