import type { RunningTurn } from "../../src/model.ts";
import type { LogMark } from "../../src/store/log-times.ts";
import type { PostgresLogs } from "../../src/store/postgres/logs.ts";
import { LeaseLost } from "../../src/store-errors.ts";

/** The logs of jobs in memory. */
export class MemoryLogs implements Pick<PostgresLogs, keyof PostgresLogs> {
  readonly #logs = new Map<string, { turn: number; content: Buffer }[]>();
  readonly #listeners = new Map<string, Set<() => void>>();
  /** The leases of turns that somebody else has taken over. */
  readonly lostLeases = new Set<string>();
  /** Awaited before every access; rejects to make it fail. */
  gate: () => Promise<unknown> = () => Promise.resolve();
  /** Awaited after a write is done. */
  afterAppend: () => Promise<unknown> = () => Promise.resolve();
  /** How many bytes the writes had. */
  readonly appended: number[] = [];
  /** How many bytes a reader gets at a time. */
  maxReadBytes = 64 * 1024;

  text(jobId: string): string {
    return this.#content(jobId).toString();
  }

  /** How many follow logs. */
  get followers(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Appends to a log, of any turn. */
  add(jobId: string, content: string | Buffer, turn = 0): void {
    const log = this.#logs.get(jobId) ?? [];
    this.#logs.set(jobId, [...log, { turn, content: Buffer.from(content) }]);
    this.wake(jobId);
  }

  /** Calls those who follow a log. */
  wake(jobId: string): void {
    for (const listener of this.#listeners.get(jobId) ?? []) listener();
  }

  async read(jobId: string, from: number): Promise<Buffer> {
    await this.gate();
    return this.#content(jobId).subarray(from, from + this.maxReadBytes);
  }

  async end(jobId: string): Promise<number> {
    await this.gate();
    return this.#content(jobId).length;
  }

  async marks(jobId: string): Promise<LogMark[]> {
    await this.gate();
    let start = 0;
    return (this.#logs.get(jobId) ?? []).map(({ turn, content }, index) => {
      start += content.length;
      return { turn, start: start - content.length, at: index * 1000 };
    });
  }

  follow(jobId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(jobId) ?? new Set();
    this.#listeners.set(jobId, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  async size({ id, job }: RunningTurn): Promise<{ size: number; ofTurn: number }> {
    await this.gate();
    const ofTurn = (this.#logs.get(job) ?? []).filter(({ turn }) => turn === id);
    return {
      size: this.#content(job).length,
      ofTurn: ofTurn.reduce((sum, { content }) => sum + content.length, 0),
    };
  }

  async append({ id, job, lease }: RunningTurn, position: number, content: Buffer): Promise<void> {
    await this.gate();
    if (this.lostLeases.has(lease)) throw new LeaseLost(id);
    if (position !== this.#content(job).length) throw new Error(`${position} is not the end of the log`);
    this.appended.push(content.length);
    this.add(job, content, id);
    await this.afterAppend();
  }

  #content(jobId: string): Buffer {
    const parts = (this.#logs.get(jobId) ?? []).map(({ content }) => content);
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
  }
}
