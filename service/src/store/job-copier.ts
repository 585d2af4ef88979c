import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../error-message.ts";
import type { Turn } from "../model.ts";
import { removeDirectory } from "../remove-directory.ts";
import { JobDirectory } from "../service-folder.ts";
import { type Lasting, SourceUnavailable } from "../store-errors.ts";
import type { AgentHomes } from "./agent-homes.ts";
import type { BusyJob, JobCopies, SentForStep } from "./job-copies.ts";
import { isActive } from "./jobs.ts";
import type { KeptCommits } from "./kept-commits.ts";
import type { Store } from "./store.ts";

export interface JobCopierOptions {
  copies: JobCopies;
  store: Store;
  /** The service's folder. */
  folder: string;
  log: (line: string) => void;
  /** Returns the time in milliseconds since any moment. Default: the process's. */
  now?: (() => number) | undefined;
}

/** In milliseconds: what GitHub answers wrongly for a moment, such as 404 for a branch that it has just created, does not last as long. */
const minFailingMs = 9000;

/** The ids that services give to jobs. Other ids are not looked up: they can come from anyone who has the API key. */
const jobIdPattern = /^job_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Saves jobs in the background whenever they change, and restores those that the store does not know. */
export class JobCopier implements AgentHomes {
  readonly #options: JobCopierOptions;
  /** The last save of each job that is not done yet. */
  readonly #saves = new Map<string, Promise<void>>();
  /** Jobs with a save that has not begun, and so will include all changes until then. */
  readonly #pending = new Set<string>();
  /** The saves that are reading a home directory, by job. */
  readonly #homes = new Map<string, Promise<void>>();
  readonly #restores = new Map<string, Promise<void>>();
  /** The steps under which something was sent that is in the store. Everything else that is sent under them comes here, too. */
  readonly #knownSteps = new Set<string>();
  /** The sessions on whose job another machine has worked since it was restored. */
  readonly #changedSessions = new Set<string>();
  /** Since when copies cannot be read for a reason that probably lasts. */
  #failingSince: number | undefined;

  constructor(options: JobCopierOptions) {
    this.#options = options;
  }

  /** Commits that are not pushed; `undefined` if they are only on this machine. */
  get keptCommits(): KeptCommits | undefined {
    return this.#options.copies.keptCommits;
  }

