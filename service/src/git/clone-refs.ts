/** Branches with their heads. */
export type Heads = ReadonlyMap<string, string>;

/** Parses what `git ls-remote --symref` printed for `HEAD` and all branches. */
export function parseRemoteRefs(output: string): { heads: Map<string, string>; defaultBranch: string | undefined } {
  return {
    heads: parseRefs(output, "\t"),
    defaultBranch: /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(output)?.[1],
  };
}

/** Parses lines of an object's id and the ref of a branch. Other lines are skipped. */
export function parseRefs(output: string, separator: string): Map<string, string> {
  const prefix = `${separator}refs/heads/`;
  return new Map(
    output.split("\n").flatMap((line) => {
      const end = line.indexOf(prefix);
      return end < 0 || line.startsWith("ref:") ? [] : [[line.slice(end + prefix.length), line.slice(0, end)] as const];
    }),
  );
}

/** Returns whether Git takes a text for the name of one branch, and not for a pattern, another ref or a folder of branches. */
export const isBranchName = (text: string): boolean => text !== "" && !/[\s:*]|\/$/.test(text);
