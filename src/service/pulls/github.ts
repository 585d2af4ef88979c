import { setTimeout } from "node:timers/promises";
import type { Change, MadePull, PullRequests, PullState } from "./pull-requests.ts";

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
  merged_at: string | null;
}

const requestTimeoutMs = 30_000;
/** Pauses before a pull request that could not be opened is tried again. */
const pausesMs = [1000, 5000];
const pageSize = 100;

/** Pull requests through GitHub's API. GitHub's documentation: "REST API endpoints for pull requests". */
export class GitHubPullRequests implements PullRequests {
  readonly #repository: GitHubRepository;
  readonly #signal: AbortSignal;

  /** @param signal - ends what is being asked and waited for */
  constructor(repository: GitHubRepository, signal: AbortSignal) {
    this.#repository = repository;
    this.#signal = signal;
  }

  async open(change: Change): Promise<string> {
    for (const pauseMs of pausesMs) {
      try {
        return await this.#findOrCreate(change);
      } catch (error) {
        if (error instanceof Refusal && error.status < 500) throw error;
        await setTimeout(pauseMs, undefined, { signal: this.#signal });
      }
    }
    return this.#findOrCreate(change);
  }

  async stateOf({ link }: MadePull): Promise<PullState> {
    const { owner, name } = this.#repository;
    const [path, number] = /\/([^/]+\/[^/]+)\/pull\/(\d+)$/.exec(link)?.slice(1) ?? [];
    // One that was made elsewhere, such as a page of the service itself from when it had no token.
    if (path?.toLowerCase() !== `${owner}/${name}`.toLowerCase()) return "open";
    const pull = await this.#request("GET", `/pulls/${number}`);
    if (!isPull(pull)) throw new Error("GitHub's answer is no pull request");
    if (pull.state !== "closed") return "open";
    return pull.merged_at === null ? "closed" : "merged";
  }

  async done(pulls: readonly MadePull[]): Promise<Set<string>> {
    if (pulls.length === 0) return new Set();
    const open = new Set<string>();
    for (let page = 1; ; page++) {
      const found = await this.#list(`state=open&per_page=${pageSize}&page=${page}`);
      for (const { html_url } of found) open.add(html_url);
      if (found.length < pageSize) break;
    }
    const done = new Set<string>();
    // One that moved between two pages would be missing: so those that are missing are asked for, which is once for each.
    for (const pull of pulls.filter(({ link }) => !open.has(link))) {
      // One that cannot be asked for must not keep the others.
      const state = await this.stateOf(pull).catch(() => "open" as const);
      if (state !== "open") done.add(pull.link);
    }
    return done;
  }

  async #findOrCreate({ title, prompt, branch, target, jobId }: Change): Promise<string> {
    const head = encodeURIComponent(`${this.#repository.owner}:${branch}`);
    const [open] = await this.#list(`state=open&head=${head}`);
    if (open) return open.html_url;
    const body = `What the agent was asked for:\n\n${fenced(prompt)}\n\nJob \`${jobId}\`.`;
    const created = await this.#request("POST", "/pulls", { title, head: branch, base: target, body });
    if (!isPull(created)) throw new Error("GitHub's answer is no pull request");
    return created.html_url;
  }

  async #list(query: string): Promise<Pull[]> {
    const found = await this.#request("GET", `/pulls?${query}`);
    if (!Array.isArray(found) || !found.every(isPull)) throw new Error("GitHub's answer is no list of pull requests");
    return found;
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
      signal: AbortSignal.any([this.#signal, AbortSignal.timeout(requestTimeoutMs)]),
      redirect: "error",
    });
    if (!response.ok) {
      const reason = (await response.text()).slice(0, 1000);
      throw new Refusal(
        response.status,
        `GitHub answered ${response.status} to ${method} ${path.split("?")[0]}: ${reason}`,
      );
    }
    return response.json();
  }
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function isPull(data: unknown): data is Pull {
  return (
    typeof data === "object" &&
    data !== null &&
    "html_url" in data &&
    typeof data.html_url === "string" &&
    /^https?:\/\/[^\s@]{1,2000}\/pull\/\d+$/.test(data.html_url) &&
    "state" in data &&
    "merged_at" in data
  );
}

/** Far less than GitHub takes as the text of a pull request. */
const longestPrompt = 20_000;

/** Text that mentions nobody and renders nothing. */
function fenced(prompt: string): string {
  const text = prompt.length > longestPrompt ? `${prompt.slice(0, longestPrompt)}\n[more is left out]` : prompt;
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
