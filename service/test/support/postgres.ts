import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Client, Pool } from "pg";
import { beforeAll, inject } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import { PostgresProcess, postgresPassword } from "./postgres-process.ts";

/** Long enough for a machine that has much else to do. */
const startTimeoutMs = 120_000;
/** How long a connection is kept that nobody uses. */
const idleMs = 2000;
/** The database that others are copied from, as a store leaves it that was opened and closed. */
const storeTemplate = "store";

/** The databases of a Postgres server on loopback. */
export class Postgres {
  readonly port: number;
  readonly #pools = new Map<string, Pool>();
  #databases = 0;
  #storeTemplate: Promise<void> | undefined;

  constructor(port: number) {
    this.port = port;
  }

  /** Creates an empty database. Returns its URL. */
  createDatabase(): Promise<string> {
    return this.#copyDatabase("template0");
  }

  /** Creates a database as a store leaves it that was opened and closed, which is faster than opening one. Returns its URL. */
  async createStoreDatabase(): Promise<string> {
    this.#storeTemplate ??= this.#createStoreTemplate();
    await this.#storeTemplate;
    return this.#copyDatabase(storeTemplate);
  }

  /** Copies a database to which nobody is connected. Returns the URL of the copy. */
  copy(url: string): Promise<string> {
    return this.#copyDatabase(new URL(url).pathname.slice(1));
  }

  /** Another worker may do the same, or have done it. */
  async #createStoreTemplate(): Promise<void> {
    const client = await this.connect(this.url("postgres"));
    try {
      await client.query("SELECT pg_advisory_lock(1)");
      const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [storeTemplate]);
      if (rowCount === 1) return;
      const unfinished = `unfinished_${storeTemplate}`;
      await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${unfinished} TEMPLATE template0 STRATEGY file_copy`);
      const store = await openPostgresStore({ url: this.url(unfinished), log: () => {}, times: patient });
      await store[Symbol.asyncDispose]();
      await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${storeTemplate}`);
    } finally {
      await client.end();
    }
  }

  async #copyDatabase(template: string): Promise<string> {
    const name = `test_${process.pid}_${++this.#databases}`;
    await this.query(this.url("postgres"), `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
    return this.url(name);
  }

  url(database: string, port = this.port): string {
    return `postgres://postgres:${postgresPassword}@127.0.0.1:${port}/${database}`;
  }

  /**
   * Runs a statement on a connection that no test has, and that stays for the next statements to the same URL: connecting takes
   * longer than most of them. Returns the rows.
   */
  async query<T>(url: string, sql: string, values: unknown[] = []): Promise<T[]> {
    return (await this.#poolOf(url).query(sql, values)).rows as T[];
  }

  #poolOf(url: string): Pool {
    const known = this.#pools.get(url);
    if (known !== undefined) return known;
    const pool = new Pool({ connectionString: url, max: 1, idleTimeoutMillis: idleMs, allowExitOnIdle: true });
    // The connection was lost. The next statement makes another one.
    pool.on("error", () => {});
    this.#pools.set(url, pool);
    return pool;
  }

  async connect(url: string): Promise<Client> {
    const client = new Client({ connectionString: url });
    await client.connect();
    return client;
  }

  /** Ends all connections to a database, as if the server had been restarted. */
  async endConnections(url: string): Promise<void> {
    const sql = `SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    await this.query(url, sql);
  }
}

/** For stores in tests that are not about outages: connecting can take seconds on a machine that has much else to do. */
export const patient = { connectMs: 40_000 };

/** Survives the files of a worker, which share its process. */
const worker: { postgres?: Promise<Postgres> } = globalThis as never;

/** Returns the server that all files of a run share, and that no test stops. It runs before the tests of this file begin. */
export function postgresOfFile(): () => Postgres {
  let server: Postgres | undefined;
  beforeAll(async () => {
    worker.postgres ??= findServer().catch((error: unknown) => {
      delete worker.postgres;
      throw error;
    });
    server = await worker.postgres;
  }, startTimeoutMs);
  return () => {
    if (server === undefined) throw new Error("Postgres is not running");
    return server;
  };
}

/** Without `postgres-of-run.ts`, this worker has a server of its own, which ends with it. */
async function findServer(): Promise<Postgres> {
  const questions = inject("postgresOfRun");
  if (questions === undefined) return new Postgres((await PostgresProcess.start()).port);
  const answer = await text(connect(questions, "127.0.0.1"));
  if (!/^\d+$/.test(answer)) throw new Error(`Postgres was not started: ${answer}`);
  return new Postgres(Number(answer));
}
