import { type CacheAccess, CacheReadOnlyError, cacheAccess, hasCacheService } from "../../runner-kit/cache.ts";
import { message, say, type Text } from "../../runner-kit/text.ts";
import { commitOf, wholeHistory } from "../commit-of.ts";
import { hash } from "../hash.ts";
import { endOf, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import type { SendingTask } from "../settings.ts";
import { askService } from "./ask-service.ts";
import type { JobWord, Word } from "./decide.ts";
import { type SessionMemory, type SessionUpdate, sessionMemory } from "./session.ts";
import { untilSettled } from "./wait.ts";
import { type CachedWords, cachedWords, strengthOf } from "./words.ts";

/** How long a request waits until its announcement is saved, in milliseconds. */
const maxHoldMs = 3000;

/** A word that is being saved, and its result. */
interface Save {
  word: Word;
  fate: "saved" | "unknown" | "refused";
}

/** A step's entries in the Actions cache, saved while the step waits for its job. */
export class Memory {
  /** The words of earlier attempts; `undefined` if the cache is unreadable, or for an own agent, whose service is asked instead. */
  readonly cache: CachedWords | undefined;
  readonly kind: SendingTask["kind"];
  session: SessionMemory | undefined;
  /** The start of the range of changes in an earlier attempt. */
  firstBase: string | undefined;
  /** The commit up to which that has told the session of all changes if its turn completes. */
  firstCovers: string | undefined;
  /** Whether the cache service rejected every write in this run. */
  isReadOnly = false;
  readonly #run: Run;
  readonly #openSession: (session: string) => SessionMemory | undefined;
  readonly #saves: Save[] = [];
  #announced: Promise<boolean> | undefined;
  #doubted: Promise<boolean> | undefined;
  #job: Promise<boolean> | undefined;
  #sight: Promise<boolean> | undefined;
  /** What is saved of the job's end: 1 if it was seen at work on a message, or to end; 2 if to complete. */
  #seen: 0 | 1 | 2 = 0;

  constructor(
    task: Pick<SendingTask, "kind" | "prompt">,
    run: Run,
    connected: Awaited<ReturnType<Run["ports"]["connectCache"]>> | undefined,
    hasThread: boolean,
  ) {
    this.#run = run;
    this.kind = task.kind;
    // With `changes`, they contain the start of the range. Otherwise they are not needed.
    const hasWords = !run.settings.agent || run.settings.changes !== undefined;
    this.cache = connected && hasWords ? cachedWords(connected, task, run) : undefined;
    // A reusable workflow that is called twice has the same step keys; the prompt tells them apart.
    const step = hash(JSON.stringify([run.key.step, task.kind, task.prompt]));
    // In comment mode, the reply is the memory.
    const ofSessions = hasThread ? undefined : connected;
    this.#openSession = (session) => ofSessions && sessionMemory(ofSessions, step, session, run.ports.environment);
  }

  /** Opens the session's memory. `base`: the branch that its jobs start from; default: the project's own. */
  openSession(base: string | undefined): void {
    const { state, key } = this.#run;
    state.session = key.sessionOf(base);
    this.session = state.session === undefined ? undefined : this.#openSession(state.session);
  }

  get isWritable(): boolean {
    return cacheAccess(this.#run.ports.environment) === "write";
  }

  /** All words of this attempt that a later one may find. */
  get words(): (Word | undefined)[] {
    const saved = this.#saves.filter(({ fate }) => fate === "saved").map(({ word }) => word);
    const certain = saved.toSorted((one, other) => strengthOf(other) - strengthOf(one))[0];
    const unknown = this.#saves.filter(
      ({ word, fate }) => fate === "unknown" && strengthOf(word) > strengthOf(certain),
    );
    return [certain, ...unknown.map(({ word }) => word)];
  }

  /** Records that a request is about to be sent, so that a lost runner leaves a trace. Returns whether that is saved. */
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

  /** Starts saving the job that this attempt started, for the session, too. */
  begin(sent: SendingTask["kind"], jobId: string): void {
    const start = { jobId, sent, pullRequest: undefined, end: undefined };
    // The session has the job. A lost message to an own agent covers nothing, whatever the job's status.
    const isKnown = sent === "message" && this.#run.settings.agent;
    const isDoubtful = !this.#run.state.hasRecord || undefined;
    const saves = Promise.all([
      this.#save(this.#wordOf(sent, jobId, { isDoubtful })),
      isKnown || this.#saveSession(start),
    ]);
    this.#job = saves.then(([isSaved]) => isSaved);
  }

  /** Starts saving a job that this attempt waits for as its own, so that later ones can ignore earlier words. */
  adopt({ sent, jobId, ...known }: Partial<JobWord> & Pick<JobWord, "sent" | "jobId">): void {
    if (this.#seen === 0) this.#seen = known.isDone ? 2 : known.wasSeen ? 1 : 0;
    this.#job ??= this.#save(this.#wordOf(sent, jobId, known), () => {});
  }

  /**
   * Starts saving that the agent was seen at work, or to end: from then on, the job's state is not the one from before a message.
   *
   * @param isDone - it was seen to complete, after which no re-run sends the request again
   */
  see(sent: SendingTask["kind"], jobId: string, isDone?: true): void {
    const seen = isDone ? 2 : sent === "message" ? 1 : 0;
    if (seen <= this.#seen || this.#run.state.features) return;
    this.#seen = seen;
    const { pullRequest, isUnchanged, unproven, endedWithout } = this.#run.state;
    const isUnproven = (unproven ?? endedWithout) !== undefined || undefined;
    const done = isDone && { isDone, isUnproven, isUnchanged: isUnchanged || undefined, pullRequest: pullRequest?.url };
    const word = this.#wordOf(sent, jobId, { ...(sent === "message" && { wasSeen: true }), ...done });
    const save = (): Promise<boolean> => this.#save(word, () => {});
    if (this.#job) this.#sight = Promise.all([this.#job, this.#sight]).then(([isSaved]) => isSaved === true && save());
    else this.#job = save();
  }

  /** Starts saving that the service may have accepted a request, unless an entry says so or names the job. */
  doubt(): void {
    if (this.#isAnnounced || this.#doubted || this.#job) return;
    this.#doubted = this.#save({ kind: "about to send" });
    void this.#doubted.then((isSaved) => {
      if (!isSaved) this.#doubted = undefined;
    });
  }

  /** Records that nothing was started, and waits for a short time until that is saved. */
  async withdraw(): Promise<void> {
    if (!this.#writable || this.isReadOnly) return;
    await untilSettled(
      this.#save({ kind: "nothing sent" }, () => {}),
      this.#run.ports,
    );
  }

  /** Waits for all saves, for a short time. `hasJob`: the job is the step's own. `stopping`: the result once its turn is stopped, if it can be. */
  async finish(
    result: RunResult,
    sent: SendingTask["kind"],
    { hasJob = true, stopping }: { hasJob?: boolean; stopping?: Promise<RunResult> } = {},
  ): Promise<void> {
    const { state, settings } = this.#run;
    const { jobId } = state;
    let isKept = false;
    const complete = async (): Promise<void> => {
      const isCancelled = result.kind === "cancelled";
      // A cancelled step's own agent ends with it.
      const last = settings.agent && isCancelled ? result : ((await stopping?.catch(() => result)) ?? result);
      const isStopped = isCancelled && (settings.agent || state.stop === "stopped");
      const { pullRequest } = state;
      const ended = endOf(last, state) ?? (isStopped ? "stopped" : settings.agent && "failed");
      // Such as by a setting of the repository, with which the job's pull request is as good as any.
      const end = ended === "failed" && state.failure?.isKept ? "kept" : ended;
      if (this.#job && end) this.see(sent, jobId, end === "completed" || undefined);
      const isJobSaved = await this.#job;
      if (hasJob && jobId !== "") await this.#saveSession({ jobId, sent, end, pullRequest });
      // If no entry names the job, later attempts must find that something was sent.
      if (!isJobSaved) await Promise.all([this.#announced, this.#doubted]);
      isKept = true;
      await this.#sight;
    };
    // At the step's own time limit, it may take longer than saves.
    if (result.kind === "timed-out") await stopping?.catch(() => result);
    const late = await untilSettled(complete(), this.#run.ports);
    if (late && !isKept) this.#tell(late);
  }

  #wordOf(sent: SendingTask["kind"], jobId: string, known: Partial<JobWord>): Word {
    return { kind: "job", jobId, sent, ...known, ...(sent === "message" && { before: this.#run.state.before }) };
  }

  get #writable(): CachedWords | undefined {
    return this.isWritable ? this.cache : undefined;
  }

  get #isAnnounced(): boolean {
    return this.#saves.some(({ word, fate }) => word.kind === "about to send" && fate === "saved");
  }

  get #base(): string | undefined {
    const { changes } = this.#run.state;
    return this.firstBase ?? (changes?.root ? wholeHistory : changes?.base);
  }

  get #covers(): string | undefined {
    const { origin, changes } = this.#run.state;
    if (origin === "resumed") return this.firstCovers;
    return changes?.continues ? commitOf(changes.head) : undefined;
  }

  readonly #tell = (error: unknown): void => this.#run.log.notSaved(error, false);

  async #saveSession(update: Omit<SessionUpdate, "base" | "covers" | "isResumed">): Promise<void> {
    const isResumed = this.#run.state.origin === "resumed";
    const about = { isResumed, base: this.#base, covers: this.#covers };
    if (this.isWritable) await this.session?.save({ ...update, ...about }).catch(this.#tell);
  }

  async #save(word: Word, onFailure: (error: unknown) => void = this.#tell): Promise<boolean> {
    if (!this.#writable) return false;
    const { features, isMute } = this.#run.state;
    const save: Save = { word, fate: "unknown" };
    this.#saves.push(save);
    try {
      const facts = { base: commitOf(this.#base), covers: this.#covers };
      await this.#writable.save(word, { ...facts, announced: isMute ? false : features && true });
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

  /** Warns what later attempts or runs of the session will not know, because the cache is not writable. */
  async sayWhatIsForgotten(): Promise<void> {
    const { log, settings, state, ports } = this.#run;
    const access = cacheAccess(ports.environment);
    // A service that can be asked informs a re-run.
    if (settings.onRerun !== "new" && access !== "absent") await askService(this.#run);
    const isKnown = settings.onRerun === "new" || state.features !== undefined;
    const [why, remedy] = unwritable[access];
    // Without any cache, only a re-run gets a warning: what it can know about earlier attempts.
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

/** Why a run cannot write the cache, and how its session is remembered instead. */
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

/** Opens a step's memory if the cache is readable. With a thread, an unwritable cache needs no warning. */
export async function openMemory(
  task: Pick<SendingTask, "kind" | "prompt">,
  run: Run,
  hasThread = false,
): Promise<Memory> {
  const { environment, connectCache } = run.ports;
  const isUseful = hasThread ? cacheAccess(environment) === "write" : hasCacheService(environment);
  return new Memory(task, run, isUseful ? await connectCache() : undefined, hasThread);
}

/** Returns whether the step respects earlier attempts of the workflow run. */
export function isResuming({ settings, ports }: Run): boolean {
  return settings.onRerun === "resume" && runAttempt(ports.environment) > 1;
}
