import * as z from "zod/mini";
import type { GitHubApi } from "./github-api.ts";

/** An attempt of a workflow run. */
export interface RunAttempt {
  run: string;
  attempt: string;
}

const jobList = z.object({ total_count: z.int(), jobs: z.array(z.object({ status: z.string() })) });

/**
 * Returns whether all jobs of an attempt have ended, as far as GitHub tells: it does not without `actions: read`, and of more than 100 jobs.
 * Never rejects. GitHub's documentation: "List jobs for a workflow run attempt".
 */
export async function hasEnded({ run, attempt }: RunAttempt, api: Pick<GitHubApi, "request">): Promise<boolean> {
  const path = "GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs";
  const query = { run_id: run, attempt_number: attempt, per_page: 100 };
  const options = { what: `Reading the jobs of run ${run}`, maxWaitMs: 0, isRetried: false };
  const answer = await api.request(path, query, options).catch(() => undefined);
  const { data } = z.safeParse(jobList, answer?.data);
  const jobs = data?.jobs ?? [];
  return jobs.length > 0 && jobs.length === data?.total_count && jobs.every(({ status }) => status === "completed");
}
