import type { Trace } from "../client/trace.ts";
import type { Cache } from "../runner-kit/cache.ts";
import { findChanges } from "./changes/find-changes.ts";
import type { ChangesQuery } from "./changes/read-changes.ts";
import type { Settings } from "./inputs/schema.ts";
import type { RunLog } from "./report/log.ts";
import type { RunResult } from "./result.ts";
import type { JobPorts } from "./run-job.ts";
import type { RunState } from "./run-state.ts";
import { apiUrl, type Environment, serverUrl } from "./runner/environment.ts";
import { readEventFile } from "./runner/event-file.ts";
import type { GitHub } from "./runner/github.ts";

/** What both modes need from outside. */
export interface ModePorts extends JobPorts {
  environment: Environment;
  /** Connects to the Actions cache; only called if the runner offers one. */
  connectCache: () => Cache;
  /** Creates the client for GitHub; only called in comment mode, for a session and for changes. */
  connectGitHub: (token: string, apiUrl: string, onTrace: (trace: Trace) => void) => Promise<GitHub>;
}

/** Connects to the runner's GitHub. */
export function connect(token: string, { connectGitHub, environment }: ModePorts, log: RunLog): Promise<GitHub> {
  return connectGitHub(token, apiUrl(environment), (trace) => log.trace(trace));
}

/** Returns the section of the prompt that says what changed; empty without `changes`. Otherwise returns why nothing is sent. */
export async function findSection(
  settings: Settings,
  remembered: Pick<ChangesQuery, "lastCommit" | "ownPullRequests">,
  ports: ModePorts,
  state: RunState,
  log: RunLog,
): Promise<{ section: string } | RunResult> {
  const { environment, clock, signal } = ports;
  const { changes } = settings;
  if (!changes) return { section: "" };
  return findChanges(
    changes,
    {
      ...remembered,
      event: {
        name: environment.GITHUB_EVENT_NAME ?? "",
        readPayload: () => readEventFile(environment.GITHUB_EVENT_PATH ?? ""),
        sha: environment.GITHUB_SHA ?? "",
      },
      repository: environment.GITHUB_REPOSITORY ?? "",
      serverUrl: serverUrl(environment),
    },
    {
      clock,
      signal,
      connectGitHub: () => connect(settings.githubToken, ports, log),
      onEvent: (event) => log.changes(event),
    },
    state,
  );
}
