import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { builtInEditor } from "../../../src/agents/agent.ts";
import type { AgentOptions } from "../../../src/agents/run-agent.ts";
import { mayHaveLeftWork } from "../../../src/git/agent-repository.ts";
import type { CommitOptions } from "../../../src/git/commit-worktree.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { SecretPatterns } from "../../../src/secret-patterns.ts";
import { lostWork, takeLeftWork } from "../../../src/turns/left-work.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import { sharedClone } from "../../support/agent-service.ts";

const lines = (change: Readonly<Record<number, string>>): string =>
  Array.from({ length: 40 }, (_, index) => `${change[index] ?? `line ${index}`}\n`).join("");

const { docs, folder } = sharedClone({ "README.md": lines({}), "guide.md": lines({}) });
const repository = new GitRepository({ url: docs.path, folder });

/** Runs a script in a folder, as somebody who can commit. */
function shell(cwd: string, script: string): string {
  const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const env = { ...process.env, ...who, GIT_EDITOR: "true" };
  return execFileSync("sh", ["-c", script], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

const write = (file: string, change: Readonly<Record<number, string>>) => `printf %s '${lines(change)}' > ${file}`;
const commit = (file: string) => `echo ${file} > ${file}; git add -A; git commit --quiet -m "Add ${file}"`;
const fromMain = "git checkout --quiet -b docs/fix origin/main";

beforeAll(async () => {
  // The job has done two turns. Since then, main has changed, also a line that the job has changed.
  shell(
    dirname(docs.path),
    `git clone --quiet ${docs.path} person && cd person && git checkout --quiet -b agent/job
    echo 1 > page1.md; echo 2 > page2.md; git add -A; git commit --quiet -m "Turn 1"
    echo 3 > page3.md; ${write("README.md", { 10: "job" })}; ${write("guide.md", { 10: "job" })}; git add -A; git commit --quiet -m "Turn 2"
    git push --quiet origin agent/job
    git checkout --quiet main; ${write("guide.md", { 10: "main" })}; ${commit("main.md")}; git push --quiet origin main`,
  );
  await repository.open();
});

let count = 0;

/**
 * Runs a script as the agent of the job's third turn. Returns what is published of it, as Git shows it, or why nothing is.
 *
 * @param isRead - whether what the agent left can be read in time
 */
async function end(script: string, options: Partial<CommitOptions> = {}, isRead = true) {
  const start = await repository.findStart("agent/job", { isMerged: false, lastPushed: null });
  const place = join(folder, `place-${++count}`);
  const worktree = await repository.checkOut(start, { tree: join(place, "tree"), index: join(place, "index") });
  const { tree, head } = worktree;
  shell(tree, script);
  const host = {
    runAgent: async ({ command }: typeof builtInEditor) => {
      if (!isRead) return { message: "" };
      const { file, args } = command({} as Parameters<typeof command>[0]);
      return { message: execFileSync(file, args, { cwd: tree, encoding: "utf8" }) };
    },
  } as unknown as TurnHost;
  const objects = { objects: repository.objects } as AgentOptions;
  const work = (await mayHaveLeftWork(tree, start))
    ? await takeLeftWork(builtInEditor, head, objects, host, new SecretPatterns([]))
    : undefined;
  const made = await repository
    .commit({ ...worktree, changedFrom: work?.changedFrom }, ({ notes = [] }) => notes.join("\n") || "Change", {
      maxBytes: 1_000_000,
      ...options,
    })
    .catch((error: Error) => error);
  const refused = made instanceof Error ? made.message : undefined;
  const id = made instanceof Error ? undefined : made.commit;
  const git = (...args: string[]) => execFileSync("git", args, { cwd: join(folder, "mirror.git"), encoding: "utf8" });
  const show = (from: string) =>
    id === undefined ? "" : git("diff", "--name-status", from, id).trim().replaceAll("\t", " ").replaceAll("\n", ", ");
  const notes = made instanceof Error ? [] : made.notes;
  return {
    start,
    id,
    change: show(head),
    onItsParent: show(`${id}^`),
    refused: work?.isPartial ? lostWork(work) : refused,
    notes,
    text: (file: string) => git("show", `${id}:${file}`),
  };
}

describe("of an agent that left its branch, what it changed since is added, and nothing is taken back", () => {
  test.each([
    ["checks out main", "git checkout --quiet main", ""],
    ["detaches HEAD at main", "git checkout --quiet --detach origin/main", ""],
    ["looks at an earlier commit", "git checkout --quiet HEAD~1", ""],
    ["resets its branch to main", "git reset --quiet --hard origin/main", ""],
    ["commits on a branch of main", `${fromMain}; ${commit("new.md")}`, "A new.md"],
    ["leaves a file on a branch of main", `${fromMain}; echo new > new.md`, "A new.md"],
    [
      "amends what it committed there",
      `${fromMain}; ${commit("a.md")}; git mv a.md new.md; git commit --quiet --amend -m b`,
      "A new.md",
    ],
    ["commits after a reset to main", `git reset --quiet --hard origin/main; ${commit("new.md")}`, "A new.md"],
    [
      "brings an edit along",
      `${write("README.md", { 10: "job", 30: "new" })}; git stash --quiet; git checkout --quiet main; git stash pop --quiet`,
      "M README.md",
    ],
    [
      "commits on a branch of main, and ends where it began",
      `${fromMain}; ${commit("new.md")}; git checkout --quiet agent/job`,
      "A new.md",
    ],
    [
      "squashes the job's commits",
      `git reset --quiet --soft $(git merge-base HEAD origin/main); ${commit("new.md")}`,
      "A new.md",
    ],
    ["squashes the job on main", `git reset --quiet --soft origin/main; ${commit("new.md")}`, "A new.md"],
    ["deletes what main has", `${fromMain}; git rm --quiet README.md guide.md; echo new > new.md`, "refused"],
  ])("%s", async (_what, script, change) => {
    const ended = await end(script);
    if (change === "refused") {
      expect(ended.refused).toContain("what it changed conflicts with the job's branch");
      const { onItsParent, start, id = "" } = await end(script, { isUnfinished: true });
      expect(onItsParent).toBe("D README.md, D guide.md, A new.md");
      const instructed = { ...start, head: start.base, instructed: start.head };
      expect((await repository.withOwnFiles(id, instructed, () => "Change")).commit).toBe(id);
      return;
    }
    expect(ended).toMatchObject({ change, onItsParent: change, refused: undefined });
    expect(ended.notes?.join()).toContain("The agent did not end on top of");
    if (change === "M README.md") expect(ended.text("README.md")).toBe(lines({ 10: "job", 30: "new" }));
  });
});

describe("what an agent made of its own branch is published as it is", () => {
  test.each([
    ["commits", commit("new.md"), "A new.md"],
    ["commits, and ends on main", `${commit("new.md")}; git checkout --quiet main`, "A new.md"],
    ["deletes a file", "git rm --quiet page1.md", "D page1.md"],
    ["reverts a commit", "git revert --no-edit HEAD", "M README.md, M guide.md, D page3.md"],
    ["takes back the job's last commit", "git reset --quiet --hard HEAD~1", "M README.md, M guide.md, D page3.md"],
    ["amends the job's last commit", "echo other > page3.md; git commit --quiet -a --amend -m b", "M page3.md"],
    ["drops a file from it", "git rm --quiet page3.md; git commit --quiet --amend -m b", "D page3.md"],
    [
      "rebases it onto main",
      `git rebase -X theirs origin/main; ${write("README.md", { 10: "other" })}; ${commit("new.md")}`,
      "M README.md, A main.md, A new.md",
    ],
    ["merges main into it", "git merge -X ours origin/main", "A main.md"],
    [
      "merges main into it, and commits no more",
      `git merge origin/main; ${write("guide.md", { 10: "both" })}`,
      "M guide.md, A main.md",
    ],
    [
      "looks at main first",
      `git checkout --quiet main; git checkout --quiet agent/job; ${commit("new.md")}`,
      "A new.md",
    ],
    ["begins a new history", `git checkout --quiet --orphan new; ${commit("new.md")}`, "A new.md"],
    ["removes its repository", "rm -rf .git; git init --quiet; echo new > new.md; git rm --quiet page1.md", "A new.md"],
  ])("%s", async (_what, script, change) => {
    const ended = await end(`${script} || true`);
    expect(ended).toMatchObject({ change, refused: undefined });
    expect(ended.notes?.join()).not.toContain("did not end on top of");
  });
});

describe("of an agent whose repository does not tell where it began, the files do", () => {
  const noReflog = "rm -rf .git/logs";
  const expired = "git reflog expire --expire=now --all";
  const fresh = "rm -rf .git; git init --quiet";
  test.each([
    ["commits on a branch of main, and cannot be read", `${fromMain}; ${commit("new.md")}`, "A new.md", false],
    ["commits on a branch of main without a reflog", `${fromMain}; ${commit("new.md")}; ${noReflog}`, "A new.md", true],
    ["detaches HEAD at main without one", `git checkout --quiet --detach origin/main; ${noReflog}`, "", true],
    [
      "resets to main without one",
      `git reset --quiet --hard origin/main; ${commit("new.md")}; ${noReflog}`,
      "A new.md",
      true,
    ],
    ["expires it", `git reset --quiet --hard origin/main; ${expired}; ${commit("new.md")}`, "A new.md", true],
    ["removes its repository on main", `git checkout --quiet main; echo new > new.md; rm -rf .git`, "A new.md", true],
    ["begins another one on main", `git checkout --quiet main; ${fresh}; ${commit("new.md")}`, "A new.md", true],
    [
      "begins another one at an earlier commit",
      `git checkout --quiet HEAD~1; ${fresh}; ${commit("new.md")}`,
      "A new.md",
      true,
    ],
    [
      "edits a file of main without a repository",
      `git checkout --quiet main; ${write("README.md", { 30: "new" })}; rm -rf .git`,
      "M README.md",
      true,
    ],
  ])("%s", async (_what, script, change, isRead) => {
    const ended = await end(script, {}, isRead);
    expect(ended).toMatchObject({ change, refused: undefined });
    expect(ended.notes?.join()).toContain("The agent did not end on top of");
  });

  test.each([
    ["commits, and cannot be read", commit("new.md"), "A new.md", false],
    ["commits without a reflog", `${commit("new.md")}; ${noReflog}`, "A new.md", true],
    ["edits without a repository", "rm -rf .git; echo new > new.md; rm page1.md", "A new.md, D page1.md", true],
    ["begins another one", `${fresh}; rm page3.md; ${commit("new.md")}`, "A new.md, D page3.md", true],
    [
      "makes its clone shallow",
      `git rev-parse HEAD > .git/shallow; ${commit("new.md")}; git gc --quiet`,
      "A new.md",
      true,
    ],
  ])("as of one that stays on its branch: %s", async (_what, script, change, isRead) => {
    const ended = await end(script, {}, isRead);
    expect(ended).toMatchObject({ change, refused: undefined });
    expect(ended.notes?.join()).not.toContain("did not end on top of");
  });
});

describe("an agent that ends in the middle of something is not taken for done", () => {
  test.each([
    ["a merge", "git merge origin/main", false],
    ["a rebase", "git rebase origin/main", true],
    ["a rebase whose conflict is resolved", `git rebase origin/main; ${write("guide.md", { 10: "both" })}`, true],
    ["a cherry-pick", "git cherry-pick origin/main", false],
    ["a revert", `${write("guide.md", { 10: "more" })}; git commit --quiet -a -m more; git revert HEAD~1`, false],
    [
      "a stash that conflicts",
      `${write("guide.md", { 10: "more" })}; git stash --quiet; git checkout --quiet main; git stash pop`,
      false,
    ],
  ])("%s", async (_what, script) => {
    expect((await end(`${script} || true`)).refused).toContain("in the middle of a merge, a rebase or the like");
  });
});
