import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  runJob,
  send,
  startAgentService,
  waitForJob,
  writingAgent,
} from "../../support/agent-service.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

let docs: DocsRepository;
let services: AgentService[];

beforeEach(() => {
  docs = docsRepository();
  services = [];
});

afterEach(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
});

async function start(options: AgentServiceOptions = {}): Promise<AgentService> {
  const service = await startAgentService(docs, { agent: writingAgent, host, ...options });
  services.push(service);
  return service;
}

const logOf = (service: AgentService, jobId: string) =>
  readFileSync(join(service.folder, "logs", `${jobId}.log`), "utf8");

/** Sends a message and waits for its turn. */
async function runMessage(service: AgentService, jobId: string, prompt: string) {
  await send(service, `docs/job/${jobId}/message`, prompt);
  return waitForJob(service, jobId);
}

const files = (branch: string) => docs.git("diff", "--name-only", `main...${branch}`).split("\n");

/** Adds a commit with one file on top of another commit. Returns it. */
function addCommit(parent: string, file: string): string {
  const [message, text] = [`Write ${file}`, "Someone's\n"];
  docs.importHistory(
    `commit refs/heads/scratch\ncommitter Someone <someone@example.com> now\ndata ${message.length}\n${message}\n` +
      `from ${docs.head(parent)}\nM 100644 inline ${file}\ndata ${text.length}\n${text}\n`,
  );
  const commit = docs.head("scratch");
  docs.deleteBranch("scratch");
  return commit;
}

test("work is not overwritten after the base was replaced by an unrelated history", async () => {
  const service = await start();
  const job = await runJob(service, "one");
  const branch = `agent/${job.id}`;
  const before = docs.head(branch);
  using other = new DocsRepository({ "other.md": "other\n" });
  docs.git("fetch", "--quiet", other.path, "+main:main");

  expect((await runMessage(service, job.id, "two")).status).toBe("failed");
  expect(docs.head(branch)).toBe(before);
  const log = logOf(service, job.id);
  expect(log).toContain(
    `main was replaced by another history, which has no commit in common with the work of this job`,
  );
  expect(log).toContain(`kept on ${branch}. Create a new job, or push to ${branch} a version of it`);

  docs.deleteBranch(branch);
  expect((await runMessage(service, job.id, "three")).status).toBe("failed");
  expect(logOf(service, job.id)).toContain(`kept as ${before} in the service's clone`);
  expect(docs.branches()).toEqual([]);

  expect((await runJob(service, "new")).status).toBe("completed");
});

test("a deleted branch is created again with the job's earlier work", async () => {
  const service = await start();
  const { id } = await runJob(service, "one");
  const branch = `agent/${id}`;
  const head = docs.head(branch);
  docs.deleteBranch(branch);
  addToMain("main.md");
  expect((await runMessage(service, id, "two")).status).toBe("completed");
  expect(files(branch)).toEqual(["one.md", "two.md"]);
  const merge = `Merge branch 'main' into ${branch}`;
  expect(docs.git("log", "--format=%s", `main..${branch}`).split("\n")).toEqual(["two", merge, "one"]);
  expect(logOf(service, id)).toContain(
    `The branch ${branch} was deleted. The turn continues the job's last commit ${head}`,
  );
});

test("a branch that is deleted while the job's first agent runs is created again", async () => {
  const remove = `git --git-dir='${docs.path}' update-ref -d "refs/heads/agent/$AGENT_JOB_ID"`;
  const service = await start({ agent: shellAgent(`${remove} && cat > one.md`) });
  const { id, status } = await runJob(service, "one");
  expect([status, files(`agent/${id}`)]).toEqual(["completed", ["one.md"]]);
});

test("a deleted branch whose work is merged is started over", async () => {
  const service = await start();
  const first = await runJob(service, "one");
  const branch = `agent/${first.id}`;
  docs.squash(branch);
  docs.deleteBranch(branch);
  const second = await runMessage(service, first.id, "two");
  expect(second.prLink).not.toBe(first.prLink);
  expect(files(branch)).toEqual(["two.md"]);
  expect(logOf(service, first.id)).not.toContain("deleted");
});

test("what someone pushed after a merge is continued, in a new pull request", async () => {
  const service = await start();
  const first = await runJob(service, "one");
  const branch = `agent/${first.id}`;
  docs.squash(branch);
  const added = addCommit(branch, "added.md");
  docs.setHead(branch, added);
  const second = await runMessage(service, first.id, "two");
  expect(second.status, logOf(service, first.id)).toBe("completed");
  expect(second.prLink).not.toBe(first.prLink);
  expect(docs.git("rev-parse", `${branch}~2`)).toBe(added);
  // What the target branch has of it is the same.
  expect(logOf(service, first.id)).not.toContain("cannot be merged");
});

