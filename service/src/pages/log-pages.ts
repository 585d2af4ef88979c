import type { IncomingMessage } from "node:http";
import { defaultMaxConnections } from "../http/connections.ts";
import { HttpException } from "../http/http-exception.ts";
import { queryOf } from "../http/request-url.ts";
import type { Machine } from "../machine.ts";
import type { JobProgress } from "../model.ts";
import type { JobLogs } from "../store/logs.ts";
import { followLog, type LogStep, readLog } from "./follow-log.ts";
import { fromNextCharacter, LogText } from "./log-text.ts";
import type { PageStore } from "./page-store.ts";
import type { StreamReply } from "./stream-reply.ts";

export interface LogPagesOptions {
  store: Pick<PageStore, "jobs">;
  logs: JobLogs;
  /** How many logs are sent at a time. Default: a quarter of the allowed connections, at most 100. */
  maxLogs?: number | undefined;
  /**
   * The longest silence in a stream of events, so that no proxy considers it idle, and the interval at which the reader's access
   * is checked again. In milliseconds. Default: 15 seconds.
   */
  keepAliveMs?: number | undefined;
  /** Aborts when the service stops, which ends streams of events; then browsers reconnect. Default: never. */
  signal?: AbortSignal | undefined;
  machine: Pick<Machine, "now">;
}

/** Returns whether a reader may still read a log: no longer after signing out, for example. */
export type IsAllowed = () => Promise<boolean>;

/** The logs of jobs, as text or as events. A log is sent until its job is no longer active. */
export class LogPages {
  readonly #options: LogPagesOptions;
  readonly #maxLogs: number;
  readonly #keepAliveMs: number;
  /** How many logs are being sent. */
  #count = 0;

  constructor(options: LogPagesOptions) {
    this.#options = options;
    this.#maxLogs = options.maxLogs ?? Math.min(100, Math.floor(defaultMaxConnections() / 4));
    this.#keepAliveMs = options.keepAliveMs ?? 15_000;
  }

  /**
   * Returns the log of a job as text. With `?follow=no`, only as far as it exists now.
   *
   * @throws HttpException 503 if too many logs are being sent
   */
  async showText(request: IncomingMessage, jobId: string, isAllowed: IsAllowed): Promise<StreamReply> {
    const isFollowed = queryOf(request).get("follow") !== "no";
    const content = (signal: AbortSignal) => this.#text(jobId, isFollowed, isAllowed, signal);
    return this.#stream(request, "text/plain; charset=utf-8", content);
  }

  /**
   * Returns the log of a job, and what happens to its turns, as server-sent events:
   *
   * - `log`: text that was appended, as JSON. Its id is the position in the log, in bytes, at which the next text begins. The
   *   stream begins at the position `Last-Event-ID` or, without that header, `?after`. Default: 0
   * - `state`: the progress of the job as JSON, first of all and whenever it changes
   * - `end`: the job is no longer active, and nothing follows
   *
   * @throws HttpException 400 if the position is not a number, 503 if too many logs are being sent
   */
  async showEvents(request: IncomingMessage, jobId: string, isAllowed: IsAllowed): Promise<StreamReply> {
    const position = request.headers["last-event-id"] || (queryOf(request).get("after") ?? "0");
    if (!/^\d{1,15}$/.test(String(position))) throw new HttpException(400, "The position in the log is not a number");
    const content = (signal: AbortSignal) => this.#events(jobId, Number(position), isAllowed, signal);
    return this.#stream(request, "text/event-stream", content);
  }

  #stream(
    { method }: IncomingMessage,
    type: string,
    content: (signal: AbortSignal) => AsyncIterable<Buffer>,
  ): StreamReply {
    // Otherwise nginx buffers the stream.
    const headers = { "content-type": type, "x-accel-buffering": "no" };
    if (method === "HEAD") return { headers, content };
    if (this.#count >= this.#maxLogs)
      throw new HttpException(503, "Too many logs are being read. Try again later, or close one.", {
        "retry-after": "30",
      });
    this.#count++;
    return { headers, content: (signal) => this.#counted(content(signal)) };
  }

  async *#counted(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* content;
    } finally {
      this.#count--;
    }
  }

  async *#text(jobId: string, isFollowed: boolean, isAllowed: IsAllowed, signal: AbortSignal): AsyncGenerator<Buffer> {
    if (!isFollowed) return yield* readLog(this.#options.logs, jobId, 0);
    const { machine } = this.#options;
    let [sentAt, isLineEnd] = [machine.now(), true];
    for await (const step of this.#follow(jobId, 0, isAllowed, signal)) {
      if ("part" in step) {
        yield step.part;
        isLineEnd = step.part.at(-1) === lineEnd;
        // Proxies end a connection on which nothing is sent for a minute. Text has no comments, as events have.
      } else if (isLineEnd && machine.now() - sentAt >= this.#keepAliveMs) yield Buffer.of(lineEnd);
      else continue;
      sentAt = machine.now();
    }
  }

  /** @throws HttpException 403 if the reader no longer has access, which cuts off the stream */
  async *#follow(
    jobId: string,
    from: number,
    isAllowed: IsAllowed,
    signal: AbortSignal,
  ): AsyncGenerator<LogStep<JobProgress>> {
    const { store, logs, machine } = this.#options;
    const readState = () => store.jobs.progress(jobId);
    const everyMs = this.#keepAliveMs / 3;
    let checkedAt = machine.now();
    for await (const step of followLog({ logs, jobId, from, readState, everyMs, signal })) {
      if (machine.now() - checkedAt >= this.#keepAliveMs) {
        if (!(await isAllowed())) throw new HttpException(403, "The reader no longer has access");
        checkedAt = machine.now();
      }
      yield step;
    }
  }

  async *#events(jobId: string, from: number, isAllowed: IsAllowed, closed: AbortSignal): AsyncGenerator<Buffer> {
    const { machine, signal: stopped } = this.#options;
    const signal = stopped === undefined ? closed : AbortSignal.any([closed, stopped]);
    const text = new LogText();
    let position = from;
    let shown: string | undefined;
    let sentAt = machine.now();
    for await (const step of this.#follow(jobId, from, isAllowed, signal)) {
      let message: Buffer | undefined;
      if ("part" in step) {
        const added = text.add(position === from ? fromNextCharacter(step.part) : step.part);
        position += step.part.length;
        if (added !== "") message = event("log", added, position - text.restBytes);
      } else if (step.state !== undefined && JSON.stringify(step.state) !== shown) {
        shown = JSON.stringify(step.state);
        message = event("state", step.state);
      } else if (machine.now() - sentAt >= this.#keepAliveMs) message = Buffer.from(":\n\n");
      if (message === undefined) continue;
      yield message;
      sentAt = machine.now();
    }
    if (signal.aborted) return;
    const rest = text.end();
    if (rest !== "") yield event("log", rest, position);
    yield event("end", null);
  }
}

const lineEnd = 10;

/** @param id - a browser that has lost the connection sends it as `Last-Event-ID` */
function event(name: "log" | "state" | "end", data: unknown, id?: number): Buffer {
  return Buffer.from(`${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}
