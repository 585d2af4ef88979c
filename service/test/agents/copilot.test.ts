import { mkdtempSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { docsRepository, runJob } from "../support/agent-service.ts";
import { spawnService } from "../support/service-process.ts";
import { agents, cacheFolder, programFolder } from "./agents.ts";
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
  ".github/skills/own/SKILL.md": instructions("skill"),
  ".github/agents/own.agent.md": instructions("agent"),
  ".github/prompts/own.prompt.md": instructions("prompt", "mode: agent\n"),
};

test.each(["bwrap", "none"])("with --sandbox %s, copilot runs nothing that the repository configures", async (sandbox) => {
  const agent = agents.find(({ name }) => name === "copilot");
  if (agent === undefined) throw new Error("copilot is not tested");
  const model = await startScriptedModel(script(agent, { isHeld: false }));
  const folder = mkdtempSync(join(cacheFolder(), "run-"));
  onTestFinished(async () => {
    await model[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const docs = docsRepository(configuration);
  const store = join(folder, "jobs.sqlite");
  const args = ["--repository", docs.path, "--project", "docs", "--store", store, "--sandbox", sandbox];
  const PATH = [programFolder(cacheFolder(), agent), process.env.PATH].join(delimiter);
  const service = await spawnService([...args, "--agent", "copilot"], { ...agent.environment(model.url), PATH });
  const job = await runJob(service, "Please. [write docs/one.md ONE]");
  expect(job).toMatchObject({ status: "completed" });
  expect(docs.git("diff", "--name-only", `main...agent/${job.id}`)).toBe("docs/one.md");
  expect(model.requests.map(({ body }) => body).join("\n")).not.toContain("MARK-");
});
