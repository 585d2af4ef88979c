import { CacheReadOnlyError } from "../../../src/runner-kit/cache.ts";
import { errorMessage } from "../../src/error-message.ts";
import { readPacked } from "../../src/git/job-commits.ts";
import type { JobCopy, TurnCopy } from "../../src/model.ts";
import { type NamedTurn, namedTurns } from "../../src/pulls/turn-trailers.ts";
import { removeDirectory } from "../../src/remove-directory.ts";
import type { BusyJob, JobCopies, SentForStep } from "../../src/store/job-copies.ts";
import { type KeptCommits, MayNotBeKept } from "../../src/store/kept-commits.ts";
import { parseMade } from "../../src/store/made.ts";
import { isRemoteOutage } from "../../src/turns/outages.ts";
import { isForSecret } from "../../src/turns/refusal.ts";
import type { KeptOnRefs } from "./kept-on-refs.ts";
import { mergeCopies } from "./merge-copies.ts";
import { allAttempts } from "./rebuild-job.ts";
import type { RebuiltJobs } from "./rebuilt-jobs.ts";
import { isOpen, lostReason } from "./turn-row.ts";

export interface RememberedJobsOptions {
  /** Jobs in the Actions cache; `undefined` if it is unreadable. */
  cached: JobCopies | undefined;
  /** As far as known. */
  isCacheWritable: boolean;
  rebuilt: Pick<RebuiltJobs, "isPossible" | "rebuild" | "jobsOfStep" | "jobOfSession"> &
    Partial<Pick<RebuiltJobs, "changedJobOf" | "forgetSession">>;
  /** The preferred place for unpublished commits. */
  kept: KeptCommits & Partial<Pick<KeptOnRefs, "busyJobOf">>;
  /** Whether no earlier attempt of this workflow run can have sent anything. */
  isFirstAttempt: boolean;
  /** What may be kept of work that is not finished: anyone who can read the repository can read it, and nobody has approved it. */
  keeps: readonly NamedTurn["left"][];
  log: (line: string) => void;
}

/**
 * Remembers jobs of earlier runs by their branches and pull requests and, if available, in the Actions cache. Only the cache has agents'
 * home directories, and turns that pushed nothing.
 */
