import { expect, test } from "vitest";
import { TurnWorld } from "../../support/turn-world.ts";

/** A job whose commit is on its branch without a pull request, because none may be opened. */
async function setUp() {
  const world = new TurnWorld();
  const clone = await world.addClone();
  const send = async (prompt: string): Promise<void> => {
    await world.send(prompt);
    await world.run(clone);
  };
  world.pulls.refusal = new Error("not permitted");
  await send("One");
  return { world, send };
}

test("a request whose commit a person took out is done again, although a newer one's is published", async () => {
  const { world, send } = await setUp();
  world.remote.setHead(world.branch, world.remote.head("main"));
  await send("Two");
  world.pulls.refusal = undefined;
  await send("One");
  expect(world.agents).toEqual(["One", "Two", "One"]);
});

test("a commit in whose place a person has put another one is not published, but made again", async () => {
  const { world, send } = await setUp();
  world.remote.setHead(world.branch, world.remote.head("main"));
  world.remote.commitTo(world.branch, { "person.md": "x\n" });
  world.pulls.refusal = undefined;
  await send("One");
  const turns = await world.turns();
  expect(world.agents).toEqual(["One", "One"]);
  expect(turns.map((turn) => [turn.state, world.has(turn)])).toEqual([
    ["failed", false],
    ["completed", true],
  ]);
});
