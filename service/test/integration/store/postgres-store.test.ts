import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import type { RunningTurn } from "../../../src/model.ts";
import { PerProject } from "../../../src/per-project.ts";
import { type ServiceOptions, startApi, startWorker } from "../../../src/start/service.ts";
import type { PostgresOptions } from "../../../src/store/postgres/database.ts";
import { namesOf } from "../../../src/store/postgres/names.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { queueSchema } from "../../../src/store/postgres/schema.ts";
import type { Store } from "../../../src/store/store.ts";
import { LeaseLost } from "../../../src/store-errors.ts";
import { docsRepository, projectOptions, send, waitForJob } from "../../support/agent-service.ts";
import { emptyDatabasesOfFile } from "../../support/empty-stores.ts";
import { patient, postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

const emptyDatabase = emptyDatabasesOfFile(server);

const { queue: queueTables } = namesOf();

/** Milliseconds since 1970. */
const now = Date.UTC(2026, 0, 1);

async function openStore(url: string, options: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ url, log: () => {}, times: patient, ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

const create = (store: Store, id: string) => store.jobs.add({ id, project: "docs", createdAt: now }, "One");

async function startNext(store: Store): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

describe("a database", () => {
  test("that is empty can be opened by several processes at the same time, and all work with it", async () => {
    const url = await server().createDatabase();
    const stores = await Promise.all(Array.from({ length: 3 }, () => openStore(url)));
    await Promise.all(stores.map((store, index) => create(store, `job_${index}`)));
    const turns = await Promise.all(stores.map(startNext));
    expect(new Set(turns.map(({ id }) => id)).size).toBe(3);
    expect(turns.map(({ job }) => job).sort()).toEqual(["job_0", "job_1", "job_2"]);
  });

  test("keeps everything when all processes have ended", async () => {
    const url = await server().createStoreDatabase();
    {
      await using store = await openPostgresStore({ url, log: () => {} });
      await create(store, "a");
      await store.runningTurns.finish(await startNext(store), "completed", now);
      await store.turns.add("a", "Two", now);
    }
    const store = await openStore(url);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: "completed" }, { state: "waiting" }]);
    expect(await startNext(store)).toMatchObject({ prompt: "Two", isResumed: false });
  });

  test.each([
    { what: "newer", version: 1000, says: "has version 1000, .* Start the newer version" },
    { what: "older", version: 1, says: "has version 1 of a version before the first release" },
  ])("whose schema is $what is neither used nor changed", async ({ version, says }) => {
    const url = await server().createStoreDatabase();
    await server().query(url, `UPDATE agent_jobs.version SET schema = ${version}`);
    await server().query(url, `DROP SCHEMA ${queueTables} CASCADE`);
    await expect(openStore(url)).rejects.toThrow(new RegExp(says));
    expect(await server().query(url, "SELECT * FROM agent_jobs.version")).toEqual([{ schema: version }]);
    const schemas = `SELECT 1 FROM information_schema.schemata WHERE schema_name = '${queueTables}'`;
    expect(await server().query(url, schemas)).toEqual([]);
  });
});

test("a pg-boss with another schema is a change of the service's schema", () => {
  const file = createRequire(import.meta.url).resolve("pg-boss/package.json");
  const { pgboss } = JSON.parse(readFileSync(file, "utf8")) as { pgboss: { schema: number } };
  expect(queueSchema).toBe(pgboss.schema);
});

test("the hourly limit is that of all processes together", async () => {
  const url = await server().createStoreDatabase();
  // No request is rejected because the machine is slow.
  const times = { connectMs: 60_000 };
  const stores = [await openStore(url, { times }), await openStore(url, { times })];
  await server().query(
    url,
    `INSERT INTO agent_jobs.job (id, project, "createdAt", branch) VALUES ('earlier', 'docs', 0, 'agent/earlier')`,
  );
  await server().query(
    url,
    `INSERT INTO agent_jobs.turn (id, identity, job, project, prompt, caller, step, request, state, "acceptedAs", "acceptedAt")
      SELECT -number, '', 'earlier', 'docs', 'One', '', '', number, 'completed', 'create', (extract(epoch FROM now()) * 1000)::bigint
      FROM generate_series(1, 90) AS number`,
  );
  const creates = Array.from({ length: 15 }, (_, job) => stores.map((store, s) => create(store, `job_${s}_${job}`)));
  const results = await Promise.all(creates.flat());
  expect(results.filter((limited) => limited === undefined)).toHaveLength(10);
  const waits = results.flatMap((limited) => (limited && "retryAfterMs" in limited ? [limited.retryAfterMs] : []));
  expect(waits).toHaveLength(20);
  // The first use was counted up to a few minutes ago.
  for (const wait of waits) expect(wait).toBeGreaterThan(3_000_000);
  for (const wait of waits) expect(wait).toBeLessThanOrEqual(3_600_000);
  const [store] = stores;
  expect(await store?.counts.total()).toEqual({ jobs: 11, waitingTurns: 10 });
});

