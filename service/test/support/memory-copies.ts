import { cpSync } from "node:fs";
import { join } from "node:path";
import type { JobCopy } from "../../src/model.ts";
import type { JobCopies, SentForStep } from "../../src/store/job-copies.ts";

/** Copies of jobs in memory, with their home directories in a folder. */
export class MemoryCopies implements JobCopies {
  readonly jobs = new Map<string, JobCopy>();
  /** For each save, the states of the job's turns, and whether the home directory was saved too. */
  readonly saves: { states: string[]; hasHome: boolean }[] = [];
  readonly #folder: string;
  /** Thrown by every later call. */
  failure: Error | undefined;
  /** What a save with a home directory waits for. */
  gate: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async save(job: JobCopy, home: string | undefined): Promise<void> {
    if (this.failure) throw this.failure;
    this.saves.push({ states: job.turns.map(({ state }) => state), hasHome: home !== undefined });
    this.jobs.set(job.id, structuredClone({ ...job, turns: job.turns.map((turn) => ({ ...turn })) }));
    if (home !== undefined) await this.gate;
    if (home !== undefined) cpSync(home, join(this.#folder, job.id), { recursive: true });
  }

  async restore(jobId: string, _home: string, into: string): Promise<JobCopy | undefined> {
    if (this.failure) throw this.failure;
    const job = this.jobs.get(jobId);
    if (job) cpSync(join(this.#folder, jobId), into, { recursive: true });
    return job;
  }

  async jobsOfStep({ project, caller, step }: SentForStep): Promise<string[]> {
    if (this.failure) throw this.failure;
    const jobs = [...this.jobs.values()].filter((job) => job.project === project);
    const isOfStep = ({ turns }: JobCopy) => turns.some((turn) => turn.caller === caller && turn.step === step);
    return jobs.filter(isOfStep).map(({ id }) => id);
  }
}
