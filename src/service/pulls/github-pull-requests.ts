import type { Change, PullRequests } from "./pull-requests.ts";

/** A repository on GitHub, on a GitHub Enterprise Server, or on what behaves like one. */
export interface GitHubRepository {
  /** Base address of its API, without a slash at the end. */
  apiUrl: string;
  owner: string;
  name: string;
  token: string;
}

interface Pull {
  html_url: string;
  state: string;
}

const requestTimeoutMs = 30_000;

/** Pull requests through GitHub's API. GitHub's documentation: "REST API endpoints for pull requests". */
export class GitHubPullRequests implements PullRequests {
  readonly #repository: GitHubRepository;

  constructor(repository: GitHubRepository) {
    this.#repository = repository;
  }

  async open({ title, prompt, branch, target, jobId }: Change): Promise<string> {
    const head = encodeURIComponent(`${this.#repository.owner}:${branch}`);
    const [open] = (await this.#request("GET", `/pulls?state=open&head=${head}`)) as Pull[];
    if (open) return open.html_url;
    const body = `What the agent was asked for:\n\n${fenced(prompt)}\n\nJob \`${jobId}\`.`;
    const created = (await this.#request("POST", "/pulls", { title, head: branch, base: target, body })) as Pull;
    return created.html_url;
  }

  async isClosed({ link }: { link: string }): Promise<boolean> {
    const number = /\/(\d+)$/.exec(link)?.[1];
    if (number === undefined) throw new Error(`no link to a pull request: ${link}`);
    return ((await this.#request("GET", `/pulls/${number}`)) as Pull).state === "closed";
  }

  async #request(method: string, path: string, body?: unknown): Promise<unknown> {
    const { apiUrl, owner, name, token } = this.#repository;
    const response = await fetch(`${apiUrl}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}${path}`, {
      method,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "user-agent": "agent-job-service",
        "x-github-api-version": "2022-11-28",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestTimeoutMs),
      redirect: "error",
    });
    if (!response.ok) throw new Error(`GitHub answered ${response.status} to ${method} ${path.split("?")[0]}`);
    return response.json();
  }
}

/** Text that mentions nobody and renders nothing. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
