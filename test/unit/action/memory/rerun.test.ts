import { describe, expect, test } from "vitest";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { type MainOptions, pollsReturn, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const completed = record({ status: "completed", prLink });
const environment = { GITHUB_RUN_ID: "99", GITHUB_JOB: "docs", GITHUB_ACTION: "__owner_action" };

/** Runs one attempt of a step whose runner offers a cache service. */
function attempt(runAttempt: number, cache: FakeCache, options: Partial<MainOptions> = {}) {
  return runMain({
    respond: pollsReturn(record(), completed),
    ...options,
    cache,
    runAttempt,
    environment: { ...environment, ...options.environment },
  });
}

/** A service whose job has this record whenever it is read; a create starts `job_2`. */
const jobIs =
  (fields: Record<string, unknown>) =>
  ({ method, path }: SeenRequest): Exchange => {
    if (method === "POST") return respondWith(201, record({ id: "job_2" }));
    return path.endsWith("/job_2") ? respondWith(200, { ...completed, id: "job_2" }) : respondWith(200, record(fields));
  };

/** A service that accepts a message, and still shows the job as it was before. */
const showsBefore =
  (before: Record<string, unknown>) =>
  ({ method }: SeenRequest): Exchange =>
    respondWith(200, method === "POST" ? record() : before);

/** The cache after a first attempt that started `job_1` and timed out. */
async function cacheAfterTimeout(options: Partial<MainOptions> = {}): Promise<FakeCache> {
  const cache = new FakeCache();
  const first = await attempt(1, cache, {
    respond: ({ method }) => respondWith(method === "POST" ? 201 : 200, record()),
    ...options,
    inputs: { "timeout-minutes": "1", ...options.inputs },
  });
  expect(first.outputs).toMatchObject({ outcome: "timed-out", "job-id": "job_1" });
  return cache;
}

/** What the entries say, in the order in which they arrived. */
const statesIn = ({ entries }: FakeCache) => entries.map(({ key }) => /-\d+-(pending|not-sent|job)-/.exec(key)?.[1]);

function failing(cache: FakeCache): void {
  cache.fault = () => Promise.reject(new Error("503"));
}

function replaceEntries(cache: FakeCache, text: string): void {
  for (const entry of cache.entries) entry.text = text;
}

const paths = (requests: SeenRequest[]) => requests.map(({ method, path }) => `${method} ${path}`);
const posts = (requests: SeenRequest[]) => paths(requests).filter((path) => path.startsWith("POST"));

describe("the first attempt", () => {
  test("remembers its job before it waits, and says that a re-run waits for it", async () => {
    const cache = new FakeCache();
    const { outputs, toolkit } = await attempt(1, cache, {
      inputs: { "timeout-minutes": "1" },
      respond: ({ method, at }) => {
        if (method === "GET") expect([at > 0, statesIn(cache)]).toEqual([true, ["pending", "job"]]);
        else expect(statesIn(cache)).toEqual(["pending"]);
        return respondWith(method === "POST" ? 201 : 200, record());
      },
    });
    expect(outputs).toMatchObject({ outcome: "timed-out", "job-origin": "created" });
    expect(cache.entries.at(-1)?.text).toBe('{"version":1,"jobId":"job_1","sent":"create"}');
    expect(toolkit.annotations.at(-1)?.text).toContain(
      "To wait for it, re-run this workflow run: nothing is sent again, unless the job fails.",
    );
    expect(cache.restores).toBe(0);
  });

  test("says nothing of a last word that is not saved in time: the job's own is", async () => {
    const cache = new FakeCache();
    let count = 0;
    cache.fault = () => (++count > 2 ? new Promise<void>(() => {}) : undefined);
    const { outputs, toolkit } = await attempt(1, cache);
    expect(outputs.outcome).toBe("pr-created");
    expect([statesIn(cache), count]).toEqual([["pending", "job"], 3]);
    expect(toolkit.annotations).toEqual([]);
  });

  test("keeps neither the key nor the prompt", async () => {
    const cache = new FakeCache();
    await attempt(1, cache, { inputs: { prompt: "a secret plan" } });
    expect(JSON.stringify(cache.entries)).not.toMatch(/secret|mint_/);
  });

  test("says that its request was rejected, so that a re-run sends it", async () => {
    const cache = new FakeCache();
    await attempt(1, cache, { respond: () => respondWith(401) });
    expect(statesIn(cache)).toEqual(["pending", "not-sent"]);
    expect(posts((await attempt(2, cache)).requests)).toHaveLength(1);
  });

  test("warns if the job cannot be saved, and says that a re-run starts another one", async () => {
    const cache = new FakeCache();
    cache.fault = () => {
      throw new Error("the cache is read-only");
    };
    const { outputs, toolkit } = await attempt(1, cache, {
      inputs: { "timeout-minutes": "1" },
      respond: ({ method }) => respondWith(method === "POST" ? 201 : 200, record()),
    });
    expect(outputs.outcome).toBe("timed-out");
    expect(toolkit.annotations[0]).toMatchObject({ level: "warning", title: "Cannot remember the job" });
    expect(toolkit.annotations[0]?.text).toContain("the cache is read-only");
    expect(toolkit.annotations.at(-1)?.text).toContain("A re-run of this workflow run may start another job.");
  });

  test("does not wait longer than five seconds for a cache service that hangs", async () => {
    const cache = new FakeCache();
    cache.fault = () => new Promise<void>(() => {});
    const { outputs, clock, toolkit } = await attempt(1, cache, { inputs: { wait: "false" } });
    expect(outputs.outcome).toBe("started");
    // The request waits three seconds for the entry that announces it.
    expect(clock.elapsedMs).toBe(3000 + 5000);
    expect(toolkit.annotations[0]?.text).toContain("If it is sent and this runner is lost then");
    expect(toolkit.annotations).toHaveLength(1);
  });

  describe.each([
    ["while it waits for the job", {}, "cancelled"],
    ["while it waits for the cache", { wait: "false" }, "started"],
  ])("that is cancelled %s", (_name, inputs, outcome) => {
    /** Runs an attempt that is cancelled after half a second, with a cache that needs some time to save a job. */
    async function cancelledAttempt(saveMs: number) {
      const cache = new FakeCache();
      const run = await attempt(1, cache, {
        inputs,
        cancelAt: 500,
        respond: ({ method }) => respondWith(method === "POST" ? 201 : 200, record()),
        onClock: (clock) => {
          // The entry that announces the request is quick.
          let saves = 0;
          cache.fault = () =>
            saves++ === 0 ? undefined : new Promise((resolve) => clock.at(clock.elapsedMs + saveMs, resolve));
        },
      });
      expect(run.outputs).toMatchObject({ outcome, "job-id": "job_1" });
      return { ...run, cache };
    }

    test.each([1000, 2499])("remembers its job if that takes %i ms", async (saveMs) => {
      const { cache, clock, toolkit } = await cancelledAttempt(saveMs);
      expect(statesIn(cache)).toEqual(["pending", "job"]);
      expect(clock.elapsedMs).toBe(saveMs);
      expect(toolkit.annotations.map(({ title }) => title)).not.toContain("Cannot remember the job");
    });

    test("waits two seconds for the cache at most, and says why", async () => {
      const { cache, clock, toolkit } = await cancelledAttempt(2501);
      expect(statesIn(cache)).toEqual(["pending"]);
      expect(clock.elapsedMs).toBe(2500);
      expect(toolkit.annotations[0]).toMatchObject({ title: "Cannot remember the job" });
      expect(toolkit.annotations[0]?.text).toContain(
        "the step was cancelled before the cache service had confirmed it",
      );
    });
  });

  describe("whose request could not be announced", () => {
    /** Runs an attempt whose saves, the first of which is the announcement, fail or take a time, in milliseconds. */
    async function unannounced(saves: readonly ("fails" | number)[], options: Partial<MainOptions>) {
      const cache = new FakeCache();
      const onClock: MainOptions["onClock"] = (clock) => {
        const next = saves.values();
        cache.fault = () => {
          const save = next.next().value ?? 0;
          if (save === "fails") throw new Error("503");
          return new Promise((resolve) => clock.at(clock.elapsedMs + save, resolve));
        };
      };
      const { toolkit } = await attempt(1, cache, { ...options, onClock });
      cache.fault = () => {};
      return { cache, text: toolkit.annotations.at(-1)?.text };
    }

    const cancelled: Partial<MainOptions> = { cancelAt: 1000, respond: () => ({ responseMs: 60_000 }) };
    const inDoubt: Partial<MainOptions> = { respond: () => ({ ...respondWith(502), responseMs: 100 }) };

    test.each<[string, readonly ("fails" | number)[], Partial<MainOptions>]>([
      ["the response says so", ["fails", 0], inDoubt],
      ["the response says so, before it is announced", [4000, 0], inDoubt],
      ["the response says so, which the announcement says, too", [4000, "fails"], inDoubt],
      ["the step is cancelled", ["fails", 1000], cancelled],
      // The response has four seconds, and the cache two more.
      ["the step is cancelled", ["fails", 5000], cancelled],
      ["the step ends, if that failed when it was cancelled", ["fails", "fails", 0], cancelled],
    ])("saves that it is in doubt as soon as %s: %j", async (_name, saves, options) => {
      const { cache, text } = await unannounced(saves, options);
      expect(text).toContain("A re-run sends nothing.");
      const { requests, outputs } = await attempt(2, cache);
      expect(requests).toEqual([]);
      expect(outputs.outcome).toBe("error");
    });

    test.each<[string, "fails" | number]>([
      ["fails", "fails"],
      ["is not confirmed", 60_000],
    ])("leaves the doubt if the save of a job that it got after a signal %s", async (_name, save) => {
      const { cache, text } = await unannounced(["fails", 500, save], {
        cancelAt: 1000,
        respond: () => ({ responseMs: 1200 }),
      });
      expect(statesIn(cache)).toEqual(["pending"]);
      expect(text).toContain("A re-run sends nothing");
      expect((await attempt(2, cache)).requests).toEqual([]);
    });

    test("saves no doubt if it is cancelled after the request was rejected", async () => {
      const { cache } = await unannounced(["fails", 1000], { cancelAt: 500, respond: () => respondWith(401) });
      expect(statesIn(cache)).toEqual(["not-sent"]);
    });
  });

  test("that is cancelled does not wait longer than five seconds for the cache", async () => {
    const cache = new FakeCache();
    cache.fault = () => new Promise<void>(() => {});
    const { clock } = await attempt(1, cache, { inputs: { wait: "false" }, cancelAt: 7000 });
    expect(clock.elapsedMs).toBe(8000);
  });

  test.each([
    ["only job-id uses no cache", { prompt: "", "job-id": "job_1" }, []],
    [
      "on-rerun: new reads no word, and leaves its own",
      { "on-rerun": "new" },
      ["pending", "job", "job", "pending", "job", "job"],
    ],
  ])("with %s", async (_name, inputs, words) => {
    const cache = new FakeCache();
    await attempt(1, cache, { inputs });
    await attempt(2, cache, { inputs });
    expect([cache.restores, statesIn(cache)]).toEqual([0, words]);
  });
});

describe("a re-run", () => {
  test.each([
    ["timed out", {}],
    ["was cancelled", { cancelAt: 30_000, inputs: { "timeout-minutes": "60" } }],
  ])("waits for the job of an attempt that %s, and sends nothing", async (_name, options: Partial<MainOptions>) => {
    const cache = new FakeCache();
    await attempt(1, cache, {
      respond: ({ method }) => respondWith(method === "POST" ? 201 : 200, record()),
      inputs: { "timeout-minutes": "1" },
      ...options,
    });
    const { outputs, requests, toolkit, hasPassed } = await attempt(2, cache);
    expect(posts(requests)).toEqual([]);
    expect(outputs).toMatchObject({
      outcome: "pr-created",
      "job-id": "job_1",
      "job-origin": "resumed",
      "pr-link": prLink,
    });
    expect(hasPassed).toBe(true);
    expect(toolkit.lines).toContain("Attempt 2: attempt 1 started job job_1; waiting for it");
  });

  test("gives the same pull request if the first attempt passed and a later step failed", async () => {
    const cache = new FakeCache();
    const first = await attempt(1, cache);
    const second = await attempt(2, cache, { respond: () => respondWith(200, completed) });
    expect(posts(second.requests)).toEqual([]);
    expect(second.outputs["pr-link"]).toBe(first.outputs["pr-link"]);
  });

  test.each(["failed", "archived", "active"])(
    "gives the result of a create that was seen to complete, whose job a later request made %s",
    async (status) => {
      const cache = new FakeCache();
      await attempt(1, cache);
      for (const number of [2, 3]) {
        // It may no longer name its pull request.
        const { outputs, requests, toolkit } = await attempt(number, cache, {
          respond: jobIs({ status, prLink: null }),
        });
        expect(paths(requests)).toEqual(["GET /v2/agent/docs/job/job_1"]);
        expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "pr-link": prLink });
        expect(toolkit.lines).toContain(`Job job_1 was completed for this request, and is ${status} since a later one`);
      }
    },
  );

  test("gives the result of a message that was seen to complete, whose job a later one made fail", async () => {
    const inputs = { "job-id": "job_1" };
    const cache = new FakeCache();
    await attempt(1, cache, { inputs, respond: pollsReturn(record(), completed) });
    const { outputs, requests } = await attempt(2, cache, { inputs, respond: jobIs({ status: "failed", prLink }) });
    expect(posts(requests)).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
  });

  test("sends nothing if the job is not found that only an answer without a record has named", async () => {
    const cache = new FakeCache();
    const first = await attempt(1, cache, {
      respond: () => respondWith(200, { id: "req-8c1f", error: "upstream request timeout" }),
    });
    expect(first.outputs).toMatchObject({ outcome: "error", "job-id": "req-8c1f" });
    for (const number of [2, 3]) {
      const { outputs, requests, toolkit } = await attempt(number, cache, {
        respond: ({ method }) =>
          method === "GET" ? respondWith(404, { error: "Job not found" }) : respondWith(201, record({ id: "job_2" })),
      });
      expect(posts(requests)).toEqual([]);
      expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
      expect(toolkit.annotations.at(-1)?.title).toBe("Job may have been started");
    }
    // An outage settles nothing.
    await attempt(4, cache, { respond: () => respondWith(503), inputs: { "timeout-minutes": "1" } });
    expect(posts((await attempt(5, cache, { respond: () => respondWith(404, { error: "No" }) })).requests)).toEqual([]);
    const found = await attempt(6, cache, { respond: jobIs({ id: "req-8c1f", status: "completed", prLink }) });
    expect(found.outputs).toMatchObject({ outcome: "pr-created", "job-id": "req-8c1f" });
  });

  test("still waits on a third attempt", async () => {
    const cache = await cacheAfterTimeout();
    await attempt(2, cache, { respond: () => respondWith(200, record()), inputs: { "timeout-minutes": "1" } });
    expect(posts((await attempt(3, cache)).requests)).toEqual([]);
  });

  test("with wait: false reads the job once", async () => {
    const cache = await cacheAfterTimeout();
    const { outputs, requests } = await attempt(2, cache, {
      inputs: { wait: "false" },
      respond: () => respondWith(200, record()),
    });
    expect(paths(requests)).toEqual(["GET /v2/agent/docs/job/job_1"]);
    expect(outputs).toMatchObject({ outcome: "started", "job-origin": "resumed" });
  });

  test.each([
    ["failed", respondWith(200, record({ status: "failed", model: "old" })), "is failed"],
    ["was archived", respondWith(200, record({ status: "archived" })), "is archived"],
    ["is not found", respondWith(404, { error: "Job not found" }), "was not found"],
  ])("starts another job if the earlier one %s", async (_name, exchange, reason) => {
    const cache = await cacheAfterTimeout();
    const { outputs, requests, toolkit } = await attempt(2, cache, {
      respond: (request) => (request.path.endsWith("/job_1") ? exchange : jobIs({})(request)),
    });
    expect(posts(requests)).toEqual(["POST /v2/agent/docs/job"]);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_2", "job-origin": "created" });
    expect(toolkit.lines).toContain(`Job job_1 ${reason}; sending the request again`);
    expect(posts((await attempt(3, cache, { respond: jobIs({}) })).requests)).toEqual([]);
  });

  test("does not replace a job that fails while it is waited for", async () => {
    const cache = await cacheAfterTimeout();
    let polls = 0;
    const { outputs, requests } = await attempt(2, cache, {
      respond: () => respondWith(200, record(polls++ < 3 ? {} : { status: "failed" })),
    });
    expect(posts(requests)).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "failed", "job-id": "job_1" });
  });

  test.each([401, 403])("sends nothing if the earlier job cannot be read (%i)", async (status) => {
    const cache = await cacheAfterTimeout();
    const { outputs, requests } = await attempt(2, cache, { respond: () => respondWith(status) });
    expect(posts(requests)).toEqual([]);
    expect(outputs.outcome).toBe("error");
  });

  test.each([
    "404 page not found\n",
    "default backend - 404",
    "<html>",
    '"Not found"',
    '{"status":404}',
    '{"message":"no Route matched with those values"}',
    '{"error":""}',
  ])("sends nothing if a gateway answers 404 in its place: %s", async (body) => {
    const cache = await cacheAfterTimeout();
    const { outputs, requests } = await attempt(2, cache, {
      respond: ({ method }) => (method === "GET" ? respondWith(404, body) : respondWith(201, record({ id: "job_2" }))),
    });
    expect(posts(requests)).toEqual([]);
    expect(outputs.outcome).toBe("error");
  });

  test("does not send a message again", async () => {
    const inputs = { "job-id": "job_1" };
    const cache = new FakeCache();
    await attempt(1, cache, { inputs: { ...inputs, wait: "false" }, respond: showsBefore(completed) });
    const { outputs, requests } = await attempt(2, cache, { inputs, respond: () => respondWith(200, completed) });
    expect(posts(requests)).toEqual([]);
    // Nothing shows that the agent has done it.
    expect(outputs).toMatchObject({ outcome: "error", "job-origin": "resumed" });
  });

  test("with wait: false has the result of a message that was seen at work, and sends a failed one again", async () => {
    const inputs = { "job-id": "job_1", wait: "false" };
    const active = (): Exchange => respondWith(200, record());
    const cache = new FakeCache();
    await attempt(1, cache, { inputs, respond: active });
    for (const number of [2, 3]) {
      const { outputs, requests } = await attempt(number, cache, {
        inputs,
        respond: () => respondWith(200, completed),
      });
      expect(posts(requests)).toEqual([]);
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
    }
    const failed = new FakeCache();
    await attempt(1, failed, { inputs, respond: active });
    let isSent = false;
    const { outputs, requests } = await attempt(2, failed, {
      inputs,
      respond: ({ method }) => {
        isSent ||= method === "POST";
        return respondWith(200, record({ status: isSent ? "active" : "failed" }));
      },
    });
    expect(posts(requests)).toHaveLength(1);
    expect(outputs).toMatchObject({ outcome: "started", "job-origin": "continued" });
  });

  test("has the result of a message at once whose end an earlier attempt saw", async () => {
    const cache = new FakeCache();
    const inputs = { "job-id": "job_1" };
    for (const number of [1, 2, 3]) {
      const { outputs, requests } = await attempt(number, cache, {
        inputs,
        respond: number === 1 ? pollsReturn(record(), completed) : () => respondWith(200, completed),
      });
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": number === 1 ? "continued" : "resumed" });
      if (number > 1) expect(requests.map(({ method, at }) => [method, at])).toEqual([["GET", 0]]);
    }
  });

  test.each<[string, Partial<MainOptions>, Partial<MainOptions>[]]>([
    ["timed out", { inputs: { "timeout-minutes": "1" } }, []],
    ["was cancelled", { cancelAt: 120_000 }, []],
    ["only sent it", { inputs: { wait: "false" } }, []],
    [
      "only sent it unseen, and another one timed out",
      { inputs: { wait: "false" }, respond: showsBefore(completed) },
      [{ inputs: { "timeout-minutes": "1" } }],
    ],
  ])(
    "has the result of a message at once that was seen at work, after an attempt that %s",
    async (_name, first, more) => {
      const cache = new FakeCache();
      const attempts = [first, ...more].map(({ inputs, ...options }) => ({
        inputs: { "job-id": "job_1", ...inputs },
        respond: () => respondWith(200, record()),
        ...options,
      }));
      for (const [index, options] of attempts.entries()) await attempt(index + 1, cache, options);
      expect(statesIn(cache)).toEqual(["pending", "job", "job"]);
      for (const number of [attempts.length + 1, attempts.length + 2]) {
        const { outputs, requests } = await attempt(number, cache, {
          inputs: { "job-id": "job_1" },
          respond: () => respondWith(200, completed),
        });
        expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
        expect(requests.map(({ method, at }) => [method, at])).toEqual([["GET", 0]]);
      }
    },
  );

  test("knows of a message at work, whose runner is lost", async () => {
    const cache = new FakeCache();
    await attempt(1, cache, {
      inputs: { "job-id": "job_1" },
      respond: ({ at }) => respondWith(200, at < 60_000 ? record() : completed),
      // Nothing that it saves later arrives.
      onClock: (clock) => clock.at(60_000, () => failing(cache)),
    });
    cache.fault = () => {};
    const { outputs } = await attempt(2, cache, {
      inputs: { "job-id": "job_1" },
      respond: () => respondWith(200, completed),
    });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
  });

  test("does not take the state from before a message for its result", async () => {
    const inputs = { "job-id": "job_1" };
    const cache = new FakeCache();
    await attempt(1, cache, { inputs: { ...inputs, wait: "false" }, respond: showsBefore(completed) });
    const { outputs } = await attempt(2, cache, {
      inputs,
      respond: ({ at }) =>
        respondWith(200, at < 10_000 ? completed : record({ status: at < 30_000 ? "active" : "failed" })),
    });
    expect(outputs).toMatchObject({ outcome: "failed", "job-origin": "resumed" });
    const unwaited = await attempt(2, cache, {
      inputs: { ...inputs, wait: "false" },
      respond: () => respondWith(200, completed),
    });
    expect(unwaited.outputs.outcome).toBe("started");
  });

  describe.each(["failed", "archived"])("after a message to a job that is %s", (status) => {
    const inputs = { "job-id": "job_1" };
    async function cacheAfterMessage(): Promise<FakeCache> {
      const cache = new FakeCache();
      await attempt(1, cache, { inputs: { ...inputs, wait: "false" }, respond: showsBefore(record({ status })) });
      return cache;
    }

    test("sends it again once that is certain", async () => {
      let isSent = false;
      const { outputs, requests } = await attempt(2, await cacheAfterMessage(), {
        inputs,
        respond: ({ method }) => {
          isSent ||= method === "POST";
          return respondWith(200, method === "POST" ? record() : isSent ? completed : record({ status }));
        },
      });
      expect(posts(requests)).toHaveLength(1);
      expect(requests.find(({ method }) => method === "POST")?.at).toBeGreaterThanOrEqual(15_000);
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "continued" });
    });

    test("does not send it again if the job only becomes that while it is waited for", async () => {
      const { outputs, requests } = await attempt(2, await cacheAfterMessage(), {
        inputs,
        respond: ({ at }) => respondWith(200, record(at < 20_000 ? {} : { status })),
      });
      expect(posts(requests)).toEqual([]);
      expect(outputs.outcome).toBe(status);
    });

    test("does not send it again if that was the state from before it", async () => {
      const { outputs, requests } = await attempt(2, await cacheAfterMessage(), {
        inputs,
        respond: ({ at }) => respondWith(200, at < 20_000 ? record(at < 14_000 ? { status } : {}) : completed),
      });
      expect(posts(requests)).toEqual([]);
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
    });
  });

  test("says after a message how it came by the job", async () => {
    const { outputs } = await attempt(1, new FakeCache(), {
      inputs: { "job-id": "job_1", wait: "false" },
      respond: () => respondWith(200, record()),
    });
    expect(outputs["job-origin"]).toBe("continued");
  });
});

