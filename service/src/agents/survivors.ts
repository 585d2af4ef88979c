import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { identify, killProcess, killWithVariable, type ProcessIdentity } from "../processes/own-processes.ts";
import { JobDirectory, jobsFolder } from "../service-folder.ts";

/** All that can run of an agent. */
export interface AgentProcesses {
  /** The supervisor, which leads their group, and the first process of their PID namespace if they have one. */
  leaders: readonly ProcessIdentity[];
  /** A variable of all of them, as `NAME=value`, unless they removed it. */
  variable: string;
}

/** Writes down what the next service has to kill if this one is killed. Has to be done before the agent starts. */
export function recordProcesses(file: string, processes: AgentProcesses): void {
  writeFileSync(file, JSON.stringify(processes));
}

/**
 * Kills the agents of an earlier service on the same folder, which was killed itself, and waits until they have ended. Their
 * supervisors do so as well, if they were not killed too.
 *
 * @param folder - the service's
 */
export async function killSurvivors(folder: string, log: (line: string) => void): Promise<void> {
  for (const job of readdirSync(jobsFolder(folder))) {
    const file = new JobDirectory(folder, job).processes;
    const found = read(file);
    if (found === undefined) continue;
    const { leaders, variable } = found;
    if (leaders.some(({ id, start }) => identify(id)?.start === start))
      log(`${job}: an agent was left by a service that was killed, and is killed now`);
    await Promise.all(leaders.map(killProcess));
    await killWithVariable([variable]);
    rmSync(file);
  }
}

function read(file: string): AgentProcesses | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8");
  try {
    return JSON.parse(text) as AgentProcesses;
  } catch {
    // The service was killed while it wrote it, so no agent has started.
    return undefined;
  }
}
