import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { freePort } from "../support/free-port.ts";
import { PgBouncer, type PgBouncerOptions } from "../support/pgbouncer.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { agentCommand, file, readRuns } from "./agent.ts";
import { Client, type JobRecord } from "./client.ts";
import { compare, lostRequests } from "./compare.ts";
import { injectFaults } from "./faults.ts";
import { HeldPushes, heldMs } from "./held-pushes.ts";
import { readPushed } from "./pushed-state.ts";
import { Random } from "./random.ts";
import { ServiceProcess } from "./service-process.ts";
import { SmallDisk } from "./small-disk.ts";
import { countOpenTurns, readStored, type StoredState } from "./stored-state.ts";
import { runWorkload, type Workload } from "./workload.ts";

export interface ChaosOptions {
  jobs: number;
  /** How long jobs are created and faults are injected. */
  minutes: number;
  seed: number;
  /** How often a fault begins, on average, in milliseconds. Default: 8000. */
  everyMs?: number;
  /** Default: there is no PgBouncer between the processes and their server. */
  poolMode?: PgBouncerOptions["poolMode"] | undefined;
  /** For the folders and the logs of the processes. Created, and kept. */
  folder: string;
  /** Receives what happens. */
  log: (line: string) => void;
}

export interface ChaosResult {
  /** What broke a promise. Empty if nothing did. */
  wrong: string[];
  /** The numbers of the report, by their names. */
  numbers: Map<string, number>;
}

const apiCount = 2;
const workerCount = 3;
const jobsPerProject = 70;
/** By default, it accepts no client for 15 seconds after it has found the server down. */
const poolerSettings = ["server_login_retry = 1"];
/** What processes print, and how the report calls it. */
const events: readonly [RegExp, string][] = [
  [/ was interrupted on another worker, resuming$/, "turns taken over"],
  [/ was taken over by another worker, because /, "leases lost"],
  [/: turn \d+ postponed/, "turns postponed"],
  [/: its state cannot be stored yet/, "ends stored later"],
  [/ interrupted 2 times and is not run again/, "turns given up after two interruptions"],
];

/** How many of the newest pull requests have their pages checked. */
const checkedPages = 5;
/** Without an ended turn for this long, something is stuck. */
const longestStandstillMs = 4 * 60_000;
/** By then, workers that were started have looked at all branches. */
const longestCleaningMs = 60_000;

/** Runs two APIs and three workers on one Postgres server while faults are injected, and compares everything at the end. */
export async function runChaos({
  jobs,
  minutes,
  seed,
  everyMs,
  poolMode,
  folder,
  log,
}: ChaosOptions): Promise<ChaosResult> {
  mkdirSync(folder, { recursive: true });
  using docs = new DocsRepository();
  const pushes = new HeldPushes(docs.path);
  await using postgres = await PostgresServer.start();
  await using pooler = poolMode && (await PgBouncer.start(postgres.url, { poolMode, settings: poolerSettings }));
  const store = pooler?.through(postgres.url) ?? postgres.url;
  await using stack = new AsyncDisposableStack();
  const proxies: PostgresProxy[] = [];
  for (let index = 0; index < workerCount; index++)
    proxies.push(stack.use(await PostgresProxy.start(Number(new URL(store).port))));
  const runs = join(folder, "agent-runs.log");
  const numbers = new Map<string, number>(events.map(([, name]) => [name, 0]));
  const onLine = (line: string): void => {
    const name = events.find(([pattern]) => pattern.test(line))?.[1];
    if (name !== undefined) add(numbers, name);
  };
  const projects = Array.from({ length: Math.ceil(jobs / jobsPerProject) }, (_, index) => `project-${index}`);
  const shared = [
    ...["--repository", docs.path, "--public-url", "https://agents.example.com"],
    ...["--agent", agentCommand(runs), "--sandbox", "none", ...projects.flatMap((project) => ["--project", project])],
  ];
  const diskOwner = `worker-${workerCount - 1}`;
  using disk = SmallDisk.mount(join(folder, diskOwner));
  if (disk === undefined) log("no disk is filled, because this process may not mount one");
  const start = (name: string, role: string, args: string[]) => {
    const files = { folder: join(folder, name), logFile: join(folder, `${name}.log`) };
    return new ServiceProcess({ name, args: [role, ...shared, ...args], ...files, onLine });
  };
  const ports = await Promise.all(Array.from({ length: apiCount }, freePort));
  const apis = ports.map((port, index) => start(`api-${index}`, "api", ["--store", store, "--port", String(port)]));
  const direct = pooler ? ["--store", postgres.url] : [];
  const workers = proxies.map(({ port }, index) => {
    const cuttable = new URL(store);
    cuttable.port = String(port);
    const drain = index === 0 ? ["--drain-minutes", "0.2"] : [];
    return start(`worker-${index}`, "worker", ["--store", cuttable.href, ...direct, "--agents", "4", ...drain]);
  });
  const processes = [...apis, ...workers];
  let isClean = false;
  try {
    await Promise.all(processes.map((one) => one.waitUntilReady()));
    const client = new Client(ports.map((port) => `http://127.0.0.1:${port}`));
    const random = new Random(seed);
    const startedAt = performance.now();
    const over = AbortSignal.timeout(minutes * 60_000);
    // A seed of its own, because it depends on the machine which of both draws first.
    const faults = injectFaults(
      {
        postgres,
        apis,
        workers,
        proxies,
        pushes,
        disk,
        mayLose: true,
        random: new Random(seed + 1),
        ...(everyMs !== undefined && { everyMs }),
        log: (line) => {
          log(line);
          appendFileSync(join(folder, "faults.log"), `${new Date().toISOString()} ${line}\n`);
        },
      },
      over,
    );
    const durationMs = minutes * 60_000 * 0.8;
    const [workload, { counts, lost }] = await Promise.all([
      runWorkload({ client, random, projects, jobs, durationMs }),
      faults,
    ]);
    log("everything runs undisturbed");
    await Promise.all(processes.map((one) => one.waitUntilReady()));
    const wrong = await waitUntilAllEnded(postgres.url, log);
    await cleanBranches(processes, { postgres, repository: docs.path });
    const stored = await readStored(postgres.url);
    const shown = await readShown(client, stored);
    const pushed = readPushed(docs.path, file);
    for (const { job, number, head } of stored.pullRequests.slice(-checkedPages))
      for (const line of pushed.get(`agent/${job}`)?.lines ?? [])
        wrong.push(...(await client.checkPage(number, `+ ${line}`)).map((text) => `${job}, ${head}: ${text}`));
    for (const one of processes) wrong.push(...one.unexpectedExits);
    const did = readRuns(readFileSync(runs, "utf8"));
    const { jobs: sent, emptyJobs, wrongPolls } = workload;
    const end = { sent, stored, pushed, emptyJobs, wrongPolls, shown, runs: did, lost };
    wrong.push(...compare(end));
    for (const [name, count] of counts) numbers.set(name, count);
    count(numbers, { workload, stored, client, failedStarts: sum(processes.map((one) => one.failedStarts)) });
    numbers.set("accepted requests that the database lost", lostRequests(end).prompts.size);
    numbers.set("runs of agents", did.runs);
    numbers.set("runs of agents that had ended before", did.again);
    numbers.set("commits", sum([...pushed.values()].map(({ commits }) => commits.length)));
    numbers.set("seconds", Math.round((performance.now() - startedAt) / 1000));
    isClean = wrong.length === 0;
    return { wrong, numbers };
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
    if (!isClean) await keepState(folder, docs.path, postgres.url).catch((error: unknown) => log(String(error)));
  }
}

