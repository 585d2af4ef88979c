import { CacheReadOnlyError } from "../../../src/runner-kit/cache.ts";
import { errorMessage } from "../../src/error-message.ts";
import { readPacked } from "../../src/git/job-commits.ts";
import type { JobCopy, TurnCopy } from "../../src/model.ts";
import { namedTurns } from "../../src/pulls/turn-trailers.ts";
import { removeDirectory } from "../../src/remove-directory.ts";
import type { JobCopies, SentForStep } from "../../src/store/job-copies.ts";
import type { KeptCommits } from "../../src/store/kept-commits.ts";
import { isRemoteOutage } from "../../src/turns/outages.ts";
import { isForSecret } from "../../src/turns/refusal.ts";
import { isOpen, mergeCopies } from "./merge-copies.ts";
import { allAttempts } from "./rebuild-job.ts";
import type { RebuiltJobs } from "./rebuilt-jobs.ts";

export interface RememberedJobsOptions {
  /** Copies of jobs in the Actions cache; `undefined` if it cannot be read. */
  cached: JobCopies | undefined;
  /** Whether the cache can be written, as far as that is known. */
  isCacheWritable: boolean;
  rebuilt: Pick<RebuiltJobs, "isPossible" | "rebuild" | "jobsOfStep" | "jobOfSession">;
  /** Where commits are kept first. */
  kept: KeptCommits;
  /** Whether no earlier attempt of this workflow run can have sent anything. */
  isFirstAttempt: boolean;
  /** Whether unfinished work may be kept: whoever can read the repository can read it, and nobody has approved it. */
  keepsUnfinished: boolean;
  log: (line: string) => void;
}

const lostReason = "Its runner was lost. Its agent is not run again, unless its own workflow run is.";

/**
 * Remembers jobs of earlier runs: by their branches and pull requests, and in the Actions cache as far as that can be used. Only
 * the cache has what agents keep in their home directories, and turns that pushed nothing.
 */
export class RememberedJobs implements JobCopies {
  readonly #options: RememberedJobsOptions;
  #isCacheWritable: boolean;
  /** The steps that ask again for what an earlier attempt has sent. */
  readonly #asked = new Set<string>();

  constructor(options: RememberedJobsOptions) {
    this.#options = options;
    this.#isCacheWritable = options.isCacheWritable;
  }

  async save(job: JobCopy, home: string | undefined): Promise<void> {
    const { cached, log } = this.#options;
    let reason = "the Actions cache cannot be written";
    if (cached !== undefined && this.#isCacheWritable) {
      try {
        return await cached.save(job, home);
      } catch (error) {
        reason = errorMessage(error);
        if (error instanceof CacheReadOnlyError) this.#isCacheWritable = false;
        log(`${job.id}: not saved in the Actions cache: ${reason}`);
      }
    }
    // Without a pull request, it may be remembered by nothing. But if the cache is closed to this run, nobody can change that.
    const needsCache = this.#isCacheWritable && job.pullRequest === null;
    if (needsCache || !(await this.#canRebuild())) throw new Error(reason);
  }

  async restore(jobId: string, home: string, into: string): Promise<JobCopy | undefined> {
    const job = await this.#restore(jobId, home, into);
    return job && { ...job, turns: job.turns.map((turn) => this.#withAttempt(turn)) };
  }

  /**
   * Counts the attempt of a turn that was lost with its runner, which did not save it: the turn goes on with the commit that it made.
   * Without one, its agent runs again only if its own step asks again.
   */
  #withAttempt(turn: TurnCopy): TurnCopy {
    if (!isOpen(turn)) return turn;
    if (this.#asked.has(turn.step ?? "")) return { ...turn, attempts: Math.max(turn.attempts, 1) };
    return { ...turn, attempts: allAttempts, reason: turn.reason ?? lostReason };
  }

  async #restore(jobId: string, home: string, into: string): Promise<JobCopy | undefined> {
    const { cached, rebuilt, log } = this.#options;
    const [kept, found] = await Promise.allSettled([cached?.restore(jobId, home, into), rebuilt.rebuild(jobId)]);
    // A turn that only one of them has would be run again.
    if (found.status === "rejected") throw found.reason;
    if (kept.status === "rejected") throw kept.reason;
    if (found.value === undefined) return kept.value;
    if (kept.value === undefined) {
      await removeDirectory(into);
      const { job, unnamedTurn } = found.value;
      log(
        `${jobId}: rebuilt from its branch and ${job.pullRequest ?? "no pull request"}, so the agent starts a new session.`,
      );
      return job.turns.length > 0 ? job : { ...job, turns: [unnamedTurn] };
    }
    const { job, isSessionCurrent } = mergeCopies(kept.value, found.value);
    if (!isSessionCurrent) {
      await removeDirectory(into);
      log(`${jobId}: the agent starts a new session: the last one is older than the branch.`);
    }
    return job;
  }

  async jobsOfStep(sent: SentForStep): Promise<readonly string[]> {
    const { cached, rebuilt, isFirstAttempt } = this.#options;
    // A step belongs to a workflow run. Looking for it takes a second, in which the client of a create would wait.
    if (isFirstAttempt) return [];
    this.#asked.add(sent.step);
    const [kept = [], pushed] = await Promise.all([cached?.jobsOfStep?.(sent), rebuilt.jobsOfStep(sent.step)]);
    return [...new Set([...pushed, ...kept])];
  }

  async jobOfSession(session: string): Promise<string | undefined> {
    return this.#options.rebuilt.jobOfSession(session);
  }

  /** In refs of the repository; in the Actions cache if those are refused. */
  get keptCommits(): KeptCommits {
    const { kept, cached, keepsUnfinished, log } = this.#options;
    return {
      save: async (turn, packed) => {
        if (!keepsUnfinished && namedTurns(readPacked(packed)?.message ?? "").some(({ left }) => left === "unfinished"))
          throw new Error("the repository is public, and its agent has a network: it is not kept unfinished");
        try {
          return await kept.save(turn, packed);
        } catch (error) {
          if (
            isForSecret(error) ||
            isRemoteOutage(error) ||
            cached?.keptCommits === undefined ||
            !this.#isCacheWritable
          )
            throw error;
          log(
            `${turn.job}: its commit is kept in the Actions cache, because the repository refuses a ref for it: ${errorMessage(error)}`,
          );
          return cached.keptCommits.save(turn, packed);
        }
      },
      load: async (job, turn) => (await kept.load(job, turn)) ?? cached?.keptCommits?.load(job, turn),
      end: async (turn, message) => {
        if (cached === undefined || !this.#isCacheWritable) await kept.end?.(turn, message);
      },
      forget: async (turn) => kept.forget?.(turn),
      commandFor: (...turn) => kept.commandFor?.(...turn),
    };
  }

  async #canRebuild(): Promise<boolean> {
    return this.#options.rebuilt.isPossible().catch(() => false);
  }
}
