import { rm } from "node:fs/promises";
import { ChangeRefused, commitWorktree, type ToldChange, type WorktreeCommit } from "./commit-worktree.ts";
import { rebase } from "./history.ts";

const note =
  "The agent did not end on top of the commit that it began on. What it changed is added to the job's branch, whose earlier work stays: to take that back, an agent has to revert it.";

/**
 * Commits what an agent changed since it left its branch, and moves that onto its start.
 *
 * @param base - in the clone
 * @throws ChangeRefused also on a conflict, unless it is unfinished: then it stays on `base`
 */
export async function commitMoved(
  base: string,
  ...[git, clone, worktree, message, options]: Parameters<typeof commitWorktree>
): Promise<WorktreeCommit> {
  const { head } = worktree;
  const index = `${worktree.index}-base`;
  const withNote = <T extends ToldChange>(told: T): T => ({ ...told, notes: [note, ...(told.notes ?? [])] });
  const text = typeof message === "string" ? message : (told: ToldChange) => message(withNote(told));
  try {
    await git.run(["read-tree", base], { environment: { GIT_DIR: clone, GIT_INDEX_FILE: index } });
    const made = withNote(await commitWorktree(git, clone, { ...worktree, head: base, index }, text, options));
    const moved = made.commit && (await rebase(git, made.commit, base, head));
    if (made.commit === undefined || moved === head) return { ...made, commit: undefined };
    if (moved === undefined && !options.isUnfinished)
      throw new ChangeRefused(
        "the agent did not end on top of the commit that it began on, and what it changed conflicts with the job's branch",
      );
    return { ...made, commit: moved ?? made.commit };
  } finally {
    await rm(index, { force: true });
  }
}
