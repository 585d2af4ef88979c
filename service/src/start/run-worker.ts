import { existsSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { checkPrograms } from "../agents/check-programs.ts";
import type { Limits } from "../agents/limits.ts";
import { type AgentNetwork, fullNetwork } from "../agents/network/agent-network.ts";
import type { Sandbox } from "../agents/sandbox/sandbox.ts";
import { errorMessage } from "../error-message.ts";
import type { Repository } from "../git/repository.ts";
import { keepUp } from "../git/upkeep.ts";
import type { WorktreePlace } from "../git/worktree.ts";
import { Worktrees } from "../git/worktrees.ts";
import type { Log } from "../log/log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { PerProject } from "../per-project.ts";
import { jobsFolder } from "../service-folder.ts";
import type { JobCopier } from "../store/job-copier.ts";
import type { Store } from "../store/store.ts";
import { dayMs, hourMs } from "../time.ts";
import { SharedHomes } from "../turns/shared-homes.ts";
import { isKeptAway } from "../turns/turn.ts";
import { type ProjectPorts, Worker } from "../turns/worker.ts";
import { Archiver } from "../upkeep/archiver.ts";
import { listOf } from "../upkeep/list-of.ts";
import { ownProjects } from "../upkeep/repository-check.ts";
import { Retention } from "../upkeep/retention.ts";
import { runRounds } from "../upkeep/rounds.ts";
import { removeUnknownDirectories, UnknownJobs } from "../upkeep/unknown-jobs.ts";
import type { Backend, ProjectBackend } from "./backend.ts";

/** How agents work on the jobs of a project. */
export interface ProjectAgents {
  agent: Agent;
  /** Where agents run. */
  sandbox: Sandbox;
  /** Default: the machine's network. */
  network?: AgentNetwork | undefined;
  /** Per job. Default: none. */
  limits?: Limits | undefined;
  /** How many turns of the project run at a time, over all workers on the store. Default: any number. */
  agentsPerProject?: number | undefined;
  /** Per attempt. */
  timeLimitMs: number;
  /** A turn that changes files of more than this together fails. */
  largestChangeBytes: number;
}

export interface WorkerOptions {
  settings: PerProject<ProjectAgents>;
  /** A folder of the service, for worktrees, homes and logs. */
  folder: string;
  /** How many agents run at a time. */
  agents: number;
  /**
   * How many jobs of a repository keep their worktree for their next turn. Default: 5. Always 0 if the agents of any project are
   * neither confined nor trusted.
   */
  keptWorktrees?: number | undefined;
  /** Default: jobs are archived only when their pull request is closed or merged. */
  archiveAfterDays?: number | undefined;
  /** Days after its last turn after which a job is deleted. Default: jobs are never deleted. */
  deleteAfterDays?: number | undefined;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  /** Stops the running agents. */
  signal: AbortSignal;
  log: Log;
  /** Default: nothing is counted. */
  metrics?: Metrics | undefined;
}

/** A worker with its background work. Disposing of it waits until both have ended, after its signal has aborted. */
export interface RunningWorker extends AsyncDisposable {
  /** Starts no more turns, and waits until none is running. */
  finish(): Promise<void>;
  /** Whether it makes no progress, for a reason other than an outage that the store reports. */
  readonly isStuck: boolean;
  /** Whether it can take no turns, for a reason other than an outage that the store reports. */
  readonly isFailing: boolean;
  /** Tries the store until it can be written, so that its log says so. */
  waitForStore(): Promise<void>;
}

const defaultKeptWorktrees = 5;
/** A shorter checkout is not worth the disk space of a spare worktree. */
const slowCheckoutMs = 3000;

/**
 * Checks that agents can be run.
 *
 * @param files - files and folders of the service, which agents must not read
 * @throws if the agent is not installed, or may read files of the service
 */
export function checkAgent(agent: Agent, files: readonly string[]): void {
  checkPrograms(agent, process.env.PATH);
  const exposed = agent.reads.find((path) => files.some((own) => isWithin(own, path)));
  if (exposed !== undefined)
    throw new Error(`agents cannot be allowed to read ${exposed}: it has files of the service`);
}

/** Starts to run turns, and to archive and delete jobs. */
export async function runWorker(backend: Backend, options: WorkerOptions): Promise<RunningWorker> {
  const { store, projects } = backend;
  const { settings, folder, signal, log } = options;
  // An agent without a sandbox could change the worktrees of other jobs, of whatever project.
  const areFilesSafe = settings.values.every(({ agent, sandbox }) => isKeptAway(agent, sandbox));
  const kept = areFilesSafe ? (options.keptWorktrees ?? defaultKeptWorktrees) : 0;
  const worktrees = createWorktrees(projects.values, kept);
  const identities = projects.map(({ identity }) => identity);
  // Only other processes change what the jobs belong to.
  const ownOnes = store.homes === undefined ? undefined : () => ownProjects(store.repositories, identities);
  await mkdir(jobsFolder(folder), { recursive: true });
  const worker = new Worker({
    ...options,
    store,
    projects: projects.with(settings, (project, agents) => portsOf(project, agents, worktrees)),
    ownProjects: ownOnes,
    areFilesSafe,
    homes: store.homes ? new SharedHomes(store.homes) : options.copier,
  });
  await worker.start();
  const repositories = [...worktrees.keys()];
  const rounds = [
    new Archiver({
      store,
      pullRequests: projects.map(({ pullRequests }) => pullRequests),
      ownProjects: ownOnes,
      afterDays: options.archiveAfterDays,
      signal,
      log,
    }),
    new Retention({
      store,
      folder,
      forgetJobs: async (ids) => {
        for (const repository of repositories) await repository.forgetJobs(ids);
      },
      afterDays: options.deleteAfterDays,
      startAfterMs: Math.min(hourMs, Math.floor((options.deleteAfterDays ?? 1) * dayMs)),
      signal,
      log,
    }),
  ];
  // Each machine cleans up its own disk; the other rounds are run by one machine for all.
  const ownRounds =
    store.homes === undefined ? [] : [new UnknownJobs({ jobs: store.jobs, folder, repositories, signal })];
  const isNeeded = async ({ tree }: WorktreePlace) => {
    const job = await store.jobs.find(jobOf(tree));
    return job !== undefined && job.archivedAt === null;
  };
  const keepAllUp = () =>
    Promise.all(
      [...worktrees].map(([repository, own]) => keepUp({ repository, worktrees: own, isNeeded, signal, log })),
    );
  const adopt = (found: readonly WorktreePlace[]) => adoptWorktrees(found, worktrees, backend);
  const inBackground = Promise.all([
    // If it cannot be read, the store has logged that.
    logUnknownProjects(store, projects, log).catch(() => {}),
    runRounds(rounds, store, signal, log),
    runRounds(ownRounds, undefined, signal, log),
    tidy(folder, store, adopt, signal, log).then(keepAllUp),
  ]);
  return {
    get isStuck() {
      return worker.isStuck;
    },
    get isFailing() {
      return worker.isFailing;
    },
    waitForStore: () => worker.waitForStore(),
    finish: () => {
      worker.close();
      return worker.drain();
    },
    [Symbol.asyncDispose]: async () => {
      await worker.drain();
      await inBackground;
    },
  };
}

/** Returns whether a path, whose folder exists, is another one or within it. */
function isWithin(path: string, other: string): boolean {
  if (!existsSync(other)) return false;
  const real = join(realpathSync(dirname(path)), basename(path));
  return `${real}/`.startsWith(`${realpathSync(other).replace(/\/$/, "")}/`);
}

/** Returns the worktrees of each repository. */
function createWorktrees(projects: readonly ProjectBackend[], kept: number): ReadonlyMap<Repository, Worktrees> {
  const byRepository = new Map<Repository, Worktrees>();
  for (const { repository, cloneFolder: folder, targetBranch } of projects)
    if (!byRepository.has(repository))
      byRepository.set(repository, new Worktrees({ repository, folder, targetBranch, kept, slowCheckoutMs }));
  return byRepository;
}

function portsOf(
  { repository, pullRequests, targetBranch }: ProjectBackend,
  { network = fullNetwork, limits = {}, ...agents }: ProjectAgents,
  worktreesOf: ReadonlyMap<Repository, Worktrees>,
): ProjectPorts {
  const { agent, sandbox, agentsPerProject, timeLimitMs, largestChangeBytes } = agents;
  const worktrees = worktreesOf.get(repository);
  if (worktrees === undefined) throw new Error("the repository has no worktrees");
  return {
    repository,
    worktrees,
    pullRequests,
    targetBranch,
    agent,
    sandbox,
    network,
    limits,
    agentsPerProject,
    timeLimitMs,
    largestChangeBytes,
  };
}

/** Gives the worktrees that an earlier service left to their repositories. Worktrees of unknown projects stay. */
async function adoptWorktrees(
  found: readonly WorktreePlace[],
  worktrees: ReadonlyMap<Repository, Worktrees>,
  { store, projects }: Backend,
): Promise<void> {
  const places = new Map<Repository | undefined, WorktreePlace[]>();
  for (const place of found) {
    // A job that a new store does not have may be one of any project.
    const repository = projects.get((await store.jobs.projectOf(jobOf(place.tree))) ?? "")?.repository;
    places.set(repository, [...(places.get(repository) ?? []), place]);
  }
  for (const [repository, own] of worktrees) await own.adopt(places.get(repository) ?? []);
}

/** Returns the job of a worktree in its directory. */
const jobOf = (tree: string): string => basename(dirname(tree));

/** Logs which turns wait for a worker that knows their projects. */
async function logUnknownProjects(store: Store, projects: PerProject<unknown>, log: (line: string) => void) {
  if (projects.names === undefined) return;
  const unknown = (await store.counts.waitingTurns()).filter(({ project }) => projects.get(project) === undefined);
  if (unknown.length === 0) return;
  const list = unknown.map(({ project, turns }) => `${project} (${turns} ${turns === 1 ? "turn" : "turns"})`);
  log(`Turns of projects that are not in --config wait: ${listOf(list)}`);
}

async function tidy(
  folder: string,
  store: Store,
  adopt: (found: readonly WorktreePlace[]) => Promise<void>,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<void> {
  try {
    // Another store may have been put in place of theirs.
    const isNew = (await store.counts.total()).jobs === 0;
    const isJob = async (id: string) => isNew || (await store.jobs.find(id)) !== undefined;
    const { removed, withWorktree } = await removeUnknownDirectories(folder, isJob, signal);
    if (removed > 0) log(`Removed the directories of jobs that are not in the store: ${removed}.`);
    if (!signal.aborted) await adopt(withWorktree);
  } catch (error) {
    log(`Cannot remove what an earlier service left in ${folder}: ${errorMessage(error)}`);
  }
}
