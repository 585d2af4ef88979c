import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Costs } from "./capacity/costs.ts";
import { findLimits, type Limits, usesOf } from "./capacity/limits.ts";
import type { Measured } from "./capacity/reality.ts";
import { type Fleet, type Simulated, simulate } from "./capacity/simulate.ts";

const help = `Usage: npm run bench:capacity [-- --simulate]

Measures what operations of the service cost Postgres, and how much a fleet of workers without agents uses of a real server. Simulates
fleets of 1 to 1,000 workers with these costs, and says which limit comes first. Writes service/bench/capacity-measured.json and
capacity-results.md. Takes about five minutes. Linux only.

  --simulate   only simulates, with the costs in capacity-measured.json, and writes capacity-results.md
`;

interface Measurements {
  /** The date of the measurement, such as 2026-11-23. */
  on: string;
  costs: Costs;
  fleet: Fleet;
  reality: Measured;
}

/** The largest fleet that is simulated. */
const most = 4000;

const folder = import.meta.dirname;
const measuredFile = resolve(folder, "capacity-measured.json");

const { values } = parseArgs({ options: { help: { type: "boolean" }, simulate: { type: "boolean" } } });
if (values.help) process.stdout.write(help);
else {
  if (!values.simulate) writeFileSync(measuredFile, `${JSON.stringify(await measure(), undefined, 2)}\n`);
  const text = await render(JSON.parse(readFileSync(measuredFile, "utf8")) as Measurements);
  process.stdout.write(text);
  writeFileSync(resolve(folder, "capacity-results.md"), text);
}

/** Small enough for this machine, and with short agents, so that it has as many turns as a large one. */
async function measure(): Promise<Measurements> {
  const [{ measureCosts }, { runFleet }] = await Promise.all([
    import("./capacity/costs.ts"),
    import("./capacity/reality.ts"),
  ]);
  process.stderr.write("costs\n");
  const costs = await measureCosts();
  process.stderr.write("a fleet\n");
  const fleet: Fleet = { workers: 60, places: 4, agentSeconds: 40, busy: 0.75, logShare: 0.5, apis: 1, cores: 2 };
  return { on: new Date().toISOString().slice(0, 10), costs, fleet, reality: await runFleet(fleet) };
}

/** A fleet whose agents take ten minutes, on a Postgres server with four cores. */
function fleetOf(workers: number): Fleet {
  const apis = Math.max(2, Math.ceil(workers / 100));
  return { workers, places: 4, agentSeconds: 600, busy: 0.75, logShare: 0.5, apis, cores: 4 };
}

