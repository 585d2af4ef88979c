import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { isResourceExhausted } from "./resource-exhausted.js";
const pauseMs = 2;
const msPerTick = 10;
let boot;
export function identify(id) {
    const { start, hasEnded } = readStat(id) ?? {};
    if (start === undefined || hasEnded)
        return undefined;
    boot ??= read("/proc/sys/kernel/random/boot_id").trim();
    return { id, start: `${boot} ${start}` };
}
export function childOf(parent) {
    const listed = Number(read(`/proc/${parent}/task/${parent}/children`));
    const child = listed > 0 ? listed : processIds().find((id) => readStat(id)?.parent === parent);
    return child === undefined ? undefined : identify(child);
}
export function isGroupAlive(leader) {
    return processIds().some((id) => {
        const { group, hasEnded } = readStat(id) ?? {};
        return group === leader && !hasEnded;
    });
}
export function readGroupUse(leader) {
    const stats = orNothing(() => processIds().map((id) => ({ id, ...readStat(id) })), []);
    const own = stats.filter(({ group, hasEnded }) => group === leader && !hasEnded);
    const counts = own.map(({ id }) => read(`/proc/${id}/io`).match(/^[rw]char: (\d+)/gm) ?? []);
    if (counts.length === 0 || counts.some((lines) => lines.length === 0))
        return undefined;
    const bytes = counts.flat().reduce((sum, line) => sum + Number(line.slice("rchar: ".length)), 0);
    return { bytes, cpuMs: own.reduce((sum, { ticks = 0 }) => sum + ticks * msPerTick, 0) };
}
export async function killProcess({ id, start }) {
    await untilNoneIsLeft(() => {
        if (identify(id)?.start !== start)
            return false;
        kill(-id);
        kill(id);
        return true;
    });
}
export async function killWithVariable(variables) {
    const hasOne = (id) => {
        const environment = read(`/proc/${id}/environ`).split("\0");
        return id !== process.pid && variables.some((variable) => environment.includes(variable));
    };
    await untilNoneIsLeft(() => processIds().filter((id) => hasOne(id) && kill(id)).length > 0);
}
export async function untilNoneIsLeft(killAll, maxMs = Number.POSITIVE_INFINITY) {
    for (let waitedMs = 0; waitedMs <= maxMs; waitedMs += pauseMs) {
        try {
            if (!killAll())
                return;
        }
        catch (error) {
            if (!isResourceExhausted(error))
                throw error;
        }
        await pause(pauseMs);
    }
}
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
