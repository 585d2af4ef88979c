import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import type { Log } from "../../log/log.ts";
import { connectionString } from "./connection-string.ts";
import type { PostgresDatabase } from "./database.ts";
import { isPooled } from "./pooler.ts";
import { defaultTimes, type PostgresTimes } from "./times.ts";

const firstPauseMs = 1000;
const lastPauseMs = 30_000;

export interface NotificationsOptions {
  /** `postgres://…`, as `psql` takes it. Not of a pooler in transaction mode, through which no notifications arrive. */
  url: string;
  /** Sends notifications. */
  database: PostgresDatabase;
  log: Log;
  times?: Partial<PostgresTimes> | undefined;
}

/**
 * Receives what other processes announce with `NOTIFY`, on a connection of its own. A notification that is sent while the
 * connection is lost does not arrive, so listeners are also called after each reconnection. If a pooler passes none on, they are
 * called every few seconds instead.
 */
export class Notifications implements AsyncDisposable {
  readonly #options: NotificationsOptions;
  readonly #channels: readonly string[];
  readonly #config: ClientConfig;
  readonly #listeners = new Map<string, Set<(payload: string | undefined) => void>>();
  readonly #end = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: NotificationsOptions) {
    this.#options = options;
    this.#channels = Object.values(options.database.names.channels);
    this.#config = {
      connectionString: connectionString(options.url),
      application_name: "agent-job-service notifications",
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
   * @param channel - one of the store's
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
      const arrive = await this.#listen(signal).catch(() => true);
      if (!arrive) return this.#poll(signal);
      if (performance.now() - startedAt > lastPauseMs) pauseMs = firstPauseMs;
      await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Connects and listens. Returns when the connection has ended: `false` if no notifications arrive on such a connection. */
  async #listen(signal: AbortSignal): Promise<boolean> {
    const client = new Client(this.#config);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    client.on("error", () => end());
    client.on("end", () => end());
    signal.addEventListener("abort", () => end());
    client.on("notification", ({ channel, payload }) => this.#announce(channel, payload));
    try {
      await client.connect();
      const mayBeDeaf = await isPooled(client);
      for (const channel of this.#channels) await client.query(`LISTEN ${channel}`);
      if (mayBeDeaf && !(await this.#doArrive(client, ended))) return false;
      this.#announceAll();
      await ended;
      return true;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Sends a notification to this connection. A pooler in transaction mode gives it to nobody, or to another client. */
  async #doArrive(client: Client, ended: Promise<void>): Promise<boolean> {
    const payload = `test ${randomUUID()}`;
    const { promise: arrived, resolve } = Promise.withResolvers<boolean>();
    client.on("notification", (message) => message.payload === payload && resolve(true));
    const { database, times } = this.#options;
    const { notificationMs } = { ...defaultTimes, ...times };
    await database.query("SELECT pg_notify($1, $2)", [database.names.channels.job, payload]);
    const limit = new AbortController();
    const missed = setTimeout(notificationMs, false, { signal: limit.signal }).catch(() => false);
    const result = await Promise.race([arrived, missed, ended.then(() => true)]);
    limit.abort();
    return result;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { times, log } = this.#options;
    const { pollMs } = { ...defaultTimes, ...times };
    log(
      `Notifications of Postgres do not arrive through this pooler, so this process looks for changes every ${pollMs / 1000} seconds: ` +
        "turns and stops are later by that. With a second --store, the URL of the database without the pooler, they are not.",
      "warn",
    );
    while (!signal.aborted) {
      this.#announceAll();
      await setTimeout(pollMs, undefined, { signal }).catch(() => {});
    }
  }

  #announceAll(): void {
    for (const channel of this.#channels) this.#announce(channel, undefined);
  }

  #announce(channel: string, payload: string | undefined): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }
}
