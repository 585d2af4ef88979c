import { expect, test } from "vitest";
import type { BranchMove } from "../../support/memory-remote.ts";
import { TurnWorld } from "../../support/turn-world.ts";

const forMessages = "commit_message_pattern";
const refusal =
  "remote: error: GH013: Repository rule violations found\nremote: - Commit message must match a given regex pattern";

/** A repository that wants branches `docs/agent-…` and the titles of Conventional Commits, as its host checks them. */
function ruledWorld(rules: readonly string[] | undefined, titlePrefix?: string): TurnWorld {
  const world = new TurnWorld({ branchPrefix: "docs/agent-" });
  const { remote } = world;
  world.titlePrefix = titlePrefix;
  world.rules = rules;
  remote.refuses = ({ branch, commit, before }: BranchMove) => {
    if (!branch.startsWith("docs/"))
      return "remote: error: GH013: Repository rule violations found\nremote: - Branch name";
    const added =
      commit === undefined ? [] : remote.objects.log([commit], [before ?? "", remote.head("main")].filter(Boolean));
    return added.every(({ message }) => /^docs: [a-z]/.test(message)) ? undefined : refusal;
  };
  return world;
}

test("a month of nights under rules for branches and messages loses no payment", async () => {
  await using world = ruledWorld([forMessages], "docs:");
  const clone = await world.addClone();
  for (let night = 1; night <= 30; night++) {
    await world.send(`Update page ${night}`);
    await world.run(clone);
    expect(await world.lastTurn()).toMatchObject({ state: "completed", reason: null });
    expect(world.commits()[0]?.message).toMatch(new RegExp(`^docs: update page ${night}\\n`));
    if (night % 7 > 0) continue;
    world.pulls.end(world.branch, "merged");
    world.remote.deleteBranch(world.branch);
  }
  expect(world.agents).toHaveLength(30);
});

test("a message that a rule refuses costs nothing: no agent runs until the option is there", async () => {
  await using world = ruledWorld([forMessages]);
  const clone = await world.addClone();
  await world.send("Update the page");
  await world.run(clone);
  const { state, reason } = await world.lastTurn();
  expect([state, world.agents, world.remote.branches()]).toEqual(["failed", [], []]);
  expect(reason).toMatch(/Commit message must match.*No agent was run\. .*--title-prefix/s);
  world.titlePrefix = "docs:";
  await world.send("Update the page");
  await world.run(clone);
  expect(await world.lastTurn()).toMatchObject({ state: "completed" });
});

test("a commit whose message was refused after the agent is pushed with the title of today", async () => {
  await using world = ruledWorld(undefined);
  const clone = await world.addClone();
  // The branch can be made, since nothing new is on it.
  await world.send("Update the page");
  await world.run(clone);
  expect(await world.lastTurn()).toMatchObject({ state: "failed", kept: "push" });
  expect((await world.lastTurn()).reason).toContain("--title-prefix");
  world.titlePrefix = "docs:";
  await world.send("Update the page");
  await world.run(clone);
  expect([(await world.lastTurn()).state, world.agents.length]).toEqual(["completed", 1]);
  expect(world.commits().map(({ message }) => message.split("\n", 1)[0])).toEqual(["docs: update the page"]);
});

test.each([
  ["neither forced pushes nor deletions", ["non_fast_forward", "deletion"], 0],
  ["nothing about messages", [], 0],
  ["forced pushes", [forMessages], 1],
])("with rules that allow %s, what is tried leaves nothing", async (_, more, trials) => {
  await using world = ruledWorld([...more, ...(trials === 0 && more.length > 0 ? [forMessages] : [])], "docs:");
  await world.send("Update the page");
  await world.run(await world.addClone());
  expect(await world.lastTurn()).toMatchObject({ state: "completed" });
  expect(world.commits()).toHaveLength(1);
  const isEmpty = ({ commit }: BranchMove) =>
    commit !== undefined && treeOf(world, commit) === treeOf(world, world.remote.head("main"));
  expect(world.remote.pushes.filter((move) => isEmpty(move) && move.commit !== world.remote.head("main"))).toHaveLength(
    trials,
  );
});

const treeOf = ({ remote }: TurnWorld, commit: string): string => remote.objects.commit(commit).tree;

test.each([
  ["that changes a page", { "page.md": "New\n" }],
  ["that changes nothing", {}],
])("a worker that dies while a message is tried leaves nothing of it to an agent %s", async (_, edits) => {
  for (let death = 1, effects = Number.POSITIVE_INFINITY; death <= effects; death++) {
    await using world = ruledWorld([forMessages], "docs:");
    world.edits.set("Update the page", edits);
    await world.send("Update the page");
    const first = await world.run(await world.addClone(), (number) => (number === death ? "die" : undefined));
    if (first.end === "ended") break;
    effects = Number.POSITIVE_INFINITY;
    const { end } = await world.run(await world.addClone());
    const isChanged = Object.keys(edits).length > 0 && (await world.lastTurn()).state === "completed";
    const trees = world.commits().map(({ id }) => treeOf(world, id));
    expect([death, end, trees.includes(treeOf(world, world.remote.head("main")))]).toEqual([death, "ended", false]);
    if (!isChanged) expect([death, await world.link()]).toEqual([death, null]);
  }
});
