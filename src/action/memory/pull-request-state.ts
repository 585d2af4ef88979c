import * as z from "zod/mini";
import { locatePullRequest, type PullRequest, type PullRequestState } from "../pull-request.ts";
import { connectRepository, type Run } from "../run.ts";
import { serverUrl } from "../runner/environment.ts";

const pullRequestResponse = z.object({ state: z.enum(["open", "closed"]), merged: z.optional(z.boolean()) });

/** Returns `unknown` if it is on another server or cannot be read. Never rejects. GitHub: "Get a pull request". */
export async function readPullRequestState(pullRequest: PullRequest, run: Run): Promise<PullRequestState> {
  const place = locatePullRequest(pullRequest, serverUrl(run.ports.environment));
  if (!place || run.settings.githubToken === "") return "unknown";
  try {
    const repository = await connectRepository(run, {}, place);
    const parameters = { pull_number: place.number };
    const { state, merged } = await repository.get("pulls/{pull_number}", pullRequestResponse, parameters);
    return state === "closed" && merged ? "merged" : state;
  } catch {
    return "unknown";
  }
}
