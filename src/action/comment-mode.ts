import { messageOf } from "../client/errors.ts";
import { say } from "../runner-kit/text.ts";
import type { JobReading } from "./comments/command.ts";
import { isThreadEvent } from "./comments/event.ts";
import { formatMarker } from "./comments/marker.ts";
import { type ReplyState, runFromComment } from "./comments/run-from-comment.ts";
import type { Execution } from "./execution.ts";
import type { CommentMode, Inputs, Settings } from "./inputs/schema.ts";
import { connect, findSection, type ModePorts } from "./mode-ports.ts";
import type { RunLog } from "./report/log.ts";
import { type ReplyFrame, renderAnswer, renderProgress } from "./report/reply.ts";
import { runJob, withJobIdListener } from "./run-job.ts";
import { RunState } from "./run-state.ts";
import { runAttempt, runUrl } from "./runner/environment.ts";
import { readEventFile } from "./runner/event-file.ts";

/** How long the state of a job may take to read for a command, in milliseconds. */
const maxReadingMs = 60_000;

/** Runs the step with what an event of an issue or pull request asks for. */
export async function runComment(
  settings: Settings,
  mode: CommentMode,
  ports: ModePorts,
  state: RunState,
  log: RunLog,
): Promise<Execution> {
  const { environment, clock, signal } = ports;
  const name = environment.GITHUB_EVENT_NAME ?? "";
  if (!isThreadEvent(name)) throw new Error("comment mode needs an event of an issue or pull request");
  const frame = ({ marker, isReplacement, reviewUrl }: ReplyState): ReplyFrame => ({
    runUrl: runUrl(environment),
    phrase: mode.phrase,
    label: mode.label,
    reviewUrl,
    hasFixedJob: mode.jobId !== "",
    note: isReplacement ? replacement : [],
    marker: marker ? formatMarker(marker) : "",
    remembersJob: marker?.jobId !== undefined,
  });
  let since: { jobId: string; time: Date } | undefined;
  /** The same for every edit, even if the wall clock is changed. */
  const workingSince = (): Date | undefined => {
    const [first] = state.timeline;
    // The first record is the response to the create or message. When the job of an earlier attempt began is unknown.
    if (!first || (state.origin !== "created" && state.origin !== "continued")) return undefined;
    if (since?.jobId !== state.jobId) {
      const agoMs = state.elapsedMs(clock.now()) - first.atMs;
      since = { jobId: state.jobId, time: new Date(clock.wallTime() - agoMs) };
    }
    return since.time;
  };
  const readJob = async (jobId: string): Promise<JobReading> => {
    const reading = new RunState();
    const timeoutMs = Math.min(settings.timeoutMs, maxReadingMs);
    const inputs: Inputs = { ...settings, timeoutMs, wait: false, task: { kind: "attach", jobId } };
    return { result: await runJob(inputs, { ...ports, publishJobId: () => {} }, reading, log), state: reading };
  };
  const { finish, ...run } = await runFromComment(
    settings,
    mode,
    {
      clock,
      signal,
      connectGitHub: () => connect(mode.token, ports, log),
      event: {
        name,
        readPayload: () => readEventFile(environment.GITHUB_EVENT_PATH ?? ""),
        runId: environment.GITHUB_RUN_ID ?? "",
      },
      attempt: runAttempt(environment),
      findSection: () => findSection(settings, { lastCommit: undefined, ownPullRequests: [] }, ports, state, log),
      runJob: (task, onJobId, onPolled) =>
        runJob({ ...settings, task }, { ...withJobIdListener(ports, onJobId), onPolled }, state, log),
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
      renderProgress: (reply) => renderProgress(frame(reply), { since: workingSince(), state }),
      readJob,
      renderAnswer: (answer) =>
        renderAnswer(answer, { phrase: mode.phrase, label: mode.label, hasFixedJob: mode.jobId !== "" }),
    },
    state,
  );
  return { ...run, ...(finish && { finish: (outcome, render) => finish(outcome, (reply) => render(frame(reply))) }) };
}

const replacement = say`The job that this thread remembers was not found, so this request is for a new one.`;
