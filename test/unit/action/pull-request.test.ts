import { expect, test } from "vitest";
import { parsePullRequest } from "../../../src/action/pull-request.ts";

test.each([
  ["https://github.com/acme/docs/pull/7", "7"],
  ["https://github.com/acme/docs/pull/7/", "7"],
  ["https://ghe.example.com:8443/acme/docs/pull/12", "12"],
  ["https://gitlab.com/acme/docs/-/merge_requests/34", "34"],
  ["https://bitbucket.org/acme/docs/pull-requests/5", "5"],
  ["https://dev.azure.com/acme/docs/_git/docs/pullrequest/6", "6"],
  ["https://gitea.example.com/acme/docs/pulls/8", "8"],
  ["http://localhost:3000/acme/docs/pull/9", "9"],
  ["https://github.com/acme/docs/pull/7/files", ""],
  ["https://github.com/acme/docs/pull/7?x", ""],
  ["https://github.com/acme/docs/pull/7#x", ""],
  ["https://example.com/@acme/docs/pull/7", "7"],
  ["https://github.com/acme/docs/issues/7", ""],
  ["https://github.com/acme/docs/commit/7", ""],
  ["https://github.com/acme/7", ""],
  ["https://example.com/?next=/acme/docs/pull/7", ""],
  [`https://example.com/${"x".repeat(4076)}`, ""],
])("parses %s with the number %j", (url, number) => {
  expect(parsePullRequest(url)).toEqual({ url, number });
});

test.each([
  "",
  "acme/docs#7",
  "/acme/docs/pull/7",
  "//github.com/acme/docs/pull/7",
  "https:/github.com",
  "https:github.com/pull/7",
  "javascript://github.com/%0aalert(1)",
  "data:text/html,x",
  "https://",
  "https://token@github.com/acme/docs/pull/7",
  "https://user:token@github.com/acme/docs/pull/7",
  "https://@github.com/acme/docs/pull/7",
  "https://:@github.com/acme/docs/pull/7",
  `https://example.com/${"x".repeat(4077)}`,
  " https://github.com/acme/docs/pull/7",
  "https://github.com/acme/docs/pull/7\n",
  "https://github.com/a\tb",
  "https://github.com/a\u0085b",
])("rejects %j", (url) => {
  expect(parsePullRequest(url)).toBeUndefined();
});

test("encodes characters that are special in HTML and Markdown", () => {
  expect(parsePullRequest('https://example.com/"><img>`')?.url).toBe("https://example.com/%22%3E%3Cimg%3E%60");
});
