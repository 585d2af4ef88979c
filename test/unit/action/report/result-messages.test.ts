import { expect, test } from "vitest";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { type MainOptions, pollsReturn, record, respondWith, runMain } from "../../../support/run-main.ts";

/** A way in which a step can end, and its message in full. */
interface Case {
  name: string;
  options: MainOptions;
  title: string;
  /** What happened, and whether a job is running. */
  what: string;
  /** What to do, if a re-run would not know of this attempt. */
  next: string;
  /** What to do, if a re-run knows of it. Default: the same. */
  remembered?: string;
}

const attach = { prompt: "", "job-id": "job_1" };
const message = { "job-id": "job_1" };
const own = { "base-url": "https://agents.example.com" };
const short = { "timeout-minutes": "1" };
const noWait = { wait: "false" };

const responds =
  (status: number, body: unknown = "") =>
  () =>
    respondWith(status, body);
const accepts =
  (poll: Exchange) =>
  ({ method }: SeenRequest) =>
    method === "POST" ? respondWith(201, record()) : poll;

/** A service that knows the job at the first poll, and then responds like this. */
function thenFails(poll: Exchange): MainOptions["respond"] {
  return (_request, index) => (index === 0 ? respondWith(200, record()) : poll);
}

const wait = "To wait for it, run the action with job-id job_1 and no prompt.";
const waitForMessage =
  "To wait for it, run the action with job-id job_1 and no prompt, which does not see what the message changed.";
const resume = "To wait for it, re-run this workflow run: nothing is sent again, unless the job fails.";
const followUp = "To continue with this job, send a follow-up: set job-id to job_1 and give a prompt.";
const newJob = "To start a new job, run the action with a prompt and no job-id.";
const addInput =
  "If the workflow has no input for it, add job-id to the inputs of on.workflow_dispatch and job-id: $" +
  "{{ inputs.job-id }} to the step, with a prompt that is empty when job-id is set.";
const raise = "If jobs often take this long, raise timeout-minutes.";
const renewKey =
  "The key is wrong, deleted or expired (keys expire after 90 days by default). Create an admin key on the API keys page of the dashboard and update the secret.";
const startsAnother = "A re-run of this workflow run may start another job.";
const sendsAgain = "A re-run of this workflow run may send the message again.";
const sendAnother = `If there is none, start a new run of the workflow (not a re-run) to send the request. To choose that for a re-run, have on-rerun: \${{ vars.AGENT_ON_RERUN || 'resume' }} in the workflow, and set the variable to new.`;
const choice =
  "A re-run of this workflow run sends the request again. To continue with this job instead, run the action with job-id job_1 and a prompt.";
const sendsNothing = `A re-run sends nothing. ${sendAnother}`;

const reportBug = "Report this bug with the log of a run with step debug logging.";

function bug(): never {
  throw new TypeError("this is a bug");
}

