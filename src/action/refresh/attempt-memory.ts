import * as z from "zod/mini";
import { isUsableJobId } from "../../client/contract.ts";
import { messageOf } from "../../client/errors.ts";
import type { Cache } from "../../runner-kit/cache.ts";
import type { Settings, Task } from "../inputs/schema.ts";
import { hash } from "./hash.ts";

/** A task that sends something, so that a re-run must not repeat it. */
export type SendingTask = Exclude<Task, { kind: "attach" }>;

/** What an earlier attempt of the same step left behind. */
export type EarlierAttempt =
  | { kind: "none" }
  /** It started a job, or sent a message to it. */
  | { kind: "job"; jobId: string; sent: "create" | "message"; attempt: number }
  /** It sent its request, and whether that was accepted is unknown. */
  | { kind: "pending"; attempt: number }
  /** It sent a request with another prompt. */
  | { kind: "other-prompt"; jobId: string | undefined; attempt: number }
  | { kind: "unreadable"; detail: string };

/** Identifies a step of a workflow run, the same in all attempts. GitHub's documentation: "Variables reference". */
export interface StepIdentity {
  /** `GITHUB_RUN_ID`, `GITHUB_JOB` and `GITHUB_ACTION`. */
  runId: string;
  job: string;
  step: string;
  /** Tells the legs of a matrix apart, which share their job. */
  matrixLeg: string;
}

const entry = z.object({
  version: z.literal(1),
  jobId: z.optional(z.string().check(z.refine(isUsableJobId))),
  sent: z.enum(["create", "message"]),
  attempt: z.int(),
});

/** Remembers what the attempts of a step started, in the repository's Actions cache. */
export class AttemptMemory {
  readonly #connect: () => Cache;
  readonly #attempt: number;
  /** Of all entries of the step, and of those with this prompt. */
  readonly #stepPrefix: string;
  readonly #promptPrefix: string;
  #saves = 0;

  /** @param attempt - `GITHUB_RUN_ATTEMPT` */
  constructor(
    connect: () => Cache,
    attempt: number,
    identity: StepIdentity,
    settings: Pick<Settings, "baseUrl" | "projectId" | "session">,
    task: SendingTask,
  ) {
    this.#connect = connect;
    this.#attempt = attempt;
    const { runId, job, step, matrixLeg } = identity;
    const { baseUrl, projectId, session } = settings;
    const jobId = task.kind === "message" ? task.jobId : "";
    const parts = [runId, job, step, matrixLeg, baseUrl.href, projectId, task.kind, jobId, session];
    this.#stepPrefix = `agent-job-${hash(JSON.stringify(parts))}-`;
    this.#promptPrefix = `${this.#stepPrefix}${hash(task.prompt)}-`;
  }

  /** Finds what an earlier attempt started. Never rejects. */
  async find(): Promise<EarlierAttempt> {
    try {
      const cache = this.#connect();
      const own = await cache.restore(this.#promptPrefix);
      const text = own ?? (await cache.restore(this.#stepPrefix));
      if (text === undefined) return { kind: "none" };
      const { jobId, sent, attempt } = parseEntry(text);
      if (own === undefined) return { kind: "other-prompt", jobId, attempt };
      return jobId === undefined ? { kind: "pending", attempt } : { kind: "job", jobId, sent, attempt };
    } catch (error) {
      return { kind: "unreadable", detail: messageOf(error) };
    }
  }

  /**
   * Saves the job that this attempt started, for later attempts.
   *
   * @param jobId - `undefined` if whether the request was accepted is unknown
   * @throws if it cannot be saved
   */
  async save(sent: "create" | "message", jobId: string | undefined): Promise<void> {
    // A key can only be saved once, and a later save of this attempt has to be newer.
    const key = `${this.#promptPrefix}${this.#attempt}-${++this.#saves}`;
    const cache = this.#connect();
    await cache.save(
      key,
      JSON.stringify({ version: 1, attempt: this.#attempt, sent, ...(jobId !== undefined && { jobId }) }),
    );
  }
}

/** Parses an entry, which anyone who can write the cache may have written. Throws if it is not an entry of this version. */
function parseEntry(text: string): z.infer<typeof entry> {
  try {
    return entry.parse(JSON.parse(text));
  } catch {
    throw new Error("the entry is not usable");
  }
}
