import { execFileSync } from "node:child_process";
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

test.each([
  [".GIT", "on a disk that ignores case"],
  [".Git", "on a disk that ignores case"],
  ["GIT~1", "on Windows, as its short name"],
  ["git~12", "on Windows, as its short name"],
  [".git.", "on Windows, which ignores dots at the end"],
])("rejects a prompt file in %s, which is .git %s", (name) => {
  mkdirSync(join(workspace, name));
  writeFileSync(join(workspace, name, "config"), "token");
  expect(problem(`${name}/config`)).toContain("must not be in .git");
});

// Disks of Windows may have short names turned off; then there is nothing to reject.
test.runIf(process.platform === "win32")("rejects a prompt file whose path has a short name of .git", () => {
  mkdirSync(join(workspace, ".git"));
  writeFileSync(join(workspace, ".git/config"), "token");
  const listing = execFileSync("cmd", ["/c", "dir", "/a", "/x", workspace], { encoding: "utf8" });
  const [, short = ".git"] = /(\S+~\S+)\s+\.git\s*$/m.exec(listing) ?? [];
  expect(problem(`${short}/config`)).toContain("must not be in .git");
});

test("accepts names that only begin like .git", () => {
  for (const name of [".github", ".gitignore", "git", "git~x"]) {
    mkdirSync(join(workspace, name));
    writeFileSync(join(workspace, name, "prompt.md"), "Add");
    expect(readPromptFile(`${name}/prompt.md`, workspace)).toEqual({ text: "Add" });
  }
});

test.each([
  ["UTF-16 without a byte order mark", Buffer.from("Add a page", "utf16le")],
  ["UTF-16 with one", Buffer.from("\ufeffAdd a page", "utf16le")],
  ["a NUL", Buffer.from("Add\0")],
])("rejects %s, and says how to write UTF-8", (_name, content) => {
  writeFileSync(join(workspace, "prompt.md"), content);
  expect(problem("prompt.md")).toBe(
    "must be UTF-8 text, but prompt.md is not. In PowerShell, write it with Out-File -Encoding utf8",
  );
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
