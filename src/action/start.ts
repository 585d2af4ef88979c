import { systemClock } from "../client/clock.ts";
import { createTransport } from "../client/transport.ts";
import { main } from "./main.ts";
import { say } from "./report/text.ts";
import { forAnnotation, forLog } from "./report/untrusted.ts";
import { runnerToolkit } from "./runner/toolkit.ts";

/** Runs the action in the real world, and ends the process with its exit code. */
export async function start(signal: AbortSignal): Promise<void> {
  process.on("uncaughtException", reportFault);
  const hasPassed = await main({
    toolkit: runnerToolkit,
    clock: systemClock,
    random: Math.random,
    connect: (protocol) => createTransport(protocol, process.env),
    connectGitHub: async (...address) => (await import("./runner/github.ts")).connectGitHub(...address),
    environment: process.env,
    signal,
  });
  // Sockets that are still closing must not hold up the end of the step; what was printed must be out by then.
  process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
}

function reportFault(error: unknown): void {
  const cause = error instanceof Error ? error : new Error(String(error));
  runnerToolkit.debug(forLog(cause.stack ?? "").line);
  const text = say`The action itself failed: ${cause.message}. If the log names a job, it may be running; if it says that one was to be created, one may have been started. Look in the dashboard before you run again, and report this fault with the log of a run with step debug logging.`;
  runnerToolkit.annotate("error", "Fault in the action", forAnnotation(text));
  process.exit(1);
}
