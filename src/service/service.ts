import { existsSync, realpathSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Agent } from "./agents/agent.ts";
import { checkPrograms } from "./agents/check-programs.ts";
import type { Limits } from "./agents/limits.ts";
import { type AgentNetwork, fullNetwork } from "./agents/network/agent-network.ts";
import type { Sandbox } from "./agents/sandbox/sandbox.ts";
import { errorMessage } from "./error-message.ts";
import { Repository } from "./git/repository.ts";
import { repositoryName as nameOf, resolveAddress } from "./git/repository-address.ts";
import { keepUp } from "./git/upkeep.ts";
import type { WorktreePlace } from "./git/worktree.ts";
import { Worktrees } from "./git/worktrees.ts";
import { createApi } from "./http/api.ts";
import { checkHost } from "./http/host.ts";
import { type LoopbackServer, listen } from "./http/listen.ts";
import { Archiver } from "./jobs/archiver.ts";
import { dayMs } from "./jobs/days.ts";
import { JobCopier } from "./jobs/job-copier.ts";
import type { JobCopies } from "./jobs/job-copies.ts";
import { jobsFolder } from "./jobs/job-directory.ts";
import { Jobs } from "./jobs/jobs.ts";
import { checkRepository, repositoryIdentity } from "./jobs/repository-check.ts";
import { Retention } from "./jobs/retention.ts";
import { runRounds } from "./jobs/rounds.ts";
import { tidyJobDirectories } from "./jobs/tidy-job-directories.ts";
import { Worker } from "./jobs/worker.ts";
import { Pages } from "./pages/pages.ts";
import { checkDescriptors } from "./processes/descriptor-limit.ts";
import type { GitHubRepository } from "./pulls/github/github-repository.ts";
import { GitHubPullRequests } from "./pulls/github.ts";
import { type LocalPullRequest, LocalPullRequests } from "./pulls/local.ts";
import { hourMs } from "./store/hourly-limit.ts";
import { distinctTurnIds, openSqliteStore } from "./store/sqlite/open-store.ts";
import type { Store } from "./store/store.ts";

export interface ServiceOptions {
  /** URL or path, as `git clone` accepts it. */
  repository: string;
  /** The branch that jobs start from and pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  agent: Agent;
  /** Where agents run. */
  sandbox: Sandbox;
  /** Default: that of the machine. */
  network?: AgentNetwork;
  /** Per job. Default: none. */
  limits?: Limits;
  apiKey: string;
  /** The projects that the key gives access to. */
  projects: readonly string[];
  /** A folder of the service, for a clone of the repository, worktrees and logs. Created if it does not exist. */
  folder: string;
  /** The SQLite file. Default: `jobs.sqlite` in the folder. */
  store?: string | undefined;
  /** Opens another store than a SQLite file. */
  openStore?: (() => Promise<Store>) | undefined;
  /** The umask with which Git writes to a repository on this machine. Default: that of the process. */
  repositoryUmask?: number;
  /** Default: 0, any free port. */
  port?: number;
  /** The origin at which a reverse proxy serves the service, for links. Default: only loopback, at its port. */
  publicUrl?: string | undefined;
  /** How many agents run at a time. */
  agents: number;
  /** Per attempt. */
  timeLimitMs: number;
  /** A turn that changes files of more than this together fails. */
  largestChangeBytes: number;
  /** How many jobs keep their worktree for their next turn. Default: 5. Always 0 if agents are neither confined nor trusted. */
  keptWorktrees?: number;
  /** Default: jobs are archived only when their pull request is closed or merged. */
  archiveAfterDays?: number | undefined;
  /** Days after its last turn after which a job is deleted. Default: jobs are never deleted. */
  deleteAfterDays?: number | undefined;
  /** Whether the jobs of another repository in the store are those of this one, because it has moved. Default: no. */
  isRepositoryMoved?: boolean;
  /** Default: pull requests are pages of the service. */
  github?: GitHubRepository | undefined;
  /** Default: jobs are only in the store. */
  copies?: JobCopies | undefined;
  log?: (line: string) => void;
}

const defaultKeptWorktrees = 5;
/** A shorter checkout is not worth the disk space of a spare worktree. */
const slowCheckoutMs = 3000;

/** A running service. */
export interface Service extends LoopbackServer {
  /** Returns a URL that signs in who opens it first, within 10 minutes, and leads to a page, such as `/pull/1`. */
  createSignInLink(path: string): string;
}

