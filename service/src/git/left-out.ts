import { createHash } from "node:crypto";
import { lstat, open, readFile, readlink, rm } from "node:fs/promises";
import { posix } from "node:path";
import { type BytePath, bytesOf, joinBytes, showPath } from "./byte-paths.ts";
import type { IndexEntry } from "./index-file.ts";

/** Something of a change that is not published. */
export interface LeftOut {
  /** For people. */
  path: string;
  /** Why, to follow "because". */
  why: string;
}

/** In bytes. The settings of a repository that an agent has created are shorter. */
const maxConfigBytes = 100_000;

/**
 * Looks at a folder that Git takes for a repository of its own. One that has no remote has no other home for its files: its `.git` is
 * removed, so that its files are part of the change.
 *
 * @returns whether its files are part of the change now
 */
export async function dissolveRepository(tree: string, path: BytePath): Promise<boolean> {
  const folder = joinBytes(bytesOf(tree), path.replace(/\/$/, ""));
  const git = joinBytes(folder, ".git");
  if (!(await lstat(git).catch(() => undefined))?.isDirectory()) return false;
  const text = await readSettings(joinBytes(git, "config"));
  if (text === undefined || /^\s*\[\s*(?:remote|include)/im.test(text)) return false;
  await rm(git, { recursive: true, force: true });
  return true;
}

/** Reads settings of Git; empty if there are none, and `undefined` if an agent has left something else in their place. */
async function readSettings(file: Buffer): Promise<string | undefined> {
  const stat = await lstat(file).catch(() => undefined);
  if (stat && (!stat.isFile() || stat.size > maxConfigBytes)) return undefined;
  return stat === undefined ? "" : readFile(file, "latin1").catch(() => undefined);
}

/** Returns whether `.gitmodules` has a path of which nothing is known, to which an agent has moved a submodule or added one. */
export async function namesNewSubmodule(tree: string, known: readonly Pick<IndexEntry, "path">[]): Promise<boolean> {
  const text = (await readSettings(joinBytes(bytesOf(tree), ".gitmodules"))) ?? "";
  const paths = new Set(known.map(({ path }) => path));
  const lines = text.split("\n").map((line) => line.split("=").map((part) => part.trim().replace(/^"(.*)"$/, "$1")));
  return lines.some(([name, path = ""]) => name === "path" && !paths.has(path));
}

/** Paths with names that Windows does not have: devices, some characters, and ends. Microsoft: "Naming Files, Paths, and Namespaces". */
const unportable = /(?:^|\/)(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:[./]|$)|[<>:"|?*\\\p{Cc}]|[. ](?:\/|$)/iu;

const isUnportable = (path: BytePath): boolean => unportable.test(showPath(path));

/** Returns a path as a system without cases compares it. Bytes that are no UTF-8 are compared as they are. */
export function foldCase(path: BytePath): string {
  const shown = showPath(path);
  return shown.includes("\ufffd") ? path : shown.toLowerCase();
}

/**
 * Returns the new paths by whose names a checkout on another system would break, with why: names that Windows does not have, and those that
 * differ from others only in case. A repository that has such names already is used only where they work.
 *
 * @param tracked - the paths that are there, and not deleted
 */
export function findUnportable(added: readonly BytePath[], tracked: readonly BytePath[]): Map<BytePath, string> {
  const found = new Map<BytePath, string>();
  if (added.length === 0) return found;
  const without = added.filter(isUnportable);
  if (without.length > 0 && !tracked.some(isUnportable))
    for (const path of without) found.set(path, "Windows has no such names");
  const wanted = new Set(added.flatMap((path) => prefixesOf(foldCase(path))));
  /** Paths and the folders above them, as they are written, by their names on a system without cases. */
  const written = new Map<string, BytePath>();
  /** Only looks at what can collide: a repository can have any number of files. */
  const differs = (path: BytePath): boolean => {
    const lower = foldCase(path);
    for (let [end, ownEnd] = [-1, -1]; ; ) {
      [end, ownEnd] = [lower.indexOf("/", end + 1), path.indexOf("/", ownEnd + 1)];
      const prefix = end < 0 ? lower : lower.slice(0, end);
      if (!wanted.has(prefix)) return false;
      const own = ownEnd < 0 ? path : path.slice(0, ownEnd);
      const known = written.get(prefix);
      if (known !== undefined && known !== own) return true;
      written.set(prefix, own);
      if (end < 0) return false;
    }
  };
  let hasCases = true;
  for (const path of tracked) if (differs(path)) hasCases = false;
  for (const path of added.filter((one) => !found.has(one)))
    if (differs(path) && hasCases) found.set(path, "its name differs from another one only in case");
  return found;
}

/** Returns a path and the folders above it. */
function prefixesOf(path: BytePath): BytePath[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Folders and files of tools, which nobody misses in a change. */
const ofTools =
  /(?:^|\/)(?:node_modules|bower_components|venv|__pycache__|dist|build|_site|_build|out|target|coverage|vendor|tmp|logs?|\.(?:venv|tox|gradle|next|nuxt|docusaurus|astro|vitepress|pytest_cache|[\w.-]*cache|DS_Store|deps))(?:\/|$)|\.(?:log|pyc|tmp|swp)$/i;

/** Returns the name of a file, by which it is recognized in another folder. */
export const nameOf = (path: BytePath): string => posix.basename(foldCase(path));

/**
 * Returns the deleted paths that may be half of a move whose other half is not published. These are all, unless only what a tool wrote is left
 * out: of that, and of `others`, only files with the same name can be the other half, and in a folder of tools only with the same content.
 *
 * @param deleted - with the ids of their contents
 * @param others - what is taken back or ignored
 */
export async function findHalves(
  tree: string,
  deleted: readonly Pick<IndexEntry, "path" | "id">[],
  leftOut: readonly BytePath[],
  others: readonly BytePath[],
): Promise<BytePath[]> {
  const isAny = leftOut.some((path) => !ofTools.test(path));
  const [names, ids] = [new Set(deleted.map(({ path }) => nameOf(path))), new Set(deleted.map(({ id }) => id))];
  const found = new Set<string>();
  for (const path of isAny ? [] : [...leftOut, ...others].filter((one) => names.has(nameOf(one))))
    if (!ofTools.test(path) || ids.has(await blobId(tree, path))) found.add(nameOf(path));
  return deleted.map(({ path }) => path).filter((path) => isAny || found.has(nameOf(path)));
}

/** Returns the id that a file's bytes have in Git; empty if it cannot be read. */
async function blobId(tree: string, path: BytePath): Promise<string> {
  const file = joinBytes(bytesOf(tree), path);
  if (!(await lstat(file).catch(() => undefined))?.isFile()) return "";
  const content = await readFile(file).catch(() => undefined);
  return content === undefined
    ? ""
    : createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}

/** In paths that are named. */
const maxIgnored = 10;

/**
 * Returns notes about ignored files that an agent has written, which no commit has: their folders' `.gitignore` names them.
 *
 * @param paths - those that Git ignores; a folder ends with a slash
 * @param isLent - returns whether a path was there before the agent
 * @param readAdded - returns what the agent has added or committed itself, which is no tool's; `undefined` if that is unknown
 */
export async function tellIgnored(
  paths: readonly BytePath[],
  isLent: (path: BytePath) => Promise<boolean>,
  readAdded: () => Promise<BytePath[] | undefined>,
): Promise<string[]> {
  const named: BytePath[] = [];
  const added = paths.some((one) => ofTools.test(one)) ? await readAdded() : [];
  // With the folders of each.
  const inAdded =
    added && new Set(added.flatMap((one) => [one, ...prefixesOf(posix.dirname(one)).map((each) => `${each}/`)]));
  for (const path of paths.filter((one) => !ofTools.test(one) || (inAdded?.has(one) ?? true)))
    if (named.length <= maxIgnored && !(await isLent(path))) named.push(path);
  const more = named.length > maxIgnored ? ", and more" : "";
  const list = named.slice(0, maxIgnored).map(showPath).join(", ");
  return named.length === 0 ? [] : [`Not published, because .gitignore names it: ${list}${more}.`];
}

/** Returns why a link is not published; `undefined` if it is no link, or leads to a place in the repository. */
export async function linkProblem(tree: string, path: BytePath): Promise<string | undefined> {
  const file = joinBytes(bytesOf(tree), path);
  const stat = await lstat(file).catch(() => undefined);
  if (!stat?.isSymbolicLink()) return undefined;
  const target = (await readlink(file, "buffer")).toString("latin1");
  const place = posix.normalize(posix.join(posix.dirname(path), target));
  if (target.startsWith("/") || place === ".." || place.startsWith("../")) return "it is a link out of the repository";
  return place.split("/").some((name) => name.toLowerCase() === ".git") ? "it is a link into .git" : undefined;
}

/** In bytes. Git looks at as many for a NUL, by which it takes a file for binary. */
const lookedAtBytes = 8000;

/** Returns how many of some paths are files with text. */
export async function countTexts(tree: string, paths: Iterable<BytePath>): Promise<number> {
  let count = 0;
  for (const path of paths) {
    const file = joinBytes(bytesOf(tree), path);
    if (!(await lstat(file).catch(() => undefined))?.isFile()) continue;
    await using handle = await open(file).catch(() => undefined);
    if (handle === undefined) continue;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(lookedAtBytes), 0, lookedAtBytes, 0);
    if (!buffer.subarray(0, bytesRead).includes(0)) count++;
  }
  return count;
}

/** Changed files with their sizes in bytes. */
export interface SizedFile {
  path: BytePath;
  size: number;
}

/** Limits for a change. */
export interface ChangeLimits {
  maxFiles: number;
  maxBytes: number;
}

/**
 * Chooses the new files that a change goes without, so that it keeps to its limits: whole folders without a file of the repository, such as
 * installed packages. If they are too large, also single files; if they are too many, also all new ones directly in a folder. The largest
 * come first.
 *
 * @param rest - what the other files of the change need of the limits
 */
export function chooseExcess(
  added: readonly SizedFile[],
  tracked: readonly BytePath[],
  rest: { files: number; bytes: number },
  { maxFiles, maxBytes }: ChangeLimits,
): { paths: Set<BytePath>; leftOut: LeftOut[] } {
  const paths = new Set<BytePath>();
  const leftOut: LeftOut[] = [];
  let count = rest.files + added.length;
  let bytes = rest.bytes + sizeOf(added);
  if (count <= maxFiles && bytes <= maxBytes) return { paths, leftOut };
  const folders = new Set(tracked.flatMap((path) => prefixesOf(path).slice(0, -1)));
  /** Returns the files that are chosen together, by a name for them. */
  const groupsBy = (looseName: (path: BytePath) => BytePath): [name: BytePath, files: SizedFile[]][] => {
    const groups = new Map<BytePath, SizedFile[]>();
    for (const file of added.filter(({ path }) => !paths.has(path))) {
      const top = prefixesOf(file.path)
        .slice(0, -1)
        .find((folder) => !folders.has(folder));
      const name = top === undefined ? looseName(file.path) : `${top}/`;
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [file]);
      else group.push(file);
    }
    return [...groups];
  };
  const limits = `--largest-change-mb allows ${maxFiles.toLocaleString("en")} files with ${megabytes(maxBytes)} MB`;
  const leave = ([name, files]: [BytePath, SizedFile[]]): void => {
    for (const { path } of files) paths.add(path);
    const size = sizeOf(files);
    count -= files.length;
    bytes -= size;
    const many = files.length === 1 ? "" : `${files.length.toLocaleString("en")} files with `;
    leftOut.push({ path: showPath(name), why: `it has ${many}${megabytes(size)} MB, and ${limits}` });
  };
  if (bytes > maxBytes) {
    const groups = groupsBy((path) => path).sort(([, a], [, b]) => sizeOf(b) - sizeOf(a));
    for (const group of groups) if (bytes > maxBytes) leave(group);
  }
  if (count > maxFiles) {
    const groups = groupsBy((path) => `${path.replace(/[^/]*$/, "")}*`).sort(([, a], [, b]) => b.length - a.length);
    for (const group of groups) if (count > maxFiles) leave(group);
  }
  return { paths, leftOut };
}

const sizeOf = (files: readonly SizedFile[]): number => files.reduce((sum, { size }) => sum + size, 0);

export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toLocaleString("en", { maximumFractionDigits: 1 });
}

