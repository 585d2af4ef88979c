import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";
import { temporaryFolder } from "../support/step.ts";

const changelog = `# Changelog

## [Unreleased]

- Later

## [1.10.0] - 2026-02-01

### Added

- This

## [1.1.0] - 2026-01-01

- Before
`;

/** Runs the script as the release workflow does, in a folder with a package.json and a changelog. */
function releaseNotes(tag: string, version: string, text = changelog) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), JSON.stringify({ version }));
  writeFileSync(join(folder, "CHANGELOG.md"), text);
  const script = resolve(root, ".github/scripts/release-notes.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, tag], { cwd: folder, encoding: "utf8" });
  return { status, stdout, stderr };
}

test("the notes are the entries below the heading of the version", () => {
  expect(releaseNotes("v1.10.0", "1.10.0")).toEqual({ status: 0, stdout: "### Added\n\n- This\n", stderr: "" });
  expect(releaseNotes("v1.1.0", "1.1.0").stdout).toBe("- Before\n");
});

test("another version in package.json is an error", () => {
  const { status, stdout, stderr } = releaseNotes("v1.10.0", "1.9.0");
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("package.json has version 1.9.0");
});

test.each(["", "## [2.0.0]\n\n- Undated\n", "## [Unreleased]\n\n- 2.0.0\n"])("no dated heading: %j", (text) => {
  const { status, stdout, stderr } = releaseNotes("v2.0.0", "2.0.0", text);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain('no heading "## [2.0.0] - YYYY-MM-DD"');
});

test("the changelog begins with the unreleased entries", () => {
  expect(readFileSync(resolve(root, "CHANGELOG.md"), "utf8").match(/^## .*$/m)?.[0]).toBe("## [Unreleased]");
});
