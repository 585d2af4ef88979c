import { expect, test } from "vitest";
import { cached } from "../../../src/api/cached.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

/** Readings that end when the test says so, by a clock that the test sets. */
function setUp(keepMs: (tookMs: number) => number) {
  const readings: ((value: string) => void)[] = [];
  const machine = new FakeMachine();
  const read = () => new Promise<string>((resolve) => void readings.push(resolve));
  return { readings, machine, ask: cached(read, keepMs, machine) };
}

test("reads once for all who ask meanwhile, and for a while afterwards", async () => {
  const { readings, machine, ask } = setUp(() => 100);
  const early = [ask(), ask()];
  machine.pass(1_000_000);
  early.push(ask());
  expect(readings).toHaveLength(1);
  readings[0]?.("first");
  expect(await Promise.all(early)).toEqual(["first", "first", "first"]);
  machine.pass(99);
  expect(await ask()).toBe("first");
  machine.pass(1);
  const late = ask();
  expect(readings).toHaveLength(2);
  readings[1]?.("second");
  expect(await late).toBe("second");
});

test("keeps what took long for longer", async () => {
  const { readings, machine, ask } = setUp((tookMs) => tookMs * 10);
  const first = ask();
  machine.pass(50);
  readings[0]?.("first");
  await first;
  machine.pass(499);
  expect(await ask()).toBe("first");
  machine.pass(1);
  void ask();
  expect(readings).toHaveLength(2);
});
