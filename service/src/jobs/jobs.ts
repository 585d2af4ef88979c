import { randomUUID } from "node:crypto";
import { errorMessage } from "../error-message.ts";
import type { LogEvent } from "../log/log.ts";
import { type Machine, thisMachine } from "../machine.ts";
import { type Metrics, noMetrics } from "../metrics/metrics.ts";
import {
  type JobRecord,
  jobBranch,
  jobOfBranch,
  type PromptContext,
  type RateLimited,
  type Replayed,
  type RequestKey,
  type StepTurn,
  type StoredJob,
  type TurnStatus,
} from "../model.ts";
import type { PerProject } from "../per-project.ts";
import { hashPrompt } from "../prompt-hash.ts";
import type { JobCopier } from "../store/job-copier.ts";
import type { BusyJob } from "../store/job-copies.ts";
import type { SessionJobs } from "../store/jobs.ts";
import type { Store } from "../store/store.ts";
import { KeyReused, OutcomeUnknown, SourceUnavailable, StoreUnavailable, UnknownBase } from "../store-errors.ts";
import { steadyClock } from "../time.ts";
import { Admission } from "./admission.ts";

/** A create or message whose key an earlier request had. Nothing was added. */
export interface ReplayedRecord {
  /** The job of the earlier request's turn, as it is now. */
  replayed: JobRecord;
}

/** What a create can say besides its prompt. */
export interface CreateOptions {
  /**
   * The branch that the agent starts from and its pull request targets. If it is the branch of a job of the project, the prompt is
   * added to that job instead. Default: the project's.
   */
  base?: string | undefined;
  /** What the caller finds the job by later. Default: nothing. */
  session?: string | undefined;
  /** What comes with the prompt. Default: nothing. */
  context?: PromptContext | undefined;
}

/** How long to wait: for a time in milliseconds, or until the signal aborts. */
export interface Wait {
  ms: number;
  signal: AbortSignal;
}

/** A turn that somebody wanted to stop. */
export interface StoppedTurn {
  /** The turn as it is now: `running` while its agent is ending, or its work is being pushed. */
  status: TurnStatus;
  /** Whether it had ended before. */
  hadEnded: boolean;
}

/** How long a create waits for the repository: a client sends it again, and gives up at some time if it gets no answer. */
const baseMs = 10_000;

const replacedReason = "A later attempt of its workflow run has sent its request again.";

/** How many turns a step is told of at most. A step has few: one, and those that replaced it. */
const stepTurnLimit = 100;

/** What job records show of a project. */
export interface ShownProject {
  /** Shown as `source.repository`. */
  repositoryName: string;
  model: string;
  /** What the branches of new jobs begin with. Default: `defaultBranchPrefix`. */
  branchPrefix?: string | undefined;
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
  /** Called when a create or message is rejected because the store cannot be written. Default: does nothing. */
  onUnavailable?: () => void;
  /** Counts creates and messages. Default: they are not counted. */
  metrics?: Pick<Metrics, "promptAnswered"> | undefined;
  /** Receives the job and turn of each accepted create and message. Default: does nothing. */
  logEvent?: LogEvent | undefined;
  /** Default: the one that the process runs on. */
  machine?: Machine;
}

/** The jobs in a store. Accepts new jobs and messages, which a worker runs. */
export class Jobs {
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

