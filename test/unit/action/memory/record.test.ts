import { describe, expect, test } from "vitest";
import type { GitHub } from "../../../../src/action/runner/github.ts";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
import { CacheReadOnlyError } from "../../../../src/runner-kit/cache.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { SeenRequest } from "../../../support/fake-transport.ts";
import { type MainOptions, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const environment = {
  GITHUB_RUN_ID: "99",
  GITHUB_JOB: "docs",
  GITHUB_ACTION: "a",
  GITHUB_REPOSITORY: "acme/docs",
  RUNNER_NAME: "GitHub Actions 7",
};

interface Step {
  number?: number;
  name?: string;
  status?: string;
  conclusion?: string | null;
  started_at?: string | null;
}

const time = "2026-11-22T03:17:00Z";
const step = (fields: Step = {}) => ({
  number: 2,
  name: "Refresh",
  status: "completed",
  conclusion: "success",
  started_at: time,
  ...fields,
});
const running = step({ status: "in_progress", conclusion: null });

interface Job {
  name?: string;
  status?: string;
  conclusion?: string | null;
  runner_name?: string | null;
  steps?: Step[];
}

const own: Job = {
  name: "refresh (a)",
  status: "in_progress",
  conclusion: null,
  runner_name: "GitHub Actions 7",
  steps: [step({ number: 1, name: "Set up job" }), running],
};
const earlier = (fields: Job = {}): Job => ({
  name: "refresh (a)",
  status: "completed",
  conclusion: "failure",
  runner_name: "GitHub Actions 3",
  steps: [step()],
  ...fields,
});

/** GitHub's record of a workflow run; the attempt of the test is the last one. */
class Record implements GitHub {
  readonly asked: string[] = [];
  readonly timeouts: number[] = [];
  /** Called before each answer, which it may delay or prevent. */
  onAnswer: (timeoutMs: number) => void | Promise<void> = () => {};
  readonly #attempts: (Job[] | Error)[];

  constructor(...attempts: (Job[] | Error)[]) {
    this.#attempts = attempts;
  }

  request: GitHub["request"] = async (route, parameters, { timeoutMs }) => {
    this.timeouts.push(timeoutMs);
    const { run_id: run, attempt_number: attempt, page, owner, repo } = parameters;
    this.asked.push(`${owner}/${repo} ${run} ${attempt} ${page}`);
    expect(route).toBe("GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs");
    await this.onAnswer(timeoutMs);
    const jobs = this.#attempts[Number(attempt) - 1];
    if (jobs === undefined || jobs instanceof Error) throw jobs ?? new GitHubError("Not Found", 404);
    return { total_count: jobs.length, jobs: jobs.slice((Number(page) - 1) * 100, Number(page) * 100) };
  };
  paginate = () => Promise.reject(new Error("not needed"));
}

const denied = new GitHubError("Resource not accessible by integration", 403);
const completes = ({ method }: SeenRequest) =>
  method === "POST" ? respondWith(201, record()) : respondWith(200, record({ status: "completed", prLink }));

/** Runs an attempt with the hosted service; the cache can only be read, unless the options have another one. */
function attempt(runAttempt: number, options: Partial<MainOptions> = {}) {
  return runMain({
    cache: new FakeCache(),
    respond: completes,
    ...options,
    runAttempt,
    inputs: { "github-token": "ghs_0123456789", ...options.inputs },
    environment: { ...environment, ACTIONS_CACHE_MODE: "read", ...options.environment },
  });
}

const posts = (requests: readonly SeenRequest[]) => requests.filter(({ method }) => method === "POST");

describe("a run that may only read the cache", () => {
  test.each<[string, string]>([
    ["read", "GitHub lets runs of this event only read the Actions cache."],
    ["none", "ACTIONS_CACHE_MODE keeps this run from the Actions cache."],
  ])("says on its first attempt that a re-run sends nothing: %s", async (mode, why) => {
    const { toolkit, outputs } = await attempt(1, { environment: { ACTIONS_CACHE_MODE: mode } });
    expect(outputs.outcome).toBe("pr-created");
    expect(toolkit.annotations).toMatchObject([{ level: "notice", title: "A re-run may not find the job" }]);
    expect(toolkit.annotations[0]?.text).toContain(why);
  });

  test("says so of a session, too", async () => {
    const { toolkit } = await attempt(1, { inputs: { session: "nightly", "on-rerun": "new" } });
    expect(toolkit.annotations).toMatchObject([{ level: "notice", title: "Session without a memory" }]);
  });

  test("continues the session's job that another run has saved", async () => {
    const cache = new FakeCache();
    const inputs = { session: "nightly" };
    await attempt(1, { cache, inputs, environment: { ACTIONS_CACHE_MODE: "write" } });
    const { outputs } = await attempt(1, { cache, inputs, environment: { GITHUB_RUN_ID: "100" } });
    expect(outputs["job-origin"]).toBe("continued");
  });

  test("says after a rejection that only a new run sends the request", async () => {
    const texts = async (mode: string) =>
      (
        await attempt(1, { respond: () => respondWith(401), environment: { ACTIONS_CACHE_MODE: mode } })
      ).toolkit.annotations.at(-1)?.text;
    expect(await texts("read")).toContain("start a new run of the workflow: this run could not leave word");
    expect(await texts("write")).not.toContain("new run of the workflow");
  });

  test("tries to save nothing", async () => {
    const cache = new FakeCache();
    cache.fault = (operation) => expect(operation).toBe("restore");
    await attempt(1, { cache, inputs: { session: "nightly" } });
    expect(cache.entries).toEqual([]);
  });

  test("ends with what a re-run does", async () => {
    const { toolkit } = await attempt(1, {
      inputs: { "timeout-minutes": "1" },
      respond: ({ method }) => respondWith(method === "POST" ? 201 : 200, record()),
    });
    expect(toolkit.annotations.at(-1)?.text).toContain("run the action with job-id job_1 and no prompt");
    expect(toolkit.annotations.at(-1)?.text).not.toContain("may start another job");
  });
});

describe("a re-run without a trace of the attempts before it", () => {
  test.each<[string, Job[]]>([
    ["skipped the step", [earlier({ steps: [step({ conclusion: "skipped" })] })]],
    ["never reached the step", [earlier({ steps: [step({ status: "queued", conclusion: null, started_at: null })] })]],
    ["skipped the job", [earlier({ conclusion: "skipped", steps: [] })]],
    ["was cancelled before it had a runner", [earlier({ conclusion: "cancelled", steps: [] })]],
    [
      "skipped the step, among many jobs",
      [...Array(120).fill({ ...earlier(), name: "x" }), earlier({ conclusion: "skipped" })],
    ],
  ])("sends the request if GitHub says that the earlier one %s", async (_name, jobs) => {
    const github = new Record(jobs, [own, { ...own, name: "x", runner_name: "GitHub Actions 8" }]);
    const { outputs } = await attempt(2, { github });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
    expect(github.asked[0]).toBe("acme/docs 99 2 1");
  });

  test.each<[string, Job[]]>([
    ["ran the step", [earlier()]],
    ["began the step, and lost its runner", [earlier({ steps: [step({ status: "in_progress", conclusion: null })] })]],
    ["was cancelled in the step", [earlier({ conclusion: "cancelled", steps: [step({ conclusion: "cancelled" })] })]],
  ])("sends nothing if GitHub says that the earlier one %s", async (_name, jobs) => {
    for (const mode of ["read", "write"]) {
      const { requests, outputs, toolkit } = await attempt(2, {
        github: new Record(jobs, [own]),
        environment: { ACTIONS_CACHE_MODE: mode },
      });
      expect(requests).toEqual([]);
      expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
      expect(toolkit.annotations[0]?.title).toBe("Earlier attempt may have started a job");
      expect(toolkit.annotations[0]?.text).toMatch(/attempt 1 of this workflow run ran this step/);
    }
  });

  const unknown: [string, Record][] = [
    ["GitHub does not say it", new Record(denied, denied)],
    ["the earlier attempt is not listed", new Record([], [own])],
    ["two earlier jobs have the name", new Record([earlier({ conclusion: "skipped" }), earlier()], [own])],
    ["the earlier job still runs", new Record([earlier({ status: "in_progress", conclusion: null })], [own])],
    ["the earlier job has another step there", new Record([earlier({ steps: [step({ name: "Other" })] })], [own])],
    ["another step there has its name", new Record([earlier({ steps: [step({ number: 3 })] })], [own])],
    ["the earlier job failed without steps", new Record([earlier({ steps: [] })], [own])],
    ["this runner runs no job", new Record([earlier({ conclusion: "skipped" })], [{ ...own, runner_name: "x" }])],
    ["this runner runs two jobs", new Record([earlier({ conclusion: "skipped" })], [own, own])],
    [
      "two steps are running",
      new Record([earlier({ conclusion: "skipped" })], [{ ...own, steps: [running, running] }]),
    ],
  ];

  test.each(unknown)("sends nothing if %s, and the cache can only be read", async (_name, github) => {
    const { requests, toolkit } = await attempt(2, { github });
    expect(requests).toEqual([]);
    expect(toolkit.annotations.at(-1)?.text).toMatch(/permissions: actions: read.*start a new run of the workflow/s);
  });

  test.each(unknown)("sends the request if %s, and the cache can be written", async (_name, github) => {
    const { requests } = await attempt(2, { github, environment: { ACTIONS_CACHE_MODE: "" } });
    expect(posts(requests)).toHaveLength(1);
  });

  test("sends nothing if it finds out that the cache cannot be written, although the runner does not say so", async () => {
    const cache = new FakeCache();
    cache.fault = (operation) => {
      if (operation === "save") throw new CacheReadOnlyError("cache write denied: token has no writable scopes");
    };
    const options = { cache, github: new Record(denied, denied), environment: { ACTIONS_CACHE_MODE: "" } };
    const first = await attempt(1, options);
    expect(first.toolkit.annotations).toMatchObject([{ level: "warning", title: "Cannot remember the job" }]);
    const { requests, outputs } = await attempt(2, options);
    expect(requests).toEqual([]);
    expect(outputs.outcome).toBe("error");
  });

  test("asks for every attempt that left no trace, and for no other", async () => {
    const cache = new FakeCache();
    const github = new Record([earlier()], [earlier({ conclusion: "skipped" })], [own]);
    // The first attempt says that it sent nothing.
    await attempt(1, { cache, respond: () => respondWith(401), environment: { ACTIONS_CACHE_MODE: "write" } });
    const { outputs } = await attempt(3, { cache, github });
    expect(outputs["job-origin"]).toBe("created");
    expect(github.asked).toEqual(["acme/docs 99 3 1", "acme/docs 99 2 1"]);
  });

  test("gives GitHub ten seconds for each attempt, and thirty for all", async () => {
    const skipped = [earlier({ conclusion: "skipped" })];
    const github = new Record(skipped, skipped, skipped, skipped, [own]);
    const { requests } = await attempt(5, {
      github,
      onClock: (clock) => {
        github.onAnswer = async (timeoutMs) => {
          await clock.sleep(Math.min(9000, timeoutMs));
          if (timeoutMs < 9000) throw new GitHubError("GitHub did not respond in time", undefined);
        };
      },
    });
    expect(github.timeouts).toEqual([10_000, 10_000, 10_000, 3000]);
    expect(requests).toEqual([]);
  });

  test("is read with the workflow's own token, which has the job's permissions, whatever github-token is", async () => {
    const tokens: string[] = [];
    const { requests } = await attempt(2, {
      github: new Record([earlier({ steps: [step({ conclusion: "skipped", started_at: null })] })], [own]),
      inputs: { "github-token": "ghs_of_an_app", "workflow-token": "ghs_of_the_workflow" },
      onGitHubToken: (token) => void tokens.push(token),
    });
    expect(posts(requests)).toHaveLength(1);
    expect(tokens).toEqual(["ghs_of_the_workflow"]);
  });

  test("is read with github-token if the workflow's own token may not read it", async () => {
    const github = new Record([earlier()], [own]);
    let token = "";
    github.onAnswer = () => {
      if (token === "ghs_of_the_workflow") throw denied;
    };
    const { requests } = await attempt(2, {
      github,
      environment: { ACTIONS_CACHE_MODE: "write" },
      inputs: { "github-token": "ghp_may_read", "workflow-token": "ghs_of_the_workflow" },
      onGitHubToken: (one) => {
        token = one;
      },
    });
    expect([requests, token]).toEqual([[], "ghp_may_read"]);
  });

  test("sends nothing without a token, with which GitHub could be asked", async () => {
    const { requests } = await attempt(2, { github: new Record(), inputs: { "github-token": "" } });
    expect(requests).toEqual([]);
  });
});

describe("an attempt that sent nothing", () => {
  const writable = { ACTIONS_CACHE_MODE: "write" };
  const ran = () => new Record([earlier()], [own]);

  test.each<[string, Partial<MainOptions>]>([
    ["its request was rejected", { respond: () => respondWith(401) }],
    ["it was cancelled before it sent its request", { cancelAt: 0 }],
    ["its inputs were invalid", { inputs: { "api-key": "" } }],
    ["its inputs were invalid, so that it had another project", { inputs: { "project-id": ".." } }],
    ["it could not read what changed", { inputs: { changes: "list" } }],
  ])("says so, and the re-run sends the request: %s", async (_name, options) => {
    const cache = new FakeCache();
    const first = await attempt(1, { cache, ...options, environment: writable });
    expect(["error", "cancelled"]).toContain(first.outputs.outcome);
    const { outputs } = await attempt(2, { cache, github: ran(), environment: writable });
    expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  });

  test("does not hide the doubt of an attempt before it", async () => {
    const cache = new FakeCache();
    await attempt(1, { cache, environment: writable, respond: () => ({ failure: "no-response" }) });
    // It fails because of the first one, which is no news.
    await attempt(2, { cache, environment: writable });
    expect((await attempt(3, { cache, environment: writable })).requests).toEqual([]);
  });
});

test.each([0, 1, 2])("entries count by what they say, whatever their order: %i", async (rotation) => {
  const cache = new FakeCache();
  await attempt(1, { cache, environment: { ACTIONS_CACHE_MODE: "write" } });
  const [pending, job] = cache.entries;
  if (!pending || !job) throw new Error("two entries expected");
  const notSent = { ...pending, key: pending.key.replace("pending", "not-sent") };
  const entries = [pending, notSent, job];
  cache.entries.splice(0, 2, ...entries.slice(rotation), ...entries.slice(0, rotation));
  const { outputs } = await attempt(2, { cache, environment: { ACTIONS_CACHE_MODE: "write" } });
  expect(outputs["job-origin"]).toBe("resumed");
});

describe("a call of a reusable workflow, whose other call has the same step", () => {
  const writable = { ACTIONS_CACHE_MODE: "write" };
  const other: Job = { ...earlier(), name: "refresh (b)" };
  const serving = (service: { jobs: number }) => (request: SeenRequest) => {
    const id = request.method === "POST" ? `job_${++service.jobs}` : (request.path.split("/").at(-1) ?? "");
    return request.method === "POST"
      ? respondWith(201, record({ id }))
      : respondWith(200, record({ id, status: "completed", prLink }));
  };

  test.each<[string, (Job[] | Error)[], object]>([
    [
      "sends its own request if it first begins in attempt 2",
      [[other, earlier({ conclusion: "skipped", steps: [] })]],
      { outcome: "pr-created", "job-id": "job_2", "job-origin": "created" },
    ],
    ["sends nothing if it has begun before", [[other, earlier()]], { outcome: "error", "job-id": "" }],
    ["sends nothing if GitHub does not say", [denied], { outcome: "error", "job-id": "" }],
  ])("%s", async (_name, record, expected) => {
    const options = { cache: new FakeCache(), respond: serving({ jobs: 0 }), environment: writable };
    await attempt(1, options);
    const { outputs } = await attempt(2, {
      ...options,
      inputs: { prompt: "Something else" },
      github: new Record(...record, [own]),
    });
    expect(outputs).toMatchObject(expected);
  });

  test("finds its own job behind that of an attempt in which it was skipped", async () => {
    const options = { cache: new FakeCache(), respond: serving({ jobs: 0 }), environment: writable };
    const inputs = { prompt: "Something else" };
    await attempt(1, { ...options, inputs });
    await attempt(2, { ...options, inputs: { "on-rerun": "new" } });
    const github = new Record([earlier()], [other, earlier({ conclusion: "skipped", steps: [] })], [own]);
    const { outputs, requests } = await attempt(3, { ...options, inputs, github });
    expect(outputs).toMatchObject({ "job-id": "job_1", "job-origin": "resumed" });
    expect(posts(requests)).toEqual([]);
    expect(github.asked.map((asked) => asked.split(" ")[2])).toEqual(["3", "2"]);
  });
});
