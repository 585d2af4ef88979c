import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Agent } from "../agents/agent.ts";
import type { ExceededLimit, Limits } from "../agents/limits.ts";
import type { AgentNetwork } from "../agents/network/agent-network.ts";
import type { AgentOptions, AgentResult } from "../agents/run-agent.ts";
import type { Sandbox } from "../agents/sandbox/sandbox.ts";
import { errorMessage } from "../error-message.ts";
import type { Start } from "../git/find-start.ts";
import { GitError } from "../git/git.ts";
import type { Repository } from "../git/repository.ts";
import type { Worktrees } from "../git/worktrees.ts";
import { type Machine, thisMachine } from "../machine.ts";
import { type AgentExit, type Metrics, noMetrics } from "../metrics/metrics.ts";
import { jobBranch, type RunningTurn, type StoredJob, type StoredTurn, type Turn, type TurnResult } from "../model.ts";
import { isResourceExhausted, ResourceExhausted } from "../processes/resource-exhausted.ts";
import { isCommitOf } from "../pulls/commit-message.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { GitHubError } from "../pulls/github/github-error.ts";
import { findInstructions } from "../pulls/protected-files.ts";
import { pullRequestTitle } from "../pulls/pull-request-title.ts";
import type { Change, PullRequests } from "../pulls/pull-requests.ts";
import { JobDirectory, jobLogFile } from "../service-folder.ts";
import type { AgentHomes } from "../store/agent-homes.ts";
import type { Store } from "../store/store.ts";
import { LeaseLost, OutcomeUnknown, StoreUnavailable } from "../store-errors.ts";
import { findProtectedChanges } from "./check-change.ts";
import { type CommitPorts, commitChange } from "./commit-change.ts";
import { confirmLease } from "./keep-lease.ts";
import { readLastPullRequest } from "./last-pull-request.ts";
import { newSessionNote, noChangeNote } from "./log-notes.ts";
import {
  findPushedCommit,
  type PushPorts,
  type PushRepository,
  pushCommit,
  pushUnpushedCommit,
} from "./push-commit.ts";
import { storeReport } from "./store-report.ts";
import { startDeadline, timeLeft, untilStopped } from "./turn-deadline.ts";
import { type TurnHost, turnHost } from "./turn-host.ts";

/** What a turn depends on. */
export interface TurnPorts extends CommitPorts {
  store: Store;
  repository: PushRepository & Pick<Repository, "objects" | "findStart" | "lastCommitOf"> & CommitPorts["repository"];
  worktrees: Pick<Worktrees, "checkOut" | "takeBack" | "release">;
  pullRequests: PullRequests;
  /** The branch that pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  agent: Agent;
  sandbox: Sandbox;
  network: AgentNetwork;
  /** Whether no agent of any project can change files of the service. Default: whether this one cannot. */
  areFilesSafe?: boolean | undefined;
  /** Default: only on this machine. */
  homes?: AgentHomes | undefined;
  /** Per job. */
  limits: Limits;
  /** Where the kernel limits the memory of agents. Default: nowhere. */
  cgroups?: AgentOptions["cgroups"];
  /** The service's folder, for the directories of jobs and their logs. */
  folder: string;
  /** Per attempt. */
  timeLimitMs: number;
  /** Receives why a turn failed or was postponed, and whether that is because the repository's host cannot be reached. */
  onFailure?: (reason: string, cause?: "remote") => void;
  /** No agent is run with less free space. Default: 100 MB. */
  minFreeBytes?: number;
  /** Counts the ends of agents. Default: nothing does. */
  metrics?: Pick<Metrics, "agentExited" | "agentCost" | "turnStarted"> | undefined;
  /** Default: the disk and the processes of this machine. */
  host?: TurnHost;
  /** Default: the one that the process runs on. */
  machine?: Machine;
}

/** An interrupted attempt is repeated only once, because the agent may be what kills the service. */
const maxAttempts = 2;

/** Returns whether an agent cannot change files of the service: it is in a sandbox, or part of the service. */
export const isKeptAway = (agent: Agent, sandbox: Sandbox): boolean => sandbox.isConfining || agent.isTrusted;

/**
 * Runs a turn, from the checkout to the pull request. A turn that was interrupted or postponed after its commit was made is
 * not repeated, because the commit names its turn.
 */
