import { expect, test } from "vitest";
import { hash } from "../../../../src/action/hash.ts";
import type { OwnAgent } from "../../../../src/action/own-agent.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { type MainOptions, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const completed = record({ status: "completed", prLink });

interface Turn {
  job: string;
  turn: string;
  request: string;
  status: string;
}

/** A service that says what was sent under a step: the turns, whose requests are those of the creates that it was sent. */
function asked(turns: () => Turn[], others: (request: SeenRequest) => Exchange) {
  return (request: SeenRequest): Exchange => {
    const step = /^\?step=(\w+)$/.exec(request.query)?.[1];
    return step === undefined ? others(request) : respondWith(200, { step, features: [], turns: turns() });
  };
}

/** That of the prompt which `runMain` has by default. */
const ownRequest = hash(JSON.stringify(["Update the quickstart", null]));

/** Returns the second part of the key of a request. */
const requestOf = ({ headers }: SeenRequest): string => /\.(\w+)"$/.exec(headers["idempotency-key"] ?? "")?.[1] ?? "";

function attempt(runAttempt: number, options: Partial<MainOptions> & Pick<MainOptions, "respond">) {
  return runMain({
    ...options,
    runAttempt,
    inputs: { "base-url": "https://agents.example", ...options.inputs },
    environment: { GITHUB_RUN_ID: "99", GITHUB_JOB: "docs", GITHUB_ACTION: "__owner_action", ...options.environment },
  });
}

const turn = (job: string, request: string, status = "completed"): Turn => ({
  job,
  turn: `${job}_turn`,
  request,
  status,
});

test("a service that asks to wait is not asked sooner what was sent", async () => {
  let count = 0;
  const { requests } = await attempt(2, {
    respond: ({ method, query }) => {
      if (query !== "" && count++ === 0) return respondWith(429, "", { "retry-after": "7" });
      return method === "POST" ? respondWith(201, completed) : respondWith(404, { error: "Not found" });
    },
  });
  const lookups = requests.filter(({ query }) => query !== "");
  expect((lookups[1]?.at ?? 0) - (lookups[0]?.at ?? 0)).toBeGreaterThanOrEqual(7000);
});

test("a service is asked again that denies the question once, as one of several machines may", async () => {
  let denials = 0;
  const respond = asked(
    () => [turn("job_1", ownRequest)],
    () => respondWith(200, completed),
  );
  const { outputs } = await attempt(2, {
    respond: (request) =>
      request.query !== "" && denials++ === 0 ? respondWith(404, { error: "Not found" }) : respond(request),
  });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
});

test("a service that denies the question at the end is asked again, because its record may be about another turn", async () => {
  let lookups = 0;
  const respond = asked(
    () => [turn("job_1", ownRequest, lookups === 1 ? "running" : "failed")],
    () => respondWith(200, completed),
  );
  const { outputs } = await attempt(2, {
    respond: (request) =>
      request.query !== "" && ++lookups === 2 ? respondWith(404, { error: "Not found" }) : respond(request),
  });
  expect(outputs).toMatchObject({ outcome: "failed", "job-origin": "resumed" });
});

test("without waiting, the result of a turn that has ended is the result of the step", async () => {
  const { outputs } = await attempt(2, {
    inputs: { wait: "false" },
    respond: asked(
      () => [turn("job_1", ownRequest)],
      () => respondWith(200, completed),
    ),
  });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
});

test("the newest turn is that of an attempt with on-rerun: new", async () => {
  const sent: string[] = [];
  const respond = asked(
    () => sent.map((request, index) => turn(`job_${index + 1}`, request)).reverse(),
    (request) => {
      if (request.method === "POST") sent.push(requestOf(request));
      const id = request.method === "POST" ? `job_${sent.length}` : (request.path.split("/").at(-1) ?? "");
      return respondWith(200, { ...completed, id });
    },
  );
  await attempt(1, { respond });
  await attempt(2, { respond, inputs: { "on-rerun": "new" } });
  expect(new Set(sent).size).toBe(2);
  const third = await attempt(3, { respond });
  expect(third.outputs).toMatchObject({ "job-id": "job_2", "job-origin": "resumed" });
  expect(sent).toHaveLength(2);
});

