import { lstat, readdir, rm } from "node:fs/promises";
import { type BytePath, bytesOf, joinBytes, showPath } from "./byte-paths.ts";
import { type Git, type GitCommandOptions, GitError } from "./git.ts";
import { removeLent } from "./ignored-files.ts";
import { copyIndex, type IndexEntry, readIndex, submoduleMode } from "./index-file.ts";
import type { WorktreePlace } from "./worktree.ts";
import { prepareFolders } from "./worktree-files.ts";

/** A worktree that an agent works in. */
export interface Worktree extends WorktreePlace {
  /** The commit that is checked out. */
  head: string;
  /** The directory itself, by which it is recognized; see `identityOf`. */
  identity: string | undefined;
}

/** Thrown if what an agent has left cannot be published, with what to do about it as the message. */
export class ChangeRefused extends Error {}

export interface CommitOptions {
  /** How large the changed files may be together. */
  maxBytes: number;
  /** How many files may be changed. Default: 50 per MB of `maxBytes`, at least 1000 and at most 100,000. */
  maxFiles?: number | undefined;
  /** Kills Git: patterns of an agent can take it any time. */
  signal?: AbortSignal | undefined;
  /** Default: all files may be changed. */
  only?: AllowedFiles | undefined;
  /** A folder of files that were copied to the same paths, and are never committed. Default: none. */
  lent?: string | undefined;
}

/** The files that may be changed. Changes of others are taken back. */
export interface AllowedFiles {
  matches(path: string): boolean;
  /** Returns the message of a commit that tells what was taken back. */
  messageWith(takenBack: readonly string[]): string;
}

const maxFilesOf = (maxBytes: number): number => Math.min(Math.max(1000, Math.floor(maxBytes / 20_000)), 100_000);
/** In bytes, of all paths that may have been changed, if only some files are allowed: more than any package manager creates. */
const maxListedBytes = 100_000_000;
/** Files that tell Git what to ignore, and how to read others. */
const isRules = /(?:^|\/)\.git(?:ignore|attributes)$/;
/** In bytes. The system accepts no longer path. */
const maxPathLength = 4096;

export interface WorktreeCommit {
  /** `undefined` if nothing was changed. */
  commit: string | undefined;
  /** Paths of submodules with files of the agent, which are not committed. */
  leftOut: string[];
  /** The paths whose changes are taken back, because of `only`. Default: none. */
  takenBack?: readonly string[];
  /** The paths of `lent` that nothing ignores any longer. They are removed. Default: none. */
  returned?: readonly string[];
}

/**
 * Commits everything in a worktree on top of its head, however the agent used Git there.
 *
 * A submodule is never moved to another commit: whether its own repository has that commit is unknown, and its files are not
 * part of this one. It can be removed, or replaced by files.
 *
 * @param git - runs in the clone
 * @throws if the change is too large, or the worktree is gone, or another directory or a link is in its place, whose files
 *   would be published
 */
