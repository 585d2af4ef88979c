import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bubblewrap, explainBubblewrapError } from "./bubblewrap.ts";
import { createProcessNamespace } from "./none.ts";
import { probe } from "./probe.ts";
import type { Sandbox } from "./sandbox.ts";

export const sandboxKinds = ["bwrap", "none"] as const;

export type SandboxKind = (typeof sandboxKinds)[number];

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
    const error = await probe(bubblewrap.wrap({ file: "/bin/sh", args: ["-c", ": > written"] }, access));
    if (error !== undefined) throw new Error(explainBubblewrapError(error));
    return bubblewrap;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