export class RememberedJobs implements JobCopies {
  readonly #options: RememberedJobsOptions;
  #isCacheWritable: boolean;
  /** Steps of which an earlier attempt may have sent something. */
  readonly #asked = new Set<string>();
  /** The commit of each job that this process has kept in the cache last. */
  readonly #inCache = new Map<string, Buffer>();

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
    // Without a pull request, it may not be remembered at all. A cache that is closed to this run is not an error: nobody can change that.
    const needsCache = this.#isCacheWritable && job.pullRequest === null && !this.#hasWorkInRefs(job);
    if (needsCache || !(await this.#canRebuild())) throw new Error(reason);
  }

  async restore(jobId: string, home: string, into: string): Promise<JobCopy | undefined> {
    const job = await this.#restore(jobId, home, into);
    return job && { ...job, turns: job.turns.map((turn) => this.#withAttempt(turn)) };
  }

  /**
   * Counts the unsaved attempt of a turn whose runner was lost. The turn continues with its commit; without one, its agent runs again only
   * if its own step is re-run. That asks for it once more, whoever stopped it. Else the stop holds, but not for the check of its commit.
   */
  #withAttempt(turn: TurnCopy): TurnCopy {
    if (!isOpen(turn)) return turn;
    const isAsked = this.#asked.has(turn.step ?? "");
    const isOn = turn.stopRequestedAt != null && (isAsked || parseMade(turn.made ?? null)?.commit !== undefined);
    const known = isOn ? { ...turn, stopRequestedAt: null, reason: null } : turn;
    if (isAsked) return { ...known, attempts: Math.max(turn.attempts, 1) };
    return { ...known, attempts: allAttempts, reason: turn.reason ?? lostReason };
  }

  async #restore(jobId: string, home: string, into: string): Promise<JobCopy | undefined> {
    const { cached, rebuilt, log } = this.#options;
    const [kept, found] = await Promise.allSettled([cached?.restore(jobId, home, into), rebuilt.rebuild(jobId)]);
    // A turn known to only one of them would run again.
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
    // A step belongs to one workflow run. This lookup takes a second, for which the create would wait.
    if (isFirstAttempt) return [];
    this.#asked.add(sent.step);
    const [kept = [], pushed] = await Promise.all([cached?.jobsOfStep?.(sent), rebuilt.jobsOfStep(sent.step)]);
    return [...new Set([...pushed, ...kept])];
  }

  async jobOfSession(session: string): Promise<string | undefined> {
    return this.#options.rebuilt.jobOfSession(session);
  }

  async busyJobOf(session: string, claimedBy?: string): Promise<BusyJob | undefined> {
    const { kept, rebuilt } = this.#options;
    const busy = await kept.busyJobOf?.(session, this.#asked, claimedBy);
    if (busy !== undefined) rebuilt.forgetSession?.(session);
    return busy === undefined && claimedBy !== undefined ? rebuilt.changedJobOf?.(session) : busy;
  }

  /** In refs of the repository, or in the Actions cache if GitHub rejects them. */
  get keptCommits(): KeptCommits {
    const { kept, cached, keeps, log } = this.#options;
    return {
      save: async (turn, packed) => {
        const named = namedTurns(readPacked(packed)?.message ?? "").map(({ left }) => left);
        const refused = named.find((left) => (left === "unfinished" || left === "stopped") && !keeps.includes(left));
        if (refused === "stopped")
          throw new MayNotBeKept("the repository is public: nothing of an agent that was stopped is kept in it");
        if (refused !== undefined)
          throw new MayNotBeKept("the repository is public, and its agent has a network: it is not kept unfinished");
        try {
          await kept.save(turn, packed);
        } catch (error) {
          if (isForSecret(error)) throw error;
          // It is kept there as it is: that it cannot be kept again now loses nothing.
          if (this.#inCache.get(turn.job)?.equals(packed)) return;
          if (cached?.keptCommits === undefined || !this.#isCacheWritable) throw error;
          log(
            `${turn.job}: its commit is kept in the Actions cache, because no ref for it could be pushed: ${errorMessage(error)}`,
          );
          await cached.keptCommits.save(turn, packed);
          this.#inCache.set(turn.job, Buffer.from(packed));
        }
      },
      load: async (job, turn) => {
        const inRef = await kept.load(job, turn);
        const { commit: last } = parseMade(turn.made ?? null) ?? {};
        const ref = inRef && readPacked(inRef);
        if (ref && ref.commit === last) return inRef;
        // A second go may not have been pushed as a ref.
        const inCache = await cached?.keptCommits?.load(job, turn);
        if (inRef === undefined || inCache === undefined) return inRef ?? inCache;
        const { commit, message, at } = readPacked(inCache) ?? { message: "", at: 0 };
        const isOwn = namedTurns(message).some((one) => one.job === job && one.identity === turn.identity);
        return isOwn && (commit === last || at > (ref?.at ?? 0)) ? inCache : inRef;
      },
      begin: async (turn, message) =>
        kept.begin?.(turn, message).catch((error: unknown) => {
          const place = this.#isCacheWritable
            ? "What it makes is kept in the Actions cache if it cannot be published, but not if its runner is lost"
            : "What it makes is lost, and has to be paid again, if it cannot be published";
          throw new Error(`${place}, because refs/agent-work/… cannot be pushed: ${errorMessage(error)}`);
        }),
      besides: async (turn) => (await kept.besides?.(turn)) ?? [],
      end: async (...turn) =>
        kept.end?.(...turn).catch((error: unknown) => {
          // Where refs are refused, the cached copy of the job has it.
          if (isRemoteOutage(error) || !this.#isCacheWritable) throw error;
        }),
      forget: async (...turn) => kept.forget?.(...turn),
      commandFor: (...turn) => kept.commandFor?.(...turn),
    };
  }

  #hasWorkInRefs({ id: job, turns }: JobCopy): boolean {
    const { identity = "" } = turns.at(-1) ?? {};
    const { kept } = this.#options;
    return (["push", "unfinished"] as const).some((what) => kept.commandFor?.({ job, identity }, what) !== undefined);
  }

  async #canRebuild(): Promise<boolean> {
    return this.#options.rebuilt.isPossible().catch(() => false);
  }
}
