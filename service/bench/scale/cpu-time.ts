import { readdirSync, readFileSync } from "node:fs";

/** Returns the CPU time of a process and of its descendants, also of those that have ended, in milliseconds. Linux only. */
export function cpuTimeMs(pid: number): number {
  const processes = new Map<number, { parent: number; ticks: number }>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const fields = readStat(name);
    if (fields === undefined) continue;
    const [parent = 0] = fields.slice(1);
    // Of itself, and of its children that have ended and were waited for.
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
    processes.set(Number(name), { parent, ticks });
  }
  const isDescendant = (one: number): boolean =>
    one === pid || (processes.has(one) && isDescendant(processes.get(one)?.parent ?? 0));
  let ticks = 0;
  for (const [one, own] of processes) if (isDescendant(one)) ticks += own.ticks;
  // The kernel counts in ticks of 10 ms.
  return ticks * 10;
}

/** Returns the fields after the name of the process, of which the first is its state; `undefined` if it has ended. */
function readStat(name: string): number[] | undefined {
  try {
    return readFileSync(`/proc/${name}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
  } catch {
    return undefined;
  }
}