export async function runTurn(
  turn: RunningTurn,
  job: StoredJob,
  ports: TurnPorts,
  signal: AbortSignal,
): Promise<TurnResult> {
  const { folder, worktrees, onFailure, host = turnHost, machine = thisMachine } = ports;
  const logFile = jobLogFile(folder, job.id);
  const log = (text: string): void => {
    // The agent's words must not control the reader's terminal.
    const printable = stripVTControlCharacters(text)
      .replace(/[^\P{Cc}\t\n]/gu, "")
      .trim();
    try {
      host.appendLog(logFile, `${printable.replace(/^/gm, "[service] ")}\n`);
    } catch {
      // A job must not fail because of its log.
    }
  };
  const directory = new JobDirectory(folder, job.id);
  try {
    await ports.homes?.bring(turn, directory, log);
    const isNewHome = await host.prepare(directory, logFile);
    const context = { ...ports, host, machine, directory, isNewHome, logFile, log };
    const result = await processTurn(turn, job, context, signal);
    if (result === "completed") await logEarlierFailures(turn, ports.store, log);
    return result;
  } catch (error) {
    if (error instanceof LeaseLost) return "taken-over";
    if (signal.aborted) return "stopped";
    if (isRemoteOutage(error)) {
      onFailure?.(errorMessage(error), "remote");
      log(`The repository's host cannot be reached now. The turn waits and goes on later: ${errorMessage(error)}`);
      return "postponed";
    }
    onFailure?.(errorMessage(error));
    // No agent has run since the last commit that was pushed: see `setReport`.
    if (isStoreOutage(error)) return "postponed";
    if (isResourceExhausted(error)) {
      log(`The machine lacks something that the turn needs, so it waits and is started again: ${errorMessage(error)}`);
      return "postponed";
    }
    log(`The turn failed: ${errorMessage(error)}`);
    return "failed";
  } finally {
    const cleaned = worktrees.release(directory).then(() => host.clean(directory));
    await cleaned.catch((error: unknown) => log(`Cannot clean the job's directory: ${errorMessage(error)}`));
  }
}

interface TurnContext extends TurnPorts {
  host: TurnHost;
  machine: Machine;
  directory: JobDirectory;
  /** Whether the job has no session of an earlier turn: it is the first one, or the session was removed. */
  isNewHome: boolean;
  /** The job's log. */
  logFile: string;
  /** Appends to the job's log. */
  log: (text: string) => void;
}

async function processTurn(
  turn: RunningTurn,
  job: StoredJob,
  context: TurnContext,
  signal: AbortSignal,
): Promise<TurnResult> {
  const { store, repository, worktrees, pullRequests, homes, directory, log, machine } = context;
  const push: PushPorts = { repository, confirmOwner: () => confirmLease(turn, store.runningTurns, signal, machine) };
  log(`Turn ${turn.id} started.`);
  const { isMerged, bases } = await readLastPullRequest(job, context);
  const { targetBranch: own } = context;
  const options = { isMerged, lastPushed: job.head, targetBranch: own, bases, instructions: findInstructions };
  // Others may share its fetch, so it is not killed, only waited for no longer.
  const [start, last] = await untilStopped(
    Promise.all([repository.findStart(jobBranch(job.id), options), repository.lastCommitOf(job.id)]),
    context.stop,
  );
  let head = (await findPushedCommit(turn, start, repository)) ?? (await pushUnpushedCommit(turn, start, last, push));
  if (head === undefined) {
    if (turn.attempts >= maxAttempts) {
      const reason = `The agent was interrupted ${turn.attempts} times and is not run again.`;
      log(reason);
      context.onFailure?.(reason);
      return "failed";
    }
    if (context.stop?.aborted) {
      log(`No agent is run. ${context.stop.reason}`);
      context.onFailure?.(String(context.stop.reason));
      return "failed";
    }
    for (const note of start.notes) log(note);
    await checkFreeSpace(context);
    const worktree = await worktrees.checkOut(directory, start, context.stop).catch((error: unknown) => {
      throw context.stop?.aborted ? new Error(String(context.stop.reason), { cause: error }) : error;
    });
    const earlierUsd = await store.runningTurns.countAttempt(turn);
    await homes?.begin?.(turn, directory);
    const startedAt = machine.now();
    const attempted = await attempt(turn, start, context, signal);
    const { end, isFollowUp } = attempted;
    if (end === "stopped") return "stopped";
    await homes?.keep?.(turn, directory, log);
    const run = { report: attempted, project: job.project, isFollowUp, earlierUsd };
    const message = await storeReport(turn, run, context);
    if (end !== "completed") return "failed";
    await worktrees.takeBack(directory);
    using deadline = startDeadline(machine, context.timeLimitMs, machine.now() - startedAt, context.stop);
    const commit = await commitChange(turn, worktree, start, attempted, context, deadline);
    const words = message === undefined ? "" : `The agent's last words:\n${message}`;
    if (commit === undefined) log(`${noChangeNote} ${words}`);
    else {
      head = await pushCommit(commit, turn, start, last, push);
      if (words !== "") log(words);
    }
  }
  const isOwn = head !== undefined;
  if (head === undefined && start.isContinued && (await hasUnopenedWork(job, start, context))) head = start.head;
  if (head === undefined) return "completed";

  const { branch, base, targetBranch, isContinued } = start;
  const { prompt, answer, costUsd } = isOwn
    ? await storedTurn(turn, store)
    : ((await lastChange(job, base, head, context))?.turn ?? { ...turn, answer: null, costUsd: null });
  // One whose target is gone cannot be merged any more.
  const hasTarget = bases.length === 0 || bases[0] === targetBranch;
  const existing = isContinued && !isMerged && hasTarget ? job.pullRequest : null;
  // Otherwise the next turn would take this work for the merged pull request's.
  if (existing !== job.pullRequest) await store.runningTurns.clearPullRequest(turn, head);
  const change: Change = {
    jobId: job.id,
    title: pullRequestTitle(prompt, answer, machine.wallTime()),
    prompt,
    answer,
    costUsd,
    branch,
    targetBranch,
    base,
    head,
    existing,
    protectedFiles: await findProtectedChanges(context, base, head),
  };
  await push.confirmOwner();
  const link = await pullRequests.open(change).catch((error: unknown) => {
    // Pages are in the store, which can be used again later.
    if (isStoreOutage(error) || isRemoteOutage(error)) throw error;
    throw new Error(
      `The work is on the branch ${branch}, but its pull request could not be opened. The next message to the job ` +
        `whose turn completes opens it. ${errorMessage(error)}`,
      { cause: error },
    );
  });
  await store.runningTurns.setPullRequest(turn, link, head);
  log(`Pull request: ${link}`);
  return "completed";
}

