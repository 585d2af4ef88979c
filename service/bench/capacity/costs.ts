import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import type { RunningTurn } from "../../src/model.ts";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { cpuTimeMs } from "../scale/cpu-time.ts";
import { appendLine, beginTurn, endTurn } from "./light-worker.ts";

/** What one operation costs. */
export interface Cost {
  /** CPU time of Postgres, in milliseconds. */
  cpuMs: number;
  /** Statements, or scripts of them, that are sent. */
  queries: number;
  /** From the first statement to the last answer, in milliseconds, on loopback. */
  wallMs: number;
}

/** What the operations of the service cost Postgres. */
export interface Costs {
  /** Storing a new job. */
  create: Cost;
  /** Asking for a turn when there is none. */
  ask: Cost;
  /** Taking a turn, including the question before. */
  take: Cost;
  /** Everything else of a turn that pushes a change, except its log and its lease. */
  turn: Cost;
  /** Adding a line to a log. */
  logChunk: Cost;
  renewal: Cost;
  /** A client's request for the state of its job. */
  poll: Cost;
  /** A round of the archiver or of retention that another process runs already. */
  round: Cost;
  /** A second of a process with a store that asks for no turns, such as an API. */
  idleSecond: Cost;
  /** CPU time for one notification to one process, in milliseconds. */
  deliveryMs: number;
  /** CPU time of opening a connection, in milliseconds. */
  connectMs: number;
  /** Memory of an idle connection that is its own, in MB. */
  connectionMb: number;
  /** Transactions with a notification that Postgres commits in a second, from 16 connections. */
  notifyingCommits: number;
}

let queries = 0;
let isCounting = false;

/** Counts what clients of this process send, from the first call on. */
export function countQueries(): () => number {
  if (isCounting) return () => queries;
  isCounting = true;
  const { prototype } = pg.Client;
  const original: (...args: unknown[]) => unknown = prototype.query;
  prototype.query = function query(this: pg.Client, ...args: unknown[]): never {
    queries++;
    return original.apply(this, args) as never;
  };
  return () => queries;
}

const repeats = 400;
const storeCount = 40;
/** Until pools have closed what they needed to open, and expired leases are looked for. */
const settlingMs = 45_000;

/** Spreads operations over many processes' connections: one that is used all the time is cheaper than those of a fleet. */
export async function measureCosts(): Promise<Costs> {
  const count = countQueries();
  await using postgres = await PostgresServer.start(1000);
  const cpu = () => cpuTimeMs(postgres.pid);
  const connections = await measureConnections(postgres, cpu);
  await using opened = new AsyncDisposableStack();
  const stores: Store[] = [];
  const emptyMs = await measureSecond(cpu);
  for (let index = 0; index < storeCount; index++)
    stores.push(opened.use(await openPostgresStore({ url: postgres.url, log: () => {} })));
  const storeOf = (index: number): Store => stores[index % storeCount] as Store;
  await setTimeout(settlingMs);
  const idleQueries = count();
  const idleMs = await measureSecond(cpu);
  const idleSecond: Cost = {
    cpuMs: Math.max(0, idleMs - emptyMs) / storeCount,
    queries: (count() - idleQueries) / storeCount / idleSeconds,
    wallMs: 0,
  };
  const measure = async (times: number, work: (index: number) => Promise<unknown>): Promise<Cost> => {
    const before = { cpu: cpu(), queries: count(), at: performance.now() };
    for (let index = 0; index < times; index++) await work(index);
    const wallMs = (performance.now() - before.at) / times;
    return { cpuMs: (cpu() - before.cpu) / times, queries: (count() - before.queries) / times, wallMs };
  };
  const create = await measure(repeats, (index) => add(storeOf(index), index));
  const turns: RunningTurn[] = [];
  const take = await measure(repeats, async (index) => {
    const turn = await storeOf(index).runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    turns.push(turn);
  });
  const turnOf = (index: number): RunningTurn => turns[index % turns.length] as RunningTurn;
  const renewal = await measure(repeats, (index) => storeOf(index).runningTurns.renewLease(turnOf(index)));
  const logChunk = await measure(repeats * 4, (index) =>
    appendLine(storeOf(index), turnOf(index), Math.floor(index / turns.length)),
  );
  const poll = await measure(repeats * 4, (index) => storeOf(index).jobs.find(turnOf(index).job));
  const turn = await measure(turns.length, async (index) => {
    await beginTurn(storeOf(index), turnOf(index));
    await endTurn(storeOf(index), turnOf(index));
  });
  const ask = await measure(repeats * 4, (index) => storeOf(index).runningTurns.startNext());
  const round = await measure(repeats * 4, (index) => storeOf(index).exclusively("Bench", async () => {}));
  const deliveryMs = await measureDelivery(postgres, cpu);
  const notifyingCommits = await measureCommits(postgres);
  return {
    ...{ create, ask, take, turn, logChunk, renewal, poll, round, idleSecond },
    ...{ deliveryMs, ...connections, notifyingCommits },
  };
}

