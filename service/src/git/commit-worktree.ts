import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import type { Identity } from "../model.ts";
import { removeDirectory } from "../remove-directory.ts";
import { pathsInIndex } from "./agent-repository.ts";
import { type BytePath, bytesOf, joinBytes, showPath } from "./byte-paths.ts";
import { showIdentity, writeCommit } from "./commit-object.ts";
import { type Git, type GitCommandOptions, GitError } from "./git.ts";
import { removeLent } from "./ignored-files.ts";
import { copyIndex, type IndexEntry, readIndex, submoduleMode } from "./index-file.ts";
import {
  type ChangeLimits,
  chooseExcess,
  countTexts,
  dissolveRepository,
  findHalves,
  findUnportable,
  foldCase,
  hasAttributes,
  type LeftOut,
  linkProblem,
  megabytes,
  nameOf,
  namesNewSubmodule,
  removeEntry,
  type SizedFile,
  sameFiles,
  sizesOf,
  tellIgnored,
} from "./left-out.ts";
import { tellLosses } from "./told-losses.ts";
import type { WorktreePlace } from "./worktree.ts";
import { prepareFolders } from "./worktree-files.ts";

/** A worktree that an agent works in. */
export interface Worktree extends WorktreePlace {
  head: string;
  /** The commit that the agent's files are a change of, if it left the head for another one, or `unknownBase`. Default: `head`. */
  changedFrom?: string | undefined;
  /** The directory itself, by which it is recognized; see `identityOf`. */
  identity: string | undefined;
}

/** Thrown if what an agent has left cannot be published, with what to do about it as the message. */
export class ChangeRefused extends Error {}

export interface CommitOptions {
  /** How large the changed files may be together. */
  maxBytes: number;
  /** How many files may be changed. Default: 50 per MB of `maxBytes`, at least 1000 and at most 100,000. */
  maxFiles?: number | undefined;
  /** Kills Git: patterns of an agent can take it any time. */
  signal?: AbortSignal | undefined;
  /** The files that may be changed. Changes of others are taken back. Default: all. */
  only?: { matches(path: string): boolean } | undefined;
  /** Who commits, unless `changedFrom` is given. Default: `agentIdentity`. */
  by?: Identity | undefined;
  /** A folder of files that were copied to the same paths, and are never committed. Default: none. */
  lent?: string | undefined;
  /** Whether it is kept for the job's next agent only, with any names, and however little of the change it is. Default: no. */
  isUnfinished?: boolean | undefined;
}

/** What a commit tells of a change besides itself. */
export interface ToldChange {
  /** What is not part of the change, although the agent left it. */
  leftOut: readonly LeftOut[];
  /** The paths whose changes are taken back, because of `only`. Default: none. */
  takenBack?: readonly string[] | undefined;
  /** What people should look at first, such as many deleted files, each as a sentence. Default: nothing. */
  notes?: readonly string[] | undefined;
}

const maxFilesOf = (maxBytes: number): number => Math.min(Math.max(1000, Math.floor(maxBytes / 20_000)), 100_000);
/** In bytes, of all paths that may have been changed: more than any package manager creates. */
const maxListedBytes = 100_000_000;
/** Files that tell Git what to ignore, and how to read others. */
const isRules = /(?:^|\/)\.git(?:ignore|attributes)$/;
export interface WorktreeCommit extends ToldChange {
  /** `undefined` if nothing was changed. */
  commit: string | undefined;
  /** The paths of `lent` that nothing ignores any longer. They are removed. Default: none. */
  returned?: readonly string[];
}

/** How many repositories of an agent, and files that Git cannot add, are looked at one by one. */
const maxTries = 20;

/**
 * Commits what an agent changed in a worktree on top of its head, however it used Git there: the difference between the bytes that the
 * checkout left and those that are there now. What cannot be published is left out, and told.
 *
 * A submodule is never moved to another commit: whether its own repository has that commit is unknown, and its files are not
 * part of this one. It can be removed.
 *
 * @param git - runs in the clone
 * @throws ChangeRefused if changes of tracked files are too large, or the worktree is gone, or another directory or a link is in its place,
 *   whose files would be published
 */
