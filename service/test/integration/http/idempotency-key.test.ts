import { describe, expect, onTestFinished, test } from "vitest";
import { createApi } from "../../../src/api/jobs-endpoints.ts";
import { type Access, type Authenticator, unauthorized } from "../../../src/http/authentication.ts";
import { dispatch } from "../../../src/http/dispatch.ts";
import { listen } from "../../../src/http/listen.ts";
import { Jobs } from "../../../src/jobs/jobs.ts";
import type { KeptWork } from "../../../src/model.ts";
import { PerProject } from "../../../src/per-project.ts";
import type { Store } from "../../../src/store/store.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../../src/store-errors.ts";
import { memoryStore } from "../../support/memory-store.ts";

/** By their keys: two of them are of the same caller, whose key was rotated. */
const clients: Readonly<Record<string, Access>> = {
  mine: { name: "ci", projects: ["docs", "blog"] },
  rotated: { name: "ci", projects: ["docs", "blog"] },
  other: { name: "nightly", projects: ["docs"] },
  // A repository, and another one that took its name over.
  repository: { name: "repo acme/docs", caller: "repo 345", projects: ["docs"] },
  successor: { name: "repo acme/docs", caller: "repo 346", projects: ["docs"] },
  outsider: { name: "outsider", projects: ["site"] },
};

const authenticator: Authenticator = {
  authenticate: async (key = "") => {
    const access = clients[key];
    if (access === undefined) throw unauthorized("Invalid API key");
    return access;
  },
  accessOf: async () => undefined,
};

interface Call {
  method?: string;
  /** The key of the client. Default: `mine`. */
  client?: string;
  /** The header `Idempotency-Key`. Default: none. */
  key?: string;
  prompt?: unknown;
}

async function setUp(store: Store = memoryStore()) {
  const jobs = new Jobs({ store, projects: PerProject.same({ repositoryName: "docs", model: "large" }) });
  const log: string[] = [];
  const api = createApi({ engine: jobs, steps: jobs, turns: jobs, authenticator });
  const server = await listen(dispatch({ ...api, log: (line) => void log.push(line) }));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const call = async (path: string, { client = "mine", key, prompt, method }: Call = {}) => {
    const response = await fetch(`${server.url}/v2/agent/${path}`, {
      method: method ?? (prompt === undefined ? "GET" : "POST"),
      headers: {
        authorization: `Bearer ${client}`,
        "content-type": "application/json",
        ...(key !== undefined && { "idempotency-key": key }),
      },
      ...(prompt !== undefined && { body: JSON.stringify({ prompt }) }),
    });
    const text = await response.text();
    const body = text === "" ? undefined : (JSON.parse(text) as { id: string });
    const replayed = response.headers.get("idempotent-replayed");
    return { status: response.status, body, replayed, allow: response.headers.get("allow") };
  };
  const create = async (key?: string, prompt = "Fix it") =>
    call("docs/job", { prompt, ...(key !== undefined && { key }) });
  const total = () => store.counts.total();
  return { store, call, create, total, log };
}

const key = '"deploy.1"';

test("a create with a key makes one job, and is answered with the job as it is now", async () => {
  const { store, create, call, total } = await setUp();
  const first = await create(key);
  expect(first).toMatchObject({ status: 201, body: { status: "active" }, replayed: null });
  const id = first.body?.id ?? "";
  expect(await create(key)).toEqual({ ...first, replayed: "true" });
  expect(await call("docs/job", { key, prompt: "Fix it", client: "rotated" })).toEqual({ ...first, replayed: "true" });
  expect(await total()).toEqual({ jobs: 1, waitingTurns: 1 });
  const turn = await store.runningTurns.startNext();
  if (turn) await store.runningTurns.finish(turn, "failed", 5);
  expect(await create(key)).toMatchObject({ status: 201, body: { id, status: "failed" }, replayed: "true" });
});

