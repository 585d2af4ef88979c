import { isStillGone } from "../find-job.ts";
import { isJobNotFound, type RunResult } from "../result.ts";
import type { Run } from "../run.ts";
import { runJob } from "../run-job.ts";
import type { Task } from "../settings.ts";

/**
 * Waits for the job of an earlier attempt. Returns `undefined` if that had already failed, is archived or is gone, so that
 * the request is sent again. After a message the first record may show the state from before it, so only a wait can tell.
 */
export async function resume(task: Extract<Task, { kind: "attach" }>, run: Run): Promise<RunResult | undefined> {
  const { settings, state, log } = run;
  const look = (): Promise<RunResult> => runJob(task, run, { wait: settings.wait && task.resumes === "message" });
  let result = await look();
  const startOver = (reason: "failed" | "archived" | "not found") => {
    log.rerun({ kind: "starting-over", jobId: task.jobId, reason });
    return undefined;
  };
  if (isJobNotFound(result, state)) {
    if (await isStillGone(task.jobId, run)) return startOver("not found");
    // It was not found by mistake.
    result = await look();
  }
  // A turn that failed before this attempt is not waited for, so this one failed just now.
  const hasChanged = state.timeline.length > 1 || task.turnId !== undefined;
  if (result.kind === "done" && result.status === "failed" && !hasChanged) return startOver(result.status);
  if (result.kind === "done" && state.status === "archived" && state.timeline.length === 1)
    return startOver("archived");
  return result.kind === "started" && settings.wait ? runJob(task, run) : result;
}
