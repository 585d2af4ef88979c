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
  /** Whether homes and commits may be cached: anyone who can read the cache can read them. */
  keepsFiles: boolean;
  /** A folder for temporary files. */
  folder: string;
  /** Values that must not appear in a copy of a home directory. */
  secrets: readonly string[];
  log: (line: string) => void;
}

/** In bytes, of a job's prompts and answers. */
const maxEntryBytes = 20_000_000;

/** In bytes. */
const maxCommitBytes = 60_000_000;

/** In bytes, of a step's job ids. */
const maxStepBytes = 100_000;
/** Entries are compressed: every turn saves some, and a repository's cache has one limit for all. */
const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * Keeps jobs in the repository's Actions cache. Each job has its own entries, so that concurrent runs do not overwrite each other: the job
 * itself, saved on every change, and its home directory, saved after each turn. Each step has an entry with its job ids.
 */
export class CachedJobs implements JobCopies {
  readonly #options: CachedJobsOptions;
  /** The entry of each job's last home directory. */
  readonly #homes = new Map<string, JobEntry["home"]>();
  /** Each step's saved job ids. */
  readonly #jobsOfSteps = new Map<string, readonly string[]>();

  constructor(options: CachedJobsOptions) {
    this.#options = options;
  }

  get keptCommits(): KeptCommits | undefined {
    return this.#options.keepsFiles ? this.#keptCommits : undefined;
  }

  /** The last rejected commit of each job. */
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
      // They are looked up only if they can be ids.
      const jobs = (await readFile(file, "utf8")).split("\n").filter(Boolean);
      this.#jobsOfSteps.set(step, jobs);
      return jobs;
    });
  }

  /** Lets a later run find a job by its steps, even if nothing was pushed. */
  async #saveSteps({ id, turns }: JobCopy, file: string): Promise<void> {
    // Earlier runs have saved the steps of earlier turns.
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
   * Returns the home directory's entry; `undefined` if it cannot be kept. The job is saved anyway: otherwise a later run would take its
   * turn for an interrupted one and run it again.
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
    if (!key.startsWith(prefixOf(jobId, "home"))) return startOver("its cache entry belongs to another job");
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

/** Returns a kept commit; empty for a damaged entry, which later fails as a damaged commit. */
async function readCommit(file: string): Promise<Uint8Array> {
  return decompress(await readFile(file), { maxOutputLength: maxCommitBytes }).catch(() => Buffer.of());
}

/** Returns the text of a job's entry; `undefined` if it is too large or not compressed. */
async function readEntry(file: string): Promise<string | undefined> {
  if ((await stat(file)).size > maxEntryBytes) return undefined;
  return decompress(await readFile(file), { maxOutputLength: maxEntryBytes }).then(String, () => undefined);
}

const prefixOf = (jobId: string, kind: "job" | "home" | "commit"): string => `agent-job-service/${jobId}/${kind}/`;

const hasEnded = (state: TurnState): boolean => state === "completed" || state === "failed";

/** Returns a step's key prefix; `undefined` if the step was not set by the action, whose steps are hashes. */
const stepKey = (step: string): string | undefined =>
  /^[\w-]{1,128}$/.test(step) ? `agent-job-service/step/${step}/` : undefined;

const newKey = (jobId: string, kind: "job" | "home" | "commit"): string => `${prefixOf(jobId, kind)}${uniqueEnd()}`;

/** A key can be saved only once. */
const uniqueEnd = (): string => `${Date.now()}-${randomBytes(4).toString("hex")}`;
