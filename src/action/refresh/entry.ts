/** What an attempt saves in the cache. */
export interface AttemptEntry {
  /** The job; `undefined` if it is unknown whether the service accepted the request. */
  jobId?: string | undefined;
  sent: "create" | "message";
  attempt: number;
}

/** How many pull requests a session remembers. */
export const maxPullRequests = 20;

/** What a session saves in the cache. */
export interface SessionEntry {
  jobId: string;
  /** The workflow run that last sent something. */
  run: string;
  /** The commit of that run. */
  commit?: string | undefined;
  /** The commit of the run before that one. */
  since?: string | undefined;
  /** The numbers of the session's last pull requests in this repository, oldest first. */
  pullRequests: number[];
}
