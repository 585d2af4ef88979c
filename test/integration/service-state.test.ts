import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Repository } from "../../src/service/git/repository.ts";
import { archiveJobs } from "../../src/service/jobs/archive.ts";
import { Store } from "../../src/service/jobs/store.ts";
import { doTurn } from "../../src/service/jobs/turn.ts";
import { OwnPullRequests } from "../../src/service/pulls/local.ts";
import type { Change, PullRequests } from "../../src/service/pulls/pull-requests.ts";
import type { DocsRepository } from "../../tools/docs-repository.ts";
import { ask, docsRepository, ended, runJob, scriptAgent, startWorking } from "../support/agent-service.ts";
import { temporaryFolder } from "../support/step.ts";

test("a hundred jobs of ten projects at once: all end, each with its own change, and the repository is sound", async () => {
  const docs = docsRepository();
  const projects = Array.from({ length: 10 }, (_, index) => `project-${index}`);
  const agent = scriptAgent('fs.writeFileSync("docs/" + prompt + ".md", prompt);');
  await using service = await startWorking(docs, { projects, agent });
  const started = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const project = projects[index % 10] ?? "";
      const { status, job } = await ask(service, `${project}/job`, `page-${index}`);
      expect(status).toBe(201);
      return { project, id: job.id, page: `page-${index}` };
    }),
  );
  const links = new Set<string>();
  for (const { project, id, page } of started) {
    const job = await ended(service, id, project);
    expect(job.status, readFileSync(join(service.folder, "logs", `${id}.log`), "utf8")).toBe("completed");
    links.add(job.prLink ?? "");
    expect(docs.git("diff", "--name-only", `main...agent/${id}`)).toBe(`docs/${page}.md`);
  }
  expect(links.size).toBe(100);
  expect(docs.branches()).toHaveLength(100);
  expect(docs.git("fsck", "--strict", "--no-dangling")).toBe("");
  const mirror = join(service.folder, "mirror.git");
  for (const folder of [docs.path, mirror])
    expect(readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".lock"))).toEqual(
      [],
    );
  expect(execFileSync("git", ["-C", mirror, "fsck", "--no-dangling"], { encoding: "utf8" })).toBe("");
  expect(readdirSync(join(service.folder, "runs"))).toEqual([]);
});

test("rejects the 101st create of an hour, also after a restart", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const earlier = Date.now() - 3_000_000;
  {
    using store = new Store(join(folder, "jobs.sqlite"));
    let now = earlier;
    const limiter = store.rateLimiter("create", 100, 3_600_000, () => now++);
    for (let use = 0; use < 98; use++) expect(limiter.acquire("docs")).toBe(0);
  }
  {
    await using service = await startWorking(docs, { folder, projects: ["docs", "other"] });
    expect((await ask(service, "docs/job", "99")).status).toBe(201);
  }
  await using service = await startWorking(docs, { folder, projects: ["docs", "other"] });
  expect((await ask(service, "docs/job", "100")).status).toBe(201);
  const rejected = await ask(service, "docs/job", "101");
  expect(rejected.status).toBe(429);
  const seconds = Number(rejected.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(600);
  expect((await ask(service, "other/job", "1")).status).toBe(201);
});

test("counts a use while it is in the window, to the millisecond", () => {
  using store = new Store(":memory:");
  let now = 0;
  const limiter = store.rateLimiter("message", 2, 1000, () => now);
  const acquireAt = (time: number, project = "docs") => {
    now = time;
    return limiter.acquire(project);
  };
  expect([acquireAt(0), acquireAt(400), acquireAt(999)]).toEqual([0, 0, 1]);
  expect(acquireAt(1000)).toBe(0);
  expect(acquireAt(1001)).toBe(399);
  expect(acquireAt(1001, "other")).toBe(0);
});

const neverDone: PullRequests = { open: async () => "", stateOf: async () => "open", done: async () => new Set() };

interface Bench {
  docs: DocsRepository;
  store: Store;
  repository: Repository;
  folder: string;
  runs: string;
}

/** All that a turn is done with, and an agent that counts its runs. */
async function bench(): Promise<Bench> {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const runs = join(temporaryFolder(), "runs");
  writeFileSync(runs, "");
  const repository = new Repository({ url: docs.path, folder });
  mkdirSync(folder, { recursive: true });
  await repository.open();
  return { docs, store: new Store(":memory:"), repository, folder, runs };
}

