import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentPackage } from "../../src/agents/presets/preset.ts";
import { type AgentUnderTest, agents, cacheFolder, folderOf, packageOf } from "./agents.ts";

// Installs the agents into the cache folder: the versions that the presets name, or with AGENT_VERSIONS=latest the newest ones.

const isLatest = process.env.AGENT_VERSIONS === "latest";

function install(agent: AgentUnderTest): void {
  const folder = folderOf(cacheFolder(), agent);
  const marker = join(folder, "installed");
  const { registry, name, version: tested } = packageOf(agent);
  const version = isLatest ? newestVersion(packageOf(agent)) : tested;
  if (existsSync(marker) && readFileSync(marker, "utf8") === version) return;
  console.log(`Installing ${name} ${version} in ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const run = (file: string, ...args: string[]): void =>
    void execFileSync(file, args, { cwd: folder, stdio: "inherit" });
  if (registry === "npm") {
    run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${version}`);
  } else {
    run(process.env.PYTHON ?? "python3", "-m", "venv", folder);
    run(join(folder, "bin/pip"), "install", "--quiet", `${name}==${version}`);
  }
  writeFileSync(marker, version);
}

function newestVersion({ registry, name }: AgentPackage): string {
  if (registry === "npm") return execFileSync("npm", ["view", name, "version"], { encoding: "utf8" }).trim();
  const versions = execFileSync(process.env.PYTHON ?? "python3", ["-m", "pip", "index", "versions", name], {
    encoding: "utf8",
  });
  return /\(([^)]+)\)/.exec(versions)?.[1] ?? "";
}

for (const agent of agents) install(agent);
