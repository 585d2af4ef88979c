import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { HttpRequest, HttpResponse } from "../../../../src/runner-kit/transport.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { createApi } from "../../../src/api/jobs-endpoints.ts";
import { singleKey } from "../../../src/http/authentication.ts";
import { dispatch } from "../../../src/http/dispatch.ts";
import { Jobs } from "../../../src/jobs/jobs.ts";
import { PerProject } from "../../../src/per-project.ts";
import { GitHubApi, type GitHubResponse, type RequestOptions } from "../../../src/pulls/github/github-api.ts";
import { GitHubError } from "../../../src/pulls/github/github-error.ts";
import { GitHubPullRequests } from "../../../src/pulls/github.ts";
import { JobCopier } from "../../../src/store/job-copier.ts";
import { ReadyTurns } from "../../../src/store/ready-turns.ts";
import { Store } from "../../../src/store/store.ts";
import { countTurnIds } from "../../../src/store/turn-ids.ts";
import { BranchRights } from "../../../src/turns/branch-rights.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import { Worker } from "../../../src/turns/worker.ts";
import { KeptOnRefs, type KeptOnRefsOptions } from "../../../step/memory/kept-on-refs.ts";
import { RebuiltJobs } from "../../../step/memory/rebuilt-jobs.ts";
import { RememberedJobs } from "../../../step/memory/remembered-jobs.ts";
import { Report, reportedCopies } from "../../../step/report.ts";
import { memoryDatabase } from "../../support/memory-database.ts";
import { outage } from "../../support/memory-remote.ts";
import { MemoryRepository } from "../../support/memory-repository.ts";
import { memoryWorktrees } from "../../support/memory-worktrees.ts";
import type { MemoryCache } from "./cache.ts";
import { type MemoryGitHub, owner } from "./github.ts";
import type { Link } from "./link.ts";
import type { CacheMode } from "./plan.ts";

/** What the step's service is made of. */
export interface ServiceOptions {
  link: Link;
  gitHub: MemoryGitHub;
  cache: MemoryCache;
  cacheMode: CacheMode;
  isPrivate: boolean;
  isFirstAttempt: boolean;
  /** Of the attempt: no two services give the same ids. */
  number: number;
  projectId: string;
  apiKey: string;
  timeLimitMs: number;
  /** The command that checks changes; `undefined`: nothing does. */
  check: string | undefined;
  /** A folder for what is little and for a moment on a disk. */
  folder: string;
  hostOf: (repository: MemoryRepository) => TurnHost;
  log: (line: string) => void;
}

const failedApi = (): Error => new GitHubError("GitHub did not respond to the request", undefined);
const maxRetries = 3;

/** GitHub's API at the end of a link. */
class LinkedApi extends GitHubApi {
  readonly #link: Link;
  readonly #gitHub: MemoryGitHub;
  #redirect: string | undefined;

  constructor(link: Link, gitHub: MemoryGitHub, signal: AbortSignal, log: (line: string) => void) {
    const repository = {
      apiUrl: "https://api.github.com",
      owner,
      name: gitHub.name,
      token: "ghs_simulated_0123456789",
    };
    super({ repository, signal, log });
    this.#link = link;
    this.#gitHub = gitHub;
  }

  override get redirect(): string | undefined {
    return this.#redirect;
  }

  override async request(
    route: string,
    given: Record<string, unknown>,
    { isRetried = true }: RequestOptions,
  ): Promise<GitHubResponse> {
    const all = { owner, repo: this.repository.name, ...given };
    const isWrite = !route.startsWith("GET ") && !route.endsWith("/graphql");
    for (let retries = 0; ; retries++) {
      this.signal.throwIfAborted();
      try {
        const data = await this.#link.call(
          { place: "api", isWrite },
          () => structuredClone(this.#gitHub.request(route, all)),
          failedApi,
        );
        if (this.repository.name !== this.#gitHub.name) this.#redirect = "/repositories/7";
        return { data, etag: undefined };
      } catch (error) {
        const isTransient = error instanceof GitHubError && error.isTransient;
        if (!isRetried || !isTransient || retries === maxRetries) throw error;
        await this.#link.process.sleep(1000 * (retries + 1) ** 2, this.signal);
      }
    }
  }
}

/** Refs of kept work as a clone has them. */
class MemoryWorkRefs {
  readonly #gitHub: MemoryGitHub;
  readonly #names = new Set<string>();

