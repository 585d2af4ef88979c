import { expect, test } from "vitest";
import { undoPush } from "../../../src/turns/uncounted-commits.ts";

test.each([
  { what: "the branch is new", before: undefined, began: null, recorded: null, expected: ["push", undefined] },
  { what: "a person had pushed", before: "person", began: "one", recorded: "one", expected: ["push", "person"] },
  {
    what: "others have recorded a commit since",
    before: undefined,
    began: null,
    recorded: "two",
    expected: ["push", "two"],
  },
  {
    what: "the store has lost the last commit",
    before: "one",
    began: "one",
    recorded: null,
    expected: ["push", "one"],
  },
  { what: "the commit is recorded", before: undefined, began: null, recorded: "own", expected: [] },
  { what: "the commit was there before", before: "own", began: "one", recorded: "one", expected: [] },
])("a push that is undone when $what", async ({ before, began, recorded, expected }) => {
  const pushes: unknown[] = [];
  const push = async (commit: string | undefined, branch: string, expectedHead?: string) =>
    void pushes.push("push", commit, branch, expectedHead);
  await undoPush({ branch: "agent/a", commit: "own", before, lastRecorded: began }, recorded, { push });
  expect(pushes).toEqual(expected.length === 0 ? [] : [...expected, "agent/a", "own"]);
});
