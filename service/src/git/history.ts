import type { BytePath } from "./byte-paths.ts";
import { commitTree } from "./commit-worktree.ts";
import type { Git } from "./git.ts";

/** Returns the id of the commit that a ref or an id names; `undefined` if the clone does not have it. */
export function resolveCommit(git: Git, name: string): Promise<string | undefined> {
  return git.query(["rev-parse", "--verify", "--quiet", `${name}^{commit}`]);
}

/** Returns the merge base of two commits; `undefined` if they have no common history. */
export function mergeBase(git: Git, a: string, b: string): Promise<string | undefined> {
  return git.query(["merge-base", a, b]);
}

export async function isAncestor(git: Git, ancestor: string, descendant: string): Promise<boolean> {
  return (await git.query(["merge-base", "--is-ancestor", ancestor, descendant])) !== undefined;
}

/**
 * Returns whether a branch contains all changes between two commits, however they were merged.
 *
 * @param base - the merge base of the commit and the branch
 * @param branch - the id of the head of the branch
 */
export async function isMergedSince(git: Git, base: string, commit: string, branch: string): Promise<boolean> {
  if (base === commit) return true;
  if (base === branch) return false;
  const trees = [base, commit, branch].map((one) => `${one}^{tree}`);
  const [baseTree, tree, branchTree] = (await git.run(["rev-parse", ...trees])).split("\n");
  // A commit without a net change would count as merged into every branch.
  if (baseTree === tree) return false;
  return (await git.query(["merge-tree", "--write-tree", branch, commit])) === branchTree;
}

/** Returns the commits after `base` up to `head`, oldest first, with their first parents. */
export async function commitsBetween(
  git: Git,
  base: string,
  head: string,
): Promise<{ commit: string; parent: string | undefined; message: string }[]> {
  const output = await git.run(["log", "--reverse", "-z", "--format=%H %P%n%B", `${base}..${head}`]);
  return entriesOf(output, "\n").map(([ids, message]) => {
    const [commit = "", parent] = ids.trimEnd().split(" ");
    return { commit, parent, message };
  });
}

/** Returns the newest commits after `base` up to `head`, oldest first, each with the subject of its message. */
export async function latestCommits(
  git: Git,
  base: string,
  head: string,
  count: number,
): Promise<{ commit: string; subject: string }[]> {
  const log = ["log", "--reverse", "-z", "--format=%H %s", `--max-count=${count}`, `${base}..${head}`];
  // A subject can be as long as a whole message.
  const output = await git.run(log, { maxBytes: 1_000_000 });
  return entriesOf(output, " ").map(([commit, subject]) => ({ commit, subject }));
}

/** A commit with its whole message. */
export interface DatedCommit {
  commit: string;
  /** When it was committed, in milliseconds since 1970. */
  at: number;
  message: string;
}

/** In bytes, of the messages that are read at a time. Those of others can have any length. */
const maxMessageBytes = 20_000_000;

/** Returns at most `count` commits of a branch, newest first, without what was merged into it. */
export function commitsOfBranch(git: Git, head: string, count: number): Promise<DatedCommit[]> {
  return datedCommits(git, ["--first-parent", `--max-count=${count}`, head]);
}

/**
 * Returns the commits whose message contains a text, newest first.
 *
 * @param heads - the newest commits to look at
 * @param days - older commits are not looked at
 */
export async function commitsWithText(
  git: Git,
  text: string,
  heads: readonly string[],
  days: number,
): Promise<DatedCommit[]> {
  if (heads.length === 0) return [];
  const input = heads.map((head) => `${head}\n`).join("");
  return datedCommits(git, [`--since=${days}.days`, "--fixed-strings", `--grep=${text}`, "--stdin"], input);
}

async function datedCommits(git: Git, args: readonly string[], input = ""): Promise<DatedCommit[]> {
  const log = ["log", "-z", "--format=%H %ct%n%B", ...args];
  const output = await git.run(log, { input, maxBytes: maxMessageBytes });
  return entriesOf(output, "\n").map(([line, message]) => {
    const [commit = "", seconds] = line.split(" ");
    return { commit, at: Number(seconds) * 1000, message };
  });
}

/** Splits entries that end with NUL into what stands before and after a separator. */
function entriesOf(output: string, separator: string): [string, string][] {
  const entries = output.split("\0").filter((entry) => entry !== "");
  return entries.map((entry) => {
    const end = entry.indexOf(separator);
    return [entry.slice(0, end), entry.slice(end + 1)];
  });
}

