import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/client/clock.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("sleeps for the given time", async () => {
  const done = vi.fn();
  const sleep = systemClock.sleep(1000).then(done);
  await vi.advanceTimersByTimeAsync(999);
  expect(done).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await sleep;
});

test("wakes immediately on an abort, and leaves no timer", async () => {
  const cancellation = new AbortController();
  const sleep = systemClock.sleep(1_000_000, cancellation.signal);
  cancellation.abort();
  await sleep;
  expect(vi.getTimerCount()).toBe(0);
  await systemClock.sleep(1_000_000, cancellation.signal);
});

test("leaves no listener after a sleep", async () => {
  const { signal } = new AbortController();
  const sleep = systemClock.sleep(10, signal);
  await vi.advanceTimersByTimeAsync(10);
  await sleep;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("does not wake immediately from a sleep longer than a timer can be", async () => {
  const done = vi.fn();
  void systemClock.sleep(2 ** 40).then(done);
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(done).not.toHaveBeenCalled();
});

test("tells the monotonic time and the wall-clock time", async () => {
  vi.setSystemTime(Date.UTC(2026, 0, 1));
  const before = systemClock.now();
  await vi.advanceTimersByTimeAsync(1500);
  expect(systemClock.now() - before).toBe(1500);
  expect(systemClock.wallTime()).toBe(Date.UTC(2026, 0, 1) + 1500);
  vi.setSystemTime(0);
  expect(systemClock.now() - before).toBe(1500);
});
