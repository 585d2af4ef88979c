import { expect, test } from "vitest";
import { WakeUps } from "../../../../src/store/postgres/wake-ups.ts";

function setUp() {
  const pauses: { ms: number; end: () => void }[] = [];
  const stop = new AbortController();
  let woken = 0;
  const sleep = (ms: number) => new Promise<void>((end) => pauses.push({ ms, end }));
  const wakeUps = new WakeUps(() => void woken++, { sleep, random: () => 0.5 }, stop.signal);
  /** Ends the pause that began last. */
  const pass = async () => {
    pauses.at(-1)?.end();
    await Promise.resolve();
    await Promise.resolve();
  };
  /** Is notified, waits for as long as it takes, and looks in vain. */
  const miss = async () => {
    const before = pauses.length;
    wakeUps.notified();
    if (pauses.length > before) await pass();
    wakeUps.looked(false);
  };
  return { wakeUps, pauses, stop, miss, pass, woken: () => woken };
}

test("wakes at once as long as it seldom comes too late", async () => {
  const { wakeUps, pauses, miss, woken } = setUp();
  for (let round = 0; round < 3; round++) {
    for (let misses = 0; misses < 3; misses++) await miss();
    wakeUps.looked(true);
  }
  expect([pauses.length, woken()]).toEqual([0, 9]);
});

test("waits ever longer if others come first, up to a second on average, and not after it has found a turn", async () => {
  const { wakeUps, pauses, miss } = setUp();
  for (let misses = 0; misses < 13; misses++) await miss();
  expect(pauses.map(({ ms }) => ms)).toEqual([10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000]);
  wakeUps.looked(true);
  wakeUps.notified();
  expect(pauses).toHaveLength(10);
});

test("looks once for all notifications of a pause", async () => {
  const { wakeUps, miss, pass, woken } = setUp();
  for (let misses = 0; misses < 3; misses++) await miss();
  for (let times = 0; times < 5; times++) wakeUps.notified();
  await pass();
  expect(woken()).toBe(4);
});

test("does not count what was looked for without a notification: nobody else came first", async () => {
  const { wakeUps, pauses } = setUp();
  for (let times = 0; times < 10; times++) wakeUps.looked(false);
  wakeUps.notified();
  expect(pauses).toEqual([]);
});

test("wakes nothing after its end", async () => {
  const { wakeUps, stop, miss, pass, woken } = setUp();
  for (let misses = 0; misses < 3; misses++) await miss();
  wakeUps.notified();
  stop.abort();
  await pass();
  expect(woken()).toBe(3);
});