test("a create under a step whose newest turn failed with its work kept is a message to that job", async () => {
  const { store, create, call, total } = await setUp();
  const id = (await create(key)).body?.id ?? "";
  const end = async (kept?: KeptWork) => {
    const turn = await store.runningTurns.startNext();
    if (turn) await store.runningTurns.finish(turn, "failed", 5, { reason: "It was refused.", kept });
  };
  await end("push");
  expect(await call(`docs/job/${id}`)).toMatchObject({ body: { status: "failed", kept: "push" } });
  expect(await call("docs/job?step=deploy")).toMatchObject({ body: { turns: [{ request: "1", kept: "push" }] } });
  expect(await create(key)).toMatchObject({ body: { id, status: "failed" }, replayed: "true" });
  // A turn that was stopped before its agent ran has done nothing to it.
  await store.turns.add(id, "Fix that", 6, undefined, { caller: "ci", step: "deploy", request: "that" });
  await store.turns.stop(id, (await store.turns.ofJob(id)).at(-1)?.id ?? 0, 7, "Stopped.");
  expect(await call(`docs/job/${id}`)).toMatchObject({ body: { status: "failed", kept: "push" } });
  const sent = { caller: "ci", step: "deploy", request: "2" };
  expect(await store.turns.keptJob("docs", sent, { prompt: "Fix it", base: null })).toBe(id);
  expect(await store.turns.keptJob("docs", sent, { prompt: "Fix it", base: "next" })).toBeUndefined();
  const again = await create('"deploy.2"');
  expect(again).toMatchObject({ status: 201, body: { id, status: "active" }, replayed: null });
  expect(again.body).not.toHaveProperty("kept");
  expect(await create('"deploy.2"')).toEqual({ ...again, replayed: "true" });
  expect(await create(key)).toMatchObject({ body: { id }, replayed: "true" });
  for (const other of ['"other.1"', undefined]) expect((await create(other)).body?.id).not.toBe(id);
  expect((await create('"deploy.3"', "Fix that")).body?.id).not.toBe(id);
  expect(await total()).toMatchObject({ jobs: 4 });
  await end();
  expect((await create('"deploy.4"')).body?.id).not.toBe(id);
});

test("a create is answered with the job that it made, although work of an earlier one was kept since", async () => {
  const { store, create } = await setUp();
  await create(key);
  const { body } = await create('"deploy.2"');
  const turn = await store.runningTurns.startNext();
  if (turn) await store.runningTurns.finish(turn, "failed", 5, { reason: "It was refused.", kept: "push" });
  expect(await create('"deploy.2"')).toMatchObject({ status: 201, body: { id: body?.id }, replayed: "true" });
});

test("a message with a key adds one turn, and is answered with the job as it is now", async () => {
  const { store, create, call } = await setUp();
  const id = (await create()).body?.id ?? "";
  const message = { key, prompt: "More" };
  const first = await call(`docs/job/${id}/message`, message);
  expect(first).toMatchObject({ status: 200, body: { id, status: "active" }, replayed: null });
  expect(await call(`docs/job/${id}/message`, message)).toEqual({ ...first, replayed: "true" });
  expect(await store.turns.ofJob(id)).toHaveLength(2);
});

test("requests without a key are new ones, also beside those with one", async () => {
  const { create, total } = await setUp();
  for (const sent of [undefined, key, undefined, undefined])
    expect(await create(sent)).toMatchObject({ status: 201, replayed: null });
  expect((await total()).jobs).toBe(4);
});

test("a key for another request is rejected, and adds nothing", async () => {
  const { store, create, call } = await setUp();
  const id = (await create(key)).body?.id ?? "";
  const error = { error: "Idempotency-Key was used for another request" };
  expect(await create(key, "Fix that")).toMatchObject({ status: 422, body: error, replayed: null });
  expect(await call(`docs/job/${id}/message`, { key, prompt: "Fix that" })).toMatchObject({ status: 422, body: error });
  // Its answer was lost, and the job is known from elsewhere.
  expect(await call(`docs/job/${id}/message`, { key, prompt: "Fix it" })).toMatchObject({
    status: 200,
    replayed: "true",
  });
  expect(await store.turns.ofJob(id)).toHaveLength(1);
  expect((await store.counts.total()).jobs).toBe(1);
});

test("a key of another caller or project is another key", async () => {
  const { create, call, total } = await setUp();
  await create(key);
  expect(await call("docs/job", { key, prompt: "Fix that", client: "other" })).toMatchObject({ status: 201 });
  expect(await call("blog/job", { key, prompt: "Fix that" })).toMatchObject({ status: 201, replayed: null });
  expect((await total()).jobs).toBe(3);
});