/** The next run of the turn finds what is on the branch, even if the store has the change after all. */
function isStoreOutage(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
}

/** The next run of the turn finds its commit in the clone, or on the branch, and runs no agent. */
function isRemoteOutage(error: unknown): boolean {
  return (error instanceof GitError && error.isRemoteOutage) || (error instanceof GitHubError && !error.isPermanent);
}

/**
 * Checks that the agent's change can be committed, before the agent costs money.
 *
 * @throws ResourceExhausted if the disk is nearly full
 */
async function checkFreeSpace({ folder, machine, minFreeBytes = 100_000_000 }: TurnContext): Promise<void> {
  if ((await machine.freeBytes(folder)) < minFreeBytes)
    throw new ResourceExhausted(`less than ${minFreeBytes / 1_000_000} MB are free in ${folder}`);
}

async function attempt(turn: Turn, start: Start, context: TurnContext, signal: AbortSignal) {
  const {
    store,
    repository,
    agent,
    sandbox,
    network,
    limits,
    folder,
    directory,
    isNewHome,
    logFile,
    timeLimitMs,
    log,
    host,
    stop,
  } = context;
  const { job: jobId, prompt } = turn;
  const history = await store.turns.history(turn);
  if (history.length > 0 && isNewHome) {
    const told = agent.isToldHistory
      ? "Its prompt tells of them."
      : "They are in the file named by AGENT_HISTORY_FILE.";
    log(`${newSessionNote} ${told}`);
  }
  let exceeded: ExceededLimit | undefined;
  const isFollowUp = history.length > 0 && !isNewHome;
  const options: AgentOptions = {
    prompt,
    isFollowUp,
    history,
    jobId,
    directories: directory,
    objects: repository.objects,
    sandbox,
    network,
    limits,
    cgroups: context.cgroups,
    // Other agents could write code of the supervisor there.
    compileCache: (context.areFilesSafe ?? isKeptAway(agent, sandbox)) ? join(folder, "compile-cache") : undefined,
    onLimitExceeded: (limit) => {
      exceeded = limit;
      log(killedFor(limit));
    },
    logFile,
    rawFile: directory.events,
    timeLimitMs,
    signal: stop ? AbortSignal.any([signal, stop]) : signal,
  };
  const startedAt = context.machine.now();
  const result = await host.runAgent(agent, options);
  (context.metrics ?? noMetrics).agentExited(exitOf(result, exceeded));
  if (result.end === "stopped" && stop?.aborted && !signal.aborted) {
    log(String(stop.reason));
    context.onFailure?.(String(stop.reason));
    return { ...result, end: "failed" as const, isFollowUp, ownMessages: [] };
  }
  const end =
    result.end === "timed-out" ? `The agent timed out after ${timeLimitMs / 1000} s.` : `The agent ${result.end}.`;
  const reported = result.end === "failed" && result.error !== undefined ? `The agent reported: ${result.error}` : "";
  log(end);
  if (reported !== "") log(reported);
  if (result.end !== "completed")
    context.onFailure?.(`${exceeded === undefined ? end : killedFor(exceeded)} ${reported}`);
  // They are worth less than the change, which has the rest of the time.
  const messagesMs = Math.min(longestMessagesMs, timeLeft(timeLimitMs, context.machine.now() - startedAt) / 2);
  const head = start.instructed ?? start.head;
  const hasMessages = result.end === "completed" && (await host.hasOwnCommits(directory.tree, { ...start, head }));
  const messages = hasMessages ? await ownMessages(agent, head, options, host, messagesMs) : [];
  return { ...result, isFollowUp, ownMessages: messages };
}

