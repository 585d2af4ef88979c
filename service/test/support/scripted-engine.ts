import { randomUUID } from "node:crypto";
import type { Jobs } from "../../src/jobs/jobs.ts";
import type { JobRecord, RateLimited } from "../../src/model.ts";
import { hourlyLimit } from "../../src/store/hourly-limit.ts";
import { hourMs } from "../../src/time.ts";
import { SlidingWindow } from "./sliding-window.ts";

/** How a turn goes. */
export interface Script {
  /** How long the turn takes, in milliseconds. Default: 0. */
  durationMs?: number;
  /** Default: `pull-request`. */
  result?: "pull-request" | "no-changes" | "failed" | "archived";
  /** How long the record still shows the state from before the message, in milliseconds. Default: 0. */
  lagMs?: number;
}

interface Turn {
  script: Script;
  acceptedAt: number;
}

interface ScriptedJob {
  id: string;
  number: number;
  createdAt: number;
  turns: Turn[];
}

export interface ScriptedEngineOptions {
  /** Returns the script of a job's turn; turn 0 is the create. Default: each turn opens a pull request at once. */
  script?: (prompt: string, turn: number) => Script;
  /** Milliseconds since 1970. */
  now?: () => number;
  repository?: string;
  newId?: () => string;
}

/** Plays scripts instead of running agents, with the hourly limits of the service. A job's record is computed from the time, so there are no timers to stop. */
export class ScriptedEngine implements Pick<Jobs, "create" | "message" | "get"> {
  /** Every accepted prompt, in order. */
  readonly prompts: string[] = [];
  readonly #projects = new Map<string, Map<string, ScriptedJob>>();
  readonly #options: Required<ScriptedEngineOptions>;
  readonly #creates = new SlidingWindow(hourlyLimit, hourMs);
  readonly #messages = new SlidingWindow(hourlyLimit, hourMs);
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

  async create(projectId: string, prompt: string): Promise<JobRecord | RateLimited> {
    const createdAt = this.#options.now();
    const retryAfterMs = this.#creates.use(projectId, createdAt);
    if (retryAfterMs !== undefined) return { retryAfterMs };
    const job = { id: this.#options.newId(), number: ++this.#jobs, createdAt, turns: [] };
    const jobs = this.#projects.get(projectId) ?? new Map<string, ScriptedJob>();
    this.#projects.set(projectId, jobs.set(job.id, job));
    return this.#addTurn(job, prompt);
  }

  async message(projectId: string, jobId: string, prompt: string): Promise<JobRecord | RateLimited | undefined> {
    const job = this.#projects.get(projectId)?.get(jobId);
    if (job === undefined) return undefined;
    const retryAfterMs = this.#messages.use(projectId, this.#options.now());
    return retryAfterMs === undefined ? this.#addTurn(job, prompt) : { retryAfterMs };
  }

  async get(projectId: string, jobId: string): Promise<JobRecord | undefined> {
    const job = this.#projects.get(projectId)?.get(jobId);
    return job && this.#record(job);
  }

  #addTurn(job: ScriptedJob, prompt: string): JobRecord {
    this.prompts.push(prompt);
    job.turns.push({ script: this.#options.script(prompt, job.turns.length), acceptedAt: this.#options.now() });
    return this.#record(job);
  }

  #record(job: ScriptedJob): JobRecord {
    const { now, repository } = this.#options;
    const at = now();
    const visible = job.turns.filter(({ script, acceptedAt }) => acceptedAt + (script.lagMs ?? 0) <= at);
    const ended = visible.filter((turn) => endOf(turn) <= at);
    const last = visible.at(-1);
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
      archivedAt: result === "archived" ? new Date(endOf(last as Turn)).toISOString() : null,
    };
  }
}

function endOf({ script, acceptedAt }: Turn): number {
  return acceptedAt + (script.lagMs ?? 0) + (script.durationMs ?? 0);
}
