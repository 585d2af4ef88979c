import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { keepUpOnce } from "../../../src/git/upkeep.ts";
import { Worktrees, type WorktreesOptions } from "../../../src/git/worktrees.ts";
import { docsRepository, folderWithClone, sharedClone } from "../../support/agent-service.ts";

const pages = {
  "README.md": "Docs\n",
  ".gitignore": "build/\n*.tmp\n",
  "docs/guide.md": "# Guide\n",
  "docs/more/page.md": "# Page\n",
  "docs/more/script.sh": "echo\n",
  "other/page.md": "# Other\n",
};

async function setUp(options: Partial<WorktreesOptions> = {}, shared?: ReturnType<typeof sharedClone>) {
  const docs = shared?.docs ?? docsRepository(pages);
  const folder = shared?.folder ?? folderWithClone(docs);
  const repository = new GitRepository({ url: docs.path, folder });
  await repository.open();
  const worktrees = new Worktrees({ repository, folder, kept: 2, slowCheckoutMs: 0, ...options });
  const placeOf = (job: string) => ({
    tree: join(folder, "jobs", job, "tree"),
    index: join(folder, "jobs", job, "index"),
  });
  const findStart = (branch: string) => repository.findStart(branch, { isMerged: false, lastPushed: null });
  // Nothing is pushed to a shared one.
  const sharedStart = shared && (await findStart("agent/a"));
  /** Starts a turn of a job. */
  const checkOut = async (job = "a") => {
    mkdirSync(dirname(placeOf(job).tree), { recursive: true });
    const branch = `agent/${job}`;
    return worktrees.checkOut(placeOf(job), sharedStart ? { ...sharedStart, branch } : await findStart(branch));
  };
  /** Runs a turn of a job, in which an agent does something to the worktree. Returns the worktree. */
  const turn = async (job: string, work: (tree: string) => void = () => {}) => {
    const worktree = await checkOut(job);
    work(worktree.tree);
    await worktrees.takeBack(placeOf(job));
    await worktrees.release(placeOf(job));
    return worktree;
  };
  const commit = async (worktree: Awaited<ReturnType<typeof checkOut>>) => {
    await worktrees.takeBack(worktree);
    return (await repository.commit(worktree, "Change\n", { maxBytes: 1_000_000 })).commit;
  };
  return { docs, folder, repository, worktrees, placeOf, checkOut, turn, commit };
}

const git = (tree: string, ...args: string[]) =>
  execFileSync("git", ["-C", tree, ...args], { encoding: "utf8" }).trim();

/** Returns every file, folder and link of a worktree except `.git`, with its content. */
function contentOf(tree: string): Record<string, string> {
  const entries = readdirSync(tree, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
      .filter(({ path }) => !path.startsWith(join(tree, ".git/")) && path !== join(tree, ".git"))
      .map(({ entry, path }) => {
        const isExecutable = entry.isFile() && (statSync(path).mode & 0o111) !== 0;
        const kind = entry.isFile() ? readFileSync(path, "utf8") : entry.isDirectory() ? "folder" : "special";
        return [path.slice(tree.length + 1), isExecutable ? `executable ${kind}` : kind];
      }),
  );
}

const clean = {
  ...pages,
  docs: "folder",
  "docs/more": "folder",
  other: "folder",
};

