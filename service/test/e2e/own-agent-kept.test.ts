import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type RunAccess, startCacheService } from "../../../test/support/cache-service.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { agentStep, setUpGitHub, unconfined } from "../support/workflow-job.ts";

/*
 * Work that GitHub refuses, through the action as it is built. Repositories start with the setting that GitHub Actions may not open pull
 * requests. The step finds that out before anything is started, so here it is turned off after that, as an owner can do at any time.
 */

const refusal = "GitHub Actions is not permitted to create or approve pull requests.";

/** What GitHub refuses while the action runs. */
interface Refused {
  /** Whether Actions may not open pull requests. */
  pulls?: boolean;
  /** Whether a rule refuses pushes of new commits, but not of branches. */
  pushes?: boolean;
  /** Whether the list of pull requests cannot be read. */
  lists?: boolean;
}

/** Sets up a GitHub that can refuse what the step does, and runs of one step on empty runners, whose agents are counted. */
async function setUp(access: RunAccess) {
  let refused: Refused = {};
  let isChecked = false;
  const { docs, github } = await setUpGitHub((route: string, response: ServerResponse): boolean => {
    // The first one finds out whether one may be opened.
    if (/^POST .*\/pulls$/.test(route) && !isChecked) {
      isChecked = true;
      return false;
    }
    const [, method] = /^(\w+) \/repos\/[^/]+\/[^/]+\/pulls$/.exec(route) ?? [];
    if (!(method === "POST" && refused.pulls) && !(method === "GET" && refused.lists)) return false;
    const [status, message] = method === "POST" ? [403, refusal] : [502, "Server Error"];
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
    return true;
  });
  const hook = join(docs.path, "hooks/pre-receive");
  const cache = await startCacheService("v1", { access });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  const agents = join(temporaryFolder(), "agents");
  const agent = `cat >> notes.md; echo ran >> ${agents}`;
  /** Runs the step on an empty runner. */
  const run = async (inputs: Record<string, string>, ofRun: Record<string, string>, what: Refused = {}) => {
    // GitHub tells who created a branch, in a list that has it after a moment.
    for (const branch of docs.branches()) github.creators.set(branch, "docs-bot");
    const environment = { ...cache.environment, ...ofRun, GITHUB_REPOSITORY_ID: "1" };
    refused = what;
    isChecked = false;
    if (what.pushes) writeFileSync(hook, refusingPushes, { mode: 0o755 });
    const sent = await agentStep(github, { agent, "agent-options": unconfined, ...inputs }, { environment });
    rmSync(hook, { force: true });
    const pulls = (await github.call("GET", "/pulls?state=all")) as unknown[];
    const runs = existsSync(agents) ? readFileSync(agents, "utf8").split("\n").length - 1 : 0;
    const { outcome, ref, "job-id": job } = sent.outputs;
    return {
      outcome,
      ref,
      job,
      annotations: sent.annotations,
      file: sent.outputs["work-file"],
      found: [runs, docs.branches().length, pulls.length],
      said: sent.log,
    };
  };
  return { docs, github, run };
}

const refusingPushes = `#!/bin/sh
while read -r before after ref; do
  case $after in *[!0]*) ;; *) continue ;; esac
  git merge-base --is-ancestor "$after" main && continue
  echo "error: GH013: Repository rule violations found for $ref." >&2
  exit 1
done
`;

const attempt = (number: number) => ({ GITHUB_RUN_ID: "1", GITHUB_RUN_ATTEMPT: String(number) });
const night = (number: number) => ({ GITHUB_RUN_ID: String(100 + number) });

const line = "Add a quickstart";
const paragraphs = `Add a page "Quickstart".\n\nIt says: "${"Run npm ci. ".repeat(20)}"\n\n- with a list\n`;

/* Agents, branches and pull requests are counted. */

/* Without a cache, all is read from the branch and from refs; how the cache adds to that, the tests of the step's memory show. */

test("a new run with the job-id and the prompt, as is advised if the workflow file has to change, starts no agent", async () => {
  const { run } = await setUp("none");
  const { found, annotations } = await run({ prompt: line }, night(1), { pulls: true });
  expect(found).toEqual([1, 1, 0]);
  const [, jobId = ""] = /start a new run with job-id: (\S+) and the same prompt/.exec(annotations.join("\n")) ?? [];
  const second = await run({ prompt: line, "job-id": jobId }, night(2));
  expect([second.outcome, second.job, second.found], second.said).toEqual(["pr-created", jobId, [1, 1, 1]]);
});

