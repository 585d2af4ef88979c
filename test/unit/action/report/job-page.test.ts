import { describe, expect, test } from "vitest";
import { runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { key, type MainOptions, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";
import { earlierReply, losesJob, threadWith } from "../../../support/thread.ts";

const page = "https://api.mintlify.com/jobs/1";
const link = (target = page) => ({ link: `<${target}>; rel="alternate"; type="text/html"` });
const html = `<a href="${page}">Job page</a>`;

/** A service that names the page in the responses to these methods. */
function names(methods: string[], headers: Record<string, string> = link()): MainOptions["respond"] {
  return ({ method }) => {
    const sent = methods.includes(method) ? headers : {};
    return method === "POST"
      ? respondWith(201, record(), sent)
      : respondWith(200, record({ status: "completed", prLink }), sent);
  };
}

describe("the job's page", () => {
  test.each([[["POST"]], [["GET"]], [["POST", "GET"]]])(
    "named in the response to %j is in log and summary",
    async (methods) => {
      const { toolkit } = await runMain({ respond: names(methods) });
      expect(toolkit.lines.filter((line) => line.includes(page))).toEqual([`Job page: ${page}`]);
      expect(toolkit.summary).toContain(`</a></b> · ${html} · took`);
    },
  );

  test("is not there if the service names none", async () => {
    const { toolkit } = await runMain({ respond: names([]) });
    expect(toolkit.lines.join("\n") + toolkit.summary).not.toContain("Job page");
  });

  test("is printed again if it changes", async () => {
    let polls = 0;
    const { toolkit } = await runMain({
      respond: ({ method }) =>
        method === "POST"
          ? respondWith(201, record(), link("/a"))
          : respondWith(200, record({ status: polls++ < 2 ? "active" : "failed" }), link(polls < 2 ? "/a" : "/b")),
    });
    expect(toolkit.lines.filter((line) => line.startsWith("Job page"))).toEqual([
      "Job page: https://api.mintlify.com/a",
      "Job page: https://api.mintlify.com/b",
    ]);
  });

  test.each([
    ["on another origin", "https://evil.example/jobs/1"],
    ["that contains the key", `/jobs/1?key=${key}`],
    ["that contains the key, encoded", `/jobs/1?key=${Buffer.from(`x${key}`).toString("base64")}`],
  ])("%s is not shown", async (_name, target) => {
    const { toolkit } = await runMain({ respond: names(["POST", "GET"], link(target)) });
    expect(toolkit.events.join("\n") + toolkit.summary).not.toMatch(/Job page|evil|key=/);
  });

  test("with markup, commands and mentions is only a link", async () => {
    const target = "/##[error]x&quot;'@acme/team?x=::set-output::";
    const { toolkit } = await runMain({ respond: names(["POST"], link(target)) });
    expect(toolkit.lines.find((line) => line.startsWith("Job page"))).toContain("##\\[error]");
    expect(toolkit.summary).toContain('/##[error]x&amp;quot;&#39;@acme/team?x=::set-output::">Job page</a>');
  });

  test("is in the reply", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond: names(["POST"]) });
    expect(github.reply).toContain(`took 5 s · ${html} · `);
  });

  test("of a job that was not found is not shown for the one that replaces it", async () => {
    const github = threadWith(earlierReply("job_gone"));
    await runComment(github, { respond: losesJob });
    expect(github.reply).not.toContain("Job page");
  });

  test("is in the answer to the command status", async () => {
    const github = threadWith(earlierReply("job_1"));
    await runComment(github, { text: "/agent status", respond: names(["GET"]) });
    expect(github.reply).toContain(` · ${html} · `);
  });
});
