import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CacheService, type RunAccess, startCacheService } from "../../../test/support/cache-service.ts";
import { commentEnvironment, commentInputs } from "../../../test/support/payload.ts";
import { pathWith, programs } from "../../../test/support/programs.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { rows } from "../../../test/support/thorough.ts";
import type { GitHub } from "../support/github-with-git.ts";
import { agentStep, setUpGitHub, unconfined } from "../support/workflow-job.ts";

/** @param access - to the cache. Default: the access of runs which people without write access can cause, such as for comments */
async function setUp(access: RunAccess = "read", reply?: Parameters<typeof setUpGitHub>[0]) {
  const cache = await startCacheService("v1", { access });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  return { ...(await setUpGitHub(reply)), cache };
}

/**
 * Runs a workflow for a comment on an empty runner.
 *
 * @param comment - its text, or its id if this is another attempt of its run
 */
async function runWorkflow(
  { github, cache }: { github: GitHub; cache: CacheService },
  comment: string | number,
  agent: string,
) {
  const isNew = typeof comment === "string";
  const [issue] = (await github.call("GET", "/issues")) as { number: number }[];
  const { number } =
    issue ?? ((await github.call("POST", "/issues", { title: "No quickstart" })) as { number: number });
  const found = await (isNew
    ? github.call("POST", `/issues/${number}/comments`, { body: comment })
    : github.call("GET", `/issues/comments/${comment}`));
  const { id, body: text } = found as { id: number; body: string };
  const { owner, repo, url } = github;
  const event = { id, text, author: { login: owner }, number, owner, repo };
  const { outputs, log, annotations } = await agentStep(
    github,
    {
      ...commentInputs,
      "project-id": "",
      "api-key": "",
      "base-url": "",
      "github-token": github.token,
      agent,
      "agent-options": unconfined,
    },
    {
      environment: {
        ...cache.environment,
        ...commentEnvironment(temporaryFolder(), url, event),
        GITHUB_SERVER_URL: url,
        GITHUB_RUN_ID: String(id),
        GITHUB_RUN_ATTEMPT: isNew ? "1" : "2",
      },
    },
  );
  return { id, outputs, log, annotations };
}

/** The first is what GitHub grants to runs for comments. */
const accesses: [string, RunAccess][] = [
  ["can be read", "read"],
  ["can be written", "write"],
  ["cannot be used", "none"],
  ["turns out to be read-only", "403"],
];

test("comments have one job on all runners, whose cache can be read, and a re-run sends nothing", async () => {
  const { docs, ...servers } = await setUp("read");
  const runs = join(temporaryFolder(), "runs");
  const agent = `cat >> notes.md; echo run >> ${runs}`;
  const first = await runWorkflow(servers, "/agent one", agent);
  expect(first.outputs.outcome, first.log).toBe("pr-created");
  const approval = expect.stringMatching(/^notice Workflows wait for approval: /);
  expect(first.annotations).toContainEqual(approval);

  const second = await runWorkflow(servers, "/agent two", agent);
  const continued = {
    outcome: "pr-created",
    "job-id": first.outputs["job-id"],
    "pr-link": first.outputs["pr-link"],
    ref: first.outputs.ref,
  };
  expect(second.outputs, second.log).toMatchObject({ ...continued, "job-origin": "continued" });

  const again = await runWorkflow(servers, second.id, agent);
  expect(again.outputs, again.log).toMatchObject(continued);
  expect(docs.branches()).toEqual([first.outputs.ref]);
  expect(docs.git("rev-list", "--count", `main..${first.outputs.ref}`)).toBe("2");
  expect(await servers.github.call("GET", "/pulls?state=all")).toHaveLength(1);
  expect(readFileSync(runs, "utf8")).toBe("run\nrun\n");
  expect([...second.annotations, ...again.annotations]).not.toContainEqual(approval);
  expect(second.log).toContain("Jobs are remembered by their branches and pull requests");
  expect(second.log.includes("`cache-mode: write`")).toBe(true);
});

test.each(rows(accesses, 1))(
  "a re-run of a run that changed nothing runs no agent, with a cache that %s",
  async (_which, access) => {
    const { docs, ...servers } = await setUp(access);
    const runs = join(temporaryFolder(), "runs");
    const agent = `cat > /dev/null; echo run >> ${runs}`;
    const first = await runWorkflow(servers, "/agent look", agent);
    expect(first.outputs.outcome, first.log).toBe("no-changes");
    expect(first.log).toContain("without opening a pull request: it changed nothing.");
    const again = await runWorkflow(servers, first.id, agent);
    expect(again.outputs, again.log).toMatchObject({ outcome: "no-changes", "job-id": first.outputs["job-id"] });
    expect(readFileSync(runs, "utf8")).toBe("run\n");
    expect(docs.branches()).toEqual([]);
  },
);

test("a comment continues the job of its thread although no reply names it, as of a run that was killed", async () => {
  const { docs, ...servers } = await setUp("read");
  const agent = "cat >> notes.md";
  const first = await runWorkflow(servers, "/agent one", agent);
  const replies = (await servers.github.call("GET", "/issues/1/comments")) as { id: number; body: string }[];
  const { id } = replies.find(({ body }) => body.includes("<!-- agent-job")) ?? {};
  await servers.github.call("DELETE", `/issues/comments/${id}`);
  const second = await runWorkflow(servers, "/agent two", agent);
  expect(second.outputs, second.log).toMatchObject({ "job-origin": "continued", "job-id": first.outputs["job-id"] });
  const third = await runWorkflow(servers, "/agent new three", agent);
  expect(third.outputs["job-id"], third.log).not.toBe(first.outputs["job-id"]);
});

