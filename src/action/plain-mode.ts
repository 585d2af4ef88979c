import { hasCacheService } from "../runner-kit/cache.ts";
import { addSection } from "./changes/add-section.ts";
import { planTasks, runFirstFound, type SendingTask, writePrompt } from "./plan.ts";
import type { Execution, Run } from "./run.ts";
import { runJob } from "./run-job.ts";
import { runAttempt } from "./runner/environment.ts";
import type { Task } from "./settings.ts";

/** Runs the step with the prompt of the workflow, at most once over all attempts of the workflow run. */
export async function runPlain(task: Task, run: Run): Promise<Execution> {
  if (task.kind === "attach") return { result: await runJob(task, run), task };
  const { onRerun, session } = run.settings;
  const isRemembered = onRerun === "resume" || session !== "";
  if (!isRemembered || !hasCacheService(run.ports.environment)) return runWithoutMemory(task, run);
  // Loaded before anything is sent: what follows a create must not depend on it.
  const { runWithMemory } = await import("./refresh/run-with-memory.ts");
  return runWithMemory(task, run);
}

/** Runs a task of which nothing is remembered: the workflow does not ask for it, or the runner offers no cache service. */
async function runWithoutMemory(task: SendingTask, run: Run): Promise<Execution> {
  const { settings, state, log } = run;
  const isRerun = runAttempt(run.ports.environment) > 1;
  if (isRerun && settings.onRerun === "resume") log.rerun({ kind: "no-cache" });
  const written = await writePrompt((section) => addSection(task.prompt, section), run);
  if ("kind" in written) return { result: written };
  if (settings.session !== "") log.session({ kind: "no-cache" }, settings.session);
  const plan = planTasks(written.prompt, task.kind === "message" ? task.jobId : undefined, false);
  return runFirstFound(plan, state, (each) => runJob(each, run));
}
