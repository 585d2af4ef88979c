export interface FileDiff {
  /** The path, or `<old path> → <new path>` if the file was renamed. */
  title: string;
  /** Git's extended header lines, such as `new file mode 100644`. */
  extendedHeaders: string[];
  hunks: Hunk[];
}

export interface Hunk {
  header: string;
  lines: DiffLine[];
}

export interface DiffLine {
  /** A marker says `No newline at end of file`. */
  kind: "context" | "added" | "removed" | "marker";
  text: string;
  /** Line numbers before and after the change, from 1. Missing if the line does not exist there. */
  before?: number;
  after?: number;
}

/** Parses the output of `git diff`. Git's documentation: "Generating patch text with -p". */
export function parseDiff(text: string): FileDiff[] {
  const files: FileDiff[] = [];
  let before = 0;
  let after = 0;
  let remainingBefore = 0;
  let remainingAfter = 0;
  for (const line of text.split("\n")) {
    const file = files.at(-1);
    const lines = file?.hunks.at(-1)?.lines;
    if (lines && line.startsWith("\\")) lines.push({ kind: "marker", text: line.slice(1).trim() });
    else if (lines && remainingBefore + remainingAfter > 0) {
      const [prefix, rest] = [line[0], line.slice(1)];
      if (prefix === "+") lines.push({ kind: "added", text: rest, after: after++ });
      else if (prefix === "-") lines.push({ kind: "removed", text: rest, before: before++ });
      else lines.push({ kind: "context", text: rest, before: before++, after: after++ });
      if (prefix !== "+") remainingBefore--;
      if (prefix !== "-") remainingAfter--;
    } else if (line.startsWith("diff --git ")) files.push({ title: titleOf(line), extendedHeaders: [], hunks: [] });
    else if (file) {
      const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
      const [, side, path = ""] = /^rename (from|to) (.*)/.exec(line) ?? [];
      if (hunk) {
        [before, after] = [Number(hunk[1]), Number(hunk[3])];
        [remainingBefore, remainingAfter] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
        file.hunks.push({ header: line, lines: [] });
      } else if (side === "from") file.title = path;
      else if (side === "to") file.title += ` → ${path}`;
      else if (/^(new file|deleted file|similarity |old mode|new mode|Binary files)/.test(line))
        file.extendedHeaders.push(line);
    }
  }
  return files;
}

/** Returns the path in a `diff --git` line: both of its paths are the same, unless the file was renamed. */
function titleOf(line: string): string {
  const paths = line.slice("diff --git ".length);
  const path = paths.slice(0, (paths.length - 1) / 2);
  return /^"?a\/(.*?)"?$/.exec(path)?.[1] ?? paths;
}
