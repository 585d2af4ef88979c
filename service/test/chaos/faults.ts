import { setTimeout } from "node:timers/promises";
import type { PostgresProxy } from "../support/postgres-proxy.ts";
import type { PostgresServer } from "../support/postgres-server.ts";
import type { HeldPushes } from "./held-pushes.ts";
import type { Random } from "./random.ts";
import type { ServiceProcess } from "./service-process.ts";
import type { SmallDisk } from "./small-disk.ts";

export interface FaultsOptions {
  postgres: PostgresServer;
  apis: readonly ServiceProcess[];
  workers: readonly ServiceProcess[];
  /** Between each worker and Postgres. Default: nothing is. */
  proxies?: readonly PostgresProxy[];
  /** Default: no push is held up. */
  pushes?: HeldPushes;
  random: Random;
  /** How often a fault begins, on average. Default: 8000. */
  everyMs?: number;
  /** Whether the database may lose what it has committed. Default: it keeps that. */
  mayLose?: boolean;
  /** A disk of its own for one of the workers. Default: none is filled. */
  disk?: SmallDisk | undefined;
  /** Receives one line for each fault. */
  log: (line: string) => void;
}

/** A time in which the database said that it had committed what it lost then, in milliseconds since 1970. */
export interface LostTime {
  from: number;
  to: number;
}

/** What was injected. */
export interface InjectedFaults {
  /** How often each fault was. */
  counts: Map<string, number>;
  lost: LostTime[];
}

/** A worker that is paused for this long has lost its leases, which last 30 seconds. */
const pauseMs = { from: 40_000, to: 120_000 };
/** Long enough for the services to give up on what they were storing. */
const longOutageMs = { from: 32_000, to: 45_000 };
const shortOutageMs = { from: 0, to: 4000 };
/** Long enough for agents to end meanwhile. */
const outageMs = { from: 5000, to: 15_000 };
/** Some lose their leases. */
const cutOffMs = { from: 3000, to: 60_000 };

/** What the database loses when it fails over. */
const lostMs = { from: 500, to: 2000 };
/** Between a backup and its restore. */
const backupAgeMs = { from: 1000, to: 20_000 };
const fullDiskMs = { from: 2000, to: 20_000 };

type Fault = (options: FaultsOptions, lost: LostTime[]) => Promise<void>;

/** How often each fault is chosen, in relation to the others. */
const faults: readonly { name: string; weight: number; run: Fault }[] = [
  { name: "worker killed", weight: 6, run: ({ workers, random }) => signalOne(workers, random, "SIGKILL") },
  { name: "API killed", weight: 4, run: ({ apis, random }) => signalOne(apis, random, "SIGKILL") },
  { name: "worker stopped", weight: 3, run: ({ workers, random }) => signalOne(workers, random, "SIGTERM") },
  { name: "API stopped", weight: 2, run: ({ apis, random }) => signalOne(apis, random, "SIGTERM") },
  { name: "worker paused", weight: 6, run: pauseWorker },
  { name: "worker paused while it pushes", weight: 3, run: pausePush },
  { name: "worker cut off from Postgres", weight: 4, run: cutOff },
  { name: "worker's connections forgotten", weight: 3, run: forget },
  { name: "worker's disk full", weight: 2, run: fillDisk },
  { name: "Postgres loses its last second", weight: 4, run: loseSecond },
  { name: "Postgres restored from a backup", weight: 1, run: restore },
  { name: "Postgres killed", weight: 3, run: (options) => crash(options, shortOutageMs) },
  { name: "Postgres killed, and down for seconds", weight: 3, run: (options) => crash(options, outageMs) },
  { name: "Postgres killed, and down for longer", weight: 1, run: (options) => crash(options, longOutageMs) },
];

/**
 * Injects faults until `end` aborts, and then repairs everything.
 *
 * @returns what was injected
 */
