import { errorStack } from "../error-message.ts";
import { withLogContext } from "../log/log-context.ts";
import { OutageLog } from "../log/outage-log.ts";
import { type Machine, thisMachine } from "../machine.ts";
import type { RunningTurn } from "../model.ts";
import { StoreUnavailable } from "../store-errors.ts";
import { type KeptLease, keepLease } from "./keep-lease.ts";
import { Postponements } from "./postponements.ts";
import { turnLimits } from "./turn-limits.ts";
import { turnName } from "./turn-name.ts";
import type { WorkerOptions } from "./turn-ports.ts";
import { firstPauseMs, pause, TurnRun } from "./turn-run.ts";

/** Longer than any answer or timeout of the store. */
const stuckMs = 120_000;

/**
 * Runs turns. No job stays active forever, even if the worker is killed, the store is unavailable for a while, or the machine cannot start
 * processes.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #runs = new Map<string, { lease: KeptLease; ended: Promise<void> }>();
  readonly #postponements: Postponements;
  readonly #startOutage: OutageLog;
  readonly #machine: Machine;
  #isClosed = false;
  #isWaitingForStore = false;
  /** Whether a turn may have become ready since the last look. */
  #isWanted = false;
  #taking: Promise<void> | undefined;
  /** When the store was last asked for a turn, until it answers. */
  #askedAt: number | undefined;
  /** Pauses after postponed turns that have not ended. */
  #gaps = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#machine = options.machine ?? thisMachine;
    this.#postponements = new Postponements(options.log, this.#machine);
    this.#startOutage = new OutageLog(options.log);
  }

  /** Starts processing turns, interrupted ones first. */
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

  /** Whether the store has not answered a request for a turn at all, not even with an error. */
  get isStuck(): boolean {
    return this.#askedAt !== undefined && this.#machine.now() - this.#askedAt > stuckMs;
  }

  /** Whether the last attempt to take or run a turn failed although the store is available. */
  get isFailing(): boolean {
    return this.#startOutage.isOut || this.#postponements.isOut;
  }

  /** Looks for turns after a limit may have changed. */
  wake(): void {
    this.#startTurns();
  }

  close(): void {
    this.#isClosed = true;
    this.#options.metrics?.workerTakes(0);
  }

  /** Waits until no turn is running and all copies are saved. New turns start unless it is closed or its signal has aborted. */
  async drain(): Promise<void> {
    while (this.#taking !== undefined || this.#running.size > 0) {
      await this.#taking;
      await Promise.all(this.#running);
    }
    await this.#options.copier?.settle();
  }

  /** Probes the store until it is writable, so that its log says so, then starts turns even if nothing else uses the store. */
  async waitForStore(): Promise<void> {
    if (this.#isWaitingForStore) return;
    this.#isWaitingForStore = true;
    // This outlives the request that found the store unavailable.
    await withLogContext({}, () => this.#tryStore());
  }

  async #tryStore(): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      if (!(await pause(pauseMs, this.#machine, this.#options.signal))) return;
      try {
        await this.#options.store.probe();
        break;
      } catch {
        // The store logs the start and end of the outage.
      }
    }
    this.#isWaitingForStore = false;
    this.#startTurns();
  }

  #startTurns(): void {
    this.#isWanted = true;
    // Without the context of the request that made a turn ready: it takes turns of any job.
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

  /** Takes turns while some are ready and agents are free. Never rejects. */
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

  /** Runs a turn after an earlier run of its job has ended. Never rejects. */
  async #process(turn: RunningTurn): Promise<void> {
    const { store, signal } = this.#options;
    const lease = keepLease(turn, store.runningTurns, signal, this.#machine);
    const earlier = this.#runs.get(turn.job);
    // That run lost its turn, perhaps while this machine slept, and may not know yet. Both use the job's directory.
    earlier?.lease.lose();
    const own = new TurnRun(turn, lease, {
      ...this.#options,
      machine: this.#machine,
      postponements: this.#postponements,
      leaveGap: () => void this.#leaveGap(),
      startTurns: () => this.#startTurns(),
    });
    const ended = (earlier?.ended ?? Promise.resolve()).then(() => own.run());
    const run = { lease, ended };
    this.#runs.set(turn.job, run);
    await ended;
    if (this.#runs.get(turn.job) === run) this.#runs.delete(turn.job);
  }

  async #leaveGap(): Promise<void> {
    this.#gaps++;
    await pause(this.#postponements.gapMs, this.#machine, this.#options.signal);
    this.#gaps--;
    this.#startTurns();
  }
}
