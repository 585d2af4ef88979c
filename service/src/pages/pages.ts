import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Access } from "../http/authentication.ts";
import { keepConnection } from "../http/connections.ts";
import { failedRequest } from "../http/failed-request.ts";
import { HttpException } from "../http/http-exception.ts";
import type { TurnControl } from "../jobs/engine.ts";
import type { PageJob } from "../model.ts";
import type { TokenStore } from "../store/tokens.ts";
import { StoreUnavailable } from "../store-errors.ts";
import { Asset } from "./assets.ts";
import { requireSameOrigin } from "./form.ts";
import { JobList } from "./job-list.ts";
import { JobPages, type JobPagesOptions } from "./job-pages.ts";
import { messagePage } from "./layout.ts";
import { LogPages, type LogPagesOptions } from "./log-pages.ts";
import { MemoryTokens } from "./memory-tokens.ts";
import { type PageReply, sendPage, textReply } from "./page-reply.ts";
import type { PageStore } from "./page-store.ts";
import { PullRequestPages, type PullRequestPagesOptions } from "./pull-request-pages.ts";
import { findHandler, type Handler, type Reply, type Route, read } from "./routes.ts";
import { SignIn, type SignInOptions } from "./sign-in.ts";
import { sendStream } from "./stream-reply.ts";
import { TurnActions } from "./turn-actions.ts";

export interface PagesOptions
  extends PullRequestPagesOptions,
    Omit<LogPagesOptions, "now">,
    Omit<JobPagesOptions, "tokens" | "scriptPath" | "projects">,
    Omit<SignInOptions, "now" | "tokens"> {
  store: PageStore;
  engine: JobPagesOptions["engine"] & TurnControl;
  /** For sessions, links and forms. Default: in memory. */
  tokens?: TokenStore | undefined;
  /** Milliseconds since any moment. Default: since the process started. */
  now?: () => number;
}

/** The pages that people read in a browser. Who has an API key can read those of its projects. */
export class Pages {
  readonly #options: PagesOptions;
  readonly #signIn: SignIn;
  readonly #pullRequests: PullRequestPages;
  readonly #jobList: JobList;
  readonly #jobs: JobPages;
  readonly #turns: TurnActions;
  readonly #logs: LogPages;
  readonly #script = new Asset("job-page.js", "text/javascript; charset=utf-8");
  readonly #routes: readonly Route[];

  constructor(options: PagesOptions) {
    this.#options = options;
    const { now = () => performance.now(), tokens = new MemoryTokens(now) } = options;
    this.#signIn = new SignIn({ ...options, now, tokens });
    this.#logs = new LogPages({ ...options, now });
    this.#pullRequests = new PullRequestPages(options);
    this.#jobList = new JobList(options);
    this.#jobs = new JobPages({ ...options, tokens, scriptPath: this.#script.address });
    this.#turns = new TurnActions(options.engine);
    this.#routes = this.#createRoutes();
  }

  /**
   * Returns a URL that signs in who opens it first, within 10 minutes, and leads to a page, such as `/pull/1`.
   *
   * @param access - what it gives
   */
  createSignInLink(path: string, access: Access): Promise<string> {
    return this.#signIn.createLink(path, access);
  }