export async function commitWorktree(
  git: Git,
  clone: string,
  worktree: Worktree,
  message: string,
  { maxBytes, maxFiles = maxFilesOf(maxBytes), signal, only, lent }: CommitOptions,
): Promise<WorktreeCommit> {
  const { tree, head, identity } = worktree;
  if (identity === undefined || (await identityOf(tree)) !== identity)
    throw new ChangeRefused("the agent removed or replaced its worktree");
  const pipe = await prepareFolders(tree, signal);
  if (pipe !== undefined) throw new ChangeRefused(`the agent left a named pipe, for which Git would wait: ${pipe}`);
  // A copy, because only what the service itself wrote may be in the index of the worktree.
  const index = `${worktree.index}-commit`;
  try {
    await copyIndex(worktree.index, index);
    const environment = { GIT_DIR: clone, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index };
    const run = (args: string[], options: GitCommandOptions = {}) =>
      git.run(args, { cwd: tree, environment, signal, encoding: "latin1", ...options });
    const update = async (option: string, paths: readonly BytePath[]): Promise<void> => {
      const input = Buffer.from(paths.join("\0"), "latin1");
      if (paths.length > 0) await run(["update-index", "-z", option, "--stdin"], { input });
    };
    const before = await readIndex(index, "latin1");
    const submodules = await sortSubmodules(tree, before);
    const isOutside = (path: BytePath): boolean => only !== undefined && !only.matches(showPath(path));
    const keptGone = submodules.gone.filter(isOutside);
    const gone = submodules.gone.filter((path) => !isOutside(path));
    // Git leaves them alone then. Otherwise it would read the repository that the agent has there.
    await update("--skip-worktree", [...submodules.kept, ...keptGone]);
    await update("--force-remove", gone);
    const list = ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--", ":/"];
    // What is cut off has more files than are allowed.
    const maxListed = only === undefined ? (maxFiles + 1) * maxPathLength : maxListedBytes;
    const removed: BytePath[] = [];
    const findChanged = async (): Promise<ReturnType<typeof separate>> => {
      const listed = await run(list, { maxBytes: maxListed });
      const paths = [...new Set(listed.split("\0").filter((path) => path !== ""))];
      const ofOthers = lent === undefined ? [] : await removeLent(lent, tree, paths);
      removed.push(...ofOthers);
      // There may be more than are listed.
      if (ofOthers.length > 0) return findChanged();
      if (only !== undefined && listed.length === maxListed)
        throw new ChangeRefused(
          "the agent changed so many files that not all can be looked at: tell it to delete what it does not need",
        );
      return separate(paths, isOutside);
    };
    const first = await findChanged();
    const rules = [...first.outside].filter((path) => isRules.test(path));
    // What is taken back must not decide which of the other files Git ignores, or how it reads them.
    if (rules.length > 0) {
      const tracked = new Set(before.map(({ path }) => path));
      for (const path of rules) if (!tracked.has(path)) await rm(joinBytes(bytesOf(tree), path), { force: true });
      const input = Buffer.from(rules.filter((path) => tracked.has(path)).join("\0"), "latin1");
      await run(["checkout-index", "--force", "-z", "--stdin"], { input });
    }
    const { inside: paths, outside } = rules.length > 0 ? await findChanged() : first;
    const leftOut = submodules.leftOut.map(showPath);
    const takenBack = [...new Set([...keptGone, ...first.outside, ...outside])].map(showPath).sort();
    const told = { leftOut, takenBack, returned: removed.map(showPath) };
    const unchanged = { commit: undefined, ...told };
    if (paths.length === 0 && gone.length === 0) return unchanged;
    if (paths.length > maxFiles)
      throw new ChangeRefused(
        `the change has more than the ${maxFiles} files that --largest-change-mb allows, such as ${paths.slice(0, 3).map(showPath).join(", ")}`,
      );
    await checkSize(tree, paths, maxBytes);
    const some = ["--literal-pathspecs", "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"];
    const input = Buffer.from(topmost(paths).join("\0"), "latin1");
    const add = () => (only === undefined ? run(["add", "--all", "--", ":/"]) : run(some, { input }));
    // Without a path, Git would add nothing, and fail.
    if (paths.length > 0 || only === undefined)
      await add().catch((error: unknown) => {
        throw explainRejection(error);
      });
    const after = await readIndex(index, "latin1");
    const nested = after.find(({ mode, path }) => mode === submoduleMode && !submodules.kept.includes(path));
    if (nested !== undefined)
      throw new ChangeRefused(
        `the agent created a Git repository in ${showPath(nested.path)}, which cannot be committed: ${repositoryAdvice}`,
      );
    if (isSame(before, after)) return unchanged;
    const text = only?.messageWith(takenBack) ?? message;
    const commit = await commitTree(git, (await run(["write-tree"])).trim(), head, text);
    return { commit, ...told };
  } finally {
    await rm(index, { force: true });
    // Left by Git if it was killed.
    await rm(`${index}.lock`, { force: true });
  }
}

/**
 * Separates changed paths into those that are committed and those that are taken back. One that is in place of a folder of the others, or
 * in a folder in place of one of them, cannot be committed either.
 */
function separate(paths: readonly BytePath[], isOutside: (path: BytePath) => boolean) {
  const others = paths.filter(isOutside);
  const above = new Set(others.flatMap(foldersOf));
  const outside = new Set([...others, ...paths.filter((path) => above.has(path))]);
  for (const path of paths) if (foldersOf(path).some((folder) => outside.has(folder))) outside.add(path);
  return { inside: paths.filter((path) => !outside.has(path)), outside };
}

/** Returns those of some paths that are not below another one: Git adds what is below with it. */
function topmost(paths: readonly BytePath[]): BytePath[] {
  const all = new Set(paths);
  return paths.filter((path) => !foldersOf(path).some((folder) => all.has(folder)));
}