/**
 * Starts the service. Disposing of it stops the agents; the next service on the same store resumes their turns.
 *
 * @throws if the agent is not installed, if the store cannot be opened or belongs to another repository, if GitHub does not
 *   accept the token, or if the service cannot work on the repository
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const {
    folder,
    agent,
    sandbox,
    network = fullNetwork,
    limits = {},
    agents,
    apiKey,
    projects,
    timeLimitMs,
    largestChangeBytes,
    github,
    publicUrl,
    copies,
    log = () => {},
  } = options;
  checkDescriptors();
  checkPrograms(agent, process.env.PATH);
  await mkdir(folder, { recursive: true });
  // It has prompts, and homes with the sessions of agents.
  await chmod(folder, 0o700);
  const exposed = agent.reads.find((path) => [folder, options.store ?? folder].some((own) => isWithin(own, path)));
  if (exposed !== undefined)
    throw new Error(`agents cannot be allowed to read ${exposed}: it has files of the service`);
  // Opened first: its lock guards the folder against a second service.
  const store =
    (await options.openStore?.()) ??
    openSqliteStore(options.store ?? join(folder, "jobs.sqlite"), log, copies && distinctTurnIds);
  const stop = new AbortController();
  const { signal } = stop;
  const { address, settings } = resolveAddress(options.repository, github?.token);
  const repository = new Repository({
    url: address,
    folder,
    targetBranch: options.targetBranch,
    settings,
    umask: options.repositoryUmask,
    signal,
  });
  // An agent without a sandbox could change the worktrees of other jobs.
  const canKeep = sandbox.isConfining || agent.isTrusted;
  const kept = canKeep ? (options.keptWorktrees ?? defaultKeptWorktrees) : 0;
  const worktrees = new Worktrees({ repository, folder, kept, slowCheckoutMs });
  let baseUrl = "";
  const repositoryName = nameOf(address);
  const links = { baseUrl: () => publicUrl ?? baseUrl };
  const localPullRequests = new LocalPullRequests({ store, repository, ...links, signal, log });
  const onGitHub = github && new GitHubPullRequests({ repository: github, signal, log });
  const pullRequests = onGitHub ?? localPullRequests;
  const run = { agent, sandbox, network, limits, timeLimitMs, largestChangeBytes };
  const ports = { store, repository, worktrees, pullRequests, folder, ...run };
  const copier = copies && new JobCopier({ copies, store, folder, log });
  const jobs = new Jobs({ store, repositoryName, model: agent.model, copier });
  const worker = new Worker({ ...ports, agents, copier, signal, log });
  const stateOf = (pull: LocalPullRequest) => localPullRequests.stateAtLastFetch(pull, pull.target);
  const pages = new Pages({ store, repository, repositoryName, stateOf, apiKey, ...links, log });
  const api = createApi({ engine: jobs, apiKey, projects, log });

  let server: LoopbackServer | undefined;
  try {
    const identity = repositoryIdentity(repositoryName);
    if (!options.isRepositoryMoved) await checkRepository(store, identity);
    await onGitHub?.checkToken();
    await repository.open();
    if ((await store.repository()) !== identity) await store.setRepository(identity);
    await mkdir(jobsFolder(folder), { recursive: true });
    server = await listen(checkHost(publicUrl, pages.serve(api)), options.port, { log });
    baseUrl = server.url;
    await worker.start();
  } catch (error) {
    await server?.[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    throw error;
  }
  const rounds = [
    new Archiver({ store, pullRequests, afterDays: options.archiveAfterDays, signal, log }),
    new Retention({
      store,
      folder,
      forgetJobs: (ids) => repository.forgetJobs(ids),
      afterDays: options.deleteAfterDays,
      startAfterMs: Math.min(hourMs, Math.floor((options.deleteAfterDays ?? 1) * dayMs)),
      signal,
      log,
    }),
  ];
  const isNeeded = async ({ tree }: WorktreePlace) => {
    const job = await store.job(basename(dirname(tree)));
    return job !== undefined && job.archivedAt === null;
  };
  const inBackground = Promise.all([
    runRounds(rounds, signal, log),
    tidy(folder, store, worktrees, signal, log).then(() => keepUp({ repository, worktrees, isNeeded, signal, log })),
  ]);
  return {
    ...server,
    createSignInLink: (path) => pages.createSignInLink(path),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await server[Symbol.asyncDispose]();
      await worker.drain();
      await inBackground;
      await store[Symbol.asyncDispose]();
    },
  };
}

/** Returns whether a path, whose folder exists, is another one or within it. */
function isWithin(path: string, other: string): boolean {
  if (!existsSync(other)) return false;
  const real = join(realpathSync(dirname(path)), basename(path));
  return `${real}/`.startsWith(`${realpathSync(other).replace(/\/$/, "")}/`);
}

async function tidy(
  folder: string,
  store: Store,
  worktrees: Worktrees,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<void> {
  try {
    // Another store may have been put in place of theirs.
    const isNew = (await store.counts()).jobs === 0;
    const isJob = async (id: string) => isNew || (await store.job(id)) !== undefined;
    const { removed, withWorktree } = await tidyJobDirectories(folder, isJob, signal);
    if (removed > 0) log(`Removed the directories of jobs that are not in the store: ${removed}.`);
    if (!signal.aborted) await worktrees.adopt(withWorktree);
  } catch (error) {
    log(`Cannot remove what an earlier service left in ${folder}: ${errorMessage(error)}`);
  }
}
