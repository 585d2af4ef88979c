import { order, type Timeline } from "../../../test/simulation/timeline.ts";
import { epoch } from "../../../test/support/fake-clock.ts";
import type { StoreChanges } from "../../src/store/announcements.ts";
import { type QueuedTurn, ReadyTurns, RowQueue } from "../../src/store/ready-turns.ts";
import type { Transaction } from "../../src/store/sql.ts";
import { ClientTransaction, type DatabaseClient } from "./database.ts";
import type { MachineProcess } from "./machine-process.ts";
import type { Notifications } from "./notifications.ts";

/** As on Postgres. */
export const leaseMs = 30_000;
const pollMs = 5000;

/** Returns the time of the database, in milliseconds since 1970. */
export const databaseTime = ({ now }: Timeline): number => epoch + now;

export interface LeasedTurnsOptions {
  timeline: Timeline;
  client: DatabaseClient;
  process: MachineProcess;
  changes: SimulatedChanges;
  /** Tells of turns that are ready. */
  turns: Notifications;
}

/** The turns of a store with leases, whose order is that of their rows. Turns and expired leases are looked for every few seconds. */
export class LeasedTurns extends ReadyTurns {
  readonly #options: LeasedTurnsOptions;

  constructor(options: LeasedTurnsOptions) {
    const clock = () => ({ sql: "?", values: [databaseTime(options.timeline)] });
    super({ clock, leaseMs, queue: new NotifyingQueue(options.turns, { clock, leaseMs }) });
    this.#options = options;
    this.#poll(true);
  }

  /** @param expires - whether leases expire now, which is so every second time */
  #poll(expires: boolean): void {
    const { process, client, changes } = this.#options;
    process.after(pollMs, order.timer, () => {
      changes.turnReady();
      if (expires)
        void this.expire(client).then(
          (hasExpired) => hasExpired && changes.turnReady(),
          () => {},
        );
      this.#poll(!expires);
    });
  }
}

/** Tells of turns that may have become ready, and of changes of jobs, but not of which job. */
export class SimulatedChanges implements StoreChanges {
  readonly #process: MachineProcess;
  readonly #jobs: Notifications;
  readonly #listeners = new Set<() => void>();

  /** @param turns - of turns that are ready. @param jobs - of jobs that have changed */
  constructor(process: MachineProcess, turns: Notifications, jobs: Notifications) {
    this.#process = process;
    this.#jobs = jobs;
    turns.on(process, () => this.turnReady());
  }

  announceJob(transaction: Transaction): void {
    if (!(transaction instanceof ClientTransaction)) throw new Error("not a transaction of a client");
    transaction.afterwards.push(() => this.#jobs.send());
  }

  onJob(listener: (job: string | undefined) => void): void {
    this.#jobs.on(this.#process, () => listener(undefined));
  }

  onReady(listener: () => void): void {
    this.#listeners.add(listener);
  }

  turnReady(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Tells of each turn that is ready. */
class NotifyingQueue extends RowQueue {
  readonly #turns: Notifications;

  constructor(turns: Notifications, options: ConstructorParameters<typeof RowQueue>[0]) {
    super(options);
    this.#turns = turns;
  }

  override async send(transaction: Transaction, _turn: QueuedTurn, pauseMs: number): Promise<void> {
    if (!(transaction instanceof ClientTransaction)) throw new Error("not a transaction of a client");
    if (pauseMs === 0) transaction.afterwards.push(() => this.#turns.send());
  }
}
