import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { serviceKey } from "../../../test/support/scripted-service.ts";
import { GitRepository } from "../../src/git/git-repository.ts";
import { type Authenticator, singleKey } from "../../src/http/authentication.ts";
import { dispatch } from "../../src/http/dispatch.ts";
import { type ListenOptions, listen } from "../../src/http/listen.ts";
import { basePathOf, withoutBasePath } from "../../src/http/public-url.ts";
import type { Jobs } from "../../src/jobs/jobs.ts";
import type { JobRecord, LocalPullRequest, PageJob, TurnExcerpt } from "../../src/model.ts";
import type { PageStore } from "../../src/pages/page-store.ts";
import { type KnownProblems, Pages } from "../../src/pages/pages.ts";
import { PerProject } from "../../src/per-project.ts";
import type { PullRequestState } from "../../src/pulls/pull-requests.ts";
import { FakeMachine } from "./fake-machine.ts";
import { MemoryLogs } from "./memory-logs.ts";

/** A repository with one commit and one diff for every pull request. */
export class FakeRepository extends GitRepository {
  /** The commits whose changes were read, as `base..head`. */
  readonly reads: string[] = [];
  commitCount = 1;
  subject = "Fix";
  diffText = "diff --git a/a.md b/a.md\n";
  /** With those of the diff, if that is too large. */
  changedPaths: string[] = [];
  diffError: Error | undefined;
  /** Awaited before a diff is returned. */
  gate: Promise<unknown> = Promise.resolve();

  override async latestCommits(base: string, head: string, count: number) {
    const length = Math.min(count, this.commitCount);
    return Array.from({ length }, () => ({ commit: `${base}..${head}`, subject: this.subject }));
  }
  override async changedFiles() {
    return this.changedPaths.map((path) => ({ path, before: undefined, after: undefined }));
  }
  override async diff(base: string, head: string, maxBytes: number): Promise<string> {
    this.reads.push(`${base}..${head}`);
    await this.gate;
    if (this.diffError) throw this.diffError;
    return this.diffText.slice(0, maxBytes);
  }
}

/** Returns a pull request of the job `job_1`. */
export function pullRequest(head = "222"): LocalPullRequest {
  return { job: "job_1", title: "Fix <it>", branch: "agent/job_1", target: "main", base: "111", head };
}

export interface PageRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface PageResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface PagesServerOptions extends ListenOptions {
  publicUrl?: string;
  maxLogs?: number;
  /** Default: one that knows `serviceKey`. */
  authenticator?: Authenticator;
  keepAliveMs?: number;
  signal?: AbortSignal;
  /** That of the key. Default: only `docs`. */
  projects?: readonly string[];
  /** Default: a fake one. */
  store?: PageStore;
  /** Default: none are known. */
  problems?: KnownProblems;
  /** What stops turns and runs them again. Default: nothing can be done with them. */
  turnControl?: Pick<Jobs, "stopTurn" | "retryTurn">;
}

/** Returns a job of the project `docs`. */
export function pageJob(job: Partial<PageJob> = {}): PageJob {
  return {
    id: "job_1",
    project: "docs",
    createdAt: Date.UTC(2026, 0, 2, 3, 4),
    state: "completed",
    archivedAt: null,
    pullRequest: null,
    model: "test-model",
    kept: null,
    branch: "agent/job_1",
    ...job,
  };
}

/**
 * Starts the pages with a fake store, a fake engine and a fake repository. Other requests are answered with `next`. `received` has the
 * addresses of all requests so far.
 */
