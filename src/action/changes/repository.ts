import * as z from "zod/mini";
import { jobsOf } from "../commit-jobs.ts";
import { GitHubError } from "../runner/github-error.ts";
import type { RepositoryReader } from "../runner/read-repository.ts";

/** The limits of all requests to the repository, in milliseconds. */
export const readingLimits = { timeoutMs: 20_000, totalMs: 120_000 };
/** How many pages of commits, tags or releases are read, with 100 items each. GitHub limits its own lists as well. */
const maxPages = 50;
/** How many of these pages with older commits are read to find a newer one below them. */
const maxOlderPages = 3;
/** GitHub lists this many files of a comparison. GitHub's documentation: "Compare two commits". */
const maxListedFiles = 300;
/** In UTF-16 units; only the beginning of a message is used. */
const maxMessageLength = 500;

const commit = z.pipe(
  z.object({
    sha: z.string(),
    parents: z.array(z.object({ sha: z.string() })),
    commit: z.object({ message: z.string() }),
  }),
  z.transform(({ sha, parents, commit: { message } }) => {
    const jobs = jobsOf(message);
    return { sha, parents: parents.map((parent) => parent.sha), message: message.slice(0, maxMessageLength), jobs };
  }),
);
/** A commit, with the beginning of its message, and the jobs that it says made it. Its first parent is the branch it was made on or merged into. */
export type Commit = z.output<typeof commit>;

/** What GitHub shows as the patch of a submodule. */
const pointers = /^@@.*(?:\n[-+]Subproject commit [0-9a-f]{40,64})+\n?$/;

const file = z.pipe(
  z.object({
    filename: z.string(),
    previous_filename: z.optional(z.string()),
    status: z.string(),
    additions: z.int(),
    deletions: z.int(),
    patch: z.optional(z.string()),
  }),
  z.transform(({ filename: name, previous_filename: previousName, patch, ...counts }) => {
    return { name, previousName, patch, ...counts, isSubmodule: pointers.test(patch ?? "") };
  }),
);
/** A file that changed. It has no patch if it is binary, or if that is too large for GitHub. */
export type ChangedFile = z.output<typeof file>;

const comparison = z.object({
  status: z.string(),
  total_commits: z.int(),
  commits: z.array(commit),
  files: z.optional(z.array(file)),
});

const pullRequest = z.object({
  merged: z.boolean(),
  merge_commit_sha: z.nullish(z.string()),
  base: z.object({ sha: z.string() }),
  head: z.object({ sha: z.string() }),
});

const inRepository = z.object({ repo: z.nullish(z.object({ id: z.int() })) });
const origin = z.object({ head: inRepository, base: inRepository });

const fileTree = z.object({
  truncated: z.boolean(),
  tree: z.array(z.object({ path: z.string(), type: z.string() })),
});

const release = z.object({ tag_name: z.string(), draft: z.boolean() });
const tag = z.object({ name: z.string() });

/** What is between two commits, tags or branches. */
export interface Comparison {
  /** What the range starts after, and what it ends with. */
  base: string;
  head: string;
  /** How `head` relates to `base`: `ahead`, `behind`, `identical` or `diverged`. */
  status: string;
  commitCount: number;
  /** The first 100, newest last, until `withAllCommits` has read the others. */
  commits: readonly Commit[];
  /** The first 300. */
  files: readonly ChangedFile[];
  /** Whether more files changed than GitHub lists. */
  isTruncated: boolean;
  /** Whether GitHub cannot compare the two, so that nothing is listed. Default: it can. */
  isUnlisted?: boolean;
  /** The first commit of all, if it belongs to the range. GitHub compares only what came after it. */
  root?: Commit | undefined;
}

/** What changed in a repository, without what the session's own pull requests brought. Its files are those that count. */
export interface Changes extends Omit<Comparison, "status"> {
  /** Whether the session has been told of all before them, so that it is told of all up to their head. */
  continues: boolean;
  /** The repository, as `owner/name`. */
  repository: string;
  /** GitHub's page of the comparison. */
  url: string;
  /** How many other files changed, which do not match `paths`. */
  otherFiles: number;
  /** The patterns that decide which files count; empty if all do. */
  paths: readonly string[];
}

/** Returns whether GitHub says that it cannot make a comparison: for one that is too large, it always will. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof GitHubError)) return false;
  return error.status === 500 || (error.status === 422 && error.message.includes("not_available"));
}

/** The repository of the run on GitHub. */
export type Repository = ReturnType<typeof repositoryOf>;

