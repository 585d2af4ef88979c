import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { type Agent, shellAgent } from "../../../src/agents/agent.ts";
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
import { botLogin, createGitDataApi, hasSignature } from "../../support/git-data-api.ts";
import { type ServedResponse, startPullRequestServer } from "../../support/pull-request-server.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

const module = "1".repeat(40);

/** Starts a GitHub whose rule requires signatures. */
async function setUp(files?: Record<string, string>) {
  const docs = docsRepository(files);
  const server = await startPullRequestServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const api = createGitDataApi(docs);
  api.ruled = () => true;
  api.rejectUnsigned(true);
  server.answer = (request, body) => api.answer(request, body);
  const github = { apiUrl: server.url, owner: "acme", name: "docs", token: "token_0123456789" };
  const folder = folderWithClone(docs);
  const start = (options: AgentServiceOptions & { agent?: Agent } = {}) =>
    startAgentService(docs, { agent: writingAgent, host, github, folder, ...options });
  return { docs, server, api, start };
}

const logOf = (service: AgentService, job: string) => readFileSync(join(service.folder, "logs", `${job}.log`), "utf8");

async function message(service: AgentService, id: string, prompt: string) {
  await send(service, `docs/job/${id}/message`, prompt);
  return waitForJob(service, id);
}

/** Returns author, committer and subject of the commits of a branch, newest first, and whether each is signed. */
const commitsOf = (docs: DocsRepository, branch: string) =>
  docs
    .git("log", "--format=%H %an, %cn, %s", `main..${branch}`)
    .split("\n")
    .map((line) => [line.slice(41), hasSignature(docs, line.slice(0, 40))]);

const signed = (subject: string) => [`${botLogin}, GitHub, ${subject}`, true];

test("a commit is signed with modes, links, submodules, folders and deleted files as the agent left them", async () => {
  const { docs, server, start } = await setUp({
    "README.md": "hello\n",
    "docs/a.md": "a\n",
    "docs/gone.md": "gone\n",
    "other/b.md": "b\n",
    "deep/one/two/c.md": "c\n",
  });
  const tree = docs.git("ls-tree", "main").replace(/$/, `\n160000 commit ${module}\tzmodule`);
  const { execFileSync } = await import("node:child_process");
  const withModule = execFileSync("git", ["-C", docs.path, "mktree", "--missing"], { input: `${tree}\n` });
  docs.setHead("main", docs.git("commit-tree", String(withModule).trim(), "-p", "main", "-m", "Add a submodule"));
  const command =
    "printf '\\377\\0binary' > docs/a.md; rm docs/gone.md; printf x > run.sh; chmod +x run.sh; ln -s docs link;" +
    " mkdir -p new/sub same/sub; printf same > new/sub/x; printf same > same/sub/x; rm -r other; printf x > other;" +
    " printf 'é' > 'deep/one/two/ü name'";
  await using service = await start({ agent: shellAgent(command), trailers: ["Refs: DOC-1"], signsOff: true });
  const { id, status } = await runJob(service, "one");
  expect(status, logOf(service, id)).toBe("completed");
  const branch = `agent/${id}`;
  expect(commitsOf(docs, branch)).toEqual([signed("one")]);
  const listed = docs.git("-c", "core.quotePath=false", "ls-tree", "-r", branch).split("\n");
  const files = Object.fromEntries(listed.map((line) => [line.split("\t")[1], line.split(" ")[0]]));
  expect(files).toEqual({
    "README.md": "100644",
    "deep/one/two/c.md": "100644",
    "deep/one/two/ü name": "100644",
    "docs/a.md": "100644",
    link: "120000",
    "new/sub/x": "100644",
    other: "100644",
    "run.sh": "100755",
    "same/sub/x": "100644",
    zmodule: "160000",
  });
  expect(docs.git("cat-file", "-s", `${branch}:docs/a.md`)).toBe("8");
  const trailers = docs.git("log", "-1", "--format=%(trailers:only)", branch);
  expect(trailers).toMatch(/^Refs: DOC-1\nSigned-off-by: docs-bot\[bot\] <7\+.*>\nAgent-Turn: 1\./);
  // Each content is uploaded once, and none that GitHub has.
  expect(server.requests.filter((request) => request.endsWith("/git/blobs"))).toHaveLength(5);
}, 60_000);

