import { say, type Text } from "../../src/runner-kit/text.ts";
import { forAnnotation } from "../../src/runner-kit/untrusted.ts";
import { errorStack } from "../src/error-message.ts";
import { runner } from "./runner.ts";
import { SetupError } from "./setup/setup-error.ts";
import { startServer } from "./start-server.ts";
import { stopServer } from "./stop-server.ts";

/** Runs the step: starts the service, or stops it if this is the end of the workflow's job. */
export async function runStep(): Promise<void> {
  const isPost = runner.state("started") !== "";
  // First of all, because the runner runs `post` whatever becomes of `main`.
  if (!isPost) runner.saveState("started", "true");
  const cancellation = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => cancellation.abort());
  try {
    if (isPost) await stopServer(runner);
    else
      await startServer({
        runner,
        environment: process.env,
        program: process.argv[1] ?? "",
        signal: cancellation.signal,
      });
  } catch (error) {
    const { title, text } = explain(error, cancellation.signal.aborted);
    runner.annotate("error", title, forAnnotation(text));
    process.exitCode = 1;
  }
  // Sockets and timers of libraries must not delay the end of the step.
  process.stdout.write("", () => process.exit());
}

function explain(error: unknown, isCancelled: boolean): { title: string; text: Text } {
  if (isCancelled) return { title: "Cancelled", text: say`The agent service was not started.` };
  if (error instanceof SetupError) return error;
  return { title: "The agent service failed", text: say`This is a bug, please report it: ${errorStack(error)}` };
}
