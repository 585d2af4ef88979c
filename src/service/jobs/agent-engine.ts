import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { errorMessage, errorStack } from "../error-message.ts";
import { type Engine, type JobRecord, type RateLimited, StoreUnavailable } from "./engine.ts";
import type { JobCopier } from "./job-copier.ts";
import { jobBranch } from "./job-files.ts";
import { oneLine } from "./one-line.ts";
import { OutageLog } from "./outage-log.ts";
import { Postponements } from "./postponements.ts";
import { steadyClock } from "./steady-clock.ts";
import type { Turn } from "./store.ts";
import { runTurn, type TurnPorts, type TurnResult } from "./turn.ts";

export interface AgentEngineOptions extends TurnPorts {
  /** Shown as `source.repository` in job records. */
  repositoryName: string;
  /** How many agents run at a time. */
  agents: number;
  /** Stops the running agents. The next service on the same store resumes their turns. */
  signal: AbortSignal;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  log: (line: string) => void;
  /** Waits; rejects when `signal` aborts. Default: a timer. */
  sleep?: (ms: number, options: { signal: AbortSignal }) => Promise<void>;
}

/** The pauses before the store is written again after it could not be. They double from the first to the last one. */
const firstPauseMs = 1000;
const lastPauseMs = 30_000;

/**
 * Runs jobs with agents that change a repository. No job stays active forever, even if the service is killed, the store cannot
 * be written for a while, or the machine cannot start processes.
 */
export class AgentEngine implements Engine {
  readonly #options: AgentEngineOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #postponements: Postponements;
  readonly #startOutage: OutageLog;
  readonly #now = steadyClock();
  #isWaitingForStore = false;
  /** How many pauses after postponed turns are going on. */
  #gaps = 0;

  constructor(options: AgentEngineOptions) {
    this.#options = options;
    this.#postponements = new Postponements(options.log);
    this.#startOutage = new OutageLog(options.log);
  }

  /** Starts processing turns, first those that a previous service left unfinished. */
  start(): void {
    const { store, log } = this.#options;
    const interrupted = store.requeueInterruptedTurns();
    const { jobs, waitingTurns } = store.counts();
    log(`Jobs in the store: ${jobs}. Waiting turns: ${waitingTurns}, interrupted earlier: ${interrupted.length}.`);
    for (const { id, job } of interrupted) log(`${job}: turn ${id} was interrupted earlier, resuming`);
    this.#startTurns();
  }

