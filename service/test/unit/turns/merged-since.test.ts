import { expect, test } from "vitest";
import { TurnWorld } from "../../support/turn-world.ts";

/** Runs a second turn of a job, and does this once its agent has begun. */
async function secondTurn(world: TurnWorld, act: () => void): Promise<void> {
  const clone = await world.addClone();
  await world.send("One");
  await world.run(clone);
  await world.send("Two");
  let isDone = false;
  await world.run(clone, () => {
    if (world.agents.length === 2 && !isDone) {
      isDone = true;
      act();
    }
    return undefined;
  });
  expect(isDone).toBe(true);
}

test.each(["stays", "is deleted"])(
  "what an agent makes while its pull request is merged goes on top of that, in another one (the branch %s)",
  async (fate) => {
    await using world = new TurnWorld();
    await secondTurn(world, () => {
      world.pulls.end(world.branch, "merged");
      if (fate === "is deleted") world.pulls.deleteBranch(world.branch);
    });
    expect(await world.lastTurn()).toMatchObject({ state: "completed", reason: null });
    const [own, ...others] = world.commits();
    expect([own?.parents, others]).toEqual([[world.remote.head("main")], []]);
    expect(world.pulls.all.map(({ state }) => state)).toEqual(["merged", "open"]);
    expect(await world.link()).toBe("https://example.com/pull/2");
    expect(world.log).toContain("pull/1 was merged while the turn ran, so that its commit goes on top of main.");
  },
);

test("a commit that conflicts with what was merged is kept, and named", async () => {
  await using world = new TurnWorld();
  world.edits.set("One", { "page.md": "One\n" });
  world.edits.set("Two", { "page.md": "Two\n" });
  await secondTurn(world, () => {
    world.pulls.end(world.branch, "merged");
    world.remote.commitTo("main", { "page.md": "By hand\n" });
  });
  const { state, kept, reason } = await world.lastTurn();
  expect({ state, kept, reason }).toMatchObject({
    state: "failed",
    kept: "push",
    reason: expect.stringMatching(/conflicts with its change/),
  });
  expect(world.commits()).not.toContainEqual(expect.objectContaining({ message: expect.stringContaining("Two") }));
});
