import { isGroupAlive, untilNoneIsLeft } from "./own-processes.js";
export function signalGroup(leader, signal) {
    if (leader === undefined)
        return;
    try {
        process.kill(-leader, signal);
    }
    catch {
    }
}
const longestEndMs = 1000;
export async function killGroup(leader) {
    if (leader === undefined)
        return;
    const killAll = () => {
        signalGroup(leader, "SIGKILL");
        return hasProcesses(leader);
    };
    await untilNoneIsLeft(killAll, process.platform === "linux" ? undefined : longestEndMs);
}
function hasProcesses(leader) {
    try {
        process.kill(-leader, 0);
    }
    catch {
        return false;
    }
    return process.platform !== "linux" || isGroupAlive(leader);
}
export async function waitForExit(leader, options) {
    const { until, timeLimitMs, signal, graceMs = 0 } = options;
    let terminated;
    let killTimer;
    const terminate = (reason) => {
        terminated ??= reason;
        if (graceMs === 0) {
            signalGroup(leader.pid, "SIGKILL");
            return;
        }
        leader.kill("SIGTERM");
        killTimer ??= setTimeout(() => signalGroup(leader.pid, "SIGKILL"), graceMs);
    };
    const onAbort = () => terminate("aborted");
    const timer = setTimeout(() => terminate("timed-out"), timeLimitMs);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted)
        onAbort();
    try {
        const exitCode = await new Promise((resolve, reject) => {
            leader.on("error", reject);
            leader.on(until, resolve);
        });
        return { exitCode, terminated };
    }
    finally {
        clearTimeout(timer);
        clearTimeout(killTimer);
        signal?.removeEventListener("abort", onAbort);
    }
}
