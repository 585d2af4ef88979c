import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { prepareFolders, removeForeignFiles } from "../../../src/git/worktree-files.ts";

const tracked = [
  { path: "README.md", mode: 0o100644 },
  { path: "docs/deep/more/page.md", mode: 0o100644 },
  { path: "docs/deep/page.md", mode: 0o100644 },
  { path: "docs/script.sh", mode: 0o100755 },
  { path: "link", mode: 0o120000 },
  { path: "module", mode: 0o160000 },
  { path: "modules/other", mode: 0o160000 },
].map((entry) => ({ ...entry, id: "1".repeat(40) }));

/** Creates empty files. A name with a slash at its end is a folder. */
function create(folder: string, ...names: string[]): void {
  for (const name of names) {
    const path = join(folder, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(path, "");
  }
}

/** Creates a worktree with all tracked files. */
function createWorktree(): string {
  const tree = temporaryFolder();
  create(
    tree,
    "README.md",
    "docs/deep/more/page.md",
    "docs/deep/page.md",
    "docs/script.sh",
    "module/",
    "modules/other/",
  );
  symlinkSync("README.md", join(tree, "link"));
  return tree;
}

const list = (tree: string): string[] => readdirSync(tree, { recursive: true, encoding: "utf8" }).sort();

const clean = [
  "README.md",
  "docs",
  "docs/deep",
  "docs/deep/more",
  "docs/deep/more/page.md",
  "docs/deep/page.md",
  "docs/script.sh",
  "link",
  "modules",
];

describe("foreign files", () => {
  test("are removed everywhere, and tracked ones are kept", async () => {
    const tree = createWorktree();
    create(tree, ".git/config", "new.md", "docs/new.md", "docs/deep/more/new/page.md", "module/page.md");
    symlinkSync("README.md", join(tree, "docs/link"));
    await removeForeignFiles(tree, tracked);
    expect(list(tree)).toEqual(clean);
  });

  test.each<[string, (tree: string) => void]>([
    ["README.md", (tree) => create(tree, "README.md/page.md")],
    ["README.md", (tree) => symlinkSync("docs/script.sh", join(tree, "README.md"))],
    ["docs", (tree) => create(tree, "docs")],
    ["docs/deep", (tree) => symlinkSync(createWorktree(), join(tree, "docs/deep"))],
    ["link", (tree) => create(tree, "link")],
    ["link", (tree) => create(tree, "link/page.md")],
    ["module", (tree) => create(tree, "module")],
  ])("in place of %s are removed", async (path, replace) => {
    const tree = createWorktree();
    rmSync(join(tree, path), { recursive: true });
    replace(tree);
    await removeForeignFiles(tree, tracked);
    expect(list(tree)).toEqual(clean.filter((one) => one !== path && !one.startsWith(`${path}/`)));
  });

  test("behind a link are not touched", async () => {
    const [tree, outside] = [createWorktree(), temporaryFolder()];
    create(outside, "deep/new.md");
    chmodSync(outside, 0o755);
    rmSync(join(tree, "docs"), { recursive: true });
    symlinkSync(outside, join(tree, "docs"));
    await removeForeignFiles(tree, tracked);
    expect(existsSync(join(outside, "deep/new.md"))).toBe(true);
    expect(statSync(outside).mode & 0o777).toBe(0o755);
  });

  test("cannot be told if a name is no valid UTF-8", async () => {
    const tree = createWorktree();
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/docs/`), Buffer.from([0xff])]), "");
    await expect(removeForeignFiles(tree, tracked)).rejects.toThrow("docs/\ufffd is no valid UTF-8");
  });
});

test("folders become writable for their owner only", async () => {
  const tree = createWorktree();
  for (const folder of ["docs/deep/more", "docs/deep", "docs", "."]) chmodSync(join(tree, folder), 0o2555);
  await removeForeignFiles(tree, tracked);
  for (const folder of ["docs/deep/more", "docs/deep", "docs", "."])
    expect(statSync(join(tree, folder)).mode & 0o7777).toBe(0o700);
});

describe("what is no file", () => {
  test.each([".gitignore", "one/.gitattributes", "two/deep/.gitignore", "one/.git/HEAD"])(
    "is removed if Git would wait for it: %s",
    async (name) => {
      const folder = temporaryFolder();
      create(folder, ".gitignore-other", "one/page.md", "one/.git/refs/", "two/deep/page.md", "two/page.md");
      expect(await prepareFolders(folder)).toEqual([]);
      execFileSync("mkfifo", [join(folder, name)]);
      expect(await prepareFolders(folder)).toEqual([name]);
      expect(existsSync(join(folder, name))).toBe(false);
    },
  );

  test("is found in a folder whose name is not UTF-8", async () => {
    const folder = temporaryFolder();
    const inner = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]);
    mkdirSync(inner);
    // The path is an argument of a process, so it is built by the shell.
    execFileSync("sh", ["-c", "mkfifo \"$(printf '\\377')/.gitignore\""], { cwd: folder });
    expect(await prepareFolders(folder)).toEqual(["\xff/.gitignore"]);
  });

  test("stays where Git does not read it, and is not looked for in the agent's own repository", async () => {
    const folder = temporaryFolder();
    create(folder, "docs/page.md", ".git/");
    for (const name of ["pipe", "docs/a.gitignore", ".git/.gitignore"]) execFileSync("mkfifo", [join(folder, name)]);
    expect((await prepareFolders(folder)).sort()).toEqual(["docs/a.gitignore", "pipe"]);
    expect(existsSync(join(folder, "pipe"))).toBe(true);
  });

  test("is named some times, not any number of times", async () => {
    const folder = temporaryFolder();
    execFileSync("sh", ["-c", "for i in $(seq 60); do mkfifo $i; done"], { cwd: folder });
    expect(await prepareFolders(folder)).toHaveLength(50);
  });

  test("is not looked for any longer when the turn is stopped", async () => {
    await expect(prepareFolders(temporaryFolder(), AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  });
});
