import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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

/** What the scripts of these tests begin with. To start Git from a small shell takes half the time of starting it from here. */
const functions = `
git() { command git -c advice.detachedHead=false "$@"; }
write() { file=$1; shift; printf '%s\\n' "$@" > "$file"; }
commit() { git add --all && git commit --quiet --allow-empty --message "$1"; }
begin() { git checkout --quiet --detach main; }
printHead() { read -r head < .git/HEAD; case $head in ref:*) cat ".git/\${head#ref: }" ;; *) echo "$head" ;; esac; }
`;

function createRepository() {
  const path = temporaryFolder();
  cpSync(template, path, { recursive: true });
  /** Runs a shell script in the worktree. Returns the lines that it printed. */
  const run = (script: string, ...args: string[]): string[] =>
    execFileSync("sh", ["-c", functions + script, "sh", ...args], {
      cwd: path,
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "ignore"],
    })
      .trim()
      .split("\n");
  const head = (branch = "main"): string => readFileSync(join(path, ".git/refs/heads", branch), "utf8").trim();
  const counting = new CountingGit({ cwd: path });
  return { path, run, head, counting, states: new MergeStates(counting) };
}

describe("the number of Git processes", () => {
  test("does not depend on the number of commits, and is 0 while nothing moves", async () => {
    const { run, head, counting, states } = createRepository();
    const create = (...names: string[]): string[] =>
      run('for n; do begin; write pages/new-$n.md "$n"; commit "$n"; printHead; done', ...names);
    const commits = create("0", "1", "2", "3", "4", "5", "6", "7", "8", "9");
    const base = head();
    const processes = async (some: readonly string[]): Promise<string[]> => {
      counting.commands.length = 0;
      const found = await states.of(some, head());
      expect([...found.keys()].sort()).toEqual([...new Set(some)].sort());
      return counting.commands;
    };
    const all = ["cat-file", "rev-list", "merge-tree"];
    expect(await processes(commits)).toEqual(all);
    expect(await processes(commits)).toEqual([]);
    expect(await processes(commits.slice(1))).toEqual([]);
    expect(await processes([...commits.slice(1), ...create("10")])).toEqual(all);
    run('git checkout --quiet main; git merge --quiet --no-edit "$1"', commits[0] ?? "");
    expect(await processes(commits)).toEqual(all);
    expect(await processes([commits[0] ?? "", base])).toEqual(["cat-file", "rev-list"]);
    expect(await processes(["1".repeat(40)])).toEqual(["cat-file"]);
    run('git merge --quiet --squash "$1"; commit Squash', commits[1] ?? "");
    expect(await processes(commits)).toEqual([...all, "merge-base", "cat-file"]);
    expect((await states.of(commits, head())).get(commits[1] ?? "")).toBe(true);
  });
});

test("a Git that cannot run is not the fault of a commit, and not started again for each", async () => {
  const { path, run, head } = createRepository();
  const main = head();
  const commits = run("for name in one two three; do write $name.md $name; commit $name; printHead; done");
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
  const { path, run, head } = createRepository();
  const main = head();
  run("write one.md One; commit One");
  const states = new MergeStates(new OtherGit({ cwd: path }));
  await expect(states.of([head()], main)).rejects.toThrow("git merge-tree printed something unexpected");
});

describe("a commit that cannot be read", () => {
  test("is named if it is missing, and the others are read", async () => {
    const { run, head, states } = createRepository();
    const [open = ""] = run("begin; write pages/new.md New; commit New; printHead");
    const main = head();
    const missing = "0123456789".repeat(4);
    const found = await states.of([`${main}\n--all`, `--all\n${main}`, "--all", missing, open, main], main);
    expect([found.get(open), found.get(main)]).toEqual([false, true]);
    for (const one of [missing, `${main}\n--all`, `--all\n${main}`, "--all"])
      expect(found.get(one)).toEqual(new Error(`the commit ${one} is missing in the clone`));
    await expect(states.of([open], missing)).rejects.toThrow(`the commit ${missing} is missing in the clone`);
  });

  test("hides no other one if its history is broken", async () => {
    const { path, run, head, states } = createRepository();
    const [one = "", broken = "", two = "", tree = ""] = run(
      `for name in one broken two; do begin; write pages/$name.md $name; commit $name; printHead; git tag $name; done
      git checkout --quiet main; git merge --quiet --no-edit two; git rev-parse broken:pages`,
    );
    // Its root tree is there, but not the one in it.
    rmSync(join(path, ".git/objects", tree.slice(0, 2), tree.slice(2)));
    const main = head();
    for (let round = 0; round < 2; round++) {
      const found = await states.of([one, broken, two], main);
      expect([found.get(one), found.get(two)]).toEqual([false, true]);
      expect(String(found.get(broken))).toMatch(/git merge-tree /);
    }
  });
});

