import { errorMessage, errorStack } from "../src/error-message.ts";
import { explainStart, type StepService, serve } from "./serve.ts";
import { keepRunning, type ServerConfig, type ServerReply } from "./server-protocol.ts";

// The process in which the service runs. It outlives the step that starts it, until `post` terminates it.

const runnerCheckMs = 5000;
const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);

process.umask(0o077);
process.once("message", (config: ServerConfig) => {
  serve(config, log).then(
    (service) => {
      keepUntilTold(service, config);
      reply({ url: service.url, memory: service.memory });
    },
    (error: unknown) => {
      // What is wrong outside the service has a message for people; the stack is for a bug.
      const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
      log(`Not started: ${isBug ? errorStack(error) : errorMessage(error)}`);
      const { title, text } = explainStart(error);
      reply({ title, text }, () => process.exit(1));
    },
  );
});
const stopEarly = (): never => process.exit(1);
process.once("disconnect", stopEarly);

function reply(message: ServerReply, then: () => void = () => {}): void {
  process.once("message", (answer) => {
    if (answer !== keepRunning) return;
    process.off("disconnect", stopEarly);
    process.disconnect();
  });
  process.send?.(message, undefined, undefined, then);
}

/** Keeps the service until a signal, or until the process that runs the steps is gone. */
function keepUntilTold(service: StepService, { runner }: ServerConfig): void {
  let isStopping = false;
  const stop = async (reason: string): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    log(`Stopping the agents, ${reason}`);
    await service[Symbol.asyncDispose]();
    log("Stopped");
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(`because of ${signal}`));
  watchRunner(runner, () => void stop("because the runner is gone"));
}

/** Calls `onGone` when the process that runs the steps has ended without running `post`. */
function watchRunner(runner: number | undefined, onGone: () => void): void {
  if (runner === undefined) return;
  setInterval(() => {
    try {
      process.kill(runner, 0);
    } catch (error) {
      // Otherwise it belongs to another user.
      if ((error as NodeJS.ErrnoException).code === "ESRCH") onGone();
    }
  }, runnerCheckMs).unref();
}
