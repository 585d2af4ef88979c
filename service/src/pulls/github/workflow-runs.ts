import * as z from "zod/mini";
import type { GitHubApi } from "./github-api.ts";
import { GitHubError } from "./github-error.ts";

/** An attempt of a workflow run. */
export interface RunAttempt {
  run: string;
  attempt: string;
}

/** So that an answer to whatever is asked ends the search. */
const maxAttempts = 100;

const jobList = z.object({ total_count: z.int(), jobs: z.array(z.object({ status: z.string() })) });

/**
 * Returns whether all jobs of an attempt and of those after it have ended, as far as GitHub tells: it does not without `actions: read`, and of
 * more than 100 jobs. Never rejects. GitHub's documentation: "List jobs for a workflow run attempt".
 */
export async function hasEnded({ run, attempt }: RunAttempt, api: Pick<GitHubApi, "request">): Promise<boolean> {
  const path = "GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs";
  const options = { what: `Reading the jobs of run ${run}`, maxWaitMs: 0, isRetried: false };
  const first = Number(attempt);
  for (let number = first; number < first + maxAttempts; number++) {
    try {
      const answer = await api.request(path, { run_id: run, attempt_number: number, per_page: 100 }, options);
      const { data: { total_count: count = 0, jobs = [] } = {} } = z.safeParse(jobList, answer.data);
      const isOver = jobs.length > 0 && jobs.length === count && jobs.every(({ status }) => status === "completed");
      if (!isOver) return false;
    } catch (error) {
      // There is no attempt after the last one.
      return error instanceof GitHubError && error.status === 404 && number > first;
    }
  }
  return false;
}
