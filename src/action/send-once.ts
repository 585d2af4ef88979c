import { minTimeLeftMs } from "../client/submit.ts";
import { say } from "../runner-kit/text.ts";
import type { Conversation } from "./comments/conversation.ts";
import { addSections } from "./comments/prompt-template.ts";
import { plannedTask, plannedWait } from "./dry-run.ts";
import { acceptsSections, askService } from "./memory/ask-service.ts";
import { type Decision, decide, decideWith, type Evidence, type JobWord, type StepRecord } from "./memory/decide.ts";
import { askBefore, blockedBy, gather, noEvidence, type Replies, rerunEffect, withoutJob } from "./memory/evidence.ts";
import { compareHeads, readBefore } from "./memory/head-before.ts";
import { isResuming, type Memory, openMemory } from "./memory/memory.ts";
import { passOver } from "./memory/pass-over.ts";
import { readSession, tellOfLeft, untilFree } from "./memory/session.ts";
import { tellOfTag, tellOfWait, type Wait } from "./memory/tell-of-wait.ts";
import { untilAborted } from "./memory/wait.ts";
import { findOwnChange } from "./own-change.ts";
import {
  findStart,
  type Plan,
  type PromptSource,
  planTasks,
  type RememberedChanges,
  runPlan,
  type WrittenPrompt,
  writePrompt,
} from "./plan.ts";
import { parsePullRequest } from "./pull-request.ts";
import {
  AgentError,
  acceptanceOf,
  agentFailed,
  cancelledBeforeSending,
  cancelledWhileLooking,
  endOf,
  isJobNotFound,
  type RunResult,
} from "./result.ts";
import type { Execution, Run } from "./run.ts";
import { isStillGone, type JobOptions, runJob, stopOwnTurn } from "./run-job.ts";
import { runAttempt } from "./runner/environment.ts";
import type { SendingTask, Task } from "./settings.ts";

/** The request of a workflow, or of a thread. */
export interface Request extends PromptSource {
  /** The job that the workflow names; may be empty. */
  jobId: string;
  memory: Memory;
  /** In comment mode. */
  conversation?: Conversation;
  /** The answers of the service and the cache, if already read. */
  replies?: Replies | undefined;
}

type Attach = Extract<Task, { kind: "attach" }>;

/**
 * Sends a request at most once over all attempts of a workflow run: a re-run waits for the job of an earlier attempt. It sends the request
 * again only if that job failed, was archived or is gone, which is the purpose of a re-run.
 */
export async function sendOnce(request: Request, run: Run): Promise<Execution> {
  return new Sending(request, run).run();
}

/** Sends the workflow's prompt at most once; see `sendOnce`. */
export async function sendTask(task: SendingTask, run: Run): Promise<Execution> {
  const fill: PromptSource["fill"] = (sections) => addSections(task.prompt, sections);
  const jobId = task.kind === "message" ? task.jobId : "";
  return sendOnce({ jobId, fill, memory: await openMemory(task, run) }, run);
}

/** A request, until it ends. */
class Sending {
  readonly #request: Request;
  readonly #run: Run;
  readonly #memory: Memory;
  #replies: Replies | undefined;
  #evidence: Evidence;
  /** Whether it is known that no usable request was sent before. */
  #isSettled = false;

  constructor(request: Request, run: Run) {
    this.#request = request;
    this.#run = run;
    this.#memory = request.memory;
    this.#evidence = noEvidence(run);
  }

  async run(): Promise<Execution> {
    try {
      return await this.#decideAndSend();
    } catch (error) {
      // Asking an own agent's service may start it.
      if (error instanceof AgentError)
        return this.#withdraw(this.#isAborted ? cancelledBeforeSending : agentFailed(error));
      throw error;
    }
  }

