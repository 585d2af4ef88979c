import { describe, expect, test } from "vitest";
import { runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import type { Exchange } from "../../../support/fake-transport.ts";
import {
  type MainOptions,
  type MainRun,
  pollsReturn,
  record,
  respondWith,
  runMain,
} from "../../../support/run-main.ts";
import { earlierReply, githubRejecting, staysActive, threadWith } from "../../../support/thread.ts";

/** Returns the places in which a person reads the result. */
function placesOf({ toolkit }: MainRun, github?: FakeGitHub): Record<string, string> {
  return {
    annotation: toolkit.annotations.at(-1)?.text ?? "",
    // Summary and reply show untrusted text, such as a job id, as code.
    summary: withoutMarkup(toolkit.summary),
    ...(github && { reply: withoutMarkup(github.reply) }),
  };
}

function withoutMarkup(html: string): string {
  return html.replaceAll(/<[^>]*>/g, "");
}

describe("the dashboard", () => {
  const message = { "job-id": "job_1" };
  const attach = { "job-id": "job_1", prompt: "" };
  const statuses = [301, 400, 401, 403, 404, 410, 429, 500, 503];
  const afterCreate =
    (poll: Exchange): MainOptions["respond"] =>
    ({ method }) =>
      method === "POST" ? respondWith(201, record()) : poll;

  const runs: [string, MainOptions][] = [
    ...statuses.flatMap((status): [string, MainOptions][] => [
      [`create: ${status}`, { respond: () => respondWith(status) }],
      [`message: ${status}`, { respond: () => respondWith(status), inputs: message }],
      [`attach: ${status}`, { respond: () => respondWith(status), inputs: attach }],
      [`poll: ${status}`, { respond: afterCreate(respondWith(status)) }],
    ]),
    ["no connection", { respond: () => ({ failure: "not-connected" }) }],
    ["an untrusted certificate", { respond: () => ({ failure: "certificate" }) }],
    ["no response", { respond: () => ({ failure: "no-response" }) }],
    ["an invalid response", { respond: () => respondWith(201, "<html>") }],
    ["an id in an incomplete response", { respond: () => respondWith(201, { id: "job_1" }) }],
    ["a failed job", { respond: pollsReturn(record({ status: "failed" })) }],
    ["an archived job", { respond: pollsReturn(record({ status: "archived" })) }],
    ["no pull request", { respond: pollsReturn(record({ status: "completed" })) }],
    ["an invalid link", { respond: pollsReturn(record({ status: "completed", prLink: "javascript:x" })) }],
    ["a timeout", { respond: pollsReturn(record()) }],
    ["a cancellation", { respond: pollsReturn(record()), cancelAt: 7000 }],
    ["a cancellation without a response", { respond: () => ({ responseMs: 20_000 }), cancelAt: 100 }],
    ["wait: false", { respond: pollsReturn(record()), inputs: { wait: "false" } }],
    ["an unknown status", { respond: pollsReturn(record({ status: "queued" })) }],
    ["no inputs", { respond: pollsReturn(record()), inputs: { "project-id": "", "api-key": "", prompt: "" } }],
    ["another kind of key", { respond: pollsReturn(record()), inputs: { "api-key": "mint_dsc_0123456789" } }],
  ];

  /** Runs a scenario in plain and in comment mode, and returns everything that a person can read. */
  async function textsOf(options: MainOptions, baseUrl: string): Promise<string> {
    const inputs = { "timeout-minutes": "1", "base-url": baseUrl, ...options.inputs };
    const { toolkit } = await runMain({ ...options, inputs });
    const github = new FakeGitHub();
    const comment = await runComment(github, { ...options, inputs: { ...inputs, prompt: "" } });
    return [
      ...toolkit.events,
      toolkit.summary,
      ...comment.toolkit.events,
      comment.toolkit.summary,
      github.reply,
    ].join();
  }

  test.each(runs)("is not mentioned with another base-url: %s", async (_name, options) => {
    for (const baseUrl of [
      "https://docs.example.com",
      "https://api.mintlify.com.example.com",
      "http://localhost:8080",
    ]) {
      expect(await textsOf(options, baseUrl)).not.toMatch(/dashboard/i);
    }
  });

  test.each([
    "create: 401",
    "create: 403",
    "create: 404",
    "no response",
    "a failed job",
    "an invalid link",
    "no inputs",
  ])("is mentioned with the default base-url: %s", async (name) => {
    const [, options] = runs.find(([other]) => other === name) ?? [];
    if (!options) throw new Error(`there is no scenario ${name}`);
    expect(await textsOf(options, "")).toMatch(/dashboard/i);
  });
});

describe("running it again", () => {
  const failures: [string, Exchange][] = [
    ...[301, 400, 401, 403, 404, 410].map((status): [string, Exchange] => [
      String(status),
      respondWith(status, { error: "Why" }),
    ]),
    ["no connection", { failure: "not-connected" }],
    ["an untrusted certificate", { failure: "certificate" }],
  ];

  test.each(failures)("is not advised after a poll that failed: %s", async (_name, exchange) => {
    const { toolkit } = await runMain({
      inputs: { "base-url": "https://docs.example.com", "timeout-minutes": "1" },
      respond: ({ method }) => (method === "POST" ? respondWith(201, record()) : exchange),
    });
    expect(toolkit.annotations.at(-1)?.text).not.toMatch(/\brun this again\b|new run/i);
  });

  test.each(failures)("needs a new run if the workflow file has to change: create: %s", async (_name, exchange) => {
    const { toolkit } = await runMain({
      inputs: { "base-url": "https://docs.example.com", "timeout-minutes": "1" },
      respond: () => exchange,
    });
    const text = toolkit.annotations.at(-1)?.text ?? "";
    if (/\b(re-run|run this again)\b/i.test(text)) expect(text).toMatch(/new run/);
  });

  test("is no matter of the key if Cloudflare blocks the request", async () => {
    const { toolkit } = await runMain({
      inputs: { "base-url": "https://docs.example.com" },
      respond: () => respondWith(403, "error code: 1010"),
    });
    const text = toolkit.annotations.at(-1)?.text;
    expect(text).toContain("Cloudflare, in front of the service, blocked the request");
    expect(text).not.toMatch(/API key|may only read/);
  });

  test("needs a new run after a rejected prompt and after invalid inputs", async () => {
    const rejected = await runMain({ respond: () => respondWith(400, { error: "Too long" }) });
    const invalid = await runMain({ respond: () => respondWith(500), inputs: { wait: "maybe" } });
    for (const { toolkit } of [rejected, invalid]) expect(toolkit.annotations.at(-1)?.text).toMatch(/start a new run/);
  });
});

describe("a re-run", () => {
  const timeout = { inputs: { "timeout-minutes": "1" }, respond: staysActive };
  const cancellation = { cancelAt: 20_000, respond: staysActive };
  const unknownMessage = { respond: () => respondWith(502) };
  const idOnly: MainOptions = { respond: () => respondWith(201, { id: "job_1" }) };
  const waits = "To wait for it, re-run this workflow run: nothing is sent again.";
  const sendsAgain = /re-run of this workflow run (starts|sends|may)|with job-id|job-id to/;

  test.each([
    ["a timeout", timeout, "Timed out"],
    ["a cancellation", cancellation, "Cancelled"],
    ["a message and a timeout", timeout, "Timed out"],
    ["an incomplete response to a create", idOnly, "Job may have been started"],
  ])("waits in comment mode after %s, which every place says", async (name, options, title) => {
    const github = threadWith(...(name.includes("message") ? [earlierReply("job_1")] : []));
    const run = await runComment(github, options);
    expect(run.toolkit.annotations.at(-1)?.title).toBe(title);
    for (const [place, text] of Object.entries(placesOf(run, github))) {
      expect(text, place).toContain(waits);
      expect(text, place).not.toMatch(sendsAgain);
    }
  });

  test("sends nothing in comment mode after a message that may have been sent, which every place says", async () => {
    const github = threadWith(earlierReply("job_1"));
    const run = await runComment(github, unknownMessage);
    expect(run.toolkit.annotations.at(-1)?.title).toBe("Message may have been sent");
    for (const [place, text] of Object.entries(placesOf(run, github))) {
      expect(text, place).toContain("A re-run sends nothing.");
      expect(text, place).toContain("To start another job, comment ");
      expect(text, place).not.toMatch(/nothing is sent again|A re-run of this workflow run/);
    }
  });

  test.each([
    ["a timeout", timeout, {}, "A re-run of this workflow run may start another job."],
    ["a cancellation", cancellation, {}, "A re-run of this workflow run may start another job."],
    [
      "a message and a timeout",
      timeout,
      { "job-id": "job_1" },
      "A re-run of this workflow run may send the message again.",
    ],
    [
      "a message and a cancellation",
      cancellation,
      { "job-id": "job_1" },
      "A re-run of this workflow run may send the message again.",
    ],
    [
      "a message that may have been sent",
      unknownMessage,
      { "job-id": "job_1" },
      "A re-run of this workflow run may send it a second time.",
    ],
    ["an incomplete response to a create", idOnly, {}, "A re-run of this workflow run may start a second job."],
  ])(
    "sends again in plain mode after %s, which every place says",
    async (_name, options: MainOptions, inputs, effect) => {
      const run = await runMain({ ...options, inputs: { ...options.inputs, ...inputs } });
      const limit = "job-id" in inputs ? ", which does not see what the message changed" : "";
      const wait = `To wait for it, run the action with job-id job_1 and no prompt${limit}.`;
      for (const [place, text] of Object.entries(placesOf(run))) {
        expect(text, place).toContain(effect);
        expect(text, place).toContain(wait);
        expect(text, place).not.toContain("nothing is sent again");
      }
    },
  );

  test("is not mentioned in plain mode with only a job-id, because it waits anyway", async () => {
    const run = await runMain({ ...timeout, inputs: { ...timeout.inputs, "job-id": "job_1", prompt: "" } });
    for (const text of Object.values(placesOf(run))) expect(text).not.toMatch(/re-run|workflow_dispatch/);
  });

  test.each([
    ["starts another job with reply: false", new FakeGitHub(), { reply: "false" }, true],
    ["sends nothing after a reply that cannot be edited", githubRejecting(/^PATCH /), {}, false],
  ])("in comment mode %s, which the annotation says", async (_name, github, inputs, isRepeated) => {
    const run = await runComment(github, { ...timeout, inputs: { ...timeout.inputs, ...inputs } });
    const text = run.toolkit.annotations.at(-1)?.text ?? "";
    expect(text.includes("A re-run of this workflow run may start another job.")).toBe(isRepeated);
    expect(text).not.toContain("nothing is sent again");
    const { requests } = await runComment(github, { ...timeout, attempt: 2, inputs: { ...timeout.inputs, ...inputs } });
    expect(requests.some(({ method }) => method === "POST")).toBe(isRepeated);
  });

  test("can wait for the job if the workflow has a job-id input, which a timeout explains", async () => {
    const { toolkit } = await runMain(timeout);
    expect(toolkit.annotations.at(-1)?.text).toContain(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of a workflow
      "add job-id to the inputs of on.workflow_dispatch and job-id: ${{ inputs.job-id }} to the step, with a prompt that is empty when job-id is set.",
    );
  });
});
