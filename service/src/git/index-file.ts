import { copyFile, readFile, stat, utimes } from "node:fs/promises";

/** An entry of an index: a tracked file. */
export interface IndexEntry {
  /** As in a tree: 0o100644 or 0o100755 for a file, 0o120000 for a link, 0o160000 for a submodule. */
  mode: number;
  /** The id of its content. */
  id: string;
  path: string;
}

export const submoduleMode = 0o160000;

const headerBytes = 12;
/** In an entry, after times and other numbers. */
const modeOffset = 24;
const idOffset = 40;
const flagsOffset = 60;
const pathOffset = 62;
/** In the flags: there are more flags. */
const extended = 0x4000;

/**
 * Reads an index without starting Git: an agent may have written it. Git's documentation: "gitformat-index".
 *
 * @param encoding - of paths. `latin1`: each character is a byte, because names need not be UTF-8
 * @throws if it is no index of version 2 or 3 with SHA-1 names, which are what Git writes unless told otherwise
 */
export async function readIndex(file: string, encoding: "utf8" | "latin1" = "utf8"): Promise<IndexEntry[]> {
  const index = await readFile(file);
  const version = index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3))
    throw new Error(`${file} is no index of a known version`);
  const entries: IndexEntry[] = [];
  let offset = headerBytes;
  for (let count = index.readUInt32BE(8); count > 0; count--) {
    const hasMoreFlags = (index.readUInt16BE(offset + flagsOffset) & extended) !== 0;
    const start = offset + pathOffset + (hasMoreFlags ? 2 : 0);
    const end = index.indexOf(0, start);
    if (end < 0) throw new Error(`${file} is damaged`);
    entries.push({
      mode: index.readUInt32BE(offset + modeOffset),
      id: index.toString("hex", offset + idOffset, offset + flagsOffset),
      path: index.toString(encoding, start, end),
    });
    // Entries are padded with one to eight zeros.
    offset += (end - offset + 8) & ~7;
  }
  return entries;
}

/**
 * Copies an index with its modification time. By that, Git knows which files are so new that their times do not tell whether they changed.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { atime, mtime } = await stat(from);
  await utimes(to, atime, mtime);
}
