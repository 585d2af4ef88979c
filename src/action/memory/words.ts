import type { Clock } from "../../client/clock.ts";
import { messageOf } from "../../client/errors.ts";
import { type Cache, CacheReadOnlyError, cacheAccess } from "../../runner-kit/cache.ts";
import { hash } from "../hash.ts";
import type { Run, RunPorts } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import type { SendingTask } from "../settings.ts";
import type { EarlierAttempt, Word } from "./decide.ts";
import type { WordEntry } from "./entry.ts";

/** How long a request waits for the entry that says that it is about to be sent, in milliseconds. */
const maxHoldMs = 3000;
/** How long the step waits for a slow cache service at its end, in milliseconds. */
const maxWaitMs = 5000;
/** The same once the step is cancelled, in milliseconds: soon after that, the runner kills it. */
const maxWaitAfterCancelMs = 2000;

/** The words in the keys of entries. A later one outranks those before it, in whatever order they arrive. */
const states = ["pending", "not-sent", "job"] as const;
type State = (typeof states)[number];
const stateOf = { "about to send": "pending", "nothing sent": "not-sent", job: "job" } as const;

/** What the cache says of the earlier attempts. */
export interface ReadWords {
  /** The newest first, up to one that names a job. */
  attempts: EarlierAttempt[];
  /** Where the range of changes started that one compared. */
  base: string | undefined;
  /** Whether the service had announced that it can be asked; `undefined` if no entry says it. */
  hadAnnounced: boolean | undefined;
  /** Why some cannot be read. */
  error: string | undefined;
}

/**
 * The words of the attempts of a step, in the repository's Actions cache. Each state of an attempt has a key of its own, because
 * entries of a run do not arrive in the order in which they were saved.
 */
export class CachedWords {
  readonly #cache: Cache;
  readonly #attempt: number;
  /** The prefix of the keys of all entries of the step. */
  readonly #prefix: string;
  /** The part of the keys of entries with this prompt that follows the state. */
  readonly #prompt: string;
  readonly #inputsPrefix: (attempt: number) => string;
  #saves = 0;

  constructor(
    cache: Cache,
    task: Pick<SendingTask, "kind" | "prompt">,
    { settings, key, ports: { environment } }: Run,
  ) {
    this.#cache = cache;
    this.#attempt = runAttempt(environment);
    this.#prefix = `agent-job-${key.step}-`;
    this.#prompt = hash(JSON.stringify([task.kind, task.prompt]));
    this.#inputsPrefix = (attempt) => invalidInputsPrefix(settings.matrixLeg, environment, attempt);
  }

