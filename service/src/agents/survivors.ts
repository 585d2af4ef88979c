import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { identify, killProcess, killWithVariable, type ProcessIdentity } from "../processes/own-processes.ts";
import { JobDirectory, jobsFolder } from "../service-folder.ts";

/** All that can run of an agent. */
export interface AgentProcesses {
  /** The supervisor, which leads their group, and the first process of their PID namespace if they have one. */
  leaders: readonly ProcessIdentity[];
  /** A variable of all of them, as `NAME=value`, unless they removed it. */
  variable: string;
}

/** Writes down what a service that is started after this one was killed has to kill. Must be there before the agent starts. */
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
  try {
    return JSON.parse(readFileSync(file, "utf8")) as AgentProcesses;
  } catch {
    // There is none, or the service was killed while it wrote it, and no agent has started.
    return undefined;
  }
}
