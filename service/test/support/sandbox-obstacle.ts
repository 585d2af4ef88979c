import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox, type SandboxKind } from "../../src/agents/sandbox/create-sandbox.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import { errorMessage } from "../../src/error-message.ts";
import { skipFor } from "./skip-for.ts";

/**
 * Returns why a sandbox cannot run on this machine, if it cannot.
 *
 * @throws if tests must not be skipped for that
 */
export async function findObstacle(kind: SandboxKind): Promise<string | undefined> {
  return skipFor(await obstacleTo(kind));
}

async function obstacleTo(kind: SandboxKind): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "agent-job-test-"));
  try {
    const sandbox = await createSandbox(kind, folder, false, () => {});
    return sandbox === unconfined ? "no PID namespaces" : undefined;
  } catch (error) {
    return errorMessage(error);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
