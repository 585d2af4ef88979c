import { describe, expect, test } from "vitest";
import { commentId, runComment } from "../../../support/comment-run.ts";
import { bot, FakeGitHub } from "../../../support/fake-github.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { prLink, record, respondWith } from "../../../support/run-main.ts";
import { ownStep } from "../../../support/thread.ts";

const respond = ({ method }: SeenRequest): Exchange =>
  method === "POST" ? respondWith(201, record()) : respondWith(200, record({ status: "completed", prLink }));

const marker = (job: string, id: number) =>
  `<!-- agent-job-action project=docs attempt=1 job=${job} comment=${id} ${ownStep} -->`;
const sent = (requests: SeenRequest[]) => requests.filter(({ method }) => method === "POST").map(({ path }) => path);

/** A thread in which a job was started for an earlier comment. */
function threadWithJob(): FakeGitHub {
  const github = new FakeGitHub();
  github.add(bot, `done\n\n${marker("job_1", commentId - 1)}`);
  return github;
}

describe("a comment that cannot be handled", () => {
  test("because the payload of the event is not as expected: nothing is started, and the log says why", async () => {
    const github = new FakeGitHub();
    const { outputs, requests, toolkit, hasPassed } = await runComment(github, { payload: { comment: { id: "x" } } });
    expect(hasPassed).toBe(false);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "" });
    expect(requests).toEqual([]);
    expect(github.calls).toEqual([]);
    expect(toolkit.annotations).toEqual([
      expect.objectContaining({ level: "error", text: expect.stringMatching(/payload of the issue_comment event/) }),
    ]);
    expect(toolkit.events).toContainEqual(expect.stringMatching(/^debug .*Error/));
  });

  test("because the prompt is blank with the values of the comment: nothing is started", async () => {
    const github = new FakeGitHub();
    const { outputs, requests, hasPassed } = await runComment(github, {
      inputs: { prompt: "{{ body }}" },
      payload: { issue: { number: 12, title: " ", body: " \n", html_url: "https://github.com/acme/docs/issues/12" } },
    });
    expect(hasPassed).toBe(false);
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
  });
});

describe("a follow-up comment", () => {
  test.each(["/agent say what is new", "/agent newer pages", "/agent renew the page", "/agent add a new page"])(
    "%s continues the job of the thread",
    async (text) => {
      const { requests } = await runComment(threadWithJob(), { respond, text });
      expect(sent(requests)).toEqual(["/v2/agent/docs/job/job_1/message"]);
    },
  );

  test.each(["/agent new add a page", "/agent NEW add a page", "/agent new\nadd a page"])(
    "%j starts another job",
    async (text) => {
      const { requests } = await runComment(threadWithJob(), { respond, text });
      expect(sent(requests)).toEqual(["/v2/agent/docs/job"]);
    },
  );

  test("whose job was not found starts another job, and says so", async () => {
    const github = threadWithJob();
    const { requests, outputs, toolkit } = await runComment(github, {
      respond: ({ method, path }) => {
        if (path.includes("/job_1")) return respondWith(404, { error: "Job not found" });
        return respondWith(200, record({ id: "job_2", ...(method === "GET" && { status: "completed", prLink }) }));
      },
    });
    expect(sent(requests)).toEqual(["/v2/agent/docs/job/job_1/message", "/v2/agent/docs/job"]);
    expect(outputs.outcome).toBe("pr-created");
    const note = "The job that this thread remembers was not found, so this request is for a new one.";
    expect(toolkit.lines.filter((line) => line === note)).toHaveLength(1);
    expect(github.reply).toContain(`<p>${note}</p>`);
  });

  test("whose job was found says nothing of a new one", async () => {
    const github = threadWithJob();
    const { toolkit } = await runComment(github, { respond });
    expect(toolkit.lines.join("\n")).not.toContain("was not found");
    expect(github.reply).not.toContain("was not found");
  });
});

test("the reply links to the run, also on a GitHub server", async () => {
  const links = async (environment: Record<string, string>) => {
    const github = new FakeGitHub();
    await runComment(github, { respond, environment });
    return /<a href="([^"]*)">Run<\/a>/.exec(github.reply)?.[1];
  };
  expect(await links({})).toBe("https://github.com/acme/docs/actions/runs/99");
  expect(await links({ GITHUB_SERVER_URL: "" })).toBe("https://github.com/acme/docs/actions/runs/99");
  const server = { GITHUB_SERVER_URL: "https://github.example" };
  expect(await links(server)).toBe("https://github.example/acme/docs/actions/runs/99");
});

test("the reply says how long the job took, and has no empty paragraph", async () => {
  const github = new FakeGitHub();
  await runComment(github, { respond });
  expect(github.reply).toContain(" · took 5 s · ");
  expect(github.reply).not.toContain("<p></p>");
  const rejected = new FakeGitHub();
  await runComment(rejected, { respond: () => respondWith(401) });
  expect(rejected.reply).not.toContain("took");
  expect(rejected.reply).not.toContain("<p></p>");
});