/** What an agent may do to a worktree, so that it does not look like it does. */
const tricks: Record<string, (tree: string) => void> = {
  "adds a file": (tree) => writeFileSync(join(tree, "docs/new.md"), "new"),
  "adds ignored files": (tree) => {
    mkdirSync(join(tree, "docs/build/deep"), { recursive: true });
    writeFileSync(join(tree, "docs/build/deep/x.md"), "x");
    writeFileSync(join(tree, "x.tmp"), "x");
  },
  "removes a folder": (tree) => rmSync(join(tree, "docs"), { recursive: true }),
  "changes a file to one of the same size and times": (tree) => {
    const file = join(tree, "docs/guide.md");
    const { atime, mtime } = statSync(file);
    writeFileSync(file, "# GUIDE\n");
    utimesSync(file, atime, mtime);
  },
  "changes a file in place to one of the same size, as old as the repository": (tree) => {
    const file = join(tree, "docs/guide.md");
    truncateSync(file, 0);
    appendFileSync(file, "# GUIDE\n");
    utimesSync(file, 1, 1);
  },
  "makes a file executable": (tree) => chmodSync(join(tree, "docs/more/script.sh"), 0o755),
  "replaces a folder by a link to one with the same files": (tree) => {
    renameSync(join(tree, "docs"), join(tree, "../moved"));
    symlinkSync("../moved", join(tree, "docs"));
  },
  "replaces a folder by a link to another one that is tracked": (tree) => {
    rmSync(join(tree, "docs/more"), { recursive: true });
    symlinkSync("../other", join(tree, "docs/more"));
  },
  "replaces a file by a link": (tree) => {
    renameSync(join(tree, "README.md"), join(tree, "../README.md"));
    symlinkSync("../README.md", join(tree, "README.md"));
  },
  "replaces a file by a folder": (tree) => {
    rmSync(join(tree, "README.md"));
    mkdirSync(join(tree, "README.md"));
    writeFileSync(join(tree, "README.md/x"), "x");
  },
  "replaces a folder by a file": (tree) => {
    rmSync(join(tree, "docs"), { recursive: true });
    writeFileSync(join(tree, "docs"), "x");
  },
  "links a file to another name": (tree) => linkSync(join(tree, "README.md"), join(tree, "LINK.md")),
  "leaves a named pipe that Git would read": (tree) => execFileSync("mkfifo", [join(tree, "docs/.gitignore")]),
  "replaces a file by a named pipe": (tree) => {
    rmSync(join(tree, "README.md"));
    execFileSync("mkfifo", [join(tree, "README.md")]);
  },
  "creates a repository": (tree) => {
    git(tree, "init", "--quiet", "docs/inner");
    writeFileSync(join(tree, "docs/inner/x.md"), "x");
  },
  "makes a tracked folder a repository": (tree) => git(tree, "init", "--quiet", "docs"),
  "tells its Git to ignore changes": (tree) => {
    git(tree, "update-index", "--assume-unchanged", "README.md");
    git(tree, "update-index", "--skip-worktree", "docs/guide.md");
    writeFileSync(join(tree, "README.md"), "hidden\n");
    writeFileSync(join(tree, "docs/guide.md"), "hidden\n");
    writeFileSync(join(tree, ".git/info-exclude"), "*\n");
  },
  "makes a folder read-only": (tree) => {
    writeFileSync(join(tree, "docs/more/new.md"), "x");
    chmodSync(join(tree, "docs/more"), 0o555);
  },
  "makes tracked folders read-only": (tree) => {
    for (const folder of ["docs/more", "docs", "."]) chmodSync(join(tree, folder), 0o2555);
  },
  "makes folders unreadable": (tree) => chmodSync(join(tree, "docs"), 0),
  "makes folders deeper than any path": (tree) => {
    const before = process.cwd();
    process.chdir(tree);
    for (let depth = 0; depth < 300; depth++) {
      mkdirSync("deep-folder-name");
      process.chdir("deep-folder-name");
    }
    process.chdir(before);
  },
  "uses a name that is no UTF-8": (tree) => {
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/docs/`), Buffer.from([0xff]), Buffer.from(".md")]), "x");
  },
  "removes everything": (tree) => {
    for (const name of readdirSync(tree)) rmSync(join(tree, name), { recursive: true });
  },
  "removes its .git": (tree) => rmSync(join(tree, ".git"), { recursive: true }),
  "replaces its .git by a link to one with other objects and hooks": (tree) => {
    cpSync(join(tree, ".git"), join(tree, "../own.git"), { recursive: true });
    rmSync(join(tree, ".git"), { recursive: true });
    mkdirSync(join(tree, "../own.git/hooks"));
    writeFileSync(join(tree, "../own.git/hooks/post-checkout"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync("../own.git", join(tree, ".git"));
  },
  "writes settings, hooks and alternates": (tree) => {
    appendFileSync(join(tree, ".git/config"), '[filter "x"]\n\tclean = false\n');
    appendFileSync(join(tree, ".git/objects/info/alternates"), "/tmp\n");
    mkdirSync(join(tree, ".git/hooks"));
    writeFileSync(join(tree, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    mkdirSync(join(tree, ".git/info"));
    writeFileSync(join(tree, ".git/info/attributes"), "* filter=x\n");
  },
};

describe("the next turn finds the worktree as it should be after an agent", () => {
  const shared = sharedClone(pages);
  let jobs: Awaited<ReturnType<typeof setUp>>;
  beforeAll(async () => {
    jobs = await setUp({}, shared);
  });

  test.each(Object.entries(tricks))("%s", async (name, trick) => {
    const { checkOut, turn, commit } = jobs;
    const job = name.replaceAll(/\W/g, "-");
    await turn(job, trick);
    const worktree = await checkOut(job);
    expect(contentOf(worktree.tree)).toEqual(clean);
    for (const path of [".", ...Object.keys(clean)])
      expect(statSync(join(worktree.tree, path)).mode & 0o7600, path).toBe(0o600);
    expect(readdirSync(join(worktree.tree, ".git")).sort()).toEqual(
      ["HEAD", "config", "index", "objects", "packed-refs", "refs"].sort(),
    );
    expect(git(worktree.tree, "status", "--porcelain", "--ignored")).toBe("");
    expect(readFileSync(join(worktree.tree, ".git/config"), "utf8")).not.toContain("filter");
    expect(readFileSync(join(worktree.tree, ".git/objects/info/alternates"), "utf8")).not.toContain("/tmp\n/tmp");
    // What was hidden would be in this commit.
    expect(await commit(worktree)).toBeUndefined();
  });

  test("also if the commit of its own turn has these changes", async () => {
    const { docs, repository, worktrees, placeOf, checkOut, commit } = await setUp();
    const first = await checkOut();
    const file = join(first.tree, "docs/guide.md");
    writeFileSync(file, "# Changed\n");
    writeFileSync(join(first.tree, "docs/new.md"), "new\n");
    const made = (await commit(first)) ?? "";
    await repository.keep(made, "a");
    await repository.push(made, "agent/a", undefined);
    // Hidden behind the time of the committed file.
    const { atime, mtime } = statSync(file);
    writeFileSync(file, "# CHANGED\n");
    utimesSync(file, atime, mtime);
    await worktrees.release(placeOf("a"));
    const second = await checkOut();
    expect(contentOf(second.tree)).toEqual({ ...clean, "docs/guide.md": "# Changed\n", "docs/new.md": "new\n" });
    expect(git(second.tree, "rev-parse", "HEAD")).toBe(docs.head("agent/a"));
    expect(await commit(second)).toBeUndefined();
  });

  test("also in a submodule", async () => {
    const { docs, checkOut, turn } = await setUp();
    const tree = execFileSync("git", ["-C", docs.path, "mktree", "--missing"], {
      input: `${docs.git("ls-tree", "main")}\n160000 commit ${"1".repeat(40)}\tmodule\n`,
      encoding: "utf8",
    }).trim();
    docs.setHead("main", docs.git("commit-tree", tree, "-p", "main", "-m", "x"));
    await turn("a", (worktree) => {
      git(worktree, "init", "--quiet", "module");
      writeFileSync(join(worktree, "module/x.md"), "x");
    });
    expect(readdirSync(join((await checkOut()).tree, "module"))).toEqual([]);
  });
});

describe("a kept worktree", () => {
  test("keeps the files that nobody touched, and follows the branches", async () => {
    const { docs, turn, checkOut } = await setUp();
    const { tree } = await turn("a");
    const inodeOf = (file: string) => statSync(join(tree, file)).ino;
    const [kept, changed] = [inodeOf("docs/guide.md"), inodeOf("README.md")];
    await setTimeout(5);
    await turn("a", () => writeFileSync(join(tree, "README.md"), "changed\n"));
    const next = await checkOut();
    expect(next.tree).toBe(tree);
    expect(inodeOf("docs/guide.md")).toBe(kept);
    expect([readFileSync(join(tree, "README.md"), "utf8"), inodeOf("README.md")]).not.toEqual(["changed\n", changed]);
    expect(git(tree, "log", "-1", "--format=%H")).toBe(docs.head("main"));
  });

  test("keeps links and files in deep folders, too, and replaces links that were changed", async () => {
    const { docs, turn, checkOut } = await setUp();
    const work = join(temporaryFolder(), "work");
    execFileSync("git", ["clone", "--quiet", docs.path, work]);
    for (const name of ["kept", "replaced", "redirected"]) symlinkSync("docs", join(work, name));
    git(work, "add", "--all");
    git(work, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=Links");
    git(work, "push", "--quiet", "origin", "HEAD:main");
    const { tree } = await turn("a");
    const inodes = () =>
      ["docs/more/page.md", "docs/more", "other/page.md", "kept"].map((path) => lstatSync(join(tree, path)).ino);
    const before = inodes();
    await turn("a", () => {
      rmSync(join(tree, "replaced"));
      writeFileSync(join(tree, "replaced"), "docs");
      rmSync(join(tree, "redirected"));
      symlinkSync("/tmp", join(tree, "redirected"));
    });
    await checkOut();
    expect(inodes()).toEqual(before);
    expect(["kept", "replaced", "redirected"].map((name) => readlinkSync(join(tree, name)))).toEqual([
      "docs",
      "docs",
      "docs",
    ]);
    expect(git(tree, "status", "--porcelain")).toBe("");
  });

  test("is used although a Git process that was killed left its lock", async () => {
    const { turn, checkOut, placeOf } = await setUp();
    const { tree } = await turn("a");
    const { ino } = statSync(join(tree, "README.md"));
    writeFileSync(`${placeOf("a").index}.lock`, "");
    await checkOut("a");
    expect(statSync(join(tree, "README.md")).ino).toBe(ino);
    expect(contentOf(tree)).toEqual(clean);
  });

  test("is written from nothing if its index is a folder, a link or damaged", async () => {
    const { turn, checkOut, placeOf, worktrees } = await setUp();
    await turn("a");
    const { index } = placeOf("a");
    for (const damage of [
      () => writeFileSync(index, ""),
      () => truncateSync(index, 100),
      () => {
        renameSync(index, `${index}-moved`);
        symlinkSync(`${index}-moved`, index);
      },
    ]) {
      damage();
      const worktree = await checkOut("a");
      expect(contentOf(worktree.tree)).toEqual(clean);
      await worktrees.takeBack(placeOf("a"));
      await worktrees.release(placeOf("a"));
    }
  });

  test("is not kept if the agent or the service was killed: a process of the agent may still be running", async () => {
    const { turn, placeOf, checkOut, worktrees, repository, folder } = await setUp();
    await turn("a");
    await checkOut("a");
    await worktrees.release(placeOf("a"));
    expect(readdirSync(dirname(placeOf("a").tree))).toEqual([]);

    await turn("a");
    const { tree } = await checkOut("a");
    const createdAt = () => statSync(join(tree, "README.md"), { bigint: true }).birthtimeNs;
    const before = createdAt();
    const next = new Worktrees({ repository, folder, kept: 2, slowCheckoutMs: 3_600_000 });
    await next.checkOut(placeOf("a"), await repository.findStart("agent/a", { isMerged: false, lastPushed: null }));
    expect(createdAt()).not.toBe(before);
  });

  test("is removed at an idle time if its job does not need it any more", async () => {
    const { turn, placeOf, repository, worktrees, checkOut } = await setUp();
    await turn("a");
    await turn("b");
    const isNeeded = async ({ tree }: { tree: string }) => tree !== placeOf("a").tree;
    await checkOut("c");
    await keepUpOnce({ repository, worktrees, isNeeded });
    expect(existsSync(placeOf("a").tree)).toBe(true);
    await worktrees.takeBack(placeOf("c"));
    await worktrees.release(placeOf("c"));
    await turn("a");
    await keepUpOnce({ repository, worktrees, isNeeded });
    expect([existsSync(placeOf("a").tree), existsSync(placeOf("c").tree)]).toEqual([false, true]);
  });
});

describe("a spare worktree", () => {
  const spareOf = (folder: string) => join(folder, "spare/tree");

  test("is prepared if checkouts are slow, and moved to the new head for the next new job", async () => {
    const { docs, folder, turn, worktrees, checkOut } = await setUp();
    await worktrees.prepareSpares();
    expect(existsSync(spareOf(folder))).toBe(false);
    await turn("a");
    await worktrees.prepareSpares();
    const { ino } = statSync(join(spareOf(folder), "docs/guide.md"));
    await turn("other", (tree) => writeFileSync(join(tree, "README.md"), "changed\n"));
    await worktrees.prepareSpares();
    const work = join(temporaryFolder(), "work");
    execFileSync("git", ["clone", "--quiet", docs.path, work]);
    writeFileSync(join(work, "README.md"), "New\n");
    git(work, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--all", "--message=New");
    git(work, "push", "--quiet", "origin", "HEAD:main");

    // The first job has its own.
    await checkOut("a");
    const spare = statSync(join(spareOf(folder), "docs/guide.md"));
    const { tree } = await checkOut("b");
    expect(existsSync(spareOf(folder))).toBe(false);
    expect(statSync(join(tree, "docs/guide.md")).ino).toBe(spare.ino);
    expect(spare.ino).not.toBe(ino);
    expect(contentOf(tree)).toEqual({ ...clean, "README.md": "New\n" });
    expect(git(tree, "status", "--porcelain", "--ignored")).toBe("");
  });

  test("is prepared at idle times only", async () => {
    const { folder, turn, checkOut, repository, worktrees, placeOf } = await setUp();
    await turn("a");
    await checkOut("a");
    const options = { repository, worktrees, isNeeded: async () => true };
    await keepUpOnce(options);
    expect(existsSync(spareOf(folder))).toBe(false);
    await worktrees.release(placeOf("a"));
    await keepUpOnce(options);
    expect(existsSync(spareOf(folder))).toBe(true);
  });
});
