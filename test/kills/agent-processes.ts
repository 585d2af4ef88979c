import { readdirSync, readFileSync } from "node:fs";

/**
 * Returns the processes of the agents of jobs, which have the job's id in their environment. On systems without `/proc`, none are
 * found. A process that has ended and whose parent has not noticed it is none.
 */
export function agentProcessesOf(jobs: ReadonlySet<string>): number[] {
  return listProcesses().filter((id) => jobs.has(jobOf(id)));
}

function listProcesses(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function jobOf(id: number): string {
  try {
    // Empty for a process that has ended.
    const environment = readFileSync(`/proc/${id}/environ`, "latin1").split("\0");
    const variable = "AGENT_JOB_ID=";
    return environment.find((text) => text.startsWith(variable))?.slice(variable.length) ?? "";
  } catch {
    // It has ended, or is another user's.
    return "";
  }
}
