import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readPromptFile } from "../../../../src/action/inputs/prompt-file.ts";
import { plain } from "../../../../src/runner-kit/text.ts";

let folder: string;
let workspace: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prompt-file-"));
  workspace = join(folder, "workspace");
  mkdirSync(join(workspace, "docs"), { recursive: true });
  writeFileSync(join(folder, "secret.txt"), "secret");
  mkdirSync(join(folder, "workspace-2"));
  writeFileSync(join(folder, "workspace-2", "secret.txt"), "secret");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function problem(path: string): string {
  const result = readPromptFile(path, workspace);
  return "problem" in result ? plain(result.problem) : `read: ${result.text}`;
}

test("reads the text unchanged", () => {
  writeFileSync(join(workspace, "docs/prompt.md"), "  Add\r\n😀 \n");
  expect(readPromptFile("docs/prompt.md", workspace)).toEqual({ text: "  Add\r\n😀 \n" });
  expect(readPromptFile(join(workspace, "docs/prompt.md"), workspace)).toEqual({ text: "  Add\r\n😀 \n" });
});

test("removes a byte order mark", () => {
  writeFileSync(join(workspace, "bom.md"), "\ufeffAdd");
  expect(readPromptFile("bom.md", workspace)).toEqual({ text: "Add" });
});

test("reads a file of 3 MB", () => {
  const text = "é".repeat(1_500_000);
  writeFileSync(join(workspace, "large.md"), text);
  expect(readPromptFile("large.md", workspace)).toEqual({ text });
});

test("accepts a name that begins with two dots", () => {
  writeFileSync(join(workspace, "..prompt.md"), "Add");
  expect(readPromptFile("..prompt.md", workspace)).toEqual({ text: "Add" });
});

test("follows a symbolic link within the workspace", () => {
  writeFileSync(join(workspace, "real.md"), "Add");
  symlinkSync("../real.md", join(workspace, "docs/link.md"));
  expect(readPromptFile("docs/link.md", workspace)).toEqual({ text: "Add" });
});

test("rejects a prompt file outside the workspace", () => {
  symlinkSync(join(folder, "secret.txt"), join(workspace, "link.txt"));
  symlinkSync(folder, join(workspace, "up"));
  for (const path of [
    "../secret.txt",
    join(folder, "secret.txt"),
    "link.txt",
    "up/secret.txt",
    "../workspace-2/secret.txt",
    "..",
    "docs/../../secret.txt",
  ]) {
    expect(problem(path)).toContain("must be in the workspace");
  }
});

test("rejects a prompt file in .git, which may contain a token", () => {
  mkdirSync(join(workspace, ".git"));
  writeFileSync(join(workspace, ".git/config"), "token");
  symlinkSync(".git/config", join(workspace, "link.md"));
  for (const path of [".git/config", "link.md"]) expect(problem(path)).toContain("must not be in .git");
});

test.each([".GIT", ".Git"])("rejects a prompt file in %s, which is .git on a disk that ignores case", (name) => {
  mkdirSync(join(workspace, name));
  writeFileSync(join(workspace, name, "config"), "token");
  expect(problem(`${name}/config`)).toContain("must not be in .git");
});

test("rejects a missing file, a folder, an empty file and a binary file", () => {
  writeFileSync(join(workspace, "empty.md"), " \n");
  writeFileSync(join(workspace, "binary"), Buffer.from([0xff, 0xfe, 0x00]));
  symlinkSync("loop.md", join(workspace, "loop.md"));
  expect(problem("loop.md")).toBe("cannot be read: loop.md (ELOOP)");
  expect(problem("missing.md")).toMatch(/does not exist.*checked out/);
  expect(problem("docs")).toContain("must be a file");
  expect(problem("empty.md")).toContain("contains no text");
  expect(problem("binary")).toContain("must be UTF-8");
});
