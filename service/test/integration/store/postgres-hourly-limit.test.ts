import { expect, onTestFinished, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

test("machines whose clocks are hours ahead or behind share the hourly limit of a store on Postgres", async () => {
  const url = await server().createStoreDatabase();
  const store = await openPostgresStore({ url, log: () => {} });
  onTestFinished(() => store[Symbol.asyncDispose]());
  const hours = (count: number) => Date.now() + count * 3_600_000;
  const create = (index: number, at: number) =>
    store.jobs.add({ id: `job ${index}`, project: "docs", createdAt: at }, "Fix it", at);
  for (let index = 0; index < 100; index++)
    expect(await create(index, hours(index % 2 === 0 ? 2 : -2))).toBeUndefined();
  expect(await create(100, hours(2))).toHaveProperty("retryAfterMs");
  expect(await create(101, hours(-2))).toHaveProperty("retryAfterMs");
  await server().query(url, "UPDATE agent_jobs.use SET at = at - 3600000");
  expect(await create(102, hours(-2))).toBeUndefined();
});
