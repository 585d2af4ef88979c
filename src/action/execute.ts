import { messageOf } from "../client/errors.ts";
import type { Trace } from "../client/trace.ts";
import { isCommentEvent } from "./comments/event.ts";
import { formatMarker } from "./comments/marker.ts";
import { type ReplyState, runFromComment } from "./comments/run-from-comment.ts";
import type { CommentMode, Settings, Task } from "./inputs/schema.ts";
import type { Outcome } from "./outcome.ts";
import { AttemptMemory, type SendingTask } from "./refresh/attempt-memory.ts";
import { readPullRequestState } from "./refresh/pull-request-state.ts";
import { type MemoryPorts, runWithMemory } from "./refresh/run-with-memory.ts";
import { planSession } from "./refresh/session.ts";
import { SessionMemory } from "./refresh/session-memory.ts";
import type { RunLog } from "./report/log.ts";
import { type ReplyFrame, renderProgress } from "./report/reply.ts";
import { say } from "./report/text.ts";
import type { RerunEffect, RunResult } from "./result.ts";
import { type JobPorts, runJob } from "./run-job.ts";
import type { RunState } from "./run-state.ts";
import { type Cache, hasCacheService } from "./runner/cache.ts";
import { readEventFile } from "./runner/event-file.ts";
import type { GitHub } from "./runner/github.ts";

export interface ExecutePorts extends JobPorts {
  environment: Readonly<Record<string, string | undefined>>;
  /** Connects to the Actions cache; only called if the runner offers one. */
  connectCache: () => Cache;
  /** Creates the client for GitHub; only called in comment mode. */
  connectGitHub: (token: string, apiUrl: string, onTrace: (trace: Trace) => void) => Promise<GitHub>;
}

/** What the step did. */
export interface Execution {
  result: RunResult;
  task?: Task;
  /** Default: `repeats`. */
  rerun?: RerunEffect;
  /** Comment mode: shows the result in the thread. */
  finish?: (outcome: Outcome, render: (frame: ReplyFrame) => string) => Promise<void>;
}

/** Runs the step in plain or comment mode. Never rejects. */
export async function execute(
  { settings, mode }: { settings: Settings; mode: { kind: "plain"; task: Task } | ({ kind: "comment" } & CommentMode) },
  ports: ExecutePorts,
  state: RunState,
  log: RunLog,
): Promise<Execution> {
  try {
    return mode.kind === "plain"
      ? await executeTask(settings, mode.task, ports, state, log)
      : await executeComment(settings, mode, ports, state, log);
  } catch (error) {
    log.debugError(error);
    return { result: { kind: "crashed", error } };
  }
}

async function executeTask(
  settings: Settings,
  task: Task,
  ports: ExecutePorts,
  state: RunState,
  log: RunLog,
): Promise<Execution> {
  const { environment, clock, signal } = ports;
  if (task.kind === "attach" || (settings.onRerun === "new" && settings.session === "")) {
    return { result: await runJob({ ...settings, task }, ports, state, log), task };
  }
  const attempt = runAttempt(environment);
  const runId = environment.GITHUB_RUN_ID ?? "";
  const identity = {
    runId,
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
      ? new SessionMemory(ports.connectCache, `${runId}-${attempt}`, settings.session, settings)
      : undefined;
  const run: MemoryPorts["runJob"] = (each, { wait, onJobId }) =>
    runJob({ ...settings, wait, task: each }, withJobIdListener(ports, onJobId), state, log);
  const plan = (): Promise<SendingTask[] | RunResult> =>
    planSession(
      task.prompt,
      {
        memory: session,
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
            serverUrl: environment.GITHUB_SERVER_URL || "https://github.com",
            connectGitHub: () => connect(settings.githubToken, ports, log),
            signal,
          });
        },
        onEvent: (event) => log.session(event, settings.session),
        signal,
      },
      state,
    );
  return runWithMemory(
    settings.session === "" ? async () => [task] : plan,
    settings.wait,
    {
      clock,
      signal,
      attempt,
      hasCacheService: isOffered,
      attempts,
      session,
      runJob: run,
      onEvent: (event) => log.rerun(event, attempt),
    },
    state,
  );
}

/** Returns the ports with one more function that is called as soon as a job's id is known. */
function withJobIdListener(ports: ExecutePorts, onJobId?: (jobId: string) => void): ExecutePorts {
  const publishJobId = (jobId: string): void => {
    ports.publishJobId(jobId);
    onJobId?.(jobId);
  };
  return { ...ports, publishJobId };
}

/** Returns the number of the run attempt: 1 on the first run of a workflow run. */
function runAttempt({ GITHUB_RUN_ATTEMPT }: ExecutePorts["environment"]): number {
  return Number(GITHUB_RUN_ATTEMPT ?? 1);
}

function connect(token: string, { connectGitHub, environment }: ExecutePorts, log: RunLog): Promise<GitHub> {
  return connectGitHub(token, environment.GITHUB_API_URL || "https://api.github.com", (trace) => log.trace(trace));
}

async function executeComment(
  settings: Settings,
  mode: CommentMode,
  ports: ExecutePorts,
  state: RunState,
  log: RunLog,
): Promise<Execution> {
  const { environment, clock, signal } = ports;
  const name = environment.GITHUB_EVENT_NAME ?? "";
  if (!isCommentEvent(name)) throw new Error("comment mode needs a comment event");
  const frame = ({ marker, isReplacement }: ReplyState): ReplyFrame => ({
    runUrl: runUrl(environment),
    phrase: mode.phrase,
    hasFixedJob: mode.jobId !== "",
    note: isReplacement ? replacement : [],
    marker: marker ? formatMarker(marker) : "",
    remembersJob: marker?.jobId !== undefined,
  });
  const { finish, ...run } = await runFromComment(
    settings,
    mode,
    {
      clock,
      signal,
      connectGitHub: () => connect(mode.token, ports, log),
      event: { name, readPayload: () => readEventFile(environment.GITHUB_EVENT_PATH ?? "") },
      attempt: runAttempt(environment),
      runJob: (task, onJobId) => runJob({ ...settings, task }, withJobIdListener(ports, onJobId), state, log),
      onReplacement: () => log.note(replacement),
      onInvalidEvent: (error) => log.debugError(error),
      onPublicAccess: () =>
        log.warn(
          "Anyone can start jobs",
          say`This repository is public and required-permission is read, so anyone with a GitHub account can start jobs. Set required-permission to triage or write.`,
        ),
      onFailure: (action, error) =>
        log.warn(
          "Cannot update the thread",
          say`Could not ${action} (${messageOf(error)}). The job is not affected, but replies and reactions may be missing, and a follow-up comment may start a new job. The step needs a github-token with issues: write and pull-requests: write.`,
        ),
      renderProgress: (reply) => renderProgress(frame(reply)),
    },
    state,
  );
  return { ...run, ...(finish && { finish: (outcome, render) => finish(outcome, (reply) => render(frame(reply))) }) };
}

const replacement = say`The job that this thread remembers was not found, so this request is for a new one.`;

function runUrl(environment: ExecutePorts["environment"]): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = environment;
  return `${server || "https://github.com"}/${repository ?? ""}/actions/runs/${run ?? ""}`;
}
