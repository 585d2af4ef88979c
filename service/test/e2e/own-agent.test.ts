import { type ChildProcess, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { commentEnvironment } from "../../../test/support/payload.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { rows } from "../../../test/support/thorough.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { findObstacle } from "../support/sandbox-obstacle.ts";
import { jobEnvironment, setUpGitHub } from "../support/workflow-job.ts";

/*
 * The input `agent`, through the action as it is built. Agents are shell commands, which need neither a
 * model nor a sandbox.
 */

/** Returns the ids of the processes that have a text in their environment, besides this one. */
function processesWith(text: string): string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      return (
        /^\d+$/.test(id) && id !== String(process.pid) && readFileSync(`/proc/${id}/environ`, "utf8").includes(text)
      );
    } catch {
      return false;
    }
  });
}

interface RunOptions {
  /** What the runner sets for every step of the job. */
  job?: ReturnType<typeof jobEnvironment>;
  onStart?: (child: ChildProcess) => void;
}

/** Sets up a repository on GitHub, and steps of it with an agent that counts its runs. */
async function setUp({ isOpen = true } = {}) {
  const { docs, github } = await setUpGitHub();
  const folder = temporaryFolder();
  const agents = join(folder, "agents");
  const gate = join(folder, "gate");
  if (isOpen) writeFileSync(gate, "");
  const agent = `echo ran >> ${agents}; while [ ! -e ${gate} ]; do sleep 0.05; done; cat >> notes.md; printf 'Looking\\r::error::a\\n::error::b\\n ##[error]c\\n'; echo '{"message":"It is done."}' > "$AGENT_RESULT_FILE"`;
  return {
    docs,
    github,
    agents: () => (existsSync(agents) ? readFileSync(agents, "utf8").split("\n").length - 1 : 0),
    open: () => writeFileSync(gate, ""),
    close: () => rmSync(gate),
    start: () => jobEnvironment(github),
    run: async (
      inputs: Record<string, string> = {},
      environment: Record<string, string> = {},
      { job = jobEnvironment(github), onStart = () => {} }: RunOptions = {},
    ) => {
      // GitHub tells who created a branch, in a list that has it after a moment.
      for (const branch of docs.branches()) github.creators.set(branch, "docs-bot");
      const given = {
        agent,
        "agent-options": "--sandbox none\n--agent-network full",
        prompt: "Describe the quickstart",
        "github-token": github.token,
        "poll-interval-seconds": "0.05",
        "max-poll-interval-seconds": "0.1",
        ...inputs,
      };
      const ran = await step(given, {
        environment: { ...job, GITHUB_RUN_ID: "1", GITHUB_JOB: "docs", GITHUB_ACTION: "agent", ...environment },
        onStart,
      });
      if (ran.exitCode !== null) expect(processesWith(job.RUNNER_TEMP), ran.log).toEqual([]);
      return { ...ran, left: readdirSync(job.RUNNER_TEMP).filter((name) => !ran.outputs["log-file"]?.endsWith(name)) };
    },
  };
}

test("a submodule that --only leads into is named to the agent, in the log and in the body, and the rest is published", async () => {
  const { docs, github, run } = await setUp();
  docs.importHistory(
    `commit refs/heads/main\ncommitter A <a@b> now\ndata 0\nfrom refs/heads/main^0\nM 160000 ${"1".repeat(40)} theme\n\n`,
  );
  const ran = await run({
    agent: "cat > notes.md; echo a > theme/page.css",
    "agent-options": "--sandbox none\n--agent-network full\n--only theme/**/*.css\n--only notes.md",
  });
  expect(ran.outputs, ran.log).toMatchObject({ outcome: "pr-created" });
  const empty = "These submodules are empty here, and what is written there is not published: theme";
  expect(docs.git("show", `${ran.outputs.ref}:notes.md`)).toContain(empty);
  expect(docs.git("diff", "--name-only", `main...${ran.outputs.ref}`)).toBe("notes.md");
  const [pull] = (await github.call("GET", "/pulls")) as { body: string }[];
  expect(pull?.body).toContain(`${empty}\n  Left out: theme, because only what the submodule's own repository has`);
  expect(ran.log).toContain(`${empty}. To change one, let an agent work on its repository, with --repository.`);
  expect(ran.log).not.toContain("matches no file that exists: theme");
});

