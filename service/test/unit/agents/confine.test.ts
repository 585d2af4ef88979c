import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
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

const confine = (projects: Record<string, ProjectSettings>, folder = "/nowhere") =>
  confineAgents(PerProject.of(new Map(Object.entries(projects))), folder, {}, () => {});

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

test.skipIf(process.platform === "win32").each([
  ["full", "the machine's network"],
  ["none", "no network"],
] as const)("with the network %s, a sandbox is tried with %s", async (network, found) => {
  const folder = temporaryFolder();
  const tried = join(folder, "tried");
  const script = `case "$*" in *--share-net*) echo "the machine's network";; *) echo "no network";; esac > ${tried}`;
  writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  await using _confined = await confine({ docs: settings({ sandbox: "bwrap", network }) }, folder);
  expect(readFileSync(tried, "utf8").trim()).toBe(found);
});

test("a network that cannot be created is reported with its project, and leaves none of the others", async () => {
  const folder = temporaryFolder();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const projects = {
    docs: settings({ network: "model", modelHosts: ["a.example"] }),
    site: settings({ network: "model" }),
  };
  await expect(confine(projects)).rejects.toThrow("project site: the model of this agent is unknown");
  expect(readdirSync(folder)).toEqual([]);
});

test("a process that runs no agents creates nothing for them", async () => {
  const project = settings({ sandbox: "bwrap", network: "model" });
  await using confined = withoutAgents(PerProject.same(project));
  expect(confined.settings.get("docs")).toMatchObject({ sandbox: unconfined, network: fullNetwork });
});
