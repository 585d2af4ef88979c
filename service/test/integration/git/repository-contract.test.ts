import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Worktree } from "../../../src/git/commit-worktree.ts";
import type { Start, StartOptions } from "../../../src/git/find-start.ts";
import { GitError } from "../../../src/git/git.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import type { Repository } from "../../../src/git/repository.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";
import { docsRepository, folderWithClone } from "../../support/agent-service.ts";
import type { Edits } from "../../support/memory-objects.ts";
import { MemoryRemote } from "../../support/memory-remote.ts";
import { MemoryRepository } from "../../support/memory-repository.ts";

/** What people and rules do on the host of a repository. */
interface Host {
  head(branch: string): string;
  setHead(branch: string, commit: string): void;
  deleteBranch(branch: string): void;
  merge(branch: string): void;
  squash(branch: string): void;
  commitTo(branch: string, edits: Edits): string;
  amend(branch: string, edits: Edits): string;
  /** Makes another branch the default branch. */
  setDefaultBranch(branch: string): void;
  /** Makes a commit without a history. */
  addRoot(branch: string): string;
  forgetUnreachable(): void;
  /** Refuses all pushes with some words; `undefined` allows them. */
  refuse(said: string | undefined): void;
}

/** A repository with files of its own for agents, and machines that have clones of it. */
interface World {
  host: Host;
  /** Returns the clone of a new machine, and what changes files in a worktree of it. */
  addMachine(): Promise<{ repository: Repository; edit: (tree: Worktree, edits: Edits) => void; folder: string }>;
}

const files = { "README.md": "# Docs\n", "docs/guide.md": "# Guide\n", "AGENTS.md": "Be brief.\n" };

function gitWorld(): World {
  const docs = docsRepository(files);
  let count = 0;
  const write = (parents: readonly string[], tree: string | undefined, edits: Edits): string => {
    const ref = `refs/people/${++count}`;
    const changes = Object.entries(edits).map(([path, text]) =>
      text === null ? `D ${path}` : `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}`,
    );
    docs.importHistory(
      [
        `commit ${ref}\ncommitter Someone <someone@example.com> now\ndata 8\nBy hand\n`,
        ...parents.map((parent, index) => `${index === 0 ? "from" : "merge"} ${parent}`),
        ...(tree === undefined ? [] : [`M 040000 ${tree} ""`]),
        ...changes,
        "\n",
      ].join("\n"),
    );
    return docs.git("rev-parse", ref);
  };
  const move = (branch: string, commit: string): string => {
    docs.setHead(branch, commit);
    return commit;
  };
  const hook = join(docs.path, "hooks/pre-receive");
  const host: Host = {
    head: (branch) => docs.head(branch),
    setHead: (branch, commit) => docs.setHead(branch, commit),
    deleteBranch: (branch) => docs.deleteBranch(branch),
    merge: (branch) => docs.merge(branch),
    squash: (branch) => docs.squash(branch),
    commitTo: (branch, edits) => move(branch, write([docs.head(branch)], undefined, edits)),
    amend: (branch, edits) => {
      const [parent = "", tree] = docs.git("log", "-1", "--format=%P %T", branch).split(" ");
      return move(branch, write([parent], tree, edits));
    },
    setDefaultBranch: (branch) => void docs.git("symbolic-ref", "HEAD", `refs/heads/${branch}`),
    addRoot: (branch) => move(branch, write([], undefined, { "other.md": "Other\n" })),
    forgetUnreachable: () => {
      rmSync(join(docs.path, "refs/people"), { recursive: true, force: true });
      docs.git("gc", "--quiet", "--prune=now");
    },
    refuse: (said) => {
      if (said === undefined) return rmSync(hook);
      writeFileSync(hook, `#!/bin/sh\necho ${JSON.stringify(said)} >&2\nexit 1\n`);
      chmodSync(hook, 0o755);
    },
  };
  const addMachine: World["addMachine"] = async () => {
    const folder = folderWithClone(docs);
    const repository = new GitRepository({ url: docs.path, folder });
    await repository.open();
    const edit = ({ tree }: Worktree, edits: Edits): void => {
      for (const [path, text] of Object.entries(edits))
        if (text === null) rmSync(join(tree, path));
        else writeFileSync(join(tree, path), text);
    };
    return { repository, edit, folder };
  };
  return { host, addMachine };
}