async function render({ on, costs, fleet, reality }: Measurements): Promise<string> {
  const likeReality = await simulate(costs, fleet);
  const cpuFactor = Math.max(1, reality.cores / likeReality.cores);
  const limits: Limits = {
    connections: 97,
    workerConnections: reality.workerConnections,
    apiConnections: 11,
    coreShare: 0.7,
    cpuFactor,
    gitHubRequests: 5000,
    gitHubRequestsPerTurn: 3,
  };
  const large = { ...limits, connections: 5000 };
  const rows: string[] = [];
  for (const workers of [1, 10, 100, 1000]) {
    const one = fleetOf(workers);
    const simulated = await simulate(costs, one);
    const direct = workers * limits.workerConnections + one.apis * limits.apiConnections;
    const reached = usesOf(simulated, one, costs, limits).filter(({ use }) => use >= 1);
    rows.push(
      row(
        workers.toLocaleString("en"),
        simulated.turnsPerMinute.toFixed(1),
        Math.round(simulated.queriesPerSecond).toLocaleString("en"),
        (simulated.cores * cpuFactor).toFixed(2),
        Math.ceil(direct).toLocaleString("en"),
        `${(workers + one.apis).toLocaleString("en")} + ${Math.ceil(simulated.busyConnections)}`,
        `${simulated.medianDelay.toFixed(2)} s, ${simulated.longestDelay.toFixed(2)} s`,
        simulated.asksPerTurn.toFixed(0),
        reached.map(({ name }) => name).join(", ") || "none",
      ),
    );
  }
  const order = async (some: Limits) => {
    const found = await findLimits(costs, some, fleetOf, most);
    return found.map(({ name, workers }) =>
      row(name, workers >= most ? `beyond ${most.toLocaleString("en")}` : `about ${workers.toLocaleString("en")}`),
    );
  };
  return `# How many workers one Postgres server carries

\`npm run bench:capacity\` writes this page: it measures what operations cost Postgres, and simulates fleets with these costs. The same
costs give the same tables.

Each worker has four places, of which three run a turn on average. An agent takes ten minutes on average, its log grows every other second,
and its client asks every 25 seconds. There is an API for each 100 workers, at least two. Postgres has four cores. The use
of cores is the simulated one times ${cpuFactor.toFixed(1)}, because [a real fleet](#how-far-the-simulation-is-off) used that much more.

| workers | turns a minute | queries a second | cores of Postgres | connections | with PgBouncer: direct + in use | delay of a turn with a free place: median, 99 % | asks in vain per turn | limits reached by default |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join("\n")}

## Which limit comes first

| limit, with Postgres's default of 100 connections | workers |
| --- | --- |
${(await order(limits)).join("\n")}

| limit, with 5,000 connections | workers |
| --- | --- |
${(await order(large)).join("\n")}

Postgres counts as full at 70 % of its cores, and GitHub at 5,000 requests an hour, of which a turn takes three.

## Costs

Measured on ${on}, on a machine with two cores.

| operation | CPU of Postgres | queries | time on loopback |
| --- | --- | --- | --- |
${costRows(costs).join("\n")}

A notification takes ${costs.deliveryMs.toFixed(4)} ms of CPU for each process that receives it, and opening a connection ${costs.connectMs.toFixed(1)} ms. An
idle connection has ${costs.connectionMb.toFixed(1)} MB of its own. From 16 connections, Postgres committed ${Math.round(costs.notifyingCommits).toLocaleString("en")} transactions with a notification a second.

## How far the simulation is off

${fleet.workers} workers without agents in one process, with four places and agents that take ${fleet.agentSeconds} seconds, on a real Postgres server
for a minute:

| | simulated | measured |
| --- | --- | --- |
${comparison(likeReality, reality).join("\n")}

The measured delay includes the time that workers wait for each other, because all run in one thread.
`;
}

function comparison(simulated: Simulated, measured: Measured): string[] {
  return [
    row("turns a minute", simulated.turnsPerMinute.toFixed(0), measured.turnsPerMinute.toFixed(0)),
    row("cores of Postgres", simulated.cores.toFixed(2), measured.cores.toFixed(2)),
    row("queries a second", simulated.queriesPerSecond.toFixed(0), measured.queriesPerSecond.toFixed(0)),
    row("asks in vain per turn", simulated.asksPerTurn.toFixed(1), measured.asksPerTurn.toFixed(1)),
    row("median delay of a turn", `${simulated.medianDelay.toFixed(2)} s`, `${measured.medianDelay.toFixed(2)} s`),
  ];
}

function costRows(costs: Costs): string[] {
  const { create, take, turn, ask, logChunk, renewal, poll, round, idleSecond } = costs;
  const named = { create, take, turn, ask, logChunk, renewal, poll, round, idleSecond };
  const words: Record<keyof typeof named, string> = {
    create: "storing a job",
    take: "taking a turn",
    turn: "the rest of a turn that pushes a change, with a home of 50 kB",
    ask: "asking for a turn when there is none",
    logChunk: "adding a line to a log",
    renewal: "renewing a lease",
    poll: "reading a job for its client",
    round: "a round of upkeep that another process does",
    idleSecond: "a second of an idle process",
  };
  return (Object.keys(named) as (keyof typeof named)[]).map((key) => {
    const { cpuMs, queries, wallMs } = named[key];
    return row(
      words[key],
      `${cpuMs.toFixed(2)} ms`,
      queries.toFixed(1),
      key === "idleSecond" ? "" : `${wallMs.toFixed(1)} ms`,
    );
  });
}

function row(...cells: string[]): string {
  return `| ${cells.join(" | ")} |`;
}
