import { answerCommand } from "./comments/command.ts";
import {
  type Conversation,
  findOwnReply,
  type KnownAttempts,
  type OwnReply,
  planReply,
  type ReplyState,
  rerunEffect,
  runPlan,
  runTask,
  threadUnreadable,
} from "./comments/conversation.ts";
import { formatMarker, type Marker } from "./comments/marker.ts";
import { type CommentRequest, isOver, isRerun, readRequest } from "./comments/request.ts";
import { Thread } from "./comments/thread.ts";
import { isStillGone } from "./find-job.ts";
import { outcomes } from "./outcome.ts";
import { findStart, writePrompt } from "./plan.ts";
import { jobReplaced } from "./report/log.ts";
import { type ReplyFrame, renderAnswer, renderProgress, renderResult } from "./report/reply.ts";
import { cancelledBeforeSending, isJobNotFound, type RunResult } from "./result.ts";
import type { Execution, Run } from "./run.ts";
import { runAttempt, runUrl } from "./runner/environment.ts";
import type { CommentMode, Task } from "./settings.ts";
import { stopOwnTurn } from "./stop-turn.ts";

/** Runs what an event of an issue or pull request asks for, if its author may, and shows it in the thread. */
export async function runComment(mode: CommentMode, plainRun: Run): Promise<Execution> {
  const request = await readRequest(mode, plainRun);
  if ("result" in request) return request;
  const { run, earlier } = request;
  if (run.settings.dryRun && !request.command) {
    const { dryRunComment } = await import("./dry-run.ts");
    return dryRunComment(request, mode.jobId);
  }
  const conversation = begin(request, mode);
  if (request.command) return runCommand(conversation);
  const { state } = run;
  const { thread, reply, pending, unsent } = conversation;
  // A re-run that finds the job of an earlier attempt needs no prompt.
  const early = isRerun(run) ? undefined : await writePrompt(request.fillPrompt, run);
  if (early && "kind" in early) return { result: early };

  const end = (result: RunResult, task?: Task): Execution => ({
    result,
    ...(task && { task }),
    rerun: rerunEffect(conversation),
    finish: async (ending) => {
      await thread?.edit(renderResult({ ...ending, state }, frameOf(reply, mode, run)), { isLast: true });
      const { reaction } = outcomes[ending.outcome];
      if (reaction) await thread?.react(reaction, true);
    },
  });

  const start = await findStart(run);
  if ("kind" in start) return { result: start };

  const actorId = await thread?.react("eyes");
  const own = await findOwnReply(conversation, actorId);
  const isAnnounced = earlier !== undefined && earlier.kind !== "unannounced";
  if (own === "unreadable" && !isAnnounced) return end(threadUnreadable(run));
  const ownReply = own === "unreadable" ? undefined : own;
  if (ownReply) thread?.useReply(ownReply.replyId);
  const known: KnownAttempts = {
    actorId,
    hasReply: ownReply !== undefined,
    hasResumed: false,
    replaces: earlier?.kind === "turn" ? earlier.turn.turnId : undefined,
    base: start.base,
  };

  const resumed = findResumed(earlier, ownReply);
  if (resumed) {
    if (earlier?.kind === "turn") {
      const attempt = runAttempt(run.ports.environment);
      run.log.rerun({ kind: "resuming-turn", jobId: resumed.jobId, attempt, hasOtherPrompt: earlier.hasOtherPrompt });
    }
    if (!ownReply) await thread?.post(conversation.renderProgress(reply));
    known.hasReply = true;
    let result = await runTask(resumed, conversation);
    const wasNotFound = isJobNotFound(result, state);
    const isGone = wasNotFound && (await isStillGone(resumed.jobId, run));
    // It was not found by mistake.
    if (wasNotFound && !isGone) result = await runTask(resumed, conversation);
    const isArchived = resumed.turnId !== undefined && state.status === "archived";
    if (!isGone && !isArchived) return end(result, resumed);
    known.hasResumed = true;
  } else if (ownReply && !ownReply.isUnsent && !isAnnounced) {
    reply.marker = pending;
    return end({ kind: "blocked", cause: "pending" });
  }

  state.forgetJob();
  reply.marker = pending;
  const written = early ?? (await writePrompt(request.fillPrompt, run));
  if ("kind" in written) {
    reply.marker = unsent;
    return end(written);
  }
  const plan = await planReply(written.prompt, conversation, known);
  if (!Array.isArray(plan)) return end(plan);
  const { task, result } = await runPlan(plan, conversation);
  return end(await stopOwnTurn(task, result, run), task);
}

