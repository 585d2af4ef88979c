/** A file in a diff. */
export interface FileDiff {
  /** Its path, or both where it was renamed. */
  title: string;
  /** What Git says of it beyond lines: new, deleted, binary. */
  notes: string[];
  hunks: Hunk[];
}

export interface Hunk {
  header: string;
  lines: DiffLine[];
}

export interface DiffLine {
  kind: "context" | "added" | "removed" | "remark";
  text: string;
  /** Line numbers before and after, where the line is there. */
  before?: number;
  after?: number;
}

/** Reads what `git diff` prints. Git's documentation: "Generating patch text with -p". */
export function parseDiff(text: string): FileDiff[] {
  const files: FileDiff[] = [];
  let [before, after] = [0, 0];
  let [leftBefore, leftAfter] = [0, 0];
  for (const line of text.split("\n")) {
    const file = files.at(-1);
    const lines = file?.hunks.at(-1)?.lines;
    if (lines && leftBefore + leftAfter > 0) {
      const [mark, rest] = [line[0], line.slice(1)];
      if (mark === "+") lines.push({ kind: "added", text: rest, after: after++ });
      else if (mark === "-") lines.push({ kind: "removed", text: rest, before: before++ });
      else if (mark === "\\") lines.push({ kind: "remark", text: rest.trim() });
      else lines.push({ kind: "context", text: rest, before: before++, after: after++ });
      if (mark !== "+" && mark !== "\\") leftBefore--;
      if (mark !== "-" && mark !== "\\") leftAfter--;
      continue;
    }
    if (line.startsWith("diff --git ")) {
      files.push({ title: titleOf(line), notes: [], hunks: [] });
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (file && hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[3])];
      [leftBefore, leftAfter] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      file.hunks.push({ header: line, lines: [] });
    } else if (file && /^(---|\+\+\+) /.test(line)) {
      // The first line of a file cannot tell where one path ends and the other begins.
      const path = pathIn(line.slice(4));
      if (path !== undefined) file.title = path;
    } else if (file && /^rename (from|to) /.test(line)) {
      const [, side, path = ""] = /^rename (from|to) (.*)$/.exec(line) ?? [];
      file.title = side === "to" ? `${file.title} → ${path}` : path;
    } else if (lines && line.startsWith("\\")) lines.push({ kind: "remark", text: line.slice(1).trim() });
    else if (file && /^(new file|deleted file|similarity |old mode|new mode|Binary files)/.test(line))
      file.notes.push(line);
  }
  return files;
}

/** Enough for a file without lines, such as a binary one, whose two paths are the same. */
function titleOf(line: string): string {
  const paths = line.slice("diff --git ".length);
  return pathIn(paths.slice(0, (paths.length - 1) / 2)) ?? paths;
}

function pathIn(text: string): string | undefined {
  return /^"?[ab]\/(.*?)"?\t?$/.exec(text)?.[1];
}
