import { thisMachine } from "../machine.js";
const codes = ["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "ENOSPC", "EDQUOT"];
const messages = /couldn't write '|Out of diskspace|failed to write new configuration file|No space left on device|Disk quota exceeded|Too many open files|Cannot allocate memory|[Oo]ut of memory|cannot fork|unable to (?:fork|create threaded)|fork: (?:retry: )?Resource temporarily unavailable/;
const lowSpaceBytes = 100_000_000;
const exhaustedSignals = ["SIGKILL", "SIGBUS", "SIGTERM", "SIGXFSZ"];
const childSignals = /died of signal (?:7|9|15|25)\b|^(?:remote: )?(?:\S+: (?:line )?\d+: +\d+ )?Killed\b/m;
export async function failedForLack({ signal, stderr, folder }, freeBytes = thisMachine.freeBytes) {
    if (exhaustedSignals.includes(signal) || childSignals.test(stderr) || saysResourceExhausted(stderr))
        return true;
    return (await freeBytes(folder).catch(() => lowSpaceBytes)) < lowSpaceBytes;
}
export class ResourceExhausted extends Error {
}
export function isResourceExhausted(error) {
    if (error instanceof ResourceExhausted)
        return true;
    return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
export function saysResourceExhausted(output) {
    return messages.test(output);
}
