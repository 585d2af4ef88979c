import { messageOf } from "../../client/errors.ts";
import type { Cache } from "../../runner-kit/cache.ts";
import type { SendingTask } from "../plan.ts";
import type { Run } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import { hash } from "./hash.ts";

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

/** Remembers what the attempts of a step started, in the repository's Actions cache. */
export class AttemptMemory {
  readonly #cache: Cache;
  readonly #attempt: number;
  /** The prefix of the keys of all entries of the step, and of those with this prompt. */
  readonly #stepPrefix: string;
  readonly #promptPrefix: string;
  #saves = 0;

  constructor(cache: Cache, task: SendingTask, { settings, ports: { environment } }: Run) {
    this.#cache = cache;
    this.#attempt = runAttempt(environment);
    // The same in all attempts. GitHub's documentation: "Variables reference".
    const { GITHUB_RUN_ID: runId = "", GITHUB_JOB: job = "", GITHUB_ACTION: step = "" } = environment;
    // The legs of a matrix share their job.
    const { baseUrl, projectId, session, matrixLeg } = settings;
    const jobId = task.kind === "message" ? task.jobId : "";
    const parts = [runId, job, step, matrixLeg, baseUrl.href, projectId, task.kind, jobId, session];
    this.#stepPrefix = `agent-job-${hash(JSON.stringify(parts))}-`;
    this.#promptPrefix = `${this.#stepPrefix}${hash(task.prompt)}-`;
  }

  /** Finds what an earlier attempt started. Never rejects. */
  async find(): Promise<EarlierAttempt> {
    try {
      const own = await this.#cache.restore(this.#promptPrefix);
      const text = own ?? (await this.#cache.restore(this.#stepPrefix));
      if (text === undefined) return { kind: "none" };
      // Loaded here, because only a re-run reads what the attempt before it saved.
      const { parseAttemptEntry } = await import("./parse-entry.ts");
      const entry = parseAttemptEntry(text);
      if (!entry) throw new Error("the entry is not usable");
      const { jobId, sent, attempt } = entry;
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
    await this.#cache.save(
      key,
      JSON.stringify({ version: 1, attempt: this.#attempt, sent, ...(jobId !== undefined && { jobId }) }),
    );
  }
}
