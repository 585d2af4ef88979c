import type { CommentMode, Settings, Task } from "./inputs/schema.ts";
import type { ModePorts } from "./mode-ports.ts";
import type { Outcome } from "./outcome.ts";
import { runPlain } from "./plain-mode.ts";
import type { RunLog } from "./report/log.ts";
import type { ReplyFrame } from "./report/reply.ts";
import type { RerunEffect, RunResult } from "./result.ts";
import type { RunState } from "./run-state.ts";

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
  ports: ModePorts,
  state: RunState,
  log: RunLog,
): Promise<Execution> {
  try {
    if (mode.kind === "plain") return await runPlain(settings, mode.task, ports, state, log);
    // Loaded here, because it would make every other step start later.
    const { runComment } = await import("./comment-mode.ts");
    return await runComment(settings, mode, ports, state, log);
  } catch (error) {
    log.debugError(error);
    return { result: { kind: "crashed", error } };
  }
}
