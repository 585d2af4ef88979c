import { order, type Timeline } from "../../../test/simulation/timeline.ts";
import { fullNetwork } from "../../src/agents/network/agent-network.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import { Jobs } from "../../src/jobs/jobs.ts";
import { PerProject } from "../../src/per-project.ts";
import { GitHubError } from "../../src/pulls/github/github-error.ts";
import { LocalPullRequests } from "../../src/pulls/local.ts";
import type { PullRequests } from "../../src/pulls/pull-requests.ts";
import { Store } from "../../src/store/store.ts";
import { countTurnIds, type NextTurnId } from "../../src/store/turn-ids.ts";
import { Worker } from "../../src/turns/worker.ts";
import { Archiver } from "../../src/upkeep/archiver.ts";
import { BranchCleaner } from "../../src/upkeep/branch-cleaner.ts";
import { runRounds } from "../../src/upkeep/rounds.ts";
import { AgentHost, type AgentRun } from "./agents.ts";
import type { Audit } from "./audit.ts";
import { emptyClone, SimulatedRepository } from "./clone.ts";
import { DatabaseClient, type DatabaseServer, SimulatedKeptCommits } from "./database.ts";
import type { Draws } from "./draws.ts";
import type { Faults } from "./faults.ts";
import { databaseTime, LeasedTurns, SimulatedChanges } from "./leased-turns.ts";
import { MachineProcess } from "./machine-process.ts";
import { GitNetwork, type Landings, StoreNetwork } from "./network.ts";
import type { Notifications } from "./notifications.ts";
import type { Remote } from "./remote.ts";
import type { Fault, Scenario } from "./scenario.ts";

/** What all machines share. */
export interface World {
  scenario: Scenario;
  timeline: Timeline;
  faults: Faults;
  draws: Draws;
  server: DatabaseServer;
  /** Tells of turns that have become ready. */
  notifications: Notifications;
  /** Tells of jobs that have changed. */
  changes: Notifications;
  remote: Remote;
  landings: Landings;
  audit: Audit;
  runs: AgentRun[];
  /** Of the processes. */
  log: string[];
  /** Of all jobs. */
  jobLog: string[];
  /** Lets a machine continue whose pause has ended early. */
  wake: (fault: Fault) => void;
}

/** How long a process that could not start waits until it is started again. */
const restartMs = 2000;

/** Ids start again after the store has lost turns. Those of turns from before the history are negative. */
const nextTurnId: NextTurnId = async (transaction) => Math.max(1, await countTurnIds(transaction));

/** Jobs are archived when they have been idle for so long: 2 minutes. */
const archiveAfterDays = 2 / 1440;

/** A machine with one process of the service, which is started again after each of its ends. */
export abstract class Machine {
  readonly name: string;
  protected readonly world: World;
  readonly number: number;
  #process: MachineProcess | undefined;

  constructor(world: World, number: number) {
    this.world = world;
    this.number = number;
    this.name = `machine ${number}`;
    const { faults, timeline } = world;
    for (const kind of ["kill", "stop", "drain"] as const)
      for (const { at, ms } of faults.on(number, kind).filter(({ step }) => step === undefined))
        timeline.at(at, order.timer, () => {
          if (kind === "kill") this.kill(ms);
          else this.stop(kind === "drain", ms);
        });
  }

  get process(): MachineProcess {
    if (this.#process === undefined) throw new Error(`${this.name} was not started`);
    return this.#process;
  }

  /** Starts a process, unless one is running. */
  start(): void {
    if (this.#process?.isAlive) return;
    const { timeline, faults, scenario, server, draws, notifications, changes } = this.world;
    const process = new MachineProcess({
      timeline,
      onStep: () => this.#step(),
      pauses: faults.on(this.number, "pause"),
      clockOffset: () => faults.clockOffset(this.number, timeline.now),
    });
    this.#process = process;
    const network = new StoreNetwork({ timeline, process, machine: this.number, faults, draws }, scenario.storeLoss);
    const client = new DatabaseClient(server, process, network);
    const told = new SimulatedChanges(process, notifications, changes);
    const ready = new LeasedTurns({ timeline, client, process, changes: told, turns: notifications });
    const clock = () => String(databaseTime(timeline));
    const keptCommits = new SimulatedKeptCommits(client);
    const options = { database: client, ready, nextTurnId, clock, keptCommits, changes: told };
    this.boot(process, new Store(options));
  }

  /** Begins the faults that wait for this step. */
  #step(): void {
    const { faults, timeline, wake } = this.world;
    const { begun, ended } = faults.step(this.number, timeline.now);
    for (const { kind, ms } of begun) if (kind === "kill") this.kill(ms);
    for (const fault of ended) wake(fault);
  }

  /** Ends the process at once. */
  kill(restartAfterMs: number): void {
    this.process.kill();
    const { timeline } = this.world;
    timeline.at(timeline.now + restartAfterMs, order.timer, () => this.start());
  }

  abstract stop(isDrained: boolean, restartAfterMs: number): void;
  protected abstract boot(process: MachineProcess, store: Store): void;

  protected readonly log = (line: string): void => {
    this.world.log.push(`${this.world.timeline.now} ${this.name}: ${line}`);
  };
}

/** A machine that only accepts creates and messages. */
export class ApiMachine extends Machine {
  #jobs: Jobs | undefined;