test("more requests at the same time than there are connections are all answered", async () => {
  const store = await openStore(await server().createStoreDatabase(), { maxConnections: 2 });
  const creates = Array.from({ length: 20 }, (_, job) => create(store, `job_${job}`));
  expect(await Promise.all(creates)).toEqual(Array(20).fill(undefined));
});

test("a turn that becomes ready in one process is announced in the others", async () => {
  const url = await server().createStoreDatabase();
  const [store, other] = [await openStore(url), await openStore(url)];
  const taken: (string | undefined)[] = [];
  other.onReady(async () => taken.push((await other.runningTurns.startNext())?.job));
  await create(store, "a");
  await expect.poll(() => taken, { timeout: 10_000 }).toContain("a");
});

test("who follows a job is told of its turns in other processes, and of nothing in other jobs", async () => {
  const database = await emptyDatabase();
  const [store, other] = [await database.store(), await database.store()];
  await create(store, "a");
  await create(store, "b");
  let calls = 0;
  const end = other.followJob("a", () => calls++);
  const told = (count: number) => expect.poll(() => calls, { timeout: 10_000 }).toBe(count);
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  await told(1);
  await store.runningTurns.startNext();
  await store.runningTurns.finish(turn, "completed", 1);
  await told(2);
  end();
});

describe("the lease of a turn", () => {
  /** Two stores on a database, of which the second one looks for expired leases all the time. A turn runs on the first one. */
  async function openBoth() {
    const url = await server().createStoreDatabase();
    const store = await openStore(url, { times: { superviseMs: 600_000 } });
    const other = await openStore(url, { times: { superviseMs: 50 } });
    await create(store, "a");
    return { url, store, other, turn: await startNext(store) };
  }

  /** Lets a lease have expired, and the database be in reach for as long as that takes. */
  async function age(url: string): Promise<void> {
    await server().query(url, `UPDATE agent_jobs.turn SET "leaseUntil" = 1`);
    await server().query(url, "UPDATE agent_jobs.supervision SET since = 1");
  }

  /** Gives expired leases time to be found. */
  const supervised = () => setTimeout(500);

  test("expires if it is not renewed, and somebody else takes the turn", async () => {
    const { url, store, other, turn } = await openBoth();
    await store.runningTurns.countAttempt(turn);
    await supervised();
    await age(url);
    const again = await takeAgain(other);
    expect(again).toMatchObject({ id: turn.id, identity: turn.identity, attempts: 1, isResumed: true });
    expect(await store.runningTurns.renewLease(turn)).toBe(false);
    const changes = [
      () => store.runningTurns.confirmLease(turn),
      () => store.runningTurns.countAttempt(turn),
      () => store.runningTurns.setReport(turn, { answer: "Wrong" }),
      () => store.runningTurns.setPullRequest(turn, "https://example.com/pull/1", "abc"),
      () => store.runningTurns.recordPush(turn, null, "abc"),
      () => store.runningTurns.requeue(turn),
      () => store.runningTurns.finish(turn, "failed", now),
    ];
    for (const change of changes) await expect(change()).rejects.toThrow(LeaseLost);
    expect(await other.turns.ofJob("a")).toMatchObject([{ state: "running", attempts: 1, answer: null }]);
    await other.runningTurns.finish(again, "completed", now);
    expect(await store.jobs.find("a")).toMatchObject({ state: "completed", pullRequest: null, head: null });
    // It has ended, but not by this.
    await store.runningTurns.finish(turn, "failed", now);
    expect(await store.jobs.find("a")).toMatchObject({ state: "completed" });
  });

  test("that has expired is renewed if nobody has taken the turn, which leaves the queue", async () => {
    const { url, store, other, turn } = await openBoth();
    const queued = `SELECT 1 FROM ${queueTables}.job`;
    await supervised();
    const ways = [
      async () => expect(await store.runningTurns.renewLease(turn)).toBe(true),
      () => store.runningTurns.setReport(turn, { answer: "Done" }),
      () => store.runningTurns.finish(turn, "completed", now),
    ];
    for (const use of ways) {
      await age(url);
      await expect.poll(() => server().query(url, queued), { timeout: 10_000 }).toHaveLength(1);
      await use();
      expect(await server().query(url, queued)).toEqual([]);
      expect(await other.runningTurns.startNext()).toBeUndefined();
    }
    expect(await other.turns.ofJob("a")).toMatchObject([{ state: "completed", answer: "Done" }]);
  });

  test("does not expire before its worker had time to renew it after an outage", async () => {
    const { url, store, other, turn } = await openBoth();
    // Nobody has looked for expired leases for a while, nor does so in between.
    const pass = `UPDATE agent_jobs.supervision SET at = 1, since = 1; UPDATE agent_jobs.turn SET "leaseUntil" = 1`;
    await server().query(url, pass);
    await supervised();
    expect(await other.runningTurns.startNext()).toBeUndefined();
    await store.runningTurns.confirmLease(turn);
  });

  test("is passed by one worker at a time, also after the database has lost that the turn was taken", async () => {
    const url = await server().createStoreDatabase();
    const [store, other] = [await openStore(url), await openStore(url)];
    await create(store, "a");
    const tables = ["agent_jobs.turn", 'agent_jobs."lastStart"', `${queueTables}.job`];
    const keep = tables.map((table, index) => `CREATE TABLE public.kept_${index} AS SELECT * FROM ${table}`);
    await server().query(url, keep.join("; "));
    const turn = await startNext(store);
    const goBack = tables.map(
      (table, index) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM public.kept_${index}`,
    );
    await server().query(url, goBack.join("; "));
    await expect(store.runningTurns.confirmLease(turn)).rejects.toThrow(LeaseLost);
    const again = await startNext(other);
    expect([again.id, again.attempts]).toEqual([turn.id, turn.attempts]);
    await expect(store.runningTurns.recordPush(turn, null, "abc")).rejects.toThrow(LeaseLost);
    await expect(store.runningTurns.finish(turn, "completed", now)).rejects.toThrow(LeaseLost);
    await other.runningTurns.confirmLease(again);
    await other.runningTurns.finish(again, "completed", now);
    expect(await store.jobs.find("a")).toMatchObject({ state: "completed", head: null });
  });

  test("is lost to who takes the turn at the same moment as it is used", async () => {
    const { url, store, other, turn } = await openBoth();
    const client = await server().connect(url);
    onTestFinished(() => client.end());
    await client.query("BEGIN");
    await client.query("UPDATE agent_jobs.turn SET lease = 'other'");
    const answered = store.runningTurns.setReport(turn, { answer: "Wrong" }).catch((error: unknown) => error);
    const blocked = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await expect.poll(() => server().query(url, blocked)).toHaveLength(1);
    await client.query("COMMIT");
    expect(await answered).toBeInstanceOf(LeaseLost);
    expect(await other.turns.ofJob("a")).toMatchObject([{ answer: null }]);
  });

  const takeAgain = (store: Store): Promise<RunningTurn> => waitUntil(() => store.runningTurns.startNext());
});

describe("what is done exclusively", () => {
  test("is done by one process at a time", async () => {
    const database = await emptyDatabase();
    const [store, other] = [await database.store(), await database.store()];
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const done: string[] = [];
    const first = store.exclusively("archiving", async () => {
      done.push("first");
      await end;
    });
    await expect.poll(() => done).toEqual(["first"]);
    const second = async () => void done.push("second");
    expect(await other.exclusively("archiving", second)).toBe(false);
    expect(await store.exclusively("archiving", second)).toBe(false);
    expect(await other.exclusively("retention", second)).toBe(true);
    resolve();
    expect(await first).toBe(true);
    expect(await other.exclusively("archiving", second)).toBe(true);
    expect(done).toEqual(["first", "second", "second"]);
  });

  test("can be done again after it failed", async () => {
    const store = await (await emptyDatabase()).store();
    const failing = store.exclusively("archiving", async () => {
      throw new Error("GitHub does not respond");
    });
    await expect(failing).rejects.toThrow("GitHub does not respond");
    expect(await store.exclusively("archiving", async () => {})).toBe(true);
  });
});

test("a process that still has one repository leaves the jobs of those to others that a configuration has added", async () => {
  const url = await server().createStoreDatabase();
  const [docs, site] = [docsRepository(), docsRepository()];
  const start = async <T extends AsyncDisposable>(
    part: (options: ServiceOptions) => Promise<T>,
    settings: ServiceOptions["settings"],
  ): Promise<T> => {
    const started = await part({
      settings,
      projects: settings.names ?? ["docs"],
      apiKey: serviceKey,
      folder: temporaryFolder(),
      agents: 1,
      publicUrl: "https://agents.example.com",
      openStore: () => openPostgresStore({ url, log: () => {} }),
    });
    onTestFinished(() => started[Symbol.asyncDispose]());
    return started;
  };
  const ofDocs = projectOptions(docs, { agent: shellAgent("cat > docs.md") });
  const ofSite = projectOptions(site, { agent: shellAgent("cat > site.md") });
  const several = PerProject.of(new Map(Object.entries({ docs: ofDocs, site: ofSite })));
  await start(startWorker, PerProject.same(ofDocs));
  const api = await start(startApi, several);
  const create = async (project: string) => (await send(api, `${project}/job`, "Go on")).job.id;
  const waiting = await create("site");
  expect((await waitForJob(api, await create("docs"))).status).toBe("completed");
  expect((await send(api, `site/job/${waiting}`)).job.status).toBe("active");
  await start(startWorker, several);
  expect((await waitForJob(api, waiting, "site")).status).toBe("completed");
  expect([docs.branches().length, site.branches()]).toEqual([1, [`agent/${waiting}`]]);
});
