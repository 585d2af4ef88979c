import type { GitHub, RequestLimits } from "../../src/action/runner/github.ts";
import { GitHubError } from "../../src/action/runner/github-error.ts";
import { epoch } from "./fake-clock.ts";

interface FakeFile {
  filename: string;
  status: string;
  additions: number;
  deletions: number;
  patch?: string;
  previous_filename?: string;
}

interface FakeCommit {
  sha: string;
  parents: string[];
  message: string;
  /** In milliseconds since 1970. */
  at: number;
  files: FakeFile[];
}

interface FakePull {
  merged: boolean;
  merge_commit_sha: string | null;
  base: { sha: string };
  head: { sha: string };
  commits: string[];
}

export interface NewCommit {
  message?: string;
  /** Hours since the start of the fake clock; negative before it. Default: an hour before. */
  hours?: number;
  /** Paths, or whole files. */
  files?: readonly (string | FakeFile)[];
  /** Default: the head of the branch. */
  parents?: string[];
}

/** A repository on GitHub with a history, at the port: what "Compare two commits" and its relatives return. */
export class FakeRepository implements GitHub {
  readonly commits = new Map<string, FakeCommit>();
  readonly refs = new Map<string, string>();
  readonly pulls = new Map<number, FakePull>();
  /** The commits that pull requests from forks brought. */
  readonly ofForks = new Set<string>();
  releases: { tag_name: string; draft: boolean }[] = [];
  readonly routes: string[] = [];
  /** May throw instead of returning a response. */
  fault: (route: string, parameters: Record<string, unknown>, limits: RequestLimits) => void = () => {};

  constructor() {
    this.commit("main", { message: "Initial commit", hours: -1000, files: ["README.md"] });
  }

  /** Adds a commit to a branch, and returns its id. */
  commit(branch: string, { message = "Change it", hours = -1, files = [], parents }: NewCommit = {}): string {
    const sha = (this.commits.size + 1).toString(16).padStart(7, "0").padEnd(40, "c");
    const head = this.refs.get(branch);
    this.commits.set(sha, {
      sha,
      parents: parents ?? (head === undefined ? [] : [head]),
      message,
      at: epoch + hours * 3_600_000,
      files: files.map((file) => (typeof file === "string" ? modified(file) : file)),
    });
    this.refs.set(branch, sha);
    return sha;
  }

  /** Adds a branch or tag. */
  ref(name: string, sha = this.head()): void {
    this.refs.set(name, sha);
  }

  head(branch = "main"): string {
    return this.#resolve(branch);
  }

  /** Merges a branch into `main` as a pull request. Returns the commit that `main` is at then. */
  merge(number: number, branch: string, how: "merge" | "squash" | "rebase", message?: string): string {
    const base = this.head();
    const own = this.#range(base, this.head(branch));
    if (how === "merge") {
      this.commit("main", {
        message: message ?? `Merge pull request #${number} from acme/${branch}\n\nTitle of ${number}`,
        parents: [base, this.head(branch)],
      });
    } else if (how === "squash") {
      this.commit("main", {
        message: message ?? `Title of ${number} (#${number})`,
        files: own.flatMap((commit) => commit.files),
      });
    } else {
      for (const commit of own) this.commit("main", { message: commit.message, files: commit.files });
    }
    this.pulls.set(number, {
      merged: true,
      merge_commit_sha: this.head(),
      base: { sha: base },
      head: { sha: this.head(branch) },
      commits: own.map(({ sha }) => sha),
    });
    return this.head();
  }

