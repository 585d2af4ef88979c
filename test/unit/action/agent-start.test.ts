import { expect, test } from "vitest";
import type { OwnAgent } from "../../../src/action/own-agent.ts";
import { AgentError } from "../../../src/action/result.ts";
import { say } from "../../../src/runner-kit/text.ts";
import { type CommentOptions, runComment } from "../../support/comment-run.ts";
import { FakeGitHub } from "../../support/fake-github.ts";
import { markerLine, threadWith } from "../../support/thread.ts";

/** An agent whose service cannot start, as it says itself. */
function failingAgent(): OwnAgent {
  const fail = (): never => {
    throw new AgentError("The agent service cannot start", say`Git is missing. Nothing was started.`);
  };
  return { connect: () => async () => fail(), prepare: async () => fail(), check: async () => {}, end: async () => {} };
}

const inputs = { agent: "editor", "project-id": "", "api-key": "" };
const environment = { RUNNER_OS: "Linux", GITHUB_REPOSITORY: "acme/docs" };
const ofThread = `Done\n\n${markerLine("job_9").replace("project=docs", "project=acme-docs-editor")}`;

const runs: [string, Partial<CommentOptions>, () => FakeGitHub][] = [
  ["a first run", {}, () => new FakeGitHub()],
  ["a first run from a branch", { inputs: { ...inputs, base: "main" } }, () => new FakeGitHub()],
  ["a follow-up", {}, () => threadWith(ofThread)],
  ["a follow-up from a branch", { inputs: { ...inputs, base: "main" } }, () => threadWith(ofThread)],
  ["a re-run", { attempt: 2 }, () => new FakeGitHub()],
  ["a re-run of a follow-up", { attempt: 2 }, () => threadWith(ofThread)],
];

test.each(runs)("a service that cannot start is said in its own words: %s", async (_name, options, github) => {
  const run = await runComment(github(), { inputs, agent: failingAgent(), environment, ...options });
  expect(run.outputs.outcome).toBe("error");
  expect(run.toolkit.annotations.at(-1)).toEqual({
    level: "error",
    title: "The agent service cannot start",
    text: expect.stringMatching(/^Git is missing\. Nothing was started\./),
  });
  expect(run.requests).toEqual([]);
});

test.each(runs)("and a step that is cancelled before is cancelled: %s", async (_name, options, github) => {
  const agent = failingAgent();
  for (const cancelAt of [0, 500]) {
    const run = await runComment(github(), {
      inputs,
      environment,
      ...options,
      cancelAt,
      onClock: (clock) => {
        // The signal ends the start of the service, which says that, too.
        const late = async (): Promise<never> => {
          if (cancelAt > 0) clock.advance(1000);
          throw new AgentError("The agent service cannot start", say`This operation was aborted.`);
        };
        Object.assign(agent, { connect: () => late, prepare: late });
      },
      agent,
    });
    expect(run.outputs.outcome, String(cancelAt)).toBe("cancelled");
    expect(run.toolkit.annotations.at(-1)?.text).toContain("The step was cancelled");
  }
});
