import type { Log } from "../log/log.ts";
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