  /**
   * Creates a job with `prompt` as its first turn.
   *
   * @param key - default: the request is not sent again
   * @throws KeyReused if another request had the key
   * @throws UnknownBase if there is no such branch
   */
  async create(
    projectId: string,
    prompt: string,
    key?: RequestKey,
    { base, session, context }: CreateOptions = {},
  ): Promise<JobRecord | ReplayedRecord | RateLimited> {
    const { store, copier } = this.#options;
    const { model, branchPrefix } = this.#project(projectId);
    if (key !== undefined) await this.#restoreStep(projectId, key);
    const keptJob = key?.step ? await store.turns.keptJob(projectId, key, { prompt, base: base ?? null }) : undefined;
    const ownJob = keptJob ?? (await this.#jobOfBranch(projectId, base ?? ""));
    const followUp = ownJob === undefined ? undefined : await this.message(projectId, ownJob, prompt, key, context);
    if (followUp !== undefined) return followUp;
    // A known request gets the same answer again, even if its branch is gone.
    if (base !== undefined && !(key && (await store.turns.isKnown(projectId, key))))
      await this.#checkBase(projectId, base);
    const createdAt = this.#machine.wallTime();
    const id = `job_${randomUUID()}`;
    const job = {
      id,
      project: projectId,
      createdAt,
      branch: jobBranch(id, branchPrefix),
      model,
      base: base ?? null,
      session: session ?? null,
    };
    const other = await this.#accept({ kind: "create", job: job.id, project: projectId, key }, (onTurn) =>
      store.jobs.add(job, prompt, this.#now(), onTurn, key, context),
    );
    if (other !== undefined) return this.#unlessAdded(other);
    copier?.save(job.id);
    if (key?.step) await this.#settleStep(projectId, key, hashPrompt(prompt));
    return this.#activeRecord({ ...job, pullRequest: null });
  }

  /** Returns the job that a branch is the one of; `undefined` if the project has none. */
  async #jobOfBranch(projectId: string, branch: string): Promise<string | undefined> {
    const id = jobOfBranch(branch);
    const job = id === undefined ? undefined : await this.#find(projectId, id);
    return job?.branch === branch ? id : undefined;
  }