function memoryWorld(): World {
  const remote = new MemoryRemote(files);
  const host: Host = {
    head: (branch) => remote.head(branch),
    setHead: (branch, commit) => remote.setHead(branch, commit),
    deleteBranch: (branch) => remote.deleteBranch(branch),
    merge: (branch) => remote.merge(branch),
    squash: (branch) => remote.squash(branch),
    commitTo: (branch, edits) => remote.commitTo(branch, edits),
    amend: (branch, edits) => remote.amend(branch, edits),
    setDefaultBranch: (branch) => {
      remote.defaultBranch = branch;
    },
    addRoot: (branch) => remote.addRoot(branch, { "other.md": "Other\n" }),
    forgetUnreachable: () => remote.forgetUnreachable(),
    refuse: (said) => {
      remote.refuses = () => said;
    },
  };
  const addMachine: World["addMachine"] = async () => {
    const repository = new MemoryRepository(remote);
    await repository.open();
    return { repository, edit: ({ tree }, edits) => repository.edit(tree, edits), folder: "/machine" };
  };
  return { host, addMachine };
}

const branch = "agent/a";

async function setUp({ host, addMachine }: World) {
  const { repository, edit, folder } = await addMachine();
  const findStart = (options: Partial<StartOptions> = {}, of: Repository = repository): Promise<Start> =>
    of.findStart(branch, { isMerged: false, lastPushed: null, ...options });
  let count = 0;
  const checkOut = (start: Start): Promise<Worktree> => {
    const place = join(folder, `place-${++count}`);
    return repository.checkOut(start, { tree: join(place, "tree"), index: join(place, "index") });
  };
  /** Commits some edits on top of a start. */
  const make = async (start: Start, edits: Edits, message = "Change\n\nText.\n"): Promise<string> => {
    const worktree = await checkOut(start);
    edit(worktree, edits);
    const { commit } = await repository.commit(worktree, message, { maxBytes: 1_000_000 });
    if (commit === undefined) throw new Error("nothing was changed");
    return commit;
  };
  /** Makes the job's commit, keeps and pushes it. */
  const work = async (edits: Edits = { "a.md": "A\n" }): Promise<string> => {
    const start = await findStart();
    const commit = await make(start, edits);
    await repository.keep(commit, "a");
    await repository.push(commit, branch, start.remoteHead);
    return commit;
  };
  const error = async (of: Promise<unknown>): Promise<GitError> => {
    const found = await of.catch((reason: unknown) => reason);
    if (!(found instanceof GitError)) throw new Error(`not an error of Git: ${found}`);
    return found;
  };
  const changed = async (base: string, head: string): Promise<string[]> =>
    (await repository.changedFiles(base, head)).map(({ path }) => path);
  return { host, addMachine, repository, edit, findStart, checkOut, make, work, error, changed };
}

