import { statfs } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
export const thisMachine = {
    now: () => performance.now(),
    wallTime: () => Date.now(),
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => { }),
    random: () => Math.random(),
    freeBytes: async (folder) => {
        const { bavail, bsize } = await statfs(folder);
        return bavail * bsize;
    },
};
