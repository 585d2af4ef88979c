import { expect, test } from "vitest";
import { PostgresDatabase } from "../../../src/store/postgres/database.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import { PostgresServer } from "../../support/postgres-server.ts";

test("a connection that is lost between two statements fails its transaction, and not the process", async () => {
  await using server = await PostgresServer.start();
  const log = () => {};
  await using database = new PostgresDatabase({ url: server.url, log });
  const lost = database.transaction(async (transaction) => {
    const { rows } = await transaction.query("SELECT pg_backend_pid() AS pid");
    await database.query("SELECT pg_terminate_backend($1, 5000)", [(rows as { pid: number }[])[0]?.pid]);
    // The connection has to say so.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await transaction.query("SELECT 1");
  });
  await expect(lost).rejects.toThrow(StoreUnavailable);
  expect((await database.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});
