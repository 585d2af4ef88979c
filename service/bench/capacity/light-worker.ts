import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { RunningTurn } from "../../src/model.ts";
import type { Store } from "../../src/store/store.ts";
import { LeaseLost } from "../../src/store-errors.ts";

/** A log line of an agent. */
const line = Buffer.from(`| ${"Reads and changes a file. ".repeat(8)}\n`);
const home = randomBytes(50_000);

export interface LightWorkerOptions {
  store: Store;
  /** How many turns it runs at a time. */
  places: number;
  /** Returns how long the agent of a turn takes, in milliseconds. */
  agentMs: () => number;
  /** In which share of the seconds the log of a turn grows. */
  logShare: number;
  random: () => number;
  /** Receives how long a turn has waited since its create, in milliseconds. */
  onStart: (waitedMs: number) => void;
  onEnd: () => void;
}

/** A worker without agents, Git and files: it asks the store what a worker does, when a worker does. */
export class LightWorker {
  readonly #options: LightWorkerOptions;
  readonly #end = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #isWanted = false;
  #taking: Promise<void> | undefined;

  constructor(options: LightWorkerOptions) {
    this.#options = options;
    options.store.onReady(() => this.#startTurns());
    this.#startTurns();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#taking;
    await Promise.all(this.#running);
  }

  #startTurns(): void {
    this.#isWanted = true;
    this.#taking ??= this.#takeTurns().finally(() => {
      this.#taking = undefined;
      if (this.#isWanted && this.#canStart()) this.#startTurns();
    });
  }

  #canStart(): boolean {
    return this.#running.size < this.#options.places && !this.#end.signal.aborted;
  }

  async #takeTurns(): Promise<void> {
    const { store, onStart } = this.#options;
    while (this.#isWanted && this.#canStart()) {
      this.#isWanted = false;
      const turn = await store.runningTurns.startNext();
      if (turn === undefined) continue;
      this.#isWanted = true;
      onStart(Date.now() - Number(turn.prompt));
      const running = this.#run(turn).finally(() => {
        this.#running.delete(running);
        this.#startTurns();
      });
      this.#running.add(running);
    }
  }

  async #run(turn: RunningTurn): Promise<void> {
    const { store, agentMs, logShare, random, onEnd } = this.#options;
    const unfollow = store.followJob(turn.job, () => void store.runningTurns.stopRequest(turn));
    try {
      await beginTurn(store, turn);
      let position = 0;
      let left = agentMs();
      for (let second = 1; left > 0 && !this.#end.signal.aborted; second++) {
        await setTimeout(Math.min(left, 1000));
        left -= 1000;
        if (random() < logShare) {
          await store.logs?.append(turn, position, line);
          position += line.length;
        }
        if (second % 10 === 0) await store.runningTurns.renewLease(turn);
      }
      await endTurn(store, turn);
      onEnd();
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
    } finally {
      unfollow();
    }
  }
}

/** Asks what a worker does before the agent of a turn starts. */
export async function beginTurn(store: Store, turn: RunningTurn): Promise<void> {
  await store.jobs.find(turn.job);
  await store.runningTurns.stopRequest(turn);
  await store.homes?.lastAttemptedBefore(turn);
  await store.runningTurns.countAttempt(turn);
  await store.turns.ofJob(turn.job);
  await store.logs?.size(turn);
}

/** Stores what a worker does after the agent of a turn, which has pushed a change, and ends the turn. */
export async function endTurn(store: Store, turn: RunningTurn): Promise<void> {
  const { runningTurns } = store;
  await store.homes?.saveHome(turn, home);
  await runningTurns.setReport(turn, { answer: "I have changed the pages.", costUsd: 0.5 });
  await runningTurns.confirmLease(turn);
  await runningTurns.recordPush(turn, null, "a".repeat(40));
  await runningTurns.setPullRequest(turn, `https://github.com/acme/docs/pull/${turn.id}`, "a".repeat(40));
  await runningTurns.finish(turn, "completed", Date.now());
}

/** Appends a line of an agent. */
export const appendLine = async (store: Store, turn: RunningTurn, index: number): Promise<void> =>
  store.logs?.append(turn, index * line.length, line);
