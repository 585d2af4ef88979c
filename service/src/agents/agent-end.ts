import type { FailureClass } from "../model.ts";
import type { AgentReport } from "./agent-report.ts";
import type { ExceededLimit } from "./limits.ts";
import type { ModelUse } from "./network/model-proxy.ts";

/**
 * What ended an agent that would have gone on. `stop`: somebody, or the service. `silence`: it had said how its turn ended, and did
 * nothing more. `wait`: its model asked it to wait for longer than it had time. `other-session`: it was to continue a session, and began one.
 */
export type EndedBy = "stop" | "time-limit" | "silence" | "wait" | "other-session";

/** What is known of how an agent's run ended. */
export interface AgentWitnesses extends AgentReport {
  endedBy?: EndedBy | undefined;
  /** Whether its model has said a word or used a tool. Default: nothing shows that. */
  hasWorked?: boolean | undefined;
  /** The exit code of its process, unless it is 0. 128 and more: a signal ended it. */
  exitCode?: number | undefined;
  /** What its model said. Default: nothing between them knows. */
  model?: Pick<ModelUse, "lastStatus" | "lastDenied"> | undefined;
}

/** How an agent's run ended. */
export type AgentEnd = "completed" | "failed" | "timed-out" | "stopped";

/**
 * Decides how an agent's run ended. A witness that knows more decides alone: somebody's stop, then what the agent itself said last,
 * then the clock and the exit code.
 */
export function endOf({ endedBy, hasEnded, error, exitCode = 0 }: AgentWitnesses): AgentEnd {
  if (endedBy === "stop") return "stopped";
  if (endedBy === "other-session") return "failed";
  if (hasEnded === true) return error === undefined ? "completed" : "failed";
  if (endedBy === "time-limit") return "timed-out";
  return exitCode === 0 && endedBy === undefined && error === undefined && hasEnded === undefined
    ? "completed"
    : "failed";
}

/** How an agent's run ended, for people. */
export interface ExplainedEnd {
  lines: string[];
  /** Why the turn fails: the lines, and what the agent printed last. Default: the agent completed. */
  reason?: string;
  failureClass?: FailureClass;
  /** What people should know of an agent that completed, each as a sentence. */
  notes: string[];
}

/** What else is known when an agent has ended. */
export interface EndContext {
  timeLimitMs: number;
  /** The limit for which it was killed. Default: none. */
  exceeded?: ExceededLimit | undefined;
  lastOutput: string;
}

/** Says how an agent's run ended, and the class of a failure. Every witness that knows something is named. */
export function explainEnd(run: AgentWitnesses & { end: AgentEnd }, context: EndContext): ExplainedEnd {
  const { end, error, exitCode = 0, endedBy, model } = run;
  const { exceeded, lastOutput } = context;
  if (end === "completed") {
    const notes = run.hasEnded ? afterResult(endedBy, exitCode, exceeded) : [];
    return { lines: ["The agent completed.", ...notes, ...(mayNotWrite.test(lastOutput) ? [scriptHelp] : [])], notes };
  }
  const status = model?.lastStatus;
  const answered =
    status !== undefined && status >= 400 ? `The last answer of its model had the status ${status}.` : "";
  const denied =
    model?.lastDenied === undefined || error !== undefined
      ? ""
      : `It was denied a connection to ${model.lastDenied}: --model-host allows a host.`;
  const said = error === undefined ? "" : `The agent reported: ${error}`;
  const failureClass = classOf(run, context);
  const isScript = error === undefined && cannotStart.test(lastOutput);
  const help = isScript ? scriptHelp : helpFor(failureClass, error ?? lastOutput, status);
  const printed = error !== undefined || lastOutput === "" ? "" : `Its last output:\n${lastOutput}`;
  const lines = [sentenceOf(run, context), answered, denied, said, help].filter(Boolean);
  const reason = [...lines, printed].filter(Boolean).join(" ");
  return { lines, reason, failureClass, notes: [] };
}

/** How coding agents say that they were not started for a script: by root, with questions, without a key, or without the right to write. */
const cannotStart =
  /cannot be used with root|no terminal is available|not a (?:terminal|tty)|run \/login|not logged in/i;
const mayNotWrite =
  /\bpermissions?\b.{0,80}\b(?:writ|edit|creat|chang)|\b(?:writ|edit|creat|chang)(?:e|ing)\b.{0,80}\bpermissions?\b/i;

const scriptHelp =
  "If this command starts a coding agent: the agent's name alone in its place, such as claude, starts it with its key, without questions, and with the right to write files.";

/** How a model says that a credential has ended which was valid for a time. */
const endedCredential =
  /(?:token|credentials?|session)\b.{0,60}\b(?:expired|no longer valid)|\bexpired\b.{0,20}\b(?:token|credential|session)|ExpiredToken/i;

