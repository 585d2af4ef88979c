import type { Trace } from "../client/trace.ts";
import { isCommentEvent } from "./comments/event.ts";
import { converse, type ReplyParts } from "./comments/run-from-comment.ts";
import type { CommentMode, Settings, Task } from "./inputs/schema.ts";
import type { Ending, Outcome } from "./outcome.ts";
import type { RunLog } from "./report/log.ts";
import { type ReplyFrame, renderWorking } from "./report/reply.ts";
import { say } from "./report/text.ts";
import { type RunPorts, run } from "./run-job.ts";
import type { Facts } from "./run-state.ts";
import { readEventFile } from "./runner/event-file.ts";
import type { GitHub } from "./runner/github.ts";

export interface StoryPorts extends RunPorts {
  environment: Readonly<Record<string, string | undefined>>;
  /** Makes the way to GitHub, for comment mode alone. */
  connectGitHub: (token: string, apiUrl: string, onTrace: (trace: Trace) => void) => Promise<GitHub>;
}

/** What the step came to do, how that ended, and how to tell it where it was asked for. */
export interface Story {
  ending: Ending;
  task?: Task;
  finish?: (outcome: Outcome, render: (frame: ReplyFrame) => string) => Promise<void>;
}

/** Does what the inputs ask for: in comment mode what the comment asks for, if it may. Never rejects. */
export async function tell(
  inputs: { settings: Settings; mode: { kind: "task"; task: Task } | ({ kind: "comment" } & CommentMode) },
  ports: StoryPorts,
  facts: Facts,
  log: RunLog,
): Promise<Story> {
  const { settings, mode } = inputs;
  if (mode.kind === "task") {
    return { ending: await run({ ...settings, task: mode.task }, ports, facts, log), task: mode.task };
  }
  try {
    return await tellInThread(settings, mode, ports, facts, log);
  } catch (error) {
    log.debug(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { ending: { kind: "broken", error } };
  }
}

async function tellInThread(
  settings: Settings,
  mode: CommentMode,
  ports: StoryPorts,
  facts: Facts,
  log: RunLog,
): Promise<Story> {
  const { environment, clock, signal } = ports;
  const name = environment.GITHUB_EVENT_NAME;
  if (!isCommentEvent(name)) throw new Error("comment mode needs the event of a comment");
  const frame = ({ marker, isNewForOld }: ReplyParts): ReplyFrame => ({
    runUrl: runUrl(environment),
    phrase: mode.phrase,
    note: isNewForOld ? forgotten : [],
    marker,
  });
  const conversation = await converse(
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
      runJob: (task, announce) => {
        const announceJob = (jobId: string): void => {
          ports.announceJob(jobId);
          announce(jobId);
        };
        return run({ ...settings, task }, { ...ports, announceJob }, facts, log);
      },
      onForgotten: () => log.note(forgotten),
      onTrouble: (what, error) =>
        log.warn(
          "GitHub does not let the step take part in the thread",
          say`It could not ${what} (${error instanceof Error ? error.message : String(error)}). The job is not affected, but replies, reactions and what the thread remembers may be missing. The step needs github-token with issues: write and pull-requests: write.`,
        ),
      renderWorking: (parts) => renderWorking(frame(parts)),
    },
    facts,
  );
  const { finish } = conversation;
  return { ...conversation, finish: (outcome, render) => finish(outcome, (parts) => render(frame(parts))) };
}

const forgotten = say`The service does not know the job of this thread any more, so a new one was started.`;

function runUrl(environment: StoryPorts["environment"]): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = environment;
  return `${server || "https://github.com"}/${repository ?? ""}/actions/runs/${run ?? ""}`;
}
