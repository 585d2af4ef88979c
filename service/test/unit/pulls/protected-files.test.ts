import { describe, expect, test } from "vitest";
import {
  addsCode,
  changesPrograms,
  findInstructions,
  findProtected,
  isHarmless,
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
  // One of each kind: CI, agents, generators, builds, deployments, dependencies of each ecosystem.
  ...[".buildkite/pipeline.yml", "cloudbuild.yaml", ".windsurf/rules.md", ".junie/guidelines.md"],
  ...["docs/.vitepress/theme/index.ts", "_config.yml", "site/_plugins/a.rb", "sidebars.ts", "gatsby-node.mjs"],
  ...["vite.config.mts", "hugo.yaml", "book.toml", ".readthedocs.yaml", "mkdocs.yaml", "tsconfig.build.json"],
  ...["tools/x.mk", "justfile", "noxfile.py", "setup.py", "build.gradle.kts", "BUILD.bazel", ".eslintrc.json"],
  ...["netlify.toml", "vercel.json", "wrangler.jsonc", "_redirects", "CNAME", "Dockerfile", "web.Dockerfile"],
  ...["docker-compose.prod.yml", "compose.yaml", "package-lock.json", "yarn.lock", "bun.lockb", "pnpm-workspace.yaml"],
  ...["requirements-docs.txt", "pyproject.toml", "uv.lock", "Gemfile", "Gemfile.lock", "a.gemspec", "go.mod", "go.sum"],
  ...["Cargo.toml", "Cargo.lock", "pom.xml", "App.csproj", "composer.lock", "mix.exs", "Package.swift", "flake.nix"],
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
  // Pages about what is protected, and pictures.
  ...["docs/hugo.md", "docs/vercel.md", "docs/app.config.md", "docs/workspace/index.md", "docs/sidebars.md"],
  ...["docs/requirements.md", "docs/lock.md", "img/logo.png", "docs/index.mdx"],
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
  ["import A from './a'\n", true],
  ["# A\n\nexport const a = 1\n", true],
  ["It costs {price()} euros.\n", true],
  ["<Tabs items={['a']} />\n", true],
  ["Write `{name}`.\n", true],
  ['<a title="\n```\n" /> {run()} <b title="\n```\n" />\n', true],
  ["<a title='>\n```\n' /> {run()}\n```\n", true],
  ["``` `x`\n{run()}\n```\n", true],
  ["---\na\n---\n\n---\n{run()}\n---\n", true],
  ["# A\n\nText with **words** and <b>tags</b>.\n", false],
  ["---\ntitle: '{a}'\n---\n\nText.\n", false],
  ["Text.\n\n```js title='a'\nimport a from 'a';\nrun({ a });\n```\n\n~~~\n{}\n~~~\n", false],
  ["import is a word.\n".replace("import", "An import"), false],
])("whether the page %j has code is %s", (page, hasCode) => {
  expect(addsCode("a.mdx", undefined, page)).toBe(hasCode);
  expect(addsCode("a.mdx", page, page)).toBe(false);
  expect(addsCode("a.mdx", "# B\n", page)).toBe(hasCode);
  expect(addsCode("a.mdx", page, undefined)).toBe(false);
});

test.each([
  ["docs/a.md", true],
  ["docs/a.MDX", true],
  ["a.rst", true],
  ["a.adoc", true],
  ["img/a.png", true],
  ["img/a.svg", false],
  ["a.html", false],
  ["src/a.ts", false],
  ["Makefile", false],
])("whether %s is a text or a picture is %s", (path, is) => {
  expect(isHarmless(path)).toBe(is);
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
    [{}, { bin: "x.js" }],
    [{ main: "a.js" }, { main: "b.js" }],
    [{}, { exports: { ".": "./x.js" } }],
    [{}, { packageManager: "npm@1" }],
    [{}, { publishConfig: { registry: "https://example.com" } }],
    [{}, { "lint-staged": { "*": "x" } }],
  ])("%j is another program than %j", (before, after) => {
    expect(changesPrograms(of(before), of(after))).toBe(true);
  });

  test.each<[object | undefined, object]>([
    [{ version: "1" }, { version: "2" }],
    [
      { description: "a", keywords: ["a"] },
      { license: "MIT", author: "a" },
    ],
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
