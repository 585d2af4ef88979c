import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentConfig,
  type AgentReply,
  type AgentRequest,
  type AgentSettings,
  serviceEnvironment,
} from "../runner-kit/agent-service.ts";
import { say } from "../runner-kit/text.ts";
import type { Transport } from "../runner-kit/transport.ts";
import { AgentError } from "./result.ts";

/** How long its jobs and sessions may take to be saved, in milliseconds. */
const saveMs = 150_000;
/** The same once the step is cancelled, in milliseconds: 7 s after the signal, everything has ended. */
const cancelledMs = 4000;
/** After that, it is killed, in milliseconds. */
const killMs = 1000;
/** How long a request in flight gets once the step is cancelled, in milliseconds: stopping and saving follow, and the runner kills after 10 s. */
const requestGraceMs = 1000;

/** The agent that runs with the step, as far as the run needs it. */
export interface OwnAgent {
  /** Returns a transport whose requests go to the agent's service, wherever it listens. It starts the service, but no agent. */
  connect(transport: Transport): Transport;
  /** Installs the agent and starts what runs it, unless that is done. @throws AgentError if it cannot */
  prepare(): Promise<void>;
  /** Finds out what would keep the agent from running, without installing it. @throws AgentError if something would */
  check(): Promise<void>;
  /** Ends everything that was started, and saves what later runs continue. Never rejects. */
  end(): Promise<void>;
  /** The file with its transcript, after its end. Default: there is none. */
  readonly logFile?: string | undefined;
  /** The file with work that is kept nowhere else, after its end. Default: there is none. */
  readonly workFile?: string | undefined;
}

/**
 * Returns an agent whose service is a process of its own. It is started by the first request: a step that has nothing to send
 * starts nothing.
 *
 * @param program - the main file of that process
 * @param signal - aborts when the step is cancelled
 */
export function createOwnAgent(
  settings: AgentSettings,
  { program, environment, signal }: { program: string; environment: NodeJS.ProcessEnv; signal: AbortSignal },
): OwnAgent {
  const files = join(environment.RUNNER_TEMP || tmpdir(), `agent-job-${randomUUID()}`);
  const [logFile, workFile] = [`${files}.log`, `${files}.patch`];
  let child: ChildProcess | undefined;
  let hasEnded = false;
  let exit: Promise<void> = Promise.resolve();
  const start = (): ChildProcess => {
    const started = fork(program, [], {
      env: serviceEnvironment(environment, []),
      execArgv: [],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      // A group of its own, so that no signal of the runner ends it before what it does is saved.
      detached: true,
    });
    exit = new Promise((resolve) => {
      const onEnd = (): void => {
        hasEnded = true;
        resolve();
      };
      started.once("exit", onEnd).once("error", onEnd);
    });
    const config: AgentConfig = { environment, settings, logFile, workFile };
    started.send(config, () => {});
    return started;
  };

  const ask = async (request: AgentRequest): Promise<string> => {
    child ??= start();
    const asked = child;
    const reply = await new Promise<AgentReply | undefined>((resolve) => {
      asked.once("message", (message) => resolve(message as AgentReply));
      void exit.then(() => resolve(undefined));
      asked.send(request, () => {});
    });
    if (reply === undefined) throw ended();
    if ("title" in reply) throw new AgentError(reply.title, reply.text);
    return reply.url;
  };

  let answering: Promise<string> | undefined;
  let running: Promise<string> | undefined;
  return {
    connect: (transport) => async (request) => {
      if (hasEnded) throw ended();
      if (running === undefined && !request.signal.aborted) answering ??= ask("answer");
      const address = await (running ?? answering ?? "http://127.0.0.1");
      const url = new URL(request.url.pathname + request.url.search, address);
      return transport({ ...request, url, ...(request.graceMs && { graceMs: requestGraceMs }) });
    },
    prepare: async () => {
      // One request at a time.
      await answering;
      running ??= ask("run");
      await running;
    },
    check: async () => {
      await answering;
      await ask("check");
    },
    end: async () => {
      if (child === undefined) return;
      const ending = child;
      let timer: NodeJS.Timeout | undefined;
      const end = (ms: number): void => {
        if (ending.connected) ending.send(ms, () => {});
        clearTimeout(timer);
        timer = setTimeout(() => killGroup(ending), ms + killMs);
      };
      const onAbort = (): void => end(cancelledMs);
      end(signal.aborted ? cancelledMs : saveMs);
      signal.addEventListener("abort", onAbort, { once: true });
      await exit;
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    },
    get logFile() {
      return existsSync(logFile) ? logFile : undefined;
    },
    get workFile() {
      return existsSync(workFile) ? workFile : undefined;
    },
  };
}

function ended(): AgentError {
  return new AgentError(
    "The agent's service ended early",
    say`It ended while it was needed; if it could say why, the lines above do.`,
  );
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}
