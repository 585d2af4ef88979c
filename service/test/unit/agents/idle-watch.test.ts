import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchIdle } from "../../../src/agents/idle-watch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minuteMs = 60_000;
const limits = { timeLimitMs: 60 * minuteMs, silenceMs: minuteMs };

/** Whether the agent has said how its turn ended, what its model is doing, and until when that asks to wait. */
const rows = [
  { said: true, open: 0, waitMs: undefined, over: "silence" },
  { said: true, open: 1, waitMs: undefined, over: undefined },
  { said: false, open: 0, waitMs: undefined, over: undefined },
  { said: false, open: 1, waitMs: undefined, over: undefined },
  { said: false, open: 0, waitMs: 59 * minuteMs, over: undefined },
  { said: false, open: 0, waitMs: 61 * minuteMs, over: "wait" },
  { said: false, open: 1, waitMs: 61 * minuteMs, over: undefined },
  { said: true, open: 0, waitMs: 61 * minuteMs, over: "silence" },
];

test.each(rows)(
  "nothing more is to come: $over (said: $said, open: $open, wait: $waitMs)",
  ({ said, open, waitMs, over }) => {
    const now = performance.now();
    const use = { open, lastAt: now, ...(waitMs !== undefined && { retryAt: now + waitMs }) };
    using watch = watchIdle(use, limits);
    watch.onEvent(said);
    vi.advanceTimersByTime(minuteMs - 1000);
    expect(watch.isOver).toBeUndefined();
    vi.advanceTimersByTime(2000);
    expect([watch.isOver, watch.signal.aborted]).toEqual([over, over !== undefined]);
  },
);

test("an agent of which nothing shows what its model does is ended after its last word", () => {
  using watch = watchIdle(undefined, limits);
  watch.onEvent(true);
  vi.advanceTimersByTime(minuteMs / 2);
  // It goes on.
  watch.onEvent(false);
  vi.advanceTimersByTime(2 * minuteMs);
  expect(watch.isOver).toBeUndefined();
  watch.onEvent(true);
  vi.advanceTimersByTime(minuteMs + 1000);
  expect(watch.isOver).toBe("silence");
});
