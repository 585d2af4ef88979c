import { hasCacheService } from "../runner-kit/cache.ts";
import { addSection } from "./changes/add-section.ts";
import type { Execution } from "./execution.ts";
import type { Settings, Task } from "./inputs/schema.ts";
import { connect, findSection, type ModePorts } from "./mode-ports.ts";
import { AttemptMemory, type SendingTask } from "./refresh/attempt-memory.ts";
import { readPullRequestState } from "./refresh/pull-request-state.ts";
import { runWithMemory } from "./refresh/run-with-memory.ts";
import { planSession, recallSession } from "./refresh/session.ts";
import { SessionMemory, type SessionRun } from "./refresh/session-memory.ts";
import type { RunLog } from "./report/log.ts";
import type { RunResult } from "./result.ts";
import { runJob, withJobIdListener } from "./run-job.ts";
import type { RunState } from "./run-state.ts";
import { type Environment, runAttempt, serverUrl } from "./runner/environment.ts";

/** Runs the step with the prompt of the workflow, at most once over all attempts of the workflow run. */
export async function runPlain(
  settings: Settings,
  task: Task,
  ports: ModePorts,
  state: RunState,
  log: RunLog,
): Promise<Execution> {
  const { environment, clock, signal } = ports;
  if (task.kind === "attach") return { result: await runJob({ ...settings, task }, ports, state, log), task };
  const attempt = runAttempt(environment);
  const identity = {
    runId: environment.GITHUB_RUN_ID ?? "",
    job: environment.GITHUB_JOB ?? "",
    step: environment.GITHUB_ACTION ?? "",
    matrixLeg: settings.matrixLeg,
  };
  const isOffered = hasCacheService(environment);
  const attempts =
    isOffered && settings.onRerun === "resume"
      ? new AttemptMemory(ports.connectCache, attempt, identity, settings, task)
      : undefined;
  const session =
    isOffered && settings.session !== ""
      ? new SessionMemory(ports.connectCache, sessionRun(environment, attempt), settings.session, settings)
      : undefined;
  if (attempt > 1 && settings.onRerun === "resume" && !isOffered) log.rerun({ kind: "no-cache" }, attempt);
  return runWithMemory(
    () => planTasks(settings, task, session, ports, state, log),
    settings.wait,
    {
      clock,
      signal,
      attempt,
      attempts,
      session,
      runJob: (each, { wait, onJobId }) =>
        runJob({ ...settings, wait, task: each }, withJobIdListener(ports, onJobId), state, log),
      onEvent: (event) => log.rerun(event, attempt),
    },
    state,
  );
}

/** Decides what to send: the prompt with what changed, to the session's job or a new one. Otherwise returns why not. */
async function planTasks(
  settings: Settings,
  task: SendingTask,
  session: SessionMemory | undefined,
  ports: ModePorts,
  state: RunState,
  log: RunLog,
): Promise<SendingTask[] | RunResult> {
  const { environment, signal } = ports;
  const recalled = session ? await recallSession(session, signal) : { entry: undefined };
  if ("kind" in recalled) return recalled;
  const { entry } = recalled;
  const remembered = {
    lastCommit: entry && session?.lastCommit(entry),
    ownPullRequests: entry?.pullRequests ?? [],
  };
  const found = await findSection(settings, remembered, ports, state, log);
  if ("kind" in found) return found;
  const prompt = settings.changes ? addSection(task.prompt, found.section) : task.prompt;
  if (prompt.trim() === "") return { kind: "blocked", cause: "prompt" };
  if (settings.session === "") return [{ ...task, prompt }];
  if (!session) {
    log.session({ kind: "no-cache" }, settings.session);
    return [{ kind: "create", prompt }];
  }
  return planSession(
    prompt,
    entry?.jobId,
    {
      readJob: (jobId) =>
        runJob(
          { ...settings, wait: false, task: { kind: "attach", jobId } },
          { ...ports, publishJobId: () => {} },
          state,
          log,
        ),
      readPullRequest: async (pullRequest) => {
        if (settings.githubToken === "") return "unknown";
        return readPullRequestState(pullRequest, {
          serverUrl: serverUrl(environment),
          connectGitHub: () => connect(settings.githubToken, ports, log),
          signal,
        });
      },
      onEvent: (event) => log.session(event, settings.session),
    },
    state,
  );
}

function sessionRun(environment: Environment, attempt: number): SessionRun {
  const { GITHUB_RUN_ID: id = "", GITHUB_SHA: commit = "", GITHUB_REPOSITORY: repository = "" } = environment;
  return { id, attempt, commit, repository, serverUrl: serverUrl(environment) };
}
