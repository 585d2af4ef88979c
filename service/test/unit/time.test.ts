import { expect, test } from "vitest";
import { cautiousClock, steadyClock } from "../../src/time.ts";

const hourMs = 3_600_000;

function fakeClocks() {
  const time = { wall: 1_000_000, monotonic: 5000 };
  const clocks = { wallTime: () => time.wall, now: () => time.monotonic };
  const pass = (ms: number) => {
    time.wall += ms;
    time.monotonic += ms;
  };
  return { time, clocks, pass };
}

test("a steady clock does not notice that the system's clock is set", () => {
  const { time, clocks, pass } = fakeClocks();
  const now = steadyClock(clocks);
  expect(now()).toBe(1_000_000);
  pass(hourMs);
  time.wall = 7;
  expect(now()).toBe(1_000_000 + hourMs);
});

test("a cautious clock is never ahead", () => {
  const { time, clocks, pass } = fakeClocks();
  const now = cautiousClock(clocks);
  pass(hourMs);
  expect(now()).toBe(1_000_000 + hourMs);
  time.wall += 30 * 24 * hourMs;
  expect(now()).toBe(1_000_000 + hourMs);
  time.wall = 1_000_000;
  expect(now()).toBe(1_000_000);
});
