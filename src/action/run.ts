import type { Clock } from "../client/clock.ts";
import type { Credentials } from "../client/credentials.ts";
import type { Trace } from "../client/trace.ts";
import type { Cache } from "../runner-kit/cache.ts";
import type { Message } from "../runner-kit/text.ts";
import type { Transport } from "../runner-kit/transport.ts";
import type { Outcome } from "./outcome.ts";
import type { RunLog } from "./report/log.ts";
import type { RerunEffect, RunResult } from "./result.ts";
import type { RunState } from "./run-state.ts";
import { apiUrl } from "./runner/environment.ts";
import type { GitHub } from "./runner/github.ts";
import type { Settings, Task } from "./settings.ts";
import type { StepKey } from "./step-key.ts";

/** What a run needs from outside. */
export interface RunPorts {
  clock: Clock;
  /** Returns a number in [0, 1). */
  random: () => number;
  environment: NodeJS.ProcessEnv;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** Returns the transport to the service; throws `NetworkError` if the proxy settings are invalid. */
  connect: (protocol: string) => Transport;
  /** Connects to the Actions cache; only called if the runner offers one. */
  connectCache: () => Promise<Cache>;
  /** Creates the client for GitHub; only called in comment mode, for a session and for changes. */
  connectGitHub: (token: string, apiUrl: string, onTrace: (trace: Trace) => void) => Promise<GitHub>;
}

/** A run of the step whose inputs are valid: what it was asked to do, what it works with, and what it knows so far. */
export interface Run {
  settings: Settings;
  ports: RunPorts;
  /** What authenticates the requests to the service. */
  credentials: Credentials;
  /** What the requests of the step are known by. */
  key: StepKey;
  state: RunState;
  log: RunLog;
  /** Sets the `job-id` output; called as soon as the id is known. */
  publishJobId: (jobId: string) => void;
}

/** How a run ended, as it is reported. */
export interface Ending {
  outcome: Outcome;
  message: Message;
  elapsedMs: number;
}

/** What a run did. */
export interface Execution {
  result: RunResult;
  /** What it sent or waited for, if it got that far. */
  task?: Task;
  /** Default: it repeats. */
  rerun?: RerunEffect;
  /** Comment mode: shows the result in the thread. */
  finish?: (ending: Ending) => Promise<void>;
}

/** Connects to the runner's GitHub. */
export function connectGitHub({ settings, ports, log }: Run): Promise<GitHub> {
  return ports.connectGitHub(settings.githubToken, apiUrl(ports.environment), (trace) => log.trace(trace));
}

/** Opens the connection for the create or message that follows soon. Never throws: errors show when that is sent. */
export function openConnection({ settings: { baseUrl }, ports }: Run): void {
  try {
    ports.connect(baseUrl.protocol).open?.(baseUrl);
  } catch {
    // Nor do the proxy settings have to be valid yet.
  }
}
