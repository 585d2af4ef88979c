import { temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { shellAgent } from "../../src/agents/agent.ts";
import { fullNetwork } from "../../src/agents/network/agent-network.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import type { Start } from "../../src/git/find-start.ts";
import { GitRepository } from "../../src/git/git-repository.ts";
import { Worktrees } from "../../src/git/worktrees.ts";
import type { Log } from "../../src/log/log.ts";
import { thisMachine } from "../../src/machine.ts";
import type { Metrics } from "../../src/metrics/metrics.ts";
import { PerProject } from "../../src/per-project.ts";
import { turnTrailers } from "../../src/pulls/turn-trailers.ts";
import { JobCopier } from "../../src/store/job-copier.ts";
import type { JobCopies } from "../../src/store/job-copies.ts";
import type { KeptCommits } from "../../src/store/kept-commits.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { TurnHost } from "../../src/turns/turn-host.ts";
import type { ProjectPorts } from "../../src/turns/turn-ports.ts";
import { Worker } from "../../src/turns/worker.ts";

interface WaitingCheckout {
  fail: (error: Error) => void;
  succeed: () => void;
}

/** A repository whose checkouts wait for the test. */
class WaitingRepository extends GitRepository {
  readonly #store: Store;
  /** The last checkout of each branch. */
  readonly waiting = new Map<string, WaitingCheckout>();

  constructor(store: Store, folder: string) {
    super({ url: "/nowhere", folder });
    this.#store = store;
  }

  override findStart(branch: string): Promise<Start> {
    const start = { branch, head: "222", targetBranch: "main", base: "111", remoteHead: "333", notes: [] };
    return new Promise((resolve, fail) => {
      const succeed = () => resolve({ ...start, isContinued: true });
      this.waiting.set(branch, { fail, succeed });
    });
  }

  override async lastCommitOf(): Promise<undefined> {}

  override async changedFiles(): Promise<[]> {
    return [];
  }

  /** Says that the turn's commit was pushed earlier, below one of a person, so that no agent runs. */
  override async commits(): Promise<{ commit: string; message: string }[]> {
    const turns = await Promise.all(["a", "b", "c"].map((job) => this.#store.turns.ofJob(job)));
    return turns.flat().map((turn) => ({ commit: "222", message: `Fix\n\n${turnTrailers(turn).join("\n")}\n` }));
  }
}

/** Lets a millisecond pass. */
export const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

/** Pauses of the worker, which end when the test says so. */
class Sleeps {
  readonly #waiting: { ms: number; end: () => void }[] = [];

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      signal?.addEventListener("abort", () => resolve());
      this.#waiting.push({ ms, end: resolve });
    });

  /** Returns the times of the pauses that are going on and that no test has taken. */
  times(): number[] {
    return this.#waiting.map(({ ms }) => ms);
  }

  /** Waits until the worker pauses for each of these times, and returns what ends the pauses. */
  async nextOf(...times: number[]): Promise<(() => void)[]> {
    const ends: (() => void)[] = [];
    // One after another, so that pauses of the same length keep the order in which they began.
    for (const ms of times) ends.push(await this.next(ms));
    return ends;
  }

  next(ms: number): Promise<() => void> {
    return waitUntil(() => {
      const index = this.#waiting.findIndex((one) => one.ms === ms);
      const [found] = index < 0 ? [] : this.#waiting.splice(index, 1);
      return found?.end;
    });
  }
}

export interface WorkerSetup {
  /** Default: 2. */
  agents?: number;
  /** Default: any number. */
  agentsPerProject?: number;
  /** Returns the projects that the worker knows. Default: any. */
  projects?: (ports: ProjectPorts) => PerProject<ProjectPorts>;
  /** Default: all that it knows. */
  ownProjects?: () => Promise<readonly string[] | undefined>;
  /** Default: a new one in memory. */
  store?: Store;
  /** Receives the lines of the worker. */
  log?: string[];
  /** Receives the lines of the worker, with their levels, while they are logged. */
  onLine?: Log;
  /** Default: nothing is counted. */
  metrics?: Metrics;
  /** The machine's monotonic clock. Default: the real one. */
  now?: () => number;
  /** Default: jobs are only in the store. */
  copies?: JobCopies;
  /** Default: the disk and the processes of this machine. */
  host?: TurnHost;
  /** Default: the repository's clone. */
  keptCommits?: KeptCommits;
}

/** Creates a worker for turns whose checkouts and pauses end when the test says so. No agent runs, unless the test changes the repository. */
export function setUpWorker({
  agents = 2,
  agentsPerProject,
  projects = PerProject.same,
  ownProjects,
  store = openSqliteStore(":memory:"),
  log = [],
  onLine = () => {},
  copies,
  metrics,
  host,
  keptCommits,
  now = thisMachine.now,
}: WorkerSetup = {}) {
  const folder = temporaryFolder();
  const stop = new AbortController();
  const sleeps = new Sleeps();
  const repository = new WaitingRepository(store, folder);
  const ports: ProjectPorts = {
    repository,
    worktrees: new Worktrees({ repository, folder, kept: 0, slowCheckoutMs: 0 }),
    pullRequests: {
      open: async ({ branch }) => `https://example.com/${branch}`,
      read: async () => ({ state: "open", target: undefined }),
      findClosed: async () => new Set(),
    },
    agent: { ...shellAgent(""), model: "large" },
    sandbox: unconfined,
    network: fullNetwork,
    limits: {},
    largestChangeBytes: 1_000_000,
    timeLimitMs: 1000,
    agentsPerProject,
  };
  const worker = new Worker({
    store,
    projects: projects(ports),
    ownProjects,
    folder,
    agents,
    copier: copies && new JobCopier({ copies, store, folder, log: (line) => void log.push(line) }),
    signal: stop.signal,
    log: (line, level) => {
      log.push(line);
      onLine(line, level);
    },
    machine: { ...thisMachine, now, sleep: sleeps.sleep },
    metrics,
    keptCommits,
    ...(host && { host }),
  });
  /** Waits until a job's branch is being checked out. */
  const checkoutOf = async (job: string): Promise<WaitingCheckout> => {
    const checkout = await waitUntil(() => repository.waiting.get(`agent/${job}`));
    repository.waiting.delete(`agent/${job}`);
    return checkout;
  };
  const addJobs = async (...ids: string[]) => {
    for (const id of ids) await store.jobs.add({ id, project: "docs", createdAt: 0 }, "Go on");
  };
  return { store, worker, repository, stop, log, sleeps, folder, checkoutOf, addJobs };
}
