import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { ReplayedRecord } from "../../../src/jobs/jobs.ts";
import { Jobs } from "../../../src/jobs/jobs.ts";
import type { JobRecord, RateLimited } from "../../../src/model.ts";
import { PerProject } from "../../../src/per-project.ts";
import { JobDirectory } from "../../../src/service-folder.ts";
import { JobCopier } from "../../../src/store/job-copier.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { KeyReused, OutcomeUnknown, SourceUnavailable, StoreUnavailable } from "../../../src/store-errors.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
import { MemoryCopies } from "../../support/memory-copies.ts";

const projects = (model: string) => PerProject.same({ repositoryName: "https://example.com/docs", model });

function setUp(store: Store = openSqliteStore(":memory:")) {
  let outages = 0;
  const answers: string[] = [];
  const events: { message: string; fields: object }[] = [];
  const jobs = new Jobs({
    store,
    metrics: { promptAnswered: (kind, result) => void answers.push(`${kind} ${result}`) },
    logEvent: (message, fields) => void events.push({ message, fields }),
    projects: projects("large"),
    onUnavailable: () => outages++,
  });
  /** Adds a job of the project `docs`. */
  const addJob = (id: string) => store.jobs.add({ id, project: "docs", createdAt: 0, model: "large" }, "Go on");
  const promptsOf = async (id: string) => (await store.turns.ofJob(id)).map(({ prompt }) => prompt);
  return { store, jobs, addJob, promptsOf, answers, events, outages: () => outages };
}

/** Ends the next turn, with a pull request. */
async function completeNext(store: Store): Promise<void> {
  const turn = await store.runningTurns.startNext();
  if (!turn) throw new Error("no turn is ready");
  await store.runningTurns.setPullRequest(turn, `https://example.com/agent/${turn.job}`, "222");
  await store.runningTurns.finish(turn, "completed", 500);
}

function accepted(result: JobRecord | ReplayedRecord | RateLimited | undefined): JobRecord {
  if (result === undefined || !("id" in result)) throw new Error("not accepted");
  return result;
}

const active = {
  id: "a",
  status: "active",
  source: { repository: "https://example.com/docs", ref: "agent/a" },
  model: "large",
  prLink: null,
  createdAt: "1970-01-01T00:00:00.000Z",
  archivedAt: null,
};

test("counts creates and messages by what became of them, and logs which turns they are", async () => {
  const { jobs, store, answers, events } = setUp();
  const { id } = accepted(await jobs.create("docs", "One"));
  await jobs.message("docs", id, "Two");
  expect(events).toEqual([
    { message: "create accepted", fields: { job: id, turn: 1 } },
    { message: "message accepted", fields: { job: id, turn: 2 } },
  ]);
  expect(answers.splice(0)).toEqual(["create accepted", "message accepted"]);

  expect(await jobs.message("docs", "unknown", "Two")).toBeUndefined();
  store.turns.add = async () => false;
  expect(await jobs.message("docs", id, "Two")).toBeUndefined();
  expect(answers).toEqual([]);
  store.turns.add = async () => ({ retryAfterMs: 0 });
  await jobs.message("docs", id, "Three");
  store.turns.add = async (_job, _prompt, _at, onTurn) => {
    onTurn?.(3);
    throw new OutcomeUnknown();
  };
  await expect(jobs.message("docs", id, "Four")).rejects.toThrow(OutcomeUnknown);
  store.jobs.add = async () => {
    throw new StoreUnavailable();
  };
  await expect(jobs.create("docs", "Five")).rejects.toThrow(StoreUnavailable);
  expect(answers).toEqual(["message rate-limited", "message unknown", "create store-unavailable"]);
  expect(events).toHaveLength(2);
});

