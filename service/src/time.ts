import type { Machine } from "./machine.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Returns a number of days as text: "1 day", "2 days", "0.5 days". */
export const days = (count: number): string => `${count} ${count === 1 ? "day" : "days"}`;

type Clocks = Pick<Machine, "now" | "wallTime">;

/**
 * Returns a clock in milliseconds since 1970 that starts at the system's time and then only goes forward, as fast as time
 * passes. Setting the system's clock while the service runs can neither escape an hourly limit nor extend it.
 */
export function steadyClock(machine: Clocks): () => number {
  const offset = machine.wallTime() - machine.now();
  return () => Math.round(offset + machine.now());
}

/**
 * Returns a clock in milliseconds since 1970 that is never ahead of the system's, nor of a steady one. A system's clock that
 * jumps forward makes no job look old. One that is corrected forward is followed when the service is started again.
 */
export function cautiousClock(machine: Clocks): () => number {
  const steady = steadyClock(machine);
  return () => Math.min(machine.wallTime(), steady());
}
