import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { docsRepository, runJob } from "../support/agent-service.ts";
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
  const log = readFileSync(join(folder, "jobs.sqlite.files/logs", `${job.id}.log`), "utf8");
  return { job, log, docs, bodies: model.requests.map(({ body }) => body).join("\n") };
}

test("claude gets arguments as they are given", async () => {
  const args = `--append-system-prompt "MARK of the 'author' $HOME" --effort high`;
  const { job, log, bodies } = await run("claude", [`--agent-args=${args}`]);
  expect(job, log).toMatchObject({ status: "completed" });
  expect(bodies).toContain("MARK of the 'author' $HOME");
  expect(bodies).toContain('"effort":"high"');
  expect(log).toMatch(/^\| Model: .+, Claude Code \d+\.\d+\.\d+$/m);
});

test.each([
  ["--agent-args=--max-turns 1", "Reached maximum number of turns (1)"],
  ["--max-cost-usd=0.00001", "Reached maximum budget ($0.00001)"],
])("claude ends at %s, and says so", async (option, reason) => {
  const { job, log } = await run("claude", [option]);
  expect(job, log).toMatchObject({ status: "failed" });
  expect(log).toContain(`[service] The agent reported: ${reason}`);
});

test("codex gets arguments as they are given", async () => {
  const { job, log, bodies } = await run("codex", ["--agent-args=-c model_reasoning_effort=high"]);
  expect(job, log).toMatchObject({ status: "completed" });
  expect(bodies).toContain('"effort":"high"');
});
