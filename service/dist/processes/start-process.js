import { once } from "node:events";
import { isResourceExhausted, ResourceExhausted } from "./resource-exhausted.js";
/** The program is not there, or is being written: it is being updated, or was removed. */
const missingCodes = ["ENOENT", "EACCES", "ETXTBSY"];
/**
 * Starts a child process. Without this, an error of `spawn` would end the whole service unless a listener is added at once,
 * and a child that was not started has no stdio.
 *
 * @param spawn - calls `spawn` or `fork`
 * @param isOwn - whether the service needs the program itself, such as Git. Without it, nothing can succeed until it is back
 * @throws ResourceExhausted if the machine cannot start a process now, or lacks a program of the service's own; otherwise the
 *   error of `spawn`
 */
export async function startProcess(spawn, isOwn = true) {
    try {
        const child = spawn();
        if (child.pid !== undefined)
            return child;
        const [error] = await once(child, "error");
        throw error;
    }
    catch (error) {
        if (!isResourceExhausted(error) && !(isOwn && isMissing(error)))
            throw error;
        throw new ResourceExhausted(`no process can be started now: ${error.message}`);
    }
}
function isMissing(error) {
    return error instanceof Error && "code" in error && missingCodes.includes(String(error.code));
}
