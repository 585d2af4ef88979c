import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { Git } from "../../../src/git/git.ts";
import { inferBase } from "../../../src/git/infer-base.ts";

/** Creates a repository with one commit for each version of its page, and returns them. */
function versions(...pages: string[]) {
  const cwd = temporaryFolder();
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
      cwd,
      encoding: "utf8",
    }).trim();
  git("init", "--quiet");
  writeFileSync(join(cwd, "other.md"), "other\n");
  const commits = pages.map((page) => {
    writeFileSync(join(cwd, "page.md"), page);
    git("add", ".");
    git("commit", "--quiet", "--message", page);
    return git("rev-parse", "HEAD");
  });
  return { git: new Git({ cwd }), commits };
}

test("files as an earlier commit has them were taken back on purpose, unless that is where another branch is", async () => {
  const { git, commits } = versions("old", "by turn 1", "old");
  const [main = "", head = "", made = ""] = commits;
  expect(await inferBase(git, head, made, new Set())).toBeUndefined();
  expect(await inferBase(git, head, made, new Set([main]))).toBe(main);
});
