import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { isResourceExhausted } from "./resource-exhausted.ts";

// Finds and kills processes that are not children of this one, in Linux's /proc. Elsewhere, none are found.

/** A process, told apart from a later one with the same id. */
export interface ProcessIdentity {
  id: number;
  /** Its boot of the machine, and its start in clock ticks since. */
  start: string;
}

const pauseMs = 2;
/** On all of Linux's platforms, a program sees 100 ticks a second. */
const msPerTick = 10;

let boot: string | undefined;

/** Returns a process by its id; `undefined` if it has ended, even if nobody has waited for it yet. */
export function identify(id: number): ProcessIdentity | undefined {
  const { start, hasEnded } = readStat(id) ?? {};
  if (start === undefined || hasEnded) return undefined;
  boot ??= read("/proc/sys/kernel/random/boot_id").trim();
  return { id, start: `${boot} ${start}` };
}

/** Returns the only child of a process; `undefined` if it has none. */
export function childOf(parent: number): ProcessIdentity | undefined {
  // Not every kernel lists them.
  const listed = Number(read(`/proc/${parent}/task/${parent}/children`));
  const child = listed > 0 ? listed : processIds().find((id) => readStat(id)?.parent === parent);
  return child === undefined ? undefined : identify(child);
}

/** Returns whether a process group has a process that has not ended. */
export function isGroupAlive(leader: number): boolean {
  return processIds().some((id) => {
    const { group, hasEnded } = readStat(id) ?? {};
    return group === leader && !hasEnded;
  });
}

/** What the processes of a group have read and written in bytes, and computed. */
export interface GroupUse {
  bytes: number;
  cpuMs: number;
}

/** Returns how much the processes of a group have used that have not ended; `undefined` if that is unknown. */
export function readGroupUse(leader: number): GroupUse | undefined {
  const stats = orNothing(() => processIds().map((id) => ({ id, ...readStat(id) })), []);
  const own = stats.filter(({ group, hasEnded }) => group === leader && !hasEnded);
  const counts = own.map(({ id }) => read(`/proc/${id}/io`).match(/^[rw]char: (\d+)/gm) ?? []);
  if (counts.length === 0 || counts.some((lines) => lines.length === 0)) return undefined;
  const bytes = counts.flat().reduce((sum, line) => sum + Number(line.slice("rchar: ".length)), 0);
  return { bytes, cpuMs: own.reduce((sum, { ticks = 0 }) => sum + ticks * msPerTick, 0) };
}

/** Kills a process and, if it is the leader of a group, the group, and waits until it has ended. Never kills another one that has its id now. */
export async function killProcess({ id, start }: ProcessIdentity): Promise<void> {
  await untilNoneIsLeft(() => {
    if (identify(id)?.start !== start) return false;
    kill(-id);
    kill(id);
    return true;
  });
}

/**
 * Kills all processes that have one of the given variables, as `NAME=value`, in the environment that they were started with, and
 * waits until none is left. Those that this process may not kill are left alone.
 */
export async function killWithVariable(variables: readonly string[]): Promise<void> {
  const hasOne = (id: number): boolean => {
    const environment = read(`/proc/${id}/environ`).split("\0");
    return id !== process.pid && variables.some((variable) => environment.includes(variable));
  };
  await untilNoneIsLeft(() => processIds().filter((id) => hasOne(id) && kill(id)).length > 0);
}

/**
 * Kills until nothing is left.
 *
 * @param killAll - returns whether there was something to kill
 * @param maxMs - how long. Default: however long it takes, because what waits for a disk or a network ends late
 */
export async function untilNoneIsLeft(killAll: () => boolean, maxMs = Number.POSITIVE_INFINITY): Promise<void> {
  for (let waitedMs = 0; waitedMs <= maxMs; waitedMs += pauseMs) {
    try {
      if (!killAll()) return;
    } catch (error) {
      // Without a free descriptor, it is unknown what is left.
      if (!isResourceExhausted(error)) throw error;
    }
    await pause(pauseMs);
  }
}

/** Returns whether there was a process, or a group with a negative number, to kill. */
function kill(id: number): boolean {
  try {
    return process.kill(id, "SIGKILL");
  } catch {
    return false;
  }
}

const processIds = (): number[] =>
  orNothing(() => readdirSync("/proc"), [])
    .map(Number)
    .filter(Number.isInteger);

interface Stat {
  parent: number;
  group: number;
  start: string;
  /** Ticks of the processor's clock. */
  ticks: number;
  /** Whether it is a zombie, for which nobody has waited yet. */
  hasEnded: boolean;
}

function readStat(id: number): Stat | undefined {
  // The name before the last parenthesis may contain anything.
  const fields = read(`/proc/${id}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  const [state = "", parent, group] = fields;
  const start = fields[19];
  return start === undefined
    ? undefined
    : {
        parent: Number(parent),
        group: Number(group),
        start,
        ticks: Number(fields[11]) + Number(fields[12]),
        hasEnded: /[ZX]/.test(state),
      };
}

/** Returns the text of a file; empty if it is not there, or its process has ended or belongs to somebody else. */
const read = (file: string): string => orNothing(() => readFileSync(file, "utf8"), "");

function orNothing<T>(use: () => T, nothing: T): T {
  try {
    return use();
  } catch (error) {
    if (isResourceExhausted(error)) throw error;
    return nothing;
  }
}
