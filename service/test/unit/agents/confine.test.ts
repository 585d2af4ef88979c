import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { builtInEditor } from "../../../src/agents/agent.ts";
import { confineAgents, withoutAgents } from "../../../src/agents/confine.ts";
import { fullNetwork } from "../../../src/agents/network/agent-network.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { createProjectSettings, type ProjectSettings } from "../../../src/options/project-settings.ts";
import { PerProject } from "../../../src/per-project.ts";

const settings = (changes: Partial<ProjectSettings> = {}): ProjectSettings => ({
  ...createProjectSettings({ repository: "docs" }, {}),
  ...changes,
});

const confine = (projects: Record<string, ProjectSettings>) =>
  confineAgents(PerProject.of(new Map(Object.entries(projects))), "/nowhere", {}, () => {});

test("each project has its own network, which ends with the service", async () => {
  const confined = await confine({
    docs: settings(),
    site: settings({ network: "none" }),
    blog: settings({ network: "model", modelHosts: ["api.example.com"] }),
  });
  const of = (project: string) => confined.settings.get(project);
  expect(of("docs")).toMatchObject({ agent: builtInEditor, sandbox: unconfined, network: fullNetwork });
  expect(of("site")?.network.isShared).toBe(false);
  const [socket = ""] = of("blog")?.network.reads ?? [];
  expect(existsSync(socket)).toBe(true);
  await confined[Symbol.asyncDispose]();
  expect(existsSync(socket)).toBe(false);
});

test("a network that cannot be created is reported with its project", async () => {
  const projects = { docs: settings(), site: settings({ network: "model" }) };
  await expect(confine(projects)).rejects.toThrow("project site: the model of this agent is unknown");
});

test("a process that runs no agents creates nothing for them", async () => {
  const project = settings({ sandbox: "bwrap", network: "model" });
  await using confined = withoutAgents(PerProject.same(project));
  expect(confined.settings.get("docs")).toMatchObject({ sandbox: unconfined, network: fullNetwork });
});