  /** Reads what the earlier attempts left. Never rejects. */
  async read(): Promise<ReadWords> {
    const read: ReadWords = { attempts: [], base: undefined, hadAnnounced: undefined, error: undefined };
    let attempt = this.#attempt - 1;
    try {
      const isEmpty = (await this.#cache.restore(this.#prefix)) === undefined;
      for (; attempt >= 1; attempt--) {
        const { word, entry } = isEmpty ? {} : await this.#wordOf(attempt);
        if (read.hadAnnounced !== true) read.hadAnnounced = entry?.announced ?? read.hadAnnounced;
        read.base ??= entry?.base;
        const hadInvalidInputs = !word && (await this.#cache.restore(this.#inputsPrefix(attempt))) !== undefined;
        read.attempts.push({ attempt, word: hadInvalidInputs ? { kind: "nothing sent" } : word });
        if (word?.kind === "job") return read;
      }
    } catch (error) {
      read.error = messageOf(error);
      for (; attempt >= 1; attempt--) read.attempts.push({ attempt, word: "unreadable" });
    }
    return read;
  }

  /**
   * Saves a word of this attempt.
   *
   * @throws if it cannot be saved
   */
  async save(word: Word, entry: Omit<WordEntry, "attempt" | "jobId">): Promise<void> {
    const jobId = word.kind === "job" ? { jobId: word.jobId } : {};
    const { sent, ...others } = entry;
    const text = JSON.stringify({ version: 1, attempt: this.#attempt, sent, ...jobId, ...others });
    // A key can be used only once, also by a save that failed.
    const key = `${this.#keyOf(this.#attempt, stateOf[word.kind])}${this.#prompt}-${++this.#saves}`;
    await this.#cache.save(key, text);
  }

  async #wordOf(attempt: number): Promise<{ word?: Word; entry?: WordEntry }> {
    for (const [hasOtherPrompt, prompt] of [
      [false, this.#prompt],
      [true, ""],
    ] as const) {
      const texts = await Promise.all(states.map((state) => this.#cache.restore(this.#keyOf(attempt, state) + prompt)));
      const index = texts.findLastIndex((text) => text !== undefined);
      const state = states[index];
      if (state === undefined) continue;
      // Loaded here, because only a re-run reads what the attempt before it saved.
      const { parseWordEntry } = await import("./parse-entry.ts");
      const entry = parseWordEntry(texts[index] ?? "");
      if (!entry || (state === "job" && entry.jobId === undefined)) throw new Error("the entry is not usable");
      const { jobId = "", sent, isNew = false } = entry;
      if (state === "not-sent") return { word: { kind: "nothing sent" }, entry };
      if (state === "pending") return { word: { kind: "about to send", hasOtherPrompt, isNew }, entry };
      return { word: { kind: "job", jobId, sent, hasOtherPrompt }, entry };
    }
    return {};
  }

  #keyOf(attempt: number, state: State): string {
    return `${this.#prefix}${attempt}-${state}-`;
  }
}

export interface WordsPorts {
  clock: Clock;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** `undefined` if none can be saved. */
  cache: CachedWords | undefined;
  /** Returns what entries say besides their word. */
  facts: () => Omit<WordEntry, "attempt" | "jobId" | "sent">;
  /** Called if something cannot be saved; `isInTime`: before the request was sent. */
  onFailure: (error: unknown, isInTime: boolean) => void;
}

/** What became of a save. */
interface Fate {
  word: Word;
  fate: "saved" | "unknown" | "refused";
}

/** Saves the words of this attempt while it waits for the job, so that the step waits for the cache only at its start and end. */
export class OwnWords {
  readonly #ports: WordsPorts;
  #announced: Promise<boolean> | undefined;
  #doubted: Promise<boolean> | undefined;
  #job: Promise<boolean> | undefined;
  #isReadOnly = false;
  /** What was saved, and what may have been. */
  readonly #fates: Fate[] = [];

  constructor(ports: WordsPorts) {
    this.#ports = ports;
  }

  /** Whether the cache service has refused to save anything in this run. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** What a later attempt may find as the word of this one: every word that outranks what it will find for certain. */
  get fates(): (Word | undefined)[] {
    const rank = (word: Word | undefined): number => (word ? states.indexOf(stateOf[word.kind]) : -1);
    const saved = this.#fates.filter(({ fate }) => fate === "saved").map(({ word }) => word);
    const certain = saved.toSorted((one, other) => rank(other) - rank(one))[0];
    const unknown = this.#fates.filter(({ word, fate }) => fate === "unknown" && rank(word) > rank(certain));
    return [certain, ...unknown.map(({ word }) => word)];
  }

  /**
   * Says that a request is about to be sent, so that a runner that is lost at any moment leaves a trace. Waits until that is
   * saved, but only for a short time. Returns whether it is.
   */
  async announce(sent: SendingTask["kind"], isNew: boolean): Promise<boolean> {
    const { clock, signal, cache, onFailure } = this.#ports;
    if (!cache) return false;
    if (this.#announced) return this.#isAnnounced;
    const fail = once((error: unknown) => onFailure(error, true));
    this.#announced = this.#save({ kind: "about to send", isNew }, sent, fail);
    const settled = new AbortController();
    void this.#announced.then(() => settled.abort());
    await clock.sleep(maxHoldMs, AbortSignal.any([settled.signal, signal]));
    if (!settled.signal.aborted && !signal.aborted) fail(new Error("the cache service did not respond in time"));
    return this.#isAnnounced;
  }

  /**
   * Begins to save a job that this attempt started.
   *
   * @param saveSession - saves it for the session. Default: there is none
   */
  begin(sent: SendingTask["kind"], jobId: string, saveSession?: () => Promise<void>): void {
    const fail = once((error: unknown) => this.#ports.onFailure(error, false));
    const session = saveSession?.().then(
      () => true,
      (error: unknown) => {
        fail(error);
        return false;
      },
    );
    const saves = Promise.all([this.#saveIfPossible({ kind: "job", jobId, sent }, sent, fail), session]);
    this.#job = saves.then(([isSaved]) => isSaved);
  }

  /** Begins to save a job that this attempt waits for, as its own: later ones need not look at those before it. */
  adopt(sent: SendingTask["kind"], jobId: string): void {
    this.#job ??= this.#saveIfPossible({ kind: "job", jobId, sent }, sent, () => {});
  }

  /**
   * Begins to save that it is unknown whether the service accepted a request, unless an entry says so already, or one that
   * says so or names the job is being saved. Once that has failed, it can be tried again.
   */
  doubt(sent: SendingTask["kind"], isNew: boolean): void {
    const { cache, onFailure } = this.#ports;
    if (!cache || this.#isAnnounced || this.#doubted || this.#job) return;
    this.#doubted = this.#save({ kind: "about to send", isNew }, sent, (error) => onFailure(error, false));
    void this.#doubted.then((isSaved) => {
      if (!isSaved) this.#doubted = undefined;
    });
  }

  /** Says that nothing was started, and waits until that is saved, but only for a short time. */
  async withdraw(sent: SendingTask["kind"]): Promise<void> {
    if (!this.#ports.cache || this.#isReadOnly) return;
    const saving = this.#save({ kind: "nothing sent" }, sent, () => {});
    await untilSettled(saving, this.#ports);
  }

  /**
   * Waits until everything is saved, but only for a short time.
   *
   * @param saveEnd - saves the end for the session. Default: nothing
   */
  async finish(saveEnd?: () => Promise<void>): Promise<void> {
    const { onFailure } = this.#ports;
    const complete = async (): Promise<void> => {
      const isJobSaved = await this.#job;
      await saveEnd?.().catch((error: unknown) => onFailure(error, false));
      // If no entry names the job, a later attempt has to find that something was sent.
      if (!isJobSaved) await Promise.all([this.#announced, this.#doubted]);
    };
    const late = await untilSettled(complete(), this.#ports);
    if (late) onFailure(late, false);
  }

  get #isAnnounced(): boolean {
    return this.#fates.some(({ word, fate }) => word.kind === "about to send" && fate === "saved");
  }

  async #saveIfPossible(...save: [Word, SendingTask["kind"], (error: unknown) => void]): Promise<boolean> {
    return this.#ports.cache ? this.#save(...save) : false;
  }

  /** Returns whether the word is saved, and reports why it is not. */
  async #save(word: Word, sent: SendingTask["kind"], onFailure: (error: unknown) => void): Promise<boolean> {
    const entry: Fate = { word, fate: "unknown" };
    this.#fates.push(entry);
    const isNew = word.kind === "about to send" && word.isNew ? ({ isNew: true } as const) : {};
    try {
      await this.#ports.cache?.save(word, { sent, ...this.#ports.facts(), ...isNew });
      entry.fate = "saved";
      return true;
    } catch (error) {
      if (error instanceof CacheReadOnlyError) {
        this.#isReadOnly = true;
        entry.fate = "refused";
      }
      onFailure(error);
      return false;
    }
  }
}

/** Waits for saves, but only for a short time. Returns why it no longer waits; `undefined` if they are settled. */
async function untilSettled(
  saves: Promise<unknown>,
  { clock, signal }: Pick<RunPorts, "clock" | "signal">,
): Promise<Error | undefined> {
  const settled = new AbortController();
  void saves.then(() => settled.abort());
  const end = clock.now() + maxWaitMs;
  await clock.sleep(maxWaitMs, AbortSignal.any([settled.signal, signal]));
  // A job that is forgotten because the step is cancelled would be started twice.
  if (signal.aborted) await clock.sleep(Math.min(maxWaitAfterCancelMs, end - clock.now()), settled.signal);
  if (settled.signal.aborted) return undefined;
  const cancelled = "the step was cancelled before the cache service had confirmed it";
  return new Error(signal.aborted ? cancelled : "the cache service did not respond in time");
}

/** Returns a function that only acts on its first call. */
function once(act: (error: unknown) => void): (error: unknown) => void {
  let isDone = false;
  return (error) => {
    if (!isDone) act(error);
    isDone = true;
  };
}

/** Returns the prefix of the key that says that an attempt had invalid inputs, which it could not be told apart by. */
function invalidInputsPrefix(matrixLeg: string, environment: NodeJS.ProcessEnv, attempt: number): string {
  const { GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
  return `agent-job-inputs-${hash(JSON.stringify([GITHUB_RUN_ID, GITHUB_JOB, GITHUB_ACTION, matrixLeg]))}-${attempt}-`;
}

/**
 * Remembers that this attempt sent nothing, because its inputs were invalid: a missing secret is added, and the run is
 * re-run. Never rejects; without the entry, the re-run asks GitHub.
 */
export async function rememberInvalidInputs(matrixLeg: string, ports: RunPorts): Promise<void> {
  const { environment, connectCache, signal } = ports;
  if (cacheAccess(environment) !== "write" || signal.aborted) return;
  const key = `${invalidInputsPrefix(matrixLeg, environment, runAttempt(environment))}1`;
  const save = async (): Promise<void> => (await connectCache()).save(key, JSON.stringify({ version: 1 }));
  await untilSettled(
    save().catch(() => {}),
    ports,
  );
}
