import { Connection } from "../../src/service/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../src/service/store/sqlite/database.ts";
import { openSchema } from "../../src/service/store/sqlite/schema.ts";

/** Returns an empty database of a store, in memory, for a store with parts of the test's own. */
export function memoryDatabase(): SqliteDatabase {
  const connection = new Connection(":memory:", () => {});
  openSchema(connection, ":memory:");
  return new SqliteDatabase(connection);
}