test.each([
  ["attempts", { runAttempt: 2 }],
  ["a session", { inputs: { session: "nightly" } }],
])(
  "a cancellation while the cache is asked for %s ends the step at once, and nothing is sent",
  async (_name, options) => {
    const cache = new FakeCache();
    const { outputs, requests, clock } = await runMain({
      respond: pollsReturn(completed),
      cache,
      cancelAt: 1000,
      environment,
      ...options,
      onClock: (clock) => {
        cache.fault = (operation) => {
          if (operation === "restore") clock.advance(5000);
          return new Promise<void>(() => {});
        };
      },
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(requests).toEqual([]);
    // That nothing was sent is saved, too, for which there are two seconds.
    expect(clock.elapsedMs).toBe(7000);
  },
);

describe("a re-run after a request whose acceptance is unknown", () => {
  test("sends nothing, and says how to start a job regardless", async () => {
    const cache = new FakeCache();
    const first = await attempt(1, cache, { respond: () => ({ failure: "no-response" }) });
    expect(first.toolkit.annotations).toHaveLength(1);
    expect(first.toolkit.annotations[0]?.text).toContain(
      "A re-run sends nothing. If there is none, start a new run of the workflow (not a re-run) to send the request.",
    );
    const { outputs, requests, toolkit } = await attempt(2, cache);
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Job may have been started" }]);
    expect(toolkit.annotations[0]?.text).toContain("vars.AGENT_ON_RERUN || 'resume'");
    expect(posts((await attempt(3, cache, { inputs: { "on-rerun": "new" } })).requests)).toHaveLength(1);
  });

  test("waits for the job that an incomplete response named", async () => {
    const cache = new FakeCache();
    await attempt(1, cache, { respond: () => respondWith(201, '{"status":"active","id":"job_1","mo') });
    const { outputs, requests } = await attempt(2, cache, { respond: () => respondWith(200, completed) });
    expect(posts(requests)).toEqual([]);
    expect(outputs).toMatchObject({ "job-id": "job_1", "job-origin": "resumed" });
  });

  test("does not take the state of a message's job for its result", async () => {
    const inputs = { "job-id": "job_1" };
    const cache = new FakeCache();
    const first = await attempt(1, cache, { inputs, respond: () => respondWith(502) });
    expect(first.toolkit.annotations.at(-1)?.text).toContain(
      "A re-run sends nothing. To wait for it, run the action with",
    );
    const { requests, outputs } = await attempt(2, cache, { inputs, respond: () => respondWith(200, completed) });
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "error", "pr-link": "" });
  });
});

