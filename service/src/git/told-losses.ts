import type { Git } from "./git.ts";

/** What differs between the entries of two indexes, in files. */
export interface ChangedEntries {
  count: number;
  added: { readonly size: number };
  deleted: number;
  modes: number;
}

/** A change that deletes fewer files, or lines, is looked at as any other. */
const many = { files: 10, lines: 200 };
/** What it is read for is worth less than the change. */
const longestMs = 10_000;

/**
 * Returns sentences about losses that reviewers should see first: many deleted files or lines, and changed line endings and modes.
 *
 * @param git - runs in the clone
 * @param head - a tree or commit, and `tree` the one with the change
 */
export async function tellLosses(
  git: Git,
  head: string,
  tree: string,
  { count, added, deleted, modes }: ChangedEntries,
): Promise<string[]> {
  const run = (...options: string[]) =>
    git.run(["diff-tree", "-r", "-z", "--numstat", "--no-renames", ...options, head, tree], {
      signal: AbortSignal.timeout(longestMs),
      encoding: "latin1",
    });
  const read = async (): Promise<{ fewer: number; lineEnds: number }> => {
    // Only what was there before can have lost something.
    if (count === added.size) return { fewer: 0, lineEnds: 0 };
    const lines = linesIn(await run());
    const fewer = [...lines.values()].reduce((sum, one) => sum + one.removed - one.added, 0);
    const hasBoth = [...lines.values()].some((one) => one.added > 0 && one.removed > 0);
    const others = hasBoth ? linesIn(await run("--ignore-cr-at-eol")) : lines;
    const lineEnds = [...lines].filter(
      ([path, one]) => one.added > 0 && one.removed > (others.get(path)?.removed ?? 0),
    );
    return { fewer, lineEnds: lineEnds.length };
  };
  const { fewer, lineEnds } = await read().catch(() => ({ fewer: 0, lineEnds: 0 }));
  const losses = [
    ...(deleted >= many.files ? [`${deleted.toLocaleString("en")} deleted`] : []),
    ...(fewer >= many.lines ? [`${fewer.toLocaleString("en")} lines fewer`] : []),
  ];
  return [
    ...(losses.length > 0 ? [`${[files(count), ...losses].join(", ")}.`] : []),
    ...(lineEnds > 0 ? [`The line ends of ${files(lineEnds)} changed.`] : []),
    ...(modes > 0 ? [`The mode of ${files(modes)} changed.`] : []),
  ];
}

const files = (count: number): string => `${count.toLocaleString("en")} ${count === 1 ? "file" : "files"}`;

/** Returns how many lines each path of Git's `--numstat -z` lost and got; none if it is no text. */
function linesIn(output: string): Map<string, { added: number; removed: number }> {
  const lines = output.split("\0").flatMap((line): [string, { added: number; removed: number }][] => {
    const [added, removed, path] = line.split("\t", 3);
    return path === undefined ? [] : [[path, { added: Number(added) || 0, removed: Number(removed) || 0 }]];
  });
  return new Map(lines);
}
