import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { untilAborted } from "../../../../src/action/memory/wait.ts";
import type { GitHub, RequestLimits } from "../../../../src/action/runner/github.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { type MainOptions, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";
import { createRequest, messageTo, pollOf, routesOf } from "../../../support/thread.ts";

const completed = record({ status: "completed", prLink });
const environment = { GITHUB_RUN_ID: "99", GITHUB_JOB: "docs", GITHUB_ACTION: "__owner_action" };
const notFound = respondWith(404, { error: "Job not found" });
const message = { "job-id": "job_1" };
const session = { session: "nightly" };

/** A service that accepts every request, and whose job always has this record when it is read. */
const jobIs =
  (fields: Record<string, unknown>): MainOptions["respond"] =>
  ({ method }) =>
    respondWith(method === "POST" ? 201 : 200, record(method === "POST" ? {} : fields));

const completes = jobIs({ status: "completed", prLink });

/** Runs one attempt of a step whose runner offers a cache service. */
function attempt(runAttempt: number, cache: FakeCache, options: Partial<MainOptions> = {}) {
  return runMain({
    respond: completes,
    ...options,
    cache,
    runAttempt,
    environment: { ...environment, ...options.environment },
  });
}

const keysOf = ({ entries }: FakeCache, prefix = "") =>
  entries.map(({ key }) => key).filter((key) => key.startsWith(prefix));

describe("a job of an attempt is remembered under", () => {
  /** Returns whether a second attempt with these changes waits for the job of the first one. */
  async function isFound(first: Partial<MainOptions>, second: Partial<MainOptions>): Promise<boolean> {
    const cache = new FakeCache();
    await attempt(1, cache, first);
    const { requests } = await attempt(2, cache, second);
    return routesOf(requests)[0] === pollOf("job_1");
  }

  test("a short key with the attempt", async () => {
    const cache = new FakeCache();
    await attempt(3, cache);
    expect(cache.entries).toEqual([
      {
        key: expect.stringMatching(/^agent-job-[0-9a-f]{32}-3-pending-[0-9a-f]{32}-1$/),
        text: '{"version":1}',
      },
      {
        key: expect.stringMatching(/^agent-job-[0-9a-f]{32}-3-job-[0-9a-f]{32}-2$/),
        text: '{"version":1,"jobId":"job_1","sent":"create"}',
      },
      {
        key: expect.stringMatching(/^agent-job-[0-9a-f]{32}-3-job-[0-9a-f]{32}-3$/),
        text: '{"version":1,"jobId":"job_1","sent":"create","isDone":true,"pullRequest":"https://github.com/acme/docs/pull/7"}',
      },
    ]);
  });

  test("what identifies its step", async () => {
    expect(await isFound({}, {})).toBe(true);
    expect(await isFound({ inputs: message }, { inputs: message })).toBe(true);
  });

  test.each<[string, Partial<MainOptions>]>([
    ["the workflow run", { environment: { GITHUB_RUN_ID: "100" } }],
    ["the job", { environment: { GITHUB_JOB: "other" } }],
    ["the step", { environment: { GITHUB_ACTION: "__owner_action_2" } }],
    ["the leg of the matrix", { inputs: { "matrix-leg": "b" } }],
    ["the project", { inputs: { "project-id": "other" } }],
    ["the service", { inputs: { "base-url": "https://docs.example.com" } }],
    ["the session", { inputs: session }],
    ["the kind of task", { inputs: message }],
  ])("%s", async (_name, changes) => {
    expect(await isFound({}, changes)).toBe(false);
  });

  test("the job that a message goes to", async () => {
    expect(await isFound({ inputs: message }, { inputs: { "job-id": "job_2" } })).toBe(false);
  });
});

