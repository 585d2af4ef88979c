import { GitHubError } from "../../src/action/runner/github-error.ts";
import { stepOfRun } from "../../src/action/step-key.ts";
import { commentId } from "./comment-run.ts";
import { bot, FakeGitHub } from "./fake-github.ts";
import type { Exchange, SeenRequest } from "./fake-transport.ts";
import { prLink, record, respondWith } from "./run-main.ts";

/** An account other than the step's own. */
export const otherUser = { id: 666, login: "someone" };

/** The id of a comment other than the one that triggers the run. */
const earlierCommentId = 1;

/** What the marker of a reply names the step of a comment's run by. */
export const ownStep = `step=${stepOfRun("", { GITHUB_RUN_ID: "99" })}`;

/** Returns the hidden last line of a reply. */
export function markerLine(
  jobId: string,
  { projectId = "docs", comment = earlierCommentId, attempt = 1, wasSeen = false } = {},
): string {
  return `<!-- agent-job-action project=${projectId} attempt=${attempt} job=${jobId}${wasSeen ? " ended" : ""} comment=${comment} ${ownStep} -->`;
}

/** The reply of an earlier attempt to the comment that triggers the run. */
export function ownReply(jobId: string): string {
  return `The agent is working on it.\n\n${markerLine(jobId, { comment: commentId })}`;
}

/** The reply to an earlier comment in the thread. */
export function earlierReply(jobId: string): string {
  return `Pull request created\n\n${markerLine(jobId)}`;
}

/** Creates a GitHub whose thread has these replies by the step's own account. */
export function threadWith(...replies: string[]): FakeGitHub {
  return withReplies(new FakeGitHub(), replies);
}

/** Creates a GitHub that rejects requests to routes that match, and whose thread has these replies. */
export function githubRejecting(routes: RegExp, ...replies: string[]): FakeGitHub {
  const github = withReplies(new FakeGitHub(), replies);
  github.fault = ({ route }) => {
    if (routes.test(route)) throw new GitHubError("Resource not accessible by integration", 403);
  };
  return github;
}

function withReplies(github: FakeGitHub, replies: string[]): FakeGitHub {
  for (const body of replies) github.add(bot, body);
  return github;
}

export const completed = record({ status: "completed", prLink });

/** A service that accepts every create and message, and whose job is completed at the first poll. */
export function completes({ method }: SeenRequest): Exchange {
  return method === "POST" ? respondWith(201, record()) : respondWith(200, completed);
}

/** A service that accepts every create and message, and whose job stays active. */
export function staysActive({ method }: SeenRequest): Exchange {
  return respondWith(method === "POST" ? 201 : 200, record());
}

/** A service that does not find the job `job_gone`, and otherwise responds like {@link completes}. */
export function losesJob(request: SeenRequest): Exchange {
  return request.path.includes("job_gone") ? respondWith(404, { error: "Job not found" }) : completes(request);
}

const jobs = "/v2/agent/docs/job";
export const createRequest = `POST ${jobs}`;
export const messageTo = (jobId: string) => `POST ${jobs}/${jobId}/message`;
export const pollOf = (jobId: string) => `GET ${jobs}/${jobId}`;

/** Formats what was sent to the service, without what was only read. */
export function sentOf(requests: readonly SeenRequest[]): string[] {
  return routesOf(requests.filter(({ method }) => method === "POST"));
}

/** Formats the requests to the service as `POST /v2/…`. */
export function routesOf(requests: readonly SeenRequest[]): string[] {
  return requests.map(({ method, path }) => `${method} ${path}`);
}
