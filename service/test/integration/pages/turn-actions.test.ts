import { expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { Jobs } from "../../../src/jobs/jobs.ts";
import { PerProject } from "../../../src/per-project.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { startPages } from "../../support/pages-server.ts";

/** Starts the pages for jobs in a store: `a` of the project `docs`, and `secret` of one that the key does not give access to. */
async function setUp() {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const projects = PerProject.same({ repositoryName: "docs", model: "large" });
  const jobs = new Jobs({ store, projects });
  const pages = await startPages({ store, turnControl: jobs });
  await store.jobs.add({ id: "a", project: "docs", createdAt: 0 }, "Fix it");
  await store.jobs.add({ id: "secret", project: "other", createdAt: 0 }, "Fix it");
  const idOf = async (job: string) => (await store.turns.ofJob(job)).at(-1)?.id ?? 0;
  const act = async (action: string, headers: Record<string, string> = { cookie: pages.cookie }, job = "a") =>
    pages.ask(`/job/${job}/turn/${await idOf(job)}/${action}`, { method: "POST", headers });
  const start = async () => {
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    return turn;
  };
  /** Returns the labels of the buttons of turns. */
  const buttons = async () =>
    [...(await pages.get("/job/a")).text.matchAll(/<button class="small">([^<]+)</g)].map(([, label]) => label);
  return { ...pages, store, act, start, buttons };
}

test("a turn that waits is taken out of the queue, and run again", async () => {
  const { store, act, buttons } = await setUp();
  expect(await buttons()).toEqual(["Take out of the queue"]);
  expect(await act("stop")).toMatchObject({ status: 303, headers: { location: "/job/a" } });
  expect(await store.turns.ofJob("a")).toMatchObject([
    { state: "failed", reason: "Stopped by an operator (API key)." },
  ]);
  expect(await buttons()).toEqual(["Run again"]);
  expect(await act("retry")).toMatchObject({ status: 303, headers: { location: "/job/a" } });
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "failed" }, { state: "waiting", prompt: "Fix it" }]);
});

test("a running turn is told to stop", async () => {
  const { store, act, start, buttons } = await setUp();
  const turn = await start();
  expect(await buttons()).toEqual(["Stop"]);
  expect((await act("stop")).status).toBe(303);
  expect(await store.runningTurns.stopRequest(turn)).toBe("Stopped by an operator (API key).");
});

test("a turn that has ended is neither stopped nor run again, unless it is the last one and has failed", async () => {
  const { store, act, start, buttons } = await setUp();
  await store.runningTurns.finish(await start(), "completed", 1);
  expect(await buttons()).toEqual([]);
  expect(await act("stop")).toMatchObject({ status: 409, text: expect.stringContaining("The turn has ended") });
  expect(await act("retry")).toMatchObject({ status: 409, text: expect.stringContaining("only if it has failed") });
  expect(await store.lists.countTurns("a")).toBe(1);
});

test("only the last one of failed turns can be run again", async () => {
  const { store, act, buttons } = await setUp();
  await act("stop");
  await store.turns.add("a", "More", 0);
  await act("stop");
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "failed" }, { state: "failed" }]);
  expect(await buttons()).toEqual(["Run again"]);
});

test("a project that has used up its messages is told when to try again", async () => {
  const { store, act } = await setUp();
  await act("stop");
  for (let message = 0; message < 100; message++) {
    await store.turns.add("a", "More", Date.now());
    await act("stop");
  }
  const { status, headers, text } = await act("retry");
  expect({ status, retryAfter: Number(headers["retry-after"]) > 3000 }).toEqual({ status: 429, retryAfter: true });
  expect(text).toContain("The project has used up its messages of this hour. Try again in ");
});

test("programs send the key, and are answered with text", async () => {
  const { store, act } = await setUp();
  const headers = { authorization: `Bearer ${serviceKey}` };
  const stopped = "The turn was taken out of the queue, or its agent is told to stop.\n";
  expect(await act("stop", headers)).toMatchObject({ status: 200, text: stopped });
  expect(await act("retry", headers)).toMatchObject({ status: 200, text: "The turn is run again.\n" });
  expect(await act("stop", headers, "secret")).toMatchObject({ status: 404, text: "Job not found\n" });
  expect(await store.lists.countTurns("a")).toBe(2);
});

test("nobody else can do anything", async () => {
  const { store, act, ask, cookie } = await setUp();
  expect(await act("stop", {})).toMatchObject({
    status: 303,
    headers: { location: expect.stringMatching(/^\/sign-in/) },
  });
  expect((await act("stop", { authorization: "Bearer wrong" })).status).toBe(401);
  expect((await act("stop", { cookie, "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await act("stop", { cookie, "sec-fetch-site": "same-site" })).status).toBe(403);
  expect((await act("stop", { cookie, origin: "https://evil.example" })).status).toBe(403);
  expect((await act("stop", { cookie }, "secret")).status).toBe(404);
  expect((await act("retry", { cookie }, "secret")).status).toBe(404);
  expect((await ask("/job/a/turn/1/stop", { headers: { cookie } })).status).toBe(405);
  expect(await store.turns.ofJob("a")).toMatchObject([{ state: "waiting" }]);
  expect(await store.turns.ofJob("secret")).toMatchObject([{ state: "waiting" }]);
});
