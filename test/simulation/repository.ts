import type { Execution } from "./history.ts";
import { commitOf } from "./workflow.ts";

/** What the routes that plain mode uses return, besides `pulls`. */
const head = "f".repeat(40);
const file = { filename: "src/retry.ts", status: "modified", additions: 14, deletions: 3 };

/** The repository on GitHub as plain mode sees it: whether something changed, and the state of its pull requests. */
export class SimulatedRepository {
  readonly #pullRequests: Execution["pullRequests"];
  readonly #hasChanges: boolean;

  constructor(pullRequests: Execution["pullRequests"], hasChanges: boolean) {
    this.#pullRequests = pullRequests;
    this.#hasChanges = hasChanges;
  }

  async request(route: string, parameters: Record<string, unknown>): Promise<unknown> {
    const commit = { sha: head, parents: [{ sha: commitOf(0) }], commit: { message: "Add a retry limit" } };
    switch (route.replace("GET /repos/{owner}/{repo}/", "")) {
      case "compare/{basehead}":
        return this.#hasChanges
          ? { status: "ahead", total_commits: 1, commits: [commit], files: [file] }
          : { status: "identical", total_commits: 0, commits: [], files: [] };
      case "commits":
        return [{ ...commit, sha: String(parameters.sha) }];
      case "pulls/{pull_number}": {
        const isMerged = this.#pullRequests === "merged";
        const state = this.#pullRequests === "open" ? "open" : "closed";
        return { state, merged: isMerged, merge_commit_sha: null, base: { sha: head }, head: { sha: head } };
      }
    }
    throw new Error(`no such route: ${route}`);
  }

  hasNextPage(): boolean {
    return false;
  }
}
