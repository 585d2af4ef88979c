import { afterAll, onTestFinished } from "vitest";
import type { PostgresOptions } from "../../src/store/postgres/database.ts";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { type Postgres, patient } from "./postgres.ts";

/** Nothing looks for expired leases, which would be at the same time as a database is emptied. */
const times = { ...patient, superviseMs: 1_000_000 };

/** Makes all tables as they are in a new store. No trigger runs meanwhile, so that tables need no order. */
const empty = `
  SET LOCAL session_replication_role = replica;
  DO $$
    DECLARE found record;
    BEGIN
      FOR found IN SELECT oid::regclass AS name, relkind FROM pg_class
        WHERE relnamespace IN ('agent_jobs'::regnamespace, 'agent_jobs_queue'::regnamespace)
          AND relkind IN ('r', 'S') AND relname NOT IN ('version', 'queue', 'lastStart', 'supervision')
      LOOP
        IF found.relkind = 'r' THEN EXECUTE format('DELETE FROM %s', found.name);
        ELSE PERFORM setval(found.name, 1, false);
        END IF;
      END LOOP;
      UPDATE agent_jobs."lastStart" SET rank = 0;
      UPDATE agent_jobs.supervision SET at = 0, since = 0;
    END
  $$`;

/** A database with the tables of a store, which are empty when a test gets it. */
export class EmptyDatabase implements AsyncDisposable {
  readonly url: string;
  readonly #options: Partial<PostgresOptions>;
  readonly #stores: Promise<Store>[] = [];
  #used = 0;

  constructor(url: string, options: Partial<PostgresOptions>) {
    this.url = url;
    this.#options = options;
  }

  /** Returns another store on this database, as another process of the service has. It is closed when the file has ended. */
  store(): Promise<Store> {
    this.#stores[this.#used] ??= openPostgresStore({ url: this.url, log: () => {}, times, ...this.#options });
    return this.#stores[this.#used++] as Promise<Store>;
  }

  /** Gives it to another test. */
  async empty(server: Postgres): Promise<void> {
    this.#used = 0;
    await server.query(this.url, empty);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of await Promise.all(this.#stores)) await store[Symbol.asyncDispose]();
  }
}

/**
 * Returns a function that gives a test a database with empty stores. Later tests of the file get it again, with its stores, because
 * to open a store takes longer than most tests. Who closes a store, adds a listener that cannot be removed, or counts
 * notifications, of which late ones of an earlier test can arrive, opens one of its own.
 */
export function emptyDatabasesOfFile(
  server: () => Postgres,
  options: Partial<PostgresOptions> = {},
): () => Promise<EmptyDatabase> {
  const all: EmptyDatabase[] = [];
  const free: EmptyDatabase[] = [];
  afterAll(async () => {
    for (const database of all) await database[Symbol.asyncDispose]();
  });
  const create = async () => {
    const database = new EmptyDatabase(await server().createStoreDatabase(), options);
    all.push(database);
    return database;
  };
  return async () => {
    const used = free.pop();
    await used?.empty(server());
    const database = used ?? (await create());
    // What a test that failed has left is unknown.
    onTestFinished(({ task }) => void (task.result?.state === "fail" || free.push(database)));
    return database;
  };
}
