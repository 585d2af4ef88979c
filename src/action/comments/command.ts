import type { Settings } from "../inputs/schema.ts";
import type { RunResult } from "../result.ts";
import type { RunState } from "../run-state.ts";
import type { Thread } from "./thread.ts";
import type { Command } from "./trigger.ts";

/** A job as one poll has found it, in a state of its own. */
export interface JobReading {
  result: RunResult;
  state: RunState;
}

/** What a command is answered with. */
export type CommandAnswer =
  | { kind: "help" }
  /** The state is being read. */
  | { kind: "reading" }
  | { kind: "no-job" }
  | { kind: "unreadable-thread" }
  | { kind: "job"; jobId: string; reading: JobReading };

export interface CommandPorts {
  signal: AbortSignal;
  /** Reads a job with one poll, apart from the state and the outputs of this run. Never rejects. */
  readJob: (jobId: string) => Promise<JobReading>;
  renderAnswer: (answer: CommandAnswer) => string;
}

/**
 * Answers a command in a reply of its own, which has no marker: it starts nothing, and the thread's job stays the same.
 *
 * @param fixedJobId - the job that the workflow names, or empty
 */
export async function answerCommand(
  command: Command,
  thread: Thread,
  { projectId }: Pick<Settings, "projectId">,
  fixedJobId: string,
  { signal, readJob, renderAnswer }: CommandPorts,
): Promise<void> {
  await thread.react("eyes");
  if (command === "help") {
    await thread.post(renderAnswer({ kind: "help" }));
    return;
  }
  const authorId = await thread.post(renderAnswer({ kind: "reading" }));
  if (authorId === undefined || signal.aborted) return;
  const answer = async (): Promise<CommandAnswer> => {
    const replies = fixedJobId === "" ? await thread.listReplies(projectId) : [];
    if (!replies) return { kind: "unreadable-thread" };
    const own = replies.findLast((reply) => reply.authorId === authorId && reply.jobId !== undefined);
    const jobId = fixedJobId || own?.jobId;
    return jobId === undefined ? { kind: "no-job" } : { kind: "job", jobId, reading: await readJob(jobId) };
  };
  await thread.edit(renderAnswer(await answer()), { isLast: true });
}
