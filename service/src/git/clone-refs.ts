import { defaultBranchPrefix, jobOfBranch } from "../model.ts";

/** What the names of refs for work begin with, in the repository; see `WorkRefs`. Clones do not fetch them. */
export const workRefPrefix = "refs/agent-work/";

/** Branches with their heads. */
export type Heads = ReadonlyMap<string, string>;

/** Parses what `git ls-remote --symref` printed for `HEAD` and all branches. */
export function parseRemoteRefs(output: string): { heads: Map<string, string>; defaultBranch: string | undefined } {
  return {
    heads: parseRefs(output, "\t"),
    defaultBranch: /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(output)?.[1],
  };
}

/** Parses lines of an object's id and the ref of a branch, or another one with a prefix. Other lines are skipped. */
export function parseRefs(output: string, separator: string, kind = "refs/heads/"): Map<string, string> {
  const prefix = `${separator}${kind}`;
  return new Map(
    output.split("\n").flatMap((line) => {
      const end = line.indexOf(prefix);
      return end < 0 || line.startsWith("ref:") ? [] : [[line.slice(end + prefix.length), line.slice(0, end)] as const];
    }),
  );
}

/**
 * Parses what `git fetch` wrote to `FETCH_HEAD`: for each ref an object's id, whether it is for a merge, and what it is, as in
 * `branch 'main' of /docs.git`. Names of branches have no spaces.
 *
 * @returns the heads of the branches, and `HEAD`'s if it was fetched
 */
export function parseFetched(text: string): { heads: Map<string, string>; head: string | undefined } {
  const lines = text.split("\n").map((line) => line.split("\t"));
  const heads = lines.flatMap(([id = "", , what = ""]) => {
    const branch = /^branch '(.*?)' of /.exec(what)?.[1];
    return branch === undefined ? [] : [[branch, id] as const];
  });
  return {
    heads: new Map(heads),
    head: lines.find(([, , what]) => what !== undefined && !/^branch '/.test(what))?.[0],
  };
}

/** Returns whether Git takes a text for the name of one branch, and not for a pattern, another ref or a folder of branches. */
export const isBranchName = (text: string): boolean => text !== "" && !/[\s:*]|\/$/.test(text);

/** Returns whether a branch is named like one of a job, of any project. */
export const isJobBranch = (branch: string): boolean =>
  branch.startsWith(defaultBranchPrefix) || jobOfBranch(branch) !== undefined;
