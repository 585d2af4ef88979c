import { expect, onTestFinished, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { patient, postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

async function openStore() {
  const url = await server().createStoreDatabase();
  const store = await openPostgresStore({ url, log: () => {}, times: patient });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return { url, store };
}

test("machines whose clocks are hours ahead or behind share the hourly limit of a store on Postgres", async () => {
  const { url, store } = await openStore();
  const hours = (count: number) => Date.now() + count * 3_600_000;
  const create = (index: number, at: number) =>
    store.jobs.add({ id: `job ${index}`, project: "docs", createdAt: at }, "Fix it", at);
  for (let index = 0; index < 100; index++)
    expect(await create(index, hours(index % 2 === 0 ? 2 : -2))).toBeUndefined();
  expect(await create(100, hours(2))).toHaveProperty("retryAfterMs");
  expect(await create(101, hours(-2))).toHaveProperty("retryAfterMs");
  await server().query(url, 'UPDATE agent_jobs.turn SET "acceptedAt" = "acceptedAt" - 3600000');
  expect(await create(102, hours(-2))).toBeUndefined();
});

test("creates at the same time, on a connection each, share what is left of the hourly limit", async () => {
  const { url, store } = await openStore();
  const earlier = `INSERT INTO agent_jobs.turn (id, identity, job, project, prompt, caller, step, request, state, "acceptedAs", "acceptedAt")
    SELECT -number, '', 'earlier', 'docs', 'One', '', '', number, 'completed', 'create', (extract(epoch FROM now()) * 1000)::bigint
    FROM generate_series(1, 95) AS number`;
  await server().query(
    url,
    `INSERT INTO agent_jobs.job (id, project, "createdAt", branch) VALUES ('earlier', 'docs', 0, 'agent/earlier')`,
  );
  await server().query(url, earlier);
  const jobs = Array.from({ length: 10 }, (_, index) => `job ${index}`);
  // Opens the connections, so that the creates do not wait for them one after another.
  await Promise.all(jobs.map((id) => store.jobs.find(id)));
  const limited = await Promise.all(
    jobs.map((id) => store.jobs.add({ id, project: "docs", createdAt: 0 }, "Fix it", Date.now())),
  );
  expect(limited.filter((one) => one === undefined)).toHaveLength(5);
  expect((await store.counts.total()).waitingTurns).toBe(5);
});
