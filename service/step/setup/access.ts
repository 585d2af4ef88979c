import { say, trusted } from "../../../src/runner-kit/text.ts";
import { errorMessage } from "../../src/error-message.ts";
import { SetupError } from "./setup-error.ts";

/** A repository on GitHub, and the token that the service uses for it. */
export interface GitHubAccess {
  /** Such as `https://github.com`. */
  serverUrl: string;
  /** Such as `https://api.github.com`. */
  apiUrl: string;
  /** `OWNER/NAME`. */
  repository: string;
  token: string;
}

const timeoutMs = 30_000;

/** GitHub's words if Actions may not open pull requests in a repository. */
export const actionsNotPermitted = /not permitted to create or approve pull requests/i;

/** What to change then. */
export const allowActionsAdvice =
  'Turn on "Allow GitHub Actions to create and approve pull requests" in the repository\'s settings, under "Actions" › "General" (an organization can turn it off for all), or pass the token of a GitHub App as `github-token`.';

/**
 * Checks whether a token may push and open pull requests, before an agent works in vain. What cannot be found out here is
 * told by GitHub later.
 *
 * @throws SetupError if it may not, with the setting to change
 */
export async function checkAccess(access: GitHubAccess, log: (line: string) => void): Promise<void> {
  const checks = [checkPush, checkPullRequests].map((check) =>
    check(access).catch((error: unknown) => {
      if (error instanceof SetupError) throw error;
      log(`Cannot check the token: ${errorMessage(error)}`);
    }),
  );
  await Promise.all(checks);
}

/** Sends the first request of a push, to which GitHub responds by the token's permissions. */
async function checkPush({ serverUrl, repository, token }: GitHubAccess): Promise<void> {
  const { status } = await fetch(`${serverUrl}/${repository}.git/info/refs?service=git-receive-pack`, {
    headers: { authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}` },
    signal: AbortSignal.timeout(timeoutMs),
    redirect: "manual",
  });
  if (status === 401)
    throw new SetupError(
      "The token is not valid",
      say`GitHub rejected \`github-token\` for ${repository}. Is it a token, and not expired? Nothing was started.`,
    );
  if (status === 403 || status === 404)
    throw new SetupError(
      "The token may not push",
      say`The agent's branch cannot be pushed to ${repository}: ${trusted(status === 404 ? "it does not exist, or `github-token` has no access to it" : "`github-token` may not write to it")}. For the workflow's own repository, give the job \`permissions: contents: write\`; for another one, pass a token for that as \`github-token\`. Nothing was started.`,
    );
}

/** Asks for a pull request without a title, which GitHub rejects with 422 if the token may open one, or else with 403. */
async function checkPullRequests({ apiUrl, repository, token }: GitHubAccess): Promise<void> {
  const response = await fetch(`${apiUrl}/repos/${repository}/pulls`, {
    method: "POST",
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "user-agent": "agent-job-service",
      "x-github-api-version": "2022-11-28",
    },
    body: JSON.stringify({ head: "permission-check", base: "permission-check" }),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: "manual",
  });
  const text = await response.text();
  if (response.status !== 403 || /rate limit/i.test(text)) return;
  const isSetting = actionsNotPermitted.test(text);
  const advice = isSetting
    ? allowActionsAdvice
    : "For the workflow's own repository, give the job `permissions: pull-requests: write`; for another one, pass a token for that as `github-token`.";
  throw new SetupError(
    "The token may not open pull requests",
    say`The agent's changes could be pushed to ${repository}, but no pull request opened. ${trusted(advice)} Nothing was started.`,
  );
}
