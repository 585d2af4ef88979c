import * as z from "zod/mini";
import { connectRepository, type Run } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import { GitHubError } from "../runner/github-error.ts";
import type { StepRecord } from "./decide.ts";

/** For all requests together, in milliseconds. */
const totalMs = 30_000;

const step = z.object({
  number: z.int(),
  name: z.string(),
  status: z.string(),
  conclusion: z.nullish(z.string()),
  started_at: z.nullish(z.string()),
});
const job = z.object({
  name: z.string(),
  status: z.string(),
  conclusion: z.nullish(z.string()),
  runner_name: z.nullish(z.string()),
  steps: z.optional(z.array(step)),
});
const jobList = z.object({ total_count: z.int(), jobs: z.array(job) });

type Job = z.infer<typeof job>;

/**
 * Asks GitHub whether attempts without a word began this step, matched by job name, number and step name. Needs `actions: read`, or a
 * public repository. Never rejects. GitHub: "List jobs for a workflow run attempt".
 */
export async function readStepRecord(attempts: readonly number[], run: Run): Promise<StepRecord> {
  const { githubToken, workflowToken } = run.settings;
  const [record, isRefused] = await readWith(workflowToken, attempts, run);
  // Of a job without `actions: read`, another account's token may read it.
  const isOther = isRefused && githubToken !== workflowToken;
  return isOther ? (await readWith(githubToken, attempts, run))[0] : record;
}

/** Returns the record as a token may read it, and whether GitHub refused that. */
async function readWith(
  token: string,
  attempts: readonly number[],
  run: Run,
): Promise<[record: StepRecord, isRefused: boolean]> {
  const { environment } = run.ports;
  let isKnown = true;
  try {
    const list = await jobLister(token, run);
    const own = findOwnStep(await list(runAttempt(environment)), environment.RUNNER_NAME ?? "");
    if (!own) return ["unknown", false];
    for (const attempt of attempts) {
      const [earlier, ...others] = (await list(attempt)).filter(({ name }) => name === own.job.name);
      const hasRun = earlier && others.length === 0 ? hasBegun(earlier, own.step) : undefined;
      if (hasRun) return [{ ran: attempt }, false];
      isKnown &&= hasRun !== undefined;
    }
    return [isKnown ? "not started" : "unknown", false];
  } catch (error) {
    run.log.debugError(error);
    return ["unknown", error instanceof GitHubError && (error.status === 403 || error.status === 404)];
  }
}

async function jobLister(token: string, run: Run): Promise<(attempt: number) => Promise<Job[]>> {
  const { GITHUB_REPOSITORY: name = "", GITHUB_RUN_ID: runId = "" } = run.ports.environment;
  if (token === "" || name === "" || runId === "") throw new Error("GitHub cannot be asked");
  const repository = await connectRepository(run, { totalMs }, token);
  const path = "actions/runs/{run_id}/attempts/{attempt_number}/jobs";
  return async (attempt) => {
    const jobs: Job[] = [];
    for (let page = 1; ; page++) {
      const parameters = { run_id: runId, attempt_number: attempt, per_page: 100, page };
      const { total_count: count, jobs: listed } = await repository.get(path, jobList, parameters);
      jobs.push(...listed);
      if (listed.length === 0 || jobs.length >= count) return jobs;
    }
  };
}

/** Returns this runner's job and running step; `undefined` unless there is exactly one of each. */
function findOwnStep(jobs: readonly Job[], runnerName: string) {
  const own = jobs.filter(
    (each) => runnerName !== "" && each.runner_name === runnerName && each.status === "in_progress",
  );
  const [found] = own;
  if (!found || own.length > 1) return undefined;
  const running = (found.steps ?? []).filter(({ status }) => status === "in_progress");
  const [only] = running;
  return only && running.length === 1 ? { job: found, step: only } : undefined;
}

/** Returns whether a job began a step; `undefined` if its record does not tell. */
function hasBegun(
  { status, conclusion, steps = [] }: Job,
  { number, name }: z.infer<typeof step>,
): boolean | undefined {
  if (status !== "completed") return undefined;
  if (conclusion === "skipped") return false;
  // A job that ended before it had a runner has no steps.
  if (steps.length === 0) return conclusion === "cancelled" ? false : undefined;
  const same = steps.find((each) => each.number === number && each.name === name);
  if (!same) return undefined;
  return !(same.conclusion === "skipped" || !same.started_at);
}
