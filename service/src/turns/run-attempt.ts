import { join } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { explainEnd, killedFor } from "../agents/agent-end.ts";
import type { ExceededLimit } from "../agents/limits.ts";
import type { AgentOptions, AgentResult } from "../agents/run-agent.ts";
import type { Sandbox } from "../agents/sandbox/sandbox.ts";
import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import { unknownBase } from "../git/infer-base.ts";
import { type AgentExit, noMetrics } from "../metrics/metrics.ts";
import type { EarlierTurn, StoredTurn, Turn } from "../model.ts";
import { isAskedElsewhere } from "../pulls/asked-by.ts";
import { SecretPatterns } from "../secret-patterns.ts";
import type { MadeChange } from "./commit-change.ts";
import { describeLeftWork, lostWork, readAsAgent, takeLeftWork } from "./left-work.ts";
import { newSessionNote } from "./log-notes.ts";
import { toldCheck } from "./project-commands.ts";
import { runOptions } from "./run-options.ts";
import { timeLeft } from "./turn-deadline.ts";
import type { TurnHost } from "./turn-host.ts";
import type { TurnContext } from "./turn-ports.ts";

/** A second agent run in the same turn. */
export interface SecondGo {
  prompt: string;
  /** The last message of the first run. */
  answer: string | null;
}

/** The result of an agent run. */
export interface Attempt extends AgentResult, MadeChange {
  isFollowUp: boolean;
  /** Why the turn fails; `undefined` if the agent completed. */
  reason: string | undefined;
  /** See `Worktree`. */
  changedFrom?: string | undefined;
  /** The previous run, if its session could not be continued. Default: none. */
  refused?: AgentResult | undefined;
}

/** Precedes why a home could not be kept or moved, which loses no work. */
export const uncertainSession = "The agent's session may not continue";

/** Returns whether an agent cannot change the service's files: it is sandboxed, or part of the service. */
export const isKeptAway = (agent: Agent, sandbox: Sandbox): boolean => sandbox.isConfining || agent.isTrusted;

/**
 * Runs the agent of a turn in its worktree, and counts and logs how it ends.
 *
 * @param signal - aborts when the service stops
 * @param again - default: this is the first run
 */
export async function runAttempt(
  turn: Turn,
  start: Start,
  context: TurnContext,
  signal: AbortSignal,
  again?: SecondGo,
): Promise<Attempt> {
  const { host, machine, directory, timeLimitMs, stop, log } = context;
  const startedAt = machine.now();
  const first = await runOnce(turn, start, context, signal, again);
  const leftMs = timeLimitMs - (machine.now() - startedAt);
  if (again !== undefined || !hasDeadSession(first) || leftMs <= 0 || stop?.aborted || signal.aborted) return first;
  log("The session of the earlier turns cannot be continued, so the agent is run once more.");
  const oldHome = await host.replaceHome(directory);
  const logFailure = (error: unknown): void => log(`${uncertainSession}: ${errorMessage(error)}`);
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => oldHome[Symbol.asyncDispose]().then(undefined, logFailure));
  const second = await runOnce(turn, start, { ...context, isNewHome: true, timeLimitMs: leftMs }, signal);
  // Otherwise, the session was not the cause.
  if (second.hasWorked || second.end === "completed") await oldHome.drop().catch(logFailure);
  const told = second.reason && `${second.reason} Before that, its session could not be continued: ${first.reason}`;
  return { ...second, reason: told, refused: first };
}

/** Returns whether the agent or its model API rejected the session that it was to continue. */
function hasDeadSession({ end, endedBy, isFollowUp, hasWorked, error = "", failureClass, model }: Attempt): boolean {
  if (endedBy === "other-session") return true;
  if (!isFollowUp || end !== "failed" || endedBy !== undefined || failureClass !== "agent") return false;
  const isBadRequest = model?.lastStatus === 400 || /\b400\b|bad_?request|invalid_request/i.test(error);
  return hasWorked === false || (isBadRequest && /message|tool_?(?:use|result|call)|thinking|session/i.test(error));
}

