import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { scratchFolder } from "../../bench/scratch.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { openSqliteStore } from "../src/store/sqlite/open-store.ts";
import type { Measurement } from "./measurement.ts";
import { send, startService } from "./service-process.ts";

const projects = Array.from({ length: 10 }, (_, index) => `measured-${index}`);
const creates = 800;

/** Measures the service's CPU time of a create, without and with many creates of other projects in the last hour. Linux only. */
export async function measure(): Promise<Measurement[]> {
  return [
    { what: "CPU time of a create", before: "1.4 ms", now: `${(await measureCreate(0)).toFixed(1)} ms` },
    {
      what: "CPU time of a create, 100,000 creates of other projects in the last hour",
      before: "8.7 ms",
      now: `${(await measureCreate(100_000)).toFixed(1)} ms`,
    },
  ];
}

/** Returns milliseconds. */
async function measureCreate(otherCreates: number): Promise<number> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  const file = join(scratch.path, "jobs.sqlite");
  await openSqliteStore(file)[Symbol.asyncDispose]();
  addCreates(file, otherCreates);
  const agent = ["--agent", "sleep 1000", "--sandbox", "none", "--agents", "1"];
  const options = projects.flatMap((project) => ["--project", project]);
  await using service = await startService(["--repository", docs.path, "--store", file, ...agent, ...options]);
  const create = async (index: number) => {
    const { status } = await send(service.url, `${projects[index % projects.length]}/job`, "Go on");
    if (status !== 201) throw new Error(`a create was answered with ${status}`);
  };
  // Starts the agent, and lets the compiler optimize.
  for (let index = 0; index < 200; index++) await create(index);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const before = cpuTimeMs(service.child.pid);
  for (let index = 0; index < creates; index++) await create(index);
  return (cpuTimeMs(service.child.pid) - before) / creates;
}

/** Returns the CPU time of a process, which the kernel counts in ticks of 10 ms. */
function cpuTimeMs(pid: number | undefined): number {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10;
}

/** Adds the creates of projects with 100 each. */
function addCreates(file: string, count: number): void {
  const db = new DatabaseSync(file);
  const now = Date.now();
  db.exec("BEGIN");
  const insertJob = db.prepare("INSERT INTO job (id, project, createdAt, state) VALUES (?, ?, ?, 'completed')");
  const insertTurn =
    db.prepare(`INSERT INTO turn (identity, job, project, prompt, state, caller, step, request, acceptedAs, acceptedAt)
    VALUES ('', ?, ?, 'Go on', 'completed', '', '', ?, 'create', ?)`);
  for (let index = 0; index < count; index++) {
    const project = `other-${index % (count / 100)}`;
    insertJob.run(`other-${index}`, project, now - index);
    insertTurn.run(`other-${index}`, project, index, now - index);
  }
  db.exec("COMMIT");
  db.close();
}
