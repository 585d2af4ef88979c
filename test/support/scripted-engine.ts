import { randomUUID } from "node:crypto";
import type { Engine, JobRecord } from "../../src/service/jobs/engine.ts";

/** How one piece of work goes: that of the create, or that of one message. */
export interface Script {
  /** How long the job is active, in milliseconds. Default: 0. */
  durationMs?: number;
  /** How the work ends. Default: `pull-request`. */
  result?: "pull-request" | "no-changes" | "failed" | "archived";
  /** How long the record still shows the state from before a message, in milliseconds. Default: 0. */
  lagMs?: number;
}

interface Work {
  script: Script;
  acceptedAt: number;
}

interface ScriptedJob {
  id: string;
  number: number;
  createdAt: number;
  works: Work[];
}

export interface ScriptedEngineOptions {
  /** The script of a job's `round`-th work, 0 for the create; by default each ends at once with a pull request. */
  script?: (prompt: string, round: number) => Script;
  /** Milliseconds since 1970. */
  now?: () => number;
  repository?: string;
  newId?: () => string;
}

/** Plays scripts instead of doing work. What a job shows follows from the time alone, so there is no timer to stop. */
export class ScriptedEngine implements Engine {
  /** Every prompt taken, in order. */
  readonly prompts: string[] = [];
  readonly #projects = new Map<string, Map<string, ScriptedJob>>();
  readonly #options: Required<ScriptedEngineOptions>;
  #jobs = 0;

  constructor(options: ScriptedEngineOptions = {}) {
    this.#options = {
      script: () => ({}),
      now: Date.now,
      repository: "https://github.com/example/docs",
      newId: () => `job_${randomUUID()}`,
      ...options,
    };
  }

  create(projectId: string, prompt: string): JobRecord {
    const createdAt = this.#options.now();
    const job = { id: this.#options.newId(), number: ++this.#jobs, createdAt, works: [] };
    const jobs = this.#projects.get(projectId) ?? new Map<string, ScriptedJob>();
    this.#projects.set(projectId, jobs.set(job.id, job));
    return this.#take(job, prompt);
  }

  message(projectId: string, jobId: string, prompt: string): JobRecord | undefined {
    const job = this.#projects.get(projectId)?.get(jobId);
    return job && this.#take(job, prompt);
  }

  get(projectId: string, jobId: string): JobRecord | undefined {
    const job = this.#projects.get(projectId)?.get(jobId);
    return job && this.#describe(job);
  }

  #take(job: ScriptedJob, prompt: string): JobRecord {
    this.prompts.push(prompt);
    job.works.push({ script: this.#options.script(prompt, job.works.length), acceptedAt: this.#options.now() });
    return this.#describe(job);
  }

  #describe(job: ScriptedJob): JobRecord {
    const { now, repository } = this.#options;
    const at = now();
    const begun = job.works.filter(({ script, acceptedAt }) => acceptedAt + (script.lagMs ?? 0) <= at);
    const ended = begun.filter((work) => endOf(work) <= at);
    const last = begun.at(-1);
    const isActive = last === undefined || endOf(last) > at;
    const result = isActive ? undefined : (last.script.result ?? "pull-request");
    const hasPullRequest = ended.some(({ script }) => (script.result ?? "pull-request") === "pull-request");
    return {
      id: job.id,
      status: isActive ? "active" : result === "failed" || result === "archived" ? result : "completed",
      source: { repository, ref: `agent/${job.number}` },
      model: "scripted",
      prLink: !isActive && hasPullRequest ? `${repository}/pull/${job.number}` : null,
      createdAt: new Date(job.createdAt).toISOString(),
      archivedAt: result === "archived" ? new Date(endOf(last as Work)).toISOString() : null,
    };
  }
}

function endOf({ script, acceptedAt }: Work): number {
  return acceptedAt + (script.lagMs ?? 0) + (script.durationMs ?? 0);
}
