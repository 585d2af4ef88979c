import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { actionMetadata, root } from "../support/metadata.ts";
import { temporaryFolder } from "../support/step.ts";

/** Returns the paths that an archive of the repository leaves out; in a repository of its own, since the sources may be in none. */
function leftOut(paths: readonly string[]): string[] {
  const cwd = temporaryFolder();
  execFileSync("git", ["init", "--quiet"], { cwd });
  copyFileSync(resolve(root, ".gitattributes"), join(cwd, ".gitattributes"));
  const lines = execFileSync("git", ["check-attr", "export-ignore", "--", ...paths], { cwd, encoding: "utf8" });
  return lines.match(/^.+(?=: export-ignore: set$)/gm) ?? [];
}

test("the archive that a runner downloads has what the action runs", () => {
  const run = [actionMetadata().runs.main, "service/dist/index.js"];
  const folders = run.map((file) => file.replace(/\/[^/]+$/, ""));
  expect(leftOut(["action.yml", "service", "README.md", "LICENSE", ...run, ...folders])).toEqual([]);
});

test("it has no sources, tests, docs or tools", () => {
  const others = ["src", "test", "docs", "examples", "tools", "bench", ".github", "package-lock.json"];
  const ofService = ["src", "step", "test", "docs", "bench", "deploy"].map((folder) => `service/${folder}`);
  expect(leftOut([...others, ...ofService])).toEqual([...others, ...ofService]);
});