test("a key of a repository is not that of another one with the same name", async () => {
  const { call, total } = await setUp();
  for (const client of ["repository", "repository", "successor"])
    expect(await call("docs/job", { key, prompt: "Fix it", client })).toMatchObject({
      status: 201,
    });
  expect((await total()).jobs).toBe(2);
});

test("a request is known although the hourly limit is used up", async () => {
  const { create } = await setUp();
  const { body } = await create(key);
  for (let use = 1; use < 100; use++) await create();
  expect(await create('"deploy.2"')).toMatchObject({ status: 429 });
  expect(await create(key)).toMatchObject({ status: 201, body, replayed: "true" });
});

describe("a key that is malformed is rejected", () => {
  test.each([
    "deploy.1",
    "",
    '""',
    '"deploy.1',
    '"deploy.1";a=b',
    '"deploy.1", "deploy.2"',
    '"a\\b"',
    '"a"b"',
    '"caf\u00e9"',
    "?1",
    ":ZGVwbG95:",
    `"${"x".repeat(257)}"`,
  ])("%s", async (malformed) => {
    const { create, call, total } = await setUp();
    const id = (await create()).body?.id ?? "";
    const error = { error: expect.stringMatching(/^Idempotency-Key must /) };
    expect(await create(malformed)).toMatchObject({ status: 400, body: error });
    const message = { key: malformed, prompt: "More" };
    expect(await call(`docs/job/${id}/message`, message)).toMatchObject({ status: 400, body: error });
    expect(await total()).toEqual({ jobs: 1, waitingTurns: 1 });
  });
});

test.each([
  [key, "deploy", "1"],
  ['"deploy.1.2"', "deploy", "1.2"],
  ['"uuid"', "", "uuid"],
  ['".1"', "", ".1"],
  ['"1."', "", "1."],
  ['"a \\"b\\\\.\\"c"', 'a "b\\', '"c'],
  [`"${"s".repeat(128)}.${"r".repeat(127)}"`, "s".repeat(128), "r".repeat(127)],
])("the key %s is of a step and a request", async (header, step, request) => {
  const { store, create } = await setUp();
  const { status, body } = await create(header);
  expect(status).toBe(201);
  expect(await store.turns.ofJob(body?.id ?? "")).toMatchObject([{ caller: "ci", step, request }]);
});

