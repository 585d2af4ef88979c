import { expect, onTestFinished, test } from "vitest";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { jobBranch } from "../../../src/model.ts";
import { PerProject } from "../../../src/per-project.ts";
import { LocalPullRequests } from "../../../src/pulls/local.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { BranchCleaner } from "../../../src/upkeep/branch-cleaner.ts";
import { docsRepository, folderWithClone } from "../../support/agent-service.ts";

const dayMs = 86_400_000;
const now = Date.UTC(2026, 0, 10);
const idOf = (number: number): string => `job_00000000-0000-0000-0000-00000000000${number}`;

async function setUp() {
  const docs = docsRepository();
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const repository = new GitRepository({ url: docs.path, folder: folderWithClone(docs) });
  await repository.open();
  const add = (branch: string, text: string): string =>
    docs.git("commit-tree", "main^{tree}", "-p", branch, "-m", text);
  return { docs, store, repository, add };
}

test("deletes with one push the branches that have not moved", async () => {
  const { docs, repository, add } = await setUp();
  const branches = [1, 2, 3].map((number) => jobBranch(idOf(number)));
  const [one = "", two = "", three = ""] = branches;
  const head = add("main", "Work");
  for (const branch of [one, two]) docs.setHead(branch, head);
  await repository.fetch(branches);
  const moved = add(two, "More");
  docs.setHead(two, moved);
  expect(await repository.deleteBranches(new Map(branches.map((branch) => [branch, head])))).toEqual([one, three]);
  expect([docs.findHead(one), docs.findHead(two)]).toEqual([undefined, moved]);
  expect(await repository.branchHead(two)).toBe(moved);
  await expect(repository.deleteBranches(new Map([[two, head]]))).rejects.toThrow("git push exited with 1");
});

/** Creates a job whose commit is on its branch, with a pull request on a page of the service. */
async function jobWithPage(setup: Awaited<ReturnType<typeof setUp>>, id: string) {
  const { docs, store, repository } = setup;
  const { signal } = new AbortController();
  const log = () => {};
  const baseUrl = () => "http://127.0.0.1:1";
  const pullRequests = new LocalPullRequests({ store: store.pullRequests, repository, baseUrl, signal, log });
  await store.jobs.add({ id, project: "docs", createdAt: 0 }, "Go on");
  const turn = await store.runningTurns.startNext();
  if (turn === undefined) throw new Error("no turn is ready");
  const branch = jobBranch(id);
  docs.importHistory(
    `commit refs/heads/${branch}\ncommitter A <a@b> now\ndata 0\nfrom refs/heads/main\nM 644 inline ${id}.md\ndata 1\na\n`,
  );
  const head = docs.head(branch);
  const change = {
    jobId: id,
    title: id,
    prompt: id,
    answer: null,
    branch,
    targetBranch: "main",
    base: docs.head("main"),
  };
  await store.runningTurns.recordPush(turn, null, head);
  const link = await pullRequests.open({ ...change, head, existing: null });
  await store.runningTurns.setPullRequest(turn, link, head);
  await store.runningTurns.finish(turn, "completed", now - 2 * dayMs);
  const projects = PerProject.same({ repository, pullRequests });
  return { branch, head, cleaner: new BranchCleaner({ store, projects, signal, log }) };
}

test.each([
  ["deletes a branch whose last pushes merge its target branch, before agents that changed nothing", false],
  ["keeps one whose last merge has a change of a person", true],
])("%s", async (_, isKept) => {
  const setup = await setUp();
  const { docs, store, repository } = setup;
  const { branch, head, cleaner } = await jobWithPage(setup, idOf(1));
  await store.idleJobs.archiveOldest(now, now, 1);
  let last = head;
  for (const page of ["two.md", "three.md"]) {
    const file = `M 644 inline ${page}\ndata 1\nb\n`;
    docs.importHistory(`commit refs/heads/main\ncommitter A <a@b> now\ndata 0\nfrom refs/heads/main^0\n${file}\n`);
    await repository.fetch([branch, "main"]);
    const merged = await repository.merge(last, docs.head("main"), "Merge");
    if (!("commit" in merged)) throw new Error("conflicts");
    await repository.push(merged.commit, branch, last);
    last = merged.commit;
  }
  if (isKept) {
    const file = "M 644 inline by-hand.md\ndata 1\nb\n";
    docs.importHistory(`commit refs/heads/by-hand\ncommitter A <a@b> now\ndata 0\nfrom ${last}\n${file}\n`);
    last = docs.git("commit-tree", "by-hand^{tree}", "-p", last, "-p", "main", "-m", "Merge");
    docs.setHead(branch, last);
  }
  docs.setHead("main", last);
  await cleaner.run(now);
  expect(docs.findHead(branch)).toBe(isKept ? last : undefined);
});

test("deletes the merged branches of pages, and a later turn of the job starts over", async () => {
  const setup = await setUp();
  const { docs, store, repository, add } = setup;
  const [merged, open] = [idOf(1), idOf(2)];
  const { cleaner } = await jobWithPage(setup, merged);
  await jobWithPage(setup, open);
  await store.idleJobs.archiveOldest(now, now, 2);
  const lastPushed = docs.head(jobBranch(merged));
  docs.setHead("main", lastPushed);
  await cleaner.run(now);
  expect([docs.findHead(jobBranch(merged)) !== undefined, docs.findHead(jobBranch(open)) !== undefined]).toEqual([
    false,
    true,
  ]);
  // What was merged goes on from the project's branch, whatever has happened to it since.
  docs.setHead("main", add("main", "Later"));
  expect(await repository.findStart(jobBranch(merged), { isMerged: true, lastPushed })).toMatchObject({
    head: docs.head("main"),
    remoteHead: undefined,
    isContinued: false,
    notes: [],
  });
});
