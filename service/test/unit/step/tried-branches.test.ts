import { expect, test } from "vitest";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { dayMs } from "../../../src/time.ts";
import { deleteTriedBranches } from "../../../step/memory/tried-branches.ts";
import { identityOf } from "../../support/turn-identity.ts";

const job = (n: number): string => `job_00000000-0000-4000-8000-00000000000${n}`;
const branch = (n: number): string => `agent/${job(n)}`;
const [main, before, merged] = ["a".repeat(40), "b".repeat(40), "c".repeat(40)];
const turn = {
  id: 5,
  identity: identityOf(5),
  job: job(1),
  prompt: "Go",
  attempts: 1,
  sections: "",
  covers: null,
  step: "s1",
  request: "r1",
};
const now = 10 * dayMs;

/** @param created - when branches were created, if nothing else has happened to them */
async function gone(heads: Record<string, string>, created: Record<string, number> = {}, isKnown = true) {
  const asked: string[] = [];
  const deleted = await deleteTriedBranches({
    repository: {
      branchHeads: async () => new Map([["main", main], ...Object.entries(heads)]),
      targetBranch: async () => "main",
      branchHead: async () => main,
      commitsOfBranch: async () => [
        { commit: main, at: 2, message: "Say more" },
        { commit: merged, at: 1, message: commitMessage(turn, []) },
        { commit: before, at: 0, message: "Begin" },
      ],
      deleteBranches: async (branches) => [...branches].map(([name, head]) => `${name} at ${head}`),
    },
    pullRequests: {
      ownAccount: async () => (isKnown ? { login: "docs-bot[bot]", id: 7 } : undefined),
      onlyCreatedAt: async (name) => {
        asked.push(name);
        return created[name];
      },
    },
    isWorkflowToken: true,
    machine: { wallTime: () => now },
  });
  return { deleted, asked };
}

test("a branch that was only created, at least a day ago, is deleted as it was read", async () => {
  const old = now - dayMs - 1;
  const heads = { [branch(1)]: before, [branch(2)]: main, [branch(3)]: main };
  const { deleted } = await gone(heads, { [branch(1)]: old, [branch(2)]: old + 1 });
  expect(deleted).toEqual([`${branch(1)} at ${before}`]);
});

test("branches with commits, also merged ones, and those that are of no job are not even asked for", async () => {
  const heads = { [branch(1)]: "d".repeat(40), [branch(2)]: merged, "agent/mine": main, release: before };
  expect(await gone(heads)).toEqual({ deleted: [], asked: [] });
});

test("nothing is deleted if the own account is unknown", async () => {
  expect(await gone({ [branch(1)]: before }, { [branch(1)]: 0 }, false)).toEqual({ deleted: [], asked: [] });
});
