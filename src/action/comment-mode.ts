import { Conversation } from "./comments/conversation.ts";
import { readRequest } from "./comments/request.ts";
import type { Thread } from "./comments/thread.ts";
import type { Command } from "./comments/trigger.ts";
import { renderHelp, renderJob, statusAnswers } from "./report/reply.ts";
import { cancelledBeforeSending } from "./result.ts";
import type { Execution, Run } from "./run.ts";
import { readJob } from "./run-job.ts";
import { RunState } from "./run-state.ts";
import { runUrl } from "./runner/environment.ts";
import { sendOnce } from "./send-once.ts";
import type { CommentMode } from "./settings.ts";

/** How long the state of a job may take to read for a command, in milliseconds. */
const maxReadingMs = 60_000;

/** Runs what an event of an issue or pull request asks for, if its author may, and shows it in the thread. */
export async function runComment(mode: CommentMode, plainRun: Run): Promise<Execution> {
  const request = await readRequest(mode, plainRun);
  if ("result" in request) return request;
  const { run, event, command, memory, fill, readThread, replies } = request;
  const conversation = new Conversation(request, mode, run);
  if (!command) return sendOnce({ jobId: mode.jobId, fill, readThread, memory, conversation, replies }, run);
  const { thread } = conversation;
  const answered = { result: { kind: "skipped", reason: "command", triggerKind: event.triggerKind } } as const;
  // A dry run says in the log and in the summary what it was asked.
  if (run.settings.dryRun || !thread) return answered;
  await answerCommand(command, thread, () => conversation.findOwnJob(), { mode, run });
  return run.ports.signal.aborted ? { result: cancelledBeforeSending } : answered;
}

interface Asked {
  mode: CommentMode;
  run: Run;
}

/** Answers a command in a reply of its own, which has no marker: it starts nothing, and the thread's job stays the same. */
async function answerCommand(
  command: Command,
  thread: Thread,
  findOwnJob: Conversation["findOwnJob"],
  { mode, run }: Asked,
): Promise<void> {
  const isHelp = command === "help";
  const first = isHelp ? renderHelp(mode) : statusAnswers.reading(runUrl(run.ports.environment));
  const reaction = await thread.react("eyes");
  const { userId } = await thread.post(first, reaction?.userId);
  if (isHelp || userId === undefined) return;
  if (run.ports.signal.aborted) return thread.edit(statusAnswers.cancelled, { isLast: true });
  const named = mode.jobId === "" ? await findOwnJob() : { jobId: mode.jobId };
  const answer =
    "kind" in named ? statusAnswers.unreadable : await readAnswer(userId, thread, named.jobId, { mode, run });
  await thread.edit(answer, { isLast: true });
}

/** Reads a job: the one that is named, or else the last one that the step's own account has started in the thread. */
async function readAnswer(
  authorId: number,
  thread: Thread,
  named: string | undefined,
  { mode, run }: Asked,
): Promise<string> {
  const { settings } = run;
  const replies = named === undefined ? await thread.listReplies(settings.projectId) : [];
  if (!replies) return statusAnswers.unreadable;
  const own = replies.filter((reply) => reply.authorId === authorId);
  const jobId = named ?? own.findLast((reply) => reply.jobId !== undefined)?.jobId ?? thread.coveredJob(authorId, 0);
  if (jobId === undefined)
    return own.some(({ kind }) => kind === "about to send") ? statusAnswers.doubt : statusAnswers.noJob(mode);
  // In a state of its own, so that it does not reach the outputs of this run.
  const state = new RunState();
  const timeoutMs = Math.min(settings.timeoutMs, maxReadingMs);
  const result = await readJob(jobId, { ...run, settings: { ...settings, timeoutMs }, state });
  return renderJob(jobId, result, state);
}
