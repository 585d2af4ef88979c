import { existsSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Agent } from "../agents/agent.ts";
import type { Cgroups } from "../agents/cgroups.ts";
import { checkPrograms } from "../agents/check-programs.ts";
import type { ConfinedCommands } from "../agents/confine.ts";
import type { Limits } from "../agents/limits.ts";
import { type AgentNetwork, fullNetwork } from "../agents/network/agent-network.ts";
import type { Sandbox } from "../agents/sandbox/sandbox.ts";
import { killSurvivors } from "../agents/survivors.ts";
import type { GitRepository } from "../git/git-repository.ts";
import { Worktrees } from "../git/worktrees.ts";
import type { Log } from "../log/log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { PerProject } from "../per-project.ts";
import { type CommitSettings, Committers } from "../pulls/committers.ts";
import { GitHubPullRequests } from "../pulls/github.ts";
import type { PathPatterns } from "../pulls/path-patterns.ts";
import type { ProtectedFilesKind } from "../pulls/protected-files.ts";
import type { Secret } from "../secret-patterns.ts";
import { jobsFolder } from "../service-folder.ts";
import type { JobCopier } from "../store/job-copier.ts";
import { ownHomes, SharedHomes } from "../store/shared-homes.ts";
import { BranchRights } from "../turns/branch-rights.ts";
import { isKeptAway } from "../turns/run-attempt.ts";
import type { TurnHost } from "../turns/turn-host.ts";
import type { ProjectPorts } from "../turns/turn-ports.ts";
import { Worker } from "../turns/worker.ts";
import type { ClonePlace } from "../upkeep/disk-use.ts";
import { startUpkeep } from "../upkeep/start-upkeep.ts";
import type { Backend, ProjectBackend } from "./backend.ts";
import { ownProjects } from "./repository-check.ts";

/** How agents work on the jobs of a project. */
export interface ProjectAgents extends CommitSettings {
  agent: Agent;
  sandbox: Sandbox;
  /** Default: the machine's network. */
  network?: AgentNetwork | undefined;
  /** Per job. Default: none. */
  limits?: Limits | undefined;
  /** How many turns of the project run at a time, over all workers on the store. Default: any number. */
  agentsPerProject?: number | undefined;
  /** Per attempt. */
  timeLimitMs: number;
  /** See `ProjectPorts`. */
  leftMs?: (() => number) | undefined;
  /** Whether pull requests are opened as drafts. Default: no. */
  opensDrafts?: boolean | undefined;
  /** A turn that changes files of more than this together fails. */
  largestChangeBytes: number;
  /** What happens with a change of files that run code or instruct agents. Default: `flag`. */
  protectedFiles?: ProtectedFilesKind | undefined;
  /** Such files besides those that the service knows. Default: none. */
  moreProtected?: readonly string[] | undefined;
  /** The files that agents may change. Default: all. */
  only?: PathPatterns | undefined;
  /** What is run before and after agents. Default: nothing. */
  commands?: ConfinedCommands | undefined;
  /** Secrets that no change of any project may have. Default: none. */
  secrets?: Iterable<Secret> | undefined;
}

export interface WorkerOptions {
  settings: PerProject<ProjectAgents>;
  /** A folder of the service, for worktrees, homes and logs. */
  folder: string;
  agents: number;
  /**
   * How many jobs of a repository keep their worktree for their next turn. Default: 5. Always 0 if the agents of any project are
   * neither confined nor trusted.
   */
  keptWorktrees?: number | undefined;
  /** Days after its last turn after which a job is deleted. Default: jobs are never deleted. */
  deleteAfterDays?: number | undefined;
  /** Whether the log and the metrics say what is on the disk. Default: no. */
  isDiskMeasured?: boolean | undefined;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  /** Where the kernel limits the memory of agents. Default: nowhere. */
  cgroups?: Pick<Cgroups, "create"> | undefined;
  /** A key of the service's API, which no change may have. */
  apiKey?: string | undefined;
  /** Stops the running agents. */
  signal: AbortSignal;
  log: Log;
  /** Default: nothing is counted. */
  metrics?: Metrics | undefined;
  /** Default: the disk and the processes of this machine. */
  host?: TurnHost;
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
  checkReads(agent, files);
}

/** @throws if agents may read one of the files and folders */
export function checkReads(agent: Agent, files: readonly string[]): void {
  const exposed = agent.reads.find((path) => files.some((own) => isWithin(own, path)));
  if (exposed !== undefined)
    throw new Error(`agents cannot be allowed to read ${exposed}: it has files of the service`);
}

