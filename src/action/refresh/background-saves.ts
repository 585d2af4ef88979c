import type { Clock } from "../../client/clock.ts";
import type { SendingTask } from "../plan.ts";
import type { PullRequest } from "../pull-request.ts";
import type { AttemptMemory } from "./attempt-memory.ts";
import type { SessionMemory } from "./session-memory.ts";

/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled, in milliseconds: soon after that, the runner kills it. */
const maxWaitAfterCancelMs = 1500;

export interface SavesPorts {
  clock: Clock;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** `undefined` with `on-rerun: new`. */
  attempts: AttemptMemory | undefined;
  /** `undefined` without a session. */
  session: SessionMemory | undefined;
  /** Called if something cannot be saved. */
  onFailure: (error: unknown) => void;
}

/** Saves what a run has sent while it waits for the job, so that the step waits for the cache only at its end. */
export class BackgroundSaves {
  readonly #ports: SavesPorts;
  #saving: Promise<boolean> | undefined;
  #isDone = false;

  constructor(ports: SavesPorts) {
    this.#ports = ports;
  }

  /** Whether saving has begun. */
  get hasBegun(): boolean {
    return this.#saving !== undefined;
  }

  /** Whether a later attempt will find what this one sent. */
  get isRemembered(): boolean {
    return this.#isDone && this.#ports.attempts !== undefined;
  }

  /** Begins to save a job, or that a request was sent whose acceptance, and so whose job, is unknown. */
  begin(sent: SendingTask["kind"], jobId: string | undefined): void {
    const { attempts, session } = this.#ports;
    const saves = [attempts?.save(sent, jobId), jobId === undefined ? undefined : session?.save(jobId, undefined)];
    this.#saving = this.#watch(Promise.all(saves));
    void this.#saving.then((isDone) => {
      this.#isDone = isDone;
    });
  }

  /** Saves a job and its pull request for the session, and waits until everything is saved, but only for a short time. */
  async finish(jobId: string, pullRequest: PullRequest | undefined): Promise<void> {
    const { clock, signal, session, onFailure } = this.#ports;
    const before = this.#saving ?? Promise.resolve(true);
    const all = before.then((isDone) =>
      isDone && session && jobId !== "" ? this.#watch(session.save(jobId, pullRequest)) : undefined,
    );
    const settled = new AbortController();
    void all.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    // A job that is forgotten because the step is cancelled would be started twice.
    if (signal.aborted) await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (!settled.signal.aborted) onFailure(new Error("the cache service did not respond in time"));
  }

  #watch(saving: Promise<unknown>): Promise<boolean> {
    return saving.then(
      () => true,
      (error: unknown) => {
        this.#ports.onFailure(error);
        return false;
      },
    );
  }
}
