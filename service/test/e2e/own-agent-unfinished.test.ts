import type { ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type RunAccess, startCacheService } from "../../../test/support/cache-service.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { rows } from "../../../test/support/thorough.ts";
import { plainText } from "../../../tools/terminal.ts";
import { agentStep, setUpGitHub, unconfined } from "../support/workflow-job.ts";

/*
 * Agents that do not complete, through the action as it is built.
 */

/** Sets up a repository, and runs of one step on empty runners, whose agents each write what they found. */
async function setUp(access: RunAccess, isPrivate = true) {
  const { docs, github } = await setUpGitHub();
  const cache = await startCacheService("v1", { access });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  const folder = temporaryFolder();
  const [ledger, event] = [join(folder, "ledger"), join(folder, "event.json")];
  writeFileSync(event, JSON.stringify({ repository: { private: isPrivate } }));
  const agent = `cat > /dev/null; cat part.md 2>/dev/null | wc -l >> ${ledger}; echo line >> part.md; [ $(wc -l < part.md) -ge 3 ] || exit 3`;
  const run = (
    ofRun: Record<string, string>,
    inputs: Record<string, string> = {},
    onStart: (child: ChildProcess) => void = () => {},
  ) =>
    agentStep(
      github,
      { agent, "agent-options": unconfined, prompt: "Write it", ...inputs },
      { environment: { ...cache.environment, GITHUB_REPOSITORY_ID: "1", GITHUB_EVENT_PATH: event, ...ofRun }, onStart },
    );
  const found = (): string => readFileSync(ledger, "utf8").replaceAll("\n", " ").trim();
  // What is published leaves only a record, if the cache cannot be written.
  const refs = (): string[] =>
    docs
      .git("for-each-ref", "--format=%(refname)", "refs/agent-work")
      .split("\n")
      .filter((name) => name !== "" && !name.endsWith("/pushed"));
  return { docs, run, found, refs };
}

const accesses: [string, RunAccess][] = [
  ["can be written", "write"],
  ["can be read", "read"],
  ["cannot be used", "none"],
];

test.each(rows(accesses, 2))(
  "a night that needs three times its limit is published by the third run, with a cache that %s",
  async (_which, access) => {
    const { docs, run, found, refs } = await setUp(access);
    const night = (id: string) => run({ GITHUB_RUN_ID: id }, { session: "nightly" });
    const first = await night("1");
    expect(first.outputs, first.log).toMatchObject({ outcome: "failed", "pr-link": "" });
    expect(first.annotations.join("\n")).toContain(
      "What its agent changed is kept: the job's next request continues from there, unless three in a row did not complete.",
    );
    expect(docs.branches()).toEqual([]);
    expect(refs()).toEqual([expect.stringMatching(/\/unfinished$/)]);
    const clone = join(temporaryFolder(), "clone");
    execFileSync("git", ["clone", "--quiet", docs.path, clone]);
    const shown = [first.annotations.join("\n"), plainText(first.summary)];
    const [command = "", inSummary] = shown.map(
      (text) => /git fetch origin [^\n]* --whitespace=nowarn/.exec(text)?.[0],
    );
    expect(inSummary).toBe(command);
    execFileSync("sh", ["-c", command], { cwd: clone, stdio: "pipe" });
    expect(readFileSync(join(clone, "part.md"), "utf8")).toBe("line\n");
    const second = await night("2");
    expect(second.outputs, second.log).toMatchObject({ outcome: "failed", "job-origin": "continued" });
    const third = await night("3");
    expect(third.outputs, third.log).toMatchObject({
      outcome: "pr-created",
      "job-origin": "continued",
      "job-id": first.outputs["job-id"],
    });
    expect(found()).toBe("0 1 2");
    expect(docs.read(third.outputs.ref ?? "", "part.md")).toBe("line\nline\nline");
    // That these failed stays known.
    expect(refs()).toEqual([expect.stringMatching(/\/ended$/), expect.stringMatching(/\/ended$/)]);
  },
);

