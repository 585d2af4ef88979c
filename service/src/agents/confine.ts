import type { PerProject } from "../per-project.ts";
import type { Agent } from "./agent.ts";
import {
  type AgentNetwork,
  createAgentNetwork,
  createSetupNetwork,
  fullNetwork,
  noNetwork,
} from "./network/agent-network.ts";
import type { NetworkKind } from "./network/network-kind.ts";
import { defaultMaxProxyConnections } from "./network/proxy-connections.ts";
import { createSandbox, type SandboxKind } from "./sandbox/create-sandbox.ts";
import { type Sandbox, unconfined } from "./sandbox/sandbox.ts";
import { unpackAgent } from "./unpack.ts";

/** What is run for a project before and after its agents. */
export interface CommandSettings {
  setup: string | undefined;
  check: string | undefined;
  /** Hosts that `setup` may reach besides the registries of packages, as `host` or `host:port`. */
  setupHosts: readonly string[];
  /** Files that both may read in their sandbox, besides their programs. */
  reads: readonly string[];
}

/** The same, with a network. */
export interface ConfinedCommands extends Omit<CommandSettings, "setupHosts"> {
  setupNetwork: AgentNetwork;
}

/** What the agents of a project are to run in. */
export interface Confinement {
  agent: Agent;
  /** Undefined: none, because the agent is trusted. */
  sandbox: SandboxKind | undefined;
  network: NetworkKind;
  modelHosts: readonly string[];
  /** Whether the provider's machines may fetch and run things for agents if their network is `model`. Default: no. */
  allowsServerTools?: boolean | undefined;
  /** Default: nothing. */
  commands?: CommandSettings | undefined;
}

/** Settings of projects, with what their agents run in. */
export interface ConfinedProjects<Settings extends Confinement> extends AsyncDisposable {
  settings: PerProject<Confined<Settings>>;
}

type Confined<Settings extends Confinement> = Omit<Settings, keyof Confinement> & {
  agent: Agent;
  sandbox: Sandbox;
  network: AgentNetwork;
  commands?: ConfinedCommands | undefined;
};

/**
 * Creates the sandbox and the network of each project's agents.
 *
 * @param folder - the service's
 * @param environment - of the service, with the keys of models
 * @param onModelAnswer - receives the status of each answer of a model through a proxy, and the variable of its key
 * @throws if one cannot be created, or an agent cannot be unpacked, with what the operator can do as the message
 */
export async function confineAgents<Settings extends Confinement>(
  settings: PerProject<Settings>,
  folder: string,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
  onModelAnswer?: (status: number, key: string) => void,
): Promise<ConfinedProjects<Settings>> {
  const sandboxes = new Map<string, Sandbox>([["", unconfined]]);
  const networks = new AsyncDisposableStack();
  const proxies = settings.values.reduce(
    (sum, { network, commands }) => sum + Number(network === "model") + Number(commands?.setup !== undefined),
    0,
  );
  const maxConnections = defaultMaxProxyConnections(proxies);
  try {
    const confined = await settings.mapInOrder(async (project) => {
      const {
        agent: packed,
        sandbox: kind,
        network: networkKind,
        modelHosts,
        allowsServerTools,
        commands,
        ...rest
      } = project;
      const hasNetwork = networkKind === "full";
      const key = kind === undefined ? "" : `${kind} ${hasNetwork}`;
      const onAnswer = (status: number) => onModelAnswer?.(status, packed.modelEndpoint?.keyVariable ?? "");
      const limits = { maxConnections, allowsServerTools, onAnswer };
      const sandbox = sandboxes.get(key) ?? (await createSandbox(kind ?? "none", folder, hasNetwork, log));
      sandboxes.set(key, sandbox);
      const agent = await unpackAgent(packed, folder, sandbox, environment);
      const network = await createAgentNetwork(networkKind, agent, modelHosts, environment, log, limits);
      networks.use(network);
      if (commands === undefined) return { ...rest, agent, sandbox, network };
      const { setup, setupHosts } = commands;
      const setupNetwork =
        setup === undefined ? noNetwork : await createSetupNetwork(setupHosts, environment, log, maxConnections);
      networks.use(setupNetwork);
      return { ...rest, agent, sandbox, network, commands: { ...commands, setupNetwork } };
    });
    return { settings: confined, [Symbol.asyncDispose]: () => networks.disposeAsync() };
  } catch (error) {
    await networks.disposeAsync();
    throw error;
  }
}

/** Returns the settings for a process that runs no agents. */
export function withoutAgents<Settings extends Confinement>(
  settings: PerProject<Settings>,
): ConfinedProjects<Settings> {
  return {
    settings: settings.map((project) => ({
      ...project,
      sandbox: unconfined,
      network: fullNetwork,
      commands: undefined,
    })),
    [Symbol.asyncDispose]: async () => {},
  };
}
