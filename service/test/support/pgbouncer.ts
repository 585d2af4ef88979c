import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { skipFor } from "./skip-for.ts";

/** Where Debian and others install it. */
const program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"].find(existsSync);

/** Why tests cannot run PgBouncer; `undefined` if they can. */
export const pgBouncerObstacle = skipFor(program === undefined ? "PgBouncer is not installed" : undefined);

export interface PgBouncerOptions {
  poolMode: "session" | "transaction" | "statement";
  /** More lines of `pgbouncer.ini`. */
  settings?: readonly string[];
}

/** The machine's PgBouncer on loopback, in front of a server that its URL names. Disposing of it stops it. */
export class PgBouncer implements AsyncDisposable {
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #port: number;

  private constructor(folder: string, process: ChildProcess, port: number) {
    this.#folder = folder;
    this.#process = process;
    this.#port = port;
  }

  /** @param url - of any database of the server, with a user and a password */
  static async start(url: string, { poolMode, settings = [] }: PgBouncerOptions): Promise<PgBouncer> {
    const server = new URL(url);
    const folder = mkdtempSync(join(tmpdir(), "agent-job-pgbouncer-"));
    const port = await freePort();
    const users = join(folder, "userlist.txt");
    const configuration = join(folder, "pgbouncer.ini");
    writeFileSync(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
    const lines = [
      "[databases]",
      `* = host=127.0.0.1 port=${server.port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = scram-sha-256",
      `auth_file = ${users}`,
      `pool_mode = ${poolMode}`,
      ...settings,
    ];
    writeFileSync(configuration, `${lines.join("\n")}\n`);
    // As root, it refuses to run.
    const owner = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : {};
    for (const path of [folder, users, configuration])
      if (owner.uid !== undefined) chownSync(path, owner.uid, owner.gid);
    const child = spawn(program ?? "pgbouncer", [configuration], { ...owner, stdio: ["ignore", "ignore", "pipe"] });
    const started = new PgBouncer(folder, child, port);
    let log = "";
    const failure = await new Promise<string | undefined>((resolve) => {
      child.on("error", (error) => resolve(error.message));
      child.on("exit", () => resolve(log));
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        log = (log + text).slice(-10_000);
        if (log.includes("process up")) resolve(undefined);
      });
    });
    if (failure === undefined) return started;
    await started[Symbol.asyncDispose]();
    throw new Error(`PgBouncer does not start: ${failure}`);
  }

  /** Returns the URL of the same database through this PgBouncer. */
  through(url: string): string {
    const pooled = new URL(url);
    pooled.host = `127.0.0.1:${this.#port}`;
    return pooled.href;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.pid !== undefined) {
      const ended = new Promise((resolve) => this.#process.on("exit", resolve));
      this.#process.kill("SIGKILL");
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
