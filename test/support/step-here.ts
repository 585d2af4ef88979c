import { main } from "../../src/action/main.ts";
import { connectGitHub, type GitHub } from "../../src/action/runner/github.ts";
import { connectIdTokens } from "../../src/action/runner/id-token.ts";
import type { Toolkit } from "../../src/action/runner/toolkit.ts";
import { systemClock } from "../../src/client/clock.ts";
import { connectCache } from "../../src/runner-kit/connect-cache.ts";
import { createTransport } from "../../src/runner-kit/transport.ts";
import { readLog } from "../../tools/commands.ts";
import { annotationsOf, type Step, temporaryFolder } from "./step.ts";

export interface StepHereOptions {
  /** An empty folder for the workspace. */
  folder?: string;
  environment?: Readonly<Record<string, string>>;
  /** Whether it makes the pauses between writes that GitHub asks for, and waits for rate limits. Default: no. */
  isPatient?: boolean;
}

/**
 * Runs all of `main` in this process as `dist/index.js` does: on the real network, client of GitHub and clock, and with what
 * `@actions/core` would print. It takes a tenth of what a process takes, and shows neither the bundle nor signals.
 */
export async function stepHere(
  inputs: Readonly<Record<string, string>>,
  { folder = temporaryFolder(), environment = {}, isPatient = false }: StepHereOptions = {},
): Promise<Omit<Step, "files">> {
  const variables = { GITHUB_WORKSPACE: folder, ...environment };
  const { toolkit, result } = printingToolkit(inputs);
  const hasPassed = await main({
    toolkit,
    clock: systemClock,
    random: Math.random,
    connect: (protocol) => createTransport(protocol, variables),
    connectCache: async () => connectCache(variables),
    connectGitHub: async (...address) => (isPatient ? connectGitHub(...address) : urgent(connectGitHub(...address))),
    connectIdTokens: async (...source) => connectIdTokens(...source),
    createAgent: () => Promise.reject(new Error("a service runs the agent")),
    environment: variables,
    signal: new AbortController().signal,
  });
  const { log } = result;
  const lines = readLog(log);
  return { ...result, exitCode: hasPassed ? 0 : 1, lines, annotations: annotationsOf(lines) };
}

/** Returns a client whose requests are all urgent. All clients in a process would share the pauses. */
function urgent(github: GitHub): GitHub {
  return {
    request: (route, parameters, limits) => github.request(route, parameters, { ...limits, isUrgent: true }),
    paginate: (route, parameters, limits) => github.paginate(route, parameters, { ...limits, isUrgent: true }),
  };
}

/** Returns a toolkit, and what it prints and writes. `integration/toolkit.test.ts` shows that the real one does the same. */
function printingToolkit(inputs: Readonly<Record<string, string>>) {
  const result = { log: "", outputs: {} as Record<string, string>, summary: "" };
  const print = (line: string): void => {
    result.log += `${line}\n`;
  };
  const escaped = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const command = (name: string, data: string): void => print(`::${name}::${escaped(data)}`);
  const toolkit: Toolkit = {
    input: (name) => inputs[name] ?? "",
    setOutput: (name, value) => {
      result.outputs[name] = value;
    },
    mask: (secret) => command("add-mask", secret),
    info: print,
    infoWithoutCommands: (line) => {
      print("::stop-commands::token");
      print(line);
      print("::token::");
    },
    debug: (line) => command("debug", line),
    annotate: (level, title, text) =>
      command(`${level} title=${escaped(title).replaceAll(":", "%3A").replaceAll(",", "%2C")}`, text),
    startGroup: (title) => command("group", title),
    endGroup: () => command("endgroup", ""),
    writeSummary: async (markdown) => {
      result.summary += markdown;
    },
  };
  return { toolkit, result };
}
