import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createEmulator } from "emulate";
import type { DocsRepository } from "../../../tools/docs-repository.ts";
import { type LoopbackServer, listen } from "../../src/http/listen.ts";
import { allowGitOverHttp, answerGit } from "./git-over-http.ts";

/** May respond in place of GitHub, and returns whether it did. */
export type GitHubReply = (route: string, response: ServerResponse) => boolean;

export interface GitHub extends LoopbackServer {
  owner: string;
  /** Different in each test, because the service's port depends on it. */
  repo: string;
  /** The token of the workflow. It may push and open pull requests. */
  token: string;
  /** The token of a GitHub App, which may do the same, and what the two may still do; default: everything. */
  appToken: string;
  access: Map<string, "read" | "none">;
  /** Every request, as `POST /repos/…`. */
  requests: string[];
  /** `OWNER/NAME` of a repository without files, whose token is another one. */
  other: { name: string; token: string };
  /** The tokens of requests for a repository. */
  tokensFor(name: string): Set<string>;
  /** Who created branches, in GitHub's list of activities. Default: it tells of none. */
  creators: Map<string, "docs-bot" | "writer">;
  /** Calls the API as someone who may do everything. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

const token = "ghs_workflow_token_0123456789";
const appToken = "ghs_token_of_an_app_0123456789";
const writer = "writer";
/** The account of the workflow's token. */
const bot = "docs-bot";

/** Starts a GitHub with one repository: its API, and Git over HTTP with `git http-backend`. */
export async function startGitHubWithGit(docs: DocsRepository, reply: GitHubReply = () => false): Promise<GitHub> {
  const owner = "acme";
  const repo = `docs-${randomUUID()}`;
  const gitPath = new RegExp(`^/${owner}/${repo}(?:\\.git)?(/.*)$`);
  allowGitOverHttp(docs);
  const emulator = await createEmulator({
    service: "github",
    port: 0,
    seed: {
      tokens: {
        ...Object.fromEntries([token, appToken].map((one) => [one, { login: bot, scopes: ["repo"] }])),
        [writer]: { login: writer, scopes: ["repo"] },
      },
      github: {
        users: [owner, bot, writer].map((login) => ({ login })),
        repos: [repo, "product"].map((name) => ({ owner, name, auto_init: true })),
      },
    },
  });
  const requests: string[] = [];
  const authorizations: [route: string, authorization: string][] = [];
  const creators: GitHub["creators"] = new Map();
  const access: GitHub["access"] = new Map();
  /** The last heads of pull requests, by their numbers. */
  const heads = new Map<number, string>();
  const accountOf = async (login: string) => {
    const { id } = (await (await fetch(`${emulator.url}/users/${login}`)).json()) as { id: number };
    return { login, id };
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const route = `${request.method} ${url.pathname}`;
    requests.push(route);
    authorizations.push([route, request.headers.authorization ?? ""]);
    if (reply(route, response)) return request.resume();
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const given = tokenOf(request.headers.authorization ?? "");
    const [, path] = gitPath.exec(url.pathname) ?? [];
    if (path !== undefined) {
      const allowed = [token, appToken].includes(given) ? access.get(given) : "none";
      if (allowed === "none") {
        const denied = response.writeHead(401, { "www-authenticate": 'Basic realm="GitHub"' });
        return denied.end("Invalid username or token.");
      }
      if (allowed === "read" && `${url}`.includes("receive-pack"))
        return response.writeHead(403).end("Write access to repository not granted.");
      const { method, headers } = request;
      const asked = { method, headers, path, query: url.search, body: Buffer.concat(chunks) };
      const answer = await answerGit(docs, asked);
      return response.writeHead(answer.status, answer.headers).end(answer.body);
    }
    if (access.get(given) === "none") return send(response, 401, { message: "Bad credentials" });
    // The token of a GitHub App is of no user, but GraphQL knows it.
    if (route === "GET /user") return send(response, 403, { message: "Resource not accessible by integration" });
    if (route === "POST /graphql") {
      const { login, id } = await accountOf(bot);
      // The account of an App, as that of a workflow's token is.
      return send(response, 200, { data: { viewer: { login: `${login}[bot]`, databaseId: id } } });
    }
    if (route.startsWith(`GET /repos/${owner}/${repo}/rules/branches/`)) return send(response, 200, []);
    if (route === `GET /repos/${owner}/${repo}/activity`) {
      const ref = url.searchParams.get("ref") ?? "";
      const creator = creators.get(ref.replace("refs/heads/", ""));
      const activity = creator && { ref, activity_type: "branch_creation", actor: await accountOf(creator) };
      return send(response, 200, activity ? [activity] : []);
    }
    const answered = await fetch(`${emulator.url}${request.url}`, {
      method: request.method ?? "GET",
      headers: {
        authorization: request.headers.authorization ?? "",
        "content-type": request.headers["content-type"] ?? "application/json",
      },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const link = answered.headers.get("link");
    response.writeHead(answered.status, { "content-type": "application/json", ...(link !== null && { link }) });
    const body: unknown = await answered.json().catch(() => undefined);
    for (const one of Array.isArray(body) ? body : [body]) showHead(docs, heads, one);
    return response.end(body === undefined ? "" : JSON.stringify(body));
  };
  // A process that a test has killed can ask until the test has ended.
  const server = await listen((request, response) => void answer(request, response).catch(() => response.destroy()));
  return {
    ...server,
    owner,
    repo,
    token,
    appToken,
    access,
    requests,
    creators,
    other: { name: `${owner}/product`, token: writer },
    tokensFor: (name) => {
      const of = authorizations.filter(([route]) => route.split(/[/ ]+/).join("/").includes(`/${name}`));
      return new Set(of.map(([, authorization]) => tokenOf(authorization)));
    },
    call: async (method, path, body) => {
      const response = await fetch(`${emulator.url}/repos/${owner}/${repo}${path}`, {
        method,
        headers: { authorization: `Bearer ${writer}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.status === 204 ? undefined : response.json();
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await emulator.close();
    },
  };
}

/** Returns the token of a request to the API, or of one of Git's. */
function tokenOf(authorization: string): string {
  const [kind = "", value = ""] = authorization.split(" ");
  return kind.toLowerCase() === "basic" ? (Buffer.from(value, "base64").toString().split(":")[1] ?? "") : value;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/**
 * The emulator makes up the commits of branches. A pull request has the repository's commit, which can be fetched even after the
 * branch was deleted.
 */
function showHead(docs: DocsRepository, heads: Map<number, string>, one: unknown): void {
  const { head, number, state } = (one ?? {}) as {
    head?: { ref: string; sha: string };
    number?: number;
    state?: string;
  };
  if (head?.sha === undefined || number === undefined) return;
  // Once it is closed, it stays as it is.
  const commit = state === "closed" && heads.has(number) ? undefined : docs.findHead(head.ref);
  if (commit !== undefined && heads.get(number) !== commit) {
    docs.git("update-ref", `refs/pull/${number}/head`, commit);
    heads.set(number, commit);
  }
  head.sha = heads.get(number) ?? head.sha;
}