test("counts and logs requests that were sent before, and those whose key was used for another one", async () => {
  const { jobs, answers, events } = setUp();
  const key = (request: string) => ({ caller: "ci", step: "deploy", request });
  const created = accepted(await jobs.create("docs", "One", key("1")));
  const { id: job } = created;
  expect(await jobs.create("docs", "One", key("1"))).toEqual({ replayed: created });
  accepted(await jobs.message("docs", job, "Two", key("2")));
  expect(await jobs.message("docs", job, "Two", key("2"))).toEqual({ replayed: created });
  await expect(jobs.create("docs", "Two", key("2"))).rejects.toThrow(KeyReused);
  expect(answers).toEqual([
    "create accepted",
    "create replayed",
    "message accepted",
    "message replayed",
    "create key-reused",
  ]);
  expect(events).toEqual([
    { message: "create accepted", fields: { job, turn: 1 } },
    { message: "create replayed", fields: { job, turn: 1 } },
    { message: "message accepted", fields: { job, turn: 2 } },
    { message: "message replayed", fields: { job, turn: 2 } },
  ]);
});

test("shows a job by its state", async () => {
  const { jobs, store, addJob, promptsOf } = setUp();
  await addJob("a");
  expect(await jobs.get("docs", "a")).toEqual(active);
  const turn = await store.runningTurns.startNext();
  expect(await jobs.get("docs", "a")).toEqual(active);
  if (turn) await store.runningTurns.requeue(turn);
  await completeNext(store);
  const completed = { ...active, status: "completed", prLink: "https://example.com/agent/a" };
  expect(await jobs.get("docs", "a")).toEqual(completed);
  await store.idleJobs.archive(await store.idleJobs.withPullRequest(1), 1000);
  expect(await jobs.get("docs", "a")).toEqual({
    ...completed,
    status: "archived",
    archivedAt: "1970-01-01T00:00:01.000Z",
  });
  expect(await jobs.message("docs", "a", "More")).toEqual(active);
  expect(await jobs.get("docs", "a")).toEqual(active);
  expect(await promptsOf("a")).toEqual(["Go on", "More"]);
});

test("shows the model that a job was created for, or that of the service if it is unknown", async () => {
  const { jobs, store } = setUp();
  const small = new Jobs({ store, projects: projects("small") });
  const { id, model } = accepted(await small.create("docs", "Go on"));
  expect(model).toBe("small");
  await store.jobs.add({ id: "earlier", project: "docs", createdAt: 0 }, "Go on");
  expect(await jobs.get("docs", id)).toMatchObject({ model: "small" });
  expect(await jobs.message("docs", id, "More")).toMatchObject({ model: "small" });
  expect(await jobs.get("docs", "earlier")).toMatchObject({ model: "large" });
});

test("finds a job only in its project", async () => {
  const { jobs, addJob, promptsOf } = setUp();
  await addJob("a");
  for (const [project, id] of [
    ["other", "a"],
    ["docs", "b"],
  ] as const) {
    expect(await jobs.get(project, id)).toBeUndefined();
    expect(await jobs.message(project, id, "More")).toBeUndefined();
  }
  expect(await promptsOf("a")).toEqual(["Go on"]);
});

test("stops a turn, and runs it again, only in its project", async () => {
  const { jobs, store, addJob, promptsOf } = setUp();
  await addJob("a");
  const [turn] = await store.turns.ofJob("a");
  const id = turn?.id ?? 0;
  const others = [
    ["other", "a"],
    ["docs", "b"],
  ] as const;
  for (const [project, job] of others) expect(await jobs.stopTurn(project, job, id, "Stopped.")).toBeUndefined();
  expect(await jobs.retryTurn("docs", "a", id)).toBeUndefined();
  expect(await jobs.stopTurn("docs", "a", id + 1, "Stopped.")).toBeUndefined();
  expect(await jobs.stopTurn("docs", "a", id, "Stopped by ci.")).toEqual({ status: "stopped", hadEnded: false });
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "failed", reason: "Stopped by ci." }]);
  expect(await jobs.stopTurn("docs", "a", id, "Stopped again.")).toEqual({ status: "stopped", hadEnded: true });
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "failed", reason: "Stopped by ci." }]);
  for (const [project, job] of others) expect(await jobs.retryTurn(project, job, id)).toBeUndefined();
  expect(await promptsOf("a")).toEqual(["Go on"]);
  expect(await jobs.retryTurn("docs", "a", id)).toEqual(active);
  expect(await promptsOf("a")).toEqual(["Go on", "Go on"]);
});

