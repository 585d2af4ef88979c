import { fileURLToPath } from "node:url";
import type { Scenario } from "./scenario.ts";
import { existingJobId } from "./service.ts";

export const key = "mint_simulated+key/0123456789";
const token = "ghs_simulated_token_0123456789";

/** Returns the inputs of the step. */
export function inputsOf(scenario: Scenario): Record<string, string> {
  const { mode } = scenario;
  const inputs = {
    "project-id": "docs",
    "api-key": key,
    wait: String(scenario.wait),
    "timeout-minutes": String(scenario.timeoutSeconds / 60),
    "poll-interval-seconds": String(scenario.minSeconds),
    "max-poll-interval-seconds": String(scenario.maxSeconds),
    "fail-on": scenario.failOn,
  };
  if (mode.kind === "plain") {
    const prompt = mode.task === "attach" ? "" : "Update the quickstart";
    return { ...inputs, prompt, "job-id": mode.task === "create" ? "" : existingJobId };
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

/** Returns the environment of an attempt in comment mode. */
export function commentEnvironment({ mode }: Scenario, number: number): Record<string, string> {
  const event = mode.kind === "comment" && mode.isReview ? "pull_request_review_comment" : "issue_comment";
  return {
    GITHUB_EVENT_NAME: event,
    GITHUB_EVENT_PATH: fileURLToPath(new URL(`events/${event}.json`, import.meta.url)),
    GITHUB_REPOSITORY: "acme/docs",
    GITHUB_RUN_ID: "99",
    GITHUB_RUN_ATTEMPT: String(number),
  };
}
