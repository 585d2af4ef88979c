import { errorMessage } from "../error-message.ts";
import type { StartOptions } from "../git/find-start.ts";
import type { Repository } from "../git/repository.ts";
import type { StoredJob } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import type { Store } from "../store/store.ts";
import { dayMs, hourMs } from "../time.ts";
import { turnName } from "../turns/turn-name.ts";
import { removeUncounted } from "../turns/uncounted-commits.ts";
import { type BranchOwner, deleteObsoleteBranches } from "./obsolete-branches.ts";
import type { Round } from "./rounds.ts";

/** What is used of a repository. */
type CleanedRepository = Pick<Repository, "list" | "findStart" | "commits" | "push"> & BranchOwner["repository"];

/** What is used of a project. */
type CleanedProject = BranchOwner & { repository: CleanedRepository } & Pick<StartOptions, "targetBranch">;

export interface BranchCleanerOptions {
  store: Pick<Store, "idleJobs" | "jobs" | "turns">;
  /** Branches of other projects stay as they are. */
  projects: PerProject<CleanedProject>;
  /** Returns the projects whose branches may be changed now; `undefined` for all of the above. Default: all. */
  ownProjects?: (() => Promise<readonly string[] | undefined>) | undefined;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

const intervalMs = hourMs;
/** Pushes that arrive later, even by a clock that is wrong by hours, are not expected. The next turn removes them. */
const latestMs = dayMs;
/** How many jobs are read at a time. */
const pageSize = 1000;

/**
 * Once an hour, removes commits that do not count from the branches of jobs whose last turn ended within a day: a worker may have been
 * killed while it pushed, and its push may have arrived after the turn had ended on another worker. See `findCounted`. It also deletes
 * branches that nobody needs any longer: see `deleteObsoleteBranches`.
 * It needs no lease. Commits that do not count never will, and a branch that has moved since it was read is left alone.
 */
export class BranchCleaner implements Round {
  readonly name = "BranchCleaner";
  readonly #options: BranchCleanerOptions;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(options: BranchCleanerOptions) {
    this.#options = options;
  }

  /** Runs one round, at a time in milliseconds since 1970. */
  async run(now: number): Promise<void> {
    if (now < this.#nextAt) return;
    this.#nextAt = now + intervalMs;
    const { store, projects, ownProjects, signal, log } = this.#options;
    const own = await ownProjects?.();
    const listed = new Map<CleanedRepository, Promise<boolean>>();
    const list = ({ repository }: CleanedProject): Promise<boolean> => {
      const known = listed.get(repository) ?? this.#list(repository);
      listed.set(repository, known);
      return known;
    };
    const ownerOf = (project: string): CleanedProject | undefined =>
      own?.includes(project) === false ? undefined : projects.get(project);
    let last: StoredJob | undefined;
    do {
      const page = await store.idleJobs.endedAfter(now - latestMs, pageSize, last);
      last = page.length === pageSize ? page.at(-1) : undefined;
      for (const job of page) {
        const project = ownerOf(job.project);
        if (project === undefined) continue;
        if ((await list(project)) && !signal.aborted) await this.#clean(job, project.repository, project.targetBranch);
      }
    } while (last !== undefined && !signal.aborted);
    await deleteObsoleteBranches({ store, ownerOf, list, signal, log }, now);
  }

  /** Lists the branches of a repository at the beginning of a round. Returns whether it could. */
  async #list(repository: CleanedRepository): Promise<boolean> {
    const { signal, log } = this.#options;
    try {
      await repository.list();
      return true;
    } catch (error) {
      if (!signal.aborted)
        log(`Cannot look for commits that do not count, trying again in an hour: ${errorMessage(error)}`);
      return false;
    }
  }

  async #clean(job: StoredJob, repository: CleanedRepository, targetBranch: string | undefined): Promise<void> {
    const { store, signal, log } = this.#options;
    const { branch } = job;
    const head = await repository.branchHead(branch);
    if (head === undefined || head === job.head) return;
    const bases = job.base === null ? [] : [job.base];
    try {
      const start = await repository.findStart(branch, { isMerged: false, lastPushed: job.head, targetBranch, bases });
      // It was created before an agent that has changed nothing, and that was not noticed: see `tryBranch`.
      if (job.head === null && !start.isContinued && start.remoteHead === head)
        return await repository.push(undefined, branch, head);
      const removed = await removeUncounted(start, { job, repository, store });
      if (removed.length > 0)
        log(
          `${branch} was at ${head}: the commit of ${removed.map(turnName).join(", ")}, which ended without it. Removed.`,
        );
    } catch (error) {
      if (!signal.aborted)
        log(
          `A commit that does not count may be on ${branch}. It is looked at again within an hour: ${errorMessage(error)}`,
        );
    }
  }
}
