import * as z from "zod/mini";
import { locatePullRequest, type PullRequest } from "../pull-request.ts";
import type { GitHub } from "../runner/github.ts";
import type { PullRequestState } from "./session.ts";

/** The timeout of the request, in milliseconds. */
const requestTimeoutMs = 10_000;

const pullRequestResponse = z.object({ state: z.enum(["open", "closed"]), merged: z.optional(z.boolean()) });

export interface PullRequestPorts {
  /** The address of the runner's GitHub, `GITHUB_SERVER_URL`. */
  serverUrl: string;
  connectGitHub: () => Promise<GitHub>;
  signal: AbortSignal;
}

/**
 * Reads the state of a pull request on the runner's own GitHub. Returns `unknown` if it is on another server or cannot be
 * read. GitHub's documentation: "Get a pull request".
 */
export async function readPullRequestState(
  pullRequest: PullRequest,
  { serverUrl, connectGitHub, signal }: PullRequestPorts,
): Promise<PullRequestState> {
  const place = locatePullRequest(pullRequest, serverUrl);
  if (!place) return "unknown";
  try {
    const github = await connectGitHub();
    const parameters = { owner: place.owner, repo: place.repo, pull_number: place.number };
    const limits = { timeoutMs: requestTimeoutMs, signal };
    const response = await github.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", parameters, limits);
    const { state, merged } = pullRequestResponse.parse(response);
    return state === "closed" && merged ? "merged" : state;
  } catch {
    return "unknown";
  }
}
