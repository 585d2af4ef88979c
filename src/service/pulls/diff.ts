/** A file in a diff. */
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
  let [before, after] = [0, 0];
  let [remainingBefore, remainingAfter] = [0, 0];
  for (const line of text.split("\n")) {
    const file = files.at(-1);
    const lines = file?.hunks.at(-1)?.lines;
    if (lines && remainingBefore + remainingAfter > 0) {
      const [prefix, rest] = [line[0], line.slice(1)];
      if (prefix === "+") lines.push({ kind: "added", text: rest, after: after++ });
      else if (prefix === "-") lines.push({ kind: "removed", text: rest, before: before++ });
      else if (prefix === "\\") lines.push({ kind: "marker", text: rest.trim() });
      else lines.push({ kind: "context", text: rest, before: before++, after: after++ });
      if (prefix !== "+" && prefix !== "\\") remainingBefore--;
      if (prefix !== "-" && prefix !== "\\") remainingAfter--;
      continue;
    }
    if (line.startsWith("diff --git ")) {
      files.push({ title: titleOf(line), extendedHeaders: [], hunks: [] });
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (file && hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[3])];
      [remainingBefore, remainingAfter] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      file.hunks.push({ header: line, lines: [] });
    } else if (file && /^(---|\+\+\+) /.test(line)) {
      // More reliable than `diff --git`, which does not say where one path ends and the other begins.
      const path = pathIn(line.slice(4));
      if (path !== undefined) file.title = path;
    } else if (file && /^rename (from|to) /.test(line)) {
      const [, side, path = ""] = /^rename (from|to) (.*)$/.exec(line) ?? [];
      file.title = side === "to" ? `${file.title} → ${path}` : path;
    } else if (lines && line.startsWith("\\")) lines.push({ kind: "marker", text: line.slice(1).trim() });
    else if (file && /^(new file|deleted file|similarity |old mode|new mode|Binary files)/.test(line))
      file.extendedHeaders.push(line);
  }
  return files;
}

/** Returns the path in a `diff --git` line, assuming that both paths are the same, as for a binary file. */
function titleOf(line: string): string {
  const paths = line.slice("diff --git ".length);
  return pathIn(paths.slice(0, (paths.length - 1) / 2)) ?? paths;
}

function pathIn(text: string): string | undefined {
  return /^"?[ab]\/(.*?)"?\t?$/.exec(text)?.[1];
}
