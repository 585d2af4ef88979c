import { expect, test } from "vitest";
import type { Transport } from "../../../../src/runner-kit/transport.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const completed = record({ status: "completed", prLink });
const env = (run: string, action = "a") => ({ GITHUB_RUN_ID: run, GITHUB_JOB: "docs", GITHUB_ACTION: action });

/** A service without keys, whose jobs complete. */
function jobs() {
  const posts: string[] = [];
  const respond = ({ method, path }: SeenRequest): Exchange => {
    if (method === "POST") posts.push(path);
    const creates = posts.filter((each) => each.endsWith("/job")).length;
    const id = path.endsWith("/job") ? `job_${creates}` : (path.split("/")[5] ?? "");
    return respondWith(method === "POST" ? 201 : 200, { ...completed, id });
  };
  return { posts, respond };
}

test("a re-run does not take the session's job of another step for its own", async () => {
  const cache = new FakeCache();
  const { posts, respond } = jobs();
  const inputs = { session: "nightly" };
  await runMain({ cache, respond, inputs, runAttempt: 1, environment: env("99", "a") });
  await runMain({ cache, respond, inputs, runAttempt: 2, environment: env("99", "b") });
  expect(posts).toHaveLength(2);
});

test("a session has one job for each base", async () => {
  const cache = new FakeCache();
  const own = new KeyedService();
  own.features = ["base"];
  for (const [run, base] of [
    ["1", "v1"],
    ["2", "v2"],
    ["3", "v1"],
  ] as const)
    await runMain({
      cache,
      respond: own.respond,
      inputs: { session: "nightly", base, "base-url": "https://agents.example.com" },
      environment: env(run),
    });
  const [first, second, third] = own.turns;
  expect(second?.job).not.toBe(first?.job);
  expect(third?.job).toBe(first?.job);
});

test("a later run has the larger number, not the later text", async () => {
  const cache = new FakeCache();
  const { posts, respond } = jobs();
  const inputs = { session: "nightly" };
  await runMain({ cache, respond, inputs, environment: env("9") });
  await runMain({ cache, respond, inputs: { ...inputs, prompt: "Other" }, environment: env("10") });
  expect(
    cache.entries.filter(({ key }) => key.startsWith("agent-session-") && /-10-1-[0-9a-f]{32}-\d+$/.test(key)),
  ).not.toEqual([]);
  expect(posts).toHaveLength(2);
});

test("invalid inputs of one leg of a matrix say nothing of another", async () => {
  const cache = new FakeCache();
  const { respond } = jobs();
  const leg = (name: string) => ({ "matrix-leg": name });
  await runMain({ cache, respond, inputs: { "api-key": "", ...leg("one") }, runAttempt: 1, environment: env("99") });
  const { outputs } = await runMain({
    cache,
    respond,
    inputs: leg("two"),
    runAttempt: 2,
    environment: { ...env("99"), ACTIONS_CACHE_MODE: "read" },
  });
  expect(outputs.outcome).toBe("error");
});

test("two steps of a run that share a session both remember its job", async () => {
  const cache = new FakeCache();
  const { posts, respond } = jobs();
  const inputs = { session: "nightly" };
  await runMain({ cache, respond, inputs, environment: env("99", "a") });
  const { toolkit } = await runMain({ cache, respond, inputs, environment: env("99", "b") });
  expect(posts).toEqual(["/v2/agent/docs/job", "/v2/agent/docs/job/job_1/message"]);
  expect(toolkit.annotations.map(({ title }) => title)).not.toContain("Cannot remember the job");
});

test.each([
  ["a renamed or transferred repository", { GITHUB_REPOSITORY: "other/pages", GITHUB_REPOSITORY_ID: "7" }, "resumed"],
  ["another one of that name", { GITHUB_REPOSITORY: "acme/docs", GITHUB_REPOSITORY_ID: "8" }, "created"],
])("%s, for a re-run and a session of its own agent", async (_, now, origin) => {
  const service = new KeyedService();
  const agent = {
    connect: (transport: Transport) => transport,
    prepare: async () => {},
    check: async () => {},
    end: async () => {},
  };
  const cache = new FakeCache();
  const run = (id: string, runAttempt: number, place: Record<string, string>) =>
    runMain({
      cache,
      agent,
      runAttempt,
      respond: service.respond,
      inputs: { agent: "editor", "project-id": "", "api-key": "", "github-token": "t", session: "nightly" },
      environment: {
        ...env(id),
        ...place,
        GITHUB_WORKFLOW_REF: `${place.GITHUB_REPOSITORY}/.github/workflows/docs.yml@refs/heads/main`,
        RUNNER_OS: "Linux",
      },
    });
  const before = { GITHUB_REPOSITORY: "acme/docs", GITHUB_REPOSITORY_ID: "7" };
  await run("99", 1, before);
  expect((await run("99", 2, now)).outputs["job-origin"]).toBe(origin);
  expect((await run("100", 1, now)).outputs["job-id"]).toBe(origin === "resumed" ? "job_1" : "job_2");
});
