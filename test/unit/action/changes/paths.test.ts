import { expect, test } from "vitest";
import { parsePaths } from "../../../../src/action/changes/paths.ts";

function matches(patterns: string, path: string): boolean {
  const parsed = parsePaths(patterns);
  if ("problem" in parsed || !parsed.value) throw new Error(JSON.stringify(parsed));
  return parsed.value.matches(path);
}

// GitHub's documentation: "Filter pattern cheat sheet", "Patterns to match file paths".
test.each<[patterns: string, matching: string[], other: string[]]>([
  ["*", ["README.md", "server.rb"], ["docs/README.md"]],
  ["*.jsx?", ["page.js", "page.jsx"], ["page.jsxx", "src/page.js"]],
  ["**", ["all/the/files.md", "README.md"], []],
  ["*.js", ["app.js", "index.js"], ["src/app.js"]],
  ["**.js", ["index.js", "js/index.js", "src/js/app.js"], ["index.ts"]],
  ["docs/*", ["docs/README.md", "docs/file.txt"], ["docs/a/b.md", "README.md"]],
  ["docs/**", ["docs/README.md", "docs/mona/octocat.txt"], ["doc/README.md", "a/docs/b.md"]],
  ["docs/**/*.md", ["docs/README.md", "docs/mona/hello-world.md", "docs/a/markdown/file.md"], ["docs/a.txt"]],
  ["**/docs/**", ["docs/hello.md", "dir/docs/my-file.txt", "space/docs/plan/space.doc"], ["mydocs/a.md"]],
  ["**/README.md", ["README.md", "js/README.md"], ["js/MYREADME.md"]],
  ["**/*src/**", ["a/src/app.js", "my-src/code/js/app.js"], ["a/srcs/app.js"]],
  ["**/*-post.md", ["my-post.md", "path/their-post.md"], ["post.md"]],
  ["**/migrate-*.sql", ["migrate-10909.sql", "db/migrate-v1.0.sql", "db/sept/migrate-v1.sql"], ["migrate.sql"]],
  ["*.md\n!README.md", ["hello.md"], ["README.md", "docs/hello.md"]],
  ["*.md\n!README.md\nREADME*", ["hello.md", "README.md", "README.doc"], ["docs/README.md"]],
  ["[CB]at", ["Cat", "Bat"], ["cat", "CBat"]],
  ["[1-2]00", ["100", "200"], ["300"]],
  ["v[12].[0-9]+.[0-9]+", ["v1.10.1", "v2.0.0"], ["v1.10.", "v3.0.0", "v1x10x1"]],
])("%j has the meaning of on.push.paths", (patterns, matching, other) => {
  for (const path of matching) expect(matches(patterns, path), path).toBe(true);
  for (const path of other) expect(matches(patterns, path), path).toBe(false);
});

test.each<[patterns: string, path: string, expected: boolean]>([
  ["src/**\n!**/*.test.ts", "src/a/b.test.ts", false],
  ["src/**\n!**/*.test.ts", "src/a/b.ts", true],
  ["!docs/**\n**", "docs/a.md", true],
  ["  src/** \r\n\n", "src/a.ts", true],
  ["a.c", "abc", false],
  ["(a|b)", "a", false],
  ["(a|b)", "(a|b)", true],
  ["\\*.md", "*.md", true],
  ["\\*.md", "a.md", false],
  ["\\!a", "!a", true],
  ["a$^b", "a$^b", true],
  ["**/**/**/a", "a", true],
  ["**/**/a", "x/y/a", true],
  ["a**/b", "a1/2/b", true],
  ["src/***", "src/a/b", true],
  ["[a-c_.-]x", "_x", true],
  ["[a-c_.-]x", "-x", true],
  ["[a-c_.-]x", "dx", false],
  ["[_-9]x", "-x", true],
  ["[_-9]x", "5x", false],
  ["[.]x", "ax", false],
  ["[a-a][A-C]", "aB", true],
  ["\\++", "+++", true],
  ["a/*", "a/b\nc", true],
  ["a+", "aaa", true],
  ["a/\\[id\\].md", "a/[id].md", true],
  ["é?", "é", true],
])("%j and the path %j: %s", (patterns, path, expected) => {
  expect(matches(patterns, path)).toBe(expected);
});

