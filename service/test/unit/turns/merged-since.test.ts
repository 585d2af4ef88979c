import { expect, test } from "vitest";
import { TurnWorld } from "../../support/turn-world.ts";

test.each(["stays", "is deleted"])(
  "what an agent makes while its pull request is merged goes on top of that, in another one (the branch %s)",
  async (fate) => {
    await using world = new TurnWorld();
    await world.runSecond(() => {
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

/** Runs a job with a second turn, whose worker dies once that has recorded its push. Returns the clone, and the branch's head before. */
async function loseRecorded(world: TurnWorld) {
  const clone = await world.addClone();
  await world.send("One");
  await world.run(clone);
  const before = world.remote.head(world.branch);
  await world.send("Two");
  let isRecorded = false;
  const look = async () => {
    isRecorded ||= (await world.lastTurn()).head !== null;
  };
  const { end } = await world.run(clone, () => {
    void look();
    return isRecorded ? "die" : undefined;
  });
  expect([end, isRecorded]).toEqual(["died", true]);
  return { clone, before };
}

test("a commit that somebody amended before its pull request was merged is merged with it", async () => {
  await using world = new TurnWorld();
  const { clone } = await loseRecorded(world);
  world.remote.amend(world.branch, { "Two.md": "By hand\n" });
  world.pulls.end(world.branch, "merged");
  await world.store.runningTurns.requeueInterrupted();
  await world.run(clone);
  expect(await world.lastTurn()).toMatchObject({ state: "completed", kept: null });
  expect(world.log).toContain("The work of the turn is on https://example.com/pull/1 already.");
});

test.each(["stays", "is deleted"])(
  "a commit that somebody took out of the branch before its pull request was merged is not merged with it (the branch %s)",
  async (fate) => {
    await using world = new TurnWorld();
    const { clone, before } = await loseRecorded(world);
    world.remote.setHead(world.branch, before);
    world.pulls.end(world.branch, "merged");
    if (fate === "is deleted") world.pulls.deleteBranch(world.branch);
    await world.store.runningTurns.requeueInterrupted();
    await world.run(clone);
    const { state, kept, reason } = await world.lastTurn();
    expect({ state, kept }).toEqual({ state: "failed", kept: null });
    const what = fate === "stays" ? "taken it from there" : "deleted that branch";
    expect(reason).toContain(`somebody has ${what} since`);
    expect(world.log).not.toContain("The work of the turn is on");
    expect(world.remote.read("main", "Two.md")).toBeUndefined();
  },
);

test("a commit that conflicts with what was merged is kept, and named", async () => {
  await using world = new TurnWorld();
  world.edits.set("One", { "page.md": "One\n" });
  world.edits.set("Two", { "page.md": "Two\n" });
  await world.runSecond(() => {
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
