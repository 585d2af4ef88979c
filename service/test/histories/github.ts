import type { IncomingMessage, ServerResponse } from "node:http";
import type { DocsRepository } from "../../../tools/docs-repository.ts";
import { type LoopbackServer, listen } from "../../src/http/listen.ts";
import { allowGitOverHttp, answerGit } from "../support/git-over-http.ts";
import type { Fate } from "./plan.ts";

export const owner = "acme";
export const token = "ghs_workflow_token_0123456789abcdef";
/** The accounts by their logins. */
const accounts = { "github-actions[bot]": 41898282, writer: 2 };
type Login = keyof typeof accounts;
const bot: Login = "github-actions[bot]";
const noCommit = "0".repeat(40);

/** A pull request, with times as GitHub shows them. */
export interface Pull {
  number: number;
  title: string;
  body: string;
  isDraft: boolean;
  branch: string;
  base: string;
  /** The commit of the base when it was opened. */
  start: string;
  head: string;
  state: "open" | "closed";
  openedAt: string;
  updatedAt: string;
  closedAt: string | undefined;
  mergeCommit: string | undefined;
  events: string[];
}

interface ThreadComment {
  id: number;
  login: Login;
  body: string;
}

interface Activity {
  branch: string;
  before: string;
  after: string;
  login: Login;
  at: string;
}

/** Decides what becomes of requests, before they are carried out and before they are answered. */
export interface Witness {
  before(request: string): Fate;
  after(request: string): Fate;
  /** Answers an agent. */
  agent(url: URL, body: string): string;
}

interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

const ok = (body: unknown): Answer => ({ status: 200, body });
const denied = (message: string): Answer => ({ status: 403, body: { message } });
const invalid = (message: string): Answer => ({
  status: 422,
  body: { message: "Validation Failed", errors: [{ message }] },
});
const notFound: Answer = { status: 404, body: { message: "Not Found" } };
const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");
const user = (login: Login) => ({ login, id: accounts[login], type: login === bot ? "Bot" : "User" });

/**
 * A GitHub with one repository. Unlike the one of other tests, it has the repository's own commits, compares and merges them, lists who
 * pushed, and rejects what GitHub rejects: a second pull request of a branch, and one without a commit.
 */
export class HistoryGitHub implements AsyncDisposable {
  readonly docs: DocsRepository;
  readonly pulls: Pull[] = [];
  readonly comments: ThreadComment[] = [];
  /** The number of the thread. */
  readonly thread = 7;
  /** All texts that were ever written in comments and pull requests. */
  readonly texts: string[] = [];
  /** What it has no route for: the stand-in is wrong, not the product. */
  readonly unknown: string[] = [];
  /** Whether an owner has forbidden Actions to open pull requests, after the step found out that it may. */
  hasNoPulls = false;
  isPrivate = false;
  /** The name of the repository, which can be renamed. It still answers to the earlier one. */
  name: string;
  witness: Witness = { before: () => "answered", after: () => "answered", agent: () => "" };
  readonly #firstName: string;
  readonly #activities: Activity[] = [];
  readonly #reactions = new Set<string>();
  #nextId = 1000;
  #server: LoopbackServer | undefined;

  constructor(docs: DocsRepository, name: string) {
    this.docs = docs;
    this.name = name;
    this.#firstName = name;
  }