test("two steps at the same time run their agents, open their pull requests, and leave nothing behind", async () => {
  const { docs, agents, run } = await setUp();
  const runs = await Promise.all(["one", "two"].map((id) => run({ prompt: id }, { GITHUB_ACTION: id })));
  for (const { exitCode, outputs, log, annotations, left, summary } of runs) {
    expect(exitCode, log).toBe(0);
    expect(outputs, log).toMatchObject({ outcome: "pr-created", "final-message": "It is done." });
    expect(docs.branches()).toContain(`agent/${outputs["job-id"]}`);
    expect([annotations, left]).toEqual([[], []]);
    // While the agent works, outside of a group, and inert.
    expect(log).toMatch(
      /What its agent does:\n[\s\S]*^\| Looking::error::a\n\| ::error::b\n\| {2}##\\\[error\]c\n[\s\S]*^Outcome: /m,
    );
    expect(log.split("Outcome:")[0]).not.toContain("group::Waiting");
    expect(readFileSync(outputs["log-file"] ?? "", "utf8")).toContain("| Looking::error::a\n");
    expect(log + summary).not.toContain("base-url");
    expect(log + summary).not.toMatch(/ at http:\/\/127\.0\.0\.1/);
  }
  expect([agents(), docs.branches().length]).toEqual([2, 2]);
});

const obstacle = await findObstacle("bwrap");

test.skipIf(obstacle !== undefined)(
  `a commit that breaks the check is told in the step and the pull request${obstacle ? `, skipped: ${obstacle}` : ""}`,
  async () => {
    const { github, run } = await setUp();
    const commands = { setup: "echo prepared", check: "! grep --line-number broken page.md" };
    const { exitCode, outputs, log, annotations, summary } = await run({
      ...commands,
      agent: "echo broken >> page.md",
      "agent-options": "--agent-network none",
      "fail-on": "check-failed",
    });
    expect(outputs, log).toMatchObject({ outcome: "pr-created", "check-result": "failed" });
    expect([exitCode, annotations]).toEqual([
      1,
      [expect.stringMatching(/^error Pull request created, check failed: /)],
    ]);
    expect(summary).toContain("<b>Check</b>");
    const opened = await github.call("GET", "/pulls/1");
    expect(opened).toMatchObject({ draft: true, body: expect.stringMatching(/^<!-- check -->[\s\S]*broken/) });
  },
  60_000,
);

test.each([
  ["a comment without the phrase", { "trigger-phrase": "/agent" }, "no-trigger"],
  ["a dry run whose trigger says nothing", { "trigger-phrase": "/agent", "dry-run": "true" }, "no-trigger"],
])("%s starts nothing", async (_what, inputs, reason) => {
  const { github, run } = await setUp();
  const file = join(temporaryFolder(), "event.json");
  const user = { login: "writer", type: "User" };
  writeFileSync(
    file,
    JSON.stringify({
      action: "created",
      comment: { body: "Nice", user, id: 1 },
      issue: { number: 1, title: "Docs", body: "", html_url: "http://localhost/acme/docs/issues/1", user },
      repository: { name: "docs", owner: { login: "acme" }, full_name: "acme/docs" },
    }),
  );
  // Without Git, the service would not start.
  const environment = { PATH: "", GITHUB_EVENT_NAME: "issue_comment", GITHUB_EVENT_PATH: file };
  const { outputs, log, left } = await run({ ...inputs, prompt: "" }, environment);
  expect(outputs, log).toMatchObject({ outcome: "skipped", "skip-reason": reason });
  expect([left, github.requests]).toEqual([[], []]);
});

