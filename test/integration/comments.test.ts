import { createEmulator, type Emulator } from "emulate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Comment, commentEnvironment, commentInputs } from "../support/payload.ts";
import { inputsFor, type ScriptedService, startScriptedService } from "../support/scripted-service.ts";
import { temporaryFolder } from "../support/step.ts";
import { stepHere } from "../support/step-here.ts";

interface Reply {
  id: number;
  body: string;
  user: { login: string };
}

let github: Emulator;

beforeAll(async () => {
  const people = ["acme", "docs-bot", "writer", "reader"];
  github = await createEmulator({
    service: "github",
    port: 0,
    seed: {
      tokens: Object.fromEntries([
        ...people.map((login) => [login, { login, scopes: ["repo"] }]),
        ["bot_token_0123456789", { login: "docs-bot", scopes: ["repo"] }],
      ]),
      github: { users: people.map((login) => ({ login })), repos: [{ owner: "acme", name: "docs", auto_init: true }] },
    },
  });
  await call("PUT", "/collaborators/docs-bot", { permission: "push" });
  await call("PUT", "/collaborators/writer", { permission: "push" });
  await call("PUT", "/collaborators/reader", { permission: "pull" });
});

afterAll(() => github.close());

async function call(method: string, path: string, body?: unknown, as = "acme"): Promise<unknown> {
  const response = await fetch(`${github.url}/repos/acme/docs${path}`, {
    method,
    headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.status === 204 ? undefined : response.json();
}

async function newIssue(): Promise<number> {
  return ((await call("POST", "/issues", { title: "Links are broken" })) as { number: number }).number;
}

/** Posts a comment, and runs the step that GitHub would start for it. */
async function postAndRun(
  service: ScriptedService,
  number: number,
  login: string,
  text: string,
  options: { event?: Partial<Comment> } = {},
): ReturnType<typeof stepHere> {
  const { id } = (await call("POST", `/issues/${number}/comments`, { body: text }, login)) as Reply;
  const folder = temporaryFolder();
  const event = { id, text, number, author: { login }, ...options.event };
  const environment = commentEnvironment(folder, github.url, event);
  return stepHere(inputsFor(service, commentInputs), { folder, environment });
}

async function replies(number: number): Promise<Reply[]> {
  const all = (await call("GET", `/issues/${number}/comments?per_page=100`)) as Reply[];
  return all.filter(({ user, body }) => user.login === "docs-bot" && !body.startsWith("/agent"));
}

test("a thread of six comments by three people: two jobs, two follow-up messages, two skipped comments", async () => {
  await using service = await startScriptedService({ script: () => ({ durationMs: 100 }) });
  const number = await newIssue();
  const outcomes: (string | undefined)[][] = [];
  const jobs = new Set<string | undefined>();
  for (const [login, text] of [
    ["writer", "/agent fix the quickstart"],
    ["reader", "/agent buy something"],
    ["writer", "/agent and the links"],
    ["renovate[bot]", "/agent again and again"],
    ["writer", "/Agent\nand the title"],
    ["writer", "/agent new start again"],
  ] as const) {
    const author = login.endsWith("[bot]") ? "docs-bot" : login;
    const run = await postAndRun(service, number, author, text, { event: { author: { login } } });
    const { outputs, exitCode, annotations } = run;
    expect(exitCode).toBe(0);
    // This GitHub has no reactions.
    if (outputs.outcome === "pr-created")
      expect(annotations).toEqual([
        expect.stringMatching(/^warning Cannot update the thread: Could not add a reaction/s),
      ]);
    outcomes.push([outputs.outcome, outputs["skip-reason"]]);
    if (outputs["job-id"]) jobs.add(outputs["job-id"]);
  }
  expect(outcomes).toEqual([
    ["pr-created", ""],
    ["skipped", "not-permitted"],
    ["pr-created", ""],
    ["skipped", "bot"],
    ["pr-created", ""],
    ["pr-created", ""],
  ]);
  const [jobId, other] = jobs;
  expect(jobs.size).toBe(2);
  expect(service.requests.filter((request) => request.startsWith("POST"))).toEqual([
    "POST /v2/agent/docs/job",
    `POST /v2/agent/docs/job/${jobId}/message`,
    `POST /v2/agent/docs/job/${jobId}/message`,
    "POST /v2/agent/docs/job",
  ]);
  expect(service.engine.prompts.map((prompt) => prompt.split("\n")[0])).toEqual([
    "fix the quickstart",
    "and the links",
    "and the title",
    "start again",
  ]);
  const posted = await replies(number);
  expect(posted).toHaveLength(4);
  for (const [index, { body }] of posted.entries()) {
    const [job, pull] = index < 3 ? [jobId, 1] : [other, 2];
    expect(body).toMatch(/Pull request (?:created|updated)/);
    expect(body).toContain(`<a href="https://github.com/example/docs/pull/${pull}">Pull request ${pull}</a>`);
    expect(body).toContain("https://github.example/acme/docs/actions/runs/99");
    expect(body.split("\n").at(-1)).toMatch(
      new RegExp(
        `^<!-- agent-job-action project=docs attempt=1 job=${job}( ended)? comment=\\d+ step=[0-9a-f]{32} -->$`,
      ),
    );
  }
});

describe("with a GitHub server without reactions", () => {
  test("starts a new job if the job of the thread is not found, and says so in the reply", async () => {
    const number = await newIssue();
    {
      await using service = await startScriptedService();
      await postAndRun(service, number, "writer", "/agent one");
    }
    await using service = await startScriptedService();
    const { outputs, log } = await postAndRun(service, number, "writer", "/agent two");
    expect(outputs.outcome).toBe("pr-created");
    expect(service.requests.filter((request) => request.startsWith("POST"))).toEqual([
      expect.stringMatching(/^POST \/v2\/agent\/docs\/job\/job_.*\/message$/),
      "POST /v2/agent/docs/job",
    ]);
    expect(log).toContain("The job that this thread remembers was not found, so this request is for a new one.");
    expect((await replies(number)).at(-1)?.body).toContain(
      "The job that this thread remembers was not found, so this request is for a new one.",
    );
  });

  test("shows a failed job in the reply, and escapes a hostile title and instruction", async () => {
    await using service = await startScriptedService({ script: () => ({ durationMs: 100, result: "failed" }) });
    const number = await newIssue();
    const hostile = "##[error]x\r::set-output name=outcome::x {{ body }} @acme/team <img src=x>";
    const { lines, outputs, exitCode } = await postAndRun(service, number, "writer", `/agent ${hostile}`, {
      event: { title: hostile },
    });
    expect([exitCode, outputs.outcome]).toEqual([1, "failed"]);
    const commands = lines.flatMap((line) => (line.kind === "command" ? [line.name] : []));
    expect(new Set(commands)).toEqual(new Set(["add-mask", "debug", "group", "endgroup", "warning", "error"]));
    expect(service.engine.prompts[0]).toContain(hostile);
    const reply = (await replies(number)).at(-1)?.body;
    expect(reply).toContain("Job failed");
    expect(reply).not.toMatch(/@acme|<img/);
  });
});
