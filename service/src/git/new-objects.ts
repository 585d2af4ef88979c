import { readContents } from "./changed-files.ts";
import type { Git } from "./git.ts";

/** Something in a folder. */
export interface TreeEntry {
  /** Six digits: `040000` is a folder, `160000` a submodule. */
  mode: string;
  /** Each character is a byte. */
  name: string;
  id: string;
}

/** A folder as Git stores it. */
export interface Tree {
  id: string;
  entries: readonly TreeEntry[];
}

/** The objects that a commit has, and its parents do not. */
export interface NewObjects {
  /** The ids of contents of files and links. */
  blobs: readonly string[];
  /** A folder comes after all that are in it. */
  trees: readonly Tree[];
}

/** Returns the objects that a commit adds to its parents'. */
export async function newObjects(git: Git, commit: string): Promise<NewObjects> {
  const range = [commit, "--not", `${commit}^@`];
  const added = new Set((await git.run(["rev-list", "--objects", "--no-object-names", ...range])).split("\n"));
  const root = (await git.run(["rev-parse", `${commit}^{tree}`])).trim();
  const trees = new Map<string, Tree>();
  const blobs = new Set<string>();
  for (let level = [root]; level.length > 0; ) {
    const next = new Set<string>();
    for await (const { id, content } of readContents(git, level)) {
      const entries = parseTree(content, id.length / 2);
      // One that is in several folders goes to the end again, after the deepest of them.
      trees.delete(id);
      trees.set(id, { id, entries });
      for (const entry of entries.filter((one) => added.has(one.id)))
        (entry.mode === "040000" ? next : blobs).add(entry.id);
    }
    level = [...next];
  }
  return { blobs: [...blobs], trees: [...trees.values()].reverse() };
}

/** @param content - each character is a byte: for each entry its mode, a space, its name, NUL, and the bytes of its id */
function parseTree(content: string, idLength: number): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let start = 0; start < content.length; ) {
    const [space, end] = [content.indexOf(" ", start), content.indexOf("\0", start)];
    const id = Buffer.from(content.slice(end + 1, end + 1 + idLength), "latin1").toString("hex");
    entries.push({ mode: content.slice(start, space).padStart(6, "0"), name: content.slice(space + 1, end), id });
    start = end + 1 + idLength;
  }
  return entries;
}