describe("the memory", () => {
  test("of another prompt is not mistaken for this one, and nothing is sent", async () => {
    const cache = await cacheAfterTimeout();
    const { outputs, requests, toolkit } = await attempt(2, cache, { inputs: { prompt: "Something else" } });
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations[0]?.title).toBe("Earlier attempt had another prompt");
    expect(toolkit.annotations[0]?.text).toMatch(
      /job job_1.*job-id job_1 and no prompt.*start a new run of the workflow/s,
    );
  });

  test.each<[string, (cache: FakeCache) => void]>([
    ["cannot be read", (cache) => failing(cache)],
    ["is garbage", (cache) => replaceEntries(cache, "<html>")],
    ["is of a newer version", (cache) => replaceEntries(cache, '{"version":2}')],
    ["has an id that cannot be used", (cache) => replaceEntries(cache, '{"version":1,"jobId":"..","sent":"create"}')],
    [
      "has a link that cannot be used",
      (cache) =>
        replaceEntries(
          cache,
          `{"version":1,"jobId":"job_1","sent":"message","before":{"url":"x:y","head":"${"a".repeat(40)}"}}`,
        ),
    ],
  ])("that %s blocks the re-run", async (_name, spoil) => {
    const cache = await cacheAfterTimeout();
    spoil(cache);
    const { outputs, requests, toolkit } = await attempt(2, cache);
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
    expect(toolkit.annotations[0]?.title).toBe("Cannot read what an earlier attempt started");
    expect(toolkit.annotations[0]?.text).toMatch(
      /sent nothing; an earlier attempt may have started a job.*start a new run of the workflow/s,
    );
  });

  test("that was evicted is none: the re-run sends the request", async () => {
    const cache = await cacheAfterTimeout();
    cache.entries.length = 0;
    expect(posts((await attempt(2, cache)).requests)).toHaveLength(1);
  });
});

