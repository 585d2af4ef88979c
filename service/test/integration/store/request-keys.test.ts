import { describe, expect, onTestFinished, test } from "vitest";
import { Jobs } from "../../../src/jobs/jobs.ts";
import type { Made, RequestKey, RunningTurn, StoredTurn } from "../../../src/model.ts";
import { PerProject } from "../../../src/per-project.ts";
import { leavesKept } from "../../../src/store/made.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { KeyReused, OutcomeUnknown, StoreUnavailable } from "../../../src/store-errors.ts";
import { emptyDatabasesOfFile } from "../../support/empty-stores.ts";
import { postgresOfFile } from "../../support/postgres.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";

const server = postgresOfFile();

/** Milliseconds since 1970. */
const now = Date.UTC(2026, 0, 1);

const emptyDatabase = emptyDatabasesOfFile(server, { clock: () => String(now) });

const databases = [
  { database: "SQLite", newStore: openSqlite },
  { database: "Postgres", newStore: async () => (await emptyDatabase()).store() },
];

async function openSqlite(): Promise<Store> {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

const key = (request: string, other: Partial<RequestKey> = {}): RequestKey => ({
  caller: "ci",
  step: "deploy",
  request,
  ...other,
});

let ids = 0;

/** Sends a create to the project `docs`, as a client does that may send it again. Returns the id that a new job has. */
async function create(store: Store, prompt: string, requestKey: RequestKey, project = "docs") {
  const id = `job_${++ids}`;
  const other = await store.jobs.add({ id, project, createdAt: now }, prompt, now, undefined, requestKey);
  return other ?? id;
}

const message = (store: Store, job: string, prompt: string, requestKey: RequestKey) =>
  store.turns.add(job, prompt, now, undefined, requestKey);

async function newJob(store: Store, prompt: string, requestKey: RequestKey): Promise<string> {
  const id = await create(store, prompt, requestKey);
  if (typeof id !== "string") throw new Error("not a new job");
  return id;
}

async function startNext(store: Store): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

/** Lets the agent of a turn fail. */
async function failAs(store: Store, turn: RunningTurn, made: Made): Promise<void> {
  await store.runningTurns.countAttempt(turn);
  await store.runningTurns.setMade(turn, 1, made);
}

async function stopRunning(store: Store, turn: RunningTurn): Promise<void> {
  await store.runningTurns.countAttempt(turn);
  await store.turns.stop(turn.job, turn.id, now, "Stopped.");
}

const replayOf = (job: string) => ({ replayed: expect.objectContaining({ id: job }), turn: expect.any(Number) });

const total = async (store: Store) => {
  const jobs = await store.lists.jobs({ projects: ["docs", "blog"], limit: 1000 });
  return { jobs: jobs.length, turns: jobs.reduce((sum, { turns }) => sum + turns, 0) };
};

describe.each(databases)("a request with a key, in $database", ({ newStore }) => {
  test("adds one turn, however often it is sent", async () => {
    const store = await newStore();
    const creates = await Promise.all(Array.from({ length: 5 }, () => create(store, "Fix it", key("1"))));
    const job = creates.find((result) => typeof result === "string") ?? "";
    expect(creates.filter((result) => result !== job)).toEqual(Array(4).fill(replayOf(job)));
    const messages = await Promise.all(Array.from({ length: 5 }, () => message(store, job, "More", key("2"))));
    expect(messages.filter((result) => result !== true)).toEqual(Array(4).fill(replayOf(job)));
    expect(await total(store)).toEqual({ jobs: 1, turns: 2 });
    const [first, second] = await store.turns.ofJob(job);
    expect([first, second]).toMatchObject([key("1"), key("2")]);
    expect(await create(store, "Fix it", key("1"))).toEqual({ ...replayOf(job), turn: first?.id });
    expect(await message(store, job, "More", key("2"))).toEqual({ ...replayOf(job), turn: second?.id });
    expect(await startNext(store)).toMatchObject({ step: "deploy", request: "1" });
  });

  test("is answered with the job as it is now, whatever the hourly limit says, which it does not use", async () => {
    const store = await newStore();
    const job = await newJob(store, "Fix it", key("create"));
    await store.runningTurns.finish(await startNext(store), "completed", now);
    await message(store, job, "More", key("message"));
    await store.runningTurns.finish(await startNext(store), "failed", now);
    await store.idleJobs.archiveOldest(now, now + 5, 1);
    expect(await create(store, "Fix it", key("create"))).toEqual(replayOf(job));
    const others = Array.from({ length: 99 }, (_, use) => String(use));
    const [open = ""] = await Promise.all(others.map((use) => newJob(store, "Fix it", key(use))));
    await Promise.all(others.map((use) => message(store, open, "More", key(`message ${use}`))));
    expect(await create(store, "Fix it", key("new"))).toHaveProperty("retryAfterMs");
    expect(await message(store, job, "More", key("new"))).toHaveProperty("retryAfterMs");
    const replayed = { id: job, state: "failed", archivedAt: now + 5 };
    expect(await create(store, "Fix it", key("create"))).toMatchObject({ replayed });
    expect(await message(store, job, "More", key("message"))).toMatchObject({ replayed });
  });

  test("is rejected if the key was used for another one, and adds nothing", async () => {
    const store = await newStore();
    const job = await newJob(store, "Fix it", key("create"));
    const other = await newJob(store, "Fix it", key("other"));
    await message(store, job, "More", key("message"));
    const before = await total(store);
    for (const send of [
      () => create(store, "Fix that", key("create")),
      () => create(store, "fix it", key("create")),
      () => message(store, other, "Fix it", key("create")),
      () => create(store, "More", key("message")),
      () => message(store, job, "Less", key("message")),
      () => message(store, other, "More", key("message")),
    ])
      await expect(send()).rejects.toThrow(KeyReused);
    expect(await total(store)).toEqual(before);
    expect(await create(store, "Fix it", key("create"))).toEqual(replayOf(job));
    expect(await message(store, job, "Fix it", key("create"))).toEqual(replayOf(job));
    expect(await total(store)).toEqual(before);
  });

  test("is the same one although the database does not store all of its characters", async () => {
    const store = await newStore();
    for (const [index, prompt] of ["a\0b", "a\u{d800}b", "a\u{10ffff}b"].entries()) {
      const job = await newJob(store, prompt, key(String(index)));
      expect(await create(store, prompt, key(String(index)))).toEqual(replayOf(job));
      expect(await message(store, job, prompt, key(`message ${index}`))).toBe(true);
      expect(await message(store, job, prompt, key(`message ${index}`))).toEqual(replayOf(job));
    }
  });

  test("is another one if its project, caller or step is another one", async () => {
    const store = await newStore();
    await newJob(store, "Fix it", key("1"));
    expect(await create(store, "Fix that", key("1"), "blog")).toEqual(expect.any(String));
    expect(await create(store, "Fix that", key("1", { caller: "other" }))).toEqual(expect.any(String));
    expect(await create(store, "Fix that", key("1", { step: "" }))).toEqual(expect.any(String));
    expect(await create(store, "Fix that", key("1", { step: "test" }))).toEqual(expect.any(String));
    await store.jobs.add({ id: "without", project: "docs", createdAt: now }, "Fix it");
    await store.turns.add("without", "Fix it", now);
    expect(await total(store)).toEqual({ jobs: 6, turns: 7 });
  });

  test("is told what the check of its job's newest commit showed", async () => {
    const store = await newStore();
    const job = await newJob(store, "Fix it", key("1"));
    const end = async (
      checkResult: "passed" | "failed" | undefined,
      state: "completed" | "failed" = "completed",
      kept?: "push" | "pull-request",
    ) => {
      const turn = await nextOf(store, job);
      await store.runningTurns.setReport(turn, { checkResult });
      await store.runningTurns.finish(turn, state, now, { kept });
    };
    const check = async () => {
      const turns = await store.turns.ofStep("docs", { caller: "ci", step: "deploy" }, 100);
      return turns.find(({ request }) => request === "1")?.checkResult;
    };
    await end("passed");
    expect(await check()).toBe("passed");
    const later = [
      [undefined],
      ["failed", "failed"],
      ["failed", "failed", "push"],
      ["failed"],
      [undefined],
      ["passed"],
      ["failed", "failed", "pull-request"],
    ] as const;
    const seen: unknown[] = [];
    for (const [result, state, kept] of later) {
      await message(store, job, "More", key("1", { step: `other${seen.length}` }));
      await end(result, state, kept);
      seen.push(await check());
    }
    // What a turn came to that has no commit on the branch says nothing of that one.
    expect(seen).toEqual(["passed", "passed", "passed", "failed", "failed", "passed", "failed"]);
  });

  test("is found by its step, newest first, with the status of its turn", async () => {
    const store = await newStore();
    const job = await newJob(store, "Fix it", key("completed"));
    const [completed, failed, running, waiting, stopped] = await (async () => {
      for (const request of ["failed", "running", "waiting", "stopped"])
        await message(store, job, "More", key(request));
      return (await store.turns.ofJob(job)).map(({ id }) => id);
    })();
    await newJob(store, "Fix it", key("1", { caller: "other" }));
    await newJob(store, "Fix it", key("1", { step: "test" }));
    await create(store, "Fix it", key("1"), "blog");
    // A stop that came too late.
    const first = await startNext(store);
    expect(await store.turns.stop(job, first.id, now, "Stopped.")).toBe(true);
    await store.runningTurns.finish(first, "completed", now);
    await store.runningTurns.finish(await nextOf(store, job), "failed", now, { reason: "It broke." });
    const ended = await nextOf(store, job);
    await store.turns.stop(job, stopped ?? 0, now, "Stopped.");
    const unsaid = {
      answer: null,
      costUsd: null,
      reason: null,
      kept: null,
      made: null,
      failureClass: null,
      checkResult: null,
    };
    const turns = (status: string) => [
      { id: stopped, job, request: "stopped", status: "stopped", ...unsaid, reason: "Stopped." },
      { id: waiting, job, request: "waiting", status: "waiting", ...unsaid },
      { id: running, job, request: "running", status, ...unsaid, reason: status === "stopped" ? "Stopped." : null },
      { id: failed, job, request: "failed", status: "failed", ...unsaid, reason: "It broke." },
      { id: completed, job, request: "completed", status: "completed", ...unsaid },
    ];
    const ofStep = (limit = 100) => store.turns.ofStep("docs", { caller: "ci", step: "deploy" }, limit);
    expect(await ofStep()).toEqual(turns("running"));
    await store.turns.stop(job, ended.id, now, "Stopped.");
    await store.runningTurns.finish(ended, "failed", now, { reason: "Stopped." });
    expect(await ofStep()).toEqual(turns("stopped"));
    expect(await ofStep(2)).toEqual(turns("stopped").slice(0, 2));
    expect(await store.turns.ofStep("docs", { caller: "ci", step: "unknown" }, 100)).toEqual([]);
  });

  test("has nothing kept any more once a later turn of its job has ended without", async () => {
    const store = await newStore();
    const job = await newJob(store, "Fix it", key("1", { step: "night" }));
    const end = async (...[state, kept]: ["completed" | "failed", "pull-request"?]) => {
      const turn = await startNext(store);
      if (state === "failed" || kept) await store.runningTurns.countAttempt(turn);
      await store.runningTurns.finish(turn, state, now, { kept });
    };
    await end("failed", "pull-request");
    await message(store, job, "More", key("1"));
    await end("failed", "pull-request");
    const keptNow = async () => [
      (await store.turns.ofStep("docs", key("1"), 1))[0]?.kept,
      await store.turns.keptJob("docs", key("2"), { prompt: "More", base: null }),
    ];
    expect(await keptNow()).toEqual(["pull-request", job]);
    // One that is stopped before it does anything leaves it.
    await message(store, job, "Stopped", key("3", { step: "night" }));
    await store.runningTurns.finish(await startNext(store), "failed", now);
    expect(await keptNow()).toEqual(["pull-request", job]);
    await message(store, job, "Fix it", key("2", { step: "night" }));
    await end("completed");
    expect(await keptNow()).toEqual([null, undefined]);
  });

  test.each<[what: string, isKept: boolean, end: (store: Store, turn: RunningTurn) => Promise<unknown>]>([
    ["failed before its agent", true, async () => {}],
    ["was interrupted", true, (store, turn) => store.runningTurns.countAttempt(turn)],
    ["had nothing of it", true, (store, turn) => failAs(store, turn, { reason: "overloaded", isUntouched: true })],
    ["had it", false, (store, turn) => failAs(store, turn, { reason: 'Say "isUntouched":true' })],
    ["was stopped", false, (store, turn) => stopRunning(store, turn)],
    [
      "was stopped, and left it",
      true,
      async (store, turn) => {
        await stopRunning(store, turn);
        await store.runningTurns.setMade(turn, 1, { reason: "Stopped.", isUntouched: true });
      },
    ],
  ])("asks for kept work, although a turn since has failed: one that %s", async (_, isKept, end) => {
    const store = await newStore();
    const job = await newJob(store, "Fix it", key("1"));
    await store.runningTurns.finish(await startNext(store), "failed", now, { reason: "No rule.", kept: "push" });
    await message(store, job, "Fix it", key("2"));
    const turn = await startNext(store);
    await end(store, turn);
    await store.runningTurns.finish(turn, "failed", now, { reason: "Stopped." });
    expect(await store.jobs.find(job)).toMatchObject({ kept: isKept ? "push" : null });
    const found = await store.turns.keptJob("docs", key("3"), { prompt: "Fix it", base: null });
    expect(found).toBe(isKept ? job : undefined);
    expect(leavesKept((await store.turns.ofJob(job))[1] as StoredTurn)).toBe(isKept);
  });

  test("is new again when its job has been deleted", async () => {
    const store = await newStore();
    const job = await newJob(store, "Fix it", key("1"));
    await store.runningTurns.finish(await startNext(store), "completed", now);
    expect(await store.idleJobs.deleteOldest(now, 1)).toEqual([job]);
    expect(await store.turns.ofStep("docs", key("1"), 100)).toEqual([]);
    expect(await create(store, "Fix that", key("1"))).toEqual(expect.any(String));
  });

  test("is known from a copy of its job, unless the store has got the request since", async () => {
    const store = await newStore();
    const job = await newJob(store, "Fix it", key("1"));
    await message(store, job, "More", key("2"));
    const copy = await store.jobs.copy(job);
    if (copy === undefined) throw new Error("no copy");
    const other = await newStore();
    const again = await newJob(other, "Fix that", key("1"));
    // As in a service that gives out ids by time.
    await other.jobs.addCopy({ ...copy, turns: copy.turns.map((turn) => ({ ...turn, id: turn.id + 1000 })) });
    expect(await message(other, job, "More", key("2"))).toEqual(replayOf(job));
    expect(await create(other, "Fix that", key("1"))).toEqual(replayOf(again));
    expect(await total(other)).toEqual({ jobs: 2, turns: 3 });
  });
});

/** Takes the next turn of a job; the turns of other jobs end. */
async function nextOf(store: Store, job: string): Promise<RunningTurn> {
  const turn = await startNext(store);
  if (turn.job === job) return turn;
  await store.runningTurns.finish(turn, "completed", now);
  return nextOf(store, job);
}

describe("machines with one Postgres", () => {
  test("add as many turns as clients have sent keys, although answers are lost", async () => {
    const url = await server().createStoreDatabase();
    const proxy = await PostgresProxy.start(server().port);
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    const throughProxy = Object.assign(new URL(url), { port: String(proxy.port) }).href;
    const stores = await Promise.all(
      [url, throughProxy].map((address) => openPostgresStore({ url: address, log: () => {} })),
    );
    for (const store of stores) onTestFinished(() => store[Symbol.asyncDispose]());
    const machines = stores.map(
      (store) => new Jobs({ store, projects: PerProject.same({ repositoryName: "docs", model: "large" }) }),
    );
    for (let lost = 0; lost < 5; lost++)
      proxy.failures.push({ on: "COMMIT", how: lost % 2 === 0 ? "lose answer" : "lose request" });
    const send = async (index: number, machine: Jobs | undefined): Promise<string | undefined> => {
      const result = await machine?.create("docs", `Fix ${index}`, key(String(index))).catch((error: unknown) => {
        if (error instanceof StoreUnavailable || error instanceof OutcomeUnknown) return undefined;
        throw error;
      });
      if (result === undefined) return send(index, machines[0]);
      if ("retryAfterMs" in result) throw new Error("rejected");
      return "replayed" in result ? result.replayed.id : result.id;
    };
    const jobs = await Promise.all(
      Array.from({ length: 20 }, (_, index) => Promise.all(machines.map((machine) => send(index, machine)))),
    );
    for (const [one, other] of jobs) expect(one).toBe(other);
    expect(new Set(jobs.flat()).size).toBe(20);
    expect(proxy.failures).toEqual([]);
    expect(await stores[0]?.counts.total()).toEqual({ jobs: 20, waitingTurns: 20 });
  });
});
