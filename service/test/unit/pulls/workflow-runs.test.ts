import { expect, test } from "vitest";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { hasEnded } from "../../../src/pulls/github/workflow-runs.ts";

const listOf = (...statuses: string[]) => ({
  total_count: statuses.length,
  jobs: statuses.map((status) => ({ status })),
});

/** Asks about attempt 2 of a run, whose attempts from then on GitHub answers so. */
const ask = (...answers: unknown[]): Promise<boolean> =>
  hasEnded(
    { run: "7", attempt: "2" },
    {
      request: async (_route, { attempt_number: number }) => {
        const data = answers[Number(number) - 2] ?? new GitHubError("GitHub answered 404", 404);
        if (data instanceof Error) throw data;
        return { etag: undefined, data };
      },
    },
  );

test.each([
  ["all of its jobs have", [listOf("completed", "completed")], true],
  ["so have those of its re-run", [listOf("completed"), listOf("completed")], true],
  ["one of its jobs works", [listOf("completed", "in_progress")], false],
  ["its re-run works", [listOf("completed"), listOf("completed", "in_progress")], false],
  ["not all of its jobs are listed", [{ ...listOf("completed"), total_count: 101 }], false],
  ["it has no jobs yet", [listOf()], false],
])("of an attempt, GitHub says whether it has ended: %s", async (_name, answers, expected) => {
  expect(await ask(...answers)).toBe(expected);
});

test("a server that answers for every attempt is not asked for ever", async () => {
  expect(await ask(...Array.from({ length: 1000 }, () => listOf("completed")))).toBe(false);
});

test.each([
  ["may not ask", new GitHubError("GitHub answered 403", 403)],
  ["asks another repository", new GitHubError("GitHub answered 404", 404)],
  ["cannot reach GitHub", new GitHubError("GitHub cannot be reached", undefined)],
  ["gets something else", "<html>"],
])("an attempt has not ended for whom GitHub does not tell: whoever %s", async (_name, answer) => {
  expect([await ask(answer), await ask(listOf("completed"), answer)]).toEqual([
    false,
    answer instanceof GitHubError && answer.status === 404,
  ]);
});
