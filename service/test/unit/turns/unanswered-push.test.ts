import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { GitError } from "../../../src/git/git.ts";
import { TurnWorld } from "../../support/turn-world.ts";

test("a push that arrives, and is answered by an error, counts, whatever a person pushes on top of it", async () => {
  await using world = new TurnWorld({ checks: ["completed", "failed", "failed"], folder: temporaryFolder() });
  const clone = await world.addClone();
  const { push } = clone;
  clone.push = async (commit, branch, expected) => {
    await push.call(clone, commit, branch, expected);
    if (commit === undefined || !/Agent-Job/.test(world.commits()[0]?.message ?? "")) return;
    world.remote.commitTo(world.branch, { "by-hand.md": "Broken\n" });
    throw new GitError(["push"], "exited with 128", "error: RPC failed; curl 56 Recv failure", 128);
  };
  await world.send("One");
  await world.run(clone);
  // The check of what is on top, which this turn has no part in, would have failed, before and with its change.
  expect(await world.lastTurn()).toMatchObject({ state: "completed", checkResult: "passed" });
  const [byHand, own, ...others] = world.commits();
  expect([byHand?.parents, others]).toEqual([[own?.id], []]);
  expect(world.pulls.openOf(world.branch)?.changes.map(({ head }) => head)).toEqual([own?.id]);
});
