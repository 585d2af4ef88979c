import type { PullRequests } from "../pulls/pull-requests.ts";
import type { Store } from "./store.ts";
import { branchOf } from "./turn.ts";

export interface ArchiveOptions {
  store: Store;
  pullRequests: PullRequests;
  /** Days of rest after which a job is archived in any case. Default: never. */
  afterDays?: number | undefined;
  /** Milliseconds since 1970. */
  now: number;
  log: (line: string) => void;
}

const dayMs = 86_400_000;

/** Archives the jobs whose pull request is closed or merged, or which have rested for long. */
export async function archiveJobs({ store, pullRequests, afterDays, now, log }: ArchiveOptions): Promise<void> {
  const jobs = store.restingJobs();
  const pulls = jobs.flatMap(({ id, pullRequest: link, head }) =>
    link === null || head === null ? [] : [{ link, branch: branchOf(id), head }],
  );
  const done = await pullRequests.done(pulls).catch((error: unknown) => {
    log(`Which pull requests are closed is not known: ${String(error)}`);
    return new Set<string>();
  });
  for (const job of jobs) {
    const isOld = afterDays !== undefined && now - job.restsSince >= afterDays * dayMs;
    if (!isOld && !done.has(job.pullRequest ?? "")) continue;
    if (store.archive(job, now))
      log(`${job.id}: archived, ${isOld ? "since it has rested for so long" : "since its pull request is closed"}`);
  }
}
