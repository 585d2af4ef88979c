import type { Execution, Run } from "./run.ts";
import { runJob } from "./run-job.ts";
import type { Task } from "./settings.ts";

/** Runs the step with the prompt of the workflow, at most once over all attempts of the workflow run. */
export async function runPlain(task: Task, run: Run): Promise<Execution> {
  if (run.settings.dryRun) {
    const { dryRunPlain } = await import("./dry-run.ts");
    return dryRunPlain(task, run);
  }
  if (task.kind === "attach") return { result: await runJob(task, run), task };
  // Loaded before anything is sent: what follows a create must not depend on it.
  const { runWithMemory } = await import("./refresh/run-with-memory.ts");
  return runWithMemory(task, run);
}