describe("a re-run", () => {
  async function cacheAfter(options: Partial<MainOptions> = {}): Promise<FakeCache> {
    const cache = new FakeCache();
    await attempt(1, cache, options);
    return cache;
  }

  test("reads a job once that is done, and saves it as its own", async () => {
    const cache = await cacheAfter();
    const { requests, outputs } = await attempt(2, cache);
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
    expect(outputs.outcome).toBe("pr-created");
    expect(keysOf(cache)).toEqual([
      expect.anything(),
      expect.anything(),
      expect.anything(),
      expect.stringMatching(/-2-job-[0-9a-f]{32}-1$/),
    ]);
  });

  test("asks once for a job that it may not read", async () => {
    const { requests } = await attempt(2, await cacheAfter(), { respond: () => respondWith(401) });
    expect(routesOf(requests)).toEqual([pollOf("job_1")]);
  });

  test("neither sends a message again whose acceptance is unknown, nor takes the job's state for its result", async () => {
    const cache = await cacheAfter({ inputs: message, respond: () => respondWith(502) });
    const { requests, outputs } = await attempt(2, cache, { inputs: message });
    expect(requests).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "error", "pr-link": "", "job-origin": "" });
  });

  test("of a session after such a message keeps what the session remembered", async () => {
    const cache = await cacheAfter({ inputs: session });
    const before = keysOf(cache, "agent-session-");
    const respond: MainOptions["respond"] = (request) =>
      request.method === "POST" ? respondWith(502) : completes(request, 0);
    await attempt(1, cache, { inputs: session, respond, environment: { GITHUB_RUN_ID: "100" } });
    expect(keysOf(cache, "agent-session-")).toEqual(before);
  });

  test("says why it cannot use an entry", async () => {
    const cache = await cacheAfter();
    for (const entry of cache.entries) entry.text = "<html>";
    const { toolkit } = await attempt(2, cache);
    expect(toolkit.annotations[0]?.text).toContain("cannot be read (the entry is not usable). This run sent nothing");
  });

  test("with on-rerun: new needs no cache service, and does not ask for one", async () => {
    const { toolkit, requests } = await runMain({
      respond: completes,
      runAttempt: 2,
      environment,
      inputs: { "on-rerun": "new" },
    });
    expect(routesOf(requests)[0]).toBe(createRequest);
    expect(toolkit.annotations).toEqual([]);
  });

  test("with on-rerun: new continues a session with a message", async () => {
    const inputs = { ...session, "on-rerun": "new" };
    const cache = await cacheAfter({ inputs });
    const { requests } = await attempt(2, cache, { inputs, respond: jobIs({}), cancelAt: 1000 });
    expect(routesOf(requests)).toEqual([pollOf("job_1"), messageTo("job_1")]);
  });

  test("saves the job for the session, which the first attempt may not have done", async () => {
    const cache = await cacheAfter({ inputs: session });
    cache.entries.splice(0, Infinity, ...cache.entries.filter(({ key }) => key.startsWith("agent-job-")));
    await attempt(2, cache, { inputs: session });
    expect(keysOf(cache, "agent-session-")).toEqual([
      expect.stringMatching(/^agent-session-[0-9a-f]{32}-99-2-[0-9a-f]{32}-1$/),
    ]);
  });

  test("warns if saving the job for the session takes longer than five seconds", async () => {
    const cache = await cacheAfter({ inputs: session });
    cache.entries.splice(0, Infinity, ...cache.entries.filter(({ key }) => key.startsWith("agent-job-")));
    cache.fault = (operation) => (operation === "save" ? new Promise<void>(() => {}) : undefined);
    const { toolkit, clock } = await attempt(2, cache, { inputs: session });
    expect(toolkit.annotations).toMatchObject([{ title: "Cannot remember the job" }]);
    expect(clock.elapsedMs).toBe(5000);
  });
});

test("saving takes no time if the cache service is quick, and is not mentioned", async () => {
  const { clock, toolkit } = await attempt(1, new FakeCache(), { inputs: { wait: "false" } });
  // Whoever still sleeps would let time pass now.
  await new Promise(setImmediate);
  expect(clock.elapsedMs).toBe(0);
  expect(toolkit.annotations).toEqual([]);
});

test("a signal leaves a cache service that hangs two seconds", async () => {
  const cache = new FakeCache();
  cache.fault = () => new Promise<void>(() => {});
  const { clock, toolkit } = await attempt(1, cache, { inputs: { wait: "false" }, cancelAt: 4000 });
  expect(clock.elapsedMs).toBe(6000);
  expect(toolkit.annotations).toMatchObject([{ title: "Cannot remember the job" }]);
});

