import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type ApiOptions, createApi } from "../../../src/api/jobs-endpoints.ts";
import { singleKey } from "../../../src/http/authentication.ts";
import { dispatch } from "../../../src/http/dispatch.ts";
import { listen } from "../../../src/http/listen.ts";
import { Jobs } from "../../../src/jobs/jobs.ts";
import { PerProject } from "../../../src/per-project.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { fakeMachine } from "../../support/fake-machine.ts";

const key = "mint_service_key";

/** Starts the API on a store with an active job, `a`, of the project `docs`. Its waits are over when `passTime` is called. */
async function setUp(options: Partial<ApiOptions> = {}) {
  const store = openSqliteStore(":memory:");
  const sleeps: number[] = [];
  const over = Promise.withResolvers<void>();
  const stop = new AbortController();
  const jobs = new Jobs({
    store,
    projects: PerProject.same({ repositoryName: "docs", model: "large" }),
    machine: fakeMachine({
      sleep: (ms, signal) => {
        sleeps.push(ms);
        return Promise.race([
          over.promise,
          new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve())),
        ]);
      },
    }),
  });
  const authenticator = singleKey(key, ["docs"]);
  const api = createApi({ engine: jobs, authenticator, signal: stop.signal, ...options });
  const service = await listen(dispatch({ ...api, log: console.error }));
  onTestFinished(async () => {
    stop.abort();
    await service[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "Go on");
  const get = async (prefer: string | undefined, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...(prefer !== undefined && { prefer }) };
    const response = await fetch(`${service.url}/v2/agent/docs/job/a`, { ...init, headers });
    const text = await response.text();
    const { status = undefined } = text === "" ? {} : (JSON.parse(text) as { status?: string });
    return { status, applied: response.headers.get("preference-applied"), link: response.headers.get("link") };
  };
  /** Returns when so many requests have begun to wait since the start. */
  const waits = (count: number) => expect.poll(() => sleeps.length).toBe(count);
  const endTurn = async () => {
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    await store.runningTurns.finish(turn, "completed", 1000);
  };
  return { store, get, waits, endTurn, sleeps, passTime: over.resolve, stop };
}

test("answers a request that prefers to wait when its job ends", async () => {
  const { get, waits, endTurn } = await setUp();
  const answer = get("wait=10");
  await waits(1);
  await endTurn();
  expect(await answer).toMatchObject({ status: "completed", applied: "wait=10" });
});

test("answers all requests that wait for a job", async () => {
  const { get, waits, endTurn } = await setUp();
  const answers = [get("wait=10"), get("wait=20"), get("wait=25")];
  await waits(3);
  await endTurn();
  expect(await Promise.all(answers)).toMatchObject(Array(3).fill({ status: "completed" }));
});

test("answers only when the last turn of the job ends", async () => {
  const { store, get, waits, endTurn } = await setUp();
  await store.turns.add("a", "More", 0);
  let isAnswered = false;
  const answer = get("wait=10").finally(() => {
    isAnswered = true;
  });
  await waits(1);
  await endTurn();
  await setTimeout(50);
  expect(isAnswered).toBe(false);
  await endTurn();
  expect(await answer).toMatchObject({ status: "completed" });
});

test("answers when the time is over", async () => {
  const { get, waits, sleeps, passTime } = await setUp();
  const answer = get("wait=10");
  await waits(1);
  passTime();
  expect(await answer).toMatchObject({ status: "active", applied: "wait=10" });
  expect(sleeps).toEqual([10_000]);
});

test.each([
  ["wait=25", 25],
  ["wait=26", 25],
  ["wait=999999999", 25],
  ["respond-async, WAIT = 3", 3],
  ['wait="7"; x=y', 7],
  ["wait=4, wait=9", 4],
  ["wait=0", 0],
])("takes %s for a wait of %i seconds", async (prefer, seconds) => {
  const { get, waits, sleeps, passTime } = await setUp();
  const answer = get(prefer);
  await waits(1);
  passTime();
  expect(await answer).toMatchObject({ applied: `wait=${seconds}` });
  expect(sleeps).toEqual([seconds * 1000]);
});

test.each([
  undefined,
  "",
  "wait",
  "wait=",
  "wait=-1",
  "wait=1.5",
  "wait=x",
  "await=5",
  "wait=1234567890",
  "respond-async",
])("answers at once with the preference %s", async (prefer) => {
  const { get, sleeps } = await setUp();
  expect(await get(prefer)).toMatchObject({ status: "active", applied: null });
  expect(sleeps).toEqual([]);
});

test("answers at once if the job is not active", async () => {
  const { get, endTurn, sleeps } = await setUp();
  await endTurn();
  expect(await get("wait=10")).toMatchObject({ status: "completed", applied: "wait=10" });
  expect(sleeps).toEqual([]);
});

test("answers a HEAD at once", async () => {
  const { get, sleeps } = await setUp();
  expect(await get("wait=10", { method: "HEAD" })).toMatchObject({ applied: null });
  expect(sleeps).toEqual([]);
});

test("answers at once if too many wait, until one has gone", async () => {
  const { get, waits, sleeps, endTurn } = await setUp({ maxWaiting: 2 });
  const gone = new AbortController();
  const first = get("wait=10");
  const second = get("wait=10", { signal: gone.signal });
  await waits(2);
  expect(await get("wait=10")).toMatchObject({ status: "active", applied: null });
  gone.abort();
  await expect(second).rejects.toThrow();
  // The service notices a moment later that the client has gone.
  const later: Promise<unknown>[] = [];
  await expect
    .poll(() => {
      later.push(get("wait=10"));
      return sleeps.length;
    })
    .toBe(3);
  await endTurn();
  expect(await first).toMatchObject({ status: "completed" });
  await Promise.all(later);
});

test("answers all that wait when the service stops, so that they poll another one", async () => {
  const { get, waits, stop } = await setUp();
  const answer = get("wait=10");
  await waits(1);
  stop.abort();
  expect(await answer).toMatchObject({ status: "active", applied: null });
});

test("links the page of a job, if jobs have pages", async () => {
  const { get } = await setUp({ hasJobPages: true });
  expect((await get(undefined)).link).toBe('</job/a>; rel="alternate"; type="text/html"');
  const without = await setUp();
  expect((await without.get(undefined)).link).toBeNull();
});

test("answers at once while the service stops", async () => {
  const { get, sleeps, stop } = await setUp();
  stop.abort();
  expect(await get("wait=10")).toMatchObject({ status: "active", applied: null });
  expect(sleeps).toEqual([]);
});
