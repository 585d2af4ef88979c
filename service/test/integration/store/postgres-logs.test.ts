import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import type { RunningTurn } from "../../../src/model.ts";
import { ExpiringTokens, newToken } from "../../../src/pages/expiring-tokens.ts";
import { PerProject } from "../../../src/per-project.ts";
import { type ServiceOptions, startApi, startWorker } from "../../../src/start/service.ts";
import { PostgresDatabase } from "../../../src/store/postgres/database.ts";
import { PostgresLogs } from "../../../src/store/postgres/logs.ts";
import { Notifications } from "../../../src/store/postgres/notifications.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { TokenStore } from "../../../src/store/tokens.ts";
import { LeaseLost } from "../../../src/store-errors.ts";
import { docsRepository, projectOptions, scriptAgent, send, waitForJob } from "../../support/agent-service.ts";
import { type EmptyDatabase, emptyDatabasesOfFile } from "../../support/empty-stores.ts";
import { postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

type Logs = NonNullable<Store["logs"]>;

interface OpenedStore {
  store: Store;
  logs: Logs;
  tokens: TokenStore;
}

const emptyDatabase = emptyDatabasesOfFile(server);

async function open(database: EmptyDatabase): Promise<OpenedStore> {
  const store = await database.store();
  const { logs, tokens } = store;
  if (logs === undefined || tokens === undefined) throw new Error("the store has neither logs nor tokens");
  return { store, logs, tokens };
}

/** Adds a job, and takes its turn. */
async function startTurn(store: Store, job = "job_1"): Promise<RunningTurn> {
  await store.jobs.add({ id: job, project: "docs", createdAt: 5_000_000 }, "Fix it");
  return nextTurn(store);
}

async function nextTurn(store: Store): Promise<RunningTurn> {
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  return turn;
}

async function readAll(logs: Logs, job = "job_1"): Promise<string> {
  const parts: Buffer[] = [];
  for (let position = 0; ; ) {
    const part = await logs.read(job, position);
    if (part.length === 0) return Buffer.concat(parts).toString();
    expect(part.length).toBeLessThanOrEqual(128 * 1024);
    parts.push(part);
    position += part.length;
  }
}

describe("the logs in a Postgres store", () => {
  test("are read on another machine, from any position", async () => {
    const database = await emptyDatabase();
    const [one, other] = [await open(database), await open(database)];
    const turn = await startTurn(one.store);
    expect(await one.logs.size(turn)).toEqual({ size: 0, ofTurn: 0 });
    await one.logs.append(turn, 0, Buffer.from("| ✓ one\n"));
    await one.logs.append(turn, 10, Buffer.from("| two\n"));
    expect(await one.logs.size(turn)).toEqual({ size: 16, ofTurn: 16 });
    expect([await other.logs.end("job_1"), await other.logs.end("job_2")]).toEqual([16, 0]);
    expect(await readAll(other.logs)).toBe("| ✓ one\n| two\n");
    for (const [from, rest] of [
      [9, "\n| two\n"],
      [10, "| two\n"],
      [15, "\n"],
      [16, ""],
      [1000, ""],
    ] as const)
      expect((await other.logs.read("job_1", from)).toString()).toBe(rest);
    expect(await other.logs.read("job_2", 0)).toHaveLength(0);
    const marks = await other.logs.marks("job_1");
    expect(marks.map(({ turn: id, start }) => [id, start])).toEqual([
      [turn.id, 0],
      [turn.id, 10],
    ]);
    for (const { at } of marks) expect(Math.abs(at - Date.now())).toBeLessThan(3_600_000);
    expect(await other.logs.marks("job_2")).toEqual([]);
  });

  test("keep long writes and many short ones in their order", async () => {
    const { store, logs } = await open(await emptyDatabase());
    const turn = await startTurn(store);
    const long = Array.from({ length: 40_000 }, (_line, index) => `| ${index}\n`).join("");
    await logs.append(turn, 0, Buffer.from(long));
    let position = long.length;
    for (let line = 0; line < 120; line++) {
      const content = Buffer.from(`| short ${line}\n`);
      await logs.append(turn, position, content);
      position += content.length;
    }
    const short = Array.from({ length: 120 }, (_line, index) => `| short ${index}\n`).join("");
    expect((await readAll(logs)) === long + short).toBe(true);
  });

  test("are looked at again and again by those who follow them, until that ends", async () => {
    await using database = new PostgresDatabase({ url: await server().createStoreDatabase(), log: () => {} });
    let calls = 0;
    const end = new PostgresLogs(database, 1).follow("job_1", () => void calls++);
    await waitUntil(() => calls >= 5);
    end();
    const before = calls;
    for (let times = 0; times < 10; times++) await tick();
    expect(calls).toBe(before);
  });

  test("send no notification when they grow", async () => {
    const empty = await emptyDatabase();
    const { url } = empty;
    const { store, logs } = await open(empty);
    const turn = await startTurn(store);
    await using database = new PostgresDatabase({ url, log: () => {} });
    await using notifications = new Notifications({ url, database, log: () => {} });
    const { promise: last, resolve } = Promise.withResolvers<void>();
    const received: (string | undefined)[] = [];
    for (const channel of Object.values(database.names.channels))
      notifications.on(channel, (payload) => {
        received.push(payload);
        if (payload === "last") resolve();
      });
    await waitUntil(() => received.length >= 2);
    received.length = 0;
    await logs.append(turn, 0, Buffer.from("| one\n"));
    await database.query("SELECT pg_notify($1, 'last')", [database.names.channels.job]);
    await last;
    expect(received).toEqual(["last"]);
  });

  test("can be written in parts of any size", async () => {
    const { store, logs } = await open(await emptyDatabase());
    const turn = await startTurn(store);
    const size = 64 * 1024;
    for (const [index, part] of ["a", "b", "c"].entries())
      await logs.append(turn, index * size, Buffer.alloc(size, part));
    expect((await readAll(logs)) === "a".repeat(size) + "b".repeat(size) + "c".repeat(size)).toBe(true);
  });

  test("take nothing from a worker whose turn has ended or was taken over", async () => {
    const database = await emptyDatabase();
    const { store, logs } = await open(database);
    const turn = await startTurn(store);
    await logs.append(turn, 0, Buffer.from("| one\n"));
    await store.runningTurns.requeue(turn);
    const late = Buffer.from("| late\n");
    await expect(logs.append(turn, 6, late)).rejects.toThrow(LeaseLost);
    const second = await nextTurn(store);
    expect(second.id).toBe(turn.id);
    await expect(logs.append(turn, 6, late)).rejects.toThrow(LeaseLost);
    expect(await logs.size(second)).toEqual({ size: 6, ofTurn: 6 });
    await logs.append(second, 6, Buffer.from("| two\n"));
    await store.runningTurns.finish(second, "completed", 6_000_000);
    await expect(logs.append(second, 12, late)).rejects.toThrow(LeaseLost);
    expect(await readAll(logs)).toBe("| one\n| two\n");
  });

  test("let nobody take a turn over while its worker is writing", async () => {
    const database = await emptyDatabase();
    const { store, logs } = await open(database);
    const turn = await startTurn(store);
    const taking = await server().connect(database.url);
    onTestFinished(() => taking.end());
    await taking.query("BEGIN");
    await taking.query(`UPDATE agent_jobs.turn SET lease = 'other' WHERE id = ${turn.id}`);
    const write = logs.append(turn, 0, Buffer.from("| late\n"));
    const outcome = expect(write).rejects.toThrow(LeaseLost);
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    await waitUntil(async () => (await server().query(database.url, waiting)).length > 0);
    await taking.query("COMMIT");
    await outcome;
    expect(await readAll(logs)).toBe("");
  });

  test("count the parts of turns apart", async () => {
    const { store, logs } = await open(await emptyDatabase());
    const first = await startTurn(store);
    await logs.append(first, 0, Buffer.from("| one\n"));
    await store.runningTurns.finish(first, "completed", 6_000_000);
    await store.turns.add("job_1", "More", 6_000_000);
    const second = await nextTurn(store);
    expect(await logs.size(second)).toEqual({ size: 6, ofTurn: 0 });
  });

  test("are deleted with their jobs", async () => {
    const database = await emptyDatabase();
    const { store, logs } = await open(database);
    const turn = await startTurn(store);
    await logs.append(turn, 0, Buffer.from("| one\n"));
    await store.runningTurns.finish(turn, "completed", 6_000_000);
    const other = await startTurn(store, "job_2");
    await logs.append(other, 0, Buffer.from("| two\n"));
    expect(await store.idleJobs.deleteOldest(6_000_000, 10)).toEqual(["job_1"]);
    expect(await server().query(database.url, 'SELECT job FROM agent_jobs."logChunk"')).toEqual([{ job: "job_2" }]);
  });
});

describe("the tokens in a Postgres store", () => {
  const hour = 3_600_000;

  test("are valid on all machines until they expire or are taken, and are not in the database themselves", async () => {
    const database = await emptyDatabase();
    const [one, other] = [await open(database), await open(database)];
    const sessions = ({ tokens }: OpenedStore, lifetimeMs = hour) => new ExpiringTokens(tokens, "session", lifetimeMs);
    const token = await sessions(one).create("key");
    expect(await sessions(other).find(token)).toBe("key");
    expect(await sessions(other).find(token.replace(/^./, (first) => (first === "a" ? "b" : "a")))).toBeUndefined();
    expect(await new ExpiringTokens(other.tokens, "link", hour).take(token)).toBeUndefined();
    expect(JSON.stringify(await server().query(database.url, "SELECT * FROM agent_jobs.token"))).not.toContain(token);
    expect(await sessions(other).take(token)).toBe("key");
    expect(await sessions(one).find(token)).toBeUndefined();
    const expired = await sessions(one, 0).create("key");
    expect(await sessions(one).find(expired)).toBeUndefined();
    expect(await sessions(one).take(expired)).toBeUndefined();
  });

  test("are found by one of several machines that take the same one", async () => {
    const database = await emptyDatabase();
    const stores = [await open(database), await open(database), await open(database)];
    const links = stores.map(({ tokens }) => new ExpiringTokens(tokens, "link", hour));
    const token = (await links[0]?.create("/")) ?? "";
    const taken = await Promise.all(links.map((link) => link.take(token)));
    expect(taken.filter((path) => path === "/")).toHaveLength(1);
  });

  test("of a form are used on one of several machines at the same time, and never again", async () => {
    const database = await emptyDatabase();
    const stores = [await open(database), await open(database), await open(database)];
    const forms = stores.map(({ tokens }) => new ExpiringTokens(tokens, "form", hour));
    const token = newToken();
    const uses = await Promise.all(forms.map((form) => form.use(token)));
    expect(uses.filter((isFirst) => isFirst)).toHaveLength(1);
    expect(await forms[0]?.use(token)).toBe(false);
    expect(await forms[0]?.use(newToken())).toBe(true);
  });

  test("do not stay in the database when they have expired", async () => {
    const database = await emptyDatabase();
    const { tokens } = await open(database);
    for (let count = 0; count < 5; count++) await new ExpiringTokens(tokens, "link", 0).create("/");
    await new ExpiringTokens(tokens, "link", hour).create("/");
    expect(await server().query(database.url, "SELECT path FROM agent_jobs.token")).toHaveLength(1);
  });
});

interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  response: IncomingMessage;
}

