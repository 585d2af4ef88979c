import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { apiKey, scratchFolder } from "../../bench/scratch.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { PostgresServer } from "../test/support/postgres-server.ts";
import { CountingProxy } from "./postgres/counting-proxy.ts";
import { cpuTimeMs } from "./scale/cpu-time.ts";
import { startProcess } from "./scale/processes.ts";
import type { Job } from "./service-process.ts";

const help = `Usage: npm run bench:postgres [-- --list]

Counts the queries that creates, turns and idle processes send to Postgres, measures what the server needs for them, and writes
service/bench/postgres-results.md. Takes about two minutes. Linux only.

  --list   also prints each query, and writes nothing
`;

const createCount = 50;
const turnCount = 40;
/** How many rows are inserted after each create or turn. */
const rowsBetween = 60;
const idleSeconds = 30;

const { values } = parseArgs({ options: { help: { type: "boolean" }, list: { type: "boolean" } } });

/** What one thing asks of Postgres. */
interface Cost {
  what: string;
  /** How often each query was sent. */
  queries: ReadonlyMap<string, number>;
  /** How often the thing was done. */
  times: number;
  /** Default: it was not measured. */
  time?: CpuTime;
}

/** CPU time of the server, in milliseconds. */
interface CpuTime {
  /** For the thing once. */
  ms: number;
  /** For a row that was inserted at the same time. */
  rowMs: number;
}

async function measure(isList: boolean): Promise<void> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  await using postgres = await PostgresServer.start();
  await using apiProxy = await CountingProxy.start(postgres.url);
  await using workerProxy = await CountingProxy.start(postgres.url);
  const shared = ["--repository", docs.path, "--agent", "echo more >> README.md", "--sandbox", "none"];
  const start = (kind: string, proxy: CountingProxy, ...args: string[]) =>
    startProcess(
      [kind, "--store", proxy.url, ...shared, ...args, "--public-url", "https://agents.example.com"],
      join(scratch.path, kind),
    );
  await using rows = await RowInserter.connect(postgres.url);
  /** Returns the CPU time of the server for something that is done several times, and that of rows that are inserted between. */
  const timed = async (times: number, work: () => Promise<void>): Promise<CpuTime> => {
    const before = { all: cpuTimeMs(postgres.pid), rows: rows.cpuMs };
    for (let index = 0; index < times; index++) {
      await work();
      await rows.insert(rowsBetween);
    }
    const ofRows = rows.cpuMs - before.rows;
    const ms = cpuTimeMs(postgres.pid) - before.all - ofRows;
    return { ms: ms / times, rowMs: ofRows / (times * rowsBetween) };
  };
  await using api = await start("api", apiProxy);
  let turnTime: CpuTime;
  let turns: ReadonlyMap<string, number>;
  let idle: ReadonlyMap<string, number>[];
  {
    await using _worker = await start("worker", workerProxy, "--agents", "1");
    await createAndWait(api.url);
    workerProxy.take();
    turnTime = await timed(turnCount, () => createAndWait(api.url));
    turns = workerProxy.take();
    apiProxy.take();
    await setTimeout(idleSeconds * 1000);
    idle = [apiProxy.take(), workerProxy.take()];
  }

  const createTime = await timed(createCount, async () => {
    await send(api.url, "demo/job", { prompt: "Say more" });
  });
  const creates = apiProxy.take();

  const costs: Cost[] = [
    { what: "a create", queries: creates, times: createCount, time: createTime },
    {
      what: "a turn that pushes a change",
      queries: turns,
      times: turnCount,
      time: { ...turnTime, ms: turnTime.ms - (createTime.ms * turnTime.rowMs) / createTime.rowMs },
    },
    { what: "a second of an idle API", queries: idle[0] ?? new Map(), times: idleSeconds },
    { what: "a second of an idle worker", queries: idle[1] ?? new Map(), times: idleSeconds },
  ];
  if (isList) for (const cost of costs) list(cost);
  const text = render(costs);
  process.stdout.write(`${text}\n`);
  if (!isList) write(text);
}

/** Creates a job as the action does, and waits until it has ended. */
async function createAndWait(url: string): Promise<void> {
  let job = await send(url, "demo/job", { prompt: "Say more" });
  while (job.status === "active") job = await send(url, `demo/job/${job.id}`);
  if (job.status !== "completed") throw new Error(`a job is ${job.status}`);
}

async function send(url: string, path: string, body?: { prompt: string }): Promise<Job> {
  const response = await fetch(`${url}/v2/agent/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      ...(body === undefined ? { prefer: "wait=25" } : { "idempotency-key": `"bench.${randomUUID()}"` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`the service answered with ${response.status}`);
  return (await response.json()) as Job;
}

/** Inserts what everything else is compared with: rows in a table with one index, each in a transaction of its own. */
class RowInserter implements AsyncDisposable {
  readonly #client: Client;
  readonly #pid: number;

  private constructor(client: Client, pid: number) {
    this.#client = client;
    this.#pid = pid;
  }

  static async connect(url: string): Promise<RowInserter> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("CREATE TABLE public.bench (id uuid PRIMARY KEY, text text)");
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    return new RowInserter(client, rows[0]?.pid ?? 0);
  }

  /** CPU time of the server's process for this connection, in milliseconds. */
  get cpuMs(): number {
    return cpuTimeMs(this.#pid);
  }

  async insert(count: number): Promise<void> {
    const insert = "INSERT INTO public.bench VALUES ($1, $2)";
    for (let index = 0; index < count; index++) await this.#client.query(insert, [randomUUID(), "Say more"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

function total({ queries }: Cost): number {
  return queries.values().reduce((sum, count) => sum + count, 0);
}

function list(cost: Cost): void {
  process.stdout.write(`${cost.what}:\n`);
  const grouped = new Map<string, number>();
  for (const [text, count] of cost.queries) {
    const same = text.replace(/'[^']*'/g, "'…'");
    grouped.set(same, (grouped.get(same) ?? 0) + count);
  }
  for (const [text, count] of grouped)
    process.stdout.write(`  ${(count / cost.times).toFixed(2).padStart(6)}  ${text.slice(0, 170)}\n`);
}

function render(costs: readonly Cost[]): string {
  const rows = costs.map((cost) => {
    const { what, times, time } = cost;
    const shown = time === undefined ? "" : `${(time.ms / time.rowMs).toFixed(0)} rows (${time.ms.toFixed(1)} ms)`;
    return `| ${what} | ${(total(cost) / times).toFixed(1)} | ${shown} |`;
  });
  return `Measured on ${new Date().toISOString().slice(0, 10)} with Node.js ${process.version.slice(1)} and ${cpus().length} cores.

| what | queries | CPU time of Postgres |
| --- | --- | --- |
${rows.join("\n")}`;
}

function write(text: string): void {
  const page = `# What the service asks of Postgres

\`npm run bench:postgres\` writes this page, and with \`-- --list\` prints each query. Several statements that are sent together are one
query, and \`BEGIN\` and \`COMMIT\` count. The agent needs no time. CPU times are those of the server, given as the number of rows, in a table
with one index, that take as long to insert, each in a transaction of its own. On a machine with other work, CPU times differ by half from
one measurement to the next, and queries do not.

${text}
`;
  writeFileSync(resolve(import.meta.dirname, "postgres-results.md"), page);
}

if (values.help) process.stdout.write(help);
else await measure(values.list ?? false);
