import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { atMost } from "../../../step/at-most.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

test.each<[what: string, hurryAtMs: number | undefined, overAtMs: number]>([
  ["with time", undefined, 20_000],
  ["in a hurry", 0, 1000],
  ["in a hurry that comes later", 5000, 6000],
])("what hangs is waited for %s for so long", async (_what, hurryAtMs, overAtMs) => {
  const machine = new FakeMachine();
  const hurry = new AbortController();
  if (hurryAtMs === 0) hurry.abort();
  let isOver = false;
  const waiting = atMost(new Promise(() => {}), hurry.signal, machine).then(() => {
    isOver = true;
  });
  for (let ms = 0; ms < overAtMs; ms += 500) {
    if (ms === hurryAtMs) hurry.abort();
    await setImmediate();
    expect([ms, isOver]).toEqual([ms, false]);
    machine.pass(500);
  }
  await waiting;
});

test("what has ended, or never began, is not waited for", async () => {
  await atMost(Promise.resolve());
  await atMost(undefined, new AbortController().signal);
});