describe("the turns of a step", () => {
  test("are those that the caller has sent for it, newest first", async () => {
    const { store, create, call } = await setUp();
    const job = (await create(key)).body?.id ?? "";
    await create('"other.1"');
    await create();
    await call("blog/job", { key, prompt: "Fix it" });
    await call("docs/job", { key, prompt: "Fix it", client: "other" });
    await call(`docs/job/${job}/message`, { key: '"deploy.2"', prompt: "More" });
    const [first, second] = await store.turns.ofJob(job);
    const turns = [
      { job, turn: String(second?.id), request: "2", status: "waiting" },
      { job, turn: String(first?.id), request: "1", status: "waiting" },
    ];
    const answer = { status: 200, body: { step: "deploy", features: ["session", "sections", "stop"], turns } };
    expect(await call("docs/job?step=deploy")).toMatchObject(answer);
    expect(await call("docs/job?step=deploy", { client: "rotated" })).toMatchObject(answer);
    expect(await call("docs/job?step=deploy", { method: "HEAD" })).toMatchObject({ status: 200, body: undefined });
    expect(await call("docs/job?step=deploy", { key: '"deploy.2"' })).toMatchObject({ body: { key: "2" } });
    expect(await call("docs/job?step=deploy")).toMatchObject({ body: { key: null } });
    const none = { step: "unknown", features: ["session", "sections", "stop"], turns: [] };
    expect(await call("docs/job?step=unknown")).toMatchObject({ status: 200, body: none });
  });

  test("are not listed to those who may not use the project", async () => {
    const { create, call } = await setUp();
    await create(key);
    for (const step of ["deploy", "unknown", ""]) {
      const path = `docs/job?step=${step}`;
      expect(await call(path, { client: "" })).toMatchObject({ status: 401 });
      const outsider = { status: 404, body: { error: "Project not found" }, allow: null };
      for (const method of ["GET", "DELETE"])
        expect(await call(path, { client: "outsider", method })).toMatchObject(outsider);
    }
  });

  test.each([
    "",
    "?step",
    "?step=",
    "?step=a.b",
    "?step=caf%C3%A9",
    "?step=%00",
    "?step=a&step=a",
    `?step=${"a".repeat(257)}`,
  ])("need a step that a key can have (%s)", async (query) => {
    const { call } = await setUp();
    const error = expect.stringMatching(/^step must /);
    expect(await call(`docs/job${query}`)).toMatchObject({ status: 400, body: { error } });
  });

  test("say what their agents said, and what they cost, if that is known", async () => {
    const { store, create, call } = await setUp();
    const shown = async () => {
      const { body } = (await call("docs/job?step=deploy")) as { body?: { turns?: unknown[] } };
      return body?.turns?.[0];
    };
    const job = (await create(key)).body?.id ?? "";
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    const running = { job, turn: String(turn.id), request: "1", status: "running" };
    await store.runningTurns.countAttempt(turn);
    expect(await shown()).toEqual(running);
    await store.runningTurns.setReport(turn, { answer: " Done.\n", costUsd: 0.0123 });
    expect(await shown()).toEqual({ ...running, message: "Done.", usage: { costUsd: 0.0123 } });
    await store.runningTurns.setReport(turn, { answer: "𝄞".repeat(3000), costUsd: 0 });
    // Not half of a character.
    const message = `${"𝄞".repeat(1999)}…`;
    expect(await shown()).toEqual({ ...running, message, usage: { costUsd: 0 } });
    // It is run again.
    await store.runningTurns.countAttempt(turn);
    expect(await shown()).toEqual(running);
    await store.runningTurns.setReport(turn, { answer: "  " });
    await store.runningTurns.finish(turn, "completed", 5);
    expect(await shown()).toEqual({ ...running, status: "completed" });
  });

  test("say why they failed, if that is known", async () => {
    const { store, create, call } = await setUp();
    await create(key);
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    await store.runningTurns.finish(turn, "failed", 5, {
      reason: ` The agent ended with exit code 3.\n${"x".repeat(2000)} Do this.`,
    });
    const { body } = (await call("docs/job?step=deploy")) as { body?: { turns?: { reason?: string }[] } };
    const start = "The agent ended with exit code 3.\n";
    // What to do is at the end.
    const reason = `${start}${"x".repeat(499 - start.length)}…${"x".repeat(491)} Do this.`;
    expect(body?.turns).toMatchObject([{ status: "failed", reason }]);
  });

  test("are at most 100", async () => {
    const { store, create, call } = await setUp();
    const job = (await create()).body?.id ?? "";
    for (let use = 0; use < 101; use++) {
      const requestKey = { caller: "ci", step: "deploy", request: String(use) };
      // Two hours apart.
      await store.turns.add(job, "More", use * 7_200_000, undefined, requestKey);
    }
    const { body } = (await call("docs/job?step=deploy")) as { body?: { turns?: { request: string }[] } };
    expect(body?.turns?.map(({ request }) => Number(request))).toEqual(
      Array.from({ length: 100 }, (_, use) => 100 - use),
    );
  });
});

test("a request whose outcome was unknown is resolved when it is sent again", async () => {
  const { store, create, total, log } = await setUp();
  const add = store.jobs.add.bind(store.jobs);
  const failures: (() => Promise<void>)[] = [];
  store.jobs.add = async (...create) => {
    const failure = failures.shift();
    if (failure) {
      await failure();
      throw new Error("a failure throws");
    }
    return add(...create);
  };
  const unavailable = async () => {
    throw new StoreUnavailable("no connection");
  };
  const lost = async () => {
    throw new OutcomeUnknown("the connection was lost");
  };
  failures.push(unavailable, lost);
  expect(await create(key)).toMatchObject({ status: 503 });
  expect(await create(key)).toMatchObject({ status: 500 });
  expect(await create(key)).toMatchObject({ status: 201, replayed: null });
  failures.push(lost, unavailable);
  for (const status of [500, 503]) expect(await create(key)).toMatchObject({ status });
  expect(await create(key)).toMatchObject({ status: 201, replayed: "true" });
  expect((await total()).jobs).toBe(1);
  expect(log).toHaveLength(2);
});