  /**
   * Checks that a create's base is a branch.
   *
   * @throws UnknownBase if it is none
   * @throws SourceUnavailable if the repository cannot be reached
   */
  async #checkBase(projectId: string, base: string): Promise<void> {
    const { hasBranch } = this.#project(projectId);
    const end = new AbortController();
    const late = this.#machine.sleep(baseMs, end.signal).then(() => {
      throw new Error(`no answer within ${baseMs / 1000} s`);
    });
    const isKnown = await Promise.race([hasBranch?.(base), late])
      .catch((error: unknown) => {
        throw new SourceUnavailable(`The repository cannot be read: ${errorMessage(error)}`);
      })
      .finally(() => end.abort());
    if (!isKnown) throw new UnknownBase(base);
  }

  /**
   * Adds a turn to a job. Returns `undefined` if the project has no such job.
   *
   * @param key - default: the request is not sent again
   * @throws KeyReused if another request had the key
   */
  async message(
    projectId: string,
    jobId: string,
    prompt: string,
    key?: RequestKey,
    context?: PromptContext,
  ): Promise<JobRecord | ReplayedRecord | RateLimited | undefined> {
    const { store, copier } = this.#options;
    const job = await this.#find(projectId, jobId);
    if (job === undefined) return undefined;
    if (key !== undefined) await this.#restoreStep(projectId, key);
    const added = await this.#accept({ kind: "message", job: jobId, project: projectId, key }, (onTurn) =>
      store.turns.add(jobId, prompt, this.#now(), onTurn, key, context),
    );
    if (added === false) return undefined;
    if (added !== true) return this.#unlessAdded(added);
    copier?.save(jobId);
    if (key?.step) await this.#settleStep(projectId, key, hashPrompt(prompt));
    return this.#activeRecord(job);
  }

  /**
   * Stops what an earlier attempt of a step sent with the same prompt, and that was restored to wait: a newer request took its place, and both
   * would be paid for.
   *
   * @param isMadeKept - whether to let a turn go on whose agent has ended. Default: no
   */
  async #settleStep(project: string, key: RequestKey, promptHash: string, isMadeKept = false): Promise<void> {
    const { store, copier } = this.#options;
    if (copier === undefined) return;
    copier.knowStep({ project, ...key });
    for (const { id, job, request, status } of await store.turns.ofStep(project, key, stepTurnLimit)) {
      if (request === key.request || (status !== "waiting" && status !== "running")) continue;
      const sent = (await store.turns.ofJob(job)).find((one) => one.id === id);
      const isLeft = isMadeKept && (sent?.stage ?? "begun") !== "begun";
      if (sent?.promptHash === promptHash && !isLeft) await this.stopTurn(project, job, id, replacedReason);
    }
  }

  /** Returns the turns that a caller has sent for a step to jobs of a project, newest first, at most 100. */
  async findStep(projectId: string, caller: string, step: string): Promise<StepTurn[]> {
    await this.#restoreStep(projectId, { caller, step });
    const { turns } = this.#options.store;
    const [newest] = await turns.ofStep(projectId, { caller, step }, 1);
    const sent = newest && (await turns.ofJob(newest.job)).find(({ id }) => id === newest.id);
    // Clients go by the newest one, also if that has failed.
    if (sent) await this.#settleStep(projectId, { caller, step, request: newest.request }, sent.promptHash, true);
    return turns.ofStep(projectId, { caller, step }, stepTurnLimit);
  }

  /**
   * Returns what is known of a session of a caller; `undefined` if it has no job. One that another machine works on is named with the time until
   * which it does so at most.
   *
   * @param claim - the step that claims it: see `JobCopies`
   */
  async findSession(
    project: string,
    caller: string,
    session: string,
    claim?: string,
  ): Promise<SessionJobs | BusyJob | undefined> {
    const { copier, store } = this.#options;
    const busy = await copier?.restoreSession(session, claim);
    return busy ?? store.jobs.ofSession(project, caller, session);
  }

  /**
   * Returns `undefined` if the project has no such job.
   *
   * @param wait - an active job is returned when it is no longer active, or when the wait is over. Default: at once
   */
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

  /**
   * Stops a turn of a job: takes it out of the queue, or stops its agent. The turn fails, unless its work is already being
   * pushed. A turn that has ended does not change.
   *
   * @param reason - why it fails, as a sentence
   * @returns `undefined` if the project has no such job, or the job no such turn
   */
  async stopTurn(projectId: string, jobId: string, turnId: number, reason: string): Promise<StoppedTurn | undefined> {
    if ((await this.#find(projectId, jobId)) === undefined) return undefined;
    const { store, copier } = this.#options;
    const isRequested = await store.turns.stop(jobId, turnId, this.#machine.wallTime(), reason);
    copier?.save(jobId);
    const status = await store.turns.statusOf(jobId, turnId);
    return status && { status, hadEnded: !isRequested };
  }

  /**
   * Runs the failed last turn of a job again: adds a turn with the same prompt, which counts as a message.
   *
   * @returns `undefined` if the project has no such job, the turn is not the job's last one, or it has not failed
   */
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

  /** Restores the jobs that copies have for a step into the store. */
  async #restoreStep(project: string, { caller, step }: Pick<RequestKey, "caller" | "step">): Promise<void> {
    if (step !== "") await this.#options.copier?.restoreStep({ project, caller, step });
  }

  /** Returns the answer to a request that has added no turn. */
  #unlessAdded(result: RateLimited | Replayed): ReplayedRecord | RateLimited {
    return "replayed" in result ? { replayed: this.#record(result.replayed) } : result;
  }

  /** Adds a turn to the store, unless its project is known to have reached its limit. Counts and logs the result. */
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
      // There is no turn if the job was deleted a moment ago.
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

  /** Adds a turn to the store, unless its project has reached its limit meanwhile. A known request is answered in any case. */
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

  /** Returns the record of a job that has just changed, without reading it: the change was accepted even if the store fails now. */
  #activeRecord(
    job: Pick<StoredJob, "id" | "project" | "createdAt" | "branch" | "model" | "pullRequest" | "base">,
  ): JobRecord {
    return this.#record({ ...job, state: "active", archivedAt: null, kept: null });
  }

  #record(job: Omit<StoredJob, "idleSince" | "head" | "session">): JobRecord {
    const { repositoryName, model } = this.#project(job.project);
    const { id, createdAt, branch, state, archivedAt, pullRequest, base, kept } = job;
    return {
      id,
      status: archivedAt === null ? state : "archived",
      source: { repository: repositoryName, ref: branch },
      model: job.model ?? model,
      prLink: state === "active" ? null : pullRequest,
      createdAt: new Date(createdAt).toISOString(),
      archivedAt: archivedAt === null ? null : new Date(archivedAt).toISOString(),
      ...(base !== null && { base }),
      ...(kept !== null && state !== "active" && { kept }),
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
