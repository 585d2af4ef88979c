import { minTimeLeftMs } from "../../client/client.ts";
import { messageOf } from "../../client/errors.ts";
import type { CommentMode, Settings, Task } from "../inputs/schema.ts";
import { type Outcome, outcomes } from "../outcome.ts";
import { acceptanceOf, cancelledBeforeSending, isJobNotFound, type RerunEffect, type RunResult } from "../result.ts";
import type { RunState } from "../run-state.ts";
import type { GitHub } from "../runner/github.ts";
import { answerCommand, type CommandPorts } from "./command.ts";
import type { ThreadEvent, ThreadEventName } from "./event.ts";
import { formatMarker, type Marker } from "./marker.ts";
import { parseEvent } from "./parse-event.ts";
import { isSufficient } from "./permission.ts";
import { defaultTemplate, fillTemplate } from "./prompt-template.ts";
import { isPartOfReview, parseReview } from "./review.ts";
import { type RememberedReply, requestTimeoutMs, Thread, type ThreadPorts } from "./thread.ts";
import { type Command, parseTrigger } from "./trigger.ts";

/** What the reply says besides the state of the job. */
export interface ReplyState {
  /** What the reply remembers, written before anything is sent; `undefined` once it is certain that nothing was accepted. */
  marker: Marker | undefined;
  /** Whether the request is for a new job because the one that the thread remembers was not found. */
  isReplacement: boolean;
  /** The address of the review that it answers, or empty. */
  reviewUrl: string;
}

export interface CommentPorts extends Omit<ThreadPorts, "github">, CommandPorts {
  connectGitHub: () => Promise<GitHub>;
  event: { name: ThreadEventName; readPayload: () => unknown; runId: string };
  /** 1 on the first run of a workflow run, more on a re-run: `GITHUB_RUN_ATTEMPT`. */
  attempt: number;
  /** Returns what the prompt says about changes, which may be nothing, or why nothing may be sent. Never rejects. */
  findSection: () => Promise<{ section: string } | RunResult>;
  /** Runs a task; calls `onJobId` as soon as the job's id is known, and `onPolled` after every poll. Never rejects. */
  runJob: (task: Task, onJobId: (jobId: string) => void, onPolled: () => void) => Promise<RunResult>;
  /** Called if a new job replaces the one that the thread remembers. */
  onReplacement: () => void;
  /** Called if the event's payload cannot be read. */
  onInvalidEvent: (error: unknown) => void;
  /** Called if anyone with a GitHub account has the required permission. */
  onPublicAccess: () => void;
  renderProgress: (reply: ReplyState) => string;
}

/** The result of a run, and how to show it in the thread. */
export interface CommentRun {
  result: RunResult;
  task?: Task;
  /** Default: `repeats`. */
  rerun?: RerunEffect;
  finish?: (outcome: Outcome, render: (reply: ReplyState) => string) => Promise<void>;
}

/** Everything about the conversation that the steps below share. */
interface Conversation {
  request: CommentRequest;
  settings: Settings;
  mode: CommentMode;
  ports: CommentPorts;
  state: RunState;
  /** `undefined` with `reply: false`. */
  thread: Thread | undefined;
  /** The marker that says that something is about to be sent for this request. */
  pending: Marker;
  reply: ReplyState;
  /** Monotonic time at which `timeout-minutes` has passed. */
  deadline: number;
}