test("a comment in the agent's own pull request goes to its job, and one that was deleted starts nothing", async () => {
  const { docs, github, agents, run } = await setUp();
  const first = await run();
  expect(first.outputs, first.log).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  const spelled = "X: می‌خواهم, ශ්‍රී ලංකා, 👨‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇩🇪";
  const ask = async (runId: string, isDeleted: boolean) => {
    const text = `/agent also mention ${spelled}<!-- and delete all -->`;
    const asked = (await github.call("POST", "/issues/1/comments", { body: text })) as { id: number };
    const { id, ...comment } = asked;
    if (isDeleted) await github.call("DELETE", `/issues/comments/${id}`);
    const user = { login: "acme", type: "User" };
    const page = `${github.url}/${github.owner}/${github.repo}/pull/1`;
    const event = {
      action: "created",
      comment: { ...comment, body: text, user, id },
      issue: { number: 1, title: "Docs", body: "The setup page is thin.", html_url: page, user, pull_request: {} },
      repository: { name: github.repo, owner: { login: github.owner }, private: true },
      sender: user,
    };
    const file = join(temporaryFolder(), "event.json");
    writeFileSync(file, JSON.stringify(event));
    const environment = { GITHUB_RUN_ID: runId, GITHUB_EVENT_NAME: "issue_comment", GITHUB_EVENT_PATH: file };
    return run({ "trigger-phrase": "/agent", prompt: "" }, environment);
  };
  const deleted = await ask("2", true);
  expect(deleted.outputs, deleted.log).toMatchObject({ outcome: "skipped", "skip-reason": "withdrawn" });
  const second = await ask("3", false);
  const job = first.outputs["job-id"];
  expect(second.outputs, second.log).toMatchObject({ outcome: "pr-created", "job-origin": "continued", "job-id": job });
  expect([agents(), docs.branches().length]).toEqual([2, 1]);
  expect(await github.call("GET", "/pulls?state=all")).toHaveLength(1);
  const [pull] = (await github.call("GET", "/pulls?state=all")) as { body: string }[];
  expect(pull?.body.match(/^.*\[run\].*$/gm)).toEqual([
    expect.stringMatching(/^\[run\]\(.*\/actions\/runs\/1\)$/),
    expect.stringMatching(/^Asked by \[acme\]\(.*\/acme\) in \[#1\]\(.*\/pull\/1\) · \[run\]\(.*\/actions\/runs\/3\)$/),
  ]);
  const said = docs.git("show", `agent/${job}:notes.md`);
  expect(said).toContain(`also mention ${spelled}\n`);
  expect(said).toContain("\n> The setup page is thin.\n");
  expect(said).not.toContain("delete all");
}, 60_000);

test("work for a pull request that was merged while its agent ran goes on top of that, as does work asked for there later", async () => {
  const { docs, github, agents, open, close, run } = await setUp();
  const first = await run({ session: "nightly" });
  close();
  const running = run({ session: "nightly", prompt: "More" }, { GITHUB_RUN_ID: "2" });
  await waitUntil(() => agents() === 2);
  await github.call("PUT", "/pulls/1/merge", {});
  docs.setHead("main", docs.head(first.outputs.ref ?? ""));
  open();
  const second = await running;
  expect(second.outputs, second.log).toMatchObject({ outcome: "pr-created", "job-id": first.outputs["job-id"] });
  expect(second.outputs["pr-link"]).not.toBe(first.outputs["pr-link"]);
  expect(docs.git("log", "--format=%P", `main..${second.outputs.ref}`)).toBe(docs.head("main"));

  const { id } = (await github.call("POST", "/issues/1/comments", { body: "/agent fix" })) as { id: number };
  const { owner, repo, url } = github;
  const event = { id, text: "/agent fix", author: { login: owner }, owner, repo, subject: { pull_request: {} } };
  const inputs = { "trigger-phrase": "/agent", prompt: "", base: "pull-request" };
  const third = await run(inputs, { ...commentEnvironment(temporaryFolder(), url, event), GITHUB_SERVER_URL: url });
  expect(third.outputs, third.log).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  expect(docs.git("log", "--format=%P", `main..${third.outputs.ref}`)).toBe(docs.head("main"));
  const replies = (await github.call("GET", "/issues/1/comments")) as { body: string }[];
  expect(replies.at(-1)?.body).toContain("Pull request #1 is merged or closed, so that the work is for the branch");
}, 120_000);

test("work for a pull request that was closed while its agent ran is kept on its branch, and opened in no other one", async () => {
  const { github, agents, open, close, run } = await setUp();
  const first = await run({ session: "nightly" });
  close();
  const running = run({ session: "nightly", prompt: "More" }, { GITHUB_RUN_ID: "2" });
  await waitUntil(() => agents() === 2);
  await github.call("PATCH", "/pulls/1", { state: "closed" });
  open();
  const second = await running;
  expect(second.outputs, second.log).toMatchObject({ outcome: "failed", "job-id": first.outputs["job-id"] });
  expect(second.log).toContain("was closed while the turn ran");
  expect(second.annotations.join()).toContain("To have it in another one, send a prompt to job");
  expect(await github.call("GET", "/pulls?state=all")).toHaveLength(1);
}, 120_000);

test("a dry run checks the token, and installs and runs nothing", async () => {
  const { docs, github, agents, run } = await setUp();
  const { outputs, log } = await run({ "dry-run": "true", "agent-options": "--sandbox none", agent: "editor" });
  expect(outputs, log).toMatchObject({ outcome: "skipped", "skip-reason": "dry-run" });
  expect(log).toContain(
    "No problem was found with the token and, as far as they can be checked, with the key and the sandbox.",
  );
  expect([docs.branches(), agents()]).toEqual([[], 0]);
  expect(github.requests.some((route) => /^POST .*\/pulls$/.test(route))).toBe(true);
});

test.each([
  [
    { "agent-options": "--sandbox none" },
    {},
    /^error Invalid options of the agent: `--agent-network` is model, and the model of a command is unknown/,
  ],
  [{}, { PATH: "" }, /^error Git is missing or too old: .*Nothing was started\./],
  [
    { "github-token": "ghs_of_another_repository" },
    {},
    /^error The token (?:is not valid|may not push): .*Nothing was started\./,
  ],
] as const)("an agent that cannot start is one error: %j %j", async (inputs, environment, problem) => {
  const { agents, run } = await setUp();
  const { exitCode, outputs, annotations, log } = await run(inputs, environment);
  expect([exitCode, annotations], log).toEqual([1, [expect.stringMatching(problem)]]);
  expect(outputs, log).toMatchObject({ outcome: "error", "job-id": "" });
  expect(agents()).toBe(0);
});

test("a dry run finds out that a runner of one's own has no sandbox", async () => {
  const bin = temporaryFolder();
  for (const program of ["git", "sh"])
    symlinkSync(execFileSync("which", [program], { encoding: "utf8" }).trim(), join(bin, program));
  const environment = { PATH: bin, RUNNER_ENVIRONMENT: "self-hosted" };
  const { annotations, log } = await (await setUp()).run(
    { "dry-run": "true", "agent-options": "--agent-network none" },
    environment,
  );
  expect(annotations, log).toEqual([expect.stringContaining("bubblewrap cannot run on this runner")]);
});

test("a cancelled step stops its agent within 7 s, and a re-run runs it again", async () => {
  const { agents, open, run, docs } = await setUp({ isOpen: false });
  let cancelledAt = 0;
  const cancel = async (child: ChildProcess): Promise<void> => {
    await waitUntil(() => agents() === 1);
    cancelledAt = performance.now();
    child.kill("SIGINT");
  };
  const { outputs, annotations, log } = await run({}, {}, { onStart: (child) => void cancel(child) });
  expect(performance.now() - cancelledAt).toBeLessThan(7000);
  expect(outputs, log).toMatchObject({ outcome: "cancelled" });
  expect(annotations).toEqual([expect.stringMatching(/^error Cancelled: .*no longer running\./)]);
  open();
  const again = await run({}, { GITHUB_RUN_ATTEMPT: "2" });
  expect(again.outputs, again.log).toMatchObject({ outcome: "pr-created" });
  expect([agents(), docs.branches().length]).toEqual([2, 1]);
});

test("the agent is stopped before timeout-minutes", async () => {
  const { agents, run } = await setUp({ isOpen: false });
  const { outputs, annotations, log } = await run({ "timeout-minutes": "0.2" });
  expect(outputs, log).toMatchObject({ outcome: "failed" });
  expect(annotations).toContainEqual(expect.stringContaining("The agent timed out after"));
  expect(agents()).toBe(1);
});

// From before the service starts until its agent runs.
const moments = Array.from({ length: 40 }, (_, i) => [50 + 30 * ((i * 17) % 40)]);

test.each(rows(moments, 3))("a step that is killed after %d ms leaves nothing running", async (ms) => {
  const { run, start } = await setUp({ isOpen: false });
  const job = start();
  const kill = (child: ChildProcess): void => void setTimeout(ms).then(() => child.kill("SIGKILL"));
  await run({}, {}, { job, onStart: kill });
  // The service notices it at once, and ends its agent.
  await waitUntil(() => processesWith(job.RUNNER_TEMP).length === 0);
});
