import { setTimeout } from "node:timers/promises";
import { errorMessage } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import { OutageLog } from "../log/outage-log.ts";
import type { PostgresPlace } from "../options/store-place.ts";
import type { Store } from "../store/store.ts";

/**
 * Opens a store in Postgres, whose client is loaded only then.
 *
 * @param onOutage - called when the database becomes unusable
 */
export async function openPostgres(place: PostgresPlace, log: Log, onOutage?: () => void): Promise<Store> {
  const { openPostgresStore } = await import("../store/postgres/open-store.ts");
  return openPostgresStore({ ...place, log, onOutage });
}

/**
 * Opens a store in Postgres for a service that starts. While the database is away, waits for it, and logs that once.
 *
 * @param onOutage - called when the database becomes unusable
 * @param pauseMs - between two attempts. Default: 5000; less in tests
 * @throws if waiting does not help: a wrong password, a right that is missing, a wrong name, or a schema of another version
 */
export async function waitForPostgres(
  place: PostgresPlace,
  log: Log,
  onOutage?: () => void,
  pauseMs = 5000,
): Promise<Store> {
  const { isAway } = await import("../store/postgres/errors.ts");
  const outage = new OutageLog(log, onOutage);
  for (;;) {
    try {
      const store = await openPostgres(place, log, onOutage);
      outage.end("The store can be used. The service starts.");
      return store;
    } catch (error) {
      if (!isAway(error)) throw error;
      outage.begin(
        `The service waits to start: ${errorMessage(error)}. It continues by itself when Postgres can be reached.`,
      );
    }
    await setTimeout(pauseMs);
  }
}
