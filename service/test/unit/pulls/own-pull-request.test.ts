import { expect, test } from "vitest";
import { selectOwn } from "../../../src/pulls/github/own-pull-request.ts";

const branch = "agent/job_1";
const account = { login: "docs-bot[bot]", id: 7 };
const sha = "a".repeat(40);
/** A pull request as GitHub shows it. */
const pull = (number: number, other: Record<string, unknown> = {}) => ({
  html_url: `https://github.com/acme/docs/pull/${number}`,
  state: "open",
  merged_at: null,
  created_at: `2026-01-0${number}T00:00:00Z`,
  closed_at: null,
  body: null,
  user: { login: "docs-bot[bot]", id: 7 },
  head: { ref: branch, sha, repo: { id: 1 } },
  base: { ref: "main", repo: { id: 1 } },
  ...other,
});
const closed = { state: "closed", closed_at: "2026-01-09T00:00:00Z" };
const select = (...pulls: unknown[]) => selectOwn(pulls, branch, account, "trunk");

test("is the open one of the branch, otherwise the newest", () => {
  expect(select(pull(3, closed), pull(1), pull(2, closed))?.link).toMatch(/1$/);
  expect(select(pull(2, closed), pull(3, closed), pull(1, closed))?.link).toMatch(/3$/);
  expect(select()).toBeUndefined();
});

test("has the state, the times and the texts that GitHub shows", () => {
  expect(select(pull(1, { body: "Text" }))).toEqual({
    link: "https://github.com/acme/docs/pull/1",
    state: "open",
    createdAt: Date.UTC(2026, 0, 1),
    closedAt: null,
    head: sha,
    body: "Text",
    target: "main",
  });
  const merged = { ...closed, merged_at: "2026-01-08T00:00:00Z" };
  expect(select(pull(1, merged))).toMatchObject({ state: "merged", closedAt: Date.UTC(2026, 0, 9), body: "" });
  const mergeCommit = "b".repeat(40);
  expect(select(pull(1, { ...merged, merge_commit_sha: mergeCommit }))).toMatchObject({ mergeCommit });
  // What GitHub tried out.
  expect(select(pull(1, { ...closed, merge_commit_sha: mergeCommit }))).not.toHaveProperty("mergeCommit");
  expect(select(pull(1, closed))).toMatchObject({ state: "closed" });
});

test.each([
  ["of a fork", { head: { ref: branch, sha, repo: { id: 2 } } }],
  ["of a fork that is deleted", { head: { ref: branch, sha, repo: null } }],
  ["of another branch", { head: { ref: "agent/job_12", sha, repo: { id: 1 } } }],
  ["of another account", { user: { login: "docs-bot[bot]", id: 8 } }],
  ["of a deleted account", { user: null }],
])("is none %s", (_whose, other) => {
  expect(select(pull(1, other))).toBeUndefined();
  expect(select(pull(3, other), pull(2, closed))?.link).toMatch(/2$/);
});

test("of another account counts while it is open into the target, without its text, if no other is", () => {
  const others = { user: null, body: "Text", base: { ref: "trunk", repo: { id: 1 } } };
  const found = { link: "https://github.com/acme/docs/pull/2", isOthers: true, body: "", closedAt: null };
  expect(select(pull(2, others))).toMatchObject(found);
  expect(select(pull(2, { ...others, ...closed }))).toBeUndefined();
  // The commits that came since are in that.
  expect(select(pull(2, others), pull(1, closed))).toMatchObject({ ...found, hasOwn: true });
  expect(select(pull(2, { ...others, head: { ref: branch, sha, repo: { id: 2 } } }))).toBeUndefined();
});

test("is known by the login if the id of the account is unknown", () => {
  const own = (login: string, id: number) =>
    selectOwn([pull(1, { user: { login, id } })], branch, { login: "github-actions[bot]", id: undefined }, "trunk");
  expect(own("github-actions[bot]", 5)).toBeDefined();
  expect(own("github-actions", 5)).toBeUndefined();
});

test.each([
  ["no list", { message: "Not Found" }],
  ["a link that leads elsewhere", [pull(1, { html_url: "javascript:alert(1)//pull/1" })]],
  ["no commit", [pull(1, { head: { ref: branch, sha: "--output=x", repo: { id: 1 } } })]],
  ["no time", [pull(1, { created_at: "yesterday" })]],
])("is not looked for in %s", (_what, data) => {
  expect(() => selectOwn(data, branch, account, "trunk")).toThrow("not a list of pull requests");
});
