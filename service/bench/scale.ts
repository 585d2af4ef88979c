import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { postgresCreates, sqliteCreates } from "./scale/creates.ts";
import { shellTurnsPerMinute } from "./scale/shell-turns.ts";
import { postgresShare, type StorageShare, sqliteShare } from "./scale/storage-share.ts";
import { type PostgresTurns, postgresTurns, sqliteTurnsPerMinute, type TurnsOptions } from "./scale/turns.ts";

const help = `Usage: npm run bench:scale

Measures several processes on one Postgres server against one process with SQLite and a shell script, all on this machine, and
writes service/bench/scale-results.md. Takes about ten minutes. Linux only.
`;

const { values } = parseArgs({ options: { help: { type: "boolean" } } });
if (values.help) process.stdout.write(help);
else {
  const text = render([...(await measureTurns()), ...(await measureStorage()), ...(await measureCreates())]);
  process.stdout.write(`${text}\n`);
  write(text);
}

interface Row {
  what: string;
  measured: string;
}

/** All are measured once in a round, so that they share how busy the machine is. */
async function measureTurns(): Promise<Row[]> {
  const workers = [1, 2, 4] as const;
  const rounds = 3;
  const change = "echo more >> README.md";
  const busy: TurnsOptions = { agent: change, turns: 40, agents: 2 };
  const [script, sqlite]: [number[], number[]] = [[], []];
  const postgres = new Map<number, PostgresTurns[]>(workers.map((count) => [count, []]));
  for (let round = 0; round < rounds; round++) {
    progress(`turns, round ${round + 1} of ${rounds}`);
    script.push(await shellTurnsPerMinute(change, busy.turns, busy.agents));
    sqlite.push(await sqliteTurnsPerMinute(busy));
    for (const [count, measured] of postgres) measured.push(await postgresTurns(count, busy));
  }
  const base = median(script);
  const row = (what: string, perMinute: number): Row => ({
    what: `turns a minute: ${what}`,
    measured: `${Math.round(perMinute)} (${(perMinute / base).toFixed(2)} of the script)`,
  });
  const rows = [
    {
      what: "turns a minute: a shell script with the same Git commands, two at a time",
      measured: `${Math.round(base)}`,
    },
    row("SQLite, one process with two agents that need no time", median(sqlite)),
    ...[...postgres].map(([count, measured]) =>
      row(`Postgres, ${plural(count)} with two agents each`, median(measured.map(({ perMinute }) => perMinute))),
    ),
  ];
  const all = [...postgres.values()].flat();
  return [
    ...rows,
    {
      what: "the database's share of the CPU time of these turns",
      measured: percent(median(all.map(({ databaseShare }) => databaseShare))),
    },
    {
      what: "most connections to the database that a worker used at a time",
      measured: String(Math.ceil(Math.max(...all.map(({ connections }) => connections)))),
    },
    ...(await measureWaitingAgents(workers)),
  ];
}

/** Most agents wait for a model, and leave the cores to others. */
async function measureWaitingAgents(workers: readonly number[]): Promise<Row[]> {
  const rows: Row[] = [];
  let single = 0;
  for (const count of workers) {
    progress(`agents that wait, ${plural(count)}`);
    const waiting = { agent: "sleep 10; echo more >> README.md", turns: 16 * count, agents: 4 };
    const { perMinute } = await postgresTurns(count, waiting);
    single ||= perMinute;
    rows.push({
      what: `turns a minute: Postgres, ${plural(count)} with four agents each that wait for 10 s`,
      measured: `${Math.round(perMinute)} (${(perMinute / single).toFixed(2)} of one worker)`,
    });
  }
  return rows;
}

async function measureStorage(): Promise<Row[]> {
  progress("the store's share of a turn");
  const row = (name: string, { storeMs, turnMs }: StorageShare): Row => ({
    what: `the store's share of the time of a turn whose agent needs no time, ${name}`,
    measured: `${percent(storeMs / turnMs)} (${Math.round(storeMs)} of ${Math.round(turnMs)} ms)`,
  });
  return [row("SQLite", await sqliteShare()), row("Postgres", await postgresShare())];
}

async function measureCreates(): Promise<Row[]> {
  progress("creates");
  const sqlite = await sqliteCreates();
  const [one, two] = [await postgresCreates(1), await postgresCreates(2)];
  const row = (what: string, perSecond: number): Row => ({
    what: `creates a second, 32 at a time: ${what}`,
    measured: `${Math.round(perSecond)} (${(perSecond / sqlite).toFixed(2)} of SQLite)`,
  });
  return [
    row("SQLite, one process", sqlite),
    row("Postgres, one API", one.perSecond),
    row("Postgres, two APIs", two.perSecond),
    { what: "the database's CPU time of a create", measured: `${one.databaseMs.toFixed(1)} ms` },
    {
      what: "most connections to the database that an API used at a time",
      measured: String(Math.ceil(one.connections)),
    },
  ];
}

function render(rows: readonly Row[]): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `Measured on ${new Date().toISOString().slice(0, 10)} with Node.js ${process.version.slice(1)}, ${cpus().length} cores and ${memory} GiB of memory, which
the processes, the database, Git and the clients share.

| what | measured |
| --- | --- |
${rows.map(({ what, measured }) => `| ${what} | ${measured} |`).join("\n")}`;
}

function write(text: string): void {
  const page = `# The service on several machines

\`npm run bench:scale\` writes this page. It measures processes on one machine, so compare only rows of the same group.

${text}
`;
  writeFileSync(resolve(import.meta.dirname, "scale-results.md"), page);
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function plural(workers: number): string {
  return workers === 1 ? "one worker" : `${workers} workers`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function median(all: readonly number[]): number {
  return all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0;
}
