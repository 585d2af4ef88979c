import { setTimeout } from "node:timers/promises";

/** Waits for a number of milliseconds; rejects when `signal` aborts. */
export type Sleep = (ms: number, options: { signal: AbortSignal }) => Promise<void>;

/** With a timer. */
export const sleep: Sleep = (ms, options) => setTimeout(ms, undefined, options);