test("finds a job of an earlier service by its copy, and saves it again with each message", async () => {
  const folder = temporaryFolder();
  const copies = new MemoryCopies(folder);
  const serviceOn = (store: Store) => {
    const copier = new JobCopier({ copies, store, folder, log: () => {} });
    return { copier, jobs: new Jobs({ store, projects: projects("large"), copier }) };
  };
  const store = openSqliteStore(":memory:");
  const earlier = serviceOn(store);
  const { id } = accepted(await earlier.jobs.create("docs", "Go on"));
  await completeNext(store);
  mkdirSync(new JobDirectory(folder, id).home, { recursive: true });
  earlier.copier.save(id);
  await earlier.copier.settle();
  const later = serviceOn(openSqliteStore(":memory:"));
  expect(await later.jobs.get("other", id)).toBeUndefined();
  expect(await later.jobs.get("docs", id)).toMatchObject({ id, status: "completed" });
  accepted(await later.jobs.message("docs", id, "More"));
  await later.copier.settle();
  expect(copies.saves.at(-1)).toMatchObject({ states: ["completed", "waiting"] });
});

/** Services one after the other, which share only the copies of their jobs. */
function servicesInTurn() {
  const folder = temporaryFolder();
  const copies = new MemoryCopies(folder);
  const newService = () => {
    const store = openSqliteStore(":memory:");
    const copier = new JobCopier({ copies, store, folder, log: () => {} });
    return { store, copier, jobs: new Jobs({ store, projects: projects("large"), copier }) };
  };
  return { folder, copies, newService };
}

test("knows the requests of an earlier service by the copies of their jobs", async () => {
  const { folder, newService } = servicesInTurn();
  const earlier = newService();
  const key = (request: string) => ({ caller: "ci", step: "deploy", request });
  const { id } = accepted(await earlier.jobs.create("docs", "Go on", key("1")));
  mkdirSync(new JobDirectory(folder, id).home, { recursive: true });
  await completeNext(earlier.store);
  earlier.copier.save(id);
  await earlier.copier.settle();
  const isFound = [{ id: expect.any(Number), job: id, request: "1", status: "completed" }];
  expect(await newService().jobs.findStep("docs", "ci", "deploy")).toMatchObject(isFound);
  const { jobs, store } = newService();
  expect(await jobs.create("docs", "Go on", key("1"))).toMatchObject({ replayed: { id, status: "completed" } });
  accepted(await jobs.message("docs", id, "More", key("2")));
  expect(await store.turns.ofJob(id)).toHaveLength(2);
});

test("stops what was restored of a step once its request is sent again, in whatever job", async () => {
  const { folder, newService } = servicesInTurn();
  const key = (step: string, request: string) => ({ caller: "ci", step, request });
  const earlier = newService();
  const send = async (prompt: string, step: string): Promise<string> => {
    const { id } = accepted(await earlier.jobs.create("docs", prompt, key(step, prompt)));
    mkdirSync(join(folder, id));
    earlier.copier.save(id);
    await earlier.copier.settle();
    return id;
  };
  const [replaced, otherPrompt, otherStep] = [
    await send("Go on", "deploy"),
    await send("Check", "deploy"),
    await send("Go on", "release"),
  ];
  const { jobs, store, copier } = newService();
  await jobs.findStep("docs", "ci", "release");
  await jobs.findStep("docs", "ci", "deploy");
  accepted(await jobs.create("docs", "Go on", key("deploy", "again")));
  const stateOf = async (job: string) => (await store.turns.ofJob(job)).map(({ state, reason }) => [state, reason]);
  expect(await stateOf(replaced)).toEqual([["failed", expect.stringContaining("sent its request again")]]);
  for (const other of [otherPrompt, otherStep]) expect(await stateOf(other)).toEqual([["waiting", null]]);
  await copier.settle();
});

