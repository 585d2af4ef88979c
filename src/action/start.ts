import { resolve } from "node:path";
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
    createAgent: async (settings) => {
      const { createOwnAgent } = await import("./own-agent.ts");
      return createOwnAgent(settings, { program: agentProgram(process.argv[1]), environment: process.env, signal });
    },
    environment: process.env,
    signal,
  });
  // Exit explicitly, because closing sockets would delay the end of the step, but not before stdout is flushed.
  process.stdout.write("", () => process.exit(hasPassed ? 0 : 1));
}

/** Returns the file that runs the agent's service, which is in the same repository as the action's, bundled or not. */
function agentProgram(main = ""): string {
  return resolve(main, main.endsWith(".ts") ? "../../../service/step/index.ts" : "../../service/dist/index.js");
}
