import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Access, requireWrite } from "../http/authentication.ts";
import type { Endpoints } from "../http/dispatch.ts";
import { HttpException } from "../http/http-exception.ts";
import { queryOf } from "../http/request-url.ts";
import type { pageRoutes } from "../http/routes.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { type Machine, thisMachine } from "../machine.ts";
import type { PageJob } from "../model.ts";
import { ownFile } from "../own-file.ts";
import type { TokenStore } from "../store/tokens.ts";
import { showCosts } from "./costs-page.ts";
import { MemoryTokens } from "./expiring-tokens.ts";
import { JobList } from "./job-list.ts";
import { JobPages, type JobPagesOptions } from "./job-pages.ts";
import { readKeptPatch } from "./kept-patch.ts";
import { messagePage } from "./layout.ts";
import { LogPages, type LogPagesOptions } from "./log-pages.ts";
import { type PageReply, sendPage, textReply } from "./page-reply.ts";
import type { PageStore } from "./page-store.ts";
import { PullRequestPages, type PullRequestPagesOptions } from "./pull-request-pages.ts";
import { Readers } from "./readers.ts";
import { Settings } from "./settings.ts";
import { SignIn, type SignInOptions } from "./sign-in.ts";
import { type StreamReply, sendStream } from "./stream-reply.ts";
import { TurnActions } from "./turn-actions.ts";
import { showTurnLog } from "./turn-log.ts";
import { readView, type View } from "./view.ts";

export interface PagesOptions
  extends PullRequestPagesOptions,
    Omit<LogPagesOptions, "machine">,
    Omit<JobPagesOptions, "tokens" | "scriptPath" | "projects" | "isAway">,
    Omit<SignInOptions, "machine" | "tokens"> {
  store: PageStore;
  engine: Pick<Jobs, "message" | "stopTurn" | "retryTurn">;
  /** Knows what keeps jobs from going on. Default: nothing is known. */
  problems?: KnownProblems | undefined;
  /** For sessions, links and forms. Default: in memory. */
  tokens?: TokenStore | undefined;
  /** Default: this machine. */
  machine?: Machine;
}

/** What keeps jobs from going on, in words that anyone may read except for those about repositories. */
export interface KnownProblems {
  current: Partial<Record<string, { problem: string }>>;
  /** The projects whose repositories cannot be used now: empty if all are, `undefined` if none is. */
  awayProjects: readonly string[] | undefined;
}

type Reply = PageReply | StreamReply;

/** The pages that people read in a browser. Whoever has an API key can read the pages of the key's projects. */
export class Pages {
  readonly #options: PagesOptions;
  readonly #signIn: SignIn;
  readonly #readers: Readers;
  readonly #pullRequests: PullRequestPages;
  readonly #jobList: JobList;
  readonly #jobs: JobPages;
  readonly #turns: TurnActions;
  readonly #logs: LogPages;
  readonly #settings: Settings;
  readonly #machine: Machine;
  readonly #script = new Asset("job-page.js", "text/javascript; charset=utf-8");

  constructor(options: PagesOptions) {
    this.#options = options;
    const { machine = thisMachine, tokens = new MemoryTokens(machine) } = options;
    const isAway = (project: string): boolean => isAwayIn(options.problems?.awayProjects, [project]);
    this.#machine = machine;
    this.#settings = new Settings(options);
    this.#signIn = new SignIn({ ...options, machine, tokens });
    this.#readers = new Readers(this.#signIn);
    this.#logs = new LogPages({ ...options, machine });
    this.#pullRequests = new PullRequestPages(options);
    this.#jobList = new JobList({ ...options, isAway });
    this.#jobs = new JobPages({ ...options, isAway, tokens, scriptPath: options.basePath + this.#script.address });
    this.#turns = new TurnActions(options.engine, options.basePath);
  }

  /**
   * Returns a one-time URL, valid for 10 minutes, that signs a browser in and leads to a page, such as `/pull/1`.
   *
   * @param access - of the session that begins
   */
  createSignInLink(path: string, access: Access): Promise<string> {
    return this.#signIn.createLink(path, access);
  }

