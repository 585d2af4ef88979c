import type { BytePath } from "./byte-paths.ts";
import type { Git } from "./git.ts";
import { submoduleMode } from "./index-file.ts";

/** Stands for the commit that an agent's files are a change of, if its repository does not tell which one that is. */
export const unknownBase = "unknown";

const submodule = submoduleMode.toString(8);
/** How many commits before the head are looked at. */
const maxAncestors = 20;

/**
 * Returns the commit that an agent went to before it changed its files, by what these lack: every file of the head that is another one in
 * that commit, or none, as it is after a checkout. Somebody who only edits the head's files leaves at least one of them alone.
 *
 * @param made - a commit of the files on top of `head`
 * @param others - commits that the agent could go to, besides the ones before `head`: files that are exactly one of these were taken from
 *   there. To be those of an earlier commit, they were rather taken back
 * @param signal - kills Git
 * @returns `undefined` if the files are a change of `head`
 */
export async function inferBase(
  git: Git,
  head: string,
  made: string,
  others: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const differ = (other: string, commit: string) => entriesThatDiffer(git, other, commit, signal);
  const list = ["rev-list", "--first-parent", "--skip=1", `--max-count=${maxAncestors}`, head];
  const ancestors = (await git.run(list, { signal })).split("\n").filter((id) => id !== "");
  const changed = await differ(head, made);
  let found: { commit: string; rest: number } | undefined;
  for (const commit of new Set([...others, ...ancestors])) {
    const differing = [...(await differ(head, commit))];
    const isTaken = differing.some(([path, { entry }]) => changed.get(path)?.entry === entry);
    if (!isTaken || differing.some(([path, { isNew }]) => !isNew && !changed.has(path))) continue;
    const rest = (await differ(commit, made)).size;
    if (rest === 0 && !others.has(commit)) continue;
    if (found === undefined || rest < found.rest) found = { commit, rest };
  }
  return found?.commit;
}

/** Returns in which entries a commit differs from another one, by path. A submodule stays where it is, whatever is checked out. */
async function entriesThatDiffer(
  git: Git,
  other: string,
  commit: string,
  signal: AbortSignal | undefined,
): Promise<Map<BytePath, { entry: string; isNew: boolean }>> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", other, commit];
  const lines = await git.run(args, { encoding: "latin1", signal });
  const found = Array.from(lines.matchAll(/:(\d+) (\d+) \w+ (\w+) \w\0([^\0]*)\0/g));
  const files = found.filter(([, before, after]) => before !== submodule && after !== submodule);
  return new Map(
    files.map(([, before = "", after, id, path = ""]) => [
      path,
      { entry: `${after} ${id}`, isNew: /^0+$/.test(before) },
    ]),
  );
}
