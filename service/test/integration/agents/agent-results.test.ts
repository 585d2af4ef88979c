import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import type { Agent } from "../../../src/agents/agent.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import { turnHost } from "../../../src/turns/turn-host.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  readPage,
  runJob,
  scriptAgent,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { unsupervisedHost } from "../../support/unsupervised-host.ts";

let docs: DocsRepository;
let services: AgentService[];

beforeEach(() => {
  docs = docsRepository();
  services = [];
});

afterEach(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
});

/** Without supervisors, unless the options say otherwise: an agent's report is read by what started it. */
async function start(agent: Agent, options: AgentServiceOptions = {}): Promise<AgentService> {
  const service = await startAgentService(docs, { agent, host: unsupervisedHost, ...options });
  services.push(service);
  return service;
}

/** Sends a message and waits for its turn. */
async function runMessage(service: AgentService, jobId: string, prompt: string) {
  await send(service, `docs/job/${jobId}/message`, prompt);
  return waitForJob(service, jobId);
}

const logOf = (service: AgentService, jobId: string) =>
  readFileSync(join(service.folder, "logs", `${jobId}.log`), "utf8");

/** Returns an agent that does what its prompt says, and reports it as `message: …` or `error: …` on stdout. */
function reportingAgent(): Agent {
  const agent = shellAgent(`
    prompt=$(cat); IFS=" "; set -f -- $prompt; verb=$1; name=$2; shift 2
    if [ "$verb" = write ]; then printf %s "$prompt" > "$name"; fi
    if [ "$verb" = fail ]; then kind=error; else kind=message; fi
    printf '%s: %s\\n' "$kind" "$*"`);
  const find = (stdout: string, kind: string) => new RegExp(`^${kind}: (.*)$`, "m").exec(stdout)?.[1];
  return { ...agent, readReport: (stdout) => ({ message: find(stdout, "message"), error: find(stdout, "error") }) };
}

describe("an agent's report", () => {
  test("of a failure fails the job, although the agent exited with 0, and the log says why", async () => {
    const service = await start(reportingAgent());
    const job = await runJob(service, "fail x The model is overloaded");
    expect(job).toMatchObject({ status: "failed", prLink: null });
    expect(logOf(service, job.id)).toContain("[service] The agent reported: The model is overloaded\n");
  });

  test("is in the log if nothing was changed, line by line as the service's own", async () => {
    const service = await start(reportingAgent());
    const job = await runJob(service, "say x I cannot do this.");
    expect(job).toMatchObject({ status: "completed", prLink: null });
    expect(logOf(service, job.id)).toContain(
      "[service] No file was changed. The agent's last words:\n[service] I cannot do this.\n",
    );
  });

  test("is in the log without characters that control a terminal", async () => {
    const service = await start(reportingAgent());
    const job = await runJob(service, "say x \u001b[31mRed\u0007 \u009b2J\ttab");
    expect(logOf(service, job.id)).toContain("last words:\n[service] Red \ttab\n");
  });

  test("is read even if the output is too long for the log", async () => {
    const agent = reportingAgent();
    const { args, file } = agent.command({ isFollowUp: false, isSandboxed: false });
    const long = {
      file: "/bin/sh",
      args: ["-c", 'yes $(printf %01000d 0) | head -n 12000; exec "$@"', "sh", file, ...args],
    };
    const service = await start({ ...agent, command: () => long }, { host: turnHost });
    const job = await runJob(service, "say x Done at last");
    expect(logOf(service, job.id).slice(-1000)).toMatch(/\[output truncated\]\n(.*\n)*\[service\] Done at last\n/);
  });
});

test("what a command says of each turn in its file, and its cost, are in the log and on the job's page", async () => {
  const metrics = new PrometheusMetrics();
  const secrets = [{ name: "KEY", value: "sk-verysecret" }];
  const agent = scriptAgent(`
    if (prompt === "write") fs.writeFileSync("a.md", prompt);
    const message = "Did " + prompt + " <b>@all</b> with sk-very" + "secret";
    fs.writeFileSync(process.env.AGENT_RESULT_FILE, JSON.stringify({ message, costUsd: prompt === "look" ? 0.25 : 0.5 }));`);
  const service = await start(agent, { metrics, secrets, host: turnHost });
  const { id } = await runJob(service, "look");
  await runMessage(service, id, "more");
  await runMessage(service, id, "write");
  const said = "Did more <b>@all</b> with ***";
  expect(logOf(service, id)).toContain("[service] Cost, by the agent's own estimate: $0.2500.\n");
  expect(logOf(service, id)).toContain(`[service] No file was changed. The agent's last words:\n[service] ${said}\n`);
  const page = await readPage(service, `/job/${id}`);
  expect(page.match(/<span class="quiet" title="The agent's own estimate">· \$0\.\d+</g)).toHaveLength(3);
  expect(page).toContain("Did more &lt;b&gt;@all&lt;/b&gt; with ***");
  expect(page).not.toContain("sk-very");
  expect(await metrics.render(undefined)).toContain(
    'agent_service_agent_cost_usd_total{project="docs",agent="command"} 1.25\n',
  );
});

