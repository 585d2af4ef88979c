import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { isResourceExhausted } from "./resource-exhausted.js";
const pauseMs = 2;
/** On all of Linux's platforms, a program sees 100 ticks a second. */
const msPerTick = 10;
let boot;
/** Returns a process by its id; `undefined` if it has ended, even if nobody has waited for it yet. */
export function identify(id) {
    const { start, hasEnded } = readStat(id) ?? {};
    if (start === undefined || hasEnded)
        return undefined;
    boot ??= read("/proc/sys/kernel/random/boot_id").trim();
    return { id, start: `${boot} ${start}` };
}
/** Returns the only child of a process; `undefined` if it has none. */
export function childOf(parent) {
    // Not every kernel lists them.
    const listed = Number(read(`/proc/${parent}/task/${parent}/children`));
    const child = listed > 0 ? listed : processIds().find((id) => readStat(id)?.parent === parent);
    return child === undefined ? undefined : identify(child);
}
/** Returns whether a process group has a process that has not ended. */
export function isGroupAlive(leader) {
    return processIds().some((id) => {
        const { group, hasEnded } = readStat(id) ?? {};
        return group === leader && !hasEnded;
    });
}
/** Returns how much the processes of a group have used that have not ended; `undefined` if that is unknown. */
export function readGroupUse(leader) {
    const stats = orNothing(() => processIds().map((id) => ({ id, ...readStat(id) })), []);
    const own = stats.filter(({ group, hasEnded }) => group === leader && !hasEnded);
    const counts = own.map(({ id }) => read(`/proc/${id}/io`).match(/^[rw]char: (\d+)/gm) ?? []);
    if (counts.length === 0 || counts.some((lines) => lines.length === 0))
        return undefined;
    const bytes = counts.flat().reduce((sum, line) => sum + Number(line.slice("rchar: ".length)), 0);
    return { bytes, cpuMs: own.reduce((sum, { ticks = 0 }) => sum + ticks * msPerTick, 0) };
}
/** Kills a process and, if it is the leader of a group, the group, and waits until it has ended. Never kills another one that has its id now. */
export async function killProcess({ id, start }) {
    await untilNoneIsLeft(() => {
        if (identify(id)?.start !== start)
            return false;
        kill(-id);
        kill(id);
        return true;
    });
}
/**
 * Kills all processes that have one of the given variables, as `NAME=value`, in the environment that they were started with, and
 * waits until none is left. Those that this process may not kill are left alone.
 */
export async function killWithVariable(variables) {
    const hasOne = (id) => {
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
export async function untilNoneIsLeft(killAll, maxMs = Number.POSITIVE_INFINITY) {
    for (let waitedMs = 0; waitedMs <= maxMs; waitedMs += pauseMs) {
        try {
            if (!killAll())
                return;
        }
        catch (error) {
            // Without a free descriptor, it is unknown what is left.
            if (!isResourceExhausted(error))
                throw error;
        }
        await pause(pauseMs);
    }
}
/** Returns whether there was a process, or a group with a negative number, to kill. */
function kill(id) {
    try {
        return process.kill(id, "SIGKILL");
    }
    catch {
        return false;
    }
}
const processIds = () => orNothing(() => readdirSync("/proc"), [])
    .map(Number)
    .filter(Number.isInteger);
function readStat(id) {
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
const read = (file) => orNothing(() => readFileSync(file, "utf8"), "");
function orNothing(use, nothing) {
    try {
        return use();
    }
    catch (error) {
        if (isResourceExhausted(error))
            throw error;
        return nothing;
    }
}
