import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { Git, type GitCommandOptions, GitError } from "../../../src/git/git.ts";
import { MergeStates } from "../../../src/git/merge-states.ts";

/** Counts the processes of Git, and lets some of them fail. */
class CountingGit extends Git {
  commands: string[] = [];
  fail: (command: string) => Error | undefined = () => undefined;

  override async run(args: readonly string[], options?: GitCommandOptions): Promise<string> {
    const [command = ""] = args;
    this.commands.push(command);
    const error = this.fail(command);
    if (error) throw error;
    return super.run(args, options);
  }
}

/** A repository with 20 pages on `main`, which each test copies. */
const template = mkdtempSync(join(tmpdir(), "merge-states-"));
afterAll(() => rmSync(template, { recursive: true, force: true }));

beforeAll(() => {
  const pages = Array.from({ length: 20 }, (_, page) => {
    const text = Array.from({ length: 30 }, (_, line) => `Page ${page}, line ${line}\n`).join("");
    return `M 100644 inline pages/${page}.md\ndata ${text.length}\n${text}`;
  });
  const commit = "commit refs/heads/main\ncommitter a <a@b> now\ndata 6\nBegin\n\n";
  const script =
    "git init --quiet --initial-branch=main --template=; git fast-import --quiet --date-format=now; git reset --quiet --hard";
  execFileSync("sh", ["-c", script], { cwd: template, input: commit + pages.join("\n") });
});

const author = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b" };
const env = { ...process.env, ...author, GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };

function createRepository() {
  const path = temporaryFolder();
  cpSync(template, path, { recursive: true });
  const run = (program: string, ...args: string[]): string =>
    execFileSync(program, args, { cwd: path, encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] }).trim();
  const git = (...args: string[]): string => run("git", "-c", "advice.detachedHead=false", ...args);
  const write = (file: string, lines: readonly string[]): void =>
    writeFileSync(join(path, file), `${lines.join("\n")}\n`);
  const commit = (message: string): string =>
    run(
      "sh",
      "-c",
      'git add --all; git commit --quiet --allow-empty --message "$1"; git rev-parse HEAD',
      "sh",
      message,
    );
  const counting = new CountingGit({ cwd: path });
  return { path, git, write, commit, counting, states: new MergeStates(counting) };
}

type TestRepository = ReturnType<typeof createRepository>;

describe("the number of Git processes", () => {
  test("does not depend on the number of commits, and is 0 while nothing moves", async () => {
    const repository = createRepository();
    const { git, write, commit, counting, states } = repository;
    const create = (n: number): string => {
      git("checkout", "--quiet", "--detach", "main");
      write(`pages/new-${n}.md`, [String(n)]);
      return commit(String(n));
    };
    const commits = Array.from({ length: 10 }, (_, n) => create(n));
    const processes = async (some: readonly string[], target = "main"): Promise<string[]> => {
      counting.commands.length = 0;
      const found = await states.of(some, git("rev-parse", target));
      expect([...found.keys()].sort()).toEqual([...new Set(some)].sort());
      return counting.commands;
    };
    const all = ["cat-file", "rev-list", "merge-tree"];
    expect(await processes(commits)).toEqual(all);
    expect(await processes(commits)).toEqual([]);
    expect(await processes(commits.slice(1))).toEqual([]);
    const another = create(10);
    expect(await processes([...commits.slice(1), another])).toEqual(all);
    git("checkout", "--quiet", "main");
    git("merge", "--quiet", "--no-edit", commits[0] ?? "");
    expect(await processes(commits)).toEqual(all);
    expect(await processes([commits[0] ?? "", git("rev-parse", "main~1")])).toEqual(["cat-file", "rev-list"]);
    expect(await processes(["1".repeat(40)])).toEqual(["cat-file"]);
    git("merge", "--quiet", "--squash", commits[1] ?? "");
    commit("Squash");
    expect(await processes(commits)).toEqual([...all, "merge-base", "cat-file"]);
    expect((await states.of(commits, git("rev-parse", "main"))).get(commits[1] ?? "")).toBe(true);
  });
});

