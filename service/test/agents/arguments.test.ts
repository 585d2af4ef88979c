import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { docsRepository, runJob, send as sendTo, waitForJob } from "../support/agent-service.ts";
import { spawnService } from "../support/service-process.ts";
import { type AgentUnderTest, agents, cacheFolder, programFolder } from "./agents.ts";
import { script } from "./model-script.ts";
import { startScriptedModel } from "./scripted-model.ts";

/** Runs a job of an agent with options. Returns what came of it. */
async function run(name: string, options: string[]) {
  const agent = agents.find((one) => one.name === name) as AgentUnderTest;
  const model = await startScriptedModel(script(agent, { isHeld: false }));
  const folder = mkdtempSync(join(cacheFolder(), "run-"));
  onTestFinished(async () => {
    await model[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const docs = docsRepository();
  const args = ["--repository", docs.path, "--project", "docs", "--store", join(folder, "jobs.sqlite")];
  const PATH = [programFolder(cacheFolder(), agent), process.env.PATH].join(delimiter);
  const service = await spawnService([...args, "--agent", name, ...options], { ...agent.environment(model.url), PATH });
  const job = await runJob(service, "Please. [write docs/one.md ONE]");
  const readLog = (): string => readFileSync(join(folder, "jobs.sqlite.files/logs", `${job.id}.log`), "utf8");
  const send = async (prompt: string) => {
    await sendTo(service, `docs/job/${job.id}/message`, prompt);
    await waitForJob(service, job.id);
    return readLog();
  };
  return { job, log: readLog(), docs, send, bodies: () => model.requests.map(({ body }) => body).join("\n") };
}

test("claude gets arguments as they are given", async () => {
  const args = `--append-system-prompt "MARK of the 'author' $HOME" --effort high`;
  const { job, log, bodies } = await run("claude", [`--agent-args=${args}`]);
  expect(job, log).toMatchObject({ status: "completed" });
  expect(bodies()).toContain("MARK of the 'author' $HOME");
  expect(bodies()).toContain('"effort":"high"');
  expect(log).toMatch(/^\| Model: .+, Claude Code \d+\.\d+\.\d+$/m);
});

test("claude ends at --max-cost-usd, and says so", async () => {
  const { job, log } = await run("claude", ["--max-cost-usd=0.00001"]);
  expect(job, log).toMatchObject({ status: "failed" });
  expect(log).toContain("[service] The agent reported: Reached maximum budget ($0.00001)");
});

test("claude ends at a limit of turns, and says so, and the next turn begins in what it wrote", async () => {
  const { job, log, docs, send, bodies } = await run("claude", ["--agent-args=--max-turns 1"]);
  expect(job, log).toMatchObject({ status: "failed", kept: "unfinished" });
  expect(log).toContain("[service] The agent reported: Reached maximum number of turns (1)");
  expect(docs.branches()).toEqual([]);
  const after = await send("Please. [write docs/two.md TWO]");
  expect(after).toContain("The agent begins in what turn 1 left: docs/one.md");
  expect(bodies()).toContain("not committed, and become part of your change: docs/one.md. Go on from there.");
});

test("codex gets arguments as they are given", async () => {
  const { job, log, bodies } = await run("codex", ["--agent-args=-c model_reasoning_effort=high"]);
  expect(job, log).toMatchObject({ status: "completed" });
  expect(bodies()).toContain('"effort":"high"');
});
