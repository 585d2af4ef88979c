import type { AgentCommand } from "../agent.ts";
import { probe } from "./probe.ts";
import { type Sandbox, unconfined } from "./sandbox.ts";

const newProcessNamespace = ["--pid", "--mount-proc", "--fork", "--kill-child"];

/** In order of preference: root needs no user namespace. */
const variants = [newProcessNamespace, ["--user", "--map-current-user", ...newProcessNamespace]];

/** The shell is the first process of the namespace. When it ends, the kernel kills all others. */
function wrapWith(variant: readonly string[], { file, args }: AgentCommand): AgentCommand {
  return { file: "unshare", args: [...variant, "--", "/bin/sh", "-c", '"$@"; exit $?', "sh", file, ...args] };
}

/** Returns a sandbox that ends all processes with their turn if this machine allows it, and prevents nothing else. */
export async function createProcessNamespace(log: (line: string) => void): Promise<Sandbox> {
  log(
    "Agents run without a sandbox: they can do whatever the user of the service can, such as read its files and keys, push with its credentials, and change its programs.",
  );
  for (const variant of variants)
    if ((await probe(wrapWith(variant, { file: "true", args: [] }))) === undefined)
      return { isConfining: false, hasProcessNamespace: true, wrap: (command) => wrapWith(variant, command) };
  log(
    "This machine has no PID namespaces for the service, so a process outlives its turn if it leaves its process group and drops AGENT_RESULT_FILE from its environment.",
  );
  return unconfined;
}
