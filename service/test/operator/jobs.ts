import { setTimeout } from "node:timers/promises";
import { Client } from "../chaos/client.ts";
import { url } from "./machine.ts";

export const project = "docs";

/** How a job has to end. `lost`: it was created after the backup that was restored. */
export type Fate = "completed" | "failed" | "lost";

export interface Job {
  id: string;
  prompts: string[];
  fate: Fate;
  /** How often the agent may have run for a prompt. Default: once. */
  mayRun: number;
}

const longestWaitMs = 120_000;

/** Every job that a create was answered with. */
export class Jobs {
  key = "";
  readonly all: Job[] = [];
  readonly client = new Client([url], () => this.key);

  /** Creates a job, with retries of what was certainly not accepted. */
  async create(prompt: string): Promise<Job> {
    const submission = await this.client.create(project, prompt);
    if (submission.acceptance !== "accepted")
      throw new Error(`the create of "${prompt}" is ${submission.acceptance}: ${submission.reason}`);
    const job: Job = { id: submission.job.id, prompts: [prompt], fate: "completed", mayRun: 1 };
    this.all.push(job);
    return job;
  }

  async message(job: Job, prompt: string): Promise<void> {
    const submission = await this.client.message(project, job.id, prompt);
    if (submission.acceptance !== "accepted") throw new Error(`a message is ${submission.acceptance}`);
    job.prompts.push(prompt);
  }

  /** Waits until jobs are as they have to be at the end. */
  async settle(...jobs: readonly Job[]): Promise<void> {
    for (const { id, prompts, fate } of jobs) {
      let status = "";
      const end = performance.now() + longestWaitMs;
      while (status !== fate) {
        const last = await this.client.get(project, id);
        status = last?.status ?? "unknown";
        const isOver = status !== "active" && status !== "unknown" && status !== fate;
        if (isOver || performance.now() > end)
          throw new Error(`${id} "${prompts.at(-1)}" is ${status}, expected ${fate}`);
        await setTimeout(100);
      }
    }
  }
}
