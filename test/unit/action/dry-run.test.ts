import { describe, expect, test } from "vitest";
import { runWithChanges } from "../../support/changes-run.ts";
import { type CommentOptions, runComment } from "../../support/comment-run.ts";
import { FakeCache } from "../../support/fake-cache.ts";
import { bot, FakeGitHub } from "../../support/fake-github.ts";
import { FakeRepository } from "../../support/fake-repository.ts";
import { KeyedService } from "../../support/keyed-service.ts";
import { type MainOptions, pollsReturn, prLink, record, respondWith, runMain } from "../../support/run-main.ts";
import { earlierReply, ownReply, threadWith } from "../../support/thread.ts";

const environment = { GITHUB_RUN_ID: "99", GITHUB_JOB: "docs", GITHUB_ACTION: "a" };
const completed = record({ status: "completed", prLink });
const dryRun = { "dry-run": "true" };

/** Runs a dry run; nothing may be sent to the service. */
async function dry(options: Partial<MainOptions> = {}) {
  const run = await runMain({
    respond: () => respondWith(500),
    ...options,
    inputs: { ...dryRun, ...options.inputs },
    environment: { ...environment, ...options.environment },
  });
  expect(run.requests).toEqual([]);
  return { ...run, text: run.toolkit.annotations.at(-1)?.text };
}

test.each<[string, Record<string, string>, string]>([
  ["a prompt", {}, "Nothing was sent. It would create a job with this prompt."],
  ["a message", { "job-id": "job_1" }, "Nothing was sent. It would send this prompt to job job_1 as a follow-up."],
  ["only job-id", { "job-id": "job_1", prompt: "" }, "Nothing was sent. It would wait for job job_1."],
])("%s: says what would be sent, and is green", async (_name, inputs, text) => {
  const run = await dry({ inputs });
  expect(run.hasPassed).toBe(true);
  expect(run.outputs).toMatchObject({ outcome: "skipped", "skip-reason": "dry-run", "job-id": "" });
  expect(run.toolkit.annotations).toMatchObject([{ level: "notice", title: "Dry run" }]);
  expect(run.text).toBe(text);
});

test("shows the whole prompt in the log, as text, and in the summary", async () => {
  const { toolkit } = await dry({ inputs: { prompt: "Fix it\n::error::x\n<b>now</b>" } });
  expect(toolkit.lines).toEqual(expect.arrayContaining(["Fix it", "\\::error::x", "<b>now</b>"]));
  expect(toolkit.summary).toContain("&lt;b&gt;now&lt;/b&gt;");
});

test("still fails for invalid inputs", async () => {
  const { outputs } = await dry({ inputs: { "api-key": "" } });
  expect(outputs.outcome).toBe("error");
});

test("reads the memory, and leaves only that it sent nothing", async () => {
  const cache = new FakeCache();
  const inputs = { session: "nightly" };
  await runMain({ respond: pollsReturn(completed), cache, environment, inputs });
  const night = await dry({ cache, inputs, environment: { GITHUB_RUN_ID: "100" } });
  expect(night.text).toContain(
    "to job job_1, the last of the session nightly, while the job is active or its pull request is open",
  );
  const rerun = await dry({ cache, inputs, runAttempt: 2 });
  expect(rerun.text).toContain("It would wait for job job_1, which attempt 1 of this workflow run started.");
  expect(cache.entries.slice(5).map(({ key }) => /-\d-[a-z-]+-(?=[0-9a-f]{32})/.exec(key)?.[0])).toEqual([
    "-1-not-sent-",
    "-2-not-sent-",
  ]);
  const another = await dry({ cache, inputs: { ...inputs, "on-rerun": "new" }, runAttempt: 2 });
  expect(another.text).toContain("to job job_1, the last of the session nightly");
  cache.fault = () => Promise.reject(new Error("503"));
  expect((await dry({ cache, inputs })).outputs.outcome).toBe("error");
  expect((await dry({ cache, runAttempt: 2 })).text).toContain(
    "It would send nothing, and fail. This is a re-run, and the Actions cache",
  );
});

