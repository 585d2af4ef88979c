import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type CacheService, type RunAccess, startCacheService } from "../../../test/support/cache-service.ts";
import { commentEnvironment, commentInputs } from "../../../test/support/payload.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { rows } from "../../../test/support/thorough.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import type { GitHub } from "../support/github-with-git.ts";
import { isRunning, type ServiceStepOptions, setUpGitHub, startServiceStep } from "../support/service-step.ts";

/** These tests are not about the sandbox, which not every machine can run. */
const remembering = { remember: "true", sandbox: "none", "agent-network": "full" };

/** @param access - to the cache. Default: the access of runs which people without write access can cause, such as for comments */
async function setUp(access: RunAccess = "read") {
  const cache = await startCacheService("v1", { access });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  return { ...(await setUpGitHub()), cache };
}

/**
 * Runs a workflow for a comment on an empty runner: the service, the action and the end of the job.
 *
 * @param comment - its text, or its id if this is another attempt of its run
 */
async function runWorkflow(
  { github, cache }: { github: GitHub; cache: CacheService },
  comment: string | number,
  options: Partial<ServiceStepOptions> = {},
) {
  const attempt = typeof comment === "string" ? "1" : "2";
  const service = await startServiceStep({
    github,
    ...options,
    inputs: { ...remembering, ...options.inputs },
    environment: { ...cache.environment, GITHUB_RUN_ATTEMPT: attempt, ...options.environment },
  });
  expect(service.exitCode, service.log).toBe(0);
  const [issue] = (await github.call("GET", "/issues")) as { number: number }[];
  const { number } =
    issue ?? ((await github.call("POST", "/issues", { title: "No quickstart" })) as { number: number });
  const isNew = typeof comment === "string";
  const found = await (isNew
    ? github.call("POST", `/issues/${number}/comments`, { body: comment })
    : github.call("GET", `/issues/comments/${comment}`));
  const { id, body: text } = found as { id: number; body: string };
  const { owner, repo } = github;
  const event = { id, text, author: { login: owner }, number, owner, repo };
  const ofRun = { GITHUB_RUN_ID: String(id), GITHUB_RUN_ATTEMPT: attempt };
  const environment = { ...service.environment, ...commentEnvironment(temporaryFolder(), github.url, event), ...ofRun };
  const result = await step(
    { ...service.actionInputs, ...commentInputs, "github-token": github.token },
    { environment },
  );
  const post = await service.post();
  return { id, outputs: result.outputs, log: result.log, service, post };
}

const accesses: [string, RunAccess][] = [
  ["can be written", "write"],
  ["can be read", "read"],
  ["cannot be used", "none"],
  ["turns out to be read-only", "403"],
];

test.each(rows(accesses, 2))(
  "with a cache that %s, comments have one job on all runners, and a re-run sends nothing",
  async (_which, access) => {
    const { docs, ...servers } = await setUp(access);
    const runs = join(temporaryFolder(), "runs");
    const options = { inputs: { agent: `cat >> notes.md; echo run >> ${runs}` } };
    const first = await runWorkflow(servers, "/agent one", options);
    expect(first.outputs.outcome, first.log + first.post.log).toBe("pr-created");
    expect(first.post.annotations).toEqual([expect.stringMatching(/^notice Workflows wait for approval: /)]);

    const second = await runWorkflow(servers, "/agent two", options);
    const continued = {
      outcome: "pr-created",
      "job-id": first.outputs["job-id"],
      "pr-link": first.outputs["pr-link"],
      ref: first.outputs.ref,
    };
    expect(second.outputs, second.log + second.post.log).toMatchObject({ ...continued, "job-origin": "continued" });

    const again = await runWorkflow(servers, second.id, options);
    expect(again.outputs, again.log + again.post.log).toMatchObject(continued);
    expect(docs.branches()).toEqual([first.outputs.ref]);
    expect(docs.git("rev-list", "--count", `main..${first.outputs.ref}`)).toBe("2");
    expect(await servers.github.call("GET", "/pulls?state=all")).toHaveLength(1);
    expect(readFileSync(runs, "utf8")).toBe("run\nrun\n");

    // None that a maintainer would see on every run and could do nothing about.
    const said = [second, again].flatMap(({ service, post }) => [...service.annotations, ...post.annotations]);
    // The step expects a session that it then does not find: each runner here has another folder, by which agents find them.
    const newSession = expect.stringMatching(/^notice The agent began a new session: /);
    expect(said).toEqual(access === "write" || access === "403" ? [newSession] : []);
    expect(second.service.log).toContain("Jobs are remembered by their branches and pull requests");
    expect(second.service.log.includes("`cache-mode: write`")).toBe(access === "read");
  },
);

/** An agent that works only once a file exists, and until then runs a process that is found by its command line. */
function waitingAgent(gate: string) {
  const marker = `sleep 3${Math.floor(performance.now() * 1000)}`;
  return {
    inputs: {
      agent: `if [ -e ${gate} ]; then cat > answer.md; else ${marker}; fi`,
      ...remembering,
    },
    /** Returns whether its process is running. */
    isRunning: () =>
      readdirSync("/proc").some((id) => {
        try {
          return readFileSync(`/proc/${id}/cmdline`, "utf8") === `${marker.replace(" ", "\0")}\0`;
        } catch {
          return false;
        }
      }),
  };
}