export async function commitWorktree(
  git: Git,
  clone: string,
  worktree: Worktree,
  message: string | ((told: ToldChange) => string),
  { maxBytes, maxFiles = maxFilesOf(maxBytes), signal, only, lent, by, isUnfinished = false }: CommitOptions,
): Promise<WorktreeCommit> {
  const { tree, head, identity } = worktree;
  if (identity === undefined || (await identityOf(tree)) !== identity)
    throw new ChangeRefused("the agent removed or replaced its worktree");
  const special = await prepareFolders(tree, signal);
  const leftOut: LeftOut[] = special.map((path) => ({ path: showPath(path), why: "it is no file" }));
  const leave = (path: BytePath, why: string): void => void leftOut.push({ path: showPath(path), why });
  // A copy, because only what the service itself wrote may be in the index of the worktree.
  const index = `${worktree.index}-commit`;
  const written = `${worktree.index}-start`;
  try {
    await copyIndex(worktree.index, index);
    const environment = { GIT_DIR: clone, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index };
    const run = (args: string[], options: GitCommandOptions = {}) =>
      git.run(args, { cwd: tree, environment, signal, encoding: "latin1", ...options });
    const inputOf = (paths: readonly BytePath[]) => ({ input: Buffer.from(paths.join("\0"), "latin1") });
    const update = async (option: string, paths: readonly BytePath[]): Promise<void> => {
      if (paths.length > 0) await run(["update-index", "-z", option, "--stdin"], inputOf(paths));
    };
    const before = await readIndex(index, "latin1");
    const tracked = new Set(before.map(({ path }) => path));
    const submodules = await sortSubmodules(tree, before);
    const isOutside = (path: BytePath): boolean => only !== undefined && !only.matches(showPath(path));
    const keptGone = submodules.gone.filter(isOutside);
    const gone = submodules.gone.filter((path) => !isOutside(path));
    for (const path of submodules.leftOut)
      leave(
        path,
        "only what the submodule's own repository has can be used here, so it stays at its commit: to change it, let an agent work on that, with --repository",
      );
    // Git leaves them alone then. Otherwise it would read the repository that the agent has there.
    await update("--skip-worktree", [...submodules.kept, ...keptGone]);
    await update("--force-remove", gone);
    const list = ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--", ":/"];
    const removed: BytePath[] = [];
    let repositories = 0;
    const findChanged = async (): Promise<{ inside: BytePath[]; outside: Set<BytePath> }> => {
      const listed = await run(list, { maxBytes: maxListedBytes });
      if (listed.length === maxListedBytes)
        throw new ChangeRefused(
          "the agent changed so many files that not all can be looked at: tell it to delete what it does not need",
        );
      const paths = [...new Set(listed.split("\0").filter((path) => path !== ""))];
      const ofOthers = lent === undefined ? [] : await removeLent(lent, tree, paths);
      removed.push(...ofOthers);
      const asWritten = hasAttributes(before)
        ? await readAsWritten(git, { clone, index: worktree.index, tree, written }, paths, tracked, signal)
        : new Set<BytePath>();
      const { inside, outside } = separate(
        paths.filter((path) => !asWritten.has(path)),
        isOutside,
      );
      let areDissolved = false;
      // Git lists a folder only if it is a repository.
      for (const path of inside.filter((one) => one.endsWith("/") && !ofOthers.includes(one)))
        if (repositories++ < maxTries && (await dissolveRepository(tree, path))) areDissolved = true;
      // Their files are listed now. Without some, others can be listed.
      return areDissolved || ofOthers.length > 0 ? findChanged() : { inside, outside };
    };
    const first = await findChanged();
    const rules = [...first.outside].filter((path) => isRules.test(path));
    // What is taken back must not decide which of the other files Git ignores, or how it reads them.
    if (rules.length > 0) {
      for (const path of rules) if (!tracked.has(path)) await removeEntry(tree, path);
      await run(["checkout-index", "--force", "-z", "--stdin"], inputOf(rules.filter((path) => tracked.has(path))));
    }
    const { inside, outside } = rules.length > 0 ? await findChanged() : first;
    const takenBack = [...new Set([...keptGone, ...first.outside, ...outside])].map(showPath).sort();
    const told = { leftOut, takenBack, returned: removed.map(showPath) };
    const isNew = (path: BytePath): boolean => !tracked.has(path);
    const areGone = await findGone(tree, inside, isNew);
    const added = isUnfinished ? [] : inside.filter((path) => isNew(path) && !path.endsWith("/"));
    const staying = [...tracked].filter((path) => !areGone.has(path));
    const whyNot = new Map([...findUnportable(added, staying), ...(await findUnpublishable(tree, inside))]);
    if (submodules.isMoved) whyNot.set(".gitmodules", "submodules stay where they are");
    const hasIgnores = [...tracked, ...inside].some((path) => isIgnoreFile.test(path));
    const listIgnored = async (...options: string[]): Promise<BytePath[]> =>
      (await run(["ls-files", ...options, ...ofIgnored], { maxBytes: maxListedBytes })).split("\0").slice(0, -1);
    const ignored = hasIgnores ? await listIgnored("--directory", "--no-empty-directory") : [];
    const isLent = async (path: BytePath): Promise<boolean> =>
      lent !== undefined && exists(lent, path.replace(/\/$/, ""));
    const notPublished = await tellIgnored(ignored, isLent, () => pathsInIndex(tree));
    // What something that is left out has taken the place of stays, too.
    const isLeft = (path: BytePath): boolean =>
      whyNot.has(path) || foldersOf(path).some((folder) => whyNot.has(folder) || whyNot.has(`${folder}/`));
    const publishable = inside.filter((path) => !isLeft(path));
    const sized = await sizesOf(tree, publishable);
    const own = sized.filter(({ path }) => !isNew(path));
    const rest = { files: own.length, bytes: own.reduce((sum, { size }) => sum + size, 0) };
    if (rest.files > maxFiles || rest.bytes > maxBytes) throw tooLarge(own, rest, { maxFiles, maxBytes });
    const sizedNew = sized.filter(({ path }) => isNew(path));
    // A file that is moved counts once.
    const files = Math.max(own.filter(({ path }) => !areGone.has(path)).length, own.length - sizedNew.length);
    const excess = chooseExcess(sizedNew, [...tracked], { ...rest, files }, { maxFiles, maxBytes });
    const add = publishable.filter((path) => !excess.paths.has(path) && !areGone.has(path));
    for (const [path, why] of await addFiles(add, (paths) => run(updateArgs, inputOf(paths)))) whyNot.set(path, why);
    const listed = await readIndex(index, "latin1");
    const isAdded = new Set(add);
    const published = new Map(listed.flatMap(({ path, id }) => (isAdded.has(path) ? [[path, id]] : [])));
    for (const path of add)
      if (!whyNot.has(path) && !published.has(path) && (await exists(tree, path)))
        whyNot.set(path, "Git keeps this name for itself, or it is no file");
    const isDeleted = ({ path }: IndexEntry): boolean => areGone.has(path) && !isLeft(path);
    // What is published with the same content, or with its name in another case, is no half of a move.
    const moved = new Set([...published].flatMap(([path, id]) => [foldCase(path), id]));
    const deleted = listed.filter((one) => isDeleted(one) && !moved.has(one.id) && !moved.has(foldCase(one.path)));
    const others = [...first.outside, ...outside].filter(isNew);
    if (deleted.length > 0 && ignored.length > 0) {
      const names = new Set(deleted.map(({ path }) => nameOf(path)));
      for (const path of await listIgnored()) if (names.has(nameOf(path)) && !(await isLent(path))) others.push(path);
    }
    const halves = new Set(await findHalves(tree, deleted, [...whyNot.keys(), ...excess.paths], others));
    const removals = new Set(listed.filter((one) => isDeleted(one) && !halves.has(one.path)));
    await update(
      "--force-remove",
      Array.from(removals, ({ path }) => path),
    );
    const entries = compareEntries(
      before,
      listed.filter((one) => !removals.has(one)),
    );
    const { count } = entries;
    for (const [path, why] of whyNot) leave(path, why);
    leftOut.push(...excess.leftOut);
    const named = [...halves].slice(0, 10).map(showPath).join(", ");
    const many = halves.size > 10 ? `${halves.size.toLocaleString("en")} files, such as ` : "";
    if (halves.size > 0)
      leftOut.push({ path: `the deletion of ${many}${named}`, why: "what may have replaced it is not published" });
    // Repositories, links, images and what packages have installed are not what somebody asked for.
    const isLost =
      !isUnfinished && whyNot.size > count && (count === 0 || (await countTexts(tree, whyNot.keys())) > count);
    if (isLost || (count === 0 && excess.leftOut.length > 0))
      throw new ChangeRefused(`most of the change cannot be published: ${describeLeftOut(leftOut)}`);
    if (count === 0) return { commit: undefined, ...told, notes: notPublished };
    const made = (await run(["write-tree"])).trim();
    const all = { ...told, notes: [...(await tellLosses(git, head, made, entries)), ...notPublished] };
    const text = typeof message === "string" ? message : message(all);
    const commit = by ? await commitBy(git, by, made, head, text) : await commitTree(git, made, head, text);
    return { commit, ...all };
  } finally {
    await rm(index, { force: true });
    // Left by Git if it was killed.
    await rm(`${index}.lock`, { force: true });
    await removeDirectory(written);
  }
}

