import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { hasOwnCommits } from "../../../src/git/agent-repository.ts";
import type { Worktree } from "../../../src/git/commit-worktree.ts";
import type { StartOptions } from "../../../src/git/find-start.ts";
import { Git, GitError } from "../../../src/git/git.ts";
import { GitRepository, type RepositoryOptions } from "../../../src/git/git-repository.ts";
import { docsRepository, folderWithClone, sharedClone } from "../../support/agent-service.ts";

async function open(options: Partial<RepositoryOptions> & { docs?: DocsRepository; targets?: string[] } = {}) {
  const { docs = docsRepository(), targets, folder = folderWithClone(docs), ...others } = options;
  const repository = new GitRepository({ url: docs.path, folder, ...others });
  await repository.open(targets);
  let count = 0;
  const findStart = (branch: string, options: Partial<StartOptions> = {}) =>
    repository.findStart(branch, { isMerged: false, lastPushed: null, ...options });
  const checkOut = async (branch: string) => {
    const start = await findStart(branch);
    const place = join(folder, `place-${++count}`);
    const worktree = await repository.checkOut(start, { tree: join(place, "tree"), index: join(place, "index") });
    return { ...start, ...worktree };
  };
  const commit = async (worktree: Worktree, message = "Change\n") =>
    (await repository.commit(worktree, message, { maxBytes: 1_000_000 })).commit;
  /** Commits a file on a job's branch and pushes it. Returns the commit. */
  const change = async (job: string, file: string, text: string): Promise<string> => {
    const checkout = await checkOut(`agent/${job}`);
    writeFileSync(join(checkout.tree, file), text);
    const made = (await commit(checkout, `Write ${file}\n\nText.\n`)) ?? "";
    await repository.keep(made, job);
    await repository.push(made, checkout.branch, checkout.remoteHead);
    return made;
  };
  return { docs, folder, repository, findStart, checkOut, commit, change };
}

const gitIn =
  (folder: string) =>
  (...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();

describe("a checkout", () => {
  test("starts at the target branch, with the repository as its origin", async () => {
    const { docs, checkOut, repository, folder } = await open();
    const head = docs.head("main");
    const checkout = await checkOut("agent/a");
    expect(checkout).toEqual({
      tree: join(folder, "place-1/tree"),
      index: join(folder, "place-1/index"),
      identity: expect.any(String),
      notes: [],
      branch: "agent/a",
      head,
      targetBranch: "main",
      base: head,
      remoteHead: undefined,
      isContinued: false,
    });
    const git = (...args: string[]) => execFileSync("git", ["-C", checkout.tree, ...args], { encoding: "utf8" }).trim();
    expect(git("remote", "get-url", "origin")).toBe(docs.path);
    expect(git("branch", "--show-current")).toBe("agent/a");
    expect(git("status", "--porcelain")).toBe("");
    expect(repository.objects).toBe(join(folder, "mirror.git/objects"));
  });

  test("continues at the head of the job's branch, unless it is merged", async () => {
    const { docs, checkOut, findStart, change } = await open();
    const base = docs.head("main");
    const head = await change("a", "a.md", "a");
    docs.setHead("other", docs.head("main"));
    const continued = { head, base, remoteHead: head, isContinued: true };
    expect(await checkOut("agent/a")).toMatchObject(continued);
    const isMerged = await findStart("agent/a", { isMerged: true, lastPushed: head });
    expect(isMerged).toMatchObject({ head: base, base, remoteHead: head, isContinued: false });
    expect(await change("b", "b.md", "b")).not.toBe(head);
    docs.merge("agent/b");
    const main = docs.head("main");
    expect(await checkOut("agent/a")).toMatchObject(continued);
    expect(await checkOut("agent/b")).toMatchObject({ head: main, base: main, isContinued: false });
  });

  test("continues what the job has pushed on top of the commit that was merged", async () => {
    const { docs, findStart, change } = await open();
    const mergedHead = await change("a", "a.md", "a");
    const tree = `${await change("b", "b.md", "b")}^{tree}`;
    docs.squash("agent/a");
    const lastPushed = docs.git("commit-tree", tree, "-p", "agent/a", "-m", "More");
    docs.setHead("agent/a", lastPushed);
    const start = (head?: string) => findStart("agent/a", { isMerged: true, lastPushed, mergedHead: head });
    expect(await start(mergedHead)).toMatchObject({ head: lastPushed, isContinued: true });
    // A person merged it with another history of the branch.
    for (const other of [lastPushed, docs.head("main"), "e".repeat(40), undefined])
      expect(await start(other)).toMatchObject({ head: docs.head("main"), isContinued: false });
    docs.deleteBranch("agent/a");
    docs.git("gc", "--quiet", "--prune=now");
    const late = await open({ docs });
    const gone = await late.findStart("agent/a", { isMerged: true, lastPushed: "e".repeat(40), mergedHead });
    expect(gone).toMatchObject({ isContinued: false, isLost: true });
  });

  test("continues what others pushed after a merge", async () => {
    const { docs, findStart, change } = await open();
    const merged = await change("a", "a.md", "a");
    docs.squash("agent/a");
    const added = await change("b", "b.md", "b");
    docs.setHead("agent/a", added);
    const start = await findStart("agent/a", { isMerged: true, lastPushed: merged });
    expect(start).toMatchObject({
      head: added,
      isContinued: true,
      notes: [expect.stringContaining("Someone rewrote")],
    });
  });

  test("of another machine gets the job's last commit if its branch was deleted, or says that it cannot", async () => {
    const { docs, change } = await open();
    const lastPushed = await change("a", "a.md", "a");
    docs.git("branch", "--delete", "--force", "agent/a");
    const machine = await open({ docs });
    expect(await machine.findStart("agent/a", { lastPushed })).toMatchObject({
      head: lastPushed,
      remoteHead: undefined,
      isContinued: true,
    });
    docs.git("gc", "--quiet", "--prune=now");
    const main = docs.head("main");
    const late = await open({ docs });
    expect(await late.findStart("agent/a", { lastPushed })).toMatchObject({
      head: main,
      isContinued: false,
      notes: [
        `agent/a was deleted, and neither this machine nor the repository has ${lastPushed}, the job's last commit. The turn starts over from main.`,
      ],
    });
    expect((await late.findStart("agent/a", { lastPushed, isMerged: true })).notes).toEqual([]);
    expect((await late.findStart("agent/b")).notes).toEqual([]);
  });

  test("uses the target branch that it is given", async () => {
    const docs = docsRepository();
    docs.setHead("next", docs.head("main"));
    const { findStart } = await open({ docs, targets: ["next"] });
    expect((await findStart("agent/a", { targetBranch: "next" })).targetBranch).toBe("next");
    expect((await findStart("agent/b")).targetBranch).toBe("main");
    docs.deleteBranch("next");
    await expect(findStart("agent/b", { targetBranch: "next" })).rejects.toThrow("the branch next has no commit");
  });
});

describe("the agent's clone", () => {
  test("has the branches that were asked for, wherever the repository is, and no job's but its own", async () => {
    const docs = docsRepository();
    docs.setHead("next", docs.head("main"));
    const path = join(temporaryFolder(), 'a "b" \\c.git');
    cpSync(docs.path, path, { recursive: true });
    const { checkOut, change, repository } = await open({ url: path });
    await change("b", "b.md", "b");
    await repository.fetch(["next"]);
    const git = gitIn((await checkOut("agent/a")).tree);
    expect(git("remote", "get-url", "origin")).toBe(path);
    expect(git("for-each-ref", "--format=%(refname):%(symref)", "refs/remotes").split("\n")).toEqual([
      "refs/remotes/origin/HEAD:refs/remotes/origin/main",
      "refs/remotes/origin/main:",
      "refs/remotes/origin/next:",
    ]);
    expect(git("rev-parse", "origin/next")).toBe(docs.head("main"));
    expect(git("config", "--bool", "core.bare")).toBe("false");
  });

  const person = ["-c", "user.name=a", "-c", "user.email=a@b"];
  const shared = sharedClone();
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open(shared);
  });
  const commitEmpty = ["commit", "--quiet", "--allow-empty", "--message=Own"];
  test.each<[string, boolean, (tree: string) => void]>([
    ["nothing", false, () => {}],
    ["a change that is not committed", false, (tree) => writeFileSync(join(tree, "new.md"), "new")],
    ["a commit", true, (tree) => gitIn(tree)(...person, ...commitEmpty)],
    ["a commit on another branch", true, (tree) => gitIn(tree)("checkout", "--quiet", "-b", "other")],
    ["a HEAD of the same length", true, (tree) => gitIn(tree)("symbolic-ref", "HEAD", "refs/heads/agent/b")],
    ["no branch", true, (tree) => rmSync(join(tree, ".git/refs/heads"), { recursive: true })],
    ["no repository", true, (tree) => rmSync(join(tree, ".git"), { recursive: true })],
    [
      "a named pipe in place of HEAD",
      true,
      (tree) => {
        rmSync(join(tree, ".git/HEAD"));
        execFileSync("mkfifo", [join(tree, ".git/HEAD")]);
      },
    ],
  ])("with %s has own commits: %s", async (_name, expected, work) => {
    const checkout = await opened.checkOut("agent/a");
    work(checkout.tree);
    expect(await hasOwnCommits(checkout.tree, checkout)).toBe(expected);
  });
});

