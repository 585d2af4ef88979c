/** What an attempt saves in the cache. */
export interface WordEntry {
  attempt: number;
  sent: "create" | "message";
  /** The job; only in the state `job`. */
  jobId?: string | undefined;
  /** Where the range of changes started that the attempt compared. */
  base?: string | undefined;
  /** Whether the service had announced that it can be asked; `undefined` if it was not asked. */
  announced?: boolean | undefined;
  /** Whether the request was sent under a key of its own. */
  isNew?: true | undefined;
}

/** How many pull requests a session remembers. */
export const maxPullRequests = 20;

/** What a session saves in the cache. */
export interface SessionEntry {
  jobId: string;
  /** The workflow run that last sent something, the hash of its step and prompt, and what it sent. */
  run: string;
  step: string;
  /** The number of the attempt. */
  attempt: number;
  kind: "create" | "message";
  /** The commit up to which a turn that completed has covered the changes. */
  commit?: string | undefined;
  /** The commit of a run whose turn was not seen to end. */
  sent?: string | undefined;
  /** How many turns of the job have failed since one completed. */
  failures: number;
  /** The numbers of the session's last pull requests in this repository, oldest first. */
  pullRequests: number[];
}
