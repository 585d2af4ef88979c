import type { Start } from "../git/find-start.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** How many of them are named. */
const maxNamed = 50;

/**
 * Says which files the target branch has in a newer version than the branch that a turn continues, so that its agent does not look for what
 * is not there. Empty if there are none.
 */
export async function describeOlderFiles(
  { isContinued, base, head, targetBranch }: Start,
  repository: Pick<TurnPorts["repository"], "branchHead" | "changedFiles">,
): Promise<string> {
  const target = isContinued ? await repository.branchHead(targetBranch) : undefined;
  if (target === undefined || target === base) return "";
  const changed = new Set((await repository.changedFiles(base, target)).map(({ path }) => path));
  // What was merged of the branch itself is the same in both.
  const differing = changed.size === 0 ? [] : await repository.changedFiles(head, target);
  const paths = differing.flatMap(({ path }) => (changed.has(path) ? JSON.stringify(path) : []));
  if (paths.length === 0) return "";
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : "";
  return `The branch ${targetBranch} has changed since this work began, and these changes are not in the worktree. It lacks these files, or has them in an older version: ${paths.slice(0, maxNamed).join(", ")}${more}.`;
}
