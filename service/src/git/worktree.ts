import { lstat, mkdir, rename, rm } from "node:fs/promises";
import { isResourceExhausted } from "../processes/resource-exhausted.ts";
import { removeDirectory } from "../remove-directory.ts";
import type { Git } from "./git.ts";
import { readIndex } from "./index-file.ts";
import { removeForeignFiles } from "./worktree-files.ts";

/** Where a worktree is. */
export interface WorktreePlace {
  /** The worktree. */
  tree: string;
  /** The index by which the service recognizes the files that it wrote to the worktree. Not for the agent. */
  index: string;
}

/**
 * Makes a worktree contain exactly the files of a commit, whatever is there now.
 * Files that nobody touched since the service wrote them are kept. The index tells them: it has the inode, the size and the times of each,
 * as they were then. An agent can set a file's modification time, but the kernel sets the time of the last status change, and Git reads the
 * content of files that are as new as the index. Everything else is removed first, so that no link of the agent redirects Git.
 *
 * @param git - runs in the clone
 * @param signal - kills Git: patterns in the commit's `.gitattributes` can take it any time
 */
export async function restoreWorktree(
  git: Git,
  clone: string,
  place: WorktreePlace,
  commit: string,
  signal?: AbortSignal,
): Promise<void> {
  const { tree, index } = place;
  const environment = { GIT_DIR: clone, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index };
  const readTree = () => git.run(["read-tree", "--reset", "-u", commit], { cwd: tree, environment, signal });
  // Left by a Git process that was killed.
  await rm(`${index}.lock`, { force: true });
  if (await isWorktree(place)) {
    try {
      await removeForeignFiles(tree, await readIndex(index));
      await readTree();
      return;
    } catch (error) {
      if (isResourceExhausted(error) || signal?.aborted) throw error;
      // Such as names that are no UTF-8: start from nothing.
    }
  }
  await removeWorktree(place);
  await mkdir(tree, { recursive: true });
  await readTree();
}

/** Returns whether there is a worktree that `restoreWorktree` can continue with. */
export async function isWorktree({ tree, index }: WorktreePlace): Promise<boolean> {
  const [folder, file] = await Promise.all([tree, index].map((path) => lstat(path).catch(() => undefined)));
  return folder?.isDirectory() === true && file?.isFile() === true;
}

export async function removeWorktree({ tree, index }: WorktreePlace): Promise<void> {
  await rm(index, { force: true });
  await rm(inUse(index), { force: true });
  await removeDirectory(tree);
}

const inUse = (index: string): string => `${index}-in-use`;

/**
 * Puts the index out of the way while an agent has the worktree. So a worktree in which a process of the agent may still be
 * running, because the service was killed or had to kill the agent, is not taken for one to continue with.
 */
export async function lendWorktree({ index }: WorktreePlace): Promise<void> {
  await rename(index, inUse(index));
}

/** Ends the loan when all processes of the agent have ended. */
export async function takeBackWorktree({ index }: WorktreePlace): Promise<void> {
  await rename(inUse(index), index);
}
