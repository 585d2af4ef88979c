import { type AgentJobClient, createClient } from "../client/client.ts";
import { isMintlify } from "./mintlify.ts";
import type { Run } from "./run.ts";

/** Connects to the service of a run. Only a service that is not the default one is asked what it offers. */
export function connectService({ settings, ports, credentials, log }: Run): AgentJobClient {
  const { baseUrl, projectId } = settings;
  const { clock, random } = ports;
  return createClient(
    { baseUrl, projectId, credentials, canBeAsked: !isMintlify(baseUrl) },
    { transport: ports.connect(baseUrl.protocol), clock, random, onTrace: (trace) => log.trace(trace) },
  );
}
