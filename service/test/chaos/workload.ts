import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import { changeOf } from "./agent.ts";
import type { Client, Submission } from "./client.ts";
import type { Random } from "./random.ts";

/** A create or a message, and what its client was told. */
export interface Sent {
  prompt: string;
  submission: Submission;
  /** When its client was told, in milliseconds since 1970. */
  at: number;
}

/** A job as its client sees it. */
export interface SentJob {
  project: string;
  /** `undefined` unless the create was accepted. */
  id: string | undefined;
  /** The create, and then the messages in their order, each sent after the one before was answered. */
  sent: Sent[];
}

export interface Workload {
  /** One for each create, also for those that were not accepted. */
  jobs: SentJob[];
  /** What the API must not have answered to a poll of a job. */
  wrongPolls: { job: string; text: string }[];
  /** The jobs that a poll has shown as completed without a pull request, with those prompts by then that always change something. */
  emptyJobs: Map<string, readonly string[]>;
  polls: number;
}

export interface WorkloadOptions {
  client: Client;
  random: Random;
  projects: readonly string[];
  /** How many jobs are created. */
  jobs: number;
  /** In which time, evenly. */
  durationMs: number;
}

const sendingAtOnce = 60;
const shareWithMessages = 0.2;
const mostMessages = 2;
const longestThoughtMs = 20_000;
const pollEveryMs = 250;

/** Creates jobs, sends messages to some of them, and polls them meanwhile. Returns when all was answered. */
export async function runWorkload(options: WorkloadOptions): Promise<Workload> {
  const { random, projects, jobs: count, durationMs } = options;
  const workload: Workload = { jobs: [], wrongPolls: [], emptyJobs: new Map(), polls: 0 };
  const limit = pLimit(sendingAtOnce);
  const startedAt = performance.now();
  const polling = new AbortController();
  const polled = poll(workload, options, polling.signal);
  const clients: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const job: SentJob = { project: projects[index % projects.length] ?? "", id: undefined, sent: [] };
    workload.jobs.push(job);
    const messages = random.next() < shareWithMessages ? Math.ceil(random.between(0, mostMessages)) : 0;
    const turns = Array.from({ length: messages + 1 }, (_, turn) => ({
      // The last digit decides what the agent does.
      prompt: `job ${index} turn ${turn} variant ${Math.floor(random.between(0, 10))}`,
      pauseMs: random.between(0, longestThoughtMs),
    }));
    clients.push(limit(() => runClient(job, turns, options.client)));
    await setTimeout(Math.max(0, startedAt + ((index + 1) * durationMs) / count - performance.now()));
  }
  await Promise.all(clients);
  polling.abort();
  await polled;
  return workload;
}

async function runClient(job: SentJob, turns: readonly { prompt: string; pauseMs: number }[], client: Client) {
  for (const { prompt, pauseMs } of turns) {
    if (job.sent.length > 0) await setTimeout(pauseMs);
    const submission =
      job.id === undefined
        ? await client.create(job.project, prompt)
        : await client.message(job.project, job.id, prompt);
    job.sent.push({ prompt, submission, at: Date.now() });
    if (submission.acceptance === "accepted") job.id = submission.job.id;
    // Without its id, the job cannot be found again.
    if (job.id === undefined) return;
  }
}

async function poll(workload: Workload, { client, random }: WorkloadOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await setTimeout(pollEveryMs, undefined, { signal }).catch(() => {});
    const known = workload.jobs.filter(({ id }) => id !== undefined);
    if (known.length === 0) continue;
    const { project, id = "", sent } = random.pick(known);
    try {
      const job = await client.get(project, id);
      workload.polls++;
      if (job?.status === "active" && job.prLink !== null) throw new Error(`${id} is active and has a pull request`);
      const changing = sent.flatMap(({ prompt }) => (changeOf(prompt) === "always" ? prompt : []));
      if (job?.status === "completed" && job.prLink === null && changing.length > 0)
        workload.emptyJobs.set(id, changing);
    } catch (error) {
      workload.wrongPolls.push({ job: id, text: (error as Error).message });
    }
  }
}
