import type { PullRequests } from "./pulls/pull-requests.ts";
import type { Store } from "./store.ts";
import { branchOf } from "./work/turn.ts";

export interface ArchiveOptions {
  store: Store;
  pullRequests: PullRequests;
  /** Days after which a job is archived in any case. Default: never. */
  afterDays?: number | undefined;
  /** Milliseconds since 1970. */
  now: number;
  log: (line: string) => void;
}

const dayMs = 86_400_000;

/** Archives the jobs that rest and whose pull request is closed or merged, or which are old. */
export async function archiveJobs({ store, pullRequests, afterDays, now, log }: ArchiveOptions): Promise<void> {
  for (const { id, createdAt, pullRequest: link, head } of store.restingJobs()) {
    const isOld = afterDays !== undefined && now - createdAt >= afterDays * dayMs;
    const isClosed = async (): Promise<boolean> =>
      link !== null && head !== null && (await pullRequests.isClosed({ link, branch: branchOf(id), head }));
    try {
      if (!isOld && !(await isClosed())) continue;
      // A message may have come meanwhile.
      if (store.stateOf(id) === "active") continue;
      store.archive(id, now);
      log(`${id}: archived, ${isOld ? "by its age" : "since its pull request is closed"}`);
    } catch (error) {
      log(`${id}: whether its pull request is closed is not known: ${String(error)}`);
    }
  }
}
