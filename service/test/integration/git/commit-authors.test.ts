import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  folderWithClone,
  runJob,
  send,
  startAgentService,
  waitForJob,
  writingAgent,
} from "../../support/agent-service.ts";
import {
  type PullRequestServer,
  type ServedResponse,
  startPullRequestServer,
} from "../../support/pull-request-server.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

const token = "token_0123456789";
const bot = "docs-bot[bot] <7+docs-bot[bot]@users.noreply.127.0.0.1>";
const person = "Writer <writer@example.com>";

/** Starts a GitHub whose token is that of an account, with answers to other requests. */
async function startGitHub(
  login: string | undefined,
  databaseId: number | null = 7,
  answers: Record<string, ServedResponse> = {},
): Promise<PullRequestServer> {
  const server = await startPullRequestServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const viewer = { status: 200, body: { data: { viewer: { login, databaseId } } } };
  server.answer = (request) => answers[request] ?? (request === "POST /graphql" && login ? viewer : undefined);
  return server;
}

async function start(docs: DocsRepository, options: AgentServiceOptions, server?: PullRequestServer) {
  const github = server && { apiUrl: server.url, owner: "acme", name: "docs", token };
  const service = await startAgentService(docs, { agent: writingAgent, host, github, ...options });
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
}

const logOf = (service: AgentService, job: string) => readFileSync(join(service.folder, "logs", `${job}.log`), "utf8");
const by = (docs: DocsRepository, branch: string) =>
  docs.git("log", "--format=%an <%ae>, %cn <%ce>", `main..${branch}`).split("\n");
/** What Git takes for the trailers of a commit. */
const trailersOf = (docs: DocsRepository, branch: string) =>
  docs.git("log", "-1", "--format=%(trailers:only,unfold)", branch).split("\n");

/** Runs a job with a new service. */
async function run(options: AgentServiceOptions, server?: PullRequestServer) {
  const docs = docsRepository();
  const service = await start(docs, options, server);
  const { id, status } = await runJob(service, "one");
  expect(status, logOf(service, id)).toBe("completed");
  return { docs, service, id, branch: `agent/${id}` };
}

test("a commit is by the bot of the token, asked once", async () => {
  const server = await startGitHub("docs-bot[bot]");
  const { docs, service, id, branch } = await run({}, server);
  await send(service, `docs/job/${id}/message`, "two");
  await waitForJob(service, id);
  expect(by(docs, branch)).toEqual([`${bot}, ${bot}`, `${bot}, ${bot}`]);
  expect(server.requests.filter((request) => request === "POST /graphql")).toHaveLength(1);
});

test("the id of a bot is asked for if GraphQL does not tell it", async () => {
  const user = { status: 200, body: { login: "docs-bot[bot]", id: 7 } };
  const server = await startGitHub("docs-bot[bot]", null, { "GET /users/docs-bot%5Bbot%5D": user });
  const { docs, branch } = await run({}, server);
  expect(by(docs, branch)).toEqual([`${bot}, ${bot}`]);
});

test.each([
  ["outside GitHub", undefined],
  ["with a person's token", "writer"],
  ["with a bot whose id GitHub does not tell", "other[bot]"],
])("a commit is by the agent %s", async (_, login) => {
  const server = login === undefined ? undefined : await startGitHub(login, login.endsWith("]") ? null : 9);
  const { docs, branch } = await run({}, server);
  expect(by(docs, branch)).toEqual(["Agent <agent@localhost>, Agent <agent@localhost>"]);
});

test("while GitHub does not tell whose token it is, the turn waits and no agent runs", async () => {
  const server = await startGitHub("docs-bot[bot]", 7);
  const { answer } = server;
  server.answer = (request, body) => (request === "POST /graphql" ? { status: 502, body: "" } : answer(request, body));
  const docs = docsRepository();
  const service = await start(docs, {}, server);
  const { job } = await send(service, "docs/job", "one");
  await expect.poll(() => logOf(service, job.id), { timeout: 10_000 }).toContain("The turn waits and continues later");
  expect(logOf(service, job.id)).not.toContain("The agent");
  server.answer = answer;
  expect((await waitForJob(service, job.id)).status).toBe("completed");
  expect(by(docs, `agent/${job.id}`)).toEqual([`${bot}, ${bot}`]);
}, 60_000);

