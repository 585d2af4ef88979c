import { expect, test } from "vitest";
import { pullRequestLink } from "../../../src/pages/pull-request-link.ts";

test.each([
  ["http://127.0.0.1:4100/pull/7", 7, { href: "/pull/7", text: "Pull request #7" }],
  ["https://old.example.com/pull/7", 7, { href: "/pull/7", text: "Pull request #7" }],
  ["https://github.com/o/r/pull/12", null, { href: "https://github.com/o/r/pull/12", text: "Pull request #12" }],
  ["https://github.com/o/r/pull/12", 2, { href: "https://github.com/o/r/pull/12", text: "Pull request #12" }],
  ["HTTP://example.com/x", null, { href: "HTTP://example.com/x", text: "Pull request" }],
  ["https://example.com/1/x", null, { href: "https://example.com/1/x", text: "Pull request" }],
  ["javascript:alert(1)//pull/7", null, undefined],
  ["/pull/7", null, undefined],
  ["data:text/html,https://x", null, undefined],
  [null, 7, undefined],
])("%s with the last page %s leads to %o", (pullRequest, lastPage, link) => {
  expect(pullRequestLink({ pullRequest, lastPage }, "")).toEqual(link);
});