test("without a rule, and with a rule for other branches, no commit is made by the API", async () => {
  const { docs, server, api, start } = await setUp();
  api.ruled = (branch) => branch === "release";
  api.rejectUnsigned(false);
  await using service = await start();
  const { id } = await runJob(service, "one");
  expect(commitsOf(docs, `agent/${id}`)).toEqual([[`${botLogin}, ${botLogin}, one`, false]]);
  expect(server.requests.filter((request) => request.includes("/git/"))).toEqual([]);
});

test("a rule for the target branch is enough, and rules that cannot be read require nothing", async () => {
  const { docs, server, api, start } = await setUp();
  api.ruled = (branch) => branch === "main";
  api.rejectUnsigned(false);
  await using service = await start();
  const first = await runJob(service, "one");
  expect(commitsOf(docs, `agent/${first.id}`)).toEqual([signed("one")]);
  server.answer = (request, body) =>
    request.includes("/rules/") ? { status: 403, body: {} } : api.answer(request, body);
  const second = await runJob(service, "two");
  expect(commitsOf(docs, `agent/${second.id}`)).toEqual([[`${botLogin}, ${botLogin}, two`, false]]);
}, 30_000);

test("a further turn is signed on top of what a person pushed, or wrote in place of the job's commit", async () => {
  const { docs, api, start } = await setUp();
  await using service = await start();
  const { id } = await runJob(service, "one");
  const branch = `agent/${id}`;
  const base = docs.head("main");
  // The push of a person, which is forced.
  docs.setHead(branch, docs.git("commit-tree", `${branch}^{tree}`, "-p", base, "-m", "Theirs"));
  expect((await message(service, id, "two")).status, logOf(service, id)).toBe("completed");
  expect(commitsOf(docs, branch)).toEqual([signed("two"), ["Someone, Someone, Theirs", false]]);
  expect(api.reason).toBeUndefined();
}, 30_000);

test("a merge of the target branch is signed, too", async () => {
  const { docs, start } = await setUp();
  await using service = await start();
  const { id } = await runJob(service, "one");
  docs.importHistory(
    "commit refs/heads/main\ncommitter W <w@example.com> now\ndata 4\nNew\nfrom refs/heads/main^0\n" +
      "M 100644 inline new.md\ndata 4\nnew\n",
  );
  const { status } = await message(service, id, "two");
  expect(status, logOf(service, id)).toBe("completed");
  const branch = `agent/${id}`;
  expect(commitsOf(docs, branch)).toEqual([signed("two"), signed(`Merge branch 'main' into ${branch}`), signed("one")]);
});

test("a commit is signed again on top of what a person pushed while it was made", async () => {
  const { docs, server, api, start } = await setUp();
  let pushes = 0;
  server.answer = (request, body) => {
    const answer = api.answer(request, body);
    const [branch = ""] = docs.branches();
    if (request.endsWith("/git/commits") && pushes++ === 0) {
      const tree = docs.git("rev-parse", `${branch}^{tree}`);
      docs.setHead(branch, docs.git("commit-tree", tree, "-p", branch, "-m", "Theirs"));
      // Something to rebase onto.
      docs.importHistory(
        `commit refs/heads/${branch}\ncommitter Someone <someone@example.com> now\ndata 6\nTheirsfrom refs/heads/${branch}^0\nM 644 inline theirs.md\ndata 1\nx\n`.replace(
          "Theirsfrom",
          "Theirs\nfrom",
        ),
      );
    }
    return answer;
  };
  await using service = await start();
  const { id, status } = await runJob(service, "one");
  expect(status, logOf(service, id)).toBe("completed");
  expect(pushes).toBe(2);
  expect(commitsOf(docs, `agent/${id}`).slice(0, 2)).toEqual([
    signed("one"),
    [expect.stringContaining("Theirs"), false],
  ]);
}, 30_000);