test("the operator names who commits, and adds trailers", async () => {
  const trailers = ["Assisted-by: Claude", "Refs: DOC-1"];
  const commitAs = { name: "Writer", email: "writer@example.com" };
  const { docs, branch } = await run({ commitAs, signsOff: true, trailers });
  expect(by(docs, branch)).toEqual([`${person}, ${person}`]);
  expect(trailersOf(docs, branch)).toEqual([
    ...trailers,
    `Signed-off-by: ${person}`,
    expect.stringMatching(/^Agent-Turn: /),
    expect.stringMatching(/^Agent-Job: /),
    expect.stringMatching(/^Agent-Prompt: /),
  ]);
});

test("a bot signs off, and what an agent writes in its own commits does not count", async () => {
  const agent = shellAgent(
    `echo x > x.md; git add -A; git commit -qm "$(printf 'Add\\n\\nCo-authored-by: Someone <someone@example.com>\\nSigned-off-by: Someone <someone@example.com>')"`,
  );
  const { docs, branch } = await run({ agent, signsOff: true }, await startGitHub("docs-bot[bot]"));
  const trailers = trailersOf(docs, branch);
  expect(trailers).toContain(`Signed-off-by: ${bot}`);
  expect(trailers.join("\n")).not.toContain("Someone");
  expect(docs.git("log", "-1", "--format=%b", branch)).toContain("    Signed-off-by\u200b: Someone");
});

test("nobody signs off with a person's token, which shows at the start", async () => {
  const server = await startGitHub("writer", 9);
  await expect(start(docsRepository(), { signsOff: true }, server)).rejects.toThrow(
    "--sign-off cannot be used with this token, because it is not known to be a bot's: name who signs off with --commit-as",
  );
});

test("nobody signs off with a person's token, which shows before an agent runs if GitHub was away at the start", async () => {
  const server = await startGitHub("writer", 9);
  const { answer } = server;
  server.answer = () => ({ status: 502, body: "" });
  const service = await start(docsRepository(), { signsOff: true }, server);
  server.answer = answer;
  const { id, status } = await runJob(service, "one");
  expect(status).toBe("failed");
  expect(logOf(service, id)).toContain("The turn failed: --sign-off cannot be used with this token");
  expect(logOf(service, id)).not.toContain("The agent");
});

test("a kept commit is pushed with the author and the trailers of today, and what others pushed stays theirs", async () => {
  const docs = docsRepository();
  const setHook = (lines: string) =>
    writeFileSync(join(docs.path, "hooks/pre-receive"), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  const options = { agent: writingAgent, host, folder: folderWithClone(docs) };
  let id = "";
  {
    await using service = await startAgentService(docs, options);
    ({ id } = await runJob(service, "one"));
    setHook("echo 'rule violations: author' >&2; exit 1");
    await send(service, `docs/job/${id}/message`, "two");
    expect((await waitForJob(service, id)).status).toBe("failed");
  }
  setHook("");
  const branch = `agent/${id}`;
  const tree = docs.git("rev-parse", `${branch}^{tree}`);
  docs.setHead(branch, docs.git("commit-tree", tree, "-p", branch, "-m", "Theirs"));
  const commitAs = { name: "Writer", email: "writer@example.com" };
  await using service = await startAgentService(docs, { ...options, commitAs, trailers: ["Refs: DOC-1"] });
  await send(service, `docs/job/${id}/message`, "two");
  expect((await waitForJob(service, id)).status, logOf(service, id)).toBe("completed");
  expect(by(docs, branch)).toEqual([
    `${person}, ${person}`,
    "Someone <someone@example.com>, Someone <someone@example.com>",
    "Agent <agent@localhost>, Agent <agent@localhost>",
  ]);
  expect(trailersOf(docs, branch)[0]).toBe("Refs: DOC-1");
});

test("a merge of the target branch has the author and the trailers of the turn's commit", async () => {
  const trailers = ["Refs: DOC-1"];
  const { docs, service, id, branch } = await run({ signsOff: true, trailers }, await startGitHub("docs-bot[bot]"));
  docs.importHistory(
    "commit refs/heads/main\ncommitter W <w@example.com> now\ndata 4\nNew\nfrom refs/heads/main^0\n" +
      "M 100644 inline new.md\ndata 4\nnew\n",
  );
  await send(service, `docs/job/${id}/message`, "two");
  await waitForJob(service, id);
  expect(by(docs, branch)).toEqual(Array(3).fill(`${bot}, ${bot}`));
  expect(trailersOf(docs, `${branch}~1`)).toEqual(["Refs: DOC-1", `Signed-off-by: ${bot}`, `Agent-Job: ${id}`]);
});
