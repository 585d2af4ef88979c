import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentCommand } from "../agent.ts";
import { bubblewrap, createBubblewrap, explainBubblewrapError, type Hardening } from "./bubblewrap.ts";
import { probe } from "./probe.ts";
import { type Sandbox, unconfined } from "./sandbox.ts";
import { seccompFilter } from "./seccomp-filter.ts";

export const sandboxKinds = ["bwrap", "none"] as const;

export type SandboxKind = (typeof sandboxKinds)[number];

/** Writes the filter for system calls to the service's folder. Returns the file; `undefined` if this processor has none. */
function writeFilter(folder: string): string | undefined {
  const filter = seccompFilter(process.arch);
  const file = join(folder, "system-calls.bpf");
  if (filter === undefined) return undefined;
  // Removed first, because an agent without a sandbox may have put a link there.
  rmSync(file, { recursive: true, force: true });
  writeFileSync(file, filter, { mode: 0o600 });
  return file;
}

/**
 * Creates a sandbox, after a test run in it.
 *
 * @param folder - the service's
 * @param hasNetwork - whether agents will have the network of the machine
 * @throws if it cannot run on this machine, with what the operator can do as the message
 */
export async function createSandbox(
  kind: SandboxKind,
  folder: string,
  hasNetwork: boolean,
  log: (line: string) => void,
): Promise<Sandbox> {
  if (kind === "none") return createProcessNamespace(log);
  const directory = join(folder, "sandbox-test");
  mkdirSync(directory, { recursive: true });
  try {
    const access = {
      currentDirectory: directory,
      writable: [directory],
      readable: [],
      hasNetwork,
      temporary: directory,
    };
    // An empty file, so that a full disk is not taken for a sandbox that cannot be created.
    const test = (sandbox: Sandbox) => probe(sandbox.wrap({ file: "/bin/sh", args: ["-c", ": > written"] }, access));
    const isPossible = async (hardening: Hardening) => (await test(createBubblewrap(hardening))) === undefined;
    const filter = writeFilter(folder);
    const all = { filter, hasNoUserNamespaces: true };
    if (filter !== undefined && (await isPossible(all))) return createBubblewrap(all);
    const error = await test(bubblewrap);
    if (error !== undefined) throw new Error(explainBubblewrapError(error));
    const some = {
      filter: filter !== undefined && (await isPossible({ filter })) ? filter : undefined,
      hasNoUserNamespaces: await isPossible({ hasNoUserNamespaces: true }),
    };
    if (some.filter === undefined)
      log(
        "No filter for system calls is possible here, so agents reach the kernel's keyrings and the host of a virtual machine (vsock). It requires x86-64 or arm64, and seccomp.",
      );
    if (some.filter === undefined && !some.hasNoUserNamespaces)
      log("Agents can create user namespaces, because this bubblewrap cannot prevent it: it requires version 0.8.");
    return createBubblewrap(some);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const newProcessNamespace = ["--pid", "--mount-proc", "--fork", "--kill-child"];

/** In order of preference: root needs no user namespace. */
const variants = [newProcessNamespace, ["--user", "--map-current-user", ...newProcessNamespace]];

/** The shell is the first process of the namespace. When it ends, the kernel kills all others. */
function wrapWith(variant: readonly string[], { file, args }: AgentCommand): AgentCommand {
  return { file: "unshare", args: [...variant, "--", "/bin/sh", "-c", '"$@"; exit $?', "sh", file, ...args] };
}

/** Returns a sandbox that ends all processes with their turn if this machine allows it, and prevents nothing else. */
async function createProcessNamespace(log: (line: string) => void): Promise<Sandbox> {
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