test.each(rows(accesses, 1))("a re-run begins in what its run left, with a cache that %s", async (_which, access) => {
  const { docs, run, found } = await setUp(access);
  docs.setHead("feature", docs.git("commit-tree", "main^{tree}", "-p", "main", "-m", "Begin a feature"));
  const inputs = { base: "feature" };
  const first = await run({ GITHUB_RUN_ID: "1" }, inputs);
  expect(first.outputs.outcome, first.log).toBe("failed");
  let ref = "";
  for (const attempt of ["2", "3"]) {
    const again = await run({ GITHUB_RUN_ID: "1", GITHUB_RUN_ATTEMPT: attempt }, inputs);
    ref = again.outputs.ref ?? "";
    expect(again.outputs["job-id"], again.log).toBe(first.outputs["job-id"]);
    expect(again.outputs.outcome).toBe(attempt === "3" ? "pr-created" : "failed");
  }
  expect(found()).toBe("0 1 2");
  expect(docs.branches()).toEqual([ref, "feature"]);
  // It is on top of the branch that it is for, in a cache or not.
  expect(docs.git("log", "--format=%P", `main..${ref}`).split("\n")).toContain(docs.head("feature"));
});

test("a new run with the job-id and the prompt, as is advised after a limit, begins in what is kept", async () => {
  const { run } = await setUp("none");
  const agent = "cat > /dev/null; echo half > half.md; sleep 60";
  const limit = { agent, "agent-options": `${unconfined}\n--time-limit-minutes 0.05` };
  const first = await run({ GITHUB_RUN_ID: "1" }, limit);
  expect(first.outputs.outcome, first.log).toBe("failed");
  const [, jobId = ""] =
    /start a new run with job-id: (\S+) and the same prompt/.exec(first.annotations.join("\n")) ?? [];
  const again = "cat > /dev/null; test -e half.md && echo rest > rest.md";
  const second = await run({ GITHUB_RUN_ID: "2" }, { "job-id": jobId, agent: again });
  expect(second.outputs, second.log).toMatchObject({ outcome: "pr-created", "job-id": first.outputs["job-id"] });
});

test.each([
  ["private", true],
  ["public", false],
])(
  "what a cancelled run's agent changed is kept in a private repository, for people alone: %s",
  async (_which, isPrivate) => {
    const { docs, run, refs } = await setUp("write", isPrivate);
    const flag = join(temporaryFolder(), "flag");
    const agent = `cat > /dev/null; ls > found.md; echo text > half.md; echo > ${flag}; sleep 60`;
    const cancel = async (child: ChildProcess): Promise<void> => {
      await vi.waitFor(() => expect(existsSync(flag)).toBe(true), { timeout: 20_000, interval: 50 });
      child.kill("SIGINT");
    };
    const onStart = (child: ChildProcess): void => void cancel(child);
    const first = await run({ GITHUB_RUN_ID: "1" }, { session: "nightly", agent }, onStart);
    expect(first.outputs.outcome, first.log).toBe("cancelled");
    expect(refs()).toEqual([expect.stringMatching(isPrivate ? /\/unfinished$/ : /\/ended$/)]);
    if (isPrivate) {
      const [ref = ""] = refs();
      expect(docs.git("show", `${ref}:change`)).toContain("half.md");
      expect(first.log).toContain("No agent goes on with it. To get it: git fetch origin ");
    }
    const second = await run({ GITHUB_RUN_ID: "2" }, { session: "nightly", agent: "cat > /dev/null; ls > found.md" });
    expect(second.outputs.outcome, second.log).toBe("pr-created");
    expect(docs.read(second.outputs.ref ?? "", "found.md")).not.toContain("half.md");
  },
);