describe("opening a repository", () => {
  test("names what is wrong with its branches", async () => {
    await expect(open({ targets: ["main", "missing"] })).rejects.toThrow(
      "the branch missing does not exist, or has no commit yet: choose another one with --base",
    );
    const docs = docsRepository();
    docs.setHead("agent", docs.head("main"));
    await expect(open({ docs })).rejects.toThrow("the repository has a branch named agent");
    docs.deleteBranch("agent");
    docs.git("update-ref", "refs/heads/agent/x", "main");
    docs.git("symbolic-ref", "HEAD", "refs/heads/agent/x");
    await expect(open({ docs })).rejects.toThrow("HEAD of the repository is agent/x, the branch of a job");
  });
});

describe("a commit", () => {
  const shared = sharedClone();
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open(shared);
  });

  test("contains all files in the worktree, whatever the agent did with Git", async () => {
    const { checkOut, commit, repository } = opened;
    const checkout = await checkOut("agent/a");
    const tree = checkout.tree;
    writeFileSync(join(tree, "new.md"), "new");
    rmSync(join(tree, "README.md"));
    rmSync(join(tree, ".git"), { recursive: true });
    const made = (await commit(checkout, "Fix\n\nTrailer: x\n")) ?? "";
    expect(await repository.commits(checkout.head, made)).toEqual([
      { commit: made, parent: checkout.head, message: "Fix\n\nTrailer: x\n" },
    ]);
    const diff = await repository.diff(checkout.head, made, 10_000);
    for (const line of ["deleted file mode", "+++ b/new.md", "+new"]) expect(diff).toContain(line);
    expect(await repository.diff(checkout.head, made, 10)).toBe(diff.slice(0, 10));
  });

  test("is not made without a change, and leaves no file behind", async () => {
    const { checkOut, commit, repository } = opened;
    const checkout = await checkOut("agent/a");
    expect(await commit(checkout)).toBeUndefined();
    expect(await repository.commit(checkout, "Change\n", { maxBytes: 0 })).toMatchObject({
      commit: undefined,
      leftOut: [],
    });
    expect(readdirSync(dirname(checkout.index)).sort()).toEqual(["index", "tree"]);
  });

  test.each<[string, (tree: string) => void, string]>([
    ["a file that is the last one", (tree) => writeFileSync(join(tree, "zzz.md"), "new"), "A\tzzz.md"],
    ["a removed file that was the last one", (tree) => rmSync(join(tree, "docs/guide.md")), "D\tdocs/guide.md"],
    ["the mode of a file", (tree) => chmodSync(join(tree, "README.md"), 0o755), "M\tREADME.md"],
    ["the content of a file", (tree) => writeFileSync(join(tree, "README.md"), "new"), "M\tREADME.md"],
    [
      "the name of a file",
      (tree) => renameSync(join(tree, "README.md"), join(tree, "READYOU.md")),
      "D\tREADME.md\nA\tREADYOU.md",
    ],
    [
      "a file as a link",
      (tree) => {
        rmSync(join(tree, "README.md"));
        symlinkSync("docs/guide.md", join(tree, "README.md"));
      },
      "T\tREADME.md",
    ],
  ])("is made of %s alone", async (_name, change, expected) => {
    const { checkOut, commit, folder } = opened;
    const checkout = await checkOut("agent/a");
    change(checkout.tree);
    const made = (await commit(checkout)) ?? "";
    expect(gitIn(join(folder, "mirror.git"))("diff-tree", "-r", "--name-status", "--no-renames", "main", made)).toBe(
      expected,
    );
    expect(readdirSync(dirname(checkout.index)).sort()).toEqual(["index", "tree"]);
  });

  test("takes few Git processes, most of all if nothing was changed", async () => {
    const { checkOut, commit } = opened;
    const checkout = await checkOut("agent/a");
    const run = vi.spyOn(Git.prototype, "run");
    onTestFinished(() => run.mockRestore());
    const commandsOf = async () => {
      run.mockClear();
      await commit(checkout);
      return run.mock.calls.map(([[command]]) => command);
    };
    expect(await commandsOf()).toEqual(["ls-files"]);
    writeFileSync(join(checkout.tree, "new.md"), "new");
    expect(await commandsOf()).toEqual(["ls-files", "update-index", "write-tree", "commit-tree"]);
  });

  test("has changed files since another commit, which are listed once", async () => {
    const { checkOut, commit, repository } = opened;
    const checkout = await checkOut("agent/a");
    writeFileSync(join(checkout.tree, "one.md"), "one");
    const one = (await commit(checkout)) ?? "";
    writeFileSync(join(checkout.tree, "two.md"), "two");
    const two = (await commit(checkout)) ?? "";
    const run = vi.spyOn(Git.prototype, "run");
    onTestFinished(() => run.mockRestore());
    const pathsSince = async (base: string) => (await repository.changedFiles(base, two)).map(({ path }) => path);
    for (let round = 0; round < 2; round++) {
      expect(await pathsSince(checkout.head)).toEqual(["one.md", "two.md"]);
      expect(await pathsSince(one)).toEqual(["two.md"]);
    }
    expect(run).toHaveBeenCalledTimes(4);
  });

  test("is not made of other line ends alone", async () => {
    const docs = docsRepository({ "README.md": "one\ntwo\n", "zzz.md": "z\n", ".gitattributes": "* text=auto\n" });
    const { checkOut, repository } = await open({ docs });
    const checkout = await checkOut("agent/a");
    writeFileSync(join(checkout.tree, "README.md"), "one\r\ntwo\r\n");
    expect(await repository.commit(checkout, "Change\n", { maxBytes: 1_000_000 })).toMatchObject({
      commit: undefined,
      leftOut: [],
    });
  });

  test("may have exactly as many bytes as are allowed, and the error tells more by rounded megabytes", async () => {
    const docs = docsRepository({ "one.md": "", "two.md": "" });
    const { checkOut, repository } = await open({ docs });
    const checkout = await checkOut("agent/a");
    writeFileSync(join(checkout.tree, "one.md"), "x".repeat(1_034_567));
    writeFileSync(join(checkout.tree, "two.md"), "x".repeat(234_567));
    await expect(repository.commit(checkout, "Change\n", { maxBytes: 1_269_133 })).rejects.toThrow(
      "the change has 1.3 MB, more than the 1.3 MB of --largest-change-mb; the largest file is one.md with 1 MB",
    );
    expect((await repository.commit(checkout, "Change\n", { maxBytes: 1_269_134 })).commit).toMatch(/^[0-9a-f]{40}$/);
  });

  test("is not kept waiting by a pipe in the agent's own clone, which Git does not read", async () => {
    const { checkOut, commit } = opened;
    const checkout = await checkOut("agent/a");
    execFileSync("mkfifo", [join(checkout.tree, ".git/.gitignore")]);
    expect(await commit(checkout)).toBeUndefined();
  });

  test.each([
    ["stars", `${"*a".repeat(24)}b\n`, `${"a".repeat(200)}c`],
    ["folders of any depth", `${"/**/a".repeat(14)}/b\n`, `${"a/".repeat(60)}c`],
  ])(
    "ends with its signal while Git matches a pattern with many %s, and can be made later",
    async (_name, pattern, file) => {
      const { checkOut, repository } = opened;
      const checkout = await checkOut("agent/a");
      writeFileSync(join(checkout.tree, ".gitignore"), pattern);
      mkdirSync(dirname(join(checkout.tree, file)), { recursive: true });
      writeFileSync(join(checkout.tree, file), "new");
      const commit = (signal?: AbortSignal) => repository.commit(checkout, "Change\n", { maxBytes: 1_000_000, signal });
      const stop = new AbortController();
      const { run } = Git.prototype;
      const watched = vi.spyOn(Git.prototype, "run").mockImplementation(function (this: Git, args, options) {
        if (args[0] === "ls-files") setTimeout(() => stop.abort(), 200);
        return run.call(this, args, options);
      });
      onTestFinished(() => watched.mockRestore());
      await expect(commit(stop.signal)).rejects.toThrow("git ls-files was stopped");
      rmSync(join(checkout.tree, ".gitignore"));
      expect((await commit()).commit).toMatch(/^[0-9a-f]{40}$/);
    },
  );

  test("can be made after Git was killed while it wrote the index", async () => {
    const { checkOut, commit } = opened;
    const checkout = await checkOut("agent/a");
    const run = vi.spyOn(Git.prototype, "run").mockImplementationOnce(async () => {
      writeFileSync(`${checkout.index}-commit.lock`, "");
      throw new Error("killed");
    });
    onTestFinished(() => run.mockRestore());
    writeFileSync(join(checkout.tree, "new.md"), "new");
    await expect(commit(checkout)).rejects.toThrow("killed");
    expect(await commit(checkout)).toMatch(/^[0-9a-f]{40}$/);
  });

  test("counts files whose names are not UTF-8, and leaves submodules with such names alone", async () => {
    const { checkOut, repository } = opened;
    const checkout = await checkOut("agent/a");
    const folder = Buffer.concat([Buffer.from(`${checkout.tree}/`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(folder);
    writeFileSync(Buffer.concat([folder, Buffer.from("/large")]), "x".repeat(2000));
    const commit = (maxBytes: number) => repository.commit(checkout, "Change\n", { maxBytes });
    await expect(commit(1999)).rejects.toThrow("\ufffd\ufffd/, because it has 0 MB");
    expect((await commit(2000)).commit).toMatch(/^[0-9a-f]{40}$/);
  });

  test("may change as many files as are allowed, deleted ones included", async () => {
    const docs = docsRepository({ "a.md": "a", "b.md": "b", "c.md": "c" });
    const { checkOut, repository } = await open({ docs });
    const checkout = await checkOut("agent/a");
    for (const name of ["a.md", "b.md"]) writeFileSync(join(checkout.tree, name), "new");
    rmSync(join(checkout.tree, "c.md"));
    const commit = (maxFiles: number) => repository.commit(checkout, "Change\n", { maxBytes: 1000, maxFiles });
    await expect(commit(2)).rejects.toThrow(
      "the change has 3 files of the repository, more than the 2 that --largest-change-mb allows, such as",
    );
    expect((await commit(3)).commit).toMatch(/^[0-9a-f]{40}$/);
  });

  test("may add 1000 files, or 50 for each MB that it may have", async () => {
    const { checkOut, repository } = opened;
    const checkout = await checkOut("agent/a");
    for (let index = 0; index < 1001; index++) writeFileSync(join(checkout.tree, `${index}.md`), "");
    const commit = (maxBytes: number) => repository.commit(checkout, "Change\n", { maxBytes });
    for (const maxBytes of [1, 20_000_000])
      await expect(commit(maxBytes)).rejects.toThrow(
        /cannot be published: \*, because it has 1,001 files .* --largest-change-mb allows 1,000 files/,
      );
    expect((await commit(20_020_000)).commit).toMatch(/^[0-9a-f]{40}$/);
  });

  test("is not made with an index that the service cannot read", async () => {
    const { checkOut, commit } = opened;
    const checkout = await checkOut("agent/a");
    const index = readFileSync(checkout.index);
    for (const [text, at] of [
      ["JUNK", 0],
      ["\0\0\0\u0004", 4],
      ["\0\0\0\u0001", 4],
    ] as const) {
      const other = Buffer.from(index);
      other.write(text, at);
      writeFileSync(checkout.index, other);
      await expect(commit(checkout)).rejects.toThrow("is no index of a known version");
    }
  });

  test("cannot be made without the index, and the error says so", async () => {
    const { checkOut, commit } = opened;
    const checkout = await checkOut("agent/a");
    rmSync(checkout.index);
    await expect(commit(checkout)).rejects.toThrow("copyfile");
  });

  test("is not made of another directory", async () => {
    const { checkOut, commit, folder } = opened;
    const [moved, linked, removed] = [await checkOut("agent/a"), await checkOut("agent/b"), await checkOut("agent/c")];
    renameSync(moved.tree, join(folder, "moved"));
    mkdirSync(moved.tree);
    renameSync(linked.tree, join(folder, "linked"));
    symlinkSync(join(folder, "linked"), linked.tree);
    rmSync(removed.tree, { recursive: true });
    for (const checkout of [moved, linked, removed, { ...moved, identity: undefined }])
      await expect(commit(checkout)).rejects.toThrow("the agent removed or replaced its worktree");
  });

  test("has a link that replaces a folder as a link, without what is behind it", async () => {
    const docs = docsRepository({ "docs/guide.md": "guide", "other/page.md": "page" });
    const { checkOut, commit, repository } = await open({ docs });
    const checkout = await checkOut("agent/a");
    rmSync(join(checkout.tree, "docs"), { recursive: true });
    symlinkSync("other", join(checkout.tree, "docs"));
    const made = (await commit(checkout)) ?? "";
    await repository.keep(made, "a");
    await repository.push(made, "agent/a", undefined);
    expect(docs.git("diff-tree", "-r", "--name-status", "main", made).split("\n")).toEqual([
      "A\tdocs",
      "D\tdocs/guide.md",
    ]);
    expect(docs.read(made, "docs")).toBe("other");
  });

  test("is not made of a directory that a link in its path leads to", async () => {
    const { checkOut, commit } = opened;
    const checkout = await checkOut("agent/a");
    const outside = temporaryFolder();
    mkdirSync(join(outside, "tree"));
    writeFileSync(join(outside, "tree/secret.md"), "secret");
    const parent = dirname(checkout.tree);
    cpSync(checkout.index, join(outside, "index"));
    renameSync(parent, `${parent}.moved`);
    symlinkSync(outside, parent);
    await expect(commit(checkout)).rejects.toThrow("the agent removed or replaced its worktree");
  });

  test("has a file that was changed at once to one of the same size and times", async () => {
    const { checkOut, commit, repository } = opened;
    const checkout = await checkOut("agent/a");
    const file = join(checkout.tree, "README.md");
    const { atime, mtime, size } = statSync(file);
    writeFileSync(file, "x".repeat(size));
    utimesSync(file, atime, mtime);
    // Git's times have seconds, so it could only tell by the time of the index.
    const second = () => Math.floor(Date.now() / 1000);
    for (const start = second(); second() === start; ) await new Promise((resolve) => setTimeout(resolve, 20));
    const made = (await commit(checkout)) ?? "";
    expect(await repository.diff(checkout.head, made, 1000)).toContain("+xxxx");
  });

  test.each([".gitignore", "docs/.gitattributes"])(
    "is made without the pipe %s, for which Git would wait",
    async (pipe) => {
      const { checkOut, repository } = opened;
      const checkout = await checkOut("agent/a");
      execFileSync("mkfifo", [join(checkout.tree, pipe)]);
      writeFileSync(join(checkout.tree, "new.md"), "new");
      expect(await repository.commit(checkout, "Change\n", { maxBytes: 1000 })).toMatchObject({
        commit: expect.any(String),
        leftOut: [{ path: pipe, why: "it is no file" }],
      });
    },
  );

  test("is not made of a nested repository, but keeps submodules", async () => {
    const docs = docsRepository();
    const entries = [
      "160000 commit 1111111111111111111111111111111111111111\tsub",
      "160000 commit 2222222222222222222222222222222222222222\tgone",
    ];
    const listed = docs.git("ls-tree", "main");
    const tree = execFileSync("git", ["-C", docs.path, "mktree", "--missing"], {
      input: `${[listed, ...entries].join("\n")}\n`,
      encoding: "utf8",
    }).trim();
    docs.setHead("main", docs.git("commit-tree", tree, "-p", "main", "-m", "Submodules"));
    const { checkOut, commit } = await open({ docs });
    const checkout = await checkOut("agent/a");
    rmSync(join(checkout.tree, "gone"), { recursive: true });
    writeFileSync(join(checkout.tree, "new.md"), "new");
    const made = (await commit(checkout)) ?? "";
    const git = (...args: string[]) => execFileSync("git", ["-C", checkout.tree, ...args], { encoding: "utf8" }).trim();
    expect(git("diff-tree", "--name-status", "-r", checkout.head, made)).toBe("D\tgone\nA\tnew.md");
  });

  const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
  /** What an agent left, what of it is published besides `new.md`, and what is left out. */
  test.each<[what: string, write: (tree: string) => void, published: string[], leftOut: [path: string, why: RegExp][]]>(
    [
      [
        "a nested repository without a commit as its files",
        (tree) => {
          execFileSync("git", ["init", "--quiet", join(tree, "docs/inner")]);
          writeFileSync(join(tree, "docs/inner/a.md"), "a");
        },
        ["A\tdocs/inner/a.md"],
        [],
      ],
      [
        "a nested repository with a commit, and one in it, as their files",
        (tree) => {
          for (const folder of ["docs/inner", "docs/inner/deep"]) {
            const path = join(tree, folder);
            execFileSync("git", ["init", "--quiet", path]);
            writeFileSync(join(path, "a.md"), "a");
            execFileSync("git", ["-C", path, "add", "a.md"]);
            execFileSync("git", ["-C", path, ...author, "commit", "--quiet", "-m", "x"]);
          }
        },
        ["A\tdocs/inner/a.md", "A\tdocs/inner/deep/a.md"],
        [],
      ],
      [
        "no nested repository with a remote",
        (tree) => {
          execFileSync("git", ["init", "--quiet", join(tree, "docs/inner")]);
          execFileSync("git", ["-C", join(tree, "docs/inner"), "remote", "add", "origin", "https://example.com/x"]);
          writeFileSync(join(tree, "docs/inner/a.md"), "a");
        },
        [],
        [["docs/inner/", /Git repository of its own/]],
      ],
      [
        "no name that Git keeps for itself",
        (tree) => {
          mkdirSync(join(tree, "docs/.GIT"), { recursive: true });
          writeFileSync(join(tree, "docs/.GIT/config"), "");
        },
        [],
        [["docs/.GIT/config", /keeps this name for itself/]],
      ],
      ...["UTF-16", "UTF-16LE", "nonsense"].map(
        (encoding): [string, (tree: string) => void, string[], [string, RegExp][]] => [
          `no file that is not ${encoding}`,
          (tree) => {
            writeFileSync(join(tree, ".gitattributes"), `*.txt working-tree-encoding=${encoding}\n`);
            writeFileSync(join(tree, "a.txt"), encoding === "UTF-16LE" ? "\ufeffa" : "a", "utf16le");
          },
          ["A\t.gitattributes"],
          [["a.txt", /working-tree-encoding/]],
        ],
      ),
      [
        "no names that Windows does not have",
        (tree) => {
          for (const name of ["aux.md", "a:b.md", "COM1", "end.", "end ", "console.md"])
            writeFileSync(join(tree, "docs", name), "x");
        },
        ["A\tdocs/console.md"],
        ["aux.md", "a:b.md", "COM1", "end.", "end "].map((name): [string, RegExp] => [`docs/${name}`, /Windows/]),
      ],
      [
        "no names that differ only in case, of files or of their folders",
        (tree) => {
          writeFileSync(join(tree, "readme.md"), "x");
          mkdirSync(join(tree, "Docs"));
          writeFileSync(join(tree, "Docs/other.md"), "x");
          writeFileSync(join(tree, "docs/Other.md"), "x");
          writeFileSync(join(tree, "docs/fine.md"), "x");
        },
        ["A\tdocs/Other.md", "A\tdocs/fine.md"],
        [
          ["Docs/other.md", /only in case/],
          ["readme.md", /only in case/],
        ],
      ],
      [
        "no links out of the repository or into .git, and none in place of what it had",
        (tree) => {
          symlinkSync("../.git/config", join(tree, "docs/one"));
          symlinkSync("/proc/self/environ", join(tree, "docs/two"));
          symlinkSync("../../..", join(tree, "docs/three"));
          symlinkSync("guide.md", join(tree, "docs/good"));
          symlinkSync("missing/../guide.md", join(tree, "docs/fine"));
          rmSync(join(tree, "README.md"));
          symlinkSync("/etc/passwd", join(tree, "README.md"));
        },
        ["A\tdocs/fine", "A\tdocs/good"],
        [
          ["README.md", /link out of/],
          ["docs/one", /link into \.git/],
          ["docs/three", /link out of/],
          ["docs/two", /link out of/],
        ],
      ],
      [
        "no folder of installed packages, and no large file",
        (tree) => {
          mkdirSync(join(tree, "docs/node_modules/deep"), { recursive: true });
          for (let index = 0; index < 1500; index++)
            writeFileSync(join(tree, `docs/node_modules/deep/${index}.js`), "x");
          writeFileSync(join(tree, "large.bin"), "x".repeat(2_000_000));
        },
        [],
        [
          ["large.bin", /2 MB, and --largest-change-mb allows/],
          ["docs/node_modules/", /1,500 files with/],
        ],
      ],
    ],
  )("has %s", async (_what, write, published, leftOut) => {
    const { docs, checkOut, repository } = await open();
    const checkout = await checkOut("agent/a");
    for (let index = 0; index < 5; index++) writeFileSync(join(checkout.tree, `new-${index}.md`), "new");
    write(checkout.tree);
    const found = await repository.commit(checkout, "Change\n", { maxBytes: 1_000_000 });
    expect(found.leftOut).toHaveLength(leftOut.length);
    for (const [path, why] of leftOut) expect(found.leftOut).toContainEqual({ path, why: expect.stringMatching(why) });
    await repository.keep(found.commit ?? "", "a");
    await repository.push(found.commit, "agent/a", undefined);
    const changes = docs.git("diff-tree", "-r", "--name-status", "--no-renames", "main", "agent/a").split("\n");
    expect(changes.filter((line) => !line.includes("new-")).sort()).toEqual([...published].sort());
  });

  const move = (tree: string, from: string, to: string): void => {
    mkdirSync(dirname(join(tree, to)), { recursive: true });
    renameSync(join(tree, from), join(tree, to));
  };
  const halfOf = (...paths: string[]): string => `the deletion of ${paths.join(", ")}`;
  /** What an agent did besides an edit of `zzz.md`, what of it is published, and what is left out. */
  test.each<[what: string, act: (tree: string) => void, published: string[], leftOut: string[]]>([
    [
      "a file that is renamed in case",
      (tree) => move(tree, "readme.md", "README.md"),
      ["A\tREADME.md", "D\treadme.md"],
      [],
    ],
    [
      "a folder that is renamed in case, with an edit",
      (tree) => {
        move(tree, "docs/Guide", "docs/guide");
        writeFileSync(join(tree, "docs/guide/a.md"), "other");
      },
      ["A\tdocs/guide/a.md", "D\tdocs/Guide/a.md"],
      [],
    ],
    [
      "a rename in case with an edit, but no other deletion, if a page is left out",
      (tree) => {
        move(tree, "readme.md", "README.md");
        writeFileSync(join(tree, "README.md"), "other");
        move(tree, "docs/Guide/a.md", "docs/a?.md");
      },
      ["A\tREADME.md", "D\treadme.md"],
      ["docs/a?.md", halfOf("docs/Guide/a.md")],
    ],
    [
      "no half of a folder above the limits",
      (tree) => move(tree, "images", "static/images"),
      [],
      ["static/", halfOf("images/1.png", "images/2.png")],
    ],
    [
      "what is moved as a whole, if another page is left out",
      (tree) => {
        move(tree, "docs/Guide/a.md", "new/b.md");
        move(tree, "faq.md", "What is X?.md");
      },
      ["A\tnew/b.md", "D\tdocs/Guide/a.md"],
      ["What is X?.md", halfOf("faq.md")],
    ],
    [
      "what is moved over another page, if a page is left out",
      (tree) => {
        move(tree, "docs/Guide/a.md", "readme.md");
        move(tree, "faq.md", "What is X?.md");
      },
      ["D\tdocs/Guide/a.md", "M\treadme.md"],
      ["What is X?.md", halfOf("faq.md")],
    ],
    [
      "a folder in place of a page, if another page is left out",
      (tree) => {
        rmSync(join(tree, "readme.md"));
        mkdirSync(join(tree, "readme.md"));
        writeFileSync(join(tree, "readme.md/index.md"), "new");
        move(tree, "faq.md", "What is X?.md");
      },
      ["A\treadme.md/index.md", "D\treadme.md"],
      ["What is X?.md", halfOf("faq.md")],
    ],
    [
      "a deletion beside packages that are left out",
      (tree) => {
        for (const name of ["a", "b"]) {
          mkdirSync(join(tree, `node_modules/${name}`), { recursive: true });
          writeFileSync(join(tree, `node_modules/${name}/faq.md`), name.repeat(600_000));
        }
        rmSync(join(tree, "faq.md"));
      },
      ["D\tfaq.md"],
      ["node_modules/"],
    ],
    ["no half of a page that is ignored now", (tree) => move(tree, "faq.md", "release/faq.md"), [], [halfOf("faq.md")]],
    [
      "no half of one in a folder of tools",
      (tree) => move(tree, "faq.md", "docs/build/faq.md"),
      [],
      [halfOf("faq.md")],
    ],
    [
      "a deletion beside a file of the same name that was built",
      (tree) => {
        move(tree, "faq.md", "docs/build/faq.md");
        writeFileSync(join(tree, "docs/build/faq.md"), "built");
      },
      ["D\tfaq.md"],
      [],
    ],
  ])("has %s", async (_what, act, published, leftOut) => {
    const pages = { "readme.md": "readme", "faq.md": "faq", "docs/Guide/a.md": "guide", "zzz.md": "z" };
    const images = { "images/1.png": "1".repeat(600_000), "images/2.png": "2".repeat(600_000) };
    const { checkOut, repository, folder } = await open({
      docs: docsRepository({ ...pages, ...images, ".gitignore": "/release/\nbuild/\n" }),
    });
    const checkout = await checkOut("agent/a");
    writeFileSync(join(checkout.tree, "zzz.md"), "edited");
    act(checkout.tree);
    const found = await repository.commit(checkout, "Change\n", { maxBytes: 1_000_000 });
    expect(found.leftOut.map(({ path }) => path)).toEqual(leftOut);
    const diff = ["diff-tree", "-r", "--name-status", "--no-renames", "main", found.commit ?? ""];
    const changes = gitIn(join(folder, "mirror.git"))(...diff).split("\n");
    expect(changes.sort()).toEqual([...published, "M\tzzz.md"].sort());
  });

  test("counts a file that is moved once, and names what a refused move leaves", async () => {
    const pages = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`old/${index}.md`, `${index}`]));
    const { checkOut, repository } = await open({ docs: docsRepository({ ...pages, "zzz.md": "z" }) });
    const checkout = await checkOut("agent/a");
    renameSync(join(checkout.tree, "old"), join(checkout.tree, "new"));
    const commit = (maxFiles: number) => repository.commit(checkout, "Change\n", { maxBytes: 1000, maxFiles });
    await expect(commit(5)).rejects.toThrow("the change has 6 files of the repository, more than the 5");
    const { commit: made = "", leftOut } = await commit(6);
    expect(leftOut).toEqual([]);
    expect(await repository.changedFiles(checkout.head, made)).toHaveLength(12);
    rmSync(join(checkout.tree, "zzz.md"));
    writeFileSync(join(checkout.tree, "a?.md"), "x");
    await expect(repository.commit(checkout, "Change\n", { maxBytes: 3 })).rejects.toThrow(
      /most of the change cannot be published: .*the deletion of .*zzz\.md, because what may have replaced it is not published/,
    );
  });

  test("that is kept for the next agent has names that are not published, and may be little of the change", async () => {
    const { checkOut, repository } = await open({ docs: docsRepository({ "faq.md": "faq", "zzz.md": "z" }) });
    const checkout = await checkOut("agent/a");
    renameSync(join(checkout.tree, "faq.md"), join(checkout.tree, "What is X?.md"));
    const commit = (isUnfinished: boolean) => repository.commit(checkout, "Change\n", { maxBytes: 1000, isUnfinished });
    await expect(commit(false)).rejects.toThrow("What is X?.md, because Windows has no such names");
    const files = await repository.changedFiles(checkout.head, (await commit(true)).commit ?? "");
    expect(files.map(({ path }) => path)).toEqual(["What is X?.md", "faq.md"]);
    for (const name of ["one", "two"]) symlinkSync(`/etc/${name}`, join(checkout.tree, `${name}.link`));
    for (const name of ["one", "two", "three"]) symlinkSync(`/etc/${name}`, join(checkout.tree, `${name}.md`));
    expect((await commit(true)).commit).toMatch(/^[0-9a-f]{40}$/);
  });

  test("is not made of less than half of what the agent wrote, because of names or links", async () => {
    const { checkOut, commit } = await open();
    const checkout = await checkOut("agent/a");
    writeFileSync(join(checkout.tree, "new.md"), "new");
    for (const name of ["aux.md", "nul.md"]) writeFileSync(join(checkout.tree, name), "x");
    await expect(commit(checkout)).rejects.toThrow("most of the change cannot be published: aux.md, because");
  });

  test("is made of a page beside more repositories, links and images that cannot be published", async () => {
    const { docs, checkOut, repository } = await open();
    const checkout = await checkOut("agent/a");
    writeFileSync(join(checkout.tree, "new.md"), "new");
    for (const name of ["one", "two"]) {
      docs.git("clone", "--quiet", docs.path, join(checkout.tree, name));
      symlinkSync(`/etc/${name}`, join(checkout.tree, `${name}.link`));
      writeFileSync(join(checkout.tree, `${name}:1.png`), "PNG\0");
    }
    const { commit, leftOut } = await repository.commit(checkout, "Change\n", { maxBytes: 1000 });
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
    expect(leftOut).toHaveLength(6);
  });

  test("tells of many deleted files and of modes, first", async () => {
    const pages = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`page-${index}.md`, "x"]));
    const { checkOut, repository } = await open({ docs: docsRepository({ ...pages, "a.sh": "x", "b.md": "x" }) });
    const checkout = await checkOut("agent/a");
    for (const name of Object.keys(pages)) rmSync(join(checkout.tree, name));
    chmodSync(join(checkout.tree, "a.sh"), 0o755);
    const told: unknown[] = [];
    const message = ({ notes }: { notes?: unknown }): string => {
      told.push(notes);
      return "Change\n";
    };
    await repository.commit(checkout, message, { maxBytes: 1000 });
    expect(told).toEqual([["13 files, 12 deleted.", "The mode of 1 file changed."]]);
  });

  test("tells of many lines that are gone, and of line ends, also of names that Git quotes", async () => {
    const text = (lines: number, end = "\n") => `line of text${end}`.repeat(lines);
    const names = ["long.md", 'a "quoted" é\tname.md', "few.md", "unix.md"];
    const docs = docsRepository(Object.fromEntries(names.map((name) => [name, text(1300)])));
    const { checkOut, repository } = await open({ docs });
    const checkout = await checkOut("agent/a");
    const contents = [text(100), `more\n${text(1300, "\r\n")}`, text(1299), text(1300)];
    for (const [index, name] of names.entries()) writeFileSync(join(checkout.tree, name), contents[index] ?? "");
    writeFileSync(join(checkout.tree, "windows.md"), text(1, "\r\n"));
    const { notes } = await repository.commit(checkout, "Change\n", { maxBytes: 1_000_000 });
    expect(notes).toEqual(["4 files, 1,199 lines fewer.", "The line ends of 1 file changed."]);
  });

  test("takes names as they are where the repository has such names already", async () => {
    const docs = docsRepository({ "a:b.md": "x", "Page.md": "x", "page.md": "x" });
    const { checkOut, repository } = await open({ docs });
    const checkout = await checkOut("agent/a");
    for (const name of ["c:d.md", "PAGE.md"]) writeFileSync(join(checkout.tree, name), "x");
    expect((await repository.commit(checkout, "Change\n", { maxBytes: 1000 })).leftOut).toEqual([]);
  });

  test("is made if only a submodule was removed", async () => {
    const docs = docsRepository();
    const tree = execFileSync("git", ["-C", docs.path, "mktree", "--missing"], {
      input: `${docs.git("ls-tree", "main")}\n160000 commit ${"1".repeat(40)}\tgone\n`,
      encoding: "utf8",
    }).trim();
    docs.setHead("main", docs.git("commit-tree", tree, "-p", "main", "-m", "x"));
    const { checkOut, commit, repository } = await open({ docs });
    const checkout = await checkOut("agent/a");
    rmSync(join(checkout.tree, "gone"), { recursive: true });
    await repository.keep((await commit(checkout)) ?? "", "a");
    await repository.push((await commit(checkout)) ?? "", "agent/a", undefined);
    expect(docs.git("diff-tree", "-r", "--name-status", "main", "agent/a")).toBe("D\tgone");
  });

  test("names the submodules whose files it leaves out, whose pointers stay", async () => {
    const docs = docsRepository();
    const names = ["empty", "files", "linked", "moved"];
    const entries = names.map((name) => `160000 commit ${"1".repeat(40)}\t${name}`);
    const tree = execFileSync("git", ["-C", docs.path, "mktree", "--missing"], {
      input: `${[docs.git("ls-tree", "main"), ...entries].join("\n")}\n`,
      encoding: "utf8",
    }).trim();
    const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    docs.setHead("main", docs.git("commit-tree", tree, "-p", "main", "-m", "x"));
    const { checkOut, repository } = await open({ docs });
    const checkout = await checkOut("agent/a");
    writeFileSync(join(checkout.tree, "files/page.md"), "new");
    rmSync(join(checkout.tree, "linked"), { recursive: true });
    symlinkSync("docs", join(checkout.tree, "linked"));
    const moved = join(checkout.tree, "moved");
    execFileSync("git", ["init", "--quiet", moved]);
    execFileSync("git", ["-C", moved, ...author, "commit", "--quiet", "--allow-empty", "-m", "x"]);
    writeFileSync(join(checkout.tree, "new.md"), "new");
    const { commit = "", leftOut } = await repository.commit(checkout, "Change\n", { maxBytes: 1_000_000 });
    expect(leftOut.map(({ path }) => path)).toEqual(["files", "linked", "moved"]);
    await repository.keep(commit, "a");
    await repository.push(commit, "agent/a", undefined);
    expect(docs.git("diff-tree", "-r", "--name-status", "main", commit)).toBe("A\tnew.md");
  });
});

