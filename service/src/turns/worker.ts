import { errorMessage, errorStack } from "../error-message.ts";
import type { Log } from "../log/log.ts";
import { withLogContext } from "../log/log-context.ts";
import { OutageLog } from "../log/outage-log.ts";
import { type Machine, thisMachine } from "../machine.ts";
import { noMetrics } from "../metrics/metrics.ts";
import type { RunningTurn, TurnResult } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import { jobLogFile } from "../service-folder.ts";
import type { JobCopier } from "../store/job-copier.ts";
import { LeaseLost, StoreUnavailable } from "../store-errors.ts";
import { type KeptLease, keepLease } from "./keep-lease.ts";
import { LogShipper } from "./log-shipper.ts";
import { oneLine } from "./one-line.ts";
import { Postponements } from "./postponements.ts";
import { watchStopRequest } from "./stop-request.ts";
import { runTurn } from "./turn.ts";
import { turnLimits } from "./turn-limits.ts";
import { turnName } from "./turn-name.ts";
import type { Failure, TurnPorts } from "./turn-ports.ts";

/** What the turns of a project depend on. */
export interface ProjectPorts
  extends Pick<
    TurnPorts,
    | "repository"
    | "worktrees"
    | "pullRequests"
    | "targetBranch"
    | "committers"
    | "agent"
    | "sandbox"
    | "network"
    | "limits"
    | "timeLimitMs"
    | "largestChangeBytes"
    | "protectedFiles"
    | "moreProtected"
    | "only"
    | "commands"
  > {
  /** How many turns of the project run at a time, over all workers. Default: any number. */
  agentsPerProject?: number | undefined;
}

export interface WorkerOptions
  extends Omit<TurnPorts, keyof ProjectPorts | "stop" | "onFailure" | "onAgentEnd" | "onChecked"> {
  /** Turns of other projects are left to workers that know these. */
  projects: PerProject<ProjectPorts>;
  /** Returns those whose turns may be taken now; `undefined` if that is all. Default: all. */
  ownProjects?: (() => Promise<readonly string[] | undefined>) | undefined;
  /**
   * Called when a turn of a project waits because the repository's host cannot be reached, with how long that lasts in milliseconds if the
   * host has said so. Default: does nothing.
   */
  onOutage?: ((project: string, reason: string, waitMs: number | undefined) => void) | undefined;
  /** How many agents run at a time. */
  agents: number;
  /** Stops the running agents. Their turns are requeued. */
  signal: AbortSignal;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  log: Log;
}

/** A turn that was taken. */
interface Run {
  turn: RunningTurn;
  /** As in the log. */
  name: string;
  /** Whether it was taken before, and postponed. */
  wasPostponed: boolean;
  /** What `Postponements` returned for its start. */
  position: number;
  /** Called when another worker turns out to have taken it over. */
  lose: () => void;
  /** Default: its log is only a file. */
  shipper: LogShipper | undefined;
}

/** How a turn was run. */
interface RunEnd {
  result: TurnResult;
  /** Why it failed or was postponed, if that is known. */
  failure?: Failure | undefined;
  /** Whether its agent has run to its end. */
  hasRun: boolean;
}

/** The pauses before the store is written again after it could not be. They double from the first to the last one. */
const firstPauseMs = 1000;
const lastPauseMs = 30_000;
/** How often the end of a turn waits for its log. With the pauses, this takes three minutes. */
const maxLogWaits = 10;
/** Longer than any answer of a store takes, or than a store that does not answer is waited for. */
const stuckMs = 120_000;

