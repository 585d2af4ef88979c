import { expect, test } from "vitest";
import { cached } from "../../../src/api/cached.ts";

/** Readings that end when the test says so, by a clock that the test sets. */
function setUp(keepMs: (tookMs: number) => number) {
  const readings: ((value: string) => void)[] = [];
  const clock = { now: 5000 };
  const read = () => new Promise<string>((resolve) => void readings.push(resolve));
  return { readings, clock, ask: cached(read, keepMs, () => clock.now) };
}

test("reads once for all who ask meanwhile, and for a while afterwards", async () => {
  const { readings, clock, ask } = setUp(() => 100);
  const early = [ask(), ask()];
  clock.now += 1_000_000;
  early.push(ask());
  expect(readings).toHaveLength(1);
  readings[0]?.("first");
  expect(await Promise.all(early)).toEqual(["first", "first", "first"]);
  clock.now += 99;
  expect(await ask()).toBe("first");
  clock.now += 1;
  const late = ask();
  expect(readings).toHaveLength(2);
  readings[1]?.("second");
  expect(await late).toBe("second");
});

test("keeps what took long for longer", async () => {
  const { readings, clock, ask } = setUp((tookMs) => tookMs * 10);
  const first = ask();
  clock.now += 50;
  readings[0]?.("first");
  await first;
  clock.now += 499;
  expect(await ask()).toBe("first");
  clock.now += 1;
  void ask();
  expect(readings).toHaveLength(2);
});
