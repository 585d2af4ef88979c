import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "./agent.ts";
import { agentEnvironment } from "./environment.ts";
import { noNetwork } from "./network/agent-network.ts";
import { probe } from "./sandbox/probe.ts";
import { findProgram, programPaths } from "./sandbox/programs.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

const timeLimitMs = 180_000;

/**
 * Unpacks an agent that does so itself, in its sandbox, unless an earlier start has unpacked the same program: otherwise each
 * job or turn would have the files again.
 *
 * @param folder - the service's
 * @param environment - of the service
 * @returns the agent, which can read the files
 * @throws if it cannot be unpacked
 */
export async function unpackAgent(
  agent: Agent,
  folder: string,
  sandbox: Sandbox,
  environment: NodeJS.ProcessEnv,
): Promise<Agent> {
  const { unpacksTo: variable, programs } = agent;
  const [name = ""] = programs;
  const program = variable && findProgram(name, environment.PATH ?? "");
  // If it is missing, the service says so when it checks its programs.
  if (!variable || !program) return agent;
  const target = join(folder, "programs", agent.kind);
  const marker = join(target, "unpacked-from");
  const file = realpathSync(program);
  const { size, mtimeMs } = statSync(file);
  const source = [file, size, mtimeMs].join("\n");
  if (!existsSync(marker) || readFileSync(marker, "utf8") !== source) {
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    const own = { ...noNetwork.environment, HOME: target, TMPDIR: target, [variable]: target };
    const access = {
      currentDirectory: target,
      writable: [target],
      readable: programPaths(name, environment.PATH ?? ""),
      hasNetwork: false,
      temporary: target,
    };
    const command = sandbox.wrap({ file: program, args: ["--version"] }, access);
    const error = await probe(command, agentEnvironment({ ...agent, passes: [] }, environment, own), timeLimitMs);
    if (error !== undefined) throw new Error(`the agent ${name} cannot be unpacked in ${target}: ${error}`);
    writeFileSync(marker, source);
  }
  return { ...agent, environment: { ...agent.environment, [variable]: target }, reads: [...agent.reads, target] };
}
