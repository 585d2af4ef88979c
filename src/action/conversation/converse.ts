import { RefusalError } from "../../client/errors.ts";
import type { Facts } from "../facts.ts";
import type { GitHub } from "../github.ts";
import type { CommentMode, Settings, Task } from "../inputs.ts";
import type { Ending, Outcome } from "../outcome.ts";
import { isPermitted, judgeBot } from "./access.ts";
import { type CommentEvent, type CommentEventName, parseEvent } from "./event.ts";
import { writeMarker } from "./marker.ts";
import { defaultTemplate, fillTemplate } from "./template.ts";
import { type Reaction, Thread, type ThreadPorts } from "./thread.ts";
import { readTrigger } from "./trigger.ts";

/** The permission to start a job is read in this time, repeats and waits included, or not at all. */
const permissionTimeoutMs = 10_000;

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

  facts.startedAt = ports.clock.now();
  const github = await ports.connectGitHub();
  const refusal = await admit(event, mode, github, Math.min(permissionTimeoutMs, settings.timeoutMs), ports.signal);
  if (refusal) return end(refusal);

  const prompt = fillTemplate(mode.template ?? defaultTemplate(event), trigger.instruction, event);
  if (prompt.trim() === "") return end({ kind: "not-admitted", why: "prompt", detail: "" });

  const parts: ReplyParts = { marker: "", isNewForOld: false };
  const deadline = facts.startedAt + settings.timeoutMs;
  const thread = mode.reply ? new Thread(event, deadline, { ...ports, github }) : undefined;
  const announce = (jobId: string): void => {
    parts.marker = writeMarker({ projectId: settings.projectId, jobId, commentId: event.comment.id });
    void thread?.edit(ports.renderWorking(parts));
  };
  const run = (task: Task): Promise<Ending> => ports.runJob(task, announce);

  const actor = await thread?.react("eyes");
  let task = await resume(thread, actor, event, settings, ports);
  let ending = task && (await run(task));
  if (!task || !ending || isForgotten(ending, facts)) {
    facts.jobId = "";
    const author = await thread?.post(ports.renderWorking(parts));
    const jobId = mode.jobId || (trigger.isNew ? "" : await recallJob(thread, author, settings));
    task = jobId ? { kind: "message", jobId, prompt } : { kind: "create", prompt };
    ending = await run(task);
    if (!mode.jobId && task.kind === "message" && isForgotten(ending, facts)) {
      parts.isNewForOld = true;
      ports.onForgotten();
      facts.jobId = "";
      task = { kind: "create", prompt };
      ending = await run(task);
    }
  }

  const finish: Conversation["finish"] = async (outcome, render) => {
    await thread?.edit(render(parts), true);
    const reaction = reactions[outcome];
    if (reaction) await thread?.react(reaction, true);
  };
  return { ending, task, finish };
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
    const answer = await github.request(route, { owner, repo, username: author.login }, timeoutMs, signal);
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

/** On a re-run: the job that an earlier attempt has started for the same comment, to be waited for in its reply. */
async function resume(
  thread: Thread | undefined,
  actor: number | undefined,
  event: CommentEvent,
  { projectId }: Settings,
  { attempt }: ConversationPorts,
): Promise<Task | undefined> {
  if (!thread || actor === undefined || attempt <= 1) return undefined;
  const replies = await thread.recall(projectId);
  const own = replies?.findLast(({ authorId, commentId }) => authorId === actor && commentId === event.comment.id);
  if (!own) return undefined;
  thread.adopt(own.replyId);
  return { kind: "attach", jobId: own.jobId };
}

/** The job that the newest earlier reply remembers, by the same author as the reply just made; else empty. */
async function recallJob(
  thread: Thread | undefined,
  author: number | undefined,
  { projectId }: Settings,
): Promise<string> {
  if (!thread || author === undefined) return "";
  const replies = await thread.recall(projectId);
  return replies?.findLast(({ authorId }) => authorId === author)?.jobId ?? "";
}

/** The service does not know the job, and nothing was started by asking. */
function isForgotten(ending: Ending, facts: Facts): boolean {
  if (ending.kind !== "not-submitted" && ending.kind !== "poll-refused") return false;
  const error = ending.kind === "not-submitted" ? ending.error.cause : ending.error;
  return error instanceof RefusalError && error.status === 404 && facts.timeline.length === 0;
}
