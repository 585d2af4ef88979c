import { answerCommand } from "./comments/command.ts";
import { Conversation } from "./comments/conversation.ts";
import { readRequest } from "./comments/request.ts";
import { cancelledBeforeSending } from "./result.ts";
import type { Execution, Run } from "./run.ts";
import { sendOnce } from "./send-once.ts";
import type { CommentMode } from "./settings.ts";

/** Runs what an event of an issue or pull request asks for, if its author may, and shows it in the thread. */
export async function runComment(mode: CommentMode, plainRun: Run): Promise<Execution> {
  const request = await readRequest(mode, plainRun);
  if ("result" in request) return request;
  const { run, event, command, memory, fill, replies } = request;
  const conversation = new Conversation(request, mode, run);
  if (!command) return sendOnce({ jobId: mode.jobId, fill, memory, conversation, replies }, run);
  const { thread } = conversation;
  const answered = { result: { kind: "skipped", reason: "command", triggerKind: event.triggerKind } } as const;
  // A dry run says in the log and in the summary what it was asked.
  if (run.settings.dryRun || !thread) return answered;
  await answerCommand(command, thread, mode, run);
  return run.ports.signal.aborted ? { result: cancelledBeforeSending } : answered;
}
