import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BytePath } from "./byte-paths.ts";
import { commitTree } from "./commit-worktree.ts";
import type { Git } from "./git.ts";
import { rebase } from "./history.ts";

/**
 * Returns a commit that has the files of another one where these match, and otherwise its own.
 *
 * @param from - the commit whose files are taken
 * @param matching - returns the paths whose files are taken. Each character of a path is a byte
 * @returns `head` itself if there is no difference, otherwise a child of it
 */
export async function withFilesOf(
  git: Git,
  head: string,
  from: string,
  matching: (paths: readonly string[]) => readonly string[],
): Promise<string> {
  const list = async (args: string[], environment = {}) =>
    (await git.run(args, { environment, encoding: "latin1" })).split("\0").filter((part) => part !== "");
  const paths = matching(await list(["diff-tree", "-r", "-z", "--name-only", "--no-renames", head, from]));
  if (paths.length === 0) return head;
  const names = new Set(paths);
  const taken = await list(["ls-tree", "-r", "-z", "--full-tree", from]);
  // First all are removed: a file may take the place of a folder.
  const lines = [
    ...paths.map((path) => `0 ${"0".repeat(40)}\t${path}`),
    ...taken
      .filter((line) => names.has(line.slice(line.indexOf("\t") + 1)))
      .map((line) => line.replace(/^(\d+) \w+ /, "$1 ")),
  ];
  const folder = await mkdtemp(join(tmpdir(), "agent-job-index-"));
  try {
    const environment = { GIT_INDEX_FILE: join(folder, "index") };
    await git.run(["read-tree", head], { environment });
    const input = Buffer.from(lines.map((line) => `${line}\0`).join(""), "latin1");
    await git.run(["update-index", "-z", "--index-info"], { environment, input });
    const tree = (await git.run(["write-tree"], { environment })).trim();
    return await commitTree(git, tree, head, "Files that instruct agents, as the project has them\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Makes the change of a commit whose parent `withFilesOf` returned on top of the commit itself. Edits of the files that were taken are left
 * out if they conflict with the commit's own.
 *
 * @param messageWith - returns the message of the new commit. `leftOut`: the paths of such files, as bytes
 * @returns `commit`: the new commit, or `head` if nothing is changed
 */
export async function withOwnFiles(
  git: Git,
  commit: string,
  instructed: string,
  head: string,
  messageWith: (leftOut: readonly BytePath[]) => string,
): Promise<{ commit: string; leftOut: BytePath[] }> {
  // What conflicts with the branch, and is only kept, has the files of another commit.
  if ((await git.query(["rev-parse", `${commit}^`])) !== instructed) return { commit, leftOut: [] };
  const rebased = await rebase(git, commit, instructed, head);
  if (rebased !== undefined) return { commit: rebased, leftOut: [] };
  const list = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", head, instructed];
  const taken = new Set((await git.run(list, { encoding: "latin1" })).split("\0"));
  const leftOut: BytePath[] = [];
  const without = await withFilesOf(git, commit, instructed, (paths) => {
    leftOut.push(...paths.filter((path) => taken.has(path)));
    return leftOut;
  });
  const tree = (await git.run(["rev-parse", `${without}^{tree}`])).trim();
  const made = await rebase(git, await commitTree(git, tree, instructed, messageWith(leftOut)), instructed, head);
  if (made === undefined) throw new Error("the files of another commit conflict with those that nobody changed");
  return { commit: made, leftOut };
}