test("the turn that took the place of one that nobody knows any more is found", async () => {
  const sent: string[] = [];
  let known: (request: string, index: number) => boolean = () => true;
  const turnOf = (request: string, index: number): Turn =>
    turn(`job_${index + 1}`, request, index === 2 ? "completed" : "failed");
  const respond = asked(
    () => sent.flatMap((request, index) => (known(request, index) ? [turnOf(request, index)] : [])).reverse(),
    (request) => {
      if (request.method === "POST") sent.push(requestOf(request));
      const id = request.method === "POST" ? `job_${sent.length}` : (request.path.split("/").at(-1) ?? "");
      const isFailed = request.method === "GET" && id !== "job_3";
      return respondWith(200, { ...completed, id, ...(isFailed && { status: "failed" }) });
    },
  );
  for (const number of [1, 2, 3]) await attempt(number, { respond });
  expect(new Set(sent).size).toBe(3);
  // The runner of the second attempt was lost, and its trace was removed.
  known = (_request, index) => index !== 1;
  const { outputs } = await attempt(4, { respond });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_3", "job-origin": "resumed" });
  expect(sent).toHaveLength(3);
});

test("a request takes the place of all that failed, also of those that another attempt did not know", async () => {
  const sent: Turn[] = [];
  const respond = asked(
    () => sent.toReversed(),
    (request) => {
      const known = sent.find((one) => one.request === requestOf(request));
      if (request.method === "POST" && !known)
        sent.push(turn(`job_${sent.length + 1}`, requestOf(request), sent.length === 3 ? "completed" : "failed"));
      const { job = "", status } = known ?? sent.find(({ job }) => request.path.endsWith(job)) ?? sent.at(-1) ?? {};
      return respondWith(200, { ...completed, id: job, status });
    },
  );
  for (const number of [1, 2]) await attempt(number, { respond });
  // The third one, which could not read what the others had sent, sent the first one's request once more.
  sent.push(turn("job_3", sent[0]?.request ?? "", "failed"));
  const { outputs } = await attempt(4, { respond });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_4", "job-origin": "created" });
});

test("a job that is not found once, and found some seconds later, is waited for", async () => {
  const cache = new FakeCache();
  await attempt(1, { cache, respond: () => respondWith(201, record({ status: "completed" })) });
  let polls = 0;
  const { outputs, requests } = await attempt(2, {
    cache,
    respond: ({ query }) => {
      if (query !== "") return respondWith(404, { error: "Not found" });
      return polls++ === 0 ? respondWith(404, { error: "Not found" }) : respondWith(200, completed);
    },
  });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
});

test("a session's entry does not stand for a request that a later attempt may have sent", async () => {
  const cache = new FakeCache();
  const inputs = { session: "nightly" };
  const plain = (respond: (request: SeenRequest) => Exchange) => (request: SeenRequest) =>
    request.query !== "" ? respondWith(404, { error: "Not found" }) : respond(request);
  const failed = record({ status: "failed" });
  await attempt(1, { cache, inputs, respond: plain(() => respondWith(201, failed)) });
  // Attempt 2 starts over, and its request is in doubt.
  await attempt(2, {
    cache,
    inputs,
    respond: plain(({ method }) => respondWith(method === "POST" ? 500 : 200, failed)),
  });
  const third = await attempt(3, { cache, inputs, respond: plain(() => respondWith(200, failed)) });
  expect(third.requests.filter(({ method }) => method === "POST")).toEqual([]);
  expect(third.outputs.outcome).toBe("error");
});

test("a runner that does not name the workflow run promises nothing for a re-run", async () => {
  const cache = new FakeCache();
  const { toolkit } = await attempt(1, {
    cache,
    environment: { ACT: "true" },
    inputs: { "timeout-minutes": "1" },
    respond: ({ method }) => respondWith(method === "POST" ? 201 : 200, record()),
  });
  const text = toolkit.annotations.map((annotation) => annotation.text).join();
  expect(text).toContain("A re-run of this workflow run may start another job.");
  expect(text).not.toContain("nothing is sent again");
});