describe("a push", () => {
  test("records the commit, moves the branch, and shows it in the clone", async () => {
    const { docs, repository, change } = await open();
    const head = docs.head("main");
    expect(await repository.lastCommitOf("a")).toBeUndefined();
    const commit = await change("a", "a.md", "a");
    expect(docs.head("agent/a")).toBe(commit);
    expect(await repository.branchHead("agent/a")).toBe(commit);
    expect(await repository.lastCommitOf("a")).toEqual({
      commit,
      parent: head,
      message: expect.stringMatching(/^Write a.md\n\nText.\n+$/),
    });
  });

  test("is rejected if the branch has moved", async () => {
    const { docs, repository, change } = await open();
    const head = docs.head("main");
    const [one, two] = [await change("a", "a.md", "a"), await change("b", "b.md", "b")];
    await expect(repository.push(two, "agent/a", head)).rejects.toThrow("git push exited with 1");
    await expect(repository.push(two, "agent/a", undefined)).rejects.toThrow("git push exited with 1");
    expect(docs.head("agent/a")).toBe(one);
    await repository.keep(two, "b");
    await repository.push(two, "agent/a", one);
    expect(docs.head("agent/a")).toBe(two);
  });

  test("that deletes a branch deletes it in the clone, too", async () => {
    const { docs, repository, folder } = await open();
    const head = docs.head("main");
    docs.setHead("agent/a", head);
    await repository.fetch(["agent/a"]);
    await repository.push(undefined, "agent/a", head);
    expect(await repository.branchHead("agent/a")).toBeUndefined();
    expect(existsSync(join(folder, "mirror.git/refs/heads/agent/a"))).toBe(false);
  });

  test("writes with the given umask", async () => {
    const { docs, change } = await open({ umask: 0o077 });
    await change("a", "a.md", "a");
    const mode = (path: string) =>
      execFileSync("stat", ["-c", "%a", join(docs.path, path)], { encoding: "utf8" }).trim();
    expect(mode("refs/heads/agent/a")).toBe("600");
    expect(readFileSync(join(docs.path, "refs/heads/agent/a"), "utf8")).toMatch(/^[0-9a-f]{40}\n$/);
  });
});