/** A job whose prompt is the time. */
export async function add(store: Store, index: number): Promise<void> {
  const job = { id: `job_${randomUUID()}`, project: `project-${index % 20}`, createdAt: Date.now() };
  // Over 20 projects, so that no hourly limit rejects it: the server's clock counts, not this time.
  await store.jobs.add(job, String(Date.now()), Date.now());
}

const idleSeconds = 20;

/** Returns the CPU time of a second in which nothing is done, in milliseconds. */
async function measureSecond(cpu: () => number): Promise<number> {
  const before = cpu();
  await setTimeout(idleSeconds * 1000);
  return (cpu() - before) / idleSeconds;
}

const connectionCount = 100;

async function measureConnections({ url, pid }: PostgresServer, cpu: () => number) {
  const memory = ownMegabytes(pid);
  const before = cpu();
  const clients: pg.Client[] = [];
  for (let index = 0; index < connectionCount; index++) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    clients.push(client);
  }
  const connectMs = (cpu() - before) / connectionCount;
  for (const client of clients) await client.query("SELECT 1");
  const connectionMb = (ownMegabytes(pid) - memory) / connectionCount;
  for (const client of clients) await client.end();
  return { connectMs, connectionMb };
}

const notifications = 1000;

/** Returns the CPU time of a notification for each process that listens, none of which asks for anything then. */
async function measureDelivery({ url }: PostgresServer, cpu: () => number): Promise<number> {
  const notify = async (channel: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const from = cpu();
    for (let index = 0; index < notifications; index++) await client.query("SELECT pg_notify($1, 'job_x')", [channel]);
    // So that those that are behind have caught up.
    await setTimeout(1000);
    const ms = cpu() - from;
    await client.end();
    return ms / notifications;
  };
  const base = await notify("nobody_listens");
  return Math.max(0, (await notify("agent_jobs_change")) - base) / storeCount;
}

/** Returns the memory that processes of the server share with no other one. */
function ownMegabytes(parent: number): number {
  let kib = 0;
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      if (Number(stat[1]) !== parent) continue;
      const rollup = readFileSync(`/proc/${name}/smaps_rollup`, "utf8");
      for (const [, size] of rollup.matchAll(/^Private_\w+:\s+(\d+) kB/gm)) kib += Number(size);
    } catch {
      // It has ended.
    }
  }
  return kib / 1000;
}

async function measureCommits({ url }: PostgresServer): Promise<number> {
  const connections = 16;
  const seconds = 5;
  const end = performance.now() + seconds * 1000;
  let commits = 0;
  const run = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    while (performance.now() < end) {
      const change = `INSERT INTO agent_jobs."recentCommit" (id) VALUES ('${randomUUID()}')`;
      await client.query(`BEGIN; ${change}; SELECT pg_notify('nobody_listens', ''); COMMIT`);
      commits++;
    }
    await client.end();
  };
  await Promise.all(Array.from({ length: connections }, run));
  return commits / seconds;
}
