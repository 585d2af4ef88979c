import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import type { JobRecord } from "../../../src/model.ts";
import {
  type AgentServiceOptions,
  docsRepository,
  readPage,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

/** An agent that says which instructions it sees, waits for the file that its prompt names, and writes those that it has as `NAME=CONTENT`. */
const agent = shellAgent(`
  see() { if [ -e "$1" ]; then read -r line < "$1"; echo "$line"; else echo none; fi; }
  echo "SEES $(see AGENTS.md) | $(see docs/CLAUDE.md) | $(see .claude/settings.json) | $(see release.md)"
  prompt=$(cat)
  case $prompt in /*) while [ ! -e "$prompt" ]; do sleep 0.02; done ;; esac
  for one in $prompt; do case $one in *=*) printf %s "\${one#*=}" > "\${one%%=*}" ;; esac; done`);

/** Starts a service for a repository whose branch `release/1` has other instructions for agents than `main`. */
async function setUp(options: AgentServiceOptions = {}) {
  const docs = docsRepository({ "index.md": "Index\n", "AGENTS.md": "ours\n", "docs/CLAUDE.md": "ours\n" });
  const file = (name: string, content: string) => `M 100644 inline ${name}\ndata ${content.length}\n${content}\n`;
  docs.importHistory(
    `commit refs/heads/release/1\ncommitter A <a@example.com> now\ndata 4\nWork\nfrom refs/heads/main^0\n${file("AGENTS.md", "theirs")}D docs\n${file(".claude/settings.json", "hook")}${file("release.md", "release")}`,
  );
  const service = await startAgentService(docs, { agent, host, ...options });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const create = async (body: unknown, key = "") => {
    const response = await fetch(`${service.url}/v2/agent/docs/job`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${serviceKey}`,
        "content-type": "application/json",
        ...(key !== "" && { "idempotency-key": `"${key}"` }),
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, job: (await response.json()) as JobRecord & { error?: string } };
  };
  const run = async (prompt: string, base?: string) => {
    const { status, job } = await create({ prompt, base });
    expect(status).toBe(201);
    return waitForJob(service, job.id);
  };
  const runMessage = async (id: string, prompt: string) => {
    await send(service, `docs/job/${id}/message`, prompt);
    return waitForJob(service, id);
  };
  const logOf = async (id: string) => {
    const headers = { authorization: `Bearer ${serviceKey}` };
    return (await fetch(`${service.url}/job/${id}/log`, { headers })).text();
  };
  return { docs, service, create, run, runMessage, logOf };
}

test("a job whose branch others have pushed to has the project's instructions for agents from then on", async () => {
  const { docs, run, runMessage, logOf } = await setUp();
  const job = await run("AGENTS.md=agent's");
  const branch = `agent/${job.id}`;
  await runMessage(job.id, "b.md=B");
  expect(await logOf(job.id)).toContain("| SEES agent's | ours | none | none\n");
  const file = (name: string, content: string) => `M 100644 inline ${name}\ndata ${content.length}\n${content}\n`;
  docs.importHistory(
    `commit refs/heads/${branch}\ncommitter A <a@example.com> now\ndata 4\nWork\nfrom refs/heads/${branch}^0\n${file(".claude/settings.json", "hook")}`,
  );
  // The second turn continues its own commit, below which the others' is.
  for (const turn of [1, 2]) {
    await runMessage(job.id, `c.md=${turn}`);
    expect((await logOf(job.id)).match(/\| SEES ours \| ours \| none \| none\n/g)).toHaveLength(1 + turn);
  }
  expect(await logOf(job.id)).toContain(`come from main, not from ${branch}, which others have pushed to.`);
  expect(docs.read(branch, ".claude/settings.json")).toBe("hook");
  expect(docs.read(branch, "AGENTS.md")).toBe("agent's");
});

describe("a job with a base", () => {
  test("starts from that branch, with the project's instructions for agents, and its pull request targets it", async () => {
    const { docs, service, run, runMessage, logOf } = await setUp();
    const job = await run("a.md=A", "release/1");
    expect(job, await logOf(job.id)).toMatchObject({ status: "completed", base: "release/1" });
    expect(await logOf(job.id)).toContain("| SEES ours | ours | none | release\n");
    const branch = `agent/${job.id}`;
    const changed = () => docs.git("diff", "--name-only", "release/1", branch).split("\n");
    expect(changed()).toEqual(["a.md"]);
    expect(docs.git("rev-parse", `${branch}^`)).toBe(docs.head("release/1"));
    expect(await readPage(service, job.prLink)).toContain("into <code>release/1</code>");

    const again = await runMessage(job.id, "b.md=B");
    expect(again).toMatchObject({ status: "completed", prLink: job.prLink, base: "release/1" });
    expect((await logOf(job.id)).match(/SEES ours \| ours \| none \| release/g)).toHaveLength(2);
    expect(changed()).toEqual(["a.md", "b.md"]);
    expect(docs.git("log", "--format=%an", `release/1..${branch}`).split("\n")).toEqual(["Agent", "Agent"]);
  });

  test("completes without a pull request if only the project's instructions are there", async () => {
    const { docs, run, logOf } = await setUp();
    const job = await run("Look", "release/1");
    expect(job, await logOf(job.id)).toMatchObject({ status: "completed", prLink: null });
    expect(docs.branches()).toEqual(["release/1"]);
  });

  test("leaves out instructions that differ and that its agent changes, and keeps a new one", async () => {
    const { docs, run, logOf } = await setUp();
    const job = await run("AGENTS.md=mine", "release/1");
    expect(job).toMatchObject({ status: "failed", prLink: null });
    expect(await logOf(job.id)).toContain(
      "nothing of the change can be published: AGENTS.md, because it instructs agents, who had the project's own",
    );
    const both = await run("AGENTS.md=mine page.md=new", "release/1");
    expect(both, await logOf(both.id)).toMatchObject({ status: "completed" });
    expect(docs.git("diff", "--name-only", "release/1", `agent/${both.id}`)).toBe("page.md");
    expect(await logOf(both.id)).toContain("Left out: AGENTS.md, because it instructs agents");
    const other = await run("GEMINI.md=new", "release/1");
    expect(docs.git("diff", "--name-only", "release/1", `agent/${other.id}`)).toBe("GEMINI.md");
  });

  test("goes on against the project's own branch, in a new pull request, when its base is gone", async () => {
    const { docs, service, run, runMessage, logOf } = await setUp();
    const job = await run("a.md=A", "release/1");
    docs.deleteBranch("release/1");
    const again = await runMessage(job.id, "b.md=B");
    expect(again, await logOf(job.id)).toMatchObject({ status: "completed", base: "release/1" });
    expect(again.prLink).not.toBe(job.prLink);
    expect(await readPage(service, again.prLink)).toContain("into <code>main</code>");
    expect(await logOf(job.id)).toContain(
      "The branch release/1 no longer exists. The pull request is opened against main.",
    );
  });

  test("fails before its first agent runs if its base is gone by then", async () => {
    const { docs, service, create, logOf } = await setUp({ agents: 1 });
    const go = join(temporaryFolder(), "go");
    await create({ prompt: go });
    docs.setHead("gone", docs.head("main"));
    const { job } = await create({ prompt: "a.md=A", base: "gone" });
    docs.deleteBranch("gone");
    writeFileSync(go, "");
    expect(await waitForJob(service, job.id)).toMatchObject({ status: "failed", prLink: null });
    expect(await logOf(job.id)).toContain("the branch gone, which the job was to start from, no longer exists");
    expect(await logOf(job.id)).not.toContain("SEES");
  });

  test("is the job of its base if that is the branch of a job", async () => {
    const { docs, service, create, run } = await setUp();
    const job = await run("a.md=A");
    expect(job).not.toHaveProperty("base");
    const followUp = { prompt: "b.md=B", base: `agent/${job.id}` };
    expect(await create(followUp, "s.1")).toMatchObject({ status: 201, job: { id: job.id, status: "active" } });
    expect(await create(followUp, "s.1")).toMatchObject({ status: 201, job: { id: job.id } });
    expect(await waitForJob(service, job.id)).toMatchObject({ status: "completed", prLink: job.prLink });
    expect(docs.git("diff", "--name-only", "main", `agent/${job.id}`).split("\n")).toEqual(["a.md", "b.md"]);
    expect(docs.git("rev-list", "--count", `main..agent/${job.id}`)).toBe("2");
  });

  test("is the job of its base whatever the branch begins with, and no job for a copy of its branch", async () => {
    const { docs, create, run } = await setUp({ branchPrefix: "docs/agent-" });
    const { id, source } = await run("a.md=A");
    expect(source.ref).toBe(`docs/agent-${id}`);
    docs.git("branch", `backup/${id}`, `docs/agent-${id}`);
    expect(await create({ prompt: "b.md=B", base: `docs/agent-${id}` }, "s.1")).toMatchObject({ job: { id } });
    const { job: other } = await create({ prompt: "c.md=C", base: `backup/${id}` }, "s.2");
    expect(other).toMatchObject({ base: `backup/${id}`, source: { ref: `docs/agent-${other.id}` } });
    expect(other.id).not.toBe(id);
  });
});

test("a base that is no branch is rejected, whatever Git would take it for", async () => {
  const { docs, create } = await setUp();
  for (const base of [7, "", null, {}, ["main"]])
    expect(await create({ prompt: "Go", base })).toMatchObject({
      status: 400,
      job: { error: "base must be a non-empty string" },
    });
  docs.git("tag", "v1", "main");
  for (const base of ["nope", "v1", "HEAD", "refs/heads/main", "main~0", "--help", "../main", "main\n", "agent/job_1"])
    expect(await create({ prompt: "Go", base })).toEqual({
      status: 400,
      job: { error: `base: the repository has no branch ${base}` },
    });
});

test("a key is for one base, and a request that is known is answered although its base is gone", async () => {
  const { docs, create } = await setUp();
  docs.setHead("gone", docs.head("main"));
  const first = await create({ prompt: "Look", base: "gone" }, "s.1");
  expect(first.status).toBe(201);
  const reused = { status: 422, job: { error: "Idempotency-Key was used for another request" } };
  expect(await create({ prompt: "Look", base: "main" }, "s.1")).toEqual(reused);
  expect(await create({ prompt: "Look" }, "s.1")).toEqual(reused);
  docs.deleteBranch("gone");
  expect(await create({ prompt: "Look", base: "gone" }, "s.1")).toMatchObject({
    status: 201,
    job: { id: first.job.id },
  });
  expect(await create({ prompt: "Look", base: "gone" }, "s.2")).toMatchObject({ status: 400 });
});

test("a service announces that it takes a base, and stops turns", async () => {
  const { service } = await setUp();
  const headers = { authorization: `Bearer ${serviceKey}` };
  const response = await fetch(`${service.url}/v2/agent/docs/job?step=s`, { headers });
  expect(await response.json()).toEqual({
    step: "s",
    key: null,
    features: ["base", "session", "sections", "stop"],
    turns: [],
  });
});
