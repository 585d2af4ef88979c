import { expect, test } from "vitest";
import {
  changesInstallScripts,
  findProtected,
  mayHaveInstallScripts,
  protectedPatterns,
} from "../../../src/pulls/protected-files.ts";

test.each([
  ".github/workflows/ci.yml",
  ".github/CODEOWNERS",
  "CODEOWNERS",
  "docs/AGENTS.md",
  "AGENTS.md",
  "claude.md",
  "site/.claude/settings.json",
  ".mcp.json",
  ".codex/config.toml",
  ".gemini/settings.json",
  ".gitmodules",
  "packages/a/.npmrc",
  ".husky/pre-commit",
  ".aider.conf.yml",
  ".GitHub/Workflows/ci.yml",
  // A link in place of the folder.
  ".github",
  ".github/workflows",
])("%s is protected", (path) => {
  expect(findProtected([path], protectedPatterns)).toEqual([path]);
});

test.each([
  "README.md",
  "docs/github/workflows/ci.md",
  "docs/agents.md.txt",
  "docs/.github/workflows/ci.yml",
  ".github/ISSUE_TEMPLATE/bug.yml",
  "codeowners.md",
  "docs",
])("%s is not protected", (path) => {
  expect(findProtected([path], protectedPatterns)).toEqual([]);
});

test.each([
  ["*.sh", "bin/a.sh", "bin/a.shx"],
  ["deploy/", "deploy/x", "deployed/x"],
  ["/deploy/prod*", "deploy/prod.yml", "x/deploy/prod.yml"],
  ["a*b*c", "aXbYc", "aXcYb"],
  ["a*a", "aa", "a"],
])("%s protects %s, and not %s", (pattern, path, other) => {
  expect(findProtected([path, other], [pattern])).toEqual([path]);
});

test("a pattern with many stars takes no time", () => {
  expect(findProtected(["a".repeat(255)], [`${"*a".repeat(60)}b`])).toEqual([]);
});

test("scripts that run when a package is installed are protected, others are not", () => {
  expect(
    ["package.json", "site/Package.json", "composer.json", "x-package.json"].filter(mayHaveInstallScripts),
  ).toEqual(["package.json", "site/Package.json", "composer.json"]);
  const of = (scripts: object) => JSON.stringify({ name: "x", scripts });
  expect(changesInstallScripts(of({ test: "a" }), of({ test: "b" }))).toBe(false);
  expect(changesInstallScripts(undefined, of({ test: "b" }))).toBe(false);
  expect(changesInstallScripts(of({}), of({ postinstall: "b" }))).toBe(true);
  expect(changesInstallScripts(of({ prepare: "a" }), of({ prepare: "b" }))).toBe(true);
  expect(changesInstallScripts(of({ prepare: "a" }), undefined)).toBe(false);
  const [one, other] = [
    { prepare: "a", postinstall: "b" },
    { postinstall: "b", prepare: "a" },
  ];
  expect(changesInstallScripts(of(one), of(other))).toBe(false);
  expect(changesInstallScripts(of({}), "{")).toBe(true);
  expect(changesInstallScripts(of({}), '{"scripts":1}')).toBe(true);
});
