import type { IncomingMessage } from "node:http";
import type { Access } from "../http/authentication.ts";
import { BodyReader } from "../http/body-reader.ts";
import { HttpException } from "../http/http-exception.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { noContext, type PageJob, type TurnExcerpt } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import type { JobLogs } from "../store/logs.ts";
import type { TokenStore } from "../store/tokens.ts";
import { OutcomeUnknown, StoreUnavailable } from "../store-errors.ts";
import { ExpiringTokens, newToken } from "./expiring-tokens.ts";
import { readForm } from "./form.ts";
import { html } from "./html.ts";
import { type DetailOptions, freeAgent, type JobDetail, readJobDetail } from "./job-detail.ts";
import { type MessageDraft, renderJobPage } from "./job-page.ts";
import { messagePage } from "./layout.ts";
import { readLogTail } from "./log-tail.ts";
import { type PageReply, redirect } from "./page-reply.ts";
import type { PageStore } from "./page-store.ts";
import { renderTurns } from "./turn-list.ts";
import type { View } from "./view.ts";
import { duration, plural } from "./words.ts";

export interface JobPagesOptions extends Pick<DetailOptions, "isAway"> {
  /** See `basePathOf`. */
  basePath: string;
  /** Returns the origin of pages, with the base path. */
  baseUrl: () => string;
  store: PageStore;
  logs: JobLogs;
  engine: Pick<Jobs, "message">;
  projects: PerProject<{ repositoryName: string }>;
  /** Remembers the forms that were sent. */
  tokens: TokenStore;
  /** The path of the page's script, with the base path. */
  scriptPath: string;
}

const logTailBytes = 64 * 1024;
/** How many characters of the job's first prompt are read for the title. */
const maxTitlePrompt = 1000;
const maxPullRequests = 20;
const maxFormBytes = 1024 * 1024;
/** Longer than most people keep a page open. */
const formMs = 24 * 3_600_000;

/** The page of a job, and its form for messages. */
export class JobPages {
  readonly #options: JobPagesOptions;
  readonly #bodies = new BodyReader(maxFormBytes, 8 * maxFormBytes);
  /** Reads the forms of those whose session has ended, or who never had one. They must not use up the memory that others need. */
  readonly #otherBodies = new BodyReader(maxFormBytes, 4 * maxFormBytes);
  /** The forms that were sent. A job costs money, so a double click must not send a message twice. */
  readonly #sentForms: ExpiringTokens;

  constructor(options: JobPagesOptions) {
    this.#options = options;
    this.#sentForms = new ExpiringTokens(options.tokens, "form", formMs);
  }

