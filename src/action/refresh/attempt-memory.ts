import { messageOf } from "../../client/errors.ts";
import type { Cache } from "../../runner-kit/cache.ts";
import { hash } from "../hash.ts";
import type { Run } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import type { SendingTask } from "../settings.ts";
import { type AttemptEntry, type AttemptState, attemptStates } from "./entry.ts";
import { invalidInputsPrefix } from "./invalid-inputs.ts";

/** What the earlier attempts of the same step left in the cache. */
export type EarlierAttempt =
  /** They started nothing. `silent`: attempts that left no entry. */
  | { kind: "none"; silent: number[]; base?: string | undefined }
  /** One started a job, or sent a message to it. */
  | { kind: "job"; jobId: string; sent: "create" | "message"; attempt: number; base?: string | undefined }
  /** One was about to send its request, and whether that was accepted is unknown. */
  | { kind: "pending"; attempt: number; base?: string | undefined }
  /** One sent a request with another prompt. */
  | { kind: "other-prompt"; jobId: string | undefined; attempt: number }
  | { kind: "unreadable"; detail: string };

/**
 * Remembers what the attempts of a step started, in the repository's Actions cache. Each state of an attempt has a key of its
 * own, because entries of a run do not arrive in the order in which they were saved.
 */
export class AttemptMemory {
  readonly #cache: Cache;
  readonly #attempt: number;
  /** The prefix of the keys of all entries of the step. */
  readonly #prefix: string;
  /** The part of the keys of entries with this prompt that follows the state. */
  readonly #prompt: string;
  #saves = 0;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #matrixLeg: string;

  constructor(cache: Cache, task: SendingTask, { settings, key, ports: { environment } }: Run) {
    this.#cache = cache;
    this.#attempt = runAttempt(environment);
    this.#environment = environment;
    this.#matrixLeg = settings.matrixLeg;
    this.#prefix = `agent-job-${key.step}-`;
    this.#prompt = hash(JSON.stringify([task.kind, task.prompt]));
  }

  /** The beginning of the keys of this attempt's entries, for people who want to delete them. */
  get keyPrefix(): string {
    return this.#prefix;
  }

  /** Finds what the earlier attempts started. Never rejects. */
  async find(): Promise<EarlierAttempt> {
    try {
      const silent: number[] = [];
      let base: string | undefined;
      const isEmpty = (await this.#cache.restore(this.#prefix)) === undefined;
      for (let attempt = this.#attempt - 1; attempt >= 1; attempt--) {
        const found = isEmpty ? undefined : await this.#findOf(attempt);
        if (found && found.kind !== "not-sent") return found;
        base ??= found?.base;
        if (!found && !(await this.#hadInvalidInputs(attempt))) silent.push(attempt);
      }
      return { kind: "none", silent, base };
    } catch (error) {
      return { kind: "unreadable", detail: messageOf(error) };
    }
  }

  /**
   * Saves the state of this attempt, for later attempts.
   *
   * @throws if it cannot be saved
   */
  async save(state: AttemptState, entry: Omit<AttemptEntry, "attempt">): Promise<void> {
    const text = JSON.stringify({ version: 1, attempt: this.#attempt, ...entry });
    // A key can be used only once, also by a save that failed.
    const key = `${this.#keyOf(this.#attempt, state)}${this.#prompt}-${++this.#saves}`;
    await this.#cache.save(key, text);
  }

  async #findOf(
    attempt: number,
  ): Promise<Exclude<EarlierAttempt, { kind: "none" }> | { kind: "not-sent"; base: string | undefined } | undefined> {
    const own = await Promise.all(
      attemptStates.map((state) => this.#cache.restore(this.#keyOf(attempt, state) + this.#prompt)),
    );
    const index = own.findLastIndex((text) => text !== undefined);
    const text = own[index];
    if (text !== undefined) {
      const { jobId, sent, base } = await this.#parse(text);
      switch (attemptStates[index]) {
        case "job":
          if (jobId === undefined) throw new Error("the entry is not usable");
          return { kind: "job", jobId, sent, attempt, base };
        case "not-sent":
          return { kind: "not-sent", base };
        default:
          return { kind: "pending", attempt, base };
      }
    }
    for (const state of ["job", "pending"] as const) {
      const other = await this.#cache.restore(this.#keyOf(attempt, state));
      if (other !== undefined) return { kind: "other-prompt", jobId: (await this.#parse(other)).jobId, attempt };
    }
    return undefined;
  }

  async #hadInvalidInputs(attempt: number): Promise<boolean> {
    const prefix = invalidInputsPrefix(this.#matrixLeg, this.#environment, attempt);
    return (await this.#cache.restore(prefix)) !== undefined;
  }

  async #parse(text: string): Promise<AttemptEntry> {
    // Loaded here, because only a re-run reads what the attempt before it saved.
    const { parseAttemptEntry } = await import("./parse-entry.ts");
    const entry = parseAttemptEntry(text);
    if (!entry) throw new Error("the entry is not usable");
    return entry;
  }

  #keyOf(attempt: number, state: AttemptState): string {
    return `${this.#prefix}${attempt}-${state}-`;
  }
}