test("a signal ends a look into a cache that hangs, also while the prompt is compared with those of earlier attempts", async () => {
  const cache = new FakeCache();
  const { outputs, clock } = await attempt(2, {
    cache,
    inputs: { changes: "list", "github-token": "ghs_token" },
    cancelAt: 1000,
    onClock: (clock) => {
      cache.fault = () => clock.sleep(10_000);
    },
    respond: asked(
      () => [turn("job_2", "a"), turn("job_1", "b")],
      () => respondWith(404, { error: "Not found" }),
    ),
  });
  expect(outputs.outcome).toBe("cancelled");
  expect(clock.elapsedMs).toBeLessThan(7000);
});

test.each([
  [
    "waiting",
    1,
    ["If GitHub was slow and not its agent, re-run this workflow run: it continues with what was pushed or saved."],
  ],
  ["completed", 0, []],
] as const)("a re-run has an agent of its own go on with a turn that is %s", async (left, prepared, said) => {
  const service = new KeyedService();
  service.next = left;
  let count = 0;
  const agent: OwnAgent = {
    connect: (transport) => transport,
    // Only then does anything of the turn happen.
    prepare: async () => {
      count++;
      for (const one of service.turns) one.status = "completed";
    },
    check: async () => {},
    end: async () => {},
  };
  const inputs = { agent: "editor", "project-id": "", "api-key": "", "base-url": "", "github-token": "t" };
  const environment = { GITHUB_REPOSITORY: "acme/docs", RUNNER_OS: "Linux" };
  let outages = 1;
  const respond = (request: SeenRequest) =>
    request.method === "GET" && request.query === "" && outages-- > 0 ? respondWith(503) : service.respond(request);
  // It ends without the agent, as if it was killed.
  const first = await attempt(1, {
    respond: service.respond,
    agent: { ...agent, prepare: async () => {} },
    inputs: { ...inputs, "timeout-minutes": "0.5" },
    environment,
  });
  expect(first.outputs["job-id"]).toBe("job_1");
  expect(
    first.toolkit.annotations.map(({ text }) => text.split("a re-run keeps this run's workflow file. ")[1]),
  ).toEqual(said);
  const { outputs, toolkit } = await attempt(2, { respond, agent, inputs, environment });
  expect(toolkit.events.join("\n")).toContain("Job job_1 has finished, and its work has a pull request.");
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed", "job-id": "job_1" });
  expect([count, service.turns.length]).toEqual([prepared, 1]);
});

test.each([
  ["works", "job_9", "works on job job_9 of the session"],
  // It has claimed the session, and has no job yet.
  ["is about to begin", "job_00000000-0000-0000-0000-000000000000", "is about to begin for the session"],
])("a session's run sends nothing while another one %s", async (_, job, said) => {
  const { outputs, toolkit, requests } = await attempt(1, {
    respond: ({ method, query }) => {
      const { step, session } = Object.fromEntries(new URLSearchParams(query));
      if (method !== "GET" || step === undefined) return respondWith(200, completed);
      const busy = session && { job, busyUntil: "2100-01-01T00:00:00Z" };
      return respondWith(200, { step, features: ["session"], turns: [], session: busy });
    },
    agent: { connect: (transport) => transport, prepare: async () => {}, check: async () => {}, end: async () => {} },
    inputs: {
      ...{ agent: "editor", "project-id": "", "api-key": "", "base-url": "", "github-token": "t" },
      ...{ session: "nightly", "timeout-minutes": "0.5" },
    },
    environment: { GITHUB_REPOSITORY: "acme/docs", RUNNER_OS: "Linux" },
  });
  expect(outputs).toMatchObject({ outcome: "timed-out", "job-id": "" });
  expect(toolkit.annotations.at(-1)?.text).toContain(`Another workflow run ${said}, until 2100-01-01 00:00 UTC`);
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
});

