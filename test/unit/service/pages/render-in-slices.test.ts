import { expect, test } from "vitest";
import { renderInSlices } from "../../../../src/service/pages/render-in-slices.ts";

test("joins all parts, and lets others run between them", async () => {
  let isOver = false;
  setImmediate(() => {
    isOver = true;
  });
  let count = 0;
  // Ends only if something else runs meanwhile.
  function* parts(): Generator<string> {
    while (!isOver) {
      count++;
      yield "ü";
    }
    yield "end";
  }
  const page = (await renderInSlices(parts())).toString();
  expect(page === `${"ü".repeat(count)}end`).toBe(true);
});
