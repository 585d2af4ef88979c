import { messageOf } from "../../client/errors.ts";
import { joinSentences, message, plain, say } from "../../runner-kit/text.ts";
import { findOwnJob, readState } from "../base-branch.ts";
import { hash } from "../hash.ts";
import type { Word } from "../memory/decide.ts";
import type { ThreadWords } from "../memory/evidence.ts";
import { jobOfService } from "../memory/session.ts";
import { untilAborted } from "../memory/wait.ts";
import { outcomes } from "../outcome.ts";
import type { Continuation } from "../plan.ts";
import { describeHidden } from "../report/format.ts";
import { type ReplyFrame, renderProgress, renderResult } from "../report/reply.ts";
import type { Ending, RunResult } from "../result.ts";
import { canBeAsked, type Run } from "../run.ts";
import { runAttempt, runUrl } from "../runner/environment.ts";
import type { GitHub } from "../runner/github.ts";
import { readerOf } from "../runner/read-repository.ts";
import type { CommentMode } from "../settings.ts";
import { stepOfRun } from "../step-key.ts";
import type { ThreadEvent } from "./event.ts";
import { formatMarker, type Marker, type StepRequest } from "./marker.ts";
import { type RememberedReply, Thread, type Write } from "./thread.ts";
import { findWithdrawal } from "./withdrawal.ts";

const jobReplaced = say`The job that this thread remembers was not found, so this request is for a new one.`;

export interface ThreadRequest {
  event: ThreadEvent;
  isNew: boolean;
  github: GitHub;
}

/** The handling of a request in a thread: the reply, and what it remembers. */
export class Conversation {
  readonly #run: Run;
  readonly #mode: CommentMode;
  readonly #request: ThreadRequest;
  readonly #asked: StepRequest;
  readonly #call: string | undefined;
  /** `undefined` with `reply: false`. */
  readonly thread: Thread | undefined;
  /** The reply of an earlier attempt, which this one edits. */
  #own: RememberedReply | undefined;
  /** The account of the reply. */
  #authorId: number | undefined;
  #reaction: Write | undefined;
  #replies: RememberedReply[] | undefined;
  #post: Write | undefined;
  /** What the reply remembers; `undefined` until that is known, so that it hides nothing that an earlier attempt left. */
  #marker: Marker | undefined;
  /** What the reply says, as far as GitHub has answered; `reading`: it only tells the account. */
  #shown: Marker["kind"] | "reading" | undefined;
  #isReplacement = false;
  #ownJob: ReturnType<typeof findOwnJob> | undefined;
  /** Which job the agent began to work on, and when. */
  #began: { jobId: string; time: Date } | undefined;

  constructor(request: ThreadRequest, mode: CommentMode, run: Run) {
    const { event, github } = request;
    const { settings, ports, log, state } = run;
    this.#run = run;
    this.#mode = mode;
    this.#request = request;
    this.#asked = `${event.request} step=${stepOfRun(settings.matrixLeg, ports.environment)}`;
    this.#call = mode.template && hash(mode.template);
    const onFailure = (action: string, error: unknown): void =>
      log.warning(message`
        Cannot update the thread
        Could not ${action} (${messageOf(error)}). Replies and reactions may be missing, a follow-up comment may start a new job, and a re-run of this workflow run may not find the job of this one. The step needs a token with issues: write and pull-requests: write.`);
    const deadline = (state.startedAt ?? ports.clock.now()) + settings.timeoutMs;
    this.thread = mode.reply ? new Thread(event, deadline, { ...ports, github, onFailure }) : undefined;
  }

