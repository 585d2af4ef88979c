import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errorMessage } from "../error-message.ts";
import type { GitRepository } from "../git/git-repository.ts";
import { keepUp } from "../git/upkeep.ts";
import type { WorktreePlace } from "../git/worktree.ts";
import type { Worktrees } from "../git/worktrees.ts";
import type { PerProject } from "../per-project.ts";
import type { PullRequestPlatform } from "../pulls/pull-requests.ts";
import { JobDirectory, jobsFolder } from "../service-folder.ts";
import type { Store } from "../store/store.ts";
import { dayMs, hourMs } from "../time.ts";
import { Archiver } from "./archiver.ts";
import { BranchCleaner } from "./branch-cleaner.ts";
import { DiskUse, type DiskUseOptions } from "./disk-use.ts";
import { listOf } from "./list-of.ts";
import { Retention } from "./retention.ts";
import { runRounds } from "./rounds.ts";
import { UnknownJobs } from "./unknown-jobs.ts";

export interface UpkeepOptions {
  store: Store;
  projects: PerProject<{
    repository: GitRepository;
    pullRequests: PullRequestPlatform;
    targetBranch?: string | undefined;
  }>;
  /** The worktrees of each repository. */
  worktrees: ReadonlyMap<GitRepository, Worktrees>;
  /** Returns the projects whose jobs are this service's now; `undefined` if all are. Default: all. */
  ownProjects?: (() => Promise<readonly string[] | undefined>) | undefined;
  /** Whether a repository cannot be used now. Default: all can. */
  isAway?: ((repository: GitRepository) => boolean) | undefined;
  /** Whether other stores may have turns of the same jobs, which this one does not know. */
  hasCopies: boolean;
  folder: string;
  /** What is measured on the disk. Default: nothing. */
  disk?: Pick<DiskUseOptions, "clones" | "worktreesPerClone" | "onMeasured"> | false | undefined;
  /** Default: jobs are never deleted. */
  deleteAfterDays?: number | undefined;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: (line: string) => void;
}

/**
 * Archives and deletes jobs, and cleans up branches, disks and clones, until the signal aborts. Resolves when all of that has ended; never
 * rejects.
 */
export async function startUpkeep(options: UpkeepOptions): Promise<void> {
  const { store, worktrees, isAway = () => false, signal, log } = options;
  const isNeeded = async ({ tree }: WorktreePlace) => {
    const job = await store.jobs.find(jobOf(tree));
    return job !== undefined && job.archivedAt === null;
  };
  const keepAllUp = () =>
    Promise.all(
      [...worktrees].map(([repository, own]) =>
        keepUp({ repository, worktrees: own, isNeeded, isAway: () => isAway(repository), signal, log }),
      ),
    );
  await Promise.all([
    // If it cannot be read, the store has logged that.
    logUnknownProjects(options).catch(() => {}),
    runRounds(sharedRounds(options), store, signal, log),
    runRounds(ownRounds(options), undefined, signal, log),
    tidy(options).then(keepAllUp),
  ]);
}

/** The rounds that one machine runs for all on the same store. */
function sharedRounds({
  store,
  projects,
  worktrees,
  ownProjects,
  hasCopies,
  folder,
  deleteAfterDays,
  signal,
  log,
}: UpkeepOptions) {
  const pullRequests = projects.map((project) => project.pullRequests);
  const forgetJobs = async (ids: readonly string[]) => {
    for (const repository of worktrees.keys()) await repository.forgetJobs(ids);
  };
  // Few jobs get a message in the second half of their time. One that was copied here is about to get one, however old it is.
  const archiveAfterDays = hasCopies || deleteAfterDays === undefined ? undefined : deleteAfterDays / 2;
  const startAfterMs = Math.min(hourMs, Math.floor((deleteAfterDays ?? 1) * dayMs));
  return [
    new Archiver({
      store,
      pullRequests,
      ownProjects,
      afterDays: archiveAfterDays,
      signal,
      log,
    }),
    ...(hasCopies ? [] : [new BranchCleaner({ store, projects, ownProjects, signal, log })]),
    new Retention({ store, folder, forgetJobs, afterDays: deleteAfterDays, startAfterMs, signal, log }),
  ];
}

/** The rounds that each machine runs for its own disk. */
function ownRounds({ store, worktrees, hasCopies, folder, disk, signal, log }: UpkeepOptions) {
  return [
    ...(disk ? [new DiskUse({ ...disk, folder, signal, log })] : []),
    // What a step has on its disk ends with it.
    ...(hasCopies ? [] : [new UnknownJobs({ store, folder, repositories: [...worktrees.keys()], signal, log })]),
  ];
}

/** Logs which turns wait for a worker that knows their projects. */
async function logUnknownProjects({ store, projects, log }: UpkeepOptions): Promise<void> {
  if (projects.names === undefined) return;
  const unknown = (await store.counts.waitingTurns()).filter(({ project }) => projects.get(project) === undefined);
  if (unknown.length === 0) return;
  const list = unknown.map(({ project, turns }) => `${project} (${turns} ${turns === 1 ? "turn" : "turns"})`);
  log(`Turns of projects that are not in --config wait: ${listOf(list)}`);
}

/** Adopts the worktrees that an earlier service left. */
async function tidy(options: UpkeepOptions): Promise<void> {
  const { folder, log } = options;
  try {
    await adoptWorktrees(await findWorktrees(options), options);
  } catch (error) {
    log(`Cannot reuse the worktrees that an earlier service left in ${folder}: ${errorMessage(error)}`);
  }
}

/** Returns the worktrees of jobs in the store; of all jobs if it has none, because it may have been put in place of theirs. */
async function findWorktrees({ folder, store, signal }: UpkeepOptions): Promise<WorktreePlace[]> {
  const isNew = (await store.counts.total()).jobs === 0;
  const found: WorktreePlace[] = [];
  for (const id of await readdir(jobsFolder(folder)).catch(() => [])) {
    if (signal.aborted) break;
    const directory = new JobDirectory(folder, id);
    if (existsSync(directory.tree) && (isNew || (await store.jobs.find(id)) !== undefined)) found.push(directory);
  }
  return found;
}

/** Gives worktrees that an earlier service left to their repositories. Worktrees of unknown projects stay. */
async function adoptWorktrees(
  found: readonly WorktreePlace[],
  { store, projects, worktrees }: UpkeepOptions,
): Promise<void> {
  const places = new Map<GitRepository | undefined, WorktreePlace[]>();
  for (const place of found) {
    // A job that a new store does not have may be one of any project.
    const repository = projects.get((await store.jobs.projectOf(jobOf(place.tree))) ?? "")?.repository;
    places.set(repository, [...(places.get(repository) ?? []), place]);
  }
  for (const [repository, own] of worktrees) await own.adopt(places.get(repository) ?? []);
}

const jobOf = (tree: string): string => basename(dirname(tree));
