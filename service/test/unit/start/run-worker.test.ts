import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { builtInEditor, shellAgent } from "../../../src/agents/agent.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { PerProject } from "../../../src/per-project.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import { jobLogFile, logsFolder, unknownFolder } from "../../../src/service-folder.ts";
import { AwayRepositories } from "../../../src/start/away-repositories.ts";
import type { Backend, ProjectBackend } from "../../../src/start/backend.ts";
import { checkAgent, type ProjectAgents, runWorker, type WorkerOptions } from "../../../src/start/run-worker.ts";
import { JobCopier } from "../../../src/store/job-copier.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { dayMs } from "../../../src/time.ts";
import { MemoryCopies } from "../../support/memory-copies.ts";

/** A repository in which no turn can begin. */
class FakeRepository extends GitRepository {
  override async findStart(): Promise<never> {
    throw new Error("no route");
  }
  override async lastCommitOf(): Promise<undefined> {}
  override async packIfNeeded(): Promise<boolean> {
    return false;
  }
  override async jobIds(): Promise<string[]> {
    return [];
  }
  readonly forgotten: string[] = [];
  override async forgetJobs(ids: readonly string[]): Promise<void> {
    this.forgotten.push(...ids);
  }
}

/** Returns a project's part of a repository with its name. */
function projectBackend(name: string, store: Store, folder: string): ProjectBackend & { repository: FakeRepository } {
  const repository = new FakeRepository({ url: "/nowhere", folder });
  const { signal } = new AbortController();
  return {
    identity: name,
    cloneFolder: folder,
    repository,
    repositoryName: name,
    targetBranch: undefined,
    pullRequests: {
      open: async () => "",
      read: async () => ({ state: "open", target: undefined }),
      findClosed: async () => new Set(),
      obsoleteFrom: async () => undefined,
    },
    localPullRequests: new LocalPullRequests({
      store: store.pullRequests,
      repository,
      baseUrl: () => "",
      signal,
      log: () => {},
    }),
  };
}

