import { minTimeLeftMs } from "../../client/submit.ts";
import { isForgetful } from "../../runner-kit/cache.ts";
import { findJob } from "../find-job.ts";
import { type PlannedTask, planTasks, runFirstFound } from "../plan.ts";
import { acceptanceOf, cancelledBeforeSending, isJobNotFound, type RerunEffect, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { runJob } from "../run-job.ts";
import { RunState } from "../run-state.ts";
import { earlierAttempts } from "../runner/environment.ts";
import type { CommentMode, Task } from "../settings.ts";
import { checkRecord } from "../step-record.ts";
import type { ThreadEvent } from "./event.ts";
import { formatMarker, type Marker } from "./marker.ts";
import { type CommentRequest, isRerun } from "./request.ts";
import type { RememberedReply, Thread } from "./thread.ts";

/** The parts of the reply that change, besides the state of the job. */
export interface ReplyState {
  /** What the reply remembers, written before anything is sent. */
  marker: Marker;
  /** Whether the request is for a new job because the one that the thread remembers was not found. */
  isReplacement: boolean;
  /** The address of the review that it answers, or empty. */
  reviewUrl: string;
}

/** The handling of a request in a thread. */
export interface Conversation {
  run: Run;
  mode: CommentMode;
  request: CommentRequest;
  /** `undefined` with `reply: false`. */
  thread: Thread | undefined;
  /** The marker that says that something is about to be sent for this request, and the one that says that nothing was. */
  pending: Marker;
  unsent: Marker;
  reply: ReplyState;
  /** Monotonic time at which `timeout-minutes` has passed. */
  deadline: number;
  /** Renders the reply while the job runs. */
  renderProgress: (reply: ReplyState) => string;
}

/** The reply of an earlier run attempt, and the kind of its task. */
export interface OwnReply extends RememberedReply {
  sent: "create" | "message";
}

/** Finds the reply of an earlier run attempt to the same request; `undefined` on a first run. */
export async function findOwnReply(
  { request, run, mode, thread }: Conversation,
  actorId: number | undefined,
): Promise<OwnReply | "unreadable" | undefined> {
  if (!thread || !isRerun(run) || actorId === undefined) return undefined;
  const replies = await thread.listReplies(run.settings.projectId);
  if (!replies) return "unreadable";
  const own = replies.findLast((reply) => reply.authorId === actorId && answers(reply, request.event));
  return own && { ...own, sent: sentBy(own, replies, mode) };
}

/** Returns the kind of task that a reply stands for: a message, if the workflow or an earlier reply names its job. */
function sentBy(reply: RememberedReply, replies: readonly RememberedReply[], mode: CommentMode): "create" | "message" {
  const isContinued = replies.some(
    (other) => other.jobId === reply.jobId && other.request !== reply.request && other.replyId < reply.replyId,
  );
  return mode.jobId !== "" || isContinued ? "message" : "create";
}

/** What is known of the earlier attempts of the workflow run before the thread is read for a job to continue. */
export interface KnownAttempts {
  /** The account that the step acts as, if GitHub says it. */
  actorId: number | undefined;
  /** Whether the reply of an earlier attempt was found. */
  hasReply: boolean;
  /** Whether the job of an earlier attempt was found, and is over. */
  hasResumed: boolean;
  /** The turn that this attempt takes the place of. */
  replaces: string | undefined;
  /** The branch that a new job starts from; `undefined` for the project's own. */
  base: string | undefined;
}

/**
 * Posts the reply, and plans from the thread what to do. Each task applies only if the job of the one before it is gone: wait
 * for the job of an earlier attempt, continue a job, create one. A `job-id` in the workflow is never replaced.
 */
export async function planReply(
  prompt: string,
  conversation: Conversation,
  { actorId, hasReply, hasResumed, replaces, base }: KnownAttempts,
): Promise<PlannedTask<Task>[] | RunResult> {
  const { request, run, mode, thread, reply, unsent, deadline, renderProgress } = conversation;
  const { event, isNew, earlier: asked } = request;
  const isOwn = (remembered: RememberedReply) => answers(remembered, event);
  const posted = hasReply ? undefined : await thread?.post(renderProgress(reply));
  const authorId = posted ?? (hasReply ? actorId : undefined);
  const replies =
    thread && (authorId !== undefined || isRerun(run)) ? await thread.listReplies(run.settings.projectId) : [];
  // The service says what earlier attempts sent. Without that, a re-run must not start a second job.
  const isUncertain = isRerun(run) && asked?.kind === "unannounced" && !hasReply && !hasResumed;
  const isAccountUnknown = authorId === undefined && actorId === undefined;
  // The marker stays pending: that this attempt sends nothing must not hide what an earlier one may have sent.
  if (isUncertain && (!replies || (isAccountUnknown && replies.some(isOwn)))) return threadUnreadable(run);
  const earlier = (replies ?? []).filter((remembered) => remembered.authorId === authorId);
  const interrupted = isUncertain ? earlier.findLast(isOwn) : undefined;
  if (interrupted && interrupted.jobId === undefined && !interrupted.isUnsent) {
    return { kind: "blocked", cause: "pending" };
  }
  const unrecorded =
    isUncertain && !interrupted ? await checkRecord(earlierAttempts(run.ports.environment), run) : undefined;
  if (unrecorded?.kind === "undecided") return unrecorded.result;
  if (deadline - run.ports.clock.now() < minTimeLeftMs) {
    reply.marker = unsent;
    return { kind: "blocked", cause: "time" };
  }

  const continued = mode.jobId || (isNew ? undefined : earlier.findLast(({ jobId }) => jobId !== undefined)?.jobId);
  const other = isNew || continued !== undefined || !authorId ? undefined : thread?.otherProject(authorId);
  if (other !== undefined) run.log.otherProject(other, run.settings.projectId);
  const isReplaceable = mode.jobId === "";
  // A job that started from another branch would bring that along.
  const isOther =
    isReplaceable && continued !== undefined && base !== undefined && (await baseOf(continued, run)) !== base;
  const plan: PlannedTask<Task>[] = planTasks(
    prompt,
    continued === undefined || isOther ? undefined : { jobId: continued, isReplaceable },
    { replaces, base },
  );
  if (!interrupted?.jobId) return plan;
  const { jobId } = interrupted;
  return [{ task: { kind: "attach", jobId, resumes: sentBy(interrupted, earlier, mode) } }, ...plan];
}

/** Returns the branch that a job started from; `undefined` if that is the project's own, or it cannot be read. */
async function baseOf(jobId: string, run: Run): Promise<string | undefined> {
  const state = new RunState();
  state.startedAt = run.state.startedAt;
  await findJob(jobId, { ...run, state });
  return state.base || undefined;
}

/** Runs the tasks of a plan in order, until the job of one is found. */
export function runPlan(
  plan: readonly PlannedTask<Task>[],
  conversation: Conversation,
): Promise<{ task: Task; result: RunResult }> {
  const { run, reply } = conversation;
  return runFirstFound(
    plan,
    run,
    (task) => runTask(task, conversation),
    (_task, next) => {
      reply.isReplacement = next.kind === "create";
      if (reply.isReplacement) run.log.replacingJob();
    },
  );
}

/** Runs one task, and keeps the marker of the reply up to date. */
export async function runTask(task: Task, conversation: Conversation): Promise<RunResult> {
  const { run, thread, pending, unsent, reply, renderProgress } = conversation;
  const remember = (jobId: string): void => {
    reply.marker = { ...pending, jobId };
  };
  reply.marker = pending;
  // What an earlier attempt started stays remembered, whatever happens to this one.
  if (task.kind === "attach") remember(task.jobId);
  const onJobId = (jobId: string): void => {
    remember(jobId);
    // The id must reach the thread before the process can be killed, so this edit does not wait for its turn.
    if (run.ports.signal.aborted) return;
    void thread?.edit(renderProgress(reply), { isUrgent: true });
    void thread?.removeLabel();
  };
  const onPolled = (): void => {
    // Before the job is known, there is nothing to show.
    if (reply.marker?.jobId !== undefined) thread?.showProgress(renderProgress(reply));
  };
  const result = await runJob(task, run, { onJobId, onPolled });
  // In doubt, the marker stays pending: a re-run must neither send it again, nor take the job's state for its result.
  if (isJobNotFound(result, run.state) || acceptanceOf(result) === "rejected") reply.marker = unsent;
  return result;
}

function answers({ request }: RememberedReply, event: ThreadEvent): boolean {
  return request === event.request;
}

/** Returns the result if the thread cannot be read on a re-run: it says what was started before, so nothing may be sent. */
export function threadUnreadable({ ports }: Run): RunResult {
  return ports.signal.aborted ? cancelledBeforeSending : { kind: "blocked", cause: "thread" };
}

/** Returns the effect that the marker in the thread has on a re-run. */
export function rerunEffect({ reply: { marker }, thread, run }: Conversation): RerunEffect {
  if (marker.isUnsent) return "repeats";
  if (run.state.features !== undefined) return "resumes";
  if (thread?.isReliable && formatMarker(marker) !== "") return marker.jobId === undefined ? "stops" : "resumes";
  // Then GitHub's record of this attempt decides, and without that nothing is sent.
  return isForgetful(run.ports.environment) ? "stops" : "repeats";
}
