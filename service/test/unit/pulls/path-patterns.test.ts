import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePaths } from "../../../../src/action/changes/paths.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";

/** The action's filter of these patterns; `undefined` if it cannot read them. */
const inputPaths = (patterns: readonly string[]) => {
  const parsed = parsePaths(patterns.join("\n"));
  return "value" in parsed ? parsed.value : undefined;
};

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

test("patterns have the same meaning as in the action's input paths", () => {
  const piece = fc.constantFrom("a", "B", "/", "*", "**", "**/", "?", "+", "[a-c]", "[z-a]", "[", "\\", ".", "!", "é");
  const pattern = fc
    .array(piece, { minLength: 1, maxLength: 6 })
    .map((pieces) => pieces.join(""))
    // The input is read line by line, without spaces around a pattern, and refuses what matches no file.
    .filter((text) => text.trim() === text && !/^!?\.?\/|\/$|(?:^!?|\/)\.\.(?:\/|$)|\\[a-z]/i.test(text));
  const path = fc.array(fc.constantFrom("a", "B", "/", ".", "!", "é", "x"), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), path, (patterns, names) => {
      const input = inputPaths(patterns);
      const text = names.join("");
      if (input) {
        expect(readPathPatterns(patterns).matches(text)).toBe(input.matches(text));
        expect(readPathPatterns(patterns).into(text)).toEqual(input.into(text));
      } else expect(() => readPathPatterns(patterns)).toThrow();
    }),
    { numRuns: 2000 },
  );
});
