import { expect, test } from "vitest";
import { readNotes } from "../../../src/pulls/commit-message.ts";
import { TurnWorld } from "../../support/turn-world.ts";

const two = { "src/two.ts": "export const two = 2;\n" };

/** Runs a second turn of a job after this was done. */
async function secondTurn(world: TurnWorld, act: () => void): Promise<void> {
  const clone = await world.addClone();
  await world.send("One");
  await world.run(clone);
  act();
  await world.send("Two");
  await world.run(clone);
}

test("what has come to the target branch is merged into the branch that a turn continues, before its agent runs", async () => {
  await using world = new TurnWorld();
  let main = "";
  await secondTurn(world, () => {
    main = world.remote.commitTo("main", two);
  });
  const [own, merge, first] = world.commits();
  expect(merge).toMatchObject({
    parents: [first?.id, main],
    message: `Merge branch 'main' into ${world.branch}\n\nAgent-Job: ${world.branch.replace("agent/", "")}\n`,
  });
  expect(own?.parents).toEqual([merge?.id]);
  expect(world.told[1]).toBe("Two");
  expect(world.log).toContain(`main has changed, so it was merged into ${world.branch} before the agent starts.`);
  expect(world.remote.objects.changedPaths(main, own?.id ?? "")).toEqual(["One.md", "Two.md"]);
  expect(world.pulls.all.map(({ state }) => state)).toEqual(["open"]);
});

test("a turn without a change after a merge made nothing, and a branch that has all is not merged again", async () => {
  await using world = new TurnWorld();
  world.edits.set("Two", {});
  await secondTurn(world, () => void world.remote.commitTo("main", two));
  const { state, head } = await world.lastTurn();
  expect({ state, head }).toEqual({ state: "completed", head: null });
  const [merge] = world.commits();
  expect(merge?.parents).toHaveLength(2);
  await world.send("Three");
  await world.run(await world.addClone());
  expect(world.commits().map(({ parents }) => parents.length)).toEqual([1, 2, 1]);
  world.pulls.end(world.branch, "merged");
  await world.send("Four");
  await world.run(await world.addClone());
  expect(world.commits().map(({ parents }) => parents)).toEqual([[world.remote.head("main")]]);
});

test("a branch whose last commit is a merge that made no change starts over once that is merged", async () => {
  await using world = new TurnWorld();
  world.edits.set("Two", {});
  await secondTurn(world, () => void world.remote.commitTo("main", two));
  world.pulls.end(world.branch, "merged");
  world.remote.commitTo("main", { "One.md": "Changed since\n" });
  await world.send("Three");
  await world.run(await world.addClone());
  expect(world.commits().map(({ parents }) => parents)).toEqual([[world.remote.head("main")]]);
});

test("a conflict with the target branch is told to the agent, and in the commit", async () => {
  await using world = new TurnWorld();
  await secondTurn(world, () => void world.remote.commitTo("main", { ...two, "One.md": "By hand\n" }));
  const note = `main cannot be merged into ${world.branch}, because both have changed "One.md". The branch main has changed since this work began, and these changes are not in the worktree. It lacks these files, or has them in an older version: "One.md", "src/two.ts".`;
  expect(world.told[1]).toBe(`Two\n\n${note}`);
  expect(world.log).toContain(note);
  const [own] = world.commits();
  expect(readNotes(own?.message ?? "").notes).toEqual([note]);
  expect(world.commits().map(({ parents }) => parents.length)).toEqual([1, 1]);
});

test("a merge that a rule refuses is found out before the agent, which starts without it and is told so", async () => {
  await using world = new TurnWorld();
  await secondTurn(world, () => {
    world.remote.commitTo("main", two);
    const isMerge = (commit = "") => world.remote.objects.commit(commit).parents.length > 1;
    world.remote.refuses = ({ commit }) =>
      commit !== undefined && isMerge(commit) ? "merge commits are not allowed" : undefined;
  });
  expect(world.told[1]).toMatch(
    /^Two\n\nThe merge of its target branch into agent\/\S+ was refused: pre-receive hook declined\. The agent starts without it\..*: "src\/two\.ts"\.$/,
  );
  expect((await world.lastTurn()).state).toBe("completed");
  expect(world.commits().map(({ parents }) => parents.length)).toEqual([1, 1]);
  expect(world.agents).toEqual(["One", "Two"]);
});

test("files that instruct agents stay as the job has made them after a merge that only has what is on the target branch", async () => {
  await using world = new TurnWorld();
  world.edits.set("One", { "AGENTS.md": "Of the job\n" });
  await secondTurn(world, () => void world.remote.commitTo("main", two));
  await world.send("Three");
  await world.run(await world.addClone());
  expect(world.log).not.toContain("Files that instruct agents come from main");
});

test("a turn that is interrupted between the merge and its agent does not merge again", async () => {
  await using world = new TurnWorld();
  await secondTurn(world, () => undefined);
  world.remote.commitTo("main", two);
  await world.send("Three");
  const isMerged = () => world.commits()[0]?.parents.length === 2;
  const clone = await world.addClone();
  expect((await world.run(clone, () => (isMerged() ? "die" : undefined))).end).toBe("died");
  const [merge] = world.commits();
  await world.run(await world.addClone());
  expect(world.commits().map(({ parents }) => parents.length)).toEqual([1, 2, 1, 1]);
  expect(world.commits()[1]).toEqual(merge);
  expect(world.agents).toEqual(["One", "Two", "Three"]);
});