describe("a session", () => {
  async function cacheAfterNight(): Promise<FakeCache> {
    const cache = new FakeCache();
    await attempt(1, cache, { inputs: session });
    return cache;
  }

  /** Runs the next night. */
  const night = (cache: FakeCache, options: Partial<MainOptions> = {}) =>
    attempt(1, cache, {
      ...options,
      inputs: { ...session, ...options.inputs },
      environment: { GITHUB_RUN_ID: "100", ...options.environment },
    });

  test("remembers no job if it is unknown whether one was started", async () => {
    const cache = new FakeCache();
    await attempt(1, cache, { inputs: session, respond: () => respondWith(502) });
    expect(keysOf(cache).map((key) => key.replace(/-[0-9a-f]{32}.*/, ""))).toEqual(["agent-job"]);
  });

  test.each([
    ["that may not be read", () => respondWith(401)],
    ["whose record is unusable until the time is up", () => respondWith(200, "<html>")],
  ])("sends nothing after a job %s", async (_name, respond) => {
    const { requests, outputs } = await night(await cacheAfterNight(), {
      respond,
      inputs: { "timeout-minutes": "1" },
    });
    expect(new Set(routesOf(requests))).toEqual(new Set([pollOf("job_1")]));
    expect(outputs["pr-link"]).toBe("");
  });

  test("says that a new job replaces one that is gone, and forgets that one", async () => {
    const { requests, outputs, toolkit } = await night(await cacheAfterNight(), {
      respond: ({ method, path }, index) => {
        if (method === "GET" && index === 0) return respondWith(200, record());
        return path.includes("job_1") ? notFound : respondWith(401);
      },
    });
    expect(routesOf(requests)).toEqual([pollOf("job_1"), messageTo("job_1"), pollOf("job_1"), createRequest]);
    expect(toolkit.lines).toContain("Job job_1 was not found; sending the request again");
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "", "job-origin": "" });
  });

  test("warns of an invalid link of the job that replaces one that is gone", async () => {
    const { toolkit } = await night(await cacheAfterNight(), {
      respond: ({ method, path }) => {
        if (path.includes("job_1")) return notFound;
        return method === "POST"
          ? respondWith(201, record({ id: "job_2", prLink: "javascript:1" }))
          : respondWith(200, { ...completed, id: "job_2" });
      },
    });
    expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "Invalid pull request link" }]);
  });

  describe("reads the state of a pull request", () => {
    /** Runs the next night after one whose job has this link; returns what was asked of GitHub and sent. */
    async function askedFor(link: string, options: Partial<MainOptions> = {}) {
      const asked: { parameters: Record<string, unknown>; limits: RequestLimits }[] = [];
      const github: GitHub = {
        request: async (_route, parameters, limits) => {
          asked.push({ parameters, limits });
          return { state: "closed", merged: true };
        },
        paginate: () => Promise.reject(new Error("not needed")),
      };
      const { requests } = await night(await cacheAfterNight(), {
        github,
        respond: jobIs({ status: "completed", prLink: link }),
        ...options,
        inputs: { "github-token": "ghs_0123456789", ...options.inputs },
      });
      return { asked, sent: routesOf(requests).find((route) => route.startsWith("POST")) };
    }

    test("by its number, within 10 s", async () => {
      const { asked, sent } = await askedFor("https://github.com/acme/docs/pull/77");
      expect(asked).toEqual([
        {
          parameters: { owner: "acme", repo: "docs", pull_number: 77 },
          limits: { timeoutMs: 10_000, totalTimeoutMs: 10_000, signal: expect.any(AbortSignal) },
        },
      ]);
      expect(sent).toBe(createRequest);
    });

    test.each<[string, string, Partial<MainOptions>]>([
      ["without a token", prLink, { inputs: { "github-token": "" } }],
      ["of another server", prLink, { environment: { GITHUB_SERVER_URL: "https://github.example.com" } }],
      ["if the address of GitHub is unusable", prLink, { environment: { GITHUB_SERVER_URL: "github" } }],
      ["in a folder of the server", "https://github.com/x/acme/docs/pull/7", {}],
      ["with a longer path", "https://github.com/acme/docs/pull/7/files", {}],
    ])("but not %s: then it sends a follow-up", async (_name, link, options) => {
      const { asked, sent } = await askedFor(link, options);
      expect(asked).toEqual([]);
      expect(sent).toBe(messageTo("job_1"));
    });
  });

  test("may have a name of 100 characters", async () => {
    const { outputs } = await runMain({
      respond: () => respondWith(200, completed),
      inputs: { session: "x".repeat(100) },
    });
    expect(outputs.outcome).toBe("pr-created");
  });
});