const editor = { agent: "editor", "project-id": "", "api-key": "", "base-url": "", "github-token": "t" };
test.each<[what: string, status: number, fails: "claim" | "session", inputs: Record<string, string>]>([
  ["its claim fails", 503, "claim", editor],
  ["its claim is answered with an outage of the repository", 424, "claim", editor],
  ["the session cannot be asked for, but the base could", 503, "session", { ...editor, base: "main" }],
  ["another service cannot be asked for the session, but for the base", 503, "session", { base: "main" }],
])("a session's run sends nothing if %s", async (_, status, fails, inputs) => {
  const { outputs, requests } = await attempt(1, {
    respond: ({ method, query }) => {
      const { step, ...asked_ } = Object.fromEntries(new URLSearchParams(query));
      if (method !== "GET" || step === undefined) return respondWith(200, completed);
      if (fails in asked_) return respondWith(status, { error: "The repository cannot be reached" });
      return respondWith(200, { step, features: ["session", "base"], turns: [], session: null });
    },
    agent: { connect: (transport) => transport, prepare: async () => {}, check: async () => {}, end: async () => {} },
    inputs: { ...inputs, session: "nightly" },
    environment: { GITHUB_REPOSITORY: "acme/docs", RUNNER_OS: "Linux" },
  });
  expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
});

test("a re-run that has waited for another run of its session sends nothing if that has published its work", async () => {
  const service = new KeyedService();
  Object.assign(service, { features: ["session"], next: "failed", kept: "push" });
  const agent: OwnAgent = {
    connect: (transport) => transport,
    prepare: async () => {},
    check: async () => {},
    end: async () => {},
  };
  const options = {
    agent,
    inputs: { ...editor, session: "nightly" },
    environment: { GITHUB_REPOSITORY: "acme/docs", RUNNER_OS: "Linux" },
  };
  await attempt(1, { ...options, respond: service.respond });
  let busy = 1;
  const { outputs, requests } = await attempt(2, {
    ...options,
    respond: (request) => {
      const answer = service.respond(request);
      if (!("response" in answer) || request.method !== "GET" || !request.query.includes("session=")) return answer;
      if (busy-- <= 0) {
        for (const turn of service.turns) {
          turn.status = "completed";
          delete turn.kept;
        }
        return service.respond(request);
      }
      const { body = {} } = typeof answer.response === "function" ? answer.response() : answer.response;
      return respondWith(200, { ...Object(body), session: { job: "job_1", busyUntil: "2100-01-01T00:00:00Z" } });
    },
  });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "job-origin": "resumed" });
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
});

test("what the agent's own service rejects is to be changed", async () => {
  const { toolkit } = await attempt(1, {
    respond: ({ method }) => respondWith(method === "POST" ? 400 : 404, { error: "base: there is no branch nope" }),
    agent: { connect: (transport) => transport, prepare: async () => {}, check: async () => {}, end: async () => {} },
    inputs: { agent: "editor", "project-id": "", "api-key": "", "base-url": "", "github-token": "t" },
    environment: { GITHUB_REPOSITORY: "acme/docs", RUNNER_OS: "Linux" },
  });
  expect(toolkit.annotations.at(-1)?.text).toBe(
    "The service answered HTTP 400: base: there is no branch nope. No job was started.\nChange that, and start a new run: a re-run keeps this run's workflow file.",
  );
});

test("after another prompt, a job whose agent ended with its step is not to be waited for, but continued", async () => {
  const idle: OwnAgent = {
    connect: (transport) => transport,
    prepare: async () => {},
    check: async () => {},
    end: async () => {},
  };
  const options = (service: KeyedService, inputs: Record<string, string>) => ({
    respond: service.respond,
    agent: idle,
    inputs: { ...editor, ...inputs },
    environment: { GITHUB_REPOSITORY: "acme/docs", RUNNER_OS: "Linux" },
  });
  const service = new KeyedService();
  await attempt(1, options(service, {}));
  const said = async () =>
    (await attempt(2, options(service, { prompt: "Something else" }))).toolkit.annotations.at(-1)?.text;
  expect(await said()).toContain("To continue that job, run the action with job-id job_1 and a prompt.");
  for (const turn of ["2", "3"])
    service.turns.push({ ...service.turns[0], turn, job: "job_2", request: `other ${turn}` } as never);
  const several = await said();
  expect(several).toContain("To continue one of these jobs, run the action with its job-id and a prompt.");
  expect(several).toContain("If this prompt is needed, too, start a new run of the workflow");
  // As is advised.
  const { outputs } = await attempt(1, options(service, { "job-id": "job_1" }));
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "job-origin": "continued" });
});