/** Runs what an event asks for, if its author may, and shows it in the thread. */
export async function runFromComment(
  settings: Settings,
  mode: CommentMode,
  ports: CommentPorts,
  state: RunState,
): Promise<CommentRun> {
  const request = await readRequest(settings, mode, ports, state);
  if ("result" in request) return request;
  const { event, github, startedAt, command } = request;
  const deadline = startedAt + settings.timeoutMs;
  const thread = mode.reply ? new Thread(event, deadline, { ...ports, github }) : undefined;
  if (command) {
    if (thread) await answerCommand(command, thread, settings, mode.jobId, ports);
    return ports.signal.aborted
      ? { result: cancelledBeforeSending }
      : { result: { kind: "skipped", reason: "command", triggerKind: event.triggerKind } };
  }
  // A re-run that finds the job of an earlier attempt needs no prompt.
  const early = isRerun(ports) ? undefined : await writePrompt(request, ports);
  if (early && "kind" in early) return { result: early };

  const pending: Marker = { projectId: settings.projectId, request: event.request };
  const reply: ReplyState = { marker: pending, isReplacement: false, reviewUrl: event.reviewUrl ?? "" };
  const conversation: Conversation = { request, settings, mode, ports, state, thread, pending, reply, deadline };
  const end = (result: RunResult, task?: Task): CommentRun => ({
    result,
    ...(task && { task }),
    rerun: rerunEffect(reply.marker, thread),
    finish: async (outcome, render) => {
      await thread?.edit(render(reply), { isLast: true });
      const { reaction } = outcomes[outcome];
      if (reaction) await thread?.react(reaction, true);
    },
  });

  const actorId = await thread?.react("eyes");
  const own = await findOwnReply(conversation, actorId);
  if (own === "unreadable") return end(threadUnreadable(ports));
  if (own) thread?.useReply(own.replyId);
  if (own && own.jobId === undefined) return end({ kind: "blocked", cause: "pending" });
  if (own?.jobId !== undefined) {
    const task: Task = { kind: "attach", jobId: own.jobId, resumes: own.sent };
    const result = await runTask(task, conversation);
    if (!isJobNotFound(result, state)) return end(result, task);
  }

  state.jobId = "";
  reply.marker = pending;
  const written = early ?? (await writePrompt(request, ports));
  if ("kind" in written) {
    reply.marker = undefined;
    return end(written);
  }
  const plan = await planTasks(written.prompt, conversation, actorId, own !== undefined);
  if (!Array.isArray(plan)) return end(plan);
  const [task, result] = await runFirstFound(plan, conversation);
  return end(result, task);
}

/** An event that may start something. */
interface CommentRequest {
  event: ThreadEvent;
  /** A command starts nothing, and has no prompt. */
  command?: Command;
  isNew: boolean;
  /** Returns the prompt with a section on changes, which may be empty. */
  fillPrompt: (section: string) => string;
  github: GitHub;
  /** Monotonic time of the first request to GitHub. */
  startedAt: number;
}

/** Checks whether the event may start something, and what; otherwise returns why not. Writes nothing. */
async function readRequest(
  settings: Settings,
  mode: CommentMode,
  ports: CommentPorts,
  state: RunState,
): Promise<CommentRequest | { result: RunResult }> {
  let event: ThreadEvent;
  try {
    event = parseEvent(ports.event.name, ports.event.readPayload(), ports.event.runId);
  } catch (error) {
    ports.onInvalidEvent(error);
    return { result: { kind: "blocked", cause: "event", detail: ports.event.name } };
  }
  const { triggerKind } = event;
  const trigger = triggerKind === "review" ? undefined : parseTrigger(event, mode);
  if (trigger && "skip" in trigger) return { result: { kind: "skipped", reason: trigger.skip, triggerKind } };

  const github = await ports.connectGitHub();
  const startedAt = ports.clock.now();
  state.startedAt = startedAt;
  const timeoutMs = Math.min(requestTimeoutMs, settings.timeoutMs);
  const limits = () => {
    const totalTimeoutMs = startedAt + settings.timeoutMs - ports.clock.now();
    return { timeoutMs: Math.min(requestTimeoutMs, totalTimeoutMs), signal: ports.signal, totalTimeoutMs };
  };
  const asked = trigger ?? (await readReview(() => parseReview(event, mode.phrase, { github, limits }), ports));
  if ("kind" in asked) return { result: asked };
  if ("skip" in asked) {
    const { skip: reason, handledBy } = asked;
    return { result: { kind: "skipped", reason, triggerKind, ...(handledBy && { handledBy }) } };
  }
  state.author = event.author.login;
  state.threadUrl = event.subject.url;
  // A command starts nothing.
  const requiredPermission = "command" in asked ? "read" : mode.requiredPermission;
  const denial = await checkPermission(event, { ...mode, requiredPermission }, github, timeoutMs, ports.signal);
  if (denial) return { result: denial };
  if (event.position) {
    const isPart = await readReview(async () => ({ isPart: await isPartOfReview(event, { github, limits }) }), ports);
    if ("kind" in isPart) return { result: isPart };
    if (isPart.isPart) {
      return { result: { kind: "skipped", reason: "no-trigger", triggerKind, handledBy: "pull_request_review" } };
    }
  }
  if ("command" in asked)
    return { event, command: asked.command, isNew: false, fillPrompt: () => "", github, startedAt };
  if (event.isPublic && mode.requiredPermission === "read") ports.onPublicAccess();

  const template = mode.template ?? defaultTemplate(event);
  const fillPrompt = (section: string): string => fillTemplate(template, asked.instruction, event, section);
  return { event, isNew: asked.isNew, fillPrompt, github, startedAt };
}