/** Returns the job of an earlier attempt that a re-run waits for; `undefined` if there is none, or its turn failed. */
function findResumed(
  earlier: CommentRequest["earlier"],
  ownReply: OwnReply | undefined,
): Extract<Task, { kind: "attach" }> | undefined {
  if (earlier?.kind === "turn") {
    const { jobId, turnId } = earlier.turn;
    return isOver(earlier.turn) ? undefined : { kind: "attach", jobId, resumes: "message", turnId };
  }
  return ownReply?.jobId === undefined ? undefined : { kind: "attach", jobId: ownReply.jobId, resumes: ownReply.sent };
}

function begin(request: CommentRequest, mode: CommentMode): Conversation {
  const { event, github, startedAt, run } = request;
  const { settings, ports, state, log } = run;
  const deadline = startedAt + settings.timeoutMs;
  const onFailure = (action: string, error: unknown): void => log.threadFailed(action, error);
  const pending: Marker = { projectId: settings.projectId, request: event.request };
  const since = workingSince(run);
  return {
    run,
    mode,
    request,
    thread: mode.reply ? new Thread(event, deadline, { ...ports, github, onFailure }) : undefined,
    pending,
    unsent: { ...pending, isUnsent: true },
    reply: { marker: pending, isReplacement: false, reviewUrl: event.reviewUrl ?? "" },
    deadline,
    renderProgress: (reply) => renderProgress(frameOf(reply, mode, run), { since: since(), state }),
  };
}

async function runCommand({ request, mode, run, thread }: Conversation): Promise<Execution> {
  const { command, event } = request;
  const frame = { phrase: mode.phrase, label: mode.label, hasFixedJob: mode.jobId !== "" };
  if (thread && command) await answerCommand(command, thread, mode, run, (answer) => renderAnswer(answer, frame));
  return run.ports.signal.aborted
    ? { result: cancelledBeforeSending }
    : { result: { kind: "skipped", reason: "command", triggerKind: event.triggerKind } };
}

/** Returns the parts of the reply that do not depend on the state of the job. */
function frameOf({ marker, isReplacement, reviewUrl }: ReplyState, mode: CommentMode, { ports }: Run): ReplyFrame {
  return {
    runUrl: runUrl(ports.environment),
    phrase: mode.phrase,
    label: mode.label,
    reviewUrl,
    hasFixedJob: mode.jobId !== "",
    note: isReplacement ? jobReplaced : [],
    marker: formatMarker(marker),
    remembersJob: marker.jobId !== undefined,
  };
}

/**
 * Returns a function that tells when the agent began to work, if that is known: when the service accepted the create or
 * message. It returns the same time for every edit, even if the wall clock is changed.
 */
function workingSince({ ports: { clock }, state }: Run): () => Date | undefined {
  let since: { jobId: string; time: Date } | undefined;
  return () => {
    const [first] = state.timeline;
    // When the job of an earlier attempt began is unknown.
    if (!first || (state.origin !== "created" && state.origin !== "continued")) return undefined;
    if (since?.jobId !== state.jobId) {
      const agoMs = state.elapsedMs(clock.now()) - first.atMs;
      since = { jobId: state.jobId, time: new Date(clock.wallTime() - agoMs) };
    }
    return since.time;
  };
}