/** The definition, step by step: prints for each commit whether the target has its changes. */
const definition = `
isMerged() {
  base=$(git merge-base "$1" main) || return 1
  [ "$base" != "$1" ] || return 0
  trees=$(git rev-parse "$1^{tree}" "$base^{tree}" "main^{tree}")
  set -- "$1" $trees
  [ "$2" != "$3" ] && [ "$(git merge-tree --write-tree main "$1")" = "$4" ]
}
for commit; do if isMerged "$commit"; then echo true; else echo false; fi; done`;

/** What is done on a branch, as shell scripts. Each branch gets another `$n`. */
const changes = {
  "adds a page": "write pages/new-$n.md New",
  "changes a page": 'write pages/$n.md "Changed by $n"',
  "changes the end of a page": 'echo "More by $n" >> pages/$n.md',
  "removes a page": "rm pages/$n.md",
  "moves a page": "mv pages/$n.md pages/moved-$n.md",
  "changes nothing": ":",
  "undoes its change": "write pages/undone-$n.md Undone; commit Do; git revert --no-edit HEAD > /dev/null",
  "merges the target":
    "write pages/merging-$n.md Merging; commit Before; git merge --quiet --no-edit main; write pages/merging-$n.md Merging more",
  // Without the page that is different on the target.
  "has another root and no other files": "git checkout --quiet --orphan same-$n; rm pages/0.md",
  "has another root": "git checkout --quiet --orphan root-$n; write root.md Root",
};

const squash = 'git merge --quiet --squash --strategy-option=theirs "$1" && commit Squash';

/** What is done with a branch, `$1`, on `main`. */
const merges = {
  nothing: ":",
  merge: 'git merge --quiet --no-ff --no-edit --strategy-option=theirs "$1"',
  squash,
  "squash and change again": `${squash} && echo Again >> pages/1.md && commit Again`,
  "squash and undo": `${squash} && git revert --no-edit HEAD`,
  rebase: `base=$(git merge-base "$1" main) && git cherry-pick --allow-empty --keep-redundant-commits \\
    --strategy-option=theirs --no-merges "$base..$1"`,
};

/** Ends a merge that does not work, because of a conflict or without a common history. */
const giveUp = "git reset --quiet --hard; for state in merge cherry-pick revert; do git $state --abort; done";

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
    const { run, head, states } = createRepository();
    const names = Object.keys(merges);
    // A conflict for the branch that is not merged, if it changes this page.
    const heads = run(
      `n=0; for name; do begin; ${apply}; commit "$name"; printHead; n=$((n + 1)); done
      git checkout --quiet main; write pages/0.md 'Moved on'; commit 'Move on'`,
      ...names.map((name) => `${change}, ${name}`),
    );
    const cases = Object.entries(merges).map(([name, merge], n) => ({
      name,
      merge,
      head: heads[n] ?? "",
      states: new Set<unknown>(),
    }));
    const check = async (after: string): Promise<void> => {
      const found = await states.of(heads, head());
      const areMerged = run(definition, ...heads).map((line) => line === "true");
      expect(areMerged).toHaveLength(names.length);
      for (const [index, one] of cases.entries()) {
        const isMerged = areMerged[index];
        expect(found.get(one.head), `${one.name}, after ${after}`).toBe(isMerged);
        one.states.add(isMerged);
      }
    };
    await check("nothing");
    for (const start of [0, 3]) {
      const some = cases.slice(start, start + 3);
      run(
        some.map(({ merge, head: one }) => `set -- ${one}; { ${merge}; } > /dev/null || { ${giveUp}; }`).join("\n") +
          "\n:",
      );
      await check(some.map(({ name }) => name).join(", "));
    }
    const becameMerged = cases.filter(({ states }) => states.has(false) && states.has(true)).map(({ name }) => name);
    expect(becameMerged).toEqual(lessMerging[change] ?? merging);
  });
});