/**
 * Runs the turns of jobs, with agents that change a repository. No job stays active forever, even if the worker is killed, the
 * store cannot be written for a while, or the machine cannot start processes.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Set<Promise<void>>();
  /** The last run of each job that has one. */
  readonly #runs = new Map<string, { lease: KeptLease; ended: Promise<void> }>();
  readonly #postponements: Postponements;
  readonly #startOutage: OutageLog;
  readonly #machine: Machine;
  #isClosed = false;
  #isWaitingForStore = false;
  /** Whether a turn may have become ready since turns were taken last. */
  #isWanted = false;
  #taking: Promise<void> | undefined;
  /** When the store was asked for a turn that it has not answered yet. */
  #askedAt: number | undefined;
  /** How many pauses after postponed turns have not ended. */
  #gaps = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#machine = options.machine ?? thisMachine;
    this.#postponements = new Postponements(options.log, this.#machine);
    this.#startOutage = new OutageLog(options.log);
  }

  /** Starts processing turns, first those that a previous service left unfinished. */
  async start(): Promise<void> {
    const { store, log } = this.#options;
    const interrupted = await store.runningTurns.requeueInterrupted();
    const { jobs, waitingTurns } = await store.counts.total();
    log(`Jobs in the store: ${jobs}. Waiting turns: ${waitingTurns}, interrupted earlier: ${interrupted.length}.`);
    for (const { id, job } of interrupted) log(`${job}: ${turnName(id)} was interrupted earlier, resuming`);
    store.onReady(() => this.#startTurns());
    this.#options.metrics?.workerTakes(this.#options.agents);
    this.#startTurns();
  }

  /** Whether the store does not answer when it is asked for a turn, not even with an error. */
  get isStuck(): boolean {
    return this.#askedAt !== undefined && this.#machine.now() - this.#askedAt > stuckMs;
  }

  /** Whether no turn could be taken or run when that was tried last, although the store can be used. */
  get isFailing(): boolean {
    return this.#startOutage.isOut || this.#postponements.isOut;
  }

  /** Looks for turns, because more of them may be taken than before. */
  wake(): void {
    this.#startTurns();
  }

  /** Starts no more turns. */
  close(): void {
    this.#isClosed = true;
    this.#options.metrics?.workerTakes(0);
  }

  /** Waits until no turn is running and all copies are saved. New turns start unless it is closed or the signal has aborted. */
  async drain(): Promise<void> {
    while (this.#taking !== undefined || this.#running.size > 0) {
      await this.#taking;
      await Promise.all(this.#running);
    }
    await this.#options.copier?.settle();
  }

  /** Tries the store until it can be written, so that its log says so, then starts turns, even if nobody else uses the store meanwhile. */
  async waitForStore(): Promise<void> {
    if (this.#isWaitingForStore) return;
    this.#isWaitingForStore = true;
    // It outlives the request that found the store unusable.
    await withLogContext({}, () => this.#tryStore());
  }

  async #tryStore(): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      if (!(await this.#pause(pauseMs))) return;
      try {
        await this.#options.store.probe();
        break;
      } catch {
        // Not yet. The store has logged the beginning of the outage, and logs its end.
      }
    }
    this.#isWaitingForStore = false;
    this.#startTurns();
  }

  #startTurns(): void {
    this.#isWanted = true;
    // Without the context of the request that made a turn ready: this takes turns of any job.
    this.#taking ??= withLogContext({}, () => this.#takeTurns()).finally(() => {
      this.#taking = undefined;
      // One may have become ready after the last look.
      if (this.#isWanted && !this.#isWaitingForStore && this.#canStart()) this.#startTurns();
    });
  }

  #canStart(): boolean {
    const { agents, signal } = this.#options;
    return this.#running.size < agents && this.#gaps === 0 && !this.#isClosed && !signal.aborted;
  }

  /** Takes turns while there are any and agents are free. Never rejects. */
  async #takeTurns(): Promise<void> {
    const { store, projects, ownProjects } = this.#options;
    try {
      while (this.#isWanted && this.#canStart()) {
        this.#isWanted = false;
        this.#askedAt = this.#machine.now();
        const turn = await store.runningTurns.startNext(
          () => turnLimits(projects, ownProjects),
          this.#machine.wallTime(),
        );
        this.#startOutage.end("Turns can be started again.");
        if (turn === undefined) continue;
        this.#isWanted = true;
        const running = withLogContext({ request: turn.request, job: turn.job, turn: turn.id }, () =>
          this.#process(turn),
        ).finally(() => {
          this.#running.delete(running);
          this.#startTurns();
        });
        this.#running.add(running);
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.#startOutage.begin(`No turn can be started, trying again: ${errorStack(error)}`);
      void this.waitForStore();
    } finally {
      this.#askedAt = undefined;
    }
  }

  /** Runs a turn, after an earlier run of its job has ended. Never rejects. */
  async #process(turn: RunningTurn): Promise<void> {
    const { store, signal } = this.#options;
    const lease = keepLease(turn, store.runningTurns, signal, this.#machine);
    const earlier = this.#runs.get(turn.job);
    // It lost its turn, perhaps while this machine was asleep, and may not know yet. Both use the job's directory.
    earlier?.lease.lose();
    const ended = (earlier?.ended ?? Promise.resolve()).then(() => this.#runAndStore(turn, lease));
    const run = { lease, ended };
    this.#runs.set(turn.job, run);
    await ended;
    if (this.#runs.get(turn.job) === run) this.#runs.delete(turn.job);
  }

  /** Runs a turn, and stores how it ended or that it was postponed. Never rejects. */
  async #runAndStore(turn: RunningTurn, lease: KeptLease): Promise<void> {
    const { store, copier, folder, secrets, log, metrics = noMetrics } = this.#options;
    const name = `${turn.job}: ${turnName(turn.id)}`;
    if (turn.isResumed) log(`${name} was interrupted on another worker, resuming`);
    // Once, however often it is tried.
    const wasPostponed = this.#postponements.has(turn.id);
    if (!wasPostponed) log(`${name} started`);
    const position = this.#postponements.start();
    const onEnd = metrics.turnStarted();
    const { logs } = store;
    const shipper = logs && new LogShipper({ turn, file: jobLogFile(folder, turn.job), logs, secrets, log });
    const end = await this.#run(turn, lease.signal);
    const { result } = end;
    onEnd(lease.isLost ? "taken-over" : result);
    // Not `lease.isLost` at the end: the next turn of the job may have been taken here as soon as the end of this one was stored.
    let isLost = lease.isLost;
    const lose = (): void => {
      isLost = true;
    };
    if (result === "taken-over") lose();
    else if (!isLost) await this.#end({ turn, name, wasPostponed, position, lose, shipper }, { ...end, result });
    if (isLost)
      log(`${name} was taken over by another worker, because its lease had expired; nothing more is stored of it here`);
    shipper?.[Symbol.dispose]();
    lease[Symbol.dispose]();
    if (!isLost && result !== "postponed") copier?.save(turn.job);
  }

  async #end(
    run: Run,
    { result, failure, hasRun }: RunEnd & { result: Exclude<TurnResult, "taken-over"> },
  ): Promise<void> {
    const { reason, kept } = failure ?? {};
    const { store, log } = this.#options;
    const { turn, name, wasPostponed, position, lose, shipper } = run;
    let waits = 0;
    const persist = (change: () => Promise<void>): Promise<boolean> =>
      this.#persist(name, lose, async () => {
        // The store can be back just after this has failed. Without an end, a log that cannot be stored would keep its turn open.
        if ((await shipper?.flush()) === false && ++waits <= maxLogWaits)
          throw new StoreUnavailable("the end of the log is not stored yet");
        await change();
      });
    const endedAt = this.#machine.wallTime();
    const isForRemote = result === "postponed" && failure?.isRemote === true;
    const remotePauseMs = isForRemote ? this.#postponements.postponeForRemote(turn.id, failure?.waitMs) : undefined;
    if (isForRemote && remotePauseMs === undefined) {
      const late = `The repository's host could not be reached for an hour, or its rate limit for a day. ${reason}`;
      return this.#end(run, { result: "failed", failure: { reason: late, kept }, hasRun });
    }
    if (!wasPostponed || result !== "postponed")
      log(
        `${name} ${result}${reason === undefined ? "" : `: ${oneLine(reason)}`}`,
        result === "failed" ? "warn" : "info",
      );
    if (result === "postponed") {
      const pauseMs = remotePauseMs ?? this.#postponements.postpone(turn.id, reason ?? "unknown reason");
      if (remotePauseMs === undefined) void this.#leaveGap();
      if (await persist(() => store.runningTurns.requeue(turn, pauseMs, hasRun))) void this.#resumeLater(turn, pauseMs);
      return;
    }
    this.#postponements.end(turn.id, position);
    let hasEnded = true;
    await persist(async () => {
      if (result === "stopped") await store.runningTurns.requeue(turn, 0, hasRun);
      else hasEnded = await store.runningTurns.finish(turn, result, endedAt, failure);
    });
    if (!hasEnded) log(`${name}: the database has lost the page of its pull request, which is opened again`, "warn");
  }

  /** Runs a turn. Returns why it failed or was postponed, if that is known. Never rejects. */
  async #run(turn: RunningTurn, signal: AbortSignal): Promise<RunEnd> {
    const { store, projects, copier, log } = this.#options;
    let failure: Failure | undefined;
    let hasRun = false;
    const onAgentEnd = (): void => {
      hasRun = true;
    };
    const onFailure = (found: Failure): void => {
      failure = found;
    };
    try {
      const job = await store.jobs.find(turn.job);
      if (!job) throw new Error("the store does not have the job of this turn");
      const project = projects.get(job.project);
      if (project === undefined) throw new Error(`the project ${job.project} is not configured`);
      using stop = watchStopRequest(turn, store, this.#machine);
      // A runner can be lost before the turn ends.
      const onChecked = () => copier?.save(turn.job);
      const own = { stop: stop.signal, onFailure, onAgentEnd, onChecked };
      const result = await runTurn(turn, job, { ...this.#options, ...project, ...own }, signal);
      const { isRemote, reason = "", waitMs } = failure ?? ({} as Partial<Failure>);
      if (result === "postponed" && isRemote) this.#options.onOutage?.(job.project, reason, waitMs);
      return { result, failure: result === "failed" || result === "postponed" ? failure : undefined, hasRun };
    } catch (error) {
      if (signal.aborted) return { result: signal.reason instanceof LeaseLost ? "taken-over" : "stopped", hasRun };
      if (error instanceof StoreUnavailable) return { result: "postponed", failure: { reason: error.message }, hasRun };
      log(`${turn.job}: ${errorStack(error)}`, "error");
      return { result: "failed", failure: { reason: errorMessage(error) }, hasRun };
    }
  }

  /**
   * Stores a change of a turn, however long that takes.
   *
   * @returns `false` if the service stops before, or another worker has taken the turn over
   */
  async #persist(name: string, lose: (() => void) | undefined, change: () => Promise<void>): Promise<boolean> {
    const { log } = this.#options;
    for (let pauseMs = firstPauseMs, isFirst = true; ; pauseMs *= 2, isFirst = false) {
      try {
        await change();
        return true;
      } catch (error) {
        if (error instanceof LeaseLost) {
          lose?.();
          return false;
        }
        const reason = error instanceof StoreUnavailable ? "" : `: ${errorStack(error)}`;
        if (isFirst) log(`${name}: its state cannot be stored yet, trying again${reason}`, "warn");
      }
      if (await this.#pause(pauseMs)) continue;
      log(`${name}: its state could not be stored before the service stopped, so the next service resumes the turn`);
      return false;
    }
  }

  async #resumeLater(turn: RunningTurn, pauseMs: number): Promise<void> {
    if (!(await this.#pause(pauseMs, Number.POSITIVE_INFINITY))) return;
    await this.#persist(`${turn.job}: ${turnName(turn.id)}`, undefined, () =>
      this.#options.store.runningTurns.resume(turn),
    );
    this.#startTurns();
  }

  /** Starts no turn for a moment after one was postponed. */
  async #leaveGap(): Promise<void> {
    this.#gaps++;
    await this.#pause(this.#postponements.gapMs);
    this.#gaps--;
    this.#startTurns();
  }

  /** Returns `false` if the service stops before the time is over. */
  async #pause(ms: number, maxMs = lastPauseMs): Promise<boolean> {
    const { signal } = this.#options;
    await this.#machine.sleep(Math.min(ms, maxMs), signal);
    return !signal.aborted;
  }
}
