import { errorMessage, errorStack } from "../error-message.ts";
import type { Machine } from "../machine.ts";
import { noMetrics } from "../metrics/metrics.ts";
import type { RunningTurn, TurnResult } from "../model.ts";
import { oneLine } from "../one-line.ts";
import { jobLogFile } from "../service-folder.ts";
import { LogShipper } from "../store/log-shipper.ts";
import { LogTimes } from "../store/log-times.ts";
import { LeaseLost, StoreUnavailable } from "../store-errors.ts";
import type { KeptLease } from "./keep-lease.ts";
import type { Postponements } from "./postponements.ts";
import { watchStopRequest } from "./stop-request.ts";
import { runTurn } from "./turn.ts";
import { turnName } from "./turn-name.ts";
import type { Failure, WorkerOptions } from "./turn-ports.ts";

export interface TurnRunOptions extends WorkerOptions {
  machine: Machine;
  postponements: Postponements;
  /** Pauses starting turns for a moment. */
  leaveGap: () => void;
  startTurns: () => void;
}

/** Pauses between retries of a store write, doubling from the first to the last. */
export const firstPauseMs = 1000;
const lastPauseMs = 30_000;
/** How often a turn's end waits for its log: three minutes with the pauses. */
const maxLogWaits = 10;

/** Returns `false` if the service stops before the time is over. */
export async function pause(ms: number, machine: Machine, signal: AbortSignal, maxMs = lastPauseMs): Promise<boolean> {
  await machine.sleep(Math.min(ms, maxMs), signal);
  return !signal.aborted;
}

/** A turn from when it is taken until its end is stored. */
export class TurnRun {
  readonly #turn: RunningTurn;
  readonly #lease: KeptLease;
  readonly #options: TurnRunOptions;
  readonly #name: string;
  /** Not `lease.isLost`: the job's next turn may be taken here as soon as this one's end is stored. */
  #isLost = false;
  /** Why the turn failed or was postponed, if known. */
  #failure: Failure | undefined;
  #hasRun = false;
  #shipper: LogShipper | undefined;
  #logWaits = 0;

  /** @param lease - disposed at the end */
  constructor(turn: RunningTurn, lease: KeptLease, options: TurnRunOptions) {
    this.#turn = turn;
    this.#lease = lease;
    this.#options = options;
    this.#name = `${turn.job}: ${turnName(turn.id)}`;
  }

