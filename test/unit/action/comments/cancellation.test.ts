import { expect, test } from "vitest";
import { commentId, runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { record } from "../../../support/run-main.ts";
import { completes, markerLine, staysActive } from "../../../support/thread.ts";

test("shows a cancellation in the reply within 1.5 s, without a reaction", async () => {
  const github = new FakeGitHub();
  const { outputs } = await runComment(github, { cancelAt: 20_000, respond: staysActive });
  expect(outputs.outcome).toBe("cancelled");
  expect(github.reactions).toEqual(["eyes"]);
  expect(github.reply).toContain("Cancelled");
  expect(github.reply.split("\n").at(-1)).toBe(markerLine("job_1", { comment: commentId }));
  expect(github.calls.at(-1)).toMatchObject({ route: expect.stringMatching(/^PATCH /), limits: { graceMs: 1000 } });
});

test("leaves the marker in the reply after a cancellation right after the create", async () => {
  const github = new FakeGitHub();
  const { outputs } = await runComment(github, {
    cancelAt: 100,
    respond: () => ({ responseMs: 500, response: { status: 201, body: record() } }),
  });
  expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
  expect(github.routes("PATCH")).toHaveLength(1);
  expect(github.reply.split("\n").at(-1)).toBe(markerLine("job_1", { comment: commentId }));
});

test("does not wait for an edit that hangs before the last edit", async () => {
  const github = new FakeGitHub();
  let edits = 0;
  github.fault = ({ route }) => (route.startsWith("PATCH") && edits++ === 0 ? new Promise<void>(() => {}) : undefined);
  await runComment(github, { cancelAt: 20_000, respond: staysActive });
  expect(github.reply).toContain("Cancelled");
});

test("advises to ask again after a cancellation that left a reaction and no reply, as a re-run sends nothing", async () => {
  const github = new FakeGitHub();
  const { toolkit } = await runComment(github, {
    environment: { ACTIONS_CACHE_MODE: "read", ACTIONS_CACHE_URL: "http://127.0.0.1/", RUNNER_NAME: "r" },
    cancelAt: 500,
    onClock: (clock) => {
      github.fault = ({ route }) => {
        if (!/^POST .*comments$/.test(route)) return;
        clock.advance(1000);
        throw new Error("the step was cancelled");
      };
    },
  });
  expect(toolkit.annotations.at(-1)?.text).toContain("For that, ask again in the thread: a re-run sends nothing.");
});

test("starts nothing after a cancellation during the permission check", async () => {
  const github = new FakeGitHub();
  const { outputs, requests } = await runComment(github, {
    respond: completes,
    cancelAt: 1000,
    onClock: (clock) => {
      github.fault = ({ limits }) => {
        clock.advance(5000, limits.signal);
        if (limits.signal.aborted) throw new Error("aborted");
      };
    },
  });
  expect(outputs.outcome).toBe("cancelled");
  expect(requests).toEqual([]);
  expect(github.calls).toHaveLength(1);
});
