import { minTimeLeftMs } from "../client/submit.ts";
import { say, type Text } from "../runner-kit/text.ts";
import { addSection } from "./changes/add-section.ts";
import type { Conversation } from "./comments/conversation.ts";
import { isStillGone } from "./find-job.ts";
import { askService } from "./memory/ask-service.ts";
import { type Decision, decide, decideWith, type Evidence, type Reason, type StepRecord } from "./memory/decide.ts";
import { type Found, gather, noEvidence, type Replies, rerunEffect, withoutJob } from "./memory/evidence.ts";
import { askBefore, isResuming, type Memory, openMemory } from "./memory/memory.ts";
import { type RememberedSession, readSession } from "./memory/session.ts";
import { findStart, type Plan, planTasks, runPlan, writePrompt } from "./plan.ts";
import { acceptanceOf, type BlockedResult, cancelledBeforeSending, isJobNotFound, type RunResult } from "./result.ts";
import { type Execution, openConnection, type Run } from "./run.ts";
import { type JobOptions, runJob } from "./run-job.ts";
import { isOnTag, runAttempt } from "./runner/environment.ts";
import type { SendingTask, Task } from "./settings.ts";
import { stopOwnTurn } from "./stop-turn.ts";

/** What the step is asked to send: by the workflow, or in a thread. */
export interface Request {
  /** The job that the workflow names, or empty. */
  jobId: string;
  /** Returns the prompt with a section on changes, which may be empty. */
  fill: (section: string | undefined) => string;
  memory: Memory;
  /** Comment mode. */
  conversation?: Conversation;
  /** What the service and the cache say, if they were asked before. */
  replies?: Replies | undefined;
}

type Attach = Extract<Task, { kind: "attach" }>;

/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job that an earlier attempt
 * started. It sends the request again only if that job failed, was archived or is gone, which is what a re-run asks for.
 */
export async function sendOnce(request: Request, run: Run): Promise<Execution> {
  return new Sending(request, run).run();
}

/** The same for the prompt of the workflow. */
export async function sendTask(task: SendingTask, run: Run): Promise<Execution> {
  const fill = (section: string | undefined): string => addSection(task.prompt, section);
  const jobId = task.kind === "message" ? task.jobId : "";
  return sendOnce({ jobId, fill, memory: await openMemory(task, run) }, run);
}

/** One request, from what is known of it to its end. */
class Sending {
  readonly #request: Request;
  readonly #run: Run;
  readonly #memory: Memory;
  #found: Found;
  /** Whether it is known that nothing of use was sent before. */
  #isSettled = false;

  constructor(request: Request, run: Run) {
    this.#request = request;
    this.#run = run;
    this.#memory = request.memory;
    this.#found = noEvidence(run);
  }

  async run(): Promise<Execution> {
    const { conversation, fill } = this.#request;
    const isResumed = isResuming(this.#run);
    // In a thread, what has nothing to say leaves no trace.
    const early = conversation && !isResumed ? await writePrompt(fill, this.#run) : undefined;
    if (early && "kind" in early) return this.#withdraw(early, { isShown: false });
    const start = await findStart(this.#run);
    if ("kind" in start) return this.#withdraw(start, { isShown: false });
    this.#memory.openSession(start.base);
    if (isResumed) {
      const failed = await this.#gather();
      if (failed) return this.#withdraw(failed);
    }
    for (;;) {
      const decision = await this.#decide();
      if (isResumed && this.#isAborted) return this.#withdraw(cancelledBeforeSending);
      if (decision.do === "refuse") return this.#refuse(decision);
      if (decision.do === "send") {
        this.#isSettled = true;
        return this.#send(decision, start.base, early);
      }
      const ended = await this.#wait(decision);
      if (ended) return ended;
    }
  }

  get #isAborted(): boolean {
    return this.#run.ports.signal.aborted;
  }

  async #gather(): Promise<RunResult | undefined> {
    const { conversation } = this.#request;
    const replies = this.#request.replies ?? (await askBefore(this.#request, this.#run));
    if ("kind" in replies) return replies;
    const places = this.#memory.places(conversation && (() => conversation.read()));
    this.#found = await gather(replies, places, this.#run);
    this.#memory.firstBase = this.#found.base;
    return this.#isAborted ? cancelledBeforeSending : undefined;
  }

  async #decide(): Promise<Decision> {
    const readRecord = async (attempts: readonly number[]): Promise<StepRecord> => {
      // Loaded here, because few re-runs find no word of the attempts before them.
      const { readStepRecord } = await import("./memory/step-record.ts");
      return readStepRecord(attempts, this.#run);
    };
    const { decision, record } = await decideWith(this.#found.evidence, readRecord);
    this.#know({ record });
    return decision;
  }

  #know(known: Partial<Evidence>): void {
    this.#found = { ...this.#found, evidence: { ...this.#found.evidence, ...known } };
  }

  async #refuse({ do: _, ...reason }: Extract<Decision, { do: "refuse" }>): Promise<Execution> {
    const result = this.#blocked(reason);
    const { settings } = this.#run;
    return this.#withdraw(settings.dryRun ? { kind: "skipped", reason: "dry-run", plan: result } : result);
  }

  #blocked(reason: Reason): BlockedResult {
    const { cacheError, serviceError } = this.#found;
    if (reason.cause === "service") return { kind: "blocked", ...reason, error: serviceError };
    if (reason.cause !== "unreadable") return { kind: "blocked", ...reason };
    return cacheError === undefined
      ? { kind: "blocked", cause: "thread" }
      : { kind: "blocked", cause: "memory", detail: cacheError };
  }