  get jobs(): Jobs {
    if (this.#jobs === undefined) throw new Error(`${this.name} was not started`);
    return this.#jobs;
  }

  override stop(_isDrained: boolean, restartAfterMs: number): void {
    this.kill(restartAfterMs);
  }

  protected override boot(process: MachineProcess, store: Store): void {
    this.#jobs = new Jobs({
      store,
      projects: PerProject.same({ repositoryName: "docs", model: "editor" }),
      machine: process,
    });
  }
}

/** A machine that runs turns, archives jobs, and cleans branches. */
export class WorkerMachine extends Machine {
  readonly clone = emptyClone();
  #worker: Worker | undefined;
  #stop = new AbortController();
  #cleanBranches = async (): Promise<void> => {};

  /** Stops running agents, or waits for them; then the process ends. */
  override stop(isDrained: boolean, restartAfterMs: number): void {
    const { process } = this;
    process.stoppedAt ??= this.world.timeline.now;
    const stop = this.#stop;
    if (isDrained) this.#worker?.close();
    else stop.abort();
    void this.#worker?.drain().then(() => {
      stop.abort();
      if (process.isAlive) this.kill(restartAfterMs);
    });
  }

  /** Removes what does not count from the branches of all jobs, as it does each hour. */
  cleanBranches(): Promise<void> {
    return this.#cleanBranches();
  }

  protected override boot(process: MachineProcess, store: Store): void {
    const { timeline, faults, draws, scenario, remote, landings, runs, audit, jobLog } = this.world;
    const { log, number: machine, clone } = this;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const network = new GitNetwork({ timeline, process, machine, faults, draws }, landings, signal);
    const repository = new SimulatedRepository(clone, remote, network);
    const pullRequests = new LocalPullRequests({
      store: store.pullRequests,
      repository,
      baseUrl: () => "http://127.0.0.1",
      signal,
      log,
    });
    const { open } = pullRequests;
    pullRequests.open = async (change) => {
      if (change.existing === null && faults.refuses("refuse-pull", timeline.now))
        throw new GitHubError("GitHub Actions is not permitted to create or approve pull requests.", 403);
      return open.call(pullRequests, change);
    };
    const host = new AgentHost({
      timeline,
      process,
      draws,
      clone,
      requests: scenario.requests,
      noSpace: faults.on(machine, "no-space"),
      onLog: (line) => jobLog.push(line),
      onEnd: () => faults.agentEnded(machine, timeline.now),
      onRun: (run) => {
        const before = runs.filter((one) => one.prompt === run.prompt).length;
        runs.push(run);
        audit.onRun(run.request, run.isAfterPause);
        return before;
      },
    });
    const worker = new Worker({
      agents: scenario.agents,
      store,
      keptCommits: store.keptCommits,
      projects: PerProject.same({
        agentsPerProject: scenario.agentsPerProject,
        repository,
        pullRequests,
        agent: host.agent,
        worktrees: host.worktrees,
        sandbox: unconfined,
        network: fullNetwork,
        limits: {},
        timeLimitMs: 3_600_000,
        largestChangeBytes: 1_000_000,
      }),
      machine: process,
      host,
      folder: "/simulated",
      signal,
      log,
    });
    this.#worker = worker;
    worker.start().catch(() => this.kill(restartMs));
    const archiver = new Archiver({
      store,
      pullRequests: PerProject.same<PullRequests>(pullRequests),
      afterDays: archiveAfterDays,
      signal,
      log,
    });
    const createCleaner = () =>
      new BranchCleaner({ store, projects: PerProject.same({ repository, pullRequests }), signal, log });
    this.#cleanBranches = () => createCleaner().run(process.wallTime());
    void runRounds([archiver, createCleaner()], store, signal, log, process);
  }
}
