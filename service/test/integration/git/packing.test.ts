import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { GitRepository, type RepositoryOptions } from "../../../src/git/git-repository.ts";
import { keepUp, keepUpOnce } from "../../../src/git/upkeep.ts";
import { Worktrees } from "../../../src/git/worktrees.ts";
import { docsRepository, folderWithClone } from "../../support/agent-service.ts";

async function setUp(options: Partial<RepositoryOptions> = {}) {
  const docs = docsRepository();
  const folder = folderWithClone(docs);
  const repository = new GitRepository({ url: docs.path, folder, ...options });
  await repository.open();
  const clone = join(folder, "mirror.git");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", clone, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  const write = (name: string, parent = "main") =>
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", `${parent}^{tree}`, "-p", parent, "-m", name);
  /** Returns how many loose objects and packs there are. */
  const counts = () => [
    globSync("objects/??/*", { cwd: clone }).length,
    globSync("objects/pack/*.pack", { cwd: clone }).length,
  ];
  const has = (commit: string): boolean => {
    try {
      git("cat-file", "-e", commit);
      return true;
    } catch {
      return false;
    }
  };
  return { docs, folder, repository, clone, git, write, counts, has };
}

/** A repository with so many loose objects that it needs packing. */
let largeRepository: string;

beforeAll(() => {
  largeRepository = mkdtempSync(join(tmpdir(), "large-repository-"));
  execFileSync("git", ["init", "--quiet", "--bare", largeRepository]);
  const blobs = Array.from({ length: 1100 }, (_, number) => `blob\ndata <<end\n${number}\nend\n`);
  const keepLoose = ["-c", "fastimport.unpackLimit=2000"];
  execFileSync("git", [...keepLoose, "-C", largeRepository, "fast-import", "--quiet"], { input: blobs.join("") });
});

afterAll(() => rmSync(largeRepository, { recursive: true, force: true }));

/** Adds the objects of the large repository to a clone, as links: writing so many files takes a second. */
function addLooseObjects(clone: string): void {
  for (const object of globSync("??/*", { cwd: join(largeRepository, "objects") })) {
    mkdirSync(join(clone, "objects", dirname(object)), { recursive: true });
    linkSync(join(largeRepository, "objects", object), join(clone, "objects", object));
  }
}

/** Makes all objects older than any that are kept without a ref. */
function age(clone: string): void {
  const monthAgo = Date.now() / 1000 - 30 * 86_400;
  for (const file of globSync("objects/**/*", { cwd: clone })) utimesSync(join(clone, file), monthAgo, monthAgo);
}

