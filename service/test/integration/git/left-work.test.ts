import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { rows } from "../../../../test/support/thorough.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import {
  type AgentService,
  docsRepository,
  runJob,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

let service: AgentService | undefined;
afterEach(() => service?.[Symbol.asyncDispose]());

/** Runs a job with an agent that is a shell script, whose Git knows its author. Returns its log, and what its branch changes. */
async function run(script: string, docs: DocsRepository = docsRepository()) {
  const author = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
  service = await startAgentService(docs, { agent: shellAgent(`${author}; ${script}`), host });
  const job = await runJob(service, "Go on");
  const log = readFileSync(join(service.folder, "logs", `${job.id}.log`), "utf8");
  const changes = job.prLink ? docs.git("diff", "--name-only", `main...agent/${job.id}`).split("\n") : [];
  return { job, log, changes, docs };
}

const commit = (file: string) => `echo new > ${file}; git add ${file}; git commit --quiet -m "Add ${file}"`;
const onBranch = (name: string, file: string) =>
  `git checkout --quiet -b ${name}; ${commit(file)}; git checkout --quiet -`;

describe("work that an agent left beside its worktree, which is as it was, is published", () => {
  test.each([
    ["one branch of its own", onBranch("docs-update", "one.md"), ["one.md"], "the branch docs-update with 1 commit"],
    [
      "a packed branch",
      `${onBranch("docs-update", "one.md")}; git pack-refs --all`,
      ["one.md"],
      "the branch docs-update",
    ],
    [
      "a stash",
      "echo new > one.md; echo more >> README.md; git stash --quiet --include-untracked",
      ["README.md", "one.md"],
      "a stash",
    ],
  ])("%s", async (_what, script, files, taken) => {
    const { job, log, changes } = await run(script);
    expect(job.status, log).toBe("completed");
    expect(changes).toEqual(files);
    expect(log).toContain(`so its work is taken from ${taken}`);
  });
});

test("a follow-up whose agents begin on main, of which the first fails, takes none of the job's earlier work back", async () => {
  const fromMain = "git checkout --quiet -b docs/fix origin/main";
  const { job, docs } = await run(
    `if [ ! -e one.md ]; then ${commit("one.md")}
    elif [ ! -e two.md ]; then ${fromMain}; ${commit("two.md")}; exit 1
    else git stash --quiet --include-untracked; ${fromMain}; git stash pop --quiet; ${commit("three.md")}; fi`,
  );
  if (service === undefined) throw new Error("there is no service");
  const statuses = [];
  for (const prompt of ["More", "Go on"]) {
    await send(service, `docs/job/${job.id}/message`, prompt);
    statuses.push((await waitForJob(service, job.id)).status);
  }
  expect(statuses).toEqual(["failed", "completed"]);
  const changed = docs.git("diff", "--name-status", `main...agent/${job.id}`);
  expect(changed).toBe("A\tone.md\nA\tthree.md\nA\ttwo.md");
  const subjects = docs.git("log", "--format=%b", "-1", `agent/${job.id}`);
  expect(subjects).toContain("Add three.md");
  expect(subjects).toContain("did not end on top of");
});

test.each([
  ["its repository", "rm -rf .git"],
  ["the log of its moves", "rm -rf .git/logs"],
])(
  "a follow-up whose agent begins on main, and removes %s, takes none of the job's earlier work back",
  async (_what, remove) => {
    const { job, docs } = await run(
      `if [ ! -e one.md ]; then ${commit("one.md")}; else git checkout --quiet --detach origin/main; echo new > two.md; ${remove}; fi`,
    );
    if (service === undefined) throw new Error("there is no service");
    await send(service, `docs/job/${job.id}/message`, "More");
    expect((await waitForJob(service, job.id)).status).toBe("completed");
    expect(docs.git("diff", "--name-status", `main...agent/${job.id}`)).toBe("A\tone.md\nA\ttwo.md");
  },
);

