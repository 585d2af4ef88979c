import { describe, expect, test } from "vitest";
import type { GitHub } from "../../../../src/action/runner/github.ts";
import type { Transport } from "../../../../src/runner-kit/transport.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { FakeRepository } from "../../../support/fake-repository.ts";
import type { SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { type MainOptions, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const environment = { GITHUB_RUN_ID: "99", GITHUB_JOB: "docs", GITHUB_ACTION: "__owner_action" };
const inputs = { "base-url": "https://agents.example.com" };
const isPost = ({ method }: SeenRequest): boolean => method === "POST";

/** Runs an attempt of a step with a service of one's own. */
function attempt(runAttempt: number, service: KeyedService, options: Partial<MainOptions> = {}) {
  return runMain({
    respond: service.respond,
    ...options,
    runAttempt,
    inputs: { ...inputs, ...options.inputs },
    environment: { ...environment, ...options.environment },
  });
}

/** A cache that can only be read, as GitHub gives it to runs that outsiders can cause. */
const readOnly = { ACTIONS_CACHE_MODE: "read" };

const named = {
  GITHUB_REPOSITORY: "acme/docs",
  GITHUB_EVENT_NAME: "schedule",
  RUNNER_OS: "Linux",
  RUNNER_NAME: "runner",
  GITHUB_SHA: "0000002".padEnd(40, "c"),
};
const token = { "github-token": "ghs_0123456789" };
const ofAgent = { agent: "editor", "base-url": "", "project-id": "", "api-key": "", ...token };
const ownAgent = {
  connect: (transport: Transport) => transport,
  prepare: async () => {},
  check: async () => {},
  end: async () => {},
};

/** GitHub says whether this step, which runs, had begun in attempt 1. */
function recordOf(hadBegun: boolean): GitHub {
  const repository = new FakeRepository();
  repository.commit("main", { files: ["docs/a.md"] });
  const step = { number: 2, name: "Refresh", started_at: "2026-11-22T03:17:00Z" };
  const own = { name: "b / docs", status: "in_progress", runner_name: "runner" };
  const before = { ...own, status: "completed", conclusion: hadBegun ? "failure" : "skipped", runner_name: "other" };
  const jobs = (attempt: unknown) =>
    attempt === 1
      ? [{ ...before, steps: hadBegun ? [{ ...step, status: "completed", conclusion: "failure" }] : [] }]
      : [{ ...own, steps: [{ ...step, status: "in_progress" }] }];
  return {
    request: async (route, parameters, limits) =>
      route.includes("/attempts/")
        ? { total_count: 1, jobs: jobs(parameters.attempt_number) }
        : repository.request(route, parameters, limits),
    paginate: (route, parameters, limits) => repository.paginate(route, parameters, limits),
  };
}

describe("a first attempt", () => {
  test("asks nothing, and sends a key of two hashes", async () => {
    const { requests } = await attempt(1, new KeyedService());
    expect(requests.map(({ method, query }) => method + query)).toEqual([
      "POST",
      "GET",
      // The result of the turn, its message and its cost.
      expect.stringMatching(/^GET\?step=[0-9a-f]{32}$/),
    ]);
    expect(requests[0]?.headers["idempotency-key"]).toMatch(/^"[0-9a-f]{32}\.[0-9a-f]{32}"$/);
  });

  test("whose answer is lost sends the same request again, and gets the same job", async () => {
    const service = new KeyedService();
    let posts = 0;
    service.losesAnswer = (request) => isPost(request) && posts++ === 0;
    const { outputs, toolkit } = await attempt(1, service);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
    expect(service.prompts).toEqual(["job_1: Update the quickstart"]);
    expect(toolkit.annotations).toMatchObject([{ level: "warning", title: "Request not answered, retrying" }]);
  });

  test("with a cache that can only be read says nothing of a re-run, which the service tells", async () => {
    const options = { cache: new FakeCache(), environment: readOnly };
    const known = await attempt(1, new KeyedService(), options);
    expect(known.toolkit.annotations).toEqual([]);
    const service = new KeyedService();
    service.stripsKeys = true;
    const { toolkit } = await attempt(1, service, options);
    expect(toolkit.annotations).toMatchObject([{ title: "A re-run may not find the job" }]);
  });

  test("fails if somebody else has sent its request before", async () => {
    const service = new KeyedService();
    service.next = "running";
    await attempt(1, service, { inputs: { wait: "false" } });
    // As a reusable workflow does that is called twice in one run.
    const { outputs, toolkit, hasPassed } = await attempt(1, service);
    expect(hasPassed).toBe(false);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(toolkit.annotations.at(-1)?.title).toBe("Request was sent before");
    expect(service.turns).toHaveLength(1);
  });

  test.each<[string, Record<string, string>]>([
    ["under act", { ACT: "true" }],
    ["without a run id", { GITHUB_RUN_ID: "" }],
  ])("has a key of its own %s, where run ids mean nothing", async (_name, unknown) => {
    const service = new KeyedService();
    const { toolkit } = await attempt(1, service, { environment: unknown });
    await attempt(1, service, { environment: unknown });
    expect(service.turns).toHaveLength(2);
    const line = "Under act, run ids mean nothing: each re-run counts as a new run.";
    expect(toolkit.lines.filter((one) => one === line)).toHaveLength(unknown.ACT ? 1 : 0);
  });
});

describe("a re-run", () => {
  test.each<[string, Partial<MainOptions>]>([
    ["without a cache service", {}],
    ["with a cache that can only be read", { cache: new FakeCache(), environment: readOnly }],
    ["with a cache that cannot be read", { cache: brokenCache() }],
  ])("asks first, and waits for the turn: %s", async (_name, options) => {
    const service = new KeyedService();
    service.next = "running";
    await attempt(1, service, { ...options, inputs: { wait: "false" } });
    for (const turn of service.turns) turn.status = "completed";
    const { outputs, requests, toolkit } = await attempt(2, service, options);
    expect(requests[0]).toMatchObject({
      method: "GET",
      path: "/v2/agent/docs/job",
      query: expect.stringMatching(/^\?step=/),
    });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "job-origin": "resumed" });
    expect(toolkit.annotations).toEqual([]);
    expect(service.turns).toHaveLength(1);
  });

  test("after a lost answer and a killed runner waits for the job, or sends the request if it never arrived", async () => {
    const arrived = new KeyedService();
    arrived.losesAnswer = () => true;
    await attempt(1, arrived, { inputs: { "timeout-minutes": "0.5" } });
    arrived.losesAnswer = () => false;
    expect((await attempt(2, arrived)).outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
    expect(arrived.turns).toHaveLength(1);

    const cache = new FakeCache();
    const lost = new KeyedService();
    const first = await attempt(1, lost, {
      cache,
      inputs: { "timeout-minutes": "0.5" },
      respond: () => ({ failure: "no-response" }),
    });
    expect(first.outputs.outcome).toBe("error");
    // The cache says that it was about to be sent; the service says that it was not.
    expect((await attempt(2, lost, { cache })).outputs).toMatchObject({ "job-origin": "created" });
    // It asks the service first, as a later attempt does, so that nothing has to be saved before its request.
    const words = ["1-pending", "2-job"];
    expect(cache.entries.map(({ key }) => /-(\d+-[a-z]+)-[^-]+-\d+$/.exec(key)?.[1])).toEqual(words);
    expect(lost.turns).toHaveLength(1);
  });

  test.each(["failed", "stopped"] as const)(
    "sends the request again if the turn %s, once over all attempts",
    async (status) => {
      const service = new KeyedService();
      service.next = status;
      await attempt(1, service);
      service.next = "completed";
      const second = await attempt(2, service);
      expect(second.outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_2", "job-origin": "created" });
      expect((await attempt(3, service)).outputs).toMatchObject({ "job-id": "job_2", "job-origin": "resumed" });
      expect(service.turns).toHaveLength(2);
    },
  );

  test("sends it again with the same key if the answer of the second attempt was lost, too", async () => {
    const service = new KeyedService();
    service.next = "failed";
    await attempt(1, service);
    service.next = "completed";
    service.losesAnswer = isPost;
    await attempt(2, service, { inputs: { "timeout-minutes": "0.2" } });
    service.losesAnswer = () => false;
    expect((await attempt(3, service)).outputs).toMatchObject({ "job-id": "job_2", "job-origin": "resumed" });
    expect(service.turns).toHaveLength(2);
  });

  test("reports a turn that completed, whatever became of its job and its pull request since", async () => {
    const service = new KeyedService();
    await attempt(1, service);
    service.archived.add("job_1");
    const { outputs } = await attempt(2, service);
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "job-origin": "resumed" });
    expect(service.turns).toHaveLength(1);
  });

  test("reports the result of its own turn, not that of a later message", async () => {
    const service = new KeyedService();
    await attempt(1, service);
    service.turns.push({ turn: "other", job: "job_1", prompt: "More", step: "x", request: "x", status: "failed" });
    expect((await attempt(2, service)).outputs).toMatchObject({ outcome: "pr-created", status: "failed" });

    const failing = new KeyedService();
    failing.next = "running";
    await attempt(1, failing, { inputs: { wait: "false" } });
    const { outputs } = await attempt(2, failing, {
      onClock: (clock) =>
        clock.at(30_000, () => {
          for (const turn of failing.turns) turn.status = "failed";
          failing.turns.push({
            turn: "other",
            job: "job_1",
            prompt: "More",
            step: "x",
            request: "x",
            status: "completed",
          });
        }),
    });
    expect(outputs).toMatchObject({ outcome: "failed", "job-origin": "resumed" });
  });

  test.each<[string, number]>([
    ["that it has sent", 1],
    ["that it waits for", 2],
  ])("reports the result of the turn %s, not that of another one under its step", async (_name, runAttempt) => {
    const service = new KeyedService();
    service.next = "running";
    if (runAttempt > 1) await attempt(1, service, { inputs: { wait: "false" } });
    const { outputs } = await attempt(runAttempt, service, {
      onClock: (clock) =>
        clock.at(30_000, () => {
          for (const turn of service.turns.splice(0)) {
            const other = { ...turn, request: "other", status: "completed" } as const;
            // Ids of turns may be unique only within their job.
            service.turns.push({ ...turn, status: "failed" }, { ...other, turn: "other" }, { ...other, job: "job_2" });
          }
        }),
    });
    expect(outputs).toMatchObject({ outcome: "failed", status: "completed" });
  });

  test("with another prompt than the turns waits for none of them, and sends nothing", async () => {
    const service = new KeyedService();
    await attempt(1, service);
    const other = { inputs: { prompt: "Something else" } };
    const { outputs, toolkit } = await attempt(2, service, other);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "", "pr-link": "" });
    expect(toolkit.annotations).toMatchObject([{ level: "error", title: "Earlier attempt had another prompt" }]);
    expect(toolkit.annotations[0]?.text).toMatch(/job job_1.*actions: read.*job-id job_1 and no prompt/s);

    for (const turn of ["2", "3"])
      service.turns.push({ ...service.turns[0], turn, job: "job_2", request: `other ${turn}` } as never);
    const several = await attempt(3, service, other);
    expect(several.outputs.outcome).toBe("error");
    expect(several.toolkit.annotations.at(-1)?.text).toMatch(/\(jobs job_2, job_1\)/);
    expect(service.turns).toHaveLength(3);
    // The newest turn with the prompt of this attempt.
    expect((await attempt(4, service)).outputs).toMatchObject({ "job-id": "job_1", "job-origin": "resumed" });
  });

  describe("of a called workflow, whose other call has the same step", () => {
    const other = { prompt: "Something else" };

    test.each<[string, Partial<MainOptions>]>([
      ["a service of one's own", {}],
      ["its changes in the prompt", { inputs: { changes: "list", ...token } }],
      ["an agent in the step", { inputs: ofAgent, agent: ownAgent }],
    ])("sends its own request, which GitHub says it has not sent, with %s", async (_name, options) => {
      const service = new KeyedService();
      const cache = new FakeCache();
      const gitHub = (begun: boolean) => ({ ...options, cache, github: recordOf(begun) });
      await attempt(1, service, { ...gitHub(true), environment: named });
      const inputs = { ...options.inputs, ...other, ...token };
      const ran = await attempt(2, service, { ...gitHub(true), inputs, environment: named });
      expect(ran.outputs).toMatchObject({ outcome: "error", "job-id": "" });
      expect(service.turns).toHaveLength(1);
      const { outputs } = await attempt(2, service, { ...gitHub(false), inputs, environment: named });
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_2", "job-origin": "created" });
      expect(service.prompts[1]).toContain("job_2: Something else");
      const again = await attempt(3, service, { ...gitHub(false), inputs, environment: named });
      expect(again.outputs).toMatchObject({ "job-id": "job_2", "job-origin": "resumed" });
    });

    test("leaves the work of the other call's failed turn to that one", async () => {
      const service = new KeyedService();
      service.next = "failed";
      service.kept = "push";
      await attempt(1, service);
      service.next = "completed";
      const inputs = { ...other, ...token };
      const { outputs } = await attempt(2, service, { inputs, github: recordOf(false), environment: named });
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_2", "job-origin": "created" });
    });

    test("sends its own request beside those of several", async () => {
      const service = new KeyedService();
      await attempt(1, service);
      await attempt(1, service, { inputs: { prompt: "A third one" } });
      const inputs = { ...other, ...token };
      const { outputs } = await attempt(2, service, { inputs, github: recordOf(false), environment: named });
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_3", "job-origin": "created" });
    });
  });

  test("goes by the cache if something on the way removes the keys", async () => {
    const cache = new FakeCache();
    const service = new KeyedService();
    service.stripsKeys = true;
    await attempt(1, service, { cache });
    expect((await attempt(2, service, { cache })).outputs).toMatchObject({
      "job-id": "job_1",
      "job-origin": "resumed",
    });
    // Without a cache, it cannot know more than with the hosted service.
    const { toolkit } = await attempt(2, service, {
      environment: { ...readOnly, ACTIONS_CACHE_URL: "http://127.0.0.1/" },
      cache: new FakeCache(),
    });
    expect(toolkit.annotations.at(-1)?.title).toBe("Earlier attempt may have started a job");
    expect(service.turns).toHaveLength(1);
  });

  test("asks a service that does not respond again, and then goes by the cache", async () => {
    const service = new KeyedService();
    await attempt(1, service);
    let asked = 0;
    const respond = (request: SeenRequest) =>
      request.query !== "" && asked++ < 2 ? respondWith(503) : service.respond(request);
    expect((await attempt(2, service, { respond })).outputs["job-origin"]).toBe("resumed");
    // And once at the end, for the result of the turn.
    expect(asked).toBe(4);

    const cache = new FakeCache();
    const silent = new KeyedService();
    await attempt(1, silent, { cache });
    const down = (request: SeenRequest) => (request.query !== "" ? respondWith(503) : silent.respond(request));
    const { outputs, clock } = await attempt(2, silent, { cache, respond: down });
    expect(outputs["job-origin"]).toBe("resumed");
    expect(clock.elapsedMs).toBeLessThan(45_000);
    expect(silent.turns).toHaveLength(1);
  });

  test("sends another prompt than that of a request which never arrived", async () => {
    const cache = new FakeCache();
    const lost = { cache, inputs: { "timeout-minutes": "0.2" }, respond: () => ({ failure: "no-response" as const }) };
    const service = new KeyedService();
    await attempt(1, service, lost);
    const { outputs } = await attempt(2, service, { cache, inputs: { prompt: "Something else" } });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  });

  test("with on-rerun: new sends a request of its own, in place of the newest turn", async () => {
    const service = new KeyedService();
    const again = { inputs: { "on-rerun": "new" } };
    for (const number of [1, 2, 3]) {
      const { outputs } = await attempt(number, service, again);
      expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
      expect(service.turns).toHaveLength(number);
    }
    expect((await attempt(4, service)).outputs).toMatchObject({ "job-origin": "resumed" });
    expect(service.turns).toHaveLength(3);
  });

  test("of another step finds nothing: every part of the key counts", async () => {
    const service = new KeyedService();
    await attempt(1, service);
    const others: Partial<MainOptions>[] = [
      { environment: { GITHUB_RUN_ID: "100" } },
      { environment: { GITHUB_JOB: "other" } },
      { environment: { GITHUB_ACTION: "other" } },
      { environment: { GITHUB_REPOSITORY_ID: "7" } },
      { environment: { GITHUB_SERVER_URL: "https://github.example.com" } },
      { environment: { GITHUB_WORKFLOW_REF: "acme/docs/.github/workflows/b.yml@refs/heads/main" } },
      { inputs: { "matrix-leg": "b" } },
      { inputs: { session: "nightly" } },
      { inputs: { "base-url": "https://agents.example.com/b" } },
    ];
    for (const other of others) {
      const { outputs } = await attempt(2, service, other);
      expect(outputs["job-origin"]).toBe("created");
    }
    const ref = "acme/docs/.github/workflows/a.yml@refs/";
    const branch = { environment: { GITHUB_WORKFLOW_REF: `${ref}heads/main`, GITHUB_RUN_ID: "101" } };
    await attempt(1, service, branch);
    const merge = { environment: { GITHUB_WORKFLOW_REF: `${ref}pull/1/merge`, GITHUB_RUN_ID: "101" } };
    expect((await attempt(2, service, merge)).outputs["job-origin"]).toBe("resumed");
  });
});

