import { appendFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { Agent } from "../agents/agent.ts";
import type { Limits } from "../agents/limits.ts";
import type { AgentNetwork } from "../agents/network/agent-network.ts";
import { type AgentOptions, runAgent } from "../agents/run-agent.ts";
import type { Sandbox } from "../agents/sandbox/sandbox.ts";
import { errorMessage } from "../error-message.ts";
import type { Checkout, Repository } from "../git/repository.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import { commitMessage, isCommitOf } from "./commit-message.ts";
import { commitTitle } from "./commit-title.ts";
import { StoreUnavailable } from "./engine.ts";
import { JobDirectory } from "./job-directory.ts";
import { jobBranch, jobLogFile, logsFolder } from "./job-files.ts";
import type { Store, StoredJob, Turn } from "./store.ts";

/** What a turn depends on. */
export interface TurnPorts {
  store: Store;
  repository: Repository;
  pullRequests: PullRequests;
  agent: Agent;
  sandbox: Sandbox;
  network: AgentNetwork;
  /** Per job. */
  limits: Limits;
  /** The service's folder, for the directories of jobs and their logs. */
  folder: string;
  /** Per attempt. */
  timeLimitMs: number;
  /** A larger change fails its turn. */
  largestChangeBytes: number;
  /** Receives why a turn failed or was postponed. */
  onFailure?: (reason: string) => void;
}

/**
 * How a turn ended. `stopped`: the signal aborted it, run it again. `postponed`: it cannot run now; run it again later, which
 * does not repeat what was pushed.
 */
export type TurnResult = "completed" | "failed" | "stopped" | "postponed";

/** An interrupted attempt is repeated only once, because the agent may be what kills the service. */
const maxAttempts = 2;

/**
 * Runs a turn, from the checkout to the pull request. A turn that was interrupted after its commit was pushed is not
 * repeated, because the commit names its turn.
 */
export async function runTurn(turn: Turn, job: StoredJob, ports: TurnPorts, signal: AbortSignal): Promise<TurnResult> {
  const { folder, onFailure } = ports;
  const logFile = jobLogFile(folder, job.id);
  const log = (text: string): void => {
    try {
      appendFileSync(logFile, `${text.trim().replace(/^/gm, "[service] ")}\n`);
    } catch {
      // A job must not fail because of its log.
    }
  };
  const directory = new JobDirectory(folder, job.id);
  try {
    await mkdir(logsFolder(folder), { recursive: true });
    const isNewHome = await directory.prepare();
    const result = await processTurn(turn, job, { ...ports, directory, isNewHome, logFile, log }, signal);
    if (result === "completed") logEarlierFailures(turn, ports.store, log);
    return result;
  } catch (error) {
    if (signal.aborted) return "stopped";
    onFailure?.(errorMessage(error));
    // No agent has run since the last commit that was pushed: see `setAnswer`.
    if (error instanceof StoreUnavailable) return "postponed";
    log(`The turn failed: ${errorMessage(error)}`);
    return "failed";
  } finally {
    await directory.clean().catch((error: unknown) => log(`Cannot remove the worktree: ${errorMessage(error)}`));
  }
}

interface TurnContext extends TurnPorts {
  directory: JobDirectory;
  /** Whether the job has no session of an earlier turn, also because it was removed. */
  isNewHome: boolean;
  /** The job's log. */
  logFile: string;
  /** Appends to the job's log. */
  log: (text: string) => void;
}

async function processTurn(turn: Turn, job: StoredJob, context: TurnContext, signal: AbortSignal) {
  const { store, repository, pullRequests, directory, largestChangeBytes, log } = context;
  log(`Turn ${turn.id} started.`);
  const startOver = await isPullRequestMerged(job, context);
  const checkout = await repository.checkOut(jobBranch(job.id), directory.tree, startOver);
  let head =
    (await findPushedCommit(turn, checkout, repository)) ?? (await pushUnpushedCommit(turn, checkout, context));
  if (head === undefined) {
    if (turn.attempts >= maxAttempts) {
      const reason = `The agent was interrupted ${turn.attempts} times and is not run again.`;
      log(reason);
      context.onFailure?.(reason);
      return "failed";
    }
    store.countAttempt(turn.id);
    const { end, message, ownMessages } = await attempt(turn, checkout, context, signal);
    if (end === "stopped") return "stopped";
    if (message !== undefined) store.setAnswer(turn.id, message);
    if (end !== "completed") return "failed";
    const text = commitMessage(turn, ownMessages);
    const commit = await repository.commit(checkout, text, directory.index, largestChangeBytes);
    const words = message === undefined ? "" : `The agent's last words:\n${message}`;
    if (commit === undefined) log(`No file was changed. ${words}`);
    else {
      head = await pushCommit(commit, turn, checkout, context);
      if (words !== "") log(words);
    }
  }
  // An earlier turn may have been pushed without its pull request being opened.
  head ??= checkout.isContinued && job.pullRequest === null ? checkout.head : undefined;
  if (head === undefined) return "completed";

  const { branch, base, targetBranch, isContinued } = checkout;
  const { prompt, answer } = await lastChangingTurn(turn, base, head, context);
  const link = await pullRequests.open({
    jobId: job.id,
    title: commitTitle(prompt),
    prompt,
    answer,
    branch,
    targetBranch,
    base,
    head,
    existing: isContinued ? job.pullRequest : null,
  });
  store.setPullRequest(job.id, link, head);
  log(`Pull request: ${link}`);
  return "completed";
}

async function attempt(turn: Turn, { head }: Checkout, context: TurnContext, signal: AbortSignal) {
  const { store, repository, agent, sandbox, network, limits, directory, isNewHome, logFile, timeLimitMs, log } =
    context;
  const { job: jobId, prompt } = turn;
  const history = store.history(turn);
  const options: AgentOptions = {
    prompt,
    isFollowUp: history.length > 0 && !isNewHome,
    history,
    jobId,
    directories: directory,
    objects: repository.objects,
    sandbox,
    network,
    limits,
    onLimitExceeded: (what) => log(`The agent is killed, because it has ${what}.`),
    logFile,
    timeLimitMs,
    signal,
  };
  const result = await runAgent(agent, options);
  const end =
    result.end === "timed-out" ? `The agent timed out after ${timeLimitMs / 1000} s.` : `The agent ${result.end}.`;
  const reported = result.end === "failed" && result.error !== undefined ? `The agent reported: ${result.error}` : "";
  log(end);
  if (reported !== "") log(reported);
  if (result.end !== "completed") context.onFailure?.(`${end} ${reported}`);
  return { ...result, ownMessages: result.end === "completed" ? await ownMessages(agent, head, options) : [] };
}

/**
 * Returns the messages of the commits that the agent made on top of `head`, oldest first. They are read with the agent's
 * permissions, because the configuration of its clone can make Git run any program.
 */
async function ownMessages(agent: Agent, head: string, options: AgentOptions): Promise<string[]> {
  const range = ["--reverse", "--first-parent", "--no-merges", "--max-count=50", `${head}..HEAD`, "--"];
  const log: Agent = {
    ...agent,
    command: () => ({ file: "git", args: ["--no-pager", "log", "-z", "--format=%B", ...range] }),
    readReport: (stdout) => ({ message: stdout, error: undefined }),
  };
  const { message = "" } = await runAgent(log, { ...options, logFile: "/dev/null", timeLimitMs: 60_000 });
  return message.split("\0");
}

/** Notes earlier turns that failed, since the job's state is only that of the last turn. */
function logEarlierFailures(turn: Turn, store: Store, log: (text: string) => void): void {
  const failed = store.turns(turn.job).filter(({ id, state }) => id < turn.id && state === "failed");
  const list = failed.map(({ id, prompt }) => `turn ${id} (${commitTitle(prompt)})`).join(", ");
  if (failed.length > 0) log(`Turn ${turn.id} completed, but earlier turns of the job failed: ${list}.`);
}

/** Returns the last turn whose commit is on the branch: it says what the change is about. */
async function lastChangingTurn(turn: Turn, base: string, head: string, { store, repository }: TurnContext) {
  const commits = await repository.commits(base, head);
  const turns = store.turns(turn.job).filter((one) => commits.some(({ message }) => isCommitOf(one, message)));
  return turns.at(-1) ?? { ...turn, answer: null };
}

/** Returns whether the job's last pull request is merged, so that its branch is obsolete; `false` if its state cannot be read. */
async function isPullRequestMerged(job: StoredJob, { pullRequests, log }: TurnContext): Promise<boolean> {
  const { id, pullRequest: link, head } = job;
  if (link === null || head === null) return false;
  try {
    return (await pullRequests.stateOf({ link, branch: jobBranch(id), head })) === "merged";
  } catch (error) {
    log(`Cannot read the state of ${link}, treated as open: ${errorMessage(error)}`);
    return false;
  }
}

/** Returns the turn's commit if an earlier attempt pushed it to the job's branch. */
async function findPushedCommit(turn: Turn, checkout: Checkout, repository: Repository): Promise<string | undefined> {
  if (!checkout.isContinued) return undefined;
  const commits = await repository.commits(checkout.base, checkout.head);
  return commits.find(({ message }) => isCommitOf(turn, message))?.commit;
}

/** Pushes the turn's commit if the service was killed between committing and pushing. Returns what was pushed. */
async function pushUnpushedCommit(turn: Turn, checkout: Checkout, context: TurnContext): Promise<string | undefined> {
  const last = await context.repository.lastCommitOf(turn.job);
  if (last === undefined || last.parent !== checkout.head || !isCommitOf(turn, last.message)) return undefined;
  return pushCommit(last.commit, turn, checkout, context);
}

/**
 * Pushes the turn's commit and returns what is on the branch then. If the branch has moved, that is the commit of an
 * earlier attempt whose push arrived late, or the commit rebased onto what someone else pushed.
 */
async function pushCommit(commit: string, turn: Turn, checkout: Checkout, { repository }: TurnContext) {
  const { branch, head, remoteHead } = checkout;
  try {
    await repository.push(commit, branch, remoteHead, turn.job);
    return commit;
  } catch (error) {
    await repository.fetch();
    const newHead = await repository.branchHead(branch);
    const pushed =
      newHead && (await findPushedCommit(turn, { ...checkout, head: newHead, isContinued: true }, repository));
    if (pushed) return pushed;
    const rebased = newHead === undefined ? commit : await repository.rebase(commit, head, newHead);
    if (rebased === undefined || newHead === remoteHead) throw error;
    await repository.push(rebased, branch, newHead, turn.job);
    return rebased;
  }
}
