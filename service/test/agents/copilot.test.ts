import { mkdtempSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { step } from "../../../test/support/step.ts";
import { docsRepository, runJob } from "../support/agent-service.ts";
import { spawnService } from "../support/service-process.ts";
import { jobEnvironment, setUpGitHub } from "../support/workflow-job.ts";
import { type AgentUnderTest, agents, cacheFolder, programFolder } from "./agents.ts";
import { script } from "./model-script.ts";
import { startScriptedModel } from "./scripted-model.ts";

const instructions = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: MARK-${name}\n${more}---\nMARK-${name}\n`;

const hook = { version: 1, hooks: { sessionStart: [{ type: "command", bash: "touch ran-hook", timeoutSec: 10 }] } };
const servers = { mcpServers: { own: { type: "local", command: "touch", args: ["ran-server"], tools: ["*"] } } };

/** What the CLI runs or follows in a folder that it trusts. */
const configuration = {
  "docs/page.md": "# Page\n",
  ".github/hooks/hook.json": JSON.stringify(hook),
  ".github/copilot/settings.json": JSON.stringify({ hooks: hook.hooks }),
  ".claude/settings.json": JSON.stringify({
    hooks: { SessionStart: [{ hooks: [{ type: "command", command: "touch ran-hook" }] }] },
  }),
  ".mcp.json": JSON.stringify(servers),
  ".github/mcp.json": JSON.stringify(servers),
  ".vscode/mcp.json": JSON.stringify({ servers: servers.mcpServers }),
  ".github/lsp.json": JSON.stringify({
    lspServers: { own: { command: "touch", args: ["ran-server"], fileExtensions: { ".md": "markdown" } } },
  }),
  ".github/skills/own/SKILL.md": instructions("skill"),
  ".github/agents/own.agent.md": instructions("agent"),
  ".github/prompts/own.prompt.md": instructions("prompt", "mode: agent\n"),
};

const agent = agents.filter(({ name }) => name === "copilot")[0] as AgentUnderTest;
const PATH = [programFolder(cacheFolder(), agent), process.env.PATH].join(delimiter);

test.each(["bwrap", "none"])(
  "with --sandbox %s, copilot runs nothing that the repository configures",
  async (sandbox) => {
    const model = await startScriptedModel(script(agent, { isHeld: false }));
    const folder = mkdtempSync(join(cacheFolder(), "run-"));
    onTestFinished(async () => {
      await model[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    const docs = docsRepository(configuration);
    const store = join(folder, "jobs.sqlite");
    const args = ["--repository", docs.path, "--project", "docs", "--store", store, "--sandbox", sandbox];
    const service = await spawnService([...args, "--agent", "copilot"], { ...agent.environment(model.url), PATH });
    const job = await runJob(service, "Please. [write docs/one.md ONE]");
    expect(job).toMatchObject({ status: "completed" });
    expect(docs.git("diff", "--name-only", `main...agent/${job.id}`)).toBe("docs/one.md");
    expect(model.requests.map(({ body }) => body).join("\n")).not.toContain("MARK-");
  },
);

test("one step of a workflow runs copilot without a secret, and its home has none of the unpacked files", async () => {
  const { docs, github } = await setUpGitHub();
  const model = await startScriptedModel(script(agent, { isHeld: false }));
  const folder = mkdtempSync(join(cacheFolder(), "run-"));
  onTestFinished(async () => {
    await model[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const job = jobEnvironment(github, join(folder, "_temp"));
  const inputs = { agent: "copilot", "github-token": github.token, "workflow-token": github.token };
  const runner = { GITHUB_RUN_ID: "1", GITHUB_JOB: "docs", GITHUB_ACTION: "agent" };
  const environment = { ...job, ...runner, PATH, COPILOT_API_URL: model.url };
  const prompt = "Please. [write docs/one.md ONE]";
  // The unpacked files would be more.
  const { outputs, log } = await step({ ...inputs, prompt, "agent-options": "--disk-mb 20" }, { environment });
  expect(outputs, log).toMatchObject({ outcome: "pr-created" });
  expect(docs.read(outputs.ref ?? "", "docs/one.md")).toBe("ONE");
  for (const { headers } of model.requests) expect(headers.authorization).toBe(`Bearer ${github.token}`);
  const refused = await step({ ...inputs, prompt, "agent-options": "--sandbox none" }, { environment });
  expect(refused.outputs.outcome).toBe("error");
  expect(refused.annotations.join()).toContain("would give the agent a token that can write to the repository");
});
