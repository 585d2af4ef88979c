import { describe, expect, onTestFinished, test } from "vitest";
import type { PostgresOptions } from "../../../src/store/postgres/database.ts";
import { openSchema } from "../../../src/store/postgres/migrate.ts";
import { namesOf } from "../../../src/store/postgres/names.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { schemaVersion } from "../../../src/store/postgres/schema.ts";
import type { Store } from "../../../src/store/store.ts";
import { postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

async function openStore(url: string, options: Partial<PostgresOptions> = {}) {
  const lines: { line: string; level: string }[] = [];
  const log = (line: string, level = "info") => void lines.push({ line, level });
  const store = await openPostgresStore({ url, log, ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return { store, lines };
}

const create = (store: Store, id: string) => store.jobs.add({ id, project: "docs", createdAt: 1 }, "One");

async function startNext(store: Store) {
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

describe("schemas of a database", () => {
  test("have stores that know nothing of each other", async () => {
    const url = await server().createStoreDatabase();
    const { store } = await openStore(url);
    const { store: other } = await openStore(url, { schema: "staging" });
    await create(store, "a");
    await create(other, "b");
    expect(await store.jobs.find("b")).toBeUndefined();
    let calls = 0;
    other.followJob("a", () => calls++);
    expect([await startNext(other), await startNext(store)]).toMatchObject([{ job: "b" }, { job: "a" }]);
    expect(await other.runningTurns.startNext()).toBeUndefined();
    const isAlone = store.exclusively("archiving", async () => {
      expect(await other.exclusively("archiving", async () => {})).toBe(true);
    });
    expect(await isAlone).toBe(true);
    expect(calls).toBe(0);
    expect(await server().query(url, "SELECT schema FROM staging.version")).toEqual([{ schema: schemaVersion }]);
  });
});

describe("a user who may not change tables", () => {
  /** As in service/docs/scale.md. */
  const grants = `
    GRANT USAGE ON SCHEMA agent_jobs, agent_jobs_queue TO agents;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA agent_jobs, agent_jobs_queue TO agents;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA agent_jobs, agent_jobs_queue TO agents;`;

  async function database({ hasStore = false } = {}) {
    const url = await (hasStore ? server().createStoreDatabase() : server().createDatabase());
    const role = "SELECT 1 FROM pg_roles WHERE rolname = 'agents'";
    if ((await server().query(url, role)).length === 0)
      await server().query(url, "CREATE ROLE agents LOGIN PASSWORD 'secret'");
    const own = new URL(url);
    own.username = "agents";
    own.password = "secret";
    const migrate = () => openSchema({ url, names: namesOf() });
    return { url, own: own.href, migrate };
  }

  test("can do everything once the tables are there", async () => {
    const { url, own, migrate } = await database();
    expect([await migrate(), await migrate()]).toEqual([true, false]);
    await server().query(url, grants);
    const { store, lines } = await openStore(own, { times: { superviseMs: 50 } });
    await create(store, "a");
    const turn = await startNext(store);
    await store.runningTurns.countAttempt(turn);
    await store.pullRequests.add({ job: "a", title: "A", branch: "b", target: "main", base: "1", head: "2" });
    await store.homes?.saveHome(turn, Buffer.from("home"));
    await store.logs?.append(turn, 0, Buffer.from("| one\n"));
    await store.tokens?.add("session", "hash", "/", 1000);
    await store.runningTurns.requeue(turn);
    await store.runningTurns.finish(await startNext(store), "completed", 2);
    expect(await store.idleJobs.deleteOldest(3, 10)).toEqual(["a"]);
    await store.probe();
    const supervised = "SELECT 1 FROM agent_jobs.supervision WHERE at > 0";
    await expect.poll(() => server().query(url, supervised), { timeout: 10_000 }).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  test.each([
    "REVOKE USAGE ON SCHEMA agent_jobs_queue FROM agents",
    "REVOKE DELETE ON agent_jobs.turn FROM agents",
    'REVOKE USAGE ON SEQUENCE agent_jobs."turnId" FROM agents',
  ])("is told at the start what it lacks after %s", async (revoke) => {
    const { url, own } = await database({ hasStore: true });
    await server().query(url, grants + revoke);
    await expect(openStore(own)).rejects.toThrow(/lacks rights on agent_job\w+\.\w+\. Grant what "Tables and rights"/);
  });

  test("is told which command creates them", async () => {
    const { url, own } = await database();
    const { port, pathname } = new URL(url);
    await expect(openStore(own, { schema: "staging" })).rejects.toThrow(
      `it has no schema staging, or no tables in it, and the user of --store may not change that (permission denied for database ${pathname.slice(1)}). Run this with a user who may: ` +
        `npm run service -- migrate --store "postgres://127.0.0.1:${port}${pathname}" --schema staging`,
    );
  });
});

describe("the queue", () => {
  test.each([
    { what: "has ended", change: "UPDATE agent_jobs.turn SET state = 'completed'" },
    { what: "is not there", change: "DELETE FROM agent_jobs.turn" },
  ])("starts no turn that $what, and others are not held up", async ({ change }) => {
    const url = await server().createStoreDatabase();
    const { store, lines } = await openStore(url, { times: { superviseMs: 1_000_000 } });
    await create(store, "a");
    await server().query(url, change);
    await create(store, "c");
    expect(await startNext(store)).toMatchObject({ job: "c" });
    expect(await store.runningTurns.startNext()).toBeUndefined();
    expect(await server().query(url, "SELECT 1 FROM agent_jobs_queue.job")).toEqual([]);
    expect(lines).toEqual([]);
  });
});