/** Returns the repository of the run, read through GitHub's API. Every method throws if GitHub cannot be asked. */
export function repositoryOf(reader: RepositoryReader) {
  const comparePage = (base: string, head: string, page: number) =>
    reader.get("compare/{basehead}", comparison, { basehead: `${base}...${head}`, per_page: 100, page });
  return {
    /** Compares the merge base of two commits with `head`, with one request. GitHub's documentation: "Compare two commits". */
    async compare(base: string, head: string): Promise<Comparison> {
      const data = await comparePage(base, head, 1).catch((error: unknown) => {
        if (isTooLarge(error)) return undefined;
        throw error;
      });
      if (!data)
        return { base, head, status: "", commitCount: 0, commits: [], files: [], isTruncated: true, isUnlisted: true };
      const { status, total_commits: commitCount, commits, files = [] } = data;
      if (!data.files && commitCount > 0) throw new Error("GitHub's response lists no files");
      return { base, head, status, commitCount, commits, files, isTruncated: files.length >= maxListedFiles };
    },

    /** Reads the other commits of a comparison, up to 5,000. */
    async withAllCommits(range: Comparison): Promise<Comparison> {
      const commits = [...range.commits];
      for (let page = 2; page <= maxPages && commits.length < range.commitCount; page++) {
        // Only the first page has files.
        const { commits: next } = await comparePage(range.base, range.head, page);
        if (next.length === 0) break;
        commits.push(...next);
      }
      return { ...range, commits };
    },

    /**
     * Returns the first parent of `head`, a full id, after which all came that was merged since `time`. A commit keeps its date if it is
     * pushed later, so the walk continues past old dates while a newer commit is deeper. `root`: it is the first of all, and came in this time.
     */
    async commitBefore(head: string, time: Date): Promise<{ base: string; root: Commit | undefined }> {
      const known = new Map<string, Commit>();
      const list = async (parameters: object): Promise<Commit[]> => {
        const commits = await reader.get("commits", z.array(commit), { per_page: 100, ...parameters });
        for (const each of commits) known.set(each.sha, each);
        return commits;
      };
      for (let page = 1; page <= maxPages; page++)
        if ((await list({ sha: head, since: time.toISOString(), page })).length < 100) break;
      const newer = new Set(known.keys());
      /** Newer commits that are not below one which the walk has passed. */
      const left = new Set(newer);
      const pass = (sha: string): void => {
        if (left.delete(sha)) known.get(sha)?.parents.forEach(pass);
      };
      let base = head;
      let root: Commit | undefined;
      let pages = 0;
      for (let sha: string | undefined = head; sha !== undefined && (left.size > 0 || newer.has(sha)); ) {
        if (!known.has(sha) && pages++ < maxOlderPages) await list({ sha });
        const next = known.get(sha);
        if (newer.has(sha)) base = next?.parents[0] ?? sha;
        if (newer.has(sha) && base === sha) root = next;
        pass(sha);
        sha = next?.parents[0];
      }
      return { base, root };
    },

    /** Returns the first 300 files of a commit. GitHub's documentation: "Get a commit". */
    async filesOf(ref: string): Promise<ChangedFile[]> {
      return (await reader.get("commits/{ref}", z.object({ files: z.array(file) }), { ref })).files;
    },

    /** Returns the paths of all files and submodules of a commit; `undefined` if there are too many. GitHub's documentation: "Get a tree". */
    async allPaths(ref: string): Promise<{ files: string[]; submodules: string[] } | undefined> {
      const { truncated, tree } = await reader.get("git/trees/{ref}", fileTree, { ref, recursive: "1" });
      const of = (kind: string) => tree.filter(({ type }) => type === kind).map(({ path }) => path);
      return truncated ? undefined : { files: of("blob"), submodules: of("commit") };
    },

    /** Returns the tags of all releases but drafts. GitHub's documentation: "List releases". */
    async releaseTags(): Promise<string[]> {
      const releases = await reader.list("releases", release);
      return releases.filter(({ draft }) => !draft).map(({ tag_name }) => tag_name);
    },

    /** Returns the names of all tags. GitHub's documentation: "List repository tags". */
    async tags(): Promise<string[]> {
      return (await reader.list("tags", tag)).map(({ name }) => name);
    },

    /** Reads a pull request. GitHub's documentation: "Get a pull request". */
    async pullRequest(number: number): Promise<{ base: string; head: string; mergeCommit: string | undefined }> {
      const data = await reader.get("pulls/{pull_number}", pullRequest, { pull_number: number });
      const mergeCommit = data.merged ? (data.merge_commit_sha ?? undefined) : undefined;
      return { base: data.base.sha, head: data.head.sha, mergeCommit };
    },

    /**
     * Returns whether pull requests from forks brought a commit, where anyone can have written its message. GitHub's documentation: "List pull requests
     * associated with a commit".
     */
    async isFromFork(ref: string): Promise<boolean> {
      const pulls = await reader.get("commits/{ref}/pulls", z.array(origin), { ref });
      return pulls.length > 0 && pulls.every(({ head, base }) => head.repo?.id !== base.repo?.id);
    },

    /** Returns the messages of a pull request's first 100 commits, oldest first. */
    async pullRequestMessages(number: number): Promise<string[]> {
      const parameters = { pull_number: number, per_page: 100 };
      const commits = await reader.get("pulls/{pull_number}/commits", z.array(commit), parameters);
      return commits.map(({ message }) => message);
    },
  };
}
