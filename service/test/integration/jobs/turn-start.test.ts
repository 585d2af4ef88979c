import { execFileSync } from "node:child_process";
import { beforeEach, describe, expect, test } from "vitest";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { docsRepository, folderWithClone } from "../../support/agent-service.ts";

let docs: DocsRepository;
let repository: GitRepository;

beforeEach(async () => {
  docs = docsRepository();
  repository = new GitRepository({ url: docs.path, folder: folderWithClone(docs) });
  await repository.open();
});

const branch = "agent/a";

/** Adds a commit with a new file on top of another one, and points the branch there. Returns it. */
function add(file: string, parent: string): string {
  const entry = `100644 blob ${docs.git("rev-parse", "main:README.md")}\t${file}`;
  const tree = execFileSync("git", ["-C", docs.path, "mktree"], {
    input: `${docs.git("ls-tree", parent)}\n${entry}\n`,
    encoding: "utf8",
  }).trim();
  return point(docs.git("commit-tree", tree, "-p", parent, "-m", `Write ${file}`));
}

/** Points the branch to a commit with another root. Returns it. */
function addRoot(): string {
  return point(docs.git("commit-tree", "main^{tree}", "-m", "Root"));
}

function point(commit: string): string {
  docs.setHead(branch, commit);
  return commit;
}

function replaceMain(): void {
  docs.setHead("main", docs.git("commit-tree", "main^{tree}", "-m", "Replaced"));
}

/** Makes a commit of the job, and fetches it. */
async function push(): Promise<string> {
  const commit = add("a.md", "main");
  await repository.fetch([branch]);
  return commit;
}

const find = (lastPushed: string | null, isMerged = false) => repository.findStart(branch, { isMerged, lastPushed });

/** What a start over looks like. */
function startOver(): object {
  const head = docs.head("main");
  return { head, base: head, isContinued: false };
}

describe("after the branch was deleted, a turn", () => {
  test("continues the job's last commit, and the log says so", async () => {
    const base = docs.head("main");
    const last = await push();
    docs.deleteBranch(branch);
    expect(await find(last)).toEqual({
      branch,
      targetBranch: "main",
      remoteHead: undefined,
      head: last,
      base,
      isContinued: true,
      notes: [
        `The branch ${branch} was deleted. The turn continues the job's last commit ${last} and creates it again.`,
      ],
    });
  });

  test("starts over if the pull request is merged, or the clone does not have the commit", async () => {
    const last = await push();
    docs.deleteBranch(branch);
    expect(await find(last, true)).toMatchObject({ ...startOver(), notes: [] });
    const lost = "1".repeat(40);
    expect(await find(lost)).toMatchObject({
      ...startOver(),
      notes: [expect.stringContaining(`has ${lost}, the job's`)],
    });
    expect(await find(null)).toMatchObject({ ...startOver(), notes: [] });
  });
});

describe("after someone pushed to the branch, a turn", () => {
  test("continues what is there", async () => {
    const last = await push();
    const added = add("b.md", last);
    expect(await find(last)).toMatchObject({ head: added, remoteHead: added, isContinued: true, notes: [] });
    expect(await find("1".repeat(40))).toMatchObject({ head: added, isContinued: true, notes: [] });
    expect(await find(null)).toMatchObject({ head: added, isContinued: true, notes: [] });
    expect(await find(last, true)).toMatchObject({ head: added, isContinued: true, notes: [] });
  });

  test("continues what is there without the job's last commit, and the log says so", async () => {
    const last = await push();
    const rewritten = add("b.md", "main");
    expect(await find(last)).toMatchObject({
      head: rewritten,
      isContinued: true,
      notes: [
        `Someone rewrote ${branch}: it no longer contains ${last}, the job's last commit. The turn continues what is there now.`,
      ],
    });
  });

  test("starts over if nothing is left of its work, and the log says so", async () => {
    const last = await push();
    point(docs.head("main"));
    expect(await find(last)).toMatchObject({
      ...startOver(),
      isLost: true,
      notes: [
        `Someone rewrote ${branch}: it contains neither ${last}, the job's last commit, nor anything else that is not on main. The turn starts over from main.`,
      ],
    });
    // GitHub says what became of it, whatever the target branch has now.
    const found = await repository.findStart(branch, { isMerged: true, lastPushed: last, mergedHead: last });
    expect(found).toEqual({ ...startOver(), branch, targetBranch: "main", remoteHead: docs.head("main"), notes: [] });
  });

  test("starts over without a word if the target branch has all of its work", async () => {
    const last = await push();
    expect(await find(last)).toMatchObject({ head: last, notes: [] });
    docs.squash(branch);
    expect(await find(last)).toMatchObject({ ...startOver(), notes: [] });
    point(docs.head("main"));
    expect(await find(last)).toMatchObject({ ...startOver(), notes: [] });
  });

  test("is not possible if it has another root, and the error names the job's last commit", async () => {
    const last = await push();
    addRoot();
    await expect(find(last)).rejects.toThrow(
      `Someone replaced ${branch} by another history, which has no commit in common with main, so no pull request can be made of it. No agent was run, and the job's last commit ${last} is kept in the service's clone.`,
    );
    await expect(find(null)).rejects.toThrow("main was replaced by another history");
  });
});

describe("after the target branch was replaced, a turn is not possible, and the error says where its work is:", () => {
  const error = "main was replaced by another history, which has no commit in common with the work of this job.";

  test("on its branch", async () => {
    const last = await push();
    replaceMain();
    await expect(find(last)).rejects.toThrow(`${error} No agent was run, and the work is kept on ${branch}. Create`);
    addRoot();
    await expect(find(last)).rejects.toThrow(`${error} No agent was run, and the work is kept on ${branch}. Create`);
  });

  test("in the clone, if the branch was deleted", async () => {
    const last = await push();
    docs.deleteBranch(branch);
    replaceMain();
    await expect(find(last)).rejects.toThrow(
      `${error} No agent was run, and the work is kept as ${last} in the service's clone. Create`,
    );
  });
});

test("a turn continues a branch whose changes were undone: its pull request is still open", async () => {
  const last = await push();
  const undone = point(docs.git("commit-tree", "main^{tree}", "-p", last, "-m", "Undo"));
  expect(await find(undone)).toMatchObject({ head: undone, isContinued: true, notes: [] });
  // Also after `main` has moved.
  const other = add("b.md", "main");
  docs.setHead("main", other);
  point(undone);
  expect(await find(undone)).toMatchObject({ head: undone, isContinued: true, notes: [] });
});