const killedFor = ({ what }: ExceededLimit): string => `The agent is killed, because it has ${what}.`;

function exitOf({ end, error }: AgentResult, exceeded: ExceededLimit | undefined): AgentExit {
  if (end === "completed" || end === "stopped") return end;
  if (exceeded !== undefined) return exceeded.kind;
  if (end === "timed-out") return "time-limit";
  return error === undefined ? "exit-code" : "reported-failure";
}

/** Reading them takes milliseconds, unless the agent sees to it that it does not. */
const longestMessagesMs = 20_000;

/**
 * Returns the messages of the commits that the agent made on top of `head`, oldest first. They are read with the agent's
 * permissions, because the configuration of its clone can make Git run any program, or wait.
 */
async function ownMessages(
  agent: Agent,
  head: string,
  options: AgentOptions,
  { runAgent }: TurnHost,
  timeLimitMs: number,
): Promise<string[]> {
  const range = ["--reverse", "--first-parent", "--no-merges", "--max-count=50", `${head}..HEAD`, "--"];
  const log: Agent = {
    ...agent,
    command: () => ({ file: "git", args: ["--no-pager", "log", "-z", "--format=%B", ...range] }),
    eventFormat: undefined,
    readReport: (stdout) => ({ message: stdout, error: undefined }),
  };
  try {
    const { message = "" } = await runAgent(log, { ...options, logFile: "/dev/null", timeLimitMs });
    return message.split("\0");
  } catch (error) {
    // The agent has run: its work is worth more than its messages.
    if (isResourceExhausted(error)) return [];
    throw error;
  }
}

/** Logs which earlier turns failed, because the job's state only shows the last turn. */
async function logEarlierFailures(turn: Turn, store: Store, log: (text: string) => void): Promise<void> {
  const failed = (await store.turns.ofJob(turn.job)).filter(({ id, state }) => id < turn.id && state === "failed");
  const list = failed.map(({ id, prompt }) => `turn ${id} (${commitTitle(prompt)})`).join(", ");
  if (failed.length > 0) log(`Turn ${turn.id} completed, but earlier turns of the job failed: ${list}.`);
}

/** Returns a turn with what its agent said, as stored. */
async function storedTurn(turn: Turn, store: Store): Promise<Pick<StoredTurn, "prompt" | "answer" | "costUsd">> {
  const stored = (await store.turns.ofJob(turn.job)).find(({ id }) => id === turn.id);
  return stored ?? { ...turn, answer: null, costUsd: null };
}

/** Returns the last turn whose commit is on the branch, which says what the change is about, and that commit. */
async function lastChange({ id }: StoredJob, base: string, head: string, { store, repository }: TurnContext) {
  const commits = await repository.commits(base, head);
  const changes = (await store.turns.ofJob(id)).flatMap((turn) =>
    commits.filter(({ message }) => isCommitOf(turn, message)).map(({ commit }) => ({ turn, commit })),
  );
  return changes.at(-1);
}

/** Returns whether an earlier turn pushed its work, and failed because its pull request could not be opened. */
async function hasUnopenedWork(job: StoredJob, { base, head }: Start, context: TurnContext): Promise<boolean> {
  if (job.pullRequest === null) return true;
  const last = await lastChange(job, base, head, context);
  return last !== undefined && last.turn.state === "failed" && last.commit !== job.head;
}
