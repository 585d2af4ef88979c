import { randomUUID } from "node:crypto";
import { errorMessage } from "../error-message.ts";
import type { LogEvent } from "../log/log.ts";
import { type Machine, thisMachine } from "../machine.ts";
import { type Metrics, noMetrics } from "../metrics/metrics.ts";
import {
  type JobRecord,
  jobBranch,
  jobOfBranch,
  type RateLimited,
  type Replayed,
  type RequestKey,
  type StepTurn,
  type StoredJob,
} from "../model.ts";
import type { PerProject } from "../per-project.ts";
import type { JobCopier } from "../store/job-copier.ts";
import type { Store } from "../store/store.ts";
import { KeyReused, OutcomeUnknown, StoreUnavailable, UnknownBase } from "../store-errors.ts";
import { steadyClock } from "../time.ts";
import { Admission } from "./admission.ts";
import {
  type Engine,
  type ReplayedRecord,
  type StepFinder,
  type StoppedTurn,
  stepTurnLimit,
  type TurnControl,
  type Wait,
} from "./engine.ts";

/** The part of a project that job records show. */
export interface ShownProject {
  /** Shown as `source.repository`. */
  repositoryName: string;
  /** The model of new jobs. */
  model: string;
  /**
   * Returns whether the repository has a branch. Default: creates name no base.
   *
   * @throws if the repository cannot be reached
   */
  hasBranch?: ((branch: string) => Promise<boolean>) | undefined;
}

export interface JobsOptions {
  store: Store;
  projects: PerProject<ShownProject>;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  /** Called when a create or message was rejected, because the store cannot be written. Default: does nothing. */
  onUnavailable?: () => void;
  /** Counts creates and messages. Default: they are not counted. */
  metrics?: Pick<Metrics, "promptAnswered"> | undefined;
  /** Receives the job and turn of each accepted create and message. Default: does nothing. */
  logEvent?: LogEvent | undefined;
  /** Default: the one that the process runs on. */
  machine?: Machine;
}

