import { type AgentJobClient, createClient } from "../client/client.ts";
import type { Clock } from "../client/clock.ts";
import type { Credentials } from "../client/credentials.ts";
import type { TraceListener } from "../client/trace.ts";
import type { Cache } from "../runner-kit/cache.ts";
import type { Transport } from "../runner-kit/transport.ts";
import { isMintlify } from "./mintlify.ts";
import type { OwnAgent } from "./own-agent.ts";
import type { RunLog } from "./report/log.ts";
import type { Ending, RerunEffect, RunResult } from "./result.ts";
import type { RunState } from "./run-state.ts";
import { ownRepository, userAgent } from "./runner/environment.ts";
import type { GitHub } from "./runner/github.ts";
import { type ReadingLimits, type RepositoryReader, readerOf } from "./runner/read-repository.ts";
import type { Settings, Task } from "./settings.ts";
import type { StepKey } from "./step-key.ts";

export interface RunPorts {
  clock: Clock;
  /** Returns a number in [0, 1). */
  random: () => number;
  environment: NodeJS.ProcessEnv;
  /** Aborts when the step is cancelled. */
  signal: AbortSignal;
  /** Returns the transport to the service; throws `NetworkError` if the proxy settings are invalid. */
  connect: (protocol: string) => Transport;
  /** The agent that runs with the step, if one does: `connect` leads to its service. */
  agent?: OwnAgent | undefined;
  /** Connects to the Actions cache; only called if the runner offers one. */
  connectCache: () => Promise<Cache>;
  /** Creates the client for GitHub; only called in comment mode, for a session and for changes. */
  connectGitHub: (token: string, apiUrl: string, onTrace: TraceListener) => Promise<GitHub>;
}

/** A run of the step whose inputs are valid: what it was asked to do, what it works with, and what it knows so far. */
export interface Run {
  settings: Settings;
  ports: RunPorts;
  credentials: Credentials;
  key: StepKey;
  state: RunState;
  log: RunLog;
  /** Sets the `job-id` output; called as soon as the id is known. */
  publishJobId: (jobId: string) => void;
}

export interface Execution {
  result: RunResult;
  /** What it sent or waited for, if it got that far. */
  task?: Task;
  /** Default: it repeats. */
  rerun?: RerunEffect;
  /** Comment mode: shows the result in the thread. */
  finish?: (ending: Ending) => Promise<void>;
}

/** Connects to the service of a run. Only a service that is not the default one is asked what it offers. */
export function connectService(run: Run): AgentJobClient {
  const { settings, ports, credentials, log } = run;
  const { baseUrl, projectId } = settings;
  const { clock, random } = ports;
  return createClient(
    {
      baseUrl,
      projectId,
      credentials,
      userAgent: userAgent(ports.environment),
      canBeAsked: canBeAsked(run),
      asked: run.state.asked,
    },
    { transport: ports.connect(baseUrl.protocol), clock, random, onTrace: (line) => log.debug(line) },
  );
}

/** Returns whether the service is asked what was sent under a step. */
export function canBeAsked({ settings }: Pick<Run, "settings">): boolean {
  return !isMintlify(settings.baseUrl);
}

/** Connects to the runner's GitHub. @param token - default: the one for the workflow's repository */
export function connectGitHub({ settings, ports, log }: Run, token = settings.githubToken): Promise<GitHub> {
  const apiUrl = ports.environment.GITHUB_API_URL || "https://api.github.com";
  return ports.connectGitHub(token, apiUrl, (line) => log.debug(line));
}

/** Connects to the run's own repository on GitHub, to read it. @param token - default: the one for the workflow's repository */
export async function connectRepository(
  run: Run,
  limits: ReadingLimits = {},
  token?: string,
): Promise<RepositoryReader> {
  return readerOf(await connectGitHub(run, token), ownRepository(run.ports.environment), run.ports, limits);
}

/** Connects to the repository of a job's pull request, which may be another one. */
export async function connectRepositoryOfJob(
  run: Run,
  place: { owner: string; repo: string },
  limits: ReadingLimits = {},
): Promise<RepositoryReader> {
  return readerOf(await connectGitHub(run, run.settings.agent?.githubToken), place, run.ports, limits);
}
