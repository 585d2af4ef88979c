import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

/** What one job may use. Undefined: unlimited. */
export interface Limits {
  /** Memory of all its processes together, without files that are mapped into memory. */
  memoryMb?: number | undefined;
  /** At a time, with a few of the sandbox. */
  processes?: number | undefined;
  /** Size of its directory, including the worktree and the home. */
  diskMb?: number | undefined;
}

/** What people are told of the memory limit if the kernel does not enforce it. */
export const readMemoryNote =
  "The memory of agents is read about every second, which does not see files in memory (memfd), System V segments and the memory " +
  "of threads in the kernel.";

export interface ExceededLimit {
  kind: "memory-limit" | "process-limit" | "disk-limit";
  /** What the job has: `more than 100 MB of memory`. */
  what: string;
}

const intervalMs = 1000;

/** A check may take this part of the time. Reading the size of many files takes long. */
const checkingRatio = 1 / 20;

/**
 * Checks regularly whether the descendants of a process are within their limits. Only on Linux.
 *
 * @param onExceeded - called once, with what is exceeded
 * @param signal - ends the checks
 */
export async function watchLimits(
  leader: number,
  directories: readonly string[],
  limits: Limits,
  onExceeded: (exceeded: ExceededLimit) => void,
  signal: AbortSignal,
): Promise<void> {
  const check = async (): Promise<ExceededLimit | undefined> =>
    (await exceededByProcesses(leader, limits)) ?? (await exceededByFiles(directories, limits, signal));
  while (!signal.aborted && Object.values(limits).some((limit) => limit !== undefined)) {
    const start = performance.now();
    // Processes and files come and go while they are read.
    const exceeded = await check().catch(() => undefined);
    if (signal.aborted) return;
    if (exceeded !== undefined) {
      onExceeded(exceeded);
      return;
    }
    const pause = Math.max(intervalMs, (performance.now() - start) / checkingRatio);
    await setTimeout(pause, undefined, { signal }).catch(() => {});
  }
}

async function exceededByProcesses(
  leader: number,
  { memoryMb, processes }: Limits,
): Promise<ExceededLimit | undefined> {
  if (memoryMb === undefined && processes === undefined) return undefined;
  const all = await readProcesses();
  const descendants = new Set([leader]);
  // Children usually have a greater id than their parent, but ids start over.
  for (let size = 0; size < descendants.size; ) {
    size = descendants.size;
    for (const { id, parent } of all) if (descendants.has(parent)) descendants.add(id);
  }
  descendants.delete(leader);
  if (descendants.size > (processes ?? Number.POSITIVE_INFINITY))
    return { kind: "process-limit", what: `more than ${processes} processes` };
  const usedKb = all.reduce((sum, { id, memoryKb }) => sum + (descendants.has(id) ? memoryKb : 0), 0);
  return usedKb / 1024 > (memoryMb ?? Number.POSITIVE_INFINITY)
    ? { kind: "memory-limit", what: `more than ${memoryMb} MB of memory` }
    : undefined;
}

async function readProcesses(): Promise<{ id: number; parent: number; memoryKb: number }[]> {
  const ids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  return Promise.all(
    ids.map(async (id) => {
      const status = await readFile(`/proc/${id}/status`, "latin1").catch(() => "");
      const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
      return { id, parent: read("PPid"), memoryKb: read("RssAnon") + read("RssShmem") };
    }),
  );
}

async function exceededByFiles(
  directories: readonly string[],
  { diskMb }: Limits,
  signal: AbortSignal,
): Promise<ExceededLimit | undefined> {
  if (diskMb === undefined) return undefined;
  // It exits with 1 if a file was removed meanwhile, and still prints the sizes.
  const run = promisify(execFile)("du", ["-sk", "--", ...directories], { signal, timeout: 60_000 });
  const { stdout } = await run.catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }));
  const usedKb = [...stdout.matchAll(/^\d+/gm)].reduce((sum, [size]) => sum + Number(size), 0);
  return usedKb > diskMb * 1024 ? { kind: "disk-limit", what: `more than ${diskMb} MB of disk` } : undefined;
}