test("a session continues its job in a later run, unless that does not remember jobs", async () => {
  const { docs, github, cache } = await setUp("write");
  const started = join(temporaryFolder(), "started");
  const git = `echo >> ${started}; PATH='${process.env.PATH}'; exec git "$@"`;
  const PATH = pathWith(programs({ git }));
  const night = (prompt: string, remember = "true", agent = "cat >> notes.md") => {
    const options = `${unconfined}\n--remember ${remember}`;
    const inputs = { agent, "agent-options": options, session: "nightly", prompt };
    return agentStep(github, inputs, { environment: { ...cache.environment, PATH, GITHUB_RUN_ID: prompt } });
  };
  const first = await night("One");
  // Each start of Git takes milliseconds, and more where processes are watched. Twelve of them claim the session, say
  // that it works and how it ended, and keep the commit until it is published; three see whether a build would run something in a page.
  expect(readFileSync(started, "utf8").length).toBeLessThanOrEqual(35);
  expect(first.outputs, first.log).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  expect(first.log).toContain("Jobs are remembered by their branches and pull requests, and in the Actions cache");
  const { "job-id": id, "pr-link": prLink, ref } = first.outputs;

  const second = await night("Two");
  expect(second.outputs, second.log).toMatchObject({ "job-origin": "continued", "job-id": id, "pr-link": prLink });
  expect(docs.branches()).toEqual([ref]);
  // The step expects a session that it then does not find: each runner here has another folder, by which agents find them.
  expect(second.annotations).toContainEqual(expect.stringMatching(/^notice The agent began a new session: /));
  // The pull request was opened by the first one.
  expect(second.annotations).not.toContainEqual(expect.stringMatching(/^notice Workflows wait for approval: /));

  const idle = await night("Nothing", "true", "cat");
  expect(idle.outputs, idle.log).toMatchObject({ outcome: "no-changes", "job-id": id, "pr-link": prLink });

  const saved = () => cache.entries.filter(({ key }) => key.startsWith("agent-job-service/")).length;
  const before = saved();
  const third = await night("Three", "false");
  expect(third.outputs, third.log).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  expect(third.outputs["job-id"]).not.toBe(id);
  expect(third.log).toContain(`Session nightly: job ${id} was not found, starting a new one`);
  expect(saved()).toBe(before);
});

test("a session's next run works on what came to the base since, or says what conflicts", async () => {
  const { docs, github, cache } = await setUp("write");
  const night = (prompt: string, agent: string) => {
    const inputs = { agent, "agent-options": unconfined, session: "nightly", prompt };
    return agentStep(github, inputs, { environment: { ...cache.environment, GITHUB_RUN_ID: prompt } });
  };
  const commit = (file: string, text: string) =>
    docs.importHistory(
      `commit refs/heads/main\ncommitter W <w@example.com> now\ndata 3\nNew\nfrom refs/heads/main^0\nM 100644 inline ${file}\ndata ${text.length}\n${text}\n`,
    );
  const first = await night("One", "echo One > notes.md");
  const { "job-id": id, ref = "" } = first.outputs;
  commit("src/two.ts", "two();");
  const second = await night("Two", "cp src/two.ts notes.md");
  expect(second.outputs, second.log).toMatchObject({ outcome: "pr-created", "job-id": id });
  expect(docs.read(ref, "notes.md")).toBe("two();");
  expect(docs.git("merge-base", "main", ref)).toBe(docs.head("main"));

  commit("notes.md", "By hand");
  const third = await night("Three", "cat > three.md");
  expect(third.outputs, third.log).toMatchObject({ outcome: "pr-created", "job-id": id });
  const said = `main cannot be merged into ${ref}, because both have changed "notes.md".`;
  const [pull] = (await github.call("GET", "/pulls?state=all")) as { body: string }[];
  expect(docs.read(ref, "three.md")).toContain(said);
  expect(pull?.body).toContain(said);
  expect(third.annotations).toContainEqual(expect.stringContaining(said));
}, 60_000);

test("says if GitHub does not tell whose token it is, and that a job is not remembered if the cache is closed, too", async () => {
  const denied = (route: string, response: ServerResponse): boolean => {
    if (!["POST /graphql", "GET /user"].includes(route)) return false;
    response.writeHead(403, { "content-type": "application/json" }).end('{"message":"Resource not accessible"}');
    return true;
  };
  const { github, cache } = await setUp("403", denied);
  const inputs = { agent: "cat > answer.md", "agent-options": unconfined, prompt: "Answer" };
  const { outputs, log, annotations } = await agentStep(
    github,
    { ...inputs, "workflow-token": "the-token-of-the-workflow" },
    { environment: cache.environment },
  );
  expect(outputs.outcome, log).toBe("pr-created");
  expect(log).toContain("They are not known by their branches, because GitHub does not tell which account");
  expect(annotations).toContainEqual(
    expect.stringMatching(`^warning Jobs cannot be continued by a later run: .*${outputs["job-id"]}`),
  );
});
