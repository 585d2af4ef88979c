import { errorMessage } from "../../error-message.ts";
import type { Transaction } from "../sql.ts";
import { Store } from "../store.ts";
import type { NextTurnId } from "../turn-ids.ts";
import { PostgresDatabase, type PostgresOptions } from "./database.ts";
import { PostgresHomes } from "./homes.ts";
import { PostgresJobChanges } from "./job-changes.ts";
import { PostgresLogs } from "./logs.ts";
import { openSchema } from "./migrate.ts";
import type { StoreNames } from "./names.ts";
import { Notifications } from "./notifications.ts";
import { PostgresReadyTurns } from "./ready-turns.ts";
import { defaultTimes } from "./times.ts";
import { PostgresTokens } from "./tokens.ts";

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

const serverClock = (): string => "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/**
 * Opens a store in a Postgres database, which any number of processes can have open.
 *
 * @throws if the database cannot be reached, a pooler in front of it does not let transactions pass, or its schema has a version
 *   that this service cannot work with
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, directUrl = url, log, clock = serverClock } = options;
  const { superviseMs = defaultTimes.superviseMs } = options.times ?? {};
  const database = new PostgresDatabase(options);
  const { names } = database;
  const notifications = new Notifications({ url: directUrl, database, log, times: options.times });
  try {
    await openSchema({ url: directUrl, names });
    await database.transaction((transaction) => transaction.row("SELECT 1"));
    const ready = await PostgresReadyTurns.open({ database, notifications, log, superviseMs });
    const homes = new PostgresHomes(database);
    const close = async () => {
      await ready[Symbol.asyncDispose]();
      await notifications[Symbol.asyncDispose]();
    };
    const logs = new PostgresLogs(database);
    const tokens = new PostgresTokens(database);
    const changes = new PostgresJobChanges(notifications, names);
    return new Store({ database, ready, ...turnIds(names), clock, homes, logs, tokens, changes, close });
  } catch (error) {
    await notifications[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    const message = errorMessage(error);
    const advice = /statement pooling/.test(message) ? ". Set pool_mode of PgBouncer to session or transaction" : "";
    throw new Error(`cannot open the Postgres store: ${message}${advice}`, { cause: error });
  }
}