describe.each([
  ["Git", gitWorld],
  ["memory", memoryWorld],
])("a repository in %s", (_name, createWorld) => {
  const open = () => setUp(createWorld());

  test("commits what is changed in a worktree, on top of its start", async () => {
    const { host, repository, findStart, checkOut, edit } = await open();
    const main = host.head("main");
    const start = await findStart();
    const none = { branch, targetBranch: "main", remoteHead: undefined, isContinued: false, notes: [] };
    expect(start).toEqual({ ...none, head: main, base: main });
    const worktree = await checkOut(start);
    expect(worktree.head).toBe(main);
    const options = { maxBytes: 1_000_000 };
    const nothing = { commit: undefined, leftOut: [], takenBack: [], notes: [] };
    expect(await repository.commit(worktree, "None", options)).toMatchObject(nothing);
    edit(worktree, { "a.md": "A\n", "docs/guide.md": "# New\n", "README.md": null });
    const made = await repository.commit(worktree, ({ takenBack }) => `Change\n\n${takenBack?.join()}`, {
      ...options,
      only: readPathPatterns(["**", "!docs/**"]),
    });
    expect(made).toEqual({
      commit: expect.any(String),
      leftOut: [],
      takenBack: ["docs/guide.md"],
      notes: [],
      returned: [],
    });
    const head = made.commit ?? "";
    expect(await repository.commits(main, head)).toEqual([
      { commit: head, parent: main, message: "Change\n\ndocs/guide.md" },
    ]);
    const [readme, page] = await repository.changedFiles(main, head);
    expect(readme).toEqual({ path: "README.md", before: expect.any(String), after: undefined, filter: undefined });
    expect(page).toEqual({ path: "a.md", before: undefined, after: expect.any(String), filter: undefined });
    expect((await repository.paths(main)).paths).toEqual(expect.arrayContaining(["README.md", "docs/guide.md"]));
    expect((await repository.paths(head)).paths).not.toContain("README.md");
    const contents: string[] = [];
    for await (const { content } of repository.readContents([readme?.before ?? "", page?.after ?? ""]))
      contents.push(content);
    expect(contents).toEqual(["# Docs\n", "A\n"]);
    expect(await repository.ownStart({ ...start, head })).toEqual(start);
  });

  test("gives objects the ids of Git", async () => {
    const { host, repository, work } = await open();
    const head = await work();
    const text = await repository.readCommit(head);
    const [tree, parent, author] = text.split("\n");
    expect(parent).toBe(`parent ${host.head("main")}`);
    expect(author).toMatch(/^author Agent <agent@localhost> \d+ \+0000$/);
    expect(await repository.writeCommit(text)).toBe(head);
    const { blobs, trees } = await repository.newObjects(head);
    const [page] = await repository.changedFiles(host.head("main"), head);
    expect(blobs).toEqual([page?.after]);
    expect(trees.map(({ id }) => `tree ${id}`)).toEqual([tree]);
    expect(trees[0]?.entries.map(({ mode, name }) => `${mode} ${name}`)).toEqual([
      "100644 AGENTS.md",
      "100644 README.md",
      "100644 a.md",
      "040000 docs",
    ]);
    expect(tree).toBe("tree 943a1135a03cebb1e2a65ec2d7af9074eab93a03");
  });

  test("pushes only a new branch or a fast-forward, unless it names the head that is replaced", async () => {
    const { host, repository, findStart, make, work, error } = await open();
    const first = await work();
    expect(host.head(branch)).toBe(first);
    expect(await repository.branchHead(branch)).toBe(first);
    const start = await findStart();
    const second = await make(start, { "b.md": "B\n" });
    await repository.push(second, branch, undefined);
    const other = await make(start, { "c.md": "C\n" });
    const refused = await error(repository.push(other, branch, undefined));
    expect(refused.message).toMatch(/^git push exited with 1: .*\[rejected\].*\(non-fast-forward\)/s);
    expect(refused.isRemoteOutage).toBe(false);
    expect((await error(repository.push(other, branch, first))).message).toContain("(stale info)");
    expect((await error(repository.push(other, "agent/none", first))).message).toContain("(stale info)");
    // What is there already is no change.
    await repository.push(second, branch, first);
    await repository.push(other, branch, second);
    expect(host.head(branch)).toBe(other);
    await repository.push(first, branch, other);
    expect(host.head(branch)).toBe(first);
  });

  test("deletes a branch", async () => {
    const { host, repository, work, error } = await open();
    const head = await work();
    expect((await error(repository.push(undefined, branch, host.head("main")))).message).toContain("(stale info)");
    await repository.push(undefined, branch, head);
    expect(await repository.branchHead(branch)).toBeUndefined();
    expect(() => host.head(branch)).toThrow();
    await repository.push(undefined, branch, undefined);
    expect((await error(repository.push(undefined, branch, head))).message).toContain("(stale info)");
    host.setHead(branch, head);
    await repository.push(undefined, branch, undefined);
    expect(() => host.head(branch)).toThrow();
  });

  test("is refused a push by a rule, with its words", async () => {
    const { host, repository, findStart, make, work, error } = await open();
    const head = await work();
    const next = await make(await findStart(), { "b.md": "B\n" });
    host.refuse("error: GH013: Repository rule violations found");
    const refused = await error(repository.push(next, branch, head));
    expect(refused.message).toContain("error: GH013: Repository rule violations found");
    expect(refused.message).toContain("(pre-receive hook declined)");
    expect([refused.exitCode, refused.isRemoteOutage]).toEqual([1, false]);
    expect([host.head(branch), await repository.branchHead(branch)]).toEqual([head, head]);
    host.refuse(undefined);
    await repository.push(next, branch, head);
    expect(host.head(branch)).toBe(next);
  });

  test("knows the branches as of the last fetch or listing", async () => {
    const { host, repository, work } = await open();
    const first = await work();
    const [pushed, main] = [host.commitTo(branch, { "b.md": "B\n" }), host.commitTo("main", { "c.md": "C\n" })];
    host.setHead("other", main);
    expect(await repository.branchHead(branch)).toBe(first);
    await repository.fetch([branch]);
    const heads = new Map([
      ["main", main],
      [branch, pushed],
    ]);
    expect(new Map(await repository.branchHeads())).toEqual(heads);
    await repository.fetchIfBehind([branch], Number.POSITIVE_INFINITY);
    await repository.fetch(["gone"]);
    expect(new Map(await repository.branchHeads())).toEqual(new Map([...heads, ["other", main]]));
    host.deleteBranch("other");
    host.deleteBranch(branch);
    await repository.fetch([branch]);
    expect([...(await repository.branchHeads()).keys()].sort()).toEqual(["main", "other"]);
    await repository.list();
    expect([...(await repository.branchHeads()).keys()]).toEqual(["main"]);
    expect(await repository.targetBranch()).toBe("main");
    host.setHead("next", main);
    host.setDefaultBranch("next");
    host.commitTo("next", { "d.md": "D\n" });
    await repository.fetch(["main"]);
    expect([await repository.targetBranch(), await repository.targetBranch("main")]).toEqual(["next", "main"]);
    expect(await repository.branchHead("next")).toBe(host.head("next"));
  });

  test("deletes branches that have not moved", async () => {
    const { host, repository, work, error } = await open();
    const head = await work();
    host.setHead("agent/b", head);
    host.commitTo("agent/b", { "b.md": "B\n" });
    const heads = new Map([
      [branch, head],
      ["agent/b", head],
    ]);
    expect(await repository.deleteBranches(heads)).toEqual([branch]);
    expect(host.head("agent/b")).not.toBe(head);
    expect((await error(repository.deleteBranches(new Map([["agent/b", head]])))).message).toContain("(stale info)");
  });

  test("keeps the last commit of a job, and forgets it", async () => {
    const { host, repository, findStart, make, error } = await open();
    expect(await repository.lastCommitOf("a")).toBeUndefined();
    const start = await findStart();
    const [first, second] = [await make(start, { "a.md": "A\n" }), await make(start, { "b.md": "B\n" }, "Other")];
    await repository.keep(first, "a");
    await repository.keep(second, "a", first);
    await repository.keep(first, "b");
    const parent = host.head("main");
    expect(await repository.lastCommitOf("a")).toEqual({ commit: second, parent, message: "Other" });
    expect((await repository.jobIds()).sort()).toEqual(["a", "b"]);
    await repository.forgetJobs(["a"]);
    expect(await repository.jobIds()).toEqual(["b"]);
    expect(await repository.lastCommitOf("a")).toBeUndefined();
    await error(repository.keep("e".repeat(40), "a"));
  });

  test("takes a commit to another machine as text", async () => {
    const { host, addMachine, repository, findStart, make, work, error } = await open();
    await error(repository.packCommit("a"));
    const pushed = await work();
    const commit = await make(await findStart(), { "b.md": "B\n" });
    await repository.keep(commit, "a");
    const packed = await repository.packCommit("a");
    const other = (await addMachine()).repository;
    const found = { commit, parent: pushed, message: "Change\n\nText.\n" };
    host.deleteBranch(branch);
    // Its parent is in no branch, and the host has it.
    expect(await other.unpackCommit("a", packed)).toEqual(found);
    expect(await other.lastCommitOf("a")).toEqual(found);
    expect(await other.unpackCommit("b", Buffer.from("damaged"))).toBeUndefined();
    host.forgetUnreachable();
    const late = (await addMachine()).repository;
    expect(await late.unpackCommit("a", packed)).toBeUndefined();
    expect(await late.lastCommitOf("a")).toBeUndefined();
  });

  test("copies a commit", async () => {
    const { host, repository, work, changed } = await open();
    const head = await work();
    const copy = await repository.copy(head);
    expect(copy).not.toBe(head);
    const main = host.head("main");
    expect(await repository.commits(main, copy)).toEqual([
      { commit: copy, parent: main, message: "Change\n\nText.\n" },
    ]);
    expect(await changed(head, copy)).toEqual([]);
  });

  test("moves a commit onto another one, unless they conflict", async () => {
    const { host, repository, findStart, make, work, changed } = await open();
    const parent = await work();
    const commit = await make(await findStart(), { "b.md": "B\n" });
    const onTop = host.commitTo(branch, { "c.md": "C\n" });
    await repository.fetch([branch]);
    const moved = (await repository.rebase(commit, parent, onTop)) ?? "";
    expect(await changed(onTop, moved)).toEqual(["b.md"]);
    expect(await repository.commits(onTop, moved)).toEqual([
      { commit: moved, parent: onTop, message: "Change\n\nText.\n" },
    ]);
    // The others have the same change.
    const same = host.commitTo(branch, { "b.md": "B\n" });
    await repository.fetch([branch]);
    expect(await repository.rebase(commit, parent, same)).toBe(same);
    const other = host.commitTo(branch, { "b.md": "Other\n" });
    await repository.fetch([branch]);
    expect(await repository.rebase(commit, parent, other)).toBeUndefined();
    // Without the change of its parent.
    const main = host.head("main");
    const without = (await repository.rebase(commit, parent, main)) ?? "";
    expect(await changed(main, without)).toEqual(["b.md"]);
  });

  test("merges the target branch, or names the conflicts, and knows its own merges", async () => {
    const { host, repository, work, findStart, changed } = await open();
    const lastPushed = await work({ "a.md": "A\n", "AGENTS.md": "Be long.\n" });
    const main = host.commitTo("main", { "docs/b.md": "B\n" });
    await repository.fetch(["main"]);
    const merged = await repository.merge(lastPushed, main, "Merge\n");
    const commit = "commit" in merged ? merged.commit : "";
    expect([await changed(main, commit), await changed(lastPushed, commit)]).toEqual([
      ["AGENTS.md", "a.md"],
      ["docs/b.md"],
    ]);
    expect((await repository.readCommit(commit)).match(/^parent .*/gm)).toEqual([
      `parent ${lastPushed}`,
      `parent ${main}`,
    ]);
    // The folder is that of one parent, the root that of none.
    const { blobs, trees } = await repository.newObjects(commit);
    expect([blobs, trees.length]).toEqual([[], 1]);
    await repository.push(commit, branch, lastPushed);
    const instructions = (paths: readonly string[]) => paths.filter((path) => path === "AGENTS.md");
    const options = { lastPushed, instructions, own: new Set([lastPushed]) };
    const start = await findStart(options);
    expect(start).toMatchObject({ head: commit, base: main, isContinued: true });
    expect(start).not.toHaveProperty("instructed");
    expect(await findStart({ ...options, own: new Set() })).toHaveProperty("instructed");
    const theirs = host.commitTo("main", { "a.md": "Other\n", "AGENTS.md": "Be kind.\n", "c.md": "C\n" });
    await repository.fetch(["main"]);
    expect(await repository.merge(commit, theirs, "Merge\n")).toEqual({ conflicts: ["AGENTS.md", "a.md"] });
  });

  test("finds what is merged: by merge, fast-forward and squash, but not without a net change", async () => {
    const { host, repository, work, findStart, make } = await open();
    const head = await work();
    const main = host.head("main");
    const empty = await make({ ...(await findStart()), head: main }, { "x.md": "X\n" });
    const states = async (...commits: string[]) => {
      await repository.fetch(["main", branch]);
      const found = await repository.findMerged(commits, host.head("main"));
      return commits.map((commit) => found.get(commit));
    };
    expect(await states(head, main)).toEqual([false, true]);
    host.squash(branch);
    host.commitTo("main", { "b.md": "B\n" });
    expect(await states(head, empty)).toEqual([true, false]);
    expect(await repository.isMerged(head, "main")).toBe(true);
    host.commitTo("main", { "a.md": null });
    expect(await states(head)).toEqual([false]);
    host.setHead("main", main);
    host.merge(branch);
    expect(await states(head)).toEqual([true]);
    host.setHead("main", head);
    expect(await states(head)).toEqual([true]);
    host.setHead("main", main);
    host.commitTo(branch, { "a.md": null });
    expect(await states(host.head(branch))).toEqual([false]);
    expect(await states("e".repeat(40))).toEqual([new Error(`the commit ${"e".repeat(40)} is missing in the clone`)]);
    await expect(repository.isMerged(head, "gone")).rejects.toThrow("the branch gone is missing");
  });

  test("finds commits by branch, and by what their message says", async () => {
    const { host, repository, work, addMachine } = await open();
    const first = await work();
    const second = host.commitTo(branch, { "b.md": "B\n" });
    host.setHead("agent/b/c", host.commitTo("main", { "c.md": "C\n" }));
    await repository.fetch([branch]);
    const found = await repository.commitsOfBranch(second, 2);
    expect(found.map(({ commit, message }) => [commit, message])).toEqual([
      [second, "By hand\n"],
      [first, "Change\n\nText.\n"],
    ]);
    expect(found[0]?.at).toBeGreaterThanOrEqual(found[1]?.at ?? Number.NaN);
    expect(await repository.commitsOfBranch("e".repeat(40), 2)).toEqual([]);
    expect((await repository.commitsOfJobs("Text", 1)).map(({ commit }) => commit)).toEqual([first]);
    const other = (await addMachine()).repository;
    host.deleteBranch(branch);
    expect((await other.commitsOfBranch(first, 1)).map(({ commit }) => commit)).toEqual([first]);
    expect(await other.commitsOfJobs("Text", 1)).toEqual([]);
  });

  describe("finds the start of a turn", () => {
    test("at the head of its branch, with what others pushed", async () => {
      const { host, findStart, work } = await open();
      const lastPushed = await work();
      const base = host.head("main");
      const start = { branch, targetBranch: "main", base, isContinued: true, notes: [] };
      expect(await findStart({ lastPushed })).toEqual({ ...start, head: lastPushed, remoteHead: lastPushed });
      const head = host.commitTo(branch, { "b.md": "B\n" });
      host.commitTo("main", { "c.md": "C\n" });
      expect(await findStart({ lastPushed })).toEqual({ ...start, head, remoteHead: head });
    });

    test("on what a person amended", async () => {
      const { host, findStart, work } = await open();
      const lastPushed = await work();
      const head = host.amend(branch, { "b.md": "B\n" });
      const start = await findStart({ lastPushed });
      expect(start).toMatchObject({ head, isContinued: true, notes: [expect.stringContaining("Someone rewrote")] });
    });

    test("after its branch was deleted, as long as someone has the commit", async () => {
      const { host, addMachine, findStart, work } = await open();
      const lastPushed = await work();
      host.deleteBranch(branch);
      const kept = { head: lastPushed, remoteHead: undefined, isContinued: true };
      expect(await findStart({ lastPushed })).toMatchObject(kept);
      const other = (await addMachine()).repository;
      expect(await findStart({ lastPushed }, other)).toMatchObject(kept);
      host.forgetUnreachable();
      expect(await findStart({ lastPushed })).toMatchObject(kept);
      const late = (await addMachine()).repository;
      const head = host.head("main");
      expect(await findStart({ lastPushed }, late)).toMatchObject({ head, isContinued: false, isLost: true });
      const merged = await findStart({ lastPushed, isMerged: true }, late);
      expect([merged.isContinued, merged.isLost]).toEqual([false, undefined]);
    });

    test.each(["merge", "squash"] as const)("at the target branch after a %s", async (how) => {
      const { host, findStart, work } = await open();
      const lastPushed = await work();
      host[how](branch);
      const head = host.commitTo("main", { "b.md": "B\n" });
      const over = { head, base: head, remoteHead: lastPushed, isContinued: false, notes: [] };
      expect(await findStart({ lastPushed })).toMatchObject(over);
      const onTop = host.commitTo(branch, { "c.md": "C\n" });
      const options = { lastPushed, isMerged: true, mergedHead: lastPushed };
      expect(await findStart(options)).toMatchObject({ head: onTop, isContinued: true });
    });

    test("with the project's own files that instruct agents", async () => {
      const { host, repository, findStart, make, work, changed } = await open();
      const head = await work({ "AGENTS.md": "Be long.\n", "a.md": "A\n" });
      const instructions = (paths: readonly string[]) => paths.filter((path) => path === "AGENTS.md");
      expect(await findStart({ lastPushed: head, instructions, own: new Set([head]) })).not.toHaveProperty(
        "instructed",
      );
      const start = await findStart({ lastPushed: head, instructions });
      const { instructed = "" } = start;
      expect(await changed(head, instructed)).toEqual(["AGENTS.md"]);
      expect(await changed(host.head("main"), instructed)).toEqual(["a.md"]);
      const fine = await make(start, { "b.md": "B\n" });
      const onTop = await repository.withOwnFiles(fine, start, () => "Other\n");
      expect([await changed(head, onTop.commit), onTop.leftOut]).toEqual([["b.md"], []]);
      const edited = await make(start, { "b.md": "B\n", "AGENTS.md": "Be quick.\n" });
      const { commit, leftOut } = await repository.withOwnFiles(edited, start, (paths) => `Without ${paths.join()}\n`);
      expect([await changed(head, commit), leftOut]).toEqual([["b.md"], ["AGENTS.md"]]);
      expect(await repository.commits(head, commit)).toEqual([
        { commit, parent: head, message: "Without AGENTS.md\n" },
      ]);
    });

    test("but not on another history", async () => {
      const { host, findStart, work } = await open();
      const lastPushed = await work();
      host.addRoot("main");
      await expect(findStart({ lastPushed })).rejects.toThrow("main was replaced by another history");
    });
  });
});
