import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { shellAgent } from "../../src/agents/agent.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import type { JobRecord } from "../../src/model.ts";
import { PerProject } from "../../src/per-project.ts";
import { startService } from "../../src/start/service.ts";

export interface HostileTrees {
  /** How many trees. */
  count: number;
  /** The first tree's seed. The others have the next ones. */
  seed: number;
  /** The limit of an agent and the commit of its tree, in milliseconds. The service gives the commit a tenth more. Default: 4000. */
  timeLimitMs?: number;
  /** For the service. It exists. */
  folder: string;
  log: (line: string) => void;
}

export interface HostileTreesResult {
  /** What is wrong, with the seed of the tree. Empty if nothing is. */
  wrong: string[];
  completed: number;
  failed: number;
  /** The slowest answer of the service, in milliseconds. */
  slowestAnswerMs: number;
  slowestTurnMs: number;
}

const key = "mint_key_of_no_value";
/** How much longer than its time limits a turn may take on a busy machine. */
const restMs = 15_000;
const longestAnswerMs = 3000;
/** A project may get 100 jobs in an hour. */
const treesPerProject = 90;
/** Between two questions whether the service still answers. */
const pauseMs = 50;

/**
 * Runs turns whose agents leave hostile trees: each has to end within its limit, whatever Git does with its tree, and the service
 * has to answer all the while. Every third job gets a message, so that a turn begins on a tree that was left.
 */
export async function runHostileTrees({
  count,
  seed,
  timeLimitMs = 4000,
  folder,
  log,
}: HostileTrees): Promise<HostileTreesResult> {
  using docs = new DocsRepository();
  const plant = join(import.meta.dirname, "plant.ts");
  const agent = {
    ...shellAgent(""),
    model: "plant",
    command: () => ({ file: process.execPath, args: [plant] }),
    // As one in a sandbox: so worktrees are kept for the next turn.
    isTrusted: true,
  };
  await using service = await startService({
    settings: PerProject.same({
      repository: docs.path,
      agent,
      sandbox: unconfined,
      timeLimitMs,
      largestChangeBytes: 50_000_000,
    }),
    apiKey: key,
    projects: Array.from({ length: Math.ceil(count / treesPerProject) }, (_, index) => `docs${index}`),
    folder,
    agents: 2,
  });
  const result: HostileTreesResult = { wrong: [], completed: 0, failed: 0, slowestAnswerMs: 0, slowestTurnMs: 0 };
  const projectOf = (tree: number): string => `docs${Math.floor((tree - seed) / treesPerProject)}`;
  const ask = async (path: string, prompt?: string): Promise<JobRecord> => {
    const startedAt = performance.now();
    const response = await fetch(`${service.url}/v2/agent/${path}`, {
      method: prompt === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(prompt !== undefined && { body: JSON.stringify({ prompt }) }),
    });
    const body = (await response.json()) as JobRecord;
    const tookMs = performance.now() - startedAt;
    result.slowestAnswerMs = Math.max(result.slowestAnswerMs, tookMs);
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    if (tookMs > longestAnswerMs) result.wrong.push(`${path} was answered after ${Math.round(tookMs)} ms`);
    return body;
  };
  const waitFor = async (job: string, tree: number): Promise<void> => {
    const startedAt = performance.now();
    for (;;) {
      await setTimeout(pauseMs);
      const { status } = await ask(job);
      const tookMs = performance.now() - startedAt;
      if (status !== "active") {
        result.slowestTurnMs = Math.max(result.slowestTurnMs, tookMs);
        if (status === "completed") result.completed++;
        else result.failed++;
        return;
      }
      if (tookMs > timeLimitMs * 1.1 + restMs) {
        result.wrong.push(`the turn with the tree ${tree} has not ended after ${Math.round(tookMs)} ms`);
        return;
      }
    }
  };
  let next = seed;
  const runTrees = async (): Promise<void> => {
    while (next < seed + count) {
      const tree = next++;
      const { id } = await ask(`${projectOf(tree)}/job`, String(tree));
      const job = `${projectOf(tree)}/job/${id}`;
      await waitFor(job, tree);
      if (tree % 3 === 0 && next < seed + count) {
        const message = next++;
        await ask(`${job}/message`, String(message));
        await waitFor(job, message);
      }
      if ((next - seed) % 50 === 0) log(`${next - seed} trees`);
    }
  };
  // As many as there are agents, so that no turn waits for another one.
  await Promise.all([runTrees(), runTrees()]);
  return result;
}

/** Removes a folder of the service. */
export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
