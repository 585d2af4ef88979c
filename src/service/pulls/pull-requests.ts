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

/** A pull request that was made: its link, its branch and the last commit that was pushed to it. */
export interface MadePull {
  link: string;
  branch: string;
  head: string;
}

export type PullState = "open" | "closed" | "merged";

/** Where pull requests are made. */
export interface PullRequests {
  /** Opens one for a branch that was pushed, or finds the one that is open; the link to it. */
  open(change: Change): Promise<string>;
  stateOf(pull: MadePull): Promise<PullState>;
  /** The links of those among many that are closed or merged. */
  done(pulls: readonly MadePull[]): Promise<Set<string>>;
}
