import { expect, test } from "vitest";
import { GitHubError, RateLimitError } from "../../../src/pulls/github/github-error.ts";

test.each([
  [undefined, true],
  [500, true],
  [503, true],
  [200, false],
  [404, false],
  [422, false],
])("an error with status %s is transient: %s", (status, isTransient) => {
  expect(new GitHubError("failed", status)).toMatchObject({ status, isTransient, isPermanent: !isTransient });
});

test.each([403, 429])("a rate limit with status %d is not permanent, and the request had no effect", (status) => {
  const limited = new RateLimitError("slow down", status, 5000);
  expect(limited).toMatchObject({ isTransient: false, isPermanent: false, waitMs: 5000 });
});