test.each([
  ["begun", "stopped"],
  // Its agent has ended.
  ["made", "waiting"],
] as const)("lets nothing run that a newer request has taken the place of: %s", async (stage, status) => {
  const { folder, copies, newService } = servicesInTurn();
  const key = (request: string) => ({ caller: "ci", step: "deploy", request });
  const first = newService();
  const { id: older } = accepted(await first.jobs.create("docs", "Go on", key("1")));
  mkdirSync(join(folder, older));
  first.copier.save(older);
  await first.copier.settle();
  const waiting = copies.jobs.get(older);
  const second = newService();
  const { id: newer } = accepted(await second.jobs.create("docs", "Go on", key("2")));
  mkdirSync(join(folder, newer));
  await completeNext(second.store);
  second.copier.save(newer);
  await second.copier.settle();
  // Its copy, as it was, is found once more.
  if (waiting) copies.jobs.set(older, { ...waiting, turns: waiting.turns.map((turn) => ({ ...turn, stage })) });
  const { jobs, store } = newService();
  const sent = await jobs.findStep("docs", "ci", "deploy");
  expect(sent).toMatchObject([
    { job: newer, status: "completed" },
    { job: older, status },
  ]);
  const state = status === "stopped" ? "failed" : status;
  expect(await store.turns.ofJob(older)).toMatchObject([{ state }]);
});

test("does not find a job that is deleted while a message to it arrives", async () => {
  const { jobs, store, addJob } = setUp();
  await addJob("a");
  await completeNext(store);
  const message = jobs.message("docs", "a", "More");
  expect(await store.idleJobs.deleteOldest(1000, 1)).toEqual(["a"]);
  expect(await message).toBeUndefined();
  expect(await store.counts.total()).toEqual({ jobs: 0, waitingTurns: 0 });
});

test("creates a job with its first turn", async () => {
  const { jobs, store, promptsOf } = setUp();
  const before = Date.now();
  const { id, status, createdAt } = accepted(await jobs.create("docs", "Fix it"));
  expect(id).toMatch(/^job_[0-9a-f-]{36}$/);
  expect(status).toBe("active");
  expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
  expect((await store.jobs.find(id))?.project).toBe("docs");
  expect(await promptsOf(id)).toEqual(["Fix it"]);
  expect(await jobs.get("docs", id)).toMatchObject({ id, status, createdAt, prLink: null, archivedAt: null });
});

test("a create or message is accepted once it is stored, even if the store cannot be read a moment later", async () => {
  for (const accept of [
    (jobs: Jobs) => jobs.create("docs", "Fix it"),
    (jobs: Jobs) => jobs.message("docs", "a", "More"),
  ]) {
    const { jobs, store, addJob } = setUp();
    await addJob("a");
    store.onReady(() => void store[Symbol.asyncDispose]());
    expect(accepted(await accept(jobs)).status).toBe("active");
    await expect(jobs.get("docs", "a")).rejects.toThrow();
  }
});

test("a store that cannot be written rejects creates and messages, and answers reads", async () => {
  const file = join(temporaryFolder(), "jobs.sqlite");
  await using store = openSqliteStore(file);
  const { jobs, addJob, outages } = setUp(store);
  await addJob("a");
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  await expect(jobs.create("docs", "Fix it")).rejects.toThrow(StoreUnavailable);
  expect(outages()).toBe(1);
  await expect(jobs.message("docs", "a", "More")).rejects.toThrow(StoreUnavailable);
  expect(outages()).toBe(2);
  expect(await jobs.get("docs", "a")).toMatchObject({ status: "active" });
  expect(await store.counts.total()).toEqual({ jobs: 1, waitingTurns: 1 });
  other.exec("COMMIT");
  other.close();
  expect(accepted(await jobs.create("docs", "Fix it")).status).toBe("active");
  expect(outages()).toBe(2);
});

test("an error that is no outage is thrown as it is", async () => {
  const { jobs, store, outages } = setUp();
  await store[Symbol.asyncDispose]();
  await expect(jobs.create("docs", "Fix it")).rejects.toThrow("not open");
  expect(outages()).toBe(0);
});

test("setting the clock neither escapes the hourly limit nor extends it", async () => {
  const { jobs } = setUp();
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const start = Date.UTC(2026, 0, 10);
  vi.setSystemTime(start);
  for (let use = 0; use < 100; use++) accepted(await jobs.create("docs", "Fix it"));
  for (const day of [-1, 1, 0]) {
    vi.setSystemTime(start + day * 86_400_000);
    const result = await jobs.create("docs", "Fix it");
    expect(result).toEqual({ retryAfterMs: expect.any(Number) });
    expect("retryAfterMs" in result && result.retryAfterMs <= 3_600_000).toBe(true);
  }
});

