/** A commit of a range. */
export interface Commit {
  sha: string;
  /** The commits it was made on; the first one is the branch it was made on or merged into. */
  parents: readonly string[];
  /** The beginning of the message. */
  message: string;
}

/** A file that changed, as GitHub's "Compare two commits" describes it. */
export interface ChangedFile {
  name: string;
  previousName: string | undefined;
  /** `added`, `modified`, `removed`, `renamed` and others. */
  status: string;
  additions: number;
  deletions: number;
  /** `undefined` if the file is binary, or if its patch is too large for GitHub. */
  patch: string | undefined;
}

/** What changed in a repository, without what the session's own pull requests brought. */
export interface Changes {
  /** The repository, as `owner/name`. */
  repository: string;
  /** The commit, tag or branch that the range starts after, and the one that it ends with. */
  base: string;
  head: string;
  /** GitHub's page of the comparison. */
  url: string;
  /** How many commits the range has. */
  commitCount: number;
  /** The commits that GitHub listed, newest last. */
  commits: readonly Commit[];
  /** The files that count. */
  files: readonly ChangedFile[];
  /** How many other files changed, which do not match `paths`. */
  otherFiles: number;
  /** Whether more files changed than GitHub lists. */
  isTruncated: boolean;
  /** The patterns that decide which files count; empty if all do. */
  paths: readonly string[];
}

/** Returns whether nothing that counts has changed. If GitHub did not list all files, that cannot be known. */
export function isNothingNew({ files, isTruncated }: Changes): boolean {
  return files.length === 0 && !isTruncated;
}
