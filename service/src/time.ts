import { setTimeout } from "node:timers/promises";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Returns a number of days as text: "1 day", "2 days", "0.5 days". */
export const days = (count: number): string => `${count} ${count === 1 ? "day" : "days"}`;

/** Waits for a number of milliseconds; rejects when `signal` aborts. */
export type Sleep = (ms: number, options: { signal: AbortSignal }) => Promise<void>;

/** Sleeps with a timer. */
export const sleep: Sleep = (ms, options) => setTimeout(ms, undefined, options);

/** The clocks of a machine. Tests replace them. */
export interface Clocks {
  /** Returns the system's time, in milliseconds since 1970. It can be set. */
  wall: () => number;
  /** Returns milliseconds since any moment. */
  monotonic: () => number;
}

export const machineClocks: Clocks = { wall: Date.now, monotonic: () => performance.now() };

/**
 * Returns a clock in milliseconds since 1970 that starts at the system's time and then only goes forward, as fast as time
 * passes. Setting the system's clock while the service runs can neither escape an hourly limit nor extend it.
 */
export function steadyClock({ wall, monotonic }: Clocks = machineClocks): () => number {
  const offset = wall() - monotonic();
  return () => Math.round(offset + monotonic());
}

/**
 * Returns a clock in milliseconds since 1970 that is never ahead of the system's, nor of a steady one. A system's clock that
 * jumps forward makes no job look old. One that is corrected forward is followed when the service is started again.
 */
export function cautiousClock(clocks: Clocks = machineClocks): () => number {
  const steady = steadyClock(clocks);
  return () => Math.min(clocks.wall(), steady());
}
