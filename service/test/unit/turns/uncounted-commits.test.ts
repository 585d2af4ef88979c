import { expect, test } from "vitest";
import type { RunningTurn } from "../../../src/model.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { findCounted } from "../../../src/turns/uncounted-commits.ts";
import { memoryStore, startNext } from "../../support/memory-store.ts";

const id = "job_00000000-0000-0000-0000-000000000001";

/**
 * Judges a branch of a job whose turns 1 to 3 have ended and whose turn 4 is running.
 *
 * @param branch - its commits above `base`, the oldest first: each has a letter, and before it `p` if a person made it, or else its turn,
 *   or several that a person has squashed
 * @param recorded - the head of the branch as the store knows it
 * @param isOwn - whether turn 4 judges it
 * @param isOnlyPlace - whether other runners, each with a store of its own, may push for the job
 */
async function judge(branch: string, recorded: string | null, isOwn = false, isOnlyPlace = false) {
  const store = memoryStore();
  await store.jobs.add({ id, project: "docs", createdAt: 0 }, "Go on");
  const turns: RunningTurn[] = [];
  while (turns.length < 4) {
    const turn = await startNext(store);
    turns.push(turn);
    if (turns.length === 4) break;
    if (turns.length === 3 && recorded !== null) await store.runningTurns.recordPush(turn, null, recorded);
    await store.turns.add(id, "Go on", 0);
    await store.runningTurns.finish(turn, "failed", 0);
  }
  const names = branch.split(" ");
  const commits = names.map((commit) => {
    const makers = turns.filter((_, index) => commit.split("-")[0]?.includes(String(index + 1)));
    return { commit, message: makers.map((turn) => commitMessage(turn, [])).join("\n") || "By a person\n" };
  });
  const repository = { commits: async () => commits };
  const range = { head: names.at(-1) ?? "", base: "base" };
  return findCounted(
    { id, head: null },
    range,
    { repository, store, keptCommits: { isOnlyPlace } },
    isOwn ? turns[3] : undefined,
  );
}

test.each<[rule: string, branch: string, recorded: string | null, head: string | undefined, uncounted: number[]]>([
  ["commits of ended turns above the recorded one do not count", "1-a 2-b 3-c", "1-a", "1-a", [2, 3]],
  ["nor do they if none is recorded", "1-a 2-b 3-c", null, undefined, [1, 2, 3]],
  ["nor if the branch was recorded without any", "1-a 2-b 3-c", "base", "base", [1, 2, 3]],
  ["all that is below a person's commit counts", "1-a 2-b p-c 3-d", "1-a", "p-c", [3]],
  ["all counts below a person's commit at the head", "1-a 2-b p-c", "1-a", "p-c", []],
  ["a commit into which a person squashed those of two turns counts", "1-a 23-b", "1-a", "23-b", []],
  ["a commit that a person amended is still its turn's", "1-a 2-b 2-c", "2-b", "2-c", []],
  ["all counts if a person has rewritten the branch", "1-x 2-y", "2-b", "2-y", []],
  ["the commit of a running turn counts", "1-a 4-b", "1-a", "4-b", []],
])("%s", async (_rule, branch, recorded, head, uncounted) => {
  expect(await judge(branch, recorded)).toEqual({ head, uncounted });
});

test("the commit of a running turn does not count for the turn itself", async () => {
  expect(await judge("1-a 4-b", "1-a", true)).toEqual({ head: "1-a", uncounted: [4] });
});

test("a commit counts of a turn that another runner, with a store of its own, has pushed since", async () => {
  expect(await judge("1-a 2-b 3-c", "1-a", true, true)).toEqual({ head: "3-c", uncounted: [] });
  expect(await judge("1-a 3-b 4-c", "1-a", true, true)).toEqual({ head: "3-b", uncounted: [4] });
});
