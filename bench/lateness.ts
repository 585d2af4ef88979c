import { inputDefaults } from "../src/action/inputs/schema.ts";
import { nextPollDelayMs, type PollIntervals } from "../src/client/poll-schedule.ts";
import { waitForJob } from "../src/client/wait.ts";
import { FakeClock } from "../test/support/fake-clock.ts";
import { jobLengths, minProduct } from "./job-lengths.ts";
import { mean, quantile, seededRandom } from "./statistics.ts";

/** Returns the delay before the next poll, in milliseconds. */
type Schedule = (waitedMs: number, polls: number, random: () => number) => number;

/** The lateness and the load of a schedule, over many jobs. */
export interface LatenessRow {
  name: string;
  /** Mean per job: the create and the polls. */
  requests: number;
  /** From the end of a job to the poll that detects it, in seconds. */
  meanLateness: number;
  lateness95: number;
  /** Lateness as a share of the job's length. */
  meanShare: number;
  share95: number;
  /** Mean lateness × mean polls, relative to the lower bound. */
  overBound: number;
  /** The most polls in a second if 1,000 jobs start at once. */
  peakPerSecond: number;
}

/** From the defaults of the action's inputs. */
const intervals: PollIntervals = {
  minMs: Number(inputDefaults["poll-interval-seconds"]) * 1000,
  maxMs: Number(inputDefaults["max-poll-interval-seconds"]) * 1000,
};

/** The schedules of similar actions. */
const others: readonly { name: string; schedule: Schedule }[] = [
  ...[5, 10, 15, 30, 60].map((seconds) => ({ name: `every ${seconds} s`, schedule: () => seconds * 1000 })),
  { name: "doubling from 1 s to 30 s", schedule: (_waited, polls) => Math.min(1000 * 2 ** polls, 30_000) },
];

/** Other schedules that are as simple as ours, each with our jitter. */
const candidates: readonly { name: string; schedule: Schedule }[] = [
  ...[0.05, 0.08, 0.1, 0.12, 0.15, 0.2].flatMap((share) =>
    [2, 3, 5, 8, 10].flatMap((min) =>
      [10, 15, 20, 30, 60]
        .filter((max) => max >= min && !(share === 0.1 && min === 5 && max === 15))
        .map((max) => ({
          name: `${share * 100} % of the time waited, ${min} to ${max} s`,
          schedule: jittered((waitedMs) => clamp(waitedMs * share, min, max)),
        })),
    ),
  ),
  ...[0.6, 0.8, 0.9, 1, 1.2, 1.5].flatMap((factor) =>
    [3, 5, 8].flatMap((min) =>
      [15, 20, 30, 60].map((max) => ({
        name: `${factor} × √(seconds waited), ${min} to ${max} s`,
        schedule: jittered((waitedMs) => clamp(factor * Math.sqrt(waitedMs / 1000) * 1000, min, max)),
      })),
    ),
  ),
  ...[10, 15, 20, 30].flatMap((first) =>
    [10, 15, 20].map((max) => ({
      name: `first after ${first} s, then 10 % of the time waited, 5 to ${max} s`,
      schedule: jittered((waitedMs, polls) => (polls === 0 ? first * 1000 : clamp(waitedMs * 0.1, 5, max))),
    })),
  ),
];

function clamp(ms: number, minSeconds: number, maxSeconds: number): number {
  return Math.min(Math.max(ms, minSeconds * 1000), maxSeconds * 1000);
}

function jittered(base: (waitedMs: number, polls: number) => number): Schedule {
  // Equal intervals leave only the action's own jitter around the delay.
  return (waitedMs, polls, random) => {
    const ms = base(waitedMs, polls);
    return nextPollDelayMs(waitedMs, polls === 0, { minMs: ms, maxMs: ms }, random());
  };
}

export interface LatenessResult {
  /** The lower bound of mean lateness × mean polls, in seconds. */
  bound: number;
  jobs: number;
  ours: LatenessRow;
  /** Ours with a service that holds polls until the job ends. */
  held: LatenessRow;
  others: LatenessRow[];
  candidates: LatenessRow[];
}