/** Returns a sentence about what helps; empty if the agent's own words have to do. */
function helpFor(failureClass: FailureClass, words: string, status = 0): string {
  if (failureClass === "credit")
    return "The account of the model has no credit or quota left: add some, then start again.";
  if (failureClass !== "transient") return "";
  if (endedCredential.test(words))
    return "The credential of the model ended while the agent worked: a new run gets a new one. Give it one that lasts longer, or the agent less time.";
  return status === 429 || /\b429\b|rate[ _-]?limit/i.test(words)
    ? "The account of the model has reached its limit of requests: start again later, or raise that limit."
    : "";
}

/** Returns how a process ended, to continue a sentence; empty if its exit code is 0. */
function exitOf(exitCode: number): string {
  if (exitCode === 0) return "";
  return exitCode > 128 ? `signal ${exitCode - 128}` : `exit code ${exitCode}`;
}

function afterResult(endedBy: EndedBy | undefined, exitCode: number, exceeded: ExceededLimit | undefined): string[] {
  if (exceeded !== undefined) return [`After its result, the agent was killed, because it has ${exceeded.what}.`];
  if (endedBy === "silence") return ["The agent stayed after its result, and was ended when it did nothing more."];
  if (endedBy === "time-limit") return ["The agent stayed after its result, and was ended at the time limit."];
  return exitCode === 0 ? [] : [`After its result, the agent ended with ${exitOf(exitCode)}.`];
}

function sentenceOf(
  { end, endedBy, hasEnded, exitCode = 0, model }: AgentWitnesses & { end: AgentEnd },
  { exceeded, timeLimitMs }: EndContext,
): string {
  if (end === "stopped") return "The agent stopped.";
  if (exceeded !== undefined) return killedFor(exceeded);
  if (end === "timed-out") return `The agent timed out after ${Number((timeLimitMs / 1000).toFixed(1))} s.`;
  if (endedBy === "wait")
    return `The agent was ended, because its model answered ${model?.lastStatus} and asked to wait for longer than the rest of the turn.`;
  if (endedBy === "other-session")
    return "The agent did not find the session of the earlier turns, and began another one.";
  const exit = exitOf(exitCode);
  if (hasEnded === false) return `The agent ended without a result${exit === "" ? "" : `, with ${exit}`}.`;
  return exit === "" ? "The agent failed." : `The agent ended with ${exit}.`;
}

/** Returns a sentence about an agent that is killed. */
export const killedFor = ({ what }: ExceededLimit): string => `The agent is killed, because it has ${what}.`;

/** By which words an agent, or its model, says what went wrong. The first that fits decides. */
const wordsOfClasses: readonly (readonly [FailureClass, RegExp])[] = [
  [
    "credit",
    /credit balance|out of credits|insufficient[ _]quota|exceeded your current quota|billing|payment required/i,
  ],
  ["transient", endedCredential],
  [
    "limit",
    /(?:maximum number of |max(?:imum)? (?:session )?|limit of )turns|turn limit|maximum budget|(?:exceeded the|hit a) token limit/i,
  ],
  [
    "model",
    /(?:invalid|incorrect|missing|no|expired|disabled) (?:x-)?api[ _-]?key|authentication|unauthorized|permission_error|not_found_error|invalid model|model\b.{0,80}\b(?:not found|not exist|not supported|unknown|no access)/i,
  ],
  [
    "transient",
    /overloaded|rate[ _-]?limit|too many requests|timed? ?out|connection|\b(?:ECONN\w+|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE)\b|socket|fetch failed|network error|internal server error|unavailable|bad gateway|stream (?:disconnected|error)/i,
  ],
];

function classOf(
  { end, endedBy, error, failureClass, exitCode = 0, hasEnded, model }: AgentWitnesses & { end: AgentEnd },
  { exceeded, lastOutput }: EndContext,
): FailureClass {
  if (exceeded !== undefined || end === "timed-out") return "limit";
  if (endedBy === "wait") return "transient";
  if (failureClass !== undefined) return failureClass;
  // What it is started with is not there, or no program.
  if (error === undefined && (exitCode === 127 || exitCode === 126)) return "setting";
  const words = error ?? (hasEnded === false ? lastOutput : "");
  const said = wordsOfClasses.find(([, pattern]) => pattern.test(words))?.[0];
  const status = Number(/\b[45]\d\d\b/.exec(error ?? "")?.[0] ?? model?.lastStatus ?? 0);
  return said ?? classOfStatus(status) ?? "agent";
}

function classOfStatus(status: number): FailureClass | undefined {
  if (status === 402) return "credit";
  if (status === 401 || status === 403 || status === 404) return "model";
  return status === 408 || status === 429 || status >= 500 ? "transient" : undefined;
}
