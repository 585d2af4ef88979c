import type { DatedCommit } from "../../src/git/history.ts";
import type { Repository } from "../../src/git/repository.ts";
import { singleKeyName } from "../../src/http/authentication.ts";
import { type Machine, thisMachine } from "../../src/machine.ts";
import { jobBranch, jobOfBranch } from "../../src/model.ts";
import type { Account } from "../../src/pulls/github/own-account.ts";
import type { GitHubPullRequests } from "../../src/pulls/github.ts";
import { namedTurns, sessionTrailer, stepPrefix } from "../../src/pulls/turn-trailers.ts";
import type { BusyJob } from "../../src/store/job-copies.ts";
import type { KeptOnRefs } from "./kept-on-refs.ts";
import { namedBase, type RebuiltJob, rebuildJob } from "./rebuild-job.ts";

export interface RebuiltJobsOptions {
  repository: Pick<
    Repository,
    "fetch" | "branchHead" | "branchHeads" | "targetBranch" | "isMerged" | "commitsOfBranch" | "commitsOfJobs"
  >;
  /** The target branch of pull requests. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** The branch prefix of new jobs. Default: `defaultBranchPrefix`. */
  branchPrefix?: string | undefined;
  pullRequests: Pick<GitHubPullRequests, "ownAccount" | "findOwn" | "hasCreated">;
  projectId: string;
  /** Commits that are kept outside of branches. */
  kept: Pick<KeptOnRefs, "commitsOf" | "jobsOfStep" | "newestJobOf">;
  /** Whether GitHub made the token for the workflow. */
  isWorkflowToken: boolean;
  /** Default: this machine. */
  machine?: Pick<Machine, "wallTime"> | undefined;
}

/** Per branch; older turns are ignored. */
const maxCommits = 500;
/** GitHub's documentation, "Re-running workflows and jobs": up to 30 days after the initial run. */
const reRunDays = 31;
/** Without the cache, older sessions are not continued. */
const sessionDays = 60;
/** Data from when the clone was opened is not fetched again: earlier attempts and runs had ended by then. */
const openedMs = 15_000;
/** Until a client that is told of a change asks again, in milliseconds. */
const changedMs = 60_000;
/** How long GitHub's lists may lag behind on new pull requests and branch creators. A comment may directly follow another run. */
const listDelayMs = 60_000;
/** What GitHub names the branch of a pull request that reverts another one, before the name of that one's. */
const revertBranch = /^revert-\d+-/;

/**
 * Rebuilds earlier runs' jobs from their branches and pull requests, which any run can read. A job counts only if the token's account
 * opened its pull request or created its branch: anyone with push access can create such a branch, and so can a fork.
 */
export class RebuiltJobs {
  readonly #options: RebuiltJobsOptions;
  /** Steps whose jobs were requested: earlier attempts of them may have sent something. */
  readonly #reRun = new Set<string>();
  /** The job of each session with the head of its branch, when it was last asked for. */
  readonly #sessions = new Map<string, string>();

  constructor(options: RebuiltJobsOptions) {
    this.#options = options;
  }