test("a Git that cannot run is not the fault of a commit, and not started again for each", async () => {
  const { git, path, write, commit } = createRepository();
  const main = git("rev-parse", "main");
  const commits = ["one", "two", "three"].map((name) => {
    write(`${name}.md`, [name]);
    return commit(name);
  });
  const error = new GitError(["merge-tree"], "was stopped", "", null);
  const broken = new CountingGit({ cwd: path });
  broken.fail = (command) => (command === "merge-tree" ? error : undefined);
  await expect(new MergeStates(broken).of(commits, main)).rejects.toBe(error);
  expect(broken.commands).toEqual(["cat-file", "rev-list", "merge-tree"]);
});

test("a Git that prints something else is an error, not an answer", async () => {
  class OtherGit extends Git {
    override async run(args: readonly string[], options?: GitCommandOptions): Promise<string> {
      return args[0] === "merge-tree" ? "1\0" : super.run(args, options);
    }
  }
  const { git, path, write, commit } = createRepository();
  const main = git("rev-parse", "main");
  write("one.md", ["One"]);
  const states = new MergeStates(new OtherGit({ cwd: path }));
  await expect(states.of([commit("One")], main)).rejects.toThrow("git merge-tree printed something unexpected");
});

describe("a commit that cannot be read", () => {
  test("is named if it is missing, and the others are read", async () => {
    const { git, states, write, commit } = createRepository();
    git("checkout", "--quiet", "--detach", "main");
    write("pages/new.md", ["New"]);
    const open = commit("New");
    const main = git("rev-parse", "main");
    const missing = "0123456789".repeat(4);
    const found = await states.of([`${main}\n--all`, `--all\n${main}`, "--all", missing, open, main], main);
    expect([found.get(open), found.get(main)]).toEqual([false, true]);
    for (const one of [missing, `${main}\n--all`, `--all\n${main}`, "--all"])
      expect(found.get(one)).toEqual(new Error(`the commit ${one} is missing in the clone`));
    await expect(states.of([open], missing)).rejects.toThrow(`the commit ${missing} is missing in the clone`);
  });

  test("hides no other one if its history is broken", async () => {
    const { git, path, states, write, commit } = createRepository();
    const create = (name: string): string => {
      git("checkout", "--quiet", "--detach", "main");
      write(`pages/${name}.md`, [name]);
      return commit(name);
    };
    const [one, broken, two] = [create("one"), create("broken"), create("two")];
    git("checkout", "--quiet", "main");
    git("merge", "--quiet", "--no-edit", two);
    // Its root tree is there, but not the one in it.
    const tree = git("rev-parse", `${broken}:pages`);
    rmSync(join(path, ".git/objects", tree.slice(0, 2), tree.slice(2)));
    const main = git("rev-parse", "main");
    for (let round = 0; round < 2; round++) {
      const found = await states.of([one, broken, two], main);
      expect([found.get(one), found.get(two)]).toEqual([false, true]);
      expect(String(found.get(broken))).toMatch(/git merge-tree /);
    }
  });
});

/** The definition, step by step: prints for each commit whether the target has its changes. */
const definition = `
target=$1; shift
isMerged() {
  if git merge-base --is-ancestor "$1" "$target"; then return 0; fi
  base=$(git merge-base "$1" "$target") || return 1
  trees=$(git rev-parse "$1^{tree}" "$base^{tree}" "$target^{tree}")
  set -- "$1" $trees
  [ "$2" != "$3" ] && [ "$(git merge-tree --write-tree "$target" "$1")" = "$4" ]
}
for commit; do if isMerged "$commit"; then echo true; else echo false; fi; done`;

