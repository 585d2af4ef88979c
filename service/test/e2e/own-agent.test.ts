import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { step } from "../../../test/support/step.ts";
import { jobEnvironment, setUpGitHub } from "../support/service-step.ts";

const fast = { "poll-interval-seconds": "0.05", "max-poll-interval-seconds": "0.1" };

test("a step with an agent runs the job itself, and leaves nothing behind", async () => {
  const { docs, github } = await setUpGitHub();
  const environment = jobEnvironment(github);
  const inputs = {
    ...fast,
    agent: "editor",
    "agent-options": "--sandbox none\n--remember false",
    prompt: 'Add a page "Quickstart"',
    "github-token": github.token,
    "workflow-token": github.token,
  };
  const { exitCode, outputs, log, annotations } = await step(inputs, { environment });
  console.log(log);
  expect(exitCode, log).toBe(0);
  expect(outputs, log).toMatchObject({ outcome: "pr-created" });
  expect(docs.branches()).toEqual([`agent/${outputs["job-id"]}`]);
  expect(annotations).toEqual([]);
  expect(readdirSync(join(environment.RUNNER_TEMP))).toEqual([]);
});
