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

const help = `Usage: npm run bench:postgres -- [--list]

Counts the messages that creates, turns and idle processes send to Postgres, measures what the server needs for them, and writes
service/bench/postgres-results.md. Takes about two minutes. Linux only.

  --list   also prints each message, and writes nothing
`;

const createCount = 50;
const turnCount = 40;
const rowCount = 1000;
const idleSeconds = 30;

const { values } = parseArgs({ options: { help: { type: "boolean" }, list: { type: "boolean" } } });
if (values.help) process.stdout.write(help);
else await measure(values.list ?? false);

/** What one thing asks of Postgres. */
interface Cost {
  what: string;
  /** How often each message was sent. */
  messages: ReadonlyMap<string, number>;
  /** How often the thing was done. */
  times: number;
  /** CPU time of the server for all of them, in milliseconds; `undefined` if it was not measured. */
  cpuMs: number | undefined;
}

async function measure(isList: boolean): Promise<void> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  await using postgres = await PostgresServer.start();
  await using apiProxy = await CountingProxy.start(postgres.url);
  await using workerProxy = await CountingProxy.start(postgres.url);
  const shared = ["--repository", docs.path, "--agent", "echo more >> README.md", "--sandbox", "none"];
  const start = (kind: string, proxy: CountingProxy, ...args: string[]) =>
    startProcess([
      ...[kind, "--store", proxy.url, "--folder", join(scratch.path, kind), ...shared, ...args],
      ...["--public-url", "https://agents.example.com"],
    ]);
  const cpu = () => cpuTimeMs(postgres.pid);
  const since = (before: number) => cpu() - before;
  await using api = await start("api", apiProxy);
  let before = cpu();
  await insertRows(postgres.url);
  const rowMs = since(before) / rowCount;

  let turnsMs: number;
  let turns: ReadonlyMap<string, number>;
  let idle: ReadonlyMap<string, number>[];
  {
    await using _worker = await start("worker", workerProxy, "--agents", "1");
    await createAndWait(api.url);
    workerProxy.take();
    before = cpu();
    for (let index = 0; index < turnCount; index++) await createAndWait(api.url);
    turnsMs = since(before);
    turns = workerProxy.take();
    apiProxy.take();
    await setTimeout(idleSeconds * 1000);
    idle = [apiProxy.take(), workerProxy.take()];
  }

  before = cpu();
  for (let index = 0; index < createCount; index++) await send(api.url, "demo/job", { prompt: "Say more" });
  const createsMs = since(before);
  const creates = apiProxy.take();

  const withoutCreates = turnsMs - (turnCount * createsMs) / createCount;
  const costs: Cost[] = [
    { what: "a create", messages: creates, times: createCount, cpuMs: createsMs },
    { what: "a turn that pushes a change", messages: turns, times: turnCount, cpuMs: withoutCreates },
    { what: "a second of an idle API", messages: idle[0] ?? new Map(), times: idleSeconds, cpuMs: undefined },
    { what: "a second of an idle worker", messages: idle[1] ?? new Map(), times: idleSeconds, cpuMs: undefined },
  ];
  if (isList) for (const cost of costs) list(cost);
  const text = render(costs, rowMs);
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

/** What everything else is compared with: a row in a table with one index, in a transaction of its own. */
async function insertRows(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("CREATE TABLE public.bench (id uuid PRIMARY KEY, text text)");
    for (let index = 0; index < rowCount; index++)
      await client.query("INSERT INTO public.bench VALUES ($1, $2)", [randomUUID(), "Say more"]);
  } finally {
    await client.end();
  }
}

function total({ messages }: Cost): number {
  return messages.values().reduce((sum, count) => sum + count, 0);
}

function list(cost: Cost): void {
  process.stdout.write(`${cost.what}:\n`);
  const grouped = new Map<string, number>();
  for (const [text, count] of cost.messages) {
    const same = text.replace(/'[^']*'/g, "'…'");
    grouped.set(same, (grouped.get(same) ?? 0) + count);
  }
  for (const [text, count] of grouped)
    process.stdout.write(`  ${(count / cost.times).toFixed(2).padStart(6)}  ${text.slice(0, 170)}\n`);
}

function render(costs: readonly Cost[], rowMs: number): string {
  const rows = costs.map((cost) => {
    const { what, times, cpuMs } = cost;
    const each = (cpuMs ?? 0) / times;
    const time = cpuMs === undefined ? "" : `${each.toFixed(1)} ms (${(each / rowMs).toFixed(0)} rows)`;
    return `| ${what} | ${(total(cost) / times).toFixed(1)} | ${time} |`;
  });
  return `Measured on ${new Date().toISOString().slice(0, 10)} with Node.js ${process.version.slice(1)} and ${cpus().length} cores. A row is inserted in ${rowMs.toFixed(2)} ms.

| what | messages to Postgres | CPU time of Postgres |
| --- | --- | --- |
${rows.join("\n")}`;
}

function write(text: string): void {
  const page = `# What the service asks of Postgres

\`npm run bench:postgres\` writes this page, and with \`-- --list\` prints each message. Several statements in one message are one
message, and \`BEGIN\` and \`COMMIT\` count. The agent needs no time. CPU times are those of the server, compared with an insert of one row
in a transaction of its own.

${text}
`;
  writeFileSync(resolve(import.meta.dirname, "postgres-results.md"), page);
}