test("a turn that was interrupted between its push and its pull request is not done twice", async () => {
  const { docs, store, repository, folder, runs } = await bench();
  const agent = scriptAgent(
    `fs.appendFileSync(${JSON.stringify(runs)}, "run"); fs.appendFileSync("README.md", "more");`,
  );
  const opened: Change[] = [];
  let isDown = true;
  const pullRequests: PullRequests = {
    open: async (change) => {
      if (isDown) throw new Error("the platform is down");
      opened.push(change);
      return "https://example.com/pull/1";
    },
    stateOf: async () => "open",
    done: async () => new Set(),
  };
  const workshop = { store, repository, pullRequests, agent, folder, timeLimitMs: 60_000 };
  store.addJob({ id: "job_1", project: "docs", createdAt: 0 }, "Say more");
  const { signal } = new AbortController();
  const turn = () => {
    const begun = store.beginTurn();
    const job = store.job("job_1");
    if (!begun || !job) throw new Error("there is no turn");
    return doTurn(begun, job, workshop, signal);
  };
  expect(await turn()).toBe("failed");
  isDown = false;
  store.recover();
  expect(await turn()).toBe("completed");
  expect(readFileSync(runs, "utf8")).toBe("run");
  expect(opened).toMatchObject([{ title: "Say more", branch: "agent/job_1", target: "main" }]);
  expect(docs.git("rev-list", "--count", "main..agent/job_1")).toBe("1");
  expect(store.job("job_1")?.pullRequest).toBe("https://example.com/pull/1");
});

test("work that was done but not pushed when the service was killed is pushed by the next one, and not done again", async () => {
  const { docs, store, repository, folder, runs } = await bench();
  const agent = scriptAgent(
    `fs.appendFileSync(${JSON.stringify(runs)}, "run"); fs.appendFileSync("README.md", "more");`,
  );
  const pullRequests: PullRequests = { ...neverDone, open: async () => "https://example.com/pull/1" };
  const ports = { store, repository, pullRequests, agent, folder, timeLimitMs: 60_000 };
  store.addJob({ id: "job_1", project: "docs", createdAt: 0 }, "Say more");
  const hook = join(docs.path, "hooks/pre-receive");
  writeFileSync(hook, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const turn = () => {
    const begun = store.beginTurn();
    const job = store.job("job_1");
    if (!begun || !job) throw new Error("there is no turn");
    return doTurn(begun, job, ports, new AbortController().signal);
  };
  expect(await turn()).toBe("failed");
  writeFileSync(hook, "#!/bin/sh\nexit 0\n");
  store.recover();
  expect(await turn()).toBe("completed");
  expect(readFileSync(runs, "utf8")).toBe("run");
  expect(docs.git("rev-list", "--count", "main..agent/job_1")).toBe("1");
});

test("what Git cannot tell is not taken for a no: no pull request counts as closed by it", async () => {
  const { docs, store, repository, folder } = await bench();
  const head = docs.git("rev-parse", "main");
  const pull = { link: "http://127.0.0.1:1/pull/1", branch: "main", head };
  const pages = new OwnPullRequests(
    store,
    repository,
    "docs",
    () => "http://127.0.0.1:1",
    () => {},
  );
  expect(await repository.branchHead("main")).toBe(head);
  expect(await repository.branchHead("nowhere")).toBeUndefined();
  rmSync(join(folder, "mirror.git"), { recursive: true });
  await expect(repository.branchHead("main")).rejects.toThrow();
  await expect(repository.isMerged(head, "main")).rejects.toThrow();
  await expect(pages.done([pull])).rejects.toThrow();
  const stopped = AbortSignal.abort();
  const late = new Repository({ url: docs.path, folder, signal: stopped });
  await expect(late.branchHead("main")).rejects.toThrow();
});

test("an agent that was interrupted twice is not run again; a stop in good order does not count", async () => {
  const { store, repository, folder, runs } = await bench();
  const agent = scriptAgent(`fs.appendFileSync(${JSON.stringify(runs)}, "run");`);
  const workshop = { store, repository, pullRequests: neverDone, agent, folder, timeLimitMs: 60_000 };
  store.addJob({ id: "job_1", project: "docs", createdAt: 0 }, "Go on");
  const begin = () => {
    const turn = store.beginTurn();
    const job = store.job("job_1");
    if (!turn || !job) throw new Error("there is no turn");
    return { turn, job };
  };
  const first = begin();
  store.countAttempt(first.turn.id);
  store.putBack(first.turn);
  expect(begin().turn.attempts).toBe(0);
  for (let attempt = 1; attempt <= 2; attempt++) {
    store.countAttempt(first.turn.id);
    expect(store.recover()).toEqual(["job_1"]);
    expect(begin().turn.attempts).toBe(attempt);
  }
  store.recover();
  const { turn, job } = begin();
  expect(await doTurn(turn, job, workshop, new AbortController().signal)).toBe("failed");
  expect(readFileSync(runs, "utf8")).toBe("");
  expect(readFileSync(join(folder, "logs/job_1.log"), "utf8")).toContain("was interrupted 2 times");
});

const archiveOptions = { now: Date.UTC(2026, 0, 10), log: () => {} };

test("a job is archived when its branch is merged or gone, and a message takes it out of the archive", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  const agent = scriptAgent("fs.appendFileSync('README.md', prompt);");
  const links: (string | null)[] = [];
  const ids: string[] = [];
  {
    await using service = await startWorking(docs, { folder, agent });
    for (const prompt of ["merged", "deleted", "open"]) {
      const { id, prLink } = await runJob(service, prompt);
      ids.push(id);
      links.push(prLink);
    }
  }
  const [merged = "", deleted = "", open = ""] = ids;
  docs.merge(`agent/${merged}`);
  docs.git("branch", "-D", `agent/${deleted}`);
  await using service = await startWorking(docs, { folder, agent });
  while ((await ask(service, `docs/job/${deleted}`)).job.status !== "archived")
    await new Promise((resolve) => setTimeout(resolve, 20));
  const records = await Promise.all(ids.map(async (id) => (await ask(service, `docs/job/${id}`)).job));
  expect(records.map(({ status }) => status)).toEqual(["archived", "archived", "completed"]);
  expect(records.map(({ archivedAt }) => archivedAt !== null)).toEqual([true, true, false]);
  expect(records.map(({ prLink }) => prLink)).toEqual(links);
  const path = new URL(links[0] ?? "").pathname;
  expect(await (await fetch(service.url + path)).text()).toContain(">Merged<");

  expect((await ask(service, `docs/job/${merged}/message`, "more")).job).toMatchObject({
    status: "active",
    archivedAt: null,
  });
  const again = await ended(service, merged);
  expect(again.status).toBe("completed");
  expect(again.prLink).not.toBe(links[0]);
  expect(docs.git("rev-list", "--count", `main..agent/${merged}`)).toBe("1");
  expect((await ask(service, `docs/job/${open}`)).job.status).toBe("completed");
});

