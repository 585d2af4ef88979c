import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Problems } from "../api/problems.ts";
import { errorMessage } from "../error-message.ts";
import { cloneFolder, moveCloneFolder } from "../git/clone-folders.ts";
import { GitError } from "../git/git.ts";
import { GitRepository } from "../git/git-repository.ts";
import { repositoryName as nameOf, resolveAddress } from "../git/repository-address.ts";
import type { Settings } from "../git/settings.ts";
import type { Log } from "../log/log.ts";
import { type Metrics, noMetrics } from "../metrics/metrics.ts";
import { defaultBranchPrefix } from "../model.ts";
import { type PerProject, shared } from "../per-project.ts";
import { GitHubGates } from "../pulls/github/gate.ts";
import type { GitHubRepository } from "../pulls/github/github-repository.ts";
import { GitHubPullRequests } from "../pulls/github.ts";
import { LocalPullRequests } from "../pulls/local.ts";
import type { PullRequestPlatform } from "../pulls/pull-requests.ts";
import { distinctTurnIds, openSqliteStore } from "../store/sqlite/open-store.ts";
import type { Store } from "../store/store.ts";
import { SourceUnavailable } from "../store-errors.ts";
import { AwayRepositories, type CheckedRepository } from "./away-repositories.ts";
import {
  checkRepositories,
  type KnownRepositories,
  repositoryIdentity,
  updateRepositories,
} from "./repository-check.ts";

export interface ProjectSource {
  /** URL or path, as `git clone` accepts it. */
  repository: string;
  /** The branch that jobs start from and pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  /** What the branches of new jobs begin with. Default: `defaultBranchPrefix`. */
  branchPrefix?: string | undefined;
  /** Default: pull requests are pages of the service. */
  github?: GitHubRepository | undefined;
  /** Checks what else its turns need, and throws with what is wrong as the message. Default: nothing. */
  check?: (() => Promise<void>) | undefined;
}

export interface BackendOptions {
  /** The projects that can get jobs. */
  projects: readonly string[];
  settings: PerProject<ProjectSource>;
  /** A folder of the service, for clones of the repositories, worktrees and logs. It exists. */
  folder: string;
  /** The SQLite file. Default: `jobs.sqlite` in the folder. */
  store?: string | undefined;
  /** Opens another store than a SQLite file. */
  openStore?: (() => Promise<Store>) | undefined;
  /** Whether other services can have jobs with the same branches, so that ids of turns must differ. Default: no. */
  hasCopies?: boolean;
  /** The umask with which Git writes to a repository on this machine. Default: the process's own. */
  repositoryUmask?: number | undefined;
  /** Whether the repository has moved, so that the store's jobs of the old address belong to it. Default: no. */
  isRepositoryMoved?: boolean | undefined;
  /** Whether the caller knows that the tokens can push and open pull requests, so that GitHub is not asked again. Default: no. */
  areTokensChecked?: boolean | undefined;
  /** Returns the origin of links to pages. Not called before a link is made. */
  baseUrl: () => string;
  /** Aborts when the service stops. */
  signal: AbortSignal;
  log: Log;
  /** Default: nothing is counted. */
  metrics?: Metrics | undefined;
  /** Learns whether GitHub answers. */
  problems?: Pick<Problems, "gitHubAnswered" | "repositoriesAway"> | undefined;
}

/** The repository of a project and its pull requests. Projects with the same repository have the same objects. */
export interface ProjectBackend {
  /** What the store calls the repository. */
  identity: string;
  /** Where the clone is. */
  cloneFolder: string;
  repository: GitRepository;
  repositoryName: string;
  targetBranch: string | undefined;
  branchPrefix?: string | undefined;
  pullRequests: PullRequestPlatform;
  /** Those that are pages of the service. */
  localPullRequests: LocalPullRequests;
  check?: ProjectSource["check"];
}

/** What API and workers both use: the store, and the repositories with their pull requests. */
export interface Backend extends AsyncDisposable {
  store: Store;
  projects: PerProject<ProjectBackend>;
  away: AwayRepositories;
}

/** Creates the service's folder, unless it exists. */
export async function createFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // It has prompts, and homes with the sessions of agents.
  await chmod(folder, 0o700);
}