  /** The word in the reply, as a later attempt will find it; `undefined` if it may not. */
  get word(): Word | undefined {
    if (!this.#marker || !this.thread?.isReliable || formatMarker(this.#marker) === "") return undefined;
    return wordOf(this.#marker, "create");
  }

  /** Reads what earlier attempts left in the thread. Without a reaction, the author of an own reply tells the account. */
  async read(): Promise<ThreadWords> {
    const { thread } = this;
    if (!thread) return { kind: "none", silence: "open" };
    if (!this.#run.settings.dryRun) {
      await this.#react();
      if (this.#reaction?.userId === undefined) await this.#postReply();
    }
    this.#replies = await thread.listReplies(this.#run.settings.projectId);
    if (!this.#replies) return { kind: "unreadable" };
    const answers = this.#replies.filter(({ request }) => request === this.#asked);
    const account = this.#account;
    const byAccount = answers.filter(({ authorId }) => authorId === account || this.#run.settings.dryRun);
    const own = byAccount.findLast(({ call }) => call === this.#call);
    const other = byAccount.at(-1);
    // Of another call of a reusable workflow, which is the same step for the runner; or the template was another one.
    if (!own && other && other.kind !== "nothing sent")
      return { kind: "reply", attempt: other.attempt, word: { ...wordOf(other, "create"), hasOtherPrompt: true } };
    // It may be one of this account.
    if (!own && account === undefined && answers.length > 0) return { kind: "unreadable" };
    if (!own) return { kind: "none", silence: this.#silence };
    // What an earlier attempt started stays remembered, whatever happens to this one.
    this.#marker = own;
    await this.discardUnmarked();
    this.#own = own;
    this.#shown = own.kind;
    thread.useReply(own.replyId);
    const isLater = ({ authorId, request, call, replyId, jobId }: RememberedReply): boolean =>
      authorId === account &&
      (request !== this.#asked || call !== this.#call) &&
      replyId > own.replyId &&
      jobId !== undefined &&
      jobId === own.jobId;
    const laterRun = this.#replies.find(isLater);
    return { kind: "reply", attempt: own.attempt, word: wordOf(own, await this.#sentBy(own)), laterRun };
  }

  /** What it means that no earlier attempt has left a reply. */
  get #silence(): "proof" | "doubt" | "open" {
    const { kind, isNew, isDeleted } = this.#reaction ?? { kind: "kept" };
    if (isNew !== undefined) return isNew ? "proof" : "doubt";
    // A server without reactions, or an event whose reaction cannot tell: it is the reply alone.
    const canTell = kind !== "kept" && !isDeleted;
    return canTell || this.#post?.kind === "refused" ? "doubt" : "open";
  }

  /** Returns the kind of task that a reply stands for: a message, if the workflow or an earlier reply names its job. */
  async #sentBy({ jobId, request, call, replyId, authorId }: RememberedReply): Promise<"create" | "message"> {
    if (this.#mode.jobId !== "") return "message";
    if (this.#request.isNew) return "create";
    const isContinued = this.#replies?.some(
      (other) =>
        other.authorId === authorId &&
        other.jobId === jobId &&
        (other.request !== request || other.call !== call) &&
        other.replyId < replyId,
    );
    const own = await this.findOwnJob();
    const isOwn = "kind" in own || (jobId !== undefined && own.jobId === jobId);
    return isContinued || isOwn ? "message" : "create";
  }

  /** Deletes a reply that has only told the account. */
  async discardUnmarked(): Promise<void> {
    if (this.#shown !== "reading") return;
    this.#shown = undefined;
    await this.thread?.discard();
  }

  /** Shows that the step waits for the job of an earlier attempt. */
  async resume(jobId: string): Promise<void> {
    this.mark("job", jobId, { isDoubtful: this.#marker?.jobId === jobId && this.#marker.isDoubtful === true });
    if (!this.#own && !this.#post) await this.#postReply();
  }

  /** Says in the thread that a request is about to be sent, and returns whether that is kept; `undefined` without a reply. */
  async announce(): Promise<boolean | undefined> {
    const { thread } = this;
    if (!thread) return undefined;
    const isKept = await this.#saveWord(thread);
    // Without it, a re-run would take the deletion of the reply for a proof that nothing was sent.
    if (isKept && this.#reaction?.kind === "lost") this.#reaction = await thread.react("eyes");
    return isKept;
  }

  async #saveWord(thread: Thread): Promise<boolean> {
    this.mark("about to send");
    if (this.#shown === "about to send") return true;
    if (this.#shown) {
      const edited = await thread.rewrite(this.#progress);
      this.#shown = "about to send";
      if (edited.kind === "kept") return true;
      // What it said before is no longer true, and must not be what a later attempt goes by.
      if (!edited.isDeleted) return false;
      this.#own = undefined;
      this.#post = undefined;
    }
    await this.#react();
    if (!this.#post) await this.#postReply();
    return this.#post?.kind === "kept" || this.#reaction?.kind === "kept";
  }

  /** Returns why nothing is started if what asks was taken back. */
  findWithdrawal(): Promise<RunResult | undefined> {
    const { event, github } = this.#request;
    const { ports, settings } = this.#run;
    const repository = readerOf(github, event, ports, { totalMs: settings.timeoutMs });
    return findWithdrawal(event, this.#mode, this.#attempt > 1, repository, ports.signal);
  }

  /** Finds the job whose own pull request this is. Only a service that can be asked is known to name its branches by jobs. */
  findOwnJob(): ReturnType<typeof findOwnJob> {
    this.#ownJob ??= canBeAsked(this.#run) ? findOwnJob(this.#run) : Promise.resolve({ jobId: undefined });
    return this.#ownJob;
  }

  /** Finds it as `findOwnJob` does, if a person's own words ask for that job: a label may be set for an agent's push. */
  findAskedJob(): ReturnType<typeof findOwnJob> {
    const { event, isNew } = this.#request;
    return event.triggerKind === "label" || isNew ? Promise.resolve({ jobId: undefined }) : this.findOwnJob();
  }

  /** Finds the job to continue: the pull request's, otherwise the thread's; `undefined` for a new one. */
  async findContinued(base: string | undefined): Promise<Continuation | RunResult | undefined> {
    const { settings, log } = this.#run;
    const { thread } = this;
    const isTold = settings.dryRun;
    if (this.#request.isNew) return undefined;
    const own = base === undefined ? await this.findOwnJob() : { jobId: undefined };
    if ("kind" in own) return own;
    if (own.jobId !== undefined) return { jobId: own.jobId, isReplaceable: true };
    const account = this.#account;
    if (!thread || (account === undefined && !isTold && !settings.agent)) return undefined;
    this.#replies ??= await thread.listReplies(settings.projectId);
    // A service on the runner knows its threads.
    if (!this.#replies && thread.unread !== undefined && !settings.agent)
      return { kind: "blocked", cause: "thread", detail: thread.unread };
    const isOwn = ({ authorId, replyId }: RememberedReply): boolean =>
      (isTold || authorId === account) && replyId !== this.#own?.replyId;
    const found = this.#replies?.findLast((reply) => isOwn(reply) && reply.jobId !== undefined);
    const jobId = found?.jobId;
    const covered = account === undefined ? undefined : thread.coveredJob(account, found?.replyId ?? 0);
    if (covered !== undefined) {
      log.notice(message`
        A reply no longer names its job
        Somebody has added text below the hidden last line of a reply, which names job ${covered}, so that this request ${jobId === undefined ? say`starts a new job` : say`goes to job ${jobId}`}. Remove what is below that line to continue job ${covered}.`);
    }
    if (jobId === undefined) {
      const other = account === undefined ? undefined : thread.otherProject(account);
      if (other !== undefined)
        log.notice(message`
          The thread's job is of another project
          The last job of this thread is one of the project ${other}, and this step works for ${settings.projectId}, so it starts a new job. With the agent service as a step, each repository and each agent has a project of its own.`);
      if (!settings.agent || isTold) return undefined;
      // It says better than a question why it cannot start.
      await untilAborted(this.#run.ports.agent?.prepare() ?? Promise.resolve(), this.#run.ports.signal);
      const known = await jobOfService(this.#run);
      if ("kind" in known) return known;
      if (known.jobId !== undefined)
        log.line(`No reply names the job of this thread, which is ${known.jobId} and continues`);
      return known.jobId === undefined ? undefined : { jobId: known.jobId, isReplaceable: true };
    }
    // A job that started from another branch would bring that along.
    const state = base === undefined || isTold ? undefined : await readState(jobId, this.#run);
    if (state && "kind" in state) return state;
    return state && state.base !== base ? undefined : { jobId, isReplaceable: true };
  }

  /** Remembers what is known of the request, such as the job that it started, or that is waited for. */
  mark(kind: Marker["kind"], jobId?: string, { isSeen = false, isDoubtful = false } = {}): void {
    const { settings, state } = this.#run;
    // What an earlier attempt started stays the thread's job.
    if (kind === "nothing sent" && this.#own?.kind === "job") {
      this.#marker = this.#own;
      return;
    }
    // What an earlier attempt has seen stays so.
    const wasSeen = isSeen || (kind === "job" && this.#marker?.jobId === jobId && this.#marker?.wasSeen === true);
    const { projectId } = settings;
    const from = { projectId, request: this.#asked, call: this.#call, attempt: this.#attempt };
    this.#marker = { ...from, kind, jobId, wasSeen, isDoubtful, head: state.before?.head };
  }

  /** The id must reach the thread before the process can be killed, so this edit does not wait for its turn. */
  showJob(): void {
    if (this.#run.ports.signal.aborted) return;
    this.#shown &&= "job";
    void this.thread?.edit(this.#progress, { isUrgent: true });
    void this.thread?.removeLabel();
  }

  showProgress(): void {
    // Before the job is known, there is nothing to show.
    if (this.#marker?.kind === "job") this.thread?.showProgress(this.#progress);
  }

  /** A create takes the place of a message to the thread's job, which is gone. */
  replaceJob(): void {
    this.#isReplacement = true;
    this.#run.log.line(plain(jobReplaced));
  }

  async finish(ending: Ending): Promise<void> {
    await this.thread?.edit(renderResult({ ...ending, state: this.#run.state }, this.#frame), { isLast: true });
    const { reaction } = outcomes[ending.outcome];
    if (reaction) await this.thread?.react(reaction, { isLast: true });
  }

  async #react(): Promise<Write | undefined> {
    this.#reaction ??= await this.thread?.react("eyes");
    return this.#reaction;
  }

  async #postReply(): Promise<void> {
    this.#post = await this.thread?.post(this.#progress, this.#reaction?.userId);
    this.#authorId = this.#post?.userId;
    if (this.#post?.kind === "kept") this.#shown = this.#marker?.kind ?? "reading";
  }

  /** The account that the step acts as, if GitHub has told it. */
  get #account(): number | undefined {
    return this.#reaction?.userId ?? this.#authorId;
  }

  get #attempt(): number {
    return runAttempt(this.#run.ports.environment);
  }

  get #progress(): string {
    return renderProgress(this.#frame, { since: this.#workingSince, state: this.#run.state });
  }

  /** When the agent began to work, if that is known. It is the same for every edit, even if the wall clock is changed. */
  get #workingSince(): Date | undefined {
    const { state, ports } = this.#run;
    const [first] = state.timeline;
    // When the job of an earlier attempt began is unknown.
    if (!first || (state.origin !== "created" && state.origin !== "continued")) return undefined;
    if (this.#began?.jobId !== state.jobId) {
      const agoMs = state.elapsedMs(ports.clock.now()) - first.atMs;
      this.#began = { jobId: state.jobId, time: new Date(ports.clock.wallTime() - agoMs) };
    }
    return this.#began.time;
  }

  /** Returns whether a later reply names another job, which is then the thread's. */
  #isLaterJob({ authorId, replyId, jobId }: RememberedReply): boolean {
    const isLater = this.#own !== undefined && authorId === this.#own.authorId && replyId > this.#own.replyId;
    return isLater && jobId !== undefined && jobId !== this.#marker?.jobId;
  }

  get #frame(): ReplyFrame {
    return {
      runUrl: runUrl(this.#run.ports.environment),
      mode: this.#mode,
      reviewUrl: this.#request.event.reviewUrl ?? "",
      note: joinSentences(
        this.#run.state.startNote,
        this.#isReplacement ? jobReplaced : [],
        this.#request.event.hiddenCount > 0 ? describeHidden(this.#request.event.hiddenCount) : [],
      ),
      marker: this.#marker ? formatMarker(this.#marker) : "",
      remembersJob: this.#marker?.kind === "job",
      isContinuable: !this.#replies?.some((other) => this.#isLaterJob(other)),
    };
  }
}

function wordOf({ kind, jobId = "", wasSeen, isDoubtful, head }: Marker, sent: "create" | "message"): Word {
  return kind === "job" ? { kind, jobId, sent, wasSeen, isDoubtful, ...(head && { before: { head } }) } : { kind };
}
