import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { PerProject } from "../../../src/per-project.ts";
import { startApi, startWorker } from "../../../src/start/service.ts";
import type { PostgresOptions } from "../../../src/store/postgres/database.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { docsRepository, projectOptions, send, waitForJob } from "../../support/agent-service.ts";
import { PgBouncer, type PgBouncerOptions, pgBouncerObstacle } from "../../support/pgbouncer.ts";
import { postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

/** Notifications that do not arrive are noticed soon. */
const times = { notificationMs: 500, pollMs: 50 };

async function openStore(url: string, options: Partial<PostgresOptions> = {}) {
  const lines: string[] = [];
  const store = await openPostgresStore({ url, times, log: (line) => void lines.push(line), ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return { store, lines };
}

async function startPooler(url: string, options: PgBouncerOptions): Promise<string> {
  const pooler = await PgBouncer.start(url, options);
  onTestFinished(() => pooler[Symbol.asyncDispose]());
  return pooler.through(url);
}

const create = (store: Store, id: string) => store.jobs.add({ id, project: "docs", createdAt: 1 }, "One");

/** What a database has, except the schemas of the server itself. */
const schemas = `SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$' AND EXISTS
  (SELECT 1 FROM pg_class WHERE relnamespace = pg_namespace.oid) ORDER BY 1`;

const reason = pgBouncerObstacle === undefined ? "" : ` (skipped: ${pgBouncerObstacle})`;
const modes = ["session", "transaction"] as const;

describe.skipIf(pgBouncerObstacle !== undefined)(`through PgBouncer${reason}`, () => {
  test.each(modes)("in %s mode, a process opens the same store as one beside it", async (poolMode) => {
    const url = await server().createDatabase();
    // What makes PgBouncer accept, and forget, the settings of a client's session.
    const settings = ["ignore_startup_parameters = extra_float_digits,options", "default_pool_size = 6"];
    const pooled = await startPooler(url, { poolMode, settings });
    const { store: api } = await openStore(pooled, { maxConnections: 3 });
    const { store: worker } = await openStore(url);
    await Promise.all(Array.from({ length: 10 }, (_, job) => create(api, `job_${job}`)));
    const turns = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? api : worker).runningTurns.startNext()),
    );
    expect(new Set(turns.map((turn) => turn?.id)).size).toBe(10);
    for (const turn of turns) if (turn) await worker.runningTurns.finish(turn, "completed", 2);
    expect(await api.counts.census()).toMatchObject({ jobs: { completed: 10 }, turns: { waiting: 0, running: 0 } });
    expect(
      await api.exclusively("archiving", async () => expect(await worker.exclusively("archiving", fail)).toBe(false)),
    );
    expect(await worker.exclusively("archiving", async () => {})).toBe(true);
    expect(await server().query(url, schemas)).toEqual([{ name: "agent_jobs" }, { name: "agent_jobs_queue" }]);
  });

  test("in transaction mode, an API and a worker beside it run a job together, which can be stopped", async () => {
    const url = await server().createStoreDatabase();
    const pooled = await startPooler(url, { poolMode: "transaction" });
    const docs = docsRepository();
    const settings = PerProject.same(projectOptions(docs, { agent: shellAgent("cat > docs.md; sleep 600") }));
    const start = async <T extends AsyncDisposable>(part: typeof startApi | typeof startWorker, place: string) => {
      const openStore = () => openPostgresStore({ url: place, times, log: () => {} });
      const publicUrl = "https://agents.example.com";
      const options = { settings, projects: ["docs"], apiKey: serviceKey, folder: temporaryFolder(), agents: 1 };
      const started = await part({ ...options, publicUrl, openStore });
      onTestFinished(() => started[Symbol.asyncDispose]());
      return started as unknown as T;
    };
    const api = await start<Awaited<ReturnType<typeof startApi>>>(startApi, pooled);
    await start(startWorker, url);
    const { job } = await send(api, "docs/job", "Go on");
    const running = "SELECT id FROM agent_jobs.turn WHERE attempts = 1";
    const [turn] = await waitUntil(async () => {
      const found = await server().query<{ id: string }>(url, running);
      return found.length > 0 ? found : undefined;
    });
    await send(api, `docs/job/${job.id}/turn/${turn?.id}/stop`, "");
    expect((await waitForJob(api, job.id)).status).toBe("failed");
  });

  test("in session mode, notifications arrive", async () => {
    const url = await server().createStoreDatabase();
    const { store, lines } = await openStore(await startPooler(url, { poolMode: "session" }));
    await hears(store, (await openStore(url)).store);
    expect(lines).toEqual([]);
  });

  test("in transaction mode, notifications arrive from the direct URL", async () => {
    const url = await server().createStoreDatabase();
    const pooled = await startPooler(url, { poolMode: "transaction" });
    const { store, lines } = await openStore(pooled, { directUrl: url, times: { pollMs: 1_000_000 } });
    await hears(store, (await openStore(url)).store);
    expect(lines).toEqual([]);
  });

  test("in transaction mode without a direct URL, a process looks for changes itself, and says so", async () => {
    const url = await server().createStoreDatabase();
    const { store, lines } = await openStore(await startPooler(url, { poolMode: "transaction" }));
    await hears(store, (await openStore(url)).store);
    expect(lines).toEqual([expect.stringMatching(/do not arrive through this pooler.* a second --store/)]);
  });

  test("in statement mode, no process starts", async () => {
    const url = await server().createStoreDatabase();
    const pooled = await startPooler(url, { poolMode: "statement" });
    await expect(openStore(pooled)).rejects.toThrow(/Set pool_mode of PgBouncer to session or transaction/);
  });
});

const fail = async () => {
  throw new Error("two processes do this at the same time");
};

/** Waits until one store hears of a change that the other one makes. */
async function hears(store: Store, other: Store): Promise<void> {
  await create(other, "a");
  let isHeard = false;
  store.followJob("a", () => {
    isHeard = true;
  });
  // The first change may come before it listens.
  for (let prompt = 0; !isHeard && prompt < 20; prompt++) {
    await other.turns.add("a", `More ${prompt}`, 2);
    await setTimeout(200);
  }
  expect(isHeard).toBe(true);
}
