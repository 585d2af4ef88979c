import { messageOf } from "../../client/errors.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import { connectGitHub, type Run } from "../run.ts";
import { readEventFile } from "../runner/event-file.ts";
import type { GitHub } from "../runner/github.ts";
import type { CommentMode } from "../settings.ts";
import { checkPermission } from "./check-permission.ts";
import { isThreadEvent, type ThreadEvent } from "./event.ts";
import { parseEvent } from "./parse-event.ts";
import { defaultTemplate, fillTemplate } from "./prompt-template.ts";
import { isPartOfReview, parseReview, type ReviewPorts } from "./review.ts";
import { requestTimeoutMs } from "./thread.ts";
import { type Command, parseTrigger } from "./trigger.ts";

/** An event that asks for something, from somebody who may ask. */
export interface CommentRequest {
  event: ThreadEvent;
  /** A command starts nothing, and has no prompt. */
  command?: Command;
  isNew: boolean;
  /** Returns the prompt with a section on changes, which may be empty. */
  fillPrompt: (section: string | undefined) => string;
  github: GitHub;
  /** Monotonic time of the first request to GitHub. */
  startedAt: number;
}

/** Checks whether the event may start something, and what; otherwise returns why not. Writes nothing. */
export async function readRequest(mode: CommentMode, run: Run): Promise<CommentRequest | { result: RunResult }> {
  const { settings, state, log } = run;
  const { clock, signal } = run.ports;
  const event = readEvent(run);
  if ("kind" in event) return { result: event };
  const { triggerKind } = event;
  const trigger = triggerKind === "review" ? undefined : parseTrigger(event, mode);
  if (trigger && "skip" in trigger) return { result: { kind: "skipped", reason: trigger.skip, triggerKind } };

  const github = await connectGitHub(run);
  const startedAt = clock.now();
  state.startedAt = startedAt;
  const timeoutMs = Math.min(requestTimeoutMs, settings.timeoutMs);
  const limits = () => {
    const totalTimeoutMs = startedAt + settings.timeoutMs - clock.now();
    return { timeoutMs: Math.min(requestTimeoutMs, totalTimeoutMs), signal, totalTimeoutMs };
  };
  const asked = trigger ?? (await readReview(() => parseReview(event, mode.phrase, { github, limits }), signal));
  if ("kind" in asked) return { result: asked };
  if ("skip" in asked) {
    const { skip: reason, handledBy } = asked;
    return { result: { kind: "skipped", reason, triggerKind, ...(handledBy && { handledBy }) } };
  }
  state.author = event.author.login;
  state.threadUrl = event.subject.url;
  // A command starts nothing.
  const requiredPermission = "command" in asked ? "read" : mode.requiredPermission;
  const denial = await checkPermission(event, { ...mode, requiredPermission }, github, timeoutMs, signal);
  if (denial) return { result: denial };
  const handled = await checkReview(event, { github, limits }, signal);
  if (handled) return { result: handled };
  if ("command" in asked)
    return { event, command: asked.command, isNew: false, fillPrompt: () => "", github, startedAt };
  if (event.isPublic && mode.requiredPermission === "read") log.anyoneCanAsk();

  const template = mode.template ?? defaultTemplate(event);
  const fillPrompt = (section = ""): string => fillTemplate(template, asked.instruction, event, section);
  return { event, isNew: asked.isNew, fillPrompt, github, startedAt };
}

function readEvent({ ports: { environment }, log }: Run): ThreadEvent | RunResult {
  const name = environment.GITHUB_EVENT_NAME ?? "";
  if (!isThreadEvent(name)) throw new Error("comment mode needs an event of an issue or pull request");
  try {
    const payload = readEventFile(environment.GITHUB_EVENT_PATH ?? "");
    return parseEvent(name, payload, environment.GITHUB_RUN_ID ?? "");
  } catch (error) {
    log.debugError(error);
    return { kind: "blocked", cause: "event", detail: name };
  }
}

/** Returns why a review comment is not handled; `undefined` if it is. */
async function checkReview(
  event: ThreadEvent,
  ports: ReviewPorts,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  if (!event.position) return undefined;
  const read = await readReview(async () => ({ isPart: await isPartOfReview(event, ports) }), signal);
  if ("kind" in read) return read;
  const { triggerKind } = event;
  return read.isPart
    ? { kind: "skipped", reason: "no-trigger", triggerKind, handledBy: "pull_request_review" }
    : undefined;
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