  /** Saves a job in the background: with its home directory, unless it is active. A failure is only logged. */
  save(jobId: string): void {
    if (this.#pending.has(jobId)) return;
    this.#pending.add(jobId);
    const save = (this.#saves.get(jobId) ?? Promise.resolve()).then(() => {
      this.#pending.delete(jobId);
      return this.#save(jobId);
    });
    this.#saves.set(jobId, save);
    void save.then(() => {
      if (this.#saves.get(jobId) === save) this.#saves.delete(jobId);
    });
  }

  /** Waits until no save reads the home directory of the turn's job. */
  async bring({ job }: Pick<Turn, "job">): Promise<void> {
    await this.#homes.get(job);
  }

  /** Waits until everything is saved. */
  async settle(): Promise<void> {
    await Promise.all(this.#saves.values());
  }

  /**
   * Restores a job if the store does not know it and there is a copy. A turn that was running waits then.
   *
   * @param hasChanged - whether to restore it although the store knows it, unless a turn of it is active here. Default: no
   * @throws SourceUnavailable if it is unknown whether there is a copy
   */
  async restore(jobId: string, hasChanged = false): Promise<void> {
    if (!jobIdPattern.test(jobId)) return;
    const restore =
      this.#restores.get(jobId) ?? this.#restore(jobId, hasChanged).finally(() => this.#restores.delete(jobId));
    this.#restores.set(jobId, restore);
    await restore;
  }

  /**
   * Restores the jobs with turns of a step, as `restore` does.
   *
   * @throws SourceUnavailable if it is unknown which jobs there are, or one cannot be read
   */
  async restoreStep(sent: SentForStep): Promise<void> {
    const { copies, store, log } = this.#options;
    // At the end of a turn, its client asks again, and the turn must not be lost to an outage of GitHub.
    if (this.#knownSteps.has(nameOf(sent))) return;
    const jobs = await copies.jobsOfStep?.(sent).catch((error: unknown) => {
      log(`the jobs of a step cannot be looked up: ${errorMessage(error)}`);
      throw this.#unavailable(error);
    });
    for (const job of jobs ?? []) await this.restore(job);
    const found = await Promise.all((jobs ?? []).map((job) => store.jobs.find(job)));
    // GitHub may not show yet whose a job is.
    if (found.length > 0 && !found.includes(undefined)) this.knowStep(sent);
  }

  /** Says that the store has everything that was sent under a step: it was restored, and something was added. */
  knowStep(sent: SentForStep): void {
    this.#knownSteps.add(nameOf(sent));
  }

  /**
   * Restores the job of a session, as `restore` does, unless another machine works on it.
   *
   * @returns the job that another machine works on
   * @throws SourceUnavailable if it is unknown which job that is, or it cannot be read
   */
  async restoreSession(session: string, claimedBy?: string): Promise<BusyJob | undefined> {
    const { copies, log } = this.#options;
    const find = async (): Promise<BusyJob | string | undefined> =>
      (await copies.busyJobOf?.(session, claimedBy)) ?? copies.jobOfSession?.(session);
    const job = await find().catch((error: unknown) => {
      log(`the job of a session cannot be looked up: ${errorMessage(error)}`);
      throw this.#unavailable(error);
    });
    if (typeof job === "object") this.#changedSessions.add(session);
    if (typeof job === "object") return job;
    if (job !== undefined) await this.restore(job, this.#changedSessions.has(session));
    this.#changedSessions.delete(session);
    return undefined;
  }

  /** Returns the error for clients. What probably lasts does so if it has failed before, and nothing was read in between. */
  #unavailable(error: unknown): SourceUnavailable {
    const { now = () => performance.now() } = this.#options;
    const { lasts } = error as Partial<Lasting>;
    if (lasts !== undefined) this.#failingSince ??= now();
    const isRepeated = now() - (this.#failingSince ?? now()) >= minFailingMs;
    return new SourceUnavailable(errorMessage(error), lasts === "certainly" || (lasts === "probably" && isRepeated));
  }

  async #save(jobId: string): Promise<void> {
    const { copies, store, folder, log } = this.#options;
    const logFailure = (error: unknown) => log(`${jobId}: cannot be saved for later services: ${errorMessage(error)}`);
    const job = await store.jobs.copy(jobId).catch(logFailure);
    if (job === undefined) return;
    const { home } = new JobDirectory(folder, jobId);
    const hasHome = !isActive(job) && existsSync(home);
    const save = copies.save(job, hasHome ? home : undefined).catch(logFailure);
    if (hasHome) this.#homes.set(jobId, save);
    await save;
    this.#homes.delete(jobId);
  }

  async #restore(jobId: string, hasChanged: boolean): Promise<void> {
    const { copies, store, folder, log } = this.#options;
    const known = await store.jobs.find(jobId);
    if (known !== undefined && (!hasChanged || known.state === "active")) return;
    const { home } = new JobDirectory(folder, jobId);
    // Outside the folder of the jobs, where directories of unknown jobs are removed.
    const restored = join(folder, `restored-${jobId}`);
    await removeDirectory(restored);
    const job = await copies.restore(jobId, home, restored).catch((error: unknown) => {
      log(`${jobId}: cannot be restored: ${errorMessage(error)}`);
      throw this.#unavailable(error);
    });
    this.#failingSince = undefined;
    if (job === undefined) return;
    await removeDirectory(home);
    mkdirSync(dirname(home), { recursive: true });
    if (existsSync(restored)) renameSync(restored, home);
    await store.jobs.addCopy(job, known !== undefined);
    log(`${jobId}: restored`);
  }
}

const nameOf = ({ project, caller, step }: SentForStep): string => JSON.stringify([project, caller, step]);
