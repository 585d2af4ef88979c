import { cacheAccess, hasCacheService } from "../../runner-kit/cache.ts";
import { hash } from "../hash.ts";
import { writePrompt } from "../plan.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import type { SendingTask } from "../settings.ts";
import { askFirst, type Places, type Replies } from "./evidence.ts";
import { SessionMemory, type SessionUpdate } from "./session.ts";
import { untilAborted } from "./until-aborted.ts";
import { CachedWords, OwnWords } from "./words.ts";

/** What is remembered for a step in the Actions cache. */
export class Memory {
  /** The words of earlier attempts; `undefined` without a cache that can be read. */
  readonly cache: CachedWords | undefined;
  readonly words: OwnWords;
  readonly kind: SendingTask["kind"];
  session: SessionMemory | undefined;
  /** Where the range of changes started that an earlier attempt compared. */
  firstBase: string | undefined;
  readonly #run: Run;
  readonly #openSession: (base: string | undefined) => SessionMemory | undefined;

  constructor(
    task: Pick<SendingTask, "kind" | "prompt">,
    run: Run,
    connected: Awaited<ReturnType<Run["ports"]["connectCache"]>> | undefined,
  ) {
    const { ports, log, settings } = run;
    this.#run = run;
    this.kind = task.kind;
    this.cache = connected && new CachedWords(connected, task, run);
    this.words = new OwnWords({
      ...ports,
      cache: this.isWritable ? this.cache : undefined,
      facts: () => ({
        base: commitOf(this.firstBase ?? run.state.changes?.base),
        announced: run.state.isMute ? false : run.state.features && true,
      }),
      onFailure: (error, isInTime) => log.rerun({ kind: "not-saved", error, isInTime }),
    });
    // A reusable workflow that is called twice has the same steps, told apart by their prompts.
    const step = hash(JSON.stringify([run.key.step, task.kind, task.prompt]));
    const hasSession = connected !== undefined && settings.session !== "";
    this.#openSession = (base) => (hasSession ? new SessionMemory(connected, step, run, base) : undefined);
  }

  /** Opens what is remembered of the session; `base`: the branch that its jobs start from. Default: the project's own. */
  openSession(base: string | undefined): void {
    this.session = this.#openSession(base);
  }

  get isWritable(): boolean {
    return cacheAccess(this.#run.ports.environment) === "write";
  }

  /** Whether this attempt has requests of its own: with `on-rerun: new`, if there are attempts before it. */
  get isNew(): boolean {
    return this.#run.key.isNew;
  }

  /** Begins to save the job that the step started. */
  begin(sent: SendingTask["kind"], jobId: string): void {
    const start = { jobId, sent, isResumed: false, pullRequest: undefined, end: undefined, base: this.#base };
    const session = this.isWritable ? this.session : undefined;
    this.words.begin(sent, jobId, session && (() => session.save(start)));
  }

  /** Waits until everything is saved, with how the job ended for the session, but only for a short time. */
  finish(result: RunResult, sent: SendingTask["kind"], { isResumed = false, hasJob = true } = {}): Promise<void> {
    const session = this.isWritable ? this.session : undefined;
    const { state } = this.#run;
    if (!session || !hasJob || state.jobId === "") return this.words.finish();
    const isProven = result.kind === "done" && !state.isUnproven;
    const end = isProven ? (result.status === "completed" ? "completed" : "failed") : undefined;
    const update: SessionUpdate = {
      ...{ jobId: state.jobId, sent, isResumed, end },
      ...{ pullRequest: state.pullRequest, base: this.#base },
    };
    return this.words.finish(() => session.save(update));
  }

  places(readThread: Places["readThread"]): Places {
    return { cache: this.cache, session: this.session, readThread };
  }

  get #base(): string | undefined {
    return this.firstBase ?? this.#run.state.changes?.base;
  }

  /** Says what a later attempt, or the next run of the session, will not know. */
  sayWhatIsForgotten(): void {
    const { log, settings, state, ports } = this.#run;
    const access = cacheAccess(ports.environment);
    const isKnown = settings.onRerun === "new" || state.features !== undefined;
    // Without any cache, only a re-run has something to say: what it can know of the attempts before it.
    const forgetsAttempt = !isKnown && (access !== "absent" || runAttempt(ports.environment) > 1);
    log.forgets({ access, forgetsAttempt, session: settings.session });
  }
}

/**
 * Connects to what is remembered for a step, if the runner offers a cache that can be read.
 *
 * @param hasThread - in comment mode, a cache that no attempt could write says nothing that the thread does not. Default: no
 */
export async function openMemory(
  task: Pick<SendingTask, "kind" | "prompt">,
  run: Run,
  hasThread = false,
): Promise<Memory> {
  const { environment, connectCache } = run.ports;
  const isUseful = hasThread ? cacheAccess(environment) === "write" : hasCacheService(environment);
  return new Memory(task, run, isUseful ? await connectCache() : undefined);
}

/** Returns whether the step goes by what earlier attempts of the workflow run did. */
export function isResuming({ settings, ports }: Run): boolean {
  return settings.onRerun === "resume" && runAttempt(ports.environment) > 1;
}

/**
 * Asks the service what the earlier attempts of the step sent, and reads their words in the cache, before anything else.
 *
 * @param fill - returns the prompt with a section on changes
 */
export async function askBefore(
  { fill, memory }: { fill: (section: string | undefined) => string; memory: Memory },
  run: Run,
): Promise<Replies | RunResult> {
  const { settings, ports } = run;
  const write = (firstBase: string | undefined) =>
    writePrompt(fill, run, { lastCommit: undefined, firstBase, ownPullRequests: [] });
  const prompt = settings.changes ? undefined : fill(undefined);
  const replies = await untilAborted(askFirst({ prompt, write, cache: memory.cache }, run), ports.signal);
  return replies && !ports.signal.aborted ? replies : cancelledBeforeSending;
}

/** Returns the full id of a commit; `undefined` for anything else, such as a branch. */
function commitOf(ref: string | undefined): string | undefined {
  return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}
