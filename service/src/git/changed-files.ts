import { oneLine } from "../one-line.ts";
import type { Git } from "./git.ts";

/** A file that differs between two commits. */
export interface ChangedFile {
  /** Decoded as UTF-8, even if it is not. */
  path: string;
  /** The id of its content before; `undefined` if it is new, or no file. */
  before: string | undefined;
  /** The id of its content after; `undefined` if it is deleted, or no file. */
  after: string | undefined;
  /** Whether it is a link or a submodule now. Default: no. */
  isLink?: boolean;
  /** The filter of Git that it should have passed, and did not. Default: none. */
  filter?: string | undefined;
}

const submoduleMode = "160000";
const linkMode = "120000";

/** Returns the files, links and submodules that differ between two commits. A renamed file is a deleted and a new one. */
export async function changedFiles(git: Git, base: string, head: string): Promise<ChangedFile[]> {
  const output = await git.run(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", base, head]);
  const fields = output.split("\0");
  const files: ChangedFile[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [modeBefore, modeAfter, before, after] = (fields[index] ?? "").slice(1).split(" ");
    const idOf = (mode = "", id = "") => (mode === submoduleMode || /^0+$/.test(id) ? undefined : id);
    const isLink = modeAfter === linkMode || modeAfter === submoduleMode;
    const ids = { before: idOf(modeBefore, before), after: idOf(modeAfter, after) };
    files.push({ path: fields[index + 1] ?? "", ...ids, ...(isLink && { isLink }) });
  }
  return files;
}

/** In bytes. What is larger is read alone. */
const batchBytes = 32 * 1024 * 1024;

/**
 * Reads the contents with some ids, one after another.
 *
 * @returns each as text of which each character is a byte
 */
export async function* readContents(git: Git, ids: readonly string[]): AsyncGenerator<{ id: string; content: string }> {
  const waiting = [...new Set(ids)];
  for (let count = waiting.length; waiting.length > 0; ) {
    const batch = waiting.slice(0, count);
    const output = await git.run(["cat-file", "--batch"], {
      input: batch.map((id) => `${id}\n`).join(""),
      encoding: "latin1",
      maxBytes: count === 1 ? Number.POSITIVE_INFINITY : batchBytes,
    });
    const contents = parseBatch(output);
    if (contents.length === 0 && count === 1) throw new Error(`the clone does not have ${oneLine(batch[0] ?? "")}`);
    // What is cut off is read again, alone if it is the first.
    count = Math.max(1, contents.length);
    waiting.splice(0, contents.length);
    yield* contents;
  }
}

/** Git's documentation: "git-cat-file", "BATCH OUTPUT". The last content may be cut off, and is left out then. */
function parseBatch(output: string): { id: string; content: string }[] {
  const contents: { id: string; content: string }[] = [];
  for (let start = 0; start < output.length; ) {
    const line = output.indexOf("\n", start);
    if (line < 0) break;
    const [id = "", , size] = output.slice(start, line).split(" ");
    const end = line + 1 + Number(size);
    // Also if it has no size, because it is missing.
    if (!(end < output.length)) break;
    contents.push({ id, content: output.slice(line + 1, end) });
    start = end + 1;
  }
  return contents;
}
