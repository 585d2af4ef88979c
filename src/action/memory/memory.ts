import { type CacheAccess, CacheReadOnlyError, cacheAccess, hasCacheService } from "../../runner-kit/cache.ts";
import { message, say, type Text } from "../../runner-kit/text.ts";
import { commitOf } from "../commit-of.ts";
import { hash } from "../hash.ts";
import { endOf, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import type { SendingTask } from "../settings.ts";
import { askService } from "./ask-service.ts";
import type { Word } from "./decide.ts";
import { type SessionMemory, type SessionUpdate, sessionMemory } from "./session.ts";
import { untilSettled } from "./wait.ts";
import { type CachedWords, cachedWords, strengthOf } from "./words.ts";

/** How long a request waits for the entry that says that it is about to be sent, in milliseconds. */
const maxHoldMs = 3000;

/** A word that this attempt has begun to save, and what became of it. */
interface Save {
  word: Word;
  fate: "saved" | "unknown" | "refused";
}

/** What is remembered for a step in the Actions cache. It is saved while the step waits for the job. */
export class Memory {
  /** The words of earlier attempts; `undefined` without a cache that can be read, and beside an own agent, whose service is asked. */
  readonly cache: CachedWords | undefined;
  readonly kind: SendingTask["kind"];
  session: SessionMemory | undefined;
  /** Where the range of changes started that an earlier attempt compared. */
  firstBase: string | undefined;
  /** Whether the cache service has refused to save anything in this run. */
  isReadOnly = false;
  readonly #run: Run;
  readonly #openSession: (session: string) => SessionMemory | undefined;
  readonly #saves: Save[] = [];
  #announced: Promise<boolean> | undefined;
  #doubted: Promise<boolean> | undefined;
  #job: Promise<boolean> | undefined;

  constructor(
    task: Pick<SendingTask, "kind" | "prompt">,
    run: Run,
    connected: Awaited<ReturnType<Run["ports"]["connectCache"]>> | undefined,
    hasThread: boolean,
  ) {
    this.#run = run;
    this.kind = task.kind;
    // With changes, they have where the range started. For anything else, they do not count.
    const hasWords = !run.settings.agent || run.settings.changes !== undefined;
    this.cache = connected && hasWords ? cachedWords(connected, task, run) : undefined;
    // A reusable workflow that is called twice has the same steps, told apart by their prompts.
    const step = hash(JSON.stringify([run.key.step, task.kind, task.prompt]));
    // Of a thread, the reply is the memory.
    const ofSessions = hasThread ? undefined : connected;
    this.#openSession = (session) => ofSessions && sessionMemory(ofSessions, step, session, run.ports.environment);
  }

  /** Opens what is remembered of the session; `base`: the branch that its jobs start from. Default: the project's own. */
  openSession(base: string | undefined): void {
    const { state, key } = this.#run;
    state.session = key.sessionOf(base);
    this.session = state.session === undefined ? undefined : this.#openSession(state.session);
  }

  get isWritable(): boolean {
    return cacheAccess(this.#run.ports.environment) === "write";
  }

  /** What a later attempt may find as the word of this one: every word that outranks what it will find for certain. */
  get words(): (Word | undefined)[] {
    const saved = this.#saves.filter(({ fate }) => fate === "saved").map(({ word }) => word);
    const certain = saved.toSorted((one, other) => strengthOf(other) - strengthOf(one))[0];
    const unknown = this.#saves.filter(
      ({ word, fate }) => fate === "unknown" && strengthOf(word) > strengthOf(certain),
    );
    return [certain, ...unknown.map(({ word }) => word)];
  }

  /** Says, so that a lost runner leaves a trace, that a request is about to be sent. Returns whether that is saved. */
  async announce(): Promise<boolean> {
    if (!this.#writable) return false;
    const { clock, signal } = this.#run.ports;
    const fail = (error: unknown): void => this.#run.log.notSaved(error, true);
    this.#announced = this.#save({ kind: "about to send" }, fail);
    const settled = new AbortController();
    void this.#announced.then(() => settled.abort());
    await clock.sleep(maxHoldMs, AbortSignal.any([settled.signal, signal]));
    if (!settled.signal.aborted && !signal.aborted) fail(new Error("the cache service did not respond in time"));
    return this.#isAnnounced;
  }

  /** Begins to save the job that this attempt started, also for the session. */
  begin(sent: SendingTask["kind"], jobId: string): void {
    const start = { jobId, sent, pullRequest: undefined, end: undefined };
    // The session has the job. A message to an own agent that is lost covers nothing, whatever the job's status says.
    const isKnown = sent === "message" && this.#run.settings.agent;
    const saves = Promise.all([this.#save({ kind: "job", jobId, sent }), isKnown || this.#saveSession(start)]);
    this.#job = saves.then(([isSaved]) => isSaved);
  }

  /** Begins to save a job that this attempt waits for, as its own: later ones need not look at those before it. */
  adopt(sent: SendingTask["kind"], jobId: string): void {
    this.#job ??= this.#save({ kind: "job", jobId, sent }, () => {});
  }

  /** Begins to save that the service may have accepted a request, unless an entry says that or names the job. */
  doubt(): void {
    if (this.#isAnnounced || this.#doubted || this.#job) return;
    this.#doubted = this.#save({ kind: "about to send" });
    void this.#doubted.then((isSaved) => {
      if (!isSaved) this.#doubted = undefined;
    });
  }

  /** Says that nothing was started, and waits until that is saved, but only for a short time. */
  async withdraw(): Promise<void> {
    if (!this.#writable || this.isReadOnly) return;
    await untilSettled(
      this.#save({ kind: "nothing sent" }, () => {}),
      this.#run.ports,
    );
  }

  /** Waits a short time for all saves. `hasJob`: the job is the step's own. */
  async finish(result: RunResult, sent: SendingTask["kind"], { hasJob = true } = {}): Promise<void> {
    const { state, settings } = this.#run;
    const { jobId, pullRequest } = state;
    // An agent of its own ends with the step.
    const end = endOf(result, state) ?? (settings.agent && "failed");
    const complete = async (): Promise<void> => {
      const isJobSaved = await this.#job;
      // Otherwise, a re-run could take the job's state for the one from before the message.
      if (isJobSaved && sent === "message" && end && !state.features)
        await this.#save({ kind: "job", jobId, sent: "create" }, () => {});
      if (hasJob && jobId !== "") await this.#saveSession({ jobId, sent, end, pullRequest });
      // If no entry names the job, a later attempt has to find that something was sent.
      if (!isJobSaved) await Promise.all([this.#announced, this.#doubted]);
    };
    const late = await untilSettled(complete(), this.#run.ports);
    if (late) this.#tell(late);
  }

  get #writable(): CachedWords | undefined {
    return this.isWritable ? this.cache : undefined;
  }

  get #isAnnounced(): boolean {
    return this.#saves.some(({ word, fate }) => word.kind === "about to send" && fate === "saved");
  }

  get #base(): string | undefined {
    return this.firstBase ?? this.#run.state.changes?.base;
  }

  readonly #tell = (error: unknown): void => this.#run.log.notSaved(error, false);

  async #saveSession(update: Omit<SessionUpdate, "base" | "isResumed">): Promise<void> {
    const isResumed = this.#run.state.origin === "resumed";
    if (this.isWritable) await this.session?.save({ ...update, isResumed, base: this.#base }).catch(this.#tell);
  }

  async #save(word: Word, onFailure: (error: unknown) => void = this.#tell): Promise<boolean> {
    if (!this.#writable) return false;
    const { features, isMute } = this.#run.state;
    const save: Save = { word, fate: "unknown" };
    this.#saves.push(save);
    try {
      await this.#writable.save(word, { base: commitOf(this.#base), announced: isMute ? false : features && true });
      save.fate = "saved";
      return true;
    } catch (error) {
      if (error instanceof CacheReadOnlyError) {
        this.isReadOnly = true;
        save.fate = "refused";
      }
      onFailure(error);
      return false;
    }
  }

  /** Says what a later attempt, or the next run of the session, will not know, because the cache cannot be written. */
  async sayWhatIsForgotten(): Promise<void> {
    const { log, settings, state, ports } = this.#run;
    const access = cacheAccess(ports.environment);
    // A service that can be asked tells a re-run.
    if (settings.onRerun !== "new" && access !== "absent") await askService(this.#run);
    const isKnown = settings.onRerun === "new" || state.features !== undefined;
    const [why, remedy] = unwritable[access];
    // Without any cache, only a re-run has something to say: what it can know of the attempts before it.
    if (!isKnown && access !== "absent") {
      log.notice(message`
        A re-run may not find the job
        ${why} So a re-run of this workflow run sends nothing, unless GitHub says that this step did not run (permissions: actions: read). To wait for the job, run the action with its job-id.`);
    } else if (!isKnown && runAttempt(ports.environment) > 1) {
      log.notice(message`
        Re-run without a memory
        ${why} So this attempt cannot know what an earlier one started, and GitHub did not say that it ran this step. It sends the request.`);
    }
    if (settings.session !== "" && !state.features?.has("session"))
      log.notice(message`
        Session without a memory
        ${why} So the session cannot remember the job of this run. ${remedy}`);
  }
}

/** Why a run cannot write the cache, and how its session is remembered. */
const unwritable: Readonly<Record<CacheAccess, [why: Text, remedy: Text]>> = {
  read: [
    say`GitHub lets runs of this event only read the Actions cache.`,
    say`Run it on schedule, push or workflow_dispatch.`,
  ],
  none: [say`ACTIONS_CACHE_MODE keeps this run from the Actions cache.`, say`Let the job read and write the cache.`],
  absent: [
    say`The runner offers no cache service.`,
    say`Run it on a runner with a cache service, or with a service that knows sessions.`,
  ],
  write: [[], []],
};

/** Opens the memory of a step, with a cache that can be read. One that cannot be written says nothing besides a thread. */
export async function openMemory(
  task: Pick<SendingTask, "kind" | "prompt">,
  run: Run,
  hasThread = false,
): Promise<Memory> {
  const { environment, connectCache } = run.ports;
  const isUseful = hasThread ? cacheAccess(environment) === "write" : hasCacheService(environment);
  return new Memory(task, run, isUseful ? await connectCache() : undefined, hasThread);
}

/** Returns whether the step goes by what earlier attempts of the workflow run did. */
export function isResuming({ settings, ports }: Run): boolean {
  return settings.onRerun === "resume" && runAttempt(ports.environment) > 1;
}