test("attempts start one agent until a pull request may be opened", async () => {
  const { docs, run } = await setUp("none");
  const refused = await run({ prompt: paragraphs }, attempt(1), { pulls: true });
  expect([refused.outcome, refused.found], refused.said).toEqual(["failed", [1, 1, 0]]);
  expect(refused.annotations).toEqual([
    expect.stringMatching(/^error Work is kept, and not published: GitHub Actions is not/),
  ]);
  const { outcome, ref, found, said } = await run({ prompt: paragraphs }, attempt(2));
  expect([outcome, ref, found], said).toEqual(["pr-created", docs.branches()[0], [1, 1, 1]]);
  expect(said).toContain("its work has a pull request");
  expect(docs.git("log", "--format=%an", `main..${ref}`)).toBe("docs-bot[bot]");
});

test("nights of a session start one agent until a pull request may be opened, and keep to that", async () => {
  const { run } = await setUp("none");
  const session = { session: "nightly", prompt: paragraphs };
  const jobs = new Set<string | undefined>();
  for (const number of [1, 2]) {
    const { outcome, job, found, said } = await run(session, night(number), { pulls: true });
    expect([outcome, found], said).toEqual(["failed", [1, 1, 0]]);
    jobs.add(job);
  }
  // Another prompt: what is kept is published, and the agent runs on top.
  const other = { ...session, prompt: line };
  const { outcome, found, said } = await run(other, night(3));
  expect([outcome, found, jobs.size], said).toEqual(["pr-created", [2, 1, 1], 1]);
  // So long it asks.
  const away = await run({ ...other, "timeout-minutes": "0.4" }, night(4), { lists: true });
  expect([away.outcome, away.found], away.said).toEqual(["error", [2, 1, 1]]);
  expect(away.annotations).toEqual([
    expect.stringMatching(/^error Cannot read the session's job: .*GitHub answered 502 to GET/),
  ]);
});

test("work for another branch is proposed to that one, by a re-run and by later runs of its session", async () => {
  const { docs, github, run } = await setUp("none");
  docs.setHead("feature/x", docs.git("commit-tree", "main^{tree}", "-p", "main", "-m", "Begin a feature"));
  const asked = { session: "nightly", base: "feature/x", prompt: paragraphs };
  const refused = await run(asked, night(1), { pulls: true });
  expect([refused.outcome, refused.found], refused.said).toEqual(["failed", [1, 2, 0]]);
  const again = await run(asked, { ...night(1), GITHUB_RUN_ATTEMPT: "2" }, { pulls: true });
  expect([again.outcome, again.job, again.found], again.said).toEqual(["failed", refused.job, [1, 2, 0]]);
  const { outcome, job, ref, found, said } = await run(asked, night(2));
  expect([outcome, job, found], said).toEqual(["pr-created", refused.job, [1, 2, 1]]);
  expect(await github.call("GET", "/pulls/1")).toMatchObject({ base: { ref: "feature/x" } });
  expect(docs.git("rev-list", "--count", `feature/x..${ref}`)).toBe("1");
});

test("what GitHub refuses every ref for is left in a file, which applies, if there is no cache", async () => {
  const { docs, run } = await setUp("none");
  const { outcome, annotations, file = "", said } = await run({ prompt: line }, attempt(1), { pushes: true });
  expect(outcome, said).toBe("failed");
  expect(annotations).toContainEqual(expect.stringMatching(/^warning Work is only in a file on this runner: /));
  expect(said).toContain("is lost, and has to be paid again, if it cannot be published, because refs/agent-work");
  const clone = temporaryFolder();
  docs.git("worktree", "add", "--detach", join(clone, "tree"), "main");
  execFileSync("git", ["-C", join(clone, "tree"), "apply", "-3", "--whitespace=nowarn", file]);
  expect(readFileSync(join(clone, "tree/notes.md"), "utf8")).toContain(line);
});

test.each<[RunAccess, agents: "one agent" | "an agent each", said: RegExp]>([
  [
    "write",
    "one agent",
    /^error Work is kept, and not published: The push to .* was refused: GH013.*\. The commit is kept\./,
  ],
  ["none", "an agent each", /^error Job failed: .*The commit is lost with this runner: .* its work is done again\./],
])(
  "nights of a session with a cache with access %s start %s while a rule refuses their push",
  async (access, agents, said) => {
    const { run } = await setUp(access);
    const session = { session: "nightly", prompt: line };
    const agentsOf = (nights: number): number => (agents === "one agent" ? 1 : nights);
    const refused = await run(session, night(1), { pushes: true });
    expect([refused.outcome, refused.found], refused.said).toEqual(["failed", [1, 0, 0]]);
    expect(refused.annotations).toContainEqual(expect.stringMatching(said));
    const { outcome, found, said: log } = await run(session, night(2));
    expect([outcome, found], log).toEqual(["pr-created", [agentsOf(2), 1, 1]]);
  },
);
