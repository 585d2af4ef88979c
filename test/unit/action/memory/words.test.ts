import { describe, expect, test } from "vitest";
import type { GitHub } from "../../../../src/action/runner/github.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { type MainOptions, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const environment = {
  GITHUB_RUN_ID: "99",
  GITHUB_JOB: "docs",
  GITHUB_ACTION: "a",
  GITHUB_REPOSITORY: "acme/docs",
  RUNNER_NAME: "r",
};
const own = { "base-url": "https://agents.example.com" };

/** A service without keys; the jobs in `over` have failed, and the others complete. */
function hosted(over: readonly string[] = []) {
  const created: string[] = [];
  const respond = ({ method, path }: SeenRequest): Exchange => {
    if (method === "POST") created.push(`job_${created.length + 1}`);
    const id = method === "POST" ? (created.at(-1) ?? "") : (path.split("/").at(-1) ?? "");
    const ended = over.includes(id) ? { status: "failed" } : { status: "completed", prLink };
    return respondWith(method === "POST" ? 201 : 200, record({ id, ...(method === "GET" && ended) }));
  };
  return { created, respond };
}

/** GitHub's record, by which every attempt ran the step. */
const allRan = (own: number): GitHub => ({
  request: async (_route, { attempt_number: attempt }) => {
    const [status, conclusion] = attempt === own ? ["in_progress", null] : ["completed", "failure"];
    const steps = [{ number: 2, name: "s", status, conclusion, started_at: "x" }];
    return { total_count: 1, jobs: [{ name: "docs", status, conclusion, runner_name: "r", steps }] };
  },
  paginate: async () => [],
});

/** Runs an attempt for whose steps GitHub can be asked. */
const attempt = (runAttempt: number, cache: FakeCache, options: Partial<MainOptions>) =>
  runMain({
    respond: () => respondWith(500),
    ...options,
    cache,
    runAttempt,
    environment,
    github: allRan(runAttempt),
    inputs: { "github-token": "ghs_0123456789", ...options.inputs },
  });

describe("an attempt without a word, after one whose job", () => {
  test.each([
    ["is of use: waits for that, and names the silent one", [], "resumed"],
    ["has failed: sends nothing", ["job_1"], ""],
  ])("%s", async (_name, over, origin) => {
    const cache = new FakeCache();
    const service = hosted(over);
    await attempt(1, cache, service);
    const { outputs, toolkit } = await attempt(3, cache, service);
    expect(service.created).toEqual(["job_1"]);
    expect(outputs["job-origin"]).toBe(origin);
    const [warning] = toolkit.annotations;
    expect(warning?.title).toBe("Earlier attempt may have started a job");
    expect(warning?.text).toContain("attempt 2 of this workflow run ran this step");
    // The attempt after it decides the same: that one waited is no word of its own.
    const next = await attempt(4, cache, service);
    expect(next.outputs["job-origin"]).toBe(origin);
    expect(service.created).toHaveLength(1);
  });
});

test("an attempt that waited beside a silent one leaves no word that hides that one, once the job fails", async () => {
  const cache = new FakeCache();
  const over: string[] = [];
  const service = hosted(over);
  await attempt(1, cache, service);
  expect((await attempt(3, cache, service)).outputs["job-origin"]).toBe("resumed");
  over.push("job_1");
  expect((await attempt(4, cache, service)).toolkit.annotations[0]?.title).toBe(
    "Earlier attempt may have started a job",
  );
  expect(service.created).toEqual(["job_1"]);
});

test("an attempt with on-rerun: new leaves a word, so that the next one waits for its job", async () => {
  const cache = new FakeCache();
  const service = hosted(["job_1"]);
  await attempt(1, cache, service);
  await attempt(2, cache, { ...service, inputs: { "on-rerun": "new" } });
  const { outputs } = await attempt(3, cache, service);
  expect(outputs).toMatchObject({ "job-id": "job_2", "job-origin": "resumed" });
});

test("after a doubt and on-rerun: new, a re-run waits for the new job", async () => {
  const cache = new FakeCache();
  await attempt(1, cache, { respond: () => respondWith(502) });
  const service = hosted();
  await attempt(2, cache, { ...service, inputs: { "on-rerun": "new" } });
  expect((await attempt(3, cache, service)).outputs).toMatchObject({ "job-id": "job_1", "job-origin": "resumed" });
});