const cases: Case[] = [
  {
    name: "no pull request",
    options: { respond: pollsReturn(record({ status: "completed" })) },
    title: "No pull request",
    what: "The agent finished job job_1 without opening a pull request: it changed nothing, or the project publishes without one.",
    next: `If you expected a pull request, make the prompt more specific. ${followUp}`,
    remembered: "If you expected a pull request, make the prompt more specific.",
  },
  {
    name: "an invalid link",
    options: { respond: pollsReturn(record({ status: "completed", prLink: "x" })) },
    title: "No pull request",
    what: "The agent finished job job_1, but the service returned an invalid pull request link.",
    next: `Look for the pull request in the dashboard. ${followUp}`,
    remembered: "Look for the pull request in the dashboard.",
  },
  {
    name: "an invalid link of another service",
    options: { inputs: own, respond: pollsReturn(record({ status: "completed", prLink: "x" })) },
    title: "No pull request",
    what: "The agent finished job job_1, but the service returned an invalid pull request link.",
    next: `Look for the pull request on its platform. ${followUp}`,
    remembered: "Look for the pull request on its platform.",
  },
  {
    name: "a failed job",
    options: { respond: pollsReturn(record({ status: "failed" })) },
    title: "Job failed",
    what: "The agent hit an unrecoverable error in job job_1. The job is no longer running.",
    next: `See the dashboard for the cause. ${newJob} ${followUp}`,
    remembered: `See the dashboard for the cause. ${choice}`,
  },
  {
    name: "a failed job of another service",
    options: { inputs: own, respond: pollsReturn(record({ status: "failed" })) },
    title: "Job failed",
    what: "The agent hit an unrecoverable error in job job_1. The job is no longer running.",
    next: `${newJob} ${followUp}`,
    remembered: choice,
  },
  {
    name: "an archived job",
    options: { respond: pollsReturn(record({ status: "archived" })) },
    title: "Job archived",
    what: "Job job_1 was archived in the service and is no longer running.",
    next: `If you still need its work: ${newJob}`,
    remembered: "",
  },
  {
    name: "a job that was started without waiting",
    options: { inputs: noWait, respond: pollsReturn(record()) },
    title: "Job started",
    what: "Job job_1 is running, and this step does not wait for it.",
    next: wait,
    remembered: "To check on it, re-run this workflow run: nothing is sent again, unless the job fails.",
  },
  {
    name: "a message that was sent without waiting",
    options: { inputs: { ...message, ...noWait }, respond: pollsReturn(record()) },
    title: "Message sent",
    what: "Job job_1 is running, and this step does not wait for it.",
    next: waitForMessage,
    remembered: "To check on it, re-run this workflow run: nothing is sent again, unless the job fails.",
  },
  {
    name: "a job that is running, without waiting",
    options: { inputs: { ...attach, ...noWait }, respond: pollsReturn(record()) },
    title: "Job is running",
    what: "Job job_1 is still running.",
    next: wait,
  },
  {
    name: "a timeout after a create",
    options: { inputs: short, respond: pollsReturn(record()) },
    title: "Timed out",
    what: "Job job_1 was still running after 1 min. It keeps running: the timeout does not stop it.",
    next: `${wait} ${addInput} ${startsAnother} ${raise}`,
    remembered: `${resume} ${raise}`,
  },
  {
    name: "a timeout after a message",
    options: { inputs: { ...message, ...short }, respond: pollsReturn(record()) },
    title: "Timed out",
    what: "Job job_1 was still running after 1 min. It keeps running: the timeout does not stop it.",
    next: `${waitForMessage} ${addInput} ${sendsAgain} ${raise}`,
    remembered: `${resume} ${raise}`,
  },
  {
    name: "a timeout with the status from before a message",
    options: {
      inputs: { ...message, "timeout-minutes": "0.1" },
      respond: responds(201, record({ status: "completed" })),
    },
    title: "Timed out",
    what: "Job job_1 was still running after 6 s (its status was still the one from before the message). It keeps running: the timeout does not stop it.",
    next: `${waitForMessage} ${addInput} ${sendsAgain} ${raise}`,
    remembered: `${resume} ${raise}`,
  },
  {
    name: "a timeout with an unknown status",
    options: { inputs: short, respond: responds(200, record({ status: "queued" })) },
    title: "Timed out",
    what: "Job job_1 was still running after 1 min. It keeps running: the timeout does not stop it.",
    next: `${wait} ${addInput} ${startsAnother} ${raise}`,
    remembered: `${resume} ${raise}`,
  },
  {
    name: "a timeout of a wait",
    options: { inputs: { ...attach, ...short }, respond: pollsReturn(record()) },
    title: "Timed out",
    what: "Job job_1 was still running after 1 min. It keeps running: the timeout does not stop it.",
    next: `${wait} ${raise}`,
  },
  {
    name: "a timeout while the service fails",
    options: { inputs: short, respond: accepts(respondWith(502)) },
    title: "Timed out",
    what: "After 1 min, the state of job job_1 could not be read: the service answered HTTP 502. The job may still be running: the timeout does not stop it.",
    next: `${wait} ${addInput} ${startsAnother} ${raise}`,
    remembered: `${resume} ${raise}`,
  },
  {
    name: "a cancellation before a create",
    options: { cancelAt: 0, respond: pollsReturn(record()) },
    title: "Cancelled",
    what: "The step was cancelled before the service accepted its request. No job was started.",
    next: "Run this again to start the job.",
  },
  {
    name: "a cancellation before a message",
    options: { cancelAt: 0, inputs: message, respond: pollsReturn(record()) },
    title: "Cancelled",
    what: "The step was cancelled before the service accepted the message. Job job_1 did not receive it.",
    next: "Run this again to send the message.",
  },
  {
    name: "a cancellation before a wait",
    options: { cancelAt: 0, inputs: attach, respond: pollsReturn(record()) },
    title: "Cancelled",
    what: "The step was cancelled before the state of job job_1 was read. The job may be running.",
    next: wait,
  },
  {
    name: "a cancellation while a create is in flight",
    options: { cancelAt: 100, respond: () => ({ responseMs: 20_000 }) },
    title: "Cancelled",
    what: "The step was cancelled while the request was in flight. A job may have been started, but its id is unknown.",
    next: "Check the dashboard before you run this again: a re-run may start a second job.",
    remembered: `Check the dashboard for the job. ${sendsNothing}`,
  },
  {
    name: "a cancellation while a message is in flight",
    options: { cancelAt: 100, inputs: message, respond: () => ({ responseMs: 20_000 }) },
    title: "Cancelled",
    what: "The step was cancelled while the request was in flight. The message may have reached job job_1, which may be running.",
    next: `A re-run of this workflow run may send it a second time. ${waitForMessage}`,
    remembered: `A re-run sends nothing. ${waitForMessage} ${sendAnother.replace("there is none", "it did not arrive")}`,
  },
  {
    name: "a cancellation after a create",
    options: { cancelAt: 7000, respond: pollsReturn(record()) },
    title: "Cancelled",
    what: "The step was cancelled, but job job_1 keeps running: the service cannot stop a job.",
    next: `${wait} ${startsAnother}`,
    remembered: resume,
  },
  {
    name: "a cancellation after a create with an unknown status",
    options: { cancelAt: 7000, respond: responds(200, record({ status: "queued" })) },
    title: "Cancelled",
    what: "The step was cancelled, but job job_1 keeps running: the service cannot stop a job.",
    next: `${wait} ${startsAnother}`,
    remembered: resume,
  },
  {
    name: "a cancellation after a message",
    options: { cancelAt: 7000, inputs: message, respond: responds(201, record({ status: "completed" })) },
    title: "Cancelled",
    what: "The step was cancelled, but job job_1 keeps running: the service cannot stop a job.",
    next: `${waitForMessage} ${sendsAgain}`,
    remembered: resume,
  },
  {
    name: "a cancellation during a wait",
    options: { cancelAt: 7000, inputs: attach, respond: pollsReturn(record()) },
    title: "Cancelled",
    what: "The step was cancelled, but job job_1 keeps running: the service cannot stop a job.",
    next: wait,
  },
  {
    name: "a cancellation after a create whose job is done",
    options: {
      cancelAt: 100,
      respond: () => ({ responseMs: 500, response: { status: 201, body: record({ status: "failed" }) } }),
    },
    title: "Cancelled",
    what: "The step was cancelled. Job job_1 had already reached the status failed.",
    next: "To read its result, run the action with job-id job_1 and no prompt.",
    remembered: "To start over, re-run this workflow run.",
  },
  {
    name: "a create that is rejected",
    options: { respond: responds(401, { error: "Bad key." }) },
    title: "No job was started",
    what: "The service rejected the API key. The service answered HTTP 401: Bad key. No job was started.",
    next: renewKey,
  },
  {
    name: "a message that is rejected",
    options: { inputs: message, respond: responds(401, { error: "Bad key." }) },
    title: "Message not accepted",
    what: "The service rejected the API key. The service answered HTTP 401: Bad key. The service did not accept the message, so the agent started no work.",
    next: renewKey,
  },
  {
    name: "a create that may have been accepted",
    options: { respond: responds(502) },
    title: "Job may have been started",
    what: "The service answered HTTP 502. A job may have been started, but its id is unknown.",
    next: "Check the dashboard before you run this again: a re-run may start a second job.",
    remembered: `Check the dashboard for the job. ${sendsNothing}`,
  },
  {
    name: "a create that another service may have accepted",
    options: { inputs: own, respond: () => ({ failure: "no-response" }) },
    title: "Job may have been started",
    what: "The connection to https://agents.example.com/ failed while waiting for the response (simulated network failure). A job may have been started, but its id is unknown.",
    next: "Check the service before you run this again: a re-run may start a second job.",
    remembered: `Check the service for the job. ${sendsNothing}`,
  },
  {
    name: "a create answered with a web page",
    options: { respond: responds(200, "<html>") },
    title: "Job may have been started",
    what: "The service's response is not usable (HTTP 200 without a job record). A job may have been started, but its id is unknown.",
    next: "Check base-url. Check the dashboard before you run this again: a re-run may start a second job.",
    remembered: `Check base-url. Check the dashboard for the job. ${sendsNothing}`,
  },
  {
    name: "a create answered with an id only",
    options: { respond: responds(201, { id: "job_1" }) },
    title: "Job may have been started",
    what: "The service's response is not usable (HTTP 201 without a job record). The response contains the id of job job_1, which may be running.",
    next: `Check base-url. A re-run of this workflow run may start a second job. ${wait}`,
    remembered: `Check base-url. ${resume}`,
  },
  {
    name: "a message that may have been accepted",
    options: { inputs: message, respond: responds(502) },
    title: "Message may have been sent",
    what: "The service answered HTTP 502. The message may have reached job job_1, which may be running.",
    next: `A re-run of this workflow run may send it a second time. ${waitForMessage}`,
    remembered: `A re-run sends nothing. ${waitForMessage} ${sendAnother.replace("there is none", "it did not arrive")}`,
  },
  {
    name: "a poll that is rejected after a create",
    options: { respond: accepts(respondWith(401)) },
    title: "Polling failed",
    what: "The service rejected the API key. The service answered HTTP 401. The state of job job_1 is unknown; it may still be running.",
    next: `${renewKey} ${startsAnother} ${wait}`,
    remembered: `${renewKey} ${resume}`,
  },
  {
    name: "a poll that is rejected after a message",
    options: { inputs: message, respond: accepts(respondWith(401)) },
    title: "Polling failed",
    what: "The service rejected the API key. The service answered HTTP 401. The state of job job_1 is unknown; it may still be running.",
    next: `${renewKey} ${sendsAgain} ${waitForMessage}`,
    remembered: `${renewKey} ${resume}`,
  },
  {
    name: "the first poll of a wait, rejected",
    options: { inputs: attach, respond: accepts(respondWith(401)) },
    title: "Polling failed",
    what: "The service rejected the API key. The service answered HTTP 401. This step started nothing. The state of job job_1 is unknown.",
    next: renewKey,
  },
  {
    name: "the first poll of a wait for a job that is not found",
    options: { inputs: attach, respond: accepts(respondWith(404, { error: "Job not found" })) },
    title: "Polling failed",
    what: "Job job_1 was not found in project docs. The service answered HTTP 404: Job not found. This step started nothing.",
    next: "Check job-id and project-id: a job is only found in its own project.",
  },
  {
    name: "a later poll of a wait, rejected",
    options: { inputs: attach, respond: thenFails(respondWith(401)) },
    title: "Polling failed",
    what: "The service rejected the API key. The service answered HTTP 401. The state of job job_1 is unknown; it may still be running.",
    next: `${renewKey} ${wait}`,
  },
  {
    name: "a later poll of a job that is not found anymore",
    options: { inputs: attach, respond: thenFails(respondWith(404, { error: "Job not found" })) },
    title: "Polling failed",
    what: "Job job_1 was not found in project docs. The service answered HTTP 404: Job not found. The state of job job_1 is unknown; it may still be running.",
    next: `Check job-id and project-id: a job is only found in its own project. ${wait}`,
  },
  {
    name: "a bug before a job is known",
    options: { respond: bug },
    title: "Internal error",
    what: "The action itself failed: this is a bug. A job may have been started.",
    next: reportBug,
  },
  {
    name: "a bug after a create",
    options: { respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : bug()) },
    title: "Internal error",
    what: "The action itself failed: this is a bug. Job job_1 may be running.",
    next: `${reportBug} ${wait}`,
    remembered: `${reportBug} ${resume}`,
  },
];

test.each(cases)("says what happened and what to do: $name", async ({ options, title, what, next }) => {
  expect(await messageOf(options)).toEqual({ title, what, next });
});

test.each(cases)(
  "says what a re-run does, if it knows of this attempt: $name",
  async ({ options, title, what, next, remembered = next }) => {
    const environment = { GITHUB_RUN_ID: "1", GITHUB_JOB: "job", GITHUB_ACTION: "step" };
    expect(await messageOf({ ...options, cache: new FakeCache(), environment })).toEqual({
      title,
      what,
      next: remembered,
    });
  },
);

/** Runs the step, and returns the message of its annotation or of the last lines of its log. */
async function messageOf(options: MainOptions): Promise<Pick<Case, "title" | "what" | "next">> {
  const { toolkit } = await runMain(options);
  const title = /<h2>\S+ (.*)<\/h2>/.exec(toolkit.summary)?.[1] ?? "";
  const annotation = toolkit.annotations.find((each) => each.title === title);
  const end = toolkit.lines.findIndex((line) => line.startsWith("Outcome: "));
  const [what = "", next = "", ...rest] = annotation?.text.split("\n") ?? toolkit.lines.slice(end + 1);
  expect(rest).toEqual([]);
  return { title, what, next };
}