/** Sends a request as a load balancer does for a public URL. */
function ask(url: string, path: string, headers: Record<string, string> = {}, form?: string): Promise<Answer> {
  const method = form === undefined ? "GET" : "POST";
  const type = form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
  return new Promise((resolve, reject) => {
    const all = { host: "agents.example.com", ...type, ...headers };
    const request = httpRequest(url + path, { method, headers: all, agent: false }, (response) =>
      resolve({ status: response.statusCode, headers: response.headers, response }),
    );
    onTestFinished(() => void request.destroy());
    request.on("error", reject).end(form);
  });
}

const cookieOf = ({ headers }: Answer): string => headers["set-cookie"]?.[0]?.split(";")[0] ?? "";

test("any API machine shows the log of a job while a worker runs it, to those who signed in at another one", async () => {
  const url = await server().createStoreDatabase();
  const go = temporaryFolder();
  const agent = scriptAgent(`
    console.log("begin " + prompt);
    while (!fs.existsSync(${JSON.stringify(go)} + "/" + prompt)) await new Promise((resolve) => setTimeout(resolve, 10));
    console.log("end " + prompt);
  `);
  const options: ServiceOptions = {
    settings: PerProject.same(projectOptions(docsRepository(), { agent })),
    apiKey: serviceKey,
    projects: ["docs"],
    folder: "",
    agents: 1,
    publicUrl: "https://agents.example.com",
    openStore: () => openPostgresStore({ url, log: () => {} }),
  };
  const start = async <T extends AsyncDisposable>(part: (options: ServiceOptions) => Promise<T>) => {
    const started = await part({ ...options, folder: temporaryFolder() });
    let isStopped = false;
    const stop = async () => {
      if (!isStopped) await started[Symbol.asyncDispose]();
      isStopped = true;
    };
    onTestFinished(stop);
    return { ...started, stop };
  };
  const apis = [await start(startApi), await start(startApi)] as const;
  const worker = await start(startWorker);

  const link = new URL(await apis[0].createSignInLink("/"));
  const signedIn = await ask(apis[1].url, link.pathname);
  expect(signedIn.status).toBe(303);
  expect((await ask(apis[0].url, link.pathname)).status).toBe(403);
  const cookie = cookieOf(signedIn);

  const { job } = await send(apis[0], "docs/job", "first");
  const path = `/job/${job.id}/log`;
  const { status, response } = await ask(apis[0].url, path, { cookie });
  expect(status).toBe(200);
  let log = "";
  response.setEncoding("utf8").on("data", (part: string) => {
    log += part;
  });
  const ended = once(response, "end");
  await waitUntil(() => log.includes("| begin first\n"));
  expect(log).not.toContain("end first");
  writeFileSync(join(go, "first"), "");
  await ended;
  expect(log).toContain("| end first\n[service] The agent completed.\n");
  expect((await waitForJob(apis[1], job.id)).status).toBe("completed");

  // The next turn runs on another machine.
  await worker.stop();
  await start(startWorker);
  writeFileSync(join(go, "second"), "");
  await send(apis[1], `docs/job/${job.id}/message`, "second");
  await waitForJob(apis[1], job.id);
  const bearer = { authorization: `Bearer ${serviceKey}` };
  const [here, there] = await Promise.all(apis.map(async (api) => text((await ask(api.url, path, bearer)).response)));
  expect(here).toBe(there);
  expect(here?.startsWith(log)).toBe(true);
  expect(here?.slice(log.length)).toMatch(/^\[service\] Turn \d+ started\.\n(.*\n)*\| end second\n/);

  const signOut = await ask(apis[0].url, "/sign-out", { cookie }, "");
  expect(signOut.status).toBe(303);
  for (const api of apis) expect((await ask(api.url, path, { cookie })).status).toBe(303);
});