test.each([
  ["attempts", { runAttempt: 2 }],
  ["a session", { inputs: session }],
])("a cancellation ends the wait for a cache service that is asked for %s", async (_name, options) => {
  const cache = new FakeCache();
  const { outputs, requests } = await runMain({
    respond: completes,
    cache,
    cancelAt: 1000,
    environment,
    ...options,
    onClock: (clock) => {
      cache.fault = () => {
        setImmediate(() => clock.advance(5000));
        return new Promise<void>(() => {});
      };
    },
  });
  expect(outputs.outcome).toBe("cancelled");
  expect(requests).toEqual([]);
});

test("waiting until a signal leaves no listener on it", async () => {
  const { signal } = new AbortController();
  const waiting = untilAborted(Promise.resolve("done"), signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  expect(await waiting).toBe("done");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

describe("the session's job", () => {
  const sessions = (cache: FakeCache) => keysOf(cache, "agent-session-");

  test("is saved as soon as it is known, not only at the end", async () => {
    const cache = new FakeCache();
    const saved: number[] = [];
    const respond: MainOptions["respond"] = (request) => {
      if (request.method === "GET") saved.push(sessions(cache).length);
      return completes(request, 0);
    };
    await attempt(1, cache, { inputs: session, respond });
    expect(saved).toEqual([1]);
  });

  test("is not saved for a message that the service rejected", async () => {
    const cache = new FakeCache();
    await attempt(1, cache, { inputs: session });
    const before = sessions(cache);
    const respond: MainOptions["respond"] = (request) =>
      request.method === "POST" ? respondWith(401) : completes(request, 0);
    const { outputs } = await attempt(1, cache, { inputs: session, respond, environment: { GITHUB_RUN_ID: "100" } });
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(sessions(cache)).toEqual(before);
  });

  test("alone does not make a re-run wait for it", async () => {
    const { toolkit } = await attempt(1, new FakeCache(), {
      inputs: { ...session, "on-rerun": "new", "timeout-minutes": "1" },
      respond: jobIs({}),
    });
    expect(toolkit.annotations.at(-1)?.text).toContain("A re-run of this workflow run may start another job.");
  });
});

test("a job that is still being saved at the end is not said to be remembered", async () => {
  const cache = new FakeCache();
  cache.fault = () => new Promise<void>(() => {});
  const { toolkit } = await attempt(1, cache, { inputs: { "timeout-minutes": "1" }, respond: jobIs({}) });
  expect(toolkit.annotations.map(({ title }) => title)).toEqual(["Cannot remember the job", "Timed out"]);
  expect(toolkit.annotations.at(-1)?.text).toContain("A re-run of this workflow run may start another job.");
});

test("a re-run that cannot read the session warns, and does not overwrite what it remembers", async () => {
  const cache = new FakeCache();
  await attempt(1, cache, { inputs: session });
  const before = keysOf(cache, "agent-session-");
  let restores = 0;
  cache.fault = (operation) => {
    // The first ones find the attempt.
    if (operation === "restore" && ++restores > 4) throw new Error("503");
  };
  const { toolkit, outputs } = await attempt(2, cache, { inputs: session });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
  expect(toolkit.annotations).toMatchObject([{ title: "Cannot remember the job" }]);
  expect(keysOf(cache, "agent-session-")).toEqual(before);
});
