import type { RunningTurn } from "../../src/model.ts";
import type { KeptCommits } from "../../src/store/kept-commits.ts";
import type { Database, Transaction, Value } from "../../src/store/sql.ts";
import { Connection } from "../../src/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../src/store/sqlite/database.ts";
import { openSchema } from "../../src/store/sqlite/schema.ts";
import { LeaseLost, OutcomeUnknown, StoreUnavailable } from "../../src/store-errors.ts";
import type { MachineProcess } from "./machine-process.ts";
import type { StoreNetwork } from "./network.ts";

/** The tables that a history leaves something in, in an order in which they can be emptied. */
const tables = ["keptCommit", "pullRequest", "turn", "job", "deletedJob", "project"];
/** What a database has that loses its last second. */
type Content = ReadonlyMap<string, readonly Record<string, Value>[]>;

/** How long a process asks whether a transaction was committed whose connection broke. */
const outcomeMs = 30_000;
const outcomePauseMs = 500;

/** What a server tells about each committed transaction that changed something, with the process that it came from. */
export type CommitListener = (process: MachineProcess) => void;

/** The database on its server, used by one history at a time. It commits transactions one after another. */
export class DatabaseServer {
  readonly connection = new Connection(":memory:", () => {});
  /** Its own view, without a network. */
  readonly local = new SqliteDatabase(this.connection);
  /** Who holds each lock that outlives a transaction. */
  readonly locks = new Map<string, MachineProcess>();
  onCommit: CommitListener = () => {};
  /** Called when leases may have been renewed. */
  onRenewal = (): void => {};

  constructor() {
    openSchema(this.connection, ":memory:");
    this.connection.execute(
      "CREATE TABLE keptCommit (job text PRIMARY KEY REFERENCES job ON DELETE CASCADE, turn text, bundle text)",
    );
  }

  /** Returns the commits that are kept for other machines, by their jobs. */
  keptCommits(): Map<string, string> {
    const rows = this.connection.rows<{ job: string; bundle: string }>("SELECT job, bundle FROM keptCommit");
    return new Map(rows.map(({ job, bundle }) => [job, bundle]));
  }

  /** Returns what it has now. */
  read(): Content {
    const all = [...tables, "lastStart", "supervision"];
    return new Map(all.map((table) => [table, this.connection.rows<Record<string, Value>>(`SELECT * FROM ${table}`)]));
  }

