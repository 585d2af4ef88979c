import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import { type Step, step, temporaryFolder } from "../../../test/support/step.ts";
import type { DocsRepository } from "../../../tools/docs-repository.ts";
import { parseOutputs } from "../../../tools/runner.ts";
import { docsRepository } from "./agent-service.ts";
import { type GitHub, type GitHubReply, startGitHubWithGit } from "./github-with-git.ts";

/** The main file of the service's step. */
export const serviceStepFile = resolve(import.meta.dirname, "../../dist/index.js");

export interface ServiceStepOptions {
  github: GitHub;
  inputs?: Record<string, string>;
  environment?: Record<string, string>;
  /** The runner's folder for temporary files. Default: an empty one. */
  runnerTemp?: string;
  /** Default: the one in the repository's `dist`. */
  mainFile?: string;
  onStart?: (child: ChildProcess) => void;
}

export interface ServiceStep extends Step {
  /** The files of the runner and of the service. */
  runnerTemp: string;
  /** Inputs of the action for the service. */
  actionInputs: Record<string, string>;
  /** What the runner sets for every step of the job. */
  environment: Record<string, string>;
  /** The id of the service's process. */
  process: number;
  /** Runs `post`, once. */
  post(): Promise<Step>;
}

/** Returns whether a process is running. One that has ended may still have an id, but no command line. */
export function isRunning(id: number): boolean {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

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
  };
}

/** Runs `main` of the service's step as the runner does. `post` runs at the end of the test at the latest. */
export async function startServiceStep(options: ServiceStepOptions): Promise<ServiceStep> {
  const { github, inputs = {}, mainFile = serviceStepFile, onStart } = options;
  const environment = { ...jobEnvironment(github, options.runnerTemp), ...options.environment };
  const { RUNNER_TEMP: runnerTemp = "" } = environment;
  const stateFile = join(temporaryFolder(), "state.txt");
  writeFileSync(stateFile, "");
  const given = {
    agent: "editor",
    "github-token": github.token,
    "workflow-token": github.token,
    remember: "false",
    ...inputs,
  };
  const run = (state: Record<string, string>) =>
    step(given, {
      mainFile,
      environment: {
        ...environment,
        GITHUB_STATE: stateFile,
        ...Object.fromEntries(Object.entries(state).map(([name, value]) => [`STATE_${name}`, value])),
      },
      ...(onStart && { onStart }),
    });
  const main = await run({});
  const state = parseOutputs(readFileSync(stateFile, "utf8"));
  let post: Promise<Step> | undefined;
  const runPost = (): Promise<Step> => {
    post ??= run(state);
    return post;
  };
  onTestFinished(async () => void (await runPost()));
  const { "base-url": baseUrl = "", "project-id": projectId = "", "api-key": apiKey = "" } = main.outputs;
  return {
    ...main,
    runnerTemp,
    environment,
    process: Number(state.process),
    actionInputs: {
      "base-url": baseUrl,
      "project-id": projectId,
      "api-key": apiKey,
      "poll-interval-seconds": "0.05",
      "max-poll-interval-seconds": "0.1",
    },
    post: runPost,
  };
}