/** Returns the sizes of files; 0 of those that are gone, and of folders. */
export async function sizesOf(tree: string, paths: readonly BytePath[]): Promise<SizedFile[]> {
  const files: SizedFile[] = [];
  for (const path of paths) {
    const stat = await lstat(joinBytes(bytesOf(tree), path)).catch(() => undefined);
    files.push({ path, size: stat?.isDirectory() ? 0 : (stat?.size ?? 0) });
  }
  return files;
}

/** Returns whether a checkout with the entries of an index converts files, by an attribute. */
export const hasAttributes = (entries: readonly Pick<IndexEntry, "path">[]): boolean =>
  entries.some(({ path }) => /(?:^|\/)\.gitattributes$/.test(path));

/**
 * Returns the paths whose files have the same bytes and mode in two folders.
 *
 * @param signal - ends it with an error
 */
export async function sameFiles(
  one: string,
  other: string,
  paths: readonly BytePath[],
  signal?: AbortSignal,
): Promise<Set<BytePath>> {
  const same = new Set<BytePath>();
  for (const path of paths) {
    signal?.throwIfAborted();
    const files = [one, other].map((folder) => joinBytes(bytesOf(folder), path));
    const [a, b] = await Promise.all(files.map((file) => lstat(file).catch(() => undefined)));
    if (!a?.isFile() || !b?.isFile() || a.size !== b.size || (a.mode & 0o100) !== (b.mode & 0o100)) continue;
    const [left, right] = await Promise.all(files.map((file) => readFile(file)));
    if (left !== undefined && right !== undefined && left.equals(right)) same.add(path);
  }
  return same;
}

/** Removes the file at a path of a worktree. What is in its place can be any kind of file. */
export async function removeEntry(tree: string, path: BytePath): Promise<void> {
  await rm(joinBytes(bytesOf(tree), path), { force: true, recursive: true });
}