async function runOnce(
  turn: Turn,
  start: Start,
  context: TurnContext,
  signal: AbortSignal,
  again?: SecondGo,
): Promise<Attempt> {
  const { turns, agent, sandbox, folder, directory, isNewHome, logFile, timeLimitMs, log, host, stop } = context;
  const prompt = again?.prompt ?? promptOf(turn, start, context);
  const earlier = historyOf(turn, turns);
  const history: EarlierTurn[] =
    again === undefined ? earlier : [...earlier, { prompt: turn.prompt, answer: again.answer, state: "completed" }];
  const { sessions } = agent;
  const found = sessions === undefined ? [] : await host.findSessions(directory.home, sessions.files);
  // The first run has created the new home.
  const hasSession = sessions === undefined ? again !== undefined || !isNewHome : found.length > 0;
  if (earlier.length > 0 && !hasSession && again === undefined) {
    const told = agent.isToldHistory
      ? "Its prompt tells of them."
      : "They are in the file named by AGENT_HISTORY_FILE.";
    log(`${newSessionNote} ${told}`);
  }
  let exceeded: ExceededLimit | undefined;
  const isFollowUp = history.length > 0 && hasSession;
  const options: AgentOptions = {
    ...runOptions(turn, context, signal),
    ...{ prompt, isFollowUp, history, timeLimitMs, rawFile: directory.events },
    isEarlierSession:
      isFollowUp && sessions !== undefined && again === undefined
        ? (id) => found.some((file) => file.includes(id.slice(0, sessions.idLength)))
        : undefined,
    // Otherwise, other agents could write code there that the supervisor loads.
    compileCache: (context.areFilesSafe ?? isKeptAway(agent, sandbox)) ? join(folder, "compile-cache") : undefined,
    onLimitExceeded: (limit) => {
      exceeded = limit;
      log(killedFor(limit));
    },
  };
  const startedAt = context.machine.now();
  const result = await host.runAgent(agent, options);
  // Before anything is cut off: a cut could split a secret.
  for (const file of [logFile, directory.events])
    await host.hideSecrets(file, context.secrets ?? []).catch((error: unknown) => {
      // The agent's work matters more.
      log(`Secrets in the log cannot be hidden: ${errorMessage(error)}`);
    });
  (context.metrics ?? noMetrics).agentExited(exitOf(result, exceeded));
  const head = start.instructed ?? start.head;
  const written = { ...start, head };
  const hasOwn = (): Promise<boolean> => host.hasOwnCommits(directory.tree, written).catch(() => true);
  const mayHaveLeft = (): Promise<boolean> => host.mayHaveLeftWork(directory.tree, written).catch(() => true);
  if (result.end === "stopped" && stop?.aborted && !signal.aborted) {
    const reason = String(stop.reason);
    log(reason);
    // The time is too short to ask its repository.
    const changedFrom = (await mayHaveLeft()) && (await hasOwn()) ? unknownBase : undefined;
    const failed = { end: "failed", ownMessages: [], reason, failureClass: undefined, notes: [], changedFrom } as const;
    return { ...result, isFollowUp, ...failed };
  }
  const patterns = new SecretPatterns(context.secrets ?? []);
  const error = result.error && (await patterns.remove(result.error)).slice(0, maxErrorLength);
  const hasSaid = result.end === "completed" && result.hasEnded !== undefined;
  const lastOutput = hasSaid ? "" : await patterns.remove(await host.lastOutput(logFile));
  const { lines, reason, failureClass, notes } = explainEnd(
    { ...result, error },
    { timeLimitMs, exceeded, lastOutput },
  );
  // The log already has the agent's output and the exceeded limit.
  for (const line of lines) if (exceeded === undefined || line !== killedFor(exceeded)) log(line);
  // Reading the clone matters less than the change, which gets the remaining time.
  const gitMs = (): number => Math.min(longestGitMs, timeLeft(timeLimitMs, context.machine.now() - startedAt) / 2);
  // What an agent that failed has changed is kept.
  const isRead = result.end !== "stopped" && (await mayHaveLeft());
  const work = isRead
    ? await takeLeftWork(agent, head, { ...options, timeLimitMs: gitMs() }, host, patterns)
    : undefined;
  if (work?.taken !== undefined)
    log(`The agent changed nothing in its worktree, so its work is taken from ${work.taken}.`);
  const isKnown = work?.changedFrom !== unknownBase || !(await hasOwn());
  // An agent that is still where it started has changed the files of that, however little Git could read.
  const changedFrom = work?.changedFrom === unknownBase && isKnown ? undefined : work?.changedFrom;
  const lost = work && lostWork(work);
  if (work?.isPartial && lost !== undefined && result.end === "completed") {
    log(lost);
    const failed = {
      end: "failed",
      ownMessages: [],
      reason: lost,
      failureClass: "agent",
      notes: [],
      changedFrom,
    } as const;
    return { ...result, isFollowUp, ...failed };
  }
  const left = work && describeLeftWork(work);
  if (left !== undefined) log(left);
  const hasMessages = result.end === "completed" && (await hasOwn());
  const from = isKnown ? (changedFrom ?? head) : head;
  const messages = hasMessages ? await ownMessages(agent, from, { ...options, timeLimitMs: gitMs() }, host) : [];
  return {
    ...result,
    isFollowUp,
    ownMessages: messages,
    reason,
    failureClass,
    notes: left === undefined ? notes : [left, ...notes],
    lost,
    changedFrom,
  };
}