export async function injectFaults(options: FaultsOptions, end: AbortSignal): Promise<InjectedFaults> {
  const { workers, random, everyMs = 8000, log } = options;
  const counts = new Map<string, number>();
  const lost: LostTime[] = [];
  const possible = faults.filter(
    ({ name, run }) =>
      (workers.length > 0 || !name.startsWith("worker")) &&
      ((run !== cutOff && run !== forget) || options.proxies !== undefined) &&
      (run !== fillDisk || options.disk !== undefined) &&
      ((run !== loseSecond && run !== restore) || options.mayLose === true) &&
      (run !== pausePush || options.pushes !== undefined),
  );
  const bag = possible.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  const running = new Map<string, Promise<void>>();
  for (;;) {
    await setTimeout(random.between(0.2, 1.8) * everyMs, undefined, { signal: end }).catch(() => {});
    if (end.aborted) break;
    const { name, run } = random.pick(bag);
    // The server is down, or a worker is paused: the second one would only be counted.
    const kind = name.split(" ")[0] === "Postgres" ? "Postgres" : name;
    if (running.has(kind)) continue;
    log(name);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const ended = run(options, lost).finally(() => running.delete(kind));
    running.set(kind, ended);
  }
  await Promise.all(running.values());
  return { counts, lost };
}

async function signalOne(processes: readonly ServiceProcess[], random: Random, signal: "SIGKILL" | "SIGTERM") {
  random.pick(processes).signal(signal);
}

async function pauseWorker({ workers, random, log }: FaultsOptions): Promise<void> {
  const worker = random.pick(workers);
  worker.signal("SIGSTOP");
  await setTimeout(random.between(pauseMs.from, pauseMs.to));
  worker.signal("SIGCONT");
  log(`${worker.name} goes on`);
}

async function pausePush({ pushes, random, log }: FaultsOptions): Promise<void> {
  const wasHeld = await pushes?.holdNext(random.between(pauseMs.from, pauseMs.to));
  log(wasHeld ? "the worker that was pushing goes on" : "nobody pushed");
}

async function cutOff({ proxies = [], random, log }: FaultsOptions): Promise<void> {
  const proxy = random.pick(proxies);
  proxy.cutOff();
  await setTimeout(random.between(cutOffMs.from, cutOffMs.to));
  proxy.restore();
  log(`worker-${proxies.indexOf(proxy)} reaches Postgres again`);
}

async function forget({ proxies = [], random, log }: FaultsOptions): Promise<void> {
  const proxy = random.pick(proxies);
  proxy.goSilent();
  log(`the network has forgotten the connections of worker-${proxies.indexOf(proxy)}`);
}

async function fillDisk({ disk, random, log }: FaultsOptions): Promise<void> {
  disk?.fill();
  await setTimeout(random.between(fullDiskMs.from, fullDiskMs.to));
  disk?.free();
  log("the disk has space again");
}

async function loseSecond({ postgres, random, log }: FaultsOptions, lost: LostTime[]): Promise<void> {
  const from = Date.now();
  await postgres.crashLosing(random.between(lostMs.from, lostMs.to));
  lost.push({ from, to: Date.now() });
  await setTimeout(random.between(shortOutageMs.from, shortOutageMs.to));
  await postgres.restart();
  await postgres.commitAgain();
  log("Postgres runs again");
}

/** As operating.md says: nothing of the service runs meanwhile. */
async function restore({ postgres, apis, workers, random, log }: FaultsOptions, lost: LostTime[]): Promise<void> {
  await postgres.backUp();
  const from = Date.now();
  await setTimeout(random.between(backupAgeMs.from, backupAgeMs.to));
  const processes = [...apis, ...workers];
  await Promise.all(processes.map((one) => one.hold()));
  lost.push({ from, to: Date.now() });
  await postgres.restore();
  for (const one of processes) one.release();
  log("Postgres runs again with its backup");
}

async function crash({ postgres, random, log }: FaultsOptions, outageMs: { from: number; to: number }): Promise<void> {
  postgres.crash();
  await setTimeout(random.between(outageMs.from, outageMs.to));
  await postgres.restart();
  log("Postgres runs again");
}
