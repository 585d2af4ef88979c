import { minTimeLeftMs } from "../../client/client.ts";
import { planTasks, runFirstFound } from "../plan.ts";
import { acceptanceOf, cancelledBeforeSending, isJobNotFound, type RerunEffect, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { runJob } from "../run-job.ts";
import { runAttempt } from "../runner/environment.ts";
import type { CommentMode, Task } from "../settings.ts";
import type { ThreadEvent } from "./event.ts";
import { formatMarker, type Marker } from "./marker.ts";
import type { CommentRequest } from "./request.ts";
import type { RememberedReply, Thread } from "./thread.ts";

/** The parts of the reply that change, besides the state of the job. */
export interface ReplyState {
  /** What the reply remembers, written before anything is sent; `undefined` once it is certain that nothing was accepted. */
  marker: Marker | undefined;
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
  /** The marker that says that something is about to be sent for this request. */
  pending: Marker;
  reply: ReplyState;
  /** Monotonic time at which `timeout-minutes` has passed. */
  deadline: number;
  /** Renders the reply while the job runs. */
  renderProgress: (reply: ReplyState) => string;
}

/** Returns whether this is not the first attempt of the workflow run. */
export function isRerun({ ports }: Run): boolean {
  return runAttempt(ports.environment) > 1;
}

/** Finds the reply of an earlier run attempt to the same request, and the kind of its task; `undefined` on a first run. */
export async function findOwnReply(
  { request, run, mode, thread }: Conversation,
  actorId: number | undefined,
): Promise<(RememberedReply & { sent: "create" | "message" }) | "unreadable" | undefined> {
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

/**
 * Posts the reply, and plans from the thread what to do. Each task applies only if the job of the one before it is not
 * found: wait for the job of an earlier attempt, continue a job, create one. A `job-id` in the workflow is never replaced.
 */
export async function planReply(
  prompt: string,
  { request, run, mode, thread, reply, deadline, renderProgress }: Conversation,
  actorId: number | undefined,
  hasResumed: boolean,
): Promise<Task[] | RunResult> {
  const { event, isNew } = request;
  const isOwn = (remembered: RememberedReply) => answers(remembered, event);
  const authorId = await thread?.post(renderProgress(reply));
  const replies =
    thread && (authorId !== undefined || isRerun(run)) ? await thread.listReplies(run.settings.projectId) : [];
  // Without the thread, a first run can only miss a job to continue, but a re-run could start a second one.
  const isAccountUnknown = authorId === undefined && actorId === undefined;
  if (isRerun(run) && (!replies || (isAccountUnknown && replies.some(isOwn)))) {
    reply.marker = undefined;
    return threadUnreadable(run);
  }
  const earlier = (replies ?? []).filter((remembered) => remembered.authorId === authorId);
  const interrupted = isRerun(run) && !hasResumed ? earlier.findLast(isOwn) : undefined;
  if (interrupted && interrupted.jobId === undefined) return { kind: "blocked", cause: "pending" };
  if (deadline - run.ports.clock.now() < minTimeLeftMs) {
    reply.marker = undefined;
    return { kind: "blocked", cause: "time" };
  }

  const continued = mode.jobId || (isNew ? undefined : earlier.findLast(({ jobId }) => jobId !== undefined)?.jobId);
  const tasks = planTasks(prompt, continued, mode.jobId === "");
  if (!interrupted?.jobId) return tasks;
  return [{ kind: "attach", jobId: interrupted.jobId, resumes: sentBy(interrupted, earlier, mode) }, ...tasks];
}

/** Runs the tasks of a plan in order, until the job of one is found. */
export function runPlan(
  tasks: readonly Task[],
  conversation: Conversation,
): Promise<{ task: Task; result: RunResult }> {
  const { run, reply } = conversation;
  return runFirstFound(
    tasks,
    run.state,
    (task) => runTask(task, conversation),
    (_task, next) => {
      reply.isReplacement = next.kind === "create";
      if (reply.isReplacement) run.log.replacingJob();
    },
  );
}

/** Runs one task, and keeps the marker of the reply up to date. */
export async function runTask(task: Task, conversation: Conversation): Promise<RunResult> {
  const { run, thread, pending, reply, renderProgress } = conversation;
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
  if (isJobNotFound(result, run.state) || acceptanceOf(result) === "rejected") reply.marker = undefined;
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
export function rerunEffect({ reply: { marker }, thread }: Conversation): RerunEffect {
  if (!marker || !thread?.isReliable || formatMarker(marker) === "") return "repeats";
  return marker.jobId === undefined ? "stops" : "resumes";
}