test("in a thread checks the permission, and writes nothing to GitHub", async () => {
  const github = new FakeGitHub();
  const run = await runComment(github, { inputs: dryRun, respond: () => respondWith(500) });
  expect(run.outputs).toMatchObject({ outcome: "skipped", "skip-reason": "dry-run", author: "writer" });
  expect(run.toolkit.annotations.at(-1)?.text).toContain("It would create a job with this prompt.");
  expect(run.requests).toEqual([]);
  expect(github.calls.filter(({ route }) => !route.startsWith("GET"))).toEqual([]);
  github.permission = { permission: "read", role_name: "read" };
  expect((await runComment(github, { inputs: dryRun })).outputs["skip-reason"]).toBe("not-permitted");
  const thread = threadWith(earlierReply("job_0"));
  const textOf = async (options: Partial<CommentOptions>) =>
    (await runComment(thread, { inputs: dryRun, ...options })).toolkit.annotations.at(-1)?.text;
  expect(await textOf({})).toContain("to job job_0, which the thread names. (A dry run does not know which replies");
  expect(await textOf({ text: "/agent new fix it" })).toContain("It would create a job with this prompt.");
  thread.add(bot, ownReply("job_1"));
  expect(await textOf({ attempt: 2 })).toContain("It would wait for job job_1");
  expect(thread.calls.filter(({ route }) => !route.startsWith("GET"))).toEqual([]);
});

describe("with a base", () => {
  const own = { "base-url": "https://agents.example.com", session: "nightly" };
  const service = (): KeyedService => {
    const one = new KeyedService();
    one.features = ["base"];
    return one;
  };
  const night = (cache: FakeCache, inputs: Record<string, string>) =>
    runMain({ respond: service().respond, cache, environment, inputs: { ...own, ...inputs } });

  test.each([
    ["names the job of its session", "release/2", "to job job_1, the last of the session nightly"],
    ["does not name the job of the session without one", "", "It would create a job with this prompt."],
  ])("%s", async (_name, base, text) => {
    const cache = new FakeCache();
    await night(cache, base === "" ? {} : { base });
    const inputs = { ...own, base: "release/2" };
    expect((await dry({ cache, inputs, environment: { GITHUB_RUN_ID: "100" } })).text).toContain(text);
  });

  test.each(["false", "true"])("skips a pull request from a fork, dry-run: %s", async (isDry) => {
    const github = new FakeGitHub();
    const request = github.request.bind(github);
    github.request = async (route, parameters, limits) =>
      route === "GET /repos/{owner}/{repo}/pulls/{pull_number}"
        ? { number: 12, state: "open", head: { ref: "x", repo: { id: 2 } }, base: { ref: "main", repo: { id: 1 } } }
        : request(route, parameters, limits);
    const html_url = "https://github.com/acme/docs/pull/12";
    const issue = { number: 12, title: "Add X", body: "", html_url, pull_request: {} };
    const { outputs } = await runComment(github, {
      respond: service().respond,
      payload: { issue },
      inputs: { "base-url": own["base-url"], base: "pull-request", "dry-run": isDry },
    });
    expect(outputs["skip-reason"]).toBe("fork");
  });

  // A workflow that plans with a dry run asks nobody if nothing has changed.
  test.each(["", "release/2"])("a plan on Monday sees what was committed on Friday, base: %j", async (base) => {
    const repository = new FakeRepository();
    const cache = new FakeCache();
    const { respond } = service();
    let id = 100;
    const run = (more: Record<string, string> = {}) =>
      runWithChanges(
        repository,
        { name: "schedule" },
        {
          cache,
          respond,
          inputs: { ...own, ...(base && { base }), ...more },
          environment: { ...environment, GITHUB_RUN_ID: String(id++) },
        },
      );
    repository.commit("main", { files: ["a"] });
    await run();
    repository.commit("main", { hours: -60, files: ["b"] });
    expect((await run(dryRun)).outputs["skip-reason"]).toBe("dry-run");
  });
});

test.each(["status", "help"])("the command %s goes to the log and the summary only", async (command) => {
  const github = threadWith(earlierReply("job_1"));
  const run = await runComment(github, { inputs: dryRun, text: `/agent ${command}`, respond: () => respondWith(500) });
  expect(run.outputs).toMatchObject({ outcome: "skipped", "skip-reason": "command" });
  expect(run.requests).toEqual([]);
  expect(github.calls.filter(({ route }) => !route.startsWith("GET"))).toEqual([]);
  expect(run.toolkit.summary).toContain("a command");
});

test("a real re-run after a dry run sends the request, although GitHub says that the step ran", async () => {
  const cache = new FakeCache();
  await dry({ cache });
  const { outputs } = await runMain({ respond: pollsReturn(completed), cache, environment, runAttempt: 2 });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
});

test("says that a re-run would refuse, and why", async () => {
  const cache = new FakeCache();
  await runMain({ respond: () => respondWith(502), cache, environment });
  expect((await dry({ cache, runAttempt: 2 })).text).toContain(
    "It would send nothing, and fail. An earlier attempt of this workflow run ended without knowing",
  );
});
