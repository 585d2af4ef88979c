import { PgBoss } from "pg-boss";
import type { QueuedTurn, TurnQueue } from "../ready-turns.ts";
import type { Transaction } from "../sql.ts";
import { type PostgresDatabase, transactionOf } from "./database.ts";

/** The name of the queue, which `openSchema` creates. */
export const queueName = "turn";

/**
 * The order of the turns that can be taken, for any number of processes: pg-boss, in the caller's transactions. It has an entry for each
 * of these turns, and none for others.
 */
export class PostgresTurnQueue implements TurnQueue {
  readonly #boss: PgBoss;
  readonly #channel: string;

  private constructor(boss: PgBoss, channel: string) {
    this.#boss = boss;
    this.#channel = channel;
  }

  /** @param onError - called with an error of pg-boss's own queries, which read the settings of the queue */
  static async open(database: Opened, onError: (error: Error) => void): Promise<PostgresTurnQueue> {
    const db = { executeSql: (sql: string, values?: unknown[]) => database.query(sql, values) };
    // Nothing supervises the queue: entries are removed when their turns are taken.
    const { names } = database;
    const boss = new PgBoss({ db, schema: names.queue, migrate: false, schedule: false, supervise: false });
    boss.on("error", onError);
    await boss.start();
    return new PostgresTurnQueue(boss, names.channels.turn);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boss.stop({ close: false, graceful: false });
  }

  async send(transaction: Transaction, turn: QueuedTurn, pauseMs: number): Promise<void> {
    const order = { priority: -turn.rank, startAfter: Math.ceil(pauseMs / 1000), group: { id: turn.project } };
    await this.#boss.send(queueName, turn, { id: entryOf(turn.turn), ...order, db: connectionOf(transaction) });
    if (pauseMs === 0) transactionOf(transaction).notify(this.#channel);
  }

  async fetch(transaction: Transaction, closed: readonly string[]): Promise<QueuedTurn | undefined> {
    const options = { ignoreGroups: [...closed], db: connectionOf(transaction) };
    const [entry] = await this.#boss.fetch<QueuedTurn>(queueName, options);
    if (entry !== undefined) await this.remove(transaction, entry.data.turn);
    return entry?.data;
  }

  async remove(transaction: Transaction, turn: number): Promise<void> {
    await this.#boss.deleteJob(queueName, entryOf(turn), { db: connectionOf(transaction) });
  }
}

type Opened = Pick<PostgresDatabase, "names" | "query">;

/** Returns the id of a turn's entry, which is a UUID. */
const entryOf = (turn: number): string => turn.toString(16).padStart(32, "0");

/** Lets pg-boss take part in a transaction. */
function connectionOf(transaction: Transaction) {
  const own = transactionOf(transaction);
  return { executeSql: (sql: string, values?: unknown[]) => own.query(sql, values) };
}
