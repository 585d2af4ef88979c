import { say } from "../runner-kit/text.ts";
import type { Execution, Run } from "./run.ts";
import { runJob } from "./run-job.ts";
import type { Task } from "./settings.ts";

/** Runs the step with the prompt of the workflow, at most once over all attempts of the workflow run. */
export async function runPlain(task: Task, run: Run): Promise<Execution> {
  if (task.kind === "attach") {
    if (!run.settings.dryRun) return { result: await runJob(task, run), task };
    const plan = say`It would wait for job ${task.jobId}.`;
    return { result: { kind: "skipped", reason: "dry-run", plan }, task };
  }
  // Loaded before anything is sent: what follows a create must not depend on it.
  const { sendTask } = await import("./send-once.ts");
  return sendTask(task, run);
}
