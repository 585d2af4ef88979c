import { say } from "../../runner-kit/text.ts";
import { forAnnotation, forLog } from "../../runner-kit/untrusted.ts";
import type { Toolkit } from "../runner/toolkit.ts";

/** Reports an error that was thrown outside of everything that would have handled it. */
export function reportCrash(error: unknown, toolkit: Pick<Toolkit, "debug" | "annotate">): void {
  const cause = error instanceof Error ? error : new Error(String(error));
  toolkit.debug(forLog(cause.stack ?? "").line);
  const text = say`The action crashed: ${cause.message}. If the log names a job, it may be running. If the log only says that a job is being created, one may have been started: check the service before you run this again. Report this bug with the log of a run with step debug logging.`;
  toolkit.annotate("error", "Internal error", forAnnotation(text));
}
