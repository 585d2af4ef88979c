import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Repository } from "./git/repository.ts";
import { repositoryName as nameOf, resolveAddress } from "./git/repository-address.ts";
import { checkRepository, repositoryIdentity } from "./jobs/repository-check.ts";
import type { Log } from "./log.ts";
import { type Metrics, noMetrics } from "./metrics/metrics.ts";
import type { GitHubRepository } from "./pulls/github/github-repository.ts";
import { GitHubPullRequests } from "./pulls/github.ts";
import { LocalPullRequests } from "./pulls/local.ts";
import type { PullRequests } from "./pulls/pull-requests.ts";
import { distinctTurnIds, openSqliteStore } from "./store/sqlite/open-store.ts";
import type { Store } from "./store/store.ts";

export interface BackendOptions {
  /** URL or path, as `git clone` accepts it. */
  repository: string;
  /** The branch that jobs start from and pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** A folder of the service, for a clone of the repository, worktrees and logs. It exists. */
  folder: string;
  /** The SQLite file. Default: `jobs.sqlite` in the folder. */
  store?: string | undefined;
  /** Opens another store than a SQLite file. */
  openStore?: (() => Promise<Store>) | undefined;
  /** Whether other services can have jobs with the same branches, so that ids of turns must differ. Default: no. */
  hasCopies?: boolean;
  /** The umask with which Git writes to a repository on this machine. Default: that of the process. */
  repositoryUmask?: number | undefined;
  /** Whether the jobs of another repository in the store are those of this one, because it has moved. Default: no. */
  isRepositoryMoved?: boolean | undefined;
  /** Default: pull requests are pages of the service. */
  github?: GitHubRepository | undefined;
  /** Returns the origin of links to pages. Not called before a link is made. */
  baseUrl: () => string;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: Log;
  /** Default: nothing is counted. */
  metrics?: Metrics | undefined;
}

/** What API and workers both use: the store, the repository and its pull requests. */
export interface Backend extends AsyncDisposable {
  store: Store;
  repository: Repository;
  repositoryName: string;
  pullRequests: PullRequests;
  /** Those that are pages of the service. */
  localPullRequests: LocalPullRequests;
}

/** Creates the service's folder, unless it exists. */
export async function createFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // It has prompts, and homes with the sessions of agents.
  await chmod(folder, 0o700);
}

/**
 * Opens the store and the repository.
 *
 * @throws if the store cannot be opened or belongs to another repository, if GitHub does not accept the token, or if the service
 *   cannot work on the repository
 */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const { folder, github, baseUrl, signal, log, metrics = noMetrics } = options;
  const file = options.store ?? join(folder, "jobs.sqlite");
  const turnIds = options.hasCopies ? distinctTurnIds : undefined;
  // Opened first: the lock of a file guards the folder against a second service.
  const store = (await options.openStore?.()) ?? openSqliteStore(file, log, turnIds, () => metrics.storeOutageBegan());
  const { address, settings } = resolveAddress(options.repository, github?.token);
  const repository = new Repository({
    url: address,
    folder,
    targetBranch: options.targetBranch,
    settings,
    umask: options.repositoryUmask,
    signal,
  });
  const localPullRequests = new LocalPullRequests({ store, repository, baseUrl, signal, log });
  const onGitHub = github && new GitHubPullRequests({ repository: github, signal, log, metrics });
  const repositoryName = nameOf(address);
  try {
    const identity = repositoryIdentity(repositoryName);
    if (!options.isRepositoryMoved) await checkRepository(store, identity);
    await onGitHub?.checkToken();
    await repository.open();
    if ((await store.repository()) !== identity) await store.setRepository(identity);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
  return {
    store,
    repository,
    repositoryName,
    pullRequests: onGitHub ?? localPullRequests,
    localPullRequests,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