/** Measures lateness and load of our schedule, of similar actions and of the candidates. */
export async function measureLateness(jobs: number): Promise<LatenessResult> {
  const lengths = jobLengths(jobs);
  const bound = minProduct();
  const row = (name: string, polls: number[][]) => describe(name, lengths, polls, bound);
  const simulated = ({ name, schedule }: { name: string; schedule: Schedule }) =>
    row(name, simulate(lengths, schedule));
  return {
    bound,
    jobs,
    ours: row("this action", await pollTimes(lengths, false)),
    held: row("this action, with a service that holds polls", await pollTimes(lengths, true)),
    others: others.map(simulated),
    candidates: candidates.map(simulated),
  };
}

const emptyFields = { model: "", repository: "", ref: "", prLink: "", createdAt: "", archivedAt: "", base: "" };

/**
 * Returns the times at which each job's polls are answered, in seconds, from the action's own code with a fake clock.
 *
 * @param isHolding - whether the service holds a poll until the job ends, for as long as it is asked to
 */
async function pollTimes(lengths: readonly number[], isHolding: boolean): Promise<number[][]> {
  const random = seededRandom(1);
  const signal = new AbortController().signal;
  const result: number[][] = [];
  for (const length of lengths) {
    const clock = new FakeClock(0);
    const polls: number[] = [];
    const job = (status: "active" | "completed") => ({ ...emptyFields, id: "job", status });
    const client = {
      getJob: async (_id: string, _limits: unknown, holdSeconds = 0) => {
        const leftMs = Math.max(0, length * 1000 - clock.now());
        const sentAt = clock.now();
        const heldMs = isHolding ? Math.min(holdSeconds * 1000, leftMs) : 0;
        clock.advance(heldMs);
        polls.push(clock.now() / 1000);
        return { job: job(clock.now() >= length * 1000 ? "completed" : "active"), heldMs, sentAt };
      },
    };
    const origin = { kind: "created", job: job("active"), at: 0 } as const;
    const limits = { deadline: 10 * 3_600_000, signal };
    const request = { jobId: "job", origin, startedAt: 0, intervals, until: "terminal", ...limits } as const;
    await waitForJob(request, client, { clock, random }, () => {});
    result.push(polls);
  }
  return result;
}

/** Returns the times of each job's polls, in seconds, for any schedule. Responses take no time. */
function simulate(lengths: readonly number[], schedule: Schedule): number[][] {
  const random = seededRandom(1);
  return lengths.map((length) => {
    const polls: number[] = [];
    let waitedMs = 0;
    while (waitedMs < length * 1000) {
      waitedMs += schedule(waitedMs, polls.length, random);
      polls.push(waitedMs / 1000);
    }
    return polls;
  });
}

function describe(name: string, lengths: readonly number[], polls: readonly number[][], bound: number): LatenessRow {
  const lateness = lengths.map((length, job) => (polls[job]?.at(-1) ?? Number.NaN) - length);
  const shares = lengths.map((length, job) => (lateness[job] ?? Number.NaN) / length);
  const meanPolls = mean(polls.map((times) => times.length));
  return {
    name,
    requests: meanPolls + 1,
    meanLateness: mean(lateness),
    lateness95: quantile(lateness, 0.95),
    meanShare: mean(shares),
    share95: quantile(shares, 0.95),
    overBound: (mean(lateness) * meanPolls) / bound,
    peakPerSecond: peak(polls),
  };
}

/** Returns the most polls in a second, for 1,000 jobs of evenly spaced lengths that start together. */
function peak(polls: readonly number[][]): number {
  const perSecond = new Map<number, number>();
  const stride = polls.length / 1000;
  for (let index = 0; index < 1000; index++) {
    for (const time of polls[Math.floor(index * stride)] ?? []) {
      const second = Math.floor(time);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
  }
  return Math.max(...perSecond.values());
}

const costs = ["requests", "meanLateness", "lateness95", "meanShare", "share95", "overBound"] as const;

/** Returns the candidates that are at most 0.1 % worse than ours in every measure, and at least 1 % better in one. */
export function better({ ours, candidates: rows }: LatenessResult): LatenessRow[] {
  return rows.filter(
    (row) =>
      costs.every((cost) => row[cost] <= ours[cost] * 1.001) && costs.some((cost) => row[cost] < ours[cost] * 0.99),
  );
}

/** Returns the least late candidates with at least 2 % fewer requests than ours and no larger 95th percentile of the share. */
export function runnersUp({ ours, candidates: rows }: LatenessResult): LatenessRow[] {
  return rows
    .filter((row) => row.requests < ours.requests * 0.98 && row.share95 <= ours.share95)
    .sort((one, other) => one.meanLateness - other.meanLateness)
    .slice(0, 6);
}