/** Keeps what is to be looked at, before the repository and the server are removed: also if the judge itself fails. */
async function keepState(folder: string, repository: string, url: string): Promise<void> {
  cpSync(repository, join(folder, "repository"), { recursive: true });
  writeFileSync(join(folder, "stored.json"), JSON.stringify(await readStored(url), undefined, 2));
}

/** Waits until all turns have ended. Returns which ones do not; an empty list if all have. */
async function waitUntilAllEnded(url: string, log: (line: string) => void): Promise<string[]> {
  let last = Number.POSITIVE_INFINITY;
  for (let changedAt = performance.now(); performance.now() - changedAt < longestStandstillMs; ) {
    const open = await countOpenTurns(url);
    if (open === 0) return [];
    if (open < last) {
      log(`${open} turns are open`);
      changedAt = performance.now();
      last = open;
    }
    await setTimeout(5000);
  }
  return [`${last} turns have not ended`];
}

/** Starts the workers again, which then remove what has arrived after its turn had ended, and waits until they have. */
async function cleanBranches(
  processes: readonly ServiceProcess[],
  { postgres, repository }: { postgres: PostgresServer; repository: string },
): Promise<void> {
  await setTimeout(heldMs);
  for (const one of processes) one.signal("SIGTERM");
  await Promise.all(processes.map((one) => one.waitUntilReady()));
  for (const startedAt = performance.now(); performance.now() - startedAt < longestCleaningMs; ) {
    const { jobs } = await readStored(postgres.url);
    const heads = new Map(jobs.map(({ id, head }) => [`agent/${id}`, head]));
    if ([...readPushed(repository, file)].every(([name, { head }]) => head === heads.get(name))) return;
    await setTimeout(2000);
  }
}

async function readShown(client: Client, { jobs }: StoredState): Promise<Map<string, JobRecord>> {
  const shown = new Map<string, JobRecord>();
  for (const { id, project } of jobs) {
    const job = await client.get(project, id).catch(() => undefined);
    if (job !== undefined) shown.set(id, job);
  }
  return shown;
}

interface Counted {
  workload: Workload;
  stored: StoredState;
  client: Client;
  failedStarts: number;
}

function count(numbers: Map<string, number>, { workload, stored, client, failedStarts }: Counted): void {
  const sent = workload.jobs.flatMap(({ sent: requests }) => requests);
  for (const acceptance of ["accepted", "rejected", "unknown"])
    numbers.set(`requests ${acceptance}`, sent.filter(({ submission }) => submission.acceptance === acceptance).length);
  for (const { submission } of sent)
    if (submission.acceptance !== "accepted") add(numbers, `${submission.acceptance}: ${submission.reason}`);
  for (const [reason, times] of client.retries) numbers.set(`requests sent again after: ${reason}`, times);
  numbers.set("polls", workload.polls);
  numbers.set("starts that failed", failedStarts);
  numbers.set("jobs stored", stored.jobs.length);
  for (const state of ["completed", "failed"])
    numbers.set(`turns ${state}`, stored.turns.filter((turn) => turn.state === state).length);
  numbers.set("turns with two attempts", stored.turns.filter(({ attempts }) => attempts > 1).length);
}

function add(numbers: Map<string, number>, name: string): void {
  numbers.set(name, (numbers.get(name) ?? 0) + 1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
