import { systemClock } from "../client/clock.ts";
import { createTransport, type Transport } from "../runner-kit/transport.ts";
import { main } from "./main.ts";
import { RunLog } from "./report/log.ts";
import { runnerToolkit } from "./runner/toolkit.ts";

/** Runs the action with the real runner, network and clock, and exits with its exit code. */
export async function start(signal: AbortSignal): Promise<void> {
  process.on("uncaughtException", (error) => {
    new RunLog(runnerToolkit).crashed(error);
    process.exit(1);
  });
  const transports = new Map<string, Transport>();
  const hasPassed = await main({
    toolkit: runnerToolkit,
    clock: systemClock,
    random: Math.random,
    connect: (protocol) => {
      const transport = transports.get(protocol) ?? createTransport(protocol, process.env);
      transports.set(protocol, transport);
      return transport;
    },
    connectCache: async () => (await import("../runner-kit/connect-cache.ts")).connectCache(process.env),
    connectGitHub: async (...address) => (await import("./runner/github.ts")).connectGitHub(...address),
    connectIdTokens: async (...source) => (await import("./runner/id-token.ts")).connectIdTokens(...source),
    environment: process.env,
    signal,
  });
  // Exit explicitly, because closing sockets would delay the end of the step, but not before stdout is flushed.
  process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
}