test("returns nothing without a pattern, and the patterns as written", () => {
  expect(parsePaths(" \n\n")).toEqual({ value: undefined });
  expect(parsePaths("a\n\n !b ")).toMatchObject({ value: { patterns: ["a", "!b"] } });
});

test.each<[patterns: string, line: number, problem: string]>([
  ["a\nsrc/[b", 2, "has a bracket that is not closed"],
  ["a\n\nb\\", 3, "ends with a backslash"],
  ["?a", 1, "has nothing before ? to repeat"],
  ["a/*+", 1, "has nothing before + to repeat"],
  ["a??", 1, "has nothing before ? to repeat"],
  ["**/?", 1, "has nothing before ? to repeat"],
  ["[]", 1, "has brackets with something other than letters, digits and ranges of them"],
  ["[z-a]", 1, "has brackets with something other"],
  ["[a-Z]", 1, "has brackets with something other"],
  ["[A-z]", 1, "has brackets with something other"],
  ["[9-A]", 1, "has brackets with something other"],
  ["[a!]", 1, "has brackets with something other"],
  ["[b-az]", 1, "has brackets with something other"],
  ["[!a]", 1, "has brackets with something other"],
  ["!", 1, "is empty"],
  ["!docs/**\n!src/**", 1, "only excludes files"],
])("%j cannot be read", (patterns, line, problem) => {
  expect(parsePaths(patterns)).toEqual({ problem: expect.stringContaining(`: line ${line} ${problem}`) });
});

test.each<[patterns: string, line: number, problem: string]>([
  ["docs/**\n./src/**", 2, "begins with / or ./, as no path does"],
  ["!/src/**", 1, "begins with / or ./, as no path does"],
  ["src/", 1, "ends with /, as no file does: add **"],
  ["- src/**", 1, "begins with the dash of a list"],
  ["'src/**'", 1, "has quotation marks"],
  ["src/../docs/**", 1, "has .. in it, as no path does"],
  ["src/** # code", 1, "has a comment, which is part of the pattern here"],
  ["# code", 1, "has a comment, which is part of the pattern here"],
  ["src/**, docs/**", 1, "has a comma: write one pattern in each line"],
  ["docs\\guide\\**", 1, "has a backslash between folders: write /"],
])("%j matches no file", (patterns, line, problem) => {
  expect(parsePaths(patterns)).toEqual({ problem: `has a pattern that matches no file: line ${line} ${problem}` });
});

test("names the patterns that no path matches", () => {
  const parsed = parsePaths("docs/**\nDocs/**\n*.md\n!old/**");
  if ("problem" in parsed) throw new Error(parsed.problem);
  expect(parsed.value?.unused(["docs/a.md", "README.md"])).toEqual(["Docs/**", "!old/**"]);
  expect(parsed.value?.unused([])).toEqual(["docs/**", "Docs/**", "*.md", "!old/**"]);
});

test.each<[patterns: string, folder: string, into: string[]]>([
  ["docs/**", "docs", ["docs/**"]],
  ["docs/**", "docs/api", ["docs/**"]],
  ["docs/*.md\ndocs/api/*.md", "docs/api", ["docs/api/*.md"]],
  ["docs/**/v1/*.md\nD*/x", "docs/api", ["docs/**/v1/*.md"]],
  ["vendor/*/README.md", "vendor/lib", ["vendor/*/README.md"]],
  ["docs/**\n!docs/api/**", "docs/api", []],
  ["docs/**\n!docs/api", "docs/api", []],
  ["docs/**\n!docs/**/*.png", "docs/api", ["docs/**"]],
  ["**/*.md\n*/docs/**", "docs", []],
  ["documents/**\ndocs", "docs", []],
])("%j leads into the folder %s by %j", (patterns, folder, into) => {
  const parsed = parsePaths(patterns);
  expect("value" in parsed && parsed.value?.into(folder)).toEqual(into);
});