/** The jobs in a store: accepts new ones and their messages. A worker runs them. */
export class Jobs implements Engine, StepFinder, TurnControl {
  readonly #options: JobsOptions;
  readonly #machine: Machine;
  readonly #now: () => number;
  readonly #admission: Admission;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#machine = options.machine ?? thisMachine;
    this.#admission = new Admission(this.#machine);
    this.#now = steadyClock(this.#machine);
  }

  async create(
    projectId: string,
    prompt: string,
    key?: RequestKey,
    base?: string,
  ): Promise<JobRecord | ReplayedRecord | RateLimited> {
    const { store, copier } = this.#options;
    const { model } = this.#project(projectId);
    if (key !== undefined) await this.#restoreStep(projectId, key);
    const ownJob = jobOfBranch(base ?? "");
    const followUp = ownJob === undefined ? undefined : await this.message(projectId, ownJob, prompt, key);
    if (followUp !== undefined) return followUp;
    // A request that is known is answered as before, also if its branch is gone.
    if (base !== undefined && !(key && (await store.turns.isKnown(projectId, key))))
      await this.#checkBase(projectId, base);
    const createdAt = this.#machine.wallTime();
    const job = { id: `job_${randomUUID()}`, project: projectId, createdAt, model, base: base ?? null };
    const other = await this.#accept({ kind: "create", job: job.id, project: projectId, key }, (onTurn) =>
      store.jobs.add(job, prompt, this.#now(), onTurn, key),
    );
    if (other !== undefined) return this.#unlessAdded(other);
    copier?.save(job.id);
    return this.#activeRecord({ ...job, pullRequest: null });
  }

  /**
   * Checks that a create's base is a branch.
   *
   * @throws UnknownBase if it is none
   * @throws StoreUnavailable if the repository cannot be reached
   */
  async #checkBase(projectId: string, base: string): Promise<void> {
    const { hasBranch } = this.#project(projectId);
    const isKnown = await hasBranch?.(base).catch((error: unknown) => {
      throw new StoreUnavailable(`the repository cannot be read: ${errorMessage(error)}`);
    });
    if (!isKnown) throw new UnknownBase(base);
  }

  async message(
    projectId: string,
    jobId: string,
    prompt: string,
    key?: RequestKey,
  ): Promise<JobRecord | ReplayedRecord | RateLimited | undefined> {
    const { store, copier } = this.#options;
    const job = await this.#find(projectId, jobId);
    if (job === undefined) return undefined;
    if (key !== undefined) await this.#restoreStep(projectId, key);
    const added = await this.#accept({ kind: "message", job: jobId, project: projectId, key }, (onTurn) =>
      store.turns.add(jobId, prompt, this.#now(), onTurn, key),
    );
    if (added === false) return undefined;
    if (added !== true) return this.#unlessAdded(added);
    copier?.save(jobId);
    return this.#activeRecord(job);
  }

  async findStep(projectId: string, caller: string, step: string): Promise<StepTurn[]> {
    await this.#restoreStep(projectId, { caller, step });
    return this.#options.store.turns.ofStep(projectId, { caller, step }, stepTurnLimit);
  }

  async get(projectId: string, jobId: string, wait?: Wait): Promise<JobRecord | undefined> {
    let job = await this.#find(projectId, jobId);
    if (job?.state === "active" && wait !== undefined) job = await this.#waitForEnd(projectId, jobId, wait);
    return job && this.#record(job);
  }

  /** Returns a job when it is no longer active, or the wait is over. */
  async #waitForEnd(projectId: string, jobId: string, wait: Wait): Promise<StoredJob | undefined> {
    const { store } = this.#options;
    const ended = new AbortController();
    const signal = AbortSignal.any([wait.signal, ended.signal]);
    let changed = Promise.withResolvers<void>();
    const wake = (): void => changed.resolve();
    const unfollow = store.followJob(jobId, wake);
    let isOver = false;
    const over = this.#machine.sleep(wait.ms, signal).then(() => {
      isOver = true;
      wake();
    });
    try {
      for (;;) {
        // Taken before the job is read, because the job may change meanwhile.
        const next = changed.promise;
        const job = await this.#find(projectId, jobId);
        if (job?.state !== "active" || isOver) return job;
        await next;
        changed = Promise.withResolvers();
      }
    } finally {
      unfollow();
      ended.abort();
      await over;
    }
  }

  async stopTurn(projectId: string, jobId: string, turnId: number, reason: string): Promise<StoppedTurn | undefined> {
    if ((await this.#find(projectId, jobId)) === undefined) return undefined;
    const { store, copier } = this.#options;
    const isRequested = await store.turns.stop(jobId, turnId, this.#machine.wallTime(), reason);
    copier?.save(jobId);
    const status = await store.turns.statusOf(jobId, turnId);
    return status && { status, hadEnded: !isRequested };
  }

  async retryTurn(projectId: string, jobId: string, turnId: number): Promise<JobRecord | RateLimited | undefined> {
    const { store, copier } = this.#options;
    const job = await this.#find(projectId, jobId);
    if (job === undefined) return undefined;
    const added = await this.#accept({ kind: "message", job: jobId, project: projectId }, (onTurn) =>
      store.turns.retry(jobId, turnId, this.#now(), onTurn),
    );
    if (added === false) return undefined;
    if (added !== true) return added;
    copier?.save(jobId);
    return this.#activeRecord(job);
  }

  /** Lets the store know what copies know of a step. */
  async #restoreStep(project: string, { caller, step }: Pick<RequestKey, "caller" | "step">): Promise<void> {
    if (step !== "") await this.#options.copier?.restoreStep({ project, caller, step });
  }

  /** Returns the answer to a request that has added no turn. */
  #unlessAdded(result: RateLimited | Replayed): ReplayedRecord | RateLimited {
    return "replayed" in result ? { replayed: this.#record(result.replayed) } : result;
  }

  /** Adds a turn to the store, unless its project is known to be limited, and counts and logs that. */
  async #accept<T extends RateLimited | Replayed | boolean | undefined>(
    { kind, job, project, key }: Prompted,
    add: (onTurn: (id: number) => void) => Promise<T>,
  ): Promise<T | RateLimited> {
    const { metrics = noMetrics, logEvent, onUnavailable } = this.#options;
    let turn: number | undefined;
    try {
      const limited = this.#admission.limitOf(kind, project);
      const added =
        limited !== undefined && key === undefined
          ? limited
          : await this.#admission.run(project, () =>
              this.#addUnlessLimited({ kind, project, key }, () =>
                add((id) => {
                  turn = id;
                }),
              ),
            );
      if (typeof added === "object" && "replayed" in added) {
        metrics.promptAnswered(kind, "replayed");
        logEvent?.(`${kind} replayed`, { job: added.replayed.id, turn: added.turn });
      } else if (typeof added === "object") metrics.promptAnswered(kind, "rate-limited");
      // Without a turn, the job was deleted a moment ago.
      else if (turn !== undefined) {
        metrics.promptAnswered(kind, "accepted");
        logEvent?.(`${kind} accepted`, { job, turn });
      }
      return added;
    } catch (error) {
      if (error instanceof KeyReused) metrics.promptAnswered(kind, "key-reused");
      if (error instanceof OutcomeUnknown) metrics.promptAnswered(kind, "unknown");
      if (error instanceof StoreUnavailable) {
        metrics.promptAnswered(kind, "store-unavailable");
        onUnavailable?.();
      }
      throw error;
    }
  }

  /** Adds a turn to the store, unless its project has turned out to be limited since. A request that is known is answered all the same. */
  async #addUnlessLimited<T extends RateLimited | Replayed | boolean | undefined>(
    { kind, project, key }: Omit<Prompted, "job">,
    add: () => Promise<T>,
  ): Promise<T | RateLimited> {
    const limited = this.#admission.limitOf(kind, project);
    if (limited !== undefined && !(key && (await this.#options.store.turns.isKnown(project, key)))) return limited;
    const added = await add();
    if (typeof added === "object" && "retryAfterMs" in added) this.#admission.remember(kind, project, added);
    return added;
  }

  async #find(projectId: string, jobId: string): Promise<StoredJob | undefined> {
    const { store, copier } = this.#options;
    let job = await store.jobs.find(jobId);
    if (job === undefined && copier !== undefined) {
      await copier.restore(jobId);
      job = await store.jobs.find(jobId);
    }
    return job?.project === projectId ? job : undefined;
  }

  /** Returns the record of a job that has just changed, without reading it: it was accepted even if the store fails now. */
  #activeRecord(job: Pick<StoredJob, "id" | "project" | "createdAt" | "model" | "pullRequest" | "base">): JobRecord {
    return this.#record({ ...job, state: "active", archivedAt: null });
  }

  #record(job: Omit<StoredJob, "idleSince" | "head">): JobRecord {
    const { repositoryName, model } = this.#project(job.project);
    const { id, createdAt, state, archivedAt, pullRequest, base } = job;
    return {
      id,
      status: archivedAt === null ? state : "archived",
      source: { repository: repositoryName, ref: jobBranch(id) },
      model: job.model ?? model,
      prLink: state === "active" ? null : pullRequest,
      createdAt: new Date(createdAt).toISOString(),
      archivedAt: archivedAt === null ? null : new Date(archivedAt).toISOString(),
      ...(base !== null && { base }),
    };
  }

  #project(name: string): ShownProject {
    const project = this.#options.projects.get(name);
    if (project === undefined) throw new Error(`the project ${name} is not configured`);
    return project;
  }
}

/** A create or message. */
interface Prompted {
  kind: "create" | "message";
  job: string;
  project: string;
  key?: RequestKey | undefined;
}
