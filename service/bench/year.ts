import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { scratchFolder } from "../../bench/scratch.ts";
import { createApi } from "../src/api/jobs-endpoints.ts";
import { createOperations } from "../src/api/operations.ts";
import { singleKey } from "../src/http/authentication.ts";
import { dispatch } from "../src/http/dispatch.ts";
import { listen } from "../src/http/listen.ts";
import { Jobs } from "../src/jobs/jobs.ts";
import { thisMachine } from "../src/machine.ts";
import { PrometheusMetrics } from "../src/metrics/prometheus.ts";
import { Pages } from "../src/pages/pages.ts";
import { PerProject } from "../src/per-project.ts";
import { JobDirectory, jobLogFile } from "../src/service-folder.ts";
import { LogFiles } from "../src/store/log-files.ts";
import { openSqliteStore } from "../src/store/sqlite/open-store.ts";
import { Archiver } from "../src/upkeep/archiver.ts";
import { Retention } from "../src/upkeep/retention.ts";

const help = `Usage: npm run bench:year [-- --jobs N --days N]

Lives through a year of the service in some minutes: N jobs (default: 100,000), evenly over N days (default: 365), are created over
HTTP, run without an agent, archived after 14 days and deleted after 30. Prints ten samples, which should be alike from the
second one on: memory, times of a poll, of the pages and of a round, and the size of the store.
`;

const { values } = parseArgs({
  options: {
    jobs: { type: "string", default: "100000" },
    days: { type: "string", default: "365" },
    help: { type: "boolean" },
  },
});
if (values.help) process.stdout.write(help);
else await live(Number(values.jobs), Number(values.days));

async function live(count: number, days: number): Promise<void> {
  const key = "mint_year";
  const dayMs = 86_400_000;
  const projects = ["docs", "site", "guides"];
  using scratch = scratchFolder();
  const file = join(scratch.path, "jobs.sqlite");
  const folder = join(scratch.path, "files");
  await using store = openSqliteStore(file);
  /** Milliseconds since 1970. */
  let now = Date.UTC(2026, 0, 1);
  const machine = { ...thisMachine, wallTime: () => now, now: () => now };
  const shown = { repositoryName: "https://example.com/docs", model: "large" };
  const jobs = new Jobs({ store, projects: PerProject.same(shown), machine });
  const authenticator = singleKey(key, projects);
  const api = createApi({ engine: jobs, authenticator });
  const { signal } = new AbortController();
  // No page of a pull request is read, which alone needs a clone.
  const repository = {
    latestCommits: async () => [],
    diff: async () => "",
    lastCommitOf: async () => undefined,
    packCommit: async () => Buffer.of(),
    changedFiles: async () => [],
  };
  const sources = PerProject.same({ ...shown, repository, stateOf: async () => "open" as const });
  let url = "";
  const pages = new Pages({
    store,
    engine: jobs,
    projects: sources,
    logs: new LogFiles(folder),
    authenticator,
    baseUrl: () => url,
    basePath: "",
    log: console.error,
  });
  const metrics = new PrometheusMetrics();
  const operations = createOperations({
    store,
    folder,
    limits: async () => undefined,
    authenticator,
    projects,
    metrics,
  });
  const endpoints = { ...operations, ...pages.endpoints, ...api.endpoints };
  await using service = await listen(dispatch({ endpoints, notFound: api.notFound, log: console.error }));
  url = service.url;
  const pullRequests = {
    open: async () => "",
    read: async () => ({ state: "open" as const, target: undefined }),
    findClosed: async () => new Set<string>(),
  };
  const ports = { store, signal, log: () => {} };
  const archiver = new Archiver({ ...ports, pullRequests: PerProject.same(pullRequests), afterDays: 14 });
  const retention = new Retention({ ...ports, folder, forgetJobs: async () => {}, afterDays: 30 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  let lastJob = "";

  async function runJob(number: number): Promise<void> {
    const project = projects[number % projects.length] ?? "";
    const body = JSON.stringify({ prompt: `Refresh the page ${number}. ${"Say what has changed. ".repeat(20)}` });
    const url = `${service.url}/v2/agent/${project}/job`;
    const response = await fetch(url, { method: "POST", headers, body });
    if (response.status !== 201) throw new Error(`a create was answered with ${response.status}`);
    lastJob = `${project}/job/${((await response.json()) as { id: string }).id}`;
    const turn = await store.runningTurns.startNext(undefined, now);
    if (turn === undefined) throw new Error("no turn is ready");
    await store.runningTurns.countAttempt(turn);
    mkdirSync(new JobDirectory(folder, turn.job).home, { recursive: true });
    const log = jobLogFile(folder, turn.job);
    mkdirSync(dirname(log), { recursive: true });
    writeFileSync(log, "| working\n".repeat(100));
    await store.runningTurns.setReport(turn, { answer: "Refreshed" });
    await store.runningTurns.setPullRequest(turn, `https://github.com/acme/docs/pull/${number}`, "2".repeat(40));
    now += 60_000;
    await store.runningTurns.finish(turn, number % 20 === 0 ? "failed" : "completed", now);
  }

  async function timed(work: () => Promise<unknown>): Promise<number> {
    const times: number[] = [];
    for (let run = 0; run < 5; run++) {
      const start = performance.now();
      await work();
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[2] ?? 0;
  }

  const link = await pages.createSignInLink("/", await authenticator.authenticate(key));
  const cookie = (await fetch(link, { redirect: "manual" })).headers.get("set-cookie")?.split(";")[0] ?? "";
  const page = async (path: string) => {
    const response = await fetch(service.url + path, { headers: { cookie } });
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`);
    await response.text();
  };
  const poll = async () => (await fetch(`${service.url}/v2/agent/${lastJob}`, { headers })).text();
  process.stdout.write(
    "| jobs so far | in the store | memory | store file | poll | list of jobs | failed jobs | job | metrics | round | longest block |\n",
  );
  process.stdout.write(`|${" --- |".repeat(11)}\n`);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const perDay = Math.ceil(count / days);
  const sample = async (done: number): Promise<void> => {
    globalThis.gc?.();
    const megabytes = Math.round(process.memoryUsage().rss / 1e6);
    const cells = [
      done.toLocaleString("en"),
      (await store.counts.total()).jobs.toLocaleString("en"),
      `${megabytes} MB`,
      `${Math.round(statSync(file).size / 1e6)} MB`,
      `${(await timed(poll)).toFixed(1)} ms`,
      `${(await timed(() => page("/"))).toFixed(1)} ms`,
      `${(await timed(() => page("/?state=failed&project=docs"))).toFixed(1)} ms`,
      `${(await timed(() => page(`/job/${lastJob.split("/").at(-1)}`))).toFixed(1)} ms`,
      `${(await timed(() => page("/metrics"))).toFixed(1)} ms`,
      `${(await timed(round)).toFixed(0)} ms`,
      `${Math.round(delay.max / 1e6)} ms`,
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
    delay.reset();
  };
  const round = async () => {
    await archiver.run(now);
    await retention.run(now);
  };
  const start = now;
  for (let done = 0, samples = 0; done < count; ) {
    const day = Math.floor(done / perDay);
    now = Math.max(now, start + day * dayMs + Math.floor(((done % perDay) * dayMs) / perDay));
    await runJob(done++);
    if (done % perDay === 0) await round();
    if (done >= ((samples + 1) * count) / 10) {
      await sample(done);
      samples++;
    }
  }
}
