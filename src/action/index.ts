import { systemClock } from "../client/clock.ts";
import { createTransport } from "../client/transport.ts";
import { main } from "./main.ts";
import { say } from "./report/text.ts";
import { forAnnotation, forLog } from "./report/untrusted.ts";
import { runnerToolkit } from "./toolkit.ts";

const cancellation = new AbortController();
process.on("SIGINT", () => cancellation.abort());
process.on("SIGTERM", () => cancellation.abort());

process.on("uncaughtException", (error: unknown) => {
  const cause = error instanceof Error ? error : new Error(String(error));
  runnerToolkit.debug(forLog(cause.stack ?? "").line);
  const text = say`The action itself failed: ${cause.message}. If the log names a job, it may be running; if it says that one was to be created, one may have been started. Look in the dashboard before you run again, and report this fault with the log of a run with step debug logging.`;
  runnerToolkit.annotate("error", "Fault in the action", forAnnotation(text));
  process.exit(1);
});

// At the top level, a promise that never settles ends the process with 13, not with 0.
const hasPassed = await main({
  toolkit: runnerToolkit,
  clock: systemClock,
  random: Math.random,
  connect: (protocol) => createTransport(protocol, process.env),
  environment: process.env,
  signal: cancellation.signal,
});

// Sockets that are still closing must not hold up the end of the step; what was printed must be out by then.
process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
