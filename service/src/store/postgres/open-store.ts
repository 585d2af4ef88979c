import { errorMessage } from "../../error-message.ts";
import type { Sql, Transaction } from "../sql.ts";
import { Store } from "../store.ts";
import type { NextTurnId } from "../turn-ids.ts";
import { createPool, PostgresDatabase, type PostgresOptions } from "./database.ts";
import { PostgresHomes } from "./homes.ts";
import { PostgresJobChanges } from "./job-changes.ts";
import { PostgresLogs } from "./logs.ts";
import { Notifications } from "./notifications.ts";
import { PostgresReadyTurns } from "./ready-turns.ts";
import { openSchema, whileOthersWait } from "./schema.ts";
import { defaultTimes } from "./times.ts";
import { PostgresTokens } from "./tokens.ts";

const nextTurnId: NextTurnId = async (transaction) =>
  (await transaction.row<{ id: number }>(`SELECT nextval('"turnId"') AS id`))?.id ?? 0;

/** The sequence never goes back, even if others take ids from it at the same time. */
async function skipTurnIds(transaction: Transaction, last: number): Promise<void> {
  await transaction.row(`SELECT setval('"turnId"', ?) FROM "turnId" WHERE last_value < ?`, last, last);
}

async function serverTime(sql: Sql): Promise<number> {
  const now = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";
  const row = await sql.row<{ now: number }>(now);
  if (row === undefined) throw new Error("the server does not tell the time");
  return row.now;
}

/**
 * Opens a store in a Postgres database, which any number of processes can have open.
 *
 * @throws if the database cannot be reached, or its schema has a version that this service cannot work with
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, log, now = serverTime } = options;
  const { superviseMs = defaultTimes.superviseMs } = options.times ?? {};
  const pool = createPool(options);
  const database = new PostgresDatabase(pool, log, options.times, options.onOutage);
  const notifications = new Notifications(url);
  try {
    const ready = await whileOthersWait(pool, async () => {
      await openSchema(pool);
      return PostgresReadyTurns.open({ database, notifications, log, superviseMs });
    });
    const homes = new PostgresHomes(database);
    const close = async () => {
      await ready[Symbol.asyncDispose]();
      await notifications[Symbol.asyncDispose]();
    };
    const logs = new PostgresLogs(database, notifications);
    const tokens = new PostgresTokens(database);
    const changes = new PostgresJobChanges(notifications);
    return new Store({ database, ready, nextTurnId, skipTurnIds, now, homes, logs, tokens, changes, close });
  } catch (error) {
    await notifications[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    throw new Error(`cannot open the Postgres store: ${errorMessage(error)}`, { cause: error });
  }
}