test.each(["cancelled", "killed"] as const)(
  "a run that is %s leaves no process, and the next finds its job",
  async (end) => {
    const { docs, github, cache } = await setUp("write");
    const gate = join(temporaryFolder(), "gate");
    const agent = waitingAgent(gate);
    const environment = cache.environment;
    const first = await startServiceStep({ github, inputs: agent.inputs, environment });
    let child: ChildProcess | undefined;
    const running = step(
      { ...first.actionInputs, prompt: "Answer" },
      {
        environment: first.environment,
        onStart: (started) => {
          child = started;
        },
      },
    );
    // Not the entry of the action, which remembers the job, too.
    const isSaved = () =>
      cache.entries.some(({ key, isCommitted }) => isCommitted && key.startsWith("agent-job-service/"));
    // Whether it runs takes reading the command lines of the whole machine.
    await waitUntil(() => isSaved() && agent.isRunning());
    if (end === "cancelled") child?.kill("SIGINT");
    else {
      child?.kill("SIGKILL");
      process.kill(first.process, "SIGKILL");
      await waitUntil(() => !isRunning(first.process));
    }
    const { outputs } = await running;
    expect(outputs["job-id"]).toMatch(/^job_/);
    const post = await first.post();
    expect(post.annotations).toEqual(
      end === "cancelled" ? [] : [expect.stringMatching(/^error The agent service ended early: /)],
    );
    await waitUntil(() => !agent.isRunning());
    expect(isRunning(first.process)).toBe(false);

    writeFileSync(gate, "");
    const second = await startServiceStep({ github, inputs: agent.inputs, environment });
    const waiting = { ...second.actionInputs, "job-id": outputs["job-id"] ?? "" };
    const resumed = await step(waiting, { environment: second.environment });
    expect(resumed.outputs, resumed.log + (await second.post()).log).toMatchObject({
      outcome: "pr-created",
      ref: `agent/${outputs["job-id"]}`,
    });
    expect(docs.read(`agent/${outputs["job-id"]}`, "answer.md")).toBe("Answer");
  },
);

test("runs at the same time keep each other's jobs", async () => {
  const { github, cache } = await setUp("write");
  const options = { github, inputs: remembering, environment: cache.environment };
  const [one, two] = [await startServiceStep(options), await startServiceStep(options)];
  const run = (service: typeof one, prompt: string) =>
    step({ ...service.actionInputs, prompt }, { environment: service.environment });
  const jobs = await Promise.all([run(one, 'Add a page "One"'), run(two, 'Add a page "Two"')]);
  await Promise.all([one.post(), two.post()]);
  const third = await startServiceStep(options);
  for (const { outputs } of jobs) {
    const inputs = { ...third.actionInputs, "job-id": outputs["job-id"] ?? "" };
    const found = await step(inputs, { environment: third.environment });
    expect(found.outputs).toMatchObject({ status: "completed", "pr-link": outputs["pr-link"] });
  }
});

test("a session continues its job in a later run", async () => {
  const { docs, github, cache } = await setUp("write");
  const night = async (prompt: string) => {
    const service = await startServiceStep({ github, inputs: remembering, environment: cache.environment });
    const environment = { ...service.environment, GITHUB_RUN_ID: prompt, GITHUB_JOB: "docs", GITHUB_ACTION: "agent" };
    const { outputs } = await step({ ...service.actionInputs, prompt, session: "nightly" }, { environment });
    await service.post();
    return outputs;
  };
  const first = await night('Add a page "One"');
  const second = await night('Add a page "Two"');
  expect(first).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  expect(second).toMatchObject({ "job-origin": "continued", "job-id": first["job-id"], "pr-link": first["pr-link"] });
  expect(docs.branches()).toEqual([first.ref]);
});

test("without remember, a later run starts a new job, and nothing is in the cache but the action's own", async () => {
  const servers = await setUp();
  const inputs = { remember: "false" };
  const first = await runWorkflow(servers, '/agent add a page "Quickstart"', { inputs });
  const second = await runWorkflow(servers, '/agent add a page "Limits"', { inputs });
  expect(second.outputs["job-id"]).not.toBe(first.outputs["job-id"]);
  expect(second.log).toContain("was not found, so this request is for a new one");
  expect(servers.cache.entries.filter(({ key }) => key.startsWith("agent-job-service/"))).toEqual([]);
});

test("says if GitHub does not tell whose token it is, and remembers jobs in the cache alone", async () => {
  const denied = (route: string, response: ServerResponse): boolean => {
    if (!["POST /graphql", "GET /user"].includes(route)) return false;
    response.writeHead(403, { "content-type": "application/json" }).end('{"message":"Resource not accessible"}');
    return true;
  };
  const { github } = await setUpGitHub(denied);
  const inputs = { ...remembering, "workflow-token": "the token of the workflow" };
  const without = await startServiceStep({ github, inputs });
  expect(without.annotations).toEqual([expect.stringMatching(/^warning Jobs are not remembered: /)]);
  await without.post();

  const cache = await startCacheService("v1", { access: "403" });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  const service = await startServiceStep({ github, inputs, environment: cache.environment });
  const { outputs } = await step(
    { ...service.actionInputs, prompt: 'Add a page "X"' },
    { environment: service.environment },
  );
  expect(outputs.outcome).toBe("pr-created");
  const post = await service.post();
  expect(post.annotations).toContainEqual(
    expect.stringMatching(`^warning Jobs cannot be continued by a later run: .*${outputs["job-id"]}`),
  );
});
