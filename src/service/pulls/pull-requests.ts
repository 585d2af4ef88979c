/** A change that is offered for review. */
export interface Change {
  jobId: string;
  title: string;
  /** What the agent was asked for. */
  prompt: string;
  branch: string;
  /** The branch it is to go into. */
  target: string;
  /** The commit of that branch which the change begins from, and the change's last one. */
  base: string;
  head: string;
  /** The link to the pull request of the same branch that was made before, if any. */
  continues: string | null;
}

/** Where pull requests are made. */
export interface PullRequests {
  /** Opens one for a branch that was pushed, or finds the one that is open; the link to it. */
  open(change: Change): Promise<string>;
  /** Whether one is closed or merged. `head` is the last commit pushed to the branch. */
  isClosed(pullRequest: { link: string; branch: string; head: string }): Promise<boolean>;
}
