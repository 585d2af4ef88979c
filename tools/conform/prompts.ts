import type { Answer, Connection, NoAnswer, Request } from "./connection.ts";
import { isObject } from "./job-record.ts";

/**
 * Sends the creates and messages, which cost money. It stops sending any as soon as one may have started something that was not
 * announced, so that at most one is started by a fault of the service.
 */
export class Prompts {
  readonly #connection: Connection;
  #obstacle: string | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Why nothing is sent anymore. `undefined`: it is. */
  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /** Sends a prompt that the service is to accept. Returns `undefined` if none is sent anymore. */
  async sendAnnounced(request: Request): Promise<Answer | NoAnswer | undefined> {
    const answer = await this.#send(request);
    if (answer !== undefined && isUnknown(answer)) this.#stop("it is unknown whether the service accepted a request");
    return answer;
  }

  /** Sends a prompt that the service is to reject. Returns `undefined` if none is sent anymore. */
  async sendInvalid(request: Request): Promise<Answer | NoAnswer | undefined> {
    const answer = await this.#send(request);
    if (answer !== undefined && (isUnknown(answer) || isAccepted(answer)))
      this.#stop("the service may have accepted a request that it must reject");
    return answer;
  }

  /** Sends a prompt that the service is to recognize, since it has created `jobId` for it. */
  async sendAgain(request: Request, jobId: string): Promise<Answer | NoAnswer | undefined> {
    const answer = await this.#send(request);
    if (answer === undefined) return undefined;
    const isSame = isAccepted(answer) && isObject(answer.json) && answer.json.id === jobId;
    if (isUnknown(answer) || (isAccepted(answer) && !isSame))
      this.#stop("the service may have started a second job for the same request");
    return answer;
  }

  async #send(request: Request): Promise<Answer | NoAnswer | undefined> {
    return this.#obstacle === undefined ? this.#connection.send({ method: "POST", ...request }) : undefined;
  }

  #stop(why: string): void {
    this.#obstacle = `${why}, so no more creates and messages are sent`;
  }
}

export function isAccepted(answer: Answer | NoAnswer): answer is Answer {
  return "status" in answer && answer.status >= 200 && answer.status < 300;
}

/** The service, or something on the way, may have acted on a request before it answered so. */
function isUnknown(answer: Answer | NoAnswer): boolean {
  return "error" in answer || answer.status >= 500 || answer.status === 408;
}
