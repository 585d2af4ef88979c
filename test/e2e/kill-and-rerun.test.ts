import { expect, test } from "vitest";
import { startGitHub } from "../support/github-server.ts";
import { commentEnvironment, commentInputs } from "../support/payload.ts";
import { inputsFor, startScriptedService } from "../support/scripted-service.ts";
import { hasSignals, step, temporaryFolder } from "../support/step.ts";
import { waitUntil } from "../support/wait-until.ts";

const event = { id: 77, text: "/agent fix it", author: { login: "writer" } };

/**
 * Runs a step for a comment, kills it when the service has its `n`-th request and the reply has what a re-run needs, and then
 * re-runs the workflow run.
 */
async function killAndRerun(n: number, needed = "") {
  let kill = (): void => {};
  await using service = await startScriptedService({
    script: () => ({ durationMs: 300 }),
    fault: (request) => {
      if (request === n) void waitUntil(() => github.github.reply.includes(needed)).then(kill);
      return false;
    },
  });
  await using github = await startGitHub();
  const attempt = (number: number) => {
    const folder = temporaryFolder();
    const environment = {
      ...commentEnvironment(folder, github.url, event),
      GITHUB_RUN_ATTEMPT: String(number),
    };
    return step(inputsFor(service, commentInputs), {
      folder,
      environment,
      onStart: (child) => {
        kill = () => child.kill("SIGKILL");
      },
    });
  };
  const first = await attempt(1);
  const second = await attempt(2);
  const posts = service.requests.filter((request) => request.startsWith("POST"));
  return { first, second, posts, comments: github.github.comments };
}

test.skipIf(!hasSignals)("a re-run waits for the job of a step that was killed right after the create", async () => {
  const { first, second, posts, comments } = await killAndRerun(4, " job=");
  expect(first.exitCode).toBe(null);
  expect(posts).toHaveLength(1);
  expect(second.outputs).toMatchObject({ outcome: "pr-created", "job-id": first.outputs["job-id"] });
  expect(comments).toHaveLength(1);
});

test.skipIf(!hasSignals)("a re-run sends nothing if the step was killed while its create was in flight", async () => {
  const { first, second, posts, comments } = await killAndRerun(3);
  expect(first.outputs).toMatchObject({ outcome: "error", "job-id": "" });
  expect(posts).toHaveLength(1);
  expect(second.exitCode).toBe(1);
  expect(second.outputs).toMatchObject({ outcome: "error", "job-id": "" });
  expect(second.annotations).toEqual([
    expect.stringMatching(/^error Job may have been started: .*comment \/agent new …/s),
  ]);
  expect(comments).toHaveLength(1);
});

test.skipIf(!hasSignals)(
  "a cancellation right after the create leaves the job's marker in the reply, for a re-run to find",
  async () => {
    let kill = (): void => {};
    await using service = await startScriptedService({
      script: () => ({ durationMs: 60_000 }),
      fault: (n) => {
        if (n === 3) setTimeout(() => kill(), 30);
        return false;
      },
    });
    await using github = await startGitHub();
    const folder = temporaryFolder();
    const { outputs } = await step(inputsFor(service, commentInputs), {
      folder,
      environment: commentEnvironment(folder, github.url, event),
      onStart: (child) => {
        kill = () => child.kill("SIGINT");
      },
    });
    expect(outputs.outcome).toBe("cancelled");
    expect(github.github.reply).toContain("Cancelled");
    expect(github.github.reply.split("\n").at(-1)).toMatch(
      new RegExp(
        `^<!-- agent-job-action project=docs attempt=1 job=${outputs["job-id"]} comment=77 step=[0-9a-f]{32} -->$`,
      ),
    );
  },
);
