import type { ServerResponse } from "node:http";
import { type LoopbackServer, listen } from "../../service/src/http/listen.ts";
import { GitHubError } from "../../src/action/runner/github-error.ts";
import { FakeGitHub } from "./fake-github.ts";

export interface GitHubServer extends LoopbackServer {
  github: FakeGitHub;
  /** Every request, as `POST /repos/…`. */
  requests: string[];
}

/** May respond in place of GitHub, and returns whether it did. `n` counts the requests to the same route from 1. */
export type GitHubFault = (route: string, n: number, response: ServerResponse) => boolean;

const routes: [RegExp, string[]][] = [
  [/^GET .*\/collaborators\/([^/]+)\/permission$/, ["username"]],
  [/^POST .*\/comments\/(\d+)\/(?:reactions|replies)$/, ["comment_id"]],
  [/^POST .*\/issues\/\d+\/(?:comments|reactions)$/, []],
  [/^DELETE .*\/issues\/\d+\/labels\/([^/]+)$/, ["name"]],
  [/^(?:PATCH|DELETE) .*\/comments\/(\d+)$/, ["comment_id"]],
  [/^GET .*\/reviews\/(\d+)(?:\/comments)?$/, ["review_id"]],
  [/^GET .*\/comments$/, []],
  [/^GET .*\/comments\/(\d+)$/, ["comment_id"]],
  [/^GET .*\/issues\/(\d+)$/, ["issue_number"]],
];

/** The routes of a history, which is asked by the names of GitHub's documentation. */
const historyRoutes: [RegExp, string, string][] = [
  [/^GET \/repos\/[^/]+\/[^/]+\/compare\/([^/]+)$/, "compare/{basehead}", "basehead"],
  [/^GET \/repos\/[^/]+\/[^/]+\/(commits)$/, "commits", "_"],
  [/^GET \/repos\/[^/]+\/[^/]+\/commits\/([^/]+)$/, "commits/{ref}", "ref"],
  [/^GET \/repos\/[^/]+\/[^/]+\/pulls\/(\d+)$/, "pulls/{pull_number}", "pull_number"],
  [/^GET \/repos\/[^/]+\/[^/]+\/pulls\/(\d+)\/commits$/, "pulls/{pull_number}/commits", "pull_number"],
];

/** Starts a GitHub server on loopback with a single thread and every route that comment mode uses. */
export async function startGitHub(fault: GitHubFault = () => false): Promise<GitHubServer> {
  const github = new FakeGitHub();
  const requests: string[] = [];
  const counts = new Map<string, number>();
  const server = await listen(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const route = `${request.method} ${url.pathname}`;
    requests.push(`${request.method} ${request.url}`);
    const n = (counts.get(route) ?? 0) + 1;
    counts.set(route, n);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (fault(route, n, response)) return;
    const body = chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>) : {};
    const [pattern, names] = routes.find(([one]) => one.test(route)) ?? [/$^/, []];
    const values = pattern.exec(route)?.slice(1) ?? [];
    const parameters = {
      ...Object.fromEntries(url.searchParams),
      ...body,
      ...Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(values[index] ?? "")])),
    };
    try {
      const limits = { timeoutMs: 0, signal: new AbortController().signal };
      const history = historyRoutes.find(([one]) => one.test(route));
      if (github.repository && history) {
        const [one, template, name] = history;
        const value = decodeURIComponent(one.exec(route)?.[1] ?? "");
        const asked = { ...parameters, [name]: value };
        const found = await github.repository.request(`GET /repos/{owner}/{repo}/${template}`, asked, limits);
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
        return;
      }
      const name = route.replace(/\/reviews\/\d+/, "/reviews/{review_id}");
      const data = await github.request(name, parameters, limits);
      const page = Number(url.searchParams.get("page") ?? 1);
      const perPage = Number(url.searchParams.get("per_page") ?? 30);
      const next = new URL(url.pathname + url.search, `http://${request.headers.host}`);
      next.searchParams.set("page", String(page + 1));
      response.writeHead(200, {
        "content-type": "application/json",
        ...(Array.isArray(data) &&
          (name === route ? github.hasNextPage(page, perPage) : data.length === perPage) && {
            link: `<${next.href}>; rel="next"`,
          }),
      });
      response.end(JSON.stringify(data));
    } catch (error) {
      const status = error instanceof GitHubError ? (error.status ?? 500) : 404;
      response.writeHead(status, { "content-type": "application/json" }).end('{"message":"Not Found"}');
    }
  });
  return { ...server, github, requests };
}