const isIgnoreFile = /(?:^|\/)\.gitignore$/;
/** Only what the repository itself ignores: files that agents leave for themselves are ignored by the clone. */
const ofIgnored = ["-z", "--others", "--ignored", "--exclude-per-directory=.gitignore", "--", ":/"];

const updateArgs = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];

/** Returns the tracked ones of changed paths that are no longer files. New ones can be in place of their folders. */
async function findGone(
  tree: string,
  paths: readonly BytePath[],
  isNew: (path: BytePath) => boolean,
): Promise<Set<BytePath>> {
  const gone = new Set<BytePath>();
  const inPlace = new Set(paths.filter(isNew));
  for (const path of paths.filter((one) => !isNew(one))) {
    const stat = await lstat(joinBytes(bytesOf(tree), path)).catch(() => undefined);
    if (stat === undefined || stat.isDirectory() || foldersOf(path).some((folder) => inPlace.has(folder)))
      gone.add(path);
  }
  return gone;
}

const exists = async (tree: string, path: BytePath): Promise<boolean> =>
  (await lstat(joinBytes(bytesOf(tree), path)).catch(() => undefined)) !== undefined;

/** Says what is left out of a change. Not all, if that is much. */
export function describeLeftOut(leftOut: readonly LeftOut[]): string {
  const shown = leftOut.slice(0, 20).map(({ path, why }) => `${path}, because ${why}`);
  return [...shown, ...(leftOut.length > 20 ? [`and ${leftOut.length - 20} more`] : [])].join("; ");
}

