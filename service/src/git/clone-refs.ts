/** Branches with their heads. */
export type Heads = ReadonlyMap<string, string>;

/** Parses what `git ls-remote --symref` printed for `HEAD` and all branches. */
export function parseRemoteRefs(output: string): { heads: Heads; defaultBranch: string | undefined } {
  return {
    heads: parseRefs(output, "\t"),
    defaultBranch: /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(output)?.[1],
  };
}

/** Parses lines of an object's id and the ref of a branch. Other lines are skipped. */
export function parseRefs(output: string, separator: string): Heads {
  const prefix = `${separator}refs/heads/`;
  return new Map(
    output.split("\n").flatMap((line) => {
      const end = line.indexOf(prefix);
      return end < 0 || line.startsWith("ref:") ? [] : [[line.slice(end + prefix.length), line.slice(0, end)] as const];
    }),
  );
}

export function areEqual(one: Heads, other: Heads): boolean {
  return one.size === other.size && [...one].every(([branch, head]) => other.get(branch) === head);
}
