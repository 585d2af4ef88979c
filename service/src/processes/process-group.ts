import type { ChildProcess } from "node:child_process";
import { isGroupAlive, untilNoneIsLeft } from "./own-processes.ts";

/** Signals every process of a group. Does nothing if the group is gone or its leader was never started. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    // A negative number addresses the group.
    process.kill(-leader, signal);
  } catch {
    // The group is gone.
  }
}

/** How long a killed group is waited for if it is unknown whether all of its processes have ended, and nobody reaps them. */
const longestEndMs = 1000;

/** Kills every process of a group, and waits until none is left: without Linux's `/proc`, not longer than a second. */
export async function killGroup(leader: number | undefined): Promise<void> {
  if (leader === undefined) return;
  const killAll = (): boolean => {
    signalGroup(leader, "SIGKILL");
    return hasProcesses(leader);
  };
  await untilNoneIsLeft(killAll, process.platform === "linux" ? undefined : longestEndMs);
}

function hasProcesses(leader: number): boolean {
  try {
    process.kill(-leader, 0);
  } catch {
    return false;
  }
  return process.platform !== "linux" || isGroupAlive(leader);
}

export interface WaitOptions {
  /** `exit` of the leader, or `close`: its stdio is closed as well, so all output was read. */
  until: "exit" | "close";
  timeLimitMs: number;
  signal?: AbortSignal | undefined;
  /** How long the leader has between SIGTERM and the SIGKILL to its group. Default: 0, which sends no SIGTERM. */
  graceMs?: number;
}

export interface Exit {
  /** `null` if a signal killed the leader. */
  exitCode: number | null;
  /** Why the group was terminated, if it was. */
  terminated: "timed-out" | "aborted" | undefined;
}

/**
 * Waits for the leader of a process group. Terminates the group at the time limit and when `signal` aborts.
 *
 * @throws if the process cannot be started
 */
export async function waitForExit(leader: ChildProcess, options: WaitOptions): Promise<Exit> {
  const { until, timeLimitMs, signal, graceMs = 0 } = options;
  let terminated: Exit["terminated"];
  let killTimer: NodeJS.Timeout | undefined;
  const terminate = (reason: "timed-out" | "aborted"): void => {
    terminated ??= reason;
    if (graceMs === 0) {
      signalGroup(leader.pid, "SIGKILL");
      return;
    }
    leader.kill("SIGTERM");
    killTimer ??= setTimeout(() => signalGroup(leader.pid, "SIGKILL"), graceMs);
  };
  const onAbort = (): void => terminate("aborted");
  const timer = setTimeout(() => terminate("timed-out"), timeLimitMs);
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      leader.on("error", reject);
      leader.on(until, resolve);
    });
    return { exitCode, terminated };
  } finally {
    clearTimeout(timer);
    clearTimeout(killTimer);
    signal?.removeEventListener("abort", onAbort);
  }
}