test("a service that hangs when it is asked about the turn does not hide that the job has completed", async () => {
  const respond: MainOptions["respond"] = ({ method, query }) => {
    if (query !== "") return { responseMs: 60_000 };
    return method === "POST" ? respondWith(201, record()) : respondWith(200, record({ status: "completed", prLink }));
  };
  const { outputs } = await runMain({ respond, environment, inputs: { ...inputs, "timeout-minutes": "0.2" } });
  expect(outputs).toMatchObject({ outcome: "pr-created", "pr-link": prLink });
});

test("the default service is never asked, on no attempt and after no doubt", async () => {
  const respond: MainOptions["respond"] = ({ method }) =>
    method === "POST" ? { failure: "no-response" } : respondWith(200, record({ status: "completed", prLink }));
  const cache = new FakeCache();
  const first = await runMain({ respond, environment, cache });
  const second = await runMain({ respond, environment, cache, runAttempt: 2 });
  expect([...first.requests, ...second.requests].filter(({ query }) => query !== "")).toEqual([]);
});

describe("a message", () => {
  const message = { inputs: { "job-id": "job_1" } };

  test("is a success only if the service says that its turn completed", async () => {
    const service = new KeyedService();
    await attempt(1, service);
    service.next = "waiting";
    // The record shows the state from before the message all the time.
    const stale = (request: SeenRequest) =>
      request.method === "GET" && request.query === ""
        ? respondWith(200, record({ status: "completed", prLink }))
        : request.method === "POST"
          ? { ...service.respond(request), response: { status: 200, body: record({ status: "completed", prLink }) } }
          : service.respond(request);
    const { outputs } = await attempt(1, service, {
      ...message,
      environment: { GITHUB_RUN_ID: "100" },
      inputs: { ...message.inputs, "timeout-minutes": "2" },
      respond: stale,
    });
    expect(outputs.outcome).toBe("timed-out");
  });

  test("says with a service that announces nothing if the job was not seen to start", async () => {
    const { outputs, toolkit } = await runMain({
      inputs: message.inputs,
      respond: () => respondWith(200, record({ status: "completed", prLink })),
    });
    expect(outputs.outcome).toBe("error");
    expect(toolkit.summary).toContain("was not seen to start on the message");
  });
});

function brokenCache(): FakeCache {
  const cache = new FakeCache();
  cache.fault = () => Promise.reject(new Error("503"));
  return cache;
}