  /** Waits for the job of an earlier attempt; `undefined` if that is of no use. */
  async #wait(decision: Extract<Decision, { do: "wait" }>): Promise<Execution | undefined> {
    const { log, state, settings, ports } = this.#run;
    const { conversation } = this.#request;
    const { jobId, sent } = decision;
    const attempt = runAttempt(ports.environment);
    const isTurn = "turnId" in decision;
    const besides = isTurn ? undefined : decision.besides;
    if (settings.dryRun) return this.#tellWait(decision);
    if (isTurn) {
      log.rerun({ kind: "resuming-turn", jobId, attempt, hasOtherPrompt: decision.hasOtherPrompt });
    } else log.rerun({ kind: "resuming", jobId, attempt, earlierAttempt: decision.attempt, besides });
    const turn = isTurn ? { turnId: decision.turnId } : {};
    const task: Attach = { kind: "attach", jobId, resumes: sent, ...turn };
    await conversation?.resume(jobId);
    // A word of its own would hide what another attempt may have sent.
    const isAdopted = isTurn || (besides ?? decision.unproven) === undefined;
    const kind = isTurn ? this.#sentTo(jobId) : sent;
    const result = await this.#resume(task, () => isAdopted && this.#memory.words.adopt(kind, jobId));
    if (result) {
      if (!isAdopted) await this.#memory.words.withdraw(kind);
      else this.#memory.words.adopt(kind, jobId);
      await this.#memory.finish(result, kind, { isResumed: true });
      return this.#end(result, task);
    }
    state.forgetJob();
    this.#know(withoutJob(this.#found.evidence, jobId));
    return undefined;
  }

  /** Returns what was sent to the job of a turn, as far as a word says it. */
  #sentTo(jobId: string): SendingTask["kind"] {
    const words = this.#found.evidence.attempts.map(({ word }) => word);
    const own = words.find((word) => typeof word === "object" && word.kind === "job" && word.jobId === jobId);
    return typeof own === "object" && own.kind === "job" ? own.sent : this.#memory.kind;
  }

  /**
   * Waits for the job of an earlier attempt. Returns `undefined` if that had already failed, is archived or is gone, so that
   * the request is sent again. After a message the first record may show the state from before it, so only a wait can tell. A
   * comment is a request of its own: what failed has failed.
   */
  async #resume(task: Attach, onUsable: () => void): Promise<RunResult | undefined> {
    const { settings, state, log } = this.#run;
    const isComment = this.#request.conversation !== undefined;
    const isLook = settings.wait && !isComment && task.resumes !== "message";
    const look = (): Promise<RunResult> => this.#runTask(task, isLook ? { wait: false } : {});
    const startOver = (reason: "failed" | "archived" | "not found"): undefined => {
      log.rerun({ kind: "starting-over", jobId: task.jobId, reason });
    };
    let result = await look();
    if (isJobNotFound(result, state)) {
      if (await isStillGone(task.jobId, this.#run)) return startOver("not found");
      // It was not found by mistake.
      result = await look();
    }
    const isFirst = state.timeline.length === 1;
    if (result.kind === "done" && state.status === "archived" && (isComment ? task.turnId !== undefined : isFirst))
      return startOver("archived");
    // A turn that failed before this attempt is not waited for, so this one failed just now.
    const hasFailed = result.kind === "done" && result.status === "failed";
    if (hasFailed && isFirst && task.turnId === undefined && !isComment) return startOver("failed");
    onUsable();
    return result.kind === "started" && isLook ? this.#runTask(task) : result;
  }

  #runTask(task: Task, options: JobOptions = {}): Promise<RunResult> {
    const { conversation } = this.#request;
    return runJob(task, this.#run, {
      ...options,
      onJobId: (jobId) => {
        options.onJobId?.(jobId);
        conversation?.remember(jobId);
        conversation?.showJob();
      },
      onPolled: () => conversation?.showProgress(),
    });
  }

  async #send(
    { replaces, unproven }: Extract<Decision, { do: "send" }>,
    base: string | undefined,
    early: { prompt: string } | undefined,
  ): Promise<Execution> {
    const { settings, state, ports, log } = this.#run;
    const { conversation, jobId } = this.#request;
    const { words, isWritable, isNew } = this.#memory;
    state.forgetJob();
    const { service } = this.#found.evidence;
    if (typeof service === "object" && "turnId" in service && service.over && service.over !== "archived")
      log.rerun({ kind: "starting-over", jobId: service.jobId, reason: service.over });
    if (!conversation && !isWritable) this.#memory.sayWhatIsForgotten();
    else if (!conversation && settings.session !== "" && isOnTag(ports.environment)) log.sessionOnTag();

    const remembered = await this.#readSession();
    if ("kind" in remembered) return this.#withdraw(remembered);
    const written = early ?? (await writePrompt(this.#request.fill, this.#run, remembered));
    if ("kind" in written) return this.#withdraw(written);
    const kept = settings.dryRun ? undefined : await conversation?.announce();
    const continued = jobId !== "" ? { jobId } : await (conversation ?? remembered).findContinued(base);
    const plan = planTasks(written.prompt, continued, { replaces, base });
    if (settings.dryRun) return this.#tellPlan(plan);

    const leftMs = (state.startedAt ?? ports.clock.now()) + settings.timeoutMs - ports.clock.now();
    if (conversation && leftMs < minTimeLeftMs) return this.#withdraw({ kind: "blocked", cause: "time" });
    // A service that can be asked knows what it was sent; but not, under the same key, what a later attempt with `on-rerun: new` sends.
    const isRerun = runAttempt(ports.environment) > 1 && !conversation;
    const { kind } = plan.task;
    const isAnnounced = state.features === undefined || isRerun;
    if (isAnnounced) openConnection(this.#run);
    const isSaved = isAnnounced && (await words.announce(kind, isNew));
    if (kept === "lost" && !isSaved && state.features === undefined) {
      // Only a service that knows what it is sent keeps the word then. A re-run has asked it.
      if (!isResuming(this.#run)) await askService(this.#run);
      if (state.features === undefined) return this.#withdraw({ kind: "blocked", cause: "unwitnessed" });
    }
    // The earlier attempt could not leave a word either.
    if (words.isReadOnly && unproven !== undefined)
      return this.#withdraw({ kind: "blocked", cause: "unknown", attempt: unproven }, { isSettled: false });
    return this.#runPlan(plan);
  }

  /** Runs a plan, and keeps what it has sent. */
  async #runPlan(plan: Plan): Promise<Execution> {
    const { ports, log, settings } = this.#run;
    const { conversation } = this.#request;
    const { words, isNew } = this.#memory;
    let hasJob = false;
    const { task, result: ended } = await runPlan(
      plan,
      this.#run,
      async (each) => {
        const onAbort = (): void => words.doubt(each.kind, isNew);
        ports.signal.addEventListener("abort", onAbort, { once: true });
        const onJobId = (jobId: string): void => {
          hasJob = true;
          this.#memory.begin(each.kind, jobId);
        };
        conversation?.pend();
        const result = await this.#runTask(each, { onJobId });
        ports.signal.removeEventListener("abort", onAbort);
        return result;
      },
      (reason, { jobId, pullRequest }) => {
        if (conversation) return conversation.replaceJob();
        log.rerun({ kind: "starting-over", jobId, reason });
        if (reason === "rejected" && pullRequest)
          log.session({ kind: "rejected", jobId, pullRequest }, settings.session);
      },
    );
    if (acceptanceOf(ended) === "rejected") return this.#withdraw(ended, { task });
    // The job of a message in doubt is not remembered: its state would say nothing about the message.
    words.doubt(task.kind, isNew);
    // After a signal, both have the same two seconds.
    const [result] = await Promise.all([
      stopOwnTurn(task, ended, this.#run),
      this.#memory.finish(ended, task.kind, { hasJob }),
    ]);
    return this.#end(result, task);
  }

  /** Reads what is remembered of the session, and the job that it may continue. */
  async #readSession(): Promise<RememberedSession | RunResult> {
    const { session, firstBase } = this.#memory;
    if (session && !this.#request.conversation) return readSession(session, firstBase, this.#run);
    return { lastCommit: undefined, firstBase, ownPullRequests: [], findContinued: async () => undefined };
  }

  /** Ends a run that sent nothing, and remembers that. In a thread, that must not hide what an earlier attempt may have sent. */
  async #withdraw(
    result: RunResult,
    {
      task,
      isShown = true,
      isSettled = this.#isSettled,
    }: { task?: Task | undefined; isShown?: boolean; isSettled?: boolean } = {},
  ): Promise<Execution> {
    if (isSettled) this.#request.conversation?.withdraw();
    await this.#memory.words.withdraw(this.#memory.kind);
    const { finish, ...execution } = this.#end(result, task);
    return { ...execution, ...(isShown && finish && { finish }) };
  }

  #end(result: RunResult, task: Task | undefined): Execution {
    const { conversation } = this.#request;
    return {
      result,
      ...(task && { task }),
      rerun: this.#effect(result),
      ...(conversation && !this.#run.settings.dryRun && { finish: (ending) => conversation.finish(ending) }),
    };
  }

  /** Returns what a re-run does, by what this attempt leaves. */
  #effect(result: RunResult) {
    const { state } = this.#run;
    const { evidence } = this.#found;
    const { words } = this.#memory;
    const { conversation } = this.#request;
    const inThread = conversation?.word;
    const { jobId } = state;
    const turn = { jobId, turnId: "", over: undefined, hasOtherPrompt: false };
    const acceptance = result.kind === "crashed" ? "unknown" : acceptanceOf(result);
    const before = evidence.service === "mute" ? "nothing" : evidence.service;
    const services: Evidence["service"][] = acceptance === "unknown" ? [turn, before] : [turn];
    const left = {
      words: inThread ? [inThread] : words.fates,
      // What the service says then, if it can be asked.
      services:
        state.features === undefined
          ? [evidence.service]
          : jobId === "" || acceptance === "rejected"
            ? [before]
            : services,
      // Without a word in the thread, what is left there is a doubt.
      keepsWords: evidence.keepsWords && !words.isReadOnly && !conversation?.hasThread,
    };
    return rerunEffect(evidence, left, this.#run);
  }

  async #tellWait(decision: Extract<Decision, { do: "wait" }>): Promise<Execution> {
    const { jobId } = decision;
    const { evidence } = this.#found;
    const next = decide(withoutJob(evidence, jobId));
    const attempt = "attempt" in decision ? decision.attempt : undefined;
    const plan: Text = [
      ...(attempt === undefined
        ? say`It would wait for job ${jobId}, which an earlier attempt of this workflow run started.`
        : say`It would wait for job ${jobId}, which attempt ${attempt} of this workflow run started.`),
      ...(next.do === "send" && !this.#request.conversation
        ? say` If that job is of no use, it would send the prompt again.`
        : []),
    ];
    return this.#tell(plan, { kind: "attach", jobId });
  }

  async #tellPlan({ task, otherwise }: Plan): Promise<Execution> {
    const { settings } = this.#run;
    if (task.kind === "create") return this.#tell(say`It would create a job with this prompt.`, task);
    const { jobId } = task;
    if (!otherwise) return this.#tell(say`It would send this prompt to job ${jobId} as a follow-up.`, task);
    return this.#tell(
      this.#request.conversation
        ? say`It would send this prompt to job ${jobId}, which the thread remembers. If the job is gone, it would create one.`
        : say`It would send this prompt to job ${jobId}, the last of the session ${settings.session}, while the job is active or its pull request is open. Otherwise it would create a job.`,
      task,
    );
  }

  async #tell(plan: Text, task: SendingTask | Attach | undefined): Promise<Execution> {
    if (task && task.kind !== "attach") this.#run.log.dryRun(task.prompt);
    return this.#withdraw({ kind: "skipped", reason: "dry-run", plan }, { task });
  }
}
