import { order, type Timeline } from "../../../test/simulation/timeline.ts";
import { GitError } from "../../src/git/git.ts";
import type { Draws } from "./draws.ts";
import { activeAt, type Faults, waitMs } from "./faults.ts";
import type { MachineProcess, Period } from "./machine-process.ts";
import type { Fault } from "./scenario.ts";

export interface NetworkOptions {
  timeline: Timeline;
  process: MachineProcess;
  /** The number of the machine. */
  machine: number;
  faults: Faults;
  draws: Draws;
}

/** How a transaction reaches the store, and its result the process. */
export interface Passage {
  /** Until it is committed. */
  commitMs: number;
  /** The connection breaks before. */
  isLostBefore: boolean;
  /** The connection breaks while it is being committed. */
  isLostMeanwhile: boolean;
}

const longestCommitMs = 25_000;

/** The connections of a process to the store. */
export class StoreNetwork {
  readonly #options: NetworkOptions;
  readonly #loss: number;
  readonly #lossUntil: number;
  readonly #outages: Period[];
  readonly #slowCommits: readonly Fault[];
  #cuts: readonly Fault[];

  /** @param loss - how likely a connection breaks */
  constructor(options: NetworkOptions, loss: number) {
    this.#options = options;
    this.#loss = loss;
    this.#lossUntil = options.faults.endsAt;
    this.#outages = (["store-down", "lost-second", "restore"] as const).flatMap((kind) =>
      options.faults.on(options.machine, kind),
    );
    this.#cuts = options.faults.on(options.machine, "store-cut").filter(({ at }) => at >= options.process.startedAt);
    this.#slowCommits = options.faults.on(options.machine, "slow-commits");
  }

  get isDown(): boolean {
    return activeAt(this.#outages, this.#options.timeline.now) !== undefined;
  }

  /** Begins the outages that wait for a transaction. */
  cut(): void {
    const { now } = this.#options.timeline;
    const isDue = ({ at }: Fault): boolean => at <= now;
    for (const { at, ms } of this.#cuts.filter(isDue)) if (now < at + waitMs) this.#outages.push({ at: now, ms });
    this.#cuts = this.#cuts.filter((fault) => !isDue(fault));
  }

  /** Returns whether a transaction is committed although the connection breaks meanwhile. */
  survives(): boolean {
    return this.#options.draws.chance(0.5);
  }

  delay(): number {
    return this.#options.draws.between(1, 30);
  }

  passage(): Passage {
    const { draws, timeline } = this.#options;
    const isLostBefore = this.isDown;
    const { ms = 0 } = activeAt(this.#slowCommits, timeline.now) ?? {};
    const isLost = draws.chance(timeline.now < this.#lossUntil ? this.#loss : 0);
    return {
      commitMs: this.delay() + (ms > 0 ? draws.between(0, Math.min(ms, longestCommitMs)) : 0),
      isLostBefore: isLostBefore || (isLost && draws.chance(0.5)),
      isLostMeanwhile: isLost,
    };
  }
}

/** The pushes that are on their way to the remote. */
export interface Landings {
  /** When the last one lands. */
  lastAt: number;
}

/** Git on a machine, and its way to the remote. */
export class GitNetwork {
  readonly #options: NetworkOptions;
  readonly #signal: AbortSignal;
  readonly #outages: readonly Fault[];
  readonly #slowPushes: readonly Fault[];
  readonly #landings: Landings;

  /**
   * @param landings - when the last push that is on its way lands
   * @param signal - kills the Git command that runs, and lets no other start
   */
  constructor(options: NetworkOptions, landings: Landings, signal: AbortSignal) {
    this.#options = options;
    this.#landings = landings;
    this.#signal = signal;
    this.#outages = options.faults.on(options.machine, "git-down");
    this.#slowPushes = options.faults.on(options.machine, "slow-pushes");
  }

  /** Takes the time of a command that needs no network. */
  work(): Promise<void> {
    const { process, draws } = this.#options;
    return this.#killable(() => process.ask(draws.between(1, draws.chance(0.2) ? 5000 : 40), () => {}, 0));
  }

  fetch(effect: () => void): Promise<void> {
    const { process, draws } = this.#options;
    const delay = draws.between(10, 150);
    if (this.#isDown) return this.#killable(() => process.ask(5000, unreachable, delay));
    return this.#killable(() => process.ask(delay, effect, delay));
  }

  /** @param effect - with the process that learns what comes of it; `undefined` if none does */
  push(effect: (by: MachineProcess | undefined) => void): Promise<void> {
    const { timeline, process, draws } = this.#options;
    const delay = draws.between(10, 300);
    const { ms = 0 } = activeAt(this.#slowPushes, timeline.now) ?? {};
    const requestMs = delay + (ms > 0 ? draws.between(0, ms) : 0);
    if (!this.#isDown)
      return this.#killable(() => {
        this.#landings.lastAt = Math.max(this.#landings.lastAt, timeline.now + requestMs);
        const answer = process.ask(requestMs, () => effect(process), delay);
        if (process.diesPushing) process.kill();
        return answer;
      });
    // It lands before it is reported as failed, later, or never.
    const landsAfter = [delay, draws.between(5000, 120_000), undefined][draws.between(0, 2)];
    return this.#killable(() => {
      if (landsAfter !== undefined) {
        this.#landings.lastAt = Math.max(this.#landings.lastAt, timeline.now + landsAfter);
        timeline.at(timeline.now + landsAfter, order.read, () => {
          try {
            effect(undefined);
          } catch {
            // Rejected, which nobody learns.
          }
        });
      }
      return process.ask(5000, unreachable, delay);
    });
  }

  get #isDown(): boolean {
    return activeAt(this.#outages, this.#options.timeline.now) !== undefined;
  }

  #killable(command: () => Promise<void>): Promise<void> {
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Error("Git was stopped"));
      signal.addEventListener("abort", () => reject(new Error("Git was stopped")), { once: true });
      command().then(resolve, reject);
    });
  }
}

function unreachable(): void {
  throw new GitError(["fetch"], "failed", "fatal: Could not resolve host", 128);
}
