import { expect, test } from "vitest";
import { GitHubCommits } from "../../../src/pulls/github/github-commits.ts";
import { GitHubError, RateLimitError } from "../../../src/pulls/github/github-error.ts";

const failing = (error: Error) =>
  new GitHubCommits(
    { repository: { apiUrl: "https://api.github.com" }, request: () => Promise.reject(error) },
    async () => undefined,
  );

test.each([
  ["is out of reach", new GitHubError("GitHub cannot be reached", undefined)],
  ["fails", new GitHubError("GitHub answered 502", 502)],
  ["has reached its rate limit", new RateLimitError("GitHub's rate limit is reached", 403, 60_000)],
  ["is asked by a service that stops", new DOMException("aborted", "AbortError")],
])("the rules of a branch are unknown, not none, while GitHub %s", async (_, error) => {
  await expect(failing(error).rulesOf("main")).rejects.toBe(error);
});

test.each([403, 404])(
  "an answer of %s tells of no rules: this GitHub has none, or its token may not know",
  async (status) => {
    expect(await failing(new GitHubError(`GitHub answered ${status}`, status)).rulesOf("main")).toEqual(new Set());
  },
);
