import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { RunningTurn } from "../../../src/model.ts";
import { JobDirectory } from "../../../src/service-folder.ts";
import { importStore } from "../../../src/store/postgres/import-store.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { markHome } from "../../../src/store/shared-homes.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { patient, postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

const ignore = (): void => {};

/** Creates a SQLite store. Returns its file, which no service has open. */
async function createFile(fill: (store: Store) => Promise<void>): Promise<string> {
  const file = join(temporaryFolder(), "jobs.sqlite");
  await using store = openSqliteStore(file);
  await fill(store);
  return file;
}

async function openPostgres(url: string): Promise<Store> {
  const store = await openPostgresStore({ url, log: ignore, times: patient });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

async function startNext(store: Store): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

/** Adds a job, and takes its turn. */
async function startJob(store: Store, id: string, project = "docs"): Promise<RunningTurn> {
  await store.jobs.add({ id, project, createdAt: 5_000_000, model: "large", base: "release" }, "One");
  return startNext(store);
}

const pullRequest = { title: "Fix", branch: "agent/a", target: "main", base: "000", head: "111" };

const key = { caller: "ci", step: "deploy", request: "1" };

test("a store is copied with all that it has, and goes on in Postgres", async () => {
  const file = await createFile(async (store) => {
    await store.repositories.setMain("docs");
    await store.repositories.setOfProjects(new Map([["docs", "docs"]]));
    const ended = await startJob(store, "ended");
    await store.runningTurns.countAttempt(ended);
    await store.runningTurns.setReport(ended, { answer: "Done ✓" });
    await store.pullRequests.add({ job: "ended", ...pullRequest });
    await store.runningTurns.setPullRequest(ended, "https://example.com/pull/1", "111");
    await store.runningTurns.finish(ended, "completed", 6_000_000);
    await store.idleJobs.archiveOldest(6_000_000, 7_000_000, 1);
    await startJob(store, "running");
    await store.turns.add("running", "Two", 5_000_000, undefined, key);
    await store.jobs.add({ id: "waiting", project: "blog", createdAt: 5_000_000 }, "Three");
  });
  const before = readFileSync(file);
  const url = await server().createDatabase();
  expect(await importStore(file, { url, log: ignore }, markHome)).toEqual({
    jobs: 3,
    turns: 4,
    pullRequests: 1,
    unpushed: 0,
  });
  expect(readFileSync(file).equals(before)).toBe(true);

  const store = await openPostgres(url);
  expect(await store.turns.add("running", "Two", 5_000_000, undefined, key)).toMatchObject({
    replayed: { id: "running" },
  });
  expect(await store.repositories.main()).toBe("docs");
  expect(await store.repositories.ofProjects()).toEqual(new Map([["docs", "docs"]]));
  expect(await store.jobs.find("ended")).toEqual({
    id: "ended",
    project: "docs",
    createdAt: 5_000_000,
    branch: "agent/ended",
    base: "release",
    session: null,
    state: "completed",
    idleSince: 6_000_000,
    kept: null,
    archivedAt: 7_000_000,
    pullRequest: "https://example.com/pull/1",
    head: "111",
    branchDueAt: 7_000_000,
    model: "large",
  });
  expect((await store.jobs.copy("ended"))?.turns).toMatchObject([
    {
      id: 1,
      identity: expect.stringMatching(/^[0-9a-f]{32}$/),
      prompt: "One",
      state: "completed",
      attempts: 1,
      endedAt: 6_000_000,
      answer: "Done ✓",
    },
  ]);
  expect(await store.jobs.find("running")).toMatchObject({ state: "active", idleSince: null });
  expect((await store.turns.ofJob("running")).map(({ state }) => state)).toEqual(["waiting", "waiting"]);
  expect(await store.pullRequests.find(1)).toEqual({ number: 1, job: "ended", ...pullRequest });

  const [first, second] = [await startNext(store), await startNext(store)];
  expect([first, second]).toMatchObject([
    { id: 2, job: "running", prompt: "One" },
    { id: 4, job: "waiting", prompt: "Three" },
  ]);
  expect(await store.runningTurns.startNext()).toBeUndefined();
  await store.runningTurns.finish(first, "completed", 8_000_000);
  expect(await startNext(store)).toMatchObject({ id: 3, prompt: "Two" });
  expect(await store.turns.add("ended", "Four", 8_000_000)).toBe(true);
  expect((await startNext(store)).id).toBeGreaterThan(4);
  expect(await store.pullRequests.add({ job: "running", ...pullRequest })).toBe(2);
});

test("how turns went is copied, and a turn that somebody has asked to stop is not run after all", async () => {
  const file = await createFile(async (store) => {
    await store.jobs.add({ id: "failed", project: "docs", createdAt: 5_000_000 }, "One");
    const failed = await store.runningTurns.startNext(undefined, 5_500_000);
    if (failed === undefined) throw new Error("no turn is ready");
    await store.runningTurns.finish(failed, "failed", 6_000_000, { reason: "The agent failed.", kept: "push" });
    const { id } = await startJob(store, "stopping");
    expect(await store.turns.stop("stopping", id, 7_000_000, "Stopped by an operator (alice).")).toBe(true);
  });
  const url = await server().createStoreDatabase();
  await importStore(file, { url, log: ignore }, markHome);
  const store = await openPostgres(url);
  const ended = {
    state: "failed",
    startedAt: 5_500_000,
    endedAt: 6_000_000,
    reason: "The agent failed.",
    kept: "push",
  };
  expect(await store.turns.ofJob("failed")).toMatchObject([ended]);
  expect(await store.runningTurns.stopRequest(await startNext(store))).toBe("Stopped by an operator (alice).");
});

test("the jobs are counted whose commits are not pushed, which stay with the file's service", async () => {
  const file = await createFile(async (store) => {
    for (const kept of ["push", "unfinished", "pull-request", undefined] as const) {
      const turn = await startJob(store, `failed ${kept}`);
      await store.runningTurns.finish(turn, "failed", 6_000_000, { reason: "It failed.", kept });
    }
    const made = await startJob(store, "made");
    await store.runningTurns.countAttempt(made);
    await store.runningTurns.setMade(made, 1, { commit: "c1" });
    await store.runningTurns.countAttempt(await startJob(store, "begun"));
    await store.turns.add("failed push", "Once more", 7_000_000);
    await store.turns.add("failed undefined", "Once more", 7_000_000);
  });
  const url = await server().createStoreDatabase();
  expect(await importStore(file, { url, log: ignore }, markHome)).toMatchObject({ jobs: 6, unpushed: 3 });
});

test("the creates of the last hour count in Postgres, too", async () => {
  const at = Date.now();
  const file = await createFile(async (store) => {
    for (let use = 0; use < 100; use++)
      await store.jobs.add({ id: `job_${use}`, project: "docs", createdAt: 5_000_000 }, "One", at);
  });
  const url = await server().createStoreDatabase();
  await importStore(file, { url, log: ignore }, markHome);
  const store = await openPostgres(url);
  expect(await store.jobs.add({ id: "more", project: "docs", createdAt: 5_000_000 }, "One")).toEqual({
    retryAfterMs: expect.any(Number),
  });
  expect(await store.jobs.add({ id: "other", project: "blog", createdAt: 5_000_000 }, "One")).toBeUndefined();
});

test("a store without jobs replaces only the name of the repository, and the first pull request is number 1", async () => {
  const file = await createFile((store) => store.repositories.setMain("docs"));
  const url = await server().createStoreDatabase();
  const store = await openPostgres(url);
  await store.repositories.setMain("blog");
  await store.repositories.setOfProjects(new Map([["blog", "blog"]]));
  expect(await importStore(file, { url, log: ignore }, markHome)).toEqual({
    jobs: 0,
    turns: 0,
    pullRequests: 0,
    unpushed: 0,
  });
  expect(await store.repositories.main()).toBe("docs");
  expect(await store.repositories.ofProjects()).toEqual(new Map());
  await store.jobs.add({ id: "a", project: "docs", createdAt: 5_000_000 }, "One");
  expect(await store.pullRequests.add({ job: "a", ...pullRequest })).toBe(1);
});

test("the number of a pull request whose job was deleted is not given again", async () => {
  const file = await createFile(async (store) => {
    await store.runningTurns.finish(await startJob(store, "a"), "completed", 6_000_000);
    expect(await store.pullRequests.add({ job: "a", ...pullRequest })).toBe(1);
    expect(await store.idleJobs.deleteOldest(7_000_000, 10)).toEqual(["a"]);
  });
  const url = await server().createStoreDatabase();
  await importStore(file, { url, log: ignore }, markHome);
  const store = await openPostgres(url);
  await store.jobs.add({ id: "b", project: "docs", createdAt: 8_000_000 }, "One");
  expect(await store.pullRequests.add({ job: "b", ...pullRequest })).toBe(2);
});

test("long texts are copied, and a NUL, which Postgres cannot store, is replaced", async () => {
  const long = "ü".repeat(2_500_000);
  const file = await createFile(async (store) => {
    for (const [id, text] of Object.entries({ a: long, b: long, c: "short" }))
      await store.jobs.add({ id, project: "docs", createdAt: 5_000_000 }, `${id} ${text}`);
  });
  const db = new DatabaseSync(file);
  db.exec("UPDATE turn SET prompt = 'one' || char(0) || 'two' WHERE job = 'c'");
  db.close();
  const url = await server().createStoreDatabase();
  expect(await importStore(file, { url, log: ignore }, markHome)).toMatchObject({ jobs: 3, turns: 3 });
  const store = await openPostgres(url);
  for (const id of ["a", "b"]) {
    const [turn] = await store.turns.ofJob(id);
    expect(turn?.prompt === `${id} ${long}`).toBe(true);
  }
  expect(await store.turns.ofJob("c")).toMatchObject([{ prompt: "one\u{FFFD}two" }]);
});

test("the homes of agents that have run are marked with the job's last such turn", async () => {
  let last = "";
  const file = await createFile(async (store) => {
    for (const id of ["ran", "moved", "waits"])
      await store.jobs.add({ id, project: "docs", createdAt: 5_000_000 }, "One");
    for (const _ of ["ran", "moved"]) {
      const turn = await startNext(store);
      await store.runningTurns.countAttempt(turn);
      await store.runningTurns.finish(turn, "completed", 6_000_000);
    }
    await store.turns.add("ran", "Two", 6_000_000);
    await startNext(store);
    const again = await startNext(store);
    await store.runningTurns.countAttempt(again);
    await store.runningTurns.finish(again, "failed", 7_000_000);
    last = again.identity;
    await store.turns.add("ran", "Three", 7_000_000);
  });
  const directoryOf = (job: string) => new JobDirectory(`${file}.files`, job);
  for (const job of ["ran", "waits"]) mkdirSync(directoryOf(job).home, { recursive: true });
  await importStore(file, { url: await server().createStoreDatabase(), log: ignore }, markHome);
  expect(readFileSync(directoryOf("ran").homeTurn, "utf8")).toBe(last);
  expect(existsSync(directoryOf("waits").homeTurn)).toBe(false);
  expect(existsSync(directoryOf("moved").path)).toBe(false);
});

test("nothing is copied to a database that has jobs", async () => {
  const file = await createFile(async (store) => {
    await store.repositories.setMain("docs");
    await startJob(store, "new");
  });
  const url = await server().createStoreDatabase();
  const store = await openPostgres(url);
  await store.repositories.setMain("blog");
  await store.jobs.add({ id: "old", project: "docs", createdAt: 5_000_000 }, "One");
  await expect(importStore(file, { url, log: ignore }, markHome)).rejects.toThrow(
    "nothing was copied: the database has jobs already",
  );
  expect(await store.repositories.main()).toBe("blog");
  expect(await store.jobs.find("new")).toBeUndefined();
  expect(await store.jobs.find("old")).toBeDefined();
});

test("nothing is copied if a row cannot be, and the file can be copied to another database then", async () => {
  const file = await createFile(async (store) => {
    for (const id of ["a", "b"]) await store.jobs.add({ id, project: "docs", createdAt: 5_000_000 }, "One");
  });
  const url = await server().createStoreDatabase();
  await server().query(url, "ALTER TABLE agent_jobs.turn ADD CHECK (job <> 'b')");
  const failed = importStore(file, { url, log: ignore }, markHome);
  await expect(failed).rejects.toThrow(/^nothing was copied: .*violates check constraint/);
  await expect(failed).rejects.toMatchObject({ cause: { code: "23514" } });
  const store = await openPostgres(url);
  expect(await store.counts.total()).toEqual({ jobs: 0, waitingTurns: 0 });
  expect(await importStore(file, { url: await server().createStoreDatabase(), log: ignore }, markHome)).toMatchObject({
    jobs: 2,
  });
});

test("no file is copied that does not exist, is no store or that a service runs on", async () => {
  const url = await server().createDatabase();
  const missing = join(temporaryFolder(), "jobs.sqlite");
  await expect(importStore(missing, { url, log: ignore }, markHome)).rejects.toThrow(`there is no store ${missing}`);
  expect(existsSync(missing)).toBe(false);
  const notes = join(temporaryFolder(), "notes.sqlite");
  const db = new DatabaseSync(notes);
  db.exec("CREATE TABLE note (text TEXT)");
  db.close();
  await expect(importStore(notes, { url, log: ignore }, markHome)).rejects.toThrow("is not a store");
  const file = join(temporaryFolder(), "jobs.sqlite");
  await using _store = openSqliteStore(file);
  await expect(importStore(file, { url, log: ignore }, markHome)).rejects.toThrow("another service is running on it");
});
