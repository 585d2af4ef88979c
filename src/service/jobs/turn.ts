import { appendFileSync, existsSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { AgentProgram } from "../agents/agent-program.ts";
import { runAgent } from "../agents/run-agent.ts";
import type { Checkout, Repository } from "../git/repository.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import { removeDirectory } from "../remove-directory.ts";
import { titleOf } from "./commit-title.ts";
import type { Store, StoredJob, Turn } from "./store.ts";

/** All that a turn is done with. */
export interface TurnPorts {
  store: Store;
  repository: Repository;
  pullRequests: PullRequests;
  agent: AgentProgram;
  /** Of the service's own: for working trees and logs. */
  folder: string;
  timeLimitMs: number;
}

/** An agent that was interrupted is run once more, and then no more, since it may be what ends the service. */
const mostAttempts = 2;

/** The branch of a job; its id is the service's own, and holds nothing that a ref may not. */
export const branchOf = (jobId: string): string => `agent/${jobId}`;

/** Where the logs of jobs are: what agents printed, and what the service has to say of it. */
export const logsFolderOf = (folder: string): string => join(folder, "logs");

/** Where working trees are: nothing in it is of use once its service has ended. */
export const runsFolderOf = (folder: string): string => join(folder, "runs");

/**
 * Does one turn, from a working tree to the pull request; `stopped` where `signal` ended it, to be done again. A turn that
 * was interrupted behind its push is not done twice: its commit says which one it was.
 */
export async function doTurn(
  turn: Turn,
  job: StoredJob,
  ports: TurnPorts,
  signal: AbortSignal,
): Promise<"completed" | "failed" | "stopped"> {
  const { folder } = ports;
  const logFile = join(logsFolderOf(folder), `${job.id}.log`);
  const note = (text: string): void => {
    try {
      appendFileSync(logFile, `${text.trim().replace(/^/gm, "[service] ")}\n`);
    } catch {
      // A job is worth more than its log.
    }
  };
  let runFolder: string | undefined;
  try {
    await mkdir(logsFolderOf(folder), { recursive: true });
    await mkdir(runsFolderOf(folder), { recursive: true });
    // A name of its own, since that of an earlier attempt may not have been removable.
    runFolder = await mkdtemp(join(runsFolderOf(folder), `${turn.id}-`));
    return await work(turn, job, { ...ports, runFolder, logFile, note }, signal);
  } catch (error) {
    if (signal.aborted) return "stopped";
    note(`The turn has failed: ${error instanceof Error ? error.message : String(error)}`);
    return "failed";
  } finally {
    if (runFolder !== undefined)
      await removeDirectory(runFolder).catch((error: unknown) =>
        note(`The working tree is left behind: ${String(error)}`),
      );
  }
}

interface Attempt extends TurnPorts {
  /** Of this attempt alone. */
  runFolder: string;
  logFile: string;
  note: (text: string) => void;
}

async function work(turn: Turn, job: StoredJob, attempt: Attempt, signal: AbortSignal) {
  const { store, repository, pullRequests, runFolder, note } = attempt;
  const branch = branchOf(job.id);
  note(`Turn ${turn.id} begins.`);
  const isAnew = await isMerged(job, attempt);
  const checkout = await repository.checkOut(branch, join(runFolder, "tree"), isAnew);
  let head = await findDone(turn, checkout, repository);
  // The agent may have done its work, and the service have been killed while that was pushed.
  const kept = head === undefined ? await repository.lastCommitOf(job.id) : undefined;
  if (kept && kept.parent === checkout.head && isOf(turn, kept.message))
    head = await pushOrFind(kept.commit, turn, checkout, attempt);
  if (head === undefined) {
    if (turn.attempts >= mostAttempts) {
      note(`The agent was interrupted ${turn.attempts} times, and is not run again.`);
      return "failed";
    }
    store.countAttempt(turn.id);
    const { logFile, agent, timeLimitMs } = attempt;
    const run = {
      prompt: turn.prompt,
      jobId: job.id,
      worktree: checkout.worktree,
      folder: runFolder,
      logFile,
      timeLimitMs,
      signal,
    };
    const end = await runAgent(agent, run);
    note(end === "timed-out" ? `The agent was ended after ${timeLimitMs / 1000} s.` : `The agent has ended: ${end}.`);
    if (end === "stopped") return "stopped";
    if (end !== "completed") return "failed";
    if (!existsSync(checkout.worktree)) throw new Error("the agent has removed its working tree");
    const message = `${titleOf(turn.prompt)}\n\n${trailersOf(turn).join("\n")}\n`;
    const made = await repository.commit(checkout, message, join(runFolder, "index"));
    if (made === undefined) note("No file was changed.");
    else head = await pushOrFind(made, turn, checkout, attempt);
  }
  // Also where an earlier turn was pushed, but could not be offered.
  head ??= checkout.isContinued && job.pullRequest === null ? checkout.head : undefined;
  if (head === undefined) return "completed";

  const { base, targetBranch: target, isContinued } = checkout;
  const continues = isContinued ? job.pullRequest : null;
  const change = { jobId: job.id, title: titleOf(turn.prompt), prompt: turn.prompt, branch, target, base, head };
  const link = await pullRequests.open({ ...change, continues });
  store.setPullRequest(job.id, link, head);
  note(`The pull request is ${link}.`);
  return "completed";
}

/** Whether the job's last pull request is merged: then its branch is of the past. Where that is not known, it goes on. */
async function isMerged({ id, pullRequest: link, head }: StoredJob, { pullRequests, note }: Attempt): Promise<boolean> {
  if (link === null || head === null) return false;
  try {
    return (await pullRequests.stateOf({ link, branch: branchOf(id), head })) === "merged";
  } catch (error) {
    note(`Whether ${link} is merged is not known: ${String(error)}`);
    return false;
  }
}

/**
 * Pushes the commit of the turn. Where that is refused, since the branch has moved: the one that an earlier attempt has
 * pushed meanwhile, or the commit on top of what somebody else has pushed.
 */
async function pushOrFind(commit: string, turn: Turn, checkout: Checkout, { repository }: Attempt): Promise<string> {
  const branch = branchOf(turn.job);
  try {
    await repository.push(commit, branch, checkout.remoteHead, turn.job);
    return commit;
  } catch (error) {
    await repository.fetch();
    const tip = await repository.branchHead(branch);
    const done = tip && (await findDone(turn, { ...checkout, head: tip, isContinued: true }, repository));
    if (done) return done;
    const moved = tip === undefined ? commit : await repository.rebase(commit, checkout.head, tip);
    if (moved === undefined || tip === checkout.remoteHead) throw error;
    await repository.push(moved, branch, tip, turn.job);
    return moved;
  }
}

async function findDone(turn: Turn, checkout: Checkout, repository: Repository): Promise<string | undefined> {
  if (!checkout.isContinued) return undefined;
  const commits = await repository.commits(checkout.base, checkout.head);
  return commits.find(({ message }) => isOf(turn, message))?.commit;
}

function isOf(turn: Turn, message: string): boolean {
  const lines = message.trimEnd().split("\n").slice(1);
  return trailersOf(turn).every((trailer) => lines.includes(trailer));
}

const trailersOf = (turn: Turn): string[] => [`Agent-Turn: ${turn.id}`, `Agent-Job: ${turn.job}`];
