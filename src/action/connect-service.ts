import { type AgentJobClient, createClient } from "../client/client.ts";
import { isMintlify } from "./mintlify.ts";
import type { Run } from "./run.ts";

/** Connects to the service of a run. Only a service that is not the default one is asked what it offers. */
export function connectService(run: Run): AgentJobClient {
  const { settings, ports, credentials, log } = run;
  const { baseUrl, projectId } = settings;
  const { clock, random } = ports;
  return createClient(
    { baseUrl, projectId, credentials, canBeAsked: canBeAsked(run) },
    { transport: ports.connect(baseUrl.protocol), clock, random, onTrace: (trace) => log.trace(trace) },
  );
}

/** Returns whether the service is asked what was sent under a step. */
export function canBeAsked({ settings }: Pick<Run, "settings">): boolean {
  return !isMintlify(settings.baseUrl);
}
