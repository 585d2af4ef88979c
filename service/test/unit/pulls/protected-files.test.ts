import { describe, expect, test } from "vitest";
import {
  changesPrograms,
  findInstructions,
  findProtected,
  mayNamePrograms,
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
  ".githooks/pre-push",
  "docusaurus.config.ts",
  "site/astro.config.mjs",
  "mkdocs.yml",
  "docs/conf.py",
  "docs/Makefile",
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

test.each([
  ...[".env", "site/.env.production", ".github/hooks/a.json", ".github/copilot/x", ".github/skills/a/SKILL.md"],
  ...[".github/agents/a.agent.md", ".github/prompts/a.prompt.md", ".github/mcp.json", ".github/lsp.json"],
  ...[".github/agents/a.md", ".github/prompts/a.prompt.md"],
])("%s instructs or configures agents", (path) => {
  expect(findInstructions([path, "docs/env.md"])).toEqual([path]);
});

describe("of a package.json", () => {
  const of = (content: object) => JSON.stringify({ name: "x", ...content });

  test("scripts and dependencies are protected, in any folder", () => {
    expect(["package.json", "site/Package.json", "composer.json", "x-package.json"].filter(mayNamePrograms)).toEqual([
      "package.json",
      "site/Package.json",
      "composer.json",
    ]);
  });

  test.each<[object, object]>([
    [{ scripts: { build: "a" } }, { scripts: { build: "b" } }],
    [{}, { scripts: { postinstall: "b" } }],
    [{}, { devDependencies: { evil: "https://example.com/evil.tgz" } }],
    [{ dependencies: { a: "1.0.0" } }, { dependencies: { a: "file:../a" } }],
    [{ optionalDependencies: { a: "1" } }, {}],
    [{}, { overrides: { a: "2" } }],
    [{}, { resolutions: { a: "2" } }],
    [{}, { require: { "a/b": "1" } }],
    [{}, { scripts: 1 }],
  ])("%j is another program than %j", (before, after) => {
    expect(changesPrograms(of(before), of(after))).toBe(true);
  });

  test.each<[object | undefined, object]>([
    [{ version: "1" }, { version: "2" }],
    [undefined, { version: "1", scripts: {} }],
    [{ scripts: { a: "1", b: "2" } }, { scripts: { b: "2", a: "1" } }],
    [
      { dependencies: { a: "1" }, scripts: { a: "1" } },
      { scripts: { a: "1" }, dependencies: { a: "1" } },
    ],
  ])("%j has the programs of %j", (before, after) => {
    expect(changesPrograms(before && of(before), of(after))).toBe(false);
  });

  test("what cannot be read is protected, and what is deleted is not", () => {
    for (const text of ["{", "[]", "null"]) expect(changesPrograms(of({}), text)).toBe(true);
    expect(changesPrograms(of({ scripts: { a: "1" } }), undefined)).toBe(false);
  });
});
