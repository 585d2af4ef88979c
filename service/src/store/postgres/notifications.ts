import { setTimeout } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import { tables } from "./schema.ts";

/** The channel for turns that may have become ready. */
export const turnChannel = "agent_job_turn";
/** The channel for logs that have grown and turns that have ended. The payload is the id of the job. */
export const logChannel = "agent_job_log";
/** The channel for changes of jobs. The payload is the id of the job. */
export const jobChannel = "agent_job_change";
const channels = [turnChannel, logChannel, jobChannel];

const firstPauseMs = 1000;
const lastPauseMs = 30_000;

/**
 * Receives what other processes announce with `NOTIFY`, on a connection of its own. A notification that is sent while the
 * connection is lost does not arrive, so listeners are also called after each reconnection.
 */
export class Notifications implements AsyncDisposable {
  readonly #config: ClientConfig;
  readonly #listeners = new Map<string, Set<(payload: string | undefined) => void>>();
  readonly #end = new AbortController();
  readonly #running: Promise<void>;

  /** @param url - `postgres://…`, as `psql` takes it */
  constructor(url: string) {
    this.#config = {
      connectionString: url,
      application_name: "agent-job-service notifications",
      options: `-c search_path=${tables}`,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    };
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  /**
   * @param channel - one of those above
   * @param listener - gets the payload; `undefined` if any number of notifications may have been missed
   * @returns a function that removes the listener
   */
  on(channel: string, listener: (payload: string | undefined) => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, lastPauseMs)) {
      const startedAt = performance.now();
      await this.#listen(signal).catch(() => {});
      if (performance.now() - startedAt > lastPauseMs) pauseMs = firstPauseMs;
      await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Connects and listens. Returns when the connection has ended. */
  async #listen(signal: AbortSignal): Promise<void> {
    const client = new Client(this.#config);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    client.on("error", () => end());
    client.on("end", () => end());
    signal.addEventListener("abort", () => end());
    client.on("notification", ({ channel, payload }) => this.#announce(channel, payload));
    try {
      await client.connect();
      for (const channel of channels) await client.query(`LISTEN ${channel}`);
      for (const channel of channels) this.#announce(channel, undefined);
      await ended;
    } finally {
      await client.end().catch(() => {});
    }
  }

  #announce(channel: string, payload: string | undefined): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }
}
