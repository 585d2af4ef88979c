import { describe, expect, test } from "vitest";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
import { runWithChanges, type WorkflowEvent } from "../../../support/changes-run.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { FakeRepository } from "../../../support/fake-repository.ts";
import { type MainOptions, record, respondWith } from "../../../support/run-main.ts";

/** The nights of a repository with a session. The agent opens the pull request `next`. */
function nights() {
  const repository = new FakeRepository();
  const cache = new FakeCache();
  const agent = { status: "completed", pullRequest: 7 };
  let run = 100;
  let job = 0;
  const night = async (options: Partial<MainOptions> = {}, event: WorkflowEvent = { name: "schedule" }) =>
    runWithChanges(repository, event, {
      cache,
      respond: ({ method, path }) => {
        if (method === "POST" && path.endsWith("/job")) job++;
        const id = path.endsWith("/job") ? `job_${job}` : path.split("/")[5];
        if (method === "POST") return respondWith(201, record({ id }));
        const prLink = `https://github.com/acme/docs/pull/${agent.pullRequest}`;
        return respondWith(200, record({ id, status: agent.status, prLink }));
      },
      ...options,
      inputs: { session: "nightly", ...options.inputs },
      environment: { GITHUB_RUN_ID: String(run++), GITHUB_JOB: "docs", GITHUB_ACTION: "a", ...options.environment },
    });
  const open = (number: number) =>
    repository.pulls.set(number, {
      merged: false,
      merge_commit_sha: null,
      base: { sha: "" },
      head: { sha: "" },
      commits: [],
    });
  return { repository, cache, agent, night, open };
}

