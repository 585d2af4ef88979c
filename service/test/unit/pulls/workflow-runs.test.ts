import { expect, test } from "vitest";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { hasEnded } from "../../../src/pulls/github/workflow-runs.ts";

const ask = (answer: () => unknown): Promise<boolean> =>
  hasEnded({ run: "7", attempt: "2" }, { request: async () => ({ etag: undefined, data: answer() }) });

test.each([
  ["all of its jobs have", [{ status: "completed" }, { status: "completed" }], 2, true],
  ["one of its jobs works", [{ status: "completed" }, { status: "in_progress" }], 2, false],
  ["not all of its jobs are listed", [{ status: "completed" }], 101, false],
  ["it has no jobs yet", [], 0, false],
])("of an attempt, GitHub says whether it has ended: %s", async (_name, jobs, count, expected) => {
  expect(await ask(() => ({ total_count: count, jobs }))).toBe(expected);
});

test.each([
  ["may not ask", new GitHubError("GitHub answered 403", 403)],
  ["asks another repository", new GitHubError("GitHub answered 404", 404)],
  ["cannot reach GitHub", new GitHubError("GitHub cannot be reached", undefined)],
])("an attempt has not ended for whom GitHub does not tell: whoever %s", async (_name, error) => {
  const rejected = await ask(() => {
    throw error;
  });
  expect([rejected, await ask(() => "<html>")]).toEqual([false, false]);
});
