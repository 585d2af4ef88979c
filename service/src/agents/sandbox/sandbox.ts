import type { AgentCommand } from "../agent.ts";

/** What an agent may use in a sandbox besides the system's programs. Paths are absolute, and the same inside. */
export interface SandboxAccess {
  /** The current directory, inside. It is one of `writable`. */
  currentDirectory: string;
  writable: readonly string[];
  /** A directory that has another path inside, which is one of `writable`. Default: none. */
  moved?: { path: string; to: string } | undefined;
  /** Files and directories. Those that do not exist are left out. */
  readable: readonly string[];
  /** Whether it has the network of the machine. Otherwise it only has a loopback of its own. */
  hasNetwork: boolean;
  /** A writable directory that takes the place of `/tmp`. */
  temporary: string;
}

export interface SandboxedCommand extends AgentCommand {
  /** A file that it inherits as descriptor 3. Default: it has none above 2. */
  inherited?: string | undefined;
}

/** A way to run agents with less than the rights of the service. */
export interface Sandbox {
  /** Whether an agent in it reaches only its job's files, so that it needs no restrictions of its own. */
  isConfining: boolean;
  /**
   * Whether the program that `wrap` returns has one child, which is the first process of a PID namespace with all others: when it
   * ends, the kernel kills them. Default: no.
   */
  hasProcessNamespace?: boolean;
  /** Returns a command that runs `command` in the sandbox, with the environment it is started with itself. */
  wrap(command: AgentCommand, access: SandboxAccess): SandboxedCommand;
}

/** No sandbox: for programs that are trusted like the service itself. */
export const unconfined: Sandbox = { isConfining: false, wrap: (command) => command };

/** Through which a command in a sandbox is told to begin. */
export const gateDescriptor = 4;

/**
 * Returns a command that writes a line to its gate, and runs `command` when it reads one. If the gate is closed instead, it ends: a
 * supervisor that is killed starts no agent.
 */
export function behindGate({ file, args }: AgentCommand): AgentCommand {
  const script = `echo >&${gateDescriptor}; read -r _ <&${gateDescriptor} && exec "$@" 3<&- ${gateDescriptor}<&-`;
  return { file: "/bin/sh", args: ["-c", script, "sh", file, ...args] };
}
