import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type LoopbackServer, listen } from "../../src/http/listen.ts";

/** A pull request on the server. */
export interface ServedPullRequest {
  number: number;
  state: "open" | "closed";
  merged_at: string | null;
  /** Milliseconds since 1970. */
  updatedAt: number;
  /** The branch. */
  head: string;
  /** The last commit of the branch. Default: unknown. */
  sha?: string;
  /** Default: `main`. */
  base?: string;
  closed_at?: string;
  title?: string;
}

/** What answers a request in place of the server. `body` is sent as it is if it is a string. */
export interface ServedResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface PullRequestServer extends LoopbackServer {
  pulls: Map<number, ServedPullRequest>;
  /** Every request, as `POST /repos/acme/docs/pulls`, with its query. */
  requests: string[];
  /** The headers of every request. */
  headers: IncomingHttpHeaders[];
  /** What `GET /repos/…` returns besides the name. */
  repository: Record<string, unknown>;
  /** The current owner and name. Requests with another name are redirected. */
  name: string;
  /** May answer a request in place of the server. */
  answer: (request: string, body: string) => ServedResponse | undefined;
  /** Adds an open pull request. */
  add(head?: string): ServedPullRequest;
  /** Closes a pull request at the time of the server, which then advances by a second. */
  close(number: number, isMerged?: boolean): void;
  /** The time of the server, in milliseconds since 1970. */
  now: number;
  /** Returns the link of a pull request, as it is now. */
  link(number: number): string;
}

const repositoryId = 7;

/**
 * Starts a server on loopback that serves the pull requests of one repository, `acme/docs`, as GitHub does: with pages,
 * filters, orders, entity tags, and redirects after the repository was renamed.
 */
export async function startPullRequestServer(): Promise<PullRequestServer> {
  const listener = await listen(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const route = `${request.method} ${request.url}`;
    served.requests.push(route);
    served.headers.push(request.headers);
    const { status, body: data, headers = {} } = served.answer(route, body) ?? respond(served, route, body);
    const text = typeof data === "string" ? data : JSON.stringify(data ?? {});
    const etag = `W/"${createHash("sha1").update(text).digest("hex")}"`;
    const isKnown = status === 200 && request.headers["if-none-match"] === etag;
    response.writeHead(isKnown ? 304 : status, { "content-type": "application/json", etag, ...headers });
    response.end(isKnown ? undefined : text);
  });
  const served: PullRequestServer = {
    ...listener,
    pulls: new Map(),
    requests: [],
    headers: [],
    repository: { permissions: { push: true } },
    name: "acme/docs",
    answer: () => undefined,
    now: Date.UTC(2026, 0, 1),
    add(head = `agent/job_${served.pulls.size + 1}`) {
      const number = served.pulls.size + 1;
      const pull: ServedPullRequest = { number, state: "open", merged_at: null, updatedAt: served.now, head };
      served.pulls.set(number, pull);
      return pull;
    },
    close(number, isMerged = false) {
      const pull = served.pulls.get(number);
      if (!pull) throw new Error(`no pull request ${number}`);
      served.now += 1000;
      const merged_at = isMerged ? new Date(served.now).toISOString() : null;
      const closed_at = new Date(served.now).toISOString();
      Object.assign(pull, { state: "closed", merged_at, closed_at, updatedAt: served.now });
    },
    link: (number) => `https://github.com/${served.name}/pull/${number}`,
  };
  return served;
}

function respond(server: PullRequestServer, route: string, body: string): ServedResponse {
  const [method = "", target = ""] = route.split(" ");
  const { pathname, search, searchParams } = new URL(target, server.url);
  const [, owner, path] = /^\/(?:repos\/([^/]+\/[^/]+)|repositories\/7)(.*)$/.exec(pathname) ?? [];
  const notFound = { status: 404, body: { message: "Not Found" } };
  if (path === undefined) return notFound;
  if (pathname.startsWith("/repos/") && owner?.toLowerCase() !== server.name.toLowerCase()) {
    const location = `${server.url}/repositories/${repositoryId}${path}${search}`;
    if (owner !== "acme/docs") return notFound;
    return { status: method === "GET" ? 301 : 307, headers: { location } };
  }
  const show = ({ updatedAt, head, sha, base = "main", ...rest }: ServedPullRequest) => ({
    ...rest,
    html_url: server.link(rest.number),
    updated_at: new Date(updatedAt).toISOString(),
    head: { ref: head, sha },
    base: { ref: base },
  });
  if (path === "")
    return {
      status: 200,
      body: {
        id: repositoryId,
        full_name: server.name,
        html_url: `https://github.com/${server.name}`,
        ...server.repository,
      },
    };
  if (method === "GET" && path === "/pulls") {
    const {
      state = "open",
      head,
      base,
      sort,
      direction,
      per_page = "30",
      page = "1",
    } = Object.fromEntries(searchParams);
    const found = [...server.pulls.values()].filter(
      (pull) =>
        (state === "all" || pull.state === state) &&
        (base === undefined || base === (pull.base ?? "main")) &&
        (head === undefined || head === `${server.name.split("/")[0]}:${pull.head}`),
    );
    found.sort((a, b) => (sort === "updated" ? b.updatedAt - a.updatedAt : b.number - a.number));
    if (direction === "asc") found.reverse();
    const start = Number(per_page) * (Number(page) - 1);
    return { status: 200, body: found.slice(start, start + Number(per_page)).map(show) };
  }
  if (method === "POST" && path === "/pulls") {
    const { head, base = "main", title } = JSON.parse(body) as { head: string; base?: string; title: string };
    const open = [...server.pulls.values()].filter(({ state }) => state === "open");
    if (open.some((pull) => pull.head === head && (pull.base ?? "main") === base))
      return { status: 422, body: { message: `A pull request already exists for ${head}.` } };
    return { status: 201, body: show(Object.assign(server.add(head), { base, title })) };
  }
  const pull = server.pulls.get(Number(/^\/pulls\/(\d+)$/.exec(path)?.[1]));
  return pull ? { status: 200, body: show(pull) } : notFound;
}