test("the log of a job can be followed while its agent runs, and ends with its last turn", async () => {
  const go = join(temporaryFolder(), "go");
  const service = await start(
    scriptAgent(`
      console.log("begin");
      while (!fs.existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 10));
      console.log("end");`),
    { host: turnHost },
  );
  const { job } = await send(service, "docs/job", "Fix it");
  const response = await fetch(`${service.url}/job/${job.id}/log`, {
    headers: { authorization: `Bearer ${serviceKey}` },
  });
  let log = "";
  for await (const part of response.body ?? []) {
    log += Buffer.from(part).toString();
    if (!log.includes("| begin\n")) continue;
    if (!existsSync(go)) expect(log).not.toContain("| end\n");
    writeFileSync(go, "");
  }
  expect(log).toContain("| end\n[service] The agent completed.\n");
  expect(log).toBe(logOf(service, job.id));
});

test("the service does not start with an agent that is not installed", async () => {
  await expect(start(shellAgent("/no/such/agent --fast"))).rejects.toThrow("the agent /no/such/agent was not found");
});

test("a failed turn is not hidden by a later one that completes", async () => {
  const service = await start(reportingAgent());
  const { id } = await runJob(service, "write a.md One");
  expect((await runMessage(service, id, "fail x Two")).status).toBe("failed");
  const job = await runMessage(service, id, "write b.md Three");
  expect(job.status).toBe("completed");
  expect(logOf(service, id)).toMatch(
    /\[service\] The turn completed, but earlier turns of the job failed: turn 2 \(fail x Two\)\.\n$/,
  );
  const page = await readPage(service, job.prLink);
  expect(page.match(/>Failed in \d+ s</g)).toHaveLength(1);
});

test("a script whose agent may not write is told what can, though it exits with 0", async () => {
  const service = await start(scriptAgent(`console.log("I need your permission to write to docs/one.md.");`), {
    host: turnHost,
  });
  const job = await runJob(service, "write");
  expect(job).toMatchObject({ status: "completed", prLink: null });
  expect(logOf(service, job.id)).toContain("The agent completed.\n[service] If this command starts a coding agent: ");
});

test("a follow-up that changes nothing claims no new change", async () => {
  const service = await start(reportingAgent());
  const first = await runJob(service, "write a.md One");
  expect(logOf(service, first.id)).toContain("[service] The agent's last words:\n[service] One\n");
  const head = docs.git("rev-parse", `agent/${first.id}`);
  const second = await runMessage(service, first.id, "say x Nothing to do");
  expect(second).toMatchObject({ status: "completed", prLink: first.prLink });
  expect(docs.git("rev-parse", `agent/${first.id}`)).toBe(head);
  expect(logOf(service, first.id)).toMatch(
    /No file was changed\. The agent's last words:\n\[service\] Nothing to do\n$/,
  );
});

test("a pull request that is opened late is about the turn that made the change", async () => {
  const service = await start(reportingAgent());
  const hook = join(docs.path, "hooks/post-receive");
  // Only the first push is cut off, after it arrived.
  writeFileSync(hook, "#!/bin/sh\nkill -9 $PPID\n", { mode: 0o755 });
  const first = await runJob(service, "write a.md One");
  rmSync(hook);
  const job = await runMessage(service, first.id, "say x Nothing to do");
  expect(job.prLink).toBe(`${service.url}/pull/1`);
  expect(await readPage(service, job.prLink)).toContain("<h1>write a.md One ");
});

describe("the agent's own commits", () => {
  test("are kept as text in the body of the commit", async () => {
    const commit = (message: string) => `echo x >> n.md; git add --all; git commit -qm "${message}"`;
    const service = await start(shellAgent([commit("First step"), commit("Fixes #1\n\nAgent-Turn: 2")].join("; ")));
    const { id } = await runJob(service, "Go on");
    expect(docs.git("log", "--format=%B", `main..agent/${id}`)).toMatch(
      /^Go on\n\nCommits of the agent:\n\n {4}First step\n\n {4}Fixes #\u200b1\n\n {4}Agent-Turn\u200b: 2\n\nAgent-Turn: 1\./,
    );
  });

  test("are left out if the agent made its clone unreadable", async () => {
    const service = await start(shellAgent("echo x > n.md; rm -rf .git"));
    const job = await runJob(service, "Go on");
    expect(job.status).toBe("completed");
    expect(docs.git("log", "--format=%B", `main..agent/${job.id}`)).toMatch(
      /^Go on\n\nAgent-Turn: 1\.[0-9a-f]{32}\nAgent-Job: job_/,
    );
  });
});
