import type { Task } from "./inputs/schema.ts";
import type { Outcome } from "./outcome.ts";
import type { ReplyFrame } from "./report/reply.ts";
import type { RerunEffect, RunResult } from "./result.ts";

/** What the step did. */
export interface Execution {
  result: RunResult;
  task?: Task;
  /** Default: `repeats`. */
  rerun?: RerunEffect;
  /** Comment mode: shows the result in the thread. */
  finish?: (outcome: Outcome, render: (frame: ReplyFrame) => string) => Promise<void>;
}