  /**
   * Returns whether the token's account is known, so that jobs can be rebuilt.
   *
   * @throws if GitHub cannot be asked now
   */
  async isPossible(): Promise<boolean> {
    return (await this.#account()) !== undefined;
  }

  /**
   * Rebuilds a job; `undefined` if it is not found.
   *
   * @throws if GitHub cannot be asked now, or may not show a new pull request yet
   */
  async rebuild(jobId: string): Promise<RebuiltJob | undefined> {
    const account = await this.#account();
    if (account === undefined) return undefined;
    for (const branch of await this.#branchesOf(jobId, account)) {
      const found = await this.#rebuildOn(branch, jobId, account);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Rebuilds a job on a branch; `undefined` if the branch is not its own, or is not there and nothing is kept.
   *
   * @param base - the branch that it was created for. Default: its commits say that
   */
  async #rebuildOn(branch: string, jobId: string, account: Account, base?: string): Promise<RebuiltJob | undefined> {
    const { repository, pullRequests, projectId, kept: keptRefs } = this.#options;
    const targetBranch = await repository.targetBranch(this.#options.targetBranch);
    const target = base ?? targetBranch;
    const pull = await pullRequests.findOwn(branch, account, target);
    await repository.fetch([branch, target]);
    // GitHub keeps a pull request's commits after its branch is deleted.
    const head = (await repository.branchHead(branch)) ?? pull?.head;
    const commits = head === undefined ? [] : await repository.commitsOfBranch(head, maxCommits);
    const pushed = commits.flatMap(({ message }) => namedTurns(message)).map(({ identity }) => identity);
    const kept = await keptRefs.commitsOf(jobId, pushed, this.#reRun);
    const named = base ?? namedBase(jobId, [...commits, ...kept]) ?? target;
    // Others may have opened a pull request into that, or merged the branch.
    if (named !== target && (pull?.isOthers ?? true) && (await repository.branchHead(named)))
      return this.#rebuildOn(branch, jobId, account, named);
    if (head === undefined && kept.length === 0) return undefined;
    // A turn pushes before it opens the pull request.
    const isOwn = head === undefined || (pull !== undefined && (!pull.isOthers || pull.hasOwn === true));
    if (!isOwn && !(await pullRequests.hasCreated(branch, account))) {
      if (this.#isNew(jobId, [...kept, ...commits])) throw new Error(`GitHub does not show yet who created ${branch}`);
      return undefined;
    }
    const isMerged = pull === undefined && head !== undefined && (await repository.isMerged(head, target));
    return rebuildJob({
      jobId,
      branch,
      projectId,
      caller: singleKeyName,
      targetBranch,
      pull,
      isMerged,
      reRun: this.#reRun,
      commits,
      kept,
    });
  }

  /** Returns the ids of jobs with a commit for a step. They are candidates: `rebuild` tells whether they are the service's own. */
  async jobsOfStep(step: string): Promise<string[]> {
    const { repository, targetBranch } = this.#options;
    this.#reRun.add(step);
    const prefix = stepPrefix(step);
    if (prefix === undefined) return [];
    const commits = await repository.commitsOfJobs(prefix, reRunDays, targetBranch, openedMs);
    const turns = commits.flatMap(({ message }) => namedTurns(message));
    const pushed = turns.filter(({ key }) => key?.step === step).map(({ job }) => job);
    return [...new Set([...pushed, ...this.#options.kept.jobsOfStep(step)])];
  }

  /**
   * Returns the id of the session's job with the newest commit on its own branch; otherwise of one that only other branches name, unless a
   * ref names a newer one: people may have rewritten a branch, or squashed it. A candidate, as above: commits that were merged into the
   * target branch can name any job and date.
   */
  async jobOfSession(session: string): Promise<string | undefined> {
    const { repository, targetBranch } = this.#options;
    const [trailer] = sessionTrailer(session);
    if (trailer === undefined) return undefined;
    const jobsIn = ({ message }: DatedCommit) =>
      namedTurns(message).flatMap((turn) => (turn.session === session ? turn.job : []));
    const commits = await repository.commitsOfJobs(trailer, sessionDays, targetBranch, openedMs);
    const jobs = [...new Set(commits.flatMap(jobsIn))];
    let newest: { job: string; at: number } | undefined;
    for (const job of jobs.length > 1 ? jobs : []) {
      const head = await repository.branchHead(await this.#branchOf(job));
      const onBranch = head === undefined ? [] : await repository.commitsOfBranch(head, maxCommits);
      const own = onBranch.find((commit) => jobsIn(commit).includes(job));
      if (own !== undefined && own.at > (newest?.at ?? 0)) newest = { job, at: own.at };
    }
    const own = newest?.job ?? jobs[0];
    const inRefs = await this.#options.kept.newestJobOf(session, new Set(jobs));
    const { at = 0 } = commits.find((commit) => own !== undefined && jobsIn(commit).includes(own)) ?? {};
    const found = inRefs !== undefined && inRefs.at > at ? inRefs.job : own;
    const head = found && (await repository.branchHead(await this.#branchOf(found)));
    this.#sessions.set(session, `${found} ${head}`);
    return found;
  }

  /** Lets the next answer on a session not count as a change: whoever asks knows of one. */
  forgetSession(session: string): void {
    this.#sessions.delete(session);
  }

  /**
   * Returns the job of a session as one that another machine works on for a moment, if a run has begun and ended since it was asked for: what
   * this one was told is out of date.
   */
  async changedJobOf(session: string): Promise<BusyJob | undefined> {
    const { machine = thisMachine } = this.#options;
    const before = this.#sessions.get(session);
    const job = await this.jobOfSession(session);
    const hasChanged = before !== undefined && before !== this.#sessions.get(session);
    return hasChanged && job !== undefined ? { job, until: machine.wallTime() + changedMs } : undefined;
  }

  /** Returns a job's branch, which may have an earlier prefix. A candidate, as above, unless it has a name of its own. */
  async #branchOf(jobId: string): Promise<string> {
    const { branch, others } = await this.#namesOf(jobId);
    return others[0] ?? branch;
  }

  /** Returns the branches to look for a job on. People make others with its id, too, so none counts if an own name had a pull request. */
  async #branchesOf(jobId: string, account: Account): Promise<string[]> {
    const { repository, pullRequests, targetBranch } = this.#options;
    const { own, branch, others } = await this.#namesOf(jobId);
    for (const name of others.length > 0 ? own : [])
      if (await pullRequests.findOwn(name, account, await repository.targetBranch(targetBranch))) return [name];
    return [...others, branch];
  }

  /** Returns a job's own names, its branch by one of them, and others that end with its id if there is none. */
  async #namesOf(jobId: string): Promise<{ own: Set<string>; branch: string; others: string[] }> {
    const today = jobBranch(jobId, this.#options.branchPrefix);
    const own = new Set([today, jobBranch(jobId)]);
    const heads = await this.#options.repository.branchHeads();
    const found = [...own].find((name) => heads.has(name));
    const isOther = (name: string) => jobOfBranch(name) === jobId && !revertBranch.test(name);
    return { own, branch: found ?? today, others: found === undefined ? [...heads.keys()].filter(isOther) : [] };
  }

  /** Returns whether a turn of the job has just pushed. */
  #isNew(jobId: string, commits: readonly DatedCommit[]): boolean {
    const { machine = thisMachine } = this.#options;
    const own = commits.find(({ message }) => namedTurns(message).some(({ job }) => job === jobId));
    return own !== undefined && machine.wallTime() - own.at < listDelayMs;
  }

  #account() {
    return this.#options.pullRequests.ownAccount(this.#options.isWorkflowToken);
  }
}
