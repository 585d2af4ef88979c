import { errorMessage } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import { OutageLog } from "../log/outage-log.ts";
import { type Machine, thisMachine } from "../machine.ts";
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

const pauseMs = 2000;

/**
 * Opens a store in Postgres for a service, which waits while the server is away, as it does when it runs.
 *
 * @throws if the server rejects the service, such as for its password, or has no such database: that does not pass
 */
export async function waitForPostgres(
  place: PostgresPlace,
  log: Log,
  onOutage: () => void = () => {},
  machine: Pick<Machine, "sleep"> = thisMachine,
): Promise<Store> {
  const outage = new OutageLog(log, onOutage);
  const { isAway } = await import("../store/postgres/errors.ts");
  for (;;) {
    try {
      const store = await openPostgres(place, log, onOutage);
      outage.end("Postgres answers. The service starts.");
      return store;
    } catch (error) {
      if (!isAway(error)) throw error;
      outage.begin(`The service waits for Postgres before it starts: ${errorMessage(error)}`);
      await machine.sleep(pauseMs);
    }
  }
}
