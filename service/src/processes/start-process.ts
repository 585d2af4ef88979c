import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { isResourceExhausted, ResourceExhausted } from "./resource-exhausted.ts";

/**
 * Starts a child process. Without this, an error of `spawn` would end the whole service unless a listener is added at once,
 * and a child that was not started has no stdio.
 *
 * @param spawn - calls `spawn` or `fork`
 * @throws ResourceExhausted if the machine cannot start a process now, otherwise the error of `spawn`
 */
export async function startProcess<Child extends ChildProcess>(spawn: () => Child): Promise<Child> {
  try {
    const child = spawn();
    if (child.pid !== undefined) return child;
    const [error] = await once(child, "error");
    throw error;
  } catch (error) {
    if (!isResourceExhausted(error)) throw error;
    throw new ResourceExhausted(`no process can be started now: ${error.message}`);
  }
}
