import { existsSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Agent } from "./agents/agent.ts";
import { checkPrograms } from "./agents/check-programs.ts";
import type { Limits } from "./agents/limits.ts";
import { type AgentNetwork, fullNetwork } from "./agents/network/agent-network.ts";
import type { Sandbox } from "./agents/sandbox/sandbox.ts";
import type { Backend } from "./backend.ts";
import { errorMessage } from "./error-message.ts";
import { keepUp } from "./git/upkeep.ts";
import type { WorktreePlace } from "./git/worktree.ts";
import { Worktrees } from "./git/worktrees.ts";
import { Archiver } from "./jobs/archiver.ts";
import { dayMs } from "./jobs/days.ts";
import type { JobCopier } from "./jobs/job-copier.ts";
import { jobsFolder } from "./jobs/job-directory.ts";
import { Retention } from "./jobs/retention.ts";
import { runRounds } from "./jobs/rounds.ts";
import { tidyJobDirectories } from "./jobs/tidy-job-directories.ts";
import { UnknownJobs } from "./jobs/unknown-jobs.ts";
import { Worker } from "./jobs/worker.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { hourMs } from "./store/hourly-limit.ts";
import type { Store } from "./store/store.ts";

export interface WorkerOptions {
  agent: Agent;
  /** Where agents run. */
  sandbox: Sandbox;
  /** Default: that of the machine. */
  network?: AgentNetwork | undefined;
  /** Per job. Default: none. */
  limits?: Limits | undefined;
  /** A folder of the service, for worktrees, homes and logs. */
  folder: string;
  /** How many agents run at a time. */
  agents: number;
  /** How many turns of one project run at a time, over all workers on the store. Default: any number. */
  agentsPerProject?: number | undefined;
  /** Per attempt. */
  timeLimitMs: number;
  /** A turn that changes files of more than this together fails. */
  largestChangeBytes: number;
  /** How many jobs keep their worktree for their next turn. Default: 5. Always 0 if agents are neither confined nor trusted. */
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

/** A worker with what it does in the background. Disposing of it waits until that has ended, after its signal has aborted. */
export interface RunningWorker extends AsyncDisposable {
  /** Starts no more turns, and waits until none is running. */
  finish(): Promise<void>;
  /** Whether it does not get on, not because of an outage that the store reports. */
  readonly isStuck: boolean;
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
  const { store, repository, pullRequests } = backend;
  const { folder, agent, sandbox, network = fullNetwork, limits = {}, signal, log } = options;
  // An agent without a sandbox could change the worktrees of other jobs.
  const canKeep = sandbox.isConfining || agent.isTrusted;
  const kept = canKeep ? (options.keptWorktrees ?? defaultKeptWorktrees) : 0;
  const worktrees = new Worktrees({ repository, folder, kept, slowCheckoutMs });
  await mkdir(jobsFolder(folder), { recursive: true });
  const worker = new Worker({
    ...options,
    store,
    repository,
    worktrees,
    pullRequests,
    homes: store.homes,
    network,
    limits,
  });
  await worker.start();
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
  // What is only on this machine is not left to whoever is first.
  const ownRounds = store.homes === undefined ? [] : [new UnknownJobs({ store, folder, repository, signal })];
  const isNeeded = async ({ tree }: WorktreePlace) => {
    const job = await store.job(basename(dirname(tree)));
    return job !== undefined && job.archivedAt === null;
  };
  const inBackground = Promise.all([
    runRounds(rounds, store, signal, log),
    runRounds(ownRounds, undefined, signal, log),
    tidy(folder, store, worktrees, signal, log).then(() => keepUp({ repository, worktrees, isNeeded, signal, log })),
  ]);
  return {
    get isStuck() {
      return worker.isStuck;
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