describe("what is merged", () => {
  test("is found by merge and squash, but not without a change", async () => {
    const { docs, repository, change, checkOut } = await open();
    const [merged, squashed, open_] = [
      await change("a", "a.md", "a"),
      await change("b", "b.md", "b"),
      await change("c", "c.md", "c"),
    ];
    docs.merge("agent/a");
    docs.squash("agent/b");
    await repository.fetch(["main"]);
    expect(await repository.isMerged(merged, "main")).toBe(true);
    expect(await repository.isMerged(open_, "main")).toBe(false);
    const missing = "1".repeat(40);
    const main = docs.head("main");
    expect(await repository.findMerged([merged, open_, missing], main)).toEqual(
      new Map<string, boolean | Error>([
        [missing, new Error(`the commit ${missing} is missing in the clone`)],
        [merged, true],
        [open_, false],
      ]),
    );
    expect((await checkOut("agent/c")).isContinued).toBe(true);
    expect(await repository.isMerged(squashed, "main")).toBe(true);
  });

  test("does not include a commit whose changes were undone", async () => {
    const { repository, change, checkOut, commit } = await open();
    await change("a", "a.md", "a");
    const checkout = await checkOut("agent/a");
    rmSync(join(checkout.tree, "a.md"));
    const undone = (await commit(checkout)) ?? "";
    expect(await repository.isMerged(undone, "main")).toBe(false);
  });
});

