import type { Execution } from "./execution.ts";
import type { CommentMode, Settings, Task } from "./inputs/schema.ts";
import type { ModePorts } from "./mode-ports.ts";
import { runPlain } from "./plain-mode.ts";
import type { RunLog } from "./report/log.ts";
import type { RunState } from "./run-state.ts";

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
