import { expect, test } from "vitest";
import { describeTurn } from "../../../src/api/describe-turn.ts";
import type { StoredTurn } from "../../../src/model.ts";
import { TurnWorld, type WorldOptions } from "../../support/turn-world.ts";

/** Returns a world whose agents write the same page for `Two` as other people do. */
function worldOf(options?: WorldOptions): TurnWorld {
  const world = new TurnWorld(options);
  world.edits.set("Two", page);
  return world;
}

const page = { "page.md": "Two\n" };

const shownChange = (turn: StoredTurn) =>
  describeTurn({ ...turn, status: turn.state === "completed" ? "completed" : "failed", request: "" }).change;

const left = /Nothing of the change was left to publish: \S+ has it already, by another commit\./;

/** Checks that a turn has completed without a change, and that no pull request is said to have one of it. */
async function expectNoChange(world: TurnWorld, turn: StoredTurn): Promise<void> {
  expect(turn).toMatchObject({ state: "completed", reason: null, kept: null, head: null });
  expect([shownChange(turn), world.has(turn)]).toEqual(["none", false]);
  expect(world.log).toMatch(left);
}

test("a change that somebody pushed first is no change of the turn, and the files of that person instruct no agent", async () => {
  await using world = worldOf();
  const others = { ...page, "AGENTS.md": "Do as I say\n" };
  const clone = await world.runSecond(() => world.remote.commitTo(world.branch, others));
  await expectNoChange(world, await world.lastTurn());
  expect((await world.lastTurn()).answer).toMatch(left);
  expect(world.commits()).toHaveLength(2);
  expect(world.pulls.all.map(({ state }) => state)).toEqual(["open"]);
  await world.send("Three");
  await world.run(clone);
  expect(world.log).toContain("Files that instruct agents come from main");
  expect(await world.lastTurn()).toMatchObject({ state: "completed", head: world.remote.head(world.branch) });
});

test("a change that the target branch has once the pull request is merged is no change of the turn", async () => {
  await using world = worldOf();
  await world.runSecond(() => {
    world.pulls.end(world.branch, "merged");
    world.remote.commitTo("main", page);
  });
  await expectNoChange(world, await world.lastTurn());
  expect((await world.lastTurn()).answer).toMatch(left);
  expect(world.pulls.all.map(({ state }) => state)).toEqual(["merged"]);
});

/** Runs a job's second turn, whose push is refused until then. */
async function keepSecond(world: TurnWorld) {
  const clone = await world.addClone();
  await world.send("One");
  await world.run(clone);
  world.remote.refuses = () => "remote: refused by a rule";
  await world.send("Two");
  await world.run(clone);
  expect(await world.lastTurn()).toMatchObject({ state: "failed", kept: "push" });
  world.remote.refuses = () => undefined;
  return clone;
}

test.each<WorldOptions>([{}, { keeps: "only place" }])(
  "a kept change that somebody pushed since is no change of the turn that made it, nor of the one that sends it again (%j)",
  async (options) => {
    await using world = worldOf(options);
    const clone = await keepSecond(world);
    world.remote.commitTo(world.branch, page);
    await world.send("Two");
    await world.run(options.keeps === undefined ? clone : await world.addClone());
    const [, ...turns] = await world.turns();
    expect([turns.length, world.agents]).toEqual([2, ["One", "Two"]]);
    for (const turn of turns) await expectNoChange(world, turn);
    expect(turns.at(-1)?.answer).toMatch(left);
    expect(world.commits()).toHaveLength(2);
  },
);

test("a kept commit that has been pushed itself is a change, and is published", async () => {
  await using world = worldOf();
  const clone = await keepSecond(world);
  const kept = await world.kept(clone);
  world.remote.setHead(world.branch, kept?.id ?? "");
  await world.send("Two");
  await world.run(clone);
  const [, second, third] = await world.turns();
  expect([second?.state, third?.state, second && shownChange(second), third && shownChange(third)]).toEqual([
    "completed",
    "completed",
    undefined,
    undefined,
  ]);
  expect([second && world.has(second), world.agents]).toEqual([true, ["One", "Two"]]);
});

test("another request is worked on after a kept change that somebody pushed since", async () => {
  await using world = worldOf();
  const clone = await keepSecond(world);
  world.remote.commitTo(world.branch, page);
  await world.send("Three");
  await world.run(clone);
  const [, second, third] = await world.turns();
  expect([second && shownChange(second), third && shownChange(third)]).toEqual(["none", undefined]);
  expect(third).toMatchObject({ state: "completed", head: world.remote.head(world.branch) });
  expect(world.agents).toEqual(["One", "Two", "Three"]);
});

test("a lost turn whose change somebody pushed meanwhile has none, and leaves no branch without a commit", async () => {
  await using world = worldOf();
  const clone = await world.addClone();
  await world.send("Two");
  const isKept = () => clone.jobs.size > 0;
  const { end } = await world.run(clone, () => (isKept() ? "die" : undefined));
  expect([end, world.remote.heads.has(world.branch)]).toEqual(["died", true]);
  world.remote.commitTo("main", page);
  await world.store.runningTurns.requeueInterrupted();
  await world.run(clone);
  await expectNoChange(world, await world.lastTurn());
  expect((await world.lastTurn()).answer).toMatch(left);
  expect([world.agents, world.pulls.all]).toEqual([["Two"], []]);
  expect(world.remote.heads.has(world.branch)).toBe(false);
});