describe("a rebase", () => {
  test("moves a commit onto another descendant of its parent", async () => {
    const { docs, repository, change } = await open();
    const head = docs.head("main");
    const [one, two, same] = [
      await change("a", "a.md", "a"),
      await change("b", "b.md", "b"),
      await change("c", "a.md", "a"),
    ];
    const rebased = (await repository.rebase(one, head, two)) ?? "";
    const [{ message } = { message: "" }] = await repository.commits(head, one);
    expect(message).toMatch(/^Write a.md\n\nText.\n+$/);
    expect(await repository.commits(two, rebased)).toEqual([{ commit: rebased, parent: two, message }]);
    expect(await repository.diff(two, rebased, 1000)).toContain("+++ b/a.md");
    expect(await repository.rebase(one, head, same)).toBe(same);
    const conflict = await change("d", "a.md", "other");
    expect(await repository.rebase(one, head, conflict)).toBeUndefined();
    expect(await repository.rebase(rebased, two, one)).toBe(one);
  });

  test("moves a commit onto a copy of its parent, and without the change of that onto a rewritten one", async () => {
    const { docs, repository, change } = await open();
    const head = docs.head("main");
    const [parent, own, rewritten] = [
      await change("a", "a.md", "a"),
      await change("b", "b.md", "b"),
      await change("c", "a.md", "other"),
    ];
    const commit = (await repository.rebase(own, head, parent)) ?? "";
    const copy = await repository.copy(parent);
    const moved = (await repository.rebase(commit, parent, copy)) ?? "";
    expect((await repository.commits(copy, moved)).map((one) => one.commit)).toEqual([moved]);
    expect(await repository.diff(copy, moved, 1000)).toBe(await repository.diff(parent, commit, 1000));
    const replayed = (await repository.rebase(commit, parent, rewritten)) ?? "";
    expect((await repository.commits(rewritten, replayed)).map((one) => one.commit)).toEqual([replayed]);
    expect((await repository.changedFiles(rewritten, replayed)).map(({ path }) => path)).toEqual(["b.md"]);
    expect(await repository.rebase(parent, head, rewritten)).toBeUndefined();
  });
});

