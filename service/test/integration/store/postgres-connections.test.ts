import { expect, test } from "vitest";
import { PostgresDatabase } from "../../../src/store/postgres/database.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import { postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

test("a connection that is lost between two statements fails its transaction, and not the process", async () => {
  const log = () => {};
  await using database = new PostgresDatabase({ url: await server().createDatabase(), log });
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

test("a transaction that waits for a connection while all are in use is no outage", async () => {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const options = { url: await server().createDatabase(), log, maxConnections: 1, times: { connectMs: 400 } };
  await using database = new PostgresDatabase(options);
  const busy = database.transaction(async (transaction) => {
    for (let statement = 0; statement < 10; statement++) await transaction.query("SELECT pg_sleep(0.1)");
  });
  expect((await database.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  await busy;
  expect(lines).toEqual([]);
});
