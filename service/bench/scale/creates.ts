import { join } from "node:path";
import pLimit from "p-limit";
import { scratchFolder } from "../../../bench/scratch.ts";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { send } from "../service-process.ts";
import { countConnections } from "./connections.ts";
import { cpuTimeMs } from "./cpu-time.ts";
import { type Started, startProcess } from "./processes.ts";

const warmUpCreates = 200;
const creates = 1800;
const sentAtOnce = 32;
/** Of 100 creates each. */
const projects = Array.from({ length: 20 }, (_, index) => `project-${index}`);

export interface Creates {
  perSecond: number;
  /** CPU time of the database for a create, in milliseconds. */
  databaseMs: number;
  /** The most that an API had at a time. */
  connections: number;
}

/** Measures the creates of API processes on one Postgres server. No turn runs. */
export async function postgresCreates(apis: number): Promise<Creates> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  await using postgres = await PostgresServer.start();
  await using started = new AsyncDisposableStack();
  const processes: Started[] = [];
  for (let index = 0; index < apis; index++) {
    const folder = join(scratch.path, String(index));
    const args = ["api", "--store", postgres.url, "--public-url", "https://agents.example.com"];
    processes.push(started.use(await startProcess([...args, ...shared(docs)], folder)));
  }
  const urls = processes.map(({ url }) => url);
  let perSecond = 0;
  let databaseMs = 0;
  const most = await countConnections(postgres.url, async () => {
    const before = await sendAll(urls, 0, warmUpCreates).then(() => cpuTimeMs(postgres.pid));
    perSecond = await sendAll(urls, warmUpCreates, creates);
    databaseMs = (cpuTimeMs(postgres.pid) - before) / creates;
  });
  return { perSecond, databaseMs, connections: most / apis };
}

/** Returns creates in a second of one process with SQLite, whose only agent waits. */
export async function sqliteCreates(): Promise<number> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  const store = join(scratch.path, "jobs.sqlite");
  await using service = await startProcess(["--store", store, "--agents", "1", ...shared(docs)]);
  await sendAll([service.url], 0, warmUpCreates);
  return await sendAll([service.url], warmUpCreates, creates);
}

const shared = (docs: DocsRepository) => [
  ...["--repository", docs.path, "--agent", "sleep 1000", "--sandbox", "none"],
  ...projects.flatMap((project) => ["--project", project]),
];

/** Returns how many were accepted in a second. */
async function sendAll(urls: readonly string[], first: number, count: number): Promise<number> {
  const limit = pLimit(sentAtOnce);
  const create = async (index: number) => {
    const url = urls[index % urls.length] ?? "";
    for (;;) {
      const { status } = await send(url, `${projects[index % projects.length]}/job`, "Say more");
      if (status === 201) return;
      // The machine is so busy that no connection to the database was free in time. Nothing was accepted.
      if (status !== 503) throw new Error(`a create was answered with ${status}`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: count }, (_, index) => limit(() => create(first + index))));
  return count / ((performance.now() - startedAt) / 1000);
}