/** Returns the folders that a path is in. */
function foldersOf(path: BytePath): BytePath[] {
  const names = path.replace(/\/$/, "").split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}

const repositoryAdvice = "tell it to delete the .git in there, or the whole folder";

/** What Git says of a file that it does not add, with what to do about it. */
const rejections: readonly (readonly [RegExp, (path: string) => string])[] = [
  [
    /\berror: '(.*?)\/?' does not have a commit checked out$/m,
    (path) =>
      `the agent created a Git repository without a commit in ${path}, which cannot be committed: ${repositoryAdvice}`,
  ],
  [
    /\berror: invalid path '(.*)'$/m,
    (path) => `the agent created ${path}, a name that Git keeps for itself: tell it to choose another one`,
  ],
  [
    /\bfatal: (?:BOM is (?:required|prohibited) in|failed to encode) '(.*?)'/m,
    (path) =>
      `${path} does not have the encoding that a .gitattributes demands with working-tree-encoding: tell the agent to write it with the byte order mark and the encoding that Git names below, or to change the attribute`,
  ],
];

/** Returns why Git does not add a file, for people who read the log of a job. */
function explainRejection(error: unknown): unknown {
  if (!(error instanceof GitError)) return error;
  for (const [pattern, explain] of rejections) {
    const path = pattern.exec(error.message)?.[1];
    if (path !== undefined) return new ChangeRefused(`${explain(path)}\n${error.message}`, { cause: error });
  }
  return error;
}

/**
 * Returns the id of a new commit.
 *
 * @param at - when it is committed, in seconds since 1970. Default: now
 */
export async function commitTree(
  git: Git,
  tree: string,
  parent: string,
  message: string,
  at?: number,
): Promise<string> {
  const environment = at === undefined ? {} : { GIT_COMMITTER_DATE: `@${at} +0000` };
  const options = { input: message, environment };
  return (await git.run(["commit-tree", tree, "-p", parent, "-F", "-"], options)).trim();
}

/** Returns the identity of a directory, or `undefined` if there is no directory, such as a link. */
export async function identityOf(path: string | Buffer): Promise<string | undefined> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined);
  return stat?.isDirectory() ? `${stat.dev}:${stat.ino}` : undefined;
}

/** Sorts the submodules of a worktree by how the agent left them. */
async function sortSubmodules(tree: string, entries: readonly IndexEntry[]) {
  const [kept, gone, leftOut]: [BytePath[], BytePath[], BytePath[]] = [[], [], []];
  for (const { path } of entries.filter(({ mode }) => mode === submoduleMode)) {
    const folder = joinBytes(bytesOf(tree), path);
    const isFolder = (await identityOf(folder)) !== undefined;
    const names = await readdir(folder, "latin1").catch(() => [".git"]);
    const hasRepository = isFolder && names.includes(".git");
    if (hasRepository) leftOut.push(path);
    (hasRepository || (isFolder && names.length === 0) ? kept : gone).push(path);
  }
  return { kept, gone, leftOut };
}

function isSame(before: readonly IndexEntry[], after: readonly IndexEntry[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ mode, path, id }, index) => {
      const other = after[index];
      return mode === other?.mode && path === other.path && id === other.id;
    })
  );
}

/**
 * Checks the size of the files that are about to be added, before they are copied to the clone, which keeps them.
 *
 * @throws if they are larger than `maxBytes` together
 */
async function checkSize(tree: string, paths: readonly BytePath[], maxBytes: number): Promise<void> {
  let total = 0;
  let largest = { path: "", size: 0 };
  for (const path of paths) {
    // A deleted file is listed too.
    const stat = await lstat(joinBytes(bytesOf(tree), path)).catch(() => undefined);
    const size = stat?.isDirectory() ? 0 : (stat?.size ?? 0);
    total += size;
    if (size > largest.size) largest = { path, size };
  }
  if (total <= maxBytes) return;
  throw new ChangeRefused(
    `the change has ${megabytes(total)} MB, more than the ${megabytes(maxBytes)} MB of --largest-change-mb; ` +
      `the largest file is ${showPath(largest.path)} with ${megabytes(largest.size)} MB`,
  );
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toLocaleString("en", { maximumFractionDigits: 1 });
}
