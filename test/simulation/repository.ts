import { hasRunChangesOf } from "./history.ts";
import type { Scenario } from "./scenario.ts";
import { commitOf, runOfCommit } from "./workflow.ts";

/** What the routes that plain mode uses return. */
const head = "f".repeat(40);
const file = { filename: "src/retry.ts", status: "modified", additions: 14, deletions: 3 };

type PullRequestState = "open" | "merged" | "closed";

/** The repository on GitHub as plain mode sees it: what changed, and the state of its pull requests. */
export class SimulatedRepository {
  readonly #scenario: Pick<Scenario, "attempts">;
  readonly #pullRequests: () => readonly number[];
  readonly #over = new Map<number, PullRequestState>();

  /** @param pullRequests - returns the number of a pull request for each turn that has pushed to it by now */
  constructor(scenario: Pick<Scenario, "attempts">, pullRequests: () => readonly number[]) {
    this.#scenario = scenario;
    this.#pullRequests = pullRequests;
  }

  /** Merges or closes pull requests, those that are over excepted. */
  end(numbers: readonly number[], state: PullRequestState): void {
    for (const number of numbers) if (state !== "open" && !this.#over.has(number)) this.#over.set(number, state);
  }

  stateOf(number: number): PullRequestState {
    return this.#over.get(number) ?? "open";
  }

  async request(route: string, parameters: Record<string, unknown>): Promise<unknown> {
    const commit = { sha: head, parents: [{ sha: commitOf(0) }], commit: { message: "Add a retry limit" } };
    switch (route.replace("GET /repos/{owner}/{repo}/", "")) {
      case "compare/{basehead}": {
        const [base = 0, end = 0] = String(parameters.basehead).split("...").map(runOfCommit);
        if (end < base) return { status: "behind", total_commits: 0, commits: [], files: [] };
        return hasRunChangesOf(this.#scenario, base, end)
          ? { status: "ahead", total_commits: 1, commits: [commit], files: [file] }
          : { status: "identical", total_commits: 0, commits: [], files: [] };
      }
      case "commits":
        return [{ ...commit, sha: String(parameters.sha) }];
      case "pulls/{pull_number}": {
        const state = this.stateOf(Number(parameters.pull_number));
        const pushes = this.#pullRequests().filter((number) => number === parameters.pull_number).length;
        const isMerged = state === "merged";
        return {
          state: state === "open" ? "open" : "closed",
          merged: isMerged,
          merge_commit_sha: null,
          base: { sha: head },
          head: { sha: String(pushes).padStart(40, "e") },
        };
      }
    }
    throw new Error(`no such route: ${route}`);
  }

  hasNextPage(): boolean {
    return false;
  }
}
