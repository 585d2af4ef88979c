import { type CommandAnswer, renderAnswer } from "../report/reply.ts";
import type { Run } from "../run.ts";
import { readJob } from "../run-job.ts";
import { RunState } from "../run-state.ts";
import type { CommentMode } from "../settings.ts";
import type { Thread } from "./thread.ts";
import type { Command } from "./trigger.ts";

/** How long the state of a job may take to read for a command, in milliseconds. */
const maxReadingMs = 60_000;

/** Answers a command in a reply of its own, which has no marker: it starts nothing, and the thread's job stays the same. */
export async function answerCommand(command: Command, thread: Thread, mode: CommentMode, run: Run): Promise<void> {
  const frame = { phrase: mode.phrase, label: mode.label, hasFixedJob: mode.jobId !== "" };
  await thread.react("eyes");
  const { userId } = await thread.post(renderAnswer({ kind: command === "help" ? "help" : "reading" }, frame));
  if (command === "help" || userId === undefined || run.ports.signal.aborted) return;
  await thread.edit(renderAnswer(await readAnswer(userId, thread, mode, run), frame), { isLast: true });
}

/** Reads the job that the workflow names, or the last one that the step's own account has started in the thread. */
async function readAnswer(authorId: number, thread: Thread, mode: CommentMode, run: Run): Promise<CommandAnswer> {
  const { settings } = run;
  const replies = mode.jobId === "" ? await thread.listReplies(settings.projectId) : [];
  if (!replies) return { kind: "unreadable-thread" };
  const own = replies.findLast((reply) => reply.authorId === authorId && reply.jobId !== undefined);
  const jobId = mode.jobId || own?.jobId;
  if (jobId === undefined) return { kind: "no-job" };
  // In a state of its own, so that it does not reach the outputs of this run.
  const state = new RunState();
  const timeoutMs = Math.min(settings.timeoutMs, maxReadingMs);
  const result = await readJob(jobId, { ...run, settings: { ...settings, timeoutMs }, state });
  return { kind: "job", jobId, reading: { result, state } };
}
