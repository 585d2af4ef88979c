import { leastTimeLeftMs } from "../../client/client.ts";
import { RefusalError } from "../../client/errors.ts";
import type { CommentMode, Settings, Task } from "../inputs/schema.ts";
import type { Ending, Outcome } from "../outcome.ts";
import type { Facts } from "../run-state.ts";
import type { GitHub } from "../runner/github.ts";
import { type CommentEvent, type CommentEventName, parseEvent } from "./event.ts";
import { writeMarker } from "./marker.ts";
import { isPermitted, judgeBot } from "./permission.ts";
import { defaultTemplate, fillTemplate } from "./prompt-template.ts";
import { type Reaction, type Remembered, requestTimeoutMs, Thread, type ThreadPorts } from "./thread.ts";
import { readTrigger } from "./trigger.ts";

/** What a reply is made of beside the state of the job. */
export interface ReplyParts {
  /** The hidden last line; empty while no job is known. */
  marker: string;
  /** The thread's job was not known to the service any more, so that a new one was started. */
  isNewForOld: boolean;
}

export interface ConversationPorts extends Omit<ThreadPorts, "github"> {
  connectGitHub: () => Promise<GitHub>;
  event: { name: CommentEventName; readPayload: () => unknown };
  /** 1 on the first run of a workflow run, more on a re-run: `GITHUB_RUN_ATTEMPT`. */
  attempt: number;
  /** Runs a job; `announce` hears of its id as soon as it is known. */
  runJob: (task: Task, announce: (jobId: string) => void) => Promise<Ending>;
  /** Hears that the job which the thread remembers is not known to the service any more. */
  onForgotten: () => void;
  renderWorking: (parts: ReplyParts) => string;
}

/** How the conversation went, and how to end it in the thread. */
export interface Conversation {
  ending: Ending;
  task?: Task;
  finish: (outcome: Outcome, render: (parts: ReplyParts) => string) => Promise<void>;
}

/** Comment mode: whether the comment may start something, what it starts, and what the thread sees of it. */
export async function converse(
  settings: Settings,
  mode: CommentMode,
  ports: ConversationPorts,
  facts: Facts,
): Promise<Conversation> {
  const end = (ending: Ending): Conversation => ({ ending, finish: async () => {} });
  const event = readEvent(ports);
  if (!event) return end({ kind: "not-admitted", why: "event", detail: ports.event.name });
  const trigger = readTrigger(event, mode.phrase);
  if ("skip" in trigger) return end({ kind: "skipped", reason: trigger.skip });

  const github = await ports.connectGitHub();
  facts.startedAt = ports.clock.now();
  const refusal = await admit(event, mode, github, Math.min(requestTimeoutMs, settings.timeoutMs), ports.signal);
  if (refusal) return end(refusal);

  const prompt = fillTemplate(mode.template ?? defaultTemplate(event), trigger.instruction, event);
  if (prompt.trim() === "") return end({ kind: "not-admitted", why: "prompt", detail: "" });

  const parts: ReplyParts = { marker: "", isNewForOld: false };
  const deadline = facts.startedAt + settings.timeoutMs;
  const thread = mode.reply ? new Thread(event, deadline, { ...ports, github }) : undefined;
  const remember = (jobId: string): void => {
    parts.marker = writeMarker({ projectId: settings.projectId, jobId, commentId: event.comment.id });
  };
  const announce = (jobId: string): void => {
    remember(jobId);
    if (!ports.signal.aborted) void thread?.edit(ports.renderWorking(parts));
  };
  const run = async (task: Task): Promise<Ending> => {
    // What an earlier attempt has started stays remembered, whatever becomes of this one.
    if (task.kind === "attach") remember(task.jobId);
    const ending = await ports.runJob(task, announce);
    if (isForgotten(ending, facts)) parts.marker = "";
    // A message that may have been sent is not one for a re-run to send again.
    else if (task.kind === "message" && isInDoubt(ending)) remember(task.jobId);
    return ending;
  };

  const finish: Conversation["finish"] = async (outcome, render) => {
    await thread?.edit(render(parts), true);
    const reaction = reactions[outcome];
    if (reaction) await thread?.react(reaction, true);
  };
  const isRerun = ports.attempt > 1;
  const isOwn = ({ commentId }: Remembered) => commentId === event.comment.id;
  const actor = await thread?.react("eyes");
  let resumed: Task | undefined;
  if (thread && isRerun && actor !== undefined) {
    const replies = await thread.recall(settings.projectId);
    if (!replies) return { ending: unreadable(ports), finish };
    const own = replies.findLast((reply) => reply.authorId === actor && isOwn(reply));
    if (own) {
      thread.adopt(own.replyId);
      resumed = { kind: "attach", jobId: own.jobId };
      const ending = await run(resumed);
      if (!isForgotten(ending, facts)) return { ending, task: resumed, finish };
    }
  }

  facts.jobId = "";
  const author = await thread?.post(ports.renderWorking(parts));
  const replies = thread && (author !== undefined || isRerun) ? await thread.recall(settings.projectId) : [];
  // A first run can only miss what it might have gone on with; a re-run must not send again what it cannot see.
  const isUnknown = author === undefined && actor === undefined;
  if (isRerun && (!replies || (isUnknown && replies.some(isOwn)))) return { ending: unreadable(ports), finish };
  if (deadline - ports.clock.now() < leastTimeLeftMs) {
    return { ending: { kind: "not-admitted", why: "time", detail: "" }, finish };
  }
  const earlier = (replies ?? []).filter(({ authorId }) => authorId === author);
  const unseen = isRerun && !resumed ? earlier.findLast(isOwn)?.jobId : undefined;
  const jobId = mode.jobId || (trigger.isNew ? undefined : earlier.at(-1)?.jobId);
  const [first, ...others] = tasksOf(prompt, { unseen, jobId, isFixed: mode.jobId !== "" });
  let task = first;
  let ending = await run(task);
  for (const next of others) {
    if (!isForgotten(ending, facts)) break;
    facts.jobId = "";
    parts.isNewForOld = next.kind === "create";
    if (parts.isNewForOld) ports.onForgotten();
    task = next;
    ending = await run(task);
  }
  return { ending, task, finish };
}

