import type { ProjectSettings } from "../options/project-settings.ts";
import type { PerProject } from "../per-project.ts";
import { type AgentNetwork, createAgentNetwork, fullNetwork } from "./network/agent-network.ts";
import { createSandbox } from "./sandbox/create-sandbox.ts";
import { type Sandbox, unconfined } from "./sandbox/sandbox.ts";

/** Settings of projects, with what their agents run in. */
export interface ConfinedProjects extends AsyncDisposable {
  settings: PerProject<Confined>;
}

interface Confined extends Omit<ProjectSettings, "sandbox" | "network" | "modelHosts"> {
  sandbox: Sandbox;
  network: AgentNetwork;
}

/**
 * Creates the sandbox and the network of each project's agents.
 *
 * @param folder - the service's
 * @param environment - of the service, with the keys of models
 * @throws if one cannot be created, with what the operator can do as the message
 */
export async function confineAgents(
  settings: PerProject<ProjectSettings>,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): Promise<ConfinedProjects> {
  const sandboxes = new Map<string, Sandbox>([["", unconfined]]);
  const networks = new AsyncDisposableStack();
  try {
    const confined = await settings.mapInOrder(async ({ sandbox: kind, network: networkKind, modelHosts, ...rest }) => {
      const hasNetwork = networkKind === "full";
      const key = kind === undefined ? "" : `${kind} ${hasNetwork}`;
      const sandbox = sandboxes.get(key) ?? (await createSandbox(kind ?? "none", folder, hasNetwork, log));
      sandboxes.set(key, sandbox);
      const network = await createAgentNetwork(networkKind, rest.agent, modelHosts, environment, log);
      return { ...rest, sandbox, network: networks.use(network) };
    });
    return { settings: confined, [Symbol.asyncDispose]: () => networks.disposeAsync() };
  } catch (error) {
    await networks.disposeAsync();
    throw error;
  }
}

/** Returns the settings for a process that runs no agents. */
export function withoutAgents(settings: PerProject<ProjectSettings>): ConfinedProjects {
  return {
    settings: settings.map((project) => ({ ...project, sandbox: unconfined, network: fullNetwork })),
    [Symbol.asyncDispose]: async () => {},
  };
}