/** Most file systems allocate so much at a time. */
const blockBytes = 4096;

/** Returns how much of a disk the files of a commit take, in bytes. */
export async function filesBytes(git: Git, commit: string): Promise<number> {
  const sizes = await git.run(["ls-tree", "-r", "--format=%(objectsize)", commit]);
  // A submodule has none.
  return [...sizes.matchAll(/^\d+$/gm)].reduce(
    (sum, [size]) => sum + Math.ceil(Number(size) / blockBytes) * blockBytes,
    0,
  );
}

/** Returns the first `maxBytes` bytes of the diff between two commits. */
export function diff(git: Git, base: string, head: string, maxBytes: number): Promise<string> {
  const format = [
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--find-renames",
  ];
  return git.run(["diff", ...format, base, head], { maxBytes });
}

/** Returns a commit with the same content, parent and message as another one, and with another id: it is at least a second younger. */
export async function copyCommit(git: Git, commit: string, title?: string): Promise<string> {
  const output = await git.run(["log", "--max-count=1", "--format=format:%T %P %ct%n%B", commit]);
  const [line = "", ...message] = output.split("\n");
  const [tree = "", parent = "", seconds] = line.split(" ");
  const at = Math.max(Math.floor(Date.now() / 1000), Number(seconds) + 1);
  return commitTree(git, tree, parent, withTitle(message.join("\n"), title), at);
}

const withTitle = (message: string, title: string | undefined): string =>
  title === undefined ? message : message.replace(/^.*/, () => title);

/**
 * Moves a commit, a child of `parent`, onto another commit, such as a descendant of `parent`, or one that has it squashed.
 *
 * @returns the new commit; `newParent` itself if it contains the change already; `undefined` on a conflict
 */
export async function rebase(
  git: Git,
  commit: string,
  parent: string,
  newParent: string,
  title?: string,
): Promise<string | undefined> {
  const trees = [parent, newParent, commit].map((one) => `${one}^{tree}`);
  const [before, onto = "", after = ""] = (await git.run(["rev-parse", ...trees])).split("\n");
  const isRelated = before === onto || (await isAncestor(git, parent, newParent));
  // `merge-tree` finds the merge base itself: before Git 2.40, it cannot be told.
  const other = isRelated ? newParent : await commitTree(git, onto, parent, "");
  const tree = before === onto ? after : await git.query(["merge-tree", "--write-tree", other, commit]);
  if (tree === undefined) return undefined;
  if (tree === onto) return newParent;
  const message = await git.run(["log", "--max-count=1", "--format=format:%B", commit]);
  return commitTree(git, tree, newParent, withTitle(message, title));
}

/** Merges a commit into another one. Returns the new commit, or the paths that conflict. */
export async function merge(
  git: Git,
  into: string,
  other: string,
  message: string,
): Promise<{ commit: string } | { conflicts: BytePath[] }> {
  const { tree, conflicts } = await mergeTree(git, into, other);
  return conflicts === undefined ? { commit: await commitTree(git, tree, [into, other], message) } : { conflicts };
}

/** Returns whether a commit only merges a commit of a branch, as Git does without anyone's hand. @param branch - the id of its head */
export async function isCleanMerge(git: Git, commit: string, branch: string): Promise<boolean> {
  const line = (await git.run(["log", "--max-count=1", "--format=%T %P", commit])).trim();
  const [tree, into = "", other, ...more] = line.split(" ");
  if (other === undefined || more.length > 0 || !(await isAncestor(git, other, branch))) return false;
  const made = await mergeTree(git, into, other);
  return made.conflicts === undefined && made.tree === tree;
}

/** @returns `conflicts`: the paths; `undefined` if there are none */
async function mergeTree(
  git: Git,
  into: string,
  other: string,
): Promise<{ tree: string; conflicts: BytePath[] | undefined }> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", into, other];
  const [tree = "", ...told] = (await git.run(args, { encoding: "latin1", isAnswer: true })).split("\0");
  // After a clean merge, nothing follows. Otherwise, messages come after the paths and an empty entry.
  const end = told.indexOf("");
  return { tree: tree.trim(), conflicts: told.length <= 1 ? undefined : told.slice(0, end) };
}