/** @param names - each project's. Default: there is one repository for all */
async function setUp(
  options: Partial<WorkerOptions & ProjectAgents> = {},
  prepare: (store: Store, folder: string) => unknown = () => {},
  names?: readonly string[],
) {
  const folder = temporaryFolder();
  const store = openSqliteStore(":memory:");
  const perProject = <T>(create: (name: string) => T): PerProject<T> =>
    names === undefined
      ? PerProject.same(create("docs"))
      : PerProject.of(new Map(names.map((name) => [name, create(name)])));
  const projects = perProject((name) => projectBackend(name, store, join(folder, names === undefined ? "" : name)));
  const away = new AwayRepositories({ repositories: new Map(), signal: AbortSignal.abort(), log: () => {} });
  const backend: Backend = { store, projects, away, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
  const log: string[] = [];
  const stop = new AbortController();
  await prepare(store, folder);
  const worker = await runWorker(backend, {
    settings: perProject(() => ({
      agent: builtInEditor,
      sandbox: unconfined,
      timeLimitMs: 1000,
      largestChangeBytes: 1000,
      ...options,
    })),
    folder,
    agents: 1,
    signal: stop.signal,
    log: (line) => void log.push(line),
    ...options,
  });
  onTestFinished(async () => {
    stop.abort();
    await worker[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  return { folder, store, worker, log, stop, projects };
}

/** Creates what an earlier service left of a job. */
function leave(folder: string, job: string): string {
  const path = join(folder, "jobs", job);
  mkdirSync(join(path, "tree"), { recursive: true });
  writeFileSync(join(path, "index"), "");
  return path;
}

const addIdleJob = async (store: Store, id: string): Promise<void> => {
  await store.jobs.add({ id, project: "docs", createdAt: Date.now() }, "Go on");
  const turn = await store.runningTurns.startNext();
  if (turn) await store.runningTurns.finish(turn, "completed", Date.now());
};

describe("an agent", () => {
  test("must not read files of the service, nor folders with them", () => {
    const folder = temporaryFolder();
    const link = join(temporaryFolder(), "link");
    symlinkSync(folder, link);
    // The store need not exist yet.
    const files = [join(folder, "own"), join(folder, "own/jobs.sqlite")];
    mkdirSync(join(folder, "own"));
    for (const path of [join(folder, "own"), folder, dirname(folder), "/", link])
      expect(() => checkAgent({ ...builtInEditor, reads: ["/nowhere", path] }, files)).toThrow(
        `agents cannot be allowed to read ${path}: it has files of the service`,
      );
  });

  test("may read other files, also those whose path begins like the service's", () => {
    const folder = temporaryFolder();
    for (const name of ["own", "ow", "other", "own/within"]) mkdirSync(join(folder, name));
    const reads = ["ow", "other", "own/within", "missing"].map((name) => join(folder, name));
    expect(() => checkAgent({ ...builtInEditor, reads }, [join(folder, "own")])).not.toThrow();
  });

  test("must be installed", () => {
    expect(() => checkAgent(shellAgent("no-such-agent"), [])).toThrow("the agent no-such-agent was not found in PATH");
  });
});

test("a worker runs turns until it is finished, and then no more", async () => {
  const { worker, store, log } = await setUp();
  await store.jobs.add({ id: "a", project: "docs", createdAt: 5 }, "Go on");
  await vi.waitFor(async () => expect((await store.jobs.find("a"))?.state).toBe("failed"), { timeout: 10_000 });
  expect(log).toContain("a: turn 1 failed: no route");
  await worker.finish();
  await store.jobs.add({ id: "b", project: "docs", createdAt: 5 }, "Go on");
  expect((await store.jobs.find("b"))?.state).toBe("active");
});

test("a worker removes what it has of jobs that the store does not have a week after that was first seen", async () => {
  let gone = "";
  let kept = "";
  let recent = "";
  const { folder, log } = await setUp({}, async (store, folder) => {
    await addIdleJob(store, "a");
    [kept, gone, recent] = [leave(folder, "a"), leave(folder, "gone"), leave(folder, "recent")];
    for (const path of [logsFolder(folder), unknownFolder(folder)]) mkdirSync(path, { recursive: true });
    writeFileSync(jobLogFile(folder, "gone"), "| Done\n");
    writeFileSync(join(unknownFolder(folder), "gone"), String(Date.now() - 8 * dayMs));
  });
  const removed = "Removed what this machine had of jobs that are not in the store: 1.";
  await vi.waitFor(() => expect(log).toContain(removed), { timeout: 10_000 });
  const paths = [gone, jobLogFile(folder, "gone"), join(kept, "tree"), recent];
  expect(paths.map((path) => existsSync(path))).toEqual([false, false, true, true]);
});

test("a worker with a new store removes no directories", async () => {
  let path = "";
  const { log } = await setUp({}, (_store, folder) => {
    path = leave(folder, "a");
    // Not a worktree to continue with, so that its removal shows when the directory was looked at.
    rmSync(join(path, "index"));
  });
  await vi.waitFor(() => expect(existsSync(join(path, "tree"))).toBe(false), { timeout: 10_000 });
  expect(existsSync(path)).toBe(true);
  expect(log).toEqual(["Jobs in the store: 0. Waiting turns: 0, interrupted earlier: 0."]);
});

test.each([
  ["is told so", { keptWorktrees: 0 }],
  ["its agents could change them", { agent: { ...builtInEditor, isTrusted: false } }],
])("a worker keeps no worktrees if %s", async (_, options) => {
  let path = "";
  await setUp(options, async (store, folder) => {
    await addIdleJob(store, "a");
    path = leave(folder, "a");
  });
  await vi.waitFor(() => expect(existsSync(join(path, "tree"))).toBe(false), { timeout: 10_000 });
});

test("a worker keeps worktrees in a sandbox, and removes those of jobs that are archived", async () => {
  const paths: string[] = [];
  await setUp(
    { agent: { ...builtInEditor, isTrusted: false }, sandbox: { ...unconfined, isConfining: true } },
    async (store, folder) => {
      for (const id of ["a", "archived"]) {
        await addIdleJob(store, id);
        paths.push(join(leave(folder, id), "tree"));
        if (id === "a") continue;
        await store.idleJobs.archiveOldest(Date.now() + 1000, Date.now(), 10);
      }
      await store.turns.add("a", "Go on", Date.now());
      const turn = await store.runningTurns.startNext();
      if (turn) await store.runningTurns.finish(turn, "completed", Date.now());
    },
  );
  await vi.waitFor(() => expect(paths.map((path) => existsSync(path))).toEqual([true, false]), { timeout: 10_000 });
});

test("a worker says if it cannot reuse the worktrees that an earlier service left", async () => {
  const { folder, log } = await setUp({}, async (store, folder) => {
    await addIdleJob(store, "a");
    leave(folder, "a");
    store.jobs.find = () => Promise.reject(new Error("no such table"));
  });
  const line = `Cannot reuse the worktrees that an earlier service left in ${folder}: no such table`;
  await vi.waitFor(() => expect(log).toContain(line), { timeout: 10_000 });
});

describe("a worker with several repositories", () => {
  test("removes the commits of deleted jobs from all clones", async () => {
    const { projects } = await setUp(
      {},
      async (store) => {
        await addIdleJob(store, "a");
        await store.idleJobs.deleteOldest(Date.now() + 1000, 10);
      },
      ["docs", "site"],
    );
    const forgotten = () => projects.values.map(({ repository }) => repository.forgotten);
    await vi.waitFor(() => expect(forgotten()).toEqual([["a"], ["a"]]), { timeout: 10_000 });
  });

  test("keeps as many worktrees as it may of each, and leaves those of other projects where they are", async () => {
    const paths: string[] = [];
    const { log } = await setUp(
      { keptWorktrees: 1 },
      async (store, folder) => {
        for (const [id, project] of Object.entries({ docs_1: "docs", docs_2: "docs", site: "site", gone: "gone" })) {
          await store.jobs.add({ id, project, createdAt: 5 }, "Go on");
          const turn = await store.runningTurns.startNext();
          if (turn) await store.runningTurns.finish(turn, "completed", 6);
          const path = leave(folder, id);
          // Later ones were used later.
          utimesSync(join(path, "index"), 1_000_000 + paths.length, 1_000_000 + paths.length);
          paths.push(join(path, "tree"));
        }
        await store.turns.add("gone", "More", 7);
      },
      ["docs", "site"],
    );
    const isKept = () => paths.map((path) => existsSync(path));
    await vi.waitFor(() => expect(isKept()).toEqual([false, true, true, true]), { timeout: 10_000 });
    expect(log).toContain("Turns of projects that are not in --config wait: gone (1 turn)");
  });
});

test.each([
  ["each round has a lock of its own, whose name other processes on the store know", false, ["BranchCleaner"]],
  ["branches are not cleaned by a store whose jobs others may run, too", true, []],
])("%s", async (_, hasCopies, cleaners) => {
  const names: string[] = [];
  const copier = hasCopies
    ? new JobCopier({
        copies: new MemoryCopies(temporaryFolder()),
        store: openSqliteStore(":memory:"),
        folder: temporaryFolder(),
        log: () => {},
      })
    : undefined;
  await setUp({ copier }, (store) => {
    store.exclusively = async (name, work) => {
      names.push(name);
      await work();
      return true;
    };
  });
  await vi.waitFor(() => expect(names).toEqual(["Archiver", ...cleaners, "Retention"]));
});
