import { once } from "node:events";
import { isResourceExhausted, ResourceExhausted } from "./resource-exhausted.js";
const missingCodes = ["ENOENT", "EACCES", "ETXTBSY"];
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