test("returns the newest commits, oldest first, with the subjects of their messages", async () => {
  const { docs, repository } = await open();
  const [base, tree] = [docs.head("main"), docs.git("rev-parse", "main^{tree}")];
  const commits: string[] = [];
  for (const message of ["One", "Two\nlines\n\nText.", "Three"]) {
    const parent = commits.at(-1) ?? base;
    commits.push(docs.git("commit-tree", tree, "-p", parent, "-m", message));
  }
  docs.git("update-ref", "refs/heads/agent/a", commits[2] ?? "");
  await repository.fetch(["agent/a"]);
  expect(await repository.latestCommits(base, "agent/a", 2)).toEqual([
    { commit: commits[1], subject: "Two lines" },
    { commit: commits[2], subject: "Three" },
  ]);
  expect(await repository.latestCommits(base, "agent/a", 9)).toHaveLength(3);
  expect(await repository.latestCommits("agent/a", "agent/a", 9)).toEqual([]);
});

/** Runs something, and returns the commands of Git that it ran. */
async function commandsOf(run: () => Promise<unknown>): Promise<(string | undefined)[]> {
  const git = vi.spyOn(Git.prototype, "run");
  await run();
  const commands = git.mock.calls.map(([[command]]) => command);
  git.mockRestore();
  return commands;
}