test("packs refs and objects, and keeps the commits of jobs, pushed or not, and young objects", async () => {
  const { docs, repository, clone, git, write, counts, has } = await setUp();
  const [earlier, last, unpushed] = [write("earlier"), write("last"), write("unpushed")];
  await repository.keep(earlier, "a");
  await repository.push(earlier, "agent/a", undefined);
  await repository.keep(last, "a", earlier);
  await repository.push(last, "agent/a", earlier);
  docs.deleteBranch("agent/a");
  await repository.list();
  git("update-ref", "refs/jobs/b", unpushed);
  age(clone);
  const young = write("young");

  await repository.pack();
  await repository.pack();
  expect(counts()[0]).toBe(0);
  expect(counts()[1]).toBeGreaterThan(0);
  for (const commit of [earlier, last, unpushed, young]) expect(has(commit)).toBe(true);
  expect(await repository.lastCommitOf("a")).toMatchObject({ commit: last });
  expect(existsSync(join(clone, "packed-refs"))).toBe(true);
  expect(
    readdirSync(join(clone, "refs"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
  ).toEqual([]);

  // Refs that are packed are found, moved and fetched as before.
  expect(await repository.branchHead("main")).toBe(docs.head("main"));
  docs.setHead("next", docs.head("main"));
  docs.git("branch", "-m", "main", "trunk");
  docs.git("symbolic-ref", "HEAD", "refs/heads/trunk");
  await repository.fetch([]);
  expect(await repository.targetBranch()).toBe("trunk");
  expect(await repository.branchHead("main")).toBeUndefined();
  expect(git("fsck", "--no-dangling")).toBe("");
});

test("removes the commits of forgotten jobs two weeks later, but no others", async () => {
  const { docs, repository, clone, git, write, has } = await setUp();
  const commits = { earlier: write("earlier"), last: write("last"), branch: write("branch"), kept: write("kept") };
  await repository.keep(commits.earlier, "a");
  await repository.push(commits.earlier, "agent/a", undefined);
  await repository.keep(commits.last, "a", commits.earlier);
  await repository.push(commits.last, "agent/a", commits.earlier);
  await repository.keep(commits.branch, "b");
  await repository.push(commits.branch, "agent/b", undefined);
  await repository.keep(commits.kept, "c");
  await repository.push(commits.kept, "agent/c", undefined);
  for (const branch of ["agent/a", "agent/c"]) docs.deleteBranch(branch);
  await repository.list();
  await repository.forgetJobs([]);
  await repository.forgetJobs(["a", "b", "unknown"]);
  expect(git("for-each-ref", "--format=%(refname)", "refs/jobs", "refs/earlier")).toBe("refs/jobs/c");
  age(clone);
  const young = write("young");
  await repository.keep(young, "d");
  await repository.push(young, "agent/d", undefined);
  docs.deleteBranch("agent/d");
  await repository.list();
  await repository.forgetJobs(["d"]);
  await repository.pack();
  expect([has(commits.earlier), has(commits.last)]).toEqual([false, false]);
  expect([has(commits.branch), has(commits.kept), has(young)]).toEqual([true, true, true]);
});

test("packs only if there are many loose objects or packs", async () => {
  const { folder, repository, clone, git, counts } = await setUp();
  expect(await repository.packIfNeeded()).toBe(false);
  addLooseObjects(clone);
  expect(await repository.packIfNeeded()).toBe(true);
  expect(counts()[0]).toBe(0);
  expect(await repository.packIfNeeded()).toBe(false);
  for (let count = 0; count < 21; count++) {
    execFileSync("git", ["pack-objects", "-q", join(folder, "mirror.git/objects/pack/pack")], {
      cwd: join(folder, "mirror.git"),
      input: `${git("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "main^{tree}", "-m", String(count))}\n`,
    });
  }
  expect(await repository.packIfNeeded()).toBe(true);
  expect(counts()[1]).toBeLessThan(4);
});

test("packs at idle times, and other commands run meanwhile", async () => {
  const { folder, repository, clone, counts } = await setUp();
  addLooseObjects(clone);
  const worktrees = new Worktrees({ repository, folder, kept: 1, slowCheckoutMs: 3_600_000 });
  const options = { repository, worktrees, isNeeded: async () => true };
  const place = { tree: join(folder, "a/tree"), index: join(folder, "a/index") };
  await worktrees.checkOut(place, await repository.findStart("agent/a", { isMerged: false, lastPushed: null }));
  await keepUpOnce(options);
  expect(counts()[0]).toBeGreaterThan(1000);
  await worktrees.release(place);
  let isPacked = false;
  const packed = keepUpOnce(options).finally(() => {
    isPacked = true;
  });
  await waitUntil(async () => {
    await repository.diff("main", "main", 10);
    return isPacked;
  });
  await packed;
  expect(counts()[0]).toBe(0);
});

test("logs an error, and ends with the service", async () => {
  const { docs, repository, folder, clone } = await setUp();
  addLooseObjects(clone);
  const worktrees = new Worktrees({ repository, folder, kept: 1, slowCheckoutMs: 0 });
  docs.git("pack-refs", "--all");
  writeFileSync(join(folder, "mirror.git/packed-refs.lock"), "");
  const log: string[] = [];
  const stop = new AbortController();
  const ended = keepUp({
    repository,
    worktrees,
    isNeeded: async () => true,
    signal: stop.signal,
    log: (line) => {
      log.push(line);
      stop.abort();
    },
  });
  await ended;
  expect(log).toEqual([
    expect.stringMatching(/^Maintenance of the clone .* Jobs are not affected\. .*packed-refs\.lock/s),
  ]);
});

test("is stopped with the service, without a line in the log", async () => {
  const stop = new AbortController();
  const { repository, folder, clone } = await setUp({ signal: stop.signal });
  addLooseObjects(clone);
  const worktrees = new Worktrees({ repository, folder, kept: 1, slowCheckoutMs: 0 });
  const log: string[] = [];
  const ended = keepUp({
    repository,
    worktrees,
    isNeeded: async () => true,
    signal: stop.signal,
    log: (line) => void log.push(line),
  });
  stop.abort();
  await ended;
  expect(log).toEqual([]);
});
