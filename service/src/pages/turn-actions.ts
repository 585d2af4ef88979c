import type { IncomingMessage } from "node:http";
import type { Access } from "../http/authentication.ts";
import { HttpException } from "../http/http-exception.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { PageJob } from "../model.ts";
import { type PageReply, redirect, textReply } from "./page-reply.ts";
import { duration } from "./words.ts";

/** Handles the buttons of a turn: stop it, or run it again. */
export class TurnActions {
  readonly #turns: Pick<Jobs, "stopTurn" | "retryTurn">;
  readonly #basePath: string;

  /** @param basePath - see `basePathOf` */
  constructor(turns: Pick<Jobs, "stopTurn" | "retryTurn">, basePath: string) {
    this.#turns = turns;
    this.#basePath = basePath;
  }

  /**
   * Stops a turn that waits or runs.
   *
   * @throws HttpException 409 if it has ended, or the job has no such turn
   */
  async stop(request: IncomingMessage, job: PageJob, turn: number, { name }: Access): Promise<PageReply> {
    const reason = `Stopped by an operator (${name}).`;
    const stopped = await this.#turns.stopTurn(job.project, job.id, turn, reason);
    if (stopped === undefined || stopped.hadEnded)
      throw new HttpException(409, "The turn has ended, or the job has no such turn");
    // Its agent may end by itself before it is stopped.
    return this.#answer(request, job, "The turn was taken out of the queue, or its agent is told to stop.");
  }

  /**
   * Runs the last turn again, which has failed.
   *
   * @throws HttpException 409 if it is not the last one or has not failed, 429 if the project has used up its messages
   */
  async retry(request: IncomingMessage, job: PageJob, turn: number): Promise<PageReply> {
    const result = await this.#turns.retryTurn(job.project, job.id, turn);
    if (result === undefined)
      throw new HttpException(409, "Only the last turn of a job can be run again, and only if it has failed");
    if (!("retryAfterMs" in result)) return this.#answer(request, job, "The turn is run again.");
    const seconds = Math.ceil(result.retryAfterMs / 1000);
    const wait = duration(seconds * 1000);
    throw new HttpException(429, `The project has used up its messages of this hour. Try again in ${wait}.`, {
      "retry-after": String(seconds),
    });
  }

  /** Leads a browser back to the page of the job. */
  #answer({ headers }: IncomingMessage, job: PageJob, text: string): PageReply {
    if (headers.authorization === undefined) return redirect(`${this.#basePath}/job/${job.id}`);
    return textReply(200, text);
  }
}