test("a message over the hourly limit is not added to its job", async () => {
  const { jobs, store, addJob } = setUp();
  await addJob("a");
  for (let use = 0; use < 100; use++) accepted(await jobs.message("docs", "a", "More"));
  expect(await jobs.message("docs", "a", "More")).toEqual({ retryAfterMs: expect.any(Number) });
  expect(await store.lists.countTurns("a")).toBe(101);
});

/** Counts how many creates use a store at a time. Each ends when the test says so. */
function holdCreates(store: Store) {
  const add = store.jobs.add.bind(store.jobs);
  const held: (() => void)[] = [];
  const projectsOf: string[] = [];
  store.jobs.add = async (job, ...rest) => {
    projectsOf.push(job.project);
    await new Promise<void>((resolve) => void held.push(resolve));
    return add(job, ...rest);
  };
  return { held, projectsOf };
}

test("a project whose hourly limit is used up is rejected without the store, unless its request is known", async () => {
  const { jobs, store, answers } = setUp();
  const key = (request: string) => ({ caller: "ci", step: "nightly", request });
  const first = accepted(await jobs.create("docs", "One", key("1")));
  for (let index = 1; index < 100; index++) await jobs.create("docs", "More");
  expect(await jobs.create("docs", "More")).toHaveProperty("retryAfterMs");
  let uses = 0;
  const add = store.jobs.add.bind(store.jobs);
  store.jobs.add = async (...args) => {
    uses++;
    return add(...args);
  };
  answers.splice(0);
  expect(await jobs.create("docs", "More")).toHaveProperty("retryAfterMs");
  expect(await jobs.create("docs", "More", key("2"))).toHaveProperty("retryAfterMs");
  expect(await jobs.create("docs", "One", key("1"))).toMatchObject({ replayed: { id: first.id } });
  expect([uses, answers]).toEqual([1, ["create rate-limited", "create rate-limited", "create replayed"]]);
  // Messages have a limit of their own, and so have other projects.
  expect(await jobs.message("docs", first.id, "Two")).toHaveProperty("id");
  expect(await jobs.create("other", "One")).toHaveProperty("id");
});

test("a project is accepted again when its limit is over", async () => {
  const machine = new FakeMachine();
  const store = openSqliteStore(":memory:");
  const jobs = new Jobs({ store, projects: projects("large"), machine });
  for (let index = 0; index < 100; index++) await jobs.create("docs", "More");
  expect(await jobs.create("docs", "More")).toEqual({ retryAfterMs: 3_600_000 });
  machine.pass(3_599_999);
  expect(await jobs.create("docs", "More")).toEqual({ retryAfterMs: 1 });
  machine.pass(1);
  expect(await jobs.create("docs", "More")).toHaveProperty("id");
});

test("few creates use the store at a time, and those of one project leave room for others", async () => {
  const { jobs, store } = setUp();
  const { held, projectsOf } = holdCreates(store);
  const creates = ["a", "a", "a", "a", "b", "c", "c", "d"].map((project) => jobs.create(project, "Go on"));
  await vi.waitFor(() => expect(projectsOf).toEqual(["a", "a", "a", "b", "c", "c"]));
  for (let ended = 0; ended < creates.length; ended++) {
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0));
    held.shift()?.();
  }
  expect((await Promise.all(creates)).map((job) => accepted(job).status)).toEqual(Array(8).fill("active"));
});

test("a create whose repository does not answer is rejected after ten seconds, and may be sent again", async () => {
  const machine = new FakeMachine();
  const { promise: never } = Promise.withResolvers<boolean>();
  const shown = { repositoryName: "https://example.com/docs", model: "large", hasBranch: () => never };
  const jobs = new Jobs({ store: openSqliteStore(":memory:"), projects: PerProject.same(shown), machine });
  const created = jobs.create("docs", "Fix it", undefined, { base: "dev" });
  await setImmediate();
  machine.pass(9999);
  await setImmediate();
  machine.pass(1);
  await expect(created).rejects.toThrow("The repository cannot be read: no answer within 10 s");
  await expect(created).rejects.toBeInstanceOf(SourceUnavailable);
  expect(machine.isWaitedFor).toBe(false);
});
