import { isGroupAlive, untilNoneIsLeft } from "./own-processes.js";
/** Signals every process of a group. Does nothing if the group is gone or its leader was never started. */
export function signalGroup(leader, signal) {
    if (leader === undefined)
        return;
    try {
        // A negative number addresses the group.
        process.kill(-leader, signal);
    }
    catch {
        // The group is gone.
    }
}
/** How long a killed group is waited for if it is unknown whether all of its processes have ended, and nobody reaps them. */
const longestEndMs = 1000;
/** Kills every process of a group, and waits until none is left: without Linux's `/proc`, not longer than a second. */
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
/**
 * Waits for the leader of a process group. Terminates the group at the time limit and when `signal` aborts.
 *
 * @throws if the process cannot be started
 */
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
