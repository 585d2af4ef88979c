import * as z from "zod/mini";
import { locatePullRequest, type PullRequest, type PullRequestState } from "../pull-request.ts";
import { connectGitHub, type Run } from "../run.ts";
import { serverUrl } from "../runner/environment.ts";

/** The timeout of the request, in milliseconds. */
const requestTimeoutMs = 10_000;

const pullRequestResponse = z.object({ state: z.enum(["open", "closed"]), merged: z.optional(z.boolean()) });

/**
 * Reads the state of a pull request on the runner's own GitHub. Returns `unknown` if it is on another server or cannot be
 * read. Never rejects. GitHub's documentation: "Get a pull request".
 */
export async function readPullRequestState(pullRequest: PullRequest, run: Run): Promise<PullRequestState> {
  const { signal, environment } = run.ports;
  const place = locatePullRequest(pullRequest, serverUrl(environment));
  if (!place || run.settings.githubToken === "") return "unknown";
  try {
    const github = await connectGitHub(run);
    const parameters = { owner: place.owner, repo: place.repo, pull_number: place.number };
    const limits = { timeoutMs: requestTimeoutMs, signal };
    const response = await github.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", parameters, limits);
    const { state, merged } = pullRequestResponse.parse(response);
    return state === "closed" && merged ? "merged" : state;
  } catch {
    return "unknown";
  }
}