/**
 * Returns those modified files that are as the checkout wrote them. Where an attribute converts files, such as `eol` or `working-tree-encoding`,
 * Git can list them as modified although nobody has touched them.
 */
async function readAsWritten(
  git: Git,
  { clone, index, tree, written }: { clone: string; index: string; tree: string; written: string },
  paths: readonly BytePath[],
  tracked: ReadonlySet<BytePath>,
  signal: AbortSignal | undefined,
): Promise<Set<BytePath>> {
  const modified = paths.filter((path) => tracked.has(path));
  if (modified.length === 0) return new Set();
  await removeDirectory(written);
  await mkdir(written, { recursive: true });
  // Without files of the agent, the attributes are those in the index.
  const environment = { GIT_DIR: clone, GIT_WORK_TREE: written, GIT_INDEX_FILE: index };
  const input = Buffer.from(modified.join("\0"), "latin1");
  await git.run(["checkout-index", "--quiet", "-z", "--stdin"], { cwd: written, environment, input, signal });
  return sameFiles(tree, written, modified, signal);
}

/** Returns the changed paths that are not published because of what they are, with why. */
async function findUnpublishable(tree: string, paths: readonly BytePath[]): Promise<Map<BytePath, string>> {
  const whyNot = new Map<BytePath, string>();
  for (const path of paths) {
    const why = path.endsWith("/") ? "it is a Git repository of its own" : await linkProblem(tree, path);
    if (why !== undefined) whyNot.set(path, why);
  }
  return whyNot;
}

/** Adds files to an index. Returns those that Git cannot read, with why. */
async function addFiles(
  paths: readonly BytePath[],
  add: (paths: readonly BytePath[]) => Promise<unknown>,
): Promise<Map<BytePath, string>> {
  const unreadable = new Map<BytePath, string>();
  for (let rest = paths; rest.length > 0; ) {
    try {
      await add(rest);
      return unreadable;
    } catch (error) {
      const [, path] = (error instanceof GitError && encodingProblem.exec(error.message)) || [];
      const found = rest.find((one) => showPath(one) === path || one === path);
      if (found === undefined || unreadable.size === maxTries) throw error;
      unreadable.set(found, "it does not have the encoding that a .gitattributes demands with working-tree-encoding");
      rest = rest.filter((one) => one !== found);
    }
  }
  return unreadable;
}

/** What Git says of a file with another encoding than its attribute names. */
const encodingProblem = /\bfatal: (?:BOM is (?:required|prohibited) in|failed to encode) '(.*?)'/m;

