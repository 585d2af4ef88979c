import { ownFile } from "../../own-file.ts";
import { findSecret } from "../../service-secrets.ts";
import type { Agent, AgentCommand } from "../agent.ts";
import { type ModelProxy, type ModelProxyOptions, type ModelUse, startModelProxy } from "./model-proxy.ts";
import type { NetworkKind } from "./network-kind.ts";
import { lookUpPublic } from "./public-address.ts";

/** What agents can reach, beyond their sandbox. */
export interface AgentNetwork extends AsyncDisposable {
  /** Whether agents have the network of the machine. Otherwise they only have a loopback of their own. */
  isShared: boolean;
  /** Variables that replace those in the environment of agents. */
  environment: Readonly<Record<string, string>>;
  /** Files and programs that `wrap` needs in a sandbox. */
  reads: readonly string[];
  programs: readonly string[];
  /** Returns a command that runs `command` with this network, inside a sandbox. */
  wrap(command: AgentCommand): AgentCommand;
  /** Returns this network for one run of an agent, which can be told what the run asks of its model. Default: nothing knows. */
  open?(): Promise<RunNetwork>;
}

/** The network of one run of an agent. */
export interface RunNetwork extends Pick<AgentNetwork, "reads" | "wrap">, AsyncDisposable {
  use: Readonly<ModelUse>;
}

/** What agents may do with the proxy to their model, and who is told of its answers. */
export type ProxyLimits = Pick<ModelProxyOptions, "maxConnections" | "allowsServerTools" | "onAnswer">;

/** Agents have the network of the machine. */
export const fullNetwork: AgentNetwork = {
  isShared: true,
  environment: {},
  reads: [],
  programs: [],
  wrap: (command) => command,
  [Symbol.asyncDispose]: async () => {},
};

/** Agents have a loopback of their own. They do not even learn of the proxies of the machine, whose addresses can have passwords. */
export const noNetwork: AgentNetwork = {
  ...fullNetwork,
  isShared: false,
  environment: inBothCases({ HTTP_PROXY: "", HTTPS_PROXY: "", ALL_PROXY: "" }),
};

/** On the loopback of the sandbox, which no other program of the machine uses. */
const port = 3128;

const forwarder = ownFile("agents/network/forwarder.ts");

/**
 * Creates the network of an agent.
 *
 * @param modelHosts - hosts that it may reach with `model`, besides its own
 * @param service - the environment of the service, with the key of the model
 * @throws if it is limited to its model, and that is unknown
 */
export async function createAgentNetwork(
  kind: NetworkKind,
  agent: Agent,
  modelHosts: readonly string[],
  service: NodeJS.ProcessEnv,
  log: (line: string) => void,
  limits: ProxyLimits = {},
): Promise<AgentNetwork> {
  if (kind === "full") return fullNetwork;
  if (kind === "none") return noNetwork;
  const { modelEndpoint: endpoint } = agent;
  const key = endpoint && findSecret(endpoint.keyVariable, service);
  const { keyVariable = "", secretVariables = [] } = endpoint ?? {};
  // Files are found once: later, one may have gone, and its last value is used.
  const others = new Map(secretVariables.map((name) => [name, findSecret(name, service)]));
  const hosts = [...agent.hosts, ...modelHosts];
  if (!key && hosts.length === 0)
    throw new Error("the model of this agent is unknown: name its host with --model-host");
  const secret = (name: string): string =>
    (name === keyVariable ? key : others.get(name))?.value ?? service[name]?.trim() ?? "";
  const model = endpoint && key ? { endpoint, secret } : undefined;
  const proxy = await startModelProxy({ model, hosts, ...limits, environment: service, log });
  return throughProxy(
    proxy,
    model && {
      [model.endpoint.baseUrlVariable]: proxyUrl + new URL(model.endpoint.url).pathname.replace(/\/$/, ""),
      ...Object.fromEntries(secretVariables.map((name) => [name, ""])),
      [keyVariable]: model.endpoint.dummyKey ?? "added-by-the-service",
      ...model.endpoint.environment,
    },
  );
}

/** The registries of npm, PyPI and RubyGems. */
const registries = [
  ...["registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org"],
  ...["rubygems.org", "index.rubygems.org"],
];

/**
 * Creates the network of `--setup`: the registries of packages and some other hosts, but no address of the machine or of a private
 * network, whatever their names resolve to.
 *
 * @param hosts - `host` or `host:port`
 * @param service - the environment of the service
 */
export async function createSetupNetwork(
  hosts: readonly string[],
  service: NodeJS.ProcessEnv,
  log: (line: string) => void,
  maxConnections?: number,
): Promise<AgentNetwork> {
  const options = {
    hosts: [...registries, ...hosts],
    resolve: lookUpPublic,
    environment: service,
    maxConnections,
    log,
  };
  return throughProxy(await startModelProxy(options));
}

const proxyUrl = `http://127.0.0.1:${port}`;

function throughProxy(proxy: ModelProxy, more: Readonly<Record<string, string>> = {}): AgentNetwork {
  const by = (socket: string): Pick<AgentNetwork, "reads" | "wrap"> => ({
    reads: [socket, forwarder],
    wrap: ({ file, args }) => ({ file: process.execPath, args: [forwarder, String(port), socket, file, ...args] }),
  });
  return {
    isShared: false,
    environment: {
      ...inBothCases({
        HTTP_PROXY: proxyUrl,
        HTTPS_PROXY: proxyUrl,
        ALL_PROXY: proxyUrl,
        NO_PROXY: "127.0.0.1,localhost",
      }),
      // Without it, Node ignores these variables.
      NODE_USE_ENV_PROXY: "1",
      ...more,
    },
    ...by(proxy.socket),
    programs: [process.execPath],
    open: async () => {
      const run = await proxy.open();
      return { ...by(run.socket), use: run.use, [Symbol.asyncDispose]: () => run[Symbol.asyncDispose]() };
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

/** Programs differ in which of both they read. */
function inBothCases(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => [
      [name, value],
      [name.toLowerCase(), value],
    ]),
  );
}
