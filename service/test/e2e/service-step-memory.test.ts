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
import {
  isRunning,
  type ServiceStep,
  type ServiceStepOptions,
  setUpGitHub,
  startServiceStep,
} from "../support/service-step.ts";

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

/** The first is what GitHub grants to runs for comments. */
const accesses: [string, RunAccess][] = [
  ["can be read", "read"],
  ["can be written", "write"],
  ["cannot be used", "none"],
  ["turns out to be read-only", "403"],
];

test.each(rows(accesses, 1))(
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
    command: `if [ -e ${gate} ]; then cat > answer.md; else ${marker}; fi`,
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

test("runs at the same time, one cancelled and one killed, leave no process, and the next finds their jobs", async () => {
  const { docs, github, cache } = await setUp("write");
  const gate = join(temporaryFolder(), "gate");
  const start = (agent: string) =>
    startServiceStep({ github, inputs: { ...remembering, agent }, environment: cache.environment });
  /** Runs the action without the cache, in which it would remember the job, too. */
  const act = (service: ServiceStep, task: Record<string, string>, onStart?: (child: ChildProcess) => void) =>
    step(
      { ...service.actionInputs, ...task },
      { environment: { ...service.environment, ACTIONS_CACHE_URL: "" }, ...(onStart && { onStart }) },
    );
  const begin = async (prompt: string) => {
    const agent = waitingAgent(gate);
    const service = await start(agent.command);
    let child: ChildProcess | undefined;
    const ended = act(service, { prompt }, (started) => {
      child = started;
    });
    return { agent, service, ended, kill: (signal: NodeJS.Signals) => child?.kill(signal) };
  };
  const [cancelled, killed] = [await begin("One"), await begin("Two")];
  // Both are for the same project, whose port is the same in each run.
  expect(cancelled.service.annotations).toEqual([]);
  expect(killed.service.annotations).toEqual([]);
  expect(killed.service.outputs["base-url"]).not.toBe(cancelled.service.outputs["base-url"]);
  const savedJobs = () =>
    cache.entries.flatMap(({ key, isCommitted }) =>
      isCommitted ? (/^agent-job-service\/(job_[^/]+)\/job\//.exec(key)?.[1] ?? []) : [],
    );
  await waitUntil(() => new Set(savedJobs()).size === 2);
  // Whether they run takes reading the command lines of the whole machine.
  await waitUntil(() => cancelled.agent.isRunning() && killed.agent.isRunning());

  cancelled.kill("SIGINT");
  killed.kill("SIGKILL");
  process.kill(killed.service.process, "SIGKILL");
  await waitUntil(() => !isRunning(killed.service.process));
  const ids: string[] = [];
  for (const { ended, service, agent } of [cancelled, killed]) {
    const { outputs } = await ended;
    ids.push(outputs["job-id"] ?? "");
    const post = await service.post();
    expect(post.annotations).toEqual(
      service === cancelled.service ? [] : [expect.stringMatching(/^error The agent service ended early: /)],
    );
    await waitUntil(() => !agent.isRunning());
    expect(isRunning(service.process)).toBe(false);
  }
  expect(new Set(ids)).toEqual(new Set(savedJobs()));

  writeFileSync(gate, "");
  const next = await start(cancelled.agent.command);
  // The cancelled step has stopped its turn, so it is sent again. The lost one has made nothing, and only its own run may pay again.
  const tasks = ids.map((id, index) => ({ "job-id": id, ...(index === 0 && { prompt: "One" }) }));
  const resumed = await Promise.all(tasks.map((task) => act(next, task)));
  const { log } = await next.post();
  const ref = `agent/${ids[0]}`;
  expect(resumed[0]?.outputs, resumed[0]?.log + log).toMatchObject({ outcome: "pr-created", ref });
  expect(docs.read(ref, "answer.md")).toBe("One");
  expect(resumed[1]?.outputs, resumed[1]?.log + log).toMatchObject({ outcome: "failed" });
  expect(log).toContain("Its runner was lost. Its agent is not run again, unless its own workflow run is.");
});

test("a session continues its job in a later run, unless that does not remember jobs", async () => {
  const { docs, github, cache } = await setUp("write");
  const night = async (prompt: string, remember = "true") => {
    const inputs = { ...remembering, remember, agent: "cat >> notes.md" };
    const service = await startServiceStep({ github, inputs, environment: cache.environment });
    const environment = { ...service.environment, GITHUB_RUN_ID: prompt, GITHUB_JOB: "docs", GITHUB_ACTION: "agent" };
    const { outputs, log } = await step({ ...service.actionInputs, prompt, session: "nightly" }, { environment });
    const { annotations } = await service.post();
    return { outputs, log, service, annotations: [...service.annotations, ...annotations] };
  };
  const first = await night("One");
  expect(first.outputs, first.log).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  expect(first.service.log).toContain(
    "Jobs are remembered by their branches and pull requests, and in the Actions cache",
  );
  expect(first.annotations).toEqual([expect.stringMatching(/^notice Workflows wait for approval: /)]);
  const { "job-id": id, "pr-link": prLink, ref } = first.outputs;

  const second = await night("Two");
  expect(second.outputs, second.log).toMatchObject({ "job-origin": "continued", "job-id": id, "pr-link": prLink });
  expect(docs.branches()).toEqual([ref]);
  // The action finds a session only at the same address.
  const { "base-url": baseUrl, "api-key": apiKey } = first.service.outputs;
  expect(second.service.outputs).toMatchObject({
    "base-url": baseUrl,
    "project-id": `acme-${github.repo}-command`,
    "api-key": expect.not.stringMatching(`^${apiKey}$`),
  });
  // The step expects a session that it then does not find: each runner here has another folder, by which agents find them.
  expect(second.annotations).toEqual([expect.stringMatching(/^notice The agent began a new session: /)]);

  const saved = () => cache.entries.filter(({ key }) => key.startsWith("agent-job-service/")).length;
  const before = saved();
  const third = await night("Three", "false");
  expect(third.outputs, third.log).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  expect(third.outputs["job-id"]).not.toBe(id);
  expect(third.log).toContain(`Session nightly: job ${id} was not found, starting a new one`);
  expect(saved()).toBe(before);
});

test("says if GitHub does not tell whose token it is, and that a job is not remembered if the cache is closed, too", async () => {
  const denied = (route: string, response: ServerResponse): boolean => {
    if (!["POST /graphql", "GET /user"].includes(route)) return false;
    response.writeHead(403, { "content-type": "application/json" }).end('{"message":"Resource not accessible"}');
    return true;
  };
  const { github } = await setUpGitHub(denied);
  const inputs = { ...remembering, agent: "cat > answer.md", "workflow-token": "the token of the workflow" };
  const cache = await startCacheService("v1", { access: "403" });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  const service = await startServiceStep({ github, inputs, environment: cache.environment });
  expect(service.log).toContain("They are not known by their branches, because GitHub does not tell which account");
  const { outputs } = await step({ ...service.actionInputs, prompt: "Answer" }, service);
  expect(outputs.outcome).toBe("pr-created");
  const post = await service.post();
  expect(post.annotations).toContainEqual(
    expect.stringMatching(`^warning Jobs cannot be continued by a later run: .*${outputs["job-id"]}`),
  );
});