/**
 * What to do, each where the service does not know the job of the one before: wait for the job that an earlier attempt
 * started, go on with a job, start a new one. The last does not apply where the workflow names the job.
 */
function tasksOf(
  prompt: string,
  jobs: { unseen: string | undefined; jobId: string | undefined; isFixed: boolean },
): [Task, ...Task[]] {
  const { unseen, jobId, isFixed } = jobs;
  const goOn: [Task, ...Task[]] = jobId
    ? [{ kind: "message", jobId, prompt }, ...(isFixed ? [] : [{ kind: "create", prompt } as const])]
    : [{ kind: "create", prompt }];
  return unseen ? [{ kind: "attach", jobId: unseen }, ...goOn] : goOn;
}

/** The thread cannot be read on a re-run, so that what the first run has started is not known. */
function unreadable({ signal }: ConversationPorts): Ending {
  if (signal.aborted) return { kind: "cancelled", operation: "create", taken: "no" };
  return { kind: "not-admitted", why: "thread", detail: "" };
}

/** What is shown of an outcome beside `eyes`. */
const reactions: Partial<Record<Outcome, Reaction>> = {
  "pr-created": "hooray",
  failed: "confused",
  "timed-out": "confused",
  error: "confused",
};

function readEvent({ event }: ConversationPorts): CommentEvent | undefined {
  try {
    return parseEvent(event.name, event.readPayload());
  } catch {
    return undefined;
  }
}

/** Why the comment's author may not start anything; nothing where they may. */
async function admit(
  { author, owner, repo }: CommentEvent,
  mode: CommentMode,
  github: GitHub,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ending | undefined> {
  const bot = judgeBot(author, mode);
  if (bot) return bot === "allowed" ? undefined : { kind: "skipped", reason: "bot" };
  const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
  try {
    const answer = await github.request(route, { owner, repo, username: author.login }, { timeoutMs, signal });
    const isGranted = isPermitted(answer, mode.requiredPermission);
    if (isGranted === undefined)
      return { kind: "not-admitted", why: "permission", detail: "GitHub's answer names none" };
    return isGranted ? undefined : { kind: "skipped", reason: "not-permitted" };
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled", operation: "create", taken: "no" };
    const detail = error instanceof Error ? error.message : String(error);
    return { kind: "not-admitted", why: "permission", detail };
  }
}

function isInDoubt(ending: Ending): boolean {
  if (ending.kind === "not-submitted") return ending.error.taken === "unclear";
  return ending.kind === "cancelled" && ending.taken === "unclear";
}

/** The service does not know the job, and nothing was started by asking. */
function isForgotten(ending: Ending, facts: Facts): boolean {
  if (ending.kind !== "not-submitted" && ending.kind !== "poll-refused") return false;
  const error = ending.kind === "not-submitted" ? ending.error.cause : ending.error;
  return error instanceof RefusalError && error.status === 404 && facts.timeline.length === 0;
}
