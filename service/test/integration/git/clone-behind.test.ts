import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { DocsRepository } from "../../../../tools/docs-repository.ts";
import { Repository } from "../../../src/git/repository.ts";

const minuteMs = 60_000;

async function setUp() {
  const docs = new DocsRepository();
  onTestFinished(() => docs[Symbol.dispose]());
  const repository = new Repository({ url: docs.path, folder: join(temporaryFolder(), "service") });
  await repository.open();
  /** Pushes a new commit to a branch, as another process does. */
  const push = (branch: string) => {
    const identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.com"];
    const commit = docs.git(...identity, "commit-tree", "main^{tree}", "-p", "main", "-m", branch);
    docs.setHead(branch, commit);
    return commit;
  };
  return { repository, push };
}

test("a clone gets a commit that another process has pushed, however new the last fetch is", async () => {
  const { repository, push } = await setUp();
  const commit = push("agent/one");
  await repository.fetchIfBehind(commit, minuteMs);
  expect(await repository.branchHead("agent/one")).toBe(commit);
});

test("a clone that has the commit is fetched only if the last fetch is too old", async () => {
  const { repository, push } = await setUp();
  const known = push("agent/one");
  await repository.fetchIfBehind(known, minuteMs);
  const unknown = push("agent/two");
  await repository.fetchIfBehind(known, minuteMs);
  expect(await repository.branchHead("agent/two")).toBeUndefined();
  await repository.fetchIfBehind(known, 0);
  expect(await repository.branchHead("agent/two")).toBe(unknown);
});
