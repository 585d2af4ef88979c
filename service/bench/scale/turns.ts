import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { scratchFolder } from "../../../bench/scratch.ts";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { type Job, send } from "../service-process.ts";
import { countConnections } from "./connections.ts";
import { cpuTimeMs } from "./cpu-time.ts";
import { startProcess } from "./processes.ts";

export interface TurnsOptions {
  /** The shell command that agents are. */
  agent: string;
  turns: number;
  /** How many agents a process runs at a time. */
  agents: number;
}

export interface PostgresTurns {
  perMinute: number;
  /** The share of the database in the CPU time of everything. */
  databaseShare: number;
  /** The most that a worker used at a time. */
  connections: number;
}

const pollMs = 250;
const project = "demo";
const publicUrl = "https://agents.example.com";
const perMinute = (turns: number, startedAt: number) => turns / ((performance.now() - startedAt) / 60_000);

/** Returns how many turns one process ends in a minute, with SQLite. */
export async function sqliteTurnsPerMinute({ agent, turns, agents }: TurnsOptions): Promise<number> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  const store = join(scratch.path, "jobs.sqlite");
  await using service = await startProcess([
    ...["--repository", docs.path, "--store", store, "--agents", String(agents)],
    ...["--agent", agent, "--sandbox", "none"],
  ]);
  const startedAt = performance.now();
  const created = Array.from({ length: turns }, () => send(service.url, `${project}/job`, "Say more"));
  for (const { job } of await Promise.all(created)) await untilEnded(service.url, job);
  return perMinute(turns, startedAt);
}

async function untilEnded(url: string, { id }: Job): Promise<void> {
  for (;;) {
    const { job } = await send(url, `${project}/job/${id}`);
    if (job.status === "completed") return;
    if (job.status !== "active") throw new Error(`a job is ${job.status}`);
    await setTimeout(pollMs);
  }
}

/** Measures worker processes on one Postgres server. */
export async function postgresTurns(workers: number, { agent, turns, agents }: TurnsOptions): Promise<PostgresTurns> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  await using postgres = await PostgresServer.start();
  await using started = new AsyncDisposableStack();
  const processes = await Promise.all(
    Array.from({ length: workers }, (_, index) =>
      startProcess(
        [
          ...["worker", "--repository", docs.path, "--store", postgres.url, "--public-url", publicUrl],
          ...["--agents", String(agents), "--agent", agent, "--sandbox", "none"],
        ],
        join(scratch.path, String(index)),
      ),
    ),
  );
  for (const one of processes) started.use(one);
  const cpu = () => ({
    database: cpuTimeMs(postgres.pid),
    workers: processes.reduce((sum, { pid }) => sum + cpuTimeMs(pid), 0),
  });
  const before = cpu();
  const startedAt = performance.now();
  let ended = 0;
  const most = await countConnections(postgres.url, async () => {
    // Its connections are not those of a worker.
    const url = `${postgres.url}?application_name=bench`;
    await using store = await openPostgresStore({ url, maxConnections: 2, log: () => {} });
    const ids = Array.from({ length: turns }, (_, index) => `job_${index}`);
    for (const id of ids) await store.jobs.add({ id, project, createdAt: Date.now() }, "Say more");
    while ((await store.counts.total()).waitingTurns > 0) await setTimeout(pollMs);
    for (const id of ids) while ((await store.jobs.find(id))?.state === "active") await setTimeout(pollMs);
    ended = perMinute(turns, startedAt);
  });
  const after = cpu();
  const database = after.database - before.database;
  return {
    perMinute: ended,
    databaseShare: database / (database + after.workers - before.workers),
    connections: most / workers,
  };
}
