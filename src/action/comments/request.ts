import { messageOf } from "../../client/errors.ts";
import { message, plain } from "../../runner-kit/text.ts";
import { askBefore, type Replies } from "../memory/evidence.ts";
import { isResuming, type Memory, openMemory } from "../memory/memory.ts";
import type { PromptSource } from "../plan.ts";
import { describeHidden } from "../report/format.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import { connectGitHub, type Execution, type Run } from "../run.ts";
import { readEvent } from "../runner/environment.ts";
import { type RepositoryReader, readerOf } from "../runner/read-repository.ts";
import type { CommentMode } from "../settings.ts";
import { StepKey } from "../step-key.ts";
import type { ThreadRequest } from "./conversation.ts";
import { isThreadEvent, type ThreadEvent } from "./event.ts";
import { parseEvent } from "./parse-event.ts";
import { readPermission } from "./permission.ts";
import { defaultTemplate, fillTemplate } from "./prompt-template.ts";
import { readThread } from "./read-thread.ts";
import { checkReview, parseReview } from "./review.ts";
import { type Command, parseTrigger } from "./trigger.ts";

/** An event that asks for something, from somebody who may ask. */
export interface CommentRequest extends ThreadRequest, PromptSource {
  /** A command starts nothing, and has no prompt. */
  command?: Command;
  /** The run, whose requests are known by the event. */
  run: Run;
  memory: Memory;
  /** What the service and the cache say about earlier attempts of the workflow run; `undefined` on the first one. */
  replies: Replies | undefined;
}

/** Checks what the event may start. A re-run first asks for the turn of an earlier attempt: waiting needs no permission. */
export async function readRequest(mode: CommentMode, plainRun: Run): Promise<CommentRequest | Execution> {
  const { settings, state, log } = plainRun;
  const { clock, signal, environment } = plainRun.ports;
  const event = parseEventOf(plainRun);
  if ("kind" in event) return { result: event };
  const { triggerKind } = event;
  if (event.isUnread)
    log.line("The text takes too long to read, as one that is written for that, so nothing in it counts");
  const trigger = triggerKind === "review" ? undefined : parseTrigger(event, mode);
  if (trigger && "skip" in trigger) return { result: { kind: "skipped", reason: trigger.skip, triggerKind } };

  // In a thread, a re-run always waits for an earlier attempt's job.
  const own = { ...settings, onRerun: "resume", session: "" } as const;
  // Its service finds the job of a thread by that, if no reply names it.
  const thread = ["thread", event.subject.number, event.position?.rootId ?? []].flat().join(" ");
  const session = settings.agent && mode.jobId === "" ? thread : "";
  const identity = { ...settings, session, onRerun: "resume", jobId: mode.jobId, request: event.request } as const;
  const run: Run = { ...plainRun, settings: own, key: new StepKey(identity, environment) };
  const github = await connectGitHub(run);
  state.startedAt = clock.now();
  const repository = readerOf(github, event, run.ports, { totalMs: settings.timeoutMs });
  const asked = trigger ?? (await readReview(() => parseReview(event, mode.phrase, repository), signal));
  if ("kind" in asked) return { result: asked };
  if ("skip" in asked) {
    const { skip: reason, handledBy } = asked;
    return { result: { kind: "skipped", reason, triggerKind, ...(handledBy && { handledBy }) } };
  }
  if (event.hiddenCount > 0) log.line(plain(describeHidden(event.hiddenCount)));
  state.author = event.author.login;
  state.threadUrl = event.subject.url;

  const isCommand = "command" in asked;
  const template = mode.template ?? defaultTemplate(event);
  const { instruction, rest = "" } = isCommand ? { instruction: "" } : asked;
  const fill: PromptSource["fill"] = (sections) => fillTemplate(template, instruction, event, sections);
  const kind = mode.jobId === "" ? "create" : "message";
  const memory = await openMemory({ kind, prompt: fill({}) }, run, true);
  const request = {
    event,
    isNew: false,
    fill,
    readThread: () => readThread(event, rest, mode.template === undefined, repository, run),
    github,
    run,
    memory,
    replies: undefined,
  };
  const blocked = async (result: RunResult): Promise<Execution> => {
    if (!isCommand) await memory.withdraw();
    return { result };
  };

  const isAsking = isResuming(run) && !isCommand && !settings.dryRun;
  const replies = isAsking ? await askBefore(request, run) : undefined;
  if (replies && "kind" in replies) return blocked(replies);
  const { service } = replies ?? {};
  const isResumed = typeof service === "object" && "turnId" in service && service.over === undefined;
  if (!isResumed) {
    // A command starts nothing.
    const requiredPermission = isCommand ? "read" : mode.requiredPermission;
    const denial =
      (await checkPermission(event, { ...mode, requiredPermission }, repository, signal)) ??
      (await readReview(() => checkReview(event, repository), signal));
    state.mayHaveEarlier = denial !== undefined && (service === "mute" || service === "unreadable");
    if (denial) return blocked(denial);
  }
  if (isCommand) return { ...request, command: asked.command };
  if (event.isPublic && mode.requiredPermission === "read")
    log.warning(message`
      Anyone can start jobs
      This repository is public and required-permission is read, so anyone with a GitHub account can start jobs. Set required-permission to triage or write.`);
  return { ...request, isNew: asked.isNew, replies };
}

/** Parses the event of the run, or returns why nothing may be sent. */
function parseEventOf({ ports: { environment }, log }: Run): ThreadEvent | RunResult {
  const name = environment.GITHUB_EVENT_NAME ?? "";
  if (!isThreadEvent(name)) throw new Error("comment mode needs an event of an issue or pull request");
  try {
    return parseEvent(name, readEvent(environment), environment.GITHUB_RUN_ID ?? "");
  } catch (error) {
    log.debugError(error);
    return { kind: "blocked", cause: "event", detail: name };
  }
}

/** Reads a review, or returns why nothing may be sent. */
async function readReview<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | RunResult> {
  try {
    return await read();
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "review", detail: messageOf(error) };
  }
}

/** Returns why the author may not start anything; `undefined` if they may. */
async function checkPermission(
  { author, triggerKind }: ThreadEvent,
  rules: Pick<CommentMode, "requiredPermission" | "allowedBots">,
  repository: RepositoryReader,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  if (author.isBot)
    return rules.allowedBots.has(author.login.toLowerCase())
      ? undefined
      : { kind: "skipped", reason: "bot", triggerKind };
  try {
    const needs = rules.requiredPermission;
    const { has, isEnough } = await readPermission(author.login, needs, repository);
    return isEnough ? undefined : { kind: "skipped", reason: "not-permitted", triggerKind, has, needs };
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "permission", triggerKind, detail: messageOf(error) };
  }
}