async function openToFetch() {
  const { docs, repository, folder } = await open();
  /** Adds a commit to a branch, or creates it. Returns the commit. */
  const add = (branch: string): string => {
    const commit = docs.git("commit-tree", "main^{tree}", "-p", "main", "-m", `For ${branch}`);
    docs.setHead(branch, commit);
    return commit;
  };
  return { docs, repository, folder, add };
}

describe("a fetch", () => {
  const job = "agent/job_00000000-0000-0000-0000-000000000001";
  const [withoutList, withList] = [["fetch"], ["fetch", "ls-remote", "fetch"]];
  const refsOf = (folder: string) =>
    execFileSync("git", ["for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"], {
      cwd: join(folder, "mirror.git"),
      encoding: "utf8",
    });

  test("asks for the branches that are named and the default branch, and the clone has no others", async () => {
    const { docs, repository, folder, add } = await openToFetch();
    for (const branch of ["other", "agent/job_00000000-0000-0000-0000-000000000002"])
      docs.setHead(branch, docs.head("main"));
    docs.git("tag", "v1", "main");
    const [main, own] = [add("main"), add(job)];
    const elsewhere = join(folder, "elsewhere");
    writeFileSync(elsewhere, "");
    rmSync(join(folder, "mirror.git/FETCH_HEAD"));
    symlinkSync(elsewhere, join(folder, "mirror.git/FETCH_HEAD"));
    expect(await commandsOf(() => repository.fetch([job]))).toEqual(withoutList);
    expect(readFileSync(elsewhere, "utf8")).toBe("");
    expect([await repository.branchHead("main"), await repository.branchHead(job)]).toEqual([main, own]);
    expect(await repository.branchHead("other")).toBeUndefined();
    expect(refsOf(folder)).not.toMatch(/other|2$|v1/m);
  });

  test("finds out that a job has no branch, or no longer, without an error or a list", async () => {
    const { docs, repository, folder } = await openToFetch();
    expect(await commandsOf(() => repository.fetch([job]))).toEqual(withoutList);
    expect(await repository.branchHead(job)).toBeUndefined();
    docs.setHead(job, docs.head("main"));
    await repository.fetch([job]);
    expect(await repository.branchHead(job)).toBe(docs.head("main"));
    docs.deleteBranch(job);
    expect(await commandsOf(() => repository.fetch([job]))).toEqual(withoutList);
    expect(await repository.branchHead(job)).toBeUndefined();
    expect(refsOf(folder)).toBe("refs/heads/main\n");
  });

  test("lists the branches if another one is missing, or another branch is the default", async () => {
    const { docs, repository, add } = await openToFetch();
    const missing = () => repository.fetch(["missing", job]);
    expect(await commandsOf(missing)).toEqual(["fetch", "for-each-ref", "ls-remote", "fetch"]);
    expect(await repository.branchHead("missing")).toBeUndefined();
    docs.setHead("next", docs.head("main"));
    docs.git("symbolic-ref", "HEAD", "refs/heads/next");
    const next = add("next");
    expect(await commandsOf(() => repository.fetch([]))).toEqual(withList);
    expect([await repository.targetBranch(), await repository.branchHead("next")]).toEqual(["next", next]);
    docs.git("branch", "-m", "next", "now");
    expect(await commandsOf(() => repository.fetch([]))).toContain("ls-remote");
    expect([await repository.targetBranch(), await repository.branchHead("next")]).toEqual(["now", undefined]);
    expect(await commandsOf(() => repository.fetch([]))).toEqual(withoutList);
  });

  test("gets a branch whose name a deleted one was in the way of", async () => {
    const { docs, repository } = await openToFetch();
    docs.setHead("release", docs.head("main"));
    await repository.fetch(["release"]);
    docs.deleteBranch("release");
    docs.setHead("release/1", docs.head("main"));
    await repository.fetch(["release/1"]);
    expect(await repository.branchHead("release/1")).toBe(docs.head("main"));
  });

  test.each(["*", "agent/", "agent/*", "main:refs/heads/x", "a\n+refs/heads/*:refs/heads/*", ""])(
    "takes %j for no branch",
    async (name) => {
      const { docs, repository, folder } = await openToFetch();
      docs.setHead(job, docs.head("main"));
      expect(await repository.hasBranch(name)).toBe(false);
      expect(refsOf(folder)).toBe("refs/heads/main\n");
    },
  );

  test("knows the branches after it failed for some", async () => {
    const { repository, folder, add } = await openToFetch();
    const [other, locked] = [add("other"), add("locked")];
    const lock = join(folder, "mirror.git/refs/heads/locked.lock");
    writeFileSync(lock, "");
    await expect(repository.fetch(["other", "locked"])).rejects.toThrow("git fetch exited with 1");
    expect(await repository.branchHead("other")).toBe(other);
    rmSync(lock);
    await repository.fetch(["other", "locked"]);
    expect(await repository.branchHead("locked")).toBe(locked);
  });
});

