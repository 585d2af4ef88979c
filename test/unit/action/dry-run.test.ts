import { expect, test } from "vitest";
import { type CommentOptions, runComment } from "../../support/comment-run.ts";
import { FakeCache } from "../../support/fake-cache.ts";
import { bot, FakeGitHub } from "../../support/fake-github.ts";
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
  expect(cache.entries.slice(3).map(({ key }) => /-\d-[a-z-]+-(?=[0-9a-f]{32})/.exec(key)?.[0])).toEqual([
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
  expect(await textOf({})).toContain("to job job_0, which the thread remembers");
  expect(await textOf({ text: "/agent new fix it" })).toContain("It would create a job with this prompt.");
  thread.add(bot, ownReply("job_1"));
  expect(await textOf({ attempt: 2 })).toContain("It would wait for job job_1");
  expect(thread.calls.filter(({ route }) => !route.startsWith("GET"))).toEqual([]);
});