/** Returns for each commit whether it is merged by the definition. */
function areMergedByDefinition({ path }: TestRepository, commits: readonly string[], target: string): boolean[] {
  const args = ["-c", definition, "sh", target, ...commits];
  const output = execFileSync("sh", args, { cwd: path, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return output
    .trim()
    .split("\n")
    .map((line) => line === "true");
}

/** What is done on a branch. Each branch gets another `n`. */
const changes: Record<string, (repository: TestRepository, n: number) => void> = {
  "adds a page": ({ write }, n) => write(`pages/new-${n}.md`, ["New"]),
  "changes a page": ({ write }, n) => write(`pages/${n}.md`, [`Changed by ${n}`]),
  "changes the end of a page": ({ path }, n) =>
    writeFileSync(join(path, `pages/${n}.md`), `More by ${n}\n`, { flag: "a" }),
  "removes a page": ({ path }, n) => rmSync(join(path, `pages/${n}.md`)),
  "moves a page": ({ git }, n) => {
    git("mv", `pages/${n}.md`, `pages/moved-${n}.md`);
  },
  "changes nothing": () => {},
  "undoes its change": ({ git, commit, write }, n) => {
    write(`pages/undone-${n}.md`, ["Undone"]);
    commit("Do");
    git("revert", "--no-edit", "HEAD");
  },
  "merges the target": ({ git, commit, write }, n) => {
    write(`pages/merging-${n}.md`, ["Merging"]);
    commit("Before");
    git("merge", "--quiet", "--no-edit", "main");
    write(`pages/merging-${n}.md`, ["Merging", "more"]);
  },
  "has another root and no other files": ({ git, path }, n) => {
    git("checkout", "--quiet", "--orphan", `same-${n}`);
    // Without the page that is different on the target.
    rmSync(join(path, "pages/0.md"));
  },
  "has another root": ({ git, write }, n) => {
    git("checkout", "--quiet", "--orphan", `root-${n}`);
    write("root.md", ["Root"]);
  },
};

/** What is done with a branch on `main`. */
const merges: Record<string, (repository: TestRepository, commit: string) => void> = {
  nothing: () => {},
  merge: ({ git }, commit) => git("merge", "--quiet", "--no-ff", "--no-edit", "--strategy-option=theirs", commit),
  squash: ({ git, commit: create }, commit) => {
    git("merge", "--quiet", "--squash", "--strategy-option=theirs", commit);
    create("Squash");
  },
  "squash and change again": ({ git, commit: create, path }, commit) => {
    git("merge", "--quiet", "--squash", "--strategy-option=theirs", commit);
    create("Squash");
    writeFileSync(join(path, "pages/1.md"), "Again\n", { flag: "a" });
    create("Again");
  },
  "squash and undo": ({ git, commit: create }, commit) => {
    git("merge", "--quiet", "--squash", "--strategy-option=theirs", commit);
    create("Squash");
    git("revert", "--no-edit", "HEAD");
  },
  rebase: ({ git }, commit) => {
    const range = `${git("merge-base", commit, "main")}..${commit}`;
    git("cherry-pick", "--allow-empty", "--keep-redundant-commits", "--strategy-option=theirs", "--no-merges", range);
  },
};

/** Merges a commit, unless there is a conflict or no common history. */
function tryMerge(repository: TestRepository, merge: (typeof merges)[string], commit: string): void {
  const { git } = repository;
  try {
    merge(repository, commit);
  } catch {
    git("reset", "--quiet", "--hard");
    for (const state of ["merge", "cherry-pick", "revert"])
      try {
        git(state, "--abort");
      } catch {
        // Not in this state.
      }
  }
}

/** What makes a branch merged, unless it is listed with less. */
const merging = ["merge", "squash", "squash and change again", "rebase"];
const lessMerging: Record<string, string[]> = {
  "changes nothing": ["merge"],
  "undoes its change": ["merge"],
  "has another root and no other files": [],
  "has another root": [],
};

describe("says what the definition says, whatever is done on the target, of a branch that", () => {
  test.each(Object.entries(changes))("%s", async (change, apply) => {
    const repository = createRepository();
    const { git, write, commit, states } = repository;
    const cases = Object.entries(merges).map(([name, merge], n) => {
      git("checkout", "--quiet", "--detach", "main");
      apply(repository, n);
      const head = commit(`${change}, ${name}`);
      git("checkout", "--quiet", "main");
      return { name, merge, head, states: new Set<unknown>() };
    });
    // A conflict for the branch that is not merged, if it changes this page.
    write("pages/0.md", ["Moved on"]);
    commit("Move on");
    const check = async (after: string): Promise<void> => {
      const target = git("rev-parse", "main");
      const heads = cases.map(({ head }) => head);
      const found = await states.of(heads, target);
      const areMerged = areMergedByDefinition(repository, heads, target);
      expect(areMerged).toHaveLength(heads.length);
      for (const [index, one] of cases.entries()) {
        const isMerged = areMerged[index];
        expect(found.get(one.head), `${one.name}, after ${after}`).toBe(isMerged);
        one.states.add(isMerged);
      }
    };
    await check("nothing");
    for (const [index, { name, merge, head }] of cases.entries()) {
      tryMerge(repository, merge, head);
      if (index % 3 === 2) await check(name);
    }
    const becameMerged = cases.filter(({ states }) => states.has(false) && states.has(true)).map(({ name }) => name);
    expect(becameMerged).toEqual(lessMerging[change] ?? merging);
  });
});