  /** Returns the page of a job. It has forms only for readers who may do more than read. */
  async show(job: PageJob, { isReadOnly = false }: Pick<Access, "isReadOnly">, view: View): Promise<PageReply> {
    return { status: 200, headers: policy, body: [await this.#render(job, { view, hasForms: !isReadOnly })] };
  }

  /**
   * Handles the form: a `POST` of `prompt` and `form`, a token that can be used once. Then leads to the page of the job.
   *
   * @param findJob - finds the job for a reader; throws HttpException 404 if there is none
   * @param findAccess - finds the reader's access now; `undefined` if the session has ended
   * @param viewOf - returns how a reader sees pages
   */
  async submitMessage(
    request: IncomingMessage,
    jobId: string,
    findAccess: () => Promise<Access | undefined>,
    findJob: (access: Access) => Promise<PageJob>,
    viewOf: (access: Access) => View,
  ): Promise<PageReply> {
    const isSignedIn = (await findAccess()) !== undefined;
    const fields = await readForm(request, isSignedIn ? this.#bodies : this.#otherBodies);
    // A browser sends the line breaks of a form as CRLF.
    const text = (fields.get("prompt") ?? "").replace(/\r\n?/g, "\n");
    const { basePath } = this.#options;
    const keepText = (status: number, error: string) => unsentMessage(`${basePath}/job/${jobId}`, status, error, text);
    // Its key may have been revoked while the form came in.
    const access = await findAccess();
    if (access === undefined) return keepText(401, "Your session has ended. Sign in, then send the message again.");
    try {
      const sent = { text, form: fields.get("form") ?? "", asker: access.name };
      return await this.#send(await findJob(access), sent, viewOf(access));
    } catch (error) {
      if (error instanceof StoreUnavailable)
        return keepText(503, "The service cannot store anything now. The message was not sent. Try again later.");
      if (error instanceof OutcomeUnknown)
        return keepText(500, "It is unknown whether the message was sent. Look at the page of the job.");
      throw error;
    }
  }

  async #send(job: PageJob, { text, form, asker }: SentForm, view: View): Promise<PageReply> {
    const rejected = async (status: number, error: string, headers: Readonly<Record<string, string>> = {}) => ({
      status,
      headers: { ...policy, ...headers },
      body: [await this.#render(job, { view, hasForms: true, draft: { text, error } })],
    });
    if (text.trim() === "") return rejected(400, "The message is empty.");
    if (!(await this.#sentForms.use(form)))
      return rejected(
        409,
        "This form was sent before. Look at the turns: send the message again only if it is missing.",
      );
    const result = await this.#options.engine.message(job.project, job.id, text, undefined, { ...noContext, asker });
    if (result === undefined) throw new HttpException(404, "Job not found");
    if (!("retryAfterMs" in result)) return redirect(`${view.basePath}/job/${job.id}`);
    const seconds = Math.ceil(result.retryAfterMs / 1000);
    const error = `The project has used up its messages of this hour. Send it again in ${duration(seconds * 1000)}.`;
    return rejected(429, error, { "retry-after": String(seconds) });
  }

  async #render(job: PageJob, { view, hasForms, draft }: { view: View; hasForms: boolean; draft?: MessageDraft }) {
    const { store, logs, projects, scriptPath, baseUrl } = this.#options;
    const { id } = job;
    // Read before the rest of the page, so that a change in the meantime becomes an event.
    const progress = await store.jobs.progress(id);
    const first = await this.#firstTurn(job);
    return renderJobPage({
      view,
      job,
      asker: first ?? { asked: null, asker: "" },
      spent: await store.lists.spentBy(id),
      progress: progress ?? { state: job.state, turns: 0, running: null },
      detail: await this.#detailOf(job, view),
      title: first === undefined ? `Job of ${job.project}` : commitTitle(first.prompt),
      repositoryName: projects.get(job.project)?.repositoryName,
      pages: await store.pullRequests.newestOf(id, maxPullRequests),
      turns: await renderTurns(store.lists, id, view, { isJobPage: true, hasActions: hasForms }),
      log: await readLogTail(logs, id, logTailBytes),
      form: hasForms ? newToken() : undefined,
      draft,
      scriptPath,
      baseUrl: baseUrl(),
    });
  }

  async #detailOf(job: PageJob, { zone }: View): Promise<JobDetail> {
    const { store, isAway } = this.#options;
    const detail = await readJobDetail(store, job, { zone, isAway });
    const { state, reason } = detail;
    if (state !== "waiting" || reason !== freeAgent) return detail;
    const ahead = await store.lists.turnsAhead(job.id);
    return ahead === 0 ? detail : { state, reason: `Waits for a free agent, after ${plural(ahead, "other turn")}.` };
  }

  async #firstTurn({ id }: PageJob): Promise<TurnExcerpt | undefined> {
    const { lists } = this.#options.store;
    const first = await lists.firstTurn(id);
    return first === undefined ? undefined : lists.turnExcerpt(first, maxTitlePrompt);
  }
}

/** What somebody sent. */
interface SentForm {
  text: string;
  /** The token of the form. */
  form: string;
  asker: string;
}

/** The policy of pages with a script. Only the service's own scripts run, and they can connect only to the service. */
const policy = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
};

/**
 * Answers a message that was not sent. The answer has its text, because the browser may have lost it.
 *
 * @param page - the path of the job's page
 */
function unsentMessage(page: string, status: number, error: string, text: string): PageReply {
  const content = html`<pre>\n${text}</pre>
<p><a href="${page}">Back to the job</a></p>
`;
  return { status, body: [messagePage("Send a message", error, content)] };
}