  constructor(gitHub: MemoryGitHub) {
    this.#gitHub = gitHub;
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  async list(): Promise<void> {
    this.listNow();
  }

  listNow(): void {
    this.#names.clear();
    for (const name of this.#gitHub.works.keys()) this.#names.add(name);
  }

  async write(name: string, _job: string, text: Uint8Array, replaces: readonly string[] = []): Promise<undefined> {
    try {
      this.#write(name, text, replaces);
    } catch (error) {
      if (replaces.length === 0) throw error;
      this.listNow();
      this.#write(name, text, replaces);
    }
  }

  #write(name: string, text: Uint8Array, replaces: readonly string[]): void {
    const there = replaces.filter((one) => this.#names.has(one));
    this.#gitHub.pushWork(name, text, there);
    for (const one of there) this.#names.delete(one);
    this.#names.add(name);
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    return this.#gitHub.works.get(name);
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    this.#gitHub.pushWork(undefined, Buffer.of(), names);
    for (const name of names) this.#names.delete(name);
  }
}

/** Databases of runners that are gone: to create one takes longer than most turns. */
const spareDatabases: ReturnType<typeof memoryDatabase>[] = [];
/** What jobs leave in one, in an order in which it can be removed. */
const tables = ["pullRequest", "turn", "job", "deletedJob", "project"];

/** The service of one attempt, with a store, a clone and a worker of its own. */
export class StepService {
  readonly report = new Report();
  readonly #options: ServiceOptions;
  readonly #stop = new AbortController();
  readonly #listener: ReturnType<typeof dispatch>;
  readonly #repository: MemoryRepository;
  readonly #worker: Worker;
  readonly #copier: JobCopier;
  readonly #kept: KeptOnRefs;
  readonly #database = spareDatabases.pop() ?? memoryDatabase();
  #opened: Promise<void> | undefined;

  constructor(options: ServiceOptions) {
    this.#options = options;
    const { link, gitHub, cache, cacheMode, projectId, isPrivate, isFirstAttempt, log, folder } = options;
    const { process: machine } = link;
    const { signal } = this.#stop;
    const refs = new MemoryWorkRefs(gitHub);
    const clone = new MemoryRepository(gitHub.remote, () => machine.now());
    clone.onList = () => refs.listNow();
    this.#repository = clone;
    const read = { list: false, fetch: false, findStart: false, commitsOfBranch: false, commitsOfJobs: false } as const;
    const repository = link.wrap(
      clone,
      "git",
      { ...read, fetchIfBehind: false, unpackCommit: false, push: true, deleteBranches: true },
      (isWrite) => outage(isWrite ? "push" : "fetch"),
    );
    const workRefs: KeptOnRefsOptions["refs"] = link.wrap(
      refs,
      "refs",
      { list: false, read: false, write: true, remove: true },
      (isWrite) => outage(isWrite ? "push" : "fetch"),
    );
    const api = new LinkedApi(link, gitHub, signal, log);
    const pullRequests = new GitHubPullRequests({ repository: api.repository, api, signal, log, machine });
    const kept = new KeptOnRefs({ refs: workRefs, machine, log });
    this.#kept = kept;
    const rebuilt = new RebuiltJobs({ repository, pullRequests, projectId, isWorkflowToken: true, machine, kept });
    const isReadable = cacheMode !== "none" && cacheMode !== "absent";
    const copies = new RememberedJobs({
      cached: isReadable ? cache.ofService(link, cacheMode) : undefined,
      isCacheWritable: cacheMode === "write" || cacheMode === "refuses",
      rebuilt,
      kept,
      isFirstAttempt,
      keeps: isPrivate ? ["unfinished", "stopped"] : ["unfinished"],
      log,
    });
    let turns = options.number * 10;
    const store = new Store({
      database: this.#database,
      ready: new ReadyTurns({ clock: () => ({ sql: "?", values: [machine.wallTime()] }) }),
      nextTurnId: async (transaction) => Math.max(await countTurnIds(transaction), machine.wallTime() * 1000 + turns++),
    });
    const copier = new JobCopier({
      copies: reportedCopies(this.report, copies),
      store,
      folder,
      log,
      now: () => machine.now(),
    });
    this.#copier = copier;
    const hasBranch = async (branch: string): Promise<boolean> => {
      await repository.fetch([branch]);
      return (await repository.branchHead(branch)) !== undefined;
    };
    const projects = PerProject.same({ repositoryName: `${owner}/${gitHub.name}`, model: "agent", hasBranch });
    const jobs = new Jobs({ store, projects, copier, machine });
    const worktrees = memoryWorktrees(repository);
    const { ownStart, checkOut } = repository;
    const ofCommands = { ownStart, checkOut, keepIgnored: async () => [] };
    const commands = { check: options.check, reads: [], setupNetwork: fullNetwork, worktrees, repository: ofCommands };
    const authenticator = singleKey(options.apiKey, [projectId]);
    const { endpoints } = createApi({
      engine: jobs,
      steps: jobs,
      turns: jobs,
      takesBase: true,
      authenticator,
      maxWaiting: 10,
      signal,
    });
    this.#listener = dispatch({ endpoints, log });
    this.#worker = new Worker({
      agents: 1,
      store,
      copier,
      keptCommits: copier.keptCommits,
      homes: copier,
      projects: PerProject.same({
        repository,
        worktrees,
        ...(options.check !== undefined && { commands }),
        pullRequests,
        branchRights: new BranchRights(),
        agent: shellAgent("agent"),
        sandbox: unconfined,
        network: fullNetwork,
        limits: {},
        timeLimitMs: options.timeLimitMs,
        largestChangeBytes: 1_000_000,
      }),
      machine,
      host: options.hostOf(clone),
      folder,
      signal,
      log,
    });
  }

