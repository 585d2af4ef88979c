import { setTimeout } from "node:timers/promises";
import { errorMessage } from "../../error-message.ts";
import { StoreUnavailable } from "../../store-errors.ts";
import { ReadyTurns } from "../ready-turns.ts";
import type { Transaction } from "../sql.ts";
import { Store } from "../store.ts";
import { postgresSearch } from "../text-search.ts";
import type { NextTurnId } from "../turn-ids.ts";
import { PostgresChanges } from "./changes.ts";
import { PostgresDatabase, type PostgresOptions } from "./database.ts";
import { PostgresHomes } from "./homes.ts";
import { PostgresKeptCommits } from "./kept-commits.ts";
import { PostgresLogs } from "./logs.ts";
import { openSchema } from "./migrate.ts";
import type { StoreNames } from "./names.ts";
import { Notifications } from "./notifications.ts";
import { defaultTimes, serverClock } from "./times.ts";
import { PostgresTokens } from "./tokens.ts";
import { PostgresTurnQueue } from "./turn-queue.ts";

function turnIds({ tables }: StoreNames) {
  const sequence = `'${tables}."turnId"'`;
  const nextTurnId: NextTurnId = async (transaction) =>
    (await transaction.row<{ id: number }>(`SELECT nextval(${sequence}) AS id`))?.id ?? 0;
  /** The sequence never goes back, even if others take ids from it at the same time. */
  const skipTurnIds = async (transaction: Transaction, last: number) => {
    await transaction.row(`SELECT setval(${sequence}, ?) FROM "turnId" WHERE last_value < ?`, last, last);
  };
  return { nextTurnId, skipTurnIds };
}

/** How often ids of transactions are deleted that nobody asks for any longer. */
const forgetMs = 300_000;

/** Does something again and again, whether it fails or not. */
async function every(pauseMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await setTimeout(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    if (!signal.aborted) await work().catch(() => {});
  }
}

/**
 * Opens a store in a Postgres database, which any number of processes can have open.
 *
 * @throws if the database cannot be reached, a pooler in front of it does not let transactions pass, or it has the schema of another
 *   version
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, directUrl = url, log, clock = () => serverClock().sql } = options;
  const { superviseMs, leaseMs } = { ...defaultTimes, ...options.times };
  const database = new PostgresDatabase(options);
  const { names } = database;
  const notifications = new Notifications({ url: directUrl, database, log, times: options.times });
  try {
    await openSchema({ url: directUrl, names });
    await database.transaction((transaction) => transaction.row("SELECT 1"));
    const queue = await PostgresTurnQueue.open(database, (error) => {
      const isKnown = database.isOut || error instanceof StoreUnavailable;
      if (!isKnown) log(`The queue reports an error: ${error.message}`);
    });
    const changes = new PostgresChanges(notifications, names.channels);
    const onLook = (hasTurn: boolean) => changes.looked(hasTurn);
    const ready = new ReadyTurns({ clock: serverClock, leaseMs, queue, onLook });
    const end = new AbortController();
    void every(superviseMs, end.signal, async () => {
      if (await ready.expire(database)) changes.turnReady();
    });
    void every(forgetMs, end.signal, () => database.forgetOldCommits());
    const close = async () => {
      end.abort();
      changes[Symbol.dispose]();
      await queue[Symbol.asyncDispose]();
      await notifications[Symbol.asyncDispose]();
    };
    const homes = new PostgresHomes(database);
    const keptCommits = new PostgresKeptCommits(database);
    const logs = new PostgresLogs(database);
    const tokens = new PostgresTokens(database);
    const parts = { homes, keptCommits, logs, tokens, changes, search: postgresSearch, close };
    return new Store({ database, ready, ...turnIds(names), clock, ...parts });
  } catch (error) {
    await notifications[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    const message = errorMessage(error);
    const advice = /statement pooling/.test(message) ? ". Set pool_mode of PgBouncer to session or transaction" : "";
    throw new Error(`cannot open the Postgres store: ${message}${advice}`, { cause: error });
  }
}