/**
 * Opens the store and the repositories.
 *
 * @throws if the store cannot be opened or belongs to other repositories, if GitHub does not accept a token, or if the service
 *   cannot work on a repository
 */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const { folder, log, metrics = noMetrics } = options;
  const file = options.store ?? join(folder, "jobs.sqlite");
  const turnIds = options.hasCopies ? distinctTurnIds : undefined;
  // Opened first: the lock of a file guards the folder against a second service.
  const store = (await options.openStore?.()) ?? openSqliteStore(file, log, turnIds, () => metrics.storeOutageBegan());
  try {
    return {
      store,
      ...(await openRepositories(store, options)),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/** A repository as a project names it. */
interface ResolvedSource extends ProjectSource {
  /** Without credentials. */
  address: string;
  settings: Settings;
  repositoryName: string;
  /** The same for all projects with this repository. */
  identity: string;
}

async function openRepositories(store: Store, options: BackendOptions): Promise<Pick<Backend, "projects" | "away">> {
  const sources = options.settings.map(resolveSource);
  checkCredentials(sources.values);
  const identities = sources.map(({ identity }) => identity);
  const known = { ofProjects: await store.repositories.ofProjects(), main: await store.repositories.main() };
  const withJobs = await store.jobs.projects();
  if (!options.isRepositoryMoved) checkRepositories(known, identities, withJobs);
  const updated = updateRepositories(known, identities, [...options.projects, ...withJobs]);
  const projects = connect(sources, updated.main, store, options);
  moveClones(options.folder, known, updated);
  const away = await checkAll(projects, new Set(known.ofProjects.values()), options);
  await remember(store, known, updated);
  return { projects, away };
}

/** Before each retry while a new repository's host cannot answer, in milliseconds. A step has no other start. */
const pausesMs = [1000, 2000, 4000];
/** How long the start waits for a repository that has worked before. */
const knownMs = 10_000;

/**
 * Checks all repositories at once. One that has worked before and cannot be used now is away; a bad day of one is nobody else's.
 *
 * @param known - what the store calls those that have worked before
 * @throws if a new one cannot be used, or none can and none of them is just out of reach
 */
async function checkAll(
  projects: PerProject<ProjectBackend>,
  known: ReadonlySet<string>,
  { signal, log, problems, areTokensChecked }: BackendOptions,
): Promise<AwayRepositories> {
  const groups = [...Map.groupBy(projects.values, ({ identity }) => identity)];
  const repositories = new Map(
    groups.map(([identity, users]): [string, CheckedRepository] => {
      const names = projects.names?.filter((name) => projects.get(name)?.identity === identity);
      return [identity, { names, check: shared(checkOf(users, areTokensChecked)) }];
    }),
  );
  const failures: { identity: string; error: unknown; isNew: boolean; fail: () => Promise<void> }[] = [];
  const checked = groups.map(async ([identity, [project]]) => {
    const { check } = repositories.get(identity) ?? {};
    if (check === undefined || project === undefined) return;
    const isNew = !known.has(identity);
    const open = async ([pauseMs, ...others] = isNew ? pausesMs : []): Promise<void> => {
      try {
        await check();
      } catch (error) {
        if (pauseMs === undefined || !isOutage(error)) throw error;
        log(`${errorMessage(error)}. It is tried again in ${pauseMs / 1000} s.`);
        await setTimeout(pauseMs, undefined, { signal });
        await open(others);
      }
    };
    const late = async () => {
      await setTimeout(knownMs, undefined, { signal, ref: false });
      throw new SourceUnavailable(`no answer within ${knownMs / 1000} s`);
    };
    await (isNew ? open() : Promise.race([open(), late()])).catch((error: unknown) => {
      const fail = () => namingRepository(project, projects, () => Promise.reject(error));
      failures.push({ identity, error, isNew, fail });
    });
  });
  await Promise.all(checked);
  signal.throwIfAborted();
  const areAllWrong = failures.length === groups.length && failures.every(({ error }) => !isOutage(error));
  await failures.find(({ isNew }) => isNew || areAllWrong)?.fail();
  const away = new AwayRepositories({ repositories, signal, log, problems });
  for (const { identity, error } of failures) away.startsAway(identity, errorMessage(error));
  return away;
}

const isOutage = (error: unknown): boolean =>
  error instanceof SourceUnavailable || (error instanceof GitError && error.isRemoteOutage);

/** Returns a check of a repository, and of all else that its projects need: all of that until it has worked, then whether it answers. */
function checkOf(users: readonly ProjectBackend[], areTokensChecked = false): () => Promise<void> {
  let isOpen = false;
  const platforms = new Set(users.map(({ pullRequests }) => pullRequests));
  const targets = new Set(users.map(({ targetBranch }) => targetBranch));
  const prefixes = new Set(users.map(({ branchPrefix = defaultBranchPrefix }) => branchPrefix));
  return async () => {
    for (const platform of platforms)
      if (platform instanceof GitHubPullRequests) {
        if (isOpen) await platform.checkRepository();
        else if (!areTokensChecked) await platform.checkToken();
      }
    const { repository } = users[0] ?? {};
    if (isOpen) return repository?.list();
    await Promise.all(users.map(({ check }) => check?.()));
    await repository?.open([...targets], [...prefixes]);
    isOpen = true;
  };
}

/** Does something with the repository of a project. An error names it and its projects, unless all projects have the same. */
async function namingRepository(
  { identity, repositoryName }: ProjectBackend,
  projects: PerProject<ProjectBackend>,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const names = projects.names?.filter((name) => projects.get(name)?.identity === identity);
    if (names === undefined) throw error;
    throw new Error(`project ${names.join(", ")}, repository ${repositoryName}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function resolveSource(source: ProjectSource): ResolvedSource {
  const { github } = source;
  const { address, settings } = resolveAddress(source.repository, github && (() => github.token));
  const repositoryName = nameOf(address);
  return { ...source, address, settings, repositoryName, identity: repositoryIdentity(repositoryName) };
}

/** Two clones of one repository would fetch everything twice. Its projects share one, with its credentials. */
function checkCredentials(sources: readonly ResolvedSource[]): void {
  for (const [identity, users] of Map.groupBy(sources, (source) => source.identity))
    if (new Set(users.map(({ settings }) => JSON.stringify(settings()))).size > 1)
      throw new Error(`the projects with the repository ${identity} must have the same credentials for it`);
}

/** Opens the repository of each project. Projects with the same repository share what they can. */
function connect(
  sources: PerProject<ResolvedSource>,
  main: string | undefined,
  store: Store,
  { folder, repositoryUmask: umask, baseUrl, signal, log, metrics: counted, problems }: BackendOptions,
): PerProject<ProjectBackend> {
  const metricsOf = (identity: string): Pick<Metrics, "gitHubAnswered"> => ({
    gitHubAnswered: (answer) => {
      counted?.gitHubAnswered(answer);
      problems?.gitHubAnswered(answer.status, identity);
    },
  });
  const repositories = new Shared<GitRepository>();
  const locals = new Shared<LocalPullRequests>();
  const onGitHub = new Shared<GitHubPullRequests>();
  const gates = new GitHubGates();
  return sources.map(({ address, settings, repositoryName, identity, targetBranch, branchPrefix, github, check }) => {
    const own = cloneFolder(folder, identity, main);
    const repository = repositories.get(
      [identity],
      () => new GitRepository({ url: address, folder: own, settings, umask, signal }),
    );
    const localPullRequests = locals.get(
      [identity, targetBranch],
      () => new LocalPullRequests({ store: store.pullRequests, repository, targetBranch, baseUrl, signal, log }),
    );
    const pullRequests =
      github &&
      onGitHub.get(
        [github],
        () => new GitHubPullRequests({ repository: github, signal, log, metrics: metricsOf(identity), gates }),
      );
    return {
      identity,
      cloneFolder: own,
      repository,
      repositoryName,
      targetBranch,
      branchPrefix,
      pullRequests: pullRequests ?? localPullRequests,
      localPullRequests,
      check,
    };
  });
}

/** Values that are made once for each key. */
class Shared<T> {
  readonly #values = new Map<string, T>();

  get(key: unknown, create: () => T): T {
    const text = JSON.stringify(key);
    const value = this.#values.get(text) ?? create();
    this.#values.set(text, value);
    return value;
  }
}

function moveClones(folder: string, known: KnownRepositories, updated: KnownRepositories): void {
  const used = new Set(updated.ofProjects.values());
  for (const [project, from] of known.ofProjects) {
    const to = updated.ofProjects.get(project);
    if (to === undefined || used.has(from)) continue;
    moveCloneFolder(cloneFolder(folder, from, known.main), cloneFolder(folder, to, updated.main));
  }
}

/** Stores only what has changed, because a start that changes nothing needs no store that can be written. */
async function remember(store: Store, known: KnownRepositories, { ofProjects, main }: KnownRepositories) {
  const changed = [...ofProjects].filter(([project, name]) => known.ofProjects.get(project) !== name);
  if (changed.length > 0) await store.repositories.setOfProjects(new Map(changed));
  if (main !== undefined && main !== known.main) await store.repositories.setMain(main);
}
