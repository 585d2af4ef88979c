import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bubblewrap, createBubblewrap, explainBubblewrapError, type Hardening } from "./bubblewrap.ts";
import { createProcessNamespace } from "./none.ts";
import { probe } from "./probe.ts";
import type { Sandbox } from "./sandbox.ts";
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
