import { existsSync } from "node:fs";
import { join } from "node:path";
import { cloneFolder } from "../git/clone-folders.ts";
import { Git } from "../git/git.ts";
import { lastCommitOf, packCommit } from "../git/job-commits.ts";
import type { Repository } from "../git/repository.ts";
import type { Store } from "../store/store.ts";

/** Returns how to read the commits of a job in the clone of a service, which may run. @param folder - the service's */
export async function openJobClone(
  job: string,
  { jobs, repositories }: Store,
  folder: string,
): Promise<Pick<Repository, "lastCommitOf" | "packCommit"> | undefined> {
  const identity = (await repositories.ofProjects()).get((await jobs.projectOf(job)) ?? "") ?? "";
  const cwd = join(cloneFolder(folder, identity, await repositories.main()), "mirror.git");
  const git = new Git({ cwd });
  return existsSync(cwd)
    ? { lastCommitOf: (id) => lastCommitOf({ git }, id), packCommit: (id) => packCommit(git, id) }
    : undefined;
}
