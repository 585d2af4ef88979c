import { Connection } from "../../src/store/sqlite/connection.ts";
import { SqliteDatabase } from "../../src/store/sqlite/database.ts";
import { openSchema } from "../../src/store/sqlite/schema.ts";

/** Returns an empty database of a store, in memory, for a store with parts of the test's own. */
export function memoryDatabase(): SqliteDatabase {
  const connection = new Connection(":memory:", () => {});
  openSchema(connection, ":memory:");
  return new SqliteDatabase(connection);
}
