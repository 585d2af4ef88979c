import { appendFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { PullRequests } from "../pulls/pull-requests.ts";
import type { Store, StoredJob, Turn } from "../store.ts";
import { type AgentProgram, runAgent } from "./agent.ts";
import type { Repository } from "./repository.ts";

/** All that a turn is done with. */
export interface Workshop {
  store: Store;
  repository: Repository;
  pullRequests: PullRequests;
  agent: AgentProgram;
  /** Of the service's own: for working trees and logs. */
  folder: string;
  timeLimitMs: number;
}

/** The branch of a job; its id is the service's own, and holds nothing that a ref may not. */
export const branchOf = (jobId: string): string => `agent/${jobId}`;

/** Where a job's log is: what the agent printed, and what the service has to say of it. */
export const logFileOf = (folder: string, jobId: string): string => join(folder, "logs", `${jobId}.log`);

/**
 * Does one turn, from a working tree to the pull request; `stopped` where `signal` ended it, to be done again. A turn that
 * was interrupted behind its push is not done twice: its commit says which one it was.
 */
export async function doTurn(
  turn: Turn,
  job: StoredJob,
  { store, repository, pullRequests, agent, folder, timeLimitMs }: Workshop,
  signal: AbortSignal,
): Promise<"completed" | "failed" | "stopped"> {
  const branch = branchOf(job.id);
  const logFile = logFileOf(folder, job.id);
  const runFolder = join(folder, "runs", `${turn.id}-${turn.attempts}`);
  const note = (text: string): void => appendFileSync(logFile, `[service] ${text}\n`);
  await mkdir(runFolder, { recursive: true });
  await mkdir(join(folder, "logs"), { recursive: true });
  try {
    note(`Turn ${turn.id}, attempt ${turn.attempts}.`);
    const checkout = await repository.checkOut(branch, join(runFolder, "tree"));
    const done = checkout.isContinued ? await repository.messages(checkout.base, checkout.head) : [];
    let head = done.find(({ message }) => message.includes(trailer(turn)))?.commit;
    if (head === undefined) {
      const { prompt } = turn;
      const run = { prompt, jobId: job.id, tree: checkout.tree, folder: runFolder, logFile, timeLimitMs, signal };
      const end = await runAgent(agent, run);
      note(`The agent has ended: ${end}.`);
      if (end === "stopped") return "stopped";
      if (end !== "completed") return "failed";
      head = await repository.commit(checkout, `${titleOf(prompt)}\n\n${trailer(turn)}\nAgent-Job: ${job.id}\n`);
      if (head === undefined) {
        note("No file was changed.");
        return "completed";
      }
      await repository.push(checkout.tree, head, branch, job.id);
    }
    const { base, target, isContinued } = checkout;
    const continues = isContinued ? job.pullRequest : null;
    const change = { jobId: job.id, title: titleOf(turn.prompt), prompt: turn.prompt, branch, target, base, head };
    const link = await pullRequests.open({ ...change, continues });
    store.setPullRequest(job.id, link, head);
    note(`The pull request is ${link}.`);
    return "completed";
  } catch (error) {
    note(`The turn has failed: ${error instanceof Error ? error.message : String(error)}`);
    return signal.aborted ? "stopped" : "failed";
  } finally {
    await rm(runFolder, { recursive: true, force: true });
  }
}

const trailer = (turn: Turn): string => `Agent-Turn: ${turn.id}`;

const longestTitle = 72;

/** The first line of a prompt, as the title of a commit. */
export function titleOf(prompt: string): string {
  const line = prompt
    .split(/[\r\n\u2028\u2029]/)
    .map((one) => one.replace(/[\p{Cc}\p{Cf}]/gu, "").trim())
    .find((one) => one !== "");
  const characters = [...(line ?? "Change the documentation")];
  if (characters.length <= longestTitle) return characters.join("");
  const cut = characters.slice(0, longestTitle - 1).join("");
  return `${cut.replace(/\s+\S*$/, "")}…`;
}
