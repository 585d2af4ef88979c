import { expect, test } from "vitest";
import { createPool, PostgresDatabase } from "../../../src/store/postgres/database.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import { postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

test("a connection that is lost between two statements fails its transaction, and not the process", async () => {
  const log = () => {};
  await using database = new PostgresDatabase(createPool({ url: await server().createDatabase(), log }), log);
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
