import { systemClock } from "../client/clock.ts";
import { createTransport } from "../client/transport.ts";
import { connectCache } from "../runner-kit/cache.ts";
import { say } from "../runner-kit/text.ts";
import { forAnnotation, forLog } from "../runner-kit/untrusted.ts";
import { main } from "./main.ts";
import { runnerToolkit } from "./runner/toolkit.ts";

/** Runs the action with the real runner, network and clock, and exits with its exit code. */
export async function start(signal: AbortSignal): Promise<void> {
  process.on("uncaughtException", reportCrash);
  const hasPassed = await main({
    toolkit: runnerToolkit,
    clock: systemClock,
    random: Math.random,
    connect: (protocol) => createTransport(protocol, process.env),
    connectCache: () => connectCache(process.env),
    connectGitHub: async (...address) => (await import("./runner/github.ts")).connectGitHub(...address),
    connectIdTokens: async (...source) => (await import("./runner/id-token.ts")).connectIdTokens(...source),
    environment: process.env,
    signal,
  });
  // Exit explicitly, because closing sockets would delay the end of the step, but not before stdout is flushed.
  process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
}

function reportCrash(error: unknown): void {
  const cause = error instanceof Error ? error : new Error(String(error));
  runnerToolkit.debug(forLog(cause.stack ?? "").line);
  const text = say`The action crashed: ${cause.message}. If the log names a job, it may be running. If the log only says that a job is being created, one may have been started: check the service before you run this again. Report this bug with the log of a run with step debug logging.`;
  runnerToolkit.annotate("error", "Internal error", forAnnotation(text));
  process.exit(1);
}
