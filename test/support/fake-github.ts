import type { GitHub, RequestLimits } from "../../src/action/runner/github.ts";
import { GitHubError } from "../../src/action/runner/github-error.ts";

/** What the history of the repository is read with. */
const historyRoute = /^GET \/repos\/\{owner\}\/\{repo\}\/(?:compare|(?:git\/)?commits|pulls\/\{pull_number\}$)/;

/** What a comment, issue or pull request is read again with. */
const askedRoute = /^GET .*\/(?:comments|issues)\/(?:\{comment_id\}|\{issue_number\}|\d+)$/;

export interface FakeComment {
  id: number;
  user: { id: number; login: string };
  body: string;
  in_reply_to_id?: number;
  created_at?: string;
  updated_at?: string;
  minimized?: object;
}

/** A review. A comment of it is by `writer`, on line 3 of `a.md`, unless it says otherwise. */
export interface FakeReview {
  body: string | null;
  comments: { body: string; [field: string]: unknown }[];
}

export interface GitHubCall {
  route: string;
  parameters: Record<string, unknown>;
  limits: RequestLimits;
}

/** The account that the token belongs to. */
export const bot = { id: 41898282, login: "github-actions[bot]" };

/** GitHub with a single thread, at the port. `fault` may throw instead of returning a response. */
export class FakeGitHub implements GitHub {
  readonly calls: GitHubCall[] = [];
  readonly comments: FakeComment[] = [];
  readonly reactions: string[] = [];
  /** The reviews, by their id; any other is a single comment without a text. */
  readonly reviews = new Map<number, FakeReview>();
  /** The labels of the issue or pull request. */
  labels: string[] = [];
  /** The response to the permission route, except for bots, which have no permission. */
  permission: unknown = { permission: "write", role_name: "write" };
  /** People who may only read. */
  readonly readers = new Set<string>();
  /** What asks, as it is read again; by default, GitHub does not tell what could have changed. */
  asked: unknown = {};
  /** What happened to the issue or pull request. */
  events: unknown[] = [];
  fault: (call: GitHubCall) => void | Promise<void> = () => {};
  /** The history of the repository. */
  repository: GitHub | undefined;
  /** The largest page, whatever `per_page` asks for. */
  maxPerPage = 100;
  #nextId = 1000;
  readonly #reacted = new Set<string>();

  async request(route: string, parameters: Record<string, unknown>, limits: RequestLimits): Promise<unknown> {
    const call = { route, parameters, limits };
    this.calls.push(call);
    if (limits.signal.aborted && !limits.graceMs) throw new Error("aborted");
    await this.fault(call);
    if (this.repository && historyRoute.test(route)) return this.repository.request(route, parameters, limits);
    if (route.endsWith("/permission")) {
      const isBot = String(parameters.username).endsWith("[bot]");
      if (isBot) return { permission: "none", role_name: "none" };
      return this.readers.has(String(parameters.username)) ? { permission: "read" } : this.permission;
    }
    if (route.endsWith("/reactions")) {
      const { content, comment_id: id = "subject" } = parameters;
      limits.onStatus?.(this.#reacted.has(`${id} ${content}`) ? 200 : 201);
      this.#reacted.add(`${id} ${content}`);
      this.reactions.push(String(content));
      return { id: 1, user: bot, content: parameters.content };
    }
    if (route.startsWith("DELETE ") && /\/labels\/[^/]+$/.test(route))
      return this.#removeLabel(String(parameters.name));
    if (/^DELETE .*\/comments\/\{comment_id\}$/.test(route)) return this.#remove(Number(parameters.comment_id));
    const review = /\/reviews\/\{review_id\}(\/comments)?$/.exec(route);
    if (askedRoute.test(route)) return this.asked;
    if (route.endsWith("/events")) return this.events;
    if (review) return this.#review(Number(parameters.review_id), review[1] ? Number(parameters.page ?? 1) : undefined);
    if (route.startsWith("GET ")) return this.#page(Number(parameters.page ?? 1), Number(parameters.per_page));
    if (route.startsWith("POST "))
      return this.add(bot, String(parameters.body), Number(parameters.comment_id) || undefined);
    if (route.startsWith("PATCH ")) return this.#edit(Number(parameters.comment_id), String(parameters.body));
    throw new Error(`no such route: ${route}`);
  }

  async paginate(route: string, parameters: Record<string, unknown>, limits: RequestLimits): Promise<unknown[]> {
    const items: unknown[] = [];
    for (let page = 1; ; page++) {
      const data = await this.request(route, { ...parameters, page, per_page: 100 }, limits);
      if (!Array.isArray(data)) throw new Error("not a list");
      items.push(...data);
      if (route.includes("/reviews/") ? data.length < 100 : !this.hasNextPage(page, 100)) return items;
    }
  }

  /** Adds a comment to the thread. */
  add(user: FakeComment["user"], body: string, root?: number): FakeComment {
    const comment = { id: this.#nextId++, user, body, ...(root !== undefined && { in_reply_to_id: root }) };
    this.comments.push(comment);
    return { ...comment };
  }

  /** The text of the newest reply. */
  get reply(): string {
    return this.comments.findLast(({ user }) => user.id === bot.id)?.body ?? "";
  }

  routes(method: string): string[] {
    return this.calls.map(({ route }) => route).filter((route) => route.startsWith(`${method} `));
  }

  hasNextPage(page: number, perPage: number): boolean {
    return page * Math.min(perPage, this.maxPerPage) < this.comments.length;
  }

  #page(page: number, perPage: number): FakeComment[] {
    const size = Math.min(perPage, this.maxPerPage);
    return this.comments.slice((page - 1) * size, page * size).map((comment) => ({ ...comment }));
  }

  #review(id: number, page: number | undefined): unknown {
    const { body, comments } = this.reviews.get(id) ?? { body: "", comments: [{ body: "" }] };
    if (page === undefined) return { id, body };
    const defaults = { user: { login: "writer" }, path: "a.md", line: 3 };
    return comments
      .slice((page - 1) * 100, page * 100)
      .map((comment, index) => ({ id: index, ...defaults, ...comment }));
  }

  #removeLabel(name: string): unknown[] {
    const labels = this.labels.filter((label) => label.toLowerCase() !== name.toLowerCase());
    if (labels.length === this.labels.length) throw new GitHubError("Label does not exist", 404);
    this.labels = labels;
    return labels.map((label) => ({ name: label }));
  }

  #edit(id: number, body: string): FakeComment {
    const comment = this.comments.find((one) => one.id === id);
    if (!comment) throw new GitHubError("Not Found", 404);
    comment.body = body;
    return { ...comment };
  }

  #remove(id: number): undefined {
    const index = this.comments.findIndex((one) => one.id === id);
    if (index < 0) throw new GitHubError("Not Found", 404);
    this.comments.splice(index, 1);
  }
}
