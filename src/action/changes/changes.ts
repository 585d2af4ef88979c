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

/** What is between two commits, tags or branches. */
export interface Range {
  /** What the range starts after, and what it ends with. */
  base: string;
  head: string;
  commitCount: number;
  /** The first 5,000, newest last. */
  commits: readonly Commit[];
  /** The first 300. */
  files: readonly ChangedFile[];
  /** Whether more files changed than GitHub lists. */
  isTruncated: boolean;
}

/** What changed in a repository, without what the session's own pull requests brought. Its files are those that count. */
export interface Changes extends Range {
  /** The repository, as `owner/name`. */
  repository: string;
  /** GitHub's page of the comparison. */
  url: string;
  /** How many other files changed, which do not match `paths`. */
  otherFiles: number;
  /** The patterns that decide which files count; empty if all do. */
  paths: readonly string[];
}
