import { fileURLToPath } from "node:url";
import { runnerOf } from "./attempt-record.ts";
import { firstOfRun, placeOf, type Workflow } from "./history.ts";
import type { Attempt, Scenario } from "./scenario.ts";
import { existingJobId } from "./service.ts";

export const key = "mint_simulated+key/0123456789";
const token = "ghs_simulated_token_0123456789";

/** Returns the inputs of the step. */
export function inputsOf(scenario: Scenario, { execution }: Attempt): Record<string, string> {
  const { mode, workflow, usesTokens } = scenario;
  const inputs = {
    "project-id": "docs",
    ...(usesTokens
      ? { auth: "github-oidc", "base-url": "https://agents.example" }
      : { "api-key": key, "base-url": isHosted(scenario) ? "https://api.mintlify.com" : "https://agents.example" }),
    wait: String(scenario.wait),
    "timeout-minutes": String(scenario.timeoutSeconds / 60),
    "poll-interval-seconds": String(scenario.minSeconds),
    "max-poll-interval-seconds": String(scenario.maxSeconds),
    "fail-on": scenario.failOn,
  };
  if (mode.kind === "plain") {
    const prompt = mode.task === "attach" ? "" : "Update the quickstart";
    const plain = { ...inputs, prompt, "job-id": mode.task === "create" ? "" : existingJobId };
    if (!workflow || !execution) return plain;
    const twin = execution.isTwin ? workflow.twin : undefined;
    const session = twin === "session" ? "weekly" : "nightly";
    return {
      ...plain,
      "on-rerun": execution.onRerun,
      "github-token": token,
      "matrix-leg": twin === "matrix-leg" ? '{"project":"handbook"}' : "",
      ...(twin === "project" && { "project-id": "handbook" }),
      ...(twin === "base" && { base: "release/2" }),
      ...(twin === "prompt" && { prompt: "Update the changelog" }),
      ...(workflow.hasSession && { session }),
      ...(workflow.changes && { changes: "list" }),
    };
  }
  return {
    ...inputs,
    // The comment is "/agent new fix it", so the longer phrase leaves no "new".
    "trigger-phrase": mode.isNew ? "/agent" : "/agent new",
    "github-token": token,
    "job-id": mode.hasFixedJob ? existingJobId : "",
    reply: String(mode.reply),
  };
}

/** Returns the commit of a workflow run; before the first one, the commit of 24 hours ago. */
export function commitOf(run: number): string {
  return String(run).padStart(40, "0");
}

/** Returns the number of the workflow run of a commit. */
export function runOfCommit(commit: string): number {
  return Number(commit);
}

/** Returns whether the service is the default one, which is never asked what was sent. */
export function isHosted({ service, usesTokens }: Pick<Scenario, "service" | "usesTokens">): boolean {
  return service === "hosted" && !usesTokens;
}

/** Returns the environment of an attempt. */
export function environmentOf(scenario: Scenario, index: number): Record<string, string> {
  const tokens = {
    ACTIONS_ID_TOKEN_REQUEST_URL: "https://tokens.example/idtoken",
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: key,
  };
  return { ...eventEnvironment(scenario, index), ...(scenario.usesTokens && tokens) };
}

function eventEnvironment(scenario: Scenario, index: number): Record<string, string> {
  const execution = scenario.attempts[index]?.execution;
  if (scenario.mode.kind === "comment") return commentEnvironment(scenario, index + 1);
  if (!scenario.workflow || !execution) return { GITHUB_RUN_ATTEMPT: String(index + 1) };
  const { run, number } = placeOf(scenario, index);
  const mode = firstOfRun(scenario, index)?.cacheMode;
  const differs = (what: Workflow["twin"]): boolean => execution.isTwin && scenario.workflow?.twin === what;
  return {
    GITHUB_EVENT_NAME: "schedule",
    GITHUB_REPOSITORY: "acme/docs",
    GITHUB_RUN_ID: String(run),
    GITHUB_RUN_ATTEMPT: String(number),
    GITHUB_JOB: differs("job") ? "handbook" : "docs",
    GITHUB_ACTION: differs("step") ? "__acme_action_2" : "__acme_action",
    GITHUB_SHA: commitOf(run),
    RUNNER_NAME: runnerOf(index),
    ...(execution.cache.state !== "absent" && {
      ACTIONS_CACHE_URL: "http://localhost/",
      ...(mode === "read" || mode === "none" ? { ACTIONS_CACHE_MODE: mode } : {}),
    }),
  };
}

function commentEnvironment({ mode }: Scenario, number: number): Record<string, string> {
  const cacheMode = mode.kind === "comment" ? mode.cacheMode : undefined;
  const event = mode.kind === "comment" ? mode.event : "issue_comment";
  return {
    GITHUB_EVENT_NAME: event,
    GITHUB_EVENT_PATH: fileURLToPath(new URL(`events/${event}.json`, import.meta.url)),
    GITHUB_REPOSITORY: "acme/docs",
    GITHUB_RUN_ID: "99",
    GITHUB_RUN_ATTEMPT: String(number),
    RUNNER_NAME: runnerOf(number - 1),
    ...(cacheMode !== undefined && { ACTIONS_CACHE_URL: "http://localhost/" }),
    ...(cacheMode === "read" && { ACTIONS_CACHE_MODE: "read" }),
  };
}
