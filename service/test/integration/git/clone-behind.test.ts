import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { DocsRepository } from "../../../../tools/docs-repository.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";

const minuteMs = 60_000;

async function setUp() {
  const docs = new DocsRepository();
  onTestFinished(() => docs[Symbol.dispose]());
  const repository = new GitRepository({ url: docs.path, folder: join(temporaryFolder(), "service") });
  await repository.open();
  /** Pushes a new commit to a branch, as another process does. */
  let pushes = 0;
  const push = (branch: string) => {
    const identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.com"];
    const commit = docs.git(...identity, "commit-tree", "main^{tree}", "-p", "main", "-m", `${branch} ${++pushes}`);
    docs.setHead(branch, commit);
    return commit;
  };
  return { repository, push };
}

test("a clone gets a commit that another process has pushed, however new the last fetch is", async () => {
  const { repository, push } = await setUp();
  const commit = push("agent/one");
  await repository.fetchIfBehind(["agent/one"], minuteMs, commit);
  expect(await repository.branchHead("agent/one")).toBe(commit);
});

test("a clone that has the commit is fetched only if the last fetch is too old", async () => {
  const { repository, push } = await setUp();
  const known = push("agent/one");
  await repository.fetchIfBehind(["agent/one"], minuteMs, known);
  const unknown = push("agent/one");
  await repository.fetchIfBehind(["agent/one"], minuteMs, known);
  expect(await repository.branchHead("agent/one")).toBe(known);
  await repository.fetchIfBehind(["agent/one"], 0, known);
  expect(await repository.branchHead("agent/one")).toBe(unknown);
});

test("a clone that knows a newer head of a branch than it has is fetched", async () => {
  const { repository, push } = await setUp();
  const known = push("agent/one");
  await repository.fetchIfBehind(["agent/one"], minuteMs, known);
  const unknown = push("agent/one");
  await repository.list();
  const isMerged = () => repository.isMerged(known, "agent/one");
  await expect(isMerged()).rejects.toThrow(`the commit ${unknown} is missing in the clone`);
  await repository.fetchIfBehind(["agent/one"], minuteMs, known);
  // The commits are siblings without a change.
  expect(await isMerged()).toBe(false);
});