/** Starts to run turns, and to archive and delete jobs. */
export async function runWorker(backend: Backend, options: WorkerOptions): Promise<RunningWorker> {
  const { store, projects, away } = backend;
  const { settings, folder, signal, log } = options;
  // An agent without a sandbox could change the worktrees of other jobs, of whatever project.
  const areFilesSafe = settings.values.every(({ agent, sandbox }) => isKeptAway(agent, sandbox));
  const kept = areFilesSafe ? (options.keptWorktrees ?? defaultKeptWorktrees) : 0;
  // One more than agents run at a time, for the job that comes right after another.
  const worktrees = createWorktrees(projects.values, kept, options.agents + 1);
  const ownOnes = ownProjectsOf(backend);
  await mkdir(jobsFolder(folder), { recursive: true });
  await killSurvivors(folder, log);
  const ports = projects.with(settings, (project, agents) => portsOf(project, agents, worktrees));
  await Promise.all(ports.values.map(({ committers }) => committers.check()));
  const worker = new Worker({
    ...options,
    store,
    projects: ports,
    ownProjects: ownOnes,
    onOutage: (project, reason, waitMs) => {
      const { identity } = projects.get(project) ?? {};
      if (identity !== undefined) away.begin(identity, reason, waitMs);
    },
    areFilesSafe,
    secrets: secretsOf(options),
    keptCommits: store.keptCommits ?? options.copier?.keptCommits,
    homes: store.homes ? new SharedHomes(store.homes, secretsOf(options)) : (options.copier ?? ownHomes),
  });
  away.onBack = () => worker.wake();
  await worker.start();
  const { deleteAfterDays } = options;
  const upkeep = startUpkeep({
    store,
    projects,
    worktrees,
    ownProjects: ownOnes,
    isAway: (repository) => projects.values.some((one) => one.repository === repository && away.has(one.identity)),
    hasCopies: options.copier !== undefined,
    folder,
    disk: options.isDiskMeasured && {
      clones: clonesOf(projects.values, away),
      // Those that jobs keep, one for each running turn, and spare ones.
      worktreesPerClone: kept + options.agents + Math.min(kept, options.agents + 1),
      onMeasured: (use) => options.metrics?.diskMeasured(use),
    },
    deleteAfterDays,
    signal,
    log,
  });
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
      await upkeep;
    },
  };
}

/** Returns a function that finds the projects whose turns may be taken; `undefined` if that is all. Only other processes change what jobs belong to. */
export function ownProjectsOf({ store, projects, away }: Backend): () => Promise<readonly string[] | undefined> {
  const identities = projects.map(({ identity }) => identity);
  return async () => {
    const own = store.homes === undefined ? undefined : await ownProjects(store.repositories, identities);
    if (!away.isAny) return own;
    return (own ?? identities.names ?? []).filter((project) => !away.has(identities.get(project)));
  };
}

/**
 * Returns the secrets of all projects, because agents of one project could have got another's. An empty one is not looked for. They are
 * listed anew each time, because they can be replaced.
 */
function secretsOf({ settings, apiKey = "" }: WorkerOptions): Iterable<Secret> {
  const own = { name: "the API key", value: apiKey };
  const list = (): Secret[] => [...settings.values.flatMap(({ secrets = [] }) => [...secrets]), own];
  return { [Symbol.iterator]: () => new Map(list().map((secret) => [secret.value, secret])).values() };
}

/** Returns whether a path, whose folder exists, is another one or within it. */
function isWithin(path: string, other: string): boolean {
  if (!existsSync(other)) return false;
  const real = join(realpathSync(dirname(path)), basename(path));
  return `${real}/`.startsWith(`${realpathSync(other).replace(/\/$/, "")}/`);
}

function clonesOf(projects: readonly ProjectBackend[], away: Backend["away"]): ClonePlace[] {
  const byRepository = new Map(projects.map((project) => [project.repository, project]));
  return [...byRepository].map(([repository, { identity, repositoryName, cloneFolder, targetBranch }]) => ({
    name: repositoryName,
    folder: cloneFolder,
    checkoutBytes: async () =>
      away.has(identity) ? 0 : repository.checkoutBytes(await repository.targetBranch(targetBranch)),
  }));
}

function createWorktrees(
  projects: readonly ProjectBackend[],
  kept: number,
  spares: number,
): ReadonlyMap<GitRepository, Worktrees> {
  const byRepository = new Map<GitRepository, Worktrees>();
  for (const { repository, cloneFolder: folder, targetBranch } of projects)
    if (!byRepository.has(repository))
      byRepository.set(repository, new Worktrees({ repository, folder, targetBranch, kept, spares, slowCheckoutMs }));
  return byRepository;
}

function portsOf(
  { repository, pullRequests, targetBranch }: ProjectBackend,
  { network = fullNetwork, limits = {}, ...agents }: ProjectAgents,
  worktreesOf: ReadonlyMap<GitRepository, Worktrees>,
): ProjectPorts & { committers: Committers } {
  const { agent, sandbox, agentsPerProject, timeLimitMs, leftMs, largestChangeBytes, protectedFiles, moreProtected } =
    agents;
  const { only, commands, commitAs, signsOff, trailers, titlePrefix, opensDrafts } = agents;
  const gitHub = pullRequests instanceof GitHubPullRequests ? pullRequests.commits : undefined;
  const worktrees = worktreesOf.get(repository);
  if (worktrees === undefined) throw new Error("the repository has no worktrees");
  return {
    repository,
    worktrees,
    pullRequests,
    committers: new Committers({ repository, gitHub, commitAs, signsOff, trailers }),
    branchRights: new BranchRights(),
    targetBranch,
    titlePrefix,
    opensDrafts,
    agent,
    sandbox,
    network,
    limits,
    agentsPerProject,
    timeLimitMs,
    leftMs,
    largestChangeBytes,
    protectedFiles,
    moreProtected,
    only,
    commands: commands && { ...commands, repository, worktrees },
  };
}