function tooLarge(
  files: readonly SizedFile[],
  { files: count, bytes }: { files: number; bytes: number },
  { maxFiles, maxBytes }: ChangeLimits,
): ChangeRefused {
  if (count > maxFiles)
    return new ChangeRefused(
      `the change has ${count} files of the repository, more than the ${maxFiles} that --largest-change-mb allows, such as ${files
        .slice(0, 3)
        .map(({ path }) => showPath(path))
        .join(", ")}`,
    );
  const [largest] = [...files].sort((a, b) => b.size - a.size);
  return new ChangeRefused(
    `the change has ${megabytes(bytes)} MB, more than the ${megabytes(maxBytes)} MB of --largest-change-mb; ` +
      `the largest file is ${showPath(largest?.path ?? "")} with ${megabytes(largest?.size ?? 0)} MB`,
  );
}

/** Returns how many entries of an index differ from another one's, and which paths are new. */
function compareEntries(before: readonly IndexEntry[], after: readonly IndexEntry[]) {
  const added = new Set<BytePath>();
  let [count, modes, deleted] = [0, 0, 0];
  // Both are in the order of their bytes.
  for (let [one, other] = [0, 0]; one < before.length || other < after.length; ) {
    const [old, own] = [before[one], after[other]];
    if (old !== undefined && (own === undefined || old.path < own.path)) {
      deleted++;
      one++;
    } else if (own !== undefined && (old === undefined || own.path < old.path)) {
      added.add(own.path);
      other++;
    } else {
      if (own?.mode !== old?.mode || own?.id !== old?.id) count++;
      if (own?.mode !== old?.mode) modes++;
      one++;
      other++;
    }
  }
  return { count: count + added.size + deleted, added, deleted, modes };
}

/**
 * Separates changed paths into those that are committed and those that are taken back. One that is in place of a folder of the others, or
 * in a folder in place of one of them, cannot be committed either.
 */
function separate(paths: readonly BytePath[], isOutside: (path: BytePath) => boolean) {
  const others = paths.filter(isOutside);
  const above = new Set(others.flatMap(foldersOf));
  const outside = new Set([...others, ...paths.filter((path) => above.has(path))]);
  for (const path of paths) if (foldersOf(path).some((folder) => outside.has(folder))) outside.add(path);
  return { inside: paths.filter((path) => !outside.has(path)), outside };
}

function foldersOf(path: BytePath): BytePath[] {
  const names = path.replace(/\/$/, "").split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}

/**
 * Returns the id of a new commit.
 *
 * @param at - when it is committed, in seconds since 1970. Default: now
 */
export async function commitTree(
  git: Git,
  tree: string,
  parents: string | readonly string[],
  message: string,
  at?: number,
): Promise<string> {
  const environment = at === undefined ? {} : { GIT_COMMITTER_DATE: `@${at} +0000` };
  const options = { input: message, environment };
  const of = [parents].flat().flatMap((parent) => ["-p", parent]);
  return (await git.run(["commit-tree", tree, ...of, "-F", "-"], options)).trim();
}

/** Returns the id of a new commit of somebody, whose name Git would shorten. */
function commitBy(git: Git, by: Identity, tree: string, parent: string, message: string): Promise<string> {
  const who = `${showIdentity(by)} ${Math.floor(Date.now() / 1000)} +0000`;
  return writeCommit(git, `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\n${message}`);
}

/** Returns the identity of a directory, or `undefined` if there is no directory, such as a link. */
export async function identityOf(path: string | Buffer): Promise<string | undefined> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined);
  return stat?.isDirectory() ? `${stat.dev}:${stat.ino}` : undefined;
}

/**
 * Sorts the submodules of a worktree by how the agent left them. Other files in place of one are not part of this repository either: its
 * pointer stays.
 */
async function sortSubmodules(tree: string, entries: readonly IndexEntry[]) {
  const [kept, gone, leftOut]: [BytePath[], BytePath[], BytePath[]] = [[], [], []];
  for (const { path } of entries.filter(({ mode }) => mode === submoduleMode)) {
    const folder = joinBytes(bytesOf(tree), path);
    const isMissing = (await lstat(folder).catch(() => undefined)) === undefined;
    const isEmpty = (await identityOf(folder)) !== undefined && (await readdir(folder)).length === 0;
    (isMissing ? gone : kept).push(path);
    if (!isMissing && !isEmpty) leftOut.push(path);
  }
  const isMoved = gone.length > 0 && (await namesNewSubmodule(tree, entries));
  return isMoved ? { kept: [...kept, ...gone], gone: [], leftOut, isMoved } : { kept, gone, leftOut, isMoved };
}
