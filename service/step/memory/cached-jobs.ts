import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { errorMessage } from "../../src/error-message.ts";
import type { JobCopy, TurnState } from "../../src/model.ts";
import { packHome, unpackHome } from "../../src/store/home-archive.ts";
import type { JobCopies, SentForStep } from "../../src/store/job-copies.ts";
import type { KeptCommits } from "../../src/store/kept-commits.ts";
import type { CacheEntries } from "./cache-entries.ts";
import { formatJobEntry, type JobEntry, parseJobEntry } from "./job-entry.ts";

export interface CachedJobsOptions {
  cache: CacheEntries;
  projectId: string;
  /** Whether files may be in the cache: whoever can read it may read the repository. Otherwise, neither homes nor commits are. */
  keepsFiles: boolean;
  /** A folder for temporary files. */
  folder: string;
  /** Values that no copy of a home directory may have. */
  secrets: readonly string[];
  log: (line: string) => void;
}

/** In bytes, of the prompts and answers of a job together. */
const maxEntryBytes = 20_000_000;

/** In bytes. */
const maxCommitBytes = 60_000_000;

/** In bytes, of the ids of a step's jobs. */
const maxStepBytes = 100_000;
/** Both kinds of entries are compressed: every turn has one, and a repository's cache has a limit for all of them. */
const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * Keeps jobs in the repository's Actions cache. A job has entries of its own, so that runs at the same time do not overwrite
 * each other's jobs: one with the job whenever it changes, and one with its home directory after each turn. A step has one with
 * the ids of its jobs.
 */
export class CachedJobs implements JobCopies {
  readonly #options: CachedJobsOptions;
  /** Where the last home directory of each job is. */
  readonly #homes = new Map<string, JobEntry["home"]>();
  /** The jobs of each step, as far as they are saved. */
  readonly #jobsOfSteps = new Map<string, readonly string[]>();

  constructor(options: CachedJobsOptions) {
    this.#options = options;
  }

  get keptCommits(): KeptCommits | undefined {
    return this.#options.keepsFiles ? this.#keptCommits : undefined;
  }