test("what GitHub does not sign is kept, and signed by the next turn without another run of the agent", async () => {
  const { docs, api, start } = await setUp();
  await using service = await start({ agent: shellAgent("cat >> runs.md") });
  api.reason = "unsigned";
  const { id, status } = await runJob(service, "one");
  expect(status).toBe("failed");
  expect(logOf(service, id)).toContain("GitHub did not sign the commit (unsigned). The commit is kept.");
  api.reason = undefined;
  expect((await message(service, id, "one")).status, logOf(service, id)).toBe("completed");
  expect(commitsOf(docs, `agent/${id}`)).toEqual([signed("one")]);
  expect(docs.read(`agent/${id}`, "runs.md")).toBe("one");
}, 30_000);

test.each<[string, (text: string) => string]>([
  ["files", (text) => text.replace(/^tree \w+/, "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904")],
  ["message", (text) => text.replace("\n\none", "\n\ntwo")],
])("a commit with another %s than the one that was checked is not pushed", async (_, change) => {
  const { docs, api, start } = await setUp();
  await using service = await start();
  api.change = change;
  const { id, status } = await runJob(service, "one");
  expect(status).toBe("failed");
  expect(logOf(service, id)).toContain("GitHub made another commit than the one it was asked for");
  expect(docs.branches().filter((branch) => commitsOf(docs, branch)[0]?.[0] !== "")).toEqual([]);
});

test("while GitHub is away, a commit waits, and no agent runs again", async () => {
  const { docs, server, api, start } = await setUp();
  const away: ServedResponse = { status: 502, body: "" };
  server.answer = (request, body) => (request.includes("/git/") ? away : api.answer(request, body));
  const options = { agent: shellAgent("cat >> runs.md") };
  let id = "";
  {
    await using service = await start(options);
    id = (await send(service, "docs/job", "one")).job.id;
    await expect.poll(() => server.requests.some((one) => one.endsWith("/git/blobs")), { timeout: 20_000 }).toBe(true);
  }
  server.answer = (request, body) => api.answer(request, body);
  await using service = await start(options);
  expect((await waitForJob(service, id)).status, logOf(service, id)).toBe("completed");
  expect(commitsOf(docs, `agent/${id}`)).toEqual([signed("one")]);
  expect(docs.read(`agent/${id}`, "runs.md")).toBe("one");
}, 60_000);

test("a secret never gets to GitHub", async () => {
  const { server, start } = await setUp();
  const secrets = [{ name: "MODEL_KEY", value: "sk-secret-0123456789" }];
  await using service = await start({ agent: shellAgent("echo sk-secret-0123456789 > a.md"), secrets });
  expect((await runJob(service, "one")).status).toBe("failed");
  expect(server.requests.filter((request) => request.includes("/git/"))).toEqual([]);
});

test("with --commit-as, no agent runs if a rule requires signatures", async () => {
  const { start } = await setUp();
  await using service = await start({ commitAs: { name: "Bot", email: "bot@example.com" } });
  const { id, status } = await runJob(service, "one");
  expect(status).toBe("failed");
  expect(logOf(service, id)).toContain(
    `The turn failed: a rule of the repository requires signatures on agent/${id}, and commits of --commit-as have none`,
  );
  expect(logOf(service, id)).not.toContain("The agent");
});

test("a branch with commits from before the rule is left for a new job", async () => {
  const { api, start, docs } = await setUp();
  api.ruled = () => false;
  api.rejectUnsigned(false);
  await using service = await start();
  const { id } = await runJob(service, "one");
  const head = docs.head(`agent/${id}`);
  api.ruled = () => true;
  expect((await message(service, id, "two")).status).toBe("failed");
  expect(logOf(service, id)).toContain(
    `requires signatures on agent/${id} now, and agent/${id} has commits of the service from before, which have none: create a new job`,
  );
  expect(docs.head(`agent/${id}`)).toBe(head);
  expect((await runJob(service, "three")).status).toBe("completed");
}, 30_000);
