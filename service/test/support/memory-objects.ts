import { createHash } from "node:crypto";
import { showIdentity, splitCommit } from "../../src/git/commit-object.ts";
import { GitError } from "../../src/git/git.ts";
import type { NewObjects, Tree } from "../../src/git/new-objects.ts";
import type { Identity } from "../../src/model.ts";

/** The ids of the contents of files, by the paths of the files. */
export type Files = ReadonlyMap<string, string>;

/** What people or agents do to files: their new text, or `null` for one that is deleted. */
export type Edits = Readonly<Record<string, string | null>>;

/** A commit as Git would store it. */
export interface MemoryCommit {
  id: string;
  /** Its headers, an empty line, and its message. */
  text: string;
  /** The id of its tree. */
  tree: string;
  parents: readonly string[];
  author: string;
  /** When it was committed, in seconds since 1970. */
  at: number;
  message: string;
}

/** A commit that is to be made. */
export interface NewCommit {
  tree: string;
  parents: readonly string[];
  message: string;
  by: Identity;
  /** In seconds since 1970. */
  at: number;
}

/**
 * The objects of a repository and its clones in memory, with the ids that Git gives them. All files are regular ones, and files are merged as
 * a whole: two changes of one file conflict.
 */
export class MemoryObjects {
  /** Contents of files, as text of which each character is a byte. */
  readonly #contents = new Map<string, string>();
  readonly #trees = new Map<string, Files>();
  readonly #folders = new Map<string, Tree>();
  readonly #commits = new Map<string, MemoryCommit>();
  readonly #histories = new Map<string, ReadonlySet<string>>();

  /** Returns the content with an id, as text of which each character is a byte. */
  content(id: string): string {
    const content = this.#contents.get(id);
    if (content === undefined) throw missing(id);
    return content;
  }

  /** Returns the commit with an id. @throws GitError if no commit has it */
  commit(id: string): MemoryCommit {
    const commit = this.#commits.get(id);
    if (commit === undefined) throw missing(id);
    return commit;
  }

  /** Returns the files of a commit. */
  files(commit: string): Files {
    return this.#trees.get(this.commit(commit).tree) ?? new Map();
  }

  /** Returns files after some edits. */
  edit(files: Files, edits: Edits): Files {
    const edited = new Map(files);
    for (const [path, text] of Object.entries(edits))
      if (text === null) edited.delete(path);
      else edited.set(path, this.writeContent(text));
    return edited;
  }

  writeContent(text: string): string {
    const bytes = Buffer.from(text);
    const id = idOf("blob", bytes);
    this.#contents.set(id, bytes.toString("latin1"));
    return id;
  }

  /** Returns the id of a tree with some files. */
  writeTree(files: Files): string {
    const id = this.#writeFolder([...files]);
    this.#trees.set(id, files);
    return id;
  }