test("attempt 10 needs four look-ups, because each attempt that waited saved the job as its own", async () => {
  const cache = new FakeCache();
  const service = hosted();
  for (let number = 1; number < 10; number++) await attempt(number, cache, service);
  cache.restores = 0;
  await attempt(10, cache, service);
  expect(cache.restores).toBe(4);
});

test("a request of on-rerun: new that is in flight when its step ends has the key that the next attempt gives it", async () => {
  const cache = new FakeCache();
  const service = new KeyedService();
  service.next = "failed";
  await attempt(1, cache, { respond: service.respond, inputs: own });
  const isPost = ({ method }: SeenRequest): boolean => method === "POST";
  const keysOf = (requests: readonly SeenRequest[]) =>
    requests.filter(isPost).map(({ headers }) => headers["idempotency-key"]);
  const respond = (request: SeenRequest) =>
    isPost(request) ? ({ failure: "no-response" } as const) : service.respond(request);
  const second = await attempt(2, cache, { respond, inputs: { ...own, "on-rerun": "new" }, cancelAt: 100 });
  service.next = "completed";
  const { requests, outputs } = await attempt(3, cache, { respond: service.respond, inputs: own });
  expect(keysOf(requests)).toEqual(keysOf(second.requests));
  expect(outputs.outcome).toBe("pr-created");
  expect(service.turns).toHaveLength(2);
});

test("on attempt 1, on-rerun: new has the key of resume", async () => {
  const keyOf = async (onRerun: string) => {
    const { requests } = await attempt(1, new FakeCache(), { ...hosted(), inputs: { "on-rerun": onRerun } });
    return requests[0]?.headers["idempotency-key"];
  };
  expect(await keyOf("new")).toBe(await keyOf("resume"));
});

describe("a service that", () => {
  const lookups = (requests: readonly SeenRequest[]) => requests.filter(({ query }) => query.includes("step=")).length;
  /** Answers the question by step in its own way, and everything else like a service without keys. */
  const answering = (answer: Exchange) => {
    const { created, respond } = hosted();
    return {
      created,
      respond: (request: SeenRequest) => (request.query.includes("step=") ? answer : respond(request)),
    };
  };

  test.each([404, 405, 501])("answers %i twice, and of which no word tells, has no keys", async (status) => {
    const cache = new FakeCache();
    const service = answering(respondWith(status, "<html>"));
    const run = await runMain({ ...service, cache, runAttempt: 2, environment, inputs: own });
    expect(lookups(run.requests)).toBeGreaterThanOrEqual(2);
    expect(service.created).toEqual(["job_1"]);
  });

  test.each<[string, Exchange]>([
    ["403", respondWith(403)],
    ["502", respondWith(502)],
    ["a page with 200", respondWith(200, "<html>")],
  ])("answers %s, and of which no word tells, is asked for 20 s, and then nothing is sent", async (_name, answer) => {
    const service = answering(answer);
    const run = await runMain({ ...service, cache: new FakeCache(), runAttempt: 2, environment, inputs: own });
    expect(service.created).toEqual([]);
    expect(run.clock.elapsedMs).toBeGreaterThan(15_000);
    expect(run.toolkit.annotations.at(-1)?.title).toBe("Cannot ask the service what was sent");
  });

  test("announced itself before is asked for 20 s, and then nothing is sent or waited for", async () => {
    const cache = new FakeCache();
    const keyed = new KeyedService();
    await attempt(1, cache, { respond: keyed.respond, inputs: own });
    await attempt(2, cache, { respond: keyed.respond, inputs: own });
    const service = answering(respondWith(404));
    // One that did not ask for the words, and found that the service cannot be asked, is not the one to go by.
    const rejecting = (request: SeenRequest) =>
      request.method === "POST" ? respondWith(401) : service.respond(request);
    await attempt(3, cache, { respond: rejecting, inputs: { ...own, "on-rerun": "new" } });
    const run = await attempt(4, cache, { ...service, inputs: own });
    expect(run.outputs.outcome).toBe("error");
    expect(run.requests.every(({ query }) => query.includes("step="))).toBe(true);
    expect(run.clock.elapsedMs).toBeGreaterThan(15_000);
  });
});
