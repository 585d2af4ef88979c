import { expect, test, vi } from "vitest";
import { renderInSlices } from "../../../src/pages/pull-request-pages.ts";

test("joins all parts, and lets others run between them", async () => {
  let isOver = false;
  setImmediate(() => {
    isOver = true;
  });
  let count = 0;
  // Ends early only if something else runs meanwhile.
  function* parts(): Generator<string> {
    while (!isOver && count < 10_000_000) {
      count++;
      yield "ü";
    }
    yield "end";
  }
  const page = (await renderInSlices(parts())).toString();
  expect(isOver).toBe(true);
  expect(page === `${"ü".repeat(count)}end`).toBe(true);
});

test("holds up others for 5 ms at a time, however short the parts are", async () => {
  let now = 1e9;
  using _clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  const hasWaited: boolean[] = [];
  function* parts(): Generator<string> {
    for (const ms of [4, 0.5, 0.5, 4, 1, 0]) {
      let othersRan = false;
      setImmediate(() => {
        othersRan = true;
      });
      now += ms;
      yield "x";
      hasWaited.push(othersRan);
    }
  }
  expect((await renderInSlices(parts())).toString()).toBe("xxxxxx");
  expect(hasWaited).toEqual([false, false, true, false, true, false]);
});