  get endpoints(): Endpoints<keyof typeof pageRoutes> {
    const [signIn, readers] = [this.#signIn, this.#readers];
    return {
      jobList: signedIn(readers, (request, access) =>
        this.#jobList.show(queryOf(request), access, this.#viewOf(request, access)),
      ),
      costs: signedIn(readers, (request, access) =>
        showCosts(this.#options.store.lists, this.#viewOf(request, access), access, this.#machine.wallTime()),
      ),
      settings: signedIn(readers, (request, access) => {
        const view = this.#viewOf(request, access);
        return request.method === "POST" ? this.#settings.submit(request, view) : this.#settings.show(view, access);
      }),
      pullRequest: signedIn(readers, (request, access, { number }) =>
        this.#showPull(Number(number), access, this.#viewOf(request, access)),
      ),
      jobPage: signedIn(readers, async (request, access, { job }) =>
        this.#jobs.show(await this.#findJob(job, access), access, this.#viewOf(request, access)),
      ),
      jobLog: withKeyOrSignedIn(readers, async (request, access, { job: id }) => {
        const job = await this.#findJob(id, access);
        return this.#logs.showText(request, id, () => readers.mayStillRead(request, job));
      }),
      keptPatch: withKeyOrSignedIn(readers, async (_request, access, { job }) =>
        this.#showPatch(await this.#findJob(job, access)),
      ),
      turnLog: signedIn(readers, async (request, access, { job, turn }) => {
        const view = this.#viewOf(request, access);
        return showTurnLog(request, this.#options.logs, await this.#findJob(job, access), Number(turn), view);
      }),
      jobEvents: withKeyOrSignedIn(readers, async (request, access, { job: id }) => {
        const job = await this.#findJob(id, access);
        return this.#logs.showEvents(request, id, () => readers.mayStillRead(request, job));
      }),
      messageForm: {
        access: "session of a form",
        ...page(async (request, { job: id }) => {
          const findAccess = async () => {
            const access = await readers.session(request);
            if (access !== undefined) requireWrite(access);
            return access;
          };
          const findJob = (reader: Access) => this.#findJob(id, reader);
          return this.#jobs.submitMessage(request, id, findAccess, findJob, (reader) => this.#viewOf(request, reader));
        }),
      },
      stopTurn: withKeyOrSignedIn(readers, async (request, access, { job, turn }) =>
        this.#turns.stop(request, await this.#findJob(job, access), Number(turn), access),
      ),
      retryTurn: withKeyOrSignedIn(readers, async (request, access, { job, turn }) =>
        this.#turns.retry(request, await this.#findJob(job, access), Number(turn)),
      ),
      jobScript: { access: "anyone", ...page(async () => this.#script.reply()) },
      createSignInLink: { access: "key", ...page((request) => signIn.requestLink(request)) },
      followSignInLink: { access: "anyone", ...page((request, { link }) => signIn.followLink(request, link)) },
      signIn: {
        access: "anyone",
        ...page((request) => (request.method === "POST" ? signIn.submitForm(request) : signIn.showForm(request))),
      },
      signOut: { access: "anyone", ...page((request) => signIn.signOut(request)) },
    };
  }

  #viewOf(request: IncomingMessage, access: Access): View {
    const { basePath, problems } = this.#options;
    const { repositories, ...others } = problems?.current ?? {};
    const told = Object.values(others)
      .flatMap((one) => one ?? [])
      .map(({ problem }) => `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`);
    // It names projects, including other readers' projects.
    if (repositories !== undefined && isAwayIn(problems?.awayProjects, access.projects))
      told.push("A repository cannot be used now. Its jobs wait until it can.");
    return { ...readView(request, access), basePath, problems: told };
  }

  /** @throws HttpException 404 if none of the reader's projects has the job */
  async #findJob(id: string, { projects }: Access): Promise<PageJob> {
    const job = await this.#options.store.jobs.find(id);
    if (job === undefined || !projects.includes(job.project)) throw new HttpException(404, "Job not found");
    return job;
  }

  async #showPatch({ id, project }: PageJob): Promise<PageReply> {
    const { store, projects } = this.#options;
    const source = projects.get(project);
    const patch = source && (await readKeptPatch(id, store, source.repository));
    if (patch === undefined) throw new HttpException(404, "Nothing is kept of this job that this machine has");
    return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body: [Buffer.from(patch)] };
  }

  async #showPull(number: number, { projects }: Access, view: View): Promise<PageReply> {
    const { store } = this.#options;
    const pull = await store.pullRequests.find(number);
    const job = pull && (await store.jobs.find(pull.job));
    const isOfReader = job !== undefined && projects.includes(job.project);
    const body = isOfReader ? await this.#pullRequests.render(number, view) : undefined;
    if (body === undefined) throw new HttpException(404, "Pull request not found");
    return { status: 200, body };
  }
}

/** Returns whether one of these projects is away. @param away - empty: all are; `undefined`: none is */
function isAwayIn(away: readonly string[] | undefined, projects: readonly string[]): boolean {
  return away !== undefined && (away.length === 0 || projects.some((project) => away.includes(project)));
}

/** Returns the part of an endpoint that sends a page, or a page with an error. */
function page<Path>(show: (request: IncomingMessage, path: Path) => Promise<Reply>) {
  return {
    answer: async (request: IncomingMessage, response: ServerResponse, path: Path): Promise<void> => {
      const reply = await show(request, path);
      if ("content" in reply) await sendStream(response, reply);
      else sendPage(response, reply);
    },
    fail: (request: IncomingMessage, response: ServerResponse, error: HttpException): void =>
      sendPage(response, errorReply(error, request)),
  };
}

type Show<Path> = (request: IncomingMessage, access: Access, path: Path) => Promise<Reply>;

function signedIn<Path>(readers: Readers, show: Show<Path>) {
  const answer = page<Path>((request, path) => readers.signedIn(request, (access) => show(request, access, path)));
  return { access: "session" as const, ...answer };
}

function withKeyOrSignedIn<Path>(readers: Readers, show: Show<Path>) {
  const answer = page<Path>((request, path) =>
    readers.withKeyOrSignedIn(request, (access) => show(request, access, path)),
  );
  return { access: "session or key" as const, ...answer };
}

/** Programs, which send the key as in the API, get text instead of a page. */
function errorReply({ status, message, headers }: HttpException, request: IncomingMessage): PageReply {
  if (request.headers.authorization !== undefined) return textReply(status, message, headers);
  return { status, headers, body: [messagePage(`Error ${status}`, message)] };
}

/** A file that pages load. Its address changes with its content, so that browsers keep it until it changes. */
class Asset {
  readonly #content: Buffer;
  readonly #type: string;
  /** Its path, below the base path, with a query. */
  readonly address: string;

  /**
   * @param name - of the file in `service/src/pages`; it is served as `/assets/<name>`
   * @param type - its media type
   */
  constructor(name: string, type: string) {
    this.#content = readFileSync(ownFile(`pages/${name}`));
    this.#type = type;
    const version = createHash("sha256").update(this.#content).digest("base64url").slice(0, 16);
    this.address = `/assets/${name}?v=${version}`;
  }

  reply(): PageReply {
    const headers = { "content-type": this.#type, "cache-control": "public, max-age=31536000, immutable" };
    return { status: 200, headers, body: [this.#content] };
  }
}