test("a list has all branches, and the clone forgets those that are gone", async () => {
  const { docs, repository, folder } = await open();
  docs.setHead("new", docs.head("main"));
  await repository.fetch(["new"]);
  docs.setHead("other", docs.head("main"));
  docs.deleteBranch("new");
  expect(await commandsOf(() => repository.list())).toEqual(["ls-remote", "update-ref"]);
  expect([...(await repository.branchHeads()).keys()].sort()).toEqual(["main", "other"]);
  expect(existsSync(join(folder, "mirror.git/refs/heads/new"))).toBe(false);
  await repository.fetch(["other"]);
  docs.deleteBranch("other");
  await open({ docs, folder });
  expect(existsSync(join(folder, "mirror.git/refs/heads/other"))).toBe(false);
});

test("goes on after an update of refs that failed", async () => {
  const { docs, repository } = await open();
  const path = `${docs.path}-moved`;
  renameSync(docs.path, path);
  await expect(repository.fetch(["main"])).rejects.toThrow("git fetch exited with 128");
  await expect(repository.list()).rejects.toThrow("git ls-remote exited with 128");
  renameSync(path, docs.path);
  await repository.fetch(["main"]);
});

test("says what to do if its clone is damaged, and is opened with a new one", async () => {
  const { docs, repository, folder } = await open();
  docs.setHead("agent/a", docs.head("main"));
  await repository.fetch(["agent/a"]);
  docs.git(
    "branch",
    "-f",
    "agent/a",
    docs.git("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "main^{tree}", "-m", "Other"),
  );
  const clone = join(folder, "mirror.git");
  for (const object of globSync("objects/??/*", { cwd: clone })) {
    chmodSync(join(clone, object), 0o600);
    writeFileSync(join(clone, object), "");
  }
  const reopen = () => new GitRepository({ url: docs.path, folder }).open();
  await expect(reopen()).rejects.toMatchObject({
    message: expect.stringContaining(`Move ${clone} away`),
    cause: expect.any(GitError),
  });
  renameSync(clone, `${clone}.damaged`);
  await reopen();
});

test("packed work whose start cannot be fetched now is not taken for a damaged one", async () => {
  const { folder } = await open();
  const repository = new GitRepository({ url: "http://127.0.0.1:9/docs.git", folder });
  const text = `tree ${"b".repeat(40)}\nparent ${"a".repeat(40)}\n\nWork\n`;
  const packed = Buffer.from(`agent-work ${"c".repeat(40)} ${text.length}\n${text}`);
  await expect(repository.unpackCommit("job_1", packed)).rejects.toMatchObject({ isRemoteOutage: true });
});
