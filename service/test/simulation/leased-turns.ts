import { order, type Timeline } from "../../../test/simulation/timeline.ts";
import type { RunningTurn } from "../../src/model.ts";
import { startTurn } from "../../src/store/job-state.ts";
import type { ReadyTurn, ReadyTurns, TakenTurn, TurnLimits } from "../../src/store/ready-turns.ts";
import type { Transaction } from "../../src/store/sql.ts";
import { LeaseLost } from "../../src/store-errors.ts";
import { ClientTransaction, type DatabaseClient, type DatabaseServer } from "./database.ts";
import type { MachineProcess } from "./machine-process.ts";
import type { Notifications } from "./notifications.ts";

/** As in the queue on Postgres. */
export const leaseMs = 30_000;
const pollMs = 5000;

export interface LeasedTurnsOptions {
  timeline: Timeline;
  server: DatabaseServer;
  client: DatabaseClient;
  process: MachineProcess;
  notifications: Notifications;
}

/**
 * A model of the queue on Postgres, of one process: leases that expire unless they are renewed, and whose number tells the
 * takings of a turn apart; pauses that end with time; notifications, and polling for those that do not arrive. Turns are taken in
 * the order in which they were added: the order of projects is not modelled.
 */
export class LeasedTurns implements ReadyTurns {
  readonly renewEveryMs = 10_000;
  readonly #options: LeasedTurnsOptions;
  readonly #listeners = new Set<() => void>();

  constructor(options: LeasedTurnsOptions) {
    this.#options = options;
    const { process, notifications } = options;
    notifications.on(process, () => this.#announce());
    this.#poll(true);
  }

  async add(transaction: Transaction, { turn, job, project }: ReadyTurn): Promise<void> {
    const insert = "INSERT INTO queued (turn, job, project) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    await transaction.run(insert, turn, job, project);
    this.#notifyAfter(transaction);
  }

  /** Looks at once, so that polling costs little. That a store cannot be used is noticed only when there is a turn. */
  async mayHaveTurns(): Promise<boolean> {
    return this.#next("") !== undefined;
  }

  async take(transaction: Transaction, limits: TurnLimits, at: number): Promise<RunningTurn | undefined> {
    if (typeof limits === "object") throw new Error("the projects of all simulated workers are the same");
    const running = "SELECT count(*) FROM queued AS other WHERE other.project = queued.project AND other.isTaken";
    const id = this.#next(limits === undefined ? "" : `AND (${running}) < ${limits}`);
    if (id === undefined) return undefined;
    const take = "UPDATE queued SET isTaken = 1, takes = takes + 1, renewedAt = ? WHERE id = ? RETURNING turn, takes";
    const [taken] = await transaction.rows<{ turn: number; takes: number }>(take, this.#options.timeline.now, id);
    return taken && startTurn(transaction, { turn: taken.turn, lease: `${id}/${taken.takes}` }, at);
  }

  async remove(transaction: Transaction, taken: TakenTurn): Promise<void> {
    const count = await transaction.run(`DELETE FROM queued ${this.#where}`, ...attemptOf(taken));
    if (count === 0) throw new LeaseLost(taken.turn);
  }

  async putBack(transaction: Transaction, taken: TakenTurn, pauseMs: number): Promise<void> {
    const putBack = `UPDATE queued SET isTaken = 0, startAfter = ? ${this.#where}`;
    const count = await transaction.run(putBack, this.#options.timeline.now + pauseMs, ...attemptOf(taken));
    if (count === 0) throw new LeaseLost(taken.turn);
    if (pauseMs === 0) this.#notifyAfter(transaction);
  }

  async withdraw(transaction: Transaction, { turn }: Pick<ReadyTurn, "turn">): Promise<void> {
    await transaction.run("DELETE FROM queued WHERE turn = ? AND NOT isTaken", turn);
  }

  /** Time alone ends a pause. */
  async endPause(): Promise<void> {}

  /** Other processes may be running all turns that are running. */
  async recover(_transaction: Transaction): Promise<{ id: number; job: string }[]> {
    return [];
  }

  async ofProjects(): Promise<[]> {
    return [];
  }

  async renew(taken: TakenTurn): Promise<boolean> {
    const { client, timeline } = this.#options;
    const renew = `UPDATE queued SET renewedAt = ? ${this.#where}`;
    const count = await client.runOnce(renew, timeline.now, ...attemptOf(taken));
    return count > 0;
  }

  onReady(listener: () => void): void {
    this.#listeners.add(listener);
  }

  get #where(): string {
    return "WHERE id = ? AND takes = ? AND isTaken";
  }

  #next(condition: string): number | undefined {
    const { server, timeline } = this.#options;
    const next = `SELECT id FROM queued WHERE NOT isTaken AND startAfter <= ? ${condition} ORDER BY id LIMIT 1`;
    return server.connection.row<{ id: number }>(next, timeline.now)?.id;
  }

  /** After an outage, all workers have time to renew their leases before any expires. */
  async #expire(): Promise<void> {
    const { server, client, timeline } = this.#options;
    if (client.network.usableForMs < leaseMs) return;
    const isExpired = "isTaken AND renewedAt < ?";
    const before = timeline.now - leaseMs;
    if (server.connection.row(`SELECT 1 FROM queued WHERE ${isExpired}`, before) === undefined) return;
    await client.runOnce(`UPDATE queued SET isTaken = 0 WHERE ${isExpired}`, before);
    this.#announce();
  }

  /** @param expires - whether leases expire now, which is so every second time */
  #poll(expires: boolean): void {
    const { process } = this.#options;
    process.after(pollMs, order.timer, () => {
      this.#announce();
      if (expires) void this.#expire().catch(() => {});
      this.#poll(!expires);
    });
  }

  #notifyAfter(transaction: Transaction): void {
    if (!(transaction instanceof ClientTransaction)) throw new Error("not a transaction of a client");
    transaction.afterwards.push(() => this.#options.notifications.send());
  }

  #announce(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** A lease is the id in the queue and how often that was taken. */
function attemptOf({ lease }: TakenTurn): [id: number, takes: number] {
  const [id, takes] = lease.split("/");
  return [Number(id), Number(takes)];
}