const keepPrivate =
  "This was asked for in another repository, which may be private. In files and messages, neither quote nor link what was said there.";

/** Returns the full prompt: the task, which files may change, the last check's output, and what the branch lacks. */
function promptOf(
  { id, prompt, sections, asked }: Turn,
  { isContinued, lacks = [] }: Start,
  {
    only,
    commands,
    turns,
    opening = "",
    pullRequests,
  }: Pick<TurnContext, "only" | "commands" | "turns" | "opening" | "pullRequests">,
): string {
  const list = only?.patterns.join(", ");
  const allowed = "Change only files that match these patterns, because changes of other files are taken back:";
  const last = turns.findLast((one) => one.id < id && one.checkResult !== null);
  const red = isContinued && last?.checkResult === "failed" ? commands?.check : undefined;
  return [
    ...(opening === "" ? [] : [opening]),
    prompt,
    ...(sections === "" ? [] : [sections]),
    ...(isAskedElsewhere(asked, pullRequests.repository) ? [keepPrivate] : []),
    ...(list === undefined ? [] : [`${allowed} ${list}`]),
    ...(red === undefined ? [] : [toldCheck(red, last?.checkOutput ?? "", "the last commit of this job")]),
    ...lacks,
  ].join("\n\n");
}

export function historyOf(turn: Turn, turns: readonly StoredTurn[]): EarlierTurn[] {
  return turns.flatMap(({ id, attempts, prompt, answer, state }) => {
    const hasEnded = state === "completed" || state === "failed";
    return id < turn.id && attempts > 0 && hasEnded ? [{ prompt, answer, state }] : [];
  });
}

function exitOf({ end, error }: AgentResult, exceeded: ExceededLimit | undefined): AgentExit {
  if (end === "completed" || end === "stopped") return end;
  if (exceeded !== undefined) return exceeded.kind;
  if (end === "timed-out") return "time-limit";
  return error === undefined ? "exit-code" : "reported-failure";
}

/** In characters. */
const maxErrorLength = 2000;

/** Reading the clone takes milliseconds unless the agent obstructs it. */
const longestGitMs = 20_000;

/** Returns the messages of the agent's commits on top of `head`, oldest first. */
async function ownMessages(agent: Agent, head: string, options: AgentOptions, host: TurnHost): Promise<string[]> {
  const range = ["--reverse", "--first-parent", "--no-merges", "--max-count=50", `${head}..HEAD`, "--"];
  const command = { file: "git", args: ["--no-pager", "log", "-z", "--format=%B", ...range] };
  // The agent's work matters more than its messages.
  return (await readAsAgent(agent, command, options, host).catch(() => "")).split("\0");
}
