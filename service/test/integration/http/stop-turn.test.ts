import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { createApi } from "../../../src/api/jobs-endpoints.ts";
import { type Authenticator, unauthorized } from "../../../src/http/authentication.ts";
import { dispatch } from "../../../src/http/dispatch.ts";
import { listen } from "../../../src/http/listen.ts";
import { Jobs } from "../../../src/jobs/jobs.ts";
import { PerProject } from "../../../src/per-project.ts";
import { type ServiceOptions, startApi, startService, startWorker } from "../../../src/start/service.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { docsRepository, projectOptions, scriptAgent, send } from "../../support/agent-service.ts";
import { emptyDatabasesOfFile } from "../../support/empty-stores.ts";
import { postgresOfFile } from "../../support/postgres.ts";
import { identityOf } from "../../support/turn-identity.ts";

const server = postgresOfFile();

const emptyDatabase = emptyDatabasesOfFile(server);

async function openSqlite(): Promise<Store> {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

const authenticator: Authenticator = {
  authenticate: async (key) => {
    if (key === undefined) throw unauthorized("Missing API key");
    return { name: key, projects: key === "outsider" ? ["site"] : ["docs", "blog"] };
  },
  accessOf: async () => undefined,
};

async function stop(url: string, path: string, key: string | undefined = "ci", method = "POST") {
  const headers = key === "" ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v2/agent/${path}/stop`, { method, headers });
  return { status: response.status, body: await response.json() };
}

describe.each([
  { database: "SQLite", empty: openSqlite },
  { database: "Postgres", empty: async () => (await emptyDatabase()).store() },
])("a turn in $database", ({ empty }) => {
  async function setUp() {
    const store = await empty();
    const jobs = new Jobs({ store, projects: PerProject.same({ repositoryName: "docs", model: "large" }) });
    const api = createApi({ engine: jobs, steps: jobs, turns: jobs, authenticator });
    const { url, [Symbol.asyncDispose]: close } = await listen(dispatch({ ...api, log: () => {} }));
    onTestFinished(close);
    await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "One");
    await store.turns.add("a", "Two", 0);
    await store.jobs.add({ id: "other", project: "docs", createdAt: 0 }, "One");
    const [first = 0, second = 0] = (await store.turns.ofJob("a")).map(({ id }) => id);
    const [other = 0] = (await store.turns.ofJob("other")).map(({ id }) => id);
    const states = async () => (await store.turns.ofJob("a")).map(({ state }) => state);
    const start = async () => {
      const turn = await store.runningTurns.startNext();
      if (turn === undefined) throw new Error("no turn is ready");
      return turn;
    };
    return { url, store, start, states, first, second, other };
  }

  test("that waits is removed, and stays so", async () => {
    const { url, store, states, first, second } = await setUp();
    const stopped = { status: 200, body: { turn: String(second), status: "stopped" } };
    expect(await stop(url, `docs/job/a/turn/${second}`)).toEqual(stopped);
    expect(await stop(url, `docs/job/a/turn/${second}`, "nightly")).toEqual(stopped);
    expect(await store.turns.ofJob("a")).toMatchObject([
      { id: first, state: "waiting" },
      { state: "failed", reason: "Stopped through the API (ci)." },
    ]);
    expect(await states()).toEqual(["waiting", "failed"]);
  });

  test("that is running is ending until its worker says how it ended", async () => {
    const { url, store, start, states, first } = await setUp();
    const turn = await start();
    const path = `docs/job/a/turn/${first}`;
    const ending = { status: 202, body: { turn: String(first), status: "running" } };
    expect(await stop(url, path)).toEqual(ending);
    expect(await stop(url, path, "nightly")).toEqual(ending);
    const reason = await store.runningTurns.stopRequest(turn);
    expect(reason).toBe("Stopped through the API (ci).");
    await store.runningTurns.finish(turn, "failed", 5, { reason: reason });
    expect(await stop(url, path)).toEqual({ status: 200, body: { turn: String(first), status: "stopped" } });
    expect(await states()).toEqual(["failed", "waiting"]);
  });

  test.each([
    ["completed", undefined],
    // It was not the stop that ended it.
    ["failed", "The pull request could not be opened."],
  ] as const)("is %s if it ends like that although somebody wanted to stop it", async (status, reason) => {
    const { url, store, start, first } = await setUp();
    const turn = await start();
    expect((await stop(url, `docs/job/a/turn/${first}`)).status).toBe(202);
    await store.runningTurns.finish(turn, status, 5, { reason: reason });
    const ended = { status: 200, body: { turn: String(first), status } };
    expect(await stop(url, `docs/job/a/turn/${first}`)).toEqual(ended);
    expect(await store.turns.ofJob("a")).toMatchObject([{ state: status, reason: reason ?? null }, {}]);
  });

  test("is stopped by its id, whether a service counts them or they are times", async () => {
    const { url, store } = await setUp();
    const turns = [7, 123_456_789_012_345, 1_795_462_420_930_549].map(
      (id) =>
        ({
          id,
          identity: identityOf(id),
          prompt: "One",
          state: "waiting",
          attempts: 0,
          endedAt: null,
          answer: null,
        }) as const,
    );
    const job = { id: "b", project: "docs", createdAt: 0, archivedAt: null, pullRequest: null, head: null, base: null };
    await store.jobs.addCopy({ ...job, turns });
    for (const { id } of turns.toReversed())
      expect(await stop(url, `docs/job/b/turn/${id}`)).toEqual({
        status: 200,
        body: { turn: String(id), status: "stopped" },
      });
  });

  test("is only stopped as one of its job and project, by those who may use that", async () => {
    const { url, states, first, other } = await setUp();
    const missing = { status: 404, body: { error: "Turn not found" } };
    for (const path of [
      `docs/job/a/turn/${other}`,
      `docs/job/missing/turn/${first}`,
      `blog/job/a/turn/${first}`,
      ...["0", "x", "1.5", `0${first}`, `${first}%20`, "9".repeat(30)].map((turn) => `docs/job/a/turn/${turn}`),
    ])
      expect(await stop(url, path), path).toEqual(missing);
    const path = `docs/job/a/turn/${first}`;
    expect(await stop(url, path, "outsider")).toEqual({ status: 404, body: { error: "Project not found" } });
    expect((await stop(url, path, "")).status).toBe(401);
    expect((await stop(url, path, "ci", "PUT")).status).toBe(405);
    expect(await states()).toEqual(["waiting", "waiting"]);
  });
});

/** Starts a service with an agent that writes the ids of its processes to a file, and ignores SIGTERM. */
async function startDeaf(machines: "one" | "two") {
  const pids = join(temporaryFolder(), "pids");
  const agent = scriptAgent(`
    import { spawn } from "node:child_process";
    process.on("SIGTERM", () => {});
    const child = spawn("/bin/sh", ["-c", "trap '' TERM; while :; do sleep 60; done"], { stdio: "ignore" });
    fs.writeFileSync("change.md", prompt);
    child.on("spawn", () => fs.writeFileSync(${JSON.stringify(pids)}, process.pid + "\\n" + child.pid + "\\n"));
    setInterval(() => {}, 1000);
  `);
  const docs = docsRepository();
  const url = machines === "two" ? await server().createStoreDatabase() : "";
  const options = (): ServiceOptions => ({
    settings: PerProject.same(projectOptions(docs, { agent })),
    apiKey: serviceKey,
    projects: ["docs"],
    folder: temporaryFolder(),
    agents: 1,
    publicUrl: "https://agents.example.com",
    ...(machines === "two" && { openStore: () => openPostgresStore({ url, log: () => {} }) }),
  });
  const api = machines === "two" ? await startApi(options()) : await startService(options());
  onTestFinished(() => api[Symbol.asyncDispose]());
  if (machines === "two") {
    const worker = await startWorker(options());
    onTestFinished(() => worker[Symbol.asyncDispose]());
  }
  const running = (): string[] =>
    readFileSync(pids, "utf8")
      .trim()
      .split("\n")
      .filter((pid) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));
  return { api, docs, running, hasStarted: () => existsSync(pids) && readFileSync(pids, "utf8").endsWith("\n") };
}

/** Creates a job. Returns its id, and its turn's. */
async function create(url: string): Promise<{ job: string; turn: string }> {
  const headers = { authorization: `Bearer ${serviceKey}`, "content-type": "application/json" };
  const keyed = { ...headers, "idempotency-key": '"deploy.1"' };
  const path = `${url}/v2/agent/docs/job`;
  await fetch(path, { method: "POST", headers: keyed, body: JSON.stringify({ prompt: "Go on" }) });
  const found = (await (await fetch(`${path}?step=deploy`, { headers })).json()) as {
    turns: { job: string; turn: string }[];
  };
  const [turn] = found.turns;
  if (turn === undefined) throw new Error("no turn was added");
  return turn;
}

/** Asks until the turn has ended, as a client does. */
const untilEnded = (url: string, path: string) =>
  waitUntil(async () => {
    await setTimeout(20);
    const answer = await stop(url, path, serviceKey);
    return answer.status !== 202 && answer;
  });

test.each(["one", "two"] as const)("no process of a stopped agent is left, on %s machine(s)", async (machines) => {
  const { api, docs, running, hasStarted } = await startDeaf(machines);
  const { job, turn } = await create(api.url);
  await waitUntil(hasStarted);
  expect(running()).toHaveLength(2);
  const path = `docs/job/${job}/turn/${turn}`;
  expect(await stop(api.url, path, serviceKey)).toEqual({ status: 202, body: { turn, status: "running" } });
  expect(await untilEnded(api.url, path)).toEqual({ status: 200, body: { turn, status: "stopped" } });
  expect(running()).toEqual([]);
  expect((await send(api, `docs/job/${job}`)).job).toMatchObject({ status: "failed", prLink: null });
  expect(docs.git("branch", "--list", "agent/*")).toBe("");
});

test("a stop that comes while the work is being pushed comes too late", async () => {
  const docs = docsRepository();
  const folder = temporaryFolder();
  // The push that creates the branch before the agent runs is not the work.
  const hook = `#!/bin/sh\nread -r before after ref\ngit merge-base --is-ancestor "$after" main && exit 0\ntouch '${folder}/pushing'\nuntil [ -e '${folder}/go' ]; do sleep 0.02; done\n`;
  writeFileSync(join(docs.path, "hooks/pre-receive"), hook, { mode: 0o755 });
  const agent = scriptAgent('fs.writeFileSync("change.md", prompt);');
  await using api = await startService({
    settings: PerProject.same(projectOptions(docs, { agent })),
    apiKey: serviceKey,
    projects: ["docs"],
    folder: temporaryFolder(),
    agents: 1,
  });
  const { job, turn } = await create(api.url);
  await waitUntil(() => existsSync(join(folder, "pushing")));
  const path = `docs/job/${job}/turn/${turn}`;
  expect((await stop(api.url, path, serviceKey)).status).toBe(202);
  writeFileSync(join(folder, "go"), "");
  expect(await untilEnded(api.url, path)).toEqual({ status: 200, body: { turn, status: "completed" } });
  expect((await send(api, `docs/job/${job}`)).job.prLink).toContain("/pull/1");
});