  /** Makes it have what it had before. */
  goBack(content: Content): void {
    this.connection.transaction(() => {
      for (const table of content.keys()) this.connection.run(`DELETE FROM ${table}`);
      for (const [table, rows] of [...content].reverse())
        for (const row of rows) {
          const places = Object.keys(row).map(() => "?");
          this.connection.run(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${places})`, ...Object.values(row));
        }
    });
  }

  /** Begins the next history. */
  reset(): void {
    for (const table of tables) this.connection.run(`DELETE FROM ${table}`);
    this.connection.execute("UPDATE lastStart SET rank = 0; UPDATE supervision SET at = 0, since = 0");
    this.locks.clear();
    this.onCommit = () => {};
    this.onRenewal = () => {};
  }
}

/** As on Postgres. A bundle is the id of a commit. */
export class SimulatedKeptCommits implements KeptCommits {
  readonly #database: DatabaseClient;

  constructor(database: DatabaseClient) {
    this.#database = database;
  }

  async save({ id, identity, job, lease }: RunningTurn, bundle: Uint8Array): Promise<void> {
    const save = `INSERT INTO keptCommit (job, turn, bundle) SELECT job, ?, ? FROM turn WHERE id = ? AND job = ? AND lease = ?
      ON CONFLICT (job) DO UPDATE SET turn = excluded.turn, bundle = excluded.bundle`;
    const text = Buffer.from(bundle).toString();
    if ((await this.#database.run(save, identity, text, id, job, lease)) === 0) throw new LeaseLost(id);
  }

  async forget({ job, identity }: Pick<RunningTurn, "job" | "identity">): Promise<void> {
    await this.#database.run("DELETE FROM keptCommit WHERE job = ? AND turn = ?", job, identity);
  }

  async load(job: string): Promise<Uint8Array | undefined> {
    const row = await this.#database.row<{ bundle: string }>("SELECT bundle FROM keptCommit WHERE job = ?", job);
    return row && Buffer.from(row.bundle);
  }
}

/** The connections of one process to the server. They behave as `PostgresDatabase` does. */
export class DatabaseClient implements Database {
  readonly #server: DatabaseServer;
  readonly #process: MachineProcess;
  readonly network: StoreNetwork;

  constructor(server: DatabaseServer, process: MachineProcess, network: StoreNetwork) {
    this.#server = server;
    this.#process = process;
    this.network = network;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  run(sql: string, ...values: Value[]): Promise<number> {
    return this.transaction((transaction) => transaction.run(sql, ...values));
  }

  async row<T>(sql: string, ...values: Value[]): Promise<T | undefined> {
    return (await this.rows<T>(sql, ...values))[0];
  }

  rows<T>(sql: string, ...values: Value[]): Promise<T[]> {
    return this.#query(() => this.#server.local.rows<T>(sql, ...values));
  }

  /** If the connection breaks, the statement may have been run. */
  async rowsSoon<T>(sql: string, ...values: Value[]): Promise<T[]> {
    return this.#query(async () => {
      const rows = await this.#server.local.rows<T>(sql, ...values);
      this.#server.onRenewal();
      return rows;
    });
  }

  async transaction<T>(change: (transaction: ClientTransaction) => Promise<T>): Promise<T> {
    const { network } = this;
    await this.#process.ask(network.delay(), () => {}, 0);
    const { commitMs, isLostBefore, isLostMeanwhile } = network.passage();
    if (isLostBefore) throw unavailable();
    network.cut();
    let committed: { result: T; hasChanges: boolean } | undefined;
    await this.#process
      .ask(commitMs, () => this.#commit(change).then((outcome) => (committed = outcome)), network.delay())
      .catch((error: unknown) => {
        if (!(error instanceof ConnectionBroken)) throw error;
      });
    if (committed === undefined) {
      await this.#askForOutcome();
      throw unavailable();
    }
    const isResponseLost = network.isDown || isLostMeanwhile;
    if (isResponseLost && !committed.hasChanges) throw unavailable();
    if (isResponseLost) await this.#askForOutcome();
    return committed.result;
  }

  async probe(): Promise<void> {
    await this.#query(() => {});
  }

  async exclusively(name: string, work: () => Promise<void>): Promise<boolean> {
    const { locks } = this.#server;
    await this.#query(() => {});
    const holder = locks.get(name);
    if (holder?.isAlive) return false;
    locks.set(name, this.#process);
    try {
      await work();
      return true;
    } finally {
      if (locks.get(name) === this.#process) locks.delete(name);
    }
  }

  /** Commits a transaction; if the connection breaks meanwhile, only with a chance of one half. */
  async #commit<T>(change: (transaction: ClientTransaction) => Promise<T>) {
    if (this.network.isDown && !this.network.survives()) throw new ConnectionBroken();
    const outcome = await this.#server.local.transaction(async (local) => {
      const transaction = new ClientTransaction(local);
      const result = await change(transaction);
      return { result, hasChanges: transaction.hasChanges, afterwards: transaction.afterwards };
    });
    if (outcome.hasChanges) this.#server.onCommit(this.#process);
    for (const call of outcome.afterwards) call();
    return outcome;
  }

  /** Waits until the server can be asked. What it says is known here anyway. */
  async #askForOutcome(): Promise<void> {
    const end = this.#process.now() + outcomeMs;
    for (;;) {
      const wasDown = this.network.isDown;
      await this.#process.ask(this.network.delay(), () => {}, this.network.delay());
      if (!wasDown && !this.network.isDown) return;
      if (this.#process.now() >= end) throw new OutcomeUnknown("the connection broke while a change was stored");
      await this.#process.ask(outcomePauseMs, () => {}, 0);
    }
  }

  async #query<T>(effect: () => Promise<T> | T): Promise<T> {
    const { network } = this;
    const { isLostBefore, isLostMeanwhile } = network.passage();
    if (isLostBefore) {
      await this.#process.ask(network.delay(), () => {}, 0);
      throw unavailable();
    }
    const result = await this.#process.ask(network.delay(), effect, network.delay());
    if (isLostMeanwhile || network.isDown) throw unavailable();
    return result;
  }
}

class ConnectionBroken extends Error {}

const unavailable = (): Error => new StoreUnavailable("the store cannot be reached");

/** A transaction on the server, with what the queue does when it is committed. */
export class ClientTransaction implements Transaction {
  readonly afterwards: (() => void)[] = [];
  hasChanges = false;
  readonly #local: Transaction;

  constructor(local: Transaction) {
    this.#local = local;
  }

  async run(sql: string, ...values: Value[]): Promise<number> {
    const count = await this.#local.run(sql, ...values);
    this.hasChanges ||= count > 0;
    return count;
  }

  row<T>(sql: string, ...values: Value[]): Promise<T | undefined> {
    return this.#local.row<T>(sql, ...values);
  }

  async rows<T>(sql: string, ...values: Value[]): Promise<T[]> {
    const rows = await this.#local.rows<T>(sql, ...values);
    this.hasChanges ||= rows.length > 0 && !sql.startsWith("SELECT");
    return rows;
  }

  /** Transactions are committed one after another anyway. */
  async lock(): Promise<void> {}
}
