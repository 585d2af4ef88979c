import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { median } from "../../../bench/statistics.ts";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { cpuTimeMs } from "../scale/cpu-time.ts";
import { add, countQueries } from "./costs.ts";
import { LightWorker } from "./light-worker.ts";
import type { Fleet } from "./simulate.ts";

/** What light workers on a real Postgres server used. */
export interface Measured {
  turnsPerMinute: number;
  cores: number;
  queriesPerSecond: number;
  asksPerTurn: number;
  medianDelay: number;
  /** Connections of a worker, without those that are opened for a moment. */
  workerConnections: number;
}

const warmUpMs = 30_000;
const measuredMs = 60_000;

/** Runs a fleet of light workers in this process for a minute. */
export async function runFleet(fleet: Fleet): Promise<Measured> {
  const count = countQueries();
  await using postgres = await PostgresServer.start(fleet.workers * 11 + 20);
  await using stores = new AsyncDisposableStack();
  const open = async () => stores.use(await openPostgresStore({ url: postgres.url, log: () => {} }));
  const client = await open();
  let asks = 0;
  let delays: number[] = [];
  let ended = 0;
  const exponential = (mean: number) => -mean * Math.log(1 - Math.random());
  const workers: LightWorker[] = [];
  for (let index = 0; index < fleet.workers; index++) {
    const store = await open();
    const { runningTurns } = store;
    const startNext = runningTurns.startNext.bind(runningTurns);
    runningTurns.startNext = async (...args) => {
      const turn = await startNext(...args);
      if (turn === undefined) asks++;
      return turn;
    };
    workers.push(
      new LightWorker({
        store,
        places: fleet.places,
        agentMs: () => exponential(fleet.agentSeconds * 1000),
        logShare: fleet.logShare,
        random: Math.random,
        onStart: (waitedMs) => delays.push(waitedMs),
        onEnd: () => void ended++,
      }),
    );
  }
  const meanPauseMs = (fleet.agentSeconds * 1000) / (fleet.workers * fleet.places * fleet.busy);
  const end = new AbortController();
  const created: Promise<void>[] = [];
  const arrivals = (async () => {
    for (let index = 0; index < fleet.workers * fleet.places * fleet.busy; index++) await add(client, index);
    for (let index = 1_000_000; !end.signal.aborted; index++) {
      created.push(add(client, index));
      await setTimeout(exponential(meanPauseMs));
    }
  })();
  await setTimeout(warmUpMs);
  const before = { cpu: cpuTimeMs(postgres.pid), queries: count(), ended, at: performance.now() };
  asks = 0;
  delays = [];
  await setTimeout(measuredMs);
  const seconds = (performance.now() - before.at) / 1000;
  const workerConnections = (await connectionsOf(postgres.url)) / (fleet.workers + 1);
  const measured = {
    turnsPerMinute: ((ended - before.ended) / seconds) * 60,
    cores: (cpuTimeMs(postgres.pid) - before.cpu) / 1000 / seconds,
    queriesPerSecond: (count() - before.queries) / seconds,
    asksPerTurn: asks / Math.max(1, delays.length),
    medianDelay: median(delays) / 1000,
    workerConnections,
  };
  end.abort();
  await arrivals;
  await Promise.all(created);
  await Promise.all(workers.map((worker) => worker.stop()));
  return measured;
}

async function connectionsOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name LIKE 'agent-job-service%'",
  );
  await client.end();
  return rows[0]?.count ?? 0;
}
