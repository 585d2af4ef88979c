/**
 * Returns a clock in milliseconds since 1970 that starts at the system's time and then only goes forward, as fast as time
 * passes. Setting the system's clock while the service runs can neither escape an hourly limit nor extend it.
 */
export function steadyClock(): () => number {
  const offset = Date.now() - performance.now();
  return () => Math.round(offset + performance.now());
}