  /** Opens the clone. */
  open(): Promise<void> {
    this.#opened ??= this.#options.link.process.ask(100, () => this.#repository.open(), 100);
    return this.#opened;
  }

  async runAgents(): Promise<void> {
    await this.open();
    await this.#worker.start();
  }

  /** Stops what runs, and saves jobs. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#worker.drain();
    await this.#copier.settle();
    await this.#kept.release();
  }

  /** Leaves its database to another one, once nothing is left of its process. */
  async leaveDatabase(): Promise<void> {
    for (const table of tables) await this.#database.run(`DELETE FROM "${table}"`);
    spareDatabases.push(this.#database);
  }

  /** Answers a request as its server does. */
  answer({ method, url, headers, body = "" }: HttpRequest): Promise<HttpResponse> {
    const request = new IncomingMessage(new Socket());
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const length = String(Buffer.byteLength(body));
    Object.assign(request, { method, url: url.pathname + url.search });
    Object.assign(request.headers, Object.fromEntries(lower), { host: "127.0.0.1", "content-length": length });
    request.push(body);
    request.push(null);
    return new Promise((resolve) => {
      const response = new MemoryResponse(request, resolve);
      void this.#listener(request, response);
    });
  }
}

/** A response that is not sent. */
class MemoryResponse extends ServerResponse {
  readonly #done: (response: HttpResponse) => void;
  #head: Record<string, string> = {};

  constructor(request: IncomingMessage, done: (response: HttpResponse) => void) {
    super(request);
    this.#done = done;
  }

  override writeHead(status: number, headers?: unknown): this {
    this.statusCode = status;
    this.#head = { ...(headers as Record<string, string>) };
    return this;
  }

  override end(body?: unknown): this {
    this.#done({ status: this.statusCode, headers: this.#head, body: typeof body === "string" ? body : "" });
    return this;
  }
}