test("without a cache service, a re-run sends the request again, with one notice", async () => {
  const { outputs, toolkit } = await runMain({ respond: pollsReturn(completed), runAttempt: 2, environment });
  expect(outputs["job-origin"]).toBe("created");
  expect(toolkit.annotations).toMatchObject([{ level: "notice", title: "Re-run without a memory" }]);
});

test.each(["maybe", "RESUME"])("on-rerun: %s is invalid", async (value) => {
  const { outputs, toolkit } = await attempt(1, new FakeCache(), { inputs: { "on-rerun": value } });
  expect(outputs.outcome).toBe("error");
  expect(toolkit.annotations[0]?.text).toContain("on-rerun must be resume or new");
});

test.each([1, 3, 4])("a re-run that is cancelled at its look %i does not say that no job was started", async (look) => {
  const cache = await cacheAfterTimeout();
  cache.restores = 0;
  const { outputs, toolkit, requests } = await attempt(2, cache, {
    respond: jobIs({ status: "active" }),
    cancelAt: 1000,
    onClock: (clock) => {
      cache.fault = (operation) => (operation === "restore" && cache.restores === look ? clock.sleep(1000) : undefined);
    },
  });
  expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "" });
  expect(toolkit.annotations.at(-1)?.text).toBe(
    "The step was cancelled before it was known whether an earlier attempt has started a job, which may be running. This one sent nothing.\nRe-run this workflow run: it finds that out first.",
  );
  expect(posts(requests)).toEqual([]);
});
