import { expect, test } from "vitest";
import { GitError } from "../../../src/git/git.ts";
import { TurnWorld } from "../../support/turn-world.ts";

test("a branch without a commit is removed although the repository's host is away for seconds", async () => {
  await using world = new TurnWorld();
  const clone = await world.addClone();
  const { push } = clone;
  let refused = 0;
  clone.push = async (commit, branch, expected) => {
    if (commit === undefined && refused++ < 2)
      throw new GitError(["push"], "exited with 128", "The requested URL returned error: 502", 128);
    return push.call(clone, commit, branch, expected);
  };
  world.edits.set("One", {});
  await world.send("One");
  await world.run(clone);
  expect(await world.lastTurn()).toMatchObject({ state: "completed" });
  expect([refused, world.remote.branches().includes(world.branch)]).toEqual([3, false]);
});
