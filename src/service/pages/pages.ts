import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { errorStack } from "../error-message.ts";
import { keepConnection } from "../http/connections.ts";
import { HttpException } from "../http/http-exception.ts";
import { StoreUnavailable } from "../jobs/engine.ts";
import type { TokenStore } from "./expiring-tokens.ts";
import { messagePage } from "./html.ts";
import { LogPages, type LogPagesOptions } from "./log-page.ts";
import { MemoryTokens } from "./memory-tokens.ts";
import { type PageReply, sendPage } from "./page-reply.ts";
import { renderPullRequestList } from "./pull-request-list.ts";
import { type PageStore, PullRequestPages, type PullRequestPagesOptions } from "./pull-request-pages.ts";
import { SignIn, type SignInOptions } from "./sign-in.ts";
import { type StreamReply, sendStream } from "./stream-reply.ts";

export interface PagesOptions extends PullRequestPagesOptions, LogPagesOptions, Omit<SignInOptions, "now" | "tokens"> {
  store: PageStore & LogPagesOptions["store"];
  /** For sessions and links. Default: in memory. */
  tokens?: TokenStore | undefined;
  /** Milliseconds since any moment. Default: since the process started. */
  now?: () => number;
}

/** How many pull requests the start page lists. */
const maxListed = 100;

/** The pages that people read in a browser. Only who has the API key can read them. */
export class Pages {
  readonly #options: PagesOptions;
  readonly #signIn: SignIn;
  readonly #pullRequests: PullRequestPages;
  readonly #logs: LogPages;

  constructor(options: PagesOptions) {
    this.#options = options;
    const { now = () => performance.now(), tokens = new MemoryTokens(now) } = options;
    this.#signIn = new SignIn({ ...options, now, tokens });
    this.#logs = new LogPages(options);
    this.#pullRequests = new PullRequestPages(options);
  }

  /** Returns a URL that signs in who opens it first, within 10 minutes, and leads to a page, such as `/pull/1`. */
  createSignInLink(path: string): Promise<string> {
    return this.#signIn.createLink(path);
  }

  /** Returns a listener that serves the pages and passes every other request to `next`. */
  serve(next: RequestListener): RequestListener {
    return async (request, response) => {
      const [path = ""] = (request.url ?? "").split("?");
      try {
        const reply = this.#route(request, path);
        if (reply === undefined) return next(request, response);
        await send(response, await reply);
      } catch (error) {
        const errorReply = this.#errorReply(error, request, path);
        // A stream is cut off by now.
        if (!response.headersSent) sendPage(response, errorReply);
      }
    };
  }

  #route(request: IncomingMessage, path: string): Promise<Reply> | undefined {
    const link = /^\/sign-in\/([\w-]{43})$/.exec(path)?.[1];
    const number = /^\/pull\/(\d{1,9})$/.exec(path)?.[1];
    const jobId = /^\/job\/([\w-]{1,64})\/log$/.exec(path)?.[1];
    if (link !== undefined) {
      requireMethod(request, "GET");
      return this.#signIn.followLink(request, link);
    }
    if (path === "/sign-in/link") {
      requireMethod(request, "POST");
      return this.#signIn.requestLink(request);
    }
    if (path === "/sign-out") {
      requireMethod(request, "POST");
      return this.#signIn.signOut(request);
    }
    if (path === "/sign-in") {
      requireMethod(request, "GET", "HEAD", "POST");
      return request.method === "POST" ? this.#signIn.submitForm(request) : this.#signIn.showForm(request);
    }
    if (path !== "/" && number === undefined && jobId === undefined) return undefined;
    requireMethod(request, "GET", "HEAD");
    if (jobId !== undefined) return this.#showLog(request, path, jobId);
    return this.#ifSignedIn(request, path, () =>
      number === undefined ? this.#showList() : this.#showPullRequest(Number(number)),
    );
  }

  async #ifSignedIn(request: IncomingMessage, path: string, show: () => Promise<Reply>): Promise<Reply> {
    if (!(await this.#signIn.isSignedIn(request))) return this.#signIn.challenge(request, path);
    keepConnection(request);
    return show();
  }

  /** A log is also for programs, which send the key as in the API. */
  async #showLog(request: IncomingMessage, path: string, jobId: string): Promise<Reply> {
    const show = () => this.#logs.show(request, jobId);
    if (request.headers.authorization === undefined) return this.#ifSignedIn(request, path, show);
    this.#signIn.requireKey(request);
    keepConnection(request);
    return show();
  }

  async #showList(): Promise<PageReply> {
    const { store, projects } = this.#options;
    const names = [...new Set(projects.values.map(({ repositoryName }) => repositoryName))];
    const listed = (await store.latestPullRequests(maxListed)).flatMap(({ project, ...pullRequest }) => {
      const source = projects.get(project);
      return source === undefined ? [] : [{ ...pullRequest, repositoryName: source.repositoryName }];
    });
    return { status: 200, body: [renderPullRequestList(names, listed)] };
  }

  async #showPullRequest(number: number): Promise<PageReply> {
    const body = await this.#pullRequests.render(number);
    if (body === undefined) throw new HttpException(404, "Pull request not found");
    return { status: 200, body };
  }

  #errorReply(error: unknown, { method }: IncomingMessage, path: string): PageReply {
    if (error instanceof HttpException)
      return {
        status: error.status,
        headers: error.headers,
        body: [messagePage(`Error ${error.status}`, error.message)],
      };
    if (error instanceof StoreUnavailable) {
      const text = "The service cannot use its store now. Try again later.";
      return { status: 503, headers: { "retry-after": "30" }, body: [messagePage("Error 503", text)] };
    }
    this.#options.log(`${method} ${path}: ${errorStack(error)}`);
    return { status: 500, body: [messagePage("Error 500", "Internal error. The log of the service has the details.")] };
  }
}

type Reply = PageReply | StreamReply;

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  if ("content" in reply) await sendStream(response, reply);
  else sendPage(response, reply);
}

function requireMethod({ method = "" }: IncomingMessage, ...allowed: string[]): void {
  if (!allowed.includes(method)) throw new HttpException(405, "Method not allowed", { allow: allowed.join(", ") });
}
