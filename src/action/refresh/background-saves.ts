import type { Clock } from "../../client/clock.ts";
import { CacheReadOnlyError } from "../../runner-kit/cache.ts";
import type { SendingTask } from "../settings.ts";
import type { AttemptMemory } from "./attempt-memory.ts";
import type { SessionMemory, SessionUpdate } from "./session-memory.ts";

/** How long a request waits for the entry that says that it is about to be sent, in milliseconds. */
const maxHoldMs = 3000;
/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled, in milliseconds: soon after that, the runner kills it. */
const maxWaitAfterCancelMs = 2000;

export interface SavesPorts {
  clock: Clock;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** `undefined` if later attempts need no entry, or none can be saved. */
  attempts: AttemptMemory | undefined;
  /** `undefined` without a session. */
  session: SessionMemory | undefined;
  /** Returns where the range of changes starts that this attempt compares; `undefined` if there is none. */
  base: () => string | undefined;
  /** Called if something cannot be saved; `isInTime`: before the request was sent. */
  onFailure: (error: unknown, isInTime: boolean) => void;
}

/** Saves what a run sends while it waits for the job, so that the step waits for the cache only at its start and end. */
export class BackgroundSaves {
  readonly #ports: SavesPorts;
  #announced: Promise<boolean> | undefined;
  #doubted: Promise<boolean> | undefined;
  #isAnnounced = false;
  #isReadOnly = false;
  #job: Promise<boolean> | undefined;
  #isJobSaved = false;

  constructor(ports: SavesPorts) {
    this.#ports = ports;
  }

  readonly #fail = (error: unknown): void => this.#ports.onFailure(error, false);

  /** Whether a later attempt will find the job of this one. */
  get isRemembered(): boolean {
    return this.#isJobSaved && this.#ports.attempts !== undefined;
  }

  /** Whether a later attempt will find at least that this one was about to send something. */
  get isAnnounced(): boolean {
    return this.#isAnnounced;
  }

  /** Whether the cache service has refused to save anything in this run. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /**
   * Says that a request is about to be sent, so that a runner that is lost at any moment leaves a trace. Waits until that is
   * saved, but only for a short time.
   */
  async announce(sent: SendingTask["kind"]): Promise<void> {
    const { clock, signal, attempts, base, onFailure } = this.#ports;
    if (!attempts || this.#announced) return;
    const fail = once((error: unknown) => {
      this.#isReadOnly = error instanceof CacheReadOnlyError;
      onFailure(error, true);
    });
    this.#announced = watch(attempts.save("pending", { sent, base: base() }), fail);
    const settled = new AbortController();
    void this.#announced.then((isSaved) => {
      if (isSaved) this.#isAnnounced = true;
      settled.abort();
    });
    await clock.sleep(maxHoldMs, AbortSignal.any([settled.signal, signal]));
    if (!settled.signal.aborted && !signal.aborted) fail(new Error("the cache service did not respond in time"));
  }

  /** Begins to save a job. */
  begin(sent: SendingTask["kind"], jobId: string): void {
    const { attempts, session, base } = this.#ports;
    const start = { jobId, sent, isResumed: false, pullRequest: undefined, end: undefined, base: base() };
    const saves = [attempts?.save("job", { sent, jobId, base: base() }), session?.save(start)];
    this.#job = watch(Promise.all(saves), this.#fail);
    void this.#job.then((isSaved) => {
      this.#isJobSaved = isSaved;
    });
  }

  /**
   * Begins to save that it is unknown whether the service accepted a request, unless an entry says so already, or one that
   * says so or names the job is being saved. Once that has failed, it can be tried again.
   */
  doubt(sent: SendingTask["kind"]): void {
    const { attempts, base } = this.#ports;
    if (!attempts || this.#isAnnounced || this.#doubted || this.#job) return;
    this.#doubted = watch(attempts.save("pending", { sent, base: base() }), this.#fail);
    void this.#doubted.then((isSaved) => {
      if (isSaved) this.#isAnnounced = true;
      else this.#doubted = undefined;
    });
  }

  /** Says that nothing was started, and waits until that is saved, but only for a short time. */
  async withdraw(sent: SendingTask["kind"]): Promise<void> {
    const { attempts, base } = this.#ports;
    if (!attempts || this.#isReadOnly) return;
    await this.#untilSettled(
      watch(attempts.save("not-sent", { sent, base: base() }), () => {}),
      () => {},
    );
  }

  /**
   * Waits until everything is saved, but only for a short time.
   *
   * @param end - what the session remembers of the end. Default: nothing
   */
  async finish(end?: SessionUpdate): Promise<void> {
    await this.#untilSettled(this.#complete(end), this.#fail);
  }

  async #complete(end: SessionUpdate | undefined): Promise<void> {
    const { session } = this.#ports;
    const isJobSaved = await this.#job;
    if (session && end) await watch(session.save(end), this.#fail);
    // If no entry names the job, a later attempt has to find that something was sent.
    if (!isJobSaved) await Promise.all([this.#announced, this.#doubted]);
  }

  async #untilSettled(all: Promise<unknown>, onLate: (error: Error) => void): Promise<void> {
    const { clock, signal } = this.#ports;
    const settled = new AbortController();
    void all.then(() => settled.abort());
    const end = clock.now() + maxWaitMs;
    await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
    // A job that is forgotten because the step is cancelled would be started twice.
    if (signal.aborted) await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
    if (settled.signal.aborted) return;
    const reason = signal.aborted
      ? "the step was cancelled before the cache service had confirmed it"
      : "the cache service did not respond in time";
    onLate(new Error(reason));
  }
}

/** Returns whether a save succeeds, and reports why it does not. */
function watch(saving: Promise<unknown>, onFailure: (error: unknown) => void): Promise<boolean> {
  return saving.then(
    () => true,
    (error: unknown) => {
      onFailure(error);
      return false;
    },
  );
}

/** Returns a function that only acts on its first call. */
function once(act: (error: unknown) => void): (error: unknown) => void {
  let isDone = false;
  return (error) => {
    if (!isDone) act(error);
    isDone = true;
  };
}
