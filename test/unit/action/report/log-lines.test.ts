import { expect, test } from "vitest";
import { runComment } from "../../../support/comment-run.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import type { FakeToolkit } from "../../../support/fake-toolkit.ts";
import { type MainOptions, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";
import { completes } from "../../../support/thread.ts";

const address = "https://api.mintlify.com/";

/** Returns the lines that people see, in order: no debug output, outputs or masks. */
function shown({ events }: FakeToolkit): string[] {
  return events.filter((event) => !/^(debug |output |mask$)/.test(event));
}

/** A service that responds to each request in turn. */
function responds(...responses: Record<string, unknown>[]): MainOptions["respond"] {
  return (_request, index) => {
    const { http = 200, ...fields } = responses[index] ?? {};
    return respondWith(Number(http), http === 200 ? record(fields) : "");
  };
}

test("prints the log of a message, with the status from before it", async () => {
  const { toolkit } = await runMain({
    inputs: { "job-id": "job_1" },
    respond: responds(
      { status: "failed", model: "", source: null },
      { status: "failed" },
      {},
      { status: "completed", prLink },
    ),
  });
  expect(shown(toolkit)).toEqual([
    `Sending a message to job job_1 in project docs at ${address} (prompt of 21 characters)`,
    "Sent the message to job job_1",
    "  status:     failed",
    "group Waiting up to 1 h for job job_1 (poll interval 5.0 s to 15.0 s before jitter)",
    "00:05  failed (may be the status from before the message), next poll in 5.0 s",
    "00:10  active, next poll in 5.0 s",
    "00:15  completed",
    "endgroup",
    `Outcome: pr-created after 15 s: ${prLink}`,
    "The agent finished the follow-up to job job_1, which has a pull request.",
  ]);
});

test("prints the log of a wait in which polls fail", async () => {
  const { toolkit } = await runMain({
    inputs: { "job-id": "job_1", prompt: "" },
    respond: responds({ http: 502 }, { http: 503 }, {}, { http: 500 }, { status: "completed", prLink }),
  });
  expect(shown(toolkit)).toEqual([
    `Following job job_1 in project docs at ${address}`,
    "group Waiting up to 1 h for job job_1 (poll interval 5.0 s to 15.0 s before jitter)",
    "00:00  poll failed, next poll in 5.0 s: the service answered HTTP 502",
    "warning Polling is failing: The service answered HTTP 502. The job is not affected.",
    "00:05  poll failed, next poll in 5.0 s: the service answered HTTP 503",
    "The service is responding again.",
    "00:10  active, next poll in 5.0 s",
    "00:15  poll failed, next poll in 5.0 s: the service answered HTTP 500",
    "warning Polling is failing: The service answered HTTP 500. The job is not affected.",
    "The service is responding again.",
    "00:20  completed",
    "endgroup",
    `Outcome: pr-created after 20 s: ${prLink}`,
    "The agent finished job job_1 and opened a pull request.",
  ]);
});

test("prints the log of a create that is retried", async () => {
  const { toolkit } = await runMain({
    inputs: { wait: "false" },
    respond: (_request, index) =>
      index < 2 ? { failure: "not-connected" } : respondWith(201, record({ status: "queued" })),
  });
  expect(shown(toolkit).slice(1)).toEqual([
    `00:00  not accepted, retrying in 0.5 s: cannot connect to ${address} (simulated network failure)`,
    `warning Request not accepted, retrying: Cannot connect to ${address} (simulated network failure). The request started nothing, so it is safe to send it again.`,
    `00:00  not accepted, retrying in 1.0 s: cannot connect to ${address} (simulated network failure)`,
    "The service is responding again.",
    "Created job job_1",
    "  model:      model-1",
    "  repository: https://github.com/acme/docs",
    "  ref:        agent/1",
    "warning Unknown status: The service returned the unknown status queued for the job. Treated as active.",
    "Outcome: started after 1 s",
    "Job job_1 is running, and this step does not wait for it.",
    "To wait for it, run the action with job-id job_1 and no prompt.",
  ]);
});

test("the last line has no time if nothing was sent", async () => {
  const { toolkit } = await runMain({ inputs: { wait: "maybe" }, respond: () => respondWith(500) });
  expect(shown(toolkit)).toEqual([
    "Outcome: error",
    "error Invalid inputs: No job was started, because the inputs are invalid:\n- wait must be true or false, not maybe.\nCorrect these inputs in the step's \"with\" block, or where it takes them from, such as the form of a manual run. Then start a new run: a re-run keeps this run's workflow file and form.",
  ]);
});

test("says in one line why a comment starts nothing", async () => {
  const { toolkit } = await runComment(new FakeGitHub(), { text: "just talking", respond: completes });
  expect(shown(toolkit)).toEqual([
    "Outcome: skipped",
    "notice Skipped: The comment is not new or does not begin with the trigger phrase. Nothing was started.",
  ]);
});

test("only lines in which the runner would find a command are printed while commands are stopped", async () => {
  const { toolkit } = await runMain({
    respond: responds({ model: "##[error]x", status: "completed", prLink }),
  });
  expect(toolkit.linesWithoutCommands).toEqual(["  model:      ##\\[error]x"]);
});

const sendAnother = `If there is none, start a new run of the workflow (not a re-run) to send the request. To choose that for a re-run, have on-rerun: \${{ vars.AGENT_ON_RERUN || 'resume' }} in the workflow, and set the variable to new.`;

const mayHaveRun =
  "This run sent nothing, because GitHub does not say that this step has not run before (permissions: actions: read).";

test("says of a re-run with another prompt what the earlier attempt sent, if it is known", async () => {
  const messageAfter = async (first: MainOptions["respond"]) => {
    const cache = new FakeCache();
    const environment = { GITHUB_RUN_ID: "1", GITHUB_JOB: "job", GITHUB_ACTION: "step" };
    const inputs = { "timeout-minutes": "1" };
    await runMain({ cache, environment, inputs, respond: first });
    const { toolkit } = await runMain({
      cache,
      environment,
      inputs: { ...inputs, prompt: "Another prompt" },
      runAttempt: 2,
      respond: () => respondWith(500),
    });
    return toolkit.annotations.at(-1)?.text;
  };
  expect(await messageAfter(() => respondWith(200, record()))).toBe(
    `Attempt 1 of this workflow run sent another prompt, for job job_1. ${mayHaveRun}\n` +
      `To wait for that job, run the action with job-id job_1 and no prompt. ${sendAnother.replace("there is none", "this prompt is needed, too")}`,
  );
  expect(await messageAfter(() => respondWith(502))).toBe(
    `Attempt 1 of this workflow run sent another prompt, for a job. ${mayHaveRun}\n` +
      `Check the dashboard for the job. ${sendAnother}`,
  );
});
