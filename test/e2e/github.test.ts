import { expect, test } from "vitest";
import { runCommentStep } from "../support/comment-step.ts";
import type { GitHubFault } from "../support/github-server.ts";
import { hasSignals, step } from "../support/step.ts";

const json = { "content-type": "application/json" };

test("adds reactions, and edits one reply in place", async () => {
  const { exitCode, github, annotations, lines } = await runCommentStep(step);
  expect(exitCode).toBe(0);
  expect(annotations).toEqual([]);
  expect(github.github.reactions).toEqual(["eyes", "hooray"]);
  expect(github.github.comments).toHaveLength(1);
  expect(github.github.reply).toContain("Pull request created");
  const debug = lines.flatMap((line) => (line.kind === "command" && line.name === "debug" ? [line.data] : []));
  for (const request of ["GET /repos/acme/docs/collaborators/writer/permission: 200", "POST /v2/agent/docs/job: 201"])
    expect(debug.filter((line) => line.startsWith(request))).toHaveLength(1);
});

test("redacts a token that GitHub echoes, and ignores commands in its headers", async () => {
  const fault: GitHubFault = (route, _n, response) =>
    route.endsWith("/permission") &&
    Boolean(
      response
        .writeHead(403, { ...json, deprecation: "true", sunset: "##[error]boom", link: '<x>; rel="deprecation"' })
        .end('{"message":"no bot_token_0123456789 here"}'),
    );
  const { log, summary, lines } = await runCommentStep(step, { fault });
  const commands = lines.flatMap((line) => (line.kind === "command" ? [line.data] : []));
  expect(commands.filter((data) => data.includes("boom"))).toEqual([]);
  expect(log.replace("::add-mask::bot_token_0123456789", "") + summary).not.toContain("bot_token_0123456789");
});

test.runIf(hasSignals)("says in the reply to a cancelled step that the job keeps running", async () => {
  const { exitCode, outputs, github } = await runCommentStep(
    (inputs, options) =>
      step(inputs, {
        ...options,
        onStart: (child) =>
          child.stdout?.on("data", (text: string) => /Waiting up to/.test(text) && child.kill("SIGINT")),
      }),
    {
      script: () => ({ durationMs: 60_000 }),
      inputs: { "poll-interval-seconds": "2", "max-poll-interval-seconds": "2" },
    },
  );
  expect([exitCode, outputs.outcome]).toEqual([1, "cancelled"]);
  expect(github.github.reply).toMatch(/Cancelled.*keeps running/s);
});
