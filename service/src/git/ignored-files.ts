import { execFile } from "node:child_process";
import { access, lstat, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorMessage } from "../error-message.ts";
import { ResourceExhausted, saysResourceExhausted } from "../processes/resource-exhausted.ts";
import { removeDirectory } from "../remove-directory.ts";
import { type BytePath, bytesOf, joinBytes } from "./byte-paths.ts";
import type { Git } from "./git.ts";
import { readIndex } from "./index-file.ts";
import type { WorktreePlace } from "./worktree.ts";

/*
 * What a program leaves in a worktree besides tracked files, such as installed packages. Nothing here follows a link, or opens one of these
 * files.
 */

const kindOf = async (path: string | Buffer): Promise<"missing" | "folder" | "other"> => {
  const stat = await lstat(path).catch(() => undefined);
  return stat === undefined ? "missing" : stat.isDirectory() ? "folder" : "other";
};

const isRepository = (name: string): boolean => name.toLowerCase() === ".git";

/**
 * Moves everything that is not tracked out of a worktree, to the same paths in a folder. A file in place of a tracked folder stays, and so
 * does what is in place of a tracked file.
 *
 * @param target - a folder that does not exist, on the same disk
 */
export async function moveForeignFiles({ tree, index }: WorktreePlace, target: string): Promise<void> {
  const folders = new Set([""]);
  const tracked = new Set<string>();
  for (const { path } of await readIndex(index)) {
    tracked.add(path);
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
      folders.add(path.slice(0, end));
  }
  const move = async (folder: string): Promise<void> => {
    await mkdir(join(target, folder), { recursive: true });
    for (const entry of await readdir(join(tree, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (folders.has(path)) {
        if (entry.isDirectory()) await move(path);
      } else if (!tracked.has(path) && !isRepository(entry.name)) await rename(join(tree, path), join(target, path));
    }
  };
  await move("");
}

/**
 * Removes from a folder that `moveForeignFiles` has filled what a commit does not ignore, or has a file in place of. Only the commit's own
 * `.gitignore` files count, not those in the folder.
 *
 * @param tree - has the files of the commit, and no others
 * @returns the paths that were removed
 */
export async function keepIgnored(git: Git, clone: string, tree: string, files: string): Promise<string[]> {
  const environment = { GIT_DIR: clone, GIT_WORK_TREE: tree };
  const removed: string[] = [];
  /** In the worktree, so that Git knows what is a folder. */
  const placeholders: string[] = [];
  const drop = async (path: string): Promise<void> => {
    removed.push(path);
    await removeDirectory(join(files, path));
  };
  try {
    let folders = [""];
    while (folders.length > 0) {
      const asked: { path: string; isFolder: boolean }[] = [];
      const next: string[] = [];
      for (const folder of folders)
        for (const entry of await readdir(join(files, folder), { withFileTypes: true })) {
          const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
          const isFolder = entry.isDirectory();
          const kind = isRepository(entry.name) || path.includes("\ufffd") ? "other" : await kindOf(join(tree, path));
          if (kind === "folder" && isFolder) next.push(path);
          else if (kind !== "missing") await drop(path);
          else {
            if (isFolder) await mkdir(join(tree, path));
            else await writeFile(join(tree, path), "", { flag: "wx" });
            placeholders.push(path);
            asked.push({ path, isFolder });
          }
        }
      const input = asked.map(({ path }) => `${path}\0`).join("");
      const query = ["check-ignore", "--no-index", "-z", "--stdin"];
      const answer = asked.length === 0 ? "" : await git.query(query, { cwd: tree, environment, input });
      const ignored = new Set(answer?.split("\0"));
      // One in it may be ignored.
      for (const { path, isFolder } of asked.filter((one) => !ignored.has(one.path)))
        if (isFolder) next.push(path);
        else await drop(path);
      folders = next;
    }
  } finally {
    for (const path of placeholders) await rm(join(tree, path), { recursive: true, force: true });
  }
  return removed;
}

/**
 * Copies a folder of ignored files to their paths in a worktree, which keeps what it has there. The files of a build with Node are copied in
 * about a second, which is less than the mounts of a view cost that only its top can be written to.
 *
 * @param signal - ends it with an error
 */
export async function copyIgnored(files: string, tree: string, signal?: AbortSignal): Promise<void> {
  // Without `--setup`, there are none.
  if ((await kindOf(files)) === "missing") return;
  const copy = async (folder: string): Promise<void> => {
    const missing: string[] = [];
    for (const entry of await readdir(join(files, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const kind = await kindOf(join(tree, path));
      if (kind === "missing") missing.push(join(files, path));
      else if (kind === "folder" && entry.isDirectory()) await copy(path);
    }
    if (missing.length === 0) return;
    const args = ["-a", "--reflink=auto", "-t", join(tree, folder), "--", ...missing];
    const options = { ...(signal && { signal }), env: { PATH: process.env.PATH } };
    await promisify(execFile)("cp", args, options).catch((error: unknown) => {
      throw saysResourceExhausted(errorMessage(error)) ? new ResourceExhausted(errorMessage(error)) : error;
    });
  };
  await access(tree);
  await copy("");
}

/**
 * Removes from a worktree the paths that a folder has, too, from which they were copied.
 *
 * @param paths - as Git lists them: folders, with a slash at the end, only if they are repositories
 * @returns the paths that were removed
 */
export async function removeLent(files: string, tree: string, paths: readonly BytePath[]): Promise<BytePath[]> {
  const removed: BytePath[] = [];
  for (const path of paths) {
    const kind = await kindOf(joinBytes(bytesOf(files), path.replace(/\/$/, "")));
    // Something else in its place is the agent's.
    if (kind !== (path.endsWith("/") ? "folder" : "other")) continue;
    await rm(joinBytes(bytesOf(tree), path), { recursive: true, force: true });
    removed.push(path);
  }
  return removed;
}
