import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { isThorough, rows } from "../../../../test/support/thorough.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { docsRepository, folderWithClone } from "../../support/agent-service.ts";

type Files = Readonly<Record<string, string | Buffer>>;

/** Returns a repository with files as people without a setting for line ends store them, and attributes that came later. */
function docsWith(files: Files, attributes: string): DocsRepository {
  const docs = docsRepository({ "README.md": "x\n" });
  const work = temporaryFolder();
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", work, "-c", "user.name=a", "-c", "user.email=a@b", ...args], { stdio: "pipe" });
  git("clone", "--quiet", docs.path, ".");
  for (const [name, content] of Object.entries(files)) writeFileSync(join(work, name), content);
  git("-c", "core.autocrlf=false", "add", "--all");
  writeFileSync(join(work, ".gitattributes"), attributes);
  // Alone: Git would store the others as the attributes say.
  git("add", ".gitattributes");
  git("commit", "--quiet", "--message=Pages");
  git("push", "--quiet", "origin", "HEAD:main");
  return docs;
}

/** Checks out a repository for an agent, whose files all look as if they were touched: Git compares their contents then. */
async function checkOut(docs: DocsRepository) {
  const folder = folderWithClone(docs);
  const repository = new GitRepository({ url: docs.path, folder });
  await repository.open();
  const start = await repository.findStart("agent/a", { isMerged: false, lastPushed: null });
  const place = { tree: join(folder, "place/tree"), index: join(folder, "place/index") };
  const worktree = await repository.checkOut(start, place);
  for (const name of readdirSync(place.tree)) if (name !== ".git") utimesSync(join(place.tree, name), 1000, 1000);
  const commit = (only?: { matches(path: string): boolean }) =>
    repository.commit(worktree, "Change\n", { maxBytes: 50_000_000, only });
  const changesOf = async (made: string | undefined) =>
    (await repository.changedFiles(start.head, made ?? start.head)).map(({ path }) => path);
  return { tree: place.tree, folder: dirname(place.tree), commit, changesOf };
}

const pages = (count: number, text: string): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`page-${index}.md`, `${text}${index}\r\n`]));

const utf16 = Buffer.from("\ufeffHello\n", "utf16le");
const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";

describe("an agent that does nothing changes nothing", () => {
  const all: [what: string, attributes: string, files: Files][] = [
    ["3 pages with CRLF and eol=lf", "*.md text eol=lf\n", pages(3, "a\r\n")],
    ["1,200 pages with CRLF and eol=lf", "*.md text eol=lf\n", pages(1200, "a\r\n")],
    ["pages with LF and CRLF, and eol=crlf", "*.md text eol=crlf\n", { "a.md": "a\r\nb\r\n", "b.md": "a\nb\n" }],
    ["mixed line ends and text=auto", "* text=auto\n", { "a.md": "a\r\nb\nc\r\n" }],
    ["UTF-16 that is stored as it is", "*.txt working-tree-encoding=UTF-16LE-BOM\n", { "a.txt": utf16 }],
    ["an expanded id", "*.md ident\n", { "a.md": "$Id: 0000000000000000000000000000000000000000 $\n" }],
    ["pointers of Git LFS", "*.bin filter=lfs diff=lfs merge=lfs -text\n", { "a.bin": pointer }],
    ["files without attributes", "", { "a.md": "a\r\n", "b.md": "b\n" }],
    ["12,000 pages with CRLF and text", "* text\n", pages(isThorough ? 12_000 : 0, "a\r\n")],
  ];
  test.each(rows(all, all.length - 1))("%s", async (_what, attributes, files) => {
    const { commit, folder } = await checkOut(docsWith(files, attributes));
    expect(await commit()).toMatchObject({ commit: undefined, leftOut: [] });
    // Nor is it accused of them.
    expect(await commit({ matches: (path) => path === "README.md" })).toMatchObject({
      commit: undefined,
      takenBack: [],
    });
    expect(readdirSync(folder).sort()).toEqual(["index", "tree"]);
  });
});

test("only what the agent has edited of such files is changed, and new attributes change no other", async () => {
  const { tree, commit, changesOf } = await checkOut(docsWith(pages(3, "a\r\n"), "*.md text eol=lf\n"));
  appendFileSync(join(tree, "page-1.md"), "more\r\n");
  chmodSync(join(tree, "page-2.md"), 0o755);
  appendFileSync(join(tree, ".gitattributes"), "*.txt text\n");
  const { commit: made } = await commit();
  expect(await changesOf(made)).toEqual([".gitattributes", "page-1.md", "page-2.md"]);
});
