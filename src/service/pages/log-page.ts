import type { IncomingMessage } from "node:http";
import { defaultMaxConnections } from "../http/connections.ts";
import { HttpException } from "../http/http-exception.ts";
import { StoreUnavailable } from "../jobs/engine.ts";
import type { JobLogs } from "../jobs/job-logs.ts";
import type { StreamReply } from "./stream-reply.ts";

/** Where the state of jobs is stored. */
export interface JobStateStore {
  /** Returns `undefined` if there is no such job. */
  job(id: string): Promise<{ state: "active" | "completed" | "failed" } | undefined>;
}

export interface LogPagesOptions {
  store: JobStateStore;
  logs: JobLogs;
  /** How many logs are sent at a time. Default: a quarter of the connections that are allowed, at most 100. */
  maxLogs?: number | undefined;
}

/** The logs of jobs as text, which go on as long as their jobs are active. */
export class LogPages {
  readonly #options: LogPagesOptions;
  readonly #maxLogs: number;
  /** How many are being sent. */
  #count = 0;

  constructor(options: LogPagesOptions) {
    this.#options = options;
    this.#maxLogs = options.maxLogs ?? Math.min(100, Math.floor(defaultMaxConnections() / 4));
  }

  /**
   * Returns the log of a job. With `?follow=no`, it is what there is of it now.
   *
   * @throws HttpException 404 if there is no such job, 503 if too many logs are being sent
   */
  async show({ method, url = "" }: IncomingMessage, jobId: string): Promise<StreamReply> {
    if ((await this.#options.store.job(jobId)) === undefined) throw new HttpException(404, "Job not found");
    if (method !== "HEAD" && this.#count >= this.#maxLogs)
      throw new HttpException(503, "Too many logs are being read. Try again later, or close one.", {
        "retry-after": "30",
      });
    const isFollowed = new URLSearchParams(url.split("?")[1]).get("follow") !== "no";
    if (method !== "HEAD") this.#count++;
    const content = (signal: AbortSignal) => this.#counted(this.#content(jobId, isFollowed, signal));
    // Otherwise nginx holds back what it gets.
    const headers = { "content-type": "text/plain; charset=utf-8", "x-accel-buffering": "no" };
    return { headers, content };
  }

  async *#counted(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* content;
    } finally {
      this.#count--;
    }
  }

  async *#content(jobId: string, isFollowed: boolean, signal: AbortSignal): AsyncGenerator<Buffer> {
    const { store, logs } = this.#options;
    let changed = Promise.withResolvers<void>();
    const wake = (): void => changed.resolve();
    const end = isFollowed ? logs.follow(jobId, wake) : () => {};
    signal.addEventListener("abort", wake);
    try {
      for (let position = 0; !signal.aborted; await changed.promise) {
        changed = Promise.withResolvers();
        let isActive = false;
        try {
          // Read before the log, which is complete before its job's last turn ends.
          isActive = isFollowed && (await store.job(jobId))?.state === "active";
          for (;;) {
            const part = await logs.read(jobId, position);
            if (part.length === 0 || signal.aborted) break;
            position += part.length;
            yield part;
          }
        } catch (error) {
          if (!isFollowed || !(error instanceof StoreUnavailable)) throw error;
          isActive = true;
        }
        if (!isActive) return;
      }
    } finally {
      end();
    }
  }
}