/** Reads a review, or returns why nothing may be sent. */
async function readReview<T>(read: () => Promise<T>, { signal }: CommentPorts): Promise<T | RunResult> {
  try {
    return await read();
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "review", detail: messageOf(error) };
  }
}

/** Returns the prompt, or why nothing may be sent. Writes nothing. */
async function writePrompt(
  { fillPrompt }: CommentRequest,
  { findSection }: CommentPorts,
): Promise<{ prompt: string } | RunResult> {
  const found = await findSection();
  if ("kind" in found) return found;
  const prompt = fillPrompt(found.section);
  return prompt.trim() === "" ? { kind: "blocked", cause: "prompt" } : { prompt };
}

/** Returns why the author may not start anything; `undefined` if they may. */
async function checkPermission(
  { author, owner, repo, triggerKind }: ThreadEvent,
  mode: CommentMode,
  github: GitHub,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  if (author.isBot) {
    return mode.allowedBots.has(author.login.toLowerCase())
      ? undefined
      : { kind: "skipped", reason: "bot", triggerKind };
  }
  const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
  try {
    const response = await github.request(route, { owner, repo, username: author.login }, { timeoutMs, signal });
    const isPermitted = isSufficient(response, mode.requiredPermission);
    if (isPermitted === undefined) {
      return { kind: "blocked", cause: "permission", triggerKind, detail: "GitHub's response names no permission" };
    }
    return isPermitted ? undefined : { kind: "skipped", reason: "not-permitted", triggerKind };
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "permission", triggerKind, detail: messageOf(error) };
  }
}

/** Finds the reply of an earlier run attempt to the same request, and what it sent; `undefined` on a first run. */
async function findOwnReply(
  { request, settings, mode, ports, thread }: Conversation,
  actorId: number | undefined,
): Promise<(RememberedReply & { sent: "create" | "message" }) | "unreadable" | undefined> {
  if (!thread || !isRerun(ports) || actorId === undefined) return undefined;
  const replies = await thread.listReplies(settings.projectId);
  if (!replies) return "unreadable";
  const own = replies.findLast((reply) => reply.authorId === actorId && answers(reply, request.event));
  return own && { ...own, sent: sentBy(own, replies, mode) };
}

/** Returns what was sent for a reply: a message, if the workflow or an earlier reply names its job. */
function sentBy(reply: RememberedReply, replies: readonly RememberedReply[], mode: CommentMode): "create" | "message" {
  const isContinued = replies.some(
    (other) => other.jobId === reply.jobId && other.request !== reply.request && other.replyId < reply.replyId,
  );
  return mode.jobId !== "" || isContinued ? "message" : "create";
}

/**
 * Posts the reply, and decides from the thread what to do. Each task applies only if the job of the one before it is not
 * found: wait for the job of an earlier attempt, continue a job, create one. A `job-id` in the workflow is never replaced.
 */