  /** The last commit of each job whose push was refused. */
  readonly #keptCommits: KeptCommits = {
    save: ({ job }, packed) =>
      this.#inFolder(async (folder) => {
        const file = join(folder, "commit");
        await writeFile(file, await compress(packed));
        await this.#options.cache.save(newKey(job, "commit"), file);
      }),
    load: (job) =>
      this.#inFolder(async (folder) => {
        const file = join(folder, "commit");
        return (await this.#options.cache.restore(prefixOf(job, "commit"), file)) ? readCommit(file) : undefined;
      }),
  };

  async save(job: JobCopy, home: string | undefined): Promise<void> {
    const { cache, keepsFiles } = this.#options;
    await this.#inFolder(async (folder) => {
      if (home !== undefined && keepsFiles)
        this.#homes.set(job.id, await this.#saveHome(job.id, home, join(folder, "home")));
      const file = join(folder, "job");
      const text = Buffer.from(formatJobEntry({ job, home: this.#homes.get(job.id) }));
      if (text.length > maxEntryBytes) throw new Error("its prompts are too large");
      await writeFile(file, await compress(text));
      await cache.save(newKey(job.id, "job"), file);
      await this.#saveSteps(job, join(folder, "step"));
    });
  }

  async jobsOfStep({ step }: SentForStep): Promise<readonly string[]> {
    const { cache, log } = this.#options;
    const key = stepKey(step);
    if (key === undefined) return [];
    const known = this.#jobsOfSteps.get(step);
    if (known !== undefined) return known;
    return this.#inFolder(async (folder) => {
      const file = join(folder, "step");
      if (!(await cache.restore(key, file))) return [];
      if ((await stat(file)).size > maxStepBytes) {
        log(`${key}: its entry is too large and is ignored`);
        return [];
      }
      // They are only looked up if they can be ids.
      const jobs = (await readFile(file, "utf8")).split("\n").filter(Boolean);
      this.#jobsOfSteps.set(step, jobs);
      return jobs;
    });
  }

  /** Lets a later run find a job by the steps that it has turns of, even if they pushed nothing. */
  async #saveSteps({ id, turns }: JobCopy, file: string): Promise<void> {
    // Those of earlier turns have been saved by earlier runs.
    const recent = turns.filter(({ state }, index) => !hasEnded(state) || index === turns.length - 1);
    for (const step of new Set(recent.map((turn) => turn.step ?? ""))) {
      const jobs = this.#jobsOfSteps.get(step) ?? [];
      const key = stepKey(step);
      if (key === undefined || jobs.includes(id)) continue;
      await writeFile(file, `${[...jobs, id].join("\n")}\n`);
      await this.#options.cache.save(`${key}${uniqueEnd()}`, file);
      this.#jobsOfSteps.set(step, [...jobs, id]);
    }
  }

  async restore(jobId: string, home: string, into: string): Promise<JobCopy | undefined> {
    const { cache, projectId, log } = this.#options;
    return this.#inFolder(async (folder) => {
      const file = join(folder, "job");
      if (!(await cache.restore(prefixOf(jobId, "job"), file))) return undefined;
      const text = await readEntry(file);
      const entry = text === undefined ? undefined : parseJobEntry(text, jobId, projectId);
      if (entry === undefined) {
        log(`${prefixOf(jobId, "job")}: the newest entry of the cache is not one of this service and is ignored`);
        return undefined;
      }
      if (entry.home !== undefined) {
        const file = join(folder, "home");
        await this.#restoreHome(jobId, entry.home, { home, into, file });
      }
      return entry.job;
    });
  }

  /**
   * Returns where the home directory is now; `undefined` if it cannot be kept. That must not keep the job from being saved: a
   * later run would take its turn for one that was interrupted, and run it again.
   */
  async #saveHome(jobId: string, home: string, file: string): Promise<JobEntry["home"]> {
    const { cache, secrets, log } = this.#options;
    const key = newKey(jobId, "home");
    try {
      const withSecrets = await packHome(home, file, secrets, undefined, true);
      if (withSecrets.length > 0) log(`${jobId}: not kept, because they have a secret: ${withSecrets.join(", ")}`);
      await cache.save(key, file);
    } catch (error) {
      log(
        `${jobId}: the agent's home directory is not kept: ${errorMessage(error)}. A later run starts a new session.`,
      );
      return undefined;
    }
    return { key, path: home };
  }

  /** Without a session, the agent gets the earlier turns as text. */
  async #restoreHome(
    jobId: string,
    { key, path }: NonNullable<JobEntry["home"]>,
    { home, into, file }: { home: string; into: string; file: string },
  ): Promise<void> {
    const { cache, log } = this.#options;
    const startOver = (reason: string): void => log(`${jobId}: the agent starts a new session: ${reason}`);
    if (!key.startsWith(prefixOf(jobId, "home"))) return startOver("its cache entry is that of another job");
    // Agents find their sessions by the path of their folder.
    if (path !== home) return startOver(`the last one was in ${path}, and this runner has another folder`);
    try {
      if (!(await cache.restore(key, file))) return startOver("the last one is no longer in the cache");
      await unpackHome(file, into);
      this.#homes.set(jobId, { key, path });
    } catch (error) {
      startOver(`the last one cannot be restored: ${errorMessage(error)}`);
    }
  }

  async #inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(this.#options.folder, "copy-"));
    try {
      return await use(folder);
    } finally {
      await rm(folder, { recursive: true });
    }
  }
}

/** Returns a kept commit; empty if the entry is none, which is damaged as a commit, too. */
async function readCommit(file: string): Promise<Uint8Array> {
  try {
    return await decompress(await readFile(file), { maxOutputLength: maxCommitBytes });
  } catch {
    return Buffer.of();
  }
}

/** Returns the text of a job's entry; `undefined` if it is not compressed, or too large. */
async function readEntry(file: string): Promise<string | undefined> {
  if ((await stat(file)).size > maxEntryBytes) return undefined;
  try {
    return String(await decompress(await readFile(file), { maxOutputLength: maxEntryBytes }));
  } catch {
    return undefined;
  }
}

const prefixOf = (jobId: string, kind: "job" | "home" | "commit"): string => `agent-job-service/${jobId}/${kind}/`;

const hasEnded = (state: TurnState): boolean => state === "completed" || state === "failed";

/** Returns the prefix of the keys of a step; `undefined` if it is none of the action, which are hashes. */
const stepKey = (step: string): string | undefined =>
  /^[\w-]{1,128}$/.test(step) ? `agent-job-service/step/${step}/` : undefined;

const newKey = (jobId: string, kind: "job" | "home" | "commit"): string => `${prefixOf(jobId, kind)}${uniqueEnd()}`;

/** A key can be saved only once. */
const uniqueEnd = (): string => `${Date.now()}-${randomBytes(4).toString("hex")}`;