  async #decideAndSend(): Promise<Execution> {
    const { conversation } = this.#request;
    const isResumed = isResuming(this.#run);
    const isRerun = runAttempt(this.#run.ports.environment) > 1;
    // In a thread, a prompt with nothing to say leaves no trace.
    const early = conversation && !isResumed ? await this.#write() : undefined;
    if (early && "kind" in early) return this.#withdraw(early, { isShown: false });
    const start = await findStart(this.#run);
    if ("kind" in start) {
      this.#run.state.mayHaveEarlier ||= isRerun;
      return this.#withdraw(start, { isShown: false });
    }
    this.#memory.openSession(start.base);
    if (isResumed) {
      const failed = await this.#gather(this.#request.replies);
      if (failed) return this.#withdraw(failed);
    } else if (isRerun) this.#know(await passOver(this.#memory, this.#run));
    return this.#proceed(start.base, early);
  }

  /** Does what the evidence says. */
  async #proceed(base: string | undefined, early: WrittenPrompt | undefined): Promise<Execution> {
    const { conversation } = this.#request;
    for (;;) {
      const decision = await this.#decide();
      if (this.#isAborted && runAttempt(this.#run.ports.environment) > 1)
        return this.#withdraw(decision.do === "send" ? cancelledBeforeSending : cancelledWhileLooking);
      if (decision.do === "refuse") return this.#refuse(decision);
      if (decision.do === "send") {
        // Kept work is published, whatever the event.
        const why = decision.publishes
          ? undefined
          : ((await findOwnChange(this.#run)) ?? (await conversation?.findWithdrawal()));
        if (why) return this.#withdraw(why, { isShown: false });
        this.#isSettled = true;
        return this.#send(decision, base, early);
      }
      const ended = await this.#wait(decision);
      if (ended) return ended;
    }
  }

  /** Decides again after another run has worked on the session's job: it may have published what this one was to send again. */
  async #decideAnew(
    decision: Extract<Decision, { do: "send" }>,
    base: string | undefined,
    early: WrittenPrompt | undefined,
  ): Promise<Execution> {
    if (!isResuming(this.#run)) return this.#send(decision, base, early);
    const failed = await this.#gather();
    return failed ? this.#withdraw(failed) : this.#proceed(base, early);
  }

  get #isAborted(): boolean {
    return this.#run.ports.signal.aborted;
  }

  /** @param known - the answers of the service and the cache, if already read. Default: they are not */
  async #gather(known?: Replies): Promise<RunResult | undefined> {
    const { conversation } = this.#request;
    const replies = known ?? (await askBefore(this.#request, this.#run));
    if ("kind" in replies) return replies;
    this.#replies = replies;
    const readThread = conversation && (() => conversation.read());
    this.#evidence = await gather(replies, this.#memory.session, readThread, this.#run);
    this.#memory.firstBase = replies.words.base;
    this.#memory.firstCovers = replies.words.covers;
    return this.#isAborted ? cancelledWhileLooking : undefined;
  }

  async #decide(): Promise<Decision> {
    const readRecord = async (attempts: readonly number[]): Promise<StepRecord> => {
      // Loaded here, because few re-runs find no word of the attempts before them.
      const { readStepRecord } = await import("./memory/step-record.ts");
      return readStepRecord(attempts, this.#run);
    };
    const { decision, record } = await decideWith(this.#evidence, readRecord);
    this.#know({ record });
    return decision;
  }

  #know(known: Partial<Evidence>): void {
    this.#evidence = { ...this.#evidence, ...known };
  }

  async #refuse(decision: Extract<Decision, { do: "refuse" }>): Promise<Execution> {
    const why = blockedBy(decision, this.#replies);
    if (this.#run.settings.dryRun) return this.#withdraw({ kind: "skipped", reason: "dry-run", plan: why });
    // The reply has what became of the request itself.
    const isAnswered = decision.cause === "later-run" && this.#request.conversation !== undefined;
    if (isAnswered) this.#run.state.jobId = decision.jobId;
    return this.#withdraw(why, { isShown: !isAnswered });
  }

  /** Waits for an earlier attempt's job; returns `undefined` if that is unusable. */
  async #wait(decision: Wait): Promise<Execution | undefined> {
    const { state, settings } = this.#run;
    if (settings.dryRun) return this.#tellWait(decision);
    tellOfWait(decision, this.#run);
    const { jobId, sent } = decision;
    const isTurn = "turnId" in decision;
    const known: Partial<JobWord> = isTurn ? {} : decision;
    const { wasSeen, isDone, isUnproven, isUnchanged, isDoubtful, pullRequest } = known;
    const task: Attach = { kind: "attach", jobId, resumes: sent, wasSeen, ...(isTurn && { turnId: decision.turnId }) };
    if (!isTurn) state.before = decision.before;
    await this.#request.conversation?.resume(jobId);
    // Its own word would hide what another attempt may have sent.
    const isAdopted = isTurn || (decision.besides ?? decision.unproven) === undefined;
    const adopt = (): void => {
      const seen = { wasSeen, isDone, isUnproven, isUnchanged, pullRequest };
      if (isAdopted)
        this.#memory.adopt({ sent, jobId, ...seen, isDoubtful: (isDoubtful && !state.hasRecord) || undefined });
    };
    const resumed = await this.#resume(task, isDone === true, adopt, () => isAdopted && this.#see(sent));
    if (resumed === undefined && isDoubtful && !state.hasRecord) {
      state.forgetJob();
      return this.#refuse({ do: "refuse", cause: "pending" });
    }
    if (resumed) {
      if (isDone) this.#endAsSeen(resumed, known);
      const ended = isDone && !isUnproven ? resumed : await compareHeads(resumed, this.#run);
      adopt();
      if (!isAdopted) await this.#memory.withdraw();
      const stopping = stopOwnTurn(task, ended, this.#run);
      const [result] = await Promise.all([stopping, this.#memory.finish(ended, sent, { hasJob: true, stopping })]);
      return this.#end(result, task);
    }
    state.forgetJob();
    this.#evidence = withoutJob(this.#evidence, jobId);
    return undefined;
  }

  /** What an attempt saw complete stays as it saw it, whatever later requests and people do to the job and its pull request. */
  #endAsSeen(resumed: RunResult, { isUnchanged = false, pullRequest = "" }: Partial<JobWord>): void {
    const { state } = this.#run;
    if (resumed.kind !== "done") return;
    state.isUnchanged = isUnchanged;
    // An archived or failed job may no longer name it.
    state.pullRequest ??= parsePullRequest(pullRequest);
  }

  /**
   * Waits for an earlier attempt's job. Returns `undefined` if that had already failed, is archived or is gone, so that the request is sent
   * again. After a message, the first record may predate it, so only a wait can tell. A failed comment is not retried: each comment is its
   * own request.
   */
  async #resume(
    task: Attach,
    wasDone: boolean,
    onUsable: () => void,
    onPolled: () => void,
  ): Promise<RunResult | undefined> {
    const { settings, state, log } = this.#run;
    const isComment = this.#request.conversation !== undefined;
    const isTurn = task.turnId !== undefined;
    const isLook = settings.wait && !isComment && (task.resumes !== "message" || task.wasSeen === true);
    const look = (): Promise<RunResult> => this.#runTask(task, { onPolled, ...(isLook && { wait: false }) });
    let result = await look();
    const isGone = isJobNotFound(result, state) && (await isStillGone(task.jobId, this.#run));
    // Otherwise, the 404 was a mistake.
    if (!isGone && isJobNotFound(result, state)) result = await look();
    // A later request may have made it fail.
    if (wasDone && state.hasRecord && (result.kind === "done" || result.kind === "started")) {
      if (state.status !== "completed")
        log.line(`Job ${task.jobId} was completed for this request, and is ${state.status} since a later one`);
      onUsable();
      return { kind: "done", status: "completed" };
    }
    const ended = result.kind === "done" ? state.status : undefined;
    const isCompleted = result.kind === "done" && result.status === "completed";
    const isFirst = state.timeline.length === 1;
    // A completed turn fulfills the request, whatever happened to its pull request and job since.
    const isArchived = ended === "archived" && !isCompleted && (isComment ? isTurn : isFirst);
    // A turn that failed before this attempt is not waited for, so this one failed just now.
    const hasFailed = result.kind === "done" && result.status === "failed" && isFirst && !isTurn && !isComment;
    if (isGone || isArchived || hasFailed) {
      log.startingOver(task.jobId, isGone ? "not found" : isArchived ? "archived" : "failed");
      return undefined;
    }
    onUsable();
    return result.kind === "started" && isLook ? this.#runTask(task) : result;
  }

  #runTask(task: Task, options: JobOptions = {}): Promise<RunResult> {
    const { conversation } = this.#request;
    return runJob(task, this.#run, {
      ...options,
      onJobId: (jobId) => {
        options.onJobId?.(jobId);
        conversation?.mark("job", jobId, { isDoubtful: !this.#run.state.hasRecord });
        conversation?.showJob();
      },
      onPolled: () => {
        options.onPolled?.();
        conversation?.showProgress();
      },
    });
  }

  /** Remembers that the agent is at work on a message, or has ended, if it was seen so: otherwise, a re-run could read the job's state from before it. */
  #see(sent: SendingTask["kind"], hasEnded = false): void {
    const { status, jobId, features } = this.#run.state;
    if (!(hasEnded || status === "active") || sent !== "message" || features) return;
    this.#memory.see(sent, jobId);
    this.#request.conversation?.mark("job", jobId, { isSeen: true });
  }

  async #send(
    decision: Extract<Decision, { do: "send" }>,
    base: string | undefined,
    early: WrittenPrompt | undefined,
  ): Promise<Execution> {
    const { to, publishes = false, replaces, unproven } = decision;
    const { settings, state, ports, log } = this.#run;
    const { conversation, jobId } = this.#request;
    const memory = this.#memory;
    state.forgetJob();
    const { service } = this.#evidence;
    if (typeof service === "object" && "turnId" in service && (service.over === "failed" || service.over === "stopped"))
      log.startingOver(service.jobId, service.over);
    const remembered = await readSession(conversation ? null : memory.session, memory.firstBase, this.#run);
    if (remembered === "changed") return this.#decideAnew(decision, base, early);
    if ("kind" in remembered) return this.#withdraw(remembered);
    const written = early ?? (await this.#write(remembered, publishes));
    if ("kind" in written) return this.#withdraw(written);
    if (!conversation && !memory.isWritable) await memory.sayWhatIsForgotten();
    const announced = settings.dryRun ? undefined : await conversation?.announce();
    state.publishesKept = publishes;
    const kept = to === undefined ? undefined : { jobId: to, isReplaceable: true };
    // The session may have gone on with another job since, and each would have its pull request. Complete work is published in any case.
    const isOfSession = kept === undefined || (!publishes && remembered.jobId !== undefined && remembered.jobId !== to);
    const found = jobId === "" && isOfSession ? await (conversation ?? remembered).findContinued(base) : undefined;
    if (found === "changed") return this.#decideAnew(decision, base, early);
    if (found && "kind" in found) return this.#withdraw(found);
    if (!conversation && memory.isWritable) tellOfTag(this.#run);
    const continued = jobId === "" ? (found ?? kept) : { jobId };
    if (found && kept && found.jobId !== to)
      log.line(`The session has gone on with job ${found.jobId}, so what job ${to} left unfinished stays there`);
    const isApart = await acceptsSections(written.sections.length > 0, this.#run);
    const sent = isApart ? written : { prompt: written.whole };
    const last = this.#run.key.lastOf(sent.prompt, replaces, state.announcement?.turns ?? []);
    const plan = planTasks(sent, continued, { replaces: last, base });
    if (settings.dryRun) return this.#tellPlan(plan);

    // A session has read its own.
    if (plan.task.kind === "message" && (conversation || jobId !== "")) await readBefore(plan.task.jobId, this.#run);
    // Before the cache says that something may have been sent.
    if (ports.agent) await untilAborted(ports.agent.prepare(), ports.signal);
    if (ports.agent && this.#isAborted) return this.#withdraw(cancelledBeforeSending);
    if (ports.agent && !conversation && state.session !== undefined) {
      // Another run may have begun since the last question: installing an agent takes a while.
      [state.claimsSession, state.askedSession] = [true, undefined];
      const isFree = await untilFree(this.#run);
      if (isFree === "changed") {
        memory.session?.forget();
        return this.#decideAnew(decision, base, early);
      }
      if (isFree !== true) return this.#withdraw(isFree);
    }
    const leftMs = (state.startedAt ?? ports.clock.now()) + settings.timeoutMs - ports.clock.now();
    if ((conversation || ports.agent) && leftMs < minTimeLeftMs)
      return this.#withdraw({ kind: "blocked", cause: "time" });
    // A service that can be asked knows what it was sent.
    const isAnnounced = state.features === undefined;
    const isSaved = isAnnounced && (await memory.announce());
    if (announced === false && !isSaved && state.features === undefined) {
      // Only a service that can be asked keeps the word then. A re-run has already asked it.
      if (!isResuming(this.#run)) await askService(this.#run);
      if (state.features === undefined) return this.#withdraw({ kind: "blocked", cause: "unwitnessed" });
    }
    // The earlier attempt may have been unable to leave a word, too.
    const isMuted = memory.isReadOnly || (isAnnounced && memory.isWritable && !isSaved);
    if (isMuted && unproven !== undefined && state.features === undefined) await askService(this.#run);
    if (isMuted && unproven !== undefined && state.features === undefined)
      return this.#withdraw({ kind: "blocked", cause: "unknown", attempt: unproven }, { isSettled: false });
    return this.#runPlan(plan);
  }

  /** Writes the prompt. If nothing is new, that is sent nevertheless for kept work, and if people ask in a job's own pull request. */
  #write(remembered?: RememberedChanges, publishes = false): ReturnType<typeof writePrompt> {
    return writePrompt(this.#request, this.#run, remembered, async () => {
      const own = publishes ? undefined : await this.#request.conversation?.findAskedJob();
      return own && "kind" in own ? own : publishes || own?.jobId !== undefined;
    });
  }

  /** Runs a plan, and records what was sent. */
  async #runPlan(plan: Plan): Promise<Execution> {
    const { ports, log } = this.#run;
    const { conversation } = this.#request;
    const memory = this.#memory;
    let hasJob = false;
    const { task, result: ended } = await runPlan(
      plan,
      this.#run,
      async (each) => {
        const onAbort = (): void => memory.doubt();
        ports.signal.addEventListener("abort", onAbort, { once: true });
        const onJobId = (jobId: string): void => {
          hasJob = true;
          memory.begin(each.kind, jobId);
        };
        conversation?.mark("about to send");
        const result = await this.#runTask(each, { onJobId, onPolled: () => this.#see(each.kind) });
        ports.signal.removeEventListener("abort", onAbort);
        // A re-run compares again, also if this one is cancelled while it does.
        if (endOf(result, this.#run.state)) this.#see(each.kind, true);
        return compareHeads(result, this.#run);
      },
      (reason, { jobId, leaves }) => {
        if (conversation) return conversation.replaceJob();
        log.startingOver(jobId, reason);
        if (reason === "rejected" && leaves)
          tellOfLeft(say`Job ${jobId} failed before, and rejects the follow-up`, leaves, this.#run);
      },
    );
    if (acceptanceOf(ended) === "rejected") return this.#withdraw(ended, { task });
    // After a message in doubt, the job is not recorded: its state would not tell about the message.
    memory.doubt();
    // After a signal, both share the same two seconds.
    const stopping = stopOwnTurn(task, ended, this.#run);
    const [result] = await Promise.all([stopping, memory.finish(ended, task.kind, { hasJob, stopping })]);
    return this.#end(result, task);
  }

  /** Ends a run that sent nothing, and records that. In a thread, this must not hide what an earlier attempt may have sent. */
  async #withdraw(
    result: RunResult,
    {
      task,
      isShown = true,
      isSettled = this.#isSettled,
    }: { task?: Task | undefined; isShown?: boolean; isSettled?: boolean } = {},
  ): Promise<Execution> {
    if (isSettled) this.#request.conversation?.mark("nothing sent");
    if (!isShown) await this.#request.conversation?.discardUnmarked();
    await this.#memory.withdraw();
    const { finish, ...execution } = this.#end(result, task, "rejected");
    return { ...execution, ...(isShown && finish && { finish }) };
  }

  /** @param acceptance - whether the service has the request that was sent or waited for. Default: according to the result */
  #end(
    result: RunResult,
    task: Task | undefined,
    acceptance = result.kind === "crashed" ? "unknown" : (acceptanceOf(result) ?? "accepted"),
  ): Execution {
    const { conversation } = this.#request;
    const { state } = this.#run;
    // A re-run could read the job's state from before a message.
    const isTold = state.features === undefined && state.origin !== "created" && endOf(result, state);
    if (isTold) conversation?.mark("job", state.jobId, { isSeen: true });
    const word = conversation?.word;
    // Without a word in the thread, its evidence is a doubt.
    const keepsWords = this.#evidence.keepsWords && !this.#memory.isReadOnly && !conversation?.thread;
    const left = { words: word ? [word] : this.#memory.words, keepsWords, acceptance };
    return {
      result,
      ...(task && { task }),
      rerun: rerunEffect(this.#evidence, left, this.#run),
      ...(conversation && !this.#run.settings.dryRun && { finish: (ending) => conversation.finish(ending) }),
    };
  }

  async #tellWait(decision: Wait): Promise<Execution> {
    const next = decide(withoutJob(this.#evidence, decision.jobId));
    const isDoubtful = "isDoubtful" in decision && decision.isDoubtful === true;
    const plan = plannedWait(decision, next.do === "send" && !isDoubtful && !this.#request.conversation);
    return this.#withdraw(
      { kind: "skipped", reason: "dry-run", plan },
      { task: { kind: "attach", jobId: decision.jobId } },
    );
  }

  async #tellPlan(plan: Plan): Promise<Execution> {
    const { log, ports, settings } = this.#run;
    const { task } = plan;
    log.dryRun(task.prompt);
    await ports.agent?.check();
    const session = this.#request.conversation ? undefined : settings.session;
    const told = plannedTask(plan, session, ports.agent !== undefined);
    return this.#withdraw({ kind: "skipped", reason: "dry-run", plan: told }, { task });
  }
}
