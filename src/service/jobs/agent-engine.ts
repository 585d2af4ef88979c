import { randomUUID } from "node:crypto";
import { errorStack } from "../error-message.ts";
import type { Engine, JobRecord, RateLimited } from "./engine.ts";
import { jobBranch } from "./job-files.ts";
import { runTurn, type TurnPorts } from "./turn.ts";

export interface AgentEngineOptions extends TurnPorts {
  /** Shown as `source.repository` in job records. */
  repositoryName: string;
  /** How many agents run at a time. */
  agents: number;
  /** Stops the running agents. The next service on the same store resumes their turns. */
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Runs jobs with agents that change a repository. No job stays active forever, even if the service is killed. */
export class AgentEngine implements Engine {
  readonly #options: AgentEngineOptions;
  readonly #running = new Set<Promise<void>>();

  constructor(options: AgentEngineOptions) {
    this.#options = options;
  }

  /** Starts processing turns, first those that a previous service left unfinished. */
  start(): void {
    const { store, log } = this.#options;
    for (const id of store.requeueInterruptedTurns()) log(`${id}: interrupted earlier, resuming`);
    this.#startTurns();
  }

  /** Waits until no turn is running. New turns start unless the signal has aborted. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
  }

  async create(projectId: string, prompt: string): Promise<JobRecord | RateLimited> {
    const id = `job_${randomUUID()}`;
    const limited = this.#options.store.addJob({ id, project: projectId, createdAt: Date.now() }, prompt);
    if (limited !== undefined) return limited;
    this.#startTurns();
    return this.#record(id);
  }

  async message(projectId: string, jobId: string, prompt: string): Promise<JobRecord | RateLimited | undefined> {
    if (this.#options.store.job(jobId)?.project !== projectId) return undefined;
    const limited = this.#options.store.addTurn(jobId, prompt, Date.now());
    if (limited !== undefined) return limited;
    this.#startTurns();
    return this.#record(jobId);
  }

  async get(projectId: string, jobId: string): Promise<JobRecord | undefined> {
    return this.#options.store.job(jobId)?.project === projectId ? this.#record(jobId) : undefined;
  }

  #record(jobId: string): JobRecord {
    const { store, repositoryName, agent } = this.#options;
    const job = store.job(jobId);
    if (!job) throw new Error(`no job ${jobId}`);
    const state = store.stateOf(jobId);
    const { archivedAt } = job;
    return {
      id: job.id,
      status: archivedAt === null ? state : "archived",
      source: { repository: repositoryName, ref: jobBranch(job.id) },
      model: agent.model,
      prLink: state === "active" ? null : job.pullRequest,
      createdAt: new Date(job.createdAt).toISOString(),
      archivedAt: archivedAt === null ? null : new Date(archivedAt).toISOString(),
    };
  }

  #startTurns(): void {
    const { store, agents, log, signal } = this.#options;
    while (this.#running.size < agents && !signal.aborted) {
      const turn = store.startNextTurn();
      const job = turn && store.job(turn.job);
      if (!turn || !job) return;
      log(`${job.id}: turn ${turn.id} started`);
      const running = runTurn(turn, job, this.#options, signal)
        .catch((error: unknown) => {
          log(`${job.id}: ${errorStack(error)}`);
          return "failed" as const;
        })
        .then((result) => {
          log(`${job.id}: turn ${turn.id} ${result}`);
          // Not caught: if the store cannot be written, the service exits, and the next one resumes from what was stored.
          if (result === "stopped") store.requeueTurn(turn);
          else store.finishTurn(turn.id, result, Date.now());
        })
        .finally(() => {
          this.#running.delete(running);
          this.#startTurns();
        });
      this.#running.add(running);
    }
  }
}
