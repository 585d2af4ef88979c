import { access, chmod, constants, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { removeDirectory } from "../remove-directory.ts";
import { type BytePath, bytesOf, joinBytes } from "./byte-paths.ts";
import type { IndexEntry } from "./index-file.ts";

type Kind = "file" | "link" | "folder";

/**
 * Removes everything from a worktree that is not a tracked file, or not of its kind: untracked and ignored files, links in
 * place of folders, Git repositories, and the content of submodules. Folders become writable again, for their owner only. It
 * follows no link and runs no Git.
 *
 * @throws if a name is no valid UTF-8
 */
export async function removeForeignFiles(tree: string, tracked: readonly IndexEntry[]): Promise<void> {
  const kinds = kindsOf(tracked);
  const clean = async (folder: string): Promise<void> => {
    await chmod(join(tree, folder), 0o700);
    const entries = await readdir(join(tree, folder), { withFileTypes: true });
    await Promise.all(
      entries.map(async (entry) => {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (path.includes("\ufffd")) throw new Error(`${path} is no valid UTF-8`);
        const kind = kinds.get(path);
        if (kind === "folder" && entry.isDirectory()) await clean(path);
        else if (!(kind === "file" && entry.isFile()) && !(kind === "link" && entry.isSymbolicLink()))
          await removeDirectory(join(tree, path));
      }),
    );
  };
  await clean("");
}

function kindsOf(tracked: readonly IndexEntry[]): Map<string, Kind> {
  const kinds = new Map<string, Kind>();
  for (const { mode, path } of tracked) {
    if (mode === 0o120000) kinds.set(path, "link");
    // Git creates the empty folder of a submodule again.
    else if (mode !== 0o160000) kinds.set(path, "file");
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (kinds.has(folder)) break;
      kinds.set(folder, "folder");
    }
  }
  return kinds;
}

/**
 * Prepares a folder and those in it for Git: makes those readable that the agent made unreadable, since Git would leave out what is in them,
 * without an error, and removes named pipes in place of files that Git reads, such as `.gitignore`, for which it would wait. Names need not
 * be UTF-8.
 *
 * @param signal - ends it with an error
 * @returns paths in the folder that are neither files, links nor folders, of which Git says nothing; not all if there are many
 */
export async function prepareFolders(folder: string, signal?: AbortSignal): Promise<BytePath[]> {
  const top = bytesOf(folder);
  const waiting = [{ path: top, isInRepository: false }];
  const special: BytePath[] = [];
  const prepareNext = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      signal?.throwIfAborted();
      const { path, isInRepository } = next;
      // A folder that is too deep for any path stays as it is: it is too deep for Git, too.
      await access(path, constants.R_OK | constants.X_OK).catch(() => chmod(path, 0o700).catch(() => {}));
      const entries = await readdir(path, { withFileTypes: true, encoding: "buffer" }).catch(() => []);
      for (const entry of entries) {
        const name = entry.name.toString("latin1");
        // The one at the top is the agent's, which Git never opens.
        const isOwn = name === ".git" && path.equals(top);
        if (entry.isDirectory()) {
          if (!isOwn) waiting.push({ path: joinBytes(path, name), isInRepository: isInRepository || name === ".git" });
        } else if (!entry.isFile() && !entry.isSymbolicLink()) {
          // To find out whether a folder is a repository of its own, Git opens files such as `.git/HEAD` in it.
          if (isInRepository || name.startsWith(".git")) await rm(joinBytes(path, name), { force: true });
          if (special.length < maxSpecial)
            special.push(
              joinBytes(path, name)
                .toString("latin1")
                .slice(top.toString("latin1").length + 1),
            );
        }
      }
    }
  };
  // Several at a time, but not all: there can be any number.
  while (waiting.length > 0) await Promise.all(Array.from({ length: 8 }, prepareNext));
  return special;
}

const maxSpecial = 50;
