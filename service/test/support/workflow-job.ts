import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Step, step, temporaryFolder } from "../../../test/support/step.ts";
import type { DocsRepository } from "../../../tools/docs-repository.ts";
import { docsRepository } from "./agent-service.ts";
import { type GitHub, type GitHubReply, startGitHubWithGit } from "./github-with-git.ts";

/** Starts a GitHub with a repository. It is closed when the test ends. */
export async function setUpGitHub(reply?: GitHubReply): Promise<{ docs: DocsRepository; github: GitHub }> {
  const docs = docsRepository();
  const github = await startGitHubWithGit(docs, reply);
  onTestFinished(() => github[Symbol.asyncDispose]());
  return { docs, github };
}

/** Returns what the runner sets for every step of a job, in the first attempt of its workflow run. */
export function jobEnvironment(
  { owner, repo, url }: GitHub,
  runnerTemp = join(temporaryFolder(), "_temp"),
): Record<"HOME" | "RUNNER_TEMP", string> & Record<string, string> {
  mkdirSync(runnerTemp, { recursive: true });
  return {
    HOME: temporaryFolder(),
    RUNNER_TEMP: runnerTemp,
    GITHUB_REPOSITORY: `${owner}/${repo}`,
    GITHUB_SERVER_URL: url,
    GITHUB_API_URL: url,
    GITHUB_RUN_ATTEMPT: "1",
    GITHUB_RUN_ID: "1",
    GITHUB_JOB: "docs",
    GITHUB_ACTION: "agent",
  };
}

/** Lets an agent do what the runner's user can, for tests that are not about the sandbox, which not every machine can run. */
export const unconfined = "--sandbox none\n--agent-network full";

export interface AgentStepOptions {
  /** Default: of a new runner. */
  job?: ReturnType<typeof jobEnvironment>;
  environment?: Record<string, string>;
  mainFile?: string;
  onStart?: (child: ChildProcess) => void;
}

/** Runs the built action with an agent, as the runner does. Default: the built-in editor, with the workflow's own token. */
export function agentStep(
  github: GitHub,
  inputs: Record<string, string>,
  { job = jobEnvironment(github), environment = {}, ...options }: AgentStepOptions = {},
): Promise<Step & { job: typeof job }> {
  const given = {
    agent: "editor",
    "github-token": github.token,
    "workflow-token": github.token,
    "poll-interval-seconds": "0.05",
    "max-poll-interval-seconds": "0.1",
    ...inputs,
  };
  return step(given, { environment: { ...job, ...environment }, ...options }).then((ran) => ({ ...ran, job }));
}
