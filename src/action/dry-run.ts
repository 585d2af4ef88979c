import { hasCacheService } from "../runner-kit/cache.ts";
import { say, type Text } from "../runner-kit/text.ts";
import { addSection } from "./changes/add-section.ts";
import type { CommentRequest } from "./comments/request.ts";
import { writePrompt } from "./plan.ts";
import type { RunResult } from "./result.ts";
import type { Execution, Run } from "./run.ts";
import { runAttempt } from "./runner/environment.ts";
import type { SendingTask, Task } from "./settings.ts";

/** Does everything that a step does before its request, except what asks the service or writes to GitHub. */
export async function dryRunPlain(task: Task, run: Run): Promise<Execution> {
  if (task.kind === "attach") return end(say`It would wait for job ${task.jobId}.`, task, run);
  const { session: name } = run.settings;
  const { attempts, session } = await openMemory(task, run);
  const earlier = await attempts?.find();
  if (earlier?.kind === "job") {
    const plan = say`It would wait for job ${earlier.jobId}, which attempt ${earlier.attempt} of this workflow run started.`;
    return end(plan, task, run);
  }
  const found = await session?.find();
  if (found && "error" in found) return { result: { kind: "blocked", cause: "session", detail: found.error } };
  const entry = found?.entry;
  const written = await writePrompt((section) => addSection(task.prompt, section), run, {
    lastCommit: entry?.commit,
    firstBase: undefined,
    ownPullRequests: entry?.pullRequests ?? [],
  });
  if ("kind" in written) return { result: written };
  const { prompt } = written;
  if (entry) {
    const plan = say`It would send this prompt to job ${entry.jobId}, the last of the session ${name}, while the job is active or its pull request is open. Otherwise it would create a job.`;
    return end(plan, { kind: "message", jobId: entry.jobId, prompt }, run);
  }
  return end(planOf(task), { ...task, prompt }, run);
}

/** The same for an event in a thread, whose author may ask. */
export async function dryRunComment(request: CommentRequest, jobId: string): Promise<Execution> {
  const { run, isNew, fillPrompt } = request;
  const written = await writePrompt(fillPrompt, run);
  if ("kind" in written) return { result: written };
  const { prompt } = written;
  if (jobId !== "") return end(planOf({ kind: "message", jobId, prompt }), { kind: "message", jobId, prompt }, run);
  const plan = isNew
    ? say`It would create a job with this prompt.`
    : say`It would send this prompt to the job that the thread remembers. If there is none, it would create a job.`;
  return end(plan, { kind: "create", prompt }, run);
}

function planOf(task: SendingTask): Text {
  return task.kind === "create"
    ? say`It would create a job with this prompt.`
    : say`It would send this prompt to job ${task.jobId} as a follow-up.`;
}

async function openMemory(task: SendingTask, run: Run) {
  const { environment, connectCache } = run.ports;
  const { onRerun, session } = run.settings;
  const isRerun = onRerun === "resume" && runAttempt(environment) > 1;
  if (!hasCacheService(environment) || (!isRerun && session === "")) return {};
  const [cache, { AttemptMemory }, { SessionMemory }] = await Promise.all([
    connectCache(),
    import("./refresh/attempt-memory.ts"),
    import("./refresh/session-memory.ts"),
  ]);
  return {
    attempts: isRerun ? new AttemptMemory(cache, task, run) : undefined,
    session: session === "" ? undefined : new SessionMemory(cache, run),
  };
}

function end(plan: Text, task: Task, { log }: Run): Execution {
  const result: RunResult = { kind: "skipped", reason: "dry-run", plan };
  if (task.kind !== "attach") log.dryRun(task.prompt);
  return { result, task };
}