  /** Returns a listener that serves the pages and passes every other request to `next`. */
  serve(next: RequestListener): RequestListener {
    return async (request, response) => {
      const path = pathOf(request);
      try {
        const handler = findHandler(this.#routes, request.method ?? "", path);
        if (handler === undefined) return next(request, response);
        await send(response, await handler(request));
      } catch (error) {
        const failed = failedRequest(error, request, path, this.#options.log);
        // A stream is cut off by now.
        if (!response.headersSent) sendPage(response, errorReply(failed, request));
      }
    };
  }

  #createRoutes(): Route[] {
    const signIn = this.#signIn;
    const signedIn = (show: SignedInHandler) => read((request, parameter) => this.#signedIn(request, parameter, show));
    const keyOrSignedIn = (show: SignedInHandler) => read((request, id) => this.#keyOrSignedIn(request, id, show));
    return [
      { pattern: /^\/$/, methods: signedIn((request, _, access) => this.#jobList.show(queryOf(request), access)) },
      { pattern: /^\/pull\/(\d{1,9})$/, methods: signedIn((_, number, access) => this.#showPull(number, access)) },
      {
        pattern: /^\/job\/([\w-]{1,64})$/,
        methods: signedIn(async (_, id, access) => this.#jobs.show(await this.#findJob(id, access))),
      },
      {
        pattern: /^\/job\/([\w-]{1,64})\/log$/,
        methods: keyOrSignedIn(async (request, id, access) => {
          const job = await this.#findJob(id, access);
          return this.#logs.showText(request, id, () => this.#mayRead(request, job));
        }),
      },
      {
        pattern: /^\/job\/([\w-]{1,64})\/events$/,
        methods: keyOrSignedIn(async (request, id, access) => {
          const job = await this.#findJob(id, access);
          return this.#logs.showEvents(request, id, () => this.#mayRead(request, job));
        }),
      },
      { pattern: /^\/job\/([\w-]{1,64})\/message$/, methods: { POST: (request, id) => this.#message(request, id) } },
      {
        pattern: /^\/job\/([\w-]{1,64}\/turn\/\d{1,16})\/stop$/,
        methods: this.#onTurn((request, job, turn, access) => this.#turns.stop(request, job, turn, access)),
      },
      {
        pattern: /^\/job\/([\w-]{1,64}\/turn\/\d{1,16})\/retry$/,
        methods: this.#onTurn((request, job, turn) => this.#turns.retry(request, job, turn)),
      },
      { pattern: /^\/assets\/job-page\.js$/, methods: read(async () => this.#script.reply()) },
      { pattern: /^\/sign-in\/link$/, methods: { POST: (request) => signIn.requestLink(request) } },
      { pattern: /^\/sign-in\/([\w-]{43})$/, methods: { GET: (request, token) => signIn.followLink(request, token) } },
      {
        pattern: /^\/sign-in$/,
        methods: {
          ...read((request) => signIn.showForm(request)),
          POST: (request) => signIn.submitForm(request),
        },
      },
      { pattern: /^\/sign-out$/, methods: { POST: (request) => signIn.signOut(request) } },
    ];
  }

  async #signedIn(request: IncomingMessage, parameter: string, show: SignedInHandler): Promise<Reply> {
    const access = await this.#signIn.access(request);
    if (access === undefined) return this.#signIn.challenge(request, pathOf(request));
    keepConnection(request);
    return show(request, parameter, access);
  }

  /** A log is also for programs, which send the key as in the API. */
  async #keyOrSignedIn(request: IncomingMessage, parameter: string, show: SignedInHandler): Promise<Reply> {
    if (request.headers.authorization === undefined) return this.#signedIn(request, parameter, show);
    const access = await this.#signIn.requireKey(request);
    keepConnection(request);
    return show(request, parameter, access);
  }

  /** Returns whether who sent a request may still read a job: not after signing out, or when the key is revoked. */
  async #mayRead(request: IncomingMessage, { project }: PageJob): Promise<boolean> {
    try {
      const hasKey = request.headers.authorization !== undefined;
      const access = hasKey ? await this.#signIn.requireKey(request) : await this.#signIn.access(request);
      return access?.projects.includes(project) === true;
    } catch (error) {
      if (error instanceof HttpException) return false;
      // An outage of the store ends no log.
      if (error instanceof StoreUnavailable) return true;
      throw error;
    }
  }

  async #message(request: IncomingMessage, id: string): Promise<Reply> {
    const access = await this.#signIn.access(request);
    if (access !== undefined) keepConnection(request);
    return this.#jobs.submitMessage(request, id, access, (reader) => this.#findJob(id, reader));
  }

  /** What is done with a turn, also by programs, which send the key as in the API. */
  #onTurn(act: TurnHandler) {
    const handle: SignedInHandler = async (request, parameter, access) => {
      const [id = "", , turn] = parameter.split("/");
      return act(request, await this.#findJob(id, access), Number(turn), access);
    };
    return {
      POST: (request: IncomingMessage, parameter: string) => {
        if (request.headers.authorization === undefined) requireSameOrigin(request);
        return this.#keyOrSignedIn(request, parameter, handle);
      },
    };
  }

  /** @throws HttpException 404 if there is no such job in the projects of the reader */
  async #findJob(id: string, { projects }: Access): Promise<PageJob> {
    const job = await this.#options.store.jobs.find(id);
    if (job === undefined || !projects.includes(job.project)) throw new HttpException(404, "Job not found");
    return job;
  }

  async #showPull(text: string, { projects }: Access): Promise<PageReply> {
    const { store } = this.#options;
    const number = Number(text);
    const pull = await store.pullRequests.find(number);
    const job = pull && (await store.jobs.find(pull.job));
    const isOfReader = job !== undefined && projects.includes(job.project);
    const body = isOfReader ? await this.#pullRequests.render(number) : undefined;
    if (body === undefined) throw new HttpException(404, "Pull request not found");
    return { status: 200, body };
  }
}

/** Programs, which send the key as in the API, get no page. */
function errorReply({ status, message, headers }: HttpException, request: IncomingMessage): PageReply {
  if (request.headers.authorization !== undefined) return textReply(status, message, headers);
  return { status, headers, body: [messagePage(`Error ${status}`, message)] };
}

type TurnHandler = (request: IncomingMessage, job: PageJob, turn: number, access: Access) => Promise<Reply>;

type SignedInHandler = (request: IncomingMessage, parameter: string, access: Access) => ReturnType<Handler>;

const pathOf = ({ url = "" }: IncomingMessage): string => url.split("?")[0] ?? "";

const queryOf = ({ url = "" }: IncomingMessage) => new URLSearchParams(url.split("?")[1]);

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  if ("content" in reply) await sendStream(response, reply);
  else sendPage(response, reply);
}