  async request(route: string, parameters: Record<string, unknown>, limits: RequestLimits): Promise<unknown> {
    if (limits.signal.aborted) throw new GitHubError("aborted", undefined);
    const path = route.replace(/\{(\w+)\}/g, (_text, name: string) => String(parameters[name]));
    this.routes.push(path);
    this.fault(route, parameters, limits);
    const page = Number(parameters.page ?? 1);
    switch (route.replace("GET /repos/{owner}/{repo}/", "")) {
      case "compare/{basehead}":
        return this.#compare(String(parameters.basehead), page);
      case "commits": {
        const since = parameters.since === undefined ? -Infinity : Date.parse(String(parameters.since));
        const commits = this.#range(undefined, this.#resolve(String(parameters.sha))).filter(({ at }) => at >= since);
        return pageOf(commits.toReversed().map(toResponse), page);
      }
      case "commits/{ref}": {
        const shown = this.#commit(this.#resolve(String(parameters.ref)));
        return { ...toResponse(shown), files: shown.files };
      }
      case "commits/{ref}/pulls": {
        const base = { repo: { id: 1 } };
        return this.ofForks.has(String(parameters.ref)) ? [{ head: { repo: null }, base }] : [{ head: base, base }];
      }
      case "git/trees/{ref}": {
        const all = this.#range(undefined, this.#resolve(String(parameters.ref)));
        const types = new Map(all.flatMap(({ files }) => files.map((file) => [file.filename, typeOf(file)] as const)));
        const tree = [...types].map(([path, type]) => ({ path, type }));
        return { truncated: false, tree: [{ path: "a-folder", type: "tree" }, ...tree] };
      }
      case "pulls/{pull_number}":
        return this.#pull(Number(parameters.pull_number));
      case "pulls/{pull_number}/commits":
        return this.#pull(Number(parameters.pull_number)).commits.map((sha) => toResponse(this.#commit(sha)));
    }
    throw new Error(`no such route: ${route}`);
  }

  async paginate(route: string, parameters: Record<string, unknown>, limits: RequestLimits): Promise<unknown[]> {
    this.routes.push(route.replace("{owner}/{repo}", `${parameters.owner}/${parameters.repo}`));
    this.fault(route, parameters, limits);
    if (route.endsWith("/releases")) return this.releases;
    if (route.endsWith("/tags")) return [...this.refs.keys()].map((name) => ({ name }));
    throw new Error(`no such route: ${route}`);
  }

  /** Everything that `head` has and `base` lacks, oldest first. */
  #range(base: string | undefined, head: string): FakeCommit[] {
    const known = base === undefined ? new Set<string>() : new Set(this.#range(undefined, base).map(({ sha }) => sha));
    const found = new Map<string, FakeCommit>();
    const queue = [head];
    for (let sha = queue.shift(); sha !== undefined; sha = queue.shift()) {
      if (known.has(sha) || found.has(sha)) continue;
      const commit = this.#commit(sha);
      found.set(sha, commit);
      queue.push(...commit.parents);
    }
    return [...found.values()].sort((one, other) => one.sha.localeCompare(other.sha));
  }

  #compare(basehead: string, page: number): unknown {
    const [base = "", head = ""] = basehead.split("...");
    const [from, to] = [this.#resolve(base), this.#resolve(head)];
    const commits = this.#range(from, to);
    const behind = this.#range(to, from);
    const ahead = commits.length === 0 ? "identical" : "ahead";
    const status = behind.length === 0 ? ahead : commits.length === 0 ? "behind" : "diverged";
    const files = new Map(commits.flatMap((commit) => commit.files).map((file) => [file.filename, file]));
    return {
      status,
      total_commits: commits.length,
      commits: pageOf(commits.map(toResponse), page),
      ...(page === 1 && { files: [...files.values()].slice(0, 300) }),
    };
  }

  #pull(number: number): FakePull {
    const pull = this.pulls.get(number);
    if (!pull) throw new GitHubError("Not Found", 404);
    return pull;
  }

  #resolve(ref: string): string {
    const sha = this.refs.get(ref) ?? ref;
    return this.#commit(sha).sha;
  }

  #commit(sha: string): FakeCommit {
    const commit = this.commits.get(sha);
    if (!commit) throw new GitHubError("Not Found", 404);
    return commit;
  }
}

/** Returns a file as GitHub lists it. */
export function modified(filename: string, fields: Partial<FakeFile> = {}): FakeFile {
  return { filename, status: "modified", additions: 2, deletions: 1, patch: `@@ -1 +1,2 @@ ${filename}`, ...fields };
}

/** Returns a submodule that was moved to another commit, as GitHub lists it. */
export function movedSubmodule(filename: string): FakeFile {
  const patch = `@@ -1 +1 @@\n-Subproject commit ${"1".repeat(40)}\n+Subproject commit ${"2".repeat(40)}`;
  return modified(filename, { additions: 1, patch });
}

const typeOf = ({ patch = "" }: FakeFile): string => (patch.includes("Subproject commit") ? "commit" : "blob");

function toResponse({ sha, parents, message }: FakeCommit) {
  return { sha, parents: parents.map((parent) => ({ sha: parent })), commit: { message } };
}

function pageOf<T>(items: readonly T[], page: number): T[] {
  return items.slice((page - 1) * 100, page * 100);
}