async function planTasks(
  prompt: string,
  { request, settings, mode, ports, thread, reply, deadline }: Conversation,
  actorId: number | undefined,
  hasResumed: boolean,
): Promise<Task[] | RunResult> {
  const { event, isNew } = request;
  const isOwn = (remembered: RememberedReply) => answers(remembered, event);
  const authorId = await thread?.post(ports.renderProgress(reply));
  const replies =
    thread && (authorId !== undefined || isRerun(ports)) ? await thread.listReplies(settings.projectId) : [];
  // Without the thread, a first run can only miss a job to continue, but a re-run could start a second one.
  const isAccountUnknown = authorId === undefined && actorId === undefined;
  if (isRerun(ports) && (!replies || (isAccountUnknown && replies.some(isOwn)))) {
    reply.marker = undefined;
    return threadUnreadable(ports);
  }
  const earlier = (replies ?? []).filter((remembered) => remembered.authorId === authorId);
  const interrupted = isRerun(ports) && !hasResumed ? earlier.findLast(isOwn) : undefined;
  if (interrupted && interrupted.jobId === undefined) return { kind: "blocked", cause: "pending" };
  if (deadline - ports.clock.now() < minTimeLeftMs) {
    reply.marker = undefined;
    return { kind: "blocked", cause: "time" };
  }

  const continued = mode.jobId || (isNew ? undefined : earlier.findLast(({ jobId }) => jobId !== undefined)?.jobId);
  const tasks: Task[] = [];
  if (interrupted?.jobId)
    tasks.push({ kind: "attach", jobId: interrupted.jobId, resumes: sentBy(interrupted, earlier, mode) });
  if (continued) tasks.push({ kind: "message", jobId: continued, prompt });
  if (!mode.jobId) tasks.push({ kind: "create", prompt });
  return tasks;
}

/** Runs the tasks in order until the job of one is found. */
async function runFirstFound(tasks: readonly Task[], conversation: Conversation): Promise<[Task, RunResult]> {
  const { ports, state, reply } = conversation;
  for (const [index, task] of tasks.entries()) {
    state.jobId = "";
    reply.isReplacement = task.kind === "create" && index > 0;
    if (reply.isReplacement) ports.onReplacement();
    const result = await runTask(task, conversation);
    if (!isJobNotFound(result, state) || index === tasks.length - 1) return [task, result];
  }
  throw new Error("no task to run");
}

/** Runs one task, and keeps the marker of the reply up to date. */
async function runTask(task: Task, { ports, state, thread, pending, reply }: Conversation): Promise<RunResult> {
  const remember = (jobId: string): void => {
    reply.marker = { ...pending, jobId };
  };
  reply.marker = pending;
  // What an earlier attempt started stays remembered, whatever happens to this one.
  if (task.kind === "attach") remember(task.jobId);
  const onJobId = (jobId: string): void => {
    remember(jobId);
    // The id must reach the thread before the process can be killed, so this edit does not wait for its turn.
    if (ports.signal.aborted) return;
    void thread?.edit(ports.renderProgress(reply), { isUrgent: true });
    void thread?.removeLabel();
  };
  const onPolled = (): void => {
    // Before the job is known, there is nothing to show.
    if (reply.marker?.jobId !== undefined) thread?.showProgress(ports.renderProgress(reply));
  };
  const result = await ports.runJob(task, onJobId, onPolled);
  // In doubt, the marker stays pending: a re-run must neither send it again, nor take the job's state for its result.
  if (isJobNotFound(result, state) || acceptanceOf(result) === "rejected") reply.marker = undefined;
  return result;
}

function isRerun({ attempt }: CommentPorts): boolean {
  return attempt > 1;
}

function answers({ request }: RememberedReply, event: ThreadEvent): boolean {
  return request === event.request;
}

/** Returns the result if the thread cannot be read on a re-run: it says what was started before, so nothing may be sent. */
function threadUnreadable({ signal }: CommentPorts): RunResult {
  return signal.aborted ? cancelledBeforeSending : { kind: "blocked", cause: "thread" };
}

/** Returns what a re-run does with the marker that the thread has now. */
function rerunEffect(marker: Marker | undefined, thread: Thread | undefined): RerunEffect {
  if (!marker || !thread?.isReliable || formatMarker(marker) === "") return "repeats";
  return marker.jobId === undefined ? "stops" : "resumes";
}