  static async start(docs: DocsRepository, name: string): Promise<HistoryGitHub> {
    allowGitOverHttp(docs);
    const github = new HistoryGitHub(docs, name);
    github.#server = await listen((request, response) => {
      // A process that was killed asks no more.
      github.#serve(request, response).catch((error: unknown) => {
        if (!response.destroyed) github.unknown.push(`${request.method} ${request.url}: ${error}`);
        response.destroy();
      });
    });
    return github;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server?.server.closeAllConnections();
    await this.#server?.[Symbol.asyncDispose]();
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  open(): Pull[] {
    return this.pulls.filter(({ state }) => state === "open");
  }

  /** Adds a comment by a person to the thread. */
  comment(body: string): number {
    return this.#comment("writer", body).id;
  }

  /** Notes that a branch was moved, created or deleted. */
  moved(branch: string, before: string | undefined, after: string | undefined, login: Login): void {
    this.#activities.unshift({ branch, before: before ?? noCommit, after: after ?? noCommit, login, at: now() });
    for (const pull of this.open().filter((one) => one.branch === branch)) {
      if (after === undefined) this.close(pull);
      else this.#setHead(pull, after);
    }
  }

  close(pull: Pull, mergeCommit?: string): void {
    pull.events.push(mergeCommit === undefined ? "closed" : "merged");
    const at = now();
    Object.assign(pull, { state: "closed", closedAt: at, updatedAt: at, mergeCommit });
  }

  #setHead(pull: Pull, head: string): void {
    Object.assign(pull, { head, updatedAt: now() });
    this.docs.git("update-ref", `refs/pull/${pull.number}/head`, head);
  }

  #comment(login: Login, body: string): ThreadComment {
    const comment = { id: this.#nextId++, login, body };
    this.comments.push(comment);
    this.texts.push(body);
    return comment;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url ?? "/", this.url);
    if (url.pathname.startsWith("/agent")) {
      response.end(this.witness.agent(url, body.toString()));
      return;
    }
    const [, git] = new RegExp(`^/${owner}/(?:${this.#names()})(?:\\.git)?(/.*)$`).exec(url.pathname) ?? [];
    const pushed = git?.endsWith("/git-receive-pack") && request.method === "POST" ? updatesIn(body) : undefined;
    const path = url.pathname.replace(new RegExp(`^/repos/${owner}/(?:${this.#names()})(?=/|$)/?`), "");
    const sent = git === undefined && body.length > 0 ? (JSON.parse(body.toString()) as Record<string, unknown>) : {};
    const what =
      git === undefined
        ? nameOf(request.method, path, sent)
        : pushed
          ? nameOfPush(pushed)
          : nameOfFetch(git, url.search);
    const fate = this.witness.before(what);
    if (fate === "dropped") return void response.destroy();
    if (fate === "hangs") return void setTimeout(() => response.destroy(), 8000).unref();
    if (fate === "502" || fate === "403" || fate === "limited") return respond(response, failures[fate]);
    const [kind = "", given = ""] = request.headers.authorization?.split(" ") ?? [];
    const isOwn = (/^basic$/i.test(kind) ? Buffer.from(given, "base64").toString().split(":")[1] : given) === token;
    if (git !== undefined) {
      if (!isOwn) return void response.writeHead(401, { "www-authenticate": 'Basic realm="GitHub"' }).end();
      const { method, headers } = request;
      const answer = await answerGit(this.docs, { method, headers, path: git, query: url.search, body });
      for (const { ref, before, after } of pushed ?? []) this.#follow(ref, before, after);
      if (fate === "lost" || this.witness.after(what) === "lost") return void response.destroy();
      response.writeHead(answer.status, answer.headers).end(answer.body);
      return;
    }
    const answer = isOwn
      ? this.#route(`${request.method} ${path}`, sent, url.searchParams)
      : { status: 401, body: { message: "Bad credentials" } };
    if (answer === undefined) this.unknown.push(what);
    if (fate === "lost" || this.witness.after(what) === "lost") return void response.destroy();
    respond(response, answer ?? notFound);
  }

  #names(): string {
    return `${this.#firstName}|${this.name}`;
  }

  /** Notes a push of a run, unless the repository rejected it. */
  #follow(ref: string, before: string, after: string): void {
    const [, branch] = /^refs\/heads\/(.+)$/.exec(ref) ?? [];
    if (branch === undefined || (this.docs.findHead(branch) ?? noCommit) !== after) return;
    this.moved(branch, before, after === noCommit ? undefined : after, bot);
  }

  #route(route: string, sent: Record<string, unknown>, query: URLSearchParams): Answer | undefined {
    for (const [pattern, answer] of this.#routes) {
      const found = pattern.exec(route);
      if (found) return answer(found.slice(1).map(decodeURIComponent), sent, query);
    }
    return undefined;
  }

  readonly #routes: [RegExp, (parts: string[], sent: Record<string, unknown>, query: URLSearchParams) => Answer][] = [
    [/^GET $/, () => ok(this.#repository())],
    [/^GET \/installation\/repositories$/, () => ok({ total_count: 1, repositories: [this.#repository()] })],
    [/^POST \/graphql$/, (_, { query, variables }) => this.#graphql(String(query), variables)],
    [/^GET rules\/branches\/.+$/, () => ok([])],
    [/^GET activity$/, (_, _sent, query) => ok(this.#listActivities(query))],
    [
      /^GET collaborators\/writer\/permission$/,
      () => ok({ permission: "write", role_name: "write", user: user("writer") }),
    ],
    [/^GET \/users\/(.+)$/, ([login = ""]) => (login in accounts ? ok(user(login as Login)) : notFound)],
    [/^GET actions\/runs\/.+$/, () => denied("Resource not accessible by integration")],
    [/^GET compare\/(.+)$/, ([range = ""]) => this.#compare(range)],
    [/^GET commits$/, (_, _sent, query) => ok(this.#listCommits(query))],
    [
      /^GET commits\/([^/]+)$/,
      ([ref = ""]) =>
        this.#has(ref)
          ? ok({ ...this.#commits("-1", ref)[0], files: this.#files("show", "--format=", ref) })
          : notFound,
    ],
    [/^GET commits\/[^/]+\/pulls$/, () => ok([])],
    [/^GET pulls$/, (_, _sent, query) => ok(this.#listPulls(query))],
    [/^POST pulls$/, (_, sent) => this.#openPull(sent)],
    [/^GET pulls\/(\d+)$/, ([number]) => this.#withPull(number, (pull) => ok(this.#show(pull)))],
    [/^PATCH pulls\/(\d+)$/, ([number], sent) => this.#withPull(number, (pull) => this.#edit(pull, sent))],
    [
      /^GET pulls\/(\d+)\/commits$/,
      ([number]) => this.#withPull(number, ({ start, head }) => ok(this.#commits("--reverse", `${start}..${head}`))),
    ],
    [/^GET pulls\/\d+\/(?:reviews|comments)$/, () => ok([])],
    [
      /^GET issues\/(\d+)\/events$/,
      ([number]) =>
        this.#withPull(number, ({ events }) => ok(events.map((event) => ({ event, actor: user("writer") })))),
    ],
    [/^GET issues\/(\d+)$/, ([number]) => this.#issue(Number(number))],
    [/^GET issues\/(\d+)\/comments$/, ([number]) => ok(Number(number) === this.thread ? this.comments.map(shown) : [])],
    [/^POST issues\/\d+\/comments$/, (_, { body }) => ({ status: 201, body: shown(this.#comment(bot, String(body))) })],
    [/^GET issues\/comments\/(\d+)$/, ([id]) => this.#withComment(id, (comment) => ok(shown(comment)))],
    [
      /^PATCH issues\/comments\/(\d+)$/,
      ([id], { body }) =>
        this.#withComment(id, (comment) => {
          comment.body = String(body);
          this.texts.push(comment.body);
          return ok(shown(comment));
        }),
    ],
    [/^POST issues\/((?:comments\/)?\d+)\/reactions$/, ([of], { content }) => this.#react(`${of} ${content}`)],
    [
      /^GET issues\/((?:comments\/)?\d+)\/reactions$/,
      ([of]) => {
        const found = [...this.#reactions].filter((one) => one.startsWith(`${of} `));
        return ok(found.map((one) => ({ id: 1, user: user(bot), content: one.split(" ")[1] })));
      },
    ],
  ];

  #repository() {
    return {
      id: 7,
      name: this.name,
      full_name: `${owner}/${this.name}`,
      html_url: `${this.url}/${owner}/${this.name}`,
      owner: { login: owner },
      default_branch: "main",
      private: this.isPrivate,
      permissions: { push: true, pull: true },
    };
  }

  #graphql(query: string, variables: unknown): Answer {
    if (query.includes("viewer")) return ok({ data: { viewer: { login: bot, databaseId: accounts[bot] } } });
    const pull = this.pulls.find(({ number }) => `PR_${number}` === (variables as { id?: string } | undefined)?.id);
    if (!pull || !query.includes("markPullRequestReadyForReview"))
      return ok({ data: null, errors: [{ message: "not in this GitHub" }] });
    pull.isDraft = false;
    pull.events.push("ready_for_review");
    return ok({ data: { markPullRequestReadyForReview: { clientMutationId: null } } });
  }

  #listActivities(query: URLSearchParams) {
    const kind = ({ before, after }: Activity): string =>
      before === noCommit ? "branch_creation" : after === noCommit ? "branch_deletion" : "push";
    return this.#activities
      .filter(({ branch }) => !query.has("ref") || query.get("ref") === `refs/heads/${branch}`)
      .filter((one) => !query.has("activity_type") || query.get("activity_type") === kind(one))
      .map((one) => ({
        ref: `refs/heads/${one.branch}`,
        before: one.before,
        after: one.after,
        actor: user(one.login),
        timestamp: one.at,
        activity_type: kind(one),
      }));
  }

  #has(ref: string): boolean {
    try {
      return this.docs.git("rev-parse", "--verify", "--quiet", `${ref}^{commit}`) !== "";
    } catch {
      return false;
    }
  }

  /** Lists commits as `git log` finds them. */
  #commits(...args: string[]) {
    const found = this.docs.git("log", "--format=%H%x00%P%x00%cI%x00%B%x01", ...args).split("\x01");
    return found
      .map((one) => one.trim().split("\0"))
      .filter(([sha]) => sha !== "")
      .map(([sha = "", parents = "", date = "", message = ""]) => ({
        sha,
        parents: parents
          .split(" ")
          .filter(Boolean)
          .map((parent) => ({ sha: parent })),
        commit: { message: message.trimEnd(), author: { name: "W", date }, committer: { name: "W", date } },
        author: user("writer"),
      }));
  }

  /** Lists files as a command of Git finds them. */
  #files(command: string, ...args: string[]) {
    const lines = this.docs
      .git(command, "--numstat", "--no-renames", ...args)
      .split("\n")
      .filter(Boolean);
    return lines.map((line) => {
      const [additions, deletions, filename] = line.split("\t");
      return { filename, status: "modified", additions: Number(additions), deletions: Number(deletions), patch: "@@" };
    });
  }

  #listCommits(query: URLSearchParams) {
    if (Number(query.get("page") ?? 1) > 1) return [];
    const since = query.get("since");
    return this.#commits("-100", ...(since === null ? [] : [`--since=${since}`]), query.get("sha") ?? "main");
  }

  #compare(range: string): Answer {
    const [base = "", head = ""] = range.split("...");
    if (!this.#has(base) || !this.#has(head)) return notFound;
    const found = this.#commits("--reverse", `${base}..${head}`);
    const behind = Number(this.docs.git("rev-list", "--count", `${head}..${base}`));
    const ahead = behind === 0 ? "ahead" : "diverged";
    const status = found.length > 0 ? ahead : behind === 0 ? "identical" : "behind";
    const files = this.#files("diff", `${base}...${head}`);
    return ok({
      status,
      ahead_by: found.length,
      behind_by: behind,
      total_commits: found.length,
      commits: found,
      files,
    });
  }

  #withPull(number: string | undefined, answer: (pull: Pull) => Answer): Answer {
    const pull = this.pulls.find((one) => one.number === Number(number));
    return pull ? answer(pull) : notFound;
  }

  #withComment(id: string | undefined, answer: (comment: ThreadComment) => Answer): Answer {
    const comment = this.comments.find((one) => one.id === Number(id));
    return comment ? answer(comment) : notFound;
  }

  #show(pull: Pull) {
    const repo = this.#repository();
    return {
      number: pull.number,
      node_id: `PR_${pull.number}`,
      state: pull.state,
      draft: pull.isDraft,
      merged: pull.mergeCommit !== undefined,
      merged_at: pull.mergeCommit === undefined ? null : pull.closedAt,
      merge_commit_sha: pull.mergeCommit ?? null,
      html_url: `${repo.html_url}/pull/${pull.number}`,
      title: pull.title,
      body: pull.body,
      user: user(bot),
      created_at: pull.openedAt,
      updated_at: pull.updatedAt,
      closed_at: pull.closedAt ?? null,
      labels: [],
      base: { ref: pull.base, sha: pull.start, repo },
      head: { ref: pull.branch, sha: pull.head, label: `${owner}:${pull.branch}`, repo },
    };
  }

  #issue(number: number): Answer {
    if (number !== this.thread)
      return this.#withPull(String(number), (pull) => ok({ ...this.#show(pull), pull_request: {} }));
    return ok({ number, title: "Wrong", body: "Something is wrong.", state: "open", user: user("writer"), labels: [] });
  }

  #listPulls(query: URLSearchParams) {
    const { state = "open", head, base, page = "1" } = Object.fromEntries(query);
    if (page !== "1") return [];
    const found = this.pulls.filter(
      (pull) =>
        (state === "all" || pull.state === state) &&
        (head === undefined || head === `${owner}:${pull.branch}`) &&
        (base === undefined || base === pull.base),
    );
    return found.toReversed().map((pull) => this.#show(pull));
  }

  #openPull({ title, body, head: branch, base, draft }: Record<string, unknown>): Answer {
    if (typeof title !== "string" || typeof branch !== "string" || typeof base !== "string")
      return invalid("title is missing");
    if (this.hasNoPulls) return denied("GitHub Actions is not permitted to create or approve pull requests.");
    if (this.open().some((pull) => pull.branch === branch && pull.base === base))
      return invalid(`A pull request already exists for ${owner}:${branch}.`);
    const head = this.docs.findHead(branch);
    if (head === undefined) return invalid("head is invalid");
    if (this.docs.git("rev-list", "--count", `${base}..${head}`) === "0")
      return invalid(`No commits between ${base} and ${branch}`);
    const at = now();
    const pull: Pull = {
      // Below are the thread and other issues.
      number: 100 + this.pulls.length + 1,
      title,
      body: String(body ?? ""),
      isDraft: draft === true,
      branch,
      base,
      start: this.docs.head(base),
      head,
      state: "open",
      openedAt: at,
      updatedAt: at,
      closedAt: undefined,
      mergeCommit: undefined,
      events: [],
    };
    this.pulls.push(pull);
    this.#setHead(pull, head);
    this.texts.push(pull.title, pull.body);
    return { status: 201, body: this.#show(pull) };
  }

  #edit(pull: Pull, { title, body }: Record<string, unknown>): Answer {
    if (typeof title === "string") pull.title = title;
    if (typeof body === "string") pull.body = body;
    pull.updatedAt = now();
    this.texts.push(pull.title, pull.body);
    return ok(this.#show(pull));
  }

  #react(reaction: string): Answer {
    const isNew = !this.#reactions.has(reaction);
    this.#reactions.add(reaction);
    return { status: isNew ? 201 : 200, body: { id: 1, user: user(bot), content: reaction.split(" ")[1] } };
  }
}

const shown = ({ id, login, body }: ThreadComment) => ({
  id,
  body,
  user: user(login),
  html_url: `https://github.example/c${id}`,
});

const failures: Record<"502" | "403" | "limited", Answer> = {
  "502": { status: 502, body: { message: "Bad Gateway" } },
  "403": denied("Resource not accessible by integration"),
  limited: { ...denied("API rate limit exceeded"), headers: { "x-ratelimit-remaining": "0" } },
};

function respond(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const reset = Math.ceil(Date.now() / 1000) + 2;
  const limit = headers["x-ratelimit-remaining"] === undefined ? {} : { "x-ratelimit-reset": String(reset) };
  response.writeHead(status, { "content-type": "application/json", ...headers, ...limit }).end(JSON.stringify(body));
}

interface RefUpdate {
  ref: string;
  before: string;
  after: string;
}

/** Reads what a push asks for: pkt-lines up to the flush, of which the first one has the capabilities after a NUL. */
function updatesIn(body: Buffer): RefUpdate[] {
  const updates: RefUpdate[] = [];
  for (let at = 0; at + 4 <= body.length; ) {
    const length = Number.parseInt(body.toString("latin1", at, at + 4), 16);
    if (!(length > 4)) break;
    const line = body.toString("latin1", at + 4, at + length);
    const [before = "", after = "", ref = ""] = line.split("\0")[0]?.trim().split(" ") ?? [];
    if (ref !== "") updates.push({ ref, before, after });
    at += length;
  }
  return updates;
}

/** Names a push by what it does, such as `push create made, delete begun`; of refs of kept work, the stage. */
function nameOfPush(updates: readonly RefUpdate[]): string {
  const each = updates.map(({ ref, before, after }) => {
    const verb = after === noCommit ? "delete" : before === noCommit ? "create" : "move";
    return `${verb} ${ref.startsWith("refs/agent-work/") ? ref.split("/").at(-1) : "branch"}`;
  });
  // What is made is what matters, then what is removed.
  return `push ${each.sort().join(", ")}`;
}

function nameOfFetch(path: string, query: string): string {
  if (path.endsWith("/git-upload-pack")) return "fetch";
  return query.includes("receive") ? "list for push" : "list";
}

/** Names a request to the API. A request for a pull request without a title only finds out whether one may be opened. */
function nameOf(method: string | undefined, path: string, sent: Record<string, unknown>): string {
  const name = `${method} ${path === "" ? "repository" : path.replace(/^\//, "")}`;
  return name === "POST pulls" && sent.title === undefined ? `${name} without a title` : name;
}
