import type { CacheAccess } from "../../../src/runner-kit/cache.ts";
import { errorMessage } from "../../src/error-message.ts";
import { resolveAddress } from "../../src/git/repository-address.ts";
import { type Machine, thisMachine } from "../../src/machine.ts";
import type { RunAttempt } from "../../src/pulls/github/workflow-runs.ts";
import { GitHubPullRequests } from "../../src/pulls/github.ts";
import type { NamedTurn } from "../../src/pulls/turn-trailers.ts";
import type { ProjectBackend } from "../../src/start/backend.ts";
import type { JobCopies } from "../../src/store/job-copies.ts";
import type { CacheEntries } from "./cache-entries.ts";
import { CachedJobs } from "./cached-jobs.ts";
import type { Memory } from "./describe-memory.ts";
import { KeptOnRefs } from "./kept-on-refs.ts";
import { RebuiltJobs } from "./rebuilt-jobs.ts";
import { RememberedJobs } from "./remembered-jobs.ts";
import { deleteTriedBranches } from "./tried-branches.ts";

export interface MemoryOptions {
  project: ProjectBackend | undefined;
  projectId: string;
  cache: CacheEntries;
  cacheAccess: CacheAccess;
  /** Whether GitHub made the token for the workflow. */
  isWorkflowToken: boolean;
  /** The one that it made. Default: unknown. */
  workflowToken?: string | undefined;
  /** The attempt of the workflow run that the step is in. */
  run: RunAttempt;
  /** Whether this is the workflow's repository, so that cache readers can read it anyway. */
  isOwnRepository: boolean;
  /** See `RememberedJobsOptions`. */
  keeps: readonly NamedTurn["left"][];
  /** A folder for temporary files. */
  folder: string;
  /** Values that must not appear in a copy of a home directory. */
  secrets: readonly string[];
  /** See `KeptOnRefsOptions`. */
  hurry?: AbortSignal | undefined;
  log: (line: string) => void;
  /** Default: this machine. */
  machine?: Pick<Machine, "wallTime" | "sleep"> | undefined;
}

/** What the step knows about other runs. */
export interface StepMemory {
  copies: JobCopies;
  describe(): Promise<Memory>;
  /** Deletes what lost runs left on GitHub. Never rejects. */
  tidy(): Promise<void>;
  /** Ends the claims that this run has not used. Never rejects. */
  release(): Promise<void>;
}

/** Opens the memory of other runs: jobs' branches and pull requests, and the Actions cache. */
export function openMemory(options: MemoryOptions): StepMemory {
  const {
    project,
    projectId,
    cache,
    cacheAccess,
    isWorkflowToken,
    workflowToken,
    run,
    isOwnRepository,
    keeps,
    folder,
    secrets,
    hurry,
    log,
    machine = thisMachine,
  } = options;
  const { pullRequests, repository, targetBranch, branchPrefix } = project ?? {};
  if (!(pullRequests instanceof GitHubPullRequests) || project === undefined || repository === undefined)
    throw new Error("the project of the step is not on GitHub");
  // Unlike another one, it is valid until the workflow's job ends.
  if (isOwnRepository && !isWorkflowToken && workflowToken)
    repository.workRefs.useFirst(resolveAddress(project.repositoryName, () => workflowToken).settings);
  const hasRunEnded = pullRequests.hasRunEnded.bind(pullRequests);
  const kept = new KeptOnRefs({ refs: repository.workRefs, machine, hurry, log, run, hasRunEnded });
  const rebuilt = new RebuiltJobs({
    repository,
    pullRequests,
    targetBranch,
    branchPrefix,
    projectId,
    isWorkflowToken,
    machine,
    kept,
  });
  const isReadable = cacheAccess === "read" || cacheAccess === "write";
  const copies = new RememberedJobs({
    cached: isReadable
      ? new CachedJobs({ cache, projectId, keepsFiles: isOwnRepository, folder, secrets, log })
      : undefined,
    isCacheWritable: cacheAccess === "write",
    rebuilt,
    kept,
    isFirstAttempt: run.attempt === "1",
    keeps,
    log,
  });
  const tidy = async (): Promise<void> => {
    try {
      const gone = await deleteTriedBranches({ repository, pullRequests, targetBranch, isWorkflowToken, machine });
      if (gone.length > 0) log(`Deleted, left without a commit by runs that were lost: ${gone.join(", ")}`);
      await kept.tidy();
    } catch (error) {
      log(`Cannot look for branches that lost runs have left: ${errorMessage(error)}`);
    }
  };
  const describe = async () => ({ branches: await canRebuild(rebuilt, log), cache: cacheAccess, isOwnRepository });
  return { copies, describe, tidy, release: () => kept.release() };
}

async function canRebuild(rebuilt: RebuiltJobs, log: (line: string) => void): Promise<Memory["branches"]> {
  try {
    return (await rebuilt.isPossible()) ? "yes" : "no";
  } catch (error) {
    log(`Cannot find out the account of the token: ${errorMessage(error)}`);
    return "unknown";
  }
}
