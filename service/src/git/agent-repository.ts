import { lstat, mkdir, opendir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BytePath } from "./byte-paths.ts";
import { copyIndex, readIndex } from "./index-file.ts";
import type { WorktreePlace } from "./worktree.ts";

export interface AgentRepositoryOptions {
  /** The bare clone, whose objects it uses. */
  clone: string;
  /** The configuration that Git gave the clone: it depends on the file system. */
  cloneConfig: string;
  /** What `origin` is. */
  url: string;
  /** Checked out, at `head`. */
  branch: string;
  head: string;
  /** Shown as `origin/<target branch>` and `origin/HEAD`. */
  targetBranch: string;
  /** The branches that the agent sees, with their heads. */
  heads: Iterable<readonly [branch: string, head: string]>;
}

/**
 * Writes the `.git` of a worktree that has none, as `git clone --shared` and `git checkout` would. It is the agent's: the service
 * never runs Git with it, and writes it anew for each turn.
 */
export async function writeAgentRepository(
  { tree, index }: WorktreePlace,
  options: AgentRepositoryOptions,
): Promise<void> {
  const { clone, cloneConfig, url, branch, head, targetBranch, heads } = options;
  const folder = join(tree, ".git");
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  const core = cloneConfig.replace("bare = true", "bare = false\n\tlogallrefupdates = true");
  const origin = `[remote "origin"]\n\turl = ${quote(url)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
  await mkdir(join(folder, "objects/pack"), { recursive: true });
  await write("objects/info/alternates", `${join(clone, "objects")}\n`);
  await write("HEAD", headText(branch));
  await write("config", core + origin);
  await write(`refs/heads/${branch}`, branchText(head));
  await write("refs/remotes/origin/HEAD", `ref: refs/remotes/origin/${targetBranch}\n`);
  await write("packed-refs", [...heads].map(([name, commit]) => `${commit} refs/remotes/origin/${name}\n`).join(""));
  await copyIndex(index, join(folder, "index"));
}

/** Quotes a value for a file of settings. */
function quote(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

type Written = Pick<AgentRepositoryOptions, "branch" | "head">;

/**
 * Returns whether an agent may have made commits in its repository. It did not if `HEAD` and the branch are as they were
 * written. Only these two files are read, and compared: Git does not run there.
 */
export async function hasOwnCommits(tree: string, written: Written): Promise<boolean> {
  return (await sameRefs(tree, written)).includes(false);
}

/** Returns whether `HEAD` is as it was written, and whether the branch is. */
async function sameRefs(tree: string, { branch, head }: Written): Promise<readonly boolean[]> {
  const isUnchanged = async (file: string, text: string): Promise<boolean> => {
    const path = join(tree, ".git", file);
    // Anything else, such as a named pipe, could block.
    const stat = await lstat(path).catch(() => undefined);
    return stat?.isFile() === true && stat.size === text.length && (await readFile(path, "latin1")) === text;
  };
  return Promise.all([isUnchanged("HEAD", headText(branch)), isUnchanged(`refs/heads/${branch}`, branchText(head))]);
}

/**
 * Returns whether an agent may have left work in its repository besides what `HEAD` and the worktree have: on other branches, in a stash or in
 * another worktree; or may have left its branch, begun something that Git has not ended, or removed its repository. Git does not run there.
 */
export async function mayHaveLeftWork(tree: string, written: Written): Promise<boolean> {
  const git = join(tree, ".git");
  const kindOf = async (path: string) => lstat(join(git, path)).catch(() => undefined);
  // Nothing tells where it was when it removed its repository.
  if ((await kindOf("."))?.isDirectory() !== true) return true;
  for (const sign of signs) if ((await kindOf(sign)) !== undefined) return true;
  const log = await kindOf("logs/HEAD");
  if (log?.isFile() === true && log.size > maxLogBytes) return true;
  const moves = log?.isFile() === true ? await readFile(join(git, "logs/HEAD"), "latin1") : "";
  if (hasLeft.test(moves)) return true;
  const [isOnBranch, isSameBranch] = await sameRefs(tree, written);
  // It may have left the branch, or moved it, and has removed what tells so.
  if (!isOnBranch || (!isSameBranch && !moves.startsWith(written.head))) return true;
  let hasOwn = false;
  let count = 0;
  const folders = ["refs", "refs/heads"];
  for (const folder of folders) {
    if ((await kindOf(folder))?.isDirectory() !== true) return true;
    if (folder === "refs") continue;
    for await (const entry of await opendir(join(git, folder))) {
      if (++count > maxLooked) return true;
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else if (path !== `refs/heads/${written.branch}`) return true;
      else hasOwn = true;
    }
  }
  // Git may have packed it, with others.
  return !hasOwn;
}

/**
 * Returns the paths in the index of an agent's repository, of which each character is a byte: what it has committed, or added, also if it is
 * ignored. `undefined` if that cannot be told. Untrusted. Git does not run there.
 */
export async function pathsInIndex(tree: string): Promise<BytePath[] | undefined> {
  const git = join(tree, ".git");
  const file = join(git, "index");
  const [folder, stat] = await Promise.all([git, file].map((path) => lstat(path).catch(() => undefined)));
  // Anything else, such as a named pipe, could block.
  if (!folder?.isDirectory() || !stat?.isFile() || stat.size > maxIndexBytes) return undefined;
  const entries = await readIndex(file, "latin1").catch(() => undefined);
  return entries?.map(({ path }) => path);
}

/** For a million files. */
const maxIndexBytes = 100_000_000;

/** Of work elsewhere, and of what a conflict has stopped. */
const signs = "refs/stash worktrees MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD rebase-merge rebase-apply".split(" ");
/** Also a stash leaves such a line. */
const hasLeft = /\t(?:checkout|reset): /;
const maxLogBytes = 1_000_000;
/** In files and folders of branches. */
const maxLooked = 1000;

const headText = (branch: string): string => `ref: refs/heads/${branch}\n`;
const branchText = (head: string): string => `${head}\n`;
