import type { Repository } from "../../src/git/repository.ts";
import { jobBranch } from "../../src/model.ts";
import type { GitHubPullRequests } from "../../src/pulls/github.ts";
import { type RebuiltJob, rebuildJob } from "./rebuild-job.ts";

export interface RebuiltJobsOptions {
  repository: Pick<Repository, "fetch" | "branchHead" | "commitsOfBranch">;
  pullRequests: Pick<GitHubPullRequests, "ownAccount" | "findOwn">;
  projectId: string;
  /** Whether GitHub made the token for the workflow. */
  isWorkflowToken: boolean;
  log: (line: string) => void;
}

/** More turns of a job are not looked for. */
const maxCommits = 500;

/**
 * Rebuilds jobs of earlier runs from their branches and pull requests, which any run can read. A job counts only if the token's
 * own account opened its pull request: anyone who may push can make a branch with such a name, and a fork can have one.
 */
export class RebuiltJobs {
  readonly #options: RebuiltJobsOptions;

  constructor(options: RebuiltJobsOptions) {
    this.#options = options;
  }

  /**
   * Returns whether jobs can be rebuilt: whether it is known which account the token acts for.
   *
   * @throws if GitHub cannot be asked now
   */
  async isPossible(): Promise<boolean> {
    return (await this.#account()) !== undefined;
  }

  /**
   * Rebuilds a job; `undefined` if there is none with this id.
   *
   * @throws if GitHub cannot be asked now
   */
  async rebuild(jobId: string): Promise<RebuiltJob | undefined> {
    const { repository, pullRequests, projectId } = this.#options;
    const account = await this.#account();
    if (account === undefined) return undefined;
    const branch = jobBranch(jobId);
    const pull = await pullRequests.findOwn(branch, account);
    if (pull === undefined) return undefined;
    await repository.fetch();
    // GitHub keeps the commits of a pull request whose branch is deleted.
    const head = (await repository.branchHead(branch)) ?? pull.head;
    const commits = await repository.commitsOfBranch(head, maxCommits);
    return rebuildJob({ jobId, projectId, pull, commits });
  }

  #account() {
    return this.#options.pullRequests.ownAccount(this.#options.isWorkflowToken);
  }
}