  /** Runs the turn, and stores its result or postponement. Never rejects. */
  async run(): Promise<void> {
    const { store, copier, folder, machine, secrets, log, postponements, metrics = noMetrics } = this.#options;
    const turn = this.#turn;
    const { logs } = store;
    if (turn.isResumed) log(`${this.#name} was interrupted on another worker, resuming`);
    // Logged once, not on every retry.
    const wasPostponed = postponements.has(turn.id);
    if (!wasPostponed) log(`${this.#name} started`);
    const position = postponements.start();
    const onEnd = metrics.turnStarted();
    using lease = this.#lease;
    using shipper = logs && new LogShipper({ turn, file: jobLogFile(folder, turn.job), logs, secrets, log });
    this.#shipper = shipper;
    await using _times = logs === undefined ? new LogTimes(turn, folder, machine) : undefined;
    const result = await this.#run();
    onEnd(lease.isLost ? "taken-over" : result);
    if (lease.isLost || result === "taken-over") this.#isLost = true;
    else if (result === "postponed") await this.#postpone(wasPostponed, position);
    else await this.#end(result, position);
    if (this.#isLost)
      log(
        `${this.#name} was taken over by another worker, because its lease had expired; nothing more is stored of it here`,
      );
    // Until it goes on, only this process would know what its agent has made.
    else if (result !== "postponed" || this.#hasRun) copier?.save(turn.job);
  }

  /** Never rejects. */
  async #run(): Promise<TurnResult> {
    const { store, projects, copier, machine, log } = this.#options;
    const turn = this.#turn;
    const { signal } = this.#lease;
    try {
      const job = await store.jobs.find(turn.job);
      if (!job) throw new Error("the store does not have the job of this turn");
      const project = projects.get(job.project);
      if (project === undefined) throw new Error(`the project ${job.project} is not configured`);
      using stop = watchStopRequest(turn, store, machine);
      const own = {
        stop: stop.signal,
        onFailure: (found: Failure) => {
          this.#failure = found;
        },
        onAgentEnd: () => {
          this.#hasRun = true;
        },
        // The runner may be lost before the turn ends.
        onChecked: () => copier?.save(turn.job),
      };
      const result = await runTurn(turn, job, { ...this.#options, ...project, ...own }, signal);
      const { isRemote, reason = "", waitMs } = this.#failure ?? {};
      if (result === "postponed" && isRemote) this.#options.onOutage?.(job.project, reason, waitMs);
      return result;
    } catch (error) {
      if (signal.aborted) return signal.reason instanceof LeaseLost ? "taken-over" : "stopped";
      this.#failure = { reason: errorMessage(error) };
      if (error instanceof StoreUnavailable) return "postponed";
      log(`${turn.job}: ${errorStack(error)}`, "error");
      return "failed";
    }
  }

  async #postpone(wasPostponed: boolean, position: number): Promise<void> {
    const { store, postponements, leaveGap, log } = this.#options;
    const { id } = this.#turn;
    const { reason = "unknown reason", kept, isRemote, waitMs } = this.#failure ?? {};
    const pauseMs = isRemote ? postponements.postponeForRemote(id, waitMs) : postponements.postpone(id, reason);
    if (pauseMs === undefined) {
      this.#failure = {
        reason: `The repository's host could not be reached for an hour, or its rate limit for a day. ${reason}`,
        kept,
      };
      return this.#end("failed", position);
    }
    if (!wasPostponed) log(`${this.#name} postponed: ${oneLine(reason)}`);
    if (!isRemote) leaveGap();
    const requeue = () => store.runningTurns.requeue(this.#turn, pauseMs, this.#hasRun, oneLine(reason));
    if (await this.#persist(requeue)) void this.#resumeLater(pauseMs);
  }

  async #end(result: Exclude<TurnResult, "taken-over" | "postponed">, position: number): Promise<void> {
    const { store, postponements, machine, log } = this.#options;
    const turn = this.#turn;
    const failure = result === "failed" ? this.#toldFailure() : undefined;
    const endedAt = machine.wallTime();
    const why = failure === undefined ? "" : `: ${oneLine(failure.reason)}`;
    log(`${this.#name} ${result}${why}`, result === "failed" ? "warn" : "info");
    postponements.end(turn.id, position);
    let hasEnded = true;
    await this.#persist(async () => {
      if (result === "stopped") await store.runningTurns.requeue(turn, 0, this.#hasRun);
      else hasEnded = await store.runningTurns.finish(turn, result, endedAt, failure);
    });
    if (!hasEnded)
      log(`${this.#name}: the database has lost the page of its pull request, which is opened again`, "warn");
  }

  /** Returns why it failed, with the command that gets what is kept, if there is one. */
  #toldFailure(): Failure | undefined {
    const failure = this.#failure;
    if (!failure?.kept) return failure;
    this.#options.metrics?.workKept(failure.kept);
    const command = this.#options.keptCommits?.commandFor?.(this.#turn, failure.kept);
    return command === undefined ? failure : { ...failure, reason: `${failure.reason} To get it: ${command}` };
  }

  /**
   * Stores a change of the turn, after its log, retrying as long as needed.
   *
   * @returns `false` if the service stops first, or another worker has taken the turn over
   */
  async #persist(change: () => Promise<void>): Promise<boolean> {
    const { machine, signal, log } = this.#options;
    for (let pauseMs = firstPauseMs, isFirst = true; ; pauseMs *= 2, isFirst = false) {
      try {
        // The store may have recovered since the flush failed. The limit keeps an unstorable log from holding its turn open.
        if ((await this.#shipper?.flush()) === false && ++this.#logWaits <= maxLogWaits)
          throw new StoreUnavailable("the end of the log is not stored yet");
        await change();
        return true;
      } catch (error) {
        if (error instanceof LeaseLost) {
          this.#isLost = true;
          return false;
        }
        const reason = error instanceof StoreUnavailable ? "" : `: ${errorStack(error)}`;
        if (isFirst) log(`${this.#name}: its state cannot be stored yet, trying again${reason}`, "warn");
      }
      if (await pause(pauseMs, machine, signal)) continue;
      log(
        `${this.#name}: its state could not be stored before the service stopped, so the next service resumes the turn`,
      );
      return false;
    }
  }

  async #resumeLater(pauseMs: number): Promise<void> {
    const { store, machine, signal, startTurns } = this.#options;
    // The log is stored, and the next run writes another part.
    this.#shipper = undefined;
    if (!(await pause(pauseMs, machine, signal, Number.POSITIVE_INFINITY))) return;
    await this.#persist(() => store.runningTurns.resume(this.#turn));
    startTurns();
  }
}
