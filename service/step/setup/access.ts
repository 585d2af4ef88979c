import { setTimeout } from "node:timers/promises";
import { say, trusted } from "../../../src/runner-kit/text.ts";
import { errorMessage } from "../../src/error-message.ts";
import { adviceOn } from "../../src/pulls/github/github-error.ts";
import type { GitHubRepository } from "../../src/pulls/github/github-repository.ts";
import { actionsNotPermitted, allowActions } from "../../src/turns/refusal.ts";
import { SetupError } from "./setup-error.ts";

/** A repository as the service's project names it, and what it is on GitHub. */
export interface GitHubAccess {
  /** Its URL for Git. */
  repository: string;
  github: GitHubRepository | undefined;
}

const timeoutMs = 30_000;

/**
 * Checks whether a token may push and open pull requests, before an agent works in vain. What cannot be found out here is
 * told by GitHub later.
 *
 * @param secondMs - how long a second before a retry takes; less in tests
 * @throws SetupError if it may not, with the setting to change
 */
export async function checkAccess(
  { repository, github }: GitHubAccess,
  log: (line: string) => void,
  secondMs = 1000,
): Promise<void> {
  if (github === undefined) throw new Error("the project of the step is not on GitHub");
  const send: Send = async (url, init) => {
    for (let pause = 1; ; pause *= 2) {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs), redirect: "manual" });
      // GitHub does not know a new token everywhere at once.
      if (response.status !== 401 || pause > 4) return response;
      await setTimeout(pause * secondMs);
    }
  };
  const checks = [checkPush(repository, github, send), checkPullRequests(github, send)].map((check) =>
    check.catch((error: unknown) => {
      if (error instanceof SetupError) throw error;
      log(`Cannot check the token: ${errorMessage(error)}`);
    }),
  );
  await Promise.all(checks);
}

type Send = (url: string, init: RequestInit) => Promise<Response>;

/** Throws GitHub's own words and what to do about them, if it would refuse any request: an `Error` if only for now. */
function throwIfGeneral(text: string): void {
  const words = (/"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text).trim().slice(0, 300);
  const advice = adviceOn(words);
  if (advice === undefined) return;
  if (/rate limit/i.test(words)) throw new Error(words);
  throw new SetupError("GitHub refuses the token", say`GitHub says: ${words} ${trusted(advice)} Nothing was started.`);
}

/** Sends the first request of a push, to which GitHub responds by the token's permissions. */
async function checkPush(url: string, { owner, name, token }: GitHubRepository, send: Send): Promise<void> {
  const repository = `${owner}/${name}`;
  const response = await send(`${url}/info/refs?service=git-receive-pack`, {
    headers: { authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}` },
  });
  const { status } = response;
  if (status === 401)
    throw new SetupError(
      "The token is not valid",
      say`GitHub rejected \`github-token\` for ${repository}. Is it a token, and not expired? That of a GitHub App lives for an hour. Nothing was started.`,
    );
  if (status === 403) throwIfGeneral(await response.text());
  if (status === 403 || status === 404)
    throw new SetupError(
      "The token may not push",
      say`The agent's branch cannot be pushed to ${repository}: ${trusted(status === 404 ? "it does not exist, or `github-token` has no access to it" : "`github-token` may not write to it")}. For the workflow's own repository, give the job \`permissions: contents: write\`; for another one, pass a token for that as \`github-token\`. Then start a new run: a re-run keeps this run's workflow file. Nothing was started.`,
    );
}

/** Asks for a pull request without a title, which GitHub rejects with 422 if the token may open one, or else with 403. */
async function checkPullRequests({ apiUrl, owner, name, token }: GitHubRepository, send: Send): Promise<void> {
  const repository = `${owner}/${name}`;
  const response = await send(`${apiUrl}/repos/${repository}/pulls`, {
    method: "POST",
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "user-agent": "agent-job-service",
      "x-github-api-version": "2022-11-28",
    },
    body: JSON.stringify({ head: "permission-check", base: "permission-check" }),
  });
  const text = await response.text();
  if (response.status !== 403) return;
  throwIfGeneral(text);
  const isSetting = actionsNotPermitted.test(text);
  const advice = isSetting
    ? `${allowActions}; or use the token of a GitHub App.`
    : "For the workflow's own repository, give the job `permissions: pull-requests: write`; for another one, pass a token for that as `github-token`. Then start a new run: a re-run keeps this run's workflow file.";
  throw new SetupError(
    "The token may not open pull requests",
    say`The agent's changes could be pushed to ${repository}, but no pull request opened. ${trusted(advice)} Nothing was started.`,
  );
}