test("a turn fails whose agent ends in the middle of a merge, and its work is kept", async () => {
  const edit = (text: string) => `echo ${text} > README.md; git commit --quiet -a -m ${text}`;
  const { job, log } = await run(
    `git checkout --quiet -b other; ${edit("a")}; git checkout --quiet -; ${edit("b")}; git merge other || true`,
  );
  expect(job.status, log).toBe("failed");
  expect(log).toContain("the agent ended in the middle of a merge, a rebase or the like");
  expect(log).toContain("What the agent changed is kept, and not published: README.md");
});

describe("a turn fails with the names of what it cannot publish", () => {
  test.each<[what: string, script: string, names: RegExp[]]>([
    [
      "two branches",
      `${onBranch("one", "one.md")}; ${onBranch("two", "two.md")}`,
      [/the branch one with/, /the branch two/],
    ],
    ["two stashes", "for i in 1 2; do echo $i >> README.md; git stash --quiet; done", [/2 stashes/]],
    [
      "a worktree of its own",
      `git worktree add --quiet -b other "$TMPDIR/wt"; (cd "$TMPDIR/wt"; ${commit("one.md")})`,
      [/a worktree of its own/],
    ],
  ])("%s", async (_what, script, names) => {
    const { job, log } = await run(script);
    expect(job.status, log).toBe("failed");
    expect(log).toContain("the agent changed nothing in its worktree, and left its work elsewhere in its clone");
    for (const name of names) expect(log).toMatch(name);
  });
});

test("a branch beside a changed worktree is named first, and not published", async () => {
  const { job, log, changes, docs } = await run(`${onBranch("aside", "one.md")}; echo more >> README.md`);
  expect(job.status, log).toBe("completed");
  expect(changes).toEqual(["README.md"]);
  expect(docs.git("log", "-1", "--format=%B", `agent/${job.id}`)).toContain(
    "    The agent left work in its clone that is not in this change: the branch aside with 1 commit",
  );
});

test.each([
  ["only looks at branches of the repository", "git checkout --quiet -b look origin/main; git checkout --quiet -"],
  ["commits on the branch that it has", commit("one.md")],
  ["makes a branch of what it commits anyway", `git checkout --quiet -b own; ${commit("one.md")}`],
  ["drops its stash", "echo more >> README.md; git stash --quiet; git stash drop --quiet"],
])("an agent that %s leaves nothing", async (_what, script) => {
  const { job, log, changes } = await run(script);
  expect(job.status, log).toBe("completed");
  expect(changes).toEqual(script.includes("one.md") ? ["one.md"] : []);
  expect(log).not.toMatch(/elsewhere|left work|taken from/);
});

describe("what an agent makes of its .git holds nothing up, and publishes nothing of it", () => {
  const all: [what: string, script: string][] = [
    [
      "a hook and a program in its settings",
      "git config core.fsmonitor 'touch ../../pwned; sleep 300'; git config core.hooksPath .; git branch x",
    ],
    ["pipes in place of refs", "mkfifo .git/refs/heads/pipe .git/refs/stash"],
    [
      "a million refs",
      `awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "%040x refs/heads/b%07d\\n", i + 1, i }' > .git/packed-refs; rm -r .git/refs/heads/agent`,
    ],
    ["1 GB of packed refs", "truncate -s 1G .git/packed-refs; rm -r .git/refs/heads/agent"],
  ];
  test.each(rows(all, 2))("%s", async (_what, script) => {
    const { job, log, changes } = await run(`${script}; echo more >> README.md`);
    expect(job.status, log).toBe("completed");
    expect(changes).toEqual(["README.md"]);
  });

  test("an id of another job's objects", async () => {
    const docs = docsRepository();
    docs.git(
      "branch",
      "secret",
      docs.git("commit-tree", docs.git("rev-parse", "main^{tree}"), "-p", "main", "-m", "x"),
    );
    const { log, changes } = await run(`echo ${docs.git("rev-parse", "secret")} > .git/refs/heads/theirs`, docs);
    expect(changes, log).toEqual([]);
  });
});