test("each night starts where the last one ended, and a quiet night sends nothing", async () => {
  const { repository, night, open } = nights();
  open(7);
  const first = repository.commit("main", { files: ["a"] });
  await night();
  const quiet = await night();
  expect(quiet.outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new", "job-id": "" });
  // The record of the session's job names its pull request, which does not count.
  expect(quiet.requests).toMatchObject([{ method: "GET", path: "/v2/agent/docs/job/job_1" }]);

  repository.commit("main", { hours: -100, files: ["b"] });
  const third = await night();
  expect(third.prompts[0]).toContain(`Range: ${first.slice(0, 7)}...`);
  expect(third.prompts[0]).toContain("1 commit, 1 file\n");
  expect(third.outputs).toMatchObject({ "job-id": "job_1", "changed-files": "1" });
});

test("a force-push falls back to the last day, with a notice", async () => {
  const { repository, night } = nights();
  const base = repository.head();
  repository.commit("main", { files: ["a"] });
  await night();
  repository.ref("main", base);
  repository.commit("main", { files: ["b"] });
  const { prompts, notices } = await night();
  expect(prompts[0]).toContain(`Range: ${base.slice(0, 7)}...`);
  expect(prompts[0]).toContain("Files:\nmodified b +2 -1\n~~~");
  expect(notices).toContain("Changes of the last day");
});

test.each([
  ["a push", "push", "auto", ["told...head", "before...head", "before...told"]],
  ["a push that what was told is not in", "push elsewhere", "auto", ["told...head", "before...head"]],
  ["a ref", "schedule", "v1", ["told...head", ...Array(7).fill("v1...head"), "v1...told"]],
  ["what was told", "schedule", "auto", Array(4).fill("told...head")],
])("only the range is read to its last page, if it is that of %s", async (_, event, since, asked) => {
  const { repository, night } = nights();
  const commits = (count: number) => {
    for (let n = 0; n < count; n++) repository.commit("main");
    return repository.head();
  };
  const v1 = repository.commit("main", { files: ["a"] });
  repository.ref("v1");
  const told = commits(300);
  await night();
  if (event === "push elsewhere") repository.ref("main", v1);
  const before = commits(300);
  const head = repository.commit("main", { files: ["b"] });
  repository.routes.length = 0;
  const [name = ""] = event.split(" ");
  const payload = { ref: "refs/heads/main", before, forced: false, repository: { default_branch: "main" } };
  const { prompts } = await night({ inputs: { "changes-since": since } }, { name, payload });
  expect(prompts[0]).toContain("modified b ");
  const ranges = repository.routes.flatMap((route) => route.split("/compare/")[1] ?? []);
  const names = Object.entries({ told, before, head });
  const named = (range: string) => names.reduce((text, [name, sha]) => text.replace(sha, name), range);
  expect(ranges.map(named)).toEqual(asked);
});

test("a re-run after a failed job sends the same range again, not an empty one", async () => {
  const { repository, agent, night } = nights();
  repository.commit("main", { files: ["a"] });
  await night();
  const start = repository.head();
  repository.commit("main", { files: ["b"] });
  agent.status = "failed";
  const environment = { GITHUB_RUN_ID: "155" };
  await night({ environment });
  agent.status = "completed";
  const { prompts, outputs } = await night({
    environment,
    runAttempt: 2,
    respond: ({ method, path }) => {
      if (method === "POST") return respondWith(201, record({ id: "job_9" }));
      const id = path.split("/").at(-1);
      return respondWith(200, record({ id, status: id === "job_9" ? "completed" : "failed" }));
    },
  });
  expect(outputs).toMatchObject({ "job-id": "job_9", "changed-files": "1" });
  expect(prompts[0]).toContain(`Range: ${start.slice(0, 7)}...${repository.head().slice(0, 7)}`);
});

test("a re-run that finds the job of its earlier attempt asks GitHub nothing", async () => {
  const { repository, night } = nights();
  repository.commit("main", { files: ["a"] });
  const environment = { GITHUB_RUN_ID: "155" };
  await night({ environment });
  repository.routes.length = 0;
  const { outputs, prompts } = await night({ environment, runAttempt: 2 });
  expect(outputs).toMatchObject({ "job-origin": "resumed", "changed-files": "" });
  expect(prompts).toEqual([]);
  expect(repository.routes).toEqual([]);
});

test("a re-run whose earlier attempt was killed before it saved the session saves it, with its pull request", async () => {
  const { repository, cache, night } = nights();
  repository.commit("main", { files: ["a"] });
  const environment = { GITHUB_RUN_ID: "155" };
  await night({ environment });
  cache.entries.splice(0, cache.entries.length, ...cache.entries.filter(({ key }) => !/^agent-session/.test(key)));
  await night({ environment, runAttempt: 2 });
  const saved = cache.entries.filter(({ key }) => /^agent-session/.test(key)).map(({ text }) => JSON.parse(text));
  expect(saved).toMatchObject([
    { version: 1, jobId: "job_1", run: "155", commit: repository.head(), failures: 0, pullRequests: [7] },
  ]);
});

describe("a merged refresh does not start the next one", () => {
  test.each(["merge", "squash", "rebase"] as const)("merged by %s", async (how) => {
    const { repository, night } = nights();
    repository.commit("main", { files: ["src/a.ts"] });
    repository.ref("agent");
    await night();
    repository.commit("agent", { message: "Refresh 1", files: ["docs/a.md"] });
    repository.commit("agent", { message: "Refresh 2", files: ["docs/b.md"] });
    repository.merge(7, "agent", how);
    const { outputs, requests } = await night();
    expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new" });
    expect(requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  test.each(["merge", "squash", "rebase"] as const)(
    "merged by %s, and other commits count, also in the same file",
    async (how) => {
      const { repository, night } = nights();
      const start = repository.commit("main", { files: ["src/a.ts"] });
      repository.ref("agent");
      await night();
      repository.commit("agent", { message: "Refresh 1", files: ["docs/a.md"] });
      repository.commit("agent", { message: "Refresh 2", files: ["docs/b.md"] });
      repository.commit("main", { message: "Before", files: ["src/before.ts", "docs/b.md"] });
      repository.merge(7, "agent", how);
      repository.commit("main", { message: "After", files: ["src/after.ts"] });
      repository.commit("main", { message: "Later", files: ["src/before.ts"] });
      const { outputs, prompts } = await night();
      expect(prompts[0]).toContain(`Range: ${start.slice(0, 7)}...${repository.head().slice(0, 7)}`);
      expect(prompts[0]).toContain("3 commits, 3 files");
      expect(prompts[0]?.match(/Commits:\n(?:.+\n)+/)?.[0].replace(/[0-9a-f]{7} /g, "")).toBe(
        "Commits:\nLater\nAfter\nBefore\n",
      );
      expect(prompts[0]).toContain(
        "Files:\nmodified src/before.ts +4 -2\nmodified docs/b.md +2 -1\nmodified src/after.ts +2 -1\n~~~",
      );
      expect(outputs["changed-files"]).toBe("3");
    },
  );

  test.each([
    ["a squash", "Refresh (#8)\n\nAgent-Job: job_1\nAgent-Turn: turn_2"],
    ["a merge", "Merge pull request #8 from acme/agent/job_1\n\nRefresh"],
  ])("in a pull request that a comment opened for the session's job: %s", async (_, message) => {
    const { repository, night, open } = nights();
    open(7);
    repository.commit("main", { files: ["src/a.ts"] });
    await night();
    const parents = message.startsWith("Merge") ? { parents: [repository.head(), repository.head()] } : {};
    repository.commit("main", { message, files: ["docs/a.md"], ...parents });
    expect((await night()).outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new" });
    repository.commit("main", { message: message.replace("job_1", "job_10"), files: ["docs/b.md"], ...parents });
    expect((await night()).outputs).toMatchObject({ outcome: "pr-created", "changed-files": "1" });
  });

  test.each([
    ["indented", "Change the API (#12)\n\n    Agent-Job: job_1"],
    ["with text below it", "Change the API (#12)\n\nAgent-Job: job_1\n\nThat is why."],
    ["of one commit of a squash", "Add it (#12)\n\n* Add it\n\n* Document it\n\nAgent-Job: job_1"],
    ["of one commit of a squash, the first", "Add it (#12)\n\n* Document it\n\nAgent-Job: job_1\n\n* Add it"],
    ["of a fork's branch that is merged", "Merge pull request #12 from evil/agent/job_1\n\nChange the API"],
    ["of a commit that only looks like a merge", "Merge pull request #12 from acme/agent/job_1"],
    ["of a fork's commit", "Change the API (#12)\n\nAgent-Job: job_1"],
  ])("a job's name does not hide what others did: %s", async (what, message) => {
    const { repository, night, open } = nights();
    open(7);
    repository.commit("main", { files: ["src/a.ts"] });
    await night();
    const head = repository.head();
    const parents = what.endsWith("is merged") ? { parents: [head, head] } : {};
    const sha = repository.commit("main", { message, files: ["src/api.ts"], ...parents });
    if (what.includes("a fork's commit")) repository.ofForks.add(sha);
    expect((await night()).outputs).toMatchObject({ outcome: "pr-created", "changed-files": "1" });
  });

  test("a job's commit is known by the end of its message, however long that is, and if nobody says who brought it", async () => {
    const { repository, night, open } = nights();
    open(7);
    repository.commit("main", { files: ["src/a.ts"] });
    await night();
    const message = `Refresh (#8)\n\nCommits of the agent:\n\n    ${"Change it. ".repeat(500)}\n\nAgent-Job: job_1`;
    repository.commit("main", { message, files: ["docs/a.md"] });
    repository.fault = (route) => {
      if (route.endsWith("/commits/{ref}/pulls")) throw new GitHubError("Forbidden", 403);
    };
    expect((await night()).outputs["skip-reason"]).toBe("nothing-new");
  });

  test("a squash keeps its own message: the commit before it counts", async () => {
    const { repository, night } = nights();
    repository.commit("main", { files: ["src/a.ts"] });
    repository.ref("agent");
    await night();
    repository.commit("agent", { message: "First", files: ["docs/a.md"] });
    repository.commit("agent", { message: "Second", files: ["docs/a.md"] });
    repository.commit("main", { message: "Not First", files: ["src/b.ts"] });
    repository.merge(7, "agent", "squash", "Second");
    expect((await night()).prompts[0]).toContain("1 commit, 1 file\n");
  });

  test("a squash whose pull request does not show its commits", async () => {
    const { repository, night } = nights();
    repository.commit("main", { files: ["src/a.ts"] });
    repository.ref("agent");
    await night();
    repository.commit("agent", { message: "First", files: ["docs/a.md"] });
    repository.merge(7, "agent", "squash", "Other words");
    repository.fault = (route) => {
      if (route.endsWith("/pulls/{pull_number}/commits")) throw new GitHubError("Forbidden", 403);
    };
    expect((await night()).outputs["skip-reason"]).toBe("nothing-new");
  });

  describe.each([
    ["a 502 fails the step, and sends nothing", 502, "error", undefined],
    ["a 403 lets the messages decide, and says so", 403, "skipped", "Own changes by commit messages"],
    ["a 404 does, too", 404, "skipped", "Own changes by commit messages"],
  ])("whose pull request cannot be read: %s", (_name, status, outcome, title) => {
    test.each(["pulls/{pull_number}", "pulls/{pull_number}/commits"])("%s", async (route) => {
      const { repository, night } = nights();
      repository.commit("main", { files: ["src/a.ts"] });
      repository.ref("agent");
      await night();
      repository.commit("agent", { message: "Refresh", files: ["docs/a.md"] });
      repository.merge(7, "agent", "squash", "Refresh (#7)");
      repository.fault = (asked) => {
        if (asked.endsWith(route)) throw new GitHubError("no", status);
      };
      const { outputs, prompts, toolkit } = await night();
      expect(prompts).toEqual([]);
      expect(outputs.outcome).toBe(outcome);
      const titles = toolkit.annotations.map((annotation) => annotation.title);
      if (route.endsWith("}") && title !== undefined) expect(titles).toContain(title);
    });
  });

  test("costs a request for the pull request, and one for each part of the range that is left", async () => {
    const { repository, night, open } = nights();
    const start = repository.commit("main", { files: ["src/a.ts"] });
    repository.ref("agent");
    await night();
    repository.commit("agent", { files: ["docs/a.md"] });
    open(7);
    const other = repository.commit("main", { files: ["src/b.ts"] });
    repository.routes.length = 0;
    await night({ inputs: { wait: "false" } });
    const pull = "GET /repos/acme/docs/pulls/7";
    const compare = (base: string, head: string) => `GET /repos/acme/docs/compare/${base}...${head}`;
    // The last request is about the state of the pull request.
    expect(repository.routes).toEqual([compare(start, other), pull, pull]);

    const merge = repository.merge(7, "agent", "merge");
    repository.routes.length = 0;
    await night();
    expect(repository.routes).toEqual([compare(other, merge), pull]);
  });

  test("nor do two of them", async () => {
    const { repository, agent, night } = nights();
    repository.commit("main", { files: ["src/a.ts"] });
    await night();
    repository.ref("one");
    repository.commit("one", { files: ["docs/one.md"] });
    repository.merge(7, "one", "squash");
    repository.commit("main", { files: ["src/b.ts"] });
    agent.pullRequest = 8;
    await night();
    repository.ref("two");
    repository.commit("two", { files: ["docs/two.md"] });
    repository.merge(8, "two", "merge");
    expect((await night()).outputs["skip-reason"]).toBe("nothing-new");
  });

  test.each(["merge", "squash"] as const)(
    "even if its pull request cannot be read: the message of a %s names it",
    async (how) => {
      const { repository, night } = nights();
      repository.commit("main", { files: ["src/a.ts"] });
      repository.ref("agent");
      await night();
      repository.commit("agent", { files: ["docs/a.md"] });
      repository.merge(7, "agent", how);
      repository.pulls.clear();
      expect((await night()).outputs["skip-reason"]).toBe("nothing-new");
    },
  );

  test("even in a range of more than 100 commits, whose newest are listed", async () => {
    const { repository, night } = nights();
    repository.commit("main", { files: ["src/a.ts"] });
    await night();
    repository.ref("agent");
    for (let n = 0; n < 110; n++) repository.commit("main");
    repository.commit("agent", { files: ["docs/a.md"] });
    repository.merge(7, "agent", "squash");
    for (let n = 0; n < 110; n++) repository.commit("main", { message: `After ${n}`, files: ["src/b.ts"] });
    const { prompts } = await night();
    expect(prompts[0]).toContain("220 commits, 1 file\n");
    expect(prompts[0]).toContain(" After 109\n");
  });

  test("but in a range with more commits than are listed, everything counts", async () => {
    const { repository, night } = nights();
    repository.commit("main", { files: ["src/a.ts"] });
    await night();
    repository.ref("agent");
    repository.commit("agent", { files: ["docs/a.md"] });
    repository.merge(7, "agent", "squash");
    for (let n = 0; n < 5000; n++) repository.commit("main");
    repository.commit("main", { files: ["src/last.ts"] });
    const { prompts } = await night();
    expect(prompts[0]).toContain("5002 commits, 2 files");
  });

  test("but a pull request of somebody else does, whatever its number begins with", async () => {
    const { repository, night } = nights();
    repository.commit("main", { files: ["src/a.ts"] });
    repository.ref("topic");
    await night();
    repository.commit("topic", { files: ["src/b.ts"] });
    repository.merge(70, "topic", "squash");
    expect((await night()).outputs["changed-files"]).toBe("1");
  });

  test("but one that the session opened elsewhere, with the same number, does not count as its own", async () => {
    const { repository, night } = nights();
    repository.commit("main", { files: ["src/a.ts"] });
    repository.ref("topic");
    await night({ environment: { GITHUB_REPOSITORY: "acme/code" } });
    repository.commit("topic", { files: ["src/b.ts"] });
    repository.merge(7, "topic", "squash");
    const { outputs } = await night({ environment: { GITHUB_REPOSITORY: "acme/code" } });
    expect(outputs["changed-files"]).toBe("1");
  });
});

test("the session remembers its last 20 pull requests", async () => {
  const { repository, cache, agent, night } = nights();
  for (let number = 1; number <= 22; number++) {
    repository.commit("main", { files: ["src/a.ts"] });
    agent.pullRequest = number;
    await night({ inputs: { "on-rerun": "new" } });
  }
  const { pullRequests } = JSON.parse(cache.entries.at(-1)?.text ?? "{}") as { pullRequests: number[] };
  expect(pullRequests).toEqual(Array.from({ length: 20 }, (_, index) => index + 3));
  expect(Buffer.byteLength(cache.entries.at(-1)?.text ?? "")).toBeLessThan(500);
});

test.each([
  ["a commit that is none", { commit: "main" }],
  ["a commit that is none, of a run whose end is unknown", { sent: { covers: "../../x" } }],
  ["a pull request that is none", { pullRequests: [-1] }],
  ["too many pull requests", { pullRequests: Array.from({ length: 21 }, () => 1) }],
])("an entry with %s is not used", async (_name, fields) => {
  const { repository, cache, night } = nights();
  repository.commit("main", { files: ["a"] });
  await night();
  for (const entry of cache.entries) entry.text = JSON.stringify({ ...JSON.parse(entry.text), ...fields });
  const { outputs } = await night();
  expect(outputs).toMatchObject({ "job-id": "job_2", "changed-files": "1" });
});

test("without a cache service, the changes are those of the last day", async () => {
  const { repository, night } = nights();
  repository.commit("main", { files: ["a"] });
  const { outputs } = await night({ environment: { ACTIONS_RUNTIME_TOKEN: "" } });
  expect(outputs).toMatchObject({ outcome: "pr-created", "changed-files": "1" });
});