  /** Waits until no turn is running and all copies are saved. New turns start unless the signal has aborted. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
    await this.#options.copier?.settle();
  }

  async create(projectId: string, prompt: string): Promise<JobRecord | RateLimited> {
    const job = { id: `job_${randomUUID()}`, project: projectId, createdAt: Date.now() };
    const limited = this.#accept(() => this.#options.store.addJob(job, prompt, this.#now()));
    if (limited !== undefined) return limited;
    this.#options.copier?.save(job.id);
    this.#startTurns();
    return this.#record(job.id);
  }

  async message(projectId: string, jobId: string, prompt: string): Promise<JobRecord | RateLimited | undefined> {
    if (!(await this.#isJobOf(projectId, jobId))) return undefined;
    const limited = this.#accept(() => this.#options.store.addTurn(jobId, prompt, this.#now()));
    if (limited !== undefined) return limited;
    this.#options.copier?.save(jobId);
    this.#startTurns();
    return this.#record(jobId);
  }

  async get(projectId: string, jobId: string): Promise<JobRecord | undefined> {
    return (await this.#isJobOf(projectId, jobId)) ? this.#record(jobId) : undefined;
  }

  async #isJobOf(projectId: string, jobId: string): Promise<boolean> {
    const { store, copier } = this.#options;
    if (copier !== undefined && store.job(jobId) === undefined) {
      await copier.restore(jobId);
      this.#startTurns();
    }
    return store.job(jobId)?.project === projectId;
  }

  #record(jobId: string): JobRecord {
    const { store, repositoryName, agent } = this.#options;
    const job = store.job(jobId);
    if (!job) throw new Error(`no job ${jobId}`);
    const { state, archivedAt } = job;
    return {
      id: job.id,
      status: archivedAt === null ? state : "archived",
      source: { repository: repositoryName, ref: jobBranch(job.id) },
      model: agent.model,
      prLink: state === "active" ? null : job.pullRequest,
      createdAt: new Date(job.createdAt).toISOString(),
      archivedAt: archivedAt === null ? null : new Date(archivedAt).toISOString(),
    };
  }

  #accept<T>(store: () => T): T {
    try {
      return store();
    } catch (error) {
      if (error instanceof StoreUnavailable) void this.#waitForStore();
      throw error;
    }
  }

  #startTurns(): void {
    const { store, agents, signal } = this.#options;
    try {
      while (this.#running.size < agents && this.#gaps === 0 && !signal.aborted) {
        const turn = store.startNextTurn();
        this.#startOutage.end("Turns can be started again.");
        if (!turn) return;
        const running = this.#process(turn).finally(() => {
          this.#running.delete(running);
          this.#startTurns();
        });
        this.#running.add(running);
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.#startOutage.begin(`No turn can be started, trying again: ${errorStack(error)}`);
      void this.#waitForStore();
    }
  }

  /** Runs a turn, and stores how it ended or that it was postponed. Never rejects. */
  async #process(turn: Turn): Promise<void> {
    const { store, copier, log } = this.#options;
    const name = `${turn.job}: turn ${turn.id}`;
    // Once, however often it is tried.
    const wasPostponed = this.#postponements.has(turn.id);
    if (!wasPostponed) log(`${name} started`);
    const position = this.#postponements.start();
    const { result, reason } = await this.#run(turn);
    const endedAt = Date.now();
    if (!wasPostponed || result !== "postponed")
      log(`${name} ${result}${reason === undefined ? "" : `: ${oneLine(reason)}`}`);
    if (result === "postponed") {
      const pauseMs = this.#postponements.postpone(turn.id, reason ?? "unknown reason");
      void this.#leaveGap();
      if (await this.#persist(name, () => store.postponeTurn(turn))) void this.#resumeLater(turn, pauseMs);
      return;
    }
    this.#postponements.end(turn.id, position);
    await this.#persist(name, () => {
      if (result === "stopped") store.requeueTurn(turn);
      else store.finishTurn(turn.id, result, endedAt);
    });
    copier?.save(turn.job);
  }

  /** Runs a turn. Returns why it failed or was postponed, if that is known. Never rejects. */
  async #run(turn: Turn): Promise<{ result: TurnResult; reason?: string | undefined }> {
    const { store, copier, signal, log } = this.#options;
    let reason: string | undefined;
    const onFailure = (text: string): void => {
      reason = text;
    };
    try {
      const job = store.job(turn.job);
      if (!job) throw new Error("the store does not have the job of this turn");
      await copier?.releaseHome(turn.job);
      const result = await runTurn(turn, job, { ...this.#options, onFailure }, signal);
      return { result, reason: result === "failed" || result === "postponed" ? reason : undefined };
    } catch (error) {
      if (error instanceof StoreUnavailable) return { result: "postponed", reason: error.message };
      log(`${turn.job}: ${errorStack(error)}`);
      return { result: "failed", reason: errorMessage(error) };
    }
  }

  /**
   * Stores a change of a turn, however long that takes.
   *
   * @returns `false` if the service stops before
   */
  async #persist(name: string, change: () => void): Promise<boolean> {
    const { log } = this.#options;
    for (let pauseMs = firstPauseMs, isFirst = true; ; pauseMs *= 2, isFirst = false) {
      try {
        change();
        return true;
      } catch (error) {
        const reason = error instanceof StoreUnavailable ? "" : `: ${errorStack(error)}`;
        if (isFirst) log(`${name}: its state cannot be stored yet, trying again${reason}`);
      }
      if (await this.#pause(pauseMs)) continue;
      log(`${name}: its state could not be stored before the service stopped, so the next service resumes the turn`);
      return false;
    }
  }

  /** Waits until the store can be written, then starts turns. */
  async #waitForStore(): Promise<void> {
    if (this.#isWaitingForStore) return;
    this.#isWaitingForStore = true;
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      if (!(await this.#pause(pauseMs))) return;
      try {
        this.#options.store.probe();
        break;
      } catch {
        // Not yet. The store has logged the beginning of the outage, and logs its end.
      }
    }
    this.#isWaitingForStore = false;
    this.#startTurns();
  }

  async #resumeLater(turn: Turn, pauseMs: number): Promise<void> {
    if (!(await this.#pause(pauseMs, Number.POSITIVE_INFINITY))) return;
    await this.#persist(`${turn.job}: turn ${turn.id}`, () => this.#options.store.resumeTurn(turn.id));
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
    const { signal, sleep = (time, options) => setTimeout(time, undefined, options) } = this.#options;
    return sleep(Math.min(ms, maxMs), { signal }).then(
      () => !signal.aborted,
      () => false,
    );
  }
}
