import { systemClock } from "../client/clock.ts";
import { createTransport } from "../client/transport.ts";
import { main } from "./main.ts";
import { forAnnotation } from "./report/untrusted.ts";
import { runnerToolkit } from "./toolkit.ts";

// Whatever ends the process early, a promise that never settles included, must not look like success.
process.exitCode = 1;

const cancellation = new AbortController();
process.on("SIGINT", () => cancellation.abort());
process.on("SIGTERM", () => cancellation.abort());

process.on("uncaughtException", (error) => {
  runnerToolkit.debug(forAnnotation(error.stack ?? ""));
  runnerToolkit.annotate(
    "error",
    "Fault in the action",
    forAnnotation(
      `The action itself failed: ${error.message}. If the log names a job, it may be running. Report this fault, with the log of a run with step debug logging.`,
    ),
  );
  process.exit(1);
});

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