  #writeFolder(files: readonly (readonly [path: string, id: string])[]): string {
    const byName = Map.groupBy(files, ([path]) => path.split("/", 1)[0] ?? "");
    const entries = [...byName].map(([name, some]) => {
      const [first] = some;
      if (first?.[0] === name) return { mode: "100644", name, id: first[1] };
      return {
        mode: "040000",
        name,
        id: this.#writeFolder(some.map(([path, id]) => [path.slice(name.length + 1), id])),
      };
    });
    // Git sorts a folder as if its name ended with a slash.
    const keyOf = ({ mode, name }: { mode: string; name: string }): Buffer =>
      Buffer.from(mode === "040000" ? `${name}/` : name);
    entries.sort((one, other) => Buffer.compare(keyOf(one), keyOf(other)));
    const parts = entries.flatMap(({ mode, name, id }) => [
      Buffer.from(`${mode.replace(/^0/, "")} ${name}\0`),
      Buffer.from(id, "hex"),
    ]);
    const id = idOf("tree", Buffer.concat(parts));
    const named = entries.map((entry) => ({ ...entry, name: Buffer.from(entry.name).toString("latin1") }));
    this.#folders.set(id, { id, entries: named });
    return id;
  }

  writeCommit({ tree, parents, message, by, at }: NewCommit): string {
    const who = `${showIdentity(by)} ${at} +0000`;
    const headers = [`tree ${tree}`, ...parents.map((one) => `parent ${one}`), `author ${who}`, `committer ${who}`];
    return this.writeCommitText(`${headers.join("\n")}\n\n${message}`);
  }

  /** Adds a commit with a text, and returns its id. */
  writeCommitText(text: string): string {
    const id = idOf("commit", Buffer.from(text));
    const { headers, message } = splitCommit(text);
    const valuesOf = (name: string): string[] =>
      [...headers.matchAll(new RegExp(`^${name} (.*)$`, "gm"))].map(([, value = ""]) => value);
    const [tree = ""] = valuesOf("tree");
    const [author = ""] = valuesOf("author");
    const at = Number(/ (\d+) [+-]\d+$/.exec(valuesOf("committer")[0] ?? "")?.[1]);
    this.#commits.set(id, { id, text, tree, parents: valuesOf("parent"), author, at, message });
    return id;
  }

  /** Returns a commit and all that it is based on. */
  history(commit: string): ReadonlySet<string> {
    const known = this.#histories.get(commit);
    if (known !== undefined) return known;
    const found = new Set([commit]);
    for (const one of found) for (const parent of this.commit(one).parents) found.add(parent);
    this.#histories.set(commit, found);
    return found;
  }

  isAncestor(ancestor: string, descendant: string): boolean {
    return this.history(descendant).has(ancestor);
  }

  /** Returns the merge base of two commits; `undefined` if they have no common history. */
  mergeBase(one: string, other: string): string | undefined {
    const common = [...this.history(one).intersection(this.history(other))];
    return common.find((commit) => !common.some((later) => later !== commit && this.isAncestor(commit, later)));
  }

  /** Returns the commits of some histories without those of others, newest first. */
  log(heads: readonly string[], without: readonly string[] = []): MemoryCommit[] {
    const hidden = new Set(without.flatMap((one) => [...this.history(one)]));
    const seen = new Set(heads.filter((head) => !hidden.has(head)));
    const waiting = [...seen].map((id) => this.commit(id));
    const found: MemoryCommit[] = [];
    while (waiting.length > 0) {
      const newest = Math.max(...waiting.map(({ at }) => at));
      const [commit] = waiting.splice(
        waiting.findIndex(({ at }) => at === newest),
        1,
      );
      if (commit === undefined) break;
      found.push(commit);
      for (const parent of commit.parents.filter((one) => !hidden.has(one) && !seen.has(one))) {
        seen.add(parent);
        waiting.push(this.commit(parent));
      }
    }
    return found;
  }

  /** Merges two commits. Returns the tree; `undefined` on a conflict. */
  merge(one: string, other: string): string | undefined {
    const base = this.mergeBase(one, other);
    return this.mergeFiles(base === undefined ? new Map() : this.files(base), this.files(one), this.files(other));
  }

  /** Makes the change from `base` to `other` in `one`, too. Returns the tree; `undefined` on a conflict. */
  mergeFiles(base: Files, one: Files, other: Files): string | undefined {
    const merged = new Map(one);
    for (const path of new Set([...base.keys(), ...other.keys()])) {
      const [before, here, there] = [base, one, other].map((files) => files.get(path));
      if (before === there || here === there) continue;
      if (before !== here) return undefined;
      if (there === undefined) merged.delete(path);
      else merged.set(path, there);
    }
    // A file that one side has made a folder, and the other one has changed.
    const folders = new Set([...merged.keys()].flatMap(foldersOf));
    return [...merged.keys()].some((path) => folders.has(path)) ? undefined : this.writeTree(merged);
  }

  /** Returns the paths that differ between two commits, in the order of Git. */
  changedPaths(base: string, head: string): string[] {
    const [before, after] = [this.files(base), this.files(head)];
    const paths = [...new Set([...before.keys(), ...after.keys()])];
    const changed = paths.filter((path) => before.get(path) !== after.get(path));
    return changed.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  }

  /** Returns the objects that a commit with one parent adds to those of its parent. */
  newObjects(commit: string): NewObjects {
    const { tree, parents } = this.commit(commit);
    const known = new Set(parents.flatMap((parent) => [...this.#objectsIn(this.commit(parent).tree)]));
    const added = [...this.#objectsIn(tree)].filter((id) => !known.has(id));
    const trees = [...new Set([tree, ...added])].flatMap((id) => this.#folders.get(id) ?? []);
    return { blobs: added.filter((id) => this.#contents.has(id)), trees: trees.reverse() };
  }

  /** Returns a tree and all in it, folders before what is in them. */
  #objectsIn(tree: string): ReadonlySet<string> {
    const found = new Set([tree]);
    for (const id of found)
      for (const { id: inside } of this.#folders.get(id)?.entries ?? []) {
        // One that is in several folders comes after the deepest of them.
        found.delete(inside);
        found.add(inside);
      }
    return found;
  }
}

const missing = (id: string): GitError => new GitError(["cat-file"], "exited with 128", `fatal: bad object ${id}`, 128);

const idOf = (kind: string, bytes: Buffer): string =>
  createHash("sha1").update(`${kind} ${bytes.length}\0`).update(bytes).digest("hex");

/** Returns the folders that a path is in. */
function foldersOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}
