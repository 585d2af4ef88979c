import { describe, expect, test } from "vitest";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { type MainOptions, respondWith, runMain } from "../../../support/run-main.ts";

const why = "The pull request of agent/job_1 was refused. The work is on the branch agent/job_1.";

/** A service whose agent works, and whose pull requests are refused until that is allowed. */
function refusingService(features: string[] = ["stop", "session"]) {
  const service = new KeyedService();
  const allow = (): void => {
    service.next = "completed";
    service.kept = undefined;
    service.link = "https://github.com/acme/docs/pull/1";
  };
  Object.assign(service, { features, next: "failed", kept: "pull-request", link: null, reason: why });
  return { service, allow };
}

type Options = Partial<Omit<MainOptions, "cache">> & { cache?: FakeCache | undefined };

function run(service: KeyedService, { cache, ...options }: Options) {
  return runMain({
    respond: service.respond,
    ...(cache && { cache }),
    ...options,
    inputs: { "base-url": "http://127.0.0.1:20000", ...options.inputs },
    environment: {
      GITHUB_RUN_ID: "99",
      GITHUB_JOB: "docs",
      GITHUB_ACTION: "a",
      GITHUB_REPOSITORY_ID: "1",
      ...options.environment,
    },
  });
}

describe.each([
  ["with a cache", () => new FakeCache()],
  ["without a cache", () => undefined],
])("work that is kept, %s,", (_name, createCache) => {
  test("is published by a re-run, as a message to its job", async () => {
    const { service, allow } = refusingService();
    const cache = createCache();
    const first = await run(service, { cache, runAttempt: 1 });
    expect(first.outputs.outcome).toBe("failed");
    const { title, text } = first.toolkit.annotations.at(-1) ?? {};
    expect([title, text]).toEqual([
      "Work is kept, and not published",
      `${why}\nTo send the request again, re-run this workflow run. Job job_1 is no longer running.`,
    ]);
    await run(service, { cache, runAttempt: 2 });
    allow();
    const third = await run(service, { cache, runAttempt: 3 });
    expect(third.outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(third.toolkit.summary).toContain("<h2>✅ Pull request created</h2>");
    expect(service.prompts).toEqual(Array(3).fill("job_1: Update the quickstart"));
    // It was opened by a message, which another attempt only waits for.
    const fourth = await run(service, { cache, runAttempt: 4 });
    expect(fourth.outputs).toMatchObject({ outcome: "pr-created", "job-origin": "resumed" });
    expect(service.prompts).toHaveLength(3);
  });

  test("is published by the session's next run, however often that fails, and on another port", async () => {
    const { service, allow } = refusingService();
    const cache = createCache();
    const night = (id: number) =>
      run(service, {
        cache,
        inputs: { session: "nightly", "base-url": `http://127.0.0.1:2000${id}` },
        environment: { GITHUB_RUN_ID: `10${id}` },
      });
    for (const id of [1, 2, 3]) expect((await night(id)).outputs.outcome).toBe("failed");
    allow();
    const last = await night(4);
    expect(last.outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
    expect(service.prompts).toEqual(Array(4).fill("job_1: Update the quickstart"));
  });
});

test.each<[string, KeyedService["kept"], presentIsOver: boolean, to: string]>([
  ["unfinished, goes to the session's present job", "unfinished", false, "job_2"],
  ["unfinished, continues it if the session has no other job", "unfinished", true, "job_1"],
  ["complete, publishes it", "push", false, "job_1"],
])("a re-run whose session has left the job with its work, %s", async (_name, kept, isOver, to) => {
  // In the last one, the night that leaves the job cannot write the cache.
  for (const [cache, other = cache] of [[new FakeCache()], [], [new FakeCache(), new FakeCache()]]) {
    const { service, allow } = refusingService();
    service.kept = kept;
    const night = (id: string, runAttempt = 1, own = cache) =>
      run(service, { cache: own, runAttempt, inputs: { session: "nightly" }, environment: { GITHUB_RUN_ID: id } });
    await night("101");
    service.archived.add("job_1");
    allow();
    await night("102", 1, other);
    if (isOver) service.archived.add("job_2");
    const { toolkit } = await night("101", 2);
    expect(service.turns.map(({ job }) => job)).toEqual(["job_1", "job_2", to]);
    const left = "The session has gone on with job job_2, so what job job_1 left unfinished stays there";
    expect(toolkit.lines.some((line) => line.includes(left))).toBe(to === "job_2");
  }
});

test("a session without a cache continues what its service remembers, and names another session to it than another repository", async () => {
  const service = new KeyedService();
  service.features = ["session"];
  const night = (id: string, repository: string, session = "nightly") =>
    run(service, { inputs: { session }, environment: { GITHUB_RUN_ID: id, GITHUB_REPOSITORY_ID: repository } });
  await night("101", "1");
  await night("102", "1");
  expect(service.prompts).toEqual(["job_1: Update the quickstart", "job_1: Update the quickstart"]);
  await night("103", "2");
  await night("104", "1", "weekly");
  service.archived.add("job_1");
  await night("105", "1");
  expect(service.turns.slice(2).map(({ job }) => job)).toEqual(["job_2", "job_3", "job_4"]);
  expect(new Set(service.turns.map(({ session }) => session)).size).toBe(4);
});

test.each<[status: number, minutes: string, outcome: string, jobs: number, said: string]>([
  [
    503,
    "30",
    "error",
    1,
    "the last job of the session could not be read: the service answered HTTP 503: Why. This run sent nothing.",
  ],
  [424, "30", "error", 1, "The service answered HTTP 424: Why. This step started nothing.\nSee the service's message."],
  [401, "30", "error", 1, "This step started nothing."],
  [403, "30", "pr-created", 2, ""],
])(
  "without a cache, a service that answers HTTP %i to the question for the session",
  async (status, minutes, outcome, jobs, said) => {
    const service = new KeyedService();
    service.features = ["session"];
    const night = (id: string, respond = service.respond) =>
      run(service, {
        respond,
        inputs: { session: "nightly", "timeout-minutes": minutes },
        environment: { GITHUB_RUN_ID: id },
      });
    await night("101");
    const failing = (request: SeenRequest): Exchange =>
      request.query.includes("session=") ? respondWith(status, { error: "Why" }) : service.respond(request);
    const { outputs, toolkit } = await night("102", failing);
    expect(outputs.outcome).toBe(outcome);
    expect(toolkit.annotations.at(-1)?.text ?? "").toContain(said);
    expect(new Set(service.turns.map(({ job }) => job)).size).toBe(jobs);
  },
);

test("a session continues the job that a run without a writable cache has started in place of the remembered one", async () => {
  const service = new KeyedService();
  service.features = ["session"];
  const cache = new FakeCache();
  const night = (id: string, environment: Record<string, string> = {}) =>
    run(service, { cache, inputs: { session: "nightly" }, environment: { GITHUB_RUN_ID: id, ...environment } });
  await night("101");
  service.archived.add("job_1");
  await night("102", { ACTIONS_CACHE_MODE: "read" });
  await night("103");
  expect(service.prompts.map((prompt) => prompt.split(":")[0])).toEqual(["job_1", "job_2", "job_2"]);
});

test("a session goes on with a job whose last two turns failed, if another run has published their work", async () => {
  const { service, allow } = refusingService();
  const cache = new FakeCache();
  const night = (id: number) =>
    run(service, { cache, inputs: { session: "nightly" }, environment: { GITHUB_RUN_ID: String(id) } });
  await night(1);
  await night(2);
  allow();
  // Its own cache could only be read.
  for (const turn of service.turns) delete turn.kept;
  const { outputs } = await night(3);
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
});

test("a session leaves a job whose last two turns failed, although the service names it, too", async () => {
  const service = new KeyedService();
  service.features = ["session"];
  const cache = new FakeCache();
  const night = (id: string) =>
    run(service, { cache, inputs: { session: "nightly" }, environment: { GITHUB_RUN_ID: id } });
  service.next = "failed";
  for (const id of ["101", "102", "103"]) await night(id);
  expect(service.prompts.map((prompt) => prompt.split(":")[0])).toEqual(["job_1", "job_1", "job_2"]);
});

test("a session of a service that knows none, without a cache, starts a job each night, and says what to do about it", async () => {
  const { service } = refusingService([]);
  for (const id of ["101", "102"]) {
    const { toolkit } = await run(service, { inputs: { session: "nightly" }, environment: { GITHUB_RUN_ID: id } });
    expect(toolkit.annotations).toContainEqual({
      level: "notice",
      title: "Session without a memory",
      text: expect.stringMatching(/The runner offers no cache service\..* Run it on a runner with a cache service/),
    });
  }
  expect(service.prompts).toEqual(["job_1: Update the quickstart", "job_2: Update the quickstart"]);
  expect(service.turns.map(({ session }) => session)).toEqual([undefined, undefined]);
});
