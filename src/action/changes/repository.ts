import * as z from "zod/mini";
import type { Clock } from "../../client/clock.ts";
import type { GitHub, RequestLimits } from "../runner/github.ts";
import type { ChangedFile, Commit } from "./changes.ts";

/** For each request with its retries, in milliseconds. */
const requestTimeoutMs = 20_000;
/** For all requests together, in milliseconds. */
const totalTimeoutMs = 120_000;
/** How many pages of commits, tags or releases are read, with 100 items each. GitHub limits its own lists as well. */
const maxPages = 50;
/** GitHub lists this many files of a comparison. GitHub's documentation: "Compare two commits". */
const maxListedFiles = 300;
/** In UTF-16 units; only the beginning of a message is used. */
const maxMessageLength = 500;

const commit = z.object({
  sha: z.string(),
  parents: z.array(z.object({ sha: z.string() })),
  commit: z.object({ message: z.string() }),
});

const file = z.object({
  filename: z.string(),
  previous_filename: z.optional(z.string()),
  status: z.string(),
  additions: z.int(),
  deletions: z.int(),
  patch: z.optional(z.string()),
});

const comparison = z.object({
  status: z.string(),
  total_commits: z.int(),
  commits: z.array(commit),
  files: z.optional(z.array(file)),
});

const pullRequest = z.object({
  merged: z.boolean(),
  merge_commit_sha: z.nullish(z.string()),
  base: z.object({ sha: z.string() }),
  head: z.object({ sha: z.string() }),
});

const release = z.object({ tag_name: z.string(), draft: z.boolean() });
const tag = z.object({ name: z.string() });

/** What is between two commits. */
export interface Comparison {
  base: string;
  head: string;
  /** How `head` relates to `base`: `ahead`, `behind`, `identical` or `diverged`. */
  status: string;
  commitCount: number;
  /** The first 5,000. */
  commits: Commit[];
  /** The first 300. */
  files: ChangedFile[];
  isTruncated: boolean;
}

export interface RepositoryPorts {
  github: GitHub;
  clock: Clock;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
}

/** A repository on GitHub, read through its API. Every method throws if GitHub cannot be asked. */
export class Repository {
  readonly owner: string;
  readonly name: string;
  readonly #ports: RepositoryPorts;
  readonly #deadline: number;

  /** @param fullName - `owner/name`: `GITHUB_REPOSITORY` */
  constructor(fullName: string, ports: RepositoryPorts) {
    const [owner = "", name = ""] = fullName.split("/");
    this.owner = owner;
    this.name = name;
    this.#ports = ports;
    this.#deadline = ports.clock.now() + totalTimeoutMs;
  }

  /** Compares the merge base of two commits with `head`. GitHub's documentation: "Compare two commits". */
  async compare(base: string, head: string): Promise<Comparison> {
    const commits: Commit[] = [];
    const files: ChangedFile[] = [];
    let status = "";
    let commitCount = 0;
    for (let page = 1; page <= maxPages; page++) {
      const parameters = { basehead: `${base}...${head}`, per_page: 100, page };
      const data = parse(comparison, await this.#get("compare/{basehead}", parameters));
      // Only the first page has files.
      if (page === 1 && !data.files && data.total_commits > 0) throw new Error("GitHub's response lists no files");
      files.push(...(page === 1 ? (data.files ?? []).map(toFile) : []));
      commits.push(...data.commits.map(toCommit));
      status = data.status;
      commitCount = data.total_commits;
      if (commits.length >= commitCount || data.commits.length === 0) break;
    }
    return { base, head, status, commitCount, commits, files, isTruncated: files.length >= maxListedFiles };
  }

  /**
   * Returns the commit that a branch was at some time ago: the newest one on the way back from `head`, along first
   * parents, that was committed before `time`. So the changes of a branch that was merged since then count, however old.
   *
   * @param head - the full id of a commit
   */
  async commitBefore(head: string, time: Date): Promise<string> {
    const newer = new Map<string, Commit>();
    for (let page = 1; page <= maxPages; page++) {
      const parameters = { sha: head, since: time.toISOString(), per_page: 100, page };
      const commits = parse(z.array(commit), await this.#get("commits", parameters)).map(toCommit);
      for (const each of commits) newer.set(each.sha, each);
      if (commits.length < 100) break;
    }
    let sha = head;
    for (let next = newer.get(sha); next; next = newer.get(sha)) {
      const [parent] = next.parents;
      // The repository began in this time.
      if (parent === undefined) return sha;
      sha = parent;
    }
    return sha;
  }

  /** Returns the tags of all releases but drafts. GitHub's documentation: "List releases". */
  async releaseTags(): Promise<string[]> {
    const releases = parse(z.array(release), await this.#list("releases"));
    return releases.filter(({ draft }) => !draft).map(({ tag_name }) => tag_name);
  }

  /** Returns the names of all tags. GitHub's documentation: "List repository tags". */
  async tags(): Promise<string[]> {
    return parse(z.array(tag), await this.#list("tags")).map(({ name }) => name);
  }

  /** Reads a pull request. GitHub's documentation: "Get a pull request". */
  async pullRequest(number: number): Promise<{ base: string; head: string; mergeCommit: string | undefined }> {
    const data = parse(pullRequest, await this.#get("pulls/{pull_number}", { pull_number: number }));
    const mergeCommit = data.merged ? (data.merge_commit_sha ?? undefined) : undefined;
    return { base: data.base.sha, head: data.head.sha, mergeCommit };
  }

  /** Returns the messages of a pull request's first 100 commits, oldest first. */
  async pullRequestMessages(number: number): Promise<string[]> {
    const parameters = { pull_number: number, per_page: 100 };
    const commits = parse(z.array(commit), await this.#get("pulls/{pull_number}/commits", parameters));
    return commits.map((each) => toCommit(each).message);
  }

  #get(path: string, parameters: Record<string, unknown>): Promise<unknown> {
    const { github } = this.#ports;
    return github.request(this.#route(path), this.#parameters(parameters), this.#limits());
  }

  #list(path: string): Promise<unknown[]> {
    const { github, clock } = this.#ports;
    const limits = { ...this.#limits(), totalTimeoutMs: this.#deadline - clock.now() };
    return github.paginate(this.#route(path), this.#parameters({}), limits);
  }

  #route(path: string): string {
    return `GET /repos/{owner}/{repo}/${path}`;
  }

  #parameters(parameters: Record<string, unknown>): Record<string, unknown> {
    return { owner: this.owner, repo: this.name, ...parameters };
  }

  #limits(): RequestLimits {
    const { clock, signal } = this.#ports;
    return { timeoutMs: Math.min(requestTimeoutMs, this.#deadline - clock.now()), signal };
  }
}

function parse<T>(schema: z.ZodMiniType<T>, response: unknown): T {
  const { data } = schema.safeParse(response);
  if (data === undefined) throw new Error("GitHub's response is not usable");
  return data;
}

function toCommit({ sha, parents, commit: { message } }: z.infer<typeof commit>): Commit {
  return { sha, parents: parents.map((parent) => parent.sha), message: message.slice(0, maxMessageLength) };
}

function toFile({ filename, previous_filename, ...rest }: z.infer<typeof file>): ChangedFile {
  const { status, additions, deletions, patch } = rest;
  return { name: filename, previousName: previous_filename, status, additions, deletions, patch };
}
