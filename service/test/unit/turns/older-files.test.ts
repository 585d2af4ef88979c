import { expect, test } from "vitest";
import { TurnWorld } from "../../support/turn-world.ts";

test("an agent that continues a branch is told which files are newer on the target branch", async () => {
  await using world = new TurnWorld();
  const clone = await world.addClone();
  await world.send("One");
  await world.run(clone);
  world.remote.commitTo("main", { "src/two.ts": "export const two = 2;\n" });
  await world.send("Two");
  await world.run(clone);
  const [one = "", two = ""] = world.told;
  expect(one).not.toContain("src/two.ts");
  const note = `The branch main has changed since this work began, and these changes are not in the worktree. It lacks these files, or has them in an older version: "src/two.ts".`;
  expect(two).toContain(note);
  expect(world.log).toContain(note);
});