const dayMs = 86_400_000;

test("a job is archived once it has rested for long where that is set, but not while it is at work", async () => {
  using store = new Store(":memory:");
  for (const id of ["old", "new", "busy"]) store.addJob({ id, project: "docs", createdAt: 0 }, "Go on");
  for (let turn = store.beginTurn(); turn; turn = store.beginTurn()) {
    const days = { old: 8, new: 6 }[turn.job];
    if (days !== undefined) store.endTurn(turn.id, "failed", archiveOptions.now - days * dayMs);
  }
  await archiveJobs({ store, pullRequests: neverDone, ...archiveOptions });
  expect(store.job("old")?.archivedAt).toBeNull();
  await archiveJobs({ store, pullRequests: neverDone, afterDays: 7, ...archiveOptions });
  const archived = ["old", "new", "busy"].map((id) => store.job(id)?.archivedAt);
  expect(archived).toEqual([archiveOptions.now, null, null]);
});

/** A store with a job that rests with a pull request. */
function storeWithPull(): Store {
  const store = new Store(":memory:");
  store.addJob({ id: "one", project: "docs", createdAt: 0 }, "Go on");
  store.endTurn(store.beginTurn()?.id ?? 0, "completed", 0);
  store.setPullRequest("one", "https://example.com/pull/1", "abc");
  return store;
}

test("a platform that does not answer archives nothing", async () => {
  using store = storeWithPull();
  const lines: string[] = [];
  const done = () => Promise.reject(new Error("down"));
  await archiveJobs({ store, pullRequests: { ...neverDone, done }, now: 5, log: (line) => void lines.push(line) });
  expect(store.job("one")?.archivedAt).toBeNull();
  expect(lines).toEqual([expect.stringContaining("not known")]);
});

test("a job that gets a new pull request while the platform is asked is not archived", async () => {
  using store = storeWithPull();
  const done = async () => {
    store.addTurn("one", "More");
    store.endTurn(store.beginTurn()?.id ?? 0, "completed", 1);
    store.setPullRequest("one", "https://example.com/pull/2", "def");
    return new Set(["https://example.com/pull/1"]);
  };
  await archiveJobs({ store, pullRequests: { ...neverDone, done }, ...archiveOptions });
  expect(store.job("one")?.archivedAt).toBeNull();
});
