import { randomUUID } from "node:crypto";
import type { Engine, JobRecord } from "./engine.ts";
import { branchOf, doTurn, type TurnPorts } from "./turn.ts";

export interface WorkingEngineOptions extends TurnPorts {
  /** What records give as the repository. */
  repositoryName: string;
  /** How many agents work at a time. */
  agents: number;
  /** Ends the agents that run; their turns are resumed by the next service. */
  signal: AbortSignal;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Is told in a line what happens. */
  log?: (line: string) => void;
}

/** Has agents do the work of jobs in a repository. Whatever happens to the service, no job stays at work for ever. */
export class WorkingEngine implements Engine {
  readonly #options: Required<WorkingEngineOptions>;
  readonly #running = new Set<Promise<void>>();

  constructor(options: WorkingEngineOptions) {
    this.#options = { now: Date.now, log: () => {}, ...options };
  }

  /** Takes up what an earlier service has left. */
  start(): void {
    for (const id of this.#options.store.recover()) this.#options.log(`${id}: was interrupted, and is taken up again`);
    this.#work();
  }

  /** Is fulfilled once the signal has ended all work. */
  async stopped(): Promise<void> {
    await Promise.all(this.#running);
  }

  create(projectId: string, prompt: string): JobRecord {
    const id = `job_${randomUUID()}`;
    this.#options.store.addJob({ id, project: projectId, createdAt: this.#options.now() }, prompt);
    this.#work();
    return this.#describe(id);
  }

  message(projectId: string, jobId: string, prompt: string): JobRecord | undefined {
    if (this.#options.store.job(jobId)?.project !== projectId) return undefined;
    this.#options.store.addTurn(jobId, prompt);
    this.#work();
    return this.#describe(jobId);
  }

  get(projectId: string, jobId: string): JobRecord | undefined {
    return this.#options.store.job(jobId)?.project === projectId ? this.#describe(jobId) : undefined;
  }

  #describe(jobId: string): JobRecord {
    const { store, repositoryName, agent } = this.#options;
    const job = store.job(jobId);
    if (!job) throw new Error(`there is no job ${jobId}`);
    const state = store.stateOf(jobId);
    const { archivedAt } = job;
    return {
      id: job.id,
      status: archivedAt === null ? state : "archived",
      source: { repository: repositoryName, ref: branchOf(job.id) },
      model: agent.model,
      prLink: state === "active" ? null : job.pullRequest,
      createdAt: new Date(job.createdAt).toISOString(),
      archivedAt: archivedAt === null ? null : new Date(archivedAt).toISOString(),
    };
  }

  #work(): void {
    const { store, agents, log, now, signal } = this.#options;
    while (this.#running.size < agents && !signal.aborted) {
      const turn = store.beginTurn();
      const job = turn && store.job(turn.job);
      if (!turn || !job) return;
      log(`${job.id}: turn ${turn.id} has begun`);
      const work = doTurn(turn, job, this.#options, signal)
        .catch((error: unknown) => {
          log(`${job.id}: ${String(error)}`);
          return "failed" as const;
        })
        .then((end) => {
          log(`${job.id}: turn ${turn.id} has ${end === "stopped" ? "been stopped" : end}`);
          // A store that cannot be written ends the service: the next one begins from what was written last.
          if (end === "stopped") store.putBack(turn);
          else store.endTurn(turn.id, end, now());
        })
        .finally(() => {
          this.#running.delete(work);
          this.#work();
        });
      this.#running.add(work);
    }
  }
}
