import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { scratchFolder } from "../../bench/scratch.ts";
import { DocsRepository } from "../../tools/docs-repository.ts";
import { PerProject } from "../src/per-project.ts";
import type { PullRequests } from "../src/pulls/pull-requests.ts";
import { openSqliteStore } from "../src/store/sqlite/open-store.ts";
import { Archiver } from "../src/upkeep/archiver.ts";
import { Retention } from "../src/upkeep/retention.ts";
import type { Measurement } from "./measurement.ts";
import { startService } from "./service-process.ts";

const jobs = 100_000;
const dayMs = 86_400_000;

/** Measures a store with 100,000 jobs that are a year old: starting on it, and its rounds. */
export async function measure(): Promise<Measurement[]> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  const [empty, full] = [join(scratch.path, "empty.sqlite"), join(scratch.path, "full.sqlite")];
  for (const file of [empty, full]) await openSqliteStore(file)[Symbol.asyncDispose]();
  const now = Date.now();
  addJobs(full, now - 365 * dayMs);
  const onEmpty = await measureStart(docs.path, empty);
  const onFull = await measureStart(docs.path, full);

  await using store = openSqliteStore(full);
  const signal = new AbortController().signal;
  const closed = new Set<string>();
  const pullRequests: PullRequests = {
    open: async () => "",
    read: async () => ({ state: "open", target: undefined }),
    findClosed: async () => closed,
  };
  const ports = { store, pullRequests: PerProject.same(pullRequests), signal, log: () => {} };
  const idleRound = await measureRound(() => new Archiver(ports).run(now));
  const archiveRound = await measureRound(() => new Archiver({ ...ports, afterDays: 30 }).run(now));
  const folder = join(scratch.path, "files");
  await mkdir(folder);
  const retention = new Retention({ ...ports, folder, forgetJobs: async () => {}, afterDays: 364.95 });
  const deletionRound = await measureRound(() => retention.run(now));
  const deleted = jobs - (await store.counts.total()).jobs;
  return [
    { what: "start on 100,000 jobs (on none)", before: "3 s", now: `${seconds(onFull.ms)} (${seconds(onEmpty.ms)})` },
    {
      what: "memory after the start on 100,000 jobs (on none)",
      before: "255 MB",
      now: `${onFull.megabytes} MB (${onEmpty.megabytes} MB)`,
    },
    { what: "longest block by a round that archives none of 100,000 jobs", before: "2 s", now: `${idleRound} ms` },
    { what: "longest block by a round that archives 100,000 jobs", before: "", now: `${archiveRound} ms` },
    {
      what: `longest block by a round that deletes ${deleted.toLocaleString("en")} jobs`,
      before: "",
      now: `${deletionRound} ms`,
    },
  ];
}

/** Adds completed jobs, a tenth of them with a pull request, whose turns ended within a day. */
function addJobs(file: string, since: number): void {
  const db = new DatabaseSync(file);
  db.exec("BEGIN");
  const job = db.prepare(
    "INSERT INTO job (id, project, createdAt, state, idleSince, pullRequest, head) VALUES (?, 'demo', ?, 'completed', ?, ?, ?)",
  );
  const turn = db.prepare(
    `INSERT INTO turn (identity, job, prompt, state, attempts, endedAt, project, caller, step, request)
      VALUES ('', ?, ?, 'completed', 1, ?, 'demo', '', '', ?)`,
  );
  const prompt = "Describe the command that starts the service. ".repeat(5);
  for (let index = 0; index < jobs; index++) {
    const id = `job_${index}`;
    const at = since + Math.floor((index / jobs) * dayMs);
    const hasPullRequest = index % 10 === 0;
    job.run(id, at, at, hasPullRequest ? `https://example.com/pull/${index}` : null, hasPullRequest ? "abc" : null);
    turn.run(id, prompt, at, id);
  }
  db.exec("COMMIT");
  db.close();
}

async function measureStart(repository: string, store: string): Promise<{ ms: number; megabytes: number }> {
  const startedAt = performance.now();
  await using service = await startService(["--repository", repository, "--store", store]);
  const ms = performance.now() - startedAt;
  // Its rounds begin at the start.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return { ms, megabytes: Math.round(service.memoryKib() / 1000) };
}

/** Returns the longest time that the event loop was blocked, in milliseconds. */
async function measureRound(run: () => Promise<void>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.reset();
  await run();
  delay.disable();
  return Math.round(delay.max / 1e6);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
