import { randomUUID } from "node:crypto";
import type { PerProject } from "../per-project.ts";
import type { Store, StoredJob } from "../store/store.ts";
import { type Engine, type JobRecord, type RateLimited, StoreUnavailable } from "./engine.ts";
import type { JobCopier } from "./job-copier.ts";
import { jobBranch } from "./job-files.ts";
import { type Clocks, machineClocks, steadyClock } from "./steady-clock.ts";

/** What job records show of a project. */
export interface ShownProject {
  /** Shown as `source.repository`. */
  repositoryName: string;
  /** The model of new jobs. */
  model: string;
}

export interface JobsOptions {
  store: Store;
  /** What job records show of each project. */
  projects: PerProject<ShownProject>;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  /** Called when a create or message was rejected, because the store cannot be written. Default: does nothing. */
  onUnavailable?: () => void;
  /** Default: those of the machine. */
  clocks?: Clocks;
}

/** The jobs in a store: accepts new ones and their messages. A worker runs them. */
export class Jobs implements Engine {
  readonly #options: JobsOptions;
  readonly #clocks: Clocks;
  readonly #now: () => number;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#clocks = options.clocks ?? machineClocks;
    this.#now = steadyClock(this.#clocks);
  }

  async create(projectId: string, prompt: string): Promise<JobRecord | RateLimited> {
    const { store, copier } = this.#options;
    const { model } = this.#project(projectId);
    const job = { id: `job_${randomUUID()}`, project: projectId, createdAt: this.#clocks.wall(), model };
    const limited = await this.#accept(() => store.addJob(job, prompt, this.#now()));
    if (limited !== undefined) return limited;
    copier?.save(job.id);
    return this.#activeRecord({ ...job, pullRequest: null });
  }

  async message(projectId: string, jobId: string, prompt: string): Promise<JobRecord | RateLimited | undefined> {
    const { store, copier } = this.#options;
    const job = await this.#find(projectId, jobId);
    if (job === undefined) return undefined;
    const added = await this.#accept(() => store.addTurn(jobId, prompt, this.#now()));
    if (added === false) return undefined;
    if (added !== true) return added;
    copier?.save(jobId);
    return this.#activeRecord(job);
  }

  async get(projectId: string, jobId: string): Promise<JobRecord | undefined> {
    const job = await this.#find(projectId, jobId);
    return job && this.#record(job);
  }

  async #accept<T>(store: () => Promise<T>): Promise<T> {
    try {
      return await store();
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#options.onUnavailable?.();
      throw error;
    }
  }

  async #find(projectId: string, jobId: string): Promise<StoredJob | undefined> {
    const { store, copier } = this.#options;
    let job = await store.job(jobId);
    if (job === undefined && copier !== undefined) {
      await copier.restore(jobId);
      job = await store.job(jobId);
    }
    return job?.project === projectId ? job : undefined;
  }

  /** Of a job that was changed just now. It is not read again, because it was accepted even if the store fails a moment later. */
  #activeRecord(job: Pick<StoredJob, "id" | "project" | "createdAt" | "model" | "pullRequest">): JobRecord {
    return this.#record({ ...job, state: "active", archivedAt: null });
  }

  #record(job: Omit<StoredJob, "idleSince" | "head">): JobRecord {
    const { repositoryName, model } = this.#project(job.project);
    const { id, createdAt, state, archivedAt, pullRequest } = job;
    return {
      id,
      status: archivedAt === null ? state : "archived",
      source: { repository: repositoryName, ref: jobBranch(id) },
      model: job.model ?? model,
      prLink: state === "active" ? null : pullRequest,
      createdAt: new Date(createdAt).toISOString(),
      archivedAt: archivedAt === null ? null : new Date(archivedAt).toISOString(),
    };
  }

  #project(name: string): ShownProject {
    const project = this.#options.projects.get(name);
    if (project === undefined) throw new Error(`the project ${name} is not configured`);
    return project;
  }
}