export async function startPages(options: PagesServerOptions = {}) {
  const { publicUrl, maxLogs, keepAliveMs, signal, projects = ["docs"], ...limits } = options;
  const { authenticator = singleKey(serviceKey, projects) } = options;
  const { turnControl = { stopTurn: async () => undefined, retryTurn: async () => undefined } } = options;
  const rows = new Map<number, LocalPullRequest>([[1, pullRequest()]]);
  const turns: (Partial<TurnExcerpt> | undefined)[] = [{ state: "completed", prompt: "Fix it", answer: null }];
  const log: string[] = [];
  const machine = new FakeMachine();
  const repository = new FakeRepository({ url: "/nowhere", folder: "/nowhere" });
  const state: { read: () => Promise<PullRequestState> } = { read: async () => "open" };
  const jobs = new Map<string, Partial<PageJob>>([["job_1", {}]]);
  const fakeStore: PageStore = {
    jobs: {
      find: async (id) => {
        const job = jobs.get(id);
        return job && pageJob({ id, ...job });
      },
      progress: async (id) => {
        const job = jobs.get(id);
        const running = turns.findIndex((turn) => turn?.state === "running");
        return job && { state: pageJob(job).state, turns: turns.length, running: running === -1 ? null : running };
      },
      projectOf: async () => "docs",
    },
    pullRequests: {
      find: async (number) => rows.get(number),
      newestOf: async (id, count) =>
        [...rows]
          .filter(([, { job }]) => job === id)
          .map(([number, { title }]) => ({ number, title }))
          .reverse()
          .slice(0, count),
    },
    turns: { ofJob: async () => [] },
    lists: {
      jobs: async () => [],
      openTurnsOf: async (ids) =>
        new Map(turns.some((turn) => turn?.state === "running") ? ids.map((id) => [id, "running"]) : []),
      turnsAhead: async () => 0,
      spentBy: async () => ({ tookMs: 0, costUsd: 0, unknownCosts: 0 }),
      spentIn: async () => [],
      askers: async () => [],
      firstTurn: async () => (turns.length === 0 ? undefined : 0),
      countTurns: async () => turns.length,
      latestTurns: async (_job, count) => [...turns.keys()].slice(-count),
      turnExcerpt: async (id, length) => {
        const turn = turns[id];
        const { prompt = "", answer = null } = turn ?? {};
        const times = {
          startedAt: null,
          endedAt: null,
          reason: null,
          costUsd: null,
          failureClass: null,
          checkResult: null,
          checkOutput: null,
          waitReason: null,
          waitUntil: null,
          asked: null,
          asker: "",
        };
        const texts = { prompt: prompt.slice(0, length), answer: answer?.slice(0, length) ?? null };
        return turn && { state: "completed", ...times, ...turn, ...texts };
      },
    },
  };
  /** The messages that were sent, and what the engine answers to the next ones. */
  const messages: string[] = [];
  const askers: unknown[] = [];
  const engine: { message: Jobs["message"] } = {
    message: async (project, id, prompt, _key, context) => {
      messages.push(`${project} ${id} ${prompt}`);
      askers.push(context?.asker);
      return {} as JobRecord;
    },
  };
  const logs = new MemoryLogs();
  let url = "";
  const pages = new Pages({
    store: options.store ?? fakeStore,
    engine: {
      message: (...message) => engine.message(...message),
      stopTurn: (...turn) => turnControl.stopTurn(...turn),
      retryTurn: (...turn) => turnControl.retryTurn(...turn),
    },
    projects: PerProject.same({ repository, repositoryName: "docs", stateOf: () => state.read() }),
    logs,
    problems: options.problems,
    maxLogs,
    authenticator,
    keepAliveMs,
    signal,
    baseUrl: () => publicUrl ?? url,
    basePath: basePathOf(publicUrl),
    machine,
    log: (line) => void log.push(line),
  });
  const notFound = async (_request: IncomingMessage, response: ServerResponse) => void response.end("next");
  const listener = withoutBasePath(
    basePathOf(publicUrl),
    dispatch({
      endpoints: pages.endpoints,
      notFound,
      publicUrl,
      log: (line) => void log.push(line),
    }),
  );
  const received: string[] = [];
  const server = await listen(
    (request, response) => {
      received.push(request.url ?? "");
      listener(request, response);
    },
    0,
    limits,
  );
  const stop = () => server[Symbol.asyncDispose]();
  onTestFinished(stop);
  url = server.url;

  /** Sends a request, whose headers can also be those that `fetch` sets itself. Does not follow redirects. */
  const ask = async (path: string, { method = "GET", headers = {}, body }: PageRequest = {}): Promise<PageResponse> => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(url + path, { method, headers, agent: false }, resolve)
        .on("error", reject)
        .end(body);
    });
    return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
  };

  const form = { "content-type": "application/x-www-form-urlencoded" };
  /** Submits the form of a page, by default that to sign in. */
  const submit = (fields: Record<string, string>, headers: Record<string, string> = {}, path = "/sign-in") =>
    ask(path, { method: "POST", headers: { ...form, ...headers }, body: String(new URLSearchParams(fields)) });

  const { headers } = await submit({ key: serviceKey });
  const cookie = cookieIn(headers);
  /** Sends a request as someone who is signed in. */
  const get = (path: string, method = "GET") => ask(path, { method, headers: { cookie } });
  return {
    received,
    rows,
    turns,
    jobs,
    messages,
    askers,
    engine,
    logs,
    log,
    machine,
    repository,
    state,
    pages,
    url,
    stop,
    ask,
    submit,
    get,
    cookie,
  };
}

/** Returns the cookie that a response sets, as a browser sends it back. */
export function cookieIn(headers: IncomingHttpHeaders): string {
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}
