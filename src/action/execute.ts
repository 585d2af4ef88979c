import { messageOf } from "../client/errors.ts";
import type { Trace } from "../client/trace.ts";
import { isCommentEvent } from "./comments/event.ts";
import { formatMarker } from "./comments/marker.ts";
import { type ReplyState, runFromComment } from "./comments/run-from-comment.ts";
import type { CommentMode, Settings, Task } from "./inputs/schema.ts";
import type { Outcome } from "./outcome.ts";
import type { RunLog } from "./report/log.ts";
import { type ReplyFrame, renderProgress } from "./report/reply.ts";
import { say } from "./report/text.ts";
import type { RerunEffect, RunResult } from "./result.ts";
import { type JobPorts, runJob } from "./run-job.ts";
import type { RunState } from "./run-state.ts";
import { readEventFile } from "./runner/event-file.ts";
import type { GitHub } from "./runner/github.ts";

export interface ExecutePorts extends JobPorts {
  environment: Readonly<Record<string, string | undefined>>;
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
  if (mode.kind === "plain") {
    return { result: await runJob({ ...settings, task: mode.task }, ports, state, log), task: mode.task };
  }
  try {
    return await executeComment(settings, mode, ports, state, log);
  } catch (error) {
    log.debugError(error);
    return { result: { kind: "crashed", error } };
  }
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
      connectGitHub: () =>
        ports.connectGitHub(mode.token, environment.GITHUB_API_URL || "https://api.github.com", (trace) =>
          log.trace(trace),
        ),
      event: { name, readPayload: () => readEventFile(environment.GITHUB_EVENT_PATH ?? "") },
      attempt: Number(environment.GITHUB_RUN_ATTEMPT ?? 1),
      runJob: (task, onJobId) => {
        const publishJobId = (jobId: string): void => {
          ports.publishJobId(jobId);
          onJobId(jobId);
        };
        return runJob({ ...settings, task }, { ...ports, publishJobId }, state, log);
      },
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

const replacement = say`The job of this thread was not found, so a new one was started.`;

function runUrl(environment: ExecutePorts["environment"]): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = environment;
  return `${server || "https://github.com"}/${repository ?? ""}/actions/runs/${run ?? ""}`;
}