test("a branch that someone rewrote is continued as it is now, and the job's own commit is kept in the clone", async () => {
  const service = await start();
  const { id } = await runJob(service, "one");
  const branch = `agent/${id}`;
  const own = docs.head(branch);
  const rewritten = addCommit("main", "rewritten.md");
  docs.setHead(branch, rewritten);
  expect((await runMessage(service, id, "two")).status).toBe("completed");
  expect(docs.git("rev-parse", `${branch}~1`)).toBe(rewritten);
  expect(files(branch)).toEqual(["rewritten.md", "two.md"]);
  expect(logOf(service, id)).toContain(`Someone rewrote ${branch}: it no longer contains ${own}`);
  const kept = execFileSync("git", [
    "-C",
    join(service.folder, "mirror.git"),
    "for-each-ref",
    "--format=%(objectname)",
    `refs/earlier/${id}`,
  ]);
  expect(kept.toString().trim()).toBe(own);
});

test("a branch that someone reset to the base is started over, and the log names the commit that is missing", async () => {
  const service = await start();
  const job = await runJob(service, "one");
  const branch = `agent/${job.id}`;
  const own = docs.head(branch);
  docs.git("update-ref", `refs/heads/${branch}`, "main");

  expect((await runMessage(service, job.id, "two")).status).toBe("completed");
  expect(logOf(service, job.id)).toContain(
    `Someone rewrote ${branch}: it contains neither ${own}, the job's last commit`,
  );
});

test("a branch that someone replaced by an unrelated history is left alone, and the log says what to do", async () => {
  const service = await start();
  const job = await runJob(service, "one");
  const branch = `agent/${job.id}`;
  const own = docs.head(branch);
  using other = new DocsRepository({ "other.md": "other\n" });
  docs.git("fetch", "--quiet", other.path, `+main:${branch}`);
  const foreign = docs.head(branch);

  expect((await runMessage(service, job.id, "two")).status).toBe("failed");
  expect(docs.head(branch)).toBe(foreign);
  expect(logOf(service, job.id)).toContain(`Someone replaced ${branch} by another history`);
  expect(logOf(service, job.id)).toContain(`${own} is kept in the service's clone`);

  docs.deleteBranch(branch);
  expect((await runMessage(service, job.id, "three")).status).toBe("completed");
  expect(files(branch)).toEqual(["one.md", "three.md"]);
});

test("the log of a push that is rejected has the reason, and no advice of Git before it", async () => {
  const service = await start();
  docs.git("branch", "agent");

  const job = await runJob(service, "one");
  expect(job.status).toBe("failed");
  expect(logOf(service, job.id)).toContain("'refs/heads/agent' exists");
  expect(logOf(service, job.id)).not.toContain("hint:");
});

test("what someone added to the branch is continued, without a note", async () => {
  const service = await start();
  const { id, prLink } = await runJob(service, "one");
  const branch = `agent/${id}`;
  const added = addCommit(branch, "added.md");
  docs.setHead(branch, added);
  expect(await runMessage(service, id, "two")).toMatchObject({ status: "completed", prLink });
  expect(files(branch)).toEqual(["added.md", "one.md", "two.md"]);
  expect(logOf(service, id)).not.toContain("rewrote");
});

describe("a branch that is changed while the agent runs", () => {
  /** Returns an agent whose second turn moves the branch to a commit of someone else before it writes `two.md`. */
  const movingAgent = (commit: () => string) => {
    const target = join(temporaryFolder(), "commit");
    const move = `git -C '${docs.path}' update-ref "refs/heads/agent/$AGENT_JOB_ID" "$(cat '${target}')"`;
    return {
      agent: shellAgent(`prompt=$(cat); [ "$prompt" != two ] || ${move}; printf %s "$prompt" > "$prompt.md"`),
      prepare: () => writeFileSync(target, commit()),
    };
  };

  test("keeps what was pushed, with the turn's change on top", async () => {
    let branch = "";
    const { agent, prepare } = movingAgent(() => addCommit(branch, "added.md"));
    const service = await start({ agent });
    const { id } = await runJob(service, "one");
    branch = `agent/${id}`;
    prepare();
    expect((await runMessage(service, id, "two")).status).toBe("completed");
    expect(files(branch)).toEqual(["added.md", "one.md", "two.md"]);
  });

  test("keeps only what was pushed if that conflicts, and the log says where the turn's commit is", async () => {
    let branch = "";
    const { agent, prepare } = movingAgent(() => addCommit(branch, "two.md"));
    const service = await start({ agent });
    const { id } = await runJob(service, "one");
    branch = `agent/${id}`;
    prepare();
    expect((await runMessage(service, id, "two")).status).toBe("failed");
    expect(docs.read(branch, "two.md")).toBe("Someone's");
    const commit = /the turn's commit is kept as (\w{40})/.exec(logOf(service, id))?.[1] ?? "";
    const mirror = join(service.folder, "mirror.git");
    expect(execFileSync("git", ["-C", mirror, "show", `${commit}:two.md`], { encoding: "utf8" })).toBe("two");
    expect(execFileSync("git", ["-C", mirror, "rev-parse", `refs/jobs/${id}`], { encoding: "utf8" }).trim()).toBe(
      commit,
    );
  });
});

/** Adds a commit with one file to the default branch. */
function addToMain(file: string): void {
  docs.git("update-ref", "refs/heads/main", addCommit("main", file));
}