test.each(rows(accesses, 1))(
  "the next night begins in a commit that conflicts with a person's push, with a cache that %s",
  async (_which, access) => {
    const { docs, run, refs } = await setUp(access);
    const night = (id: string, agent: string) => run({ GITHUB_RUN_ID: id }, { session: "nightly", prompt: id, agent });
    const first = await night("1", "cat > /dev/null; echo one > part.md");
    const { ref = "", "job-id": job, "pr-link": link } = first.outputs;
    const commit = `commit refs/heads/${ref}\ncommitter W <w@example.com> now\ndata 3\nNew\nfrom refs/heads/${ref}^0\nM 100644 inline part.md\ndata 7\nperson\n\n`;
    const input = join(temporaryFolder(), "commit");
    writeFileSync(input, commit);
    const push = `git -C ${docs.path} fast-import --quiet --date-format=now < ${input}`;
    const second = await night("2", `cat > /dev/null; echo two > part.md; echo more > more.md; ${push}`);
    expect(second.outputs, second.log).toMatchObject({ outcome: "failed", "job-id": job });
    expect(refs(), second.log).toEqual([expect.stringMatching(/\/made$/)]);
    expect(docs.read(ref, "part.md")).toBe("person");
    const third = await night("3", "cat > told.md; ls > found.md");
    expect(third.outputs, third.log).toMatchObject({ outcome: "pr-created", "job-id": job, "pr-link": link });
    expect(docs.read(ref, "part.md")).toBe("person");
    expect(docs.read(ref, "more.md")).toBe("more");
    expect(docs.read(ref, "told.md")).toContain("conflicts with what others have pushed since");
  },
  60_000,
);

test.each(rows(accesses, 1))(
  "the next night begins in a change that the service refused, with a cache that %s",
  async (_which, access) => {
    const { docs, run, refs } = await setUp(access);
    const night = (id: string, agent: string) =>
      run(
        { GITHUB_RUN_ID: id },
        { session: "nightly", agent, "agent-options": `${unconfined}\n--protected-files refuse` },
      );
    const first = await night(
      "1",
      "cat > /dev/null; echo text > text.md; echo 'exit 1' > build.sh; echo x > AGENTS.md",
    );
    expect(first.outputs.outcome, first.log).toBe("failed");
    expect(docs.branches()).toEqual([]);
    expect(refs()).toEqual([expect.stringMatching(/\/unfinished$/)]);
    const second = await night("2", "cat > told.md; ls > found.md");
    expect(second.outputs, second.log).toMatchObject({ outcome: "pr-created", "job-id": first.outputs["job-id"] });
    const { ref = "" } = second.outputs;
    expect(docs.read(ref, "found.md").split("\n")).toContain("text.md");
    for (const file of ["build.sh", "AGENTS.md"]) {
      expect(docs.read(ref, "found.md")).not.toContain(file);
      expect(docs.read(ref, "told.md")).toContain(file);
    }
    expect(refs()).toEqual([expect.stringMatching(/\/ended$/)]);
  },
  60_000,
);

test.each(rows(accesses, 1))("what has a secret is kept nowhere, with a cache that %s", async (_which, access) => {
  const { docs, run, refs } = await setUp(access);
  const agent = "cat > /dev/null; echo ghs_workflow_token_0123456789 > part.md; exit 3";
  const { outputs, log } = await run({ GITHUB_RUN_ID: "1" }, { agent });
  expect(outputs, log).toMatchObject({ outcome: "failed", "work-file": "" });
  expect(log).toContain("What the agent changed is not kept: the change has secrets of the service");
  expect([docs.branches(), refs().filter((ref) => !ref.endsWith("/ended"))]).toEqual([[], []]);
});

test("in a public repository, it is not kept of an agent with a network", async () => {
  const { run, refs } = await setUp("write", false);
  const { outputs, log, annotations } = await run({ GITHUB_RUN_ID: "1" });
  expect(outputs.outcome).toBe("failed");
  expect(log).toContain("the repository is public, and its agent has a network: it is not kept unfinished");
  expect(annotations.join("\n")).not.toContain("is kept");
  // Only that it failed is.
  expect(refs()).toEqual([expect.stringMatching(/\/ended$/)]);
});
