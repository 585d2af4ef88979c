import { expect, test } from "vitest";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";

test("the last pattern that matches a path decides", () => {
  const { matches } = readPathPatterns(["docs/**", "!docs/**/api.md", "docs/v2/api.md"]);
  expect(matches("docs/a/b.md")).toBe(true);
  expect(matches("docs/v1/api.md")).toBe(false);
  expect(matches("docs/v2/api.md")).toBe(true);
  expect(matches("README.md")).toBe(false);
});

test("a pattern that ends with a slash is for all files of that folder", () => {
  const { matches } = readPathPatterns(["docs/", "!docs/v1/"]);
  expect([matches("docs/a/b.md"), matches("docs/v1/b.md"), matches("docs"), matches("a/docs/b.md")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test.each<[patterns: string[], problem: string]>([
  [["docs/**", "src/[b"], '"src/[b" has a bracket that is not closed'],
  [["b\\"], '"b\\\\" ends with a backslash'],
  [["?a"], '"?a" has nothing before ? to repeat'],
  [["[a!]"], '"[a!]" has brackets with something other than letters, digits and ranges of them'],
  [["!"], '"!" is empty'],
  [["!docs/**", "!a"], '"!docs/**" only excludes files; add a pattern without ! before it, such as **'],
])("%j cannot be read", (patterns, problem) => {
  expect(() => readPathPatterns(patterns)).toThrow(problem);
});
